"""The thirteen actions of the tool `topics`, which show what there is and maintain it: one function each."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import msgspec

from helix_graph.helix_db import HelixDatabase
from helix_graph.topics import catalogue, maintenance, search, transfer
from helix_graph.topics.fields import hyphened, looked_for, plain, topic_name
from helix_graph.topics.maintenance import Progress
from helix_graph.topics.model import NotGiven, NotTogether, seconds_of
from helix_graph.topics.search import LARGEST_INDEX, since
from helix_graph.topics.transfer import ImportedEntries, import_entries, parse_import
from helix_graph.validation import as_bool, as_choice, as_int

if TYPE_CHECKING:
    from collections.abc import Callable


Action = Literal[
    "list",
    "recent",
    "entries",
    "stats",
    "xref",
    "graph",
    "stale",
    "prune",
    "compact",
    "export",
    "import",
    "reindex",
    "session",
]
ACTIONS: tuple[Action, ...] = get_args(Action)
StatsDetail = Literal["tags", "index"]
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


class TopicsRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What an action is to do, checked as far as that can be without the database."""

    action: Action
    now: datetime
    topic: str = ""
    days: int | None = None
    hours: int | None = None
    detail: StatsDetail | None = None
    index: int | None = None
    matching: str | None = None
    focus: str | None = None
    json: str | None = None
    refresh: bool = False
    apply: bool = False
    force: bool = False


class ActionContext(msgspec.Struct, frozen=True, kw_only=True):
    """Where an action works: on a database, with folders in which sources are looked up, perhaps watched."""

    database: HelixDatabase
    folders: Sequence[Path]
    progress: Progress | None = None


def checked_request(action: str, *, now: datetime, given: dict[str, Any]) -> TopicsRequest:
    """Checks an action and its parameters; ``given`` holds those that are neither None nor False.

    Raises:
        NotOneOf: There is no such action, or no such detail.
        NotTogether: A parameter means nothing to the action.
        NotGiven: It needs one that is not there.
        OutOfRange: A number lies outside its range.
        InvalidTopic: The topic is no name.
        WrongType: One of them is none of its kind.
    """
    kind: Action = as_choice("action", action, ACTIONS)
    for name in given:
        if name not in _TAKES[kind]:
            takes = ", ".join(_TAKES[kind]) or "no parameters"
            raise NotTogether(name, problem=f"means nothing to {kind}, which takes {takes}")
    if kind in _NEEDS and _NEEDS[kind] not in given:
        raise NotGiven(kind, wanted=_NEEDS[kind])
    return TopicsRequest(
        action=kind,
        now=now,
        topic=topic_name("topic", given["topic"]) if "topic" in given else "",
        days=given.get("days"),
        hours=given.get("hours"),
        detail=as_choice("detail", given["detail"], get_args(StatsDetail)) if "detail" in given else None,
        index=as_int("index", given["index"], lowest=0, highest=LARGEST_INDEX) if "index" in given else None,
        matching=looked_for("match_str", given["match_str"]) if "match_str" in given else None,
        focus=_pattern(given["focus"]) if "focus" in given else None,
        json=plain("json", given["json"], longest=_LONGEST_IMPORT) if "json" in given else None,
        refresh=as_bool("refresh", given.get("refresh", False)),
        apply=as_bool("apply", given.get("apply", False)),
        force=as_bool("force", given.get("force", False)),
    )


def run_action(place: ActionContext, what: TopicsRequest) -> Answer:
    """Does it and says what came of it."""
    return _HANDLERS[what.action](place, what)


def _pattern(focus: str) -> str:
    return hyphened(plain("focus", focus, longest=_LONGEST_PATTERN), keep="*?")


def _since(what: TopicsRequest, days: int) -> int:
    """When the span that was asked for begins, or the usual one."""
    begin = since(now=what.now, days=days if what.days is None else what.days, hours=what.hours)
    return seconds_of(what.now) if begin is None else begin


def _list(place: ActionContext, _: TopicsRequest) -> Answer:
    with place.database.reading() as connection:
        return catalogue.listing(connection)


def _recent(place: ActionContext, what: TopicsRequest) -> Answer:
    begin = _since(what, _RECENT_DAYS)
    with place.database.reading() as connection:
        return catalogue.recent(connection, begin)


def _entries(place: ActionContext, what: TopicsRequest) -> Answer:
    with place.database.reading() as connection:
        return search.read(connection, what.topic, index=what.index, matching=what.matching)


def _stats(place: ActionContext, what: TopicsRequest) -> Answer:
    with place.database.reading() as connection:
        return catalogue.stats(connection, place.database.path, detail=what.detail)


def _xref(place: ActionContext, what: TopicsRequest) -> Answer:
    with place.database.reading() as connection:
        return catalogue.xref(connection, what.topic)


def _graph(place: ActionContext, what: TopicsRequest) -> Answer:
    with place.database.reading() as connection:
        return catalogue.graph(connection, what.focus)


def _stale(place: ActionContext, what: TopicsRequest) -> Answer:
    with place.database.reading() as connection:
        return maintenance.stale(connection, place.folders, refresh=what.refresh)


def _prune(place: ActionContext, what: TopicsRequest) -> Answer:
    before, now = _since(what, _PRUNE_DAYS), seconds_of(what.now)
    using = place.database.writing() if what.apply else place.database.reading()
    with using as connection:
        return maintenance.prune(connection, before, apply=what.apply, now=now)


def _compact(place: ActionContext, _: TopicsRequest) -> Answer:
    return maintenance.compact(place.database, place.progress)


def _export(place: ActionContext, _: TopicsRequest) -> Answer:
    with place.database.reading() as connection:
        return transfer.export(connection)


def _import(place: ActionContext, what: TopicsRequest) -> Answer:
    incoming, left_out = parse_import(what.json or "")
    with place.database.writing() as connection:
        done = import_entries(connection, incoming, now=seconds_of(what.now), force=what.force, progress=place.progress)
    return msgspec.structs.replace(done, left_out=(*left_out, *done.left_out))


def _reindex(place: ActionContext, _: TopicsRequest) -> Answer:
    return maintenance.reindex(place.database, place.progress)


def _session(place: ActionContext, _: TopicsRequest) -> Answer:
    with place.database.reading() as connection:
        return catalogue.session_summary(connection)


_HANDLERS: dict[Action, Callable[[ActionContext, TopicsRequest], Answer]] = {
    "list": _list,
    "recent": _recent,
    "entries": _entries,
    "stats": _stats,
    "xref": _xref,
    "graph": _graph,
    "stale": _stale,
    "prune": _prune,
    "compact": _compact,
    "export": _export,
    "import": _import,
    "reindex": _reindex,
    "session": _session,
}
_TAKES: dict[Action, tuple[str, ...]] = {
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
_NEEDS: dict[Action, str] = {"entries": "topic", "xref": "topic", "import": "json"}
