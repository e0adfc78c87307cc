"""Failing tools: how the same error was repaired before, and a warning before a call that kept failing.

For an error only the same error and the same kind of error count: that a test runner failed before says nothing about
this failure. The error is remembered as the situation of the session. A later call gets a warning when that call kept
failing in this situation; it is labelled by the same grammar as episodes, which loads only when such an anti-pattern
is known.
"""

from __future__ import annotations

from helix_cli.hooks.context_block import (
    LONGEST_QUOTATION,
    SHARED,
    ContextLine,
    ContextSection,
    anti_pattern_sentence,
    context_block,
)
from helix_cli.hooks.fragile_files import fragile_section
from helix_cli.hooks.session_dedup import SITUATION, SessionDedup
from helix_graph.causality.antipattern_cache import read_anti_patterns
from helix_graph.insights.safe_quoting import quoted
from helix_graph.shared_authors import known_authors
from helix_graph.trust import shared_episodes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from helix_cli.hooks.call import HookCall
    from helix_graph.graph.error_precedents import Row


#: Programs print errors at one of the ends, and searching more takes too long for a tool's call.
_AT_EACH_END = 10_000
_LEVELS = {"exact": "the same error", "family": "the same kind of error"}
_MOST_FIXES = 2


def answer_failure(call: HookCall, root: Path, dedup: SessionDedup) -> str:
    """The precedent, if its repair is known and new to the session."""
    from helix_graph.errors import GraphNotCompiled
    from helix_graph.graph.error_precedents import find_precedents
    from helix_graph.graph.graph_db import FILE_NAME, open_graph

    text = call.failure
    if len(text) >= 2 * _AT_EACH_END:
        text = f"{text[:_AT_EACH_END]}\n{text[-_AT_EACH_END:]}"
    if not text.strip():
        return ""
    try:
        with open_graph(root / "causality" / FILE_NAME) as connection:
            readable = text.encode("utf-8", "replace").decode()
            found = find_precedents(connection, readable, limit=1, nearest=True)
    except GraphNotCompiled:
        return ""
    dedup.remember(SITUATION + label for label in found["looked_for"])
    precedents = found["precedents"]
    authors = known_authors(root, shared_episodes(root, (one["episode"] for one in precedents)))
    lines = [line for one in precedents for line in _precedent_lines(one, found["sessions"], authors)]
    return context_block([ContextSection("Met before:", [ContextLine(line) for line in dedup.take(lines)])])


def _precedent_lines(one: Row, sessions: dict[str, int], authors: Mapping[str, str]) -> Iterator[str]:
    """What happened; of a session that git tracks somebody else may be the author, as ``authors`` has it."""
    level, date, fixes = one["level"], one["date"], one["fixes"]
    if level not in _LEVELS or not fixes:
        return
    day = f", the newest of {date[:10]}" if date else ""
    author = quoted(authors.get(one["episode"], "")) or "an unknown author"
    source = f"{SHARED} by {author}, " if one["episode"] in authors else ""
    where = f"{source}episode {one['episode']}"
    yield f"{one['label']} ({_LEVELS[level]}; sessions that met it: {sessions[level]}{day}; {where})"
    yield from (f"{_repair(fix)}{f' ({SHARED})' if source else ''}" for fix in fixes[:_MOST_FIXES])


def _repair(fix: Row) -> str:
    """What was done, whether it was verified, and where the log has it."""
    verified = f"verified: afterwards {fix['verified_by']}" if fix["verified_by"] else "verified"
    sure = verified if fix["verified"] else "not verified"
    why = f"; the session said why: {quoted(fix['rationale'], longest=LONGEST_QUOTATION)}" if fix["rationale"] else ""
    where = f" [{fix['log']}:{fix['line']}]" if fix["log"] and fix["line"] else ""
    done = quoted(fix["path"] or fix["command"] or fix["chosen"], longest=LONGEST_QUOTATION)
    return f"repaired by {fix['label']}: {done} ({sure}){why}{where}"


def answer_tool_call(call: HookCall, root: Path, dedup: SessionDedup) -> str:
    """The warning, once a session, and the line of a fragile file, once a session and file."""
    return context_block([fragile_section(call, root, dedup), _kept_failing(call, root, dedup)])


def _kept_failing(call: HookCall, root: Path, dedup: SessionDedup) -> ContextSection:
    """The anti-patterns that a call would follow, in the situation that the session is in."""
    known = []
    for one in read_anti_patterns(root) or ():
        family = one.trigger.partition(" fails: ")[2]  # the output may name the kind of error without the check
        if dedup.has(SITUATION + one.trigger) or (family and dedup.has(SITUATION + family)):
            known.append(one)
    heading = "What is about to be done kept failing here:"
    if not known:
        return ContextSection(heading, [])
    from helix_graph.graph.node_labels import labels_of_call

    labels = labels_of_call(call.tool, call.arguments, root=root.parent)
    lines = dedup.take(anti_pattern_sentence(one) for one in known if one.action in labels)
    return ContextSection(heading, [ContextLine(line) for line in lines])
