"""Echoes: a session without what a memory put into it, before anything else looks at it.

Injected blocks and reminders are cut from every text and from every argument of a call; a text that was nothing else
is no step any more. A call that only asks the memory goes with its answer. In a command that does more than that, the
command and its exit code stay, but nobody reads the output, because nothing in it tells whose words are whose.

A block names insights that were handed over only where a memory shows it: in the prompt, in what a hook says, in the
answer to the memory's own command. In a file that the agent reads or writes it is cut all the same, but nobody was
handed anything by it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from helix_episodes.echo import is_own_program, is_own_tool, without_echo
from helix_episodes.extraction.commands import parse_command
from helix_episodes.limits import LONGEST_COMMAND

if TYPE_CHECKING:
    from collections.abc import Iterator

    from helix_episodes.session import Session, Step

_OWN_NAMES = ("helix-graph", "helix_cli")


def without_echoes(session: Session) -> Session:
    """The session as it would have been without a memory; ``injected`` has the insights that were put in."""
    calls = [step for step in session.steps if step.kind == "call" and _asks_memory(step)]
    asked = {step.call_id: _only_asks(step) for step in calls}
    alone = {step.call_id for step in calls if _is_alone(step)}
    names: dict[str, None] = dict.fromkeys(session.injected)
    for step in session.steps:
        if _is_handed_over(step) or (step.kind == "result" and step.call_id in alone):
            names.update(dict.fromkeys(without_echo(step.text).insights))
    steps = tuple(_kept(session.steps, asked))
    if steps == session.steps and tuple(names) == session.injected:
        return session
    task = without_echo(session.task).text.strip() if session.task else None
    return msgspec.structs.replace(session, steps=steps, injected=tuple(names), task=task or None)


def _is_handed_over(step: Step) -> bool:
    """Whether a step is a person's prompt or a word of the agent's program, as a hook's is."""
    if step.kind == "prompt":
        return step.actor == "user"
    return step.kind == "note" and step.actor == "system" and step.tool is None


def _kept(steps: tuple[Step, ...], asked: dict[str | None, bool]) -> Iterator[Step]:
    for step in steps:
        of_memory = step.kind in {"call", "result"} and step.call_id in asked
        if of_memory and asked[step.call_id]:
            continue
        heard = _without(step)
        if heard.text.strip() or not step.text.strip() or step.kind in {"call", "result"}:
            yield msgspec.structs.replace(heard, text="") if of_memory and step.kind == "result" else heard


def _asks_memory(step: Step) -> bool:
    if is_own_tool(step.tool or ""):
        return True
    command = step.arguments.get("command")
    named = step.operation == "run" and isinstance(command, str) and any(name in command for name in _OWN_NAMES)
    return named and any(is_own_program(part.program) for part in parse_command(str(command)[:LONGEST_COMMAND]))


def _only_asks(step: Step) -> bool:
    """Whether a call does nothing but ask the memory and look at what it says."""
    if step.operation != "run":
        return True
    parts = parse_command(str(step.arguments.get("command", ""))[:LONGEST_COMMAND])
    return all(part.purpose == "look" or is_own_program(part.program) for part in parts)


def _is_alone(step: Step) -> bool:
    """Whether nothing but the memory speaks in the answer of a call: what it is piped into shows its words."""
    if step.operation != "run":
        return True
    parts = parse_command(str(step.arguments.get("command", ""))[:LONGEST_COMMAND])
    return all(is_own_program(part.program) or part.joiner == "|" or part.program == "cd" for part in parts)


def _without(step: Step) -> Step:
    """The step with echoes cut."""
    text, arguments = _cut(step.text), _cut(step.arguments)
    if text == step.text and arguments == step.arguments:
        return step
    return msgspec.structs.replace(step, text=text, arguments=arguments)


def _cut(value: Any) -> Any:  # noqa: ANN401  (a call's arguments are JSON)
    if isinstance(value, str):
        return without_echo(value).text if "<" in value else value
    if isinstance(value, dict):
        return {key: _cut(each) for key, each in value.items()}
    return [_cut(each) for each in value] if isinstance(value, list) else value
