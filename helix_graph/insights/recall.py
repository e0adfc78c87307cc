"""Recall: the insights that fit a query, by meaning and by words, those that performed well and lately first.

::

    score = 0.7 * relevance + 0.2 * effectiveness + 0.1 * recency

Relevance combines the cosine with the query and the relevance by words into one number, ``1 - (1 - cosine)(1 -
words)``, which is compared with the threshold and shown as ``_relevance``; so an error code that a vector blurs still
finds its insight. On the retrieval set of `benchmarks/retrieval.py` that finds more than either, and more than the
greater of the two. Effectiveness is multiplied by the share of uses in which the insight was causal, from three uses
on. Recency halves every 14 days without use. Without vectors the order is that of relevance by words, then of
effectiveness. Hits are scored in the order of relevance until no further one could be among those shown, so the answer
is exact however many hits there are.

*Proven* insights are those used often enough to good effect, with two sessions of which a check, a reward or a person
says that they ended well. What a person provided is shown with them, and called so.
"""

from __future__ import annotations

import json
from contextlib import suppress
from itertools import islice

from helix_episodes.errors import InvalidArgument
from helix_episodes.light_imports import Value
from helix_episodes.safe_files import read_own
from helix_graph.database import as_list
from helix_graph.errors import NO_WORDS
from helix_graph.helix_db import days_between, parse_stamp
from helix_graph.insights.schema import SHOWN_DECIMALS, legacy_forms, seed_forms
from helix_graph.insights.scoring import USER_PROVIDED, causal_adjusted, combined_relevance, recency, score
from helix_graph.trust import shared_episodes, tracked_by_git
from helix_graph.validation import as_choice, as_fraction, as_int, as_str, as_strs

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path
    from typing import Any, Literal

    from helix_graph.insights.context import InsightContext
    from helix_graph.insights.scoring import ScoringSettings

    Mode = Literal["semantic", "lexical"]

    Via = Literal["meaning", "words", "both"]


#: A longer query is cut here, as the seed cut what it embedded.
_LONGEST_QUERY = 8000
#: Hits are read so many at a time: few enough that a small answer costs little, many enough that a large one does too.
_BATCH = 200
#: As many as `seen` shows at most.
MOST_SHOWN = 100
#: So many of those that came next are recorded: behind them nobody would have looked.
_MOST_PASSED_OVER = 20
#: The seed's ranking, or that by measured effect, once enough was measured.
POLICIES = ("seed", "uplift")
#: Where meanings are known, words alone say no more than this: less than the cosine (0.85) of what says the same.
SURE_BY_WORDS = 0.8


class RecallQuery(Value):
    """A question, checked: see `helix_graph.insights.api.Insights.recall` for what each part means."""

    limit: int
    min_relevance: float
    now: datetime
    settings: ScoringSettings
    semantic: bool = False
    min_effectiveness: float = 0.0
    suppress_names: frozenset[str] = frozenset()
    tag: str = ""


class RecallAnswer(list["dict[str, Any]"]):
    """The insights found, in the seed's form, and how they were found.

    ``mode`` is ``lexical`` where there was no model; ``note`` says so in words, or how many insights had no vector and
    could only be found by their words. It is empty when all were compared in both ways. ``passed_over`` names what was
    relevant as well and did not come among the best, for the record of what was shown (`exposure.hand_over`).
    """

    mode: Mode = "semantic"
    note: str = ""
    passed_over: tuple[str, ...] = ()


class ScoredInsight(Value):
    """A hit with its score and what that is made of."""

    number: int
    name: str
    created_at: str
    relevance: float
    effectiveness: float
    recency: float
    score: float
    via: Via
    brought: bool = False


