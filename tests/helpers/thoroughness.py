"""How much of a question is asked every day, and how much only by the slow tests and in other profiles."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from collections.abc import Sequence

_USUAL = 100
_LEAST = 5


def examples(usual: int) -> int:
    """``usual`` in the profile ``thorough``, a part of it every day, a multiple at night."""
    return max(_LEAST, usual * settings().max_examples // _USUAL)


def few(cases: Sequence[object], every_day: int) -> list[object]:
    """Cases of a parametrised test: the first so many run every day, the others with the slow tests."""
    return [*cases[:every_day], *(pytest.param(case, marks=pytest.mark.slow) for case in cases[every_day:])]


def few_rows(rows: Sequence[tuple[object, ...]], every_day: int) -> list[object]:
    """As `few`, for tests of several parameters."""
    return [*rows[:every_day], *(pytest.param(*row, marks=pytest.mark.slow) for row in rows[every_day:])]
