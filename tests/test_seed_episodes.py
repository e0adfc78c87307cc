"""Do the original's episode functions work as its reference says?"""

from __future__ import annotations

import inspect
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

import pytest

from helix_episodes.errors import EpisodeError, InvalidArgument, InvalidEpisode
from helix_episodes.model import Decision, Metrics
from helix_graph import Memory
from helix_graph.errors import EpisodeIsThere, NotOneOf, OutOfRange, WrongType

if TYPE_CHECKING:
    from pathlib import Path

    from helix_graph.episodes import Episodes

SESSION = "2026-01-01-session-126"


@pytest.fixture
def episodes(tmp_path: Path) -> Episodes:
    return Memory(tmp_path / ".helix").episodes


def decision(name: str, at: str | None, chosen: str = "x", **more: Any) -> dict[str, Any]:  # noqa: ANN401  (JSON)
    return {"id": name, "timestamp": at, "type": "design", "chosen": chosen, **more}


def test_new_writes_what_get_reads(episodes: Episodes) -> None:
    made = episodes.new(
        SESSION,
        "Implement feature X",
        "success",
        decisions=[decision("d001", "2026-01-01T17:05:00Z", effects=["e001"])],
        events=[{"id": "e001", "timestamp": "2026-01-01T17:10:00Z", "type": "commit", "content": "Created module"}],
        lessons=["Lesson 1", "Lesson 2"],
        metrics={"duration_minutes": 45, "tool_calls": 87},
        timestamp="2026-01-01T17:00:00Z",
    )
    assert episodes.path_of(SESSION).name == f"episode-{SESSION}.json"
    assert episodes.get(SESSION) == episodes.get(f"episode-{SESSION}") == made
    assert (made.id, made.outcome, made.outcome_basis) == (f"episode-{SESSION}", "success", "judged")
    assert (made.metrics.tool_calls, made.metrics.errors) == (87, None)
    assert made.lessons == ("Lesson 1", "Lesson 2")


def test_an_episode_that_is_not_there_is_none(episodes: Episodes) -> None:
    assert episodes.get(SESSION) is None


def test_new_takes_values_as_well_and_dates_itself(episodes: Episodes) -> None:
    made = episodes.new(
        "s", "t", "partial", decisions=[Decision(id="d001", timestamp=None, type="test", chosen="run it")]
    )
    assert made.decisions[0].chosen == "run it"
    assert datetime.fromisoformat(made.timestamp or "").tzinfo is not None


def test_the_originals_defaults(episodes: Episodes) -> None:
    parameters = inspect.signature(episodes.list).parameters
    assert {name: one.default for name, one in parameters.items()} == {
        "outcome": None,
        "since": None,
        "task": None,
        "max_results": 20,
    }
    made = episodes.new("s", "t", "failure")
    assert (made.decisions, made.events, made.lessons) == ((), (), ())
    assert made.metrics == Metrics()


def test_an_episode_is_not_overwritten_in_silence(episodes: Episodes) -> None:
    episodes.new("s", "first", "success")
    with pytest.raises(EpisodeIsThere, match="set force"):
        episodes.new("s", "second", "failure")
    assert episodes.require("s").task == "first"
    assert episodes.new("s", "second", "failure", force=True).task == "second"


@pytest.mark.parametrize("session", ["../evil", "a/b", "", ".hidden", "a..b"])
def test_a_session_that_leaves_the_folder_is_refused(episodes: Episodes, session: str) -> None:
    with pytest.raises(EpisodeError):
        episodes.new(session, "t", "success")


def test_what_does_not_fit_is_refused_and_nothing_is_written(episodes: Episodes) -> None:
    for wrong, problem in [
        ({"decisions": [decision("d001", None), decision("d001", None, "y")]}, "2 things are called d001"),
        ({"decisions": [decision("d001", "soon")]}, "'soon'"),
        ({"decisions": [decision("d001", None, effects=["d001"])]}, "d001 -> d001 closes a circle"),
        (
            {
                "decisions": [
                    decision("d001", "2026-01-01T11:00:00Z", effects=["d002"]),
                    decision("d002", "2026-01-01T10:00:00Z"),
                ]
            },
            "d001 -> d002 runs backwards in time",
        ),
        ({"events": [{"id": "e001", "timestamp": None, "type": "artifact", "content": "x"}]}, r"events\[0\]\.type"),
        ({"timestamp": "yesterday"}, "yesterday"),
    ]:
        with pytest.raises(InvalidEpisode, match=problem):
            episodes.new("s", "t", "success", **wrong)  # type: ignore[arg-type]  # wrong on purpose
    refused: dict[str, Any] = {"decisions": [{"chosen": "x", "type": "guess"}]}
    with pytest.raises(InvalidEpisode, match="design, implementation, test, recovery, routing") as told:
        episodes.new("s2", "t", "success", **refused)
    assert "episode-s2.json" not in str(told.value)  # which was never written
    with pytest.raises(NotOneOf, match="success, partial, failure, unknown"):
        episodes.new("s", "t", "great")
    with pytest.raises(InvalidArgument):
        episodes.new("s", " ", "success")
    assert episodes.files() == []


