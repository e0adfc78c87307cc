"""What a memory last exchanged with the server of each own object: the base from which two machines' edits are told.

::

    team/exchanged.json      by subject: the object here and there when both said the same, as hashes

What is there as it was has not been changed elsewhere, and what is here as it was has not been changed here. The two
hashes may differ, since another version of this program may write the same in other bytes. Of an insight the parts that
a person edits (text, tags, state) have a short digest each, so that edits of two parts do not meet.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Literal, NamedTuple

import msgspec
from msgspec.structs import replace

from helix_episodes.errors import WriteFailed
from helix_episodes.msgspec_types import read_json
from helix_episodes.safe_files import locked, make_folder, write_atomically
from helix_graph.project import TEAM_EXCHANGED
from helix_graph.sharing.records import OwnInsight, SharedInsight

if TYPE_CHECKING:
    from pathlib import Path

InsightPart = Literal["text", "tags", "state"]
#: What belongs together in an edit, and the date of it.
_PARTS: dict[InsightPart, tuple[tuple[str, ...], str]] = {
    "text": (("content",), "edited_at"),
    "tags": (("tags",), "tagged_at"),
    "state": (("state", "reason"), "state_at"),
}
_DIGITS = 12


class Exchange(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An object's hashes ``here`` and ``there`` when both said the same, and of an insight those of its parts."""

    here: str
    there: str
    parts: tuple[str, ...] = ()


class ExchangeLog(msgspec.Struct, frozen=True, kw_only=True):
    """The content of the file: for which server and project it holds."""

    server: str
    project: str
    objects: dict[str, Exchange] = {}


def read_exchanges(root: Path, *, server: str, project: str) -> dict[str, Exchange]:
    """What was last exchanged with this server and project, by subject."""
    log = read_json(root / TEAM_EXCHANGED, ExchangeLog)
    return dict(log.objects) if log and (log.server, log.project) == (server, project) else {}


def note_exchanges(
    root: Path, objects: dict[str, Exchange], *, gone: frozenset[str], server: str, project: str
) -> None:
    """Remembers what was exchanged, one process after another; nothing of what is ``gone``."""
    path = root / TEAM_EXCHANGED
    with WriteFailed.for_os_errors(path):
        make_folder(path.parent)
        with locked(path.parent):
            before = read_exchanges(root, server=server, project=project)
            after = {name: one for name, one in {**before, **objects}.items() if name not in gone}
            if after != before or not path.exists():
                log = ExchangeLog(server=server, project=project, objects=after)
                write_atomically(path, msgspec.json.encode(log, order="deterministic"))


def exchange_of(record: object, here: str, there: str) -> Exchange:
    """What is to be remembered of a record, or of an episode, that both sides have."""
    parts = tuple(_digest(record, part) for part in _PARTS) if isinstance(record, SharedInsight) else ()
    return Exchange(here=here, there=there, parts=parts)


class ReplacedPart(NamedTuple):
    """A part of an insight that was edited on both sides, and the edit that the later one replaced."""

    part: InsightPart
    was_here: bool
    value: str


def merge_insights(
    here: SharedInsight, there: SharedInsight, base: Exchange | None
) -> tuple[SharedInsight, tuple[ReplacedPart, ...]]:
    """Both sides' edits of an insight since ``base`` as one, whichever side asks; and what a later edit replaced.

    Without a base the later edit of each part holds, and only what was ever edited counts as lost.
    """
    merged, lost = here, list[ReplacedPart]()
    for number, (part, (names, dated)) in enumerate(_PARTS.items()):
        before = base.parts[number] if base and number < len(base.parts) else ""
        mine, theirs = (_digest(one, part) for one in (here, there))
        if mine == theirs:
            merged = replace(merged, **{dated: max(getattr(here, dated), getattr(there, dated))})
            continue
        is_theirs = _rank(there, part) > _rank(here, part)
        is_edited_twice = (
            before not in {mine, theirs} if before else bool(min(getattr(here, dated), getattr(there, dated)))
        )
        if before in {mine, theirs}:
            is_theirs = before == mine
        if is_theirs:
            merged = replace(merged, **{name: getattr(there, name) for name in (*names, dated)})
        if is_edited_twice:
            value = getattr(here if is_theirs else there, names[0])
            lost.append(ReplacedPart(part, is_theirs, value if isinstance(value, str) else ", ".join(value)))
    own = here.own or OwnInsight()
    links = {one.id: one for one in (*(there.own.links if there.own else ()), *own.links)}
    return replace(merged, own=replace(own, links=tuple(links[name] for name in sorted(links)))), tuple(lost)


def is_same_said(one: SharedInsight, other: SharedInsight) -> bool:
    """Whether two forms of an insight say the same of all that may be edited, and have the same links."""
    links = [{link.id for link in each.own.links} if each.own else set() for each in (one, other)]
    edited = [name for names, dated in _PARTS.values() for name in (*names, dated)]
    return links[0] == links[1] and all(getattr(one, name) == getattr(other, name) for name in edited)


def is_edited_since(here: SharedInsight, base: Exchange) -> bool:
    """Whether a person edited a part of an insight here after it was exchanged."""
    return bool(base.parts) and base.parts != tuple(_digest(here, part) for part in _PARTS)


def _rank(one: SharedInsight, part: InsightPart) -> tuple[object, ...]:
    """What is greater of the later edit, and differs wherever two edits do."""
    names, dated = _PARTS[part]
    return (getattr(one, dated), *(getattr(one, name) for name in names))


def _digest(one: SharedInsight, part: InsightPart) -> str:
    said = "\0".join(str(getattr(one, name)) for name in _PARTS[part][0])
    return sha256(said.encode()).hexdigest()[:_DIGITS]
