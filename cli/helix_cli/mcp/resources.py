"""What a client may read without calling tools: topics, episodes, what surrounds a label, and the briefing prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

from helix_cli.commands.episode import render_episode
from helix_cli.commands.insight import past_use
from helix_cli.commands.paths_and_causes import render_causes, render_effects
from helix_cli.commands.patterns_and_comparisons import render_patterns
from helix_cli.commands.seen_and_similar import render_similar
from helix_cli.commands.topic import render_form
from helix_cli.mcp.dispatch import open_memory
from helix_cli.mcp.shown_advice import note_shown
from helix_cli.output import count, rendered
from helix_episodes.echo import wrap
from helix_episodes.errors import InvalidArgument
from helix_episodes.light_imports import Value
from helix_graph.causality.check_patterns import readable
from helix_graph.errors import GraphNotCompiled, NodeNotFound, NoMemory, UntrustedMemory
from helix_graph.graph.similar_decisions import words_of
from helix_graph.insights.safe_quoting import logged_name_or_quoted, own_or_quoted, quoted
from helix_graph.quoted_answers import NOTICE, with_notice
from helix_graph.search.sources import TopicSource
from helix_graph.topics.catalogue import Overview

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from helix_graph import Memory


_TOPIC = "helix://topic/"
_EPISODE = "helix://episode/"
_NODE = "helix://node/"
#: So many of the largest topics and of the newest episodes are listed; the others are read by their template.
_LISTED = 20


class Resource(Value):
    """A resource, or with braces in its address a template of some."""

    uri: str
    name: str
    description: str


TEMPLATES = (
    Resource(uri=_TOPIC + "{name}", name="topic", description="Every entry of a topic, word for word."),
    Resource(
        uri=_EPISODE + "{session}",
        name="episode",
        description="One session: its decisions, events, fixes and lessons with their log lines.",
    ),
    Resource(
        uri=_NODE + "{label}",
        name="node",
        description="What led to a label of the graph, and what came of it; the label is percent-encoded.",
    ),
)


def listed() -> list[Resource]:
    """The largest topics and the newest episodes; none where there is no memory yet, or one that is not this user's."""
    try:
        memory = open_memory()
    except (NoMemory, UntrustedMemory):
        return []
    topics = memory.topics.topics("session").largest
    episodes = memory.episodes.list(None, None, _LISTED)
    return [
        *(
            Resource(
                uri=_TOPIC + quote(one.topic, safe=""),
                name=one.topic,
                description=f"Topic of {count(one.entries, 'entry', 'entries')}.",
            )
            for one in topics
        ),
        *(
            Resource(
                uri=_EPISODE + quote(one.session, safe=""),
                name=one.session,
                description=f"session {(one.timestamp or '')[:10]} {one.outcome}: {quoted(one.task, longest=120)}",
            )
            for one in episodes
        ),
    ]


def read(uri: str) -> str:
    """The text of a resource, between marks by which it is never taken for a person's words: clients put it there."""
    readers: dict[str, Callable[[Memory, str], str]] = {
        _TOPIC: lambda memory, name: rendered(memory.topics.read(name), render_form),
        _EPISODE: lambda memory, session: rendered(memory.episodes.require(session), render_episode),
        _NODE: _node,
    }
    for prefix, reader in readers.items():
        if uri.startswith(prefix) and len(uri) > len(prefix):
            return wrap(with_notice(reader(open_memory(), unquote(uri.removeprefix(prefix)))))
    raise InvalidArgument(None, f"there is no resource {uri}; there are {', '.join(one.uri for one in TEMPLATES)}")


def _node(memory: Memory, label: str) -> str:
    found = memory.graph.causes(label)
    if not found.found:
        raise NodeNotFound.of_label(label)
    causes = rendered(found, render_causes)
    return f"{causes}\n\n{rendered(memory.graph.effects(label), render_effects)}"


_HEAD = (
    "What earlier sessions of this project show. Counts are sessions; 'too early' means that too few are known.\n"
    f"{NOTICE}"
)
_NOTHING = (
    "Nothing yet: `helix-graph episode extract --all` reads session logs; `remember` and `store` keep what you learn."
)
#: Rows of each kind: a briefing is read before the work, and the tools give the rest.
_ROWS = 5


def briefing(task: str) -> str:
    """The briefing, for a task or in general. Parts that have nothing to say are left out.

    It becomes a message in a person's name, so marks around it keep it from being read as one.

    Raises:
        HelixGraphError: There is no memory, or a part of it cannot be read.
    """
    memory, about = open_memory(), task.strip()
    insights = memory.insights.recall(about, _ROWS) if about else memory.insights.proven(_ROWS)
    note_shown(memory, insights)
    parts = [_HEAD, *_learnt(insights, about), *_counted(memory, about), *_written(memory, about)]
    text = "\n\n".join(parts if len(parts) > 1 else [*parts, _NOTHING])
    return wrap(text, insights=[one["name"] for one in insights])


def _learnt(insights: Sequence[Mapping[str, Any]], about: str) -> Iterator[str]:
    """Insights that bear on the task, or the most effective ones."""
    lines = [
        f"- {own_or_quoted(one['content'], said_by=one.get('_said_by', ''))} ({past_use(one)})" for one in insights
    ]
    if lines:
        yield "\n".join([f"## Learnt before{f', on: {about}' if about else ''}", *lines])


def _counted(memory: Memory, about: str) -> Iterator[str]:
    """What worked and what failed, once the graph is compiled."""
    try:
        survey = memory.causality.survey()
    except GraphNotCompiled as error:
        yield f"## What worked, what failed\n{error}"
        return
    for works, title in ((True, "What worked"), (False, "What failed")):
        found = readable(survey.best() if works else survey.worst(), works=works, tools=survey.tools).rows[:_ROWS]
        if found:
            yield f"## {title}\n" + rendered(found, lambda rows: render_patterns(rows, survey, works=None))
    if about and words_of(about):
        found_alike = memory.causality.similar(about, limit=_ROWS)
        yield f"## Decided before, in words like: {about}\n" + rendered(found_alike, render_similar)


def _written(memory: Memory, about: str) -> Iterator[str]:
    """Topics: their names, what is new, and what the task's words find."""
    overview = memory.topics.brief()
    if not isinstance(overview, Overview) or not overview.entries:
        return
    yield "## Written down\n" + rendered(overview, render_form)
    if about and (found := TopicSource(memory.topics).search(about, limit=_ROWS, manner="lexical")):
        lines = (f"- [{logged_name_or_quoted(one.name)}] {quoted(one.content, said_by=one.said_by)}" for one in found)
        yield "\n".join(["## Entries in the task's words", *lines])
