"""Observations: what was done in which situation of an episode, and whether it worked.

An *observation* is one row of the table that all rates are computed from: trigger, action, and success by a named
basis. Four rules apply.

*One episode, one observation.* Only an episode's first occurrence of a (trigger, action) counts: ten edits in one
session are one experience, not ten.

*Chosen without looking at the result.* Which rows exist must not depend on how they came out. So the answer to an
error is what an ``answer`` link says, which is recorded at the time of the error; the changes of a ``fix`` are not
asked, because a fix is only recorded where the check passed in the end. For the same reason an edit made while a check
was failing is not measured by that check: a link to its next failure is left out of the episode (nothing new
happened), so only its passes would be counted.

*Asking is no action.* A run of a check succeeds when the check passes: its result is counted for what was done before
it. So a decision that only ran a check is no answer to an error, and takes no part where checks decided the outcome.

*Measured or left out.* Success is ``True`` or ``False`` only where the log shows it; ``None`` is unmeasured and never
counts as either.

=========================== ================== =========================================================================
trigger                     basis              success
=========================== ================== =========================================================================
the error that is answered  check passes later the check passes later in the episode; not, when it ran again or the
                                               error was left unrepaired at the end, and no pass followed
the check that failed       next check passes  the check passes when it next runs
the family of the error     gone at the next   the check, when it next runs, no longer complains of it
                            run
task kind, an edit          next check passes  the next check over the edit passes
task kind, any other action outcome            the episode's outcome is success, if rewarded, judged or measured
=========================== ================== =========================================================================

An answered error is measured twice, since agents seldom stop before a check is green: nearly everything passes *later*
(in 81 sessions of one project: all of it), and what distinguishes answers is whether the *next* run passes. A tool or
a command leaves no event when it works; for its errors the call that verified the fix counts as the passing run.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

import msgspec

from helix_episodes.model import Decision, EdgeType, Episode, Event, RunKind, parse_timestamp
from helix_graph.graph.model import short_hash
from helix_graph.graph.node_labels import EpisodeLabels, check_label, event_key, is_error

#: How closely a trigger names the situation: the kind of error, the check that failed, or only the kind of task.
Level = Literal["family", "check", "task"]
#: By what success is judged.
Basis = Literal["check passes later", "next check passes", "gone at the next run", "outcome"]


class Observation(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One episode's first use of an action in answer to a trigger. ``success`` is ``None`` when it was not measured."""

    trigger: str
    level: Level
    action: str
    basis: Basis
    success: bool | None
    episode: str
    decision: str
    timestamp: str | None


def precedes(first: Decision | Event, second: Decision | Event) -> bool | None:
    """Whether ``first`` came strictly before ``second``; ``None`` when the log does not say."""
    if first.evidence and second.evidence and first.evidence.file == second.evidence.file:
        return first.evidence.line < second.evidence.line
    one, other = parse_timestamp(first.timestamp), parse_timestamp(second.timestamp)
    if one is None or other is None or one == other:
        return None
    return one < other


def in_order(episode: Episode) -> Iterator[Decision | Event]:
    """Decisions and events of an episode in one sequence.

    Each list is in the order of the log already; where neither lines nor times tell a decision from an event, the
    decision comes first, since what is done is what has results.
    """
    events = list(episode.events)
    taken = 0
    for decision in episode.decisions:
        while taken < len(events) and precedes(events[taken], decision):
            yield events[taken]
            taken += 1
        yield decision
    yield from events[taken:]


#: Outcomes that somebody or something other than the agent itself vouches for.
_VOUCHED = frozenset({"rewarded", "judged", "measured"})


