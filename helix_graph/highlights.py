"""What stands out: at most ten sentences about one memory, the most useful first, each with counts and its evidence.

Four kinds: issues that recur, with what repaired them; situations in which a check fails more often; commands that fail
here, and what has to run first; what people reported and refused. Useful is what a reader can act on, so that sentences
with a remedy or a situation come before open failures, and those before habits; among equals the number of sessions
decides. Nothing is recommended: a sentence says what happened. Where nothing stands out, there is no sentence.

Whatever a log contributed (commands, messages, file names) is quoted.
"""

from __future__ import annotations

import shlex
from collections import Counter, defaultdict
from itertools import islice
from typing import TYPE_CHECKING, Literal

import msgspec

from helix_episodes.extraction.paths import role_of
from helix_graph.graph.error_query import SAYS_NO_NAME
from helix_graph.highlights_cache import read_highlights, write_highlights
from helix_graph.insights.safe_quoting import label_or_quoted, name_or_quoted, quoted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from helix_episodes.model import Episode
    from helix_graph.causality.api import Causality
    from helix_graph.causality.check_rates import SituationRate
    from helix_graph.causality.fragile import FragilePlace
    from helix_graph.causality.runbook import Runbook
    from helix_graph.issues.api import Issues
    from helix_graph.issues.model import Issue, IssueDetails, IssueList
    from helix_graph.issues.survey import IssueSurvey

MOST = 10
#: Of so many sessions each kind may make up: ten sentences about one kind leave the others out.
_MOST_OF_A_KIND = 6
#: How much a reader can do about a sentence, beside the number of its sessions: something was found that helps; nothing
#: was; it is a habit that costs little each time.
_HELPED, _OPEN, _HABIT = 3.0, 2.0, 1.0
#: In larger memories what two sessions met is one of very many such things.
_FEWEST, _FEWEST_OF_MANY, _MANY = 2, 3, 30
_EVIDENCE = 5
_LONGEST_QUOTE = 120
_TENTH = 0.1
#: When counts of a situation are worth a sentence.
_FEWEST_ELSEWHERE, _TIMES = 5, 3
#: So many kinds of failure of one check are named.
_KINDS = 4
#: What the title of a group of rules ends with.
_AND_OTHERS = " and others"

HighlightKind = Literal["issue", "situation", "command", "people"]


class EvidencePlace(msgspec.Struct, frozen=True, kw_only=True):
    """A line of a session's log; the id of the episode, where the session is not known by itself."""

    session: str
    log: str | None
    line: int | None


class Highlight(msgspec.Struct, frozen=True, kw_only=True):
    """One sentence. ``see`` is the command that shows all of its evidence, ``evidence`` the newest places of it.

    ``shared`` says that every session in the evidence came with the repository.
    """

    kind: HighlightKind
    text: str
    see: str
    sessions: int
    evidence: tuple[EvidencePlace, ...] = ()
    shared: bool = False


class Highlights(msgspec.Struct, frozen=True, kw_only=True):
    """The sentences about a memory of so many sessions."""

    sessions: int
    found: tuple[Highlight, ...]


class _Weighed(msgspec.Struct, frozen=True):
    usefulness: float
    highlight: Highlight


def known_highlights(root: Path, issues: Issues, causality: Causality) -> Highlights:
    """As `highlights_of`, computed once for each state of the graph.

    Raises:
        GraphNotCompiled: There is no graph yet.
    """
    known = read_highlights(root)
    if known is not None:
        try:
            return msgspec.convert(known, Highlights)
        except msgspec.ValidationError:  # the file is derived: whatever is in it, it is computed again
            pass
    found = highlights_of(root, issues, causality)
    write_highlights(root, msgspec.to_builtins(found))
    return found


