"""A Forgetful server as one more source, asked over its MCP endpoint with the official client.

Its tool for searching has had several names: the newest is reached through ``execute_forgetful_tool``. Every failure
there becomes one sentence, within the time that the settings allow: a search does not fail because of another
program.

Whether the server answers is checked at most twice a minute. The answer is kept in a file, since each question may come
from a process of its own. A file that is damaged or from another address or from the future counts as none.
"""

from __future__ import annotations

import contextlib
import socket
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import msgspec

from helix_episodes.errors import WriteFailed
from helix_episodes.io import read_regular, write_atomically
from helix_graph.errors import MissingExtra, SourceFailed
from helix_graph.search.model import SearchMode, SourceResult

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


#: The seed's.
TTL_SECONDS = 30.0
_PORTS = {"http": 80, "https": 443}


class _Checked(msgspec.Struct, frozen=True):
    endpoint: str
    at: float
    available: bool


class Availability:
    """What is known of one endpoint. ``clock`` gives seconds since the epoch."""

    def __init__(self, cache: Path, *, endpoint: str, timeout_ms: int, clock: Callable[[], float] = time.time) -> None:
        self._cache = cache
        self._endpoint = endpoint
        self._timeout = timeout_ms / 1000
        self._clock = clock

    def available(self, *, force: bool = False) -> bool:
        """Whether something listens there; looked at anew after `TTL_SECONDS`, or with ``force``."""
        known = self._known()
        if known is not None and not force and 0 <= self._clock() - known.at < TTL_SECONDS:
            return known.available
        return self.note(available=self._listens())

    def note(self, *, available: bool) -> bool:
        """Keeps for the next questions what has just been learnt, where the folder lets one write."""
        checked = _Checked(endpoint=self._endpoint, at=self._clock(), available=available)
        with contextlib.suppress(WriteFailed):  # a memory that may only be read asks each time
            write_atomically(self._cache, msgspec.json.encode(checked))
        return available

    def age(self) -> float:
        """Seconds since it was last looked at; -1 when it never was."""
        known = self._known()
        return -1.0 if known is None else max(0.0, round(self._clock() - known.at, 3))

    def _known(self) -> _Checked | None:
        try:
            known = msgspec.json.decode(read_regular(self._cache), type=_Checked)
        except (OSError, msgspec.DecodeError):
            return None
        return known if known.endpoint == self._endpoint else None

    def _listens(self) -> bool:
        parts = urlsplit(self._endpoint)
        try:
            with socket.create_connection((parts.hostname, parts.port or _PORTS[parts.scheme]), self._timeout):
                return True
        except OSError:
            return False


FORGETFUL = "Forgetful"
_WHY = "a search over a coding agent's memories"
#: A server that listens has to start a search by meaning, which takes longer than listening.
_ANSWER_TIMES = 10


class Forgetful:
    """The server at ``endpoint``."""

    name = FORGETFUL
    manners: frozenset[SearchMode] = frozenset({"both", "semantic"})

    def __init__(self, endpoint: str, *, timeout_ms: int, availability: Availability) -> None:
        self.endpoint = endpoint
        self._seconds = timeout_ms * _ANSWER_TIMES / 1000
        self._availability = availability

    def problem(self) -> str | None:
        """That nothing listens there; what was found out in the last 30 seconds holds."""
        return None if self._availability.available() else f"nothing listens at {self.endpoint}"

    def search(self, query: str, *, limit: int, manner: SearchMode) -> list[SourceResult]:  # noqa: ARG002  (it knows but one)
        """Its memories, as it ranks them.

        Raises:
            MissingExtra: The MCP client is not installed.
            SourceFailed: It is no such server, does not answer in time, or answers what is not understood.
        """
        answer = self._ask(query, limit)
        while isinstance(answer, dict):  # a list of memories, or an object that holds one
            keys = ("primary_memories", "memories", "results", "result")
            answer = next((answer[key] for key in keys if key in answer), [])
        memories = [one for one in answer if isinstance(one, dict)] if isinstance(answer, list) else []
        found = []
        for number, memory in enumerate(memories[:limit], 1):
            name = str(memory.get("title") or memory.get("name") or memory.get("id") or f"memory {number}")
            scores = (memory[key] for key in ("score", "similarity") if isinstance(memory.get(key), int | float))
            content, score = str(memory.get("content") or ""), float(next(scores, 0.0))
            found.append(
                SourceResult(name=name, content=content, source=FORGETFUL, score=score, scored_by="similarity")
            )
        return found

    def _ask(self, query: str, limit: int) -> object:
        try:
            from anyio.from_thread import start_blocking_portal
            from httpx2 import HTTPError
            from mcp import MCPError
        except ImportError as error:
            raise MissingExtra(wanted="asking a Forgetful server", extra="mcp") from error
        try:
            with start_blocking_portal() as portal:  # a thread of its own: the caller's may run a loop already
                return portal.call(self._call, query, limit)
        except* (OSError, TimeoutError, HTTPError, MCPError, _NotUnderstoodError) as group:
            first: BaseException = group
            while isinstance(first, BaseExceptionGroup):
                first = first.exceptions[0]
            problem = str(first) or type(first).__name__
        self._availability.note(available=False)
        raise SourceFailed(FORGETFUL, where=self.endpoint, problem=problem)

    async def _call(self, query: str, limit: int) -> object:
        import anyio
        from mcp import Client

        with anyio.fail_after(self._seconds):
            async with Client(self.endpoint, mode="legacy") as client:
                tools = {tool.name for tool in (await client.list_tools()).tools}
                name, arguments = _request(tools, query, limit)
                result = await client.call_tool(name, arguments)
        texts = [block.text for block in result.content if block.type == "text"]
        if result.is_error:
            raise _NotUnderstoodError("it answers: " + " ".join(texts)[:200])
        try:
            return result.structured_content or msgspec.json.decode("".join(texts))
        except msgspec.DecodeError as error:
            raise _NotUnderstoodError("its answer is no JSON") from error


class _NotUnderstoodError(Exception):
    """The server answers, but not as such a server does."""


def _request(tools: set[str], query: str, limit: int) -> tuple[str, dict[str, Any]]:
    """The tool to call, with its arguments."""
    asked = {"query": query, "query_context": _WHY, "k": limit}
    known: dict[str, dict[str, Any]] = {
        "execute_forgetful_tool": {"tool_name": "query_memory", "arguments": asked},
        "query_memory": asked,
        "memory_search": {"query": query, "limit": limit},
    }
    for name, arguments in known.items():
        if name in tools:
            return name, arguments
    raise _NotUnderstoodError(f"it has none of the tools {', '.join(known)}")
