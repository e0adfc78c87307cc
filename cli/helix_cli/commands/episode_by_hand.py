"""``episode new``, ``decisions``, ``outcome`` and ``correct``: episodes written and set right by people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TextIO

import click

from helix_cli.commands.episode_view import plain, render_episode
from helix_cli.memory import open_memory
from helix_cli.options import json_option
from helix_cli.output import complain, say, show, table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from helix_episodes.model import Decision, Episode


@click.command
@click.option("--session", "session_id", required=True, metavar="ID", help="The session's id, which names the file.")
@click.option("--task", required=True, metavar="TEXT", help="What the session was to do.")
@click.option("--outcome", required=True, metavar="OUTCOME", help="success, partial, failure or unknown.")
@click.option("--lesson", "lessons", multiple=True, metavar="TEXT", help="A lesson; may be given several times.")
@click.option(
    "--data",
    type=click.File(encoding="utf-8"),
    help="A JSON file with decisions, events, lessons and metrics; - is stdin.",
)
@click.option("--force", is_flag=True, help="Replace the episode that the session has.")
@json_option
def new(  # noqa: PLR0913  (the parts of an episode)
    *,
    session_id: str,
    task: str,
    outcome: str,
    lessons: Sequence[str],
    data: TextIO | None,
    force: bool,
    as_json: bool,
) -> None:
    """Write an episode by hand."""
    parts = _parts(data)
    parts["lessons"] = [*parts.get("lessons", []), *lessons]
    one = open_memory().episodes.new(session_id, task, outcome, force=force, **parts)
    for link in one.extra.get("unresolved", ()):
        complain(f"left out: the link {link} names what is not there")
    _show(one, as_json=as_json)


def _parts(data: TextIO | None) -> dict[str, Any]:
    """What a file of structured data has for the library.

    Raises:
        click.BadParameter: It is no JSON object, or has a key that is none of the four.
    """
    import orjson  # noqa: PLC0415  (only --data needs it)

    if data is None:
        return {}
    try:
        parts = orjson.loads(data.read())
    except orjson.JSONDecodeError as error:
        raise click.BadParameter(f"no JSON: {error}", param_hint="--data") from None
    allowed = {"decisions", "events", "lessons", "metrics"}
    if not isinstance(parts, dict) or not parts.keys() <= allowed:
        raise click.BadParameter(f"must be an object with some of {', '.join(sorted(allowed))}", param_hint="--data")
    return parts


@click.command
@click.argument("name", metavar="EPISODE")
@json_option
def decisions(*, name: str, as_json: bool) -> None:
    """List the decisions of an EPISODE in the order of time."""
    show(open_memory().episodes.decision_sequence(name), as_json=as_json, render=_render_decisions)


def _render_decisions(found: Sequence[Decision]) -> None:
    if not found:
        say("No such episode, or none of its decisions are known.")
        return
    table(
        ("id", "time", "type", "outcome", "chosen"),
        [(one.id, one.timestamp or "-", one.type, one.outcome, one.chosen) for one in found],
    )


@click.command
@click.argument("name", metavar="EPISODE")
@click.option("--success", is_flag=True, help="It succeeded.")
@click.option("--partial", is_flag=True, help="It succeeded in part.")
@click.option("--failure", is_flag=True, help="It failed.")
@click.option("--unknown", is_flag=True, help="It is not known, whatever the log says.")
@click.option("--because", required=True, metavar="TEXT", help="How you know.")
@json_option
def outcome(*, name: str, because: str, as_json: bool, **said: bool) -> None:
    """Say how an EPISODE really came out; dated, and kept apart from what the log says."""
    outcomes = [outcome for outcome, given in said.items() if given]
    if len(outcomes) != 1:
        problem = "say which one: --success, --partial, --failure or --unknown"
        raise click.UsageError(problem)
    _show(open_memory().episodes.outcome(name, outcomes[0], because=because), as_json=as_json)


@click.command
@click.argument("name", metavar="EPISODE")
@click.option("--decision", metavar="ID", help="The decision to correct, as `episode show` calls it.")
@click.option("--chosen", metavar="TEXT", help="What was chosen.")
@click.option("--rationale", metavar="TEXT", help="Why.")
@click.option("--context", metavar="TEXT", help="In which situation.")
@click.option("--type", "kind", metavar="TYPE", help="Of a decision, or of the link's edge.")
@click.option("--outcome", "ended", metavar="OUTCOME", help="How the decision came out.")
@click.option("--link", nargs=2, metavar="FROM TO", help="Two parts that belong together.")
@click.option("--withdraw", is_flag=True, help="Take the decision or the link out: it is wrong.")
@json_option
def correct(  # noqa: PLR0913  (the parts of a decision)
    *,
    name: str,
    decision: str | None,
    chosen: str | None,
    rationale: str | None,
    context: str | None,
    kind: str | None,
    ended: str | None,
    link: tuple[str, str] | None,
    withdraw: bool,
    as_json: bool,
) -> None:
    """Correct a decision or a link of an EPISODE; kept apart from the log's reading, and laid over it."""
    if (decision is None) == (link is None):
        problem = "say which: --decision ID or --link FROM TO"
        raise click.UsageError(problem)
    episodes = open_memory().episodes
    if link is not None:
        one = episodes.correct_link(name, *link, type=kind or "causes", withdrawn=withdraw)
    else:
        one = episodes.correct(
            name,
            decision or "",
            chosen=chosen,
            rationale=rationale,
            context=context,
            type=kind,
            outcome=ended,
            withdrawn=withdraw,
        )
    _show(one, as_json=as_json)


def _show(one: Episode, *, as_json: bool) -> None:
    show(plain(one) if as_json else one, as_json=as_json, render=render_episode)
