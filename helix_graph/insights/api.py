"""Insights: remembered advice, what ``memory.insights`` is. The seven primitives of the seed are defined here.

The older seed's calls (triggers with resolutions, scored by how often they helped) are one adapter over the same
insights: an insight stored so has the text "When TRIGGER: RESOLUTION" and its type as a tag; what helped is a causal
hit, what did not a use without one. Its scoring is the profile ``v1``: 0.5 relevance, 0.3 effectiveness (helped of
all), 0.2 recency (seven days), without a threshold.

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

from typing import TYPE_CHECKING, Any, TypedDict

from helix_graph.insights import feedback, rows
from helix_graph.insights.attribution import Attributing
from helix_graph.insights.curation import ByPeople, Promoting
from helix_graph.insights.exposure import Delivering
from helix_graph.insights.harvest import Harvesting
from helix_graph.insights.legacy import legacy_text
from helix_graph.insights.links import Anchoring, InsightLinks
from helix_graph.insights.maintenance import Upkeep
from helix_graph.insights.model import OUTCOMES
from helix_graph.insights.recall import (
    SURE_BY_WORDS,
    RecallQuery,
    best_hits,
    checked_query,
    combined_hits,
    hit_forms,
    recall_by_words,
)
from helix_graph.insights.removal import Unlearning
from helix_graph.insights.schema import seed_form
from helix_graph.insights.scoring import V1
from helix_graph.insights.store import (
    InsightDraft,
    StoreAnswer,
    clean_content,
    clean_source,
    clean_tags,
    rejected,
    store_draft,
)
from helix_graph.insights.transfer import Exchanged
from helix_graph.timestamps import stamp
from helix_graph.validation import as_choice, as_fraction, as_int, as_line, as_str, as_tuple

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Mapping

    from helix_graph.insights.feedback import Attribution, FeedbackAnswer
    from helix_graph.insights.model import Origin, StoredInsight
    from helix_graph.insights.recall import Mode, ScoredInsight
    from helix_graph.insights.scoring import ScoringSettings
    from helix_graph.insights.store import SimilarRows
    from helix_graph.insights.vectors import Floats


#: As many as `seen` shows at most.
MOST_SHOWN = 100
#: `recall` ranks as the seed does; `uplift` by measured effect, once enough was measured.
POLICIES = ("seed", "uplift")


class RecallAnswer(list[dict[str, Any]]):
    """The insights found, as the seed gives them, and how they were looked for.

    ``mode`` is ``lexical`` where there was no model; ``note`` says so in words, or how many insights had no vector and
    could only be found by their words. It is empty when all were looked at in both ways.
    """

    mode: Mode = "semantic"
    note: str = ""


class Insights(
    InsightLinks,
    Anchoring,
    Harvesting,
    Delivering,
    Attributing,
    Unlearning,
    Upkeep,
    ByPeople,
    Promoting,
    Exchanged,
):
    """The door to remembered advice."""

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
            WrongType: ``content`` is no text, or ``tags`` are no list of texts.
            ControlCharacter: The text holds a character that nobody can read.
            OutOfRange: There are too many tags, or one is too long, or ``initial`` is no share.
            EmptyText: A tag is empty.
        """
        draft = InsightDraft(
            content=clean_content(content or ""),
            tags=clean_tags(tags),
            origin=origin,
            initial=as_fraction("initial", initial),
            episode=episode,
            source=clean_source(source),
        )
        return self.put(draft)

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
        asked = self._asked(limit, min_effectiveness, min_relevance, suppress_names)._replace(tag=tag)
        as_choice("policy", policy, POLICIES)
        about = checked_query(query)
        embedder = self._embedder if semantic else None
        vector = self._embed([about])[0][1] if embedder else None
        with self._database.reading() as connection:
            answer = RecallAnswer()
            answer.mode = "semantic" if embedder else "lexical"
            answer.note = self._note(connection, model=embedder.model if embedder else None, semantic=semantic)
            wide = asked if policy == "seed" else asked._replace(limit=MOST_SHOWN)
            chosen = self._best(connection, about, wide, vector=vector)
            if policy == "uplift":
                chosen = self._by_uplift(connection, chosen, about=about, limit=asked.limit)
            answer.extend(hit_forms(connection, chosen, told=self.settings.counts))
        return answer

    def get(self, name: str) -> dict[str, Any] | None:
        """The insight of that name, or None. One that was merged away answers as the one it went into."""
        with self._database.reading() as connection:
            kept = rows.by_name(connection, as_str("name", name))
        return None if kept is None else seed_form(kept)

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
        ``injection`` is the id that `hand_over` gave to the showing that this is about: what was held back is measured
        by it.

        Raises:
            WrongType: The names are no list of texts.
            NotOneOf: The outcome is none of delivered, blocked, plan_complete.
        """
        given = tuple(as_str("names", name) for name in as_tuple("names", names))
        causal = None if causal_names is None else set(as_tuple("causal_names", causal_names))
        report = feedback.FeedbackReport(
            names=given,
            outcome=as_choice("outcome", outcome, OUTCOMES),
            attribution=dict(attribution) if attribution is not None else feedback.seed_attribution(given, causal),
            id=as_str("id", id),
            episode=episode,
            policy=policy,
            injection=as_str("injection", injection),
        )
        with self._database.writing() as connection:
            return feedback.record_feedback(connection, report, now=self._clock(), settings=self.settings)

    @property
    def first_form(self) -> LegacyInsights:
        """The same insights with the calls of the older seed: triggers, resolutions, what was utilized."""
        return LegacyInsights(self)

    def scored_by(self, settings: ScoringSettings) -> Insights:
        """The same insights under other settings."""
        return Insights(
            self.path,
            embedder=lambda: self._embedder,
            settings=settings,
            clock=self._clock,
            experience=self._experience,
        )

    def chunk(self, task_objective: str, outcome: str, approach: str, source: str = "chunked") -> StoreAnswer:
        """Remembers the approach by which a task succeeded; ``outcome`` must begin with success, or it is skipped.

        An approach that is known already (relevance above 0.85) is ``strengthened``: it is given feedback, since it has
        worked once more.
        """
        if not as_line("outcome", outcome).lower().startswith("success"):
            return StoreAnswer(status="skipped", name="", reason="only what succeeded is chunked")
        content = (
            f"Task: {as_line('task_objective', task_objective)}. Approach that worked: {as_line('approach', approach)}"
        )
        known = self._closest(content)
        if known is None:
            return self.put(
                InsightDraft(content=content, tags=("pattern",), origin="chunked", source=clean_source(source))
            )
        self.feedback([known.name], "delivered", policy="chunk")
        return StoreAnswer(status="strengthened", name=known.name, reason="the approach is known and worked again")

    def _closest(self, content: str) -> StoredInsight | None:
        """The insight that says the same as an approach, by meaning or by words alone: both together prove nothing."""
        from helix_graph.insights.dedup import same_advice

        vectors = self._embed([content])
        with self._database.reading() as connection:
            by_words = self._by_words(connection, content)
            meaning = self._meaning(
                connection, vectors[0][1] if vectors else None, least=self.settings.same_when_chunking
            )
            closest = {
                number: max(meaning.get(number, 0.0), by_words.get(number, 0.0)) for number in {*meaning, *by_words}
            }
            near = [number for number, found in closest.items() if found > self.settings.same_when_chunking]
            same = [
                kept
                for kept in rows.by_numbers(connection, near)
                if kept.insight.state == "active" and same_advice(kept.insight.content, content)
            ]
            return max(same, key=lambda kept: (closest[kept.number], -kept.number), default=None)

    def put(self, draft: InsightDraft) -> StoreAnswer:
        """Stores a draft, which `store` makes of a text; the older form makes its own."""
        if draft.refusal:
            return rejected(draft.refusal)
        vectors = self._embed([draft.content])
        vector, numbers = vectors[0] if vectors else (None, None)
        at = stamp(self._clock())
        with self._database.writing() as connection:

            def alike() -> SimilarRows:
                return [*self._meaning(connection, numbers, least=self.settings.same).items()]

            return store_draft(connection, draft, at=at, vector=vector, alike=alike)

    def _best(
        self, connection: sqlite3.Connection, about: str, asked: RecallQuery, *, vector: Floats | None
    ) -> list[ScoredInsight]:
        by_words = self._by_words(connection, about)
        if vector is None:
            return recall_by_words(connection, by_words, asked, now=self._clock(), settings=self.settings)
        meaning = self._meaning(connection, vector, least=asked.min_relevance, words=by_words)
        hits = combined_hits(meaning, by_words, least=asked.min_relevance, sure=SURE_BY_WORDS)
        return best_hits(connection, hits, asked, mode="semantic", now=self._clock(), settings=self.settings)

    def _asked(
        self, limit: int, min_effectiveness: float, min_relevance: float | None, suppress_names: Iterable[str]
    ) -> RecallQuery:
        least = self.settings.min_relevance if min_relevance is None else min_relevance
        return RecallQuery(
            limit=as_int("limit", limit, lowest=0, highest=MOST_SHOWN),
            min_relevance=as_fraction("min_relevance", least),
            min_effectiveness=as_fraction("min_effectiveness", min_effectiveness),
            suppress_names=frozenset(
                as_str("suppress_names", name) for name in as_tuple("suppress_names", suppress_names)
            ),
        )

    def _note(self, connection: sqlite3.Connection, *, model: str | None, semantic: bool) -> str:
        if not semantic:
            return "looked for by words only, as asked"
        if model is None:
            return f"{self._without_model()}: looked for by words only"
        count = rows.without_vector(connection, model=model)
        return f"{count} without a vector, looked for by words only; run insight reindex" if count else ""


TYPES = ("failure", "pattern")
_SHORTEST_TRIGGER = 10


class LegacyFeedback(TypedDict):
    """How many of the injected helped, how many did not, and which are not known."""

    helped: int
    unhelpful: int
    missing: list[str]


class LegacyInsights:
    """``store``, ``recall`` and ``feedback`` with the signatures of the older seed."""

    def __init__(self, insights: Insights) -> None:
        self._insights = insights
        self._scored = insights.scored_by(V1)

    def store(self, trigger: str, resolution: str, type: str = "failure", source: str = "") -> StoreAnswer:  # noqa: A002  (the seed's name)
        """Remembers what to do (``resolution``) in a situation (``trigger``); ``type`` is failure or pattern.

        Rejected are triggers of fewer than 10 characters, empty resolutions and other types.
        """
        if type not in TYPES:
            return rejected("type must be failure or pattern")
        told = {"trigger": clean_content(trigger), "resolution": clean_content(resolution), "type": type}
        if len(told["trigger"]) < _SHORTEST_TRIGGER:
            return rejected("trigger too short")
        if not told["resolution"]:
            return rejected("resolution empty")
        content = legacy_text(told["trigger"], told["resolution"])
        return self._insights.put(InsightDraft(content=content, tags=(type,), source=clean_source(source), told=told))

    def recall(
        self,
        query: str,
        type: str | None = None,  # noqa: A002  (the seed's name)
        limit: int = 5,
        min_effectiveness: float = 0.0,
    ) -> list[dict[str, Any]]:
        """The memories that bear on a query, the best first, of one type if given.

        Raises:
            EmptyQuery: There is nothing in the query.
            NotOneOf: There is no such type.
            OutOfRange: ``limit`` is not within 0 to 100, or ``min_effectiveness`` not within 0 to 1.
        """
        tag = "" if type is None else as_choice("type", type, TYPES)
        return [_as_memory(hit) for hit in self._scored.recall(query, limit, min_effectiveness, tag=tag)]

    def feedback(self, utilized: Iterable[str], injected: Iterable[str]) -> LegacyFeedback:
        """Says which of the injected memories were of use; the others count as unhelpful."""
        shown = as_tuple("injected", injected)
        answer = self._insights.feedback(shown, "delivered", as_tuple("utilized", utilized), policy="v1")
        return LegacyFeedback(helped=answer["causal"], unhelpful=answer["eroded"], missing=answer["missing"])


def _as_memory(hit: dict[str, Any]) -> dict[str, Any]:
    """A hit with the keys of the older form; an insight told in another form is a pattern without a trigger."""
    told = hit.pop("_told")
    helped, uses = hit.pop("causal_hits"), hit.pop("use_count")
    return {
        **hit,
        "type": told.get("type", "pattern"),
        "trigger": told.get("trigger", hit["content"]),
        "resolution": told.get("resolution", ""),
        "helped": helped,
        "failed": uses - helped,
    }
