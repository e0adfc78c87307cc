"""Everything that can go wrong for a user, as one family.

::

    HelixGraphError
    ├── UsageError                  asked in a way that has no answer (the command ends with 2); its kinds are where
    │                               they are raised: OutOfRange, EmptyQuery, UnknownReader
    ├── EpisodeError
    │   ├── InvalidEpisode          a file does not fit the schema (path, field)
    │   ├── EpisodeExists           the log differs from what was recorded
    │   ├── EpisodeNotFound         no episode of that id
    │   └── InvalidSessionId        an id that could leave the folder
    ├── LogError
    │   ├── LogNotReadable          missing, no permission, not text
    │   ├── LogDamaged              a line of it is damaged or unknown, and --strict was asked for
    │   └── UnknownLogFormat        no reader recognises it (why each declined)
    └── StoreError
        └── WriteFailed             full disk, read-only folder

Each carries its data as attributes and says in one sentence what is wrong, where, and what to do. The faces print that
sentence; a traceback is a bug. Packages above add their own branches to the same root.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


#: So many formats are named where a log is of none: a person reads three reasons, not two dozen.
_CLOSEST = 3


class HelixGraphError(Exception):
    """The root of every error that this product raises on purpose."""


class UsageError(HelixGraphError):
    """What was asked for cannot be: a number outside its range, an empty query, a name that there is not."""


class EpisodeError(HelixGraphError):
    """Something is wrong with an episode."""


class InvalidEpisode(EpisodeError):
    """An episode does not fit the schema."""

    def __init__(self, *, path: Path | None, problem: str) -> None:
        self.path = path
        self.problem = problem
        where = f"{path}: " if path else ""
        super().__init__(f"{where}not a valid episode: {problem}")


class EpisodeExists(EpisodeError):
    """An episode was recorded from a log that has since changed other than by growing."""

    def __init__(self, *, path: Path, log: str) -> None:
        self.path = path
        self.log = log
        super().__init__(
            f"{path} was recorded from a log that differs from {log}; "
            "use --force to replace it, or --output for another folder"
        )


class EpisodeNotFound(EpisodeError):
    """No episode has that id."""

    def __init__(self, episode: str) -> None:
        self.episode = episode
        super().__init__(f"no episode {episode!r}; `helix-graph episode list` shows those there are")


class InvalidSessionId(EpisodeError):
    """A session id that cannot safely name a file."""

    def __init__(self, session: str) -> None:
        self.session = session
        shown = repr(session) if isinstance(session, str) else f"of type {type(session).__name__}"
        super().__init__(
            f"session id {shown} cannot name a file: use letters, digits, '.', '_' and '-', "
            "beginning with a letter or digit, at most 128 of them"
        )


class LogError(HelixGraphError):
    """Something is wrong with a session log."""


class LogNotReadable(LogError):
    """A log that cannot be opened or is not text."""

    def __init__(self, *, path: Path, problem: str) -> None:
        self.path = path
        self.problem = problem
        super().__init__(f"{path}: cannot be read: {problem}")


class LogDamaged(LogError):
    """A log with a line that cannot be used, where every line was to be understood; ``place`` names the line."""

    def __init__(self, *, path: Path, place: str, problem: str) -> None:
        self.path = path
        self.place = place
        self.problem = problem
        super().__init__(f"{path}, {place}: {problem}; nothing of it was recorded, since --strict was asked for")


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


class StoreError(HelixGraphError):
    """Something is wrong with the files of a memory."""


class WriteFailed(StoreError):
    """A file could not be written; what was there before is untouched."""

    def __init__(self, *, path: Path, problem: str) -> None:
        self.path = path
        self.problem = problem
        super().__init__(f"{path}: could not be written ({problem}); what was there before is untouched")
