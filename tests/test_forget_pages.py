"""Do pages and reports that were written into the memory go with a session, and are copies of them looked into?"""

from __future__ import annotations

import html
import os
import zipfile
from typing import TYPE_CHECKING

import pytest

from helix_graph.web.rendering import PAGE_MARK, REPORT_MARK
from own_memory import own_memory
from processes import write_logs
from thoroughness import few

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from helix_graph import Memory
    from helix_graph.forget import ErasureProof
    from session_script import Script

SESSION = "the-secret-session"
THEIR_TASK = "Prepare the bindery's layoffs & <notices> of the *team*"


@pytest.fixture
def memory(tmp_path: Path, script: Callable[..., Script]) -> Memory:
    memory = own_memory(tmp_path / ".helix")
    secret = script(SESSION, root="/work/bindery").prompt(THEIR_TASK).run("pytest -q", "1 failed in 0.1s", code=1)
    memory.extract([*write_logs(tmp_path / "logs", script, 2), secret.edit("bindery/knife.py").save(tmp_path / "own")])
    memory.graph.compile()
    return memory


def proof_of(memory: Memory) -> ErasureProof:
    proof = memory.forget([SESSION]).proof
    assert proof is not None
    return proof


@pytest.mark.parametrize("form", few(["page", "folder", "html", "markdown", "json", "card"], 2))
def test_what_was_written_anywhere_below_the_memory_goes_with_a_session(
    memory: Memory, tmp_path: Path, form: str
) -> None:
    for folder in (memory.root / "shown", tmp_path / "outside"):
        folder.mkdir()
        if form == "page":
            memory.view(output=folder / "some-name")
        else:
            memory.report(
                output=folder if form == "folder" else folder / "some.name", format=form.replace("folder", "html")
            )
    notes = memory.root / "shown" / "notes.md"
    notes.write_text("# Notes\n\nThe knives are sharpened on Fridays.\n")
    assert proof_of(memory).whole
    assert list((memory.root / "shown").iterdir()) == [notes]
    assert list((tmp_path / "outside").iterdir())


def saved_by_a_browser(page: bytes) -> bytes:
    return page.replace(b"<!doctype html>", b"<!DOCTYPE html>\n<!-- saved from url=(0031)file:///work/page.html -->", 1)


def escaped_in_a_report(_: Memory) -> bytes:
    return f"<!doctype html><head>{REPORT_MARK}</head><p>{html.escape(THEIR_TASK)}</p>".encode()


def packed_in_a_page(memory: Memory) -> bytes:
    page = memory.root.parent / "page.html"
    memory.view(output=page)
    return page.read_bytes()


@pytest.mark.parametrize("made", [packed_in_a_page, escaped_in_a_report])
@pytest.mark.parametrize("kept", few(["zip", "browser"], 1))
def test_a_copy_that_is_no_file_of_ours_is_named(memory: Memory, made: Callable[[Memory], bytes], kept: str) -> None:
    page = made(memory)
    assert THEIR_TASK.encode() not in page
    if kept == "zip":
        with zipfile.ZipFile(memory.root / "copy", "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("page.html", page)
    else:
        (memory.root / "copy").write_bytes(saved_by_a_browser(page))
    proof = proof_of(memory)
    assert [trace.file for trace in proof.left] == ["copy"]
    assert proof.unsearched == ()


def test_a_pack_that_is_damaged_is_named(memory: Memory) -> None:
    page = f'<html><head>{PAGE_MARK}</head><script type="text/plain" id="pack-meta">AAAAAAAA</script></html>'
    (memory.root / "page.html").write_text(page)
    assert [one.file for one in proof_of(memory).unsearched] == ["page.html"]


def test_what_is_too_large_for_a_page_is_named_and_not_read_whole(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("helix_graph.web.written_files.LARGEST", 1000)
    memory.view(output=memory.root / "page.html")
    proof = proof_of(memory)
    assert not proof.whole
    assert any("larger than any page" in one.problem for one in proof.unsearched)


def test_what_only_quotes_the_mark_of_a_page_stays(memory: Memory) -> None:
    memory.insights.store(f"A page begins with {PAGE_MARK}")
    (memory.root / "notes.txt").write_text(f"A page has {PAGE_MARK} in its head")
    assert proof_of(memory).whole
    assert len(memory.insights.newest()) == 1
    assert (memory.root / "notes.txt").exists()


def test_what_takes_no_room_on_the_disk_is_passed_over(memory: Memory) -> None:
    """A file may be of any size; what stands after its hole is found."""
    copy = memory.root / "copy.txt"
    copy.write_bytes(b"# x")
    os.truncate(copy, 1 << 40)
    with copy.open("ab") as file:
        file.write(THEIR_TASK.encode())
    assert [one.file for one in proof_of(memory).left] == ["copy.txt"]
