"""`export`: every entry as JSON; `import`: entries from JSON, in four forms.

* an array of ``{topic, text, tags?, source?, confidence?, links?, …}``: what a person writes, and our own export;
* ``{topic: [{ts, body}]}``: the original's export, whose keys may repeat (a parser that keeps the last loses entries);
* ``{topics: [{topic, entries: [{timestamp, tags, body}]}]}``: that of its later version.

Our export has of each entry its id, topic, text, tags, source, confidence, links (ids), stored and modified, in the
order of the indices of a topic. A link to an entry that was deleted keeps the id, so that a round trip changes nothing.

The original keeps metadata of an entry in the first lines of its body (``[tags: …]``); here they become fields. No
entry gets tags that it did not have. An item that cannot be stored is left out and named with the reason; the rest is
imported. A memory that never had an entry takes over the ids of an export. An entry that exists already, with the same
topic, text, tags, source, confidence and times (an item without times is compared without), is counted and not stored
again, unless the caller wants it. Each entry of the memory matches one item: of two equal ones in an export, where the
memory has one, the other is still imported.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict, deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import asdict, replace

from helix_episodes.errors import HelixGraphError
from helix_graph.errors import InvalidImport
from helix_graph.helix_db import datetime_of, seconds_of
from helix_graph.topics import index
from helix_graph.topics.entry_log import EntryRecord, NumberedRecord, by_id, log_state, next_number, reserve
from helix_graph.topics.fields import hyphened
from helix_graph.topics.model import Damaged
from helix_graph.topics.storing import (
    EntryDraft,
    append_entry,
    bury_entry,
    checked_draft,
    entry_record,
    link_places,
    rewrite_entry,
)

if TYPE_CHECKING:
    import sqlite3


_Content = tuple[str, str, tuple[str, ...], str | None, float]


def already_there(connection: sqlite3.Connection, incoming: Sequence[IncomingEntry]) -> dict[int, int]:
    """The ids of the entries that are those of the import, by place in it."""
    records = defaultdict[_Content, deque[EntryRecord]](deque)
    for one in log_state(connection).entries:
        records[_content(one.record)].append(one.record)
    found: dict[int, int] = {}
    for place, item in enumerate(incoming):
        there = records.get(_content(item.draft))
        same = next(
            (
                record
                for record in there or ()
                if (item.stored is None or (record.stored, record.modified) == (item.stored, item.modified))
            ),
            None,
        )
        if there is not None and same is not None:
            there.remove(same)
            found[place] = same.entry
    return found


def _content(of: EntryRecord | EntryDraft) -> _Content:
    return (of.topic, of.text, of.tags, of.source, of.confidence)


Link = int | tuple[str, int]
#: Ids are kept below this, so that new ones can always follow.
_LARGEST_ID = 2**40
#: The original counts minutes, others seconds or milliseconds; each is below the next until the year 2160.
_UNITS = ((100_000_000, 60.0), (100_000_000_000, 1.0), (float("inf"), 0.001))
#: Where the original keeps an entry without a topic.
_NAMELESS = "scratch"
_META = re.compile(r"\[(tags|source|confidence|links|modified): (.*)\]\s*\Z")
_KEYS = frozenset({"id", "topic", "text", "stored", "tags", "source", "confidence", "links", "modified"})


class LeftOut(msgspec.Struct, frozen=True, kw_only=True):
    """Something that was not taken in, and why."""

    place: str
    problem: str


class ImportedEntries(msgspec.Struct, frozen=True, kw_only=True):
    """How many entries were taken in, into how many topics, how many were there already, and what was left out."""

    entries: int
    topics: int
    already: int
    left_out: tuple[LeftOut, ...]


class IncomingEntry(msgspec.Struct, frozen=True, kw_only=True):
    """An entry to take in.

    Its links are ids of the same import, or topics with indices: of the import itself when ``own_indices``, else of the
    memory once everything is in it.
    """

    place: str
    draft: EntryDraft
    identity: int | None = None
    stored: int | None = None
    modified: int | None = None
    links: tuple[Link, ...] = ()
    own_indices: bool = False


Object = list[tuple[str, Any]]


def parse_import(text: str, *, latest: datetime | None = None) -> tuple[list[IncomingEntry], list[LeftOut]]:
    """The entries that a JSON text holds, and what of it cannot be taken in, such as what is later than ``latest``."""
    try:
        value = json.loads(text, object_pairs_hook=_Object)
    except (ValueError, RecursionError) as error:
        raise _refused(f"it is not JSON ({error})") from error
    taken: list[IncomingEntry] = []
    left: list[LeftOut] = []
    for place, read in _items(value):
        try:
            one = read(place)
            if latest and max(one.stored or 0, one.modified or 0) > seconds_of(latest):
                raise _refused("it was stored in the future, and would be the newest for ever")
            taken.append(one)
        except HelixGraphError as error:
            left.append(LeftOut(place=place, problem=str(error)))
    return taken, left


def import_entries(
    connection: sqlite3.Connection,
    incoming: Sequence[IncomingEntry],
    *,
    now: int,
    force: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> ImportedEntries:
    """Stores the entries, with their links to each other; those that are there already only with ``force``."""
    present = {} if force else already_there(connection, incoming)
    untouched = connection.execute("SELECT numbers FROM topic_totals").fetchone()[0] == 0
    numbers, positions = _numbers(connection, incoming, present=present, untouched=untouched)
    targets = _Targets(connection, incoming, numbers, present=present, keep_ids=untouched)
    entries: list[NumberedRecord] = []
    left: list[LeftOut] = []
    for place, (one, number, position) in enumerate(zip(incoming, numbers, positions, strict=True)):
        if place in present:
            continue
        links, missing = targets.of(one)
        left += [LeftOut(place=one.place, problem=f"its link {link} leads to no entry") for link in missing]
        stored = now if one.stored is None else one.stored
        placed = {"entry": number, "position": position, "stored": stored, "modified": one.modified}
        entries.append(append_entry(connection, entry_record(one.draft, links, **placed)))
    targets.reserve_deleted()
    index.add_in_parts(connection, entries, progress)
    topics = len({one.record.topic for one in entries})
    return ImportedEntries(entries=len(entries), topics=topics, already=len(present), left_out=tuple(left))


def put_versions(connection: sqlite3.Connection, versions: Mapping[int, Sequence[str]], *, now: int) -> None:
    """Rewrites entries, by id, as each of the items says in turn, or takes them out where there is none."""
    for entry, items in sorted(versions.items()):  # those that move to another topic stay in their order
        for found in by_id(connection, [entry]).values():
            if not items:
                bury_entry(connection, found, now=now)
            for item in items:
                _put_version(connection, entry, item, now=now)


def _put_version(connection: sqlite3.Connection, entry: int, item: str, *, now: int) -> None:
    old = by_id(connection, [entry])[entry]
    (one,), _ = parse_import(f"[{item}]")
    is_moved = one.draft.topic != old.record.topic
    placed = {"position": next_number(connection)} if is_moved else {}
    fields = {name: getattr(one.draft, name) for name in ("topic", "text", "tags", "source", "confidence")}
    rewrite_entry(connection, old, replace(old.record, **fields, **placed, modified=one.modified), now=now)


class _Object(list[tuple[str, Any]]):
    """A JSON object with all its members, also those whose names repeat."""

    def plain(self) -> dict[str, Any]:
        return {name: value.plain() if isinstance(value, _Object) else value for name, value in self}


class _Targets:
    """Where links lead once everything is stored.

    An export's link to an id that no entry of it has leads to a deleted entry. Where the export's ids are kept, so is
    this one; elsewhere it becomes a number that no entry ever gets, because the id may be another entry's there.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        incoming: Sequence[IncomingEntry],
        numbers: Sequence[int],
        *,
        present: Collection[int],
        keep_ids: bool,
    ) -> None:
        self._connection = connection
        self._keep_ids = keep_ids and all(one.identity == number for one, number in zip(incoming, numbers, strict=True))
        self._deleted: dict[int, int] = {}
        self._by_id: dict[int, int] = {}
        self._own: dict[str, list[int]] = {}
        self._all: dict[str, list[int]] = {}
        for topic, entry in connection.execute("SELECT topic, entry FROM topic_entry ORDER BY topic, position"):
            self._all.setdefault(topic, []).append(entry)
        for place, (one, number) in enumerate(zip(incoming, numbers, strict=True)):
            self._own.setdefault(one.draft.topic, []).append(number)
            if place not in present:
                self._all.setdefault(one.draft.topic, []).append(number)
            if one.identity is not None:
                self._by_id.setdefault(one.identity, number)

    def of(self, one: IncomingEntry) -> tuple[tuple[int, ...], list[str]]:
        """The entries that the links of one lead to, and those links that lead nowhere."""
        found = {
            (f"#{link}" if isinstance(link, int) else f"{link[0]}:{link[1]}"): self._target(link, one)
            for link in one.links
        }
        there = tuple(dict.fromkeys(target for target in found.values() if target is not None))
        return there, [link for link, target in found.items() if target is None]

    def reserve_deleted(self) -> None:
        """Sees to it that no entry ever gets the id of a deleted one that a link leads to."""
        reserve(self._connection, max(self._deleted.values(), default=0))

    def _target(self, link: Link, one: IncomingEntry) -> int | None:
        if isinstance(link, int):
            exported = one.identity is not None and 0 < link < _LARGEST_ID
            return self._by_id.get(link) or (self._of_deleted(link) if exported else None)
        topic, index = link
        entries = (self._own if one.own_indices else self._all).get(topic, [])
        return entries[index] if index < len(entries) else None

    def _of_deleted(self, link: int) -> int:
        if link not in self._deleted:
            self._deleted[link] = link if self._keep_ids else next_number(self._connection)
        return self._deleted[link]


