"""What can go wrong with a memory or its graph, as branches of the one family.

::

    HelixGraphError                  (helix_episodes.errors)
    ├── NoMemory                     the project has no memory yet
    ├── NotOurFolder                 a link, or a file, where a folder of the memory belongs
    ├── EpisodeIsThere               a session that has an episode already
    ├── InvalidIgnoreFile            a line of .helixignore that is no rule
    ├── NothingSelected              nothing was named that should be forgotten
    ├── NotUnpacked                  a file that could not be searched, or not all of it
    ├── MemoryDamaged                helix.db is ours and cannot be read: nothing else holds what it held
    ├── MemoryNewer                  helix.db was written by a newer version
    ├── InvalidConfiguration         a setting of .helix/config.toml that is not understood
    ├── SemanticUnavailable          a search by meaning alone where nothing compares meanings
    ├── SourceFailed                 something that is searched did not answer
    ├── MissingExtra                 a package that is optional and not installed
    ├── TopicError                   of topics: helix_graph.topics.model
    ├── PlanError                    of plans: helix_graph.plans.model; likewise insights, embedding and report
    └── GraphError
        ├── GraphNotCompiled         there is no graph yet, or one of another version
        ├── NotOurDatabase           the file in graph.db's place is not ours: it is left alone
        ├── DatabaseUnreadable       ours, but damaged: it can be deleted and compiled again
        ├── DatabaseBusy             another process kept it locked for longer than we wait
        ├── DatabaseRefused          the disk is full, or permissions are missing: nothing is wrong with the file
        ├── OutsideMemory            a file to compile that lies outside the episodes' folder
        ├── FolderUnreadable         a folder of notes that cannot be listed
        ├── InvalidArgument          an argument that cannot be used, or several that do not go together
        │   ├── EmptyQuery           a label was asked for without a letter in it
        │   ├── EmptyText            a text without a letter in it where one is asked for
        │   ├── OutOfRange           a number outside what an option allows
        │   ├── WrongType            an argument that is none of its kind: None or a number for a text …
        │   └── NotOneOf             a word that is none of those an option allows
        ├── NodeNotFound             an end of an edge that is no node
        ├── LabelNotMet              a label that no session has
        ├── AmbiguousNode            an end of an edge that is the label of several nodes
        ├── InvalidAssertion         a file of an assertion does not fit the schema
        └── InvalidCorrection        a correction that its episode contradicts

Each sentence says what is wrong, where, and what to do; the data stands on the instance.
"""

from __future__ import annotations

from helix_episodes.errors import HelixGraphError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


class NoMemory(HelixGraphError):
    """There is no memory where one stands. ``expected`` is where it would be, or None without a project."""

    def __init__(self, *, start: Path, expected: Path | None, problem: str | None = None) -> None:
        self.start = start
        self.expected = expected
        self.problem = problem
        where = f"{expected} does not exist" if expected else f"no memory in {start} or above it"
        where += f" ({problem})" if problem else ""
        super().__init__(f"{where}; run `helix-graph init` in the project's folder")


class NotOurFolder(HelixGraphError):
    """What stands where the memory or one of its folders belongs; it is not followed."""

    def __init__(self, *, path: Path) -> None:
        self.path = path
        super().__init__(
            f"{path} is a link or a file where a folder of the memory belongs; remove it (a memory elsewhere is named "
            "by HELIX_DIR, not by a link)"
        )


class InvalidIgnoreFile(HelixGraphError):
    """A rule that is not understood: it would let in what it should keep out. ``line`` counts from 1."""

    def __init__(self, *, path: Path | None, line: int | None, problem: str) -> None:
        self.path = path
        self.line = line
        self.problem = problem
        where = f"{path or '.helixignore'}, line {line}" if line else str(path)
        super().__init__(f"{where}: {problem}; mend it and try again")


class NothingSelected(HelixGraphError):
    """To forget everything takes more than leaving the options out."""

    def __init__(self) -> None:
        super().__init__("nothing is named that should be forgotten; give --session, --project, --since or --until")


class NotUnpacked(HelixGraphError):
    """A file that cannot be searched to its end: no permission, damaged, or compressed in a way not known here."""


class MemoryDamaged(HelixGraphError):
    """helix.db is ours and damaged; it is not derived, so it is left as it is."""

    def __init__(self, *, path: Path, problem: str) -> None:
        self.path = path
        self.problem = problem
        super().__init__(
            f"{path} cannot be read ({problem}); it holds insights, topics and plans that nothing else holds: move it "
            "away, and bring back a copy or an export"
        )


class MemoryNewer(HelixGraphError):
    """helix.db has tables of a version that this one does not know; reading them would be guessing."""

    def __init__(self, *, path: Path, room: str, version: int, known: int) -> None:
        self.path = path
        self.room = room
        self.version = version
        self.known = known
        super().__init__(
            f"{path} was written by a newer helix-graph ({room}: version {version}, this one knows {known}); update it"
        )


class InvalidConfiguration(HelixGraphError):
    """Guessing at a setting could do what its writer wanted to prevent."""

    def __init__(self, *, path: Path, problem: str) -> None:
        self.path = path
        self.problem = problem
        super().__init__(f"{path}: {problem}; mend it and try again")


class SemanticUnavailable(HelixGraphError):
    """Nothing here compares meanings, and meanings alone were asked for."""

    def __init__(self, reasons: Sequence[str]) -> None:
        self.reasons = tuple(reasons)
        super().__init__(
            f"No semantic search is available and --semantic-only was specified: {'; '.join(reasons)}. "
            "`helix-graph model status` says how to get one"
        )


