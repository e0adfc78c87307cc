"""The lists of the page: what works, what keeps failing, fixes, insights. Each row has its figures and its evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from helix_graph.insights.uplift import LEAST
from helix_graph.report import words
from helix_graph.report.charts import difference_bar, rate_bar
from helix_graph.report.figures import nothing, section
from helix_graph.report.markup import Markup, element, joined, quoted, short
from helix_graph.report.model import rate_of
from helix_graph.report.words import count, day, percent, within

if TYPE_CHECKING:
    from collections.abc import Sequence

    from helix_graph.causality.patterns import Pattern
    from helix_graph.insights.uplift import Uplift
    from helix_graph.report.links import Links
    from helix_graph.report.model import Advice, Finding, Findings, Learnt, Rate, Repair, Trouble

_LONGEST_TEXT = 160
_LONGEST_ADVICE = 300
_CHANGES_SHOWN = 3


def works(found: Findings, links: Links) -> Markup:
    """What works."""
    return section("works", "What works", _findings(found, links, command="patterns", none=words.NONE_WORKS))


def failing(found: Findings, troubles: Sequence[Trouble], links: Links) -> Markup:
    """What keeps failing: patterns, and the errors of the period that came again."""
    rows = element("ol", *(_trouble(one, links) for one in troubles), class_="rows")
    return section(
        "failing",
        "What keeps failing",
        _findings(found, links, command="anti-patterns", none=words.NONE_FAILS),
        element("h3", "Errors of these days that came again"),
        rows if troubles else nothing(words.NONE_AGAIN),
    )


def _findings(found: Findings, links: Links, *, command: str, none: str) -> Markup:
    if not found.of:
        return nothing(none)
    more = element("p", words.shown_of(found), " All: ", element("code", f"helix-graph {command}"), ".", class_="small")
    early = bool(found.too_early)
    rows = element("ol", *(_finding(one, links, early=early) for one in found.shown), class_="rows")
    return joined([more, rows]) if found.shown else more


def _finding(one: Finding, links: Links, *, early: bool) -> Markup:
    row = one.pattern
    return element(
        "li",
        element(
            "div",
            element("p", quoted(short(words.situation(row), _LONGEST_TEXT)), class_="situation"),
            element("p", quoted(short(row.action, _LONGEST_TEXT)), class_="what"),
            element("p", words.beside(one), class_="small"),
            _chip(row, early=early),
            links.to(one.evidence),
        ),
        _figures(row),
    )


def _chip(row: Pattern, *, early: bool) -> Markup:
    """What comparisons say, unless it is too early for all of them, which stands above the list."""
    if early and row.standing == "too early":
        return Markup()
    chip = element("span", words.says(row), class_=f"chip {row.standing.replace(' ', '-')}")
    return element("p", chip, class_="chips")


def _figures(row: Pattern) -> Markup:
    if row.successes is None:
        return element("div", element("p", f"told {count(row.occurrences, 'time')}", class_="small"), class_="figure")
    return _rate(rate_of(row.successes, row.occurrences))


def _rate(rate: Rate, *, prefix: str = "") -> Markup:
    """A rate as a figure, a bar and its counts; too early, the counts alone are the figure."""
    counts = f"{rate.successes} of {rate.n}"
    if rate.rate is None or rate.too_early:
        below = "too early for a rate"
        figure = counts
    else:
        below = f"{counts}; {within(rate.interval)}"
        figure = percent(rate.rate)
    return element(
        "div",
        element("p", f"{prefix}{figure}", class_="big"),
        rate_bar(rate),
        element("p", below, class_="small"),
        class_="figure",
    )


def _trouble(one: Trouble, links: Links) -> Markup:
    met = f"met by {count(one.sessions, 'session')} of these days, by {one.earlier:,} before"
    return element(
        "li",
        element(
            "div",
            element("p", quoted(short(one.label, _LONGEST_TEXT)), class_="what"),
            element("p", met, class_="small"),
            links.to(one.evidence),
        ),
        _rate(one.fixed, prefix="fixed "),
    )


def fixes(repairs: Sequence[Repair], links: Links) -> Markup:
    """The newest verified fixes."""
    if not repairs:
        return section("fixes", "Newest fixes", nothing(words.NO_FIX))
    said = "After the change the failing check was seen to pass. Of several changes each may have done it."
    rows = element("ol", *(_repair(one, links) for one in repairs), class_="rows plain")
    return section("fixes", "Newest fixes", element("p", said, class_="small"), rows)


def _repair(one: Repair, links: Links) -> Markup:
    message = short(one.message, _LONGEST_TEXT)
    told_more = bool(message) and message not in one.label
    changes = [element("li", quoted(short(text, _LONGEST_TEXT))) for text in one.changes[:_CHANGES_SHOWN]]
    left = len(one.changes) - len(changes)
    if left:
        changes.append(element("li", f"and {left} more"))
    return element(
        "li",
        element(
            "div",
            element("p", day(one.date, year=True), class_="situation"),
            element("p", quoted(short(one.label, _LONGEST_TEXT)), class_="what"),
            element("p", quoted(message), class_="log") if told_more else Markup(),
            links.named({"failed": one.failed, "changed": one.changed, "passed": one.passed}),
        ),
        element("ul", *changes, class_="changes"),
    )


def insights(learnt: Learnt) -> Markup:
    """What insights do: all together first, then each."""
    if not learnt.of:
        return section("insights", "Insights by uplift", nothing(words.learnt(learnt)))
    rows = element("ol", _uplift(learnt.pooled, "All insights together"), *map(_advice, learnt.shown), class_="rows")
    return section("insights", "Insights by uplift", element("p", words.learnt(learnt), class_="small"), rows)


def _advice(one: Advice) -> Markup:
    return _uplift(one.uplift, short(one.content, _LONGEST_ADVICE) or one.uplift.insight or "")


def _uplift(one: Uplift, text: str) -> Markup:
    sides = (
        f"{side.successes} of {side.n} {word}" for side, word in ((one.given, "with it"), (one.withheld, "without it"))
    )
    about = element("p", one.insight, class_="log") if one.insight else Markup()
    if one.difference is None or one.interval is None:
        figure, below, bar = "too early", f"{LEAST} of each are needed", Markup()
    else:
        figure = f"{words.points(one.difference)} points"
        bar = difference_bar(one.difference, one.interval)
        below = f"{words.points(one.interval.low)} to {words.points(one.interval.high)}; {one.verdict}"
    return element(
        "li",
        element(
            "div", element("p", quoted(text), class_="what"), about, element("p", ", ".join(sides), class_="small")
        ),
        element("div", element("p", figure, class_="big"), bar, element("p", below, class_="small"), class_="figure"),
    )
