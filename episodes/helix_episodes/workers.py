"""Work on all cores: results in the order of the tasks, in bounded memory, and no process left behind.

Workers are started anew and import what they need, because a fork copies locks in whatever state they are.
"""

from __future__ import annotations

import os
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

_Task = TypeVar("_Task")
_Result = TypeVar("_Result")
#: Tasks under way for each worker: one that it works on and one that waits for it.
_AHEAD = 2
#: More than any machine has cores.
MOST_WORKERS = 1024


def worker_count(amount: int, *, worth: int, asked: int | None) -> int:
    """How many processes to use for this much work: as many as asked for, or the cores, each with ``worth`` to do.

    ``worth`` is what takes clearly longer than starting a process; with less than two such parts there is one process,
    this one.
    """
    return max(1, min(asked or os.cpu_count() or 1, amount // worth))


def in_order(function: Callable[[_Task], _Result], tasks: Iterable[_Task], *, workers: int) -> Iterator[_Result]:
    """The results of a function of a module, in the order of the tasks; with one worker in this process.

    When the caller stops, or is interrupted, the workers end with the task that they have begun. An exception of a
    worker is raised here.
    """
    if workers == 1:
        yield from map(function, tasks)
        return
    from concurrent.futures import Future, ProcessPoolExecutor
    from multiprocessing import get_context

    pool = ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=_leave_interrupts_to_the_parent)
    waiting: deque[Future[_Result]] = deque()
    try:
        for task in tasks:
            waiting.append(pool.submit(function, task))
            if len(waiting) >= _AHEAD * workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _leave_interrupts_to_the_parent() -> None:
    """Ctrl-C reaches every process of a terminal; the parent ends the others."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
