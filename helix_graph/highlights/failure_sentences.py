"""The sentences about failures: what keeps failing, where, after what, what it took, and what helped.

An issue gives one when it recurs, names its cause, and something is known to help, or nothing was seen to. What is
missing here is missing on purpose: an agent's own slips, answers to a look, failures without a name.

Of a check it is said what has to run first, and after which changes it fails more often: these name a file or folder;
of a linter or formatter the rule that is broken says more, and an issue tells it.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from helix_episodes.extraction.checks import CheckFinding
from helix_episodes.extraction.checks.command_failures import is_environment
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
    RankedHighlight,
    counted,
    fewest,
    option,
    place_in,
    said_in,
)
from helix_graph.insights.label_quoting import label_or_quoted
from helix_graph.insights.safe_quoting import logged_name_or_quoted, quoted
from helix_graph.rules.rule_files import in_force

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from helix_episodes.model import CommandRun, Episode, Event
    from helix_graph.causality.api import Causality
    from helix_graph.causality.check_rates import SituationRate
    from helix_graph.causality.fragile import FragilePlace
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
#: What a person says in fewer words, as in "go on", says nothing of the failure.
_FEWEST_WORDS = 4
#: Kinds of check of which a tool may repair all that they complain of.
_REWRITTEN = frozenset({"lint", "format"})
#: What the title of a group of rules ends with.
_AND_OTHERS = " and others"
#: Families with which a check says no more than that it failed.
_NAMELESS = " failed"
#: What is said where nothing repaired an issue, and no call got past it.
_NOT_PASSED = "; the same command never went through in these sessions"
#: When counts of a situation are worth a sentence.
_FEWEST_FAILED, _FEWEST_ELSEWHERE, _TIMES_MORE = 5, 5, 3
_PLACES = frozenset({"file", "folder"})
#: Of these the rule that is broken says more than where.
_BY_RULE = frozenset({"lint", "format"})


class _Ending(NamedTuple):
    """How a sentence about an issue ends: with its cure, whose ``key`` is said once.

    ``apart`` of the runs in which it was met are named in it by themselves.
    """

    usefulness: float
    key: tuple[str, str]
    end: str
    advice: str = ""
    apart: int = 0


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
        self._file, self._rules, self._written = written
        self._episodes = {one.id: one for one in episodes}
        self._tools = {event.check for one in episodes for event in one.events if event.tool and event.check}

    def __iter__(self) -> Iterator[RankedHighlight]:
        said: set[tuple[str, str]] = set()
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
            found = self._cured(one, details, ways) or self._open(one, details, passed)
            if found is not None and found.key not in said:
                said.update({found.key} if found.key[1] else ())
                yield self._sentence(found, one, details)

    def _cured(
        self, one: Issue, details: IssueDetails, ways: Sequence[tuple[str, Workaround | None]]
    ) -> _Ending | None:
        """What repaired an issue, or what worked instead in most of its sessions."""
        run = next((each.what for each in details.remedies if each.how == "run"), "")
        if run and one.unit == "runs" and (ending := self._by_command(one, details, run)):
            return ending
        way = common_workaround(ways)
        # Of two sessions one is half; only that quotation marks were missing is certain after one.
        least = 1 if way and way.how == "quoted" else FEWEST
        if way is None or way.how == "again" or way.worked < least or 2 * way.worked < way.sessions:
            return None
        end = f"; what worked instead, in {way.worked} of {way.sessions} sessions: "
        calls = {(name, used.command) for name, used in ways if used and (used.how, used.what) == (way.how, way.what)}
        each = Counter(command for _, command in calls)
        vain: list[str] = []
        if way.how == "before" and len(each) > 1:
            # The wrapper alone cannot be typed.
            runs = (run.command or "" for _, run, _ in self._failed_runs(details))
            vain = [call for call in runs if call.startswith(way.what.removesuffix("…"))]
            end += ", ".join(
                f"{quoted(call, longest=LONGEST_QUOTE)} in {times}" for call, times in sorted(each.items())
            )
            end += "".join(f"; {quoted(call, longest=LONGEST_QUOTE)} failed too" for call in sorted({*vain}))
        else:
            what, command = (quoted(text, longest=LONGEST_QUOTE) for text in (way.what, way.command))
            end += way_words(way.how, what) + (f" ({command})" if command != what else "")
        return _Ending(HELPED, (one.check, way.what), end, self._advice(one, way), len(vain))

    def _by_command(self, one: Issue, details: IssueDetails, command: str) -> _Ending | None:
        """How often the next run showed an issue gone after a command that repairs it, and after edits by hand."""
        runs = self._failed_runs(details)
        tried = [found for episode, run, at in runs if (found := _tried(episode, run, at, one.family, command))]
        by_command, by_hand = ([right for used, right in tried if used is way] for way in (True, False))
        what, key = quoted(command, longest=LONGEST_QUOTE), (one.check, command)
        right = sum(by_command)
        if (
            right >= FEWEST
            and 2 * right >= len(by_command)
            and one.remedy
            and one.remedy.what == command
            and 2 * one.remedy.times >= one.remedy.of
            and 2 * one.repaired >= one.occurrences
            # What a rule file names and agents take by themselves leaves nothing to decide.
            and not re.search(rf"{re.escape(command)}(?![\w:-])", self._written or "")
        ):
            hand = f", after edits by hand {sum(by_hand)} of {len(by_hand)}" if by_hand else ""
            end = f"; after {what} it was gone at the next run {right} of {len(by_command)} times{hand}"
            return _Ending(HELPED, key, end, ": run it before the check")
        left = len(by_hand) - sum(by_hand)
        if right == len(by_command) > 0 and left >= FEWEST and all(run.kind in _REWRITTEN for _, run, _ in runs):
            end = f"; after edits by hand the next run showed it again {left} of {len(by_hand)} times, after {what} "
            return _Ending(HELPED, key, f"{end}0 of {len(by_command)}", ": run that instead of editing")
        return None

    def _failed_runs(self, details: IssueDetails) -> list[tuple[Episode, CommandRun, int]]:
        """Each run in which an issue was met, once, with its place among the session's runs."""
        met = {(place.episode, place.event) for place in details.occurrences}
        return [
            (episode, run, at)
            for episode in map(
                self._episodes.__getitem__, dict.fromkeys(place.episode for place in details.occurrences)
            )
            for at, run in enumerate(episode.runs)
            if any((episode.id, name) in met for name in run.events)
        ]

    def _advice(self, one: Issue, way: CommonWorkaround) -> str:
        """Where to write down what worked instead: beside the rule that asks for what fails, if there is one."""
        at = sortable_time(one.last_seen)
        for file, rule in self._rules if way.how == "without" else ():
            if f"`{way.what}`" in rule.text and in_force(rule, at):
                return f"; {said_in(file, rule.text)}: name the exception there"
        return f": say so in {self._file}"

    def _open(self, one: Issue, details: IssueDetails, ways: Sequence[Workaround]) -> _Ending | None:
        """Of what nothing is known to help: what is said of it where its cause or its share is worth a sentence."""
        if one.check in self._tools:
            return None  # what an agent asks of its own tools and never gets is not there, and nothing to decide
        third = _THIRD * one.sessions >= self._listed.sessions
        if one.remedy and _slips(one) and third:
            by_hand = f"; repaired {one.remedy.times} of {one.remedy.of} times by an edit of the file it names"
            return _Ending(OPEN, (one.check, one.family), by_hand, f"; a line on it in {self._file} may prevent it")
        stopped = one.unit != "runs" and not one.repaired
        certain = one.sessions >= FEWEST_OF_MANY and one.kind == "issue"
        if stopped and (certain or is_environment(CheckFinding(family=one.family, message=one.message))):
            return None if ways else _Ending(OPEN, (one.check, ""), *self._not_passed(details))
        return None

    def _sentence(self, ending: _Ending, one: Issue, details: IssueDetails) -> RankedHighlight:
        again = "; it came back after it had been quiet" if one.state == "regressed" and one.unit == "runs" else ""
        silenced = f"; silenced by a marker {one.suppressed} of {one.repaired} times" if one.suppressed > 1 else ""
        checks = Counter(event.check or "" for _, event in self._events(details)) if one.unit != "runs" else Counter()
        by_check = [(name, times) for name, times in checks.most_common() if name not in self._tools]
        names = [name for name, _ in by_check]
        if len(names) == 1 and ending.usefulness == OPEN and (target := self._common_target(details)):
            names = [f"{names[0]} {target}"]
        met = f"{_subject(one, names)} in {one.sessions} of {self._listed.sessions} sessions"
        each = zip(_all_quoted(names), by_check, strict=False)
        days = {(place.date or "")[:10] for place in details.occurrences}
        split = f": {', '.join(f'{name} {times}' for name, (_, times) in each)}" if len(by_check) > 1 else ""
        day = f", all on {min(days)}" if one.unit != "runs" and one.sessions > FEWEST and len(days) == 1 else ""
        runs = one.runs - ending.apart
        times = f" ({runs} times{day}{split})" if runs > one.sessions else ""
        # The newest places of an issue, each line once.
        newest = (
            EvidencePlace(session=one.session, log=one.log, line=one.line) for one in reversed(details.occurrences)
        )
        return RankedHighlight(
            ending.usefulness,
            Highlight(
                kind="issue",
                text=f"{met}{times}{again}{silenced}{ending.end}{ending.advice}.",
                brief=f"{met}{ending.end}.",
                see=f"helix-graph issues show {one.id[:8]}",
                sessions=one.sessions,
                evidence=tuple(islice(dict.fromkeys(newest), EVIDENCE)),
            ),
        )

    def _not_passed(self, details: IssueDetails) -> tuple[str, str]:
        """What became of what nothing repaired: later sessions, what a person said to it; and what to do about it."""
        places = details.occurrences
        names, met = {(place.episode, place.event) for place in places}, {place.episode for place in places}
        called = {f"{event.check} {self._common_target(details)}".strip() for _, event in self._events(details)}
        order = list(self._episodes)
        last = max(order.index(name) for name in met)
        later = sum(_went_well(self._episodes[name], called) for name in order[last + 1 :])
        end = f"; {counted(later, 'later session')} got through" if later else ""
        for name, episode in self._episodes.items():
            for reply in (event.reply for event in episode.events if event.reply and (name, event.id) in names):
                said = reply.quote
                if len(said) <= LONGEST_QUOTE and len(said.split()) >= _FEWEST_WORDS and "?" not in said:
                    again = sum(order.index(one) > order.index(name) for one in met)
                    tried = f", and {counted(again, 'later session')} ran into it again" if again else ""
                    end += f"; a person answered {quoted(said.rstrip('.'))}{tried}"
                    return _NOT_PASSED + end, f": write that into {self._file}, or mend the cause"
        return _NOT_PASSED + end, f": mend the cause, or say in {self._file} that agents stop there"

    def _common_target(self, details: IssueDetails) -> str:
        """The address that a command was called with each time it failed."""
        calls = [
            {word for part in parse_command(run.command or "") for word in part.arguments if "://" in word}
            for _, run, _ in self._failed_runs(details)
        ]
        return min(set.intersection(*calls), default="") if calls else ""

    def _events(self, details: IssueDetails) -> Iterator[tuple[Episode, Event]]:
        for place in details.occurrences:
            episode = self._episodes[place.episode]
            yield from ((episode, event) for event in episode.events if event.id == place.event)


