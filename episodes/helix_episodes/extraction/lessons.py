"""Lessons: those the log states, and those that a verified fix teaches.

Prose states several in one paragraph, or draws a general truth. A derived lesson says what failed, what was
changed, and which check shows that it helped; it is marked as derived, so that no one takes it for someone's words.

>>> [one[:12] for one in split_lessons("Two lessons. First, read the diff. It helps. Second, run the suite.")]
['First, read ', 'Second, run ']
>>> split_lessons("Read the diff first, then run the suite.")
('Read the diff first, then run the suite.',)
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from helix_episodes.extraction.drafts import evidence_of, first_sentence, line
from helix_episodes.extraction.prose.sentences import has_any, marked_items, sentences_of, statement_sentences
from helix_episodes.extraction.user_reports import WORK
from helix_episodes.light_imports import Regex
from helix_episodes.model import LessonEvidence

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from helix_episodes.extraction.timeline import Timeline
    from helix_episodes.model import Decision, Fix
    from helix_episodes.session import Session, Step


_COUNTED = Regex(
    r"(?:^|(?<=[.!?:;]\s))(?=(?:First|Second|Third|Fourth|Fifth|Sixth|Finally|Last)(?:ly)?,? \S|\(?[1-9]\)\s"
    r"|[1-9]\.\s+[A-Z])"
)
_FIRST = Regex(r"^(?:First|\(?1\)|1\.)")
#: A list has two items; one "First" is an adverb.
_LIST = 2
#: "Three lessons." announces the list; what is longer says something of its own.
_ANNOUNCES = Regex(r"^[^.:;]{0,60}[.:;]\s*$")
#: Words of a general truth, which names no thing of this log and reports nothing that happened.
_GENERAL = r"(?:is|are|cannot|can only|must|does not|do not)"
_MAXIM = Regex(
    rf"^(?:Any|An?|[A-Z][a-z]+ of an?) [a-z][a-z' -]{{3,90}}? {_GENERAL} (?!now\b|also\b|still\b)\S.{{5,}}",
)
#: What happened, what was counted and what is named by an identifier is no general truth.
_PARTICULAR = Regex(
    r"\b(?:was|were|had|here|yet to|I|we|our|my)\b|#\d|\w_\w|\w\(\)|\b[\w-]+\.[a-z][a-z\d]{1,3}\b"
    r"|\b[0-9a-f]{7,}\b"
)


def split_lessons(text: str) -> tuple[str, ...]:
    """The lessons of a paragraph that counts them off; any other is one lesson."""
    parts = [part.strip() for part in _COUNTED.split(text) if part and part.strip()]
    before = next((place for place, part in enumerate(parts) if _FIRST.match(part)), 0)
    counted = [*(part for part in parts[:before] if not _ANNOUNCES.match(part)), *parts[before:]]
    return tuple(counted) if len(counted) >= _LIST and any(_FIRST.match(part) for part in counted) else (text,)


def maxims_in(text: str) -> tuple[str, ...]:
    """The general truths that a statement draws, without calling them lessons.

    >>> maxims_in("Retried it. A retry that hides its cause is not a fix. Read the log.")
    ('A retry that hides its cause is not a fix.',)
    >>> maxims_in("A retry was added. A retry of upload_rows is not logged.")
    ()
    """
    return tuple(one for one in statement_sentences(text) if _MAXIM.match(one) and not _PARTICULAR.search(one))


_HEADING = re.compile(
    r"^\s*(?:#{1,6}\s+|\*\*\s*)lessons?(?: learn(?:ed|t))?\s*(?::\s*)?(?:\*\*\s*)?(?::\s*)?$",
    re.IGNORECASE,
)
_LABELLED = re.compile(
    r"^\s*(?:[-*+]\s+)?\*{0,2}(?:root cause|lesson(?: learn(?:ed|t))?)\*{0,2}\s*:\s*(?:\*{1,2}\s*)?(\S.{19,})$",
    re.IGNORECASE,
)
_CUES = ("lesson", "root cause")
#: A heading over the lessons below it: names in capitals, and no statement about them.
_TITLE = re.compile(r"(?:[A-Z][\w-]*(?: (?:of|and|the|in|for|to|on|with|vs\.?))? ?){2,6}")
#: The statements of a report that say what happened; what is planned teaches nothing yet.
_TELLING = frozenset({"did", "found", "detail", "outcome", "remedy", "other"})
_WORD = re.compile(r"[^\W_][\w']*")
#: Words that say nothing of *this* error and *this* change: assent, the agent itself, setting to work, "the problem".
_EMPTY = re.compile(
    r"good|got|great|progress|i|i'(?:d|ll|m|ve)|me|my|us|we|we'(?:ll|re|ve)|you|your|user|lets?|let's"
    r"|can|could|have|needs?|now|should|wants?|will|would|a|again|all|also|an|and|are|as|at|be|both|found|here|here's"
    r"|in|is|its?|it's|just|of|on|one|so|some|that|that's|the|them|then|there|there's|these|they|this|those|to|too"
    r"|two|was|what|what's|were|with|continue|fix|resolve|see|understand|first|bugs?|check"
    r"|failures?|issues?|tests?"
)
#: A lesson is read on its own, away from its log: 200 characters would cut 20 of the corpus' 67 short, these cut 1.
_LESSON_LIMIT = 400
#: A lesson names this many changes and counts the rest.
_MOST_CHANGES = 3


def lessons_of(session: Session, timeline: Timeline, fixes: Sequence[Fix]) -> list[tuple[str, LessonEvidence]]:
    """Each lesson once, stated ones first, with what it rests on."""
    found = [*_stated(session), *_derived(timeline, fixes)]
    return list({text: (text, evidence) for text, evidence in reversed(found)}.values())[::-1]


def _stated(session: Session) -> Iterator[tuple[str, LessonEvidence]]:
    for step in session.steps:
        if step.kind == "lesson":
            if _TITLE.fullmatch(step.text.strip()):
                continue
            yield from _stated_by_step(step, split_lessons(step.text))
        elif step.kind == "note" and step.arguments.get("part") in _TELLING:
            yield from _stated_by_step(step, maxims_in(step.text))
        elif step.kind == "message" and has_any(step.text.lower(), _CUES):
            for words in marked_items(step.text, label=_LABELLED, heading=_HEADING):
                yield line(re.sub(r"[*`]{1,3}", "", words)), LessonEvidence(evidence=evidence_of(step, words))


def _stated_by_step(step: Step, lessons: Iterable[str]) -> Iterator[tuple[str, LessonEvidence]]:
    for text in lessons:
        yield line(text, limit=_LESSON_LIMIT), LessonEvidence(evidence=evidence_of(step, text))


def _derived(timeline: Timeline, fixes: Sequence[Fix]) -> Iterator[tuple[str, LessonEvidence]]:
    """One lesson for each fix of a check that the same check verified."""
    for fix in fixes:
        verified = fix.verified_by is not None and fix.verified_by.startswith("e")
        error = timeline.event(fix.error)
        changes = [timeline.decision(name) for name in fix.changes]
        if verified and changes:
            evidence = LessonEvidence(derived=True, sources=(fix.error, *fix.changes), evidence=error.evidence)
            done = list(dict.fromkeys(_with_reason(change) for change in changes))
            remedy = "; ".join(done[:_MOST_CHANGES])
            if len(done) > _MOST_CHANGES:
                remedy += f"; and {len(done) - _MOST_CHANGES} more"
            known = not error.message or error.message in error.content
            detail = "" if known else f" ({line(error.message or '', limit=120)})"
            shown = timeline.event(fix.verified_by or "").check if fix.check == WORK else fix.check
            verdict = f"verified by {shown}" if shown and shown != WORK else "accepted by the user"
            words = f"When {error.content}{detail}: {remedy} ({verdict})"
            yield line(words, limit=_LESSON_LIMIT), evidence


def _with_reason(change: Decision) -> str:
    """What was done, and the first sentence of its rationale that says more than assent and setting to work."""
    for sentence in map(first_sentence, sentences_of(change.rationale)):
        words = _WORD.findall(sentence.lower().replace("\u2019", "'"))
        if any(not _EMPTY.fullmatch(word) for word in words):
            return f"{change.chosen} \u2013 {sentence.rstrip('.')}"
    return change.chosen
