"""The methods of the Model Context Protocol that the server answers, to clients of both eras.

Until 2025-11-25 a client begins with a handshake. Since 2026-07-28 there is none: each request names its version in
``_meta``, and each result says what it is. Which era a request is of is decided for it alone, since clients are known
to ask in the new form first and to shake hands all the same.

An agent waits for its first list of tools: nothing is imported here that the handshake does not need.
"""

from __future__ import annotations

import sys
import time

from helix_graph import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from helix_cli.mcp.tool_declaration import Progress, Tool

NAME = "helix-graph"
_HANDSHAKE = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
MODERN = "2026-07-28"
VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
_CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"
#: The extension MCP Apps: a client that names it shows a tool's answer with the page that the tool names.
_APPS, _PAGE_TYPE = "io.modelcontextprotocol/ui", "text/html;profile=mcp-app"
ANSWER_PAGE = "ui://helix-graph/answer"
#: Under which the page finds an answer's values.
ANSWER_KEY = "helix-graph/answer"
_SERVER = {"name": NAME, "version": __version__}
_STAMP = {"io.modelcontextprotocol/serverInfo": _SERVER}
#: Results that a client of the new era may keep, in milliseconds: tools and prompts stay while the server runs.
_KEPT_MS = {
    "server/discover": 3_600_000,
    "tools/list": 3_600_000,
    "prompts/list": 3_600_000,
    "resources/templates/list": 3_600_000,
    "resources/list": 0,
    "resources/read": 0,
}
#: What runs in a thread of its own; everything else is answered at once.
SLOW = frozenset({"tools/call", "resources/list", "resources/read", "prompts/get"})
INVALID_REQUEST, NO_METHOD, INVALID_PARAMS, INTERNAL, PARSE = -32600, -32601, -32602, -32603, -32700
_UNSUPPORTED_VERSION = -32022
#: A client draws no faster, and sending takes a call's time.
_PROGRESS_SECONDS = 0.1

_WHAT = "helix-graph is the memory of this project's coding sessions: what was decided, what failed, what fixed it."
_FIRST = (
    "When a command, test or build fails, call `seen` with its output before you try a fix. "
    "When you begin a task, call `recall` with it. "
    "When you have learnt something that the next session should know, call `remember`; notes on a subject (how a "
    "module works, traps, decisions) go to a topic with `store`. `search_memory` looks through everything at once."
)
_EVIDENCE = (
    "Every answer names its evidence: sessions, lines, counts with intervals. 'too early' and 'not seen before' are "
    "answers: do not read more into them. Suspects and precedents are candidates, not verdicts. "
    "A cut answer ends with a cursor for the rest; max_tokens asks for more at once."
)
_TOPICS = "`search`, `brief` and `read` find what was stored under topics; `edit` and `topics` keep it in order."
_MORE = (
    "Before an approach look at `anti_patterns`, at a fork at `similar_decisions`. "
    "If a tool says that the graph is not compiled, call `extract`, then `compile`."
)
#: By the set of tools. Clients cut instructions at 2,048 characters, and Codex at 512: the beginning makes sense alone.
INSTRUCTIONS = {
    "default": f"{_WHAT} {_FIRST}\n\n{_EVIDENCE}",
    "topics": f"{_WHAT} Notes on a subject go to a topic with `store`. {_TOPICS}\n\n{_EVIDENCE}",
    "all": f"{_WHAT} {_FIRST}\n\n{_EVIDENCE} {_TOPICS} {_MORE}",
}
_PROMPT = {
    "name": "briefing",
    "title": "Brief me on this project",
    "description": "What earlier sessions of this project learnt: what works, what fails, what was decided alike.",
    "arguments": [
        {
            "name": "task",
            "description": "The task that is about to begin; earlier decisions in its words are shown with it.",
            "required": False,
        }
    ],
}


class ProtocolError(Exception):
    """Why a request has no result, as JSON-RPC says it."""

    def __init__(self, code: int, message: str, data: object = None) -> None:
        super().__init__(message)
        self.fields = {"code": code, "message": message} | ({} if data is None else {"data": data})


def failure(identity: object, code: int, message: str, data: object = None) -> dict[str, Any]:
    """The answer to a request that has no result."""
    return {"jsonrpc": "2.0", "id": identity, "error": ProtocolError(code, message, data).fields}


#: The methods whose results repeat what was asked; a call of a tool is redacted where it is made.
_REPEATING = frozenset({"resources/read", "prompts/get"})


