"""What works, what keeps failing, and how sure can one be?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest

from counted_patterns import mine_patterns
from helix_episodes.errors import HelixGraphError
from helix_episodes.model import Action, Decision, Episode, Event, Evidence, Link
from helix_graph.causality.api import Causality
from helix_graph.graph.api import Graph
from helix_graph.graph.patterns import EXAMPLES_KEPT, Pattern, describe, select_anti_patterns, select_patterns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

EDIT = Action(verb="edit", path="src/shop.py", role="source")
INSTALL = Action(verb="run", program="pip", subcommand="install", command="pip install shop")
REMOVE = Action(verb="run", program="rm", command="rm -r build")


def answered(number: int, *answers: Action, ends: str = "ok", timestamp: str | None = None) -> Episode:
    """An episode in which ruff fails, each of ``answers`` follows, and ruff ends ``ok``, in ``error`` or ``unseen``."""
    failure = _event("e001", status="error", line=1)
    decisions = tuple(
        Decision(
            id=f"d{n:03}", timestamp=None, type="recovery", chosen="", action=action, evidence=Evidence(line=1 + n)
        )
        for n, action in enumerate(answers, start=1)
    )
    return Episode(
        id=f"episode-{number:03}",
        session=f"{number:03}",
        timestamp=timestamp or _day(number),
        outcome="unknown",
        task="Mend the cart",
        decisions=decisions,
        events=(failure,) if ends == "unseen" else (failure, _event("e002", status=ends, line=99)),
        links=tuple(Link(source="e001", target=decision.id, reason="answer") for decision in decisions),
    )


def _event(name: str, *, status: str, line: int) -> Event:
    failed = status == "error"
    return Event(
        id=name,
        timestamp=None,
        type="error" if failed else "test",
        content="",
        check="ruff",
        family="F401" if failed else None,
        status="error" if failed else "ok",
        evidence=Evidence(line=line),
    )


def _day(number: int) -> str:
    return f"2026-{1 + number // 28:02}-{1 + number % 28:02}T00:00:00Z"


def episodes(*answers: Action, wins: int, losses: int, start: int = 0) -> list[Episode]:
    ends = ["ok"] * wins + ["error"] * losses
    return [answered(number, *answers, ends=end) for number, end in enumerate(ends, start=start)]


def row(mined: Iterable[Pattern], action: str = "edit source (.py)") -> Pattern:
    wanted = ("ruff fails: F401", action, "check passes later")
    (only,) = [one for one in mined if (one.trigger, one.action, one.basis) == wanted]
    return only


# --- counting


def test_a_row_counts_episodes() -> None:
    found = row(mine_patterns(episodes(EDIT, EDIT, wins=3, losses=1)))
    assert (found.successes, found.occurrences, found.success_rate) == (3, 4, 0.75)


def test_the_base_rate_is_over_the_episodes_without_the_action() -> None:
    mined = mine_patterns([*episodes(EDIT, wins=3, losses=1), *episodes(INSTALL, wins=1, losses=5, start=10)])
    edit, install = row(mined), row(mined, "run pip install")
    assert (edit.base_rate, edit.base_n) == (1 / 6, 6)
    assert (install.base_rate, install.base_n) == (0.75, 4)


def test_an_episode_with_several_other_answers_counts_once_in_the_base_rate() -> None:
    both = answered(9, INSTALL, REMOVE)
    edit = row(mine_patterns([*episodes(EDIT, wins=0, losses=2), both]))
    assert (edit.base_rate, edit.base_n) == (1.0, 1)


def test_an_episode_with_the_action_is_not_in_its_base_rate_whatever_else_it_tried() -> None:
    mined = mine_patterns([answered(1, EDIT, INSTALL), answered(2, INSTALL, ends="error")])
    assert (row(mined).base_rate, row(mined).base_n) == (0.0, 1)
    assert row(mined, "run pip install").base_n == 0


def test_the_first_measured_answer_speaks_for_its_episode_in_the_base_rate() -> None:
    """pip install came while ruff still failed and was followed by a pass; rm came after it, and ruff failed again."""
    first = answered(1, INSTALL, REMOVE, ends="error")
    passed = msgspec.structs.replace(_event("e003", status="ok", line=2), evidence=Evidence(line=2))
    remove = msgspec.structs.replace(first.decisions[1], evidence=Evidence(line=50))
    install = msgspec.structs.replace(first.decisions[0], evidence=Evidence(line=2))
    changed = msgspec.structs.replace(
        first, decisions=(install, remove), events=(first.events[0], passed, first.events[1])
    )
    mined = mine_patterns([changed, answered(2, EDIT, ends="error")])
    assert (row(mined, "run pip install").success_rate, row(mined, "run rm").success_rate) == (1.0, 0.0)
    assert (row(mined).base_rate, row(mined).base_n) == (1.0, 1)


def test_rows_are_compared_within_one_basis_only() -> None:
    """A command judged by the episode's outcome and an edit judged by the next check say nothing about each other."""
    plain = answered(1, INSTALL, EDIT)
    checked = Link(source="d002", target="e002", reason="edit-test")
    mined = mine_patterns(
        [
            msgspec.structs.replace(
                plain,
                events=plain.events[1:],
                links=(checked,),
                outcome="failure",
                outcome_basis="judged",
            ),
            msgspec.structs.replace(
                answered(2, INSTALL, ends="unseen"), links=(), outcome="success", outcome_basis="judged"
            ),
        ]
    )
    assert {(one.action, one.basis, one.successes, one.occurrences, one.base_n) for one in mined} == {
        ("edit source (.py)", "next check passes", 1, 1, 0),
        ("run pip install", "outcome", 1, 2, 0),
    }


