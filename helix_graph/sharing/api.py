"""A team's memory through git: what is proposed, what was accepted, and what came in from others.

An insight is a *candidate* until two sessions independently succeeded with its help (*corroborated*), *proposed*
once its file is in the work tree, and *accepted* once the default branch holds it. One that was edited here since is
*changed*, until it is added again. ``add`` writes and stages files,
after a search for secrets; committing them and merging the pull request is git's part. ``merge`` takes in what was
accepted: as somebody else's words, under the author's name, without rank. What came in once is remembered, so that
whoever forgets it here does not get it again.
"""

from __future__ import annotations

import re
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from helix_episodes.errors import NotFound
from helix_episodes.safe_files import read_regular, remove_file, write_atomically
from helix_graph.errors import ShareRefused
from helix_graph.graph.assertions import FOLDER as ASSERTIONS
from helix_graph.graph.assertions import AssertionStore
from helix_graph.insights import rows
from helix_graph.insights.exported_lines import checked_record
from helix_graph.insights.model import FeedbackEntry, ForgottenInsight, Insight, InsightLink, Record
from helix_graph.insights.safe_quoting import logged_name_or_quoted
from helix_graph.insights.transfer import ImportedFile, take_in
from helix_graph.project import without_forgotten
from helix_graph.shared_authors import SHARED_HERE
from helix_graph.sharing.model import ShareAdded, ShareCandidate, ShareList, ShareMerged, ShareState
from helix_graph.sharing.own_records import (
    OwnRecords,
    deleted_entries,
    edited_entries,
    entries_of_topics,
    named_sessions,
    own_entries,
    own_insights,
    shared_entry,
)
from helix_graph.sharing.private_lines import (
    NO_TIME,
    SessionCorrection,
    TopicLine,
    TopicNumbers,
    sessions_of,
    take_lines_back,
    uid_of,
)
from helix_graph.sharing.records import (
    Forgotten,
    SharedEntry,
    SharedFeedback,
    SharedInsight,
    SharedRecord,
    ShareProblem,
    as_versions,
    author_of,
    digest,
    encode,
    find_secrets,
    join,
    name_of,
    shared_insight,
    version_uid,
)
from helix_graph.sharing.shared_files import (
    FOLDER,
    IN_PLACE,
    SharedHere,
    accepted_files,
    attributed,
    changed_in_index,
    feedback_entry,
    first_authors,
    folder_in_git,
    import_of,
    imported_insight,
    place_of,
    read_accepted,
    shared_files,
    stage,
    tracked,
)
from helix_graph.trust import team_marker
from helix_graph.validation import as_strs

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from helix_graph.insights.api import Insights
    from helix_graph.sharing.private_lines import PrivateRecord
    from helix_graph.topics.api import Topics

_UID = re.compile("[0-9a-f]+")
#: Independent sessions that make a candidate corroborated: one may have been luck.
CORROBORATED = 2


