"""Is a change that repaired something still in the working tree?

A change is known by the lines that it wrote. Each is looked for in its file as it is now, at whatever line and with
whatever indentation: where all are there the change *holds*; where some are missing the file has *changed* since;
without the file it is *gone*, unless a file of that name elsewhere, which sessions touched or which is the only one of
that name that git tracks, has the lines: then it has *moved*. Only the files of the changes that are shown are read.
What cannot be compared (a command, a deletion, a text that redaction cut) has no state.
"""

from __future__ import annotations

from helix_episodes.light_imports import Value
from helix_episodes.safe_files import read_regular

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path

#: A larger file is none that a person or an agent edits by hand, and a hook has no time for it.
_LARGEST_FILE = 1 << 20
#: A bracket or a lone keyword is in every file.
_SHORTEST_LINE = 6
#: Files of one name that are read to find where a change has moved.
_MOST_PLACES = 5
#: How a path begins that leads out of the project (as `extraction.paths.relative` gives it).
_OUTSIDE = ("/", "~", "../")
_CUT_OFF = "…"
_REDACTED = "[redacted:"


class RemedyState(Value):
    """``state`` is ``holds``, ``moved``, ``gone``, ``changed`` or None; ``now_at`` the file that it has moved to."""

    state: str | None = None
    now_at: str | None = None


class WorkingTree:
    """The project's files as they are now; each is read once. ``connection`` knows which files sessions touched."""

    def __init__(self, root: Path, connection: sqlite3.Connection) -> None:
        self._root, self._connection = root, connection
        self._read: dict[str, frozenset[str] | None] = {}
        self._named: dict[str, list[str]] = {}

    def state_of(self, path: str | None, written: str) -> RemedyState:
        """What became of the lines that a change wrote into the file at ``path``, relative to the project."""
        lines = _lines_of_change(written)
        if not path or not lines:
            return RemedyState()
        now = self._lines(path)
        if now is not None:
            return RemedyState("holds" if lines <= now else "changed")
        # The memory is not that of the files around it, or the file is of another checkout.
        if path.startswith(_OUTSIDE) or not (self._root / ".git").exists():
            return RemedyState()
        places = self._places(path)
        other = next((one for one in places if lines <= (self._lines(one) or frozenset())), None)
        if other:
            return RemedyState("moved", other)
        return RemedyState("changed" if self._tracked(path.rpartition("/")[2]) == places != [] else "gone")

    def is_gone(self, path: str) -> bool:
        """Whether a file of the project is not there any more, nor at any place where sessions touched its like."""
        if not path or path.startswith(_OUTSIDE) or not (self._root / ".git").exists():
            return False
        try:
            return not any((self._root / one).exists() for one in (path, *self._places(path)))
        except OSError:  # a name that is too long, for one: nothing can be said of it
            return False

    def _places(self, path: str) -> list[str]:
        """Where else a file of that name is: as git tracks it, if there is one alone, else as sessions touched it."""
        name = path.rpartition("/")[2]
        tracked = self._tracked(name)
        if len(tracked) == 1:
            return tracked
        rows = self._connection.execute(
            "SELECT DISTINCT path FROM mention WHERE path IS NOT NULL AND path <> ? AND substr(path, ?) = ? LIMIT ?",
            (path, -len(name) - 1, f"/{name}", _MOST_PLACES),
        )
        return [one for (one,) in rows]

    def _tracked(self, name: str) -> list[str]:
        """The files of a name that git tracks; asked only for a file that is missing, so git is seldom started."""
        if name not in self._named:
            from helix_graph.git_command import git_output

            literal = "".join(f"[{sign}]" if sign in "*?[" else sign for sign in name)
            found = git_output(self._root, "ls-files", "-z", "--", f":(glob)**/{literal}") or b""
            self._named[name] = [one.decode("utf-8", "replace") for one in found.split(b"\0") if one]
        return self._named[name]

    def _lines(self, path: str) -> frozenset[str] | None:
        """The lines of a file without indentation; None where there is none below the project's folder."""
        if path not in self._read:
            self._read[path] = self._lines_now(path)
        return self._read[path]

    def _lines_now(self, path: str) -> frozenset[str] | None:
        try:
            file = (self._root / path).resolve()
            if not file.is_relative_to(self._root.resolve()):
                return None
            text = read_regular(file, most=_LARGEST_FILE).decode("utf-8", "replace")
        except (OSError, ValueError):  # a null character in a path is a ValueError
            return None
        return frozenset(_plain(line) for line in text.splitlines())


def _lines_of_change(written: str) -> frozenset[str]:
    """The whole lines of a quotation that can be looked for: not the last where it was cut, none that was redacted."""
    lines = written.splitlines()
    if written.endswith(_CUT_OFF):
        lines = lines[:-1]
    if any(_REDACTED in line or "~/" in line for line in lines):
        return frozenset()
    return frozenset(plain for line in lines if len(plain := _plain(line)) >= _SHORTEST_LINE)


def _plain(line: str) -> str:
    return " ".join(line.split())
