"""A company's sessions: pack and fold by every engine, how time and memory grow, and one look-up among 60 million rows.

    python benchmarks/company.py [--episodes N …] [--cluster N] [--no-spark] [--million] [--rows N] [--folder DIR]

*Fold*: N generated sessions (`generated.one_episode`, with runs of three checks, costs and a time for each event) of
40 projects on 25 days are compiled and folded by the local graph, packed, and folded by DuckDB, by Spark on this
machine's cores, and for the number given with ``--cluster`` by a standalone Spark cluster with two workers. Each works
in a process of its own: seconds by the clock, seconds of the processor with those of its children, and the most that it
had resident. For Spark that is Python and the driver's Java. All tables have to have the same bytes.
``--million`` copies the shards of 100,000 sessions ten times, under other names of projects and sessions, and folds the
facts of a million; labels are those of 100,000.
*Look-up*: what repaired one of three million fingerprints, among N rows sorted by fingerprint in Parquet (DuckDB) and
with an index in PostgreSQL 15: 200 questions in one connection.

The machine's load stands in each line: other work makes the clock's seconds longer.
"""

from __future__ import annotations

import argparse
import json
import os
import pwd
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from generated import Labels, one_episode
from msgspec.structs import replace

from helix_episodes.model import CommandRun, Cost, Evidence, FileChange
from helix_episodes.store import encode_episode

if TYPE_CHECKING:
    from collections.abc import Callable

    from helix_episodes.model import Episode

PROJECTS, DAYS = 40, 25
A_YEAR = 36_500_000
POSTGRES = Path("/usr/lib/postgresql/15/bin")
FINGERPRINTS = 3_000_000
QUESTIONS = 200


def write_company(folder: Path, *, count: int, projects: int = PROJECTS, days: int = DAYS) -> None:
    """Writes the episodes of ``count`` sessions, spread over projects and days of March."""
    folder.mkdir(parents=True, exist_ok=True)
    pick = Labels(2 * count, repeated=0.5)
    for number in range(count):
        day = f"2026-03-{1 + number // projects % days:02}"
        episode = of_company(one_episode(number, pick, decisions=6, events=12), number, day=day, projects=projects)
        (folder / f"{episode.id}.json").write_bytes(encode_episode(episode))


def of_company(episode: Episode, number: int, *, day: str, projects: int) -> Episode:
    """An episode of a project and a day, with times by which no two failures are the same, costs and runs of checks."""
    at = f"{day}T09:{number // 1_000_000 % 60:02}:00.{number % 1_000_000:06}Z"
    errors = [one.id for one in episode.events if one.type == "error"]
    events = tuple(
        replace(one, timestamp=at, cost=Cost(steps=1.5, seconds=40, tokens=900) if one.id in errors else None)
        for one in episode.events
    )
    changed = (FileChange(path=f"shop/module{number % 7}.py", lines=number % 60),)
    passed = bool(number % 4)
    runs = tuple(
        CommandRun(
            check=check,
            kind="test" if check == "pytest" else "lint",
            command=command,
            passed=passed,
            fresh=True,
            changed=changed,
            files=1,
            edits=1 + number % 5,
            timestamp=at,
            evidence=Evidence(line=40 + place, quote=command),
        )
        for place, (check, command) in enumerate(
            (
                ("pytest", "pytest -q"),
                ("npm check" if passed else "eslint", "npm run check"),
                ("ruff", "ruff check --fix"),
            )
        )
    )
    return replace(
        episode, timestamp=f"{day}T09:00:00Z", project=f"project-{number % projects}", events=events, runs=runs
    )


class Taken(NamedTuple):
    """What one step took: seconds by the clock and of the processor, megabytes of its process and of Java's."""

    clock: float
    processor: float
    megabytes: float
    java: float


