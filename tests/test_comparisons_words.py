"""Do the outputs say associated where it is associated, and never more; and do the tables say what is compared?"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import orjson
import pytest

from helix_cli.app import run
from helix_graph.graph.patterns import describe
from small_worlds import group, memory_of, session
from thoroughness import few

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from helix_graph import Memory

ERROR = "pytest fails: KeyError"
COMMANDS = [
    ("patterns",),
    ("anti-patterns", "--max-success-rate", "1"),
    ("comparisons",),
    ("claims",),
    ("placebo", "--rounds", "5"),
    ("repeats",),
    ("without", "run skip"),
    ("explain", "a-050"),
    ("contrast", "a-050"),
]


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Memory:
    return memory_of(
        tmp_path_factory.mktemp("words"),
        [
            *group("a", "run skip", ERROR, of=120, succeed=24, links=("1 stated 2",)),
            *group("b", "run look", of=120, succeed=96),
            *group("c", "run help", "run look", of=120, succeed=115),
            session("d", "run skip", ERROR, "edit a.py", success=False),
        ],
        compiled=True,
    )


@pytest.fixture
def ask(memory: Memory, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    def asking(*arguments: str) -> str:
        monkeypatch.setenv("HELIX_DIR", str(memory.root))
        assert run(arguments) == 0
        return capsys.readouterr().out

    return asking


@pytest.mark.parametrize("arguments", few([*COMMANDS], 5), ids=" ".join)
@pytest.mark.parametrize("form", [(), ("--json",)], ids=["text", "json"])
def test_no_output_gives_a_verdict(arguments: tuple[str, ...], form: tuple[str, ...], ask: Callable[..., str]) -> None:
    told = ask(*arguments, *form).lower()
    if arguments[0] == "claims":  # the type of an edge that a log asserts
        told = re.sub(r'"type": "causes"|  causes  ', "", told)
    assert re.findall(r"\b(?:caus\w+|because of|due to|responsible|guilty|proves?|leads? to|fault)\b", told) == []


def test_associated_rows_say_so_with_their_comparison(memory: Memory) -> None:
    rows = {row.action: row for row in memory.causality.survey().patterns if row.trigger == "any task"}
    assert describe(rows["run skip"]) == (
        "on any task, run skip: 24 of 121 succeed (20 %, 14 to 28 %); without it 88 % of 240; basis: outcome; "
        f"adjusted -68 points (-78 to -56), q 0.00 of {memory.causality.comparisons().tested} comparisons: "
        "associated, not tested"
    )


def test_a_row_begins_with_what_comparisons_say(ask: Callable[..., str]) -> None:
    head, *rows = ask("anti-patterns").splitlines()
    assert head.split()[:2] == ["says", "succeeded"]
    row = next(row for row in rows if "any task" in row and "run skip" in row)
    assert re.match(r"associated +24 of 121 +20 % +14-28 % +88 % of 240 +-68 \(-78 to -56\) +0\.00 +any task", row)


def test_the_note_names_the_family_the_sessions_and_what_may_hide(ask: Callable[..., str], memory: Memory) -> None:
    told = ask("anti-patterns")
    report = memory.causality.comparisons()
    assert f"{report.tested} comparisons over 361 judged sessions" in told
    assert re.search(r"both may go with something else.* Tied to both by a risk ratio of \d", told)


def test_evidence_keeps_only_what_stands_out_on_the_bad_side(ask: Callable[..., str], memory: Memory) -> None:
    every = orjson.loads(ask("anti-patterns", "--max-success-rate", "1", "--json"))
    found = orjson.loads(ask("anti-patterns", "--max-success-rate", "1", "--evidence", "associated", "--json"))
    assert found == [row for row in every if row["standing"] == "associated" and row["effect"]["difference"] < 0]
    assert "run skip" in {row["action"] for row in found}
    assert "run help" not in {row["action"] for row in found}
    answered = memory.causality.get_anti_patterns(max_success_rate=1.0, evidence="associated")
    assert found == orjson.loads(orjson.dumps(answered))


def test_the_original_getters_keep_their_filters_and_order(memory: Memory) -> None:
    for row in memory.causality.get_patterns(min_success_rate=0.5, min_occurrences=3):
        assert row["success_rate"] >= 0.5
        assert row["occurrences"] >= 3
    rates = [row["success_rate"] for row in memory.causality.get_patterns()]
    assert rates == sorted(rates, reverse=True)
    worst = [row["success_rate"] for row in memory.causality.get_anti_patterns()]
    assert worst == sorted(worst)
    assert max(worst) <= 0.3


def test_rows_say_why_they_have_no_comparison(tmp_path: Path) -> None:
    answered = group("a", ERROR, "edit a.py", "pytest passes", of=210, succeed=100, links=("1 answer 2",))
    others = [*group("b", of=60, succeed=30), *group("c", "run look", of=30, succeed=9)]
    rows = memory_of(tmp_path, [*answered, *others]).causality.survey().patterns
    assert {(row.basis, row.standing) for row in rows if row.level == "check"} == {
        ("check passes later", "not compared"),
        ("next check passes", "not compared"),
    }
