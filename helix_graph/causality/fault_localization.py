"""Rank the steps that may have made a session fail, each with its reasons.

Two sources point at steps. *Signals* are facts of the session's own log: an error that was never repaired and what led
to it; the step before the first unrepaired failure; the same answer to the same error again and again; a change without
a later check; and, in a failed session whose failures were all repaired, the step before the first of them. Running a
check is no step that led to what it reports, so these signals skip it; a test that was written with the code reports
what is wrong with the code.

*Comparisons* come from all other sessions: how much less often things went well where this was done, among like tasks
and after like steps (`effects`), shrunk towards zero the less is known. A step without a link to what failed counts
less while little is known about its label; a step that answered an error which was then repaired counts less anyhow.
Each suspect names sessions that speak for it (it was done and they failed) and against it.

A step is *clear* when a signal or a difference that stands out points at it. A difference that could be chance makes no
suspect by itself, except in a session that failed: there something went wrong, and what ranks before all that is clear
is worth a look. It says that it could be chance. In worlds with a known truth, leaving such steps out took the share of
failures whose first suspect was right from 98 to 82 of 100.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias, TypedDict

import msgspec

from helix_episodes.extraction.calls import CHANGES
from helix_episodes.model import Decision, Episode, Event
from helix_graph.causality.check_runs import JUDGING
from helix_graph.causality.effects import effect_report
from helix_graph.causality.lookups import lookups_in
from helix_graph.causality.passages import passages_of_episode, passages_of_session, signs_of
from helix_graph.causality.reading_order import ReadingPlace, reading_order
from helix_graph.graph.node_labels import decision_key, event_key, is_error
from helix_graph.graph.observations import Trial, asks, in_order
from helix_graph.graph.patterns import NOTHING_TO_COMPARE, Effect, Verdict

if TYPE_CHECKING:
    from helix_episodes.model import Role
    from helix_episodes.session import Session
    from helix_graph.causality.passages import Passage, Signs

SignalKind = Literal[
    "led to an error never repaired",
    "before the first failure",
    "loop",
    "unchecked change",
    "before a repaired failure",
]
#: How strongly a signal points, fixed before any measurement: a recorded link over a place in time, that over a habit.
#: The last was worked out on half of the Who&When runs (`benchmarks/real_localisation.py`): it counts least.
STRENGTH: dict[SignalKind, float] = {
    "led to an error never repaired": 1.0,
    "before the first failure": 0.6,
    "loop": 0.4,
    "unchecked change": 0.3,
    "before a repaired failure": 0.2,
}
#: The third try of the same thing is a loop; the second may be a retry.
LOOP = 3
_EDITS = frozenset({"edit", "create", "delete"})


class Signal(msgspec.Struct, frozen=True, kw_only=True):
    """One reason to look at a decision, in words, with the events it rests on."""

    decision: str
    kind: SignalKind
    text: str
    events: tuple[str, ...] = ()


def signals_of(episode: Episode) -> tuple[Signal, ...]:
    """The signals of one episode, in the order of its decisions."""
    found = [*_unrepaired(episode), *_before_first_failure(episode), *_loops(episode), *_unchecked(episode)]
    place = {decision.id: number for number, decision in enumerate(episode.decisions)}
    return tuple(sorted(found, key=lambda one: (place[one.decision], -STRENGTH[one.kind])))


def signs_of_session(passages: Sequence[Passage], episode: Episode) -> tuple[Signs, ...]:
    """What each passage of a session shows, with the signals of its episode."""
    return signs_of(passages, **_pointed_at(signals_of(episode)))


class _PointedAt(TypedDict):
    suspects: dict[str, float]
    unchecked: set[str]


def _pointed_at(signals: Sequence[Signal]) -> _PointedAt:
    """The decisions that signals point at, by how strongly, and the changes that no check ran over."""
    suspects: dict[str, float] = {}
    unchecked = {one.decision for one in signals if one.kind == "unchecked change"}
    for one in signals:
        if one.kind != "unchecked change":
            suspects[one.decision] = max(suspects.get(one.decision, 0.0), STRENGTH[one.kind])
    return {"suspects": suspects, "unchecked": unchecked}


#: A failure to build or to format is overtaken by whatever needs the build; of checks, each answers for itself.
_OVERTAKEN: dict[str, frozenset[str]] = {
    "build": frozenset({"test", "build"}),
    "typecheck": frozenset({"test", "build", "typecheck"}),
    "format": frozenset({"test", "lint", "format"}),
}


def unrepaired_errors(episode: Episode) -> tuple[Event, ...]:
    """The errors that no recorded fix repaired, and whose check did not pass later.

    A look-up that found nothing is no error to repair, nor is a failed build or formatting over which a later check
    passed.
    """
    fixed = {fix.error for fix in episode.fixes} | lookups_in(episode) | _overtaken(episode)
    passes = {
        event.check: place
        for place, event in enumerate(episode.events)
        if event.check and event.type == "test" and event.status == "ok"
    }
    return tuple(
        event
        for place, event in enumerate(episode.events)
        if is_error(event) and event.id not in fixed and passes.get(event.check or "", -1) < place
    )


def _overtaken(episode: Episode) -> set[str]:
    """The failures of builds, type checks and formatters after which a check passed that needs their success."""
    found: set[str] = set()
    passed: set[str] = set()
    for run in reversed(episode.runs):
        if run.passed:
            passed.add(run.kind)
        elif run.passed is False and passed & _OVERTAKEN.get(run.kind, frozenset()):
            found.update(run.events)
    return found


def led_to(episode: Episode, targets: set[str]) -> dict[str, int]:
    """The decisions and events from which links lead to the targets, with the number of links on the shortest way."""
    causes: dict[str, list[str]] = defaultdict(list)
    for link in episode.links:
        if link.type in {"causes", "enables"}:
            causes[link.target].append(link.source)
    far = dict.fromkeys(targets, 0)
    reached = list(far)
    for name in reached:
        for cause in causes[name]:
            if cause not in far:
                far[cause] = far[name] + 1
                reached.append(cause)
    return far


def _unrepaired(episode: Episode) -> Iterator[Signal]:
    decisions = {decision.id for decision in episode.decisions if not asks(decision)}
    for error in unrepaired_errors(episode):
        for name in sorted(led_to(episode, {error.id}).keys() & decisions):
            text = f"{event_key(error)} followed it and was not repaired in the session"
            yield Signal(decision=name, kind="led to an error never repaired", text=text, events=(error.id,))


def _before_first_failure(episode: Episode) -> Iterator[Signal]:
    lasting = {error.id for error in unrepaired_errors(episode)}
    if lasting:
        yield from _before(
            episode, lasting, kind="before the first failure", text="before the first failure that lasted"
        )
    elif episode.outcome == "failure":
        errors = {event.id for event in episode.events if is_error(event)}
        text = "before the first failure; all were repaired, and the session failed all the same"
        yield from _before(episode, errors, kind="before a repaired failure", text=text)


def _before(episode: Episode, errors: set[str], *, kind: SignalKind, text: str) -> Iterator[Signal]:
    """The decision before the first of some errors, if any was made.

    A test says what is wrong with the code: where both were changed since the last check, it is the change of the code.
    """
    before: Decision | None = None
    of_code: Decision | None = None
    for one in in_order(episode):
        if isinstance(one, Decision):
            before = before if asks(one) else one
            of_code = one if _edits(one, "source") else of_code
        elif one.id in errors:
            code = of_code if before and _edits(before, "test") else None
            if found := code or before:
                last = "the last change of code" if code else "the last step"
                yield Signal(decision=found.id, kind=kind, text=f"{last} {text}: {event_key(one)}", events=(one.id,))
            return
        elif _is_check(one):
            of_code = None


def _edits(decision: Decision, role: Role) -> bool:
    action = decision.action
    return action is not None and action.verb in _EDITS and action.role == role


def _loops(episode: Episode) -> Iterator[Signal]:
    errors = {event.id: event_key(event) for event in episode.events if is_error(event)}
    decisions = {decision.id: decision for decision in episode.decisions}
    tries: Counter[tuple[str | None, str]] = Counter()
    for link in episode.links:
        if link.reason == "answer" and link.source in errors and link.target in decisions:
            answer = errors[link.source], decision_key(decisions[link.target])
            tries[answer] += 1
            if tries[answer] >= LOOP:
                text = f"answer number {tries[answer]} of the same kind to: {answer[0]}"
                yield Signal(decision=link.target, kind="loop", text=text, events=(link.source,))


def _unchecked(episode: Episode) -> Iterator[Signal]:
    """The changes after the last check of an episode that ran one at all."""
    if not any(_is_check(event) for event in episode.events):
        return
    waiting: list[Decision] = []
    for one in in_order(episode):
        if isinstance(one, Event):
            waiting = [] if _is_check(one) else waiting
        elif one.action is not None and one.action.verb in _EDITS:
            waiting.append(one)
    for decision in waiting:
        if decision.outcome != "failure":  # refused or failed, so that nothing was changed
            yield Signal(decision=decision.id, kind="unchecked change", text="no check ran after this change")


def _is_check(event: Event) -> bool:
    return event.type == "test" or (event.type == "error" and event.tool is None)


#: What a step off the recorded way to the failure keeps of its comparison while its label is rare; in simulations with
#: a known truth, a half was better than all with 300 sessions, and worse with 1,000.
OFF_THE_WAY = 0.5
#: From this many uses on a label's comparison needs no help from the links of one log.
KNOWN_USES = 30
#: What a step keeps that answered an error which was then repaired.
REPAIRED = 0.3
#: Signals beside comparisons: enough to order what the comparisons leave level.
SIGNAL_BESIDE_COMPARISON = 0.02
EXAMPLES = 5


#: The sessions with a label that came out well, or did not.
_Sessions: TypeAlias = "defaultdict[tuple[str, bool], list[str]]"


class Suspect(msgspec.Struct, frozen=True, kw_only=True):
    """A step to look at. ``score`` orders suspects and means nothing by itself.

    ``label`` is what sessions have in common, ``chosen`` what was done in the words of its log.
    ``clear`` says whether a signal or an associated comparison points at it; all others could be chance.
    ``supporting`` are failed sessions in which the same was done, ``contrary`` successful ones, a few of
    ``failed_with`` and ``succeeded_with`` in all. ``difference`` is the adjusted difference of its label, if compared.
    """

    decision: str
    label: str
    chosen: str = ""
    line: int | None
    score: float
    clear: bool
    reasons: tuple[str, ...]
    difference: float | None
    supporting: tuple[str, ...]
    contrary: tuple[str, ...]
    failed_with: int
    succeeded_with: int


class Explanation(msgspec.Struct, frozen=True, kw_only=True):
    """The suspects of one session, the likeliest first.

    ``outcome`` and ``rule`` say how it came out and by what, ``quote`` are the words of the log for it; ``basis`` says
    whether other sessions could be compared. ``reading`` are the places to read, first to last
    (`helix_graph.causality.reading_order`): of a session that did not succeed its messages and steps, of any its
    trouble. ``read_from`` says whether the log was read, or what the episode kept of it, ``why_unknown`` why no outcome
    is known.
    """

    episode: str
    outcome: str
    rule: str
    quote: str = ""
    basis: str
    suspects: tuple[Suspect, ...]
    reading: tuple[ReadingPlace, ...] = ()
    read_from: Literal["the log", "the episode; its log was not found"] = "the episode; its log was not found"
    why_unknown: str = ""

    @property
    def in_short(self) -> str:
        """What the list of suspects comes to, where that must be known before it is read; else nothing."""
        if self.why_unknown and not self.suspects:
            return f"Nothing says how it ended: {self.why_unknown}. What to read first goes by the words of the log."
        if self.outcome == "success":
            found = "; these steps stand out." if self.suspects else "."
            return f"The session succeeded: there is no failure to explain{found}"
        if not self.suspects:
            return (
                "No step stands out: no error was left, nothing was repeated, and no change followed the last check. "
                "What to read first goes by the words of the log."
            )
        if not any(suspect.clear for suspect in self.suspects):
            return (
                "No step clearly stands out. Sessions with these steps succeeded less often elsewhere, which could be "
                "chance."
            )
        return ""


def suspects_of(episode: Episode, *, effects: Mapping[str, Effect], others: Sequence[Trial]) -> tuple[Suspect, ...]:
    """The suspects of an episode, by the effects of labels and the trials of *other* sessions."""
    signals: dict[str, list[Signal]] = defaultdict(list)
    for signal in signals_of(episode):
        signals[signal.decision].append(signal)
    source = episode.outcome_evidence.source if episode.outcome_evidence else None
    way = led_to(episode, {error.id for error in unrepaired_errors(episode)} | ({source} if source else set()))
    errors = {fix.error for fix in episode.fixes}
    repaired = {link.target for link in episode.links if link.reason == "answer" and link.source in errors}
    met = _sessions_with({decision_key(decision) for decision in episode.decisions}, others)
    found = []
    for place, decision in enumerate(episode.decisions):
        effect = effects.get(decision_key(decision))
        comparison = _comparison(effect, on_the_way=decision.id in way) * (REPAIRED if decision.id in repaired else 1)
        hints = sum(STRENGTH[signal.kind] for signal in signals[decision.id])
        score = comparison + hints * (SIGNAL_BESIDE_COMPARISON if effects else 1.0)
        if score > 0:
            found.append((-score, place, _suspect(decision, score, signals[decision.id], effect, met)))
    ranked = [suspect for *_, suspect in sorted(found, key=lambda row: row[:2])]
    # The clear ones; in a failed session also what ranks before all of them.
    first_clear = next((place for place, one in enumerate(ranked) if one.clear), len(ranked))
    before = first_clear if episode.outcome == "failure" else 0
    return tuple(one for place, one in enumerate(ranked) if one.clear or place < before)


def _comparison(effect: Effect | None, *, on_the_way: bool) -> float:
    """How much less goes well with it, drawn towards zero by its own uncertainty."""
    if effect is None or not effect.hurts:
        return 0.0
    certain = effect.difference**2 / (effect.difference**2 + effect.error**2)
    kept = 1.0 if on_the_way or effect.uses >= KNOWN_USES else OFF_THE_WAY
    return -effect.difference * certain * kept


def _suspect(
    decision: Decision, score: float, signals: Sequence[Signal], effect: Effect | None, met: _Sessions
) -> Suspect:
    label = decision_key(decision)
    failed, succeeded = met[label, False], met[label, True]
    compared = effect is not None and effect.hurts
    return Suspect(
        decision=decision.id,
        label=label,
        chosen=decision.chosen,
        line=decision.evidence.line if decision.evidence else None,
        score=score,
        clear=bool(signals) or (compared and effect is not None and effect.verdict == "associated"),
        reasons=(*(signal.text for signal in signals), *([_in_words(effect)] if effect and compared else [])),
        difference=effect.difference if effect else None,
        supporting=tuple(failed[:EXAMPLES]),
        contrary=tuple(succeeded[:EXAMPLES]),
        failed_with=len(failed),
        succeeded_with=len(succeeded),
    )


def _sessions_with(labels: set[str], trials: Sequence[Trial]) -> _Sessions:
    """The judged sessions in which each label was done, by how they came out."""
    found: _Sessions = defaultdict(list)
    for trial in trials:
        if trial.success is not None:
            for label in labels & {step.label for step in trial.steps}:
                found[label, trial.success].append(trial.episode)
    return found


_KNOWN: dict[Verdict, str] = {
    "associated": "",
    "provisional": "; provisional",
    "could be chance": "; could be chance",
}


def _in_words(effect: Effect) -> str:
    """Association in plain words; a row that could be chance says so."""
    low, high = 100 * effect.interval.low, 100 * effect.interval.high
    points = f"{abs(100 * effect.difference):.0f} points less often successful ({low:+.0f} to {high:+.0f})"
    known = _KNOWN[effect.verdict]
    return f"sessions with it are {points} than like sessions without, {effect.uses} against {effect.others}{known}"


def why_unknown(episode: Episode) -> str:
    """Why the outcome of a session is not known, as the part of a sentence; empty where it is."""
    if episode.outcome != "unknown":
        return ""
    acts = [one for one in episode.decisions if one.action and one.action.verb in CHANGES and one.action.path]
    changes = [one for one in acts if one.outcome != "failure"]  # refused or failed, so that nothing was changed
    rejected = {one.id for one in episode.events if one.status == "rejected"}
    refused = next((one for one in reversed(acts) if not changes and not rejected.isdisjoint(one.effects)), None)
    unchanged = (
        f"the user refused the change of {refused.action.path}" if refused and refused.action else "no file was changed"
    )
    runs = [one for one in episode.runs if one.kind in JUDGING and one.passed is not None]
    if not runs:
        did = "files were changed, but no check ran" if changes else f"{unchanged} and no check ran"
        return f"{did}, and nobody said how it ended"
    last = runs[-1]
    if not last.passed:
        return "the last check failed, but not clearly because of what this session changed"
    at = last.evidence.line if last.evidence else 0
    if any(one.evidence and one.evidence.line > at for one in changes):
        return "files were changed after the last check passed, and no check ran after that"
    before = "no change of a file was seen before it" if changes else unchanged
    return f"the last check passed, but {before}, and nobody said how it ended"


def explanation_of(episode: Episode, others: Sequence[Trial], *, session: Session | None = None) -> Explanation:
    """The suspects of an episode, and in which order to read it.

    ``others`` are the trials of all other sessions, ``session`` is its log, where that could be read.
    """
    report = effect_report(others)
    effects = {one.action: one for one in report.effects if one.kind == "action"}
    told = episode.outcome_evidence
    basis = (
        f"this session's log, and {report.tested} comparisons over {report.trials} other sessions"
        if effects
        else f"this session's log only. Too early to compare sessions: {report.too_early or NOTHING_TO_COMPARE}"
    )
    return Explanation(
        episode=episode.id,
        outcome=episode.outcome,
        rule=told.rule if told else "",
        quote=told.quote if told else "",
        basis=basis,
        suspects=suspects_of(episode, effects=effects, others=others),
        reading=reading_order(
            passages_of_session(session, episode) if session else passages_of_episode(episode),
            episode,
            **_pointed_at(signals_of(episode)),
        ),
        read_from="the log" if session else "the episode; its log was not found",
        why_unknown=why_unknown(episode),
    )
