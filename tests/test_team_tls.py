"""Is what goes to another machine's PostgreSQL encrypted, and is a server with the wrong certificate refused?"""

from __future__ import annotations

import socket
import subprocess
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest

from helix_graph.errors import TeamServerFailed
from helix_graph.sharing.connection import connect
from helix_graph.sharing.server import TeamServer
from postgres_server import BINARIES, PostgresServer, TeamDatabase, why_absent
from team_world import contents, member, sync

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("postgres")]

NAME = "db.example.com"
TEXT = "Retry the parcel service once before giving up on a label"


def certificate(folder: Path, name: str) -> tuple[Path, Path]:
    """A certificate for ``name`` that signs itself, and its key."""
    made, key = folder / f"{name}.crt", folder / f"{name}.key"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
         "-subj", f"/CN={name}", "-addext", f"subjectAltName=DNS:{name}", "-out", str(made), "-keyout", str(key)],
        check=True, capture_output=True,
    )  # fmt: skip
    return made, key


class Remote:
    """A server that listens on a port, and its addresses as another machine would write them."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = int(free.getsockname()[1])
        self.root, key = certificate(folder, NAME)
        self.server = PostgresServer(port=self.port, certificate=(self.root, key))
        self.database: TeamDatabase = self.server.team_database()

    def url(self, role: str, *, name: str = NAME, more: str = "") -> str:
        return f"postgresql://{role}@{name}:{self.port}/{self.database.name}?hostaddr=127.0.0.1{more}"


@pytest.fixture(scope="module")
def remote(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Remote]:
    if why_absent():
        pytest.skip(f"there is no PostgreSQL 15 in {BINARIES}")
    made = Remote(tmp_path_factory.mktemp("tls"))
    yield made
    made.server.close()


def verified(root: Path) -> str:
    return f"&sslmode=verify-full&sslrootcert={quote(str(root), safe='')}"


def test_a_connection_to_another_machine_is_encrypted_without_being_asked(remote: Remote) -> None:
    with connect(remote.url("ann")) as connection:
        (row,) = connection.execute("SELECT ssl, version FROM pg_stat_ssl WHERE pid = pg_backend_pid()").fetchall()
    assert row[0] is True
    assert row[1] in {"TLSv1.2", "TLSv1.3"}


def test_two_members_share_over_a_verified_connection(remote: Remote, tmp_path: Path) -> None:
    ann, bob = member(tmp_path / "ann"), member(tmp_path / "bob")
    ann.insights.store(TEXT)
    assert sync(ann, remote.url("ann", more=verified(remote.root))) == (1, 0, 0)
    assert sync(bob, remote.url("bob", more=verified(remote.root))) == (0, 1, 0)
    assert contents(bob) == [TEXT]


def test_a_certificate_of_somebody_else_or_for_another_name_is_refused(remote: Remote, tmp_path: Path) -> None:
    stranger, _ = certificate(tmp_path, NAME)
    for address in (
        remote.url("ann", more=verified(stranger)),
        remote.url("ann", name="other.example.com", more=verified(remote.root)),
    ):
        with pytest.raises(TeamServerFailed, match="certificate"):
            TeamServer(address, "shop").standing()


def test_a_server_without_encryption_is_refused_unless_the_address_allows_it(remote: Remote) -> None:
    remote.server.execute("ALTER SYSTEM SET ssl = off")
    remote.server.execute("SELECT pg_reload_conf()")
    with pytest.raises(TeamServerFailed, match="TLS"):
        TeamServer(remote.url("ann"), "shop").standing()
    with TeamServer(remote.url("ann", more="&sslmode=disable"), "shop") as server:
        assert server.standing().role == "ann"
