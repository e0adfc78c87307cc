"""The sentences about checks: what has to run first, after which changes they fail, where they are not run or silenced.

Situations in which a check fails more often name a file or folder; of a linter or formatter the rule that is broken
says more, and an issue tells it. Sessions that end without a test of their last change, markers that silence a check
and the file in which the work meets are habits of the project that counts show.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from helix_episodes.extraction.actions import marker_names
from helix_episodes.extraction.paths import role_of
from helix_episodes.extraction.shell.commands import parse_command
from helix_graph.causality.check_runs import head_of
from helix_graph.highlights.model import (
    EVIDENCE,
    FEWEST,
    FEWEST_OF_MANY,
    HABIT,
    HELPED,
    LONGEST_QUOTE,
    OPEN,
    EvidencePlace,
    Highlight,
    Weighed,
    fewest,
    option,
    place_in,
)
from helix_graph.insights.safe_quoting import label_or_quoted, name_or_quoted, quoted
from helix_graph.rules.observance import unmade_changes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from helix_episodes.model import CommandRun, Decision, Episode, RunKind
    from helix_graph.causality.api import Causality
    from helix_graph.causality.check_rates import CheckReport, SituationRate
    from helix_graph.causality.fragile import FragilePlace
    from helix_graph.causality.runbook import Runbook

#: When counts of a situation are worth a sentence.
_FEWEST_FAILED, _FEWEST_ELSEWHERE, _TIMES = 5, 5, 3
_PLACES = frozenset({"file", "folder"})
#: Of these the rule that is broken says more than where.
_BY_RULE = frozenset({"lint", "format"})
_CODE = frozenset({"source", "test"})
_CHANGES = frozenset({"edit", "create", "delete"})
#: What most sessions do is usual; the endings of files that a quarter of them changes are the project's.
_USUAL, _OFTEN = 0.5, 0.25
#: Sessions that leave their last change unchecked are worth a sentence from this share on.
_UNCHECKED = 0.3
#: A file that so many sessions change, a third of all and twice as many as any other, is where the work meets.
_MET, _THIRD, _TWICE = 5, 3, 2
#: Markers that silence a check are a habit from this share of the sessions on.
_SILENCED = 0.1


# What has to run first.


def prerequisite_sentences(runbook: Runbook, episodes: Sequence[Episode]) -> Iterator[Weighed]:
    """What a check failed without, in several sessions."""
    by_id = {one.id: one for one in episodes}
    for first in runbook.prerequisites:
        if first.sessions >= fewest(runbook.sessions):
            setup, problem = (quoted(text, longest=LONGEST_QUOTE) for text in (first.first, first.problem))
            met = f"{problem}, {first.sessions} of {runbook.sessions} sessions"
            text = f"{label_or_quoted(first.check)} fails here before {setup} has run ({met})"
            places = tuple(_first_failure(by_id[name], first.check) for name in first.episodes[:EVIDENCE])
            yield Weighed(HELPED, _command(text, first.sessions, places, see="helix-graph runbook"))


def _first_failure(episode: Episode, check: str) -> EvidencePlace:
    """Where the check failed first in a session."""
    failures = (event for event in episode.events if event.type == "error" and event.check == check and event.evidence)
    first = next(failures, None)
    return place_in(episode, first.evidence if first else None)


def _command(
    text: str,
    sessions: int,
    places: Sequence[EvidencePlace],
    *,
    see: str = "helix-graph highlights --evidence",
    advice: str = "",
) -> Highlight:
    return Highlight(
        kind="command",
        text=f"{text}{advice}.",
        brief=f"{text}.",
        see=see,
        sessions=sessions,
        evidence=tuple(places),
    )


# Situations in which a check fails more often.


def situation_sentences(causality: Causality) -> Iterator[Weighed]:
    """Files and folders after whose change a check fails well above its rate elsewhere."""
    fragile = causality.fragile().places
    places = {(one.rate.check, one.path): one for one in fragile}
    report = causality.checks()
    for row in _worse(report):
        yield Weighed(HELPED, _situation(row, places.get((row.check, row.value))))
    # In small memories rates say nothing yet, and counts are counts.
    counts = [one for one in fragile if not report.enough and _fails_much_more(one.rate)]
    yield from (Weighed(OPEN, _situation(one.rate, one)) for one in counts)


def _worse(report: CheckReport) -> Iterator[SituationRate]:
    """Each place that is worse in both halves of the time."""
    for check in report.checks:
        worse = (row for row in check.situations if row.standing == "worse" and row.worse_in_both_halves)
        yield from filter(_is_place, worse)


def _is_place(row: SituationRate) -> bool:
    """Whether a situation names a file or folder; tests fail in places of tests while they are being written."""
    inside = f"{row.value}/x" if row.dimension == "folder" else row.value
    return row.dimension in _PLACES and row.kind not in _BY_RULE and (row.kind != "test" or role_of(inside) != "test")


def _fails_much_more(row: SituationRate) -> bool:
    """Whether the counts alone say so: enough failures, and three times the share of elsewhere."""
    if not _is_place(row) or row.failed < _FEWEST_FAILED or row.runs_elsewhere < _FEWEST_ELSEWHERE:
        return False
    return row.failed * row.runs_elsewhere >= _TIMES * row.failed_elsewhere * row.runs


def _situation(row: SituationRate, place: FragilePlace | None) -> Highlight:
    after = row.after.replace(row.value, name_or_quoted(row.value))
    text = f"{label_or_quoted(row.check)} failed in {row.failed} of {row.runs} first runs after {after}"
    text += f", after other changes in {row.failed_elsewhere} of {row.runs_elsewhere} (re-runs of a failure left out)"
    after_it = place.passed_after if place is not None else ()
    if after_it and 2 * after_it[0].times > after_it[0].repaired:
        text += f"; it passed again after {label_or_quoted(after_it[0].change)} "
        text += f"({after_it[0].times} of {after_it[0].repaired})"
    return Highlight(
        kind="situation",
        text=f"{text}.",
        see="helix-graph fragile" + option("", row.value) if place is not None else "helix-graph checks",
        sessions=row.sessions,
        evidence=tuple(EvidencePlace(session=one.episode, log=one.log, line=one.line) for one in row.failures),
    )


# What is run seldom, or not after the last change.


class _Session(NamedTuple):
    """A session that changed code: its changes and runs, in the order of its log."""

    episode: Episode
    changes: tuple[Decision, ...]
    runs: tuple[CommandRun, ...]


def habit_sentences(episodes: Sequence[Episode]) -> Iterator[Weighed]:
    """What the sessions that changed code show of how it is checked, and of where it is changed."""
    every = [one for one in map(_session, episodes) if one.changes]
    suffixes = _usual_suffixes(every)
    changing = [one for one in (_narrowed(each, suffixes) for each in every) if one.changes]
    changed = f"sessions that changed {' or '.join(suffixes)} files"
    kinds: tuple[RunKind, ...] = ("test", "lint")
    for kind in kinds:
        yield from _unchecked(kind, changing, changed)
    yield from _often_changed(every, len(episodes))
    yield from _silenced(episodes)


def _usual_suffixes(changing: Sequence[_Session]) -> list[str]:
    """The endings of the files that the project's checks are for: those that many of its sessions change."""
    sessions = Counter(name for one in changing for name in {_suffix(change) for change in one.changes} if name)
    return sorted(name for name, met in sessions.items() if met >= _OFTEN * len(changing))


