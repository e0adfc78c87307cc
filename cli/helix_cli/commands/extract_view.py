"""How `episode extract` shows what became of every line, and what was cut and where."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from helix_cli.output import say, table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from helix_episodes.recording import Recorded


def render_lines(recorded: Sequence[Recorded]) -> None:
    """Print, for each session, how many lines of its log were used, skipped by kind, unknown by type, blank, bad."""
    if recorded:
        say()
        rows = [(one.session, *_columns(one)) for one in recorded]
        columns = "session", "lines", "used", "blank", "bad", "known and skipped", "unknown"
        table(columns, rows, numbers=columns[1:5])


def _columns(one: Recorded) -> tuple[str, ...]:
    lines = one.accounting
    counts = (lines.lines, lines.used, lines.blank, len(lines.bad) + lines.more_bad)
    return (*map(str, counts), _by_kind(lines.skipped), _by_kind(lines.unknown))


def _by_kind(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {kind}" for kind, count in counts.items()) or "-"


def render_places(recorded: Sequence[Recorded]) -> None:
    """Print what was cut, by session, place in the episode and kind; never the value."""
    rows = [(one.session, cut.place, cut.kind, str(cut.count)) for one in recorded for cut in one.cuts]
    if rows:
        say()
        table(("session", "cut from", "kind", "times"), rows, numbers=("times",))


def render_cuts(recorded: Sequence[Recorded]) -> None:
    """Print one line on how often each kind was cut."""
    counts = Counter[str]()
    for one in recorded:
        for cut in one.cuts:
            counts[cut.kind] += cut.count
    if counts:
        said = ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items()))
        say(f"Cut before writing: {said} (-v says where).")
