"""Claude Code: one JSON object per line, one file per session (``docs/reference/formats/claude-code.md``).

The lines of a helper (sub-agent) are in one of three places, by version: inline in the session's log
(``isSidechain``), in a file of its own (``<session>/subagents/agent-<id>.jsonl``, before that ``agent-<id>.jsonl``
next to the log), or only as ``progress`` records of the call that sent it. Files and progress are each read as a
conversation of their own and put right behind that call, before its result; progress of a helper that has a file is a
copy and left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from helix_episodes.errors import LogNotReadable
from helix_episodes.readers.claude_code.records import SessionFacts, blocks_of, message_of
from helix_episodes.readers.claude_code.transcript import ClaudeTranscript
from helix_episodes.readers.common.fields import Record, text_in
from helix_episodes.readers.common.jsonl import LineLedger, lines_of, open_log, parse_object, read_object, read_records
from helix_episodes.readers.common.session_builder import project_of, session_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from helix_episodes.readers.base import LogHead
    from helix_episodes.readers.claude_code.records import Delegates
    from helix_episodes.session import Session, Step


_PREFIX = "agent-"


class Helper(NamedTuple):
    """One helper's conversation and, when the log says so, the call that sent it."""

    name: str
    transcript: ClaudeTranscript
    call_id: str | None


class HelperLogs:
    """The helpers of one session's log."""

    def __init__(self, path: Path, *, ledger: LineLedger, statistics: SessionFacts) -> None:
        self._path = path
        self._ledger = ledger
        self._statistics = statistics
        # The transcripts in the session's own folder, nested ones included.
        files = sorted((path.parent / path.stem / "subagents").rglob(f"{_PREFIX}*.jsonl"))
        self._files = {file.stem.removeprefix(_PREFIX): file for file in files}
        #: Helpers without a file: their progress is up to a third of a log, and each look asks the disk.
        self._without_file: set[str] = set()
        self._helpers: dict[str, Helper] = {}

    def take_progress(self, record: Record, *, line: int) -> None:
        """Takes in one ``progress`` record; all but those that hold a helper's line are left out."""
        data = record.get("data")
        message = data.get("message") if isinstance(data, dict) else None
        name = text_in(data, "agentId") if isinstance(data, dict) else None
        if name is None or not isinstance(message, dict):
            self._ledger.skip("progress")
        elif self._find_file(name):
            self._ledger.skip("progress of a helper with a file")
        else:
            self._helper(name, call_id=text_in(record, "parentToolUseID")).transcript.take(message, line=line)

    def gather(self, named: Iterable[str]) -> None:
        """Reads the helpers' files: those in the session's folder, and those next to the log that its results name."""
        for name in named:
            self._find_file(name)
        for name, file in sorted(self._files.items()):
            label = file.relative_to(self._path.parent).as_posix()
            # The file's companion names the call; one that cannot be read says nothing.
            call_id = text_in(read_object(file.with_suffix(".meta.json")) or {}, "toolUseId")
            helper = self._helper(name, call_id=call_id, label=label)
            self._read(file, helper=helper, label=label)

    def _read(self, file: Path, *, helper: Helper, label: str) -> None:
        """Takes in one file; one that cannot be read is entered as bad and costs the session nothing else."""
        try:
            for line, record in read_records(file, ledger=self._ledger, file=label):
                helper.transcript.take(record, line=line)
        except LogNotReadable as error:
            self._ledger.report_bad(line=1, problem=error.problem, file=label)

    def merge(self, steps: list[Step], *, delegates: Delegates) -> tuple[Step, ...]:
        """The main steps with each helper's behind the call that sent it; the unplaced ones by time."""
        by_call: dict[str, list[Helper]] = {}
        unplaced: list[Helper] = []
        all_delegates = [delegates, *(helper.transcript.delegates for helper in self._helpers.values())]
        conversations = (steps, *(helper.transcript.steps for helper in self._helpers.values()))
        calls = {step.call_id for each in conversations for step in each if step.operation == "delegate"}
        for helper in self._helpers.values():
            named = next((call_id for known in all_delegates if (call_id := known.call_of(helper.name))), None)
            call_id = helper.call_id or named or _same_prompt(helper, steps)
            if call_id is not None and call_id in calls:
                by_call.setdefault(call_id, []).append(helper)
            else:
                unplaced.append(helper)
        merged = list(_woven(steps, by_call=by_call))
        for helper in (*unplaced, *(helper for waiting in by_call.values() for helper in waiting)):
            merged = _put_by_time(merged, helper.transcript.steps)
        return tuple(merged)

    def _find_file(self, name: str) -> bool:
        """Whether the helper has a file; older versions put it next to the log, where it is noted for reading."""
        if name in self._files:
            return True
        if name in self._without_file:
            return False
        sibling = self._path.parent / f"{_PREFIX}{name}.jsonl"
        if not name.isalnum() or sibling == self._path or not sibling.is_file():
            self._without_file.add(name)
            return False
        self._files[name] = sibling
        return True

    def _helper(self, name: str, *, call_id: str | None, label: str | None = None) -> Helper:
        if name not in self._helpers:
            transcript = ClaudeTranscript(ledger=self._ledger, statistics=self._statistics, file=label, helper=name)
            self._helpers[name] = Helper(name, transcript, call_id)
        return self._helpers[name]


