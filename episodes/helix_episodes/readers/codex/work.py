"""What was done in a rollout: every kind of record that tells of a call or of its result."""

from __future__ import annotations

from typing import TYPE_CHECKING

from helix_episodes.readers.codex.calls import MIRROR, Calls, arguments_in, changes_in
from helix_episodes.readers.codex.outputs import Output, ended, text_of
from helix_episodes.readers.fields import object_in, objects_in, text_in
from helix_episodes.readers.ledger import Passed
from helix_episodes.readers.vocabulary import Translation

if TYPE_CHECKING:
    from helix_episodes.readers.dialogue import Dialogue
    from helix_episodes.readers.fields import Place, Record


class Work:
    """Adds calls and results to the dialogue."""

    def __init__(self, dialogue: Dialogue) -> None:
        self._dialogue = dialogue
        self._calls = Calls(dialogue)
        self._searches: set[str] = set()

    # The model's items.

    def call(self, payload: Record, place: Place) -> Passed | None:
        """A call of any tool."""
        name = text_in(payload, "name") or text_in(object_in(payload, "function"), "name") or "unnamed"
        space = text_in(payload, "namespace")
        tool = f"{space}__{name}" if space and "__" not in name else name
        arguments = arguments_in(payload.get("arguments", payload.get("input")))
        return self._calls.call(place, tool=tool, arguments=arguments, call_id=_call_id(payload))

    def output(self, payload: Record, place: Place) -> Passed | None:
        """What came back, as the model was given it."""
        raw = payload.get("output", payload.get("result"))
        return self._calls.answer(place, call_id=_call_id(payload), raw=raw)

    def shell_call(self, payload: Record, place: Place) -> Passed | None:
        """A command of the model's own shell tool."""
        action = object_in(payload, "action")
        return self._calls.call(place, tool="local_shell", arguments=action, call_id=_call_id(payload))

    def tool_search(self, payload: Record, place: Place) -> Passed | None:
        """A search for further tools."""
        arguments = arguments_in(payload.get("arguments"))
        return self._calls.call(place, tool="search_tools", arguments=arguments, call_id=_call_id(payload))

    def tools_found(self, payload: Record, place: Place) -> Passed | None:
        """The tools that a search found."""
        names = [text_in(tool, "name") or "" for tool in objects_in(payload, "tools")]
        return self._calls.end(place, call_id=_call_id(payload), output=Output("\n".join(filter(None, names)), "ok"))

    def web_search(self, payload: Record, place: Place) -> Passed | None:
        """A search in the web or a page opened; item and event share no id, so what was looked for tells them apart."""
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
            return MIRROR
        translations = (Translation("look", looked),)
        return self._calls.carry_out(place, tool="web_search", translations=translations, call_id=None)

    def image(self, payload: Record, place: Place) -> Passed | None:
        """A picture made."""
        call_id = text_in(payload, "call_id") or text_in(payload, "id")
        arguments = {"prompt": text_in(payload, "revised_prompt") or "", "path": text_in(payload, "saved_path") or ""}
        passed = self._calls.call(place, tool="image_generation", arguments=arguments, call_id=call_id)
        return passed or self._calls.end(place, call_id=call_id, output=Output("", "ok"))

    # The program's events, which say more.

    def command_end(self, payload: Record, place: Place) -> Passed | None:
        """A command that ended."""
        call_id = _call_id(payload)
        arguments = {"command": payload.get("command")}
        self._calls.call(place, tool="shell", arguments=arguments, call_id=call_id)
        parts = (text_in(payload, "stdout"), text_in(payload, "stderr"))
        text = text_in(payload, "aggregated_output") or "\n".join(filter(None, parts))
        code = payload.get("exit_code")
        declined = payload.get("status") == "declined"
        output = ended(text, code=code if isinstance(code, int) else None, declined=declined)
        return self._calls.end(place, call_id=call_id, output=output)

    def patch_end(self, payload: Record, place: Place) -> Passed | None:
        """A patch applied, or not."""
        call_id = _call_id(payload)
        translations = changes_in(object_in(payload, "changes"))
        if translations or not self._dialogue.is_open(call_id):
            fallback = (Translation("use", {}),)
            self._calls.carry_out(place, tool="apply_patch", translations=translations or fallback, call_id=call_id)
        text = "\n".join(filter(None, (text_in(payload, "stdout"), text_in(payload, "stderr"))))
        success = payload.get("success", payload.get("status") == "completed") is True
        output = ended(text, code=0 if success else 1, declined=payload.get("status") == "declined")
        return self._calls.end(place, call_id=call_id, output=output._replace(exit_code=None))

    def mcp_end(self, payload: Record, place: Place) -> Passed | None:
        """A server's tool that answered."""
        call_id = _call_id(payload)
        invocation = object_in(payload, "invocation") or payload
        tool = f"mcp__{invocation.get('server') or 'server'}__{invocation.get('tool') or 'tool'}"
        self._calls.call(place, tool=tool, arguments=object_in(invocation, "arguments"), call_id=call_id)
        return self._calls.end(place, call_id=call_id, output=_of_server(payload.get("result")))

    def dynamic_call(self, payload: Record, place: Place) -> Passed | None:
        """A tool that the host of Codex offers."""
        arguments = object_in(payload, "arguments")
        return self._calls.call(
            place, tool=text_in(payload, "tool") or "tool", arguments=arguments, call_id=text_in(payload, "callId")
        )

    def dynamic_end(self, payload: Record, place: Place) -> Passed | None:
        """What such a tool answered."""
        call_id = _call_id(payload)
        arguments = object_in(payload, "arguments")
        self._calls.call(place, tool=text_in(payload, "tool") or "tool", arguments=arguments, call_id=call_id)
        text = "\n".join(filter(None, (text_of(one) for one in objects_in(payload, "content_items"))))
        failed = payload.get("success") is False
        output = Output(text or text_in(payload, "error") or "", "error" if failed else "ok")
        return self._calls.end(place, call_id=call_id, output=output)

    def helper_sent(self, payload: Record, place: Place) -> Passed | None:
        """A helper set to work."""
        names = ("new_agent_role", "new_agent_nickname")
        agent = next((text for name in names if (text := text_in(payload, name))), "")
        arguments = {"agent": agent, "prompt": text_in(payload, "prompt") or ""}
        helper = text_in(payload, "new_thread_id")
        return self._calls.send(place, call_id=_call_id(payload), arguments=arguments, helper=helper)

    def helpers_back(self, payload: Record, place: Place) -> Passed | None:
        """Helpers that answered while the agent waited."""
        statuses = {str(one.get("thread_id")): one.get("status") for one in objects_in(payload, "agent_statuses")}
        statuses = object_in(payload, "statuses") | statuses
        came = [self._calls.come_back(place, helper=helper, status=status) for helper, status in statuses.items()]
        return None if any(came) else Passed("event_msg/collab_waiting_end")


def _call_id(payload: Record) -> str | None:
    """The id of the call; completed items bear it as their own."""
    return text_in(payload, "call_id") or (text_in(payload, "id") if "call_id" not in payload else None)


def _of_server(result: object) -> Output:
    """``{"Ok": answer}``, ``{"Err": text}``, or the answer itself."""
    if not isinstance(result, dict):
        return Output(str(result or ""), "unknown")
    if "Err" in result:
        return Output(str(result["Err"]), "error")
    answer = object_in(result, "Ok") or result
    text = "\n".join(filter(None, (text_of(block) for block in objects_in(answer, "content"))))
    return Output(text, "error" if answer.get("isError") is True else "ok")
