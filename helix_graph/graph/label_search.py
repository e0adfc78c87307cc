"""Which labels, files, commands and sessions do a few words stand for?

`search_labels` compares words and not strings: ``tests fail`` finds ``go test fails``. Words are reduced to stems, some
stand for others (`helix_graph.graph.question_words`), identifiers count in parts. A candidate is a label, a label
with the file, command or message that some of its mentions have, or a session, by its task. Its ``share`` says how much
of the question it has, 0 to 1: a word weighs more the fewer mentions have it.

What all mentions say is looked through fast; only the best are then read and compared word by word.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from functools import lru_cache
from heapq import nsmallest
from math import log
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from helix_episodes.extraction.shell.programs import LOOKERS, LOOKING_SUBCOMMANDS
from helix_graph.database import ANY_OF, as_list
from helix_graph.graph.adjacency import MentionPlace
from helix_graph.graph.mentions import AllTexts, MentionKey, MentionText, all_texts, named, read_mentions
from helix_graph.graph.passed_or_failed import Wanted, labels_of_checks, leaning, wanted
from helix_graph.graph.question_words import (
    TABLE_WORDS,
    Others,
    Weight,
    levels_in,
    near_words,
    stem,
    weights_of,
    words_asked,
)
from helix_graph.word_search import indexed, query_words

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection

    from helix_graph.graph.mentions import MentionGroup, Resolution


#: What a word weighs that begins a longer one; so many letters it must have.
_BEGINNING, _SHORTEST_BEGINNING = 0.6, 4
#: What a word weighs by where it was found: its label and texts, what was changed, why, what the session was about.
_WEIGHTS = (1.0, 0.8, 0.7, 0.25)
#: How much a long text is discounted, as B of BM25.
_LENGTH = 0.2
#: So many mentions are compared word by word.
_COMPARED = 150
#: Of a group those mentions count as found that have this much of what its best has.
_KEPT = 0.5
_QUOTED = 10
#: How much more a name counts that contains the question as written, or a file of it, and each e-fold of sessions.
_CALLED, _OF_FILE, _SHARED = 1.5, 1.15, 0.05
#: Names of one place that have this much of the share of its best fit alike; what a command weighs that only looks.
_ALIKE, _LOOKED = 0.9, 0.75
#: How much more a label counts of which the question has every word.
_ALL_ASKED = 0.3
#: Commands whose arguments are a message or a branch's name: they say what other commands did.
_RECORDING = {
    "git": frozenset({"commit", "push", "add", "switch", "checkout", "stash", "branch", "tag"}),
    "gh": frozenset({"pr"}),
}
#: What has less than this of the best rank is no answer.
_LEAST = 0.4
#: Nor is what has less than this of the question.
_LEAST_SHARE = 0.1
_WORD = re.compile(r"[^\W_]+")
_FILE_NAME = re.compile(r"[\w./-]*\w\.[a-z]{1,4}(?!\w)")


class LabelMatch(msgspec.Struct, frozen=True, kw_only=True):
    """What some words may stand for.

    ``label`` is the node's, ``name`` as people read it: with the file, command or message, where the match is finer
    than the label. Of a session ``session`` is its id and ``name`` its task. ``places`` are the best mentions, at most
    ten.
    """

    label: str
    name: str
    type: str
    sessions: int
    mentions: int
    share: float | None = None
    session: str | None = None
    places: tuple[MentionPlace, ...] = ()


class LabelsAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """Labels with their counts, the best match first; without words the most frequent. ``total`` counts all labels."""

    labels: tuple[LabelMatch, ...]
    total: int


class Candidate(NamedTuple):
    """A match, and the text under which `helix_graph.graph.label_lookup` finds it."""

    match: LabelMatch
    text: str


def frequent_labels(connection: sqlite3.Connection, *, limit: int) -> LabelsAnswer:
    """The labels that most sessions share."""
    rows = connection.execute(
        "SELECT label, type, episodes, mentions FROM node ORDER BY episodes DESC, mentions DESC, label, type LIMIT ?",
        (limit,),
    )
    found = tuple(
        LabelMatch(label=label, name=label, type=kind, sessions=sessions, mentions=mentions)
        for label, kind, sessions, mentions in rows
    )
    return LabelsAnswer(labels=found, total=_count_labels(connection))


def search_labels(connection: sqlite3.Connection, text: str, *, limit: int) -> LabelsAnswer:
    """The candidates for a few words, the best first."""
    found = tuple(one.match for one in candidates(connection, text, limit=limit))
    return LabelsAnswer(labels=found, total=_count_labels(connection))


def candidates(connection: sqlite3.Connection, text: str, *, limit: int) -> list[Candidate]:
    """As `search_labels`, with the text that leads to each."""
    texts = all_texts(connection)
    words, understood = _understood(connection, text, texts.folded)
    levels = levels_in(words, texts.folded)
    weights = weights_of(levels)
    if not (texts.folded and any(one.own for one in weights.values())):
        return []
    asked = wanted(understood, labels_of_checks(connection))
    compared = read_mentions(connection, _roughly_best(connection, texts, levels, weights, asked), texts.ran)
    average = texts.length / len(texts.folded)
    found = [
        *_of_mentions(connection, compared, average, words, weights),
        *_of_tasks(connection, average, words, weights, asked),
    ]
    literal = re.compile(rf"(?<!\w){re.escape(text.strip())}(?!\w)", re.IGNORECASE)
    files = [re.compile(rf"(?<!\w){re.escape(one)}(?!\w)") for one in _FILE_NAME.findall(text)]
    ranked = sorted(
        (
            (
                _preferred(rank, one.match, literal, files)
                * _weight_of_look(one.match.label, words)
                * (1 + _ALL_ASKED * _asked_share(one.match, words)),
                one,
            )
            for rank, one in found
        ),
        key=lambda pair: (-pair[0], -pair[1].match.sessions, pair[1].match.name),
    )
    least = _LEAST * max((rank for rank, _ in found), default=0.0)
    return _distinct(one for rank, one in ranked if rank >= least and (one.match.share or 0.0) >= _LEAST_SHARE)[:limit]


def _of_mentions(
    connection: sqlite3.Connection,
    compared: list[MentionText],
    average: float,
    words: dict[str, Others],
    weights: dict[str, Weight],
) -> Iterator[tuple[float, Candidate]]:
    """The labels of the best mentions, and what is finer than a label, each with its rank."""
    whole = sum(one.own for one in weights.values())
    by_node: defaultdict[int, list[tuple[float, MentionText]]] = defaultdict(list)
    by_place: defaultdict[tuple[int, str | None], list[_Finer]] = defaultdict(list)
    unnamed: dict[int, tuple[float, float]] = {}
    for group, members in _groups(compared, words, weights):
        best = members[0][0]
        by_node[group[0]] += members
        kept = [one for score, one in members if score >= _KEPT * best]
        length = sum(one.length for one in kept) / len(kept)
        rank = best / (1 - _LENGTH + _LENGTH * length / average)
        if group[1:] == (None, None):  # nothing finer than the label, which is a candidate by itself
            unnamed[group[0]] = rank, best / whole
        else:
            by_place[group[:2]].append(_Finer(rank, best / whole, group, kept))
    for alike in by_place.values():
        yield from ((one.rank, _candidate(one.group, one.kept, one.share)) for one in _folded(alike))
    for node, members in by_node.items():
        members.sort(key=_best_first)
        share = _exact((members[0][1].label,), words, weights) / whole
        rank, share = max((share * whole / (1 - _LENGTH), share), unnamed.get(node, (0.0, 0.0)))
        if share:
            yield rank, _of_label(connection, node, _spread([one for _, one in members]), share)


def _of_tasks(
    connection: sqlite3.Connection,
    average: float,
    words: dict[str, Others],
    weights: dict[str, Weight],
    asked: Wanted,
) -> Iterator[tuple[float, Candidate]]:
    """The sessions whose task has some of the words, each with its rank."""
    whole = sum(one.own for one in weights.values())
    scores: dict[str, float] = {}
    tasks = connection.execute("SELECT id, task FROM episode WHERE origin <> 'assertion' ORDER BY id").fetchall()
    for episode, task in tasks:
        agrees = asked.leaning is None or leaning(task) in {asked.leaning, None}
        if agrees and (score := _exact((task,), words, weights)):
            scores[episode] = score
    first = "SELECT local FROM mention WHERE episode = e.number ORDER BY line IS NULL, line, local LIMIT 1"
    query = f"SELECT id, ({first}) FROM episode e WHERE id {ANY_OF}"  # noqa: S608  (constants)
    begun = connection.execute(query, (as_list(scores),)).fetchall()
    for one in sorted(read_mentions(connection, [key for key in begun if key[1]], {}), key=lambda one: one.episode):
        if not asked.excludes(one.label):
            rank = scores[one.episode] / (1 - _LENGTH + _LENGTH * len(one.task) / average)
            yield rank, _of_session(one, scores[one.episode] / whole)


def _distinct(ranked: Iterator[Candidate]) -> list[Candidate]:
    """Each name once, and no label whose mentions a candidate before it has shown: it says nothing new."""
    first: dict[tuple[str, str | None], Candidate] = {}
    shown: set[tuple[str, str, str | None]] = set()
    for candidate in ranked:
        match = candidate.match
        places = {(one.episode, one.local, match.session) for one in match.places}
        if not places <= shown:
            first.setdefault((match.name, match.session), candidate)
            shown |= places
    return list(first.values())


def _preferred(rank: float, match: LabelMatch, literal: re.Pattern[str], files: Collection[re.Pattern[str]]) -> float:
    """What is called so goes before what mentions it, and what many sessions share before what one has."""
    called = 1.0
    if match.session is None and literal.search(match.name):
        called = _CALLED
    elif any(one.search(match.name) for one in files):
        called = _OF_FILE
    return rank * called * (1 + _SHARED * log(match.sessions or 1))


def _weight_of_look(label: str, words: dict[str, Others]) -> float:
    """Less than 1 for a command that only looks or records: its words say where somebody looked, or what others did."""
    verb, program, subcommand, *_ = (*label.split(), "", "", "")
    if verb != "run":
        return 1.0
    looks = program in LOOKERS or subcommand in LOOKING_SUBCOMMANDS.get(program, ())
    if looks:
        return 1.0 if program in words else _LOOKED
    asked = {*words, *(other for others in words.values() for other in others.usual)}
    records = subcommand in _RECORDING.get(program, ())
    return _LOOKED if records and not asked & {program, stem(subcommand)} else 1.0


def _asked_share(match: LabelMatch, words: dict[str, Others]) -> float:
    """How much of a label the question has: ``commit`` is all that "commit is created" can mean."""
    stems = _stems(match.label)
    asked = {*words, *(other for others in words.values() for other in others.usual)}
    return len(stems & asked) / len(stems) if stems and match.session is None else 0.0


class _Finer(NamedTuple):
    """A candidate that is finer than its label: the mentions of a place and thing that have most of the question."""

    rank: float
    share: float
    group: MentionGroup
    kept: list[MentionText]


def _folded(members: list[_Finer]) -> list[_Finer]:
    """Messages of one place, a linter's rule say, that fit a question alike are one candidate, the place."""
    node, place, _ = members[0].group
    best = max(one.share for one in members)
    alike = [one for one in members if one.share >= _ALIKE * best]
    if place is None or len(alike) == 1 or alike[0].kept[0].type != "error":
        return members
    kept = [mention for one in alike for mention in one.kept]
    named_so = kept[0].label.endswith(place)  # a linter's rule is in the label, a test's file is not
    whole = _Finer(max(one.rank for one in alike), best, (node, None if named_so else place, None), kept)
    return [whole, *(one for one in members if one not in alike)]


