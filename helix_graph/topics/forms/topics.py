"""What the actions of `topics` answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from helix_graph.topics.forms.entries import entries_in, left_out, minute
from helix_graph.topics.texts import first_line

if TYPE_CHECKING:
    from collections.abc import Iterable

    from helix_graph.topics.catalogue import Listing, Recent, Session, Stats
    from helix_graph.topics.importing import Imported
    from helix_graph.topics.model import TopicSize
    from helix_graph.topics.references import CrossReferences, TopicGraph
    from helix_graph.topics.stale import StaleAnswer, StaleEntry
    from helix_graph.topics.transfer import Export
    from helix_graph.topics.upkeep import Compacted, Pruned, Reindexed

_WIDTH = 80


def listing_form(answer: Listing) -> str:
    """``api-design (12), engine (75)`` and below it how many there are."""
    numbers = f"{_topics(len(answer.topics))}, {entries_in(answer.entries)}"
    return f"{_sizes(answer.topics)}\n{numbers}" if answer.topics else numbers


def recent_form(answer: Recent) -> str:
    """``engine (5 new), build-gotchas (3 new)``."""
    new = ", ".join(f"{one.topic} ({one.entries} new)" for one in answer.topics)
    return new or f"nothing new since {minute(answer.since)}"


def stats_form(answer: Stats) -> str:
    """Counts and days, with those of each tag or of the index where they were asked for."""
    lines = [f"{_topics(answer.topics)}, {entries_in(answer.entries)}"]
    if answer.oldest and answer.newest:
        lines += [f"oldest: {answer.oldest:%Y-%m-%d}", f"newest: {answer.newest:%Y-%m-%d}"]
    if answer.tags is not None:
        lines += [f"  #{one.tag}: {one.entries}" for one in answer.tags] or ["  no tags"]
    if answer.index:
        size = answer.index
        lines.append(f"index: {size.terms} terms, {size.postings} postings, {size.bytes} bytes with the entries")
    return "\n".join(lines)


def xref_form(answer: CrossReferences) -> str:
    """``engine is referenced by: network (5)`` and ``engine references: cache (4)``."""
    if answer.hint:
        return answer.hint
    by, to = _sizes(answer.referenced_by) or "nothing", _sizes(answer.references) or "nothing"
    return f"{answer.topic} is referenced by: {by}\n{answer.topic} references: {to}"


def graph_form(answer: TopicGraph) -> str:
    """An arrow a line."""
    arrows = "\n".join(f"  {edge.source} → {edge.target} ({edge.entries})" for edge in answer.edges)
    return arrows or "no topic refers to another" + (f" where {answer.focus} takes part" if answer.focus else "")


def stale_form(answer: StaleAnswer) -> str:
    """The entries, with what their sources say now where that was asked for."""
    lines = [line for one in answer.entries for line in _stale(one, refreshed=answer.refreshed)]
    absent = f"; {answer.absent} sources are not files here" if answer.absent else ""
    return "\n".join([*lines, f"{len(answer.entries)} stale of {answer.checked} with a source file{absent}"])


def pruned_form(answer: Pruned) -> str:
    """What goes, or would go."""
    lines = [
        f"  [{one.topic}:{one.index}] {one.stored:%Y-%m-%d} {first_line(one.text, width=_WIDTH)}"
        for one in answer.entries
    ]
    done = "removed" if answer.applied else "would be removed (dry run; apply removes them)"
    return "\n".join(
        [*lines, f"{entries_in(len(answer.entries))} not written to since {answer.before:%Y-%m-%d}: {done}"]
    )


def compacted_form(answer: Compacted) -> str:
    """``compacted: 847 entries, 1393539 → 1287042 bytes``, and below it what is damaged."""
    done = f"compacted: {entries_in(answer.entries)}, {answer.bytes_before} → {answer.bytes_after} bytes"
    return "\n".join([done, *(line.replace("left out", "kept as it is", 1) for line in left_out(answer.damaged))])


def reindexed_form(answer: Reindexed) -> str:
    """How large the index is now."""
    size = answer.index
    return f"reindexed: {entries_in(answer.entries)}, {size.terms} terms, {size.postings} postings"


def exported_form(answer: Export) -> str:
    """The JSON that `import` takes; what is damaged stands in ``damaged``, since JSON has no room for notes."""
    return answer.json()


def imported_form(answer: Imported) -> str:
    """How many came in, and what did not."""
    left = [f"  left out: {one.place}: {one.problem}" for one in answer.left_out]
    already = f"; {answer.already} already there" if answer.already else ""
    return "\n".join([f"imported {entries_in(answer.entries)} across {_topics(answer.topics)}{already}", *left])


def session_form(answer: Session) -> str:
    """What a session is told at its beginning."""
    if not answer.entries:
        return "HELIX KNOWLEDGE STORE: empty. Store what you learn under a topic."
    head = f"HELIX KNOWLEDGE STORE: {entries_in(answer.entries)} across {_topics(answer.topics)}."
    return f"{head}\nTopics: {_sizes(answer.largest)}\nBEFORE starting work, search it for what is known."


def _stale(one: StaleEntry, *, refreshed: bool) -> Iterable[str]:
    entry = one.entry
    yield f"  [{entry.topic}:{entry.index}] {first_line(entry.text, width=_WIDTH)}"
    yield f"    {entry.source} changed {minute(one.file_changed)}, entry of {minute(entry.modified or entry.stored)}"
    if refreshed:
        shown = one.current if one.current is not None else "(not shown: no text file of this project)"
        yield from (f"    | {line}" for line in shown.split("\n"))


def _sizes(topics: Iterable[TopicSize]) -> str:
    return ", ".join(f"{one.topic} ({one.entries})" for one in topics)


def _topics(count: int) -> str:
    return "1 topic" if count == 1 else f"{count} topics"
