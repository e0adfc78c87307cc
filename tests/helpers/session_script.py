"""Session logs in Claude Code's shape, written from a short script."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

BEGIN = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
ROOT = "/work/shop"


class Script:
    """Writes a session log in Claude Code's shape, one method for each thing that happens.

    Every line gets an id ``<session>-<n>`` and a time half a minute after the one before.
    """

    def __init__(self, session: str, *, root: str = ROOT, begin: datetime = BEGIN) -> None:
        self.session = session
        self.root = root
        self.at = begin
        self.records: list[dict[str, Any]] = []

    def prompt(self, text: str) -> Script:
        return self._line("user", {"role": "user", "content": text})

    def say(self, text: str) -> Script:
        return self._assistant({"type": "text", "text": text})

    def think(self, text: str) -> Script:
        return self._assistant({"type": "thinking", "thinking": text, "signature": "x"})

    def run(self, command: str, output: str = "", *, code: int = 0) -> Script:
        if code:
            return self.call("Bash", {"command": command}, error=f"Exit code {code}\n{output}")
        return self.call("Bash", {"command": command}, output=output, result={"stdout": output, "stderr": ""})

    def edit(self, path: str, old: str = "a", new: str = "b") -> Script:
        arguments = {"file_path": f"{self.root}/{path}", "old_string": old, "new_string": new}
        return self.call("Edit", arguments, output=f"The file {path} has been updated successfully.")

    def edit_fails(self, path: str, problem: str = "String to replace not found in file.") -> Script:
        arguments = {"file_path": f"{self.root}/{path}", "old_string": "x", "new_string": "y"}
        return self.call("Edit", arguments, error=f"<tool_use_error>{problem}</tool_use_error>")

    def write(self, path: str, content: str = "x = 1\n") -> Script:
        arguments = {"file_path": f"{self.root}/{path}", "content": content}
        return self.call("Write", arguments, output=f"File created successfully at: {path}", result={"type": "create"})

    def rejected(self, tool: str, arguments: dict[str, Any], words: str = "") -> Script:
        said = f"To tell you how to proceed, the user said:\n{words}" if words else "STOP what you are doing and wait."
        text = f"The user doesn't want to proceed with this tool use. The tool use was rejected. {said}"
        return self.call(tool, arguments, error=text)

    def call(
        self, tool: str, arguments: dict[str, Any], *, output: str = "", error: str | None = None, result: object = None
    ) -> Script:
        identity = f"call-{self.session}-{len(self.records)}"
        self._assistant({"type": "tool_use", "id": identity, "name": tool, "input": arguments})
        block: dict[str, Any] = {"type": "tool_result", "tool_use_id": identity, "content": error or output}
        if error:
            block["is_error"] = True
        tail = f"Error: {error}" if error else result or {}
        return self._line("user", {"role": "user", "content": [block]}, toolUseResult=tail)

    def _assistant(self, block: dict[str, Any]) -> Script:
        message = {"role": "assistant", "id": f"m{len(self.records)}", "model": "claude-x", "content": [block]}
        return self._line("assistant", message)

    def _line(self, kind: str, message: dict[str, Any], **more: object) -> Script:
        parent = self.records[-1]["uuid"] if self.records else None
        self.records.append(
            {
                "type": kind,
                "uuid": f"{self.session}-{len(self.records)}",
                "parentUuid": parent,
                "timestamp": self.at.isoformat().replace("+00:00", "Z"),
                "sessionId": self.session,
                "cwd": self.root,
                "version": "2.1.0",
                "isSidechain": False,
                "userType": "external",
                "message": message,
                **more,
            }
        )
        self.at += timedelta(seconds=30)
        return self

    def save(self, folder: Path, *, upto: int | None = None, copied: Sequence[dict[str, Any]] = ()) -> Path:
        """Writes the log into ``folder``, or its first ``upto`` lines; ``copied`` lines go before its own."""
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{self.session}.jsonl"
        lines = [*({**record, "sessionId": self.session} for record in copied), *self.records[:upto]]
        path.write_text("".join(f"{json.dumps(record)}\n" for record in lines), encoding="utf-8")
        return path