def _tried(episode: Episode, run: CommandRun, at: int, family: str, command: str) -> tuple[bool, bool] | None:
    """Whether a command ran between a failure and the next telling run of its check, and whether that had it no more.

    None where no such run followed, or where nothing is known to have been done.
    """
    events = {event.id: event for event in episode.events}
    for later in episode.runs[at + 1 :]:
        named = [event.family or "" for event in later.events_among(events) if event.type == "error"]
        if (
            later.check != run.check
            or later.passed is None
            or (named and all(one.endswith(_NAMELESS) for one in named))
        ):
            continue
        first, last = (one.evidence.line if one.evidence else 0 for one in (run, later))
        between = (
            one.action.command or ""
            for one in episode.decisions
            if one.action and one.action.verb == "run" and one.evidence and first < one.evidence.line < last
        )
        parts = (part for text in (*between, later.command or "") for part in parse_command(text))
        used = any(head_of(part.text) == head_of(command) for part in parts)
        return (used, family not in named) if used or later.edits else None
    return None


def _went_well(episode: Episode, called: Collection[str]) -> bool:
    """Whether a session ran one of these commands with success."""
    ran = (one.action.command for one in episode.decisions if one.action and one.outcome == "success")
    calls = {f"{part.program} {' '.join(part.arguments)} " for text in ran for part in parse_command(text or "")}
    return any(call.startswith(f"{one} ") for call in calls for one in called)


