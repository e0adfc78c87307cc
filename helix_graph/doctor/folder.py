"""Check the memory's folder: whose it is, what in it does not belong there, and who may read it."""

from __future__ import annotations

import fnmatch
import time
from typing import TYPE_CHECKING

import msgspec

from helix_episodes.io import TEMPORARY_SUFFIX, irregularity, read_regular, remove_file, write_atomically
from helix_graph.database import LOCK_SUFFIX, OWNER_ONLY, SIDE_FILES
from helix_graph.doctor.model import fixable
from helix_graph.embedding.cache import CACHE_NAME
from helix_graph.errors import InvalidIgnoreFile
from helix_graph.graph.connection import EXPORT_NAME, FILE_NAME
from helix_graph.ingest_filter import FILE_NAME as IGNORE_FILE
from helix_graph.ingest_filter import read_rules
from helix_graph.project import (
    FOLDER,
    HOOK_FOLDER,
    HOOK_LOG,
    OFF_FILE,
    PAGES,
    PREPARED,
    PRIVATE_MEMORY,
    repository_root,
    work_trees,
)
from helix_graph.quarantine import FOLDER as ASIDE
from helix_graph.tombstones import Tombstone, Tombstones

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from helix_graph.doctor.model import FixableFinding


#: Our files, below the memory; the last five rows are those of parts of the design that are still to come.
_OURS = (
    ".gitignore",
    IGNORE_FILE,
    OFF_FILE,
    "episodes/episode-*.json",
    "causality/assertions/*.json",
    *(f"causality/{FILE_NAME}{suffix}" for suffix in ("", LOCK_SUFFIX, *SIDE_FILES)),
    f"causality/{EXPORT_NAME}",
    *(f"{CACHE_NAME}{suffix}" for suffix in ("", LOCK_SUFFIX, *SIDE_FILES)),
    f"{PAGES}/*.html",
    "forgotten/*.json",
    f"{ASIDE}/episodes/*.json",
    f"{ASIDE}/assertions/*.json",
    *(f"helix.db{suffix}" for suffix in ("", LOCK_SUFFIX, *SIDE_FILES)),
    "injection-state/*.json",
    "task-status.jsonl",
    "extraction.log",
    "explorer-results/*.json",
    HOOK_LOG,
    f"{HOOK_FOLDER}/*",
    PREPARED,
)
#: People's words stand in these.
_PRIVATE = (
    "episodes/*",
    "causality/*",
    "causality/assertions/*",
    "cache/*",
    f"{PAGES}/*",
    "forgotten/*",
    f"{ASIDE}/*/*",
)
#: git gives these its own permissions when they are shared.
_SHARED = ("episodes/*", "causality/assertions/*")
#: A file is written within milliseconds; after a minute whoever wrote it is gone, however slow the disk.
_STALE_SECONDS = 60.0
_OTHERS = 0o077


def check_folder(root: Path) -> Iterator[FixableFinding]:
    """Everything that is wrong with the memory's folder."""
    yield from _location(root)
    ignore = root / ".gitignore"
    if root.name == FOLDER and repository_root(root.parent) is not None and not ignore.exists():
        yield fixable(
            "not ignored by git",
            ".gitignore",
            "git would take in people's prompts with the next `git add`",
            "helix-graph init writes it",
            mend=lambda: write_atomically(ignore, PRIVATE_MEMORY.encode(), mode=0o644),
        )
    try:
        read_rules(root)
    except InvalidIgnoreFile as error:
        yield fixable("unreadable file", IGNORE_FILE, error.problem, f"mend line {error.line} of {error.path}")
    for path in sorted(path for path in root.rglob("*") if path.is_file()):
        try:
            yield from _file(root, path)
        except FileNotFoundError:  # another process was done with it
            continue
    yield from _tombstones(root)


def _location(root: Path) -> Iterator[FixableFinding]:
    """Memories that nobody would look into: between this one and the file system's root, or in work trees."""
    if root.name != FOLDER:
        return
    repository = repository_root(root.parent)
    if repository is not None and repository != root.parent:
        problem = f"it lies within the repository {repository}, whose memory is {repository / FOLDER}"
        yield fixable("stray memory", ".", problem, "copy its episodes there and delete it")
    for other in _others(root, repository):
        problem = f"another memory, {other}, is never used from here"
        remedy = "copy its episodes into this one and delete it, unless it belongs to another project"
        yield fixable("stray memory", str(other), problem, remedy, severity="note")


def _others(root: Path, repository: Path | None) -> Iterator[Path]:
    above = [folder / FOLDER for folder in root.parent.parents]
    trees = [tree / FOLDER for tree in work_trees(repository)] if repository else []
    yield from (folder for folder in (*trees, *above) if folder != root and (folder / "episodes").is_dir())


def _file(root: Path, path: Path) -> Iterator[FixableFinding]:
    name = path.relative_to(root).as_posix()
    if path.name.startswith(".") and path.name.endswith(TEMPORARY_SUFFIX):
        yield from _temporary(name, path)
    elif not _is_any(name, _OURS):
        yield fixable("unknown file", name, "it is not ours, and left alone", "nothing needs doing", severity="note")
    elif _is_any(name, _PRIVATE) and not (_is_any(name, _SHARED) and _is_shared(root)):
        yield from _mode(name, path)


def _is_any(name: str, patterns: tuple[str, ...]) -> bool:
    return any(name.count("/") == pattern.count("/") and fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


def _is_shared(root: Path) -> bool:
    ignore = root / ".gitignore"
    return ignore.is_file() and "!episodes/" in ignore.read_text(encoding="utf-8", errors="replace")


def _temporary(name: str, path: Path) -> Iterator[FixableFinding]:
    if time.time() - path.stat().st_mtime > _STALE_SECONDS:
        problem = "a process was killed while it wrote"
        yield fixable("temporary file", name, problem, "it can be deleted", mend=lambda: remove_file(path))


def _mode(name: str, path: Path) -> Iterator[FixableFinding]:
    if path.is_symlink():  # what it leads to is not ours to change
        return
    mode = path.stat().st_mode & 0o777
    if mode & _OTHERS:
        problem = f"its mode is {mode:o}: other people on this machine can read it"
        yield fixable("open to others", name, problem, f"chmod 600 {path}", mend=lambda: path.chmod(OWNER_ONLY))


def _tombstone(path: Path, name: str) -> Iterator[FixableFinding]:
    remedy = "delete it, and forget its session again if you know which one it was"
    if problem := irregularity(path):  # not set aside: its name keeps a session out
        yield fixable("not a regular file", name, problem, remedy)
        return
    try:
        msgspec.json.decode(read_regular(path), type=Tombstone)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        yield fixable("unreadable file", name, str(error), remedy)


def _tombstones(root: Path) -> Iterator[FixableFinding]:
    for path in sorted((root / "forgotten").glob("*.json")):
        yield from _tombstone(path, path.relative_to(root).as_posix())
    for name in Tombstones(root).unproved():
        problem = "a forgetting was cut short, found something or could not search everything"
        yield fixable("not proved forgotten", f"forgotten/{name}.json", problem, "helix-graph forget takes it up again")
