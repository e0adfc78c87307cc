"""The report as one HTML file: figures at a glance, outcomes over time, lists with evidence; no script at all.

Its policy is ``default-src 'none'`` and the SHA-256 of its one style sheet. Every text goes through `html.element`,
which escapes it. Evidence links to the page of the session where there is one, else to the list at the end.
"""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING
from urllib.parse import quote

from helix_graph.insights.uplift import LEAST
from helix_graph.web import report_text
from helix_graph.web.charts import HATCH, difference_bar, outcome_bars, rate_bar, rate_trend, swatch
from helix_graph.web.html import Markup, colours, element, hash_of, joined, quoted, short
from helix_graph.web.report_model import rate_of
from helix_graph.web.report_text import count, counts_of, day, percent, rate_clause, within

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from helix_graph.insights.uplift import Uplift
    from helix_graph.web.report_model import (
        CitedEvidence,
        MemoryHealth,
        Outcomes,
        OutcomeSpan,
        PeriodReport,
        RecurringError,
        ReportFinding,
        ReportFindings,
        ReportInsights,
        ReportRate,
        ReportRepair,
    )


_LONGEST_LINKED_TASK = 90


class Links:
    """The evidence of a report by its numbers; ``pages`` are the addresses of sessions' pages by episode."""

    def __init__(self, evidence: Sequence[CitedEvidence], pages: Mapping[str, str]) -> None:
        self._evidence = {one.number: one for one in evidence}
        self._pages = pages

    def to(self, numbers: Sequence[int]) -> Markup:
        """A line of links; nothing for no evidence."""
        if not numbers:
            return Markup()
        links = [self.link(self._evidence[number]) for number in numbers]
        return element("p", "Evidence: ", joined(links, " "), class_="evidence-links")

    def named(self, numbers: Mapping[str, int | None]) -> Markup:
        """A line of links that say what each piece is."""
        found = {name: self._evidence[number] for name, number in numbers.items() if number}
        links = [self._link(one, f"{name}{_line(one)}") for name, one in found.items()]
        return element("p", "Evidence: ", joined(links, " "), class_="evidence-links") if links else Markup()

    def link(self, one: CitedEvidence) -> Markup:
        """The link to one piece, by its date and line."""
        return self._link(one, f"{day(one.date)}{_line(one)}")

    def _link(self, one: CitedEvidence, text: str) -> Markup:
        """With the session's task for those who cannot see where it leads."""
        name = f"{text}: evidence {one.number}, {short(one.task, _LONGEST_LINKED_TASK)}"
        return element("a", text, href=self.address(one), aria_label=name)

    def address(self, one: CitedEvidence) -> str:
        """Where a piece of evidence is shown."""
        page = self.page(one)
        return f"{page}#step-{quote(one.step, safe='')}" if page else f"#e{one.number}"

    def page(self, one: CitedEvidence) -> str:
        """The address of its session's page; empty when there is none."""
        return self._pages.get(one.episode, "")


def _line(one: CitedEvidence) -> str:
    return f", line {one.line}" if one.line else ""


def section(name: str, title: str, *parts: Markup) -> Markup:
    """A section of the page with its heading."""
    return element("section", element("h2", title, id=f"h-{name}"), *parts, id=name, aria_labelledby=f"h-{name}")


def nothing(said: str) -> Markup:
    """The sentence that is shown where there is nothing else."""
    return element("p", said, class_="nothing")


def glance(report: PeriodReport) -> Markup:
    """Four figures, each with its n, and with its range where it is a rate."""
    period = report.outcomes.period.rate if report.outcomes else rate_of(0, 0)
    cards = (
        _card("Sessions", f"{report.sessions:,}", f"of {report.health.sessions:,} in the memory"),
        _rate_card("Succeeded", period, "judged sessions of these days"),
        _rate_card("Errors seen fixed", report.fixed, "errors of these days. Where no check ran again, none is seen."),
        _rate_card(
            "Errors met before",
            report.met_again,
            f"errors in the memory. Fixed then: {rate_clause(report.fixed_before)}",
        ),
    )
    title = element("h2", "At a glance", class_="unseen", id="h-glance")
    return element("section", title, element("ul", *cards, class_="cards"), aria_labelledby="h-glance")


def _card(name: str, figure: str, *below: str | Markup) -> Markup:
    said = (one if isinstance(one, Markup) else element("p", one, class_="small") for one in below)
    return element("li", element("p", name, class_="name"), element("p", figure, class_="big"), *said)


