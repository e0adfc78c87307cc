"""What happened: reading logs into episodes, and looking at episodes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import click
import msgspec
from msgspec import Meta

from helix_cli.commands.episode import render_list
from helix_cli.commands.episode_report import render_report
from helix_cli.commands.episode_sources import render_all
from helix_cli.commands.episode_view import plain, render_episode, render_evidence
from helix_cli.mcp.declaring import Arguments, NothingDoneError, Reply, Steps, Tool
from helix_cli.mcp.tools.comparing import EpisodeName  # noqa: TC001  (the schema is made from it)
from helix_cli.options import moment
from helix_cli.output import count, rendered
from helix_episodes.errors import UsageError
from helix_episodes.model import Episode, Outcome
from helix_episodes.verification import Quoted

if TYPE_CHECKING:
    from datetime import datetime

    from helix_cli.mcp.declaring import Progress
    from helix_episodes.recording import NotRecorded
    from helix_graph import Memory


class ExtractArguments(Arguments, frozen=True, kw_only=True):
    """Which logs."""

    logs: Annotated[
        list[str] | str,
        Meta(description="Paths of session logs or folders of them; without, every agent's new logs of the project."),
    ] = ""
    agent: Annotated[str | None, Meta(description="Without logs: only this agent's, such as 'claude-code'.")] = None


class ListArguments(Arguments, frozen=True, kw_only=True):
    """Which episodes."""

    outcome: Annotated[Outcome | None, Meta(description="Only sessions that came out so.")] = None
    since: Annotated[str | None, Meta(description="Only sessions from then on: 2026-09-01, or 2026-09-01T08:30Z.")] = (
        None
    )
    task: Annotated[str | None, Meta(description="Only those with this text in their task, in any case.")] = None
    max_results: Annotated[int, Meta(ge=1, le=100, description="At most so many.")] = 20


class ShowArguments(Arguments, frozen=True, kw_only=True):
    """Which episode."""

    episode: EpisodeName
    evidence: Annotated[bool, Meta(description="Every quotation with its log line, in place of the parts.")] = False


class InvalidMomentError(UsageError):
    """A day or a time that is none."""


class Extracted(msgspec.Struct, frozen=True):
    """What became of the logs; ``failed`` names those that could not be used."""

    recorded: int
    unchanged: int
    failed: list[str]


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """One session in a line."""

    session: str
    timestamp: str | None
    outcome: str
    basis: str
    decisions: int
    task: str


class Summaries(msgspec.Struct, frozen=True):
    """The newest first; ``total`` counts those that were not shown as well."""

    episodes: tuple[Summary, ...]
    total: int


class Shown(msgspec.Struct, frozen=True, omit_defaults=True):
    """An episode as its file has it, or its quotations."""

    episode: Episode | None = None
    evidence: tuple[Quoted, ...] | None = None


def _extract(memory: Memory, asked: ExtractArguments, progress: Progress) -> Reply:
    steps = Steps(progress)
    if asked.logs:
        logs = [asked.logs] if isinstance(asked.logs, str) else asked.logs
        report = memory.extract([Path(log).expanduser() for log in logs], progress=steps.advance)
        text = rendered(report, render_report)
    else:
        found = memory.extract_all(agent=asked.agent, progress=steps.advance)
        report, text = found.report, rendered(found, render_all)
    steps.end()
    failed = [_problem(one) for one in report.failed]
    if failed and not report.recorded:
        raise NothingDoneError("\n".join(["no log could be read; name session logs of an agent:", *failed]))
    new = len(report.written) + len(report.updated)
    value = Extracted(new, len(report.recorded) - new, failed)
    return Reply(value, "\n".join([*(f"not read: {one}" for one in failed), text]))


def _problem(one: NotRecorded) -> str:
    """Why a log is not recorded; most problems begin with its path already."""
    return one.problem if one.problem.startswith(str(one.log)) else f"{one.log}: {one.problem}"


def _list(memory: Memory, asked: ListArguments, _: Progress) -> Reply:
    episodes = memory.episodes
    since = None if asked.since is None else _moment(asked.since)
    found = episodes.list(asked.outcome, since, asked.max_results, task=asked.task)
    total = episodes.count(asked.outcome, since, task=asked.task)
    more = f"\n{count(total - len(found), 'more episode')}." if total > len(found) else ""
    return Reply(Summaries(tuple(map(_summary, found)), total), rendered(found, render_list) + more)


def _moment(text: str) -> datetime:
    """The day or time from which on episodes are asked for.

    Raises:
        InvalidMomentError: It is neither.
    """
    try:
        return moment(text)
    except click.BadParameter as error:
        raise InvalidMomentError(f"since: {error.message}") from error


def _summary(one: Episode) -> Summary:
    return Summary(
        session=one.session,
        timestamp=one.timestamp,
        outcome=one.outcome,
        basis=one.outcome_basis,
        decisions=len(one.decisions),
        task=one.task,
    )


def _show(memory: Memory, asked: ShowArguments, _: Progress) -> Reply:
    if asked.evidence:
        quoted = memory.episodes.evidence(asked.episode)
        return Reply(Shown(evidence=quoted), rendered(quoted, render_evidence))
    one = memory.episodes.require(asked.episode)
    return Reply({"episode": plain(one)}, rendered(one, render_episode))


TOOLS = (
    Tool(
        name="extract",
        title="Read session logs",
        description=(
            "Read agents' session logs into episodes: what was decided, what happened, how it came out. Without paths "
            "every agent's logs on this machine that belong to this project are looked at, and what is new or has "
            "grown is read; that can take a while the first time. Call `compile` afterwards."
        ),
        takes=ExtractArguments,
        gives=Extracted,
        run=_extract,
        effect="sets",
    ),
    Tool(
        name="list_episodes",
        title="List sessions",
        description=(
            "The sessions of this project, the newest first: when, what for, how they came out and who or what says "
            "so. Use it to find the session that somebody speaks of, or the last ones on a subject."
        ),
        takes=ListArguments,
        gives=Summaries,
        run=_list,
        effect="reads",
    ),
    Tool(
        name="show_episode",
        title="Show a session",
        description=(
            "One session: its decisions, events, links, fixes and lessons with the log lines they rest on. Use it to "
            "read up on what another tool has named; with evidence, every quotation word for word."
        ),
        takes=ShowArguments,
        gives=Shown,
        run=_show,
        effect="reads",
    ),
)
