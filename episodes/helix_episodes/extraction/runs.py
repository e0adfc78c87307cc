"""Runs: every time a check gave its verdict, in order, and whether one run answers for another.

A check is run again and again over a session, now on everything, now on one test. Which run shows that an earlier
failure is repaired depends on what each looked at: `helix_episodes.extraction.checks.covers` compares that.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

import msgspec

from helix_episodes.extraction.acts import UNDONE
from helix_episodes.extraction.checks import Finding, Verdict, covers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from helix_episodes.extraction.account import Account
    from helix_episodes.extraction.acts import Act
    from helix_episodes.model import Event


#: Kinds of check that list everything they find, so that a family missing from the next run is a family repaired. A
#: compiler or a test run stops early and proves nothing by silence.
_COMPLETE = frozenset({"lint"})
#: Families after which a linter could not look further; what it then leaves out is not repaired.
_CUTS_SHORT = re.compile(r"compile|syntax|undefined|type mismatch|missing method|redeclared|unused (import|variable)")


#: What ``git stash`` does besides putting aside: bringing back, and looking.
_UNSTASHING = frozenset({"pop", "apply", "drop", "clear", "branch"})
_LOOKING = frozenset({"list", "show"})


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """One verdict of one check. ``events`` are the ids of the events it became, ``families`` those it complained of.

    ``ground`` is as much of the verdict as says what was looked at. ``act`` is None where nobody ran it in this
    session: a failure that only words report.
    """

    act: int | None
    position: int
    verdict: Verdict
    ground: Verdict
    events: tuple[str, ...]
    families: frozenset[str]

    @property
    def passed(self) -> bool:
        """Whether the check was content."""
        return self.verdict.passed is True


def runs_by_check(acts: Sequence[Act], account: Account) -> tuple[dict[str, list[Run]], tuple[Run, ...]]:
    """The runs of each check that gave a verdict, in order; and apart those made while the changes were put aside.

    ``git stash`` takes the work away until ``git stash pop``: what a check says in between is about the tree without
    it.
    """
    runs: dict[str, list[Run]] = {}
    aside: list[Run] = []
    for run in sorted([*_made(acts, account, aside), *_told(account)], key=lambda run: run.position):
        runs.setdefault(run.verdict.check, []).append(run)
    return runs, tuple(aside)


def _made(acts: Sequence[Act], account: Account, aside: list[Run]) -> Iterator[Run]:
    stashed = False
    for number, act in enumerate(acts):
        before, stashed = stashed, _is_stashed(act, before=stashed)
        for verdict in () if act.outside else act.verdicts:
            if verdict.passed is None:
                continue
            run = _run(number, act, verdict, account)
            if before or stashed:
                aside.append(run)
            else:
                yield run


def _is_stashed(act: Act, *, before: bool) -> bool:
    """Whether the changes are put aside after a call."""
    if act.operation != "run" or act.status in {*UNDONE, "error"}:
        return before
    for segment in act.segments:
        if segment.program == "git" and (segment.subcommand or "").partition(" ")[0] == "stash":
            words = {*(segment.subcommand or "").split(), *segment.arguments[:2]}
            before = not words & _UNSTASHING and (before or not words & _LOOKING)
    return before


def _run(number: int, act: Act, verdict: Verdict, account: Account) -> Run:
    events = [account.event(name) for name in account.events_of.get(number, ())]
    mine = [event for event in events if event.check == verdict.check]
    position = act.position if act.result_position is None else act.result_position
    return _of(verdict, mine, act=number, position=position)


def _told(account: Account) -> Iterator[Run]:
    """Failures of a check that a person shows or an editor sends along, as the runs they tell of."""
    together: dict[tuple[int, str], list[str]] = {}
    for name, told in account.told.items():
        if told.verdict is not None:
            together.setdefault((account.positions[name], told.verdict.check), []).append(name)
    for (position, _), names in together.items():
        verdict = account.told[names[0]].verdict
        if verdict is not None:
            yield _of(verdict, [account.event(name) for name in names], act=None, position=position)


def _of(verdict: Verdict, mine: Sequence[Event], *, act: int | None, position: int) -> Run:
    return Run(
        act=act,
        position=position,
        verdict=verdict,
        ground=_ground(verdict),
        events=tuple(event.id for event in mine),
        families=frozenset(event.family for event in mine if event.family),
    )


def _ground(verdict: Verdict) -> Verdict:
    named = tuple(Finding(family="", message="", tests=found.tests) for found in verdict.findings)
    return Verdict(
        check=verdict.check,
        kind=verdict.kind,
        passed=None,
        scope=verdict.scope,
        task=verdict.task,
        echoed=verdict.echoed,
        findings=named,
    )


#: A long session compares every failure with every later run, and nearly all of them look at the same few things.
_covers = lru_cache(maxsize=4096)(covers)


def looked_on(run: Run) -> bool:
    """Whether a run got as far as judging: what does not compile was not linted or tested."""
    return not any(_CUTS_SHORT.search(name) for name in run.families)


def repaired(run: Run, failure: Run, family: str) -> bool:
    """Whether ``run`` shows that a failure of that family is gone."""
    if not _covers(run.ground, failure.ground):
        return False
    if run.passed:
        return True
    complete = run.verdict.kind in _COMPLETE and looked_on(run)
    return complete and family not in run.families
