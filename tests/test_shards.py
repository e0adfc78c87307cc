"""Do shards have what episodes say, do the engines sum up what the graph has, and what if something is cut short?"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from episode_drawing import draw_episode
from helix_cli.app import run
from helix_episodes.errors import InvalidArgument, NotFound, ProgramFailed, WriteFailed
from helix_episodes.store import encode_episode
from helix_graph import Memory
from helix_graph.errors import FolderInUse, MissingExtra
from helix_graph.shards.files import ShardDamaged, shard_files
from helix_graph.shards.fold import fold
from helix_graph.shards.pack import pack
from helix_graph.shards.session_sample import SIZE, CountedSessions, digest_of, smallest
from session_script import Script
from small_worlds import memory_of
from thoroughness import few

if TYPE_CHECKING:
    from collections.abc import Callable

    from helix_episodes.model import Episode

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
pytest.importorskip("ibis")
pytest.importorskip("duckdb")

DAYS = ("2026-03-01", "2026-03-02", "2026-03-05")
SESSIONS = (
    ("run ruff -> ruff fails: E501", "edit a.py -| ruff fails: E501", "ruff passes -> success"),
    ("edit a.py -> pytest fails: KeyError", "run ruff => ruff fails: E501", "pytest fails: KeyError -> failure"),
    ("run ruff -> ruff fails: E501", "run ruff -> ruff fails: E501#2", "edit b.go -| ruff fails: E501"),
)


def small_world(folder: Path) -> Memory:
    """Three days of two projects, with a copy of a session, a word of a person, and a node and an edge by hand."""
    episodes = [
        draw_episode(f"s{place}{number}", *links, at=f"{day}T10:0{number}:00Z", project=("shop", "till")[number % 2])
        for place, day in enumerate(DAYS)
        for number, links in enumerate(SESSIONS)
    ]
    timed = [_timed(one) for one in episodes]
    memory = memory_of(folder, [*timed, replace(timed[0], id="episode-copy", session="copy")])
    memory.episodes.outcome("s01", "success", because="the person said so")
    memory.graph.compile()
    memory.graph.add_causal_node("error", "the till is stuck", "episode-s00")
    memory.graph.add_causal_edge("run ruff", "ruff fails: E501", "correlates", 0.25)
    memory.graph.compile()
    return memory


def _timed(episode: Episode) -> Episode:
    """With a time for each event, by which a copy is recognised."""
    events = tuple(replace(one, timestamp=episode.timestamp) for one in episode.events)
    return replace(episode, events=events)


def tables(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.glob("*.parquet"))}


def rows(folder: Path, name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = parquet.read_table(folder / f"{name}.parquet").to_pylist()
    return found


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Memory:
    return small_world(tmp_path_factory.mktemp("world"))


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return small_world(tmp_path / "project")


@pytest.fixture(scope="module")
def shards(world: Memory) -> Path:
    folder = world.root.parent / "shards"
    world.pack(folder)
    return folder


@pytest.fixture(scope="module")
def sums(world: Memory, shards: Path) -> Path:
    folder = world.root.parent / "sums"
    fold([shards], folder)
    return folder


def test_duckdb_writes_the_bytes_of_the_local_graph(world: Memory, sums: Path, tmp_path: Path) -> None:
    report = world.fold(tmp_path / "local")
    assert tables(tmp_path / "local") == tables(sums)
    assert all(report.rows[name] for name in ("labels", "edges", "issues", "remedies"))


@pytest.mark.slow
def test_the_demo_has_the_same_sums_by_both(shop: Memory, tmp_path: Path) -> None:
    report = shop.fold(tmp_path / "local")
    pack([shop.root], tmp_path / "shards")
    fold([tmp_path / "shards"], tmp_path / "duckdb")
    assert tables(tmp_path / "local") == tables(tmp_path / "duckdb")
    assert all(report.rows.values())


@pytest.mark.slow
@given(data=st.data())
def test_any_episodes_have_the_same_sums_by_both(
    data: st.DataObject,
    any_episodes: st.SearchStrategy[tuple[Episode, ...]],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder, episodes = tmp_path_factory.mktemp("any"), data.draw(any_episodes)
    memory = memory_of(folder, [draw_episode("first", "run ruff -> ruff fails: E501"), *episodes], compiled=True)
    memory.fold(folder / "local")
    memory.pack(folder / "shards")
    fold([folder / "shards"], folder / "duckdb")
    assert tables(folder / "local") == tables(folder / "duckdb")


@pytest.mark.corpus
@pytest.mark.slow
def test_real_sessions_have_the_same_sums_by_both(corpora: Path, tmp_path: Path) -> None:
    memory = Memory(tmp_path / ".helix")
    memory.extract([corpora / "claude-code"])
    memory.graph.compile()
    memory.fold(tmp_path / "local")
    memory.pack(tmp_path / "shards")
    fold([tmp_path / "shards"], tmp_path / "duckdb")
    assert tables(tmp_path / "local") == tables(tmp_path / "duckdb")


def test_sums_are_what_the_questions_answer(world: Memory, sums: Path) -> None:
    issues: dict[str, list[int]] = {}
    for row in rows(sums, "issues"):
        known = issues.setdefault(row["fingerprint"], [0, 0, 0])
        for place, name in enumerate(("failures", "sessions", "repaired")):
            known[place] += row[name]
    asked = world.issues.list(by="issue", limit=200).issues
    assert {one.id: [one.occurrences, one.sessions, one.repaired] for one in asked} == issues
    exported = json.loads(world.graph.export(format="json"))
    kinds = [row for row in rows(sums, "labels") if row["resolution"] == "kind"]
    assert [(one["id"], one["frequency"]) for one in exported["nodes"]] == [
        (row["node"], row["mentions"]) for row in kinds
    ]
    assert len(exported["edges"]) == len(rows(sums, "edges"))


def test_a_copy_of_a_session_repeats_no_failure(sums: Path) -> None:
    named = {"label": "ruff fails: E501", "project": "shop"}
    (row,) = [row for row in rows(sums, "issues") if named.items() <= row.items()]
    assert (row["failures"], row["sessions"]) == (9, 6)  # 3 + 6 in the sessions themselves, none of the copy's


@pytest.mark.slow
def test_days_add_up(shards: Path, sums: Path, tmp_path: Path) -> None:
    fold([shards], tmp_path / "first", until=DAYS[1])
    report = fold([shards, tmp_path / "first"], tmp_path / "all", since=DAYS[1])
    assert (report.shards, report.earlier) == (5, 1)
    assert tables(tmp_path / "all") == tables(sums)


@pytest.mark.slow
def test_a_copy_that_began_on_another_day_repeats_no_failure_where_days_are_folded_apart(tmp_path: Path) -> None:
    first, other = (
        _timed(draw_episode(name, *SESSIONS[0], at=f"{DAYS[0]}T10:00:00Z", project="shop")) for name in ("s1", "s2")
    )
    resumed = replace(first, id="episode-resumed", session="resumed", timestamp=f"{DAYS[2]}T09:00:00Z")
    memory = memory_of(tmp_path, [first, other, resumed], compiled=True)
    memory.fold(tmp_path / "local")
    memory.pack(tmp_path / "shards")
    fold([tmp_path / "shards"], tmp_path / "early", until=DAYS[1])
    fold([tmp_path / "shards"], tmp_path / "late", since=DAYS[1])
    fold([tmp_path / "late", tmp_path / "early"], tmp_path / "all")
    assert tables(tmp_path / "all") == tables(tmp_path / "local")
    assert rows(tmp_path / "early", "issues") == rows(tmp_path / "local", "issues") != []
    assert rows(tmp_path / "late", "issues") == rows(tmp_path / "late", "remedies") == []


@pytest.mark.slow
def test_days_add_up_in_any_order(shards: Path, sums: Path, tmp_path: Path) -> None:
    days = [tmp_path / day for day in DAYS]
    for folder, since, until in zip(days, DAYS, [*DAYS[1:], None], strict=True):
        fold([shards], folder, since=since, until=until)
    fold([days[2], days[0]], tmp_path / "two")
    fold([days[1], tmp_path / "two"], tmp_path / "three")
    assert tables(tmp_path / "three") == tables(sums)


@pytest.mark.slow
def test_only_what_changed_is_packed_again(memory: Memory, tmp_path: Path) -> None:
    first = memory.pack(tmp_path / "shards")
    assert (first.written, first.episodes) == (7, 11)  # the edge by hand has a day of its own
    before = {path: path.stat().st_mtime_ns for path in shard_files(tmp_path / "shards")}
    again = memory.pack(tmp_path / "shards")
    assert (again.written, again.removed, again.unchanged) == (0, 0, 7)
    memory.episodes.outcome("s01", "failure", because="it came back")
    (memory.root / "episodes" / "episode-s11.json").unlink()
    report = memory.pack(tmp_path / "shards")
    assert (report.written, report.removed, report.unchanged) == (1, 1, 5)
    after = {path: path.stat().st_mtime_ns for path in shard_files(tmp_path / "shards")}
    assert sum(before[path] != changed for path, changed in after.items()) == 1
    assert Memory(memory.root).pack(tmp_path / "fresh").written == 6
    assert _contents(tmp_path / "shards") == _contents(tmp_path / "fresh")


def _contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_an_episode_that_cannot_be_read_is_named(
    memory: Memory, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HELIX_DIR", str(memory.root))
    (memory.root / "episodes" / "episode-bad.json").write_text("{")
    assert run(["pack", "--output", str(tmp_path / "shards"), "--json"]) == 1
    printed = capsys.readouterr()
    assert "episode-bad.json" in printed.err
    assert json.loads(printed.out)["episodes"] == 11


#: Is killed as by kill -9 when two shards are written.
DIES_IN_BETWEEN = """
import os, signal, sys
from pathlib import Path
from helix_graph.shards import pack as packing
written = []
write = packing.write_shard
def dies(path, *rest):
    if len(written) == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    written.append(path)
    return write(path, *rest)
