"""A prompt: the insights and topics that share its telling words. Words only: a model takes too long to load."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
            Section("Written down:", [Line(line) for line in given.take(_entries(memory, asked))]),
        ]
    )


def _entries(memory: Memory, asked: str) -> Iterator[str]:
    """The entries of topics that share enough words with the prompt."""
    wanted = words(asked)
    needed = min(len(wanted), _TELLING) * _SHARED
    for hit in memory.topics.search(asked, mode="or", limit=_TOPICS).hits:
        if len(set(wanted) & set(words(f"{hit.entry.topic} {hit.entry.text}"))) >= max(needed, _FEWEST_WORDS):
            yield f"{hit.entry.topic}: {hit.entry.text}"
