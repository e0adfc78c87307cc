"""Notes by topic: the seed's tools for storing, finding, changing and maintaining entries, under its names.

The seed's clients send strings, also for numbers, truth values and lists; the types here say what is meant.
"""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from msgspec import Meta

from helix_cli.commands.topic import render_form
from helix_cli.mcp.rewording import problem_of
from helix_cli.mcp.tool_declaration import Arguments, Reply, TextList, answered, tool, typed_schema, without_nulls
from helix_cli.terminal import harmless_json
from helix_episodes.errors import HelixGraphError, InvalidArgument
from helix_graph.topics.answer_texts import form_of
from helix_graph.topics.briefing import Detail as BriefDetail
from helix_graph.topics.edit import Action as EditAction
from helix_graph.topics.search import LARGEST_INDEX, MOST_DAYS, MOST_HOURS, Detail, Mode
from helix_graph.topics.tool_actions import Action, StatsDetail
from helix_graph.topics.transfer import ImportedEntries, TopicsExport

if TYPE_CHECKING:
    from helix_cli.mcp.tool_declaration import Progress
    from helix_graph import Memory


_EXAMPLE = 'give an array such as [{"topic": "engine", "text": "..."}]'
Topic = Annotated[str, Meta(min_length=1, description="The topic's name; case and blanks do not matter.")]
#: As the seed's clients send lists, or as JSON has them.
Texts = str | TextList
Index = Annotated[int, Meta(ge=0, le=LARGEST_INDEX)]
Days = Annotated[int, Meta(ge=0, le=MOST_DAYS)]
Hours = Annotated[int, Meta(ge=0, le=MOST_HOURS)]
Limit = Annotated[int, Meta(ge=0, le=1000)]
Share = Annotated[float, Meta(ge=0, le=1)]


class NewEntry(Arguments, frozen=True, kw_only=True):
    """An entry to store."""

    topic: Topic
    text: Annotated[str, Meta(description="Its text; several lines are fine.")]
    tags: Annotated[Texts, Meta(description="'gotcha, p0'; without any, the text's beginning may give one.")] = ""
    source: Annotated[str | None, Meta(description="Where it comes from: 'src/cache.rs:42'.")] = None
    confidence: Annotated[Share | None, Meta(description="How sure it is (1); less ranks lower.")] = None
    links: Annotated[Texts, Meta(description="Entries it refers to: 'other-topic:3 another:0'.")] = ""


class StoreArguments(NewEntry, frozen=True, kw_only=True):
    """An entry, and how to store it."""

    force: Annotated[bool, Meta(description="Don't look for near duplicates.")] = False
    terse: Annotated[bool, Meta(description="Answer in one line.")] = False


class BatchArguments(Arguments, frozen=True, kw_only=True):
    """Several entries."""

    entries: Annotated[list[NewEntry] | str, Meta(description="The entries, or their array as a JSON text.")]


class SearchArguments(Arguments, frozen=True, kw_only=True):
    """What to find."""

    query: Annotated[str, Meta(description="Words; CachedEntry and tf_map are split into theirs.")]
    detail: Annotated[Detail, Meta(description="How much of each entry; topics and count have no entries.")] = "medium"
    limit: Annotated[Limit | None, Meta(description="At most so many; without, as many as the detail bears.")] = None
    after: Annotated[str | None, Meta(description="From this day: YYYY-MM-DD, today, yesterday, this-week.")] = None
    before: Annotated[str | None, Meta(description="Until this day: the same.")] = None
    days: Annotated[Days | None, Meta(description="Of the last so many days.")] = None
    hours: Annotated[Hours | None, Meta(description="Of the last so many hours; overrides days.")] = None
    tag: Annotated[str | None, Meta(description="Only entries with this tag.")] = None
    topic: Annotated[str | None, Meta(description="Only entries of this topic.")] = None
    mode: Annotated[Mode, Meta(description="and: all words; or: any of them.")] = "and"


class BriefArguments(Arguments, frozen=True, kw_only=True):
    """On what."""

    query: Annotated[str | None, Meta(description="A topic, a pattern (iris-*) or a keyword; without: all.")] = None
    detail: Annotated[BriefDetail, Meta(description="How much of each entry.")] = "summary"
    since: Annotated[Hours | None, Meta(description="Only entries of the last so many hours.")] = None
    focus: Annotated[Texts, Meta(description="Only these categories: 'gotchas,invariants'.")] = ""
    compact: Annotated[bool, Meta(description="Without query: five topics and no more.")] = False


class ReadArguments(Arguments, frozen=True, kw_only=True):
    """Which entries."""

    topic: Topic
    index: Annotated[Index | None, Meta(description="Only the entry at this index, from 0.")] = None


class EditArguments(Arguments, frozen=True, kw_only=True):
    """Which entries, and what becomes of them."""

    action: Annotated[EditAction, Meta(description="What to do with them.")]
    topic: Topic
    text: Annotated[str | None, Meta(description="append, revise: the text.")] = None
    index: Annotated[Index | None, Meta(description="The entry at this index, as `read` shows it.")] = None
    match_str: Annotated[str | None, Meta(description="The first entry that holds this.")] = None
    tag: Annotated[str | None, Meta(description="append: the last entry that has this tag.")] = None
    tags: Annotated[Texts, Meta(description="tag: tags to add.")] = ""
    remove: Annotated[Texts, Meta(description="tag: tags to remove.")] = ""
    all: Annotated[bool, Meta(description="delete: the whole topic.")] = False
    new_name: Annotated[str | None, Meta(description="rename: the new name.")] = None
    into: Annotated[str | None, Meta(description="merge: the topic that takes the entries in.")] = None


