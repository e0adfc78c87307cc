"""Entries as `read` shows them, and what `store`, `batch` and `edit` say when they are done."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from helix_graph.topics.texts import first_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime

    from helix_graph.topics.edit import Edited
    from helix_graph.topics.model import BatchStored, Damaged, Entry, Stored
    from helix_graph.topics.read import ReadAnswer

_LINE = 100
#: A line as `known_of` writes them, or one that has its backslash already.
_LIKE_KNOWN = re.compile(r"\s*(\\*\[(?:modified|tags|source|confidence|links):)")


def minute(at: datetime) -> str:
    """A time as the seed writes it, in UTC."""
    return f"{at:%Y-%m-%d %H:%M}"


def entries_in(count: int) -> str:
    """So many entries.

    >>> entries_in(1), entries_in(2)
    ('1 entry', '2 entries')
    """
    return "1 entry" if count == 1 else f"{count} entries"


def left_out(damaged: Iterable[Damaged]) -> Iterator[str]:
    """Which records an answer leaves out because they are damaged, a line each."""
    for one in damaged:
        entry = "" if one.topic is None else f" ({one.topic}:{one.index}, entry {one.entry})"
        yield f"  left out: {one.problem}{entry}; `helix-graph doctor --fix` sets it aside"


def known_of(entry: Entry) -> Iterator[str]:
    """What is known of an entry beside its text, a line each."""
    if entry.modified:
        yield f"[modified: {minute(entry.modified)}]"
    if entry.tags:
        yield f"[tags: {', '.join(entry.tags)}]"
    if entry.source:
        yield f"[source: {entry.source}]"
    if entry.confidence < 1:
        yield f"[confidence: {entry.confidence:g}]"
    if entry.links:
        yield f"[links: {' '.join(entry.links)}]"


def text_of(entry: Entry) -> Iterator[str]:
    r"""The lines of its text; where its beginning looks like what `known_of` writes, a backslash tells it apart."""
    beginning = True
    for line in entry.text.split("\n"):
        alike = _LIKE_KNOWN.match(line)
        beginning = beginning and (alike is not None or not line.strip())
        yield line[: alike.start(1)] + "\\" + line[alike.start(1) :] if beginning and alike else line


def stored_form(answer: Stored, *, terse: bool = False) -> str:
    """``stored in engine [tags: architecture] (~90%)``, and below it the near duplicate unless ``terse``."""
    entry = answer.entry
    tags = f" [tags: {', '.join(entry.tags)}]" if entry.tags else ""
    sure = f" (~{entry.confidence:.0%})" if entry.confidence < 1 else ""
    warning = f"\n  dupe warning: {answer.duplicate.line}" if answer.duplicate and not terse else ""
    return f"stored in {entry.topic}{tags}{sure}{warning}"


def batch_form(answer: BatchStored) -> str:
    """``3 entries stored across 2 topics``, and below it those that are alike."""
    topics = "1 topic" if answer.topics == 1 else f"{answer.topics} topics"
    lines = [f"{entries_in(len(answer.entries))} stored across {topics}"]
    lines += [f"  dupe warning: entries {one.first} and {one.second}: {one.line}" for one in answer.alike]
    return "\n".join(lines)


def read_form(answer: ReadAnswer) -> str:
    """The entries with their indices, and how many there are."""
    if answer.hint:
        return answer.hint
    blocks = ["\n".join(_block(entry)) for entry in answer.entries]
    if len(answer.entries) < answer.total and answer.matching is None:
        return "\n\n".join(blocks)
    some = f'{len(answer.entries)} of {entries_in(answer.total)} in {answer.topic} match "{answer.matching}"'
    return "\n\n".join([*blocks, some if answer.matching is not None else _all_of(answer)])


def edited_form(answer: Edited) -> str:
    """What was done, in one line."""
    topic, number = answer.topic, entries_in(answer.entries)
    match answer.action:
        case "rename":
            return f"renamed {topic} → {answer.into} ({number})"
        case "merge":
            return f"merged {number} from {topic} into {answer.into}"
        case "delete":
            return _deleted(answer)
        case "tag":
            tags = ", ".join(answer.entry.tags) if answer.entry else ""
            return f"updated tags on {topic}: {tags or 'none'}"
        case _:
            done = "appended to" if answer.action == "append" else "revised"
            return f"{done} {_placed(answer.entry)}"


def _deleted(answer: Edited) -> str:
    if answer.entry is None:
        return f"deleted {answer.topic} ({entries_in(answer.entries)})"
    entry = "last entry" if answer.target == "last" else f"entry {answer.target}"
    return f"removed {entry} from {answer.topic}: {first_line(answer.entry.text, width=_LINE)}"


def _placed(entry: Entry | None) -> str:
    return f"entry [{entry.index}] in {entry.topic}" if entry else "the topic"


def _all_of(answer: ReadAnswer) -> str:
    return f"{entries_in(answer.total)} in {answer.topic}"


def _block(entry: Entry) -> Iterator[str]:
    yield f"[{entry.index}] {minute(entry.stored)}"
    yield from (f"  {line}" for line in known_of(entry))
    yield from (f"  {line}".rstrip() for line in text_of(entry))
