"""Whose memory is it? Only one that this user began or accepted is used, and only while nobody else can write to it.

Agents' hooks run in every project that one enters, and a memory decides what an agent reads. So each memory is recorded
in the user's own state folder (``$XDG_STATE_HOME/helix-graph/memories``), one file each: its path, device and inode,
when, how (``init``, ``trust`` or ``adopted``), and a random token that is in the memory too, since file systems use the
inode of a deleted folder again. A clone, a copy or a moved project has another path, inode or token and has to be
accepted with ``helix-graph trust``. No environment variable and no file of a repository can accept a memory.

Some memories are refused even when they are recorded: those that another user owns or can write to, links, those in a
folder above the project that others can write to, and those of whose databases or accepted rules git tracks one, or
which are or hold a repository of their own, or lie in a tree whose ``.git`` leads to another's: whoever may commit
could speak through it. That is read from git's index, for starting git takes longer than a hook may.

Accepted rules are given to agents as this user's own words. So what this user wrote of them, or accepted with the
memory, is recorded as well, by its hash, and a memory with others has to be accepted again. Likewise in which project
of a team's server a memory takes part: one that came from elsewhere takes part in none before this user names it.

Every hook loads this module, so it imports next to nothing; `adopt` loads what it needs.
"""

from __future__ import annotations

import json
import os
import stat
from mmap import ACCESS_READ, mmap
from pathlib import Path

