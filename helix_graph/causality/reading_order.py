"""Reading order: where to look first in a session that went wrong, over its messages and steps.

Every passage gets a score from its signs (`helix_graph.causality.passages`), and passages are read in that order. The
weights are log odds. Those of `FITTED` were fitted on the public half of Who&When (101 runs of several agents, in each
of which people marked the step that decided the failure) by ``python benchmarks/reading_order.py --fit``; there a score
also gives a *chance*: how likely that passage is the marked one. For logs of a single agent no such collection exists.
There the signs that only such logs have are added with the weights `BY_HAND`, and no chance is given.

*Trouble* is read as a whole and comes first: the same failure three times or more in a row, commands that throw away
changes, and a person who interrupts, with what was said before. Where the log is gone, what the episode kept of it is
ordered instead.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from helix_episodes.extraction.shell.commands import parse_command
from helix_episodes.light_imports import Regex
from helix_episodes.normalization import shorten
from helix_episodes.redaction import redact_text
from helix_graph.causality.passages import signs_of
from helix_graph.graph.node_labels import event_key, is_error

if TYPE_CHECKING:
    from helix_episodes.model import Episode, Event
    from helix_graph.causality.passages import Passage, Sign, Signs

#: Log odds, fitted together on both halves of Who&When by ``benchmarks/reading_order.py --fit``, 23 November 2026.
FITTED: Mapping[Sign, float] = {
    "echo": -0.78,
    "thought": -0.09,
    "prompt": -0.56,
    "code": 0.82,
    "order": -0.17,
    "answers an order": 0.64,
    "first answer": 0.83,
    "repeats": 0.74,
    "nothing new": -0.75,
    "brings": -0.01,
    "brings unsupported": 0.14,
    "used later": 0.27,
    "assumes": 0.54,
    "verified without code": 0.31,
    "before an error": 0.50,
    "suspect": -0.12,
    "last": 0.46,
    "early": 0.42,
    "deep": -0.14,
    "late": -0.45,
    "long": 0.52,
}
#: Log odds of what only logs of a single agent show. Not fitted: no collection says which of their steps was wrong. A
#: person's refusal and a failure that lasted weigh more than any fitted sign, a missing check less than most.
BY_HAND: Mapping[Sign, float] = {"suspect": 1.5, "refused": 1.5, "corrected": 1.0, "unchecked": 0.5}
#: A chance is given where at least so many agents speak, as in the runs that weights were fitted on.
_SPEAKERS = 2
#: The same failure so often in a row is trouble; the second may be a retry.
_IN_A_ROW = 3
#: Commands that throw away changes, somebody's perhaps.
_DISCARDS = Regex(
    r"\bgit (?:-C \S+ )?(?:stash (?:drop|clear)|reset --hard|checkout (?:\S+ )?(?:--|\.)(?: |$)|restore (?!--staged)|"
    r"clean -\w*f|branch -D|push (?:\S+ )*(?:--force|-f)\b)"
)
_STASHES = Regex(r"\bgit (?:-C \S+ )?stash(?: push| save|$)")
#: Reasons that a place is shown with, and the characters of its words.
_MOST_REASONS, _LONGEST_QUOTE = 3, 160
#: Behind so many places nobody reads a list.
MOST_PLACES = 50

#: Signs in words, as a reason to look.
_IN_WORDS: Mapping[Sign, str] = {
    "refused": "the user refused it",
    "corrected": "the user speaks or interrupts next",
    "suspect": "a failure points back to it",
    "unchecked": "no check ran after this change",
    "repeats": "repeats an earlier step",
    "assumes": "assumes or simulates something",
    "verified without code": "calls something verified and runs nothing",
    "before an error": "a failure follows",
    "brings unsupported": "brings what the final answer uses, without running anything",
    "brings": "brings what the final answer uses",
    "used later": "its names and numbers are used later",
    "first answer": "the first answer of a helper",
    "code": "runs or changes something",
    "last": "gives the final answer",
}
#: What is said of an answer, where the session has one.
_OF_THE_ANSWER: tuple[Sign, ...] = ("last", "brings", "brings unsupported")
#: So much of a sign that is a share or a count makes it a reason.
_ENOUGH = 0.3


class ReadingPlace(msgspec.Struct, frozen=True, kw_only=True):
    """A place to read: its lines in the log (``file`` if not the main one), who speaks, and why to look there.

    ``steps`` are decisions and events of the episode. ``chance`` (0 to 1) is how likely it is the place that decided
    the failure, None where that is not known. ``trouble`` names a sequence that is read as a whole, empty for one
    passage.
    """

    line: int
    last_line: int
    file: str | None
    speaker: str
    quote: str
    steps: tuple[str, ...]
    reasons: tuple[str, ...]
    chance: float | None = None
    trouble: str = ""


def reading_order(
    passages: Sequence[Passage], episode: Episode, *, suspects: Mapping[str, float], unchecked: set[str]
) -> tuple[ReadingPlace, ...]:
    """The places to read, first to last; of a session that succeeded only its trouble.

    ``suspects`` are decisions that signals point at, by how strongly, ``unchecked`` changes that no check ran over.
    """
    trouble = [*_discarded(passages), *_in_a_row(episode), *_interrupted(passages)]
    if episode.outcome == "success":
        return tuple(trouble)
    signs = signs_of(passages, suspects=suspects, unchecked=unchecked)
    several = len({one.speaker for one in passages if one.speaker.startswith("agent:")}) >= _SPEAKERS
    scores = [score_of(each, several=several) for each in signs]
    order = sorted(range(len(passages)), key=lambda place: (-scores[place], place))
    chances = softmax(scores) if several else [None] * len(scores)
    # A result is read with its call, and a single agent's thoughts with what came of them.
    shown = order if several else [place for place in order if passages[place].kind in {"words", "prompt"}]
    # What only runs something, or is interrupted, gives no answer.
    own = [place for place, one in enumerate(passages) if one.kind in {"words", "prompt"}]
    answered = bool(own) and bool(signs[own[-1]]["last"]) and not passages[own[-1]].code
    unsaid = () if answered else _OF_THE_ANSWER
    places = (
        _place(passages[place], signs[place], chances[place], several=several, unsaid=unsaid)
        for place in shown[:MOST_PLACES]
    )
    return (*trouble, *places)


def score_of(signs: Signs, *, several: bool) -> float:
    """The log odds of a passage; ``several`` agents speak, as where weights were fitted."""
    score = math.fsum(weight * signs[name] for name, weight in FITTED.items())
    return score if several else score + math.fsum(weight * signs[name] for name, weight in BY_HAND.items())


def softmax(scores: Sequence[float]) -> list[float]:
    """Chances that add up to 1."""
    highest = max(scores, default=0.0)
    odds = [math.exp(one - highest) for one in scores]
    return [one / math.fsum(odds) for one in odds]


def _place(
    passage: Passage, signs: Signs, chance: float | None, *, several: bool, unsaid: Sequence[Sign]
) -> ReadingPlace:
    weights: Mapping[Sign, float] = FITTED if several else {**FITTED, **BY_HAND}
    telling: list[Sign] = [name for name in _IN_WORDS if signs[name] >= _ENOUGH and weights.get(name, 0.0) > 0]
    telling = [name for name in telling if name not in unsaid]
    # That something was run says little where nearly every message runs something.
    telling.sort(key=lambda name: (name == "code", -weights[name] * signs[name]))
    return ReadingPlace(
        line=passage.line,
        last_line=passage.line,
        file=passage.file,
        speaker=passage.speaker,
        quote=_quote(passage.text),
        steps=passage.steps,
        reasons=tuple(_IN_WORDS[name] for name in telling[:_MOST_REASONS]),
        chance=chance,
    )


def _quote(text: str) -> str:
    return shorten(" ".join(redact_text(text[: 4 * _LONGEST_QUOTE]).split()), limit=_LONGEST_QUOTE)


def _discarded(passages: Sequence[Passage]) -> Iterator[ReadingPlace]:
    """Commands that throw away changes, from the stash before them, if there was one."""
    stashed: Passage | None = None
    for one in passages:
        if one.kind != "words" or "git" not in one.command:
            continue
        parts = [part for part in parse_command(one.command) if part.program == "git"]
        commands = [" ".join(("git", *part.arguments)) for part in parts]
        found = next(filter(_DISCARDS.match, commands), None)
        if found is not None:
            begin = stashed or one
            yield ReadingPlace(
                line=begin.line,
                last_line=one.line,
                file=one.file,
                speaker=one.speaker,
                quote=_quote(found),
                steps=tuple(dict.fromkeys((*begin.steps, *one.steps))),
                reasons=("the user refused it",) if one.refused else (),
                trouble="throws away changes that were not committed",
            )
            stashed = None
        elif any(map(_STASHES.match, commands)):
            stashed = one


def _interrupted(passages: Sequence[Passage]) -> Iterator[ReadingPlace]:
    """Where a person interrupts, from the words before it; what is marked as refused is found by that."""
    before: Passage | None = None
    for one in passages:
        if one.stops and before is not None and not before.refused:
            yield ReadingPlace(
                line=before.line,
                last_line=one.line,
                file=one.file,
                speaker=before.speaker,
                quote=_quote(before.text),
                steps=before.steps,
                reasons=(),
                trouble=f"the user interrupted this in line {one.line}",
            )
        before = one if one.kind == "words" else before


def _in_a_row(episode: Episode) -> Iterator[ReadingPlace]:
    """The same failure again and again, until it passed or another came."""
    rows: dict[tuple[str, ...], list[Event]] = {}
    for one in episode.events:
        if one.type == "test" and one.status == "ok":
            yield from _long_rows(rows, check=one.check or "")
        elif is_error(one):
            key = (one.check or one.tool or "", one.fingerprint or one.family or "", one.path or "")
            rows.setdefault(key, []).append(one)
    yield from _long_rows(rows)


def _long_rows(rows: dict[tuple[str, ...], list[Event]], *, check: str | None = None) -> Iterator[ReadingPlace]:
    """The rows that end here, of one check or all."""
    for key in [one for one in rows if check in {None, one[0]}]:
        row = rows.pop(key)
        if len(row) >= _IN_A_ROW:
            lines = [one.evidence.line for one in row if one.evidence] or [0]
            yield ReadingPlace(
                line=lines[0],
                last_line=lines[-1],
                file=row[0].evidence.file if row[0].evidence else None,
                speaker=row[0].actor,
                quote=_quote(f"{event_key(row[0])}: {row[-1].message or row[-1].content}"),
                steps=tuple(one.id for one in row),
                reasons=(),
                trouble=f"the same failure {len(row)} times",
            )
