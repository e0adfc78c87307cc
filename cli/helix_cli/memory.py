"""Open the memory that a command works on."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from helix_graph import Memory
    from helix_graph.insights.api import Insights


def open_memory() -> Memory:
    """The memory of the project that the current folder belongs to.

    Raises:
        NoMemory: There is none; the sentence says how to begin one.
    """
    from helix_graph import Memory

    return Memory.open()


def open_insights() -> Insights:
    """The insights of this project, or those in the file that ``HELIX_DB_PATH`` names: then no memory is needed.

    The variable says where the database is; episodes and graph are those of the project all the same, if there is one.

    Raises:
        NoMemory: There is none, and the variable is not set.
    """
    from helix_graph.errors import NoMemory
    from helix_graph.helix_db import ENVIRONMENT

    # Else BLAS starts its threads when numpy is loaded, a fifth of a question's time; one vector has no work for them.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        return open_memory().insights
    except NoMemory:
        if not os.environ.get(ENVIRONMENT):
            raise
        return memory_at(Path.cwd()).insights


def memory_at(root: Path) -> Memory:
    """The memory in exactly that folder, whatever project the current one belongs to; nothing is written yet."""
    from helix_graph import Memory

    return Memory(root)