def recall(  # noqa: PLR0913  (the seed's options)
    context: InsightContext,
    query: str,
    limit: int = 5,
    min_effectiveness: float = 0.0,
    min_relevance: float | None = None,
    suppress_names: Iterable[str] = (),
    *,
    policy: str = "seed",
    semantic: bool = True,
    tag: str = "",
) -> RecallAnswer:
    """The insights that bear on a query, the best first; see `helix_graph.insights.recall` for how they are scored.

    ``min_effectiveness`` is of the raw effectiveness; ``min_relevance`` (0.35 if None) of cosine and relevance by
    words together, as ``_relevance`` shows it; what is exactly there passes. ``suppress_names`` are left out.
    ``semantic=False`` looks by words alone; ``tag`` only among insights with it. ``policy`` uplift ranks the
    relevant ones by measured effect (`helix_graph.insights.uplift`), and leaves out those that are not held to
    help.

    Raises:
        InvalidArgument: There is nothing in the query. ``limit`` is not within 0 to 100, or a least value not within 0
            to 1. There is no such policy.
        HelixGraphError: Too little has been measured to rank by uplift.
    """
    settings = context.settings
    asked = RecallQuery(
        limit=as_int("limit", limit, lowest=0, highest=MOST_SHOWN),
        min_relevance=as_fraction("min_relevance", settings.min_relevance if min_relevance is None else min_relevance),
        min_effectiveness=as_fraction("min_effectiveness", min_effectiveness),
        suppress_names=frozenset(as_strs("suppress_names", suppress_names)),
        tag=tag,
        now=context.now(),
        settings=settings,
    )
    as_choice("policy", policy, POLICIES)
    about = checked_query(query)
    wide = asked._replace(limit=asked.limit + _MOST_PASSED_OVER if policy == "seed" else MOST_SHOWN)
    embedder = context.embedder if semantic else None
    vector = context.embed_one(about)[1] if embedder else None
    answer = RecallAnswer()
    answer.mode = "semantic" if embedder else "lexical"
    with context.database.reading() as connection:
        answer.note = _note(context, connection, model=embedder.model if embedder else None, semantic=semantic)
        by_words = context.by_words(connection, about)
        if vector is None:
            chosen = recall_by_words(connection, by_words, wide)
        else:
            meaning = context.by_meaning(connection, vector, least=asked.min_relevance, words=by_words)
            hits = combined_hits(meaning, by_words, least=asked.min_relevance, sure=SURE_BY_WORDS)
            chosen = best_hits(connection, hits, wide._replace(semantic=True))
        shown = asked.limit
        if policy == "uplift":
            chosen, shown = _by_uplift(connection, chosen, about=about, limit=asked.limit)
        answer.extend(hit_forms(connection, chosen[:shown], told=settings.counts))
        answer.passed_over = tuple(hit.name for hit in chosen[shown:][:_MOST_PASSED_OVER])
    return answer


def _by_uplift(
    connection: sqlite3.Connection, chosen: Sequence[ScoredInsight], *, about: str, limit: int
) -> tuple[list[ScoredInsight], int]:
    """The relevant insights by their measured effect, those first that are held to help; and how many do."""
    from helix_graph.insights.exposure import order_by_uplift

    found = {hit.number: hit for hit in chosen}
    relevance = {number: hit.relevance for number, hit in found.items()}
    ranked = order_by_uplift(connection, relevance, about=about, limit=limit)
    return [*map(found.pop, ranked), *found.values()], len(ranked)


def _note(context: InsightContext, connection: sqlite3.Connection, *, model: str | None, semantic: bool) -> str:
    from helix_graph.insights.rows import without_vector

    if not semantic:
        return "only words were compared, as asked"
    if model is None:
        return f"{context.why_no_model()}: only words were compared"
    count = without_vector(connection, model=model)
    return f"{count} without a vector, compared by words only; run insight reindex" if count else ""


def checked_query(text: str) -> str:
    """The text to look for.

    Raises:
        InvalidArgument: There is nothing in it.
    """
    found = as_str("query", text)[:_LONGEST_QUERY]
    if not found.strip():
        raise InvalidArgument("query", NO_WORDS)
    return found


