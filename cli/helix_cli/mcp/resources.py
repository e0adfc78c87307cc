"""What a client may read beside calling tools: a topic, an episode, and what stands around a label of the graph."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

import msgspec

from helix_cli.mcp.answering import open_memory
from helix_cli.output import rendered
from helix_episodes.echo import wrap
from helix_episodes.errors import UsageError
from helix_graph.errors import LabelNotMet, NoMemory

if TYPE_CHECKING:
    from collections.abc import Callable

    from helix_episodes.model import Episode
    from helix_graph import Memory
    from helix_graph.topics.model import TopicSize

_TOPIC = "helix://topic/"
_EPISODE = "helix://episode/"
_NODE = "helix://node/"
#: So many of the largest topics and of the newest episodes are listed; the others are read by their template.
_LISTED = 20


class UnknownResourceError(UsageError):
    """No resource has such an address."""

    def __init__(self, uri: str) -> None:
        super().__init__(f"there is no resource {uri}; there are {', '.join(one.uri for one in TEMPLATES)}")


class Resource(msgspec.Struct, frozen=True, kw_only=True):
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
    """The largest topics and the newest episodes; none where there is no memory yet."""
    try:
        memory = open_memory()
    except NoMemory:
        return []
    topics = memory.topics.topics("session").largest
    episodes = memory.episodes.list(None, None, _LISTED)
    return [*map(_of_topic, topics), *map(_of_episode, episodes)]


def _of_topic(one: TopicSize) -> Resource:
    entries = "1 entry" if one.entries == 1 else f"{one.entries} entries"
    return Resource(uri=_TOPIC + quote(one.topic, safe=""), name=one.topic, description=f"Topic of {entries}.")


def _of_episode(one: Episode) -> Resource:
    return Resource(
        uri=_EPISODE + quote(one.session, safe=""),
        name=one.session,
        description=f"{(one.timestamp or '')[:10]} {one.outcome}: {one.task[:120]}".strip(),
    )


def read(uri: str) -> str:
    """The text of a resource, between the marks by which it is never taken for a person's words: clients put it there.

    Raises:
        UnknownResourceError: There is none at that address.
        HelixGraphError: It cannot be read.
    """
    readers: dict[str, Callable[[Memory, str], str]] = {_TOPIC: _topic, _EPISODE: _episode, _NODE: _node}
    for prefix, reader in readers.items():
        if uri.startswith(prefix) and len(uri) > len(prefix):
            return wrap(reader(open_memory(), unquote(uri.removeprefix(prefix))))
    raise UnknownResourceError(uri)


def _topic(memory: Memory, name: str) -> str:
    from helix_graph.topics.forms import form_of  # noqa: PLC0415  (each resource loads its own)

    return form_of(memory.topics.read(name))


def _episode(memory: Memory, session: str) -> str:
    from helix_cli.commands.episode_view import render_episode  # noqa: PLC0415  (as above)

    return rendered(memory.episodes.require(session), render_episode)


def _node(memory: Memory, label: str) -> str:
    from helix_cli.commands.neighbours import render_causes, render_effects  # noqa: PLC0415  (as above)

    found = memory.graph.causes(label)
    if not found.found:
        raise LabelNotMet(label, alike=())
    causes = rendered(found, render_causes)
    return f"{causes}\n\n{rendered(memory.graph.effects(label), render_effects)}"
