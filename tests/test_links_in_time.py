"""Is anything written elsewhere when a link takes the place of a folder after it was looked at?"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from helix_episodes.errors import WriteFailed
from helix_episodes.safe_files import write_atomically, write_output
from helix_graph import Memory
from helix_graph.managed_block import added_line

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder of the user's that nothing here has to do with."""
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "AGENTS.md").write_text("# Mine\n")
    return folder


def swap(folder: Path, target: Path) -> None:
    folder.rename(folder.with_name("moved"))
    folder.symlink_to(target)


def kept(outside: Path) -> bool:
    return {one.name: one.read_text() for one in outside.iterdir()} == {"AGENTS.md": "# Mine\n"}


@pytest.mark.parametrize("name", ["docs/AGENTS.md", "docs/new/AGENTS.md"])
def test_a_line_for_agents_goes_into_the_file_that_was_shown(tmp_path: Path, outside: Path, name: str) -> None:
    (tmp_path / "shop" / "docs").mkdir(parents=True)
    memory = Memory.init(tmp_path / "shop")
    change = added_line(tmp_path / "shop" / name, "- Run the tests", memory=memory.root, option="into")
    assert "- Run the tests" in change.diff
    swap(tmp_path / "shop" / "docs", outside)
    with pytest.raises(WriteFailed):
        change.write()
    assert kept(outside)


def test_a_file_that_became_a_link_is_replaced_and_not_followed(tmp_path: Path, outside: Path) -> None:
    (tmp_path / "shop").mkdir()
    memory = Memory.init(tmp_path / "shop")
    change = added_line(tmp_path / "shop" / "AGENTS.md", "- Run the tests", memory=memory.root, option="into")
    (tmp_path / "shop" / "AGENTS.md").symlink_to(outside / "AGENTS.md")
    change.write()
    assert kept(outside)
    assert "- Run the tests" in (tmp_path / "shop" / "AGENTS.md").read_text()


def test_an_answer_goes_where_its_path_led_when_it_was_looked_at(
    tmp_path: Path, outside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "out" / "deep").mkdir(parents=True)
    resolve: Callable[..., str] = os.path.realpath

    def resolved_and_swapped(path: Path) -> str:
        found = resolve(path)
        if not (tmp_path / "out").is_symlink():
            swap(tmp_path / "out", outside)
        return found

    monkeypatch.setattr(os.path, "realpath", resolved_and_swapped)
    with pytest.raises(WriteFailed):
        write_output(tmp_path / "out" / "deep" / "AGENTS.md", b"answer")
    assert kept(outside)


def test_a_link_that_a_person_made_is_followed_by_an_answer(tmp_path: Path, outside: Path) -> None:
    (tmp_path / "out").symlink_to(outside)
    write_output(tmp_path / "out" / "answer.md", b"answer")
    assert (outside / "answer.md").read_bytes() == b"answer"


def test_a_folder_of_the_memory_that_became_a_link_is_not_written_to(tmp_path: Path, outside: Path) -> None:
    root = Memory.init(tmp_path).root
    write_atomically(root / "pages" / "a.html", b"a")
    swap(root / "pages", outside)
    with pytest.raises(WriteFailed):
        write_atomically(root / "pages" / "AGENTS.md", b"b")
    assert kept(outside)
