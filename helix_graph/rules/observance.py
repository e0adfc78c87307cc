"""Where a rule could be followed in a session, and whether it was.

A session is read as a sequence of acts: files changed, commands run, commits. When a command ran is read leniently: one
asked for before commits counts when it ran at any time since the first change after the last commit, one asked for
after changes when it ran at any time after the first. Which command ran is not: every flag that the rule writes has to
be there, because `ruff check` does not do what `ruff check --fix` does. Left aside are flags that only change what is
printed, and, of a check of everything, the paths.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, NamedTuple

import msgspec
from msgspec.structs import replace

from helix_episodes.extraction.paths import role_of
from helix_episodes.extraction.shell import programs
from helix_episodes.extraction.shell.commands import Segment, parse_command
from helix_episodes.extraction.shell.purposes import program_name
from helix_episodes.model import sortable_time
from helix_graph.rules.model import Binding, RuleObservation, Target

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from helix_episodes.model import CommandRun, Decision, Episode, Event


class Act(msgspec.Struct, frozen=True, gc=False):
    """One thing done: a file that was changed, a command that was run, a check that was run, a commit."""

    at: str
    line: int
    kind: Literal["edit", "run", "check", "commit"]
    path: str = ""
    parts: tuple[Segment, ...] = ()
    check: str = ""
    check_kind: str = ""
    created: bool = False
    passed: bool | None = None


class SessionActs(msgspec.Struct, frozen=True, gc=False):
    """A session's acts in their order."""

    episode: str
    session: str
    at: str
    log: str | None
    acts: tuple[Act, ...]
    agent: str = ""


_ORDER = {"edit": 0, "run": 1, "check": 2, "commit": 3}


def acts_of_all(episodes: Iterable[Episode]) -> list[SessionActs]:
    """What each session did. What one of them shows to be another name of a task is that in all of them."""
    tasks: dict[tuple[str, str | None], set[str]] = {}
    sessions = []
    for episode in episodes:  # read one by one: together they may be more than fits
        sessions.append(acts_of(episode))
        for run in filter(lambda run: run.tasks, episode.runs):
            for part in parse_command(run.command or ""):
                tasks.setdefault((part.program, part.subcommand), set()).update(run.tasks)
    named = {key: f"{key[0]} run {next(iter(names))}" for key, names in tasks.items() if len(names) == 1}
    aliases = {key: parse_command(command) for key, command in named.items()}
    return [_by_other_names(one, aliases) for one in sessions] if aliases else sessions


def _by_other_names(session: SessionActs, aliases: dict[tuple[str, str | None], tuple[Segment, ...]]) -> SessionActs:
    """The acts, each with what its commands are another name of."""
    also = (
        tuple(other for part in act.parts for other in aliases.get((part.program, part.subcommand), ()))
        for act in session.acts
    )
    acts = (
        replace(act, parts=act.parts + other) if other else act for act, other in zip(session.acts, also, strict=True)
    )
    return replace(session, acts=tuple(acts))


def acts_of(episode: Episode) -> SessionActs:
    """What a session did, in order; what helpers did is placed by its time."""
    clock = _Clock(episode)
    acts = [*_decided(episode, clock), *_recorded(episode, clock)]
    acts.sort(key=lambda act: (act.at, act.line, _ORDER[act.kind]))
    acts = [act for place, act in enumerate(acts) if act.kind != "commit" or not _goes_on(acts[:place])]
    log = episode.provenance.log if episode.provenance else None
    agent = episode.agent.name if episode.agent else ""
    return SessionActs(episode.id, episode.session, sortable_time(episode.timestamp), log, tuple(acts), agent)


def _goes_on(before: Sequence[Act]) -> bool:
    """Whether a commit is one that a rebase, a cherry-pick or a merge makes: the work was committed earlier."""
    run = next((act for act in reversed(before) if act.kind == "run"), None)
    named = {one.subcommand for one in run.parts if one.program == "git"} if run else set()
    return bool(named & _REPLAYS) and "commit" not in named


