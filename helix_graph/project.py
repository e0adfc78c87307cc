"""Find the memory of a project, and whether its automatic work is turned off.

A project is a git repository, and its work trees share one memory, found through the common git folder. A ``.helix``
outside the repository (in the home folder, say) is never taken for it. Without git, the nearest ancestor with a
``.helix`` counts. ``HELIX_DIR`` overrides all of it. Every hook loads this module, so it imports next to nothing.

Neither ``.helix`` nor a folder in it may be a link: git clones links, and hooks would write where they lead. Whoever
wants a memory elsewhere names it in ``HELIX_DIR``, which may be a link, since no repository can set it.
"""

from __future__ import annotations

import os
from pathlib import Path

from helix_episodes.light_imports import blake2b
from helix_episodes.safe_files import expanded, home_folder
from helix_graph.git import main_work_tree, pointer_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import TypeVar

    import msgspec

    _Table = TypeVar("_Table", bound=msgspec.Struct)

FOLDER = ".helix"
#: The pages that `view` and `report` write, within the memory: they quote sessions, and go when one is forgotten.
PAGES = "pages"
#: What hooks keep: hashes of what sessions were given, and their failures, which may quote.
HOOK_FOLDER = "hooks"
HOOK_LOG = "hooks.log"
#: The anti-patterns as hooks look at them: derived, and gone when a session is forgotten.
PREPARED = "cache/anti-patterns.json"
HIGHLIGHTS = "cache/highlights.json"
SHARED_AUTHORS = "cache/shared-authors.json"
#: What quotes sessions and is made again on request, as the pages are.
QUOTING = (PREPARED, HIGHLIGHTS, SHARED_AUTHORS, HOOK_LOG)
#: The folders that the memory was packed to, which `forget` has to reach.
PACKED = "packed.json"
#: The rules that people accepted, and which sessions were drawn for those on trial.
ACCEPTED_RULES, RULE_TRIALS = "rules.json", "rule-trials.jsonl"
#: What came from the team's server: whose each pulled episode is, the other records, and how far this memory has read.
TEAM, TEAM_EPISODES, TEAM_RECORDS, TEAM_STATE = "team", "team/episodes", "team/records", "team/state.json"
#: What this user deleted on the server, from any machine, by the hashes under which the server remembers it.
TEAM_FORGOTTEN = "team/forgotten.json"
#: What was last exchanged with the server of each own object (`helix_graph.sharing.exchanged`).
TEAM_EXCHANGED = "team/exchanged.json"
#: What remembers forgotten sessions, a file each; see `helix_graph.tombstones`.
FORGOTTEN = "forgotten"
#: Settings, a table for each part that has some; `read_table` reads it. A repository may ship the one in its memory, so
#: that one can only narrow what the memory does; what reaches out is set in the user's own (`user_configuration`).
CONFIGURATION = "config.toml"
#: The .gitignore of a memory that is private, and of one whose episodes are shared.
PRIVATE_MEMORY = (
    "# helix-graph: nothing here belongs in git; `helix-graph init --share` shares episodes and assertions\n*\n"
)
SHARED_MEMORY = (
    "# helix-graph: episodes and assertions are shared (they quote people's prompts), what is derived is not\n"
    "*\n!.gitignore\n!episodes/\n!episodes/episode-*.json\n!causality/\n!causality/assertions/\n!causality/assertions/*.json\n"
)
ENVIRONMENT = "HELIX_DIR"
#: Names the team's server to ask (`helix_graph.sharing.team`).
SERVER_VARIABLE = "HELIX_DATABASE"


#: Where an error about settings repeats a key of the file that may be a sentence: agents read it.
_NO_NAME = r"(?<=field )`(?![\w-]{1,30}`).*`|(?<=declare )\(.*\)(?= twice)"


def memory_folder(start: Path) -> Path | None:
    """The ``.helix`` folder that serves ``start``, made already or not; None where there is no project."""
    override = os.environ.get(ENVIRONMENT)
    if override:
        return Path(os.path.realpath(expanded(override)))
    project = project_folder(start)
    return project / FOLDER if project else None


#: The folders of a memory, below it.
FOLDERS = (
    *("shared", "shared/insights", "shared/feedback", "shared/topics", "shared/forgotten"),
    *("episodes", "causality", "causality/assertions", PAGES, HOOK_FOLDER, "cache", "forgotten"),
    *("set-aside", "set-aside/episodes", "set-aside/assertions", "set-aside/topics"),
    *("injection-state", "explorer-results", TEAM, TEAM_EPISODES, TEAM_RECORDS),
)


def digest(name: str) -> str:
    """The hash under which a session or a step is remembered as forgotten.

    >>> digest("session-1") == digest("session-1") != digest("session-2")
    True
    """
    return blake2b(name.encode("utf-8", "replace"), digest_size=16, person=b"helix-forget").hexdigest()


def forgotten_digests(root: Path) -> frozenset[str]:
    """The hashes of all forgotten sessions of the memory in ``root``."""
    return frozenset(path.stem for path in (root / FORGOTTEN).glob("*.json"))