def _slips(one: Issue) -> bool:
    """Whether a check complains of one rule again and again, and each time by hand what it names is put right."""
    named = (
        one.unit == "runs"
        and (one.kinds == 1 or " " not in one.family)
        and not one.family.endswith(_NAMELESS)
        and " name" not in one.family
    )
    return named and one.remedy is not None and one.remedy.how == "edit named"


def _subject(one: Issue, commands: Sequence[str]) -> str:
    """What fails: the check with the rule, the kind of failure, or what it said; or the commands that failed alike."""
    names, _, family = one.title.partition(": ")
    family = one.family if family.startswith(f"{one.family}: ") else family  # the message names the rest
    checks = names.split(" and ")
    # A name that has to be quoted may hold the "and" itself.
    plain = all(label_or_quoted(name) == name for name in checks)
    called = _all_quoted(commands or (checks if plain else [names]))
    fails = f"{' and '.join(filter(None, (', '.join(called[:-1]), called[-1])))} fail{'' if called[1:] else 's'}"
    said = quoted(one.message, longest=LONGEST_QUOTE)
    # Of a command the message names the cause; of a check the family does, which is its rule.
    telling = family and "…" not in family and one.family not in SAYS_NO_NAME and not (said and family in _MISCALLED)
    if one.kind == "group" and one.kinds > 1:
        if family.endswith(_NAMELESS):
            return f"{fails} ({one.kinds} different {'failures' if one.unit == 'runs' else 'files'})"
        tells = one.unit != "runs" or " " not in one.family or one.family in _MISCALLED
        return fails + _with(family, one.message, f"such as {said}" if said and tells else "")
    if family and (not said or (telling and (one.unit == "runs" or " " not in family))):
        return fails + _with(family, one.message, said if " " not in family else "")
    return f"{fails} with {said}" if said else fails


