"""Does a terminal of any width show all of an answer, with no line wider than it is?"""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any

import orjson
import pytest
from rich.cells import cell_len

from demo_logs import demo_memory_in
from helix_cli.output import short_id, table
from helix_graph.graph.mentions import of_several
from pseudo_terminal import unstyled
from screens import shown
from small_worlds import group, memory_of
from thoroughness import few

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from helix_graph import Memory

WIDTHS = (40, 120, 80, 200)
FAILED = "54be547d-5126-5e85-ba29-f7938c1e3be0"
ADVICE = "When the parcel service times out, retry with the idempotency key: 価格 is kept and nobody pays twice 🧨"
#: What commands are asked, and the fields of the JSON answer that must stand on the screen.
ASKED: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "status": (("status",), ("episodes", "mentions", "version")),
    "path": (("path", "--from", "ruff fails", "--to", "success"), ("source", "whole")),
    "patterns": (("patterns", "--all"), ("trigger", "action", "basis", "standing")),
    "anti-patterns": (
        ("anti-patterns", "--max-success-rate", "0.9", "--all"),
        ("trigger", "action", "basis", "standing"),
    ),
    "explain": (
        ("explain", FAILED),
        ("label", "reasons", "supporting", "contrary", "chosen", "basis", "decision"),
    ),
    "steps": (("explain", FAILED, "--steps"), ("text", "how", "task", "rule")),
    "contrast": (("contrast", FAILED), ("other", "why", "here", "there")),
    "recall": (("insight", "recall", "parcel service", "--lexical"), ("name", "content")),
    "topic search": (("topic", "search", "parcel", "--detail", "full"), ("topic", "tags", "source", "text")),
    "seen": (("seen", "pytest fails"), ("session", "task", "verified_by")),
    "episode list": (("episode", "list"), ("task",)),
    "claims": (("claims",), ()),
    "repeats": (("repeats",), ("errors",)),
    "causes": (("causes", "pytest fails"), ("label",)),
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Memory:
    """The memory of the example logs, an insight and an entry of a topic in it."""
    made = demo_memory_in(tmp_path_factory.mktemp("demo"))
    made.insights.store(ADVICE)
    made.topics.store("shop", f"gotcha: {ADVICE}\nsecond line {'x' * 150}", tags="ci", source="shop/cart.py:12")
    return made


@pytest.fixture
def memory(made: Memory, monkeypatch: pytest.MonkeyPatch) -> Memory:
    monkeypatch.setenv("HELIX_DIR", str(made.root))
    return made


def facts(answer: Any, names: tuple[str, ...]) -> Iterator[str]:  # noqa: ANN401  (JSON)
    """Every number, and every line of a text, of an answer that has one of these names."""
    if isinstance(answer, list):
        for one in answer:
            yield from facts(one, names)
    elif isinstance(answer, dict):
        for name, value in answer.items():
            values = value if isinstance(value, list) else [value]
            named = [str(one) for one in values if name in names and isinstance(one, str | int)]
            yield from (line for one in named for line in one.splitlines())
            yield from facts(value, names)


def solid(text: str) -> str:
    """A text without what setting it adds: blanks, line breaks, guides of trees."""
    return re.sub(r"[\s│├└─]+", "", unstyled(text))


@pytest.mark.usefixtures("memory")
@pytest.mark.parametrize("columns", few([*WIDTHS], 2))
@pytest.mark.parametrize("name", few([*ASKED], 7))
def test_nothing_is_wider_than_the_screen_and_nothing_is_cut(name: str, columns: int) -> None:
    arguments, names = ASKED[name]
    told = shown(*arguments, columns=columns)
    assert told.code == 0
    assert max(map(cell_len, unstyled(told.out).splitlines())) <= columns
    on_screen = solid(told.out)
    wanted = list(facts(orjson.loads(shown(*arguments, "--json").out), names))
    if name in {"path", "explain", "contrast", "seen"}:  # a session goes by the beginning of its id
        wanted = [short_id(fact) for fact in wanted]
    assert wanted or not names
    # A label of changes to files that are not one is shown as such, or with their names.
    kinds = {fact for fact in wanted if of_several(fact) != fact}
    assert [fact for fact in wanted if fact not in kinds and solid(fact) not in on_screen] == []
    assert columns < max(WIDTHS) or not any(solid(kind) in on_screen for kind in kinds)


