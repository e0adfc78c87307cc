"""The rule ledger: what sessions show of each rule, month by month, and what changed when it came.

What changed is shown as rates per opportunity before and after, with what explains a change as well left out. Rules are
written after a bad spell, and the return to normal looks like an effect. So the burst that led to a rule is left out of
what was before: the sessions at the end in which there was most more of it than usual. A change counts as better only
without the burst, and as worse only with it. What had stopped before the rule came is not called better. What the rule
does not touch is the control: where that changed as much, something else did. All of this is association; a rule given
to half of the sessions at random is the one test of it (`helix_graph.rules.staged`).
"""

from __future__ import annotations

import math
from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from helix_graph.rules.model import BeforeAfter, MonthCount, Rate, Rule, RuleObservation, RuleRecord, State, Verdict
from helix_graph.rules.observance import SessionActs, observations
from helix_graph.rules.rule_files import id_of_line, in_force, is_read_by
from helix_graph.stats.intervals import RateRatio, effective_counts, q_values, rate_ratio, wilson_interval

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


#: Fewer sessions on either side, or fewer events to be expected on either, say nothing. (With 2 events fewer than 8 of
#: 100 made-up rules without an effect are called one, where 10 may be.)
_FEWEST_SESSIONS, _FEWEST_EVENTS = 5, 2
#: The share of verdicts that may be false, in one ledger.
FALSE_DISCOVERIES = 0.10
#: An interval within these says that a rule neither halved nor doubled what it is against.
_SAME = (0.5, 2.0)
#: What is certain to be rarer than this was as good as followed.
_RARE = 0.15
#: Where a control so seldom changes by chance, the rule has to have changed more than it did.
_CONTROL_CHANGED = 0.2
#: So many sessions without an event right before the rule say that it had stopped, where so many in a row are rarer
#: than this at the rate until then.
_FEWEST_QUIET, _BY_CHANCE = 5, 0.2
#: An end beyond this is none: before there was nothing.
_NO_END = 1000.0


class SessionCount(NamedTuple):
    """The events and opportunities of one session, of what a rule is against and of what it does not touch."""

    at: str
    events: int
    opportunities: int
    control: tuple[int, int] = (0, 0)


class Judged(NamedTuple):
    """A comparison, and the chance of it without an effect; None where it is too early."""

    change: BeforeAfter
    chance: float | None


def before_and_after(sessions: Sequence[SessionCount], *, since: str, until: str | None = None) -> Judged | None:
    """The comparison of a rule that came at ``since``; None where there is no session before it, or none after."""
    ordered = sorted(one for one in sessions if one.opportunities)
    earlier = [one for one in ordered if one.at < since]
    after = [one for one in ordered if since <= one.at and (until is None or one.at < until)]
    if not (earlier and after):
        return None
    start = _start_of_burst(earlier)
    before = earlier[:start]
    found = _ratio(before, after)
    with_burst = _ratio(earlier, after)
    controls = [one.control for one in before], [one.control for one in after]
    control = rate_ratio(*controls)
    # With nothing on one side the ratio is that of half an event: it says less than the counts.
    told = found if _happened(before) and _happened(after) else None
    change = BeforeAfter(
        before=_rate(before), after=_rate(after), left_out=sum(one.opportunities for one in earlier[start:]),
        ratio=told and told.ratio, low=told and told.low, high=told.high if told and told.high < _NO_END else None,
        control=control.ratio if control and all(any(events for events, _ in side) for side in controls) else None,
        verdict="too early", quiet=_quiet(earlier),
        last_seen=next((one.at for one in (*reversed(after), *reversed(earlier)) if one.events), None),
    )  # fmt: skip
    # So rare on both sides that nothing could get much better; where it clearly changed all the same, that is judged.
    if _is_rare(earlier) and _is_rare(after) and (found is None or found.low <= 1 <= found.high):
        return Judged(replace(change, verdict="changed nothing"), None)
    if found is None or with_burst is None or _is_early(before, after):
        return Judged(change, None)
    judged = _judged(change, found, with_burst, control)
    if judged.change.verdict == "better" and _had_stopped(earlier):
        clear = judged.chance is not None and judged.chance <= FALSE_DISCOVERIES
        return Judged(replace(change, verdict="stopped before" if clear else "too early"), None)
    return judged


