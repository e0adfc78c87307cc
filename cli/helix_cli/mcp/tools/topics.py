"""Notes by topic: the seed's tools for finding, changing and maintaining entries, under its names and parameters.

The seed's clients send strings, also for numbers, truth values and lists; the types here say what is meant.
"""

import json as json_text
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from msgspec import Meta

from helix_cli.mcp.tool_declaration import (
    Arguments,
    EntryConfidence,
    EntryLinks,
    EntrySource,
    EntryTags,
    EntryText,
    Texts,
    Topic,
    problem_of,
    tool,
    typed_schema,
    without_nulls,
)
from helix_episodes.errors import HelixGraphError, InvalidArgument
from helix_episodes.msgspec_types import ready
from helix_graph.topics.choices import (
    LARGEST_INDEX,
    LARGEST_LIMIT,
    MOST_DAYS,
    MOST_HOURS,
    BriefDetail,
    EditAction,
    SearchDetail,
    SearchMode,
    StatsDetail,
    TopicsAction,
)

if TYPE_CHECKING:
    from helix_cli.mcp.tool_declaration import Progress
    from helix_graph import Memory


_EXAMPLE = 'give an array such as [{"topic": "engine", "text": "..."}]'
#: So many items that cannot be imported are named: they tend to fail for one reason.
_REASONS = 5
Index = Annotated[int, Meta(ge=0, le=LARGEST_INDEX)]
Days = Annotated[int, Meta(ge=0, le=MOST_DAYS)]
Hours = Annotated[int, Meta(ge=0, le=MOST_HOURS)]
Limit = Annotated[int, Meta(ge=0, le=LARGEST_LIMIT)]


class NewEntry(Arguments, frozen=True, kw_only=True):
    """An entry to store."""

    topic: Topic
    text: EntryText
    tags: EntryTags = ""
    source: EntrySource = None
    confidence: EntryConfidence = None
    links: EntryLinks = ""


def _decoded(text: str) -> list[NewEntry]:
    """The entries of a JSON array that came as a text."""
    try:
        # msgspec calls half a surrogate pair a truncated text; the library says what it is.
        items = without_nulls(json_text.loads(text))
    except (ValueError, RecursionError) as error:
        raise InvalidArgument(None, f"entries: no JSON ({error}); {_EXAMPLE}") from error
    try:
        return msgspec.convert(items, ready(list[NewEntry]), strict=False)
    except msgspec.ValidationError as error:
        schema = {"type": "array", "items": typed_schema(NewEntry)}
        raise InvalidArgument(None, f"{problem_of(error, items, schema, at='entries')}; {_EXAMPLE}") from error


@tool(title="Write down several at once", effect="adds", shows="topic:render_form")
def batch(
    memory: "Memory",
    entries: Annotated[list[NewEntry] | str, Meta(description="The entries, or their array as a JSON text.")],
) -> object:
    """Store several entries, all or none. Use it instead of many calls of `store`, for instance at the end of a task.
    At most 1,000.
    """
    decoded = _decoded(entries) if isinstance(entries, str) else entries
    return memory.topics.batch([msgspec.structs.asdict(one) for one in decoded])


@tool(title="Search the topics", effect="reads", shows="topic:render_form")
def search(  # noqa: PLR0913  (the seed's parameters)
    memory: "Memory",
    query: Annotated[str, Meta(description="Words; CachedEntry and tf_map are split into theirs.")],
    *,
    detail: Annotated[
        SearchDetail, Meta(description="How much of each entry; topics and count have no entries.")
    ] = "medium",
    limit: Annotated[
        Limit | None, Meta(description="Maximum number; by default as many as fit the level of detail.")
    ] = None,
    after: Annotated[str | None, Meta(description="From this day: YYYY-MM-DD, today, yesterday, this-week.")] = None,
    before: Annotated[str | None, Meta(description="Until this day: the same.")] = None,
    days: Annotated[Days | None, Meta(description="Only the last N days.")] = None,
    hours: Annotated[Hours | None, Meta(description="Only the last N hours; overrides days.")] = None,
    tag: Annotated[str | None, Meta(description="Only entries with this tag.")] = None,
    topic: Annotated[str | None, Meta(description="Only entries of this topic.")] = None,
    mode: Annotated[SearchMode, Meta(description="and: all words; or: any of them.")] = "and",
) -> object:
    """Find entries of the topics by their words, the best first. Use it before you work on a part of the code that may
    have been written about. When no entry has all words, those with some are shown and the answer says so.
    `search_memory` looks through sessions and insights as well.
    """
    return memory.topics.search(
        query,
        detail=detail,
        limit=limit,
        after=after,
        before=before,
        days=days,
        hours=hours,
        tag=tag,
        topic=topic,
        mode=mode,
    )


@tool(title="Brief me on a topic", effect="reads", shows="topic:render_form")
def brief(
    memory: "Memory",
    query: Annotated[str | None, Meta(description="A topic, a pattern (iris-*) or a keyword; without: all.")] = None,
    *,
    detail: Annotated[BriefDetail, Meta(description="How much of each entry.")] = "summary",
    since: Annotated[Hours | None, Meta(description="Only entries of the last N hours.")] = None,
    focus: Annotated[Texts, Meta(description="Only these categories: 'gotchas,invariants'.")] = "",
    compact: Annotated[bool, Meta(description="Without query: five topics and no more.")] = False,
) -> object:
    """A short briefing on a topic: its most telling entries by category, what supersedes what, and what is linked with
    it. Use it to get to know a part of the project at once. Without a query: what topics there are, what is new, what
    is missing.
    """
    return memory.topics.brief(query, detail=detail, since=since, focus=focus or None, compact=compact)


