"""Lessons: those the log states, and those that a verified fix teaches.

A derived lesson says what failed, what was changed, and which check shows that it helped; it is marked as derived, so
that nobody takes it for somebody's words.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from helix_episodes.extraction.evidence import evidence_of
from helix_episodes.extraction.lessons_told import each_lesson, lessons_in, maxims_in
from helix_episodes.extraction.marked import marked_items
from helix_episodes.extraction.sentences import has_any, sentences_of
from helix_episodes.extraction.words import first_sentence, line
from helix_episodes.model import LessonEvidence

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from helix_episodes.extraction.account import Account
    from helix_episodes.model import Decision, Event, Fix
    from helix_episodes.session import Session, Step

_HEADING = re.compile(
    r"^\s*(?:#{1,6}\s+|\*\*)\s*(?:key |main )?"
    r"(?:lessons?(?: learn(?:ed|t))?|learnings?|takeaways?|retrospective)\s*:?\s*(?:\*\*)?\s*:?\s*$",
    re.IGNORECASE,
)
_LABELLED = re.compile(
    r"^\s*(?:[-*+]\s+)?\*{0,2}(?:root cause|lesson(?: learn(?:ed|t))?|takeaway)\*{0,2}\s*:\s*\*{0,2}\s*(\S.{19,})$",
    re.IGNORECASE,
)
_CUES = (
    "lesson",
    "learn",
    "takeaway",
    "insight",
    "retrospective",
    "root cause",
    "need for",
    "need to",
    "trap",
    "pitfall",
    "gotcha",
    "caveat",
    "corollary",
    "principle",
    "rule of thumb",
    "worth ",
)
#: A heading over lessons that stand below it: names in capitals, and nothing said of them.
_TITLE = re.compile(r"(?:[A-Z][\w-]*(?: (?:of|and|the|in|for|to|on|with|vs\.?))? ?){2,6}")
#: The statements of a report that say what happened; what is planned teaches nothing yet.
_TELLING = frozenset({"did", "found", "detail", "outcome", "remedy", "other"})
_WORD = re.compile(r"[^\W_][\w']*")
#: Words that say nothing of *this* error and *this* change: assent, the agent itself, setting to work, "the problem".
_EMPTY = re.compile(
    r"ah|aha|alright|done|excellent|fine|good|got|great|hmm?|interesting|nice|oh|ok|okay|oops|perfect|progress|right|sure"
    r"|thanks|understood|well|wonderful|yes"
    r"|i|i'(?:d|ll|m|ve)|me|my|us|we|we'(?:ll|re|ve)|you|your|user|lets?|let's"
    r"|can|could|going|have|needs?|now|should|wants?|will|would|try"
    r"|a|again|all|also|an|and|are|as|at|be|both|found|here|here's|in|is|its?|it's|just|next|of|on|one|so|some|that|that's"
    r"|the|them|then|there|there's|these|they|this|those|to|too|two|was|what|what's|were|with"
    r"|continue|fix|fixing|find|handle|look|make|mend|proceed|resolve|see|solve|think|understand|work"
    r"|actually|clearly|first|properly|quickly|really|simply"
    r"|bugs?|case|check|errors?|failures?|issues?|problems?|tests?|things?"
)
#: A lesson is read on its own, away from its log: 200 characters would cut 20 of the corpus' 67 short, these cut 1.
_LESSON_LIMIT = 400


def lessons_of(session: Session, account: Account, fixes: Sequence[Fix]) -> list[tuple[str, LessonEvidence]]:
    """Each lesson once, stated ones first, with what it rests on."""
    found = [*_stated(session), *_derived(account, fixes)]
    return list({text: (text, evidence) for text, evidence in reversed(found)}.values())[::-1]


def _stated(session: Session) -> Iterator[tuple[str, LessonEvidence]]:
    for step in session.steps:
        if step.kind == "lesson":
            if _TITLE.fullmatch(step.text.strip()):
                continue
            yield from _told(step, each_lesson(step.text))
        elif step.kind == "note" and step.arguments.get("part") in _TELLING:
            called = lessons_in(step.text) if has_any(step.text.lower(), _CUES) else ()
            yield from _told(step, called or maxims_in(step.text))
        elif step.kind == "message" and has_any(step.text.lower(), _CUES):
            for words in marked_items(step.text, label=_LABELLED, heading=_HEADING):
                yield line(re.sub(r"[*`]{1,3}", "", words)), LessonEvidence(evidence=evidence_of(step, words))


def _told(step: Step, lessons: Iterable[str]) -> Iterator[tuple[str, LessonEvidence]]:
    for text in lessons:
        yield line(text, limit=_LESSON_LIMIT), LessonEvidence(evidence=evidence_of(step, text))


def _derived(account: Account, fixes: Sequence[Fix]) -> Iterator[tuple[str, LessonEvidence]]:
    """One lesson for each fix of a check that the same check verified."""
    for fix in fixes:
        verified = fix.verified_by is not None and fix.verified_by.startswith("e")
        error = account.event(fix.error)
        changes = [account.decision(name) for name in fix.changes]
        if verified and changes:
            evidence = LessonEvidence(derived=True, sources=(fix.error, *fix.changes), evidence=error.evidence)
            yield _sentence(error, changes, check=fix.check), evidence


def _sentence(error: Event, changes: Sequence[Decision], *, check: str) -> str:
    done = dict.fromkeys(_what(change) for change in changes)
    remedy = "; ".join(list(done)[:3]) + (f"; and {len(done) - 3} more" if len(done) > 3 else "")  # noqa: PLR2004  (a sentence)
    detail = f" ({line(error.message, limit=120)})" if error.message and error.message not in error.content else ""
    return line(f"When {error.content}{detail}: {remedy} (verified by {check})", limit=_LESSON_LIMIT)


def _what(change: Decision) -> str:
    why = _reason(change.rationale)
    return f"{change.chosen} \u2013 {why.rstrip('.')}" if why else change.chosen


def _reason(rationale: str) -> str:
    """The first sentence that states something; empty when there are only words of assent and of setting to work."""
    said = (first_sentence(sentence) for sentence in sentences_of(rationale))
    return next((sentence for sentence in said if _states(sentence)), "")


def _states(sentence: str) -> bool:
    """Whether a sentence has a word of its own, beside those with which an agent answers or begins any work."""
    return any(not _EMPTY.fullmatch(word) for word in _WORD.findall(sentence.lower().replace("\u2019", "'")))
