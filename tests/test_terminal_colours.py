"""Are there colours where a person watches a terminal that has them, and nowhere else? Can everybody see them?"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pytest

from access import KINDS_OF_SIGHT, as_seen, contrast, distance
from helix_cli.terminal import STYLES
from pseudo_terminal import STYLING, on_terminal, unstyled
from screens import shown
from thoroughness import few
from whole_tables import each_row

if TYPE_CHECKING:
    from pathlib import Path

    from helix_graph import Memory

FAILED = "54be547d-5126-5e85-ba29-f7938c1e3be0"
ASKED = (
    ("status",),
    ("path", "--from", "ruff fails", "--to", "success"),
    ("patterns",),
    ("anti-patterns",),
    ("explain", FAILED),
    ("contrast", FAILED),
    ("insight", "recall", "parcel service", "--lexical"),
    ("topic", "search", "parcel"),
)
#: A terminal's own background may be either.
BLACK, WHITE = (0, 0, 0), (255, 255, 255)


@pytest.fixture(scope="module")
def written(demo_memory: Memory) -> Path:
    demo_memory.insights.store("When the parcel service times out, retry with the idempotency key")
    demo_memory.topics.store("shop", "the parcel service times out on Mondays")
    return demo_memory.root


@pytest.fixture(autouse=True)
def _memory(written: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HELIX_DIR", str(written))


@each_row("arguments", ASKED, ids=" ".join)
def test_a_terminal_has_colours_and_weights_and_no_other_sequence(arguments: tuple[str, ...]) -> None:
    told = shown(*arguments, columns=100).out
    assert STYLING.search(told)
    assert "\x1b" not in unstyled(told)


@pytest.mark.parametrize("arguments", ASKED, ids=" ".join)
@pytest.mark.parametrize("setting", few([{"NO_COLOR": "1"}, {"NO_COLOR": "0"}, {"TERM": "dumb"}], 1), ids=str)
def test_who_wants_none_gets_the_same_without(arguments: tuple[str, ...], setting: dict[str, str]) -> None:
    told = shown(*arguments, columns=100, **setting).out
    assert told == unstyled(shown(*arguments, columns=100).out)


@each_row("arguments", ASKED, ids=" ".join)
def test_a_pipe_gets_plain_text_even_where_colours_are_forced(arguments: tuple[str, ...]) -> None:
    assert "\x1b" not in shown(*arguments, FORCE_COLOR="1").out


def test_an_empty_variable_means_nothing() -> None:
    assert STYLING.search(shown("explain", FAILED, columns=100, NO_COLOR="").out)


def test_json_is_the_same_on_a_terminal() -> None:
    assert shown("explain", FAILED, "--json", columns=40).out == shown("explain", FAILED, "--json").out


@pytest.mark.slow
def test_a_real_terminal_is_seen_for_what_it_is(written: Path) -> None:
    told = on_terminal("explain", FAILED, columns=60, cwd=written.parent)
    assert STYLING.search(told)
    assert max(map(len, unstyled(told).splitlines())) == 60
    assert STYLING.search(on_terminal("explain", FAILED, columns=60, cwd=written.parent, NO_COLOR="1")) is None


def test_what_colour_says_stands_there_in_words() -> None:
    told = unstyled(shown("explain", FAILED, columns=100).out)
    assert [word for word in ("failure", "for it", "against it") if word not in told] == []
    assert "too early" in unstyled(shown("patterns", "--all", columns=100).out)


def colours() -> list[tuple[int, int, int]]:
    """Those of the styles that have one."""
    hexes = [style.partition("#")[2] for style in STYLES.values() if "#" in style]
    return [(int(one[:2], 16), int(one[2:4], 16), int(one[4:], 16)) for one in hexes]


@pytest.mark.parametrize("ground", [BLACK, WHITE])
def test_colours_can_be_read_on_black_and_on_white(ground: tuple[int, int, int]) -> None:
    assert len(colours()) == 3
    assert min(contrast(one, ground) for one in colours()) >= 3


@pytest.mark.parametrize("sight", KINDS_OF_SIGHT)
def test_the_colour_blind_tell_them_apart(sight: str) -> None:
    assert (
        min(distance(as_seen(one, sight), as_seen(other, sight)) for one, other in itertools.combinations(colours(), 2))
        > 40
    )
