"""Is the set of `benchmarks/redaction` what its page says, and would its search notice a secret that is left?"""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from whole_tables import each_row

if TYPE_CHECKING:
    from collections.abc import Iterator

_FOLDER = Path(__file__).parents[1] / "benchmarks" / "redaction"


@pytest.fixture(autouse=True)
def _modules() -> Iterator[None]:
    sys.path.insert(0, str(_FOLDER))
    yield
    sys.path.remove(str(_FOLDER))


def test_the_set_has_the_kinds_positions_and_look_alikes_that_were_asked_for() -> None:
    from secret_positions import POSITIONS
    from secret_templates import read_templates

    kinds = [kind for path in (_FOLDER / "kinds").glob("*.txt") for kind in read_templates(path)]
    harmless = list(read_templates(_FOLDER / "harmless.txt"))
    assert len({kind.id for kind in kinds}) == len(kinds) >= 200
    assert len({position.id for position in POSITIONS}) == len(POSITIONS) >= 15
    assert len({text.id for text in harmless}) == len(harmless) >= 100
    assert {kind.group for kind in kinds} >= {"cloud keys", "database urls", "private keys", "passphrases"}


def test_every_kind_has_a_secret_that_stands_in_its_text_and_is_new_each_time() -> None:
    from secret_templates import read_templates

    draw = random.Random(1)  # noqa: S311  (repeatable, not secret)
    for path in (_FOLDER / "kinds").glob("*.txt"):
        for kind in read_templates(path):
            first, second = kind.sample(draw), kind.sample(draw)
            assert first.values, kind.id
            assert all(value in first.text and len(value) >= 8 for value in first.values), kind.id
            assert not set(first.values) & set(second.values), kind.id


def test_every_harmless_text_says_what_must_remain() -> None:
    from secret_templates import read_templates

    for template in read_templates(_FOLDER / "harmless.txt"):
        text, parts = template.harmless(random.Random(1))  # noqa: S311
        assert parts, template.id
        assert all(part in text and part.strip() for part in parts), template.id


@each_row("before", range(9))
def test_the_search_finds_a_part_of_a_value_at_any_byte(before: int) -> None:
    from redaction_run import RUN, found, runs_of

    value = "Kp3vXt9QmZ4wLr"
    wanted = np.array(sorted(int.from_bytes(run.encode(), "little") for run in runs_of(value)), dtype="<u8")
    assert found(wanted, b"." * before + value[2 : 2 + RUN].encode() + b".")
    assert not found(wanted, b"." * before + value[2 : 1 + RUN].encode() + b"." * 9)


def test_a_text_is_put_into_a_log_line_by_line_and_survives_each_position() -> None:
    from secret_positions import POSITIONS
    from secret_templates import Sample

    sample = Sample("first=alpha1234\nsecond=bravo5678", ((6, 15), (23, 32)))
    for position in POSITIONS:
        text = position.render(sample)
        assert all(value in text for value in sample.values), position.id
        assert text != sample.text, position.id
