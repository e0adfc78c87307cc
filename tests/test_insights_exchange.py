"""Is an import, twice or in any order, the same memory? Drawn histories of memories, and the original's files."""

from __future__ import annotations

import sqlite3
import tempfile
from datetime import UTC, datetime, timedelta
from itertools import permutations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from exports import unmarked
from helix_graph.errors import InvalidImport
from helix_graph.insights.api import Insights
from helix_graph.insights.dedup import absorb, join_insights
from helix_graph.insights.model import ORIGINS, Insight
from thoroughness import examples

if TYPE_CHECKING:
    from helix_graph.insights.model import Origin

TEXTS = [f"Advice number {place} about the {'x' * place} part of the shop" for place in range(4)]
#: Each example makes six memories with dozens of durable writes; a run of 150 was made when this was written.
EXAMPLES = 4
#: Making a failing example smaller would take minutes.
PHASES = [Phase.explicit, Phase.reuse, Phase.generate]
STEPS = st.lists(
    st.tuples(
        st.sampled_from(
            [
                "store",
                "tagged",
                "delivered",
                "blocked",
                "eroded",
                "edit",
                "mute",
                "reject",
                "forget",
                "relate",
                "merge",
                "decay",
            ]
        ),
        st.integers(0, 3),
        st.integers(0, 40),
    ),
    max_size=9,
)


def live(folder: Path, steps: list[tuple[str, int, int]], *, start: int) -> Insights:
    """A memory after a history; each has a clock of its own."""
    now = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=start)
    insights = Insights(folder / f"{start}.db", clock=lambda: now)
    names: dict[int, str] = {}
    for deed, place, days in steps:
        now += timedelta(days=days, seconds=7)
        if place not in names:
            names[place] = insights.store(TEXTS[place])["name"]
            continue
        act(insights, deed, place, names)
    return insights


def act(insights: Insights, deed: str, place: int, names: dict[int, str]) -> None:
    name, other = names[place], names[min(names)]
    deeds: dict[str, Any] = {
        "store": lambda: insights.store(TEXTS[place].upper()),
        "tagged": lambda: insights.store(TEXTS[place], [f"tag-{place}"]),
        "delivered": lambda: insights.feedback([name, other], "delivered", id=f"task-{place}"),
        "blocked": lambda: insights.feedback([name], "blocked"),
        "eroded": lambda: insights.feedback([name, other], "delivered", [other]),
        "edit": lambda: insights.edit(name, f"{TEXTS[place]}, as a person has it", [f"by-{place}"]),
        "mute": lambda: insights.mute(name),
        "reject": lambda: insights.reject(name, "wrong"),
        "relate": lambda: insights.relate(name, other, "causes"),
        "merge": insights.consolidate,
        "decay": insights.decay,
        "forget": lambda: (insights.forget([name]), names.pop(place)),
    }
    deeds[deed]()


def state(insights: Insights) -> tuple[str, list[tuple[Any, ...]]]:
    """All of a memory that does not depend on the order of its rows.

    Of several that ask for one name, that is the name of the first to come.
    """
    insights.reindex()
    with sqlite3.connect(insights.path) as connection:
        rows = connection.execute(
            "SELECT uid, CASE (SELECT count(*) FROM insight o WHERE o.slug = insight.slug) WHEN 1 THEN name END,"
            " effectiveness, use_count, causal_hits, last_used, last_feedback_at, decayed_until, state"
            " FROM insight ORDER BY uid"
        ).fetchall()
    connection.close()
    return unmarked(insights.export()), rows


@settings(max_examples=examples(EXAMPLES), deadline=None, phases=PHASES, suppress_health_check=[HealthCheck.too_slow])
@given(histories=st.tuples(STEPS, STEPS, STEPS))
@pytest.mark.slow
def test_importing_in_any_order_and_twice_gives_the_same_memory(histories: tuple[Any, Any, Any]) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        exports = []
        for place, steps in enumerate(histories):
            exports.append(folder / f"{place}.jsonl")
            live(folder, steps, start=place).export_to(exports[-1])
        found = []
        for number, order in enumerate(([0, 1, 2], [2, 1, 0, 2], [1, 2, 0, 1])):
            merged = Insights(folder / f"merged-{number}.db")
            for place in order:
                merged.import_from(exports[place])
            found.append(state(merged))
        assert all(one == found[0] for one in found)