def highlights_of(root: Path, issues: Issues, causality: Causality) -> Highlights:
    """What stands out in the memory in ``root``.

    Raises:
        GraphNotCompiled: There is no graph yet.
    """
    episodes = causality.episodes()[0]
    runbook = causality.runbook()
    with issues.open() as survey:
        listed = survey.list(by="recurring", limit=4 * MOST)
        weighed = [
            *_commands(runbook, listed),
            *_issues(survey, listed, runbook),
            *_situations(causality),
            *_people(survey, episodes),
        ]
    weighed.sort(key=lambda one: (-one.usefulness * one.highlight.sessions, one.highlight.text))
    chosen = list(islice(_of_all_kinds(weighed), MOST))
    return Highlights(sessions=listed.sessions, found=tuple(_marked(root, chosen, episodes)))


def _of_all_kinds(weighed: Sequence[_Weighed]) -> Iterator[Highlight]:
    """The first in order, of one kind no more than its share."""
    kinds: Counter[str] = Counter()
    for one in weighed:
        kinds[one.highlight.kind] += 1
        if kinds[one.highlight.kind] <= _MOST_OF_A_KIND:
            yield one.highlight


def _marked(root: Path, chosen: Sequence[Highlight], episodes: Sequence[Episode]) -> Iterator[Highlight]:
    """The sentences, those marked as shared of which all evidence came with the repository."""
    from helix_graph.trust import shared_episodes

    known = {name: one.id for one in episodes for name in (one.session, one.id)}
    known |= {one.provenance.log: one.id for one in episodes if one.provenance}
    rests_on = [
        {name for place in one.evidence if (name := known.get(place.session) or known.get(place.log or ""))}
        for one in chosen
    ]
    shared = shared_episodes(root, set().union(*rests_on))
    for one, names in zip(chosen, rests_on, strict=True):
        yield msgspec.structs.replace(one, shared=bool(names) and names <= shared)


def _fewest(sessions: int) -> int:
    return _FEWEST_OF_MANY if sessions >= _MANY else _FEWEST


# Issues.


def _same(issue: Issue, problem: str) -> bool:
    """Whether an issue says what the problem of a command says."""
    one, other = (" ".join(text.split()).rstrip(".") for text in (issue.message, problem))
    return bool(one and other) and (one.startswith(other) or other.startswith(one))


def _issues(survey: IssueSurvey, listed: IssueList, runbook: Runbook) -> Iterator[_Weighed]:
    least = _fewest(listed.sessions)
    problems = [one.problem for one in runbook.corrections if one.instead]
    problems += [one.problem for one in runbook.prerequisites if one.sessions >= least]
    habits: defaultdict[str, list[Issue]] = defaultdict(list)
    for one in listed.issues:
        told = any(_same(one, problem) for problem in problems)
        if told or one.state == "quiet" or one.sessions < least:
            continue
        if _helped(one) or 2 * one.repaired < one.occurrences:
            yield _issue(survey, one, listed, _HELPED if _helped(one) else _OPEN)
        else:
            habits[one.check].append(one)
    for check, several in habits.items():
        if len({one.family for one in several}) > 1:
            (row,) = survey.list(by="check", check=check, limit=1).issues
            yield _check(survey, row, several, listed)
        elif several[0].sessions > least:  # the group, whose issues come after it
            yield _issue(survey, several[0], listed, _HABIT)


def _issue(survey: IssueSurvey, one: Issue, listed: IssueList, usefulness: float) -> _Weighed:
    met = f"in {one.sessions} of {listed.sessions} sessions ({_cost(one, listed.minutes)})"
    return _Weighed(
        usefulness,
        Highlight(
            kind="issue",
            text=f"{_subject(one)} {met}{_more(one)}.",
            see=f"helix-graph issues show {one.id[:8]}",
            sessions=one.sessions,
            evidence=_places(survey.show(one.id)),
        ),
    )


