"""Work that this process does together with helpers: results in the order of the tasks, in bounded memory.

`helix_episodes.workers` leaves tasks to a pool, whose threads in this process hand them over and take the results.
Where this process has much to do itself, those threads wait for it, and the workers for them: for a fifth of a compile.
Here each helper has two pipes, which this process looks after between two pieces of its own work.

A helper gets its first task when it has started, since the result of that task is waited for before all later ones. It
may be ended at any moment, so its function must only read.
"""

from __future__ import annotations

import contextlib
import fcntl
import pickle
import signal
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from contextlib import ExitStack, closing, contextmanager
from multiprocessing import get_context, resource_tracker
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Generic, TypeVar

from helix_episodes.workers import begin_worker, ended_from_outside, safe_path

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

_Task = TypeVar("_Task")
_Result = TypeVar("_Result")
#: Tasks under way for each helper: it is looked after only between two tasks, or two results, of this process.
_AHEAD = 4
#: So many tasks for each process may be done, or under way, before the first of them is.
_KEPT = 16
#: A helper's tasks may wait in its pipe as long as they have so few bytes together: then writing one never waits for a
#: helper that is itself waiting for its results to be read. Every system's pipes hold more.
_MOST_UNREAD = 8192
#: So many bytes of results fit in a helper's pipe, where the system allows it: those of some tasks of a compile.
_ROOM_FOR_RESULTS = 1 << 20


class Helpers(Generic[_Task, _Result]):
    """Processes that start at once, for a function of a module; they end with `close`, or when the work is done."""

    def __init__(self, function: Callable[[_Task], _Result], count: int) -> None:
        self._function = function
        self._team: list[_Helper[_Task, _Result]] = []
        with ExitStack() as unless_all:
            unless_all.callback(self.close)
            for _ in range(count):
                self._team.append(_Helper(function))
            unless_all.pop_all()

    def in_order(self, tasks: Iterable[_Task]) -> Iterator[_Result]:
        """The results of the tasks, in their order; this process and the helpers do them.

        This process does a task itself where every helper has enough and no result is due. An exception is raised where
        its result would come.
        """
        waiting: deque[Future[_Result]] = deque()
        with closing(self):
            for task in tasks:
                while not (future := self._handed_over(task)):
                    if waiting and waiting[0].done():
                        yield waiting.popleft().result()
                    elif len(waiting) >= _KEPT * (len(self._team) + 1):
                        self._await_any()
                    else:
                        future = _done(self._function, task)
                        break
                waiting.append(future)
            while waiting:
                if waiting[0].done():
                    yield waiting.popleft().result()
                else:
                    self._await_any()

    def close(self) -> None:
        """Ends the processes, whatever they do."""
        for helper in self._team:
            helper.close()
        self._team.clear()

    def _handed_over(self, task: _Task) -> Future[_Result] | None:
        """What will be the result of a task that one of the helpers takes; None when all have enough to do."""
        for helper in self._team:
            helper.collect()
        return next((future for helper in self._team if (future := helper.take(task))), None)

    def _await_any(self) -> None:
        wait([helper.results for helper in self._team])
        for helper in self._team:
            helper.collect()


def _done(function: Callable[[_Task], _Result], task: _Task) -> Future[_Result]:
    """The result of a task that this process does; an exception waits for its turn as those of helpers do."""
    future: Future[_Result] = Future()
    try:
        future.set_result(function(task))
    except Exception as error:  # noqa: BLE001  (raised where the result is asked for)
        future.set_exception(error)
    return future


class _Helper(Generic[_Task, _Result]):
    """A process that does one task after the other, and says when it has started."""

    def __init__(self, function: Callable[[_Task], _Result]) -> None:
        context = get_context("spawn")
        theirs, self._tasks = context.Pipe(duplex=False)
        self.results, ours = context.Pipe(duplex=False)
        _widen(ours)
        self._process = context.Process(target=_help, args=(function, theirs, ours), daemon=True)
        with safe_path(), _interrupts_waiting():
            self._process.start()
        theirs.close()  # the other ends are the helper's alone: where it ends, so do they
        ours.close()
        self._started = False
        #: Its tasks with their number of bytes, in the order in which it does them.
        self._under_way: deque[tuple[Future[_Result], int]] = deque()

    def take(self, task: _Task) -> Future[_Result] | None:
        """What will be the result of the task, or None when the helper has enough to do."""
        if not self._started or len(self._under_way) >= _AHEAD:
            return None
        packed = pickle.dumps(task)
        if self._under_way and sum(size for _, size in self._under_way) + len(packed) > _MOST_UNREAD:
            return None
        future: Future[_Result] = Future()
        with ended_from_outside(OSError):
            self._tasks.send_bytes(packed)
        self._under_way.append((future, len(packed)))
        return future

    def collect(self) -> None:
        """Takes what the helper has done so far."""
        with ended_from_outside(EOFError, OSError):
            while self.results.poll():
                done, result = self.results.recv()
                if not self._started:
                    self._started = True
                    continue
                future, _ = self._under_way.popleft()
                if done:
                    future.set_result(result)
                else:
                    future.set_exception(result)

    def close(self) -> None:
        """Ends the process, whatever it does."""
        self._process.terminate()
        self._process.join()
        self._tasks.close()
        self.results.close()


@contextmanager
def _interrupts_waiting() -> Iterator[None]:
    """Within, Ctrl-C waits. A process that is started here never gets one, not even while it starts: it is ended."""
    resource_tracker.ensure_running()  # which starts with the first process, and lets interrupts come again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _widen(pipe: Connection) -> None:
    """Makes a pipe hold more, where the system can: a helper would otherwise wait with each result until it is read."""
    with contextlib.suppress(AttributeError, OSError):  # Linux has it, and a user may have so many bytes in pipes
        fcntl.fcntl(pipe.fileno(), fcntl.F_SETPIPE_SZ, _ROOM_FOR_RESULTS)


def _help(function: Callable[[_Task], _Result], tasks: Connection, results: Connection) -> None:
    """What a helper does until the process that it helps is gone."""
    begin_worker()
    with contextlib.suppress(EOFError, BrokenPipeError):
        results.send((True, None))
        while True:
            task = tasks.recv()
            answer: tuple[bool, _Result | Exception]
            try:
                answer = (True, function(task))
            except Exception as error:  # noqa: BLE001  (raised where the result is asked for)
                error.add_note(f"in a process that helped:\n{traceback.format_exc()}")
                answer = (False, error)
            results.send(answer)
