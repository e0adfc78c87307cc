"""What does a memory answer that lies in a folder where nothing may be written, to a user who is not root?"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from advised_project import ADVICE as SHOPS_ADVICE
from advised_project import advised
from direct_agent import direct_agent_of
from helix_graph import Memory
from hook_calls import call

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from session_script import Script

ADVICE = "When the totals fail look at the discount first"
#: Root may write anywhere, so it gives up the right to.
_POWERS = "-dac_override,-dac_read_search,-fowner"
_AS_A_USER = ["setpriv", "--bounding-set", _POWERS, "--inh-caps", _POWERS] if os.geteuid() == 0 else []

pytestmark = pytest.mark.skipif(bool(_AS_A_USER) and not shutil.which("setpriv"), reason="root may write anywhere")


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Path]:
    """A project whose memory has an insight, and no topics yet; nothing may be written there."""
    Memory.init(tmp_path).insights.store(ADVICE)
    folders = [tmp_path, *(path for path in tmp_path.rglob("*") if path.is_dir())]
    for folder in folders:
        folder.chmod(0o500)
    yield tmp_path
    for folder in folders:
        folder.chmod(0o700)


#: One process for several commands: each opens the memory anew, and what a process costs is not asked here.
_TELL = """
import contextlib, io, json, sys
from helix_cli.app import run
told = []
for arguments in json.loads(sys.argv[1]):
    with contextlib.redirect_stdout(io.StringIO()) as said, contextlib.redirect_stderr(said):
        code = run(arguments)
    told.append((code, said.getvalue()))
