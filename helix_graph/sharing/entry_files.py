"""Entries of topics as git shares them: those of a topic, and what became of those that are in files already.

A file never changes, so an entry that was edited is another file, and the one of its former words is taken back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from helix_episodes.errors import NotFound
from helix_graph.sharing.own_records import shared_entry
from helix_graph.sharing.records import Forgotten, SharedEntry, digest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from helix_graph.sharing.own_records import OwnRecords
    from helix_graph.sharing.records import SharedRecord


def entries_of_topics(own: OwnRecords, topics: Iterable[str]) -> Iterator[SharedEntry]:
    """The entries of these topics that are this memory's own.

    Raises:
        NotFound: A topic has none.
    """
    here, now = own.here(), own.entries()
    theirs = {here.entries[name] for name in here.theirs}
    for topic in topics:
        found = [one for one in now.values() if one.topic == topic and one.id not in theirs]
        if not found:
            raise NotFound(f"no topic {topic!r} with entries of your own; `helix-graph topic topics` lists all topics")
        yield from map(shared_entry, found)


def deleted_entries(own: OwnRecords, files: Iterable[SharedRecord]) -> Iterator[Forgotten]:
    """What takes out of other memories the entries in these files that were deleted here, whoever wrote them."""
    here, now = own.here(), own.entries()
    for one in files:
        if isinstance(one, SharedEntry) and here.entries.get(digest(one), -1) not in {-1, *now}:
            yield Forgotten(of=digest(one))


def edited_entries(own: OwnRecords, files: Iterable[SharedRecord]) -> Iterator[SharedEntry | Forgotten]:
    """The own entries in these files that have other words, tags or topics here by now, and what takes the old out."""
    here, now = own.here(), own.entries()
    for one in files:
        name = digest(one)
        entry = None if name in here.theirs else now.get(here.entries.get(name, -1))
        if entry is not None and digest(shared_entry(entry)) != name:
            yield shared_entry(entry)
            yield Forgotten(of=name)
