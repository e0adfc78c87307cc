"""Who&When: one JSON object per run of several agents that failed (``docs/formats/who-and-when.md``).

A file holds the run and what judges said of it afterwards: the right answer, who made the mistake, at which step and
why. That is an answer key. It never becomes a step, so no episode can have learnt from it; only that the run failed is
taken, as its reward.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from helix_episodes.errors import LogNotReadable
from helix_episodes.readers.documents import read_located
from helix_episodes.readers.naming import id_by_place
from helix_episodes.readers.who_and_when.chat import Chat
from helix_episodes.session import Session

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from helix_episodes.readers.located import Node
    from helix_episodes.readers.registry import LogHead

#: One half of the collection calls it so, the other so.
_VERDICTS = ("is_correct", "is_corrected")


class WhoAndWhenReader:
    """Reads the runs of the Who&When collection."""

    name = "who-and-when"
    suffixes = (".json",)

    def sniff(self, head: LogHead) -> str | None:
        """``None`` when the file is a question with a chat of agents and a verdict, else why not."""
        run = head.document
        is_chat = isinstance(run, dict) and isinstance(run.get("history"), list) and "question" in run
        if is_chat and any(isinstance(run.get(name), bool) for name in _VERDICTS):
            return None
        return "no object with question, history and is_correct"

    def is_part(self, path: Path) -> bool:  # noqa: ARG002  (one file is one run)
        """Never."""
        return False

    def read(self, path: Path) -> Iterator[Session]:
        """The one run in the file.

        Raises:
            LogNotReadable: the file cannot be read, is no JSON, or holds no chat.
        """
        run = read_located(path)
        chat = Chat()
        for message in run.get("history").items:
            chat.take(message)
        steps = chat.finish()
        if not steps:
            raise LogNotReadable(path=path, problem="it holds no session (no message in its history)")
        yield Session(
            id=id_by_place(path),
            agent=WhoAndWhenReader.name,
            reader=WhoAndWhenReader.name,
            steps=steps,
            task=run.get("question").text or None,
            task_id=run.get("question_ID").text or None,
            reward=_reward(run),
            accounting=chat.ledger.accounting(),
        )


def _reward(run: Node) -> float | None:
    verdict = next((run.get(name).value for name in _VERDICTS if isinstance(run.get(name).value, bool)), None)
    return None if verdict is None else float(verdict)
