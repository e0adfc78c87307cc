r"""Calls of a Codex rollout and their results, each of which a rollout may hold twice.

The model's own items (``function_call`` and its output) are mirrored by events of the program (``exec_command_end``),
which say more: all of the output, the exit code, the files that changed. The event wins, whichever comes first; where
there is none, the item is read. A command that outlives its call is polled with ``write_stdin``; its result is that of
the call which started it. A helper's answer is the result of the call that sent the helper.

How a call came out is read from the exit code and Codex's own sentences, never from words in the output. An output is
a bare text, a text with a head (``Exit code``, ``Wall time`` …), JSON within a string, or blocks of text:

>>> read_output('{"output": "ok\\n", "metadata": {"exit_code": 1}}')
CallOutput(text='ok\n', status='error', exit_code=1, running=None)
>>> read_output("Wall time: 0.1 seconds\nProcess exited with code 0\nOutput:\nok")
CallOutput(text='ok', status='ok', exit_code=0, running=None)
"""

from __future__ import annotations

import re
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from helix_episodes.readers.common.fields import object_in, objects_in, text_in
from helix_episodes.readers.common.jsonl import SkippedRecord, parse, parse_object
from helix_episodes.readers.common.tool_translation import (
    COMMON_TOOLS,
    Translation,
    look,
    named,
    read_diff,
    translate,
    use,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from helix_episodes.readers.common.fields import Record, RecordPosition
    from helix_episodes.readers.common.session_builder import Dialogue
    from helix_episodes.readers.common.tool_translation import LoggedArguments, Translator
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
    return CallOutput(text, _status(text, code=code, success=success), code, running)


def ended_output(text: str, *, code: int | None, declined: bool = False) -> CallOutput:
    """The output of a command whose end the program recorded by itself."""
    status = _by_sentence(text) or ("rejected" if declined else None)
    return CallOutput(text, status or status_by_code(code), None if status else code)


def status_by_code(code: int | None) -> Status:
    """The status that an exit code means."""
    return "unknown" if code is None else "error" if code else "ok"


def _status(text: str, *, code: int | None, success: bool | None) -> Status:
    if sentence := _by_sentence(text):
        return sentence
    return status_by_code(code) if code is not None else "error" if success is False else "ok"


def _by_sentence(text: str) -> Status | None:
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
        return text, _number(raw.get("exitCode", raw.get("exit_code"))), None
    inner = next((raw[name] for name in ("output", "content", "text") if name in raw), "")
    text, code, success = _unwrapped(inner, depth=depth + 1)
    stated = raw.get("success")
    exit_code = _number(object_in(raw, "metadata").get("exit_code"))
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


def _number(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


CALL_MIRROR = SkippedRecord("mirror")


def _stdin(arguments: LoggedArguments) -> tuple[Translation, ...]:
    """Nothing typed: only asked how far the command is."""
    if str(arguments.get("chars", "")):
        return use(arguments)
    return (Translation("look", {"query": str(arguments.get("session_id", ""))}),)


TOOLS: Mapping[str, Translator] = {
    **COMMON_TOOLS,
    "container.exec": COMMON_TOOLS["shell"],
    # Not a command but a program that calls tools; those that it calls are recorded by themselves.
    "exec": use,
    "writestdin": _stdin,
    **named("viewimage", "wait", "waitagent", "closeagent", "listagents", by=look),
}


def changes_in(changes: Record) -> tuple[Translation, ...]:
    """The files that an applied patch changed, as the program recorded them."""
    read = (_change(path, change) for path, change in changes.items() if isinstance(change, dict))
    return tuple(chain.from_iterable(read))


def _change(path: str, change: Record) -> tuple[Translation, ...]:
    kind = change.get("type")
    if kind == "add":
        return (Translation("create", {"path": path, "new": text_in(change, "content") or ""}),)
    if kind == "delete":
        return (Translation("delete", {"path": path}),)
    moved = text_in(change, "move_path")
    edited = read_diff(text_in(change, "unified_diff") or "", path=moved or path)
    edit = Translation("edit", edited.arguments)
    return (Translation("delete", {"path": path}), edit) if moved else (edit,)


def arguments_in(raw: object) -> Record:
    """A call's arguments: an object, JSON in a string, or a text handed in as it is."""
    if isinstance(raw, dict):
        return raw
    if not isinstance(raw, str):
        return {}
    found = parse_object(raw.encode("utf-8", "replace"))
    return found or ({"input": raw} if raw.strip() not in {"", "{}"} else {})


class RolloutCalls:
    """Adds calls and results to the dialogue, each once."""

    def __init__(self, dialogue: Dialogue) -> None:
        self._dialogue = dialogue
        self._known: set[str] = set()
        self._ended: dict[str, bool] = {}
        self._running: dict[str, str] = {}
        self._polls: dict[str, str] = {}
        self._helpers: dict[str, str] = {}
        self._searches: set[str] = set()

    # The model's items.

    def call(self, payload: Record, place: RecordPosition) -> SkippedRecord | None:
        """A call of any tool."""
        name = text_in(payload, "name") or text_in(object_in(payload, "function"), "name") or "unnamed"
        space = text_in(payload, "namespace")
        tool = f"{space}__{name}" if space and "__" not in name else name
        arguments = arguments_in(payload.get("arguments", payload.get("input")))
        return self._call(place, tool=tool, arguments=arguments, call_id=_call_id(payload))

    def output(self, payload: Record, place: RecordPosition) -> SkippedRecord | None:
        """What came back, as the model received it."""
        raw = payload.get("output", payload.get("result"))
        return self._take_output(place, call_id=_call_id(payload), raw=raw)

    def shell_call(self, payload: Record, place: RecordPosition) -> SkippedRecord | None:
        """A command of the model's own shell tool."""
        action = object_in(payload, "action")
        return self._call(place, tool="local_shell", arguments=action, call_id=_call_id(payload))

    def tool_search(self, payload: Record, place: RecordPosition) -> SkippedRecord | None:
        """A search for further tools."""
        arguments = arguments_in(payload.get("arguments"))
        return self._call(place, tool="search_tools", arguments=arguments, call_id=_call_id(payload))

    def tools_found(self, payload: Record, place: RecordPosition) -> SkippedRecord | None:
        """The tools that a search found."""
        names = [text_in(tool, "name") or "" for tool in objects_in(payload, "tools")]
        return self._end(place, call_id=_call_id(payload), output=CallOutput("\n".join(filter(None, names)), "ok"))

    def web_search(self, payload: Record, place: RecordPosition) -> SkippedRecord | None:
        """A search in the web or a page opened; item and event share no id; the words looked for distinguish them."""
        action = object_in(payload, "action")
        looked = {name: text for name in ("query", "url", "pattern") if (text := text_in(action, name))}
        if query := text_in(payload, "query"):
            looked.setdefault("query", query)
        if not looked and (queries := action.get("queries")):
            looked["query"] = str(queries[0]) if isinstance(queries, list) else ""
        if payload.get("type") == "web_search_call":
            self._searches.add(repr(looked))
        elif repr(looked) in self._searches:
            self._searches.discard(repr(looked))
            return CALL_MIRROR
        translations = (Translation("look", looked),)
        return self._carry_out(place, tool="web_search", translations=translations, call_id=None)

    def image(self, payload: Record, place: RecordPosition) -> SkippedRecord | None:
        """A picture made."""
        call_id = text_in(payload, "call_id") or text_in(payload, "id")
        arguments = {"prompt": text_in(payload, "revised_prompt") or "", "path": text_in(payload, "saved_path") or ""}
        passed = self._call(place, tool="image_generation", arguments=arguments, call_id=call_id)
        return passed or self._end(place, call_id=call_id, output=CallOutput("", "ok"))

    # The program's events, which say more.

    def command_end(self, payload: Record, place: RecordPosition) -> SkippedRecord | None:
        """A command that ended."""
        call_id = _call_id(payload)
        arguments = {"command": payload.get("command")}
        self._call(place, tool="shell", arguments=arguments, call_id=call_id)
        parts = (text_in(payload, "stdout"), text_in(payload, "stderr"))
        text = text_in(payload, "aggregated_output") or "\n".join(filter(None, parts))
        code = payload.get("exit_code")
        declined = payload.get("status") == "declined"
        output = ended_output(text, code=code if isinstance(code, int) else None, declined=declined)
        return self._end(place, call_id=call_id, output=output)

    def patch_end(self, payload: Record, place: RecordPosition) -> SkippedRecord | None:
        """A patch applied, or not."""
        call_id = _call_id(payload)
        translations = changes_in(object_in(payload, "changes"))
        if translations or not self._dialogue.is_open(call_id):
            fallback = (Translation("use", {}),)
            self._carry_out(place, tool="apply_patch", translations=translations or fallback, call_id=call_id)
        text = "\n".join(filter(None, (text_in(payload, "stdout"), text_in(payload, "stderr"))))
        success = payload.get("success", payload.get("status") == "completed") is True
        output = ended_output(text, code=0 if success else 1, declined=payload.get("status") == "declined")
        return self._end(place, call_id=call_id, output=output._replace(exit_code=None))

    def mcp_end(self, payload: Record, place: RecordPosition) -> SkippedRecord | None:
        """A server's tool that answered."""
        call_id = _call_id(payload)
        invocation = object_in(payload, "invocation") or payload
        tool = f"mcp__{invocation.get('server') or 'server'}__{invocation.get('tool') or 'tool'}"
        self._call(place, tool=tool, arguments=object_in(invocation, "arguments"), call_id=call_id)
        return self._end(place, call_id=call_id, output=_of_server(payload.get("result")))

    def dynamic_call(self, payload: Record, place: RecordPosition) -> SkippedRecord | None:
        """A tool that the host of Codex offers."""
        arguments = object_in(payload, "arguments")
        return self._call(
            place, tool=text_in(payload, "tool") or "tool", arguments=arguments, call_id=text_in(payload, "callId")
        )

    def dynamic_end(self, payload: Record, place: RecordPosition) -> SkippedRecord | None:
        """What such a tool answered."""
        call_id = _call_id(payload)
        arguments = object_in(payload, "arguments")
        self._call(place, tool=text_in(payload, "tool") or "tool", arguments=arguments, call_id=call_id)
        text = "\n".join(filter(None, (output_text(one) for one in objects_in(payload, "content_items"))))
        failed = payload.get("success") is False
        output = CallOutput(text or text_in(payload, "error") or "", "error" if failed else "ok")
        return self._end(place, call_id=call_id, output=output)

    def helper_sent(self, payload: Record, place: RecordPosition) -> SkippedRecord | None:
        """A helper set to work."""
        names = ("new_agent_role", "new_agent_nickname")
        agent = next((text for name in names if (text := text_in(payload, name))), "")
        arguments = {"agent": agent, "prompt": text_in(payload, "prompt") or ""}
        helper = text_in(payload, "new_thread_id")
        passed = self._call(place, tool="spawn_agent", arguments=arguments, call_id=_call_id(payload))
        if helper and (call_id := _call_id(payload)):
            self._helpers[helper] = call_id
        return passed

    def helpers_back(self, payload: Record, place: RecordPosition) -> SkippedRecord | None:
        """Helpers that answered while the agent waited."""
        statuses = {str(one.get("thread_id")): one.get("status") for one in objects_in(payload, "agent_statuses")}
        statuses = object_in(payload, "statuses") | statuses
        came = [self._answer_of_helper(place, helper=helper, status=status) for helper, status in statuses.items()]
        return None if any(came) else SkippedRecord("event_msg/collab_waiting_end")

    # Each call and each result once.

    def _call(
        self, place: RecordPosition, *, tool: str, arguments: LoggedArguments, call_id: str | None
    ) -> SkippedRecord | None:
        """A call as an item or an event tells of it."""
        return self._carry_out(place, tool=tool, translations=translate(tool, arguments, tools=TOOLS), call_id=call_id)

    def _carry_out(
        self, place: RecordPosition, *, tool: str, translations: tuple[Translation, ...], call_id: str | None
    ) -> SkippedRecord | None:
        """A call already translated."""
        if call_id is not None and call_id in self._known:
            return CALL_MIRROR
        if call_id is not None:
            self._known.add(call_id)
        self._dialogue.add_call(place, tool=tool, call_id=call_id, translations=translations)
        if tool == "write_stdin" and call_id is not None:
            self._polls[call_id] = str(translations[0].arguments.get("query", ""))
        return None

    def _take_output(self, place: RecordPosition, *, call_id: str | None, raw: object) -> SkippedRecord | None:
        """The output that the model received."""
        output = read_output(raw)
        call = self._dialogue.open_call(call_id)
        if call_id is not None and call_id in self._ended:
            return CALL_MIRROR
        if call is not None and call.operation == "delegate" and self._was_sent(output.text, call_id=call_id):
            return None
        if output.running is not None and call is not None and call.operation == "run":
            self._running[output.running] = call_id or ""
            return None
        if call is not None and call.operation == "run" and output.exit_code is None and output.status == "ok":
            output = output._replace(status="unknown")
        self._end_call(place, call_id=call_id, output=output, twin=False)
        # The end of a command that was polled.
        started_by = self._running.get(self._polls.get(call_id or "", ""))
        if started_by and output.exit_code is not None and self._dialogue.is_open(started_by):
            self._end_call(place, call_id=started_by, output=output, twin=False)
        for helper, helper_status in object_in(parse_object(output.text.encode("utf-8", "replace")), "status").items():
            self._answer_of_helper(place, helper=helper, status=helper_status)
        return None

    def _end(self, place: RecordPosition, *, call_id: str | None, output: CallOutput) -> SkippedRecord | None:
        """The end of a call as the program recorded it."""
        if call_id is not None and self._ended.get(call_id):
            return CALL_MIRROR
        self._end_call(place, call_id=call_id, output=output, twin=True)
        return None

    def _answer_of_helper(self, place: RecordPosition, *, helper: str, status: object) -> bool:
        """What a helper answered, as ``{"completed": text}`` or ``{"errored": text}``; whether it is an answer."""
        if not isinstance(status, dict) or helper not in self._helpers:
            return False
        name = next((name for name in ("completed", "errored") if name in status), None)
        call_id = self._helpers[helper]
        if name is not None and self._dialogue.is_open(call_id):
            output = CallOutput(str(status[name] or ""), "ok" if name == "completed" else "error")
            self._end_call(place, call_id=call_id, output=output, twin=True)
        return name is not None

    def _end_call(self, place: RecordPosition, *, call_id: str | None, output: CallOutput, twin: bool) -> None:
        sentence: dict[str, Any] = {"text": output.text, "status": output.status, "exit_code": output.exit_code}
        if call_id is not None and call_id in self._ended:
            self._dialogue.replace_result(call_id, place, **sentence)
        else:
            self._dialogue.add_result(call_id, place, **sentence)
        if call_id is not None:
            self._ended[call_id] = twin

    def _was_sent(self, text: str, *, call_id: str | None) -> bool:
        """Whether an answer only names the helper that was sent."""
        sent = parse_object(text.encode("utf-8", "replace"))
        helper = text_in(sent, "agent_id") or text_in(sent, "task_name")
        if helper and call_id:
            self._helpers[helper] = call_id
        return helper is not None


def _call_id(payload: Record) -> str | None:
    """The id of the call; completed items bear it as their own."""
    return text_in(payload, "call_id") or (text_in(payload, "id") if "call_id" not in payload else None)


def _of_server(result: object) -> CallOutput:
    """``{"Ok": answer}``, ``{"Err": text}``, or the answer itself."""
    if not isinstance(result, dict):
        return CallOutput(str(result or ""), "unknown")
    if "Err" in result:
        return CallOutput(str(result["Err"]), "error")
    answer = object_in(result, "Ok") or result
    text = "\n".join(filter(None, (output_text(block) for block in objects_in(answer, "content"))))
    return CallOutput(text, "error" if answer.get("isError") is True else "ok")
