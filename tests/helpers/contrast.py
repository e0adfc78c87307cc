"""How colours are seen: contrast as WCAG defines it, and what the colour-blind see of them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Machado, Oliveira and Fernandes (2009), severity 1.0.
_SEEN = {
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}
KINDS_OF_SIGHT = tuple(_SEEN)


def contrast(one: Sequence[float], other: Sequence[float]) -> float:
    """From 1 (the same) to 21 (black on white)."""
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def distance_as_seen(one: Sequence[float], other: Sequence[float], sight: str) -> float:
    """How far apart two colours are to somebody with that kind of sight."""
    return math.dist(_as_seen(one, sight), _as_seen(other, sight))


def _luminance(colour: Sequence[float]) -> float:
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in (one / 255 for one in colour[:3])
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _as_seen(colour: Sequence[float], sight: str) -> list[float]:
    return [sum(weight * part for weight, part in zip(row, colour, strict=False)) for row in _SEEN[sight]]
