"""Repositories to work in, made by git itself, whatever this machine's settings of git are."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def git(folder: Path, *arguments: str) -> None:
    """Runs git in a folder; submodules may come from beside it."""
    identity = {
        "GIT_AUTHOR_NAME": "a",
        "GIT_AUTHOR_EMAIL": "a@b.c",
        "GIT_COMMITTER_NAME": "a",
        "GIT_COMMITTER_EMAIL": "a@b.c",
    }
    environment = {**os.environ, **identity, "GIT_CONFIG_GLOBAL": os.devnull}
    command = ["git", "-c", "protocol.file.allow=always", "-C", str(folder), *arguments]
    subprocess.run(command, check=True, capture_output=True, env=environment)


def repository(folder: Path, **files: str) -> Path:
    """A repository whose one commit has these files, by the names of their Python modules: ``shop__cart="x = 1"``."""
    for name, text in files.items():
        path = folder / f"{name.replace('__', '/')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n")
    git(folder, "init", "-q")
    commit(folder)
    return folder


def commit(folder: Path) -> None:
    """Commits all there is."""
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "all there is")
