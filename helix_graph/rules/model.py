"""The values of the rule ledger: rules, what they are bound to, and what sessions show of them."""

from __future__ import annotations

from typing import Literal

import msgspec

from helix_graph.rules.staged import TrialResult

CheckKind = Literal["test", "lint", "build", "typecheck", "format"]

Sense = Literal["do", "avoid"]
#: Where a rule can be followed or ignored: before a commit, before a push or a pull request, after changes, at each use
#: of one command or the other, in each session, where a file of that sort is created. ``kind``: it names how a kind of
#: check is run and says nothing of when.
When = Literal["commit", "push", "change", "kind", "instead", "never", "place"]
Source = Literal["project", "user", "managed"]
#: What became of a rule: most opportunities taken, few, about half; it says how a thing is done and not when, so that
#: it is only counted how many sessions do it; no opportunity, too few; no agent of these sessions reads its file;
#: nothing of it that a session shows.
State = Literal[
    "followed", "ignored", "mixed", "usage", "not applicable", "too early", "not read", "cannot be observed"
]


#: Said where no rule can be held against sessions.
NOTHING_TO_SHOW = (
    "No rule here names a command or a file, so sessions cannot show whether rules are followed. Rules are read from "
    "AGENTS.md, CLAUDE.md, GEMINI.md and similar files."
)


def not_read(unread: dict[str, int]) -> str:
    """A sentence on rules that no agent of the sessions reads, by the file of each; empty where there are none.

    >>> not_read({"GEMINI.md": 2, ".cursorrules": 1})
    'No agent of these sessions reads 2 rules of GEMINI.md and 1 of .cursorrules; they are not counted.'
    """
    (file, number), *others = unread.items() or [("", 0)]
    counted = [f"{number} {'rule' if number == 1 else 'rules'} of {file}", *(f"{n} of {name}" for name, n in others)]
    joined = " and ".join(filter(None, (", ".join(counted[:-1]), counted[-1])))
    return f"No agent of these sessions reads {joined}; they are not counted." if number else ""


class Target(msgspec.Struct, frozen=True):
    """A command or a path that a rule names."""

    kind: Literal["command", "path"]
    text: str


class Binding(msgspec.Struct, frozen=True, kw_only=True):
    """What sessions show of a rule.

    ``targets`` are to be used, or avoided; with ``either`` one of them is enough. ``others`` are what they replace.
    ``check`` is the kind of check that they are, ``scope`` the paths whose change counts. ``described`` says that the
    line tells how a thing is done and asks for nothing, ``passes`` that the commands have to succeed.
    """

    sense: Sense
    when: When
    targets: tuple[Target, ...]
    others: tuple[Target, ...] = ()
    check: CheckKind | None = None
    scope: tuple[str, ...] = ()
    either: bool = False
    described: bool = False
    passes: bool = False


class RuleSpan(msgspec.Struct, frozen=True, kw_only=True):
    """One file in which a rule was, since which commit and until which; ``until`` is None while it is there."""

    file: str
    since: str
    commit: str
    until: str | None = None


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """One line that asks for something, in whatever files it is or was."""

    id: str
    text: str
    heading: str
    source: Source
    spans: tuple[RuleSpan, ...]
    binding: Binding | None

    @property
    def since(self) -> str:
        """When it first appeared."""
        return min(span.since for span in self.spans)

    @property
    def until(self) -> str | None:
        """When it went; None while it is in a file."""
        ends = [span.until for span in self.spans]
        return None if None in ends else max(end for end in ends if end is not None)


