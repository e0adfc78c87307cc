"""Work on all cores: results in the order of the tasks, in bounded memory, and no process left behind.

Workers are started anew and import what they need, because a fork copies locks in whatever state they are.
"""

from __future__ import annotations

import atexit
import gc
import os
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Generic, TypeVar

from helix_episodes.errors import ProgramFailed

if TYPE_CHECKING:
    from concurrent.futures import Future, ProcessPoolExecutor

_Task = TypeVar("_Task")
_Result = TypeVar("_Result")
#: Tasks under way for each worker: one that it works on and one that waits for it.
_AHEAD = 2
#: Python looks for cycles after so many new objects, some 5 MB, instead of 700.
_ALLOCATIONS = 50_000
#: With it, Python leaves the current folder out of where it looks for modules.
_SAFE_PATH = "PYTHONSAFEPATH"
#: More than any machine has cores.
MOST_WORKERS = 1024


def worker_count(amount: int, *, worth: int, asked: int | None) -> int:
    """How many processes to use for this much work: as many as asked for, or the cores, each with ``worth`` to do.

    ``worth`` is what takes clearly longer than starting a process; with less than two such parts there is one process,
    this one.
    """
    return max(1, min(asked or os.cpu_count() or 1, amount // worth))


class OrderedWork(Generic[_Task, _Result]):
    """Runs a function of a module on one task after the other; the results come in the order of the tasks.

    With one worker that is this process. `close` ends the workers with the task that they have begun. Where this
    process can do tasks itself, beside what it does with the results, see `helix_episodes.joint_work`.
    """

    def __init__(self, function: Callable[[_Task], _Result], *, workers: int) -> None:
        self._function = function
        self._workers = workers
        self._pool: ProcessPoolExecutor | None = None
        self._waiting: deque[Future[_Result]] = deque()

    def begin(self, task: _Task) -> Iterator[_Result]:
        """Hands a task to a worker, and gives the results that are due. An exception of a worker is raised here."""
        if self._workers == 1:
            yield self._function(task)
            return
        with safe_path(), _whole_pool():  # a pool starts a process when it has something for it to do
            self._waiting.append(self._started().submit(self._function, task))
        if len(self._waiting) >= _AHEAD * self._workers:
            yield _result(self._waiting.popleft())

    def rest(self) -> Iterator[_Result]:
        """The results of all tasks that are under way; raises as `begin` does."""
        while self._waiting:
            yield _result(self._waiting.popleft())

    def close(self) -> None:
        """Ends the workers; what they were given and have not begun is not done."""
        if self._pool:
            self._pool.shutdown(wait=True, cancel_futures=True)

    def _started(self) -> ProcessPoolExecutor:
        if self._pool is None:
            from concurrent.futures import ProcessPoolExecutor
            from multiprocessing import get_context

            self._pool = ProcessPoolExecutor(self._workers, mp_context=get_context("spawn"), initializer=begin_worker)
        return self._pool


@contextmanager
def safe_path() -> Iterator[None]:
    """Within, a new Python does not look for modules in the current folder: a clone could bring its own there."""
    before = os.environ.get(_SAFE_PATH)
    os.environ[_SAFE_PATH] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[_SAFE_PATH]
        else:
            os.environ[_SAFE_PATH] = before


@contextmanager
def ended_from_outside(*signs: type[Exception]) -> Iterator[None]:
    """Within, these exceptions mean that a process that helped is gone.

    Raises:
        ProgramFailed: One of them came.
    """
    try:
        yield
    except signs as error:
        raise ProgramFailed(
            "a process that helped was ended from outside (was there no memory left?); what is finished is kept, and "
            "the same command goes on from there (`--workers 1` needs the least memory)"
        ) from error


@contextmanager
def _whole_pool() -> Iterator[None]:
    from concurrent.futures import BrokenExecutor

    with ended_from_outside(BrokenExecutor):
        yield


def _result(future: Future[_Result]) -> _Result:
    with _whole_pool():
        return future.result()


def in_parts(items: Iterable[_Task], size: int) -> Iterator[tuple[_Task, ...]]:
    """The items, so many at a time."""
    left = iter(items)
    while part := tuple(islice(left, size)):
        yield part


def in_order(function: Callable[[_Task], _Result], tasks: Iterable[_Task], *, workers: int) -> Iterator[_Result]:
    """The results of a function of a module, in the order of the tasks; with one worker in this process.

    When the caller stops, or is interrupted, the workers end with the task that they have begun. An exception of a
    worker is raised here.
    """
    with closing(OrderedWork(function, workers=workers)) as work:
        for task in tasks:
            yield from work.begin(task)
        yield from work.rest()


@contextmanager
def collecting_rarely() -> Iterator[None]:
    """Within, Python looks for reference cycles seldom: values from files have none, and there are very many."""
    before = gc.get_threshold()
    gc.set_threshold(_ALLOCATIONS, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


def begin_worker() -> None:
    """Ctrl-C reaches every process of a terminal, and the parent ends the others; see `collecting_rarely`.

    A worker ends without taking apart what it remembers, which the parent would wait for: up to a sixth of a second.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.set_threshold(_ALLOCATIONS)
    atexit.register(os._exit, 0)
