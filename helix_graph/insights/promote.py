"""Promoting: a proven insight becomes a line of CLAUDE.md or AGENTS.md, as a diff that a person looks at first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

from helix_episodes.errors import WriteFailed
from helix_episodes.files import irregularity, write_output
from helix_graph.given import place, query, whole
from helix_graph.insights.proving import is_proven, proven_rows
from helix_graph.insights.room import Room

if TYPE_CHECKING:
    from pathlib import Path

    from helix_graph.insights.model import Kept
    from helix_graph.insights.settings import Settings

#: Where agents of most makes look first.
INSTRUCTIONS = "CLAUDE.md"
HEADING = "## Learnt from past sessions"
_MOST_SHOWN = 100


class Promoted(TypedDict):
    """The diff that would put an insight into a file, and whether it was written.

    ``reason`` says why there is no diff: it is there already, or the insight is not proven.
    """

    name: str
    file: str
    diff: str
    written: bool
    reason: str


class Promoting(Room):
    """The part of `Insights` that hands over to the files that agents always read."""

    def promote(
        self, name: str, file: Path | str = INSTRUCTIONS, *, write: bool = False, anyway: bool = False
    ) -> Promoted:
        """The diff that adds an insight to a file of instructions; with ``write`` it is applied.

        Proven is an insight that a person provided, or one with three uses or more whose effectiveness, as it counts in
        `recall`, is at least 0.75. ``anyway`` promotes another one as well.

        Raises:
            InsightNotFound: There is no insight of that name.
            WriteFailed: The file cannot be read or written.
        """
        from helix_graph.insights.safety import harmless  # noqa: PLC0415  (3 ms that a question does without)

        path = place("file", file)
        with self._database.reading() as connection:
            kept = self._named(connection, query("name", name))
        old = _text_of(path)
        line = f"- {harmless(kept.insight.content)}"
        if line in old.splitlines():
            return _answer(kept, path, reason="it is there already")
        if not anyway and not _proven(kept, settings=self.settings):
            return _answer(kept, path, reason="it is not proven: 3 uses and an effectiveness of 0.75 are asked for")
        new = _with_line(old, line)
        if write:
            write_output(path, new.encode(), mode=0o644)
        return _answer(kept, path, diff=_diff(old, new, path), written=write)

    def proven(self, limit: int = 5) -> list[dict[str, Any]]:
        """The insights that `promote` would take, those of the greatest effectiveness first, as `get` shows them.

        Raises:
            OutOfRange: ``limit`` is not within 0 to 100.
        """
        most = whole("limit", limit, lowest=0, highest=_MOST_SHOWN)
        with self._database.reading() as connection:
            return proven_rows(connection, most, settings=self.settings)


def _proven(kept: Kept, *, settings: Settings) -> bool:
    did = kept.standing
    return is_proven(
        effectiveness=did.effectiveness,
        use_count=did.use_count,
        causal_hits=did.causal_hits,
        tags=kept.insight.tags,
        settings=settings,
    )


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


def _with_line(text: str, line: str) -> str:
    """The text with one more line at the end of its part on what was learnt, which is made when there is none."""
    lines = text.splitlines()
    if HEADING not in lines:
        return "\n".join([*lines, *([""] if lines else []), HEADING, "", line]) + "\n"
    end = lines.index(HEADING) + 1
    while end < len(lines) and not lines[end].startswith("#"):
        end += 1
    while not lines[end - 1].strip():
        end -= 1
    between = [""] if lines[end - 1] == HEADING else []
    return "\n".join([*lines[:end], *between, line, *lines[end:]]) + "\n"


def _diff(old: str, new: str, path: Path) -> str:
    import difflib  # noqa: PLC0415  (takes 14 ms to load, and every command loads this file)

    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    return "".join(difflib.unified_diff(before, after, fromfile=f"a/{path.name}", tofile=f"b/{path.name}"))


def _answer(kept: Kept, path: Path, *, diff: str = "", written: bool = False, reason: str = "") -> Promoted:
    return Promoted(name=kept.name, file=str(path), diff=diff, written=written, reason=reason)
