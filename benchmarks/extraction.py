"""How well episodes agree with a careful reader, by line, on the six annotated Claude Code logs.

    python benchmarks/extraction.py [--misses] [--corpus DIR | ai-agents]

``--corpus ai-agents`` scores the reports of that corpus instead, by the rule that `reports` states.

Rule. A call and its own result stand for each other. An annotated decision is *found* when one of ours has a call
whose line lies between its first and last line; one of ours is *right* when it lies in an annotated decision. An
annotated failure is found when one of our error events stands on its line or on one of its ``also_lines``, and so it is
in fixes and links. A fix is
found when its failure is and at least one of its changes stands on one of the annotated ``fix_lines``. A link (fix,
edit-test, commit, spawn) is found when both its lines are those of one of ours with that reason, and one of ours is
right when the annotator joins these lines, for whatever reason. Items the annotator
calls doubtful count neither as missed nor as false. n stands beside every figure; ``--misses`` lists what was missed
and what was false.

There is one annotator, so no agreement between annotators to compare with.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from helix_episodes.extraction.pipeline import extract
from helix_episodes.readers import read_sessions

if TYPE_CHECKING:
    from helix_episodes.model import Decision, Episode, Event

CORPUS = Path(__file__).resolve().parents[2] / "shared" / "corpora" / "claude-code"
#: The corpus of reports, in which there are no lines to go by.
REPORTS = "ai-agents"


class Tally:
    """Found of wanted, right of given, and the lines to read where they differ."""

    def __init__(self) -> None:
        self.wanted = self.found = self.given = self.right = 0
        self.misses: list[str] = []
        self.false: list[str] = []

    def want(self, *, hit: bool, text: str) -> None:
        self.wanted += 1
        self.found += hit
        if not hit:
            self.misses.append(text)

    def give(self, *, right: bool, text: str) -> None:
        self.given += 1
        self.right += right
        if not right:
            self.false.append(text)

    def row(self, name: str) -> str:
        return f"{name:<22}{share(self.found, self.wanted):>20}{share(self.right, self.given):>20}"


def share(part: int, whole: int) -> str:
    return f"{part}/{whole} ({100 * part / whole:.0f} %)" if whole else "-"


def twins(log: Path) -> dict[int, set[int]]:
    """Each line that holds a call or a result, with the lines of its counterparts."""
    calls: dict[str, int] = {}
    pairs: dict[int, set[int]] = {}
    for number, line in enumerate(log.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
        for block in blocks(line):
            if block.get("type") == "tool_use":
                calls[block["id"]] = number
            elif block.get("type") == "tool_result" and block.get("tool_use_id") in calls:
                call = calls[block["tool_use_id"]]
                pairs.setdefault(call, set()).add(number)
                pairs.setdefault(number, set()).add(call)
    return pairs


def blocks(line: str) -> list[dict[str, Any]]:
    try:
        content = (json.loads(line).get("message") or {}).get("content")
    except (ValueError, AttributeError):
        return []
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


class Lines:
    """The lines that each of our statements stands on."""

    def __init__(self, episode: Episode, pairs: dict[int, set[int]]) -> None:
        self.pairs = pairs
        self.of = {one.id: self._lines(one) for one in episode.decisions}
        self.of |= {one.id: self._lines(one) for one in episode.events}

    def _lines(self, one: Decision | Event) -> set[int]:
        own = {one.evidence.line, *one.evidence.also} if one.evidence else set()
        return own | {twin for line in own for twin in self.pairs.get(line, ())}

    def meets(self, identity: str, lines: set[int]) -> bool:
        wide = lines | {twin for line in lines for twin in self.pairs.get(line, ())}
        return bool(self.of[identity] & wide)


def score_decisions(episode: Episode, gold: dict[str, Any], lines: Lines, tally: Tally) -> None:
    spans = [(one, set(range(one["lines"][0], one["lines"][1] + 1))) for one in gold["decisions"]]
    for one, span in spans:
        if not one.get("doubtful"):
            hit = any(lines.of[ours.id] & span for ours in episode.decisions)
            tally.want(hit=hit, text=f"{one['lines']} {one['type']}: {one['what']}")
    for ours in episode.decisions:
        tally.give(
            right=any(lines.of[ours.id] & span for _, span in spans), text=f"{place(ours)} {ours.type}: {ours.chosen}"
        )


def score_failures(episode: Episode, gold: dict[str, Any], lines: Lines, tally: Tally) -> None:
    errors = [event for event in episode.events if event.type == "error"]
    spans = [(one, {one["line"], *one.get("also_lines", ())}) for one in gold["failures"]]
    for one, span in spans:
        if not one.get("doubtful"):
            hit = any(lines.meets(ours.id, span) for ours in errors)
            tally.want(hit=hit, text=f"[{one['line']}] {one['kind']}: {one['what']}")
    for ours in errors:
        tally.give(right=any(lines.meets(ours.id, span) for _, span in spans), text=f"{place(ours)} {ours.content}")


def score_fixes(episode: Episode, gold: dict[str, Any], lines: Lines, tally: Tally) -> None:
    for one in gold["fixes"]:
        failure = anchors(gold, one["failure_line"])
        hit = any(
            lines.meets(fix.error, failure)
            and any(lines.meets(change, set(one["fix_lines"])) for change in fix.changes)
            for fix in episode.fixes
        )
        tally.want(hit=hit, text=f"[{one['failure_line']}] fixed by {one['fix_lines']}")


def score_links(episode: Episode, gold: dict[str, Any], lines: Lines, tally: Tally) -> None:
    ours = [(link.reason, link.source, link.target) for link in episode.links]
    ours += [("fix", fix.error, change) for fix in episode.fixes for change in fix.changes]
    ours += [("fix", change, fix.verified_by) for fix in episode.fixes for change in fix.changes if fix.verified_by]
    for one in gold["links"]:
        if one["reason"] not in {"fix", "edit-test", "commit", "spawn"} or one.get("doubtful"):
            continue
        hit = any(
            reason == one["reason"]
            and lines.meets(a, anchors(gold, one["cause_line"]))
            and lines.meets(b, anchors(gold, one["effect_line"]))
            for reason, a, b in ours
        )
        tally.want(hit=hit, text=f"{one['reason']} {one['cause_line']} -> {one['effect_line']}: {one['what']}")
    for reason, a, b in ours:
        if reason in {"fix", "edit-test", "commit", "spawn"}:
            right = any(
                lines.meets(a, anchors(gold, one["cause_line"])) and lines.meets(b, anchors(gold, one["effect_line"]))
                for one in gold["links"]
            )
            tally.give(right=right, text=f"{reason} {sorted(lines.of[a])} -> {sorted(lines.of[b])}")


def anchors(gold: dict[str, Any], line: int) -> set[int]:
    """A line, and where it is a failure's also the other lines on which that may fairly stand."""
    also = [set(one.get("also_lines", ())) for one in gold["failures"] if one["line"] == line]
    return {line}.union(*also)


