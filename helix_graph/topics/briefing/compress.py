"""What repeats, what was said anew, and what belongs together. Nothing is hidden: each is marked.

* *Supersession*: of two entries of one topic with more than 40 % of their words in common the younger one supersedes
  the older, whose score is halved.
* *The same elsewhere*: of entries of different topics with more than 70 % in common the one with the best score stands
  for all, and names the others.
* *Chains*: three or more entries of one topic within the same 48 hours, counted from 1970-01-01.

The 500 entries with the highest scores are compared, which takes a tenth of a second; what is below is not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from helix_graph.topics.briefing.model import Chain
from helix_graph.topics.likeness import alike_pairs
from helix_graph.topics.model import moment
from helix_graph.topics.texts import first_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from helix_graph.topics.log import Record


SUPERSEDES = 0.40
SAME = 0.70
BUCKET_SECONDS = 48 * 3_600
SHORTEST_CHAIN = 3
_COMPARED = 500
_WIDTH = 60


class Repeats(msgspec.Struct, frozen=True, kw_only=True):
    """Entry by entry: which one supersedes it, and which ones of other topics it stands for."""

    superseded_by: dict[int, int]
    stands_for: dict[int, list[int]]

    @property
    def said_elsewhere(self) -> set[int]:
        """Entries for which another one stands."""
        return {entry for entries in self.stands_for.values() for entry in entries}


def repeats(records: Sequence[Record], scores: Mapping[int, float]) -> Repeats:
    """Compares the entries with each other; ``scores`` tell which of equals stands for the others."""
    ranked = sorted(records, key=lambda record: (-scores[record.entry], -record.changed, -record.entry))
    superseded: dict[int, int] = {}
    stands_for: dict[int, list[int]] = {}
    hidden: set[int] = set()
    age = {record.entry: (record.changed, record.entry) for record in records}
    compared = ranked[:_COMPARED]
    for first, second, share in alike_pairs([record.text for record in compared], above=SUPERSEDES):
        one, other = compared[first], compared[second]
        if one.topic == other.topic:
            older, younger = sorted((one.entry, other.entry), key=age.__getitem__)
            superseded[older] = max(superseded.get(older, younger), younger, key=age.__getitem__)
        elif share > SAME and not {one.entry, other.entry} & hidden:
            stands_for.setdefault(one.entry, []).append(other.entry)
            hidden.add(other.entry)
    return Repeats(superseded_by=superseded, stands_for=stands_for)


def chains(records: Iterable[Record], places: Mapping[int, tuple[str, int]]) -> list[Chain]:
    """Runs of entries of one topic, the newest first; ``places`` has each entry's topic and index."""
    buckets: dict[tuple[str, int], list[tuple[int, Record]]] = {}
    for record in records:
        bucket = buckets.setdefault((record.topic, record.stored // BUCKET_SECONDS), [])
        bucket.append((places[record.entry][1], record))
    found = [_chain(topic, run) for (topic, _), run in buckets.items() if len(run) >= SHORTEST_CHAIN]
    return sorted(found, key=lambda chain: (chain.end, chain.topic), reverse=True)


def _chain(topic: str, run: list[tuple[int, Record]]) -> Chain:
    ordered = sorted(run, key=lambda one: (one[1].stored, one[0]))
    first, last = ordered[0][1], ordered[-1][1]
    return Chain(
        topic=topic,
        start=moment(first.stored),
        end=moment(last.stored),
        indices=tuple(index for index, _ in ordered),
        first=first_line(first.text, width=_WIDTH),
        last=first_line(last.text, width=_WIDTH),
    )
