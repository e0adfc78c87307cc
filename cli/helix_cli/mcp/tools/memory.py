"""The memory itself: read logs into episodes, compile the graph, say what there is, and the rest of long answers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import click
import msgspec
from msgspec import Meta

from helix_cli.commands.episode import render_all, render_episode, render_evidence, render_list, render_report
from helix_cli.commands.graph import render_compile, render_status
from helix_cli.mcp.pagination import ANSWERS, part_of
from helix_cli.mcp.tool_declaration import Arguments, EpisodeName, ProgressSteps, Reply, TextList, tool
from helix_cli.options import parse_time
from helix_cli.output import count, rendered, say
from helix_episodes.discovery import is_in_agents_folder
from helix_episodes.errors import HelixGraphError, InvalidArgument
from helix_episodes.model import Outcome
from helix_graph.errors import GraphNotCompiled
from helix_graph.graph.status import Status

if TYPE_CHECKING:
    from datetime import datetime

    from helix_cli.mcp.tool_declaration import Progress
    from helix_graph import Memory


class ExtractArguments(Arguments, frozen=True, kw_only=True):
    """Which logs."""

    logs: Annotated[
        TextList | str,
        Meta(description="Session logs of this project, or folders of them; without, every agent's new logs of it."),
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


def _moment(text: str) -> datetime:
    """The day or time from which on episodes are asked for.

    Raises:
        InvalidArgument: It is neither.
    """
    try:
        return parse_time(text)
    except click.BadParameter as error:
        raise InvalidArgument(None, f"since: {error.message}") from error


class Holdings(msgspec.Struct, frozen=True, kw_only=True):
    """What the memory holds. Without a compiled graph its figures are None, and ``problem`` says why."""

    episodes: int
    topics: int
    entries: int
    insights: int
    graph: Status | None
    problem: str | None


class CompileArguments(Arguments, frozen=True, kw_only=True):
    """How."""

    dry_run: Annotated[bool, Meta(description="Say what would change, and change nothing.")] = False


class RestArguments(Arguments, frozen=True, kw_only=True):
    """Which part."""

    answer: Annotated[str, Meta(pattern="^[0-9a-f]{12}$", description="The id that the cut answer ends with.")]
    part: Annotated[int, Meta(ge=1, description="Which part, from 1.")] = 1


def _graph(memory: Memory) -> tuple[Status | None, str | None]:
    """The graph's figures, or why there are none."""
    try:
        return memory.graph.status(), None
    except GraphNotCompiled as error:
        return None, str(error)


def _render_holdings(found: Holdings) -> None:
    topics = f"{count(found.entries, 'entry', 'entries')} in {count(found.topics, 'topic')}"
    say(f"{count(found.episodes, 'episode')}, {topics}, {count(found.insights, 'insight')}.")
    if found.graph is None:
        say(f"The graph: not compiled. {found.problem}")
    else:
        say()
        render_status(found.graph)


@tool("extract", title="Read session logs", takes=ExtractArguments, effect="sets")
def extract(memory: Memory, asked: ExtractArguments, progress: Progress) -> Reply:
    """Read agents' session logs into episodes: what was decided, what happened, how it came out. Without paths every
    agent's logs on this machine that belong to this project are looked at, and what is new or has grown is read; that
    can take a while the first time. Call `compile` afterwards.
    """
    steps = ProgressSteps(progress)
    if asked.logs:
        logs = [Path(log).expanduser() for log in ([asked.logs] if isinstance(asked.logs, str) else asked.logs)]
        elsewhere = [str(log) for log in logs if log.exists() and not is_in_agents_folder(log)]
        if elsewhere:
            problem = (
                f"holds {', '.join(elsewhere)}, which is in no agent's own folder of logs: anybody could have written "
                "it; only a person can have it read, on the command line"
            )
            raise InvalidArgument("logs", problem)
        report = memory.extract(logs, own=True, progress=steps.advance)
        text = rendered(report, render_report)
    else:
        found = memory.extract_all(agent=asked.agent, progress=steps.advance)
        report, text = found.report, rendered(found, render_all)
    steps.end()
    failed = [
        one.problem if one.problem.startswith(str(one.log)) else f"{one.log}: {one.problem}" for one in report.failed
    ]
    if failed and not report.recorded:
        raise HelixGraphError("\n".join(["no log could be read; name session logs of an agent:", *failed]))
    named = [f"{one.log}: {one.problem}" for one in report.left_out] if asked.logs else []
    if named and not report.recorded:
        raise HelixGraphError("\n".join(["no session was recorded; name logs of this project:", *named]))
    return Reply(
        report, "\n".join([*(f"not read: {one}" for one in failed), *(f"left out: {one}" for one in named), text])
    )