def _rate_card(name: str, rate: ReportRate, of: str) -> Markup:
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
        return section("outcomes", "Outcomes over time", nothing(report_text.NO_DATE))
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
    name = (
        f"Success rates with their ranges: {rate_clause(now)} in these days, {rate_clause(before)} in the time before."
    )
    judged = any(one.rate.n for one in outcomes.trend)
    return element(
        "figure",
        element("figcaption", element("h3", each)),
        rate_trend(outcomes.trend, name=name) if judged else nothing(report_text.NONE_JUDGED),
        element("p", report_text.change_sentence(outcomes.change, days=days), class_="small"),
    )


def _numbers(spans: Sequence[OutcomeSpan]) -> Markup:
    head = element("tr", *(element("th", text, scope="col") for text in report_text.COLUMNS))
    years = report_text.over_a_year(spans)
    rows = []
    for one in spans:
        days, *figures = report_text.span_cells(one, year=years)
        rows.append(element("tr", element("th", days, scope="row"), *(element("td", text) for text in figures)))
    table = element("table", element("thead", head), element("tbody", *rows))
    return element(
        "details",
        element("summary", "The numbers behind the charts"),
        element("div", table, class_="wide", tabindex="0", role="region", aria_label="The numbers behind the charts"),
    )


_LONGEST_TEXT = 160
_LONGEST_ADVICE = 300
_CHANGES_SHOWN = 3


def works(found: ReportFindings, links: Links) -> Markup:
    """What works."""
    return section("works", "What works", _findings(found, links, command="patterns", none=report_text.NONE_WORKS))


def failing(found: ReportFindings, troubles: Sequence[RecurringError], links: Links) -> Markup:
    """What keeps failing: patterns, and the errors of the period that came again."""
    rows = element("ol", *(_trouble(one, links) for one in troubles), class_="rows")
    return section(
        "failing",
        "What keeps failing",
        _findings(found, links, command="anti-patterns", none=report_text.NONE_FAILS),
        element("h3", "Errors of these days that came again"),
        rows if troubles else nothing(report_text.NONE_AGAIN),
    )


def _findings(found: ReportFindings, links: Links, *, command: str, none: str) -> Markup:
    if not found.of:
        return nothing(none)
    more = element(
        "p", report_text.list_note(found), " All: ", element("code", f"helix-graph {command}"), ".", class_="small"
    )
    early = bool(found.too_early)
    rows = element("ol", *(_finding(one, links, early=early) for one in found.shown), class_="rows")
    return joined([more, rows]) if found.shown else more


def _finding(one: ReportFinding, links: Links, *, early: bool) -> Markup:
    row = one.pattern
    # What comparisons say, unless it is too early for all of them, which is said above the list.
    silent = early and row.standing == "too early"
    chip = element("span", report_text.comparison_note(row), class_=f"chip {row.standing.replace(' ', '-')}")
    if row.successes is None:
        told_by_people = element("p", f"told {count(row.occurrences, 'time')}", class_="small")
        figures = element("div", told_by_people, class_="figure")
    else:
        figures = _rate(rate_of(row.successes, row.occurrences))
    return element(
        "li",
        element(
            "div",
            element("p", quoted(short(report_text.situation_clause(row), _LONGEST_TEXT)), class_="situation"),
            element("p", quoted(short(row.action, _LONGEST_TEXT)), class_="what"),
            element("p", report_text.success_note(one), class_="small"),
            Markup() if silent else element("p", chip, class_="chips"),
            links.to(one.evidence),
        ),
        figures,
    )


def _rate(rate: ReportRate, *, prefix: str = "") -> Markup:
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


def _trouble(one: RecurringError, links: Links) -> Markup:
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


def fixes(repairs: Sequence[ReportRepair], links: Links) -> Markup:
    """The newest verified fixes."""
    if not repairs:
        return section("fixes", "Newest fixes", nothing(report_text.NO_FIX))
    said = "After the change the failing check was seen to pass. Of several changes each may have done it."
    rows = element("ol", *(_repair(one, links) for one in repairs), class_="rows plain")
    return section("fixes", "Newest fixes", element("p", said, class_="small"), rows)


def _repair(one: ReportRepair, links: Links) -> Markup:
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


def insights(learnt: ReportInsights) -> Markup:
    """What insights do: all together first, then each."""
    if not learnt.of:
        return section("insights", "Insights by uplift", nothing(report_text.insights_sentence(learnt)))
    rows = element(
        "ol",
        _uplift(learnt.pooled, "All insights together"),
        *(_uplift(one.uplift, short(one.content, _LONGEST_ADVICE) or one.uplift.insight or "") for one in learnt.shown),
        class_="rows",
    )
    return section(
        "insights", "Insights by uplift", element("p", report_text.insights_sentence(learnt), class_="small"), rows
    )


