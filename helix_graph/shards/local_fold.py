"""The sums of `helix_graph.shards.aggregate` from one memory's graph.db, through the code that answers questions.

This is the measure that the engines are held to: nodes and edges are the sums that a compile keeps, runs and situations
come from `helix_graph.causality.check_runs`, issues and remedies from `helix_graph.issues`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

from helix_graph.causality.check_runs import is_judged, situations_of, tries_a_change
from helix_graph.graph.graph_db import open_graph
from helix_graph.graph.model import MEASURED_BASES
from helix_graph.graph.observations import unpack
from helix_graph.graph.row_checksums import read_digests
from helix_graph.issues.history import Failure, History, first_occurrences
from helix_graph.issues.remedies import changes_for
from helix_graph.shards.aggregate import TABLES
from helix_graph.shards.rows import (
    LONGEST_MESSAGE,
    NO_DAY,
    failure_counts,
    issue_key,
    kinds_of_change,
    run_counts,
    run_key,
)

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator

    from helix_graph.graph.api import Graph

    Rows = Iterable[tuple[Any, ...]]


def local_sums(graph: Graph) -> dict[str, list[tuple[Any, ...]]]:
    """The rows of each of the `TABLES`, in the order of their keys.

    Raises:
        GraphNotCompiled: There is no graph yet.
    """
    with open_graph(graph.path_of_file) as connection:
        history = History(connection, graph.causality)
        projects = dict(connection.execute("SELECT episode, coalesce(project, '') FROM telling").fetchall())
        by_project: defaultdict[str, list[Failure]] = defaultdict(list)
        for one in history.recorded:
            by_project[projects[one.number]].append(one)
        failures = {project: first_occurrences(several) for project, several in by_project.items()}
        runs, situations = _runs(connection, projects)
        found: dict[str, Rows] = {
            "labels": _labels(connection),
            "edges": connection.execute(
                "SELECT s.id, t.id, e.type, weight_sum, claims, e.episodes FROM edge e"
                " JOIN node s ON s.number = source JOIN node t ON t.number = target"
            ),
            "runs": runs,
            "situations": situations,
            "issues": _issues(history, failures),
            "remedies": _remedies(connection, failures),
        }
        return {name: sorted(found[name]) for name in TABLES}


#: Labels by place and thing are not summed in graph.db: this is how its nodes are, for finer keys.
_FINER = f"""
    SELECT n.type, n.label, ?1, place, thing, n.id, sum(times), sum(times > 0 AND origin <> 'assertion'),
        sum(times > 0 AND measures), sum(times > 0 AND measures AND success)
    FROM (
        SELECT m.node, coalesce(m.place, '') AS place, iif(?1 = 'thing', m.thing, '') AS thing,
            sum(m.counted) AS times, e.origin, e.outcome = 'success' AS success,
            e.basis IN ({", ".join(f"'{basis}'" for basis in sorted(MEASURED_BASES))}) AND e.outcome <> 'unknown'
                AS measures
        FROM mention m JOIN episode e ON e.number = m.episode
        WHERE iif(?1 = 'thing', m.thing, m.place) <> '' GROUP BY m.episode, m.node, 2, 3
    ) JOIN node n ON n.number = node GROUP BY node, place, thing"""  # noqa: S608  (constants)


def _labels(connection: sqlite3.Connection) -> Iterator[tuple[Any, ...]]:
    yield from connection.execute(
        "SELECT type, label, 'kind', '', '', id, mentions, episodes, measured, successes FROM node"
    )
    for resolution in ("place", "thing"):
        yield from connection.execute(_FINER, (resolution,))


def _runs(connection: sqlite3.Connection, projects: dict[int, str]) -> tuple[Rows, Rows]:
    runs: defaultdict[tuple[Any, ...], Counter[str]] = defaultdict(Counter)
    situations: defaultdict[tuple[Any, ...], Counter[str]] = defaultdict(Counter)
    for number, body in read_digests(connection):
        for run in unpack([body])[0].runs:
            if is_judged(run):
                key, counts = (projects[number], *run_key(run)), run_counts(run)
                runs[key].update(counts)
                for one in set(situations_of(run)) if tries_a_change(run) else ():
                    situations[*key, *one].update(counts)
    return tuple(
        [(*key, *(counts[name] for name in TABLES[table].values)) for key, counts in sums.items()]
        for table, sums in (("runs", runs), ("situations", situations))
    )  # type: ignore[return-value]  # two of them


def _issues(history: History, failures: dict[str, list[Failure]]) -> Iterator[tuple[Any, ...]]:
    for (fingerprint, project), members in _by_issue(failures).items():
        failing = [one for one in members if not one.deliberate]
        sums = [sum(column) for column in zip(*map(failure_counts, failing), strict=True)] or [0] * 5
        days = sorted(history.sessions[one.number].moment[:10] or NO_DAY for one in members)
        yield (
            *(fingerprint, project),
            *(min(getattr(one, name) for one in members) for name in ("label", "check", "family", "thing")),
            *(min(one.said[:LONGEST_MESSAGE] for one in members), len(failing), len({one.number for one in failing})),
            *(len(members) - len(failing), *sums, days[0], days[-1]),
        )


def _by_issue(failures: dict[str, list[Failure]]) -> dict[tuple[str, str], list[Failure]]:
    found: defaultdict[tuple[str, str], list[Failure]] = defaultdict(list)
    for project, several in failures.items():
        for one in several:
            found[issue_key(one), project].append(one)
    return found


def _remedies(connection: sqlite3.Connection, failures: dict[str, list[Failure]]) -> Iterator[tuple[Any, ...]]:
    checks = set(
        connection.execute("SELECT episode, checked FROM run WHERE passed IS NOT NULL AND kind <> 'command'").fetchall()
    )
    for (fingerprint, project), members in _by_issue(failures).items():
        failing = [one for one in members if not one.deliberate]
        changes = changes_for(connection, failing)
        used: defaultdict[tuple[str, str], list[tuple[int, bool]]] = defaultdict(list)
        for one in failing:
            made = changes.get((one.number, one.local), [])
            for kind, change in kinds_of_change(one, made, checks=(one.number, one.check) in checks).items():
                used[kind].append((one.number, change.verified_by is not None))
        for (how, what), uses in used.items():
            sessions = len({number for number, _ in uses})
            yield (fingerprint, project, how, what, len(uses), sum(verified for _, verified in uses), sessions)
