"""What did the real clients do under `make agents`, beyond what its harness expects?

The harness leaves every request that the model got; here they are read once more. Without such a run all are skipped.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.agents

WORK = Path(os.environ.get("AGENTS_WORK", "nowhere"))
#: OpenCode has no hooks that a command can answer; `.ci/agents opencode` plays it once more with our plugin.
CLIENTS = ("claude", "codex", "gemini", "copilot", "plugin/opencode")
BLOCK = re.compile(r"(?:<|&lt;)helix-graph-memory.*?(?:<|&lt;)/helix-graph-memory(?:>|&gt;)", re.DOTALL)
FIX = "Decimal"
#: English text with code in it has some four characters a token.
CHARACTERS_A_TOKEN = 4


def last_request(client: str, session: str) -> list[Any]:
    """The messages of the last request of a session's own lane."""
    records = WORK / client / "out" / session / "records.jsonl"
    if not records.exists():
        pytest.skip(f"no run of {client} in AGENTS_WORK: `make agents` makes one")
    asked = [json.loads(line) for line in records.read_text().splitlines()]
    body = [one["body"] for one in asked if one.get("lane") not in {None, "otherwise"}][-1]
    return list(body.get("messages") or body.get("input") or body.get("contents"))


def texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from texts(one)


def blocks(messages: list[Any]) -> list[tuple[int, str]]:
    return [(at, one) for at, message in enumerate(messages) for text in texts(message) for one in BLOCK.findall(text)]


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("session", ["again", "piped"])
def test_the_fix_comes_once_and_short_beside_the_failing_result(client: str, session: str) -> None:
    messages = last_request(client, session)
    said = [(at, block) for at, block in blocks(messages) if "Met before" in block]
    assert len(said) == 1
    ((at, block),) = said
    assert FIX in block
    assert len(block) <= 150 * CHARACTERS_A_TOKEN
    failing = next(
        at for at, one in enumerate(messages) if any("1 failed" in text or "2 failed" in text for text in texts(one))
    )
    assert abs(at - failing) <= 1  # Codex puts a hook's words before the result that they are about


@pytest.mark.parametrize("client", CLIENTS)
def test_a_session_is_briefed_on_the_one_before(client: str) -> None:
    said = "\n".join(block for _, block in blocks(last_request(client, "again")))
    assert "A cart with a discount raises an error" in said
    assert len(said) <= 300 * CHARACTERS_A_TOKEN


@pytest.mark.parametrize("client", CLIENTS)
def test_no_hook_failed(client: str) -> None:
    shop = WORK / client / "shop" / ".helix"
    if not shop.is_dir():
        pytest.skip(f"no run of {client} in AGENTS_WORK: `make agents` makes one")
    log = shop / "hooks.log"
    assert not log.exists() or not log.read_text()
