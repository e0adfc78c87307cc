"""The rule ledger: what sessions show of each rule, month by month, and what changed when it came."""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from helix_graph.rules.before_after import Judged, SessionCount, before_and_after, settle
from helix_graph.rules.model import MonthCount, Rule, RuleObservation, RuleRecord, State
from helix_graph.rules.observance import SessionActs, observations
from helix_graph.rules.rule_files import id_of_line, in_force, is_read_by
from helix_graph.stats.intervals import wilson_interval

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

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
        records = [
            replace(self._record(one), accepted=self._aim(one) is not None, file=self._file(one)) for one in self._rules
        ]
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

    def _file(self, rule: Rule) -> str:
        """The file to name of those in which a rule is, or was: one that agents here read, and that it is still in."""
        return max(rule.spans, key=lambda span: (self._is_read(span.file), span.until is None)).file

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