class SourceFailed(HelixGraphError):
    """One of several things that are searched could not answer; the others did."""

    def __init__(self, source: str, *, where: str, problem: str) -> None:
        self.source = source
        self.where = where
        self.problem = problem
        super().__init__(f"{source} at {where} did not answer: {problem}")


class MissingExtra(HelixGraphError):
    """Something optional was asked for, and what it needs is not installed."""

    def __init__(self, *, wanted: str, extra: str) -> None:
        self.wanted = wanted
        self.extra = extra
        super().__init__(f"{wanted} needs packages that are not installed: pip install 'helix-graph[{extra}]'")


class GraphError(HelixGraphError):
    """Something is wrong with the graph, its file, or a question to it."""


class GraphNotCompiled(GraphError):
    """There is no compiled graph that this version can read."""

    def __init__(self, *, path: Path, problem: str = "has not been compiled yet") -> None:
        self.path = path
        self.problem = problem
        super().__init__(f"the graph {path} {problem}; run `helix-graph compile`")


#: What GraphNotCompiled says of a file that a killed process or a full disk has left without its tables.
CUT_SHORT = "is not finished: a compile was cut short"


class NotOurDatabase(GraphError):
    """A file stands where ours belongs; it is neither read further nor touched."""

    def __init__(self, *, path: Path, problem: str, besides: str = "") -> None:
        self.path = path
        self.problem = problem
        super().__init__(f"{path} was not written by helix-graph ({problem}); move it elsewhere and try again{besides}")


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


class InvalidArgument(GraphError, UsageError):
    """An argument that cannot be used; ``option`` is its name, None where several do not go together."""

    def __init__(self, option: str | None, problem: str) -> None:
        self.option = option
        self.problem = problem
        super().__init__(f"{option} {problem}" if option else problem)


#: Names under which these were raised before; what is wrong stands in the sentence.
ControlCharacter = ExclusiveOptions = InvalidSearchQuery = OneOfSeveral = InvalidArgument
SameNode = SameTriggerAndAction = InvalidArgument


class EmptyQuery(InvalidArgument):
    """A label to look for that has nothing in it."""

    def __init__(self, option: str) -> None:
        super().__init__(option, "is empty; give some words, such as 'pytest fails'")


class OutOfRange(InvalidArgument):
    """A number outside the range of its option."""

    def __init__(self, option: str, *, value: float, lowest: float, highest: float) -> None:
        self.value = value
        self.lowest = lowest
        self.highest = highest
        super().__init__(option, f"is {_shown(value)}; it must be between {_shown(lowest)} and {_shown(highest)}")


#: Whole numbers of more digits than this has are nobody's limit.
_LONG = 10**12


def _shown(value: float) -> str:
    try:
        return str(value) if isinstance(value, int) and abs(value) < _LONG else f"{value:g}"
    except OverflowError:
        return "far too large"


class FolderUnreadable(GraphError):
    """A folder that a search was to look through could not be listed."""

    def __init__(self, *, folder: Path, problem: str) -> None:
        self.folder = folder
        self.problem = problem
        super().__init__(f"{folder} cannot be listed: {problem}; name another folder in .helix/config.toml")


class EmptyText(InvalidArgument):
    """A text that has nothing in it."""

    def __init__(self, option: str) -> None:
        super().__init__(option, "is empty; give it a text")


class WrongType(InvalidArgument):
    """An argument that is none of its kind; every function of the public API may raise it."""

    def __init__(self, option: str, *, value: object, wanted: str) -> None:
        self.value = value
        self.wanted = wanted
        super().__init__(option, f"must be {wanted}, and is of type {type(value).__name__}")


class NotOneOf(InvalidArgument):
    """A word outside the few that an option knows."""

    def __init__(self, option: str, *, value: str, allowed: Sequence[str]) -> None:
        self.value = value
        self.allowed = tuple(allowed)
        super().__init__(option, f"is {value!r}; it must be one of {', '.join(self.allowed)}")


class LabelNotMet(GraphError):
    """No session has anything of that label. ``alike`` names labels that may have been meant."""

    def __init__(self, label: str, *, alike: Sequence[str]) -> None:
        self.label = label
        self.alike = tuple(alike)
        meant = f"; did you mean {', '.join(repr(one) for one in alike)}?" if alike else ""
        super().__init__(f"no session has a step labelled {label!r}{meant}")


class NodeNotFound(GraphError):
    """No node has that id or label."""

    def __init__(self, option: str, *, name: str) -> None:
        self.option = option
        self.name = name
        super().__init__(
            f"{option}: Node not found: {name}; give a node's id or whole label, or `helix-graph node add` it"
        )


class AmbiguousNode(GraphError):
    """Several nodes have that label; ``ids`` tells them apart."""

    def __init__(self, option: str, *, name: str, ids: Sequence[str]) -> None:
        self.option = option
        self.name = name
        self.ids = tuple(ids)
        super().__init__(f"{option}: {name!r} is the label of several nodes; give an id: {', '.join(self.ids)}")


class InvalidAssertion(GraphError):
    """A file among the assertions that holds none."""

    def __init__(self, *, path: Path, problem: str) -> None:
        self.path = path
        self.problem = problem
        super().__init__(f"{path}: not a valid assertion: {problem}; mend or delete it")


class InvalidCorrection(GraphError):
    """A correction that does not go with its episode."""

    def __init__(self, *, episode: str, problem: str) -> None:
        self.episode = episode
        self.problem = problem
        super().__init__(f"{episode}: {problem}; `helix-graph episode show {episode}` lists its parts")


class EpisodeIsThere(HelixGraphError):
    """A session that has an episode already."""

    def __init__(self, *, path: Path) -> None:
        self.path = path
        super().__init__(f"{path} exists; give another session id, or --force to replace it")