_REPLAYS = frozenset({"rebase", "cherry-pick", "merge", "pull", "revert"})


class _Clock:
    """The time of a line of the session's log: that of the last line before it whose time is known."""

    def __init__(self, episode: Episode) -> None:
        parts: tuple[Iterable[Decision | Event | CommandRun], ...] = (episode.decisions, episode.events, episode.runs)
        known = sorted(
            (one.evidence.line, one.timestamp)
            for part in parts
            for one in part
            if one.evidence is not None and one.evidence.file is None and one.timestamp
        )
        self._lines, self._times = [line for line, _ in known], [time for _, time in known]

    def at(self, line: int, part: Decision | Event | CommandRun) -> str:
        place = bisect_right(self._lines, line) - 1
        is_own = part.evidence is not None and part.evidence.file is None
        return sortable_time(self._times[place] if is_own and place >= 0 else part.timestamp)


def _decided(episode: Episode, clock: _Clock) -> Iterator[Act]:
    """What the agent did; a commit too whose own output the log lacks, where the command that made it went well."""
    commits = {event.id for event in episode.events if event.type == "commit"}
    logged = {link.source for link in episode.links if link.target in commits}
    calls = {one.id for one in episode.events if one.type == "tool_call" and one.status not in _WENT}
    # Of these no call was made: somebody refused or stopped each.
    refused = {one.id for one in episode.decisions if one.effects and calls.issuperset(one.effects)}
    unmade = unmade_changes(episode)
    for one in episode.decisions:
        action, evidence = one.action, one.evidence
        if action is None or evidence is None:
            continue
        for line in (evidence.line, *evidence.also):
            at = clock.at(line, one)
            if action.verb in {"edit", "create", "delete"} and action.path:
                if one.id in unmade:
                    continue
                yield Act(at, line, "edit", path=action.path, created=action.verb == "create")
            elif action.verb == "run" and action.command and one.id not in refused:
                parts = parse_command(action.command)
                passed = {"success": True, "failure": False}.get(one.outcome)
                yield Act(at, line, "run", parts=parts, passed=passed)
                made = any((part.program, part.subcommand) == ("git", "commit") for part in parts)
                if one.id not in logged and passed and made:
                    yield Act(at, line, "commit")


#: A call that was made, or of which nobody knows.
_WENT = frozenset({"ok", "unknown"})


def unmade_changes(episode: Episode) -> set[str]:
    """The decisions to change a file after which it was as before: each call was refused, stopped, or failed itself."""
    failed = {
        event.id
        for event in episode.events
        if (event.type == "error" and event.tool) or (event.type == "tool_call" and event.status not in _WENT)
    }
    alone = (one for one in episode.decisions if one.evidence and not one.evidence.also)
    return {one.id for one in alone if not failed.isdisjoint(one.effects)}


def _recorded(episode: Episode, clock: _Clock) -> Iterator[Act]:
    for run in episode.runs:
        if run.evidence is not None and run.kind != "command":
            line, parts = run.evidence.line, parse_command(run.command or "")
            at = clock.at(line, run)
            yield Act(at, line, "check", parts=parts, check=run.check, check_kind=run.kind, passed=run.passed)
    for event in episode.events:
        if event.type == "commit" and event.evidence is not None:
            yield Act(clock.at(event.evidence.line, event), event.evidence.line, "commit")


class Opportunity(NamedTuple):
    """An act at which a rule could be followed, whether it was, and which run shows it or was missing.

    ``failed``: what it asks for was run in vain; ``instead``: another check of that kind was run.
    """

    act: Act
    followed: bool
    why: str = ""
    failed: bool = False
    instead: bool = False


def observations(binding: Binding, session: SessionActs) -> list[RuleObservation]:
    """Each opportunity of a session to follow a rule: a situation that the rule speaks of, never the following."""
    return [
        RuleObservation(
            session=session.session, episode=session.episode, at=act.at or session.at, followed=followed,
            what=_describe(act), why=why, failed=failed, instead=instead, log=session.log, line=act.line or None,
        )
        for act, followed, why, failed, instead in _FINDERS[binding.when](binding, session.acts)
    ]  # fmt: skip


