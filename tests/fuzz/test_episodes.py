"""Episodes that are nearly right: one file's problem stays that file's, and what it held can be forgotten."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from demo_logs import demo_memory_in
from fuzzing import mutated, named, rounds
from helix_episodes.errors import HelixGraphError
from helix_episodes.model import Episode

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.fuzz


def test_episodes(tmp_path: Path) -> None:
    memory = demo_memory_in(tmp_path)
    paths = [path for path, _ in memory.episodes.scan()]
    for number, chance in enumerate(rounds()):
        path = chance.choice(paths)
        whole = path.read_bytes()
        data = mutated(whole, chance)
        path.write_bytes(data)
        path.chmod(0o600)
        with named(chance, data):
            report = memory.graph.compile()
            assert {one.path for one in report.skipped} <= {str(path)}
            read = [one for _, one in memory.episodes.scan() if isinstance(one, Episode)]
            assert len(read) >= len(paths) - 1
            if number % 5 == 0:
                findings = memory.doctor().findings
                faulty = {one.file for one in findings if one.severity == "fault"}
                assert faulty <= {f"episodes/{path.name}"}, findings
                memory.graph.networkx()
                memory.causality.patterns()
            if number % 10 == 0:
                session = path.stem.removeprefix("episode-")
                proof = memory.forget([session]).proof
                assert proof is not None
                assert not proof.left
        path.write_bytes(whole)
        path.chmod(0o600)
        for tombstone in (memory.root / "forgotten").glob("*.json"):
            tombstone.unlink()
    memory.graph.compile()
    assert memory.graph.status().episodes == len(paths)


def test_nothing_but_our_errors(tmp_path: Path) -> None:
    """Whatever is asked of a memory with a spoilt file, the answer is one of ours."""
    memory = demo_memory_in(tmp_path)
    (path, one), *_ = memory.episodes.scan()
    assert isinstance(one, Episode)
    whole = path.read_bytes()
    for chance in rounds():
        data = mutated(whole, chance)
        path.write_bytes(data)
        with named(chance, data):
            for ask in (memory.episodes.get, memory.timeline, memory.episodes.evidence):
                try:
                    ask(one.session)
                except HelixGraphError as error:
                    assert str(error)  # noqa: PT017  (which error, if any, is open)
