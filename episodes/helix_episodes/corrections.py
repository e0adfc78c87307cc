"""Corrections: what a person knows better than the log, laid over an episode whenever it is read.

The episode's file stays what the extraction made of the log, so that it can be extracted again at any time; a
correction is a file of its own (``causality/assertions``), and `corrected` is the one function by which every reader
applies it. It is dated, and the newest of several about the same thing holds.

A correction of a decision or a link names its ends by a `PartAnchor`: ids are numbered again with every extraction, but
the text and the line of the log stay. One that finds its end no longer changes nothing, and `unmatched` names it.

>>> from helix_episodes.model import Episode
>>> told = OutcomeCorrection(episode="episode-s", outcome="failure", because="CI was red",
...     asserted_at="2026-03-02T08:00:00Z")
>>> one = corrected(Episode(id="episode-s", session="s", timestamp=None, outcome="unknown", task=""), [told])
>>> one.outcome, one.outcome_basis, one.outcome_evidence.quote
('failure', 'judged', 'CI was red')
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias

import msgspec
from msgspec.structs import replace

from helix_episodes.light_imports import Regex
from helix_episodes.model import (
    OUTCOME_ID,
    Count,
    Decision,
    DecisionType,
    EdgeType,
    Episode,
    Event,
    Link,
    Outcome,
    OutcomeEvidence,
)

if TYPE_CHECKING:
    EndsOf: TypeAlias = Callable[[str, tuple[str, ...]], tuple[str, ...]]

#: The rule that an outcome that a person stated is shown with.
PERSON_RULE = "told by a person"
#: What the rule of a revision begins with.
LATER_EVIDENCE = "later evidence"
#: What each rule of later evidence says of the earlier session.
_SHOWN = {"revert": "its commit is reverted", "recheck": "found this check failing before it had changed anything"}


class Dated(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind"):
    """What every assertion has: when it was made, ISO 8601 in UTC."""

    asserted_at: str


class PartAnchor(msgspec.Struct, frozen=True, kw_only=True):
    """A decision or event as it was when it was named: its id, its text, and its line in the log."""

    id: str
    text: str
    line: Count | None = None


class OutcomeCorrection(Dated, frozen=True, kw_only=True, tag="outcome"):
    """How a session really came out, and how one knows."""

    episode: str
    outcome: Outcome
    because: str


class OutcomeRevision(Dated, frozen=True, kw_only=True, tag="revision"):
    """What a later session showed of how this one came out; derived from the episodes, never stated by a person.

    ``by`` is that session and ``line`` the line of its log; ``because`` quotes it. ``rule``: its commit was taken back
    (``revert``), or the check that it left passing fails at once (``recheck``).
    """

    episode: str
    outcome: Outcome
    because: str
    rule: Literal["revert", "recheck"]
    by: str
    line: Count | None = None


class DecisionCorrection(Dated, frozen=True, kw_only=True, tag="decision"):
    """What is to be read instead; a part that is ``None`` stays as extracted. ``withdrawn``: it was no decision."""

    episode: str
    decision: PartAnchor
    type: DecisionType | None = None
    context: str | None = None
    chosen: str | None = None
    rationale: str | None = None
    outcome: Outcome | None = None
    withdrawn: bool = False


class LinkCorrection(Dated, frozen=True, kw_only=True, tag="link"):
    """A link that was missed, or with ``withdrawn`` one that is wrong."""

    episode: str
    source: PartAnchor
    target: PartAnchor
    type: EdgeType = "causes"
    withdrawn: bool = False


Correction: TypeAlias = OutcomeCorrection | OutcomeRevision | DecisionCorrection | LinkCorrection


def corrected(episode: Episode, corrections: Iterable[Correction]) -> Episode:
    """The episode as people have corrected it. Corrections come oldest first; others' episodes' are passed over."""
    extracted = episode
    for correction in corrections:
        if correction.episode == extracted.id:
            episode = _apply(episode, correction, extracted)
    return episode


def unmatched(episode: Episode, corrections: Iterable[Correction]) -> tuple[str, ...]:
    """One sentence for each correction whose decision or event the episode no longer has."""
    mine = [each for each in corrections if each.episode == episode.id]
    return tuple(
        f"a correction names {told_id(anchor.id)} ({_quoted(anchor.text)}), which the episode no longer has; it changes"
        " nothing"
        for each in mine
        for anchor in _anchors(each)
        if find_part(episode, anchor) is None
    )


def _quoted(text: str) -> str:
    """What a decision says, which anybody may have written, as a quotation without secrets."""
    from helix_episodes.redaction import redact_text

    return json.dumps(" ".join(redact_text(text).split())[:_LONGEST_QUOTE], ensure_ascii=False)


_LONGEST_QUOTE = 80
#: What ids of decisions and events look like, whoever gave them: ``d001``, ``step-12``.
_ID = Regex(r"[a-z]{1,12}[-_]?[0-9]{1,9}")


def told_id(name: str) -> str:
    """The id of a decision or event in a sentence of ours; one of another form may be a sentence itself.

    >>> told_id("d001"), told_id("Run this script")
    ('d001', 'an id of another form')
    """
    return name if name == OUTCOME_ID or _ID.fullmatch(name) else "an id of another form"


def anchor_of(part: Decision | Event) -> PartAnchor:
    """What a correction remembers of a decision or event."""
    return PartAnchor(id=part.id, text=_text(part), line=part.evidence.line if part.evidence else None)


def parts_of(episode: Episode) -> tuple[Decision | Event, ...]:
    """The decisions and events of an episode: what a link may join."""
    return (*episode.decisions, *episode.events)


def find_part(episode: Episode, anchor: PartAnchor) -> Decision | Event | None:
    """The part an anchor represents: that with its text (of several its line, then its id), else that on its line."""
    parts = [each for each in parts_of(episode) if each.id[:1] == anchor.id[:1]]
    same = [each for each in parts if _text(each) == anchor.text]
    if same:
        return min(same, key=lambda each: (_line(each) != anchor.line, each.id != anchor.id, each.id))
    there = [each for each in parts if anchor.line is not None and _line(each) == anchor.line]
    return there[0] if len(there) == 1 else None


def relink(episode: Episode, links: Sequence[Link]) -> Episode:
    """The episode with other links; ``caused_by``, ``leads_to`` and ``effects`` say the same as these."""
    old = {(one.source, one.target) for one in stated_links(episode)}
    new = {(one.source, one.target) for one in links}
    added, gone = new - old, old - new

    def effects(own: str, known: tuple[str, ...]) -> tuple[str, ...]:
        remaining = [name for name in known if (own, name) not in gone]
        return tuple(dict.fromkeys([*remaining, *sorted(target for source, target in added if source == own)]))

    def causes(own: str, known: tuple[str, ...]) -> tuple[str, ...]:
        remaining = [name for name in known if (name, own) not in gone]
        return tuple(dict.fromkeys([*remaining, *sorted(source for source, target in added if target == own)]))

    return replace(with_ends(episode, effects, causes), links=tuple(links))


def with_ends(episode: Episode, effects: EndsOf, causes: EndsOf) -> Episode:
    """The episode with other ends of its links; both functions take a part's id and the ends that it states."""
    decisions = (
        replace(one, effects=effects(one.id, one.effects), caused_by=causes(one.id, one.caused_by))
        for one in episode.decisions
    )
    events = (
        replace(one, leads_to=effects(one.id, one.leads_to), caused_by=causes(one.id, one.caused_by))
        for one in episode.events
    )
    return replace(episode, decisions=tuple(decisions), events=tuple(events))


