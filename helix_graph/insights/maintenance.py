"""Maintenance: decay, pruning, consolidation, reindexing, rebuilding, and what is wrong with insights.

Decay counts idle time, not calls: an insight that nobody used for thirty days has moved a tenth of the way back to
neutral, for sixty days two tenths of the rest, and running it twice changes nothing. Pruning is shown before it is
done. Consolidation merges insights that say the same; what a person provided is never merged away.
"""

from __future__ import annotations

import contextlib
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypedDict

from msgspec.structs import replace

from helix_graph.insights import feedback, rows
from helix_graph.insights.dedup import absorb
from helix_graph.insights.feedback import after_decay
from helix_graph.insights.model import FeedbackEntry
from helix_graph.insights.removal import forget_insights
from helix_graph.insights.scoring import USER_PROVIDED
from helix_graph.timestamps import stamp
from helix_graph.validation import as_fraction, as_int

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator
    from datetime import datetime

    from helix_graph.insights.context import InsightContext
    from helix_graph.insights.model import StoredInsight
    from helix_graph.insights.scoring import ScoringSettings


_MOST_DAYS = 36_500
_MOST_USES = 1_000_000
_SHOWN_DECIMALS = 3
#: So many texts are embedded at a time: an engine's batch, and what is lost when somebody stops it.
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
    """Moves insights that nobody used towards neutral (0.5): a tenth of the distance for each full ``days``."""
    threshold = as_int("days", days, lowest=1, highest=_MOST_DAYS)
    with context.database.writing() as connection:
        at = feedback.free_timestamp(connection, context.now())
        due = list(_due(connection, at=at, days=threshold, now=context.now(), settings=context.settings))
        if due:
            entry = FeedbackEntry(id=feedback.new_id(), ts=at, kind="decay", days=threshold)
            feedback.add_entry(connection, entry, to=due, settings=context.settings)
    return Decayed(decayed=len(due), threshold_days=threshold)


def prune(context: InsightContext, threshold: float = 0.25, min_uses: int = 3, *, yes: bool = False) -> PrunedInsights:
    """Names the insights below ``threshold`` after ``min_uses`` uses or more, and with ``yes`` removes them."""
    below = as_fraction("threshold", threshold)
    uses = as_int("min_uses", min_uses, lowest=0, highest=_MOST_USES)
    with context.database.writing() if yes else context.database.reading() as connection:
        weak = _weak(connection, below=below, uses=uses)
        names = [kept.name for kept in weak]
        if yes:
            forget_insights(connection, weak, at=stamp(context.now()))
        remaining = _count(connection)
    removed = names if yes else []
    return PrunedInsights(pruned=len(removed), remaining=remaining, removed=removed, candidates=names, dry_run=not yes)


def health(context: InsightContext) -> dict[str, Any]:
    """How the memory does: the seed's keys, and what else ought to be known."""
    since = stamp(context.now() - timedelta(hours=context.settings.recent_hours))
    with context.database.reading() as connection:
        total, used, effectiveness, recent, hits, uses = connection.execute(
            "SELECT count(*), count(nullif(use_count, 0)), avg(CASE WHEN use_count > 0 THEN effectiveness END),"
            " count(CASE WHEN last_feedback_at >= ? THEN 1 END), sum(causal_hits), sum(use_count)"
            " FROM insight WHERE state != 'merged'",
            (since,),
        ).fetchone()
        states = dict(connection.execute("SELECT state, count(*) FROM insight GROUP BY state ORDER BY state"))
        embedded = connection.execute("SELECT count(*) FROM insight WHERE state != 'merged' AND model IS NOT NULL")
        with_vector = embedded.fetchone()[0]
        tags = _tags(connection)
    neutral = context.settings.neutral
    return {
        "status": "HEALTHY" if total and used else "NEEDS_ATTENTION",
        "total_insights": total,
        "by_tag": tags,
        "effectiveness": round(neutral if effectiveness is None else effectiveness, _SHOWN_DECIMALS),
        "with_feedback": used,
        "recent_feedback": recent,
        "causal_ratio": round(hits / uses, _SHOWN_DECIMALS) if uses else 0.0,
        "issues": list(_issues(total, used)),
        "without_vector": total - with_vector,
        "muted": states.get("muted", 0),
        "rejected": states.get("rejected", 0),
        "merged_away": states.get("merged", 0),
    }


def consolidate(context: InsightContext, threshold: float | None = None) -> Consolidated:
    """Merges insights that say the same: cosine of at least ``threshold`` (0.9 if None), the most alike first."""
    least = as_fraction("threshold", context.settings.same_when_consolidating if threshold is None else threshold)
    done: list[dict[str, Any]] = []
    with context.database.writing() as connection:
        for one, other, cosine in _pairs_to_merge(context, connection, least=least):
            pair = {kept.number: kept for kept in rows.by_numbers(connection, [one, other])}
            chosen = _who_stays(pair[one], pair[other])
            if chosen is not None:
                kept, gone = chosen
                _merge(context, connection, kept, gone)
                done.append({"kept": kept.name, "merged": gone.name, "cosine": cosine})
        remaining = _count(connection)
    return Consolidated(merged=len(done), remaining=remaining, pairs=done)