def _decoded(text: str) -> list[NewEntry]:
    """The entries of a JSON array that came as a text.

    Raises:
        InvalidArgument: It is none.
    """
    try:
        # msgspec calls half a surrogate pair a truncated text; the library says what it is.
        items = without_nulls(json.loads(text))
    except (ValueError, RecursionError) as error:
        raise InvalidArgument(None, f"entries: no JSON ({error}); {_EXAMPLE}") from error
    try:
        return msgspec.convert(items, list[NewEntry], strict=False)
    except msgspec.ValidationError as error:
        schema = {"type": "array", "items": typed_schema(NewEntry)}
        raise InvalidArgument(None, f"{problem_of(error, items, schema, at='entries')}; {_EXAMPLE}") from error


def _entry(asked: NewEntry) -> dict[str, Any]:
    return {name: getattr(asked, name) for name in NewEntry.__struct_fields__}


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


@tool("store", title="Write down under a topic", takes=StoreArguments, effect="adds")
def store(memory: Memory, asked: StoreArguments, _: Progress) -> Reply:
    """Write something down that belongs to a subject: how a module works, a trap, a decision and its reason. Use it
    when you have found out what the code does not say. An entry that is already there in other words is named in the
    answer and stored all the same. A line of general advice goes to `remember` instead.
    """
    answer = memory.topics.store(**_entry(asked), force=asked.force)
    return answered(answer, partial(render_form, terse=asked.terse))


@tool("batch", title="Write down several at once", takes=BatchArguments, effect="adds")
def batch(memory: Memory, asked: BatchArguments, _: Progress) -> Reply:
    """Store several entries, all or none. Use it instead of many calls of `store`, for instance at the end of a task.
    At most 1,000.
    """
    entries = _decoded(asked.entries) if isinstance(asked.entries, str) else asked.entries
    answer = memory.topics.batch([_entry(one) for one in entries])
    return answered(answer, render_form)


@tool("search", title="Search the topics", takes=SearchArguments, effect="reads")
def search(memory: Memory, asked: SearchArguments, _: Progress) -> Reply:
    """Find entries of the topics by their words, the best first. Use it before you work on a part of the code that may
    have been written about. When no entry has all words, those with some are shown and the answer says so.
    `search_memory` looks through sessions and insights as well.
    """
    answer = memory.topics.search(**msgspec.structs.asdict(asked))
    return answered(answer, render_form)


@tool("brief", title="Brief me on a topic", takes=BriefArguments, effect="reads")
def brief(memory: Memory, asked: BriefArguments, _: Progress) -> Reply:
    """A short briefing on a topic: its most telling entries by category, what supersedes what, and what is linked with
    it. Use it to get to know a part of the project at once. Without a query: what topics there are, what is new, what
    is missing.
    """
    answer = memory.topics.brief(
        asked.query, detail=asked.detail, since=asked.since, focus=asked.focus or None, compact=asked.compact
    )
    return answered(answer, render_form)


@tool("read", title="Read a topic", takes=ReadArguments, effect="reads")
def read(memory: Memory, asked: ReadArguments, _: Progress) -> Reply:
    """Every entry of a topic word for word with its index, or the one at an index. Use it after `search` or `brief` has
    named a topic, and before `edit`, which takes the index.
    """
    answer = memory.topics.read(asked.topic, index=asked.index)
    return answered(answer, render_form)


@tool("edit", title="Change entries", takes=EditArguments, effect="removes")
def edit(memory: Memory, asked: EditArguments, _: Progress) -> Reply:
    """Change what was stored: append to an entry, revise it, delete it, set its tags, rename a topic or merge it into
    another. Use it when an entry has become wrong. The entry is that at index, the first that holds match_str, or else
    the last of the topic, also for delete; delete with all removes the whole topic.
    """
    answer = memory.topics.edit(**msgspec.structs.asdict(asked))
    return answered(answer, render_form)


@tool(
    "topics",
    title="Look over the topics",
    takes=TopicsArguments,
    effect="removes",
)
def topics(memory: Memory, asked: TopicsArguments, progress: Progress) -> Reply:
    """What there is, and keeping it in order. Look: list, recent, entries, stats, xref and graph (what refers to what),
    stale (entries whose source has changed since), session, export. Keep: prune lists entries that nobody wrote to for
    days and removes them with apply; compact and reindex tidy the file; import takes in an export. Use list or recent
    to learn which topics there are, stale before you trust old ones.
    """

    def advance(done: int, total: int) -> None:
        progress(done, total, asked.action)

    options = msgspec.structs.asdict(asked)
    if isinstance(asked.json, list):
        options["json"] = msgspec.json.encode(asked.json).decode()
    answer = memory.topics.topics(options.pop("action"), progress=advance, **options)
    if isinstance(answer, ImportedEntries) and answer.left_out and not answer.entries:
        shown = [f"{one.place}: {one.problem}" for one in answer.left_out[:_REASONS]]
        more = [f"and {len(answer.left_out) - len(shown)} more"] if len(answer.left_out) > len(shown) else []
        raise HelixGraphError("\n".join(["nothing was imported, for no item can be kept; mend them:", *shown, *more]))
    if isinstance(answer, TopicsExport):
        return Reply(None, harmless_json(form_of(answer)))
    return answered(answer, render_form)
