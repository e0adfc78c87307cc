r"""The registry of readers: chooses the one for a log by the log's content.

A name such as ``session.jsonl`` says nothing. The built-in readers are tried first, in a fixed order, without looking
at installed packages, because that look costs more than reading a small log. Only when none of them recognises the
log, or when a reader is asked for by a name that is not built in, are packages asked that registered a reader under
the entry point group ``helix_graph.readers``::

    [project.entry-points."helix_graph.readers"]
    my-agent = "my_package.reader:MyAgentReader"

A class with the attributes of `helix_episodes.readers.base.Reader` is all it takes. One that cannot be loaded is named
in the message and stops no one else.

Results beside a log: what a benchmark's verifier said of the run, as the session's reward.

Harnesses write the verdict into a file of its own next to the log, or in the run's folder: ``reward.txt`` (a number),
``result.json``, ``results.json``, ``reward.json`` or ``metadata.json`` with a reward, a score, or the checkpoints that
passed, or ``ctrf.json``, a report of the tests that the verifier ran. It counts for a log that is alone with it.
"""

from __future__ import annotations

import io
import os
import stat
import sys
from collections import Counter
from contextlib import contextmanager, redirect_stdout
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from helix_episodes.errors import HelixGraphError, InvalidArgument, LogNotReadable, UnknownLogFormat
from helix_episodes.readers.base import LogHead, Reader, read_head
from helix_episodes.readers.common.fields import object_in, real_id
from helix_episodes.readers.common.jsonl import read_object
from helix_episodes.readers.common.session_builder import fit_id, hidden_id, id_from_path
from helix_episodes.redaction import without_secrets
from helix_episodes.session import Session
from helix_episodes.store import PREFIX, RENAMED

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from helix_episodes.readers.common.fields import Record


#: The built-in readers by name, in the order of trial: the formats that many a file could be taken for come last.
#: A class is loaded when its turn comes, so most logs cost the code of one or two formats.
_BUILT_IN = {
    "claude-code": "claude_code:ClaudeCodeReader",
    "codex": "codex:CodexReader",
    "codex-exec": "codex.exec_stream:CodexExecReader",
    "swe-agent": "swe_agent:SweAgentReader",
    "mini-swe-agent": "swe_agent:MiniSweAgentReader",
    "openhands": "openhands:OpenHandsReader",
    "tau-bench": "tau_bench:TauBenchReader",
    "who-and-when": "who_and_when:WhoAndWhenReader",
    "gemini": "gemini:GeminiReader",
    "copilot": "copilot:CopilotReader",
    "opencode": "opencode:OpenCodeReader",
    "kimi": "kimi:KimiReader",
    "antigravity": "antigravity:AntigravityReader",
    "atif": "atif:AtifReader",
    "otlp": "otlp:OtlpReader",
    "cursor-stream": "cursor_stream:CursorStreamReader",
    "droid": "message_dialects:DroidReader",
    "pi": "message_dialects:PiReader",
    "qwen": "message_dialects:QwenReader",
    "grok": "message_dialects:GrokReader",
    "hermes": "message_dialects:HermesReader",
    "ai-agents": "ai_agents:AiAgentsReader",
    "cursor": "message_dialects:CursorReader",
    "chat": "message_dialects:ChatReader",
}
ENTRY_POINT_GROUP = "helix_graph.readers"
AUTO = "auto"


#: Of what another package says of its failure, in characters.
_LONGEST_REASON = 1000


class _ReaderFailed(Exception):
    """Another package's code did not do what it is for."""


class _Escaped(io.TextIOBase):
    """Where another package's code prints: stderr, since it is no command's answer, without control characters."""

    def write(self, text: str) -> int:
        shown = (one if one.isprintable() or one == "\n" else ascii(one)[1:-1] for one in text)
        return sys.stderr.write("".join(shown))


@contextmanager
def _of_another_package() -> Iterator[None]:
    """Within, whatever is raised becomes `_ReaderFailed`: what code ends in, and whether with the process, is up to it.

    A person who interrupts the command is heard, and so is an error of this product.
    """
    try:
        with redirect_stdout(_Escaped()):
            yield
    except (HelixGraphError, KeyboardInterrupt):
        raise
    except BaseException as error:
        raise _ReaderFailed(f"({type(error).__name__}: {_told(error)})") from error


def _told(error: BaseException) -> str:
    """What an error says; some fail at that, too."""
    try:
        return str(error)[:_LONGEST_REASON]
    except BaseException as other:
        if isinstance(other, KeyboardInterrupt):
            raise
        return "it cannot be told"


