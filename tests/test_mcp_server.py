"""The server as a process: what it imports before it answers, what stands on stdout, and what outlives a crash."""

from __future__ import annotations

import json
import os
import re
import select
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from helix_graph import Memory
from mcp_agent import ERAS, SERVER, UNRULY, Agent, agent_of, text_of
from unruly_mcp_server import ANSWER

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

PATIENCE = 60
INITIALIZE = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "a pipe", "version": "1"},
}
#: All of ours that may be imported before the first answer.
LIGHT = {
    "helix_cli",
    "helix_cli.entry",
    "helix_cli.mcp",
    "helix_cli.mcp.stdio",
    "helix_cli.mcp.protocol",
    "helix_graph",
}
#: And before the list of tools is there.
DECLARING = LIGHT | {
    "helix_cli.mcp.tool_declaration",
    "helix_cli.mcp.tools",
    "helix_cli.mcp.tools.everyday",
    "helix_episodes",
    "helix_episodes.errors",
    "helix_episodes.msgspec_types",
}


class Pipe:
    """A client without an SDK: writes lines, and keeps every line that comes back."""

    def __init__(self, root: Path, *, server: Sequence[str] = SERVER, more: Mapping[str, str] | None = None) -> None:
        environment = {**os.environ, "HELIX_DIR": str(root), **(more or {})}
        self.process = subprocess.Popen(
            server, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0
        )  # without a buffer: `select` does not see what waits in one
        self.lines: list[bytes] = []
        self._number = 0

    def send(self, method: str, **params: object) -> int:
        """A request, which is not waited for."""
        self._number += 1
        self.write({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        return self._number

    def write(self, message: object) -> None:
        self.write_bytes(json.dumps(message).encode())

    def write_bytes(self, line: bytes) -> None:
        assert self.process.stdin is not None
        left = memoryview(line + b"\n")
        while left:
            left = left[self.process.stdin.write(left) :]

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


def imported(error: str) -> set[str]:
    """The modules that an interpreter with ``-v`` said it has imported."""
    return set(re.findall(r"^import '?([\w.]+)'? #", error, re.MULTILINE))


@pytest.mark.parametrize(("asked", "expected"), [((), LIGHT), (("tools/list",), DECLARING)])
def test_nothing_heavy_is_imported_before_a_session_can_begin(
    root: Path, asked: tuple[str, ...], expected: set[str]
) -> None:
    server = (
        sys.executable,
        "-v",
        "-c",
        "import sys; sys.argv[1:] = ['mcp']; from helix_cli.entry import main; main()",
    )
    pipe = Pipe(root, server=server, more={"PYTHONNOUSERSITE": "1"})
    assert pipe.begin()["result"]["serverInfo"]["name"] == "helix-graph"
    for method in asked:
        assert len(pipe.answer_to(pipe.send(method))["result"]["tools"]) == 5
    found = imported(pipe.end())
    assert {name for name in found if name.startswith("helix_")} == expected
    assert {"mcp", "click", "numpy", "networkx", "rich", "orjson", "sqlite3", "asyncio", "logging"} & found == set()


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
    assert [text for text in failed if "does not exist yet" not in text] == []  # `status` has no graph to tell of
    stored = one.call("search", {"query": "written at once number", "limit": "100", "detail": "count"})
    assert text_of(stored).startswith("10 match")


def test_without_the_extra_serving_http_says_how_to_install_it(root: Path, tmp_path: Path) -> None:
    (tmp_path / "mcp_types.py").write_text("raise ImportError('not installed')\n")
    environment = {**os.environ, "HELIX_DIR": str(root)}
    environment["PYTHONPATH"] = os.pathsep.join([str(tmp_path), *filter(None, [environment.get("PYTHONPATH")])])
    ended = subprocess.run(
        [sys.executable, "-m", "helix_cli", "mcp", "--http", "8765"],
        env=environment,
        capture_output=True,
        check=False,
        timeout=PATIENCE,
    )
    assert ended.returncode == 1
    assert ended.stdout == b""
    said = "helix-graph: serving MCP over HTTP needs packages that are not installed: pip install 'helix-graph[mcp]'"
    assert ended.stderr.decode().strip() == said


def request(method: str = "ping", **more: object) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": 7, "method": method, **more}).encode()


def nested(levels: int) -> bytes:
    inner = b'{"a":' * levels + b"1" + b"}" * levels
    return (
        b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"recall","arguments":{"query":'
        + inner
        + b"}}}"
    )


#: What is sent, and what the answer says: the code of an error, or a part of a tool's text.
ODD: dict[str, tuple[bytes, int | str]] = {
    "half a character": (
        request("tools/call", params={"name": "store", "arguments": {"topic": "a", "text": "x \ud83d"}}),
        "contains half a character",
    ),
    "half a character in an argument": (
        request("tools/call", params={"name": "seen", "arguments": {"te\ud83dxt": 1}}),
        "contains half a character, U+D83D",
    ),
    "half a character in a number": (
        request("tools/call", params={"name": "seen", "arguments": {"limit": "\ud83d"}}),
        "half",
    ),
    "half a character in an address": (request("resources/read", params={"uri": "helix://x/\ud83d"}), -32602),
    "half a character in a name": (request("tools/call", params={"name": "x\ud83d"}), "there is no tool"),
    "half a character in a method": (request("x\ud83d"), -32601),
    "50 levels": (nested(50), "query is"),
    "500 levels": (nested(500), "nested too deeply"),
    "5,000 levels": (nested(5_000), -32700),
    "cut off": (b'{"jsonrpc":"2.0","id":7,"method":"ping","params":', -32700),
    "not UTF-8": (b'{"jsonrpc":"2.0","id":7,"method":"p\xff"}', -32700),
    "not a number": (b'{"jsonrpc":"2.0","id":7,"method":"ping","params":{"x":NaN}}', -32700),
    "a number of 5,000 digits": (
        b'{"jsonrpc":"2.0","id":7,"method":"ping","params":{"x":' + b"1" * 5_000 + b"}}",
        -32700,
    ),
    "too long, its id first": (request(params={"x": "y" * 16_000_000}), -32600),
    "too long, its id last": (
        b'{"params":{"id":9,"x":"' + b"y" * 33_000_000 + b'"},"jsonrpc":"2.0","id":7,"method":"ping"}',
        -32600,
    ),
    "no such method": (request("tools/fly"), -32601),
    "a method that is none": (request(["tools/call"]), -32600),  # type: ignore[arg-type]  # that is the point
    "another JSON-RPC": (b'{"id":7,"method":"ping"}', -32600),
    "no method": (b'{"jsonrpc":"2.0","id":7}', -32600),
    "parameters that are a list": (request("tools/call", params=["seen"]), -32602),
    "no name of a tool": (request("tools/call", params={}), -32602),
    "a name that is a number": (request("tools/call", params={"name": 5}), -32602),
    "arguments that are a text": (request("tools/call", params={"name": "seen", "arguments": "{}"}), -32602),
    "an address that is a number": (request("resources/read", params={"uri": 5}), -32602),
    "a task that is a list": (request("prompts/get", params={"name": "briefing", "arguments": {"task": []}}), -32602),
    "a version to come": (
        request("tools/list", params={"_meta": {"io.modelcontextprotocol/protocolVersion": "2031-01-01"}}),
        -32022,
    ),
    "a version that is none": (
        request("tools/list", params={"_meta": {"io.modelcontextprotocol/protocolVersion": {}}}),
        -32602,
    ),
    "before any handshake": (request("tools/call", params={"name": "no_such"}), "there is no tool 'no_such'"),
}
#: What has no id to be answered by, and the id of the answer all the same; None where there is none to give.
WITHOUT_ID: dict[str, tuple[bytes, bool]] = {
    "no JSON": (b"hello", True),
    "an id that JSON has not": (b'{"jsonrpc":"2.0","id":007,"method":"ping"}', True),
    "an id with an escape that JSON has not": (b'{"jsonrpc":"2.0","id":"\\x","method":"ping"}', True),
    "a list of nothing": (b"[]", True),
    "null": (b"null", True),
    "no id": (b'{"jsonrpc":"2.0"}', True),
    "an id that is true": (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', True),
    "an id that is infinite": (b'{"jsonrpc":"2.0","id":1e999,"method":"ping"}', True),
    "a notification": (b'{"jsonrpc":"2.0","method":"notifications/made-up"}', False),
    "a notification in place of a call": (b'{"jsonrpc":"2.0","method":"tools/call","params":{"name":"status"}}', False),
    "a call that was cancelled before": (
        b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}',
        False,
    ),
    "an answer": (b'{"jsonrpc":"2.0","id":3,"result":{}}', False),
    "a blank line": (b"  ", False),
}


def test_every_request_is_answered_and_the_server_goes_on(root: Path) -> None:
    pipe = Pipe(root)
    pipe.begin()
    for what, (sent, said) in ODD.items():
        pipe.write_bytes(sent)
        answer = pipe.next()
        assert answer["id"] == 7, what
        if isinstance(said, int):
            assert answer["error"]["code"] == said, (what, answer)
        else:
            assert answer["result"]["isError"], what
            assert said in answer["result"]["content"][0]["text"], (what, answer)
        assert "has a bug" not in json.dumps(answer), what
        assert pipe.answer_to(pipe.send("ping"))["result"] == {}
    for what, (sent, is_answered) in WITHOUT_ID.items():
        pipe.write_bytes(sent)
        if is_answered:
            answer = pipe.next()
            assert (answer["id"], "error" in answer) == (None, True), what
        number = pipe.send("ping")
        assert pipe.next()["id"] == number, what
    assert "Traceback" not in pipe.end()


def test_a_batch_is_answered_as_a_batch(root: Path) -> None:
    pipe = Pipe(root)
    pipe.begin()
    called = {"name": "store", "arguments": {"topic": "a", "text": "one of a batch"}}
    asked = [
        {"jsonrpc": "2.0", "id": 1, "method": "ping"},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": called},
        5,
    ]
    pipe.write(asked)
    assert pipe.process.stdout is not None
    answers = json.loads(pipe.process.stdout.readline())
    assert [one["id"] for one in answers] == [1, 2, None]
    assert "stored in a" in answers[1]["result"]["content"][0]["text"]
    pipe.end()


@pytest.mark.slow
def test_a_cancelled_call_is_answered_all_the_same(root: Path) -> None:
    pipe = Pipe(root, server=UNRULY)
    pipe.begin()
    number = pipe.send("tools/call", name="naps", arguments={})
    pipe.write({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}})
    assert pipe.answer_to(number)["result"]["content"][0]["text"] == ANSWER
    pipe.end()


def test_it_says_which_versions_it_speaks(root: Path) -> None:
    pipe = Pipe(root)
    for asked, answered in (
        ("2024-11-05", "2024-11-05"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
        (None, "2025-11-25"),
        (["2025-11-25"], "2025-11-25"),
    ):
        result = pipe.answer_to(pipe.send("initialize", **{**INITIALIZE, "protocolVersion": asked}))["result"]
        assert result["protocolVersion"] == answered
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
    found = pipe.answer_to(pipe.send("server/discover", _meta=meta))["result"]
    assert found["supportedVersions"][0] == "2026-07-28"
    assert found["resultType"] == "complete"
    tools = pipe.answer_to(pipe.send("tools/list", _meta=meta))["result"]
    assert (tools["resultType"], tools["cacheScope"]) == ("complete", "private")
    assert "resultType" not in pipe.answer_to(pipe.send("tools/list"))["result"]
    pipe.end()


@pytest.mark.parametrize("busy", [False, True])
def test_it_ends_at_an_interrupt(root: Path, busy: bool) -> None:  # noqa: FBT001  (a parameter)
    pipe = Pipe(root, server=UNRULY)
    pipe.begin()
    if busy:
        pipe.send("tools/call", name="hangs", arguments={})
        pipe.answer_to(pipe.send("ping"))
    begun = time.monotonic()
    pipe.process.send_signal(signal.SIGINT)
    assert pipe.process.wait(PATIENCE) == 130
    assert time.monotonic() - begun < 2
    assert "Traceback" not in pipe.end()


def test_a_child_started_without_interrupts_still_ends_at_one(root: Path) -> None:
    """A shell starts what runs in the background so."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        pipe = Pipe(root)
    finally:
        signal.signal(signal.SIGINT, before)
    pipe.begin()
    pipe.process.send_signal(signal.SIGINT)
    assert pipe.process.wait(PATIENCE) == 130
    pipe.end()


@pytest.mark.parametrize(("closed", "answers"), [("<&-", 0), (">&-", 0), ("2>&-", 1), ("<&- >&- 2>&-", 0)])
def test_a_stream_that_was_closed_before_is_no_traceback(root: Path, closed: str, answers: int) -> None:
    ended = subprocess.run(
        ["sh", "-c", f'echo \'{{"jsonrpc":"2.0","id":1,"method":"ping"}}\' | "$@" {closed}', "sh", *SERVER],
        env={**os.environ, "HELIX_DIR": str(root)},
        capture_output=True,
        check=False,
        timeout=PATIENCE,
    )
    assert (ended.returncode, ended.stdout.count(b"\n"), ended.stderr) == (0, answers, b"")


def test_what_was_asked_before_stdin_was_closed_is_answered(root: Path) -> None:
    pipe = Pipe(root)
    numbers = [pipe.send("tools/call", name="store", arguments={"topic": "a", "text": f"entry {n}"}) for n in range(9)]
    pipe.end()
    answers = {one["id"]: one for one in map(json.loads, pipe.lines)}
    assert sorted(answers) == numbers
    assert not any(one["result"]["isError"] for one in answers.values())
