"""Do the readers hold on logs that agents really wrote? Read at test time from ``../shared/corpora``, where present."""

from __future__ import annotations

import json
import time
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from helix_episodes.errors import UnknownLogFormat
from helix_episodes.readers import find_logs, find_reader, read_sessions

if TYPE_CHECKING:
    from helix_episodes.session import Session, Status

CORPORA = Path(__file__).parents[2] / "shared" / "corpora"
CLAUDE_CODE = CORPORA / "claude-code"
AGENTS = CORPORA / "agent-transcripts" / "stage0" / "agents"

pytestmark = [
    pytest.mark.corpus,
    pytest.mark.skipif(not CORPORA.is_dir(), reason=f"the real logs are not at {CORPORA}"),
]


@cache
def sessions() -> dict[str, Session]:
    found = {path.stem: read_sessions(path)[0] for path in find_logs(CLAUDE_CODE / "sessions")}
    assert found
    return found


def gold() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((CLAUDE_CODE / "GOLD.json").read_text(encoding="utf-8"))["sessions"]
    assert found
    return found


@pytest.mark.slow
def test_all_81_sessions_are_read_under_their_own_id() -> None:
    assert len(sessions()) == 81
    assert all(session.id == name for name, session in sessions().items())


def test_every_line_is_accounted_for_and_none_is_of_an_unknown_type() -> None:
    for name, session in sessions().items():
        with (CLAUDE_CODE / "sessions" / f"{name}.jsonl").open("rb") as log:
            assert session.accounting.lines == sum(1 for _ in log), name
        assert session.accounting.unknown == {}, name


def test_the_one_unparsable_line_is_the_one_that_the_annotator_found() -> None:
    bad = {(name, line.line) for name, session in sessions().items() for line in session.accounting.bad}
    assert bad == {(found["session"], line) for found in gold() for line in found["bad_lines"]}


def test_calls_and_results_are_paired() -> None:
    unanswered: list[str] = []
    orphans: list[str] = []
    for session in sessions().values():
        called = [step.call_id for step in session.steps if step.kind == "call"]
        answered = [step.call_id for step in session.steps if step.kind == "result"]
        assert len(set(called)) == len(called)
        assert len(set(answered)) == len(answered)
        unanswered += [f"{session.id}:{call}" for call in called if call not in answered]
        orphans += [f"{session.id}:{call}" for call in answered if call not in called]
    # The unparsable line held one result; one log begins with the result of a call in the log before.
    assert len(unanswered) == 1
    assert unanswered[0].startswith("48f428f9")
    assert len(orphans) == 1
    assert orphans[0].startswith("47a78253")


def test_refusals_and_interruptions_stand_where_the_annotator_saw_them() -> None:
    for found in gold():
        steps = sessions()[found["session"]].steps
        refused: set[tuple[int, Status]] = {
            (step.source.line, step.status) for step in steps if step.status in ("rejected", "denied", "interrupted")
        }
        expected = {
            (entry["line"], entry["kind"]) for entry in found["denials_interruptions"] if not entry.get("artefact")
        }
        assert refused == expected, found["session"]


def test_nothing_the_program_wrote_is_taken_for_a_persons_words() -> None:
    for found in gold():
        prompts = {step.source.line for step in sessions()[found["session"]].steps if step.kind == "prompt"}
        wholly_injected = set(found["injected_lines"]) - set(found["injected_part_lines"])
        assert not prompts & wholly_injected, found["session"]
        verdicts = {verdict["line"] for verdict in found["user_verdicts"]}
        assert verdicts <= prompts, found["session"]


def test_each_failure_the_annotator_saw_has_a_step_and_none_is_excused_as_a_refusal() -> None:
    refusals = ("rejected", "denied", "interrupted", "cancelled")
    for found in gold():
        status_at = {step.source.line: step.status for step in sessions()[found["session"]].steps}
        lines = [failure["line"] for failure in found["failures"]]
        assert [line for line in lines if status_at[line] in refusals] == [], found["session"]


def test_no_reminder_is_left_in_what_was_said_or_seen() -> None:
    left = [
        f"{session.id}:{step.source.line}"
        for session in sessions().values()
        for step in session.steps
        if "<system-reminder>" in step.text and step.kind in ("prompt", "result")
    ]
    assert left == []


def test_reading_takes_little_longer_than_parsing() -> None:
    logs = sorted((CLAUDE_CODE / "sessions").iterdir(), key=lambda path: path.stat().st_size)[-5:]
    texts = [log.read_bytes() for log in logs]
    started = time.process_time()
    for text in texts:
        for line in text.splitlines():
            orjson.loads(line)
    parsed = time.process_time()
    for log in logs:
        read_sessions(log)
    # Measured at 5 to 8 times; both in one run, so that a busy machine makes no difference.
    assert time.process_time() - parsed < 25 * (parsed - started)


#: Shapes that no reader takes: why each is refused stands in docs/reference/formats.
REFUSED = {"gemini/schema_drift.json", "qwen/019f0000-0000-7000-8000-000000000005.jsonl"}
#: Record types that only a fixture made up, to see whether a reader stumbles.
MADE_UP = {"BROWSER_NAVIGATE", "compact"}


def other_logs() -> list[Path]:
    """The logs of other agents than Claude Code, without parts of sessions and files that lie beside logs."""
    agents = {path.name for path in AGENTS.iterdir()} - {"claude", "codex"}
    found = [path for agent in sorted(agents) for path in find_logs(AGENTS / agent)]
    assert found
    return [*found, *sorted((CORPORA / "agent-transcripts").glob("session_*.jsonl"))]


def test_every_agent_s_logs_are_found_and_read() -> None:
    read = {path: find_reader(path).name for path in other_logs() if _name(path) not in REFUSED}
    assert set(read.values()) == {
        *("antigravity", "chat", "copilot", "cursor", "droid", "gemini", "grok", "hermes", "kimi", "opencode"),
        *("pi", "qwen"),
    }
    assert len(read) == 42
    for path in read:
        assert all(session.steps for session in read_sessions(path)), path


def test_every_record_of_the_other_agents_is_accounted_for() -> None:
    for path in other_logs():
        if _name(path) in REFUSED:
            continue
        for session in read_sessions(path):
            assert set(session.accounting.unknown) <= MADE_UP, path
            assert session.accounting.bad == (), path
            if path.suffix == ".jsonl":
                assert session.accounting.lines == len(path.read_bytes().splitlines()), path


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_a_shape_that_is_not_plain_is_refused_with_a_sentence(name: str) -> None:
    with pytest.raises(UnknownLogFormat, match="no known log format"):
        find_reader(AGENTS / name)


def _name(path: Path) -> str:
    return path.relative_to(AGENTS).as_posix() if path.is_relative_to(AGENTS) else path.name


def test_the_small_logs_of_other_projects_are_read_too() -> None:
    folder = CORPORA / "agent-transcripts"
    logs = [*(folder / "claude-code").rglob("*.jsonl"), *(AGENTS / "claude").glob("*.jsonl")]
    # One project keeps logs of another agent here, and some of which only the token counts are left.
    logs = [log for log in logs if "ccusage" not in log.parent.name]
    read = [session for log in logs for session in read_sessions(log)]
    assert len(read) == len(logs) == 8
    assert all(session.steps for session in read)


def test_a_helpers_own_file_is_read_with_its_session() -> None:
    (log,) = find_logs(AGENTS / "claude" / "subagent")
    (session,) = read_sessions(log)
    assert [step.actor for step in session.steps if step.kind == "call"] == ["agent", "agent:a0ad4f44468bdf20d"]
