"""Attribution: did an insight that was shown contribute to how this one task ended?

A single task cannot tell. What can be observed is weaker and still useful: whether the insight was *taken up* (what it
recommends was done afterwards, `helix_graph.insights.uptake`), whether a chain of links leads from there to the
outcome, and whether the outcome's text is about the same thing. The rule makes one verdict of these, `attributed`, and
says why. At best one in seven insights so attributed changed the outcome (simulation, `docs/feedback.md`): it is a
candidate, never an effect. Effects are measured by `helix_graph.insights.uplift`.

Source: `reference/causal-statistics.md` §5.2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypedDict

import msgspec
from msgspec.structs import replace

from helix_episodes.errors import EpisodeNotFound
from helix_graph.errors import EmptyText
from helix_graph.insights import feedback, rows
from helix_graph.insights.context import InsightContext
from helix_graph.insights.feedback import Attribution, FeedbackReport
from helix_graph.insights.links import anchor_of, links_of
from helix_graph.insights.model import OUTCOMES, Injection
from helix_graph.insights.scoring import CAUSAL_GATE
from helix_graph.timestamps import parse_stamp, stamp
from helix_graph.validation import as_choice, as_line, as_str, as_tuple

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterable, Mapping

    from helix_episodes.model import Decision, Episode
    from helix_graph.graph.anchors import AnchoredNode, NodeAnchor
    from helix_graph.graph.model import EpisodeFacts
    from helix_graph.insights.feedback import FeedbackAnswer
    from helix_graph.insights.model import Outcome, StoredInsight
    from helix_graph.insights.vectors import Floats


#: With the first, uptake and either sign are asked for; with the second a path and the cosine; with the third only the
#: cosine, as in the seed. An insight without links is judged by the cosine alone in all three.
Rule = Literal["strict", "both", "seed"]
#: A change to a formula or constant below is a new version: records keep the one they were made by.
VERSION = "2"


#: The cosine counts from here on, and fully this much further up; at the seed's gate of 0.40 it counts half.
RAMP_FROM, RAMP_OVER = 0.20, 0.40
#: What the cosine is worth beside a path, with uptake but no path, and when it was not taken up at all.
BESIDE_PATH, WITHOUT_PATH, NOT_TAKEN_UP = 0.5, 0.35, 0.05


class AttributionSignals(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of one insight in one episode.

    ``cosine`` (-1 to 1) is that of the insight's text and the outcome's, None without vectors; then ``words`` (0 to 1),
    the relevance of the insight to the outcome's words, stands in for it, where that is known. ``taken_up`` and
    ``path`` (0 to 1, `path_strength`; 0 without a path) mean something only for an insight that is ``linked``.
    """

    cosine: float | None
    linked: bool
    words: float | None = None
    taken_up: bool = False
    path: float = 0.0