def _judged(change: BeforeAfter, found: RateRatio, with_burst: RateRatio, control: RateRatio | None) -> Judged:
    # The end of the interval that is nearer to 1: after more events, also the bad spell has to be exceeded.
    told = found if found.ratio < 1 else min(found, with_burst, key=lambda one: one.ratio)
    chance = told.chance
    if control is not None and control.high < _NO_END and control.chance < _CONTROL_CHANGED:
        # The ratio of the two ratios: their distances from 1, taken at right angles.
        chance = max(chance, _against(told, control))
    if chance < 2 * FALSE_DISCOVERIES and (told.ratio < 1) == (found.ratio < 1):
        return Judged(replace(change, verdict="better" if found.ratio < 1 else "worse"), chance)
    steady = _SAME[0] <= found.low and found.high <= _SAME[1]
    return Judged(replace(change, verdict="changed nothing" if steady else "too early"), chance)


def _against(found: RateRatio, control: RateRatio) -> float:
    """The chance of a ratio so far from that of the control, by the normal curve on the logarithmic scale."""
    if not (found.low > 0 and control.low > 0 and found.high < _NO_END):
        return found.chance
    z95 = 1.96
    errors = [math.log(one.high / one.low) / (2 * z95) for one in (found, control)]
    distance = math.log(found.ratio / control.ratio)
    if (distance < 0) != (found.ratio < 1):
        return 1.0
    return math.erfc(abs(distance) / (math.hypot(*errors) * math.sqrt(2)))


def settle(judged: Sequence[Judged]) -> list[BeforeAfter]:
    """The comparisons of one ledger, with so few called better or worse that one in ten of them may be false."""
    tested = [(place, one.chance) for place, one in enumerate(judged) if one.chance is not None]
    q = dict(zip((place for place, _ in tested), q_values([chance for _, chance in tested]), strict=True))
    settled = []
    for place, one in enumerate(judged):
        weak = one.change.verdict in {"better", "worse"} and q[place] > FALSE_DISCOVERIES
        verdict: Verdict = "too early" if weak else one.change.verdict
        settled.append(replace(one.change, verdict=verdict))
    return settled


