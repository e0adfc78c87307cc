"""Builds a session while a log is read: its steps, with calls joined to results, its ids and names.

Logs differ in how they name a call and where its result is, but the joining is the same for all: by id, which some
programs use twice in one run, and where there is none, by order. What records say several times about the session (the
folder, the version) is taken as it was said first, the model as the one that gave most answers.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

import msgspec

from helix_episodes.errors import LogNotReadable
from helix_episodes.readers.common.fields import real_id
from helix_episodes.readers.common.jsonl import LineLedger, SkippedRecord
from helix_episodes.readers.common.message_parts import parse_arguments, read_ending
from helix_episodes.readers.common.tool_translation import translate
from helix_episodes.redaction import without_secrets
from helix_episodes.session import Session, Status, Step, StepKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from helix_episodes.readers.common.fields import RecordPosition
    from helix_episodes.readers.common.tool_translation import Translation, Translator
    from helix_episodes.session import Operation, Piece


_SEPARATORS = re.compile(r"[/\\]+")
# Folders in which work trees of one repository are kept; the project is the folder that holds them.
_TREE_FOLDERS = frozenset({".worktrees", "worktrees", ".trees"})
_OWN_FOLDERS = frozenset({".claude", ".git"})
_UNFIT = re.compile(r"[^A-Za-z0-9._-]+")
# As long as the name of an episode's file may be with its ending.
_ID_LIMIT = 128
_DIGEST_LETTERS = 8
#: Of a digest in place of an id: enough for as many sessions as there are, and too few to be taken for a key.
_HIDDEN_LETTERS = 16


def project_of(root: str | None) -> str | None:
    r"""The project's name: the last part of its path, or for a work tree the folder that holds the work trees.

    An agent that has its work trees in a hidden folder of its own names the project within each.

    >>> project_of("/home/kim/shop/.worktrees/3"), project_of("C:\\code\\shop")
    ('shop', 'shop')
    >>> project_of("~/.codex/worktrees/6b3b/shop")
    'shop'
    """
    parts = path_parts(root or "")
    for position, part in enumerate(parts):
        own = parts[position - 1].startswith(".") and parts[position - 1] not in _OWN_FOLDERS
        if part in _TREE_FOLDERS and position and not own:
            parts = parts[:position]
            break
    while len(parts) > 1 and parts[-1] in _OWN_FOLDERS:
        parts = parts[:-1]
    return parts[-1] if parts else None


def path_parts(path: str) -> list[str]:
    r"""The parts of a path of either kind.

    >>> path_parts("C:\\code\\shop")
    ['C:', 'code', 'shop']
    """
    return [part for part in _SEPARATORS.split(path) if part]


def id_from_path(path: Path, *more: object) -> str:
    """An id for a session whose log bears none: its folder and its name, then whatever distinguishes sessions of a log.

    Runs of one task lie in folders of different names under the same name, sometimes in a further folder of that name;
    so the nearest folder with another name is taken.

    >>> from pathlib import Path
    >>> id_from_path(Path("/runs/gpt-4/fix-1867/fix-1867.traj")), id_from_path(Path("/runs/air.json"), "task", 3)
    ('gpt-4-fix-1867', 'runs-air-task-3')
    """
    stem = path.name.partition(".")[0] or path.name
    folder = next((name for name in (one.name for one in path.absolute().parents) if name != stem), "")
    return fit_id("-".join(str(part) for part in (folder, stem, *more) if str(part)))


def hidden_id(name: str) -> str:
    """An id in the place of one that would be cut as a secret; the same for the same name."""
    return f"session-{_digest(name)[:_HIDDEN_LETTERS]}"


def _digest(name: str) -> str:
    return hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()


def fit_id(name: str) -> str:
    """The name as an id: what does not fit becomes a dash, and one too long ends in a digest of the whole.

    One that holds a secret is a digest alone: with other signs around it, nothing would know the secret again.

    >>> fit_id("run of 3/4"), len(fit_id("x" * 500))
    ('run-of-3-4', 128)
    """
    if without_secrets(name) != name:
        return hidden_id(name)
    fitting = _UNFIT.sub("-", name).strip("-._") or "session"
    if len(fitting) <= _ID_LIMIT:
        return fitting
    return f"{fitting[: _ID_LIMIT - _DIGEST_LETTERS - 1]}-{_digest(name)[:_DIGEST_LETTERS]}"


class Dialogue:
    """Steps in order. Ids of calls are made unique within the session; results find the latest call of their id."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self._open: dict[str, tuple[int, ...]] = {}
        self._closed: dict[str, int] = {}
        self._used: dict[str, int] = {}

    def add(self, kind: StepKind, place: RecordPosition, **fields: Any) -> None:  # noqa: ANN401  (fields of Step)
        """Adds any step that is neither call nor result."""
        self.steps.append(Step(kind=kind, source=place.source, at=place.at, **fields))

    def add_text(self, kind: StepKind, place: RecordPosition, *, text: str, actor: str = "agent") -> bool:
        """Adds words, unless there are none; whether there were any."""
        if text.strip():
            self.add(kind, place, text=text.strip(), actor=actor)
        return bool(text.strip())

    def add_text_or_skip(
        self, kind: StepKind, place: RecordPosition, *, text: str, empty: str, actor: str = "agent"
    ) -> SkippedRecord | None:
        """As `add_text`, with the reason ``empty`` for skipping the record when there are no words."""
        return None if self.add_text(kind, place, text=text, actor=actor) else SkippedRecord(empty)

    def add_call(
        self,
        place: RecordPosition,
        *,
        tool: str,
        call_id: str | None,
        translations: Sequence[Translation],
        actor: str = "agent",
    ) -> None:
        """Adds a call, one step for each thing that it does, all under ids made from its own."""
        logged = call_id or f"line-{place.source.line}"
        self._used[logged] = self._used.get(logged, 0) + 1
        name = logged if self._used[logged] == 1 else f"{logged}~{self._used[logged]}"
        self._open.pop(logged, None)
        self._open[logged] = tuple(range(len(self.steps), len(self.steps) + len(translations)))
        for number, (operation, arguments) in enumerate(translations, 1):
            one = name if number == 1 else f"{name}/{number}"
            self.add("call", place, actor=actor, tool=tool, operation=operation, arguments=arguments, call_id=one)

    def call(
        self,
        place: RecordPosition,
        tool: str | None,
        arguments: object,
        *,
        tools: Mapping[str, Translator],
        call_id: str | None,
        actor: str = "agent",
    ) -> Operation:
        """Adds a call as logged: its tool's name and arguments are translated by ``tools``; returns what it does."""
        name = tool or "unnamed"
        translations = translate(name, parse_arguments(arguments), tools=tools)
        self.add_call(place, tool=name, call_id=call_id, translations=translations, actor=actor)
        return translations[0].operation

    def end_call(  # noqa: PLR0913  (as `call`)
        self,
        call_id: str | None,
        place: RecordPosition,
        *,
        text: str,
        failed: object,
        exit_code: object = None,
        status: Status | None = None,
        actor: str | None = None,
    ) -> None:
        """Adds a result whose status follows from the log's own flag and exit code (`read_ending`).

        ``failed`` and ``exit_code`` count when they are of the right type; a ``status`` that the log states wins.
        """
        call = self.open_call(call_id)
        ending = read_ending(
            text,
            failed=failed if isinstance(failed, bool) else None,
            ran=call is not None and call.operation == "run",
            exit_code=exit_code if isinstance(exit_code, int) else None,
        )
        came_out = status or ending.status
        self.add_result(call_id, place, text=ending.text, status=came_out, exit_code=ending.exit_code, actor=actor)

    def add_result(  # noqa: PLR0913  (as `call`)
        self,
        call_id: str | None,
        place: RecordPosition,
        *,
        text: str,
        status: Status,
        exit_code: int | None = None,
        actor: str | None = None,
        pieces: tuple[Piece, ...] = (),
    ) -> None:
        """Adds the result of a call; without an id, of the oldest one that has none yet.

        Of a call that did several things the first bears the text. The others came out the same, but one failure is no
        three: of what failed the one bears the text whose file it names, and the others never ran. ``pieces`` are where
        the text was printed, if bit by bit.
        """
        logged = call_id if call_id is not None else next(iter(self._open), None)
        positions = self._open.pop(logged, ()) if logged is not None else ()
        if logged is not None:
            self._closed[logged] = len(self.steps)
        if not positions:
            how = {"status": status, "exit_code": exit_code, "actor": actor or "agent"}
            self.add("result", place, text=text, call_id=logged, **how)
            return
        first = self._named_first(positions, text) if status == "error" else positions[0]
        others = [position for position in positions if position != first]
        self._answer(first, place, actor=actor, text=text, status=status, exit_code=exit_code, pieces=pieces)
        for position in others:
            self._answer(position, place, actor=actor, status="cancelled" if status == "error" else status)

    def _named_first(self, positions: Sequence[int], text: str) -> int:
        """Of several steps the one whose file a text names; the first where it names none."""
        paths = {position: str(self.steps[position].arguments.get("path") or "") for position in positions}
        named = [position for position in positions if paths[position] and paths[position] in text]
        return max(named, key=lambda position: len(paths[position]), default=positions[0])

    def _answer(self, position: int, place: RecordPosition, *, actor: str | None, **fields: Any) -> None:  # noqa: ANN401  (fields of Step)
        call = self.steps[position]
        joined = {"tool": call.tool, "operation": call.operation, "call_id": call.call_id}
        self.add("result", place, actor=actor or call.actor, **joined, **fields)

    def replace_result(
        self, call_id: str, place: RecordPosition, *, text: str, status: Status, exit_code: int | None = None
    ) -> None:
        """Puts a result that says more in the place of the one that a call already has."""
        result = self.steps[self._closed[call_id]]
        self.steps[self._closed[call_id]] = msgspec.structs.replace(
            result, source=place.source, at=place.at, text=text, status=status, exit_code=exit_code, pieces=()
        )

    def mark_created(self, call_id: str | None) -> None:
        """The files that the open call of this id wrote whole (without an id, the oldest one's) are new."""
        logged = call_id if call_id is not None else next(iter(self._open), None)
        for position in self._open.get(logged or "", ()):
            call = self.steps[position]
            if call.operation == "edit" and not call.arguments["old"]:
                arguments = {"path": call.arguments["path"], "new": call.arguments["new"]}
                self.change(position, operation="create", arguments=arguments)

    def is_open(self, call_id: str | None) -> bool:
        """Whether a call of this id waits for its result."""
        return call_id in self._open

    def has_result(self, call_id: str | None) -> bool:
        """Whether the latest call of this id has its result."""
        return call_id in self._closed and call_id not in self._open

    def open_position(self, call_id: str | None) -> int | None:
        """The position of the (first) step of the call that waits for this result; without an id the oldest one."""
        logged = call_id if call_id is not None else next(iter(self._open), None)
        return next(iter(self._open.get(logged or "", ())), None)

    def open_call(self, call_id: str | None) -> Step | None:
        """That step itself."""
        position = self.open_position(call_id)
        return None if position is None else self.steps[position]

    def change(self, position: int, **fields: Any) -> None:  # noqa: ANN401  (fields of Step)
        """Changes a step that turned out to be something else."""
        self.steps[position] = msgspec.structs.replace(self.steps[position], **fields)


