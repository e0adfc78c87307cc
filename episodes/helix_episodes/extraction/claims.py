"""Claims: failures that the agent calls somebody else's ("pre-existing", "unrelated"), held against the log.

Such a failure does not count against the session, unless the log says otherwise: the same check passed earlier in the
session, or passed while the agent had put its changes aside (``git stash``). A guess ("probably unrelated") is no
claim.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from helix_episodes.extraction.checks import covers
from helix_episodes.extraction.sentences import has_any, sentences_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from helix_episodes.extraction.history import History
    from helix_episodes.extraction.runs import Run
    from helix_episodes.session import Session

_ELSEWHERE = re.compile(
    r"\bpre-?existing\b|\balready (?:failing|failed|broken|there|present)\b|\b(?:existed|there|broken|failing"
    r"|failed) before\b"
    r"|\b(?:un|not |nothing )related to\b|\b(?:is|are|was|were) unrelated\b|\bnot (?:caused|introduced) by\b"
    r"|\bnot (?:from|due to|because of) (?:my|our|this|these|the) \w+|\b(?:known|baseline) (?:failures?|issues?"
    r"|errors?)\b"
    r"|\bexpected (?:failures?|to fail)\b",
    re.IGNORECASE,
)
_SIGNS: tuple[str, ...] = (
    "xisting",
    "lready ",
    " before",
    "related",
    "caused by",
    "introduced by",
    "not from",
    "due",
    "because",
    "nown ",
)
_SIGNS += ("aseline", "xpected ")
_FAILURE = re.compile(
    r"\b(?:fail\w*|errors?|issues?|warnings?|findings?|broken|problems?|reports?|this|these|those|they|it)\b",
    re.IGNORECASE,
)
_GUESSED = re.compile(
    r"\b(?:might|may|could|seems?|possibly|perhaps|probably|likely|maybe|looks? like|appears?|if|whether|suspect"
    r"|think)\b|\?\s*$",
    re.IGNORECASE,
)
_KINDS = {"lint": re.compile(r"\blint\w*", re.IGNORECASE), "test": re.compile(r"\btests?\b", re.IGNORECASE)}


class Claims(msgspec.Struct, frozen=True, kw_only=True):
    """The error events that the agent calls not its own: those it may, and those that the log contradicts."""

    excused: frozenset[str] = frozenset()
    contradicted: frozenset[str] = frozenset()


def claims_in(session: Session, history: History) -> Claims:
    """Every claim of the agent, judged."""
    excused: set[str] = set()
    contradicted: set[str] = set()
    for run in _claimed(session, history):
        (contradicted if _is_contradicted(run, history) else excused).update(run.events)
    return Claims(excused=frozenset(excused - contradicted), contradicted=frozenset(contradicted))


def _claimed(session: Session, history: History) -> Iterator[Run]:
    for position, step in enumerate(session.steps):
        if step.kind in {"message", "thought"} and step.actor == "agent" and has_any(step.text, _SIGNS):
            for words in sentences_of(step.text):
                if has_any(words.lower(), _SIGNS) and _blames_another(words):
                    yield from _meant(words, history, position)


def _blames_another(words: str) -> bool:
    return bool(_ELSEWHERE.search(words) and _FAILURE.search(words)) and not _GUESSED.search(words)


def _meant(words: str, history: History, position: int) -> Sequence[Run]:
    """The failing runs that a claim is about: those it names by test, check or kind; else the latest."""
    latest_of = (history.last_run_before(check, position) for check in history.runs)
    failing = [run for run in latest_of if run is not None and not run.passed]
    named = [run for run in failing if _names(words, run)]
    if named or not failing:
        return named
    latest = max(failing, key=lambda run: run.position)
    return [latest] if not any(kind.search(words) for kind in _KINDS.values()) else []


def _names(words: str, run: Run) -> bool:
    tests = [test for found in run.ground.findings for test in found.tests]
    if any(test in words for test in tests) or run.verdict.check in words:
        return True
    kind = _KINDS.get(run.verdict.kind)
    return kind is not None and bool(kind.search(words))


def _is_contradicted(run: Run, history: History) -> bool:
    """Whether the same or more passed before, or passes without the agent's changes."""
    earlier = [one for one in history.runs[run.verdict.check] if one.position < run.position]
    aside = [one for one in history.aside if one.verdict.check == run.verdict.check]
    return any(one.passed and covers(one.ground, run.ground) for one in [*earlier, *aside])
