"""Is it counted which errors an earlier session had met and fixed, by how closely, in the order of time?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from helix_cli.app import run
from helix_episodes.model import Fix
from small_worlds import memory_of, session

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from helix_episodes.model import Episode

KEY, VALUE, RUFF = "pytest fails: KeyError", "pytest fails: ValueError", "ruff fails: E501"


def met(name: str, error: str, *, at: str | None, fixed: bool = False) -> Episode:
    fixes = (Fix(error="e001", changes=("d002",), check=error.split(maxsplit=1)[0], verified_by="e003", share=1.0),)
    check = f"{error.split(maxsplit=1)[0]} passes"
    return session(name, error, "edit a.py", check, timestamp=at, fixes=fixes if fixed else ())


def test_the_first_time_is_no_repeat_and_the_closest_level_counts(tmp_path: Path) -> None:
    memory = memory_of(
        tmp_path,
        [
            met("c", VALUE, at="2026-04-02T10:00:00Z"),
            met("b", KEY, at="2026-04-01T10:00:00Z"),
            met("a", KEY, at="2026-03-01T10:00:00Z", fixed=True),
            met("d", RUFF, at="2026-04-03T10:00:00Z"),
        ],
    )
    found = memory.causality.repeats()
    assert (found.episodes, found.undated) == (4, 0)
    assert list(found.months) == ["2026-03", "2026-04"]
    assert found.months["2026-03"].met == {"exact": 0, "family": 0, "check": 0}
    april = found.months["2026-04"]
    assert april.errors == 3
    assert april.met == {"exact": 1, "family": 0, "check": 1}
    assert april.fixed == {"exact": 1, "family": 0, "check": 1}
    assert found.total.errors == 4
    assert (found.total.met_again, found.total.fixed_before) == (1, 1)


def test_a_fix_of_another_error_of_the_check_does_not_count(tmp_path: Path) -> None:
    """``KEY`` was met and never fixed; that ``VALUE`` was, by the same check, says nothing about it."""
    days = [
        met("a", KEY, at="2026-03-01T10:00:00Z"),
        met("b", VALUE, at="2026-03-02T10:00:00Z", fixed=True),
        met("c", KEY, at="2026-03-03T10:00:00Z"),
    ]
    total = memory_of(tmp_path, days).causality.repeats().total
    assert total.met == {"exact": 1, "family": 0, "check": 1}
    assert total.fixed == {"exact": 0, "family": 0, "check": 0}


def test_a_month_without_errors_is_left_out(tmp_path: Path) -> None:
    days = [session("a", "run x", timestamp="2026-03-01T10:00:00Z"), met("b", KEY, at="2026-04-01T10:00:00Z")]
    found = memory_of(tmp_path, days).causality.repeats()
    assert (found.episodes, list(found.months)) == (2, ["2026-04"])


def test_the_headline_leaves_out_what_shares_the_check_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    days = [met("a", KEY, at="2026-03-01T10:00:00Z", fixed=True), met("b", VALUE, at="2026-03-02T10:00:00Z")]
    memory_of(tmp_path, [*days, *(met(name, KEY, at=None) for name in "cd")])
    monkeypatch.chdir(tmp_path)
    assert run(["repeats"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "0 (0 %) had occurred in an earlier session, as the same error or kind; 0 of these had been fixed" in told
    assert "For 1 more only the same check had failed before" in told
    assert "2 sessions without a date are not in these counts" in told


def test_an_error_that_nobody_fixed_was_met_and_not_fixed(tmp_path: Path) -> None:
    days = [met(f"s{day}", KEY, at=f"2026-03-0{day}T10:00:00Z") for day in (1, 2)]
    total = memory_of(tmp_path, days).causality.repeats().total
    assert (sum(total.met.values()), sum(total.fixed.values())) == (1, 0)


def test_an_error_counts_once_a_session(tmp_path: Path) -> None:
    one = session("a", KEY, "run x", KEY, "run x", KEY)
    assert memory_of(tmp_path, [one]).causality.repeats().total.errors == 1


def test_what_came_later_was_not_known(tmp_path: Path) -> None:
    later = met("a", KEY, at="2026-03-02T10:00:00Z", fixed=True)
    earlier = met("b", KEY, at="2026-03-01T10:00:00Z")
    total = memory_of(tmp_path, [later, earlier]).causality.repeats().total
    assert sum(total.fixed.values()) == 0


def test_months_are_those_of_utc(tmp_path: Path) -> None:
    one = met("a", KEY, at="2026-03-01T00:30:00+02:00")
    assert list(memory_of(tmp_path, [one]).causality.repeats().months) == ["2026-02"]


def test_sessions_without_a_date_are_told_apart(tmp_path: Path) -> None:
    found = memory_of(tmp_path, [met("a", KEY, at=None)]).causality.repeats()
    assert (found.undated, found.episodes, found.total.errors) == (1, 0, 0)
