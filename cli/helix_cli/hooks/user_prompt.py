"""A prompt: the insights and topics that share its telling words. Words only: a model takes too long to load."""

from __future__ import annotations

from helix_cli.hooks.showing import shown_now
from helix_cli.hooks.text import Line, Section, block
from helix_episodes.echo import without_echo
from helix_graph.insights import quick
from helix_graph.insights.words import words
from helix_graph.topics.quick import having_some

TYPE_CHECKING = False
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
#: An entry is shown in so many lines of so many characters, as `search` shows it.
_LINES, _WIDTH = 2, 100


def answer(call: Call, root: Path, given: Given) -> str:
    """What fits the prompt and was not given before."""
    asked = without_echo(call.prompt).text[:_LONGEST].strip()
    if asked.startswith("/") or len(words(asked)) < _FEWEST_WORDS:
        return ""
    found = quick.recall(root, asked, _INSIGHTS)
    return block(
        [
            Section("From earlier sessions:", shown_now(root, found, call=call, given=given, about=asked)),
            Section("Written down:", [Line(line) for line in given.take(_entries(root, asked))]),
        ]
    )


def _entries(root: Path, asked: str) -> Iterator[str]:
    """The entries of topics that share enough words with the prompt."""
    wanted = words(asked)
    needed = max(min(len(wanted), _TELLING) * _SHARED, _FEWEST_WORDS)
    for one in having_some(root, asked, limit=_TOPICS):
        shown = _beginning(one.text)
        if len(set(wanted) & set(words(f"{one.topic} {shown}"))) >= needed:
            yield f"{one.topic}: {shown}"


def _beginning(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return "\n".join(line if len(line) <= _WIDTH else line[: _WIDTH - 1] + "…" for line in lines[:_LINES])
