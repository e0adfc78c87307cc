"""An overview of many nodes: groups of labels that begin alike.

Labels are sentences of a closed grammar (`helix_graph.graph.labels`): what is alike begins alike ("run pytest", "run
go test", "golangci-lint fails: …"). So nodes are grouped by type and first words, a group that is too large by one word
more, and what is left over goes with the others of its type.

>>> [(one.label, one.members) for one in groups_of([("error", "ruff fails: E501"), ("error", "ruff fails: F401")])]
[('ruff fails', (0, 1))]
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

#: From so many nodes on a page opens with groups: about as many labels as are still read on one screen.
OVERVIEW_FROM = 150
#: More members than this are parted by one word more.
_LARGE = 40
#: Fewer members are no group of their own.
_FEWEST = 2
#: After so many words everything is a sentence of its own.
_MOST_WORDS = 3
#: The largest groups of a type are shown by themselves: an overview of a hundred groups is none.
_GROUPS_OF_A_TYPE = 14


class Group(msgspec.Struct, frozen=True, kw_only=True):
    """Nodes of one type that begin alike, by their places, in the order given."""

    type: str
    label: str
    members: tuple[int, ...]


def groups_of(nodes: Sequence[tuple[str, str]]) -> tuple[Group, ...]:
    """The groups of nodes given by type and label: by type, the largest first; every node is in exactly one."""
    by_type: defaultdict[str, list[int]] = defaultdict(list)
    for place, (kind, _) in enumerate(nodes):
        by_type[kind].append(place)
    return tuple(
        Group(type=kind, label=label, members=tuple(sorted(members)))
        for kind in sorted(by_type)
        for label, members in _of_a_type(kind, by_type[kind], [label for _, label in nodes])
    )


def _of_a_type(kind: str, places: list[int], labels: Sequence[str]) -> Iterable[tuple[str, list[int]]]:
    parted = _parted(places, labels, words=1)
    ranked = sorted(parted.items(), key=lambda item: (-len(item[1]), item[0]))
    own = [(head, members) for head, members in ranked if len(members) >= _FEWEST][:_GROUPS_OF_A_TYPE]
    named = [(_named(head, members, labels), members) for head, members in own]
    kept = {head for head, _ in own}
    rest = [place for head, members in ranked if head not in kept for place in members]
    if len(rest) == 1:
        return [*named, (labels[rest[0]], rest)]
    return [*named, (f"other {kind}s" if own else f"{kind}s", rest)] if rest else named


def _parted(places: Iterable[int], labels: Sequence[str], *, words: int) -> dict[str, list[int]]:
    heads: defaultdict[str, list[int]] = defaultdict(list)
    for place in places:
        heads[_head(labels[place], words)].append(place)
    parted: dict[str, list[int]] = {}
    for head, members in heads.items():
        if len(members) > _LARGE and words < _MOST_WORDS:
            finer = _parted(members, labels, words=words + 1)
            small = [place for part in finer.values() if len(part) < _FEWEST for place in part]
            parted.update({name: part for name, part in finer.items() if len(part) >= _FEWEST})
            if small:
                parted[head] = [*parted.get(head, ()), *small]
        else:
            parted[head] = [*parted.get(head, ()), *members]
    return parted


def _named(head: str, members: Sequence[int], labels: Sequence[str]) -> str:
    """A head that is no name of its own says that more follows: ``run git …``."""
    return head if all(labels[place].startswith(f"{head}: ") for place in members) else f"{head} \u2026"


def _head(label: str, words: int) -> str:
    """The first words of a label, up to a colon: an error goes by what failed, with how as the detail."""
    subject, colon, _ = label.partition(": ")
    if colon and len(subject) <= _LONGEST_SUBJECT:
        return subject
    return " ".join(label.split()[:words]) or label


#: A colon later than this stands in a sentence.
_LONGEST_SUBJECT = 40
