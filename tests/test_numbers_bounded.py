"""Does a number that is too large for a database, or a log's order, stay the affair of the file that holds it?"""

from __future__ import annotations

import base64
import json
from random import Random
from typing import TYPE_CHECKING

import pytest

from helix_episodes.errors import InvalidEpisode
from helix_episodes.store import decode_episode, encode_episode
from helix_graph import Memory
from processes import write_logs
from thoroughness import few

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from session_script import Script

TOO_LARGE = 1 << 63


@pytest.fixture
def memory(script: Callable[..., Script], tmp_path: Path) -> Memory:
    memory = Memory(tmp_path / ".helix")
    memory.extract(write_logs(tmp_path / "logs", script, 3))
    memory.graph.compile()
    return memory


def poisoned(memory: Memory, number: float, *keys: str | int) -> Path:
    """The first session's file with a number put where the keys lead to."""
    path = memory.episodes.path_of("session-0")
    content = json.loads(path.read_bytes())
    inner = content
    for key in keys[:-1]:
        inner = inner[key]
    inner[keys[-1]] = number
    path.write_text(json.dumps(content))
    return path


PLACES: list[tuple[str | int, ...]] = [
    ("decisions", 0, "evidence", "line"),
    ("events", 0, "failed"),
    ("metrics", "tool_calls"),
    ("provenance", "bytes"),
]


@pytest.mark.parametrize("number", few([TOO_LARGE, -1, 1 << 64, 10**400], 2), ids=["2**63", "-1", "2**64", "10**400"])
@pytest.mark.parametrize("keys", PLACES, ids=str)
def test_an_episode_with_one_is_a_clear_error_and_the_rest_goes_on(
    memory: Memory, keys: tuple[str | int, ...], number: int
) -> None:
    path = poisoned(memory, number, *keys)
    report = memory.graph.compile()
    assert [one.path for one in report.skipped] == [str(path)]
    assert memory.graph.status().episodes == 2
    kinds = {(one.kind, one.file) for one in memory.doctor().findings if one.severity == "fault"}
    assert kinds == {("unreadable episode", "episodes/episode-session-0.json")}
    with pytest.raises(InvalidEpisode):
        memory.episodes.require("session-0")


def test_a_session_with_one_is_forgotten_whole(memory: Memory) -> None:
    poisoned(memory, TOO_LARGE, "decisions", 0, "evidence", "line")
    report = memory.forget(["session-0"])
    assert report.proof is not None
    assert report.proof.whole
    assert memory.graph.status().episodes == 2


def test_a_share_is_at_most_one(memory: Memory) -> None:
    path = poisoned(memory, 1e300, "fixes", 0, "share")
    assert [one.path for one in memory.graph.compile().skipped] == [str(path)]


@pytest.mark.parametrize(
    "said",
    ["99999999999999999999 passed in 0.1s", "1 failed, 99999999999999999999 passed in 0.1s", "9" * 5000 + " passed"],
    ids=["passed", "failed", "digits"],
)
def test_a_test_output_with_one_does_not_lose_its_session(
    memory: Memory, script: Callable[..., Script], tmp_path: Path, said: str
) -> None:
    log = script("huge").prompt("Run the tests").run("pytest -q", said).save(tmp_path / "more")
    report = memory.extract([log])
    assert ([one.session for one in report.recorded], report.failed) == (["huge"], ())
    episode = memory.episodes.require("huge")
    assert [event.passed for event in episode.events] in ([None], [])
    assert decode_episode(encode_episode(episode)) == episode


def test_an_id_with_a_separator_is_named_by_the_doctor(memory: Memory) -> None:
    path = memory.episodes.path_of("session-0")
    content = json.loads(path.read_bytes())
    other = path.with_name("episode-x.json")
    other.write_text(json.dumps({**content, "id": "episode-../../../evil9", "session": "../../../evil9"}))
    named = [(one.kind, one.file) for one in memory.doctor().findings if one.severity == "fault"]
    assert ("misnamed episode", "episodes/episode-x.json") in named
    assert memory.doctor(fix=True).healthy
    assert not other.exists()
    assert len(memory.episodes.list()) == 3


def test_what_a_log_with_one_id_twice_yields_is_no_fault(
    memory: Memory, script: Callable[..., Script], tmp_path: Path
) -> None:
    """The result of the second call stands before it, as in a log that somebody has shortened."""
    log = script("twice").prompt("List").run("make all", "make: *** [all] Error 2", code=2).save(tmp_path / "more")
    lines = log.read_text().splitlines()
    call, result = lines[-2:]
    log.write_text("\n".join([*lines[:-2], result, call, result]) + "\n")
    assert memory.extract([log]).recorded
    memory.graph.compile()
    assert [one for one in memory.doctor().findings if one.severity == "fault" and "twice" in one.file] == []


@pytest.mark.parametrize("tokens", [-50, 10**30, True, "7"])
def test_a_count_that_is_none_does_not_lose_its_session(
    memory: Memory, script: Callable[..., Script], tmp_path: Path, tokens: object
) -> None:
    log = script("odd").prompt("Fix").run("pytest -q", "E   KeyError: 'sku'\n1 failed in 0.1s", code=1)
    path = log.run("pytest -q", "1 passed in 0.1s").save(tmp_path / "more")
    records = [json.loads(line) for line in path.read_text().splitlines()]
    for record in records:
        if record["type"] == "assistant":
            record["message"]["usage"] = {"input_tokens": tokens, "output_tokens": 5}
    path.write_text("\n".join(map(json.dumps, records)) + "\n")
    assert memory.extract([path]).failed == ()
    memory.graph.compile()
    assert memory.episodes.require("odd").metrics.tokens in {10, 12}
    assert [one for one in memory.doctor().findings if one.severity == "fault"] == []


def test_the_beginning_of_a_long_run_of_data_is_no_fault(
    memory: Memory, script: Callable[..., Script], tmp_path: Path
) -> None:
    """The whole of a picture is no secret; what a quotation keeps of it looks like one."""
    data = base64.b64encode(Random(1).randbytes(6000)).decode()  # noqa: S311  (no secret)
    said = f"FAILED tests/test_a.py::test_a - ValueError: {data}\n1 failed in 0.5s"
    path = script("data").prompt("Fix").run("pytest -q", said, code=1).run("pytest -q", "1 passed in 0.1s")
    assert memory.extract([path.save(tmp_path / "more")]).recorded
    memory.graph.compile()
    assert [one for one in memory.doctor().findings if one.severity == "fault"] == []
