"""How episodes and extraction results are printed: one episode, its evidence, and what was read, skipped and cut."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from helix_cli.output import count, say, table, warn
from helix_cli.terminal.markup import verdict
from helix_episodes.corrections import LATER_EVIDENCE, PERSON_RULE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from helix_episodes.ingest import ExtractReport, RecordedSession
    from helix_episodes.model import Episode, Evidence
    from helix_episodes.verification import CheckedQuotation


def render_lines(recorded: Sequence[RecordedSession]) -> None:
    """Print, for each session, how many lines of its log were used, skipped by kind, unknown by type, blank, bad."""
    if recorded:
        say()
        rows = [(one.session, *_columns(one)) for one in recorded]
        columns = "session", "lines", "used", "blank", "bad", "known and skipped", "unknown"
        table(columns, rows, numbers=columns[1:5])


def _columns(one: RecordedSession) -> tuple[str, ...]:
    lines = one.accounting
    counts = (lines.lines, lines.used, lines.blank, len(lines.bad) + lines.more_bad)
    return (*map(str, counts), _by_kind(lines.skipped), _by_kind(lines.unknown))


def _by_kind(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {kind}" for kind, count in counts.items()) or "-"


def render_places(recorded: Sequence[RecordedSession]) -> None:
    """Print what was cut, by session, place in the episode and kind; never the value."""
    rows = [(one.session, cut.place, cut.kind, str(cut.count)) for one in recorded for cut in one.cuts]
    if rows:
        say()
        table(("session", "cut from", "kind", "times"), rows, numbers=("times",))


def render_cuts(recorded: Sequence[RecordedSession]) -> None:
    """Print one line on how often each kind was cut."""
    counts = Counter[str]()
    for one in recorded:
        for cut in one.cuts:
            counts[cut.kind] += cut.count
    if counts:
        said = ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items()))
        say(f"Cut before writing: {said} (-v says where).")


def warn_about(report: ExtractReport, *, verbose: bool = False) -> None:
    """Say on stderr which lines and logs could not be used, and what was kept out.

    With ``verbose`` also why each format declined a log that is of none.
    """
    for warning in (f"{one.log}: {warning}" for one in report.recorded for warning in one.warnings):
        warn(warning)
    for failure in report.failed:
        warn(failure.problem)
        for reason in failure.reasons if verbose else ():
            warn(f"  {reason}")
    for kept_out in report.left_out:
        warn(f"{kept_out.log}: {kept_out.problem}")


def render_report(report: ExtractReport, *, verbose: bool = False) -> None:
    """Print the episodes that are new or have changed, the counts, and what to do next.

    With ``verbose`` also what became of every line of each log, and where something was cut.
    """
    if render_changes(report, verbose=verbose):
        say("Next: helix-graph compile")


def render_changes(report: ExtractReport, *, verbose: bool = False) -> bool:
    """Print the episodes that are new or have changed, and the counts; whether there are any."""
    done = [one for one in report.recorded if one.change != "unchanged"]
    if done:
        rows = [(one.session, verdict(one.outcome), str(one.decisions), str(one.events), one.change) for one in done]
        table(("session", "outcome", "decisions", "events", ""), rows, numbers=("decisions", "events"))
    if verbose:
        render_lines(report.recorded)
        render_places(report.recorded)
    render_counts(report)
    render_cuts(done)
    return bool(done)


def render_counts(report: ExtractReport, *, unchanged: int = 0) -> None:
    """Print how many logs came to what; ``unchanged`` are those that did not have to be read."""
    say(
        f"{count(len(report.written), 'episode')} written, {len(report.updated)} updated, "
        f"{len(report.unchanged) + unchanged} unchanged, {count(len(report.failed), 'log')} failed"
        + (f", {len(report.left_out)} left out." if report.left_out else ".")
    )


def plain(one: Episode) -> Any:  # noqa: ANN401  (JSON)
    """An episode as its file has it: keys that are not ours included, those that are not set left out."""
    import orjson

    from helix_episodes.store import encode_episode

    return orjson.loads(encode_episode(one))


def render_episode(one: Episode) -> None:
    """Print one episode as tables."""
    say(f"{one.session}  {one.timestamp or 'time not known'}")
    say(f"task     {one.task}")
    say(f"outcome  {one.outcome} ({one.outcome_basis}){_because(one)}")
    if one.outcome_evidence and one.outcome_evidence.rule.startswith((LATER_EVIDENCE, PERSON_RULE)):
        say(f"revised  {one.outcome_evidence.rule}")
    _section("Decisions", [(it.id, _line(it.evidence), it.type, it.outcome, it.chosen) for it in one.decisions])
    _section("Events", [(it.id, _line(it.evidence), it.type, it.status, it.content) for it in one.events])
    _section("Links", [(link.source, link.target, link.type, link.reason) for link in one.links])
    _section("Fixes", [(fix.error, ", ".join(fix.changes), fix.check, fix.verified_by or "-") for fix in one.fixes])
    _section("Lessons", [(lesson,) for lesson in one.lessons])


def _because(one: Episode) -> str:
    return f": {one.outcome_evidence.quote}" if one.outcome_evidence and one.outcome_evidence.quote else ""


def _line(evidence: Evidence | None) -> str:
    return f"line {evidence.line}" if evidence else "-"


_COLUMNS = {
    "Decisions": ("id", "log", "type", "outcome", "chosen"),
    "Events": ("id", "log", "type", "status", "content"),
    "Links": ("from", "to", "edge", "reason"),
    "Fixes": ("error", "changes", "check", "verified by"),
    "Lessons": ("lesson",),
}


def _section(title: str, rows: Sequence[Sequence[str]]) -> None:
    if rows:
        say()
        say(title)
        table(_COLUMNS[title], rows)


def render_evidence(quoted: Sequence[CheckedQuotation]) -> None:
    """Print every quotation, and when a log was looked into, whether each stands there."""
    if not quoted:
        say("Nothing in this episode quotes a log.")
        return
    table(("of", "line", "log", "quotation"), [(one.of, _place(one), _found(one), one.quote) for one in quoted])
    say()
    say(", ".join(f"{number} {result}" for result, number in sorted(Counter(one.result for one in quoted).items())))


def _place(one: CheckedQuotation) -> str:
    return f"{one.line}{f' of {one.file}' if one.file else ''}"


def _found(one: CheckedQuotation) -> str:
    return f"moved to line {one.found_on}" if one.result == "moved" else one.result
