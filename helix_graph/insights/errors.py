"""What can go wrong with insights, all of them children of `HelixGraphError`.

::

    HelixGraphError              (helix_episodes.errors)
    ├── InsightNotFound              no insight has that name
    ├── TooEarly                     a question that needs more measurements than there are
    └── InvalidExport                a file to import that holds no insights, or a damaged line
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from helix_episodes.errors import HelixGraphError

if TYPE_CHECKING:
    from pathlib import Path


class InsightNotFound(HelixGraphError):
    """No insight has that name."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(f"no insight {name!r}; `helix-graph insight recall WORDS` finds those there are")


class TooEarly(HelixGraphError):
    """A question that only measurements answer, and there are too few of them."""

    def __init__(self, *, what: str, reason: str) -> None:
        self.reason = reason
        super().__init__(
            f"{what} is not offered yet, {reason}; `helix-graph insight uplift` shows what is known so far"
        )


class InvalidExport(HelixGraphError):
    """A file that cannot be imported; ``line`` counts from 1. Nothing of it was taken in."""

    def __init__(self, *, path: Path, line: int | None, problem: str) -> None:
        self.path = path
        self.line = line
        self.problem = problem
        where = f"{path}, line {line}" if line else str(path)
        super().__init__(f"{where}: cannot be imported ({problem}); nothing was; mend it, or export it again")
