"""Attribution: did an insight that was shown contribute to how this one task ended?

A single task cannot tell. What can be observed is weaker and still useful: whether the insight was *taken up* (what it
recommends was done afterwards, a section of this module), whether a chain of links leads from there to the
outcome, and whether the outcome's text is about the same thing. The rule makes one verdict of these, `attributed`, and
says why. At best one in seven insights so attributed changed the outcome (`docs/explanation/feedback.md`): it is a
candidate, never an effect. Effects are measured by `helix_graph.insights.uplift`.

Signs of uptake, in the order of how much they say: the insight's name is cited; the same full command is run; the same
file is changed in the same manner; a choice of design or implementation follows whose words are at least 0.60 alike; a
command that its text quotes is run, or a file that its text names is changed (which counts only for an insight that is
similar to the outcome as well). Running a check or looking at something is no sign, in whatever words: every
session runs the linter. Neither is a coarse node in common (``edit source``), nor a choice about another file than
those that the insight names. What happened before the insight was shown does not count, nor does what has no time, if
it is known when the insight was shown.

The path leads through the episode's own graph, from what was done to the outcome; ``prevents`` edges are not followed.
The nodes that an insight is linked with do not start a path: they are too coarse to say that it was followed.

Source: `reference/causal-statistics.md` §5.2.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import chain
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

import msgspec
from msgspec.structs import replace

from helix_episodes.errors import InvalidArgument
from helix_episodes.light_imports import Regex, blake2b
from helix_episodes.model import OUTCOME_ID, sortable_time
from helix_episodes.safe_files import LONGEST_COMMAND
from helix_graph.errors import NO_TEXT
from helix_graph.graph import MILLION
from helix_graph.helix_db import parse_stamp, stamp
from helix_graph.insights import feedback, rows
from helix_graph.insights.feedback import Attribution, FeedbackAnswer, FeedbackReport
from helix_graph.insights.links import anchor_of, links_of
from helix_graph.insights.model import OUTCOMES, Injection, Outcome, StoredInsight
from helix_graph.insights.scoring import CAUSAL_GATE
from helix_graph.validation import as_choice, as_line, as_str, as_strs

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Collection, Iterator, Sequence

    from helix_episodes.model import Decision, Episode
    from helix_graph.graph.anchors import AnchoredNode, NodeAnchor
    from helix_graph.graph.model import EpisodeFacts
    from helix_graph.insights.context import InsightContext
    from helix_graph.insights.vectors import Floats


#: A change to a formula or constant below is a new version: records name the one they were made by.
RULE = "strict 3"


#: The cosine counts from here on, and fully this much further up; at the seed's gate of 0.40 it counts half.
RAMP_FROM, RAMP_OVER = 0.20, 0.40
#: What the cosine is worth beside a path, with uptake but no path, and when it was not taken up at all.
BESIDE_PATH, WITHOUT_PATH, NOT_TAKEN_UP = 0.5, 0.35, 0.05
#: A longer chain says little, and every further hop less: 0.85 of the one before.
MOST_HOPS = 5
DECAY = 0.85
#: Nobody writes a shorter name without meaning the word.
_SHORTEST_CITED = 8
#: Names are made of the first words of a text, which has 20 letters or more.
_FEWEST_HYPHENS = 2
#: The decisions that an advice can be the reason of; the others answer an error or run a check.
_CHOICES = frozenset({"design", "implementation"})
#: What changes a file.
_CHANGES = frozenset({"edit", "create", "delete"})
#: A command as prose quotes it.
_QUOTED = Regex(r"`([^`\n]{2,400})`")
#: A file as prose names it: its ending is what distinguishes it from a number or an abbreviation.
_FILE = Regex(r"[\w./-]*\w\.[A-Za-z]\w{0,9}(?![\w/])")


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


# Uptake, and the path from there.


def path_strength(weights: Sequence[float]) -> float:
    """How firmly a chain of edges joins an insight's node to the outcome: 0 to 1; 0 for none, or over five hops.

    The geometric mean of the edges' weights (0 to 1), so that chains of different lengths compare, less 15 % for each
    hop after the first.

    >>> path_strength([0.9]), round(path_strength([0.9, 0.4]), 3), path_strength([])
    (0.9, 0.51, 0.0)
    """
    if not 0 < len(weights) <= MOST_HOPS:
        return 0.0
    hops = len(weights)
    return float(DECAY ** (hops - 1) * math.prod(weights) ** (1 / hops))


class LinkedAdvice(NamedTuple):
    """An insight: its name, what it says, and the nodes that it is linked with."""

    name: str
    content: str
    nodes: Sequence[AnchoredNode] = ()


class Uptake(NamedTuple):
    """What was seen, as a sentence, and the decision where.

    ``named`` says that only the insight's text names what was used: the task may name it too.
    """

    seen: str
    decision: str
    named: bool = False


class OutcomePath(NamedTuple):
    """A path to the outcome: its strength (0 to 1), and the labels along it."""

    strength: float
    labels: tuple[str, ...]


def decisions_after(episode: Episode, since: str) -> list[Decision]:
    """What was decided after a moment; all of it, when the moment is not known."""
    start = sortable_time(since)
    return [one for one in episode.decisions if not start or sortable_time(one.timestamp) >= start]


def uptake_of(
    advice: LinkedAdvice, later: Sequence[Decision], *, alike: Callable[[Decision], float], least: float
) -> Uptake | None:
    """The most telling uptake among later decisions, or None; ``alike`` is the cosine of a decision's words."""
    choices = [one for one in later if _could_follow(advice, one)]
    seen = chain(
        _cited(advice.name, later),
        _repeated(advice.nodes, later),
        _words(choices, alike, least),
        _named(advice.content, later),
    )
    return next(seen, None)


