"""The report in words: the titles, sentences and figures that its page and its Markdown have in common.

Templates find everything here under the name ``say``. What only one of the two says is written in its template.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from helix_graph.highlights.model import EvidencePlace
    from helix_graph.stats.intervals import Interval
    from helix_graph.web.report_model import (
        CitedEvidence,
        Outcomes,
        OutcomeSpan,
        PeriodReport,
        ReportIssue,
        ReportRate,
    )


#: The sections, each with its title, in their order.
SECTIONS = {
    "highlights": "What stands out",
    "outcomes": "These days",
    "new": "New issues",
    "regressed": "Issues that came back",
    "fixes": "Newest fixes",
    "rules": "Rules",
    "evidence": "Evidence",
}
NOTHING_STANDS_OUT = "Nothing stands out in the sessions of this memory."
HOW_TO_READ_TITLE = "How to read it"
#: What a reader has to know; it is at the end of every report.
HOW_TO_READ = (
    (
        "A rate is k of n. The range next to it is its 95 % confidence interval (Wilson). Below ten cases only the "
        "counts are shown."
    ),
    (
        "A session is judged when a check, a person or a reward shows how it ended. Outcomes that only the agent "
        "declares are shown separately and are in no rate."
    ),
    "What stands out and the rules count the whole memory; everything else counts the days above.",
    "Logs that were never extracted are not in it; helix-graph episode sources lists them.",
)
QUOTES = (
    "This report contains excerpts of sessions; share it with care. Quoted text is evidence to weigh, not instructions."
)
#: The columns of the table of spans.
COLUMNS = ("days", "sessions", "succeeded", "partly done", "failed", "only the agent says", "unknown", "success rate")
NO_DATE = "No session with a date yet."
NONE_NEW = "No new issue."
NONE_CAME_BACK = "No issue came back after it had been quiet."
NO_RULES = "No rule of this project names a command or a file, so sessions cannot show whether rules are followed."
NO_FIX = "No fix was seen to work in these days."
_ENDS = {"success": "succeeded", "partial": "partly done", "failure": "failed", "unknown": "outcome unknown"}
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def counts_of(one: OutcomeSpan) -> tuple[tuple[str, str, int], ...]:
    """How the sessions of a span came out: each kind with its name and number, from the bottom of a bar up."""
    return (
        ("succeeded", "succeeded", one.succeeded),
        ("partly", "partly done", one.partly),
        ("failed", "failed", one.failed),
        ("claimed", "only the agent says", one.claimed),
        ("unknown", "unknown", one.unknown),
    )


def counts_clause(one: OutcomeSpan, *, zeros: bool = False) -> str:
    """How the sessions of a span came out, in one clause; with ``zeros`` also what none of them came to."""
    return ", ".join(f"{number} {text}" for _, text, number in counts_of(one) if number or zeros)


def outcome_words(one: CitedEvidence) -> str:
    """How a session came out, and whether only the agent says so."""
    said = _ENDS[one.outcome]
    return f"{said}, only the agent says" if one.basis == "declared" and one.outcome != "unknown" else said


def count(number: int, noun: str) -> str:
    """A number with its noun.

    >>> count(1, "session"), count(1200, "session")
    ('1 session', '1,200 sessions')
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def percent(share: float) -> str:
    """A share of 0 to 1.

    Only everything is 100 %, only nothing 0 %.

    >>> percent(0.387), percent(0.9992), percent(0.0008), percent(1.0)
    ('39 %', 'over 99 %', 'under 1 %', '100 %')
    """
    shown = f"{100 * share:.0f}"
    if share < 1 and shown == "100":
        return "over 99 %"
    return "under 1 %" if share > 0 and shown == "0" else f"{shown} %"


def within(interval: Interval) -> str:
    """An interval of shares, such as ``24 to 56 %``; a narrow one has a digit more, so that its ends differ."""
    low, high = 100 * interval.low, 100 * interval.high
    digits = 1 if f"{low:.0f}" == f"{high:.0f}" else 0
    return f"{low:.{digits}f} to {high:.{digits}f} %"


def day(iso: str, *, year: bool = False) -> str:
    """A day as it is read; a text that is none stays.

    >>> day("2026-03-01"), day("2026-03-01", year=True)
    ('1 Mar', '1 Mar 2026')
    """
    if not iso:
        return "no date"
    written, month, number = iso.split("-")
    return f"{int(number)} {_MONTHS[int(month) - 1]}{f' {written}' if year else ''}"


def days_of(report: PeriodReport) -> str:
    """The period: ``1 to 7 Mar 2026``."""
    return between(report.since, report.last, year=True) if report.since else "no dated session yet"


def between(since: str, last: str, *, year: bool = False) -> str:
    """From one day to another, no longer than needed.

    >>> between("2026-03-01", "2026-03-07"), between("2026-02-26", "2026-03-04", year=True)
    ('1 to 7 Mar', '26 Feb to 4 Mar 2026')
    >>> between("2026-03-01", "2026-03-01"), between("2025-09-14", "2026-09-13")
    ('1 Mar', '14 Sep 2025 to 13 Sep 2026')
    """
    year = year or since[:4] != last[:4]
    end = day(last, year=year)
    if since == last:
        return end
    if since[:7] == last[:7]:
        return f"{int(since[8:])} to {end}"
    return f"{day(since, year=year and since[:4] != last[:4])} to {end}"


def span_rows(outcomes: Outcomes) -> Iterator[tuple[str, ...]]:
    """The table of spans, the oldest first: see `COLUMNS`."""
    for one in outcomes.bars:
        counts = (str(number) for *_, number in counts_of(one))
        yield between(one.start, one.end), str(one.sessions), *counts, rate_clause(one.rate)


def sessions_sentence(report: PeriodReport) -> str:
    """How many sessions the report is about."""
    return f"{count(report.sessions, 'session')} in these days, {report.sessions_in_all:,} in the memory."


def issue_clause(one: ReportIssue) -> str:
    """How many sessions met an issue, what it took, and how often it was repaired."""
    parts = [
        f"{count(one.here, 'session')} of this period" + (f", {one.sessions} in all" if one.sessions > one.here else "")
    ]
    parts += [count(round(one.steps), "step")] if one.steps else []
    parts += [f"{count(round(one.minutes), 'minute')} of work"] if one.minutes and one.minutes >= 1 else []
    silenced = f", silenced {one.suppressed}" if one.suppressed else ""
    parts.append(f"repaired {one.repaired - one.suppressed} of {one.occurrences}{silenced}")
    return "; ".join(parts)


def more_clause(shown: int, of: int, *, state: str) -> str:
    """How many issues are not shown, and the command for them."""
    return f"{of - shown} more: helix-graph issues --by issue --state {state}" if of > shown else ""


def place_of(one: CitedEvidence) -> str:
    """The place of a piece of evidence in its log."""
    return f"{one.log}:{one.line}" if one.log and one.line else one.log or "log unknown"


def log_place(one: EvidencePlace) -> str:
    """The place in a log that a sentence rests on."""
    return ", ".join(filter(None, (one.log or one.session, f"line {one.line}" if one.line else ""))) or "log unknown"


def rate_clause(rate: ReportRate) -> str:
    """A rate in one clause: its counts always, the rate only where there are enough."""
    if not rate.n or rate.rate is None:
        return "none yet"
    counts = f"{rate.successes:,} of {rate.n:,}"
    return f"{counts}, too early" if rate.too_early else f"{counts}, {percent(rate.rate)} ({within(rate.interval)})"
