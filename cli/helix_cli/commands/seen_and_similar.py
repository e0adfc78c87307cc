"""``seen`` and ``similar``: what fixed this error before, and what was decided before in such a situation."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING

import click

from helix_cli.app import open_for_question
from helix_cli.command_group import TextCommand, joined_words
from helix_cli.output import count, json_option, prints, say, short_id, show
from helix_cli.terminal import quiet, strong, verdict
from helix_graph.insights.safe_quoting import cut_line

if TYPE_CHECKING:
    from helix_graph.graph.label_search import LabelMatch
    from helix_graph.graph.seen_answer import Precedent, Remedy, SeenAnswer, SeenIssue
    from helix_graph.graph.similar_decisions import SimilarAnswer, SimilarDecision


LEVELS: dict[str, str] = {
    "exact": "same error",
    "family": "same kind of error",
    "part": "said within a message",
    "words": "error in similar words",
}
#: What the working tree says of a change now.
STATES: dict[str, str] = {
    "holds": "; still in the file",
    "changed": "; the file has changed since",
    "gone": "; the file is gone",
}
#: Of more changes each may have done it, or none.
_MOST_FIXES = 3
_DELETED_SHOWN = 3
#: A longer text is an output, not a few words; so many labels are named that few words may mean.
_LONGEST_WORDS, NEAREST = 300, 3
#: Of an issue so much is repeated; the rest is in what was asked.
_LONGEST_ISSUE = 100


#: A session counts at its closest level, so those of the next level are further ones.
_OTHER = "other "


def render_seen(answer: SeenAnswer) -> None:
    """Print how closely the error is known and whether it was ever repaired, then each precedent with its fixes."""
    if not answer.found:
        say("Not seen before.")
    elif answer.level == "recent":
        say("The newest errors:")
    elif answer.level == "words":
        say("Not seen before. Similar words:")
    else:
        levels = [level for level, met in answer.sessions.items() if met]
        known = (
            f"{LEVELS[level]} in {_met(answer.sessions[level], answer.shared.get(level, 0), other=_OTHER * bool(n))}"
            for n, level in enumerate(levels)
        )
        say(f"Seen before: {', '.join(known)}.")
        shown = {one.issue for one in answer.precedents if one.fixes}
        for number, issue in enumerate(answer.issues):
            if len(answer.issues) > 1 or number not in shown or issue.silenced:
                say(f"  {cut_line(issue.message, _LONGEST_ISSUE)}: {_known(issue, shown=number in shown)}")
    for precedent in answer.precedents:
        say()
        _render_precedent(precedent)


def _met(sessions: int, shared: int, *, other: str = "") -> str:
    """How many sessions, with shared ones counted apart."""
    if not shared:
        return count(sessions, f"{other}session")
    if shared == sessions:
        return count(shared, f"{other}shared session")
    return f"{count(sessions - shared, f'{other}session')} of yours and {shared} shared"


def _known(issue: SeenIssue, *, shown: bool) -> str:
    """How often an issue was met, repaired and silenced."""
    known = _repaired(issue, shown=shown)
    if (one := issue.silenced) is None:
        return known
    marker = cut_line(" ".join(one.quote.split()), _LONGEST_ISSUE)
    return f"{known}; silenced in {one.sessions}, no repair: {marker} ({one.session[:8]}, line {one.line or '?'})"


def _repaired(issue: SeenIssue, *, shown: bool) -> str:
    met = f"{LEVELS[issue.level]} in {_met(issue.sessions, issue.shared)}"
    if not issue.fixed:
        return f"{met}, no repair seen"
    met += f", repaired in {issue.fixed}"
    if issue.shared_fixed and issue.shared < issue.sessions:
        met += f" ({issue.shared_fixed} of them shared)"
    if shown:
        return met
    if issue.repaired_as is not None:
        return f"{met} in the same way"
    if (usual := issue.usual) is None:
        return f"{met}; {'its fix was' if issue.fixed == 1 else 'each fix was'} particular to that one"
    done = f"run {usual.command}" if usual.command else f"edit {usual.path or 'the file that the message names'}"
    return f"{met}; {usual.sessions} of {usual.of} times the repair was: {done}"


@click.command(cls=TextCommand)
@click.argument("text", metavar="[TEXT]", nargs=-1, callback=joined_words)
@click.option("--limit", type=click.IntRange(1, 100), default=5, show_default=True, help="Maximum number of sessions.")
@json_option
def seen(*, text: str | None, limit: int, as_json: bool) -> None:
    """Show what fixed an error before.

    TEXT is an error line or the whole output of a command; - reads it from stdin:

        pytest 2>&1 | helix-graph seen -

    Without TEXT, the newest errors are shown.
    """
    if text == "-" and sys.stdin is None:
        raise click.UsageError("stdin is closed: give TEXT, or pipe something in")
    if text == "-":
        text = sys.stdin.buffer.read().decode(errors="replace")  # what programs print need not be text
    graph = open_for_question().graph
    answer = graph.seen(text, limit=limit)
    nearest: tuple[LabelMatch, ...] = ()
    if text and not (answer.found or as_json) and len(text) <= _LONGEST_WORDS:
        nearest = graph.labels(text, limit=NEAREST).labels
    if not nearest:
        show(answer, as_json=as_json, render=render_seen)
    else:
        show(nearest, as_json=False, render=_render_meant)


def _render_meant(nearest: tuple[LabelMatch, ...]) -> None:
    """Print what few words may mean that are no error's text, and how to ask for it."""
    from helix_cli.commands.paths_and_causes import is_weak, render_nearest

    render_nearest(nearest, heading=f"Not seen before. {'Nearest' if is_weak(nearest) else 'Similar words'}:")
    short = next((one.name for one in nearest if one.name == one.label), None)
    if short and not is_weak(nearest):
        say(f"Next: helix-graph causes {shlex.quote(short)}")