print(json.dumps(told))
"""


def told(project: Path, *commands: tuple[str, ...]) -> list[tuple[int, str]]:
    command = [*_AS_A_USER, sys.executable, "-c", _TELL, json.dumps(commands)]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, check=True)
    return [(code, text) for code, text in json.loads(done.stdout)]


ANSWERS = {
    ("topic", "topics"): "0 topics, 0 entries",
    ("topic", "brief"): "no entries yet",
    ("search", "totals"): "1 result. Matches: 1 in Insights.",
    ("insight", "recall", "totals"): ADVICE,
}


@pytest.mark.slow
def test_questions_are_answered(project: Path) -> None:
    found = dict(zip(ANSWERS, told(project, *ANSWERS), strict=True))
    assert {asked: one for asked, one in found.items() if one[0] != 0 or ANSWERS[asked] not in one[1]} == {}
    ((code, said),) = told(project, ("topic", "read", "totals"))
    assert (code, "no topic 'totals'" in said) == (1, True)


def test_the_doctor_and_the_status_name_it_and_say_what_to_do(project: Path) -> None:
    Memory.open(project).root.chmod(0o700)
    Memory.open(project).graph.compile()
    Memory.open(project).root.chmod(0o500)
    (code, said), (_, status) = told(project, ("doctor",), ("status",))
    assert code == 1
    assert "1 fault" in said
    root = Memory.open(project).root
    for text in (said, status):
        assert "permission denied" in text
        assert f"chmod u+w {root}" in " ".join(text.split())


def test_what_to_do_depends_on_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = Memory.init(tmp_path)
    assert memory.read_only is None
    with direct_agent_of(memory.root) as agent:
        monkeypatch.setattr(os, "access", lambda *_: False)
        assert f"chmod u+w {memory.root}" in str(memory.read_only)
        assert f"chmod u+w {memory.root}" in agent.call("status").text
    owner = memory.root.stat().st_uid
    with monkeypatch.context() as another:
        another.setattr(os, "geteuid", lambda: owner + 1)
        assert f"have its owner (user {owner}) let you write there" in str(memory.read_only)
    monkeypatch.setattr(os, "statvfs", lambda _: SimpleNamespace(f_flag=os.ST_RDONLY))
    assert "(read-only file system)" in str(memory.read_only)
    assert "mount its disk so that it can be written" in str(memory.read_only)


FAILED = {"tool_name": "Bash", "error": "E   ModuleNotFoundError: No module named 'respx'\n1 failed in 0.10s"}


@pytest.mark.slow
@pytest.mark.parametrize("state", [0o700, 0o500])
def test_hooks_answer_and_write_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, state: int) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "shop").mkdir()
    memory = advised(tmp_path / "shop")
    memory.insights.store("The courier API of the warehouse answers in pages of fifty parcels", ["courier"])
    memory.topics.store("paint", "The garden fence is painted with lasur of linseed")
    for path in (memory.root / "causality").glob("graph.db-*"):
        path.unlink()
    folders = [memory.root, *(path for path in memory.root.rglob("*") if path.is_dir())]
    before = {path: (path.stat().st_mtime_ns, path.stat().st_size) for path in memory.root.rglob("*")}
    for folder in folders:
        folder.chmod(0o500)
    (tmp_path / "state" / "helix-graph").chmod(state)
    session = {"session_id": "one", "cwd": str(memory.root.parent)}
    try:
        begun, asked, failed, again = (
            call(event, {**session, **more}, prefix=_AS_A_USER)
            for event, more in (
                ("session-start", {"source": "startup"}),
                ("user-prompt", {"prompt": "which courier pages of the warehouse, and why is the fence of linseed?"}),
                ("tool-failure", FAILED),
                ("tool-failure", FAILED),
            )
        )
        assert call("session-end", session, prefix=_AS_A_USER).said is None
    finally:
        (tmp_path / "state" / "helix-graph").chmod(0o700)
        for folder in folders:
            folder.chmod(0o700)
    assert begun.said is not None
    assert "can only be read (permission denied), so no session is recorded" in begun.said["systemMessage"]
    assert SHOPS_ADVICE in begun.context
    assert "pages of fifty parcels" in asked.context
    assert "linseed" in asked.context
    assert "the same line" in failed.context
    if state == 0o700:  # what was shown is remembered there
        assert again.said is None
    else:
        assert again.context == failed.context
    assert {path: (path.stat().st_mtime_ns, path.stat().st_size) for path in memory.root.rglob("*")} == before


@pytest.mark.slow
def test_what_a_killed_process_left_is_named_by_a_session_s_start_and_the_doctor(project: Path) -> None:
    memory = Memory.open(project)
    with closing(sqlite3.connect(memory.insights.path)) as connection:
        connection.execute("PRAGMA wal_autocheckpoint = 0")
        with connection:
            connection.execute("UPDATE insight SET tags = tags")
        for folder in (memory.root, project):
            folder.chmod(0o700)
        copy = project.parent / "copy"
        shutil.copytree(memory.root, copy)
    for name in ("helix.db", "helix.db-wal"):
        shutil.copy(copy / name, memory.root / name)
    memory.root.chmod(0o500)
    begun = call("session-start", {"session_id": "one", "cwd": str(project), "source": "startup"}, prefix=_AS_A_USER)
    assert begun.said is not None
    assert "can only be read" in begun.said["systemMessage"]
    (code, said), (_, asked) = told(project, ("doctor",), ("insight", "list"))
    memory.root.chmod(0o700)
    assert code == 1
    assert "2 faults" in said
    assert "make its folder writable once" in " ".join(said.split())
    assert "make its folder writable once" in asked


def test_what_would_write_says_in_a_sentence_that_it_may_not(project: Path) -> None:
    commands = (
        ("topic", "store", "totals", "in cents"), ("insight", "store", "--content", f"{ADVICE}, always"), ("compile",),
    )  # fmt: skip
    for asked, (code, text) in zip(commands, told(project, *commands), strict=True):
        assert (code, text.count("\n")) == (1, 1), (asked, text)
        assert "Permission denied" in text, (asked, text)


@pytest.mark.slow
def test_a_question_is_answered_though_another_projects_log_is_newer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: Callable[..., Script]
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    project, logs = tmp_path / "project", tmp_path / "home" / ".claude" / "projects" / "-work-other"
    memory = Memory.init(project)
    memory.insights.store(ADVICE)
    log = script("another", root="/work/other").prompt("Fix it").run("pytest -q", "1 passed in 0.1s").save(logs)
    memory.extract_all()
    os.utime(log, (time.time() - 59, time.time() - 59))  # of a session that ended since
    time.sleep(1)
    folders = [memory.root, *(path for path in memory.root.rglob("*") if path.is_dir())]
    for folder in folders:
        folder.chmod(0o500)
    ((code, text),) = told(project, ("search", "totals"))
    for folder in folders:
        folder.chmod(0o700)
    assert ADVICE in text
    assert code == 0
