"""`topics`: thirteen ways to look at what there is, and to keep it in order. Each is a function of what was asked."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import msgspec

from helix_graph.given import flag, one_of, whole
from helix_graph.helix_db import HelixDatabase
from helix_graph.topics import catalogue, read, references, stale, transfer, upkeep
from helix_graph.topics.errors import NotGiven, NotTogether
from helix_graph.topics.importing import Imported, parse, take_in
from helix_graph.topics.model import seconds_of
from helix_graph.topics.periods import since
from helix_graph.topics.search import LARGEST_INDEX
from helix_graph.topics.texts import hyphened, looked_for, plain, topic_name
from helix_graph.topics.upkeep import Progress

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
    | catalogue.Session
    | read.ReadAnswer
    | references.CrossReferences
    | references.TopicGraph
    | stale.StaleAnswer
    | upkeep.Pruned
    | upkeep.Compacted
    | upkeep.Reindexed
    | transfer.Export
    | Imported
)
_RECENT_DAYS = 7
_PRUNE_DAYS = 30
_LONGEST_PATTERN = 1_000
#: A hundred thousand entries are some 50 MB.
_LONGEST_IMPORT = 500_000_000


class Asked(msgspec.Struct, frozen=True, kw_only=True):
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


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """Where an action works: on a database, with folders in which sources are looked up, perhaps watched."""

    database: HelixDatabase
    folders: Sequence[Path]
    progress: Progress | None = None


def asked(action: str, *, now: datetime, given: dict[str, Any]) -> Asked:
    """Checks an action and its parameters; ``given`` holds those that are neither None nor False.

    Raises:
        NotOneOf: There is no such action, or no such detail.
        NotTogether: A parameter means nothing to the action.
        NotGiven: It needs one that is not there.
        OutOfRange: A number lies outside its range.
        InvalidTopic: The topic is no name.
        WrongType: One of them is none of its kind.
    """
    kind: Action = one_of("action", action, ACTIONS)
    for name in given:
        if name not in _TAKES[kind]:
            takes = ", ".join(_TAKES[kind]) or "no parameters"
            raise NotTogether(name, problem=f"means nothing to {kind}, which takes {takes}")
    if kind in _NEEDS and _NEEDS[kind] not in given:
        raise NotGiven(kind, wanted=_NEEDS[kind])
    return Asked(
        action=kind,
        now=now,
        topic=topic_name("topic", given["topic"]) if "topic" in given else "",
        days=given.get("days"),
        hours=given.get("hours"),
        detail=one_of("detail", given["detail"], get_args(StatsDetail)) if "detail" in given else None,
        index=whole("index", given["index"], lowest=0, highest=LARGEST_INDEX) if "index" in given else None,
        matching=looked_for("match_str", given["match_str"]) if "match_str" in given else None,
        focus=_pattern(given["focus"]) if "focus" in given else None,
        json=plain("json", given["json"], longest=_LONGEST_IMPORT) if "json" in given else None,
        refresh=flag("refresh", given.get("refresh", False)),
        apply=flag("apply", given.get("apply", False)),
        force=flag("force", given.get("force", False)),
    )


def carry_out(place: Place, what: Asked) -> Answer:
    """Does it and says what came of it."""
    return _DEEDS[what.action](place, what)


def _pattern(focus: str) -> str:
    return hyphened(plain("focus", focus, longest=_LONGEST_PATTERN), keep="*?")


def _since(what: Asked, days: int) -> int:
    """When the span that was asked for begins, or the usual one."""
    begin = since(now=what.now, days=days if what.days is None else what.days, hours=what.hours)
    return seconds_of(what.now) if begin is None else begin


def _list(place: Place, _: Asked) -> Answer:
    with place.database.reading() as connection:
        return catalogue.listing(connection)


def _recent(place: Place, what: Asked) -> Answer:
    begin = _since(what, _RECENT_DAYS)
    with place.database.reading() as connection:
        return catalogue.recent(connection, begin)


def _entries(place: Place, what: Asked) -> Answer:
    with place.database.reading() as connection:
        return read.read(connection, what.topic, index=what.index, matching=what.matching)


def _stats(place: Place, what: Asked) -> Answer:
    with place.database.reading() as connection:
        return catalogue.stats(connection, place.database.path, detail=what.detail)


def _xref(place: Place, what: Asked) -> Answer:
    with place.database.reading() as connection:
        return references.xref(connection, what.topic)


def _graph(place: Place, what: Asked) -> Answer:
    with place.database.reading() as connection:
        return references.graph(connection, what.focus)


def _stale(place: Place, what: Asked) -> Answer:
    with place.database.reading() as connection:
        return stale.stale(connection, place.folders, refresh=what.refresh)


def _prune(place: Place, what: Asked) -> Answer:
    before, now = _since(what, _PRUNE_DAYS), seconds_of(what.now)
    using = place.database.writing() if what.apply else place.database.reading()
    with using as connection:
        return upkeep.prune(connection, before, apply=what.apply, now=now)


def _compact(place: Place, _: Asked) -> Answer:
    return upkeep.compact(place.database, place.progress)


def _export(place: Place, _: Asked) -> Answer:
    with place.database.reading() as connection:
        return transfer.export(connection)


def _import(place: Place, what: Asked) -> Answer:
    incoming, left_out = parse(what.json or "")
    with place.database.writing() as connection:
        done = take_in(connection, incoming, now=seconds_of(what.now), force=what.force, progress=place.progress)
    return msgspec.structs.replace(done, left_out=(*left_out, *done.left_out))


def _reindex(place: Place, _: Asked) -> Answer:
    return upkeep.reindex(place.database, place.progress)


def _session(place: Place, _: Asked) -> Answer:
    with place.database.reading() as connection:
        return catalogue.session(connection)


_DEEDS: dict[Action, Callable[[Place, Asked], Answer]] = {
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
