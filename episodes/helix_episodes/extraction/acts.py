"""Acts: every call of the agent with its result, understood once, so that all later stages look at the same reading."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from helix_episodes.extraction.checks import Verdict, read_verdicts
from helix_episodes.extraction.commands import Segment, decisive, parse_command
from helix_episodes.extraction.paths import file_name, relative
from helix_episodes.session import Operation, Session, Status, Step

if TYPE_CHECKING:
    from collections.abc import Iterable

#: Statuses of a call that never took effect.
UNDONE: frozenset[Status] = frozenset({"denied", "rejected", "cancelled"})
CHANGES: frozenset[Operation | None] = frozenset({"edit", "create", "delete"})


class Act(msgspec.Struct, frozen=True, kw_only=True):
    """One call. ``position`` and ``result_position`` count the steps from 0; ``path`` is relative to the root.

    ``segments`` and ``verdicts`` are what a shell command consists of and what the checks in it said.
    """

    position: int
    call: Step
    result: Step | None = None
    result_position: int | None = None
    path: str | None = None
    segments: tuple[Segment, ...] = ()
    verdicts: tuple[Verdict, ...] = ()

    @property
    def operation(self) -> Operation | None:
        """What kind of call it is."""
        return self.call.operation

    @property
    def actor(self) -> str:
        """Who made it: ``agent`` or a helper."""
        return self.call.actor

    @property
    def status(self) -> Status:
        """How it came out; unknown while there is no result."""
        return self.result.status if self.result else "unknown"

    @property
    def output(self) -> str:
        """What came back."""
        return self.result.text if self.result else ""

    @property
    def decisive(self) -> Segment | None:
        """The part of a shell command that it was run for."""
        return decisive(self.segments)

    @property
    def changes_files(self) -> bool:
        """Whether it changed a file through a tool of the agent."""
        return self.operation in CHANGES and self.status not in {*UNDONE, "error"}


def understand(session: Session) -> tuple[Act, ...]:
    """The session's calls in order, each joined with its result and read."""
    results = {
        step.call_id: (position, step)
        for position, step in reversed(list(enumerate(session.steps)))
        if step.kind == "result" and step.call_id
    }
    return tuple(
        _act(position, step, results.get(step.call_id or ""), root=session.root)
        for position, step in enumerate(session.steps)
        if step.kind == "call"
    )


def _act(position: int, call: Step, answer: tuple[int, Step] | None, *, root: str | None) -> Act:
    result_position, result = answer or (None, None)
    segments = parse_command(str(call.arguments.get("command", ""))) if call.operation == "run" else ()
    path = call.arguments.get("path")
    return Act(
        position=position,
        call=call,
        result=result,
        result_position=result_position,
        path=relative(path, root=root) if isinstance(path, str) and path else None,
        segments=segments,
        verdicts=_verdicts(segments, result) if result else (),
    )


def _verdicts(segments: tuple[Segment, ...], result: Step) -> tuple[Verdict, ...]:
    if not segments or result.status in UNDONE:
        return ()
    return read_verdicts(segments, output=result.text, exit_code=result.exit_code, status=result.status)


def mentions_file(act: Act, path: str) -> bool:
    """Whether the call names the file, whatever the tool calls its argument."""
    name = file_name(path)
    return any(name in value for value in _texts(act.call.arguments.values()))


def _texts(values: Iterable[object]) -> Iterable[str]:
    return (value for value in values if isinstance(value, str))
