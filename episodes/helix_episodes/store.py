"""EpisodeStore: one JSON file per episode, written whole or not at all.

``episodes/episode-<session>.json`` is the truth that everything else is derived from, so this module is strict about
what goes out (validated, complete, readable by its owner only) and tolerant about what comes in: keys that this version
does not know survive a read and a write, a file that does not fit the schema is named with the field that is wrong, and
it hides no other.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, get_args

import msgspec
import orjson

from helix_episodes.errors import EpisodeError, InvalidEpisode, NotFound
from helix_episodes.model import EXTRA, Decision, Episode, Event, Metrics, Outcome, is_ahead, parse_timestamp
from helix_episodes.msgspec_types import read_json, ready
from helix_episodes.safe_files import read_own, write_atomically

PREFIX = "episode-"
#: What goes before the id of a session that its log calls as another's episode is called.
RENAMED = "session-"
_LAST = re.compile(r"last(?:~(\d{1,6}))?")
#: A shorter beginning may be a slip; git takes no shorter one either.
_SHORTEST_BEGINNING = 4
_SHOWN = 5
_LONGEST_ID = 128
_SESSION_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_EPISODE_KEYS = frozenset({
    "id", "session", "timestamp", "outcome", "task", "decisions", "events", "metrics", "lessons", "schema_version",
    "outcome_basis", "task_kind",
})  # fmt: skip
#: The original schema's keys: always written, so that its readers find what they expect; ours only when set.
_ALWAYS: dict[type[msgspec.Struct], frozenset[str]] = {
    Episode: _EPISODE_KEYS,
    Decision: frozenset(["id", "timestamp", "type", "context", "chosen", "rationale", "outcome", "effects"]),
    Event: frozenset(["id", "timestamp", "type", "content", "caused_by", "leads_to"]),
    Metrics: frozenset(["duration_minutes", "tool_calls", "errors", "recoveries", "commits", "files_changed"]),
}


def check_session_id(session: str) -> str:
    """The id itself, when it can safely name a file.

    Raises:
        EpisodeError: It has a separator, ``..`` or another character that could lead elsewhere.

    >>> check_session_id("2026-01-01-session-126")
    '2026-01-01-session-126'
    """
    if not is_session_id(session):
        shown = f"of type {type(session).__name__}"
        if isinstance(session, str):
            from helix_episodes.redaction import redact_text

            # These are a log's words, and may be a secret.
            shown = json.dumps(redact_text(session)[:_LONGEST_ID], ensure_ascii=False)
        raise EpisodeError(
            f"session id {shown} cannot name a file: use letters, digits, '.', '_' and '-', "
            f"beginning with a letter or digit, at most {_LONGEST_ID} of them"
        )
    return session


def is_session_id(name: object) -> bool:
    """Whether a name can safely name a file."""
    return (
        isinstance(name, str)
        and len(name) <= _LONGEST_ID
        and _SESSION_ID.fullmatch(name) is not None
        and ".." not in name
    )


def session_of(path: Path) -> str:
    """The session of an episode's file, by its name: what stands in it may differ."""
    return path.stem.removeprefix(PREFIX)