# Endings that say nothing of what is inside.
_GENERAL_ENDINGS = (".json", ".md")

# Folders that hold no sessions: agents' notes to themselves, spilled outputs, other people's code, our own memories.
_SKIPPED_FOLDERS = frozenset({".helix", "memory", "tool-results", ".git", "node_modules"})


#: Together the mark of an episode that this product wrote; other tools' episodes have no provenance of this form.
_EPISODE_KEYS = frozenset({"schema_version", "decisions", "provenance"})


def reader_names() -> tuple[str, ...]:
    """The names ``--format`` accepts besides ``auto``: built-in readers first, then those of other packages."""
    others, _ = _other_readers()
    return (*_BUILT_IN, *(reader.name for reader in others))


def find_reader(path: Path, *, format: str = AUTO, part: bool = False) -> Reader:  # noqa: A002  (the word that the command's option uses)
    """The reader for a log: the one called ``format``, or with ``auto`` the first that recognises the content.

    With ``part`` a helper's transcript is taken by itself: for those who ask what that helper did, and record nothing.

    Raises:
        LogNotReadable: missing, a folder, a device or pipe, no permission, empty, not text, an episode of a memory, or
            a helper's transcript, which is read with its session's log.
    """
    named = None if format == AUTO else _reader_called(format)
    head = read_head(path)
    if _is_episode(head):
        raise LogNotReadable(path=path, problem="it is an episode of a memory, which was made from a log")
    reader = named or _recognise(head)
    if not part and reader.is_part(path):
        raise LogNotReadable(
            path=path,
            problem="it is a part of a session: it belongs to the session log next to its folder; extract that log",
        )
    return reader


def read_sessions(path: Path, *, format: str = AUTO) -> tuple[Session, ...]:  # noqa: A002  (as in find_reader)
    """The sessions of one log, in the order in which it holds them; raises as :func:`find_reader` does."""
    return tuple(sessions_in(path, find_reader(path, format=format)))


def sessions_in(path: Path, reader: Reader) -> Iterator[Session]:
    """The sessions that a reader finds in a log, with what is known of them from outside of it.

    A session under a mark in an id's place gets a name made from its log's path. Where the log holds one session and
    lies alone beside a benchmark's result, that is its reward.
    """
    sessions = iter(reader.read(path))
    first = next(sessions, None)
    if first is None:
        return
    second = next(sessions, None)
    if second is None and first.reward is None and (found := reward_beside(path)) and not _has_company(path):
        first = msgspec.structs.replace(first, reward=found[0])
    for session in filter(None, (first, second)):
        yield _named(session, path)
    for session in sessions:
        yield _named(session, path)


def _named(session: Session, path: Path) -> Session:
    if real_id(session.id) is None:
        return msgspec.structs.replace(session, id=id_from_path(path))
    if without_secrets(session.id) != session.id:  # drawn by chance, as keys are: it would be cut out of the episode
        return msgspec.structs.replace(session, id=hidden_id(session.id))
    if session.id.startswith(PREFIX):  # it would answer to the name of another session's episode
        return msgspec.structs.replace(session, id=fit_id(RENAMED + session.id))
    return session


def _has_company(path: Path) -> bool:
    """Whether another log lies beside this one, so that a result there may be the other's."""
    others = (file for file in path.parent.iterdir() if file.name != path.name and file.name not in RESULT_NAMES)
    readers = tuple(_built_in())
    return any(
        file.suffix == path.suffix and not _is_special(file) and _is_recognised(file, readers) for file in others
    )


class FoundFiles(NamedTuple):
    """The logs under a folder, and the JSON files that no reader recognises."""

    logs: list[Path]
    unread: list[Path]


def find_logs(folder: Path) -> list[Path]:
    """The files under a folder that could be logs, sorted by path; helpers' transcripts go with their session's log.

    Files are chosen by the ending of their names; whether they are logs is for :func:`find_reader` to say. Settings and
    notes end in ``.json`` and ``.md`` as well, so of those only what a reader recognises is taken for a log.
    """
    return find_files(folder).logs


def find_files(folder: Path) -> FoundFiles:
    """As `find_logs`, and the files that end in ``.json`` and are no logs: a log may be among them."""
    others, _ = _other_readers()
    readers = (*_built_in(), *others)
    found = FoundFiles([], [])
    for path in sorted(_files(folder)):
        fitting = [reader for reader in readers if path.name.endswith(reader.suffixes)]
        if not fitting or any(reader.is_part(path) for reader in fitting):
            continue
        if not path.name.endswith(_GENERAL_ENDINGS) or _is_recognised(path, fitting):
            found.logs.append(path)
        elif path.suffix == ".json" and not _is_companion(path):
            found.unread.append(path)
    return found


