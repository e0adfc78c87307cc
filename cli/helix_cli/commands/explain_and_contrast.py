"""One session: ``explain``, what to look at in it and why, and ``contrast``, against one that succeeded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from helix_cli.app import open_for_question
from helix_cli.commands.paths_and_causes import why_linked
from helix_cli.options import output_file, session_names
from helix_cli.output import (
    count,
    fields,
    json_option,
    percent,
    say,
    short_id,
    show,
    tree,
    warn,
    warn_of_more,
)
from helix_cli.terminal import Branch, Part, StyledWord, columns, is_terminal, leaf, quiet, strong, verdict
from helix_graph.graph.mentions import of_several

if TYPE_CHECKING:
    from helix_graph import Memory
    from helix_graph.causality.contrast import Contrast
    from helix_graph.causality.fault_localization import Explanation, Suspect
    from helix_graph.web.timeline import PageTimeline


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
