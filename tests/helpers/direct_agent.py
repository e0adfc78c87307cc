"""An agent's calls without a process: the server's own answers, where a test is not about how they travel."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from helix_cli.mcp.protocol import Server
from own_memory import own_memory

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path


class Answered(NamedTuple):
    """What a call came to."""

    text: str
    is_error: bool


class DirectAgent:
    """Calls the tools of a server that is an object of this process."""

    def __init__(self) -> None:
        self._server = Server("all")

    def call(self, tool: str, arguments: Mapping[str, Any] | None = None) -> Answered:
        """One call, whether it fails or not."""
        params = {"name": tool, "arguments": dict(arguments or {})}
        asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        said = self._server.answer(asked, lambda _: None)
        assert said is not None
        result = said["result"]
        text = "\n".join(block["text"] for block in result["content"] if block["type"] == "text")
        return Answered(text, bool(result.get("isError")))


@contextmanager
def direct_agent_of(root: Path) -> Iterator[DirectAgent]:
    """An agent whose server works on the memory in ``root``, which is accepted."""
    own_memory(root)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HELIX_DIR", str(root))
        yield DirectAgent()
