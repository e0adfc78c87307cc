"""Do the verdicts hold against real logs and what a careful reader found in six of them?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from helix_episodes.extraction.checks import Verdict, read_verdicts
from helix_episodes.extraction.shell.commands import parse_command

if TYPE_CHECKING:
    from collections.abc import Iterator

CORPUS = Path(__file__).parents[2] / "shared" / "corpora" / "claude-code"
pytestmark = [
    pytest.mark.corpus,
    pytest.mark.skipif(not CORPUS.is_dir(), reason=f"the real logs are not here: {CORPUS}"),
]


def blocks(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
        try:
            content = (json.loads(line).get("message") or {}).get("content")
        except json.JSONDecodeError:
            continue
        if isinstance(content, list):
            yield from ((number, block) for block in content)


def commands(path: Path) -> Iterator[tuple[int, str, str, str]]:
    """Line of the result, command, output and status of each shell command."""
    typed: dict[str, str] = {}
    for number, block in blocks(path):
        if block["type"] == "tool_use" and block["name"] == "Bash":
            typed[block["id"]] = block["input"].get("command", "")
        elif block["type"] == "tool_result" and block["tool_use_id"] in typed:
            content = block["content"]
            output = content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content)
            refused = "doesn't want to proceed" in output or "Sibling tool call errored" in output
            status = "rejected" if refused else "error" if block.get("is_error") else "ok"
            yield number, typed[block["tool_use_id"]], output, status


def verdicts(path: Path) -> Iterator[tuple[int, tuple[Verdict, ...]]]:
    for number, command, output, status in commands(path):
        yield number, read_verdicts(parse_command(command), output=output, exit_code=None, status=status)


def test_every_test_and_check_of_the_gold_is_found_with_its_verdict() -> None:
    wrong: list[str] = []
    seen = 0
    for session in json.loads((CORPUS / "GOLD.json").read_text())["sessions"]:
        found = dict(verdicts(next((CORPUS / "sessions").glob(f"{session['session']}*.jsonl"))))
        sure = [test for test in session["tests"] if not test.get("doubtful")]
        expected = [(test["line"], "test", not test["failed"], test["passed"]) for test in sure]
        expected += [(check["line"], check["kind"], check["ok"], None) for check in session["checks"]]
        for line, kind, passed, count in expected:
            if kind == "diagnostics":  # a tool of the editor, not a command
                continue
            seen += 1
            match = [one for one in found.get(line, ()) if one.kind == kind and one.passed is passed]
            if not match or (count is not None and match[0].passed_count != count):
                wrong.append(f"{session['session'][:8]}:{line} {kind} {passed} {count} {found.get(line)}")
    assert seen > 15
    assert not wrong


@pytest.mark.slow
def test_hardly_anything_is_left_undecided() -> None:
    judged = [
        one for path in sorted((CORPUS / "sessions").glob("*.jsonl")) for _, some in verdicts(path) for one in some
    ]
    undecided = [one for one in judged if one.passed is None]
    # Read by hand: of 367 checks one was piped into a grep that left nothing, and two found no tests to run.
    assert len(judged) > 300
    assert len(undecided) <= 3
    failed = [one for one in judged if one.passed is False]
    assert all(one.findings for one in failed)
    named = [found for one in failed for found in one.findings if not found.generic]
    assert len(named) >= 40
