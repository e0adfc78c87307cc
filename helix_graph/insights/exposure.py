"""Exposure: recording which insights are shown to whom, withholding some at random, and reading what they did.

Each time insights are shown is a row of the injection log. When a person has switched it on
(``[insights] withhold = 0.1`` in ``.helix/config.toml``), each insight chosen is withheld with that chance
(`helix_graph.insights.holdout`), which the log records. With the outcomes from feedback, these rows are all that
`helix_graph.insights.uplift` rests on.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from helix_episodes.errors import HelixGraphError
from helix_episodes.redaction import for_disk
from helix_graph.helix_db import stamp
from helix_graph.insights import feedback, rows
from helix_graph.insights.exposure_log import ExposureContext, ExposureRow, injection_id_of, known_names, write_exposure
from helix_graph.insights.holdout import (
    KNOWN_WITHIN,
    Exposure,
    ExposureCounts,
    HoldoutCandidate,
    count_exposures,
    withhold,
)
from helix_graph.validation import as_str, as_strs, as_tuple
from helix_graph.writability import refusal_of_database

if TYPE_CHECKING:
    import sqlite3

    from helix_graph.insights.context import InsightContext
    from helix_graph.insights.holdout import Fate, HoldoutDraw
    from helix_graph.insights.model import FeedbackEntry, Injection


class HandOverAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What becomes of the insights chosen for one injection; ``id`` is that of the row in the log."""

    id: str
    shown: tuple[str, ...]
    withheld: tuple[str, ...] = ()


def hand_over(  # noqa: PLR0913  (to whom, for what, and what else there was)
    context: InsightContext,
    names: Iterable[str],
    *,
    task: str = "",
    session: str = "",
    about: str = "",
    policy: str = "seed",
    passed_over: Iterable[str] = (),
) -> HandOverAnswer:
    """Notes that these insights are shown to a task or session, and says which of them are to be withheld.

    ``about`` is what was looked for, ``passed_over`` what was relevant and not chosen (`RecallAnswer.passed_over`). The
    same insights shown again for the same are the same injection, with the same random draws. Names that nobody knows
    are shown, and not noted. Where nothing can be written all are shown, and nothing is noted.

    Raises:
        InvalidConfiguration: What ``.helix/config.toml`` says of withholding is not understood.
    """
    given = tuple(dict.fromkeys(as_str("names", name) for name in as_tuple("names", names)))
    exposure = ExposureContext(task=task, session=session, about=about, policy=policy)
    if refusal_of_database(context.path):
        return _answer("", given, ())
    first = context.history.withheld_share() if context.history else 0.0
    with context.database.writing() as connection:
        known = known_names(connection, given)
        at = stamp(context.now())
        identity = injection_id_of(exposure, given, at=at)
        before = next(feedback.read_injections(connection, "id = ?", identity), None)
        if before:  # the draws are those of the first time, whatever this database would draw now
            return _answer(identity, given, {one.name for one in before.withheld})
        draws = _draws(connection, known, injection=identity, first=first) if first else {}
        withheld = {name: one.propensity for name, one in draws.items() if one.withheld}
        if known:
            row = ExposureRow(
                id=identity,
                ts=at,
                task=for_disk(task),
                session=for_disk(session),
                query=for_disk(about),
                shown=[name for name in known if name not in withheld],
                withheld=[{"name": name, "propensity": propensity} for name, propensity in withheld.items()],
                policy=for_disk(policy),
                chances={name: one.propensity for name, one in draws.items() if name not in withheld},
                passed_over=known_names(connection, as_strs("passed_over", passed_over)),
            )
            write_exposure(connection, row)
    return _answer(identity, given, withheld)


def _answer(identity: str, given: Sequence[str], withheld: Collection[str]) -> HandOverAnswer:
    shown = tuple(name for name in given if name not in withheld)
    return HandOverAnswer(id=identity, shown=shown, withheld=tuple(name for name in given if name in withheld))


def showing_of(context: InsightContext, task: str, names: Iterable[str]) -> str:
    """The id of the last injection to a task of these insights or fewer; empty when the log has none.

    Fewer, since one may have been forgotten meanwhile, or all have been withheld.
    """
    given = {as_str("names", name) for name in as_tuple("names", names)}
    with context.database.reading() as connection:
        found = [
            one.id
            for one in feedback.read_injections(connection, f"{feedback.COUNTED} AND task = ?", for_disk(task))
            if given.issuperset(one.shown)
        ]
    return found[-1] if found and task else ""


