"""Had we met this error before, and would what is shown have helped? Open sessions, replayed in time order.

    python benchmarks/precedents.py                           # how many failures have a precedent
    python benchmarks/precedents.py --draw 40 --seed 7 --output hits.md   # hits for a reader to judge
    python benchmarks/precedents.py --draw 40 --judged hits.md --output more.md   # those judged before come last

Each project of the corpora has a memory of its own, which is asked as of the session's beginning. Every failing result
of the session is put to ``memory.graph.seen()`` as the text the agent saw, as a user would by
``… 2>&1 | helix-graph seen -``; failing results are those that the session's own episode records as errors, each issue
once a session. Sealed sessions are left out.

A *hit* is what a hook would speak of: a failing result with a precedent that has a repair or says what was tried in
vain, or of an issue that several sessions met and none repaired. ``--draw`` writes that many hits, drawn by the seed,
each of another issue as long as there are any, and after them what only ``seen`` answers (level ``group``): what
failed, what was shown, what else was known of the same check, the sessions in order of time, and the log lines that all
of it rests on. The reader answers three questions of each: would it have helped (yes, in part, no)? Is it misleading?
Is the first one shown the best one known, earlier sessions being searched for a better one?
"""

from __future__ import annotations

import argparse
import random
import re
import tempfile
from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from sealed_sessions import open_logs
from tallies import CORPORA

from helix_episodes.readers import read_sessions
from helix_graph import Memory
from helix_graph.graph.seen_answer import Precedent, SeenAnswer, SeenIssue

if TYPE_CHECKING:
    from collections.abc import Iterator

    from helix_episodes.model import Episode
    from helix_episodes.session import Session
    from helix_graph.graph.seen_answer import Remedy

PROJECTS = (
    "claude-code", *(f"agent-sessions/{name}" for name in (
        "EntityProcess__agentv", "JanDeDobbeleer__oh-my-posh", "PackmindHub__context-evaluator",
        "eitatech__gatomia-vscode", "entireio__skills", "jdx__mise",
    ))
)  # fmt: skip
LEVELS = ("exact", "family", "words")
#: Of these a hook speaks.
SPOKEN_OF = ("exact", "family")
#: What a reader is shown of each hit: as many precedents as the command prints, and of others known as many lines.
SHOWN, OTHERS = 5, 8
QUESTIONS = """
Would it have helped (yes, in part, no):
Misleading (yes, no):
First shown is the best known (yes, no):"""
FAILED_AT = re.compile(r"(?m)^Failed at (\S+:\d+)")
#: Of a failing output its beginning and end.
LONGEST_TEXT = 2500


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """One failing result: where it stands, what the agent saw, what the memory answered, what else it knew."""

    project: str
    log: str
    line: int
    began: datetime
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
        return never or any(one.fixes or one.tried or one.reply for one in shown)

    @property
    def is_answered(self) -> bool:
        """Whether ``seen`` names a repair of the kind, or a hook would speak of it."""
        return self.is_hit or any(one.fixes for one in self.answer.precedents)

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
            began = session.started
            yield Failure(project=project, log=where, line=line, began=began, text=text, answer=answer, others=known)


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
    tried = sum(any(each.tried for each in one.answer.precedents) for one in failures)
    only = sum(one.is_answered and not one.is_hit for one in failures)
    hits = sum(one.is_hit for one in failures)
    print(f"hits: {hits}; what was tried in vain in {tried}; only a repair of the kind: {only}")


def draw(failures: list[Failure], *, count: int, seed: int, judged: set[str]) -> str:
    """The drawn hits as Markdown; those whose failing result was judged before come last, and say so."""
    hits = [one for one in failures if one.is_answered]
    random.Random(seed).shuffle(hits)  # noqa: S311  (a draw by seed, no secret)
    issues = Counter[tuple[str, str]]()
    order = []
    for place, one in enumerate(hits):
        issues[one.issue] += 1
        order.append((f"{one.log}:{one.line}" in judged, not one.is_hit, issues[one.issue], place, one))
    hits = [one for *_, one in sorted(order, key=lambda each: each[:4])]
    drawn = hits[:count]
    parts = [f"# {len(drawn)} of {len(hits)} hits of {len(issues)} issues, seed {seed}\n\nLogs are below {CORPORA}.\n"]
    parts += [sessions_of(project) for project in sorted({one.project for one in drawn})]
    parts += ["\n".join(lines_of(number, one, judged=judged)) for number, one in enumerate(drawn, 1)]
    return "\n\n".join(parts) + "\n"