@tool("list_episodes", title="List sessions", takes=ListArguments, effect="reads")
def list_episodes(memory: Memory, asked: ListArguments, _: Progress) -> Reply:
    """The sessions of this project, the newest first: when, what for, how they came out and who or what says so. Use it
    to find the session that somebody speaks of, or the last ones on a subject.
    """
    episodes = memory.episodes
    since = None if asked.since is None else _moment(asked.since)
    found = episodes.list(asked.outcome, since, asked.max_results, task=asked.task)
    total = episodes.count(asked.outcome, since, task=asked.task)
    more = f"\n{count(total - len(found), 'more episode')}." if total > len(found) else ""
    return Reply(None, rendered(found, render_list) + more)


@tool("show_episode", title="Show a session", takes=ShowArguments, effect="reads")
def show_episode(memory: Memory, asked: ShowArguments, _: Progress) -> Reply:
    """One session: its decisions, events, links, fixes and lessons with the log lines they rest on. Use it to read up
    on what another tool has named; with evidence, every quotation word for word.
    """
    if asked.evidence:
        quoted = memory.episodes.evidence(asked.episode)
        return Reply(None, rendered(quoted, render_evidence))
    one = memory.episodes.require(asked.episode)
    return Reply(None, rendered(one, render_episode))


@tool("compile", title="Fold episodes into the graph", takes=CompileArguments, effect="sets")
def compile_episodes(memory: Memory, asked: CompileArguments, progress: Progress) -> Reply:
    """Fold new episodes into the causal graph, which `seen`, `causal_path`, `patterns` and the others answer from. What
    has not changed costs nothing. Use it after `extract`, or when a tool says that the graph is not compiled.
    """
    steps = ProgressSteps(progress)
    report = memory.graph.compile(dry_run=asked.dry_run, progress=steps.advance)
    steps.end()
    return Reply(report, rendered(report, render_compile))


@tool("status", title="What the memory holds", takes=Arguments, effect="reads")
def status(memory: Memory, _: Arguments, __: Progress) -> Reply:
    """How much the memory holds: episodes and their outcomes, topics, insights, the graph's size, how well its labels
    join sessions, and what is yet to be compiled. Use it when answers are empty or seem old.
    """
    topics = memory.topics.topics("session")
    insights = memory.insights.health()["total_insights"]
    graph, problem = _graph(memory)
    value = Holdings(
        episodes=memory.episodes.count(),
        topics=topics.topics,
        entries=topics.entries,
        insights=insights,
        graph=graph,
        problem=problem,
    )
    return Reply(value, rendered(value, _render_holdings))


@tool("rest", title="The rest of a long answer", takes=RestArguments, effect="reads")
def rest(_: Memory, asked: RestArguments, __: Progress) -> Reply:
    """The next part of an answer that was cut because it was long. The cut answer's last line says with which arguments
    to call this.
    """
    text = ANSWERS.get(asked.answer)
    if text is None:
        raise InvalidArgument(None, f"the answer {asked.answer} is not kept any more; ask the first question again")
    part, number = part_of(text, asked.part)
    if not part:
        problem = (
            f"the answer {asked.answer} has {number} parts, and no part {asked.part}; ask the first question again"
        )
        raise InvalidArgument(None, problem)
    return Reply(None, part)
