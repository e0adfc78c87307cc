"""Git: the one place where it is started, nothing that a repository configures is run; where it keeps what it knows.

What a repository's configuration, attributes and hooks name as programs (hooks, filters, diff drivers, a file monitor,
a pager, signature checkers, transports, helpers for credentials) is turned off for each call. Nothing is fetched, no
lock is taken that an agent's own git would wait for, and a repository that another user owns is refused by git itself.
Git is asked of the tree around a folder alone: not of one above where the nearest ``.git`` is empty, not of another
repository that a ``.git`` leads to, and not of a folder that looks like a bare repository.

A ``.git`` may be a file or a link that names a folder anywhere, and an archive can hold one: whatever is asked of git
there would be answered from another of this user's repositories. Git itself links back, from the folder of a linked
work tree (``gitdir``) and of a submodule (``core.worktree``), so a tree that its repository does not know has none.

Which paths git tracks is read from its index: git is not started, for that takes longer than a hook may. Format:
https://git-scm.com/docs/index-format.

Every hook loads this module, so it imports next to nothing.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

from helix_episodes.light_imports import Regex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from mmap import mmap


#: A file of git's that holds one path has at most so many bytes: Linux takes paths of 4,096.
_LONGEST_POINTER = 8192
#: A large configuration of git's, with tens of thousands of branches, has a few megabytes.
LARGEST_SETTINGS = 16 << 20
#: What git reads of its folder's own, and has no reason to keep elsewhere.
_OWN = ("HEAD", "index", "packed-refs", "objects", "objects/info", "objects/pack", "refs")


def tree_around(folder: Path) -> Path | None:
    """The nearest folder, from this one on upwards, that has a ``.git`` of any kind."""
    folder = _real(folder)
    return next((one for one in (folder, *folder.parents) if (one / ".git").exists()), None)


def git_folder(tree: Path) -> Path:
    """The git folder of a work tree or submodule, as its ``.git`` is or names it, whether it is there or not."""
    git = tree / ".git"
    target = pointer_in(git).removeprefix("gitdir:").strip() if git.is_file() else ""
    return _real(tree / target) if target else git


def foreign_git(tree: Path) -> Path | None:
    """The folder of another repository that a tree's ``.git`` leads to; None of its own, or one that is not there."""
    git = _real(git_folder(tree))
    if not git.is_dir():
        return None
    common = pointer_in(git / "commondir")
    if common and not _is_linked_work_tree(tree, git, common):
        return _real(git / common)
    inside = git.is_relative_to(_real(tree))
    if not (common or inside or any(_is_same(git / one, tree) for one in _named_trees(git))):
        return git
    folders = (git, _real(git / common)) if common else (git,)
    for folder in folders:  # one of git's own folders may be a link that leads out of it and of the tree
        for link in (folder / one for one in _OWN):
            if link.is_symlink() and not any(_real(link).is_relative_to(one) for one in (folder, _real(tree))):
                return _real(link)
    return None


def has_links(tree: Path) -> bool:
    """Whether a link within the objects and refs of a tree's repository may lead to another's.

    Refs are looked at where objects of another repository are borrowed, as after `git clone --shared`.
    """
    git = _real(git_folder(tree))
    common = pointer_in(git / "commondir")
    shared = _real(git / common) if common else git
    try:
        with os.scandir(shared / "objects") as entries:
            if any(entry.is_symlink() for entry in entries):
                return True
    except OSError:  # not there: git will say so
        return False
    if not (shared / "objects" / "info" / "alternates").exists():
        return False
    found = (Path(top, name) for top, folders, files in os.walk(shared / "refs") for name in (*folders, *files))
    return any(path.is_symlink() for path in found)


def main_work_tree(tree: Path) -> Path | None:
    """The work tree that holds the common git folder of a linked one; None where that is bare, or does not know it."""
    git = git_folder(tree)
    common = pointer_in(git / "commondir")
    shared = _real(git / common) if common else None
    if shared is None or shared.name != ".git" or not _is_linked_work_tree(tree, git, common):
        return None
    return shared.parent


def pointer_in(path: Path) -> str:
    """The path in a file of git's; empty where there is none, which anybody may have made so."""
    from helix_episodes.safe_files import read_regular

    try:
        written = read_regular(path, follow=True, most=_LONGEST_POINTER)
    except OSError:
        return ""
    return "" if b"\0" in written else os.fsdecode(written).strip()


def _is_linked_work_tree(tree: Path, git: Path, common: str) -> bool:
    """Whether the repository has a record of this work tree, as `git worktree add` makes one."""
    back = Path(pointer_in(git / "gitdir"))
    is_back = back.name == ".git" and _is_same(git / back.parent, tree)
    return is_back and git.parent == _real(git / common) / "worktrees"


def _named_trees(git: Path) -> Iterator[str]:
    """The work trees that the configuration in a folder of git's names: that of a submodule has one."""
    from helix_episodes.safe_files import read_regular

    for name in ("config", "config.worktree"):
        try:
            written = read_regular(git / name, follow=True, most=LARGEST_SETTINGS)
        except OSError:
            continue
        section = ""
        for line in os.fsdecode(written).splitlines():
            key, _, value = (part.strip() for part in line.partition("="))
            if key.startswith("["):
                section = key.lower()
            elif section == "[core]" and key.lower() == "worktree" and "\0" not in value:
                yield value.strip('"').replace('\\"', '"').replace("\\\\", "\\")


