r"""From an event to its answer: which memory it concerns, which function answers it, and in which form.

>>> shaped("gemini", "user-prompt", "a fact")
b'{"hookSpecificOutput": {"hookEventName": "BeforeAgent", "additionalContext": "a fact"}}\n'
>>> is_heard("cursor", "user-prompt"), is_heard("cursor", "session-end")
(False, True)
"""

from __future__ import annotations

import json
import os
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path

from helix_cli.hooks.call import HookAnswer
from helix_cli.hooks.events import EVENTS
from helix_cli.hooks.log import noted
from helix_cli.hooks.session_dedup import SessionDedup
from helix_cli.hooks.timed_child import ANSWERED
from helix_episodes.errors import WriteFailed
from helix_episodes.safe_files import never_make
from helix_graph.project import FOLDER, FOLDERS, disabled_by, memory_folder
from helix_graph.trust import adopt, adopted_sentence, is_memory, refusal_of, silence_from_git
from helix_graph.writability import read_only

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from helix_cli.hooks.call import Agent, HookCall


#: The events whose answer an agent reads. At the others there is no answer, and work is done for any agent.
_SPOKEN = frozenset({"session-start", "user-prompt", "pre-tool", "post-tool", "tool-failure"})
#: What the agents other than Claude Code and Codex hear. Cursor and Copilot drop what is said to a prompt, before a
#: tool there is no place for a context, and failures have no answer, or one that takes exit code 2 (Copilot).
_HEARD = {
    "gemini": frozenset({"session-start", "user-prompt", "post-tool"}),
    "cursor": frozenset({"session-start", "post-tool"}),
    "copilot": frozenset({"session-start", "post-tool"}),
}
#: Claude Code refuses a context that does not name its event; Gemini has names of its own.
_NAMES = {"gemini": {"user-prompt": "BeforeAgent", "post-tool": "AfterTool"}}
_KEYS = {"cursor": "additional_context", "copilot": "additionalContext"}


def is_heard(agent: Agent, event: str) -> bool:
    """Whether the event has any effect: the agent takes an answer there, or work is done that needs none."""
    return event not in _SPOKEN or event in _HEARD.get(agent, _SPOKEN)


def shaped(agent: Agent, event: str, text: str, *, notice: str = "") -> bytes:
    """The answer as the agent's program takes it: one JSON object or nothing; ``notice`` is for the person.

    Cursor and Copilot show a person nothing, so there a notice goes to the agent, once, when a session begins.
    """
    if agent in _KEYS:
        notice = notice if event == "session-start" else ""
        said: dict[str, Any] = {_KEYS[agent]: "\n".join(part for part in (notice, text) if part)}
    else:
        name = _NAMES.get(agent, EVENTS).get(event, EVENTS[event])
        context = {"hookSpecificOutput": {"hookEventName": name, "additionalContext": text}}
        said = {**({"systemMessage": notice} if notice else {}), **(context if text else {})}
    return json.dumps(said).encode() + b"\n" if text or notice else b""


_IGNORE_FILE = ".helixignore"
#: When a memory from before memories were recorded is adopted: a session begins, or it must not be lost.
_ADOPTING = frozenset({"session-start", "subagent-stop", "session-end"})


def _trusted(call: HookCall, root: Path) -> tuple[bool, str]:
    """Whether the memory may be used, and what the person is shown about it when a session begins.

    A folder that holds nothing of ours belongs to another tool, and nothing is said of it.
    """
    refusal = refusal_of(root, start=Path(call.cwd))
    if refusal is None or not is_memory(root):
        return refusal is None, ""
    notice = refusal.problem
    if refusal.kind == "unknown" and call.event in _ADOPTING:
        try:
            if adopt(root) is not None:
                refusal, notice = None, adopted_sentence(root)
        except WriteFailed as error:
            notice = f"{root} cannot be accepted: {error}"
    return refusal is None, f"helix-graph: {notice}" if call.event == "session-start" else ""


