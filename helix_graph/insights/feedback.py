"""Feedback: how the work went into which insights had been put, and what that says of each.

``delivered`` and ``plan_complete`` are successes, ``blocked`` is none. Insights that were causal move towards the
outcome, the others towards neutral (`helix_graph.insights.fold`). Each call is one entry of the log and one transaction
with what follows from it, so that processes at work together come to what one after the other would have come to, and
an id that was given before changes nothing. Where no name is known, nothing is written and the id stays free.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

import msgspec

from helix_graph.insights import log, rows
from helix_graph.insights.model import Entry, Outcome, Verdict

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Mapping, Sequence
    from datetime import datetime

    from helix_graph.insights.model import Kept
    from helix_graph.insights.settings import Settings


class FedBack(TypedDict):
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
    """Whether an insight was causal, and why one thinks so. See `Verdict` for the rest."""

    causal: bool
    reason: str
    cosine: float | None = None
    uptake: str | None = None
    path: tuple[str, ...] = ()
    taken_up: bool | None = None
    score: float | None = None
    rule: str = ""


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """A feedback to be recorded: which insights had been put in, how the work went, and what was causal.

    Names without an attribution count as not causal. ``id`` is the caller's, to count a thing once however often it
    is told, or empty.
    """

    names: tuple[str, ...]
    outcome: Outcome
    attribution: dict[str, Attribution]
    id: str = ""
    episode: str | None = None
    policy: str = "seed"
    injection: str = ""


def attributed(names: Sequence[str], causal_names: Collection[str] | None) -> dict[str, Attribution]:
    """The attribution of the seed: the caller names what was causal; None names all."""
    if causal_names is None:
        return {name: Attribution(causal=True, reason="no causal names were given, so all count") for name in names}
    return {
        name: Attribution(causal=True, reason="named as causal")
        if name in causal_names
        else Attribution(causal=False, reason="not named as causal")
        for name in names
    }


def record(connection: sqlite3.Connection, report: Report, *, now: datetime, settings: Settings) -> FedBack:
    """Writes one feedback into the log and what follows into the insights, within the transaction under way."""
    identity = report.id or log.new_id()
    names = tuple(dict.fromkeys(report.names))
    if log.holds(connection, identity):
        return _answer(report, names, identity=identity, known={}, judged={}, repeated=True)
    known = {name: kept for name in names if (kept := rows.by_name(connection, name))}
    judged = _judged(known, report.attribution)
    if not known and not report.injection:  # it says nothing of anything, so its id stays free for what does
        return _answer(report, names, identity=identity, known=known, judged=judged)
    entry = Entry(
        id=identity,
        ts=log.free_moment(connection, now),
        outcome=report.outcome,
        names=names,
        verdicts=tuple(judged.values()),
        episode=report.episode,
        policy=report.policy,
        injection=report.injection,
    )
    moved = {kept.number: kept for kept in known.values()}
    log.add(connection, entry, to=moved.values(), settings=settings)
    return _answer(report, names, identity=identity, known=known, judged=judged)


def _judged(known: Mapping[str, Kept], attribution: Mapping[str, Attribution]) -> dict[int, Verdict]:
    """One verdict an insight, by its row: of two names of one insight, the one that was causal."""
    judged: dict[int, Verdict] = {}
    for name, kept in known.items():
        why = attribution.get(name, Attribution(causal=False, reason="not attributed"))
        if kept.number in judged and not why.causal:
            continue
        judged[kept.number] = Verdict(
            uid=kept.insight.uid,
            name=name,
            causal=why.causal,
            reason=why.reason,
            cosine=why.cosine,
            uptake=why.uptake,
            path=why.path,
            taken_up=why.taken_up,
            score=why.score,
            rule=why.rule,
        )
    return judged


def _answer(
    report: Report,
    names: tuple[str, ...],
    *,
    identity: str,
    known: Mapping[str, Kept],
    judged: Mapping[int, Verdict],
    repeated: bool = False,
) -> FedBack:
    causal = sum(verdict.causal for verdict in judged.values())
    return FedBack(
        updated=len(judged),
        outcome=report.outcome,
        names=list(known),
        causal=causal,
        eroded=len(judged) - causal,
        missing=[] if repeated else [name for name in names if name not in known],
        id=identity,
        repeated=repeated,
    )
