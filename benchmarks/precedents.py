"""Had we met this error before, and would what is shown have helped? Open sessions, replayed in time order.

    python benchmarks/precedents.py                           # how many failures have a precedent
    python benchmarks/precedents.py --draw 40 --seed 7 --output hits.md   # hits for a reader to judge

Each project of the corpora has a memory of its own. Before each session it holds exactly the sessions that began
earlier. Every failing result of the session is put to ``memory.graph.seen()`` as the text the agent saw, as a user
would by ``… 2>&1 | helix-graph seen -``; failing results are those that the session's own episode records as errors,
each issue once a session. Sealed sessions are left out.

A *hit* is what a hook would speak of: a failing result with a precedent that has a repair, or of an issue that several
sessions met and none repaired. ``--draw`` writes that many hits, drawn by the seed, each of another issue as
long as there are any: what failed,
what was shown, what else was known of the same check, and the log lines that all of it rests on. There the memory holds
all other sessions of the project, later ones too, for in time order so few logs have too few hits to draw from. The
reader answers three questions of each: would it have helped (yes, in part, no)? Is it misleading? Is the first one
shown the best one known?
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from sealed_sessions import open_logs
from tallies import CORPORA

from helix_episodes.readers import read_sessions
from helix_graph import Memory
from helix_graph.graph.model import Precedent, SeenAnswer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from helix_episodes.model import Episode
    from helix_episodes.session import Session
    from helix_graph.graph.model import Remedy

PROJECTS = (
    "claude-code", *(f"agent-sessions/{name}" for name in (
        "EntityProcess__agentv", "JanDeDobbeleer__oh-my-posh", "PackmindHub__context-evaluator",
        "eitatech__gatomia-vscode", "entireio__skills", "jdx__mise",
    ))
)  # fmt: skip
LEVELS = ("exact", "family", "group", "words")
#: Of these a hook speaks.
SPOKEN_OF = ("exact", "family")
#: What a reader is shown of each hit: as many precedents as the command prints, and of others known as many lines.
SHOWN, OTHERS = 5, 8
QUESTIONS = """
Would it have helped (yes, in part, no):
Misleading (yes, no):
First shown is the best known (yes, no):"""
#: Of a failing output its beginning and end.
LONGEST_TEXT = 2500


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """One failing result: where it stands, what the agent saw, what the memory answered, what else it knew."""

    project: str
    log: str
    line: int
    text: str
    answer: SeenAnswer
    others: tuple[Precedent, ...]

    @property
    def is_hit(self) -> bool:
        """Whether a hook would speak of it."""
        if self.answer.level == "words":
            return False
        never = any(one.level == "exact" and not one.fixed and one.sessions > 1 for one in self.answer.issues)
        shown = [one for one in self.answer.precedents if one.level in SPOKEN_OF]
        return never or any(one.fixes or one.tried for one in shown)

    @property
    def issue(self) -> tuple[str, str]:
        """Its project and the issue of its first precedent."""
        first = self.answer.precedents[0]
        return self.project, self.answer.issues[first.issue].message if self.answer.issues else first.label


def replay(project: str, memory: Memory) -> Iterator[Failure]:
    """The failures of a project's sessions, each asked of what earlier sessions had done by then."""
    sessions = [(log, session) for log in open_logs(project) for session in read_sessions(log)]
    memory.extract([log for log, _ in sessions])
    memory.graph.compile()
    for log, session in sorted(sessions, key=lambda pair: (pair[1].started is None, pair[1].started, pair[1].id)):
        episode = memory.episodes.get(session.id)
        if episode is None or session.started is None:
            continue
        issues: set[str] = set()
        for line, text, named in failing_results(episode, session):
            if named <= issues:
                continue
            issues |= named
            answer = memory.graph.seen(text, limit=SHOWN, before=session.started)
            known = tuple(others_known(memory, answer, before=session.started))
            where = str(log.relative_to(CORPORA))
            yield Failure(project=project, log=where, line=line, text=text, answer=answer, others=known)


def failing_results(episode: Episode, session: Session) -> Iterator[tuple[int, str, set[str]]]:
    """Each result that the session's episode records as an error: its line, its text, and the issues in it."""
    errors = [one for one in episode.events if one.type == "error" and one.evidence]
    for step in session.steps:
        here = [one for one in errors if one.evidence and one.evidence.line == step.source.line]
        if here and step.kind == "result" and step.source.file is None and step.text.strip():
            yield step.source.line, step.text, {one.fingerprint or one.content for one in here}