class Measures:
    """The measures of one episode. Building it reads the episode once; each measure looks only at what it needs."""

    def __init__(self, episode: Episode) -> None:
        self._episode = episode
        self._place = {event.id: place for place, event in enumerate(episode.events)}
        self._decisions = {decision.id: decision for decision in episode.decisions}
        self._verified_by = {fix.error: fix.verified_by for fix in episode.fixes if fix.verified_by is not None}
        self._runs: dict[str, list[Event]] = defaultdict(list)
        for event in episode.events:
            if event.check and event.type in {"test", "error"}:
                self._runs[event.check].append(event)
        self._answered: dict[str, list[Event]] = defaultdict(list)
        self._tested: dict[str, list[Event]] = defaultdict(list)
        for link in episode.links:
            if link.reason == "answer" and link.source in self._place:
                self._answered[link.target].append(self._event(link.source))
            elif link.reason == "edit-test" and link.target in self._place:
                self._tested[link.source].append(self._event(link.target))

    def _event(self, name: str) -> Event:
        return self._episode.events[self._place[name]]

    def answered(self, decision: Decision) -> list[Event]:
        """The errors that a decision answers, in the order of the log."""
        if (found := self._answered.get(decision.id)) is None:
            return []
        return sorted(filter(is_error, found), key=lambda error: self._place[error.id])

    def answer(self, error: Event, decision: Decision) -> dict[Basis, bool | None]:
        """Whether the check that failed passes after ``decision``: in the end, and at the very next run.

        And whether that run no longer complains of the same: a linter that goes on failing for another rule says
        nothing against the answer to this one.
        """
        runs = [run for run in self._later_runs(error) if precedes(run, decision) is not True]
        verified_by = self._verified_by.get(error.id)
        return {
            "check passes later": self._passes_later(error, runs),
            "next check passes": _passes_next(runs, self._decisions.get(verified_by or "")),
            "gone at the next run": _gone_next(runs, error, self._decisions.get(verified_by or "")),
        }

    def edit(self, decision: Decision) -> bool | None:
        """Whether the first check over an edit passed, of those that were not failing before it."""
        targets = sorted(self._tested.get(decision.id, ()), key=lambda run: self._place[run.id])
        sound = {check for check in {run.check for run in targets} if not self._was_failing(check, decision)}
        runs = [run for run in targets if run.check in sound]
        # One command may run several checks, and one check may complain of several things: the first result, its peers.
        return all(_passes(run) for run in runs if precedes(runs[0], run) is not True) if runs else None

    def _passes_later(self, error: Event, runs: Sequence[Event]) -> bool | None:
        if error.id in self._verified_by or any(map(_passes, runs)):
            return True
        return False if runs or self._left_unrepaired(error) else None

    def _later_runs(self, error: Event) -> Iterator[Event]:
        """Later results of the check that the error came from, in order, without the other errors of the same run."""
        for run in self._runs.get(error.check or "", ()):
            later = precedes(error, run)
            # Events are listed in the order of the log, which decides where neither lines nor times do.
            if later or (later is None and self._place[run.id] > self._place[error.id]):
                yield run

    def _left_unrepaired(self, error: Event) -> bool:
        """Whether the episode was measured a failure on account of this error's check."""
        episode = self._episode
        decided_by = episode.outcome_evidence.source if episode.outcome_evidence else None
        if episode.outcome != "failure" or episode.outcome_basis != "measured" or decided_by not in self._place:
            return False
        return error.check is not None and self._event(decided_by).check == error.check

    def _was_failing(self, check: str | None, decision: Decision) -> bool:
        """Whether the check, when it last ran before the decision, failed."""
        earlier = (run for run in reversed(self._runs.get(check or "", ())) if precedes(run, decision))
        last = next(earlier, None)
        return last is not None and is_error(last)


def vouched_success(episode: Episode) -> bool | None:
    """Whether the episode was a success, when somebody vouches for its outcome."""
    if episode.outcome == "unknown" or episode.outcome_basis not in _VOUCHED:
        return None
    return episode.outcome == "success"


def _passes(run: Event) -> bool:
    return run.type == "test" and run.status == "ok"


def _passes_next(runs: Sequence[Event], went_well: Decision | None) -> bool | None:
    """``went_well`` is the call that verified the fix of a tool's or command's error, and so its passing run."""
    if went_well is not None:
        return not any(precedes(run, went_well) for run in runs)
    return _passes(runs[0]) if runs else None


def _gone_next(runs: Sequence[Event], error: Event, went_well: Decision | None) -> bool | None:
    """Whether the next run has another family or none; its errors are on one line of the log."""
    if went_well is not None or not runs:
        return _passes_next(runs, went_well)
    peers = [run for run in runs if precedes(runs[0], run) is not True]
    return all(run.family != error.family for run in peers)


_EDITS = frozenset({"edit", "create", "delete"})


def asks(decision: Decision) -> bool:
    """Whether it only ran a check."""
    return decision.type == "test" and decision.action is not None and decision.action.verb == "run"


def observe(episode: Episode, labels: EpisodeLabels | None = None) -> tuple[Observation, ...]:
    """The observations of one episode, one for each (trigger, action, basis), in the order of the decisions."""
    found: dict[tuple[str, str, str], Observation] = {}
    labels = labels or EpisodeLabels(episode)
    by_checks = episode.outcome_basis == "measured"
    taking_part = [
        (decision, action)
        for decision, action in zip(episode.decisions, labels.decisions, strict=True)
        if not (by_checks and asks(decision))
    ]
    if not taking_part:  # the measures read the whole episode
        return ()
    measures = Measures(episode)
    for decision, action in taking_part:
        for trigger, level, basis, success in _measured(measures, decision, episode):
            if action == trigger:  # says nothing: the situation would recommend itself
                continue
            row = Observation(
                trigger=trigger,
                level=level,
                action=action,
                basis=basis,
                success=success,
                episode=episode.id,
                decision=decision.id,
                timestamp=decision.timestamp or episode.timestamp,
            )
            found.setdefault((trigger, action, basis), row)
    return tuple(found.values())


