"""Shards as files: where they are, which episodes they have, how they are written, and how a session leaves them.

A memory notes where it has been packed to, so that what it forgets leaves those shards too.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Sequence
from hashlib import blake2b
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from helix_episodes.errors import FileError, HelixGraphError, WriteFailed
from helix_episodes.msgspec_types import read_json
from helix_episodes.safe_files import locked, make_folder, open_regular, read_regular, remove_file, write_atomically
from helix_episodes.store import PREFIX, without_value
from helix_graph.errors import MissingExtra
from helix_graph.graph.graph_db import LABEL_VERSION, TRIAL_VERSION
from helix_graph.project import PACKED
from helix_graph.shards.rows import COLUMNS, EVERY, FACTS, NUMBERS, Row
from helix_graph.tombstones import Unsearched
from helix_graph.trust import content_digest, is_own, seal

#: What a shard is made of; one of another version is written again.
VERSION = f"1 {LABEL_VERSION} {TRIAL_VERSION}"
_METADATA = b"helix-graph"
_DAY, _NAME = re.compile(r"\d{4}-\d\d-\d\d"), re.compile(r"[0-9a-f]{16}\.parquet")


class ShardDamaged(FileError):
    """A file in the place of a shard is none, or cannot be read."""

    sentence = "{path} is not a shard that this version can read ({problem}); `helix-graph pack` writes it again"


#: No session has as much of anything; sums of as many sessions as there are seconds in a year fit.
_MOST_OF_SESSION = 10**11


class Member(msgspec.Struct, frozen=True, array_like=True):
    """An episode in a shard: the digest of all that its rows are made from, and its session."""

    digest: str
    session: str


class ShardKey(NamedTuple):
    """What the episodes of a shard have in common."""

    day: str
    project: str


class _Metadata(msgspec.Struct, frozen=True):
    version: str
    episodes: dict[str, Member]


def parquet_modules() -> tuple[Any, Any]:
    """The modules ``pyarrow`` and ``pyarrow.parquet``."""
    try:
        return import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError as error:
        raise MissingExtra(wanted="reading and writing shards", extra="parquet") from error


def path_of_shard(folder: Path, key: ShardKey) -> Path:
    """Where the shard of a day and project is; a project's name may be anything, so its digest stands for it."""
    return folder / key.day / f"{blake2b(key.project.encode(), digest_size=8).hexdigest()}.parquet"


def is_day(name: str) -> bool:
    """Whether a folder of shards of one day is called so."""
    return _DAY.fullmatch(name) is not None


def shard_files(folder: Path) -> list[Path]:
    """The shards in a folder in order."""
    days = [day for day in folder.iterdir() if is_day(day.name) and day.is_dir()]
    return sorted(path for day in days for path in day.iterdir() if _NAME.fullmatch(path.name))


def read_members(path: Path) -> dict[str, Member] | None:
    """The episodes of a shard by their ids; None of a file that is no shard of this version."""
    try:
        return check_shard(path)
    except ShardDamaged:
        return None


