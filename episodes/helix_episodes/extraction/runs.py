"""Runs: every time a check gave its verdict, in order, and whether one run answers for another.

A check is run again and again over a session, now on everything, now on one test. Which run shows that an earlier
failure is repaired depends on what each looked at: `helix_episodes.extraction.checks.covers` compares that.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

import msgspec

from helix_episodes.extraction.checks import Finding, Verdict, covers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from helix_episodes.extraction.account import Account
    from helix_episodes.extraction.acts import Act


#: Kinds of check that list everything they find, so that a family missing from the next run is a family repaired. A
#: compiler or a test run stops early and proves nothing by silence.
_COMPLETE = frozenset({"lint"})
#: Families after which a linter could not look further; what it then leaves out is not repaired.
_CUTS_SHORT = re.compile(r"compile|syntax|undefined|type mismatch|missing method|redeclared|unused (import|variable)")


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """One verdict of one check. ``events`` are the ids of the events it became, ``families`` those it complained of.

    ``ground`` is as much of the verdict as says what was looked at.
    """

    act: int
    position: int
    verdict: Verdict
    ground: Verdict
    events: tuple[str, ...]
    families: frozenset[str]

    @property
    def passed(self) -> bool:
        """Whether the check was content."""
        return self.verdict.passed is True


def runs_by_check(acts: Sequence[Act], account: Account) -> dict[str, list[Run]]:
    """The runs of each check that gave a verdict, in order."""
    runs: dict[str, list[Run]] = {}
    for number, act in enumerate(acts):
        for verdict in () if act.outside else act.verdicts:
            if verdict.passed is not None:
                runs.setdefault(verdict.check, []).append(_run(number, act, verdict, account))
    return runs


def _run(number: int, act: Act, verdict: Verdict, account: Account) -> Run:
    events = [account.event(name) for name in account.events_of.get(number, ())]
    mine = [event for event in events if event.check == verdict.check]
    return Run(
        act=number,
        position=act.position if act.result_position is None else act.result_position,
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


def repaired(run: Run, failure: Run, family: str) -> bool:
    """Whether ``run`` shows that a failure of that family is gone."""
    if not _covers(run.ground, failure.ground):
        return False
    if run.passed:
        return True
    complete = run.verdict.kind in _COMPLETE and not any(_CUTS_SHORT.search(name) for name in run.families)
    return complete and family not in run.families
