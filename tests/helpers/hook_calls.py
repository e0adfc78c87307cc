"""Calls of hooks as an agent's program makes them: whole processes, JSON on stdin."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

#: As the installed script does it.
_HOOK = [sys.executable, "-c", "from helix_cli.entry import main; main()", "hook"]
_PATIENCE = 60.0


class Answer(NamedTuple):
    """What the program said. ``said`` is the object on stdout, None when there is nothing."""

    code: int
    said: dict[str, Any] | None
    errors: bytes

    @property
    def context(self) -> str:
        """What Claude Code and Codex put before the agent."""
        return str(self.said["hookSpecificOutput"]["additionalContext"]) if self.said else ""


def call(
    event: str,
    told: Mapping[str, Any] | bytes,
    *,
    seconds: float = 60.0,
    environment: Mapping[str, str] | None = None,
    prefix: Sequence[str] = (),
) -> Answer:
    """Calls a hook and waits for its answer. The limit is far off: machines that test are slow.

    The folders of the transcripts that are named count as the agents' own; ``environment`` can say otherwise.
    ``prefix`` are the words of a command that runs it.
    """
    content = told if isinstance(told, bytes) else json.dumps(told).encode()
    done = subprocess.run(
        [*prefix, *_HOOK, event],
        input=content,
        capture_output=True,
        check=False,
        timeout=_PATIENCE,
        env={**os.environ, **_agents_folders(told), "HELIX_HOOK_SECONDS": str(seconds), **(environment or {})},
    )
    return Answer(done.returncode, json.loads(done.stdout) if done.stdout else None, done.stderr)


def _agents_folders(told: Mapping[str, Any] | bytes) -> dict[str, str]:
    if isinstance(told, bytes):
        return {}
    variables = {"transcript_path": "CLAUDE_CONFIG_DIR", "agent_transcript_path": "CODEX_HOME"}
    return {variable: os.path.dirname(told[name]) for name, variable in variables.items() if told.get(name)}  # noqa: PTH120  (one that is no path is no path here either)


def wait_for(condition: Callable[[], bool]) -> None:
    """Waits for work that a hook has left to a process of its own."""
    until = time.monotonic() + _PATIENCE
    while not condition():
        assert time.monotonic() < until, "the work that the hook left behind was never done"
        time.sleep(0.01)


def wait_until_idle(root: Path) -> None:
    """Waits until no process works behind the hooks of a memory; call it after the work has begun."""
    import fcntl

    with (root / "hooks" / "working.lock").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
