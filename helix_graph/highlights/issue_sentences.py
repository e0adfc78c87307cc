"""The sentences about issues: what keeps failing, where, what it took, and what helped.

An issue gives one when it recurs, names its cause, and something is known to help, or nothing was seen to. What is
missing here is missing on purpose: an agent's own slips, answers to a look, failures without a name.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import islice, zip_longest
from typing import TYPE_CHECKING, NamedTuple

from helix_episodes.extraction.checks import CheckFinding
from helix_episodes.extraction.checks.environment import is_environment
from helix_episodes.extraction.paths import role_of
from helix_graph.causality.lookups import only_looks
from helix_graph.causality.workarounds import common_workaround, way_words
from helix_graph.graph.error_query import SAYS_NO_NAME
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
    counted,
    fewest,
    option,
)
from helix_graph.insights.safe_quoting import label_or_quoted, logged_name_or_quoted, quoted

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from helix_episodes.model import Episode
    from helix_graph.causality.runbook import Runbook
    from helix_graph.causality.workarounds import CommonWorkaround, Workaround
    from helix_graph.issues.model import Issue, IssueDetails, IssueList
    from helix_graph.issues.survey import IssueSurvey

#: Rows of a list that are looked at: most have no name or no cause and give no sentence.
ROWS = 100
#: A tool of the agent that fails is its own affair, unless one file takes so much of what all failures took.
_MUCH = 0.25
#: A rule of a check that is broken in every third session.
_THIRD = 3
#: A program or the shell says what is wrong with the call: whoever knows it calls otherwise.
_MISCALLED = frozenset({"unknown option", "unknown command", "unknown task", "no glob match"})
#: So many kinds of failure of one check are named.
_KINDS = 4
#: What the title of a group of rules ends with.
_AND_OTHERS = " and others"
#: Families with which a check says no more than that it failed.
_NAMELESS = " failed"
#: What is said where nothing repaired an issue, and no call got past it.
_NOT_PASSED = "; no later try in these sessions went through"


def _same(issue: Issue, problem: str) -> bool:
    """Whether an issue says what a problem says, of which a sentence is made already."""
    one, other = (" ".join(text.split()).rstrip(".") for text in (issue.message, problem))
    return bool(one and other) and (one.startswith(other) or other.startswith(one))


class _Ending(NamedTuple):
    """How a sentence about an issue ends: with its cure, whose ``key`` is said once."""

    usefulness: float
    key: tuple[str, str]
    end: str


class IssueSentences:
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
        self._least = fewest(listed.sessions)
        self._missing = [one.problem for one in runbook.prerequisites if one.sessions >= self._least]
        self._ways = ways
        self._tools = {event.check for one in episodes for event in one.events if event.tool and event.check}
        self._named = self._tools | {run.check for one in episodes for run in one.runs if run.kind != "command"}

    def __iter__(self) -> Iterator[Weighed]:
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

    def _issue(self, one: Issue) -> tuple[tuple[str, str], Weighed] | None:
        """The sentence about an issue and its cure; None where there is nothing to decide, as after a look-up."""
        if one.unit != "runs" and only_looks(one.check):
            return None
        details = self._survey.show(one.id)
        ways = [(place.episode, self._ways.get(place.episode, {}).get(place.event)) for place in details.occurrences]
        found = _cured(one, common_workaround(ways)) or self._open(one, details, [way for _, way in ways if way])
        if found is None:
            return None
        # What a command was called with, not what it was called on, is wrong.
        files = [(path, met) for path, met in one.files if met >= FEWEST_OF_MANY and one.check in self._named]
        return found.key, self._sentence(found.usefulness, one, details, files, found.end)

    def _open(self, one: Issue, details: IssueDetails, ways: Sequence[Workaround]) -> _Ending | None:
        """Of what nothing is known to help: what is said of it where its cause or its share is worth a sentence."""
        if one.check in self._tools:
            much = (one.minutes or 0) >= _MUCH * (self._listed.minutes or 1)
            met = max((met for _, met in one.files), default=0)
            if met >= FEWEST_OF_MANY and (much or _only_file(details)):
                return _Ending(HABIT, ("", ""), "")
            # What an agent asks of its own tools and never gets is not there.
            return None if one.repaired or one.files else _Ending(OPEN, (one.check, one.family), _NOT_PASSED)
        third = _THIRD * one.sessions >= self._listed.sessions
        if one.remedy and _slips(one) and (third or (one.sessions >= FEWEST_OF_MANY and " " not in one.family)):
            by_hand = f"; repaired {one.remedy.times} of {one.remedy.of} times by an edit of the file it names"
            runs = (way for way in details.remedies if way.how == "run")
            tool = "".join(f", {counted(way.times, 'time')} by {quoted(way.what)}" for way in islice(runs, 1))
            return _Ending(OPEN, (one.check, one.family), by_hand + tool)
        stopped = one.unit != "runs" and not one.repaired
        certain = one.sessions >= FEWEST_OF_MANY and one.kind == "issue"
        if stopped and (certain or is_environment(CheckFinding(family=one.family, message=one.message))):
            passed = any(way.passed for way in ways)
            return None if passed else _Ending(OPEN, (one.check, ""), _NOT_PASSED)
        return None

    def _sentence(
        self, usefulness: float, one: Issue, details: IssueDetails, files: Sequence[tuple[str, int]], end: str
    ) -> Weighed:
        often = " and ".join(f"{logged_name_or_quoted(path)} ({met} sessions)" for path, met in files[:2])
        again = "; it came back after it had been quiet" if one.state == "regressed" and one.unit == "runs" else ""
        silenced = f"; silenced by a marker {one.suppressed} of {one.repaired} times" if one.suppressed > 1 else ""
        only = _only_file(details) if one.check in self._tools else ""
        subject = f"{_subject(one, self._tools)}{f' for {logged_name_or_quoted(only)}' if only else ''}"
        met = f"{subject} in {one.sessions} of {self._listed.sessions} sessions"
        where = f"; most often {often}" if often and not only else ""
        return Weighed(
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

    def _check(self, check: str, several: Sequence[Issue]) -> Iterator[Weighed]:
        """What fails in many ways, each of them repaired: the commonest by name, and what is done about them."""
        row = next(iter(self._survey.list(by="check", check=check, limit=1).issues), None)
        groups = [
            one
            for one in self._survey.list(by="group", check=check, limit=ROWS).issues
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
            habit += f"; {quoted(cure.what, longest=LONGEST_QUOTE)} repaired {times} of {repaired} of them"
        met = f"{label_or_quoted(row.title)} fails in {row.sessions} of {self._listed.sessions} sessions"
        yield Weighed(
            OPEN,
            Highlight(
                kind="issue",
                text=f"{met} ({_cost(row)}), most often (sessions): {', '.join(kinds)}{habit}.",
                brief=f"{met}, most often (sessions): {', '.join(kinds)}.",
                see="helix-graph issues --by group" + option("--check", row.title),
                sessions=row.sessions,
                evidence=_places([self._survey.show(one.id) for one in (silenced or several)]),
            ),
        )


def _only_file(details: IssueDetails) -> str:
    """The one file that all occurrences are about; empty where they are about several, or none."""
    paths = {place.path or "" for place in details.occurrences}
    return paths.pop() if len(paths) == 1 else ""


def _helped(one: Issue) -> bool:
    """Whether a command or an edit of one file repaired it again and again; what was changed in tests is no remedy."""
    remedy = one.remedy
    if remedy is None or 2 * remedy.times < remedy.of or 2 * one.repaired < one.occurrences:
        return False
    return remedy.how == "run" or (remedy.how == "edit" and role_of(remedy.what) != "test")


def _cured(one: Issue, way: CommonWorkaround | None) -> _Ending | None:
    """What repaired an issue, or what worked instead in most of its sessions."""
    if _helped(one) and one.remedy is not None:
        what = quoted(one.remedy.what, longest=LONGEST_QUOTE)
        done = what if one.remedy.how == "run" else f"an edit of {what}"
        end = f"; {done} repaired it {one.remedy.times} of {one.remedy.of} times"
        return _Ending(HELPED, (one.check, one.remedy.what), end)
    # Of two sessions one is half; only that quotation marks were missing is certain after one.
    least = 1 if way and way.how == "quoted" else FEWEST
    if way is None or way.how == "again" or way.worked < least or 2 * way.worked < way.sessions:
        return None
    end = f"; what worked instead, in {way.worked} of {way.sessions} sessions: {_way(way)}"
    return _Ending(HELPED, (one.check, way.what), end)


def _slips(one: Issue) -> bool:
    """Whether a check complains of one rule again and again, and each time by hand what it names is put right."""
    named = (
        one.unit == "runs"
        and (one.kinds == 1 or " " not in one.family)
        and not one.family.endswith(_NAMELESS)
        and " name" not in one.family
    )
    return named and one.remedy is not None and one.remedy.how == "edit named"


def _way(way: CommonWorkaround) -> str:
    what, command = (quoted(text, longest=LONGEST_QUOTE) for text in (way.what, way.command))
    words = way_words(way.how, what)
    return words if way.what == way.command else f"{words} ({command})"


def _subject(one: Issue, tools: Collection[str]) -> str:
    """What fails: the check with the rule, the kind of failure, or what it said; no tool that only waited for it."""
    names, _, family = one.title.partition(": ")
    checks = [name for name in names.split(" and ") if name not in tools] or [names]
    plain = all(label_or_quoted(check) == check for check in checks)  # else a name may hold the "and" itself
    called = " and ".join(checks)
    fails = f"{called if plain else quoted(called)} fail{'' if len(checks) > 1 else 's'}"
    said = quoted(one.message, longest=LONGEST_QUOTE)
    if one.kind == "group" and one.kinds > 1:
        several = f"{one.kinds} different failures" if one.unit == "runs" else f"{one.kinds} different files"
        example = f" ({said})" if said and (one.unit != "runs" or one.family in _MISCALLED) else ""
        example = f" (such as {said})" if said and one.unit == "runs" and " " not in one.family else example
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
    parts = [f"{one.occurrences} kinds of finding in {one.runs} results" if several else counted(one.runs, "time")]
    if 2 * one.repaired >= one.occurrences:
        parts += [] if one.steps is None else [counted(one.steps, "step")]
        parts += [counted(one.minutes, "active minute")] if one.minutes is not None and one.minutes >= 1 else []
    return ", ".join(parts)


def _places(issues: Sequence[IssueDetails]) -> tuple[EvidencePlace, ...]:
    """The newest places of each issue in turn, each line once."""
    places = [
        [EvidencePlace(session=one.session, log=one.log, line=one.line) for one in reversed(details.occurrences)]
        for details in issues
    ]
    in_turn = (place for row in zip_longest(*places) for place in row if place is not None)
    return tuple(islice(dict.fromkeys(in_turn), EVIDENCE))
