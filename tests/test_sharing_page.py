"""Does the example of the page on sharing run as it is shown?"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[1] / "docs" / "how-to" / "share-with-a-team.md"


@pytest.mark.slow
def test_the_example_runs_as_shown(tmp_path: Path) -> None:
    blocks = re.findall(r"<!-- runs: two clones -->\n```console\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) == 4
    shown = "".join(blocks)
    commands = [line.removeprefix("$ ") for line in shown.splitlines() if line.startswith("$ ")]
    script = "set -e\n" + "\n".join(f"echo {_quoted('$ ' + one)}\n{one}" for one in commands)
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "HELIX"))},
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "COLUMNS": "160",
    }
    folder = tmp_path / "team"
    folder.mkdir()
    done = subprocess.run(
        ["bash", "-c", script], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    said = re.sub(r"[0-9a-f]{24}(?=\.json)", "…", done.stdout)
    assert done.returncode == 0, (said, done.stderr)
    assert [line for line in said.splitlines() if line in shown.splitlines()] == shown.splitlines(), said


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