def freshness(last_used: str | None, created_at: str, *, now: datetime, settings: ScoringSettings) -> float:
    """1 for what was used (or stored) today, half of it every half-life, in whole days."""
    since = parse_stamp(last_used or created_at)
    if since is None:
        return settings.unknown_recency
    return recency(days_between(since, now), settings=settings)


def combined_hits(
    meaning: Mapping[int, float], by_words: Mapping[int, float], *, least: float, sure: float = 1.0
) -> list[tuple[float, int, Via]]:
    """What passes the gate by both together: (relevance, row, how), the most relevant first.

    ``sure`` is the most that words alone may say. ``meaning`` may leave out what does not pass with it.
    """
    telling = (number for number, shared in by_words.items() if shared >= least)
    hits: list[tuple[float, int, Via]] = [
        (combined_relevance(alike, shared), number, _via(alike, shared, least))
        for number in {*meaning, *telling}
        for alike, shared in ((max(0.0, meaning.get(number, 0.0)), min(sure, by_words.get(number, 0.0))),)
        if combined_relevance(alike, shared) >= least
    ]
    return sorted(hits, key=lambda hit: (-hit[0], hit[1]))


def recall_by_words(
    connection: sqlite3.Connection, by_words: Mapping[int, float], asked: RecallQuery
) -> list[ScoredInsight]:
    """The best of what shares words with a query: all there is to go by without a model."""
    return best_hits(connection, combined_hits({}, by_words, least=asked.min_relevance), asked)


def best_hits(
    connection: sqlite3.Connection, hits: Sequence[tuple[float, int, Via]], asked: RecallQuery
) -> list[ScoredInsight]:
    """The ``limit`` best of the hits, the best first; equals stay in the order in which they were stored."""
    chosen: list[ScoredInsight] = []
    for place in range(0, len(hits) if asked.limit else 0, _BATCH):
        if len(chosen) == asked.limit and not _may_enter(hits[place][0], chosen[-1], asked):
            break
        scored = _scored(connection, hits[place : place + _BATCH], asked)
        chosen = sorted((*chosen, *scored), key=lambda one: _order(one, semantic=asked.semantic))[: asked.limit]
    return chosen


def hit_forms(
    connection: sqlite3.Connection, chosen: Sequence[ScoredInsight], *, told: bool = False
) -> Iterator[dict[str, Any]]:
    """The candidates as the seed gives them; with ``told`` also the form in which they were told (``_told``)."""
    numbers = [one.number for one in chosen]
    found, forms = seed_forms(connection, numbers), legacy_forms(connection, numbers) if told else {}
    for one in (one for one in chosen if one.number in found):  # what is damaged is told to nobody
        yield {
            **found[one.number],
            **({"_told": forms[one.number]} if told else {}),
            "_relevance": round(one.relevance, SHOWN_DECIMALS),
            "_effectiveness": round(one.effectiveness, SHOWN_DECIMALS),
            "_recency": round(one.recency, SHOWN_DECIMALS),
            "_score": round(one.score, SHOWN_DECIMALS),
            "_via": one.via,
        }


def _via(meaning: float, by_words: float, least: float) -> Via:
    """What let it pass by itself, or both; what a vector found and words confirm is by both as well."""
    if by_words >= least > meaning:
        return "words"
    return "both" if by_words else "meaning"


def _may_enter(relevance: float, last: ScoredInsight, asked: RecallQuery) -> bool:
    """Whether a hit of that relevance could come before ``last``, did it well and lately."""
    if not asked.semantic:
        return relevance >= last.relevance
    return score(relevance=relevance, effectiveness=1.0, recency=1.0, settings=asked.settings) >= last.score


def _order(one: ScoredInsight, *, semantic: bool) -> tuple[float, bool, float, float, str, str]:
    """Equals come in the order in which they were stored, which is the same in every memory that has them.

    What this user did not bring comes before what others did, who may claim any date.
    """
    if semantic:
        return (-one.score, one.brought, 0.0, 0.0, one.created_at, one.name)
    return (-one.relevance, one.brought, -one.effectiveness, -one.recency, one.created_at, one.name)


