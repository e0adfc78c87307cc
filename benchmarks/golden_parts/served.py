"""Parts ``mcp`` and ``hooks``: what agents are answered, by the server over stdio and by every hook's event."""

from __future__ import annotations

import json
import os
import re
import subprocess
from typing import TYPE_CHECKING

from golden_parts.script import DEMO, NAMES, Subject
from golden_parts.state import files_of
from golden_parts.world import COMMAND, Project, demo_logs, new_project, run, spawn

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

LONG = "a lengthy thing that is said once, " * 12 + "and no more"
Arguments = dict[str, object]
#: How an answer that was cut names the rest of it.
_CUT = re.compile(r'call again with cursor \\*"([^"\\]+)')


def calls(subject: Subject, logs: Path) -> list[tuple[str, Arguments]]:
    """Every tool's calls, in the order in which they are made; some fail on purpose."""
    pytest, lock = NAMES["pytest"], NAMES["lock"]
    return [
        ("status", {}),
        ("seen", {"text": subject.error}),
        ("seen", {"limit": "2"}),
        ("seen", {"text": 7}),
        ("causal_path", {"source": subject.label, "target": "success"}),
        ("causal_path", {"source": subject.label, "target": "success", "max_depth": "2", "strongest": "true"}),
        ("causal_path", {"source": "no such label", "target": "success"}),
        ("causal_path", {}),
        ("causes", {"label": subject.label}),
        ("causes", {"label": "success"}),
        ("effects", {"label": subject.label}),
        ("effects", {"label": "no such label"}),
        ("patterns", {}),
        ("patterns", {"min_occurrences": "2", "min_success_rate": "0.5"}),
        ("patterns", {"min_occurrences": "many"}),
        ("anti_patterns", {"max_success_rate": "0.6"}),
        ("explain", {"episode": subject.failure}),
        ("explain", {"episode": subject.success, "steps": "true"}),
        ("explain", {"episode": "nobody"}),
        ("contrast", {"episode": subject.failure}),
        ("without", {"label": subject.decision}),
        ("comparisons", {}),
        ("claims", {}),
        ("repeats", {}),
        ("placebo", {}),
        ("similar_decisions", {"text": subject.words}),
        ("list_episodes", {}),
        ("list_episodes", {"outcome": "failure", "max_results": "1"}),
        ("list_episodes", {"since": subject.since}),
        ("show_episode", {"episode": subject.failure}),
        ("show_episode", {"episode": subject.success, "evidence": "true"}),
        ("show_episode", {"episode": "nobody"}),
        ("extract", {"logs": str(logs / f"{DEMO.success}.jsonl")}),
        ("extract", {"logs": "nowhere"}),
        ("compile", {"dry_run": "true"}),
        ("compile", {}),
        ("store", {"topic": "Build Gotchas", "text": "arm64 only for FFI bridge", "tags": "gotchas"}),
        ("store", {"topic": "build-gotchas", "text": "arm64 only for FFI bridge"}),
        ("store", {"topic": "engine", "text": "CachedEntry holds tf_map", "source": "a.rs:27", "confidence": "0.9"}),
        ("store", {"topic": "engine"}),
        ("batch", {"entries": [{"topic": "network", "text": "Max 8 TCP connections per pool"}]}),
        ("batch", {"entries": '[{"topic": "engine", "text": "gap: no retry", "confidence": "0.5"}]'}),
        ("search", {"query": "FFI bridge"}),
        ("search", {"query": "xyz", "tag": "none-such"}),
        ("search", {"query": "arm64 cached", "mode": "or", "detail": "count", "limit": "0"}),
        ("brief", {"query": "engine"}),
        ("brief", {"compact": "true"}),
        ("brief", {}),
        ("read", {"topic": "build-gotchas"}),
        ("read", {"topic": "build-gotchas", "index": "0"}),
        ("read", {"topic": "no such topic"}),
        ("edit", {"action": "append", "topic": "engine", "text": "and more", "index": "0"}),
        ("edit", {"action": "revise", "topic": "engine", "text": "all anew", "match_str": "retry"}),
        ("edit", {"action": "tag", "topic": "engine", "tags": "gap", "index": 0}),
        ("edit", {"action": "rename", "topic": "network", "new_name": "net"}),
        ("edit", {"action": "merge", "topic": "net", "into": "engine"}),
        ("edit", {"action": "paint", "topic": "engine"}),
        ("topics", {}),
        ("topics", {"action": "recent", "hours": "24"}),
        ("topics", {"action": "entries", "topic": "engine", "match_str": "pool"}),
        ("topics", {"action": "stats", "detail": "tags"}),
        ("topics", {"action": "xref", "topic": "engine"}),
        ("topics", {"action": "graph", "focus": "eng*"}),
        ("topics", {"action": "stale", "refresh": "true"}),
        ("topics", {"action": "prune", "days": "90"}),
        ("topics", {"action": "export"}),
        ("topics", {"action": "import", "json": '[{"topic": "taken-in", "text": "imported"}]'}),
        ("topics", {"action": "reindex"}),
        ("topics", {"action": "compact"}),
        ("topics", {"action": "session"}),
        ("remember", {"content": "When pytest hangs in CI, run it with -x and a timeout", "tags": '["ci"]'}),
        ("remember", {"content": "Delete the lock file before you build the image anew", "tags": "docker, ci"}),
        ("recall", {"query": "pytest hangs", "limit": "3", "min_relevance": "0.1"}),
        ("recall", {"query": "pytest hangs", "suppress_names": pytest}),
        ("feedback", {"names": pytest, "outcome": "delivered", "causal_names": "[]"}),
        ("feedback", {"names": pytest, "outcome": "glorious"}),
        ("relate", {"from_name": pytest, "to_name": lock, "weight": "0.8"}),
        ("insight_health", {}),
        ("store", {"topic": "lengthy", "text": LONG}),
        ("read", {"topic": "lengthy"}),
        ("search", {"query": "lengthy thing", "detail": "full"}),
        ("search_memory", {"query": "lengthy thing"}),
        ("search_memory", {"query": "pytest hangs", "max_results": "3"}),
        ("search_memory", {"query": subject.words, "lexical_only": "true"}),
        ("no_such_tool", {}),
    ]


