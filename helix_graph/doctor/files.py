"""Check the files of episodes and assertions: their names, content, secrets, links and versions.

Every fix keeps the file as it was (`helix_graph.set_aside`) when something is left out of it.
"""

from __future__ import annotations

import fnmatch
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Literal

import msgspec
import orjson
from msgspec.structs import replace

from helix_episodes.episode_consistency import repair_links, repair_parts
from helix_episodes.errors import EpisodeError, InvalidEpisode, WriteFailed
from helix_episodes.extraction.pipeline import EXTRACTOR_VERSION
from helix_episodes.model import SCHEMA_VERSION, Episode
from helix_episodes.msgspec_types import ready
from helix_episodes.readers.common.jsonl import parse
from helix_episodes.redaction import redact, redact_text
from helix_episodes.safe_files import (
    TEMPORARY_SUFFIX,
    irregularity,
    others_part,
    read_own,
    read_regular,
    remove_file,
    replace_file,
    write_atomically,
)
from helix_episodes.store import (
    PREFIX,
    EpisodeStore,
    check_session_id,
    decode_episode,
    encode_episode,
    session_of,
    without_value,
)
from helix_episodes.verification import strings_in
from helix_graph import project
from helix_graph.database import LOCK_SUFFIX, OWNER_ONLY, SIDE_FILES
from helix_graph.errors import InvalidAssertion, InvalidConfiguration
from helix_graph.graph.assertions import AssertionStore, name_of
from helix_graph.graph.graph_db import EXPORT_NAME, FILE_NAME
from helix_graph.ingest_filter import FILE_NAME as IGNORE_FILE
from helix_graph.ingest_filter import read_rules
from helix_graph.insights.safe_quoting import logged_name_or_quoted
from helix_graph.rules.staged import accepted_rules
from helix_graph.search.api import read_settings
from helix_graph.set_aside import ASSERTIONS, EPISODES, SET_ASIDE, copy_aside, move_aside
from helix_graph.shared_authors import SHARED_HERE
from helix_graph.tombstones import Tombstone, Tombstones
from helix_graph.trust import ACCEPTANCE
from helix_graph.writability import read_only

#: A *fault* makes the memory say something wrong, leak or fail; a *note* is worth knowing.
Severity = Literal["fault", "note"]
FindingKind = Literal[
    "unreadable episode", "misnamed episode", "spoilt part", "disagreeing links", "secret", "old version",
    "newer version", "forgotten", "not proved forgotten", "unreadable assertion", "copied assertion",
    "unreadable file", "not a regular file", "temporary file", "unknown file", "ignored setting", "open to others",
    "cannot be written", "not ignored by git", "stray memory", "foreign database", "damaged database",
    "missing share", "orphan share", "wrong sum", "wrong export", "unresolved link", "damaged record",
]  # fmt: skip


class DoctorFinding(msgspec.Struct, frozen=True):
    """One thing that is wrong. ``file`` is relative to the memory; ``remedy`` is what a person can do.

    ``mended`` is true when ``fix`` did it.
    """

    kind: FindingKind
    file: str
    problem: str
    remedy: str
    severity: Severity = "fault"
    mended: bool = False


class Fixable(DoctorFinding, frozen=True):
    """A finding with what mends it, None where only a person can; it answers False when it could not."""

    mend: Callable[[], object] | None = None

    def reported(self, *, mended: bool = False, problem: str | None = None) -> DoctorFinding:
        """The finding alone, and whether it was mended, or a problem in other words."""
        return DoctorFinding(self.kind, self.file, problem or self.problem, self.remedy, self.severity, mended)


