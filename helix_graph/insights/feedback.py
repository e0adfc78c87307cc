"""Feedback: how the work went that insights had been shown to, the log of it, and each insight's performance.

``delivered`` and ``plan_complete`` are successes, ``blocked`` is not. Insights that were causal move towards the
outcome, the others towards neutral. The log is append-only; performance is its fold and can be rebuilt at any time.
Each call is one entry of the log and one transaction with what follows from it, so that concurrent processes reach the
same result as one after the other, and an id that was used before changes nothing. If no name is known, nothing is
written and the id stays free.
"""

from __future__ import annotations

import os
from datetime import datetime, timedelta
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

import msgspec
from msgspec.structs import asdict, replace

from helix_episodes.errors import InvalidArgument
from helix_episodes.light_imports import blake2b
from helix_episodes.msgspec_types import ready
from helix_episodes.redaction import for_disk
from helix_graph.database import ANY_OF, as_list, insert_row
from helix_graph.helix_db import parse_stamp, stamp
from helix_graph.insights import rows
from helix_graph.insights.exposure_log import ExposureRow, write_exposure
from helix_graph.insights.model import (
    FeedbackEntry,
    Injection,
    InsightVerdict,
    Outcome,
    Performance,
    StoredInsight,
    Withheld,
)
from helix_graph.insights.scoring import ScoringSettings, ema, erode

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from helix_graph.insights.context import InsightContext
    from helix_graph.insights.model import Insight


class PerformanceFold(NamedTuple):
    """How the log makes the performance of one insight.

    ``own`` are the uids under which the log speaks of it: its own, and those of insights that were merged into it.
    """

    insight: Insight
    own: frozenset[str]
    settings: ScoringSettings

    def over(self, entries: Iterable[FeedbackEntry]) -> Performance:
        """The performance after ``entries``, which are in order."""
        standing = Performance(effectiveness=self.insight.initial)
        for entry in entries:
            standing = self.after(standing, entry)
        return standing

    def after(self, standing: Performance, entry: FeedbackEntry) -> Performance:
        """The performance after one more entry. One that names the insight twice judges it once, in its favour."""
        settings = self.settings
        if entry.kind == "decay":
            since = self.insight.created_at
            return after_decay(standing, at=entry.ts, days=entry.days, since=since, settings=settings)
        verdicts = [verdict.causal for verdict in entry.verdicts if verdict.uid in self.own]
        if not verdicts:
            return standing
        if entry.kind == "given":
            return entry.standing or standing
        causal, before, aim = any(verdicts), standing.effectiveness, 0.0 if entry.outcome == "blocked" else 1.0
        return replace(
            standing,
            effectiveness=ema(before, aim, settings=settings) if causal else erode(before, settings=settings),
            use_count=standing.use_count + 1,
            causal_hits=standing.causal_hits + causal,
            last_used=entry.ts,
            last_feedback_at=entry.ts if causal else standing.last_feedback_at,
        )


def after_decay(standing: Performance, *, at: str, days: int, since: str, settings: ScoringSettings) -> Performance:
    """The performance after idle time: one step towards neutral for each full ``days`` without use.

    Time that has been counted is not counted again, so it makes no difference how often one asks.
    """
    if standing.effectiveness == settings.neutral:
        return standing  # there is nowhere to go, and the time need not be counted: only feedback leads away
    start, end = parse_stamp(max(standing.decayed_until or "", standing.last_used or since)), parse_stamp(at)
    if start is None or end is None:
        return standing
    steps = int((end - start) / timedelta(days=days))
    if steps <= 0:
        return standing
    distance = (standing.effectiveness - settings.neutral) * (1 - settings.decay_step) ** steps
    return replace(
        standing,
        effectiveness=settings.neutral + distance,
        decayed_until=stamp(start + timedelta(days=days * steps)),
    )


