"""Begin, accept, pause or examine a memory, remove sessions: ``init``, ``trust``, ``off``, ``doctor``, ``forget``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from helix_cli.app import open_memory
from helix_cli.options import parse_time, session_names
from helix_cli.output import count, json_option, paused_sentence, prints, say, show, table, warn
from helix_episodes.errors import NotFound
from helix_graph.errors import NEXT_STEP
from helix_graph.insights.safe_quoting import logged_name_or_quoted

if TYPE_CHECKING:
    from helix_graph.doctor.api import Examination
    from helix_graph.forget import ErasureProof, ForgetReport
    from helix_graph.sharing.model import ServerErasure
    from helix_graph.trust_preview import TrustPreview

#: So many files that git tracks are named; a shared memory has an episode for each session.
_MOST_TRACKED = 10


def _render_begun(answer: dict[str, object]) -> None:
    say(f"This project's memory is {answer['root']}.")
    say(f"Next: {NEXT_STEP}")


@click.command
@click.option("--share", is_flag=True, help="Let git keep the episodes, for a team; they quote people's prompts.")
@prints(_render_begun)
def init(*, share: bool) -> dict[str, object]:
    """Create a memory for this project.

    It is a folder .helix at the root of the git repository, or in the current folder outside of git. HELIX_DIR names
    another.
    """
    from helix_graph import Memory

    memory = Memory.init(share=share)
    return {"root": memory.root, "shared": share}


def _render_preview(found: TrustPreview) -> None:
    parts = (
        (found.episodes, count(found.episodes, "session")),
        (found.assertions, count(found.assertions, "addition by hand", "additions by hand")),
        (found.insights, count(found.insights, "insight")),
        (found.entries, count(found.entries, "entry of topics", "entries of topics")),
    )
    say(f"{found.root} contains {', '.join(words for number, words in parts if number) or 'nothing yet'}.")
    if found.shared:
        say(f"git shares {count(found.shared, 'text')}, which `share merge` takes in.")
    if found.newest:
        say("Newest texts, which your agents would read:")
    for text in found.newest:
        say(f"  > {' '.join(text.split())}")
    if found.tracked:
        say(f"git tracks {count(len(found.tracked), 'file')} of it: {', '.join(found.tracked[:_MOST_TRACKED])}")
    if found.forgotten:
        one = count(found.forgotten, "session")
        say(f"It calls {one} forgotten: kept out here. On a team's server it deletes nothing that it did not push.")
    say(f"Accepted: {found.accepted}." if found.accepted else "You have not accepted it.")


@click.command
@click.option("--yes", is_flag=True, help="Accept it without asking, in CI and containers.")
@json_option
def trust(*, yes: bool, as_json: bool) -> int:
    """Show what this project's memory contains, and accept it.

    A memory decides what your agents read, so one that came with a clone or a copy is not used before. Ends with 1 when
    it was not accepted.
    """
    from helix_graph import Memory

    if yes:
        Memory.trust()
    found = Memory.preview()
    show(found, as_json=as_json, render=_render_preview)
    if found.accepted:
        return 0
    if as_json or not (sys.stdin.isatty() and sys.stdout.isatty()):
        warn("Nothing was accepted: there is no terminal to ask in; helix-graph trust --yes accepts it.")
        return 1
    if not click.confirm("Let your agents read it and write to it?"):
        return 1
    Memory.trust(shown=found)
    return 0


def _render_switched(answer: dict[str, str | None]) -> None:
    reason = answer["silenced"]
    say(paused_sentence(reason) if reason else "Hooks and background jobs are running.")


@click.command
@prints(_render_switched)
def pause() -> dict[str, str | None]:
    """Pause hooks and background jobs.

    Commands that you call go on working. `resume` ends the pause.
    """
    memory = open_memory()
    memory.off()
    return {"silenced": memory.silenced}


@click.command
@prints(_render_switched)
def resume() -> dict[str, str | None]:
    """Resume hooks and background jobs."""
    memory = open_memory()
    memory.on()
    return {"silenced": memory.silenced}


def _render_examination(found: Examination) -> None:
    rows = [
        (one.kind, logged_name_or_quoted(one.file), one.problem, "fixed" if one.mended else one.remedy)
        for one in found.findings
    ]
    table(("what", "file", "problem", "remedy"), rows)
    faults = [one for one in found.findings if one.severity == "fault"]
    mended = sum(one.mended for one in faults)
    notes = count(len(found.findings) - len(faults), "note")
    say(f"{count(len(faults), 'fault')}, {mended} fixed, {notes}." if found.findings else "No problems found.")


@click.command
@click.option("--fix", is_flag=True, help="Fix what can be fixed.")
@prints(_render_examination, failed=lambda found: not found.healthy)
def doctor(*, fix: bool) -> Examination:
    """Find problems in the memory, and fix them.

    The exit code is 0 when nothing is wrong or everything was fixed, else 1.
    """
    return open_memory().doctor(fix=fix)


def _render_forgotten(report: ForgetReport) -> None:
    for session in report.sessions:
        say(logged_name_or_quoted(session))
    forgotten = ((report.sessions, "session"), (report.assertions, "assertion"))
    parts = [count(len(some), noun) for some, noun in forgotten if some]
    done = "would be forgotten" if report.dry_run else "forgotten"
    say(f"{' and '.join(parts)} {done}." if parts else f"Nothing {'would be' if report.dry_run else 'was'} forgotten.")
    if report.taken_up:
        since = "yet" if report.dry_run else "until now"
        say(f"{count(report.taken_up, 'session')} forgotten before and not proved gone {since}.")
    if report.proof:
        _render_proof(report.proof)
    if report.shared:
        changed = f"{count(len(report.shared), 'change')} in shared/ staged"
        say(f"No longer shared through git: {changed}. Next: git commit, and open a pull request")
    if report.team and not report.team.problem:
        _render_on_server(report.team)


def _render_on_server(there: ServerErasure) -> None:
    left = []
    if there.left:
        left.append(f"{count(there.left, 'object')} still there; forget them in the memory that pushed them")
    if there.others:
        are, author, them = ("is", "its author", "it") if there.others == 1 else ("are", "their authors", "them")
        by = ", ".join(map(logged_name_or_quoted, there.authors))
        left.append(
            f"{count(there.others, 'session')} pushed by {by} {are} left there; "
            f"only {author} or an administrator can delete {them}"
        )
    say(f"Team server: {count(there.deleted, 'object')} deleted; {'; '.join(left) or 'nothing of theirs is left'}.")


def _is_incomplete(report: ForgetReport) -> bool:
    return bool(report.undecided) or not all(one is None or one.whole for one in (report.proof, report.team))


@click.command
@click.argument("named", metavar="[ID]...", nargs=-1, shell_complete=session_names)
@click.option(
    "--session",
    "sessions",
    multiple=True,
    metavar="ID",
    shell_complete=session_names,
    help="The same as ID; may be repeated.",
)
@click.option("--project", metavar="NAME", help="Every session of this project.")
@click.option("--since", type=parse_time, metavar="TIME", help="Every session that began at this day or time or later.")
@click.option("--until", type=parse_time, metavar="TIME", help="Every session that began before this day or time.")
@click.option("--dry-run", is_flag=True, help="Show what would be deleted, and change nothing.")
@prints(_render_forgotten, failed=_is_incomplete)
def forget(*, named: tuple[str, ...], sessions: tuple[str, ...], **options: Any) -> ForgetReport:
    """Delete sessions everywhere, and check that they are gone.

    Deletes the sessions named by ID, and those that meet every condition. They stay deleted when their logs
    are read again. Then it searches every file of the memory for their texts. If that was interrupted or found
    something, run the command again, without options.
    """
    report = open_memory().forget(sessions=(*named, *sessions), **options)
    in_time = options["since"] or options["until"]
    if options["project"] and not (report.sessions or report.taken_up or report.undecided or in_time):
        raise NotFound(f"no session of project {options['project']!r}; `helix-graph sessions list` shows all")
    for name in map(logged_name_or_quoted, report.undecided):
        warn(f"{name} cannot be read, so it was left; forget it by --session, or see helix-graph doctor")
    if report.team and report.team.problem:
        warn(f"not deleted on the team's server: {report.team.problem}")
    return report


def _render_proof(proof: ErasureProof) -> None:
    from helix_graph.helix_db import NAME as HELIX_DB

    searched = f"{count(proof.files, 'file')} ({proof.bytes / 1_000_000:.1f} MB) for {proof.texts} of their texts"
    found = f"{count(len(proof.left), 'file')} still contain some" if proof.left else "none is left"
    say(f"Searched {searched}: {found}.")
    for trace in proof.left:
        what = "names a session" if trace.names_session else "holds their words"
        say(f"  left in {logged_name_or_quoted(trace.file)}: {count(trace.texts, 'text')}; it {what}")
    if any(trace.file == HELIX_DB for trace in proof.left):
        say(
            f"What people wrote stays in {HELIX_DB}: `topic read TOPIC` shows entries with their sources, `insight "
            "list` insights, `plan` plans; `topic edit delete` and `insight forget` delete them."
        )
    if any(trace.file != HELIX_DB for trace in proof.left):
        say("Files that are not the memory's own are left alone: delete those.")
    if proof.left:
        say("Then `helix-graph forget` searches again.")
    for one in proof.unsearched:
        say(f"  not searched: {logged_name_or_quoted(one.file)}: {one.problem}")
    if proof.shared:
        occurs, stays = ("occurs", "it stays") if proof.shared == 1 else ("occur", "they stay")
        say(f"{count(proof.shared, 'text')} also {occurs} in sessions you keep; {stays}.")
