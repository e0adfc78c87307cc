"""Work that goes on after the hook has answered: learning from a session or a sub-agent that has ended.

Claude Code gives all hooks of a session's end 1.5 s together, and reading a long log takes longer. So once such a hook
has read its input, it leaves the agent's session and terminal for a process of its own, which has a time limit too. For
one memory one such process works at a time; the others wait for their turn.

The end of a sub-agent is identified by its transcript, the length of that, and the agent's last words where the
program sends them: the length alone is that of the second ending when that comes before the first one is learnt from.
Several agents end within one prompt and one turn, and one agent may be resumed and end again; but where plugin and
settings both have this hook, one ending is reported twice.
"""

from __future__ import annotations

import gc
import os
import time
from contextlib import contextmanager
from pathlib import Path

from helix_cli.hooks.log import note, noted
from helix_cli.hooks.session_dedup import SessionDedup
from helix_cli.hooks.timed_child import note_if_stopped, run_within
from helix_episodes.safe_files import locked, make_folder, write_atomically
from helix_graph.project import HOOK_FOLDER
from helix_graph.writability import read_only

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from helix_cli.hooks.call import HookCall


#: Reading the longest log known to us takes seconds; a process that is still running after ten minutes hangs.
_SECONDS = 600.0
_LOCK = "working.lock"
_STREAMS = 3
#: No hook opens more files than this.
_MOST_HANDLES = 1 << 16


def run_detached(event: str, work: Callable[[], Iterator[bytes]]) -> None:
    """Does the work in a process that nobody waits for. The caller ends at once, so that nobody has to collect it."""
    if os.fork():
        return
    try:
        os.setsid()
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in range(_STREAMS):
            os.dup2(nothing, stream)
        os.closerange(_STREAMS, _MOST_HANDLES)  # everything that the agent may be waiting to see closed
        gc.enable()
        note_if_stopped(event, run_within(work, seconds=_SECONDS))
    finally:
        os._exit(0)


@contextmanager
def in_turn(root: Path) -> Iterator[None]:
    """Waits until no other background process works on this memory."""
    folder = root / HOOK_FOLDER
    make_folder(folder)
    with locked(folder / _LOCK):
        yield


def answer_session_end(call: HookCall, root: Path, dedup: SessionDedup) -> None:
    """Extracts the session, compiles the graph, harvests and records the feedback; nobody waits for an answer."""
    if not read_only(root):
        with in_turn(root):
            _learn_from(root, extract_log(call, root))
    dedup.sweep()


def extract_log(call: HookCall, root: Path) -> tuple[str, ...]:
    """Extracts the session's own log; the sessions recorded."""
    from helix_graph.memory import Memory

    log = _log_of(call)  # of a session that may have run elsewhere: an agent changes its folder
    if not log.is_file() or not _is_agents_log(call, root, log):
        return ()
    return tuple(one.session for one in Memory(root).extract([log], own=True).recorded)


def _learn_from(root: Path, sessions: Iterable[str]) -> None:
    """Compiles the graph, and learns from sessions that have ended what they show about advice, and what they teach."""
    from helix_graph.hook_caches import is_up_to_date, write_anti_patterns
    from helix_graph.memory import Memory
    from helix_graph.shared_authors import refresh_authors

    memory = Memory(root)
    memory.graph.compile()
    for session in sessions:
        memory.insights.feedback_from_episode(session)
        memory.insights.harvest(session)
    if not is_up_to_date(root):
        write_anti_patterns(root, memory.causality)
    memory.highlights()  # for the next session's start
    refresh_authors(root)


#: Below the memory: when logs that no ending announced were last looked for.
_SWEPT = "swept"
#: The folders of all agents are listed for it, so not at each of many short sessions.
_BETWEEN_SWEEPS = 600.0


def sweep_logs(call: HookCall, root: Path) -> Iterator[bytes]:
    """Learns from sessions that were killed, or whose agent announces no end; first it reports the memory's folder."""
    yield os.fsencode(root) + b"\n"
    with noted(root, call.event), in_turn(root):
        from helix_graph.memory import Memory

        swept, found = root / HOOK_FOLDER / _SWEPT, []
        # A date ahead of now is one of a clock that was wrong.
        if not swept.is_file() or not 0 <= time.time() - swept.stat().st_mtime <= _BETWEEN_SWEEPS:
            write_atomically(swept, b"")  # for its owner alone, and never through a link
            found = [one.session for one in Memory(root).extract_all().report.recorded]
        _learn_from(root, [one for one in found if one != call.session])


def _log_of(call: HookCall) -> Path:
    """The ended session's log; Copilot names none, and calls its folder after the session."""
    if call.transcript or call.agent != "copilot" or not call.session.replace("-", "").isalnum():
        return Path(call.transcript)
    from helix_episodes.discovery import AGENT_HOMES, root_of

    home = next(one for one in AGENT_HOMES if one.agent == call.agent)
    return root_of(home) / "session-state" / call.session / "events.jsonl"


#: The plugin's agents are ``helix-graph:helix-builder``; builders of other plugins are ignored.
_PREFIX = "helix-"


def answer_subagent_stop(call: HookCall, root: Path, dedup: SessionDedup) -> None:  # noqa: ARG001  (every event is asked alike)
    """Learns from the agent's transcript. There is no answer: any answer to a stop makes the agent go on."""
    if call.agent_type.rpartition(":")[2].startswith(_PREFIX) and not read_only(root):
        with in_turn(root):
            _learn_once(call, root)


def _learn_once(call: HookCall, root: Path) -> None:
    """One background process at a time works on a memory, so the first has learnt before the second looks."""
    transcript = Path(call.agent_transcript)
    if not call.agent_transcript:
        note(root, call.event, f"nothing names the transcript of {call.agent_type} {call.agent_id}")
        return
    if not _is_agents_log(call, root, transcript):
        return
    dedup = SessionDedup(root, call.session or call.agent_transcript)
    if dedup.has(_ending(call, transcript)):
        return
    from helix_graph.memory import Memory

    learnt = Memory(root).plans.learn(transcript, agent_type=call.agent_type, agent_id=call.agent_id or None)
    for problem in learnt.problems:
        note(root, call.event, problem)
    with dedup:
        dedup.remember([_ending(call, transcript)])


def _is_agents_log(call: HookCall, root: Path, log: Path) -> bool:
    """Whether a transcript lies in an agent's own folder of logs: anybody may have written one that is elsewhere."""
    from helix_episodes.discovery import is_in_agents_folder

    if is_in_agents_folder(log):
        return True
    note(root, call.event, f"{log} is in no agent's own folder of logs, so it was not read; a person can name it")
    return False


def _ending(call: HookCall, transcript: Path) -> str:
    return f"learnt {transcript} {transcript.stat().st_size if transcript.is_file() else None} {call.last_message}"