#: So many names, spelled so much alike, are offered for one that was not shown.
_NEAREST, _NEAR = 3, 0.4
#: The entries that speak of any of these insights.
SPEAKS = f"id IN (SELECT feedback FROM insight_judged WHERE uid {ANY_OF})"  # noqa: S608  (a constant)
#: The columns of the logs that are JSON.
_ENTRY_JSON: dict[str, msgspec.json.Decoder[Any]] = {
    "names": msgspec.json.Decoder(ready(tuple[str, ...])),
    "verdicts": msgspec.json.Decoder(ready(tuple[InsightVerdict, ...])),
    "standing": msgspec.json.Decoder(ready(Performance)),
}
_INJECTION_JSON: dict[str, msgspec.json.Decoder[Any]] = {
    "shown": msgspec.json.Decoder(ready(tuple[str, ...])),
    "withheld": msgspec.json.Decoder(ready(tuple[Withheld, ...])),
    "chances": msgspec.json.Decoder(ready(dict[str, float])),
    "passed_over": msgspec.json.Decoder(ready(tuple[str, ...])),
}


def new_id() -> str:
    """An id that no other entry has, in any memory: 128 bits of chance."""
    return os.urandom(16).hex()


def has_entry(connection: sqlite3.Connection, identity: str) -> bool:
    """Whether the log has an entry of that id."""
    return connection.execute("SELECT 1 FROM insight_feedback WHERE id = ?", (identity,)).fetchone() is not None


def free_timestamp(connection: sqlite3.Connection, now: datetime) -> str:
    """``now``, or the first microsecond after it that no entry has: what came one after the other stays so."""
    taken = "SELECT 1 FROM insight_feedback WHERE ts = ?"
    while connection.execute(taken, (stamp(now),)).fetchone():
        now += timedelta(microseconds=1)
    return stamp(now)


def write_entry(connection: sqlite3.Connection, entry: FeedbackEntry) -> None:
    """Adds an entry, or replaces the one with its id; performance is as it was."""
    values = {column: for_disk(msgspec.to_builtins(value)) for column, value in asdict(entry).items()}
    for column in _ENTRY_JSON:
        values[column] = None if values[column] is None else msgspec.json.encode(values[column]).decode()
    insert_row(connection, "insight_feedback", values, replace=True)
    connection.execute("DELETE FROM insight_judged WHERE feedback = ?", (values["id"],))
    judged = [(verdict.uid, values["id"]) for verdict in entry.verdicts]
    connection.executemany("INSERT OR IGNORE INTO insight_judged VALUES (?, ?)", judged)


def remove_entries(connection: sqlite3.Connection, identity: str) -> None:
    """Takes out the entry of that id, for one that says less; performance is as it was."""
    connection.execute("DELETE FROM insight_feedback WHERE id = ?", (identity,))
    connection.execute("DELETE FROM insight_judged WHERE feedback = ?", (identity,))


def add_entry(
    connection: sqlite3.Connection, entry: FeedbackEntry, *, to: Iterable[StoredInsight], settings: ScoringSettings
) -> None:
    """Adds an entry and brings the performance of ``to``, of whom it speaks, up to date."""
    late = "SELECT 1 FROM insight_feedback WHERE (ts, id) > (?, ?) LIMIT 1"
    newest = connection.execute(late, (entry.ts, entry.id)).fetchone() is None
    write_entry(connection, entry)
    for stored in to:
        if newest:
            fold = PerformanceFold(stored.insight, rows.own_uids(connection, stored.insight.uid), settings)
            rows.set_standing(connection, stored.number, fold.after(stored.standing, entry))
        else:
            refold(connection, stored, settings=settings)


def refold(connection: sqlite3.Connection, stored: StoredInsight, *, settings: ScoringSettings) -> None:
    """Folds everything that the log says of one insight."""
    own = rows.own_uids(connection, stored.insight.uid)
    found = read_entries(connection, f"{COUNTED} AND (kind = 'decay' OR {SPEAKS})", as_list(own))
    rows.set_standing(connection, stored.number, PerformanceFold(stored.insight, own, settings).over(found))