def _measured(
    measures: Measures, decision: Decision, episode: Episode
) -> Iterator[tuple[str, Level, Basis, bool | None]]:
    """The situations in which a decision was made, and whether it succeeded there, by basis.

    An error is two situations: its kind within the check, then the check alone. Without an error the task is one.
    """
    errors = measures.answered(decision)
    if errors and asks(decision):
        return
    for error in errors:
        measured = measures.answer(error, decision)
        check = check_label(error.check).rstrip(": ") if error.check else None
        situations: tuple[tuple[str | None, Level], ...] = ((event_key(error), "family"), (check, "check"))
        for trigger, level in situations:
            if trigger:
                for basis in _BASES[level]:
                    yield trigger, level, basis, measured[basis]
    if errors:
        return
    if decision.action and decision.action.verb in _EDITS:
        yield f"task: {episode.task_kind}", "task", "next check passes", measures.edit(decision)
    else:
        yield f"task: {episode.task_kind}", "task", "outcome", vouched_success(episode)


#: A family is judged by itself, a check by its verdict.
_BASES: dict[Level, tuple[Basis, Basis]] = {
    "family": ("check passes later", "gone at the next run"),
    "check": ("check passes later", "next check passes"),
}


#: What a step is: something changed in a file, a check asked for, something else done, an error that a check reported,
#: a tool or command that did not do what it was asked, a check that passed.
StepKind = Literal["edit", "ask", "act", "error", "refusal", "check"]


