"""SWE-agent and mini-swe-agent: one JSON file per run (``docs/reference/formats/swe-agent.md``).

In SWE-agent's ``<instance>.traj`` a turn is a thought, an action and what was observed then. The ``history`` repeats it
as messages, and before it the order that began the run; demonstrations in it belong to another run. A file without
turns is read by its history.

The agent types into a shell that has a few more commands: a window on one open file (``open``, ``goto``,
``scroll_down``), searches, and an ``edit`` of the open file. An ``edit`` has had three forms: a range of lines with the
new text down to ``end_of_edit``, the same at the cursor, and the old and the new text as two words. Every other line is
a shell command.

mini-swe-agent writes chat messages. Every answer of the model holds one command in a code block, or in a tool call; the
next message is what it printed, with its exit code in ``<returncode>``.
"""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, Any

from helix_episodes.readers.base import DocumentReader
from helix_episodes.readers.common.fields import Record, RecordPosition, object_in, objects_in, text_in
from helix_episodes.readers.common.jsonl import SkippedRecord
from helix_episodes.readers.common.message_parts import message_text, parse_arguments, tool_calls
from helix_episodes.readers.common.tool_translation import COMMON_TOOLS, Translation, editor
from helix_episodes.session import Source

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from helix_episodes.readers.base import LogHead
    from helix_episodes.readers.common.json_with_lines import JsonNode
    from helix_episodes.readers.common.session_builder import Dialogue, SessionBuilder
    from helix_episodes.session import Status, Step

    Words = list[str]


_LOOKS = frozenset(
    {"open", "goto", "scroll_up", "scroll_down", "search_dir", "search_file", "find_file", "set_cursors"}
)
_EDIT_LINES = re.compile(r"edit(?:[ \t]+\d+:\d+)?[ \t]*\n(.*?)\n?(?:end_of_edit\s*)?\Z", re.DOTALL)
_SUBMITS = frozenset({"submit", "exit_forfeit", "exit"})
#: The interface's own sentences on a command that did nothing; each comes first.
_REFUSED = (
    "Your proposed edit has introduced new syntax error(s)", "Your edit was not applied",
    "No replacement was performed", "No file open", "No file is open", "Text not found", "Usage: ", "Error: ",
    "File not found:", "Wrong flag!",
)  # fmt: skip
#: The environment's words on a command that it stopped.
_STOPPED = ("EXECUTION TIMED OUT", "COMMAND TIMED OUT")


def translate_action(action: str, *, opened: str | None) -> tuple[str, Translation]:
    r"""The tool that a typed line names, and what it represents; ``opened`` is the file in the window.

    >>> translate_action("edit 4:4\nx = 1\nend_of_edit", opened="/repo/a.py")
    ('edit', Translation(operation='edit', arguments={'path': '/repo/a.py', 'old': '', 'new': 'x = 1'}))
    >>> translate_action("edit 'x = 1' 'x = 2'", opened="/repo/a.py")[1].arguments["old"]
    'x = 1'
    >>> translate_action("pytest -q", opened=None)
    ('shell', Translation(operation='run', arguments={'command': 'pytest -q'}))
    """
    action = action.strip()
    tool = action.split(maxsplit=1)[0] if action else ""
    handle = _COMMANDS.get(tool)
    if handle is not None:
        return tool, handle(action, _words(action), opened or "")
    if tool in _LOOKS:
        return tool, _look(tool, _words(action), opened or "")
    if tool in _SUBMITS:
        answer = action.removeprefix(tool).strip()
        return tool, Translation("use", {"answer": answer} if answer else {})
    return "shell", Translation("run", {"command": action})


def _edit(action: str, words: Words, opened: str) -> Translation:
    lines = _EDIT_LINES.fullmatch(action)
    if lines is not None:
        return Translation("edit", {"path": opened, "old": "", "new": lines[1]})
    old, new = (*words[1:], "", "")[:2]
    return Translation("edit", {"path": opened, "old": old, "new": new})


def _editor(_: str, words: Words, opened: str) -> Translation:
    """``str_replace_editor <command> <path> --old_str … --new_str …``."""
    command, path = (*words[1:3], "", opened)[:2]
    options = dict(zip(words[3::2], words[4::2], strict=False))
    logged = {name.removeprefix("--"): value for name, value in options.items() if name.startswith("--")}
    return editor({"command": command, "path": path, **logged})[0]


def _look(tool: str, words: Words, opened: str) -> Translation:
    first = (*words[1:], "")[0]
    if tool == "open":
        return Translation("look", {"path": first})
    if tool in {"search_dir", "search_file", "find_file"}:
        looked = {"pattern": first} | ({"path": words[2]} if len(words) > 2 else {})  # noqa: PLR2004  (tool, pattern, where)
        return Translation("look", looked)
    return Translation("look", {"path": opened})


def _words(action: str) -> Words:
    """The words of the line as the shell would see them; of an unclosed quotation, as they are."""
    try:
        return shlex.split(action)
    except ValueError:
        return action.split()


