"""Maintenance: decay, pruning, consolidation, reindexing and rebuilding, health, and removal for good.

Decay counts idle time, not calls: an insight that nobody used for thirty days has moved a tenth of the way back to
neutral, for sixty days two tenths of the rest, and running it twice changes nothing. Pruning is shown before it is
done. Consolidation merges insights that say the same; what a person provided is never merged away.

Removed are the rows, the links to them, and their names in the logs. The uid of a removed insight stays, so that an
import cannot bring it back; it is a hash. Storing the same text again makes another insight.

When sessions are forgotten, an insight that was harvested from these sessions alone is removed with its links; one that
others teach too takes its words from the earliest of those. Links to steps of the sessions go. Exposures and feedback
stay as numbers, since other insights rest on them, but no longer say in which session they were, for what, or by which
words they were explained. What a person wrote or edited stays. Of an insight that was shared as well its uid stays, as
of one that was removed by name: the repository has its text, and a merge would bring it back.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, TypedDict

from msgspec.structs import replace

from helix_episodes.errors import InvalidEpisode
from helix_episodes.light_imports import blake2b
from helix_episodes.store import PREFIX
from helix_graph.database import ANY_OF, as_list
from helix_graph.helix_db import stamp
from helix_graph.insights import feedback, rows
from helix_graph.insights.dedup import absorb, same_advice
from helix_graph.insights.feedback import after_decay
from helix_graph.insights.harvest import grouped
from helix_graph.insights.links import links_of, links_where
from helix_graph.insights.model import HARVEST_SOURCE, FeedbackEntry, Injection, StoredInsight
from helix_graph.insights.schema import damaged_among, hide_from_search, index_words, text_digest
from helix_graph.insights.scoring import USER_PROVIDED, ScoringSettings
from helix_graph.validation import as_fraction, as_int

if TYPE_CHECKING:
    import sqlite3

    from helix_episodes.model import Episode
    from helix_graph.insights.context import InsightContext, ProjectHistory


def anonymous_entry(entry: FeedbackEntry, gone: Iterable[str | None]) -> FeedbackEntry:
    """A feedback as numbers: without its session, by any of the names in ``gone``, and without the reasons."""
    told = tuple(
        replace(verdict, reason=FORGOTTEN, uptake=None if verdict.uptake is None else FORGOTTEN, path=())
        for verdict in entry.verdicts
    )
    identity = entry.id
    if any(name and name in identity for name in gone):
        identity = blake2b(identity.encode(), digest_size=16).hexdigest()
    return replace(entry, id=identity, episode=None, verdicts=told)


def anonymous_injection(shown: Injection) -> Injection:
    """An injection without where and for what."""
    return replace(shown, session="", task="", query="")


#: What stands where the name of a removed insight stood: a name is the beginning of a text.
FORGOTTEN = "(forgotten)"


def forget_insights(connection: sqlite3.Connection, stored: Sequence[StoredInsight], *, at: str) -> None:
    """Removes insights and what was merged into them, within the transaction under way."""
    uids = sorted({uid for one in stored for uid in rows.own_uids(connection, one.insight.uid)})
    forget_uids(connection, dict.fromkeys(uids, at))


def forget_uids(connection: sqlite3.Connection, uids: dict[str, str]) -> None:
    """Removes all there is of these uids, which were forgotten at their dates, and remembers that they were."""
    connection.executemany(
        "INSERT INTO insight_forgotten VALUES (?, ?) ON CONFLICT (uid) DO UPDATE SET ts = min(ts, excluded.ts)",
        sorted(uids.items()),
    )
    remove_uids(connection, uids)


def remove_uids(connection: sqlite3.Connection, uids: Iterable[str]) -> None:
    """Removes all there is of these uids, and remembers nothing: they may come again."""
    forgotten = set(uids)
    wanted = as_list(forgotten)
    gone = list(rows.where(connection, f"uid {ANY_OF}", wanted))
    rows.delete(connection, [stored.number for stored in gone])
    connection.execute("INSERT INTO insight_text (insight_text) VALUES ('optimize')")  # lets go of words deleted
    connection.execute(f"DELETE FROM insight_link WHERE insight {ANY_OF} OR target {ANY_OF}", (wanted, wanted))  # noqa: S608  (constants)
    connection.execute(f"DELETE FROM insight_import WHERE id {ANY_OF}", (wanted,))  # noqa: S608  (a constant)
    _silence(connection, forgotten, {stored.name for stored in gone})


def _silence(connection: sqlite3.Connection, forgotten: set[str], names: set[str]) -> None:
    """Takes the names out of both logs: of entries that speak of these uids, and of what was shown."""
    for entry in feedback.entries_about(connection, forgotten):
        told = {verdict.name for verdict in entry.verdicts if verdict.uid in forgotten}
        names |= told
        verdicts = tuple(verdict for verdict in entry.verdicts if verdict.uid not in forgotten)
        feedback.write_entry(connection, replace(entry, names=_without(entry.names, told), verdicts=verdicts))
    for injection in list(feedback.read_injections(connection)) if names else ():
        named = names & {*injection.shown, *(one.name for one in injection.withheld), *injection.passed_over}
        if named:
            withheld = tuple(one for one in injection.withheld if one.name not in named)
            chances = {name: chance for name, chance in injection.chances.items() if name not in named}
            feedback.write_injection(
                connection,
                replace(
                    injection,
                    shown=_without(injection.shown, named),
                    withheld=withheld,
                    chances=chances,
                    passed_over=tuple(one for one in injection.passed_over if one not in named),
                ),
            )


def _without(names: tuple[str, ...], gone: set[str]) -> tuple[str, ...]:
    return tuple(FORGOTTEN if name in gone else name for name in names)


def forget_sessions(context: InsightContext, sessions: Iterable[str], *, shared: Iterable[str] = ()) -> int:
    """Takes out all that rests on these sessions; how many insights were removed.

    It is called while the other sessions' episodes can still be read, and before the graph is rebuilt. Of those that
    were ``shared``, by uid, it is remembered that they were forgotten; the others may be learnt again.
    """
    gone = {form for session in sessions for form in (session, session.removeprefix(PREFIX))}
    gone |= {PREFIX + session for session in gone}
    if not (gone and context.path.exists()):
        return 0
    tasks = _tasks_of(context, gone)
    with context.database.writing() as connection:
        touched = _cut(connection, gone)
        removed = [stored for stored in touched if not _reword(context, connection, stored, gone)]
        uids = {uid for stored in removed for uid in rows.own_uids(connection, stored.insight.uid)}
        forget_uids(connection, dict.fromkeys(uids.intersection(shared), stamp(context.now())))
        remove_uids(connection, uids)
        _silence_log(connection, gone, tasks)
        connection.execute("INSERT INTO insight_text (insight_text) VALUES ('optimize')")
    context.erase_deleted()
    return len(removed)


def sessions_named(context: InsightContext) -> set[str]:
    """The sessions that insights and links come from or were shown in, which may be all that was recorded of them.

    Those that were forgotten as well, whose insights an older copy of the file brought back.
    """
    if not context.path.exists():
        return set()
    with context.database.reading() as connection:
        found = connection.execute(
            "SELECT episode FROM main.insight UNION SELECT episode FROM insight_link"
            " UNION SELECT session FROM insight_injection"
        )
        return {name.removeprefix(PREFIX) for (name,) in found} - {"", FORGOTTEN}


def _tasks_of(context: InsightContext, gone: set[str]) -> set[str]:
    """The tasks that only these sessions worked on: injections may name the task and no session."""
    if context.history is None:
        return set()
    episodes = context.history.episodes
    found = {one.task_id for one in _readable(context.history, gone) if one.task_id}
    return found - {one.task_id for one in (episodes.list() if found else ()) if one.session not in gone}


def _readable(history: ProjectHistory, names: Iterable[str]) -> Iterator[Episode]:
    """Those of the episodes that are there; a damaged one teaches nothing, and holds up no forgetting."""
    for name in names:
        with contextlib.suppress(InvalidEpisode):
            if found := history.episodes.get(name):
                yield found


def _cut(connection: sqlite3.Connection, gone: set[str]) -> list[StoredInsight]:
    """Removes the links to the sessions; the insights that were harvested from them, or that agents wrote in them.

    A person's text stays, without the session.
    """
    wanted = as_list(gone)
    linked = {link.insight for link in links_where(connection, f"episode {ANY_OF}", wanted)}
    connection.execute(f"DELETE FROM insight_link WHERE episode {ANY_OF}", (wanted,))  # noqa: S608  (a constant)
    named = f"uid {ANY_OF} OR episode {ANY_OF} ORDER BY number"
    found = list(rows.where(connection, named, as_list(linked), wanted))
    own = [one for one in found if one.insight.source != HARVEST_SOURCE and one.insight.episode in gone]
    for stored in own:
        if stored.insight.origin != "agent":
            rows.update(connection, stored, replace(stored.insight, episode=""))
    return [
        one for one in found if one.insight.source == HARVEST_SOURCE or (one in own and one.insight.origin == "agent")
    ]


def _reword(context: InsightContext, connection: sqlite3.Connection, stored: StoredInsight, gone: set[str]) -> bool:
    """Whether an insight stays: others teach it too, and lend it their words, or a person gave it theirs."""
    insight = stored.insight
    if insight.edited_at:
        rows.update(connection, stored, replace(insight, episode=""))
        return True
    others = sorted({link.episode for link in links_of(connection, [insight.uid]) if link.episode})
    groups = grouped(_readable(context.required_history, others))
    group = next((group for group in groups if group.uid == insight.uid), None)
    if group is None:
        return False
    first = group[0]
    new = replace(insight, content=group.content, created_at=first.at, episode=first.episode)
    if insight.episode in gone or first.recipe is not None:
        rows.update(connection, stored, new)
    return True


def _silence_log(connection: sqlite3.Connection, gone: set[str], tasks: set[str]) -> None:
    wanted = as_list(gone)
    named = [
        one for one in feedback.read_entries(connection) if one.episode in gone or any(name in one.id for name in gone)
    ]
    for entry in named:
        feedback.remove_entries(connection, entry.id)
        feedback.write_entry(connection, anonymous_entry(entry, gone))
    for shown in list(
        feedback.read_injections(connection, f"session {ANY_OF} OR task {ANY_OF}", wanted, as_list(gone | tasks))
    ):
        feedback.write_injection(connection, anonymous_injection(shown))


_MOST_DAYS = 36_500
_MOST_USES = 1_000_000
_SHOWN_DECIMALS = 3
#: This many texts are embedded at a time: an engine's batch, and what is lost when somebody stops it.
_BATCH = 256


class Decayed(TypedDict):
    """How many insights moved towards neutral, and after how many days without use."""

    decayed: int
    threshold_days: int


class PrunedInsights(TypedDict):
    """What was removed, or (``dry_run``) would be: the names in ``candidates``, the weakest first."""

    pruned: int
    remaining: int
    removed: list[str]
    candidates: list[str]
    dry_run: bool


class Consolidated(TypedDict):
    """How many insights went into others, and which: each with the one it went into and their cosine."""

    merged: int
    remaining: int
    pairs: list[dict[str, Any]]


class ReindexedInsights(TypedDict):
    """How many texts were embedded, and with what; ``without_vector`` is how many still have none."""

    embedded: int
    total: int
    without_vector: int
    model: str | None


class Rebuilt(TypedDict):
    """How many insights the log was folded over, how many came out otherwise, and how many entries there were."""

    insights: int
    changed: int
    entries: int


def decay(context: InsightContext, days: int = 30) -> Decayed:
    """Moves insights that nobody used towards neutral (0.5): a tenth of the distance for each full ``days``.

    Raises:
        InvalidArgument: ``days`` is not within 1 to 36,500.
    """
    threshold = as_int("days", days, lowest=1, highest=_MOST_DAYS)
    with context.database.writing() as connection:
        at = feedback.free_timestamp(connection, context.now())
        due = list(_due(connection, at=at, days=threshold, now=context.now(), settings=context.settings))
        if due:
            entry = FeedbackEntry(id=feedback.new_id(), ts=at, kind="decay", days=threshold)
            feedback.add_entry(connection, entry, to=due, settings=context.settings)
    return Decayed(decayed=len(due), threshold_days=threshold)


def prune(context: InsightContext, threshold: float = 0.25, min_uses: int = 3, *, yes: bool = False) -> PrunedInsights:
    """Names the insights below ``threshold`` after ``min_uses`` uses or more, and with ``yes`` removes them.

    Exactly the threshold stays, and so does what a person provided.

    Raises:
        InvalidArgument: ``threshold`` is not within 0 to 1, or ``min_uses`` not within 0 to a million.
    """
    below = as_fraction("threshold", threshold)
    uses = as_int("min_uses", min_uses, lowest=0, highest=_MOST_USES)
    with context.database.writing() if yes else context.database.reading() as connection:
        condition = "state != 'merged' AND use_count >= ? AND effectiveness < ? ORDER BY effectiveness, number"
        found = rows.where(connection, condition, uses, below)
        weak = [stored for stored in found if USER_PROVIDED not in stored.insight.tags]
        names = [stored.name for stored in weak]
        if yes:
            forget_insights(connection, weak, at=stamp(context.now()))
        remaining = rows.count(connection)
    removed = names if yes else []
    return PrunedInsights(pruned=len(removed), remaining=remaining, removed=removed, candidates=names, dry_run=not yes)


def health(context: InsightContext) -> dict[str, Any]:
    """How the memory does: the seed's keys, and what else ought to be known.

    ``status`` is HEALTHY when there are insights and some had feedback. ``effectiveness`` is the mean of those with
    feedback, ``recent_feedback`` counts those with causal feedback within the hour, ``causal_ratio`` is causal hits
    per use; ``issues`` says in words what is missing.
    """
    since = stamp(context.now() - timedelta(hours=context.settings.recent_hours))
    with context.database.reading() as connection:
        total, used, effectiveness, recent, hits, uses = connection.execute(
            "SELECT count(*), count(nullif(use_count, 0)), avg(CASE WHEN use_count > 0 THEN effectiveness END),"
            " count(CASE WHEN last_feedback_at >= ? THEN 1 END), sum(causal_hits), sum(use_count)"
            " FROM insight WHERE state != 'merged'",
            (since,),
        ).fetchone()
        states = dict(connection.execute("SELECT state, count(*) FROM insight GROUP BY state ORDER BY state"))
        without_vector = rows.without_any_vector(connection)
        tags = _tags(connection)
    neutral = context.settings.neutral
    issue = "No feedback recorded - learning loop not closed" if total else "No insights yet"
    return {
        "status": "HEALTHY" if total and used else "NEEDS_ATTENTION",
        "total_insights": total,
        "by_tag": tags,
        "effectiveness": round(neutral if effectiveness is None else effectiveness, _SHOWN_DECIMALS),
        "with_feedback": used,
        "recent_feedback": recent,
        "causal_ratio": round(hits / uses, _SHOWN_DECIMALS) if uses else 0.0,
        "issues": [] if total and used else [issue],
        "without_vector": without_vector,
        "muted": states.get("muted", 0),
        "rejected": states.get("rejected", 0),
        "merged_away": states.get("merged", 0),
    }


def consolidate(context: InsightContext, threshold: float | None = None) -> Consolidated:
    """Merges insights that say the same: cosine of at least ``threshold`` (0.9 if None), the most similar first.

    The one with more uses takes the other in; its tags and feedback come along. Without a model only texts that
    differ in nothing but case and blanks are merged.

    Raises:
        InvalidArgument: ``threshold`` is not within 0 to 1.
    """
    least = as_fraction("threshold", context.settings.same_when_consolidating if threshold is None else threshold)
    done: list[dict[str, Any]] = []
    with context.database.writing() as connection:
        brought, damaged = rows.brought(connection), damaged_among(connection, rows.every_number(connection))
        for one, other, cosine in _pairs_to_merge(context, connection, least=least):
            pair = {stored.number: stored for stored in rows.by_numbers(connection, [one, other])}
            chosen = None if pair.keys() & damaged.keys() else _who_stays(pair[one], pair[other], brought=brought)
            if chosen is not None:
                stored, gone = chosen
                _merge(context, connection, stored, gone)
                done.append({"kept": stored.name, "merged": gone.name, "cosine": cosine})
        remaining = rows.count(connection)
    return Consolidated(merged=len(done), remaining=remaining, pairs=done)


def reindex(context: InsightContext) -> ReindexedInsights:
    """Embeds every insight that has no vector of the model at hand, and makes the index of words again."""
    embedded, embedder = 0, context.embedder
    with context.database.writing() as connection:
        damaged = damaged_among(connection, rows.every_number(connection))
        index_words(connection)
        hide_from_search(connection, damaged)
        rows.complete_digests(connection)
    while embedder is not None:
        with context.database.reading() as connection:
            missing = rows.lacking_vector(connection, model=embedder.model, most=_BATCH)
        if not missing:
            break
        vectors = context.embed([content for _, content in missing])
        with context.database.writing() as connection:
            for (number, content), (vector, _) in zip(missing, vectors, strict=True):
                rows.set_vector_of(connection, number, content, vector)
        embedded += len(missing)
    with context.database.reading() as connection:
        model = embedder.model if embedder else None
        without = rows.without_vector(connection, model=model) if model else rows.without_any_vector(connection)
        total = rows.count(connection)
    return ReindexedInsights(embedded=embedded, total=total, without_vector=without, model=model)


def rebuild(context: InsightContext) -> Rebuilt:
    """Folds the log of feedback again over every insight; nothing changes unless somebody wrote into the table."""
    with context.database.writing() as connection:
        count, changed = feedback.rebuild(connection, settings=context.settings)
        entries = connection.execute("SELECT count(*) FROM insight_feedback").fetchone()[0]
    return Rebuilt(insights=count, changed=changed, entries=entries)


def _pairs_to_merge(
    context: InsightContext, connection: sqlite3.Connection, *, least: float
) -> list[tuple[int, int, float]]:
    """Pairs of rows that say the same, the most similar first."""
    twins = [(one, other, 1.0) for one, other in rows.twins(connection)]
    if context.embedder is None:
        return twins
    from helix_graph.insights.vectors import close_pairs

    numbers, matrix = context.vector_file(context.embedder).look(connection).rows()
    known = {(one, other) for one, other, _ in twins}
    near = close_pairs(numbers, matrix, least=least)
    present = rows.active_numbers(connection)
    return twins + [pair for pair in near if pair[:2] not in known and pair[0] in present and pair[1] in present]


def _merge(context: InsightContext, connection: sqlite3.Connection, stored: StoredInsight, gone: StoredInsight) -> None:
    merged = absorb(stored.insight, gone.insight)
    rows.update(connection, stored, merged)
    if merged.content != stored.insight.content:
        rows.copy_vector(connection, gone.number, to=stored.number)
    away = replace(gone.insight, state="merged", merged_into=stored.insight.uid, state_at=stamp(context.now()))
    rows.update(connection, gone, away)
    feedback.refold(connection, replace(stored, insight=merged), settings=context.settings)


def _due(
    connection: sqlite3.Connection, *, at: str, days: int, now: datetime, settings: ScoringSettings
) -> Iterator[StoredInsight]:
    cutoff = stamp(now - timedelta(days=days))
    condition = (
        "state != 'merged' AND effectiveness != ?"
        " AND max(coalesce(last_used, created_at), coalesce(decayed_until, '')) <= ?"
    )
    for stored in rows.where(connection, condition, settings.neutral, cutoff):
        since = stored.insight.created_at
        if after_decay(stored.standing, at=at, days=days, since=since, settings=settings) != stored.standing:
            yield stored


def _who_stays(
    one: StoredInsight, other: StoredInsight, *, brought: frozenset[int]
) -> tuple[StoredInsight, StoredInsight] | None:
    """Which of two takes the other in, if any.

    None when one is no longer active, both are a person's, or they differ in what vectors do not see. Of a file's
    insight (``brought``) and one of this memory the latter stays, and only where the words are the same.
    """
    if one.insight.state != "active" or other.insight.state != "active":
        return None
    if (one.number in brought) != (other.number in brought):
        stored, gone = (other, one) if one.number in brought else (one, other)
        same = text_digest(one.insight.content) == text_digest(other.insight.content)
        return (stored, replace(gone, insight=replace(gone.insight, origin="imported"))) if same else None
    if not same_advice(one.insight.content, other.insight.content):
        return None
    stored, gone = sorted(
        (one, other),
        key=lambda stored: (USER_PROVIDED not in stored.insight.tags, -stored.standing.use_count, stored.number),
    )
    return None if USER_PROVIDED in gone.insight.tags else (stored, gone)


def _tags(connection: sqlite3.Connection) -> dict[str, int]:
    """How many insights have each tag; a row that somebody wrote by hand may have anything there."""
    with contextlib.suppress(ValueError):
        return dict(
            connection.execute(
                "SELECT value, count(*) FROM insight, json_each(insight.tags) WHERE state != 'merged'"
                " GROUP BY value ORDER BY count(*) DESC, value"
            )
        )
    return {}
