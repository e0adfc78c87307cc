"""What stands in a file's place and is none: a link, a named pipe, a folder. Nothing of the memory opens it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from helix_graph.doctor.model import trouble
from helix_graph.setting_aside import set_aside

if TYPE_CHECKING:
    from pathlib import Path

    from helix_graph.doctor.model import Trouble


def irregular_file(root: Path, path: Path, problem: str) -> Trouble:
    """The trouble with it; it is mended by moving it aside, which loses nothing."""
    name, remedy = path.relative_to(root).as_posix(), "helix-graph doctor --fix sets it aside as it is"
    return trouble("not a regular file", name, problem, remedy, mend=partial(set_aside, root, path))
