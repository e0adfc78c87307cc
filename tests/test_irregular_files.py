"""What does the memory do with a pipe, a link or a folder in the place of one of its files?"""

from __future__ import annotations

import os
import socket
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from helix_cli.app import run
from helix_graph import Memory
from own_memory import own_memory
from processes import answered
from thoroughness import few

if TYPE_CHECKING:
    from collections.abc import Callable


EPISODE, ASSERTION = "episodes/episode-x.json", "causality/assertions/ax.json"


def pipe(path: Path) -> None:
    os.mkfifo(path)


def link(path: Path) -> None:
    target = path.with_suffix(".txt")
    target.write_text("not the memory's", encoding="utf-8")
    target.chmod(0o644)
    path.symlink_to(target)


def dangling(path: Path) -> None:
    path.symlink_to(path.with_name("nowhere"))


def folder(path: Path) -> None:
    path.mkdir()
    (path / "kept").write_text("kept", encoding="utf-8")


def unix_socket(path: Path) -> None:
    with tempfile.TemporaryDirectory() as short, socket.socket(socket.AF_UNIX) as one:  # its path may have 108 bytes
        one.bind(f"{short}/s")
        Path(short, "s").rename(path)


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    memory = own_memory(tmp_path / "memory")
    memory.episodes.new("s1", "Ship it", "success")
    memory.graph.add_causal_node("event", "deploy")
    memory.graph.compile()
    return memory


@pytest.mark.parametrize("place", few([EPISODE, ASSERTION], 1))
@pytest.mark.parametrize("make", [pipe, link, dangling, folder, unix_socket])
def test_it_is_named_and_set_aside_once(
    memory: Memory,
    make: Callable[[Path], None],
    place: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    make(memory.root / place)
    monkeypatch.setenv("HELIX_DIR", str(memory.root))
    assert run(["doctor"]) == 1
    assert "not a regular file" in capsys.readouterr().out
    named = [(one.kind, one.file) for one in memory.doctor().findings if one.severity == "fault"]
    assert named == [("not a regular file", place)]
    assert [one.mended for one in memory.doctor(fix=True).findings if one.severity == "fault"] == [True]
    again = memory.doctor(fix=True)
    assert [one for one in again.findings if one.severity == "fault"] == []
    aside = list((memory.root / "set-aside").glob("*/*"))
    assert len(aside) == 1
    assert not os.path.lexists(memory.root / place)


@pytest.mark.parametrize("place", [EPISODE, ASSERTION])
def test_every_command_goes_on_around_a_pipe(memory: Memory, place: str) -> None:
    pipe(memory.root / place)
    code, said, complaints = answered("compile", memory=memory.root)
    assert code in {0, 1}
    assert "named pipe" in said + complaints
    assert answered("episode", "list", memory=memory.root)[1].count("Ship it") == 1
    assert memory.graph.compile().episodes_processed == 0
    status = memory.graph.status()
    assert (status.skipped, status.pending) == (1, 0)


def test_a_link_is_not_followed(memory: Memory, tmp_path: Path) -> None:
    outside = tmp_path / "episode-x.json"
    other = Memory(tmp_path / "other")
    other.episodes.new("x", "Somebody else's", "success")
    other.episodes.path_of("x").rename(outside)
    outside.chmod(0o644)
    (memory.root / EPISODE).symlink_to(outside)
    report = memory.graph.compile()
    assert [one.problem for one in report.skipped] == ["cannot be read: it is a link, not a regular file"]
    assert [one.task for one in memory.episodes.list()] == ["Ship it"]
    memory.doctor(fix=True)
    assert outside.stat().st_mode & 0o777 == 0o644


def test_a_pipe_among_the_tombstones_is_named(memory: Memory) -> None:
    (memory.root / "forgotten").mkdir()
    pipe(memory.root / "forgotten" / "x.json")
    named = [(one.kind, one.file) for one in memory.doctor(fix=True).findings]
    assert named == [("not a regular file", "forgotten/x.json")]


@pytest.mark.parametrize(
    "command", ["topic batch", "topic topics import --file", "plan save", "exploration save", "workspace create --data"]
)
def test_a_command_does_not_wait_for_a_pipe_that_it_is_given(memory: Memory, tmp_path: Path, command: str) -> None:
    pipe(tmp_path / "given")
    code, _, complaints = answered(*command.split(), str(tmp_path / "given"), memory=memory.root)
    assert code in {1, 2}
    assert "named pipe, not a regular file" in " ".join(complaints.split())