#: What a file says was shown and came of it was verified by nobody here: it is kept, and gives no rank.
COUNTED = "id NOT IN (SELECT id FROM insight_import)"


def rebuild(connection: sqlite3.Connection, *, settings: ScoringSettings) -> tuple[int, int]:
    """Folds the whole log over every insight; how many insights, and how many of them came out otherwise."""
    speaking: dict[str, list[FeedbackEntry]] = {}
    decays: list[FeedbackEntry] = []
    for entry in read_entries(connection, COUNTED):
        if entry.kind == "decay":
            decays.append(entry)
        for uid in {verdict.uid for verdict in entry.verdicts}:
            speaking.setdefault(uid, []).append(entry)
    count = changed = 0
    for stored in rows.where(connection, "state != 'merged' ORDER BY number"):
        own = rows.own_uids(connection, stored.insight.uid)
        heard = {entry.id: entry for uid in own for entry in speaking.get(uid, ())}
        found = sorted((*heard.values(), *decays), key=lambda entry: (entry.ts, entry.id))
        standing = PerformanceFold(stored.insight, own, settings).over(found)
        if standing != stored.standing:
            rows.set_standing(connection, stored.number, standing)
            changed += 1
        count += 1
    return count, changed


def read_entries(connection: sqlite3.Connection, condition: str = "1", *values: str) -> Iterator[FeedbackEntry]:
    """The entries that meet a condition, in their order."""
    for found in _read_log(connection, "insight_feedback", FeedbackEntry, _ENTRY_JSON, (condition, *values)):
        yield FeedbackEntry(**found)


def read_injections(connection: sqlite3.Connection, condition: str = "1", *values: str) -> Iterator[Injection]:
    """The injections that meet a condition, in their order."""
    for found in _read_log(connection, "insight_injection", Injection, _INJECTION_JSON, (condition, *values)):
        yield Injection(**found)


def _read_log(
    connection: sqlite3.Connection,
    table: str,
    kind: type[msgspec.Struct],
    decoders: Mapping[str, msgspec.json.Decoder[Any]],
    where: tuple[str, ...],
) -> Iterator[dict[str, Any]]:
    """The rows that meet a condition, as values of the struct whose fields are the columns."""
    condition, *values = where
    columns = kind.__struct_fields__
    query = f"SELECT {', '.join(columns)} FROM {table} WHERE {condition} ORDER BY ts, id"  # noqa: S608  (constants)
    for row in connection.execute(query, values):
        found = dict(zip(columns, row, strict=True))
        for column, decoder in decoders.items():
            found[column] = None if found[column] is None else decoder.decode(found[column])
        yield found


#: Uses that a rate over all uses starts with, as if seen, at the rate of all insights of the memory.
_LIFETIME_PRIOR = 4.0


def lifetime_rate(successes: int, uses: int, *, base: float) -> float:
    """The success rate (0 to 1) over all uses of an insight, drawn towards ``base`` while there are few.

    Effectiveness forgets within ten uses, as the seed has it; this forgets nothing (the mean of a beta distribution).

    >>> lifetime_rate(0, 0, base=0.7), round(lifetime_rate(90, 100, base=0.7), 3)
    (0.7, 0.892)
    """
    return (successes + _LIFETIME_PRIOR * base) / (uses + _LIFETIME_PRIOR)


class Lifetime(NamedTuple):
    """Outcomes of all uses of an insight, and the rate that follows (`lifetime_rate`)."""

    successes: int
    uses: int
    rate: float


