"""What led to what: paths, causes and effects."""

from typing import TYPE_CHECKING, Annotated

from msgspec import Meta

from helix_cli.mcp.tool_declaration import tool

if TYPE_CHECKING:
    from helix_graph import Memory

Label = Annotated[str, Meta(min_length=1, max_length=500)]
PartOfLabel = Annotated[Label, Meta(description="A label of the graph or a part of one, such as 'ruff fails: E501'.")]


@tool(title="What led from one to the other", effect="reads", shows="paths_and_causes:render_path")
def causal_path(
    memory: "Memory",
    source: Annotated[Label, Meta(description="Where the path begins: a label such as 'pytest fails'.")],
    target: Annotated[Label, Meta(description="Where it ends, such as 'success' or 'pytest passes'.")],
    *,
    max_depth: Annotated[int, Meta(ge=1, le=10, description="The maximum number of edges.")] = 5,
) -> object:
    """The shortest chain of causes from one label to another, such as from 'pytest fails' to 'success', with the
    sessions that witnessed each step. Use it to learn how a state was reached before. Labels may be parts of labels;
    `causes` and `effects` show what surrounds one.
    """
    return memory.graph.path(source=source, target=target, max_depth=max_depth)


@tool(title="What came before", effect="reads", shows="paths_and_causes:render_causes")
def causes(memory: "Memory", label: PartOfLabel) -> object:
    """What has led to the step, error or outcome of that label in earlier sessions, with how often, how sure and the
    evidence. Use it to find out why something keeps happening in this project.
    """
    return memory.graph.causes(label)


@tool(title="What came of it", effect="reads", shows="paths_and_causes:render_effects")
def effects(memory: "Memory", label: PartOfLabel) -> object:
    """What the step, error or decision of that label has led to in earlier sessions, with how often, how sure and the
    evidence. Use it before you decide on something that was done here before.
    """
    return memory.graph.effects(label)
