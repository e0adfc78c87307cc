"""What do the commands print that join insights to the graph: harvest, link, match, connected, feedback, uplift?"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from helix_cli.app import run as helix_graph
from helix_graph import Memory
from learnt_world import remember, repaired

if TYPE_CHECKING:
    from pathlib import Path


class Said(NamedTuple):
    """What a command printed."""

    out: str
    err: str


Run = Callable[..., Said]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs commands in a project with two episodes."""
    remember(tmp_path, repaired("one"), repaired("two", day=2, outcome="partial"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("HELIX_DB_PATH", raising=False)

    def command(*words: str, code: int = 0) -> Said:
        assert helix_graph(["insight", *words]) == code
        return Said(*capsys.readouterr())

    return command


def answer(run: Run, *words: str) -> Any:  # noqa: ANN401  (JSON)
    return json.loads(run(*words, "--json").out)


def test_the_loop_from_an_episode_to_feedback(run: Run) -> None:
    assert run("harvest", "--dry-run").out.splitlines()[1] == (
        "2 episodes: 0 lessons, 2 verified fixes. 1 would be added, 0 already stored, "
        "0 merged into insights that a person or agent had stored."
    )
    (name,) = answer(run, "harvest")["added"]
    assert [one["name"] for one in answer(run, "recall", "pytest KeyError discount", "--policy", "seed")] == [name]
    done = run("feedback", "--episode", "one", "--names", json.dumps([name]), "--explain")
    assert f"{name}: causal: taken up, and a path of strength" in done.err
    assert "delivered: 1 insight moved (1 causal, 0 eroded)" in done.out
    assert "says nothing about an insight" in run("feedback", "--episode", "two").out
    assert answer(run, "why", name)["use_count"] == 1


def test_links_and_where_they_lead(run: Run) -> None:
    name = answer(run, "store", "--content", "Look at the discount before the tax")["name"]
    linked = run("link", name, "--node-type", "decision", "--text", "Edit shop/cart.py", "--episode", "one").out
    assert linked == f"added  {name} -addresses-> edit source (.py)  (hand, 1.00)\n"
    assert "edit source (.py)" in run("connected", name).out
    assert run("match", name).out == "No insight matches a graph node, by label or by vector.\n"


def test_uplift_and_its_ranking_say_that_it_is_too_early(run: Run) -> None:
    assert run("uplift").out.splitlines() == [
        "0 injections with a known outcome.",
        "all together: too early (0 given, 0 withheld)",
    ]
    assert answer(run, "uplift")["pooled"]["verdict"] == "too early"
    refused = run("recall", "anything", "--policy", "uplift", code=1)
    assert "too early: 0 of 200 injections" in refused.err


@pytest.mark.parametrize(
    "words",
    [
        ("--names", "[]", "--causal-names", "[]"),
        ("--episode", "one", "--outcome-text", "done"),
        ("--outcome", "delivered"),
    ],
)
def test_feedback_needs_names_and_outcome_or_an_episode(run: Run, words: tuple[str, ...]) -> None:
    run("feedback", *words, code=2)


def test_another_database_within_a_project_is_still_this_memorys(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    (own,) = answer(run, "harvest")["added"]
    other = tmp_path_factory.mktemp("other") / "insights.db"
    monkeypatch.setenv("HELIX_DB_PATH", str(other))
    assert answer(run, "recall", "pytest KeyError discount") == []
    assert answer(run, "harvest")["added"] == [own]
    done = run("feedback", "--episode", "one", "--names", json.dumps([own]))
    assert "delivered: 1 insight moved" in done.out
    memory = Memory.open()
    report = memory.forget(["one", "two"])
    assert report.proof
    assert report.proof.whole
    for path in (other, memory.root / "helix.db"):
        assert b"KeyError" not in path.read_bytes()
        assert b"episode-one" not in path.read_bytes()


def test_what_is_left_in_the_other_database_is_found(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    other = tmp_path_factory.mktemp("other") / "insights.db"
    monkeypatch.setenv("HELIX_DB_PATH", str(other))
    run("store", "--content", "A person says: mind that pytest: 1 failed, KeyError: 'discount' in cart.py:12")
    proof = Memory.open().forget(["one", "two"]).proof
    assert proof
    assert [trace.file for trace in proof.left] == [other.as_posix()]
