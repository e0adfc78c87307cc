"""The tools through the official SDK, over stdin and stdout, to clients of both protocol eras.

Importing the SDK takes most of a second, and nothing heavy of ours is imported before the first answer: what the tools
need comes when they are first listed or called. Calls run in threads, each with connections that no other uses
meanwhile, so that a slow one holds up no other.

The SDK drops a message that it cannot decode (half of a surrogate pair, which JavaScript writes when it cuts a text
within an emoji, or JSON that is nested too deep), and its sender would wait for ever. Such a request gets an error.
"""

from __future__ import annotations

import json
import os
import re
import threading
import time
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
import mcp_types as types
from anyio import from_thread, to_thread
from mcp import MCPError
from mcp.server import Server
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from helix_episodes.errors import HelixGraphError
from helix_graph import __version__
from helix_graph.helix_db import kept_open

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext
    from mcp.shared._stream_protocols import ReadStream, WriteStream

    from helix_cli.mcp.tool_declaration import Progress, Tool

NAME = "helix-graph"
_PROGRESS_SECONDS = 0.1
#: So long calls may go on after the client has closed stdin; clients wait two seconds before they kill a server. What
#: a call writes is there as a whole or not at all, whenever its process ends.
_ENDING_SECONDS = 1.5
#: Clients cut these at 2,048 characters, and Codex at 512 where space is short: the first sentences make sense alone.
INSTRUCTIONS = (
    "helix-graph is the memory of this project's coding sessions: what was decided, what failed, what fixed it. "
    "When a command, test or build fails, call `seen` with its output before you try a fix. "
    "When you begin a task, call `recall` and `anti_patterns`; when you face a choice, `similar_decisions`. "
    "When you have learnt something that the next session should know, call `remember`.\n"
    "\n"
    "Every answer names its evidence: sessions, log lines, counts with intervals. 'too early' and 'not seen before' "
    "are answers: do not read more into them. Suspects and precedents are candidates, no verdicts.\n"
    "\n"
    "Notes that belong to a subject (how a module works, gotchas, decisions) go to topics: `store`, `search`, `brief`, "
    "`read`. `search_memory` looks through everything at once. Cut answers end with how to get the `rest`. "
    "If a tool says that the graph is not compiled, call `extract`, then `compile`."
)

_PROMPT = types.Prompt(
    name="briefing",
    title="Brief me on this project",
    description="What earlier sessions of this project learnt: what works, what keeps failing, what was decided alike.",
    arguments=[
        types.PromptArgument(
            name="task",
            description="The task that is about to begin; earlier decisions in its words are shown with it.",
            required=False,
        )
    ],
)


def build() -> Server[Any]:
    """The server, ready to be run on a transport."""
    return Server(
        NAME,
        version=__version__,
        instructions=INSTRUCTIONS,
        on_list_tools=_list_tools,
        on_call_tool=_call_tool,
        on_list_resources=_list_resources,
        on_list_resource_templates=_list_templates,
        on_read_resource=_read_resource,
        on_list_prompts=_list_prompts,
        on_get_prompt=_get_prompt,
    )


def serve() -> None:
    """Serves until the client closes stdin. What is printed by accident goes to stderr: stdout is the protocol's."""
    with kept_open():
        anyio.run(_serve)


async def _serve() -> None:
    server = build()
    sending, receiving = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    async with stdio_server() as (read, write), anyio.create_task_group() as tasks:
        tasks.start_soon(_forward, read, sending, write)
        await server.run(receiving, write, server.create_initialization_options())


async def _forward(
    read: ReadStream[SessionMessage | Exception],
    decoded: WriteStream[SessionMessage | Exception],
    answers: WriteStream[SessionMessage],
) -> None:
    """Passes on what could be decoded, and answers the rest. The process ends soon after stdin was closed."""
    async with read, decoded:
        async for item in read:
            if isinstance(item, SessionMessage):
                await decoded.send(item)
            elif refusal := refusal_of(item):
                await answers.send(SessionMessage(refusal))
        end = threading.Timer(_ENDING_SECONDS, os._exit, [0])  # a thread that works on a call cannot be stopped
        end.daemon = True
        end.start()


def refusal_of(error: Exception) -> types.JSONRPCError | None:
    """The answer to a message that could not be decoded; None where it has no id to be answered by."""
    if not isinstance(error, ValidationError):
        return None
    found = error.errors(include_url=False)
    whole = [each["input"] for each in found if isinstance(each["input"], dict) and "id" in each["input"]]
    unread = str(found[0]["input"]) if found[0]["type"] == "json_invalid" else ""
    identity = whole[0]["id"] if whole else _id_in(unread)
    if not isinstance(identity, str | int) or isinstance(identity, bool):
        return None
    why = "it is no JSON-RPC message" if whole else found[0]["msg"]
    problem = f"the message could not be read ({why}); send valid JSON, not deeply nested, with whole characters"
    told = types.ErrorData(code=types.PARSE_ERROR, message=problem)
    return types.JSONRPCError(jsonrpc="2.0", id=identity, error=told)