def _scored(
    connection: sqlite3.Connection, hits: Sequence[tuple[float, int, Via]], asked: RecallQuery
) -> Iterator[ScoredInsight]:
    settings = asked.settings
    columns = (
        "SELECT number, name, effectiveness, use_count, causal_hits, last_used, created_at,"
        " uid IN (SELECT id FROM insight_import)"
        " FROM json_each(?) wanted CROSS JOIN insight ON number = wanted.value WHERE state = 'active'"
        " AND (? = '' OR EXISTS (SELECT 1 FROM json_each(insight.tags) WHERE value = ?))"
    )
    found = connection.execute(columns, (as_list(number for _, number, _ in hits), asked.tag, asked.tag))
    read_rows = {row[0]: row for row in found}
    for relevance, number, via in hits:
        if number not in read_rows or read_rows[number][1] in asked.suppress_names:
            continue
        _, name, effectiveness, uses, causal, last_used, created_at, brought = read_rows[number]
        if settings.counts:  # as the older seed: how many of the uses helped, neutral before the first
            raw = fair = causal / uses if uses else settings.neutral
        else:
            raw = effectiveness
            fair = causal_adjusted(effectiveness, use_count=uses, causal_hits=causal, settings=settings)
        if raw < asked.min_effectiveness:
            continue
        fresh = freshness(last_used, created_at, now=asked.now, settings=settings)
        total = score(relevance=relevance, effectiveness=fair, recency=fresh, settings=settings)
        yield ScoredInsight(number, name, created_at, relevance, fair, fresh, total, via, bool(brought))


#: The seed calls an insight from here on "consistently helpful".
_PROVEN = 0.75
#: So many sessions have to agree before an insight is called proven: one proves what it was learnt from.
_SESSIONS = 2
#: How an outcome was established: by a reward, a check or a person. What the log only declares verifies nothing.
_VERIFIED = frozenset({"rewarded", "measured", "judged"})
#: How long after its last step a session may store an advice, in seconds: a log is written a moment later.
_AFTER_ITS_END = 120.0
#: The kinds of assertions that say how a session ended.
_TELLING = frozenset({"outcome", "revision"})
#: The sessions that ended well and had taken the insight up, or of which somebody said that it mattered. What was
#: credited by its words alone is left out: a session repeats the words that it was shown. So are the session in which
#: the insight was learnt, and what a file or a colleague says of this user's sessions.
_AGREEING = """
WITH RECURSIVE own(uid) AS (
    SELECT uid FROM insight WHERE number = ?1
    UNION SELECT i.uid FROM insight i JOIN own ON i.merged_into = own.uid
    WHERE i.merged_into != '' AND i.state = 'merged'
)
SELECT DISTINCT f.episode FROM own
JOIN insight_judged j ON j.uid = own.uid
JOIN insight_feedback f ON f.id = j.feedback AND f.kind = 'feedback' AND f.outcome IN ('delivered', 'plan_complete')
JOIN json_each(f.verdicts) v ON json_extract(v.value, '$.uid') = own.uid
WHERE json_extract(v.value, '$.causal') AND f.episode IS NOT NULL
    AND f.id NOT IN (SELECT id FROM insight_import)
    AND (json_extract(v.value, '$.taken_up') OR coalesce(json_extract(v.value, '$.rule'), '') = '')
    AND f.episode NOT IN (
        SELECT i.episode FROM insight i JOIN own ON own.uid = i.uid
        UNION SELECT 'episode-' || i.episode FROM insight i JOIN own ON own.uid = i.uid
    )
ORDER BY f.episode
"""


def proven_rows(
    connection: sqlite3.Connection, limit: int, *, settings: ScoringSettings, episodes: Path | None
) -> list[dict[str, Any]]:
    """The proven insights of the greatest effectiveness, at most ``limit``, as the seed shows them; a person's as well.

    Proven takes verified outcomes of two sessions, whose files are in ``episodes``.
    """
    chosen = list(islice(_proven_numbers(connection, settings=settings, episodes=episodes), limit))
    found = seed_forms(connection, chosen)
    return [found[number] for number in chosen if number in found]


