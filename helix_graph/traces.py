"""Traces: does any file of the memory still hold what was forgotten?

Every file below ``.helix`` is searched, its name and its bytes, databases with their logs and free pages too, and what
is compressed in it: for the ids of the sessions and for every text that their episodes held: quotations, prompts,
commands, paths, messages, the names of logs. A text that a kept session says as well (two sessions ran the same tests)
stands there in its own right, and is counted apart. Texts shorter than twelve characters are not looked for:
``pytest`` is in every memory and leads to nobody.

What is looked for are fingerprints (`helix_graph.fingerprints`), so that the search is the same whether the texts were
just read or are long gone.
"""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

import msgspec

from helix_graph import database
from helix_graph.errors import NotUnpacked
from helix_graph.fingerprints import Fingerprint, Searcher, fingerprints_of
from helix_graph.graph.schema import GRAPH_FILE
from helix_graph.tombstones import Unproved, digest
from helix_graph.unpacking import contents

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator
    from pathlib import Path

EPISODE_PREFIX = "episode-"


class Trace(msgspec.Struct, frozen=True, kw_only=True):
    """A file that still holds something: in how many ways, and whether a session's id is among them."""

    file: str
    texts: int
    names_session: bool


class Unsearched(msgspec.Struct, frozen=True, kw_only=True):
    """A file that could not be searched, or not all of it, and why."""

    file: str
    problem: str


class Proof(msgspec.Struct, frozen=True, kw_only=True):
    """What was searched for, where, and what was found.

    ``texts`` were searched for in ``files`` of ``bytes``. ``left`` should be empty, and so should ``unsearched``.
    ``shared`` texts stand in kept sessions too. ``too_short`` ones were not searched for.
    """

    texts: int
    files: int
    bytes: int
    shared: int = 0
    too_short: int = 0
    left: tuple[Trace, ...] = ()
    unsearched: tuple[Unsearched, ...] = ()

    @property
    def whole(self) -> bool:
        """Whether everything was searched and nothing found."""
        return not (self.left or self.unsearched)


def to_prove(session: str, texts: Iterable[str]) -> Unproved:
    """What has to be searched for after a session that said these texts is gone."""
    names = {session, EPISODE_PREFIX + session}
    said = set(texts) - names
    prints = fingerprints_of(said) | fingerprints_of(names, names=True)
    return Unproved(texts=tuple(sorted(prints)), too_short=sum(len(fingerprints_of([text])) == 0 for text in said))


def find_traces(
    root: Path, unproved: Unproved, *, sessions: Collection[str], graph: Path, outside: Iterable[Path] = ()
) -> Proof:
    """Searches every file of the memory in ``root``, and those ``outside`` of it.

    ``sessions`` are the digests of the sessions that are to be gone, ``graph`` is the memory's graph.db.
    """
    search = _Search(root, Searcher(unproved.texts, bounded=_parts_of_kept_names(root, unproved.texts)))
    derived = [path for path in root.rglob("*") if not _is_episode(root, path) and path.is_file()]
    found = search.all_of(sorted({*derived, *outside}))
    rows = _rows_in_graph(graph, sessions)
    # Kept sessions come last: one that is being recorded meanwhile is there before anything is derived from it.
    kept = search.all_of(sorted(path for path in (root / "episodes").glob("*.json") if path.is_file()))
    shared = {one for hits in kept.values() for one in hits if not one.names}
    found = dict(sorted({**found, **kept}.items()))
    left = [_trace(root, path, hits - shared, rows if path == graph else 0) for path, hits in found.items()]
    return Proof(
        texts=len(unproved.texts),
        files=len(found),
        bytes=sum(_size(path) for path in found),
        shared=len(shared),
        too_short=unproved.too_short,
        left=tuple(trace for trace in left if trace.texts),
        unsearched=tuple(search.unsearched),
    )


def strings_of(value: Any) -> Iterator[str]:  # noqa: ANN401  (JSON)
    """Every text in a JSON value, keys left out."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from strings_of(each)
    elif isinstance(value, list):
        for each in value:
            yield from strings_of(each)


class _Search:
    """One search through the files of a memory; ``unsearched`` grows while it goes on."""

    def __init__(self, root: Path, searcher: Searcher) -> None:
        self.unsearched: list[Unsearched] = []
        self._root = root
        self._searcher = searcher

    def all_of(self, paths: Iterable[Path]) -> dict[Path, set[Fingerprint]]:
        """What stands in each of the files that are still there."""
        return {path: hits for path in paths if (hits := self.of(path)) is not None}

    def of(self, path: Path) -> set[Fingerprint] | None:
        """What stands in a file or its name; None when it is gone."""
        name = _name_in(self._root, path)
        found = self._searcher.search(name.encode("utf-8", "surrogateescape"))
        try:
            for stream in contents(path):
                found |= self._searcher.search_stream(stream)
        except FileNotFoundError:
            return None  # a temporary file of another process, which is done with it
        except NotUnpacked as error:
            self.unsearched.append(Unsearched(file=name, problem=str(error)))
        return found


def _name_in(root: Path, path: Path) -> str:
    """A file's name within the memory; its whole path when it stands elsewhere."""
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.as_posix()


def _parts_of_kept_names(root: Path, wanted: Collection[Fingerprint]) -> set[Fingerprint]:
    """Names with which a kept one begins: ``session-1`` stands in ``session-12`` as well."""
    searcher = Searcher(wanted)
    kept = (path.stem.encode("utf-8", "surrogateescape") for path in (root / "episodes").glob("*.json"))
    return {one for name in kept for one in searcher.search(name)}


def _trace(root: Path, path: Path, hits: set[Fingerprint], rows: int) -> Trace:
    names = bool(rows) or any(one.names for one in hits)
    return Trace(file=_name_in(root, path), texts=len(hits) + rows, names_session=names)


def _is_episode(root: Path, path: Path) -> bool:
    """Whether a file is a kept episode: only another session may say the same; an assertion has it from this one."""
    return path.parent == root / "episodes" and path.suffix == ".json"


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _rows_in_graph(graph: Path, sessions: Collection[str]) -> int:
    """How many rows of the graph's tables are theirs, however short the id; a file not ours holds nothing of ours."""
    if not graph.exists() or database.ownership(graph, GRAPH_FILE) == "absent":
        return 0
    with database.reporting(graph), closing(database.open_for_reading(graph)) as connection:
        names = [name.removeprefix(EPISODE_PREFIX) for (name,) in connection.execute("SELECT id FROM episode")]
        names += [name for (name,) in connection.execute("SELECT session FROM episode")]
    return sum(digest(name) in sessions for name in names)
