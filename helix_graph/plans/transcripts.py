"""A finished agent's transcript: what it was asked, what it said itself, what it called, and whether it broke off.

Read by the readers of `helix_episodes`, so any agent's log will do, a sub-agent's transcript by itself included. What
the agent was asked and what it said are kept apart, because a prompt that shows how to report holds every marker that a
report has.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import msgspec
import orjson

from helix_episodes.echo import without_echo
from helix_episodes.errors import LogNotReadable, UnknownLogFormat
from helix_episodes.files import irregularity
from helix_episodes.readers.registry import find_reader
from helix_episodes.redaction import redact_text
from helix_episodes.session import Session, Step

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

_AGENT, _USER = "agent", "user"
#: A last record is one line; a transcript's end of this length holds it whole, or it is no short word of an error.
_END = 64 * 1024


class Transcript(msgspec.Struct, frozen=True, kw_only=True):
    """What a transcript holds. ``crashed``: the agent's program broke off, or never got to say anything.

    ``root`` is the folder that the agent worked in, where the log names one.
    """

    session: str = ""
    root: str | None = None
    prompts: tuple[str, ...] = ()
    own: tuple[str, ...] = ()
    injected: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()
    crashed: bool = False


def read_transcript(path: Path) -> Transcript:
    """The transcript in a file; one that holds nothing is that of an agent that crashed.

    Raises:
        LogNotReadable: There is no such file, or it may not be read.
        UnknownLogFormat: It is no transcript of a known agent.
    """
    if not path.is_file():
        raise LogNotReadable(path=path, problem=irregularity(path, follow=True) or "it does not exist")
    try:
        *_, session = find_reader(path, part=True).read(path)
    except UnknownLogFormat:
        if _broke_off(path):
            return Transcript(crashed=True)
        raise
    except LogNotReadable:
        if not path.stat().st_size or _broke_off(path):
            return Transcript(crashed=True)
        raise
    return _transcript(session, crashed=_broke_off(path))


def read_patiently(path: Path, *, done: Any, pauses: Sequence[float]) -> Transcript:  # noqa: ANN401  (a predicate)
    """As `read_transcript`, again after each pause until ``done`` says that the report is there.

    An agent's program may tell of its end before the last lines are written.
    """
    found = read_transcript(path)
    for pause in pauses:
        if found.crashed or done(found):
            break
        time.sleep(pause)
        found = read_transcript(path)
    return found


def count_calls(path: Path) -> int:
    """How many tools the agent called.

    Raises:
        LogNotReadable: There is no such file, or it may not be read.
        UnknownLogFormat: It is no transcript of a known agent.
    """
    return sum(step.kind == "call" and step.actor == _AGENT for step in read_transcript(path).steps)


def came_out(steps: Iterable[Step], command: str) -> bool | None:
    """How the last run of a command came out, alone or among others; None when it was not run, or nothing tells."""
    wanted = " ".join(command.split())
    runs: set[str | None] = set()
    verdict: bool | None = None
    for step in steps:
        if step.operation == "run" and wanted and wanted in " ".join(str(step.arguments.get("command", "")).split()):
            runs.add(step.call_id)
        elif step.kind == "result" and step.call_id in runs and step.call_id is not None:
            verdict = {"ok": True, "error": False}.get(step.status, verdict)
    return verdict


def _transcript(session: Session, *, crashed: bool) -> Transcript:
    heard = [without_echo(step.text) for step in session.steps if step.kind == "prompt" and step.actor == _USER]
    own = [_own(step) for step in session.steps if step.kind == "message" and step.actor == _AGENT]
    names = dict.fromkeys((*session.injected, *(name for one in heard for name in one.insights)))
    return Transcript(
        session=session.id,
        root=session.root,
        prompts=tuple(redact_text(one.text) for one in heard),
        own=tuple(own),
        injected=tuple(names),
        steps=session.steps,
        crashed=crashed,
    )


def _own(step: Step) -> str:
    """What an agent said, without what it quotes of the memory."""
    return redact_text(without_echo(step.text).text)


def _broke_off(path: Path) -> bool:
    """Whether the last record is an error of the agent's program."""
    last = next(_last_lines(path), b"")
    try:
        record = orjson.loads(last)
    except orjson.JSONDecodeError:
        return False
    if not isinstance(record, dict):
        return False
    message = record.get("message")
    stopped = message.get("stop_reason") if isinstance(message, dict) else None
    errors = (record.get("error"), record.get("isApiErrorMessage"), stopped == "error", record.get("type") == "error")
    return any(errors)


def _last_lines(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - _END))
        yield from (line for line in reversed(file.read().splitlines()) if line.strip())
