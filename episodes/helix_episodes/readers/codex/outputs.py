r"""The outputs of calls in a Codex rollout, and how each call came out.

How a call came out is read from the exit code and Codex's own sentences, never from words in the output. An output is
a bare text, a text with a head (``Exit code``, ``Wall time`` …), JSON within a string, or blocks of text:

>>> read_output('{"output": "ok\\n", "metadata": {"exit_code": 1}}')
CallOutput(text='ok\n', status='error', exit_code=1, running=None)
>>> read_output("Wall time: 0.1 seconds\nProcess exited with code 0\nOutput:\nok")
CallOutput(text='ok', status='ok', exit_code=0, running=None)
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from helix_episodes.readers.common.fields import object_in, objects_in, text_in
from helix_episodes.readers.common.jsonl import parse

if TYPE_CHECKING:
    from helix_episodes.readers.common.fields import Record
    from helix_episodes.session import Status


_HEAD = re.compile(
    r"\A(?:(?:Chunk ID|Wall time|Original token count|Total output lines|Exit code|"
    r"Process exited with code|Process running with session ID)\b[^\n]*\n?)+(?:Output:(?:\n|\Z))?"
)
_CODE = re.compile(r"^(?:Exit code:|Process exited with code) (-?\d{1,6})", re.MULTILINE)
_RUNNING = re.compile(r"^Process running with session ID (\w+)", re.MULTILINE)
# The program's own sentences, each of which comes first.
_REJECTED = (
    "exec command rejected by user", "patch rejected by user", "rejected by user", "user rejected MCP tool call",
)  # fmt: skip
_DENIED = ("This action was rejected due to unacceptable risk",)
_INTERRUPTED = ("aborted by user", "aborted")
_FAILED = (
    "apply_patch verification failed", "failed to parse function arguments", "exec_command failed",
    "write_stdin failed", "execution error:", "failed in sandbox", "unsupported call:",
    "unsupported custom tool call:",
)  # fmt: skip
_NEST_LIMIT = 3


class CallOutput(NamedTuple):
    """What the agent saw and how it came out; ``running`` is the shell session in which the command still goes on."""

    text: str
    status: Status
    exit_code: int | None = None
    running: str | None = None


def read_output(raw: object) -> CallOutput:
    """The output of a call, whichever of its shapes it has."""
    text, code, success = _unwrapped(raw)
    head = _HEAD.match(text)
    running = None
    if head is not None:
        sentence, text = head.group(), text[head.end() :]
        found, still = _CODE.search(sentence), _RUNNING.search(sentence)
        code = int(found[1]) if found else code
        running = still[1] if still else None
    stated = status_by_code(code) if code is not None else "error" if success is False else "ok"
    return CallOutput(text, by_sentence(text) or stated, code, running)


def ended_output(text: str, *, code: int | None, declined: bool = False) -> CallOutput:
    """The output of a command whose end the program recorded by itself."""
    status = by_sentence(text) or ("rejected" if declined else None)
    return CallOutput(text, status or status_by_code(code), None if status else code)


def status_by_code(code: int | None) -> Status:
    """The status that an exit code means."""
    return "unknown" if code is None else "error" if code else "ok"


def by_sentence(text: str) -> Status | None:
    """The status that the program's own sentence means, where the text begins with one."""
    start = text.lstrip()
    if start.startswith(_REJECTED):
        return "rejected"
    if start.startswith(_DENIED):
        return "denied"
    if start.startswith(_INTERRUPTED[0]) or start.strip() == _INTERRUPTED[1]:
        return "interrupted"
    return "error" if start.startswith(_FAILED) else None


def _unwrapped(raw: object, *, depth: int = 0) -> tuple[str, int | None, bool | None]:
    """The text, the exit code and the success that are in an output."""
    if isinstance(raw, list):
        return "\n".join(part for part in map(output_text, raw) if part), None, None
    if isinstance(raw, dict):
        return _of_object(raw, depth=depth)
    if not isinstance(raw, str):
        return "" if raw is None else str(raw), None, None
    nested = _nested(raw) if depth < _NEST_LIMIT else None
    return _of_object(nested, depth=depth) if nested is not None else (raw, None, None)


def _of_object(raw: dict[str, Any], *, depth: int) -> tuple[str, int | None, bool | None]:
    if "stdout" in raw or "stderr" in raw:
        text = "\n".join(part for name in ("stdout", "stderr") if (part := text_in(raw, name)))
        return text, number_in(raw.get("exitCode", raw.get("exit_code"))), None
    inner = next((raw[name] for name in ("output", "content", "text") if name in raw), "")
    text, code, success = _unwrapped(inner, depth=depth + 1)
    stated = raw.get("success")
    exit_code = number_in(object_in(raw, "metadata").get("exit_code"))
    return text, code if exit_code is None else exit_code, stated if isinstance(stated, bool) else success


def _nested(raw: str) -> dict[str, Any] | None:
    """The wrapper that is written as JSON into the string; an object with other keys is the tool's own answer."""
    if not raw.startswith("{"):
        return None
    try:
        value = parse(raw.encode("utf-8", "replace"))
    except ValueError:
        return None
    own = isinstance(value, dict) and "output" in value and set(value) <= {"output", "metadata"}
    return value if own else None


def output_text(block: object) -> str:
    """The text of a block of content; other blocks leave a mark."""
    if isinstance(block, str):
        return block
    if not isinstance(block, dict):
        return ""
    text = block.get("text")
    kind = str(block.get("type", ""))
    return text if isinstance(text, str) else "[image]" if "image" in kind.lower() and block.get("image_url") else ""


def number_in(value: object) -> int | None:
    """The value where it is a whole number."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def of_command(result: Record) -> CallOutput:
    """A command's result as the object that its tool returns to a script."""
    code = number_in(result.get("exit_code"))
    running = result.get("session_id") if code is None else None
    status = "unknown" if code is None else status_by_code(code)
    return CallOutput(str(result.get("output") or ""), status, code, None if running is None else str(running))


def of_server(result: object) -> CallOutput:
    """``{"Ok": answer}``, ``{"Err": text}``, or the answer itself."""
    if not isinstance(result, dict):
        return CallOutput(str(result or ""), "unknown")
    if "Err" in result:
        return CallOutput(str(result["Err"]), "error")
    answer = object_in(result, "Ok") or result
    text = "\n".join(filter(None, (output_text(block) for block in objects_in(answer, "content"))))
    return CallOutput(text, "error" if answer.get("isError") is True else "ok")
