"""People stay in charge: mending, silencing and removing insights, and asking where one comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

from msgspec.structs import replace

from helix_graph.database import ANY_OF, as_list
from helix_graph.errors import OutOfRange
from helix_graph.given import query, several
from helix_graph.insights import log, rows
from helix_graph.insights.clock import stamp
from helix_graph.insights.fold import after
from helix_graph.insights.forgetting import drop
from helix_graph.insights.links import links_of
from helix_graph.insights.model import Standing
from helix_graph.insights.room import Room
from helix_graph.insights.scoring import causal_adjusted
from helix_graph.insights.seed_form import public
from helix_graph.insights.settings import LONGEST, SHORTEST
from helix_graph.insights.store import clean_content, clean_tags

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator

    from helix_graph.insights.model import Entry, Injection, Insight, Kept, Link, State
    from helix_graph.insights.settings import Settings

_SHOWN_DECIMALS = 3


class Changed(TypedDict):
    """An insight that a person changed, and what it is now: active, muted or rejected."""

    name: str
    state: str
    content: str
    tags: list[str]


class Forgotten(TypedDict):
    """What was removed for good, and how many insights are left."""

    forgotten: list[str]
    remaining: int


class ByPeople(Room):
    """The part of `Insights` in which a person has the last word."""

    def edit(self, name: str, content: str | None = None, tags: Iterable[str] | None = None) -> Changed:
        """Gives an insight another text or other tags; its name and what is known of how it did stay.

        From then on no other text takes the place of a person's.

        Raises:
            InsightNotFound: There is no insight of that name.
            OutOfRange: The text is shorter than 20 characters or longer than 8,000.
            ControlCharacter: The text holds a character that nobody can read.
        """
        text = None if content is None else _long_enough(clean_content(content))
        chosen = None if tags is None else clean_tags(tags)
        vectors = self._embed([text]) if text is not None else []
        at = stamp(self._clock())
        with self._database.writing() as connection:
            kept = self._named(connection, query("name", name))
            new = kept.insight
            if text is not None:
                new = replace(new, content=text, edited_at=at)
            if chosen is not None:
                new = replace(new, tags=chosen, tagged_at=at)
            rows.update(connection, kept, new)
            for vector, _ in vectors:
                rows.set_vector(connection, kept.number, model=vector.model, vector=vector.blob)
        return _changed(kept.name, new)

    def reject(self, name: str, reason: str = "", *, off: bool = False) -> Changed:
        """Says that an insight is wrong, so that it is neither recalled nor stored again; ``off`` undoes it.

        Raises:
            InsightNotFound: There is no insight of that name.
        """
        return self._set_state(name, "active" if off else "rejected", reason)

    def mute(self, name: str, *, off: bool = False) -> Changed:
        """Keeps an insight from being recalled without calling it wrong; ``off`` undoes it.

        Raises:
            InsightNotFound: There is no insight of that name.
        """
        return self._set_state(name, "active" if off else "muted", "")

    def forget(self, names: Iterable[str]) -> Forgotten:
        """Removes insights for good: texts, vectors, links, and their names in the logs.

        An import does not bring them back; storing the same text again makes a new insight.

        Raises:
            InsightNotFound: There is no insight of one of the names; then nothing is removed.
        """
        given = [query("names", name) for name in several("names", names)]
        with self._database.writing() as connection:
            kept = {one.number: one for one in (self._named(connection, name) for name in given)}
            drop(connection, list(kept.values()), at=stamp(self._clock()))
            connection.execute("INSERT INTO insight_text (insight_text) VALUES ('optimize')")
            remaining = connection.execute("SELECT count(*) FROM insight WHERE state != 'merged'").fetchone()[0]
        self._erase()
        return Forgotten(forgotten=[one.name for one in kept.values()], remaining=remaining)

    def why(self, name: str) -> dict[str, Any]:
        """Where an insight comes from, where it was put in, and what followed, step by step.

        Raises:
            InsightNotFound: There is no insight of that name.
        """
        with self._database.reading() as connection:
            kept = self._named(connection, query("name", name))
            own = rows.own_uids(connection, kept.insight.uid)
            names = {one.name for one in rows.where(connection, f"uid {ANY_OF}", as_list(own))}
            entries = list(log.entries(connection, f"kind = 'decay' OR {log.SPEAKS}", as_list(own)))
            steps = list(_steps(kept, entries, own=own, settings=self.settings))
            shown = [one for one in log.injections(connection) if names & set(one.shown)]
            held = [one for one in log.injections(connection) if names & {other.name for other in one.withheld}]
            links = [_shown_link(connection, link) for link in links_of(connection, own)]
        standing = kept.standing
        fair = causal_adjusted(
            standing.effectiveness,
            use_count=standing.use_count,
            causal_hits=standing.causal_hits,
            settings=self.settings,
        )
        return {
            **public(kept),
            "_effectiveness": round(fair, _SHOWN_DECIMALS),
            "state": kept.insight.state,
            "reason": kept.insight.reason,
            "origin": kept.insight.origin,
            "episode": kept.insight.episode,
            "source": kept.insight.source,
            "edited_at": kept.insight.edited_at,
            "took_in": sorted(names - {kept.name}),
            "links": links,
            "injected": [_shown_injection(one) for one in shown],
            "withheld": [_shown_injection(one) for one in held],
            "feedback": steps,
        }

    def _set_state(self, name: str, state: State, reason: str) -> Changed:
        with self._database.writing() as connection:
            kept = self._named(connection, query("name", name))
            new = replace(kept.insight, state=state, reason=clean_content(reason), state_at=stamp(self._clock()))
            rows.update(connection, kept, new)
        return _changed(kept.name, new)


def _long_enough(content: str) -> str:
    if not SHORTEST <= len(content) <= LONGEST:
        option = "length of the content"
        raise OutOfRange(option, value=len(content), lowest=SHORTEST, highest=LONGEST)
    return content


def _changed(name: str, insight: Insight) -> Changed:
    return Changed(name=name, state=insight.state, content=insight.content, tags=list(insight.tags))


def _steps(
    kept: Kept, entries: Iterable[Entry], *, own: frozenset[str], settings: Settings
) -> Iterator[dict[str, Any]]:
    """What each entry said of an insight, and the effectiveness after it; entries that changed nothing are left out."""
    standing = Standing(effectiveness=kept.insight.initial)
    for entry in entries:
        before = standing
        standing = after(standing, entry, own=own, since=kept.insight.created_at, settings=settings)
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


def _shown_link(connection: sqlite3.Connection, link: Link) -> dict[str, Any]:
    ends = {end: rows.by_uid(connection, end) for end in (link.insight, link.target) if end}
    names = {end: kept.name if kept else end for end, kept in ends.items()}
    return {
        "from": names[link.insight],
        "relation": link.relation,
        "to": names.get(link.target, "") or f"{link.node_type}: {link.node_text}",
        "episode": link.episode,
        "origin": link.origin,
        "score": round(link.score, _SHOWN_DECIMALS),
    }


def _shown_injection(one: Injection) -> dict[str, Any]:
    return {"ts": one.ts, "task": one.task, "session": one.session, "query": one.query, "policy": one.policy}
