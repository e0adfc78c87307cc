"""What a reader needs to judge the outcomes printed of real sessions: each with its evidence and what came after it.

    python benchmarks/outcomes_read.py [CORPUS ...] [--outcome failure partial] [--after 12] [--counts]

The corpora of ``../shared`` are extracted into a memory of their own in a temporary place, as a user would, but for
the sealed sessions (`sealed_sessions`), which are never opened. Printed are the outcomes by corpus and what each rests
on; where a corpus says how its runs were rewarded, the printed outcome against the reward; and every session whose
outcome is a failure or partial: the rule, the words quoted, the step of the log they stand on, and the first and last
of the prompts, commands and commits that follow, by line. A rewarded outcome is one line, since its log decides
nothing. ``--counts`` leaves the sessions out.

Rewards. τ-bench's runs carry one; who-and-when says whether the answer was correct (it never is); rewarded-runs has
``LABELS.tsv``, where ``passed`` is the verifier's verdict and ``reward`` its score. A run there that no reader takes is
counted as *not read*. The other corpora have no rewards.
"""

from __future__ import annotations

import argparse
import csv
import json
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sealed_sessions import is_sealed, open_logs
from tallies import CORPORA

from helix_episodes.readers import read_sessions
from helix_episodes.store import EpisodeStore
from helix_graph import Memory

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from helix_episodes.ingest import SkippedLog
    from helix_episodes.model import Episode, Outcome
    from helix_episodes.session import Step

CORPUS_NAMES = (
    "agent-sessions",
    "claude-code",
    "agent-transcripts",
    "ai-agents",
    "rewarded-runs",
    "tau-bench",
    "trajectories",
    "who-and-when",
)
OUTCOMES: tuple[Outcome, ...] = ("success", "partial", "failure", "unknown")
NOT_READ = "not read"
#: How much of one step is printed: the words of a prompt or command, and the end of a result, where a verdict stands.
WIDTH = 200
RESULT_LINES = 8


@dataclass(frozen=True)
class Extracted:
    """One session of a corpus: the log it was read from, and its episode."""

    log: Path
    episode: Episode


def extracted(corpus: str) -> tuple[list[Extracted], tuple[SkippedLog, ...]]:
    """The sessions of a corpus that are open, and the logs that could not be read."""
    with tempfile.TemporaryDirectory() as folder:
        memory = Memory.init(Path(folder))
        report = memory.extract(open_logs(corpus))
        store = EpisodeStore(memory.graph.episodes)
        sessions = [Extracted(Path(one.log), store.require(one.session)) for one in report.recorded]
    assert not any(is_sealed(one.log) for one in sessions)
    return sessions, report.failed


def print_counts(corpus: str, sessions: Sequence[Extracted], failed: Sequence[SkippedLog]) -> None:
    outcomes = Counter(one.episode.outcome for one in sessions)
    cells = ", ".join(f"{outcomes[name]} {name}" for name in OUTCOMES)
    print(f"{corpus}: {len(sessions)} sessions: {cells}; {len(failed)} logs not read")
    for log in failed:
        print(f"    not read: {Path(log.log).relative_to(CORPORA)}: {cut(log.problem.replace(f'{log.log}: ', ''))}")
    rules = Counter((one.episode.outcome, rule_of(one.episode)) for one in sessions)
    for (outcome, rule), count in sorted(rules.items(), key=lambda pair: (OUTCOMES.index(pair[0][0]), -pair[1])):
        print(f"    {count:4} {outcome:<8} {rule}")


def rule_of(episode: Episode) -> str:
    rule = episode.outcome_evidence.rule if episode.outcome_evidence else "-"
    return f"{episode.outcome_basis}: {rule}"


def rewards_of(corpus: str, sessions: Sequence[Extracted]) -> list[tuple[str, str]]:
    """Each rewarded run of a corpus: what its verifier says, and the outcome that we print; empty without rewards."""
    if corpus == "tau-bench":
        return [(_passed(passed=reward > 0), one.episode.outcome) for one, reward in _tau_rewards(sessions)]
    if corpus == "who-and-when":
        return [(_passed(passed=_is_correct(one.log)), one.episode.outcome) for one in sessions]
    if corpus == "rewarded-runs":
        return list(_labelled(CORPORA / corpus, sessions))
    return []


def _is_correct(log: Path) -> bool:
    answer = json.loads(log.read_text(encoding="utf-8"))
    return bool(answer["is_correct"] if "is_correct" in answer else answer["is_corrected"])


def _tau_rewards(sessions: Sequence[Extracted]) -> Iterator[tuple[Extracted, float]]:
    for log in sorted({one.log for one in sessions}):
        runs = json.loads(log.read_text(encoding="utf-8"))
        rewards = {f"task-{run['task_id']}-trial-{run['trial']}": run["reward"] for run in runs}
        for name, reward in rewards.items():
            (own,) = [one for one in sessions if one.log == log and one.episode.session.endswith(f"-{name}")]
            yield own, reward