@settings(max_examples=examples(EXAMPLES), deadline=None, phases=PHASES, suppress_health_check=[HealthCheck.too_slow])
@given(steps=STEPS)
@example(steps=[("eroded", 2, 24), ("eroded", 1, 0), ("forget", 1, 33), ("store", 0, 0), ("eroded", 2, 21)])
@example(steps=[("tagged", 1, 0), ("tagged", 2, 0), ("eroded", 2, 1), ("forget", 1, 1)])
@pytest.mark.slow
def test_a_memory_comes_back_from_its_export_and_from_a_rebuild(steps: list[tuple[str, int, int]]) -> None:
    with tempfile.TemporaryDirectory() as name:
        insights = live(Path(name), steps, start=0)
        insights.export_to(Path(name) / "out.jsonl")
        copy = Insights(Path(name) / "copy.db")
        copy.import_from(Path(name) / "out.jsonl", own=True)
        assert state(copy) == state(insights)
        assert insights.rebuild()["changed"] == 0


RECORDS = st.builds(
    Insight,
    uid=st.just("u"),
    slug=st.sampled_from(["a", "b"]),
    content=st.sampled_from(["one", "two", "three"]),
    created_at=st.sampled_from(["1", "2"]),
    tags=st.sampled_from([(), ("x",), ("y", "z")]),
    origin=st.sampled_from(["told", "derived"]),
    edited_at=st.sampled_from(["", "3", "4"]),
    tagged_at=st.sampled_from(["", "3"]),
    state=st.sampled_from(["active", "muted", "rejected"]),
    state_at=st.sampled_from(["", "3", "4"]),
    episode=st.sampled_from(["", "e1", "e2"]),
)


@given(RECORDS, RECORDS, RECORDS)
def test_joining_records_does_not_depend_on_order_or_number(one: Insight, two: Insight, three: Insight) -> None:
    assert join_insights(one, one) == one
    assert join_insights(one, two) == join_insights(two, one)
    assert join_insights(join_insights(one, two), three) == join_insights(one, join_insights(two, three))


@pytest.mark.parametrize(("one", "other"), [*permutations(ORIGINS, 2)])
def test_two_records_and_two_insights_trust_the_same_origin(one: Origin, other: Origin) -> None:
    first = Insight(uid="u", slug="a", content="the same words", created_at="1", origin=one)
    second = replace(first, origin=other)
    assert join_insights(first, second).origin == absorb(first, second).origin == min(one, other, key=ORIGINS.index)


def test_what_was_learnt_here_stays_so_when_others_know_it_too() -> None:
    here = Insight(uid="u", slug="a", content="the same words", created_at="1", origin="derived")
    for origin in ("agent", "imported"):
        assert join_insights(here, replace(here, origin=origin)).origin == "derived"


def test_two_insights_that_ask_for_one_name_both_have_one(tmp_path: Path) -> None:
    beginning = "The very same beginning of a text, as long as a name may be"
    exports = []
    for place in range(2):
        now = datetime(2026, 1, 2 - place, tzinfo=UTC)
        one = Insights(tmp_path / f"{place}.db", clock=lambda now=now: now)  # type: ignore[misc]
        one.store(f"{beginning} and end {place}")
        exports.append(tmp_path / f"{place}.jsonl")
        one.export_to(exports[-1])
    merged = Insights(tmp_path / "merged.db")
    for path in exports:
        merged.import_from(path)
    hits = {hit["content"][-1]: hit["name"] for hit in merged.recall(beginning)}
    assert hits["0"] == "the-very-same-beginning-of-a-text-as-long-as-a-na", "the first to come, whatever its date"
    assert hits["0"] != hits["1"]


def test_what_was_forgotten_does_not_come_back_by_import_but_can_be_told_again(tmp_path: Path) -> None:
    insights = Insights(tmp_path / "helix.db")
    name = insights.store(TEXTS[0])["name"]
    insights.feedback([name], "delivered")
    insights.export_to(tmp_path / "before.jsonl")
    assert insights.forget([name]) == {"forgotten": [name], "remaining": 0}
    assert b"Advice number" not in b"".join(path.read_bytes() for path in tmp_path.glob("helix.db*"))
    insights.import_from(tmp_path / "before.jsonl")
    assert insights.get(name) is None
    assert insights.store(TEXTS[0])["status"] == "added"
    found = insights.get(name)
    assert found is not None
    assert found["use_count"] == 0


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}\n",
        '{"record":"helix-insights","version":1}\nnot json\n',
        '{"record":"helix-insights","version":1}\n{"record":"x"}\n',
    ],
)
def test_a_damaged_file_is_refused_whole_and_by_line(tmp_path: Path, text: str) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text(text)
    insights = Insights(tmp_path / "helix.db")
    with pytest.raises(InvalidImport, match=r"in\.jsonl"):
        insights.import_from(path)
    assert insights.health()["total_insights"] == 0


