"""How many examples a property is tried on: as many as the profile asks of what is usual for it."""

from __future__ import annotations

from hypothesis import settings

_USUAL = 100
_LEAST = 5


def examples(usual: int) -> int:
    """``usual`` in the profile ``thorough``, a part of it every day, a multiple at night."""
    return max(_LEAST, usual * settings().max_examples // _USUAL)
