"""What of a memory is its own: the insights, outcomes and entries that nobody brought, and what of them was let go of.

Git proposes some of these records, a team's server gets all (`helix_graph.sharing.api`, `helix_graph.sharing.team`). A
file of git never changes, so an entry that was edited is another file, and the one of its former words is taken back.

What somebody pushed becomes their memory's own again: on a second machine, or after a disk was lost. Records come back
as they were written, with their ``own`` parts. Sessions stand there as hashes, and get their names from the episodes
that came back with them; of one that did not, the hash stays. The log of insights, and what is nobody's word here, goes
as lines that others do not see (`helix_graph.sharing.private_lines`).
"""

from __future__ import annotations

import itertools
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from helix_episodes.errors import NotFound
from helix_episodes.msgspec_types import read_json
from helix_episodes.store import PREFIX
from helix_graph.database import ANY_OF, as_list
from helix_graph.graph.assertions import FOLDER as ASSERTIONS
from helix_graph.graph.assertions import AssertionStore
from helix_graph.insights import feedback, rows
from helix_graph.insights.exported_lines import checked_record
from helix_graph.insights.links import links_where
from helix_graph.insights.model import Insight
from helix_graph.insights.schema import damaged_among, said_by
from helix_graph.project import digest, forgotten_elsewhere
from helix_graph.shared_authors import SHARED_HERE
from helix_graph.sharing.private_lines import (
    NO_TIME,
    ShownToAll,
    correction_lines,
    entry_lines,
    key_of_insight,
    key_of_twin,
    private_lines,
)
from helix_graph.sharing.records import (
    Forgotten,
    OwnEntry,
    OwnInsight,
    SharedEntry,
    SharedFeedback,
    SharedInsight,
    SharedRecord,
    ShareProblem,
    insight_fields,
    session_hash,
    shared_insight,
    subject_name,
)
from helix_graph.sharing.records import digest as record_digest
from helix_graph.sharing.shared_files import SharedHere, feedback_entry
from helix_graph.trust import shared_episodes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from datetime import datetime

    from helix_episodes.corrections import Correction
    from helix_graph.insights.api import Insights
    from helix_graph.insights.model import InsightLink, Record
    from helix_graph.sharing.private_lines import PrivateLine
    from helix_graph.topics.api import Topics
    from helix_graph.topics.transfer import ExportedEntry