#: Does one step and prints a `Taken`.
_STEP = """
import json, resource, sys, time
from pathlib import Path
from helix_graph import Memory
from helix_graph.shards.fold import fold
from helix_graph.shards.pack import pack
def java():
    found = 0
    for one in Path("/proc").glob("[0-9]*/status"):
        try:
            lines = dict(line.split(":", 1) for line in one.read_text().splitlines() if ":" in line)
        except OSError:
            continue
        if lines["Name"].strip() == "java":
            found += int(lines.get("VmHWM", "0").split()[0]) / 1024
    return found
def main():
    step, folder, options = sys.argv[1], Path(sys.argv[2]), json.loads(sys.argv[3])
    begun = time.perf_counter()
    if step == "compile":
        Memory(folder / ".helix").graph.compile(workers=None)
    elif step == "local":
        Memory(folder / ".helix").fold(folder / "local")
    elif step == "pack":
        pack([folder / ".helix"], folder / "shards", workers=None)
    else:
        fold([folder / options.pop("shards", "shards")], folder / step, **options)
    clock = time.perf_counter() - begun
    who = [resource.getrusage(one) for one in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    busy, most = sum(one.ru_utime + one.ru_stime for one in who), max(one.ru_maxrss for one in who) / 1024
    print(json.dumps([clock, busy, most, java()]))
if __name__ == "__main__":
    main()
"""


def take(step: str, folder: Path, **options: object) -> Taken:
    with tempfile.NamedTemporaryFile("w", suffix=".py") as script:
        script.write(_STEP)
        script.flush()
        command = [sys.executable, script.name, step, str(folder), json.dumps(options)]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return Taken(*json.loads(done.stdout))


def tell(count: int, step: str, taken: Taken) -> None:
    java = f" + Java {taken.java:.0f} MB" if taken.java else ""
    print(
        f"{count:>9,} {step:<14} {taken.clock:7.1f} s, of the processor {taken.processor:7.1f} s; "
        f"{taken.megabytes:5.0f} MB{java}; load {os.getloadavg()[0]:.1f}",
        flush=True,
    )


def same(folder: Path, one: str, other: str) -> None:
    files = sorted(path.name for path in (folder / one).glob("*.parquet"))
    equal = files and all((folder / one / name).read_bytes() == (folder / other / name).read_bytes() for name in files)
    print(f"{'':>9} {one} and {other}: {'the same bytes' if equal else 'DIFFERENT BYTES'}", flush=True)


def time_folds(folder: Path, count: int, *, cluster: bool, spark: bool) -> None:
    write_company(folder / ".helix" / "episodes", count=count)
    for step in ("compile", "local", "pack"):
        tell(count, step, take(step, folder))
    size = sum(path.stat().st_size for path in (folder / "shards").rglob("*.parquet"))
    print(f"{'':>9} shards: {size / 1e6:.0f} MB, {size / count / 1000:.1f} kB a session")
    tell(count, "duckdb", take("duckdb", folder, engine="duckdb"))
    same(folder, "local", "duckdb")
    if spark:
        tell(count, "spark", take("spark", folder, engine="spark", memory_limit="3g"))
        same(folder, "local", "spark")
    if cluster:
        with standalone(folder) as master:
            tell(count, "cluster", take("cluster", folder, engine="spark", master=master, memory_limit="3g"))
        same(folder, "local", "cluster")


