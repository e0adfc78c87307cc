"""What can go wrong with a memory or its graph, as branches of the one family.

::

    HelixGraphError                  (helix_episodes.errors)
    ├── NoMemory                     the project has no memory yet
    └── GraphError
        ├── GraphNotCompiled         there is no graph yet, or one of another version
        ├── NotOurDatabase           the file in graph.db's place is not ours: it is left alone
        ├── DatabaseUnreadable       ours, but damaged: it can be deleted and compiled again
        ├── DatabaseBusy             another process kept it locked for longer than we wait
        ├── DatabaseRefused          the disk is full, or permissions are missing: nothing is wrong with the file
        ├── OutsideMemory            a file to compile that lies outside the episodes' folder
        ├── EmptyQuery               a label was asked for without a letter in it
        └── OutOfRange               a number outside what an option allows

Each sentence says what is wrong, where, and what to do; the data stands on the instance.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from helix_episodes.errors import HelixGraphError

if TYPE_CHECKING:
    from pathlib import Path


class NoMemory(HelixGraphError):
    """There is no memory where one stands. ``expected`` is where it would be, or None without a project."""

    def __init__(self, *, start: Path, expected: Path | None) -> None:
        self.start = start
        self.expected = expected
        where = f"{expected} does not exist" if expected else f"no memory in {start} or above it"
        super().__init__(f"{where}; run `helix-graph init` in the project's folder")


class GraphError(HelixGraphError):
    """Something is wrong with the graph, its file, or a question to it."""


class GraphNotCompiled(GraphError):
    """There is no compiled graph that this version can read."""

    def __init__(self, *, path: Path, problem: str = "has not been compiled yet") -> None:
        self.path = path
        self.problem = problem
        super().__init__(f"the graph {path} {problem}; run `helix-graph compile`")


class NotOurDatabase(GraphError):
    """A file stands where ours belongs; it is neither read further nor touched."""

    def __init__(self, *, path: Path, problem: str) -> None:
        self.path = path
        self.problem = problem
        super().__init__(f"{path} was not written by helix-graph ({problem}); move it elsewhere and try again")


class DatabaseUnreadable(GraphError):
    """A file of ours is damaged."""

    def __init__(self, *, path: Path, problem: str) -> None:
        self.path = path
        self.problem = problem
        super().__init__(
            f"{path} cannot be read ({problem}); it is derived: run `helix-graph compile` to build it again"
        )


class DatabaseBusy(GraphError):
    """Another process is writing and did not finish in time."""

    def __init__(self, *, path: Path, seconds: float) -> None:
        self.path = path
        self.seconds = seconds
        super().__init__(
            f"{path} has been locked by another process for {seconds:g} seconds; try again when it is done"
        )


class DatabaseRefused(GraphError):
    """The file system did not let us read or write; the file itself is as it was."""

    def __init__(self, *, path: Path, problem: str) -> None:
        self.path = path
        self.problem = problem
        super().__init__(f"{path} cannot be used ({problem}); check the disk's space and the file's permissions")


class OutsideMemory(GraphError):
    """An episode file that the graph could not be rebuilt from later."""

    def __init__(self, *, path: Path, folder: Path) -> None:
        self.path = path
        self.folder = folder
        super().__init__(f"{path} lies outside {folder}, which the graph is built from; copy it there and compile")


class EmptyQuery(GraphError):
    """A label to look for that has nothing in it."""

    def __init__(self, option: str) -> None:
        self.option = option
        super().__init__(f"{option} is empty; give a part of a label, such as 'pytest fails'")


class OutOfRange(GraphError):
    """A number outside the range of its option."""

    def __init__(self, option: str, *, value: float, lowest: float, highest: float) -> None:
        self.option = option
        self.value = value
        self.lowest = lowest
        self.highest = highest
        super().__init__(f"{option} is {value:g}; it must be between {lowest:g} and {highest:g}")
