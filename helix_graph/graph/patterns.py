"""Patterns: how often an action succeeded in a situation, counted over episodes.

A pattern says: *in this situation (trigger) this was done (action), and k of n times it succeeded*. The base rate next
to it says how often the same situation ended well in the other episodes, those without the action: an action that
succeeds in 39 % is no failure where everything else succeeds in 20 %.

These are descriptions. Agents choose an action by what the situation looks like, so a low rate can mean a poor answer
or a hard problem; distinguishing the two takes adjustment or an experiment. So the words are "passes", "succeeds",
"without it", and every row has its basis and counts. ``docs/explanation/patterns.md`` explains the arithmetic.

A pattern may have an `Effect` next to it: the comparison with like tasks after like steps that
`helix_graph.causality` makes. The values are here so that showing them loads no arithmetic.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal, get_args

import msgspec

from helix_episodes.model import parse_timestamp
from helix_graph.graph import MILLION
from helix_graph.graph.model import mean_weight, short_hash
from helix_graph.graph.observations import Basis, Level, Observation
from helix_graph.stats.intervals import Interval, wilson_interval
from helix_graph.validation import as_choice, as_fraction, as_int

if TYPE_CHECKING:
    from helix_graph.graph.assertions import PatternAssertion


HypothesisKind = Literal["action", "answer", "sequence", "repetition", "unchecked", "edge"]
#: Not too early: there are sessions enough, but all did the same.
NOTHING_TO_COMPARE = "nothing was both done and left undone often enough in the same kind of task"
#: Where it is done says what the outcome was.
COMES_LAST = "it is mostly done in the last fifth of its sessions, perhaps because of how they went"
#: It stands out however often one has looked; at this look, or not in the newer half; it could be chance.
Verdict = Literal["associated", "provisional", "could be chance"]


#: Of q values, at most so much for a row that shall stand out however often one looks. People look again after every
#: week. Ten looks at 0.015 come to about 0.07 in each of the two directions: Pocock, "Group sequential methods in the
#: design and analysis of clinical trials", Biometrika 64 (1977). Rows that stand out above it are provisional.
AT_EACH_LOOK = 0.015
#: The difference (in shares of success) of which reports say how often they would find it.
POWER_AT = 0.20


class UseExample(msgspec.Struct, frozen=True):
    """A session in which it was done: the episode, the id of the step, and when the session began."""

    episode: str
    step: str
    timestamp: str | None


class StepCounts(msgspec.Struct, frozen=True, kw_only=True):
    """Something done in a situation, and how sessions went that did it or not; by itself that compares nothing.

    ``uses`` and ``others`` count sessions with and without it, ``successes`` those that went well; ``examples`` are the
    newest uses, at most `EXAMPLES_KEPT`. ``unmeasured`` counts the uses of which nobody knows how they went.
    """

    kind: HypothesisKind
    trigger: str
    action: str
    basis: str
    uses: int
    successes: int
    others: int
    successes_of_others: int
    unmeasured: int
    examples: tuple[UseExample, ...]


class Effect(StepCounts, frozen=True, kw_only=True):
    """One comparison and what came of it.

    ``difference`` (-1 to 1) is the adjusted success rate with the action less the one without, ``error`` its standard
    error, ``interval`` its 95 % interval, widened to ``level`` where the row was picked out of many. ``q`` is the
    smallest rate of flukes at which it would be reported, corrected for the ``family`` of comparisons made. ``strata``
    had both arms; ``held`` names the earlier steps held constant; ``newer`` is the difference in the newer half of the
    sessions, where the row stands out and that half can be compared. ``e_value`` is
    `helix_graph.stats.strata.e_value`.
    """

    verdict: Verdict
    difference: float
    error: float
    interval: Interval
    level: float
    q: float
    family: int
    strata: int
    held: tuple[str, ...]
    newer: float | None
    e_value: float | None

    @property
    def hurts(self) -> bool:
        """Whether less goes well with it."""
        return self.difference < 0


class EffectReport(msgspec.Struct, frozen=True, kw_only=True):
    """All comparisons of a memory, most striking first.

    ``trials`` counts the judged sessions and ``tested`` the comparisons. ``too_early`` says in words why nothing can be
    told, and is empty when something can; without effects all the same, `NOTHING_TO_COMPARE` is the reason.
    ``last`` are the steps that mostly end their sessions, which are counted and not compared. ``repeated`` sequences
    are left out, because the action that they end with stands out by itself. ``power`` is
    `helix_graph.causality.effects.power` at `POWER_AT`. ``copies`` of other sessions took no part.
    """

    effects: tuple[Effect, ...]
    last: tuple[StepCounts, ...] = ()
    trials: int
    tested: int
    repeated: int = 0
    power: float | None = None
    copies: int = 0
    too_early: str = ""

    def associated(self) -> tuple[Effect, ...]:
        """The comparisons that stand out."""
        return tuple(one for one in self.effects if one.verdict == "associated")


#: Under ten uses even the honest interval spans half of the scale (5 of 9: 27 to 81 %), so a row only says "too early".
ENOUGH_OCCURRENCES = 10
#: One bad result is an accident; the original API calls nothing an anti-pattern below two.
ANTI_PATTERN_OCCURRENCES = 2
#: Enough to look things up by; a row must not grow with the memory. ``occurrences`` has the full count.
EXAMPLES_KEPT = 20

#: What the original gives a pattern when nobody says how often it works.
ASSUMED_RATE = 1.0
#: What can be asked of an anti-pattern beyond its rate.
EVIDENCE: tuple[Literal["associated"], ...] = ("associated",)

_MEANING: dict[Basis, str] = {
    "check passes later": "the same check passes later in the episode",
    "next check passes": "the check passes when it next runs",
    "gone at the next run": "the check, when it next runs, no longer complains of it",
    "outcome": "the episode's outcome is success",
}


#: Rows that count runs: of a check after a change, of a check after an answer to its failure, of a command.
RunLevel = Literal["change", "answer", "command"]
#: An answer that leaves a check failing as often as not is none.
_FAILING_RUNS = 0.5
RUN_LEVELS: frozenset[str] = frozenset(get_args(RunLevel))
#: What is said of a row that counts runs of a check: compared with the check's other runs, or no more than counted.
RunStanding = Literal["failed more", "passed more", "counted"]
RUN_STANDINGS: frozenset[str] = frozenset(get_args(RunStanding))


class Pattern(msgspec.Struct, frozen=True, kw_only=True):
    """How often an action succeeded in a situation.

    ``success_rate`` is ``successes`` of ``occurrences``, both counting episodes; ``interval`` is Wilson's, 95 %.
    ``unmeasured`` counts the episodes left out because the log does not show how it ended. ``base_rate`` is the success
    rate (``None`` when ``base_n`` is 0) over the ``base_n`` measured episodes with the same trigger and basis in which
    this action was not taken. ``episodes`` and ``decisions`` run parallel: the newest uses, at most `EXAMPLES_KEPT`.
    ``level`` is how closely the trigger names the situation; ``too_early`` marks fewer than `ENOUGH_OCCURRENCES` uses.
    ``last_used`` is the time of the newest use, as the log wrote it. ``effect`` is the comparison within like tasks and
    like earlier steps, if there was enough to compare, and ``standing`` what it says
    (`helix_graph.causality.api`). ``where`` are the files that a row of runs counts, or their folders, where these are
    few.

    This user's own sessions are counted; beside them shared ones (from git or the team's server) have
    ``shared_occurrences``, of which ``shared_successes`` succeeded. With ``shared`` none of one's own has any, and what
    is counted is theirs.

    A pattern that people have added (basis and level ``asserted``) is not counted: it has no ``successes`` and no
    ``interval``, its rate is the mean of those given, and without any it is 1.0 and not ``measured``.
    """

    id: str
    name: str
    description: str
    trigger: str
    action: str
    success_rate: float
    occurrences: int
    last_used: str | None
    successes: int | None = None
    interval: Interval | None = None
    base_rate: float | None = None
    base_n: int = 0
    basis: Basis | Literal["check passes", "command works", "asserted"] = "asserted"
    level: Level | Literal["any task", "sequence", "repetition", "unchecked", "asserted", RunLevel] = "asserted"
    too_early: bool = False
    unmeasured: int = 0
    episodes: tuple[str, ...] = ()
    decisions: tuple[str, ...] = ()
    measured: bool = True
    effect: Effect | None = None
    where: tuple[str, ...] = ()
    shared_occurrences: int = 0
    shared_successes: int = 0
    shared: bool = False
    standing: Literal[Verdict, "comes last", "too early", "not compared", "told", RunStanding] = "too early"


class _Situation:
    """All observations of one trigger and basis: the rows that are compared with each other."""

    def __init__(self, observations: Sequence[Observation]) -> None:
        self.by_action: dict[str, list[Observation]] = defaultdict(list)
        self.success_in: dict[str, bool] = {}
        for row in observations:
            self.by_action[row.action].append(row)
            # Several answers to one error share its fate: an episode's first measured one speaks for the episode.
            if row.success is not None:
                self.success_in.setdefault(row.episode, row.success)

    def without(self, action: str) -> tuple[int, int]:
        """Successes and episodes among the measured episodes in which ``action`` was not taken."""
        taken = {row.episode for row in self.by_action[action]} & self.success_in.keys()
        successes = sum(self.success_in.values()) - sum(self.success_in[episode] for episode in taken)
        return successes, len(self.success_in) - len(taken)


def count_patterns(observations: Iterable[Observation]) -> tuple[Pattern, ...]:
    """The patterns in these observations, sorted by name.

    A pattern is compared with the other answers to its situation (trigger, level, basis): give all of a situation.
    """
    situations: dict[tuple[str, Level, Basis], list[Observation]] = defaultdict(list)
    for row in observations:
        situations[row.trigger, row.level, row.basis].append(row)
    found = []
    for situation in map(_Situation, situations.values()):
        for action, rows in situation.by_action.items():
            measured = [row for row in rows if row.success is not None]
            if measured:
                unmeasured = len(rows) - len(measured)
                found.append(_pattern(measured, base=situation.without(action), unmeasured=unmeasured))
    return tuple(sorted(found, key=lambda pattern: (pattern.name, pattern.basis)))


def patterns_of(observations: Iterable[Observation]) -> tuple[str, ...]:
    """The ids of the patterns that `count_patterns` finds in observations that include these."""
    measured = {(row.level, row.trigger, row.action, row.basis) for row in observations if row.success is not None}
    return tuple(sorted(content_id(*one) for one in measured))


def asserted_patterns(assertions: Iterable[PatternAssertion]) -> tuple[Pattern, ...]:
    """The patterns that people have added, by name, as rows beside those that were counted.

    The assertions come oldest first; each is one use of its pattern.
    """
    uses: dict[str, list[PatternAssertion]] = defaultdict(list)
    for one in assertions:
        uses[one.name.casefold()].append(one)
    return tuple(_asserted_pattern(name, uses[name]) for name in sorted(uses))


def _asserted_pattern(name: str, uses: Sequence[PatternAssertion]) -> Pattern:
    rates = [round(one.success_rate * MILLION) for one in uses if one.success_rate is not None]
    first = uses[0]
    return Pattern(
        id=content_id("asserted", name),
        name=first.name,
        description=first.description,
        trigger=first.trigger,
        action=first.action,
        success_rate=mean_weight(sum(rates), len(rates)) if rates else ASSUMED_RATE,
        occurrences=len(uses),
        last_used=uses[-1].asserted_at,
        unmeasured=len(uses) - len(rates),
        measured=bool(rates),
        standing="told",
    )


def select_patterns(
    mined: Iterable[Pattern], *, min_success_rate: float = 0.0, min_occurrences: int = 1
) -> tuple[Pattern, ...]:
    """Those that succeed at least that often (0 to 1) over at least that many episodes (1 to 1000), best first.

    What only shared sessions have comes after the rest. Equal rates are ordered by occurrences, most first, then by
    name and basis; a rate that nobody measured comes last among its equals.
    """
    as_fraction("min_success_rate", min_success_rate)
    as_int("min_occurrences", min_occurrences, lowest=1, highest=1000)
    selected = [row for row in mined if row.success_rate >= min_success_rate and row.occurrences >= min_occurrences]
    return tuple(
        sorted(
            selected,
            key=lambda row: (row.shared, -row.success_rate, not row.measured, -row.occurrences, row.name, row.basis),
        )
    )


def select_anti_patterns(
    mined: Iterable[Pattern], *, max_success_rate: float = 0.3, evidence: str | None = None
) -> tuple[Pattern, ...]:
    """Those that succeed at most that often (0 to 1) over two or more episodes, worst first.

    Next to them are rows of runs: changes after which a check failed more often than elsewhere, whatever their rate is,
    and answers and commands that worked at most every other time. What only shared sessions have comes after the rest.
    Equal rates are ordered by occurrences, most first, then by name and basis. With ``evidence="associated"`` only
    those whose comparison stands out on the bad side.

    Raises:
        InvalidArgument: ``evidence`` is another word. The rate lies outside its range.
    """
    as_fraction("max_success_rate", max_success_rate)
    wanted = None if evidence is None else as_choice("evidence", evidence, EVIDENCE)
    most_of_runs = max(max_success_rate, _FAILING_RUNS)
    selected = [
        row
        for row in mined
        if (
            row.success_rate <= (most_of_runs if row.level in RUN_LEVELS else max_success_rate)
            or row.standing == "failed more"
        )
        and row.occurrences >= ANTI_PATTERN_OCCURRENCES
        and (wanted is None or (row.standing == "associated" and row.effect is not None and row.effect.hurts))
    ]
    return tuple(
        sorted(selected, key=lambda row: (row.shared, row.success_rate, -row.occurrences, row.name, row.basis))
    )


def describe(pattern: Pattern) -> str:
    """A pattern as one line that claims no more than was counted.

    >>> row = Pattern(
    ...     id="p", name="", description="", trigger="ruff check fails: F401", action="edit source (.py)",
    ...     success_rate=12 / 31, occurrences=31, last_used=None, successes=12, interval=wilson_interval(12, 31),
    ...     base_rate=0.55, base_n=40, basis="check passes later", level="family", too_early=False, unmeasured=0,
    ...     episodes=(), decisions=(),
    ... )
    >>> print(describe(row))
    after ruff check fails: F401, edit source (.py): 12 of 31 pass (39 %, 24 to 56 %); without it 55 % of 40; \
