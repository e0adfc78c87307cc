"""Trials: what comparisons of sessions read of each episode.

A *trial* is one episode cut down to what can be compared: its task, whether it succeeded, and its *steps* in the order
of the log (actions, errors, passed checks). Steps are chosen without looking at how the episode came out, so the choice
of comparisons cannot depend on it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec

from helix_episodes.model import Decision, EdgeType
from helix_graph.graph.labels import decision_key, event_key, is_error
from helix_graph.graph.observations import Measures, Observation, in_order, observe

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from helix_episodes.model import Episode, Event


#: What a step is: something changed in a file, something else done, an error that a check reported, a tool or command
#: that did not do what it was asked, a check that passed.
StepKind = Literal["edit", "act", "error", "refusal", "check"]
_EDITS = frozenset({"edit", "create", "delete"})


class TrialStep(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One thing done or met, by its label; ``id`` is its decision or event. Strings alone: no rubbish to collect."""

    kind: StepKind
    label: str
    id: str


class Trial(msgspec.Struct, frozen=True, kw_only=True):
    """One episode as a row of comparisons.

    ``success`` is ``None`` where nobody and nothing vouches for the outcome (`told` is the outcome all the same, with
    its basis). ``claims`` are the links of the log between steps, as places in ``steps`` and the kind of edge: (cause,
    effect, "causes"); a change that fixed an error is said to prevent it. ``observations`` are `tables.observe`'s.
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

    @property
    def answers(self) -> tuple[Observation, ...]:
        """The observations of answered errors."""
        return tuple(row for row in self.observations if row.level != "task")


def trial_of(episode: Episode) -> Trial:
    """What comparisons read of an episode."""
    steps = tuple(_steps(episode))
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
        success=Measures(episode).outcome(),
        steps=steps,
        claims=tuple(sorted(claims)),
        observations=observe(episode),
        told=f"{episode.outcome_basis} {episode.outcome}",
    )


def _said(episode: Episode) -> Iterator[tuple[str, str, EdgeType]]:
    """What the log links, fixes with it: an episode lists them apart because they have shares."""
    for link in episode.links:
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


def pack(trial: Trial) -> bytes:
    """A trial in the form in which graph.db keeps it."""
    return msgspec.msgpack.encode(trial)


def unpack(packed: Iterable[bytes]) -> list[Trial]:
    """Trials from the form in which graph.db keeps them."""
    decoder = msgspec.msgpack.Decoder(Trial)
    return [decoder.decode(one) for one in packed]


class _ObservationsAlone(msgspec.Struct):
    observations: tuple[Observation, ...]


def unpack_observations(packed: Iterable[bytes]) -> Iterator[Observation]:
    """The observations of packed trials; counting needs nothing else of them."""
    decoder = msgspec.msgpack.Decoder(_ObservationsAlone)
    return (row for one in packed for row in decoder.decode(one).observations)


def _steps(episode: Episode) -> Iterator[TrialStep]:
    for one in in_order(episode):
        step = _decided(one) if isinstance(one, Decision) else _happened(one)
        if step:
            yield step


def _decided(decision: Decision) -> TrialStep:
    changes = decision.action is not None and decision.action.verb in _EDITS
    return TrialStep("edit" if changes else "act", decision_key(decision), decision.id)


def _happened(event: Event) -> TrialStep | None:
    label = event_key(event)
    if label and is_error(event):
        return TrialStep("refusal" if event.tool else "error", label, event.id)
    if label and event.type == "test":
        return TrialStep("check", label, event.id)
    return None
