"""Does an edge that logs assert get the status that the sessions give it?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from helix_cli.app import run
from helix_episodes.model import Fix
from small_worlds import group, memory_of
from thoroughness import few_rows

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from helix_episodes.model import Episode
    from helix_graph.causality.edge_support import ClaimVerdict

ERROR = "pytest fails: KeyError"


def world(met_with: int, met_without: int, *, kind: str = "causes", reverse: bool = False) -> Iterator[Episode]:
    """150 sessions with ``run a`` and 150 without; the error is met in so many of each."""
    both = (ERROR, "run a") if reverse else ("run a", ERROR)
    link = f"2 stated {kind} 1" if reverse else f"1 stated {kind} 2"
    yield from group("both", *both, of=met_with, succeed=0, links=(link,))
    yield from group("alone", "run a", of=150 - met_with, succeed=0)
    yield from group("error", "run x", ERROR, of=met_without, succeed=0)
    yield from group("none", "run x", of=150 - met_without, succeed=0)


def claim(folder: Path, episodes: Iterator[Episode]) -> ClaimVerdict:
    found = memory_of(folder, episodes).causality.claims().claims
    return next(one for one in found if (one.source, one.target) == ("run a", ERROR))


@pytest.mark.parametrize(
    ("met_with", "met_without", "kind", "status"),
    few_rows(
        [
            (90, 30, "causes", "supported"),
            (30, 90, "causes", "contradicted"),
            (60, 62, "causes", "asserted"),
            (90, 30, "prevents", "contradicted"),
            (30, 90, "prevents", "supported"),
            (60, 62, "prevents", "asserted"),
        ],
        3,
    ),
)
def test_the_sessions_decide(tmp_path: Path, met_with: int, met_without: int, kind: str, status: str) -> None:
    one = claim(tmp_path, world(met_with, met_without, kind=kind))
    assert (one.status, one.episodes, one.type) == (status, met_with, kind)
    assert one.effect is not None
    assert one.effect.difference == pytest.approx((met_with - met_without) / 150)


def test_what_mostly_comes_before_is_not_supported_as_following(tmp_path: Path) -> None:
    one = claim(tmp_path, world(90, 30, reverse=True))
    assert one.effect is not None
    assert (one.effect.verdict, one.status) == ("associated", "asserted")


def test_kinds_of_task_do_not_support_an_edge(tmp_path: Path) -> None:
    """On fixes nearly everybody does it and meets the error, on docs nearly nobody; within each there is no link."""
    episodes: list[Episode] = []
    for kind, did, without, met in (("fix", 120, 30, 0.8), ("docs", 30, 120, 0.2)):
        options = {"succeed": 0, "task_kind": kind}
        episodes += group(f"{kind}1", "run a", ERROR, of=round(did * met), links=("1 stated 2",), **options)  # type: ignore[arg-type]  # both are options
        episodes += group(f"{kind}2", "run a", of=did - round(did * met), **options)  # type: ignore[arg-type]  # as above
        episodes += group(f"{kind}3", "run x", ERROR, of=round(without * met), **options)  # type: ignore[arg-type]  # as above
        episodes += group(f"{kind}4", "run x", of=without - round(without * met), **options)  # type: ignore[arg-type]  # as above
    one = claim(tmp_path, iter(episodes))
    assert one.effect is not None
    assert one.effect.difference == pytest.approx(0)
    assert one.status == "asserted"


def test_a_small_memory_only_asserts(tmp_path: Path) -> None:
    found = (
        memory_of(tmp_path, group("a", "run a", ERROR, of=150, succeed=0, links=("1 stated 2",)))
        .causality.claims()
        .claims
    )
    assert [(one.status, one.effect) for one in found] == [("asserted", None)]


def test_a_status_can_be_asked_for(tmp_path: Path) -> None:
    memory = memory_of(tmp_path, world(90, 30))
    assert [one.status for one in memory.causality.claims(status="supported").claims] == ["supported"]
    assert memory.causality.claims(status="contradicted").claims == ()


def fixed(met_with: int, met_without: int, *, first: str) -> Iterator[Episode]:
    """As `world`, with ``edit a.py`` for ``run a``; a fix says that the edit prevents the error."""
    steps = ("edit a.py", ERROR) if first == "edit" else (ERROR, "edit a.py")
    change, error = ("d001", "e002") if first == "edit" else ("d002", "e001")
    fixes = (Fix(error=error, changes=(change,), check="pytest"),)
    yield from group("both", *steps, of=met_with, succeed=0, fixes=fixes)
    yield from group("alone", "edit a.py", of=150 - met_with, succeed=0)
    yield from group("error", "run x", ERROR, of=met_without, succeed=0)
    yield from group("none", "run x", of=150 - met_without, succeed=0)


def test_a_change_that_fixed_an_error_is_said_to_prevent_it(tmp_path: Path) -> None:
    (one,) = memory_of(tmp_path, fixed(30, 90, first="edit")).causality.claims().claims
    assert (one.source, one.type, one.target, one.status) == ("edit source (.py)", "prevents", ERROR, "supported")


def test_whoever_answers_an_error_has_met_it(tmp_path: Path) -> None:
    """The error goes with its fix, which says nothing against the fix: it came first."""
    found = memory_of(tmp_path, fixed(120, 30, first="error")).causality.claims()
    (one,) = found.claims
    assert (one.type, one.status, one.effect, found.tested) == ("prevents", "asserted", None, 0)


def test_what_is_not_looked_at_is_counted_with_its_reason(tmp_path: Path) -> None:
    links = ("1 edit-test 2", "1 edit-test 3")
    rare = group("rare", "run b", ERROR, "pytest passes", of=9, succeed=9, links=links)
    found = memory_of(tmp_path, [*rare, *world(90, 30)]).causality.claims()
    assert found.left_out == {"from or to a passing check": 1, "with a label of fewer than 10 sessions": 1}


def test_the_text_says_what_a_status_does_not_mean(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    memory_of(tmp_path, world(90, 30))
    monkeypatch.chdir(tmp_path)
    assert run(["claims"]) == 0
    told = capsys.readouterr().out
    assert "1 edge compared over 300 sessions" in told
    assert "not tested" in told
    assert run(["claims", "--status", "contradicted"]) == 0
    assert "None that is contradicted." in capsys.readouterr().out


def test_half_of_the_sessions_are_not_most_of_them(tmp_path: Path) -> None:
    """The error comes after the step in 45 of the 90 sessions that have both, before it in the other 45."""
    mixed = [
        *group("after", "run a", ERROR, of=45, succeed=0, links=("1 stated causes 2",)),
        *group("before", ERROR, "run a", of=45, succeed=0, links=("2 stated causes 1",)),
        *group("alone", "run a", of=60, succeed=0),
        *group("error", "run x", ERROR, of=30, succeed=0),
        *group("none", "run x", of=120, succeed=0),
    ]
    one = claim(tmp_path, iter(mixed))
    assert one.effect is not None
    assert (one.effect.verdict, one.status) == ("associated", "asserted")


def test_what_logs_say_both_ways_is_one_row(tmp_path: Path) -> None:
    """In 40 sessions the edit is said to bring about the error, in 22 to prevent it, in 5 to come of it."""
    both = {"of": 40, "succeed": 0}
    found = memory_of(
        tmp_path,
        [
            *group("causes", "run a", ERROR, links=("1 stated causes 2",), **both),
            *group("prevents", "run a", ERROR, links=("1 stated prevents 2",), **both | {"of": 22}),
            *group("back", ERROR, "run a", links=("1 stated causes 2",), **both | {"of": 5}),
            *group("none", "run x", of=60, succeed=0),
        ],
    ).causality.claims()
    (row,) = [one for one in found.claims if ERROR in {one.source, one.target}]
    assert (row.source, row.type, row.target, row.episodes) == ("run a", "causes", ERROR, 40)
    assert [(one.source, one.type, one.target, one.episodes) for one in row.also] == [
        ("run a", "prevents", ERROR, 22),
        (ERROR, "causes", "run a", 5),
    ]


def test_asking_a_check_is_no_cause_of_its_answer(tmp_path: Path) -> None:
    """Running the tests is said by the log to have shown the error; so is the edit before it to have caused it."""
    asked = group("a", "edit a.py", "run pytest", ERROR, of=60, succeed=0, links=("1 edit-test 3", "2 call 3"))
    others = group("b", "run x", of=60, succeed=0)
    found = memory_of(tmp_path, [*asked, *others]).causality.claims()
    assert {(one.source, one.target) for one in found.claims} == {("edit source (.py)", ERROR)}
