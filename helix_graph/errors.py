"""The errors of a memory, its databases and its graph: branches of the family in `helix_episodes.errors`.

::

    HelixGraphError                  (helix_episodes.errors, with InvalidArgument and NotFound)
    ├── NoMemory                     the project has no memory yet
    ├── UntrustedMemory              a memory that this user did not begin or accept, or that others can change
    ├── MemoryDamaged                helix.db is ours and cannot be read; nothing else has its contents
    ├── MemoryNewer                  helix.db was written by a newer version
    ├── InvalidConfiguration         a line of .helixignore, or a setting of .helix/config.toml, is not understood
    ├── InvalidImport                a file or text that is no export of insights or topics
    ├── WrittenByOthers              somebody else's insight or entry of a topic was to get other words
    ├── ShareRefused                 something that is to be shared has a secret, or is in no repository
    ├── TeamServerFailed             the team's server is away, refuses, or answers nonsense
    ├── MissingExtra                 an optional package is not installed
    ├── FolderInUse                  something else is in the place of a folder of the memory, or in one to write to
    ├── PlanError, NoEmbedder        in helix_graph.plans.model and helix_graph.embedding.model
    ├── ShardDamaged, NotEditable    in helix_graph.shards.files and helix_cli.setup.json_edit
    └── GraphError
        ├── GraphNotCompiled         there is no graph yet, or one of another version
        ├── NotOurDatabase           another program's file is in the place of ours; it is left alone
        ├── DatabaseUnreadable       ours, but damaged: it can be deleted and compiled again (also SchemaForeign)
        ├── DatabaseBusy             another process kept it locked for longer than we wait
        ├── DatabaseRefused          the disk is full, or permissions are missing; the file itself is unharmed
        ├── NodeNotFound             a name is that of no node, or of several
        └── InvalidAssertion         a file of an assertion does not fit the schema
"""

from __future__ import annotations

from helix_episodes.errors import EpisodeError, FileError, HelixGraphError, InvalidArgument

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from typing import Literal

#: Documented names of these errors; what is wrong is in the sentence.
OutOfRange = NotOneOf = WrongType = InvalidArgument
EpisodeIsThere = EpisodeError

#: What brings a memory up to date, whatever is missing: it begins one, reads logs and compiles.
NEXT_STEP = "helix-graph sync"
#: What `InvalidArgument` says of an argument without any text, and of a search without any words.
NO_TEXT = "is empty; give it a text"
NO_WORDS = "is empty; give some words, such as 'pytest fails'"


class NoMemory(HelixGraphError):
    """The project has no memory. ``expected`` is where it would be, or None outside a project."""

    def __init__(self, *, start: Path, expected: Path | None, problem: str | None = None) -> None:
        self.start = start
        self.expected = expected
        self.problem = problem
        where = f"{expected} does not exist" if expected else f"no memory in {start} or above it"
        where += f" ({problem})" if problem else ""
        super().__init__(f"{where}; run `{NEXT_STEP}` in the project's folder")


class UntrustedMemory(HelixGraphError):
    """A memory that is not used, because somebody else may speak through it; `helix_graph.trust` says when.

    An ``unknown`` one can be accepted with ``helix-graph trust``; of an ``unsafe`` one the cause has to go first.
    """

    def __init__(self, problem: str, *, root: Path, kind: Literal["unsafe", "unknown"]) -> None:
        self.root = root
        self.kind = kind
        super().__init__(problem)


class MemoryDamaged(FileError):
    """helix.db is ours and damaged. It cannot be derived from other files, so it is left as it is."""

    sentence = (
        "{path} cannot be read ({problem}); it contains insights, topics and plans that are nowhere else: move it "
        "away, and restore a copy or an export"
    )


class MemoryNewer(HelixGraphError):
    """helix.db has tables of a version that this program does not know; reading them would be guessing."""

    def __init__(self, *, path: Path, room: str, version: int, known: int) -> None:
        self.path = path
        self.room = room
        self.version = version
        self.known = known
        super().__init__(
            f"{path} was written by a newer helix-graph ({room}: version {version}, this one knows {known}); update it"
        )


class InvalidConfiguration(HelixGraphError):
    """A setting or rule is not understood. Guessing could do what its writer wanted to prevent.

    ``line`` counts from 1; it is None where the file as a whole, or a named setting, is at fault.
    """

    def __init__(self, *, path: Path | None, problem: str, line: int | None = None) -> None:
        self.path = path
        self.line = line
        self.problem = problem
        where = f"{path or '.helixignore'}, line {line}" if line else str(path)
        super().__init__(f"{where}: {problem}; correct it and try again")