def is_row_proven(
    connection: sqlite3.Connection, number: int, *, settings: ScoringSettings, episodes: Path | None
) -> bool:
    """Whether the insight in that row is one that `proven_rows` would show."""
    return any(_proven_numbers(connection, settings=settings, episodes=episodes, only=number))


def _proven_numbers(
    connection: sqlite3.Connection, *, settings: ScoringSettings, episodes: Path | None, only: int | None = None
) -> Iterator[int]:
    rows = connection.execute(
        "SELECT number, effectiveness, use_count, causal_hits, tags FROM insight"
        " WHERE state = 'active' AND (use_count >= ? OR tags LIKE ?) AND number = ifnull(?, number)"
        " ORDER BY effectiveness DESC, created_at, name",
        (settings.uses_to_adjust, f'%"{USER_PROVIDED}"%', only),
    )
    for number, effectiveness, uses, causal_hits, tags in rows:
        if USER_PROVIDED in json.loads(tags):
            yield number
        elif uses >= settings.uses_to_adjust:
            fair = causal_adjusted(effectiveness, use_count=uses, causal_hits=causal_hits, settings=settings)
            if fair >= _PROVEN and _have_sessions_agreed(connection, number, episodes):
                yield number


def _have_sessions_agreed(connection: sqlite3.Connection, number: int, episodes: Path | None) -> bool:
    """Whether enough of this user's own sessions agree: with a verified outcome, still there, and not from git."""
    if episodes is None:
        return False
    named = [str(name) for (name,) in connection.execute(_AGREEING, (number,))]
    shared = shared_episodes(episodes.parent, named)
    # An agent's advice is of a session that ran when it came: which one it was, a server of MCP may not know.
    by_agent = "SELECT created_at FROM insight WHERE number = ? AND origin = 'agent'"
    born = next((parse_stamp(at) for (at,) in connection.execute(by_agent, (number,))), None)
    own = [name for name in named if name not in shared and _ended_well(episodes / f"{name}.json", born=born)]
    if len(own) < _SESSIONS:
        return False
    told = _outcomes_told(episodes.parent)
    return sum(told.get(name, "success") == "success" for name in own) >= _SESSIONS


def _ended_well(episode: Path, *, born: datetime | None) -> bool:
    """Whether its outcome is a success now, and verified: a session may have gone on and failed since it was judged.

    One that ran at the time that the advice was ``born`` does not count.
    """
    try:
        found = json.loads(read_own(episode))
        began = parse_stamp(found["timestamp"])
        minutes = float((found.get("metrics") or {}).get("duration_minutes") or 0)
        if born and began and 0 <= (born - began).total_seconds() <= _AFTER_ITS_END + 60 * minutes:
            return False
        return found["outcome"] == "success" and found["outcome_basis"] in _VERIFIED
    except (OSError, ValueError, LookupError, TypeError):  # forgotten, or none: `doctor` says what is wrong with it
        return False


def _outcomes_told(root: Path) -> dict[str, str]:
    """How people, and later sessions, say that sessions ended, by episode; the last word of each that is in no commit.

    Read without msgspec, which takes longer to load than a hook may take.
    """
    folder = root / "causality" / "assertions"
    try:
        tracked = {one.rpartition("/")[2] for one in tracked_by_git(root, ["causality/assertions/"])}
    except (OSError, ValueError, IndexError):
        tracked = set()
    told: list[tuple[str, str, str]] = []
    for path in folder.glob("*.json"):
        with suppress(OSError, ValueError, LookupError, TypeError):
            one = json.loads(read_own(path))
            if one["kind"] in _TELLING and path.name not in tracked:
                told.append((str(one["asserted_at"]), str(one["episode"]), str(one["outcome"])))
    return {episode: outcome for _, episode, outcome in sorted(told)}
