"""`memory.topics`: the seven tools of the seed, one method each.

>>> import tempfile
>>> from pathlib import Path
>>> with tempfile.TemporaryDirectory() as folder:
...     topics = Topics(Path(folder) / "helix.db")
...     _ = topics.store("Build Gotchas", "arm64 only for FFI bridge", tags="gotchas")
...     [(hit.entry.topic, hit.entry.tags) for hit in topics.search("ffi").hits]
[('build-gotchas', ('gotcha',))]
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args, overload

from helix_episodes.errors import InvalidArgument
from helix_episodes.safe_files import home_folder
from helix_graph.helix_db import HelixDatabase, seconds_of
from helix_graph.topics import briefing, catalogue, entry_log, maintenance, search, storing, tool_actions
from helix_graph.topics.choices import LARGEST_INDEX, LARGEST_LIMIT, BriefDetail, SearchDetail, SearchMode
from helix_graph.topics.fields import entry_text, looked_for, tag_name, tag_names, topic_name
from helix_graph.topics.ranking import EntryFilters
from helix_graph.topics.schema import TOPIC_TABLES
from helix_graph.topics.search import ReadAnswer
from helix_graph.topics.search import since as moments_ago
from helix_graph.topics.storing import checked_draft, checked_drafts
from helix_graph.validation import as_bool, as_choice, as_int

if TYPE_CHECKING:
    from helix_graph.topics.briefing import Briefing
    from helix_graph.topics.catalogue import CrossReferences, Listing, Overview, Recent, Stats, TopicGraph, TopicSession
    from helix_graph.topics.maintenance import CompactedLog, Progress, PrunedEntries, ReindexedEntries, StaleAnswer
    from helix_graph.topics.model import BatchStored, Damaged, StoredEntry
    from helix_graph.topics.transfer import ExportedEntry, ImportedEntries, TopicsExport

    #: What is called with the progress of an action, if anything; and a parameter of one.
    Watcher = Progress | None
    Value = str | int | None

#: Where the seed keeps what belongs to no project.
GLOBAL_FOLDER = ".helix-kb"


class Topics:
    """The topics of one helix.db. Nothing stays open between calls, so threads and processes may share it.

    ``folders`` are where relative sources of entries are looked up. ``clock`` tells the time of what is stored, and
    from when "the last hours" count; it must know its zone. ``others`` says which entries came from somebody else.
    """

    def __init__(
        self,
        path: Path,
        *,
        folders: Sequence[Path] = (),
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        others: Callable[[], frozenset[int]] = frozenset,
    ) -> None:
        self.database = HelixDatabase(path, TOPIC_TABLES)
        self._folders = tuple(folders)
        self._clock = clock
        self._others = others

    @classmethod
    def of_this_user(cls) -> Topics:
        """The topics that belong to no project: ``~/.helix-kb/helix.db``."""
        return cls(home_folder() / GLOBAL_FOLDER / "helix.db", folders=(Path.cwd(),))

    def store(  # noqa: PLR0913  (the tool's parameters)
        self,
        topic: str,
        text: str,
        *,
        tags: str | Iterable[str] = (),
        source: str | None = None,
        confidence: float | None = None,
        links: str | Iterable[str] = (),
        force: bool = False,
    ) -> StoredEntry:
        """Stores an entry under a topic.

        ``links`` are ``topic:index`` pairs; each must lead to an entry. Near duplicates are named in the answer and
        stored all the same; ``force`` doesn't look for them. Secrets are cut from everything.

        Raises:
            InvalidArgument: The name has no letter or digit, or is too long; one of the texts holds half a surrogate
                pair. There is nothing in the text. The confidence lies outside 0 to 1. A link leads to no entry. One of
                them is too long.
        """
        entry = checked_draft(topic=topic, text=text, tags=tags, source=source, confidence=confidence, links=links)
        with self.database.writing() as connection:
            return storing.store(connection, entry, now=self._now(), force=force)

    def batch(self, entries: Iterable[Mapping[str, Any]]) -> BatchStored:
        """Stores several entries at once: all or none. Each has topic and text, and may have what `store` takes.

        Raises:
            InvalidArgument: One of them cannot be stored; its place is named. There are more than a thousand.
        """
        checked = checked_drafts(entries)
        with self.database.writing() as connection:
            return storing.batch(connection, checked, now=self._now())

    def search(  # noqa: PLR0913  (the tool's parameters)
        self,
        query: str,
        *,
        detail: str = "medium",
        limit: int | None = None,
        after: str | date | None = None,
        before: str | date | None = None,
        days: int | None = None,
        hours: int | None = None,
        tag: str | None = None,
        topic: str | None = None,
        mode: str = "and",
    ) -> search.TopicSearchAnswer:
        """Finds entries by their words, the best first.

        ``detail`` is full, medium, brief, count, topics or grouped; ``mode`` and or or. ``after`` and ``before`` are
        days (YYYY-MM-DD, today, yesterday, this-week) that are included; ``hours`` overrides ``days``. What else is
        given must hold as well. ``limit`` is 0 to 1,000.

        Raises:
            InvalidArgument: The query is empty, or all its words are single letters or digits, which are not indexed.
                A date is invalid. Detail or mode is an unknown word. A number lies outside its range.
        """
        kind = as_choice("detail", detail, get_args(SearchDetail))
        question = search.SearchQuestion(
            query=query,
            detail=kind,
            limit=search.LIMITS[kind] if limit is None else as_int("limit", limit, lowest=0, highest=LARGEST_LIMIT),
            words=search.checked_words(query),
            mode=as_choice("mode", mode, get_args(SearchMode)),
            filters=EntryFilters(
                period=search.period(now=self._clock(), after=after, before=before, days=days, hours=hours),
                tag=None if tag is None else tag_name("tag", tag),
                topic=None if topic is None else topic_name("topic", topic),
            ),
        )
        with self.database.reading() as connection:
            return search.search(connection, question)

    def brief(
        self,
        query: str | None = None,
        *,
        detail: str = "summary",
        since: int | None = None,
        focus: str | Iterable[str] | None = None,
        compact: bool = False,
    ) -> Briefing | Overview:
        """A briefing on a topic, a pattern of topics (``iris-*``) or a keyword; without one, on everything.

        ``detail`` is summary, scan or full; ``since`` takes entries of the last so many hours, ``focus`` those of some
        categories. ``compact`` shortens the briefing on everything to five topics.

        Raises:
            InvalidArgument: The query is empty. Detail or focus is an unknown word. ``compact`` was given with a
                query.
        """
        now = self._clock()
        kind, begin = as_choice("detail", detail, get_args(BriefDetail)), moments_ago(now=now, hours=since)
        categories = briefing.focused(focus)
        if compact and query is not None:
            raise InvalidArgument("compact", "shortens the briefing on everything, and goes without a query")
        wanted = None if query is None else briefing.query_of(query)
        with self.database.reading() as connection:
            if wanted is None:
                return catalogue.overview(
                    connection, since=begin, focus=categories, compact=compact, now=seconds_of(now)
                )
            return briefing.brief(connection, wanted, detail=kind, since=begin, focus=categories, now=seconds_of(now))

    def read(self, topic: str, *, index: int | None = None) -> ReadAnswer:
        """All entries of a topic, or the one at an index."""
        name, place = topic_name("topic", topic), _index(index)
        with self.database.reading() as connection:
            return search.read(connection, name, index=place)

    def edit(  # noqa: PLR0913  (the tool's parameters)
        self,
        action: str,
        topic: str,
        *,
        text: str | None = None,
        index: int | None = None,
        match_str: str | None = None,
        tag: str | None = None,
        tags: str | Iterable[str] = (),
        remove: str | Iterable[str] = (),
        all: bool = False,  # noqa: A002  (the tool's parameter)
        new_name: str | None = None,
        into: str | None = None,
    ) -> tool_actions.Edited:
        """Changes entries: append, revise, delete, tag, rename or merge.

        The entry is the one at ``index``, the first that holds ``match_str``, with append also the last that has
        ``tag``, or else the last one.

        Raises:
            InvalidArgument: The action is unknown, lacks a parameter, or does not take one that was given; two
                parameters exclude each other. ``match_str`` or the new text is empty.
            WrittenByOthers: The text or tags of an entry are somebody else's, which git or the team's server brought.
        """
        request = tool_actions.EditRequest(
            action=as_choice("action", action, tool_actions.EDITS),
            topic=topic_name("topic", topic),
            index=_index(index),
            match_str=None if match_str is None else looked_for("match_str", match_str),
            tag=None if tag is None else tag_name("tag", tag),
            text=None if text is None else entry_text("text", text),
            tags=tag_names("tags", tags),
            remove=tag_names("remove", remove),
            all=as_bool("all", all),
            new_name=None if new_name is None else topic_name("new_name", new_name),
            into=None if into is None else topic_name("into", into),
        )
        tool_actions.check(request)
        with self.database.writing() as connection:
            return tool_actions.edit(connection, request, now=self._now(), others=self._others())

    @overload
    def topics(self, action: Literal["list"] = "list", *, progress: Watcher = None, **given: Value) -> Listing: ...
    @overload
    def topics(self, action: Literal["recent"], *, progress: Watcher = None, **given: Value) -> Recent: ...
    @overload
    def topics(self, action: Literal["entries"], *, progress: Watcher = None, **given: Value) -> ReadAnswer: ...
    @overload
    def topics(self, action: Literal["stats"], *, progress: Watcher = None, **given: Value) -> Stats: ...
    @overload
    def topics(self, action: Literal["xref"], *, progress: Watcher = None, **given: Value) -> CrossReferences: ...
    @overload
    def topics(self, action: Literal["graph"], *, progress: Watcher = None, **given: Value) -> TopicGraph: ...
    @overload
    def topics(self, action: Literal["stale"], *, progress: Watcher = None, **given: Value) -> StaleAnswer: ...
    @overload
    def topics(self, action: Literal["prune"], *, progress: Watcher = None, **given: Value) -> PrunedEntries: ...
    @overload
    def topics(self, action: Literal["compact"], *, progress: Watcher = None, **given: Value) -> CompactedLog: ...
    @overload
    def topics(self, action: Literal["export"], *, progress: Watcher = None, **given: Value) -> TopicsExport: ...
    @overload
    def topics(self, action: Literal["import"], *, progress: Watcher = None, **given: Value) -> ImportedEntries: ...
    @overload
    def topics(self, action: Literal["reindex"], *, progress: Watcher = None, **given: Value) -> ReindexedEntries: ...
    @overload
    def topics(self, action: Literal["session"], *, progress: Watcher = None, **given: Value) -> TopicSession: ...
    @overload
    def topics(self, action: str, *, progress: Watcher = None, **given: Value) -> tool_actions.Answer: ...
    def topics(self, action: str = "list", *, progress: Watcher = None, **given: Value) -> tool_actions.Answer:
        """Lists and maintains topics; ``docs/explanation/topics.md`` has the actions and what each takes.

        ``progress`` is called with how much of compact, import or reindex is done, and of how much.

        Raises:
            InvalidArgument: The action is unknown, lacks a parameter, or does not take one that was given.
        """
        stated = {name: value for name, value in given.items() if value is not None and value is not False}
        context = tool_actions.ActionContext(
            database=self.database, folders=self._folders, now=self._clock(), progress=progress
        )
        return tool_actions.run_action(context, action, stated)

    def damaged(self) -> tuple[Damaged, ...]:
        """Records that are not what was written, after a look at every page and record.

        Raises:
            MemoryDamaged: More than records is damaged: SQLite itself finds the file wrong.
        """
        with self.database.reading() as connection:
            maintenance.check_pages(connection)
            return entry_log.log_state(connection).damaged

    def replaced_entries(self) -> tuple[ExportedEntry, ...]:
        """Entries as they were before they were changed or deleted here, as far as ``compact`` has left them."""
        from helix_graph.topics.transfer import exported

        with self.database.reading() as connection:
            return tuple(exported(one.record) for one in entry_log.buried_entries(connection))

    def put_versions(self, versions: Mapping[int, Sequence[str]]) -> None:
        """Gives entries, by id, the versions that items of an import (JSON) say, one after the other; none deletes it.

        Ids, places and links stay, and what was replaced is in the log as after every edit.
        """
        from helix_graph.topics.transfer import put_versions

        with self.database.writing() as connection:
            put_versions(connection, versions, now=self._now())

    def last_number(self) -> int:
        """The last number that an entry, or what was done to one, ever got here."""
        with self.database.reading() as connection:
            return int(connection.execute("SELECT numbers FROM topic_totals").fetchone()[0])

    def reserve(self, number: int) -> None:
        """Makes sure that no new entry gets this number, or one before it."""
        with self.database.writing() as connection:
            entry_log.reserve(connection, number)

    def set_damaged_aside(self, keep: Callable[[int, bytes], None]) -> None:
        """Takes damaged records out, after ``keep`` was given the number and the bytes of each."""
        with self.database.writing() as connection:
            found = entry_log.log_state(connection)
            for number, body in found.bodies.items():
                keep(number, body)
            maintenance.remove_damaged(connection, found, now=self._now())

    def _now(self) -> int:
        return seconds_of(self._clock())


def _index(index: int | None) -> int | None:
    return None if index is None else as_int("index", index, lowest=0, highest=LARGEST_INDEX)
