"""A PostgreSQL server of the tests' own: started on a socket in a short path, killed and started again on request."""

from __future__ import annotations

import importlib.util
import os
import pwd
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

BINARIES = Path("/usr/lib/postgresql/15/bin")
#: A socket's path has at most 107 bytes: our folder's name and PostgreSQL's own take forty.
_LONGEST_FOLDER = 60
_ON_DISK = "/tmp"  # noqa: S108 - a root, in which a folder with a random name is made
#: ``initdb`` refuses root.
_USER = "postgres"


def why_absent() -> str:
    """Why no server can be started here; nothing where one can."""
    if importlib.util.find_spec("psycopg") is None:
        return "psycopg is not installed"
    if (BINARIES / "initdb").exists() and _account() is not None:
        return ""
    return f"there is no PostgreSQL 15 in {BINARIES} (apt-get install postgresql-15)"


def _account() -> pwd.struct_passwd | None:
    if os.geteuid():
        return pwd.getpwuid(os.geteuid())
    for name in (_USER, "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    return None


class PostgresServer:
    """A cluster in a folder of its own, with ``postgres`` as its superuser; only the role ``locked`` gives a password.

    Killing it loses nothing either way; without ``durable`` a power cut would. It listens on its socket, and with a
    ``port`` on 127.0.0.1, encrypted by the ``certificate`` and its key.
    """

    def __init__(
        self, *, durable: bool = False, port: int | None = None, certificate: tuple[Path, Path] | None = None
    ) -> None:
        self.durable, self.port = durable, port
        account = _account()
        assert account is not None
        is_root = not os.geteuid()
        self._as_user: dict[str, Any] = {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}
        if not is_root:
            self._as_user = {}
        # A hundred databases are a gigabyte of small files, which a disk takes half a minute to delete; where a test or
        # benchmark is about what a disk keeps, or the path of the socket would be too long, they lie in /tmp.
        is_short = len(tempfile.gettempdir()) < _LONGEST_FOLDER
        place = tempfile.gettempdir() if is_short and not durable else _ON_DISK
        self.folder = Path(tempfile.mkdtemp(prefix="pg-", dir=place))
        self.folder.chmod(0o755)
        self.data = self.folder / "data"
        if is_root:
            os.chown(self.folder, account.pw_uid, account.pw_gid)
        self._run("initdb", "-D", str(self.data), "-U", "postgres", "-A", "trust", "-N", "-E", "UTF8", "--locale=C")
        rules = self.data / "pg_hba.conf"
        rules.write_text("local all locked scram-sha-256\n" + rules.read_text())
        self._databases = 0
        if certificate is not None:
            self._take(*certificate)
        self.start()

    def _take(self, certificate: Path, key: Path) -> None:
        for source, name in ((certificate, "server.crt"), (key, "server.key")):
            taken = self.data / name
            shutil.copy(source, taken)
            taken.chmod(0o600)
            os.chown(taken, self.data.stat().st_uid, self.data.stat().st_gid)
        with (self.data / "postgresql.conf").open("a") as settings:
            settings.write("ssl = on\n")

    def _run(self, program: str, *arguments: str) -> None:
        command = [str(BINARIES / program), *arguments]
        environment = {"PATH": os.environ["PATH"], "LC_ALL": "C"}
        with tempfile.TemporaryFile() as said:  # not a pipe: the server would keep it open
            done = subprocess.run(
                command, check=False, stdout=said, stderr=said, cwd=self.folder, env=environment, **self._as_user
            )
            said.seek(0)
            assert done.returncode == 0, said.read().decode()

    def start(self) -> None:
        settings = (
            f"listen_addresses={'127.0.0.1' if self.port else ''}", f"port={self.port or 5432}",
            "max_connections=60", "unix_socket_permissions=0777", f"fsync={'on' if self.durable else 'off'}",
        )  # fmt: skip
        options = f"-k {self.folder} " + " ".join(f"-c {one}" for one in settings)
        log = str(self.folder / "log")
        self._run("pg_ctl", "-D", str(self.data), "-l", log, "-w", "-t", "60", "-o", options, "start")

    def stop(self, mode: str = "fast") -> None:
        self._run("pg_ctl", "-D", str(self.data), "-w", "-t", "60", "-m", mode, "stop")

    def url(self, role: str = "postgres", database: str = "postgres") -> str:
        return f"postgresql://{role}@/{database}?host={quote(str(self.folder), safe='')}&port={self.port or 5432}"

    def team_database(self) -> TeamDatabase:
        """A new database as `helix-graph team setup` leaves it, with two members of the project ``shop``."""
        from helix_graph.sharing.administration import add_member, set_up

        template = TeamDatabase(self, "template_team")
        if not self._databases:
            for name in ("ann", "bob", "mallory", "root_of_all", "reader"):
                self.execute(f"CREATE ROLE {name} LOGIN")
            self.execute("CREATE ROLE locked LOGIN PASSWORD 'r@ght'")
            self.execute(f"CREATE DATABASE {template.name}")
            set_up(template.url())
            for member in ("ann", "bob"):
                add_member(template.url(), "shop", member)
        self._databases += 1
        database = TeamDatabase(self, f"team{self._databases}")
        self.execute(f"CREATE DATABASE {database.name} TEMPLATE {template.name}")
        database.execute("UPDATE helix_team.meta SET server = gen_random_uuid()")
        return database

    def execute(self, statement: str, *, database: str = "postgres", role: str = "postgres") -> list[tuple[Any, ...]]:
        import psycopg

        with psycopg.connect(self.url(role, database), autocommit=True) as connection:
            cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    def close(self) -> None:
        self.stop("immediate")
        shutil.rmtree(self.folder)


class TeamDatabase(NamedTuple):
    """A database of the server."""

    server: PostgresServer
    name: str

    def url(self, role: str = "postgres") -> str:
        return self.server.url(role, self.name)

    def execute(self, statement: str, *, role: str = "postgres") -> list[tuple[Any, ...]]:
        return self.server.execute(statement, database=self.name, role=role)
