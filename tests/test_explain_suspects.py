"""Does an explanation name the steps to look at, each with its reasons, and never a verdict?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helix_cli.app import run
from helix_episodes.errors import NotFound
from helix_graph.causality.fault_localization import explanation_of
from small_worlds import group, memory_of, session
from thoroughness import examples

if TYPE_CHECKING:
    from pathlib import Path

    from helix_episodes.model import Episode
    from helix_graph.causality.fault_localization import Explanation

ERROR = "pytest fails: KeyError"


def explain(folder: Path, *episodes: Episode) -> Explanation:
    return memory_of(folder, episodes).causality.explain(episodes[0].session)


def test_what_led_to_an_error_that_stayed_comes_first(tmp_path: Path) -> None:
    found = explain(tmp_path, session("one", "edit a.py", "edit b.py", ERROR, success=False, links=("1 edit-test 3",)))
    assert [suspect.decision for suspect in found.suspects] == ["d001", "d002"]
    assert found.suspects[0].reasons == (f"{ERROR} followed it and was not repaired in the session",)
    assert found.suspects[1].reasons == (f"the last step before the first failure that lasted: {ERROR}",)
    assert found.suspects[0].line == 1


def test_running_the_check_is_no_suspect_of_what_it_reports(tmp_path: Path) -> None:
    steps = ("edit a.py", "run pytest", ERROR)
    found = explain(tmp_path, session("one", *steps, success=False, links=("1 edit-test 3", "2 call 3")))
    assert [suspect.decision for suspect in found.suspects] == ["d001"]
    assert len(found.suspects[0].reasons) == 2


def test_an_error_whose_check_passes_later_is_no_error_that_lasted(tmp_path: Path) -> None:
    steps = ("edit a.py", ERROR, "edit a.py", "pytest passes")
    (suspect,) = explain(tmp_path, session("one", *steps, success=False, links=("1 edit-test 2",))).suspects
    assert (suspect.decision, "all were repaired" in suspect.reasons[0]) == ("d001", True)


def test_the_third_answer_of_a_kind_is_a_loop(tmp_path: Path) -> None:
    steps = [ERROR, "run fix"] * 3 + ["pytest passes"]
    found = explain(tmp_path, session("one", *steps, success=False, links=("1 answer 2", "3 answer 4", "5 answer 6")))
    assert [(one.decision, one.reasons) for one in found.suspects] == [
        ("d006", (f"answer number 3 of the same kind to: {ERROR}",))
    ]


def test_changes_after_the_last_check_are_named(tmp_path: Path) -> None:
    found = explain(tmp_path, session("one", "edit a.py", "pytest passes", "edit b.py", "run look", success=False))
    assert [(one.decision, one.reasons) for one in found.suspects] == [("d003", ("no check ran after this change",))]


def test_a_small_memory_is_read_from_its_own_log_alone_and_says_so(tmp_path: Path) -> None:
    found = explain(tmp_path, session("one", "edit a.py", ERROR, success=False), session("two", "run x", success=True))
    assert found.basis.startswith("this session's log only. Too early to compare sessions: needs 10 failures")


def test_comparisons_point_at_a_step_and_show_both_sides(tmp_path: Path) -> None:
    failed = session("one", "run look", "run skip", success=False)
    others = [*group("a", "run look", "run skip", of=100, succeed=20), *group("b", "run look", of=105, succeed=85)]
    found = explain(tmp_path, failed, *others)
    (suspect,) = found.suspects
    assert (suspect.label, suspect.failed_with, suspect.succeeded_with) == ("run skip", 80, 20)
    assert failed.id not in suspect.supporting
    assert set(suspect.supporting) <= {one.id for one in others if one.outcome == "failure"}
    assert set(suspect.contrary) <= {one.id for one in others if one.outcome == "success"}
    assert suspect.difference == pytest.approx(20 / 100 - 85 / 105, abs=1e-4)
    assert suspect.reasons[0].startswith("sessions with it are 61 points less often successful (-73 to -45)")
    assert found.basis.endswith("comparisons over 205 other sessions")


def near(folder: Path, *, success: bool) -> Explanation:
    """``run meh`` goes with failure so little that it could be chance: 45 of 100 against 55 of 105."""
    others = [*group("a", "run meh", of=100, succeed=45), *group("b", "run look", of=105, succeed=55)]
    return explain(folder, session("one", "run meh", success=success), *others)


def test_a_difference_that_could_be_chance_is_no_clear_suspect(tmp_path: Path) -> None:
    (suspect,) = near(tmp_path, success=False).suspects
    assert (suspect.label, suspect.clear) == ("run meh", False)
    assert suspect.reasons[0].endswith("could be chance")


def test_a_success_has_no_suspect_by_chance(tmp_path: Path) -> None:
    assert near(tmp_path, success=True).suspects == ()


def test_what_could_be_chance_is_left_out_behind_what_is_clear(tmp_path: Path) -> None:
    others = [
        *group("a", "run skip", of=100, succeed=20),
        *group("b", "run meh", of=100, succeed=70),
        *group("c", "run look", of=100, succeed=80),
    ]
    found = explain(tmp_path, session("one", "run meh", "run skip", success=False), *others)
    assert [(one.label, one.clear) for one in found.suspects] == [("run skip", True)]


@pytest.mark.parametrize(("success", "told"), [(True, "no failure to explain"), (False, "No step clearly stands out")])
def test_the_text_says_what_the_list_comes_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *, success: bool, told: str
) -> None:
    near(tmp_path, success=success)
    monkeypatch.chdir(tmp_path)
    assert run(["explain", "one"]) == 0
    assert told in capsys.readouterr().out


def test_the_session_itself_is_not_compared_with_itself(tmp_path: Path) -> None:
    """Of two hundred sessions one is asked about."""
    memory = memory_of(tmp_path, [*group("a", "run skip", of=100, succeed=20), *group("b", of=100, succeed=80)])
    assert memory.causality.comparisons().effects
    assert "over 199 other sessions" in memory.causality.explain("a-050").basis


def test_a_session_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        memory_of(tmp_path, []).causality.explain("nobody")


@pytest.mark.hypothesis
def test_every_suspect_has_a_reason_and_is_a_step_of_the_session(
    any_episodes: st.SearchStrategy[tuple[Episode, ...]],
) -> None:
    met: list[str] = []

    @settings(max_examples=examples(60), deadline=None)
    @given(any_episodes)
    def every(episodes: tuple[Episode, ...]) -> None:
        for episode in episodes:
            suspects = explanation_of(episode, []).suspects
            assert all(suspect.reasons for suspect in suspects)
            assert {suspect.decision for suspect in suspects} <= {decision.id for decision in episode.decisions}
            assert [suspect.score for suspect in suspects] == sorted((one.score for one in suspects), reverse=True)
            met.extend(suspect.decision for suspect in suspects)

    every()
    assert met
