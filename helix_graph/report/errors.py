"""What can go wrong with reports, as one branch of the family.

::

    HelixGraphError              (helix_episodes.errors)
    └── FolderInUse              a folder for a report that holds a page of somebody else
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from helix_episodes.errors import HelixGraphError

if TYPE_CHECKING:
    from pathlib import Path


class FolderInUse(HelixGraphError):
    """A page that is no report of ours lies where a report is to go; it is left alone."""

    def __init__(self, page: Path) -> None:
        self.page = page
        super().__init__(f"{page} is no report of helix-graph; name another folder, or a file")