class InvalidImport(HelixGraphError):
    """A file or text that cannot be imported; nothing of it was."""


class WrittenByOthers(HelixGraphError):
    """Somebody else's insight or entry was to be changed: it would stand under their name, and reach nobody.

    ``said_by`` says whose it is, and ``instead`` what to do.
    """

    def __init__(self, what: str, *, said_by: str, instead: str) -> None:
        self.said_by = said_by
        super().__init__(
            f"{what} is somebody else's ({said_by}); a change here would stand under their name and reach nobody. "
            f"{instead}"
        )


class ShareRefused(HelixGraphError):
    """Something may not be shared, or git cannot share it; nothing was. ``problems`` are files and lines."""

    def __init__(self, problem: str, problems: Sequence[object] = ()) -> None:
        self.problems = tuple(problems)
        super().__init__(problem)


class TeamServerFailed(HelixGraphError):
    """The team's server could not be asked; its sentence holds nothing of the address but the server's name.

    ``reason`` says what is wrong: its ``address``, that it is ``away`` (``again`` says that another try may help), that
    it ``refused``, that the ``project`` is not one of this role's, or that its ``answer`` makes no sense.
    """

    def __init__(
        self, problem: str, *, reason: Literal["address", "away", "refused", "project", "answer"], again: bool = False
    ) -> None:
        self.reason = reason
        self.again = again
        super().__init__(problem)


class MissingExtra(HelixGraphError):
    """Something optional was asked for, and the packages it needs are not installed."""

    def __init__(self, *, wanted: str, extra: str) -> None:
        self.wanted = wanted
        self.extra = extra
        super().__init__(f"{wanted} needs packages that are not installed: pip install 'helix-graph[{extra}]'")


class FolderInUse(HelixGraphError):
    """Something that did not come from an earlier run is where a file or folder of ours belongs; it is left alone."""


class GraphError(HelixGraphError):
    """Something is wrong with the graph, its file, or a question to it."""


class GraphNotCompiled(GraphError):
    """There is no compiled graph that this version can read."""

    def __init__(self, *, path: Path, problem: str = "does not exist yet") -> None:
        self.path = path
        self.problem = problem
        super().__init__(f"the graph {path} {problem}; run `{NEXT_STEP}`")


#: What GraphNotCompiled says of a file that a killed process or a full disk has left without its tables.
CUT_SHORT = "is not finished: a compile was cut short"


class NotOurDatabase(GraphError):
    """Another program's file is where ours belongs; it is neither read further nor changed."""

    def __init__(self, *, path: Path, problem: str, besides: str = "") -> None:
        self.path = path
        self.problem = problem
        super().__init__(f"{path} was not written by helix-graph ({problem}); move it elsewhere and try again{besides}")


class DatabaseUnreadable(FileError, GraphError):
    """A file of ours is damaged."""

    sentence = (
        "{path} cannot be read ({problem}); it is derived: `helix-graph sync`, or `helix-graph doctor --fix` where "
        "that finds nothing new, builds it again"
    )


class DatabaseBusy(GraphError):
    """Another process is writing and did not finish in time."""

    def __init__(self, *, path: Path, seconds: float) -> None:
        self.path = path
        self.seconds = seconds
        super().__init__(
            f"{path} has been locked by another process for {seconds:g} seconds; try again when it is done"
        )


class DatabaseRefused(FileError, GraphError):
    """The file system did not let us read or write; the file itself is unchanged."""

    sentence = "{path} cannot be used ({problem}); check the disk's space and the file's permissions"


class NodeNotFound(GraphError):
    """No node has that id or label, or several have that label; ``parameter`` is the argument that names it."""

    def __init__(self, problem: str, *, parameter: str | None = None) -> None:
        self.parameter = parameter
        super().__init__(f"{parameter}: {problem}" if parameter else problem)

    @classmethod
    def of_label(cls, label: str, *, alike: Sequence[str] = ()) -> NodeNotFound:
        """No session has a step of that label. ``alike`` are labels that may have been meant."""
        import json  # whose quotation marks no word of a log can close

        quotations = ", ".join(json.dumps(one, ensure_ascii=False) for one in alike)
        meant = f"; did you mean {quotations}?" if alike else ""
        return cls(f"no session has a step labelled {label!r}{meant}")


AmbiguousNode = NodeNotFound


class InvalidAssertion(FileError, GraphError):
    """A file among the assertions does not contain one."""

    sentence = "{path}: not a valid assertion: {problem}; correct or delete it"
