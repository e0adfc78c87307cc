"""Calls of a Codex rollout and their results, each of which a rollout may hold twice.

The model's own items (``function_call`` and its output) are mirrored by events of the program (``exec_command_end``),
which say more: all of the output, the exit code, the files that changed. The event wins, whichever comes first; where
there is none, the item is read. A command that outlives its call is polled with ``write_stdin``; all that it prints is
the result of the call which started it. A helper's answer is the result of the call that sent the helper. In code mode
a script calls the tools; `helix_episodes.readers.codex.code_mode` reads which.
"""

from __future__ import annotations

from itertools import chain, zip_longest
from typing import TYPE_CHECKING, Any, NamedTuple

from helix_episodes.readers.codex.code_mode import ScriptOutput, calls_in, read_script_output, results_in
from helix_episodes.readers.codex.outputs import (
    CallOutput,
    by_sentence,
    ended_output,
    of_command,
    of_server,
    output_text,
    read_output,
)
from helix_episodes.readers.common.fields import id_in, object_in, objects_in, text_in
from helix_episodes.readers.common.jsonl import SkippedRecord, parse_object
from helix_episodes.readers.common.tool_translation import (
    COMMON_TOOLS,
    Translation,
    look,
    named,
    read_diff,
    translate,
    use,
)
from helix_episodes.session import Piece, Source, Step

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from helix_episodes.readers.common.fields import Record, RecordPosition
    from helix_episodes.readers.common.session_builder import Dialogue
    from helix_episodes.readers.common.tool_translation import LoggedArguments, Translator


CALL_MIRROR = SkippedRecord("mirror")


def _stdin(arguments: LoggedArguments) -> tuple[Translation, ...]:
    """Nothing typed: only asked how far the command is."""
    if str(arguments.get("chars", "")):
        return use(arguments)
    return (Translation("look", {"query": str(arguments.get("session_id", ""))}),)


