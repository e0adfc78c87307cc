"""Failing tools: how the same error was repaired before, and a warning before a call that kept failing.

For an error only the same error and the same kind of error count: that a test runner failed before says nothing about
this failure. The error is remembered as the situation of the session. A later call gets a warning when that call kept
failing in this situation; it is labelled by the same grammar as episodes, which loads only when such an anti-pattern
is known.
"""

from __future__ import annotations

from helix_cli.hooks.call import HookAnswer
from helix_cli.hooks.context_block import ContextLine, ContextSection, anti_pattern_sentence, context_block
from helix_cli.hooks.fragile_files import fragile_section
from helix_cli.hooks.precedent_text import LEVELS, precedent_lines
from helix_cli.hooks.session_dedup import SITUATION, SessionDedup
from helix_cli.hooks.tool_results import shell_command
from helix_graph.causality.antipattern_cache import read_anti_patterns
from helix_graph.shared_authors import known_authors
from helix_graph.trust import shared_episodes

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable
    from pathlib import Path

    from helix_cli.hooks.call import HookCall
    from helix_graph.graph.error_precedents import Row
    from helix_graph.graph.error_query import Complaint


#: Programs print errors at one of the ends, and searching more takes too long for a tool's call.
_AT_EACH_END = 10_000
#: One for each issue of the output, as many as a block has room for.
_MOST_PRECEDENTS = 2


def answer_failure(call: HookCall, root: Path, dedup: SessionDedup) -> HookAnswer | None:
    """The precedent, if its repair is known and new to the session."""
    from helix_graph.errors import GraphNotCompiled
    from helix_graph.graph.error_precedents import find_precedents
    from helix_graph.graph.graph_db import FILE_NAME, open_graph
    from helix_graph.graph.precedent_rows import Past
    from helix_graph.graph.remedy_relevance import is_of_kind
    from helix_graph.graph.remedy_state import WorkingTree

    text = call.failure
    if len(text) >= 2 * _AT_EACH_END:
        text = f"{text[:_AT_EACH_END]}\n{text[-_AT_EACH_END:]}"
    if not text.strip() or (call.suspected and not _is_failing_run(call, text)):
        return None
    try:
        with open_graph(root / "causality" / FILE_NAME) as connection:
            readable = text.encode("utf-8", "replace").decode()
            tree = WorkingTree(root.parent, connection)
            past, muted = Past(connection), _muted(connection, root)
            found = find_precedents(past, readable, limit=_MOST_PRECEDENTS, tree=tree, nearest=True, is_muted=muted)
    except GraphNotCompiled:
        return None
    dedup.remember(SITUATION + label for label in found["looked_for"])
    precedents = found["precedents"] = [
        one for one in found["precedents"] if is_of_kind(one["label"], found["looked_for"])
    ]
    authors = known_authors(root, shared_episodes(root, (one["episode"] for one in precedents)))
    lines = dedup.take(precedent_lines(found, authors))
    block = context_block([ContextSection("Met before:", [ContextLine(line) for line in lines])])
    return HookAnswer(block, _notice(found)) if block else None


def _muted(connection: sqlite3.Connection, root: Path) -> Callable[[Complaint], bool] | None:
    """Whether this user muted an issue or its group; None, and nothing loaded, where nobody said anything of any."""
    if connection.execute("SELECT 1 FROM assertion WHERE unit = '' AND problem IS NULL LIMIT 1").fetchone() is None:
        return None
    from helix_graph.issues.history import shared_statements, statements
    from helix_graph.issues.survey import issue_id

    muted = {name for name, one in statements(connection, root).items() if one.state == "muted"}
    if muted:
        muted -= shared_statements(connection, root)  # what a commit mutes is still said to this user's agent
    return lambda asked: not muted.isdisjoint((*asked.keys, *(issue_id("group", label) for label in asked.labels)))


def _notice(found: Row) -> str:
    """What the person is told of it, whose agent alone reads the block."""
    shown = [one for one in found["precedents"] if one["level"] in LEVELS]
    met = max(found["issues"][one["issue"]]["sessions"] for one in shown)
    what = "gave the agent the fix" if any(one["fixes"] for one in shown) else "never repaired, and the agent knows it"
    return f"helix: seen in {met} session{'s' * (met != 1)}, {what}"


def _is_failing_run(call: HookCall, text: str) -> bool:
    """Whether the output of a command whose exit code is hidden, or not known, has a failing verdict of its own."""
    from helix_episodes.extraction.checks import exception_at_end, read_verdicts
    from helix_episodes.extraction.shell.commands import decisive, parse_command

    command = parse_command(shell_command(call.arguments))
    if any(one.passed is False for one in read_verdicts(command, output=text, exit_code=None, status="unknown")):
        return True
    part = decisive(command)
    return part is not None and part.purpose not in {None, "look"} and exception_at_end(text) is not None


def answer_tool_call(call: HookCall, root: Path, dedup: SessionDedup) -> HookAnswer | None:
    """The warning, once a session, and the line of a fragile file, once a session and file."""
    block = context_block([fragile_section(call, root, dedup), _kept_failing(call, root, dedup)])
    return HookAnswer(block) if block else None


def _kept_failing(call: HookCall, root: Path, dedup: SessionDedup) -> ContextSection:
    """The anti-patterns that a call would follow, in the situation that the session is in."""
    known = []
    for one in read_anti_patterns(root) or ():
        family = one.trigger.partition(" fails: ")[2]  # the output may name the kind of error without the check
        if dedup.has(SITUATION + one.trigger) or (family and dedup.has(SITUATION + family)):
            known.append(one)
    heading = "This kept failing here:"
    if not known:
        return ContextSection(heading, [])
    from helix_graph.graph.node_labels import labels_of_call

    labels = labels_of_call(call.tool, call.arguments, root=root.parent)
    lines = dedup.take(anti_pattern_sentence(one) for one in known if one.action in labels)
    return ContextSection(heading, [ContextLine(line) for line in lines])
