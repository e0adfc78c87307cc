"""Find labels and mentions that contain a text without reading every row.

SQLite searches text row by row; Python finds a text in one long string about ten times as fast (50,000 labels: 1 ms
against 12). So all labels stand on a few long pages: a page has the labels of `_SIZE` consecutive node numbers, one to
a line, with an empty line for each number not in use. The texts of an episode's mentions stand together in one row.
What is found there is looked up again in the tables themselves.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from helix_graph.database import ANY_OF, as_list
from helix_graph.graph.model import EpisodeFacts, folded

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator


#: A new label costs a page of some 100 kB to be written again; a search pays some microseconds for each page.
_SIZE = 4096


def read_pages(connection: sqlite3.Connection) -> list[tuple[int, str]]:
    """All pages with their numbers: whoever looks for several texts reads them once."""
    return connection.execute("SELECT number, labels FROM label_page").fetchall()


def nodes_labelled(connection: sqlite3.Connection, pages: Iterable[tuple[int, str]], text: str) -> frozenset[int]:
    """The numbers of the nodes whose label contains ``text``, in any case."""
    wanted = text.casefold()
    lines = _line(wanted)
    found = [_SIZE * page + line for page, labels in pages for line in _lines_with(labels, lines)]
    rows = connection.execute(
        f"SELECT number FROM node WHERE number {ANY_OF} AND instr(folded, ?)",  # noqa: S608  (a constant)
        (as_list(found), wanted),
    )
    return frozenset(number for (number,) in rows)


def write_pages(connection: sqlite3.Connection, changed: Iterable[int]) -> None:
    """Writes the pages anew on which these nodes stand, or stood before they were deleted."""
    for page in sorted({number // _SIZE for number in changed}):
        first = _SIZE * page
        labels = [""] * _SIZE
        rows = connection.execute(
            "SELECT number, folded FROM node WHERE number >= ? AND number < ?", (first, first + _SIZE)
        )
        for number, label in rows:
            labels[number - first] = _line(label)
        connection.execute("INSERT OR REPLACE INTO label_page VALUES (?, ?)", (page, "\n".join(labels)))


def _line(text: str) -> str:
    """A label that people have added may have line ends of its own."""
    return text.replace("\n", " ")


def _lines_with(page: str, text: str) -> Iterator[int]:
    """The numbers of the lines in which a text stands, each once."""
    line, end = 0, 0
    while (at := page.find(text, end)) >= 0:
        line += page.count("\n", end, at)
        yield line
        end = page.find("\n", at)
        if end < 0:
            return


def wording(facts: EpisodeFacts) -> str:
    """Every text under which something of an episode may be looked for, each once, in one case."""
    return "\n".join(dict.fromkeys(mention.folded() for mention in facts.mentions))


def nodes_mentioning(connection: sqlite3.Connection, text: str) -> dict[int, frozenset[str]]:
    """The nodes with a mention whose text, but not their label, contains ``text``; the episodes of these mentions."""
    wanted = text.casefold()
    pages = connection.execute("SELECT episode, folded FROM wording")
    episodes = [episode for episode, page in pages if wanted in page]
    found: defaultdict[int, set[str]] = defaultdict(set)
    rows = connection.execute(
        "SELECT node, e.id, raw, message, command, path FROM mention m JOIN episode e ON e.number = m.episode"  # noqa: S608  (a constant)
        f" JOIN node n ON n.number = m.node WHERE m.episode {ANY_OF} AND NOT instr(n.folded, ?)",
        (as_list(episodes), wanted),
    )
    for node, episode, *texts in rows:
        if wanted in folded(*texts):
            found[node].add(episode)
    return {node: frozenset(episodes) for node, episodes in found.items()}
