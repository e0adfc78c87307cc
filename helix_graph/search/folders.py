"""Folders of Markdown memories, such as Serena's: found by the words of their names and texts.

The seed looks at names alone. Names count first here as well, and what they leave equal the text decides: a memory is
often named for its area and found by what it says. Links are not followed, and very large files are passed by.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from helix_episodes.files import read_regular
from helix_graph.search.model import Found, Manner
from helix_graph.search.query import words

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

#: Of one file: a note that people keep is far smaller, and what is larger is a log or a dump.
_LARGEST = 1_000_000
#: Of one folder: reading more at each question would take seconds.
_MOST_FILES = 5_000
#: How much a word in the text counts beside one in the name.
_TEXT_SHARE = 0.5


class MarkdownFolder:
    """The Markdown files in a folder and below it."""

    manners: frozenset[Manner] = frozenset({"both", "lexical"})

    def __init__(self, folder: Path, *, name: str) -> None:
        self.folder = folder
        self.name = name

    def problem(self) -> str | None:
        """That there is no such folder."""
        return None if self.folder.is_dir() else f"{self.folder} is no folder"

    def search(self, query: str, *, limit: int, manner: Manner) -> list[Found]:  # noqa: ARG002  (it knows but one)
        """Files with a word of the query; the score is the percentage of words met, those in texts counting half."""
        looked_for = words(query)
        scored = [(score, path, text) for path, text in self._files() if (score := _score(path, text, looked_for))]
        scored.sort(key=lambda one: (-one[0], one[1].as_posix()))
        return [
            Found(name=path.stem, content=text, source=self.name, score=score, scored_by="percentage", path=str(path))
            for score, path, text in scored[:limit]
        ]

    def _files(self) -> Iterator[tuple[Path, str]]:
        for path in sorted(self.folder.rglob("*.md"))[:_MOST_FILES]:
            text = _text(path)
            if text is not None:
                yield path, text


def _score(path: Path, text: str, looked_for: tuple[str, ...]) -> float:
    if not looked_for:
        return 0.0
    name, said = set(words(path.stem)), set(words(text))
    met = sum(1.0 if word in name else _TEXT_SHARE if word in said else 0.0 for word in looked_for)
    return round(100 * met / len(looked_for), 2)


def _text(path: Path) -> str | None:
    try:
        if path.stat(follow_symlinks=False).st_size > _LARGEST:
            return None
        return read_regular(path).decode(errors="replace")
    except OSError:  # gone since the folder was listed, or no regular file
        return None
