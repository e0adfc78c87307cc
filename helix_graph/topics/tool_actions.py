"""What the tools `edit` and `topics` do: six ways to change an entry, and thirteen to show and maintain what there is.

Every edit appends: the new record of an entry and a tombstone for the old one, in one transaction. The entry keeps its
id and its place, and an edit of its text keeps tags, source, confidence and links. Each action of `topics` is one
function.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import msgspec
from msgspec.structs import replace

from helix_episodes.errors import InvalidArgument
from helix_episodes.model import AHEAD
from helix_graph.errors import WrittenByOthers
from helix_graph.helix_db import HelixDatabase, seconds_of
from helix_graph.topics import catalogue, maintenance, search, transfer
from helix_graph.topics.choices import LARGEST_INDEX, EditAction, StatsDetail, TopicsAction
from helix_graph.topics.entry_log import at, known_topic, no_entry, of_topic, shown, size_of
from helix_graph.topics.fields import LONGEST_TEXT, MOST_TAGS, check_size, hyphened, looked_for, plain, topic_name
from helix_graph.topics.maintenance import Progress
from helix_graph.topics.model import Entry
from helix_graph.topics.search import since as moments_ago
from helix_graph.topics.storing import bury_entry, move_entry, rewrite_entry
from helix_graph.topics.transfer import ImportedEntries, import_entries, parse_import
from helix_graph.validation import as_bool, as_choice, as_int

if TYPE_CHECKING:
    import sqlite3

    from helix_graph.topics.entry_log import EntryRecord, NumberedRecord


EDITS: tuple[EditAction, ...] = get_args(EditAction)


class EditRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be done to which entry, under the names of the tool's parameters; each action takes its own.

    The entry is the one at ``index``, the first that contains ``match_str``, the last that has ``tag``, or the last.
    """

    action: EditAction
    topic: str
    text: str | None = None
    index: int | None = None
    match_str: str | None = None
    tag: str | None = None
    tags: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()
    all: bool = False
    new_name: str | None = None
    into: str | None = None

    @property
    def target(self) -> str:
        """How the entry is found, in words."""
        if self.index is not None:
            return f"[{self.index}]"
        if self.match_str is not None:
            return f'matching "{self.match_str}"'
        return "last" if self.tag is None else f'with tag "{self.tag}"'


class Edited(msgspec.Struct, frozen=True, kw_only=True):
    """What `edit` answers.

    ``entry`` is the entry as it now is, or as it was when it was deleted; None where a whole topic was changed.
    ``entries`` is how many were, ``target`` how the entry was found, ``into`` the topic's new name or the one that
    took it in.
    """

    action: EditAction
    topic: str
    entries: int
    entry: Entry | None
    target: str | None
    into: str | None


def edit(
    connection: sqlite3.Connection, request: EditRequest, *, now: int, others: frozenset[int] = frozenset()
) -> Edited:
    """Carries an edit out; ``others`` are the entries that somebody else wrote, which get no other words.

    Raises:
        NotFound: There is no such topic, or none of the name to merge into. No entry of the topic is the one that was
            meant.
        InvalidArgument: The topic to rename to is there already, or a topic was to be merged into itself. The entry
            would become too long, or get too many tags.
        WrittenByOthers: The entry that would get other words or tags is somebody else's.
    """
    action, topic = request.action, request.topic
    known_topic(connection, topic)
    if action in {"rename", "merge"}:
        return _move_topic(connection, request, now=now)
    if action == "delete" and request.all:
        gone = of_topic(connection, topic)
        for one in gone:
            bury_entry(connection, one, now=now)
        return Edited(action="delete", topic=topic, entries=len(gone), entry=None, target="all", into=None)
    found = _find(connection, request)
    if action == "delete":
        (entry,) = shown(connection, [found])
        bury_entry(connection, found, now=now)
    elif found.record.entry in others:
        raise WrittenByOthers(
            f"that entry of {topic}",
            said_by="it came through git or the team's server",
            instead="Store your own with `topic store`; `topic edit delete` removes theirs here",
        )
    else:
        new = rewrite_entry(connection, found, _changed(found.record, request, now=now), now=now)
        (entry,) = shown(connection, [new])
    return Edited(action=action, topic=topic, entries=1, entry=entry, target=request.target, into=None)


