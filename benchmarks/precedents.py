"""Had we met this error before, and did an earlier session hold a fix? The Claude Code corpus, replayed in time order.

    python benchmarks/precedents.py [--list] [--corpus DIR]

Before each session the memory holds exactly the sessions that began earlier. Every failing result of the session is
put to ``memory.graph.seen()`` as the text the agent saw, as a user would by ``… 2>&1 | helix-graph seen -``; failing
results are those that the session's own episode records as errors. Counted is the closest level at which an earlier
session had met it (exact line but for numbers, kind of error, same check), how many of these precedents carry a fix,
and how many a verified one; first for all, then for failures of checks alone, since an agent recovers from its own
tools' errors ("file does not exist") without help. For comparison stands beside it in how many the very
same error line had been met.

``--list`` prints each failure with its best precedent, for judging by eye whether it would have helped.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from helix_episodes.readers import find_logs, read_sessions
from helix_graph import Memory
from helix_graph.graph.model import SeenAnswer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from helix_episodes.session import Session
    from helix_graph.graph.model import Precedent

CORPUS = Path(__file__).resolve().parents[2] / "shared" / "corpora" / "claude-code" / "sessions"
LEVELS = ("exact", "family", "check")
#: Checks that may fail in a session without ever passing in it.
CHECKS = frozenset({"golangci-lint", "go test", "go build", "go vet"})


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """One failing result: where it stands, what the agent saw, what the memory answered, whether its line was known."""

    session: str
    line: int
    text: str
    of_check: bool
    answer: SeenAnswer
    line_known: bool

    @property
    def best(self) -> Precedent | None:
        """The first precedent at the closest level."""
        return next((one for one in self.answer.precedents if one.level == self.answer.level), None)


def in_time_order(logs: list[Path]) -> list[tuple[Path, Session]]:
    sessions = [(log, session) for log in logs for session in read_sessions(log)]
    return sorted(sessions, key=lambda pair: (pair[1].started is None, pair[1].started, pair[1].id))


def replay(logs: list[Path], memory: Memory) -> Iterator[Failure]:
    known: set[str] = set()
    memory.graph.compile()
    for log, session in in_time_order(logs):
        memory.extract([log])
        failures = list(failing_results(memory, session))
        for line, text, of_check, messages in failures:
            yield Failure(
                session=session.id,
                line=line,
                text=text,
                of_check=of_check,
                answer=memory.graph.seen(text),
                line_known=bool(messages & known),
            )
        known |= {message for _, _, _, messages in failures for message in messages}
        memory.graph.compile()


def failing_results(memory: Memory, session: Session) -> Iterator[tuple[int, str, bool, set[str]]]:
    """Each result that the session's episode records as an error.

    Its line, its text, whether it is a check's verdict, and the lines of the errors in it.
    """
    episode = memory.episodes.require(session.id)
    checks = {event.check for event in episode.events if event.type == "test"} | CHECKS
    for step in session.steps:
        at = step.source.line
        errors = [one for one in episode.events if one.type == "error" and one.evidence and one.evidence.line == at]
        if errors and step.kind == "result" and step.source.file is None:
            of_check = any(one.check in checks for one in errors)
            yield at, step.text, of_check, {one.message for one in errors if one.message}


def first_line(text: str) -> str:
    lines = (line.strip() for line in text.splitlines())
    return next((line for line in lines if line and not line.startswith("Exit code")), "")


def report(failures: list[Failure]) -> None:
    total = len(failures)
    met = [one for one in failures if one.answer.level in LEVELS]
    print(f"{total} failing results in {len({one.session for one in failures})} sessions")
    print(f"{'closest level':<26}{'met before':>16}{'with a fix':>16}{'verified':>16}")
    for name in LEVELS:
        row([one for one in met if one.answer.level == name], name=name, total=total)
    close = [one for one in met if one.answer.level != "check"]
    row(close, name="exact or family", total=total)
    row(met, name="any level", total=total)
    row([one for one in failures if one.line_known], name="same line, verbatim", total=total)
    checks = [one for one in failures if one.of_check]
    print(f"of these, {len(checks)} are failures of checks")
    row([one for one in close if one.of_check], name="exact or family", total=len(checks))
    row([one for one in met if one.of_check], name="any level", total=len(checks))
    row([one for one in checks if one.line_known], name="same line, verbatim", total=len(checks))
    labels = Counter(one.best.label for one in met if one.best and one.answer.level != "check")
    print("most often met again: " + "; ".join(f"{label} ({n})" for label, n in labels.most_common(5)))


def row(met: list[Failure], *, name: str, total: int) -> None:
    fixed = [one for one in met if one.best and one.best.fixed]
    verified = [one for one in fixed if one.best and any(remedy.verified for remedy in one.best.fixes)]
    cells = (f"{len(part)} ({100 * len(part) / max(1, total):.0f} %)" for part in (met, fixed, verified))
    print(f"{name:<26}" + "".join(f"{cell:>16}" for cell in cells))


def show(failure: Failure) -> None:
    print(f"\n{failure.session} line {failure.line}: {first_line(failure.text)[:140]}")
    print(f"  read as {', '.join(failure.answer.looked_for) or '-'}; level {failure.answer.level}")
    if failure.best:
        print(f"  {failure.best.date}: {failure.best.label} | {failure.best.message[:120]}")
        for remedy in failure.best.fixes:
            print(f"    -> {remedy.chosen[:100]} (verified {remedy.verified}) {remedy.quote[:120]!r}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="print each failure with its best precedent")
    parser.add_argument("--corpus", type=Path, default=CORPUS)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        failures = list(replay(find_logs(options.corpus), Memory(Path(folder))))
    if options.list:
        for failure in failures:
            show(failure)
    report(failures)


if __name__ == "__main__":
    main()
