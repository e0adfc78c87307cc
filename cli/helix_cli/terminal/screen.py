"""Who is at the other end of stdout: a terminal, how wide it is, which colours it has."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

    from helix_cli.terminal.pieces import Tone

#: Okabe and Ito's blue, vermilion and purple, made for the colour-blind. The first two stand out (3 : 1 and more) on
#: black as well as on white, so the terminal's own background need not be known; the purple is darkened until it does.
STYLES: dict[Tone, str] = {
    "plain": "",
    "strong": "bold",
    "quiet": "dim",
    "good": "#0072b2",
    "bad": "bold #d55e00",
    "unsure": "italic #b0628f",
}
#: Narrower than this nothing can be set; lines then run over, as they do everywhere else.
_NARROWEST = 20
#: Where a terminal does not say how wide it is.
_COMMON = (80, 24)


def watched() -> bool:
    """Whether a terminal shows what stands on stdout."""
    return sys.stdout is not None and sys.stdout.isatty()


def columns() -> int:
    """How many columns there are: `COLUMNS`, else what the terminal says."""
    import shutil  # noqa: PLC0415  (3 ms that only a terminal needs)

    return max(_NARROWEST, shutil.get_terminal_size(_COMMON).columns)


def encoding() -> str:
    """How stdout writes characters."""
    return sys.stdout.encoding or "utf-8"


def console() -> Console:
    """What draws on this terminal, as wide as it is."""
    from rich.console import Console  # noqa: PLC0415  (100 ms that only a terminal needs)

    return Console(
        file=sys.stdout,
        width=columns(),
        height=_COMMON[1],  # without it rich takes a dumb terminal for 80 columns wide
        force_terminal=True,
        color_system="auto" if _has_colours() else None,
        highlight=False,
        markup=False,
        emoji=False,
    )


def _has_colours() -> bool:
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") not in ("dumb", "unknown")
