"""The errors that users see, all of one family.

::

    HelixGraphError
    ├── InvalidArgument             an argument that cannot be used: a type, a range, an unknown name (exit code 2)
    ├── NotFound                    no episode, issue, plan, task, workspace, topic, entry or insight has that name
    ├── EpisodeError                an id is none, or an episode contradicts what is asked of it
    │   └── InvalidEpisode          a file does not fit the schema (path, field)
    ├── LogError                    a line of a log is damaged or unknown, and --strict was given
    │   ├── LogNotReadable          missing, no permission, not text
    │   └── UnknownLogFormat        no reader recognises it (and why each declined)
    ├── ProgramFailed               another program, a worker, a server or an engine did not do what was asked of it
    └── WriteFailed                 full disk, read-only folder

Each message is one sentence that says what is wrong, where, and what to do; the command and the MCP server print it. A
traceback is a bug. `helix_graph.errors` adds its own branches to the same root.
"""

from __future__ import annotations

from contextlib import contextmanager

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path


#: Maximum number of readers whose reasons the message of an unknown format quotes: a person reads three, not two dozen.
_CLOSEST = 3


class HelixGraphError(Exception):
    """The root of every error that this product raises on purpose."""


class FileError(HelixGraphError):
    """Something is wrong with one file; ``sentence`` is the message, with the file's ``path`` and the ``problem``."""

    sentence = "{path}: {problem}"

    def __init__(self, *, path: Path, problem: str) -> None:
        self.path = path
        self.problem = problem
        super().__init__(self.sentence.format(path=path, problem=problem))

    @classmethod
    @contextmanager
    def for_os_errors(cls, path: Path) -> Iterator[None]:
        """Raises this error, about ``path``, in the place of what the system refuses within."""
        try:
            yield
        except OSError as error:
            raise cls(path=path, problem=error.strerror or str(error)) from error


class InvalidArgument(HelixGraphError):
    """An argument that cannot be used; ``parameter`` is its name, or None where several contradict each other."""

    def __init__(self, parameter: str | None, problem: str) -> None:
        self.parameter = parameter
        self.problem = problem
        super().__init__(f"{parameter} {problem}" if parameter else problem)


class NoHome(HelixGraphError):
    """This user has no home folder, below which logs, settings and what they accepted are looked for."""

    def __init__(self) -> None:
        super().__init__(
            "nothing says where your home folder is: HOME is not set, and the system has none for this user; set HOME"
        )


class NotFound(HelixGraphError):
    """Nothing, or more than one thing, has the name or number that was asked for."""

    @classmethod
    def of_episode(cls, episode: str, *, alike: Sequence[str] = ()) -> NotFound:
        """No episode has that id, or several have an id that begins so: ``alike``, at most five of them."""
        named = ", ".join(f'"{one}"' for one in alike)  # a log chose them, and they may read as a sentence
        several = f"several sessions begin with {episode!r} ({named}); name more of the id"
        return cls(several if alike else f"no session {episode!r}; `helix-graph sessions list` shows all")


class EpisodeError(HelixGraphError):
    """Something is wrong with an episode or its id, or it contradicts what is asked: it would be replaced, for one."""


class InvalidEpisode(EpisodeError):
    """An episode does not fit the schema."""

    def __init__(self, *, path: Path | None, problem: str) -> None:
        self.path = path
        self.problem = problem
        where = f"{path}: " if path else ""
        super().__init__(f"{where}not a valid episode: {problem}")


class LogError(HelixGraphError):
    """Something is wrong with a session log."""


class LogNotReadable(FileError, LogError):
    """A log that cannot be opened or is not text."""

    sentence = "{path}: cannot be read: {problem}"


class UnknownLogFormat(LogError):
    """No reader recognises the log; ``declined`` maps each reader's name to its reason, the closest first.

    The message names the closest ones only; `reasons` has all of them in words.
    """

    def __init__(self, *, path: Path, declined: Mapping[str, str]) -> None:
        self.path = path
        self.declined = dict(declined)
        others = len(self.declined) - _CLOSEST
        more = f"; and {others} more, which -v lists" if others > 0 else ""
        super().__init__(
            f"{path}: no known log format ({'; '.join(self.reasons[:_CLOSEST])}{more}); "
            "--format NAME reads it as one of them all the same"
        )

    @property
    def reasons(self) -> tuple[str, ...]:
        """Each reader with its reason, the closest first."""
        return tuple(f"{name}: {reason}" for name, reason in self.declined.items())


class ProgramFailed(HelixGraphError):
    """Another program, a worker process, a server or an engine of the fold did not do what was asked of it."""


class WriteFailed(FileError):
    """A file could not be written; what was there before is untouched."""

    sentence = "{path}: could not be written ({problem}); the previous version is unchanged"
