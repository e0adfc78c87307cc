"""What was decided before in such a situation?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from helix_episodes.errors import InvalidArgument
from helix_episodes.model import Action, Decision, Episode, Evidence
from helix_episodes.store import encode_episode
from helix_graph import Memory
from helix_graph.errors import GraphNotCompiled, OutOfRange

if TYPE_CHECKING:
    from pathlib import Path

    from helix_graph.graph.similar_decisions import SimilarDecision


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    (tmp_path / "episodes").mkdir()
    return Memory(tmp_path)


def keep(memory: Memory, name: str, *texts: str, day: int = 1, **fields: Any) -> None:  # noqa: ANN401  (fields of an Episode)
    """A session with a decision for each text: ``situation | choice | reason``."""
    parts = [[part.strip() for part in text.split("|")] for text in texts]
    decisions = tuple(
        Decision(
            id=f"d{place:03}",
            timestamp=None,
            type="design",
            context=context,
            chosen=chosen,
            rationale=rationale,
            action=Action(verb="choose", object=chosen),
            evidence=Evidence(line=10 * place, quote=f"quoted {chosen}"),
        )
        for place, (context, chosen, rationale) in enumerate(parts, 1)
    )
    given = {"outcome": "success", "outcome_basis": "measured", "task": "shop", "decisions": decisions} | fields
    episode = Episode(id=f"episode-{name}", session=name, timestamp=f"2026-03-{day:02}T10:00:00Z", **given)
    (memory.root / "episodes" / f"{episode.id}.json").write_bytes(encode_episode(episode))


def asked(memory: Memory, text: str, *, limit: int = 5) -> tuple[SimilarDecision, ...]:
    memory.graph.compile()
    return memory.causality.similar(text, limit=limit).decisions


def sessions(found: tuple[SimilarDecision, ...]) -> list[str]:
    return [one.session for one in found]


def test_a_decision_is_told_with_its_outcome_and_where_it_stands(memory: Memory) -> None:
    keep(
        memory, "a", "the parcel service times out | retry with a pause | it answers the second time", outcome="failure"
    )
    (one,) = asked(memory, "the parcel service is slow")
    assert (one.chosen, one.context, one.rationale) == (
        "retry with a pause",
        "the parcel service times out",
        "it answers the second time",
    )
    assert (one.outcome, one.basis, one.decision_outcome) == ("failure", "measured", "unknown")
    assert (one.session, one.date, one.line, one.quote) == (
        "a",
        "2026-03-01T10:00:00Z",
        10,
        "quoted retry with a pause",
    )
    assert one.words == ("parcel", "service")


def test_rare_words_count_more_than_common_ones(memory: Memory) -> None:
    for name in "abcdef":
        keep(memory, name, "the order fails | look at the order | the order knows")
    keep(memory, "rare", "the invoice fails | look at the total | the total knows")
    assert sessions(asked(memory, "order or invoice?", limit=1)) == ["rare"]


@pytest.mark.parametrize("text", ["retrying", "RETRIES", "parcels timing out"])
def test_forms_of_a_word_meet(memory: Memory, text: str) -> None:
    keep(memory, "a", "a parcel | retry | timed")
    keep(memory, "b", "an invoice | look | nothing")
    assert sessions(asked(memory, text)) == ["a"]


def test_the_task_of_the_session_counts_too(memory: Memory) -> None:
    keep(memory, "a", "x | look | y", task="migrate the database")
    keep(memory, "b", "x | look | y", task="paint the buttons")
    assert sessions(asked(memory, "a database migration")) == ["a"]


def test_each_session_is_shown_by_its_best_decision(memory: Memory) -> None:
    keep(memory, "a", "parcel | wait | slow", "parcel timeout | retry | slow", "invoice | add | right")
    (one,) = asked(memory, "parcel timeout")
    assert (one.decision, one.others) == ("d002", 1)


def test_of_equally_alike_decisions_the_newest_comes_first(memory: Memory) -> None:
    for name, day in (("a", 2), ("b", 5), ("c", 5), ("d", 1)):
        keep(memory, name, "parcel | wait | slow", day=day)
    assert sessions(asked(memory, "parcel", limit=3)) == ["b", "c", "a"]


def test_what_was_compared_is_said(memory: Memory) -> None:
    for name in "abc":
        keep(memory, name, "parcel | wait | slow")
    memory.graph.compile()
    found = memory.causality.similar("the parcel and the dragon", limit=2)
    assert (found.looked_for, found.not_met, found.sessions) == (("parcel", "dragon"), ("dragon",), 3)
    assert "not meanings" in found.compares
    assert memory.causality.similar("dragon").decisions == ()


def test_what_people_only_assert_is_no_earlier_decision(memory: Memory) -> None:
    memory.graph.compile()
    memory.graph.add_causal_node("decision", "retry the parcel")
    assert asked(memory, "parcel") == ()


def test_the_way_to_a_memory_does_not_matter(memory: Memory, tmp_path: Path) -> None:
    texts = {"a": "parcel timeout | retry | slow", "b": "parcel | wait | slow", "c": "order | add | parcel"}
    for name in "cab":
        keep(memory, name, "order | to be replaced | soon")
        memory.graph.compile()
        keep(memory, name, texts[name])
        memory.graph.compile()
    keep(memory, "gone", "parcel timeout | gone | slow")
    memory.graph.compile()
    (memory.root / "episodes" / "episode-gone.json").unlink()
    fresh = Memory(tmp_path / "fresh")
    (fresh.root / "episodes").mkdir(parents=True)
    for name, text in texts.items():
        keep(fresh, name, text)
    for text in ("parcel timeout", "order", "replaced", "slow add"):
        assert asked(memory, text) == asked(fresh, text)


def test_forgotten_words_leave_the_index(memory: Memory) -> None:
    keep(memory, "a", "the wombat fails | look | why")
    keep(memory, "b", "the order fails | look | why")
    memory.graph.compile()
    part = b"ombat"  # an index of words keeps beginnings that neighbours share once
    assert part in memory.graph.path_of_file.read_bytes()
    assert memory.forget(["a"]).sessions == ("a",)
    assert [path for path in memory.root.rglob("*") if path.is_file() and part in path.read_bytes()] == []
    assert sessions(asked(memory, "wombat order")) == ["b"]


@pytest.mark.parametrize("text", ["", "  ", "?! - /"])
def test_a_text_without_a_word_is_refused(memory: Memory, text: str) -> None:
    with pytest.raises(InvalidArgument, match="TEXT is empty"):
        memory.causality.similar(text)


def test_a_limit_out_of_range_is_refused(memory: Memory) -> None:
    with pytest.raises(OutOfRange, match="between 1 and 100"):
        memory.causality.similar("parcel", limit=0)


def test_without_a_graph_there_is_nothing_to_ask(memory: Memory) -> None:
    with pytest.raises(GraphNotCompiled):
        memory.causality.similar("parcel")


@pytest.mark.parametrize("text", ['"', "parcel AND", "NEAR(parcel)", "parcel*", "-parcel", "chosen:parcel", "päckchen"])
def test_no_text_is_a_command_to_the_index(memory: Memory, text: str) -> None:
    keep(memory, "a", "parcel and near | wait | chosen")
    keep(memory, "b", "Päckchen | wait | chosen")
    if text != '"':
        assert asked(memory, text)
