"""The API of `memory.rules`: the rules that are written for agents, and what sessions show of them."""

from __future__ import annotations

from collections import Counter
from contextlib import nullcontext
from functools import cached_property
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, get_args

from msgspec.structs import replace

from helix_episodes.errors import InvalidArgument, NotFound
from helix_episodes.model import sortable_time
from helix_episodes.safe_files import home_folder
from helix_graph.errors import GraphNotCompiled
from helix_graph.graph.assertions import now
from helix_graph.insights.safe_quoting import sanitize_line
from helix_graph.managed_block import added_line
from helix_graph.project import FOLDER, HOOK_FOLDER
from helix_graph.rules.binding import bind
from helix_graph.rules.ledger import AcceptedFor, Ledger
from helix_graph.rules.model import Accepted, Advice, RuleDetails, RuleList, RuleRecord, State, UnwordedIssue
from helix_graph.rules.observance import acts_of_all
from helix_graph.rules.proposals import FEWEST_SESSIONS, covered, identity_of, proposals
from helix_graph.rules.rule_files import (
    file_for_agents,
    files_of,
    id_of_line,
    in_force,
    own_versions,
    project_versions,
    rules_in,
)
from helix_graph.rules.staged import (
    LONGEST_RULE,
    AcceptedRule,
    TrialResult,
    accept,
    accepted_rules,
    draws,
    result_of,
    sessions_needed,
)
from helix_graph.trust import shared_episodes
from helix_graph.validation import as_choice, as_fraction, as_int, as_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from helix_episodes.model import Episode
    from helix_graph.issues.api import Issues
    from helix_graph.issues.model import Issue, IssueList
    from helix_graph.issues.survey import IssueSurvey
    from helix_graph.rules.model import Proposal, Rule
    from helix_graph.rules.observance import SessionActs

STATES: tuple[State, ...] = get_args(State)
MOST_ROWS = 500
_MOST_ADVICE, _MOST_ISSUES = 100, 100
_SETTLED = frozenset({"quiet", "muted", "resolved"})
_ADVICE_NOTE = (
    "Costs are what the issue took so far, not what the rule will save. `advise --accept ID --into {into}` shows "
    "the change; `advise --accept ID --trial 0.5` gives it to half of the sessions and measures."
)
_NO_HOOKS = (
    "No hook has spoken in this project yet, and the one at a session's start gives the rule to sessions: `helix-graph "
    "setup --check` says whether it is in place"
)
_NOT_OBSERVED = (
    "The sentence names nothing that sessions show, so nobody can see whether it is followed; `rules` will say only "
    "whether the issue occurs less"
)
_ORDER = {
    state: place for place, state in enumerate(("ignored", "mixed", "followed", "usage", "too early", "not applicable"))
}
_NOTE = (
    "Followed: the command ran, with every flag that the rule writes, between the change and the commit, or after the "
    "session's first change. Usage: the rule does not say when, so only the sessions that changed code and used it are "
    "counted. What only a commit hook runs is in no log and counts as not run. Before and after is association, not "
    "cause."
)


