"""Does the placebo tell a rule that reports differences from one that reports the difficulty of tasks?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from helix_episodes.errors import HelixGraphError
from small_worlds import group, memory_of

if TYPE_CHECKING:
    from pathlib import Path


def test_difficulty_survives_the_shuffle_and_is_not_found_by_comparisons(tmp_path: Path) -> None:
    memory = memory_of(
        tmp_path,
        [
            *group("hw", "run panic", of=160, succeed=32, task_kind="fix"),
            *group("h", of=40, succeed=8, task_kind="fix"),
            *group("ew", "run panic", of=20, succeed=16, task_kind="docs"),
            *group("e", of=180, succeed=144, task_kind="docs"),
        ],
    )
    found = memory.causality.placebo()
    assert (found.trials, found.tested, found.rounds) == (400, 1, 20)
    assert (found.plain, found.found) == (1, 0)
    assert found.plain_in_noise >= 0.9
    assert found.found_in_noise <= 0.2


def test_a_real_difference_does_not(tmp_path: Path) -> None:
    memory = memory_of(tmp_path, [*group("a", "run skip", of=100, succeed=20), *group("b", of=100, succeed=80)])
    found = memory.causality.placebo(rounds=40)
    assert (found.plain, found.found) == (1, 1)
    assert found.plain_in_noise == 0
    assert found.found_in_noise <= 0.25
    assert found.any_in_noise == found.found_in_noise  # one comparison: it is found or not
    assert memory.causality.placebo(rounds=40) == found


@pytest.mark.parametrize("rounds", [0, 1001, 2.5])
def test_rounds_have_a_range(tmp_path: Path, rounds: int) -> None:
    with pytest.raises(HelixGraphError, match="rounds"):
        memory_of(tmp_path, []).causality.placebo(rounds=rounds)
