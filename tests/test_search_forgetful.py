"""A Forgetful server as a source, over real connections: there, absent, slow, and not what it should be."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from helix_graph.search.api import Search
from helix_graph.search.sources import Availability

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SERVER = Path(__file__).parent / "helpers" / "forgetful_server.py"


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@pytest.fixture(scope="module")
def server() -> Iterator[Callable[[str], str]]:
    """The endpoint of a server of that manner: all of them are one process, on a path each."""
    port = free_port()
    process = subprocess.Popen([sys.executable, str(SERVER), str(port)], stderr=subprocess.DEVNULL)
    try:
        _await_listening(port)
        yield lambda manner: f"http://127.0.0.1:{port}/{manner}"
    finally:
        process.kill()
        process.wait()


def _await_listening(port: int) -> None:
    for _ in range(300):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    pytest.fail("the server did not start")


@pytest.fixture(autouse=True)
def own_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings of the user's for each test: only there may a server be named."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "settings"))


def search(tmp_path: Path, endpoint: str, *, timeout_ms: int = 3000) -> Search:
    root = tmp_path / ".helix"
    root.mkdir(exist_ok=True)
    own = Path(os.environ["XDG_CONFIG_HOME"]) / "helix-graph" / "config.toml"
    own.parent.mkdir(parents=True, exist_ok=True)
    own.write_text(f'[search]\nmarkdown = []\nforgetful = "{endpoint}"\nforgetful_timeout_ms = {timeout_ms}\n')
    return Search(root, own=lambda: ())


@pytest.mark.slow
def test_its_memories_are_results(tmp_path: Path, server: Callable[[str], str]) -> None:
    endpoint = server("newest")
    answer = search(tmp_path, endpoint)("locks", semantic_only=True)
    status = search(tmp_path, endpoint).status()
    assert [(one.name, one.source, one.content, one.source_score) for one in answer.results] == [
        ("Lock files", "Forgetful", "The lock file goes first.", 0.9),
        ("Caches", "Forgetful", "Caches are deleted last.", 0.5),
    ]
    assert status["Forgetful"] == {"Available": True, "Endpoint": endpoint}
    assert status["Configuration"]["ForgetfulPort"] == urlsplit(endpoint).port
    assert 0 <= status["Cache"]["AgeSeconds"] < 30


@pytest.mark.slow
def test_a_caller_that_runs_a_loop_may_ask(tmp_path: Path, server: Callable[[str], str]) -> None:
    async def within_a_notebook() -> list[str]:
        return [one.name for one in search(tmp_path, server("newest"))("locks", semantic_only=True).results]

    with ThreadPoolExecutor(1) as elsewhere:  # the browser's tests leave a loop running in this thread
        assert elsewhere.submit(lambda: asyncio.run(within_a_notebook())).result() == ["Lock files", "Caches"]


@pytest.mark.slow
def test_the_seeds_tool_is_spoken_too(tmp_path: Path, server: Callable[[str], str]) -> None:
    answer = search(tmp_path, server("oldest"))("lock files")
    assert [one.content for one in answer.results] == ["asked: lock files"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("manner", "said"),
    [("refusing", "it answers: "), ("talking", "not JSON"), ("other", "none of the tools")],
)
def test_a_server_that_does_otherwise_is_named_and_nothing_fails(
    tmp_path: Path, server: Callable[[str], str], manner: str, said: str
) -> None:
    answer = search(tmp_path, server(manner))("locks")
    assert not answer.results
    assert answer.sources[0].state == "failed"
    assert said in str(answer.sources[0].problem)


@pytest.mark.slow
def test_a_slow_server_is_left_after_its_time(tmp_path: Path, server: Callable[[str], str]) -> None:
    begun = time.monotonic()
    answer = search(tmp_path, server("slow"), timeout_ms=100)("locks")
    assert answer.sources[0].state == "failed"
    assert time.monotonic() - begun < 25  # the server would take 30


def test_an_absent_server_is_a_state(tmp_path: Path) -> None:
    endpoint = f"http://127.0.0.1:{free_port()}/mcp"
    answer = search(tmp_path, endpoint)("locks")
    assert [(one.state, one.problem) for one in answer.sources] == [("absent", f"nothing listens at {endpoint}")]


def test_what_listens_without_answering_http_is_left_after_its_time(tmp_path: Path) -> None:
    with socket.socket() as mute:
        mute.bind(("127.0.0.1", 0))
        mute.listen()
        answer = search(tmp_path, f"http://127.0.0.1:{mute.getsockname()[1]}/mcp", timeout_ms=50)("locks")
    assert answer.sources[0].state == "failed"


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_availability_is_looked_at_anew_after_thirty_seconds(tmp_path: Path) -> None:
    clock, cache = Clock(), tmp_path / "cache.json"
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        endpoint = f"http://127.0.0.1:{server.getsockname()[1]}/mcp"
        first = Availability(cache, endpoint=endpoint, timeout_ms=500, clock=clock)
        assert first.age() == -1
        assert first.available()
    later = Availability(cache, endpoint=endpoint, timeout_ms=500, clock=clock)  # another process
    clock.now += 29.9
    assert later.available()
    assert later.age() == pytest.approx(29.9)
    clock.now += 0.2
    assert not later.available()
    assert not later.available(force=True)


@pytest.mark.parametrize("damage", [b"", b"{", b"\xff", json.dumps({"endpoint": 1}).encode()])
def test_a_damaged_cache_counts_as_none(tmp_path: Path, damage: bytes) -> None:
    cache = tmp_path / "cache.json"
    cache.write_bytes(damage)
    known = Availability(cache, endpoint=f"http://127.0.0.1:{free_port()}/mcp", timeout_ms=500)
    assert known.age() == -1
    assert not known.available()