def _draws(
    connection: sqlite3.Connection, names: Sequence[str], *, injection: str, first: float
) -> dict[str, HoldoutDraw]:
    widths = _known_effects(connection)
    known = {name: rows.named(connection, name) for name in names}
    candidates = [
        HoldoutCandidate(
            insight=stored.insight.uid, tags=stored.insight.tags, half_width=widths.get(stored.insight.uid)
        )
        for stored in known.values()
    ]
    drawn = withhold(candidates, injection=injection, salt=_salt(connection), first=first)
    return dict(zip(known, drawn, strict=True))


#: Fewer feedbacks cannot tell an effect within five points, whatever came of them.
_FIRST_LOOK = 200
#: An interval narrows by a tenth while the log grows by a quarter; so much later is soon enough to withhold less.
_GROWTH = 1.25


def _known_effects(connection: sqlite3.Connection) -> dict[str, float]:
    """Half of the interval's width of each insight whose effect is known, by uid, as of the last look at the log.

    The log is read again only when it has grown by a quarter, so that handing over costs the same however long it is.
    """
    query = "SELECT count(*), effects_of, effects FROM insight_feedback, insight_revision WHERE injection != ''"
    count, looked, effects = connection.execute(query).fetchone()
    if count < max(_FIRST_LOOK, _GROWTH * (looked or 0)):
        return msgspec.json.decode(effects or "{}", type=dict[str, float])
    from helix_graph.insights.uplift import uplift_report

    widths = {}
    for one in uplift_report(exposures(connection)).insights:
        stored = rows.by_name(connection, one.insight or "")
        if stored and one.half_width is not None and one.half_width < KNOWN_WITHIN:
            widths[stored.insight.uid] = one.half_width
    update = "UPDATE insight_revision SET effects_of = ?, effects = ?"
    connection.execute(update, (count, msgspec.json.encode(widths).decode()))
    return widths


def order_by_uplift(
    connection: sqlite3.Connection, relevance: Mapping[int, float], *, about: str, limit: int
) -> list[int]:
    """Rows of insights, ranked by uplift; ``relevance`` is that of each row.

    Raises:
        HelixGraphError: Too few injections have a known outcome, or nothing was withheld to compare with.
    """
    from helix_graph.insights.uplift import RankCandidate, rank_by_uplift, readiness_of, success_rate

    log = exposures(connection)
    ready = readiness_of(log)
    if ready.too_early:
        raise HelixGraphError(
            f"ranking by uplift is not offered yet, {ready.too_early}; "
            "`helix-graph insight uplift` shows what is known so far"
        )
    counts = count_exposures(log)
    stored = {one.name: one for one in rows.by_numbers(connection, relevance)}
    candidates = [
        RankCandidate(
            insight=name,
            relevance=relevance[one.number],
            counts=counts.get(name, ExposureCounts()),
            tags=one.insight.tags,
        )
        for name, one in stored.items()
    ]
    ranked = rank_by_uplift(candidates, injection=about, salt=_salt(connection), base=success_rate(log), places=limit)
    return [stored[one.insight].number for one in ranked]


def _salt(connection: sqlite3.Connection) -> str:
    """A text that this memory keeps for itself."""
    return str(connection.execute("SELECT memory FROM insight_revision").fetchone()[0])


def exposures(connection: sqlite3.Connection) -> list[Exposure]:
    """Every insight of every injection with what became of it; outcomes are those that feedback told."""
    outcomes = {
        entry.injection: entry
        for entry in feedback.read_entries(connection, f"{feedback.COUNTED} AND injection != '' AND kind = 'feedback'")
    }
    return [
        one
        for injection in feedback.read_injections(connection, feedback.COUNTED)
        for one in _of_injection(injection, outcomes.get(injection.id))
    ]


def _of_injection(injection: Injection, entry: FeedbackEntry | None) -> Iterator[Exposure]:
    succeeded = None if entry is None else entry.outcome != "blocked"
    taken = {verdict.name: verdict.taken_up for verdict in entry.verdicts} if entry else {}
    fates: list[tuple[str, Fate, float]] = [
        *((name, "given", injection.chances.get(name, 0.0)) for name in injection.shown),
        *((one.name, "withheld", one.propensity) for one in injection.withheld),
        *((name, "passed over", 0.0) for name in injection.passed_over),
    ]
    for name, fate, propensity in fates:
        yield Exposure(
            insight=name,
            injection=injection.id,
            fate=fate,
            propensity=propensity,
            succeeded=succeeded,
            taken_up=taken.get(name) if fate == "given" else None,
        )
