"""What led to what: precedents, paths, causes and effects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from msgspec import Meta

from helix_cli.commands.paths_and_causes import render_causes, render_effects, render_path
from helix_cli.commands.seen_and_similar import render_seen
from helix_cli.mcp.tool_declaration import Arguments, Reply, answered, tool

if TYPE_CHECKING:
    from helix_cli.mcp.tool_declaration import Progress
    from helix_graph import Memory

Label = Annotated[str, Meta(min_length=1, max_length=500)]
Few = Annotated[int, Meta(ge=1, le=100, description="At most so many results.")]


class SeenArguments(Arguments, frozen=True, kw_only=True):
    """What to look up."""

    text: Annotated[
        str | None,
        Meta(description="An error line or the whole output of a failed command; without it, the newest errors."),
    ] = None
    limit: Few = 5


class PathArguments(Arguments, frozen=True, kw_only=True):
    """From where to where."""

    source: Annotated[Label, Meta(description="Where the path begins: a label such as 'pytest fails'.")]
    target: Annotated[Label, Meta(description="Where it ends, such as 'success' or 'pytest passes'.")]
    max_depth: Annotated[int, Meta(ge=1, le=10, description="The maximum number of edges.")] = 5


class LabelArguments(Arguments, frozen=True, kw_only=True):
    """Of what."""

    label: Annotated[Label, Meta(description="A label of the graph or a part of one, such as 'ruff fails: E501'.")]


@tool("seen", title="Seen before?", takes=SeenArguments, effect="reads")
def seen(memory: Memory, asked: SeenArguments, _: Progress) -> Reply:
    """Look up an error or a failed command's output: was it met in earlier sessions, and what fixed it? Use it right
    after a test, build, lint or tool call fails, before trying a fix of your own. Each precedent says how alike it is
    (the same error, the same kind, similar words), which change made the check pass, and the log line that
    shows it. No precedent means it was not seen before.
    """
    return answered(memory.graph.seen(asked.text, limit=asked.limit), render_seen)


@tool("causal_path", title="What led from one to the other", takes=PathArguments, effect="reads")
def causal_path(memory: Memory, asked: PathArguments, _: Progress) -> Reply:
    """The shortest chain of causes from one label to another, such as from 'pytest fails' to 'success', with the
    sessions that witnessed each step. Use it to learn how a state was reached before. Labels may be parts of labels;
    `causes` and `effects` show what there is around one.
    """
    return answered(memory.graph.path(source=asked.source, target=asked.target, max_depth=asked.max_depth), render_path)


@tool("causes", title="What came before", takes=LabelArguments, effect="reads")
def causes(memory: Memory, asked: LabelArguments, _: Progress) -> Reply:
    """What has led to the step, error or outcome of that label in earlier sessions, with how often, how sure and the
    evidence. Use it to find out why something keeps happening in this project.
    """
    return answered(memory.graph.causes(asked.label), render_causes)


@tool("effects", title="What came of it", takes=LabelArguments, effect="reads")
def effects(memory: Memory, asked: LabelArguments, _: Progress) -> Reply:
    """What the step, error or decision of that label has led to in earlier sessions, with how often, how sure and the
    evidence. Use it before you decide on something that was done here before.
    """
    return answered(memory.graph.effects(asked.label), render_effects)
