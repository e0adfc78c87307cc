"""Insights: remembered advice, what ``memory.insights`` is.

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

from typing import TYPE_CHECKING, Any

from helix_graph.insights import attribution as attributions
from helix_graph.insights import (
    curation,
    exposure,
    feedback,
    harvest,
    links,
    maintenance,
    recall,
    rows,
    store,
    transfer,
)
from helix_graph.insights.context import InsightContext
from helix_graph.insights.curation import INSTRUCTIONS
from helix_graph.insights.legacy import LegacyInsights
from helix_graph.insights.model import OUTCOMES
from helix_graph.insights.schema import seed_form
from helix_graph.insights.scoring import V6
from helix_graph.insights.store import clean_content, clean_source, clean_tags
from helix_graph.timestamps import utc_now
from helix_graph.validation import as_choice, as_fraction, as_str, as_strs, as_tuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from datetime import date, datetime
    from pathlib import Path

    from helix_graph.embedding.model import Embedder
    from helix_graph.insights.attribution import AttributionAnswer, Rule
    from helix_graph.insights.context import ProjectHistory
    from helix_graph.insights.curation import ChangeAnswer, ForgetAnswer, Promoted
    from helix_graph.insights.exposure import HandOverAnswer
    from helix_graph.insights.feedback import Attribution, FeedbackAnswer
    from helix_graph.insights.harvest import HarvestAnswer
    from helix_graph.insights.links import LinkAnswer, RelateAnswer
    from helix_graph.insights.maintenance import Consolidated, Decayed, PrunedInsights, Rebuilt, ReindexedInsights
    from helix_graph.insights.model import InsightLink, Origin, Record
    from helix_graph.insights.recall import RecallAnswer
    from helix_graph.insights.scoring import ScoringSettings
    from helix_graph.insights.store import StoreAnswer
    from helix_graph.insights.transfer import ImportCounts
    from helix_graph.insights.uplift import Readiness, UpliftReport


class Insights:
    """Remembered advice in one helix.db.

    ``embedder`` is called when vectors are first needed, and returns None where there is no model: then everything
    works by words. ``clock`` returns the time, in UTC. ``history`` is the memory that they belong to, if any.
    """

    def __init__(
        self,
        path: Path,
        *,
        embedder: Callable[[], Embedder | None] = lambda: None,
        settings: ScoringSettings = V6,
        clock: Callable[[], datetime] = utc_now,
        history: ProjectHistory | None = None,
    ) -> None:
        self._context = InsightContext(path, find_embedder=embedder, settings=settings, now=clock, history=history)

    @property
    def path(self) -> Path:
        """The database."""
        return self._context.path

    @property
    def settings(self) -> ScoringSettings:
        """The constants by which insights are scored."""
        return self._context.settings

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
        """Remembers a text, or lets the insight that says the same take it in.

        ``status`` is added, merged or rejected; a text is rejected when it is shorter than 20 characters or longer than
        8,000, or when a person rejected the insight that says the same. Secrets are cut before anything is stored.
        ``origin``, ``episode`` and ``source`` say where it comes from, ``initial`` (0 to 1) where its effectiveness
        begins.

        Raises:
            InvalidArgument: The text holds a character that nobody can read.
            OutOfRange: There are too many tags, or one is too long, or ``initial`` is no share.
            EmptyText: A tag is empty.
        """
        draft = store.InsightDraft(
            content=clean_content(content or ""),
            tags=clean_tags(tags),
            origin=origin,
            initial=as_fraction("initial", initial),
            episode=episode,
            source=clean_source(source),
        )
        return store.put(self._context, draft)

    def recall(  # noqa: PLR0913  (the seed's options)
        self,
        query: str,
        limit: int = 5,
        min_effectiveness: float = 0.0,
        min_relevance: float | None = None,
        suppress_names: Iterable[str] = (),
        *,
        policy: str = "seed",
        semantic: bool = True,
        tag: str = "",
    ) -> RecallAnswer:
        """The insights that bear on a query, the best first; see `helix_graph.insights.recall` for how they are scored.

        ``min_effectiveness`` is of the raw effectiveness; ``min_relevance`` (0.35 if None) of cosine and relevance by
        words together, as ``_relevance`` shows it; what is exactly there passes. ``suppress_names`` are left out.
        ``semantic=False`` looks by words alone; ``tag`` only among insights with it. ``policy`` uplift ranks the
        relevant ones by measured effect (`helix_graph.insights.uplift`), and leaves out those that are not held to
        help.

        Raises:
            EmptyQuery: There is nothing in the query.
            TooEarly: Too little has been measured to rank by uplift.
            OutOfRange: ``limit`` is not within 0 to 100, or a least value not within 0 to 1.
            NotOneOf: There is no such policy.
        """
        return recall.recall(
            self._context,
            query,
            limit,
            min_effectiveness,
            min_relevance,
            suppress_names,
            policy=policy,
            semantic=semantic,
            tag=tag,
        )

    def get(self, name: str) -> dict[str, Any] | None:
        """The insight of that name, or None. One that was merged away answers as the one it went into."""
        with self._context.database.reading() as connection:
            stored = rows.by_name(connection, as_str("name", name))
        return None if stored is None else seed_form(stored)

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
    ) -> FeedbackAnswer:
        """Says how the work went into which the insights had been put.

        Without ``causal_names`` all count as causal; with them, those that are not named are eroded. ``attribution``
        says the same with reasons, and is used instead when given. An ``id`` that was given before changes nothing.
        ``injection`` is the id that `hand_over` gave to the injection that this is about: what was withheld is measured
        by it.

        Raises:
            NotOneOf: The outcome is none of delivered, blocked, plan_complete.
        """
        shown = as_strs("names", names)
        causal = None if causal_names is None else set(as_tuple("causal_names", causal_names))
        report = feedback.FeedbackReport(
            names=shown,
            outcome=as_choice("outcome", outcome, OUTCOMES),
            attribution=feedback.seed_attribution(shown, causal) if attribution is None else dict(attribution),
            id=as_str("id", id),
            episode=episode,
            policy=policy,
            injection=as_str("injection", injection),
        )
        return feedback.give_feedback(self._context, report)

    def chunk(self, task_objective: str, outcome: str, approach: str, source: str = "chunked") -> StoreAnswer:
        """Remembers the approach by which a task succeeded; ``outcome`` must begin with success, or it is skipped.

        An approach that is known already (relevance above 0.85) is ``strengthened``: it is given feedback, since it has
        worked once more.
        """
        return store.chunk(self._context, task_objective, outcome, approach, source)

    @property
    def first_form(self) -> LegacyInsights:
        """The same insights with the calls of the older seed: triggers, resolutions, what was utilized."""
        return LegacyInsights(self._context)

    def scored_by(self, settings: ScoringSettings) -> Insights:
        """The same insights under other settings."""
        context = self._context
        return Insights(
            self.path,
            embedder=lambda: context.embedder,
            settings=settings,
            clock=context.now,
            history=context.history,
        )

    def relate(self, from_name: str, to_name: str, rel_type: str, weight: float = 1.0) -> RelateAnswer:
        """Links one insight to another: ``rel_type`` is similar, led_to, co_occurs, causes or solves.

        Raises:
            NotOneOf: The relation is none of them.
            OutOfRange: ``weight`` is not within 0 to 1.
        """
        return links.relate(self._context, from_name, to_name, rel_type, weight)

    def connected(self, name: str, max_hops: int = 2) -> list[dict[str, Any]]:
        """The insights and nodes that links lead to in either direction, the nearest first, each once.

        Each has ``_kind`` (insight or node), ``_hop`` (how many links away), ``_via`` (the name before it on the way)
        and ``_relation``. A node has its ``name`` (the label), ``node`` (the id) and ``type``; from a node one comes to
        every insight that is linked with it. Links below a score of 0.5 are not followed.

        Raises:
            InsightNotFound: There is no insight of that name.
            OutOfRange: ``max_hops`` is not within 1 to 10.
        """
        return links.connected(self._context, name, max_hops)

    def neighbors(self, name: str, limit: int = 5) -> list[dict[str, Any]]:
        """What stands next to an insight: those it is linked with, then those most like it.

        Each has ``_relation`` and ``_score``: a link's, or ``similar`` with the cosine (or relevance by words).

        Raises:
            InsightNotFound: There is no insight of that name.
            OutOfRange: ``limit`` is not within 0 to 100.
        """
        return links.neighbors(self._context, name, limit)

    def link(
        self, name: str, node_type: str, text: str, *, episode: str = "", relation: str = "addresses"
    ) -> LinkAnswer:
        """Links an insight to a node by hand.

        ``text`` is the raw text of a step of ``episode``, or the label of a node when no episode is named;
        ``relation`` is derived_from, addresses or prevents.

        Raises:
            InsightNotFound: There is no insight of that name.
            EpisodeNotFound: There is no such episode.
            NotOneOf: Type or relation is none of those allowed.
            EmptyText: There is no text, and no whole episode is meant.
        """
        return links.link(self._context, name, node_type, text, episode=episode, relation=relation)

    def match(self, name: str | None = None) -> list[LinkAnswer]:
        """Links insights (one, or all that can be recalled) to the nodes that their texts speak of.

        Raises:
            InsightNotFound: There is no insight of that name.
            NoMemory: These insights belong to no memory with a graph.
        """
        return links.match(self._context, name)

    def unresolved(self) -> tuple[InsightLink, ...]:
        """The links whose node is not in the graph now; they are kept, since it may come (back)."""
        return links.unresolved(self._context)

    def harvest(self, episode: str | None = None, *, since: date | None = None, dry_run: bool = False) -> HarvestAnswer:
        """Takes in the lessons and verified fixes of all episodes, of one, or of those that began ``since``.

        Raises:
            EpisodeNotFound: There is no such episode.
            NoMemory: These insights belong to no memory with episodes.
        """
        return harvest.harvest(self._context, episode, since=since, dry_run=dry_run)

    def hand_over(
        self, names: Iterable[str], *, task: str = "", session: str = "", about: str = "", policy: str = "seed"
    ) -> HandOverAnswer:
        """Notes that these insights are shown to a task or session, and says which of them are to be withheld.

        ``about`` is what was looked for. The same insights shown again for the same are the same injection, with the
        same random draws. Names that nobody knows are shown, and not noted.

        Raises:
            InvalidConfiguration: What ``.helix/config.toml`` says of withholding is not understood.
        """
        return exposure.hand_over(self._context, names, task=task, session=session, about=about, policy=policy)

    def showing_of(self, task: str, names: Iterable[str]) -> str:
        """The id of the last injection to a task of these insights or fewer; empty when the log has none.

        Fewer, since one may have been forgotten meanwhile, or all have been withheld.
        """
        return exposure.showing_of(self._context, task, names)

    def uplift(self) -> UpliftReport:
        """What the insights did, as far as chance decided who got them: all together first, then each (`uplift`)."""
        from helix_graph.insights.uplift import uplift_report

        with self._context.database.reading() as connection:
            return uplift_report(exposure.exposures(connection))

    def readiness(self) -> Readiness:
        """Whether enough injections have a known outcome to rank by uplift."""
        with self._context.database.reading() as connection:
            return exposure.readiness(connection)

    def feedback_from_episode(
        self,
        episode: str,
        *,
        names: Iterable[str] = (),
        rule: Rule = "strict",
        id: str = "",  # noqa: A002  (the option's name)
    ) -> AttributionAnswer:
        """Judges the insights that were shown in an episode by what was done there and how it came out.

        Without ``names`` those that the log of injections has for the session or its task, and those that the session's
        log shows between the memory's marks. What was shown for another task in the session is that task's to judge. A
        partial or unknown outcome makes no feedback.

        Raises:
            EpisodeNotFound: There is no such episode.
            NoMemory: These insights belong to no memory with episodes.
        """
        return attributions.feedback_from_episode(self._context, episode, names=names, rule=rule, id=id)

    def feedback_from_text(
        self,
        outcome_text: str,
        names: Iterable[str],
        outcome: str,
        *,
        id: str = "",  # noqa: A002  (the option's name)
        rule: Rule = "strict",
        injection: str = "",
    ) -> AttributionAnswer:
        """Judges insights by the text of an outcome alone: there is no graph, so only the cosine counts.

        ``injection`` is as for `feedback`; with it there may be no names, since all may have been withheld.

        Raises:
            EmptyText: There is nothing in the text.
            NotOneOf: The outcome is none of delivered, blocked, plan_complete.
        """
        return attributions.feedback_from_text(
            self._context, outcome_text, names, outcome, id=id, rule=rule, injection=injection
        )

    def forget_sessions(self, sessions: Iterable[str]) -> int:
        """Takes out all that rests on these sessions; how many insights were removed.

        It is called while the other sessions' episodes can still be read, and before the graph is rebuilt.
        """
        return maintenance.forget_sessions(self._context, sessions)

    def decay(self, days: int = 30) -> Decayed:
        """Moves insights that nobody used towards neutral (0.5): a tenth of the distance for each full ``days``.

        Raises:
            OutOfRange: ``days`` is not within 1 to 36,500.
        """
        return maintenance.decay(self._context, days)

    def prune(self, threshold: float = 0.25, min_uses: int = 3, *, yes: bool = False) -> PrunedInsights:
        """Names the insights below ``threshold`` after ``min_uses`` uses or more, and with ``yes`` removes them.

        Exactly the threshold stays, and so does what a person provided.

        Raises:
            OutOfRange: ``threshold`` is not within 0 to 1, or ``min_uses`` not within 0 to a million.
        """
        return maintenance.prune(self._context, threshold, min_uses, yes=yes)

    def health(self) -> dict[str, Any]:
        """How the memory does: the seed's keys, and what else ought to be known.

        ``status`` is HEALTHY when there are insights and some had feedback. ``effectiveness`` is the mean of those with
        feedback, ``recent_feedback`` counts those with causal feedback within the hour, ``causal_ratio`` is causal hits
        per use; ``issues`` says in words what is missing.
        """
        return maintenance.health(self._context)

    def consolidate(self, threshold: float | None = None) -> Consolidated:
        """Merges insights that say the same: cosine of at least ``threshold`` (0.9 if None), the most similar first.

        The one with more uses takes the other in; its tags and feedback come along. Without a model only texts that
        differ in nothing but case and blanks are merged.

        Raises:
            OutOfRange: ``threshold`` is not within 0 to 1.
        """
        return maintenance.consolidate(self._context, threshold)

    def reindex(self) -> ReindexedInsights:
        """Embeds every insight that has no vector of the model at hand, and makes the index of words again."""
        return maintenance.reindex(self._context)

    def rebuild(self) -> Rebuilt:
        """Folds the log of feedback again over every insight; nothing changes unless somebody wrote into the table."""
        return maintenance.rebuild(self._context)

    def edit(self, name: str, content: str | None = None, tags: Iterable[str] | None = None) -> ChangeAnswer:
        """Gives an insight another text or other tags; its name and what is known of how it did stay.

        From then on no other text takes the place of a person's.

        Raises:
            InsightNotFound: There is no insight of that name.
            OutOfRange: The text is shorter than 20 characters or longer than 8,000.
            InvalidArgument: The text holds a character that nobody can read.
        """
        return curation.edit(self._context, name, content, tags)

    def reject(self, name: str, reason: str = "", *, off: bool = False) -> ChangeAnswer:
        """Says that an insight is wrong, so that it is neither recalled nor stored again; ``off`` undoes it.

        Raises:
            InsightNotFound: There is no insight of that name.
        """
        return curation.reject(self._context, name, reason, off=off)

    def mute(self, name: str, *, off: bool = False) -> ChangeAnswer:
        """Keeps an insight from being recalled without calling it wrong; ``off`` undoes it.

        Raises:
            InsightNotFound: There is no insight of that name.
        """
        return curation.mute(self._context, name, off=off)

    def forget(self, names: Iterable[str]) -> ForgetAnswer:
        """Removes insights for good: texts, vectors, links, and their names in the logs.

        An import does not bring them back; storing the same text again makes a new insight.

        Raises:
            InsightNotFound: There is no insight of one of the names; then nothing is removed.
        """
        return curation.forget(self._context, names)

    def why(self, name: str) -> dict[str, Any]:
        """Where an insight comes from, where it was put in, and what followed, step by step.

        Raises:
            InsightNotFound: There is no insight of that name.
        """
        return curation.why(self._context, name)

    def promote(
        self, name: str, file: Path | str = INSTRUCTIONS, *, write: bool = False, anyway: bool = False
    ) -> Promoted:
        """The diff that adds an insight to a file of instructions; with ``write`` it is applied.

        Proven is an insight that a person provided, or one with three uses or more whose effectiveness, as it counts in
        `recall`, is at least 0.75. ``anyway`` promotes another one as well.

        Raises:
            InsightNotFound: There is no insight of that name.
            WriteFailed: The file cannot be read or written.
        """
        return curation.promote(self._context, name, file, write=write, anyway=anyway)

    def proven(self, limit: int = 5) -> list[dict[str, Any]]:
        """The insights that `promote` would take, those of the greatest effectiveness first, as `get` shows them.

        Raises:
            OutOfRange: ``limit`` is not within 0 to 100.
        """
        return curation.proven(self._context, limit)

    def export(self) -> str:
        """Every insight, link and entry as text, one record a line; the same memory gives the same text."""
        return transfer.export(self._context)

    def export_to(self, path: Path) -> int:
        """Writes `export` to a file; how many records.

        Raises:
            WriteFailed: It cannot be written.
        """
        return transfer.export_to(self._context, path)

    def import_from(self, path: Path) -> ImportCounts:
        """Takes in what `export` wrote, or the helix.db of the original in either of its forms.

        Raises:
            InvalidExport: The file is neither, or a line of it is damaged or out of bounds; then nothing is taken in.
        """
        return transfer.import_from(self._context, path)

    def take_in(self, records: Iterable[Record]) -> ImportCounts:
        """Joins records with those that are there; what rests on sessions that were forgotten stays out."""
        return transfer.take_in(self._context, records)