class Server:
    """A server process and a client that only writes and reads lines."""

    def __init__(self, project: Project) -> None:
        self._process = subprocess.Popen(
            [*COMMAND, "mcp", "--tools", "all"],
            cwd=project.folder,
            env={**os.environ, "HOME": str(project.home)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._number = 0

    def send(self, message: Mapping[str, object]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self._process.stdin.flush()

    def ask(self, method: str, params: Mapping[str, object] | None = None) -> dict[str, object]:
        """The answer to one request; notifications on the way are passed over."""
        assert self._process.stdout is not None
        self._number += 1
        self.send({"id": self._number, "method": method, "params": params or {}})
        while True:
            answer: dict[str, object] = json.loads(self._process.stdout.readline())
            if answer.get("id") == self._number:
                return answer

    def end(self) -> None:
        self._process.communicate(timeout=60)


def of_server(root: Path, memory: Path, subject: Subject) -> Iterator[tuple[str, str]]:
    """One session with the server: what it lists, every tool, resources and prompts."""
    project = new_project(root, f"{subject.name}-mcp", memory)
    server = Server(project)
    client = {"name": "golden", "version": "1"}
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
    yield "initialize", _text(server.ask("initialize", hello))
    server.send({"method": "notifications/initialized"})
    listed = server.ask("tools/list")
    yield "tools", _text(listed)
    called = calls(subject, demo_logs(root))
    tools = _tools(listed)
    yield "without a call", "\n".join(sorted(tools - {tool for tool, _ in called}))
    cut: list[str] = []
    for number, (tool, arguments) in enumerate(called):
        name = f"{number:02} {tool} {json.dumps(arguments)[:80]}"
        text = _text(server.ask("tools/call", {"name": tool, "arguments": arguments}))
        yield name, text
        cut += _CUT.findall(text)
    for number, cursor in enumerate(["nobody", *cut[:3]]):
        asked = {"name": "read", "arguments": {"cursor": cursor}}
        yield f"rest {number}", _text(server.ask("tools/call", asked))
    for method in ("resources/list", "resources/templates/list", "prompts/list"):
        yield method, _text(server.ask(method))
    for uri in ("helix://topic/engine", f"helix://episode/{subject.failure}", "helix://node/success", "helix://x/y"):
        yield f"resource {uri}", _text(server.ask("resources/read", {"uri": uri}))
    for given in ({}, {"task": subject.words}):
        yield f"prompt {given}", _text(server.ask("prompts/get", {"name": "briefing", "arguments": given}))
    server.end()


def _tools(listed: Mapping[str, object]) -> set[str]:
    result = listed["result"]
    assert isinstance(result, dict)
    return {tool["name"] for tool in result["tools"]}


def _text(answer: Mapping[str, object]) -> str:
    return json.dumps(answer, indent=1, ensure_ascii=False)


ADVICE = "When the courier API times out, ask it again with a smaller page"
FAILURE = "E   ModuleNotFoundError: No module named 'respx'\n1 failed in 0.10s"
FAILED = "FAILED tests/test_cart.py::test_total - AssertionError: assert 3 == 4\n1 failed in 0.1s"


def events(project: Project, logs: Path) -> list[tuple[str, str, Arguments]]:
    """Every event in the order in which it is told: its name, the session, and what else the agent says."""
    edit: Arguments = {
        "tool_name": "Edit",
        "tool_input": {"file_path": f"{project.folder}/tests/test_cart.py", "new_string": "x"},
    }
    courier: Arguments = {"prompt": "the courier API times out for a page"}
    agents = logs / "c6343967-a217-5f92-9260-7f7678faa427" / "subagents" / "agent-a28417ee.jsonl"
    return [
        ("session-start", "begin", {"source": "startup"}),
        ("session-start", "begin", {"source": "startup"}),
        ("user-prompt", "begin", courier),
        ("pre-compact", "begin", {"trigger": "auto"}),
        ("session-start", "begin", {"source": "compact"}),
        ("user-prompt", "prompt", {"prompt": "why does the courier API count pages so oddly?"}),
        ("user-prompt", "prompt", {"prompt": "yes"}),
        ("user-prompt", "prompt", {"prompt": "paint the garden fence green"}),
        ("user-prompt", "double", {**courier, "prompt_id": "p1"}),
        ("user-prompt", "double", {**courier, "prompt_id": "p1"}),
        ("tool-failure", "fails", {"tool_name": "Bash", "error": FAILURE}),
        ("tool-failure", "fails", {"tool_name": "Bash", "error": FAILURE}),
        ("tool-failure", "new", {"tool_name": "Bash", "error": "zorble: cannot frob the quux"}),
        ("post-tool", "codex", {"tool_name": "Bash", "tool_response": {"exit_code": 1, "output": FAILURE}}),
        ("post-tool", "codex 2", {"tool_name": "Bash", "tool_response": f"Exit code: 1\nOutput:\n{FAILURE}"}),
        ("post-tool", "fine", {"tool_name": "Bash", "tool_response": {"exit_code": 0, "output": FAILURE}}),
        ("pre-tool", "warned", edit),
        ("tool-failure", "warned", {"tool_name": "Bash", "error": FAILED}),
        ("pre-tool", "warned", edit),
        ("pre-tool", "warned", edit),
        ("session-start", "", {"conversation_id": "c", "cursor_version": "2.4", "user_email": "x@y.z"}),
        ("session-start", "", {"sessionId": "k", "timestamp": 1}),
        (
            "subagent-stop",
            "begin",
            {"agent_id": "a1", "agent_type": "helix-builder", "agent_transcript_path": str(agents)},
        ),
        ("stop", "begin", {"transcript_path": None}),
        ("session-end", "begin", {"reason": "other", "transcript_path": None}),
        ("session-end", "ended", {"reason": "other", "transcript_path": str(logs / f"{DEMO.success}.jsonl")}),
        ("session-start", "after", {"source": "resume"}),
        ("nonsense", "begin", {}),
    ]


def of_hooks(root: Path, memory: Path, subject: Subject) -> Iterator[tuple[str, str]]:
    """Every event in turn, as processes of their own, and what they leave behind."""
    project = new_project(root, f"{subject.name}-hooks", memory)
    logs = demo_logs(root)
    (project.folder / "plan.json").write_text(
        json.dumps({"objective": "Ship parcels", "tasks": [{"seq": "001", "objective": "Print labels"}]})
    )
    for words in (
        ["insight", "store", "--content", ADVICE, "--tags", '["user-provided"]'],
        ["topic", "store", "courier", "The courier API counts pages from one, not from zero"],
        ["plan", "save", "plan.json"],
        ["compile"],
    ):
        yield f"prepare {words[0]}", run(words, project).text
    for number, (event, session, more) in enumerate(events(project, logs)):
        said = {**({"session_id": session} if session else {}), "cwd": str(project.folder), **more}
        yield f"{number:02} {event} {session}", spawn(["hook", event], project, stdin=json.dumps(said).encode()).text
    for number, content in enumerate((b"", b"[1", b"null", b'{"cwd": 7}')):
        yield f"garbage {number}", spawn(["hook", "session-start"], project, stdin=content).text
    begin = json.dumps({"session_id": "off", "cwd": str(project.folder), "source": "startup"}).encode()
    yield "silenced", spawn(["hook", "session-start"], project, stdin=begin, more={"HELIX_OFF": "1"}).text
    for name in ("status", "doctor"):
        yield f"afterwards {name}", run([name], project).text
    for file, text in files_of(project.memory):
        yield f"files/{file}", text
