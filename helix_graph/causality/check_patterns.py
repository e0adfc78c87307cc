"""Patterns counted in runs of checks: what a check is followed by after a change, and what answers its failures.

Two kinds of row. A *change* row says how often a check passes when it runs after a change of some sort: in a folder, of
many files, of a few lines. It counts fresh runs only. An *answer* row says how often a check that
failed passes at its next run, by what was done in between; of one kind of failure, how often that is gone.

No row says that a check passes because it was run: running a check is no action here, and what silences a check is a
habit to know of, not an answer. Rows that count the same runs are listed once, the most specific of them.

Every row stays in the JSON and in the library. A reader gets those worth reading (`readable`), each once, the best
supported first, that claim no more than their counts show:

- rows of sessions' outcomes only where sessions could be compared;
- of an answer to an error one measure, the closer one, and not the row of its check that counts the same;
- no single use, nothing that only runs the check that failed, nothing that silences a check.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from helix_episodes.extraction.paths import file_name, role_of
from helix_episodes.extraction.shell.commands import parse_command
from helix_episodes.normalization import extension
from helix_graph.causality.check_rates import (
    CheckRates,
    SituationRate,
    is_less,
    is_more,
)
from helix_graph.causality.check_runs import CheckNames, Situation, check_trials, is_judged
from helix_graph.graph.patterns import ANTI_PATTERN_OCCURRENCES, EXAMPLES_KEPT, RUN_LEVELS, Pattern, content_id
from helix_graph.stats.intervals import wilson_interval

if TYPE_CHECKING:
    from helix_graph.causality.check_runs import CheckTrial
    from helix_graph.graph.observations import Basis, Trial, TrialRun


#: Kinds of check that point at the place that is wrong: whether that file was changed distinguishes answers.
NAMED_FILE, OTHER_FILES, ONLY_TESTS = "edit a file that it names", "edit other files only", "edit only tests"
#: The name under which extraction files what people report of the work.
REPORTED = "work"
#: A command that failed in one session had an accident.
_SESSIONS = 2
#: Fewer runs on either side are no comparison.
_LEAST_RUNS = 3
#: So many files or folders of a row are named.
_FEW = 3
#: A row counts the same as another when they share so much of both.
_SAME = 0.8


class _Answer(NamedTuple):
    """One failing run and the next run of its check."""

    failure: tuple[str, int]
    passed: bool
    gone: frozenset[str]
    timestamp: str | None
    event: str


#: What was done between two runs, and the files that each was done to.
_Done = dict[str, set[str]]


def check_patterns(sessions: Sequence[Trial]) -> tuple[Pattern, ...]:
    """Every row that the runs of checks give, without doubles; by name."""
    names = CheckNames(sessions)
    found = [*_change_rows(check_trials(sessions, names)), *_answer_rows(sessions, names), *_command_rows(sessions)]
    return tuple(sorted(found, key=lambda row: (row.name, row.basis)))


# Changes.


def _change_rows(trials: Sequence[CheckTrial]) -> Iterator[Pattern]:
    rates = CheckRates(trials)
    rows = [rates.row(check, one) for check in rates.usual for one in rates.situations(check, least=_LEAST_RUNS)]
    rows = [row for row in rows if row.runs_elsewhere >= _LEAST_RUNS]
    ranked = sorted(rows, key=lambda row: (-rates.distance(row), row.dimension, row.value))
    for row in rates.once(filter(is_more, ranked), keep_parts=True):
        yield _change_row(row, rates, "failed more")
    for row in rates.once(filter(is_less, reversed(ranked)), keep_parts=True):
        yield _change_row(row, rates, "passed more")


def _change_row(row: SituationRate, rates: CheckRates, standing: str) -> Pattern:
    situation = Situation(row.dimension, row.value)
    runs = rates.trials_in(row.check, situation)[::-1]
    passed = row.runs - row.failed
    return Pattern(
        id=content_id("change", row.check, row.dimension, row.value),
        name=f"{row.after} → {row.check}",
        description=f"After {row.after}: how often {row.check} passes when it runs next.",
        trigger=f"before {row.check}",
        action=_ONE.get(situation) or _ACTIONS[row.dimension].format(row.value),
        success_rate=passed / row.runs,
        occurrences=row.runs,
        last_used=runs[0].moment or None,
        successes=passed,
        interval=wilson_interval(passed, row.runs),
        base_rate=(row.runs_elsewhere - row.failed_elsewhere) / row.runs_elsewhere,
        base_n=row.runs_elsewhere,
        basis="check passes",
        level="change",
        episodes=tuple(one.episode for one in runs[:EXAMPLES_KEPT]),
        decisions=tuple(one.event for one in runs[:EXAMPLES_KEPT]),
        standing=standing,  # type: ignore[arg-type]  # one of the two words of `_change_rows`
    )


_ACTIONS = {
    "folder": "change files in {}/",
    "file": "change {}",
    "kind": "change {} files",
    "lines": "change {} lines in one file",
    "files": "change {} files",
    "edits": "make {} edits",
}


_ONE = {Situation("files", "1"): "change one file", Situation("edits", "1"): "make a single edit"}


# Answers.


def _answer_rows(sessions: Iterable[Trial], names: CheckNames) -> Iterator[Pattern]:
    answers: dict[tuple[str, str], dict[str, list[_Answer]]] = defaultdict(lambda: defaultdict(list))
    places: dict[tuple[str, str], _Done] = defaultdict(lambda: defaultdict(set))
    for session in sessions:
        for place, run in enumerate(session.runs):
            if is_judged(run) and not run.passed and not run.deliberate:
                following = _answer(session, place, names)
                if following is None:
                    continue
                answer, actions = following
                for trigger, level in [(label, "family") for label in run.labels] or [
                    (f"{names.of(run)} fails", "check")
                ]:
                    for action, paths in actions.items():
                        answers[trigger, level][action].append(answer)
                        places[trigger, level][action] |= paths
    for (trigger, level), by_action in answers.items():
        for row in _rows_of(trigger, level, by_action):
            paths = places[trigger, level][row.action]
            folders = {f"{path.rpartition('/')[0] or '.'}/" for path in paths}
            # The files where they are few, else their folders where those are.
            few = next((found for found in (paths, folders) if len(found) <= _FEW), ())
            yield msgspec.structs.replace(row, where=tuple(sorted(few)))


def _answer(session: Trial, place: int, names: CheckNames) -> tuple[_Answer, _Done] | None:
    """The next run of the check after a failure, and what was done in between; None where nothing was."""
    failed = session.runs[place]
    done: _Done = {}
    for run in session.runs[place + 1 :]:
        if run.kind == "format" and run.passed and failed.kind == "lint":
            done[f"run {run.check}"] = set()
        elif is_judged(run) and names.of(run).removesuffix(" --fix") == names.of(failed).removesuffix(" --fix"):
            if names.of(run) != names.of(failed) and names.of(run).endswith(" --fix"):
                done[f"run {names.of(run)}"] = set()
            for action, paths in _edits(failed, run):
                done.setdefault(action, set()).update(paths)
            if not done:
                return None
            gone = frozenset(label for label in failed.labels if run.passed or label not in run.labels)
            return _Answer((session.episode, place), bool(run.passed), gone, run.timestamp, run.event), done
    return None


def _edits(failed: TrialRun, run: TrialRun) -> Iterator[tuple[str, list[str]]]:
    paths = [path for path, _ in run.changed]
    named = {file_name(path) for path in failed.named}
    if paths and named:
        there = [path for path in paths if file_name(path) in named]
        yield (NAMED_FILE, there) if there else (OTHER_FILES, paths)
    if paths and all(role_of(path) == "test" for path in paths):
        yield ONLY_TESTS, paths
    for path in paths:
        suffix = extension(path)
        yield f"edit {role_of(path) or 'file'}{f' ({suffix})' if suffix else ''}", [path]


def _rows_of(trigger: str, level: str, by_action: dict[str, list[_Answer]]) -> Iterator[Pattern]:
    everything = {
        one.failure: trigger in one.gone if level == "family" else one.passed
        for rows in by_action.values()
        for one in rows
    }
    kept: list[set[tuple[str, int]]] = []
    for action in sorted(by_action, key=lambda one: (_SPECIFIC.get(one, 2 if one.startswith("edit ") else 0), one)):
        rows = by_action[action]
        places = {one.failure for one in rows}
        if any(len(places & known) >= _SAME * max(len(places), len(known)) for known in kept):
            continue
        kept.append(places)
        successes = sum(everything[place] for place in places)
        others = [success for place, success in everything.items() if place not in places]
        newest = sorted(rows, key=lambda one: (one.timestamp or "", one.failure), reverse=True)
        yield Pattern(
            id=content_id("answer", level, trigger, action),
            name=f"{trigger} → {action}",
            description=f"After {trigger!r}: {action}. Success: {_MEANING[level]}.",
            trigger=trigger,
            action=action,
            success_rate=successes / len(places),
            occurrences=len(places),
            last_used=newest[0].timestamp,
            successes=successes,
            interval=wilson_interval(successes, len(places)),
            base_rate=sum(others) / len(others) if others else None,
            base_n=len(others),
            basis="gone at the next run" if level == "family" else "next check passes",
            level="answer",
            episodes=tuple(one.failure[0] for one in newest[:EXAMPLES_KEPT]),
            decisions=tuple(one.event for one in newest[:EXAMPLES_KEPT]),
            standing="counted",
        )


_SPECIFIC = {NAMED_FILE: 1, ONLY_TESTS: 1, OTHER_FILES: 1}
_MEANING = {
    "family": "the check, when it next runs, no longer complains of it",
    "check": "the check passes when it next runs",
}


# Commands.


def _command_rows(sessions: Iterable[Trial]) -> Iterator[Pattern]:
    """Commands other than checks that failed in most sessions that ran them."""
    used: dict[str, set[str]] = defaultdict(set)
    failed: dict[tuple[str, str], dict[str, tuple[str, str]]] = defaultdict(dict)
    checks = {run.check for session in sessions for run in session.runs} | {REPORTED}
    for session in sessions:
        for step in session.steps:
            if step.label.startswith("run "):
                used[step.label.removeprefix("run ")].add(session.episode)
            elif step.kind == "error" and " fails: " in step.label:
                failed[step.label.partition(" fails")[0], step.label][session.episode] = (
                    session.timestamp or "",
                    step.id,
                )
    for (command, label), episodes in failed.items():
        everywhere = used.get(command, set()) | set(episodes)
        often = len(episodes) >= _SESSIONS and len(episodes) * 2 >= len(everywhere)
        # What nobody ran by that name is no command: "CI" is what a look at its jobs told of.
        if (
            command in checks
            or command not in used
            or not often
            or all(part.purpose != "change" for part in parse_command(command))
        ):
            continue  # a look fails without harm, and checks are counted as such
        worked = len(everywhere) - len(episodes)
        newest = sorted(episodes, key=lambda one: (episodes[one][0], one), reverse=True)
        yield Pattern(
            id=content_id("command", label),
            name=f"any task → run {command}",
            description=f"In how many sessions that ran it {command} never failed so: {label}.",
            trigger="any task",
            action=f"run {command} ({label.partition(' fails: ')[2]})",
            success_rate=worked / len(everywhere),
            occurrences=len(everywhere),
            last_used=episodes[newest[0]][0] or None,
            successes=worked,
            interval=wilson_interval(worked, len(everywhere)),
            basis="command works",
            level="command",
            episodes=tuple(newest[:EXAMPLES_KEPT]),
            decisions=tuple(episodes[one][1] for one in newest[:EXAMPLES_KEPT]),
            standing="counted",
        )


def silenced(sessions: Iterable[Trial]) -> Counter[str]:
    """How many sessions silenced a check by an edit, by the edit's label: a habit to know of, whatever came of it."""
    found: Counter[str] = Counter()
    for session in sessions:
        found.update({step.label for step in session.steps if step.label.endswith("suppress a check")})
    return found