def _render_precedent(one: Precedent) -> None:
    day = (one.date or "time not known")[:10]
    say(f"{day}  ", strong(one.label), quiet(f"  ({LEVELS[one.level]})" if one.level in LEVELS else ""))
    say(f"  {one.message or one.quote}")
    shared = f"shared by {one.author or 'an unknown author'}; " if one.shared else ""
    say(f"  in session {short_id(one.session)} ({shared}{one.task}), line {one.line or '?'}")
    for remedy in one.fixes[:_MOST_FIXES]:
        _render_remedy(remedy)
    if len(one.fixes) > _MOST_FIXES:
        say(f"  and {count(len(one.fixes) - _MOST_FIXES, 'more change')} in that session")
    if not one.fixes:
        in_vain = " in vain" * all(attempt.again for attempt in one.tried)
        say(f"  no fix in that session{f'; tried{in_vain}:' * bool(one.tried)}")
    for attempt in one.tried:
        failed = "failed: the same error again" if attempt.again else f"failed with another error: {attempt.message}"
        say(f"  -- {attempt.command or attempt.chosen}  (line {attempt.line or '?'} of the log)")
        say(f"     {failed}")
    if one.reply:
        say(f"  a person then said: {one.reply}")


def _render_remedy(remedy: Remedy) -> None:
    trust = verdict("verified" if remedy.verified else "not verified")
    by = f": {remedy.verified_by if remedy.verified_by != remedy.chosen else 'it succeeded'}" if remedy.verified else ""
    state = f"; now in {remedy.now_at}" if remedy.now_at else STATES.get(remedy.state or "", "")
    say("  -> ", strong(remedy.chosen), "  (", trust, f"{by}; made in line {remedy.line or '?'} of the log{state})")
    if remedy.rationale:
        say(f"     why: {remedy.rationale}")
    for line in remedy.deleted[:_DELETED_SHOWN]:
        say(f"     - {line}")
    if len(remedy.deleted) > _DELETED_SHOWN:
        say(f"     -{count(len(remedy.deleted) - _DELETED_SHOWN, 'more line')}")
    if remedy.quote and remedy.quote != remedy.command and not remedy.deleted:
        say(f"     {remedy.quote}")


def render_similar(found: SimilarAnswer) -> None:
    """Print earlier decisions, each with its reason, its session and what became of it."""
    if not found.decisions:
        say(f"No earlier decision contains any of these words: {', '.join(found.looked_for)}.")
        return
    for one in found.decisions:
        _render_decision(one)
        say()
    if found.not_met:
        say(f"In none of these: {', '.join(found.not_met)}.")
    left = found.sessions - len(found.decisions)
    if left > 0:
        say(f"{count(left, 'more session')} with a decision that has one of the words.")
    say(f"What this compares: {found.compares}.")


@click.command(cls=TextCommand)
@click.argument("text", metavar="TEXT", nargs=-1, required=True, callback=joined_words)
@click.option("--limit", type=click.IntRange(1, 100), default=5, show_default=True, help="Maximum number of decisions.")
@prints(render_similar)
def similar(*, text: str, limit: int) -> SimilarAnswer:
    """Show earlier decisions in similar situations.

    TEXT describes the situation.
    """
    return open_for_question().causality.similar(text, limit=limit)


def _render_decision(one: SimilarDecision) -> None:
    day = (one.date or "time not known")[:10]
    outcome = one.outcome if one.basis == "none" else f"{one.outcome}, {one.basis}"
    if one.decision_outcome not in {None, "unknown"}:
        outcome += f"; the decision: {one.decision_outcome}"
    say(f"{day}  {one.chosen or one.label}  (the session: {outcome})")
    if one.context:
        say(f"  when: {one.context}")
    if one.rationale:
        say(f"  why: {one.rationale}")
    say(f"  in session {short_id(one.session)} ({one.task}), line {one.line or '?'}")
    others = f"; {count(one.others, 'more decision')} in that session" if one.others else ""
    say(f"  matching words: {', '.join(one.words)}{others}")