def check_shard(path: Path) -> dict[str, Member]:
    """The episodes of a shard by their ids, going by what stands at its end.

    Raises:
        ShardDamaged: It is no shard, or one of another version.
    """
    pa, parquet = parquet_modules()
    try:
        with open_regular(path) as file:  # a path could be read as the address of a server
            schema = parquet.read_schema(file)
        found = msgspec.json.decode((schema.metadata or {})[_METADATA], type=_Metadata)
    except KeyError as error:
        problem = "it is a Parquet file, but none that `helix-graph pack` wrote"
        raise ShardDamaged(path=path, problem=problem) from error
    except (pa.ArrowException, OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ShardDamaged(path=path, problem=without_value(str(error)) or type(error).__name__) from error
    if found.version != VERSION:
        raise ShardDamaged(path=path, problem=f"it is of another version than {VERSION!r}, which this one writes")
    if not schema.equals(arrow_schema()):
        raise ShardDamaged(path=path, problem="it has other columns than a shard")
    return found.episodes


def find_damage(paths: Sequence[Path]) -> ShardDamaged | None:
    """The first of these shards that cannot be read to its end, or has a number that is none of a session."""
    pa, parquet = parquet_modules()
    for path in paths:
        try:
            check_shard(path)
            with open_regular(path) as file:
                for batch in parquet.ParquetFile(file, page_checksum_verification=True).iter_batches():
                    if problem := impossible_number(batch, most=_MOST_OF_SESSION):
                        return ShardDamaged(path=path, problem=problem)
        except ShardDamaged as error:
            return error
        except (pa.ArrowException, OSError) as error:
            return ShardDamaged(path=path, problem=str(error))
    return None


def impossible_number(batch: Any, *, most: int) -> str:  # noqa: ANN401  (a pyarrow.RecordBatch)
    """What is wrong with a number of these rows that is below 0 or above ``most``: sums of such may not fit."""
    pa, _ = parquet_modules()
    compute = import_module("pyarrow.compute")
    for field, column in zip(batch.schema, batch.columns, strict=True):
        if pa.types.is_integer(field.type):
            found = compute.min_max(column).as_py()
            for number in (found["min"], found["max"]):
                if number is not None and not 0 <= number <= most:
                    return f"{number:,} in its column {field.name} is no count"
    return ""


def write_shard(path: Path, rows: dict[str, list[Row]], members: dict[str, Member]) -> int:
    """Writes a shard whole or not at all; gives its number of rows."""
    pa, _ = parquet_modules()
    schema = arrow_schema()
    tables = []
    for fact, names in FACTS.items():
        several = rows[fact]
        columns = dict(zip((*EVERY, *names), zip(*several, strict=True), strict=True)) if several else {}
        arrays = [
            pa.array(columns[name], type=schema.field(name).type)
            if name in columns
            else pa.repeat(pa.scalar(0 if name in NUMBERS else "", type=schema.field(name).type), len(several))
            for name in COLUMNS
        ]
        tables.append(pa.Table.from_arrays(arrays, schema=schema))
    table = pa.concat_tables(tables)
    write_table(path, table, members)
    return int(table.num_rows)


def arrow_schema() -> Any:  # noqa: ANN401  (a pyarrow.Schema, which need not be installed)
    """The columns of a shard with their types."""
    pa, _ = parquet_modules()
    return pa.schema([(name, pa.int64() if name in NUMBERS else pa.string()) for name in COLUMNS])


def write_table(path: Path, table: Any, members: dict[str, Member]) -> None:  # noqa: ANN401  (a pyarrow.Table)
    """Writes a table with the columns of a shard, as `write_shard`."""
    _, parquet = parquet_modules()
    metadata = msgspec.json.encode(_Metadata(VERSION, dict(sorted(members.items()))))
    out = io.BytesIO()
    parquet.write_table(
        table.replace_schema_metadata({_METADATA: metadata}), out, compression="zstd", write_page_checksum=True
    )
    with WriteFailed.for_os_errors(path):
        make_folder(path.parent)
    write_atomically(path, out.getvalue())


def remove_sessions(folder: Path, is_gone: Callable[[str], bool]) -> int:
    """Takes sessions out of every shard in a folder; gives the number of shards that were written again or removed.

    Raises:
        ShardDamaged: One cannot be read, so nobody knows whose it is. Those before it are done.
    """
    with locked(folder):
        return sum(_remove_from(path, is_gone) for path in shard_files(folder))


def _remove_from(path: Path, is_gone: Callable[[str], bool]) -> bool:
    members = check_shard(path)
    gone = {name for name, one in members.items() if is_gone(one.session) or is_gone(name.removeprefix(PREFIX))}
    if not gone:
        return False
    if gone == members.keys():
        return remove_file(path)
    pa, parquet = parquet_modules()
    compute = import_module("pyarrow.compute")
    try:
        with open_regular(path) as file:
            table = parquet.read_table(file, partitioning=None)
    except (pa.ArrowException, OSError) as error:
        raise ShardDamaged(path=path, problem=str(error)) from error
    rest = table.filter(compute.invert(compute.is_in(table["episode"], value_set=pa.array(sorted(gone)))))
    write_table(path, rest, {name: one for name, one in members.items() if name not in gone})
    return True


def remember_folder(root: Path, folder: Path) -> None:
    """Adds a folder to those that the memory in ``root`` has been packed to; one from a clone begins anew."""
    known = _folders(root)
    if folder not in known:
        listed = msgspec.json.format(msgspec.json.encode(sorted(map(str, (*known, folder)))), indent=2) + b"\n"
        before = (read_regular(root / PACKED),) if known else ()
        seal(root, PACKED, *map(content_digest, (listed, *before)))  # whenever this process is killed
        write_atomically(root / PACKED, listed)


def is_remembered(root: Path, folder: Path) -> bool:
    """Whether the memory in ``root`` has been packed to this folder before, by whatever path."""
    return folder.resolve() in {one.resolve() for one in _folders(root)}


def _folders(root: Path) -> list[Path]:
    """The folders in the list; none where it cannot be read, or another than this user made it."""
    return [Path(one) for one in read_json(root / PACKED, list[str]) or ()] if is_own(root, PACKED) else []


def forget_in_shards(root: Path, is_gone: Callable[[str], bool]) -> list[Unsearched]:
    """Takes sessions out of all shards that the memory in ``root`` was packed to; what could not be reached."""
    unreached = []
    if (root / PACKED).exists() and not _folders(root):
        problem = "it is no list of folders that you wrote on this machine; pack to them again, or delete it"
        unreached.append(Unsearched(file=PACKED, problem=problem))
    for folder in _folders(root):
        if not folder.is_dir():
            problem = f"it is not there; if it was deleted, delete {PACKED} and pack to the others again"
            unreached.append(Unsearched(file=str(folder), problem=problem))
            continue
        try:
            remove_sessions(folder, is_gone)
        except (HelixGraphError, OSError) as error:
            unreached.append(Unsearched(file=str(folder), problem=str(error)))
    return unreached
