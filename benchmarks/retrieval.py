"""Does recall bring back the insight that a text should bring back? By words, by vectors, and by both together.

    python benchmarks/retrieval.py [--corpora DIR] [--misses N]

The retrieval set is built from the real logs by these rules, which were written down before anything was tuned:

A  *headline -> lesson* (ai-agents): a lesson of the form "headline: body" or "headline - body", with a headline of two
to
   twelve words and a body of at least six, is cut in two. The body is stored, the headline is the query.
B  *situation -> decision* (both): a decision with a rationale of at least five words is stored as "rationale. chosen".
   The query is the situation in which it was taken (`Decision.context`: a prompt, a heading), if that has three words
   or more. Every decision that was taken in the same situation of the same session is an answer.
C  *error -> fix* (claude-code): the harvested fixes are stored. The query is the message of an error of a check;
answers
   are the fixes of other sessions for errors of the same label. The same message is asked once a session.

All that is stored for one corpus stands in one memory, so each query has to tell its answers from everything else
there. Queries are cut at 400 characters. Recall@5 is the share of a query's answers among the first five (of at most
five), nDCG@10 weighs them by their rank. *Words* is `recall` without vectors, *vectors* the cosine alone, *blend* is
`recall`; all without a gate, so that the orders compare; the last row is `recall` as it is, gate and all.
"""

from __future__ import annotations

import argparse
import math
import re
import tempfile
from collections import defaultdict
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple

import msgspec
import numpy as np

from helix_episodes.model import Episode
from helix_graph import Memory
from helix_graph.embedding.cache import CACHE_NAME
from helix_graph.embedding.choice import demanded
from helix_graph.graph.node_labels import event_key, is_error
from helix_graph.insights.lessons import lessons_of
from helix_graph.insights.model import FIX

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from helix_graph.insights.api import Insights

CORPORA = Path(__file__).resolve().parents[2] / "shared" / "corpora"
NAMES = ("ai-agents", "claude-code")
_CUT = re.compile("(?::| [-\u2013\u2014]) ")
_LONGEST_QUERY = 400
_FEWEST_BODY, _FEWEST_REASON, _FEWEST_SITUATION = 6, 5, 3
_AT, _FIRST = 10, 5


class Pair(NamedTuple):
    """A query, its rule, and the documents that should come back."""

    rule: str
    query: str
    answers: frozenset[str]


class Ranked(msgspec.Struct, frozen=True):
    """How one way of ranking did on a query."""

    recall: float
    ndcg: float


def episodes_of(memory: Memory) -> list[Episode]:
    return [one for _, one in memory.episodes.scan() if isinstance(one, Episode)]


def pairs_of(episodes: list[Episode]) -> tuple[list[str], list[Pair]]:
    """What is stored, and what is asked."""
    pairs = [*_headlines(episodes), *_situations(episodes)]
    fixes, asked = _errors(episodes)
    documents = dict.fromkeys((*(one for pair in pairs for one in sorted(pair.answers)), *fixes))
    return list(documents), [*pairs, *asked]


def _headlines(episodes: Iterable[Episode]) -> Iterator[Pair]:
    for episode in episodes:
        for number, lesson in enumerate(episode.lessons):
            if number < len(episode.lesson_evidence) and episode.lesson_evidence[number].derived:
                continue
            found = _CUT.search(lesson)
            head, body = (lesson[: found.start()], lesson[found.end() :]) if found else ("", "")
            if 2 <= len(head.split()) <= 12 and len(body.split()) >= _FEWEST_BODY:
                yield Pair("A headline", head, frozenset({body}))


def _situations(episodes: Iterable[Episode]) -> Iterator[Pair]:
    for episode in episodes:
        taken: dict[str, set[str]] = defaultdict(set)
        for one in episode.decisions:
            if len(one.rationale.split()) >= _FEWEST_REASON and len(one.context.split()) >= _FEWEST_SITUATION:
                taken[one.context].add(f"{one.rationale.rstrip('.')}. {one.chosen}")
        for context, documents in taken.items():
            yield Pair("B situation", context[:_LONGEST_QUERY], frozenset(documents))