def _roughly_best(
    connection: sqlite3.Connection,
    texts: AllTexts,
    levels: dict[str, bytes],
    weights: dict[str, Weight],
    asked: Wanted,
) -> list[MentionKey]:
    """The mentions that may have most of what is asked for: a stem may also be found within another word."""
    labels = connection.execute("SELECT number, label FROM node").fetchall() if asked.leaning or asked.programs else ()
    against = {node for node, label in labels if asked.excludes(label)}
    each = list(zip(*levels.values(), strict=True))
    scores = {one: sum(weight[level] for weight, level in zip(weights.values(), one, strict=True)) for one in set(each)}
    found = (
        (-scores[one], episode, local)
        for one, (episode, local, node) in zip(each, texts.keys, strict=True)
        if scores[one] and node not in against
    )
    return [(episode, local) for _, episode, local in nsmallest(_COMPARED, found)]


def _understood(connection: sqlite3.Connection, text: str, folded: list[str]) -> tuple[dict[str, Others], str]:
    """The words asked and their text; in the place of one that nothing has, the words of names and tables nearest."""
    words = words_asked(text)
    unknown = {
        word
        for word, others in words.items()
        if not any(one in each for each in folded for one in (word, *others.usual, *others.synonyms))
    }
    if not unknown:
        return words, text
    names = connection.execute(
        "SELECT label FROM node WHERE episodes UNION SELECT name FROM name"
        " UNION SELECT task FROM episode WHERE origin <> 'assertion'"
    )
    known = TABLE_WORDS | {word for (name,) in names for word in _WORD.findall(indexed(name))}
    for word in query_words(text):
        near = " ".join(near_words(word, known) or near_words(stem(word), known)) if stem(word) in unknown else ""
        if near:
            text = re.sub(rf"\b{re.escape(word)}\b", near, text, flags=re.IGNORECASE)
    return words_asked(text), text


