r"""One call of a hook: what an agent's program sends, in one shape whichever program it is.

Claude Code and Codex write ``tool_name``, Copilot's own form ``toolName``; fields may be missing, null or of another
type than documented. What is not usable counts as missing. Payloads hold more than is needed here (Cursor sends the
user's e-mail address): only the fields below are read.

>>> call = read_call("user-prompt", b'{"session_id": "s1", "prompt": "Fix the cart", "cwd": "/work"}')
>>> call.session, call.prompt, call.agent
('s1', 'Fix the cart', 'claude')

Whether a tool's result is a failure, each program says in its own words. Claude Code has an event of its own for failed
tools. The others report all or some of them with the tool's result: Gemini CLI with ``error`` and the exit code of a
command below its output, Cursor in ``tool_output`` as JSON within a text, Copilot in ``toolResult`` as text. Codex
sends the bare output; the exit code is in its log, on a line that it has written by then.

A command that was piped (``pytest | tail``) exits with 0 whatever came of it. Where no exit code says that a command
failed, its output may: then the result is only *suspected* of it, by plain words that cost nothing to look for, and
the code that answers the event has to read the verdict.

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
from errno import ENAMETOOLONG

from helix_cli.hooks.events import SIGNS
from helix_episodes.light_imports import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal

    Agent = Literal["claude", "gemini", "cursor", "copilot"]


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
    return any(_is_ending(said.casefold()) and code.isdecimal() and code.strip("0") != "" for said, _, code in found)


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
            for name_of_part in ("payload", "item", "exit_code"):
                found = found.get(name_of_part) if isinstance(found, dict) else None
            code = found
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


#: Names of events that only Gemini CLI has; the others it shares with Claude Code, and the form of the answer too.
_GEMINI = ("BeforeAgent", "AfterAgent", "BeforeTool", "AfterTool", "PreCompress")


class HookCall(Value):
    """One call of a hook.

    ``failure`` is what a failed tool said; empty when it did not fail or nothing says so. ``suspected``: no exit code
    says that it failed, only its words may.
    """

    event: str
    cwd: str
    arguments: dict[str, Any]
    agent: Agent = "claude"
    session: str = ""
    source: str = ""
    prompt: str = ""
    tool: str = ""
    failure: str = ""
    suspected: bool = False
    transcript: str = ""
    agent_id: str = ""
    agent_type: str = ""
    agent_transcript: str = ""
    last_message: str = ""
    prompt_id: str = ""

    @property
    def says_nothing(self) -> bool:
        """Whether nothing can come of it: most tools succeed, and that needs no answer."""
        return self.event in {"post-tool", "tool-failure"} and not self.failure


class HookAnswer(Value):
    """What the agent is given, nothing if empty, and a line for the person who watches it work."""

    text: str = ""
    notice: str = ""


def read_call(event: str, payload: bytes) -> HookCall | None:
    """The call, or None when the payload is no JSON object."""
    try:
        fields = json.loads(payload)
    except (ValueError, RecursionError):
        return None
    if not isinstance(fields, dict):
        return None
    values, result = _Fields(fields), read_result(event, fields)
    return HookCall(
        event=event,
        agent=_agent(fields),
        session=values.text("session_id", "sessionId", "conversation_id"),
        cwd=values.text("cwd") or os.environ.get("CLAUDE_PROJECT_DIR") or os.getcwd(),  # noqa: PTH109  (pathlib takes 7 ms to load)
        source=values.text("source", "trigger"),
        prompt=_typed(values.text("prompt")),
        tool=values.text("tool_name", "toolName"),
        arguments=values.object("tool_input", "toolArgs"),
        failure=result.said,
        suspected=result.suspected,
        transcript=values.path("transcript_path", "transcriptPath"),
        agent_id=values.text("agent_id", "agentId", "subagent_id"),
        agent_type=values.text("agent_type", "agentType", "subagent_type"),
        agent_transcript=values.path("agent_transcript_path", "agentTranscriptPath"),
        last_message=values.text("last_assistant_message", "response", "summary"),
        prompt_id=values.text("prompt_id", "turn_id", "generation_id", "timestamp"),
    )


_HOOK_CONTEXT = ("<hook_context>", "</hook_context>")


def _typed(prompt: str) -> str:
    """What a person typed: Gemini puts before it what hooks said when the session began, which may be our own words."""
    opening, closing = _HOOK_CONTEXT
    while opening in prompt:
        before, _, rest = prompt.partition(opening)
        _, closed, after = rest.partition(closing)
        if not closed:
            break
        prompt = before + after
    return prompt


class _Fields:
    """The fields of an object, by any of their names."""

    def __init__(self, fields: dict[str, Any]) -> None:
        self._fields = fields

    def text(self, *names: str) -> str:
        """The first that is a text or a number."""
        found = (self._fields.get(name) for name in names)
        return next((str(one) for one in found if isinstance(one, str | int) and one not in ("", True, False)), "")

    def path(self, *names: str) -> str:
        """As `text`, when a file may be called so: it is there, or not, and looking raises nothing else."""
        found = self.text(*names)
        try:
            os.lstat(found)
        except OSError as error:
            return "" if error.errno == ENAMETOOLONG else found
        except ValueError:  # half a character, or a NUL
            return ""
        return found

    def object(self, *names: str) -> dict[str, Any]:
        """The first that is an object, also when it was written as JSON within a text."""
        for value in (self._fields.get(name) for name in names):
            found = decoded(value) if isinstance(value, str) else value
            if isinstance(found, dict):
                return found
        return {}


def _agent(fields: dict[str, Any]) -> Agent:
    """Which form the answer takes; Codex takes Claude Code's."""
    if "cursor_version" in fields or "conversation_id" in fields:
        return "cursor"
    if "sessionId" in fields:
        return "copilot"
    return "gemini" if fields.get("hook_event_name") in _GEMINI else "claude"
