"""Does a session stand there step by step, with its links, and the suspects where they are?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson
import pytest

from helix_episodes.errors import NotFound
from screens import shown
from small_worlds import memory_of, session

if TYPE_CHECKING:
    from pathlib import Path

    from helix_graph import Memory


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Memory:
    steps = "edit shop/cart.py", "pytest fails: KeyError", "run lint"
    one = session("a", *steps, success=False, links=("1 call 2", "2 answer 3"))
    made = memory_of(tmp_path, [one], compiled=True)
    monkeypatch.setenv("HELIX_DIR", str(made.root))
    return made


@pytest.mark.usefixtures("memory")
def test_steps_stand_in_the_order_of_the_log_with_what_they_led_to() -> None:
    told = shown("explain", "a", "--steps").out.splitlines()
    assert "session  a" in told[:3]  # after the sentence on quotations
    begin = next(number for number, line in enumerate(told) if "the task of a" in line)
    assert [line.split("  (")[0] for line in told[begin + 1 : begin + 6]] == [
        '  d001  "edit shop/cart.py"',
        "        -> e002 (causes: its result)",
        '  e002  "pytest fails: KeyError"',
        "        -> d003 (causes: in answer)",
        '  d003  "run lint"',
    ]


def test_suspects_are_marked_by_their_rank(memory: Memory) -> None:
    ranked = {one.decision: rank for rank, one in enumerate(memory.causality.explain("a").suspects, 1)}
    assert ranked
    told = shown("explain", "a", "--steps").out.splitlines()
    marked = {line.split()[0]: int(line.rpartition("suspect ")[2]) for line in told[:-1] if "  suspect " in line}
    assert marked == ranked


def test_json_has_every_step(memory: Memory) -> None:
    answer = orjson.loads(shown("explain", "a", "--steps", "--json").out)
    assert [step["id"] for step in answer["steps"]] == [step.id for step in memory.timeline("episode-a").steps]


def test_a_session_that_there_is_not_is_said_not_to_be_there(memory: Memory) -> None:
    with pytest.raises(NotFound):
        memory.timeline("nobody")
    assert shown("explain", "nobody", "--steps").code == 1
