"""What stands out: at most ten sentences about one memory, the most useful first, each with counts and its evidence.

A sentence is one that a reader can decide something by: it names a cause, recurs over sessions, and says what helped
(a command that repaired it, another way to call it) or that nothing did. What is missing here is missing on purpose: an
agent's own slips, answers to a look, failures without a name, situations that are only large changes, tests in the
making. Situations in which a check fails more often name a file or folder; what people refused or forbade names it and
quotes them. Among equally useful sentences the number of sessions decides. Where nothing stands out, there is none.

Whatever a log contributed (commands, messages, file names) is quoted.
"""

from __future__ import annotations

import re
import shlex
from collections import Counter, defaultdict
from itertools import islice, zip_longest
from typing import TYPE_CHECKING, Literal, NamedTuple

import msgspec

from helix_episodes.extraction.checks import CheckFinding
from helix_episodes.extraction.checks.environment import is_environment
from helix_episodes.extraction.paths import role_of
from helix_episodes.extraction.shell.commands import parse_command, plain_command
from helix_episodes.model import CORRECTS, sortable_time
from helix_graph.causality.runbook import runbook_of
from helix_graph.causality.workarounds import common_workaround, way_words, workarounds_in
from helix_graph.graph.error_query import SAYS_NO_NAME
from helix_graph.highlights_cache import read_highlights, write_highlights
from helix_graph.insights.safe_quoting import label_or_quoted, logged_name_or_quoted, name_or_quoted, quoted

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from helix_episodes.model import Episode, Event
    from helix_graph.causality.api import Causality
    from helix_graph.causality.check_rates import SituationRate
    from helix_graph.causality.fragile import FragilePlace
    from helix_graph.causality.runbook import Runbook
    from helix_graph.causality.workarounds import CommonWorkaround, Workaround
    from helix_graph.issues.api import Issues
    from helix_graph.issues.model import Issue, IssueDetails, IssueList
    from helix_graph.issues.survey import IssueSurvey

MOST = 10
#: Of so many sentences each kind may make up: ten about one kind leave the others out.
_MOST_OF_A_KIND = 8
#: How much a reader can do about a sentence, beside the number of its sessions: something is known that helps; only the
#: cause is; it is a habit.
_HELPED, _OPEN, _HABIT = 3.0, 2.0, 1.0
#: In larger memories what two sessions met is one of very many such things.
_FEWEST, _FEWEST_OF_MANY, _MANY = 2, 3, 30
#: Rows that are looked at: most have no name or no cause and give no sentence.
_ROWS = 100
_EVIDENCE = 5
_LONGEST_QUOTE = 120
#: A tool of the agent that fails is its own affair, unless one file takes so much of what all failures took.
_MUCH = 0.25
#: A rule of a check that is broken in every third session.
_THIRD = 3
#: A program or the shell says what is wrong with the call: whoever knows it calls otherwise.
_MISCALLED = frozenset({"unknown option", "unknown command", "unknown task", "no glob match"})
#: When counts of a situation are worth a sentence.
_FEWEST_FAILED, _FEWEST_ELSEWHERE, _TIMES = 5, 5, 3
#: So many kinds of failure of one check are named.
_KINDS = 4
#: What the title of a group of rules ends with.
_AND_OTHERS = " and others"
#: Families with which a check says no more than that it failed.
_NAMELESS = " failed"

HighlightKind = Literal["issue", "situation", "command", "people"]


class EvidencePlace(msgspec.Struct, frozen=True, kw_only=True):
    """A line of a session's log; the id of the episode, where the session is not known by itself."""

    session: str
    log: str | None
    line: int | None