def _before_commits(binding: Binding, acts: Sequence[Act]) -> Iterator[Opportunity]:
    begun: list[Act] = []  # what was done since the first change after the last commit
    for act in acts:
        if begun or _is_change(binding, act):
            begun.append(act)
        handed_on = act.kind == "run" and any(f"{one.program} {one.subcommand}" in _PUSHES for one in act.parts)
        if begun and (act.kind == "commit" if binding.when == "commit" else handed_on):
            yield _account(binding, act, begun)
            begun = []


def _after_changes(binding: Binding, acts: Sequence[Act]) -> Iterator[Opportunity]:
    changes = [number for number, act in enumerate(acts) if _is_change(binding, act)]
    if changes:
        yield _account(binding, acts[changes[-1]], acts[changes[0] :])


def _in_sessions(binding: Binding, acts: Sequence[Act]) -> Iterator[Opportunity]:
    """One opportunity a session that changes something: to use one of the commands, at whatever time."""
    changes = [act for act in acts if _is_change(binding, act)]
    if changes:
        yield _account(binding, changes[-1], acts)


def _account(binding: Binding, at: Act, acts: Sequence[Act]) -> Opportunity:
    """Whether the commands of a rule are among some acts, with the line of each, or what ran instead."""
    wanted = _each_command(binding)
    ran = {target: act for act in acts for target in wanted if matches(target, act)}
    lines = ", ".join(
        f"`{one.text}` in line {act.line}{' (failed)' if act.passed is False else ''}" for one, act in ran.items()
    )
    failed = [one for one, act in ran.items() if act.passed is False]
    if binding.passes and failed and (not binding.either or len(failed) == len(ran)):
        return Opportunity(at, followed=False, why=lines, failed=True)
    if ran if _is_one_enough(binding) else len(ran) == len(wanted):
        first = min(ran.values(), key=acts.index)
        later = sum(_is_change(binding, act) for act in acts[acts.index(first) + 1 :])
        again = f"; {later} change{'s' if later > 1 else ''} after it" if later and binding.when != "kind" else ""
        return Opportunity(at, followed=True, why=f"{lines}{again}")
    missing = [one for one in wanted if one not in ran]
    kinds = {part.kind for one in missing for part in _parts(one.text)} - {None}
    instead = next((act for act in reversed(acts) if act.kind == "check" and act.check_kind in kinds), None)
    other = f"; `{_describe(instead)}` ran, in line {instead.line}" if instead else ""
    joined = (" or " if _is_one_enough(binding) else ", ").join(f"`{one.text}`" for one in missing)
    return Opportunity(at, followed=False, why=f"no {joined}{other}", instead=instead is not None)


def _is_change(binding: Binding, act: Act) -> bool:
    """Whether an act changes what a rule is about: prose is nothing that checks of the code look at."""
    if act.kind != "edit" or not _in_scope(act.path, binding.scope):
        return False
    checks = all(part.kind is not None for one in binding.targets for part in _parts(one.text))
    return bool(binding.scope) or not checks or role_of(act.path) != "docs"


def _each_command(binding: Binding) -> list[Target]:
    """What has to run: of ``make lint && make test`` both. Between alternatives each is taken as a whole."""
    if _is_one_enough(binding):
        return list(binding.targets)
    parts = (
        part
        for one in binding.targets
        for part in ([Target(one.kind, each.text) for each in _parts(one.text)] if one.kind == "command" else [one])
    )
    return list(dict.fromkeys(parts))


def _is_one_enough(binding: Binding) -> bool:
    return binding.either or binding.when == "kind"


def _one_or_the_other(binding: Binding, acts: Sequence[Act]) -> Iterator[Opportunity]:
    for act in acts:
        if act.kind == "run":
            own, other = _runners(binding.targets, act), _runners(binding.others, act)
            if own is not None or other is not None:
                yield Opportunity(act, own is not None and own >= (other or 0))


