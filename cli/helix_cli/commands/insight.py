"""``insight``: remembered advice. Stores, recalls, relates insights and records how they did.

Each command is one method of `helix_graph.insights.api.Insights`. What looks after insights (decay, harvest, import
and the like) is in `insight_maintenance`, which is imported when one of its commands runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import wraps
from typing import TYPE_CHECKING, Any, cast

import click

from helix_cli.app import EXIT_FAILED, open_insights
from helix_cli.command_group import LazyGroup
from helix_cli.output import count, fields, json_option, percent, say, show, table, tree, warn
from helix_cli.terminal import Branch, strong

if TYPE_CHECKING:
    from helix_graph.insights.api import Insights
    from helix_graph.insights.attribution import AttributionAnswer
    from helix_graph.insights.feedback import FeedbackAnswer
    from helix_graph.insights.links import RelateAnswer
    from helix_graph.insights.recall import RecallAnswer
    from helix_graph.insights.storing import StoreAnswer

    Work = Callable[..., Any]

    Hits = list[dict[str, Any]]


def render_health(answer: Mapping[str, Any]) -> None:
    """Print the figures, the tags and what is missing."""
    rows = [(name, value) for name, value in answer.items() if name not in {"by_tag", "issues"}]
    fields([(name, str(value)) for name, value in rows])
    for tag, number in answer["by_tag"].items():
        say(f"  {tag}  {number}")
    for issue in answer["issues"]:
        say(f"! {issue}")


def _is_rejected(answer: object) -> bool:
    """What was asked for was not done: a script has to notice."""
    return isinstance(answer, dict) and answer.get("status") == "rejected"


def insight_command(
    name: str, *, render: Callable[[Any], None], failed: Callable[[Any], object] = _is_rejected
) -> Callable[[Work], click.Command]:
    """Makes a command of a function from insights and options to an answer, which ``render`` prints.

    The command ends with 1 where ``failed`` says so of the answer.
    """

    def decorate(work: Work) -> click.Command:
        @wraps(work)
        def run(*, as_json: bool, verbose: bool, **options: object) -> int:
            answer = work(open_insights(), **options)
            show(answer, as_json=as_json, render=render)
            if verbose or (click.get_current_context().obj or {}).get("verbose"):
                _log(name, options, answer)
            return EXIT_FAILED if failed(answer) else 0

        verbose = click.option("--verbose", is_flag=True, help="Log the call on stderr as one line of JSON.")
        return click.command(name)(json_option(verbose(run)))

    return decorate


@insight_command("health", render=render_health)
def health(insights: Insights) -> dict[str, Any]:
    """Show the state of the insights."""
    return insights.health()


def json_names(value: str) -> list[str]:
    """A list of texts as JSON, as the seeds have it: ``'["a", "b"]'``."""
    import msgspec

    try:
        return msgspec.json.decode(value, type=list[str])
    except (msgspec.DecodeError, UnicodeEncodeError):
        raise click.BadParameter(f'{value!r} is not a JSON list of texts, such as \'["one", "two"]\'') from None


def _log(command: str, options: dict[str, object], answer: object) -> None:
    import msgspec

    size = len(answer) if isinstance(answer, list | dict | str) else 1
    line = {
        "timestamp": datetime.now(UTC).isoformat(),
        "command": command,
        "args": options,
        "result_type": "list" if isinstance(answer, list) else type(answer).__name__,
        "result_size": size,
    }
    click.echo(msgspec.json.encode(line, enc_hook=str).decode(), err=True)


def render_stored(answer: StoreAnswer) -> None:
    """What became of a text, on one line."""
    fuller = "the longer wording replaced the old one" if answer.get("kept") == "new" else ""
    from helix_graph.insights.scoring import SHORTEST_CONTENT

    reason = answer["reason"]
    if reason.startswith("content too short"):
        reason = f"Too short: write at least {SHORTEST_CONTENT} characters."
    say("  ".join(part for part in (answer["status"], answer["name"], reason, fuller) if part))


@insight_command("store", render=render_stored)
@click.argument("text", required=False)
@click.option("--content", metavar="TEXT", help="The same as TEXT.")
@click.option("--tags", type=json_names, default="[]", metavar="JSON", help="""Its tags: '["pattern", "ci"]'.""")
@click.option("--trigger", metavar="TEXT", help="Instead of --content: the situation.")
@click.option("--resolution", metavar="TEXT", help="With --trigger: what to do in it.")
@click.option("--type", "kind", type=click.Choice(("failure", "pattern")), default="failure", help="With --trigger.")
def store(  # noqa: PLR0913  (the options)
    insights: Insights,
    *,
    text: str | None,
    content: str | None,
    tags: list[str],
    trigger: str | None,
    resolution: str | None,
    kind: str,
) -> StoreAnswer:
    """Remember advice.

    TEXT is the advice, 20 to 8,000 characters, in quotation marks. When an insight says the same already, the two are
    merged.
    """
    if text is not None and content is not None:
        raise click.UsageError("Give the advice once: as TEXT or with --content.")
    content = text if content is None else content
    if (content is None) == (trigger is None) or (trigger is None) != (resolution is None):
        raise click.UsageError("Give the advice in quotation marks, or --trigger and --resolution.")
    if trigger is not None:
        return insights.first_form.store(trigger, resolution or "", kind)
    return insights.store(content or "", tags)


def past_use(insight: Mapping[str, Any]) -> str:
    """How well an insight did. Before it was used there is only where its effectiveness begins, which says nothing."""
    uses = insight["use_count"]
    return f"{percent(insight['effectiveness'])} in {count(uses, 'use')}" if uses else "not used yet"


def render_recalled(answer: RecallAnswer) -> None:
    """Print the insights found, each with its score and how well it did."""
    for hit in answer:
        say(f"{hit['_score']:.2f}  [{past_use(hit)}]  ", strong(hit["name"]))
        say(f"      {hit['content']}")
    if not answer:
        say("No matching insight.")


@insight_command("recall", render=render_recalled)
@click.argument("query")
@click.option("--limit", type=int, default=5, show_default=True, help="Maximum number of insights.")
@click.option("--min-effectiveness", type=float, default=0.0, show_default=True, help="Minimum effectiveness, 0 to 1.")
@click.option("--min-relevance", type=float, help="Minimum relevance to the query, 0 to 1 (default 0.35).")
@click.option("--suppress-names", type=json_names, default="[]", metavar="JSON", help="Names of insights to leave out.")
@click.option(
    "--policy", default="seed", show_default=True, help="How to rank: seed, or uplift once enough is measured."
)
@click.option("--lexical", is_flag=True, help="Look by words alone, though there is a model.")
def recall(insights: Insights, *, query: str, lexical: bool, **options: Any) -> RecallAnswer:
    """Show the insights about a text."""
    answer = insights.recall(query, semantic=not lexical, **options)
    if answer.note and not lexical:
        warn(answer.note)
    return answer


def _render_listed(answer: Hits) -> None:
    for one in answer:
        helped = f", helped {percent(one['effectiveness'])}" if one["use_count"] else ""
        used = count(one["use_count"], "use")
        tree(Branch((strong(one["name"]), f"  {one['created_at'][:10]}, {used}{helped}"), (Branch((one["content"],)),)))
    if not answer:
        say("No insight yet. `insight store` or `insight harvest` adds some.")


@insight_command("list", render=_render_listed)
@click.option("--tag", default="", help="Only insights with this tag.")
@click.option("--limit", type=click.IntRange(min=1), default=20, show_default=True, help="Maximum number of insights.")
def list_insights(insights: Insights, *, tag: str, limit: int) -> Hits:
    """List insights, the newest first."""
    return insights.newest(limit=limit, tag=tag)


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
    from helix_graph.insights.rows import not_found

    found = insights.get(name)
    if found is None:
        raise not_found(name)
    return found


def render_feedback(answer: FeedbackAnswer) -> None:
    """Print what a feedback moved."""
    if answer["repeated"]:
        say(f"{answer['id']} was counted before; nothing was done.")
        return
    moved = f"{answer['causal']} causal, {answer['eroded']} eroded"
    say(f"{answer['outcome']}: {count(answer['updated'], 'insight')} moved ({moved})")
    if answer["missing"]:
        say(f"not known: {', '.join(answer['missing'])}")


def _render_told(answer: FeedbackAnswer | AttributionAnswer) -> None:
    if "verdicts" not in answer:
        render_feedback(answer)
        return
    attribution = cast("AttributionAnswer", answer)
    for fed in attribution["feedback"]:
        render_feedback(fed)
    if attribution["note"]:
        say(attribution["note"])


@insight_command("feedback", render=_render_told)
@click.option("--names", type=json_names, metavar="JSON", help="Names of the insights that the agent was shown.")
@click.option("--outcome", help="delivered, blocked or plan_complete; not needed with --episode.")
@click.option("--causal-names", type=json_names, metavar="JSON", help="The ones that mattered (default: all).")
@click.option("--episode", metavar="ID", help="Judge by the decisions and the outcome of this episode.")
@click.option(
    "--outcome-text", metavar="TEXT", help="Judge each insight by how similar this description of the outcome is to it."
)
@click.option("--explain", is_flag=True, help="Print why each insight counts as it does.")
@click.option("--id", "identity", default="", help="Feedback with the same id counts once.")
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
) -> FeedbackAnswer | AttributionAnswer:
    """Record how a task went after insights were shown."""
    if episode and outcome_text:
        raise click.UsageError("give --episode or --outcome-text, not both")
    if episode:
        attribution = insights.feedback_from_episode(episode, names=names or (), id=identity)
    else:
        if outcome is None or names is None:
            raise click.UsageError("give --names and --outcome, or --episode")
        if outcome_text is None:
            from helix_graph.insights.feedback import require_shown

            require_shown(causal_names or (), names, option="--causal-names")
            return insights.feedback(names, outcome, causal_names, id=identity)
        attribution = insights.feedback_from_text(outcome_text, names, outcome, id=identity)
    if explain:
        _explain(attribution)
    return attribution


def _explain(attribution: AttributionAnswer) -> None:
    """On stderr, so that ``--json`` stays what it is."""
    for verdict in attribution["verdicts"]:
        mark = "causal" if verdict["causal"] else "not causal"
        warn(f"{verdict['name']}: {mark}: {verdict['reason']}")
        if verdict["path"]:
            warn(f"    {' -> '.join(verdict['path'])}")


def _render_neighbors(answer: Hits) -> None:
    rows = [[hit["_relation"], f"{hit['_score']:.2f}", hit["name"], hit["content"]] for hit in answer]
    table(["relation", "score", "name", "content"], rows, numbers=("score",), empty="No linked or similar insights.")


@insight_command("neighbors", render=_render_neighbors)
@click.argument("name")
@click.option("--limit", type=int, default=5, show_default=True, help="Maximum number of insights.")
def neighbors(insights: Insights, *, name: str, limit: int) -> Hits:
    """Show linked and similar insights."""
    return insights.neighbors(name, limit)


def render_related(answer: RelateAnswer) -> None:
    """Print what became of a link."""
    link = f"{answer['from_name']} -{answer['rel_type']}-> {answer['to_name']}"
    say("  ".join(part for part in (answer["status"], link, answer["reason"]) if part))


@insight_command("relate", render=render_related)
@click.argument("from_name")
@click.argument("to_name")
@click.option(
    "--rel-type", "--type", "rel_type", default="similar", show_default=True,
    help="similar, led_to, co_occurs, causes or solves.",
)  # fmt: skip
@click.option("--weight", type=float, default=1.0, show_default=True, help="How sure you are, 0 to 1.")
def relate(insights: Insights, *, from_name: str, to_name: str, rel_type: str, weight: float) -> RelateAnswer:
    """Link one insight to another."""
    return insights.relate(from_name, to_name, rel_type, weight)


def _render_connected(answer: Hits) -> None:
    rows = [[str(hit["_hop"]), hit["_via"], hit["_relation"], hit["name"]] for hit in answer]
    table(["hop", "via", "relation", "name"], rows, numbers=("hop",), empty="It is linked with nothing.")


@insight_command("connected", render=_render_connected)
@click.argument("name")
@click.option("--max-hops", type=int, default=2, show_default=True, help="Maximum number of links to follow.")
def connected(insights: Insights, *, name: str, max_hops: int) -> Hits:
    """Show the insights that links lead to."""
    return insights.connected(name, max_hops)


@insight_command("chunk", render=render_stored)
@click.option("--task-objective", required=True, metavar="TEXT", help="The task.")
@click.option(
    "--outcome", required=True, metavar="TEXT", help="How it went; only outcomes that begin with success are stored."
)
@click.option("--approach", required=True, metavar="TEXT", help="How it was done.")
@click.option("--source", default="chunked", show_default=True, help="Where it comes from.")
def chunk(insights: Insights, *, task_objective: str, outcome: str, approach: str, source: str) -> StoreAnswer:
    """Remember the approach that worked for a task."""
    return insights.chunk(task_objective, outcome, approach, source)


#: Where each command is, in the order of the help.
EVERYDAY = {
    "store": "commands.insight:store",
    "recall": "commands.insight:recall",
    "list": "commands.insight:list_insights",
    "get": "commands.insight:get",
    "why": "commands.insight_maintenance:why",
    "edit": "commands.insight_maintenance:edit",
    "mute": "commands.insight_maintenance:mute",
    "reject": "commands.insight_maintenance:reject",
    "forget": "commands.insight_maintenance:forget",
    "promote": "commands.insight_maintenance:promote",
    "export": "commands.insight_maintenance:export",
    "import": "commands.insight_maintenance:import_command",
}
#: For links, upkeep and the judging of outcomes, which hooks do by themselves.
RARE = {
    "feedback": "commands.insight:feedback",
    "decay": "commands.insight_maintenance:decay",
    "prune": "commands.insight_maintenance:prune",
    "health": "commands.insight:health",
    "neighbors": "commands.insight:neighbors",
    "relate": "commands.insight:relate",
    "connected": "commands.insight:connected",
    "link": "commands.insight_maintenance:link",
    "match": "commands.insight_maintenance:match",
    "harvest": "commands.insight_maintenance:harvest",
    "uplift": "commands.insight_maintenance:uplift",
    "chunk": "commands.insight:chunk",
    "consolidate": "commands.insight_maintenance:consolidate",
    "reindex": "commands.insight_maintenance:reindex",
    "rebuild": "commands.insight_maintenance:rebuild",
}


def _begin(*, verbose: bool) -> None:
    click.get_current_context().obj = {"verbose": verbose}


insight = LazyGroup(
    sections={"Commands": EVERYDAY},
    rare={"Links, upkeep and outcomes": RARE},
    meant={
        **dict.fromkeys(("add", "new", "note", "remember", "save"), 'insight store "TEXT"'),
        **dict.fromkeys(("search", "find", "show"), 'insight recall "TEXT"'),
    },
    name="insight",
    help="Remember advice and find it again.",
    callback=_begin,
    params=[click.Option(["-v", "--verbose"], is_flag=True, help="Log the call on stderr as one line of JSON.")],
)