class TrialStep(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One thing done or met, by its label; ``id`` is its decision or event. Strings alone: no rubbish to collect."""

    kind: StepKind
    label: str
    id: str


class TrialRun(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One run of a check or a formatter, as `helix_episodes.model.CommandRun` has it.

    ``changed`` has path and lines of each file changed before it. ``labels`` are those of the errors that came of it,
    ``named`` the files that these name; ``event`` is the first event that came of it, ``charged`` are the changed files
    that a linter complains of.
    """

    check: str
    kind: RunKind
    passed: bool | None
    command: str | None
    timestamp: str | None
    seconds: float | None
    line: int | None
    fresh: bool
    deliberate: bool
    changed: tuple[tuple[str, int | None], ...]
    files: int
    edits: int
    labels: tuple[str, ...]
    named: tuple[str, ...]
    event: str = ""
    charged: tuple[str, ...] = ()


class Trial(msgspec.Struct, frozen=True, kw_only=True):
    """One episode as a row of comparisons.

    ``success`` is ``None`` where nobody and nothing vouches for the outcome (`told` is the outcome all the same, with
    its basis). ``claims`` are the links of the log between steps, as places in ``steps`` and the kind of edge: (cause,
    effect, "causes"); a change that fixed an error is said to prevent it. ``observations`` holds the observations of
    this episode, see `Observation`; ``runs`` those of checks and formatters, in ``log``. ``agent`` is the model that
    did the work, the agent's name where the log gives no model. ``origin`` is the same for two trials of which one
    is a copy (`origin_of`), and empty where that is unknown.
    """

    episode: str
    timestamp: str | None
    task_kind: str
    task_id: str | None
    success: bool | None
    steps: tuple[TrialStep, ...]
    claims: tuple[tuple[int, int, EdgeType], ...]
    observations: tuple[Observation, ...]
    told: str
    agent: str = ""
    origin: str = ""
    runs: tuple[TrialRun, ...] = ()
    log: str | None = None

    @property
    def answers(self) -> tuple[Observation, ...]:
        """The observations of answered errors."""
        return tuple(row for row in self.observations if row.level != "task")


def trial_of(episode: Episode, labels: EpisodeLabels | None = None) -> Trial:
    """What comparisons read of an episode; ``labels`` are its own, where they are known."""
    labels = labels or EpisodeLabels(episode)
    steps = tuple(_steps(episode, labels))
    places = {step.id: place for place, step in enumerate(steps)}
    claims: set[tuple[int, int, EdgeType]] = {
        (places[source], places[target], kind)
        for source, target, kind in _said(episode)
        if source in places and target in places
    }
    return Trial(
        episode=episode.id,
        timestamp=episode.timestamp,
        task_kind=episode.task_kind,
        task_id=episode.task_id,
        success=vouched_success(episode),
        steps=steps,
        claims=tuple(sorted(claims)),
        observations=observe(episode, labels),
        told=f"{episode.outcome_basis} {episode.outcome}",
        agent=(episode.agent.model or episode.agent.name) if episode.agent else "",
        origin=origin_of(episode, steps),
        runs=tuple(_runs(episode)),
        log=episode.provenance.log if episode.provenance else None,
    )


def _runs(episode: Episode) -> Iterator[TrialRun]:
    events = {event.id: event for event in episode.events}
    for run in episode.runs:
        if run.kind == "command":
            continue
        errors = [event for event in run.events_among(events) if is_error(event)]
        yield TrialRun(
            check=run.check,
            kind=run.kind,
            passed=run.passed,
            command=run.command,
            timestamp=run.timestamp,
            seconds=run.seconds,
            line=run.evidence.line if run.evidence else None,
            fresh=run.fresh,
            deliberate=run.deliberate,
            changed=tuple((one.path, one.lines) for one in run.changed),
            files=run.files,
            edits=run.edits,
            labels=tuple(dict.fromkeys(label for one in errors if (label := event_key(one)))),
            named=tuple(dict.fromkeys(one.path for one in errors if one.path)),
            event=next(iter(run.events), ""),
            charged=run.charged,
        )


def origin_of(episode: Episode, steps: Sequence[TrialStep]) -> str:
    """What a session and its copies under other ids have in common: two tools tell of it, or it was forked.

    A copy begins at the same moment with the same task. Clocks that count whole seconds are not enough for that, since
    several tries of a task may be started at once: there, the steps must be the same ones too. Without a time nothing
    tells a copy from another try, and the origin is empty.
    """
    began = parse_timestamp(episode.timestamp)
    if began is None:
        return ""
    same = () if began.microsecond else tuple([(step.kind, step.label) for step in steps])
    return short_hash("o", msgspec.msgpack.encode((began.isoformat(), episode.task, same)))


def _said(episode: Episode) -> Iterator[tuple[str, str, EdgeType]]:
    """What the log links, fixes with it: an episode lists them apart because they have shares.

    That a check was asked and answered is no link: asking does not bring about the answer.
    """
    asked = {decision.id for decision in episode.decisions if asks(decision)}
    for link in episode.links:
        if link.reason == "call" and link.source in asked:
            continue
        yield link.source, link.target, link.type
    for fix in episode.fixes:
        for change in fix.changes:
            yield change, fix.error, "prevents"


def distinct(trials: Iterable[Trial]) -> list[Trial]:
    """One trial an episode, by id; of several that differ the one whose text sorts last, so order cannot matter."""
    by_id: dict[str, Trial] = {}
    for trial in trials:
        known = by_id.get(trial.episode)
        if known is None or pack(trial) > pack(known):
            by_id[trial.episode] = trial
    return [by_id[episode] for episode in sorted(by_id)]


def without_copies(trials: Iterable[Trial]) -> list[Trial]:
    """One trial an origin, in the order given: the one with the most steps, since a fork may have been left early.

    Of equally long ones a judged one is taken, then the id decides; how they came out plays no part.
    """
    best: dict[str, Trial] = {}
    for trial in trials:
        name = trial.origin or trial.episode
        known = best.get(name)
        if known is None or _of_more_steps(trial) > _of_more_steps(known):
            best[name] = trial
    return list(best.values())


def is_same(one: Trial, other: Trial) -> bool:
    """Whether they are one session, under one id or as copies."""
    return one.episode == other.episode or (bool(one.origin) and one.origin == other.origin)


def _of_more_steps(trial: Trial) -> tuple[int, bool, str]:
    return len(trial.steps), trial.success is not None, trial.episode


def pack(trial: Trial) -> bytes:
    """A trial in the form in which graph.db stores it."""
    return msgspec.msgpack.encode(trial)


def unpack(packed: Iterable[bytes]) -> list[Trial]:
    """Trials from the form in which graph.db stores them."""
    decoder = msgspec.msgpack.Decoder(Trial)
    return [decoder.decode(one) for one in packed]


class _ObservationsAlone(msgspec.Struct):
    observations: tuple[Observation, ...]


def unpack_observations(packed: Iterable[bytes]) -> Iterator[Observation]:
    """The observations of packed trials; counting needs nothing else of them."""
    decoder = msgspec.msgpack.Decoder(_ObservationsAlone)
    return (row for one in packed for row in decoder.decode(one).observations)


def _steps(episode: Episode, labels: EpisodeLabels) -> Iterator[TrialStep]:
    decided, happened = iter(labels.decisions), iter(labels.events)  # of each, `in_order` keeps the order
    for one in in_order(episode):
        if isinstance(one, Decision):
            changes = one.action is not None and one.action.verb in _EDITS
            yield TrialStep("edit" if changes else "ask" if asks(one) else "act", next(decided), one.id)
        elif label := next(happened):
            if is_error(one):
                yield TrialStep("refusal" if one.tool else "error", label, one.id)
            elif one.type == "test":
                yield TrialStep("check", label, one.id)