class Highlight(msgspec.Struct, frozen=True, kw_only=True):
    """One sentence. ``see`` is the command that shows all of its evidence, ``evidence`` the newest places of it.

    ``brief`` is the sentence without costs and files, where it has them. ``shared`` says that every session in the
    evidence came with the repository.
    """

    kind: HighlightKind
    text: str
    see: str
    sessions: int
    evidence: tuple[EvidencePlace, ...] = ()
    brief: str = ""
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
    episodes = sorted(causality.episodes()[0], key=lambda one: (sortable_time(one.timestamp), one.id))
    ways = {one.id: workarounds_in(one) for one in episodes}
    runbook = runbook_of(episodes, ways)
    with issues.open() as survey:
        listed = survey.list(by="recurring", limit=_ROWS)
        weighed = [
            *_prerequisites(runbook, listed, episodes),
            *_IssueSentences(survey, listed, episodes, runbook, ways),
            *_situations(causality),
            *_people(episodes),
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
    """Whether an issue says what a problem says, of which a sentence is made already."""
    one, other = (" ".join(text.split()).rstrip(".") for text in (issue.message, problem))
    return bool(one and other) and (one.startswith(other) or other.startswith(one))


class _Ending(NamedTuple):
    """How a sentence about an issue ends: with its cure, whose ``key`` is said once."""

    usefulness: float
    key: tuple[str, str]
    end: str


class _IssueSentences:
    """The sentences about issues that recur, each cure once: of issues with the same one the first says it."""

    def __init__(
        self,
        survey: IssueSurvey,
        listed: IssueList,
        episodes: Sequence[Episode],
        runbook: Runbook,
        ways: Mapping[str, Mapping[str, Workaround]],
    ) -> None:
        self._survey = survey
        self._listed = listed
        self._least = _fewest(listed.sessions)
        self._missing = [one.problem for one in runbook.prerequisites if one.sessions >= self._least]
        self._ways = ways
        self._tools = {event.check for one in episodes for event in one.events if event.tool and event.check}
        self._named = self._tools | {run.check for one in episodes for run in one.runs if run.kind != "command"}

    def __iter__(self) -> Iterator[_Weighed]:
        said: set[tuple[str, str]] = set()
        habits: defaultdict[str, list[Issue]] = defaultdict(list)
        for one in self._listed.issues:
            missing = any(_same(one, problem) for problem in self._missing)
            if one.state == "quiet" or one.sessions < self._least or missing:
                continue
            if one.unit == "runs":
                habits[one.check].append(one)
            found = self._issue(one)
            if found is not None and found[0] not in said:
                said.update({found[0]} if found[0][1] else ())
                yield found[1]
        for check, several in habits.items():
            if all((check, one.remedy.what if one.remedy else "") not in said for one in several):
                yield from self._check(check, several)

    def _issue(self, one: Issue) -> tuple[tuple[str, str], _Weighed] | None:
        """The sentence about an issue and its cure; None where there is nothing to decide."""
        details = self._survey.show(one.id)
        ways = [(place.episode, self._ways.get(place.episode, {}).get(place.event)) for place in details.occurrences]
        found = _cured(one, common_workaround(ways)) or self._open(one, details, [way for _, way in ways if way])
        if found is None:
            return None
        # What a command was called with, not what it was called on, is wrong.
        files = [(path, met) for path, met in one.files if met >= _FEWEST_OF_MANY and one.check in self._named]
        return found.key, self._sentence(found.usefulness, one, details, files, found.end)

    def _open(self, one: Issue, details: IssueDetails, ways: Sequence[Workaround]) -> _Ending | None:
        """Of what nothing is known to help: what is said of it where its cause or its share is worth a sentence."""
        if one.check in self._tools:
            much = (one.minutes or 0) >= _MUCH * (self._listed.minutes or 1)
            met = max((met for _, met in one.files), default=0)
            return _Ending(_HABIT, ("", ""), "") if much and met >= _FEWEST_OF_MANY else None
        if _slips(one) and one.remedy and _THIRD * one.sessions >= self._listed.sessions:
            by_hand = f"; repaired {one.remedy.times} of {one.remedy.of} times by an edit of the file it names"
            runs = (way for way in details.remedies if way.how == "run")
            tool = "".join(f", {_count(way.times, 'time')} by {quoted(way.what)}" for way in islice(runs, 1))
            return _Ending(_OPEN, (one.check, one.family), by_hand + tool)
        if one.family in _MISCALLED and one.sessions >= _FEWEST_OF_MANY:
            return _Ending(_OPEN, ("", one.family), "")
        stopped = one.unit != "runs" and not _looks(one.check) and not one.repaired
        certain = one.sessions >= _FEWEST_OF_MANY and one.kind == "issue"
        if stopped and (certain or is_environment(CheckFinding(family=one.family, message=one.message))):
            passed = any(way.passed for way in ways)
            return None if passed else _Ending(_OPEN, (one.check, ""), "; no later try in these sessions went through")
        return None

    def _sentence(
        self, usefulness: float, one: Issue, details: IssueDetails, files: Sequence[tuple[str, int]], end: str
    ) -> _Weighed:
        often = " and ".join(f"{logged_name_or_quoted(path)} ({met} sessions)" for path, met in files[:2])
        again = "; it came back after it had been quiet" if one.state == "regressed" and one.unit == "runs" else ""
        silenced = f"; silenced by a marker {one.suppressed} of {one.repaired} times" if one.suppressed > 1 else ""
        met = f"{_subject(one, self._tools)} in {one.sessions} of {self._listed.sessions} sessions"
        where = f"; most often {often}" if often else ""
        return _Weighed(
            usefulness,
            Highlight(
                kind="issue",
                text=f"{met} ({_cost(one)}){again}{where}{silenced}{end}.",
                brief=f"{met}{end}.",
                see=f"helix-graph issues show {one.id[:8]}",
                sessions=one.sessions,
                evidence=_places([details]),
            ),
        )

    def _check(self, check: str, several: Sequence[Issue]) -> Iterator[_Weighed]:
        """What fails in many ways, each of them repaired: the commonest by name, and what is done about them."""
        row = next(iter(self._survey.list(by="check", check=check, limit=1).issues), None)
        groups = [
            one
            for one in self._survey.list(by="group", check=check, limit=_ROWS).issues
            if one.sessions > 1 and not one.family.endswith(_NAMELESS)
        ]
        silenced = [one for one in groups if one.suppressed > 1]
        cure = next((one.remedy for one in groups if one.remedy and one.remedy.how == "run"), None)
        if row is None or row.sessions < self._least or not (silenced or cure):
            return
        kinds = [f"{_family(one.title.partition(': ')[2])} {one.sessions}" for one in groups[:_KINDS]]
        habit = "".join(
            f"; {_family(one.title.partition(': ')[2])} was silenced by a marker "
            f"{one.suppressed} of {one.repaired} times"
            for one in silenced
        )
        if cure:
            times = sum(one.remedy.times for one in groups if one.remedy and one.remedy.what == cure.what)
            repaired = sum(one.remedy.of for one in groups if one.remedy and one.remedy.what == cure.what)
            habit += f"; {quoted(cure.what, longest=_LONGEST_QUOTE)} repaired {times} of {repaired} of them"
        yield _Weighed(
            _OPEN,
            Highlight(
                kind="issue",
                text=(
                    f"{label_or_quoted(row.title)} fails in {row.sessions} of {self._listed.sessions} sessions "
                    f"({_cost(row)}), most often (sessions): {', '.join(kinds)}{habit}."
                ),
                see="helix-graph issues --by group" + _option("--check", row.title),
                sessions=row.sessions,
                evidence=_places([self._survey.show(one.id) for one in (silenced or several)]),
            ),
        )


def _option(option: str, name: str) -> str:
    """What a command is asked for, unless the name may be a sentence of a log: without it the answer is longer."""
    return f"{f' {option}' if option else ''} {shlex.quote(name)}" if label_or_quoted(name) == name else ""


def _helped(one: Issue) -> bool:
    """Whether a command or an edit of one file repaired it again and again; what was changed in tests is no remedy."""
    remedy = one.remedy
    if remedy is None or 2 * remedy.times < remedy.of or 2 * one.repaired < one.occurrences:
        return False
    return remedy.how == "run" or (remedy.how == "edit" and role_of(remedy.what) != "test")


def _cured(one: Issue, way: CommonWorkaround | None) -> _Ending | None:
    """What repaired an issue, or what worked instead in most of its sessions."""
    if _helped(one) and one.remedy is not None:
        what = quoted(one.remedy.what, longest=_LONGEST_QUOTE)
        done = what if one.remedy.how == "run" else f"an edit of {what}"
        end = f"; {done} repaired it {one.remedy.times} of {one.remedy.of} times"
        return _Ending(_HELPED, (one.check, one.remedy.what), end)
    # Of two sessions one is half; only that quotation marks were missing is certain after one.
    least = 1 if way and way.how == "quoted" else _FEWEST
    if way is None or way.how == "again" or way.worked < least or 2 * way.worked < way.sessions:
        return None
    end = f"; what worked instead, in {way.worked} of {way.sessions} sessions: {_way(way)}"
    return _Ending(_HELPED, (one.check, way.what), end)


def _slips(one: Issue) -> bool:
    """Whether a check complains of one rule again and again, and each time by hand what it names is put right."""
    named = one.unit == "runs" and one.kinds == 1 and not one.family.endswith(_NAMELESS) and " name" not in one.family
    return named and one.remedy is not None and one.remedy.how == "edit named"


def _looks(check: str) -> bool:
    """Whether a command only looks: what it does not find is an answer."""
    return all(part.purpose == "look" for part in parse_command(check))


def _way(way: CommonWorkaround) -> str:
    what, command = (quoted(text, longest=_LONGEST_QUOTE) for text in (way.what, way.command))
    words = way_words(way.how, what)
    return words if way.what == way.command else f"{words} ({command})"


def _subject(one: Issue, tools: Collection[str]) -> str:
    """What fails: the check with the rule, the kind of failure, or what it said; no tool that only waited for it."""
    names, _, family = one.title.partition(": ")
    checks = [name for name in names.split(" and ") if name not in tools] or [names]
    plain = all(label_or_quoted(check) == check for check in checks)  # else a name may hold the "and" itself
    called = " and ".join(checks)
    fails = f"{called if plain else quoted(called)} fail{'' if len(checks) > 1 else 's'}"
    said = quoted(one.message, longest=_LONGEST_QUOTE)
    if one.kind == "group" and one.kinds > 1:
        several = f"{one.kinds} different failures" if one.unit == "runs" else f"{one.kinds} different files"
        example = f" ({said})" if said and (one.unit != "runs" or one.family in _MISCALLED) else ""
        return f"{fails} ({several})" if family.endswith(_NAMELESS) else f"{fails} with {_family(family)}{example}"
    # Of a command the message names the cause; of a check the family does, which is its rule.
    telling = family and "…" not in family and one.family not in SAYS_NO_NAME
    if telling and (one.unit == "runs" or " " not in family):
        return f"{fails} with {_family(family)}" + (f" ({said})" if said and " " not in family else "")
    return f"{fails} with {said}" if said else f"{fails} with {_family(family)}" if family else fails


def _family(family: str) -> str:
    rule, others, _ = family.partition(_AND_OTHERS)
    return rule + others if others and " " not in rule else logged_name_or_quoted(family)


def _cost(one: Issue) -> str:
    """How often, and what it took: of what was seldom repaired that ends with the turn, and says nothing."""
    several = one.unit == "runs" and one.occurrences > one.runs
    parts = [f"{one.occurrences} findings in {one.runs} results" if several else _count(one.runs, "time")]
    if 2 * one.repaired >= one.occurrences:
        parts += [] if one.steps is None else [_count(one.steps, "step")]
        parts += [_count(one.minutes, "active minute")] if one.minutes is not None and one.minutes >= 1 else []
    return ", ".join(parts)


def _count(number: float, noun: str) -> str:
    return f"{number:.0f} {noun}" if round(number) == 1 else f"{number:.0f} {noun}s"


def _places(issues: Sequence[IssueDetails]) -> tuple[EvidencePlace, ...]:
    """The newest places of each issue in turn, each line once."""
    places = [
        [EvidencePlace(session=one.session, log=one.log, line=one.line) for one in reversed(details.occurrences)]
        for details in issues
    ]
    in_turn = (place for row in zip_longest(*places) for place in row if place is not None)
    return tuple(islice(dict.fromkeys(in_turn), _EVIDENCE))


# What has to run first.


def _prerequisites(runbook: Runbook, listed: IssueList, episodes: Sequence[Episode]) -> Iterator[_Weighed]:
    by_id = {one.id: one for one in episodes}
    for first in runbook.prerequisites:
        if first.sessions >= _fewest(listed.sessions):
            setup, problem = (quoted(text, longest=_LONGEST_QUOTE) for text in (first.first, first.problem))
            met = f"{problem}, {first.sessions} of {listed.sessions} sessions"
            text = f"{label_or_quoted(first.check)} fails here before {setup} has run ({met})."
            places = (_place_of_problem(by_id[name], first.check) for name in first.episodes)
            one = Highlight(kind="command", text=text, see="helix-graph runbook", sessions=first.sessions)
            yield _Weighed(_HELPED, msgspec.structs.replace(one, evidence=tuple(islice(places, _EVIDENCE))))


def _place_of_problem(episode: Episode, check: str) -> EvidencePlace:
    """Where the check failed first in a session."""
    failures = (event for event in episode.events if event.type == "error" and event.check == check and event.evidence)
    first = next(failures, None)
    log = episode.provenance.log if episode.provenance else None
    return EvidencePlace(
        session=episode.session, log=log, line=first.evidence.line if first and first.evidence else None
    )


# Situations in which a check fails more often.


def _situations(causality: Causality) -> Iterator[_Weighed]:
    fragile = causality.fragile().places
    places = {(one.rate.check, one.path): one for one in fragile}
    report = causality.checks()
    for check in report.checks:
        for row in check.situations:
            if _is_place(row) and row.standing == "worse" and row.worse_in_both_halves:
                yield _Weighed(_HELPED, _situation(row, places.get((row.check, row.value))))
    # In small memories rates say nothing yet, and counts are counts.
    counted = [one for one in fragile if not report.enough and _fails_much_more(one.rate)]
    yield from (_Weighed(_OPEN, _situation(one.rate, one)) for one in counted)


def _is_place(row: SituationRate) -> bool:
    """Whether a situation names a file or folder, and none of tests: those fail while they are being written."""
    return (
        row.dimension in {"file", "folder"}
        and role_of(f"{row.value}/x" if row.dimension == "folder" else row.value) != "test"
    )


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
        see="helix-graph fragile" + _option("", row.value) if place is not None else "helix-graph checks",
        sessions=row.sessions,
        evidence=tuple(EvidencePlace(session=one.episode, log=one.log, line=one.line) for one in row.failures),
    )


