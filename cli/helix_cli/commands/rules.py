"""``rules`` and ``advise``: which written rules sessions follow, what changed when each came, and which are missing.

A rule that is missing can be written into a file of rules, or be given to a share of sessions on trial.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, get_args

import click

from helix_cli.app import open_for_question
from helix_cli.options import any_path
from helix_cli.output import (
    count,
    emit_json,
    json_option,
    points,
    prints,
    say,
    short_id,
    show,
    table,
    verbatim,
    warn_of_more,
)
from helix_cli.terminal import quiet, strong, verdict
from helix_graph.insights.safe_quoting import cut_line
from helix_graph.rules.model import NOTHING_TO_SHOW, State, not_read

if TYPE_CHECKING:
    from pathlib import Path

    from helix_graph.rules.model import (
        Accepted,
        Advice,
        BeforeAfter,
        Binding,
        Proposal,
        RuleDetails,
        RuleList,
        RuleRecord,
    )
    from helix_graph.rules.staged import TrialResult


_SHORT = 8
_COLUMNS = ("id", "state", "followed", "since", "file", "rule")
_LONGEST = 120
_OF_EACH = 10
#: How a change is described for a rule that was accepted for an issue.
_MET = "had the issue in"
#: How it is described for a rule that does not say when.
_UNUSED = "not used in"
_WHEN = {
    "commit": "before each commit",
    "push": "before each push or pull request",
    "change": "in each session that changes files",
    "kind": "in any session that changes files",
    "instead": "at each use of one or the other",
    "never": "in each session",
    "place": "for each test file that is created",
}


def render_rules(found: RuleList) -> None:
    """Print one row per rule, then what changed when it came."""
    if not found.rules:
        say(not_read(found.unread) or NOTHING_TO_SHOW)
        return
    rows = [_cells(one) for one in found.rules]
    table(_COLUMNS, rows, numbers=("followed",))
    compared = [(one.rule.id, one.change) for one in found.rules if one.change is not None]
    changed = [(name, change) for name, change in compared if change.verdict != "too early"]
    for name, change in changed:
        say()
        first, *more = _sentence(change).splitlines()
        say(strong(name[:_SHORT]), f"  {first}")
        for line in more:
            say(quiet(f"        {line}"))
    say()
    early = len(compared) - len(changed)
    waiting = (
        f"{count(early, 'rule')} cannot be compared with the time before: too new or too seldom broken."
        if early
        else ""
    )
    unseen = f"{count(found.unobservable, 'more line')} cannot be observed." if found.unobservable else ""
    say(quiet(" ".join(filter(None, (unseen, not_read(found.unread), waiting, found.note)))))
    warn_of_more(found.rows - len(found.rules), "rule", advice="--limit shows more")


def _cells(one: RuleRecord) -> tuple[str, ...]:
    unit = " sessions" if one.state == "usage" else ""
    followed = f"{one.followed} of {one.opportunities}{unit}" if one.opportunities else ""
    return one.rule.id[:_SHORT], one.state, followed, one.rule.since[:10], one.file, cut_line(one.rule.text, _LONGEST)


def _sentence(change: BeforeAfter) -> str:
    """What changed, in counts.

    >>> from helix_graph.rules.model import BeforeAfter, Rate
    >>> rates = Rate(events=10, opportunities=40, sessions=20), Rate(events=3, opportunities=60, sessions=20)
    >>> print(_sentence(BeforeAfter(before=rates[0], after=rates[1], left_out=4, ratio=0.2, low=0.06, high=0.7,
    ...                             control=None, verdict="better")))
    better: not followed 10 of 40 times before, 3 of 60 after: 0.2 times as often (95 % CI 0.06 to 0.7).
      The 4 times just before the rule do not count: a bad spell may have led to it.
    """
    before, after = change.before, change.after
    unit = "sessions" if change.event in {_MET, _UNUSED} else "times"
    said = f"{_VERDICTS.get(change.verdict, change.verdict)}: {change.event} {before.events} of "
    said += f"{before.opportunities} {unit} before, {after.events} of {after.opportunities} after"
    if change.ratio is not None and change.low is not None:
        span = f"at least {change.low:.2g}" if change.high is None else f"{change.low:.2g} to {change.high:.2g}"
        said += f": {change.ratio:.2g} times as often (95 % CI {span})"
    said += "."
    if change.last_seen is not None and change.event != _UNUSED:
        said += f"\n  {_last_seen(change)}"
    if change.left_out:
        said += f"\n  The {change.left_out} {unit} just before the rule do not count: a bad spell may have led to it."
    if change.control is not None and change.verdict != "too early":
        times = f"{change.control:.2g}"
        often = "as often" if times == "1" else f"{times} times as often"
        said += f"\n  Other checks failed {often} as before."
    return said


#: What a verdict is called in a sentence, where its name alone says too little.
_VERDICTS = {"stopped before": "ended before the rule came"}


def _last_seen(change: BeforeAfter) -> str:
    """When what a rule is against happened last, and for how long it had not when the rule came."""
    said = f"The last time was {(change.last_seen or '')[:10]}"
    if change.after.events:
        return f"{said}."
    return f"{said}; the rule came {count(change.quiet, 'session')} later." if change.quiet else f"{said}."


def render_rule(found: RuleDetails) -> None:
    """Print a rule, where it is, how often it was followed, and the newest opportunities."""
    one = found.record
    say(strong(one.rule.text))
    for span in one.rule.spans:
        until = f", gone {span.until[:10]}" if span.until else ""
        commit = f" ({span.commit[:_SHORT]})" if span.commit else " (not committed)"
        say(f"  {span.file} since {span.since[:10]}{commit}{until}")
    say(f"  {_bound(one.rule.binding)}")
    if one.state == "usage":
        files = ", ".join(one.rule.binding.scope if one.rule.binding else ()) or "files other than documentation"
        say(f"used in {one.followed} of {count(one.opportunities, 'session')} that changed {files}")
        say(quiet("  No verdict: the rule does not say when to run it."))
    elif one.opportunities:
        instead = f"; {count(one.instead, 'other time')} another check of that kind ran" if one.instead else ""
        say(f"{one.state}: {one.followed} of {one.opportunities} times in {count(one.sessions, 'session')}{instead}")
    else:
        say(one.state)
    for month in one.months:
        say(f"  {month.month}  {month.followed} of {month.opportunities}")
    if one.change is not None:
        for line in _sentence(one.change).splitlines():
            say(line)
        if one.together:
            say(quiet(f"  in one commit with {', '.join(name[:_SHORT] for name in one.together)}"))
    for agent, sessions in found.unread.items() if one.state != "followed" else ():
        say(f"{count(sessions, 'session')} of {agent}, which by itself reads none of these files.")
    _say_observations(found)


def _say_observations(found: RuleDetails) -> None:
    if found.observations:
        say()
    # The newest that were not taken and the newest that were: each verdict can be looked up.
    of_each = [[one for one in found.observations if one.followed is taken][-_OF_EACH:] for taken in (False, True)]
    for seen in sorted((one for some in of_each for one in some), key=found.observations.index):
        say(
            f"{seen.at[:16]}  ",
            verdict("yes" if seen.followed else "no"),
            f"  {short_id(seen.session)}, line {seen.line or '?'}",
            quiet(f"  {cut_line(seen.what, _LONGEST // 2)}"),
            *([f"  {cut_line(seen.why, _LONGEST)}"] if seen.why else []),
        )  # fmt: skip
    warn_of_more(len(found.observations) - sum(map(len, of_each)), "opportunity", advice="--json has all")


def _bound(binding: Binding | None) -> str:
    if binding is None:
        return "names nothing that sessions show"
    targets = ", ".join(one.text for one in binding.targets)
    verb = "do" if binding.sense == "do" else "avoid"
    others = f" instead of {', '.join(one.text for one in binding.others)}" if binding.others else ""
    where = f" ({', '.join(binding.scope)})" if binding.scope else ""
    return f"counted: {verb} {targets}{others}, {_WHEN[binding.when]}{where}"


@click.group(invoke_without_command=True)
@click.option(
    "--state",
    type=click.Choice(get_args(State)),
    metavar="STATE",
    help=f"Only rules in this state: {', '.join(get_args(State))}.",
)
@click.option("--user", is_flag=True, help="Also rules of your own, in your home folder.")
@click.option("--gone", is_flag=True, help="Also rules that were removed since.")
@click.option("--limit", type=click.IntRange(1, 500), default=30, show_default=True, help="Maximum number of rows.")
@json_option
@click.pass_context
def rules(context: click.Context, *, state: str | None, user: bool, gone: bool, limit: int, as_json: bool) -> None:
    """Show which written rules sessions follow, and what changed."""
    if context.invoked_subcommand is None:
        found = open_for_question().rules.list(state=state, user=user, gone=gone, limit=limit)
        show(found, as_json=as_json, render=render_rules)


@rules.command("show")
@click.argument("name", metavar="ID")
@prints(render_rule)
def show_rule(*, name: str) -> RuleDetails:
    """Show where a rule is written and every opportunity to follow it."""
    return open_for_question().rules.show(name)


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
        say("Failures that recur, and for which a rule has to be worded by hand:")
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
