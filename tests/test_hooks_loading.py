"""What does each hook load, and is what it says what the API says?

An agent waits for hooks, and nearly all of their time is loading code (docs/reference). This holds for them what
`test_import` holds for the library: whoever makes a hook load more has to look at what that costs.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from advised_project import ADVICE, advised
from helix_graph import Memory
from helix_graph.insights import hook_queries
from helix_graph.insights.exposure_log import ExposureContext
from helix_graph.topics.ranking import busiest_topics, matching_entries

if TYPE_CHECKING:
    from pathlib import Path

FAILURE = "E   ModuleNotFoundError: No module named 'respx'\n1 failed in 0.10s"
#: What no hook can afford while somebody waits: each takes longer to load than half of what a tool's call may take, or
#: brings one of those with it.
NEVER = {
    "msgspec",
    "typing",
    "dataclasses",
    "inspect",
    "networkx",
    "numpy",
    "click",
    "rich",
    "jinja2",
    "helix_graph.memory",
}
DATABASE = {"sqlite3", "helix_graph.helix_db", "helix_graph.database"}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's sessions, some advice and a topic; no plan."""
    folder: Path = tmp_path_factory.mktemp("shop")
    memory = advised(folder)
    memory.insights.store("The courier API of the warehouse answers in pages of fifty parcels", ["courier"])
    memory.topics.store("courier", "The courier API counts pages from one, not from zero\nAsk it for fifty.\nNo more.")
    memory.topics.store("paint", "The garden fence is painted green")
    return folder


def loaded(event: str, folder: Path, **told: object) -> set[str]:
    """The modules that a hook loads beyond those of a bare interpreter, its child's among them."""
    command = "from helix_cli.entry import main; main()"
    stdin = json.dumps({"session_id": f"loads {event}", "cwd": str(folder), **told})
    return _imported([command, "hook", event], stdin) - _imported(["pass"], "")


def _imported(arguments: list[str], stdin: str) -> set[str]:
    environment = {**os.environ, "HELIX_HOOK_SECONDS": "60"}
    environment.pop("HELIX_DIR", None)
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", *arguments],
        input=stdin,
        capture_output=True,
        check=True,
        text=True,
        env=environment,
    )
    return {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if line.startswith("import time:")}


def test_a_tool_that_succeeded_loads_next_to_nothing(project: Path) -> None:
    modules = loaded("post-tool", project, tool_name="Bash", tool_response={"stdout": "3 passed"})
    assert modules.isdisjoint({*NEVER, *DATABASE, "json", "re", "pathlib"})
    assert "helix_cli.hooks.events" in modules
    # Words of a failure that is none: the payload is read, and nothing of the memory is.
    modules = loaded("post-tool", project, tool_name="Bash", tool_response={"stdout": "3 passed, 0 failed"})
    assert modules.isdisjoint({*NEVER, *DATABASE, "pathlib", "helix_cli.hooks.dispatch"})
    assert "helix_cli.hooks.call" in modules


def test_a_tool_about_to_be_called_opens_no_database(project: Path) -> None:
    modules = loaded("pre-tool", project, tool_name="Bash", tool_input={"command": "pytest -q"})
    assert modules.isdisjoint({*NEVER, *DATABASE, "helix_episodes.extraction.checks", "hashlib"})
    assert {"helix_graph.project", "helix_graph.trust"} <= modules  # whose memory it is costs no more than this module
    assert modules.isdisjoint({"helix_episodes.discovery", "helix_episodes.source_logs", "tempfile", "subprocess"})


def test_a_failure_loads_the_grammars_and_the_graph(project: Path) -> None:
    modules = loaded("tool-failure", project, tool_name="Bash", error=FAILURE)
    assert modules.isdisjoint({*NEVER, "helix_graph.helix_db", "helix_graph.graph.api", "hashlib"})
    assert {"helix_graph.graph.error_precedents", "helix_episodes.extraction.checks"} <= modules


def test_a_prompt_loads_the_words(project: Path) -> None:
    modules = loaded("user-prompt", project, prompt="why does the courier API count pages so oddly?")
    assert modules.isdisjoint({*NEVER, "helix_graph.insights.api", "helix_graph.topics.search", "hashlib"})
    assert {"helix_graph.insights.recall", "helix_graph.topics.ranking"} <= modules


def test_a_beginning_without_a_plan_loads_no_plans(project: Path) -> None:
    modules = loaded("session-start", project, source="startup")
    assert modules.isdisjoint({*NEVER, "helix_graph.insights.api", "helix_graph.plans.api", "hashlib"})
    assert {"helix_graph.insights.recall", "helix_graph.topics.ranking"} <= modules


@pytest.mark.parametrize(
    ("prompt", "fits"),
    [
        ("Make the courier answer in smaller pages, please", True),
        ("Look at the courier once more", False),
        ("why does one of the tests fail, and could you look into it and commit the fix?", False),
    ],
)
def test_two_rare_words_let_advice_fit_a_prompt(project: Path, prompt: str, *, fits: bool) -> None:
    assert bool(hook_queries.fitting(Memory.open(project).root, prompt, 3)) is fits


def test_a_beginning_brings_what_the_door_calls_proven(project: Path) -> None:
    memory = Memory.open(project)
    proven = hook_queries.proven(memory.root, 5)
    assert [one["content"] for one in proven] == [ADVICE]
    assert proven == memory.insights.proven()


@pytest.mark.parametrize("query", ["courier pages", "is the fence green or the courier late", "nothing of it"])
def test_a_prompt_finds_the_entries_that_search_finds(project: Path, query: str) -> None:
    memory = Memory.open(project)
    found = [(one.topic, one.text) for one in matching_entries(memory.root, query, limit=2)]
    hits = memory.topics.search(query, mode="or", limit=2, detail="full").hits
    assert found == [(hit.entry.topic, hit.entry.text) for hit in hits]


def test_a_beginning_names_the_topics_that_recent_names(project: Path) -> None:
    memory = Memory.open(project)
    recent = memory.topics.topics("recent", days=1).topics
    assert busiest_topics(memory.root, since=0, limit=5) == [(one.topic, one.entries) for one in recent]
    assert len(recent) == 2


def test_a_prompt_of_more_words_than_can_be_looked_for_finds_by_the_rarest(project: Path) -> None:
    many = " ".join(f"word{number}" for number in range(60))
    assert [one.topic for one in matching_entries(Memory.open(project).root, f"{many} fence painted", limit=2)] == [
        "paint"
    ]


def test_what_was_shown_is_noted_as_the_door_notes_it(tmp_path: Path) -> None:
    rows = []
    for folder in (tmp_path / "quick", tmp_path / "door"):
        memory = Memory(folder)
        name = memory.insights.store(ADVICE)["name"]
        if folder.name == "quick":
            hook_queries.log_shown(folder, [name, "nobody"], ExposureContext(session="one", about="the courier"))
        else:
            memory.insights.hand_over([name, "nobody"], session="one", about="the courier")
        exported = [json.loads(line) for line in memory.insights.export().splitlines()]
        rows.append([{**one, "ts": "", "query": ""} for one in exported if one.get("record") == "injection"])
    assert rows[0] == rows[1]
    assert len(rows[0]) == 1