def lifetime_of(connection: sqlite3.Connection, own: Iterable[str]) -> Lifetime:
    """How all uses of an insight came out, by the uids under which the log speaks of it."""
    rate = "SELECT count(*), ifnull(sum(outcome != 'blocked'), 0) FROM insight_feedback WHERE kind = 'feedback'"
    every, won = connection.execute(f"{rate} AND {COUNTED}").fetchone()
    uses, successes = connection.execute(f"{rate} AND {COUNTED} AND {SPEAKS}", (as_list(own),)).fetchone()
    return Lifetime(successes, uses, lifetime_rate(successes, uses, base=won / every if every else 0.5))


def entries_about(connection: sqlite3.Connection, uids: Iterable[str]) -> list[FeedbackEntry]:
    """The entries that speak of any of these insights, in their order."""
    return list(read_entries(connection, SPEAKS, as_list(uids)))


def write_injection(connection: sqlite3.Connection, injection: Injection) -> None:
    """Adds what was shown to the log of injections, or puts it in the place of the one with its id."""
    write_exposure(connection, ExposureRow(**msgspec.to_builtins(injection)), replace=True)


class FeedbackAnswer(TypedDict):
    """What a feedback did: how many insights it moved, and which were causal, eroded or not known.

    ``names`` are those it moved. ``repeated`` says that an entry of this id was there already and nothing was done.
    """

    updated: int
    outcome: str
    names: list[str]
    causal: int
    eroded: int
    missing: list[str]
    id: str
    repeated: bool


class Attribution(msgspec.Struct, frozen=True, kw_only=True):
    """Whether an insight was causal, and why one thinks so. See `InsightVerdict` for the rest."""

    causal: bool
    reason: str
    cosine: float | None = None
    uptake: str | None = None
    path: tuple[str, ...] = ()
    taken_up: bool | None = None
    score: float | None = None
    rule: str = ""


class FeedbackReport(msgspec.Struct, frozen=True, kw_only=True):
    """A feedback to be recorded: which insights had been put in, how the work went, and what was causal.

    Names without an attribution count as not causal. ``id`` is the caller's, to count a thing once however often it
    is told, or empty. With a ``session`` each insight counts once for each of its outcomes, whatever the id.
    """

    names: tuple[str, ...]
    outcome: Outcome
    attribution: dict[str, Attribution]
    id: str = ""
    episode: str | None = None
    policy: str = "seed"
    injection: str = ""
    session: str = ""


def require_shown(names: Iterable[str], shown: Collection[str], *, option: str) -> None:
    """Whether only insights that were shown are said to have helped: a misspelt one would count against all of them.

    Raises:
        InvalidArgument: A name is not among those shown.
    """
    for name in names:
        if name not in shown:
            near = get_close_matches(name, sorted(shown), n=_NEAREST, cutoff=_NEAR) or sorted(shown)[:_NEAREST]
            meant = f"did you mean {' or '.join(map(repr, near))}?" if near else "none was shown"
            raise InvalidArgument(option, f"{name!r} was not shown; {meant}")


def seed_attribution(names: Sequence[str], causal_names: Collection[str] | None) -> dict[str, Attribution]:
    """The attribution of the seed: the caller names what was causal; None names all."""
    if causal_names is None:
        return {name: Attribution(causal=True, reason="no causal names were passed, so all count") for name in names}
    return {
        name: Attribution(causal=True, reason="named as causal")
        if name in causal_names
        else Attribution(causal=False, reason="not named as causal")
        for name in names
    }


def give_feedback(context: InsightContext, report: FeedbackReport) -> FeedbackAnswer:
    """Records a feedback in a transaction of its own."""
    with context.database.writing() as connection:
        return record_feedback(connection, report, now=context.now(), settings=context.settings)


