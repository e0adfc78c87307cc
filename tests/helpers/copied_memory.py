"""A memory that many tests begin with is made once in a process; each test has a copy of its files."""

from __future__ import annotations

import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from helix_graph import Memory

if TYPE_CHECKING:
    from collections.abc import Callable


def copied(make: Callable[[Path], Memory], folder: Path) -> Memory:
    """A memory in ``folder`` with all that is in the one that ``make`` makes; it is recorded as begun in its own place.

    For memories that do not depend on where they are, on the test's own variables and settings, or on the time.
    """
    made = Memory.init(folder)
    shutil.copytree(_made(make), made.root, dirs_exist_ok=True, ignore=shutil.ignore_patterns("acceptance"))
    return made


@cache
def _made(make: Callable[[Path], Memory]) -> Path:
    folder = Path(_templates().name) / str(len(list(Path(_templates().name).iterdir())))
    folder.mkdir()
    return make(folder).root


@cache
def _templates() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="helix-graph-copied-")