packing.write_shard = dies
packing.pack([Path(sys.argv[1])], Path(sys.argv[2]))
"""


@pytest.mark.slow
def test_a_killed_pack_goes_on_where_it_was(world: Memory, shards: Path, tmp_path: Path) -> None:
    (tmp_path / "shards" / DAYS[0]).mkdir(parents=True)
    leftover = tmp_path / "shards" / DAYS[0] / ".0123456789abcdef.parquet.x.tmp"
    done = subprocess.run(
        [sys.executable, "-c", DIES_IN_BETWEEN, str(world.root), str(tmp_path / "shards")], check=False
    )
    assert done.returncode == -signal.SIGKILL
    assert len(shard_files(tmp_path / "shards")) == 2
    leftover.touch()
    report = pack([world.root], tmp_path / "shards")
    assert (report.written, report.unchanged) == (5, 2)
    assert _contents(tmp_path / "shards") == _contents(shards)


@pytest.mark.slow
def test_any_number_of_workers_writes_the_same(
    world: Memory, shards: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from helix_graph.shards import pack as packing

    monkeypatch.setattr(packing, "_WORTH_A_WORKER", 1)
    monkeypatch.setattr(packing, "_FILES_AT_A_TIME", 2)
    pack([world.root], tmp_path / "shards", workers=2)
    assert _contents(tmp_path / "shards") == _contents(shards)


@pytest.mark.slow
def test_an_episode_in_several_folders_of_shards_counts_once(shards: Path, sums: Path, tmp_path: Path) -> None:
    shutil.copytree(shards, tmp_path / "copied")
    fold([shards, tmp_path / "copied"], tmp_path / "sums")
    assert tables(tmp_path / "sums") == tables(sums)


def test_an_episode_in_several_memories_counts_once(world: Memory, shards: Path, tmp_path: Path) -> None:
    shutil.copytree(world.root, tmp_path / "other")
    assert pack([world.root, tmp_path / "other"], tmp_path / "both").episodes == 11
    assert _contents(tmp_path / "both") == _contents(shards)


def with_counts(path: Path, count: int) -> Any:  # noqa: ANN401  (a pyarrow.Table)
    """The table in a file with this count in place of every number."""
    table = parquet.read_table(path, partitioning=None)
    for place, field in enumerate(table.schema):
        if pa.types.is_integer(field.type):
            table = table.set_column(place, field, pa.array([count] * table.num_rows, type=field.type))
    return table


@pytest.mark.slow
@pytest.mark.parametrize(
    "damage", few(["cut", "changed", "most", "foreign", "nested", "columns", "link", "least", "minus"], 3)
)
def test_a_damaged_shard_is_named(shards: Path, tmp_path: Path, damage: str) -> None:
    copied = tmp_path / "copied"
    shutil.copytree(shards, copied)
    path = shard_files(copied)[3]
    data = path.read_bytes()
    if damage == "cut":
        path.write_bytes(data[: len(data) // 2])
    elif damage == "changed":
        path.write_bytes(data[:4] + b"\xff" * 400 + data[404:])
    elif damage == "foreign":
        parquet.write_table(parquet.read_table(path, partitioning=None).replace_schema_metadata({}), path)
        with pytest.raises(ShardDamaged, match="none that `helix-graph pack` wrote"):
            fold([copied], tmp_path / "foreign")
    elif damage == "nested":
        said = {b"helix-graph": b'{"version":' + b"[" * 200_000 + b"]" * 200_000 + b"}"}
        parquet.write_table(parquet.read_table(path, partitioning=None).replace_schema_metadata(said), path)
    elif damage == "columns":
        parquet.write_table(parquet.read_table(path, partitioning=None).drop_columns(["what"]), path)
    elif damage in {"most", "least", "minus"}:
        count = {"most": 2**63 - 1, "least": -(2**63), "minus": -5}[damage]
        parquet.write_table(with_counts(path, count), path)
    else:
        path.unlink()
        path.symlink_to("/dev/zero")
    with pytest.raises(ShardDamaged) as raised:
        fold([copied], tmp_path / "sums")
    assert raised.value.path == path
    assert not list((tmp_path / "sums").glob("*")) if (tmp_path / "sums").exists() else True


def test_what_is_in_the_sums_already_is_not_added_up_again(
    world: Memory, shards: Path, sums: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for folders in ([shards, sums], [sums, sums]):
        with pytest.raises(InvalidArgument, match=r"count at least \d+ sessions twice: they are in the sums in"):
            fold(folders, tmp_path / "all")
    assert not (tmp_path / "all").exists()
    world.fold(tmp_path / "local")
    with pytest.raises(InvalidArgument, match="twice"):
        fold([shards, tmp_path / "local"], tmp_path / "all", since=DAYS[1])
    assert run(["fold", str(shards), str(sums), "--output", "all"]) == 2


def test_sums_of_many_sessions_know_a_sample_of_them_whatever_was_added_first() -> None:
    names = [f"episode-{number}" for number in range(3 * SIZE)]
    parts = [smallest(map(digest_of, names[at::3])) for at in range(3)]
    both = [smallest((*parts[one], *parts[other])) for one, other in ((0, 1), (2, 1))]
    assert smallest((*both[0], *parts[2])) == smallest((*both[1], *parts[0])) == smallest(map(digest_of, names))
    counted = CountedSessions([(Path("sums"), smallest(map(digest_of, names)))])
    counted.add_shard(Path("shards"), names[100:200])
    with pytest.raises(InvalidArgument, match="they are in the sums in sums and in shards;"):
        counted.sample()


@pytest.mark.slow
@pytest.mark.parametrize("count", [2**63 - 1, -5])
def test_an_earlier_fold_with_an_impossible_count_is_named(shards: Path, tmp_path: Path, count: int) -> None:
    fold([shards], tmp_path / "before", until=DAYS[1])
    for path in (tmp_path / "before").glob("*.parquet"):
        parquet.write_table(with_counts(path, count), path)
    with pytest.raises(ShardDamaged) as raised:
        fold([tmp_path / "before", shards], tmp_path / "sums", since=DAYS[1])
    assert raised.value.path.parent == tmp_path / "before"


def test_a_damaged_shard_is_written_again(world: Memory, shards: Path, tmp_path: Path) -> None:
    shutil.copytree(shards, tmp_path / "copied")
    shard_files(tmp_path / "copied")[1].write_bytes(b"PAR1")
    assert pack([world.root], tmp_path / "copied").written == 1
    assert _contents(tmp_path / "copied") == _contents(shards)


def test_what_is_forgotten_leaves_the_shards(memory: Memory, tmp_path: Path) -> None:
    memory.pack(tmp_path / "shards")
    report = memory.forget(["s00", "s11"])
    assert report.proof is not None
    assert report.proof.whole
    left = [row for path in shard_files(tmp_path / "shards") for row in parquet.ParquetFile(path).read().to_pylist()]
    assert left
    assert {"s00", "s11"}.isdisjoint(row["session"] for row in left)
    assert memory.pack(tmp_path / "shards").written == 0


@pytest.mark.slow
def test_forgetting_is_not_proved_while_shards_are_out_of_reach(memory: Memory, tmp_path: Path) -> None:
    memory.pack(tmp_path / "shards")
    (tmp_path / "shards").rename(tmp_path / "unmounted")
    report = memory.forget(["s00"])
    assert report.proof is not None
    assert [one.file for one in report.proof.unsearched] == [str(tmp_path / "shards")]
    (tmp_path / "unmounted").rename(tmp_path / "shards")
    again = memory.forget()
    assert again.proof is not None
    assert again.proof.whole
    assert not any(
        "s00" in parquet.ParquetFile(path).read(columns=["session"])["session"].to_pylist()
        for path in shard_files(tmp_path / "shards")
    )


@pytest.mark.slow
def test_folders_that_a_clone_names_are_not_touched(memory: Memory, shards: Path, tmp_path: Path) -> None:
    theirs = tmp_path / "theirs"
    shutil.copytree(shards, theirs)
    (memory.root / "packed.json").write_text(f'["{theirs}"]')
    report = memory.forget(["s00"])
    assert _contents(theirs) == _contents(shards)
    assert report.proof is not None
    assert [one.file for one in report.proof.unsearched] == ["packed.json"]
    memory.pack(tmp_path / "mine")  # the list begins anew
    again = memory.forget(["s01"])
    assert _contents(theirs) == _contents(shards)
    assert again.proof is not None
    assert again.proof.whole


def test_a_folder_whose_name_is_a_pattern_is_refused(shards: Path, tmp_path: Path) -> None:
    for name in ("team*", "team-other"):
        shutil.copytree(shards, tmp_path / name)
    with pytest.raises(InvalidArgument, match="for a pattern"):
        fold([tmp_path / "team*"], tmp_path / "sums")


def test_a_folder_with_other_files_is_left_alone(shards: Path, tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "thesis.txt").write_text("mine")
    with pytest.raises(FolderInUse, match="has other files"):
        fold([shards], tmp_path / "taken")
    assert [path.name for path in (tmp_path / "taken").iterdir()] == ["thesis.txt"]


def test_nothing_that_is_given_is_left_out_without_a_word(shards: Path, sums: Path, tmp_path: Path) -> None:
    """Half the tables of a fold counted for nothing, and days were not chosen from sums."""
    output, half, empty = tmp_path / "all", tmp_path / "half", tmp_path / "empty"
    shutil.copytree(sums, half)
    (half / "runs.parquet").unlink()
    empty.mkdir()
    day = shard_files(shards)[0].parent
    wrong: dict[str, Callable[[], object]] = {
        r"half, which has neither shards nor all tables of a fold \(runs.parquet is not there\)": lambda: fold(
            [shards, half], output
        ),
        "one day of shards; name the folder above it": lambda: fold([day], output),
        "sums alone, which have no days": lambda: fold([sums], output, since=DAYS[1]),
        f"no shards of this period, but of {DAYS[0]} to": lambda: fold([shards], output, since="2031-01-01"),
        "have no shards": lambda: fold([empty], output),
    }
    for said, call in wrong.items():
        with pytest.raises(InvalidArgument, match=said):
            call()
    assert not output.exists()
    assert fold([empty, sums], output).rows == fold([sums], tmp_path / "again").rows


def test_a_memory_that_was_only_begun_has_no_shards_yet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    assert run(["init"]) == 0
    assert run(["pack", "--output", "shards"]) == 0
    assert "0 shards written" in capsys.readouterr().out


def test_what_cannot_be_folded_is_said(shards: Path, tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="no folder"):
        fold([tmp_path / "nowhere"], tmp_path / "sums")
    with pytest.raises(InvalidArgument, match="engine"):
        fold([shards], tmp_path / "sums", engine="dask")
    with pytest.raises(NotFound, match="no memory"):
        pack([tmp_path / "nowhere"], tmp_path / "sums")
    with pytest.raises(ProgramFailed, match="DuckDB cannot be opened"):
        fold([shards], tmp_path / "sums", memory_limit="much")


def test_nobody_packs_over_what_is_others_or_into_a_memory(world: Memory, sums: Path, tmp_path: Path) -> None:
    memory = Memory.init(tmp_path / "other")
    memory.extract([Script("alone").prompt("Add totals").edit("cart.py").save(tmp_path / "logs")])
    theirs = tmp_path / "theirs"
    world.pack(theirs)
    before = shard_files(theirs)
    for output in (theirs, memory.root / "shards", memory.root, sums):
        with pytest.raises(InvalidArgument, match="output"):
            memory.pack(output)
    with pytest.raises(WriteFailed, match="make it first"):
        memory.pack(tmp_path / "mistyped" / "shards")
    assert shard_files(theirs) == before
    assert not (memory.root / "packed.json").exists()  # whatever it forgets is to be searched for in none of them
    assert memory.pack(theirs, memories=[world.root]).removed == 0


def test_a_session_that_two_memories_have_lets_neither_take_out_the_rest(memory: Memory, tmp_path: Path) -> None:
    colleague = Memory.init(tmp_path / "colleague")
    shutil.copy(memory.root / "episodes" / "episode-s00.json", colleague.root / "episodes")
    theirs = tmp_path / "theirs"
    memory.pack(theirs)
    strange = tmp_path / "strange" / DAYS[0] / "0123456789abcdef.parquet"
    strange.parent.mkdir(parents=True)
    strange.write_text("somebody's")
    before = _contents(theirs)
    for output in (theirs, tmp_path / "strange"):
        with pytest.raises(InvalidArgument, match=r"shards? of others, such as"):
            colleague.pack(output)
    assert (_contents(theirs), strange.read_text()) == (before, "somebody's")
    assert not (colleague.root / "packed.json").exists()
    (memory.root / "episodes" / "episode-s11.json").unlink()
    assert memory.pack(theirs).removed == 1  # it was packed there before


def test_a_memory_that_is_none_is_refused_and_nothing_is_written(world: Memory, tmp_path: Path) -> None:
    (tmp_path / "repository").mkdir()
    for wrong in ("nowhere", "repository"):
        with pytest.raises(NotFound, match="no memory"):
            world.pack(tmp_path / "packed", memories=[tmp_path / wrong])
    assert [path.name for path in tmp_path.rglob("*")] == ["repository"]


@pytest.mark.parametrize(("module", "extra"), [("pyarrow", "parquet"), ("duckdb", "duckdb"), ("pyspark", "spark")])
def test_what_is_not_installed_is_named(
    world: Memory, shards: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str, extra: str
) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == module] or [module]:
        monkeypatch.setitem(sys.modules, name, None)
    ask = partial(pack, [world.root]) if module == "pyarrow" else partial(fold, [shards], engine=extra)
    with pytest.raises(MissingExtra, match=rf"pip install 'helix-graph\[{extra}\]'"):
        ask(tmp_path / "sums")


@pytest.mark.slow
def test_the_commands_do_what_the_library_does(
    world: Memory, sums: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HELIX_DIR", str(world.root))
    folder = str(tmp_path / "shards")
    assert run(["pack", "--output", folder]) == 0
    assert "7 shards written (11 episodes" in capsys.readouterr().out
    assert run(["fold", folder, "--output", str(tmp_path / "sums")]) == 0
    assert run(["fold", "--engine", "local", "--output", str(tmp_path / "local")]) == 0
    assert tables(tmp_path / "sums") == tables(tmp_path / "local") == tables(sums)
    assert run(["fold", "--output", str(tmp_path / "none")]) == 2
    assert run(["fold", folder, "--engine", "local", "--output", str(tmp_path / "none")]) == 2


@pytest.mark.slow
def test_texts_of_logs_come_back_as_they_were(tmp_path: Path) -> None:
    hostile = "evil\x1b]0;owned\x07\u202e\r\nnext\x00 end, '\"; DROP TABLE"
    drawn = draw_episode("s", "run ruff -> ruff fails: E501", project=f"../../{hostile}")
    episode = replace(drawn, events=(replace(drawn.events[0], family=hostile, message=hostile),))
    memory = memory_of(tmp_path, [])
    (memory.root / "episodes").mkdir(exist_ok=True)
    (memory.root / "episodes" / "episode-s.json").write_bytes(encode_episode(episode))
    memory.graph.compile()
    memory.fold(tmp_path / "local")
    memory.pack(tmp_path / "shards")
    fold([tmp_path / "shards"], tmp_path / "sums")
    assert tables(tmp_path / "sums") == tables(tmp_path / "local")
    assert [row["project"] for row in rows(tmp_path / "sums", "issues")] == [f"../../{hostile}"]
    assert all(part.isascii() for path in shard_files(tmp_path / "shards") for part in path.parts[-2:])


@pytest.mark.slow
def test_the_example_of_the_guide_runs(shop: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (Path(__file__).parents[1] / "docs" / "how-to" / "company.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"<!-- the example: a test runs it -->\n```sh\n(.*?)```", page, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HELIX_DIR", str(shop.root))
    commands = [shlex.split(line, comments=True) for line in example.splitlines()]
    found = []
    for command in commands:
        assert run(command[1:]) == 0, command
        found.append(tables(tmp_path / "sums"))
    assert found[1]
    assert found[1] == found[3]