def _numbers(
    connection: sqlite3.Connection, incoming: Sequence[IncomingEntry], *, present: Mapping[int, int], untouched: bool
) -> tuple[list[int], list[int]]:
    """The numbers of the new records, which are their ids, and their places; of what is there already its id."""
    ids = [one.identity for one in incoming if one.identity is not None and 0 < one.identity < _LARGEST_ID]
    if untouched and len(set(ids)) == len(incoming):
        reserve(connection, max([len(incoming), *ids]))
        return ids, list(range(1, len(incoming) + 1))
    numbers = [present[place] if place in present else next_number(connection) for place in range(len(incoming))]
    return numbers, numbers


def _items(value: Any) -> Iterator[tuple[str, Callable[[str], IncomingEntry]]]:  # noqa: ANN401  (any JSON)
    """Each item's place and what reads it."""
    if isinstance(value, _Object):
        plain, groups = value.plain(), list(value)
        if isinstance(plain.get("topics"), list) and "version" in plain:
            later = [one.plain() if isinstance(one, _Object) else {} for one in plain["topics"]]
            groups = [(str(one.get("topic", "")), one.get("entries", [])) for one in later]
        for topic, entries in groups:
            if not isinstance(entries, list) or isinstance(entries, _Object):
                raise _refused(f"{topic!r} has no list of entries")
            yield from ((f"{topic}[{place}]", partial(_original, topic, one)) for place, one in enumerate(entries))
    elif isinstance(value, list):
        yield from ((f"[{place}]", partial(_own, one)) for place, one in enumerate(value))
    else:
        raise _refused("it is neither an array nor an object")