from helix_episodes.light_imports import Value, blake2b
from helix_episodes.safe_files import locked, make_folder, open_regular, others_can_write, read_own, read_regular
from helix_graph.git import LARGEST_SETTINGS, foreign_git, git_folder, names_in, pointer_in, tree_around
from helix_graph.project import (
    ACCEPTED_RULES,
    ENVIRONMENT,
    FOLDER,
    FOLDERS,
    FORGOTTEN,
    OFF_FILE,
    PACKED,
    RULE_TRIALS,
    TEAM,
    TEAM_EPISODES,
    TEAM_RECORDS,
    TEAM_STATE,
    memory_folder,
    others_own,
    repository_root,
    xdg_folder,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Literal

    from helix_episodes.model import Provenance

    How = Literal["init", "trust", "adopted"]
    Kind = Literal["unsafe", "unknown"]


#: What is read before an agent acts on it, or written by hooks, and what takes sessions away. Episodes, assertions and
#: rules for ignoring may be tracked: they are data, shown as shared.
_NEVER_TRACKED = (
    "helix.db", "shared-here.json", "causality/graph.db", "causality/causal-graph.json", "cache/", "hooks/",
    "hooks.log", "extraction.log", "injection-state/", "explorer-results/", "task-status.jsonl", ACCEPTED_RULES,
    RULE_TRIALS, PACKED, f"{TEAM}/", f"{FORGOTTEN}/",
)  # fmt: skip
#: Whose modes are looked at: where others could put words or SQL into the memory.
_WRITTEN_TO = (
    *("", "helix.db", "episodes", "causality", "causality/graph.db", "causality/assertions", "cache", "hooks"),
    *(ACCEPTED_RULES, FORGOTTEN, TEAM, TEAM_EPISODES, TEAM_RECORDS),
)
#: What tells our folder from another tool's of the same name (the editor Helix has one). An archive may hold a part
#: of a memory, for `init` to find.
_OURS = ("helix.db", ACCEPTED_RULES, RULE_TRIALS, PACKED, *dict.fromkeys(name.partition("/")[0] for name in FOLDERS))
_OUR_IGNORE_FILE = b"# helix-graph:"
#: Adoption reads the newest episodes and hashes few logs: a hook at a session's start has 1.5 seconds.
_MOST_EPISODES = 50
_LARGEST_EPISODE = 4 << 20
_MOST_HASHED = 64 << 20
#: What acts outside the memory or speaks to an agent, so that a clone must not bring it: what its seal ends in.
#: Of episodes that git tracks it is the steps, as this user's own logs had them: logs are deleted in time.
SEALED = {ACCEPTED_RULES: ".rules", PACKED: ".packed", TEAM_STATE: ".team", "episodes": ".steps"}
#: A rule has some hundred bytes, and a person accepts few.
_LARGEST_SEALED = 4 << 20


#: The file of the memory with the token of its record.
ACCEPTANCE = "acceptance"
_TOKEN_BYTES = 16


_OTHERS_RULES = (
    "{path} was not written by you on this machine, and your agents would follow its rules; `helix-graph trust` shows "
    "them and asks, or delete it"
)


class Refusal(Value):
    """Why a memory is not used. An ``unknown`` one can be accepted; of an ``unsafe`` one the cause has to go first."""

    kind: Kind
    problem: str


class Acceptance(Value):
    """That a memory was begun or accepted: where it is, which folder that was, when (UTC) and how.

    ``token`` is also in the memory, in the file `ACCEPTANCE`, and goes with it.
    """

    path: str
    device: int
    inode: int
    at: str
    how: How
    token: str


def refusal_of(root: Path, *, start: Path | None = None) -> Refusal | None:
    """Why the memory in ``root`` is not used; None when this user began or accepted it and it is safe.

    ``start`` is the folder that it was looked for from, when it was looked for.
    """
    root = _canonical(root)
    problem = _unsafe(root, start)
    if problem:
        return Refusal("unsafe", problem)
    if acceptance_of(root) is not None:
        others = not is_own(root, ACCEPTED_RULES)
        return Refusal("unknown", _OTHERS_RULES.format(path=root / ACCEPTED_RULES)) if others else None
    return Refusal(
        "unknown",
        f"{root} is not a memory that you created or accepted on this machine (a clone, a copy or a moved project?); "
        "`helix-graph trust` shows what is in it and asks",
    )


def is_memory(root: Path) -> bool:
    """Whether the folder holds anything of helix-graph's; other tools have folders of the same name."""
    if any(os.path.lexists(root / name) for name in _OURS):
        return True
    try:
        return read_regular(root / ".gitignore").startswith(_OUR_IGNORE_FILE)
    except OSError:
        return False


def acceptance_of(root: Path) -> Acceptance | None:
    """The record of this very folder; None without one, or when another folder has taken its place."""
    root = _canonical(root)
    try:
        found = root.stat(follow_symlinks=False)
        recorded = _record_path(root)
        if not all(map(_is_this_users, (recorded.parent, recorded.parent.parent))):  # it may be anybody's record
            return None
        record = Acceptance(**json.loads(read_own(recorded)))
        token = read_regular(root / ACCEPTANCE, most=2 * _TOKEN_BYTES).decode()
    except (OSError, ValueError, TypeError):  # none, or one that nobody can have written with this program
        return None
    same = (record.path, record.device, record.inode, record.token) == (str(root), found.st_dev, found.st_ino, token)
    return record if same else None


def accept(root: Path, *, how: How) -> Acceptance:
    """Records that this user began or accepts the memory in ``root``, which is there."""
    import time

    from helix_episodes.safe_files import write_atomically

    root = _canonical(root)
    path = _record_path(root)
    make_private(path.parent.parent)
    make_private(path.parent)
    with locked(path.parent):  # a token and its record have to be of one process
        there = acceptance_of(root)
        if there is not None:  # another process was faster
            return there
        found = root.stat(follow_symlinks=False)
        how = _how_before_it_was_moved(root, found, path.parent) or how
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        record = Acceptance(str(root), found.st_dev, found.st_ino, now, how, os.urandom(_TOKEN_BYTES).hex())
        write_atomically(root / ACCEPTANCE, record.token.encode())
        write_atomically(path, json.dumps(record._asdict()).encode("utf-8", "surrogateescape"))
    return record


def _how_before_it_was_moved(root: Path, found: os.stat_result, records: Path) -> How | None:
    """How this very folder was recorded under another path: only moving keeps its inode and its token."""
    try:
        token = read_regular(root / ACCEPTANCE, most=2 * _TOKEN_BYTES).decode()
    except (OSError, ValueError):
        return None
    for path in records.glob("*.json"):
        try:
            record = Acceptance(**json.loads(read_own(path)))
        except (OSError, ValueError, TypeError):
            continue
        if (record.device, record.inode, record.token) == (found.st_dev, found.st_ino, token):
            return record.how
    return None


def is_own(root: Path, name: str) -> bool:
    """Whether this user wrote or accepted one of the `SEALED` files of a memory as it is now, or there is none."""
    try:
        written = read_regular(root / name, most=_LARGEST_SEALED)
    except FileNotFoundError:
        return True
    except OSError:  # a link, a pipe, a folder
        return False
    return is_sealed(root, name, written)


def is_sealed(root: Path, name: str, written: bytes) -> bool:
    """Whether this user's seal of one of the `SEALED` files is of this content, or of this part of its content."""
    try:
        return content_digest(written) in json.loads(read_own(_seal_path(root, name)))["blake2b"]
    except (OSError, ValueError, TypeError, KeyError):  # none, or one that nobody can have written with this program
        return False


def seal(root: Path, name: str, *digests: str) -> None:
    """Records that one of the `SEALED` files of a memory is this user's if its `content_digest` is one of these."""
    import time

    from helix_episodes.safe_files import write_atomically

    path = _seal_path(root, name)
    make_private(path.parent.parent)
    make_private(path.parent)
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    write_atomically(path, json.dumps({"blake2b": digests, "at": now}).encode())


def seal_also(root: Path, name: str, written: bytes) -> None:
    """Adds a content to those that this user's seal is of."""
    try:
        before = json.loads(read_own(_seal_path(root, name)))["blake2b"]
    except (OSError, ValueError, TypeError, KeyError):  # as in `is_sealed`
        before = []
    seal(root, name, *dict.fromkeys([*before, content_digest(written)]))


def content_digest(written: bytes) -> str:
    """What names the content of a `SEALED` file in its seal."""
    return blake2b(written, digest_size=32).hexdigest()


def _seal_path(root: Path, name: str) -> Path:
    return _record_path(_canonical(root)).with_suffix(SEALED[name])


def make_private(folder: Path) -> None:
    """Makes a folder that only this user may look into, whatever the umask."""
    from helix_episodes.errors import WriteFailed

    if folder.is_symlink():
        raise WriteFailed(path=folder, problem="it is a link, so others might write there; put a folder in its place")
    try:
        make_folder(folder)
        folder.chmod(0o700)
    except OSError as error:
        raise WriteFailed(path=folder, problem=error.strerror or str(error)) from error
    if not _is_this_users(folder):
        problem = "it belongs to another user, so what it says would count for nothing; name another as XDG_STATE_HOME"
        raise WriteFailed(path=folder, problem=problem)


def _is_this_users(folder: Path) -> bool:
    """Whether it is a folder in which nobody else writes, and no link, which would lead to one with others' files."""
    found = folder.lstat()
    return stat.S_ISDIR(found.st_mode) and found.st_uid in {0, os.geteuid()} and not others_can_write(found, folder)


def _record_path(root: Path) -> Path:
    name = blake2b(os.fsencode(root), digest_size=16).hexdigest()
    return xdg_folder("XDG_STATE_HOME", ".local/state") / "helix-graph" / "memories" / f"{name}.json"


def _canonical(root: Path) -> Path:
    """The path without links, except for the memory's own folder, which must not be one."""
    return Path(os.path.realpath(root.parent)) / root.name


def _unsafe(root: Path, start: Path | None) -> str | None:
    """Why nobody should use the memory in ``root``, accepted or not."""
    problem = _open_to_others(root)
    if problem:
        return problem
    above = root.parent
    looked_for = start is not None and root.name == FOLDER and not os.environ.get(ENVIRONMENT)
    if looked_for and start is not None and Path(os.path.realpath(start)) != above:
        in_git = repository_root(start) is not None  # there nobody but its owner can have put it above
        if others_own(above / ".git") if in_git else (others_own(above) or others_can_write(above.stat(), above)):
            return f"{root} was found above {start}, where other users can write, so it is not used"
    return _open_to_committers(root)


def _open_to_committers(root: Path) -> str | None:
    """That whoever may commit to a repository could write what is in the memory, or that this cannot be known."""
    own = next((folder for folder in ("", *FOLDERS) if os.path.lexists(root / folder / ".git")), None)
    if own is not None:
        return (
            f"{root / own / '.git'} makes a git repository of it (a submodule?): anyone who can commit there could "
            "address your agent through it, so it is not opened; remove that"
        )
    tree = tree_around(root.parent)
    other = foreign_git(tree) if tree else None
    if other is not None:
        return (
            f"{tree}/.git leads to the git repository {json.dumps(str(other))}, which has no record of that folder, so "
            f"{root} is not used; remove that .git, or run git worktree repair, or name the folder as core.worktree in"
            " that repository"
        )
    try:
        tracked = tracked_by_git(root, _NEVER_TRACKED)
    except (OSError, ValueError, IndexError) as error:
        return (
            f"whether git tracks databases or rules in {root} cannot be read from its index ({error}); run git status"
        )
    if not tracked:
        return None
    # Names of files are a committer's words, and an agent reads this: only ours are told.
    ours = {
        next(
            (name for name in _NEVER_TRACKED if one.startswith(name)), one if one in {".", *FOLDERS} else "a repository"
        )
        for one in tracked
    }
    return (
        f"git tracks {', '.join(sorted(ours))} in {root}: anyone who can commit could address your agent through it, "
        "or take sessions away, so it is not opened; run git rm on it, or git rm --cached if you wrote all of it"
    )


def _open_to_others(root: Path) -> str | None:
    """That the memory is a link, or that another user owns or can write to something in it."""
    for name in _WRITTEN_TO:
        path = root / name
        try:
            found = path.stat(follow_symlinks=False)
        except OSError:
            continue
        if not name and not stat.S_ISDIR(found.st_mode):
            return f"{path} is not a folder but a link or a file, so it is not used; remove it"
        if found.st_uid != os.geteuid() and (not name or found.st_uid != 0):
            return f"{path} belongs to another user (uid {found.st_uid}), so it is not used; remove it, or chown it"
        if others_can_write(found, path):
            return f"other users can write to {path}, so it is not used; run chmod -R go-w {root}"
    return None


def tracked_by_git(root: Path, names: Iterable[str] = ("",)) -> list[str]:
    """What git tracks in ``root`` whose path there begins with one of ``names``; everything without them.

    Submodules in it are always among that, and ``.`` where it is one itself: a commit of theirs may hold any file.

    Raises:
        ValueError: It is damaged, or of a version that is not known here.
    """
    root = _canonical(root)
    tree = tree_around(root.parent)
    if tree is None:
        return []
    git = git_folder(tree)
    if not git.is_dir():  # what it named is gone, and with it the index
        return []
    inside = os.fsencode(root.relative_to(tree).as_posix() + "/")
    wanted = tuple(inside + os.fsencode(name) for name in names)
    common = pointer_in(git / "commondir")  # a linked work tree has the format of its hashes there
    configs = (git / "config", *((git / common / "config",) if common else ()))
    read = (read_regular(one, follow=True, most=LARGEST_SETTINGS) for one in configs if os.path.lexists(one))
    settings = b"\n".join(read)
    hash_size = 32 if b"objectformat=sha256" in b"".join(settings.lower().split()) else 20
    found: set[bytes] = set()
    for index in git.iterdir():
        if index.name == "index" or index.name.startswith("sharedindex."):  # the second where the first is split
            with open_regular(index, follow=True) as file, mmap(file.fileno(), 0, access=ACCESS_READ) as data:
                found.update(names_in(data, wanted, inside=inside, hash_size=hash_size))
    return sorted(os.fsdecode(name[len(inside) :]) or "." for name in found)


def shared_episodes(root: Path, episodes: Iterable[str]) -> frozenset[str]:
    """Those of the episodes that somebody else may have written: git tracks them, or they came from the team's server.

    All, where git's index cannot be read.
    """
    names = frozenset(episodes)
    try:
        tracked = tracked_by_git(root, [f"episodes/{name}.json" for name in names]) if names else ()
    except (OSError, ValueError, IndexError):
        return names
    return names & {
        *(name.removeprefix("episodes/").removesuffix(".json") for name in tracked),
        *(name for name in names if team_marker(root, name).exists()),
    }


def every_shared_episode(root: Path) -> frozenset[str] | None:
    """All episodes that `shared_episodes` would name; None, which may be any, where git's index cannot be read."""
    try:
        tracked = tracked_by_git(root, ["episodes/"])
    except (OSError, ValueError, IndexError):
        return None
    marked = (path.name for path in (root / TEAM_EPISODES).glob("*.json"))
    return frozenset(name.removeprefix("episodes/").removesuffix(".json") for name in (*tracked, *marked))


def team_marker(root: Path, episode: str) -> Path:
    """The file that says of an episode that it came from the team's server, and by whom it is."""
    return root / TEAM_EPISODES / f"{episode}.json"


def note_of_shared(root: Path) -> str:
    """How many sessions of a memory git tracks, for what counts all of them; empty where there are none."""
    names = [path.stem for path in (root / "episodes").glob("episode-*.json")]
    shared = len(shared_episodes(root, names))
    return (
        f"{shared} of {len(names)} sessions came with the repository or from the team: others may have written what is "
        "counted of them."
        if shared
        else ""
    )


def silence_from_git(root: Path) -> str | None:
    """That a commit turned the automatic work of this accepted memory off, in a sentence; None when none did.

    A repository may do that, for it narrows what the memory does; but not so that nobody notices.
    """
    if not (root / OFF_FILE).exists() or acceptance_of(root) is None:
        return None
    try:
        if OFF_FILE not in tracked_by_git(root, (OFF_FILE,)):
            return None
    except (OSError, ValueError, IndexError):
        return None  # such a memory is refused, and that says so
    return (
        f"git tracks {root / OFF_FILE}, which turns the memory off: its hooks say nothing, and sessions that end are "
        "not recorded; `helix-graph resume` and a commit without that file turn it on"
    )


def check(root: Path, *, start: Path | None = None, unknown: bool = False) -> bool:
    """Whether the memory in ``root`` had to be adopted to be used; ``unknown`` lets one pass that nobody accepted.

    Raises:
        WriteFailed: It could be adopted, and the state folder cannot be written.
    """
    refusal = refusal_of(root, start=start)
    if refusal is None or (unknown and refusal.kind == "unknown"):
        return False
    if adopt(root) is not None:
        return True
    from helix_graph.errors import UntrustedMemory

    raise UntrustedMemory(refusal.problem, root=root, kind=refusal.kind)


def begin(root: Path, *, start: Path | None = None) -> bool:
    """Makes the folder of a new memory and records it; one that is there has to be this user's. Whether it was adopted.

    Raises:
        UntrustedMemory: There is a memory already that this user neither began nor accepted.
    """
    if os.path.lexists(root):
        adopted = check(root, start=start, unknown=not is_memory(root))
    else:
        adopted = False
        make_private(root)
    if acceptance_of(root) is None:
        accept(root, how="init")
    return adopted


def adopted_sentence(root: Path) -> str:
    """What a person is told once, when a memory was adopted."""
    return (
        f"{root} is accepted as your own from now on: one of its sessions is in your agent's logs (helix-graph status)"
    )


def adopt(root: Path) -> Acceptance | None:
    """Accepts a memory from before memories were recorded: one of its episodes was read from a log of this user's.

    The log has to be in an agent's own folder, with the name and the SHA-256 that the episode has of it, and what was
    recorded has to be whole lines with the session's id, as long as a random one is. Episodes that git tracks do not
    count, nor does a log of a project whose own memory is recorded: then this one is a copy. One that has the token of
    a record, or is in the place of one that was recorded, is none from before.
    """
    root = _canonical(root)
    if os.path.lexists(root / ACCEPTANCE) or os.path.lexists(_record_path(root)):
        return None
    refusal = refusal_of(root)
    if refusal is None or refusal.kind == "unsafe" or not is_own(root, ACCEPTED_RULES) or not _has_own_log(root):
        return None
    return accept(root, how="adopted")


def _has_own_log(root: Path) -> bool:
    from helix_episodes.discovery import folder_of_log, logs_named
    from helix_episodes.errors import LogNotReadable
    from helix_episodes.source_logs import is_log_of, is_unique, read_beginning

    tracked = set(tracked_by_git(root, ["episodes/"]))
    files = [one for one in _files_in(root / "episodes") if f"episodes/{one.name}" not in tracked]
    known: dict[str, list[tuple[str, Provenance]]] = {}
    for path in sorted(files, key=lambda one: one.stat(follow_symlinks=False).st_mtime, reverse=True)[:_MOST_EPISODES]:
        beginning = read_beginning(path)
        if beginning and beginning.provenance and is_unique(beginning.session):
            known.setdefault(beginning.provenance.log, []).append((beginning.session, beginning.provenance))
    left = _MOST_HASHED
    for home, log in logs_named(known) if known else ():
        size = log.stat().st_size
        for session, recorded in known[log.name]:
            if size < recorded.bytes or (left := left - size) < 0:
                continue
            try:
                same = is_log_of(log, recorded, ids=(session,))
            except (LogNotReadable, OSError):
                continue
            folder = folder_of_log(home, log) if same else None
            other = memory_folder(Path(folder)) if folder else None
            if same and (other is None or _canonical(other) == root or acceptance_of(other) is None):
                return True
    return False


def _files_in(folder: Path) -> Iterator[Path]:
    """Regular files of a size that an episode may have; a link is none, and a folder that is one holds none."""
    if not stat.S_ISDIR(folder.stat(follow_symlinks=False).st_mode if os.path.lexists(folder) else 0):
        return
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_file(follow_symlinks=False) and entry.stat(follow_symlinks=False).st_size <= _LARGEST_EPISODE:
                yield Path(entry.path)
