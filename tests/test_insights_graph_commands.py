"""What do the commands print that join insights to the graph: harvest, link, match, connected, feedback, uplift?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from helix_cli.app import app
from learnt_world import remember, repaired

if TYPE_CHECKING:
    from pathlib import Path

    from click.testing import Result


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    remember(tmp_path, repaired("one"), repaired("two", day=2, outcome="partial"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("HELIX_DB_PATH", raising=False)


def run(*words: str, code: int = 0) -> Result:
    done = CliRunner().invoke(app, ["insight", *words])
    assert done.exit_code == code, done.output
    return done


def answer(*words: str) -> Any:  # noqa: ANN401  (JSON)
    return json.loads(run(*words, "--json").stdout)


@pytest.mark.usefixtures("memory")
def test_the_loop_from_an_episode_to_feedback() -> None:
    assert run("harvest", "--dry-run").stdout.splitlines()[1] == (
        "2 episodes: 0 lessons, 2 verified fixes. 1 would be added, 0 known, 0 told already."
    )
    (name,) = answer("harvest")["added"]
    assert [one["name"] for one in answer("recall", "pytest KeyError discount", "--policy", "seed")] == [name]
    done = run("feedback", "--episode", "one", "--names", json.dumps([name]), "--explain")
    assert f"{name}: causal: taken up, and a path of strength" in done.stderr
    assert "delivered: 1 insight moved (1 causal, 0 eroded)" in done.stdout
    assert "no verdict on an insight" in run("feedback", "--episode", "two").stdout
    assert answer("why", name)["use_count"] == 1


@pytest.mark.usefixtures("memory")
def test_links_and_where_they_lead() -> None:
    name = answer("store", "--content", "Look at the discount before the tax")["name"]
    linked = run("link", name, "--node-type", "decision", "--text", "Edit shop/cart.py", "--episode", "one").stdout
    assert linked == f"added  {name} -addresses-> edit source (.py)  (hand, 1.00)\n"
    assert "edit source (.py)" in run("connected", name).stdout
    assert run("match", name).stdout == "No text speaks of a node, as far as labels and vectors tell.\n"


@pytest.mark.usefixtures("memory")
def test_uplift_and_its_ranking_say_that_it_is_too_early() -> None:
    assert run("uplift").stdout.splitlines() == [
        "0 injections with a known outcome.",
        "all together: too early (0 given, 0 withheld)",
    ]
    assert answer("uplift")["pooled"]["verdict"] == "too early"
    refused = run("recall", "anything", "--policy", "uplift", code=1)
    assert "too early: 0 of 200 injections" in refused.output


@pytest.mark.usefixtures("memory")
@pytest.mark.parametrize(
    "words",
    [("--names", "[]"), ("--episode", "one", "--outcome-text", "done"), ("--outcome", "delivered")],
)
def test_feedback_needs_names_and_outcome_or_an_episode(words: tuple[str, ...]) -> None:
    run("feedback", *words, code=2)
