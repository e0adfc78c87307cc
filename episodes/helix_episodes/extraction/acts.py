"""Acts: every call of the agent with its result, understood once, so that all later stages look at the same reading."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from helix_episodes.extraction.checks import Finding, Verdict, read_diagnostics, read_verdicts, reports_diagnostics
from helix_episodes.extraction.commands import Segment, decisive, parse_command
from helix_episodes.extraction.paths import file_name, is_outside, relative
from helix_episodes.limits import LONGEST_COMMAND, MOST_PARTS
from helix_episodes.redaction import redact_text
from helix_episodes.session import Operation, Session, Status, Step

if TYPE_CHECKING:
    from collections.abc import Iterable

#: Statuses of a call that never took effect.
UNDONE: frozenset[Status] = frozenset({"denied", "rejected", "cancelled"})
CHANGES: frozenset[Operation | None] = frozenset({"edit", "create", "delete"})
#: Longer arguments are texts, not names of something.
_NAME_LIMIT = 300
_NAME = re.compile(r"[\w@.+-]+")
#: Families of a "failing" check that never ran: the shell or the task runner refused, and nothing judged the work.
NEVER_RAN = frozenset({"unknown task", "command not found", "shell syntax error", "no glob match", "not a module"})


class Act(msgspec.Struct, frozen=True, kw_only=True):
    """One call. ``position`` and ``result_position`` count the steps from 0; ``path`` is relative to the root.

    ``segments`` and ``verdicts`` are what a shell command consists of and what the checks in it said, ``refusals`` what
    kept a check from running at all. ``decisive`` is the part of a command that it was run for. ``outside`` is
    true when it happened elsewhere than in the session's project: another repository, a scratch folder.
    """

    position: int
    call: Step
    result: Step | None = None
    result_position: int | None = None
    path: str | None = None
    segments: tuple[Segment, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    refusals: tuple[Finding, ...] = ()
    outside: bool = False
    decisive: Segment | None = None

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
    def asks_editor(self) -> bool:
        """Whether it asked the editor for its diagnostics: a look that checks."""
        return self.operation != "run" and bool(self.verdicts)

    @property
    def changes_files(self) -> bool:
        """Whether it changed a file of the project through a tool of the agent."""
        return self.operation in CHANGES and not self.outside and self.status not in {*UNDONE, "error"}


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
    command = str(call.arguments.get("command", ""))[:LONGEST_COMMAND]
    segments = parse_command(command)[:MOST_PARTS] if call.operation == "run" else ()
    path = call.arguments.get("path")
    inside = relative(path, root=root) if isinstance(path, str) and path else None
    read = _verdicts(segments, result) if result else ()
    if result is not None and call.operation in {"look", "use"} and reports_diagnostics(call.tool):
        read = _diagnosed(call, result, root=root)
    refused = [one for one in read if any(found.family in NEVER_RAN for found in one.findings)]
    return Act(
        position=position,
        call=call,
        result=result,
        result_position=result_position,
        path=inside,
        outside=is_outside(inside) if inside else _runs_elsewhere(segments, root),
        segments=segments,
        decisive=_decisive(segments),
        verdicts=tuple(one for one in read if one not in refused),
        refusals=tuple(found for one in refused for found in one.findings),
    )


def _decisive(segments: tuple[Segment, ...]) -> Segment | None:
    """The part of a shell command that it was run for: a filter behind a pipe only when it changes something."""
    return decisive(tuple(one for one in segments if one.joiner != "|" or one.purpose in {"check", "change"}))


def _verdicts(segments: tuple[Segment, ...], result: Step) -> tuple[Verdict, ...]:
    if not segments or result.status in UNDONE:
        return ()
    return read_verdicts(segments, output=result.text, exit_code=result.exit_code, status=result.status)


def _diagnosed(call: Step, result: Step, *, root: str | None) -> tuple[Verdict, ...]:
    """What the editor answered when it was asked for its diagnostics, of one file or of all."""
    if result.status != "ok":
        return ()
    named = (call.arguments.get(name) for name in ("path", "url", "uri", "query"))
    place = next((one for one in named if isinstance(one, str) and one), None)
    scope = (relative(place.removeprefix("file://"), root=root),) if place else ()
    return (read_diagnostics(result.text, scope=scope),)


def _runs_elsewhere(segments: tuple[Segment, ...], root: str | None) -> bool:
    """Whether a command first goes to a folder outside the project."""
    first = next((one for one in segments if one.program in {"cd", "pushd"}), None)
    if first is None or not first.arguments or not root:
        return False
    folder, home = redact_text(first.arguments[0]).rstrip("/"), redact_text(root).rstrip("/")
    return is_outside(folder) and not f"{folder}/".startswith(f"{home}/")


def mentions_file(act: Act, path: str) -> bool:
    """Whether the call names the file, whatever the tool calls its argument."""
    name = file_name(path)
    return any(name in value for value in _texts(act.call.arguments.values()))


def mentioned_names(act: Act) -> set[str]:
    """The names of files (and whatever else looks like one) in the call's short arguments."""
    values = (value for value in _texts(act.call.arguments.values()) if len(value) <= _NAME_LIMIT)
    return {name for value in values for name in _NAME.findall(value)}


def _texts(values: Iterable[object]) -> Iterable[str]:
    return (value for value in values if isinstance(value, str))
