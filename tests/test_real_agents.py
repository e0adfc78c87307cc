"""What did the real clients do under `make agents`, in the sessions that `play_real_agents.py` plays there?

Each client has a project of its own whose memory `helix-graph setup` began, and no command is called by hand. The model
leaves every request that it got; here they are read once more. Without such a run all are skipped.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from look_alikes import COMMANDS, QUIET

pytestmark = pytest.mark.agents

ROOT = Path(__file__).parents[1]
WORK = Path(os.environ.get("AGENTS_WORK", "nowhere"))
CLIENTS = ("claude", "claude-2.1.197", "codex", "gemini", "copilot", "opencode")
#: The clients that show a person, or write into their output, what a hook says to a person.
NOTICING = ("claude", "claude-2.1.197", "gemini")
BLOCK = re.compile(r"(?:<|&lt;)helix-graph-memory.*?(?:<|&lt;)/helix-graph-memory(?:>|&gt;)", re.DOTALL)
FAILING = re.compile(r"\bE +TypeError: unsupported operand type\(s\) for \*: 'decimal.Decimal' and 'float'")
#: The test's own summary line of a failing run, however a client shows a result.
FAILED_RUN = re.compile(r"\b1 failed(?:, \d+ passed)? in ")
FIX = "Decimal("
#: English text with code in it has some four characters a token.
CHARACTERS_A_TOKEN = 4


def played(client: str, session: str) -> list[dict[str, Any]]:
    """The bodies of a session's own lane, in the order in which the model got them."""
    if not (WORK / client).is_dir():
        pytest.skip(f"no run of {client} in AGENTS_WORK: `make agents` makes one")
    records = (WORK / client / "out" / session / "records.jsonl").read_text()
    asked = [json.loads(line) for line in records.splitlines()]
    return [one["body"] for one in asked if one.get("lane") not in {None, "otherwise"}]


def last_request(client: str, session: str) -> list[Any]:
    body = played(client, session)[-1]
    return [one for name in ("messages", "input", "contents") for one in body.get(name, ())]


def texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from texts(one)


def blocks(messages: list[Any]) -> list[tuple[int, str]]:
    return [(at, one) for at, message in enumerate(messages) for text in texts(message) for one in BLOCK.findall(text)]


def has(message: object, pattern: re.Pattern[str]) -> bool:
    return any(pattern.search(text) for text in texts(message))


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("session", ["own-again", "own-piped", "own-look-alikes"])
def test_the_fix_comes_once_and_short_beside_the_failing_result(client: str, session: str) -> None:
    messages = last_request(client, session)
    said = [(at, block) for at, block in blocks(messages) if "Met before" in block]
    assert len(said) == 1
    ((at, block),) = said
    assert FIX in block
    assert len(block) <= 150 * CHARACTERS_A_TOKEN
    failing = next(at for at, one in enumerate(messages) if has(one, FAILING))
    assert abs(at - failing) <= 1  # Codex puts a hook's words before the result that they are about


@pytest.mark.parametrize("client", CLIENTS)
def test_ten_errors_that_only_look_like_it_are_not_answered(client: str) -> None:
    """The error itself comes last in that session, and is answered: so the memory could have spoken."""
    messages = last_request(client, "own-look-alikes")
    at = next(at for at, block in blocks(messages) if "Met before" in block)
    before = messages[: at - 1]
    assert sum(has(one, FAILED_RUN) for one in before) == len(COMMANDS) == 10
    assert not any("Met before" in block for _, block in blocks(before))


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("number", range(len(QUIET)))
def test_where_nothing_failed_only_the_briefing_is_given(client: str, number: int) -> None:
    messages = last_request(client, f"own-quiet-{number}")
    assert len(played(client, f"own-quiet-{number}")) >= 2  # the command was run, and its result came back
    said = [block for _, block in blocks(messages)]
    assert len(said) == 1
    assert "Last session:" in said[0]
    assert len(said[0]) <= 300 * CHARACTERS_A_TOKEN


@pytest.mark.parametrize("client", CLIENTS)
def test_an_empty_memory_says_nothing(client: str) -> None:
    assert not blocks(last_request(client, "own-fix"))


@pytest.mark.parametrize("client", CLIENTS)
def test_a_session_is_briefed_on_the_newest_fix(client: str) -> None:
    (_, briefing), *_ = blocks(last_request(client, "own-again"))
    assert FIX in briefing.split("Newest verified fixes:")[1]
    assert len(briefing) <= 300 * CHARACTERS_A_TOKEN


@pytest.mark.parametrize("client", CLIENTS)
def test_what_a_person_corrected_is_told_to_a_session_about_the_same_matter(client: str) -> None:
    said = [block for _, block in blocks(last_request(client, "own-asked"))]
    assert any("don't use a third-party client for exchange rates" in block for block in said)


@pytest.mark.parametrize("client", NOTICING)
def test_the_person_is_told_in_one_line(client: str) -> None:
    played(client, "own-again")
    out = WORK / client / "out" / "own-again"
    said = (out / "stdout").read_text() + (out / "stderr").read_text()
    assert "helix: seen in 1 session, gave the agent the fix" in said


@pytest.mark.parametrize("client", [one for one in CLIENTS if one.startswith("claude")])
def test_claude_code_takes_the_plugin(client: str, tmp_path: Path) -> None:
    program = Path(os.environ.get("CLIENTS_NPM", "nowhere")) / client / "node_modules" / ".bin" / "claude"
    if not program.exists():
        pytest.skip(f"no {client} in CLIENTS_NPM: `make agents` installs it")
    environment = {"HOME": str(tmp_path), "PATH": os.environ["PATH"], "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}

    def said(*words: str) -> str:
        command = [str(program), "plugin", *words]
        return subprocess.run(command, env=environment, check=True, capture_output=True, text=True, timeout=120).stdout

    exported = tmp_path / "exported"
    shutil.copytree(ROOT / "cli" / "helix_cli" / "plugin", exported)
    for place in (ROOT, exported):
        assert "Validation passed" in said("validate", str(place))
    said("marketplace", "add", str(exported))
    said("install", "helix-graph@helix-graph")
    assert "helix-graph" in said("list")


@pytest.mark.parametrize("client", CLIENTS)
def test_no_hook_failed(client: str) -> None:
    played(client, "own-again")
    log = WORK / client / "project" / ".helix" / "hooks.log"
    assert not log.exists() or not log.read_text()
