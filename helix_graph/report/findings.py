"""What works and what keeps failing: the patterns of the memory, chosen for a page.

The rows and all their figures are those of `Causality.survey`; here it is only said which of them are shown, and in
which order. Rows that stand out once like sessions are compared come first, then those that the counts speak most
firmly for: the lower end of the interval for what works, the upper end for what fails. So 30 of 31 stands before 10 of
10, which is compatible with 72 %.

Rows of fewer than ten uses are shown only while the memory is too small to compare anything: later there are so many
of them that some look bad by chance. Of rows that differ only in the kind of error or of task, or in what success
means, one is shown: the list is short, and ten ways of saying the same would fill it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from helix_graph.causality.patterns import ANTI_PATTERN_OCCURRENCES
from helix_graph.causality.timeline import moment
from helix_graph.report.model import Finding, Findings

if TYPE_CHECKING:
    from collections.abc import Iterable

    from helix_graph.causality.door import Survey
    from helix_graph.causality.patterns import Pattern
    from helix_graph.report.evidence import Ledger
    from helix_graph.report.period import Period

#: What works succeeds at least so often: as far from always as the original API's anti-patterns (0.3) are from never.
WORKS_FROM = 0.7
#: As many as are read; the commands have all.
MOST_SHOWN = 6


def what_works(survey: Survey, ledger: Ledger, period: Period | None) -> Findings:
    """What succeeds mostly, and no less often than what else was done."""
    rows = survey.best(min_success_rate=WORKS_FROM, min_occurrences=ANTI_PATTERN_OCCURRENCES)
    kept = [
        one for one in rows if _helps(one) or (not _hurts(one) and one.success_rate >= _otherwise(one, unknown=0.0))
    ]
    return _chosen(sorted(kept, key=_best_first), survey, ledger, period)


def what_fails(survey: Survey, ledger: Ledger, period: Period | None) -> Findings:
    """What succeeds seldom, and less often than what else was done; and what goes with failure among like sessions."""
    rows = {one.id: one for one in (*survey.worst(), *survey.worst(max_success_rate=1, evidence="associated"))}
    kept = [
        one
        for one in rows.values()
        if _hurts(one) or (not _helps(one) and one.success_rate < _otherwise(one, unknown=1.0))
    ]
    return _chosen(sorted(kept, key=_worst_first), survey, ledger, period)


def _otherwise(row: Pattern, *, unknown: float) -> float:
    """How often the same situation ended well when something else was done."""
    return unknown if row.base_rate is None else row.base_rate


_Key = tuple[bool, bool, float, int, str, str]


def _best_first(row: Pattern) -> _Key:
    low = row.interval.low if row.interval else 0.0
    return not _helps(row), row.too_early, -low, -row.occurrences, row.name, row.basis


def _worst_first(row: Pattern) -> _Key:
    high = row.interval.high if row.interval else 1.0
    return not _hurts(row), row.too_early, high, -row.occurrences, row.name, row.basis


def _helps(row: Pattern) -> bool:
    return row.standing == "associated" and row.effect is not None and not row.effect.hurts


def _hurts(row: Pattern) -> bool:
    return row.standing == "associated" and row.effect is not None and row.effect.hurts


def _chosen(ranked: Iterable[Pattern], survey: Survey, ledger: Ledger, period: Period | None) -> Findings:
    one_each: dict[tuple[str, str], Pattern] = {}
    for row in ranked:
        one_each.setdefault((_kind_of_situation(row), row.action), row)
    rows = list(one_each.values())
    enough = [row for row in rows if not row.too_early]
    shown = (enough or (rows if survey.too_early else []))[:MOST_SHOWN]
    return Findings(
        shown=tuple(_finding(row, ledger, period) for row in shown), of=len(rows), too_early=survey.too_early
    )


def _kind_of_situation(row: Pattern) -> str:
    """A situation without the kind of error, or of task."""
    return "any task" if row.level == "task" else row.trigger.partition(": ")[0]


def _finding(row: Pattern, ledger: Ledger, period: Period | None) -> Finding:
    return Finding(
        pattern=row,
        in_period=period is not None and period.holds(moment(row.last_used)),
        evidence=ledger.cite(zip(row.episodes, row.decisions, strict=True)),
    )
