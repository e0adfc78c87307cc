"""``insight store``, ``recall``, ``get``, ``feedback``: the primitives by which a memory learns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import click

from helix_cli.insight_command import TextList, insight_command
from helix_cli.output import complain, count, percent, say

if TYPE_CHECKING:
    from collections.abc import Mapping

    from helix_graph.insights.attributing import Told
    from helix_graph.insights.door import Insights, Recalled
    from helix_graph.insights.feedback import FedBack
    from helix_graph.insights.store import Stored


def render_stored(answer: Stored) -> None:
    """What became of a text, on one line."""
    fuller = "the new words are fuller and were kept" if answer.get("kept") == "new" else ""
    say("  ".join(part for part in (answer["status"], answer["name"], answer["reason"], fuller) if part))


@insight_command("store", render=render_stored)
@click.option("--content", required=True, metavar="TEXT", help="The advice: 20 to 8,000 characters.")
@click.option("--tags", type=TextList(), default="[]", metavar="JSON", help="""Its tags: '["pattern", "ci"]'.""")
def store(insights: Insights, *, content: str, tags: list[str]) -> Stored:
    """Remember advice, or let the insight that says the same take it in."""
    return insights.store(content, tags)


def render_recalled(answer: Recalled) -> None:
    """Print the insights found, each with its score and how well it did."""
    for hit in answer:
        say(f"{hit['_score']:.2f}  [{percent(hit['_effectiveness'])}]  {hit['name']}")
        say(f"      {hit['content']}")
    if not answer:
        say("Nothing that bears on it.")


@insight_command("recall", render=render_recalled)
@click.argument("query")
@click.option("--limit", type=int, default=5, show_default=True, help="At most so many.")
@click.option("--min-effectiveness", type=float, default=0.0, show_default=True, help="Only those that did so well.")
@click.option("--min-relevance", type=float, help="Only what bears on it so much (default 0.35).")
@click.option("--suppress-names", type=TextList(), default="[]", metavar="JSON", help="Leave these out.")
@click.option(
    "--policy", default="seed", show_default=True, help="How to rank: seed, or uplift once enough is measured."
)
@click.option("--lexical", is_flag=True, help="Look by words alone, though there is a model.")
def recall(  # noqa: PLR0913  (the seed's options)
    insights: Insights,
    *,
    query: str,
    limit: int,
    min_effectiveness: float,
    min_relevance: float | None,
    suppress_names: list[str],
    policy: str,
    lexical: bool,
) -> Recalled:
    """Show the insights that bear on a text, the best first."""
    answer = insights.recall(
        query, limit, min_effectiveness, min_relevance, suppress_names, policy=policy, semantic=not lexical
    )
    if answer.note and not lexical:
        complain(answer.note)
    return answer


def render_insight(answer: Mapping[str, Any]) -> None:
    """An insight and how it did."""
    say(f"{answer['name']}: {answer['content']}")
    hits = f"causal in {answer['causal_hits']}"
    say(f"effectiveness {percent(answer['effectiveness'])} after {count(answer['use_count'], 'use')}, {hits}")
    if answer["tags"]:
        say(f"tags: {', '.join(answer['tags'])}")


@insight_command("get", render=render_insight)
@click.argument("name")
def get(insights: Insights, *, name: str) -> dict[str, Any]:
    """Show one insight."""
    from helix_graph.insights.errors import InsightNotFound  # noqa: PLC0415  (imported when a command runs)

    found = insights.get(name)
    if found is None:
        raise InsightNotFound(name)
    return found


def render_feedback(answer: FedBack) -> None:
    """Print what a feedback moved."""
    if answer["repeated"]:
        say(f"{answer['id']} was counted before; nothing was done.")
        return
    moved = f"{answer['causal']} causal, {answer['eroded']} eroded"
    say(f"{answer['outcome']}: {count(answer['updated'], 'insight')} moved ({moved})")
    if answer["missing"]:
        say(f"not known: {', '.join(answer['missing'])}")


def _render_told(answer: FedBack | Told) -> None:
    if "verdicts" not in answer:
        render_feedback(answer)
        return
    told = cast("Told", answer)
    for fed in told["feedback"]:
        render_feedback(fed)
    if told["note"]:
        say(told["note"])


@insight_command("feedback", render=_render_told)
@click.option("--names", type=TextList(), metavar="JSON", help="The insights that were put in.")
@click.option("--outcome", help="delivered, blocked or plan_complete; an episode knows its own.")
@click.option("--causal-names", type=TextList(), metavar="JSON", help="Those of them that mattered (default: all).")
@click.option("--episode", metavar="ID", help="Judge by what was done in this episode, and how it came out.")
@click.option("--outcome-text", metavar="TEXT", help="Judge by how alike this account of the outcome is.")
@click.option("--explain", is_flag=True, help="Print why each insight counts as it does.")
@click.option("--id", "identity", default="", help="The same id counts once, however often it is given.")
def feedback(  # noqa: PLR0913  (the seed's options, and the two other ways to judge)
    insights: Insights,
    *,
    names: list[str] | None,
    outcome: str | None,
    causal_names: list[str] | None,
    episode: str | None,
    outcome_text: str | None,
    explain: bool,
    identity: str,
) -> FedBack | Told:
    """Say how the work went into which insights had been put, or have it judged by what happened."""
    if episode and outcome_text:
        message = "give --episode or --outcome-text, not both"
        raise click.UsageError(message)
    if episode:
        told = insights.feedback_from_episode(episode, names=names or (), id=identity)
    else:
        if outcome is None or names is None:
            message = "give --names and --outcome, or --episode"
            raise click.UsageError(message)
        if outcome_text is None:
            return insights.feedback(names, outcome, causal_names, id=identity)
        told = insights.feedback_from_text(outcome_text, names, outcome, id=identity)
    if explain:
        _explain(told)
    return told


def _explain(told: Told) -> None:
    """On stderr, so that ``--json`` stays what it is."""
    for verdict in told["verdicts"]:
        mark = "causal" if verdict["causal"] else "not causal"
        complain(f"{verdict['name']}: {mark}: {verdict['reason']}")
        if verdict["path"]:
            complain(f"    {' -> '.join(verdict['path'])}")