class Sharing:
    """What the memory in ``root`` shares through the repository around it."""

    def __init__(self, root: Path, *, insights: Insights, topics: Topics) -> None:
        self.root = root
        self.insights = insights
        self.topics = topics
        self.own = OwnRecords(root, insights=insights, topics=topics)

    def list(self) -> ShareList:
        """The insights of this memory, those nearest to the team first, and how many shared things were accepted."""
        accepted, problems = read_accepted(accepted_files(self.root).files, now=self.insights.now())
        forgotten = {one.of for one, _ in accepted if isinstance(one, Forgotten)}
        kept_out = [
            one
            for one, author in accepted
            if isinstance(one, SharedInsight) and not forgotten.isdisjoint({one.uid, version_uid(one.uid, author)})
        ]
        in_main = self._went_out(one for one, _ in accepted if one not in kept_out)
        problems += tuple(
            ShareProblem(file=f"{FOLDER}/{name_of(one)}", line=1, problem=_KEPT_OUT, kind="invalid")
            for one in kept_out
            if one.uid in self._went_out([one])
        )
        here = [one for _, one in shared_files(self.root)]
        in_any = in_main | self._went_out(here)
        in_main_so, here_so = {digest(one) for one, _ in accepted}, set(map(digest, here))
        found, said_by = [], self.own.said_by()
        for insight, name, sessions in self.own.insights():
            form = digest(shared_insight(insight))
            state: ShareState = "corroborated" if len(sessions) >= CORROBORATED else "candidate"
            if insight.uid in in_main and form in in_main_so:
                state = "accepted"
            elif insight.uid in in_any:
                state = "proposed" if form in here_so else "changed"
            said, count = said_by.get(insight.uid, ""), len(sessions)
            found.append(ShareCandidate(name=name, content=insight.content, said_by=said, sessions=count, state=state))
        order = ("corroborated", "changed", "candidate", "proposed", "accepted")
        found.sort(key=lambda one: (order.index(one.state), -one.sessions, one.name))
        return ShareList(insights=tuple(found), accepted=len(accepted), problems=problems)

    def add(
        self,
        names: Iterable[str] = (),
        *,
        topics: Iterable[str] = (),
        assertions: bool = False,
        episodes: bool = False,
    ) -> ShareAdded:
        """Writes files of insights, topics and their outcomes for git, and stages them; committing is yours.

        Args:
            names: Insights to propose; without a name, all corroborated ones. What was shared before is brought up
                to date in any case: edits, outcomes, and what was forgotten.
            topics: Topics whose entries are proposed.
            assertions: Stage what people have added and corrected by hand.
            episodes: Stage the sessions' episodes, which quote prompts.

        Raises:
            NotFound: There is no such insight or topic of this memory's own.
            ShareRefused: A file has something that looks like a secret, or the text of an insight is not what was
                stored, and nothing was written; or the memory is in no repository.
        """
        authors = first_authors(self.root)
        asked = as_strs("names", names), as_strs("topics", topics)
        records = {name_of(one): one for one in self._records(*asked, authors)}
        in_place = [
            path
            for folder, wanted in zip(IN_PLACE, (episodes, assertions), strict=True)
            if wanted
            for path in without_forgotten(self.root, sorted((self.root / folder).glob("*.json")))
            if not team_marker(self.root, path.stem).exists()  # what came from a server is not this user's to share
        ]
        files = {f"{FOLDER}/{name}": encode(one) for name, one in records.items()}
        looked_at = {**files, **{path.relative_to(self.root).as_posix(): read_regular(path) for path in in_place}}
        problems = [problem for name, data in sorted(looked_at.items()) for problem in find_secrets(name, data)]
        if problems:
            found = "\n".join(map(str, problems))
            raise ShareRefused(f"{found}\nnothing was shared; edit or forget what holds it, then try again", problems)
        if looked_at:
            folder_in_git(self.root)  # before anything is written that nobody could commit
        written = [name for name in sorted(files) if not (self.root / name).exists()]
        for name in written:
            write_atomically(self.root / name, files[name], mode=0o644)
        gone = self._remove_files({one.of for one in records.values() if isinstance(one, Forgotten)}, authors)
        staged = self._stage(looked_at, gone)
        here, numbers = self.own.here(), {digest(shared_entry(one)): one.id for one in self.own.entries().values()}
        proposed = {digest(one) for one in records.values() if isinstance(one, SharedEntry)} & numbers.keys()
        entries = {**here.entries, **{name: numbers[name] for name in proposed}}
        mine = here.mine | {one.uid for one in records.values() if isinstance(one, SharedInsight)}
        if (entries, mine) != (here.entries, here.mine):
            self._remember(replace(here, entries=entries, mine=mine))
        return ShareAdded(written=tuple(written), removed=tuple(sorted(gone)), staged=staged, shared=len(looked_at))

    def withdraw(self) -> ShareAdded:
        """Proposes that others forget what was forgotten here of this memory's own, as `add` does, and nothing else.

        Raises:
            ShareRefused: The files are removed and written, and git does not stage them.
        """
        files = dict(shared_files(self.root))
        theirs = self.own.here().theirs if files else frozenset[str]()
        # What others wrote was forgotten under its author's version, and stays theirs until the user runs `add`.
        records = [one for one in self._let_go(files, {}) if one.of not in theirs] if files else []
        if not records:
            return ShareAdded(written=(), removed=(), staged=())
        written = {f"{FOLDER}/{name_of(one)}": encode(one) for one in records}
        for name, data in written.items():
            write_atomically(self.root / name, data, mode=0o644)
        gone = self._remove_files({one.of for one in records}, {})
        staged = self._stage(written, gone)
        return ShareAdded(written=tuple(sorted(written)), removed=tuple(sorted(gone)), staged=staged)

    def _remove_files(self, forgotten: set[str], authors: dict[str, str]) -> tuple[str, ...]:
        """Removes the files of what was forgotten from the work tree; which."""
        return tuple(
            f"{FOLDER}/{name}"
            for name, one in shared_files(self.root)
            if not _called(name, one, authors).isdisjoint(forgotten) and remove_file(self.root / FOLDER / name)
        )

    def _stage(self, there: Collection[str], gone: Collection[str]) -> tuple[str, ...]:
        """Stages files that are there, and that others are gone; those of them that a commit will change."""
        if not (there or gone):
            return ()
        known = set(tracked(self.root))
        # The clone of somebody else needs the file that keeps everything private out of git.
        names = {*there, *(name for name in gone if name in known), ".gitignore"}
        stage(self.root, names)
        return tuple(sorted(names & changed_in_index(self.root)))

    def merge(self) -> ShareMerged:
        """Takes in what the default branch holds; again it changes nothing."""
        accepted = accepted_files(self.root)
        read, problems = read_accepted(accepted.files, now=self.insights.now())
        return replace(self.take_in(read, everybody=accepted.everybody), problems=problems)

    def take_in(
        self, read: Iterable[tuple[SharedRecord, str]], *, everybody: Iterable[str] = (), through: str = "git"
    ) -> ShareMerged:
        """Takes in records with their authors, as somebody else's words; again it changes nothing.

        ``everybody`` may have a version of an insight that is forgotten by its first uid; ``through`` says by what they
        came, so that an author there is nobody else's.
        """
        own = self.own.uids()
        known = own | self.own.forgotten_insights()
        found = [
            (version, author)
            for one, author in read
            if not (isinstance(one, SharedInsight) and one.uid in known)
            for version in as_versions(one, author_of(through, author), everybody=everybody, own=own)
            if not (isinstance(version, Forgotten) and version.of in own)  # nobody else forgets what this user wrote
        ]
        authors = {_identity(one): author for one, author in reversed(found)}
        joined = join(one for one, _ in found)
        here = self.own.here()
        forgotten = {one.of for one in joined if isinstance(one, Forgotten)}
        new = [one for one in joined if isinstance(one, SharedInsight) and digest(one) not in here.insights]
        log = [one for one in joined if isinstance(one, SharedFeedback)]
        brought = self._merge_insights(new, log, forgotten, authors, through=through)
        entries = [one for one in joined if isinstance(one, SharedEntry) and digest(one) not in here.entries]
        removed = self._forget_entries(here, forgotten, authors)
        numbers = self._merge_entries(entries, authors, through=through)
        after = replace(
            here,
            insights=here.insights | {digest(one) for one in new},
            entries={**here.entries, **numbers},
            theirs=here.theirs | numbers.keys(),
        )
        if after != here:
            self._remember(after)
        return replace(
            brought,
            entries=len(numbers),
            forgotten=len(brought.removed) + len(removed),
            removed=(*brought.removed, *removed),
        )

    def take_back(
        self, records: Iterable[SharedRecord], lines: Iterable[PrivateRecord], *, sessions: Iterable[str]
    ) -> None:
        """Takes records and lines for this memory's own, as what this user pushed; again it changes nothing.

        ``sessions`` are those of this memory's own episodes. Of an outcome that is among both the line says more, and
        an insight that is among the records is the user's own whatever a line says of it.
        """
        given = list(records)
        insights = {one.uid for one in given if isinstance(one, SharedInsight)}
        said = list(lines)
        own_word = TopicLine | SessionCorrection
        private = [one for one in said if not isinstance(one.record, own_word) and uid_of(one.record) not in insights]
        assertions = AssertionStore(self.root / "causality" / ASSERTIONS)
        for one in said:
            if isinstance(one.record, SessionCorrection):
                assertions.add(one.record.correction())
        full = {one.record.id for one in private if isinstance(one.record, FeedbackEntry)}
        given = [one for one in given if not (isinstance(one, SharedFeedback) and one.id in full)]
        with self.insights.database.reading() as connection:
            slugs = {one.insight.uid: one.insight.slug for one in rows.where(connection, "1")}
        named = named_sessions({*sessions, *sessions_of(said)})
        found = list(own_insights(given, named, slugs, now=self.insights.now()))
        if found or private:
            take_lines_back(self.insights, found, private)
        twins = [one.record for one in said if isinstance(one.record, SharedEntry)]
        # What is there already is not imported again, so those of them that are here are named as well.
        alike = {digest(one) for one in twins}
        own = self.own.records() if twins else ()
        here = [one for one in own if isinstance(one, SharedEntry) and digest(one) in alike]
        if entries := own_entries([*given, *here, *twins]):
            self.topics.topics("import", json=entries)
        if numbers := [one.record.last for one in said if isinstance(one.record, TopicNumbers)]:
            self.topics.reserve(max(numbers))

    def put_edits(self, edited: Iterable[SharedInsight], *, sessions: Iterable[str]) -> None:
        """Makes own insights what this user made of them on another machine, with the links that they got there."""
        given = list(edited)
        with self.insights.database.reading() as connection:
            slugs = {one.insight.uid: one.insight.slug for one in rows.where(connection, "1")}
        found = list(own_insights(given, named_sessions(sessions), slugs, now=self.insights.now()))
        self.insights.put_edits(one for one in found if isinstance(one, Insight))
        if links := [one for one in found if isinstance(one, InsightLink)]:
            take_in(self.insights, links)

    def _records(
        self, names: tuple[str, ...], topics: tuple[str, ...], authors: dict[str, str]
    ) -> Iterator[SharedRecord]:
        """The records of what is to be shared, and of all that was shared before, as they are now."""
        files = dict(shared_files(self.root))
        before = self._went_out(files.values())
        own = {name: (insight, sessions) for insight, name, sessions in self.own.insights()}
        missing = [name for name in names if name not in own]
        if spoilt := [one for one in self.own.damaged() if one.file.removeprefix("insight ") in missing]:
            raise ShareRefused(f"{spoilt[0]}; nothing was shared", spoilt)
        if missing:
            raise NotFound(f"no insight {missing[0]!r} of your own; `helix-graph share list` names them")
        chosen = {
            insight.uid: insight
            for name, (insight, sessions) in own.items()
            if insight.uid in before
            or name in names
            or (not names and not topics and len(sessions) >= CORROBORATED and insight.state == "active")
        }
        yield from (shared_insight(one) for one in chosen.values())
        yield from self.own.feedback_on(chosen.keys())
        yield from self._let_go(files, authors)
        yield from edited_entries(self.own, files.values())
        yield from entries_of_topics(self.own, topics)

    def _went_out(self, records: Iterable[SharedRecord]) -> frozenset[str]:
        """The own insights among these records, by uid: those that this memory wrote, or whose text is there already.

        Somebody else may write a record under any uid, and that says of no text that it may leave the memory.
        """
        found = {one.uid: one.content for one in records if isinstance(one, SharedInsight)}
        if not found:
            return frozenset()
        texts = {insight.uid: shared_insight(insight).content for insight, _, _ in self.own.insights()}
        mine = self.own.here().mine
        return frozenset(uid for uid, content in found.items() if uid in mine or texts.get(uid) == content)

    def _let_go(self, files: dict[str, SharedRecord], authors: dict[str, str]) -> Iterator[Forgotten]:
        """Tombstones of what is in these files, and was forgotten or deleted here."""
        called = {uid for name, one in files.items() for uid in _called(name, one, authors)}
        yield from (Forgotten(of=uid) for uid in sorted(called & self.own.forgotten_insights()))
        yield from deleted_entries(self.own, files.values())

    def _merge_insights(
        self,
        new: Sequence[SharedInsight],
        log: Sequence[SharedFeedback],
        forgotten: set[str],
        authors: dict[str, str],
        *,
        through: str,
    ) -> ShareMerged:
        """Takes insights and outcomes in, an author at a time; those of this memory's own are left as they are."""
        now = self.insights.now()
        with self.insights.database.reading() as connection:
            here = list(rows.where(connection, "1"))
            known = {identity for (identity,) in connection.execute("SELECT id FROM insight_feedback")}
        names = {one.insight.uid: one.name for one in here}
        slugs = {one.insight.uid: one.insight.slug for one in here} | {one.uid: one.slug for one in new}
        gone = forgotten - self.own.forgotten_insights()
        theirs = sorted(gone & names.keys())
        by_author: dict[str, list[Record]] = {}
        for one in new:
            by_author.setdefault(authors[one.uid], []).append(checked_record(imported_insight(one), now=now))
        for said in log:
            uids = [uid for uid in (*said.helped, *said.present) if uid in slugs]
            if said.id not in known and uids:
                entry = feedback_entry(said, uids, slugs)
                by_author.setdefault(authors[said.id], []).append(checked_record(entry, now=now))
        insights = outcomes = 0
        tombstones: list[Record] = [ForgottenInsight(uid, NO_TIME) for uid in sorted(gone) if _UID.fullmatch(uid)]
        if tombstones:
            by_author.setdefault("", []).extend(tombstones)
        for author, records in sorted(by_author.items()):
            text = msgspec.json.encode(records)
            file = ImportedFile(f"{through}, by {author}", sha256(text).hexdigest())
            counts = take_in(self.insights, records, file=file)
            insights += max(counts["insights"], 0)
            outcomes += max(counts["feedback"], 0)
        if theirs:
            self.insights.erase_deleted()
        return ShareMerged(
            insights=insights,
            feedback=outcomes,
            removed=tuple(_removed(logged_name_or_quoted(names[uid]), authors[uid]) for uid in theirs),
        )

    def _merge_entries(
        self, entries: Sequence[SharedEntry], authors: dict[str, str], *, through: str
    ) -> dict[str, int]:
        """Stores entries under their authors' names; the number that each got here, by its hash."""
        if not entries:
            return {}
        before = self.own.entries()
        items = [attributed(one, authors[digest(one)], through=through) for one in entries]
        self.topics.topics("import", json=import_of(items))
        new = {place_of(one): number for number, one in self.own.entries().items() if number not in before}
        return {
            digest(one): new[place_of(item)] for one, item in zip(entries, items, strict=True) if place_of(item) in new
        }

    def _forget_entries(self, here: SharedHere, forgotten: set[str], authors: dict[str, str]) -> tuple[str, ...]:
        """Deletes entries that came in and that others have forgotten; what and whose doing."""
        removed = []
        for name in sorted(forgotten & here.theirs):
            one = self.own.entries().get(here.entries[name])
            if one is not None:
                index = next(each.index for each in self.topics.read(one.topic).entries if each.id == one.id)
                self.topics.edit("delete", one.topic, index=index)
                removed.append(_removed(f"an entry of {logged_name_or_quoted(one.topic)}", authors[name]))
        return tuple(removed)

    def _remember(self, here: SharedHere) -> None:
        write_atomically(self.root / SHARED_HERE, msgspec.json.encode(here, order="deterministic"))


#: What is wrong with a shared insight that was forgotten for everybody.
_KEPT_OUT = "a file in shared/forgotten takes it out of every memory, so nobody gets it; share it under other words"


def _called(name: str, one: SharedRecord, authors: dict[str, str]) -> set[str]:
    """By what an insight or entry in the file of this name may be forgotten."""
    if isinstance(one, SharedInsight):
        return {one.uid} | ({version_uid(one.uid, authors[name])} if name in authors else set())
    return {digest(one)} if isinstance(one, SharedEntry) else set()


def _identity(one: SharedRecord) -> str:
    """What is asked for the author of: an insight, an outcome, an entry, or that one of them was forgotten."""
    if isinstance(one, SharedInsight):
        return one.uid
    if isinstance(one, Forgotten):
        return one.of
    return one.id if isinstance(one, SharedFeedback) else digest(one)


def _removed(name: str, author: str) -> str:
    return f"{name} (forgotten by {logged_name_or_quoted(author)})"