def path_to_outcome(facts: EpisodeFacts, starts: Collection[str]) -> OutcomePath:
    """The strongest path of at most five links from any of these mentions (local ids) to the outcome."""
    after: dict[str, list[tuple[str, float]]] = defaultdict(list)
    for claim in sorted(facts.claims):
        if claim.type != "prevents":
            after[claim.source_local].append((claim.target_local, claim.weight / MILLION))
    labels = {mention.local: mention.label for mention in facts.mentions}
    best: dict[str, tuple[tuple[float, ...], tuple[str, ...]]] = {one: ((), (one,)) for one in sorted(starts)}
    found = OutcomePath(0.0, ())
    for _ in range(MOST_HOPS):
        best = _one_further(best, after)
        if OUTCOME_ID in best:
            weights, way = best.pop(OUTCOME_ID)
            strength = path_strength(weights)
            if strength > found.strength:
                found = OutcomePath(strength, tuple(labels.get(one, one) for one in way))
    return found


def is_look(decision: Decision) -> bool:
    """Whether a decision only runs a check or looks at something, which no advice is needed for.

    >>> from helix_episodes.model import Action, Decision
    >>> run = lambda command: Decision(
    ...     id="d1", timestamp=None, type="implementation", chosen="", action=Action(verb="run", command=command)
    ... )
    >>> is_look(run("golangci-lint run ./...")), is_look(run("cat NOTES.md")), is_look(run("make migrate"))
    (True, True, False)
    """
    command = decision.action.command if decision.action else None
    if not command:
        return decision.type == "test"
    from helix_episodes.extraction.shell.commands import decisive, parse_command

    part = decisive(parse_command(command[:LONGEST_COMMAND]))
    return part is None or part.purpose != "change"


_Paths = dict[str, tuple[tuple[float, ...], tuple[str, ...]]]


def _one_further(best: _Paths, after: dict[str, list[tuple[str, float]]]) -> _Paths:
    """The strongest way to each mention that is one link further; no way meets a mention twice."""
    further: _Paths = {}
    for here, (weights, way) in best.items():
        for there, weight in after.get(here, ()):
            if there in way:
                continue
            longer = (*weights, weight)
            known = further.get(there)
            if known is None or path_strength(longer) > path_strength(known[0]):
                further[there] = (longer, (*way, there))
    return further


