"""Do the commands of the original's functions say what the library says, and refuse what it refuses?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from helix_cli.app import run
from own_memory import own_memory

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from episode_drawing import Draw
    from helix_graph import Memory
    from session_script import Script

    Say = Callable[..., Any]


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, draw: Draw) -> Memory:
    monkeypatch.setenv("HELIX_DIR", str(tmp_path / ".helix"))
    made = own_memory(tmp_path / ".helix")
    made.episodes.save(draw("s", "run ruff -> ruff fails: E501", "ruff passes -> success"))
    made.graph.compile()
    return made


@pytest.fixture
def say(memory: Memory, capsys: pytest.CaptureFixture[str]) -> Say:
    """Runs a command that succeeds and returns its JSON."""

    def _say(*arguments: str) -> Any:  # noqa: ANN401  (JSON)
        assert memory.root.is_dir()
        assert run([*arguments, "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    return _say


def test_node_edge_and_path(say: Say) -> None:
    node = say("node", "add", "--type", "event", "--label", "deploy", "--episode", "s")
    assert (node["frequency"], node["episodes"], node["success_rate"]) == (1, ["episode-s"], 1.0)
    edge = say(
        "edge", "add", "--source", node["id"], "--target", "ruff fails: E501", "--type", "causes", "--weight", "0.9"
    )
    assert (edge["weight"], edge["evidence_count"]) == (0.9, 1)
    assert say("path", "--from", "deploy", "--to", "ruff fails")["depth"] == 1


def test_pattern_stands_beside_the_counted_ones(say: Say) -> None:
    row = say("pattern", "add", "--name", "n", "--trigger", "t", "--action", "a", "--success-rate", "0.5")
    assert (row["success_rate"], row["measured"]) == (0.5, True)
    assert {"n"} <= {each["name"] for each in say("patterns")}


def test_episode_new_decisions_outcome_and_correct(say: Say, tmp_path: Path) -> None:
    data = tmp_path / "data.json"
    decisions = [{"id": "d001", "timestamp": None, "type": "design", "chosen": "Serena first"}]
    data.write_text(json.dumps({"decisions": decisions, "lessons": ["one"], "metrics": {"tool_calls": 3}}))
    session = "2026-01-01-session-126"
    arguments = ["--session", session, "--task", "t", "--outcome", "success", "--lesson", "two", "--data", str(data)]
    made = say("episode", "new", *arguments)
    assert (made["lessons"], made["metrics"]["tool_calls"]) == (["one", "two"], 3)
    assert [one["chosen"] for one in say("episode", "decisions", "episode-2026-01-01-126")] == ["Serena first"]
    told = say("episode", "outcome", session, "--failure", "--because", "CI was red")
    assert (told["outcome"], told["outcome_evidence"]["quote"]) == ("failure", "CI was red")
    corrected = say("episode", "correct", session, "--decision", "d001", "--rationale", "it is faster")
    assert corrected["decisions"][0]["rationale"] == "it is faster"
    assert say("episode", "show", session) == corrected


def test_a_link_is_corrected(say: Say) -> None:
    linked = say("episode", "correct", "s", "--link", "e002", "e003", "--type", "enables")
    assert {"source": "e002", "target": "e003", "reason": "stated", "type": "enables"} in linked["links"]
    gone = say("episode", "correct", "s", "--link", "e002", "e003", "--withdraw")
    assert all(link["source"] != "e002" for link in gone["links"])


@pytest.mark.parametrize(
    ("command", "code", "sentence"),
    [
        ("node add --type milestone --label x", 2, "--type is 'milestone'; it must be one of"),
        ("node add --label x", 2, "--type"),
        ("edge add --source x --target y --type causes", 1, "Node not found: x"),
        ("edge add --source success --target success --type leads", 2, "causes, enables, prevents, correlates"),
        ("edge add --source success --target success --type causes --weight 2", 2, "between 0 and 1"),
        ("pattern add --name n --trigger t --action T", 2, "say what to do when it happens"),
        ("episode outcome s --because x", 2, "say which"),
        ("episode outcome nobody --failure --because x", 1, "no session 'nobody'"),
        ("episode correct s", 2, "say which"),
        ("episode correct s --decision d001", 1, "nothing to correct in d001"),
        ("episode new --session s --task t --outcome success", 1, "--force to replace it"),
        ("episode list --max-results 101", 2, "101"),
    ],
)
def test_refusals_are_sentences(
    memory: Memory, capsys: pytest.CaptureFixture[str], command: str, code: int, sentence: str
) -> None:
    assert memory.root.is_dir()
    assert run(command.split()) == code
    said = capsys.readouterr()
    assert sentence in said.err
    assert said.out == ""


def test_people_are_told_what_was_kept(memory: Memory, capsys: pytest.CaptureFixture[str]) -> None:
    assert memory.root.is_dir()
    for command, words in [
        ("node add --type event --label deploy", "counted 1 x"),
        ("edge add --source deploy --target success --type enables", "1 pieces of evidence (asserted)"),
        ("pattern add --name n --trigger t --action a", "not measured"),
        ("patterns", "not measured"),
        ("status", "3 by people"),
        ("episode decisions s", "run ruff"),
        ("compile", "0 episodes processed"),
    ]:
        assert run(command.split()) == 0
        assert words in capsys.readouterr().out


def test_a_graph_of_no_session_asks_for_logs_first(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HELIX_DIR", str(tmp_path / ".helix"))
    assert run(["init"]) == 0
    assert run(["compile"]) == 0
    assert capsys.readouterr().out.endswith("Next: helix-graph sync\n")


def test_quotations_are_looked_up_in_the_log(
    memory: Memory, say: Say, capsys: pytest.CaptureFixture[str], tmp_path: Path, script: Callable[..., Script]
) -> None:
    written = script("t").prompt("go").edit("a.py").run("pytest -q", "\x1b[31m1 failed\x1b[0m in 0.3s", code=1)
    log = written.run("pytest -q", "1 passed in 0.2s").save(tmp_path / "logs")
    memory.extract([log])
    quoted = say("episode", "show", "t", "--evidence")
    assert {one["result"] for one in quoted} == {"unchecked"}
    assert {one["result"] for one in say("episode", "show", "t", "--log", str(log))} == {"found"}
    lines = log.read_text().splitlines()
    log.write_text("\n".join(["{}", *lines[:-1]]))
    assert run(["episode", "show", "t", "--log", str(log)]) == 1
    shown = capsys.readouterr().out
    assert "moved to line" in shown
    assert "missing" in shown


@pytest.mark.slow
@pytest.mark.corpus
def test_quotations_stand_in_real_logs(tmp_path: Path, corpora: Path) -> None:
    memory = own_memory(tmp_path / ".helix")
    logs = sorted((corpora / "claude-code" / "sessions").glob("*.jsonl"))[:12]
    report = memory.extract(logs)
    results = [
        one.result
        for each in report.recorded
        for one in memory.episodes.evidence(each.session, log=tmp_path / each.log)
    ]
    assert len(results) > 100
    assert sum(result in {"moved", "missing"} for result in results) <= len(results) // 100


def test_two_outcomes_at_once_are_no_answer(memory: Memory, capsys: pytest.CaptureFixture[str]) -> None:
    assert memory.root.is_dir()
    for flags in (["--failure", "--success"], ["--unknown", "--partial"]):
        assert run(["episode", "outcome", "s", *flags, "--because", "x"]) == 2
        assert "say which one" in capsys.readouterr().err
    assert memory.episodes.require("s").outcome_basis != "judged"


def test_a_link_that_leads_nowhere_is_told(memory: Memory, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert memory.root.is_dir()
    data = tmp_path / "data.json"
    data.write_text(json.dumps({"decisions": [{"type": "design", "chosen": "x", "effects": ["d009"]}]}))
    assert run(["episode", "new", "--session", "t", "--task", "t", "--outcome", "success", "--data", str(data)]) == 0
    assert "left out: the link d001 -> d009" in capsys.readouterr().err


def test_a_path_names_the_episodes_of_its_nodes(say: Say) -> None:
    nodes = say("path", "--from", "run ruff", "--to", "ruff fails")["path"]
    assert [list(node) for node in nodes] == [["id", "type", "label", "episodes", "frequency", "success_rate"]] * 2
    assert [node["episodes"] for node in nodes] == [["episode-s"]] * 2


def test_a_list_that_is_not_all_says_so(memory: Memory, capsys: pytest.CaptureFixture[str]) -> None:
    for name in "tuv":
        memory.episodes.new(name, "t", "success")
    assert run(["episode", "list", "--max-results", "3"]) == 0
    assert "The newest 3 of 4 sessions" in capsys.readouterr().out
    assert run(["episode", "list", "--max-results", "4"]) == 0
    assert "The newest" not in capsys.readouterr().out
