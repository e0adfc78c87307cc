"""What can go wrong with reports, as one branch of the family.

::

    HelixGraphError              (helix_episodes.errors)
    └── FolderInUse              a folder for a report that holds a file of somebody else
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from helix_episodes.errors import HelixGraphError

if TYPE_CHECKING:
    from pathlib import Path


class FolderInUse(HelixGraphError):
    """What is of no earlier report lies where a report is to go; it is left alone."""

    def __init__(self, page: Path) -> None:
        self.page = page
        super().__init__(f"{page} is of no earlier report of helix-graph; name another folder, or a file")
