"""Do the tables of a fold answer what the memory answers, in PostgreSQL too, and does Spark make the same sums?"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from company import write_company

from helix_cli.app import run
from helix_graph import Memory
from helix_graph.errors import FolderInUse
from helix_graph.shards.files import ShardDamaged
from helix_graph.shards.fold import fold
from helix_graph.shards.pack import pack
from helix_graph.shards.serving import remedies_of, serve
from postgres_server import BINARIES
from thoroughness import few

if TYPE_CHECKING:
    from pathlib import Path

    from postgres_server import PostgresServer

parquet = pytest.importorskip("pyarrow.parquet")
pytest.importorskip("duckdb")


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Memory:
    """Forty sessions of two projects on two days."""
    memory = Memory(tmp_path_factory.mktemp("company") / ".helix")
    write_company(memory.root / "episodes", count=40, projects=2, days=2)
    memory.graph.compile()
    return memory


@pytest.fixture(scope="module")
def served(world: Memory) -> Path:
    folder = world.root.parent
    pack([world.root], folder / "shards")
    fold([folder / "shards"], folder / "sums")
    serve(folder / "sums", folder / "served")
    return folder / "served"


@pytest.mark.slow
def test_a_generated_company_has_the_same_sums_by_both(world: Memory, served: Path, tmp_path: Path) -> None:
    report = world.fold(tmp_path / "local")
    assert all(report.rows.values())
    for name in report.rows:
        file = f"{name}.parquet"
        assert (tmp_path / "local" / file).read_bytes() == (served.parent / "sums" / file).read_bytes()


def test_remedies_of_an_issue_are_found_by_its_id(world: Memory, served: Path) -> None:
    details = [world.issues.show(one.id) for one in world.issues.list(by="issue", limit=200).issues]
    repaired = [one for one in details if any(remedy.how == "run" for remedy in one.remedies)]
    assert repaired
    for one in repaired:
        said = {(remedy.how, remedy.what): remedy.times for remedy in one.remedies if remedy.how == "run"}
        found = {(row["how"], row["what"]): row["times"] for row in remedies_of(served, one.issue.id)}
        assert said.items() <= found.items()
    assert remedies_of(served, "0" * 16) == []


@pytest.mark.parametrize("name", few(["labels.csv", "labels.parquet", "load.sql"], 1))
def test_what_is_served_goes_to_nobody_else(served: Path, tmp_path: Path, name: str) -> None:
    (tmp_path / "mine").write_text("precious")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / name).symlink_to("../mine")
    serve(served.parent / "sums", tmp_path / "out")
    assert (tmp_path / "mine").read_text() == "precious"
    assert {path.stat(follow_symlinks=False).st_mode & 0o7777 for path in (tmp_path / "out").iterdir()} == {0o600}


@pytest.mark.slow
def test_checks_have_the_names_and_rates_of_the_memory(shop: Memory, tmp_path: Path) -> None:
    pack([shop.root], tmp_path / "shards")
    fold([tmp_path / "shards"], tmp_path / "sums")
    serve(tmp_path / "sums", tmp_path / "served")
    rows = parquet.read_table(tmp_path / "served" / "checks.parquet").to_pylist()
    asked = shop.causality.checks(everything=True).checks
    assert {row["check"]: [row[name] for name in ("runs", "failed", "fresh", "fresh_failed")] for row in rows} == {
        one.check: [one.runs, one.failed, one.fresh, one.fresh_failed] for one in asked
    }


def test_a_check_has_its_tasks_name(world: Memory, served: Path) -> None:
    rows = parquet.read_table(served / "checks.parquet").to_pylist()
    assert {row["check"] for row in rows} == {"npm check", "pytest", "ruff --fix"}
    assert sum(row["runs"] for row in rows) == 120
    assert {one.check for one in world.causality.checks(everything=True).checks} == {row["check"] for row in rows}


@pytest.mark.slow
def test_the_command_writes_the_tables(served: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["fold", str(served.parent / "shards"), "--output", str(tmp_path / "sums")]
    assert run([*command, "--serving", str(tmp_path / "served")]) == 0
    assert "psql -f load.sql" in capsys.readouterr().out
    names = sorted(path.name for path in served.iterdir())
    assert names == sorted(path.name for path in (tmp_path / "served").iterdir())
    assert all((served / name).read_bytes() == (tmp_path / "served" / name).read_bytes() for name in names)


@pytest.mark.slow
def test_the_command_replaces_what_it_has_written(served: Path, tmp_path: Path) -> None:
    command = ["fold", str(served.parent / "shards"), "--output", str(tmp_path / "sums")]
    for _ in range(2):
        assert run([*command, "--serving", str(tmp_path / "served")]) == 0


def test_what_is_no_fold_is_refused(served: Path, tmp_path: Path) -> None:
    with pytest.raises(ShardDamaged, match=r"labels\.parquet"):
        serve(tmp_path, tmp_path / "served")
    (tmp_path / "mine.txt").touch()
    with pytest.raises(FolderInUse, match="has other files"):
        serve(served.parent / "sums", tmp_path)


def test_tables_and_sums_in_one_folder_are_refused_before_anything_is_written(served: Path, tmp_path: Path) -> None:
    one = str(tmp_path / "one")
    assert run(["fold", str(served.parent / "shards"), "--output", one, "--serving", one]) == 1
    assert not (tmp_path / "one").exists()


@pytest.mark.slow
def test_postgresql_takes_the_tables(served: Path, postgres: PostgresServer) -> None:
    database = postgres.url()

    def asked(query: str) -> list[str]:
        done = subprocess.run([BINARIES / "psql", database, "-qtAc", query], check=True, capture_output=True, text=True)
        return done.stdout.splitlines()

    for _ in range(2):  # the second time it replaces the first
        subprocess.run([BINARIES / "psql", database, "-qf", "load.sql"], check=True, cwd=served)
    rows = parquet.read_table(served / "remedies.parquet").to_pylist()
    assert asked("SELECT count(*), sum(times) FROM helix_remedies") == [
        f"{len(rows)}|{sum(row['times'] for row in rows)}"
    ]
    one = rows[0]["fingerprint"]
    assert sorted(asked(f"SELECT how FROM helix_remedies WHERE fingerprint = '{one}'")) == sorted(  # noqa: S608  (hex)
        row["how"] for row in remedies_of(served, one)
    )
    assert asked("SELECT count(*) FROM helix_labels WHERE label IS NULL OR place IS NULL") == ["0"]


@pytest.fixture
def spark() -> None:
    """Skips where Spark cannot run."""
    pytest.importorskip("pyspark", reason="Spark is not installed: pip install 'helix-graph[spark]'")
    if shutil.which("java") is None:
        pytest.skip("there is no Java: apt install openjdk-17-jre-headless")


@pytest.mark.slow
@pytest.mark.usefixtures("spark")
def test_spark_writes_the_same_bytes_for_a_thousand_sessions(tmp_path: Path) -> None:
    write_company(tmp_path / ".helix" / "episodes", count=1_000, projects=3, days=3)
    memory = Memory(tmp_path / ".helix")
    memory.graph.compile(workers=None)
    report = memory.fold(tmp_path / "local")
    pack([memory.root], tmp_path / "shards")
    fold([tmp_path / "shards"], tmp_path / "duckdb")
    fold([tmp_path / "shards"], tmp_path / "spark", engine="spark", master="local[2]", memory_limit="1g")
    assert all(report.rows.values())
    for name in report.rows:
        one, other, third = ((tmp_path / engine / f"{name}.parquet").read_bytes() for engine in _ENGINES)
        assert one == other == third, name


_ENGINES = ("local", "duckdb", "spark")


@pytest.mark.slow
@pytest.mark.usefixtures("spark")
def test_without_java_spark_says_what_it_needs(served: Path, tmp_path: Path) -> None:
    asked = "import sys; from helix_cli.app import run; sys.exit(run(sys.argv[1:]))"
    fold_command = ("fold", served.parent / "shards", "--engine", "spark", "--output", tmp_path / "sums")
    done = subprocess.run(
        [sys.executable, "-c", asked, *fold_command],
        check=False, capture_output=True, text=True, env={**os.environ, "PATH": "/nowhere", "JAVA_HOME": "/nowhere"},
    )  # fmt: skip
    assert done.returncode == 1
    assert "it needs Java 17" in done.stderr
    assert "Traceback" not in done.stderr
