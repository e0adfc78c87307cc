"""Is a session that ends with a failing check a failure? Real sessions, cut off where a check has just failed.

    python benchmarks/outcomes_cut.py [CORPUS ...] [--misses]

Real sessions go on until their checks pass, so a corpus of whole sessions hardly shows whether failures are found. Here
every result in which a check fails after a file was edited ends its session: what came later is taken away, and the
outcome of the rest should be a failure. It is not where the failure says nothing of the work (a missing tool, a wrong
option); ``--misses`` prints those to be read. The sealed sessions are left out. The rules were written with these
sessions at hand, so the figures are tuned ones.
"""

from __future__ import annotations

import argparse
from collections import Counter
from typing import TYPE_CHECKING

import msgspec
from sealed_sessions import open_logs
from tallies import CORPORA

from helix_episodes.extraction.pipeline import extract
from helix_episodes.readers import read_sessions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from helix_episodes.model import Episode, Event
    from helix_episodes.session import Session

CORPUS_NAMES = ("agent-sessions", "claude-code")
EDITS = frozenset({"edit", "create", "delete"})


def cuts(session: Session, episode: Episode) -> Iterator[tuple[Event, Session]]:
    """Each failing check after the first edit, and the session up to its result."""
    edited = (
        one.evidence.line for one in episode.decisions if one.action and one.action.verb in EDITS and one.evidence
    )
    first = min(edited, default=None)
    seen = set()
    for event in episode.events:
        # Only checks count what failed.
        if event.type != "error" or event.failed is None or event.actor != "agent" or event.evidence is None:
            continue
        line = event.evidence.line
        ends = [n for n, step in enumerate(session.steps) if step.kind == "result" and step.source.line == line]
        if first is not None and line > first and line not in seen and ends:
            seen.add(line)
            yield event, msgspec.structs.replace(session, steps=session.steps[: ends[-1] + 1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpora", nargs="*", default=CORPUS_NAMES, metavar="CORPUS")
    parser.add_argument("--misses", action="store_true", help="print the cut sessions that are no failure")
    given = parser.parse_args()
    for corpus in given.corpora:
        outcomes: Counter[str] = Counter()
        missed = []
        for log in open_logs(corpus):
            for session in read_sessions(log):
                for event, rest in cuts(session, extract(session)):
                    outcome = extract(rest).outcome
                    outcomes[outcome] += 1
                    if outcome != "failure":
                        place = f"{log.relative_to(CORPORA)}:{event.evidence.line if event.evidence else ''}"
                        missed.append(f"    {outcome:<8} {place}  {event.content}")
        found, count = outcomes["failure"], sum(outcomes.values())
        print(f"{corpus}: {found} of {count} sessions that end with a failing check are a failure; {dict(outcomes)}")
        if given.misses:
            print(*missed, sep="\n")


if __name__ == "__main__":
    main()
