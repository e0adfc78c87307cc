"""Entries of topics that one person changed on two machines: which entry there is the edit of which entry here.

The server knows an entry by what it says, so an edit elsewhere is one that is gone there and another that is new. The
two belong together by what no edit changes: when the entry was stored, and its topic or its text. Where several were
stored in one second, the number decides that they have on both machines, and where none does, they are left apart.

Edits of different parts come together, and of tags what either machine added and removed. Of two edits of one part the
later holds. Deleting wins over editing, on whichever machine each was done.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import msgspec
from msgspec.structs import replace

from helix_graph.project import digest as subject_of_name
from helix_graph.sharing.model import LostEdit
from helix_graph.sharing.own_records import entry_item, shared_entry
from helix_graph.sharing.records import SharedEntry, core, encode, subject_name

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from helix_graph.topics.transfer import ExportedEntry


#: What an edit may change of an entry apart from its tags.
_PARTS = ("topic", "text", "source", "confidence")


class _Open(NamedTuple):
    """An entry that both machines had as ``before`` and the other one let go of; ``live`` is what it is here now."""

    number: int
    before: SharedEntry
    live: SharedEntry | None

    @property
    def is_edited(self) -> bool:
        """Whether it was edited here since."""
        return self.live is not None and self.live != self.before


class EntryChanges(NamedTuple):
    """What is to be done here: what each entry, by its number, becomes; and which new ones there are not brought in.

    The versions of an entry are the items of an import, and none at all deletes it. Those of ``dead`` are deleted on
    the server, since their entry was deleted here.
    """

    versions: dict[int, tuple[str, ...]]
    used: frozenset[str]
    dead: frozenset[str]
    changed: int
    deleted: int
    lost: tuple[LostEdit, ...]


def subject_of_entry(one: SharedEntry) -> str:
    """What the server calls an entry."""
    return subject_of_name(subject_name(one))


def entry_changes(
    live: Mapping[int, SharedEntry],
    replaced: Iterable[ExportedEntry],
    new: Mapping[str, SharedEntry],
    *,
    is_gone: Callable[[str], bool],
    there: Collection[str],
) -> EntryChanges:
    """What the other machine's edits are of the entries here.

    ``replaced`` are those that were changed or deleted here, ``new`` those that only the server has. ``is_gone`` says
    of a subject whether both sides had it and another machine let go of it; ``there`` are the subjects that it has.
    """
    openings = _openings(live, replaced, is_gone=is_gone, there=there)
    versions: dict[int, tuple[str, ...]] = {}
    dead, used, lost = set[str](), set[str](), list[LostEdit]()
    changed = deleted = 0
    for subject, theirs in sorted(new.items()):
        found = _of(theirs, openings)
        if found is None:
            continue
        openings.remove(found)
        used.add(subject)
        mine = found.live
        if mine is None:
            dead.add(subject)
            lost.append(_lost(theirs, "deleted", theirs.text))
        else:
            both, given_up = _merged(found.before, mine, theirs)
            is_theirs = core(both) == core(theirs)
            # What is there is in the log as what was replaced, so it is replaced there too.
            versions[found.number] = tuple(map(version_item, (theirs,) if is_theirs else (theirs, both)))
            lost += given_up
            changed += core(both) != core(mine)
    for one in openings:
        if one.live is not None:
            versions[one.number] = ()
            deleted += 1
            lost += [_lost(one.live, "deleted", one.live.text)] if one.is_edited else []
    return EntryChanges(versions, frozenset(used), frozenset(dead), changed, deleted, tuple(lost))


def reverted(
    live: Mapping[int, SharedEntry], replaced: Iterable[ExportedEntry], exchanged: Collection[str]
) -> dict[str, int]:
    """The entries, by subject, that an edit gave a form back which they had before what the server has of them now.

    A tag that was added and removed again makes such a one, and the server takes no form twice. An entry that an older
    copy of the memory brought back is none: no later form of it is here.
    """
    later = {one.id for one in replaced if subject_of_entry(shared_entry(one)) in exchanged}
    return {
        subject: number
        for number, one in live.items()
        if number in later and (subject := subject_of_entry(one)) not in exchanged
    }


def _openings(
    live: Mapping[int, SharedEntry],
    replaced: Iterable[ExportedEntry],
    *,
    is_gone: Callable[[str], bool],
    there: Collection[str],
) -> list[_Open]:
    """The entries that another machine let go of, the live ones first."""
    before = {one.id: shared for one in replaced if is_gone(subject_of_entry(shared := shared_entry(one)))}
    found = [_Open(number, one, one) for number, one in live.items() if is_gone(subject_of_entry(one))]
    known = {one.number for one in found}
    for number, one in before.items():
        now = live.get(number)
        if number not in known and (now is None or subject_of_entry(now) not in there):
            found.append(_Open(number, one, now))
    return sorted(found, key=lambda one: (one.live is None, one.is_edited, one.number))


def _of(theirs: SharedEntry, openings: Sequence[_Open]) -> _Open | None:
    """Which of the entries here was edited there to this one."""
    alike = [
        one
        for one in openings
        if one.before.stored == theirs.stored and (one.before.topic == theirs.topic or one.before.text == theirs.text)
    ]
    same = [one for one in alike if theirs.own and theirs.own.id == one.number]
    chosen = same or alike
    return chosen[0] if len(chosen) == 1 else None


def _merged(before: SharedEntry, mine: SharedEntry, theirs: SharedEntry) -> tuple[SharedEntry, list[LostEdit]]:
    """Both machines' edits since ``before`` as one, whichever of them asks; and what of them gives way."""
    is_theirs = _rank(theirs) > _rank(mine)
    parts: dict[str, object] = {}
    lost = list[LostEdit]()
    for part in _PARTS:
        was, here, there = (getattr(one, part) for one in (before, mine, theirs))
        parts[part] = there if here == was or (is_theirs and there != was) else here
        if was not in {here, there} and here != there:
            lost.append(_lost(mine, "there" if is_theirs else "here", str(here if is_theirs else there)))
    kept = [one for one in before.tags if one in mine.tags and one in theirs.tags]
    added = sorted({*mine.tags, *theirs.tags}.difference(before.tags))
    modified = max(mine.modified or "", theirs.modified or "") or None
    both = replace(mine, tags=(*kept, *added), modified=modified, **parts)
    return both, lost


def _rank(one: SharedEntry) -> tuple[str, str, bytes]:
    return (one.modified or "", one.text, encode(one))


def _lost(one: SharedEntry, kept: str, text: str) -> LostEdit:
    return msgspec.convert({"what": f"an entry of {one.topic}", "kept": kept, "lost": text}, LostEdit)


def version_item(one: SharedEntry, *, modified: str | None = None) -> str:
    """An entry as an item of an import, with another date of its last edit where one is given."""
    return msgspec.json.encode(entry_item(replace(one, modified=modified or one.modified))).decode()