def _start_of_burst(earlier: Sequence[SessionCount]) -> int:
    """Where the burst begins: the end of the sessions that has the most events beyond the usual rate.

    The usual rate is that of the first half, which the burst has not reached.
    """
    half = earlier[: (len(earlier) + 1) // 2]
    trials = sum(one.opportunities for one in half)
    usual = sum(one.events for one in half) / trials if trials else 0.0
    most, start, excess = 0.0, len(earlier), 0.0
    for place in range(len(earlier) - 1, len(half) - 1, -1):
        excess += earlier[place].events - usual * earlier[place].opportunities
        if excess > most:
            most, start = excess, place
    return start


def _happened(sessions: Sequence[SessionCount]) -> bool:
    return any(one.events for one in sessions)


def _quiet(earlier: Sequence[SessionCount]) -> int:
    """How many sessions without an event stand right before the rule."""
    return next((place for place, one in enumerate(reversed(earlier)) if one.events), len(earlier))


def _had_stopped(earlier: Sequence[SessionCount]) -> bool:
    """Whether there was no event any more when the rule came, for longer than the rate until then leaves to chance."""
    quiet = _quiet(earlier)
    until = earlier[: len(earlier) - quiet]
    share = sum(one.events > 0 for one in until) / len(until) if until else 0.0
    return quiet >= _FEWEST_QUIET and (1 - share) ** quiet < _BY_CHANCE


def _ratio(before: Sequence[SessionCount], after: Sequence[SessionCount]) -> RateRatio | None:
    return rate_ratio([_counts(one) for one in before], [_counts(one) for one in after])


def _counts(one: SessionCount) -> tuple[int, int]:
    return one.events, one.opportunities


def _is_rare(sessions: Sequence[SessionCount]) -> bool:
    """Whether hardly anything could get better: the rate is below one in seven for certain."""
    events, opportunities = effective_counts([_counts(one) for one in sessions])
    return wilson_interval(events, opportunities).high < _RARE


def _is_early(before: Sequence[SessionCount], after: Sequence[SessionCount]) -> bool:
    if min(len(before), len(after)) < _FEWEST_SESSIONS:
        return True
    sides = _rate(before), _rate(after)
    usual = sum(one.events for one in sides) / sum(one.opportunities for one in sides)
    return min(usual * one.opportunities for one in sides) < _FEWEST_EVENTS


def _rate(sessions: Sequence[SessionCount]) -> Rate:
    return Rate(
        events=sum(one.events for one in sessions),
        opportunities=sum(one.opportunities for one in sessions),
        sessions=len(sessions),
    )


#: Fewer opportunities say nothing of a habit.
_FEWEST = 5
_HALF = 0.5


#: So many of the newest opportunities that were not taken are named.
_MOST_MISSED = 3


class AcceptedFor(NamedTuple):
    """What a rule was accepted for: the sessions that ``met`` the issue, its ``check``, and since when it is a rule."""

    met: frozenset[str]
    check: str
    at: str


class Ledger:
    """The rules of one project, held against its sessions."""

    def __init__(
        self, rules: Sequence[Rule], sessions: Sequence[SessionActs], *, accepted: Mapping[str, AcceptedFor]
    ) -> None:
        self._rules = rules
        self._accepted = accepted
        self._sessions = sessions
        self._agents = {one.session: one.agent for one in sessions}
        self.size = len(sessions)
        self._seen: dict[str, list[RuleObservation]] = {}

    def observations(self, rule: Rule) -> list[RuleObservation]:
        """Every opportunity of an agent that reads the rule, before it was written too, in order of time."""
        if rule.binding is None:
            return []
        if rule.id not in self._seen:
            files = {span.file for span in rule.spans}
            own = (one for one in self._sessions if any(is_read_by(one.agent, file) for file in files))
            found = (one for session in own for one in observations(rule.binding, session))
            self._seen[rule.id] = sorted(found, key=lambda one: (one.at, one.session, one.line or 0))
        return self._seen[rule.id]

    def current(self, rule: Rule) -> list[RuleObservation]:
        """The opportunities while the rule was in a file that the session's agent reads."""
        return [one for one in self.observations(rule) if in_force(rule, one.at, self._agents[one.session])]

    @cached_property
    def records(self) -> Sequence[RuleRecord]:
        """Each rule with what sessions show of it; verdicts are settled over all of them."""
        records = []
        for one in self._rules:
            # Of the files that have the rule, or had it, one that agents here read is named, and that still has it.
            span = max(one.spans, key=lambda span: (self._is_read(span.file), span.until is None))
            records.append(replace(self._record(one), accepted=self._aim(one) is not None, file=span.file))
        compared = [(place, judged) for place, one in enumerate(records) if (judged := self._compared(one.rule))]
        for (place, _), change in zip(compared, settle([judged for _, judged in compared]), strict=True):
            together = self._together(records[place].rule)
            records[place] = replace(records[place], change=change, together=together)
        return records

    def _record(self, rule: Rule) -> RuleRecord:
        if rule.binding is None:
            return RuleRecord(rule=rule, state="cannot be observed")
        if self._sessions and not any(self._is_read(span.file) for span in rule.spans):
            return RuleRecord(rule=rule, state="not read")
        current = self.current(rule)
        followed = sum(one.followed for one in current)
        missed = [one for one in reversed(current) if not one.followed]
        instead = sum(one.instead for one in current)
        state = _state(followed, instead + sum(one.failed for one in current), len(current))
        if current and rule.binding.when == "kind":
            state, missed, instead = "usage", [], 0  # it says how, not when: to do otherwise is no miss
        return RuleRecord(
            rule=rule, state=state, followed=followed,
            opportunities=len(current), instead=instead,
            sessions=len({one.session for one in current}), months=_by_month(current),
            missed=tuple(missed[:_MOST_MISSED]),
        )  # fmt: skip

    def is_in_force(self, rule: Rule) -> bool:
        """Whether a rule is in a file now that an agent of the sessions reads."""
        return any(span.until is None and (self._is_read(span.file) or not self._agents) for span in rule.spans)

    def _is_read(self, file: str) -> bool:
        return any(is_read_by(agent, file) for agent in {*self._agents.values()})

    def _aim(self, rule: Rule) -> AcceptedFor | None:
        """What a rule was accepted for; by its words, since its id is that of the line that it was reworded from."""
        return self._accepted.get(id_of_line(rule.text))

    def _compared(self, rule: Rule) -> Judged | None:
        aim = self._aim(rule)
        if aim is not None:
            return self._issue_compared(rule, aim)
        if rule.binding is None or rule.binding.described or not rule.spans[0].commit:
            return None
        seen = self.observations(rule)
        every = Counter(one.session for one in seen)
        missed = Counter(one.session for one in seen if not one.followed)
        checks = {part for target in rule.binding.targets for part in target.text.split()}
        sessions = [
            SessionCount(one.at, missed[one.session], every[one.session], control=_other_checks(one, checks))
            for one in self._sessions
            if one.session in every
        ]
        judged = before_and_after(sessions, since=rule.since, until=rule.until)
        if judged is None or rule.binding.when != "kind":
            return judged
        return judged._replace(change=replace(judged.change, event="not used in"))

    def _issue_compared(self, rule: Rule, aim: AcceptedFor) -> Judged | None:
        """In how many sessions the issue was met that a rule was accepted for."""
        sessions = [
            SessionCount(one.at, int(one.session in aim.met), 1, control=_other_checks(one, {*aim.check.split()}))
            for one in self._sessions
        ]
        judged = before_and_after(sessions, since=min(rule.since or aim.at, aim.at), until=rule.until)
        return judged and judged._replace(change=replace(judged.change, event="had the issue in"))

    def _together(self, rule: Rule) -> tuple[str, ...]:
        """The other rules of the commit that brought this one: what changed may be due to any of them."""
        commit = rule.spans[0].commit
        return tuple(
            one.id
            for one in self._rules
            if one.id != rule.id and one.binding is not None and one.spans[0].commit == commit
        )


def _state(followed: int, tried: int, opportunities: int) -> State:
    """What became of a rule; who ran the command in vain, or another check of that kind, did not ignore it."""
    if not opportunities:
        return "not applicable"
    if opportunities < _FEWEST:
        return "too early"
    interval = wilson_interval(followed, opportunities)
    if interval.low > _HALF:
        return "followed"
    return "ignored" if wilson_interval(followed + tried, opportunities).high < _HALF else "mixed"


def _by_month(found: Iterable[RuleObservation]) -> tuple[MonthCount, ...]:
    followed, every = Counter[str](), Counter[str]()
    for one in found:
        every[one.at[:7]] += 1
        followed[one.at[:7]] += one.followed
    return tuple(
        MonthCount(month=month, followed=followed[month], opportunities=every[month]) for month in sorted(every)
    )


def _other_checks(session: SessionActs, named: set[str]) -> tuple[int, int]:
    """The failed runs and all runs of checks of which a rule names no word."""
    runs = [act for act in session.acts if act.kind == "check" and act.passed is not None]
    others = [act for act in runs if not named & {*act.check.split(), act.check_kind}]
    return sum(act.passed is False for act in others), len(others)
