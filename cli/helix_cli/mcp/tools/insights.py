"""Feedback on insights, links between insights, and their health."""

from typing import TYPE_CHECKING, Annotated, Literal

from msgspec import Meta

from helix_cli.mcp.tool_declaration import Share, Texts, as_texts, tool

if TYPE_CHECKING:
    from helix_graph import Memory

#: What is said where no session is known; see `helix_cli.mcp.shown_advice`.
_NO_SESSION = (
    "Nothing was counted: this server does not know which session it serves, since no log of it is here and no hook "
    "named it. Go on; how the work went is read from the session's log at its end."
)


@tool(title="How the work went", effect="adds")
def feedback(
    memory: "Memory",
    names: Annotated[Texts, Meta(description="The insights that you had, as `recall` names them.")],
    outcome: Annotated[Literal["delivered", "blocked", "plan_complete"], Meta(description="How the work went.")],
    *,
    causal_names: Annotated[
        Texts | None, Meta(description="The insights that mattered; all count by default, none with [].")
    ] = None,
    id: Annotated[str, Meta(description="Feedback with the same id counts once.")] = "",  # noqa: A002  (the command's option)
) -> str:
    """Report how the work ended for which you had insights, so that helpful ones rank higher: delivered, blocked, or
    plan_complete. Use it once at the end of the task, and name in causal_names the insights that mattered. It counts
    for insights that this session was shown, once for each outcome.
    """
    from helix_cli.commands.insight import render_feedback
    from helix_cli.mcp.shown_advice import known_session, was_shown
    from helix_cli.output import rendered
    from helix_episodes.errors import HelixGraphError, InvalidArgument

    causal = None if causal_names is None else as_texts("causal_names", causal_names)
    session, named = known_session(memory), as_texts("names", names)
    shown = was_shown(memory, named, session=session)
    known = memory.insights.known(named)
    if named and not known:
        raise HelixGraphError(f"no insight is named {', '.join(named)}; give names as `recall` shows them")
    unseen = [name for name in known if not shown[name]]
    if unseen:
        problem = (
            f"holds {', '.join(unseen)}, which this session was not shown, so nothing was recorded; feedback is for "
            "insights that `recall` or a briefing has shown before the work: leave the others out"
        )
        raise InvalidArgument("names", problem)
    if not session:
        return _NO_SESSION
    return rendered(memory.insights.feedback(named, outcome, causal, id=id, session=session), render_feedback)


@tool(title="Link two insights", effect="sets", shows="insight:render_related")
def relate(
    memory: "Memory",
    from_name: Annotated[str, Meta(description="The insight from which the link leads, as `recall` names it.")],
    to_name: Annotated[str, Meta(description="The insight to which it leads.")],
    *,
    rel_type: Annotated[
        Literal["similar", "led_to", "co_occurs", "causes", "solves"],
        Meta(description="What the first is to the other."),
    ] = "similar",
    weight: Annotated[Share, Meta(description="How sure you are.")] = 1.0,
) -> object:
    """Link one insight to another: similar, led_to, co_occurs, causes or solves. Use it when you have seen that one
    advice belongs to another, so that finding one finds both.
    """
    from helix_episodes.errors import HelixGraphError

    answer = memory.insights.relate(from_name, to_name, rel_type, weight)
    if answer["status"] == "rejected":
        raise HelixGraphError(f"nothing was linked: {answer['reason']}; `recall` shows the names of insights")
    return answer


@tool(title="How the insights do", effect="reads", shows="insight:render_health")
def insight_health(memory: "Memory") -> object:
    """How many insights there are, how many had feedback, how well they do on average, and what is missing. Use it when
    `recall` finds nothing or its answers seem poor.
    """
    return memory.insights.health()