def _errors(episodes: Iterable[Episode]) -> tuple[list[str], list[Pair]]:
    told = list(episodes)
    fixes: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for episode in told:
        found = [one for one in lessons_of(episode) if one.kind == FIX]
        for one in found:
            label = one.key.split("\0")[1]
            fixes[label].add((episode.id, one.content))
    pairs = []
    for episode in told:
        for label, message in sorted(
            {(event_key(e) or "", e.message or "") for e in episode.events if is_error(e) and not e.tool}
        ):
            answers = frozenset(content for session, content in fixes.get(label, ()) if session != episode.id)
            if message and answers:
                pairs.append(Pair("C error", message[:_LONGEST_QUERY], answers))
    return sorted({content for those in fixes.values() for _, content in those}), pairs


def score(found: list[str], answers: frozenset[str]) -> Ranked:
    """Recall@5 and nDCG@10 of a ranking."""
    hits = len(answers & set(found[:_FIRST])) / min(_FIRST, len(answers))
    gained = sum(1 / math.log2(place + 2) for place, one in enumerate(found[:_AT]) if one in answers)
    best = sum(1 / math.log2(place + 2) for place in range(min(_AT, len(answers))))
    return Ranked(hits, gained / best)


def measure(corpus: Path, misses: int) -> dict[str, dict[str, list[Ranked]]]:
    """The scores of every way, by rule."""
    with tempfile.TemporaryDirectory() as folder:
        memory = Memory.init(Path(folder))
        memory.extract([corpus / "sessions"])
        documents, pairs = pairs_of(episodes_of(memory))
        insights = memory.insights
        stored = {one: insights.store(one)["name"] for one in documents}
        names = {one: name for one, name in stored.items() if name}
        pairs = [pair for pair in pairs if pair.answers & names.keys()]
        ways = {**_ways(insights), "vectors": _by_cosine(memory, names)}
        results: dict[str, dict[str, list[Ranked]]] = {
            way: defaultdict(list) for way in ("words", "vectors", "blend", "with gate")
        }
        for pair in pairs:
            wanted = frozenset(names[one] for one in pair.answers if one in names)
            for way, by_rule in results.items():
                by_rule[pair.rule].append(score(ways[way](pair.query), wanted))
            if misses and results["blend"][pair.rule][-1].recall == 0:
                misses -= 1
                print(f"  missed: {pair.query[:120]!r} -> {min(pair.answers)[:120]!r}")
        print(f"{corpus.name}: {len(names)} stored, {len(pairs)} queries")
        return results


def _ways(insights: Insights) -> dict[str, Callable[[str], list[str]]]:
    def names(query: str, **options: object) -> list[str]:
        return [hit["name"] for hit in insights.recall(query, _AT, **options)]  # type: ignore[arg-type]  # options of recall

    return {
        "words": lambda query: names(query, min_relevance=0.0, semantic=False),
        "blend": lambda query: names(query, min_relevance=0.0),
        "with gate": names,
    }


def _by_cosine(memory: Memory, names: dict[str, str]) -> Callable[[str], list[str]]:
    engine = demanded(cache=memory.root / CACHE_NAME)
    texts, called = list(names), list(names.values())
    matrix = engine.embed(texts)

    def ranked(query: str) -> list[str]:
        cosines = matrix @ engine.embed([query])[0]
        return list(dict.fromkeys(called[place] for place in np.argsort(-cosines, kind="stable")))[:_AT]

    return ranked


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", type=Path, default=CORPORA)
    parser.add_argument("--misses", type=int, default=0, help="print so many queries that found nothing")
    options = parser.parse_args()
    total: dict[str, dict[str, list[Ranked]]] = defaultdict(lambda: defaultdict(list))
    for name in NAMES:
        for way, by_rule in measure(options.corpora / name, options.misses).items():
            for rule, scores in by_rule.items():
                total[way][f"{rule} ({name})"] += scores
                total[way]["all"] += scores
    rules = sorted(total["blend"])
    print(f"{'':28} {'n':>4}  " + "  ".join(f"{way:>15}" for way in total))
    for rule in rules:
        told = (
            f"{fmean(s.recall for s in total[way][rule]):7.3f} {fmean(s.ndcg for s in total[way][rule]):7.3f}"
            for way in total
        )
        print(f"{rule:28} {len(total['blend'][rule]):4}  " + "  ".join(told))
    print("each: recall@5 and nDCG@10")


if __name__ == "__main__":
    main()