def record_feedback(
    connection: sqlite3.Connection, report: FeedbackReport, *, now: datetime, settings: ScoringSettings
) -> FeedbackAnswer:
    """Writes one feedback into the log and what follows into the insights, within the transaction under way."""
    identity = report.id or new_id()
    names = tuple(dict.fromkeys(report.names))
    told = blake2b(f"{report.session}\0{report.outcome}".encode(), digest_size=16).hexdigest()
    of_session = f"{told}-" if report.session else ""
    identity = of_session + identity
    if has_entry(connection, identity):
        if report.episode is None or _outcome_of(connection, identity) == report.outcome:
            return _answer(report, names, identity=identity, known={}, judged={}, repeated=True)
        withdraw(connection, [identity], settings=settings)  # the session went on, and ended otherwise
    known = {name: stored for name in names if (stored := rows.by_name(connection, name))}
    if of_session:
        counted = {name for name, stored in known.items() if _has_counted(connection, stored, of_session)}
        if counted and counted == known.keys():
            return _answer(report, names, identity=identity, known={}, judged={}, repeated=True)
        known = {name: stored for name, stored in known.items() if name not in counted}
    judged = _judged(known, report.attribution)
    if not known and not report.injection:  # it says nothing of anything, so its id stays free for what does
        return _answer(report, names, identity=identity, known=known, judged=judged)
    entry = FeedbackEntry(
        id=identity,
        ts=free_timestamp(connection, now),
        outcome=report.outcome,
        names=names,
        verdicts=tuple(judged.values()),
        episode=report.episode,
        policy=report.policy,
        injection=report.injection,
    )
    moved = {stored.number: stored for stored in known.values()}
    add_entry(connection, entry, to=moved.values(), settings=settings)
    return _answer(report, names, identity=identity, known=known, judged=judged)


def _outcome_of(connection: sqlite3.Connection, identity: str) -> str:
    (outcome,) = connection.execute("SELECT outcome FROM insight_feedback WHERE id = ?", (identity,)).fetchone()
    return str(outcome)


def withdraw(connection: sqlite3.Connection, identities: Iterable[str], *, settings: ScoringSettings) -> None:
    """Takes entries back, with what followed from them for the insights of which they speak."""
    for identity in identities:
        uids = connection.execute("SELECT uid FROM insight_judged WHERE feedback = ?", (identity,)).fetchall()
        remove_entries(connection, identity)
        for (uid,) in uids:
            if stored := rows.by_uid(connection, uid):
                refold(connection, rows.standing_for(connection, stored), settings=settings)


def _has_counted(connection: sqlite3.Connection, stored: StoredInsight, of_session: str) -> bool:
    """Whether an entry of that session and outcome speaks of the insight; such ids begin alike."""
    query = f"SELECT 1 FROM insight_judged WHERE uid {ANY_OF} AND substr(feedback, 1, ?) = ?"  # noqa: S608  (a constant)
    own = as_list(rows.own_uids(connection, stored.insight.uid))
    return connection.execute(query, (own, len(of_session), of_session)).fetchone() is not None


def _judged(known: Mapping[str, StoredInsight], attribution: Mapping[str, Attribution]) -> dict[int, InsightVerdict]:
    """One verdict an insight, by its row: of two names of one insight, the one that was causal."""
    judged: dict[int, InsightVerdict] = {}
    for name, stored in known.items():
        why = attribution.get(name, Attribution(causal=False, reason="not attributed"))
        if stored.number in judged and not why.causal:
            continue
        judged[stored.number] = InsightVerdict(uid=stored.insight.uid, name=name, **asdict(why))
    return judged


def _answer(
    report: FeedbackReport,
    names: tuple[str, ...],
    *,
    identity: str,
    known: Mapping[str, StoredInsight],
    judged: Mapping[int, InsightVerdict],
    repeated: bool = False,
) -> FeedbackAnswer:
    causal = sum(verdict.causal for verdict in judged.values())
    return FeedbackAnswer(
        updated=len(judged),
        outcome=report.outcome,
        names=list(known),
        causal=causal,
        eroded=len(judged) - causal,
        missing=[] if repeated else [name for name in names if name not in known],
        id=identity,
        repeated=repeated,
    )