@tool(title="Read a topic", effect="reads", shows="topic:render_form")
def read(
    memory: "Memory",
    topic: Topic,
    *,
    index: Annotated[Index | None, Meta(description="Only the entry at this index, from 0.")] = None,
) -> object:
    """Every entry of a topic word for word with its index, or the one at an index. Use it after `search` or `brief` has
    named a topic, and before `edit`, which takes the index.
    """
    return memory.topics.read(topic, index=index)


@tool(title="Change entries", effect="removes", shows="topic:render_form")
def edit(  # noqa: PLR0913  (the seed's parameters)
    memory: "Memory",
    action: Annotated[EditAction, Meta(description="What to do with them.")],
    topic: Topic,
    *,
    text: Annotated[str | None, Meta(description="append, revise: the text.")] = None,
    index: Annotated[Index | None, Meta(description="The entry at this index, as `read` shows it.")] = None,
    match_str: Annotated[str | None, Meta(description="The first entry that contains this text.")] = None,
    tag: Annotated[str | None, Meta(description="append: the last entry that has this tag.")] = None,
    tags: Annotated[Texts, Meta(description="tag: tags to add.")] = "",
    remove: Annotated[Texts, Meta(description="tag: tags to remove.")] = "",
    all: Annotated[bool, Meta(description="delete: the whole topic.")] = False,  # noqa: A002  (the seed's parameter)
    new_name: Annotated[str | None, Meta(description="rename: the new name.")] = None,
    into: Annotated[str | None, Meta(description="merge: the topic that takes the entries in.")] = None,
) -> object:
    """Change what was stored: append to an entry, revise it, delete it, set its tags, rename a topic or merge it into
    another. Use it when an entry has become wrong. The entry is that at index, the first that holds match_str, or else
    the last of the topic, also for delete; delete with all removes the whole topic.
    """
    return memory.topics.edit(
        action,
        topic,
        text=text,
        index=index,
        match_str=match_str,
        tag=tag,
        tags=tags,
        remove=remove,
        all=all,
        new_name=new_name,
        into=into,
    )


@tool(title="Look over the topics", effect="removes", long=True)
def topics(  # noqa: PLR0913  (the seed's parameters)
    memory: "Memory",
    action: Annotated[TopicsAction, Meta(description="What to look at, or what to do; see above.")] = "list",
    *,
    progress: "Progress",
    topic: Annotated[str | None, Meta(description="entries, xref: of this topic.")] = None,
    days: Annotated[
        Days | None, Meta(description="recent: the last N days (7); prune: older than N days (30).")
    ] = None,
    hours: Annotated[Hours | None, Meta(description="recent: the last N hours; overrides days.")] = None,
    detail: Annotated[StatsDetail | None, Meta(description="stats: counts of tags, or the index's size.")] = None,
    index: Annotated[Index | None, Meta(description="entries: the one at this index.")] = None,
    match_str: Annotated[str | None, Meta(description="entries: only entries that contain this text.")] = None,
    focus: Annotated[str | None, Meta(description="graph: only where topics of this pattern take part.")] = None,
    json: Annotated[
        str | list[dict[str, Any]] | None, Meta(description="import: what export gave, or [{topic, text}].")
    ] = None,
    refresh: Annotated[bool, Meta(description="stale: show what the sources say now.")] = False,
    apply: Annotated[bool, Meta(description="prune: remove them; without it they are listed.")] = False,
) -> str:
    """What there is, and keeping it in order. Look: list, recent, entries, stats, xref and graph (what refers to what),
    stale (entries whose source has changed since), session, export. Keep: prune lists entries that nobody wrote to for
    days and removes them with apply; compact and reindex tidy the file; import takes in an export. Use list or recent
    to learn which topics there are, stale before you trust old ones.
    """
    from helix_cli.commands.topic import render_form
    from helix_cli.output import rendered
    from helix_graph.insights.safe_quoting import harmless_json
    from helix_graph.topics.answer_texts import form_of
    from helix_graph.topics.transfer import ImportedEntries, TopicsExport

    answer = memory.topics.topics(
        action,
        progress=lambda done, total: progress(done, total, action),
        topic=topic,
        days=days,
        hours=hours,
        detail=detail,
        index=index,
        match_str=match_str,
        focus=focus,
        json=msgspec.json.encode(json).decode() if isinstance(json, list) else json,
        refresh=refresh,
        apply=apply,
    )
    if isinstance(answer, ImportedEntries) and answer.left_out and not answer.entries:
        shown = [f"{one.place}: {one.problem}" for one in answer.left_out[:_REASONS]]
        more = [f"and {len(answer.left_out) - len(shown)} more"] if len(answer.left_out) > len(shown) else []
        raise HelixGraphError(
            "\n".join(["nothing was imported, because no item is valid; change them:", *shown, *more])
        )
    if isinstance(answer, TopicsExport):
        return harmless_json(form_of(answer))
    return rendered(answer, render_form)