def check_secrets(root: Path, path: Path) -> Iterator[Fixable]:
    """What redaction would cut now: it has learnt a new kind, or somebody edited the file."""
    data, clean, is_json = data_of(path), None, True
    try:
        content = parse(data)
    except ValueError:  # or nested too deep to be walked through
        content, is_json = data.decode("utf-8", "replace"), False
    kinds = Counter(cut.kind for text in strings_in(content) for cut in redact(text).cuts)
    if not kinds:
        return
    if is_json:
        with suppress(orjson.JSONEncodeError):
            clean = orjson.dumps(_redacted(content), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    yield Fixable(
        "secret",
        path.relative_to(root).as_posix(),
        ", ".join(f"{count} x {kind}" for kind, count in sorted(kinds.items())),
        "helix-graph doctor --fix cuts them; a secret that was ever shared should be replaced at its service",
        mend=partial(replace_file, path, before=data, after=clean) if clean else None,
    )


def _redacted(value: Any) -> Any:  # noqa: ANN401  (JSON)
    if isinstance(value, str):
        return redact_text(value)
    if isinstance(value, dict):
        return {redact_text(key): _redacted(each) for key, each in value.items()}
    return [_redacted(each) for each in value] if isinstance(value, list) else value


def data_of(path: Path) -> bytes:
    """What stands in a file; nothing in one that cannot be read, which is reported elsewhere."""
    try:
        return read_regular(path)
    except OSError:
        return b""


def irregular_file(root: Path, path: Path, problem: str) -> Fixable:
    """What is wrong with it; the fix moves it to set-aside/, which loses nothing."""
    name, remedy = path.relative_to(root).as_posix(), "helix-graph doctor --fix sets it aside unchanged"
    return Fixable("not a regular file", name, problem, remedy, mend=partial(move_aside, root, path))


def _others_file(root: Path, path: Path, problem: str) -> Fixable:
    """That another user may have written it, so that it is not read; the fix moves it to set-aside/."""
    name, remedy = path.relative_to(root).as_posix(), "or helix-graph doctor --fix sets it aside"
    return Fixable("open to others", name, problem, remedy, mend=partial(move_aside, root, path))


def check_name(root: Path, path: Path, episode: Episode) -> Iterator[Fixable]:
    """What is wrong with an episode's names."""
    if path.stem == episode.id == PREFIX + episode.session:
        return
    remedy, mend = _name_fix(root, path, episode)
    problem = "its id or its session is not its file's"
    yield Fixable("misnamed episode", path.relative_to(root).as_posix(), problem, remedy, mend=mend)


def _name_fix(root: Path, path: Path, episode: Episode) -> tuple[str, Callable[[], object]]:
    """What to do about a wrong name, in words and as a function."""
    if path.stem in {episode.id, PREFIX + episode.session}:
        fixed = replace(episode, id=path.stem, session=session_of(path))
        mend = partial(rewrite, root, path, before=data_of(path), after=fixed)
        return f"id and session should be those of {logged_name_or_quoted(path.name)}", mend
    if episode.id == PREFIX + episode.session:
        with suppress(EpisodeError):  # not every session's id is the name of a file
            right = path.with_name(f"{PREFIX}{check_session_id(episode.session)}.json")
            if not right.exists():
                return f"rename it to {logged_name_or_quoted(right.name)}", partial(_rename, path, right)
    remedy = "it is a duplicate or has no name; helix-graph doctor --fix sets it aside"
    return remedy, partial(move_aside, root, path)


def _rename(path: Path, right: Path) -> None:
    """Through a link, which fails where `rename` would write over what another process has just made."""
    with WriteFailed.for_os_errors(right):
        right.hardlink_to(path)
        path.unlink()


def rewrite(root: Path, path: Path, *, before: bytes, after: Episode) -> bool:
    """Writes an episode anew, unless somebody has changed it; the old bytes go to set-aside/."""
    copy_aside(root, path, before)
    return replace_file(path, before=before, after=encode_episode(after))


#: A finding names so many of the problems of one file; the rest is counted.
_MOST_NAMED = 3
_EXTRACT_AGAIN = "helix-graph doctor --fix sets it aside; then extract its log again"
#: What repairs an episode, with the remedy in words. In this order: links can only agree between parts that have names.
_REPAIRS: dict[FindingKind, tuple[Callable[[Episode], tuple[Episode, tuple[str, ...]]], str]] = {
    "spoilt part": (repair_parts, "helix-graph doctor --fix removes invalid times and renumbers duplicate ids"),
    "disagreeing links": (
        repair_links,
        "helix-graph doctor --fix removes what is invalid; episode extract --force reads the log again",
    ),
}


def check_episodes(root: Path, folder: Path) -> Iterator[Fixable]:
    """Everything that is wrong with the episodes of a memory: first their files, then what stands in them."""
    store, extractors = EpisodeStore(folder), Counter[str]()
    for path in store.files():
        if problem := irregularity(path):
            yield irregular_file(root, path, problem)
        elif problem := others_part(path):
            yield _others_file(root, path, problem)
        else:
            yield from check_secrets(root, path)
            yield from _file(root, path)
    for path in store.files():  # once more: some may have been renamed or set aside
        yield from _content(root, path, extractors)
    for version, count in sorted(extractors.items()):
        made_by = version if version.isdecimal() else "of no known version"
        problem = f"{count} were made by extractor {made_by}, now {EXTRACTOR_VERSION}"
        remedy = "helix-graph sync reads their logs again, where they still exist"
        yield Fixable("old version", "episodes", problem, remedy, severity="note")


def _file(root: Path, path: Path) -> Iterator[Fixable]:
    if not path.exists():  # it may have been forgotten since the folder was listed
        return
    data, name = data_of(path), path.relative_to(root).as_posix()
    try:
        episode = decode_episode(data, path=path)
    except InvalidEpisode as error:
        schema = ""
        with suppress(msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            schema = msgspec.json.decode(data, type=ready(_Schema)).schema_version
        if _major(schema) > _major(SCHEMA_VERSION):
            yield Fixable("newer version", name, error.problem, "update helix-graph")
        else:
            mend = partial(move_aside, root, path)
            yield Fixable("unreadable episode", name, error.problem, _EXTRACT_AGAIN, mend=mend)
    else:
        yield from check_name(root, path, episode)


def _content(root: Path, path: Path, extractors: Counter[str]) -> Iterator[Fixable]:
    name = path.relative_to(root).as_posix()
    for kind, (repair, remedy) in _REPAIRS.items():  # each looks at the file as the one before has left it
        if read := _read(path):
            data, (fixed, problems) = read[0], repair(read[1])
            if problems:
                more = f", and {len(problems) - _MOST_NAMED} more" if len(problems) > _MOST_NAMED else ""
                problem = "; ".join(problems[:_MOST_NAMED]) + more
                mend = partial(rewrite, root, path, before=data, after=fixed)
                yield Fixable(kind, name, problem, remedy, mend=mend)
    if not (read := _read(path)):
        return
    episode, session = read[1], session_of(path)
    made_by = episode.provenance.extractor if episode.provenance else EXTRACTOR_VERSION
    if made_by != EXTRACTOR_VERSION:
        extractors[made_by] += 1
    if _major(episode.schema_version) > _major(SCHEMA_VERSION):
        problem = f"schema {_major(episode.schema_version)}, ours is {SCHEMA_VERSION}"
        yield Fixable("newer version", name, problem, "update helix-graph", severity="note")
    if Tombstones(root).holds(session):
        problem = "its session was forgotten, but is here again"
        yield Fixable("forgotten", name, problem, f"helix-graph forget --session {logged_name_or_quoted(session)}")


def _read(path: Path) -> tuple[bytes, Episode] | None:
    """The episode in a file with its bytes; None when it is gone or was reported, as invalid or as another user's."""
    try:
        data = read_own(path)
        return data, decode_episode(data, path=path)
    except (OSError, InvalidEpisode):
        return None


class _Schema(msgspec.Struct):
    """The schema that a file names, even where nothing else in it can be read."""

    schema_version: str = ""


def _major(version: str) -> int:
    number = version.partition(".")[0]
    return int(number) if number.isdecimal() else 0


def check_assertions(root: Path, folder: Path) -> Iterator[Fixable]:
    """Everything that is wrong with the assertions in a folder."""
    store = AssertionStore(folder)
    for path in store.files():
        if problem := irregularity(path):
            yield irregular_file(root, path, problem)
        elif problem := others_part(path):
            yield _others_file(root, path, problem)
        else:
            yield from check_secrets(root, path)
    originals: dict[str, Path] = {}
    # Of two that say the same, the one whose file has not the assertion's own name is the copy.
    named_first = sorted(
        store.scan(), key=lambda pair: not isinstance(pair[1], InvalidAssertion) and name_of(pair[1]) != pair[0].stem
    )
    for path, one in named_first:
        name = path.relative_to(root).as_posix()
        if irregularity(path) or others_part(path):  # reported above
            continue
        if isinstance(one, InvalidAssertion):
            remedy = "fix it, or helix-graph doctor --fix sets it aside"
            yield Fixable("unreadable assertion", name, one.problem, remedy, mend=partial(move_aside, root, path))
        elif originals.setdefault(name_of(one), path) != path:
            other = logged_name_or_quoted(originals[name_of(one)].name)
            problem = f"it says the same as {other}, and counts no second time"
            remedy = "helix-graph doctor --fix sets it aside"
            yield Fixable("copied assertion", name, problem, remedy, mend=partial(move_aside, root, path))


def check_quarantine(root: Path) -> Iterator[Fixable]:
    """Secrets in what was set aside."""
    for kind in (EPISODES, ASSERTIONS):
        for path in sorted((root / SET_ASIDE / kind).glob("*.json")):
            yield from check_secrets(root, path)


#: Our files, below the memory.
_OURS = (
    ".gitignore", IGNORE_FILE, project.OFF_FILE, project.CONFIGURATION, "cache/*", "episodes/episode-*.json",
    "causality/assertions/*.json", f"causality/{EXPORT_NAME}", f"{project.PAGES}/*.html", "forgotten/*.json",
    *(f"causality/{FILE_NAME}{suffix}" for suffix in ("", LOCK_SUFFIX, *SIDE_FILES)),
    *(f"helix.db{suffix}" for suffix in ("", LOCK_SUFFIX, *SIDE_FILES)),
    f"{SET_ASIDE}/episodes/*.json", f"{SET_ASIDE}/assertions/*.json", "injection-state/*.json", "task-status.jsonl",
    ACCEPTANCE, "extraction.log", "explorer-results/*.json", project.ACCEPTED_RULES, project.RULE_TRIALS,
    project.PACKED, project.HOOK_LOG, SHARED_HERE, "shared/*/*.json", f"{project.HOOK_FOLDER}/*",
    f"{project.TEAM}/*", f"{project.TEAM_EPISODES}/episode-*.json", f"{project.TEAM_RECORDS}/*.json",
)  # fmt: skip
#: People's words stand in these.
_PRIVATE = (
    "episodes/*", "causality/*", "causality/assertions/*", "cache/*", f"{project.PAGES}/*", "forgotten/*",
    f"{SET_ASIDE}/*/*", f"{project.TEAM_RECORDS}/*",
)  # fmt: skip
#: git gives these its own permissions when they are shared.
_SHARED = ("episodes/*", "causality/assertions/*")
#: A file is written within milliseconds; after a minute whoever wrote it is gone, however slow the disk.
_STALE_SECONDS = 60.0
_OTHERS = 0o077


def check_folder(root: Path) -> Iterator[Fixable]:
    """Everything that is wrong with the memory's folder."""
    if refused := read_only(root):
        problem = f"it cannot be written ({refused.problem}): no session is recorded"
        yield Fixable("cannot be written", refused.name, problem, refused.remedy)
    yield from _location(root)
    ignore = root / ".gitignore"
    if root.name == project.FOLDER and project.repository_root(root.parent) is not None and not ignore.exists():
        yield Fixable(
            "not ignored by git",
            ".gitignore",
            "git would add people's prompts with the next `git add`",
            "helix-graph init writes it",
            mend=lambda: write_atomically(ignore, project.PRIVATE_MEMORY.encode(), mode=0o644),
        )
    try:
        read_rules(root)
    except InvalidConfiguration as error:
        yield Fixable("unreadable file", IGNORE_FILE, error.problem, f"fix line {error.line} of {error.path}")
    try:
        for ignored in read_settings(root).ignored:
            problem, _, remedy = ignored.partition("; ")
            yield Fixable("ignored setting", project.CONFIGURATION, problem, remedy, severity="note")
    except InvalidConfiguration as error:
        yield Fixable("unreadable file", str(error.path), error.problem, "fix the file")
    try:
        accepted_rules(root)
    except InvalidConfiguration as error:
        yield Fixable("unreadable file", project.ACCEPTED_RULES, error.problem, "fix the file, or delete it")
    # Nobody gets past a folder that is closed to others, so the memory's own is the one that counts.
    yield from _mode(".", root, wanted=0o700, reach="list it, or reach what is in it")
    for path in sorted(path for path in root.rglob("*") if path.is_file()):
        try:
            yield from _folder_file(root, path)
        except FileNotFoundError:  # another process was done with it
            continue
    yield from _tombstones(root)


def _location(root: Path) -> Iterator[Fixable]:
    """Memories that nobody would look into: between this one and the file system's root, or in work trees."""
    if root.name != project.FOLDER:
        return
    repository = project.repository_root(root.parent)
    if repository is not None and repository != root.parent:
        problem = f"it is inside the repository {repository}, whose memory is {repository / project.FOLDER}"
        yield Fixable("stray memory", ".", problem, "copy its episodes there and delete it")
    above = [folder / project.FOLDER for folder in root.parent.parents]
    trees = [tree / project.FOLDER for tree in project.work_trees(repository)] if repository else []
    for other in (one for one in (*trees, *above) if one != root and (one / "episodes").is_dir()):
        problem = f"another memory, {other}, is never used from here"
        remedy = "copy its episodes into this one and delete it, unless it belongs to another project"
        yield Fixable("stray memory", str(other), problem, remedy, severity="note")


def _folder_file(root: Path, path: Path) -> Iterator[Fixable]:
    name = path.relative_to(root).as_posix()
    if path.name.startswith(".") and path.name.endswith(TEMPORARY_SUFFIX):
        if time.time() - path.stat().st_mtime > _STALE_SECONDS:
            problem = "a process was killed while it wrote"
            yield Fixable("temporary file", name, problem, "it can be deleted", mend=lambda: remove_file(path))
    elif not _is_any(name, _OURS):
        yield Fixable("unknown file", name, "it is not ours, and left alone", "nothing needs doing", severity="note")
    elif _is_any(name, _SHARED) and others_part(path):  # reported with what else is wrong with it
        return
    elif _is_any(name, _PRIVATE) and not (_is_any(name, _SHARED) and b"!episodes/" in data_of(root / ".gitignore")):
        yield from _mode(name, path)


def _is_any(name: str, patterns: tuple[str, ...]) -> bool:
    return any(name.count("/") == pattern.count("/") and fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


def _mode(name: str, path: Path, *, wanted: int = OWNER_ONLY, reach: str = "read it") -> Iterator[Fixable]:
    if path.is_symlink() or not path.exists():  # what a link leads to is not ours to change
        return
    mode = path.stat().st_mode & 0o777
    if mode & _OTHERS:
        problem, remedy = f"its mode is {mode:o}: other people on this machine can {reach}", f"chmod {wanted:o} {path}"
        yield Fixable("open to others", name, problem, remedy, mend=lambda: path.chmod(wanted))


def _tombstones(root: Path) -> Iterator[Fixable]:
    remedy = "delete it, and forget its session again if you know which one it was"
    for path in sorted((root / "forgotten").glob("*.json")):
        name = path.relative_to(root).as_posix()
        if problem := irregularity(path):  # not set aside: its name keeps a session out
            yield Fixable("not a regular file", name, problem, remedy)
            continue
        try:
            msgspec.json.decode(read_regular(path), type=ready(Tombstone))
        except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            yield Fixable("unreadable file", name, without_value(str(error)), remedy)
    for name in Tombstones(root).unproved():
        problem = "a forgetting was cut short, found something or could not search everything"
        yield Fixable("not proved forgotten", f"forgotten/{name}.json", problem, "helix-graph forget takes it up again")
