"""Does a link in place of the memory or one of its folders lead out of it, and who may read what we make?"""

from __future__ import annotations

import json
import os
import shutil
from importlib.resources import files
from typing import TYPE_CHECKING

import pytest

from helix_graph import Memory
from helix_graph.errors import FolderInUse, UntrustedMemory
from hook_calls import call
from own_memory import accepted
from processes import answered
from thoroughness import few

if TYPE_CHECKING:
    from pathlib import Path

LINKED = few(
    ["", "causality", "episodes", "hooks", "pages", "cache", "causality/assertions", "set-aside", "forgotten"], 4
)
DEMO = files("helix_cli") / "demo" / "logs" / "ee85f1b7-3130-5e40-8d1d-d5ec8ac7691f.jsonl"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("HELIX_DIR", raising=False)
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    Memory.init(folder)
    monkeypatch.chdir(folder)
    return folder


def link_out(project: Path, name: str) -> Path:
    """What a clone brings: a link to a folder outside, which holds something of its owner's."""
    outside = project.parent / "out"
    outside.mkdir()
    (outside / "causal-graph.json").write_text('{"precious": 1}')
    place = project / ".helix" / name
    if not name:
        (place / ".gitignore").unlink()
        shutil.rmtree(place)
    place.parent.mkdir(exist_ok=True)
    place.symlink_to(outside)
    return outside


@pytest.mark.parametrize("name", LINKED)
@pytest.mark.slow
def test_nothing_is_written_where_it_leads(project: Path, name: str) -> None:
    outside = link_out(project, name)
    told = {"session_id": "s1", "cwd": str(project), "transcript_path": str(DEMO), "prompt": "the cart fails"}
    for event in ("session-start", "user-prompt", "session-end"):
        answer = call(event, told)
        assert (answer.code, answer.said, answer.errors) == (0, None, b"")
    for ask in (["compile"], ["doctor", "--fix"], ["episode", "extract", str(DEMO)], ["forget", "--session", "x"]):
        code, _, complaint = answered(*ask, memory=project / ".helix" / "." if name else project / ".helix")
        if name:
            assert (code, "is a link or a file" in complaint) == (1, True), (ask, complaint)
    assert {path.name for path in outside.iterdir()} == {"causal-graph.json"} or not name
    assert json.loads((outside / "causal-graph.json").read_text()) == {"precious": 1} or not name


def test_a_memory_that_is_a_link_is_refused_and_one_that_its_owner_names_is_not(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outside = link_out(project, "")
    with pytest.raises(UntrustedMemory, match="link"):
        Memory.open(project)
    with pytest.raises(FolderInUse, match="HELIX_DIR"):
        Memory.init(project)
    call("session-start", {"session_id": "s", "cwd": str(project)})
    assert {path.name for path in outside.iterdir()} == {"causal-graph.json"}
    accepted(outside)
    monkeypatch.setenv("HELIX_DIR", str(project / ".helix"))
    assert Memory.open(project).root == outside


@pytest.mark.parametrize("umask", few([0o000, 0o077], 1))
def test_folders_are_their_owners_whatever_the_umask(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, umask: int
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    before = os.umask(umask)
    try:
        (project / "inner" / ".git").mkdir(parents=True)
        memory = Memory.init(project / "inner")
        memory.extract([DEMO])  # type: ignore[list-item]  # a path on the disk
        memory.graph.compile()
        memory.view()
        memory.insights.store("Run the tests before a push.")
        memory.forget([memory.episodes.list()[0].session])
        answered("topic", "store", "shop", "x", "--global", memory=memory.root)
        call("session-start", {"session_id": "s", "cwd": str(memory.root.parent)})
    finally:
        os.umask(before)
    made = [memory.root, tmp_path / "home" / ".helix-kb"]
    folders = [path for top in made for path in (top, *top.rglob("*")) if path.is_dir()]
    assert len(folders) > 5
    assert {path: path.stat().st_mode & 0o777 for path in folders} == dict.fromkeys(folders, 0o700)
    private = [path for top in made for path in top.rglob("*") if path.is_file() and path.name != ".gitignore"]
    assert {path: path.stat().st_mode & 0o777 for path in private} == dict.fromkeys(private, 0o600)


def test_the_doctor_closes_a_memory_that_others_can_list(project: Path) -> None:
    memory = Memory.open(project)
    memory.root.chmod(0o755)
    assert [(one.kind, one.file) for one in memory.doctor().findings] == [("open to others", ".")]
    assert memory.doctor(fix=True).healthy
    assert memory.root.stat().st_mode & 0o777 == 0o700


def test_settings_and_caches_are_ours_to_the_doctor(project: Path) -> None:
    memory = Memory.open(project)
    (memory.root / "config.toml").write_text("[search]\n")
    (memory.root / "cache").mkdir()
    (memory.root / "cache" / "forgetful.json").write_text("{}")
    assert [one for one in memory.doctor().findings if one.kind == "unknown file"] == []


def test_settings_that_are_nested_deep_are_refused_in_a_sentence(project: Path) -> None:
    (project / ".helix" / "config.toml").write_text("x=" + "[" * 5000)
    code, _, complaint = answered("search", "cart", memory=project / ".helix")
    assert (code, "config.toml" in complaint, "Traceback" in complaint) == (1, True, False), complaint
