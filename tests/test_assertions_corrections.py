"""Is what people correct seen by every reader, and does it survive the next extraction?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from helix_episodes.errors import EpisodeError, InvalidArgument, NotFound
from helix_episodes.store import EpisodeStore
from helix_graph import Memory
from helix_graph.errors import NotOneOf

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from episode_drawing import Draw
    from helix_episodes.model import Episode
    from session_script import Script


@pytest.fixture
def memory(tmp_path: Path, draw: Draw) -> Memory:
    made = Memory(tmp_path / ".helix")
    made.episodes.save(
        draw("s", "run ruff -> ruff fails: E501", "ruff fails: E501 -> edit a.py", "ruff passes -> success")
    )
    made.graph.compile()
    return made


def ids(episode: Episode, text: str) -> str:
    parts: list[Any] = [*episode.decisions, *episode.events]
    return next(str(one.id) for one in parts if text in (getattr(one, "chosen", None) or one.content))


def test_an_outcome_is_revised_for_every_reader(memory: Memory) -> None:
    one = memory.episodes.outcome("s", "failure", because="reverted the next day")
    assert (one.outcome, one.outcome_basis) == ("failure", "judged")
    assert one.outcome_evidence is not None
    assert one.outcome_evidence.quote == "reverted the next day"
    assert memory.episodes.require("s") == memory.episodes.list(outcome="failure")[0] == one
    assert memory.episodes.list(outcome="success") == []
    assert memory.graph.status().outcomes == {"judged": {"failure": 1}}
    assert memory.causality.survey().outcomes == {"judged failure": 1}
    assert memory.graph.get_causal_path("ruff passes", "success")["found"] is False
    assert EpisodeStore(memory.root / "episodes").require("s").outcome == "success"


def test_the_newest_outcome_holds(memory: Memory) -> None:
    for outcome in ("failure", "success", "failure", "unknown"):
        assert memory.episodes.outcome("s", outcome, because="so they say").outcome == outcome
    assert memory.graph.status().outcomes == {"judged": {"unknown": 1}}


def test_saying_it_twice_keeps_one_file(memory: Memory) -> None:
    for _ in range(2):
        memory.episodes.outcome("s", "failure", because="CI")
    assert len(list((memory.root / "causality" / "assertions").iterdir())) == 1


def test_an_outcome_needs_an_episode_a_word_and_a_reason(memory: Memory) -> None:
    with pytest.raises(NotFound):
        memory.episodes.outcome("nobody", "failure", because="CI")
    with pytest.raises(NotOneOf):
        memory.episodes.outcome("s", "bad", because="CI")
    with pytest.raises(InvalidArgument, match="because"):
        memory.episodes.outcome("s", "failure", because=" ")


def test_a_decision_is_corrected(memory: Memory) -> None:
    name = ids(memory.episodes.require("s"), "edit a.py")
    one = memory.episodes.correct("s", name, chosen="suppress the warning", rationale="no time", type="recovery")
    (decision,) = [each for each in one.decisions if each.id == name]
    assert (decision.chosen, decision.rationale, decision.type) == ("suppress the warning", "no time", "recovery")
    assert memory.graph.get_causal_path("suppress", "suppress")["found"]
    again = memory.episodes.correct("s", name, outcome="failure")
    (decision,) = [each for each in again.decisions if each.id == name]
    assert (decision.chosen, decision.outcome) == ("suppress the warning", "failure")


def test_a_withdrawn_decision_takes_its_links_with_it(memory: Memory) -> None:
    name = ids(memory.episodes.require("s"), "edit a.py")
    one = memory.episodes.correct("s", name, withdrawn=True)
    assert name not in {each.id for each in one.decisions}
    assert name not in {end for link in one.links for end in (link.source, link.target)}
    assert name not in {end for event in one.events for end in (*event.leads_to, *event.caused_by)}
    assert memory.graph.get_causal_path("edit a.py", "edit a.py")["error"] == "Node not found"


def test_a_link_is_added_and_both_sides_say_so(memory: Memory) -> None:
    before = memory.episodes.require("s")
    source, target = ids(before, "edit a.py"), ids(before, "ruff passes")
    one = memory.episodes.correct_link("s", source, target)
    assert (source, target, "causes") in {(link.source, link.target, link.type) for link in one.links}
    assert target in next(each.effects for each in one.decisions if each.id == source)
    assert source in next(each.caused_by for each in one.events if each.id == target)
    assert memory.graph.get_causal_path("ruff fails", "success")["depth"] == 3
    gone = memory.episodes.correct_link("s", source, target, withdrawn=True)
    assert gone.links == before.links
    assert gone.decisions == before.decisions


def test_a_wrong_link_is_taken_out(memory: Memory) -> None:
    before = memory.episodes.require("s")
    memory.episodes.correct_link("s", ids(before, "run ruff"), ids(before, "ruff fails"), withdrawn=True)
    assert memory.graph.get_causal_path("run ruff", "ruff fails")["error"] == "No path found within depth 5"


def test_what_cannot_be_is_refused(memory: Memory) -> None:
    before = memory.episodes.require("s")
    run, error = ids(before, "run ruff"), ids(before, "ruff fails")
    with pytest.raises(EpisodeError, match="no d099"):
        memory.episodes.correct("s", "d099", chosen="x")
    with pytest.raises(EpisodeError, match=f"no {error}"):
        memory.episodes.correct("s", error, chosen="x")
    with pytest.raises(EpisodeError, match="nothing to correct"):
        memory.episodes.correct("s", run)
    for target in (run, error):
        with pytest.raises(EpisodeError, match="circle"):
            memory.episodes.correct_link("s", error, target)
    with pytest.raises(EpisodeError, match="no link leads"):
        memory.episodes.correct_link("s", error, run, withdrawn=True)
    assert not (memory.root / "causality" / "assertions").exists()


def test_a_link_against_time_is_refused(tmp_path: Path) -> None:
    memory = Memory(tmp_path / ".helix")
    events = [
        {"id": "e001", "timestamp": "2026-01-01T12:00:00+02:00", "type": "milestone", "content": "first"},
        {"id": "e002", "timestamp": "2026-01-01T11:00:00Z", "type": "milestone", "content": "second"},
    ]
    memory.episodes.new("s", "t", "unknown", events=events)
    with pytest.raises(EpisodeError, match="e002 came after e001"):
        memory.episodes.correct_link("s", "e002", "e001")
    assert memory.episodes.correct_link("s", "e001", "e002").events[0].leads_to == ("e002",)


def test_corrections_survive_extraction_though_ids_move(tmp_path: Path, script: Callable[..., Script]) -> None:
    memory = Memory(tmp_path / ".helix")
    memory.extract([script("s").prompt("go").edit("b.py").run("pytest -q", "1 passed").save(tmp_path / "logs")])
    name = ids(memory.episodes.require("s"), "edit b.py")
    memory.episodes.correct("s", name, rationale="because of the review")
    memory.episodes.outcome("s", "failure", because="reverted")
    longer = script("s").prompt("go").write("a.py").edit("b.py").run("pytest -q", "1 passed")
    memory.extract([longer.save(tmp_path / "logs")], force=True)
    one = memory.episodes.require("s")
    assert ids(one, "edit b.py") != name
    assert [each.chosen for each in one.decisions if each.rationale == "because of the review"] == ["edit b.py"]
    assert one.outcome == "failure"


def test_a_correction_whose_decision_is_gone_is_named(memory: Memory, draw: Draw) -> None:
    name = ids(memory.episodes.require("s"), "edit a.py")
    memory.episodes.correct("s", name, rationale="x")
    memory.episodes.save(draw("s", "ruff passes -> success"))
    (left,) = memory.graph.compile().left_out
    assert "edit a.py" in left.problem
    assert memory.episodes.require("s").outcome == "success"


def test_of_two_with_the_same_text_the_line_tells(tmp_path: Path, script: Callable[..., Script]) -> None:
    memory = Memory(tmp_path / ".helix")
    log = script("s").prompt("go").edit("b.py").run("pytest -q", "1 failed", code=1).edit("b.py").run("pytest -q", "ok")
    memory.extract([log.save(tmp_path / "logs")])
    twice = [one for one in memory.episodes.require("s").decisions if one.chosen == "edit b.py"]
    memory.episodes.correct("s", twice[1].id, rationale="the second one")
    rationales = [one.rationale for one in memory.episodes.require("s").decisions if one.chosen == "edit b.py"]
    assert rationales == [twice[0].rationale, "the second one"]


def test_a_correction_goes_with_its_line_where_the_words_have_changed(
    tmp_path: Path, script: Callable[..., Script]
) -> None:
    memory = Memory(tmp_path / ".helix")
    memory.extract([script("s").prompt("go").edit("b.py").save(tmp_path / "logs")])
    memory.episodes.correct("s", ids(memory.episodes.require("s"), "edit b.py"), rationale="because of the review")
    memory.extract([script("s").prompt("go").edit("c.py").save(tmp_path / "logs")], force=True)
    (decision,) = memory.episodes.require("s").decisions
    assert (decision.chosen, decision.rationale) == ("edit c.py", "because of the review")


def test_what_is_left_of_a_fix_has_all_of_its_credit(tmp_path: Path, script: Callable[..., Script]) -> None:
    memory = Memory(tmp_path / ".helix")
    log = script("s").prompt("go").run("pytest -q", "E   KeyError: 'x'\n1 failed", code=1)
    memory.extract([log.edit("a.py").edit("b.py").run("pytest -q", "1 passed").save(tmp_path / "logs")])
    before = memory.episodes.require("s")
    assert [(len(fix.changes), fix.share) for fix in before.fixes] == [(2, 0.5)]
    after = memory.episodes.correct("s", ids(before, "edit a.py"), withdrawn=True)
    assert [(fix.changes, fix.share) for fix in after.fixes] == [((ids(before, "edit b.py"),), 1.0)]