basis: check passes later
    """
    lead = "on" if pattern.level in {"task", "any task", "asserted"} else "after"
    without = "nothing to compare with"
    if pattern.base_rate is not None:
        without = f"without it {_percent(pattern.base_rate)} % of {pattern.base_n}"
    left_out = f"; {pattern.unmeasured} not measured" if pattern.unmeasured else ""
    return (
        f"{lead} {pattern.trigger}, {pattern.action}: {_result(pattern)}; {without}; "
        f"basis: {pattern.basis}{left_out}{_adjusted(pattern.effect)}"
    )


_KNOWN: dict[Verdict, str] = {
    "associated": "associated, not tested",
    "provisional": "provisional, it may be gone at the next look",
    "could be chance": "could be chance",
}


def _adjusted(effect: Effect | None) -> str:
    """The comparison in one clause, with the words that an association deserves."""
    if effect is None:
        return ""
    low, high = 100 * effect.interval.low, 100 * effect.interval.high
    known = _KNOWN[effect.verdict]
    adjusted = f"adjusted {100 * effect.difference:+.0f} points ({low:+.0f} to {high:+.0f})"
    return f"; {adjusted}, q {effect.q:.2f} of {effect.family} comparisons: {known}"


def _result(pattern: Pattern) -> str:
    if pattern.interval is None:
        rate = (
            f"{_percent(pattern.success_rate)} % succeed" if pattern.measured else "nobody has said how often it works"
        )
        return f"told {pattern.occurrences} times, {rate}"
    counts = f"{pattern.successes} of {pattern.occurrences}"
    if pattern.too_early:
        return f"too early: {counts}"
    verb = "succeed" if pattern.basis == "outcome" else "pass"
    low, high = pattern.interval.low, pattern.interval.high
    return f"{counts} {verb} ({_percent(pattern.success_rate)} %, {_percent(low)} to {_percent(high)} %)"


def _percent(rate: float) -> str:
    return f"{100 * rate:.0f}"


def _pattern(rows: Sequence[Observation], *, base: tuple[int, int], unmeasured: int) -> Pattern:
    """The pattern of one trigger, action and basis, from its measured observations (at least one)."""
    first = rows[0]
    newest_first = sorted(rows, key=_recency, reverse=True)
    successes = sum(row.success is True for row in rows)
    base_successes, base_n = base
    return Pattern(
        id=content_id(first.level, first.trigger, first.action, first.basis),
        name=f"{first.trigger} → {first.action}",
        description=f"On {first.trigger!r}: {first.action}. Success: {_MEANING[first.basis]}.",
        trigger=first.trigger,
        action=first.action,
        success_rate=successes / len(rows),
        occurrences=len(rows),
        last_used=newest_first[0].timestamp,
        successes=successes,
        interval=wilson_interval(successes, len(rows)),
        base_rate=base_successes / base_n if base_n else None,
        base_n=base_n,
        basis=first.basis,
        level=first.level,
        too_early=len(rows) < ENOUGH_OCCURRENCES,
        unmeasured=unmeasured,
        episodes=tuple(row.episode for row in newest_first[:EXAMPLES_KEPT]),
        decisions=tuple(row.decision for row in newest_first[:EXAMPLES_KEPT]),
    )


def _recency(row: Observation) -> tuple[float, str]:
    """When it was used, untimed ones first; the episode breaks ties."""
    used = parse_timestamp(row.timestamp)
    return used.timestamp() if used else float("-inf"), row.episode


def content_id(*parts: str) -> str:
    """The id of a pattern."""
    return short_hash("p", "\x1f".join(parts).encode())
