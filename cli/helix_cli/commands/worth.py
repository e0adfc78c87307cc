"""``worth``: would this memory have paid? The project's own history, replayed in time order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from helix_cli.app import open_for_question
from helix_cli.options import any_path
from helix_cli.output import count, json_option, percent, progress, say, show, table
from helix_cli.terminal import quiet

if TYPE_CHECKING:
    from pathlib import Path

    from helix_graph.worth import WayResult, WorthReport

_COLUMNS = (
    "what is shown",
    "shown",
    "the later remedy",
    "same kind",
    "another",
    "steps between (at most saved)",
    "minutes",
    "another per 20 sessions",
)
_SESSIONS = 20
_EXPLAINED = (
    "The later remedy: what repaired it in that session was shown. Same kind: both edit the file that the failure "
    "names, or the tool's own repair was shown and made by hand or by another name. Another: neither. These count "
    "failures whose repair is known. Also shown: the repair of the most similar message (lexical search), "
    "the newest repair of the check, and that of a random other failure of it (placebo)."
)


def render_worth(found: WorthReport) -> None:
    """Print what each way of choosing a remedy would have shown, and what rules would have been about."""
    if not found.failures:
        say(f"No failure in {count(found.sessions, 'session')}, so there is nothing to count yet.")
        return
    say(
        f"{count(found.failures, 'failure')} in {count(found.sessions, 'session')}; the repair of {found.repaired} is "
        "known. Put to a memory of the earlier sessions:"
    )
    table(_COLUMNS, [_cells(one, found) for one in found.ways], numbers=_COLUMNS[1:])
    rules = found.rules
    say()
    if rules.rules:
        cost = f"{count(round(rules.steps), 'step')}, {count(round(rules.minutes), 'minute')} of work"
        say(f"After the earlier half of the sessions `advise` proposes {count(len(rules.rules), 'rule')}. Of the later")
        say(f"half's {count(rules.failures, 'failure')} {rules.covered} are what they are about ({cost}).")
    else:
        say("After the earlier half of the sessions `advise` proposes no rule.")
    for rule in rules.rules:
        say(f"  {rule}")
    if found.quoted:
        say(
            quiet(
                f"The log of {count(found.quoted, 'failure')} was not found where agents keep theirs: only the quoted "
                "line was searched for, which finds less. --logs names another folder."
            )
        )
    say(quiet(_EXPLAINED))
    say(quiet(found.note))


def _cells(one: WayResult, found: WorthReport) -> tuple[str, ...]:
    compared = one.same + one.alike + one.other
    return (
        one.way,
        f"{one.shown} ({percent(one.shown / max(found.failures, 1))})",
        f"{one.same} of {compared}",
        f"{one.alike} of {compared}",
        f"{one.other} of {compared}",
        f"{one.steps:.0f}",
        f"{one.minutes:.0f}",
        f"{_SESSIONS * one.other / max(found.sessions, 1):.1f}",
    )


@click.command()
@click.option(
    "--logs", type=any_path, multiple=True, help="Logs to read failing outputs from (default: the agents' own)."
)
@json_option
def worth(*, logs: tuple[Path, ...], as_json: bool) -> None:
    """Show how often an earlier session knew the repair."""
    with progress("replaying") as advance:
        answer = open_for_question().worth(logs, progress=advance)
    show(answer, as_json=as_json, render=render_worth)
