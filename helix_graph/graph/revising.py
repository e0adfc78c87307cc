"""Revising: the assertions that later evidence makes, kept in step with the episodes.

`helix_episodes.later` works out the revisions from all episodes; here each stands as an assertion's file, like a
person's correction, so that everything that reads episodes applies it. Their names follow from their content, so the
same episodes give the same files on every machine. A file whose evidence is gone is removed, whoever removed that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from helix_episodes.corrections import OutcomeRevision
from helix_episodes.files import remove_file
from helix_episodes.later import revisions
from helix_episodes.model import Episode
from helix_graph.graph.assertions import AssertionStore, name_of
from helix_graph.graph.sources import PREFIX, SUFFIX

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def revise(episodes: Path, assertions: Path) -> bool:
    """Writes and removes revisions until they are those that the episodes give; says whether any file changed.

    Raises:
        WriteFailed: A file could not be written or removed.
    """
    store = AssertionStore(assertions)
    wanted = {name_of(one): one for one in revisions(_readable(episodes))}
    there = {path.stem: path for path, one in store.scan() if isinstance(one, OutcomeRevision)}
    for name in sorted(wanted.keys() - there.keys()):
        store.add(wanted[name])
    for name in sorted(there.keys() - wanted.keys()):
        remove_file(there[name])
    return wanted.keys() != there.keys()


def _readable(folder: Path) -> Iterator[Episode]:
    """The episodes that can be read; the others are told by compile itself."""
    for path in sorted(folder.glob(f"{PREFIX}*{SUFFIX}")) if folder.is_dir() else ():
        try:
            one = msgspec.json.decode(path.read_bytes(), type=Episode)
        except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            continue
        if one.id == path.stem:
            yield one
