"""Look-ups: calls that only ask what is there. One that found nothing has its answer; there is nothing to repair."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from helix_episodes.extraction.shell.commands import decisive, parse_command
from helix_episodes.safe_files import LONGEST_COMMAND
from helix_graph.graph.node_labels import is_error

if TYPE_CHECKING:
    from helix_episodes.model import Episode

#: Tools that only look, by the names that agents give them; of a skill that is not there nothing was done.
_LOOKING = frozenset({
    "Read", "Grep", "Glob", "LS", "WebFetch", "WebSearch", "NotebookRead", "ToolSearch", "Skill", "read_file", "view",
    "view_image", "list_dir", "grep", "glob", "search", "read", "list", "fetch", "webfetch", "read_many_files",
    "search_file_content",
})  # fmt: skip


@lru_cache(maxsize=4096)
def only_looks(check: str) -> bool:
    """Whether a tool or a command, by its name, only looks.

    >>> only_looks("Read"), only_looks("ls"), only_looks("git commit"), only_looks("pytest")
    (True, True, False, False)
    """
    part = decisive(parse_command(check[:LONGEST_COMMAND]))
    return check in _LOOKING or (part is not None and part.purpose == "look")


def lookups_in(episode: Episode) -> set[str]:
    """The errors of an episode that are answers to a look-up, by their ids."""
    calls = {link.target: link.source for link in episode.links if link.reason == "call"}
    decisions = {one.id: one for one in episode.decisions}
    found = set()
    for error in filter(is_error, episode.events):
        decision = decisions.get(calls.get(error.id, ""))
        command = decision.action.command if decision and decision.action else None
        if error.tool in _LOOKING or only_looks(command or error.check or ""):
            found.add(error.id)
    return found
