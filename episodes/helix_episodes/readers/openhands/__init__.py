"""OpenHands: one JSON list of events, actions and the observations that they caused (``docs/formats/openhands.md``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from helix_episodes.errors import LogNotReadable
from helix_episodes.readers.documents import read_located
from helix_episodes.readers.fields import text_in
from helix_episodes.readers.naming import id_by_place, project_of
from helix_episodes.readers.openhands.events import Events
from helix_episodes.session import Session

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from helix_episodes.readers.registry import LogHead


class OpenHandsReader:
    """Reads the trajectories that OpenHands exports."""

    name = "openhands"
    suffixes = (".json",)

    def sniff(self, head: LogHead) -> str | None:
        """``None`` when the file is a list of such events, else why not."""
        events = head.document if isinstance(head.document, list) else []
        return None if events and all(_is_event(event) for event in events) else "no list of actions and observations"

    def is_part(self, path: Path) -> bool:  # noqa: ARG002  (one file is one session)
        """Never."""
        return False

    def read(self, path: Path) -> Iterator[Session]:
        """The one session in the file.

        Raises:
            LogNotReadable: the file cannot be read, is no JSON, or holds no step at all.
        """
        events = Events()
        for node in read_located(path).items:
            events.take(node)
        steps = tuple(events.dialogue.steps)
        if not steps:
            raise LogNotReadable(path=path, problem="it holds no session (no event of it is a step)")
        times = [step.at for step in steps if step.at is not None]
        yield Session(
            id=id_by_place(path),
            agent=OpenHandsReader.name,
            reader=OpenHandsReader.name,
            steps=steps,
            model=events.model,
            root=events.root,
            project=project_of(events.root),
            started=min(times, default=None),
            ended=max(times, default=None),
            accounting=events.ledger.accounting(),
        )


def _is_event(event: Any) -> bool:  # noqa: ANN401  (JSON can be anything)
    if not isinstance(event, dict) or text_in(event, "source") is None:
        return False
    if "action" in event:
        return isinstance(event["action"], str) and isinstance(event.get("args"), dict)
    return isinstance(event.get("observation"), str)
