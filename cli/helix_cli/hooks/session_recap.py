"""What a session had done itself, for an agent whose context was compacted or that takes a session up again.

A summary that a model writes loses reasons and names of files. The log has them: before a compaction the session's
episode is extracted from it, in the background, and afterwards its own decisions with their reasons, the checks that
still fail, the commands that worked and the files that no commit has yet are told, in at most 600 tokens. A session
that is resumed was extracted when it ended.
"""

from __future__ import annotations

import json

from helix_cli.hooks.background import extract_log, in_turn, run_detached
from helix_cli.hooks.context_block import ContextLine, ContextSection
from helix_cli.hooks.session_dedup import SessionDedup, transcript_size
from helix_episodes.safe_files import read_regular
from helix_graph.insights.safe_quoting import label_or_quoted, quoted
from helix_graph.trust import shared_episodes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import Any

    from helix_cli.hooks.call import HookCall

    _Fields = dict[str, Any]


#: 600 tokens, at four characters each.
RECAP_CHARACTERS = 2400
_DECISIONS, _FAILURES, _COMMANDS, _FILES = 6, 3, 4, 12
_LONGEST_PART = 200
#: "Now the tests again." is no reason.
_FEWEST_REASON_WORDS = 6
_CHANGES = frozenset({"edit", "create", "delete"})
_CHOSEN = frozenset({*_CHANGES, "choose", "delegate"})


def answer_compaction(call: HookCall, root: Path, dedup: SessionDedup) -> None:
    """Records the session so far for `recap_of`; the event takes no context, so nothing is said.

    Gemini reports the event before every turn, whether anything is compacted or not: there it means nothing.
    """
    if call.agent == "gemini":
        return
    dedup.clear(transcript_size(call))
    run_detached(call.event, lambda: _extract(call, root))


def _extract(call: HookCall, root: Path) -> Iterator[bytes]:
    yield str(root).encode() + b"\n"
    with in_turn(root):
        extract_log(call, root)


def recap_of(call: HookCall, root: Path) -> Iterator[ContextSection]:
    """What the session that goes on had done; nothing where it was not recorded."""
    name = f"episode-{call.session}"
    if not call.session.replace("-", "").replace("_", "").isalnum() or shared_episodes(root, [name]):
        return
    try:
        episode = json.loads(read_regular(root / "episodes" / f"{name}.json"))
        decisions, events = episode["decisions"], episode["events"]
        yield _section("This session's own decisions:", _reasons(decisions))
        yield _section("Its open failures:", _open_failures(episode))
        yield _section("Commands that worked in it:", _commands(episode))
        yield _section("Its files that no commit has yet:", _files(decisions, events))
    except (OSError, ValueError, LookupError, TypeError, AttributeError):  # none, or none of ours: doctor names it
        return


def _section(heading: str, lines: Iterator[str]) -> ContextSection:
    return ContextSection(heading, [ContextLine(line) for line in lines])


def _reasons(decisions: list[_Fields]) -> Iterator[str]:
    """The newest decisions that have a reason, in the order in which they were made; the same reason once."""
    found: dict[str, str] = {}
    for one in decisions:
        reason, verb = one.get("rationale", ""), (one.get("action") or {}).get("verb")
        if (one.get("stated") or verb in _CHOSEN) and len(reason.split()) >= _FEWEST_REASON_WORDS:
            found.pop(reason, None)
            found[reason] = one["chosen"]
    for reason, chosen in list(found.items())[-_DECISIONS:]:
        yield f"{_part(chosen)}: {_part(reason)}" if chosen != reason else _part(chosen)


def _open_failures(episode: _Fields) -> Iterator[str]:
    """The checks whose last event is a failure that nothing repaired, the newest last."""
    repaired = {fix["error"] for fix in episode.get("fixes", ())}
    last = {one["check"]: one for one in episode["events"] if one.get("check") and one["type"] in {"error", "test"}}
    failing = [one for one in last.values() if one["type"] == "error" and one["id"] not in repaired]
    for one in failing[-_FAILURES:]:
        place = f" in {_part(one['path'])}" if one.get("path") else ""
        yield f"{label_or_quoted(one['check'])}: {_part(one.get('message') or one['content'])}{place}"


def _commands(episode: _Fields) -> Iterator[str]:
    """The newest commands after which a check was seen to pass, and none to fail."""
    passed = {one["id"] for one in episode["events"] if one["type"] == "test" and one.get("status") == "ok"}
    failed = {one["id"] for one in episode["events"] if one["type"] == "error"}
    called, wrong = (
        {link["source"] for link in episode.get("links", ()) if link["target"] in events and link["reason"] == "call"}
        for events in (passed, failed)
    )
    found = {
        one["action"]["command"]: None
        for one in reversed(episode["decisions"])
        if one["id"] in called - wrong and (one.get("action") or {}).get("command")
    }
    yield from map(_part, list(found)[:_COMMANDS])


def _files(decisions: list[_Fields], events: list[_Fields]) -> Iterator[str]:
    """The files that were changed after the last commit, on one line."""
    quiet = [one for one in decisions if _is_commit(one.get("action") or {}) and one.get("outcome") != "failure"]
    since = max(map(_line, [*quiet, *(one for one in events if one["type"] == "commit")]), default=0)
    changed = {
        one["action"]["path"]: None
        for one in decisions
        if (one.get("action") or {}).get("verb") in _CHANGES and one["action"].get("path") and _line(one) > since
    }
    if changed:
        yield ", ".join(map(_part, list(changed)[-_FILES:]))


def _is_commit(action: _Fields) -> bool:
    """Whether a command commits; with ``-q`` it prints nothing that would be an event."""
    return (action.get("program"), action.get("subcommand")) == ("git", "commit")


def _line(one: _Fields) -> int:
    found: int = (one.get("evidence") or {}).get("line", 0)
    return found


def _part(text: str) -> str:
    return quoted(text, longest=_LONGEST_PART)
