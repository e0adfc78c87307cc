"""How well episodes agree with a careful reader, by line, on the six annotated Claude Code logs.

    python benchmarks/extraction.py [--misses] [--reasons] [--corpus DIR | ai-agents] [--set second|third|fourth]

``--corpus ai-agents`` scores the reports of that corpus instead, by the rule that `reports` states. ``--set second``
puts a second set beside it: eight logs more (four reports), chosen by hash and annotated by a reader who had seen
neither the rules of extraction nor their output, so the difference is what the rules owe to tuning. It adds what
`unflagged` counts. ``--corpus ai-agents --set third`` puts eight reports more beside both, annotated in the same way by
another reader when the rules had been mended on the second set; ``--set fourth`` six more, annotated when they had been
mended on the third.

Rule. A call and its own result stand for each other. An annotated decision is *found* when one of ours has a call
whose line lies between its first and last line; one of ours is *right* when it lies in an annotated decision. An
annotated failure is found when one of our error events stands on its line or on one of its ``also_lines``, and so it is
in fixes and links. A fix is
found when its failure is and at least one of its changes stands on one of the annotated ``fix_lines``. A link (fix,
edit-test, commit, spawn) is found when both its lines are those of one of ours with that reason, and one of ours is
right when the annotator joins these lines, for whatever reason. Items the annotator
calls doubtful count neither as missed nor as false. n stands beside every figure; ``--misses`` lists what was missed
and what was false. ``--reasons`` prints of how many links with each reason the annotators join the lines, over all sets
together, and how many outcomes they share: what the weights of edges are made of (`helix_graph.graph.episode_facts`).
They join no call with its result.

Each set has one annotator, so there is no agreement between annotators to compare with.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lines import Lines, twins
from reports import report
from tallies import CORPORA, SETS, Tally, annotation_files, print_table
from unflagged import print_agreement

from helix_episodes.extraction.pipeline import extract
from helix_episodes.readers import read_sessions

if TYPE_CHECKING:
    from collections.abc import Iterable

    from helix_episodes.model import Decision, Episode, Event

CORPUS = CORPORA / "claude-code"
#: The corpus of reports, in which there are no lines to go by.
REPORTS = "ai-agents"


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


def joined(golds: Iterable[dict[str, Any]], corpus: Path) -> dict[str, Tally]:
    """Our links by reason, right where an annotator joins their lines; outcomes where the annotator has the same."""
    tallies: defaultdict[str, Tally] = defaultdict(Tally)
    for annotated in (session for gold in golds for session in gold["sessions"]):
        log = corpus / "sessions" / f"{annotated['session']}.jsonl"
        (session,) = read_sessions(log)
        episode = extract(session)
        lines = Lines(episode, twins(log))
        ours: list[tuple[str, str, str]] = [
            (link.reason, link.source, link.target) for link in episode.links if link.reason != "fix"
        ]
        ours += [("fix", fix.error, change) for fix in episode.fixes for change in fix.changes]
        for reason, a, b in ours:
            right = any(
                lines.meets(a, anchors(annotated, one["cause_line"]))
                and lines.meets(b, anchors(annotated, one["effect_line"]))
                for one in annotated["links"]
            )
            tallies[reason].give(right=right, text=f"{reason} {sorted(lines.of[a])} -> {sorted(lines.of[b])}")
        agrees = episode.outcome in {annotated["outcome"], *annotated.get("outcome_also", ())}
        tallies["decided"].give(right=agrees, text=f"{annotated['session']}: {episode.outcome}")
    return tallies


def anchors(gold: dict[str, Any], line: int) -> set[int]:
    """A line, and where it is a failure's also the other lines on which that may fairly stand."""
    also = [set(one.get("also_lines", ())) for one in gold["failures"] if one["line"] == line]
    return {line}.union(*also)


def place(one: Decision | Event) -> str:
    return f"[{one.evidence.line if one.evidence else '?'}]"


def score(gold: dict[str, Any], corpus: Path) -> dict[str, Tally]:
    """The tallies of one annotated set of logs, by measure."""
    tallies = {name: Tally() for name in ("decisions", "failures", "fixes", "links", "outcome")}
    for annotated in gold["sessions"]:
        log = corpus / "sessions" / f"{annotated['session']}.jsonl"
        (session,) = read_sessions(log)
        episode = extract(session)
        lines = Lines(episode, twins(log))
        score_decisions(episode, annotated, lines, tallies["decisions"])
        score_failures(episode, annotated, lines, tallies["failures"])
        score_fixes(episode, annotated, lines, tallies["fixes"])
        score_links(episode, annotated, lines, tallies["links"])
        hit = episode.outcome in {annotated["outcome"], *annotated.get("outcome_also", ())}
        tallies["outcome"].want(hit=hit, text=f"{annotated['session']}: {episode.outcome}, not {annotated['outcome']}")
    return tallies


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--misses", action="store_true", help="list what was missed and what was false")
    parser.add_argument("--reasons", action="store_true", help="print how many links of each reason are right")
    parser.add_argument("--corpus", type=Path, default=CORPUS)
    parser.add_argument("--set", choices=SETS, default="first", help="this and the ones before it")
    options = parser.parse_args()
    if options.corpus.name == REPORTS:
        report(CORPORA / REPORTS, upto=options.set, misses=options.misses)
        return
    if options.set in {"third", "fourth"}:
        parser.error(f"the {options.set} set holds reports only: --corpus {REPORTS}")
    files = annotation_files(options.corpus, name="claude-code.json", upto=options.set)
    golds = {name: json.loads(file.read_text(encoding="utf-8")) for name, file in files.items()}
    print(
        ", ".join(f"{name}: {len(gold['sessions'])} sessions" for name, gold in golds.items()), "- one annotator each"
    )
    if options.reasons:
        for reason, tally in sorted(joined(golds.values(), options.corpus).items()):
            print(f"{reason:>10}  {tally.right} of {tally.given}")
        return
    print_table({name: score(gold, options.corpus) for name, gold in golds.items()}, misses=options.misses)
    if options.set == "second":
        print_agreement(options.corpus, misses=options.misses)


if __name__ == "__main__":
    main()
