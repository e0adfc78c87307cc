"""The memory itself: what it holds, folding episodes into the graph, and the rest of long answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import msgspec
from msgspec import Meta

from helix_cli.commands.compile import render_compile
from helix_cli.commands.status import render_status
from helix_cli.mcp.declaring import Arguments, Reply, Steps, Tool
from helix_cli.mcp.sizing import parts_of
from helix_cli.output import count, rendered, say
from helix_episodes.errors import UsageError
from helix_graph.errors import GraphNotCompiled
from helix_graph.graph.compile import CompileReport
from helix_graph.graph.status import Status

if TYPE_CHECKING:
    from helix_cli.mcp.declaring import Progress
    from helix_graph import Memory


class NothingKeptError(UsageError):
    """No such part of a long answer; only the newest are kept, while the server runs."""

    def __init__(self, problem: str) -> None:
        super().__init__(f"{problem}; ask the first question again")


class NoArguments(Arguments, frozen=True, kw_only=True):
    """Nothing."""


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


class Part(msgspec.Struct, frozen=True):
    """A part of a long answer; its text is the result's."""

    part: int
    parts: int


def _status(memory: Memory, _: NoArguments, __: Progress) -> Reply:
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


def _graph(memory: Memory) -> tuple[Status | None, str | None]:
    """The graph's figures, or why there are none."""
    try:
        return memory.graph.status(), None
    except GraphNotCompiled as error:
        return None, str(error)


def _render_holdings(held: Holdings) -> None:
    entries = "1 entry" if held.entries == 1 else f"{held.entries} entries"
    topics = f"{entries} in {count(held.topics, 'topic')}"
    say(f"{count(held.episodes, 'episode')}, {topics}, {count(held.insights, 'insight')}.")
    if held.graph is None:
        say(f"The graph: not compiled. {held.problem}")
    else:
        say()
        render_status(held.graph)


def _compile(memory: Memory, asked: CompileArguments, progress: Progress) -> Reply:
    steps = Steps(progress)
    report = memory.graph.compile(dry_run=asked.dry_run, progress=steps.advance)
    steps.end()
    return Reply(report, rendered(report, render_compile))


def _rest(_: Memory, asked: RestArguments, __: Progress) -> Reply:
    from helix_cli.mcp.answering import SHELF  # noqa: PLC0415  (which finds this tool through the registry)

    text = SHELF.get(asked.answer)
    if text is None:
        raise NothingKeptError(f"the answer {asked.answer} is not kept any more")
    parts = parts_of(text)
    if asked.part > len(parts):
        raise NothingKeptError(f"the answer {asked.answer} has {len(parts)} parts, and no part {asked.part}")
    return Reply(Part(asked.part, len(parts)), parts[asked.part - 1])


TOOLS = (
    Tool(
        name="compile",
        title="Fold episodes into the graph",
        description=(
            "Fold new episodes into the causal graph, which `seen`, `causal_path`, `patterns` and the others answer "
            "from. What has not changed costs nothing. Use it after `extract`, or when a tool says that the graph is "
            "not compiled."
        ),
        takes=CompileArguments,
        gives=CompileReport,
        run=_compile,
        effect="sets",
    ),
    Tool(
        name="status",
        title="What the memory holds",
        description=(
            "How much the memory holds: episodes and their outcomes, topics, insights, the graph's size, how well its "
            "labels join sessions, and what is yet to be compiled. Use it when answers are empty or seem old."
        ),
        takes=NoArguments,
        gives=Holdings,
        run=_status,
        effect="reads",
    ),
    Tool(
        name="rest",
        title="The rest of a long answer",
        description=(
            "The next part of an answer that was cut because it was long. The cut answer's last line says with which "
            "arguments to call this."
        ),
        takes=RestArguments,
        gives=Part,
        run=_rest,
        effect="reads",
    ),
)
