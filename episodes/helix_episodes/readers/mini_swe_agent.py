"""mini-swe-agent: one JSON file of chat messages per run (``docs/formats/mini-swe-agent.md`` describes it).

Every answer of the model holds one command in a code block, or in a tool call; the next message is what it printed,
with its exit code in ``<returncode>``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from helix_episodes.readers.base import DocumentReader
from helix_episodes.readers.common.fields import Record, RecordPosition, object_in, objects_in, text_in
from helix_episodes.readers.common.jsonl import SkippedRecord
from helix_episodes.readers.common.message_parts import message_text, tool_calls
from helix_episodes.readers.common.tool_translation import COMMON_TOOLS, Translation
from helix_episodes.session import Source

if TYPE_CHECKING:
    from pathlib import Path

    from helix_episodes.readers.base import LogHead
    from helix_episodes.readers.common.json_with_lines import JsonNode
    from helix_episodes.readers.common.session_builder import Dialogue, SessionBuilder
    from helix_episodes.session import Status

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

    def sniff(self, head: LogHead) -> str | None:
        """``None`` when the file says so, or holds messages with commands and their exit codes, else why not."""
        run = head.document
        if isinstance(run, dict) and str(run.get("trajectory_format", "")).startswith(_FORMAT):
            return None
        messages = run if isinstance(run, list) else objects_in(run, "messages") if isinstance(run, dict) else []
        objects = [one for one in messages if isinstance(one, dict)]
        observes = any(_OBSERVED.match(message_text(one)) for one in objects)
        if observes and any(_is_command(one) for one in objects):
            return None
        return "no messages with one command each and a returncode"

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


def _is_command(message: Record) -> bool:
    return message.get("role") == "assistant" and bool(_COMMAND.search(message_text(message)) or tool_calls(message))


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
