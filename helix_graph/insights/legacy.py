"""The older seed: its helix.db read as records of ours, and its calls as an adapter over the same insights.

The original's later form has a table ``insight``; its older one ``memory`` (trigger, resolution, how often it helped
and failed) and ``memory_edge``. Neither kept a log, so the known performance of an insight becomes one entry of the
log. Its vectors are not read: which model made them is not recorded.

The adapter stores an insight with the text "When TRIGGER: RESOLUTION" and its type as a tag; what helped is a causal
hit, what did not a use without one. Its scoring is the profile ``v1``: 0.5 relevance, 0.3 effectiveness (helped of
all), 0.2 recency (seven days), without a threshold.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

import msgspec
from msgspec.structs import replace

from helix_episodes.light_imports import blake2b
from helix_episodes.safe_files import open_regular
from helix_graph.errors import InvalidImport
from helix_graph.helix_db import parse_stamp, stamp
from helix_graph.insights import storing
from helix_graph.insights.dedup import join_insights
from helix_graph.insights.feedback import FeedbackReport, give_feedback, seed_attribution
from helix_graph.insights.links import new_link
from helix_graph.insights.model import (
    INSIGHT_RELATIONS,
    FeedbackEntry,
    Insight,
    InsightLink,
    InsightVerdict,
    Performance,
)
from helix_graph.insights.recall import recall
from helix_graph.insights.schema import text_digest
from helix_graph.insights.scoring import LONGEST_CONTENT, LONGEST_NAME, LONGEST_SOURCE, LONGEST_TAG, MOST_TAGS, V1
from helix_graph.validation import as_choice, as_str, as_tuple

if TYPE_CHECKING:
    from helix_graph.insights.context import InsightContext


_MAGIC = b"SQLite format 3\0"
#: Of a value in bytes, a hundred times the longest text: a generated column of a small file may fill all of memory.
_LONGEST_VALUE = 1_000_000
#: What has no date comes before everything that has.
_NO_DATE = "0001-01-01T00:00:00.000000Z"
_Row = dict[str, Any]
_Imported = tuple[Insight, Performance]


def is_database(path: Path) -> bool:
    """Whether a file is an SQLite database."""
    try:
        with open_regular(path, follow=True) as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except OSError:
        return False


def unusable(path: Path, problem: str, *, line: int | None = None) -> InvalidImport:
    """That a file cannot be imported; ``line`` counts from 1."""
    where = f"{path}, line {line}" if line else str(path)
    return InvalidImport(
        f"{where}: cannot be imported ({problem}); nothing was changed; correct the file, or export it again"
    )


#: What SQLite works out as it reads, which may take any time: columns, and tables of a module.
_WORKED_OUT = """
SELECT count(*) FROM sqlite_master AS t
WHERE t.type = 'table' AND t.name IN ('insight', 'memory', 'memory_edge') AND (
    t.sql LIKE 'CREATE VIRTUAL%' OR EXISTS (SELECT 1 FROM pragma_table_xinfo(t.name) AS c WHERE c.hidden)
)
"""


def read_legacy_database(path: Path) -> list[Insight | InsightLink | FeedbackEntry]:
    """Everything of the original's database that insights can hold.

    Raises:
        InvalidImport: It has neither table, or cannot be read.
    """
    try:
        with contextlib.closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            connection.row_factory = sqlite3.Row
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST_VALUE)
            connection.execute("PRAGMA trusted_schema = OFF")
            tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            if connection.execute(_WORKED_OUT).fetchone()[0]:
                raise unusable(path, "a table or column of it is worked out, so that the original did not write it")
            if "insight_import" in tables:  # read so, what imports had brought would lose its mark
                raise unusable(
                    path, "it is a memory of helix-graph itself; `insight export` there writes what is read here"
                )
            if "insight" in tables:
                imported = [found for row in _rows(connection, "insight") if (found := _insight(row))]
                return list(_records(imported))
            if "memory" in tables:
                edges = _rows(connection, "memory_edge") if "memory_edge" in tables else []
                return list(_older_form(_rows(connection, "memory"), edges))
    except sqlite3.Error as error:
        raise unusable(path, str(error)) from error
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError) as error:  # columns have no types there
        raise unusable(path, f"a row is not what the original wrote: {error}") from error
    raise unusable(path, "it has neither a table insight nor a table memory")


def _rows(connection: sqlite3.Connection, table: str) -> list[_Row]:
    return [dict(row) for row in connection.execute(f"SELECT * FROM {table} ORDER BY rowid")]  # noqa: S608  (constants)


def _records(told: Iterable[_Imported]) -> Iterator[Insight | FeedbackEntry]:
    """Each insight once with its performance: of rows that tell the same text, uses and hits are added."""
    united: dict[str, _Imported] = {}
    for insight, standing in told:
        if insight.uid in united:
            first, before = united[insight.uid]
            united[insight.uid] = join_insights(first, insight), _added(before, standing)
        else:
            united[insight.uid] = insight, standing
    for insight, standing in united.values():
        yield insight
        yield _performance_entry(insight, standing)


def _added(one: Performance, other: Performance) -> Performance:
    """The performances of one text: what was counted is added, effectiveness weighed by uses."""
    uses = one.use_count + other.use_count
    weighed = one.effectiveness * one.use_count + other.effectiveness * other.use_count
    return Performance(
        effectiveness=weighed / uses if uses else max(one.effectiveness, other.effectiveness),
        use_count=uses,
        causal_hits=one.causal_hits + other.causal_hits,
        last_used=max(one.last_used or "", other.last_used or "") or None,
        last_feedback_at=max(one.last_feedback_at or "", other.last_feedback_at or "") or None,
    )


def _insight(row: _Row) -> _Imported | None:
    content = _plain(row.get("content"))[:LONGEST_CONTENT].strip()
    if not content:
        return None
    insight = _imported(row, content, tags=_tags(row.get("tags")))
    effectiveness = row.get("effectiveness")
    standing = Performance(
        effectiveness=min(1.0, max(0.0, float(0.5 if effectiveness is None else effectiveness))),
        use_count=int(row.get("use_count") or 0),
        causal_hits=int(row.get("causal_hits") or 0),
        last_used=_date(row.get("last_used")),
        last_feedback_at=_date(row.get("last_feedback_at")),
    )
    return insight, standing


def _imported(row: _Row, content: str, *, tags: tuple[str, ...]) -> Insight:
    name = storing.clean_name(_plain(str(row["name"])))[:LONGEST_NAME] or f"insight-{text_digest(str(row['name']))[:8]}"
    created_at = _date(row.get("created_at")) or _NO_DATE
    return Insight(
        uid=text_digest(content), slug=name, content=content, created_at=created_at, tags=tags, origin="imported"
    )


def _older_form(memories: list[_Row], edges: list[_Row]) -> Iterator[Insight | InsightLink | FeedbackEntry]:
    told = {str(row["name"]): _memory(row) for row in memories}
    yield from _records(told.values())
    uids = {name: insight.uid for name, (insight, _) in told.items()}
    for edge in edges:
        start, end = uids.get(edge["from_name"]), uids.get(edge["to_name"])
        if start and end and start != end and edge["rel_type"] in INSIGHT_RELATIONS:
            yield new_link(
                start,
                edge["rel_type"],
                target=end,
                score=min(1.0, max(0.0, float(edge["weight"]))),
                at=_date(edge.get("created_at")) or _NO_DATE,
            )


def _memory(row: _Row) -> _Imported:
    told = {key: _plain(row.get(key)) for key in ("trigger", "resolution", "type")}
    content = legacy_text(told["trigger"], told["resolution"])[:LONGEST_CONTENT].strip()
    source = storing.clean_line(_plain(row.get("source")))[:LONGEST_SOURCE]
    insight = replace(_imported(row, content, tags=_tags_of([told["type"]])), source=source, told=told)
    helped, failed = int(row.get("helped") or 0), int(row.get("failed") or 0)
    standing = Performance(
        effectiveness=helped / (helped + failed) if helped + failed else 0.5,
        use_count=helped + failed,
        causal_hits=helped,
        last_used=_date(row.get("last_used")),
    )
    return insight, standing


def legacy_text(trigger: str, resolution: str) -> str:
    """A trigger and its resolution as one text.

    >>> legacy_text("circular import in models", "move the shared types")
    'When circular import in models: move the shared types'
    """
    return f"When {trigger.strip()}: {resolution.strip()}"


def _performance_entry(insight: Insight, standing: Performance) -> FeedbackEntry:
    """The performance as an entry. Its id follows from it, so that the same file can be read again."""
    plain = msgspec.json.encode((insight.uid, standing))
    return FeedbackEntry(
        id=f"given-{blake2b(plain, digest_size=16).hexdigest()}",
        ts=standing.last_used or insight.created_at,
        kind="given",
        names=(insight.slug,),
        verdicts=(
            InsightVerdict(uid=insight.uid, name=insight.slug, causal=False, reason="taken over from the original"),
        ),
        policy="imported",
        standing=standing,
    )


def _plain(value: object) -> str:
    """A text of the original, which let anything in: characters that nobody can read become blanks."""
    text = value if isinstance(value, str) else ""
    return storing.clean_content("".join(one if one.isprintable() or one in "\n\t" else " " for one in text))


def _date(value: object) -> str | None:
    moment = parse_stamp(value if isinstance(value, str) else None)
    return None if moment is None else stamp(moment)


def _tags(value: object) -> tuple[str, ...]:
    """Tags of the original, which took anything: what is not a list of texts is none."""
    with contextlib.suppress(msgspec.DecodeError):
        found = msgspec.json.decode(value) if isinstance(value, str) else None
        if isinstance(found, list):
            return _tags_of(found)
    return ()


def _tags_of(found: list[object]) -> tuple[str, ...]:
    plain = (storing.clean_line(_plain(one))[:LONGEST_TAG].strip() for one in found)
    return storing.clean_tags(sorted({one for one in plain if one})[:MOST_TAGS])


TYPES = ("failure", "pattern")
_SHORTEST_TRIGGER = 10


class LegacyFeedback(TypedDict):
    """How many of the injected helped, how many did not, and which are not known."""

    helped: int
    unhelpful: int
    missing: list[str]


class LegacyInsights:
    """``store``, ``recall`` and ``feedback`` with the signatures of the older seed."""

    def __init__(self, context: InsightContext) -> None:
        self._context = context.scored_by(V1)

    def store(self, trigger: str, resolution: str, type: str = "failure", source: str = "") -> storing.StoreAnswer:  # noqa: A002  (the seed's name)
        """Remembers what to do (``resolution``) in a situation (``trigger``); ``type`` is failure or pattern.

        Rejected are triggers of fewer than 10 characters, empty resolutions and other types.
        """
        if type not in TYPES:
            return storing.rejected("type must be failure or pattern")
        told = {
            "trigger": storing.clean_content(trigger),
            "resolution": storing.clean_content(resolution),
            "type": type,
        }
        if len(told["trigger"]) < _SHORTEST_TRIGGER:
            return storing.rejected("trigger too short")
        if not told["resolution"]:
            return storing.rejected("resolution empty")
        content = legacy_text(told["trigger"], told["resolution"])
        return storing.put(
            self._context,
            storing.InsightDraft(content=content, tags=(type,), source=storing.clean_source(source), told=told),
        )

    def recall(
        self,
        query: str,
        type: str | None = None,  # noqa: A002  (the seed's name)
        limit: int = 5,
        min_effectiveness: float = 0.0,
    ) -> list[dict[str, Any]]:
        """The memories that bear on a query, the best first, of one type if given.

        Raises:
            InvalidArgument: There is nothing in the query. There is no such type. ``limit`` is not within 0 to 100, or
                ``min_effectiveness`` not within 0 to 1.
        """
        tag = "" if type is None else as_choice("type", type, TYPES)
        return [_as_memory(hit) for hit in recall(self._context, query, limit, min_effectiveness, tag=tag)]

    def feedback(self, utilized: Iterable[str], injected: Iterable[str]) -> LegacyFeedback:
        """Says which of the injected memories were of use; the others count as unhelpful."""
        shown = tuple(as_str("names", name) for name in as_tuple("injected", injected))
        attribution = seed_attribution(shown, as_tuple("utilized", utilized))
        report = FeedbackReport(names=shown, outcome="delivered", attribution=attribution, policy="v1")
        answer = give_feedback(self._context, report)
        return LegacyFeedback(helped=answer["causal"], unhelpful=answer["eroded"], missing=answer["missing"])


def _as_memory(hit: dict[str, Any]) -> dict[str, Any]:
    """A hit with the keys of the older form; an insight told in another form is a pattern without a trigger."""
    told = hit.pop("_told")
    helped, uses = hit.pop("causal_hits"), hit.pop("use_count")
    return {
        **hit,
        "type": told.get("type", "pattern"),
        "trigger": told.get("trigger", hit["content"]),
        "resolution": told.get("resolution", ""),
        "helped": helped,
        "failed": uses - helped,
    }