class Rules:
    """The rules of the project whose memory is in ``root``, held against its episodes."""

    def __init__(self, root: Path, *, sessions: Callable[[], Iterable[Episode]], issues: Callable[[], Issues]) -> None:
        self._root, self._folder = root, root.parent if root.name == FOLDER else Path.cwd()
        self._issues = issues
        self._sessions = sessions
        #: The last ledger with what it was made of: `list` and `advise` mostly ask the same one.
        self._ledger: tuple[object, Ledger] | None = None

    def list(self, *, state: str | None = None, user: bool = False, gone: bool = False, limit: int = 50) -> RuleList:
        """What sessions show of each rule that can be observed, those ignored first.

        Of the project's AGENTS.md, CLAUDE.md, GEMINI.md, Cursor's and Copilot's rules and skills, with ``user`` of
        those in the home folder too. ``state`` asks for one, ``cannot be observed`` as well; ``gone`` for rules that
        are in no file any more.

        Raises:
            InvalidArgument: ``state`` is no state; ``limit`` is not between 1 and 500.
        """
        wanted = None if state is None else as_choice("state", state, STATES)
        most = as_int("limit", limit, lowest=1, highest=MOST_ROWS)
        ledger, rules = self._read(user=user)
        records = [one for one in ledger.records if gone or one.rule.until is None]
        observable = [one for one in records if one.rule.binding is not None or one.accepted]
        # What went from every file that is read, and is in another one, is not in force.
        unread = [one for one in observable if one.rule.until is None and not ledger.is_in_force(one.rule)]
        observable = [one for one in observable if one not in unread]
        by_file = Counter(one.rule.spans[-1].file for one in unread)
        shown = [one for one in records if one.state == wanted] if wanted else observable
        shown.sort(
            key=lambda one: (_ORDER.get(one.state, len(_ORDER)), -one.opportunities, one.rule.since, one.rule.id)
        )
        return RuleList(
            rules=tuple(shown[:most]), rows=len(shown), files=files_of(rules), sessions=ledger.size,
            unobservable=sum(one.state == "cannot be observed" for one in records), note=_NOTE,
            unread=dict(sorted(by_file.items())),
        )  # fmt: skip

    def show(self, name: str, *, user: bool = True) -> RuleDetails:
        """A rule by its id, or the beginning of one: every opportunity with its session and the line of its log."""
        asked = as_line("id", name)
        ledger, _ = self._read(user=user)
        found = [one for one in ledger.records if one.rule.id.startswith(asked)]
        if len(found) != 1:
            several = f"{len(found)} rules begin with {asked!r}; name more of the id"
            raise NotFound(several if found else f"no rule {asked!r}; `helix-graph rules` lists them")
        rule = found[0].rule
        unread = Counter(
            one.agent for one in self._acts if in_force(rule, one.at) and not in_force(rule, one.at, one.agent)
        )
        seen = tuple(ledger.observations(rule))
        return RuleDetails(record=found[0], observations=seen, unread=dict(sorted(unread.items())))

    def advise(self, *, limit: int = 10, survey: IssueSurvey | None = None) -> Advice:
        """The rules that are missing: for issues that recur, that an act would prevent, and that no rule covers.

        Where a rule covers one and is ignored, a hook is proposed. ``unworded`` are the other recurring issues of three
        sessions or more, which take a reader of their evidence. Who asks more of the same failures hands over the
        ``survey`` that is open; by default one is opened.

        Raises:
            InvalidArgument: ``limit`` is not between 1 and 100.
        """
        most = as_int("limit", limit, lowest=1, highest=_MOST_ADVICE)
        ledger, _ = self._read(user=True)
        found, listed, agents = self._proposals(ledger, survey)
        known = {one.issue for one in found} | {one.issue for one in accepted_rules(self._root)}
        known |= covered(listed.issues, _current(ledger.records))
        costly = (one for one in listed.issues if one.sessions >= FEWEST_SESSIONS and one.state not in _SETTLED)
        unworded = tuple(
            UnwordedIssue(id=one.id, title=one.title, sessions=one.sessions)
            for one in costly
            if one.id and one.id not in known
        )
        into = file_for_agents(self._folder, agents)
        return Advice(
            proposals=tuple(found[:most]), unworded=unworded, trials=self.trials(), sessions=listed.sessions,
            note=_ADVICE_NOTE.format(into=into), into=into,
        )  # fmt: skip

    def accept(
        self,
        name: str,
        *,
        into: Path | str | None = None,
        trial: float | None = None,
        words: str | None = None,
        write: bool = False,
    ) -> Accepted:
        """The change that puts a proposed rule ``into`` a file; with ``write`` it is applied, and then followed.

        With ``trial`` the rule goes into no file: that share of sessions gets it when they begin, until it is known
        what it does. ``words`` is another sentence for the proposal, or for the issue of this id, which has to exist.

        Raises:
            NotFound: Nothing proposed has this id, and with ``words`` no issue either.
            InvalidArgument: Neither ``into`` nor ``trial``, or both; ``into`` is no file of the project, or behind a
                link; ``words`` is no single sentence.
        """  # fmt: skip
        if (into is None) == (trial is None):
            raise InvalidArgument("into", "or trial is needed, and not both")
        chosen, sentence, issue = self._chosen(as_line("id", name), words)
        rule = AcceptedRule(id=chosen, sentence=sentence, issue=issue.id, check=issue.check, at=now())
        if trial is not None:
            share = as_fraction("trial", trial)
            if not 0 < share < 1:
                raise InvalidArgument("trial", "is a share of sessions between 0 and 1, such as 0.5")
            needed = sessions_needed(issue.sessions / max(len(self._acts), 1), share=share)
            rule = replace(rule, share=share, salt=token_hex(16), planned=needed)
            accept(self._root, rule)
            reason = f"{needed} sessions show whether it halves the issue"
            return Accepted(
                id=chosen, sentence=sentence, issue=issue.id, trial=share, written=True, reason=reason,
                note="" if any((self._root / HOOK_FOLDER).glob("*")) else _NO_HOOKS,
            )  # fmt: skip
        change = added_line(into or "", f"- {sentence}", memory=self._root, option="into")
        path = change.path
        if change.old == change.new:
            return Accepted(id=chosen, sentence=sentence, issue=issue.id, file=str(path), reason="it is there already")
        if write:
            change.write()
            accept(self._root, replace(rule, file=str(path)))
        return Accepted(
            id=chosen, sentence=sentence, issue=issue.id, file=str(path), diff=change.diff, written=write,
            note="" if bind(sentence) else _NOT_OBSERVED,
        )  # fmt: skip

    def trials(self) -> tuple[TrialResult, ...]:
        """What the rules on trial say: nothing until they have their sessions, then a difference with its interval."""
        staged = [one for one in accepted_rules(self._root) if one.share is not None]
        if not staged:
            return ()
        seen = {one.session for one in self._acts}
        drawn = draws(self._root)
        return tuple(result_of(one, drawn, seen=seen, met=self._met(one.issue)) for one in staged)

    def _chosen(self, name: str, words: str | None) -> tuple[str, str, Issue]:
        """The proposal or issue that is accepted: its id, the sentence, the issue."""
        ledger, _ = self._read(user=True)
        found = [one for one in self._proposals(ledger)[0] if one.id.startswith(name)]
        if len(found) == 1:
            issue = self._issues().show(found[0].issue).issue
            return found[0].id, found[0].sentence if words is None else _sentence(words), issue
        if words is None:
            known = next((one for one in accepted_rules(self._root) if one.id.startswith(name)), None)
            if known is not None and not found:
                where = f"in {known.file}" if known.share is None else f"on trial for {known.share:.0%} of sessions"
                raise NotFound(f"{known.id} is accepted already, since {known.at[:10]}, {where}: {known.sentence}")
            several = f"{len(found)} proposals begin with {name!r}; name more of the id"
            raise NotFound(several if found else f"no proposal {name!r}; `helix-graph advise` lists them")
        issue = self._issues().show(name).issue
        sentence = _sentence(words)
        return identity_of(issue.id, sentence), sentence, issue

    def proposals_for(self, issues: Issues, at: str) -> Sequence[Proposal]:
        """The rules that these issues ask for, of those that were in no file ``at`` that time."""
        then = [one for one in rules_in(project_versions(self._folder)) if in_force(one, at)]
        records = [RuleRecord(rule=one, state="not applicable") for one in then]
        with issues.open() as survey:
            listed = survey.list(by="recurring", limit=_MOST_ISSUES)
            return proposals(
                listed.issues, records, details=survey.show, shared=lambda names: shared_episodes(self._root, names)
            )

    def _proposals(
        self, ledger: Ledger, opened: IssueSurvey | None = None
    ) -> tuple[Sequence[Proposal], IssueList, set[str]]:
        """What is proposed, from which issues, and the agents of all sessions."""
        root = self._root
        with nullcontext(opened) if opened else self._issues().open() as survey:
            listed = survey.list(by="recurring", limit=_MOST_ISSUES)
            found = proposals(
                listed.issues, _current(ledger.records), details=survey.show,
                shared=lambda names: shared_episodes(root, names),
            )  # fmt: skip
            agents = {row.agent for row in survey.history.sessions.values() if row.agent is not None}
        on_trial = {one.sentence for one in accepted_rules(root) if one.share is not None}
        return [one for one in found if one.sentence not in on_trial], listed, agents

    def _met(self, issue: str) -> set[str]:
        """The sessions that met an issue; none of one that is gone."""
        try:
            return {one.session for one in self._issues().show(issue).occurrences}
        except (NotFound, GraphNotCompiled):
            return set()

    def _read(self, *, user: bool) -> tuple[Ledger, Sequence[Rule]]:
        rules = rules_in(project_versions(self._folder))
        if user:
            known = {one.id for one in rules}
            rules += [one for one in rules_in(own_versions(home_folder()), source="user") if one.id not in known]
        accepted = self._accepted()
        known_as = tuple(rules), tuple(accepted.items())
        if self._ledger is None or self._ledger[0] != known_as:
            # Without a rule there is nothing to hold against sessions, and reading 10,000 of them takes seconds.
            self._ledger = known_as, Ledger(rules, self._acts if rules else (), accepted=accepted)
        return self._ledger[1], rules

    @cached_property
    def _acts(self) -> Sequence[SessionActs]:
        """What every session did, the oldest first; read once, since several answers need all of it."""
        return sorted(acts_of_all(self._sessions()), key=lambda one: (one.at, one.session))

    def _accepted(self) -> dict[str, AcceptedFor]:
        """The accepted rules by the id of their line, with what each is for."""
        written = [one for one in accepted_rules(self._root) if one.share is None]
        return {
            id_of_line(one.sentence): AcceptedFor(frozenset(self._met(one.issue)), one.check, sortable_time(one.at))
            for one in written
        }


def _current(records: Sequence[RuleRecord]) -> Sequence[RuleRecord]:
    return [one for one in records if one.rule.until is None]


def _sentence(words: str) -> str:
    """A person's sentence as it may be in a file of rules.

    Raises:
        InvalidArgument: It is empty, too long, or has the mark of a comment.
    """
    said = as_line("words", words)
    if len(said) > LONGEST_RULE:
        raise InvalidArgument("words", f"has {len(said)} characters; a rule is one sentence of {LONGEST_RULE} at most")
    if "<!--" in said or "-->" in said:
        raise InvalidArgument("words", "has the mark of a comment; what a page hides from its reader is not a rule")
    return sanitize_line(said)
