"""What changed when a rule came, in the projects of the corpora: ``python benchmarks/rules/before_after.py [-v]``.

The projects' rule files in all their versions are held against their sessions as ``helix-graph rules`` does. Printed is
each bound rule that has sessions before and after it; with ``-v`` the sessions and lines that count against it, of the
logs that may be looked at.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from fnmatch import translate
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from sealed_sessions import is_sealed
from tallies import CORPORA

from helix_episodes.readers import find_logs
from helix_graph import Memory
from helix_graph.rules.ledger import Ledger
from helix_graph.rules.observance import acts_of
from helix_graph.rules.rule_files import PATTERNS, FileVersion, rules_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from helix_graph.rules.model import RuleRecord

#: Of these nobody looks at a log or at an answer.
SEALED = ("entireio__entire-graph", "savekirk__session-bridge")
_RULE_FILE = re.compile("|".join(f"(?:.*/)?(?:{translate(one.replace('/**', '/*'))})" for one in PATTERNS))


def projects() -> Iterator[tuple[Path, Path]]:
    """The versions of each project's rule files, and the folder of its logs."""
    for file in sorted((CORPORA / "agent-sessions" / "rules").glob("*.json")):
        if file.stem not in SEALED:
            yield file, CORPORA / "agent-sessions" / file.stem
    yield CORPORA / "claude-code" / "rules" / "entireio__cli.json", CORPORA / "claude-code" / "sessions"


def versions_of(file: Path) -> list[FileVersion]:
    """The versions of a project's rule files, the oldest first."""
    rows = [one for one in json.loads(file.read_bytes()) if _RULE_FILE.match(one["path"])]
    rows.sort(key=lambda one: (one["path"], one["date"]))
    return [FileVersion(one["path"], one["commit"], one["date"], one["text"]) for one in rows]


def ledger_of(file: Path, logs: Path, folder: Path) -> Ledger:
    """The rules of a project held against its sessions."""
    memory = Memory(folder)
    memory.extract(find_logs(logs))
    sessions = sorted((acts_of(one) for one in memory.episodes.list(max_results=None)), key=lambda one: one.at)
    return Ledger(rules_in(versions_of(file)), sessions, accepted={})


def line_of(record: RuleRecord) -> str:
    """A rule with its counts before and after."""
    rule, change = record.rule, record.change
    if change is None:
        return ""
    sides = " → ".join(
        f"{one.events} of {one.opportunities} ({one.sessions} sessions)" for one in (change.before, change.after)
    )
    ratio = "" if change.ratio is None else f", {change.ratio:.2f} times ({change.low:.2f} to {change.high or 999:.2f})"
    control = "" if change.control is None else f", other checks {change.control:.2f} times"
    return (
        f"{rule.id[:6]} {rule.since[:16]} {rule.spans[0].commit[:8]} {rule.spans[0].file}: {rule.text[:160]}\n"
        f"       {change.event} {sides}, {change.left_out} left out{ratio}{control}: {change.verdict}; "
        f"last {(change.last_seen or '-')[:16]}, quiet {change.quiet}, until {(rule.until or '-')[:16]}"
    )


def main() -> None:
    """Prints the rules of each project that have a before and an after."""
    for file, logs in projects():
        with tempfile.TemporaryDirectory() as folder:
            ledger = ledger_of(file, logs, Path(folder))
        records = ledger.records
        bound = [one for one in records if one.rule.binding is not None]
        compared = [one for one in bound if one.change is not None]
        print(
            f"\n{file.stem}: {ledger.size} sessions, {len(records)} rules, {len(bound)} bound, {len(compared)} compared"
        )
        for record in compared:
            print(f"  {line_of(record)}")
            if "-v" in sys.argv:
                for one in ledger.observations(record.rule):
                    if not is_sealed(Path(one.session)) and not is_sealed(Path(one.log or "")):
                        mark = "followed" if one.followed else "NOT"
                        print(f"       {one.at[:16]} {one.session[:12]}:{one.line} {mark} {one.what[:100]}")


if __name__ == "__main__":
    main()
