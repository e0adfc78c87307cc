"""Rules that people accepted, and those on trial: a trial gives a rule to a random share of sessions.

``rules.json`` in the memory has the accepted rules, ``rule-trials.jsonl`` a line for each session that was drawn. The
draw is a hash of a salt, the rule and the session, so that a second start of a session draws the same and whoever has
the salt can check it; its chance is logged. A trial has as many sessions as it takes to see a halving (power .8), and
says nothing before that: whoever looks again and again and stops at the first good result finds effects that are none.
"""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING, Annotated, NamedTuple

import msgspec

from helix_episodes.errors import WriteFailed
from helix_episodes.safe_files import read_regular, write_atomically
from helix_episodes.store import without_value
from helix_graph.errors import InvalidConfiguration
from helix_graph.insights.holdout import uniform_draw
from helix_graph.project import ACCEPTED_RULES, RULE_TRIALS
from helix_graph.stats.intervals import Interval, newcombe_interval
from helix_graph.trust import content_digest, seal

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence
    from pathlib import Path

#: Both sides of a two-sided test at .05 with power .8, in standard deviations.
_BOTH = 1.96 + 0.84
#: Fewer sessions say nothing of anything; more are years.
_FEWEST, _MOST = 40, 2000


#: Of a rule in characters: it is read in every session, and `helix-graph trust` shows it whole.
LONGEST_RULE = 300


