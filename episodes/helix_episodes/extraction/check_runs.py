"""Runs of checks: what each looked at, what it shows of an earlier failure, and which commands and edits concern it.

A run repairs a failure when it looked at what failed (`helix_episodes.extraction.checks.covers`), whatever else passed.
One on scratch files, on changes that were set aside, or on code that was broken to see a test fail says nothing.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from helix_episodes.extraction.calls import UNDONE
from helix_episodes.extraction.checks import CheckFinding, Verdict, covers
from helix_episodes.extraction.paths import file_name, role_of
from helix_episodes.extraction.shell.programs import INTERPRETERS, SHELLS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from helix_episodes.extraction.calls import ParsedCall
    from helix_episodes.extraction.shell.commands import Segment
    from helix_episodes.model import Decision, Event

#: Kinds of check that list everything they find, so that a family missing from the next run is a family repaired. A
#: compiler or a test run stops early and proves nothing by silence.
_COMPLETE = frozenset({"lint"})
#: Families after which a linter could not look further; what it then leaves out is not repaired.
_CUTS_SHORT = re.compile(r"compile|syntax|undefined|type mismatch|missing method|redeclared|unused (import|variable)")
#: What ``git stash`` does besides setting aside: bringing back, and looking.
_UNSTASHING = frozenset({"pop", "apply", "drop", "clear", "branch"})
_LOOKING = frozenset({"list", "show"})
_GIT_CHANGES = frozenset({
    "apply", "checkout", "cherry-pick", "merge", "mv", "pull", "rebase", "reset", "restore", "revert", "rm", "stash",
    "stash apply", "stash pop", "stash push",
})  # fmt: skip
_PACKAGE_MANAGERS = ("pip", "npm", "yarn", "pnpm", "uv", "poetry", "bundle")
#: Commands that change the files a check looks at as surely as an edit does; None means any subcommand.
_CHANGES_FILES: dict[str, frozenset[str] | None] = {
    **dict.fromkeys(("rm", "mv", "cp", "sed", "perl", "patch", "ln", "cat", "tee", "echo", "printf")),
    **dict.fromkeys(_PACKAGE_MANAGERS),
    "git": _GIT_CHANGES,
    "go": frozenset(["get", "generate", "mod"]),
    "cargo": frozenset(["add", "update", "remove"]),
}
#: What managers of packages do elsewhere: at the registry, with an account, in their own folders.
_ELSEWHERE = frozenset({
    "access", "cache", "config", "deprecate", "dist-tag", "login", "logout", "org", "owner", "ping", "profile",
    "publish", "team", "token", "unpublish", "whoami",
})  # fmt: skip
#: Where people try things out; what is done there changes nothing of the project.
_TEMPORARY = ("/tmp", "/private/tmp", "/var/", "$TMP")  # noqa: S108  (read, not used)
_SCRATCH = (*_TEMPORARY, "~")
#: Flags with which a checker rewrites what it finds.
_REWRITES = frozenset({"--fix", "--write", "--update-snapshots", "--unsafe-fixes", "-u"})
#: How tasks are called that rewrite what a linter complains of: ``lint:fix``, ``fix-lint``, ``eslint-fix``.
_REWRITING_TASK = frozenset({"fix", "autofix", "write"})
#: Kinds of check whose complaints a tool can repair by itself.
_REPAIRABLE = frozenset({"lint", "format"})
#: Languages in which whatever tests, lints or builds a package has compiled it.
_COMPILED = frozenset({"go", "rs", "java", "kt", "cs", "swift", "c", "cc", "cpp", "scala", "fs"})
#: Languages in which only the type check and the build look at types.
_TYPED = frozenset({"ts", "tsx", "mts", "cts", "vue", "svelte", "py"})


class CheckRun(msgspec.Struct, frozen=True, kw_only=True):
    """One verdict of one check. ``events`` are the ids of the events it became, ``families`` those it complained of.

    ``ground`` is the part of the verdict that says what was checked. ``call`` is None where no one ran it in this
    session: a failure that only words report.
    """

    call: int | None
    position: int
    verdict: Verdict
    ground: Verdict
    events: tuple[str, ...]
    families: frozenset[str]

    @property
    def passed(self) -> bool:
        """Whether the check passed."""
        return self.verdict.passed is True


class RunComplaint(NamedTuple):
    """What a run names of a failure: files, lines of source without their blanks, and tests; with its whole output."""

    files: frozenset[str]
    lines: frozenset[str]
    tests: frozenset[str]
    output: str

    def named_by(self, output: str) -> frozenset[str]:
        """Which of the files an output has at all: not every checker repeats the file on each line."""
        return frozenset(one for one in self.files if one in output)


def is_stashed(call: ParsedCall, *, before: bool) -> bool:
    """Whether the changes are set aside after a call; of one that failed, the parts before its last verdict ran."""
    if call.operation != "run" or call.status in UNDONE:
        return before
    ran = len(call.segments)
    if call.status == "error":
        ran = max((verdict.segment for verdict in call.verdicts if verdict.segment is not None), default=0)
    return is_stashed_after(call.segments[:ran], before=before)


def is_stashed_after(segments: Sequence[Segment], *, before: bool) -> bool:
    """Whether the changes are set aside after these parts of a command."""
    for segment in segments:
        if segment.program == "git" and (segment.subcommand or "").partition(" ")[0] == "stash":
            words = {*(segment.subcommand or "").split(), *segment.arguments[:2]}
            before = not words & _UNSTASHING and (before or not words & _LOOKING)
    return before


#: The words with which git brings a file back to what it was before.
_RESTORING = frozenset({"checkout", "restore", "apply", "reset"})


def is_put_back(call: ParsedCall, verdict: Verdict) -> bool:
    """Whether a command changed the tree before a check and put it back after: code broken to see a test fail."""
    if verdict.segment is None:
        return False
    before, after = call.segments[: verdict.segment], call.segments[verdict.segment + 1 :]
    changed = any(part.program != "git" and (changes_repository(part) or part.target) for part in before)
    return changed and any(_puts_back(part, before) for part in after)


def is_trial(call: ParsedCall, verdict: Verdict) -> bool:
    """Whether a check ran on nothing but scratch files, which are no part of the project."""
    if verdict.segment is None or verdict.segment >= len(call.segments):
        return False
    part = call.segments[verdict.segment]
    operands = [word for word in part.arguments if not word.startswith("-")]
    scripted = part.program in INTERPRETERS | SHELLS
    paths = operands[:1] if scripted else [word for word in part.scope if not word.startswith("-")]
    return bool(paths) and all(word.startswith(_TEMPORARY) for word in paths)


def _puts_back(part: Segment, before: Sequence[Segment]) -> bool:
    if part.program == "git":
        return part.subcommand in _RESTORING
    if part.program in {"cp", "mv"}:
        copied = {word for one in before if one.program in {"cp", "mv"} for word in one.arguments}
        return bool(copied.intersection(part.arguments))
    # The same edit again, backwards, is the same program on the same file.
    edited = {one.arguments[-1] for one in before if one.program in {"sed", "perl"} and one.arguments}
    return part.program in {"sed", "perl"} and bool(part.arguments) and part.arguments[-1] in edited


def run_of(verdict: Verdict, events: Sequence[Event], *, call: int | None, position: int) -> CheckRun:
    """The run that a verdict is of, with the events it became."""
    named = tuple(CheckFinding(family="", message="", tests=found.tests) for found in verdict.findings)
    ground = Verdict(
        check=verdict.check,
        kind=verdict.kind,
        passed=None,
        scope=verdict.scope,
        task=verdict.task,
        echoed=verdict.echoed,
        findings=named,
    )
    return CheckRun(
        call=call,
        position=position,
        verdict=verdict,
        ground=ground,
        events=tuple(event.id for event in events),
        families=frozenset(event.family for event in events if event.family),
    )


#: A long session compares every failure with every later run, and nearly all of them look at the same few things.
_covers = lru_cache(maxsize=4096)(covers)


def looked_on(run: CheckRun) -> bool:
    """Whether a run got as far as judging: what does not compile was not linted or tested."""
    return not any(_CUTS_SHORT.search(name) for name in run.families)


def shows_repaired(run: CheckRun, failure: CheckRun, family: str) -> bool:
    """Whether ``run`` shows that a failure of that family is gone."""
    if run.passed:
        could_show = not run.verdict.only_cached  # what did not run shows nothing
    else:
        could_show = run.verdict.kind in _COMPLETE and family not in run.families and looked_on(run)
    return could_show and _covers(run.ground, failure.ground)  # last: it takes longest, and most runs fail alike


def does_not_compile(error: Event, kind: str | None) -> bool:
    """Whether an error keeps code from being compiled, or from passing the type check."""
    return kind in {"build", "typecheck"} or cuts_short(error.family or "")


def cuts_short(family: str) -> bool:
    """Whether a kind of error ends a run before it has judged anything: what does not compile is not tested."""
    return bool(_CUTS_SHORT.search(family))


def settles(run: CheckRun, failure: CheckRun, error: Event) -> bool:
    """Whether a run of another check shows that a failure is gone."""
    if not run.passed or run.call is None:
        return False
    task, failed = run.verdict.task, failure.verdict.task
    if task is not None and task == failed:
        return _covers(run.ground._replace(check=failure.ground.check), failure.ground)
    # What a rewriting task could not repair, it would have reported.
    related = task is not None and failed is not None and _is_of_task(task, failed)
    return related or (does_not_compile(error, failure.verdict.kind) and _compiled(run, error.path))


def _compiled(run: CheckRun, path: str | None) -> bool:
    """Whether a run that passed must have compiled a file, or checked its types."""
    language = file_name(path or "").rpartition(".")[2].lower()
    if path is None or language not in _COMPILED | _TYPED:
        return False
    if run.verdict.kind == "build" and role_of(path) == "test":
        return False  # a build leaves the tests out
    if run.verdict.kind not in {"build", "typecheck"} and (language in _TYPED or run.verdict.kind == "format"):
        return False
    folder = folder_of(path)
    scope = [word.removeprefix("./").removesuffix("...").rstrip("/") for word in run.verdict.scope if word[:1] != "-"]
    return not scope or any(f"{folder}/".startswith(f"{part}/") or part in {"", "."} for part in scope)


def folder_of(path: str) -> str:
    """The folder of a file, as a check names it.

    >>> folder_of("./api/cart.go"), folder_of("main.go")
    ('api', '')
    """
    return path.removeprefix("./").rpartition("/")[0]


def _is_of_task(task: str, failed: str) -> bool:
    """Whether two tasks are one, or one rewrites what the other complains of: ``bun lint:fix`` and ``bun lint``."""
    if task == failed:
        return True
    longer, shorter = (task, failed) if len(task) > len(failed) else (failed, task)
    rest = re.split(r"[^a-z]+", longer.removeprefix(shorter))
    return longer.startswith(shorter) and not _REWRITING_TASK.isdisjoint(rest)


def rewrites(segment: Segment) -> bool:
    """Whether a command rewrites what it complains of: by a flag, or by the name of the task."""
    task = re.split(r"[^a-z]+", (segment.subcommand or "").lower())
    return bool(
        _REWRITES.intersection(segment.flags) or (segment.purpose == "check" and _REWRITING_TASK.intersection(task))
    )


def is_there_to_repair(segment: Segment, kind: str | None) -> bool:
    """Whether a command is there to repair what a check of that kind complains of."""
    return kind in _REPAIRABLE and (rewrites(segment) or (kind == "format" and segment.purpose == "format"))


def touches(decision: Decision, path: str | None) -> bool:
    """Whether a decision is about the file that ``path`` ends in; tools and checks give different parts of a path."""
    own = decision.action.path if decision.action else None
    return bool(own and path) and file_name(own or "") == file_name(path or "")


def is_unrelated(decision: Decision, kind: str | None) -> bool:
    """Whether an edit is of no concern to a check: prose to anything but a formatter, tests to a mere build."""
    role = decision.action.role if decision.action else None
    return (role == "docs" and kind != "format") or (role == "test" and kind == "build")


def changes_repository(segment: Segment) -> bool:
    """Whether a command is known to change files of the repository."""
    subcommands = _CHANGES_FILES.get(segment.program, frozenset())
    if segment.purpose != "change" or (subcommands is not None and segment.subcommand not in subcommands):
        return False
    if segment.program in _PACKAGE_MANAGERS and (segment.subcommand or "").partition(" ")[0] in _ELSEWHERE:
        return False
    if "--abort" in segment.arguments:
        return False
    paths = [segment.target] if segment.target else [part for part in segment.arguments if not part.startswith("-")]
    return not paths or not all(part.startswith(_SCRATCH) for part in paths)
