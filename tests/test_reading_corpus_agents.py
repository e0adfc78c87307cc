"""Do the readers of other agents hold on logs that those wrote? From ``../shared/corpora``, where present."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from helix_episodes.errors import LogNotReadable
from helix_episodes.extraction.pipeline import extract
from helix_episodes.readers import find_logs, find_reader, read_sessions
from helix_episodes.verification import verify
from thoroughness import examples, few

if TYPE_CHECKING:
    from helix_episodes.session import Session

CORPORA = Path(__file__).parents[2] / "shared" / "corpora"
TAU = CORPORA / "tau-bench" / "gpt-4o-airline-tasks-0-24.json"
CODEX = CORPORA / "agent-transcripts" / "stage0" / "agents" / "codex"
FOLDERS = {
    "swe-agent": (CORPORA / "trajectories" / "swe-agent", 22),
    "mini-swe-agent": (CORPORA / "trajectories" / "mini-swe-agent", 2),
    "openhands": (CORPORA / "trajectories" / "openhands", 4),
    "tau-bench": (CORPORA / "tau-bench", 100),
    "who-and-when": (CORPORA / "who-and-when", 101),
    "codex": (CODEX, 3),
}

pytestmark = [
    pytest.mark.corpus,
    pytest.mark.skipif(not CORPORA.is_dir(), reason=f"the real logs are not at {CORPORA}"),
]


@cache
def sessions(reader: str) -> tuple[tuple[Path, Session], ...]:
    folder, _ = FOLDERS[reader]
    found = tuple((log, session) for log in find_logs(folder) for session in read_sessions(log))
    assert found
    return found


@pytest.mark.parametrize("reader", few([*FOLDERS], 2))
def test_every_log_is_found_and_read_by_its_own_reader(reader: str) -> None:
    found = sessions(reader)
    assert {session.reader for _, session in found} == {reader}
    assert len({session.id for _, session in found}) == len(found) == FOLDERS[reader][1]


@pytest.mark.parametrize("reader", FOLDERS)
def test_nothing_in_them_is_of_an_unknown_type_or_unreadable(reader: str) -> None:
    for log, session in sessions(reader):
        assert (session.accounting.unknown, session.accounting.bad) == ({}, ()), log


@cache
def loaded(log: Path) -> Any:  # noqa: ANN401  (JSON can be anything)
    return json.loads(log.read_bytes())


def records(reader: str, log: Path, session: Session) -> int:
    """How many records of the session the log has, counted without the reader."""
    if reader == "codex":
        return len(log.read_bytes().splitlines())
    document = loaded(log)
    if reader == "tau-bench":
        run = next(one for one in document if session.id.endswith(f"-task-{one['task_id']}-trial-{one['trial']}"))
        return len(run["traj"])
    if isinstance(document, list):
        return len(document)
    return len(document.get("history", [])) + len(document.get("trajectory", []))


@pytest.mark.parametrize("reader", FOLDERS)
def test_every_record_is_accounted_for(reader: str) -> None:
    for log, session in sessions(reader):
        assert session.accounting.lines == records(reader, log, session), log


@pytest.mark.parametrize("reader", FOLDERS)
def test_every_result_belongs_to_a_call_and_no_call_has_two(reader: str) -> None:
    for log, session in sessions(reader):
        # Codex's fixtures are cut: every id in them has been replaced by the same words.
        steps = [step for step in session.steps if step.call_id and not step.call_id.startswith("[")]
        called = [step.call_id for step in steps if step.kind == "call"]
        answered = [step.call_id for step in steps if step.kind == "result"]
        assert len(set(called)) == len(called), log
        assert len(set(answered)) == len(answered), log
        assert set(answered) <= set(called), log


@pytest.mark.parametrize("reader", few([*FOLDERS], 2))
def test_quotations_stand_on_the_lines_that_they_name(reader: str) -> None:
    # One session of each log, and no more than a dozen: the whole log is looked through for each.
    logs = dict(reversed(sessions(reader)))
    checked = [one for log, session in sorted(logs.items())[: examples(12)] for one in verify(extract(session), log)]
    wrong = [one for one in checked if one.result in {"moved", "missing"}]
    assert wrong == []


@pytest.mark.slow
def test_all_100_outcomes_are_as_rewarded() -> None:
    rewards = {(str(run["task_id"]), run["trial"]): run["reward"] for run in json.loads(TAU.read_bytes())}
    judged = [extract(session) for _, session in sessions("tau-bench")]
    assert {one.outcome_basis for one in judged} == {"rewarded"}
    by_task = {(one.task_id, int(one.session.rpartition("-")[2])): one.outcome for one in judged}
    assert by_task == {key: "success" if reward == 1 else "failure" for key, reward in rewards.items()}


@pytest.mark.slow
def test_all_101_judged_runs_are_failures_and_know_nothing_of_the_verdict() -> None:
    for log, session in sessions("who-and-when"):
        episode = extract(session)
        assert (episode.outcome, episode.outcome_basis) == ("failure", "rewarded")
        run: dict[str, Any] = json.loads(log.read_bytes())
        # A judge's words may be short enough to stand in the chat by themselves; long ones could only be copied.
        reason = run["mistake_reason"].encode()
        assert len(reason) < 30 or reason not in msgspec.json.encode(episode) + msgspec.json.encode(session), log


@pytest.mark.parametrize("name", ["codex_050_legacy", "codex_051_usage", "codex_052_raw"])
def test_rollouts_without_a_step_are_refused_with_a_sentence(name: str) -> None:
    log = CORPORA / "agent-transcripts" / f"{name}.jsonl"
    assert find_reader(log).name == "codex"
    with pytest.raises(LogNotReadable, match="contains no session"):
        read_sessions(log)
