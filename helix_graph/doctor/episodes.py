"""Episodes: can they be read, are they who they say they are, do their parts and links hold together, who made them?

What cannot be mended without loss is set aside (`helix_graph.setting_aside`): a file that is no episode whole, of one
that can be mended the file as it was before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec

from helix_episodes.errors import InvalidEpisode
from helix_episodes.extraction.pipeline import EXTRACTOR_VERSION
from helix_episodes.files import irregularity
from helix_episodes.model import SCHEMA_VERSION, Episode
from helix_episodes.store import PREFIX, EpisodeStore, decode_episode
from helix_graph.doctor.agreement import agreed
from helix_graph.doctor.irregular import irregular_file
from helix_graph.doctor.model import Kind, trouble
from helix_graph.doctor.names import name_troubles, rewrite
from helix_graph.doctor.parts import sound
from helix_graph.doctor.secrets import data_of, secret_troubles
from helix_graph.setting_aside import set_aside
from helix_graph.tombstones import Tombstones

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from helix_graph.doctor.model import Trouble

#: A finding names so many of the problems of one file; the rest is counted.
_MOST_NAMED = 3
_EXTRACT_AGAIN = "helix-graph doctor --fix sets it aside; then extract its log again"
_MENDING: dict[Kind, str] = {
    "spoilt part": "helix-graph doctor --fix takes out times that are none and numbers doubled ids anew",
    "disagreeing links": (
        "helix-graph doctor --fix leaves out what cannot stand; episode extract --force reads the log again"
    ),
}


def episode_troubles(root: Path, folder: Path) -> Iterator[Trouble]:
    """Everything that is wrong with the episodes of a memory: first their files, then what stands in them."""
    store, extractors = EpisodeStore(folder), Counter[str]()
    for path in store.files():
        if problem := irregularity(path):
            yield irregular_file(root, path, problem)
        else:
            yield from secret_troubles(root, path)
            yield from _file(root, path)
    for path in store.files():  # once more: some may have been renamed or set aside
        yield from _content(root, path, extractors)
    for version, count in sorted(extractors.items()):
        problem = f"{count} were made by extractor {version}, now {EXTRACTOR_VERSION}"
        remedy = "extract their logs again where they still exist"
        yield trouble("old version", "episodes", problem, remedy, severity="note")


def _file(root: Path, path: Path) -> Iterator[Trouble]:
    if not path.exists():  # it may have been forgotten since the folder was listed
        return
    data, name = data_of(path), path.relative_to(root).as_posix()
    try:
        episode = decode_episode(data, path=path)
    except InvalidEpisode as error:
        if _major(_schema_of(data)) > _major(SCHEMA_VERSION):
            yield trouble("newer version", name, error.problem, "update helix-graph")
        else:
            yield trouble("unreadable episode", name, error.problem, _EXTRACT_AGAIN, mend=lambda: set_aside(root, path))
    else:
        yield from name_troubles(root, path, episode)


def _content(root: Path, path: Path, extractors: Counter[str]) -> Iterator[Trouble]:
    for kind, check in _CHECKS.items():  # each looks at the file as the one before has left it
        if read := _read(path):
            yield from _checked(root, path, kind, read, check)
    if read := _read(path):
        yield from _about(root, path, read[1], extractors)


def _read(path: Path) -> tuple[bytes, Episode] | None:
    """The episode in a file with its bytes; None when it is gone or, as was told already, none."""
    data = data_of(path)
    try:
        return data, decode_episode(data, path=path)
    except InvalidEpisode:
        return None


_Check = Callable[[Episode], tuple[Episode, tuple[str, ...]]]
#: In this order: links can only agree between parts that have names of their own.
_CHECKS: dict[Kind, _Check] = {"spoilt part": sound, "disagreeing links": agreed}


def _checked(root: Path, path: Path, kind: Kind, read: tuple[bytes, Episode], check: _Check) -> Iterator[Trouble]:
    data, episode = read
    fixed, problems = check(episode)
    if problems:
        more = f", and {len(problems) - _MOST_NAMED} more" if len(problems) > _MOST_NAMED else ""
        yield trouble(
            kind,
            path.relative_to(root).as_posix(),
            "; ".join(problems[:_MOST_NAMED]) + more,
            _MENDING[kind],
            mend=lambda: rewrite(root, path, before=data, after=fixed),
        )


def _about(root: Path, path: Path, episode: Episode, extractors: Counter[str]) -> Iterator[Trouble]:
    name = path.relative_to(root).as_posix()
    yield from _versions(name, episode, extractors)
    session = path.stem.removeprefix(PREFIX)
    if Tombstones(root).holds(session):
        problem = "its session was forgotten, but is here again"
        yield trouble("forgotten", name, problem, f"helix-graph forget --session {session}")


def _versions(name: str, episode: Episode, extractors: Counter[str]) -> Iterator[Trouble]:
    made_by = episode.provenance.extractor if episode.provenance else EXTRACTOR_VERSION
    if made_by != EXTRACTOR_VERSION:
        extractors[made_by] += 1
    if _major(episode.schema_version) > _major(SCHEMA_VERSION):
        problem = f"schema {episode.schema_version}, ours is {SCHEMA_VERSION}"
        yield trouble("newer version", name, problem, "update helix-graph", severity="note")


def _schema_of(data: bytes) -> str:
    """The schema that a file names, even where nothing else in it can be read."""
    try:
        return msgspec.json.decode(data, type=_Schema).schema_version
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return ""


class _Schema(msgspec.Struct):
    schema_version: str = ""


def _major(version: str) -> int:
    number = version.partition(".")[0]
    return int(number) if number.isdecimal() else 0