class RuleObservation(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One opportunity to follow a rule, and whether it was taken; ``line`` is the line of ``log``.

    ``what`` is the act that asked for it, and ``why`` says which commands ran, in which lines, or which were missing;
    ``failed`` that it was not taken because they ran without success, ``instead`` that another check of that kind ran.
    """

    session: str
    episode: str
    at: str
    followed: bool
    what: str
    why: str
    failed: bool
    instead: bool
    log: str | None
    line: int | None


class MonthCount(msgspec.Struct, frozen=True, kw_only=True):
    """Of the opportunities of a month, how many were taken."""

    month: str
    followed: int
    opportunities: int


class Rate(msgspec.Struct, frozen=True, kw_only=True):
    """``events`` in so many ``opportunities`` of so many ``sessions``."""

    events: int
    opportunities: int
    sessions: int


#: "Stopped before": it is rarer since the rule, and had not happened for a while when the rule came.
Verdict = Literal["better", "worse", "changed nothing", "stopped before", "too early"]


class BeforeAfter(msgspec.Struct, frozen=True, kw_only=True):
    """What a rule is against (opportunities not taken, failures), before the rules of a commit and after.

    ``event`` says what is counted; ``ratio`` is the rate after over the rate before, with its interval, None where one
    of them is 0; ``control`` the same ratio of what none of the rules touch, and ``left_out`` the opportunities between
    the first of the burst that led to the rule and the rule. ``last_seen`` is when the newest session with such an
    event began, ``quiet`` the number of sessions with an opportunity and without an event right before the rule.
    """

    before: Rate
    after: Rate
    left_out: int
    ratio: float | None
    low: float | None
    high: float | None
    control: float | None
    verdict: Verdict
    event: str = "not followed"
    last_seen: str | None = None
    quiet: int = 0


class RuleRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A rule with what sessions show of it; ``accepted`` is one that `advise` wrote, whose issue is followed.

    ``file`` is the one that the sessions' agents read, if any. In ``instead`` of the opportunities that were not taken
    another check of the same kind was run: that is no ignoring.
    ``missed`` are the newest opportunities that were not taken, the newest first.
    """

    rule: Rule
    state: State
    file: str = ""
    followed: int = 0
    opportunities: int = 0
    instead: int = 0
    sessions: int = 0
    months: tuple[MonthCount, ...] = ()
    change: BeforeAfter | None = None
    together: tuple[str, ...] = ()
    missed: tuple[RuleObservation, ...] = ()
    accepted: bool = False


class RuleList(msgspec.Struct, frozen=True, kw_only=True):
    """The rules of a project, those that can be observed first. ``rows`` counts all that fit what was asked.

    ``unread`` counts the others that could be observed, by the files that have them: no agent of the sessions reads
    these.
    """

    rules: tuple[RuleRecord, ...]
    rows: int
    files: tuple[str, ...]
    sessions: int
    unobservable: int
    unread: dict[str, int]
    note: str


class RuleDetails(msgspec.Struct, frozen=True, kw_only=True):
    """A rule with every opportunity, the newest last.

    ``unread`` counts the sessions in its time whose agents do not read its files.
    """

    record: RuleRecord
    observations: tuple[RuleObservation, ...]
    unread: dict[str, int] = {}


class EvidenceLine(msgspec.Struct, frozen=True, kw_only=True):
    """A line of a session's log."""

    session: str
    log: str | None
    line: int | None


class Proposal(msgspec.Struct, frozen=True, kw_only=True):
    """A rule that is missing, or a hook where the rule ``existing`` is ignored, with what shows the need for it.

    Costs are those of the issue so far, over ``occurrences`` in ``sessions``.
    """

    id: str
    kind: Literal["rule", "hook"]
    sentence: str
    reason: str
    issue: str
    title: str
    check: str
    sessions: int
    occurrences: int
    steps: float | None
    minutes: float | None
    repaired: int
    evidence: tuple[EvidenceLine, ...]
    existing: RuleRecord | None = None


class UnwordedIssue(msgspec.Struct, frozen=True, kw_only=True):
    """An issue that recurs, and that no plain sentence would prevent."""

    id: str
    title: str
    sessions: int


class Advice(msgspec.Struct, frozen=True, kw_only=True):
    """The rules that are missing, for issues of most sessions first, and what the rules on ``trials`` say.

    ``unworded`` are other issues that recur in three sessions or more: a sentence for them takes a reader. ``into`` is
    the file of rules that the project's agents read.
    """

    proposals: tuple[Proposal, ...]
    unworded: tuple[UnwordedIssue, ...]
    trials: tuple[TrialResult, ...]
    sessions: int
    note: str
    into: str


class Accepted(msgspec.Struct, frozen=True, kw_only=True):
    """A rule that a person accepted: the change of the file, or the share of sessions that get it for a trial.

    ``note`` says what will not be known of it.
    """

    id: str
    sentence: str
    issue: str
    file: str = ""
    diff: str = ""
    written: bool = False
    trial: float | None = None
    reason: str = ""
    note: str = ""
