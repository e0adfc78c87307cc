"""A prompt: the insights and topics that share its telling words. Words only: a model takes too long to load."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from helix_cli.hooks.showing import shown_now
from helix_cli.hooks.text import Line, Section, block
from helix_episodes.echo import without_echo
from helix_graph.insights.words import words
from helix_graph.memory import Memory

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from helix_cli.hooks.call import Call
    from helix_cli.hooks.given import Given

_INSIGHTS, _TOPICS = 3, 2
#: A pasted log is no question: what is asked stands at its beginning.
_LONGEST = 2000
#: "yes", "go on": one word fits too much.
_FEWEST_WORDS = 2
#: An entry fits when it has at least this share of what the prompt is about, as words.
_SHARED = 0.5
#: Long prompts are about more than one thing; an entry need not have all of it.
_TELLING = 6
#: What a search can be narrowed by, and here is not.
_UNLIMITED: dict[str, Any] = {
    "detail": "medium",
    **dict.fromkeys(("after", "before", "days", "hours", "tag", "topic")),
}


def answer(call: Call, root: Path, given: Given) -> str:
    """What fits the prompt and was not given before."""
    asked = without_echo(call.prompt).text[:_LONGEST].strip()
    if asked.startswith("/") or len(words(asked)) < _FEWEST_WORDS:
        return ""
    memory = Memory(root)
    found = memory.insights.recall(asked, _INSIGHTS, semantic=False)
    return block(
        [
            Section("From earlier sessions:", shown_now(memory.insights, found, call=call, given=given, about=asked)),
            Section("Written down:", [Line(line) for line in given.take(_entries(root, asked))]),
        ]
    )


def _entries(root: Path, asked: str) -> Iterator[str]:
    """The entries of topics that share enough words with the prompt."""
    from helix_graph.helix_db import HelixDatabase, database_path  # noqa: PLC0415  (only when something is asked)
    from helix_graph.topics.search import question, search  # noqa: PLC0415  (the door loads every action)
    from helix_graph.topics.tables import TABLES  # noqa: PLC0415  (as above)

    wanted = words(asked)
    needed = min(len(wanted), _TELLING) * _SHARED
    sought = question(asked, now=datetime.now(UTC), mode="or", limit=_TOPICS, **_UNLIMITED)
    with HelixDatabase(database_path(root), TABLES).reading() as connection:
        hits = search(connection, sought).hits
    for hit in hits:
        if len(set(wanted) & set(words(f"{hit.entry.topic} {hit.entry.text}"))) >= max(needed, _FEWEST_WORDS):
            yield f"{hit.entry.topic}: {hit.entry.text}"