def _labelled(folder: Path, sessions: Sequence[Extracted]) -> Iterator[tuple[str, str]]:
    outcomes = {one.log.resolve(): one.episode.outcome for one in sessions}
    with (folder / "LABELS.tsv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            verdict = _passed(passed=row["passed"] == "True")
            score = "0" if float(row["reward"]) == 0 else "above 0"
            yield f"{verdict}, reward {score}", outcomes.get((folder / row["file"]).resolve(), NOT_READ)


def _passed(*, passed: bool) -> str:
    return "passed" if passed else "failed"


def print_rewards(corpus: str, runs: Sequence[tuple[str, str]]) -> None:
    columns = (*OUTCOMES, NOT_READ)
    print(f"{corpus}: what is printed, by what the verifier says")
    print(f"    {'':<26}" + "".join(f"{name:>10}" for name in columns))
    for verdict in sorted({verdict for verdict, _ in runs}):
        printed = Counter(outcome for one, outcome in runs if one == verdict)
        print(f"    {verdict:<26}" + "".join(f"{printed[name]:>10}" for name in columns))


def print_session(one: Extracted, *, after: int) -> None:
    episode, evidence = one.episode, one.episode.outcome_evidence
    print(f"\n== {one.log.relative_to(CORPORA)}")
    print(
        f"   {episode.outcome} ({rule_of(episode)}); {episode.agent.name if episode.agent else '?'}, {episode.session}"
    )
    if evidence is None or episode.outcome_basis == "rewarded":
        return
    print(f"   task: {cut(episode.task)}")
    print(f"   quoted: {cut(evidence.quote)!r}, from {evidence.source or 'the log'}")
    event = next((event for event in episode.events if event.id == evidence.source), None)
    if event:
        print(f"   {event.type} {event.id}: check {event.check!r}, family {event.family!r}: {cut(event.content)}")
    line = evidence.line or (event.evidence.line if event and event.evidence else None)
    steps = next((session.steps for session in read_sessions(one.log) if session.id == episode.session), ())
    print("\n".join(lines_about(steps, line, after=after)))


def lines_about(steps: Sequence[Step], line: int | None, *, after: int) -> Iterator[str]:
    """The step on a line with the end of its result, and the first and last of what a reader needs of the rest."""
    # in logs that are one document many steps stand on one line, of which a failed result is the one that decides
    there = [number for number, step in enumerate(steps) if step.source.line == line]
    place = next((number for number in there if steps[number].status == "error"), there[0] if there else None)
    if place is None:
        yield "   the evidence names no step of the log; its end:"
        place = len(steps)
        rest = list(_telling(steps))
    else:
        yield from _evidence(steps, place)
        rest = list(_telling(steps[place + 1 :]))
        yield f"   afterwards ({len(rest)} prompts, commands, edits and failures):"
    if len(rest) > 2 * after:
        rest = [*rest[:after], f"   ... {len(rest) - 2 * after} more ...", *rest[-after:]]
    yield from rest
    words = [step for step in steps if step.kind == "message"]
    if words:
        yield f"   last words: [{words[-1].source.line}] {cut(words[-1].text, 3 * WIDTH)}"


def _evidence(steps: Sequence[Step], place: int) -> Iterator[str]:
    own = steps[place]
    if own.kind == "result":
        call = next((step for step in steps[:place] if step.kind == "call" and step.call_id == own.call_id), None)
        if call:
            yield f"   [{call.source.line}] call: {_arguments(call)}"
    yield f"   [{own.source.line}] {own.kind} {own.status} {own.exit_code if own.exit_code is not None else ''}"
    text = _arguments(own) if own.kind == "call" else own.text
    yield from (f"      | {cut(words)}" for words in text.strip().splitlines()[-RESULT_LINES:])


def _telling(steps: Iterable[Step]) -> Iterator[str]:
    commands = set()
    for step in steps:
        if step.kind == "prompt":
            yield f"   [{step.source.line}] PROMPT {cut(step.text)}"
        elif step.kind == "call" and step.operation in {"run", "edit", "create", "delete", "delegate"}:
            commands.add(step.call_id)
            yield f"   [{step.source.line}] {step.operation} {_arguments(step)}"
        elif step.kind == "result" and (step.call_id in commands or step.status not in {"ok", "unknown"}):
            end = " / ".join(step.text.strip().splitlines()[-2:])
            code = f" exit {step.exit_code}" if step.exit_code is not None else ""
            yield f"   [{step.source.line}]     {step.status}{code}: {cut(end)}"


def _arguments(step: Step) -> str:
    named = step.arguments
    return cut(str(named.get("command") or named.get("path") or named.get("description") or named or step.tool))


def cut(text: str, width: int = WIDTH) -> str:
    line = " ".join(text.split())
    return line if len(line) <= width else f"{line[: width - 1]}…"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpora", nargs="*", metavar="CORPUS", help=f"of {', '.join(CORPUS_NAMES)}; default: all")
    parser.add_argument("--outcome", nargs="+", choices=OUTCOMES, default=("failure", "partial"))
    parser.add_argument("--after", type=int, default=12, help="how many steps from either end of what follows")
    parser.add_argument("--counts", action="store_true", help="the tables only")
    options = parser.parse_args()
    names = options.corpora or CORPUS_NAMES
    if unknown := sorted(set(names) - set(CORPUS_NAMES)):
        parser.error(f"no corpus is called {', '.join(unknown)}; there are {', '.join(CORPUS_NAMES)}")
    found: list[Extracted] = []
    for name in names:
        sessions, failed = extracted(name)
        print_counts(name, sessions, failed)
        if runs := rewards_of(name, sessions):
            print_rewards(name, runs)
        found += sessions
    if not options.counts:
        for one in found:
            if one.episode.outcome in options.outcome:
                print_session(one, after=options.after)


if __name__ == "__main__":
    main()
