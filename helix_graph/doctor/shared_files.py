"""Check the files that a team shares through git, and the record of which of them came in here."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from helix_episodes.safe_files import irregularity, read_regular
from helix_graph.doctor.model import Fixable
from helix_graph.shared_authors import SHARED_HERE
from helix_graph.sharing.api import SharedHere, shared_problems
from helix_graph.sharing.git_files import FOLDER

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def check_shared_files(root: Path) -> Iterator[Fixable]:
    """Links and pipes among the shared files, those that nobody takes in, and a record that cannot be read."""
    for path in sorted((root / FOLDER).rglob("*")):
        if not path.is_dir() and (problem := irregularity(path)):
            name = path.relative_to(root).as_posix()
            yield Fixable("not a regular file", name, problem, "delete it, and run git status to see where it is from")
    for one in shared_problems(root):
        if one.kind == "secret":
            remedy = "edit the insight or entry and share it again; replace a secret that was committed at its service"
            yield Fixable("secret", one.file, f"line {one.line}: {one.problem}", remedy)
        else:
            remedy = "it is not read; restore it with git, or remove it with git rm"
            yield Fixable("unreadable file", one.file, one.problem, remedy)
    try:
        msgspec.json.decode(read_regular(root / SHARED_HERE), type=SharedHere)
    except FileNotFoundError:
        return
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        remedy = "delete it; `share merge` then takes in again what was deleted here since it came"
        yield Fixable("unreadable file", SHARED_HERE, str(error), remedy)
