"""The server over HTTP, carried by the official SDK (extra ``[mcp]``): for clients that cannot start a program.

It listens on this machine alone. Other users of it can reach the port too, so every request needs the token that is
printed at the start, and pages in a browser are refused by their origin.
"""

from __future__ import annotations

import os
import secrets
import socket
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

import mcp_types as types
import uvicorn
from anyio import from_thread, to_thread
from mcp import MCPError
from mcp.server import Server as SdkServer
from starlette.responses import PlainTextResponse

from helix_cli.mcp.protocol import MODERN, NAME, VERSION_KEY, Server
from helix_cli.mcp.shown_advice import SEVERAL_SESSIONS
from helix_episodes.errors import HelixGraphError
from helix_graph import __version__
from helix_graph.helix_db import kept_open

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext
    from starlette.types import ASGIApp, Receive, Scope, Send

#: Too many to try through a port, even where a person chose words.
_SHORTEST_TOKEN = 16
#: A person may choose the token, so that a client's settings stay as they are.
_TOKEN = "HELIX_MCP_TOKEN"  # noqa: S105  (the variable's name)
_METHODS: dict[str, type[Any]] = {
    "tools/list": types.PaginatedRequestParams,
    "tools/call": types.CallToolRequestParams,
    "resources/list": types.PaginatedRequestParams,
    "resources/templates/list": types.PaginatedRequestParams,
    "resources/read": types.ReadResourceRequestParams,
    "prompts/list": types.PaginatedRequestParams,
    "prompts/get": types.GetPromptRequestParams,
}


def serve_http(chosen: str, *, port: int) -> None:
    """Serves until it is interrupted.

    Raises:
        HelixGraphError: The port cannot be used.
    """
    chosen_token = os.environ.get(_TOKEN, "")
    if chosen_token and len(chosen_token) < _SHORTEST_TOKEN:
        raise HelixGraphError(
            f"{_TOKEN} has {len(chosen_token)} characters, which can be guessed; give it {_SHORTEST_TOKEN} or more, or "
            "leave it out and a token is made"
        )
    token = chosen_token or secrets.token_urlsafe(24)
    told = "" if chosen_token else f" with the header Authorization: Bearer {token}"
    try:
        listening = socket.create_server(("127.0.0.1", port))
    except OSError as error:
        problem = os.strerror(error.errno or 0)
        raise HelixGraphError(f"port {port} of 127.0.0.1 cannot be used ({problem}); give another") from error
    print(f"MCP at http://127.0.0.1:{port}/mcp{told}", file=sys.stderr)  # noqa: T201  (for the person who started it)
    SEVERAL_SESSIONS.set()
    with kept_open(), listening:
        config = uvicorn.Config(application(chosen, token=token), log_level="warning")
        uvicorn.Server(config).run(sockets=[listening])


def application(chosen: str, *, token: str) -> ASGIApp:
    """The web application, which answers requests that have the token."""
    server = Server(chosen)
    carrier: SdkServer[Any] = SdkServer(NAME, version=__version__, instructions=server.instructions)
    for method, params in _METHODS.items():
        carrier.add_request_handler(method, params, partial(_answer, server, method))
    return _Guarded(carrier.streamable_http_app(), token=token)


async def _answer(server: Server, method: str, context: ServerRequestContext[Any], _: object) -> dict[str, Any]:
    """What our server answers, in the SDK's terms; it adds what the era of the client asks for."""

    def notify(message: dict[str, Any]) -> None:
        params = message["params"]
        from_thread.run(context.session.report_progress, params["progress"], params["total"], params["message"])

    params = {name: value for name, value in (context.params or {}).items() if name != "_meta"}
    meta: dict[str, Any] = {"progressToken": 0} if "progress_token" in (context.meta or {}) else {}
    if context.protocol_version == MODERN:
        meta[VERSION_KEY] = MODERN
    message = {"jsonrpc": "2.0", "id": 0, "method": method, "params": {**params, "_meta": meta}}
    answer = await to_thread.run_sync(server.answer, message, notify)
    if answer is None or "error" in answer:
        error = (answer or {})["error"]
        raise MCPError(error["code"], error["message"], error.get("data"))
    result: dict[str, Any] = answer["result"]
    return result


class _Guarded:
    """An application that answers those alone who know the token."""

    def __init__(self, inner: ASGIApp, *, token: str) -> None:
        self._inner, self._expected = inner, f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = dict(scope.get("headers", ()))
        if scope["type"] == "http" and not secrets.compare_digest(headers.get(b"authorization", b""), self._expected):
            refusal = PlainTextResponse("send the token as Authorization: Bearer TOKEN\n", status_code=401)
            await refusal(scope, receive, send)
        else:
            await self._inner(scope, receive, send)
