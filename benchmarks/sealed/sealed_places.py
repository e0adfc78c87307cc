"""Which lines of a log are one place: a call with its results, a message with its mirror, the text of one message."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

#: How far a Codex message and its mirrored item can be apart: both are written before the next call.
MIRROR = 10
_RUNNING = re.compile(r"Process running with session ID (\d+)")
_MESSAGES = re.compile(r'"messages"\s*:\s*\[')


class Places:
    """The places of one log. ``document`` says that the log is one JSON document, whose places are its messages."""

    def __init__(self, log: Path) -> None:
        text = log.read_text(encoding="utf-8", errors="replace")
        self.document = log.suffix == ".json"
        self.prompts: list[int] = []
        self._keys: dict[int, set[str]] = defaultdict(set)
        self._words: dict[int, set[str]] = defaultdict(set)
        self._message_of: list[int] = []
        if self.document:
            self._read_document(text)
        else:
            self._read_records(text)
        self._lines: dict[str, set[int]] = defaultdict(set)
        for keys in (self._keys, self._words):
            for line, names in keys.items():
                for name in names:
                    self._lines[name].add(line)

    def ours(self, lines: Iterable[int], *, words: bool = False) -> frozenset[int]:
        """The place of what we say stands on these lines; with ``words`` also the other records of its message."""
        if self.document:
            return frozenset(self._message_of[line - 1] for line in lines if line <= len(self._message_of))
        found = set(lines)
        for line in tuple(found):
            names = self._keys[line] | (self._words[line] if words else set())
            found.update(*(self._lines[name] for name in names))
        return frozenset(found)

    def _read_document(self, text: str) -> None:
        """Counts for each line which message it lies in; what is above and below belongs to the first and last."""
        start = _MESSAGES.search(text)
        assert start, "a log that is one document has a list of messages"
        decoder, at, messages = json.JSONDecoder(), start.end(), []
        while True:
            at = _next(text, at)
            if text[at] == "]":
                break
            message, end = decoder.raw_decode(text, at)
            messages.append(message)
            last = text.count("\n", 0, end) + 1
            self._message_of += [len(messages) - 1] * (last - len(self._message_of))
            at = end
        assert messages == json.loads(text)["messages"]
        for number, message in enumerate(messages):
            if (message.get("type") or message.get("info", {}).get("role")) == "user":
                self.prompts.append(number)
        self._message_of += [len(messages) - 1] * (text.count("\n") + 1 - len(self._message_of))

    def _read_records(self, text: str) -> None:
        running: dict[str, str] = {}
        said: list[tuple[int, str, str]] = []
        for number, line in enumerate(text.splitlines(), 1):
            record = _record(line)
            payload, kind = record.get("payload"), str(record.get("type"))
            if isinstance(payload, dict):
                self._read_codex(number, kind, payload, running)
                said += ((number, kind, words) for words in _codex_words(payload))
            else:
                self._read_claude_code(number, record)
        for number, kind, words in said:
            if kind == "event_msg":
                near = [(abs(other - number), other) for other, its, same in said if its != kind and same == words]
                if near and min(near)[0] <= MIRROR:
                    for place in (number, min(near)[1]):
                        self._keys[place].add(f"words {number}")

    def _read_codex(self, number: int, kind: str, payload: dict[str, Any], running: dict[str, str]) -> None:
        """Notes the call of a record; ``running`` has the first call of each process and of each poll of it."""
        call = payload.get("call_id")
        if isinstance(call, str):
            if payload.get("name") == "write_stdin":
                polled = _record(payload.get("arguments") or "").get("session_id")
                running[call] = running.get(f"process {polled}", call)
            output = payload.get("output")
            if isinstance(output, str) and call not in running and (process := _RUNNING.search(output[:500])):
                running[f"process {process[1]}"] = call
            self._keys[number] |= {call, running.get(call, call)}
        if kind == "event_msg" and payload.get("type") == "user_message":
            self.prompts.append(number)

    def _read_claude_code(self, number: int, record: dict[str, Any]) -> None:
        message = record.get("message")
        if not isinstance(message, dict):
            return
        blocks = message.get("content")
        blocks = [block for block in blocks if isinstance(block, dict)] if isinstance(blocks, list) else []
        names = {block.get("id") if block.get("type") == "tool_use" else block.get("tool_use_id") for block in blocks}
        self._keys[number] |= {name for name in names if isinstance(name, str)}
        if isinstance(message.get("id"), str):
            self._words[number].add(message["id"])
        if record.get("type") == "user" and not self._keys[number] and not record.get("isMeta"):
            self.prompts.append(number)


def _next(text: str, at: int) -> int:
    while text[at].isspace() or text[at] == ",":
        at += 1
    return at


def _record(line: str) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _codex_words(payload: dict[str, Any]) -> Iterator[str]:
    if payload.get("type") in {"agent_message", "user_message"}:
        yield str(payload.get("message")).strip()
    elif payload.get("type") == "message" and isinstance(payload.get("content"), list):
        yield "".join(str(part.get("text", "")) for part in payload["content"]).strip()
