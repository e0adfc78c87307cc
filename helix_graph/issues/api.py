"""The API of `memory.issues`: what keeps failing, what it costs, what repaired it, and what people say of it."""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Literal, get_args

from helix_graph.graph.graph_db import open_graph
from helix_graph.hook_caches import drop_highlights
from helix_graph.issues.grouping import find_row
from helix_graph.issues.model import By, IssueDetails, IssueList, IssueStatementMade, State
from helix_graph.issues.survey import IssueSurvey
from helix_graph.validation import as_choice, as_int, as_line, as_text

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from helix_graph.graph.api import Graph

BYS: tuple[By, ...] = get_args(By)
STATES: tuple[State, ...] = get_args(State)
MOST_ROWS = 200


class Issues:
    """What keeps failing in one memory."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    def list(
        self,
        *,
        by: str = "recurring",
        check: str | None = None,
        limit: int = 20,
        state: str | None = None,
        every: bool = False,
    ) -> IssueList:
        """What failed, added up ``by`` issue, group, file, check, agent, model, author or branch; most sessions first.

        ``recurring`` has each issue of at least two sessions, and each group of which no single issue makes up half the
        sessions. ``check`` asks for failures of one check, tool or command, ``state`` for issues in one state,
        ``every`` also for those that people muted or resolved.

        Raises:
            InvalidArgument: ``by`` or ``state`` is none of their words; ``limit`` is not between 1 and 200.
        """
        way: By = as_choice("by", by, BYS)
        wanted: State | None = None
        if state is not None:
            said: State = as_choice("state", state, STATES)
            wanted = said
        most = as_int("limit", limit, lowest=1, highest=MOST_ROWS)
        named = None if check is None else as_line("check", check)
        with self.open() as survey:
            return survey.list(by=way, check=named, limit=most, state=wanted, every=every)

    def show(self, name: str) -> IssueDetails:
        """An issue or a group by its id, or by the beginning of one: every occurrence, and what repaired it."""
        with self.open() as survey:
            return survey.show(as_line("id", name))

    @contextmanager
    def open(self, *, among: Collection[str] | None = None) -> Iterator[IssueSurvey]:
        """For several questions that are to be answered from one reading, with ``among`` of these episodes alone."""
        from helix_graph.shared_authors import authors_of

        authors = partial(authors_of, self._graph.episodes.parent)
        with open_graph(self._graph.path_of_file) as connection:
            yield IssueSurvey(connection, self._graph.causality, authors=authors, among=among)

    def mute(self, name: str, *, reason: str = "") -> IssueStatementMade:
        """Says that an issue need not be shown any more; `unmute` takes it back."""
        return self._say(name, "muted", reason)

    def unmute(self, name: str, *, reason: str = "") -> IssueStatementMade:
        """Says that an issue is to be shown again, whatever was said of it before; as `mute`."""
        return self._say(name, "open", reason)

    def resolve(self, name: str, *, reason: str = "") -> IssueStatementMade:
        """Says that an issue is done with: where a later session meets it, it has regressed; as `mute`."""
        return self._say(name, "resolved", reason)

    def _say(self, name: str, state: Literal["muted", "resolved", "open"], reason: str) -> IssueStatementMade:
        from helix_graph.graph.assertions import IssueAssertion, now

        said = " ".join(as_text("reason", reason).split())
        with self.open() as survey:
            identity = find_row(survey.history, as_line("id", name)).id
        self._graph.keep(IssueAssertion(issue=identity, state=state, reason=said, asserted_at=now()))
        drop_highlights(self._graph.episodes.parent)
        after = self.show(identity).issue
        return IssueStatementMade(id=identity, title=after.title, state=after.state or "new")
