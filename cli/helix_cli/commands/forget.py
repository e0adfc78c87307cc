"""``forget``: remove sessions from every file of the memory, and prove it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from helix_cli.memory import open_memory
from helix_cli.options import json_option, moment
from helix_cli.output import complain, count, say, show

if TYPE_CHECKING:
    from datetime import datetime

    from helix_graph.forgetting import ForgetReport
    from helix_graph.traces import Proof


@click.command
@click.option("--session", "sessions", multiple=True, metavar="ID", help="This session or episode; may be repeated.")
@click.option("--project", metavar="NAME", help="Every session of this project.")
@click.option("--since", type=moment, metavar="TIME", help="Every session that began at this day or time or later.")
@click.option("--until", type=moment, metavar="TIME", help="Every session that began before this day or time.")
@click.option("--dry-run", is_flag=True, help="Say what would be forgotten, and change nothing.")
@json_option
def forget(
    *,
    sessions: tuple[str, ...],
    project: str | None,
    since: datetime | None,
    until: datetime | None,
    dry_run: bool,
    as_json: bool,
) -> int:
    """Forget sessions: episodes, assertions about them, their share in the graph.

    Several conditions must all be met; sessions named by --session are taken besides. They stay forgotten when their
    logs are read again, until --force. At last every file of the memory is searched for what the sessions said; when
    that was cut short or found something, run it again (without options it takes up what is not proved yet).
    """
    memory = open_memory()
    report = memory.forget(sessions, project=project, since=since, until=until, dry_run=dry_run)
    for name in report.undecided:
        complain(f"{name} cannot be read, so it was left; forget it by --session, or see helix-graph doctor")
    show(report, as_json=as_json, render=_render)
    return 1 if report.undecided or (report.proof and not report.proof.whole) else 0


def _render(report: ForgetReport) -> None:
    for session in report.sessions:
        say(session)
    done = "would be forgotten" if report.dry_run else "forgotten"
    say(f"{count(len(report.sessions), 'session')} and {count(len(report.assertions), 'assertion')} {done}.")
    if report.taken_up:
        since = "yet" if report.dry_run else "until now"
        say(f"{count(report.taken_up, 'session')} forgotten before and not proved gone {since}.")
    if report.proof:
        _render_proof(report.proof)


def _render_proof(proof: Proof) -> None:
    searched = f"{count(proof.files, 'file')} ({proof.bytes} bytes) for {count(proof.texts, 'text')} of theirs"
    say(f"Searched {searched}: {_found(proof)}.")
    for trace in proof.left:
        what = "names a session" if trace.names_session else "holds their words"
        say(f"  left in {trace.file}: {count(trace.texts, 'text')}; it {what}")
    for one in proof.unsearched:
        say(f"  not searched: {one.file}: {one.problem}")
    if proof.shared:
        say(f"{count(proof.shared, 'text')} of these stand in sessions that are kept, in their own right.")


def _found(proof: Proof) -> str:
    return f"{count(len(proof.left), 'file')} still hold some" if proof.left else "nothing found"
