"""Do fixes hold when a log shows less? Real sessions with outputs cut short, and with the repair itself taken away.

    python benchmarks/fixes_cut.py [CORPUS ...] [--misses]

What is read of the whole sessions was judged (`judged/fixes.md`); here it is the measure for the same sessions with
less in them. First the output of every check that nobody had cut is cut as agents do it (``| tail -8``), which hides
its exit status too: of the fixes of whole sessions those that are still found, those of ours that credit something
else too, and those that name another change altogether, which are false. Then, for each failing result that a check, a
person or CI repaired shows, the repair is taken out of the session: what is credited now did not repair it.

The sealed sessions are left out. The rules were written with these sessions at hand, so the figures are tuned ones.
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace
from sealed_sessions import open_logs

from helix_episodes.extraction.pipeline import extract
from helix_episodes.extraction.shell.commands import parse_command
from helix_episodes.readers import read_sessions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from helix_episodes.model import Decision, Event
    from helix_episodes.session import Session, Step

CORPUS_NAMES = ("agent-sessions", "claude-code")
#: Filters, and what they leave of an output's lines.
FILTERS = {
    "tail -3": slice(-3, None),
    "tail -8": slice(-8, None),
    "tail -20": slice(-20, None),
    "head -5": slice(5),
    "head -15": slice(15),
}


class Credit(NamedTuple):
    """One fix by lines: of its error, and of the calls that it credits."""

    error: int
    said: str
    changes: frozenset[int]
    judged: bool  # by a check, a person or CI, and not a mere call that failed


def credits_of(session: Session) -> list[Credit]:
    episode = extract(session)
    happened: dict[str, Decision | Event] = {}
    happened |= {one.id: one for one in episode.decisions}
    happened |= {one.id: one for one in episode.events}
    tested = {one.check for one in episode.events if one.type == "test"} | {"CI", "work"}
    found = []
    for fix in episode.fixes:
        place = happened[fix.error].evidence
        changed = (happened[name].evidence for name in fix.changes)
        lines = frozenset(line for one in changed if one for line in (one.line, *one.also))
        error = next(one for one in episode.events if one.id == fix.error)
        if place is not None:
            found.append(Credit(place.line, error.content, lines, error.check in tested))
    return found


def shortened(session: Session, filter_name: str) -> Session:
    """The session as it would be if each check that nobody had cut had been piped into a filter."""
    checks = {step.call_id for step in session.steps if step.kind == "call" and step.call_id and _may_be_cut(step)}
    steps = (_shortened(one, filter_name) if one.call_id in checks else one for one in session.steps)
    return replace(session, steps=tuple(steps))


def _may_be_cut(call: Step) -> bool:
    command = str(call.arguments.get("command") or "")
    if call.operation != "run" or "|" in command or "\n" in command:
        return False
    parts = parse_command(command)
    return bool(parts) and parts[-1].purpose == "check"


def _shortened(step: Step, filter_name: str) -> Step:
    if step.kind == "call":
        command = f"{step.arguments['command']} 2>&1 | {filter_name}"
        return replace(step, arguments={**step.arguments, "command": command})
    if step.kind != "result" or step.status not in {"ok", "error"}:
        return step
    text = "\n".join(step.text.rstrip("\n").split("\n")[FILTERS[filter_name]])
    code = None if step.exit_code is None else 0
    return replace(step, text=text, status="ok", exit_code=code, pieces=())


def without(session: Session, lines: frozenset[int]) -> Session:
    """The session without the calls on these lines and their results."""
    gone = {step.call_id for step in session.steps if step.kind == "call" and step.source.line in lines}
    steps = (step for step in session.steps if step.kind not in {"call", "result"} or step.call_id not in gone)
    return replace(session, steps=tuple(steps))


def sessions_of(corpora: list[str]) -> Iterator[tuple[str, Session]]:
    for corpus in corpora:
        for log in open_logs(corpus):
            for session in read_sessions(log):
                yield log.stem[:12], session


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpora", nargs="*", default=CORPUS_NAMES, metavar="CORPUS")
    parser.add_argument("--misses", action="store_true", help="list what is credited beside or instead of the repair")
    options = parser.parse_args()
    cut: dict[str, Counter[str]] = defaultdict(Counter)
    taken: Counter[str] = Counter()
    for name, session in sessions_of(list(options.corpora)):
        whole = credits_of(session)
        repairs: dict[int, frozenset[int]] = defaultdict(frozenset)
        for one in whole:
            repairs[one.error] |= one.changes
        for filter_name in FILTERS if whole else ():
            cut[filter_name]["whole"] += len(whole)
            for one in credits_of(shortened(session, filter_name)):
                known = repairs.get(one.error, frozenset())
                verdict = "same" if one.changes <= known else "more" if one.changes & known else "other"
                cut[filter_name][verdict] += 1
                if options.misses and verdict != "same":
                    print(f"{verdict}: {name} {one.error} | {filter_name}: {one.said}: {sorted(one.changes)}")
        for line in sorted({one.error for one in whole if one.judged}):
            taken["results"] += 1
            left = [one for one in credits_of(without(session, repairs[line])) if one.error == line]
            taken["credited"] += bool(left)
            for one in left if options.misses else ():
                print(f"without its repair: {name} {line}: {one.said}: {sorted(one.changes)}")
    for filter_name, counts in cut.items():
        kept = f"{counts['same']} of {counts['whole']} fixes as in the whole sessions"
        print(f"{filter_name:>9}: {kept}, {counts['more']} with more changes, {counts['other']} with others")
    print(f"without the repair: {taken['credited']} of {taken['results']} failing results have another fix")


if __name__ == "__main__":
    main()
