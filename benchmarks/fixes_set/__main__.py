"""How many of the annotated fixes are found, and how many of ours are right, in sets of sessions.

python benchmarks/fixes_set [--misses]

A fix is *found* when one of ours stands on the line of its failing result and credits at least one of its changes. One
of ours is *right* when its failure is annotated and it credits annotated changes only; *nearly right* when at least one
of the changes is annotated. A call, its result and the polls of it stand for each other. Doubtful fixes count neither
way. Later sets have every noticed failure too, the fifth nothing else: found when one of our error events stands on one
of its lines; one of ours is right when it stands on an annotated one. In a session whose list is empty all are false.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tallies import CORPORA, Tally, print_table

from helix_episodes.extraction.pipeline import extract
from helix_episodes.readers import read_sessions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from helix_episodes.model import Decision, Episode, Event, Fix
    from helix_episodes.session import Session

#: How a failure came to light, as annotated.
KINDS = ("check", "formatter", "command", "tool", "user", "merge", "ci")
#: What the annotators of the later sets call the failures that they list.
FAILURE_KINDS = ("work", "command", "tool", "environment", "probe", "expected")
#: The sets in the order in which they were annotated.
SETS = (
    "fixes.json",
    "fixes_second.json",
    "fixes_third.json",
    "fixes_fourth.json",
    "failures_fifth.json",
    "fixes_sixth.json",
    "fixes_seventh.json",
    "fixes_eighth.json",
)
MEASURES = ("all", "nearly", *KINDS, "failures", *(f"  {kind}" for kind in FAILURE_KINDS))
HERE = Path(__file__).resolve().parent


class Places:
    """The lines that a statement stands on, with those of its call, its result and the polls of it."""

    def __init__(self, session: Session, episode: Episode) -> None:
        by_call: dict[str, set[int]] = defaultdict(set)
        for step in session.steps:
            if step.call_id is not None:
                by_call[step.call_id].update((step.source.line, *(piece.line for piece in step.pieces)))
        self._twins: dict[int, set[int]] = defaultdict(set)
        for lines in by_call.values():
            for line in lines:
                self._twins[line] |= lines
        self._of = {one.id: self._wide(_own(one)) for one in (*episode.decisions, *episode.events)}

    def _wide(self, lines: set[int]) -> set[int]:
        return lines.union(*(self._twins.get(line, set()) for line in lines))

    def meets(self, identity: str, lines: set[int]) -> bool:
        return bool(self._of[identity] & self._wide(lines))

    def of(self, identity: str) -> str:
        return "/".join(map(str, sorted(self._of[identity])))


def _own(one: Decision | Event) -> set[int]:
    return {one.evidence.line, *one.evidence.also} if one.evidence else set()


def score(session: dict[str, Any], tallies: dict[str, Tally]) -> None:
    """Count one session's annotated fixes, and ours."""
    (read,) = read_sessions(CORPORA / session["log"])
    episode = extract(read)
    places = Places(read, episode)
    name = Path(session["log"]).stem[:12]
    for one in session.get("fixes", ()):
        if one.get("doubtful"):
            continue
        hit = any(_finds(places, fix, one) for fix in episode.fixes)
        for tally in (tallies["all"], tallies[one["kind"]]):
            tally.want(hit=hit, text=f"{name} {one['kind']} {one['failure']} fixed by {one['changes']}: {one['what']}")
    if "failures" in session:
        score_failures(session["failures"], episode, places, tallies, name=name)
    for fix in episode.fixes if "fixes" in session else ():
        judge(places, fix, session["fixes"], tallies, text=f"{name} {_words(places, fix, episode)}")


def score_failures(
    annotated: Sequence[dict[str, Any]], episode: Episode, places: Places, tallies: dict[str, Tally], *, name: str
) -> None:
    errors = [event for event in episode.events if event.type == "error"]
    certain = [one for one in annotated if not one.get("doubtful")]
    for one in certain:
        hit = any(places.meets(ours.id, set(one["lines"])) for ours in errors)
        for tally in (tallies["failures"], tallies[f"  {one['kind']}"]):
            tally.want(hit=hit, text=f"{name} {one['kind']} {one['lines']}: {one['what']}")
    for ours in errors:
        near = [one for one in annotated if places.meets(ours.id, set(one["lines"]))]
        if not near or any(one in certain for one in near):
            tallies["failures"].give(right=bool(near), text=f"{name} [{places.of(ours.id)}] {ours.content[:90]}")


def judge(places: Places, fix: Fix, annotated: list[dict[str, Any]], tallies: dict[str, Tally], *, text: str) -> None:
    """Count one of our fixes, unless only doubtful ones stand on its failure."""
    near = [one for one in annotated if places.meets(fix.error, set(one["failure"]))]
    if near and all(one.get("doubtful") for one in near):
        return
    credited = set().union(*({*one["changes"], *one.get("also_changes", ())} for one in near))
    changes = [places.meets(change, credited) for change in fix.changes]
    tallies["all"].give(right=bool(changes) and all(changes), text=text)
    tallies["nearly"].give(right=any(changes), text=text)


def _finds(places: Places, fix: Fix, one: dict[str, Any]) -> bool:
    return places.meets(fix.error, set(one["failure"])) and any(
        places.meets(change, set(one["changes"])) for change in fix.changes
    )


def _words(places: Places, fix: Fix, episode: Episode) -> str:
    error = next(event for event in episode.events if event.id == fix.error)
    changes = ", ".join(places.of(change) for change in fix.changes)
    return f"[{places.of(fix.error)}] by [{changes}]: {error.content[:90]}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--misses", action="store_true", help="list what was missed and what was false")
    options = parser.parse_args()
    sets: dict[str, dict[str, Tally]] = {}
    for name in SETS:
        annotated = json.loads((HERE / name).read_text(encoding="utf-8"))["sessions"]
        tallies = {measure: Tally() for measure in MEASURES}
        for session in annotated:
            score(session, tallies)
        sets[f"{name}: {len(annotated)} sessions"] = tallies
    print_table(sets, misses=options.misses)


if __name__ == "__main__":
    main()
