"""The report as Markdown, for a wiki, a pull request or a chat.

Texts of logs stay text: every character that Markdown or HTML would interpret is escaped, and line breaks become
blanks, so that no label begins a heading or closes a table.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from helix_graph.graph.patterns import describe
from helix_graph.insights.uplift import describe_uplift
from helix_graph.web import report_words
from helix_graph.web.html import short
from helix_graph.web.report_words import between, count, counts_of, day, told

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from helix_graph.web.report_model import (
        CitedEvidence,
        Outcomes,
        OutcomeSpan,
        PeriodReport,
        RecurringError,
        ReportFindings,
        ReportInsights,
        ReportRepair,
    )


_LONGEST = 300
#: A forge looks for names in what is rendered, where an escape is gone; an empty comment still parts them.
_AT = re.compile(r"@(?=\w)")
_ADDRESS = re.compile(r"(\bwww(?=\.)|(?:https?|ftp)(?=://))", re.IGNORECASE)
_MEANS_SOMETHING = re.compile(r"([\\`*_\[\]<>|~#&!])")


def report_markdown(report: PeriodReport) -> str:
    """The report as Markdown."""
    return "\n".join(_lines(report)) + "\n"


def plain(text: str) -> str:
    r"""A text of a log on one line, without a meaning in Markdown.

    Names after an ``@`` and addresses are kept from becoming a message to somebody and a link: a forge does so with
    bare ones too.

    >>> print(plain("a | <b>\n# [x](y)"))
    a \| \<b\> \# \[x\](y)
    >>> print(plain("@fixture https://a.example www.b.example"))
    @<!-- -->fixture https\://a.example www\.b.example
    """
    escaped = _MEANS_SOMETHING.sub(r"\\\1", short(text, _LONGEST))
    return _AT.sub("@<!-- -->", _ADDRESS.sub(r"\1\\", escaped))


def _lines(report: PeriodReport) -> Iterator[str]:
    yield f"# {plain(report.title)}, {report_words.days_of(report)}"
    yield ""
    yield f"{count(report.sessions, 'session')} in these days, {report.health.sessions:,} in the memory."
    yield from _listed(report.notes)
    yield from _outcomes(report.outcomes, report)
    yield from _findings("What works", report.works, none=report_words.NONE_WORKS)
    yield from _findings("What keeps failing", report.failing, none=report_words.NONE_FAILS)
    yield from _troubles(report.troubles)
    yield from _repairs(report.repairs)
    yield from _learnt(report.learnt)
    yield from _titled("Memory health")
    yield from (f"- {name}: {plain(value)}" for name, value in report_words.health(report.health))
    yield from (f"- {plain(one.file)}: {plain(one.problem)}" for one in report.health.damaged)
    yield from _titled("Evidence")
    yield from (_entry(one) for one in report.evidence)
    yield from _titled("How to read it")
    yield from (f"- {one}" for one in report_words.HOW_TO_READ)
    yield ""
    yield report_words.QUOTES


def _titled(title: str) -> Iterator[str]:
    yield from ("", f"## {title}", "")


def _listed(sentences: Sequence[str]) -> Iterator[str]:
    if sentences:
        yield ""
        yield from (f"- {one}" for one in sentences)


def _outcomes(outcomes: Outcomes | None, report: PeriodReport) -> Iterator[str]:
    yield from _titled("Outcomes over time")
    if outcomes is None:
        yield report_words.NO_DATE
        return
    yield f"Success: {told(outcomes.period.rate)}. {report_words.change(outcomes.change, days=report.days)}"
    yield f"Errors of these days seen fixed: {told(report.fixed)}."
    yield f"Errors that an earlier session had met: {told(report.met_again)}; fixed then: {told(report.fixed_before)}."
    yield ""
    yield f"| {' | '.join(report_words.COLUMNS)} |"
    yield f"|{' --- |' * len(report_words.COLUMNS)}"
    spans = (*outcomes.trend[:-1], *outcomes.bars)
    years = report_words.over_a_year(spans)
    yield from (_row(one, year=years) for one in spans)


def _row(one: OutcomeSpan, *, year: bool) -> str:
    counts = (f"{one.sessions}", *(f"{number}" for *_, number in counts_of(one)))
    return f"| {' | '.join([between(one.start, one.end, year=year), *counts, told(one.rate)])} |"


def _findings(title: str, found: ReportFindings, *, none: str) -> Iterator[str]:
    yield from _titled(title)
    if not found.of:
        yield none
        return
    yield report_words.shown_of(found)
    if found.shown:
        yield ""
    for one in found.shown:
        recent = "; used in these days" if one.in_period else ""
        yield f"- {plain(describe(one.pattern))}{recent}{_cited(one.evidence)}"


def _troubles(troubles: Sequence[RecurringError]) -> Iterator[str]:
    yield from ("", "### Errors of these days that came again", "")
    if not troubles:
        yield report_words.NONE_AGAIN
    for one in troubles:
        met = f"met by {count(one.sessions, 'session')} of these days, by {one.earlier:,} before"
        yield f"- {plain(one.label)}: {met}; fixed in {told(one.fixed)}{_cited(one.evidence)}"


def _repairs(repairs: Sequence[ReportRepair]) -> Iterator[str]:
    yield from _titled("Newest fixes")
    if not repairs:
        yield report_words.NO_FIX
    for one in repairs:
        cited = [number for number in (one.failed, one.changed, one.passed) if number]
        yield f"- {day(one.date, year=True)}: {plain(one.label)}: {plain('; '.join(one.changes))}{_cited(cited)}"


def _learnt(learnt: ReportInsights) -> Iterator[str]:
    yield from _titled("Insights by uplift")
    yield report_words.learnt(learnt)
    if learnt.of:
        yield ""
        yield f"- {plain(describe_uplift(learnt.pooled))}"
    for one in learnt.shown:
        yield f"- {plain(describe_uplift(one.uplift))}. {plain(one.content)}"


def _cited(numbers: Sequence[int]) -> str:
    return f" (evidence {', '.join(f'[{number}](#evidence)' for number in numbers)})" if numbers else ""


def _entry(one: CitedEvidence) -> str:
    place = f"{one.log}:{one.line}" if one.log and one.line else one.log or "log unknown"
    where = f"{plain(one.episode)}, {one.step}, {day(one.date, year=True)}, {plain(place)}"
    return f"{one.number}. {where}: {plain(one.quote or one.text)}"