_COMMANDS: dict[str, Callable[[str, Words, str], Translation]] = {
    "edit": _edit,
    "insert": lambda _, words, opened: Translation("edit", {"path": opened, "old": "", "new": (*words[1:], "")[0]}),
    "create": lambda _, words, opened: Translation("create", {"path": (*words[1:], opened)[0], "new": ""}),
    "str_replace_editor": _editor,
}


#: Where the program's templates put the task.
_ISSUE = re.compile(
    r"^ISSUE:\s*\n(.*?)(?:^[ \t]*INSTRUCTIONS:|\Z)|<pr_description>\s*(.*?)</pr_description>", re.MULTILINE | re.DOTALL
)
_NOTHING_OPEN = "n/a"


class _Run:
    """A run while it is read."""

    def __init__(self, builder: SessionBuilder) -> None:
        self.builder = builder
        self.dialogue = builder.dialogue
        self._opened: str | None = None
        self._ordered = False

    def take(self, run: JsonNode) -> None:
        """Turns the run into steps."""
        turns = run.get("trajectory").items
        for message in run.get("history").items:
            is_repeated = bool(turns) or not self._ordered
            self.builder.ledger.enter(_no_object(message) or (self._order if is_repeated else self._message)(message))
        for turn in turns:
            self.builder.ledger.enter(_no_object(turn) or self._turn(turn))
        status = run.get("info").get("exit_status")
        if status.text:
            self.dialogue.add_text("note", _place(status), text=f"exit status: {status.text}", actor="system")

    def _order(self, message: JsonNode) -> SkippedRecord | None:
        """The first message under the user's role that is no demonstration; the turns repeat the rest."""
        plain = message.record
        is_demonstration = plain.get("is_demo") is True or plain.get("message_type") == "demonstration"
        if is_demonstration or plain.get("role") == "system":
            return SkippedRecord("demonstration" if is_demonstration else "system prompt")
        if self._ordered or plain.get("role") != "user":
            return SkippedRecord("history, which the turns have")
        added = self.dialogue.add_text("prompt", _place(message.get("content")), text=message_text(plain), actor="user")
        self._ordered = added
        return None if added else SkippedRecord("empty message")

    def _message(self, message: JsonNode) -> SkippedRecord | None:
        """A message of a file that has no turns."""
        plain = message.record
        if plain.get("role") == "assistant":
            return self._act(message, plain)
        return self._see(message.get("content"), message_text(plain))

    def _turn(self, turn: JsonNode) -> SkippedRecord | None:
        plain = turn.record
        state = object_in(plain, "state") or parse_arguments(plain.get("state"))
        self.builder.note(root=text_in(state, "working_dir"))
        opened = text_in(state, "open_file")
        # The state is that after the turn: an edit closes no file, and opening one is no edit.
        self._opened = opened if opened and opened != _NOTHING_OPEN else self._opened
        passed = self._act(turn, plain)
        return passed or self._see(turn.get("observation"), text_in(plain, "observation") or "")

    def _act(self, node: JsonNode, plain: Record) -> SkippedRecord | None:
        thought = node.get("thought")
        added = self.dialogue.add_text("thought", _place(thought), text=thought.text)
        action = text_in(plain, "action") or ""
        if not action.strip():
            return None if added else SkippedRecord("turn without action")
        tool, translation = translate_action(action, opened=self._opened)
        place = _place(node.get("action"))
        self.dialogue.add_call(place, tool=tool, call_id=None, translations=[translation])
        return None

    def _see(self, node: JsonNode, text: str) -> SkippedRecord | None:
        call = self.dialogue.open_call(None)
        if call is None:
            return self.dialogue.add_text_or_skip(
                "note", _place(node), text=text, actor="system", empty="empty message"
            )
        # A shell command's end is not recorded; the interface's own commands say when they did nothing.
        said = text.lstrip()
        status: Status = "error" if said.startswith(_REFUSED) else "ok"
        if call.operation == "run":
            status = "error" if said.startswith(_STOPPED) else "unknown"
        self.dialogue.add_result(None, _place(node), text=text, status=status)
        return None


def issue_in(steps: Sequence[Step]) -> str | None:
    """The task's own words, where the order puts them into the program's template."""
    order = next((step.text for step in steps if step.kind == "prompt"), "")
    found = _ISSUE.search(order)
    return (found[1] or found[2] or "").strip() or None if found else None


def _no_object(node: JsonNode) -> SkippedRecord | None:
    return None if isinstance(node.value, dict) else SkippedRecord("no object", known=False)


def _place(node: JsonNode) -> RecordPosition:
    return RecordPosition(Source(line=node.line))


_OWN_KINDS = frozenset({"system_prompt", "demonstration", "observation", "thought", "action"})


class SweAgentReader(DocumentReader):
    """Reads the trajectories of SWE-agent."""

    name = "swe-agent"
    suffixes = (".traj",)
    empty = "no turn and no message"
    unfamiliar = "no trajectory of actions and observations"

    def is_own(self, head: LogHead) -> bool:
        """Whether the file has turns of action and observation, or their history."""
        turns = objects_in(head.document, "trajectory") if isinstance(head.document, dict) else []
        if turns:
            return all({type(turn.get("action")), type(turn.get("observation"))} == {str} for turn in turns)
        history = objects_in(head.document, "history") if isinstance(head.document, dict) else []
        return any(text_in(one, "message_type") in _OWN_KINDS and text_in(one, "agent") is not None for one in history)

    def take(self, document: JsonNode, builder: SessionBuilder, path: Path) -> dict[str, Any]:
        """Adds the turns, or the history of a file without them."""
        _Run(builder).take(document)
        return {"task": issue_in(builder.dialogue.steps), "task_id": path.stem}


