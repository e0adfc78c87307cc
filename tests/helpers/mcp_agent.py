"""An agent's client: the official SDK's own, speaking over real stdio to a server process of a memory."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import anyio
from anyio.from_thread import start_blocking_portal
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from own_memory import own_memory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from anyio.from_thread import BlockingPortal
    from mcp_types import CallToolResult

Era = Literal["legacy", "auto"]
ERAS: tuple[Era, ...] = ("legacy", "auto")
SERVER = (sys.executable, "-m", "helix_cli", "mcp", "--tools", "all")
#: The same server with tools that misbehave.
UNRULY = (sys.executable, str(Path(__file__).with_name("unruly_mcp_server.py")))


class Agent:
    """A client that is connected, to be used from a test."""

    def __init__(self, portal: BlockingPortal, client: Client) -> None:
        self.client = client
        self._portal = portal

    def call(
        self, tool: str, arguments: Mapping[str, Any] | None = None, *, progress: Callable[..., Any] | None = None
    ) -> CallToolResult:
        """One call, whether it fails or not."""

        async def calling() -> CallToolResult:
            return await self.client.call_tool(tool, dict(arguments or {}), progress_callback=progress)

        return self._portal.call(calling)

    def at_once(self, calls: Sequence[tuple[str, Mapping[str, Any]]]) -> list[CallToolResult]:
        """Many calls, all under way before the first has been answered."""
        found = self._found(calls)
        return [found[place] for place in range(len(calls))]

    def order_of(self, calls: Sequence[tuple[str, Mapping[str, Any]]]) -> list[int]:
        """The places of calls that are all under way at once, in the order in which they are answered."""
        return list(self._found(calls))

    def _found(self, calls: Sequence[tuple[str, Mapping[str, Any]]]) -> dict[int, CallToolResult]:
        found: dict[int, CallToolResult] = {}

        async def one(place: int, tool: str, arguments: Mapping[str, Any]) -> None:
            found[place] = await self.client.call_tool(tool, dict(arguments))

        async def calling() -> None:
            async with anyio.create_task_group() as group:
                for place, (tool, arguments) in enumerate(calls):
                    group.start_soon(one, place, tool, arguments)

        self._portal.call(calling)
        return found

    def ask(self, method: str, *arguments: object) -> Any:  # noqa: ANN401  (whatever the method answers)
        """Another request: ``list_tools``, ``read_resource``, ``get_prompt``."""

        async def asking() -> Any:  # noqa: ANN401  (as above)
            return await getattr(self.client, method)(*arguments)

        return self._portal.call(asking)


def text_of(result: CallToolResult) -> str:
    """The text of a result."""
    return "\n".join(block.text for block in result.content if block.type == "text")


@contextmanager
def agent_of(
    root: Path, era: Era, *, server: Sequence[str] = SERVER, errors: Path | None = None, accepted: bool = True
) -> Iterator[Agent]:
    """A client with a server of its own on the memory in ``root``, which is accepted; its stderr goes to a file."""
    if accepted and root.is_dir():
        own_memory(root)
    command, *arguments = server
    environment = {**os.environ, "HELIX_DIR": str(root)}
    parameters = StdioServerParameters(command=command, args=arguments, env=environment, cwd=root.parent)
    with (errors or Path(os.devnull)).open("w") as log, start_blocking_portal() as portal:
        client = Client(stdio_client(parameters, errlog=log), mode=era)
        with portal.wrap_async_context_manager(client) as connected:
            yield Agent(portal, connected)
