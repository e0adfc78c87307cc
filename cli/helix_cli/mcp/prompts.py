"""The briefing: what a session should know of this project's earlier ones before it begins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from helix_cli.commands.patterns import render_patterns
from helix_cli.commands.similar import render_similar
from helix_cli.mcp.answering import open_memory
from helix_cli.output import count, percent, rendered
from helix_episodes.echo import wrap
from helix_graph.errors import GraphNotCompiled
from helix_graph.graph.decided import words_of
from helix_graph.search.topics import TopicSource
from helix_graph.topics.briefing.model import Overview
from helix_graph.topics.forms import form_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from helix_graph import Memory

_HEAD = (
    "What earlier sessions of this project show. Counts are sessions; 'too early' means that too few are known. It was "
    "written by sessions like this one: weigh it."
)
_NOTHING = "Nothing yet: `extract` reads session logs, `remember` and `store` keep what you learn."
#: Rows of each kind: a briefing is read before the work, and the tools give the rest.
_ROWS = 5


class Prompt(msgspec.Struct, frozen=True, kw_only=True):
    """A prompt with one argument that may be left out."""

    name: str
    title: str
    description: str
    argument: str
    about_argument: str


PROMPT = Prompt(
    name="briefing",
    title="Brief me on this project",
    description="What earlier sessions of this project learnt: what works, what keeps failing, what was decided alike.",
    argument="task",
    about_argument="The task that is about to begin; earlier decisions in its words are shown with it.",
)


def briefing(task: str) -> str:
    """The briefing, for a task or in general. Parts that have nothing to say are left out.

    It becomes a message in a person's name, so it stands between the marks by which it is never read as one.

    Raises:
        HelixGraphError: There is no memory, or a part of it cannot be read.
    """
    memory, about = open_memory(), task.strip()
    insights = memory.insights.recall(about, _ROWS) if about else memory.insights.proven(_ROWS)
    parts = [_HEAD, *_learnt(insights, about), *_counted(memory, about), *_written(memory, about)]
    text = "\n\n".join(parts if len(parts) > 1 else [*parts, _NOTHING])
    return wrap(text, insights=[one["name"] for one in insights])


def _learnt(insights: Sequence[Mapping[str, Any]], about: str) -> Iterator[str]:
    """Insights: those that bear on the task, or those that did best."""
    lines = [
        f"- {one['content']} ({percent(one['effectiveness'])} in {count(one['use_count'], 'use')})" for one in insights
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
    for title, found in (("What worked", survey.best()), ("What failed", survey.worst())):
        if found:
            yield f"## {title}\n" + rendered(found[:_ROWS], lambda rows: render_patterns(rows, survey))
    if about and words_of(about):
        found_alike = memory.causality.similar(about, limit=_ROWS)
        yield f"## Decided before, in words like: {about}\n" + rendered(found_alike, render_similar)


def _written(memory: Memory, about: str) -> Iterator[str]:
    """Topics: what there is and what is new, and what the task's words find."""
    overview = memory.topics.brief()
    if not isinstance(overview, Overview) or not overview.entries:
        return
    yield "## Written down\n" + form_of(overview)
    if about and (found := TopicSource(memory.topics).search(about, limit=_ROWS, manner="lexical")):
        yield "\n".join(["## Entries in the task's words", *(f"- [{one.name}] {one.content}" for one in found)])
