"""Can a file made to hurt stop the memory? It is named, and hides no other."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from helix_cli.app import run
from own_memory import own_memory
from processes import write_logs
from thoroughness import few

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from helix_graph import Memory
    from session_script import Script

FIELDS = b'"id": "episode-bad", "session": "bad", "timestamp": null, "outcome": "unknown", "task": "t"'
HALF_A_CHARACTER = (
    rb'{"id": "episode-bad", "session": "bad", "timestamp": null, "outcome": "unknown", "task": "\ud800x"}'
)
#: What is in the file, and whether it is an episode all the same; None: the graph, which skips what it does not know,
#: takes it in, while the store, which keeps what it does not know, finds that it could not.
POISON = {
    "nested without end": (b'{"x": ' + b"[" * 200_000 + b"]" * 200_000 + b", " + FIELDS + b"}", False),
    "nested deeper than is written": (b'{"x": ' + b"[" * 500 + b"]" * 500 + b", " + FIELDS + b"}", True),
    "a number without end": (b'{"x": ' + b"9" * 5_000 + b", " + FIELDS + b"}", None),
    "an infinite number": (b'{"x": 1e999, ' + FIELDS + b"}", None),
    "no number": (b'{"x": NaN, ' + FIELDS + b"}", False),
    "doubled keys": (b'{"task": "first", ' + FIELDS + b"}", True),
    "half a character": (HALF_A_CHARACTER, False),
    "no text": (b'{"x": "\xff\xfe", ' + FIELDS + b"}", None),
    "half a file": (b'{"id": "episode-bad", "sess', False),
    "nothing": (b"", False),
    "NUL bytes": (bytes(4096), False),
    "another type": (b"[1, 2, 3]", False),
    "numbers for texts": (FIELDS.replace(b'"t"', b"7").join([b"{", b"}"]), False),
}


@pytest.fixture
def memory(tmp_path: Path, script: Callable[..., Script], monkeypatch: pytest.MonkeyPatch) -> Memory:
    memory = own_memory(tmp_path / "memory")
    memory.extract(write_logs(tmp_path / "logs", script, 2))
    monkeypatch.setenv("HELIX_DIR", str(memory.root))
    return memory


@pytest.mark.parametrize("name", few([*POISON], 2))
def test_a_poisoned_episode_is_named_and_hides_no_other(
    memory: Memory, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content, valid = POISON[name]
    bad = memory.root / "episodes" / "episode-bad.json"
    bad.write_bytes(content)
    bad.chmod(0o600)
    report = memory.graph.compile()
    assert memory.graph.status().episodes + len(report.skipped) == 3
    for arguments in (["episode", "list"], ["patterns"], ["anti-patterns"], ["status"], ["seen", "KeyError"]):
        assert run(arguments) == 0, arguments
    code = run(["doctor", "--json"])
    findings = json.loads(capsys.readouterr().out.rpartition("\n{\n")[2].join(["{\n", ""]))["findings"]
    if valid is not None:
        assert bool(report.skipped) is not valid
        assert {one["file"] for one in findings if one["kind"] == "unreadable episode"} == (
            set() if valid else {"episodes/episode-bad.json"}
        )
        assert code == (0 if valid else 1)
    assert run(["episode", "extract", str(tmp_path / "logs")]) == 0
    assert run(["forget", "--session", "bad"]) == 0
    assert not bad.exists()


@pytest.mark.parametrize("name", few([*POISON], 6))
def test_a_poisoned_line_of_a_log_is_named_and_hides_no_other(memory: Memory, name: str, tmp_path: Path) -> None:
    log = tmp_path / "logs" / "session-0.jsonl"
    poison = POISON[name][0].replace(b"\n", b" ")
    log.write_bytes(log.read_bytes() + poison + b"\n")
    report = memory.extract([log])
    assert [one.session for one in report.recorded] == ["session-0"]


def test_an_episode_that_cannot_be_written_is_a_sentence(memory: Memory, tmp_path: Path) -> None:
    path = memory.episodes.path_of("session-0")
    path.write_bytes(path.read_bytes().replace(b"{", b'{"x": ' + b"[" * 500 + b"]" * 500 + b", ", 1))
    log = tmp_path / "logs" / "session-0.jsonl"
    log.write_bytes(log.read_bytes() + log.read_bytes().splitlines(keepends=True)[-1])
    (failure,) = memory.extract([log]).failed
    assert "cannot be written as JSON" in failure.problem