class OwnRecords:
    """What the memory in ``root`` has of its own."""

    def __init__(self, root: Path, *, insights: Insights, topics: Topics) -> None:
        self.root = root
        self._insights = insights
        self._topics = topics

    def mark(self) -> str:
        """What changes with every write to the memory's database: sizes and times of its files."""
        path = self._insights.path
        found = []
        for file in (path, path.with_name(f"{path.name}-wal")):
            with suppress(OSError):
                about = file.stat()
                found.append(f"{about.st_ino} {about.st_size} {about.st_mtime_ns}")
        return ", ".join(found)

    def records(self) -> tuple[SharedRecord, ...]:
        """This memory's own insights, their outcomes, and entries: whatever nobody brought, with their ``own`` parts.

        Insights that were harvested from somebody else's episodes are theirs, unless a person here has put them into
        other words. A session that this user had forgotten
        on another machine is named by none.
        """
        if not self._insights.path.exists():
            return ()
        found = [insight for insight, _, _ in self.insights()]
        shared = shared_episodes(self.root, {one.episode for one in found if one.episode.startswith(PREFIX)})
        own = [one for one in found if one.episode not in shared or one.edited_at]
        feedback = self.feedback_on({one.uid for one in own} | self._damaged_uids())
        links, gone = self._links(), forgotten_elsewhere(self.root)
        known = (replace(one, episode=_known(one.episode, gone)) for one in own)
        insights = (replace(shared_insight(one), own=_own_part(one, links.get(one.uid, ()))) for one in known)
        return (*insights, *feedback, *self._own_entries())

    def _own_entries(self) -> list[SharedEntry]:
        """The entries that nobody brought, in the order of an export, which is that of their places."""
        here = self.here()
        theirs = {here.entries[name] for name in here.theirs}
        by_topic: dict[str, list[ExportedEntry]] = {}
        for one in self.entries().values():
            if one.id not in theirs:
                by_topic.setdefault(one.topic, []).append(one)
        found = []
        for entries in by_topic.values():
            in_order = all(one.id < other.id for one, other in itertools.pairwise(entries))
            for place, one in enumerate(entries, start=1):
                own = OwnEntry(id=one.id, links=one.links, place=0 if in_order else place)
                found.append(replace(shared_entry(one), own=own))
        return found

    def private_lines(self) -> tuple[PrivateLine, ...]:
        """What the server keeps for this user alone, apart from what rests on something that was forgotten here."""
        corrections = tuple(correction_lines(self._corrections()))
        if not self._insights.path.exists():
            return corrections
        records = self.records()
        shared = {one.uid for one in records if isinstance(one, SharedInsight)}
        outcomes = [one for one in records if isinstance(one, SharedFeedback)]
        with self._insights.database.reading() as connection:
            taught = dict(connection.execute("SELECT uid, episode FROM insight WHERE episode != ''"))
            others = shared_episodes(self.root, {one for one in taught.values() if one.startswith(PREFIX)})
            theirs = {uid for uid, episode in taught.items() if episode in others} - shared
            recorded = {path.stem for path in self.root.glob(f"episodes/{PREFIX}*.json")} | {""}
            # Of a session that is not recorded the shared record has a hash alone.
            nameless = {uid for uid, episode in taught.items() if episode not in recorded}
            own = ShownToAll(insights=shared - nameless, of_others=theirs, outcomes=outcomes)
            lines = list(private_lines(connection, own))
        entries = [one for one in records if isinstance(one, SharedEntry)]
        return (*lines, *entry_lines(entries, last=self._topics.last_number()), *corrections)

    def _corrections(self) -> dict[str, list[Correction]]:
        """What people corrected of this memory's own sessions, by episode."""
        found = AssertionStore(self.root / "causality" / ASSERTIONS).corrections()
        recorded = {name for name in found if (self.root / "episodes" / f"{name}.json").exists()}
        own = recorded - shared_episodes(self.root, recorded) if recorded else set()
        return {name: found[name] for name in sorted(own)}

    def replaced_twins(self) -> frozenset[str]:
        """The keys that lines of entries had which were changed or deleted here, and looked like another one."""
        if not self._insights.path.exists():
            return frozenset()
        live = Counter(record_digest(shared_entry(one)) for one in self.entries().values())
        gone = Counter(record_digest(shared_entry(one)) for one in self._topics.replaced_entries())
        return frozenset(key_of_twin(name, number) for name in gone for number in range(2, live[name] + gone[name] + 1))

    def let_go(self) -> frozenset[str]:
        """The insights that were forgotten here, as lines name what they rest on."""
        here = self._insights.path.exists()
        return frozenset(map(key_of_insight, self.forgotten_insights() if here else ()))

    def _links(self) -> dict[str, list[InsightLink]]:
        """The links that no file brought, by the insight from which they lead."""
        with self._insights.database.reading() as connection:
            found = list(links_where(connection, "id NOT IN (SELECT id FROM insight_import) ORDER BY id"))
        gone = forgotten_elsewhere(self.root)
        # A link that only a session shows goes with it.
        found = [one for one in found if not one.episode or _known(one.episode, gone)]
        by_insight: dict[str, list[InsightLink]] = {}
        for one in found:
            hashed = replace(one, episode=session_hash(one.episode)) if one.episode else one
            by_insight.setdefault(one.insight, []).append(hashed)
        return by_insight

    def forgotten(self, own: Iterable[SharedRecord]) -> frozenset[str]:
        """What this user has let go of, of what `records` ever named, as `subject_name` calls it.

        Each rests on what helix.db says of it: an insight that was forgotten or merged away, a feedback that speaks of
        no such insight any more, an entry that was changed or deleted. What a database merely does not have, because
        it is older or another, is none of these.
        """
        if not self._insights.path.exists():
            return frozenset()
        with self._insights.database.reading() as connection:
            # Those that others forgot have no time, and are not this user's to delete.
            told = connection.execute("SELECT uid FROM insight_forgotten WHERE ts <> ?", (NO_TIME,))
            gone = {uid for (uid,) in told}
            gone |= {uid for (uid,) in connection.execute("SELECT uid FROM insight WHERE state = 'merged'")}
            log = [one for one in feedback.read_entries(connection, feedback.COUNTED) if one.kind == "feedback"]
        names = {f"insight {uid}" for uid in gone}
        names |= {f"feedback {one.id}" for one in log if all(verdict.uid in gone for verdict in one.verdicts)}
        names |= {subject_name(shared_entry(one)) for one in self._topics.replaced_entries()}
        return frozenset(names - {subject_name(one) for one in own})

    def sessions(self) -> dict[str, tuple[str, ...]]:
        """On which sessions insights and outcomes of this memory rest, as tombstones call them, by `subject_name`."""
        if not self._insights.path.exists():
            return {}
        with self._insights.database.reading() as connection:
            query = "SELECT uid, episode FROM insight UNION SELECT insight, episode FROM insight_link"
            pairs = [(f"insight {uid}", session) for uid, session in connection.execute(query)]
            log = feedback.read_entries(connection, feedback.COUNTED)
            pairs += [(f"feedback {one.id}", one.episode or "") for one in log]
        found: dict[str, set[str]] = {}
        for name, session in pairs:
            if session:
                found.setdefault(name, set()).add(digest(session.removeprefix(PREFIX)))
        return {name: tuple(sorted(sessions)) for name, sessions in found.items()}

    def insights(self) -> Iterator[tuple[Insight, str, frozenset[str]]]:
        """The insights that no file brought, with their names and the sessions that came out well with them.

        One whose text is not what was stored stays here (`damaged`).
        """
        with self._insights.database.reading() as connection:
            mine = "state != 'merged' AND uid NOT IN (SELECT id FROM insight_import)"
            stored = list(rows.sound(connection, mine))
            log = [one for one in feedback.read_entries(connection, feedback.COUNTED) if one.kind == "feedback"]
        for one in stored:
            helped = (entry for entry in log if entry.episode and entry.outcome != "blocked")
            sessions = {
                str(entry.episode)
                for entry in helped
                if any(verdict.uid == one.insight.uid and verdict.causal for verdict in entry.verdicts)
            }
            yield one.insight, one.name, frozenset(sessions)

    def _damaged_uids(self) -> frozenset[str]:
        """The insights of `damaged` that no file brought: what came of them is as it was."""
        with self._insights.database.reading() as connection:
            damaged = as_list(damaged_among(connection, rows.every_number(connection)))
            query = f"SELECT uid FROM insight WHERE number {ANY_OF}"  # noqa: S608  (a constant)
            return frozenset(uid for (uid,) in connection.execute(query, (damaged,))) & self.uids()

    def damaged(self) -> tuple[ShareProblem, ...]:
        """The insights whose text is not what was stored, as problems."""
        problem = "its text is not what was stored, so it stays here; `helix-graph doctor` says what to do"
        found = self._insights.damaged() if self._insights.path.exists() else ()
        return tuple(ShareProblem(file=f"insight {one}", line=1, problem=problem, kind="invalid") for one in found)

    def said_by(self) -> dict[str, str]:
        """Of the insights that no person here wrote, who or what did, by uid."""
        with self._insights.database.reading() as connection:
            uids = dict(connection.execute("SELECT number, uid FROM insight"))
            return {uids[number]: said for number, said in said_by(connection, uids).items()}

    def uids(self) -> frozenset[str]:
        """Every insight that no file brought, those that were merged into others as well."""
        with self._insights.database.reading() as connection:
            found = connection.execute("SELECT uid FROM insight WHERE uid NOT IN (SELECT id FROM insight_import)")
            return frozenset(uid for (uid,) in found)

    def every_insight(self) -> dict[str, Insight]:
        """Every insight that is here, whoever wrote it, by uid."""
        if not self._insights.path.exists():
            return {}
        with self._insights.database.reading() as connection:
            return {one.insight.uid: one.insight for one in rows.where(connection, "1")}

    def sessions_named(self) -> frozenset[str]:
        """The sessions that insights come from or were shown in, as their logs call them."""
        return frozenset(self._insights.sessions_named())

    def feedback_on(self, uids: Iterable[str]) -> Iterator[SharedFeedback]:
        """The outcomes in this memory that speak of these insights."""
        wanted = frozenset(uids)
        with self._insights.database.reading() as connection:
            log = list(feedback.read_entries(connection, feedback.COUNTED))
        gone = forgotten_elsewhere(self.root)
        for entry in log:
            judged = {verdict.uid: verdict.causal for verdict in entry.verdicts if verdict.uid in wanted}
            if entry.kind == "feedback" and entry.outcome and judged:
                yield SharedFeedback(
                    id=entry.id,
                    ts=entry.ts,
                    outcome=entry.outcome,
                    session=session_hash(_known(entry.episode, gone)),
                    helped=tuple(sorted(uid for uid, causal in judged.items() if causal)),
                    present=tuple(sorted(uid for uid, causal in judged.items() if not causal)),
                )

    def forgotten_insights(self) -> frozenset[str]:
        """The insights that were forgotten here, whoever wrote them."""
        with self._insights.database.reading() as connection:
            return frozenset(uid for (uid,) in connection.execute("SELECT uid FROM insight_forgotten"))

    def entries(self) -> dict[int, ExportedEntry]:
        """All entries of topics by their numbers, others' too."""
        return {one.id: one for one in self._topics.topics("export").entries}

    def own_entries(self) -> dict[int, SharedEntry]:
        """The entries that nobody brought, by their numbers."""
        found = self._own_entries() if self._topics.database.path.exists() else ()
        return {one.own.id: one for one in found if one.own}

    def last_number(self) -> int:
        """The last number that an entry, or what was done to one, ever got here."""
        return self._topics.last_number() if self._topics.database.path.exists() else 0

    def replaced_entries(self) -> tuple[ExportedEntry, ...]:
        """Entries of topics as they were before they were changed or deleted here, with their numbers."""
        return self._topics.replaced_entries() if self._topics.database.path.exists() else ()

    def here(self) -> SharedHere:
        """What came in from others and what went out, as it was written down."""
        return read_json(self.root / SHARED_HERE, SharedHere) or SharedHere()


