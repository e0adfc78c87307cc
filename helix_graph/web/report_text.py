"""The report in words: the titles, sentences and figures that its page and its Markdown have in common.

Templates find everything here under the name ``say``. What only one of the two says is written in its template.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from typing import TYPE_CHECKING

from helix_graph.graph.patterns import ENOUGH_OCCURRENCES, Pattern

if TYPE_CHECKING:
    from helix_graph.stats.intervals import Interval
    from helix_graph.web.report_model import (
        CitedEvidence,
        MemoryHealth,
        OutcomeChange,
        Outcomes,
        OutcomeSpan,
        PeriodReport,
        RecurringError,
        ReportFinding,
        ReportFindings,
        ReportInsights,
        ReportRate,
    )


#: The sections, each with its title, in their order.
SECTIONS = {
    "highlights": "What stands out",
    "outcomes": "Outcomes over time",
    "works": "What works",
    "failing": "What keeps failing",
    "fixes": "Newest fixes",
    "insights": "Insights by uplift",
    "health": "Memory health",
    "evidence": "Evidence",
}
NOTHING_STANDS_OUT = "Nothing stands out in the sessions of this memory."
CAME_AGAIN = "Errors of these days that came again"
HOW_TO_READ_TITLE = "How to read it"
#: What a reader has to know; it is at the end of every report.
HOW_TO_READ = (
    (
        "A rate is k of n. The range beside it holds the long-run rates that such counts are compatible with (Wilson, "
        "95 %). Below ten cases it is too early: the counts are shown, and no rate."
    ),
    (
        "A session is judged when a check, a person or a reward says how it came out. What only the agent says is "
        "shown apart and is in no rate."
    ),
    (
        "What works and what keeps failing, what insights do, and the health count the whole memory; the rest counts "
        "the days above."
    ),
    (
        "“Associated” means that like sessions with and without it came out differently; nobody has tested it, and it "
        "says nothing of causes. “Not told apart” means that chance may explain the difference."
    ),
    "Logs that were never extracted are not in it; helix-graph episode sources lists them.",
)
QUOTES = "This report quotes sessions: mind whom you give it to."
#: The columns of the table of spans.
COLUMNS = ("days", "sessions", "succeeded", "partly done", "failed", "only the agent says", "unknown", "success rate")
NO_DATE = "No session with a date yet."
NONE_WORKS = "Nothing that was done in two sessions or more, with an end that is known, mostly succeeded."
NONE_FAILS = "Nothing that was done in two sessions or more, with an end that is known, mostly failed."
NONE_ENOUGH = "No row rests on ten sessions or more."
NONE_AGAIN = "No error of these days has been met by two sessions."
NO_FIX = "No fix was seen to work yet."
_ENDS = {"success": "succeeded", "partial": "partly done", "failure": "failed", "unknown": "outcome unknown"}
_SAYS = {
    "associated": "associated, not tested",
    "provisional": "provisional, it may be gone at the next look",
    "comes last": "done at the end, perhaps because of how it went",
    "not told apart": "not told apart from chance",
    "too early": "too early to compare",
    "not compared": "not compared",
    "told": "told by a person",
}
_SUCCESS = {
    "check passes later": "the check passes later",
    "next check passes": "the next check passes",
    "gone at the next run": "gone at the next run",
    "outcome": "the session succeeds",
    "asserted": "as somebody said",
}
#: Below it two digits would say 0, which no q is.
_SMALLEST_Q = 0.005
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


def points(difference: float) -> str:
    """A difference of two shares in points of a hundred, with its sign.

    >>> points(-0.171), points(0.2)
    ('\N{MINUS SIGN}17', '+20')
    """
    return f"{100 * difference:+.0f}".replace("-", "\N{MINUS SIGN}")


def day(iso: str, *, year: bool = False) -> str:
    """A day as it is read; a text that is none stays.

    >>> day("2026-03-01"), day("2026-03-01", year=True)
    ('1 Mar', '1 Mar 2026')
    """
    if not iso:
        return "no date"
    written, month, number = iso.split("-")
    return f"{int(number)} {_MONTHS[int(month) - 1]}{f' {written}' if year else ''}"


def tick(iso: str, *, years: bool) -> str:
    """A day under a bar; of spans over years only the month fits."""
    return day(iso, year=True).partition(" ")[2] if years else day(iso)


def days_of(report: PeriodReport) -> str:
    """The period: ``1 to 7 Mar 2026``."""
    if not report.since:
        return "no dated session yet"
    return between(report.since, report.last, year=True)


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
    """The table of spans, the times before the period first: see `COLUMNS`."""
    spans = (*outcomes.trend[:-1], *outcomes.bars)
    year = over_a_year(spans)
    for one in spans:
        counts = (str(number) for *_, number in counts_of(one))
        yield between(one.start, one.end, year=year), str(one.sessions), *counts, rate_clause(one.rate)


def over_a_year(spans: Sequence[OutcomeSpan]) -> bool:
    """Whether a day and its month may mean two days in these spans, which follow each other."""
    if not spans:
        return False
    first, last = (date.fromisoformat(one.start) for one in (spans[0], spans[-1]))
    return last - first >= timedelta(days=365)


def sessions_sentence(report: PeriodReport) -> str:
    """How many sessions the report is about."""
    return f"{count(report.sessions, 'session')} in these days, {report.health.sessions:,} in the memory."


def met_clause(one: RecurringError) -> str:
    """How many sessions met an error."""
    return f"met by {count(one.sessions, 'session')} of these days, by {one.earlier:,} before"


def place_of(one: CitedEvidence) -> str:
    """The place of a piece of evidence in its log."""
    return f"{one.log}:{one.line}" if one.log and one.line else one.log or "log unknown"


def rate_clause(rate: ReportRate) -> str:
    """A rate in one clause: its counts always, the rate only where there are enough."""
    if not rate.n or rate.rate is None:
        return "none yet"
    counts = f"{rate.successes:,} of {rate.n:,}"
    return f"{counts}, too early" if rate.too_early else f"{counts}, {percent(rate.rate)} ({within(rate.interval)})"


def change_sentence(one: OutcomeChange, *, days: int) -> str:
    """How the period compares with the time before, in a sentence."""
    before = f"the {count(one.spans * days, 'day')} before"
    if one.difference is None or one.interval is None:
        return f"Too early to compare with {before}: {one.reason}."
    low, high = points(one.interval.low), points(one.interval.high)
    figures = f"{points(one.difference)} points ({low} to {high}) against {rate_clause(one.before)} in {before}"
    said = "Not told apart" if one.verdict == "not told apart" else one.verdict.capitalize()
    return f"{said}: {figures}. Other tasks then than now: a difference is no effect."


def comparison_note(row: Pattern) -> str:
    """What comparing like sessions says of a pattern."""
    found = _SAYS[row.standing]
    if row.effect is None:
        return found
    low, high = points(row.effect.interval.low), points(row.effect.interval.high)
    q = row.effect.q
    chance = f"q {q:.2f}" if q >= _SMALLEST_Q else "q below 0.01"
    return f"{found}: {points(row.effect.difference)} points ({low} to {high}), {chance}"


def situation_clause(row: Pattern) -> str:
    """The situation of a pattern, as the beginning of a sentence."""
    lead = "On" if row.level in {"task", "any task", "asserted"} else "After"
    return f"{lead} {row.trigger}"


def without_note(row: Pattern) -> str:
    """How often the same situation ended well otherwise; of fewer than ten the counts."""
    if row.base_rate is None:
        return "nothing to compare with"
    if row.base_n < ENOUGH_OCCURRENCES:
        return f"without it {round(row.base_rate * row.base_n)} of {row.base_n}"
    return f"without it {percent(row.base_rate)} of {row.base_n}"


def success_note(one: ReportFinding) -> str:
    """What success means in a row, what happens otherwise, what is not measured, and whether the period has it."""
    row = one.pattern
    left = f"; {row.unmeasured} not measured" if row.unmeasured else ""
    return f"success: {_SUCCESS[row.basis]}; {without_note(row)}{left}{recent_clause(one)}"


def recent_clause(one: ReportFinding) -> str:
    """The end of what is said of a row whose newest use falls into the period."""
    return "; used in these days" if one.in_period else ""


def list_note(found: ReportFindings) -> str:
    """How much of a list is shown, and whether it is too early for rates."""
    early = any(one.pattern.too_early for one in found.shown)
    said = "Fewer than ten uses each: too early for rates. " if early else ""
    said = said if found.shown else f"{NONE_ENOUGH} "
    compared = f" Too early to compare like sessions: {found.too_early}." if found.too_early else ""
    return f"{said}{len(found.shown)} of {count(found.of, 'row')}.{compared}"


def insights_sentence(found: ReportInsights) -> str:
    """What insights rest on, in a sentence or two."""
    if not found.of:
        return (
            "Too early: nothing was withheld by lot yet, so nobody can tell what insights do. Write withhold = 0.1 "
            "under [insights] into .helix/config.toml to begin measuring."
        )
    return (
        f"{count(found.measured, 'showing')} with a known outcome; {len(found.shown)} of {count(found.of, 'insight')} "
        "below. Uplift is success with it less success where a lot withheld it: the one figure here that is an effect. "
        "helix-graph insight why NAME says where one comes from."
    )


def health_rows(one: MemoryHealth) -> Iterator[tuple[str, str]]:
    """How the memory does, as names and values."""
    ranked = sorted(one.outcomes.items(), key=lambda item: (-item[1], item[0]))
    outcomes = ", ".join(f"{number:,} {name.removeprefix('none ')}" for name, number in ranked) or "none yet"
    yield "Sessions", f"{count(one.sessions, 'session')}: {outcomes}"
    graph = f"{count(one.nodes, 'label')}, {count(one.edges, 'edge')}"
    stale = f"; {count(one.pending, 'file')} changed since it was compiled: run helix-graph sync"
    yield "Graph", graph + (stale if one.pending else "; up to date")
    if one.shared is not None:
        yield "Labels", f"{percent(one.shared)} of mentions have a label that another session has too"
    compared = f"{count(one.comparisons, 'comparison')} over {count(one.compared, 'judged session')}"
    yield "Comparisons", f"too early: {one.too_early}" if one.too_early else compared
    yield "Insights", _insights(one)
    yield "Files", f"{count(len(one.damaged), 'file')} could not be read" if one.damaged else "all could be read"


def _insights(one: MemoryHealth) -> str:
    figures = one.insights
    if not figures["total_insights"]:
        return "none yet"
    extra = [
        f"{figures[key]:,} {word}"
        for key, word in (("without_vector", "without a vector"), ("muted", "muted"), ("rejected", "rejected"))
        if figures[key]
    ]
    known = f"{count(figures['total_insights'], 'insight')}, {figures['with_feedback']:,} with feedback"
    return ", ".join([known, *extra]) + "".join(f". {issue}" for issue in figures["issues"])
