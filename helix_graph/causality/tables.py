"""From episodes to observations: in which situation was what done, and did it work?

An *observation* is one row of the table that all rates are computed from: trigger, action, and whether it succeeded by
a named basis. Three rules keep the table honest.

*One episode, one observation.* Only an episode's first occurrence of a (trigger, action) counts: ten edits in one
session are one experience, not ten.

*Chosen without looking at the result.* Which rows exist may not depend on how they came out. So an error is answered by
what an ``answer`` link says, which is drawn at the time of the error; the changes of a ``fix`` are not asked, because a
fix is only recorded where the check passed in the end, and rows made from it would succeed by construction. For the
same reason an edit made while a check was failing is not measured by that check: a link to its next failure is left out
of the episode (nothing new happened), so only its passes would be seen.

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
(in 81 sessions of one project: all of it), and what tells answers apart is whether the *next* run passes. A tool or
a command leaves no event when it works; for its errors the call that verified the fix counts as the passing run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from helix_graph.causality.measures import Measures
from helix_graph.graph.labels import check_label, decision_key, event_key
from helix_graph.graph.observations import Basis, Level, Observation

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from helix_episodes.model import Decision, Episode, Event, TaskKind

_Trigger: TypeAlias = tuple[str, Level]
_Row: TypeAlias = tuple[_Trigger, Basis, bool | None]

_EDITS = frozenset({"edit", "create", "delete"})


def observe(episode: Episode) -> tuple[Observation, ...]:
    """The observations of one episode, one for each (trigger, action, basis), in the order of the decisions."""
    found: dict[tuple[str, str, str], Observation] = {}
    for row in _rows(episode):
        found.setdefault((row.trigger, row.action, row.basis), row)
    return tuple(found.values())


def _rows(episode: Episode) -> Iterator[Observation]:
    measures = Measures(episode)
    for decision in episode.decisions:
        errors = measures.answered(decision)
        found = (
            _answer_rows(measures, decision, errors) if errors else _task_rows(measures, decision, episode.task_kind)
        )
        for trigger, basis, success in found:
            yield from _row(episode, decision, trigger=trigger, basis=basis, success=success)


#: A family is judged by itself, a check by its verdict.
_BASES: dict[Level, tuple[Basis, Basis]] = {
    "family": ("check passes later", "gone at the next run"),
    "check": ("check passes later", "next check passes"),
}


def _answer_rows(measures: Measures, decision: Decision, errors: Iterable[Event]) -> Iterator[_Row]:
    for error in errors:
        measured = measures.answer(error, decision)
        for trigger in _triggers(error):
            for basis in _BASES[trigger[1]]:
                yield trigger, basis, measured[basis]


def _task_rows(measures: Measures, decision: Decision, kind: TaskKind) -> Iterator[_Row]:
    trigger: _Trigger = f"task: {kind}", "task"
    if decision.action and decision.action.verb in _EDITS:
        yield trigger, "next check passes", measures.edit(decision)
    else:
        yield trigger, "outcome", measures.outcome()


def _row(
    episode: Episode, decision: Decision, *, trigger: _Trigger, basis: Basis, success: bool | None
) -> Iterator[Observation]:
    action = decision_key(decision)
    if action == trigger[0]:  # says nothing: the situation would recommend itself
        return
    yield Observation(
        trigger=trigger[0],
        level=trigger[1],
        action=action,
        basis=basis,
        success=success,
        episode=episode.id,
        decision=decision.id,
        timestamp=decision.timestamp or episode.timestamp,
    )


def _triggers(error: Event) -> Iterator[_Trigger]:
    """An error as a situation: its kind within the check, then the check alone."""
    family = event_key(error)
    if family:
        yield family, "family"
    if error.check:
        yield check_label(error.check).rstrip(": "), "check"
