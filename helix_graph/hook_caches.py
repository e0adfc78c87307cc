"""What stands out, anti-patterns and fragile places, in small files that hooks read without loading anything.

Counting patterns over a thousand episodes takes longer than a tool call may wait, and no question should compute twice
what stands out. So whoever compiles in the background, or asks, writes the result down with the state of the graph that
it came from. When the graph has changed since, the file counts as empty. Both are derived and may be deleted at any
time.
"""

from __future__ import annotations

import json
from contextlib import suppress

from helix_episodes.light_imports import Value
from helix_episodes.safe_files import read_regular
from helix_graph.project import HIGHLIGHTS, PREPARED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    from helix_graph.causality.api import Causality


#: Situations that a session can be seen to be in: an error it has just met. That a task is a feature fits any call.
_LEVELS = frozenset({"family", "check", "asserted"})
#: More than anybody reads, fewer than would take long to look through at each call.
_MOST = 200
_GRAPH = "causality/graph.db"


class CachedAntiPattern(Value):
    """What keeps failing: after ``trigger``, ``action`` succeeded ``successes`` of ``occurrences`` times.

    ``successes`` is None where people have said so instead of counting. ``others`` is how often other answers to the
    same situation succeeded, 0 to 1; None where there were none. This user's own sessions are counted; with ``shared``
    none of them has it, and what is counted came from others.
    """

    trigger: str
    action: str
    successes: int | None
    occurrences: int
    others: float | None
    others_n: int
    shared: bool = False


def write_anti_patterns(root: Path, causality: Causality) -> tuple[CachedAntiPattern, ...]:
    """Counts the anti-patterns of the memory in ``root`` now and writes them down; those seen most often come first."""
    from helix_episodes.safe_files import write_atomically
    from helix_graph.trust import tracked_by_git

    found = [one for one in causality.anti_patterns() if one.level in _LEVELS]
    tracked = bool(found and tracked_by_git(root, ["causality/assertions/"]))
    by_label = {
        (one.trigger, one.action): CachedAntiPattern(
            one.trigger,
            one.action,
            one.successes,
            one.occurrences,
            one.base_rate,
            one.base_n,
            # Of what people added, whether git tracks any of that.
            tracked if one.successes is None else one.shared,
        )
        for one in reversed(found)  # one row a situation and action: the basis by which it does worst
        if one.base_rate is None or one.base_rate > one.success_rate
    }
    chosen = sorted(by_label.values(), key=lambda one: (-one.occurrences, one.trigger, one.action))[:_MOST]
    text = json.dumps(
        {
            "graph": graph_state(root),
            "anti_patterns": [one._asdict() for one in chosen],
            "fragile": _fragile(causality),
        }
    )
    write_atomically(root / PREPARED, text.encode())
    return tuple(chosen)


def _fragile(causality: Causality) -> dict[str, str]:
    """The places whose rate says that they fail more, each with its line; the worst check of a place speaks for it.

    This user's own sessions say so: what only shared ones do is told to no agent.
    The line is read by an agent, and a log may name a file anything: a name that is more than a name is left out.
    """
    import re

    from msgspec.structs import replace

    path = re.compile(r"[\w./@+:-]{1,200}")
    check = re.compile(r"[\w./@+:-]{1,100}(?: [\w./:-]{1,40}){0,2}")
    change = re.compile(rf"a change of {path.pattern}|a run of {check.pattern}")
    found = {}
    for place in reversed([one for one in causality.fragile().places if not one.shared]):
        after = tuple(one for one in place.passed_after if change.fullmatch(one.change))
        if place.rate.standing == "worse" and path.fullmatch(place.path) and check.fullmatch(place.rate.check):
            found[place.path] = replace(place, passed_after=after).sentence()
    return found


def fragile_line(root: Path, path: str) -> str:
    """Why a file (relative to the project) is fragile, in one line, or nothing; the file's own line before a folder's.

    It reads one small file: a hook may ask before every edit. Below 30 sessions with runs of checks it says nothing.
    """
    known = _read(root).get("fragile", {})
    name = path.removeprefix("./")
    while name and isinstance(known, dict):
        if isinstance(line := known.get(name), str):
            return line
        name = name.rpartition("/")[0]
    return ""


def read_anti_patterns(root: Path) -> tuple[CachedAntiPattern, ...] | None:
    """The anti-patterns of the memory in ``root`` as prepared; None when that is not of the graph as it is."""
    try:
        return tuple(CachedAntiPattern(**one) for one in _read(root)["anti_patterns"])
    except (LookupError, TypeError):
        return None


def _read(root: Path) -> dict[str, Any]:
    """What was prepared, as long as the graph is as it was then."""
    try:
        cached = json.loads(read_regular(root / PREPARED))
        graph = graph_state(root)  # nothing was prepared of a graph that is not there
        return dict(cached) if graph is not None and cached["graph"] == graph else {}
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return {}


def is_up_to_date(root: Path) -> bool:
    """Whether there is nothing to prepare: it was done, or there is no graph."""
    return graph_state(root) is None or read_anti_patterns(root) is not None


def graph_state(root: Path) -> list[int] | None:
    """Of the graph: its file, and the log of changes that SQLite has yet to take into it, by time and size."""
    try:
        found = (root / _GRAPH).stat()
    except OSError:
        return None
    state = [found.st_mtime_ns, found.st_size]
    with suppress(OSError):
        log = (root / f"{_GRAPH}-wal").stat()
        state += [log.st_mtime_ns, log.st_size] if log.st_size else []
    return state


#: Raised when the sentences of the same memory would be others.
_VERSION = 12


def read_highlights(root: Path) -> dict[str, Any] | None:
    """What was computed last, as `helix_graph.highlights.model.Highlights`; None when the graph has changed."""
    try:
        cached = json.loads(read_regular(root / HIGHLIGHTS))
        graph = graph_state(root)  # nothing was computed of a graph that is not there
        if graph is not None and (cached["version"], cached["graph"]) == (_VERSION, graph):
            return dict(cached["highlights"])
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return None
    return None


def write_highlights(root: Path, highlights: dict[str, Any]) -> None:
    """Keeps what was computed, as long as the graph stays as it is; nothing in a memory that may only be read."""
    from contextlib import suppress

    from helix_episodes.errors import WriteFailed
    from helix_episodes.safe_files import write_atomically

    text = json.dumps({"version": _VERSION, "graph": graph_state(root), "highlights": highlights}, ensure_ascii=False)
    with suppress(WriteFailed):
        write_atomically(root / HIGHLIGHTS, text.encode())


def drop_highlights(root: Path) -> None:
    """Forgets what was computed: a person has said something that changes it, and the graph is as it was."""
    from helix_episodes.safe_files import remove_file

    remove_file(root / HIGHLIGHTS)


def sentences_for_agents(root: Path, *, most: int, longest: int) -> list[str]:
    """The first sentences, at most so many with at most so many characters together, if they are of the graph as it is.

    Costs and files are left out: they would push what to do out of a short text. What people did is for people. What
    only rests on sessions that came with the repository is left out: this user's own have yet to agree.
    """
    found = (read_highlights(root) or {}).get("found")
    chosen: list[str] = []
    for one in found if isinstance(found, list) else ():
        if not isinstance(one, dict) or one.get("kind") == "people" or one.get("shared"):
            continue
        text = one.get("brief") or one.get("text")
        if isinstance(text, str) and len(chosen) < most:
            if sum(map(len, chosen)) + len(text) > longest:
                continue
            chosen.append(text)
    return chosen
