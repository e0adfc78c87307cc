"""Are the answers those of the files as they are, whatever graph.db holds, in whatever order the sessions come?"""

from __future__ import annotations

import os
import random
import shutil
from typing import TYPE_CHECKING

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helix_graph.causality.edge_support import claims_of
from helix_graph.causality.effects import effect_report
from helix_graph.graph.observations import distinct, pack, trial_of, unpack
from small_worlds import keep, memory_of, session
from thoroughness import examples, few

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from helix_episodes.model import Episode
    from helix_graph import Memory


def some_sessions(count: int = 240) -> list[Episode]:
    """Sessions drawn from a few steps, with a difference worth finding."""
    source = random.Random(7)  # noqa: S311  (repeatable, not secret)
    made = []
    for number in range(count):
        steps = [step for step in ("run a", "run b", "edit c.py", "ruff fails: E501", "run d") if source.random() < 0.5]
        succeeds = source.random() < (0.2 if "run a" in steps else 0.7)
        kind = source.choice(["fix", "docs"])
        claims = ("1 stated 2",) if len(steps) > 1 else ()
        made.append(session(f"s{number:03}", *steps, success=succeeds, task_kind=kind, links=claims))
    return made


def answers(memory: Memory) -> bytes:
    causality = memory.causality
    return msgspec.json.encode([causality.comparisons(), causality.claims(), causality.survey()])


def changed_file(memory: Memory) -> None:
    keep(memory, session("s003", "run a", "run b", success=True))


def new_file(memory: Memory) -> None:
    keep(memory, session("zzz", "run a", success=True))


def deleted_file(memory: Memory) -> None:
    (memory.graph.episodes / "episode-s004.json").unlink()


def spoilt_file(memory: Memory) -> None:
    (memory.graph.episodes / "episode-s004.json").write_text("{")


def copied_file(memory: Memory) -> None:
    shutil.copy(memory.graph.episodes / "episode-s004.json", memory.graph.episodes / "episode-copy.json")


def corrected_outcome(memory: Memory) -> None:
    before = memory.episodes.require("s005").outcome
    memory.episodes.outcome("s005", "failure" if before == "success" else "success", because="CI said so")


def lost_graph(memory: Memory) -> None:
    memory.graph.path_of_file.unlink()


def spoilt_graph(memory: Memory) -> None:
    data = memory.graph.path_of_file.read_bytes()
    memory.graph.path_of_file.write_bytes(data[:100] + b"\xff" * (len(data) - 100))


CHANGES = [
    changed_file, new_file, deleted_file, spoilt_file, copied_file, corrected_outcome, lost_graph, spoilt_graph,
]  # fmt: skip


@pytest.mark.parametrize("change", few(CHANGES, 1), ids=lambda change: change.__name__)
@pytest.mark.slow
def test_a_stale_graph_and_none_give_the_same_answers(tmp_path: Path, change: Callable[[Memory], None]) -> None:
    memory = memory_of(tmp_path, some_sessions(), compiled=True)
    before = answers(memory)
    change(memory)
    stale = answers(memory)
    if memory.graph.path_of_file.exists() and change is not spoilt_graph:
        memory.graph.compile()
        assert answers(memory) == stale
    memory.graph.path_of_file.unlink(missing_ok=True)
    assert answers(memory) == stale
    if change not in {lost_graph, spoilt_graph}:
        assert stale != before


def test_a_copy_under_another_name_is_told_and_not_counted(tmp_path: Path) -> None:
    memory = memory_of(tmp_path, some_sessions())
    trials = memory.causality.comparisons().trials
    copied_file(memory)
    survey = memory.causality.survey()
    assert survey.compared == trials
    assert [one.problem for one in survey.skipped] == ["its id is not its file's name"]


def test_digests_of_another_version_are_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from helix_graph.graph import source_files

    memory = memory_of(tmp_path, some_sessions())
    for path in memory.graph.episodes.iterdir():  # a file of this very moment is looked into again
        os.utime(path, (1e9, 1e9))
    memory.graph.compile()
    assert memory.graph.digests().to_read == ()
    monkeypatch.setattr(source_files, "TRIAL_VERSION", "from the future")
    assert len(memory.graph.digests().to_read) == 240


SESSIONS = some_sessions(210)
WHOLE = [trial_of(one) for one in SESSIONS]


@settings(max_examples=examples(10), deadline=None)
@given(st.randoms(use_true_random=False))
@pytest.mark.slow
def test_neither_order_nor_shards_nor_repeats_change_an_answer(source: random.Random) -> None:
    mixed = WHOLE[:]
    source.shuffle(mixed)
    shards = [unpack(map(pack, mixed[start::3])) for start in range(3)]
    merged = distinct([*shards[2], *shards[0], *shards[1], *shards[0]])
    for asked in (effect_report, claims_of):
        expected = msgspec.json.encode(asked(WHOLE))
        assert len(expected) > 1_000
        assert msgspec.json.encode(asked(mixed)) == expected
        assert msgspec.json.encode(asked(merged)) == expected


@settings(max_examples=examples(30), deadline=None)
@given(st.data())
def test_packing_keeps_everything(any_episodes: st.SearchStrategy[tuple[Episode, ...]], data: st.DataObject) -> None:
    trials = [trial_of(one) for one in data.draw(any_episodes)]
    assert unpack(map(pack, trials)) == trials
    assert [pack(one) for one in unpack(map(pack, trials))] == [pack(one) for one in trials]