def _exact(texts: tuple[str, ...], words: dict[str, Others], weights: dict[str, Weight]) -> float:
    """What the words weigh that texts have, each by the first of the texts that has it."""
    best: dict[str, float] = {}
    for text, weight in zip(texts, _WEIGHTS, strict=False):
        for one in _stems(text):
            best.setdefault(one, weight)
    return sum(
        max(
            weights[word].own * best.get(word, 0.0),
            weights[word].usual * max((best.get(one, 0.0) for one in others.usual), default=0.0),
            weights[word].synonym * max((best.get(one, 0.0) for one in others.synonyms), default=0.0),
            weights[word].own * _BEGINNING * _begun(word, best),
        )
        for word, others in words.items()
    )


def _begun(word: str, best: dict[str, float]) -> float:
    """The most that a longer word with this beginning weighs."""
    if len(word) < _SHORTEST_BEGINNING or word in best:
        return 0.0
    return max((weight for one, weight in best.items() if one.startswith(word)), default=0.0)


@lru_cache(maxsize=4096)
def _stems(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in _WORD.findall(indexed(text)))


def _best_first(pair: tuple[float, MentionText]) -> tuple[float, str, str]:
    return -pair[0], pair[1].episode, pair[1].local


def _groups(
    mentions: list[MentionText], words: dict[str, Others], weights: dict[str, Weight]
) -> Iterator[tuple[MentionGroup, list[tuple[float, MentionText]]]]:
    """Mentions by label, place and thing, with what each has of the question, the best first."""
    groups: defaultdict[MentionGroup, list[tuple[float, MentionText]]] = defaultdict(list)
    for one in mentions:
        score = _exact((f"{one.label}\n{one.said}", one.wrote, one.why, one.task), words, weights)
        if score:
            groups[one.node, one.place, one.thing].append((score, one))
    for group, members in groups.items():
        yield group, sorted(members, key=_best_first)


