"""Session logs as Claude Code writes them: one session for each kind of secret, with the secret in every position."""

from __future__ import annotations

import json
import uuid
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from secret_positions import Place

_BEGIN = datetime(2026, 9, 14, 10, 0, tzinfo=UTC)
_FOLDER = "/srv/shop"
#: What an agent runs before it sees an output; the commands take turns.
_LOOKS = (
    "cat settings.txt",
    "env | sort",
    "git diff",
    "grep -rn . deploy/prod",
    "tail -n 40 web.log",
    "curl -s localhost",
)


class SessionLog:
    """The records of one session, in the order in which they are added."""

    def __init__(self, name: str) -> None:
        self.session = str(uuid.uuid5(uuid.NAMESPACE_URL, f"redaction benchmark: {name}"))
        self._records: list[str] = []
        self._parent: str | None = None

    def write(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{self.session}.jsonl").write_text("\n".join(self._records) + "\n")

    def put(self, place: Place, text: str) -> None:
        match place:
            case "prompt":
                self._user(text)
            case "answer":
                self._assistant({"type": "text", "text": text})
            case "command":
                self._call("Bash", {"command": text, "description": "Write the settings"}, "")
            case "output":
                self._call("Bash", {"command": _LOOKS[len(self._records) // 2 % len(_LOOKS)]}, text)
            case "failure":
                self._call("Bash", {"command": "python -m shop.serve"}, text, failed=True)
            case "written":
                self._call(
                    "Write", {"file_path": f"{_FOLDER}/settings.txt", "content": text}, "File created successfully"
                )
            case "argument":
                self._call("mcp__settings__save", json.loads(text), "saved")

    def _call(self, tool: str, argument: Mapping[str, object], result: str, *, failed: bool = False) -> None:
        call = f"toolu_{uuid.uuid5(uuid.UUID(self.session), str(len(self._records))).hex[:24]}"
        self._assistant({"type": "tool_use", "id": call, "name": tool, "input": dict(argument)})
        self._user([{"type": "tool_result", "tool_use_id": call, "content": result, "is_error": failed}])

    def _assistant(self, part: Mapping[str, object]) -> None:
        message = {"model": "claude-sonnet-4-5", "type": "message", "role": "assistant", "content": [dict(part)]}
        self._record("assistant", message)

    def _user(self, content: str | list[dict[str, object]]) -> None:
        self._record("user", {"role": "user", "content": content})

    def _record(self, kind: str, message: Mapping[str, object]) -> None:
        number = len(self._records)
        own = str(uuid.uuid5(uuid.UUID(self.session), f"record {number}"))
        at = _BEGIN + timedelta(seconds=7 * number)
        record = {
            "parentUuid": self._parent,
            "isSidechain": False,
            "userType": "external",
            "cwd": _FOLDER,
            "sessionId": self.session,
            "version": "2.1.31",
            "gitBranch": "main",
            "type": kind,
            "message": dict(message),
            "uuid": own,
            "timestamp": at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        }
        self._parent = own
        self._records.append(json.dumps(record, ensure_ascii=False))


def write_session(folder: Path, name: str, parts: Iterable[tuple[Place, str]]) -> str:
    """Writes the log of one session and returns the session's id; it ends with a check that passes."""
    log = SessionLog(name)
    for place, text in parts:
        log.put(place, text)
    log.put("answer", "The service starts with these settings.")
    log.write(folder)
    return log.session
