"""How things led to each other: ``path``, ``causes``, ``effects``, and of one session ``explain``, ``contrast``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from helix_cli.app import open_for_question
from helix_cli.command_group import TextCommand
from helix_cli.commands.labels import render_nearest
from helix_cli.options import joined_words, label_texts, output_file, session_names
from helix_cli.output import (
    count,
    fields,
    json_option,
    percent,
    prints,
    say,
    short_id,
    show,
    table,
    tree,
    warn,
    warn_of_more,
)
from helix_cli.terminal import Branch, Part, StyledWord, columns, is_terminal, leaf, quiet, strong, verdict
from helix_graph.graph.mentions import of_several
from helix_graph.graph.paths import NO_WAY

if TYPE_CHECKING:
    from helix_graph import Memory
    from helix_graph.causality.contrast import Contrast
    from helix_graph.causality.fault_localization import Explanation, Suspect
    from helix_graph.graph.adjacency import Frequency, MentionPlace
    from helix_graph.graph.label_search import LabelMatch
    from helix_graph.graph.path_answer import FoundPath, PathAnswer, PathStep
    from helix_graph.graph.relations import RelationsAnswer
    from helix_graph.web.timeline import PageTimeline


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
#: As many as a person looks into; ``--json`` has all.
_SUSPECTS_SHOWN = 10
_PLACES_SHOWN = 5
_PARTINGS_SHOWN = 5

html_option = click.option(
    "--html", metavar="FILE", type=output_file, help="Write the session's page to this file as well."
)


@click.command
@click.argument("episode", shell_complete=session_names)
@click.option(
    "--steps", is_flag=True, help="Show every step in order, with its links and the suspects marked, instead."
)
@html_option
@json_option
def explain(*, episode: str, steps: bool, html: Path | None, as_json: bool) -> None:
    """Show what to read first in a session, which steps to look at, and why.

    These are leads, not conclusions.
    """
    memory = open_for_question()
    if steps:
        show(memory.timeline(episode), as_json=as_json, render=render_steps)
    else:
        show(memory.causality.explain(episode), as_json=as_json, render=render_explanation)
    _write_page(memory, episode, html)


@click.command
@click.argument("episode", shell_complete=session_names)
@html_option
@json_option
def contrast(*, episode: str, html: Path | None, as_json: bool) -> None:
    """Compare a session with the most similar one that succeeded.

    Shows where the two differ.
    """
    memory = open_for_question()
    show(memory.causality.contrast(episode), as_json=as_json, render=render_contrast)
    _write_page(memory, episode, html)


def _write_page(memory: Memory, episode: str, file: Path | None) -> None:
    """The session's page has both answers."""
    if file is not None:
        warn(f"the session's page is {memory.view(episode=episode, output=file).path}")


def render_explanation(found: Explanation) -> None:
    """Print why a session came out so: a sentence, what to read first, then the suspects with their reasons."""
    words = [("evidence", found.quote)] if found.quote else []
    fields(
        [
            ("session", found.episode.removeprefix("episode-")),
            ("outcome", _outcome(found)),
            *words,
            ("based on", found.basis),
        ]
    )
    if found.in_short:
        say()
        say(found.in_short)
    _render_reading(found)
    if found.suspects:
        say()
        say("Suspects:")
    for number, suspect in enumerate(found.suspects[:_SUSPECTS_SHOWN], 1):
        say()
        place = f" ({f'line {suspect.line}, ' if suspect.line else ''}{suspect.decision})"
        line = f"suspect {number}: ", strong(suspect.chosen or suspect.label), quiet(place)
        tree(Branch(line, tuple(leaf(*reason) for reason in _reasons(suspect)), indent=3))
    if not found.suspects:
        return
    say()
    say("Most suspicious first. These are leads, not conclusions.")
    warn_of_more(len(found.suspects) - _SUSPECTS_SHOWN, "suspect")