def _uplift(one: Uplift, text: str) -> Markup:
    sides = (
        f"{side.successes} of {side.n} {word}" for side, word in ((one.given, "with it"), (one.withheld, "without it"))
    )
    about = element("p", one.insight, class_="log") if one.insight else Markup()
    if one.difference is None or one.interval is None:
        figure, below, bar = "too early", f"{LEAST} of each are needed", Markup()
    else:
        figure = f"{report_text.points(one.difference)} points"
        bar = difference_bar(one.difference, one.interval)
        below = f"{report_text.points(one.interval.low)} to {report_text.points(one.interval.high)}; {one.verdict}"
    return element(
        "li",
        element(
            "div", element("p", quoted(text), class_="what"), about, element("p", ", ".join(sides), class_="small")
        ),
        element("div", element("p", figure, class_="big"), bar, element("p", below, class_="small"), class_="figure"),
    )


#: By which a folder is known to hold an earlier report.
REPORT_MARK = '<meta name="generator" content="helix-graph report">'
_LONGEST_TASK = 140


def report_html(report: PeriodReport, *, pages: Mapping[str, str] | None = None) -> bytes:
    """The report as the bytes of an HTML file; ``pages`` are the addresses of sessions' pages, by episode."""
    style = colours() + files("helix_graph.web").joinpath("static", "report.css").read_text(encoding="utf-8")
    policy = f"default-src 'none'; style-src {hash_of(style)}; base-uri 'none'; form-action 'none'"
    lines = [
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="referrer" content="no-referrer">',
        REPORT_MARK,
        element("title", f"{report.title}, {report_text.days_of(report)}"),
        f"<style>{style}</style>\n</head>\n<body>",
        *_body(report, Links(report.evidence, pages or {})),
        "</body>\n</html>\n",
    ]
    return "\n".join(lines).encode()


def _body(report: PeriodReport, links: Links) -> Sequence[Markup]:
    sections = (
        glance(report),
        over_time(report.outcomes, days=report.days),
        works(report.works, links),
        failing(report.failing, report.troubles, links),
        fixes(report.repairs, links),
        insights(report.learnt),
        _health(report.health),
        _evidence(report.evidence, links),
    )
    skip = element("a", "Skip to the report", class_="skip", href="#report")
    lines = (element("li", one) for one in report_text.HOW_TO_READ)
    return [
        HATCH,
        skip,
        _head(report),
        element("main", joined(sections, "\n"), id="report", tabindex="-1"),
        element("footer", element("h2", "How to read it"), element("ul", *lines), element("p", report_text.QUOTES)),
    ]


def _head(report: PeriodReport) -> Markup:
    about = f"{count(report.sessions, 'session')} in these days, {report.health.sessions:,} in the memory."
    notes = element("ul", *(element("li", one) for one in report.notes), class_="notes") if report.notes else Markup()
    return element(
        "header",
        element("p", "helix-graph report", class_="kicker"),
        element("h1", quoted(report.title), " ", element("span", report_text.days_of(report), class_="when")),
        element("p", about, class_="lead"),
        notes,
    )


def _health(health: MemoryHealth) -> Markup:
    lines = [
        line for name, value in report_text.health_rows(health) for line in (element("dt", name), element("dd", value))
    ]
    damaged = [
        element("li", element("code", short(one.file, _LONGEST_TASK)), f": {short(one.problem, _LONGEST_TASK)}")
        for one in health.damaged
    ]
    files_named = [element("h3", "Files that could not be read"), element("ul", *damaged)] if damaged else []
    return section("health", "Memory health", element("dl", *lines, class_="health"), *files_named)


def _evidence(evidence: Sequence[CitedEvidence], links: Links) -> Markup:
    if not evidence:
        return section("evidence", "Evidence", nothing("Nothing above rests on a session yet."))
    by_session: dict[str, list[CitedEvidence]] = {}
    for one in evidence:
        by_session.setdefault(one.episode, []).append(one)
    sessions = element("ul", *(_session(each, links) for each in by_session.values()), class_="evidence")
    return section("evidence", "Evidence", sessions)


def _session(pieces: Sequence[CitedEvidence], links: Links) -> Markup:
    """What is cited of one session, in the order of its log."""
    one, page = pieces[0], links.page(pieces[0])
    name = element("a", quoted(one.episode), href=page) if page else quoted(one.episode)
    about = f"{day(one.date, year=True)} · {report_text.outcome_words(one)}"
    ordered = sorted(pieces, key=lambda each: (each.log, each.line or 0, each.number))
    return element(
        "li",
        element("p", element("b", name), class_="where"),
        element("p", about, " · ", quoted(short(one.task, _LONGEST_TASK)), class_="small"),
        element("ul", *map(_piece, ordered)),
    )


def _piece(one: CitedEvidence) -> Markup:
    place = f"{one.log}:{one.line}" if one.log and one.line else one.log or "log unknown"
    return element(
        "li",
        element("p", f"{one.number} ", quoted(place), class_="log"),
        element("blockquote", one.quote or one.text, dir="auto"),
        id=f"e{one.number}",
    )
