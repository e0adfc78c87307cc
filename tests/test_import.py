"""What does importing the library do? Nothing: it prints nothing, opens nothing but code, and loads nothing heavy."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

HEAVY = {
    "networkx",
    "numpy",
    "scipy",
    "rich",
    "jinja2",
    "torch",
    "tokenizers",
    "sentence_transformers",
    "statsmodels",
    "pandas",
}
#: What an importing interpreter itself opens: code, shared libraries, folders it lists, and the files that add folders.
CODE = (".py", ".pyc", ".so", ".pyd", ".dylib", ".pth", ".zip")

PROBE = """
import json, os, sys
opened, started = [], []

def watch(event, details):
    if event == "open" and isinstance(details[0], (str, bytes)):
        opened.append(os.fsdecode(details[0]))
    elif event in {"subprocess.Popen", "socket.connect", "sqlite3.connect", "os.system", "os.mkdir"}:
        started.append(event)

environment = dict(os.environ)
sys.addaudithook(watch)
import MODULE
report = {
    "opened": opened,
    "started": started,
    "modules": sorted(sys.modules),
    "environment_kept": environment == dict(os.environ),
}
os.write(2, json.dumps(report).encode())
"""


def import_alone(module: str) -> tuple[bytes, dict[str, Any]]:
    done = subprocess.run(
        [sys.executable, "-c", PROBE.replace("MODULE", module)],
        capture_output=True,
        check=True,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )
    return done.stdout, json.loads(done.stderr)


@pytest.mark.parametrize("module", ["helix_graph", "helix_episodes", "helix_cli", "helix_cli.app"])
def test_importing_has_no_effect(module: str) -> None:
    printed, report = import_alone(module)
    assert printed == b""
    assert [path for path in report["opened"] if not path.endswith(CODE) and not os.path.isdir(path)] == []  # noqa: PTH112  (any path)
    assert report["started"] == []
    assert report["environment_kept"]


@pytest.mark.parametrize("module", ["helix_graph", "helix_episodes", "helix_cli.app"])
def test_importing_loads_nothing_heavy(module: str) -> None:
    _, report = import_alone(module)
    assert HEAVY & {name.split(".")[0] for name in report["modules"]} == set()


def test_the_library_does_without_the_command_line() -> None:
    _, report = import_alone("helix_graph")
    assert "click" not in report["modules"]


def test_the_probe_sees_what_it_looks_for() -> None:
    deeds = ("open(os.devnull).close()", "os.environ['SEEN'] = '1'", "sqlite3.connect(':memory:').close()")
    _, report = import_alone("; ".join(("sqlite3, numpy", *deeds)))
    assert "numpy" in report["modules"]
    assert os.devnull in report["opened"]
    assert "sqlite3.connect" in report["started"]
    assert not report["environment_kept"]
