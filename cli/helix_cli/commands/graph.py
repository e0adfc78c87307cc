"""The causal graph: ``compile``, ``status``, ``graph export``, and by hand ``node``, ``edge``, ``pattern``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from helix_cli.app import open_memory
from helix_cli.options import OutputPath, any_path, output_file, since_option, workers_option
from helix_cli.output import (
    count,
    emit_json,
    emit_text,
    fields,
    json_option,
    paused_sentence,
    percent,
    prints,
    progress,
    say,
    show,
    warn,
)
from helix_graph.errors import NEXT_STEP, InvalidConfiguration
from helix_graph.insights.safe_quoting import logged_name_or_quoted
from helix_graph.trust import silence_from_git

if TYPE_CHECKING:
    from datetime import datetime

    from helix_graph.graph.compile import CompileReport
    from helix_graph.graph.export import ExportedTables
    from helix_graph.graph.status import Status

    Row = Mapping[str, Any]


@click.command("compile")
@click.argument("paths", nargs=-1, metavar="[PATH]...", type=any_path)
@since_option
@click.option("--dry-run", is_flag=True, help="Show what would change, and change nothing.")
@click.option("--export", is_flag=True, help="Write causality/causal-graph.json as well.")
@workers_option
@json_option
def compile_command(
    *, paths: tuple[Path, ...], since: datetime | None, dry_run: bool, export: bool, workers: int | None, as_json: bool
) -> None:
    """Add new and changed episodes to the causal graph.

    Without PATH the whole memory is looked at; unchanged episodes are skipped, and deleted ones are removed from the
    graph.
    """
    with progress("Compiling episodes") as advance:
        report = open_memory().graph.compile(
            paths, since=since, dry_run=dry_run, progress=advance, export=export, workers=workers
        )
    for skipped in (*report.skipped, *report.left_out):
        warn(f"{logged_name_or_quoted(str(skipped.path))}: left out: {skipped.problem}")
    show(report, as_json=as_json, render=_render_compiled)
    if report.skipped:
        click.get_current_context().exit(1)


def _render_compiled(report: CompileReport) -> None:
    render_compile(report)
    if not (report.episodes_processed or report.unchanged):
        say("Next: helix-graph sync")
    elif not report.dry_run:
        say("Next: helix-graph seen, helix-graph report, helix-graph --help")


def render_compile(report: CompileReport) -> None:
    """Print what changed, or with a dry run what would change."""
    if report.rebuilt:
        say(f"The graph is rebuilt from all episodes: {report.rebuilt}.")
    say(
        f"{count(report.episodes_processed, 'episode')} processed, {report.unchanged} unchanged, "
        f"{report.retracted} removed."
    )
    if report.assertions_processed or report.assertions_retracted:
        taken = count(report.assertions_processed, "assertion")
        say(f"{taken} processed, {report.assertions_retracted} removed.")
    added = (
        count(report.nodes_added, "node"),
        count(report.edges_added, "edge"),
        count(report.patterns_added, "pattern"),
    )
    repeated = count(report.merged, "existing node")
    say(f"{', '.join(added)} {'would be added' if report.dry_run else 'added'}; {repeated} mentioned again.")


def render_status(answer: Status) -> None:
    """Print the size of the memory and how many episode files are not compiled yet."""
    fields(list(_rows(answer)))
    if answer.pending:
        say()
        say(f"{count(answer.pending, 'episode file')} changed since then. Next: {NEXT_STEP}")


@click.command
@prints(render_status)
def status() -> Status:
    """Show the size and state of the memory."""
    memory = open_memory()
    try:
        ignored = memory.search.ignored()
    except InvalidConfiguration as error:
        ignored = (str(error),)
    for sentence in ignored:
        warn(sentence)
    if memory.silenced:
        warn(silence_from_git(memory.root) or paused_sentence(memory.silenced))
    if memory.read_only:
        warn(str(memory.read_only))
    return memory.graph.status()


def _rows(answer: Status) -> Iterator[tuple[str, str]]:
    skipped = f" ({answer.skipped} skipped)" if answer.skipped else ""
    yield "episodes", f"{answer.episodes}{skipped} in {answer.episodes_path}"
    for basis, outcomes in answer.outcomes.items():
        yield f"  outcomes {'unknown' if basis == 'none' else basis}", _counts(outcomes)
    if answer.assertions:
        by_people, derived = answer.assertions - answer.revisions, answer.revisions
        both = ((by_people, "by people"), (derived, "derived from later sessions"))
        yield "assertions", ", ".join(f"{number} {words}" for number, words in both if number)
    yield "graph", f"{count(answer.nodes, 'node')}, {count(answer.edges, 'edge')}, {count(answer.patterns, 'pattern')}"
    for name, numbers in (("nodes", answer.node_types), ("edges", answer.edge_types), ("reasons", answer.reasons)):
        if numbers:
            yield f"  {name}", _counts(numbers)
    yield "mentions", str(answer.mentions)
    if answer.mentions_per_node is not None:
        yield "  per label", f"{answer.mentions_per_node:.1f}"
    if answer.shared_mentions is not None:
        yield "  shared", f"{percent(answer.shared_mentions)} of steps have a label that another session has too"
    if answer.largest_label:
        yield "  largest label", f"{percent(answer.largest_label.share)} {answer.largest_label.label}"
    if answer.isolated_share is not None:
        yield "  isolated", f"{percent(answer.isolated_share)} of the labels of decisions and errors have no edges"
    yield from _newest(answer)
    yield "versions", f"schema {answer.version}, labels {answer.label_version}"


def _newest(answer: Status) -> Iterator[tuple[str, str]]:
    if answer.newest_episode:
        yield "newest episode", f"{answer.newest_episode[:16].replace('T', ' ')} UTC"
    if answer.ahead:
        yield "in the future", f"{count(answer.ahead, 'session')}: left out of last, of periods and of the newest"


def _counts(numbers: dict[str, int]) -> str:
    return ", ".join(f"{number} {name}" for name, number in numbers.items())


#: The formats that are several files in a folder, and always the whole graph.
_TABLES = ("neo4j", "parquet")


def _output(context: click.Context, parameter: click.Parameter, value: str | None) -> Path | None:
    """A folder for tables, else a file."""
    kind = OutputPath(path_type=Path) if context.params["form"] in _TABLES else output_file
    return None if value is None else kind.convert(value, parameter, context)


@click.group
def graph() -> None:
    """Write the graph for other programs."""


@graph.command("export")
@click.option(
    "--format",
    "form",
    type=click.Choice(("graphml", "dot", "mermaid", "neo4j", "parquet", "json")),
    default="json",
    show_default=True,
    is_eager=True,  # what --output may be depends on it
    help="For networkx, Gephi and yEd; Graphviz; Markdown; Neo4j; data tools; any program.",
)
@click.option(
    "--output", metavar="PATH", callback=_output, help="File to write (default: stdout); for tables a new folder."
)
@click.option("--focus", metavar="LABEL", help="Only labels that contain this text, and their neighbors.")
@click.option("--from", "source", metavar="TEXT", help="With --to: the path between two labels, and its neighbors.")
@click.option("--to", "target", metavar="TEXT", help="Where the path ends.")
@click.option("--episode", metavar="EPISODE", help="Only one session's labels and edges.")
@click.option("--max-nodes", type=int, help="Maximum number of labels, 1 to 20000.")
@json_option
def export(*, form: str, output: Path | None, as_json: bool, **options: Any) -> None:
    """Write the graph as GraphML, DOT, Mermaid, JSON, or tables for Neo4j and Parquet."""
    if form in _TABLES:
        if any(value is not None for value in options.values()):
            raise click.UsageError(f"--format {form} writes the whole graph; leave out the options that select a part")
        if output is None:
            raise click.UsageError(f"--format {form} writes several files; name a new folder with --output")
        show(open_memory().graph.export_tables(format=form, output=output), as_json=as_json, render=_render_tables)
        return
    written = open_memory().graph.export(format=form, output=output, **options)
    _warn(form, written)
    if output is None and as_json and form != "json":
        emit_json({"format": form, "text": written.decode()})
    elif output is None:
        emit_text(written.decode())
    elif as_json:
        emit_json({"format": form, "path": str(output), "bytes": len(written)})
    else:
        say(f"{output} ({form}, {len(written):,} bytes)")


def _render_tables(written: ExportedTables) -> None:
    say(f"{count(written.nodes, 'node')} and {count(written.edges, 'edge')} in {written.folder}:")
    say(f"  {', '.join(map(str, written.files))}")
    if written.format == "neo4j":
        say("Next: neo4j-admin database import full --nodes=nodes.csv --relationships=relationships.csv")


def _warn(form: str, written: bytes) -> None:
    if form != "mermaid":
        return
    from helix_graph.graph.export import beyond_mermaid

    problem = beyond_mermaid(written)
    if problem:
        warn(f"{problem}; --focus or --max-nodes takes a part")


@click.group
def node() -> None:
    """Add nodes to the graph by hand."""


def _render_node(row: Row) -> None:
    say(f"{row['id']}  {row['type']}  {row['label']}")
    say(f"counted {row['frequency']} x, in {count(len(row['episodes']), 'episode')}")


@node.command("add")
@click.option("--type", "kind", required=True, metavar="TYPE", help="decision, event, outcome, pattern or error.")
@click.option("--label", required=True, metavar="TEXT", help="What it is called.")
@click.option("--episode", metavar="EPISODE", help="The episode that mentions it: then a repeated call counts once.")
@prints(_render_node)
def add_node(*, kind: str, label: str, episode: str | None) -> Row:
    """Add a node, or count it again."""
    return open_memory().graph.add_causal_node(kind, label, episode)


@click.group
def edge() -> None:
    """Add edges to the graph by hand."""


def _render_edge(row: Row) -> None:
    say(f"{row['source']} -{row['type']}-> {row['target']}")
    say(f"weight {row['weight']:.2f} over {row['evidence_count']} pieces of evidence ({', '.join(row['reasons'])})")


@edge.command("add")
@click.option("--source", required=True, metavar="NODE", help="Where it begins: a node's id or its whole label.")
@click.option("--target", required=True, metavar="NODE", help="Where it ends: the same.")
@click.option("--type", "kind", required=True, metavar="TYPE", help="causes, enables, prevents or correlates.")
@click.option("--weight", type=float, default=0.5, show_default=True, help="How sure you are, 0 to 1.")
@prints(_render_edge)
def add_edge(*, source: str, target: str, kind: str, weight: float) -> Row:
    """Add an edge between two nodes, or more evidence for it."""
    return open_memory().graph.add_causal_edge(source, target, kind, weight)


@click.group
def pattern() -> None:
    """Add patterns by hand."""


def _render_pattern(row: Row) -> None:
    say(f"{row['name']}: on {row['trigger']}, {row['action']}")
    rate = percent(row["success_rate"]) if row["measured"] else "not measured"
    say(f"used {row['occurrences']} x, success {rate}")


@pattern.command("add")
@click.option("--name", required=True, metavar="TEXT", help="What it is called: the same name is the same pattern.")
@click.option("--trigger", required=True, metavar="TEXT", help="The situation.")
@click.option("--action", required=True, metavar="TEXT", help="What to do in it.")
@click.option("--description", default="", metavar="TEXT", help="More about it.")
@click.option("--success-rate", type=float, help="How often it works, 0 to 1; without it the pattern is unmeasured.")
@prints(_render_pattern)
def add_pattern(*, name: str, trigger: str, action: str, description: str, success_rate: float | None) -> Row:
    """Add a pattern, or count one more use of it."""
    return open_memory().graph.add_pattern(name, trigger, action, description, success_rate)
