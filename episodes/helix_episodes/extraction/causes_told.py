"""What prose calls the cause of a failure: behind "because" and its like, or before "so"."""

from __future__ import annotations

import re

from helix_episodes.extraction.predicates import FAILING
from helix_episodes.regex import Regex

_CAUSED = Regex(
    r"(?:\bbecause(?! of)|\bcaused by|\bdue to|\bbecause of|\btraced to)\s+(?P<cause>(?:[^.;]|"
    r"\.(?=\S)){12,}?)(?=\.\s|\.$|;|$)|"
    r"\broot cause (?:\w+ ){0,3}?(?:was|is)?(?: \w+)?: +(?P<root>[^.;]{12,}(?:\.(?=\S)[^.;]*)*)",
    re.IGNORECASE,
)
#: "The squash left no parent, so every file conflicted": the first half brought the second about.
_SO = Regex(r"^(?P<cause>[^.;:]{12,}?), (?:so|which is why) (?!that\b|I\b|we\b)(?P<effect>[^.;]{8,})", re.IGNORECASE)


def cause_in(said: str) -> str:
    """What a clause calls the cause of the failure that it tells, or nothing.

    >>> cause_in("The upload failed because the token had expired."), cause_in("The upload failed")
    ('the token had expired', '')
    """
    match = _CAUSED.search(said)
    if match:
        return (match["cause"] or match["root"]).strip()
    so = _SO.match(said)
    return so["cause"].strip() if so and FAILING.search(so["effect"]) else ""