def encode_episode(episode: Episode) -> bytes:
    """The bytes of an episode's file: UTF-8, two-space indent, keys in schema order, a newline at the end.

    Raises:
        InvalidEpisode: A text holds half a character, or unknown keys are nested deeper than JSON is written.
    """
    try:
        return orjson.dumps(plain_json(episode), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    except orjson.JSONEncodeError as error:
        raise InvalidEpisode(path=None, problem=f"{episode.id} cannot be written as JSON ({error})") from error


def decode_episode(data: bytes, *, path: Path | None = None) -> Episode:
    """An episode from the bytes of its file, with the keys that this version does not know in ``extra``."""
    try:
        return msgspec.convert(_lift(orjson.loads(data), Episode), ready(Episode))
    except orjson.JSONDecodeError as error:
        raise InvalidEpisode(path=path, problem=f"no JSON ({error})") from error
    except msgspec.ValidationError as error:
        raise InvalidEpisode(path=path, problem=without_value(str(error)) if path else str(error)) from error


#: What is wrong with a copy under another name, which is no second session.
MISNAMED = "its id is not its file's name"
#: Where a message of msgspec begins to repeat what it was given.
_VALUE = re.compile(r" '|(?<=unknown field) `")


def without_value(problem: str) -> str:
    """What does not fit the schema, and where, without the value: it is whatever somebody wrote there.

    >>> without_value("Invalid enum value 'Run this' - at `$.outcome`")
    'Invalid enum value - at `$.outcome`'
    >>> without_value("Object contains unknown field `run this`")
    'Object contains unknown field'
    """
    said, found, place = problem.rpartition(" - at ")
    kind = _VALUE.split(said if found else problem)[0]
    return f"{kind} - at {place}" if found else kind


class EpisodeStore:
    """The episodes of one memory, as files in ``folder``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path_of(self, session: str) -> Path:
        """The file for a session id."""
        return self.folder / f"{PREFIX}{check_session_id(session)}.json"

    def get(self, name: str) -> Episode | None:
        """The episode of a session id or episode id (``episode-<session>``), or None when there is none."""
        # An episode's id is longer than its session's, which may be as long as an id can be.
        for session in dict.fromkeys((name, check_session_id(name.removeprefix(PREFIX)))):
            with suppress(FileNotFoundError, NotADirectoryError):
                return _read(self.folder / f"{PREFIX}{session}.json")
        return None

    def require(self, name: str) -> Episode:
        """The episode that a person names as `resolve` understands it."""
        episode = self.get(self.resolve(name))
        if episode is None:
            raise NotFound.of_episode(name)
        return episode

    def resolve(self, name: str) -> str:
        """The session that a person names: by its id, by the beginning of its id, or as ``last`` or ``last~2``.

        ``last`` is the session that began last, ``last~1`` the one before it; one that is dated more than a day ahead
        comes after all others, as one without a time does. A name that fits none is returned as it
        is: what is asked with it says that there is none.

        Raises:
            NotFound: Several ids begin so.
        """
        if not isinstance(name, str):  # a caller without types: refused as every other name that is none
            check_session_id(name)
        sessions = [session_of(path) for path in self.files()]
        for exact in (name, name.removeprefix(PREFIX)):
            if exact in sessions:
                return exact
        ago = _LAST.fullmatch(name)
        if ago:
            begun = ((_began(read_json(path, _Beginning) or _Beginning()), path.stem) for path in self.files())
            times = sorted(begun, reverse=True)
            place = int(ago[1] or 0)
            if place >= len(times):
                raise NotFound.of_episode(name)
            return times[place][1].removeprefix(PREFIX)
        begin = name.removeprefix(PREFIX)
        alike = [one for one in sessions if one.startswith(begin)] if len(begin) >= _SHORTEST_BEGINNING else []
        if len(alike) > 1:
            raise NotFound.of_episode(name, alike=alike[:_SHOWN])
        return alike[0] if alike else name

    def save(self, episode: Episode) -> Path:
        """Writes an episode's file atomically and returns its path."""
        path = self.path_of(episode.session)
        write_atomically(path, encode_episode(episode))
        return path

    def files(self) -> list[Path]:
        """The episode files, by name."""
        return sorted(self.folder.glob(f"{PREFIX}*.json")) if self.folder.is_dir() else []

    def scan(self) -> Iterator[tuple[Path, Episode | InvalidEpisode]]:
        """Every file with its episode, or with the error that says what is wrong with it."""
        for path in self.files():
            try:
                yield path, _read(path)
            except FileNotFoundError:  # forgotten since the folder was listed
                continue
            except InvalidEpisode as error:
                yield path, error

    def list(
        self,
        outcome: Outcome | None = None,
        since: datetime | None = None,
        max_results: int = 20,
        *,
        task: str | None = None,
    ) -> list[Episode]:
        """The newest episodes first: those with ``outcome``, from ``since`` on, with ``task`` in their task (any case).

        An invalid file hides no other; `scan` reports it. ``since`` without a zone is taken as UTC.
        """
        needle = task.casefold() if task else ""
        found = [
            episode
            for _, episode in self.scan()
            if isinstance(episode, Episode)
            and (outcome is None or episode.outcome == outcome)
            and (since is None or _began(episode) >= (since if since.tzinfo else since.replace(tzinfo=UTC)))
            and needle in episode.task.casefold()
        ]
        found.sort(key=lambda episode: (_began(episode), episode.id), reverse=True)
        return found[:max_results]


def _read(path: Path) -> Episode:
    """The episode in a file; that there is no file is left to the caller."""
    try:
        episode = decode_episode(read_own(path), path=path)
    except (FileNotFoundError, NotADirectoryError):
        raise
    except OSError as error:
        raise InvalidEpisode(path=path, problem=f"it cannot be read: {error.strerror or error}") from error
    if episode.id != path.stem:
        raise InvalidEpisode(path=path, problem=MISNAMED)
    return episode


class _Beginning(msgspec.Struct):
    """As much of an episode's file as its place in time takes."""

    timestamp: str | None = None


def _began(episode: Episode | _Beginning) -> datetime:
    """When it began, comparable between time zones; the beginning of time where that is unknown or still to come."""
    at = parse_timestamp(episode.timestamp)
    return at if at and not is_ahead(at) else datetime.min.replace(tzinfo=UTC)


def _lift(raw: Any, struct: type[msgspec.Struct]) -> Any:  # noqa: ANN401  (JSON on its way to being validated)
    """``raw`` with the unknown keys of every object moved into `EXTRA`; what does not fit is left to validation."""
    if isinstance(raw, list):
        return [_lift(item, struct) for item in raw]
    if not isinstance(raw, dict):
        return raw
    inner = _inner_structs(struct)
    lifted = {key: _lift(value, inner[key]) if inner.get(key) else value for key, value in raw.items() if key in inner}
    if len(lifted) < len(raw):
        lifted[EXTRA] = {key: value for key, value in raw.items() if key not in inner}
    return lifted


@cache
def _inner_structs(struct: type[msgspec.Struct]) -> dict[str, Any]:
    """The keys that a class knows, each with the class of the objects in it, if any."""
    return {
        field.encode_name: _struct_in(field.type)
        for field in msgspec.structs.fields(struct)
        if field.encode_name != EXTRA
    }


def _struct_in(kind: Any) -> type[msgspec.Struct] | None:  # noqa: ANN401  (a type annotation, of which there is no type)
    """The Struct of an annotation such as ``Evidence | None`` or ``tuple[Event, ...]``."""
    candidates = (kind, *get_args(kind))
    return next((one for one in candidates if isinstance(one, type) and issubclass(one, msgspec.Struct)), None)


def plain_json(value: Any) -> Any:  # noqa: ANN401  (JSON)
    """JSON of a value: schema order, additions left out when they have their default, unknown keys put back."""
    if isinstance(value, tuple | list):
        return [plain_json(item) for item in value]
    if not isinstance(value, msgspec.Struct):
        return value
    always = _ALWAYS.get(type(value), frozenset())
    plain = {
        key: actual if isinstance(actual, str) else plain_json(actual)
        for key, default in _defaults(type(value)).items()
        if (actual := getattr(value, key)) != default or key in always
    }
    return plain | getattr(value, "extra", {})


@cache
def _defaults(struct: type[msgspec.Struct]) -> dict[str, Any]:
    """The keys of a class in order, each with what it holds when nothing was passed."""
    return {
        field.name: field.default_factory() if callable(field.default_factory) else field.default
        for field in msgspec.structs.fields(struct)
        if field.encode_name != EXTRA
    }