def original(path: Path, script: str) -> Path:
    connection = sqlite3.connect(path)
    connection.executescript(script)
    connection.close()
    return path


SEED = """
CREATE TABLE insight (id INTEGER PRIMARY KEY, name TEXT UNIQUE, content TEXT, embedding BLOB, effectiveness REAL,
    use_count INTEGER, causal_hits INTEGER, created_at TEXT, last_used TEXT, last_feedback_at TEXT, tags TEXT);
INSERT INTO insight VALUES (1, 'old-advice', 'Old advice from the original memory', NULL, 0.8, 6, 3,
    '2026-01-01T10:00:00', '2026-01-05T10:00:00', NULL, '["ci"]');
INSERT INTO insight VALUES (2, 'zero', 'Advice that never once helped', NULL, 0.0, 9, 9, 'when?', NULL, NULL, 'ci');
"""
FIRST = """
CREATE TABLE memory (id INTEGER PRIMARY KEY, name TEXT, type TEXT, trigger TEXT, resolution TEXT, embedding BLOB,
    helped INTEGER, failed INTEGER, created_at TEXT, last_used TEXT, source TEXT);
CREATE TABLE memory_edge (from_name TEXT, to_name TEXT, rel_type TEXT, weight REAL, created_at TEXT);
INSERT INTO memory VALUES (1, 'circular', 'failure', 'circular import', 'move the types', NULL, 3, 1,
    '2026-01-01T10:00:00', NULL, 'x');
INSERT INTO memory VALUES (2, 'auth', 'pattern', 'FastAPI auth', 'use Depends()', NULL, 0, 0,
    '2026-01-01T10:00:00', NULL, 'x');
INSERT INTO memory_edge VALUES ('circular', 'auth', 'co_occurs', 0.9, '2026-01-01T10:00:00');
"""


def test_the_originals_database_comes_in_without_losing_anything(tmp_path: Path) -> None:
    insights = Insights(tmp_path / "helix.db")
    path = original(tmp_path / "seed.db", SEED)
    first = insights.import_from(path, own=True)
    assert (first["insights"], first["feedback"]) == (2, 2)
    before = state(insights)
    insights.import_from(path, own=True)
    assert state(insights) == before
    found = insights.get("old-advice")
    assert found is not None
    assert (found["effectiveness"], found["use_count"], found["causal_hits"], found["tags"]) == (0.8, 6, 3, ["ci"])
    zero = insights.get("zero")
    assert zero is not None
    assert (zero["effectiveness"], zero["tags"]) == (0.0, [])
    assert insights.prune(yes=True)["removed"] == ["zero"]
    insights.feedback(["old-advice"], "delivered")
    assert insights.rebuild()["changed"] == 0
    assert insights.recall("advice original memory")[0]["effectiveness"] == 0.82


def test_the_older_form_comes_in_with_what_helped_as_causal_hits(tmp_path: Path) -> None:
    insights = Insights(tmp_path / "helix.db")
    assert insights.import_from(original(tmp_path / "first.db", FIRST), own=True)["links"] == 1
    (hit,) = insights.recall("circular import")
    assert (hit["effectiveness"], hit["_effectiveness"], hit["use_count"]) == (0.75, 0.562, 4)
    assert [one["name"] for one in insights.connected("circular")] == ["auth"]
    (taken_over,) = insights.why(hit["name"])["feedback"]
    assert (taken_over["kind"], taken_over["causal"]) == ("given", False)  # what it was given for, nobody knows
    (memory,) = insights.first_form.recall("circular import", type="failure")
    assert (memory["trigger"], memory["resolution"], memory["helped"]) == ("circular import", "move the types", 3)


@pytest.mark.parametrize("end", ["\u2028", "\u2029"])
def test_a_text_with_a_line_end_of_another_alphabet_comes_back(tmp_path: Path, end: str) -> None:
    ann, bob = Insights(tmp_path / "ann.db"), Insights(tmp_path / "bob.db")
    ann.store(f"Retry the parcel service once{end}with the idempotency key")
    ann.export_to(tmp_path / "backup.jsonl")
    bob.import_from(tmp_path / "backup.jsonl", own=True)
    assert unmarked(bob.export()) == unmarked(ann.export())


