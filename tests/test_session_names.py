"""Which session is meant by the beginning of an id, or by ``last``?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from helix_cli.app import run
from helix_episodes.errors import NotFound
from helix_graph import Memory

if TYPE_CHECKING:
    from pathlib import Path

DAYS = {"aaaa1111": "2026-03-01", "aaaa2222": "2026-03-03", "bbbb3333": "2026-03-02"}


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Memory:
    """Three sessions, of which neither the names nor the order of writing says which one is newest."""
    monkeypatch.setenv("HELIX_DIR", str(tmp_path / ".helix"))
    made = Memory.init(tmp_path)
    for name, day in DAYS.items():
        made.episodes.new(name, f"task of {name}", "success", timestamp=f"{day}T09:00:00Z")
    made.graph.compile()
    return made


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("bbbb", "bbbb3333"),
        ("episode-bbbb", "bbbb3333"),
        ("last", "aaaa2222"),
        ("last~1", "bbbb3333"),
        ("last~2", "aaaa1111"),
    ],
)
def test_every_question_about_a_session_takes_short_names(memory: Memory, said: str, meant: str) -> None:
    assert memory.episodes.require(said).session == meant
    assert memory.causality.explain(said).episode == f"episode-{meant}"
    assert [one.id for one in memory.graph.excerpt(episode=said).sessions] == [f"episode-{meant}"]
    assert memory.episodes.outcome(said, "failure", because="tried").session == meant


def test_several_sessions_of_one_beginning_are_named(memory: Memory) -> None:
    with pytest.raises(NotFound, match='"aaaa1111", "aaaa2222"'):
        memory.episodes.require("aaaa")


@pytest.mark.parametrize("said", ["bbb", "last~3", "nobody"])
def test_what_names_no_session_is_an_error(memory: Memory, said: str) -> None:
    with pytest.raises(NotFound if "~" not in said else Exception, match=said):
        memory.episodes.require(said)


def test_forget_prefers_the_exact_name(memory: Memory) -> None:
    memory.episodes.new("bbbb", "called like the beginning of another", "success")
    assert memory.forget(["bbbb"]).sessions == ("bbbb",)
    assert memory.forget(["bbbb"]).sessions == ("bbbb",), "forgotten already; bbbb3333 is not meant"
    assert memory.episodes.get("bbbb3333") is not None


def test_the_command_takes_them_too(memory: Memory, capsys: pytest.CaptureFixture[str]) -> None:
    assert memory
    assert run(["sessions", "show", "last"]) == 0
    assert "task of aaaa2222" in capsys.readouterr().out


def test_further_back_than_there_are_sessions_is_no_session(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"no session 'last~9'; `helix-graph sessions list` shows all"):
        Memory.init(tmp_path).episodes.require("last~9")