_COMMAND = re.compile(r"^```(?:mswea_bash_command|bash)[ \t]*\n(.*?)\n?^```", re.MULTILINE | re.DOTALL)
_OBSERVED = re.compile(r"\A\s*<returncode>(-?\d+)</returncode>\s*")
_OUTPUT = re.compile(r"\A<output>\n?(.*?)\n?</output>\s*\Z", re.DOTALL)
#: A format's own name, or its program's, where the file bears one.
_FORMAT = "mini-swe-agent"
#: Where the program's template puts the task.
_TASK = re.compile(r"Please solve this issue: (.*?)(?:\n\nYou can execute bash commands|\Z)", re.DOTALL)


class MiniSweAgentReader(DocumentReader):
    """Reads the trajectories of mini-swe-agent."""

    name = "mini-swe-agent"
    suffixes = (".traj.json",)
    empty = "no message with a role"
    unfamiliar = "no messages with one command each and a returncode"

    def is_own(self, head: LogHead) -> bool:
        """Whether the file says so, or holds messages with commands and their exit codes."""
        run = head.document
        if isinstance(run, dict) and str(run.get("trajectory_format", "")).startswith(_FORMAT):
            return True
        messages = run if isinstance(run, list) else objects_in(run, "messages") if isinstance(run, dict) else []
        objects = [one for one in messages if isinstance(one, dict)]
        answers = [one for one in objects if one.get("role") == "assistant"]
        observes = any(_OBSERVED.match(message_text(one)) for one in objects)
        return observes and any(_COMMAND.search(message_text(one)) or tool_calls(one) for one in answers)

    def take(self, document: JsonNode, builder: SessionBuilder, path: Path) -> dict[str, Any]:
        """Adds the messages of the run."""
        for message in document.get("messages").items or document.items:
            builder.ledger.enter(_take(message, builder.dialogue))
        prompts = (step.text for step in builder.dialogue.steps if step.kind == "prompt")
        task = next(map(_TASK.search, prompts), None)
        info = document.get("info")
        return {
            "agent_version": info.get("mini_version").text or None,
            "model": info.get("config").get("model").get("model_name").text or None,
            "root": info.get("config").get("environment").get("cwd").text or None,
            "task": (task[1].strip() or None) if task else None,
            "task_id": path.name.partition(".")[0],
        }


def _take(message: JsonNode, dialogue: Dialogue) -> SkippedRecord | None:
    plain, place = message.record, RecordPosition(Source(line=message.get("content").line))
    role = text_in(plain, "role")
    if role == "system":
        return SkippedRecord("system prompt")
    if role == "assistant":
        return _answer(plain, place, dialogue)
    if role in {"user", "tool"}:
        return _observed(plain, place, dialogue)
    text = message_text(plain)
    added = role == "exit" and dialogue.add_text("note", place, text=text, actor="system")
    return None if added else SkippedRecord(f"message of {role}" if role else "no message", known=role == "exit")


def _answer(message: dict[str, Any], place: RecordPosition, dialogue: Dialogue) -> SkippedRecord | None:
    text = message_text(message)
    commands = [match[1] for match in _COMMAND.finditer(text)]
    added = dialogue.add_text("message", place, text=_COMMAND.sub("", text))
    for call in tool_calls(message):
        dialogue.call(place, call.tool, call.arguments, tools=COMMON_TOOLS, call_id=call.id)
    # An answer with several blocks is refused by the program and nothing of it runs.
    if len(commands) == 1 and not tool_calls(message):
        run = Translation("run", {"command": commands[0]})
        dialogue.add_call(place, tool="bash", call_id=None, translations=[run])
    return None if added or commands or tool_calls(message) else SkippedRecord("empty answer")


def _observed(message: dict[str, Any], place: RecordPosition, dialogue: Dialogue) -> SkippedRecord | None:
    text, call_id = message_text(message), text_in(message, "tool_call_id")
    if dialogue.open_call(call_id) is None:
        # The first words under the user's role are the order; later ones without a command before are the program's.
        first = not any(step.kind == "prompt" for step in dialogue.steps)
        return dialogue.add_text_or_skip(
            "prompt" if first else "note", place, text=text, actor="user" if first else "system", empty="empty message"
        )
    code = object_in(message, "extra").get("returncode")
    found = _OBSERVED.match(text)
    if found is not None:
        code, text = int(found[1]), text[found.end() :]
        inner = _OUTPUT.match(text)
        text = inner[1] if inner else text
    code = code if isinstance(code, int) else None
    status: Status = "unknown" if code is None else "error" if code else "ok"
    dialogue.add_result(call_id, place, text=text, status=status, exit_code=code)
    return None
