"""The briefing: what a session should know of this project's earlier ones before it begins."""

from __future__ import annotations

import msgspec

from helix_cli.commands.patterns import render_patterns
from helix_cli.commands.similar import render_similar
from helix_cli.mcp.answering import open_memory
from helix_cli.output import rendered

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
    """The briefing, for a task or in general.

    Raises:
        HelixGraphError: There is no memory, or no graph yet.
    """
    memory = open_memory()
    survey = memory.causality.survey()
    parts = [
        "What earlier sessions of this project show. Counts are sessions; 'too early' means that too few are known.",
        "## What worked\n" + rendered(survey.best()[:_ROWS], lambda rows: render_patterns(rows, survey)),
        "## What failed\n" + rendered(survey.worst()[:_ROWS], lambda rows: render_patterns(rows, survey)),
    ]
    if task.strip():
        found = memory.causality.similar(task, limit=_ROWS)
        parts.append(f"## Decided before, in words like: {task.strip()}\n" + rendered(found, render_similar))
    return "\n\n".join(parts)