def _is_companion(path: Path) -> bool:
    """Whether a file is read with a log, or is an episode that a memory made of one."""
    if path.name in RESULT_NAMES or path.name.endswith(".meta.json"):
        return True
    try:
        return _is_episode(read_head(path))
    except LogNotReadable:
        return False


def is_part(path: Path) -> bool:
    """Whether a file belongs to a log next to it, with which it is read."""
    others, _ = _other_readers()
    return any(path.name.endswith(one.suffixes) and one.is_part(path) for one in (*_built_in(), *others))


@cache
def _load(name: str) -> Reader:
    module, _, attribute = _BUILT_IN[name].partition(":")
    reader: Reader = getattr(import_module(f"helix_episodes.readers.{module}"), attribute)()
    return reader


def _built_in() -> Iterator[Reader]:
    return map(_load, _BUILT_IN)


def _reader_called(name: str) -> Reader:
    if name in _BUILT_IN:
        return _load(name)
    others, broken = _other_readers()
    for reader in others:
        if reader.name == name:
            return reader
    known = ", ".join((AUTO, *_BUILT_IN, *(reader.name for reader in others)))
    trouble = "; ".join(f"{who}: {why}" for who, why in broken.items())
    trouble = f"; could not be loaded: {trouble}" if trouble else ""
    raise InvalidArgument(None, f"no reader is called {name!r}; there are: {known}{trouble}")


def _recognise(head: LogHead) -> Reader:
    declined: dict[str, str] = {}
    for reader in _built_in():
        reason = reader.sniff(head)
        if reason is None:
            return reader
        declined[reader.name] = reason
    others, broken = _other_readers()
    tried = (*_built_in(), *others)
    for reader in others:
        reason = reader.sniff(head)
        if reason is None:
            return reader
        declined[reader.name] = reason
    closest = _closest_first(declined, fitting={one.name for one in tried if head.path.name.endswith(one.suffixes)})
    raise UnknownLogFormat(path=head.path, declined={**broken, **closest})


def _closest_first(declined: dict[str, str], *, fitting: set[str]) -> dict[str, str]:
    """The formats whose logs are named like this one first, and of those the ones with a reason of their own.

    What many readers say ("no line is a JSON object") shows that none of them got far.
    """
    reasons = Counter(declined.values())
    return dict(sorted(declined.items(), key=lambda one: (one[0] not in fitting, reasons[one[1]])))