def test_an_action_taken_in_every_episode_has_nothing_to_be_compared_with() -> None:
    only = row(mine_patterns(episodes(EDIT, wins=2, losses=0)))
    assert (only.base_rate, only.base_n) == (None, 0)
    assert "nothing to compare with" in describe(only)


def test_unmeasured_episodes_are_counted_apart() -> None:
    found = row(mine_patterns([*episodes(EDIT, wins=1, losses=1), answered(9, EDIT, ends="unseen")]))
    assert (found.occurrences, found.unmeasured) == (2, 1)
    assert describe(found).endswith("1 not measured")


def test_what_was_never_measured_is_no_pattern() -> None:
    assert mine_patterns([answered(1, EDIT, ends="unseen")]) == ()


def test_under_ten_uses_it_is_too_early_to_tell() -> None:
    nine = row(mine_patterns(episodes(EDIT, wins=4, losses=5)))
    ten = row(mine_patterns(episodes(EDIT, wins=5, losses=5)))
    assert (nine.too_early, ten.too_early) == (True, False)
    assert "too early: 4 of 9" in describe(nine)
    assert "%" not in describe(nine)
    assert "5 of 10 pass (50 %, 24 to 76 %)" in describe(ten)


def test_a_row_names_its_newest_episodes_and_the_decisions_in_them() -> None:
    found = row(mine_patterns(episodes(EDIT, wins=20, losses=10)))
    assert len(found.episodes) == len(found.decisions) == EXAMPLES_KEPT
    assert (found.episodes[0], found.decisions[0]) == ("episode-029", "d001")
    assert (found.last_used, found.occurrences) == (_day(29), 30)


def test_newest_is_judged_by_time_not_by_text() -> None:
    early = answered(1, EDIT, timestamp="2026-03-01T12:30:00+02:00")
    late = answered(2, EDIT, timestamp="2026-03-01T11:00:00Z")
    assert row(mine_patterns([late, early])).last_used == "2026-03-01T11:00:00Z"


def test_two_versions_of_one_episode_are_one_episode() -> None:
    win, loss = answered(1, EDIT), answered(1, EDIT, ends="error")
    assert mine_patterns([win, loss]) == mine_patterns([loss, win])
    assert row(mine_patterns([win, loss])).occurrences == 1


def test_a_pattern_keeps_its_id_when_more_is_learnt() -> None:
    few, more = mine_patterns(episodes(EDIT, wins=1, losses=0)), mine_patterns(episodes(EDIT, wins=5, losses=5))
    assert [one.id for one in few] == [one.id for one in more]
    assert len({one.id for one in more}) == len(more)


def test_no_line_claims_a_cause() -> None:
    rows = mine_patterns([*episodes(EDIT, wins=6, losses=6), *episodes(INSTALL, wins=1, losses=1, start=20)])
    assert rows
    for found in rows:
        assert "caus" not in (describe(found) + found.description + found.name)


# --- filters


def mixed() -> tuple[Pattern, ...]:
    """At family level: edit 3 of 4, pip install 1 of 6, rm 0 of 1; the same at check level."""
    return mine_patterns(
        [
            *episodes(EDIT, wins=3, losses=1),
            *episodes(INSTALL, wins=1, losses=5, start=10),
            *episodes(REMOVE, wins=0, losses=1, start=30),
        ]
    )


def actions(found: Iterable[Pattern]) -> list[str]:
    return [one.action for one in found if one.level == "family" and one.basis == "check passes later"]


