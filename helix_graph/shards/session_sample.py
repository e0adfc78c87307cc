"""Which sessions sums are made of: a sample, by which it shows that some would be counted twice.

Sums of years are of tens of millions of sessions, so they name those 4,096 whose digests are the smallest (a bottom-k
sketch; Cohen and Kaplan, *Summarizing data using bottom-k sketches*, 2007). Of fewer sessions that is all of them, and
of more a sample which any day's shards or another fold of the same days meet. What two samples have in common was
counted in both; the sample of all together is the smallest of both, whatever the order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from pathlib import Path

from helix_episodes.errors import InvalidArgument

#: A year of 36 million sessions has one of 9,000 in its sample, so a day of 100,000 of them is missed once in 80,000.
SIZE = 4096
_METADATA = b"helix-graph sessions"
_DIGITS = 16

Sample = tuple[int, ...]


def digest_of(episode: str) -> int:
    """What stands for an episode in a sample."""
    return int.from_bytes(blake2b(episode.encode(), digest_size=_DIGITS // 2).digest())


def smallest(digests: Iterable[int]) -> Sample:
    """The sample of these."""
    return tuple(sorted(set(digests))[:SIZE])


def as_metadata(sample: Sample) -> dict[bytes, bytes]:
    """A sample as the metadata of a Parquet file."""
    return {_METADATA: "".join(f"{one:0{_DIGITS}x}" for one in sample).encode()} if sample else {}


def sample_in(metadata: Mapping[bytes, bytes] | None) -> Sample:
    """The sample in the metadata of a Parquet file; of no session where it has none."""
    said = (metadata or {}).get(_METADATA, b"")
    return smallest(int(said[at : at + _DIGITS], 16) for at in range(0, len(said), _DIGITS))


class CountedSessions:
    """The sessions that a fold adds up, an input after the other."""

    def __init__(self, earlier: Iterable[tuple[Path, Sample]]) -> None:
        self.has_copies = False
        self._met: set[int] = set()
        self._in_sums: dict[int, Path] = {}
        self._twice: Counter[tuple[Path, Path]] = Counter()
        self._sample: Sample = ()
        for folder, sample in earlier:
            self._look_at(folder, sample)
            self._in_sums.update(dict.fromkeys(sample, folder))

    def add_shard(self, folder: Path, episodes: Iterable[str]) -> None:
        """Adds the episodes of a shard in a folder; ``has_copies`` says whether other shards have any of them."""
        digests = set(map(digest_of, episodes))
        self._look_at(folder, digests)
        self.has_copies = self.has_copies or not self._met.isdisjoint(digests)
        self._met |= digests

    def _look_at(self, folder: Path, digests: Iterable[int]) -> None:
        last = self._sample[-1] if len(self._sample) == SIZE else None
        new = [one for one in digests if last is None or one < last]
        self._sample = smallest((*self._sample, *new)) if new else self._sample
        self._twice.update((self._in_sums[one], folder) for one in digests if one in self._in_sums)

    def sample(self) -> Sample:
        """The sample of all.

        Raises:
            InvalidArgument: Earlier sums have sessions that other inputs have as well: they would be counted twice.
        """
        for (sums, other), times in sorted(self._twice.items()):
            sessions = f"at least {times} session{'s'[: times != 1]}"
            raise InvalidArgument(
                "folders",
                f"count {sessions} twice: they are in the sums in {sums} and in {other}; leave one of the two "
                "out, or the days that the sums have already (--since, --until)",
            )
        return self._sample
