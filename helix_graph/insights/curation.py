"""Curation by people: editing, muting and removing insights, showing where one comes from, and promoting one.

Promoting turns a proven insight into a line of CLAUDE.md or AGENTS.md, as a diff that a person reads first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from msgspec.structs import replace

from helix_episodes.errors import InvalidArgument, NotFound
from helix_graph.database import ANY_OF, as_list
from helix_graph.errors import WrittenByOthers
from helix_graph.helix_db import stamp
from helix_graph.insights import feedback, rows
from helix_graph.insights.feedback import PerformanceFold
from helix_graph.insights.links import links_of
from helix_graph.insights.maintenance import forget_insights
from helix_graph.insights.maintenance import forget_uids as remove_forgotten
from helix_graph.insights.model import FeedbackEntry, Injection, Insight, InsightLink, Performance, State, StoredInsight
from helix_graph.insights.recall import is_row_proven, proven_rows
from helix_graph.insights.safe_quoting import logged_name_or_quoted, own_or_quoted
from helix_graph.insights.schema import damaged_among, said_by, seed_form
from helix_graph.insights.scoring import (
    LONGEST_CONTENT,
    SHORTEST_CONTENT,
    ScoringSettings,
    causal_adjusted,
    content_length,
)
from helix_graph.insights.storing import clean_content, clean_tags
from helix_graph.managed_block import added_line
from helix_graph.validation import as_datetime, as_int, as_line, as_strs

if TYPE_CHECKING:
    import sqlite3

    from helix_graph.insights.context import InsightContext


_SHOWN_DECIMALS = 3
#: Of a SHA-256: fewer may be those of another file.
_FEWEST_DIGITS = 12


class ChangeAnswer(TypedDict):
    """An insight that a person changed, and what it is now: active, muted or rejected.

    ``said_by`` says of one that no person here wrote, who did.
    """

    name: str
    state: str
    content: str
    tags: list[str]
    said_by: str


class ForgetAnswer(TypedDict):
    """What was removed for good, and how many insights are left."""

    forgotten: list[str]
    remaining: int


def edit(
    context: InsightContext, name: str, content: str | None = None, tags: Iterable[str] | None = None
) -> ChangeAnswer:
    """Gives an insight of this project's own another text or other tags; its name and what came of it stay.

    From then on no other text takes the place of a person's.

    Raises:
        InvalidArgument: The text is shorter than 20 characters or longer than 8,000. The text holds a character that
            nobody can read. There is neither a text nor tags.
        WrittenByOthers: An import brought it, or git or the team's server: it says what its author says.
    """
    if content is None and tags is None:
        raise InvalidArgument(None, "an edit needs content or tags")
    text = None if content is None else clean_content(content)
    if text is not None:
        letters = len(text) if content_length(text) < SHORTEST_CONTENT else max(len(text), SHORTEST_CONTENT)
        as_int("length of the content", letters, lowest=SHORTEST_CONTENT, highest=LONGEST_CONTENT)
    chosen = None if tags is None else clean_tags(tags)
    vectors = context.embed([text]) if text is not None else []
    at = stamp(context.now())
    with context.database.writing() as connection:
        stored = rows.named(connection, name)
        if stored.number in rows.brought(connection):
            raise _others(connection, stored)
        new = stored.insight
        if text is not None:
            new = replace(new, content=text, edited_at=at)
        if chosen is not None:
            new = replace(new, tags=chosen, tagged_at=at)
        rows.update(connection, stored, new)
        for vector, _ in vectors:
            rows.set_vector(connection, stored.number, vector)
        return _changed(connection, stored, new)


def reject(context: InsightContext, name: str, reason: str = "", *, off: bool = False) -> ChangeAnswer:
    """Says that an insight is wrong, so that it is neither recalled nor stored again; ``off`` undoes it."""
    return _set_state(context, name, "active" if off else "rejected", reason)


def mute(context: InsightContext, name: str, *, off: bool = False) -> ChangeAnswer:
    """Keeps an insight from being recalled without calling it wrong; ``off`` undoes it."""
    return _set_state(context, name, "active" if off else "muted", "")


def forget(context: InsightContext, names: Iterable[str]) -> ForgetAnswer:
    """Removes insights for good: texts, vectors, links, and their names in the logs.

    An import does not bring them back; storing the same text again makes a new insight.

    Raises:
        NotFound: There is no insight of one of the names; then nothing is removed.
    """
    given = as_strs("names", names)
    with context.database.writing() as connection:
        stored = {one.number: one for one in (rows.named(connection, name) for name in given)}
        forget_insights(connection, list(stored.values()), at=stamp(context.now()))
        remaining = rows.count(connection)
    context.erase_deleted()
    return ForgetAnswer(forgotten=[one.name for one in stored.values()], remaining=remaining)


def put_edits(context: InsightContext, edited: Iterable[Insight]) -> None:
    """Gives insights, by uid, the texts, tags and states that a person gave them on another machine, with the dates."""
    given = list(edited)
    vectors = dict(zip((one.uid for one in given), context.embed([one.content for one in given]), strict=False))
    with context.database.writing() as connection:
        for one in given:
            stored = rows.by_uid(connection, one.uid)
            if stored is None:
                continue
            new = replace(stored.insight, **{name: getattr(one, name) for name in _EDITED})
            rows.update(connection, stored, new)
            if new.content != stored.insight.content and one.uid in vectors:
                rows.set_vector(connection, stored.number, vectors[one.uid][0])


#: What a person can edit of an insight.
_EDITED = ("content", "edited_at", "tags", "tagged_at", "state", "state_at", "reason")


_UID = re.compile(r"[0-9a-f]{16,64}")


def forget_uids(context: InsightContext, forgotten: dict[str, str]) -> list[str]:
    """Removes insights that were forgotten on another machine, by uid with the dates; the names of those here.

    Raises:
        InvalidArgument: A key is no uid, or its value no date.
    """
    for uid, at in forgotten.items():
        if not _UID.fullmatch(uid) or as_datetime("forgotten", at) is None:
            raise InvalidArgument("forgotten", "must have uids of insights, each with the date of its forgetting")
    with context.database.writing() as connection:
        names = [one.name for one in rows.where(connection, f"uid {ANY_OF} ORDER BY name", as_list(forgotten))]
        uids = {one: at for uid, at in forgotten.items() for one in rows.own_uids(connection, uid)}
        remove_forgotten(connection, uids)
    context.erase_deleted()
    return names


def forget_import(context: InsightContext, import_: str) -> ForgetAnswer:
    """Removes, as `forget` does, the insights that an import brought; what it forgot beforehand may come again.

    ``import_`` is its file's name, or twelve digits or more of the file's SHA-256. What was there before the import
    stays, as it was joined.

    Raises:
        NotFound: No such import brought anything that is still there.
    """
    wanted = as_line("import", import_)
    given = (wanted.rpartition("/")[2] or wanted, _FEWEST_DIGITS)
    of_file = "i.file = ?1 OR (length(?1) >= ?2 AND substr(i.sha256, 1, length(?1)) = ?1)"
    with context.database.writing() as connection:
        query = f"SELECT name FROM insight JOIN insight_import i ON i.id = insight.uid WHERE {of_file} ORDER BY name"  # noqa: S608  (constants)
        names = [name for (name,) in connection.execute(query, given)]
        ids = f"SELECT id FROM insight_import i WHERE {of_file}"  # noqa: S608  (constants)
        freed = connection.execute(f"DELETE FROM insight_forgotten WHERE uid IN ({ids}) RETURNING uid", given)  # noqa: S608
        back = [uid for (uid,) in freed.fetchall()]
        connection.execute(f"DELETE FROM insight_import WHERE id {ANY_OF}", (as_list(back),))  # noqa: S608  (a constant)
    if not names and not back:
        raise NotFound(
            f"no insight that is here came by an import of {wanted!r}; `helix-graph insight why` names files"
        )
    return forget(context, names)


def damaged(context: InsightContext) -> dict[str, bool]:
    """The names of insights whose text is not what was stored, and whether the index still has that."""
    with context.database.reading() as connection:
        found = damaged_among(connection, rows.every_number(connection))
        query = f"SELECT number, name FROM insight WHERE number {ANY_OF} ORDER BY name"  # noqa: S608  (a constant)
        return {name: found[number] is not None for number, name in connection.execute(query, (as_list(found),))}


def restore_damaged(context: InsightContext) -> None:
    """Gives damaged insights the text that the index of words still has, where the digest proves it."""
    with context.database.writing() as connection:
        for number, before in damaged_among(connection, rows.every_number(connection)).items():
            if before is not None:
                rows.restore(connection, number, before)


def why(context: InsightContext, name: str) -> dict[str, Any]:
    """Where an insight comes from, where it was put in, and what followed, step by step."""
    with context.database.reading() as connection:
        stored = rows.named(connection, name)
        own = rows.own_uids(connection, stored.insight.uid)
        names = {one.name for one in rows.where(connection, f"uid {ANY_OF}", as_list(own))}
        entries = list(
            feedback.read_entries(
                connection, f"{feedback.COUNTED} AND (kind = 'decay' OR {feedback.SPEAKS})", as_list(own)
            )
        )
        steps = list(_steps(stored, entries, own=own, settings=context.settings))
        logged = list(feedback.read_injections(connection, feedback.COUNTED))
        shown = [one for one in logged if names & set(one.shown)]
        withheld = [one for one in logged if names & {other.name for other in one.withheld}]
        links = [_shown_link(connection, link) for link in links_of(connection, own)]
        said = said_by(connection, [stored.number]).get(stored.number, "")
        lifetime = feedback.lifetime_of(connection, own)
    standing = stored.standing
    fair = causal_adjusted(
        standing.effectiveness,
        use_count=standing.use_count,
        causal_hits=standing.causal_hits,
        settings=context.settings,
    )
    return {
        **seed_form(stored),
        "_effectiveness": round(fair, _SHOWN_DECIMALS),
        "lifetime": {**lifetime._asdict(), "rate": round(lifetime.rate, _SHOWN_DECIMALS)},
        "state": stored.insight.state,
        "reason": stored.insight.reason,
        "origin": stored.insight.origin,
        "episode": stored.insight.episode,
        "source": stored.insight.source,
        "said_by": said,
        "edited_at": stored.insight.edited_at,
        "took_in": sorted(names - {stored.name}),
        "links": links,
        "injected": [_shown_injection(one) for one in shown],
        "withheld": [_shown_injection(one) for one in withheld],
        "feedback": steps,
    }


def _set_state(context: InsightContext, name: str, state: State, reason: str) -> ChangeAnswer:
    with context.database.writing() as connection:
        stored = rows.named(connection, name)
        new = replace(stored.insight, state=state, reason=clean_content(reason), state_at=stamp(context.now()))
        rows.update(connection, stored, new)
        return _changed(connection, stored, new)


def _others(connection: sqlite3.Connection, stored: StoredInsight) -> WrittenByOthers:
    name = logged_name_or_quoted(stored.name)
    mute = f"hide theirs with `helix-graph insight mute {name}`"
    return WrittenByOthers(
        f"insight {name}",
        said_by=said_by(connection, [stored.number])[stored.number],
        instead=f"Store your own with `helix-graph insight store --content TEXT`, and {mute}",
    )


def _changed(connection: sqlite3.Connection, stored: StoredInsight, new: Insight) -> ChangeAnswer:
    said = said_by(connection, [stored.number]).get(stored.number, "")
    return ChangeAnswer(name=stored.name, state=new.state, content=new.content, tags=list(new.tags), said_by=said)


def _steps(
    stored: StoredInsight, entries: Iterable[FeedbackEntry], *, own: frozenset[str], settings: ScoringSettings
) -> Iterator[dict[str, Any]]:
    """What each entry said of an insight, and the effectiveness after it; entries that changed nothing are left out."""
    fold, standing = PerformanceFold(stored.insight, own, settings), Performance(effectiveness=stored.insight.initial)
    for entry in entries:
        before = standing
        standing = fold.after(standing, entry)
        said = [verdict for verdict in entry.verdicts if verdict.uid in own]
        if said or standing != before:
            yield {
                "ts": entry.ts,
                "id": entry.id,
                "kind": entry.kind,
                "outcome": entry.outcome,
                "causal": any(verdict.causal for verdict in said) if said else None,
                "reason": "; ".join(verdict.reason for verdict in said if verdict.reason),
                "episode": entry.episode,
                "effectiveness": round(standing.effectiveness, _SHOWN_DECIMALS),
            }


def _shown_link(connection: sqlite3.Connection, link: InsightLink) -> dict[str, Any]:
    ends = {end: rows.by_uid(connection, end) for end in (link.insight, link.target) if end}
    names = {end: stored.name if stored else end for end, stored in ends.items()}
    brought = connection.execute("SELECT 1 FROM insight_import WHERE id = ?", (link.id,)).fetchone()
    return {
        "from": names[link.insight],
        "relation": link.relation,
        "to": names.get(link.target, "") or f"{link.node_type}: {link.node_text}",
        "episode": link.episode,
        # By whose hand a link was made that a file brought, only the file says.
        "origin": "imported" if brought else link.origin,
        "score": round(link.score, _SHOWN_DECIMALS),
    }


def _shown_injection(one: Injection) -> dict[str, Any]:
    return {"ts": one.ts, "task": one.task, "session": one.session, "query": one.query, "policy": one.policy}


#: Where agents of most makes look first.
INSTRUCTIONS = "CLAUDE.md"
_MOST_SHOWN = 100
#: Reasons why `promote` shows no diff: the first is no failure.
IS_THERE = "it is there already"
_NOT_PROVEN = (
    "it is not proven: that takes 3 uses, an effectiveness of 0.75, and 2 of your own sessions that took it up and "
    "whose outcome was verified"
)


class Promoted(TypedDict):
    """The diff that would put an insight into a file, and whether it was written.

    ``reason`` says why there is no diff: it is there already, or the insight is not proven.
    """

    name: str
    file: str
    diff: str
    written: bool
    reason: str


def promote(
    context: InsightContext, name: str, file: Path | str = INSTRUCTIONS, *, write: bool = False, anyway: bool = False
) -> Promoted:
    """The diff that adds an insight to a file of instructions; with ``write`` it is applied.

    Proven is an insight that a person provided, or one with three uses or more whose effectiveness, as it counts in
    `recall`, is at least 0.75, and with which two sessions agree: each took it up, and its outcome was verified.
    Neither the session that taught it nor sessions shared through git count. ``anyway`` promotes another one as well.

    Raises:
        InvalidArgument: ``file`` is no file of the project, or behind a link.
    """
    with context.database.reading() as connection:
        stored = rows.named(connection, name)
        said = said_by(connection, [stored.number]).get(stored.number, "")
        proven_here = is_row_proven(
            connection, stored.number, settings=context.settings, episodes=_episodes_of(context)
        )
    line = f"- {own_or_quoted(stored.insight.content, said_by=said)}"
    change = added_line(file, line, memory=context.history.root if context.history else None, option="file")
    path = change.path
    if change.old == change.new:
        return _answer(stored, path, reason=IS_THERE)
    if not (anyway or proven_here):
        return _answer(stored, path, reason=_NOT_PROVEN)
    if write:
        change.write()
    return _answer(stored, path, diff=change.diff, written=write)


def proven(context: InsightContext, limit: int = 5) -> list[dict[str, Any]]:
    """The insights that `promote` would take, those of the greatest effectiveness first, as `get` shows them.

    Raises:
        InvalidArgument: ``limit`` is not within 0 to 100.
    """
    most = as_int("limit", limit, lowest=0, highest=_MOST_SHOWN)
    with context.database.reading() as connection:
        return proven_rows(connection, most, settings=context.settings, episodes=_episodes_of(context))


def _episodes_of(context: InsightContext) -> Path | None:
    """Where the sessions are that may have verified what insights say."""
    return context.history.root / "episodes" if context.history else None


def _answer(stored: StoredInsight, path: Path, *, diff: str = "", written: bool = False, reason: str = "") -> Promoted:
    return Promoted(name=stored.name, file=str(path), diff=diff, written=written, reason=reason)
