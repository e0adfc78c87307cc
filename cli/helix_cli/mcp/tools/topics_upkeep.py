"""`topics`: the seed's tool for looking over what was written down, and for keeping it in order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from msgspec import Meta

from helix_cli.mcp.declaring import Arguments, NothingDoneError, Reply, Tool
from helix_cli.mcp.tools.topics import Days, Hours, Index  # noqa: TC001  (the schema is made from it)
from helix_graph.topics.actions import Action, StatsDetail  # noqa: TC001  (as above)
from helix_graph.topics.catalogue import Listing, Recent, Session, Stats
from helix_graph.topics.forms import form_of
from helix_graph.topics.importing import Imported, LeftOut
from helix_graph.topics.read import ReadAnswer
from helix_graph.topics.references import CrossReferences, TopicGraph
from helix_graph.topics.stale import StaleAnswer
from helix_graph.topics.transfer import Export
from helix_graph.topics.upkeep import Compacted, Pruned, Reindexed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from helix_cli.mcp.declaring import Progress
    from helix_graph import Memory


#: So many items that cannot be imported are named: they tend to fail for one reason.
_REASONS = 5


class TopicsArguments(Arguments, frozen=True, kw_only=True):
    """What to do, and with what."""

    action: Annotated[Action, Meta(description="What to look at, or what to do; see above.")] = "list"
    topic: Annotated[str | None, Meta(description="entries, xref: of this topic.")] = None
    days: Annotated[Days | None, Meta(description="recent: of so many days (7); prune: older than so many (30).")] = (
        None
    )
    hours: Annotated[Hours | None, Meta(description="recent: of so many hours; overrides days.")] = None
    detail: Annotated[StatsDetail | None, Meta(description="stats: counts of tags, or the index's size.")] = None
    index: Annotated[Index | None, Meta(description="entries: the one at this index.")] = None
    match_str: Annotated[str | None, Meta(description="entries: those that hold this.")] = None
    focus: Annotated[str | None, Meta(description="graph: only where topics of this pattern take part.")] = None
    json: Annotated[
        str | list[dict[str, Any]] | None, Meta(description="import: what export gave, or [{topic, text}].")
    ] = None
    refresh: Annotated[bool, Meta(description="stale: show what the sources say now.")] = False
    apply: Annotated[bool, Meta(description="prune: remove them; without it they are only listed.")] = False


class Exported(msgspec.Struct, frozen=True, kw_only=True):
    """How many entries the export has; they are the result's text."""

    exported: int


def _topics(memory: Memory, asked: TopicsArguments, progress: Progress) -> Reply:
    def advance(done: int, total: int) -> None:
        progress(done, total, asked.action)

    given = msgspec.structs.asdict(asked)
    if isinstance(asked.json, list):
        given["json"] = msgspec.json.encode(asked.json).decode()
    answer = memory.topics.topics(given.pop("action"), progress=advance, **given)
    if isinstance(answer, Imported) and answer.left_out and not answer.entries:
        raise NothingDoneError(_none_taken_in(answer.left_out))
    value = Exported(exported=len(answer.entries)) if isinstance(answer, Export) else answer
    return Reply(value, form_of(answer))


def _none_taken_in(left_out: Sequence[LeftOut]) -> str:
    shown = [f"{one.place}: {one.problem}" for one in left_out[:_REASONS]]
    more = [f"and {len(left_out) - len(shown)} more"] if len(left_out) > len(shown) else []
    return "\n".join(["nothing was imported, for no item can be kept; mend them:", *shown, *more])


TOOLS = (
    Tool(
        name="topics",
        title="Look over the topics",
        description=(
            "What there is, and keeping it in order. Look: list, recent, entries, stats, xref and graph (what refers "
            "to what), stale (entries whose source has changed since), session, export. Keep: prune lists entries "
            "that nobody wrote to for days and removes them with apply; compact and reindex tidy the file; import "
            "takes in an export. Use list or recent to learn which topics there are, stale before you trust old ones."
        ),
        takes=TopicsArguments,
        gives=(
            Listing
            | Recent
            | Stats
            | Session
            | ReadAnswer
            | CrossReferences
            | TopicGraph
            | StaleAnswer
            | Pruned
            | Compacted
            | Exported
            | Imported
            | Reindexed
        ),
        run=_topics,
        effect="removes",
    ),
)
