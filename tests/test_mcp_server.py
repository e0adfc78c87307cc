"""The server as a process: what it imports before it answers, what stands on stdout, and what outlives a crash."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from helix_graph import Memory
from mcp_agent import ERAS, SERVER, UNRULY, Agent, agent_of, text_of
from thoroughness import few

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

PATIENCE = 60
INITIALIZE = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "a pipe", "version": "1"},
}
#: All of ours that may be imported before the first answer: the command, the sentences of errors, the server itself,
#: and what keeps connections open.
LIGHT = {
    "helix_cli",
    "helix_cli.app",
    "helix_cli.mcp_and_hook_commands",
    "helix_cli.hooks",
    "helix_cli.hooks.event_limits",
    "helix_cli.mcp",
    "helix_cli.mcp.server",
    "helix_episodes",
    "helix_episodes.errors",
    "helix_episodes.safe_files",
    "helix_episodes.light_imports",
    "helix_graph",
    "helix_graph.database",
    "helix_graph.errors",
    "helix_graph.helix_db",
    "helix_graph.schema_digests",
}


class Pipe:
    """A client without an SDK: writes lines, and keeps every line that comes back."""

    def __init__(self, root: Path, *, server: Sequence[str] = SERVER) -> None:
        environment = {**os.environ, "HELIX_DIR": str(root)}
        self.process = subprocess.Popen(
            server, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        self.lines: list[bytes] = []
        self._number = 0

    def send(self, method: str, **params: object) -> int:
        """A request, which is not waited for."""
        self._number += 1
        self.write({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        return self._number

    def write(self, message: object) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def answer_to(self, number: int) -> dict[str, Any]:
        """The answer to a request; what comes before it is kept."""
        while True:
            message = self.next()
            if message.get("id") == number:
                return message

    def next(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        ready, _, _ = select.select([self.process.stdout], [], [], PATIENCE)
        assert ready, "the server says nothing"
        line = self.process.stdout.readline()
        assert line, "the server has ended"
        self.lines.append(line)
        message: dict[str, Any] = json.loads(line)
        return message

    def begin(self) -> dict[str, Any]:
        answer = self.answer_to(self.send("initialize", **INITIALIZE))
        self.write({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return answer

    def call(self, tool: str, **arguments: object) -> dict[str, Any]:
        result: dict[str, Any] = self.answer_to(self.send("tools/call", name=tool, arguments=arguments))["result"]
        return result

    def end(self) -> str:
        """Closes its stdin, which ends it; what it said on stderr."""
        out, error = self.process.communicate(timeout=PATIENCE)
        self.lines += out.splitlines(keepends=True)
        return error.decode()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return Memory.init(tmp_path).root


@pytest.mark.slow
def test_initialize_is_answered_before_anything_heavy_is_imported(root: Path) -> None:
    pipe = Pipe(root, server=(*UNRULY, "--modules"))
    answer = pipe.begin()["result"]
    imported = set(pipe.end().split())
    assert answer["serverInfo"]["name"] == "helix-graph"
    assert "mcp" in imported  # it says what it knows
    assert {name for name in imported if name.startswith("helix_")} <= LIGHT
    assert {"numpy", "networkx", "rich", "orjson"} & imported == set()


@pytest.mark.slow
def test_every_line_on_stdout_is_protocol(root: Path) -> None:
    pipe = Pipe(root, server=UNRULY)
    pipe.begin()
    pipe.answer_to(pipe.send("tools/list"))
    for tool in ("prints", "warns", "breaks", "status", "no_such_tool"):
        pipe.call(tool)
    pipe.write("no request")
    pipe.answer_to(pipe.send("no/such/method"))
    error = pipe.end()
    messages = [json.loads(line) for line in pipe.lines]
    assert all(message["jsonrpc"] == "2.0" and "result" not in message.get("params", {}) for message in messages)
    assert [message for message in messages if message.get("result") == "this is no protocol"] == []
    assert all(line.endswith(b"\n") for line in pipe.lines)
    assert "this is no protocol" in error
    assert pipe.process.returncode == 0


@pytest.mark.slow
def test_what_was_acknowledged_outlives_a_kill(root: Path) -> None:
    pipe = Pipe(root)
    pipe.begin()
    stored = [{"topic": "log", "text": f"entry {number}", "force": True} for number in range(60)]
    sent = {pipe.send("tools/call", name="store", arguments=one): one["text"] for one in stored}
    acknowledged = {sent[pipe.next()["id"]] for _ in range(20)}
    pipe.process.kill()
    pipe.process.communicate()
    kept = [entry.text for entry in Memory(root).topics.read("log").entries]
    assert len(acknowledged) == 20
    assert acknowledged <= set(kept)
    assert len(set(kept)) == len(kept)


@pytest.mark.slow
def test_it_ends_with_its_client_whatever_a_call_does(root: Path) -> None:
    pipe = Pipe(root, server=UNRULY)
    pipe.begin()
    pipe.send("tools/call", name="hangs", arguments={})
    pipe.answer_to(pipe.send("ping"))
    begun = time.monotonic()
    pipe.end()
    assert time.monotonic() - begun < 30
    assert pipe.process.returncode == 0


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Memory.init(tmp_path_factory.mktemp("shared")).root


@pytest.fixture(scope="module")
def two(shared: Path) -> Iterator[tuple[Agent, Agent]]:
    """Two clients of different eras, each with a server of its own, on one memory."""
    with agent_of(shared, ERAS[0]) as one, agent_of(shared, ERAS[1]) as other:
        yield one, other


@pytest.mark.slow
def test_two_servers_on_one_memory_see_each_others_entries_at_once(two: tuple[Agent, Agent]) -> None:
    for number in range(4):
        writer, reader = two if number % 2 else two[::-1]
        writer.call("store", {"topic": "shared", "text": f"unmistakable{number}"})
        assert f"unmistakable{number}" in text_of(reader.call("search", {"query": f"unmistakable{number}"}))
        stored = text_of(writer.call("remember", {"content": f"advice of the number {number} unlike any"}))
        recalled = text_of(reader.call("recall", {"query": f"advice of the number {number} unlike any"}))
        assert stored.split()[1] in recalled


@pytest.mark.slow
def test_calls_at_once_are_all_answered_and_nothing_is_lost(two: tuple[Agent, Agent]) -> None:
    one, _ = two
    writers = [("store", {"topic": f"at-once-{n % 3}", "text": f"written at once, number {n}"}) for n in range(10)]
    readers = [
        ("search", {"query": "written at once"}),
        ("topics", {"action": "compact"}),
        ("brief", {}),
        ("search_memory", {"query": "written at once"}),
        ("recall", {"query": "advice"}),
        ("remember", {"content": "said while everything else went on"}),
        ("status", {}),
        ("topics", {"action": "export"}),
        ("topics", {"action": "reindex"}),
        ("insight_health", {}),
    ]
    mixed = [call for pair in zip(writers, readers, strict=True) for call in pair]
    results = one.at_once(mixed)
    failed = [text_of(result) for result in results if result.is_error]
    assert [text for text in failed if "not been compiled" not in text] == []  # `status` has no graph to tell of
    stored = one.call("search", {"query": "written at once number", "limit": "100", "detail": "count"})
    assert text_of(stored).startswith("10 match")


def test_without_the_extra_the_command_says_how_to_install_it(root: Path, tmp_path: Path) -> None:
    (tmp_path / "mcp_types.py").write_text("raise ImportError('not installed')\n")
    environment = {**os.environ, "HELIX_DIR": str(root)}
    environment["PYTHONPATH"] = os.pathsep.join([str(tmp_path), *filter(None, [environment.get("PYTHONPATH")])])
    ended = subprocess.run(
        [sys.executable, "-m", "helix_cli", "mcp"], env=environment, capture_output=True, check=False
    )
    assert ended.returncode == 1
    assert ended.stdout == b""
    said = "helix-graph: the MCP server needs packages that are not installed: pip install 'helix-graph[mcp]'"
    assert ended.stderr.decode().strip() == said


#: Messages that no decoder takes, and the id that stands in each.
UNDECODABLE: dict[str, tuple[str, int | str]] = {
    "half a character": (
        r'{"jsonrpc":"2.0","id":77,"method":"tools/call","params":{"name":"seen","arguments":{"text":"x \ud83d"}}}',
        77,
    ),
    "its id last": (
        r'{"params":{"id":5,"arguments":{"id":"no","text":"\udc00"}},"jsonrpc":"2.0","method":"x","id":"a-1"}',
        "a-1",
    ),
    "deep": (
        '{"jsonrpc":"2.0","id":78,"method":"tools/call","params":{"arguments":' + '{"a":' * 5000 + "1" + "}" * 5002,
        78,
    ),
    "cut off": ('{"jsonrpc":"2.0","id":79,"method":"ping","params":', 79),
}


@pytest.mark.parametrize("what", few(list(UNDECODABLE), 1))
def test_a_message_that_cannot_be_decoded_is_answered(root: Path, what: str) -> None:
    sent, number = UNDECODABLE[what]
    pipe = Pipe(root)
    pipe.begin()
    assert pipe.process.stdin is not None
    pipe.process.stdin.write(sent.encode() + b"\n")
    pipe.process.stdin.flush()
    answer = pipe.next()
    assert (answer["id"], answer["error"]["code"]) == (number, -32700)
    assert "could not be read" in answer["error"]["message"]
    assert pipe.answer_to(pipe.send("ping"))["result"] == {}
    assert "Traceback" not in pipe.end()
