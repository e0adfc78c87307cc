"""Attribution: did an insight that was shown contribute to how this one task ended?

A single task cannot tell. What can be observed is weaker and still useful: whether the insight was *taken up* (what it
recommends was done afterwards, `helix_graph.insights.uptake`), whether a chain of links leads from there to the
outcome, and whether the outcome's text is about the same thing. The rule makes one verdict of these, `attributed`, and
says why. At best one in seven insights so attributed changed the outcome (`docs/explanation/feedback.md`): it is a
candidate, never an effect. Effects are measured by `helix_graph.insights.uplift`.

Source: `reference/causal-statistics.md` §5.2.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

import msgspec
from msgspec.structs import replace

from helix_episodes.errors import InvalidArgument
from helix_episodes.light_imports import blake2b
from helix_graph.errors import NO_TEXT
from helix_graph.insights import feedback, rows
from helix_graph.insights.feedback import Attribution, FeedbackAnswer, FeedbackReport
from helix_graph.insights.links import anchor_of, links_of
from helix_graph.insights.model import OUTCOMES, Injection, Outcome, StoredInsight
from helix_graph.insights.scoring import CAUSAL_GATE
from helix_graph.timestamps import parse_stamp, stamp
from helix_graph.validation import as_choice, as_line, as_str, as_strs

if TYPE_CHECKING:
    import sqlite3

    from helix_episodes.model import Decision, Episode
    from helix_graph.graph.model import AnchoredNode, EpisodeFacts, NodeAnchor
    from helix_graph.insights.context import InsightContext
    from helix_graph.insights.vectors import Floats


#: A change to a formula or constant below is a new version: records name the one they were made by.
RULE = "strict 3"


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

    @property
    def similarity(self) -> float | None:
        """The cosine, or the relevance by words where there are no vectors."""
        return self.words if self.cosine is None else self.cosine


def attribute(signals: AttributionSignals) -> Attribution:
    """Whether the insight counts as having contributed to the outcome, with a score (0 to 1) and the reason.

    >>> attribute(AttributionSignals(cosine=0.30, linked=True, taken_up=True, path=0.6)).reason
    'taken up, and a path of strength 0.60 leads to the outcome'
    >>> attribute(AttributionSignals(cosine=0.55, linked=True)).reason
    'linked, but not taken up after it was shown'
    >>> attribute(AttributionSignals(cosine=0.55, linked=False)).reason
    'no links, so by the text alone: cosine 0.55 with the outcome, at least 0.40'
    """
    causal, reason = _verdict(signals)
    return Attribution(causal=causal, reason=reason, score=_score(signals), rule=RULE)


def _score(signals: AttributionSignals) -> float:
    similarity = signals.similarity
    close = 0.0 if similarity is None else min(1.0, max(0.0, (similarity - RAMP_FROM) / RAMP_OVER))
    if not signals.linked:
        return close
    if not signals.taken_up:
        return NOT_TAKEN_UP * close
    if signals.path > 0:
        return 1 - (1 - signals.path) * (1 - BESIDE_PATH * close)
    return WITHOUT_PATH * close


def _verdict(signals: AttributionSignals) -> tuple[bool, str]:
    similarity, path = signals.similarity, "no path to the outcome"
    close = similarity is not None and similarity >= CAUSAL_GATE
    if signals.path > 0:
        path = f"a path of strength {signals.path:.2f} leads to the outcome"
    if similarity is None:
        text = "no vectors to compare it with the outcome"
    else:
        measure = "relevance by words" if signals.cosine is None else "cosine"
        bound = "at least" if close else "below"
        text = f"{measure} {similarity:.2f} with the outcome, {bound} {CAUSAL_GATE:.2f}"
    if not signals.linked:
        return close, f"no links, so by the text alone: {text}"
    if not signals.taken_up:
        return False, "linked, but not taken up after it was shown"
    if signals.path > 0:
        return True, f"taken up, and {path}"
    return close, f"taken up, {path}; {text}"


#: How an episode's outcome counts for insights. A partial success counts for none.
_OUTCOMES: dict[str, Outcome] = {"success": "delivered", "failure": "blocked"}
#: Maximum number of decisions of a session whose words are compared: the light engine makes 70 vectors a second.
_MOST_COMPARED = 200


class AttributionAnswer(TypedDict):
    """What followed from an outcome: the feedback that was recorded, and for each insight why it counts as it does.

    ``note`` says what could not be judged, or why nothing was: an outcome without a verdict, no injection, no vectors.
    """

    episode: str
    outcome: str
    text: str
    feedback: list[FeedbackAnswer]
    verdicts: list[dict[str, Any]]
    note: str


class _Evidence(NamedTuple):
    """What is known of the work: how it ended, the outcome's text with its vector, and the episode, if there is one.

    Without a vector, ``words`` has the relevance of each row to the text. ``choices`` are the vectors of decisions.
    """

    outcome: Outcome
    text: str
    vector: Floats | None
    words: Mapping[int, float]
    episode: Episode | None
    facts: EpisodeFacts | None
    choices: Mapping[str, Floats]


def feedback_from_episode(
    context: InsightContext,
    episode: str,
    *,
    names: Iterable[str] = (),
    id: str = "",  # noqa: A002  (the option's name)
) -> AttributionAnswer:
    """Judges the insights that were shown in an episode by what was done there and how it ended.

    Without ``names`` those that the log of injections has for the session or its task, and those that the session's
    log shows between the memory's marks. What was shown for another task in the session is that task's to judge. A
    partial or unknown outcome makes no feedback.

    Raises:
        NoMemory: These insights belong to no memory with episodes.
    """
    found = context.required_history.episodes.require(as_str("episode", episode))
    given = as_strs("names", names)
    outcome = _OUTCOMES.get(found.outcome)
    quote = found.outcome_evidence.quote if found.outcome_evidence else ""
    text = "\n".join(part for part in (found.task, quote) if part)
    answer = AttributionAnswer(episode=found.id, outcome=found.outcome, text=text, feedback=[], verdicts=[], note="")
    if outcome is None:
        answer["note"] = f"the outcome is {found.outcome}, which says nothing about an insight"
        return answer
    evidence = _evidence(context, text, outcome, found)
    injections = [_named_injection(found.id, given)] if given else _injections_of(context, found)
    for injection in injections:
        identity = id if id and len(injections) == 1 else _digest(id, found.id, injection.id)
        _judge(context, answer, evidence, injection, identity=identity)
    answer["note"] = _note(context, evidence)
    if not injections:
        answer["note"] = "no insight was shown in this episode, as far as any log says"
    return answer


def feedback_from_text(
    context: InsightContext,
    outcome_text: str,
    names: Iterable[str],
    outcome: str,
    *,
    id: str = "",  # noqa: A002  (the option's name)
    injection: str = "",
) -> AttributionAnswer:
    """Judges insights by the text of an outcome alone: there is no graph, so only the cosine counts.

    ``injection`` is as for `feedback`; with it there may be no names, since all may have been withheld.

    Raises:
        InvalidArgument: There is nothing in the text. The outcome is none of delivered, blocked, plan_complete.
    """
    text = as_line("outcome_text", outcome_text)
    given = as_strs("names", names)
    if not given and not injection:
        raise InvalidArgument("names", NO_TEXT)
    ended: Outcome = as_choice("outcome", outcome, OUTCOMES)
    evidence = _evidence(context, text, ended)
    note = _note(context, evidence)
    answer = AttributionAnswer(episode="", outcome=ended, text=text, feedback=[], verdicts=[], note=note)
    shown = Injection(id=as_str("injection", injection), ts="", shown=given)
    _judge(context, answer, evidence, shown, identity=id or _digest("", text, *given))
    return answer


def _evidence(context: InsightContext, text: str, outcome: Outcome, episode: Episode | None = None) -> _Evidence:
    vector, words = context.embed_one(text)[1], {}
    if vector is None:
        with context.database.reading() as connection:
            words = context.by_words(connection, text)
    if episode is None:
        return _Evidence(outcome, text, vector, words, None, None, {})
    from helix_graph.graph.episode_facts import facts_of

    # Only choices are compared by their words; the task itself is none: advice is picked by it.
    stated = (one for one in episode.decisions if one.rationale or one.action is None or one.stated)
    chosen = [one for one in stated if one.chosen != episode.task][:_MOST_COMPARED]
    vectors = context.embed([" ".join(part for part in (one.chosen, one.rationale) if part) for one in chosen])
    choices = {one.id: numbers for one, (_, numbers) in zip(chosen, vectors, strict=False)}
    return _Evidence(outcome, text, vector, words, episode, facts_of(episode), choices)


def _note(context: InsightContext, evidence: _Evidence) -> str:
    if evidence.vector is not None:
        return ""
    return f"{context.why_no_model()}: judged by graph, citation and shared words"


def _judge(
    context: InsightContext, answer: AttributionAnswer, evidence: _Evidence, injection: Injection, *, identity: str
) -> None:
    """Adds the feedback on one injection, with its verdicts, to the answer."""
    with context.database.reading() as connection:
        known = {name: stored for name in injection.shown if (stored := rows.by_name(connection, name))}
        nodes = {name: _nodes(context, connection, stored) for name, stored in known.items()}
    verdicts = {
        name: _attribution_of(context, stored, nodes[name], evidence, since=injection.ts)
        for name, stored in known.items()
    }
    report = FeedbackReport(
        names=injection.shown,
        outcome=evidence.outcome,
        attribution=verdicts,
        id=identity,
        episode=evidence.episode.id if evidence.episode else None,
        policy=injection.policy,
        injection=injection.id,
    )
    answer["feedback"].append(feedback.give_feedback(context, report))
    answer["verdicts"] += [{"name": name, **msgspec.to_builtins(one)} for name, one in verdicts.items()]


def _attribution_of(
    context: InsightContext, stored: StoredInsight, nodes: list[AnchoredNode] | None, evidence: _Evidence, *, since: str
) -> Attribution:
    from helix_graph.insights.uptake import LinkedAdvice, decisions_after, path_to_outcome, uptake_of

    own, cosine, words = None, None, None
    if evidence.vector is None:
        words = round(evidence.words.get(stored.number, 0.0), 3)
    else:
        _, own = context.embed_one(stored.insight.content)
        cosine = None if own is None else round(float(own @ evidence.vector), 3)
    signals, uptake = AttributionSignals(cosine=cosine, linked=False, words=words), None
    path: tuple[str, ...] = ()
    if evidence.episode and evidence.facts:

        def similarity(decision: Decision) -> float:
            vector = evidence.choices.get(decision.id)
            return 0.0 if own is None or vector is None else round(float(own @ vector), 3)

        later = decisions_after(evidence.episode, since)
        advice = LinkedAdvice(stored.name, stored.insight.content, nodes or ())
        uptake = uptake_of(advice, later, alike=similarity, least=context.settings.uptake)
        strength, path = path_to_outcome(evidence.facts, {uptake.decision} if uptake and not uptake.named else ())
        # What is done with it joins an insight to the graph as well as a link does; that its text names what was used
        # does not, since the task may have named it.
        linked = nodes is not None or (uptake is not None and not uptake.named)
        signals = replace(signals, linked=linked, taken_up=uptake is not None, path=strength)
    judged = attribute(signals)
    return replace(
        judged,
        reason=f"{judged.reason} ({uptake.seen})" if uptake else judged.reason,
        cosine=cosine,
        uptake=uptake.seen if uptake else None,
        path=path,
        taken_up=signals.taken_up if signals.linked else None,
        score=round(judged.score or 0.0, 3),
    )


def _nodes(context: InsightContext, connection: sqlite3.Connection, stored: StoredInsight) -> list[AnchoredNode] | None:
    """The nodes that an insight is linked with, surely enough; None when it has no such link."""
    own = rows.own_uids(connection, stored.insight.uid)
    least = context.settings.least_link
    found = [one for one in links_of(connection, own) if one.node_type not in {"", "episode"} and one.score >= least]
    if not found:
        return None
    known = context.anchored({anchor_of(one) for one in found})
    nodes = (_as_anchored(anchor, one) for anchor, one in known.items())
    return sorted(nodes, key=lambda one: (one.node, one.command or "", one.path or ""))


def _as_anchored(anchor: NodeAnchor, node: AnchoredNode) -> AnchoredNode:
    """The node, with file and command only where the anchor names them: a label covers many of both."""
    if anchor.text != node.label:
        return node
    command, path = ((value if value and value in anchor.text else None) for value in (node.command, node.path))
    return replace(node, command=command, path=path)


def _injections_of(context: InsightContext, episode: Episode) -> list[Injection]:
    """What was shown in an episode: by the injection log, and what only the session's own log shows.

    A task's prompt is in the log of the session that gave it out, also where the injection names no session.
    """
    ids = sorted({episode.id, episode.session, episode.task_id or episode.id})
    marks = ", ".join("?" * len(ids))
    began = parse_stamp(episode.timestamp)
    with context.database.reading() as connection:
        condition = f"{feedback.COUNTED} AND (session IN ({marks}) OR task IN ({marks}))"
        found = list(feedback.read_injections(connection, condition, *ids, *ids))
        since = f"{feedback.COUNTED} AND task != '' AND session = '' AND ts >= ?"
        tasks = list(feedback.read_injections(connection, since, stamp(began) if began else ""))
    logged = {name for one in (*found, *tasks) for name in (*one.shown, *(withheld.name for withheld in one.withheld))}
    unlogged = tuple(name for name in episode.injected if name not in logged)
    own = [one for one in found if not one.task or one.task in ids]
    return [*own, *([_named_injection(episode.id, unlogged)] if unlogged else [])]


def _named_injection(episode: str, names: tuple[str, ...]) -> Injection:
    """What was shown according to the caller, at an unknown time."""
    return Injection(id=_digest(episode, *names) if episode else "", ts="", shown=names)


def _digest(*parts: str) -> str:
    """An id that follows from what it is about, without revealing it."""
    return blake2b("\0".join(parts).encode(), digest_size=16).hexdigest()