def sessions_of(project: str) -> str:
    """The open sessions of a project in order of time, of which those before a failure were known."""
    logs = sorted((session.started, log.name) for log in open_logs(project) for session in begun(log))
    listed = "\n".join(f"- {at:%Y-%m-%d %H:%M} {name}" for at, name in logs)
    return f"<details><summary>Sessions of {project}</summary>\n\n{listed}\n</details>"


def begun(log: Path) -> Iterator[Session]:
    return (session for session in read_sessions(log) if session.started is not None)


def lines_of(number: int, one: Failure, *, judged: set[str]) -> Iterator[str]:
    where = f"{one.log}:{one.line}"
    yield f"## {number}. {one.project}\n\nFailed at {where} (session began {one.began:%Y-%m-%d %H:%M})\n"
    if where in judged:
        yield "The failing result was in an earlier draw; what is shown may have changed.\n"
    if not one.is_hit:
        yield "A hook says nothing of it: this is what `helix-graph seen` answers.\n"
    yield f"```\n{ends(one.text)}\n```\n"
    yield "Issues: " + "; ".join(
        f"`{each.message[:120]}` ({each.level}, {each.sessions} sessions, repaired in {each.fixed}{usually(each)})"
        for each in one.answer.issues
    )
    for place, precedent in enumerate(one.answer.precedents, 1):
        yield f"\n**Shown {place}** ({precedent.level})"
        yield from precedent_lines(precedent)
    if one.others:
        yield "\nAlso known of this check, not shown:"
        yield from (f"- {short(each)}" for each in one.others[:OTHERS])
    yield QUESTIONS


def usually(issue: SeenIssue) -> str:
    silenced = f"; silenced in {one.sessions}: {' '.join(one.quote.split())[:200]}" if (one := issue.silenced) else ""
    if (usual := issue.usual) is None:
        return silenced
    done = f"run {usual.command}" if usual.command else f"edit {usual.path or 'the file that the message names'}"
    return f"; {usual.sessions} of {usual.of} times the repair was: {done}{silenced}"


def precedent_lines(one: Precedent) -> Iterator[str]:
    yield f"- {(one.date or '')[:10]} {one.label}: `{one.message[:300]}` at {at(one)}"
    for fix in one.fixes[:3]:
        verified = f"verified: {fix.verified_by}" if fix.verified else "not verified"
        yield f"  - {fix.chosen[:200]} ({verified}; line {fix.line}); why: {(fix.rationale or '-')[:150]}"
        yield f"    `{' ⏎ '.join(fix.quote.split(chr(10)))[:240]}`"
    if not one.fixes:
        yield "  - no repair in that session"
    if one.reply:
        yield f"  - a person then said: `{one.reply}`"
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
    parser.add_argument("--judged", type=Path, action="append", default=[], help="an earlier draw")
    parser.add_argument("--output", type=Path, default=Path("hits.md"))
    parser.add_argument("--project", action="append", help="a folder of the corpora (default: all)")
    options = parser.parse_args()
    failures: list[Failure] = []
    for project in options.project or PROJECTS:
        with tempfile.TemporaryDirectory() as folder:
            failures += replay(project, Memory(Path(folder)))
    report(failures)
    if options.draw:
        judged = {where for file in options.judged for where in FAILED_AT.findall(file.read_text(encoding="utf-8"))}
        drawn = draw(failures, count=options.draw, seed=options.seed, judged=judged)
        options.output.write_text(drawn, encoding="utf-8")


if __name__ == "__main__":
    main()
