"""SWE-agent: one JSON object per run, ``<instance>.traj`` (``docs/formats/swe-agent.md`` describes it).

:mod:`actions` translates the commands of its interface; :mod:`trajectory` turns turns into steps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from helix_episodes.errors import LogNotReadable
from helix_episodes.readers.documents import read_located
from helix_episodes.readers.fields import objects_in, text_in
from helix_episodes.readers.naming import id_by_place, project_of
from helix_episodes.readers.swe_agent.trajectory import Trajectory, issue_in
from helix_episodes.session import Session

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from helix_episodes.readers.registry import LogHead

_OWN_KINDS = frozenset({"system_prompt", "demonstration", "observation", "thought", "action"})


class SweAgentReader:
    """Reads the trajectories of SWE-agent."""

    name = "swe-agent"
    suffixes = (".traj",)

    def sniff(self, head: LogHead) -> str | None:
        """``None`` when the file has turns of action and observation, or their history, else why not."""
        if isinstance(head.document, dict) and _is_run(head.document):
            return None
        return "no trajectory of actions and observations"

    def is_part(self, path: Path) -> bool:  # noqa: ARG002  (one file is one run)
        """Never."""
        return False

    def read(self, path: Path) -> Iterator[Session]:
        """The one run in the file.

        Raises:
            LogNotReadable: the file cannot be read, is no JSON, or holds no step at all.
        """
        run = read_located(path)
        trajectory = Trajectory()
        trajectory.take(run)
        steps = tuple(trajectory.dialogue.steps)
        if not steps:
            raise LogNotReadable(path=path, problem="it holds no session (no turn and no message)")
        yield Session(
            id=id_by_place(path),
            agent=SweAgentReader.name,
            reader=SweAgentReader.name,
            steps=steps,
            root=trajectory.root,
            project=project_of(trajectory.root),
            task=issue_in(steps),
            task_id=path.stem,
            accounting=trajectory.ledger.accounting(),
        )


def _is_run(run: dict[str, Any]) -> bool:
    turns = objects_in(run, "trajectory")
    if turns:
        return all(isinstance(turn.get("action"), str) and isinstance(turn.get("observation"), str) for turn in turns)
    history = objects_in(run, "history")
    return any(text_in(one, "message_type") in _OWN_KINDS and text_in(one, "agent") is not None for one in history)
