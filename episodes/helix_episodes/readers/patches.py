r"""Patches in the ``*** Begin Patch`` form, as changes of single files.

A patch names its files with ``*** Add File:``, ``*** Update File:`` (perhaps ``*** Move to:``) and
``*** Delete File:``; below an update stand hunks in which ``-`` and ``+`` lines are what was and what is.

>>> patch = "*** Begin Patch\n*** Update File: a.py\n@@\n x\n-y\n+z\n*** Delete File: b.py\n*** End Patch"
>>> [(change.operation, change.path, change.old, change.new) for change in read_patch(patch)]
[('edit', 'a.py', 'y', 'z'), ('delete', 'b.py', '', '')]
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_FILE = re.compile(r"^\*\*\* (Add|Update|Delete) File: (.+)$", re.MULTILINE)
_MOVE = re.compile(r"^\*\*\* Move to: (.+)$", re.MULTILINE)
_KINDS: dict[str, Literal["create", "edit", "delete"]] = {"Add": "create", "Update": "edit", "Delete": "delete"}


class FileChange(NamedTuple):
    """What becomes of one file: ``old`` and ``new`` are the lines that go and that come."""

    operation: Literal["create", "edit", "delete"]
    path: str
    old: str = ""
    new: str = ""

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments of the operation, as :mod:`helix_episodes.session` has them."""
        if self.operation == "delete":
            return {"path": self.path}
        new = {"path": self.path, "new": self.new}
        return new if self.operation == "create" else {"path": self.path, "old": self.old, "new": self.new}


def read_patch(text: str) -> tuple[FileChange, ...]:
    """The changes in the order of the patch; none when the text holds no such patch."""
    return tuple(_changes(text))


def read_diff(text: str, *, path: str) -> FileChange:
    """The change that a unified diff makes to a file."""
    lines = [line for line in text.split("\n") if not line.startswith(("---", "+++"))]
    return _edit(path, lines)


def _changes(text: str) -> Iterator[FileChange]:
    heads = list(_FILE.finditer(text))
    ends = (*(head.start() for head in heads[1:]), len(text))
    for head, end in zip(heads, ends, strict=False):
        kind, path = _KINDS[head[1]], head[2].strip()
        lines = text[head.end() : end].split("\n")
        if kind == "edit":
            change = _edit(path, lines)
            moved = _MOVE.search(text, head.end(), end)
            # A file that only moves is gone from where it was and new where it is.
            yield from (FileChange("delete", path), change._replace(path=moved[1].strip())) if moved else (change,)
        else:
            yield FileChange(kind, path, new=_marked(lines, "+"))


def _edit(path: str, lines: Iterable[str]) -> FileChange:
    lines = list(lines)
    return FileChange("edit", path, old=_marked(lines, "-"), new=_marked(lines, "+"))


def _marked(lines: Iterable[str], mark: str) -> str:
    return "\n".join(line[1:] for line in lines if line.startswith(mark))