def _suffix(change: Decision) -> str:
    return PurePosixPath((change.action and change.action.path) or "").suffix


def _narrowed(session: _Session, suffixes: Sequence[str]) -> _Session:
    return session._replace(changes=tuple(one for one in session.changes if _suffix(one) in suffixes))


def _session(episode: Episode) -> _Session:
    """Of what helpers did, in logs of their own, the order is not known: their sessions say nothing."""
    unmade = unmade_changes(episode)
    changes = tuple(
        one
        for one in episode.decisions
        if one.action and one.action.verb in _CHANGES and one.action.role in _CODE and one.evidence
        if one.id not in unmade
    )
    own = all(one.evidence and one.evidence.file is None for one in changes)
    return _Session(episode, changes if own else (), tuple(one for one in episode.runs if one.evidence))


def _unchecked(kind: RunKind, changing: Sequence[_Session], changed: str) -> Iterator[Weighed]:
    """Sessions whose last change no check of a kind saw that most sessions run."""
    ran = sum(any(run.kind == kind for run in one.runs) for one in changing)
    left = [one for one in changing if not _is_checked(kind, one)]
    if ran < _USUAL * len(changing) or len(left) < max(FEWEST_OF_MANY, _UNCHECKED * len(changing)):
        return
    heads = Counter(head_of(run.command) for one in changing for run in one.runs if run.kind == kind)
    never = sum(not any(run.kind == kind for run in one.runs) for one in left)
    none = f" ({never} of them ran none at all)" if never else ""
    text = (
        f"In {len(left)} of {len(changing)} {changed} no {kind} ran after the last of these changes"
        f"{none}; most others ran {quoted(heads.most_common(1)[0][0])}"
    )
    places = [place_in(one.episode, one.changes[-1].evidence) for one in left]
    yield Weighed(OPEN, _command(text, len(left), tuple(reversed(places))))


