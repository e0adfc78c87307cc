"""Who wrote the episodes of others: the author of the last commit, as git has it, or the role on the team's server.

Git's history is read once for all episodes, since starting git takes longer than a hook may, and kept in the memory's
cache. A file that is newer than the cache has been written since (a pull writes what it changes), so of that nobody is
named before the history is read again. A name in a commit is what its author chose: it is evidence, no proof.
"""

from __future__ import annotations

import json
from contextlib import suppress

from helix_episodes.safe_files import read_regular
from helix_graph.git import git_output
from helix_graph.project import SHARED_AUTHORS
from helix_graph.trust import shared_episodes, team_marker

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

#: Below the memory: what was shared from here and to here (`helix_graph.sharing.shared_files.SharedHere`).
SHARED_HERE = "shared-here.json"
#: Of a name in a commit; its author may have written a page there.
LONGEST_AUTHOR = 80
_AUTHOR = "\x01"
#: Of an episode that no commit has: it was looked for, and need not be again.
_NOBODY = "\x02"


def author_name(written: str) -> str:
    """An author's name as a commit has it: on one line, cut, without secrets and without what cannot be seen."""
    from helix_episodes.redaction import for_disk

    seen = " ".join("".join(one if one.isprintable() else " " for one in written).split())
    return str(for_disk(seen))[:LONGEST_AUTHOR].strip()


def known_authors(root: Path, shared: frozenset[str]) -> dict[str, str]:
    """The authors of these shared episodes, as far as the cache has them; "" where they are unknown."""
    team = _team_authors(root, shared)
    cached = _cached(root, shared - team.keys())
    return {**team, **{name: author.removeprefix(_NOBODY) for name, author in cached.items()}}


def _team_authors(root: Path, shared: frozenset[str]) -> dict[str, str]:
    """The authors of those episodes that came from the team's server."""
    found = {}
    for name in shared:
        with suppress(OSError, ValueError, LookupError, TypeError):
            found[name] = author_name(str(json.loads(read_regular(team_marker(root, name)))["author"]))
    return found


def authors_of(root: Path, episodes: Iterable[str]) -> dict[str, str]:
    """The author of each of the episodes of others; reads git's history where the cache has not looked for one."""
    shared = shared_episodes(root, episodes)
    if not all(_cached(root, shared - _team_authors(root, shared).keys()).values()):
        refresh_authors(root)
    return known_authors(root, shared)


def entries_of_others(root: Path) -> frozenset[int]:
    """The entries of topics that came from others, through git or the team's server."""
    with suppress(OSError, ValueError, LookupError, TypeError, AttributeError):
        here = json.loads(read_regular(root / SHARED_HERE))
        return frozenset(int(here["entries"][name]) for name in here["theirs"])
    return frozenset()


def refresh_authors(root: Path) -> None:
    """Reads git's history, if git tracks any episode, and keeps the authors; without a commit there is none."""
    from helix_episodes.errors import WriteFailed
    from helix_episodes.safe_files import write_atomically

    tracked = shared_episodes(root, (path.stem for path in (root / "episodes").glob("episode-*.json")))
    if not tracked:
        return
    found = _from_history(root)
    kept = {name: found.get(name, _NOBODY) for name in sorted(tracked)}
    with suppress(WriteFailed):  # a read-only memory: the authors of what is shared are unknown
        write_atomically(root / SHARED_AUTHORS, json.dumps(kept, ensure_ascii=False).encode())


def _cached(root: Path, shared: Iterable[str]) -> dict[str, str]:
    """What the cache has of these episodes; "" of those that it has not looked for, or that were written since."""
    try:
        known = json.loads(read_regular(root / SHARED_AUTHORS))
        written = (root / SHARED_AUTHORS).stat().st_mtime_ns
    except (OSError, ValueError):
        return dict.fromkeys(shared, "")
    if not isinstance(known, dict):
        return dict.fromkeys(shared, "")
    return {name: str(known.get(name, "")) if _age(root, name) <= written else "" for name in shared}


def _age(root: Path, episode: str) -> int:
    try:
        return (root / "episodes" / f"{episode}.json").stat().st_mtime_ns
    except OSError:
        return 0


def _from_history(root: Path) -> dict[str, str]:
    said = git_output(root, "log", f"--format={_AUTHOR}%aN", "--name-only", "--relative", "--", "episodes")
    found: dict[str, str] = {}
    author = _NOBODY
    for line in (said or b"").decode("utf-8", "replace").splitlines():  # the newest commit first
        if line.startswith(_AUTHOR):
            author = author_name(line.removeprefix(_AUTHOR)) or _NOBODY
        elif line.startswith("episodes/"):
            found.setdefault(line.removeprefix("episodes/").removesuffix(".json"), author)
    return found
