"""``advise``: the rules that are missing, written into a file of rules or given to a share of sessions on trial."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from helix_cli.app import open_for_question
from helix_cli.options import any_path
from helix_cli.output import count, emit_json, json_option, points, say, short_id, show, verbatim
from helix_cli.terminal import quiet, strong

if TYPE_CHECKING:
    from pathlib import Path

    from helix_graph.rules.model import Accepted, Advice, Proposal
    from helix_graph.rules.staged import TrialResult


_SHORT = 8
_MOST_UNWORDED = 5


def render_advice(found: Advice) -> None:
    """Print each proposal with what shows the need for it, and the rules on trial."""
    if not found.proposals:
        say("No new rule to suggest.")
    for one in found.proposals:
        _render_proposal(one)
        say()
    for trial in found.trials:
        say(_trial_sentence(trial))
    if found.unworded:
        say("Failures that recur, and that no simple rule would prevent:")
        for issue in found.unworded[:_MOST_UNWORDED]:
            say("  ", strong(issue.id[:_SHORT]), f"  {issue.title}, in {count(issue.sessions, 'session')}")
        more = len(found.unworded) - _MOST_UNWORDED
        rest = f"; {more} more (--json)" if more > 0 else ""
        say(
            quiet(
                f"`issues show ID` has the evidence, and the skill `retro` lets your agent word a rule from it{rest}."
            )
        )
    if found.proposals:
        say(quiet(found.note))


def _render_proposal(one: Proposal) -> None:
    say(strong(one.id), f"  {one.sentence}")
    spent = count(round(one.minutes or 0), "minute") if (one.minutes or 0) >= 1 else "under a minute"
    cost = f"{count(round(one.steps or 0), 'step')}, {spent} of work so far"
    say(f"  {one.title}: {count(one.occurrences, 'time')} in {count(one.sessions, 'session')}, {cost}; {one.reason}")
    if one.existing is not None:
        rule = one.existing
        followed = f"followed {rule.followed} of {rule.opportunities} times"
        say(f"  The rule exists ({rule.file}) and is ignored, {followed}: make it a hook, not a sentence.")
    places = "; ".join(f"{short_id(place.session)}, line {place.line or '?'}" for place in one.evidence[-2:])
    say(quiet(f"  {places}; issues show {one.issue[:_SHORT]}"))


def _trial_sentence(trial: TrialResult) -> str:
    rule = trial.rule
    (met, given), (other, withheld) = trial.given, trial.withheld
    if trial.difference is None or trial.low is None or trial.high is None:
        return f"{rule.id}  on trial, {trial.sessions} of {rule.planned} sessions: {rule.sentence}"
    counts = f"{met} of {given} sessions with it had the issue, {other} of {withheld} without"
    interval = f"{points(trial.difference)} points, 95 % CI {points(trial.low)} to {points(trial.high)}"
    return f"{rule.id}  {counts}: {interval}. {rule.sentence}"


def render_accepted(answer: Accepted) -> None:
    """Print what was done with an accepted rule."""
    if answer.trial is not None:
        say(f"On trial for {answer.trial:.0%} of sessions; {answer.reason}. `advise` shows what it says.")
    elif answer.reason:
        say(f"{answer.file} is unchanged: {answer.reason}.")
    else:
        say(f"Written to {answer.file}." if answer.written else "Nothing is written yet; --yes applies it.")
    if answer.note:
        say(quiet(f"{answer.note}."))


@click.command()
@click.option(
    "--limit", type=click.IntRange(1, 100), default=10, show_default=True, help="Maximum number of proposals."
)
@click.option("--accept", "name", metavar="ID", help="Accept this proposal.")
@click.option("--into", type=any_path, help="File to write an accepted rule into, such as AGENTS.md.")
@click.option(
    "--trial", type=click.FloatRange(0, 1, min_open=True, max_open=True), help="Share of sessions to try it on."
)
@click.option("--words", help="Another sentence for it; then ID may be an issue's.")
@click.option("--yes", is_flag=True, help="Write without asking.")
@json_option
def advise(  # noqa: PLR0913  (the command's options)
    *, limit: int, name: str | None, into: Path | None, trial: float | None, words: str | None, yes: bool, as_json: bool
) -> None:
    """Propose rules for what keeps failing, and write them down."""
    rules = open_for_question().rules
    if name is None:
        if into is not None or trial is not None or words is not None:
            raise click.UsageError("--into, --trial and --words need --accept ID")
        show(rules.advise(limit=limit), as_json=as_json, render=render_advice)
        return
    if (into is None) == (trial is None):
        raise click.UsageError("--accept needs --into FILE or --trial SHARE, and not both")
    answer = rules.accept(name, into=into, trial=trial, words=words, write=yes)
    if as_json:
        emit_json(answer)
        return
    for line in answer.diff.splitlines():
        verbatim(line)
    if answer.diff and not answer.written and sys.stdin.isatty() and click.confirm(f"Write this to {answer.file}?"):
        answer = rules.accept(name, into=into, words=words, write=True)
    render_accepted(answer)
