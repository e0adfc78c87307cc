"""The report as one HTML file: no script at all, and a policy that would let none run.

``default-src 'none'`` and the SHA-256 of its one style sheet. Every text goes through `markup`, which escapes it.
"""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

from helix_graph.report import rows, words
from helix_graph.report.charts import HATCH
from helix_graph.report.figures import glance, nothing, over_time, section
from helix_graph.report.links import Links
from helix_graph.report.markup import Markup, element, joined, quoted, short
from helix_graph.report.words import count, day
from helix_graph.view.html import colours, hash_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from helix_graph.report.model import Evidence, Health, Report

#: By which a folder is known to hold an earlier report.
MARK = '<meta name="generator" content="helix-graph report">'
_LONGEST_TASK = 140


def page_of(report: Report, *, pages: Mapping[str, str] | None = None) -> bytes:
    """The report as the bytes of an HTML file; ``pages`` are the addresses of sessions' pages, by episode."""
    style = colours() + files("helix_graph.report").joinpath("static", "report.css").read_text(encoding="utf-8")
    policy = f"default-src 'none'; style-src {hash_of(style)}; base-uri 'none'; form-action 'none'"
    lines = [
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="referrer" content="no-referrer">',
        MARK,
        element("title", f"{report.title}, {words.days_of(report)}"),
        f"<style>{style}</style>\n</head>\n<body>",
        *_body(report, Links(report.evidence, pages or {})),
        "</body>\n</html>\n",
    ]
    return "\n".join(lines).encode()


def _body(report: Report, links: Links) -> Sequence[Markup]:
    sections = (
        glance(report),
        over_time(report.outcomes, days=report.days),
        rows.works(report.works, links),
        rows.failing(report.failing, report.troubles, links),
        rows.fixes(report.repairs, links),
        rows.insights(report.learnt),
        _health(report.health),
        _evidence(report.evidence, links),
    )
    skip = element("a", "Skip to the report", class_="skip", href="#report")
    return [HATCH, skip, _head(report), element("main", joined(sections, "\n"), id="report", tabindex="-1"), _foot()]


def _head(report: Report) -> Markup:
    about = f"{count(report.sessions, 'session')} in these days, {report.health.sessions:,} in the memory."
    notes = element("ul", *(element("li", one) for one in report.notes), class_="notes") if report.notes else Markup()
    return element(
        "header",
        element("p", "helix-graph report", class_="kicker"),
        element("h1", quoted(report.title), " ", element("span", words.days_of(report), class_="when")),
        element("p", about, class_="lead"),
        notes,
    )


def _health(health: Health) -> Markup:
    lines = [line for name, value in words.health(health) for line in (element("dt", name), element("dd", value))]
    damaged = [
        element("li", element("code", short(one.file, _LONGEST_TASK)), f": {short(one.problem, _LONGEST_TASK)}")
        for one in health.damaged
    ]
    files_named = [element("h3", "Files that could not be read"), element("ul", *damaged)] if damaged else []
    return section("health", "Memory health", element("dl", *lines, class_="health"), *files_named)


def _evidence(evidence: Sequence[Evidence], links: Links) -> Markup:
    if not evidence:
        return section("evidence", "Evidence", nothing("Nothing above rests on a session yet."))
    by_session: dict[str, list[Evidence]] = {}
    for one in evidence:
        by_session.setdefault(one.episode, []).append(one)
    sessions = element("ul", *(_session(each, links) for each in by_session.values()), class_="evidence")
    return section("evidence", "Evidence", sessions)


def _session(pieces: Sequence[Evidence], links: Links) -> Markup:
    """What is cited of one session, in the order of its log."""
    one, page = pieces[0], links.page(pieces[0])
    name = element("a", quoted(one.episode), href=page) if page else quoted(one.episode)
    about = f"{day(one.date, year=True)} · {words.ended(one)}"
    ordered = sorted(pieces, key=lambda each: (each.log, each.line or 0, each.number))
    return element(
        "li",
        element("p", element("b", name), class_="where"),
        element("p", about, " · ", quoted(short(one.task, _LONGEST_TASK)), class_="small"),
        element("ul", *map(_piece, ordered)),
    )


def _piece(one: Evidence) -> Markup:
    place = f"{one.log}:{one.line}" if one.log and one.line else one.log or "log unknown"
    return element(
        "li",
        element("p", f"{one.number} ", quoted(place), class_="log"),
        element("blockquote", one.quote or one.text, dir="auto"),
        id=f"e{one.number}",
    )


def _foot() -> Markup:
    lines = (element("li", one) for one in words.HOW_TO_READ)
    return element("footer", element("h2", "How to read it"), element("ul", *lines), element("p", words.QUOTES))
