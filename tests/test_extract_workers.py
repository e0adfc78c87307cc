"""Do several processes read the same episodes out of logs as one, copies and damaged logs included?"""

from __future__ import annotations

import gc
import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest

from helix_episodes import ingest
from helix_episodes.errors import InvalidArgument, ProgramFailed
from helix_episodes.workers import in_order
from helix_graph import Memory
from processes import write_logs

if TYPE_CHECKING:
    from collections.abc import Callable

    from session_script import Script

REPORT = Path(__file__).parent / "fixtures" / "ai_agents" / "2026-03-02-session-7-export-totals.json"


@pytest.mark.slow
def test_any_number_of_workers_makes_the_same_episodes(
    tmp_path: Path, script: Callable[..., Script], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingest, "_WORTH_A_WORKER", 1)
    logs = tmp_path / "logs"
    write_logs(logs, script, 6)
    earlier = script("n-earlier").prompt("Add a cart").write("shop/cart.py").run("pytest", "1 passed in 0.1s")
    earlier.save(logs)
    for name in ("m-before", "o-after"):  # sessions that were resumed from it, one of them read before it
        script(name).prompt("And a discount").write("shop/discount.py").save(logs, copied=earlier.records)
    for name in (REPORT.name, "a-copy.json"):
        (logs / name).write_bytes(REPORT.read_bytes())
    (logs / "bad.jsonl").write_text("{\n")
    (logs / "session-1-resumed.jsonl").write_bytes((logs / "session-1.jsonl").read_bytes())
    made: set[tuple[tuple[str, bytes], ...]] = set()
    told: set[str] = set()
    for count in (1, 2, 3):
        memory = Memory.init(tmp_path / f"kept-{count}")
        done: list[int] = []
        report = memory.extract([logs], workers=count, progress=lambda place, *_, seen=done: seen.append(place))
        assert (len(report.written), len(report.failed), done) == (9, 1, [*range(13)])
        assert sum("a copy of what is recorded" in one.warnings[0] for one in report.unchanged if one.warnings) == 1
        made.add(tuple((path.name, path.read_bytes()) for path in memory.episodes.files()))
        told.add(str(msgspec.to_builtins(report)).replace(f"kept-{count}", "kept"))
    assert (len(made), len(told)) == (1, 1)


def test_reference_cycles_are_looked_for_seldom_while_logs_are_read(
    tmp_path: Path, script: Callable[..., Script]
) -> None:
    script("s1").prompt("Add a cart").write("shop/cart.py").save(tmp_path / "logs")
    before = gc.get_threshold()
    meanwhile: list[int] = []
    Memory.init(tmp_path / "kept").extract(
        [tmp_path / "logs"], progress=lambda *_: meanwhile.append(gc.get_threshold()[0])
    )
    assert meanwhile
    assert min(meanwhile) > 10 * before[0]
    assert gc.get_threshold() == before


def kill_itself(_: int) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.slow
def test_workers_run_no_module_of_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("multiprocessing", "concurrent", "signal", "json"):
        (tmp_path / f"{name}.py").write_text(f"import pathlib\npathlib.Path({str(tmp_path / 'ran')!r}).touch()\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    assert list(in_order(abs, [-1, -2, -3], workers=2)) == [1, 2, 3]
    assert not (tmp_path / "ran").exists()
    assert "PYTHONSAFEPATH" not in os.environ


@pytest.mark.slow
def test_a_worker_that_is_killed_is_an_error_with_a_way_out() -> None:
    with pytest.raises(ProgramFailed, match="--workers 1"):
        list(in_order(kill_itself, [1, 2, 3], workers=2))


@pytest.mark.parametrize("count", [0, -1, 10**6])
def test_a_number_of_processes_that_cannot_be_is_refused(tmp_path: Path, count: int) -> None:
    memory = Memory.init(tmp_path)
    with pytest.raises(InvalidArgument, match="workers"):
        memory.extract([tmp_path], workers=count)
