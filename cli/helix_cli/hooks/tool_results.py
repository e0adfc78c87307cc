r"""Whether a tool's result is a failure, in the words of each agent's program.

Claude Code has an event of its own for failed tools. The others report all or some of them with the tool's result:
Gemini CLI with ``error`` and the exit code of a command below its output, Cursor in ``tool_output`` as JSON within a
text, Copilot in ``toolResult`` as text. Codex sends the bare output; the exit code is in its log, on a line that it has
written by then.

A command that was piped (``pytest | tail``) exits with 0 whatever came of it. Where no exit code says that a command
failed, its output may: then the result is only *suspected* of it, by plain words that cost nothing to look for, and
whoever answers the event has to read the verdict.

>>> read_result("post-tool", {"tool_output": '{"exitCode": 2, "stderr": "no such file"}'}).said
'no such file'
>>> read_result("post-tool", {"toolResult": {"resultType": "success", "textResultForLlm": "3 passed"}}).said
''
>>> piped = {"tool_input": {"command": "pytest | tail"}, "tool_response": {"stdout": "1 failed, 2 passed"}}
>>> read_result("post-tool", piped)
ToolFailure(said='1 failed, 2 passed', suspected=True)
"""

from __future__ import annotations

import json
import os

from helix_cli.hooks.success_filter import SIGNS
from helix_episodes.light_imports import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class ToolFailure(Value):
    """What a failed tool said, nothing when it did not fail; ``suspected``: only its words speak of a failure."""

    said: str
    suspected: bool = False


_NONE = ToolFailure("")
_RESPONSES = ("tool_response", "tool_output", "toolResult", "tool_result")
#: What may stand before an exit code in a line of its own: at the beginning of a response in words (Codex' tools), at
#: the end of what the model is shown (Gemini, Copilot). A command may print exit codes too, so only so far is looked.
_EXITED = ("exit code:", "exit code", "process exited with code", "exited with exit code", "completed with exit code")
_REACH = 300
_SHOWN = ("llmContent", "textResultForLlm", "text_result_for_llm")
#: Gemini writes this before the first line of a command's output, which errors begin with as often as not.
_BEFORE_OUTPUT = "Output: "
_RESULTS = ("failure", "timeout")
#: Phrases such as "0 failed", removed before `SIGNS` are searched for.
_NO_SIGNS = ("0 failed", "0 failures", "0 errors", "0 error", "no issues", "0 issues", "0 problems", "no errors")
#: Verdicts are at the ends of an output.
_SIGNS_WITHIN = 20_000
_COMMANDS = ("command", "cmd", "script")
#: Codex' line of a command holds up to a megabyte of output, and other commands may have ended since.
_LOG_TAIL = 2 * 1024 * 1024


def read_result(event: str, fields: dict[str, Any]) -> ToolFailure:
    """The failure that a payload reports."""
    if event == "tool-failure":
        return ToolFailure(_words(fields.get("error") or fields.get("error_message") or fields.get("tool_response")))
    response = next((fields[name] for name in _RESPONSES if fields.get(name)), None)
    if isinstance(response, str):
        found = decoded(response)
        response = found if isinstance(found, dict) else {"output": response, "success": not _exited(response[:_REACH])}
    if not isinstance(response, dict):
        return _NONE
    if _has_failed(response):
        said = _words(response)
        marked = "llmContent" in response
        return ToolFailure(said.replace(_BEFORE_OUTPUT, f"{_BEFORE_OUTPUT}\n", 1) if marked else said)
    if not shell_command(fields.get("tool_input") or fields.get("toolArgs")):
        return _NONE
    said = _words(next((response[name] for name in _SHOWN if response.get(name)), response))
    if _code_in_codex_log(fields):
        return ToolFailure(said)
    text = said if len(said) < 2 * _SIGNS_WITHIN else f"{said[:_SIGNS_WITHIN]}\n{said[-_SIGNS_WITHIN:]}"
    text = text.casefold()
    for none in _NO_SIGNS:
        text = text.replace(none, "")
    return ToolFailure(said, suspected=True) if any(sign in text for sign in SIGNS) else _NONE


def shell_command(arguments: object) -> str:
    """The command that a tool was asked to run; empty when it runs none."""
    found = decoded(arguments) if isinstance(arguments, str) else arguments
    named = (found.get(name) for name in _COMMANDS) if isinstance(found, dict) else ()
    return next((one for one in named if isinstance(one, str)), "")


def decoded(text: str) -> object:
    """What JSON within a text says; None when it is not JSON."""
    try:
        found: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found


def _has_failed(response: dict[str, Any]) -> bool:
    """Whether a tool's response says by a field of its own that it failed."""
    places = [response, *(one for one in response.values() if isinstance(one, dict))]
    codes = [place.get(name) for place in places for name in ("exit_code", "exitCode")]
    if any(isinstance(code, int) and code != 0 for code in codes):
        return True
    if any(place.get("success") is False or place.get("is_error") is True for place in places):
        return True
    if response.get("error") or response.get("resultType") in _RESULTS or response.get("result_type") in _RESULTS:
        return True
    return any(_exited(_words(response.get(name))[-_REACH:]) for name in _SHOWN)


def _exited(text: str) -> bool:
    """Whether a line of the text says that the command exited with another code than 0."""
    found = (line.strip("<> ").rpartition(" ") for line in text.splitlines())
    return any(_is_ending(said.casefold()) and code.isdigit() and int(code) != 0 for said, _, code in found)


def _is_ending(said: str) -> bool:
    """Whether these are the words before an exit code; Copilot names the shell first (``shellId: 0``)."""
    if said.startswith("shellid: "):
        said = said.removeprefix("shellid: ").partition(" ")[2]
    return said in _EXITED


def _code_in_codex_log(fields: dict[str, Any]) -> int:
    """The exit code that Codex' log has of this call; 0 where it has none, or another program wrote the log."""
    log, call = fields.get("transcript_path"), fields.get("tool_use_id")
    if not isinstance(log, str) or not isinstance(call, str) or not log.rpartition("/")[2].startswith("rollout-"):
        return 0
    name = json.dumps(call).encode()
    for line in reversed(_tail(log).split(b"\n")):
        if name in line and b'"exit_code":' in line:
            found = decoded(line.decode("utf-8", "replace"))
            item = found.get("payload", {}).get("item", {}) if isinstance(found, dict) else {}
            code = item.get("exit_code") if isinstance(item, dict) else None
            return code if isinstance(code, int) else 0
    return 0


def _tail(path: str) -> bytes:
    """The end of a file; nothing where there is none to read."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return b""
    try:
        return os.pread(handle, _LOG_TAIL, max(os.fstat(handle).st_size - _LOG_TAIL, 0))
    except OSError:
        return b""
    finally:
        os.close(handle)


def _words(value: object) -> str:
    """All texts in a value, in their order."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        value = list(value.values())
    return "\n".join(filter(None, map(_words, value))) if isinstance(value, list) else ""