# What people refused and forbade.


class _Refusal(NamedTuple):
    """A call that a person refused: what it was about, the reason in the person's words, and where."""

    what: str
    reason: str
    place: EvidencePlace


def _people(episodes: Sequence[Episode]) -> Iterator[_Weighed]:
    """Commands and files that people refused in several sessions with a reason; what they forbade for good."""
    refused: defaultdict[str, list[_Refusal]] = defaultdict(list)
    for episode in episodes:
        for one in _refusals(episode):
            refused[one.what].append(one)
    for what, several in refused.items():
        sessions = {one.place.session for one in several}
        # What asks for something else is no reason, and the quotation of a long one is cut.
        reasons = list(dict.fromkeys(one.reason for one in several if one.reason and one.reason[-1] not in "?…"))
        if len(sessions) < _FEWEST or not reasons:
            continue
        said = " and ".join(quoted(one, longest=_LONGEST_QUOTE) for one in reasons[:2])
        text = (
            f"People refused {what} in {len(sessions)} of {len(episodes)} sessions ({_count(len(several), 'time')}): "
        )
        yield _said_by_people(f"{text}{said}.", [one.place for one in several])
    for episode in episodes:
        for event in episode.events:
            words = event.content.removeprefix(CORRECTS)
            if event.type == "milestone" and words != event.content and _FOR_GOOD.search(words):
                text = f"A person corrected the agent with a rule: {quoted(words, longest=_LONGEST_QUOTE)}."
                yield _said_by_people(text, [_place_of(episode, event)])


