"""`edit`: six ways to change what is there.

Every edit appends: the new record of an entry and a tombstone for the old one, in one transaction. The entry keeps its
id and its place, and an edit of its text keeps tags, source, confidence and links.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

import msgspec
from msgspec.structs import replace

from helix_graph.topics.entries import at, known_topic, of_topic, shown, size_of
from helix_graph.topics.fields import LONGEST_TEXT, MOST_TAGS
from helix_graph.topics.model import Entry, EntryNotFound, InvalidTopicArgument, TooMuch
from helix_graph.topics.store import bury_entry, move_entry, rewrite_entry

if TYPE_CHECKING:
    import sqlite3

    from helix_graph.topics.entries import EntryRecord, NumberedRecord

Action = Literal["append", "revise", "delete", "tag", "rename", "merge"]
ACTIONS: tuple[Action, ...] = get_args(Action)


class EditTarget(msgspec.Struct, frozen=True, kw_only=True):
    """Which entry of a topic is meant: by one of these, or the last one."""

    index: int | None = None
    matching: str | None = None
    tag: str | None = None

    def __str__(self) -> str:
        """How the entry is found, in words."""
        if self.index is not None:
            return f"[{self.index}]"
        if self.matching is not None:
            return f'matching "{self.matching}"'
        return "last" if self.tag is None else f'with tag "{self.tag}"'


class EntryChange(msgspec.Struct, frozen=True, kw_only=True):
    """What is to become of the entry, or of the topic; each action takes its own."""

    text: str | None = None
    tags: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()
    everything: bool = False
    new_name: str | None = None
    into: str | None = None


class Edited(msgspec.Struct, frozen=True, kw_only=True):
    """What `edit` answers.

    ``entry`` is the entry as it now is, or as it was when it was deleted; None where a whole topic was changed.
    ``entries`` is how many were, ``target`` how the entry was found, ``into`` the topic's new name or the one that
    took it in.
    """

    action: Action
    topic: str
    entries: int
    entry: Entry | None
    target: str | None
    into: str | None


def edit(
    connection: sqlite3.Connection, action: Action, topic: str, *, target: EditTarget, change: EntryChange, now: int
) -> Edited:
    """Carries an edit out.

    Raises:
        TopicNotFound: There is no such topic, or none of the name to merge into.
        EntryNotFound: No entry of the topic is the one that was meant.
        InvalidTopicArgument: The topic to rename to is there already, or a topic was to be merged into itself.
        TooMuch: The entry would become too long, or get too many tags.
    """
    known_topic(connection, topic)
    if action in {"rename", "merge"}:
        return _move_topic(connection, action, topic, change=change, now=now)
    if action == "delete" and change.everything:
        gone = of_topic(connection, topic)
        for one in gone:
            bury_entry(connection, one, now=now)
        return Edited(action="delete", topic=topic, entries=len(gone), entry=None, target="all", into=None)
    old = _find(connection, topic, target)
    if action == "delete":
        was = _edited(connection, "delete", old, target=target)
        bury_entry(connection, old, now=now)
        return was
    record = _changed(action, old, change, now=now)
    new = rewrite_entry(connection, old, record, now=now)
    return _edited(connection, action, new, target=target)


def _changed(action: Action, old: NumberedRecord, change: EntryChange, *, now: int) -> EntryRecord:
    record = old.record
    if action == "tag":
        tags = tuple(sorted({*record.tags, *change.tags} - set(change.remove)))
        if len(tags) > MOST_TAGS:
            raise TooMuch("tags", size=len(tags), largest=MOST_TAGS, unit="tags")
        return replace(record, tags=tags)
    text = change.text or ""
    if action == "append":
        joined = f"{record.text}\n{text}"
        if len(joined) > LONGEST_TEXT:
            raise TooMuch("text", size=len(joined), largest=LONGEST_TEXT, unit="characters with what is there")
        return replace(record, text=joined)
    return replace(record, text=text, modified=max(now, record.stored))


def _find(connection: sqlite3.Connection, topic: str, target: EditTarget) -> NumberedRecord:
    """The entry that is meant: at the index, the first that holds the text, the last that has the tag, or the last."""
    size = size_of(connection, topic)
    if target.index is not None:
        return at(connection, topic, target.index)
    if target.matching is not None:
        wanted = target.matching.casefold()
        found = (one for one in of_topic(connection, topic) if wanted in one.record.text.casefold())
        problem = f'no entry matching "{target.matching}"'
    elif target.tag is not None:
        found = (one for one in reversed(of_topic(connection, topic)) if target.tag in one.record.tags)
        problem = f'no entry with tag "{target.tag}"'
    else:
        return at(connection, topic, size - 1)
    entry = next(found, None)
    if entry is None:
        raise EntryNotFound(topic, problem=problem, entries=size)
    return entry


def _move_topic(connection: sqlite3.Connection, action: Action, topic: str, *, change: EntryChange, now: int) -> Edited:
    """A renamed topic's entries keep their places; merged ones come behind those that are there."""
    goal = (change.new_name if action == "rename" else change.into) or ""
    if goal == topic:
        raise InvalidTopicArgument("new_name" if action == "rename" else "into", f"is {topic}, the topic itself")
    if action == "merge":
        known_topic(connection, goal)
    elif size_of(connection, goal):
        raise InvalidTopicArgument("new_name", f"is {goal}, which is there already; merge {topic} into it instead")
    moved = of_topic(connection, topic)
    for one in moved:
        move_entry(connection, one, topic=goal, keep_place=action == "rename", now=now)
    return Edited(action=action, topic=topic, entries=len(moved), entry=None, target=None, into=goal)


