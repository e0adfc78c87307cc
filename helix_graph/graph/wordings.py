"""The texts of each episode on one page, so that a text is found without a look at every mention.

Most episodes have nothing to do with what is looked for. One page for all texts of an episode (``wording``) rules these
out (29 MB of texts: 45 ms); in the others the mentions decide.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from helix_graph.database import ANY_OF, as_list
from helix_graph.graph.model import EpisodeFacts, folded

if TYPE_CHECKING:
    import sqlite3


def wording(facts: EpisodeFacts) -> str:
    """Every text under which something of an episode may be looked for, each once, in one case."""
    return "\n".join(dict.fromkeys(mention.folded() for mention in facts.mentions))


def nodes_mentioning(connection: sqlite3.Connection, text: str) -> dict[int, frozenset[str]]:
    """The nodes with a mention whose text, but not their label, contains ``text``; the episodes of these mentions."""
    wanted = text.casefold()
    pages = connection.execute("SELECT episode, folded FROM wording")
    episodes = [episode for episode, page in pages if wanted in page]
    found: defaultdict[int, set[str]] = defaultdict(set)
    rows = connection.execute(
        "SELECT node, e.id, raw, message, command, path FROM mention m JOIN episode e ON e.number = m.episode"  # noqa: S608  (a constant)
        f" JOIN node n ON n.number = m.node WHERE m.episode {ANY_OF} AND NOT instr(n.folded, ?)",
        (as_list(episodes), wanted),
    )
    for node, episode, *texts in rows:
        if wanted in folded(*texts):
            found[node].add(episode)
    return {node: frozenset(episodes) for node, episodes in found.items()}
