"""Does the loop close: explore, plan, build in waves, observe, and the next run is given what this one learnt?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from helix_graph import Memory
from stand_in import StandIn

if TYPE_CHECKING:
    from pathlib import Path

OBJECTIVE = "Ship parcels through the courier API"
PLAN: dict[str, Any] = {
    "objective": OBJECTIVE,
    "tasks": [
        {
            "seq": "001",
            "slug": "client",
            "objective": "Build the courier client with paging",
            "verify": "pytest -q tests/client",
        },
        {
            "seq": "002",
            "slug": "labels",
            "objective": "Print parcel labels for the warehouse",
            "verify": "pytest -q tests/labels",
        },
        {
            "seq": "003",
            "slug": "tracking",
            "objective": "Track parcels with the courier client",
            "depends": "001",
            "verify": "pytest -q",
        },
    ],
}
LEARNT = "When building the courier client, begin paging at one because the courier API counts pages from one"
BLOCKED = "the warehouse printer speaks no PDF"
REPORTS = {
    "001": f'INSIGHT: {{"content": "{LEARNT}", "tags": ["pattern"]}}\nDELIVERED: a client that pages',
    "002": f"BLOCKED: {BLOCKED}",
    "003": "DELIVERED: parcels can be tracked",
}
KNOWN = "When you build a courier client, set a timeout of ten seconds"


def run_once(project: Path, logs: Path, session: str) -> StandIn:
    agent = StandIn(project, logs, session=session)
    agent.begin(f"{OBJECTIVE}: build the courier client and print parcel labels")
    agent.explore({"client": "no client yet", "labels": "a printer is there"})
    agent.plan(PLAN)
    agent.build(REPORTS)
    agent.end()
    return agent


pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[StandIn, StandIn]:
    top = tmp_path_factory.mktemp("run")
    project = top / "project"
    (project / ".git").mkdir(parents=True)
    memory = Memory.init(project)
    memory.insights.store(KNOWN, ["pattern"])
    return run_once(project, top / "logs", "first"), run_once(project, top / "logs", "second")


def test_the_builders_came_in_two_waves(runs: tuple[StandIn, StandIn]) -> None:
    assert runs[0].waves == [("001", "002"), ("003",)]


def test_the_first_builder_was_given_what_was_known(runs: tuple[StandIn, StandIn]) -> None:
    assert KNOWN in runs[0].prompts["001"]
    assert "a client that pages" in runs[0].prompts["003"]  # what its parent delivered
    assert LEARNT not in "".join(runs[0].prompts[seq] for seq in ("001", "002"))


def test_the_second_run_receives_what_the_first_learnt(runs: tuple[StandIn, StandIn]) -> None:
    second = runs[1]
    assert LEARNT in second.heard["prompt"] + second.prompts["001"]
    assert BLOCKED in second.heard["prompt"] + second.prompts["002"]


def test_feedback_came_back(runs: tuple[StandIn, StandIn]) -> None:
    memory = runs[1].memory
    known = next(hit for hit in memory.insights.recall("courier client timeout", 5) if hit["content"] == KNOWN)
    assert known["use_count"] >= 2
    assert known["effectiveness"] != 0.5


def test_every_task_and_every_session_is_an_episode(runs: tuple[StandIn, StandIn]) -> None:
    memory = runs[1].memory
    outcomes = sorted(episode.outcome for episode in memory.episodes.list())
    assert len(outcomes) == 8  # two sessions, three tasks each
    assert outcomes.count("failure") == 2
    assert memory.episodes.get("second") is not None
    assert memory.graph.status().episodes == 8


def test_a_session_knows_what_was_put_into_it(runs: tuple[StandIn, StandIn]) -> None:
    episode = runs[1].memory.episodes.get("second")
    assert episode is not None
    assert episode.injected
    assert LEARNT not in json.dumps(episode.task)


def test_nothing_went_wrong_unseen(runs: tuple[StandIn, StandIn]) -> None:
    root = runs[1].memory.root
    assert not (root / "hooks.log").exists()
    assert "problem=" not in (root / "extraction.log").read_text()
    plan = runs[1].memory.plans
    assert plan.load() is None
    assert plan.status(1).blocked == 1