def _begun(call: HookCall, root: Path) -> str:
    """Begins work on the memory; returns what the person is shown when a session begins and it can only be read.

    Its user may delete it while something is done in the background: from now on none of its folders is made again.
    """
    for path in (root, *(root / name for name in FOLDERS)):
        if path.is_dir():
            never_make(path)
    refused = read_only(root) if call.event == "session-start" else None
    return f"helix-graph: {refused}" if refused else ""


def _is_ignored(root: Path, call: HookCall) -> bool:
    folders = (root.parent, root) if root.name == FOLDER else (root,)
    if not any((folder / _IGNORE_FILE).exists() for folder in folders):
        return False
    from helix_graph.ingest_filter import names_in, read_rules

    rules = read_rules(root)
    if rules.against("session", call.session) or rules.against("project", Path(call.cwd).name, call.cwd):
        return True
    if call.tool and rules.against("tool", call.tool):
        return True
    base = str(root.parent) if root.name == FOLDER else None
    return any(rules.against_path(path, base=base) for path in names_in(call.arguments))


#: Which function answers each event, and its module: ``f(call, root, dedup)`` gives a `HookAnswer`, or None. There
#: is no answer to a stop: whatever is said there makes the agent go on.
_ANSWERING = {
    "session-start": "briefing:answer_session_start",
    "user-prompt": "advice:answer_prompt",
    "pre-tool": "failures:answer_tool_call",
    "post-tool": "failures:answer_failure",
    "tool-failure": "failures:answer_failure",
    "subagent-stop": "background:answer_subagent_stop",
    "pre-compact": "briefing:answer_compaction",
    "session-end": "background:answer_session_end",
}
#: The events whose answers ask helix.db several questions.
_ASKING = frozenset({"session-start", "user-prompt"})


def answer_call(call: HookCall, say: Callable[[bytes], bool]) -> Iterator[bytes]:
    """Yields the memory's folder as a line as soon as it is known, writes the answer with ``say``, yields `ANSWERED`.

    ``say`` returns whether the agent has it. Items that were taken for an answer that it has not are free again.
    """
    folder = memory_folder(Path(call.cwd)) if call.event in _ANSWERING and is_heard(call.agent, call.event) else None
    if folder is None or not folder.is_dir():
        return
    if disabled_by(folder):
        if call.event == "session-start" and (notice := silence_from_git(folder)):
            say(shaped(call.agent, call.event, "", notice=f"helix-graph: {notice}"))
        return
    trusted, notice = _trusted(call, folder)
    if not trusted:
        say(shaped(call.agent, call.event, "", notice=notice))
        return
    notice = _begun(call, folder) or notice
    with noted(folder, call.event):
        if _is_ignored(folder, call):
            return
        yield os.fsencode(folder) + b"\n"
        with ExitStack() as until_answered:
            if call.event in _ASKING:
                from helix_graph.helix_db import kept_open

                until_answered.enter_context(kept_open())
            with SessionDedup(folder, call.session) as dedup:
                try:
                    answer = _answer(call, folder, dedup)
                except BaseException:  # the person's notice does not depend on the answer
                    say(shaped(call.agent, call.event, "", notice=notice))
                    raise
                if say(shaped(call.agent, call.event, answer.text, notice=notice or answer.notice)):
                    dedup.keep()
            yield ANSWERED


def _answer(call: HookCall, root: Path, dedup: SessionDedup) -> HookAnswer:
    if call.event == "user-prompt" and call.prompt_id and not dedup.take([f"prompt {call.prompt_id} {call.prompt}"]):
        return HookAnswer()  # the same prompt was reported by another program, or by a second entry in the settings
    module, name = _ANSWERING[call.event].split(":")
    answer: HookAnswer | None = getattr(import_module(f"helix_cli.hooks.{module}"), name)(call, root, dedup)
    return answer or HookAnswer()
