"""What does a memory answer that lies in a folder where nothing may be written, to a user who is not root?"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from helix_graph import Memory

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
    ("topic", "read", "totals"): "topic 'totals' not found",
    ("topic", "brief"): "no entries yet",
    ("search", "totals"): "1 result. Matches: 1 in Insights.",
    ("doctor",): "No problems found.",
    ("insight", "recall", "totals"): ADVICE,
}


@pytest.mark.slow
def test_questions_are_answered(project: Path) -> None:
    found = dict(zip(ANSWERS, told(project, *ANSWERS), strict=True))
    assert {asked: one for asked, one in found.items() if one[0] != 0 or ANSWERS[asked] not in one[1]} == {}


def test_what_would_write_says_in_a_sentence_that_it_may_not(project: Path) -> None:
    commands = (
        ("topic", "store", "totals", "in cents"), ("insight", "store", "--content", f"{ADVICE}, always"), ("compile",),
    )  # fmt: skip
    for asked, (code, text) in zip(commands, told(project, *commands), strict=True):
        assert (code, text.count("\n")) == (1, 1), (asked, text)
        assert "Permission denied" in text or "attempt to write a readonly database" in text, (asked, text)


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
