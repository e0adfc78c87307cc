"""Calls and their results, each of which a rollout may hold twice.

The model's own items (``function_call`` and its output) are mirrored by events of the program (``exec_command_end``),
which say more: all of the output, the exit code, the files that changed. The event wins, whichever comes first; where
there is none, the item is read.

A command that outlives its call is asked for again and again with ``write_stdin``; its result is that of the call which
started it. A helper's answer comes to whoever waits for it; it is the result of the call that sent the helper.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from helix_episodes.readers.codex.outputs import Output, read_output
from helix_episodes.readers.fields import object_in, text_in
from helix_episodes.readers.jsonl import parse
from helix_episodes.readers.ledger import Passed
from helix_episodes.readers.patches import read_diff
from helix_episodes.readers.vocabulary import COMMON, Translation, look, named, translate, use

if TYPE_CHECKING:
    from collections.abc import Mapping

    from helix_episodes.readers.dialogue import Dialogue
    from helix_episodes.readers.fields import Place, Record
    from helix_episodes.readers.vocabulary import Given, Translator

MIRROR = Passed("mirror")


def _stdin(arguments: Given) -> tuple[Translation, ...]:
    """Nothing typed: only asked how far the command is."""
    if str(arguments.get("chars", "")):
        return use(arguments)
    return (Translation("look", {"query": str(arguments.get("session_id", ""))}),)


TOOLS: Mapping[str, Translator] = {
    **COMMON,
    "container.exec": COMMON["shell"],
    # Not a command but a program that calls tools; those that it calls are recorded by themselves.
    "exec": use,
    "writestdin": _stdin,
    **named("viewimage", "wait", "waitagent", "closeagent", "listagents", by=look),
}


class Calls:
    """Adds calls and results to the dialogue, each once."""

    def __init__(self, dialogue: Dialogue) -> None:
        self._dialogue = dialogue
        self._known: set[str] = set()
        self._settled: dict[str, bool] = {}
        self._running: dict[str, str] = {}
        self._polls: dict[str, str] = {}
        self._helpers: dict[str, str] = {}

    def call(self, place: Place, *, tool: str, arguments: Given, call_id: str | None) -> Passed | None:
        """A call as an item or an event tells of it."""
        return self.carry_out(place, tool=tool, translations=translate(tool, arguments, tools=TOOLS), call_id=call_id)

    def carry_out(
        self, place: Place, *, tool: str, translations: tuple[Translation, ...], call_id: str | None
    ) -> Passed | None:
        """A call already translated."""
        if call_id is not None and call_id in self._known:
            return MIRROR
        if call_id is not None:
            self._known.add(call_id)
        self._dialogue.call(place, tool=tool, call_id=call_id, translations=translations)
        if tool == "write_stdin" and call_id is not None:
            self._polls[call_id] = str(translations[0].arguments.get("query", ""))
        return None

    def answer(self, place: Place, *, call_id: str | None, raw: object) -> Passed | None:
        """The output that the model was given."""
        output = read_output(raw)
        call = self._dialogue.open_call(call_id)
        if call_id is not None and call_id in self._settled:
            return MIRROR
        if call is not None and call.operation == "delegate" and self._was_sent(output.text, call_id=call_id):
            return None
        if output.running is not None and call is not None and call.operation == "run":
            self._running[output.running] = call_id or ""
            return None
        if call is not None and call.operation == "run" and output.exit_code is None and output.status == "ok":
            output = output._replace(status="unknown")
        self._settle(place, call_id=call_id, output=output, twin=False)
        self._came_to_an_end(place, call_id=call_id, output=output)
        self._came_back(place, output.text)
        return None

    def end(self, place: Place, *, call_id: str | None, output: Output) -> Passed | None:
        """The end of a call as the program recorded it."""
        if call_id is not None and self._settled.get(call_id):
            return MIRROR
        self._settle(place, call_id=call_id, output=output, twin=True)
        return None

    def send(self, place: Place, *, call_id: str | None, arguments: Given, helper: str | None) -> Passed | None:
        """A helper set to work: the call (unless it is known) and who it is."""
        passed = self.call(place, tool="spawn_agent", arguments=arguments, call_id=call_id)
        if helper and call_id:
            self._helpers[helper] = call_id
        return passed

    def come_back(self, place: Place, *, helper: str, status: object) -> bool:
        """What a helper answered, as ``{"completed": text}`` or ``{"errored": text}``; whether it is an answer."""
        if not isinstance(status, dict) or helper not in self._helpers:
            return False
        for name, came_out in (("completed", "ok"), ("errored", "error")):
            if name in status:
                call_id = self._helpers[helper]
                if self._dialogue.is_open(call_id):
                    output = Output(str(status[name] or ""), "ok" if came_out == "ok" else "error")
                    self._settle(place, call_id=call_id, output=output, twin=True)
                return True
        return False

    def _settle(self, place: Place, *, call_id: str | None, output: Output, twin: bool) -> None:
        said: dict[str, Any] = {"text": output.text, "status": output.status, "exit_code": output.exit_code}
        if call_id is not None and call_id in self._settled:
            self._dialogue.settle_anew(call_id, place, **said)
        else:
            self._dialogue.settle(call_id, place, **said)
        if call_id is not None:
            self._settled[call_id] = twin

    def _was_sent(self, text: str, *, call_id: str | None) -> bool:
        """Whether an answer only names the helper that was sent."""
        sent = _object(text)
        helper = text_in(sent, "agent_id") or text_in(sent, "task_name")
        if helper and call_id:
            self._helpers[helper] = call_id
        return helper is not None

    def _came_to_an_end(self, place: Place, *, call_id: str | None, output: Output) -> None:
        """The end of a command that was asked for again."""
        started_by = self._running.get(self._polls.get(call_id or "", ""))
        if started_by and output.exit_code is not None and self._dialogue.is_open(started_by):
            self._settle(place, call_id=started_by, output=output, twin=False)

    def _came_back(self, place: Place, text: str) -> None:
        for helper, status in object_in(_object(text), "status").items():
            self.come_back(place, helper=helper, status=status)


def changes_in(changes: Record) -> tuple[Translation, ...]:
    """The files that an applied patch changed, as the program recorded them."""
    return tuple(
        translation
        for path, change in changes.items()
        if isinstance(change, dict)
        for translation in _change(path, change)
    )


def _change(path: str, change: Record) -> tuple[Translation, ...]:
    kind = change.get("type")
    if kind == "add":
        return (Translation("create", {"path": path, "new": text_in(change, "content") or ""}),)
    if kind == "delete":
        return (Translation("delete", {"path": path}),)
    moved = text_in(change, "move_path")
    edited = read_diff(text_in(change, "unified_diff") or "", path=moved or path)
    edit = Translation(edited.operation, edited.arguments)
    return (Translation("delete", {"path": path}), edit) if moved else (edit,)


def arguments_in(raw: object) -> Record:
    """A call's arguments: an object, JSON in a string, or a text handed in as it is."""
    if isinstance(raw, dict):
        return raw
    if not isinstance(raw, str):
        return {}
    found = _object(raw)
    return found or ({"input": raw} if raw.strip() not in {"", "{}"} else {})


def _object(text: str) -> Record:
    if not text.lstrip().startswith("{"):
        return {}
    try:
        value = parse(text.encode("utf-8", "replace"))
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
