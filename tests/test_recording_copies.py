"""Are copied messages told from messages that merely bear the same number?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from helix_episodes.ingest import record
from helix_episodes.readers import find_logs
from helix_episodes.store import EpisodeStore

if TYPE_CHECKING:
    from pathlib import Path

    from helix_episodes.ingest import RecordedSession


def pi_log(folder: Path, name: str, *, minute: int, words: str, copied: list[dict[str, Any]] | None = None) -> Path:
    """A log of the agent pi, whose messages are numbered; ``copied`` records of another session go before its own."""
    folder.mkdir(parents=True, exist_ok=True)
    before = copied or []
    started = before[0]["timestamp"] if before else f"2026-03-02T09:{minute:02d}:00Z"
    head = {"type": "session", "id": name, "version": 3, "timestamp": started, "cwd": "/work/shop"}
    lines = [head, *before[1:]]
    edit = {
        "type": "toolCall",
        "id": f"t{minute}",
        "name": "edit_file",
        "arguments": {"path": f"/work/shop/{words}.py"},
    }
    done = {"role": "toolResult", "toolCallId": f"t{minute}", "content": [{"type": "text", "text": "done"}]}
    check = {"type": "toolCall", "id": f"c{minute}", "name": "bash", "arguments": {"command": "pytest -q"}}
    passed = [{"type": "text", "text": f"{minute + 1} passed in 0.1s"}]
    checked = {"role": "toolResult", "toolCallId": f"c{minute}", "toolName": "bash", "content": passed}
    for place, message in enumerate(
        (
            {"role": "user", "content": [{"type": "text", "text": f"Mend the {words}"}]},
            {"role": "assistant", "content": [edit]},
            done,
            {"role": "assistant", "content": [check]},
            checked,
        ),
        len(lines),
    ):
        at = f"2026-03-02T09:{minute:02d}:{place:02d}Z"
        lines.append({"type": "message", "id": f"m{place}", "timestamp": at, "message": message})
    path = folder / f"{name}.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return path


def taken(store: Path, *logs: Path) -> dict[str, RecordedSession]:
    report = record(logs, EpisodeStore(store))
    assert report.failed == ()
    return {one.session: one for one in report.recorded}


def test_sessions_that_number_their_messages_alike_keep_all_of_theirs(tmp_path: Path) -> None:
    logs = [pi_log(tmp_path / "logs", f"s{n}", minute=n, words=words) for n, words in enumerate(("cart", "till"))]
    together = taken(tmp_path / "together", *logs)
    for log in logs:
        (alone,) = taken(tmp_path / f"alone-{log.stem}", log).values()
        assert together[log.stem].decisions == alone.decisions == 2
        assert together[log.stem].accounting == alone.accounting


@pytest.mark.parametrize("reverse", [False, True])
def test_a_resumed_session_is_known_by_its_words_and_its_lines_are_not_used(tmp_path: Path, *, reverse: bool) -> None:
    first = pi_log(tmp_path / "logs", "s1", minute=1, words="cart")
    copied = [json.loads(line) for line in first.read_text().splitlines()]
    second = pi_log(tmp_path / "logs", "s2", minute=2, words="till", copied=copied)
    found = taken(tmp_path / "store", *([second, first] if reverse else [first, second]))
    assert [found[name].decisions for name in ("s1", "s2")] == [2, 2]
    accounting = found["s2"].accounting
    assert accounting.skipped["copy of s1"] == len(copied) - 1
    columns = (accounting.used, *accounting.skipped.values(), *accounting.unknown.values(), accounting.blank)
    assert sum(columns) + len(accounting.bad) == accounting.lines


@pytest.mark.corpus
@pytest.mark.slow
def test_a_folder_of_many_agents_gives_what_each_log_gives_alone(tmp_path: Path, corpora: Path) -> None:
    logs = find_logs(corpora / "agent-transcripts" / "stage0" / "agents")
    assert logs
    store = tmp_path / "together"
    record(logs, EpisodeStore(store))
    together = {path.name: path.read_bytes() for path in store.iterdir()}
    for number, log in enumerate(logs):
        alone = tmp_path / str(number)
        record([log], EpisodeStore(alone))
        own = {path.name: path.read_bytes() for path in alone.iterdir()} if alone.is_dir() else {}
        assert own == {name: together.get(name) for name in own}, log.name
