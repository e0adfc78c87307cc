"""What one episode adds to a company's sums, as flat rows of texts and whole numbers.

The rows come from the functions that a compile uses (`helix_graph.graph.episode_facts`, `share_of`, `situations_of`,
`kinds_of_changes`), so that summing them gives what graph.db has. Each kind of row is one of `FACTS`, with columns of
its own; all stand in one table, whose `COLUMNS` are empty or 0 where they say nothing of a kind.

=========  ====================================================================================================
fact       one row for
=========  ====================================================================================================
session    the episode
label      each label that the episode mentions, at the resolutions kind, place and thing
edge       each edge that it claims
run        the runs of each check with the same command, and how many were fresh and tried a change
situation  the fresh runs of each check in each situation
failure    each failure; ``same`` is one for the copies that forked sessions repeat
remedy     each way in which a failure was repaired
=========  ====================================================================================================
"""

from __future__ import annotations

from collections import Counter, defaultdict
from hashlib import blake2b
from typing import TYPE_CHECKING, Final, NamedTuple

from helix_episodes.model import sortable_time
from helix_graph.causality.check_runs import (
    head_of,
    is_judged,
    is_task,
    rewrites,
    situations_of,
    tries_a_change,
)
from helix_graph.graph.store import share_of
from helix_graph.issues.history import REPORTED, Failure
from helix_graph.issues.remedies import Change, kinds_of_changes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from helix_graph.graph.model import EpisodeFacts
    from helix_graph.graph.observations import Trial, TrialRun
    from helix_graph.graph.store import Share

#: What every row has. ``begun`` orders sessions as `helix_graph.issues.history` does.
EVERY = ("fact", "day", "project", "session", "episode", "hash", "begun")
_RUN = ("check", "kind", "head", "task", "rewrites")
#: The columns of each kind of row after those of every row.
FACTS: Final[dict[str, tuple[str, ...]]] = {
    "session": ("agent", "model", "branch", "outcome", "basis", "log"),
    "label": ("resolution", "node", "type", "label", "place", "thing", "mentions", "episodes", "measured", "successes"),
    "edge": ("source", "target", "type", "weight", "claims"),
    "run": (*_RUN, "runs", "failed", "fresh", "fresh_failed"),
    "situation": (*_RUN, "dimension", "value", "fresh", "fresh_failed"),
    "failure": (
        *("local", "fingerprint", "same", "check", "family", "label", "path", "thing", "message", "deliberate"),
        *("repaired", "verified", "steps", "seconds", "tokens", "log", "line"),
    ),
    "remedy": ("local", "fingerprint", "same", "how", "what", "verified", "log", "line"),
}
#: The columns that are whole numbers; all others are texts.
NUMBERS = frozenset(
    (
        *("mentions", "episodes", "measured", "successes", "weight", "claims", "runs", "failed", "fresh"),
        *("fresh_failed", "task", "rewrites", "deliberate", "repaired", "verified", "steps", "seconds", "tokens"),
        "line",
    )
)
#: The columns of the one table, in their order.
COLUMNS = tuple(dict.fromkeys((*EVERY, *(name for names in FACTS.values() for name in names))))
#: Steps are shared among failures, so they are counted in thousandths.
STEP = 1000
#: A message is cut here: it says what an issue is, the log has the rest.
LONGEST_MESSAGE = 200

Row = tuple[str | int, ...]


class EpisodeId(NamedTuple):
    """What every row of an episode has after its fact."""

    day: str
    project: str
    session: str
    episode: str
    hash: str
    begun: str


def episode_id(facts: EpisodeFacts, *, project: str | None, digest: str) -> EpisodeId:
    """Where an episode belongs; ``digest`` is of all that its rows are made from. The day is that of UTC."""
    moment = sortable_time(facts.timestamp)
    return EpisodeId(
        day=moment[:10] or NO_DAY,
        project=project or "",
        session=facts.session,
        episode=facts.episode,
        hash=digest,
        begun=f"{moment} {facts.episode}",
    )


#: The day of a session without a time.
NO_DAY = "0000-00-00"


def rows_by_fact(facts: EpisodeFacts, trial: Trial | None, where: EpisodeId) -> dict[str, list[Row]]:
    """The rows of one episode by their kind, each with the columns of `EVERY` and of its kind.

    ``trial`` is None of assertions that have no episode.
    """
    recorded = facts.origin == "episode"
    about = (facts.agent, facts.model, facts.branch, facts.outcome, facts.basis, facts.log)
    found: dict[str, Iterable[Row]] = {
        "session": [tuple(one or "" for one in about)] if recorded else [],
        "label": _labels(facts),
        "edge": _edges(facts),
        "run": _runs(trial.runs) if trial else (),
        "situation": _situations(trial.runs) if trial else (),
        "failure": _failures(facts) if recorded else (),
        "remedy": _remedies(facts) if recorded else (),
    }
    return {fact: [(fact, *where, *row) for row in rows] for fact, rows in found.items()}


def _labels(facts: EpisodeFacts) -> Iterator[Row]:
    """The episode's share of each label: kind as in graph.db, place and thing summed in the same way."""
    about = (facts.outcome, facts.basis, facts.origin)
    mentions = facts.mentions
    for mentioned in (
        [(("kind", one.node, one.type, one.label, "", ""), one) for one in mentions],
        [(("place", one.node, one.type, one.label, one.place, ""), one) for one in mentions if one.place],
        [(("thing", one.node, one.type, one.label, one.place or "", one.thing), one) for one in mentions if one.thing],
    ):
        counted = ((named, int(one.counted)) for named, one in mentioned)
        share: Share[_Label, object] = share_of(about, counted, (), ())
        for named, times in share.mentions.items():
            yield (*named, times, *(share.episode if times else (0, 0, 0)))