def _cited(name: str, later: Sequence[Decision]) -> Iterator[Uptake]:
    """Where the agent says the name. One that a file chose, such as ``checkout``, is a word of commands and paths."""
    if len(name) < _SHORTEST_CITED or name.count("-") < _FEWEST_HYPHENS:
        return
    whole = re.compile(rf"(?<![\w./-]){re.escape(name)}(?![\w/-])")
    for one in later:
        said = (one.rationale, one.context, "" if one.action else one.chosen)
        if any(map(whole.search, said)):
            yield Uptake(f"its name is cited in {one.id}", one.id)


def _repeated(nodes: Sequence[AnchoredNode], later: Sequence[Decision]) -> Iterator[Uptake]:
    """The same command as that of a node; then the same file in the same manner, which is a label's first word."""
    commands = {one.command for one in nodes if one.command}
    for one in later:
        if one.action and one.action.command in commands and not is_look(one):
            yield Uptake(f"the same command in {one.id}: {one.action.command}", one.id)
    files = {(one.path, one.label.partition(" ")[0]) for one in nodes if one.path and one.type == "decision"}
    for one in later:
        if one.action and (one.action.path, one.action.verb) in files:
            yield Uptake(f"the same file in the same manner in {one.id}: {one.action.verb} {one.action.path}", one.id)


def _named(content: str, later: Sequence[Decision]) -> Iterator[Uptake]:
    """What the text itself says to run (between backticks, unless it warns of something) or to change."""
    from helix_graph.graph.node_labels import NEGATIONS

    warns = not NEGATIONS.isdisjoint(content.casefold().split())
    commands = set() if warns else {match[1].strip() for match in _QUOTED.finditer(content)}
    for one in later:
        action = one.action
        if action and action.command and action.command.strip() in commands and not is_look(one):
            yield Uptake(f"the command that it names in {one.id}: {action.command}", one.id, named=True)
        elif action and action.path and action.verb in _CHANGES and _names_file(content, action.path):
            yield Uptake(f"a file that it names in {one.id}: {action.verb} {action.path}", one.id, named=True)


def _names_file(content: str, path: str, others: Iterable[str] = ()) -> bool:
    """Whether a text, or a list of files, names a file: prose may do so by the end of its path."""
    whole = PurePosixPath(path).parts
    ends = (PurePosixPath(one).parts for one in (*others, *(match[0] for match in _FILE.finditer(content))))
    return any(end and whole[-len(end) :] == end for end in ends)


def _could_follow(advice: LinkedAdvice, decision: Decision) -> bool:
    """Whether a choice could be made for this advice: no check, and no change to a file that it does not speak of."""
    if decision.type not in _CHOICES or is_look(decision):
        return False
    path = decision.action.path if decision.action else None
    linked = [one.path for one in advice.nodes if one.path]
    if not path or not (linked or _FILE.search(advice.content)):
        return True
    return _names_file(advice.content, path, linked)


def _words(later: Sequence[Decision], alike: Callable[[Decision], float], least: float) -> Iterator[Uptake]:
    scored = [(alike(one), one) for one in later]
    close = [each for each in scored if each[0] >= least]
    if close:
        cosine, one = max(close, key=lambda each: each[0])
        yield Uptake(f"a decision in the same words in {one.id}, cosine {cosine:.2f}", one.id)


# Feedback.


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
    injections = [_named_injection(found.id, given)] if given else _injections_of(context, found)
    identities = [id if id and len(injections) == 1 else _digest(id, found.id, one.id) for one in injections]
    if outcome is None:
        with context.database.writing() as connection:  # what it said before it went on
            feedback.withdraw(connection, identities, settings=context.settings)
        answer["note"] = f"the outcome is {found.outcome}, which says nothing about an insight"
        return answer
    evidence = _evidence(context, text, outcome, found)
    for injection, identity in zip(injections, identities, strict=True):
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