TOOLS: Mapping[str, Translator] = {
    **COMMON_TOOLS,
    "container.exec": COMMON_TOOLS["shell"],
    # A script whose calls are computed: nothing more is known of it.
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


#: The tools whose result is an object with an output and an exit code.
_RUNNING_TOOLS = frozenset({"exec_command", "write_stdin", "shell", "shell_command"})


class _Script(NamedTuple):
    """A script under way: the ids of its calls with the tool of each, and what it printed so far."""

    calls: dict[str, str]
    texts: list[str]


class _Command(NamedTuple):
    """A command that outlived its call: that call's id, and what it printed so far."""

    call_id: str
    printed: list[Piece]


class RolloutCalls:
    """Adds calls and results to the dialogue, each once."""

    def __init__(self, dialogue: Dialogue) -> None:
        self._dialogue = dialogue
        self._known: set[str] = set()
        self._ended: dict[str, bool] = {}
        self._running: dict[str, _Command] = {}
        self._polls: dict[str, str] = {}
        self._helpers: dict[str, str] = {}
        self._searches: set[str] = set()
        self._scripts: dict[str, _Script] = {}
        self._cells: dict[str, str] = {}
        self._waits: dict[str, str] = {}
        self._same_as: dict[str, str] = {}

    # The model's items.

    def call(self, payload: Record, place: RecordPosition) -> SkippedRecord | None:
        """A call of any tool."""
        name = text_in(payload, "name") or text_in(object_in(payload, "function"), "name") or "unnamed"
        space = text_in(payload, "namespace")
        tool = f"{space}__{name}" if space and "__" not in name else name
        arguments = arguments_in(payload.get("arguments", payload.get("input")))
        call_id = _call_id(payload)
        if name == "exec" and call_id is not None and (script := text_in(arguments, "input")):
            return self._run_script(place, script, call_id=call_id)
        if name == "wait" and call_id is not None and (cell := str(arguments.get("cell_id", ""))) in self._cells:
            self._waits[call_id] = cell
            return SkippedRecord("wait for a script")
        return self._call(place, tool=tool, arguments=arguments, call_id=call_id)

    def output(self, payload: Record, place: RecordPosition) -> SkippedRecord | None:
        """What came back, as the model received it."""
        raw = payload.get("output", payload.get("result"))
        call_id = _call_id(payload) or ""
        started = call_id if call_id in self._scripts else self._cells.get(self._waits.get(call_id, ""))
        output = read_script_output(raw) if started else None
        if started and output is not None:
            return self._end_script(place, self._scripts[started], output, call_id=started)
        if call_id in self._waits:
            return SkippedRecord("wait for a script")
        return self._take_output(place, call_id=_call_id(payload), output=read_output(raw))

    # Scripts that call tools.

    def _run_script(self, place: RecordPosition, script: str, *, call_id: str) -> SkippedRecord | None:
        """The calls of a script in its place; the script itself where all of its calls are computed."""
        calls = {f"{call_id}.{number}": call for number, call in enumerate(calls_in(script), 1)}
        if call_id in self._scripts:
            return CALL_MIRROR
        self._scripts[call_id] = _Script({name: call.tool for name, call in calls.items()} or {call_id: "exec"}, [])
        for name, (tool, arguments) in calls.items():
            self._call(place, tool=tool, arguments=arguments, call_id=name)
        return None if calls else self._call(place, tool="exec", arguments={"input": script}, call_id=call_id)

    def _end_script(
        self, place: RecordPosition, script: _Script, output: ScriptOutput, *, call_id: str
    ) -> SkippedRecord | None:
        """What a script printed, to the calls that it made."""
        script.texts.extend(output.texts)
        if output.cell is not None:
            self._cells[output.cell] = call_id
            return SkippedRecord("output of a script under way")
        results = results_in(script.texts)
        commands = [name for name, tool in script.calls.items() if tool in _RUNNING_TOOLS]
        if results and len(results) == len(commands):
            for name, result in zip(commands, results, strict=True):
                self._take_output(place, call_id=name, output=of_command(result))
            script.texts.clear()
        running = {one.call_id for one in self._running.values()}
        left = [name for name in script.calls if name not in self._ended and name not in running]
        # Each text is one call's where there are as many; else which is whose is not known.
        texts = script.texts if len(script.texts) == len(left) else ["\n".join(script.texts)]
        failed = output.state == "failed"
        for name, text in zip_longest(left, texts[: len(left)], fillvalue=""):
            status = by_sentence(text.removeprefix("Script error:")) or (
                "error" if failed and name == left[-1] else "ok"
            )
            self._take_output(place, call_id=name, output=CallOutput(text, status))
        return None if left or results else CALL_MIRROR

    def _claimed(self, tool: str, translations: tuple[Translation, ...], *, call_id: str | None) -> str | None:
        """The id under which a script made the call that the program now records under an id of its own."""
        if call_id is None or call_id in self._known or call_id in self._same_as:
            return self._same_as.get(call_id or "", call_id)
        for script in self._scripts.values():
            for name, scripted in script.calls.items():
                step = self._dialogue.open_call(name)
                if step is None or name in self._same_as.values():
                    continue
                command = translations[0].arguments.get("command") if translations else None
                if scripted == "exec" and translations:
                    # What was computed is known now.
                    operation, arguments = translations[0]
                    position = self._dialogue.open_position(name) or 0
                    self._dialogue.change(position, tool=tool, operation=operation, arguments=arguments)
                elif scripted != tool and (command is None or command != step.arguments.get("command")):
                    continue
                self._same_as[call_id] = name
                return name
        return call_id

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
        translations = translate("shell", {"command": payload.get("command")}, tools=TOOLS)
        call_id = self._claimed("shell", translations, call_id=_call_id(payload))
        self._carry_out(place, tool="shell", translations=translations, call_id=call_id)
        parts = (text_in(payload, "stdout"), text_in(payload, "stderr"))
        text = text_in(payload, "aggregated_output") or "\n".join(filter(None, parts))
        code = payload.get("exit_code")
        declined = payload.get("status") == "declined"
        output = ended_output(text, code=code if isinstance(code, int) else None, declined=declined)
        return self._end(place, call_id=call_id, output=output)

    def patch_end(self, payload: Record, place: RecordPosition) -> SkippedRecord | None:
        """A patch applied, or not."""
        translations = changes_in(object_in(payload, "changes"))
        call_id = self._claimed("apply_patch", translations, call_id=_call_id(payload))
        if translations or not self._dialogue.is_open(call_id):
            fallback = (Translation("use", {}),)
            self._carry_out(place, tool="apply_patch", translations=translations or fallback, call_id=call_id)
        text = "\n".join(filter(None, (text_in(payload, "stdout"), text_in(payload, "stderr"))))
        success = payload.get("success", payload.get("status") == "completed") is True
        output = ended_output(text, code=0 if success else 1, declined=payload.get("status") == "declined")
        return self._end(place, call_id=call_id, output=output._replace(exit_code=None))

    def mcp_end(self, payload: Record, place: RecordPosition) -> SkippedRecord | None:
        """A server's tool that answered."""
        invocation = object_in(payload, "invocation") or payload
        tool = f"mcp__{invocation.get('server') or 'server'}__{invocation.get('tool') or 'tool'}"
        translations = translate(tool, object_in(invocation, "arguments"), tools=TOOLS)
        call_id = self._claimed(tool, translations, call_id=_call_id(payload))
        self._carry_out(place, tool=tool, translations=translations, call_id=call_id)
        return self._end(place, call_id=call_id, output=of_server(payload.get("result")))

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
            asked = translations[0].arguments
            self._polls[call_id] = str(asked.get("query") or asked.get("session_id") or "")
        return None

    def _take_output(self, place: RecordPosition, *, call_id: str | None, output: CallOutput) -> SkippedRecord | None:
        """The output that the model received."""
        call = self._dialogue.open_call(call_id)
        if call_id is not None and call_id in self._ended:
            return CALL_MIRROR
        if call is not None and call.operation == "delegate" and self._was_sent(output.text, call_id=call_id):
            return None
        if output.running is not None and call is not None and call.operation == "run":
            self._running[output.running] = _Command(call_id or "", [Piece(line=place.source.line, text=output.text)])
            return None
        if call is not None and call.operation == "run" and output.exit_code is None and output.status == "ok":
            output = output._replace(status="unknown")
        self._end_call(place, call_id=call_id, output=output, twin=False)
        if polled := self._running.get(self._polls.get(call_id or "", "")):
            self._take_printed(place, polled, output)
        for helper, helper_status in object_in(parse_object(output.text.encode("utf-8", "replace")), "status").items():
            self._answer_of_helper(place, helper=helper, status=helper_status)
        return None

    def _take_printed(self, place: RecordPosition, command: _Command, output: CallOutput) -> None:
        """What a command that was polled went on to print, and its end."""
        if not self._dialogue.is_open(command.call_id):
            return
        command.printed.append(Piece(line=place.source.line, text=output.text))
        if output.exit_code is not None:
            whole = output._replace(text="".join(one.text for one in command.printed))
            self._end_call(place, call_id=command.call_id, output=whole, twin=False, pieces=tuple(command.printed))

    def unfinished(self) -> Iterator[Step]:
        """What commands had printed that were still running when the agent last looked, as their results."""
        for command in self._running.values():
            call, printed = self._dialogue.open_call(command.call_id), command.printed
            if call is not None and any(one.text.strip() for one in printed):
                yield Step(
                    kind="result",
                    source=Source(line=printed[-1].line),
                    text="".join(one.text for one in printed),
                    pieces=tuple(printed),
                    **{name: getattr(call, name) for name in ("actor", "tool", "operation", "call_id")},
                )

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

    def _end_call(
        self,
        place: RecordPosition,
        *,
        call_id: str | None,
        output: CallOutput,
        twin: bool,
        pieces: tuple[Piece, ...] = (),
    ) -> None:
        sentence: dict[str, Any] = {"text": output.text, "status": output.status, "exit_code": output.exit_code}
        if call_id is not None and call_id in self._ended:
            self._dialogue.replace_result(call_id, place, **sentence)
        else:
            self._dialogue.add_result(call_id, place, pieces=pieces, **sentence)
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
    return id_in(payload, "call_id") or (id_in(payload, "id") if "call_id" not in payload else None)