def refusing_tools(sessions: Iterable[Trial]) -> set[str]:
    """The agents' own tools that did not do what they were asked."""
    return {
        step.label.partition(" fails")[0] for session in sessions for step in session.steps if step.kind == "refusal"
    }


#: Levels of rows that count errors and what was done about them, episode by episode.
_COUNTED_BY_EPISODE = frozenset({"family", "check"})

#: The measures of an answer, the closest to what was done first.
_CLOSEST: tuple[Basis, ...] = ("gone at the next run", "next check passes", "check passes later")
#: From this rate on something works, and up to it something fails.
_WORKS = 0.5


class ReadableRows(msgspec.Struct, frozen=True, kw_only=True):
    """The rows that are shown, and how many are not.

    ``too_early`` counts rows of outcomes that are not compared yet, ``silencing`` those that silence a check,
    ``repeated`` the others.
    """

    rows: tuple[Pattern, ...]
    too_early: int
    silencing: int
    repeated: int


def readable(found: Sequence[Pattern], *, works: bool, tools: Collection[str]) -> ReadableRows:
    """Of these rows those worth reading: what works, or else what fails.

    ``tools`` are the agent's own, whose errors are left out: a tool that works leaves no event, so that a later error
    in another file looks like the answer's failure.
    """
    early = [row for row in found if row.level not in _COUNTED_BY_EPISODE | RUN_LEVELS and row.standing in _UNCOMPARED]
    silencing = [row for row in found if row.action.endswith("suppress a check")]
    dropped = {id(row) for row in (*early, *silencing)}
    left = [row for row in found if id(row) not in dropped and _check_of(row) not in {*tools, REPORTED}]
    chosen = [row for row in _once(left) if _says_something(row) and (_works(row) if works else not _works(row))]
    chosen.sort(
        key=lambda row: (-_bound(row, low=True) if works else _bound(row, low=False), -row.occurrences, row.name)
    )
    return ReadableRows(
        rows=tuple(
            msgspec.structs.replace(row, standing="counted")
            if row.level in _COUNTED_BY_EPISODE and row.standing in _UNCOMPARED
            else row
            for row in chosen
        ),
        too_early=len(early),
        silencing=len(silencing),
        repeated=len(left) - len(chosen),
    )


