"""The memory itself: read logs into episodes, compile the graph, look at sessions, report the state."""

from typing import TYPE_CHECKING, Annotated, Literal

from msgspec import Meta

from helix_cli.mcp.tool_declaration import EpisodeName, ProgressSteps, TextList, tool

if TYPE_CHECKING:
    from datetime import datetime

    from helix_cli.mcp.tool_declaration import Progress
    from helix_graph import Memory


def _moment(text: str) -> "datetime":
    """The day or time from which on episodes are asked for."""
    import click

    from helix_cli.options import parse_time
    from helix_episodes.errors import InvalidArgument

    try:
        return parse_time(text)
    except click.BadParameter as error:
        raise InvalidArgument(None, f"since: {error.message}") from error


@tool(title="Read session logs", effect="sets")
def extract(
    memory: "Memory",
    *,
    progress: "Progress",
    logs: Annotated[
        TextList | str,
        Meta(description="Session logs of this project, or folders of them; without, every agent's new logs of it."),
    ] = "",
    agent: Annotated[str | None, Meta(description="Without logs: only this agent's, such as 'claude-code'.")] = None,
) -> str:
    """Read agents' session logs into episodes: what was decided, what happened, how it came out. Without paths every
    agent's logs on this machine that belong to this project are looked at, and what is new or has grown is read; that
    can take a while the first time. Call `compile` afterwards.
    """
    from helix_cli.commands.episode import render_all
    from helix_cli.commands.extraction_report import render_report
    from helix_cli.output import rendered
    from helix_episodes.discovery import is_in_agents_folder
    from helix_episodes.errors import HelixGraphError, InvalidArgument
    from helix_episodes.safe_files import expanded

    steps = ProgressSteps(progress)
    if logs:
        paths = [expanded(log) for log in ([logs] if isinstance(logs, str) else logs)]
        elsewhere = [str(path) for path in paths if path.exists() and not is_in_agents_folder(path)]
        if elsewhere:
            problem = (
                f"holds {', '.join(elsewhere)}, which is in no agent's own folder of logs: anybody could have written "
                "it; only a person can have it read, on the command line"
            )
            raise InvalidArgument("logs", problem)
        report = memory.extract(paths, own=True, progress=steps.advance)
        text = rendered(report, render_report)
    else:
        found = memory.extract_all(agent=agent, progress=steps.advance)
        report, text = found.report, rendered(found, render_all)
    steps.end()
    failed = [
        one.problem if one.problem.startswith(str(one.log)) else f"{one.log}: {one.problem}" for one in report.failed
    ]
    if failed and not report.recorded:
        raise HelixGraphError("\n".join(["no log could be read; name session logs of an agent:", *failed]))
    named = [f"{one.log}: {one.problem}" for one in report.left_out] if logs else []
    if named and not report.recorded:
        raise HelixGraphError("\n".join(["no session was recorded; name logs of this project:", *named]))
    return "\n".join([*(f"not read: {one}" for one in failed), *(f"left out: {one}" for one in named), text])


@tool(title="List sessions", effect="reads")
def list_episodes(
    memory: "Memory",
    *,
    outcome: Annotated[
        Literal["success", "partial", "failure", "unknown"] | None,
        Meta(description="Only sessions with this outcome."),
    ] = None,
    since: Annotated[
        str | None, Meta(description="Only sessions from then on: 2026-09-01, or 2026-09-01T08:30Z.")
    ] = None,
    task: Annotated[str | None, Meta(description="Only sessions whose task contains this text, in any case.")] = None,
    max_results: Annotated[int, Meta(ge=1, le=100, description="Most results.")] = 20,
) -> str:
    """The sessions of this project, the newest first: when, what for, how they came out and who or what says so. Use it
    to find the session that somebody speaks of, or the last ones on a subject.
    """
    from helix_cli.commands.episode import render_list
    from helix_cli.output import count, rendered

    episodes, begin = memory.episodes, None if since is None else _moment(since)
    found = episodes.list(outcome, begin, max_results, task=task)
    total = episodes.count(outcome, begin, task=task)
    more = f"\n{count(total - len(found), 'more episode')}." if total > len(found) else ""
    return rendered(found, render_list) + more


@tool(title="Show a session", effect="reads")
def show_episode(
    memory: "Memory",
    episode: EpisodeName,
    *,
    evidence: Annotated[bool, Meta(description="Every quotation with its log line, in place of the parts.")] = False,
) -> str:
    """One session: its decisions, events, links, fixes and lessons with the log lines they rest on. Use it to read up
    on what another tool has named; with evidence, every quotation word for word.
    """
    from helix_cli.commands.episode import render_episode, render_evidence
    from helix_cli.output import rendered

    if evidence:
        return rendered(memory.episodes.evidence(episode), render_evidence)
    return rendered(memory.episodes.require(episode), render_episode)


@tool(name="compile", title="Fold episodes into the graph", effect="sets", shows="graph:render_compile")
def compile_episodes(
    memory: "Memory",
    *,
    progress: "Progress",
    dry_run: Annotated[bool, Meta(description="Show what would change, and change nothing.")] = False,
) -> object:
    """Fold new episodes into the causal graph, which `seen`, `causal_path`, `patterns` and the others answer from. What
    has not changed costs nothing. Use it after `extract`, or when a tool says that the graph is not compiled.
    """
    steps = ProgressSteps(progress)
    report = memory.graph.compile(dry_run=dry_run, progress=steps.advance)
    steps.end()
    return report


@tool(title="What the memory holds", effect="reads")
def status(memory: "Memory") -> str:
    """How much the memory holds: episodes and their outcomes, topics, insights, the graph's size, how well its labels
    join sessions, and what is yet to be compiled. Use it when answers are empty or seem old.
    """
    from helix_cli.commands.graph import render_status
    from helix_cli.output import count, rendered
    from helix_graph.errors import GraphNotCompiled

    topics = memory.topics.topics("session")
    insights = memory.insights.health()["total_insights"]
    entries = f"{count(topics.entries, 'entry', 'entries')} in {count(topics.topics, 'topic')}"
    held = f"{count(memory.episodes.count(), 'episode')}, {entries}, {count(insights, 'insight')}."
    if memory.read_only:
        held += f"\n{memory.read_only}"
    try:
        return f"{held}\n\n{rendered(memory.graph.status(), render_status)}"
    except GraphNotCompiled as error:
        return f"{held}\nThe graph: not compiled. {error}"