@pytest.mark.usefixtures("memory")
@pytest.mark.parametrize("columns", few([*WIDTHS], 1))
@pytest.mark.parametrize("name", ["status", "path", "explain", "steps", "contrast", "recall", "seen"])
def test_a_screen_says_the_words_of_a_pipe(name: str, columns: int) -> None:
    arguments, _ = ASKED[name]
    if name == "status" and columns == 40:
        pytest.skip("its fields stand below their names there, in the order of a pipe only when each is whole")
    assert solid(shown(*arguments, columns=columns).out) == solid(shown(*arguments).out)


@pytest.fixture
def rated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Memory:
    """A memory in which one thing was done often enough for a rate."""
    episodes = [*group("a", "run lint", of=15, succeed=12), *group("b", "edit x", of=9, succeed=3)]
    made = memory_of(tmp_path, episodes, compiled=True)
    monkeypatch.setenv("HELIX_DIR", str(made.root))
    return made


@pytest.mark.usefixtures("rated")
def test_a_rate_stands_beside_its_n_and_its_interval_and_numbers_stand_right() -> None:
    head, row = unstyled(shown("patterns", "--all", columns=120).out).splitlines()[:2]
    for name, number in {"succeeded": "12 of 15", "rate": "80 %", "95 %": "55-93 %"}.items():
        assert head.index(name) + len(name) == row.index(number) + len(number), name


@pytest.mark.usefixtures("rated")
def test_columns_that_no_row_fills_are_left_out() -> None:
    assert "adjusted" not in shown("patterns", "--all", columns=120).out.splitlines()[0]
    assert "adjusted" not in shown("patterns", "--all").out.splitlines()[0]


@pytest.mark.usefixtures("rated")
def test_a_table_that_would_be_squeezed_is_set_as_cards() -> None:
    told = unstyled(shown("patterns", "--all", columns=40).out)
    assert told.startswith("says too early  succeeded 12 of 15\nrate 80 %  95 % 55-93 %  doing run lint\n")


@pytest.mark.usefixtures("memory")
def test_prose_is_no_wider_than_the_eye_follows() -> None:
    told = unstyled(shown("insight", "recall", "parcel service", "--lexical", columns=200).out)
    assert max(map(cell_len, told.splitlines())) <= 100


@pytest.mark.usefixtures("memory")
@pytest.mark.parametrize("columns", [80, 120])
def test_what_is_too_long_goes_on_under_its_own_beginning(columns: int) -> None:
    first, *rest = unstyled(shown("insight", "recall", "parcel service", "--lexical", columns=columns).out).splitlines()
    assert ADVICE not in first
    assert {len(line) - len(line.lstrip()) for line in rest} == {6}


@pytest.mark.usefixtures("memory")
def test_what_is_there_to_be_copied_is_not_broken() -> None:
    printed = shown("setup", "claude-code", "--print", columns=40)
    assert printed.out == shown("setup", "claude-code", "--print").out


def test_wide_characters_take_two_columns_in_a_pipe_too(capsys: pytest.CaptureFixture[str]) -> None:
    table(("label", "n"), [("価格", "1"), ("price", "2"), ("cafe\u0301", "3")])
    assert [cell_len(line) for line in capsys.readouterr().out.splitlines()] == [8, 8, 8, 8]


def test_wide_characters_are_counted_where_a_table_has_to_fit(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "39")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    table(("a", "b"), [("価" * 20, "x" * 300)], numbers=("a",))
    told = unstyled(capsys.readouterr().out)
    assert max(map(cell_len, told.splitlines())) <= 39
    assert (told.count("価"), told.count("x")) == (20, 300)
    assert told.split()[:2] == ["a", "価" * 19], "a card: the column alone would fill the screen"