_UNCOMPARED = frozenset({"too early", "not compared"})


def _says_something(row: Pattern) -> bool:
    checks_again = row.level in _COUNTED_BY_EPISODE and row.action == f"run {_check_of(row)}"
    return (row.occurrences >= ANTI_PATTERN_OCCURRENCES or row.successes is None) and not checks_again


def _works(row: Pattern) -> bool:
    if row.standing in {"failed more", "passed more"}:
        return row.standing == "passed more"
    if row.effect is not None:
        return not row.effect.hurts
    # Everything else that was done there may work far more often.
    outdone = (
        min(row.occurrences, row.base_n) >= _COMPARED_FROM
        and row.base_rate is not None
        and row.base_rate - row.success_rate >= _FAR
    )
    return row.level != "command" and row.success_rate > _WORKS and not outdone


#: So many uses on either side, and rates so far apart, make one answer poorer than the others.
_COMPARED_FROM, _FAR = 3, 0.25


def _once(rows: Sequence[Pattern]) -> Iterator[Pattern]:
    """One row for what is counted twice: by runs and by episodes, by two measures, by the error and by its check."""
    by_runs = {_check_of(row) for row in rows if row.level == "answer"}
    known: set[tuple[str, ...]] = set()
    rank: dict[str, int] = {basis: place for place, basis in enumerate(_CLOSEST)}
    for row in sorted(rows, key=lambda row: (row.level == "check", rank.get(row.basis, 0))):
        check = _check_of(row)
        if row.level not in _COUNTED_BY_EPISODE:
            yield row
        elif check not in by_runs and not known & {(row.trigger, row.action), (row.level, check, row.action)}:
            # What the row of an error counts, the row of its check counts again.
            known |= {(row.trigger, row.action), ("check", check, row.action)}
            yield row


def _check_of(row: Pattern) -> str:
    return row.trigger.partition(" fails")[0]


def _bound(row: Pattern, *, low: bool) -> float:
    """An end of what is known of a row's rate."""
    return (row.interval.low if low else row.interval.high) if row.interval else row.success_rate
