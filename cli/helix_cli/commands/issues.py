"""``issues``: what keeps failing, what it costs, what repaired it; and what a person says of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import click

from helix_cli.app import open_for_question
from helix_cli.command_group import ForgivingGroup
from helix_cli.options import issue_ids
from helix_cli.output import count, json_option, prints, say, show, table, warn_of_more
from helix_cli.terminal import StyledWord, quiet, strong, verdict
from helix_graph.issues.model import By, State, remedies_heading, remedy_words, repair_words, repaired_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from helix_cli.terminal import Tone
    from helix_graph.issues.model import Issue, IssueDetails, IssueList, IssueStatementMade, Occurrence


#: So much of an id is shown, and tells it from the others of a memory.
SHORT_ID = 8
#: So many lines of the newest fix are shown where an issue is one of several answers; `issues show` has all.
_DIFF_SHOWN = 4
#: Rows of what has no id: files, agents, models …
_COLUMNS = ("sessions", "times", "steps", "minutes", "tokens", "repaired", "what fails")


def render_issues(found: IssueList) -> None:
    """Print each issue with its counts, what it said and what repaired it; what has no id as a table."""
    if not found.issues:
        none = f"No failure recurs in {count(found.sessions, 'session')}." if found.by == "recurring" else "None."
        say(none if found.sessions else "No sessions yet.")
        return
    unnamed = [one for one in found.issues if not one.id]
    for one in found.issues:
        if one.id:
            say(
                strong(one.title),
                quiet(f"  {one.id[:SHORT_ID]}  "),
                StyledWord(one.state or "", _TONES.get(one.state, "plain")),
            )
            met = f"{one.sessions} of {count(found.sessions, 'session')}"
            say(f"  {met}, {count(one.occurrences, 'time')}; {_cost(one)}; {repaired_words(one)}")
            for note in _notes(one):
                say(f"  {note}")
            say()
    if unnamed:
        table(_COLUMNS, [_cells(one, found.sessions) for one in unnamed], numbers=_COLUMNS[:-1])
        say()
    once = f" {count(found.once, 'more issue')} in one session only." if found.once else ""
    deliberate = f" {count(found.deliberate, 'deliberate failure')} left out." if found.deliberate else ""
    others = f", {found.hidden_by_others} of them by statements that git tracks" if found.hidden_by_others else ""
    hidden = f" {count(found.hidden, 'issue')} muted or resolved{others} (--all shows them)." if found.hidden else ""
    say(quiet(f"{found.note}{once}{deliberate}{hidden}"))
    warn_of_more(found.rows - len(found.issues), "row", advice="--limit shows more")


#: What a state means to the reader; the others stay as they are.
_TONES: dict[State | None, Tone] = {"recurring": "unsure", "regressed": "bad", "resolved": "good", "quiet": "quiet"}


def _cells(one: Issue, sessions: int) -> tuple[str, ...]:
    return (
        f"{one.sessions} of {sessions}",
        str(one.occurrences),
        "-" if one.steps is None else f"{one.steps:.0f}",
        "-" if one.minutes is None else f"{one.minutes:.0f}",
        _thousands(one.tokens),
        f"{one.repaired - one.suppressed} of {one.occurrences}",
        one.title,
    )


def _thousands(tokens: int | None) -> str:
    """Tokens for reading.

    >>> _thousands(51_234), _thousands(730), _thousands(None)
    ('51k', '730', '-')
    """
    if tokens is None:
        return "-"
    return f"{tokens / 1000:.0f}k" if tokens >= 1000 else str(tokens)  # noqa: PLR2004  (a thousand)


def _message(one: Issue) -> str:
    return "message, one of several" if one.kinds > 1 else "message"


def _notes(one: Issue) -> list[str]:
    """What one issue said, where, and what repaired it."""
    notes = []
    if one.message:
        about = f" ({one.thing})" if one.kind == "issue" and one.thing.strip('"').isidentifier() else ""
        notes.append(f"{_message(one)}: {one.message}{about}")
    repair = repair_words(one)
    notes.append(f"{repair[0].lower()}{repair[1:]}")
    if one.files and max(met for _, met in one.files) > 1:
        notes.append(f"most often {', '.join(f'{path} ({met})' for path, met in one.files if met > 1)}")
    if one.state == "quiet":
        notes.append(f"quiet: {count(one.since, one.unit.removesuffix('s'))} without it")
    return notes


def render_details(found: IssueDetails) -> None:
    """Print an issue's sums, its remedies, every occurrence, and issues like it."""
    one = found.issue
    since = (
        f"{count(one.since, one.unit.removesuffix('s'))} since it was last seen" if one.since else _NOT_AGAIN[one.unit]
    )
    state = f"{one.state}; {since}" if one.state else ""
    say(strong(one.title), quiet(f"  {one.kind} {one.id}"))
    say(state + (f" ({one.reason})" if one.reason else ""))
    if one.message:
        say(f"{_message(one)}: {one.message}")
    say(
        f"{count(one.occurrences, 'time')} in {count(one.sessions, 'session')}, {_day(one.first_seen)} to "
        f"{_day(one.last_seen)}; {_cost(one)}; {repaired_words(one)}"
        + (f"; {one.verified} seen to pass" if one.repaired else "")
    )
    if found.remedies:
        say()
        say(f"{remedies_heading(found.remedies)}:")
        for remedy in found.remedies:
            some = f"{remedy.verified} of {remedy.times} verified"
            trust = verdict(
                "verified" if remedy.verified == remedy.times else some if remedy.verified else "not verified"
            )
            seen = f"{count(remedy.sessions, 'session')}, " if remedy.sessions > 1 else ""
            say(
                f"  {remedy_words(remedy)}  (",
                seen,
                trust,
                f"; {remedy.session}{f', line {remedy.line}' if remedy.line else ''})",
            )
            _render_diff(remedy.diff)
            if remedy.example and not remedy.diff:
                say(f"    {remedy.example}")
    say()
    for met in found.occurrences:
        _render_occurrence(met)
    if found.similar:
        say()
        say("Others of this kind:")
        for other in found.similar:
            say(f"  {other.id[:SHORT_ID]}  {count(other.sessions, 'session')}  {other.message or other.title}")