def _often_changed(sessions: Sequence[_Session], every: int) -> Iterator[Weighed]:
    """The one file of code that sessions change again and again, far more often than any other."""
    places: defaultdict[str, dict[str, EvidencePlace]] = defaultdict(dict)
    for one in sessions:
        for change in one.changes:
            path = (change.action and change.action.path) or ""
            places[path].setdefault(one.episode.id, place_in(one.episode, change.evidence))
    first, second = [*sorted(places, key=lambda path: (-len(places[path]), path)), "", ""][:2]
    met, next_most = len(places[first]), len(places[second])
    if next_most >= FEWEST and met >= max(_MET, _TWICE * next_most) and _THIRD * met >= every:
        text = (
            f"{name_or_quoted(first)} was changed in {met} of {every} sessions, no other file of code in more than "
            f"{next_most}"
        )
        yield Weighed(HABIT, _command(text, met, tuple(places[first].values()), advice=": consider splitting it"))


def _silenced(episodes: Sequence[Episode]) -> Iterator[Weighed]:
    """Sessions that put a marker into code which silences a check, with the markers that are quoted."""
    places: list[EvidencePlace] = []
    markers: Counter[str] = Counter()
    for episode in episodes:
        edits = [one.evidence for one in episode.decisions if one.action and one.action.suppresses and one.evidence]
        log = episode.provenance.log if episode.provenance else None
        lines = (line for one in edits for line in (one.line, *one.also))  # which of several it was is not known
        places += [EvidencePlace(session=episode.session, log=log, line=line) for line in lines]
        markers.update({found for one in edits for found in marker_names(one.quote)})
    sessions = len({one.session for one in places})
    if sessions < max(FEWEST_OF_MANY, _SILENCED * len(episodes)):
        return
    names = " and ".join(quoted(name) for name, _ in markers.most_common(2))
    examples = f" (such as {names})" if names else ""
    text = f"Agents put a marker into code that silences a check in {sessions} of {len(episodes)} sessions{examples}"
    advice = ": allow what is wanted in the check's configuration, or forbid the marker"
    yield Weighed(OPEN, _command(text, sessions, places, advice=advice))


def _is_checked(kind: RunKind, session: _Session) -> bool:
    """Whether a command of this kind was run after the last change, with a verdict or without."""
    last = max(map(_line_of, session.changes))
    if any(run.kind == kind and run.evidence and run.evidence.line > last for run in session.runs):
        return True
    later = (one.action.command for one in session.episode.decisions if one.action and _line_of(one) > last)
    return any(part.kind == kind for text in later for part in parse_command(text or ""))


def _line_of(decision: Decision) -> int:
    return max(decision.evidence.line, *decision.evidence.also, 0) if decision.evidence else 0
