"""Every way a call can fail: a sentence to act on, over real stdio and in both eras, and the server goes on."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import pytest
from mcp import MCPError

from helix_cli.mcp.tool_declaration import tools_by_name
from mcp_agent import ERAS, UNRULY, Agent, agent_of, text_of
from own_memory import own_memory
from thoroughness import few
from unruly_mcp_server import ANSWER

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from helix_graph import Memory
    from mcp_agent import Era

#: What is asked, and what the error must say.
FAILURES: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("no_such_tool", {}, "there is no tool 'no_such_tool'; there are anti_patterns, batch"),
    ("seen", {"txt": "x"}, "seen: there is no argument 'txt'; it takes text (optional), limit (optional), cursor"),
    ("status", {"verbose": True}, "no argument 'verbose'; it takes cursor (optional)"),
    ("seen", {"limit": "many"}, "seen: limit is 'many'; it must be a whole number from 1 to 100"),
    ("seen", {"limit": 0}, "limit is 0; it must be a whole number from 1 to 100"),
    ("seen", {"text": ""}, "empty"),
    ("causal_path", {"source": "pytest"}, "causal_path: target is missing; it takes source, target"),
    ("causes", {"label": ""}, "label is ''; it must be a text from 1 to 500 characters long"),
    ("effects", {"label": ""}, "label is ''; it must be a text from 1 to 500 characters long"),
    ("patterns", {"min_success_rate": "1.5"}, "it must be a number from 0 to 1"),
    ("anti_patterns", {"evidence": "tested"}, "evidence is 'tested'; it must be one of associated"),
    ("issues", {"id": "no-such-issue"}, "no-such-issue"),
    ("checks", {"everything": True}, "no argument 'everything'"),
    ("fragile", {"path": ""}, "path is ''"),
    ("runbook", {"markdown": True}, "no argument 'markdown'"),
    ("explain", {"episode": "no-such"}, "no-such"),
    ("contrast", {"episode": "no-such"}, "no-such"),
    ("similar_decisions", {"text": "..."}, "give some words"),
    ("list_episodes", {"since": "yesterday"}, "'yesterday' is not an ISO 8601 date or time, such as 2026-11-01"),
    ("list_episodes", {"outcome": "won"}, "outcome is 'won'; it must be one of failure, partial, success, unknown"),
    ("show_episode", {"episode": "no-such"}, "no-such"),
    ("extract", {"logs": ["x"], "force": True}, "no argument 'force'"),
    ("extract", {"logs": "/no/such/log.jsonl"}, "no log could be read; name session logs of an agent:\n/no/such"),
    ("remember", {"content": "  too short" + " " * 20}, "nothing was remembered: "),
    ("relate", {"from_name": "a", "to_name": "b"}, "nothing was linked: memory not found: a; `recall` shows"),
    ("feedback", {"names": ["no-such"], "outcome": "delivered"}, "no insight is named no-such; give names as `recall`"),
    (
        "feedback",
        {"names": ["\x1b[31m\u202ea\U000e0041"], "outcome": "delivered"},
        "no insight is named  [31m a ; give",
    ),
    ("topics", {"action": "import", "json": [{"topic": "!"}]}, "nothing was imported, because no item is valid"),
    ("compile", {"dry_run": "perhaps"}, "dry_run is 'perhaps'; it must be true or false"),
    ("status", {"cursor": "0123456789ab-7"}, "cursor '0123456789ab-7' is unknown or has expired; leave it out"),
    ("read", {"cursor": "../../etc"}, "cursor '../../etc' is unknown or has expired"),
    ("status", {"max_tokens": 10}, "max_tokens is 10; it must be a whole number from 100 to 10000"),
    ("store", {"topic": "engine"}, "text is missing"),
    ("store", {"topic": "!!!", "text": "x"}, "needs a letter or a digit"),
    ("store", {"topic": "engine", "text": "x", "confidence": "2"}, "it must be a number from 0 to 1"),
    ("store", {"topic": "engine", "text": "x", "links": "nowhere:7"}, "nowhere:7"),
    ("store", {"topic": "engine", "text": "  "}, "empty"),
    ("batch", {"entries": "not json"}, "entries: no JSON (Expecting value"),
    (
        "batch",
        {"entries": [{"topic": "engine", "text": "x", "tag": "y"}]},
        "no argument 'tag' of entries[0]; it takes topic, text",
    ),
    ("batch", {"entries": [{"topic": "engine", "text": "x"}, {"topic": "?", "text": "y"}]}, "1"),
    ("batch", {"entries": '[{"topic": "engine", "text": "x"}, {"topic": "y"}]'}, "text of entries[1] is missing"),
    ("batch", {"entries": '[{"topic": "e", "text": "x", "confidence": 7}]'}, "entries[0].confidence is 7; it must be"),
    ("batch", {"entries": '[{"topic": "e", "text": "half \\ud800"}]'}, "contains half a character, U+D800"),
    ("batch", {"entries": "[" * 100_000}, "entries: no JSON"),
    ("search", {"query": "x", "days": 36_501}, "days is 36501; it must be a whole number from 0 to 36500"),
    ("store", {"topic": "e", "text": "x", "tags": ["a", 5]}, "tags[1] is 5; it must be a text"),
    ("search", {"query": ""}, "empty"),
    ("search", {"query": "cache", "after": "soon"}, "soon"),
    ("search", {"query": "x", "mode": "xor"}, "mode is 'xor'; it must be one of and, or"),
    ("search", {"query": "x", "limit": "-1"}, "limit is '-1'; it must be a whole number from 0 to 1000"),
    ("brief", {"query": "engine", "focus": "gossip"}, "gossip"),
    ("brief", {"query": "engine", "compact": "true"}, "compact"),
    ("read", {"topic": "written", "index": "99"}, "99"),
    ("read", {"topic": "written", "index": "last"}, "index is 'last'; it must be a whole number from 0 to 2147483648"),
    ("edit", {"action": "delete", "topic": "written", "index": "x"}, "index is 'x'"),
    ("edit", {"action": "delete", "topic": "written", "index": "null"}, "index is 'null'; leave it out"),
    ("edit", {"action": "delete", "topic": "written", "index": "99"}, "99"),
    ("edit", {"action": "delete", "topic": "no-such"}, "no-such"),
    ("edit", {"action": "destroy", "topic": "written"}, "action is 'destroy'; it must be one of append, "),
    ("edit", {"action": "revise", "topic": "written"}, "text"),
    ("edit", {"action": "rename", "topic": "written", "into": "x"}, "into"),
    ("topics", {"action": "entries"}, "topic"),
    ("topics", {"action": "list", "topic": "written"}, "means nothing to list"),
    ("topics", {"action": "import", "json": "{"}, "JSON"),
    ("topics", {"action": "stats", "detail": "all"}, "detail is 'all'; it must be one of index, tags"),
    ("remember", {"content": "x" * 30, "tags": "[1]"}, "tags is not a list of texts"),
    ("recall", {"query": " "}, "empty"),
    ("recall", {"query": "x", "min_relevance": "high"}, "min_relevance is 'high'; it must be a number from 0 to 1"),
    ("feedback", {"names": [], "outcome": "fine"}, "outcome is 'fine'; it must be one of blocked, "),
    (
        "relate",
        {"from_name": "a", "to_name": "b", "rel_type": "hates"},
        "rel_type is 'hates'; it must be one of causes, ",
    ),
    ("insight_health", {"of": "all"}, "no argument 'of'"),
    ("search_memory", {"query": "a;b"}, "Cannot validate argument on parameter 'Query': character 2 is ';'"),
    (
        "search_memory",
        {"query": "x", "max_results": 101},
        "max_results is 101; it must be a whole number from 1 to 100",
    ),
    (
        "search_memory",
        {"query": "x", "semantic_only": 1, "lexical_only": 1},
        "Cannot specify both semantic_only and lexical_only",
    ),
    (
        "search_memory",
        {"query": "x", "semantic_only": True},
        "No semantic search is available and semantic_only was specified",
    ),
)


@pytest.fixture(scope="module")
def root(demo_memory: Memory, tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("project") / ".helix"
    shutil.copytree(demo_memory.root, root)
    return root


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("stderr") / "log"


@pytest.fixture(scope="module", params=few(ERAS, 1))
def agent(root: Path, log: Path, request: pytest.FixtureRequest) -> Iterator[Agent]:
    with agent_of(root, request.param, server=UNRULY, errors=log) as connected:
        yield connected


@pytest.mark.slow
def test_each_failure_is_a_tool_error_with_a_sentence(agent: Agent) -> None:
    agent.call("store", {"topic": "written", "text": "by hand"})
    for tool, arguments, said in FAILURES:
        result = agent.call(tool, arguments)
        assert result.is_error, (tool, arguments, text_of(result))
        assert said in text_of(result), (tool, arguments, text_of(result))
        assert "Traceback" not in text_of(result)
        assert "has a bug" not in text_of(result)
        assert "log.jsonl: /no" not in text_of(result), "a path stands there once"
    assert '"by hand"' in text_of(agent.call("read", {"topic": "written", "index": "0"}))


def test_every_tool_fails_at_least_once_here() -> None:
    assert set(tools_by_name("all")) - {tool for tool, _, _ in FAILURES} == set()


def test_a_bug_is_told_and_ends_nothing(agent: Agent, log: Path) -> None:
    result = agent.call("breaks")
    assert result.is_error
    assert text_of(result).startswith("breaks has a bug (KeyError: 'no such key')")
    assert not agent.call("status").is_error
    assert "Traceback" in log.read_text()


def test_what_a_tool_prints_or_warns_of_reaches_stderr_alone(agent: Agent, log: Path) -> None:
    for tool in ("prints", "warns"):
        assert text_of(agent.call(tool)) == ANSWER
    said = log.read_text()
    assert all(one in said for one in ("this is no protocol", "from a library in C", "from a child", "this will go"))


@pytest.mark.slow
def test_a_slow_call_holds_up_no_other(agent: Agent) -> None:
    calls: list[tuple[str, dict[str, Any]]] = [("naps", {}), *[("read", {"topic": "written"})] * 5]
    assert agent.order_of(calls)[-1] == 0


@pytest.mark.slow
def test_progress_only_rises(agent: Agent) -> None:
    told: list[float] = []

    async def tell(done: float, _: float | None, __: str | None) -> None:
        told.append(done)

    agent.call("naps", progress=tell)
    assert told == [0, 2]


@pytest.mark.parametrize(
    ("uri", "said"),
    [
        ("helix://nothing/x", "there is no resource helix://nothing/x; there are helix://topic/{name}"),
        ("helix://episode/no-such", "no-such"),
        ("helix://topic/%21", "needs a letter"),
        ("helix://topic/", "there is no resource"),
        ("helix://node/zzz", "no session has a step labelled 'zzz'"),
    ],
)
def test_a_resource_that_is_none_is_refused_with_a_sentence(agent: Agent, uri: str, said: str) -> None:
    with pytest.raises(MCPError) as refused:
        agent.ask("read_resource", uri)
    assert said in str(refused.value)


def test_a_prompt_that_is_none_is_refused_with_a_sentence(agent: Agent) -> None:
    with pytest.raises(MCPError, match="there is no prompt 'poem'; there is briefing"):
        agent.ask("get_prompt", "poem")


@pytest.mark.parametrize("era", few(ERAS, 1))
@pytest.mark.slow
def test_without_a_memory_every_tool_says_how_to_begin_one_and_finds_it_then(tmp_path: Path, era: Era) -> None:
    root = tmp_path / "nothing" / ".helix"
    root.parent.mkdir()
    with agent_of(root, era) as agent:
        assert len(agent.ask("list_tools").tools) > 20
        assert agent.ask("list_resources").resources == []
        result = agent.call("recall", {"query": "anything"})
        assert result.is_error
        assert "helix-graph sync" in text_of(result)
        with pytest.raises(MCPError, match="helix-graph sync"):
            agent.ask("get_prompt", "briefing")
        assert agent.call("status").is_error
        assert not root.exists()
        own_memory(root)
        assert "stored in notes" in text_of(agent.call("store", {"topic": "notes", "text": "now it is there"}))
        held = agent.call("status")
        assert not held.is_error
        assert "0 episodes, 1 entry in 1 topic, 0 insights." in text_of(held)
        assert "not compiled" in text_of(held)
        assert "helix-graph sync" in text_of(held)
        assert "does not exist yet" in text_of(agent.call("seen", {"text": "x"}))
