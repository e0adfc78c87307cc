"""What `search` found, in its six details."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from helix_graph.topics.forms.entries import entries_in, known_of, left_out, text_of
from helix_graph.topics.tokens import words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from helix_graph.topics.search import Hit, SearchAnswer

_NOTICE = "(no exact match — showing OR results)"


def search_form(answer: SearchAnswer) -> str:
    """The hits as the detail has it, how many there are, and why there are none."""
    if not answer.total and answer.detail != "count":
        return "\n".join(filter(None, (f"no matches for '{answer.query}'", answer.hint)))
    lines = {
        "full": _full,
        "medium": _medium,
        "brief": _brief,
        "grouped": _grouped,
        "topics": _topics,
        "count": _count,
    }[answer.detail](answer)
    return "\n".join([*([_NOTICE] if answer.fallback else []), *lines, *left_out(answer.damaged)])


def _full(answer: SearchAnswer) -> Iterator[str]:
    for hit in answer.hits:
        yield f"--- {hit.entry.topic} ---"
        yield from known_of(hit.entry)
        yield from (_marked(line, answer) for line in text_of(hit.entry))
        yield ""
    yield f"{_number(answer)} matching section(s)"


def _marked(line: str, answer: SearchAnswer) -> str:
    """A line behind ``>`` when it has one of the words."""
    return f"{'>' if set(words(line)) & set(answer.words) else ' '} {line}".rstrip()


def _medium(answer: SearchAnswer) -> Iterator[str]:
    for hit in answer.hits:
        first, *more = hit.entry.text.split("\n")
        tags = "".join(f" #{tag}" for tag in hit.entry.tags)
        yield f"  [{hit.entry.topic}] {hit.entry.stored:%Y-%m-%d} {first}{tags}"
        yield from (f"    {line}" for line in more)
    yield f"{_number(answer)} match(es)"


def _brief(answer: SearchAnswer) -> Iterator[str]:
    yield from (f"  [{hit.entry.topic}] {hit.entry.text}" for hit in answer.hits)
    yield f"{_number(answer)} match(es)"


def _grouped(answer: SearchAnswer) -> Iterator[str]:
    """Topics in the order of their best hit."""
    order = {hit.entry.topic: place for place, hit in reversed(list(enumerate(answer.hits)))}
    by_topic = sorted(answer.hits, key=lambda hit: order[hit.entry.topic])
    for topic, hits in groupby(by_topic, key=lambda hit: hit.entry.topic):
        group: list[Hit] = list(hits)
        yield f"--- {topic} ({entries_in(len(group))}) ---"
        yield from (f"  {hit.entry.text}" for hit in group)
        yield ""
    if len(answer.hits) < answer.total:
        yield f"{_number(answer)} match(es)"


def _topics(answer: SearchAnswer) -> Iterator[str]:
    yield from (f"{one.topic}: {one.entries}" for one in answer.topics)


def _count(answer: SearchAnswer) -> Iterator[str]:
    yield f"{answer.total} match(es)"
    if answer.hint:
        yield answer.hint


def _number(answer: SearchAnswer) -> str:
    shown = len(answer.hits)
    return str(shown) if shown == answer.total else f"{shown} of {answer.total}"
