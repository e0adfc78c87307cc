"""Drawing lots that anybody can draw again.

What is left to chance (which insight is withheld, which draw decides a ranking) is settled by a hash of what it is
about, not by a generator with a state. So the lot of one insight depends neither on which others were there nor on
their order, a second run gives the same, and whoever holds the log can check that nobody chose.
"""

from __future__ import annotations

from hashlib import blake2b

#: Eight bytes of hash, of which a float holds 53 bits; the half keeps the lot off both ends.
_BITS = 53


def lot(*about: str) -> float:
    """A number between 0 and 1, both excluded: evenly spread over different texts, the same for the same ones.

    Each text counts by itself: ``("ab", "c")`` and ``("a", "bc")`` are different lots.

    >>> lot("withhold", "episode-1", "run-the-tests") == lot("withhold", "episode-1", "run-the-tests")
    True
    >>> lot("ab", "c") == lot("a", "bc")
    False
    """
    # The form with quotes and escapes: any text has one, and no two have the same.
    digest = blake2b(ascii(about).encode(), digest_size=8).digest()
    return ((int.from_bytes(digest) >> (64 - _BITS)) + 0.5) / (1 << _BITS)
