"""Fragile places: files and folders after whose change a check fails more often than elsewhere; files changed together.

Everything is counted in fresh runs of checks (`helix_graph.causality.check_runs`), so a place is fragile *for a check*.
What passed there before is what was changed between a failure and the next passing run of that check: a lead, not a
recipe. Files are changed together when most sessions that change the one change the other as well; prose,
which is written at the end of everything, is left out.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import msgspec

from helix_episodes.extraction.paths import role_of
from helix_graph.causality.check_rates import ENOUGH_RUNS, CountedRuns, SituationRate, count_runs, is_more
from helix_graph.causality.check_runs import CheckNames, CheckTrial, Situation, in_time_order, is_judged

if TYPE_CHECKING:
    from helix_graph.graph.observations import Trial

#: Two files are changed together from so many sessions on, and in this share of those that change the rarer one.
_SESSIONS_TOGETHER, _SHARE_TOGETHER = 3, 0.6
#: A file that nearly every session changes is changed with every other: the share must be so many times the usual one.
_LIFT = 1.5
#: A session that changes more files changes them for many reasons.
_MOST_FILES = 40
#: How many changes are named that a check passed after, and in which share of the repairs each must have been made.
_REMEDIES, _OFTEN = 2, 0.34


class PassedAfter(msgspec.Struct, frozen=True, kw_only=True):
    """What was changed or run before a check passed again: in ``times`` of the ``repaired`` failures of a place."""

    change: str
    times: int
    repaired: int


class FragilePlace(msgspec.Struct, frozen=True, kw_only=True):
    """A file or folder and the check that fails after its change, with what the check passed after before.

    This user's own sessions are counted; ``shared_failed`` of ``shared_runs`` failed in those of others. With
    ``shared`` none of one's own has a run there, and what is counted is theirs.
    """

    path: str
    rate: SituationRate
    passed_after: tuple[PassedAfter, ...]
    shared_runs: int = 0
    shared_failed: int = 0
    shared: bool = False

    @property
    def after(self) -> str:
        """What the check passed after, in words; what was done before the same repair is counted under each."""
        words = " and ".join(f"{one.change} ({one.times} of {one.repaired})" for one in self.passed_after)
        both = sum(one.times for one in self.passed_after) > max((one.repaired for one in self.passed_after), default=0)
        return f"{words}, both in some" if both else words

    def sentence(self) -> str:
        """The reason in one line."""
        row = self.rate
        elsewhere = f"; elsewhere {row.failed_elsewhere} of {row.runs_elsewhere}" if row.runs_elsewhere else ""
        passed = f" It passed again after {self.after}." if self.after else ""
        theirs = f"; in shared sessions {self.shared_failed} of {self.shared_runs}" if self.shared_runs else ""
        counted = f"{row.check} failed in {row.failed} of {row.runs} runs after {row.after}{elsewhere}{theirs}.{passed}"
        return f"Shared sessions alone: {counted}" if self.shared else counted


class ChangedTogether(msgspec.Struct, frozen=True, kw_only=True):
    """Two files that ``together`` sessions changed, of the ``sessions`` that changed the first.

    Of the check runs after a change of the first, ``failed_alone`` of ``runs_alone`` failed where the session had not
    changed the second, ``failed_both`` of ``runs_both`` where it had.
    """

    file: str
    other: str
    together: int
    sessions: int
    failed_alone: int
    runs_alone: int
    failed_both: int
    runs_both: int


class FragileReport(msgspec.Struct, frozen=True, kw_only=True):
    """What is fragile, the worst first. Of a ``path`` that was asked for, every place that holds it is listed."""

    sessions: int
    enough: bool
    path: str | None
    places: tuple[FragilePlace, ...]
    together: tuple[ChangedTogether, ...]


def with_shared(own: FragileReport, shared: Sequence[Trial]) -> FragileReport:
    """The report on own sessions with what shared ones say of its places, and then the places of these alone."""
    counted = count_runs(shared)
    places = []
    for one in own.places:
        theirs = counted.rates.trials_in(one.rate.check, Situation(one.rate.dimension, one.rate.value))
        failed = sum(run.failed for run in theirs)
        places.append(msgspec.structs.replace(one, shared_runs=len(theirs), shared_failed=failed))
    known = {(one.path, one.rate.check) for one in own.places}
    report = fragile_report(shared, path=own.path, counted=counted)
    only = (one for one in report.places if (one.path, one.rate.check) not in known)
    return msgspec.structs.replace(own, places=(*places, *(msgspec.structs.replace(one, shared=True) for one in only)))


def fragile_report(
    sessions: Sequence[Trial], *, path: str | None = None, counted: CountedRuns | None = None
) -> FragileReport:
    """The fragile places of a project, or what is known of one ``path`` (a file or folder, relative to the project)."""
    names, trials, rates = counted or count_runs(sessions)
    wanted = path.strip("/").removeprefix("./") if path else None
    rows = [
        rates.row(check, one)
        for check in rates.usual
        for one in rates.situations(check)
        if one.dimension in {"file", "folder"}
        if wanted is None or f"{wanted}/".startswith(f"{one.value}/")
    ]
    worse = (row for row in rows if row.standing == "worse" or (row.standing == "counts only" and is_more(row)))
    chosen = rows if wanted is not None else [row for row in worse if row.runs >= ENOUGH_RUNS]
    ranked = sorted(chosen, key=lambda row: (-rates.distance(row), row.value, row.check))
    by_name = {session.episode: session for session in sessions}
    places = []
    for row in ranked if wanted is not None else rates.once(ranked):
        failing = [one for one in rates.trials_in(row.check, Situation(row.dimension, row.value)) if one.failed]
        after = _passed_after(failing, by_name, names)
        places.append(FragilePlace(path=row.value, rate=row, passed_after=after))
    together = (one for one in changed_together(sessions, trials) if wanted in {None, one.file, one.other})
    return FragileReport(
        sessions=rates.sessions, enough=rates.enough, path=wanted, places=tuple(places), together=tuple(together)
    )


def _passed_after(
    failing: Iterable[CheckTrial], sessions: dict[str, Trial], names: CheckNames
) -> tuple[PassedAfter, ...]:
    """What was changed between each failure and the next passing run of its check; the commonest first."""
    found: Counter[str] = Counter()
    repaired = 0
    for one in failing:
        changed: dict[str, None] = {}
        for run in sessions[one.episode].runs[one.place + 1 :]:
            if run.kind == "format" and run.passed:
                changed[f"a run of {run.check}"] = None
            elif is_judged(run) and names.of(run).removesuffix(" --fix") == one.check.removesuffix(" --fix"):
                changed |= dict.fromkeys(f"a change of {path}" for path, _ in run.changed)
                if names.of(run) != one.check:
                    changed[f"a run of {names.of(run)}"] = None
                if run.passed:
                    found.update(list(changed))
                    repaired += 1
                    break
    most = sorted(found.items(), key=lambda each: (-each[1], each[0]))
    return tuple(
        PassedAfter(change=change, times=times, repaired=repaired) for change, times in most[:_REMEDIES] if times > 1
    )


def changed_together(sessions: Sequence[Trial], trials: Sequence[CheckTrial]) -> Iterator[ChangedTogether]:
    """The pairs of files that most sessions change together, in the order of how many do."""
    changed: dict[str, set[str]] = {}
    until: dict[tuple[str, int], frozenset[str]] = {}
    for session in in_time_order(sessions):
        files: set[str] = set()
        for place, run in enumerate(session.runs):
            files.update(path for path, _ in run.changed if role_of(path) != "docs")
            until[session.episode, place] = frozenset(files)
        if 1 < len(files) <= _MOST_FILES:
            changed[session.episode] = files
    alone = Counter(path for files in changed.values() for path in files)
    both = Counter(pair for files in changed.values() for pair in combinations(sorted(files), 2))
    of_file: dict[str, list[CheckTrial]] = defaultdict(list)
    for one in trials:
        for path in one.changed:
            of_file[path].append(one)
    for pair, together in sorted(both.items(), key=lambda each: (-each[1], each[0])):
        found = []
        for file, other in (pair, pair[::-1]):
            expected = max(_SHARE_TOGETHER, _LIFT * alone[other] / len(changed))
            if together >= max(_SESSIONS_TOGETHER, expected * alone[file]):
                runs = {
                    holds: [one for one in of_file[file] if (other in until[one.episode, one.place]) is holds]
                    for holds in (False, True)
                }
                found.append(
                    ChangedTogether(
                        file=file,
                        other=other,
                        together=together,
                        sessions=alone[file],
                        failed_alone=sum(one.failed for one in runs[False]),
                        runs_alone=len(runs[False]),
                        failed_both=sum(one.failed for one in runs[True]),
                        runs_both=len(runs[True]),
                    )
                )
        if found:  # the way round that says more: what followed when the other was left out
            yield max(found, key=lambda one: (one.failed_alone, one.runs_alone, -one.sessions))
