"""What does the team's server lose, and how fast is it, when a writer is killed and it is restarted in the middle?

Sixteen writers push one object at a time for thirty seconds, as members do, each with a number in it. One of them is
killed after a third of the time, the server at half of it, without warning, and started again. A reader follows all the
while, as members do. Then: is everything that was acknowledged there, are the sums exact, and did the reader miss
anything? Beside it the same writers insert rows of the same size into a plain table with a primary key, undisturbed.

    python benchmarks/team_server.py            # writers and seconds: --writers 16 --seconds 30
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "helpers"))

from helix_graph.project import digest
from helix_graph.sharing.connection import connect
from helix_graph.sharing.server import ServerObject, TeamServer
from postgres_server import PostgresServer

#: An episode of a short session has about so many bytes.
SIZE = 4_000


class Outcome(NamedTuple):
    """What came of a run: pushes a second and their times in milliseconds, and what went wrong."""

    acknowledged: int
    per_second: float
    p50: float
    p99: float
    longest: float
    lost: int
    unsaid: int  # of the killed writer, at most one
    missed: int
    sums_exact: bool


def subject(writer: int, number: int) -> str:
    return digest(f"{writer} {number}")


def content(writer: int, number: int) -> bytes:
    return json.dumps({"writer": writer, "number": number}).encode().ljust(SIZE)


def push_until(url: str, writer: int, seconds: float, out: Path, *, plain: bool) -> None:
    """One writer: a line for each object that the server acknowledged, with the time that took."""
    bare = connect(url) if plain else None
    number = 0
    with TeamServer(url, "shop") as server:
        server.standing()
        log = os.open(out, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            begun = time.perf_counter()
            if bare is not None:
                bare.execute("INSERT INTO plain VALUES (%s, %s)", (subject(writer, number), content(writer, number)))
            else:
                server.push(
                    [ServerObject(subject=subject(writer, number), kind="record", data=content(writer, number))]
                )
            os.write(log, f"{number} {time.perf_counter() - begun:.6f}\n".encode())
            number += 1
    if bare is not None:
        bare.close()


def follow_until(url: str, stop: Path, out: Path) -> None:
    """A reader that remembers the last number it has seen, and every subject."""
    seen: list[str] = []
    number = 0
    with TeamServer(url, "shop") as server:
        server.standing()
        out.touch()
        while True:
            is_last = stop.exists()
            entries = server.since(number)
            seen += [one.subject for one in entries]
            number = entries[-1].at if entries else number
            if is_last and not entries:
                break
            time.sleep(0 if entries else 0.02)
    out.write_text("\n".join(seen))


def start(*arguments: object) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, __file__, *map(str, arguments)])


def measured(*, writers: int, seconds: float, plain: bool = False) -> Outcome:
    """One run on a server of its own, which waits for the disk at every commit."""
    server = PostgresServer(durable=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        try:
            return _measured(server, folder, writers=writers, seconds=seconds, plain=plain)
        finally:
            server.close()


def _measured(server: PostgresServer, folder: Path, *, writers: int, seconds: float, plain: bool) -> Outcome:
    database = server.team_database()
    database.execute("CREATE TABLE plain (subject text PRIMARY KEY, data bytea NOT NULL)")
    database.execute("GRANT ALL ON plain TO ann")
    url = database.url("ann")
    stop = folder / "stop"
    reader = None if plain else start("--follow", url, stop, folder / "seen")
    logs = [folder / f"{number}.log" for number in range(writers)]
    running = [start("--push", url, number, seconds, log, int(plain)) for number, log in enumerate(logs)]
    while not all(path.exists() for path in (*logs, *([] if plain else [folder / "seen"]))):
        time.sleep(0.05)
    begun = time.monotonic()
    if not plain:
        time.sleep(seconds / 3)
        running[0].send_signal(signal.SIGKILL)
        time.sleep(seconds / 6)
        server.stop("immediate")
        server.start()
    codes = [one.wait() for one in running]
    assert codes[1:] == [0] * (writers - 1), codes
    lasted = time.monotonic() - begun
    stop.touch()
    if reader is not None:
        assert reader.wait() == 0
    lines = [(writer, line.split()) for writer, log in enumerate(logs) for line in log.read_text().splitlines()]
    acknowledged = {(writer, int(number)) for writer, (number, _) in lines}
    table = "plain" if plain else "helix_team.object"
    rows = database.execute(f"SELECT subject, convert_from(data, 'UTF8') FROM {table}")  # noqa: S608  (constants)
    there = {(int(one["writer"]), int(one["number"])) for one in (json.loads(text) for _, text in rows)}
    summed = f"SELECT sum((convert_from(data, 'UTF8')::json->>'number')::bigint) FROM {table}"  # noqa: S608  (constants)
    total = int(database.execute(summed)[0][0])
    unsaid = there - acknowledged
    seen = set() if plain else set((folder / "seen").read_text().split())
    times = sorted(float(took) for _, (_, took) in lines)
    return Outcome(
        acknowledged=len(acknowledged),
        per_second=len(times) / lasted,
        p50=times[len(times) // 2] * 1000,
        p99=times[len(times) * 99 // 100] * 1000,
        longest=times[-1] * 1000,
        lost=len(acknowledged - there),
        unsaid=len(unsaid),
        missed=0 if plain else len({name for name, _ in rows} ^ seen),
        sums_exact=total == sum(number for _, number in acknowledged | unsaid) and len(rows) == len(there),
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--push", nargs=5)
    parser.add_argument("--follow", nargs=3)
    parser.add_argument("--writers", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=30)
    asked = parser.parse_args()
    if asked.push:
        url, writer, seconds, out, plain = asked.push
        push_until(url, int(writer), float(seconds), Path(out), plain=plain == "1")
    elif asked.follow:
        url, stop, out = asked.follow
        follow_until(url, Path(stop), Path(out))
    else:
        print(f"{asked.writers} writers, {asked.seconds:g} s, {SIZE:,} bytes an object, every commit synced")
        for name, plain in (("team's server, disturbed", False), ("plain table, undisturbed", True)):
            one = measured(writers=asked.writers, seconds=asked.seconds, plain=plain)
            print(
                f"{name}: {one.acknowledged} acknowledged, {one.per_second:.0f} a second; p50 {one.p50:.1f} ms,"
                f" p99 {one.p99:.1f} ms, longest {one.longest:.0f} ms; lost {one.lost}, stored but not acknowledged"
                f" {one.unsaid}, missed by the reader {one.missed}, sums exact: {one.sums_exact}"
            )


if __name__ == "__main__":
    main()
