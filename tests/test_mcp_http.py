"""The server over HTTP: the same tools through the SDK, for those alone who know the token."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from helix_graph import Memory
from mcp_agent import ERAS, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

KNOWN = "known-to-this-test"
HEADERS = {"Authorization": f"Bearer {KNOWN}"}
PATIENCE = 60

pytestmark = pytest.mark.slow  # a real server, and the SDK as its client


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    memory = Memory.init(tmp_path_factory.mktemp("served"))
    memory.insights.store("When the courier times out, ask it again with a smaller page")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-m", "helix_cli", "mcp", "--http", str(port)],
        env={**os.environ, "HELIX_DIR": str(memory.root), "HELIX_MCP_TOKEN": KNOWN},
        stderr=subprocess.PIPE,
    )
    begun = time.monotonic()
    while time.monotonic() - begun < PATIENCE:
        with socket.socket() as tried:
            if tried.connect_ex(("127.0.0.1", port)) == 0:
                break
        time.sleep(0.1)
    yield f"http://127.0.0.1:{port}/mcp"
    process.terminate()
    process.communicate(timeout=PATIENCE)


def test_both_eras_list_and_call_tools(address: str) -> None:
    async def session(era: Any) -> tuple[list[str], str, str]:  # noqa: ANN401  (a mode of the SDK's)
        async with (
            httpx2.AsyncClient(headers=HEADERS) as web,
            Client(streamable_http_client(address, http_client=web), mode=era) as client,
        ):
            tools = [one.name for one in (await client.list_tools()).tools]
            recalled = await client.call_tool("recall", {"query": "courier times out"})
            name = text_of(recalled).split("]")[1].split()[0]
            missing = await client.call_tool("feedback", {"names": [name], "outcome": "delivered"})
            return tools, text_of(recalled), text_of(missing)

    for era in ERAS:
        tools, recalled, missing = anyio.run(session, era)
        assert tools == ["seen", "recall", "remember", "search_memory", "store"]
        assert "ask it again with a smaller page" in recalled
        assert "there is no tool 'feedback'" in missing


def test_nobody_is_answered_without_the_token_or_from_a_page_elsewhere(address: str) -> None:
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    accept = {"Accept": "application/json, text/event-stream"}
    for headers, status in (
        ({}, 401),
        ({"Authorization": "Bearer guessed"}, 401),
        (HEADERS | {"Origin": "https://example.org"}, 403),
        (HEADERS | {"Host": "example.org"}, 421),
    ):
        answer = httpx2.post(address, json=asked, headers={**accept, **headers})
        assert answer.status_code == status, headers
        assert "recall" not in answer.text


def test_a_port_that_is_taken_is_a_sentence(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        ended = subprocess.run(
            [sys.executable, "-m", "helix_cli", "mcp", "--http", port],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE,
        )
    assert ended.returncode == 1
    assert f"port {port} of 127.0.0.1 cannot be used (Address already in use); give another" in ended.stderr
    assert "Bearer" not in ended.stderr