def render_costliest(one: Issue, sessions: int, *, is_solved: bool) -> None:
    """Print the issue that took most in a number of sessions, with its newest fix; ``is_solved``: it helped before."""
    say()
    known = " with a known fix" if is_solved else ""
    say(f"The most expensive recurring failure{known}: ", strong(one.title))
    minutes = f", {count(round(one.minutes), 'minute')} of work" if one.minutes else ""
    say(f"  {count(one.occurrences, 'time')} in {one.sessions} of {count(sessions, 'session')}{minutes}")
    if one.message:
        say(f"  {one.message}")
    say(f"  {repair_words(one)}")
    _render_diff(_part_of_diff(one.remedy.diff) if one.remedy else ())


def _part_of_diff(lines: Sequence[str]) -> list[str]:
    """As many changed lines as are shown, half of them added ones where there are so many: these say what to do."""
    removed, added = ([at for at, line in enumerate(lines) if line.startswith(sign)] for sign in "-+")
    removed = removed[: max(_DIFF_SHOWN // 2, _DIFF_SHOWN - len(added))]
    return [lines[at] for at in sorted([*removed, *added[: _DIFF_SHOWN - len(removed)]])]


def _render_diff(lines: Iterable[str]) -> None:
    for line in lines:
        say(f"    {line[:1]} {line[1:]}")


def _render_occurrence(met: Occurrence) -> None:
    shared = f" (shared by {met.author})" if met.author else ""
    say(
        f"{_day(met.date)}  {met.session}{shared}, line {met.line or '?'}",
        quiet("  deliberate" if met.deliberate else ""),
    )
    say(f"  {met.message}")
    if met.repaired:
        proof = "it succeeded" if met.verified_by in met.changes else f"shown by {met.verified_by}"
        shown = f", {proof}" if met.verified_by else ", not verified"
        say(f"  -> {'; '.join(met.changes)}{shown}")
    elif met.instead:
        say(f"  -> worked instead: {met.instead}")
    elif met.ended:
        say(f"  -> {_ENDS[met.ended]}")
    if met.steps is not None:
        took = [count(round(met.steps), "step")]
        took += [f"{met.minutes:.1f} min"] if met.minutes is not None else []
        took += [f"{_thousands(met.tokens)} tokens"] if met.tokens is not None else []
        say(quiet(f"     {', '.join(took)}"))


_NOT_AGAIN = {"runs": "not run again since", "sessions": "no session since"}
_ENDS = {
    "repair": "repaired",
    "pass": "passed again, without a change that was seen to repair it",
    "instead": "went on with another command",
    "prompt": "not repaired before the next prompt",
    "left": "the agent went on to something else",
    "session": "not repaired in this session",
}


def _cost(one: Issue) -> str:
    parts = [] if one.steps is None else [count(round(one.steps), "step")]
    if one.minutes is not None:
        parts.append(f"{count(round(one.minutes), 'minute')} of work" if one.minutes >= 1 else "under a minute of work")
    parts += [] if one.tokens is None else [f"{_thousands(one.tokens)} tokens"]
    return ", ".join(parts) or "no cost recorded"


def _day(moment: str | None) -> str:
    return (moment or "time not known")[:10]


def render_statement(made: IssueStatementMade) -> None:
    """Print what an issue's state is now."""
    say(f"{made.id[:SHORT_ID]}  {made.title} is {made.state}.")


@click.group(cls=ForgivingGroup, ids=r"[0-9a-f]{3,16}", meant={"*": "seen {}"}, invoke_without_command=True)
@click.option(
    "--by", type=click.Choice(get_args(By)), default="recurring", show_default=True, help="What to add up by."
)
@click.option("--check", help="Only failures of this check, tool or command.")
@click.option("--state", type=click.Choice(get_args(State)), help="Only issues in this state.")
@click.option("--limit", type=click.IntRange(1, 200), default=15, show_default=True, help="Maximum number of rows.")
@click.option("--all", "every", is_flag=True, help="Also show muted and resolved issues.")
@json_option
@click.pass_context
def issues(  # noqa: PLR0913  (the command's options)
    context: click.Context, *, by: str, check: str | None, state: str | None, limit: int, every: bool, as_json: bool
) -> None:
    """Show what keeps failing, what it cost, and what repaired it."""
    if context.invoked_subcommand is None:
        found = open_for_question().issues.list(by=by, check=check, state=state, limit=limit, every=every)
        show(found, as_json=as_json, render=render_issues)


@issues.command("show")
@click.argument("name", metavar="ID", shell_complete=issue_ids)
@prints(render_details)
def show_issue(*, name: str) -> IssueDetails:
    """Show every occurrence of an issue and what repaired it."""
    return open_for_question().issues.show(name)


_reason = click.option("--reason", default="", help="Reason, shown with the issue.")


@issues.command
@click.argument("name", metavar="ID", shell_complete=issue_ids)
@_reason
@prints(render_statement)
def mute(*, name: str, reason: str) -> IssueStatementMade:
    """Hide an issue from lists and from what agents are shown."""
    return open_for_question().issues.mute(name, reason=reason)


@issues.command
@click.argument("name", metavar="ID", shell_complete=issue_ids)
@_reason
@prints(render_statement)
def unmute(*, name: str, reason: str) -> IssueStatementMade:
    """Undo `mute` or `resolve`."""
    return open_for_question().issues.unmute(name, reason=reason)


@issues.command
@click.argument("name", metavar="ID", shell_complete=issue_ids)
@_reason
@prints(render_statement)
def resolve(*, name: str, reason: str) -> IssueStatementMade:
    """Mark an issue as resolved.

    When a later session meets it, it has regressed.
    """
    return open_for_question().issues.resolve(name, reason=reason)