def _refused(problem: str) -> InvalidImport:
    """What to raise of a text that is no export, in whatever form."""
    return InvalidImport(
        f"cannot import: {problem}; give a JSON array of {{topic, text}}, an export of ours, or one of helix"
    )


def _own(item: Any, place: str) -> IncomingEntry:  # noqa: ANN401  (any JSON)
    """An item of an array: what a person wrote, or of our own export."""
    fields = item.plain() if isinstance(item, _Object) else {}
    unknown = sorted(fields.keys() - _KEYS)
    missing = [name for name in ("topic", "text") if fields.get(name) is None]
    if missing or unknown:
        problem = f"there is no {', '.join(unknown)}" if unknown else f"it needs {' and '.join(missing)}"
        raise _refused(f"{problem}; an entry has {', '.join(sorted(_KEYS))}")
    names = ("topic", "text", "tags", "source", "confidence")
    value = {name: fields[name] for name in names if fields.get(name) is not None}
    links = [] if fields.get("links") is None else fields["links"]
    is_ids = isinstance(links, list) and all(type(one) is int for one in links)
    return IncomingEntry(
        place=place,
        draft=checked_draft(**value, auto=False),
        identity=fields.get("id") if type(fields.get("id")) is int else None,
        stored=_time(fields.get("stored")),
        modified=_time(fields.get("modified")),
        links=tuple(links) if is_ids else link_places(links),
    )


