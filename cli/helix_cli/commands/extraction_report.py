"""What an extraction read, recorded, redacted and left out, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from helix_cli.output import count, say, table, warn
from helix_cli.terminal import verdict
from helix_graph.errors import NEXT_STEP
from helix_graph.insights.safe_quoting import logged_name_or_quoted

if TYPE_CHECKING:
    from helix_episodes.ingest import ExtractReport, RecordedSession
    from helix_graph.agent_logs import SourcesReport


def require_project(name: str | None, logs: SourcesReport) -> None:
    """Whether the name is of a folder that is there, or has been: that of a session.

    Raises:
        NotFound: It is not.
    """
    from helix_episodes.discovery import named_folder
    from helix_episodes.errors import NotFound
    from helix_graph.agent_logs import ANY

    known = name in {None, ANY} or any(one.here for one in logs.sources) or logs.report.recorded
    if name is not None and not known and not Path(named_folder(name) or name).is_dir():
        raise NotFound(f"no project {name!r}: no folder and no log has that name; name a project's folder, or any")


def render_lines(recorded: Sequence[RecordedSession]) -> None:
    """Print, for each session, how many lines of its log were used, skipped by kind, unknown by type, blank, bad."""
    if recorded:
        say()
        rows = []
        for one in recorded:
            lines = one.accounting
            counts = lines.lines, lines.used, lines.blank, len(lines.bad) + lines.more_bad
            rows.append((one.session, *map(str, counts), _by_kind(lines.skipped), _by_kind(lines.unknown)))
        columns = "session", "lines", "used", "blank", "bad", "known and skipped", "unknown"
        table(columns, rows, numbers=columns[1:5])


def _by_kind(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {logged_name_or_quoted(kind)}" for kind, count in counts.items()) or "-"


def render_places(recorded: Sequence[RecordedSession]) -> None:
    """Print what was cut, by session, place in the episode and kind; never the value."""
    rows = [(one.session, cut.place, cut.kind, str(cut.count)) for one in recorded for cut in one.cuts]
    if rows:
        say()
        table(("session", "cut from", "kind", "times"), rows, numbers=("times",))


def render_cuts(recorded: Sequence[RecordedSession]) -> None:
    """Print one line on how often each kind was redacted."""
    if said := redacted(recorded):
        say(f"Redacted {said} (-v for details).")


def redacted(recorded: Sequence[RecordedSession]) -> str:
    """How often each kind was redacted, in words; empty when nothing was."""
    counts = Counter[str]()
    for one in recorded:
        for cut in one.cuts:
            counts[_KINDS.get(cut.kind, cut.kind)] += cut.count
    return ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items()))


def warn_about(report: ExtractReport, *, verbose: bool = False) -> None:
    """Say on stderr which lines and logs could not be used, and what was excluded.

    With ``verbose``, also says why each reader rejected a log that no reader recognised.
    """
    for warning in (f"{one.log}: {warning}; the rest was read" for one in report.recorded for warning in one.warnings):
        warn(warning)
    for notice in _notices(report, verbose=verbose):
        warn(notice)
    for failure in report.failed:
        warn(failure.problem)
        for reason in failure.reasons if verbose else ():
            warn(f"  {reason}")
    for kept_out in report.left_out:
        warn(f"{kept_out.log}: {kept_out.problem}")


#: Kinds whose names say nothing by themselves.
_KINDS = {"home": "home paths"}
#: So many names are read at a glance; the others are counted.
_NAMED_AT_ONCE = 5


def _notices(report: ExtractReport, *, verbose: bool) -> Iterator[str]:
    """What all logs together hold that was not read, in one line each; with ``verbose`` which logs."""
    unknown: Counter[str] = Counter()
    logs: dict[str, list[str]] = {}
    for one in report.recorded:
        unknown.update(one.accounting.unknown)
        if one.accounting.unknown:
            logs.setdefault(one.log, []).append(_by_kind(one.accounting.unknown))
    if unknown:
        named = unknown.most_common(_NAMED_AT_ONCE)
        shown = ", ".join(f"{logged_name_or_quoted(kind)} ({number})" for kind, number in named)
        more = f" and {len(unknown) - _NAMED_AT_ONCE} more kinds" if len(unknown) > _NAMED_AT_ONCE else ""
        whose = count(len(logs), "log") + (" holds" if len(logs) == 1 else " hold")
        where = "" if verbose else "; -v names them"
        yield f"{whose} records of unknown type, which were left out: {shown}{more}{where}"
    if verbose:
        yield from (f"{log}: {kinds}" for log, found in logs.items() for kinds in found)
    if report.unread:
        names = report.unread if verbose else report.unread[:_NAMED_AT_ONCE]
        more = f" and {len(report.unread) - len(names)} more; -v names all" if len(names) < len(report.unread) else ""
        yield f"{count(len(report.unread), 'file')} of no known log format not read: {', '.join(names)}{more}"


def render_report(report: ExtractReport, *, verbose: bool = False) -> None:
    """Print the episodes that are new or have changed, the counts, and what to do next.

    With ``verbose`` also what became of every line of each log, and where something was cut.
    """
    if render_changes(report, verbose=verbose):
        say(f"Next: {NEXT_STEP}")


def render_changes(report: ExtractReport, *, verbose: bool = False) -> bool:
    """Print the episodes that are new or have changed, and the counts; whether there are any."""
    done = [one for one in report.recorded if one.change != "unchanged"]
    rows = [(one.session, verdict(one.outcome), str(one.decisions), str(one.events), one.change) for one in done]
    table(("session", "outcome", "decisions", "events", ""), rows, numbers=("decisions", "events"))
    if verbose:
        render_lines(report.recorded)
        render_places(report.recorded)
    render_counts(report)
    render_cuts(done)
    return bool(done)


def render_counts(report: ExtractReport, *, unchanged: int = 0) -> None:
    """Print how many logs were written, updated, unchanged or failed; ``unchanged`` counts logs that were not read."""
    say(
        f"{count(len(report.written), 'episode')} written, {len(report.updated)} updated, "
        f"{len(report.unchanged) + unchanged} unchanged, {count(len(report.failed), 'log')} failed"
        + (f", {len(report.left_out)} left out." if report.left_out else ".")
    )