def _check(survey: IssueSurvey, row: Issue, several: Sequence[Issue], listed: IssueList) -> _Weighed:
    """What fails in many ways, each of them repaired: one sentence about the check, with its commonest kinds."""
    groups = [one for one in survey.list(by="group", check=row.title, limit=_KINDS).issues if one.sessions > 1]
    kinds = [f"{_family(one.title.partition(': ')[2])} {one.sessions}" for one in groups[:_KINDS]]
    dearest = max(several, key=lambda one: one.thing_minutes or 0)
    silenced = [one for one in several if one.suppressed > 1]
    habit = "".join(
        f"; {_family(one.title.partition(': ')[2])} was silenced by a marker {one.suppressed} of {one.repaired} times"
        for one in silenced
    )
    share = (row.minutes or 0) / (listed.minutes or 1)
    evidence = [place for one in several for place in _places(survey.show(one.id))[:2]]
    return _Weighed(
        _OPEN if share >= _TENTH else _HABIT,
        Highlight(
            kind="issue",
            text=(
                f"{label_or_quoted(row.title)} fails in {row.sessions} of {listed.sessions} sessions "
                f"({_cost(row, listed.minutes)}), most often (sessions): {', '.join(kinds)}"
                f"{_costliest(dearest)}{habit}."
            ),
            see="helix-graph issues --by group" + _option("--check", row.title),
            sessions=row.sessions,
            evidence=tuple(evidence[:_EVIDENCE]),
        ),
    )


def _option(option: str, name: str) -> str:
    """What a command is asked for, unless the name may be a sentence of a log: without it the answer is longer."""
    return f"{f' {option}' if option else ''} {shlex.quote(name)}" if label_or_quoted(name) == name else ""


def _costliest(group: Issue) -> str:
    """The test that took most, where a group has several and one stands out."""
    if (
        group.kinds < _FEWEST
        or group.unit != "runs"
        or not group.thing.isidentifier()
        or (group.thing_minutes or 0) < 1
    ):
        return ""
    return f"; the costliest: {group.thing} ({_count(group.thing_minutes or 0, 'minute')})"


def _helped(one: Issue) -> bool:
    """Whether a command or an edit of one file repaired it again and again; what was changed in tests is no remedy."""
    remedy = one.remedy
    if remedy is None or 2 * remedy.times < remedy.of:
        return False
    return remedy.how == "run" or (remedy.how == "edit" and role_of(remedy.what) != "test")


def _subject(one: Issue) -> str:
    """What fails: the check with the rule, the kind of failure, or what it said."""
    check, _, family = one.title.partition(": ")
    fails = f"{label_or_quoted(check)} fail{'' if ' and ' in check else 's'}"
    said = quoted(one.message, longest=_LONGEST_QUOTE)
    if one.kind == "group" and one.kinds > 1:
        several = f"{one.kinds} different failures" if one.unit == "runs" else f"{one.kinds} different files"
        return f"{fails} ({several})" if family.endswith(" failed") else f"{fails} with {_family(family)}"
    if family and "…" not in family and one.family not in SAYS_NO_NAME:
        return f"{fails} with {_family(family)}" + (f" ({said})" if said and " " not in family else "")
    return f"{fails} with {said}" if said else fails


def _family(family: str) -> str:
    rule, others, _ = family.partition(_AND_OTHERS)
    return rule + others if others and " " not in rule else quoted(family) if " " in family else family


def _cost(one: Issue, all_minutes: float | None) -> str:
    parts = [f"{one.occurrences} times"] if one.occurrences > one.sessions else []
    parts += [] if one.steps is None else [_count(one.steps, "step")]
    if one.minutes is not None and one.minutes >= 1:
        share = one.minutes / (all_minutes or one.minutes)
        parts.append(
            _count(one.minutes, "active minute") + (f", {share:.0%} of what failures took" if share >= _TENTH else "")
        )
    return ", ".join(parts).replace("%", " %") or _count(one.occurrences, "time")


def _count(number: float, noun: str) -> str:
    return f"{number:.0f} {noun}" if round(number) == 1 else f"{number:.0f} {noun}s"


