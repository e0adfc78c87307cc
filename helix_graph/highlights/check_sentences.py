"""The sentences about checks: what has to run first, after which changes they fail, and how they are silenced.

Situations in which a check fails more often name a file or folder; of a linter or formatter the rule that is broken
says more, and an issue tells it. Markers that silence a check are a habit of the project that counts show.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from helix_episodes.extraction.paths import role_of
from helix_graph.highlights.model import (
    EVIDENCE,
    FEWEST_OF_MANY,
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

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from helix_episodes.model import Episode, Evidence
    from helix_graph.causality.api import Causality
    from helix_graph.causality.check_rates import SituationRate
    from helix_graph.causality.fragile import FragilePlace
    from helix_graph.causality.runbook import Runbook

#: When counts of a situation are worth a sentence.
_FEWEST_FAILED, _FEWEST_ELSEWHERE, _TIMES = 5, 5, 3
_PLACES = frozenset({"file", "folder"})
#: Of these the rule that is broken says more than where.
_BY_RULE = frozenset({"lint", "format"})
#: How people speak of a marker; so many of the commonest are named.
_MARKING = re.compile(r"\b(?:ignore|suppress\w*|silenc\w+|disable|nolint|noqa)\b", re.IGNORECASE)
_MARKERS = 3
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
            failures = (
                (by_id[name], event)
                for name in first.episodes[:EVIDENCE]
                for event in by_id[name].events
                if event.type == "error" and event.check == first.check and event.evidence
            )
            places = {episode.id: place_in(episode, event.evidence) for episode, event in reversed([*failures])}
            newest = tuple(reversed(places.values()))
            told = Highlight(
                kind="command", text=f"{text}.", see="helix-graph runbook", sessions=first.sessions, evidence=newest
            )
            yield Weighed(HELPED, told)


# Situations in which a check fails more often.


def situation_sentences(causality: Causality) -> Iterator[Weighed]:
    """Files and folders after whose change a check fails well above its rate elsewhere."""
    fragile = causality.fragile().places
    places = {(one.rate.check, one.path): one for one in fragile}
    report = causality.checks()
    rows = (row for check in report.checks for row in check.situations if _is_place(row))
    for row in (row for row in rows if row.standing == "worse" and row.worse_in_both_halves):
        yield Weighed(HELPED, _situation(row, places.get((row.check, row.value))))
    # In small memories rates say nothing yet, and counts are counts.
    counts = [one for one in fragile if not report.enough and _fails_much_more(one.rate)]
    yield from (Weighed(OPEN, _situation(one.rate, one)) for one in counts)


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
        text=f"{text}: run it right after each such change.",
        brief=f"{text}.",
        see="helix-graph fragile" + option("", row.value) if place is not None else "helix-graph checks",
        sessions=row.sessions,
        evidence=tuple(EvidencePlace(session=one.episode, log=one.log, line=one.line) for one in row.failures),
    )


# Habits.


def habit_sentences(episodes: Sequence[Episode]) -> Iterator[Weighed]:
    """Sessions that put a marker into code which silences a check, unasked, with the commonest and what people said."""
    places: list[EvidencePlace] = []
    markers: Counter[str] = Counter()
    said = ""
    for episode in episodes:
        log = episode.provenance.log if episode.provenance else None
        made = [one for decision in episode.decisions if decision.action for one in decision.action.markers]
        own = [one for one in made if not _is_asked_for(episode.prompts, one.line)]
        places += [
            EvidencePlace(session=episode.session, log=log, line=line)
            for line in dict.fromkeys(one.line for one in own)
        ]
        markers.update({one.name for one in own})
        rules = {(one.name.rpartition(":")[2].strip().lower(), one.line) for one in own if ":" in one.name}
        answers = (
            prompt.quote
            for prompt in episode.prompts
            for rule, line in rules
            if prompt.line > line and rule in prompt.quote.lower() and _MARKING.search(prompt.quote)
        )
        said = said or next(answers, "")
    sessions = len({one.session for one in places})
    if sessions < max(FEWEST_OF_MANY, _SILENCED * len(episodes)):
        return
    often = [(name, times) for name, times in markers.most_common(_MARKERS) if times > 1]
    names = ", ".join(f"{quoted(name)} in {times}" for name, times in often)
    text = f"Agents silenced a check by a marker in the code, unasked, in {sessions} of {len(episodes)} sessions"
    text += f" ({names})" if names else ""
    text += f"; a person said of one {quoted(said, longest=LONGEST_QUOTE)}" if said else ""
    advice = ": allow in the check's configuration what is meant, and let agents ask before any other marker"
    see = "helix-graph highlights --evidence"
    told = Highlight(
        kind="command", text=f"{text}{advice}.", brief=f"{text}.", see=see, sessions=sessions, evidence=tuple(places)
    )
    yield Weighed(OPEN, told)


def _is_asked_for(prompts: Sequence[Evidence], line: int) -> bool:
    """Whether the last thing that a person said before a line of the log was to silence a check."""
    before = [one.quote for one in prompts if one.line < line]
    return bool(before) and bool(_MARKING.search(before[-1]))
