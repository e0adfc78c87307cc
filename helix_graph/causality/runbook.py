"""The runbook: how this project is tested, linted, built and formatted, as its sessions did it.

Commands with their pass rates and typical durations, what had to run before a check could, and corrections: a command
that fails here, and what worked instead. A correction is listed from two sessions on, or where nobody has written one
down: an agent that meets the same wrong subcommand in every session has no other way to learn of it.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import median
from typing import TYPE_CHECKING, Literal, NamedTuple

import msgspec

from helix_episodes.extraction.shell.commands import parse_command
from helix_episodes.model import RunKind
from helix_episodes.normalization import shorten
from helix_graph.causality.check_runs import JUDGING, head_of, typical_command
from helix_graph.causality.workarounds import common_workaround, way_words, workarounds_in

if TYPE_CHECKING:
    from helix_episodes.model import CommandRun, Episode, Event
    from helix_graph.causality.workarounds import CommonWorkaround, Workaround

#: The order in which kinds of command are listed.
KINDS: tuple[RunKind, ...] = ("test", "lint", "typecheck", "build", "format")
#: Maximum number of commands of a kind that are shown to a reader.
_MOST = 4
#: A command that is not written down is missing from so many of the sessions on (a share).
_USUAL = 0.1
#: A command is listed from so many sessions on, in a memory of ten sessions and more.
_SESSIONS, _OF_SESSIONS = 2, 10
#: What is missing is said of one file only, and says nothing of the command.
_OF_ONE_FILE = re.compile(
    r"no such file|not found|no glob match|unknown (?:revision|path)|exit code|in the way|ignored by"
)
_MISSING_PART = re.compile(
    r"ModuleNotFound|missing (?:module|package|tool|command)|[Cc]annot find (?:module|package)|command not found|"
    r"not trusted|not installed|no such (?:command|program)|could not import"
)
_SETS_UP = re.compile(r"\b(?:install|ci|sync|trust|download|bootstrap|setup|restore|generate|login|up|build)\b")


class RunbookCommand(msgspec.Struct, frozen=True, kw_only=True):
    """One way to run a check or a formatter: how often, in how many sessions, and how it ended.

    ``passed`` of the ``judged`` runs passed. ``seconds`` is the median duration, where durations are known.
    ``by_commit`` says that it ran as a hook of ``git commit``. ``also`` are commands of the tasks that it turned out to
    run under this name (``mise run lint-fix`` of ``mise run format``).
    """

    kind: RunKind
    command: str
    directory: str | None
    runs: int
    sessions: int
    passed: int
    judged: int
    seconds: float | None
    by_commit: bool = False
    also: tuple[str, ...] = ()


class Prerequisite(msgspec.Struct, frozen=True, kw_only=True):
    """What had to run first: after ``problem`` the check passed once ``first`` had run, in so many sessions.

    ``episodes`` are these sessions' ids.
    """

    check: str
    first: str
    problem: str
    sessions: int
    episodes: tuple[str, ...] = ()


class CommandCorrection(msgspec.Struct, frozen=True, kw_only=True):
    """A command that fails here with ``problem``, in so many sessions, and what worked ``instead`` (None: nothing yet).

    ``change`` says how that differs, ``worked`` counts the sessions in which it did.
    """

    command: str
    problem: str
    sessions: int
    instead: str | None
    change: str
    worked: int
    log: str | None
    line: int | None


class Runbook(msgspec.Struct, frozen=True, kw_only=True):
    """What the sessions show of how this project is worked on; the most used commands of each kind come first."""

    sessions: int
    commands: tuple[RunbookCommand, ...]
    prerequisites: tuple[Prerequisite, ...]
    corrections: tuple[CommandCorrection, ...]

    def usual(self) -> Iterator[RunbookCommand]:
        """The commands that a reader needs: of each kind the most used, in several sessions if there are enough."""
        least = _SESSIONS if self.sessions >= _OF_SESSIONS else 1
        failing = {one.command for one in self.corrections}
        for kind in KINDS:
            known = [one for one in self.commands if one.kind == kind and one.sessions >= least]
            yield from [one for one in known if one.judged or one.command not in failing][:_MOST]


def runbook_of(episodes: Sequence[Episode], ways: Mapping[str, Mapping[str, Workaround]] | None = None) -> Runbook:
    """The runbook of a project, whose ``episodes`` are in order of time.

    ``ways`` are the workarounds of each episode, where they are known already.
    """
    known = {one.id: workarounds_in(one) for one in episodes} if ways is None else ways
    once = _without_repeats(episodes)
    return Runbook(
        sessions=len(episodes),
        commands=tuple(_commands(once)),
        prerequisites=tuple(_prerequisites(once)),
        corrections=tuple(_corrections(once, known)),
    )


def _without_repeats(episodes: Iterable[Episode]) -> list[Episode]:
    """The episodes, each run in the first that has it: a forked session repeats those of the one before it."""
    first: dict[tuple[str, str, str | None], str] = {}
    return [
        msgspec.structs.replace(
            episode,
            runs=tuple(
                run
                for run in episode.runs
                if run.timestamp is None
                or first.setdefault((run.timestamp, run.check, run.command), episode.id) == episode.id
            ),
        )
        for episode in episodes
    ]


class _Use(NamedTuple):
    episode: str
    run: CommandRun


def _commands(episodes: Sequence[Episode]) -> Iterator[RunbookCommand]:
    groups: dict[tuple[RunKind, str, bool], list[_Use]] = defaultdict(list)
    for episode in episodes:
        for run in episode.runs:
            by_commit = bool(_COMMIT.match(run.command or ""))
            name = run.check if by_commit else head_of(run.command)
            if run.kind in KINDS and name:
                groups[run.kind, name, by_commit].append(_Use(episode.id, run))
    for kind in KINDS:
        rows = [_command(kind, name, uses, by_commit=hook) for (its, name, hook), uses in groups.items() if its == kind]
        # A hook that only speaks when it fails has no rate.
        rows = [row for row in rows if row.passed or not row.by_commit]
        yield from sorted(rows, key=lambda row: (row.by_commit, -row.sessions, -row.runs, row.command))


#: A commit, also behind one wrapper (``rtk git commit``).
_COMMIT = re.compile(r"(?:[\w.-]+ )?git\b(?:\s+-C\s+\S+)?\s+commit\b")


def _command(kind: RunKind, name: str, uses: Sequence[_Use], *, by_commit: bool) -> RunbookCommand:
    seconds = [use.run.seconds for use in uses if use.run.seconds]
    folder, times = Counter(use.run.directory for use in uses).most_common(1)[0]
    return RunbookCommand(
        kind=kind,
        command=name if by_commit else typical_command(use.run.command or "" for use in uses),
        directory=folder if times * 2 > len(uses) and folder and _PLAIN_FOLDER.fullmatch(folder) else None,
        runs=len(uses),
        sessions=len({use.episode for use in uses}),
        passed=sum(use.run.passed is True for use in uses),
        judged=sum(use.run.passed is not None for use in uses),
        seconds=median(seconds) if seconds else None,
        by_commit=by_commit,
        also=tuple(sorted({f"{name.split(maxsplit=1)[0]} run {task}" for use in uses for task in use.run.tasks})),
    )


_PLAIN_FOLDER = re.compile(r"[\w@.-]+(?:/[\w@.-]+)*")


# What has to run first.


def _prerequisites(episodes: Iterable[Episode]) -> Iterator[Prerequisite]:
    found: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    for episode in episodes:
        events = {event.id: event for event in episode.events}
        for place, run in enumerate(episode.runs):
            problem = next((event for event in run.events_among(events) if _is_missing(event)), None)
            again = next((one for one in episode.runs[place + 1 :] if one.check == run.check and one.passed), None)
            if run.kind not in JUDGING or problem is None or again is None:
                continue
            for first in _set_up_between(episode, run, again):
                found[run.check, first][episode.id] = problem.message or problem.family or ""
    ranked = sorted(found.items(), key=lambda each: (-len(each[1]), each[0]))
    for (check, first), problems in ranked:
        yield Prerequisite(
            check=check,
            first=first,
            problem=_one_line(next(iter(problems.values()))),
            sessions=len(problems),
            episodes=tuple(sorted(problems)),
        )


def _is_missing(event: Event) -> bool:
    return event.type == "error" and bool(_MISSING_PART.search(f"{event.family} {event.message}"))


def _set_up_between(episode: Episode, run: CommandRun, again: CommandRun) -> Iterator[str]:
    """The commands between two runs that put something in place."""
    if not (run.evidence and again.evidence):
        return
    for decision in episode.decisions:
        action = decision.action
        text = action.command if action and action.verb == "run" else None
        at = decision.evidence
        if text and at and at.file == run.evidence.file and run.evidence.line < at.line <= again.evidence.line:
            for part in parse_command(text):
                if part.purpose == "change" and _SETS_UP.search(part.text):
                    yield part.text


# Corrections.


class _Failure(NamedTuple):
    episode: str
    command: str
    way: Workaround | None
    event: Event
    log: str | None
    plain: bool


def _corrections(
    episodes: Iterable[Episode], known: Mapping[str, Mapping[str, Workaround]]
) -> Iterator[CommandCorrection]:
    found: dict[tuple[str, str], list[_Failure]] = defaultdict(list)
    for episode in episodes:
        events = {event.id: event for event in episode.events}
        ways = known[episode.id]
        log = episode.provenance.log if episode.provenance else None
        for run in episode.runs:
            # Only a command that failed, or a check that could not start, says nothing of the work.
            ran = run.kind != "command" and run.passed is not None
            looks = ran or all(part.purpose == "look" for part in parse_command(run.command or ""))
            for event in run.events_among(events):
                problem = event.family or event.message or ""
                way = ways.get(event.id)
                way = None if way is not None and way.how == "again" else way
                # What is missing is put in place, not run otherwise: that is a prerequisite.
                of_one = _OF_ONE_FILE.search(problem) or _is_missing(event)
                if run.command and problem and not event.tool:
                    failure = _Failure(episode.id, run.command, way, event, log, plain=not (looks or of_one))
                    found[head_of(run.command), problem].append(failure)
    ranked = sorted(found.items(), key=lambda each: (-len({one.episode for one in each[1]}), each[0]))
    named: set[str] = set()
    for (command, problem), every in ranked:
        # What judged the work, only looks or is of one file is worth a line where something worked instead.
        failures, best = every, _usual_way(every)
        if best is None:
            failures = [one for one in every if one.plain]
            best = _usual_way(failures)
        sessions = len({one.episode for one in failures})
        if sessions < _SESSIONS or command in named:
            continue
        named.add(command)
        newest = failures[-1]
        yield CommandCorrection(
            command=typical_command(one.command for one in failures),
            problem=_one_line(newest.event.message or problem),
            sessions=sessions,
            instead=best.command if best else None,
            change=way_words(best.how, _code(best.what)) if best else "",
            worked=best.worked if best else 0,
            log=newest.log,
            line=newest.event.evidence.line if newest.event.evidence else None,
        )


def _usual_way(failures: Sequence[_Failure]) -> CommonWorkaround | None:
    """What worked instead, if it did in half of the sessions."""
    best = common_workaround((one.episode, one.way) for one in failures)
    return best if best is not None and 2 * best.worked >= len({one.episode for one in failures}) else None


def _one_line(message: str) -> str:
    words = " ".join("".join(sign if sign.isprintable() else " " for sign in message).split()).rstrip(".")
    return shorten(words, limit=_LONGEST_PROBLEM)


_LONGEST_PROBLEM = 100


# What is written about it.

WrittenStanding = Literal["runs here", "fails here", "noted", "not seen here", "not written"]


class WrittenCommand(msgspec.Struct, frozen=True, kw_only=True):
    """A command and whether a file names it; ``line`` is where, ``detail`` what the sessions show.

    One that fails here is *noted* where its line names what works instead.
    """

    command: str
    standing: WrittenStanding
    line: int | None
    detail: str


class RunbookCheck(msgspec.Struct, frozen=True, kw_only=True):
    """A file of instructions compared with what the sessions did."""

    file: str
    commands: tuple[WrittenCommand, ...]

    @property
    def differs(self) -> bool:
        """Whether the file should change: a command in it fails here, or one that is used is not in it."""
        return any(one.standing in {"fails here", "not written"} for one in self.commands)


_INLINE = re.compile(r"`([^`\n]{2,200})`")
_FENCE = re.compile(r"^\s*(?:```|~~~)")


def compare_with(runbook: Runbook, text: str, *, file: str) -> RunbookCheck:
    """What a file of instructions (AGENTS.md and the like) says of commands, next to what the sessions did."""
    ordered = sorted(runbook.commands, key=lambda one: not one.by_commit)  # typed by hand counts before a hook
    known = {one.command if one.by_commit else head_of(one.command): one for one in ordered}
    wrong = {head_of(one.command): one for one in runbook.corrections}
    seen = known | {other: one for one in ordered for other in one.also if other not in known}
    written: dict[str, int] = {}
    lines = text.splitlines()
    for line, command in _commands_in(text):
        written.setdefault(command, line)
    found = []
    for command, line in written.items():
        if command in wrong:
            instead = wrong[command].instead
            standing: WrittenStanding = "noted" if instead and f"`{instead}`" in lines[line - 1] else "fails here"
            found.append(WrittenCommand(command=command, standing=standing, line=line, detail=_fails(wrong[command])))
        elif command in seen:
            found.append(WrittenCommand(command=command, standing="runs here", line=line, detail=_ran(seen[command])))
        elif any(part.purpose in {"check", "format"} for part in parse_command(command)):
            found.append(WrittenCommand(command=command, standing="not seen here", line=line, detail=""))
    for command, one in known.items():
        if (
            written.keys().isdisjoint((command, *one.also))
            and one.judged
            and not one.by_commit
            and one.sessions >= max(_SESSIONS, _USUAL * runbook.sessions)
        ):
            found.append(WrittenCommand(command=command, standing="not written", line=None, detail=_ran(one)))
    for command, failing in wrong.items():
        if command not in written and failing.instead:
            name = failing.command
            found.append(WrittenCommand(command=name, standing="not written", line=None, detail=_fails(failing)))
    return RunbookCheck(file=file, commands=tuple(found))


def _commands_in(text: str) -> Iterator[tuple[int, str]]:
    """The commands that a text names, in code spans and code blocks, each with its line."""
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        if _FENCE.match(line):
            fenced = not fenced
            continue
        for piece in [line.partition(" #")[0].strip().removeprefix("$ ")] if fenced else _INLINE.findall(line):
            for part in parse_command(piece):
                name = head_of(part.text)
                if " " in name or (fenced and part.purpose in {"check", "format"}):
                    yield number, name


def _ran(one: RunbookCommand) -> str:
    return f"{one.passed} of {one.judged} runs passed in {one.sessions} {_sessions(one.sessions)}"


def _fails(one: CommandCorrection) -> str:
    instead = f"; {one.instead} worked instead" if one.instead else ""
    return f"{one.problem} ({one.sessions} {_sessions(one.sessions)}){instead}"


def _sessions(number: int) -> str:
    return "session" if number == 1 else "sessions"


TITLES: dict[RunKind, str] = {
    "test": "Test",
    "lint": "Lint",
    "typecheck": "Check types",
    "build": "Build",
    "format": "Format",
    "command": "Run",
}


def markdown_of(runbook: Runbook) -> str:
    """The runbook as a section for AGENTS.md; what logs say is code, which no reader takes for an instruction."""
    lines = ["## Commands", "", "Recorded from the logs of sessions: what ran and what it said, not instructions.", ""]
    for one in runbook.usual():
        where = f" (in {_code(one.directory)})" if one.directory else ""
        what = f"{_code(one.command)} runs at `git commit`" if one.by_commit else _code(one.command)
        took = f", about {one.seconds:.0f} s" if one.seconds and one.seconds >= 1 else ""
        lines.append(f"- {TITLES[one.kind]}: {what}{where} \u2014 {_ran(one)}{took}.")
    if runbook.prerequisites:
        lines += ["", "What has to run first:", ""]
        lines += [
            f"- {_code(one.first)} before {_code(one.check)}, else: {_code(one.problem)}"
            for one in runbook.prerequisites
        ]
    if runbook.corrections:
        lines += ["", "What fails here:", ""]
        for wrong in runbook.corrections:
            instead = f" Worked instead: {wrong.change}, as in {_code(wrong.instead)}." if wrong.instead else ""
            sessions = f"{wrong.sessions} {_sessions(wrong.sessions)}"
            lines.append(f"- {_code(wrong.command)} fails: {_code(wrong.problem)} ({sessions}).{instead}")
    return "\n".join(lines) + "\n"


def _code(text: str) -> str:
    r"""A text on one line as code that it cannot end.

    >>> _code("rm `x`\nIgnore that")
    "`rm 'x' Ignore that`"
    """
    return f"`{' '.join(text.replace('`', chr(39)).split())}`"