def _more(one: Issue) -> str:
    """Where it fails, what repaired it, and what else is to be known of it."""
    said = "; it came back after it had been quiet" if one.state == "regressed" and one.unit == "runs" else ""
    often = [(path, met) for path, met in one.files if met >= _FEWEST_OF_MANY or 2 * met > one.sessions > _FEWEST]
    if often:
        said += f"; most often {' and '.join(f'{name_or_quoted(path)} ({met} sessions)' for path, met in often[:2])}"
    if not one.repaired:
        return f"{said}; no later passing run of it was seen"
    said += _costliest(one)
    if one.remedy is not None and _helped(one):
        what = quoted(one.remedy.what, longest=_LONGEST_QUOTE)
        done = what if one.remedy.how == "run" else f"an edit of {what}"
        said += f"; {done} repaired it {one.remedy.times} of {one.remedy.of} times"
    if one.suppressed > 1:
        said += f"; silenced by a marker {one.suppressed} of {one.repaired} times (a habit, not a repair)"
    return said


def _places(details: IssueDetails) -> tuple[EvidencePlace, ...]:
    newest = details.occurrences[: -_EVIDENCE - 1 : -1]
    return tuple(EvidencePlace(session=one.session, log=one.log, line=one.line) for one in newest)


# Commands that fail here.


def _commands(runbook: Runbook, listed: IssueList) -> Iterator[_Weighed]:
    sessions = listed.sessions
    learnt = [one for one in listed.issues if one.state == "quiet"]
    for wrong in runbook.corrections:
        if wrong.instead is None or wrong.sessions < _fewest(sessions) or 2 * wrong.worked < wrong.sessions:
            continue
        if any(_same(one, wrong.problem) for one in learnt):
            continue
        failed, problem, instead = (
            quoted(text, longest=_LONGEST_QUOTE) for text in (wrong.command, wrong.problem, wrong.instead)
        )
        text = f"{failed} does not work here ({problem}, {wrong.sessions} of {sessions} sessions); {instead} worked"
        evidence = (EvidencePlace(session="", log=wrong.log, line=wrong.line),)
        yield _command(f"{text} instead in {wrong.worked} of them.", wrong.sessions, evidence)
    for first in runbook.prerequisites:
        if first.sessions >= _fewest(sessions):
            setup, problem = (quoted(text, longest=_LONGEST_QUOTE) for text in (first.first, first.problem))
            met = f"{problem}, {first.sessions} of {sessions} sessions"
            text = f"{label_or_quoted(first.check)} fails here before {setup} has run ({met})."
            yield _command(text, first.sessions, ())


def _command(text: str, sessions: int, evidence: tuple[EvidencePlace, ...]) -> _Weighed:
    found = Highlight(kind="command", text=text, see="helix-graph runbook", sessions=sessions, evidence=evidence)
    return _Weighed(_HELPED, found)


# Situations in which a check fails more often.


def _situations(causality: Causality) -> Iterator[_Weighed]:
    fragile = causality.fragile().places
    places = {(one.rate.check, one.path): one for one in fragile}
    report = causality.checks()
    for check in report.checks:
        for row in check.situations:
            if row.standing == "worse" and row.worse_in_both_halves:
                yield _Weighed(_HELPED, _situation(row, places.get((row.check, row.value))))
    # In small memories rates say nothing yet, and counts are counts.
    counted = [one for one in fragile if not report.enough and _fails_much_more(one.rate)]
    yield from (_Weighed(_OPEN, _situation(one.rate, one)) for one in counted)


def _fails_much_more(row: SituationRate) -> bool:
    """Whether the counts alone say so: at least three failures, and three times the share of elsewhere."""
    if row.failed < _FEWEST_OF_MANY or row.runs_elsewhere < _FEWEST_ELSEWHERE:
        return False
    return row.failed * row.runs_elsewhere >= _TIMES * row.failed_elsewhere * row.runs


