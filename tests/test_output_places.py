"""Does an answer that is written to a file spare devices, pipes and links, whichever command writes it?"""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from helix_cli.app import run
from learnt_world import remember, repaired

if TYPE_CHECKING:
    from pathlib import Path

    from helix_graph import Memory

WRITERS = [
    ("view", "--output"),
    ("report", "--output"),
    ("graph", "export", "--output"),
    ("insight", "export", "--output"),
    ("explain", "s1", "--html"),
    ("contrast", "s1", "--html"),
]
every_writer = pytest.mark.parametrize("writer", WRITERS, ids=" ".join)


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Memory:
    memory = remember(tmp_path / "project", repaired("s1"))
    monkeypatch.setenv("HELIX_DIR", str(memory.root))
    return memory


@every_writer
@pytest.mark.usefixtures("memory")
def test_a_pipe_is_neither_replaced_nor_waited_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], writer: tuple[str, ...]
) -> None:
    pipe = tmp_path / "pipe.html"
    os.mkfifo(pipe)
    assert run([*writer, str(pipe)]) == 1
    assert f"{pipe}: could not be written (it is a named pipe, not a regular file)" in capsys.readouterr().err
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@every_writer
@pytest.mark.usefixtures("memory")
def test_a_pipe_is_refused_through_a_link_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], writer: tuple[str, ...]
) -> None:
    pipe, link = tmp_path / "pipe", tmp_path / "link.html"
    os.mkfifo(pipe)
    link.symlink_to(pipe)
    assert run([*writer, str(link)]) == 1
    assert "it is a named pipe, not a regular file" in capsys.readouterr().err
    assert link.is_symlink()
    assert stat.S_ISFIFO(pipe.stat().st_mode)


# Not the machine's own /dev/null: were the rule broken, root would lose it.
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a device")
@every_writer
@pytest.mark.usefixtures("memory")
def test_a_device_stays_one(tmp_path: Path, capsys: pytest.CaptureFixture[str], writer: tuple[str, ...]) -> None:
    device = tmp_path / "null"
    try:
        os.mknod(device, stat.S_IFCHR | 0o600, os.makedev(1, 3))
    except PermissionError:
        pytest.skip("no device can be made here")
    assert run([*writer, str(device)]) == 1
    assert str(device) in capsys.readouterr().err
    assert stat.S_ISCHR(device.stat().st_mode)


@every_writer
@pytest.mark.usefixtures("memory")
def test_a_link_stays_and_what_it_leads_to_is_replaced(tmp_path: Path, writer: tuple[str, ...]) -> None:
    target, link, plain = (tmp_path / name for name in ("kept.html", "link.html", "plain.html"))
    target.write_text("old", encoding="utf-8")
    link.symlink_to(target.name)
    assert run([*writer, str(link)]) == 0
    assert run([*writer, str(plain)]) == 0
    assert link.readlink().name == target.name
    assert target.read_bytes() == plain.read_bytes()


@pytest.mark.parametrize("writer", [each for each in WRITERS if each[0] != "report"], ids=" ".join)
@pytest.mark.usefixtures("memory")
def test_a_slash_at_the_end_is_refused_where_only_a_file_can_be_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], writer: tuple[str, ...]
) -> None:
    assert run([*writer, f"{tmp_path}/pages/"]) == 2
    assert "pages/ is the name of a folder; name a file in it" in capsys.readouterr().err
    assert not (tmp_path / "pages").exists()


@every_writer
@pytest.mark.usefixtures("memory")
def test_a_dash_is_not_made_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], writer: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run([*writer, "-"]) == 2
    assert "- is not stdout here; name a file" in capsys.readouterr().err
    assert not (tmp_path / "-").exists()


@every_writer
def test_a_database_is_not_replaced(
    memory: Memory, capsys: pytest.CaptureFixture[str], writer: tuple[str, ...]
) -> None:
    memory.insights.store("When the parcel API times out, retry with the idempotency key")
    notes = memory.root / "helix.db"
    before = notes.read_bytes()
    assert run([*writer, str(notes)]) == 1
    assert "a database is there, which no answer replaces" in capsys.readouterr().err.replace("\n", " ")
    assert notes.read_bytes() == before


@every_writer
def test_an_episode_is_not_replaced(
    memory: Memory, capsys: pytest.CaptureFixture[str], writer: tuple[str, ...]
) -> None:
    (episode,) = (memory.root / "episodes").glob("episode-*.json")
    before = episode.read_bytes()
    assert run([*writer, str(episode)]) == 1
    assert "it is an episode of a memory, which no answer replaces" in capsys.readouterr().err.replace("\n", " ")
    assert episode.read_bytes() == before


@pytest.mark.usefixtures("memory")
def test_a_link_to_nothing_yet_and_one_in_a_circle(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "new.html").symlink_to("later.html")
    (tmp_path / "round.html").symlink_to("round.html")
    assert run(["view", "--output", str(tmp_path / "new.html")]) == 0
    assert (tmp_path / "later.html").is_file()
    assert run(["view", "--output", str(tmp_path / "round.html")]) == 1
    assert "could not be written" in capsys.readouterr().err
    assert (tmp_path / "round.html").is_symlink()


@pytest.mark.slow
def test_the_file_that_stdout_goes_to_is_not_replaced(memory: Memory, tmp_path: Path) -> None:
    answers = tmp_path / "answers.txt"
    answers.write_text("kept\n", encoding="utf-8")
    command = [sys.executable, "-m", "helix_cli", "view", "--output", str(answers)]
    environment = {**os.environ, "HELIX_DIR": str(memory.root)}
    with answers.open("a", encoding="utf-8") as stdout:
        done = subprocess.run(command, stdout=stdout, stderr=subprocess.PIPE, text=True, env=environment, check=False)
    assert done.returncode == 1
    assert "it is where the command prints its answer" in done.stderr
    assert answers.read_text(encoding="utf-8") == "kept\n"


def test_promoting_refuses_a_link_and_a_pipe(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    name = memory.insights.store("Run the tests before a push.", tags=["user-provided"])["name"]
    agents, link, pipe = (tmp_path / each for each in ("AGENTS.md", "CLAUDE.md", "PIPE.md"))
    agents.write_text("# Rules\n", encoding="utf-8")
    link.symlink_to(agents.name)
    assert run(["insight", "promote", name, "--file", str(link), "--anyway", "--write"]) == 2
    assert f"{link} leads to {agents}" in capsys.readouterr().err
    assert agents.read_text(encoding="utf-8") == "# Rules\n"
    os.mkfifo(pipe)
    assert run(["insight", "promote", name, "--file", str(pipe), "--anyway"]) == 1