def without_forgotten(root: Path, files: Iterable[Path]) -> list[Path]:
    """The files of episodes without those of forgotten sessions, which an older copy may have brought back."""
    forgotten = forgotten_digests(root)
    return [path for path in files if not forgotten or digest(path.stem.removeprefix("episode-")) not in forgotten]


def forgotten_elsewhere(root: Path) -> frozenset[str]:
    """The hashes of what this user had forgotten on another machine when the memory was made from the server."""
    from helix_episodes.msgspec_types import read_json

    return frozenset(read_json(root / TEAM_FORGOTTEN, list[str]) or ())


def check_folders(root: Path) -> None:
    """Whether the memory in ``root`` and its folders are folders, as far as they are there.

    Raises:
        FolderInUse: One of them is a link, or no folder.
    """
    from stat import S_ISDIR

    for path in (root, *(root / name for name in FOLDERS)):
        try:
            mode = path.stat(follow_symlinks=False).st_mode
        except OSError:  # not there, or what using it will say
            continue
        if not S_ISDIR(mode):
            from helix_graph.errors import FolderInUse

            problem = "is a link or a file where a folder of the memory belongs; remove it"
            raise FolderInUse(f"{path} {problem} (a memory elsewhere is named by HELIX_DIR, not by a link)")


def project_folder(start: Path) -> Path | None:
    """The project around ``start``: its repository's main work tree, else the nearest folder that has a memory.

    What another user has put into a folder above, as anybody can do in ``/tmp``, makes no project of it.
    """
    start = start.absolute()
    root = repository_root(start)
    if root is not None:
        return root
    if (start / FOLDER).is_dir():
        return start
    return next((one for one in start.parents if (one / FOLDER).is_dir() and not others_own(one / FOLDER)), None)


def repository_root(start: Path) -> Path | None:
    """The main work tree of the repository around ``start``, for each of its work trees; None outside of git."""
    for folder in (start, *start.parents):
        git = folder / ".git"
        if folder != start and others_own(git):  # git takes no such repository either
            continue
        if git.is_dir():
            return folder
        if git.is_file():
            return main_work_tree(folder) or folder
    return None


def others_own(path: Path) -> bool:
    """Whether another user than root owns what is there."""
    return path.exists() and path.stat().st_uid not in {0, os.geteuid()}


def work_trees(repository: Path) -> list[Path]:
    """The other work trees of a repository, by path; those that were moved or deleted by hand are left out."""
    entries = (repository / ".git" / "worktrees").glob("*")
    pointers = ((entry, pointer_in(entry / "gitdir")) for entry in entries)  # which may be relative to the entry
    trees = (Path(os.path.normpath(entry / pointer)).parent for entry, pointer in pointers if pointer)
    return sorted(tree for tree in trees if tree.is_dir())


def xdg_folder(variable: str, usual: str) -> Path:
    """A folder of the user's by the XDG convention, where a path that is not absolute counts as not set.

    https://specifications.freedesktop.org/basedir-spec/latest/
    """
    named = Path(os.environ.get(variable, ""))
    return named if named.is_absolute() else home_folder() / usual


OFF_FILE = "off"
OFF_ENVIRONMENT = "HELIX_OFF"


def disabled_by(root: Path) -> str | None:
    """What silences the automatic work of the memory in ``root``, in words; None when nothing does."""
    if os.environ.get(OFF_ENVIRONMENT, "") not in {"", "0"}:
        return f"Paused: {OFF_ENVIRONMENT} is set"
    switch = root / OFF_FILE
    return "Paused for this project" if switch.exists() else None


def user_configuration() -> Path:
    """The user's own settings for every memory: ``helix-graph/config.toml`` in ``XDG_CONFIG_HOME`` or ``~/.config``."""
    return xdg_folder("XDG_CONFIG_HOME", ".config") / "helix-graph" / CONFIGURATION


def read_table(path: Path, name: str, kind: type[_Table]) -> _Table:
    """The table of that name in a file of settings; its defaults where there is none.

    A setting that is not understood is refused: ignoring it silently would be worse.

    Raises:
        InvalidConfiguration: The file cannot be read, is no TOML, or the table does not fit ``kind``.
    """
    import msgspec

    from helix_episodes.safe_files import LARGEST_CONFIGURATION, read_regular
    from helix_graph.errors import InvalidConfiguration

    try:
        text = read_regular(path, most=LARGEST_CONFIGURATION).decode()
    except (FileNotFoundError, NotADirectoryError):
        return kind()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidConfiguration(path=path, problem=f"it cannot be read: {error}") from error
    import tomllib

    from helix_episodes.msgspec_types import ready

    try:
        return msgspec.convert(tomllib.loads(text).get(name, {}), ready(kind))
    except (tomllib.TOMLDecodeError, msgspec.ValidationError, RecursionError) as error:
        import re

        said = re.sub(_NO_NAME, "that nobody would call so", str(error), flags=re.DOTALL)
        raise InvalidConfiguration(path=path, problem=said) from error
