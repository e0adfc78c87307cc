"""The commands of ``insight`` that look after insights.

Decay, prune and rebuild them; harvest them from episodes and link them to the graph; edit, reject, mute, forget and
promote them; export and import them.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from helix_cli.commands.insight import insight_command, json_names, render_insight
from helix_cli.options import any_path, output_file, parse_time
from helix_cli.output import count, emit_text, percent, say, table, verbatim, warn
from helix_cli.terminal import clean
from helix_graph.insights.safe_quoting import logged_name_or_quoted, quoted

if TYPE_CHECKING:
    from datetime import datetime

    from helix_graph.insights.api import Insights
    from helix_graph.insights.curation import ChangeAnswer, ForgetAnswer, Promoted
    from helix_graph.insights.harvest import HarvestAnswer
    from helix_graph.insights.links import LinkAnswer
    from helix_graph.insights.maintenance import Consolidated, Decayed, PrunedInsights, Rebuilt, ReindexedInsights
    from helix_graph.insights.transfer import ImportCounts
    from helix_graph.insights.uplift import Uplift, UpliftReport


def _render_decayed(answer: Decayed) -> None:
    moved = count(answer["decayed"], "insight")
    say(f"{moved} moved towards neutral, unused for {answer['threshold_days']} days or more.")


@insight_command("decay", render=_render_decayed)
@click.option("--days", type=int, default=30, show_default=True, help="Decay by one step per this many unused days.")
def decay(insights: Insights, *, days: int) -> Decayed:
    """Move unused insights back towards neutral."""
    return insights.decay(days)


def _render_pruned(answer: PrunedInsights) -> None:
    for name in answer["candidates"]:
        say(name)
    done = "would be removed; --yes removes" if answer["dry_run"] else "removed"
    say(f"{count(len(answer['candidates']), 'insight')} {done}, {answer['remaining']} remain.")


@insight_command("prune", render=_render_pruned)
@click.option("--threshold", type=float, default=0.25, show_default=True, help="Below this effectiveness ...")
@click.option("--min-uses", type=int, default=3, show_default=True, help="... after at least this many uses.")
@click.option("--yes", is_flag=True, help="Remove them. Otherwise they are shown, and a terminal is asked.")
def prune(insights: Insights, *, threshold: float, min_uses: int, yes: bool) -> PrunedInsights:
    """Remove insights that were consistently unhelpful.

    Insights that a person wrote are not removed.
    """
    shown = insights.prune(threshold, min_uses, yes=yes)
    if yes or not shown["candidates"] or not (sys.stdin.isatty() and sys.stdout.isatty()):
        return shown
    for name in shown["candidates"]:
        click.echo(clean(name), err=True)
    agreed = click.confirm(f"Remove {count(len(shown['candidates']), 'insight')}?", err=True)
    return insights.prune(threshold, min_uses, yes=True) if agreed else shown


def _render_consolidated(answer: Consolidated) -> None:
    for pair in answer["pairs"]:
        say(f"{pair['merged']} -> {pair['kept']}  ({percent(pair['cosine'])} alike)")
    say(f"{count(answer['merged'], 'insight')} merged, {answer['remaining']} remain.")


@insight_command("consolidate", render=_render_consolidated)
@click.option("--threshold", type=float, help="From this cosine on two say the same (default 0.9).")
def consolidate(insights: Insights, *, threshold: float | None) -> Consolidated:
    """Merge insights that say the same."""
    return insights.consolidate(threshold)


def _render_reindexed(answer: ReindexedInsights) -> None:
    say(
        f"{count(answer['embedded'], 'text')} embedded with {answer['model'] or 'no model, because none is installed'}."
    )
    if answer["without_vector"]:
        say(f"{answer['without_vector']} of {answer['total']} have no vector.")


@insight_command("reindex", render=_render_reindexed)
def reindex(insights: Insights) -> ReindexedInsights:
    """Compute missing vectors, and rebuild the word index."""
    return insights.reindex()


def _render_rebuilt(answer: Rebuilt) -> None:
    entries = count(answer["entries"], "entry", "entries")
    say(f"Recomputed {count(answer['insights'], 'insight')} from {entries}: {answer['changed']} changed.")


@insight_command("rebuild", render=_render_rebuilt)
def rebuild(insights: Insights) -> Rebuilt:
    """Recompute all effectiveness values from the feedback log."""
    return insights.rebuild()


def _render_harvest(answer: HarvestAnswer) -> None:
    for name in answer["added"]:
        say(name)
    taught = f"{count(answer['lessons'], 'lesson')}, {count(answer['fixes'], 'verified fix', 'verified fixes')}"
    read = f"{count(answer['episodes'], 'episode')}: {taught}"
    done = "would be added" if answer["dry_run"] else "added"
    merged = f"{answer['taken_in']} merged into insights that a person or agent had stored"
    say(f"{read}. {len(answer['added'])} {done}, {answer['known']} already stored, {merged}.")
    say(f"{count(answer['links'], 'link')}, {answer['merged']} merged, {answer['kept_out']} rejected.")
    if answer["repairs"] > answer["fixes"]:
        left = count(answer["repairs"] - answer["fixes"], "fix", "fixes")
        say(f"{left} left out: not verified, only tests changed, or no error named.")
    if not answer["lessons"]:
        say("No session ends with lessons. `helix-graph issues` shows what repaired a recurring failure.")


@insight_command("harvest", render=_render_harvest)
@click.option("--episode", metavar="ID", help="Only this episode's.")
@click.option("--since", type=parse_time, metavar="TIME", help="Only of episodes that began then or later (ISO 8601).")
@click.option("--dry-run", is_flag=True, help="Show what would be added, and add nothing.")
def harvest(insights: Insights, *, episode: str | None, since: datetime | None, dry_run: bool) -> HarvestAnswer:
    """Make insights of the lessons and verified fixes of sessions."""
    return insights.harvest(episode, since=since, dry_run=dry_run)


def _render_linked(answer: LinkAnswer) -> None:
    to = answer["label"] or f"no node yet ({answer['type']}: {quoted(answer['text'])})"
    how = f"{answer['origin']}, {answer['score']:.2f}"
    say(f"{answer['status']}  {answer['name']} -{answer['relation']}-> {to}  ({how})")


@insight_command("link", render=_render_linked)
@click.argument("name")
@click.option("--node-type", required=True, help="decision, event, error, outcome, pattern or episode.")
@click.option("--text", default="", help="The raw text of the step, or a label; nothing for a whole episode.")
@click.option("--episode", default="", metavar="ID", help="The episode that the step is in.")
@click.option("--relation", default="addresses", show_default=True, help="derived_from, addresses or prevents.")
def link(insights: Insights, *, name: str, node_type: str, text: str, episode: str, relation: str) -> LinkAnswer:
    """Link an insight to a node of the graph."""
    return insights.link(name, node_type, text, episode=episode, relation=relation)


def _render_matched(answer: list[LinkAnswer]) -> None:
    for one in answer:
        _render_linked(one)
    if not answer:
        say("No insight matches a graph node, by label or by vector.")


@insight_command("match", render=_render_matched)
@click.argument("name", required=False)
def match(insights: Insights, *, name: str | None) -> list[LinkAnswer]:
    """Link insights to the graph nodes that they mention."""
    return insights.match(name)


def _render_uplift(answer: UpliftReport) -> None:
    say(f"{count(answer.measured, 'injection')} with a known outcome.")
    say(f"all together: {_uplift_sentence(answer.pooled)}")
    rows = [[one.insight or "", _uplift_sentence(one)] for one in answer.insights]
    table(["insight", "uplift"], rows)


def _uplift_sentence(one: Uplift) -> str:
    n = f"{one.given.n} given, {one.withheld.n} withheld"
    if one.difference is None or one.interval is None:
        return f"{one.verdict} ({n})"
    low, high = (f"{100 * end:+.0f}" for end in (one.interval.low, one.interval.high))
    return f"{one.verdict}: {100 * one.difference:+.0f} points ({low} to {high}; {n})"


@insight_command("uplift", render=_render_uplift)
def uplift(insights: Insights) -> UpliftReport:
    """Show the effect of insights against a random control group."""
    return insights.uplift()


def _render_changed(answer: ChangeAnswer) -> None:
    say(f"{answer['name']} is {answer['state']}: {answer['content']}")


@insight_command("edit", render=_render_changed)
@click.argument("name")
@click.option("--content", metavar="TEXT", help="The new text.")
@click.option("--tags", type=json_names, metavar="JSON", help="The new tags, instead of the old ones.")
def edit(insights: Insights, *, name: str, content: str | None, tags: list[str] | None) -> ChangeAnswer:
    """Change the text or the tags of an insight of your own.

    Its name stays. Somebody else's, which git, the team's server or an import brought, is not changed: store your own
    version, and hide theirs with `mute`.
    """
    return insights.edit(name, content, tags)


@insight_command("reject", render=_render_changed)
@click.argument("name")
@click.option("--reason", default="", metavar="TEXT", help="Why it is wrong.")
@click.option("--off", is_flag=True, help="Take it back.")
def reject(insights: Insights, *, name: str, reason: str, off: bool) -> ChangeAnswer:
    """Mark an insight as wrong.

    It is neither recalled nor stored again.
    """
    return insights.reject(name, reason, off=off)


@insight_command("mute", render=_render_changed)
@click.argument("name")
@click.option("--off", is_flag=True, help="Let it be recalled again.")
def mute(insights: Insights, *, name: str, off: bool) -> ChangeAnswer:
    """Stop recalling an insight."""
    return insights.mute(name, off=off)


def _render_forgotten(answer: ForgetAnswer) -> None:
    say(f"{count(len(answer['forgotten']), 'insight')} forgotten, {answer['remaining']} remain.")


@insight_command("forget", render=_render_forgotten)
@click.argument("names", nargs=-1)
@click.option("--import", "import_", metavar="FILE", help="All that an import of FILE (name or SHA-256) brought.")
def forget(insights: Insights, *, names: tuple[str, ...], import_: str | None) -> ForgetAnswer:
    """Delete insights with their links and log entries."""
    if bool(names) == bool(import_):
        raise click.UsageError("give NAMES, or --import FILE without them")
    return insights.forget_import(import_) if import_ else insights.forget(names)


def _render_why(answer: Mapping[str, Any]) -> None:
    render_insight(answer)
    if answer["lifetime"]["uses"]:
        won, uses, rate = answer["lifetime"].values()
        drawn = f"{percent(rate)} once drawn towards the memory's own rate"
        say(f"over all uses {won} of {uses} went well, {drawn}; effectiveness forgets within ten uses")
    where = " ".join(answer[key] for key in ("origin", "source", "episode") if answer[key])
    say(f"{where} on {answer['created_at']}; it is {answer['state']}")
    if answer["said_by"]:
        say(f"shown to agents as a quotation: {answer['said_by']}")
    for name in answer["took_in"]:
        say(f"  took in {name}")
    for link in answer["links"]:
        say(f"  {link['from']} -{link['relation']}-> {link['to']}  ({link['origin']}, {link['score']:.2f})")
    say(f"shown {count(len(answer['injected']), 'time')}, withheld {count(len(answer['withheld']), 'time')}")
    for step in answer["feedback"]:
        role = {True: "causal", False: "not causal", None: "idle"}[step["causal"]]
        event = "  ".join(part for part in (step["outcome"] or step["kind"], role, step["reason"]) if part)
        say(f"  {step['ts']}  {event}  -> {percent(step['effectiveness'])}")


@insight_command("why", render=_render_why)
@click.argument("name")
def why(insights: Insights, *, name: str) -> dict[str, Any]:
    """Show where an insight comes from and what followed its use."""
    return insights.why(name)


def _is_refused(answer: Promoted) -> bool:
    from helix_graph.insights.curation import IS_THERE

    return answer["reason"] not in {"", IS_THERE}


def _render_promoted(answer: Promoted) -> None:
    if answer["reason"]:
        tell = warn if _is_refused(answer) else say
        tell(f"{answer['name']} is not promoted: {answer['reason']}.")
        return
    for line in answer["diff"].splitlines():
        verbatim(line)
    say(f"Written to {answer['file']}." if answer["written"] else "Nothing is written yet; --write applies it.")


@insight_command("promote", render=_render_promoted, failed=_is_refused)
@click.argument("name")
@click.option("--file", type=any_path, default="CLAUDE.md", show_default=True, help="CLAUDE.md or AGENTS.md.")
@click.option("--write", is_flag=True, help="Apply the diff. Otherwise it is shown.")
@click.option("--anyway", is_flag=True, help="Also when it is not proven yet.")
def promote(insights: Insights, *, name: str, file: Path, write: bool, anyway: bool) -> Promoted:
    """Show the diff that adds an insight to CLAUDE.md."""
    return insights.promote(name, file, write=write, anyway=anyway)


def _render_export(answer: dict[str, str | int]) -> None:
    if "text" in answer:
        emit_text(str(answer["text"]))
    else:
        say(f"{count(int(answer['records']), 'record')} written to {answer['file']}.")


@insight_command("export", render=_render_export)
@click.option("--output", type=output_file, help="Write to this file instead of stdout.")
def export(insights: Insights, *, output: Path | None) -> dict[str, str | int]:
    """Write all insights, links and feedback as lines of JSON."""
    for name in insights.damaged():
        text = "its text is not what was stored, so it is left out; `helix-graph doctor` says what to do"
        warn(f"{logged_name_or_quoted(name)}: {text}")
    if output is None:
        return {"text": insights.export()}
    return {"records": insights.export_to(output), "file": str(output)}


def _render_imported(answer: ImportCounts) -> None:
    new = ", ".join(
        (
            count(answer["insights"], "insight"),
            count(answer["links"], "link"),
            f"{answer['feedback']} of feedback",
            count(answer["injections"], "injection"),
        )
    )
    say(f"New: {new}. There are {count(answer['total'], 'insight')} now.")
    if answer["left_out"]:
        say(f"{answer['left_out']} left out: they rest on sessions that were forgotten here.")
    if answer["quoted"]:
        say(f"{count(answer['quoted'], 'insight')} of others: an import had brought them, so they stay quotations.")
    if answer["without_vector"]:
        say(f"Not searchable by meaning yet: {answer['without_vector']}. Next: helix-graph insight reindex")


@insight_command("import", render=_render_imported)
@click.argument("file", type=any_path)
@click.option("--own", is_flag=True, help="This is your own memory: its ranks and authors count.")
def import_command(insights: Insights, *, file: Path, own: bool) -> ImportCounts:
    """Read an export, or a helix.db of the original.

    Importing a file again changes nothing.

    Its texts are shown as quotations from FILE, and begin without a rank; `insight forget --import FILE` removes
    them. A memory of your own comes in with --own.
    """
    return insights.import_from(file, own=own)
