"""``path``, ``causes``, ``effects``: how one thing leads to another, what leads to it, and what it leads to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from helix_cli.memory import open_memory
from helix_cli.options import json_option
from helix_cli.output import count, say, show, table, tree
from helix_cli.terminal.markup import Branch, leaf, quiet, strong

if TYPE_CHECKING:
    from helix_graph.graph.paths import PathAnswer, PathStep, RelationsAnswer
    from helix_graph.graph.shortest_paths import WitnessedPath


@click.command
@click.option("--from", "source", required=True, metavar="TEXT", help="Where the path begins: part of a label.")
@click.option("--to", "target", required=True, metavar="TEXT", help="Where it ends: part of a label.")
@click.option("--max-depth", type=int, default=5, show_default=True, help="At most so many edges, 1 to 10.")
@click.option("--strongest", is_flag=True, help="The greatest product of weights first, not the fewest edges.")
@click.option(
    "--alternatives", type=int, default=1, show_default=True, help="At most so many different paths, 1 to 10."
)
@json_option
def path(*, source: str, target: str, max_depth: int, strongest: bool, alternatives: int, as_json: bool) -> None:
    """Show the shortest chain of edges that leads from one thing to another, and what each edge rests on."""
    answer = open_memory().graph.path(
        source=source, target=target, max_depth=max_depth, strongest=strongest, alternatives=alternatives
    )
    show(answer, as_json=as_json, render=render_path)


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
        say(f"{edges}, held whole by {count(len(answer.whole), 'episode')}: {', '.join(answer.whole)}")
    else:
        say(f"{edges}, stitched from several episodes: no single one holds this chain.")
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
        held = f"held whole by {count(len(other.whole), 'episode')}" if other.whole else "stitched"
        say(f"   {count(other.depth, 'edge')}, {held}; strength {_product(other.steps, other.strength)}")
    say()
    say(f"Strength is {meaning}.")
    if not answer.complete:
        say("There was too much to look at all of it: other paths may be as good.")


def _product(steps: tuple[PathStep, ...], strength: float) -> str:
    """A strength as the product that it is.

    >>> _product((), 1.0)
    '1'
    """
    factors = " x ".join(f"{step.weight:.2f}" for step in steps)
    return f"{factors} = {strength:.3g}" if steps else f"{strength:g}"


@click.command
@click.argument("label")
@json_option
def causes(*, label: str, as_json: bool) -> None:
    """Show what leads straight to LABEL, a part of a label in any case."""
    show(open_memory().graph.causes(label), as_json=as_json, render=render_causes)


@click.command
@click.argument("label")
@json_option
def effects(*, label: str, as_json: bool) -> None:
    """Show what LABEL, a part of a label in any case, leads straight to."""
    show(open_memory().graph.effects(label), as_json=as_json, render=render_effects)


def render_causes(answer: RelationsAnswer) -> None:
    """Print what leads to a label."""
    _render(answer, "Nothing leads to it.", "what leads to it")


def render_effects(answer: RelationsAnswer) -> None:
    """Print what a label leads to."""
    _render(answer, "It leads to nothing.", "what it leads to")


def _render(answer: RelationsAnswer, nothing: str, heading: str) -> None:
    if not answer.found:
        say(f"{answer.error}.")
    for place, group in enumerate(answer.groups):
        if place:
            say()
        say(strong(group.node.label), f" ({group.node.type}, {group.node.frequency} times)")
        if group.relations:
            table(
                ("edge", "weight", "reasons", "episodes", heading),
                [
                    (one.type, f"{one.weight:.2f}", ", ".join(one.reasons), str(one.evidence_count), one.node.label)
                    for one in group.relations
                ],
                numbers=("weight", "episodes"),
            )
        else:
            say(nothing)
