r"""The block that we keep in AGENTS.md and the like: lines that a person accepted, between two marks.

Only lines in the block are added or taken out; what people wrote around it, or changed in it, stays.

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

from typing import TYPE_CHECKING, NamedTuple

from helix_episodes.errors import WriteFailed
from helix_episodes.safe_files import irregularity, write_output

if TYPE_CHECKING:
    from pathlib import Path

HEADING = "## Learnt from past sessions"
BEGIN, END = "<!-- helix-graph: begin -->", "<!-- helix-graph: end -->"


class BlockChange(NamedTuple):
    """What a file says, and what it would say."""

    path: Path
    old: str
    new: str

    @property
    def diff(self) -> str:
        """The change as a unified diff; empty where there is none."""
        import difflib

        before, after = self.old.splitlines(keepends=True), self.new.splitlines(keepends=True)
        name = self.path.name
        return "".join(difflib.unified_diff(before, after, fromfile=f"a/{name}", tofile=f"b/{name}"))

    def write(self) -> None:
        """Writes what the file would say.

        Raises:
            WriteFailed: It cannot be written.
        """
        write_output(self.path, self.new.encode(), mode=0o644)


def added_line(path: Path, line: str) -> BlockChange:
    """The file at ``path`` with one more line in the block; the same where the line is in the file already.

    Raises:
        WriteFailed: The file cannot be read.
    """
    old = _text_of(path)
    return BlockChange(path, old, old if line in old.splitlines() else with_line(old, line))


def with_line(text: str, line: str) -> str:
    """The text with a line at the end of the block, which is made at the end of the text when there is none."""
    lines = text.splitlines()
    if END in lines:
        at = lines.index(END)
        return "\n".join([*lines[:at], line, *lines[at:]]) + "\n"
    return "\n".join([*lines, *([""] if lines else []), BEGIN, HEADING, "", line, END]) + "\n"


def _text_of(path: Path) -> str:
    problem = irregularity(path, follow=True)  # a pipe would keep us waiting
    if problem:
        raise WriteFailed(path=path, problem=problem)
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeError) as error:
        raise WriteFailed(path=path, problem=str(error)) from error
