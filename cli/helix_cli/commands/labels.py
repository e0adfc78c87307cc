"""``labels``: what can be asked for by `path`, `causes` and `effects`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from helix_cli.app import open_for_question
from helix_cli.command_group import TextCommand
from helix_cli.options import joined_words
from helix_cli.output import prints, say, table
from helix_cli.terminal import quiet
from helix_graph.insights.safe_quoting import cut_line

if TYPE_CHECKING:
    from helix_graph.graph.label_search import LabelMatch, LabelsAnswer


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
