"""What became of the choices that a report tells: the next check over them, or the entry that carried them out.

A report seldom says beside a choice how it came out. Two things that it does say are evidence. A *later check*: the
first run that names what the choice's own entry names (``export_rows`` and ``test_export_rows``), or a run of
everything, judges a change as the next test run judges an edit in a recording. An *entry that did it*: a decision that
the log lists apart is told once more where it was carried out, and what was found there is what came of it. A choice
that was taken back in so many words has failed.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING

import msgspec

from helix_episodes.extraction.sameness import share, stems
from helix_episodes.extraction.told_links import Pair
from helix_episodes.extraction.troubles_told import changes
from helix_episodes.regex import Regex

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from helix_episodes.extraction.account import DraftDecision, DraftEvent
    from helix_episodes.session import Step

#: Names of code: joined by underscores, dots or slashes, or by a capital within.
_NAME = Regex(r"\b[A-Za-z]\w*(?:[_./-]\w+)+|\b[A-Za-z]+[a-z][A-Z]\w+")
_AROUND_NAME = Regex(r"^test_|_test$|\.\w+$", re.IGNORECASE)
#: A shorter name ("e.g", "a/b") is a name of many things.
_NAME_LENGTH = 6
_EVERYTHING = Regex(
    r"\b(?:full|whole|entire|complete) (?:[\w.-]+ ){0,3}?(?:suite|tests?|gate|validation)\b|"
    r"\ball (?:\d[\d,]* )?(?:[\w./-]+ ){0,2}?tests? (?:are )?(?:pass|green)",
    re.IGNORECASE,
)
_TAKEN_BACK = Regex(r"^\W*(?:then |later |also )*(?:reverted|rolled back|undid|backed out|withdrew)\b", re.IGNORECASE)
#: A name in so few statements tells what they are about.
_RARE = 4
#: Two statements are of one deed when this much of the shorter stands in the longer, in at least so many words.
_SAME_DEED, _SAME_WORDS = 0.6, 3


def outcomes_told(
    steps: Sequence[Step], choices: Sequence[DraftDecision], events: Sequence[DraftEvent]
) -> Iterator[Pair]:
    """Each choice of a report with what shows how it came out; ``choices`` are those that its prose makes."""
    judging = [one for one in events if one.event.status == "ok" and one.mark]
    checks = [one for one in judging if one.event.type == "test"]
    changing = [one for one in choices if changes(one.decision.chosen)]
    rare = _rare_names(steps) if checks and changing else frozenset()
    for choice in changing:
        check = _next_check(steps, choice, checks, rare=rare)
        if check is not None:
            yield Pair(source=choice.mark, target=check.mark, reason="edit-test")
    for position, step in enumerate(steps):
        if step.kind == "decision":
            for found in _where_carried_out(steps, step, judging):
                yield Pair(source=f"d{position}", target=found.mark, reason="stated")


def with_taken_back(steps: Sequence[Step], choices: Sequence[DraftDecision]) -> list[DraftDecision]:
    """The choices, those that a later statement takes back as failures."""
    back = [
        (position, stems(step.text))
        for position, step in enumerate(steps)
        if step.kind == "note" and _TAKEN_BACK.match(step.text)
    ]
    return [_judged(one, back=[words for position, words in back if position > one.position]) for one in choices]


def _judged(choice: DraftDecision, *, back: Sequence[frozenset[str]]) -> DraftDecision:
    if not any(_is_same(choice, words) for words in back):
        return choice
    return msgspec.structs.replace(choice, decision=msgspec.structs.replace(choice.decision, outcome="failure"))


def _is_same(choice: DraftDecision, words: frozenset[str]) -> bool:
    chosen = stems(choice.decision.chosen)
    return len(chosen & words) >= _SAME_WORDS and share(chosen, words) >= _SAME_DEED


def _next_check(
    steps: Sequence[Step], choice: DraftDecision, checks: Sequence[DraftEvent], *, rare: frozenset[str]
) -> DraftEvent | None:
    """The next check of a later entry if it runs everything or names what the choice's entry names; else a later one.

    A later one judges all that was done in between, unless it shares a name that few statements use.
    """
    own = steps[choice.position]
    named = _names(_entry(steps, own))
    later = [one for one in checks if one.position > choice.position and not _beside(steps[one.position], own)]
    if later and _covers(steps[later[0].position].text, named):
        return later[0]
    return next((one for one in later if named & rare & _names(steps[one.position].text)), None)


def _covers(text: str, named: frozenset[str]) -> bool:
    return _EVERYTHING.search(text) is not None or bool(named & _names(text))


def _beside(one: Step, other: Step) -> bool:
    return one is other or (one.call_id is not None and one.call_id == other.call_id)


def _entry(steps: Sequence[Step], own: Step) -> str:
    return " ".join(step.text for step in steps if _beside(step, own))


@lru_cache(maxsize=1024)
def _names(text: str) -> frozenset[str]:
    """The names of code in a text, without folder, ending and what makes a test's name of it."""
    bare = (_AROUND_NAME.sub("", name.rpartition("/")[2]).casefold() for name in _NAME.findall(text))
    return frozenset(name for name in bare if len(name) >= _NAME_LENGTH)


def _rare_names(steps: Sequence[Step]) -> frozenset[str]:
    uses = Counter(name for step in steps if step.kind == "note" for name in _names(step.text))
    return frozenset(name for name, times in uses.items() if times <= _RARE)


def _where_carried_out(steps: Sequence[Step], decision: Step, judging: Sequence[DraftEvent]) -> list[DraftEvent]:
    """What was found well in the entry whose deed is, by most of its words, what was decided."""
    wanted = stems(decision.text)
    deeds = [(stems(step.text), step) for step in steps if step.arguments.get("part") == "did" and step.call_id]
    alike = [(len(words & wanted), n) for n, (words, _) in enumerate(deeds) if share(words, wanted) >= _SAME_DEED]
    common, best = max(alike, default=(0, 0))
    if common < _SAME_WORDS:
        return []
    deed = deeds[best][1]
    return [one for one in judging if steps[one.position].call_id == deed.call_id]