def place(one: Decision | Event) -> str:
    return f"[{one.evidence.line if one.evidence else '?'}]"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--misses", action="store_true", help="list what was missed and what was false")
    parser.add_argument("--corpus", type=Path, default=CORPUS)
    options = parser.parse_args()
    if options.corpus.name == REPORTS:
        from reports import report  # noqa: PLC0415  (which takes the tallies from here)

        report(CORPUS.parent / REPORTS, misses=options.misses)
        return
    gold = json.loads((options.corpus / "GOLD.json").read_text(encoding="utf-8"))
    tallies = {name: Tally() for name in ("decisions", "failures", "fixes", "links", "outcome")}
    for annotated in gold["sessions"]:
        log = options.corpus / "sessions" / f"{annotated['session']}.jsonl"
        (session,) = read_sessions(log)
        episode = extract(session)
        lines = Lines(episode, twins(log))
        score_decisions(episode, annotated, lines, tallies["decisions"])
        score_failures(episode, annotated, lines, tallies["failures"])
        score_fixes(episode, annotated, lines, tallies["fixes"])
        score_links(episode, annotated, lines, tallies["links"])
        hit = episode.outcome in {annotated["outcome"], *annotated.get("outcome_also", ())}
        tallies["outcome"].want(hit=hit, text=f"{annotated['session']}: {episode.outcome}, not {annotated['outcome']}")
    print(f"{len(gold['sessions'])} sessions, one annotator\n{'':<22}{'found of annotated':>20}{'right of ours':>20}")
    for name, tally in tallies.items():
        print(tally.row(name))
        if options.misses:
            print(
                "\n".join(
                    [*(f"    missed {text}" for text in tally.misses), *(f"    false  {text}" for text in tally.false)]
                )
            )


if __name__ == "__main__":
    main()
