"""Does `explain` find the step at which a real run of several agents went wrong? The Who&When runs, and plain guesses.

    python benchmarks/real_localisation.py [--corpus DIR] [--misses]

The configuration was written down before any accuracy was counted, and there is one. Each run is read and extracted by
itself; no run of the collection passed, so nothing is compared and the signals of its own log are all there is. *Ours*
is the first suspect of `explain`; its line in the file is the message of ``history`` that it stands for. Where explain
names nobody that counts as a miss. The signals were worked out on every other file by name (the even half); the other
half is what they are judged by, and both stand there.

Beside it stand guesses that know nothing: a random message (what it would hit on average), the first and the second
message, the last one, the message before the first result that was an error (the second message if there is none), and
the constant place that hits most of the *other* runs of the subset. *Ours, else the best place* answers always: it asks
the constant where explain is silent; since silence is an answer, the guesses stand once more over the runs in which
explain speaks. Right is the index that the annotators gave, and nothing beside it; *agent* counts
that whoever speaks there is the one they named. Intervals are Wilson's, 95 %.
"""

from __future__ import annotations

import argparse
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from tallies import CORPORA

from helix_episodes.extraction.pipeline import extract
from helix_episodes.readers import read_sessions
from helix_episodes.readers.common.json_with_lines import read_json_with_lines
from helix_graph.causality.fault_localization import explanation_of
from helix_graph.graph.node_labels import is_error
from helix_graph.stats.intervals import wilson_interval

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from helix_episodes.model import Evidence

CORPUS = CORPORA / "who-and-when"
SUBSETS = ("Algorithm-Generated", "Hand-Crafted")
#: Share of steps that language models named rightly on all 184 runs (126 and 58), as their authors report it.
PUBLISHED = (
    ("best average of language-model judges (Who&When, arXiv 2505.00212)", "14.2 % over both"),
    ("language-model baseline as A2P reports it", "16.7 % and 12.1 %"),
    ("A2P", "47.5 % and 29.3 %"),
    ("FALAT (arXiv 2606.00765)", "46.0 % and 29.1 %"),
)


@dataclass(frozen=True)
class Run:
    """A run, who speaks in each message, what the annotators say, and what the product says: messages by index."""

    name: str
    speakers: tuple[str, ...]
    step: int
    agent: str
    suspects: tuple[int, ...]
    decisions: frozenset[int]
    errors: tuple[int, ...]


Guess: TypeAlias = "Callable[[Run, Sequence[Run]], int | None]"


def read_run(path: Path) -> Run:
    """A run with its suspects; the answer key is read from the file, and never by the product."""
    (session,) = read_sessions(path)
    episode = extract(session)
    document = read_json_with_lines(path)
    messages = document.get("history").items
    place = {message.get("content").line: index for index, message in enumerate(messages)}
    suspects = [place[one.line] for one in explanation_of(episode, ()).suspects if one.line in place]
    return Run(
        name=path.stem,
        speakers=tuple((one.get("name").text or one.get("role").text).partition(" (")[0] for one in messages),
        step=int(document.get("mistake_step").text),
        agent=document.get("mistake_agent").text,
        suspects=tuple(dict.fromkeys(suspects)),
        decisions=frozenset(_indices((one.evidence for one in episode.decisions), place)),
        errors=tuple(sorted(_indices((one.evidence for one in episode.events if is_error(one)), place))),
    )


def _indices(found: Iterable[Evidence | None], place: dict[int, int]) -> Iterable[int]:
    return (place[one.line] for one in found if one and one.line in place)


def ours(run: Run, _: Sequence[Run]) -> int | None:
    return run.suspects[0] if run.suspects else None


def before_first_error(run: Run, _: Sequence[Run]) -> int:
    return max(run.errors[0] - 1, 0) if run.errors else 1


def best_place(_: Run, others: Sequence[Run]) -> int:
    """The place of most mistakes in the other runs, the earliest of several."""
    places = Counter(one.step for one in others)
    return min(places, key=lambda place: (-places[place], place)) if places else 1


def ours_else_best_place(run: Run, others: Sequence[Run]) -> int:
    return run.suspects[0] if run.suspects else best_place(run, others)


FIXED: dict[str, Guess] = {
    "first message": lambda _run, _others: 0,
    "second message": lambda _run, _others: 1,
    "last message": lambda run, _others: len(run.speakers) - 1,
    "before the first error": before_first_error,
    "best place of the other runs": best_place,
}
GUESSES: dict[str, Guess] = {"ours": ours, "ours, else the best place": ours_else_best_place, **FIXED}