class Server:
    """Answers messages with one set of tools: default, topics or all."""

    def __init__(self, chosen: str) -> None:
        self._chosen = chosen
        self.instructions = INSTRUCTIONS[chosen]
        self._shows_pages = False
        self._methods: dict[str, Callable[[Mapping[str, Any], Progress], dict[str, Any]]] = {
            "initialize": self._initialize,
            "server/discover": lambda *_: {"supportedVersions": [MODERN, *_HANDSHAKE], **self._introduction()},
            "ping": lambda *_: {},
            "tools/list": self._list_tools,
            "tools/call": self._call_tool,
            "resources/list": self._list_resources,
            "resources/templates/list": self._list_templates,
            "resources/read": self._read_resource,
            "prompts/list": lambda *_: {"prompts": [_PROMPT]},
            "prompts/get": self._get_prompt,
        }

    def answer(self, message: object, notify: Callable[[dict[str, Any]], None]) -> dict[str, Any] | None:
        """The answer to one message; None to a notification, or to an answer, since nothing is asked of clients."""
        if not isinstance(message, dict):
            return failure(None, INVALID_REQUEST, "a message is an object with jsonrpc, id, method and params")
        if ("method" in message) != ("id" in message) and message.keys() & {"method", "result", "error"}:
            return None
        identity, method, params = message.get("id"), message.get("method"), message.get("params")
        if isinstance(identity, bool) or not isinstance(identity, str | int):
            return failure(None, INVALID_REQUEST, "id must be a string or a whole number")
        if message.get("jsonrpc") != "2.0" or not isinstance(method, str):
            return failure(identity, INVALID_REQUEST, 'a request has "jsonrpc": "2.0" and a method')
        try:
            result = self._result(method, {} if params is None else params, notify)
        except ProtocolError as error:
            return {"jsonrpc": "2.0", "id": identity, "error": _redacted(error.fields, method, params)}
        result = _redacted(result, params) if method in _REPEATING else result
        return {"jsonrpc": "2.0", "id": identity, "result": result}

    def _result(self, method: str, params: object, notify: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
        if not isinstance(params, dict):
            raise ProtocolError(INVALID_PARAMS, "params must be an object")
        meta = params.get("_meta")
        meta = meta if isinstance(meta, dict) else {}
        is_modern = method == "server/discover" or (VERSION_KEY in meta and method != "initialize")
        version = meta.get(VERSION_KEY, MODERN)
        if not isinstance(version, str):
            raise ProtocolError(INVALID_PARAMS, f"{VERSION_KEY} must be a text")
        if is_modern and version != MODERN:
            known = {"supported": [MODERN, *_HANDSHAKE], "requested": version}
            raise ProtocolError(_UNSUPPORTED_VERSION, "unsupported protocol version", known)
        answers = self._methods.get(method)
        if answers is None:
            raise ProtocolError(NO_METHOD, f"there is no method {method[:80]!r} here")
        try:
            result = answers(params, _progress(meta.get("progressToken"), notify))
        except ProtocolError:
            raise
        except Exception as error:  # noqa: BLE001  (a bug in one call must not end the agent's server; it is shown, here and on stderr)
            result = _bug(method, params, error)
        if not is_modern:
            return result
        kept = {"ttlMs": _KEPT_MS[method], "cacheScope": "private"} if method in _KEPT_MS else {}
        return {**result, "resultType": "complete", **kept, "_meta": {**result.get("_meta", {}), **_STAMP}}

    def _tools(self) -> Mapping[str, Tool]:
        from helix_cli.mcp.tool_declaration import tools_by_name

        return tools_by_name(self._chosen)

    def _introduction(self) -> dict[str, Any]:
        capabilities: dict[str, Any] = {"prompts": {}, "resources": {}, "tools": {}}
        return {"capabilities": capabilities, "instructions": self.instructions}

    def _initialize(self, params: Mapping[str, Any], _: Progress) -> dict[str, Any]:
        asked = params.get("protocolVersion")
        version = asked if asked in _HANDSHAKE else _HANDSHAKE[0]
        self._shows_pages = _has_apps(params.get("capabilities"))
        return {"protocolVersion": version, "serverInfo": _SERVER, **self._introduction()}

    def _list_tools(self, params: Mapping[str, Any], _: Progress) -> dict[str, Any]:
        from helix_cli.mcp.tool_declaration import declaration_of

        served, page = self._tools(), ANSWER_PAGE if self._pages_shown(params) else ""
        return {"tools": [declaration_of(tool, served, page=page) for tool in served.values()]}

    def _pages_shown(self, params: Mapping[str, Any]) -> bool:
        """Whether the client shows pages: said at the handshake, or since there is none with each request."""
        meta = params.get("_meta")
        stated = meta.get(_CAPABILITIES_KEY) if isinstance(meta, dict) else None
        return self._shows_pages if stated is None else _has_apps(stated)

    def _call_tool(self, params: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
        from helix_cli.mcp.dispatch import answer

        outcome = answer(_text_of(params, "name"), _object_of(params, "arguments"), progress, tools=self._tools())
        values = outcome.values() if self._pages_shown(params) else None
        return {
            **_tool_result(outcome.text, failed=outcome.failed),
            **({} if values is None else {"_meta": {ANSWER_KEY: values}}),
        }

    def _list_resources(self, *_: object) -> dict[str, Any]:
        from helix_cli.mcp.resources import listed

        return {"resources": [{**one._asdict(), "mimeType": "text/plain"} for one in listed()]}

    def _list_templates(self, *_: object) -> dict[str, Any]:
        from helix_cli.mcp.resources import TEMPLATES

        found = [{**one._asdict(), "mimeType": "text/plain"} for one in TEMPLATES]
        return {"resourceTemplates": [{"uriTemplate": one.pop("uri"), **one} for one in found]}

    def _read_resource(self, params: Mapping[str, Any], _: Progress) -> dict[str, Any]:
        from helix_cli.mcp.resources import read

        uri = _text_of(params, "uri")
        if uri == ANSWER_PAGE:
            from helix_graph.web.rendering import answer_html

            page = {"uri": uri, "mimeType": _PAGE_TYPE, "text": answer_html()}
            return {"contents": [{**page, "_meta": {"ui": {"prefersBorder": True}}}]}
        return {"contents": [{"uri": uri, "mimeType": "text/plain", "text": _or_refuse(read, uri)}]}

    def _get_prompt(self, params: Mapping[str, Any], _: Progress) -> dict[str, Any]:
        from helix_cli.mcp.resources import briefing

        name, task = _text_of(params, "name"), _object_of(params, "arguments").get("task", "")
        if name != _PROMPT["name"]:
            raise ProtocolError(INVALID_PARAMS, f"there is no prompt {name[:80]!r}; there is {_PROMPT['name']}")
        if not isinstance(task, str):
            raise ProtocolError(INVALID_PARAMS, "task must be a text")
        content = {"type": "text", "text": _or_refuse(briefing, task)}
        return {"description": _PROMPT["description"], "messages": [{"role": "user", "content": content}]}


def _has_apps(capabilities: object) -> bool:
    """Whether a client's capabilities name the extension with our type of page."""
    extensions = capabilities.get("extensions") if isinstance(capabilities, dict) else None
    apps = extensions.get(_APPS) if isinstance(extensions, dict) else None
    types = apps.get("mimeTypes") if isinstance(apps, dict) else None
    return isinstance(types, list) and _PAGE_TYPE in types


def _redacted(answer: dict[str, Any], *asked: object) -> dict[str, Any]:
    """Without the secrets that the client itself sent and that the answer may repeat: the session would record them."""
    from helix_cli.mcp.dispatch import holds_secret
    from helix_episodes.redaction import for_disk

    return for_disk(answer) if holds_secret(*asked) else answer


def _text_of(params: Mapping[str, Any], name: str) -> str:
    value = params.get(name)
    if not isinstance(value, str):
        raise ProtocolError(INVALID_PARAMS, f"params need {name}, a text")
    return value


def _object_of(params: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = params.get(name)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise ProtocolError(INVALID_PARAMS, f"{name} must be an object")
    return value


def _or_refuse(ask: Callable[[str], str], argument: str) -> str:
    from helix_cli.mcp.dispatch import half_character, shortened
    from helix_episodes.errors import HelixGraphError

    try:
        return ask(argument)
    except UnicodeEncodeError as error:
        raise ProtocolError(INVALID_PARAMS, half_character(error)) from error
    except (HelixGraphError, OSError) as error:
        raise ProtocolError(INVALID_PARAMS, shortened(str(error))) from error


def _tool_result(text: str, *, failed: bool) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text}], "isError": failed}


def _bug(method: str, params: Mapping[str, Any], error: Exception) -> dict[str, Any]:
    """What is answered where our own code fails; a model reads results of tools, and no errors of the protocol.

    Raises:
        ProtocolError: It was no call of a tool.
    """
    import traceback

    traceback.print_exc(file=sys.stderr)
    where = str(params.get("name")) if method == "tools/call" else method
    problem = f"{where} has a bug ({type(error).__name__}: {error}); everything else goes on working, please report it"
    if method != "tools/call":
        raise ProtocolError(INTERNAL, problem) from error
    return _tool_result(problem, failed=True)


def _progress(token: object, notify: Callable[[dict[str, Any]], None]) -> Progress:
    """What a call reports its progress to; nothing where the client has not asked for it.

    It sends at most ten times a second and at the end, and only increasing numbers, as the protocol wants it.
    """
    sent_at, sent = 0.0, -1

    def report(done: int, total: int, message: str) -> None:
        nonlocal sent_at, sent
        now = time.monotonic()
        if isinstance(token, str | int) and done > sent and (done >= total or now - sent_at >= _PROGRESS_SECONDS):
            sent_at, sent = now, done
            params = {"progressToken": token, "progress": done, "total": total, "message": message}
            notify({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})

    return report
