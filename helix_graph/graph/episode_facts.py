"""Facts of an episode: mentions with their labels, claims for their links.

Nothing is guessed. A claim exists because the episode has a link, a fix, or the event that decided its outcome; order
in time alone makes none. Episodes of the original schema have no ``links``; for them ``effects``, ``caused_by`` and
``leads_to`` count, with the reason ``stated``, once however many sides name the link.

Of an error that was repaired, an ``answer`` link of an episode is what the agent did first about it, recorded without
looking at how it came out, because rates are computed from it. A path from an error is asked for what repaired it. That
is among the changes of the error's fix, which are those between the last run that showed it and the first that did not.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache, partial
from operator import itemgetter
from typing import TYPE_CHECKING, TypedDict

import msgspec

from helix_episodes.corrections import told_id
from helix_episodes.extraction.checks import CheckFinding
from helix_episodes.extraction.fingerprints import diagnostics_of_finding
from helix_episodes.light_imports import Regex
from helix_episodes.model import (
    OUTCOME_ID,
    CommandRun,
    Decision,
    EdgeType,
    Episode,
    Event,
    EventType,
    Evidence,
    Fix,
    Place,
)
from helix_episodes.normalization import first_line
from helix_graph.graph import MILLION
from helix_graph.graph.mentions import findable, finer_of_decision, finer_of_event
from helix_graph.graph.model import Claim, CostFact, EpisodeFacts, Mention, Repair, RunFact, node_id
from helix_graph.graph.node_labels import EpisodeLabels, family_of, is_error, outcome_key

if TYPE_CHECKING:
    from collections.abc import Iterator

    from helix_graph.graph.model import NodeType


#: Of so many links with a reason so many were right (docs/decisions/2026-11-23-resolutions.md says who looked, and at
#: what). Nobody has looked at those of ``entry``.
_RIGHT_OF = {
    "call": (462, 462),
    "answer": (14, 15),
    "edit-test": (50, 50),
    "fix": (35, 39),
    "commit": (27, 30),
    "spawn": (12, 12),
    "entry": (0, 0),
    "stated": (3, 5),
    "decided": (14, 14),
}
#: A claim's weight is the precision of its reason: the share of such links that a careful reader confirms, with one
#: right and one wrong added, so that few looks leave doubt and none is one half.
REASON_WEIGHT: dict[str, int] = {
    reason: (right + 1) * MILLION // (looked + 2) for reason, (right, looked) in _RIGHT_OF.items()
}
#: Become nodes only when they take part in a link: most of them say nothing about what led to what.
_LINKED_ONLY = frozenset({"milestone", "tool_call"})


def facts_of(episode: Episode, labels: EpisodeLabels | None = None) -> EpisodeFacts:
    """The facts of one episode; ``labels`` are its own, where they are known."""
    links = tuple(_links(episode))
    decisions = {one.id: one for one in episode.decisions}
    repairs = {
        (fix.error, change, fix.check): Repair(
            error=fix.error,
            change=change,
            check=fix.check,
            verified_by=fix.verified_by,
            share=round(fix.share * MILLION),
            **_edit_of(fix, decisions.get(change)),
        )
        for fix in episode.fixes
        for change in fix.changes
    }
    source, target = _ENDS
    used = {*map(source, links), *map(target, links), *map(source, repairs), *map(target, repairs)}
    mentions = {mention.local: mention for mention in _mentions(episode, used, labels or EpisodeLabels(episode))}
    prevented: list[_Link] = [
        (one.change, one.error, "prevents", "fix", REASON_WEIGHT["fix"] * one.share // MILLION, False, None, ())
        for one in repairs.values()
    ]
    claims, problems = _claims((*links, *prevented), mentions)
    log = episode.provenance.log if episode.provenance else None
    return EpisodeFacts(
        episode=episode.id,
        session=episode.session,
        timestamp=episode.timestamp,
        task=episode.task,
        task_kind=episode.task_kind,
        outcome=episode.outcome,
        basis=episode.outcome_basis,
        agent=episode.agent.name if episode.agent else None,
        model=episode.agent.model if episode.agent else None,
        branch=episode.branch,
        log=log,
        mentions=tuple([mentions[local] for local in sorted(mentions)]),
        claims=claims,
        repairs=tuple(repairs[key] for key in sorted(repairs) if {*key[:2]} <= mentions.keys()),
        runs=tuple(_of_run(number, run, log) for number, run in enumerate(episode.runs)),
        costs=tuple(sorted(_costs(episode, mentions), key=lambda cost: cost.local)),
        problems=problems,
    )


#: Source, target, type, reason and weight of a link, whether it is loose, the edit that it rests on, and the lines of
#: all where it rests on several.
_Link = tuple[str, str, EdgeType, str, int, bool, Evidence | None, tuple[int, ...]]
_ENDS = itemgetter(0), itemgetter(1)


class _Edit(TypedDict, total=False):
    quote: str | None
    replaced: str | None
    line: int | None
    silences: int


def _edit_of(fix: Fix, change: Decision | None) -> _Edit:
    """What a repair stores of the edit that speaks of its error."""
    if change is None:
        return {}
    evidence, silences = fix.edit_of(change)
    if evidence is None or evidence == change.evidence:
        return {"silences": int(silences)}
    return {"quote": evidence.quote, "replaced": evidence.replaced, "line": evidence.line, "silences": int(silences)}


def _links(episode: Episode) -> Iterator[_Link]:
    """Everything the episode joins, fixes aside.

    What answers an error that was repaired is the change that is credited with it, not the first that was tried.
    """
    answers = credited_answers(episode)
    unsure = {(fix.error, change) for fix in episode.fixes for change in fix.loose}
    lines = {fix.error: fix.lines for fix in episode.fixes}
    for link in episode.links:
        source, reason = link.source, link.reason
        if reason == "fix":  # they have a list of their own, with shares
            continue
        weight = REASON_WEIGHT[reason]
        if reason == "answer" and source in answers:
            target = answers[source]
            yield source, target, link.type, reason, weight, (source, target) in unsure, None, lines[source]
        else:
            yield source, link.target, link.type, reason, weight, link.loose, link.edit, link.lines
    for change, passed, loose in repaired_passes(episode):
        yield change, passed, "causes", "fix", REASON_WEIGHT["fix"], loose, None, ()
    if not episode.links:
        for source, target in _stated(episode):
            yield source, target, "causes", "stated", REASON_WEIGHT["stated"], False, None, ()
    decider = episode.outcome_evidence.source if episode.outcome_evidence else None
    if decider and outcome_key(episode.outcome):
        yield decider, OUTCOME_ID, "causes", "decided", REASON_WEIGHT["decided"], False, None, ()


def _stated(episode: Episode) -> set[tuple[str, str]]:
    pairs: set[tuple[str, str]] = set()
    for decision in episode.decisions:
        pairs.update((decision.id, effect) for effect in decision.effects)
        pairs.update((cause, decision.id) for cause in decision.caused_by)
    for event in episode.events:
        pairs.update((event.id, effect) for effect in event.leads_to)
        pairs.update((cause, event.id) for cause in event.caused_by)
    return pairs


def _claims(links: tuple[_Link, ...], mentions: dict[str, Mention]) -> tuple[tuple[Claim, ...], tuple[str, ...]]:
    """Each link between two mentions once, by local ids; those with an end that does not exist are problems."""
    claims: dict[tuple[str, str, str, str], Claim] = {}
    problems: set[str] = set()
    for source, target, kind, reason, weight, loose, edit, lines in links:
        begin, end = mentions.get(source), mentions.get(target)
        if begin is None or end is None:
            missing = sorted({source, target} - mentions.keys())
            ends, lacking = f"{told_id(source)} → {told_id(target)}", " and no ".join(map(told_id, missing))
            problems.add(f"link {ends} ({reason}): no {lacking}; left out")
            continue
        claims[source, target, kind, reason] = Claim(
            source=begin.node,
            target=end.node,
            type=kind,
            reason=reason,
            weight=weight,
            source_local=source,
            target_local=target,
            loose=int(loose),
            line=edit.line if edit else None,
            quote=edit.quote if edit else None,
            lines=" ".join(map(str, lines)) if lines else None,
        )
    return tuple([claims[key] for key in sorted(claims)]), tuple(sorted(problems))


def _of_run(number: int, run: CommandRun, log: str | None) -> RunFact:
    line, where = (run.evidence.line, run.evidence.file or log) if run.evidence else (None, log)
    changed = [(one.path, one.kind, one.lines) for one in run.changed]
    return RunFact(
        number=number,
        check=run.check,
        kind=run.kind,
        passed=None if run.passed is None else int(run.passed),
        command=run.command,
        directory=run.directory,
        timestamp=run.timestamp,
        line=line,
        log=where,
        seconds=run.seconds,
        fresh=int(run.fresh),
        changed=msgspec.json.encode(changed).decode(),
        files=run.files,
        edits=run.edits,
        events=" ".join(run.events),
        deliberate=int(run.deliberate),
    )


def _costs(episode: Episode, mentions: dict[str, Mention]) -> Iterator[CostFact]:
    for event in {event.id: event for event in reversed(episode.events)}.values():  # the first of an id counts
        if event.cost is not None and event.id in mentions:
            cost = event.cost
            yield CostFact(local=event.id, steps=cost.steps, seconds=cost.seconds, tokens=cost.tokens, end=cost.end)


def _mentions(episode: Episode, used: set[str], labels: EpisodeLabels) -> Iterator[Mention]:
    log = episode.provenance.log if episode.provenance else None
    for decision, label in zip(episode.decisions, labels.decisions, strict=True):
        yield _of_decision(decision, label, log)
    for event, known in zip(episode.events, labels.events, strict=True):
        if known and (event.type not in _LINKED_ONLY or event.id in used):
            yield _of_event(event, known, log)
    outcome = outcome_key(episode.outcome)
    if outcome:
        evidence = episode.outcome_evidence
        yield Mention(
            local=OUTCOME_ID,
            node=node_id("outcome", outcome),
            type="outcome",
            label=outcome,
            timestamp=episode.timestamp,
            line=evidence.line if evidence else None,
            log=log,
            quote=evidence.quote if evidence else "",
        )


#: What of a mention of an event follows from what happened, wherever and whenever that was: node, type, place, thing,
#: message, family and issues.
_About = tuple[str, "NodeType", str | None, str | None, str | None, str | None, str | None]


def _of_decision(decision: Decision, label: str, log: str | None) -> Mention:
    action, evidence = decision.action, decision.evidence
    place, thing = findable(finer_of_decision(decision, label))
    return Mention(  # as in `_of_event`
        decision.id,
        node_id("decision", label),
        "decision",
        label,
        place,
        thing,
        decision.chosen,
        decision.timestamp,
        path=action.path if action else None,
        command=action.command if action else None,
        rationale=decision.rationale or None,
        actor=decision.actor,
        line=evidence.line if evidence else None,
        log=(evidence.file or log) if evidence else log,
        quote=evidence.quote if evidence else "",
        context=decision.context,
        outcome=decision.outcome,
        replaced=evidence.replaced if evidence else "",
    )


def _of_event(event: Event, label: str, log: str | None) -> Mention:
    evidence = event.evidence
    node, kind, place, thing, message, family, issues = _about_event(event, label)
    return Mention(  # not all by name: of more than 15 named arguments Python makes a dict first, which takes 0.8 µs
        event.id,
        node,
        kind,
        label,
        place,
        thing,
        event.content,
        event.timestamp,
        path=event.path,
        message=message,
        check=event.check,
        family=family,
        issues=issues,
        rationale=event.reply.quote if event.reply else None,
        actor=event.actor,
        line=evidence.line if evidence else None,
        log=(evidence.file or log) if evidence else log,
        quote=evidence.quote if evidence else "",
        deliberate=event.deliberate,
    )


def _about_event(event: Event, label: str) -> _About:
    if not is_error(event):
        place, thing = (None, None) if event.type == "test" else findable(finer_of_event(event, label))
        return node_id("event", label), "event", place, thing, event.message or None, event.family, None
    where = event.place
    return _about_error(
        *(label, event.type, event.check, event.family, event.message, "" if event.message else event.content),
        *(event.tool, event.path, event.tests, event.fingerprint, event.also),
        (where.file, where.test, where.symbol, where.rule) if where else None,
    )


@lru_cache(maxsize=8192)  # the same errors come in many sessions; some 8 MB
def _about_error(  # noqa: PLR0913, PLR0917  (all that it depends on)
    label: str,
    type_: EventType,
    check: str | None,
    family: str | None,
    message: str | None,
    content: str,
    tool: str | None,
    path: str | None,
    tests: tuple[str, ...],
    fingerprint: str | None,
    also: tuple[str, ...],
    place: tuple[str | None, str | None, str | None, str | None] | None,
) -> _About:
    event = Event(
        id="", timestamp=None, type=type_, status="error", check=check, family=family, message=message, content=content,
        tool=tool, path=path, tests=tests, fingerprint=fingerprint, also=also,
        place=Place(file=place[0], test=place[1], symbol=place[2], rule=place[3]) if place else None,
    )  # fmt: skip
    named, thing = findable(finer_of_event(event, label))
    said, issues = message or first_line(content), " ".join(fingerprints_of_event(event)) or None
    return node_id("error", label), "error", named, thing, said, family_of(event), issues


def fingerprints_of_event(event: Event) -> tuple[str, ...]:
    """The fingerprints of an error, its issue's first.

    They are read from the message where the episode has none: an earlier version or a person wrote it.
    """
    if not is_error(event):
        return ()
    if event.fingerprint:
        return tuple(
            filter(None, dict.fromkeys((event.fingerprint, *event.also)))
        )  # whoever shares one may repeat them
    message = event.message or first_line(event.content)
    scope = (event.path or "") if event.tool else ""
    finding = CheckFinding(family=family_of(event), message=message, path=event.path, tests=event.tests)
    found = diagnostics_of_finding(event.check or "", finding, scope=scope)
    return tuple(dict.fromkeys(key for one in found for key in one.keys))


#: A name within a message: words of prose have neither a capital after a small letter nor an underscore.
_NAME_IN_MESSAGE = Regex(r"[A-Za-z_]*(?:[a-z][A-Z]|_)\w+")


def credited_answers(episode: Episode) -> dict[str, str]:
    """By error that a change repaired the change that speaks for itself.

    For a failed test, which names itself, that is the last one, if there is any outside of tests the last of those,
    else the last to its own file.
    Else it is the first that has an edit which speaks of the message, or writes a name of it, or its file.
    """
    if not episode.fixes:
        return {}
    decisions = {one.id: one for one in episode.decisions}
    events = {one.id: one for one in episode.events}
    found: dict[str, str] = {}
    for fix in episode.fixes:
        changes = [decisions[name] for name in fix.changes if name in decisions]
        error = events.get(fix.error)
        if error is None or not changes:
            continue
        if len(changes) == 1:
            found[error.id] = changes[0].id
        elif error.tests or (error.family or "").endswith("test failed"):
            found[error.id] = max(reversed(changes), key=partial(_repairs_test, fix=fix, error=error)).id
        else:
            names = frozenset(_NAME_IN_MESSAGE.findall(error.message or ""))
            found[error.id] = max(changes, key=partial(_aptness, fix=fix, error=error, names=names)).id
    return found


def _repairs_test(change: Decision, *, fix: Fix, error: Event) -> tuple[bool, bool, bool]:
    path = change.action.path if change.action else None
    outside = change.action is not None and path is not None and change.action.role != "test"
    return (
        change.id not in fix.loose,
        outside,
        bool(path and error.path) and _name(path or "") == _name(error.path or ""),
    )


def _aptness(change: Decision, *, fix: Fix, error: Event, names: frozenset[str]) -> tuple[bool, bool, bool, bool]:
    path = change.action.path if change.action else None
    written = f"{change.evidence.replaced}\n{change.evidence.quote}" if change.evidence else ""
    return (
        change.id not in fix.loose,
        any(one.change == change.id for one in fix.edits),
        any(name in written for name in names),
        bool(path and error.path) and _name(path or "") == _name(error.path or ""),
    )


def _name(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]


def repaired_passes(episode: Episode) -> Iterator[tuple[str, str, bool]]:
    """Each change that a fix credits, the passing run that verifies it, and whether that is loose.

    Only where no link joins the two already.

    A link joins a change to the next run; a test may go on failing for other reasons before it passes. Other checks
    list all they find: one that fails again in between was not brought to pass by the change alone.
    """
    if not any(fix.verified_by for fix in episode.fixes):
        return
    decisions = {one.id: one for one in episode.decisions}
    events = {one.id: one for one in episode.events}
    linked = {(link.source, link.target) for link in episode.links}
    for fix in episode.fixes:
        passed, error = events.get(fix.verified_by or ""), events.get(fix.error)
        if passed is None or error is None or passed.type != "test" or passed.check != error.check:
            continue
        for change in (decisions[name] for name in fix.changes if name in decisions):
            failing = any(_is_between(run, change, passed) for run in episode.runs if run.check == error.check)
            if (change.id, passed.id) not in linked and not failing:
                yield change.id, passed.id, change.id in fix.loose or len(fix.changes) > 1


def _is_between(run: CommandRun, change: Decision, passed: Event) -> bool:
    """Whether a run of no test fails after a change and before a check passes."""
    if run.passed is not False or run.kind == "test" or run.evidence is None:
        return False
    after = change.evidence is None or run.evidence.line > change.evidence.line
    return after and (passed.evidence is None or run.evidence.line < passed.evidence.line)
