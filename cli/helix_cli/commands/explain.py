"""``explain`` and ``contrast``: why a session may have failed, and what one that succeeded did instead."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from helix_cli.memory import open_memory
from helix_cli.options import OutputPath, json_option
from helix_cli.output import count, fields, percent, say, show, tree, warn
from helix_cli.terminal.markup import Branch, Part, StyledWord, leaf, quiet, strong, verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from helix_graph import Memory
    from helix_graph.causality.contrast import Contrast
    from helix_graph.causality.fault_localization import Explanation, Suspect
    from helix_graph.web.page_model import PageTimeline


#: As many as a person looks into; ``--json`` has all.
_SUSPECTS_SHOWN = 10
_PARTINGS_SHOWN = 5

html_option = click.option(
    "--html",
    metavar="FILE",
    type=OutputPath(path_type=Path, dir_okay=False),
    help="Write the session's page to this file as well.",
)


@click.command
@click.argument("episode")
@click.option(
    "--steps", is_flag=True, help="Show every step in order, with its links and the suspects marked, instead."
)
@html_option
@json_option
def explain(*, episode: str, steps: bool, html: Path | None, as_json: bool) -> None:
    """Show which steps of a session to look at first, and why: suspects, never a verdict."""
    memory = open_memory()
    if steps:
        show(memory.timeline(episode), as_json=as_json, render=render_steps)
    else:
        show(memory.causality.explain(episode), as_json=as_json, render=render_explanation)
    _write_page(memory, episode, html)


@click.command
@click.argument("episode")
@html_option
@json_option
def contrast(*, episode: str, html: Path | None, as_json: bool) -> None:
    """Lay a session beside the most alike one that succeeded, and show where the two part."""
    memory = open_memory()
    show(memory.causality.contrast(episode), as_json=as_json, render=render_contrast)
    _write_page(memory, episode, html)


def _write_page(memory: Memory, episode: str, file: Path | None) -> None:
    """Both answers stand on the page of the session."""
    if file is not None:
        warn(f"the session's page is {memory.view(episode=episode, output=file).path}")


def render_explanation(found: Explanation) -> None:
    """Print why a session came out so: a sentence, then the suspects with their reasons."""
    fields([("episode", found.episode), ("outcome", _outcome(found)), ("read from", found.basis)])
    if found.in_short:
        say()
        say(found.in_short)
    for number, suspect in enumerate(found.suspects[:_SUSPECTS_SHOWN], 1):
        say()
        place = f" (line {suspect.line})" if suspect.line else ""
        line = f"{number}. {suspect.decision}  ", strong(suspect.label), quiet(place)
        tree(Branch(line, tuple(leaf(*reason) for reason in _reasons(suspect)), indent=3))
    if not found.suspects:
        return
    say()
    say("Suspects in the order in which to look at them; a suspect is no verdict.")
    left = len(found.suspects) - _SUSPECTS_SHOWN
    if left > 0:
        warn(f"{count(left, 'more suspect')}; --json has all")


def _reasons(suspect: Suspect) -> Iterator[tuple[Part, ...]]:
    yield from ((reason,) for reason in suspect.reasons)
    if suspect.failed_with:
        others = f": failed in {count(suspect.failed_with, 'other session')}: "
        yield StyledWord("for it", "bad"), others, quiet(_named(suspect.supporting, suspect.failed_with))
    if suspect.succeeded_with:
        others = f": {count(suspect.succeeded_with, 'other session')} succeeded: "
        yield StyledWord("against it", "good"), others, quiet(_named(suspect.contrary, suspect.succeeded_with))


def _named(sessions: Sequence[str], of: int) -> str:
    """Some sessions by name, and how many there are besides.

    >>> _named(("episode-a", "episode-b"), 4)
    'episode-a, episode-b and 2 more'
    """
    return ", ".join(sessions) + (f" and {of - len(sessions)} more" if of > len(sessions) else "")


def render_contrast(found: Contrast) -> None:
    """Print the session that came out otherwise, and where the two parted."""
    if found.other is None:
        say(f"{found.episode}: {found.why}.")
        return
    fields([("episode", found.episode), ("beside", f"{found.other} ({found.why})"), ("alike", percent(found.likeness))])
    if not found.partings:
        say()
        say("The two did the same, step by step.")
    for parting in found.partings[:_PARTINGS_SHOWN]:
        say()
        start: tuple[Part, ...] = ("after ", strong(parting.after), ":") if parting.after else ("at the start:",)
        here, there = leaf("this one:  ", _sequence(parting.here)), leaf("the other: ", _sequence(parting.there))
        tree(Branch(start, (here, there)))
    left = len(found.partings) - _PARTINGS_SHOWN
    if left > 0:
        warn(f"{count(left, 'more difference')}; --json has all")


def _sequence(labels: tuple[str, ...]) -> str:
    return ", ".join(labels) or "nothing"


def render_steps(found: PageTimeline) -> None:
    """Print the session, then a branch for each step, in the order of the log, with what it led to below it."""
    fields([("episode", found.episode), ("outcome", _outcome(found))])
    say()
    steps = []
    for step in found.steps:
        links = (leaf("-> ", target, quiet(f" ({kind}, {reason})")) for target, kind, reason in step.leads_to)
        line = quiet(f"(line {step.line}; " if step.line else "("), verdict(step.how), quiet(")")
        marks = (StyledWord(f"  suspect {step.suspect.rank}", "bad"),) if step.suspect else ()
        steps.append(Branch((f"{step.id}  ", strong(step.text), "  ", *line, *marks), tuple(links), indent=6))
    tree(Branch((strong(found.task),), tuple(steps)))
    say()
    say(found.sentence or "A suspect is a place to look, no verdict.")


def _outcome(found: Explanation | PageTimeline) -> StyledWord:
    said = f"{found.outcome} ({found.rule})" if found.rule else found.outcome
    return StyledWord(said, verdict(found.outcome).tone)
