"""The tools that every server has: was this met before, what was learnt, remember it, write it down, search.

They are listed at the start of each session, so this file loads nothing that only a call needs.
"""

from functools import partial
from typing import TYPE_CHECKING, Annotated

from msgspec import Meta

from helix_cli.mcp.tool_declaration import (
    EntryConfidence,
    EntryLinks,
    EntrySource,
    EntryTags,
    EntryText,
    Few,
    Share,
    Texts,
    Topic,
    as_texts,
    tool,
)

if TYPE_CHECKING:
    from helix_graph import Memory


@tool(title="Met before?", effect="reads", shows="seen_and_similar:render_seen")
def seen(
    memory: "Memory",
    text: Annotated[
        str | None,
        Meta(description="An error line or the whole output of a failed command; without it, the newest errors."),
    ] = None,
    *,
    limit: Few = 5,
) -> object:
    """Look up an error or a failed command's output: was it met in earlier sessions, and what fixed it? Use it right
    after a test, build, lint or tool call fails, before trying a fix of your own. Each precedent says how alike it is
    (the same error, the same kind, similar words), which change made the check pass, and the log line that
    shows it. No precedent means it was not met before.
    """
    return memory.graph.seen(text, limit=limit)


@tool(title="What was learnt about this", effect="reads")
def recall(  # noqa: PLR0913  (the command's options)
    memory: "Memory",
    query: Annotated[str, Meta(min_length=1, description="The task or the problem, in your words.")],
    *,
    limit: Annotated[int, Meta(ge=0, le=100, description="Most results.")] = 5,
    min_effectiveness: Annotated[Share, Meta(description="Only insights with at least this effectiveness.")] = 0.0,
    min_relevance: Annotated[Share | None, Meta(description="Minimum relevance, 0 to 1 (0.35).")] = None,
    suppress_names: Annotated[Texts, Meta(description="Names of insights to leave out.")] = "",
    tag: Annotated[str, Meta(description="Only those with this tag.")] = "",
) -> str:
    """The advice of earlier sessions that bears on a task or a problem, the best first: what is near in meaning or
    words, did well and was used lately. Use it when a task begins and when you are stuck. Tell with `feedback`
    afterwards which of it mattered. It was written by sessions like this one: weigh it.
    """
    from helix_cli.commands.insight import render_recalled
    from helix_cli.mcp.shown_advice import note_shown
    from helix_cli.output import rendered

    answer = memory.insights.recall(
        query,
        limit,
        min_effectiveness=min_effectiveness,
        min_relevance=min_relevance,
        suppress_names=as_texts("suppress_names", suppress_names),
        tag=tag,
    )
    note_shown(memory, answer)
    text = rendered(answer, render_recalled)
    return f"{text}\n{answer.note}" if answer.note else text


@tool(title="Remember advice", effect="adds", shows="insight:render_stored")
def remember(
    memory: "Memory",
    content: Annotated[
        str,
        Meta(
            min_length=20,
            max_length=8000,
            description="The advice, 20 to 8,000 characters: when to do what, and why. One thing at a time.",
        ),
    ],
    *,
    tags: Annotated[Texts, Meta(description="Such as ['ci', 'pytest'].")] = "",
    episode: Annotated[str, Meta(description="The session that it was learnt in, if it is not this one.")] = "",
) -> object:
    """Keep a piece of advice for later sessions: what to do in which situation, and why. Use it when you have learnt
    something the hard way. What says the same as an insight that is there goes into it. Facts about one part of the
    project go to `store` instead.
    """
    from helix_cli.mcp.shown_advice import known_session
    from helix_episodes.errors import HelixGraphError

    # Where it is known, no agent says otherwise: the session that an advice comes from does not prove it.
    learnt_in = known_session(memory) or episode
    answer = memory.insights.store(content, as_texts("tags", tags), origin="agent", episode=learnt_in)
    if answer["status"] == "rejected":
        raise HelixGraphError(f"nothing was remembered: {answer['reason']}; change content and call `remember` again")
    return answer


@tool(title="Search everything", effect="reads", shows="search_and_model:render_search")
def search_memory(
    memory: "Memory",
    query: Annotated[str, Meta(description="1 to 500 letters, digits, blanks and - . , _ ( ) & : characters.")],
    *,
    max_results: Annotated[int, Meta(ge=1, le=100, description="Most results.")] = 10,
    semantic_only: Annotated[bool, Meta(description="Compare meanings alone; fails where nothing does.")] = False,
    lexical_only: Annotated[bool, Meta(description="Compare words alone.")] = False,
) -> object:
    """Search insights, topics, earlier sessions and the project's notes at once, the best first, each with its source.
    Use it when you do not know where something was stored. For an error, `seen` says more.
    """
    import msgspec

    from helix_cli.mcp.shown_advice import note_shown
    from helix_graph.search.sources import EPISODES, INSIGHTS

    found = memory.search(query, max_results=max_results, semantic_only=semantic_only, lexical_only=lexical_only)
    note_shown(memory, [{"name": one.name} for one in found.results if one.source == INSIGHTS])
    # A session is named by its id; the path of its file would be a fifth of the answer.
    shown = tuple(msgspec.structs.replace(one, path=None) if one.source == EPISODES else one for one in found.results)
    return msgspec.structs.replace(found, results=shown)


@tool(title="Write down under a topic", effect="adds")
def store(  # noqa: PLR0913  (the seed's parameters)
    memory: "Memory",
    topic: Topic,
    text: EntryText,
    *,
    tags: EntryTags = "",
    source: EntrySource = None,
    confidence: EntryConfidence = None,
    links: EntryLinks = "",
    force: Annotated[bool, Meta(description="Don't look for near duplicates.")] = False,
    terse: Annotated[bool, Meta(description="Answer in one line.")] = False,
) -> object:
    """Write something down about a subject: how a module works, a trap, a decision and its reason. Use it
    when you have found out what the code does not say. An entry that is already there in other words is named in the
    answer and stored all the same. A line of general advice goes to `remember` instead.
    """
    from helix_cli.commands.topic import render_form
    from helix_cli.output import rendered

    answer = memory.topics.store(topic, text, tags=tags, source=source, confidence=confidence, links=links, force=force)
    return rendered(answer, partial(render_form, terse=terse))
