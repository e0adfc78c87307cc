"""How things led to each other: ``path``, ``causes``, ``effects``, and of one session ``explain``, ``contrast``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from helix_cli.app import open_for_question
from helix_cli.command_group import TextCommand
from helix_cli.options import output_file
from helix_cli.output import count, fields, json_option, percent, prints, say, show, table, tree, warn, warn_of_more
from helix_cli.terminal import Branch, Part, StyledWord, leaf, quiet, strong, verdict

if TYPE_CHECKING:
    from helix_graph import Memory
    from helix_graph.causality.contrast import Contrast
    from helix_graph.causality.fault_localization import Explanation, Suspect
    from helix_graph.graph.paths import PathAnswer, PathStep, RelationsAnswer
    from helix_graph.graph.shortest_paths import WitnessedPath
    from helix_graph.web.timeline import PageTimeline


def render_path(answer: PathAnswer) -> None:
    """Print the nodes in order, between them what each edge rests on, then whether one episode holds the whole."""
    if not answer.found:
        say(f"{answer.error}." + (f" {answer.hint}" if answer.hint else ""))
        return
    tree(Branch((strong(answer.path[0].label),), tuple(map(_step, answer.steps))))
    say()
    _render_verdict(answer)
    if answer.strength_means:
        _render_strengths(answer, answer.strength_means)


@click.command
@click.option("--from", "source", required=True, metavar="TEXT", help="Where the path begins: part of a label.")
@click.option("--to", "target", required=True, metavar="TEXT", help="Where it ends: part of a label.")
@click.option("--max-depth", type=int, default=5, show_default=True, help="Maximum number of links, 1 to 10.")
@click.option("--strongest", is_flag=True, help="Rank by strength, not by length.")
@click.option("--alternatives", type=int, default=1, show_default=True, help="Number of different paths, 1 to 10.")
@prints(render_path)
def path(**options: Any) -> PathAnswer:
    """Show how one thing led to another.

    Prints the shortest chain of links between them, with the evidence of each link. `labels` lists what can be
    asked for.
    """
    return open_for_question().graph.path(**options)


def _step(step: PathStep) -> Branch:
    backing = quiet(f" ({', '.join(step.reasons)}; weight {step.weight:.2f}; {_backing(step)})")
    quotes = []
    for witness in step.witnesses:  # a node without a text of its own (an outcome) goes by its label
        lines = f"line {witness.source.line or '?'} -> {witness.target.line or '?'}"
        ends = f"{witness.source.text or step.source} -> {witness.target.text or step.target}"
        quotes.append(leaf(quiet(f"{witness.episode}  {lines}  "), ends))
    unquoted = step.evidence_count - len(step.witnesses)
    if unquoted > 0:
        quotes.append(leaf(f"and {unquoted} more; --json names all episodes"))
    return Branch((step.type, backing, " -> ", strong(step.target)), tuple(quotes), indent=4)


def _backing(step: PathStep) -> str:
    """What an edge rests on: episodes, assertions, or both."""
    both = ((len(step.episodes), "episode"), (step.assertions, "assertion"))
    return ", ".join(count(number, word) for number, word in both if number)


def _render_verdict(answer: PathAnswer) -> None:
    edges = count(answer.depth or 0, "edge")
    if not answer.steps:
        say("Both texts name the same thing.")
    elif answer.whole:
        say(f"{edges}; the whole chain occurs in {count(len(answer.whole), 'episode')}: {', '.join(answer.whole)}")
    else:
        say(f"{edges}, combined from several episodes; no single episode contains the whole chain.")
        _render_witnessed(answer.witnessed_path)


def _render_witnessed(witnessed: WitnessedPath | None) -> None:
    if witnessed is None:
        say("No single episode leads from one end to the other.")
        return
    chain = witnessed.path[0].label
    for kind, node in zip(witnessed.types, witnessed.path[1:], strict=True):
        chain += f" -{kind}-> {node.label}"
    say(f"The shortest chain that one episode holds ({', '.join(witnessed.episodes)}): {chain}")


def _render_strengths(answer: PathAnswer, meaning: str) -> None:
    """The strength of the path, then the other paths, one line for each node of them."""
    say(f"Strength {_product(answer.steps, answer.strength or 0)}.")
    for number, other in enumerate(answer.alternatives, 2):
        say()
        steps = []
        for step in other.steps:
            backing = quiet(f" (weight {step.weight:.2f}; {_backing(step)})")
            steps.append(leaf(step.type, backing, " -> ", strong(step.target)))
        tree(Branch((f"{number}. ", strong(other.path[0].label)), tuple(steps), indent=5))
        whole = f"whole in {count(len(other.whole), 'episode')}" if other.whole else "from several episodes"
        say(f"   {count(other.depth, 'edge')}, {whole}; strength {_product(other.steps, other.strength)}")
    say()
    say(f"Strength is {meaning}.")
    if not answer.complete:
        say("The graph is too large to search completely; other paths may be equally good.")


def _product(steps: tuple[PathStep, ...], strength: float) -> str:
    """A strength as the product that it is.

    >>> _product((), 1.0)
    '1'
    """
    factors = " x ".join(f"{step.weight:.2f}" for step in steps)
    return f"{factors} = {strength:.3g}" if steps else f"{strength:g}"


def render_causes(answer: RelationsAnswer) -> None:
    """Print what leads to a label."""
    _render_relations(answer, "Nothing leads to it.", "what leads to it")


@click.command(cls=TextCommand)
@click.argument("label")
@prints(render_causes)
def causes(*, label: str) -> RelationsAnswer:
    """Show what led to something.

    LABEL is part of a label, or a few words of it. `labels` lists all.
    """
    return open_for_question().graph.causes(label)


def render_effects(answer: RelationsAnswer) -> None:
    """Print what a label leads to."""
    _render_relations(answer, "It leads to nothing.", "what it leads to")


@click.command(cls=TextCommand)
@click.argument("label")
@prints(render_effects)
def effects(*, label: str) -> RelationsAnswer:
    """Show what something led to.

    LABEL is part of a label, or a few words of it. `labels` lists all.
    """
    return open_for_question().graph.effects(label)


def _render_relations(answer: RelationsAnswer, nothing: str, heading: str) -> None:
    if not answer.found:
        say(f"{answer.error}.")
    for place, group in enumerate(answer.groups):
        if place:
            say()
        say(strong(group.node.label), f" ({group.node.type}, {count(group.node.frequency, 'time')})")
        rows = [
            (one.type, f"{one.weight:.2f}", ", ".join(one.reasons), str(one.evidence_count), one.node.label)
            for one in group.relations
        ]
        columns = "edge", "weight", "reasons", "episodes", heading
        table(columns, rows, numbers=("weight", "episodes"), empty=nothing)


#: As many as a person looks into; ``--json`` has all.
_SUSPECTS_SHOWN = 10
_PARTINGS_SHOWN = 5

html_option = click.option(
    "--html", metavar="FILE", type=output_file, help="Write the session's page to this file as well."
)


@click.command
@click.argument("episode")
@click.option(
    "--steps", is_flag=True, help="Show every step in order, with its links and the suspects marked, instead."
)
@html_option
@json_option
def explain(*, episode: str, steps: bool, html: Path | None, as_json: bool) -> None:
    """Show which steps of a session to look at first, and why.

    The steps are leads, not conclusions.
    """
    memory = open_for_question()
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
    warn_of_more(len(found.suspects) - _SUSPECTS_SHOWN, "suspect")


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
    warn_of_more(len(found.partings) - _PARTINGS_SHOWN, "difference")


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