def test_two_who_exchange_exports_have_each_insight_once(tmp_path: Path) -> None:
    """Edited ones too, whose ids do not follow from their texts; what one's own file brings is one's own."""
    ann, bob = Insights(tmp_path / "ann.db"), Insights(tmp_path / "bob.db")
    edited = ann.store("Look at the log of the run before anything else")["name"]
    ann.edit(edited, "Look at the log of the whole run before anything else")
    for _ in range(3):
        for one, other in ((ann, bob), (bob, ann)):
            one.export_to(tmp_path / "out.jsonl")
            other.import_from(tmp_path / "out.jsonl")
    assert (ann.health()["total_insights"], bob.health()["total_insights"]) == (1, 1)
    assert bob.why(edited)["said_by"]
    ann.export_to(tmp_path / "out.jsonl")
    bob.import_from(tmp_path / "out.jsonl", own=True)
    assert (bob.health()["total_insights"], bob.why(edited)["said_by"]) == (1, "")


def test_of_two_that_took_each_other_in_elsewhere_one_stays(tmp_path: Path) -> None:
    """Ann's memory merged the one text into the other, Bob's the other into the one: joined, neither may be lost."""
    text = "Set the discount before the tax when an order is refunded"
    joined = Insights(tmp_path / "joined.db")
    for person, used in (("ann", 0), ("bob", 1)):
        insights = Insights(tmp_path / f"{person}.db")
        names = [insights.store(one)["name"] for one in (text, "Look at the log of the whole run first")]
        insights.edit(names[1], text.upper())
        insights.feedback([names[used]], "delivered", id=person)
        assert [one["kept"] for one in insights.consolidate()["pairs"]] == [names[used]]
        insights.export_to(tmp_path / "out.jsonl")
        joined.import_from(tmp_path / "out.jsonl")
    assert [one["content"].casefold() for one in joined.newest()] == [text.casefold()]


def test_anothers_database_has_no_rank_and_no_word_of_this_projects_people(tmp_path: Path) -> None:
    insights = Insights(tmp_path / "helix.db")
    insights.import_from(original(tmp_path / "seed.db", SEED.replace('["ci"]', '["ci", "user-provided"]')))
    found = insights.get("old-advice")
    assert found is not None
    assert (found["effectiveness"], found["use_count"], found["tags"]) == (0.5, 0, ["ci"])
    assert insights.proven() == []


@pytest.mark.parametrize(
    ("given", "odd"),
    [
        ("0.8, 6, 3", "'much', 6, 3"),
        ("0.8, 6, 3", "0.8, 9e999, 3"),
        ("0.8, 6, 3", "0.8, -6, 3"),
        ("0.8, 6, 3", "0.8, 9223372036854775807, 3"),
        ('["ci"]', "[" * 200_000),
        ("2026-01-01T10:00:00", "2999-01-01T10:00:00"),
    ],
    ids=lambda value: value[:20],
)
def test_a_database_with_an_odd_row_is_refused_and_nothing_comes_in(tmp_path: Path, given: str, odd: str) -> None:
    assert given in SEED
    insights = Insights(tmp_path / "helix.db")
    with pytest.raises(InvalidImport, match=r"seed\.db"):
        insights.import_from(original(tmp_path / "seed.db", SEED.replace(given, odd)))
    assert insights.health()["total_insights"] == 0


@pytest.mark.parametrize(
    "made",
    [
        "CREATE TABLE insight (name, content, slow AS (instr(hex(zeroblob(9)), 'b')) VIRTUAL)",
        "CREATE TABLE memory (name, content, slow AS (instr(hex(zeroblob(9)), 'b')) STORED)",
        "CREATE VIRTUAL TABLE insight USING fts5 (name, content)",
    ],
)
def test_a_database_that_works_something_out_is_refused(tmp_path: Path, made: str) -> None:
    """It may take any time, and no signal ends it."""
    with sqlite3.connect(tmp_path / "gift.db") as connection:
        connection.execute(made)
        table = "memory" if "memory" in made else "insight"
        connection.execute(f"INSERT INTO {table} (name, content) VALUES ('x', 'Retry the parcel service once more')")  # noqa: S608  (constants)
    connection.close()
    insights = Insights(tmp_path / "helix.db")
    with pytest.raises(InvalidImport, match="worked out, so that the original did not write it"):
        insights.import_from(tmp_path / "gift.db")
    assert insights.newest() == []


def test_a_file_of_another_program_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidImport, match="neither a table"):
        Insights(tmp_path / "helix.db").import_from(original(tmp_path / "x.db", "CREATE TABLE x (y)"))