def _render_reading(found: Explanation) -> None:
    """The first places to read; a result is read with its call, so its line comes after."""
    if not found.reading:
        return
    say()
    more = f"; {_PLACES_SHOWN} of {len(found.reading)}, --json has all" if len(found.reading) > _PLACES_SHOWN else ""
    say(f"Read first (from {found.read_from}{more}):")
    for number, place in enumerate(found.reading[:_PLACES_SHOWN], 1):
        lines = f"lines {place.line} to {place.last_line}" if place.last_line > place.line else f"line {place.line}"
        where = f"{place.file}, {lines}" if place.file else lines if place.line else ", ".join(place.steps)
        chance = [] if place.chance is None else [f"chance {percent(place.chance)}"]
        why = "; ".join(part for part in (place.trouble, *place.reasons, *chance) if part)
        # On a screen a line of a tree goes on at its left edge: what does not fit beside its place is below it.
        is_long = is_terminal() and len(f"{number}. {where} ({place.speaker})  {why}") > columns()
        head = strong(where), quiet(f" ({place.speaker})"), f"  {why}" if why and not is_long else ""
        below = [leaf(text) for text in (why if is_long else "", place.quote) if text]
        tree(Branch((f"{number}. ", *head), tuple(below), indent=3))


def _reasons(suspect: Suspect) -> Iterator[tuple[Part, ...]]:
    yield from ((reason,) for reason in suspect.reasons)
    if suspect.failed_with:
        others = f": {count(suspect.failed_with, 'other session')} with {of_several(suspect.label)} failed: "
        yield StyledWord("for it", "bad"), others, quiet(_named(suspect.supporting, suspect.failed_with))
    if suspect.succeeded_with:
        others = f": {count(suspect.succeeded_with, 'other session')} with {of_several(suspect.label)} succeeded: "
        yield StyledWord("against it", "good"), others, quiet(_named(suspect.contrary, suspect.succeeded_with))


def _named(sessions: Sequence[str], of: int) -> str:
    """Some sessions by the beginning of their ids, and how many there are besides.

    >>> _named(("episode-a", "episode-b"), 4)
    'a, b and 2 more'
    """
    return ", ".join(map(short_id, sessions)) + (f" and {of - len(sessions)} more" if of > len(sessions) else "")


def render_contrast(found: Contrast) -> None:
    """Print the session that came out otherwise, and where the two parted."""
    if found.other is None:
        say(f"{found.episode.removeprefix('episode-')}: {found.why}.")
        return
    fields(
        [
            ("session", found.episode.removeprefix("episode-")),
            ("compared with", f"{found.other.removeprefix('episode-')} ({found.why})"),
            ("similarity", percent(found.likeness)),
        ]
    )
    if not found.partings:
        say()
        say("The two did the same, step by step.")
    for parting in found.partings[:_PARTINGS_SHOWN]:
        say()
        start: tuple[Part, ...] = ("after ", strong(parting.after), ":") if parting.after else ("at the start:",)
        here, there = leaf("this one:  ", _sequence(parting.here)), leaf("the other: ", _sequence(parting.there))
        tree(Branch(start, (here, there)))
    warn_of_more(len(found.partings) - _PARTINGS_SHOWN, "difference")


def _sequence(labels: tuple[str, ...]) -> str:
    return ", ".join(labels) or "nothing"


def render_steps(found: PageTimeline) -> None:
    """Print the session, then a branch for each step, in the order of the log, with what it led to below it."""
    fields([("session", found.episode.removeprefix("episode-")), ("outcome", _outcome(found))])
    say()
    steps = []
    for step in found.steps:
        links = (
            leaf("-> ", target, quiet(f" ({kind}: {why_linked((reason,))})")) for target, kind, reason in step.leads_to
        )
        line = quiet(f"(line {step.line}; " if step.line else "("), verdict(step.how), quiet(")")
        marks = (StyledWord(f"  suspect {step.suspect.rank}", "bad"),) if step.suspect else ()
        steps.append(Branch((f"{step.id}  ", strong(step.text), "  ", *line, *marks), tuple(links), indent=6))
    tree(Branch((strong(found.task),), tuple(steps)))
    say()
    say(found.sentence or "Suspects are leads, not conclusions.")


def _outcome(found: Explanation | PageTimeline) -> StyledWord:
    said = f"{found.outcome} ({found.rule})" if found.rule else found.outcome
    return StyledWord(said, verdict(found.outcome).tone)