def shared_entry(one: ExportedEntry) -> SharedEntry:
    """An entry as it is shared."""
    return SharedEntry(**{name: getattr(one, name) for name in SharedEntry.__struct_fields__ if name != "own"})


def _known(session: str | None, gone: frozenset[str]) -> str:
    """The session, or none where it is one of those that are ``gone``, as tombstones call them."""
    return session if session and digest(session.removeprefix(PREFIX)) not in gone else ""


def _own_part(one: Insight, links: Iterable[InsightLink]) -> OwnInsight:
    return OwnInsight(
        origin=one.origin,
        initial=one.initial,
        source=one.source,
        session=session_hash(one.episode) if one.episode else "",
        told=one.told,
        links=tuple(links),
    )


def named_sessions(sessions: Iterable[str]) -> dict[str, str]:
    """The sessions by the hashes that stand for them: as themselves, and as their episodes are called."""
    return {session_hash(name): name for session in sessions for name in (session, PREFIX + session)}


def own_insights(
    records: Iterable[SharedRecord], sessions: Mapping[str, str], slugs: Mapping[str, str], *, now: datetime
) -> Iterator[Record]:
    """Insights, links and outcomes as this memory's own; ``slugs`` are those of insights that are here already.

    Raises:
        ValueError, InvalidArgument: A part is out of its bounds.
    """
    given = list(records)
    known = {**slugs, **{one.uid: one.slug for one in given if isinstance(one, SharedInsight)}}
    for one in given:
        if isinstance(one, SharedInsight):
            own = one.own or OwnInsight()
            said = Insight(
                **insight_fields(one),
                origin=own.origin,
                initial=own.initial,
                source=own.source,
                told=own.told,
                episode=sessions.get(own.session, ""),
            )
            yield checked_record(said, now=now)
            for link in own.links:
                # A link that only a session shows goes with it, and so does not come where it is not.
                if not link.episode or link.episode in sessions:
                    episode = sessions[link.episode] if link.episode else ""
                    yield checked_record(replace(link, insight=one.uid, episode=episode), now=now)
        elif isinstance(one, SharedFeedback):
            uids = [uid for uid in (*one.helped, *one.present) if uid in known]
            entry = feedback_entry(one, uids, known)
            named = None if one.session == session_hash(None) else sessions.get(one.session, one.session)
            yield checked_record(replace(entry, episode=named), now=now)


