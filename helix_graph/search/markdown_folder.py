"""Folders of Markdown notes, such as Serena's: found by the words of their names and texts.

The seed looks at names alone. Names count first here as well, and the text decides between equal ones: a note is
often named for its area and found by its content. Links are not followed. Very large files are found by their names
alone, and the answer says so. Secrets are redacted from what is shown: the files are not the memory's own.
"""

from __future__ import annotations

from stat import S_ISREG
from typing import TYPE_CHECKING

from helix_episodes.io import read_regular
from helix_graph.errors import FolderUnreadable
from helix_graph.search.model import PartialResults, SearchMode, SourceResult, words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path


#: Of one file: a note that people keep is far smaller, and what is larger is a log or a dump.
_LARGEST = 1_000_000
#: Of one folder: reading more at each question would take seconds.
_MOST_FILES = 5_000
#: So many of them are named.
_NAMED = 3
#: How much a word in the text counts beside one in the name.
_TEXT_SHARE = 0.5


class MarkdownFolder:
    """The Markdown files in a folder and below it."""

    manners: frozenset[SearchMode] = frozenset({"both", "lexical"})

    def __init__(self, folder: Path, *, name: str) -> None:
        self.folder = folder
        self.name = name

    def problem(self) -> str | None:
        """That there is no such folder, or none that can be looked at."""
        try:
            return None if self.folder.is_dir() else f"{self.folder} is no folder"
        except OSError as error:
            return f"{self.folder} cannot be looked at: {error.strerror or error}"

    def search(self, query: str, *, limit: int, manner: SearchMode) -> list[SourceResult]:  # noqa: ARG002  (it knows but one)
        """Files with a word of the query; the score is the percentage of words met, those in texts counting half.

        Raises:
            FolderUnreadable: The folder could not be listed to its end.
        """
        looked_for, files = words(query), list(self._files())
        scored = [(score, path, text) for path, text in files if (score := _score(path, text or "", looked_for))]
        scored.sort(key=lambda one: (-one[0], one[1].as_posix()))
        found = [self._found(path, text, score=score) for score, path, text in scored[:limit]]
        large = [path.name for path, text in files if text is None]
        return PartialResults(found, note=_passed_by(large)) if large else found

    def _found(self, path: Path, text: str | None, *, score: float) -> SourceResult:
        from helix_episodes.redaction import redact_text

        content = f"{path.name} is too large to be read here" if text is None else redact_text(text)
        return SourceResult(
            name=path.stem, content=content, source=self.name, score=score, scored_by="percentage", path=str(path)
        )

    def _files(self) -> Iterator[tuple[Path, str | None]]:
        """The files with their texts; None is the text of one that is too large."""
        try:
            paths = sorted(self.folder.rglob("*.md"))[:_MOST_FILES]
        except OSError as error:  # another program's folder, or one that vanishes while it is listed
            raise FolderUnreadable(folder=self.folder, problem=error.strerror or str(error)) from error
        for path in paths:
            try:
                yield path, _text(path)
            except OSError:  # gone since the folder was listed, or no regular file
                continue


def _score(path: Path, text: str, looked_for: tuple[str, ...]) -> float:
    if not looked_for:
        return 0.0
    name, said = set(words(path.stem)), set(words(text))
    met = sum(1.0 if word in name else _TEXT_SHARE if word in said else 0.0 for word in looked_for)
    return round(100 * met / len(looked_for), 2)


def _text(path: Path) -> str | None:
    """What stands in it; None when that is too much.

    Raises:
        OSError: It cannot be read.
    """
    found = path.stat(follow_symlinks=False)
    if S_ISREG(found.st_mode) and found.st_size > _LARGEST:
        return None
    return read_regular(path).decode(errors="replace")


def _passed_by(names: Sequence[str]) -> str:
    files = "1 file" if len(names) == 1 else f"{len(names)} files"
    more = ", …" if len(names) > _NAMED else ""
    return f"passed by: {files} too large, looked for by name alone ({', '.join(names[:_NAMED])}{more})"