class _ForeignReader:
    """A reader of another package. Whatever fails in it is that reader's problem, with its name, and no other log's."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self.name, self.suffixes = str(reader.name), tuple(map(str, reader.suffixes))
        for method in ("sniff", "is_part", "read"):
            getattr(reader, method)  # a missing one is better found here than half way

    def sniff(self, head: LogHead) -> str | None:
        """Why it is no log of this format; a reader that fails declines, with that as its reason."""
        try:
            with _of_another_package():
                self._reader.is_part(head.path)  # one that cannot answer that is not chosen
                reason = self._reader.sniff(head)
                return None if reason is None else str(reason)
        except (_ReaderFailed, HelixGraphError) as error:
            return f"failed {error}"

    def is_part(self, path: Path) -> bool:
        """Whether it says that the file is read with another; what `sniff` declines for is no part either."""
        try:
            with _of_another_package():
                return bool(self._reader.is_part(path))
        except (_ReaderFailed, HelixGraphError):
            return False

    def read(self, path: Path) -> Iterator[Session]:
        """The sessions of a log.

        Raises:
            LogNotReadable: The reader failed, or gave something else.
        """
        whose = f"the reader {self.name!r} of another package"
        try:
            with _of_another_package():
                sessions = list(self._reader.read(path))
        except _ReaderFailed as error:
            raise LogNotReadable(path=path, problem=f"{whose} failed {error}") from error
        if not all(isinstance(one, Session) for one in sessions):
            raise LogNotReadable(path=path, problem=f"{whose} gave no sessions")
        try:
            # Nothing else looks at the types of fields, and what only becomes right on this way is not so before it.
            checked = msgspec.convert(msgspec.to_builtins(sessions), list[Session])
        except (TypeError, ValueError, RecursionError) as error:
            raise LogNotReadable(path=path, problem=f"{whose} gave a session that is none ({error})") from error
        yield from checked


def _other_readers() -> tuple[list[Reader], dict[str, str]]:
    """Readers of other packages by name, and those that could not be loaded with the reason."""
    from importlib.metadata import entry_points

    readers: list[Reader] = []
    broken: dict[str, str] = {}
    for point in sorted(entry_points(group=ENTRY_POINT_GROUP), key=lambda point: (point.name, point.value)):
        if point.name in _BUILT_IN:
            continue
        try:
            with _of_another_package():
                readers.append(_ForeignReader(point.load()()))
        except (_ReaderFailed, HelixGraphError) as error:
            broken[point.name] = f"could not be loaded {error}"
    return readers, broken


def _is_recognised(path: Path, readers: Sequence[Reader]) -> bool:
    try:
        head = read_head(path)
    except LogNotReadable:
        return False
    return not _is_episode(head) and any(reader.sniff(head) is None for reader in readers)


def _is_episode(head: LogHead) -> bool:
    """Whether this is what a memory has made of a log: read as one, it would count a second time."""
    document = head.document
    if not isinstance(document, dict) or not document.keys() >= _EPISODE_KEYS:
        return False
    return str(document.get("id")).startswith("episode-") and isinstance(document["provenance"], dict)


def _files(folder: Path) -> Iterator[Path]:
    for where, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in _SKIPPED_FOLDERS]
        yield from (path for name in names if not _is_special(path := Path(where, name)))


def _is_special(path: Path) -> bool:
    """Whether this is a pipe, a device or a link to one, which could keep a reader waiting for ever."""
    try:
        return not stat.S_ISREG(path.stat().st_mode)
    except OSError:
        # reading it will report what is wrong.
        return False


#: In the order in which they are believed: the number itself, then summaries of the run, then its tests.
RESULT_NAMES = ("reward.txt", "reward.json", "result.json", "results.json", "metadata.json", "ctrf.json")
#: Where a verifier's folder is: beside the log, or beside the folder with the agent's logs.
_FOLDERS = (".", "verifier", "..", "../verifier")
_NUMBERS = ("reward", "score", "task_score", "mean_reward")
_VERDICTS = ("all_passed", "passed", "resolved", "is_resolved")
#: A number that is longer is none.
_LONGEST_NUMBER = 40


def reward_beside(log: Path) -> tuple[float, Path] | None:
    """The reward of the run that a log is of, from 0 to 1, and the file that states it; None without one.

    In the folder above, a result belongs to this log only where its agent's logs have a folder of their own.
    """
    for folder in _FOLDERS:
        if folder.startswith("..") and log.parent.name not in {"agent", "logs", "sessions", "agent-logs"}:
            continue
        where = os.path.join(log.parent, folder)  # noqa: PTH118  (making paths took a twentieth of reading)
        if not os.path.isdir(where):  # noqa: PTH112  (see above)
            continue
        for name in RESULT_NAMES:
            if not os.path.isfile(os.path.join(where, name)):  # noqa: PTH113, PTH118  (see above)
                continue
            file = log.parent / folder / name
            if file != log and (reward := _reward_in(file)) is not None:
                return min(max(reward, 0.0), 1.0), file.resolve()
    return None


def _reward_in(file: Path) -> float | None:
    if file.suffix == ".txt":
        try:
            with file.open(encoding="utf-8", errors="replace") as told:
                return float(told.read(_LONGEST_NUMBER))
        except (OSError, ValueError):
            return None
    stated = read_object(file) or {}
    if file.name == "ctrf.json":
        summary = object_in(object_in(stated, "results"), "summary")
        passed, failed = _number(summary.get("passed")), _number(summary.get("failed"))
        return None if passed is None or failed is None or not passed + failed else float(not failed)
    verifier, scores = object_in(stated, "verifier_result"), object_in(stated, "scores")
    # At its top, below the verifier's result, among scores.
    places = (stated, object_in(verifier, "rewards"), verifier, scores, object_in(stated, "rewards"))
    return next((reward for record in places if (reward := _stated(record)) is not None), None)


def _stated(record: Record) -> float | None:
    """The reward in a record. Checkpoints are a share; all of them passed is 1, whatever points there were."""
    verdict = next((value for name in _VERDICTS if isinstance(value := record.get(name), bool)), None)
    if "checkpoints_total" in record:
        passed, total = _number(record.get("checkpoints_passed")), _number(record.get("checkpoints_total"))
        return passed / total if passed is not None and total else None
    number = next((value for name in _NUMBERS if (value := _number(record.get(name))) is not None), None)
    if number is not None and number <= 1:
        return number
    # Points instead of a share: only whether it was enough is known.
    return None if verdict is None else float(verdict)


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
