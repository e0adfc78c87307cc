"""What a fold adds up: shards of some days, the days before them, and earlier folds. A folder that is neither is named.

Sums have no days, so only shards are chosen by them. Nothing is left out without a word: the sums would be too small.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from helix_episodes.errors import InvalidArgument, NotFound
from helix_episodes.safe_files import open_regular
from helix_graph.shards.engines import TABLES
from helix_graph.shards.files import ShardDamaged, check_shard, is_day, parquet_modules, shard_files
from helix_graph.shards.session_sample import CountedSessions, Sample, sample_in
from helix_graph.validation import as_datetime

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

#: A session that was resumed after so many days counts the failures that it repeats again, where days are folded apart.
LOOK_BACK = timedelta(days=31)
#: The table in whose metadata the sample of sessions is.
NOTED_IN = "labels"


class FoldInputs(msgspec.Struct, frozen=True):
    """The ``shards`` to add up, those of the days ``before``, and the folders of ``earlier`` folds.

    ``has_copies`` says whether an episode is in more than one shard, as in folders of several machines, or after a pack
    that was killed. ``sample`` is that of their sessions.
    """

    shards: list[Path]
    before: list[Path]
    earlier: list[Path]
    has_copies: bool
    sample: Sample


def find_inputs(folders: Sequence[Path], *, since: date | str | None, until: date | str | None) -> FoldInputs:
    """The inputs in these folders, of the days from ``since`` to the one before ``until``.

    Raises:
        InvalidArgument: There are no shards, or no such day; a folder is none of ours, or has sessions that earlier
            sums have too; or days are named where there are sums alone.
        ShardDamaged: A shard or the sums cannot be read.
    """
    first, end = _day("since", since), _day("until", until)
    shards: list[Path] = []
    earlier: list[Path] = []
    for folder in folders:
        if _is_sums(folder):
            earlier.append(folder)
        else:
            shards += shard_files(folder)
    if earlier and not shards and (first or end):
        raise InvalidArgument("folders", "have sums alone, which have no days to choose; leave out since and until")
    chosen = [path for path in shards if first <= path.parent.name and (not end or path.parent.name < end)]
    if not chosen and not earlier:
        raise InvalidArgument("folders", _nothing_to_add(folders, shards))
    begin = f"{datetime.fromisoformat(first) - LOOK_BACK:%Y-%m-%d}" if first else ""
    projects = {path.name for path in chosen}
    before = [path for path in shards if first and begin <= path.parent.name < first and path.name in projects]
    counted = CountedSessions((folder, _sample_of(folder)) for folder in earlier)
    for path in sorted(set(chosen)):
        counted.add_shard(path.parent.parent, check_shard(path))
    for path in before:
        check_shard(path)
    return FoldInputs(sorted(chosen), sorted(before), earlier, counted.has_copies, counted.sample())


def _day(option: str, value: date | str | None) -> str:
    at = as_datetime(option, value)
    return "" if at is None else f"{at:%Y-%m-%d}"


def _is_sums(folder: Path) -> bool:
    """Whether a folder is of an earlier fold; else it is one that ``pack`` has written.

    Raises:
        InvalidArgument: It is neither.
    """
    if not folder.is_dir():
        raise NotFound(f"no folder {str(folder)!r}; name one that `helix-graph pack` has written")
    missing = [name for name in TABLES if not (folder / f"{name}.parquet").is_file()]
    if not missing:
        return True
    if is_day(folder.absolute().name) and shard_files(folder.absolute().parent):
        above = "name the folder above it, and the day by since and until"
        raise InvalidArgument("folders", f"have {folder}, which is one day of shards; {above}")
    entries = [path for path in folder.iterdir() if not path.name.startswith(".")]
    if not all(is_day(path.name) for path in entries) and not shard_files(folder):
        raise InvalidArgument(
            "folders",
            f"have {folder}, which has neither shards nor all tables of a fold ({missing[0]}.parquet is not there); "
            "leave it out, or pack or fold to it again",
        )
    return False


def _nothing_to_add(folders: Sequence[Path], shards: Sequence[Path]) -> str:
    days = sorted(path.parent.name for path in shards)
    if days:
        return f"have no shards of this period, but of {days[0]} to {days[-1]}; choose other days by since and until"
    more = f" and {len(folders) - 1} more" if len(folders) > 1 else ""
    return f"have no shards ({folders[0]}{more}); `helix-graph pack` writes some"


def _sample_of(folder: Path) -> Sample:
    """The sessions that an earlier fold says it has counted."""
    pa, parquet = parquet_modules()
    path = folder / f"{NOTED_IN}.parquet"
    try:
        with open_regular(path) as file:
            return sample_in(parquet.read_schema(file).metadata)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise ShardDamaged(path=path, problem=str(error)) from error
