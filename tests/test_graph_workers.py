"""Do several processes make the same graph as one, and what is left of them when something stops the compile?"""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from helix_episodes import joint_work
from helix_episodes.errors import ProgramFailed
from helix_episodes.joint_work import Helpers
from helix_episodes.workers import in_order
from helix_graph import Memory
from helix_graph.graph import compile as compiling
from helix_graph.graph import source_files
from helix_graph.graph.file_stamps import stamps
from processes import PATIENCE, write_logs
from thoroughness import few

if TYPE_CHECKING:
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
    steps: list[int] = []

    class Counted(Helpers[Any, Any]):
        def __init__(self, function: Callable[[Any], Any], count: int) -> None:
            started.append(count)
            super().__init__(function, count)

    monkeypatch.setattr(joint_work, "Helpers", Counted)
    for count in (1, 2, 3):
        memory.graph.path_of_file.unlink(missing_ok=True)
        report = memory.graph.compile(workers=count, progress=lambda done, *_: steps.append(done))
        assert (report.episodes_processed, len(report.skipped)) == (12, 1)
        made.add(memory.graph.path_of_file.read_bytes())
    assert (len(made), started, steps) == (1, [1, 2], [*range(13)] * 3)
    for path in (memory.root / "episodes").iterdir():
        path.write_bytes(path.read_bytes() + b"\n")  # all files of a graph that is there have changed
    assert memory.graph.compile(workers=2).episodes_processed == 12
    assert started == [1, 2, 1]


@pytest.mark.parametrize("python", [sys.executable, "/bin/false", "/nowhere/python"])
def test_two_processes_that_look_for_changes_find_those_that_one_does(
    memory: Memory, python: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether the second one works, fails, or cannot be started."""
    monkeypatch.setattr(source_files, "_WORTH_A_PROCESS", 1)
    monkeypatch.setattr(sys, "executable", python)
    monkeypatch.setattr(compiling, "_WORTH_A_WORKER", 1 << 40)  # one process reads
    memory.graph.compile(workers=2)
    files = sorted((memory.root / "episodes").glob("episode-*.json"))
    asked: list[str | None] = []

    def noted(folder: str, *, prefix: str, suffix: str, between: str | None) -> set[str]:
        asked.append(between)
        return stamps(folder, prefix=prefix, suffix=suffix, between=between)

    monkeypatch.setattr(source_files, "stamps", noted)
    assert memory.graph.compile(workers=2).episodes_processed == 0
    changed, gone = [files[1], files[-2]], [files[2], files[-3]]
    for path in changed:
        path.write_bytes(path.read_bytes() + b"\n")
    for path in gone:
        path.unlink()
    report = memory.graph.compile(workers=2)
    assert (report.episodes_processed, report.retracted, report.unchanged) == (2, 2, 8)
    assert memory.graph.compile(workers=1).episodes_processed == 0
    assert [between in {path.name for path in files} for between in asked] == [True, True, False]


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


InOrder = Callable[[Callable[[Any], Any], Iterable[Any]], Iterator[Any]]
POOL: InOrder = partial(in_order, workers=2)


def _with_helper(function: Callable[[Any], Any], tasks: Iterable[Any]) -> Iterator[Any]:
    return Helpers(function, 1).in_order(tasks)


def _until_another_process(done: list[tuple[int, int]]) -> Iterator[int]:
    """Numbers, until something was done by another process; it has to start first."""
    deadline = time.monotonic() + PATIENCE
    for number in itertools.count():
        if {process for _, process in done} - {os.getpid()} or time.monotonic() > deadline:
            return
        yield number


@pytest.mark.parametrize("work", few([POOL, _with_helper], 1))
def test_an_error_arrives_after_what_came_before_it(work: InOrder) -> None:
    found: list[int] = []
    with pytest.raises(ValueError, match="no 3"):
        found.extend(work(_fails_at_three, range(9)))
    assert found == [0, 1, 2]


def _slowly(number: int) -> tuple[int, int]:
    time.sleep(0.02)
    return number, os.getpid()


def test_this_process_does_tasks_beside_its_helper_and_their_order_stays() -> None:
    done: list[tuple[int, int]] = []
    for one in _with_helper(_slowly, _until_another_process(done)):
        done.append(one)  # noqa: PERF402  (the tasks look at what is done)
    assert [number for number, _ in done] == [*range(len(done))]
    assert len({process for _, process in done}) == 2


def _refused_elsewhere(task: tuple[int, int]) -> tuple[int, int]:
    number, here = task
    if os.getpid() != here:
        raise ValueError(f"no {number}")
    time.sleep(0.02)
    return task


@pytest.mark.slow
def test_an_error_of_a_helper_arrives_with_where_it_was() -> None:
    here = os.getpid()
    found: list[tuple[int, int]] = []
    with pytest.raises(ValueError, match="no ") as raised:
        found.extend(_with_helper(_refused_elsewhere, ((number, here) for number in range(10_000))))
    assert [number for number, _ in found] == [*range(len(found))]
    assert str(raised.value) == f"no {len(found)}"
    assert "_refused_elsewhere" in "".join(raised.value.__notes__)


def _large(task: bytes) -> tuple[bytes, int]:
    return 3 * task, os.getpid()


@pytest.mark.slow
def test_tasks_and_results_may_be_larger_than_what_a_pipe_holds() -> None:
    done: list[tuple[int, int]] = []
    tasks = (bytes([number % 256]) * 1_000_000 for number in _until_another_process(done))
    for result, process in _with_helper(_large, tasks):
        assert result == bytes([len(done) % 256]) * 3_000_000
        done.append((len(done), process))
    assert len({process for _, process in done}) == 2


def _ends_elsewhere(here: int) -> int:
    if os.getpid() != here:
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.02)
    return here


@pytest.mark.slow
def test_a_helper_that_is_killed_is_an_error_with_a_way_out() -> None:
    with pytest.raises(ProgramFailed, match="--workers 1"):
        list(_with_helper(_ends_elsewhere, [os.getpid()] * 10_000))


WAITS = """
import os, sys, time
from helix_episodes.joint_work import Helpers
from helix_episodes.workers import in_order
def main():
    work = in_order(time.sleep, [0.3] * 200, workers=2)
    if "helpers" in sys.argv:
        work = Helpers(time.sleep, 2).in_order([0.3] * 200)
    for one in work:
        print("one", flush=True)
if __name__ == "__main__":
    main()
"""


@pytest.mark.slow
@pytest.mark.parametrize("how", ["pool", "helpers"])
def test_an_interrupt_ends_the_workers_too(tmp_path: Path, how: str) -> None:
    (tmp_path / "waits.py").write_text(WAITS)
    running = subprocess.Popen(
        [sys.executable, str(tmp_path / "waits.py"), how],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        process_group=0,
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