# Many a log is called after its session.
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class SessionBuilder:
    """Gathers one session while its records go by."""

    def __init__(self) -> None:
        self.dialogue = Dialogue()
        self.ledger = LineLedger()
        self.id: str | None = None
        self.version: str | None = None
        self.root: str | None = None
        self.tokens: int | None = None
        self.branch: str | None = None
        self._models: Counter[str] = Counter()
        self._times: list[datetime] = []

    def note(self, *, id: str | None = None, version: str | None = None, root: str | None = None) -> None:  # noqa: A002  (the field's name)
        """Notes what a record says of the session; the first word counts."""
        self.id = self.id or real_id(id)
        self.version = self.version or version
        self.root = self.root or root

    def note_time(self, at: datetime | None) -> None:
        """Notes a time at which the session was under way, though nothing was said then."""
        if at is not None:
            self._times.append(at)

    def count_model(self, model: str | None) -> None:
        """Counts an answer of a model."""
        if model:
            self._models[model] += 1

    def add_tokens(self, tokens: int) -> None:
        """Adds tokens that were written or newly read; of fewer than none nothing is known."""
        if tokens > 0:
            self.tokens = (self.tokens or 0) + tokens
            last = len(self.dialogue.steps) - 1
            if last >= 0:
                self.dialogue.change(last, tokens=(self.dialogue.steps[last].tokens or 0) + tokens)

    def session(
        self,
        path: Path,
        *,
        reader: str,
        empty: str | None = None,
        **stated: Any,  # noqa: ANN401  (fields of Session)
    ) -> Session:
        """The session, under its own id or, where its log has none, under a name made from its path.

        ``empty`` says what a log without steps lacks; ``stated`` are fields that this log states about the session.

        Raises:
            LogNotReadable: It has no step.
        """
        steps = tuple(self.dialogue.steps)
        accounting = self.ledger.accounting()
        if not steps:
            lacking = empty or f"{accounting.lines} records, no step"
            raise LogNotReadable(path=path, problem=f"it contains no session ({lacking})")
        known = {
            "id": fit_id(self.id or path.stem) if self.id or _UUID.fullmatch(path.stem) else id_from_path(path),
            "agent_version": self.version,
            "model": self._models.most_common(1)[0][0] if self._models else None,
            "project": project_of(self.root),
            "root": self.root,
            "tokens": self.tokens,
            "branch": self.branch,
            "accounting": accounting,
        }
        return session_of(steps, reader=reader, times=self._times, **(known | stated))


def session_of(steps: Iterable[Step], *, reader: str, times: Iterable[datetime] = (), **stated: Any) -> Session:  # noqa: ANN401  (fields of Session)
    """The session of these steps; it lasts from the first to the last time of a step or of ``times``."""
    found = tuple(steps)
    known = [*times, *(step.at for step in found if step.at is not None)]
    lasts = {"agent": reader, "started": min(known, default=None), "ended": max(known, default=None)}
    return Session(steps=found, reader=reader, **(lasts | stated))