def _changed(record: EntryRecord, request: EditRequest, *, now: int) -> EntryRecord:
    if request.action == "tag":
        tags = tuple(sorted({*record.tags, *request.tags} - set(request.remove)))
        check_size("tags", len(tags), largest=MOST_TAGS, unit="tags")
        return replace(record, tags=tags)
    text = request.text or ""
    if request.action == "append":
        joined = f"{record.text}\n{text}"
        check_size("text", len(joined), largest=LONGEST_TEXT, unit="characters with what is there")
        return replace(record, text=joined)
    return replace(record, text=text, modified=max(now, record.stored))


def _find(connection: sqlite3.Connection, request: EditRequest) -> NumberedRecord:
    """The entry that is meant: at the index, the first that holds the text, the last that has the tag, or the last."""
    topic, size = request.topic, size_of(connection, request.topic)
    if request.index is not None:
        return at(connection, topic, request.index)
    if request.match_str is not None:
        wanted = request.match_str.casefold()
        found = (one for one in of_topic(connection, topic) if wanted in one.record.text.casefold())
        problem = f'no entry matching "{request.match_str}"'
    elif request.tag is not None:
        found = (one for one in reversed(of_topic(connection, topic)) if request.tag in one.record.tags)
        problem = f'no entry with tag "{request.tag}"'
    else:
        return at(connection, topic, size - 1)
    entry = next(found, None)
    if entry is None:
        raise no_entry(problem, topic, entries=size)
    return entry


def _move_topic(connection: sqlite3.Connection, request: EditRequest, *, now: int) -> Edited:
    """A renamed topic's entries keep their places; merged ones come behind those that are there."""
    action, topic = request.action, request.topic
    goal = (request.new_name if action == "rename" else request.into) or ""
    if goal == topic:
        raise InvalidArgument("new_name" if action == "rename" else "into", f"is {topic}, the topic itself")
    if action == "merge":
        known_topic(connection, goal)
    elif size_of(connection, goal):
        raise InvalidArgument("new_name", f"is {goal}, which is there already; merge {topic} into it instead")
    moved = of_topic(connection, topic)
    for one in moved:
        move_entry(connection, one, topic=goal, keep_place=action == "rename", now=now)
    return Edited(action=action, topic=topic, entries=len(moved), entry=None, target=None, into=goal)


def check(request: EditRequest) -> None:
    """Whether these parameters go together.

    Raises:
        InvalidArgument: The action needs one that is not there; one means nothing to this action, or several
            name an entry.
    """
    action = request.action
    optional = {field.name: field.default for field in msgspec.structs.fields(EditRequest) if not field.required}
    named = [name for name, default in optional.items() if getattr(request, name) != default]
    for name in named:
        if name not in _EDIT_TAKES[action]:
            raise InvalidArgument(name, f"means nothing to {action}; it takes {', '.join(_EDIT_TAKES[action])}")
    targets = [name for name in named if name in {"index", "match_str", "tag", "all"}]
    if len(targets) > 1:
        raise InvalidArgument(targets[0], f"and {targets[1]} name an entry each; give one of them")
    missing = [wanted for wanted in _EDIT_NEEDS[action] if not set(wanted) & set(named)]
    if missing:
        raise InvalidArgument(None, f"{action} needs {' or '.join(missing[0])}")


_EDIT_TAKES: dict[EditAction, tuple[str, ...]] = {
    "append": ("text", "index", "match_str", "tag"),
    "revise": ("text", "index", "match_str"),
    "delete": ("index", "match_str", "all"),
    "tag": ("tags", "remove", "index", "match_str"),
    "rename": ("new_name",),
    "merge": ("into",),
}
_EDIT_NEEDS: dict[EditAction, tuple[tuple[str, ...], ...]] = {
    "append": (("text",),),
    "revise": (("text",), ("index", "match_str")),
    "delete": (),
    "tag": (("tags", "remove"),),
    "rename": (("new_name",),),
    "merge": (("into",),),
}


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
