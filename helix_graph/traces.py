"""Traces: does any file of the memory still hold what was forgotten?

Every file below ``.helix`` is searched as bytes, databases with their logs and free pages too, for the ids of the
sessions and for every text that their episodes held: quotations, prompts, commands, paths, messages, the names of logs.
A text that a kept session says as well (two sessions ran the same tests) stands there in its own right, and is counted
apart. Texts shorter than `SHORTEST` are not looked for: ``pytest`` is in every memory and leads to nobody.
"""

from __future__ import annotations

import mmap
import os
import re
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Any

import msgspec

from helix_graph import database
from helix_graph.graph.schema import GRAPH_FILE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

#: Shorter texts are words that everybody uses; in a database such a run of bytes also comes about by chance.
SHORTEST = 12
#: The start of a long text is enough to find it by; the rest may lie on another page of a database.
_LONGEST = 200
#: A session's id as a word of its own.
_BOUNDED = rb"(?<![A-Za-z0-9._-])%b(?![A-Za-z0-9_-])"


class Trace(msgspec.Struct, frozen=True, kw_only=True):
    """A file that still holds something: in how many ways, and whether a session's id is among them."""

    file: str
    texts: int
    names_session: bool


class Proof(msgspec.Struct, frozen=True, kw_only=True):
    """What was searched for, where, and what was found.

    ``texts`` were searched for in ``files`` of ``bytes``. ``left`` should be empty. ``shared`` texts stand in kept
    sessions too. ``too_short`` ones were not searched for.
    """

    texts: int
    files: int
    bytes: int
    shared: int = 0
    too_short: int = 0
    left: tuple[Trace, ...] = ()


def find_traces(root: Path, *, sessions: Iterable[str], texts: Iterable[str], graph: Path) -> Proof:
    """Searches every file of the memory in ``root`` for the sessions' ids and texts; ``graph`` is its graph.db."""
    ids = {name for session in sessions for name in (session, f"episode-{session}")}
    wanted = {text for text in {*texts, *ids} if len(text) >= SHORTEST}
    files = sorted(path for path in root.rglob("*") if path.is_file())
    kept = {path.stem for path in files if _is_truth(root, path)}
    patterns = {text: _forms(text) for text in wanted if not _is_part_of(text, kept)}
    bounded = {text: re.compile(_BOUNDED % re.escape(text.encode())) for text in (wanted & ids) - patterns.keys()}
    found = {path: _found_in(path, patterns, bounded) for path in files}
    shared = {text for path, hits in found.items() if _is_episode(root, path) for text in hits} - ids
    left = {path: hits - shared for path, hits in found.items()}
    rows = _rows_in_graph(graph, ids)
    if rows:
        left[graph] = left.get(graph, set()) | rows
    return Proof(
        texts=len(wanted),
        files=len(files),
        bytes=sum(_size(path) for path in files),
        shared=len(shared),
        too_short=len({*texts} - wanted),
        left=tuple(
            Trace(file=str(path.relative_to(root)), texts=len(hits), names_session=bool(hits & ids))
            for path, hits in left.items()
            if hits
        ),
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


def _is_episode(root: Path, path: Path) -> bool:
    """Whether a file is a kept episode: only another session may say the same; an assertion has it from this one."""
    return path.relative_to(root).parts[:-1] == ("episodes",) and path.suffix == ".json"


def _is_truth(root: Path, path: Path) -> bool:
    """Whether a file is a kept episode or assertion, which say what they say in their own right."""
    return path.relative_to(root).parts[:-1] in {("episodes",), ("causality", "assertions")} and path.suffix == ".json"


def _is_part_of(text: str, names: Iterable[str]) -> bool:
    """Whether a name goes on where this one ends: ``session-1`` stands in ``session-12`` as well."""
    return any(text in name and text != name for name in names)


def _found_in(path: Path, texts: Mapping[str, set[bytes]], bounded: Mapping[str, re.Pattern[bytes]]) -> set[str]:
    """Those of the texts that stand in the file, as they are or as JSON writes them; bounded ones as whole words."""
    with suppress(FileNotFoundError), path.open("rb") as file:
        if not os.fstat(file.fileno()).st_size:
            return set()
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            plain = {text for text, forms in texts.items() if any(content.find(form) >= 0 for form in forms)}
            likely = ((text, it) for text, it in bounded.items() if content.find(text.encode()) >= 0)
            return plain | {text for text, pattern in likely if pattern.search(content)}
    return set()  # a temporary file of another process, which is done with it


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _forms(text: str) -> set[bytes]:
    plain = text[:_LONGEST]
    return {plain.encode("utf-8", "replace"), msgspec.json.encode(plain)[1:-1]}


def _rows_in_graph(graph: Path, ids: Iterable[str]) -> set[str]:
    """Ids that the graph's tables still hold, however short; a file that is not ours holds nothing of ours."""
    if not graph.exists() or database.ownership(graph, GRAPH_FILE) == "absent":
        return set()
    names = database.as_list(sorted(ids))
    query = f"SELECT id FROM episode WHERE id {database.ANY_OF} OR session {database.ANY_OF}"  # noqa: S608  (a constant)
    with database.reporting(graph), closing(database.open_for_reading(graph)) as connection:
        return {name for (name,) in connection.execute(query, (names, names))}
