"""What works and what keeps failing: patterns, explanations, contrasts, earlier decisions.

The tools at its end ask the runs of checks: when they fail, which files are fragile, how the project is run.
"""

from typing import TYPE_CHECKING, Annotated, Literal

from msgspec import Meta, structs

from helix_cli.mcp.tool_declaration import Answered, EpisodeName, Few, Share, tool

if TYPE_CHECKING:
    from helix_graph import Memory
    from helix_graph.causality.pattern_survey import Survey
    from helix_graph.graph.patterns import Pattern


#: On the page of an issue; the text has all.
_OCCURRENCES_SHOWN = 10


def _shown(found: "tuple[Pattern, ...]", survey: "Survey", *, works: bool) -> str:
    from helix_cli.commands.patterns_and_comparisons import render_patterns
    from helix_cli.output import rendered

    return rendered(found, lambda rows: render_patterns(rows, survey, works=works))


@tool(title="What works here", effect="reads")
def patterns(
    memory: "Memory",
    *,
    min_success_rate: Annotated[Share, Meta(description="Only patterns with at least this success rate.")] = 0.0,
    min_occurrences: Annotated[int, Meta(ge=1, le=1000, description="Minimum number of sessions.")] = 1,
) -> str:
    """What was done in which situation in this project's sessions and how often it succeeded, best first, each with its
    number of runs or sessions and how often it succeeded otherwise; counts, not explanations. Use it
    when you plan how to go about a task.
    """
    survey = memory.causality.survey()
    return _shown(survey.best(min_success_rate=min_success_rate, min_occurrences=min_occurrences), survey, works=True)


@tool(title="What keeps failing here", effect="reads")
def anti_patterns(
    memory: "Memory",
    *,
    max_success_rate: Annotated[Share, Meta(description="Only patterns with at most this success rate.")] = 0.3,
    evidence: Annotated[
        Literal["associated"] | None,
        Meta(description="'associated': only what goes with failure among like tasks after like steps."),
    ] = None,
) -> str:
    """Changes after which a check failed more often than elsewhere, and answers that seldom worked, worst first. Use it
    before you settle on an approach, and when an approach fails for the second time.
    """
    survey = memory.causality.survey()
    return _shown(survey.worst(max_success_rate=max_success_rate, evidence=evidence), survey, works=False)


@tool(title="Recurring failures", effect="reads", page=True)
def issues(
    memory: "Memory",
    *,
    id: Annotated[  # noqa: A002  (the word of the answer)
        Annotated[str, Meta(min_length=1, max_length=64)] | None,
        Meta(description="Of one issue or group, by its id or the beginning of it, every occurrence."),
    ] = None,
    check: Annotated[
        Annotated[str, Meta(min_length=1, max_length=200)] | None,
        Meta(description="Only failures of this check, tool or command."),
    ] = None,
    limit: Few = 5,
) -> Answered:
    """What keeps failing in this project over all sessions: in how many, at what cost, and what repaired it, the issue
    of most sessions first. Use it before you touch something that is known to fail, and to see whether a failure is an
    old one; with `id` it shows where each occurrence is in the logs, and what was changed.
    """
    from helix_cli.commands.issues import render_details, render_issues
    from helix_cli.output import rendered

    if id is not None:
        details = memory.issues.show(id)
        shown = structs.replace(details, occurrences=details.occurrences[-_OCCURRENCES_SHOWN:])
        return Answered(rendered(details, render_details), shown)
    found = memory.issues.list(check=check, limit=limit)
    return Answered(rendered(found, render_issues), found)


@tool(title="Why did it fail", effect="reads", page=True, shows="explain_and_contrast:render_explanation")
def explain(memory: "Memory", episode: EpisodeName) -> object:
    """Why a session came out as it did: the steps that most likely made it fail, each with its reasons and log lines,
    or that the log does not say. Suspects are candidates, no verdicts. Use it before you take up a task that an earlier
    session failed at.
    """
    return memory.causality.explain(episode)


@tool(title="Where it parted from a success", effect="reads", shows="explain_and_contrast:render_contrast")
def contrast(memory: "Memory", episode: EpisodeName) -> object:
    """The session most alike to this one that came out otherwise, and the step at which the two parted. Use it to learn
    what a successful session did differently.
    """
    return memory.causality.contrast(episode)


@tool(title="Decided before in such a situation", effect="reads", shows="seen_and_similar:render_similar")
def similar_decisions(
    memory: "Memory",
    text: Annotated[str, Meta(min_length=1, description="The situation, or the decision that you are about to take.")],
    *,
    limit: Few = 5,
) -> object:
    """Earlier decisions in a situation described in these words, why they were taken and how their sessions came out.
    Words are compared, not meanings. Use it at a fork: which library, which place, which approach.
    """
    return memory.causality.similar(text, limit=limit)


@tool(title="When checks fail here", effect="reads", shows="checks_and_runbook:render_checks")
def checks(memory: "Memory") -> object:
    """How often each test runner, linter and compiler of this project fails after a change, and after what kind of
    change it fails more or less often: which folder, how many files, how large. Use it to choose what to run, and when.
    """
    return memory.causality.checks()


@tool(title="Fragile files", effect="reads", shows="checks_and_runbook:render_fragile")
def fragile(
    memory: "Memory",
    path: Annotated[
        Annotated[str, Meta(min_length=1)] | None,
        Meta(description="A file or folder, relative to the project; without it, every fragile place."),
    ] = None,
) -> object:
    """Files and folders after whose change checks failed more often than elsewhere, with what passed there again, and
    files that are changed together. Use it before you edit a file that you do not know.
    """
    return memory.causality.fragile(path)


@tool(title="How this project is run", effect="reads", shows="checks_and_runbook:render_runbook")
def runbook(memory: "Memory") -> object:
    """How this project is tested, linted, built and formatted, with pass rates and durations, what has to run first,
    and which commands fail here with what worked instead. Use it before you run anything for the first time.
    """
    return memory.causality.runbook()
