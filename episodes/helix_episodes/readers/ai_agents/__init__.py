"""The session logs of the ai-agents project: reports in JSON or Markdown (``docs/reference/formats/ai-agents.md``)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec.structs import replace

from helix_episodes.readers.ai_agents.json_report import read_report
from helix_episodes.readers.ai_agents.markdown import read_markdown
from helix_episodes.readers.ai_agents.steps import (
    ABOUT_COMMITS,
    PLACEHOLDER,
    SHA,
    ReportContent,
    in_order_of_cause,
    parse_day,
)
from helix_episodes.readers.base import SingleFileReader
from helix_episodes.readers.common.json_with_lines import read_json_with_lines, read_text
from helix_episodes.readers.common.jsonl import parse
from helix_episodes.readers.common.session_builder import session_of
from helix_episodes.session import Piece, Session

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from helix_episodes.readers.base import LogHead
    from helix_episodes.session import Step


_TELLING_KEYS = frozenset(
    {"protocolCompliance", "workLog", "work_log", "session_id", "session", "objective", "decisions", "learnings"}
    | {"protocol_compliance", "session_info", "session_number", "session_date", "session_objective", "session_log"}
    | {"work_completed", "work_done", "actions_taken", "key_decisions", "decisions_made", "lessons_learned"}
    | {"key_learnings", "session_start", "session_end", "ending_commit", "next_steps", "objectives"}
)
_KEY = re.compile(rb'"(' + "|".join(sorted(_TELLING_KEYS)).encode() + rb')"\s*:')
#: Two of the names that these logs are made of; one alone occurs in many JSON files.
_KEYS_TO_TELL = 2
_TITLE = re.compile(r"^#[ \t]+(?=\S).*\bsession\b", re.IGNORECASE | re.MULTILINE)
_SECTION = re.compile(
    r"^[ \t]*(?:#{2,}[ \t]+(?:session (?:start|end|info|protocol)|protocol compliance|objectives?|"
    r"work (?:log|completed)|decisions?|outcomes?|learnings?)|"
    r"(?:[->][ \t]*)?\*\*(?:date|objective|status|branch|session)\*\*[ \t]*:|"
    r"(?:[->][ \t]*)?\*\*(?:date|objective|status|branch|session):\*\*)",
    re.IGNORECASE | re.MULTILINE,
)
#: What every session does before and after its work; none of it is what the session is for.
_OF_PROTOCOL = re.compile(
    r"^\W*session protocol|^\W*activated? serena\b",
    re.IGNORECASE,
)
_DATED_ID = re.compile(r"\d{4}-\d\d-\d\d-session-[A-Za-z0-9._-]+")
_ID_LIMIT = 128


#: Agents log conversations under keys that reports have too (``session_id``, ``status``).
_SPOKEN = re.compile(rb'"role"\s*:\s*"(?:user|assistant|system|model|gemini|tool)"')


class AiAgentsReader(SingleFileReader):
    """Reads ``.agents/sessions/*.json`` and ``*.md``: reports that an agent writes of its own session."""

    name = "ai-agents"
    suffixes = (".json", ".md")

    def sniff(self, head: LogHead) -> str | None:
        """``None`` when the file is such a report by its keys or its headings, else why not."""
        text = b"".join(head.lines).removeprefix(b"\xef\xbb\xbf").lstrip()
        if text.startswith(b"{"):
            if _SPOKEN.search(text):
                return "it contains messages with roles, which is a conversation, not a report"
            names = _keys(text)
            return None if len(names) >= _KEYS_TO_TELL else "no session, protocolCompliance or workLog among its keys"
        markdown = text.decode("utf-8", "replace") if text.startswith(b"#") else ""
        if _TITLE.search(markdown) and _SECTION.search(markdown):
            return None
        return "no heading that names a session, with its date, objective, protocol or work log below"

    def read(self, path: Path) -> Iterator[Session]:
        """The one session in the file."""
        text = read_text(path).replace("\r\n", "\n")
        lines = text.removesuffix("\n").split("\n")
        is_json = text.lstrip().startswith("{")
        reading = read_report(read_json_with_lines(path, text=text)) if is_json else read_markdown(lines)
        yield _session(path, reading, lines)


def _keys(text: bytes) -> set[str]:
    """Which of the telling keys a JSON object has; of one too long for its head or cut off, those that can be seen.

    Objects a line, one below the other, are another format, whatever their keys are called.
    """
    first, _, rest = text.partition(b"\n")
    try:
        document = parse(text)
    except ValueError:
        one_a_line = bool(rest.strip()) and first.rstrip().endswith(b"}")
        return set() if one_a_line else {match[1].decode() for match in _KEY.finditer(text)}
    return set(document) & _TELLING_KEYS if isinstance(document, dict) else set()


def _session(path: Path, reading: ReportContent, lines: Sequence[str]) -> Session:
    commits = _commits(reading)
    for commit in commits:
        reading.steps.note(commit.text, part="commit", line=commit.line)
    session = session_of(
        in_order_of_cause(reading.steps.found),
        reader=AiAgentsReader.name,
        id=session_id(path.stem),
        task=_task(reading),
        declared_outcome=reading.declared,
        commits=tuple(commit.text for commit in commits),
        accounting=reading.steps.ledger(list(lines)).accounting(),
    )
    return replace(session, started=session.started or reading.date or parse_day(path.stem))


def session_id(stem: str) -> str:
    """The session's id from the name of its log, with the description that keeps parallel sessions apart.

    >>> session_id("2026-08-04-session-9033-fix-gate"), session_id("notes of today")
    ('2026-08-04-session-9033-fix-gate', 'notes-of-today')
    """
    found = _DATED_ID.search(stem)
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", found.group() if found else stem).strip("-._")
    return name[:_ID_LIMIT] or "session"


def _task(reading: ReportContent) -> str | None:
    """The objective; where it is only a placeholder, what was done first."""
    if not PLACEHOLDER.match(reading.task):
        return reading.task
    done = (step.text for step in reading.steps.found if step.kind == "note" and step.arguments.get("part") == "did")
    first = next((text for text in done if not _OF_PROTOCOL.search(text)), None)
    return first or reading.branch.rpartition("/")[2].replace("-", " ") or None


def _commits(reading: ReportContent) -> list[Piece]:
    """The session's own commits, each once under its longest name; the one that it started from is not its own."""
    named = [*reading.commits, *(sha for step in reading.steps.found for sha in _committed(step))]
    starting = SHA.findall(reading.starting)
    own: list[Piece] = []
    for commit in sorted(named, key=lambda one: len(one.text), reverse=True):
        is_start = any(sha.startswith(commit.text) or commit.text.startswith(sha) for sha in starting)
        if not is_start and not any(one.text.startswith(commit.text) for one in own):
            own.append(commit)
    order = [each.text for each in named]
    return sorted(own, key=lambda one: next(n for n, sha in enumerate(order) if one.text.startswith(sha)))


def _committed(step: Step) -> list[Piece]:
    """The commits that the evidence of a gate about committing names."""
    is_gate = step.kind == "gate" and ABOUT_COMMITS.search(step.arguments["name"])
    if not is_gate or step.status != "ok":
        return []
    places = step.places
    return [Piece(line=place.line, text=sha) for place in places for sha in SHA.findall(place.text)]
