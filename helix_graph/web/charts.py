"""Small charts as inline SVG: bars of outcomes, rates with their ranges.

They are drawn for a width of 360, a telephone's, and are shown at most a third larger, so that their text can be read
on either. Colours come from classes, since the page's policy allows no styles on elements. What differs in colour
differs in pattern as well: failed is hatched, the agent's own word is hollow. A chart is one image to a screen reader,
with a sentence for a name; the table next to it has the numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from helix_graph.web.html import Markup, element, joined
from helix_graph.web.report_text import between, count, counts_of, day, over_a_year, points, rate_clause, within

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from helix_graph.stats.intervals import Interval
    from helix_graph.web.report_model import OutcomeSpan, ReportRate

WIDTH, HEIGHT = 360, 190
_LEFT, _RIGHT, _TOP, _BASE = 30, 352, 24, 158
#: Dates under the bars: more run into each other.
_MOST_TICKS = 7
#: Counts above the bars, likewise.
_MOST_COUNTED = 16
HATCH = Markup(
    '<svg class="unseen" width="0" height="0" aria-hidden="true" focusable="false"><defs><pattern id="hatch" width="5"'
    ' height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="hatch" width="2" height="5"/>'
    "</pattern></defs></svg>"
)


def outcome_bars(spans: Sequence[OutcomeSpan], *, name: str) -> Markup:
    """A stacked bar for each span; its height is the number of sessions."""
    highest = max([1, *(one.sessions for one in spans)])
    slot = (_RIGHT - _LEFT) / len(spans)
    drawn = [_grid([(0, "0"), (1, f"{highest}")])]
    for place, one in enumerate(spans):
        drawn.append(_bar(one, left=_LEFT + slot * place, slot=slot, highest=highest))
        if one.sessions and len(spans) <= _MOST_COUNTED:
            top = _BASE - (_BASE - _TOP) * one.sessions / highest
            drawn.append(_text(f"{one.sessions}", _LEFT + slot * (place + 0.5), top - 5, class_="count"))
    drawn.extend(_ticks(spans, slot))
    return _image(name, drawn)


def _bar(one: OutcomeSpan, *, left: float, slot: float, highest: int) -> Markup:
    width = min(slot * 0.72, 34)
    x, bottom = left + (slot - width) / 2, float(_BASE)
    parts = []
    for kind, _, number in counts_of(one):
        height = (_BASE - _TOP) * number / highest
        if height:
            bottom -= height
            parts.append(_block(kind, x=x, y=bottom, width=width, height=height))
    said = ", ".join(f"{number} {text}" for _, text, number in counts_of(one) if number)
    title = element("title", f"{between(one.start, one.end, year=True)}: {count(one.sessions, 'session')}. {said}")
    return element("g", title, *parts)


def _block(kind: str, *, x: float, y: float, width: float, height: float) -> Markup:
    """One part of a bar, with a gap to the next; the hollow one stays within its edge."""
    inset = 0.75 if kind == "claimed" else 0.0
    place = {
        "x": x + inset,
        "y": y + inset,
        "width": width - 2 * inset,
        "height": max(height - 1 - 2 * inset, 0.5),
        "rx": 1.5,
    }
    block = element("rect", class_=f"fill-{kind}", **place)
    return joined([block, element("rect", fill="url(#hatch)", **place)]) if kind == "failed" else block


def rate_trend(spans: Sequence[OutcomeSpan], *, name: str) -> Markup:
    """The success rate of each span with its range; the last is the period. Under ten sessions the range alone."""
    slot = (_RIGHT - _LEFT) / len(spans)
    drawn = [_grid([(0, "0 %"), (0.5, "50"), (1, "100")])]
    for place, one in enumerate(spans):
        middle = _LEFT + slot * (place + 0.5)
        drawn.append(_point(one, middle, last=place == len(spans) - 1))
    drawn.extend(_ticks(spans, slot))
    return _image(name, drawn)


def _point(one: OutcomeSpan, x: float, *, last: bool) -> Markup:
    title = element("title", f"{between(one.start, one.end, year=True)}: {rate_clause(one.rate)}")
    early = one.rate.too_early
    drawn = [title, _text(f"n {one.rate.n}", x, _TOP - 10, class_="early" if early else "count")]
    if one.rate.rate is not None:
        low, high, at = (_height(share) for share in (one.rate.interval.low, one.rate.interval.high, one.rate.rate))
        drawn.append(element("line", class_="range early" if early else "range", x1=x, x2=x, y1=low, y2=high))
        if not early:
            drawn.append(element("circle", class_="point now" if last else "point", cx=x, cy=at, r=5))
    return element("g", *drawn)


def rate_bar(rate: ReportRate) -> Markup:
    """A rate on a line from 0 to 100 %: the range as a band, the rate as a mark, without it when it is too early."""
    low, high = 100 * rate.interval.low, 100 * rate.interval.high
    parts = [element("rect", class_="band", x=low, y=2, width=max(high - low, 1), height=8, rx=2)]
    if rate.rate is not None and not rate.too_early:
        parts.append(element("rect", class_="mark", x=min(max(100 * rate.rate - 1, 0), 98), y=0, width=2, height=12))
    name = f"{rate_clause(rate)}; compatible with {within(rate.interval)}"
    return _svg(
        name, element("rect", class_="rail", x=0, y=5, width=100, height=2), *parts, box="0 0 100 12", kind="rate"
    )


def difference_bar(difference: float, interval: Interval) -> Markup:
    """A difference of two rates on a line from -100 to 100 points, with 0 in the middle."""
    low, high, at = (50 * (1 + share) for share in (interval.low, interval.high, difference))
    name = f"{points(difference)} points; compatible with {points(interval.low)} to {points(interval.high)}"
    return _svg(
        name,
        element("rect", class_="rail", x=0, y=5, width=100, height=2),
        element("rect", class_="band", x=low, y=2, width=max(high - low, 1), height=8, rx=2),
        element("rect", class_="mark", x=at - 1, y=0, width=2, height=12),
        element("rect", class_="zero", x=49.75, y=0, width=0.5, height=12),
        box="0 0 100 12",
        kind="rate",
    )


def swatch(kind: str) -> Markup:
    """The sign of an outcome in the legend."""
    block = _block(kind, x=0, y=0, width=14, height=15)
    return Markup(f'<svg class="swatch" viewBox="0 0 14 14" aria-hidden="true" focusable="false">{block}</svg>')


def _height(share: float) -> float:
    return _BASE - (_BASE - _TOP) * share


def _grid(lines: Sequence[tuple[float, str]]) -> Markup:
    drawn = []
    for share, text in lines:
        y = _height(share)
        drawn += [
            element("line", class_="grid", x1=_LEFT, x2=_RIGHT, y1=y, y2=y),
            _text(text, _LEFT - 5, y + 4, class_="axis", anchor="end"),
        ]
    return joined(drawn)


def _ticks(spans: Sequence[OutcomeSpan], slot: float) -> Iterator[Markup]:
    """Dates under the bars, counted back from the last; of spans over years only the month fits."""
    years = over_a_year(spans)
    each = -(-len(spans) // _MOST_TICKS)
    for place, one in enumerate(spans):
        if (len(spans) - 1 - place) % each == 0:
            text = day(one.start, year=True).partition(" ")[2] if years else day(one.start)
            yield _text(text, _LEFT + slot * (place + 0.5), _BASE + 18, class_="axis")


def _text(text: str, x: float, y: float, *, class_: str, anchor: str = "middle") -> Markup:
    return element("text", text, x=x, y=y, class_=class_, text_anchor=anchor)


def _image(name: str, drawn: Sequence[Markup]) -> Markup:
    return _svg(name, *drawn, box=f"0 0 {WIDTH} {HEIGHT}", kind="chart")


def _svg(name: str, *drawn: Markup, box: str, kind: str) -> Markup:
    # Only rates are stretched to their place; text in a chart must keep its form.
    stretch = "none" if kind == "rate" else None
    return element("svg", *drawn, class_=kind, viewBox=box, preserveAspectRatio=stretch, role="img", aria_label=name)