def _original(topic: str, item: Any, place: str) -> IncomingEntry:  # noqa: ANN401  (any JSON)
    """An entry of the original's export, whose body begins with what is known of it."""
    item = item.plain() if isinstance(item, _Object) else item
    if not isinstance(item, dict) or not isinstance(item.get("body"), str):
        raise _refused("an entry needs a body")
    known, text = _body(item["body"])
    named = any(map(str.isalnum, hyphened(topic)))
    kept = checked_draft(
        topic=topic if named else _NAMELESS,
        text=text,
        tags=known.get("tags") or item.get("tags") or (),
        source=known.get("source"),
        confidence=_confidence(known.get("confidence")),
        auto=False,
    )
    return IncomingEntry(
        place=place,
        draft=kept,
        stored=_time(item.get("ts", item.get("timestamp"))),
        modified=_time(known.get("modified")),
        links=link_places(known.get("links", "")),
        own_indices=True,
    )


def _body(body: str) -> tuple[dict[str, str], str]:
    """What the first lines of a body say of it, and the text behind them."""
    known: dict[str, str] = {}
    lines = body.split("\n")
    for place, line in enumerate(lines):
        found = _META.match(line)
        if found is None:
            return known, "\n".join(lines[place:])
        known.setdefault(found[1], found[2])
    return known, ""


def _confidence(given: str | None) -> float | None:
    """What the original took for a confidence; it read everything else as certain."""
    try:
        value = float(given or "")
    except ValueError:
        return None
    return value if 0 <= value <= 1 else None


def _time(value: Any) -> int | None:  # noqa: ANN401  (any JSON)
    """Seconds since 1970 of a number or an ISO text; None where there is no time.

    Raises:
        InvalidImport: It is no time that there is.
    """
    if value is None or value in ("", "unknown"):
        return None
    try:
        if isinstance(value, int | float) and not isinstance(value, bool):
            factor = next(factor for most, factor in _UNITS if abs(value) < most)
            return seconds_of(datetime.fromtimestamp(value * factor, tz=UTC))
        # in UTC it may lie before the first year or behind the last
        return seconds_of(datetime_of(seconds_of(datetime.fromisoformat(str(value)))))
    except (ValueError, TypeError, OverflowError, OSError, StopIteration) as error:
        raise _refused(f"{value!r} is no time") from error


class ExportedEntry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One entry of an export; ``links`` are ids of other entries of it, or of deleted ones."""

    id: int
    topic: str
    text: str
    stored: str
    tags: tuple[str, ...] = ()
    source: str | None = None
    confidence: float = 1.0
    links: tuple[int, ...] = ()
    modified: str | None = None


class TopicsExport(msgspec.Struct, frozen=True, kw_only=True):
    """Every entry; the array that ``json`` writes is what `import` takes.

    ``damaged`` names records that are not what was written, and are not among the entries.
    """

    entries: tuple[ExportedEntry, ...]
    damaged: tuple[Damaged, ...] = ()

    def json(self) -> str:
        """As JSON, one entry a line."""
        lines = ",\n".join(msgspec.json.encode(one).decode() for one in self.entries)
        return f"[\n{lines}\n]" if lines else "[]"


def export(connection: sqlite3.Connection) -> TopicsExport:
    """Every entry, from the log itself and checked; the order is that of their places."""
    found = log_state(connection)
    records = [one.record for one in found.entries]
    ordered = sorted(records, key=lambda record: (record.position, record.entry))
    return TopicsExport(entries=tuple(exported(record) for record in ordered), damaged=found.damaged)


def exported(record: EntryRecord) -> ExportedEntry:
    """The entry as an export has it."""
    times = {"stored": _iso(record.stored), "modified": None if record.modified is None else _iso(record.modified)}
    fields: dict[str, Any] = {**asdict(record), "id": record.entry, **times}
    return ExportedEntry(**{name: fields[name] for name in ExportedEntry.__struct_fields__})


def as_exported(incoming: IncomingEntry) -> tuple[str, str, str, str | None]:
    """The topic, text, time and source that an export has of an entry that is taken in; no time where it has none."""
    draft = incoming.draft
    return draft.topic, draft.text, "" if incoming.stored is None else _iso(incoming.stored), draft.source


def _iso(seconds: int) -> str:
    return datetime_of(seconds).isoformat().replace("+00:00", "Z")
