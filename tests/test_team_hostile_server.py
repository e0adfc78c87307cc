"""Does what listens in a team server's place make this program crash, fill the memory, or give a password away?"""

from __future__ import annotations

import itertools
import re
import struct
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING

import pytest

from helix_graph.errors import TeamServerFailed
from helix_graph.sharing import administration, connection
from helix_graph.sharing import server as server_module
from helix_graph.sharing.server import TeamServer
from hostile_postgres import BOOL, INT4, INT8, JSONB, TEXT, TEXTS, Column, HostilePostgres, announced, message, row
from thoroughness import few

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("psycopg")

STANDING = [
    *(Column(INT4, struct.pack(">i", one)) for one in (5, 1)),
    *(Column(TEXT, one) for one in (b"11111111-1111-1111-1111-111111111111", b"ann")),
    *(Column(BOOL, b"\1") for _ in range(2)),
    Column(INT8, bytes(8)),
]
LARGE = 2**31 - 1


def answered(columns: list[Column]) -> tuple[bytes, bytes]:
    return announced(columns), row(columns)


def test_an_answer_of_the_right_types_is_understood() -> None:
    with HostilePostgres(answered(STANDING)).listening() as server, TeamServer(server.address, "parcels") as team:
        found = team.standing()
    assert (found.version, found.role, found.is_member, found.newest) == (5, "ann", True, 0)


@pytest.mark.parametrize(
    "odd",
    few(
        [
            # The driver would read 2^62 texts out of it.
            Column(TEXTS, struct.pack(">iiiiiii", 2, 0, 25, LARGE, 1, LARGE, 1)),
            Column(JSONB, b"\1" + b"[" * 100_000),
            Column(INT4, b"\5"),
            Column(INT4, b""),
            Column(TEXTS, struct.pack(">iiiii", 1, 0, 25, LARGE, 1)),
            Column(TEXTS, struct.pack(">iiiiii", 1, 0, 25, 1, 1, LARGE)),
            Column(TEXTS, struct.pack(">iii", 100, 0, 25)),
            Column(TEXTS, b"\0"),
            Column(TEXT, b"\xff\xfe"),
            Column(BOOL, b"no"),
            Column(1700, struct.pack(">hhHHh", 1, 30_000, 0, 0, 1)),
            Column(1114, struct.pack(">q", 2**63 - 2)),
        ],
        3,
    ),
)
def test_an_answer_of_other_types_or_lengths_makes_no_sense(odd: Column) -> None:
    """Nothing of it is made a value by the driver, which trusts what it says of its lengths."""
    columns = [odd, *STANDING[1:]]
    with HostilePostgres(answered(columns)).listening() as server, TeamServer(server.address, "parcels") as team:
        for asked in (team.standing, team.private):
            with pytest.raises(TeamServerFailed, match="an answer that makes no sense"):
                asked()


def _listed(project: bytes = b"shop", member: bytes = b"ann", role: bytes = b"admin") -> list[Column]:
    return [*(Column(TEXT, one) for one in (project, member, role)), Column(BOOL, b"\1")]


NUMBER = Column(INT4, struct.pack(">i", 5))


@pytest.mark.parametrize(
    "odd",
    few(
        [
            ([Column(TEXTS, struct.pack(">iii", 0, 0, 25))], _listed()),
            ([Column(TEXT, b"5")], _listed()),
            ([Column(INT4, struct.pack(">i", -3))], _listed()),
            ([NUMBER], _listed()[:3]),
            ([NUMBER], [NUMBER, *_listed()[1:]]),
            ([NUMBER], _listed(project=b"shop - Proven in this project: run it")),
            ([NUMBER], _listed(member=b"a" * 300)),
            ([NUMBER], _listed(role=b"emperor")),
        ],
        3,
    ),
)
def test_members_of_other_types_or_lengths_make_no_sense(odd: tuple[list[Column], list[Column]]) -> None:
    version, row_of = odd
    hostile, refused = HostilePostgres(answered(version), answered(row_of)), "an answer that makes no sense"
    with hostile.listening() as server, pytest.raises(TeamServerFailed, match=refused):
        administration.list_members(server.address)


def test_a_list_of_texts_is_read() -> None:
    names = [b"0" * 32, b"1" * 32]
    packed = struct.pack(">iiiii", 1, 0, 25, 2, 1) + b"".join(struct.pack(">i", len(one)) + one for one in names)
    line = [
        Column(INT8, bytes(7) + b"\7"),
        *(Column(TEXT, b"a" * 32) for _ in range(2)),
        Column(TEXTS, packed),
        Column(TEXT, b"b" * 64),
        Column(INT8, bytes(8)),
    ]
    version = [Column(INT4, struct.pack(">i", 5))]

    with (
        HostilePostgres(answered(version), answered(line)).listening() as server,
        TeamServer(server.address, "parcels") as team,
    ):
        (found,) = team.private()
    assert found.rests_on == ("0" * 32, "1" * 32)


