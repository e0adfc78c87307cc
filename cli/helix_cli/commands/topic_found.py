"""How a terminal shows the entries that `topic search` finds; a pipe gets the seed's form of them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from helix_cli.output import count, say
from helix_cli.terminal.pieces import quiet, strong

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from helix_cli.terminal.pieces import Part
    from helix_graph.topics.model import Entry
    from helix_graph.topics.search import SearchAnswer


def render_hits(answer: SearchAnswer) -> None:
    """Print each entry's place and what is known of it, then its text with the words that were looked for."""
    if answer.fallback:
        say("No entry has all of the words; these have some.")
        say()
    for hit in answer.hits:
        say(strong(hit.entry.topic), quiet(f":{hit.entry.index}  {'  '.join(_known(hit.entry))}"))
        for line in hit.entry.text.split("\n"):
            say("  ", *_marked(line, answer.words))
        say()
    shown = f"{len(answer.hits)} of " if len(answer.hits) < answer.total else ""
    say(f"{shown}{count(answer.total, 'entry', 'entries')}.")


def _known(entry: Entry) -> Iterator[str]:
    yield f"{entry.stored:%Y-%m-%d}"
    yield from (f"#{tag}" for tag in entry.tags)
    if entry.confidence < 1:
        yield f"~{entry.confidence:.0%}".replace("%", " %")
    if entry.source:
        yield entry.source
    if entry.links:
        yield f"see {' '.join(entry.links)}"


def _marked(line: str, words: Sequence[str]) -> Iterator[Part]:
    if not words:
        yield line
        return
    for place, part in enumerate(re.split(f"({'|'.join(map(re.escape, words))})", line, flags=re.IGNORECASE)):
        yield strong(part) if place % 2 else part