@dataclass(frozen=True)
class Score:
    """How many steps and agents a guess got right, of how many runs."""

    steps: int
    agents: int
    runs: int


def score(guess: Guess, runs: Sequence[Run], *, among: Sequence[Run]) -> Score:
    """The score over ``runs``; a guess may learn from the others ``among`` all of the subset."""
    found = [(run, guess(run, [one for one in among if one.name != run.name])) for run in runs]
    return Score(
        steps=sum(place == run.step for run, place in found),
        agents=sum(place is not None and _speaker(run, place) == run.agent for run, place in found),
        runs=len(runs),
    )


def _speaker(run: Run, place: int) -> str | None:
    return run.speakers[place] if place < len(run.speakers) else None


def read_subset(folder: Path, *, most: int | None = None) -> list[Run]:
    """The runs of a folder by name, at most so many."""
    return [read_run(path) for path in sorted(folder.glob("*.json"))[:most]]


def report(corpus: Path, *, misses: bool) -> None:
    for subset in SUBSETS:
        runs = read_subset(corpus / subset)
        for name, part in _parts(runs):
            print(f"\n{subset}, {name}: {_coverage(part)}")
            _table(part, among=runs)
        if misses:
            _list(runs)
    print("\nWhat language models reach on all 184 runs, steps, Algorithm-Generated and Hand-Crafted, as published:")
    for source, figure in PUBLISHED:
        print(f"  {source:70} {figure}")


def _parts(runs: Sequence[Run]) -> Iterator[tuple[str, Sequence[Run]]]:
    """All runs, both halves, and those in which explain names somebody, on both halves and on the one not tuned on."""
    yield f"all {len(runs)}", runs
    yield "even half (signals were worked out on it)", runs[::2]
    yield "odd half", runs[1::2]
    for name, some in (("where ours speaks", runs), ("where ours speaks, odd half", runs[1::2])):
        speaking = [run for run in some if run.suspects]
        if speaking:
            yield name, speaking


def _coverage(runs: Sequence[Run]) -> str:
    named = [run for run in runs if run.suspects]
    right = sum(run.suspects[0] == run.step for run in named)
    within = sum(run.step in run.suspects[:3] for run in named)
    reach = sum(run.step in run.decisions for run in runs)
    return (
        f"ours names a suspect in {len(named)} of {len(runs)} runs, the right step first in {right}, "
        f"among the first three in {within}; in {reach} the right step is one that an episode keeps as a decision"
    )


def _table(runs: Sequence[Run], *, among: Sequence[Run]) -> None:
    for name, guess in GUESSES.items():
        found = score(guess, runs, among=among)
        print(f"  {name:30} step {_share(found.steps, found.runs)}   agent {_share(found.agents, found.runs)}")
    step = sum(1 / len(run.speakers) for run in runs) / len(runs)
    agent = sum(run.speakers.count(run.agent) / len(run.speakers) for run in runs) / len(runs)
    print(f"  {'random message, on average':30} step {step:.3f}{'':26}   agent {agent:.3f}")
    best = max(FIXED, key=lambda name: score(FIXED[name], runs, among=among).steps)
    for name in ("ours", "ours, else the best place"):
        print(f"  steps: {name}, is {_beside(name, best, runs, among=among)}")


def _beside(name: str, best: str, runs: Sequence[Run], *, among: Sequence[Run]) -> str:
    """Whether it is at least level with the best of what knows nothing."""
    mine, theirs = (score(GUESSES[one], runs, among=among).steps for one in (name, best))
    word = "BELOW" if mine < theirs else "level with" if mine == theirs else "above"
    return f"{word} the best fixed guess ({best}), {mine} against {theirs} of {len(runs)}"


def _share(count: int, total: int) -> str:
    interval = wilson_interval(count, total)
    return f"{count / total:.3f} ({count:2} of {total:2}; {interval.low:.3f} to {interval.high:.3f})"


def _list(runs: Sequence[Run]) -> None:
    for run in runs:
        print(f"    {run.name}: right {run.step} ({run.agent}), ours {list(run.suspects[:3])}, errors {run.errors[:3]}")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    options.add_argument("--corpus", type=Path, default=CORPUS)
    options.add_argument("--misses", action="store_true")
    given = options.parse_args()
    report(given.corpus, misses=given.misses)


if __name__ == "__main__":
    main()
