"""``status``: what the memory holds, and whether its labels are any good."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from helix_cli.memory import open_memory
from helix_cli.options import json_option
from helix_cli.output import count, fields, percent, say, show

if TYPE_CHECKING:
    from collections.abc import Iterator

    from helix_graph.graph.status import Status


@click.command
@json_option
def status(*, as_json: bool) -> None:
    """Show what the memory holds, and how well its labels join sessions."""
    show(open_memory().graph.status(), as_json=as_json, render=render_status)


def render_status(answer: Status) -> None:
    """Print what the memory holds, and what is yet to be compiled."""
    fields(list(_rows(answer)))
    if answer.pending:
        say()
        say(f"{count(answer.pending, 'episode file')} changed since then. Next: helix-graph compile")


def _rows(answer: Status) -> Iterator[tuple[str, str]]:
    yield "episodes", f"{answer.episodes} ({answer.skipped} skipped) in {answer.episodes_path}"
    for basis, outcomes in answer.outcomes.items():
        yield f"  outcomes {basis}", _counts(outcomes)
    if answer.assertions:
        yield "assertions", f"{answer.assertions} made by hand"
    yield "graph", f"{count(answer.nodes, 'node')}, {count(answer.edges, 'edge')}, {count(answer.patterns, 'pattern')}"
    yield "  nodes", _counts(answer.node_types)
    yield "  edges", _counts(answer.edge_types)
    yield "  reasons", _counts(answer.reasons)
    yield "mentions", str(answer.mentions)
    yield "  per node", "-" if answer.mentions_per_node is None else f"{answer.mentions_per_node:.1f}"
    yield "  shared", f"{percent(answer.shared_mentions)} stand at a label that another session has too"
    if answer.largest_label:
        yield "  largest label", f"{percent(answer.largest_label.share)} {answer.largest_label.label}"
    yield "  isolated", f"{percent(answer.isolated_share)} of the labels of decisions and errors are joined to nothing"
    yield "newest episode", answer.updated or "-"
    yield "versions", f"schema {answer.version}, labels {answer.label_version}"


def _counts(numbers: dict[str, int]) -> str:
    return ", ".join(f"{number} {name}" for name, number in numbers.items()) or "-"
