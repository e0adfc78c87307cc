"""Codex: one JSON object per line, one rollout file per session (``docs/formats/codex.md`` describes it).

:mod:`rollout` turns records into steps; :mod:`calls` joins calls with results and decides between twins; :mod:`outputs`
tells how a call came out; :mod:`totals` gathers what is said of the session as a whole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from helix_episodes.errors import LogNotReadable
from helix_episodes.readers.codex.rollout import Rollout
from helix_episodes.readers.fields import objects_in, text_in
from helix_episodes.readers.jsonl import read_records
from helix_episodes.readers.ledger import Ledger
from helix_episodes.readers.naming import project_of
from helix_episodes.session import Session

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from helix_episodes.readers.fields import Record
    from helix_episodes.readers.registry import LogHead
    from helix_episodes.session import Accounting, Step

_ENVELOPES = frozenset({"session_meta", "response_item", "event_msg", "turn_context", "compacted", "world_state"})
_BARE = frozenset({"function_call", "function_call_output", "local_shell_call"})
_BLOCKS = frozenset({"input_text", "output_text"})


class CodexReader:
    """Reads the rollouts of Codex, ``~/.codex/sessions/YYYY/MM/DD/rollout-<time>-<id>.jsonl``."""

    name = "codex"
    suffixes = (".jsonl",)

    def sniff(self, head: LogHead) -> str | None:
        """``None`` when a line is a record as only Codex writes them, else why not."""
        if any(_is_own(record) for record in head.records):
            return None
        return "no line is a session_meta, response_item or event_msg with its payload"

    def is_part(self, path: Path) -> bool:  # noqa: ARG002  (a helper's rollout is a session of its own)
        """Never: one rollout is one session."""
        return False

    def read(self, path: Path) -> Iterator[Session]:
        """The one session in the file.

        Raises:
            LogNotReadable: the file cannot be read, or holds no step at all.
        """
        ledger = Ledger()
        rollout = Rollout(ledger)
        for line, record in read_records(path, ledger=ledger):
            rollout.take(record, line=line)
        steps = rollout.finish()
        accounting = ledger.accounting()
        if not steps:
            raise LogNotReadable(path=path, problem=f"it holds no session ({accounting.lines} lines, no step)")
        yield _session(path, rollout, steps, accounting)


def _session(path: Path, rollout: Rollout, steps: tuple[Step, ...], accounting: Accounting) -> Session:
    times = [step.at for step in steps if step.at is not None]
    totals = rollout.totals
    return Session(
        id=totals.session_id(path),
        agent=CodexReader.name,
        reader=CodexReader.name,
        agent_version=totals.version,
        model=totals.model,
        project=project_of(totals.root),
        root=totals.root,
        started=min(times, default=None),
        ended=max(times, default=None),
        task=rollout.order,
        tokens=totals.tokens,
        steps=steps,
        accounting=accounting,
    )


def _is_own(record: Record) -> bool:
    kind = text_in(record, "type")
    if kind in _ENVELOPES:
        return isinstance(record.get("payload"), dict)
    if kind in _BARE:
        return text_in(record, "call_id") is not None
    # Rollouts of 2025's first versions have no envelope.
    return kind == "message" and any(text_in(block, "type") in _BLOCKS for block in objects_in(record, "content"))