def _runners(targets: Iterable[Target], act: Act) -> int | None:
    """With how many words before its program an act is one of these (``uv run`` of pytest); None where it is none."""
    words = {word for part in act.parts for word in part.text.split()}
    before = ((target, _before_program(target.text)) for target in targets)
    return max((len(one) for target, one in before if words.issuperset(one) and matches(target, act)), default=None)


def _before_program(command: str) -> list[str]:
    """What runs the program of a command: ``uv run`` of ``uv run pytest``."""
    words, programs_of_it = command.split(), {part.program for part in _parts(command)}
    place = next((place for place, word in enumerate(words) if program_name(word) in programs_of_it), 0)
    return words[:place]


def _never(binding: Binding, acts: Sequence[Act]) -> Iterator[Opportunity]:
    """One opportunity a session: to leave it alone."""
    kind = "edit" if binding.targets[0].kind == "path" else "run"
    tried = [act for act in acts if act.kind == kind]
    if tried:
        done = next((act for act in tried if any(matches(target, act) for target in binding.targets)), None)
        said = "" if done else f"not in any of {len(tried)} recorded {'changes' if kind == 'edit' else 'commands'}"
        yield Opportunity(done or tried[-1], done is None, said)


def _placed(binding: Binding, acts: Sequence[Act]) -> Iterator[Opportunity]:
    for act in acts:
        if act.created and role_of(act.path) == "test":
            yield Opportunity(act, any(matches(target, act) for target in binding.targets))


_PUSHES = frozenset({"git push", "gh pr create", "gh pr merge"})
_FINDERS = {
    "commit": _before_commits, "push": _before_commits, "change": _after_changes, "kind": _in_sessions,
    "instead": _one_or_the_other, "never": _never, "place": _placed,
}  # fmt: skip


def matches(target: Target, act: Act) -> bool:
    """Whether an act is what a target names."""
    if target.kind == "path":
        return act.kind == "edit" and _in_scope(act.path, (target.text,))
    return act.kind != "commit" and any(
        _is_same(wanted, part, act.check) for wanted in _parts(target.text) for part in act.parts
    )


@lru_cache(maxsize=1 << 16)  # sessions run the same few commands again and again
@lru_cache(maxsize=1024)
def _parts(command: str) -> tuple[Segment, ...]:
    """The commands that a rule names, without a change of folder before them or what only cuts their output."""
    parts = parse_command(command)
    return tuple(one for one in parts if one.program not in programs.SETTINGS and one.purpose != "look") or parts


def _is_same(wanted: Segment, part: Segment, check: str) -> bool:
    """Whether a command is the one that is wanted: its subcommand, every flag that changes what it does, its operands.

    Of a check of everything the operands may differ: whoever checks a part of the project ran that check.
    """
    if part.kind is not None and not _folders(part) <= _folders(wanted):
        return False
    if wanted.check is not None and wanted.check == check and not wanted.scope:
        if part.check != check:  # a task ran it, and with which flags is not in the log
            return not _flags(wanted)
        # A run of the same check need not be its subcommand: `biome lint` is not `biome ci`.
        named = set((wanted.subcommand or "").split()) <= set(part.arguments)
        return (named or part.subcommand in {None, wanted.subcommand}) and _flags(wanted) <= _flags(part)
    if wanted.program != part.program or (wanted.subcommand is not None and wanted.subcommand != part.subcommand):
        return False
    operands = _operands(wanted) - {"run"} <= _operands(part) | set((part.subcommand or "").split())
    return operands and _flags(wanted) <= _flags(part)


def _folders(part: Segment) -> set[str]:
    """The flags by which a task of another folder or package is run."""
    return {name for name, _, _ in _read_flags(part)} & _OF_A_PART


_OF_A_PART = frozenset({"--cd", "-C", "--prefix", "--cwd", "--dir", "--directory", "--filter"})


