"""The API of `memory.insights`: store, recall and judge remembered advice.

>>> import tempfile
>>> from pathlib import Path
>>> folder = tempfile.TemporaryDirectory()
>>> insights = Insights(Path(folder.name) / "helix.db")
>>> insights.store("When pytest hangs in CI, run it with -x and a timeout", ["ci"])["name"]
'when-pytest-hangs-in-ci-run-it-with-x-and-a-time'
>>> [hit["name"] for hit in insights.recall("pytest hangs")]
['when-pytest-hangs-in-ci-run-it-with-x-and-a-time']
>>> folder.cleanup()
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from helix_episodes.redaction import for_disk
from helix_graph.insights import attribution as attributions
from helix_graph.insights import curation, exposure, feedback, links, maintenance, rows, storing, transfer
from helix_graph.insights import harvest as harvesting
from helix_graph.insights import recall as recalling
from helix_graph.insights.context import InsightContext
from helix_graph.insights.exposure_log import known_names
from helix_graph.insights.legacy import LegacyInsights
from helix_graph.insights.model import OUTCOMES, Origin
from helix_graph.insights.schema import said_by, seed_form, seed_forms
from helix_graph.insights.storing import StoreAnswer, clean_content, clean_source, clean_tags
from helix_graph.validation import as_choice, as_fraction, as_int, as_str, as_strs, as_tuple

if TYPE_CHECKING:
    from helix_graph.insights.feedback import Attribution, FeedbackAnswer
    from helix_graph.insights.uplift import Readiness, UpliftReport


#: More than anybody reads; None lists all.
MOST_LISTED = 100_000


class Insights(InsightContext):
    """Remembered advice in one helix.db.

    ``embedder`` is called when vectors are first needed, and returns None where there is no model: then everything
    works by words. ``clock`` returns the time, in UTC. ``history`` is the memory that they belong to, if any.

    A method that is a function of another module is assigned here, next to those that belong to the same question.
    """

    def store(
        self,
        content: str,
        tags: Iterable[str] = (),
        *,
        origin: Origin = "told",
        initial: float = 0.5,
        episode: str = "",
        source: str = "",
    ) -> StoreAnswer:
        """Stores a text, or merges it into an insight that says the same.

        ``status`` is added, merged or rejected; a text is rejected when it is shorter than 20 characters or longer than
        8,000, or when a person rejected the insight that says the same. Secrets are cut before anything is stored.
        ``origin``, ``episode`` and ``source`` say where it comes from, ``initial`` (0 to 1) where its effectiveness
        begins.

        Raises:
            InvalidArgument: The text holds a character that nobody can read. There are too many tags, or one is too
                long, or ``initial`` is not between 0 and 1. A tag is empty. ``episode`` is no session's id.
        """
        draft = storing.InsightDraft(
            content=clean_content(content or ""),
            tags=storing.agents_tags(tags) if origin == "agent" else clean_tags(tags),
            origin=for_disk(origin),
            initial=as_fraction("initial", initial),
            episode=storing.as_session("episode", episode),
            source=clean_source(source),
        )
        return storing.put(self, draft)

    def get(self, name: str) -> dict[str, Any] | None:
        """The insight of that name, or None. One that was merged away answers as the one it went into.

        ``_said_by`` says of one that no person here wrote, who did, and of a damaged one that it is.
        """
        with self.database.reading() as connection:
            stored = rows.by_name(connection, as_str("name", name))
            if stored is None:
                return None
            said = said_by(connection, [stored.number]).get(stored.number)
            return {**seed_form(stored), **({"_said_by": said} if said else {})}

    def newest(self, *, limit: int | None = 20, tag: str = "") -> list[dict[str, Any]]:
        """The insights that can be recalled, the newest first; with ``tag`` those that have it; None for all.

        Raises:
            InvalidArgument: ``limit`` is below 1.
        """
        most = -1 if limit is None else as_int("limit", limit, lowest=1, highest=MOST_LISTED)
        with self.database.reading() as connection:
            found = connection.execute(
                "SELECT number FROM insight WHERE state = 'active' AND (? = '' OR tags LIKE ?)"
                " ORDER BY created_at DESC, number DESC LIMIT ?",
                (tag, f'%"{tag}"%', most),
            )
            numbers = [number for (number,) in found]
            forms = seed_forms(connection, numbers)
        return [forms[number] for number in numbers if number in forms]

    def feedback(  # noqa: PLR0913  (the seed's options, and who says so)
        self,
        names: Iterable[str],
        outcome: str,
        causal_names: Iterable[str] | None = None,
        *,
        id: str = "",  # noqa: A002  (the option's name)
        episode: str | None = None,
        policy: str = "seed",
        attribution: Mapping[str, Attribution] | None = None,
        injection: str = "",
        session: str = "",
    ) -> FeedbackAnswer:
        """Records how a task went for which these insights were shown.

        Without ``causal_names`` all count as causal; with them, those that are not named are eroded. ``attribution``
        says the same with reasons, and is used instead when given. An ``id`` that was given before changes nothing.
        ``injection`` is the id that `hand_over` gave to the injection that this is about: what was withheld is measured
        by it. With a ``session`` each insight counts once for each outcome of that session.
        """
        shown = as_strs("names", names)
        causal = None if causal_names is None else set(as_tuple("causal_names", causal_names))
        report = feedback.FeedbackReport(
            names=shown,
            outcome=as_choice("outcome", outcome, OUTCOMES),
            attribution=feedback.seed_attribution(shown, causal) if attribution is None else dict(attribution),
            id=for_disk(as_str("id", id)),
            episode=episode,
            policy=policy,
            injection=as_str("injection", injection),
            session=as_str("session", session),
        )
        return feedback.give_feedback(self, report)

    def known(self, names: Iterable[str]) -> list[str]:
        """Those of the names that an insight has, or had before it was merged away."""
        with self.database.reading() as connection:
            return known_names(connection, as_strs("names", names))

    def shown_in(self, session: str) -> frozenset[str]:
        """The names of the insights that were shown to a session."""
        with self.database.reading() as connection:
            return frozenset(
                name
                for one in feedback.read_injections(connection, f"session = ? AND {feedback.COUNTED}", session)
                for name in one.shown
            )

    def first_session_shown(self, *, since: str) -> str:
        """The first session to which insights were shown from that time on; "" when there was none."""
        with self.database.reading() as connection:
            found = feedback.read_injections(connection, f"session != '' AND ts >= ? AND {feedback.COUNTED}", since)
            return next((one.session for one in found), "")

    def uplift(self) -> UpliftReport:
        """What the insights did, as far as chance decided who got them: all together first, then each (`uplift`)."""
        from helix_graph.insights.uplift import uplift_report

        with self.database.reading() as connection:
            return uplift_report(exposure.exposures(connection))

    def readiness(self) -> Readiness:
        """Whether enough injections have a known outcome, with and without insights, to rank by uplift."""
        from helix_graph.insights.uplift import readiness_of

        with self.database.reading() as connection:
            return readiness_of(exposure.exposures(connection))

    @property
    def first_form(self) -> LegacyInsights:
        """The same insights with the calls of the older seed: triggers, resolutions, what was utilized."""
        return LegacyInsights(self)

    recall = recalling.recall
    chunk = storing.chunk
    proven = curation.proven

    relate = links.relate
    connected = links.connected
    neighbors = links.neighbors
    link = links.link
    match = links.match
    unresolved = links.unresolved

    harvest = harvesting.harvest
    hand_over = exposure.hand_over
    showing_of = exposure.showing_of
    feedback_from_episode = attributions.feedback_from_episode
    feedback_from_text = attributions.feedback_from_text

    edit = curation.edit
    reject = curation.reject
    mute = curation.mute
    forget = curation.forget
    put_edits = curation.put_edits
    forget_uids = curation.forget_uids
    why = curation.why
    forget_import = curation.forget_import
    promote = curation.promote
    damaged = curation.damaged
    restore_damaged = curation.restore_damaged

    forget_sessions = maintenance.forget_sessions
    sessions_named = maintenance.sessions_named
    decay = maintenance.decay
    prune = maintenance.prune
    health = maintenance.health
    consolidate = maintenance.consolidate
    reindex = maintenance.reindex
    rebuild = maintenance.rebuild

    export = transfer.export
    export_to = transfer.export_to
    import_from = transfer.import_from
    take_in = transfer.take_in
