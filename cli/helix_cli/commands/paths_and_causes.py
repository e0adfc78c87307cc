"""How things led to each other: ``path``, ``causes``, ``effects``; and ``labels``, what they can be asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from helix_cli.app import open_for_question
from helix_cli.command_group import TextCommand, joined_words
from helix_cli.options import label_texts
from helix_cli.output import (
    count,
    percent,
    prints,
    say,
    short_id,
    table,
    tree,
)
from helix_cli.terminal import Branch, leaf, quiet, strong
from helix_graph.graph.paths import NO_WAY
from helix_graph.insights.safe_quoting import cut_line

if TYPE_CHECKING:
    from helix_graph.graph.adjacency import Frequency, MentionPlace
    from helix_graph.graph.label_search import LabelMatch, LabelsAnswer
    from helix_graph.graph.path_answer import FoundPath, PathAnswer, PathStep
    from helix_graph.graph.relations import RelationsAnswer


resolution_option = click.option(
    "--resolution",
    type=click.Choice(["kind", "place", "thing"]),
    help="How fine the steps are: by label, folder or file (default: the finest).",
)


def render_path(answer: PathAnswer) -> None:
    """Print the nodes in order, between them what each edge rests on, then how many sessions hold the whole."""
    render_read_as(answer.read_as)
    if not answer.found:
        _render_not_found(answer.error, answer.hint, answer.nearest)
        return
    if not answer.steps:
        say()
        say("Both texts mean the same thing; name two different ones.")
        return
    tree(Branch((strong(answer.steps[0].source),), tuple(_step(step, answer.whole) for step in answer.steps)))
    say()
    _render_verdict(answer)
    for number, other in enumerate(answer.alternatives, 2):
        say()
        steps = (leaf(step.type, quiet(f" ({_backing(step)})"), " -> ", strong(step.target)) for step in other.steps)
        tree(Branch((f"{number}. ", strong(other.steps[0].source)), tuple(steps), indent=5))
        _render_verdict(other, margin="   ")
    if not answer.complete:
        say("The graph is too large to search completely; other paths may be equally good.")


@click.command
@click.argument("ends", metavar="[FROM TO]", nargs=-1, shell_complete=label_texts)
@click.option(
    "--from",
    "source",
    metavar="TEXT",
    shell_complete=label_texts,
    help="Where it begins: a file, test, rule or label.",
)
@click.option(
    "--to",
    "target",
    metavar="TEXT",
    shell_complete=label_texts,
    help="Where it ends: a file, test, rule or label.",
)
@click.option("--max-depth", type=int, default=5, show_default=True, help="Maximum number of links, 1 to 10.")
@click.option("--strongest", is_flag=True, help="Rank by the weakest link, not by length.")
@click.option("--alternatives", type=int, default=1, show_default=True, help="Number of different paths, 1 to 10.")
@resolution_option
@prints(render_path)
def path(*, ends: tuple[str, ...], **options: Any) -> PathAnswer:
    """Show how one thing led to another.

    Prints the shortest chain of links between them, with the evidence of each link. `labels` lists what can be
    asked for.
    """
    given = [*ends]
    for name in ("source", "target"):
        options[name] = given.pop(0) if options[name] is None and given else options[name]
    if given or None in {options["source"], options["target"]}:
        raise click.UsageError("Give two texts, where it begins and where it ends, each in quotation marks.")
    return open_for_question().graph.path(**options)


def render_read_as(read_as: Mapping[str, str]) -> None:
    """Print what texts were taken for that name nothing as they are."""
    for asked, meant in read_as.items():
        say(quiet(f"Showing {meant} for {asked}."))


def _render_not_found(error: str | None, hint: str | None, nearest: tuple[LabelMatch, ...]) -> None:
    said = [error or "", hint[0].upper() + hint[1:] if hint and not nearest else ""]
    if hint == NO_WAY:
        del said[0]  # a longer search found none either
    say(" ".join(f"{one}." for one in said if one))
    render_nearest(nearest)


def _step(step: PathStep, whole: tuple[str, ...]) -> Branch:
    """An edge with quotations from sessions that have the whole path, or from any where none has."""
    shown = [one for one in step.witnesses if one.episode in whole or not whole][:_QUOTED]
    quotes = []
    for witness in shown:  # a node without a text of its own (an outcome) goes by its label
        begin, end = _lines(witness.source, witness.source_lines), _lines(witness.target, witness.target_lines)
        lines = f"line {begin} -> {end}"
        ends = f"{witness.source.text or step.source} -> {witness.target.text or step.target}"
        quotes.append(leaf(quiet(f"{short_id(witness.episode)}, {lines}  "), ends))
    unquoted = step.evidence_count - len(shown)
    if unquoted > 0:
        quotes.append(leaf(f"and {unquoted} more; --json names all episodes"))
    backing = quiet(f" ({why_linked(step.reasons)}; {_backing(step)})")
    return Branch((step.type, backing, " -> ", strong(step.target)), tuple(quotes), indent=4)


#: Why the log links two steps, in words.
_REASONS = {
    "call": "its result",
    "answer": "in answer",
    "edit-test": "next check",
    "fix": "fixed it",
    "commit": "committed",
    "spawn": "handed over",
    "entry": "same entry",
    "stated": "as stated",
    "decided": "outcome",
    "asserted": "by hand",
}


def why_linked(reasons: Sequence[str]) -> str:
    """Reasons of links in words.

    >>> why_linked(("edit-test", "fix"))
    'next check, fixed it'
    """
    return ", ".join(_REASONS.get(one, one) for one in reasons)


def _lines(place: MentionPlace, several: tuple[int, ...]) -> str:
    """The line of a mention, or of all edits that it is."""
    return ", ".join(map(str, several)) or str(place.line or "?")


def _backing(step: PathStep) -> str:
    """How many of the sessions with its source have the edge, and its weight."""
    asserted = f", {count(step.assertions, 'assertion')}" if step.assertions else ""
    return f"{_of(step.frequency)}{asserted}; weight {step.weight:.2f}"


def _of(frequency: Frequency) -> str:
    """A frequency in words.

    >>> from helix_graph.graph.adjacency import Frequency
    >>> _of(Frequency(k=2, n=5, low=0.1, high=0.8))
    '2 of 5 sessions'
    """
    return f"{frequency.k} of {count(frequency.n, 'session')}"


#: How fine the steps of a path are.
_BY = {
    "thing": "these very files, tests, messages and commands",
    "place": "these folders, rules and test files",
    "kind": "these steps",
}


def _render_verdict(answer: FoundPath, margin: str = "") -> None:
    """How many sessions hold the whole, and its weakest edge."""
    links, weakest = count(answer.depth or 0, "link"), answer.weakest
    if not any(step.frequency.k for step in answer.steps):
        say(f"{margin}{links}, added by hand; no session shows them.")
        return
    if answer.whole:
        named = ", ".join(map(short_id, answer.whole[:_HOLDERS_NAMED]))
        more = f" and {len(answer.whole) - _HOLDERS_NAMED} more" if len(answer.whole) > _HOLDERS_NAMED else ""
        say(f"{margin}{links}; seen in {count(len(answer.whole), 'session')}: {named}{more}.")
    else:
        say(f"{margin}{links}, joined from several sessions at {_BY[answer.resolution]}; no session has all of them.")
    if weakest and weakest.n > 1:
        apart = ""
        if answer.whole and weakest.k > len(answer.whole):
            apart = " Other sessions have these links, but not one after the other."
        say(f"{margin}Weakest link: in {_of(weakest)} ({_range(weakest)}).{apart}")
    if answer.alike:
        alike = answer.alike
        held = f"{count(len(alike.whole), 'session')}" if alike.whole else "no session"
        weakest = alike.weakest
        least = f"; weakest link in {_of(weakest)} ({_range(weakest)})" if weakest.n > 1 else ""
        say(f"{margin}With similar files: seen in {held}{least}.")


def _range(frequency: Frequency) -> str:
    return f"{percent(frequency.low)} to {percent(frequency.high)}" if frequency.n else "nothing to count"


def render_causes(answer: RelationsAnswer) -> None:
    """Print what leads to a thing."""
    _render_relations(answer, "Nothing leads to it.", led="Led to it", fixed="Fixed it")


@click.command(cls=TextCommand)
@click.argument("label", metavar="LABEL", nargs=-1, required=True, callback=joined_words, shell_complete=label_texts)
@resolution_option
@prints(render_causes)
def causes(*, label: str, resolution: str | None) -> RelationsAnswer:
    """Show what led to something.

    LABEL is a file, a test, a rule, a command, or a few words of a label. `labels` lists all.
    """
    return open_for_question().graph.causes(label, resolution=resolution)


def render_effects(answer: RelationsAnswer) -> None:
    """Print what a thing leads to."""
    _render_relations(answer, "It leads to nothing.", led="It led to", fixed="It fixed")


@click.command(cls=TextCommand)
@click.argument("label", metavar="LABEL", nargs=-1, required=True, callback=joined_words, shell_complete=label_texts)
@resolution_option
@prints(render_effects)
def effects(*, label: str, resolution: str | None) -> RelationsAnswer:
    """Show what something led to.

    LABEL is a file, a test, a rule, a command, or a few words of a label. `labels` lists all.
    """
    return open_for_question().graph.effects(label, resolution=resolution)


def _render_relations(answer: RelationsAnswer, nothing: str, *, led: str, fixed: str) -> None:
    render_read_as(answer.read_as)
    if not answer.found:
        _render_not_found(answer.error, None, answer.nearest)
    for place, group in enumerate(answer.groups):
        if place:
            say()
        say(strong(group.node.label), f" ({group.node.type}, in {count(group.sessions, 'session')})")
        shown = group.relations[:_RELATIONS_SHOWN]
        if not shown:
            say(nothing)
        for heading, relations in (
            (led, [one for one in shown if one.type != "prevents"]),
            (fixed, [one for one in shown if one.type == "prevents"]),
        ):
            rows = [
                (
                    f"{one.frequency.k} of {one.frequency.n}",
                    f"{one.weight:.2f}",
                    why_linked(one.reasons),
                    one.node.label,
                )
                for one in relations
            ]
            if rows:
                say(f"{heading}:")
                table(("sessions", "weight", "why linked", "step"), rows, numbers=("sessions", "weight"))
        if len(group.relations) > _RELATIONS_SHOWN:
            left = len(group.relations) - _RELATIONS_SHOWN
            say(f"and {left:,} more: --json has all; --resolution place or kind joins similar ones")
    if answer.groups:
        say()
        followed = "of those with the earlier step, in how many the later one followed"
        say(quiet(f"Sessions: {followed}. Weight: how reliable such a link in a log is, 0 to 1."))


#: As many as a person reads; ``--json`` has all.
_HOLDERS_NAMED, _QUOTED, _RELATIONS_SHOWN = 3, 3, 20


#: Of a nearest label so much is shown: a command or a task may be a page.
_LONGEST_NAME = 100
#: What has less of the words is only near.
_ALIKE = 0.6


def render_labels(answer: LabelsAnswer) -> None:
    """Print one row for each label, or for each match of the words."""
    rows = [(str(one.sessions), str(one.mentions), one.type, one.name) for one in answer.labels]
    columns = "sessions", "times", "type", "label"
    table(columns, rows, numbers=columns[:2], empty="Nothing matches." if answer.total else "No labels yet.")
    shares = [one.share for one in answer.labels if one.share is not None]
    if shares and max(shares) < _ALIKE:
        say()
        say(quiet("Nothing has most of these words; these are the nearest."))
    if rows and not shares and answer.total > len(rows):
        say()
        say(quiet(f"The {len(rows)} most frequent of {answer.total:,} labels; --limit shows more, TEXT searches."))


def is_weak(found: tuple[LabelMatch, ...]) -> bool:
    """Whether none of the labels has most of the words."""
    return all((one.share or 0.0) < _ALIKE for one in found)


def render_nearest(found: tuple[LabelMatch, ...], *, heading: str = "Nearest in this memory:") -> None:
    """Print what may have been meant, one line each."""
    if found:
        say(heading)
    for one in found:
        say(
            f"  {cut_line(one.name, _LONGEST_NAME)}",
            quiet(f"  ({one.type}, {one.sessions} {'session' if one.sessions == 1 else 'sessions'})"),
        )


@click.command(cls=TextCommand)
@click.argument("text", metavar="[TEXT]", nargs=-1, callback=joined_words)
@click.option("--limit", type=click.IntRange(1, 1000), default=20, show_default=True, help="Maximum number of labels.")
@prints(render_labels)
def labels(*, text: str | None, limit: int) -> LabelsAnswer:
    """List what can be asked for, or search it by words.

    TEXT is a few words, such as "tests fail". The best match comes first.
    """
    return open_for_question().graph.labels(text, limit=limit)