def test_patterns_come_best_first_and_anti_patterns_worst_first() -> None:
    assert actions(select_patterns(mixed())) == ["edit source (.py)", "run pip install", "run rm"]
    assert actions(select_anti_patterns(mixed(), max_success_rate=1.0)) == ["run pip install", "edit source (.py)"]


def test_filters_include_their_bounds() -> None:
    assert actions(select_patterns(mixed(), min_success_rate=0.75)) == ["edit source (.py)"]
    assert actions(select_patterns(mixed(), min_occurrences=6)) == ["run pip install"]
    assert actions(select_anti_patterns(mixed())) == ["run pip install"]
    assert actions(select_anti_patterns(mixed(), max_success_rate=0.75)) == ["run pip install", "edit source (.py)"]


def test_equal_rates_are_ordered_by_occurrences_then_by_name() -> None:
    mined = mine_patterns(
        [
            *episodes(REMOVE, wins=2, losses=0),
            *episodes(INSTALL, wins=2, losses=0, start=10),
            *episodes(EDIT, wins=3, losses=0, start=20),
        ]
    )
    assert actions(select_patterns(mined)) == ["edit source (.py)", "run pip install", "run rm"]
    lost = mine_patterns([*episodes(REMOVE, wins=0, losses=3), *episodes(EDIT, wins=0, losses=2, start=10)])
    assert actions(select_anti_patterns(lost)) == ["run rm", "edit source (.py)"]


@pytest.mark.parametrize(
    ("ask", "sentence"),
    [
        (lambda: select_patterns((), min_success_rate=1.5), "min_success_rate is 1.5; it must be between 0 and 1"),
        (lambda: select_patterns((), min_success_rate=float("nan")), "min_success_rate is nan"),
        (lambda: select_patterns((), min_occurrences=0), "min_occurrences is 0; it must be between 1 and 1000"),
        (lambda: select_patterns((), min_occurrences=1001), "min_occurrences is 1001"),
        (lambda: select_anti_patterns((), max_success_rate=-0.1), "max_success_rate is -0.1"),
    ],
)
def test_options_outside_their_range_are_named(ask: Callable[[], object], sentence: str) -> None:
    with pytest.raises(HelixGraphError, match=sentence):
        ask()


# --- the door


def door(folder: Path) -> Causality:
    return Causality(Graph(folder, folder / "causality"), assertions=folder / "assertions")


def write(folder: Path, contents: Iterable[Episode]) -> None:
    for episode in contents:
        (folder / f"{episode.id}.json").write_bytes(msgspec.json.encode(episode))


def test_the_door_reads_a_folder_and_names_the_files_it_could_not_use(tmp_path: Path) -> None:
    write(tmp_path, episodes(EDIT, wins=2, losses=1))
    (tmp_path / "episode-broken.json").write_text('{"id": "episode-broken"}', encoding="utf-8")
    (tmp_path / "episode-latin.json").write_bytes(b'{"id": "\xe9"}')
    (tmp_path / "notes.json").write_text("not ours", encoding="utf-8")
    survey = door(tmp_path).survey()
    assert (survey.episodes, survey.outcomes) == (3, {"none unknown": 3})
    assert [skipped.path for skipped in survey.skipped] == [
        str(tmp_path / "episode-broken.json"),
        str(tmp_path / "episode-latin.json"),
    ]
    assert "session" in survey.skipped[0].problem


def test_the_door_answers_with_the_same_filters(tmp_path: Path) -> None:
    write(tmp_path, [*episodes(EDIT, wins=3, losses=1), *episodes(INSTALL, wins=1, losses=5, start=10)])
    ask = door(tmp_path)
    assert actions(ask.patterns(min_success_rate=0.5)) == ["edit source (.py)"]
    assert actions(ask.patterns(min_occurrences=5)) == ["run pip install"]
    assert actions(ask.anti_patterns()) == ["run pip install"]
    assert ask.anti_patterns(max_success_rate=0.1) == ()


def test_an_empty_or_missing_folder_has_no_patterns(tmp_path: Path) -> None:
    assert door(tmp_path).patterns() == ()
    assert door(tmp_path / "nowhere").anti_patterns() == ()


def test_a_row_can_be_printed_as_json(tmp_path: Path) -> None:
    write(tmp_path, episodes(EDIT, wins=1, losses=0))
    (plain, *_) = msgspec.to_builtins(door(tmp_path).patterns())
    seed_keys = {"id", "name", "description", "trigger", "action", "success_rate", "occurrences", "last_used"}
    assert seed_keys <= plain.keys()
    assert plain["interval"].keys() == {"low", "high"}