def _is_same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except (OSError, ValueError):
        return False


def _real(path: Path) -> Path:
    """The path without links; where they go in circles it stays as it is, which `Path.resolve` takes for an error."""
    return Path(os.path.realpath(path))


#: The fields of an entry before its name: times, ids, mode, size; then the object's hash and two bytes of flags.
_BEFORE_HASH, _FLAGS = 40, 2
_LENGTH, _EXTENDED = 0x0FFF, 0x4000
_HEADER = 12
_PREFIX_COMPRESSED = 4
#: Where the kind of an entry is in it, in the upper half of the byte; git writes no other kinds.
_MODE = 26
_FOLDER, _FILE, _LINK, _SUBMODULE = 4, 8, 10, 14
_ENTRY_KINDS = frozenset({_FOLDER, _FILE, _LINK, _SUBMODULE})
#: Bounds for an index that somebody forged. A path has at most 4,096 bytes on Linux. The largest repositories known
#: have some million files, nearly all behind a name that begins with a dot; reading so many takes half a second.
_LONGEST_NAME = 4096
_MOST_READ = 200_000


def names_in(index: mmap, wanted: tuple[bytes, ...], *, inside: bytes, hash_size: int) -> Iterator[bytes]:
    """The paths in git's index that begin with one of ``wanted``, whatever their case, and submodules in ``inside``.

    Git checks a path out over one of another case where the disk makes no difference between them. Entries are in the
    order of their names, so reading ends behind the last that is wanted: near the beginning, for names that begin with
    a dot.

    Raises:
        ValueError, IndexError: It is damaged, or of a version that is not known here.
    """
    version = int.from_bytes(index[4:8], "big")
    if index[:4] != b"DIRC" or version not in {2, 3, _PREFIX_COMPRESSED}:
        raise ValueError(f"version {version}")
    wanted, inside = tuple(one.lower() for one in wanted), inside.lower()
    before, last = _BEFORE_HASH + hash_size, inside + b"\xff"  # capitals come before small letters
    at, name = _HEADER, b""
    for number in range(int.from_bytes(index[8:12], "big")):
        begin, flags, previous = at, index[at + before] << 8 | index[at + before + 1], name
        kind = index[at + _MODE] >> 4
        at += before + (2 * _FLAGS if flags & _EXTENDED else _FLAGS)
        if version == _PREFIX_COMPRESSED:  # the name before, less so many letters, and what is behind them
            dropped = index[at] & 0x7F
            while index[at] & 0x80:
                at += 1
                dropped = (dropped + 1 << 7) + (index[at] & 0x7F)
                if dropped > _LONGEST_NAME:
                    raise ValueError("it is damaged")
            end = _end_of_name(index, at + 1)
            name = name[: len(name) - dropped] + index[at + 1 : end]
            at = end + 1
        else:  # filled up with zeros to a multiple of eight bytes
            length = flags & _LENGTH
            end = at + length if length < _LENGTH else _end_of_name(index, at)
            name = index[at:end]
            at = begin + (end - begin) // 8 * 8 + 8
        if name < previous or kind not in _ENTRY_KINDS or number == _MOST_READ:
            raise ValueError("it is damaged, or too long")
        if name > last:
            return
        path = name.lower()
        if path.startswith(wanted) or (kind == _SUBMODULE and (path + b"/").startswith(inside)):
            yield name


def _end_of_name(index: mmap, at: int) -> int:
    end = index.find(b"\0", at, at + _LONGEST_NAME + 1)
    if end < 0:
        raise ValueError("a name without an end")
    return end


#: The history of a large repository takes git seconds; nobody waits longer for it.
_SECONDS = 10.0
#: A tree in which git took longer (its ``.gitignore`` may be a named pipe) is not asked again for so long: a page asks
#: several questions, and a server answers for days.
_LEFT_ALONE = 300.0
#: Until when which trees are left alone.
_slow_trees: dict[Path, float] = {}
_SETTINGS = {
    "core.fsmonitor": "false", "core.hooksPath": os.devnull, "core.pager": "cat", "core.sshCommand": "false",
    "core.askPass": "false", "credential.helper": "", "gpg.program": "false", "log.showSignature": "false",
    "protocol.allow": "never", "safe.bareRepository": "explicit", "submodule.recurse": "false",
    "diff.submodule": "short", "core.quotePath": "false", "core.attributesFile": os.devnull, "mailmap.file": os.devnull,
}  # fmt: skip
#: Of the user's environment, what says whose repositories are trusted and where git's own settings are. The rest is of
#: the one repository in which a hook of git's may have started us, or changes what is printed.
_KEPT = frozenset({"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_EXEC_PATH"})
_ENVIRONMENT = {
    "GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1", "GIT_TERMINAL_PROMPT": "0", "GIT_ALLOW_PROTOCOL": "",
    "GIT_NO_REPLACE_OBJECTS": "1", "GIT_PAGER": "cat", "GIT_ASKPASS": "false", "SSH_ASKPASS": "false", "LC_ALL": "C",
}  # fmt: skip
#: Commands that read files of the work tree, for which git runs filters, and those that print differences.
_READING_FILES = frozenset({"add", "commit", "diff", "update-index"})
_SHOWING = frozenset({"diff", "log"})
#: Programs that the configuration names under a name of its own, and what turns each off.
_NAMED_PROGRAMS = Regex(r"(?s)filter\..*\.(?:clean|smudge|process|required)|hook\..*\.(?:command|enabled)")
_OFF = {"required": "false", "enabled": "false"}
_SEVERAL = 2000


