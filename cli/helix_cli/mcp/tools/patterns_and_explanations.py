"""What works and what keeps failing: patterns, explanations, contrasts, earlier decisions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from msgspec import Meta

from helix_cli.commands.paths_and_causes import render_contrast, render_explanation
from helix_cli.commands.patterns_and_comparisons import render_patterns
from helix_cli.commands.seen_and_similar import render_similar
from helix_cli.mcp.tool_declaration import Arguments, EpisodeName, Reply, answered, tool
from helix_cli.output import rendered

if TYPE_CHECKING:
    from helix_cli.mcp.tool_declaration import Progress
    from helix_graph import Memory
    from helix_graph.causality.api import Survey
    from helix_graph.graph.patterns import Pattern


Share = Annotated[float, Meta(ge=0, le=1)]


class PatternsArguments(Arguments, frozen=True, kw_only=True):
    """Which patterns."""

    min_success_rate: Annotated[Share, Meta(description="Only those that succeeded at least so often.")] = 0.0
    min_occurrences: Annotated[int, Meta(ge=1, le=1000, description="Only those of at least so many sessions.")] = 1


class AntiPatternsArguments(Arguments, frozen=True, kw_only=True):
    """Which anti-patterns."""

    max_success_rate: Annotated[Share, Meta(description="Only those that succeeded at most so often.")] = 0.3
    evidence: Annotated[
        Literal["associated"] | None,
        Meta(description="'associated': only what goes with failure among like tasks after like steps."),
    ] = None


class EpisodeArguments(Arguments, frozen=True, kw_only=True):
    """Which session."""

    episode: EpisodeName


class SimilarArguments(Arguments, frozen=True, kw_only=True):
    """Which situation."""

    text: Annotated[str, Meta(min_length=1, description="The situation, or the decision that you are about to take.")]
    limit: Annotated[int, Meta(ge=1, le=100, description="At most so many decisions.")] = 5


def _reply(found: tuple[Pattern, ...], survey: Survey, *, works: bool) -> Reply:
    return Reply(found, rendered(found, lambda rows: render_patterns(rows, survey, works=works)))


@tool("patterns", title="What works here", takes=PatternsArguments, effect="reads")
def patterns(memory: Memory, asked: PatternsArguments, _: Progress) -> Reply:
    """What was done in which situation in this project's sessions and how often it succeeded, best first, each with its
    number of runs or sessions and how often it succeeded otherwise; counts of what followed, not of causes. Use it
    when you plan how to go about a task.
    """
    survey = memory.causality.survey()
    found = survey.best(min_success_rate=asked.min_success_rate, min_occurrences=asked.min_occurrences)
    return _reply(found, survey, works=True)


@tool("anti_patterns", title="What keeps failing here", takes=AntiPatternsArguments, effect="reads")
def anti_patterns(memory: Memory, asked: AntiPatternsArguments, _: Progress) -> Reply:
    """Changes after which a check failed more often than elsewhere, and answers that seldom worked, worst first. Use it
    before you settle on an approach, and when an approach fails for the second time.
    """
    survey = memory.causality.survey()
    found = survey.worst(max_success_rate=asked.max_success_rate, evidence=asked.evidence)
    return _reply(found, survey, works=False)


@tool("explain", title="Why did it fail", takes=EpisodeArguments, effect="reads")
def explain(memory: Memory, asked: EpisodeArguments, _: Progress) -> Reply:
    """Why a session came out as it did: the steps that most likely made it fail, each with its reasons and log lines,
    or that the log does not say. Suspects are candidates, no verdicts. Use it before you take up a task that an earlier
    session failed at.
    """
    return answered(memory.causality.explain(asked.episode), render_explanation)


@tool("contrast", title="Where it parted from a success", takes=EpisodeArguments, effect="reads")
def contrast(memory: Memory, asked: EpisodeArguments, _: Progress) -> Reply:
    """The session most alike to this one that came out otherwise, and the step at which the two parted. Use it to learn
    what a successful session did differently.
    """
    return answered(memory.causality.contrast(asked.episode), render_contrast)


@tool(
    "similar_decisions",
    title="Decided before in such a situation",
    takes=SimilarArguments,
    effect="reads",
)
def similar_decisions(memory: Memory, asked: SimilarArguments, _: Progress) -> Reply:
    """Earlier decisions in a situation told in these words, why they were taken and how their sessions came out. Words
    are compared, not meanings. Use it at a fork: which library, which place, which approach.
    """
    return answered(memory.causality.similar(asked.text, limit=asked.limit), render_similar)