def _edited(connection: sqlite3.Connection, action: Action, one: NumberedRecord, *, target: EditTarget) -> Edited:
    entry = shown(connection, [one])[0]
    return Edited(action=action, topic=entry.topic, entries=1, entry=entry, target=str(target), into=None)


def check(action: Action, *, target: EditTarget, change: EntryChange) -> None:
    """Whether these parameters go together.

    Raises:
        InvalidTopicArgument: The action needs one that is not there; one means nothing to this action, or several
            name an entry.
    """
    named = [
        name
        for name, value in (
            ("text", change.text),
            ("index", target.index),
            ("match_str", target.matching),
            ("tag", target.tag),
            ("tags", change.tags),
            ("remove", change.remove),
            ("all", change.everything),
            ("new_name", change.new_name),
            ("into", change.into),
        )
        if value is not None and value is not False and value != ()
    ]
    for name in named:
        if name not in _TAKES[action]:
            raise InvalidTopicArgument(name, f"means nothing to {action}; it takes {', '.join(_TAKES[action])}")
    targets = [name for name in named if name in {"index", "match_str", "tag", "all"}]
    if len(targets) > 1:
        raise InvalidTopicArgument(targets[0], f"and {targets[1]} name an entry each; give one of them")
    missing = [wanted for wanted in _NEEDS[action] if not set(wanted) & set(named)]
    if missing:
        raise InvalidTopicArgument(None, f"{action} needs {' or '.join(missing[0])}")


_TAKES: dict[Action, tuple[str, ...]] = {
    "append": ("text", "index", "match_str", "tag"),
    "revise": ("text", "index", "match_str"),
    "delete": ("index", "match_str", "all"),
    "tag": ("tags", "remove", "index", "match_str"),
    "rename": ("new_name",),
    "merge": ("into",),
}
_NEEDS: dict[Action, tuple[tuple[str, ...], ...]] = {
    "append": (("text",),),
    "revise": (("text",), ("index", "match_str")),
    "delete": (),
    "tag": (("tags", "remove"),),
    "rename": (("new_name",),),
    "merge": (("into",),),
}