#: Flags that only change what is printed, for any program, and those of checks and formatters.
_PRINTS = frozenset({
    "--quiet", "--verbose", "--silent", "--color", "--colour", "--colors", "--progress", "--no-color", "--no-colour",
    "--no-colors", "--no-progress", "--no-pager",
})  # fmt: skip
_PRINTS_OF_CHECKS = _PRINTS | {
    "--tb", "--durations", "--reporter", "--reporters", "--output-format", "--format", "--formatter", "--pretty",
    "--no-header", "--no-summary", "--show-source", "--statistics", "--log-level",
}  # fmt: skip
#: Letters that do so where a check has them.
_PRINTS_SHORT = frozenset("qv")
#: So many letters after one dash may be as many flags; more are a word, as in ``-race``.
_MOST_LETTERS = 3
_LETTERS = re.compile(rf"-[A-Za-z]{{1,{_MOST_LETTERS}}}")


@lru_cache(maxsize=4096)
def _flags(part: Segment) -> frozenset[str]:
    """The flags that change what a command does, short ones apart and by their long name where that is known.

    Those of a check have their values.

    >>> [sorted(_flags(one)) for one in parse_command("ruff check --fix -q .; pytest -k=cart; git commit -anm x")]
    [['--fix'], ['-k cart'], ['--no-verify', '-a', '-m']]
    """
    checks = part.kind is not None
    found = set[str]()
    for name, value, _ in _read_flags(part):
        if name in (_PRINTS_OF_CHECKS if checks else _PRINTS) or (checks and name in programs.EVERYTHING):
            continue
        if value or not _LETTERS.fullmatch(name):
            found.add(f"{name} {value}".strip())
            continue
        long = programs.PROTECTED_SHORT.get(f"{part.program} {part.subcommand}") or {}
        long = long or programs.PROTECTED_SHORT.get(part.program, {})
        letters = [letter for letter in name[1:] if not (checks and letter in _PRINTS_SHORT)]
        found |= {long.get(letter, f"-{letter}") for letter in letters}
    return frozenset(found)


@lru_cache(maxsize=4096)
def _operands(part: Segment) -> frozenset[str]:
    """The words of a command that are no flags and, of a check, no value of one."""
    taken = {at for _, _, places in _read_flags(part) for at in places}
    return frozenset(word for at, word in enumerate(part.arguments) if at not in taken and word != "--")


def _read_flags(part: Segment) -> Iterator[tuple[str, str, tuple[int, ...]]]:
    """Each flag with its value, and the places of its words. Only of checks it is known which flags take one."""
    valued = programs.VALUED | programs.NARROWING if part.kind is not None else frozenset[str]()
    words = part.arguments
    for at, word in enumerate(words):
        if not word.startswith("-") or word in {"-", "--"}:
            continue
        name, _, value = word.partition("=")
        after = words[at + 1] if name == word and name in valued and at + 1 < len(words) else "-"
        if not after.startswith("-"):
            yield name, after, (at, at + 1)
        else:
            yield name, value, (at,)


def _in_scope(path: str, scope: Iterable[str]) -> bool:
    patterns = [one.removeprefix("./") for one in scope]
    return not patterns or any(_is_under(path, one) for one in patterns)


def _is_under(path: str, pattern: str) -> bool:
    """Whether a path is a file, in a folder, or fits a pattern, from the root or further down."""
    if any(sign in pattern for sign in "*?["):
        plain = pattern.replace("**/", "*").replace("**", "*")
        return fnmatchcase(path, plain) or fnmatchcase(path, f"*/{plain}")
    folder = pattern.rstrip("/")
    return (
        path == folder
        or path.startswith(f"{folder}/")
        or f"/{folder}/" in path
        or (not pattern.endswith("/") and path.endswith(f"/{folder}"))
    )


def _describe(act: Act) -> str:
    if act.kind == "edit":
        return act.path
    if act.kind == "commit":
        return "commit"
    named = (part.text for part in act.parts if act.check and part.check == act.check)
    judging = (part.text for part in act.parts if act.check_kind and part.kind == act.check_kind)
    whole = " ".join(f"{part.joiner} {part.text}".strip() for part in act.parts)
    return next(named, None) or next(judging, None) or whole or act.check
