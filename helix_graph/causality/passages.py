"""Passages: a session as somebody reads it, one message or step after the other, and what each of them shows.

A *passage* is everything that a log has at one place: the words of a message and the calls in it, or a result. Where
the log is gone, passages are made of what the episode kept: its decisions and events. *Signs* are read off the log
alone, without knowing how the session came out and without other sessions. Whoever looks for the place where a session
went wrong can skip what only repeats a tool's output or an agent's inner talk, and should look at what brings in
content that the end of the session rests on (`helix_graph.causality.reading_order`).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

import msgspec

from helix_episodes.light_imports import Regex
from helix_episodes.model import CORRECTS, Decision
from helix_graph.graph.node_labels import is_error
from helix_graph.graph.observations import in_order

if TYPE_CHECKING:
    from helix_episodes.model import Episode, Event
    from helix_episodes.session import Session, Step

PassageKind = Literal["prompt", "words", "thought", "echo"]
#: What a passage may show; each is between 0 and 1.
Sign = Literal[
    "echo", "thought", "prompt", "code", "order", "answers an order", "first answer", "repeats", "nothing new",
    "brings", "brings unsupported", "used later", "assumes", "verified without code", "before an error", "suspect",
    "refused", "corrected", "unchecked", "last", "early", "deep", "late", "long",
]  # fmt: skip
Signs = dict[Sign, float]

#: Characters of a passage that are looked at, from its beginning and its end: a tool may print megabytes.
_LOOKED_AT = 8000
_CODE = Regex(r"```|\bdef \w+\(|\bimport \w+")
#: Numbers, names, paths: what can be told from ordinary words, and followed through a session.
_NAMED = Regex(
    r"\d[\d.,:/-]*\d|\b\d\b|\b[A-Z][\w'\u2019-]{2,}(?: [A-Z][\w'\u2019-]+)*|[\w./-]+\.[A-Za-z]\w{0,5}\b|\b\w+_\w+\b"
)
_WORD = Regex(r"\w+")
_ASSUMES = Regex(
    r"\b(?:assum\w+|simulat\w+|hypothetical\w*|placeholder\w*|mock\w*|presumabl[ey]|let's say|for the sake of|"
    r"general knowledge|typically|likely|should be|I (?:recall|believe|think)|as an example|approximat\w+)\b",
    2,  # re.IGNORECASE
)
_VERIFIED = Regex(r"\b(?:verif\w+|confirm\w+|correct(?:ly)?|accurate(?:ly)?|validated?|successfully)\b", 2)
#: Words in a row by which a repetition is recognised.
_SHINGLE = 5
#: Uses of what a passage names, and places in a session, count up to so many, on a logarithmic scale.
_MOST_USES = 100
_LONGEST = 10_000


class Passage(msgspec.Struct, frozen=True, kw_only=True):
    """A place of a session: its line in the log (and file, if not the main one), who speaks, and the words.

    ``steps`` are the decisions and events of the episode at that place. ``code`` says that something was run or
    changed, ``failed`` that it is a failure, ``refused`` that a person said no to it, ``order`` that another agent is
    told what to do, ``answer`` that one answers such an order, ``stops`` that a person interrupts. ``command`` is what
    was run in a shell.
    """

    line: int
    file: str | None
    speaker: str
    kind: PassageKind
    text: str
    steps: tuple[str, ...] = ()
    code: bool = False
    failed: bool = False
    refused: bool = False
    order: bool = False
    answer: bool = False
    stops: bool = False
    command: str = ""


def passages_of_session(session: Session, episode: Episode) -> tuple[Passage, ...]:
    """The passages of a log, in its order."""
    at_line: dict[tuple[int, str | None], list[str]] = defaultdict(list)
    kept: list[Decision | Event] = [*episode.decisions, *episode.events]
    for one in kept:
        if one.evidence:
            at_line[one.evidence.line, one.evidence.file].append(one.id)
    places: dict[tuple[int, str | None], list[Step]] = defaultdict(list)
    for step in session.steps:
        places[step.source.line, step.source.file].append(step)
    refused = {one.call_id for one in session.steps if one.status == "rejected" and one.call_id}
    orders = {one.call_id for one in session.steps if one.operation == "delegate" and one.call_id}
    return tuple(
        _passage(place, steps, refused=refused, orders=orders, ids=tuple(at_line[place]))
        for place, steps in sorted(places.items(), key=lambda one: (one[0][1] or "", one[0][0]))
    )


def _passage(
    place: tuple[int, str | None], steps: Sequence[Step], *, refused: set[str], orders: set[str], ids: tuple[str, ...]
) -> Passage:
    kinds = {one.kind for one in steps}
    answer = any(one.kind == "result" and one.call_id in orders for one in steps)
    kind: PassageKind = "words"
    stops = any(one.status == "interrupted" and one.actor == "user" for one in steps)
    if "prompt" in kinds or stops:
        kind = "prompt"
    elif kinds <= {"thought"}:
        kind = "thought"
    elif kinds <= {"result", "note", "boundary", "gate"} and not answer:
        kind = "echo"
    calls = [one for one in steps if one.kind == "call"]
    arguments = {id(one): [text for text in one.arguments.values() if isinstance(text, str)] for one in calls}
    return Passage(
        line=place[0],
        file=place[1],
        speaker=steps[0].actor,
        kind=kind,
        text="\n".join(part for one in steps for part in (one.text, *arguments.get(id(one), ())) if part),
        steps=ids,
        code=any(one.operation not in {"delegate", "look", "ask", "track", None} for one in calls),
        failed=any(one.status == "error" for one in steps),
        refused=any(one.call_id in refused for one in calls),
        order=any(one.operation == "delegate" for one in calls),
        answer=answer,
        stops=stops,
        command="\n".join(str(one.arguments.get("command", "")) for one in calls if one.operation == "run"),
    )


def passages_of_episode(episode: Episode) -> tuple[Passage, ...]:
    """The passages that an episode keeps of its log: decisions in their words, events as echoes."""
    found = []
    for one in in_order(episode):
        place = one.evidence
        line, file = (place.line, place.file) if place else (0, None)
        if isinstance(one, Decision):
            action = one.action
            command = action.command if action and action.command and action.command not in one.chosen else ""
            said = f"{one.chosen}: {one.rationale}" if one.rationale else one.chosen
            text = f"{said}\n{command}" if command else said
            code = action is not None and action.verb in {"edit", "create", "delete", "run", "use"}
            found.append(
                Passage(
                    line=line,
                    file=file,
                    speaker=one.actor,
                    kind="words",
                    text=text,
                    steps=(one.id,),
                    code=code,
                    order=action is not None and action.verb == "delegate",
                    command=(action.command or "") if action else "",
                )
            )
        else:
            kind: PassageKind = "prompt" if one.content.startswith(CORRECTS) else "echo"
            text = one.message or one.content
            found.append(
                Passage(
                    line=line, file=file, speaker=one.actor, kind=kind, text=text, steps=(one.id,), failed=is_error(one)
                )
            )
    return tuple(found)


def signs_of(passages: Sequence[Passage], *, suspects: Mapping[str, float], unchecked: set[str]) -> tuple[Signs, ...]:
    """What each passage shows.

    ``suspects`` are decisions that signals of the episode point at, by how strongly; ``unchecked`` are changes that no
    check ran over.
    """
    half = _LOOKED_AT // 2
    texts = [one.text if len(one.text) <= _LOOKED_AT else f"{one.text[:half]}\n{one.text[-half:]}" for one in passages]
    own = [place for place, one in enumerate(passages) if one.kind in {"words", "prompt"}]
    named = [set(_NAMED.findall(text)) for text in texts]
    news, used = _news(named)
    answer, final = _final(passages, named)
    repeated = _repeated(passages, texts)
    rank = {place: number for number, place in enumerate(own)}
    speakers: set[str] = set()
    found = []
    for place, one in enumerate(passages):
        code = one.code or bool(_CODE.search(texts[place]))
        brings = len(news[place] & final) / len(final) if final and place != answer and one.kind != "echo" else 0.0
        signs: Signs = {
            "echo": float(one.kind == "echo"),
            "thought": float(one.kind == "thought"),
            "prompt": float(one.kind == "prompt"),
            "code": float(code),
            "order": float(one.order),
            "answers an order": float(one.answer),
            "first answer": float(one.answer and one.speaker not in speakers),
            "repeats": repeated[place],
            "nothing new": float(not news[place]),
            "brings": brings,
            "brings unsupported": 0.0 if code else brings,
            "used later": math.log1p(min(used[place], _MOST_USES)) / math.log1p(_MOST_USES),
            "assumes": float(bool(_ASSUMES.search(texts[place])) and one.kind != "echo"),
            "verified without code": float(bool(_VERIFIED.search(texts[place])) and not code and one.kind == "words"),
            "before an error": float(place + 1 < len(passages) and passages[place + 1].failed),
            "suspect": max((suspects.get(step, 0.0) for step in one.steps), default=0.0),
            "refused": float(one.refused),
            "corrected": float(_is_corrected(passages, place)),
            "unchecked": float(any(step in unchecked for step in one.steps)),
            "last": float(place == answer),
            "early": 1 / (1 + rank[place]) if place in rank else 0.0,
            "deep": min(1.0, math.log1p(place) / math.log1p(_MOST_USES)),
            "late": place / max(1, len(passages) - 1),
            "long": math.log1p(min(len(one.text), _LONGEST)) / math.log1p(_LONGEST),
        }
        speakers.add(one.speaker)
        found.append(signs)
    return tuple(found)


def _news(named: Sequence[set[str]]) -> tuple[list[set[str]], list[int]]:
    """What each passage names first, and in how many later passages those names occur, summed."""
    first: dict[str, int] = {}
    news: list[set[str]] = [set() for _ in named]
    used = [0] * len(named)
    for place, names in enumerate(named):
        for name in names:
            if name in first:
                used[first[name]] += 1
            else:
                first[name] = place
                news[place].add(name)
    return news, used


def _final(passages: Sequence[Passage], named: Sequence[set[str]]) -> tuple[int | None, set[str]]:
    """The last message that names something that no prompt did, and what it names."""
    asked = {name for place, one in enumerate(passages) if one.kind == "prompt" for name in named[place]}
    for place in reversed(range(len(passages))):
        if passages[place].kind == "words" and named[place] - asked:
            return place, named[place] - asked
    return None, set()


def _repeated(passages: Sequence[Passage], texts: Sequence[str]) -> list[float]:
    """Which share of each passage's words, five in a row, stood in an earlier one that was no echo."""
    seen: set[int] = set()
    found = []
    for one, text in zip(passages, texts, strict=True):
        words = [word.casefold() for word in _WORD.findall(text)]
        rows = {hash(tuple(words[place : place + _SHINGLE])) for place in range(max(0, len(words) - _SHINGLE + 1))}
        found.append(len(rows & seen) / len(rows) if rows else 0.0)
        if one.kind != "echo":
            seen |= rows
    return found


def _is_corrected(passages: Sequence[Passage], place: int) -> bool:
    """Whether the next passage that is no echo is a person's, after something was done."""
    if passages[place].kind != "words":
        return False
    for one in passages[place + 1 :]:
        if one.kind == "prompt":
            return True
        if one.kind != "echo":
            return False
    return False
