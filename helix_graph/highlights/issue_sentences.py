"""The sentences about issues: what keeps failing, where, what it took, and what helped.

An issue gives one when it recurs, names its cause, and something is known to help, or nothing was seen to. What is
missing here is missing on purpose: an agent's own slips, answers to a look, failures without a name.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from helix_episodes.extraction.checks import CheckFinding
from helix_episodes.extraction.checks.environment import is_environment
from helix_episodes.extraction.paths import role_of
from helix_episodes.extraction.shell.commands import parse_command
from helix_episodes.model import sortable_time
from helix_graph.causality.check_runs import head_of
from helix_graph.causality.lookups import only_looks
from helix_graph.causality.workarounds import common_workaround, way_words
from helix_graph.graph.error_query import SAYS_NO_NAME
from helix_graph.highlights.model import (
    EVIDENCE,
    FEWEST,
    FEWEST_OF_MANY,
    HELPED,
    LONGEST_QUOTE,
    OPEN,
    EvidencePlace,
    Highlight,
    Weighed,
    counted,
    fewest,
    place_in,
)
from helix_graph.insights.safe_quoting import label_or_quoted, logged_name_or_quoted, quoted
from helix_graph.rules.rule_files import in_force

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from helix_episodes.model import Episode
    from helix_graph.causality.runbook import Runbook
    from helix_graph.causality.workarounds import CommonWorkaround, Workaround
    from helix_graph.highlights.requests import WrittenRules
    from helix_graph.issues.model import Issue, IssueDetails, IssueList
    from helix_graph.issues.survey import IssueSurvey

#: Rows of a list that are looked at: most have no name or no cause and give no sentence.
ROWS = 100
#: A rule of a check that is broken in every third session.
_THIRD = 3
#: A program or the shell says what is wrong with the call: whoever knows it calls otherwise.
_MISCALLED = frozenset({"unknown option", "unknown command", "unknown task", "no glob match"})
#: So many kinds of failure of one check are named.
_KINDS = 3
#: So many decisions after a failure a command is still about it.
_SOON = 12
#: What a person says in fewer words, as in "go on", says nothing of the failure.
_FEWEST_WORDS = 4
#: What the title of a group of rules ends with.
_AND_OTHERS = " and others"
#: Families with which a check says no more than that it failed.
_NAMELESS = " failed"
#: What is said where nothing repaired an issue, and no call got past it.
_NOT_PASSED = "; no later try in these sessions went through"


class _Ending(NamedTuple):
    """How a sentence about an issue ends: with its cure, whose ``key`` is said once."""

    usefulness: float
    key: tuple[str, str]
    end: str
    advice: str = ""


class IssueSentences:
    """The sentences about issues that recur, each cure once: of issues with the same one the first says it."""

    def __init__(
        self,
        survey: IssueSurvey,
        listed: IssueList,
        episodes: Sequence[Episode],
        runbook: Runbook,
        ways: Mapping[str, Mapping[str, Workaround]],
        *,
        written: WrittenRules,
    ) -> None:
        self._survey = survey
        self._listed = listed
        self._least = fewest(listed.sessions)
        # What has a sentence already: what had to run first.
        missing = (one.problem for one in runbook.prerequisites if one.sessions >= self._least)
        self._missing = [" ".join(text.split()).rstrip(".") for text in missing]
        self._ways = ways
        self._file, self._rules, _ = written
        self._episodes = {one.id: one for one in episodes}
        self._tools = {event.check for one in episodes for event in one.events if event.tool and event.check}

    def __iter__(self) -> Iterator[Weighed]:
        said: set[tuple[str, str]] = set()
        checks: dict[str, bool] = {}
        for one in self._listed.issues:
            said_so = " ".join(one.message.split()).rstrip(".")
            missing = said_so and any(text.startswith(said_so) or said_so.startswith(text) for text in self._missing)
            if one.state == "quiet" or one.sessions < self._least or missing:
                continue
            if one.unit != "runs" and only_looks(one.check):
                continue  # there is nothing to decide
            details = self._survey.show(one.id)
            met = details.occurrences
            ways = [(place.episode, self._ways.get(place.episode, {}).get(place.event)) for place in met]
            passed = [way for _, way in ways if way]
            found = self._cured(one, details, common_workaround(ways)) or self._open(one, details, passed)
            if one.unit == "runs":
                checks[one.check] = checks.get(one.check, False) or (found is not None and found.usefulness == HELPED)
            if found is not None and found.key not in said:
                said.update({found.key} if found.key[1] else ())
                yield self._sentence(found, one, details)
        for check in (check for check, cured in checks.items() if not cured):
            yield from self._check(check)

    def _cured(self, one: Issue, details: IssueDetails, way: CommonWorkaround | None) -> _Ending | None:
        """What repaired an issue, or what worked instead in most of its sessions."""
        if _helped(one) and one.remedy is not None:
            what, key = quoted(one.remedy.what, longest=LONGEST_QUOTE), (one.check, one.remedy.what)
            if one.remedy.how == "run":
                right = len(self._put_right(details, one.remedy.what))
                return _Ending(
                    HELPED, key, f"; {what} put it right in {right} of these sessions", ": run it before the check"
                )
            return _Ending(HELPED, key, f"; an edit of {what} repaired it {one.remedy.times} of {one.remedy.of} times")
        # Of two sessions one is half; only that quotation marks were missing is certain after one.
        least = 1 if way and way.how == "quoted" else FEWEST
        if way is None or way.how == "again" or way.worked < least or 2 * way.worked < way.sessions:
            return None
        what, command = (quoted(text, longest=LONGEST_QUOTE) for text in (way.what, way.command))
        words = way_words(way.how, what) + (f" ({command})" if command != what else "")
        end = f"; what worked instead, in {way.worked} of {way.sessions} sessions: {words}"
        return _Ending(HELPED, (one.check, way.what), end, self._advice(one, way))

    def _advice(self, one: Issue, way: CommonWorkaround) -> str:
        """Where to write down what worked instead: beside the rule that asks for what fails, if there is one."""
        at = sortable_time(one.last_seen)
        for file, rule in self._rules if way.how == "without" else ():
            if f"`{way.what}`" in rule.text and in_force(rule, at):
                return f"; {file} says {quoted(rule.text, longest=LONGEST_QUOTE)}: name the exception there"
        return f": say so in {self._file}"

    def _put_right(self, details: IssueDetails, command: str) -> set[str]:
        """The sessions in which a command was run soon after the issue and went well."""
        found = set[str]()
        for place in details.occurrences:
            every, line = self._episodes[place.episode].decisions, place.line or 0
            later = (one for one in every if one.evidence and one.evidence.line > line)
            for one in islice(later, _SOON):
                text = one.action.command if one.action and one.action.verb == "run" else None
                parts = parse_command(text or "") if one.outcome != "failure" else ()
                if any(head_of(part.text) == head_of(command) for part in parts):
                    found.add(place.episode)
        return found

    def _open(self, one: Issue, details: IssueDetails, ways: Sequence[Workaround]) -> _Ending | None:
        """Of what nothing is known to help: what is said of it where its cause or its share is worth a sentence."""
        if one.check in self._tools:
            # What an agent asks of its own tools and never gets is not there.
            return None if one.repaired or one.files else _Ending(OPEN, (one.check, one.family), _NOT_PASSED)
        third = _THIRD * one.sessions >= self._listed.sessions
        if one.remedy and _slips(one) and third:
            by_hand = f"; repaired {one.remedy.times} of {one.remedy.of} times by an edit of the file it names"
            run = next((way for way in details.remedies if way.how == "run"), None)
            tool = f", {counted(run.times, 'time')} by {quoted(run.what)}" if run else ""
            advice = ": run that before the check" if run else f"; {self._line_on('it')}"
            return _Ending(OPEN, (one.check, one.family), by_hand + tool, advice)
        stopped = one.unit != "runs" and not one.repaired
        certain = one.sessions >= FEWEST_OF_MANY and one.kind == "issue"
        if stopped and (certain or is_environment(CheckFinding(family=one.family, message=one.message))):
            return None if ways else _Ending(OPEN, (one.check, ""), _NOT_PASSED + self._replies(details))
        return None

    def _sentence(self, ending: _Ending, one: Issue, details: IssueDetails) -> Weighed:
        again = "; it came back after it had been quiet" if one.state == "regressed" and one.unit == "runs" else ""
        silenced = f"; silenced by a marker {one.suppressed} of {one.repaired} times" if one.suppressed > 1 else ""
        met = f"{_subject(one, self._tools)} in {one.sessions} of {self._listed.sessions} sessions"
        times = f" ({one.runs} times)" if one.runs > one.sessions else ""
        return Weighed(
            ending.usefulness,
            Highlight(
                kind="issue",
                text=f"{met}{times}{again}{silenced}{ending.end}{ending.advice}.",
                brief=f"{met}{ending.end}.",
                see=f"helix-graph issues show {one.id[:8]}",
                sessions=one.sessions,
                evidence=_places(details),
            ),
        )

    def _check(self, check: str) -> Iterator[Weighed]:
        """What fails in many ways, each of them repaired: the commonest by name, and what is done about them."""
        row = next(iter(self._survey.list(by="check", check=check, limit=1).issues), None)
        groups = [
            one
            for one in self._survey.list(by="group", check=check, limit=ROWS).issues
            if one.sessions > 1 and not one.family.endswith(_NAMELESS)
        ]
        silenced = [one for one in groups if one.suppressed > 1]
        if row is None or row.sessions < self._least or not silenced:
            return
        kinds = [
            f"{one.family} in {one.sessions}"
            for one in groups
            if " " not in one.family and one.sessions >= FEWEST_OF_MANY
        ]
        habit = "".join(
            f"; {one.family} was silenced by a marker {one.suppressed} of {one.repaired} times" for one in silenced
        )
        often = f", among them {' and '.join(kinds[:_KINDS])}" if kinds else ""
        met = f"{label_or_quoted(row.title)} fails in {row.sessions} of {self._listed.sessions} sessions{often}"
        yield Weighed(
            OPEN,
            Highlight(
                kind="issue",
                text=f"{met}{habit}; {self._line_on('these rules')}.",
                brief=f"{met}.",
                see="helix-graph highlights --evidence",
                sessions=row.sessions,
                evidence=self._one_a_session(check),
            ),
        )

    def _one_a_session(self, check: str) -> tuple[EvidencePlace, ...]:
        """Where a check failed first in each session, the newest first."""
        places: dict[str, EvidencePlace] = {}
        for episode in self._episodes.values():
            for event in episode.events:
                if event.type == "error" and event.check == check and not event.deliberate:
                    places.setdefault(episode.id, place_in(episode, event.evidence))
        return tuple(reversed(places.values()))

    def _replies(self, details: IssueDetails) -> str:
        """What a person said next where an agent's turn ended with the failure."""
        names = {(place.episode, place.event) for place in details.occurrences}
        said = (
            event.reply.quote
            for name, episode in self._episodes.items()
            for event in episode.events
            if event.reply and (name, event.id) in names and len(event.reply.quote) <= LONGEST_QUOTE
            if len(event.reply.quote.split()) >= _FEWEST_WORDS and "?" not in event.reply.quote
        )
        return "".join(f"; a person answered {quoted(one.rstrip('.'))}" for one in islice(said, 1))

    def _line_on(self, what: str) -> str:
        return f"a line on {what} in {self._file} may prevent it"


def _helped(one: Issue) -> bool:
    """Whether a command or an edit of one file repaired it again and again; what was changed in tests is no remedy."""
    remedy = one.remedy
    if remedy is None or 2 * remedy.times < remedy.of or 2 * one.repaired < one.occurrences:
        return False
    return remedy.how == "run" or (remedy.how == "edit" and role_of(remedy.what) != "test")


def _slips(one: Issue) -> bool:
    """Whether a check complains of one rule again and again, and each time by hand what it names is put right."""
    named = (
        one.unit == "runs"
        and (one.kinds == 1 or " " not in one.family)
        and not one.family.endswith(_NAMELESS)
        and " name" not in one.family
    )
    return named and one.remedy is not None and one.remedy.how == "edit named"


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


def _places(details: IssueDetails) -> tuple[EvidencePlace, ...]:
    """The newest places of an issue, each line once."""
    newest = (EvidencePlace(session=one.session, log=one.log, line=one.line) for one in reversed(details.occurrences))
    return tuple(islice(dict.fromkeys(newest), EVIDENCE))