_Label = tuple[str, str, str, str, str, str]


def _edges(facts: EpisodeFacts) -> Iterator[Row]:
    claimed = (((one.source, one.target, one.type), one.weight) for one in facts.claims)
    share: Share[object, tuple[str, str, str]] = share_of((facts.outcome, facts.basis, facts.origin), (), claimed, ())
    return ((*edge, sum(weights), len(weights)) for edge, weights in share.claims.items())


_RunKey = tuple[str, str, str, int, int]


def run_key(run: TrialRun) -> _RunKey:
    """What names a run's check once all its names are known; see `helix_graph.causality.check_runs.CheckNames`."""
    head = head_of(run.command)
    return (run.check, run.kind, head, int(is_task(run.check, head)), int(rewrites(run.command)))


def _runs(runs: Iterable[TrialRun]) -> Iterator[Row]:
    sums: defaultdict[_RunKey, Counter[str]] = defaultdict(Counter)
    for run in runs:
        if is_judged(run):
            sums[run_key(run)].update(run_counts(run))
    return ((*key, *(counts[name] for name in FACTS["run"][len(key) :])) for key, counts in sums.items())


def run_counts(run: TrialRun) -> dict[str, int]:
    """What one judged run adds to the sums of its check."""
    failed, fresh = run.passed is False, tries_a_change(run)
    return {"runs": 1, "failed": int(failed), "fresh": int(fresh), "fresh_failed": int(fresh and failed)}


def _situations(runs: Iterable[TrialRun]) -> Iterator[Row]:
    sums: defaultdict[tuple[_RunKey, str, str], list[int]] = defaultdict(lambda: [0, 0])
    for run in runs:
        if tries_a_change(run):
            for situation in set(situations_of(run)):
                counts = sums[run_key(run), situation.dimension, situation.value]
                counts[0] += 1
                counts[1] += run.passed is False
    return ((*key, dimension, value, *counts) for (key, dimension, value), counts in sums.items())


def failures_of(facts: EpisodeFacts) -> list[Failure]:
    """The failures of an episode, as `helix_graph.issues.history.History` reads them; none that people reported."""
    meant = {name for run in facts.runs if run.deliberate for name in run.events.split(" ")}
    costs = {one.local: one for one in facts.costs}
    repaired: dict[str, int] = {}
    for repair in facts.repairs:
        repaired[repair.error] = max(repaired.get(repair.error, 1), 1 + (repair.verified_by is not None))
    found = []
    for mention in facts.mentions:
        if mention.type == "error" and mention.counted and mention.family != REPORTED:
            cost = costs.get(mention.local)
            one = Failure(
                number=0,
                local=mention.local,
                fingerprint=(mention.issues or "").partition(" ")[0],
                label=mention.label,
                check=mention.check or "",
                family=mention.family or "",
                path=mention.path,
                line=mention.line,
                said=mention.message or "",
                thing=mention.thing or "",
                deliberate=mention.deliberate or mention.local in meant,
                steps=cost.steps if cost else None,
                seconds=cost.seconds if cost else None,
                tokens=cost.tokens if cost else None,
                repaired=repaired.get(mention.local, 0),
                moment=mention.timestamp,
            )
            found.append(one)
    return found


def _failures(facts: EpisodeFacts) -> Iterator[Row]:
    logs = {one.local: one.log for one in facts.mentions}
    for one in failures_of(facts):
        named = (one.issue, same_failure(one), one.check, one.family, one.label, one.path or "", one.thing)
        said = (one.said[:LONGEST_MESSAGE], int(one.deliberate))
        yield (one.local, *named, *said, *failure_counts(one), logs[one.local] or "", one.line or 0)


def failure_counts(one: Failure) -> tuple[int, int, int, int, int]:
    """Repaired, verified, steps in thousandths, seconds and tokens of one failure."""
    steps = round((one.steps or 0) * STEP)
    return (int(one.repaired > 0), int(one.repaired > 1), steps, one.seconds or 0, one.tokens or 0)


def same_failure(one: Failure) -> str:
    """A digest that a failure and its copy in a forked session share; empty where its time is not known."""
    if one.moment is None:
        return ""
    return blake2b(f"{one.moment}\0{one.label}\0{one.said}".encode(), digest_size=12).hexdigest()


def _remedies(facts: EpisodeFacts) -> Iterator[Row]:
    mentions = {one.local: one for one in facts.mentions}
    checks = {run.check: run.kind for run in facts.runs if run.passed is not None and run.kind != "command"}
    made: defaultdict[str, list[Change]] = defaultdict(list)
    for repair in facts.repairs:
        mention = mentions[repair.change]
        made[repair.error].append(
            Change(
                number=0,
                error=repair.error,
                verified_by=repair.verified_by,
                local=repair.change,
                silences=repair.silences,
                path=mention.path,
                command=mention.command,
                quote=mention.quote,
                replaced=mention.replaced,
                raw=mention.raw,
                log=mention.log,
                line=mention.line if repair.line is None else repair.line,
            )
        )
    for one in failures_of(facts):
        if not one.deliberate:
            changes = sorted(made[one.local], key=lambda each: (mentions[each.local].line or -1, each.local))
            for (how, what), change in kinds_of_changes(one, changes, checks=checks.get(one.check, "")).items():
                verified = int(change.verified_by is not None)
                yield (
                    *(one.local, one.issue, same_failure(one), how, what),
                    *(verified, change.log or "", change.line or 0),
                )
