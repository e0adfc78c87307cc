"""The API of `memory.rules`: the rules that are written for agents, and what sessions show of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, get_args

from helix_episodes.errors import NotFound
from helix_graph.rules.ledger import Ledger
from helix_graph.rules.model import RuleDetails, RuleList, State
from helix_graph.rules.observance import acts_of
from helix_graph.rules.rule_files import files_of, own_versions, project_versions, rules_in
from helix_graph.validation import as_choice, as_int, as_line

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from helix_graph.episodes import Episodes
    from helix_graph.rules.model import Rule

STATES: tuple[State, ...] = get_args(State)
MOST_ROWS = 500
_ORDER = {
    state: place
    for place, state in enumerate(("ignored", "mixed", "followed", "described", "too early", "not applicable"))
}
_NOTE = (
    "Following is counted generously: a command counts when it ran at any time since the first change. Before and "
    "after is association, not cause; several rules of one commit cannot be told apart."
)


class Rules:
    """The rules of the project whose memory is in ``root``, held against its episodes."""

    def __init__(self, root: Path, *, episodes: Callable[[], Episodes]) -> None:
        self._folder = root.parent
        self._episodes = episodes

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
        records = [one for one in ledger.records() if gone or one.rule.until is None]
        observable = [one for one in records if one.rule.binding is not None]
        shown = [one for one in records if one.state == wanted] if wanted else observable
        shown.sort(
            key=lambda one: (_ORDER.get(one.state, len(_ORDER)), -one.opportunities, one.rule.since, one.rule.id)
        )
        return RuleList(
            rules=tuple(shown[:most]), rows=len(shown), files=files_of(rules), sessions=ledger.size,
            unobservable=len(records) - len(observable), note=_NOTE,
        )  # fmt: skip

    def show(self, name: str, *, user: bool = True) -> RuleDetails:
        """A rule by its id, or the beginning of one: every opportunity with its session and the line of its log.

        Raises:
            NotFound: No rule has this id, or several have.
        """
        asked = as_line("id", name)
        ledger, _ = self._read(user=user)
        found = [one for one in ledger.records() if one.rule.id.startswith(asked)]
        if len(found) != 1:
            several = f"{len(found)} rules begin with {asked!r}; name more of the id"
            raise NotFound(several if found else f"no rule {asked!r}; `helix-graph rules` lists them")
        return RuleDetails(record=found[0], observations=tuple(ledger.observations(found[0].rule)))

    def _read(self, *, user: bool) -> tuple[Ledger, Sequence[Rule]]:
        rules = rules_in(project_versions(self._folder))
        if user:
            known = {one.id for one in rules}
            rules += [one for one in rules_in(own_versions(Path.home()), source="user") if one.id not in known]
        sessions = [acts_of(one) for one in self._episodes().list(max_results=None)]
        return Ledger(rules, sorted(sessions, key=lambda one: (one.at, one.session))), rules
