"""Failing tools: how the same error was repaired before, and a warning before a call that kept failing.

For an error only the same error and the same kind of error count: that a test runner failed before says nothing about
this failure. The error is remembered as the situation of the session. A later call gets a warning when that call kept
failing in this situation; it is labelled by the same grammar as episodes, which loads only when such an anti-pattern
is known.
"""

from __future__ import annotations

from helix_cli.hooks.context_block import ContextLine, ContextSection, anti_pattern_sentence, context_block
from helix_cli.hooks.precedent_text import precedent_lines
from helix_cli.hooks.session_dedup import SITUATION, SessionDedup
from helix_graph.causality.antipattern_cache import read_anti_patterns
from helix_graph.shared_authors import known_authors
from helix_graph.trust import shared_episodes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

    from helix_cli.hooks.call import HookCall


#: Programs print errors at one of the ends, and searching more takes too long for a tool's call.
_AT_EACH_END = 10_000
#: One for each issue of the output, as many as a block has room for.
_MOST_PRECEDENTS = 2


def answer_failure(call: HookCall, root: Path, dedup: SessionDedup) -> str:
    """The precedent, if its repair is known and new to the session."""
    from helix_graph.errors import GraphNotCompiled
    from helix_graph.graph.error_precedents import find_precedents
    from helix_graph.graph.graph_db import FILE_NAME, open_graph
    from helix_graph.graph.remedy_state import WorkingTree

    text = call.failure
    if len(text) >= 2 * _AT_EACH_END:
        text = f"{text[:_AT_EACH_END]}\n{text[-_AT_EACH_END:]}"
    if not text.strip():
        return ""
    try:
        with open_graph(root / "causality" / FILE_NAME) as connection:
            readable = text.encode("utf-8", "replace").decode()
            tree = WorkingTree(root.parent, connection)
            found = find_precedents(connection, readable, limit=_MOST_PRECEDENTS, tree=tree, nearest=True)
    except GraphNotCompiled:
        return ""
    dedup.remember(SITUATION + label for label in found["looked_for"])
    precedents = found["precedents"]
    authors = known_authors(root, shared_episodes(root, (one["episode"] for one in precedents)))
    lines = dedup.take(precedent_lines(found, authors))
    return context_block([ContextSection("Met before:", [ContextLine(line) for line in lines])])


def answer_tool_call(call: HookCall, root: Path, dedup: SessionDedup) -> str:
    """The warning, once a session."""
    known = []
    for one in read_anti_patterns(root) or ():
        family = one.trigger.partition(" fails: ")[2]  # the output may name the kind of error without the check
        if dedup.has(SITUATION + one.trigger) or (family and dedup.has(SITUATION + family)):
            known.append(one)
    if not known:
        return ""
    from helix_graph.graph.node_labels import labels_of_call

    labels = labels_of_call(call.tool, call.arguments, root=root.parent)
    lines = dedup.take(anti_pattern_sentence(one) for one in known if one.action in labels)
    return context_block(
        [ContextSection("What is about to be done kept failing here:", [ContextLine(line) for line in lines])]
    )
