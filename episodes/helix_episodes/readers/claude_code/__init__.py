"""Claude Code: one JSON object per line, one file per session (``docs/formats/claude-code.md`` describes it).

:mod:`transcript` turns records into steps; :mod:`words` tells whose words a text is; :mod:`results` tells failures from
refusals; :mod:`tools` translates calls; :mod:`helpers` adds what sub-agents did.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from helix_episodes.errors import LogNotReadable
from helix_episodes.readers.claude_code.helpers import Helpers
from helix_episodes.readers.claude_code.records import blocks_of, message_of
from helix_episodes.readers.claude_code.statistics import Statistics
from helix_episodes.readers.claude_code.transcript import Transcript
from helix_episodes.readers.fields import Record, text_in
from helix_episodes.readers.jsonl import lines_of, open_log, parse, read_records
from helix_episodes.readers.ledger import Ledger
from helix_episodes.readers.naming import project_of
from helix_episodes.session import Session

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from helix_episodes.readers.registry import LogHead
    from helix_episodes.session import Step

# How far into a file to look for a line that tells whose it is.
_LINES_TO_TELL = 20


class ClaudeCodeReader:
    """Reads the logs of Claude Code, ``~/.claude/projects/<project>/<session>.jsonl``, sub-agents included."""

    name = "claude-code"
    suffixes = (".jsonl",)

    def sniff(self, head: LogHead) -> str | None:
        """``None`` when a line is a record as only Claude Code writes them, else why not."""
        if any(_is_own(record) for record in head.records):
            return None
        if not head.records:
            return "no line is a JSON object"
        return "no line has the type, id and message of its records"

    def is_part(self, path: Path) -> bool:
        """Whether this is a sub-agent's transcript, which is read with its session's log."""
        if path.parent.name == "subagents" or "subagents" in path.parent.parts[-3:]:
            return path.name.startswith("agent-") or path.name == "journal.jsonl"
        return path.name.startswith("agent-") and _is_side_conversation(path)

    def read(self, path: Path) -> Iterator[Session]:
        """The one session in the file.

        Raises:
            LogNotReadable: the file cannot be read, or holds no step at all.
        """
        session = _read(path, alone=False)
        if not any(step.actor in ("agent", "user") for step in session.steps):
            # A side conversation handed in by itself is the main one of this reading.
            session = _read(path, alone=True)
        if not session.steps:
            raise LogNotReadable(path=path, problem=f"it holds no session ({session.accounting.lines} lines, no step)")
        yield session


def _read(path: Path, *, alone: bool) -> Session:
    ledger, statistics = Ledger(), Statistics()
    transcript = Transcript(ledger=ledger, statistics=statistics)
    helpers = Helpers(path, ledger=ledger, statistics=statistics)
    line = 0
    for line, record in read_records(path, ledger=ledger):
        if record.get("type") == "progress":
            helpers.take_progress(record, line=line)
        else:
            transcript.take({**record, "isSidechain": False} if alone else record, line=line)
    if not line:
        # Helpers alone are no session: what their log says of who sent them is lost.
        raise LogNotReadable(path=path, problem="it holds no session (no line of it is a JSON object)")
    helpers.gather(transcript.delegates.names)
    steps = helpers.merge(transcript.steps, delegates=transcript.delegates)
    return _session(path, steps=steps, statistics=statistics, ledger=ledger)


def _session(path: Path, *, steps: tuple[Step, ...], statistics: Statistics, ledger: Ledger) -> Session:
    times = [step.at for step in steps if step.at is not None]
    return Session(
        id=statistics.session_id(path),
        agent=ClaudeCodeReader.name,
        steps=steps,
        reader=ClaudeCodeReader.name,
        agent_version=statistics.version,
        model=statistics.model,
        project=project_of(statistics.root),
        root=statistics.root,
        started=min(times, default=None),
        ended=max(times, default=None),
        tokens=statistics.tokens,
        injected=statistics.injected,
        accounting=ledger.accounting(),
    )


def _is_own(record: Record) -> bool:
    kind = record.get("type")
    if kind in ("user", "assistant"):
        return text_in(record, "uuid") is not None and blocks_of(message_of(record)) is not None
    if kind == "summary":
        return text_in(record, "leafUuid") is not None
    if kind == "file-history-snapshot":
        return isinstance(record.get("snapshot"), dict)
    if kind == "queue-operation":
        return text_in(record, "sessionId") is not None and "operation" in record
    # Other agents copied the envelope, but not the mark of side conversations.
    return kind in ("progress", "system", "attachment") and "isSidechain" in record


def _is_side_conversation(path: Path) -> bool:
    """Whether the first line that tells is a helper's, under the id of another session."""
    try:
        with open_log(path) as log:
            for _, line in zip(range(_LINES_TO_TELL), lines_of(log), strict=False):
                record = _object(line or b"")
                if "isSidechain" in record:
                    return record["isSidechain"] is True and record.get("sessionId") != path.stem
    except (OSError, LogNotReadable):
        # Whoever reads it will say what is wrong with it.
        return False
    return False


def _object(line: bytes) -> Record:
    try:
        record = parse(line)
    except ValueError:
        return {}
    return record if isinstance(record, dict) else {}