#: A text, with the value behind it where it is the key ``id``; or what opens or closes a level.
_TOKENS = re.compile(r'"id"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+)|"(?:[^"\\]|\\.)*"|[{}\[\]]')
_LONGEST_ID = 100


def _id_in(line: str) -> str | int | None:
    """The id of a message in JSON that no parser takes: what follows ``"id":`` on its first level."""
    depth = 0
    for found in _TOKENS.finditer(line):
        if found[1] and depth == 1 and len(found[1]) <= _LONGEST_ID:
            value: str | int = json.loads(found[1])
            return value
        depth += {"{": 1, "[": 1, "}": -1, "]": -1}.get(found[0], 0)
    return None


async def _list_tools(_: ServerRequestContext[Any], __: types.PaginatedRequestParams | None) -> types.ListToolsResult:
    return types.ListToolsResult(tools=await to_thread.run_sync(described))


def described() -> list[types.Tool]:
    """Every tool as clients see it."""
    from helix_cli.mcp.tools import tools_by_name

    return [_tool(tool) for tool in tools_by_name().values()]


def _tool(tool: Tool) -> types.Tool:
    from helix_cli.mcp.tool_declaration import input_schema

    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=input_schema(tool),
        annotations=types.ToolAnnotations(
            title=tool.title,
            read_only_hint=tool.effect == "reads",
            destructive_hint=tool.effect == "removes",
            idempotent_hint=tool.effect in {"reads", "sets"},
            open_world_hint=False,
        ),
    )


async def _call_tool(context: ServerRequestContext[Any], asked: types.CallToolRequestParams) -> types.CallToolResult:
    from helix_cli.mcp.dispatch import answer

    outcome = await to_thread.run_sync(partial(answer, asked.name, asked.arguments or {}, _progress(context)))
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=outcome.text)],
        is_error=outcome.failed,
    )


def _progress(context: ServerRequestContext[Any]) -> Progress:
    """What a call reports its progress to, from its thread; nothing when the client has not asked for it.

    It sends at most ten times a second and at the end, since a client draws no faster and sending takes a call's
    time; and only increasing numbers, as the protocol wants it.
    """
    if "progress_token" not in (context.meta or {}):
        return _nobody
    sent_at, sent = 0.0, -1

    def report(done: int, total: int, message: str) -> None:
        nonlocal sent_at, sent
        now = time.monotonic()
        if done > sent and (done >= total or now - sent_at >= _PROGRESS_SECONDS):
            sent_at, sent = now, done
            from_thread.run(context.session.report_progress, done, total, message)

    return report


def _nobody(done: int, total: int, message: str) -> None:
    """Nobody watches."""


async def _list_resources(
    _: ServerRequestContext[Any], __: types.PaginatedRequestParams | None
) -> types.ListResourcesResult:
    from helix_cli.mcp.resources import listed

    found = await to_thread.run_sync(listed)
    return types.ListResourcesResult(
        resources=[
            types.Resource(uri=one.uri, name=one.name, description=one.description, mime_type="text/plain")
            for one in found
        ]
    )


async def _list_templates(
    _: ServerRequestContext[Any], __: types.PaginatedRequestParams | None
) -> types.ListResourceTemplatesResult:
    from helix_cli.mcp.resources import TEMPLATES

    return types.ListResourceTemplatesResult(
        resource_templates=[
            types.ResourceTemplate(
                uri_template=one.uri, name=one.name, description=one.description, mime_type="text/plain"
            )
            for one in TEMPLATES
        ]
    )


async def _read_resource(
    _: ServerRequestContext[Any], asked: types.ReadResourceRequestParams
) -> types.ReadResourceResult:
    from helix_cli.mcp.resources import read

    text = await to_thread.run_sync(partial(_or_refuse, read, str(asked.uri)))
    contents = types.TextResourceContents(uri=asked.uri, mime_type="text/plain", text=text)
    return types.ReadResourceResult(contents=[contents])


async def _list_prompts(
    _: ServerRequestContext[Any], __: types.PaginatedRequestParams | None
) -> types.ListPromptsResult:
    return types.ListPromptsResult(prompts=[_PROMPT])


async def _get_prompt(_: ServerRequestContext[Any], asked: types.GetPromptRequestParams) -> types.GetPromptResult:
    from helix_cli.mcp.resources import briefing

    if asked.name != _PROMPT.name:
        raise _invalid(f"there is no prompt {asked.name!r}; there is {_PROMPT.name}")
    task = (asked.arguments or {}).get("task", "")
    text = await to_thread.run_sync(partial(_or_refuse, briefing, task))
    message = types.PromptMessage(role="user", content=types.TextContent(type="text", text=text))
    return types.GetPromptResult(description=_PROMPT.description, messages=[message])


def _or_refuse(ask: Any, argument: str) -> str:  # noqa: ANN401  (a function of a text)
    from helix_cli.mcp.rewording import in_tools_words

    try:
        return str(ask(argument))
    except HelixGraphError as error:
        raise _invalid(in_tools_words(str(error))) from error


def _invalid(sentence: str) -> Exception:
    return MCPError(types.INVALID_PARAMS, sentence)