class GitFailed(Exception):
    """Git cannot be asked, or says no; ``problem`` is its first sentence."""

    def __init__(self, problem: str) -> None:
        self.problem = problem
        super().__init__(problem)


class GitTooSlow(GitFailed):
    """It did not answer in time."""


def git_output(folder: Path, *arguments: str, asked: bytes = b"") -> bytes | None:
    """What git prints in this folder, with ``asked`` as its input; None where it fails, is missing or is too slow."""
    try:
        return run_git(folder, *arguments, asked=asked)
    except GitFailed:
        return None


def begin_repository(folder: Path) -> None:
    """Makes a repository of a folder that is in none yet."""
    _run(["init", "--quiet"], folder, environment=_environment(_SETTINGS))


def run_git(
    folder: Path,
    *arguments: str,
    asked: bytes = b"",
    seconds: float = _SECONDS,
    more: Mapping[str, str] | None = None,
) -> bytes:
    """What git prints in this folder, with ``asked`` as its input and ``more`` variables, such as an author's name.

    Raises:
        GitFailed: It fails, is missing, takes longer than ``seconds``, or the folder is in no repository of its own.
    """
    tree = tree_around(folder)
    if tree is None:
        raise GitFailed(f"{folder} is in no git repository")
    other = foreign_git(tree)
    if other is not None or has_links(tree):
        where = f"leads to {other}, which has no record of this folder" if other else "has links in place of its files"
        raise GitFailed(f"{tree / '.git'} {where}, so git is not asked")
    if time.monotonic() < _slow_trees.get(tree, 0):
        raise GitFailed(f"git took too long in {tree} before")
    command, *rest = arguments
    settings = dict(_SETTINGS)
    if command in _READING_FILES:
        settings |= _named_programs(folder, tree)
    plain = ("--no-ext-diff", "--no-textconv") if command in _SHOWING else ()
    environment = {**_environment(settings, tree), **(more or {})}
    try:
        return _run([command, *plain, *rest], folder, environment=environment, asked=asked, seconds=seconds)
    except GitTooSlow:
        _slow_trees[tree] = time.monotonic() + _LEFT_ALONE
        raise


def _named_programs(folder: Path, tree: Path) -> dict[str, str]:
    """What turns off the filters and hooks that are configured by name."""
    listed = _run(["config", "--null", "--name-only", "--list"], folder, environment=_environment(_SETTINGS, tree))
    names = {name for name in os.fsdecode(listed).split("\0") if _NAMED_PROGRAMS.fullmatch(name)}
    if len(names) > _SEVERAL:
        raise GitFailed(
            f"the configuration in {tree / '.git'} names {len(names)} filters and hooks, so git is not asked"
        )
    hooks = {f"{name.removesuffix('.command')}.enabled" for name in names if name.endswith(".command")}
    return {name: _OFF.get(name.rpartition(".")[2], "") for name in names | hooks}


def _environment(settings: Mapping[str, str], tree: Path | None = None) -> dict[str, str]:
    """The variables of a git that is to look at this tree alone, with these settings."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_") or name in _KEPT}
    place = {"GIT_WORK_TREE": str(tree), "GIT_CEILING_DIRECTORIES": str(tree.parent)} if tree else {}
    return {
        **kept, **_ENVIRONMENT, **place, "GIT_CONFIG_COUNT": str(len(settings)),
        **{f"GIT_CONFIG_KEY_{at}": name for at, name in enumerate(settings)},
        **{f"GIT_CONFIG_VALUE_{at}": value for at, value in enumerate(settings.values())},
    }  # fmt: skip


def _run(
    command: list[str], folder: Path, *, environment: Mapping[str, str], asked: bytes = b"", seconds: float = _SECONDS
) -> bytes:
    import subprocess

    try:
        done = subprocess.run(  # noqa: S603  (no shell)
            ["git", "--no-pager", "-C", str(folder), *command],  # noqa: S607  (the user's own git)
            capture_output=True, check=False, timeout=seconds, env=environment, input=asked,
        )  # fmt: skip
    except subprocess.TimeoutExpired as error:
        raise GitTooSlow(f"git took longer than {seconds:g} seconds") from error
    except (OSError, ValueError) as error:  # a ValueError of a null character in a name
        raise GitFailed(f"git cannot be started: {error}") from error
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip()
        raise GitFailed(said.splitlines()[0] if said else f"git {command[0]} failed")
    return done.stdout