def _same_prompt(helper: Helper, steps: list[Step]) -> str | None:
    """The call whose prompt is word for word the helper's instruction."""
    message = next((step.text.strip() for step in helper.transcript.steps if step.kind == "note"), None)
    sent = (step for step in steps if step.kind == "call" and step.operation == "delegate")
    return next((step.call_id for step in sent if message and step.arguments["prompt"].strip() == message), None)


def _woven(steps: list[Step], *, by_call: dict[str, list[Helper]]) -> Iterator[Step]:
    """Each helper is used up when its call comes by, so that even calls in a circle come to an end.

    Conversations under way wait on a stack of our own: helpers may send helpers deeper than Python's reaches.
    """
    under_way = [iter(steps)]
    while under_way:
        step = next(under_way[-1], None)
        if step is None:
            under_way.pop()
            continue
        yield step
        if step.kind == "call" and step.call_id is not None:
            sent = by_call.pop(step.call_id, ())
            under_way += [iter(helper.transcript.steps) for helper in reversed(sent)]


def _put_by_time(steps: list[Step], added: list[Step]) -> list[Step]:
    """Before the first step of the main conversation later than the first added; at the end when no step has a time."""
    start = next((step.at for step in added if step.at), None)
    if start is None:
        return [*steps, *added]
    later = (i for i, step in enumerate(steps) if step.at and step.at > start and not step.actor.startswith("agent:"))
    position = next(later, len(steps))
    return [*steps[:position], *added, *steps[position:]]


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
            return path.name.startswith("agent-") or path.name == "builder.jsonl"
        return path.name.startswith("agent-") and _is_side_conversation(path)

    def read(self, path: Path) -> Iterator[Session]:
        """The one session in the file."""
        session = _read(path, alone=False)
        if not any(step.actor in ("agent", "user") for step in session.steps):
            # A side conversation handed in by itself is the main one of this reading.
            session = _read(path, alone=True)
        if not session.steps:
            raise LogNotReadable(
                path=path, problem=f"it contains no session ({session.accounting.lines} lines, no step)"
            )
        yield session


def _read(path: Path, *, alone: bool) -> Session:
    ledger, statistics = LineLedger(), SessionFacts()
    transcript = ClaudeTranscript(ledger=ledger, statistics=statistics)
    helpers = HelperLogs(path, ledger=ledger, statistics=statistics)
    line = 0
    for line, record in read_records(path, ledger=ledger):
        if record.get("type") == "progress":
            helpers.take_progress(record, line=line)
        else:
            transcript.take({**record, "isSidechain": False} if alone else record, line=line)
    if not line:
        # Helpers alone are no session: what their log says of who sent them is lost.
        raise LogNotReadable(path=path, problem="it contains no session (no line of it is a JSON object)")
    helpers.gather(transcript.delegates.names)
    steps = helpers.merge(transcript.steps, delegates=transcript.delegates)
    # A member of a team is told what to do by another agent; anybody else's prompts state the task.
    order = None if any(step.kind == "prompt" for step in steps) else transcript.order
    return _session(path, steps=steps, statistics=statistics, ledger=ledger, task=order)


def _session(
    path: Path, *, steps: tuple[Step, ...], statistics: SessionFacts, ledger: LineLedger, task: str | None
) -> Session:
    return session_of(
        statistics.with_tokens(steps),
        task=task,
        reader=ClaudeCodeReader.name,
        id=statistics.session_id(path),
        agent_version=statistics.version,
        model=statistics.model,
        project=project_of(statistics.root),
        root=statistics.root,
        tokens=statistics.tokens,
        branch=statistics.branch,
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
    """Whether the first line with that mark is a helper's, under the id of another session."""
    try:
        with open_log(path) as log:
            for _, line in zip(range(_LINES_TO_TELL), lines_of(log), strict=False):
                record = parse_object(line or b"")
                if "isSidechain" in record:
                    return record["isSidechain"] is True and record.get("sessionId") != path.stem
    except (OSError, LogNotReadable):
        # reading it will report what is wrong.
        return False
    return False