def reindex(context: InsightContext) -> ReindexedInsights:
    """Embeds every insight that has no vector of the model at hand, and makes the index of words anew."""
    embedded, embedder = 0, context.embedder
    with context.database.writing() as connection:
        connection.execute("INSERT INTO insight_text (insight_text) VALUES ('rebuild')")
        rows.mend_digests(connection)
    while embedder is not None and (done := _embed_some(context, embedder.model)):
        embedded += done
    with context.database.reading() as connection:
        model = embedder.model if embedder else None
        without = rows.without_vector(connection, model=model) if model else rows.without_any_vector(connection)
        total = _count(connection)
    return ReindexedInsights(embedded=embedded, total=total, without_vector=without, model=model)


def rebuild(context: InsightContext) -> Rebuilt:
    """Folds the log of feedback anew over every insight; nothing changes unless somebody wrote into the table."""
    with context.database.writing() as connection:
        count, changed = feedback.rebuild(connection, settings=context.settings)
        entries = connection.execute("SELECT count(*) FROM insight_feedback").fetchone()[0]
    return Rebuilt(insights=count, changed=changed, entries=entries)


def _embed_some(context: InsightContext, model: str) -> int:
    with context.database.reading() as connection:
        missing = rows.lacking_vector(connection, model=model, most=_BATCH)
    vectors = context.embed([content for _, content in missing])
    with context.database.writing() as connection:
        for (number, content), (vector, _) in zip(missing, vectors, strict=True):
            rows.set_vector_of(connection, number, content, model=vector.model, vector=vector.blob)
    return len(missing)


def _pairs_to_merge(
    context: InsightContext, connection: sqlite3.Connection, *, least: float
) -> list[tuple[int, int, float]]:
    """Pairs of rows that say the same, the most alike first."""
    twins = [(one, other, 1.0) for one, other in rows.twins(connection)]
    if context.embedder is None:
        return twins
    from helix_graph.insights.vectors import close_pairs

    numbers, matrix = context.vector_file(context.embedder).look(connection).rows()
    known = {(one, other) for one, other, _ in twins}
    near = close_pairs(numbers, matrix, least=least)
    present = rows.active_numbers(connection)
    return twins + [pair for pair in near if pair[:2] not in known and pair[0] in present and pair[1] in present]


def _merge(context: InsightContext, connection: sqlite3.Connection, kept: StoredInsight, gone: StoredInsight) -> None:
    merged = absorb(kept.insight, gone.insight)
    rows.update(connection, kept, merged)
    if merged.content != kept.insight.content:
        rows.copy_vector(connection, gone.number, to=kept.number)
    away = replace(gone.insight, state="merged", merged_into=kept.insight.uid, state_at=stamp(context.now()))
    rows.update(connection, gone, away)
    feedback.refold(connection, replace(kept, insight=merged), settings=context.settings)


def _due(
    connection: sqlite3.Connection, *, at: str, days: int, now: datetime, settings: ScoringSettings
) -> Iterator[StoredInsight]:
    cutoff = stamp(now - timedelta(days=days))
    condition = (
        "state != 'merged' AND effectiveness != ?"
        " AND max(coalesce(last_used, created_at), coalesce(decayed_until, '')) <= ?"
    )
    for kept in rows.where(connection, condition, settings.neutral, cutoff):
        since = kept.insight.created_at
        if after_decay(kept.standing, at=at, days=days, since=since, settings=settings) != kept.standing:
            yield kept


def _weak(connection: sqlite3.Connection, *, below: float, uses: int) -> list[StoredInsight]:
    condition = "state != 'merged' AND use_count >= ? AND effectiveness < ? ORDER BY effectiveness, number"
    return [kept for kept in rows.where(connection, condition, uses, below) if USER_PROVIDED not in kept.insight.tags]


def _who_stays(one: StoredInsight, other: StoredInsight) -> tuple[StoredInsight, StoredInsight] | None:
    """Which of two takes the other in, if any.

    None when one is no longer active, both are a person's, or they differ in what vectors do not see.
    """
    from helix_graph.insights.dedup import same_advice

    if one.insight.state != "active" or other.insight.state != "active":
        return None
    if not same_advice(one.insight.content, other.insight.content):
        return None
    kept, gone = sorted(
        (one, other),
        key=lambda kept: (USER_PROVIDED not in kept.insight.tags, -kept.standing.use_count, kept.number),
    )
    return None if USER_PROVIDED in gone.insight.tags else (kept, gone)


def _count(connection: sqlite3.Connection) -> int:
    return int(connection.execute("SELECT count(*) FROM insight WHERE state != 'merged'").fetchone()[0])


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


def _issues(total: int, used: int) -> Iterator[str]:
    if not total:
        yield "No insights yet"
    elif not used:
        yield "No feedback recorded - learning loop not closed"