def _candidate(group: MentionGroup, kept: list[MentionText], share: float) -> Candidate:
    first, (_, place, thing) = kept[0], group
    resolution: Resolution = "thing" if thing else "place" if place else "kind"
    episodes = frozenset(one.episode for one in kept)
    match = LabelMatch(
        label=first.label,
        name=named(first.label, thing or place, resolution=resolution),
        type=first.type,
        sessions=len(episodes),
        mentions=len(kept),
        share=round(share, 3),
        places=tuple(map(_place, _spread(kept))),
    )
    return Candidate(match, thing or place or first.label)


def _spread(mentions: list[MentionText]) -> list[MentionText]:
    """The best mentions that are shown: of each session its best before the second of any."""
    turns: defaultdict[str, int] = defaultdict(int)
    ranked = []
    for place, one in enumerate(mentions):
        ranked.append((turns[one.episode], place))
        turns[one.episode] += 1
    return [mentions[place] for _, place in sorted(ranked)[:_QUOTED]]


def _of_label(connection: sqlite3.Connection, node: int, best: list[MentionText], share: float) -> Candidate:
    row = connection.execute("SELECT episodes, mentions FROM node WHERE number = ?", (node,)).fetchone()
    match = LabelMatch(
        label=best[0].label,
        name=best[0].label,
        type=best[0].type,
        sessions=row[0],
        mentions=row[1],
        share=round(share, 3),
        places=tuple(map(_place, best)),
    )
    return Candidate(match, best[0].label)


def _of_session(one: MentionText, share: float) -> Candidate:
    """A session by its task; what is asked of it begins at its first mention."""
    match = LabelMatch(
        label=one.label,
        name=one.task,
        type="session",
        sessions=1,
        mentions=1,
        share=round(share, 3),
        session=one.episode.removeprefix("episode-"),
        places=(_place(one),),
    )
    return Candidate(match, one.raw or one.label)


def _place(one: MentionText) -> MentionPlace:
    return MentionPlace(episode=one.episode, local=one.local, text=one.raw, log=one.log, line=one.line, quote=one.quote)


def _count_labels(connection: sqlite3.Connection) -> int:
    return int(connection.execute("SELECT count(*) FROM node").fetchone()[0])
