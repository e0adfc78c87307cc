"""The thirteen actions of the tool `topics`, which show what there is and maintain it: one function each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import msgspec

from helix_episodes.errors import InvalidArgument
from helix_graph.helix_db import HelixDatabase
from helix_graph.timestamps import AHEAD, seconds_of
from helix_graph.topics import catalogue, maintenance, search, transfer
from helix_graph.topics.choices import LARGEST_INDEX, StatsDetail, TopicsAction
from helix_graph.topics.fields import hyphened, looked_for, plain, topic_name
from helix_graph.topics.maintenance import Progress
from helix_graph.topics.search import since as moments_ago
from helix_graph.topics.transfer import ImportedEntries, import_entries, parse_import
from helix_graph.validation import as_bool, as_choice, as_int

if TYPE_CHECKING:
    import sqlite3


ACTIONS: tuple[TopicsAction, ...] = get_args(TopicsAction)
Answer = (
    catalogue.Listing
    | catalogue.Recent
    | catalogue.Stats
    | catalogue.TopicSession
    | search.ReadAnswer
    | catalogue.CrossReferences
    | catalogue.TopicGraph
    | maintenance.StaleAnswer
    | maintenance.PrunedEntries
    | maintenance.CompactedLog
    | maintenance.ReindexedEntries
    | transfer.TopicsExport
    | ImportedEntries
)
_RECENT_DAYS = 7
_PRUNE_DAYS = 30
_LONGEST_PATTERN = 1_000
#: A hundred thousand entries are some 50 MB.
_LONGEST_IMPORT = 500_000_000


_TAKES: dict[TopicsAction, tuple[str, ...]] = {
    "list": (),
    "recent": ("days", "hours"),
    "entries": ("topic", "index", "match_str"),
    "stats": ("detail",),
    "xref": ("topic",),
    "graph": ("focus",),
    "stale": ("refresh",),
    "prune": ("days", "apply"),
    "compact": (),
    "export": (),
    "import": ("json", "force"),
    "reindex": (),
    "session": (),
}
_NEEDS: dict[TopicsAction, str] = {"entries": "topic", "xref": "topic", "import": "json"}


class ActionContext(msgspec.Struct, frozen=True, kw_only=True):
    """What an action works with: a database, folders in which sources are looked up, and perhaps an observer."""

    database: HelixDatabase
    folders: Sequence[Path]
    now: datetime
    progress: Progress | None = None


def run_action(context: ActionContext, action: str, parameters: Mapping[str, Any]) -> Answer:
    """Checks an action and its parameters, those that are neither None nor False, and runs it.

    Raises:
        InvalidArgument: There is no such action, or no such detail. A parameter means nothing to the action; it needs
            one that is not there; the topic is no name. A number lies outside its range.
    """
    kind: TopicsAction = as_choice("action", action, ACTIONS)
    for name in parameters:
        if name not in _TAKES[kind]:
            takes = ", ".join(_TAKES[kind]) or "no parameters"
            raise InvalidArgument(name, f"means nothing to {kind}, which takes {takes}")
    if kind in _NEEDS and _NEEDS[kind] not in parameters:
        raise InvalidArgument(None, f"{kind} needs {_NEEDS[kind]}")
    checked = {name: _CHECKS[name](value) if name in _CHECKS else value for name, value in parameters.items()}
    return _run(context, kind, checked)


_CHECKS: dict[str, Callable[[Any], Any]] = {
    "topic": lambda value: topic_name("topic", value),
    "detail": lambda value: as_choice("detail", value, get_args(StatsDetail)),
    "index": lambda value: as_int("index", value, lowest=0, highest=LARGEST_INDEX),
    "match_str": lambda value: looked_for("match_str", value),
    "focus": lambda value: hyphened(plain("focus", value, longest=_LONGEST_PATTERN), keep="*?"),
    "json": lambda value: plain("json", value, longest=_LONGEST_IMPORT),
    "apply": lambda value: as_bool("apply", value),
}


def _run(context: ActionContext, action: TopicsAction, parameters: Mapping[str, Any]) -> Answer:
    database, now = context.database, seconds_of(context.now)
    match action:
        case "compact":
            return maintenance.compact(database, context.progress)
        case "reindex":
            return maintenance.reindex(database, context.progress)
        case "import":
            incoming, left_out = parse_import(parameters["json"], latest=context.now + AHEAD)
            force = parameters.get("force", False)
            with database.writing() as connection:
                done = import_entries(connection, incoming, now=now, force=force, progress=context.progress)
            return msgspec.structs.replace(done, left_out=(*left_out, *done.left_out))
        case "prune":
            before, apply = _since(context.now, parameters, _PRUNE_DAYS), parameters.get("apply", False)
            with database.writing() if apply else database.reading() as connection:
                return maintenance.prune(connection, before, apply=apply, now=now)
        case _:
            begin = _since(context.now, parameters, _RECENT_DAYS)
            with database.reading() as connection:
                return _read(context, connection, action, parameters, since=begin)


def _read(
    context: ActionContext,
    connection: sqlite3.Connection,
    action: TopicsAction,
    parameters: Mapping[str, Any],
    *,
    since: int,
) -> Answer:
    answers: dict[TopicsAction, Callable[[], Answer]] = {
        "list": lambda: catalogue.listing(connection),
        "recent": lambda: catalogue.recent(connection, since),
        "stats": lambda: catalogue.stats(connection, context.database.path, detail=parameters.get("detail")),
        "xref": lambda: catalogue.xref(connection, parameters["topic"]),
        "graph": lambda: catalogue.graph(connection, parameters.get("focus")),
        "session": lambda: catalogue.session_summary(connection),
        "stale": lambda: maintenance.stale(connection, context.folders, refresh=parameters.get("refresh", False)),
        "export": lambda: transfer.export(connection),
        "entries": lambda: search.read(
            connection, parameters["topic"], index=parameters.get("index"), matching=parameters.get("match_str")
        ),
    }
    return answers[action]()


def _since(now: datetime, parameters: Mapping[str, Any], days: int) -> int:
    """When the span that was asked for begins, or the usual one."""
    begin = moments_ago(now=now, days=parameters.get("days", days), hours=parameters.get("hours"))
    return seconds_of(now) if begin is None else begin
