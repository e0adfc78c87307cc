"""Do several processes make the same graph as one, and what is left of them when something stops the compile?"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from helix_episodes import workers
from helix_graph import Memory
from helix_graph.graph import compile as compiling
from processes import PATIENCE, write_logs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from session_script import Script


@pytest.fixture
def memory(tmp_path: Path, script: Callable[..., Script], monkeypatch: pytest.MonkeyPatch) -> Memory:
    """Twelve sessions, and so little to do for a process that they are enough for three."""
    monkeypatch.setattr(compiling, "_WORTH_A_WORKER", 1)
    monkeypatch.setattr(compiling, "_FILES_AT_A_TIME", 2)
    memory = Memory.init(tmp_path / "project")
    memory.extract(write_logs(tmp_path / "logs", script, 12))
    (memory.root / "episodes" / "episode-bad.json").write_text("{")
    for path in (memory.root / "episodes").iterdir():
        os.utime(path, (1, 1))
    return memory


@pytest.mark.slow
def test_any_number_of_workers_makes_the_same_file(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    made: set[bytes] = set()
    started: list[int] = []
    in_order = workers.in_order
    steps: list[int] = []

    def counted(*tasks: Any, workers: int, joining: bool) -> Iterator[bytes]:  # noqa: ANN401  (passed on)
        started.append(workers)
        yield from in_order(*tasks, workers=workers, joining=joining)

    monkeypatch.setattr(compiling, "in_order", counted)
    for count in (1, 2, 3):
        memory.graph.path_of_file.unlink(missing_ok=True)
        report = memory.graph.compile(workers=count, progress=lambda done, *_: steps.append(done))
        assert (report.episodes_processed, len(report.skipped)) == (12, 1)
        made.add(memory.graph.path_of_file.read_bytes())
    assert (len(made), started, steps) == (1, [2, 3], [*range(13)] * 3)


COMPILES = "import sys, pathlib, helix_graph; helix_graph.Memory(pathlib.Path(sys.argv[1])).graph.compile()"


@pytest.mark.slow
def test_every_process_writes_the_same_bytes(tmp_path: Path, script: Callable[..., Script]) -> None:
    """Sets come in another order in each process; what several tests complained of is one."""
    fails = "".join(
        f"FAILED tests/test_cart.py::test_{name} - assert 3 == 4\n" for name in ("add", "sum", "tax", "sort")
    )
    work = script("one").prompt("Mend the cart").run("pytest", f"{fails}4 failed in 0.1s", code=1)
    memory = Memory.init(tmp_path / "project")
    memory.extract([work.write("shop/cart.py").run("pytest", "4 passed in 0.1s").save(tmp_path / "logs")])
    for path in (memory.root / "episodes").iterdir():
        os.utime(path, (1, 1))
    made: set[bytes] = set()
    for seed in ("1", "2", "3"):
        memory.graph.path_of_file.unlink(missing_ok=True)
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        subprocess.run([sys.executable, "-c", COMPILES, str(memory.root)], check=True, env=environment)
        made.add(memory.graph.path_of_file.read_bytes())
    assert len(made) == 1


def _fails_at_three(number: int) -> int:
    if number == 3:
        raise ValueError(f"no {number}")
    return number


@pytest.mark.parametrize("joining", [False, True])
def test_an_error_of_a_worker_arrives_after_what_came_before_it(joining: bool) -> None:  # noqa: FBT001  (a parameter)
    found: list[int] = []
    with pytest.raises(ValueError, match="no 3"):
        found.extend(workers.in_order(_fails_at_three, range(9), workers=2, joining=joining))
    assert found == [0, 1, 2]


def _slowly(number: int) -> tuple[int, int]:
    time.sleep(0.02)
    return number, os.getpid()


def test_a_process_that_joins_in_does_tasks_itself_and_their_order_stays() -> None:
    found = list(workers.in_order(_slowly, range(20), workers=2, joining=True))
    assert [number for number, _ in found] == [*range(20)]
    assert os.getpid() in {process for _, process in found}


WAITS = """
import os, sys, time
from helix_episodes.workers import in_order
def main():
    for one in in_order(time.sleep, [0.3] * 200, workers=2):
        print("one", flush=True)
if __name__ == "__main__":
    main()
"""


@pytest.mark.slow
def test_an_interrupt_ends_the_workers_too(tmp_path: Path) -> None:
    (tmp_path / "waits.py").write_text(WAITS)
    running = subprocess.Popen(
        [sys.executable, str(tmp_path / "waits.py")], stdout=subprocess.PIPE, stderr=subprocess.PIPE, process_group=0
    )
    assert running.stdout is not None
    assert running.stdout.readline() == b"one\n"
    os.killpg(running.pid, signal.SIGINT)  # as Ctrl-C in a terminal does
    _, complaint = running.communicate(timeout=PATIENCE)
    assert complaint.count(b"KeyboardInterrupt") == 1
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        try:
            os.killpg(running.pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    pytest.fail("a process of the group is still there")