def _with(family: str, message: str, example: str) -> str:
    """The kind of a failure with an example: quoted where the log says it, in brackets where the name is ours."""
    rule, others, _ = family.partition(_AND_OTHERS)
    if " " in rule and rule not in message:
        return f" ({', '.join(filter(None, (label_or_quoted(family), example)))})"
    shown = f"{logged_name_or_quoted(rule)}{others}" if others and " " not in rule else logged_name_or_quoted(family)
    return f" with {shown}" + (f" ({example})" if example else "")


def _all_quoted(names: Sequence[str]) -> list[str]:
    """Names of commands, all of them in quotation marks where one needs them."""
    return [*names] if all(label_or_quoted(one) == one for one in names) else [quoted(one) for one in names]


def prerequisite_sentences(runbook: Runbook, episodes: Sequence[Episode]) -> Iterator[RankedHighlight]:
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
            yield RankedHighlight(HELPED, told)


def situation_sentences(causality: Causality) -> Iterator[RankedHighlight]:
    """Files and folders after whose change a check fails well above its rate elsewhere."""
    fragile = causality.fragile().places
    places = {(one.rate.check, one.path): one for one in fragile}
    report = causality.checks()
    rows = (row for check in report.checks for row in check.situations if _is_place(row))
    for row in (row for row in rows if row.standing == "worse" and row.worse_in_both_halves):
        yield RankedHighlight(HELPED, _situation(row, places.get((row.check, row.value))))
    # In small memories rates say nothing yet, and counts are counts.
    counts = [one for one in fragile if not report.enough and _fails_much_more(one.rate)]
    yield from (RankedHighlight(OPEN, _situation(one.rate, one)) for one in counts)


def _is_place(row: SituationRate) -> bool:
    """Whether a situation names a file or folder; tests fail in places of tests while they are being written."""
    inside = f"{row.value}/x" if row.dimension == "folder" else row.value
    return row.dimension in _PLACES and row.kind not in _BY_RULE and (row.kind != "test" or role_of(inside) != "test")


def _fails_much_more(row: SituationRate) -> bool:
    """Whether the counts alone say so: enough failures, and three times the share of elsewhere."""
    if not _is_place(row) or row.failed < _FEWEST_FAILED or row.runs_elsewhere < _FEWEST_ELSEWHERE:
        return False
    return row.failed * row.runs_elsewhere >= _TIMES_MORE * row.failed_elsewhere * row.runs


def _situation(row: SituationRate, place: FragilePlace | None) -> Highlight:
    after = row.after.replace(row.value, logged_name_or_quoted(row.value))
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
