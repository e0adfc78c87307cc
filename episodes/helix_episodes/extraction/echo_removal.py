"""What is removed from a session before extraction, and from the episode after it.

Three passes. `without_echoes` removes what a memory put into the session: injected blocks are cut from every text and
argument, and a call that only asks the memory is dropped with its answer. Where a command does more than ask, the
command and its exit code stay and the output is emptied, because nothing in it says whose words are whose. A block
names insights that were handed over only where a memory shows it: in the prompt, in a hook's text, in the answer of
the memory's own command.

`without_unread` empties results that no stage reads: a file that was looked at, a page that was fetched, an editor's
"the file has been updated". In the Claude Code corpus that is five eighths of all text.

`redact_episode` redacts every string of the finished episode once more. The session's texts were redacted as wholes,
but a telling name and its value may have come together since, the log's own fields (a model, a project) were not
checked, and home folders stay until here.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from helix_episodes.echo import is_own_program, is_own_tool, may_have_echo, without_echo
from helix_episodes.extraction.calls import CHANGES, marked_lines, suppressions
from helix_episodes.extraction.checks.command_failures import NOT_FETCHED
from helix_episodes.extraction.checks.compilers import reports_diagnostics
from helix_episodes.extraction.shell.commands import parse_command
from helix_episodes.normalization import shorten
from helix_episodes.redaction import redact_text
from helix_episodes.safe_files import LONGEST_COMMAND

if TYPE_CHECKING:
    from collections.abc import Iterator

    from helix_episodes.extraction.shell.commands import Segment
    from helix_episodes.model import Episode
    from helix_episodes.session import Operation, Session, Status, Step


_OWN_NAMES = ("helix-graph", "helix_cli")


def without_echoes(session: Session) -> Session:
    """The session as it would have been without a memory; ``injected`` has the insights that were put in."""
    asked: dict[str | None, bool] = {}
    alone: set[str | None] = set()
    for step in session.steps:
        parts = _asking_parts(step) if step.kind == "call" else None
        if parts is not None:
            # Does it do more than ask the memory and look at what it says?
            asked[step.call_id] = all(part.purpose == "look" or is_own_program(part.program) for part in parts)
            # Does only the memory speak in the answer? What it is piped into shows its words.
            if all(is_own_program(part.program) or part.joiner == "|" or part.program == "cd" for part in parts):
                alone.add(step.call_id)
    names: dict[str, None] = dict.fromkeys(session.injected)
    for step in session.steps:
        # A person's prompt, or a word of the agent's program, as a hook's is.
        if step.kind == "prompt":
            shown = step.actor == "user"
        else:
            shown = step.kind == "note" and step.actor == "system" and step.tool is None
        if (shown or (step.kind == "result" and step.call_id in alone)) and may_have_echo(step.text):
            names.update(dict.fromkeys(without_echo(step.text).insights))
    steps = tuple(_remaining(session.steps, asked))
    if steps == session.steps and tuple(names) == session.injected:
        return session
    task = without_echo(session.task).text.strip() if session.task else None
    return msgspec.structs.replace(session, steps=steps, injected=tuple(names), task=task or None)


def _remaining(steps: tuple[Step, ...], asked: dict[str | None, bool]) -> Iterator[Step]:
    for step in steps:
        of_memory = step.kind in {"call", "result"} and step.call_id in asked
        if of_memory and asked[step.call_id]:
            continue
        text, arguments = _cut(step.text), _cut(step.arguments)
        if not text.strip() and step.text.strip() and step.kind not in {"call", "result"}:
            continue  # it was nothing but an echo
        if of_memory and step.kind == "result":
            text = ""
        same = text == step.text and arguments == step.arguments
        yield step if same else msgspec.structs.replace(step, text=text, arguments=arguments)


def _asking_parts(step: Step) -> tuple[Segment, ...] | None:
    """The commands in a call that asks the memory, none for a call of its own tool; None for any other call."""
    command = step.arguments.get("command")
    own_tool = is_own_tool(step.tool or "")
    if step.operation != "run":
        return () if own_tool else None
    if not own_tool and not (isinstance(command, str) and any(name in command for name in _OWN_NAMES)):
        return None
    parts = parse_command(str(step.arguments.get("command", ""))[:LONGEST_COMMAND])
    return parts if own_tool or any(is_own_program(part.program) for part in parts) else None


def _cut(value: Any) -> Any:  # noqa: ANN401  (a call's arguments are JSON)
    if isinstance(value, str):
        return without_echo(value).text if may_have_echo(value) else value
    if isinstance(value, dict):
        return {key: _cut(each) for key, each in value.items()}
    return [_cut(each) for each in value] if isinstance(value, list) else value


#: What is run prints verdicts and commits, and a helper comes back with an answer; every other call just goes well.
_READ: frozenset[Operation | None] = frozenset({"run", "delegate"})
#: Of anything else than success the reason is read.
_UNEVENTFUL: frozenset[Status] = frozenset({"ok", "unknown"})


def without_unread(session: Session) -> Session:
    """The session without the texts of results that nothing is read out of; the results themselves stay.

    Of them a line is left that has a marker which silences a check: whoever writes it elsewhere copies it. In most
    sessions nobody writes one, and what was read is many times as long as what was written.
    """
    calls = [step for step in session.steps if step.kind == "call" and step.call_id]
    read = {
        step.call_id
        for step in calls
        if step.operation in _READ or reports_diagnostics(step.tool) or isinstance(step.arguments.get("code"), str)
    }
    unread = {step.call_id for step in calls} - read
    changes = (step for step in session.steps if step.kind == "call" and step.operation in CHANGES)
    silences = any(suppressions(str(step.arguments.get("new") or "")) for step in changes)
    steps = (
        msgspec.structs.replace(step, text="\n".join(marked_lines(step.text)) if silences else "", pieces=())
        if step.call_id in unread
        and step.kind == "result"
        and step.status in _UNEVENTFUL
        and not step.text.startswith(NOT_FETCHED)
        else step
        for step in session.steps
    )
    return msgspec.structs.replace(session, steps=tuple(steps))


T = TypeVar("T", bound=msgspec.Struct)

#: The longest text that an episode has on purpose is a command of 1,000 characters; anything beyond twice that is an
#: accident of parsing (an unclosed quotation mark makes a word of a whole file).
_LONGEST = 2000


def redact_episode(episode: Episode) -> Episode:
    """The episode with every string redacted and none longer than `_LONGEST`.

    Its id is that of its session: what makes a name of it may make it look like a key.
    """
    cleaned = _cleaned(episode)
    return msgspec.structs.replace(cleaned, id=f"episode-{cleaned.session}")


def _cleaned(value: T) -> T:
    changes: dict[str, Any] = {}
    for name in value.__struct_fields__:
        before = getattr(value, name)
        # Written out: an episode has thousands of fields, of which most are empty or numbers.
        if before and not isinstance(before, int | float):
            cleaned = _clean_text(before) if isinstance(before, str) else _clean(before)
            if cleaned is not before and cleaned != before:
                changes[name] = cleaned
    return msgspec.structs.replace(value, **changes) if changes else value


def _clean(value: Any) -> Any:  # noqa: ANN401  (whatever a field of an episode holds)
    if isinstance(value, str):
        return _clean_text(value)
    if isinstance(value, tuple):
        return tuple(_clean(item) for item in value)
    return _cleaned(value) if isinstance(value, msgspec.Struct) else value


@lru_cache(maxsize=4096)
def _clean_text(text: str) -> str:
    return shorten(redact_text(text), limit=_LONGEST)