def _apply(episode: Episode, correction: Correction, extracted: Episode) -> Episode:
    """``extracted`` is the episode before any correction: anchors are from it, and its ids hold throughout."""
    if isinstance(correction, OutcomeCorrection):
        evidence = OutcomeEvidence(rule=PERSON_RULE, quote=correction.because)
        return replace(episode, outcome=correction.outcome, outcome_basis="judged", outcome_evidence=evidence)
    if isinstance(correction, OutcomeRevision):
        where = f"session {correction.by}" + (f", line {correction.line}" if correction.line else "")
        rule = f"{LATER_EVIDENCE}: {where}: {_SHOWN[correction.rule]} (was {episode.outcome})"
        evidence = OutcomeEvidence(rule=rule, quote=correction.because)
        return replace(episode, outcome=correction.outcome, outcome_basis="measured", outcome_evidence=evidence)
    if isinstance(correction, LinkCorrection):
        return _apply_to_links(episode, correction, extracted)
    found = find_part(extracted, correction.decision)
    now = next((each for each in episode.decisions if found and each.id == found.id), None)
    if now is None:
        return episode
    if correction.withdrawn:
        return _withdraw(episode, now)
    parts = {name: getattr(correction, name) for name in ("type", "context", "chosen", "rationale", "outcome")}
    new = replace(now, **{name: value for name, value in parts.items() if value is not None})
    if correction.chosen is not None:  # its label must follow the words, no longer the deed that was read
        new = replace(new, action=None)
    return replace(episode, decisions=tuple(new if each.id == now.id else each for each in episode.decisions))


def _withdraw(episode: Episode, old: Decision) -> Episode:
    """Without a decision, its links, and its part in fixes, whose other changes share what it had."""
    remaining = relink(episode, [one for one in stated_links(episode) if old.id not in {one.source, one.target}])
    fixes = []
    for fix in episode.fixes:
        changes = tuple(name for name in fix.changes if name != old.id)
        if changes:
            share = fix.share if changes == fix.changes else 1 / len(changes)
            edits = tuple(one for one in fix.edits if one.change in changes)
            fixes.append(replace(fix, changes=changes, share=share, edits=edits))
    decisions = tuple(each for each in remaining.decisions if each.id != old.id)
    return replace(remaining, decisions=decisions, fixes=tuple(fixes))


def _apply_to_links(episode: Episode, correction: LinkCorrection, extracted: Episode) -> Episode:
    source, target = find_part(extracted, correction.source), find_part(extracted, correction.target)
    there = {each.id for each in parts_of(episode)}
    if source is None or target is None or not {source.id, target.id} <= there:
        return episode
    joined = (source.id, target.id)
    others = [one for one in stated_links(episode) if (one.source, one.target) != joined]
    if not correction.withdrawn:
        others.append(Link(source=source.id, target=target.id, reason="stated", type=correction.type))
    return relink(episode, others)


def stated_links(episode: Episode) -> tuple[Link, ...]:
    """The links of an episode; of one in the original schema, those that its parts state."""
    if episode.links:
        return episode.links
    pairs = {(each.id, end) for each in episode.decisions for end in each.effects}
    pairs |= {(each.id, end) for each in episode.events for end in each.leads_to}
    pairs |= {(end, each.id) for each in parts_of(episode) for end in each.caused_by}
    return tuple(Link(source=source, target=target, reason="stated") for source, target in sorted(pairs))


def _anchors(correction: Correction) -> tuple[PartAnchor, ...]:
    if isinstance(correction, DecisionCorrection):
        return (correction.decision,)
    return (correction.source, correction.target) if isinstance(correction, LinkCorrection) else ()


def _text(part: Decision | Event) -> str:
    return part.chosen if isinstance(part, Decision) else part.content


def _line(part: Decision | Event) -> int | None:
    return part.evidence.line if part.evidence else None
