"""What does `helix-graph insight` print, for programs and for people, and what does it refuse?"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from helix_cli.app import run

if TYPE_CHECKING:
    from pathlib import Path

ADVICE = "When the cart test fails, look at the discount first"
NAME = "when-the-cart-test-fails-look-at-the-discount-fir"


@pytest.fixture(autouse=True)
def no_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No project and no `.helix`: the variable is all that is needed."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HELIX_DB_PATH", str(tmp_path / "one.db"))


def told(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> Any:  # noqa: ANN401  (whatever is answered)
    assert run(["insight", *arguments, "--json"]) == code
    out = capsys.readouterr().out
    return json.loads(out) if out else None


def test_answers_have_the_seeds_keys(capsys: pytest.CaptureFixture[str]) -> None:
    assert told(capsys, "store", "--content", ADVICE, "--tags", '["shop"]') == {
        "status": "added", "name": NAME, "reason": "",
    }  # fmt: skip
    answer = told(
        capsys, "feedback", "--names", f'["{NAME}"]', "--outcome", "delivered", "--causal-names", f'["{NAME}"]'
    )
    assert (answer["updated"], answer["causal"], answer["eroded"]) == (1, 1, 0)
    (hit,) = told(capsys, "recall", "cart discount", "--limit", "5", "--min-effectiveness", "0.3")
    keys = "name content effectiveness use_count created_at last_used tags causal_hits"
    assert set(hit) == {*keys.split(), "_relevance", "_effectiveness", "_recency", "_score", "_via"}
    assert told(capsys, "recall", "cart discount", "--suppress-names", f'["{NAME}"]') == []
    assert told(capsys, "get", NAME)["effectiveness"] == 0.55
    assert told(capsys, "decay", "--days", "30") == {"decayed": 0, "threshold_days": 30}
    assert told(capsys, "prune", "--threshold", "0.25", "--min-uses", "3")["remaining"] == 1
    assert told(capsys, "health")["status"] == "HEALTHY"
    assert told(capsys, "rebuild") == {"insights": 1, "changed": 0, "entries": 1}


def test_the_database_is_looked_up_in_every_call(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    told(capsys, "store", "--content", ADVICE)
    monkeypatch.setenv("HELIX_DB_PATH", str(tmp_path / "other" / "two.db"))
    assert told(capsys, "health")["total_insights"] == 0
    monkeypatch.delenv("HELIX_DB_PATH")
    assert run(["insight", "health"]) == 1
    assert "helix-graph sync" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["--verbose", "insight"], ["insight", "--verbose"]])
def test_verbose_logs_one_line_before_or_after_the_command(
    capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    before = arguments[0] == "--verbose"
    assert run(["insight", *(["--verbose", "health"] if before else ["health", "--verbose"])]) == 0
    line = json.loads(capsys.readouterr().err)
    assert set(line) == {"timestamp", "command", "args", "result_type", "result_size"}
    assert (line["command"], line["result_type"]) == ("health", "dict")


def test_what_is_asked_wrongly_is_refused_in_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, code, sentence in (
        (["get", "nobody"], 1, "no insight 'nobody'"),
        (["why", "nobody"], 1, "no insight 'nobody'"),
        (["feedback", "--names", "[]", "--outcome", "done"], 2, "it must be one of delivered"),
        (["feedback", "--names", "x", "--outcome", "delivered"], 2, "not a JSON list"),
        (["recall", " "], 2, "is empty"),
        (["recall", "x", "--min-relevance", "2"], 2, "--min-relevance"),
        (["decay", "--days", "0"], 2, "--days"),
        (["recall", "x", "--policy", "luck"], 2, "--policy"),
        (["import", "nowhere.jsonl"], 1, "cannot be imported"),
    ):
        assert run(["insight", *arguments]) == code, arguments
        assert sentence in capsys.readouterr().err


def test_lexical_mode_is_said_on_stderr_and_not_in_the_answer(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["insight", "recall", "cart", "--json"]) == 0
    printed = capsys.readouterr()
    assert (printed.out, "only words were compared" in printed.err) == ("[]\n", True)


def test_every_command_speaks_to_people(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    other = "when-the-lock-hangs-look-at-the-timeout-setting"
    calls = {
        ("store", "--content", ADVICE): "added",
        ("store", "--content", "When the lock hangs, look at the timeout setting"): other,
        ("chunk", "--task-objective", "Add auth", "--outcome", "success", "--approach", "Depends()"): "added",
        ("relate", NAME, other, "--rel-type", "causes"): "added",
        ("connected", NAME): other,
        ("neighbors", NAME): "causes",
        ("feedback", "--names", f'["{NAME}", "x"]', "--outcome", "delivered", "--id", "7"): "not known: x",
        ("recall", "cart discount"): ADVICE,
        ("get", NAME): "55 %",
        ("why", NAME): "delivered  causal",
        ("edit", NAME, "--tags", '["shop"]'): "active",
        ("mute", NAME): "muted",
        ("reject", NAME, "--reason", "wrong"): "rejected",
        ("reject", NAME, "--off"): "active",
        ("promote", NAME, "--anyway"): f"+- {ADVICE}",
        ("decay",): "0 insights moved",
        ("prune",): "would be removed",
        ("consolidate",): "0 insights merged",
        ("reindex",): "no model",
        ("rebuild",): "Recomputed 3 insights from 1 entry",
        ("health",): "HEALTHY",
        ("export",): "helix-insights",
        ("export", "--output", str(tmp_path / "out.jsonl")): "records written",
        ("import", str(tmp_path / "out.jsonl")): "New: 0 insights",
        ("forget", other): "1 insight forgotten",
    }
    for arguments, expected in calls.items():
        assert run(["insight", *arguments]) == 0, arguments
        assert expected in capsys.readouterr().out, arguments


def test_a_question_by_words_loads_nothing_that_it_does_without(
    capsys: pytest.CaptureFixture[str],
) -> None:
    told(capsys, "store", "--content", ADVICE)
    code = """
import sys
from helix_cli.app import run
assert run(["insight", "recall", "cart discount", "--lexical", "--json"]) == 0
rules = {f"helix_graph.insights.{part}" for part in ("safety", "sameness", "checking", "lots")}
heavy = {"numpy", "tomllib", "helix_graph.embedding.choice", "helix_graph.tombstones", *rules} & set(sys.modules)
print(heavy, file=sys.stderr)
"""
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert [hit["name"] for hit in json.loads(process.stdout)] == [NAME]
    assert process.stderr.strip() == "set()"
