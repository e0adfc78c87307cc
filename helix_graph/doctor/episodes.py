"""Episodes: can they be read, do their links agree, do they hold secrets, who made them, were they forgotten?"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import orjson

from helix_episodes.errors import InvalidEpisode
from helix_episodes.extraction.pipeline import EXTRACTOR_VERSION
from helix_episodes.files import replace_file
from helix_episodes.model import SCHEMA_VERSION
from helix_episodes.redaction import redact, redact_text
from helix_episodes.store import EpisodeStore, decode_episode, encode_episode
from helix_graph.doctor.agreement import agreed
from helix_graph.doctor.model import Trouble, trouble
from helix_graph.tombstones import Tombstones

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from helix_episodes.model import Episode

#: A finding names so many of the problems of one file; the rest is counted.
_MOST_NAMED = 3
_EXTRACT_AGAIN = "extract its log again with --force; without the log, delete the file"


def episode_troubles(root: Path, folder: Path) -> Iterator[Trouble]:
    """Everything that is wrong with the episodes of a memory."""
    extractors: Counter[str] = Counter()
    for path in EpisodeStore(folder).files():
        if path.exists():  # it may have been forgotten since the folder was listed
            yield from _in_file(root, path, extractors)
    for version, count in sorted(extractors.items()):
        problem = f"{count} were made by extractor {version}, now {EXTRACTOR_VERSION}"
        remedy = "extract their logs again where they still exist"
        yield trouble("old version", "episodes", problem, remedy, severity="note")


def json_troubles(root: Path, folder: Path) -> Iterator[Trouble]:
    """Secrets in other JSON files that people's words stand in: assertions."""
    for path in sorted(folder.glob("*.json")):
        yield from _secrets(root, path, _data(path))


def _in_file(root: Path, path: Path, extractors: Counter[str]) -> Iterator[Trouble]:
    name = str(path.relative_to(root))
    yield from _secrets(root, path, _data(path))
    data = _data(path)  # once more: the secrets may have been cut since
    try:
        episode = decode_episode(data, path=path)
    except InvalidEpisode as error:
        yield trouble("unreadable episode", name, error.problem, _EXTRACT_AGAIN)
        return
    if episode.id != path.stem:
        problem = f"its id is {episode.id!r}, so it is not in the graph"
        yield trouble("unreadable episode", name, problem, f"rename it to {episode.id}.json, or delete it")
    yield from _versions(name, episode, extractors)
    yield from _links(name, path, episode, data)
    if Tombstones(root).holds(episode.session):
        problem = "its session was forgotten, but is here again"
        yield trouble("forgotten", name, problem, f"helix-graph forget --session {episode.session}")


def _versions(name: str, episode: Episode, extractors: Counter[str]) -> Iterator[Trouble]:
    made_by = episode.provenance.extractor if episode.provenance else EXTRACTOR_VERSION
    if made_by != EXTRACTOR_VERSION:
        extractors[made_by] += 1
    if _major(episode.schema_version) > _major(SCHEMA_VERSION):
        problem = f"schema {episode.schema_version}, ours is {SCHEMA_VERSION}"
        yield trouble("newer version", name, problem, "update helix-graph", severity="note")


def _major(version: str) -> int:
    number = version.partition(".")[0]
    return int(number) if number.isdecimal() else 0


def _links(name: str, path: Path, episode: Episode, data: bytes) -> Iterator[Trouble]:
    fixed, problems = agreed(episode)
    if problems:
        more = f", and {len(problems) - _MOST_NAMED} more" if len(problems) > _MOST_NAMED else ""
        yield trouble(
            "disagreeing links",
            name,
            "; ".join(problems[:_MOST_NAMED]) + more,
            "helix-graph doctor --fix leaves out what cannot stand; episode extract --force reads the log again",
            mend=(lambda: replace_file(path, before=data, after=encode_episode(fixed))) if fixed != episode else None,
        )


def _secrets(root: Path, path: Path, data: bytes) -> Iterator[Trouble]:
    """What redaction would cut now: it has learnt a new kind, or somebody edited the file."""
    kinds = Counter(cut.kind for text in _texts(data) for cut in redact(text).cuts)
    if not kinds:
        return
    problem = ", ".join(f"{count} x {kind}" for kind, count in sorted(kinds.items()))
    clean = _cleaned(data)
    yield trouble(
        "secret",
        str(path.relative_to(root)),
        problem,
        "helix-graph doctor --fix cuts them; a secret that was ever shared should be replaced at its service",
        mend=(lambda: replace_file(path, before=data, after=clean)) if clean else None,
    )


def _texts(data: bytes) -> list[str]:
    """The texts of a JSON file, or all of a file that is none."""
    try:
        return list(_strings(orjson.loads(data)))
    except orjson.JSONDecodeError:
        return [data.decode("utf-8", "replace")]


def _strings(value: Any) -> Iterator[str]:  # noqa: ANN401  (JSON)
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, each in value.items():
            yield key
            yield from _strings(each)
    elif isinstance(value, list):
        for each in value:
            yield from _strings(each)


def _cleaned(data: bytes) -> bytes | None:
    """The file with every text redacted; None of a file that is no JSON."""
    try:
        return orjson.dumps(_redacted(orjson.loads(data)), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    except (orjson.JSONDecodeError, orjson.JSONEncodeError):
        return None


def _redacted(value: Any) -> Any:  # noqa: ANN401  (JSON)
    if isinstance(value, str):
        return redact_text(value)
    if isinstance(value, dict):
        return {redact_text(key): _redacted(each) for key, each in value.items()}
    return [_redacted(each) for each in value] if isinstance(value, list) else value


def _data(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""  # what cannot be read is told as an unreadable episode
