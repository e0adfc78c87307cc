"""What an insight is, how it performed and what both rest on, as frozen values.

An insight is two things that must not be confused. What people and agents wrote (`Insight`: the text, its tags, whether
somebody muted it) is truth. How it performed (`Performance`: effectiveness and counts) is the fold of the feedback log
(`FeedbackEntry`) over it, and can be computed again at any time.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import msgspec


class TextVector(NamedTuple):
    """A text's vector as the table has it, and the model that made it."""

    model: str
    blob: bytes


State = Literal["active", "muted", "rejected", "merged"]
#: Where an insight comes from. The order is that of trust: of two records of one insight the first named counts, and of
#: two insights that say the same, nobody's words take the place of those of one named before.
Origin = Literal["told", "derived", "chunked", "agent", "imported"]
ORIGINS: tuple[Origin, ...] = ("told", "derived", "chunked", "agent", "imported")
Outcome = Literal["delivered", "blocked", "plan_complete"]
OUTCOMES: tuple[Outcome, ...] = ("delivered", "blocked", "plan_complete")
#: What the log knows: feedback, decay by time, and a standing taken over from another program's file.
EntryKind = Literal["feedback", "decay", "given"]
#: How an insight may be linked: to another insight (`Insight.uid`) or to a node of the graph (an anchor).
INSIGHT_RELATIONS = ("similar", "led_to", "co_occurs", "causes", "solves")
NODE_RELATIONS = ("derived_from", "addresses", "prevents")
#: Who drew a link. The order is that of trust, as with `ORIGINS`.
LinkOrigin = Literal["hand", "extraction", "label", "embedding"]
LINK_ORIGINS: tuple[LinkOrigin, ...] = ("hand", "extraction", "label", "embedding")

#: Tags by which the derived are told from the told, and lessons from fixes.
DERIVED, LESSON, FIX = "derived", "lesson", "fix"
#: What `Insight.source` says of what was harvested.
HARVEST_SOURCE = "harvest"


class Insight(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What was said: the part of an insight that memories exchange.

    ``uid`` follows from the text as it was first stored, so that two memories which learnt the same hold one insight.
    ``slug`` is the name it was given here. A date of ``""`` is one that never was: ``edited_at`` and ``tagged_at`` are
    when a person last set text and tags (a text tagged ``user-provided`` was set by one when it was stored),
    ``state_at`` when the state was. ``told`` is the form of the older seed
    (trigger, resolution, type), where the insight was stated in it. Dates are those of `helix_graph.helix_db`.
    """

    uid: str
    slug: str
    content: str
    created_at: str
    tags: tuple[str, ...] = ()
    origin: Origin = "told"
    initial: float = 0.5
    edited_at: str = ""
    tagged_at: str = ""
    state: State = "active"
    state_at: str = ""
    merged_into: str = ""
    reason: str = ""
    episode: str = ""
    source: str = ""
    told: dict[str, str] = msgspec.field(default_factory=dict)


class Performance(msgspec.Struct, frozen=True, kw_only=True):
    """How an insight did: the fold of the log over it. ``decayed_until`` is up to when idle time has been counted."""

    effectiveness: float = 0.5
    use_count: int = 0
    causal_hits: int = 0
    last_used: str | None = None
    last_feedback_at: str | None = None
    decayed_until: str | None = None


class StoredInsight(msgspec.Struct, frozen=True, kw_only=True):
    """An insight as it is in a memory: its row's number, its name here, what was said and how it did."""

    number: int
    name: str
    insight: Insight
    standing: Performance


class InsightVerdict(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one feedback says of one insight, and why: ``name`` is what it was called then.

    ``cosine``, ``uptake`` and ``path`` are what the reason rests on, where they were looked at, ``rule`` the rule with
    its version. ``taken_up`` is None where nobody knew, ``score`` (0 to 1) where nobody looked.
    """

    uid: str
    name: str
    causal: bool
    reason: str = ""
    cosine: float | None = None
    uptake: str | None = None
    path: tuple[str, ...] = ()
    taken_up: bool | None = None
    score: float | None = None
    rule: str = ""


class FeedbackEntry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One line of the log of feedback. ``names`` are those that were given, also the unknown ones.

    ``injection`` is the id of what was shown, where the feedback is about one injection. A ``decay`` has the days
    without use in ``days``, a ``given`` the performance in ``standing`` and its insight in ``verdicts``.
    """

    id: str
    ts: str
    kind: EntryKind = "feedback"
    outcome: Outcome | None = None
    names: tuple[str, ...] = ()
    verdicts: tuple[InsightVerdict, ...] = ()
    episode: str | None = None
    policy: str = "seed"
    days: int = 0
    standing: Performance | None = None
    injection: str = ""


class InsightLink(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """From an insight to another (``target``, a uid) or to a node of the graph.

    The truth of a link to a node is its anchor: the node's type, the text it was made from, and the episode, if any.
    The node itself is found at each look, so that links outlive new versions of labels.
    """

    id: str
    insight: str
    relation: str
    created_at: str
    target: str = ""
    node_type: str = ""
    node_text: str = ""
    episode: str = ""
    origin: LinkOrigin = "hand"
    score: float = 1.0


class Withheld(msgspec.Struct, frozen=True, kw_only=True):
    """An insight that was eligible and withheld, and the chance with which that happened."""

    name: str
    propensity: float


class Injection(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What was shown to somebody once: the names that were, and those that were withheld.

    ``passed_over`` were relevant and not chosen. ``chances`` are those with which each of the shown might have been
    withheld; empty when nothing is ever withheld.
    """

    id: str
    ts: str
    task: str = ""
    session: str = ""
    query: str = ""
    shown: tuple[str, ...] = ()
    withheld: tuple[Withheld, ...] = ()
    policy: str = "seed"
    chances: dict[str, float] = msgspec.field(default_factory=dict)
    passed_over: tuple[str, ...] = ()


class ForgottenInsight(msgspec.Struct, frozen=True):
    """That an insight was forgotten, and when."""

    uid: str
    ts: str


class ImportMark(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """That an import brought the record of that id, and was the first to: by which file, with which sum, and when.

    ``name`` is what an insight is called, where another one asks for the same name: a memory that is made from this
    calls it so too.
    """

    id: str
    file: str
    sha256: str
    ts: str
    name: str = ""


#: What an export is made of.
Record = Insight | InsightLink | FeedbackEntry | Injection | ForgottenInsight