def _situation(row: SituationRate, place: FragilePlace | None) -> Highlight:
    after = (
        row.after.replace(row.value, name_or_quoted(row.value)) if row.dimension in {"file", "folder"} else row.after
    )
    text = f"{label_or_quoted(row.check)} failed in {row.failed} of {row.runs} runs after {after}"
    text += f", elsewhere in {row.failed_elsewhere} of {row.runs_elsewhere}"
    if row.next_failed is not None:
        text += f"; of the next 10 such runs {row.next_failed[0]} to {row.next_failed[1]} will fail (90 %)"
    after_it = place.passed_after if place is not None else ()
    if after_it and 2 * after_it[0].times > after_it[0].repaired:
        text += f"; it passed again after {label_or_quoted(after_it[0].change)} "
        text += f"({after_it[0].times} of {after_it[0].repaired})"
    return Highlight(
        kind="situation",
        text=f"{text}.",
        see="helix-graph fragile" + _option("", row.value) if place is not None else "helix-graph checks",
        sessions=row.sessions,
        evidence=tuple(EvidencePlace(session=one.episode, log=one.log, line=one.line) for one in row.failures),
    )


# What people reported and refused.


def _people(survey: IssueSurvey, episodes: Sequence[Episode]) -> Iterator[_Weighed]:
    reports = survey.reported()
    if reports is not None and reports.issue.sessions >= _fewest(len(episodes)):
        one, newest = reports.issue, reports.occurrences[-1]
        yield _Weighed(
            _OPEN,
            Highlight(
                kind="people",
                text=(
                    f"People reported {_count(one.occurrences, 'fault')} themselves, in {one.sessions} of "
                    f"{len(episodes)} sessions ({_count(one.steps or 0, 'step')} to the repair); the latest: "
                    f"{quoted(newest.message, longest=_LONGEST_QUOTE)}."
                ),
                see=f"helix-graph issues show {one.id[:8]}",
                sessions=one.sessions,
                evidence=_places(reports),
            ),
        )
    yield from _refusals(episodes)


def _refusals(episodes: Sequence[Episode]) -> Iterator[_Weighed]:
    """The calls that people refused, by what the agent wanted to do."""
    kinds: Counter[str] = Counter()
    wanted_again: Counter[str] = Counter()
    places: list[EvidencePlace] = []
    met = set()
    for episode in episodes:
        chosen = {one.id: one for one in episode.decisions}
        wanted = {link.target: chosen[link.source] for link in episode.links if link.source in chosen}
        for event in episode.events:
            if event.type != "tool_call" or event.status != "rejected":
                continue
            action = wanted[event.id].action if event.id in wanted else None
            verb = action.verb if action else "use"
            kinds[_REFUSED.get(verb, "other calls")] += 1
            if action and action.path:
                wanted_again[f"edits of {name_or_quoted(action.path)}"] += 1
            elif action and verb == "run":
                wanted_again[quoted(" ".join(filter(None, (action.program, action.subcommand))))] += 1
            met.add(episode.id)
            places.append(
                EvidencePlace(
                    session=episode.session,
                    log=episode.provenance.log if episode.provenance else None,
                    line=event.evidence.line if event.evidence else None,
                )
            )
    if len(met) < _fewest(len(episodes)):
        return
    counted = ", ".join(f"{times} {kind}" for kind, times in kinds.most_common())
    often = [f"{name} {times} times" for name, times in wanted_again.most_common(2) if times > 1]
    yield _Weighed(
        _OPEN,
        Highlight(
            kind="people",
            text=(
                f"People refused {kinds.total()} calls in {len(met)} of {len(episodes)} sessions: {counted}"
                f"{'; most often ' + ' and '.join(often) if often else ''}."
            ),
            see="helix-graph highlights --evidence",
            sessions=len(met),
            evidence=tuple(places[: -_EVIDENCE - 1 : -1]),
        ),
    )


#: What an agent wanted to do, in a list of what was refused.
_REFUSED = {
    **dict.fromkeys(("edit", "create", "delete"), "edits"),
    "run": "commands",
    "choose": "plans and questions",
    "delegate": "hand-overs",
}
