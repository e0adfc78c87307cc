"""Changing a file of settings: everything is worked out and checked first, then it replaces the file at once."""

from __future__ import annotations

import difflib
import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from helix_cli.errors import NotEditable
from helix_cli.setup.backups import backup_of, drop_backups
from helix_cli.setup.owning import write_for_its_owner
from helix_cli.setup.records import FileRecord, Records
from helix_episodes.files import irregularity, remove_file

if TYPE_CHECKING:
    from collections.abc import Sequence

    from helix_cli.setup.inserting import Kept


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """What becomes of a file: its bytes before and after, None where there is no file.

    ``steps`` are the insertions that lead from the file without us to ``after``, ``made`` says that there was no file
    without us, ``kept`` which lists and objects on the way were there. An ``exact`` change brings back known bytes.
    ``within`` is the folder of our own that the file lies in, if it does.
    """

    path: Path
    before: bytes | None
    after: bytes | None
    steps: tuple[tuple[int, int], ...] = ()
    made: bool = False
    kept: tuple[tuple[str, ...], ...] = ()
    exact: bool = False
    within: Path | None = None

    @property
    def is_none(self) -> bool:
        """Whether everything is as it should be already."""
        return self.before == self.after

    @property
    def diff(self) -> str:
        """What changes, for a person to look at."""
        old, new = (_lines(text) for text in (self.before, self.after))
        return "".join(difflib.unified_diff(old, new, fromfile=str(self.path), tofile=str(self.path)))

    @property
    def backup(self) -> Path | None:
        """Where the bytes of before are kept; None where nothing of anybody's is replaced."""
        if self.is_none or self.exact or self.before is None or self.within is not None:
            return None
        return backup_of(self.path.resolve())


def read_text(path: Path) -> str | None:
    """The text of a file as it stands, line ends and all; None where there is none.

    Raises:
        NotEditable: It cannot be read, or is no text.
    """
    problem = irregularity(path, follow=True)
    if problem:
        raise NotEditable(problem, path=path)
    try:
        return path.read_bytes().decode()
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise NotEditable(str(error), path=path) from error


def is_blank(text: str | None) -> bool:
    """Whether a file says nothing: it is not there, or empty, or holds nothing but blanks."""
    return not (text or "").strip("\ufeff \t\r\n")


def no_change(path: Path, text: str | None) -> Change:
    """That a file stays as it is."""
    content = None if text is None else text.encode()
    return Change(path=path, before=content, after=content)


def edited(path: Path, before: str, after: str) -> Change:
    """The change of a text into another, which nothing is known to lead back from."""
    return Change(path=path, before=before.encode(), after=after.encode())


def inserting(path: Path, before: str | None, base: str | None, texts: Sequence[str], *, kept: Kept) -> Change:
    """The change of ``before`` into the last of ``texts``, each an insertion into the one before it.

    ``base`` is what the first was inserted into: the file without us, None where there would be none.
    """
    steps: list[tuple[int, int]] = []
    old = base or ""
    for new in (text for text in texts if text != base):
        steps.append((_same_beginning(old, new), len(new) - len(old)))
        old = new
    return Change(
        path=path,
        before=None if before is None else before.encode(),
        after=old.encode(),
        steps=tuple(steps),
        made=base is None,
        kept=tuple(sorted(tuple(str(name) for name in one) for one in kept)),
    )


def apply(changes: Sequence[Change]) -> None:
    """Puts the changes in place, and remembers how to take them out again.

    Raises:
        NotEditable: Somebody has changed one of the files meanwhile; nothing is done then.
        WriteFailed: One cannot be written; those before it are done.
    """
    for change in changes:
        _require_unchanged(change)
    done: dict[Path, FileRecord | None] = {}
    try:
        for change in changes:
            _replace(change)
            done[change.path] = _record_of(change)
    finally:
        Records().note_files(done)


def _require_unchanged(change: Change) -> None:
    """Refuses a change that was worked out for other bytes than those which stand there now.

    Raises:
        NotEditable: Somebody has changed the file meanwhile.
    """
    now = read_text(change.path)
    if (None if now is None else now.encode()) != change.before:
        raise NotEditable("somebody is changing it at this moment", path=change.path, advice="try again")


def _record_of(change: Change) -> FileRecord | None:
    if change.after is None or not change.steps:
        return None
    return FileRecord(after=_digest(change.after), steps=change.steps, made=change.made, kept=change.kept)


def undone(path: Path) -> Change | None:
    """The change that brings back the bytes of before, when nobody has changed the file since; else None."""
    now = read_text(path)
    record = Records().of(path)
    if now is None or record is None or record.after != _digest(now.encode()):
        return None
    old = now
    for start, length in reversed(record.steps):
        old = old[:start] + old[start + length :]
    after = None if record.made and not old else old.encode()
    return Change(path=path, before=now.encode(), after=after, exact=True)


def kept_containers(path: Path) -> Kept:
    """The lists and objects that stood in a file before we put something into them, as far as it is known."""
    record = Records().of(path)
    return frozenset(record.kept) if record else frozenset()


def require_same(found: object, wanted: object, *, path: Path, line: int | None = None) -> None:
    """Refuses a result that does not say exactly what was wanted: it is looked at before anything is written.

    Raises:
        NotEditable: It does not.
    """
    if found != wanted:
        problem = "our entry stands here in a form that cannot be edited without touching anything else"
        raise NotEditable(problem, path=path, line=line, advice="edit it by hand; `--print` shows what it is about")


def _replace(change: Change) -> None:
    """Writes where a link leads to, for the same owner and with the same permissions."""
    target = change.path.resolve()
    if change.after is None:
        remove_file(target)
        _drop_empty(target.parent, change.within)
    else:
        if change.backup and change.before is not None:
            write_for_its_owner(change.backup, change.before, like=target)
        write_for_its_owner(target, change.after, like=target)
    if target.parent.is_dir():
        drop_backups(target, but=change.backup)


def _drop_empty(folder: Path, within: Path | None) -> None:
    """Removes the folders of our own that nothing lies in any longer."""
    while within is not None and folder.is_relative_to(within.resolve()) and not any(folder.iterdir()):
        folder.rmdir()
        folder = folder.parent


def _same_beginning(one: str, other: str) -> int:
    """How many characters the beginnings of two texts share."""
    places = (place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    return next(places, min(len(one), len(other)))


def _lines(text: bytes | None) -> list[str]:
    return (text or b"").decode("utf-8", "replace").splitlines(keepends=True)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def as_json(value: object) -> str:
    """A value as it is shown to be pasted."""
    return json.dumps(value, indent=2, ensure_ascii=False)
