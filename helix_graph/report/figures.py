"""The upper part of the page: the figures at a glance, and outcomes over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from helix_graph.report import words
from helix_graph.report.charts import outcome_bars, rate_bar, rate_trend, swatch
from helix_graph.report.markup import Markup, element
from helix_graph.report.model import rate_of
from helix_graph.report.words import between, count, counts_of, percent, told, within

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from helix_graph.report.model import Outcomes, Rate, Report, Span


def section(name: str, title: str, *parts: Markup) -> Markup:
    """A section of the page with its heading."""
    return element("section", element("h2", title, id=f"h-{name}"), *parts, id=name, aria_labelledby=f"h-{name}")


def nothing(said: str) -> Markup:
    """The sentence that stands where there is nothing to show."""
    return element("p", said, class_="nothing")


def glance(report: Report) -> Markup:
    """Four figures, each with its n, and with its range where it is a rate."""
    period = report.outcomes.period.rate if report.outcomes else rate_of(0, 0)
    cards = (
        _card("Sessions", f"{report.sessions:,}", f"of {report.health.sessions:,} in the memory"),
        _rate_card("Succeeded", period, "judged sessions of these days"),
        _rate_card("Errors seen fixed", report.fixed, "errors of these days. Where no check ran again, none is seen."),
        _rate_card(
            "Errors met before", report.met_again, f"errors in the memory. Fixed then: {told(report.fixed_before)}"
        ),
    )
    title = element("h2", "At a glance", class_="unseen", id="h-glance")
    return element("section", title, element("ul", *cards, class_="cards"), aria_labelledby="h-glance")


def _card(name: str, figure: str, *below: str | Markup) -> Markup:
    said = (one if isinstance(one, Markup) else element("p", one, class_="small") for one in below)
    return element("li", element("p", name, class_="name"), element("p", figure, class_="big"), *said)


def _rate_card(name: str, rate: Rate, of: str) -> Markup:
    if rate.rate is None:
        return _card(name, "none", of)
    counts = f"{rate.successes:,} of {rate.n:,} {of}"
    if rate.too_early:
        return _card(
            name, f"{rate.successes} of {rate.n}", element("p", "too early for a rate", class_="chip early"), of
        )
    return _card(name, percent(rate.rate), rate_bar(rate), f"{within(rate.interval)}; {counts}")


def over_time(outcomes: Outcomes | None, *, days: int) -> Markup:
    """Bars of the period, rates of the time before, the difference, and the numbers behind them."""
    if outcomes is None:
        return section("outcomes", "Outcomes over time", nothing(words.NO_DATE))
    pair = element("div", _bars(outcomes, days), _trend(outcomes, days), class_="pair")
    return section("outcomes", "Outcomes over time", pair, _numbers([*outcomes.trend[:-1], *outcomes.bars]))


def _bars(outcomes: Outcomes, days: int) -> Markup:
    period = outcomes.period
    said = ", ".join(f"{number} {text}" for _, text, number in counts_of(period))
    each = "day" if len(outcomes.bars) == days else "week"
    name = f"Bar chart of sessions a {each}: {count(period.sessions, 'session')} in all, {said}."
    keys = (
        element("li", swatch(kind), f"{text} ", element("b", f"{number}")) for kind, text, number in counts_of(period)
    )
    return element(
        "figure",
        element("figcaption", element("h3", f"Sessions a {each}")),
        outcome_bars(outcomes.bars, name=name),
        element("ul", *keys, class_="legend"),
    )


def _trend(outcomes: Outcomes, days: int) -> Markup:
    now, before = outcomes.period.rate, outcomes.change.before
    each = "Success rate, week by week" if days == 7 else f"Success rate, each {count(days, 'day')}"  # noqa: PLR2004  (a week)
    name = f"Success rates with their ranges: {told(now)} in these days, {told(before)} in the time before."
    judged = any(one.rate.n for one in outcomes.trend)
    return element(
        "figure",
        element("figcaption", element("h3", each)),
        rate_trend(outcomes.trend, name=name) if judged else nothing(words.NONE_JUDGED),
        element("p", words.change(outcomes.change, days=days), class_="small"),
    )


def _numbers(spans: Sequence[Span]) -> Markup:
    head = element("tr", *(element("th", text, scope="col") for text in words.COLUMNS))
    years = words.over_a_year(spans)
    rows = (element("tr", *_row(one, year=years)) for one in spans)
    table = element("table", element("thead", head), element("tbody", *rows))
    return element(
        "details",
        element("summary", "The numbers behind the charts"),
        element("div", table, class_="wide", tabindex="0", role="region", aria_label="The numbers behind the charts"),
    )


def _row(one: Span, *, year: bool) -> Iterable[Markup]:
    yield element("th", between(one.start, one.end, year=year), scope="row")
    for text in (f"{one.sessions}", *(f"{number}" for *_, number in counts_of(one)), told(one.rate)):
        yield element("td", text)