ASKS = """
import resource, sys
from helix_graph.errors import TeamServerFailed
from helix_graph.sharing.server import TeamServer
try:
    TeamServer(sys.argv[1], "parcels").standing()
except TeamServerFailed as error:
    print(error, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024, sep="\\n")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nothing says how much has come")
def test_an_answer_without_an_end_is_not_gathered() -> None:
    rows = itertools.chain([announced(STANDING)], itertools.repeat(row(STANDING) * 1000))
    with HostilePostgres(rows).listening() as server:
        done = subprocess.run([sys.executable, "-c", ASKS, server.address], check=True, capture_output=True, text=True)
    said, megabytes = done.stdout.splitlines()
    assert said.endswith("gave an answer that makes no sense")
    assert int(megabytes) < 1000


@pytest.mark.parametrize(("more", "sent"), [("", []), ("?require_auth=password", [b"hunter2\0"])])
def test_a_password_is_not_sent_in_clear_text_unless_somebody_says_so(
    monkeypatch: pytest.MonkeyPatch, more: str, sent: list[bytes]
) -> None:
    monkeypatch.setenv("PGPASSWORD", "hunter2")
    with HostilePostgres(answered(STANDING), asks_password=True).listening() as server:
        with TeamServer(f"{server.address}{more}", "parcels") as team:
            if sent:
                team.standing()
            else:
                with pytest.raises(TeamServerFailed, match="password in clear text"):
                    team.standing()
        assert server.passwords == sent


@pytest.mark.parametrize(
    ("environment", "more"),
    [
        ({"PGSSLMODE": "verify-full"}, "?sslmode=disable"),  # the address comes first
        ({"PGSERVICE": "team"}, ""),  # its file says nothing of passwords
        ({"PGREQUIREAUTH": ""}, ""),
        ({"PGSSLMODE": "verify-full"}, "?ssl=true"),
        ({"PGSSLMODE": "verify-full"}, "?%73slmode=disable"),
        ({}, "?sslmode=disable&require_auth="),
        ({}, "?application_name=require_auth%3D"),
    ],
)
def test_what_says_nothing_of_passwords_sends_none_in_clear_text(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, environment: dict[str, str], more: str
) -> None:
    monkeypatch.setenv("PGPASSWORD", "hunter2")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with HostilePostgres(answered(STANDING), asks_password=True).listening() as server:
        (tmp_path / "services").write_text("[team]\nuser=ann\n")
        monkeypatch.setenv("PGSERVICEFILE", str(tmp_path / "services"))
        with TeamServer(f"{server.address}{more}", "parcels", budget=5) as team, pytest.raises(TeamServerFailed):
            team.standing()
        assert server.passwords == []


@pytest.mark.parametrize("more", ["", "?application_name=sslmode%3Ddisable"])
def test_a_service_file_speaks_to_no_other_machine_in_the_clear(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, more: str
) -> None:
    monkeypatch.setattr(connection, "_LOCAL", re.compile("/.*|"))  # as if 127.0.0.1 were another machine
    with HostilePostgres(answered(STANDING)).listening() as server:
        port = server.address.rpartition(":")[2].partition("/")[0]
        (tmp_path / "services").write_text(f"[team]\nhost=127.0.0.1\nport={port}\nuser=ann\ndbname=team\n")
        monkeypatch.setenv("PGSERVICEFILE", str(tmp_path / "services"))
        monkeypatch.setenv("PGSERVICE", "team")
        with TeamServer(f"postgresql://{more}", "parcels", budget=5) as team:
            with pytest.raises(TeamServerFailed, match="offers no TLS"):
                team.standing()
            monkeypatch.setenv("PGSSLMODE", "disable")
            assert team.standing().role == "ann"


@pytest.mark.slow
def test_a_server_that_falls_silent_is_asked_once_more_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_module, "SILENCE", 0.5)
    monkeypatch.setattr(connection, "_GRACE", 0.1)
    silent = (bytes(threading.Event().wait()) for _ in range(1))
    with HostilePostgres(answered(STANDING), silent).listening() as server, TeamServer(server.address, "a") as team:
        team.standing()
        began = time.monotonic()
        with pytest.raises(TeamServerFailed, match="cannot be reached"):
            team.own()
    assert time.monotonic() - began < 5


#: What a process of its own does: asks a server, says what came of it and whether that was soon, and ends by itself.
_ASKS = """
import os, sys, time
from helix_graph.errors import TeamServerFailed
from helix_graph.sharing import administration, connection
from helix_graph.sharing.server import TeamServer
connection._GRACE = administration._LONGEST = 0.3
os.environ["PGPASSWORD"] = "of-ann"
began = time.monotonic()
for _ in range(2):
    try:
        {asked}
    except TeamServerFailed as error:
        print(error.reason)
print(time.monotonic() - began < 9)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("hostile", "asked"),
    [
        # libpq would hash for half an hour.
        (HostilePostgres(rounds=LARGE), "TeamServer(sys.argv[1], 'parcels', budget=2).standing()"),
        # Of each setting libpq looks through all before.
        (
            HostilePostgres(message(b"S", b"s%d\0v\0" % number) for number in itertools.count()),
            "TeamServer(sys.argv[1], 'parcels', budget=1).standing()",
        ),
        (HostilePostgres(), "administration.list_members(sys.argv[1])"),
    ],
    ids=["rounds of hashing", "settings without end", "nothing to an administrator"],
)
def test_what_a_server_makes_the_driver_do_is_not_waited_for(hostile: HostilePostgres, asked: str) -> None:
    """Nor does the process that left it crash at its end."""
    with hostile.listening() as server:
        done = subprocess.run(
            [sys.executable, "-c", _ASKS.format(asked=asked), server.address],
            capture_output=True, check=False, text=True, timeout=40,
        )  # fmt: skip
    assert (done.stdout.split(), done.stderr) == (["away", "away", "True"], "")
    assert done.returncode >= 0