class AcceptedRule(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A rule that a person accepted for ``issue``: in ``file``, or for a ``share`` of sessions until ``planned``."""

    id: str
    sentence: Annotated[str, msgspec.Meta(max_length=LONGEST_RULE)]
    issue: str
    check: str = ""
    at: str
    file: str = ""
    share: float | None = None
    salt: str = ""
    planned: int = 0


class TrialDraw(msgspec.Struct, frozen=True, kw_only=True):
    """One session of a trial: whether it was given the rule, and with which chance."""

    rule: str
    session: str
    at: str
    given: bool
    propensity: float


class Arm(NamedTuple):
    """Of the sessions of one arm, how many had the issue."""

    met: int
    sessions: int


class TrialResult(msgspec.Struct, frozen=True, kw_only=True):
    """What a trial says: nothing until it has its sessions, then a difference with its interval.

    ``given`` and ``withheld`` are sessions that had the issue, and sessions; the difference is given less withheld.
    """

    rule: AcceptedRule
    given: tuple[int, int]
    withheld: tuple[int, int]
    difference: float | None = None
    low: float | None = None
    high: float | None = None

    @property
    def sessions(self) -> int:
        """The sessions that count so far."""
        return self.given[1] + self.withheld[1]


class _Rules(msgspec.Struct, frozen=True, kw_only=True):
    accepted: tuple[AcceptedRule, ...] = ()


def accepted_rules(root: Path) -> tuple[AcceptedRule, ...]:
    """The rules that people of this memory accepted, the oldest first."""
    return decode_rules(root, rules_file(root))


def rules_file(root: Path) -> bytes | None:
    """The file of accepted rules as it is; None where there is none."""
    path = root / ACCEPTED_RULES
    try:
        return read_regular(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InvalidConfiguration(path=path, problem=str(error)) from error


def decode_rules(root: Path, written: bytes | None) -> tuple[AcceptedRule, ...]:
    """The rules that `rules_file` holds."""
    try:
        return msgspec.json.decode(written, type=_Rules).accepted if written is not None else ()
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidConfiguration(path=root / ACCEPTED_RULES, problem=without_value(str(error))) from error


def accept(root: Path, rule: AcceptedRule) -> None:
    """Records an accepted rule; one of the same id takes its place."""
    others = [one for one in accepted_rules(root) if one.id != rule.id]
    _write(root, (*others, rule))


def sessions_needed(rate: float, *, share: float) -> int:
    """How many sessions, both arms together, show a halving of a rate with power .8.

    >>> sessions_needed(0.4, share=0.5), sessions_needed(0.1, share=0.5)
    (157, 863)
    """
    usual = min(max(rate, 0.01), 0.99)
    half = usual / 2
    variance = usual * (1 - usual) / (1 - share) + half * (1 - half) / share
    return min(max(math.ceil(_BOTH**2 * variance / half**2), _FEWEST), _MOST)


def is_given(rule: AcceptedRule, session: str) -> bool:
    """Whether a session gets a rule that is on trial."""
    return uniform_draw("rule", rule.salt, rule.id, session) < (rule.share or 0.0)


def staged_lines(root: Path, session: str, *, at: str) -> list[str]:
    """The rules on trial that this session gets; each draw is logged, once a session."""
    if not (root / ACCEPTED_RULES).exists():
        return []
    staged = [one for one in accepted_rules(root) if one.share is not None]
    if not staged:
        return []
    drawn = draws(root)
    known = {(one.rule, one.session) for one in drawn}
    counts = {one.id: sum(draw.rule == one.id for draw in drawn) for one in staged}
    running = [one for one in staged if (one.id, session) in known or counts[one.id] < one.planned]
    new = [
        TrialDraw(rule=one.id, session=session, at=at, given=is_given(one, session), propensity=one.share or 0.0)
        for one in running
        if (one.id, session) not in known
    ]
    _append(root / RULE_TRIALS, new)
    return [one.sentence for one in running if is_given(one, session)]


def draws(root: Path) -> list[TrialDraw]:
    """Every session that was drawn for a trial, once for each, in order; a damaged line says nothing."""
    try:
        lines = read_regular(root / RULE_TRIALS).splitlines()
    except OSError:
        return []
    found: dict[tuple[str, str], TrialDraw] = {}
    for line in lines:
        try:
            one = msgspec.json.decode(line, type=TrialDraw)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            continue
        found.setdefault((one.rule, one.session), one)
    return list(found.values())


def result_of(
    rule: AcceptedRule, drawn: Iterable[TrialDraw], *, seen: Collection[str], met: Collection[str]
) -> TrialResult:
    """What a trial says of the drawn sessions that were ``seen``, of which some ``met`` the issue."""
    own = [one for one in drawn if one.rule == rule.id and one.session in seen][: rule.planned]
    arms = ([one.session in met for one in own if one.given == given] for given in (True, False))
    given, withheld = (Arm(sum(arm), len(arm)) for arm in arms)
    result = TrialResult(rule=rule, given=given, withheld=withheld)
    if result.sessions < rule.planned or not (given.sessions and withheld.sessions):
        return result
    difference = given.met / given.sessions - withheld.met / withheld.sessions
    interval: Interval = newcombe_interval((given.met, withheld.met), (given.sessions, withheld.sessions))
    return msgspec.structs.replace(result, difference=difference, low=interval.low, high=interval.high)


def forget_rules(root: Path, *, sessions: Collection[str], keep: Callable[[AcceptedRule], bool]) -> None:
    """Takes out the draws of these sessions, and the accepted rules that are not to be kept."""
    drawn = draws(root)
    left = [one for one in drawn if one.session not in sessions]
    if len(left) != len(drawn):
        write_atomically(root / RULE_TRIALS, b"".join(msgspec.json.encode(one) + b"\n" for one in left))
    known = accepted_rules(root)
    kept = tuple(one for one in known if keep(one))
    if len(kept) != len(known):
        _write(root, kept)


def _write(root: Path, rules: Sequence[AcceptedRule]) -> None:
    body = msgspec.json.format(msgspec.json.encode(_Rules(accepted=tuple(rules))), indent=2) + b"\n"
    path = root / ACCEPTED_RULES
    there = [read_regular(path)] if path.exists() else []
    seal(root, ACCEPTED_RULES, *map(content_digest, (body, *there)))  # whenever this process is killed
    write_atomically(path, body)
    seal(root, ACCEPTED_RULES, content_digest(body))


def _append(path: Path, rows: Iterable[TrialDraw]) -> None:
    """Adds lines with one write: hooks of several sessions append at once."""
    body = b"".join(msgspec.json.encode(row) + b"\n" for row in rows)
    if not body:
        return
    try:
        handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            os.write(handle, body)
        finally:
            os.close(handle)
    except OSError as error:
        raise WriteFailed(path=path, problem=error.strerror or str(error)) from error
