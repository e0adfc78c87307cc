"""What was learnt: remember advice, recall it, report how it did; and `search_memory`, one question to everything."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import msgspec
from msgspec import Meta

from helix_cli.commands.insight import render_feedback, render_health, render_recalled, render_related, render_stored
from helix_cli.commands.search_and_model import render_search
from helix_cli.mcp.shown_advice import known_session, note_shown, was_shown
from helix_cli.mcp.tool_declaration import MOST_ITEMS, Arguments, Reply, TextList, answered, tool
from helix_cli.output import rendered
from helix_episodes.errors import HelixGraphError, InvalidArgument
from helix_graph.insights.model import Outcome
from helix_graph.search.sources import INSIGHTS

if TYPE_CHECKING:
    from helix_cli.mcp.tool_declaration import Progress
    from helix_graph import Memory


#: A list, or a text that holds one: as JSON, or with commas.
Texts = TextList | str
Share = Annotated[float, Meta(ge=0, le=1)]


class RememberArguments(Arguments, frozen=True, kw_only=True):
    """What to remember."""

    content: Annotated[
        str,
        Meta(
            min_length=20,
            max_length=8000,
            description="The advice, 20 to 8,000 characters: when to do what, and why. One thing at a time.",
        ),
    ]
    tags: Annotated[Texts, Meta(description="Such as ['ci', 'pytest'].")] = ""
    episode: Annotated[str, Meta(description="The session that it was learnt in, if any.")] = ""


class RecallArguments(Arguments, frozen=True, kw_only=True):
    """What it should bear on."""

    query: Annotated[str, Meta(min_length=1, description="The task or the problem, in your words.")]
    limit: Annotated[int, Meta(ge=0, le=100, description="At most so many.")] = 5
    min_effectiveness: Annotated[Share, Meta(description="Only those that did so well.")] = 0.0
    min_relevance: Annotated[Share | None, Meta(description="Only what bears on it so much (0.35).")] = None
    suppress_names: Annotated[Texts, Meta(description="Leave these out.")] = ""
    tag: Annotated[str, Meta(description="Only those with this tag.")] = ""


class FeedbackArguments(Arguments, frozen=True, kw_only=True):
    """Which insights, and how the work went."""

    names: Annotated[Texts, Meta(description="The insights that you had, as `recall` names them.")]
    outcome: Annotated[Outcome, Meta(description="How the work went.")]
    causal_names: Annotated[
        Texts | None, Meta(description="Those of them that mattered; without it all count, with [] none.")
    ] = None
    id: Annotated[str, Meta(description="The same id counts once, however often it is told.")] = ""


class RelateArguments(Arguments, frozen=True, kw_only=True):
    """Which insights, and how they belong together."""

    from_name: Annotated[str, Meta(description="The insight from which the link leads, as `recall` names it.")]
    to_name: Annotated[str, Meta(description="The insight to which it leads.")]
    rel_type: Annotated[
        Literal["similar", "led_to", "co_occurs", "causes", "solves"],
        Meta(description="What the first is to the other."),
    ] = "similar"
    weight: Annotated[Share, Meta(description="How sure you are.")] = 1.0


def _texts(name: str, value: Texts) -> list[str]:
    """The texts of a list, however it was sent.

    Raises:
        InvalidArgument: It begins like JSON and is not valid JSON, or the list is too long.
    """
    if not isinstance(value, str):
        return value
    if value.lstrip().startswith("["):
        try:
            texts = msgspec.json.decode(value, type=list[str])
        except msgspec.DecodeError as error:
            raise InvalidArgument(None, f'{name} is no list of texts; give one such as ["one", "two"]') from error
    else:
        texts = [one.strip() for one in value.split(",") if one.strip()]
    if len(texts) > MOST_ITEMS:
        raise InvalidArgument(None, f"{name} has {len(texts)} texts; give at most {MOST_ITEMS}")
    return texts


class SearchMemoryArguments(Arguments, frozen=True, kw_only=True):
    """What to look for."""

    query: Annotated[str, Meta(description="1 to 500 letters, digits, blanks and - . , _ ( ) & : characters.")]
    max_results: Annotated[int, Meta(ge=1, le=100, description="At most so many.")] = 10
    semantic_only: Annotated[bool, Meta(description="Compare meanings alone; fails where nothing does.")] = False
    lexical_only: Annotated[bool, Meta(description="Compare words alone.")] = False


@tool("recall", title="What was learnt about this", takes=RecallArguments, effect="reads")
def recall(memory: Memory, asked: RecallArguments, _: Progress) -> Reply:
    """The advice of earlier sessions that bears on a task or a problem, the best first: what is near in meaning or
    words, did well and was used lately. Use it when a task begins and when you are stuck, and tell with `feedback`
    afterwards which of it mattered. It was written by sessions like this one: weigh it.
    """
    options = msgspec.structs.asdict(asked)
    options["suppress_names"] = _texts("suppress_names", asked.suppress_names)
    answer = memory.insights.recall(**options)
    note_shown(memory, answer)
    text = rendered(answer, render_recalled)
    return Reply({"note": answer.note}, f"{text}\n{answer.note}" if answer.note else text)


@tool("remember", title="Remember advice", takes=RememberArguments, effect="adds")
def remember(memory: Memory, asked: RememberArguments, _: Progress) -> Reply:
    """Keep a piece of advice for later sessions: what to do in which situation, and why. Use it when you have learnt
    something the hard way. What says the same as an insight that is there goes into it. Facts about one part of the
    project go to `store` instead.
    """
    answer = memory.insights.store(asked.content, _texts("tags", asked.tags), origin="agent", episode=asked.episode)
    if answer["status"] == "rejected":
        raise HelixGraphError(f"nothing was remembered: {answer['reason']}; mend content and call `remember` again")
    return Reply(answer, rendered(answer, render_stored))


#: What is said where no session is known; see `helix_cli.mcp.shown_advice`.
_NO_SESSION = (
    "Nothing was counted: this server does not know which session it serves, since no log of it is here and no hook "
    "named it. Go on; how the work went is read from the session's log at its end."
)


@tool("feedback", title="How the work went", takes=FeedbackArguments, effect="adds")
def feedback(memory: Memory, asked: FeedbackArguments, _: Progress) -> Reply:
    """Say how the work went for which you had insights, so that helpful ones rank higher: delivered, blocked, or
    plan_complete. Use it once at the end of the task, and name in causal_names those that mattered. It counts for
    insights that this session was shown, once for each outcome.
    """
    causal = None if asked.causal_names is None else _texts("causal_names", asked.causal_names)
    session = known_session(memory)
    shown = was_shown(memory, names := _texts("names", asked.names), session=session)
    known = memory.insights.known(names)
    if names and not known:
        raise HelixGraphError(f"no insight is named {', '.join(names)}; give names as `recall` shows them")
    unseen = [name for name in known if not shown[name]]
    if unseen:
        problem = (
            f"holds {', '.join(unseen)}, which this session was not shown, so nothing was recorded; feedback is for "
            "insights that `recall` or a briefing has shown before the work: leave the others out"
        )
        raise InvalidArgument("names", problem)
    if not session:
        return Reply({}, _NO_SESSION)
    answer = memory.insights.feedback(names, asked.outcome, causal, id=asked.id, session=session)
    return Reply(answer, rendered(answer, render_feedback))


@tool("relate", title="Link two insights", takes=RelateArguments, effect="sets")
def relate(memory: Memory, asked: RelateArguments, _: Progress) -> Reply:
    """Link one insight to another: similar, led_to, co_occurs, causes or solves. Use it when you have seen that one
    advice belongs to another, so that whoever finds one finds both.
    """
    answer = memory.insights.relate(asked.from_name, asked.to_name, asked.rel_type, asked.weight)
    if answer["status"] == "rejected":
        raise HelixGraphError(f"nothing was linked: {answer['reason']}; `recall` shows the names of insights")
    return Reply(answer, rendered(answer, render_related))


@tool("insight_health", title="How the insights do", takes=Arguments, effect="reads")
def insight_health(memory: Memory, _: Arguments, __: Progress) -> Reply:
    """How many insights there are, how many had feedback, how well they do on average, and what is missing. Use it when
    `recall` finds nothing or its answers seem poor.
    """
    return answered(memory.insights.health(), render_health)


@tool("search_memory", title="Search everything", takes=SearchMemoryArguments, effect="reads")
def search_memory(memory: Memory, asked: SearchMemoryArguments, _: Progress) -> Reply:
    """Search insights, topics, earlier sessions and the project's notes at once, the best first, each with its source.
    Use it when you do not know where something was kept. For an error, `seen` says more.
    """
    found = memory.search(**msgspec.structs.asdict(asked))
    note_shown(memory, [{"name": one.name} for one in found.results if one.source == INSIGHTS])
    return answered(found, render_search)