def own_entries(records: Iterable[SharedRecord]) -> str:
    """Entries as an import of topics takes them, with their numbers, in the order in which they were stored."""
    found = [(one.own or OwnEntry(id=0), one) for one in records if isinstance(one, SharedEntry)]
    found.sort(key=lambda pair: (pair[0].id, pair[1].stored))
    for topic in {one.topic for own, one in found if own.place}:
        slots = [number for number, (_, one) in enumerate(found) if one.topic == topic]
        ordered = sorted((found[number] for number in slots), key=lambda pair: pair[0].place)
        for number, pair in zip(slots, ordered, strict=True):
            found[number] = pair
    items = [{**entry_item(one), **({"id": own.id, "links": list(own.links)} if own.id else {})} for own, one in found]
    return msgspec.json.encode(items).decode() if items else ""


def entry_item(one: SharedEntry) -> dict[str, object]:
    """An entry as an item of an import, without what is its author's alone."""
    return {name: getattr(one, name) for name in one.__struct_fields__ if name != "own"}


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
        if isinstance(one, SharedEntry) and here.entries.get(record_digest(one), -1) not in {-1, *now}:
            yield Forgotten(of=record_digest(one))


def edited_entries(own: OwnRecords, files: Iterable[SharedRecord]) -> Iterator[SharedEntry | Forgotten]:
    """The own entries in these files that have other words, tags or topics here by now, and what takes the old out."""
    here, now = own.here(), own.entries()
    for one in files:
        name = record_digest(one)
        entry = None if name in here.theirs else now.get(here.entries.get(name, -1))
        if entry is not None and record_digest(shared_entry(entry)) != name:
            yield shared_entry(entry)
            yield Forgotten(of=name)
