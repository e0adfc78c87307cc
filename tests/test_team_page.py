"""Does the example of the page on a team's server run as it is shown?"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from postgres_server import BINARIES, PostgresServer

PAGE = Path(__file__).parents[1] / "docs" / "how-to" / "team-server.md"


@pytest.mark.slow
@pytest.mark.usefixtures("postgres")
def test_the_example_runs_as_shown(tmp_path: Path) -> None:
    blocks = re.findall(r"<!-- runs: a server -->\n```console\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) == 5
    shown = "".join(blocks)
    commands = [line.removeprefix("$ ") for line in shown.splitlines() if line.startswith("$ ")]
    quoted = ["'$ " + one.replace("'", "'\\''") + "'" for one in commands]
    script = "set -e\n" + "\n".join(f"echo {text}\n{one}" for text, one in zip(quoted, commands, strict=True))
    server = PostgresServer()  # of its own: roles belong to a whole server
    server.execute("CREATE DATABASE team")
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "HELIX"))},
        "PATH": f"{Path(sys.executable).parent}:{BINARIES}:{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "PGHOST": str(server.folder),
        "COLUMNS": "160",
    }
    done = subprocess.run(
        ["bash", "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    server.close()
    assert done.returncode == 0, (done.stdout, done.stderr)
    assert done.stdout.splitlines() == shown.splitlines(), done.stderr
