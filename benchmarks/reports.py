"""How well episodes agree with a careful reader on the annotated ai-agents logs, and how long reading takes.

    python benchmarks/reports.py [--misses] [--corpus DIR] [--set second|third|fourth]

Rule. The annotator names what the log tells in a few words of their own, without lines. One of ours *meets* an
annotated item when it is of the same kind and at least half of the item's content words stand in its text and
quotation, those of the statements in the same entry included. Content words are words of three letters or more that
carry meaning, compared by their first five letters; what the annotator put in brackets is detail, and either side of a
" / " will do. An annotated item is found when one of ours meets it; one of ours is right when it meets an annotated
item. The annotation is a selection (a review lists two dozen defects, the annotator names eight), so what is not in it
counts as false here although the log tells it: the precision printed is a lower bound. Explicit decisions are counted
by walking the JSON for the names under which logs keep them; each is found when a decision of ours quotes it. An
annotated chain of causes ("a -> b -> c") is found when one of our links that cause (not `correlates`) leads from what
meets one of its parts to what meets a later one, over one statement between them at most; how many of ours are false
cannot be counted against a selection. A quotation stands when `helix_episodes.verification` finds it on its line. n
stands beside every figure. ``--set second`` puts a second set beside them, ``--set third`` a third one too and
``--set fourth`` a fourth (`extraction`). These two are no selections; the third's ``judged`` holds what its annotator
says of all the program gave on it.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tallies import CORPORA, SETS, Tally, annotation_files, print_table, share

from helix_episodes.extraction.pipeline import extract
from helix_episodes.readers import read_sessions
from helix_episodes.verification import verify

if TYPE_CHECKING:
    from collections.abc import Iterator

    from helix_episodes.model import Decision, Episode, Event

CORPUS = CORPORA / "ai-agents"
#: The names under which these logs keep explicit decisions.
EXPLICIT = frozenset({"decisions", "decision", "technicalDecisions", "decisionsMade"})
_WORD = re.compile(r"[a-z][a-z_]{2,}|\d{2,}")
_EMPTY = frozenset(
    re.findall(
        r"\w+",
        "the and for not was were are has had with from that this than its into only per over when all but also "
        "against could did does been being have nor via issue must should what",
    )
)
_HALF = 0.5


def stems(text: str) -> set[str]:
    """The words of a text that carry meaning, cut to where their forms agree."""
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])|[-_/.]", " ", text)
    return {word[:5] for word in _WORD.findall(parted.lower()) if word not in _EMPTY}


def meets(item: str, text: str) -> bool:
    ours = stems(text)
    named = (stems(part) for part in re.sub(r"\([^)]*\)", "", item).split(" / "))
    return any(len(wanted & ours) >= _HALF * len(wanted) for wanted in named if wanted)


def score(tally: Tally, *, wanted: list[str], given: list[str], name: str) -> None:
    for item in wanted:
        tally.want(hit=any(meets(item, text) for text in given), text=f"{name}: {item}")
    for text in given:
        tally.give(right=any(meets(item, text) for item in wanted), text=f"{name}: {text[:160]}")


def decided(one: Decision) -> str:
    quote = one.evidence.quote if one.evidence else ""
    return " ".join((one.chosen, one.context, one.rationale, *one.options, quote))


def met(one: Event, episode: Episode) -> str:
    """A failure with the statements of the same entry."""
    beside = {one.id}
    for _ in range(2):  # problem, what was done, what was found: two links from end to end
        beside |= {
            end for link in episode.links if {link.source, link.target} & beside for end in (link.source, link.target)
        }
    return " ".join(f"{event.content} {quoted(event)}" for event in episode.events if event.id in beside)


def score_links(episode: Episode, chains: list[str], tally: Tally, *, name: str) -> None:
    told = {one.id: f"{one.content} {quoted(one)}" for one in episode.events}
    told |= {one.id: decided(one) for one in episode.decisions}
    direct = [(link.source, link.target) for link in episode.links if link.type != "correlates"]
    over = [(a, d) for a, b in direct for c, d in direct if b == c]
    for chain in chains:
        parts = [part.strip() for part in chain.split("->")]
        pairs = [(early, late) for place, early in enumerate(parts) for late in parts[place + 1 :]]
        hit = any(meets(early, told[a]) and meets(late, told[b]) for a, b in (*direct, *over) for early, late in pairs)
        tally.want(hit=hit, text=f"{name}: {chain}")


def quoted(event: Event) -> str:
    return event.evidence.quote if event.evidence else ""


def explicit(value: object, key: str = "") -> Iterator[str]:
    """The texts of the decisions that a log keeps under one of their names."""
    if isinstance(value, dict):
        for name, member in value.items():
            yield from explicit(member, name)
    elif key in EXPLICIT and isinstance(value, list):
        for item in value:
            yield item if isinstance(item, str) else str(item.get("decision") or item.get("choice") or item)
    elif isinstance(value, list):
        for item in value:
            yield from explicit(item)
    elif key == "decision" and isinstance(value, str):
        yield value


def score_explicit(episode: Episode, log: Path, tally: Tally) -> None:
    if log.suffix == ".json":
        chosen = {one.evidence.quote[:80] for one in episode.decisions if one.evidence}
        for text in explicit(json.loads(log.read_text(encoding="utf-8"))):
            tally.want(hit=text.strip()[:80] in chosen, text=f"{log.stem}: {text}")


def score_quotations(episode: Episode, log: Path, tally: Tally) -> None:
    for one in verify(episode, log):
        tally.want(hit=one.result == "found", text=f"{log.stem}: {one.of} [{one.line}] {one.result}: {one.quote[:80]}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--misses", action="store_true", help="list what was missed and what was false")
    parser.add_argument("--corpus", type=Path, default=CORPUS)
    parser.add_argument("--set", choices=SETS, default="first", help="this and the ones before it")
    options = parser.parse_args()
    report(options.corpus, upto=options.set, misses=options.misses)


def report(corpus: Path, *, upto: str, misses: bool) -> None:
    files = annotation_files(corpus, name="ai-agents.json", upto=upto)
    golds = {name: json.loads(file.read_text(encoding="utf-8"))["sessions"] for name, file in files.items()}
    episodes, times = read_all(corpus)
    print(", ".join(f"{name}: {len(gold)} logs" for name, gold in golds.items()), "- one annotator each")
    print_table({name: score_set(gold, episodes) for name, gold in golds.items()}, misses=misses)
    print_table({f"all {len(episodes)} logs": score_all(episodes)}, misses=misses)
    outcomes = Counter(one.outcome for episode in episodes.values() for one in episode.decisions)
    print(f"outcomes of {outcomes.total()} decisions: {dict(sorted(outcomes.items()))}")
    print_times(times)


def read_all(corpus: Path) -> tuple[dict[Path, Episode], list[tuple[float, str]]]:
    """The episode of every log, and how long each took with its name."""
    episodes: dict[Path, Episode] = {}
    times: list[tuple[float, str]] = []
    for log in sorted((corpus / "sessions").iterdir()):
        start = time.perf_counter()
        (session,) = read_sessions(log)
        episodes[log] = extract(session)
        times.append((time.perf_counter() - start, log.stem))
    return episodes, times


def print_times(times: list[tuple[float, str]]) -> None:
    slowest, name = max(times)
    print(
        f"slowest of {len(times)} logs: {slowest * 1000:.0f} ms ({name}); "
        f"all {sum(one for one, _ in times) * 1000:.0f} ms"
    )
    print(f"logs under 1 s: {share(sum(one < 1 for one, _ in times), len(times))}")


def score_set(gold: dict[str, Any], episodes: dict[Path, Episode]) -> dict[str, Tally]:
    """The tallies of one annotated set of logs, by measure."""
    tallies = {name: Tally() for name in ("decisions", "failures", "lessons", "outcome", "links")}
    for log, episode in episodes.items():
        if log.stem in gold:
            score_annotated(episode, gold[log.stem], tallies)
    return tallies


def score_all(episodes: dict[Path, Episode]) -> dict[str, Tally]:
    """What needs no annotation: explicit decisions and quotations, over all logs."""
    tallies = {"explicit decisions": Tally(), "quotations": Tally()}
    for log, episode in episodes.items():
        score_explicit(episode, log, tallies["explicit decisions"])
        score_quotations(episode, log, tallies["quotations"])
    return tallies


def score_annotated(episode: Episode, annotated: dict[str, Any], tallies: dict[str, Tally]) -> None:
    name = episode.session[:24]
    score(tallies["decisions"], wanted=annotated["D"], given=[decided(one) for one in episode.decisions], name=name)
    errors = [met(one, episode) for one in episode.events if one.type == "error"]
    score(tallies["failures"], wanted=annotated["F"], given=errors, name=name)
    score(tallies["lessons"], wanted=annotated["L"], given=list(episode.lessons), name=name)
    hit = episode.outcome == annotated["O"]
    score_links(episode, annotated["K"], tallies["links"], name=name)
    tallies["outcome"].want(hit=hit, text=f"{name}: {episode.outcome}, not {annotated['O']}")


if __name__ == "__main__":
    main()
