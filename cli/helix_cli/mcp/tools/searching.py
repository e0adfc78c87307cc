"""`search_memory`: one question to everything; `search` is the topics' own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from msgspec import Meta

from helix_cli.commands.search import render_search
from helix_cli.mcp.declaring import Arguments, Reply, Tool
from helix_cli.output import rendered
from helix_graph.search.model import SearchAnswer

if TYPE_CHECKING:
    from helix_cli.mcp.declaring import Progress
    from helix_graph import Memory


class SearchMemoryArguments(Arguments, frozen=True, kw_only=True):
    """What to look for."""

    query: Annotated[str, Meta(description="1 to 500 letters, digits, blanks and - . , _ ( ) & : characters.")]
    max_results: Annotated[int, Meta(ge=1, le=100, description="At most so many.")] = 10
    semantic_only: Annotated[bool, Meta(description="Compare meanings alone; fails where nothing does.")] = False
    lexical_only: Annotated[bool, Meta(description="Compare words alone.")] = False


def _search(memory: Memory, asked: SearchMemoryArguments, _: Progress) -> Reply:
    found = memory.search(
        asked.query,
        max_results=asked.max_results,
        semantic_only=asked.semantic_only,
        lexical_only=asked.lexical_only,
    )
    return Reply(found, rendered(found, render_search))


TOOLS = (
    Tool(
        name="search_memory",
        title="Search everything",
        description=(
            "Search insights, topics, earlier sessions and the project's notes at once, the best first, each with its "
            "source. Use it when you do not know where something was kept. For an error, `seen` says more."
        ),
        takes=SearchMemoryArguments,
        gives=SearchAnswer,
        run=_search,
        effect="reads",
    ),
)