class standalone:  # noqa: N801  (read as a function)
    """A Spark master and two workers of one core each on this machine; its address."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.processes: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> str:
        # Looked up and not imported: no lock file has Spark, and lint runs without it.
        found = find_spec("pyspark")
        if found is None or found.origin is None:
            raise SystemExit("a cluster needs Spark: pip install 'helix-graph[spark]'")
        home = Path(found.origin).parent
        environment = {**os.environ, "SPARK_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1"}
        deploy = "org.apache.spark.deploy"
        master = "spark://127.0.0.1:17077"
        arguments = [[f"{deploy}.master.Master", "--host", "127.0.0.1", "--port", "17077", "--webui-port", "0"]]
        for place in (1, 2):
            work = self.folder / f"worker-{place}"
            limits = ["--cores", "1", "--memory", "3g", "--webui-port", "0", "--work-dir", str(work)]
            arguments.append([f"{deploy}.worker.Worker", *limits, master])
        for one in arguments:
            command = [str(home / "bin" / "spark-class"), *one]
            quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
            self.processes.append(subprocess.Popen(command, env=environment, **quiet))  # type: ignore[call-overload]
            time.sleep(8)
        return master

    def __exit__(self, *_: object) -> None:
        for process in self.processes:
            process.terminate()
        for process in self.processes:
            process.wait()


def copy_shards(folder: Path, *, times: int) -> None:
    """The shards of ``folder`` so many times, each copy under other names of sessions and projects."""
    from helix_graph.shards import files
    from helix_graph.shards.files import Member, ShardKey, arrow_schema, check_shard, parquet_modules

    pa, parquet = parquet_modules()
    schema = arrow_schema()
    for path in files.shard_files(folder / "shards"):
        table, members = parquet.ParquetFile(path).read(), check_shard(path)
        project = table["project"][0].as_py()
        for number in range(times):
            changed = table
            for name in ("project", "session", "episode", "begun", "same"):
                texts = [f"{one}-{number}" if one else "" for one in table[name].to_pylist()]
                changed = changed.set_column(schema.get_field_index(name), name, pa.array(texts))
            key = ShardKey(path.parent.name, f"{project}-{number}")
            named = {f"{name}-{number}": Member(one.digest, f"{one.session}-{number}") for name, one in members.items()}
            files.write_table(files.path_of_shard(folder / "million", key), changed, named)


def time_look_ups(folder: Path, rows: int) -> None:
    import duckdb

    connection = duckdb.connect(config={"temp_directory": str(folder / "spill"), "memory_limit": "6GB"})
    connection.execute("SET parquet_metadata_cache = true")  # as a server would hold it
    table = folder / "failures.parquet"
    begun = time.perf_counter()
    connection.execute(
        f"COPY (SELECT printf('%016x', hash(i % {FINGERPRINTS})) AS fingerprint, i % 1000 AS project,"  # noqa: S608  (numbers)
        f" 'session-' || i AS session, i % 300 AS what, i % 2 AS verified FROM range({rows}) t(i) ORDER BY fingerprint)"
        f" TO '{table}' (FORMAT parquet)"
    )
    size, took = table.stat().st_size / 1e9, time.perf_counter() - begun
    print(f"{rows:>9,} rows sorted and written in {took:.0f} s: {size:.1f} GB")
    numbers = random.Random(7).sample(range(FINGERPRINTS), QUESTIONS)  # noqa: S311  (any will do)
    wanted = [connection.execute(f"SELECT printf('%016x', hash({one}))").fetchone()[0] for one in numbers]  # type: ignore[index]
    query = f"SELECT * FROM '{table}' WHERE fingerprint = ?"  # noqa: S608
    times_of("DuckDB", wanted, lambda one: len(connection.execute(query, [one]).fetchall()), rows)
    if (POSTGRES / "initdb").exists():
        connection.execute(f"COPY (SELECT * FROM '{table}') TO '{folder / 'failures.csv'}' (FORMAT csv, HEADER false)")  # noqa: S608
        time_postgres(folder, wanted, rows)


def times_of(engine: str, wanted: list[str], ask: Callable[[str], int], rows: int) -> None:
    taken = []
    for one in wanted:
        begun = time.perf_counter()
        found = ask(one)
        taken.append(1000 * (time.perf_counter() - begun))
        assert found == rows // FINGERPRINTS, found
    middle, most = statistics.median(taken), sorted(taken)[-len(taken) // 100]
    print(
        f"{rows:>9,} {engine}: median {middle:.1f} ms, 99 of 100 below {most:.1f} ms; load {os.getloadavg()[0]:.1f}",
        flush=True,
    )


def time_postgres(folder: Path, wanted: list[str], rows: int) -> None:
    account = pwd.getpwnam("nobody")
    home = Path(tempfile.mkdtemp(prefix="pg-", dir=folder))
    folder.chmod(0o755)
    (folder / "failures.csv").chmod(0o644)
    os.chown(home, account.pw_uid, account.pw_gid)
    as_user = {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []} if os.geteuid() == 0 else {}

    def quietly(*command: object) -> None:
        words = [str(one) for one in command]
        subprocess.run(words, check=True, cwd=home, stdout=subprocess.DEVNULL, **as_user)  # type: ignore[call-overload]

    control = [str(POSTGRES / "pg_ctl"), "-D", str(home / "data"), "-w"]
    quietly(POSTGRES / "initdb", "-D", home / "data", "-A", "trust", "-U", "postgres", "-N")
    settings = (
        "-c listen_addresses= -c fsync=off -c max_wal_size=20GB -c maintenance_work_mem=1GB -c shared_buffers=1GB"
    )
    quietly(*control, "-l", home / "log", "-o", f"-k {home} {settings}", "start")
    client = [str(POSTGRES / "psql"), f"host={home} user=postgres dbname=postgres", "-qtA"]
    try:
        begun = time.perf_counter()
        load = (
            "CREATE UNLOGGED TABLE f (fingerprint text, project int, session text, what int, verified int)",
            f"\\copy f FROM '{folder / 'failures.csv'}' (FORMAT csv)",
            "CREATE INDEX ON f (fingerprint)",
            "ANALYZE f",
        )
        for statement in load:
            subprocess.run([*client, "-c", statement], check=True)
        print(f"{rows:>9,} rows in PostgreSQL after {time.perf_counter() - begun:.0f} s")
        talk = subprocess.Popen(client, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert talk.stdin
        assert talk.stdout
        lines, asked = talk.stdout, talk.stdin
        asked.write("PREPARE found (text) AS SELECT * FROM f WHERE fingerprint = $1;\n")

        def ask(fingerprint: str) -> int:
            asked.write(f"EXECUTE found('{fingerprint}');\n\\echo end\n")
            asked.flush()
            return sum(1 for _ in iter(lines.readline, "end\n"))

        times_of("PostgreSQL", wanted, ask, rows)
        talk.stdin.close()
        talk.wait()
    finally:
        quietly(*control, "-m", "fast", "stop")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--episodes", type=int, nargs="*", default=[10_000, 100_000])
    parser.add_argument("--cluster", type=int, default=100_000, help="the number that a cluster folds as well")
    parser.add_argument("--no-spark", action="store_true", help="DuckDB alone")
    parser.add_argument("--million", action="store_true", help="the facts of ten times the last number, by DuckDB")
    parser.add_argument("--rows", type=int, default=60_000_000, help="among which to look up; 0: none")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()), help="where to work")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        folder = Path(name)
        for count in options.episodes:
            shutil.rmtree(folder / "fold", ignore_errors=True)
            (folder / "fold").mkdir()
            spark = not options.no_spark
            time_folds(folder / "fold", count, cluster=spark and count == options.cluster, spark=spark)
        if options.million and options.episodes:
            copy_shards(folder / "fold", times=10)
            taken = take("ten", folder / "fold", engine="duckdb", shards="million", memory_limit="8GB")
            tell(10 * options.episodes[-1], "duckdb", taken)
            year = A_YEAR / (10 * options.episodes[-1])
            print(f"{'':>9} a year of 36.5 million at this rate: {taken.processor * year / 3600:.1f} h of a core")
        shutil.rmtree(folder / "fold", ignore_errors=True)
        if options.rows:
            time_look_ups(folder, options.rows)


if __name__ == "__main__":
    main()