def others_known(memory: Memory, answer: SeenAnswer, *, before: datetime) -> Iterator[Precedent]:
    """Repaired errors of the same checks that were not shown."""
    shown = {(one.episode, one.line) for one in answer.precedents}
    checks = dict.fromkeys(label.partition(" fails: ")[0] for label in answer.looked_for if " fails: " in label)
    for check in checks:
        for one in memory.graph.seen(f"{check} fails", limit=20, before=before).precedents:
            if one.fixes and (one.episode, one.line) not in shown:
                yield one


def report(failures: list[Failure]) -> None:
    total = max(1, len(failures))
    print(f"{len(failures)} failing results in {len({one.log for one in failures})} sessions")
    print(f"{'closest level':<16}{'met before':>16}{'with a repair':>16}{'verified':>16}")
    for name in (*LEVELS, "any"):
        met = [one for one in failures if (one.answer.level == name if name in LEVELS else one.answer.found)]
        repaired = [one for one in met if any(each.fixes for each in one.answer.precedents)]
        verified = [one for one in met if any(each.fixed for each in one.answer.precedents)]
        cells = (f"{len(part)} ({100 * len(part) / total:.0f} %)" for part in (met, repaired, verified))
        print(f"{name:<16}" + "".join(f"{cell:>16}" for cell in cells))
    print(f"hits: {sum(one.is_hit for one in failures)}")


def draw(failures: list[Failure], *, count: int, seed: int) -> str:
    """The drawn hits as Markdown."""
    hits = [one for one in failures if one.is_hit]
    random.Random(seed).shuffle(hits)  # noqa: S311  (a draw by seed, no secret)
    issues = Counter[tuple[str, str]]()
    order = []
    for place, one in enumerate(hits):
        issues[one.issue] += 1
        order.append((issues[one.issue], place, one))
    hits = [one for _, _, one in sorted(order, key=lambda each: each[:2])]
    drawn = hits[:count]
    parts = [f"# {len(drawn)} of {len(hits)} hits of {len(issues)} issues, seed {seed}\n\nLogs are below {CORPORA}.\n"]
    parts += ["\n".join(lines_of(number, one)) for number, one in enumerate(drawn, 1)]
    return "\n\n".join(parts) + "\n"


def lines_of(number: int, one: Failure) -> Iterator[str]:
    yield f"## {number}. {one.project}\n\nFailed at {one.log}:{one.line}\n\n```\n{ends(one.text)}\n```\n"
    yield "Issues: " + "; ".join(
        f"`{each.message[:120]}` ({each.level}, {each.sessions} sessions, repaired in {each.fixed})"
        for each in one.answer.issues
    )
    for place, precedent in enumerate(one.answer.precedents, 1):
        yield f"\n**Shown {place}** ({precedent.level})"
        yield from precedent_lines(precedent)
    if one.others:
        yield "\nAlso known of this check, not shown:"
        yield from (f"- {short(each)}" for each in one.others[:OTHERS])
    yield QUESTIONS


def precedent_lines(one: Precedent) -> Iterator[str]:
    yield f"- {(one.date or '')[:10]} {one.label}: `{one.message[:300]}` at {at(one)}"
    for fix in one.fixes[:3]:
        verified = f"verified: {fix.verified_by}" if fix.verified else "not verified"
        yield f"  - {fix.chosen[:200]} ({verified}; line {fix.line}); why: {(fix.rationale or '-')[:150]}"
        yield f"    `{' ⏎ '.join(fix.quote.split(chr(10)))[:240]}`"
    if not one.fixes:
        yield "  - no repair in that session"
    for each in one.tried:
        failed = "the same error" if each.again else each.message
        yield f"  - tried in vain: `{(each.command or each.chosen)[:240]}` (line {each.line}): {failed[:150]}"


def short(one: Precedent) -> str:
    fix: Remedy = one.fixes[0]
    return f"{one.label}: `{one.message[:120]}` -> {fix.chosen[:80]}: `{' '.join(fix.quote.split())[:100]}` ({at(one)})"


def at(one: Precedent) -> str:
    return f"{Path(one.log or '').name}:{one.line}"


def ends(text: str) -> str:
    half = LONGEST_TEXT // 2
    return text if len(text) <= LONGEST_TEXT else f"{text[:half]}\n[…]\n{text[-half:]}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draw", type=int, help="write so many hits for a reader to judge")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", type=Path, default=Path("hits.md"))
    parser.add_argument("--project", action="append", help="a folder of the corpora (default: all)")
    options = parser.parse_args()
    failures: list[Failure] = []
    for project in options.project or PROJECTS:
        with tempfile.TemporaryDirectory() as folder:
            failures += replay(project, Memory(Path(folder)))
    report(failures)
    if options.draw:
        options.output.write_text(draw(failures, count=options.draw, seed=options.seed), encoding="utf-8")


if __name__ == "__main__":
    main()
