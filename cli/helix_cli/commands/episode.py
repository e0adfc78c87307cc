"""``episode``: read sessions from logs, list and show them, write and correct them by hand."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click

from helix_cli.app import open_for_question, open_memory
from helix_cli.commands.extraction_report import render_changes, render_report, require_project, warn_about
from helix_cli.options import (
    RegularFile,
    any_path,
    json_object,
    output_file,
    parse_time,
    session_names,
    since_option,
    workers_option,
)
from helix_cli.output import count, emit_json, emit_text, json_option, prints, progress, say, show, table, warn
from helix_cli.terminal import verdict
from helix_episodes.corrections import LATER_EVIDENCE, PERSON_RULE
from helix_episodes.model import sortable_time
from helix_episodes.store import plain_json
from helix_graph.errors import NEXT_STEP

if TYPE_CHECKING:
    from datetime import datetime

    from helix_episodes.model import Decision, Episode, Evidence, Outcome
    from helix_episodes.verification import CheckedQuotation
    from helix_graph.agent_logs import LogSource, SourcesReport


def plain(one: Episode) -> Any:
    """An episode as its file has it: keys that are not ours included, unset ones left out."""
    import orjson

    from helix_episodes.store import encode_episode

    return orjson.loads(encode_episode(one))


def render_episode(one: Episode) -> None:
    """Print one episode as tables."""
    say(f"{one.session}  {one.timestamp or 'time not known'}")
    say(f"task     {one.task}")
    decided = one.outcome_evidence
    rule = decided.rule.removeprefix('"') if decided else ""  # it may be shown as a quotation
    revised = rule.startswith((LATER_EVIDENCE, PERSON_RULE))
    # That a check was not seen passing again is what the log shows; that the work failed is what it suggests.
    suggested = decided is not None and not revised and one.outcome == "failure" and one.outcome_basis == "measured"
    because = [words for words in (decided.rule if suggested else "", decided.quote) if words] if decided else []
    say(": ".join([f"outcome  {one.outcome} ({basis_words(one.outcome_basis)})", *because]))
    if revised and decided is not None:
        say(f"revised  {decided.rule}")
    _section("Decisions", [(it.id, _line(it.evidence), it.type, it.outcome, it.chosen) for it in one.decisions])
    _section("Events", [(it.id, _line(it.evidence), it.type, it.status, it.content) for it in one.events])
    _section("Links", [(link.source, link.target, link.type, link.reason) for link in one.links])
    _section("Fixes", [(fix.error, ", ".join(fix.changes), fix.check, fix.verified_by or "-") for fix in one.fixes])
    _section("Lessons", [(lesson,) for lesson in one.lessons])


def _line(evidence: Evidence | None) -> str:
    return f"line {evidence.line}" if evidence else "-"


_COLUMNS = {
    "Decisions": ("id", "log", "type", "outcome", "chosen"),
    "Events": ("id", "log", "type", "status", "content"),
    "Links": ("from", "to", "edge", "reason"),
    "Fixes": ("error", "changes", "check", "verified by"),
    "Lessons": ("lesson, from the session's log",),
}


def _section(title: str, rows: Sequence[Sequence[str]]) -> None:
    if rows:
        say()
        say(title)
        table(_COLUMNS[title], rows)


def render_evidence(quoted: Sequence[CheckedQuotation]) -> None:
    """Print every quotation, and when a log was searched, whether each is there."""
    if not quoted:
        say("Nothing in this episode quotes the log there.")
        return
    rows = []
    for one in quoted:
        line = f"{one.line} of {one.file}" if one.file else str(one.line)
        found = f"moved to line {one.found_on}" if one.result == "moved" else one.result
        rows.append((one.of, line, found, one.quote))
    table(("of", "line", "log", "quotation"), rows)
    say()
    say(", ".join(f"{number} {result}" for result, number in sorted(Counter(one.result for one in quoted).items())))


def render_sources(found: Sequence[LogSource]) -> None:
    """Print the agents that have a folder here, and name the others."""
    rows = [
        (one.agent, str(one.logs), str(one.here), str(one.unsaid), (one.newest or "-")[:10], one.root)
        for one in found
        if one.found
    ]
    columns = ("agent", "logs", "this project", "unknown project", "newest", "folder")
    table(columns, rows, numbers=columns[1:4])
    missing = [one.agent for one in found if not one.found]
    if missing:
        say(f"Nothing on this machine of: {', '.join(missing)}.")


@click.command
@click.option("--project", help="Count for the project in this folder instead of this one; any counts all.")
@prints(render_sources)
def sources(*, project: str | None) -> Sequence[LogSource]:
    """List where each agent keeps its logs on this machine."""
    return open_memory().sources(project=project)


def render_all(answer: SourcesReport) -> None:
    """Print what was found on this machine, and what became of it."""
    render_sources(answer.sources)
    say(f"{count(answer.untouched, 'log')} recorded before and unchanged, {answer.elsewhere} of other projects.")
    changed = render_changes(answer.report)
    if answer.dry_run:
        rows = [
            (one.session, one.reason, *(f"{old} → {new}" for old, new in (one.decisions, one.events, one.outcome)))
            for one in answer.differences
        ]
        table(("session", "because", "decisions", "events", "outcome"), rows)
        say("Nothing was written: this was a dry run.")
    elif changed:
        say(f"Next: {NEXT_STEP}")
    if answer.labels:
        say(f"The next compile would rebuild the whole graph: {answer.labels}.")


@click.command
@click.option("--session", "session_id", required=True, metavar="ID", help="The session's id, which names the file.")
@click.option("--task", required=True, metavar="TEXT", help="What the session was to do.")
@click.option("--outcome", required=True, metavar="OUTCOME", help="success, partial, failure or unknown.")
@click.option(
    "--basis",
    type=click.Choice(("judged", "measured", "rewarded", "declared")),
    default="judged",
    show_default=True,
    help="Who says so: you, a check, a score, or only the agent.",
)
@click.option("--lesson", "lessons", multiple=True, metavar="TEXT", help="A lesson; repeat the option for more.")
@click.option(
    "--data",
    type=RegularFile(encoding="utf-8"),
    help="A JSON file with decisions, events, lessons and metrics; - is stdin.",
)
@click.option("--force", is_flag=True, help="Replace the episode that the session has.")
@json_option
def new(*, lessons: Sequence[str], data: TextIO | None, as_json: bool, **options: Any) -> None:
    """Write an episode by hand."""
    parts = _parts(data)
    parts["lessons"] = [*parts.get("lessons", []), *lessons]
    one = open_memory().episodes.new(**options, **parts)
    for link in one.extra.get("unresolved", ()):
        warn(f"left out: the link {link} refers to an id that does not exist")
    _show(one, as_json=as_json)


def _parts(data: TextIO | None) -> dict[str, Any]:
    """What a file of structured data has for the library.

    Raises:
        click.BadParameter: It is not a JSON object, or has a key other than the four.
    """
    if data is None:
        return {}
    parts = json_object(data, hint="--data")
    allowed = {"decisions", "events", "lessons", "metrics"}
    if not parts.keys() <= allowed:
        raise click.BadParameter(f"must be an object with some of {', '.join(sorted(allowed))}", param_hint="--data")
    return parts


def _render_decisions(found: Sequence[Decision]) -> None:
    rows = [(one.id, one.timestamp or "-", one.type, one.outcome, one.chosen) for one in found]
    table(("id", "time", "type", "outcome", "chosen"), rows, empty="None of its decisions are known.")


@click.command
@click.argument("name", metavar="EPISODE", shell_complete=session_names)
@json_option
def decisions(*, name: str, as_json: bool) -> None:
    """List the decisions of an EPISODE in the order of time."""
    episodes = open_memory().episodes
    found = episodes.decision_sequence(episodes.require(name).id)
    show(plain_json(found) if as_json else found, as_json=as_json, render=_render_decisions)


@click.command
@click.argument("name", metavar="EPISODE", shell_complete=session_names)
@click.option("--success", is_flag=True, help="It succeeded.")
@click.option("--partial", is_flag=True, help="It succeeded in part.")
@click.option("--failure", is_flag=True, help="It failed.")
@click.option("--unknown", is_flag=True, help="It is not known, whatever the log says.")
@click.option("--because", required=True, metavar="TEXT", help="How you know.")
@json_option
def outcome(*, name: str, because: str, as_json: bool, **said: bool) -> None:
    """Record how a session really ended.

    The record is dated and does not change what was read from the log.
    """
    outcomes = [outcome for outcome, given in said.items() if given]
    if len(outcomes) != 1:
        raise click.UsageError("say which one: --success, --partial, --failure or --unknown")
    _show(open_memory().episodes.outcome(name, outcomes[0], because=because), as_json=as_json)


@click.command
@click.argument("name", metavar="EPISODE", shell_complete=session_names)
@click.option("--decision", metavar="ID", help="The decision to correct, as `episode show` calls it.")
@click.option("--chosen", metavar="TEXT", help="What was chosen.")
@click.option("--rationale", metavar="TEXT", help="Why.")
@click.option("--context", metavar="TEXT", help="The situation.")
@click.option("--type", metavar="TYPE", help="Of a decision, or of the link's edge.")
@click.option("--outcome", metavar="OUTCOME", help="How the decision turned out.")
@click.option("--link", nargs=2, metavar="FROM TO", help="Two parts that belong together.")
@click.option("--withdraw", "withdrawn", is_flag=True, help="Take the decision or the link out: it is wrong.")
@json_option
def correct(*, name: str, decision: str | None, link: tuple[str, str] | None, as_json: bool, **changes: Any) -> None:
    """Correct a decision or a link of a session.

    The correction overrides what was read from the log; both stay stored.
    """
    if (decision is None) == (link is None):
        raise click.UsageError("say which: --decision ID or --link FROM TO")
    episodes = open_memory().episodes
    if link is not None:
        one = episodes.correct_link(name, *link, type=changes["type"] or "causes", withdrawn=changes["withdrawn"])
    else:
        one = episodes.correct(name, decision or "", **changes)
    _show(one, as_json=as_json)


def _show(one: Episode, *, as_json: bool) -> None:
    show(plain(one) if as_json else one, as_json=as_json, render=render_episode)


_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


OUTCOMES: tuple[Outcome, ...] = ("success", "partial", "failure", "unknown")


@click.group
def episode() -> None:
    """Read, list and correct the episodes of sessions."""


@episode.command
@click.argument("logs", nargs=-1, metavar="[LOGS]...", type=any_path)
@click.option("--all", "everything", is_flag=True, help="Find the logs of every agent on this machine.")
@click.option("--agent", help="With --all: only this agent's logs.")
@click.option("--project", help="With --all: the project in this folder instead of this one, or any.")
@click.option(
    "--since", type=parse_time, metavar="TIME", help="With --all: only logs written to since then (ISO 8601)."
)
@click.option("--dry-run", is_flag=True, help="With --all: say what would change, and change nothing.")
@click.option("--output", type=any_path, help="Write the episodes to this folder, not the memory.")
@click.option("--force", is_flag=True, help="Replace episodes whose log has changed, and restore forgotten ones.")
@click.option("--strict", is_flag=True, help="Refuse a log with a damaged or unknown line; nothing of it is written.")
@click.option("--format", "log_format", default="auto", show_default=True, help="The format of the logs.")
@click.option("-v", "--verbose", is_flag=True, help="Say what became of every line, and where something was cut.")
@workers_option
@json_option
def extract(  # noqa: PLR0913  (what decides between logs that are named and all of them)
    *,
    logs: tuple[Path, ...],
    everything: bool,
    output: Path | None,
    log_format: str,
    verbose: bool,
    as_json: bool,
    force: bool,
    strict: bool,
    workers: int | None,
    **narrowing: Any,
) -> int:
    """Read session logs: the files that you name, or all.

    LOGS are files or folders; --all finds the logs of every agent on this machine.

    A log that cannot be used hides no other: the rest is read, and the command ends with 1.
    """
    _check_choice(logs=bool(logs or output or log_format != "auto"), everything=everything,
                  narrowed=any(narrowing.values()))  # fmt: skip
    if everything:
        with progress("Reading logs") as advance:
            answer = open_memory().extract_all(
                force=force, strict=strict, progress=advance, workers=workers, **narrowing
            )
        report = answer.report
        warn_about(report, verbose=False)
        require_project(narrowing["project"], answer)
        show(answer, as_json=as_json, render=render_all)
    else:
        from helix_graph import Memory

        # With --output no memory is touched, so none is needed: its root is not used.
        memory = Memory(output) if output else open_memory()
        with progress("Reading logs") as advance:
            report = memory.extract(
                logs,
                output=output,
                force=force,
                strict=strict,
                format=log_format,
                progress=advance,
                workers=workers,
            )
        warn_about(report, verbose=verbose)
        show(report, as_json=as_json, render=partial(render_report, verbose=verbose))
    return 1 if report.failed else 0


def _check_choice(*, logs: bool, everything: bool, narrowed: bool) -> None:
    """Either logs are named, or all are looked for; what narrows the search goes with the latter only."""
    if everything and logs:
        raise click.UsageError("--all finds the logs by itself; leave LOGS, --output and --format out")
    if not everything and narrowed:
        raise click.UsageError("--agent, --project, --since and --dry-run go with --all")
    if not everything and not logs:
        raise click.UsageError("name LOGS, or give --all for the logs of every agent on this machine")


@episode.command("list")
@click.option("--outcome", type=click.Choice(OUTCOMES), help="Only sessions with this outcome.")
@since_option
@click.option("--task", help="Only sessions whose task contains this text, in any case.")
@click.option(
    "--max-results", "--limit", type=click.IntRange(1, 100), default=20, show_default=True, help="Maximum number."
)
@click.option("--all", "every", is_flag=True, help="List all of them.")
@json_option
def list_episodes(
    *, outcome: Outcome | None, since: datetime | None, task: str | None, max_results: int, every: bool, as_json: bool
) -> None:
    """List sessions, the newest first."""
    episodes = open_for_question().episodes
    found = episodes.list(outcome, since, None if every else max_results, task=task)
    show([plain(one) for one in found] if as_json else found, as_json=as_json, render=render_list)
    for problem in episodes.unreadable():
        warn(f"left out: {problem}")
    if not as_json and (total := episodes.count(outcome, since, task=task)) > len(found):
        say(f"The newest {len(found)} of {count(total, 'session')}; --all lists all.")


def render_list(found: Sequence[Episode]) -> None:
    """Print one row per episode."""
    rows = []
    for one in found:
        day = (one.timestamp or "")[:10] if sortable_time(one.timestamp) else ""
        decisions = str(len(one.decisions))
        basis = basis_words(one.outcome_basis)
        rows.append((day, _short(one.session), verdict(one.outcome), basis, decisions, one.task))
    columns = "date", "session", "outcome", "basis", "decisions", "task"
    table(columns, rows, numbers=("decisions",), empty="No session matches.")


def basis_words(basis: str) -> str:
    """What an outcome rests on, for reading.

    >>> basis_words("measured"), basis_words("none")
    ('measured', 'no evidence')
    """
    return "no evidence" if basis == "none" else basis


def _short(session: str) -> str:
    """A session's name as short as it can be typed: of a UUID the first part.

    >>> _short("54be547d-5126-5e85-ba29-f7938c1e3be0"), _short("2026-01-01-session-126")
    ('54be547d', '2026-01-01-session-126')
    """
    return session.partition("-")[0] if _UUID.fullmatch(session) else session


@episode.command("export")
@click.argument("name", metavar="EPISODE", shell_complete=session_names)
@click.option(
    "--format",
    "form",
    type=click.Choice(("atif",)),
    default="atif",
    show_default=True,
    help="A trajectory for other tools.",
)
@click.option("--log", type=any_path, help="The session's log (default: where its agent keeps it).")
@click.option("--output", type=output_file, metavar="FILE", help="File to write (default: stdout).")
@json_option
def export_episode(*, name: str, form: str, log: Path | None, output: Path | None, as_json: bool) -> None:
    """Write one session for other tools, from its log.

    EPISODE is a session's id, its beginning, or `last`. Secrets and home folders are cut.
    """
    written = open_memory().export(name, format=form, log=log, output=output)
    if output is None:
        emit_text(written.decode())
    elif as_json:
        emit_json({"format": form, "path": str(output), "bytes": len(written)})
    else:
        say(f"{output} ({form}, {len(written):,} bytes)")


@episode.command("show")
@click.argument("name", metavar="EPISODE", shell_complete=session_names)
@click.option("--evidence", is_flag=True, help="Show every quotation with its line in the log.")
@click.option("--line", type=int, metavar="N", help="Only quotations from this line of the log.")
@click.option("--log", type=any_path, help="Check in this log whether each quotation is on its line.")
@json_option
def show_episode(*, name: str, evidence: bool, line: int | None, log: Path | None, as_json: bool) -> int:
    """Show one session with the log lines behind it.

    EPISODE is a session's id, its beginning, or `last`.

    With --log the exit code is 1 when a quotation is not on its line.
    """
    if not (evidence or line or log):
        one = open_memory().episodes.require(name)
        show(plain(one) if as_json else one, as_json=as_json, render=render_episode)
        return 0
    quoted = [one for one in open_memory().episodes.evidence(name, log=log) if line in {None, one.line}]
    show(quoted, as_json=as_json, render=render_evidence)
    return 1 if any(one.result in {"moved", "missing"} for one in quoted) else 0


for command in (new, decisions, outcome, correct, sources):
    episode.add_command(command)
