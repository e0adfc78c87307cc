"""Runs: every time a check gave its verdict, in order, and whether one run answers for another.

A check is run again and again over a session, now on everything, now on one test. Which run shows that an earlier
failure is repaired depends on what each looked at (its scope).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from helix_episodes.extraction.checks import Verdict

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
    """One verdict of one check. ``events`` are the ids of the events it became, ``families`` those it complained of."""

    act: int
    position: int
    verdict: Verdict
    scope: tuple[str, ...]
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
        for verdict in act.verdicts:
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
        scope=_scope(act, verdict),
        events=tuple(event.id for event in mine),
        families=frozenset(event.family for event in mine if event.family),
    )


def _scope(act: Act, verdict: Verdict) -> tuple[str, ...]:
    """What the run was narrowed to; the segments name their check as typed, the verdict as the output revealed it."""
    checks = [segment for segment in act.segments if segment.purpose == "check"]
    named = [segment for segment in checks if segment.check == verdict.check]
    kindred = [segment for segment in checks if segment.kind == verdict.kind]
    segment = next(iter(named or kindred or checks), None)
    return segment.scope if segment else ()


def covers(run: Run, failure: Run, *, tests: Sequence[str] = ()) -> bool:
    """Whether ``run`` looked at what failed in ``failure``: everything, no less, or the very tests that failed."""
    if not run.scope or set(run.scope) <= set(failure.scope):
        return True
    return bool(tests) and all(any(_names(part, test) for part in run.scope) for test in tests)


def _names(part: str, test: str) -> bool:
    """Whether an argument such as ``TestA|TestB``, ``TestShadow`` or ``tests/test_a.py::test_x`` selects the test."""
    short = test.rsplit("::", 1)[-1].split("/", 1)[0]
    return any(piece and (piece in test or short in piece) for piece in re.split(r"[|^$()]", part))


def repaired(run: Run, failure: Run, family: str, *, tests: Sequence[str] = ()) -> bool:
    """Whether ``run`` shows that a failure of that family is gone."""
    if not covers(run, failure, tests=tests):
        return False
    if run.passed:
        return True
    complete = run.verdict.kind in _COMPLETE and not any(_CUTS_SHORT.search(name) for name in run.families)
    return complete and family not in run.families