def test_the_references_own_examples_are_taken_as_they_are(episodes: Episodes) -> None:
    routing = {
        "id": "d001",
        "timestamp": "2026-01-01T17:05:00Z",
        "type": "design",
        "context": "Choosing routing",
        "chosen": "Serena-first",
        "rationale": "Lower latency",
        "outcome": "success",
        "effects": ["d002", "d003"],
    }
    created = {
        "id": "e001",
        "timestamp": "2026-01-01T17:10:00Z",
        "type": "commit",
        "content": "Created module",
        "caused_by": ["d001"],
        "leads_to": ["e002"],
    }
    alone = episodes.new("alone", "t", "success", [routing])
    assert (alone.decisions[0].rationale, alone.decisions[0].effects) == ("Lower latency", ())
    assert alone.extra == {"unresolved": ["d001 -> d002", "d001 -> d003"]}
    assert episodes.get("alone") == alone
    both = episodes.new("both", "t", "success", [routing], [created], ["Lesson 1"], {"errors": 2})
    assert both.decisions[0].effects == ("e001",)
    assert both.events[0].caused_by == ("d001",)
    assert (both.lessons, both.metrics.errors) == (("Lesson 1",), 2)


def test_ids_and_times_may_be_left_out(episodes: Episodes) -> None:
    given = [{"type": "design", "chosen": "a"}, decision("d001", None, "b"), {"type": "test", "chosen": "c"}]
    made = episodes.new("s", "t", "success", given, [{"type": "commit", "content": "x"}])
    assert [(one.id, one.timestamp) for one in made.decisions] == [("d002", None), ("d001", None), ("d003", None)]
    assert made.events[0].id == "e001"


def test_what_is_new_leaves_the_doctor_nothing_to_say(episodes: Episodes) -> None:
    episodes.new("s", "t", "success", [decision("d001", None, effects=["e001"])], [{"type": "test", "content": "x"}])
    memory = Memory(episodes.folder.parent)
    memory.graph.compile()
    assert [one.kind for one in memory.doctor().findings] == []


def test_list_takes_the_originals_arguments_in_their_order(episodes: Episodes) -> None:
    for day in (1, 2, 3):
        episodes.new(f"s{day}", "t", "failure", timestamp=f"2026-01-0{day}T10:00:00Z")
    found = episodes.list("failure", datetime(2026, 1, 2, tzinfo=UTC), 1)
    assert [one.session for one in found] == ["s3"]
    assert episodes.count("failure", datetime(2026, 1, 2, tzinfo=UTC)) == 2


def test_secrets_are_cut_from_what_is_written(episodes: Episodes) -> None:
    token = "ghp_0123456789abcdefghijABCDEFGHIJ012345"  # noqa: S105  (invented)
    episodes.new("s", f"use {token}", "success", lessons=[f"never print {token}"])
    assert token not in episodes.path_of("s").read_text()


@pytest.mark.parametrize("wanted", [0, 101])
def test_list_gives_1_to_100(episodes: Episodes, wanted: int) -> None:
    with pytest.raises(OutOfRange, match=r"max_results is .* between 1 and 100"):
        episodes.list(max_results=wanted)
    assert episodes.list(max_results=1) == episodes.list(max_results=100) == []


def test_a_day_is_its_beginning_and_arguments_go_by_the_librarys_names(episodes: Episodes) -> None:
    for day in (1, 2, 3):
        episodes.new(f"d{day}", "t", "success", timestamp=f"2026-01-0{day}T00:00:00Z")
    assert [one.session for one in episodes.list(since=date(2026, 1, 2))] == ["d3", "d2"]
    assert [one.session for one in episodes.list(since="2026-01-02")] == ["d3", "d2"]
    with pytest.raises(WrongType, match=r"^since is 'soon'; give an ISO 8601"):
        episodes.list(since="soon")
    with pytest.raises(WrongType, match=r"^since must be a datetime, a date"):
        episodes.list(since=3)  # type: ignore[arg-type]
    with pytest.raises(WrongType, match=r"^name must be a text"):
        episodes.get(None)  # type: ignore[arg-type]


def test_the_originals_short_id_names_an_episode_everywhere(episodes: Episodes) -> None:
    one = episodes.new("2026-01-01-session-126", "t", "success")
    assert episodes.get("episode-2026-01-01-126") == episodes.require("2026-01-01-126") == one


def test_list_knows_four_outcomes(episodes: Episodes) -> None:
    with pytest.raises(NotOneOf, match="sucess"):
        episodes.list(outcome="sucess")


def test_list_filters(episodes: Episodes) -> None:
    for day, outcome in enumerate(["success", "failure", "failure", "unknown"], 1):
        episodes.new(f"s{day}", f"Task {day}", outcome, timestamp=f"2026-01-0{day}T10:00:00Z")
    assert [one.session for one in episodes.list()] == ["s4", "s3", "s2", "s1"]
    assert [one.session for one in episodes.list(outcome="failure")] == ["s3", "s2"]
    since = datetime(2026, 1, 3, 10, tzinfo=UTC)
    assert [one.session for one in episodes.list(since=since)] == ["s4", "s3"]
    assert [one.session for one in episodes.list(task="tASK 2")] == ["s2"]


def test_the_decision_sequence_is_in_the_order_of_time(episodes: Episodes) -> None:
    given = [
        decision("d001", "2026-01-01T12:00:00+00:00", "third"),
        decision("d002", None, "after the third"),
        decision("d003", "2026-01-01T12:30:00+02:00", "first"),
        decision("d004", "2026-01-01T11:00:00Z", "second"),
    ]
    episodes.new(SESSION, "t", "success", decisions=given)
    for name in (f"episode-{SESSION}", SESSION, "episode-2026-01-01-126"):
        found = episodes.decision_sequence(name)
        assert [one.chosen for one in found] == ["first", "second", "third", "after the third"]


@pytest.mark.parametrize("name", ["episode-nothing", "episode-2026-01-01-127", "x"])
def test_an_episode_that_is_not_there_has_no_decisions(episodes: Episodes, name: str) -> None:
    assert episodes.decision_sequence(name) == ()
