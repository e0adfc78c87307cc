r"""The files through which agents and their orchestrator exchange messages, and the names allowed in them.

They are the seeds' files, in the memory's folder:

=================================== ===================================================================================
``injection-state/{task_id}.json``  which insights a task was given: ``{task_id, query, names, ts}``, and ``workspace``
``task-status.jsonl``               a line for each builder or planner that ended
``explorer-results/{agent}.json``   what an explorer found
``extraction.log``                  a line for each agent that was learnt from
=================================== ===================================================================================

Other programs write them too, and may not have finished. So a line or file that cannot be read is skipped here, what is
written is whole or absent, and two processes that append to one file each get a line of their own.

Names of tasks and agents come from planners and transcripts, so any text may occur: ``../../escape``, a line break, a
marker. A *file name* is accepted or refused, never repaired, since two names must not become one file.

>>> [is_file_name(name) for name in ("001-w3", "../../escape", "a/b", "", "x" * 129, "a\n")]
[True, False, False, False, False, False]
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import orjson

from helix_episodes.errors import InvalidArgument, WriteFailed
from helix_episodes.msgspec_types import read_json
from helix_episodes.redaction import without_secrets
from helix_episodes.safe_files import irregularity, make_folder, read_regular, remove_file, write_atomically
from helix_graph.validation import as_str

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable
    from io import FileIO


_FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")


def is_file_name(name: str) -> bool:
    """Whether a text can name a file and lead nowhere else."""
    return _FILE_NAME.fullmatch(name) is not None


def file_name(option: str, name: str) -> str:
    """The name itself.

    Raises:
        InvalidArgument: It could lead elsewhere, or looks like a secret.
    """
    if without_secrets(as_str(option, name)) != name:
        raise InvalidArgument(option, "looks like a secret, and would be the name of a file; choose another")
    if not is_file_name(name):
        raise InvalidArgument(
            option,
            f"is {name!r}, which cannot name a file: use letters, digits, '.', '_' and '-', beginning with a letter or "
            "digit, at most 128 of them",
        )
    return name


_OWNER_ONLY = 0o600
_REWRITING = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_APPENDING = _REWRITING | os.O_APPEND | os.O_CREAT


class InjectionState(msgspec.Struct, frozen=True, kw_only=True):
    """What a task was given. ``workspace`` is set when a workspace was made for it: then that closes the loop."""

    task_id: str
    query: str = ""
    names: tuple[str, ...] = ()
    ts: str = ""
    workspace: int | None = None


class HandoffFiles:
    """The hand-off files of the memory in ``root``."""

    def __init__(self, root: Path) -> None:
        self.task_status = root / "task-status.jsonl"
        self.explorer_results = root / "explorer-results"
        self.injection_state = root / "injection-state"
        self.log = root / "extraction.log"

    def write_state(self, state: InjectionState) -> Path:
        """Says what a task was given.

        Raises:
            InvalidArgument: The task's id could lead elsewhere.
        """
        path = self.injection_state / f"{file_name('task_id', state.task_id)}.json"
        plain = msgspec.to_builtins(state)
        if state.workspace is None:
            del plain["workspace"]  # the seeds' form
        write_atomically(path, orjson.dumps(plain, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
        return path

    def read_state(self, task_id: str) -> InjectionState | None:
        """What a task was given; None when nothing says so, also for an id that could lead elsewhere."""
        return read_json(self.injection_state / f"{task_id}.json", InjectionState) if is_file_name(task_id) else None

    def status_lines(self) -> list[dict[str, Any]]:
        """The lines of finished agents in the order in which they were written; what is no JSON object is left out."""
        try:
            lines = read_regular(self.task_status).splitlines()
        except OSError:
            return []
        return [one for line in lines if isinstance(one := _json(line), dict)]

    def forget_task(self, task_id: str) -> None:
        """Removes what was said of a task: its hand-off file and lines; what others append meanwhile is not lost."""
        if is_file_name(task_id):
            remove_file(self.injection_state / f"{task_id}.json")
        _keep_lines(
            self.task_status,
            lambda line: not isinstance(one := _json(line), dict) or str(one.get("task_id")) != task_id,
        )

    def forget_sessions(self, sessions: Iterable[str]) -> None:
        """Removes the lines of the log that name one of these sessions, as who was learnt from or in a problem."""
        ids = b"|".join(re.escape(session.encode()) for session in sessions)
        if ids:
            names = re.compile(rb"(?<![A-Za-z0-9])(?:" + ids + rb")(?![\w-])")
            _keep_lines(self.log, lambda line: names.search(line) is None)

    def keep_names(self, known: Collection[str]) -> None:
        """Takes all other names out of what tasks were given; what was given nothing else is no longer needed."""
        for path in sorted(self.injection_state.glob("*.json")):
            state = self.read_state(path.stem)
            if state is None or state.names == (kept := tuple(name for name in state.names if name in known)):
                continue
            if kept:
                self.write_state(msgspec.structs.replace(state, task_id=path.stem, names=kept))
            else:
                remove_file(path)

    def result_files(self) -> list[Path]:
        """The files of explorers, by name."""
        if not self.explorer_results.is_dir():
            return []
        return sorted(path for path in self.explorer_results.glob("*.json") if not path.name.startswith("."))

    def write_result(self, agent_id: str, found: dict[str, Any]) -> Path:
        """Keeps what an explorer found.

        Raises:
            InvalidArgument: The agent's id could lead elsewhere.
        """
        path = self.explorer_results / f"{file_name('agent_id', agent_id)}.json"
        write_atomically(path, orjson.dumps(found, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
        return path


def append_line(path: Path, line: bytes) -> None:
    """Appends one line, whole, whoever else appends; a line that somebody left unfinished is ended first.

    Raises:
        WriteFailed: The disk is full, the folder read-only, or something else than a file stands there.
    """
    with WriteFailed.for_os_errors(path):
        make_folder(path.parent)
        with os.fdopen(os.open(path, _APPENDING, _OWNER_ONLY), "ab+", buffering=0) as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            whole = (b"\n" if _is_unfinished(file) else b"") + line + b"\n"
            written = file.write(whole)
    if written != len(whole):
        raise WriteFailed(path=path, problem=os.strerror(errno.ENOSPC))


def _keep_lines(path: Path, stays: Callable[[bytes], bool]) -> None:
    """Writes a file of lines again in its place with those that stay, under the lock of those who append to it.

    Raises:
        WriteFailed: Something else than a file stands there: a link would lead out of the memory.
    """
    if not os.path.lexists(path):
        return
    with WriteFailed.for_os_errors(path):
        problem = irregularity(path)
        if problem:
            raise WriteFailed(path=path, problem=f"{problem}; remove it")
        handle = os.open(path, _REWRITING)
    with WriteFailed.for_os_errors(path), os.fdopen(handle, "rb+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        lines = file.read().splitlines(keepends=True)
        file.seek(0)
        file.writelines(line for line in lines if stays(line))
        file.truncate()


def _is_unfinished(file: FileIO) -> bool:
    size = file.seek(0, os.SEEK_END)
    return bool(size) and os.pread(file.fileno(), 1, size - 1) != b"\n"


def _json(line: bytes) -> Any:  # noqa: ANN401  (JSON)
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError:
        return None
