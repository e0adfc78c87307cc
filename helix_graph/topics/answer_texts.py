"""The text formats of the seed document, made of the library's answers: one function for each kind of answer.

Agents read them, so they are compact; a program uses the values themselves.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import singledispatch
from itertools import groupby
from typing import TYPE_CHECKING

import msgspec

from helix_graph.topics.briefing import Briefing, Chain, Point
from helix_graph.topics.catalogue import CrossReferences, Listing, Overview, Recent, Stats, TopicGraph, TopicSession
from helix_graph.topics.fields import first_line
from helix_graph.topics.index import CATEGORIES
from helix_graph.topics.maintenance import CompactedLog, PrunedEntries, ReindexedEntries, StaleAnswer, StaleEntry
from helix_graph.topics.model import BatchStored, Damaged, Entry, StoredEntry, TopicSize
from helix_graph.topics.search import Hit, ReadAnswer, TopicSearchAnswer
from helix_graph.topics.tool_actions import Edited
from helix_graph.topics.transfer import ImportedEntries, TopicsExport
from helix_graph.word_search import which_have

if TYPE_CHECKING:
    from datetime import datetime

    from helix_graph.topics import tool_actions

    Answer = (
        StoredEntry | BatchStored | TopicSearchAnswer | Briefing | Overview | ReadAnswer | Edited | tool_actions.Answer
    )


_LINE = 100
#: A line as `known_of` writes them, or one that has its backslash already.
_LIKE_KNOWN = re.compile(r"\s*(\\*\[(?:modified|tags|source|confidence|links):)")


def minute(at: datetime) -> str:
    """A time as the seed writes it, in UTC."""
    return f"{at:%Y-%m-%d %H:%M}"


def entries_in(count: int) -> str:
    """A number of entries.

    >>> entries_in(1), entries_in(2)
    ('1 entry', '2 entries')
    """
    return _count(count, "entry", "entries")


def _count(count: int, one: str, many: str = "") -> str:
    return f"1 {one}" if count == 1 else f"{count} {many or one + 's'}"


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


def form_of(answer: Answer, *, terse: bool = False) -> str:
    """The text of an answer; ``terse`` leaves near duplicates out."""
    alone = terse and isinstance(answer, StoredEntry)
    return _text(msgspec.structs.replace(answer, duplicate=None) if alone else answer)


@singledispatch
def _text(answer: object) -> str:
    raise TypeError(answer)


@_text.register
def _stored_text(answer: StoredEntry) -> str:
    """``stored in engine [tags: architecture] (~90%)``, and below it the near duplicate."""
    entry = answer.entry
    tags = f" [tags: {', '.join(entry.tags)}]" if entry.tags else ""
    sure = f" (~{entry.confidence:.0%})" if entry.confidence < 1 else ""
    warning = f"\n  dupe warning: {answer.duplicate.line}" if answer.duplicate else ""
    return f"stored in {entry.topic}{tags}{sure}{warning}"


@_text.register
def _batch_text(answer: BatchStored) -> str:
    """``3 entries stored across 2 topics``, and below it those that are alike."""
    lines = [f"{entries_in(len(answer.entries))} stored across {_count(answer.topics, 'topic')}"]
    lines += [f"  dupe warning: entries {one.first} and {one.second}: {one.line}" for one in answer.alike]
    return "\n".join(lines)


@_text.register
def _read_text(answer: ReadAnswer) -> str:
    """The entries with their indices, and how many there are."""
    if answer.hint:
        return answer.hint
    blocks = ["\n".join(_block(entry)) for entry in answer.entries]
    if len(answer.entries) < answer.total and answer.matching is None:
        return "\n\n".join(blocks)
    some = f'{len(answer.entries)} of {entries_in(answer.total)} in {answer.topic} match "{answer.matching}"'
    return "\n\n".join([*blocks, f"{entries_in(answer.total)} in {answer.topic}" if answer.matching is None else some])


@_text.register
def _edited_text(answer: Edited) -> str:
    """What was done, in one line."""
    topic, number = answer.topic, entries_in(answer.entries)
    match answer.action:
        case "rename":
            return f"renamed {topic} → {answer.into} ({number})"
        case "merge":
            return f"merged {number} from {topic} into {answer.into}"
        case "delete":
            if answer.entry is None:
                return f"deleted {answer.topic} ({entries_in(answer.entries)})"
            entry = "last entry" if answer.target == "last" else f"entry {answer.target}"
            return f"removed {entry} from {answer.topic}: {first_line(answer.entry.text, width=_LINE)}"
        case "tag":
            tags = ", ".join(answer.entry.tags) if answer.entry else ""
            return f"updated tags on {topic}: {tags or 'none'}"
        case _:
            done = "appended to" if answer.action == "append" else "revised"
    placed = f"entry [{answer.entry.index}] in {answer.entry.topic}" if answer.entry else "the topic"
    return f"{done} {placed}"


def _block(entry: Entry) -> Iterator[str]:
    yield f"[{entry.index}] {minute(entry.stored)}"
    yield from (f"  {line}" for line in known_of(entry))
    yield from (f"  {line}".rstrip() for line in text_of(entry))


_NOTICE = "(no exact match — showing OR results)"


@_text.register
def _search_text(answer: TopicSearchAnswer) -> str:
    """The hits as the detail has it, how many there are, and why there are none."""
    if not answer.total and answer.detail != "count":
        return "\n".join(filter(None, (f"no matches for '{answer.query}'", answer.hint)))
    lines: Iterable[str]
    match answer.detail:
        case "full":
            lines = _full(answer)
        case "medium":
            lines = _medium(answer)
        case "grouped":
            lines = _grouped(answer)
        case "brief":
            lines = [
                *(f"  [{hit.entry.topic}] {hit.entry.text}" for hit in answer.hits),
                f"{_number(answer)} match(es)",
            ]
        case "topics":
            lines = [f"{one.topic}: {one.entries}" for one in answer.topics]
        case _:
            lines = filter(None, (f"{answer.total} match(es)", answer.hint))
    return "\n".join([*([_NOTICE] if answer.fallback else []), *lines, *left_out(answer.damaged)])


def _full(answer: TopicSearchAnswer) -> Iterator[str]:
    for hit in answer.hits:
        yield f"--- {hit.entry.topic} ---"
        yield from known_of(hit.entry)
        lines = list(text_of(hit.entry))
        marked = which_have(lines, answer.words)
        yield from (f"{'>' if place in marked else ' '} {line}".rstrip() for place, line in enumerate(lines))
        yield ""
    yield f"{_number(answer)} matching section(s)"


def _medium(answer: TopicSearchAnswer) -> Iterator[str]:
    for hit in answer.hits:
        first, *more = hit.entry.text.split("\n")
        tags = "".join(f" #{tag}" for tag in hit.entry.tags)
        yield f"  [{hit.entry.topic}] {hit.entry.stored:%Y-%m-%d} {first}{tags}"
        yield from (f"    {line}" for line in more)
    yield f"{_number(answer)} match(es)"


def _grouped(answer: TopicSearchAnswer) -> Iterator[str]:
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


def _number(answer: TopicSearchAnswer) -> str:
    shown = len(answer.hits)
    return str(shown) if shown == answer.total else f"{shown} of {answer.total}"


@_text.register
def _briefing_text(answer: Briefing) -> str:
    """The briefing as its detail has it."""
    if not answer.points:
        return "\n".join(filter(None, (f"No entries found for '{answer.query}'.", answer.hint)))
    topics = _count(len(answer.topics), "topic")
    head = [
        f"=== {answer.query} === {entries_in(answer.collected)}, {answer.current} current, {topics}",
        f"TOPICS: {_sizes(answer.topics)}",
        "CATEGORIES: " + ", ".join(f"{one.category} {one.entries}" for one in answer.categories),
    ]
    return "\n".join([*head, *(_summary(answer) if answer.detail == "summary" else _by_category(answer))])


@_text.register
def _overview_text(answer: Overview) -> str:
    """TOPICS, CATEGORIES, HOT, GAPS and STATS; those of them that have nothing are left out."""
    if not answer.entries:
        return "no entries yet: store one under a topic"
    more = f"... +{answer.more_topics} more" if answer.more_topics else ""
    blocks = ["TOPICS: " + ", ".join(filter(None, (_sizes(answer.topics), more)))]
    if answer.categories:
        blocks.append("CATEGORIES: " + ", ".join(f"{one.category} {one.share:.0%}" for one in answer.categories))
    if answer.hot:
        hot = (f"  {one.topic}: {_count(one.entries, 'new entry', 'new entries')}" for one in answer.hot)
        blocks.append("\n".join(["HOT (last 48h):", *hot]))
    if answer.gaps:
        blocks.append("\n".join(["GAPS:", *(f"  [{gap.topic}] {gap.line}" for gap in answer.gaps)]))
    age = "never"
    if answer.newest is not None and answer.age_days is not None:
        age = {0: "today", 1: "yesterday"}.get(answer.age_days, f"{answer.newest:%Y-%m-%d}")
    blocks.append(f"STATS: {entries_in(answer.entries)}, {_count(answer.topic_count, 'topic')}, newest: {age}")
    return "\n\n".join(blocks)


def _summary(answer: Briefing) -> Iterator[str]:
    yield "TOP:"
    yield from (_line(point, point.line) for point in answer.points)
    if answer.chains:
        yield "CHAINS:"
        yield from map(_chain, answer.chains)
    left = answer.collected - len(answer.points)
    if left > 0:
        yield f"{entries_in(left)} more: detail scan or full"


def _by_category(answer: Briefing) -> Iterator[str]:
    for category in CATEGORIES:
        points = [point for point in answer.points if point.category == category]
        if points:
            yield ""
            yield f"{category.upper()} ({len(points)})"
            for point in points:
                yield _line(point, f"{point.stored:%Y-%m-%d}" if answer.detail == "full" else point.line)
                if answer.detail == "full":
                    yield from (f"    {line}".rstrip() for line in (point.text or "").split("\n"))
    if answer.chains:
        yield ""
        yield "CHAINS:"
        yield from map(_chain, answer.chains)


def _line(point: Point, shown: str) -> str:
    marks = [f"#{tag}" for tag in point.tags]
    marks += [f"[SUPERSEDED by {point.superseded_by}]"] if point.superseded_by else []
    marks += [f"(also in {', '.join(point.also_in)})"] if point.also_in else []
    marks += [f"(linked from {point.via})"] if point.via else []
    return " ".join((f"  [{point.topic}:{point.index}]", shown, *marks))


def _chain(chain: Chain) -> str:
    places = ",".join(map(str, chain.indices))
    return f"  [{chain.topic}:{places}] {chain.start:%Y-%m-%d}..{chain.end:%m-%d}: {chain.first} → … → {chain.last}"


def _sizes(topics: Iterable[TopicSize]) -> str:
    return ", ".join(f"{one.topic} ({one.entries})" for one in topics)


_WIDTH = 80


@_text.register
def _listing_text(answer: Listing) -> str:
    """``api-design (12), engine (75)`` and below it how many there are."""
    numbers = f"{_count(len(answer.topics), 'topic')}, {entries_in(answer.entries)}"
    return f"{_sizes(answer.topics)}\n{numbers}" if answer.topics else numbers


@_text.register
def _recent_text(answer: Recent) -> str:
    """``engine (5 new), build-gotchas (3 new)``."""
    new = ", ".join(f"{one.topic} ({one.entries} new)" for one in answer.topics)
    return new or f"nothing new since {minute(answer.since)}"


@_text.register
def _stats_text(answer: Stats) -> str:
    """Counts and days, with those of each tag or of the index where they were asked for."""
    lines = [f"{_count(answer.topics, 'topic')}, {entries_in(answer.entries)}"]
    if answer.oldest and answer.newest:
        lines += [f"oldest: {answer.oldest:%Y-%m-%d}", f"newest: {answer.newest:%Y-%m-%d}"]
    if answer.tags is not None:
        lines += [f"  #{one.tag}: {one.entries}" for one in answer.tags] or ["  no tags"]
    if answer.index:
        size = answer.index
        lines.append(f"index: {size.terms} terms, {size.postings} postings, {size.bytes} bytes with the entries")
    return "\n".join(lines)


@_text.register
def _xref_text(answer: CrossReferences) -> str:
    """``engine is referenced by: network (5)`` and ``engine references: cache (4)``."""
    if answer.hint:
        return answer.hint
    by, to = _sizes(answer.referenced_by) or "nothing", _sizes(answer.references) or "nothing"
    return f"{answer.topic} is referenced by: {by}\n{answer.topic} references: {to}"


@_text.register
def _graph_text(answer: TopicGraph) -> str:
    """An arrow a line."""
    arrows = "\n".join(f"  {edge.source} → {edge.target} ({edge.entries})" for edge in answer.edges)
    return arrows or "no topic refers to another" + (f" where {answer.focus} takes part" if answer.focus else "")


@_text.register
def _stale_text(answer: StaleAnswer) -> str:
    """The entries, with what their sources say now where that was asked for."""
    lines = [line for one in answer.entries for line in _stale(one, refreshed=answer.refreshed)]
    absent = f"; {answer.absent} sources are not files here" if answer.absent else ""
    return "\n".join([*lines, f"{len(answer.entries)} stale of {answer.checked} with a source file{absent}"])


@_text.register
def _pruned_text(answer: PrunedEntries) -> str:
    """What goes, or would go."""
    lines = [
        f"  [{one.topic}:{one.index}] {one.stored:%Y-%m-%d} {first_line(one.text, width=_WIDTH)}"
        for one in answer.entries
    ]
    done = "removed" if answer.applied else "would be removed (dry run; apply removes them)"
    return "\n".join(
        [*lines, f"{entries_in(len(answer.entries))} not written to since {answer.before:%Y-%m-%d}: {done}"]
    )


@_text.register
def _compacted_text(answer: CompactedLog) -> str:
    """``compacted: 847 entries, 1393539 → 1287042 bytes``, and below it what is damaged."""
    done = f"compacted: {entries_in(answer.entries)}, {answer.bytes_before} → {answer.bytes_after} bytes"
    return "\n".join([done, *(line.replace("left out", "kept as it is", 1) for line in left_out(answer.damaged))])


@_text.register
def _reindexed_text(answer: ReindexedEntries) -> str:
    """How large the index is now."""
    size = answer.index
    return f"reindexed: {entries_in(answer.entries)}, {size.terms} terms, {size.postings} postings"


@_text.register
def _exported_text(answer: TopicsExport) -> str:
    """The JSON that `import` takes; what is damaged stands in ``damaged``, since JSON has no room for notes."""
    return answer.json()


@_text.register
def _imported_text(answer: ImportedEntries) -> str:
    """How many came in, and what did not."""
    left = [f"  left out: {one.place}: {one.problem}" for one in answer.left_out]
    already = f"; {answer.already} already there" if answer.already else ""
    return "\n".join([f"imported {entries_in(answer.entries)} across {_count(answer.topics, 'topic')}{already}", *left])


@_text.register
def _session_text(answer: TopicSession) -> str:
    """What a session is told at its beginning."""
    if not answer.entries:
        return "HELIX KNOWLEDGE STORE: empty. Store what you learn under a topic."
    head = f"HELIX KNOWLEDGE STORE: {entries_in(answer.entries)} across {_count(answer.topics, 'topic')}."
    return f"{head}\nTopics: {_sizes(answer.largest)}\nBEFORE starting work, search it for what is known."


def _stale(one: StaleEntry, *, refreshed: bool) -> Iterable[str]:
    entry = one.entry
    yield f"  [{entry.topic}:{entry.index}] {first_line(entry.text, width=_WIDTH)}"
    yield f"    {entry.source} changed {minute(one.file_changed)}, entry of {minute(entry.modified or entry.stored)}"
    if refreshed:
        shown = one.current if one.current is not None else "(not shown: no text file of this project)"
        yield from (f"    | {line}" for line in shown.split("\n"))