class AttributionScore(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict on one insight in one episode: a ``score`` (0 to 1) to sort by, and why."""

    attributed: bool
    score: float
    why: str
    rule: Rule
    version: str = VERSION


def attribute(signs: AttributionSignals, *, rule: Rule = "strict") -> AttributionScore:
    """Whether the insight counts as having had a hand in the outcome.

    >>> attribute(AttributionSignals(cosine=0.30, linked=True, taken_up=True, path=0.6)).why
    'taken up, and a path of strength 0.60 leads to the outcome'
    >>> attribute(AttributionSignals(cosine=0.55, linked=True)).why
    'linked, but not taken up after it was handed over'
    >>> attribute(AttributionSignals(cosine=0.55, linked=False)).why
    'no links, so by the text alone: cosine 0.55 with the outcome, at least 0.40'
    """
    attributed, why = _verdict(signs, rule)
    return AttributionScore(attributed=attributed, score=_score(signs), why=why, rule=rule)


def _score(signs: AttributionSignals) -> float:
    close = _ramp(_likeness(signs))
    if not signs.linked:
        return close
    if not signs.taken_up:
        return NOT_TAKEN_UP * close
    if signs.path > 0:
        return 1 - (1 - signs.path) * (1 - BESIDE_PATH * close)
    return WITHOUT_PATH * close


def _ramp(likeness: float | None) -> float:
    return 0.0 if likeness is None else min(1.0, max(0.0, (likeness - RAMP_FROM) / RAMP_OVER))


def _verdict(signs: AttributionSignals, rule: Rule) -> tuple[bool, str]:
    if rule == "seed":
        return _is_close(signs), f"by the text alone: {_told(signs)}"
    if not signs.linked:
        return _is_close(signs), f"no links, so by the text alone: {_told(signs)}"
    if rule == "both":
        return signs.path > 0 and _is_close(signs), f"{_path(signs.path)}; {_told(signs)}"
    return _strict(signs)


def _strict(signs: AttributionSignals) -> tuple[bool, str]:
    if not signs.taken_up:
        return False, "linked, but not taken up after it was handed over"
    if signs.path > 0:
        return True, f"taken up, and {_path(signs.path)}"
    return _is_close(signs), f"taken up, {_path(0)}; {_told(signs)}"


def _likeness(signs: AttributionSignals) -> float | None:
    return signs.words if signs.cosine is None else signs.cosine


def _is_close(signs: AttributionSignals) -> bool:
    likeness = _likeness(signs)
    return likeness is not None and likeness >= CAUSAL_GATE


def _told(signs: AttributionSignals) -> str:
    likeness = _likeness(signs)
    if likeness is None:
        return "no vectors to compare it with the outcome"
    measure = "relevance by words" if signs.cosine is None else "cosine"
    bound = "at least" if _is_close(signs) else "below"
    return f"{measure} {likeness:.2f} with the outcome, {bound} {CAUSAL_GATE:.2f}"


def _path(strength: float) -> str:
    return f"a path of strength {strength:.2f} leads to the outcome" if strength > 0 else "no path to the outcome"


#: What an episode's outcome is to insights. A half success says nothing of any of them.
_OUTCOMES: dict[str, Outcome] = {"success": "delivered", "failure": "blocked"}
#: So many decisions of a session are compared by their words: the light engine makes 70 vectors a second.
_MOST_WORDED = 200


class AttributionAnswer(TypedDict):
    """What was made of an outcome: the feedbacks that were given, and of each insight why it counts as it does.

    ``note`` says what could not be judged, or why nothing was: an outcome that is no verdict, no injection, no vectors.
    """

    episode: str
    outcome: str
    text: str
    feedback: list[FeedbackAnswer]
    verdicts: list[dict[str, Any]]
    note: str


class _Evidence(NamedTuple):
    """What is known of the work: the text of its outcome with its vector, and the episode, if there is one.

    Without a vector, ``words`` has the relevance of each row to the text by the words that they share.
    """

    text: str
    vector: Floats | None
    words: Mapping[int, float]
    episode: Episode | None
    facts: EpisodeFacts | None
    worded: Mapping[str, Floats]


class Attributing(InsightContext):
    """The part of `Insights` that judges by what happened."""

    def feedback_from_episode(
        self,
        episode: str,
        *,
        names: Iterable[str] = (),
        rule: Rule = "strict",
        id: str = "",  # noqa: A002  (the option's name)
    ) -> AttributionAnswer:
        """Judges the insights that were handed over in an episode by what was done there and how it came out.

        Without ``names`` those that the log of injections has for the session or its task, and those that the session's
        log shows between the memory's marks. What was shown for another task in the session is that task's to judge. A
        partial or unknown outcome makes no feedback.

        Raises:
            EpisodeNotFound: There is no such episode.
            NoMemory: These insights belong to no memory with episodes.
        """
        found = self._past.episodes.get(as_str("episode", episode))
        if found is None:
            raise EpisodeNotFound(episode)
        given = tuple(as_str("names", name) for name in as_tuple("names", names))
        outcome = _OUTCOMES.get(found.outcome)
        said = _outcome_text(found)
        if outcome is None:
            note = f"the outcome is {found.outcome}, which is no verdict on an insight"
            return AttributionAnswer(
                episode=found.id, outcome=found.outcome, text=said, feedback=[], verdicts=[], note=note
            )
        scene = self._scene(said, found)
        injections = [_by_name(found.id, given)] if given else self._injections_of(found)
        told = AttributionAnswer(
            episode=found.id, outcome=found.outcome, text=said, feedback=[], verdicts=[], note=self._state(scene)
        )
        for injection in injections:
            identity = id if id and len(injections) == 1 else _digest(id, found.id, injection.id)
            self._judge(told, scene, injection, outcome=outcome, identity=identity, rule=rule)
        if not injections:
            told["note"] = "no insight was handed over in this episode, as far as any log says"
        return told

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

        ``injection`` is as for `feedback`; with it there may be no names, since all may have been held back.

        Raises:
            EmptyText: There is nothing in the text.
            NotOneOf: The outcome is none of delivered, blocked, plan_complete.
        """
        said = as_line("outcome_text", outcome_text)
        given = tuple(as_str("names", name) for name in as_tuple("names", names))
        if not given and not injection:
            option = "names"
            raise EmptyText(option)
        ended: Outcome = as_choice("outcome", outcome, OUTCOMES)
        scene = self._scene(said, None)
        told = AttributionAnswer(
            episode="", outcome=ended, text=said, feedback=[], verdicts=[], note=self._state(scene)
        )
        showing = Injection(id=as_str("injection", injection), ts="", shown=given)
        identity = id or _digest("", said, *given)
        self._judge(told, scene, showing, outcome=ended, identity=identity, rule=rule)
        return told

    def _judge(
        self,
        told: AttributionAnswer,
        scene: _Evidence,
        injection: Injection,
        *,
        outcome: Outcome,
        identity: str,
        rule: Rule,
    ) -> None:
        """Adds one feedback, about what was shown once, and its verdicts."""
        with self._database.reading() as connection:
            known = {name: kept for name in injection.shown if (kept := rows.by_name(connection, name))}
            nodes = {name: self._nodes(connection, kept) for name, kept in known.items()}
        verdicts = {
            name: self._verdict(kept, nodes[name], scene, since=injection.ts, rule=rule) for name, kept in known.items()
        }
        report = FeedbackReport(
            names=injection.shown,
            outcome=outcome,
            attribution=verdicts,
            id=identity,
            episode=scene.episode.id if scene.episode else None,
            policy=injection.policy,
            injection=injection.id,
        )
        with self._database.writing() as connection:
            fed = feedback.record_feedback(connection, report, now=self._clock(), settings=self.settings)
        told["feedback"].append(fed)
        told["verdicts"] += [{"name": name, **msgspec.to_builtins(one)} for name, one in verdicts.items()]

    def _scene(self, said: str, episode: Episode | None) -> _Evidence:
        vector = self._numbers(said)
        words = self._shared_words(said) if vector is None else {}
        if episode is None:
            return _Evidence(text=said, vector=vector, words=words, episode=None, facts=None, worded={})
        from helix_graph.graph.facts import facts_of

        worded = [one for one in episode.decisions if _is_choice(one, episode)][:_MOST_WORDED]
        vectors = [numbers for _, numbers in self._embed([_words(one) for one in worded])]
        return _Evidence(
            text=said,
            vector=vector,
            words=words,
            episode=episode,
            facts=facts_of(episode),
            worded={one.id: vector for one, vector in zip(worded, vectors, strict=False)},
        )

    def _shared_words(self, said: str) -> dict[int, float]:
        with self._database.reading() as connection:
            return self._by_words(connection, said)

    def _numbers(self, said: str) -> Floats | None:
        found = self._embed([said])
        return found[0][1] if found else None

    def _verdict(
        self, kept: StoredInsight, nodes: list[AnchoredNode] | None, scene: _Evidence, *, since: str, rule: Rule
    ) -> Attribution:
        from helix_graph.insights.uptake import LinkedAdvice, decisions_after, path_to_outcome, uptake_of

        own = self._numbers(kept.insight.content) if scene.vector is not None else None
        cosine = None if own is None or scene.vector is None else round(float(own @ scene.vector), 3)
        words = round(scene.words.get(kept.number, 0.0), 3) if scene.vector is None else None
        linked = nodes is not None and scene.episode is not None
        signs, seen = AttributionSignals(cosine=cosine, linked=linked, words=words), None
        way: tuple[str, ...] = ()
        if scene.episode and scene.facts:
            later = decisions_after(scene.episode, since)
            alike = _alike(own, scene.worded)
            advice = LinkedAdvice(kept.name, kept.insight.content, nodes or ())
            seen = uptake_of(advice, later, alike=alike, least=self.settings.uptake)
            found = path_to_outcome(scene.facts, {seen.decision} if seen else ())
            # What is done with it joins an insight to the graph as well as a link does.
            linked = linked or seen is not None
            signs = replace(signs, linked=linked, taken_up=seen is not None, path=found.strength)
            way = found.labels
        judged = attribute(signs, rule=rule)
        reason = f"{judged.why} ({seen.seen})" if seen else judged.why
        return Attribution(
            causal=judged.attributed,
            reason=reason,
            cosine=cosine,
            uptake=seen.seen if seen else None,
            path=way,
            taken_up=signs.taken_up if linked else None,
            score=round(judged.score, 3),
            rule=f"{judged.rule} {VERSION}",
        )

    def _nodes(self, connection: sqlite3.Connection, kept: StoredInsight) -> list[AnchoredNode] | None:
        """The nodes that an insight is linked with, surely enough; None when it has no such link."""
        own = rows.own_uids(connection, kept.insight.uid)
        least = self.settings.least_link
        steps = [
            one for one in links_of(connection, own) if one.node_type not in {"", "episode"} and one.score >= least
        ]
        if not steps:
            return None
        known = self._experience.anchored({anchor_of(one) for one in steps}) if self._experience else {}
        nodes = (_named_by(anchor, one) for anchor, one in known.items())
        return sorted(nodes, key=lambda one: (one.node, one.command or "", one.path or ""))

    def _injections_of(self, episode: Episode) -> list[Injection]:
        """What was shown in an episode: by the log, and what only the session's own log shows.

        A task's prompt stands in the log of the session that gave it out, also where the showing names no session.
        """
        ids = sorted({episode.id, episode.session, episode.task_id or episode.id})
        marks = ", ".join("?" * len(ids))
        with self._database.reading() as connection:
            condition = f"session IN ({marks}) OR task IN ({marks})"
            found = list(feedback.read_injections(connection, condition, *ids, *ids))
            tasks = list(
                feedback.read_injections(connection, "task != '' AND session = '' AND ts >= ?", _begun(episode))
            )
        noted = {name for one in (*found, *tasks) for name in (*one.shown, *(held.name for held in one.withheld))}
        unnoted = tuple(name for name in episode.injected if name not in noted)
        own = [one for one in found if not one.task or one.task in ids]
        return [*own, *([_by_name(episode.id, unnoted)] if unnoted else [])]

    def _state(self, scene: _Evidence) -> str:
        return (
            "" if scene.vector is not None else f"{self._without_model()}: judged by graph, citation and shared words"
        )


def _named_by(anchor: NodeAnchor, node: AnchoredNode) -> AnchoredNode:
    """The node, with file and command only where the anchor speaks of them: a label stands for many of both."""
    if anchor.text != node.label:
        return node
    command, path = ((value if value and value in anchor.text else None) for value in (node.command, node.path))
    return replace(node, command=command, path=path)


def _by_name(episode: str, names: tuple[str, ...]) -> Injection:
    """What was shown by the caller's word, at a time that nobody knows."""
    return Injection(id=_digest(episode, *names) if episode else "", ts="", shown=names)


def _begun(episode: Episode) -> str:
    """When an episode began, as the log has dates; before all of them, when that is not known."""
    at = parse_stamp(episode.timestamp)
    return stamp(at) if at else ""


def _digest(*parts: str) -> str:
    """An id that follows from what it is about, and does not tell it."""
    import hashlib

    return hashlib.blake2b("\0".join(parts).encode(), digest_size=16).hexdigest()


def _outcome_text(episode: Episode) -> str:
    """What the session was to do, and the words that its outcome rests on."""
    quote = episode.outcome_evidence.quote if episode.outcome_evidence else ""
    return "\n".join(part for part in (episode.task, quote) if part)


def _is_choice(decision: Decision, episode: Episode) -> bool:
    """Whether its words are somebody's choice: what repeats the task was asked for, and advice is picked by it."""
    return bool(decision.rationale or decision.action is None or decision.stated) and decision.chosen != episode.task


def _words(decision: Decision) -> str:
    return " ".join(part for part in (decision.chosen, decision.rationale) if part)


def _alike(own: Floats | None, worded: Mapping[str, Floats]) -> Callable[[Decision], float]:
    def alike(decision: Decision) -> float:
        vector = worded.get(decision.id)
        return 0.0 if own is None or vector is None else round(float(own @ vector), 3)

    return alike
