"""What the runs of checks say: ``checks``, ``fragile`` and ``runbook``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from helix_cli.app import open_for_question
from helix_cli.options import any_path
from helix_cli.output import count, emit_text, json_option, percent, say, show, table, warn, warn_of_more, with_note
from helix_episodes.normalization import shorten
from helix_graph.trust import note_of_shared

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from helix_cli.terminal import Part
    from helix_graph.causality.check_rates import CheckRate, CheckReport, SituationRate
    from helix_graph.causality.fragile import FragileReport
    from helix_graph.causality.runbook import Runbook, RunbookCheck

_CHECK_COLUMNS = ("check", "runs", "fresh, after a change", "next 10", "takes", "command")
_SITUATION_COLUMNS = ("check", "failed", "after", "elsewhere", "rate", "next 10", "in both halves")
_MOST_CHECKS, _MOST_ROWS, _MOST_PAIRS = 12, 20, 8
#: So much of a command is shown.
_WIDTH = 60


@click.command
@click.option("--all", "everything", is_flag=True, help="Show every situation with five runs or more.")
@json_option
def checks(*, everything: bool, as_json: bool) -> None:
    """Show how often each check fails, and after which changes."""
    memory = open_for_question()
    found = memory.causality.checks(everything=everything)
    show(found, as_json=as_json, render=with_note(render_checks, note_of_shared(memory.root)))


def render_checks(found: CheckReport) -> None:
    """Print the checks, then the situations that stand out."""
    if not found.checks:
        say("No run of a check has been recorded yet.")
        return
    shown = found.checks[:_MOST_CHECKS]
    table(_CHECK_COLUMNS, [_check_row(one) for one in shown], numbers=_CHECK_COLUMNS[1:5])
    warn_of_more(len(found.checks) - len(shown), "check")
    every = [row for one in found.checks for row in one.situations]
    groups = (
        ("Failed more often after", [row for row in every if row.standing == "worse"]),
        ("Failed less often after", [row for row in every if row.standing == "better"]),
        ("Counted", [row for row in every if row.standing in {"as usual", "counts only"}]),
    )
    for title, rows in groups:
        if rows:
            say()
            say(f"{title}:")
            table(
                _SITUATION_COLUMNS,
                [_situation_row(one) for one in rows[:_MOST_ROWS]],
                numbers=("rate",),
            )
            warn_of_more(len(rows) - _MOST_ROWS, "situation")
    say()
    for line in _notes(found, any(rows for _, rows in groups)):
        say(line)


def _notes(found: CheckReport, has_rows: bool) -> Iterable[str]:  # noqa: FBT001  (one caller)
    yield (
        "Fresh runs only: a check's first run in a session, or after one that passed. Failures that the agent "
        "expected do not count."
    )
    if found.enough and has_rows:
        yield (
            "Rate: an estimate, closer to the check's own rate the fewer the runs. Next 10: how many of the next ten "
            "such runs will fail (90 % interval). These are counts, not explanations."
        )
    if has_rows:
        yield "--json names the newest failing runs of each row with their log and line."
    if not found.enough:
        yield f"Counts only: rates need 30 sessions with such runs, there are {found.sessions}."


def _check_row(one: CheckRate) -> tuple[Part, ...]:
    fresh = f"{one.fresh_failed} of {one.fresh} failed" if one.fresh else "-"
    if one.failed == one.runs:
        fresh = "only failures are known"
    took = "-" if one.seconds is None else _duration(one.seconds)
    runs = f"{one.failed} of {one.runs} failed"
    return one.check, runs, fresh, _next(one.next_failed), took, shorten(one.command, limit=_WIDTH)


def _situation_row(one: SituationRate) -> tuple[Part, ...]:
    also = f" (also: {', '.join(one.also[:2])})" if one.also else ""
    halves = {True: "yes", False: "no", None: "-"}[one.worse_in_both_halves]
    return (
        one.check,
        f"{one.failed} of {one.runs}",
        f"{one.after}{also}",
        f"{one.failed_elsewhere} of {one.runs_elsewhere}",
        percent(one.rate),
        _next(one.next_failed),
        halves if one.standing == "worse" else "-",
    )


def _next(expected: tuple[int, int] | None) -> str:
    return "-" if expected is None else f"{expected[0]} to {expected[1]} fail"


def _duration(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 60 else f"{seconds / 60:.1f} min"  # noqa: PLR2004  (a minute)


@click.command
@click.argument("path", required=False)
@json_option
def fragile(*, path: str | None, as_json: bool) -> None:
    """Show files after whose change checks fail more often."""
    memory = open_for_question()
    found = memory.causality.fragile(path)
    show(found, as_json=as_json, render=with_note(render_fragile, note_of_shared(memory.root)))


def render_fragile(found: FragileReport) -> None:
    """Print one line a place, then the files that are changed together."""
    places = found.places[:_MOST_ROWS]
    for place in places:
        say(f"{place.path}: {place.sentence()}" if found.path is None else place.sentence())
    if not places:
        about = f" in {found.path}" if found.path else ""
        say(f"Nothing stands out{about}: no check failed more often after a change there than elsewhere.")
    warn_of_more(len(found.places) - len(places), "place")
    if found.together:
        say()
        say("Changed together:")
        for one in found.together[:_MOST_PAIRS]:
            alone = ""
            if one.runs_alone:
                both = f", with it {one.failed_both} of {one.runs_both}" if one.runs_both else ""
                alone = f"; without it {one.failed_alone} of {one.runs_alone} check runs failed{both}"
            say(f"{one.file} with {one.other} in {one.together} of {count(one.sessions, 'session')}{alone}")
        warn_of_more(len(found.together) - _MOST_PAIRS, "pair")
    if not found.enough and places:
        say()
        say(f"Counts only: {count(found.sessions, 'session')} with fresh runs; 30 are needed to compare rates.")


@click.command
@click.option("--markdown", "as_markdown", is_flag=True, help="Print a section for AGENTS.md.")
@click.option("--check", "file", type=any_path, metavar="FILE", help="Compare with the commands that a file names.")
@click.option("--all", "everything", is_flag=True, help="Every command, also those of one session.")
@json_option
def runbook(*, as_markdown: bool, file: Path | None, everything: bool, as_json: bool) -> int:
    """Show the commands that test, lint and build this project.

    With --check the exit code is 1 when the file should change: a command in it fails here, or one in use is missing.
    """
    memory = open_for_question()
    note = note_of_shared(memory.root)
    if file is not None:
        compared = memory.causality.check_runbook(file)
        show(compared, as_json=as_json, render=with_note(_render_comparison, note))
        return int(compared.differs)
    found = memory.causality.runbook()
    if as_markdown and not as_json:
        from helix_graph.causality.runbook import markdown_of
        from helix_graph.insights.safe_quoting import sanitize_line

        emit_text("".join(f"{sanitize_line(line)}\n" for line in markdown_of(found).splitlines()))
        if note:
            warn(note)
        return 0
    show(
        found,
        as_json=as_json,
        render=with_note(lambda one: render_runbook(one, everything=everything), note),
    )
    return 0


def render_runbook(found: Runbook, *, everything: bool = False) -> None:
    """Print the commands by kind, what has to run first, and what fails here."""
    shown = found.commands if everything else tuple(found.usual())
    rows = [
        (
            one.kind,
            f"{one.command} (hook of git commit)" if one.by_commit else one.command,
            one.directory or "-",
            f"{one.passed} of {one.judged}" if one.judged else "-",
            "-" if one.seconds is None else _duration(one.seconds),
            count(one.sessions, "session"),
        )
        for one in shown
    ]
    columns = ("to", "run", "in folder", "passed", "takes", "used in")
    table(columns, rows, empty="No run of a check has been recorded yet.")
    if left := len(found.commands) - len(shown):
        say(f"{count(left, 'rarer command')} left out; --all lists them.")
    if found.prerequisites:
        say()
        say("What has to run first:")
        for first in found.prerequisites:
            say(f"{first.first} before {first.check} ({count(first.sessions, 'session')}), else: {first.problem}")
    if found.corrections:
        say()
        say("What fails here:")
        for wrong in found.corrections:
            how = f"{wrong.change}, as in {wrong.instead} ({wrong.worked} of {wrong.sessions})"
            worked = f" Worked instead: {how}." if wrong.instead else ""
            say(f"{wrong.command} fails in {count(wrong.sessions, 'session')}: {wrong.problem}.{worked}")


def _render_comparison(found: RunbookCheck) -> None:
    columns = ("says", "command", "line", "the sessions")
    rows = [
        (one.standing, one.command, "-" if one.line is None else str(one.line), one.detail or "-")
        for one in found.commands
    ]
    table(columns, rows, numbers=("line",), empty=f"{found.file} names no command, and none was run.")
