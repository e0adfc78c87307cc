r"""The block that we keep in AGENTS.md and the like: lines that a person accepted, between two marks.

Only lines in the block are added or taken out; what people wrote around it, or changed in it, stays. The file is one of
the project: a clone may ship links to a user's own files, and whoever words a command for an agent may name any path.

>>> print(with_line("# Shop\n", "- Run `make lint`"))
# Shop
<BLANKLINE>
<!-- helix-graph: begin -->
## Learnt from past sessions
<BLANKLINE>
- Run `make lint`
<!-- helix-graph: end -->
<BLANKLINE>
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from helix_episodes.errors import InvalidArgument, WriteFailed
from helix_episodes.safe_files import read_regular, write_without_links
from helix_graph.project import ENVIRONMENT, FOLDER, repository_root, work_trees
from helix_graph.validation import as_path

if TYPE_CHECKING:
    from collections.abc import Iterator

HEADING = "## Learnt from past sessions"
BEGIN, END = "<!-- helix-graph: begin -->", "<!-- helix-graph: end -->"


class BlockChange(NamedTuple):
    """What a file says, and what it would say; ``place`` is where that is, with no link on the way."""

    path: Path
    old: str
    new: str
    place: Path

    @property
    def diff(self) -> str:
        """The change as a unified diff; empty where there is none."""
        import difflib

        before, after = self.old.splitlines(keepends=True), self.new.splitlines(keepends=True)
        name = self.path.name
        lines = difflib.unified_diff(before, after, fromfile=f"a/{name}", tofile=f"b/{name}")
        return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)

    def write(self) -> None:
        """Writes what the file would say.

        Raises:
            WriteFailed: It cannot be written, or a link is on the way since it was looked at.
        """
        write_without_links(self.place, self.new.encode(), mode=0o644)


def added_line(path: Path | str, line: str, *, memory: Path | None, option: str) -> BlockChange:
    """The file at ``path`` with one more line in the block; the same where the line is in the file already.

    ``memory`` is the one whose project the file has to be in (without one, the current folder's), ``option`` the name
    of the argument that the path came from.

    Raises:
        InvalidArgument: It is no file of the project, or there is a link on the way to it.
    """
    path, place = _in_project(as_path(option, path), memory, option=option)
    old = _text_of(place)
    return BlockChange(path, old, old if line in old.splitlines() else with_line(old, line), place)


def with_line(text: str, line: str) -> str:
    r"""The text with a line at the end of the block, which is made at the end of the text when there is none.

    All else stays byte for byte; new lines end as the first one does.

    >>> with_line("# Shop\r\n<!-- helix-graph: end -->", "- Run `make`")
    '# Shop\r\n- Run `make`\r\n<!-- helix-graph: end -->'
    """
    lines = text.splitlines(keepends=True)
    first = next(iter(lines), "")
    end = first[len(first.rstrip("\r\n")) :] or "\n"
    marks = [one.strip() for one in lines]
    if END in marks:
        at = marks.index(END)
        return "".join([*lines[:at], line, end, *lines[at:]])
    ended = "" if not text or text.endswith(("\n", "\r")) else end
    block = [*([""] if lines else []), BEGIN, HEADING, "", line, END]
    return text + ended + "".join(one + end for one in block)


def _in_project(path: Path, memory: Path | None, *, option: str) -> tuple[Path, Path]:
    """The path without dots, and the same from the project's own place on, without any link.

    Raises:
        InvalidArgument: It is no file of the project, or there is a link on the way to it.
    """
    whole = Path(os.path.abspath(path))  # noqa: PTH100  (Path.resolve would follow the links that are looked for)
    bases = [os.path.realpath(one) for one in _work_trees(memory)]
    base = next((one for one in whole.parents if os.path.realpath(one) in bases), None)
    if base is None:
        problem = "is outside of the project"
    else:
        inside = whole.relative_to(base)
        way = [whole, *list(whole.parents)[: len(inside.parts) - 1]]
        link = next((one for one in way if one.is_symlink()), None)
        ours = memory is not None and os.path.realpath(memory) in [os.path.realpath(one) for one in way[1:]]
        if link is not None:
            problem = f"goes through a link: {link} leads to {os.path.realpath(link)}"
        elif ours or {part.casefold() for part in inside.parts} & {".git", FOLDER}:
            problem = "belongs to git or to the memory"
        else:
            return path if os.path.normpath(path) == str(path) else whole, Path(os.path.realpath(base)) / inside
    allowed = "a file of this project, there already or new, outside of .git and the memory, and no link on the way"
    raise InvalidArgument(option, f"{path} {problem}; name {allowed}, such as AGENTS.md")


def _work_trees(memory: Path | None) -> Iterator[Path]:
    """The folders whose files are the project's: those of its work trees, or the current folder's project."""
    if memory is not None and memory.name == FOLDER:
        yield memory.parent
        yield from work_trees(memory.parent)
    if memory is None or memory.name != FOLDER or os.environ.get(ENVIRONMENT):
        yield repository_root(Path.cwd()) or Path.cwd()


def _text_of(path: Path) -> str:
    try:
        return read_regular(path).decode()
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeError) as error:
        raise WriteFailed(path=path, problem=str(error)) from error
