"""The text forms of the seed document, as the commands print them, and the same answers as JSON."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from helix_cli.app import cli
from helix_graph import Memory
from helix_graph.topics.answer_texts import form_of
from topic_clock import Clock, topics_at

if TYPE_CHECKING:
    from pathlib import Path

    from helix_graph.topics.api import Topics

FFI = (
    "arm64 only for FFI bridge — Rust lib compiled arm64-only,\n"
    "must use -arch arm64 in xcodebuild. The default builds\n"
    "for both architectures and the Rust .a is only arm64."
)
CACHED = "CachedEntry holds pre-tokenized tf_map for zero-alloc search"


@pytest.fixture
def topics(tmp_path: Path) -> Topics:
    clock = Clock()
    made = topics_at(tmp_path, clock)
    clock.back(days=1)
    made.store("engine", CACHED, tags="architecture, performance", source="src/cache.rs:27", confidence=0.9)
    clock.back()
    made.store("build-gotchas", FFI, tags="gotcha")
    return made


def lines(answer: Any) -> list[str]:  # noqa: ANN401  (any answer)
    return form_of(answer).split("\n")


def test_store(topics: Topics) -> None:
    stored = topics.store("net", "x y", tags="architecture, performance", confidence=0.9)
    assert form_of(stored) == "stored in net [tags: architecture, performance] (~90%)"
    again = topics.store("engine", "CachedEntry has pre-tokenized tf_map")
    assert form_of(again) == f"stored in engine\n  dupe warning: {CACHED}"
    assert form_of(again, terse=True) == "stored in engine"


def test_batch(topics: Topics) -> None:
    entries = [
        {"topic": "api-design", "text": "REST"},
        {"topic": "api-design", "text": "Auth"},
        {"topic": "net", "text": "Max"},
    ]
    assert form_of(topics.batch(entries)) == "3 entries stored across 2 topics"


def test_search_full(topics: Topics) -> None:
    first, second, third = FFI.split("\n")
    expected = ["--- build-gotchas ---", "[tags: gotcha]", f"> {first}", f"  {second}", f"  {third}", ""]
    assert lines(topics.search("FFI bridge", detail="full")) == [*expected, "1 matching section(s)"]


@pytest.mark.parametrize(
    ("detail", "expected"),
    [
        (
            "medium",
            [
                f"  [engine] 2026-02-20 {CACHED} #architecture #performance",
                f"  [build-gotchas] 2026-02-21 {FFI.splitlines()[0]} #gotcha",
                f"    {FFI.splitlines()[1]}",
                "2 match(es)",
            ],
        ),
        ("brief", [f"  [engine] {CACHED}", f"  [build-gotchas] {FFI.splitlines()[0]}", "2 match(es)"]),
        ("count", ["2 match(es)"]),
        ("topics", ["build-gotchas: 1", "engine: 1"]),
        (
            "grouped",
            [
                "--- engine (1 entry) ---",
                f"  {CACHED}",
                "",
                "--- build-gotchas (1 entry) ---",
                f"  {FFI.splitlines()[0]}",
                "",
            ],
        ),
    ],
)
def test_search_in_every_other_detail(topics: Topics, detail: str, expected: list[str]) -> None:
    assert lines(topics.search("holds bridge", mode="or", detail=detail)) == expected
    notice = "(no exact match — showing OR results)"
    assert lines(topics.search("holds bridge", detail=detail)) == [notice, *expected]


def test_search_says_how_many_are_not_shown_and_why_there_are_none(topics: Topics) -> None:
    assert lines(topics.search("only holds", mode="or", limit=1, detail="brief"))[-1] in {
        "1 match(es)",
        "1 of 2 match(es)",
    }
    assert form_of(topics.search("arm64", limit=0)) == "0 of 1 match(es)"
    assert lines(topics.search("arm64", topic="engin"))[0] == "no matches for 'arm64'"
    assert 'did you mean "engine"' in lines(topics.search("arm64", topic="engin"))[1]
    assert lines(topics.search("nothing", detail="count")) == ["0 match(es)"]


def test_read(topics: Topics) -> None:
    text = "FFI bridge design: thin wrapper"
    topics.store("build-gotchas", text, tags="architecture", source="src/ffi.rs:15", links="engine:0")
    topics.edit("revise", "build-gotchas", text="arm64 only", index=0)
    assert lines(topics.read("build-gotchas")) == [
        "[0] 2026-02-21 06:11",
        "  [modified: 2026-02-21 06:11]",
        "  [tags: gotcha]",
        "  arm64 only",
        "",
        "[1] 2026-02-21 06:11",
        "  [tags: architecture]",
        "  [source: src/ffi.rs:15]",
        "  [links: engine:0]",
        f"  {text}",
        "",
        "2 entries in build-gotchas",
    ]
    assert lines(topics.read("build-gotchas", index=0))[0] == "[0] 2026-02-21 06:11"
    assert form_of(topics.read("engin")).startswith("no topic 'engin'; did you mean \"engine\"?")
    assert (
        lines(topics.topics("entries", topic="engine", match_str="cached"))[-1]
        == '1 of 1 entry in engine match "cached"'
    )


def test_edit(topics: Topics) -> None:
    assert form_of(topics.edit("append", "engine", text="more")) == "appended to entry [0] in engine"
    assert (
        form_of(topics.edit("tag", "engine", tags="hot", remove="architecture"))
        == "updated tags on engine: hot, performance"
    )
    assert form_of(topics.edit("rename", "engine", new_name="motor")) == "renamed engine → motor (1 entry)"
    assert (
        form_of(topics.edit("merge", "motor", into="build-gotchas")) == "merged 1 entry from motor into build-gotchas"
    )
    assert form_of(topics.edit("delete", "build-gotchas", index=0)).startswith(
        "removed entry [0] from build-gotchas: arm64"
    )
    assert form_of(topics.edit("delete", "build-gotchas", all=True)) == "deleted build-gotchas (1 entry)"


def test_the_overview_has_the_seeds_blocks(topics: Topics) -> None:
    topics.store("network", "Todo: implement retry backoff")
    assert lines(topics.brief()) == [
        "TOPICS: build-gotchas (1), engine (1), network (1)",
        "",
        "CATEGORIES: architecture 33%, gotchas 33%, gaps 33%",
        "",
        "HOT (last 48h):",
        "  build-gotchas: 1 new entry",
        "  engine: 1 new entry",
        "  network: 1 new entry",
        "",
        "GAPS:",
        "  [network] Todo: implement retry backoff",
        "",
        "STATS: 3 entries, 3 topics, newest: today",
    ]


def test_briefings_of_each_detail(topics: Topics) -> None:
    topics.batch(
        [{"topic": "engine", "text": f"Gotcha: trap{n} in part{n}", "links": "build-gotchas:0"} for n in range(12)]
    )
    summary = lines(topics.brief("engine"))
    assert summary[0] == "=== engine === 14 entries, 14 current, 2 topics"
    assert len(summary) <= 15
    assert "  [build-gotchas:0] " + FFI.splitlines()[0] + " #gotcha (linked from engine:1)" in summary
    scan = lines(topics.brief("engine", detail="scan"))
    assert "GOTCHAS (13)" in scan
    assert sum("trap" in line for line in scan) >= 12
    assert "    must use -arch arm64 in xcodebuild. The default builds" in lines(topics.brief("engine", detail="full"))
    assert lines(topics.brief("nosuch"))[0] == "No entries found for 'nosuch'."


def test_topics_actions(topics: Topics) -> None:
    assert form_of(topics.topics()) == "build-gotchas (1), engine (1)\n2 topics, 2 entries"
    assert form_of(topics.topics("recent", hours=12)) == "build-gotchas (1 new)"
    assert lines(topics.topics("stats")) == ["2 topics, 2 entries", "oldest: 2026-02-20", "newest: 2026-02-21"]
    assert "  #gotcha: 1" in lines(topics.topics("stats", detail="tags"))
    assert re.match(r"index: \d+ terms, \d+ postings", lines(topics.topics("stats", detail="index"))[-1])
    topics.store("network", "the engine and the cache", links="engine:0")
    assert (
        form_of(topics.topics("xref", topic="engine"))
        == "engine is referenced by: network (1)\nengine references: nothing"
    )
    assert form_of(topics.topics("graph")) == "  network → engine (1)"
    assert re.fullmatch(r"compacted: 3 entries, \d+ → \d+ bytes", form_of(topics.topics("compact")))
    assert (
        form_of(topics.topics("import", json='[{"topic":"test","text":"imported"}]'))
        == "imported 1 entry across 1 topic"
    )
    assert lines(topics.topics("prune", days=0))[-1].endswith("would be removed (dry run; apply removes them)")
    assert form_of(topics.topics("session")).startswith("HELIX KNOWLEDGE STORE: 4 entries across 4 topics.\nTopics: ")
    assert form_of(topics.topics("reindex")).startswith("reindexed: 4 entries")
    assert json.loads(form_of(topics.topics("export")))[0]["topic"] == "engine"


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:  # noqa: ANN401  (a function of arguments)
    monkeypatch.setenv("HELIX_DIR", str(tmp_path / ".helix"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("HELIX_DB_PATH", raising=False)
    Memory.init(tmp_path)

    def called(*arguments: str, stdin: str = "") -> str:
        done = CliRunner().invoke(cli, ["topic", *arguments], input=stdin, catch_exceptions=False)
        assert done.exit_code == 0, done.output
        return done.output

    return called


def test_every_command_answers_in_text_and_json(run: Any) -> None:  # noqa: ANN401  (as above)
    assert run("store", "Engine", "-", "--tags", "gotchas", stdin="the cache 😀") == "stored in engine [tags: gotcha]\n"
    assert json.loads(run("store", "engine", "two", "--json"))["entry"]["index"] == 1
    assert run("batch", "-", stdin='[{"topic":"a","text":"x1"}]') == "1 entry stored across 1 topic\n"
    assert json.loads(run("search", "cache", "--json"))["hits"][0]["entry"]["text"] == "the cache 😀"
    assert run("search", "cache", "--detail", "count") == "1 match(es)\n"
    assert json.loads(run("brief", "engine", "--json"))["collected"] == 2
    assert json.loads(run("brief", "--compact", "--json"))["entries"] == 3
    assert run("read", "engine", "--index", "1").endswith('"two"\n')
    assert run("edit", "append", "engine", "--text", "three", "--index", "1") == "appended to entry [1] in engine\n"
    assert run("topics") == "a (1), engine (2)\n2 topics, 3 entries\n"
    exported = run("topics", "export")
    assert len(json.loads(exported)) == 3
    assert json.loads(run("topics", "import", "--file", "-", "--json", stdin=exported))["already"] == 3
    assert json.loads(run("topics", "import", "--file", "-", "--json", "--force", stdin=exported))["entries"] == 3
    assert json.loads(run("topics", "prune", "--days", "0", "--json"))["applied"] is False


def test_global_topics_are_the_users(run: Any, tmp_path: Path) -> None:  # noqa: ANN401  (as above)
    run("store", "shared", "for every project", "--global")
    assert (tmp_path / "home" / ".helix-kb" / "helix.db").exists()
    assert run("topics") == "0 topics, 0 entries\n"
    assert run("topics", "--global").startswith("shared (1)")


def test_the_environment_may_name_another_file(run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ANN401  (as above)
    monkeypatch.setenv("HELIX_DB_PATH", str(tmp_path / "other.db"))
    run("store", "t", "text")
    assert (tmp_path / "other.db").exists()
    assert not (tmp_path / ".helix" / "helix.db").exists()


def test_control_characters_do_not_reach_the_terminal(run: Any) -> None:  # noqa: ANN401  (as above)
    run("store", "t", "red \x1b[31m alert")
    assert "\x1b" not in run("read", "t")
    assert json.loads(run("read", "t", "--json"))["entries"][0]["text"] == "red \x1b[31m alert"


def test_a_text_that_looks_like_metadata_is_told_apart(tmp_path: Path) -> None:
    topics = topics_at(tmp_path)
    topics.store("t", "[tags: evil]\n\n[source: x]\nin truth\n[links: a:1]", tags="good")
    topics.store("t", "\\[tags: evil] too")
    shown = form_of(topics.read("t")).split("\n")
    assert shown[1:7] == ["  [tags: good]", "  \\[tags: evil]", "", "  \\[source: x]", "  in truth", "  [links: a:1]"]
    assert "  \\\\[tags: evil] too" in shown
    assert "> \\[tags: evil]" in form_of(topics.search("evil truth", detail="full"))
    assert topics.read("t").entries[0].text.startswith("[tags: evil]")