#: A correction with one of these is a rule, not about one step.
_FOR_GOOD = re.compile(r"\b(?:never|always|every time|from now on|in (?:the )?future|again)\b", re.IGNORECASE)
_REASON = "the user said:"


def _said_by_people(text: str, places: Sequence[EvidencePlace]) -> _Weighed:
    found = Highlight(
        kind="people",
        text=text,
        see="helix-graph highlights --evidence",
        sessions=len({one.session for one in places}),
        evidence=tuple(places[: -_EVIDENCE - 1 : -1]),
    )
    return _Weighed(_HELPED, found)


def _refusals(episode: Episode) -> Iterator[_Refusal]:
    """The commands and edits of one session that a person refused."""
    chosen = {one.id: one for one in episode.decisions}
    wanted = {link.target: chosen[link.source] for link in episode.links if link.source in chosen}
    for event in episode.events:
        if event.type != "tool_call" or event.status != "rejected" or event.id not in wanted:
            continue
        action = wanted[event.id].action
        what = f"edits of {logged_name_or_quoted(action.path)}" if action and action.path else ""
        if action and action.verb == "run" and action.command:
            what = quoted(plain_command(action.command), longest=_LONGEST_QUOTE)
        if what:
            reason = (event.evidence.quote or "").partition(_REASON)[2] if event.evidence else ""
            yield _Refusal(what, " ".join(reason.split()).rstrip("."), _place_of(episode, event))


def _place_of(episode: Episode, event: Event) -> EvidencePlace:
    return EvidencePlace(
        session=episode.session,
        log=episode.provenance.log if episode.provenance else None,
        line=event.evidence.line if event.evidence else None,
    )
