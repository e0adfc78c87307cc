"""How a team's server is reached: addresses, connections with limits, and what went wrong, without secrets.

Credentials reach the driver by its own means: the address, ``PGPASSWORD``, ``~/.pgpass``, a service file. What the
driver says of an address is never repeated, since a special character in a password makes it take a piece of the
password for a host or a port. So an address has to be unambiguous, or it is refused before it is used.

Nothing is waited for without an end. The server gets limits for statements and locks, connecting has one, and a
connection that stays silent, or never ends its answer, is closed from here.

libpq looks at no clock while it computes. A server may ask for two thousand million rounds of hashing before a password
counts, or send settings without end, each of which libpq looks for among all before: hanging up does not end that. So
the driver works in a thread that can be left: whoever asks waits as long as was said, and then goes on without the
thread, and without the connection that it uses.
"""

from __future__ import annotations

import atexit
import os
import re
import socket
import sys
import time
from contextlib import ExitStack, contextmanager, suppress
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from helix_graph.errors import MissingExtra, TeamServerFailed
from helix_graph.sharing.answers import MOST_RECEIVED, AnswerRefused, bytes_received

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import psycopg

_Done = TypeVar("_Done")
#: The server ends a statement, and the wait for a lock, after so many seconds; this program gives up a little later.
SILENCE, CONNECTING = 20.0, 5.0
#: How often it is looked how much of an answer has come.
_LOOKING = 0.05
#: What has to end by itself gets so many seconds more, before it is left.
_GRACE = 1.0
_LIMITS = {"statement_timeout": 15, "lock_timeout": 5, "idle_in_transaction_session_timeout": 20}
_PART = r"(?:[A-Za-z0-9._~!$&'+,;=()*-]|%[0-9A-Fa-f]{2})*"
_HOST = r"(?:[A-Za-z0-9._-]|%[0-9A-Fa-f]{2}|\[[0-9A-Fa-f:.]+\])*(?::[0-9]{1,5})?"
_ADDRESS = re.compile(
    rf"postgres(?:ql)?://(?:{_PART}(?::{_PART})?@)?(?P<hosts>{_HOST}(?:,{_HOST})*)(?:/{_PART})?(?:\?(?P<query>[^#@\s]*))?"
)
#: An option in its query: its name and value.
_OPTION = re.compile(r"(?:^|&)([a-z_]{1,40})=([^&]*)")
PROJECT_NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}\Z"
#: What the server says when it is starting, stopping or full, was too slow, or ended a deadlock: SQLSTATE or its class.
_PASSING = ("08", "40", "53", "57P", "55P03")


def check_address(address: str) -> str:
    """The address, when it can mean only one thing.

    Raises:
        TeamServerFailed: It is none; the sentence holds nothing of it.

    >>> check_address("postgresql://ann@db.example.com/team")
    'postgresql://ann@db.example.com/team'
    """
    if not _ADDRESS.fullmatch(address):
        raise TeamServerFailed(
            "the address of the team's server must have the form postgresql://USER@HOST/DATABASE; in a password, write"
            " every special character as % and two digits (%40 for @), or leave it to ~/.pgpass",
            reason="address",
        )
    return address


def check_project(name: str) -> str:
    """The name of a project on the server.

    Raises:
        TeamServerFailed: No project may have it.
    """
    if not re.match(PROJECT_NAME, name):
        raise TeamServerFailed(
            f"{name!r} is no name of a project on the team's server, which has up to 100 letters, digits, dots, hyphens"
            " and underscores",
            reason="project",
        )
    return name


def connect(address: str, *, seconds: float = CONNECTING) -> psycopg.Connection[Any]:
    """A connection with limits for everything that could be waited for."""
    check_address(address)
    limit = max(2, round(seconds))
    tries = 1 + address.count(",") + 1  # hosts, one of which may be a name of two
    with reporting(address):
        return in_time(
            lambda: _connected(address, limit),
            server=address,
            seconds=tries * limit + _GRACE,
            too_late=lambda connection: connection.close(),
        )


def _connected(address: str, limit: int) -> psycopg.Connection[Any]:
    driver = _driver()
    _require_known_options(address, driver)
    try:
        security = _security_of(address, driver)
        connection: psycopg.Connection[Any] = driver.connect(
            address, autocommit=True, prepare_threshold=None, connect_timeout=limit,
            application_name="helix-graph", client_encoding="utf8",
            keepalives_idle=5, keepalives_interval=5, keepalives_count=3, tcp_user_timeout=20_000, **security,
        )  # fmt: skip
    except (driver.Error, UnicodeError, ValueError, OSError) as error:
        raise _problem(address, error, connecting=True) from None
    with ExitStack() as unless_limited, reporting(address), closed_when_silent(connection):
        unless_limited.callback(connection.close)
        _require_tls(connection, address)
        for name, value in _LIMITS.items():
            connection.execute("SELECT pg_catalog.set_config(%s, %s, false)", (name, f"{value}s"))
        unless_limited.pop_all()
    return connection


def _require_known_options(address: str, driver: Any) -> None:  # noqa: ANN401  (the module)
    """Whether libpq knows each option of the address, which it would not say in a way that can be repeated.

    Raises:
        TeamServerFailed: One it does not; only what looks like a name is told.
    """
    found = _ADDRESS.fullmatch(address)
    known = {one.keyword.decode() for one in driver.pq.Conninfo.get_defaults()} | {"ssl"}
    for name, _ in _OPTION.findall((found and found["query"]) or ""):
        if name not in known:
            raise TeamServerFailed(
                f"the address of the team's server has an option that PostgreSQL does not know: {name}; leave it out",
                reason="address",
            )


def asked(
    connection: psycopg.Connection[Any], work: Callable[[], _Done], *, address: str, seconds: float, lacking: str = ""
) -> _Done:
    """What ``work`` gives, which uses the connection; after an error the connection is closed, or nobody's any more.

    ``lacking`` is as in `reporting`.
    """

    def ask() -> _Done:
        with ExitStack() as unless_answered, closed_when_silent(connection, seconds=seconds):
            unless_answered.callback(connection.close)
            found = work()
            unless_answered.pop_all()
            return found

    with reporting(address, lacking=lacking):
        return in_time(ask, server=address, seconds=seconds + _GRACE)


@contextmanager
def reporting(address: str, *, lacking: str = "") -> Iterator[None]:
    """Within, what the driver or the server says becomes `TeamServerFailed`.

    ``lacking`` says of a role that has no right to do this, who has.
    """
    driver = _driver()
    try:
        yield
    except (driver.Error, UnicodeError, ValueError, OverflowError, OSError) as error:
        if lacking and getattr(error, "sqlstate", None) == _NO_RIGHT:
            raise TeamServerFailed(f"{name_of(address)} {lacking}", reason="refused") from None
        raise _problem(address, error) from None


def _driver() -> Any:  # noqa: ANN401  (the module, whose connect takes any setting of libpq)
    try:
        import psycopg
    except ImportError as error:  # also where it finds no library to load
        raise MissingExtra(wanted="a team's memory on PostgreSQL", extra="postgres") from error
    return psycopg


#: Servers on this machine: a socket's folder, or a host that leads nowhere else.
_LOCAL = re.compile(r"/.*|localhost|127\.[0-9.]+|::1|")
#: From this libpq on one can say how a password may be proven.
_REQUIRES = 160_000


def _security_of(address: str, driver: Any) -> dict[str, str]:  # noqa: ANN401  (the module)
    """What has to hold of a connection unless somebody chose otherwise, by what libpq itself takes from the address.

    TLS, where the server may be on another machine; whether it is, `_require_tls` looks at once more. And that no
    password is sent as it is: whoever listens in the server's place could ask for it so, from ~/.pgpass too; by SCRAM
    they learn nothing. That a certificate is verified does not do: over a socket libpq verifies none.
    """
    from psycopg.conninfo import conninfo_to_dict

    said = {name: str(value) for name, value in conninfo_to_dict(address).items()}
    hosts = [said.get(name) or os.environ.get(f"PG{name.upper()}", "") for name in ("host", "hostaddr")]
    is_local = all(map(_LOCAL.fullmatch, ",".join(hosts).split(",")))
    is_chosen = said.get("sslmode") or os.environ.get("PGSSLMODE") or said.get("service") or os.environ.get("PGSERVICE")
    security = {} if is_local or is_chosen else {"sslmode": "require"}
    if driver.pq.version() >= _REQUIRES and not (said.get("require_auth") or os.environ.get("PGREQUIREAUTH")):
        security["require_auth"] = "!password"
    return security


def _require_tls(connection: psycopg.Connection[Any], address: str) -> None:
    """Refuses a connection to another machine in the clear that nobody chose: a service file may have brought it about.

    Raises:
        TeamServerFailed: It is one.
    """
    from psycopg.conninfo import conninfo_to_dict

    mode = next((one.val for one in connection.pgconn.info if one.keyword == b"sslmode"), b"")
    is_chosen = mode != b"prefer" or os.environ.get("PGSSLMODE") or conninfo_to_dict(address).get("sslmode")
    if connection.pgconn.ssl_in_use or is_chosen:
        return
    with socket.socket(fileno=os.dup(connection.fileno())) as used:
        peer = used.getpeername()
    if isinstance(peer, tuple) and not _LOCAL.fullmatch(peer[0].removeprefix("::ffff:")):
        connection.close()
        raise TeamServerFailed(f"{name_of(address)} {_NO_TLS}", reason="refused")


def name_of(address: str) -> str:
    """The server in a sentence, without what an address may hold beside it."""
    found = _ADDRESS.fullmatch(address)
    return f"the team's server at {found['hosts']}" if found and found["hosts"] else "the team's server"


_NOT_LET_IN = "refused the role, its password or the database"
_IN_CLEAR = (
    "asks for the password in clear text, which goes only where the address says require_auth=password (with"
    " sslmode=verify-full, so that nobody else can ask)"
)
_NO_TLS = "offers no TLS, which a server on another machine needs (sslmode=disable goes without)"
#: What libpq says where no connection comes about, and what that means; the driver has no SQLSTATE of it. What servers
#: say in other languages counts as away.
_REFUSALS = (
    ("cleartext password", _IN_CLEAR),
    ("certificate", "shows a certificate that is not to be trusted under this name (sslrootcert names the authority)"),
    ("does not support SSL", _NO_TLS),
    ("authentication failed", _NOT_LET_IN),
    ("does not exist", _NOT_LET_IN),
    ("no pg_hba.conf entry", _NOT_LET_IN),
    ("not permitted to log in", _NOT_LET_IN),
    ("no password", _NOT_LET_IN),
)
_NO_RIGHT = "42501"
#: What an SQLSTATE, or a class of them, means.
_STATES = (
    ("28", "refused the role or its password"),
    ("3D000", "has no database of that name"),
    ("42P01", "has no team memory in this database; an administrator runs `helix-graph team setup`"),
    ("3F000", "has no team memory in this database; an administrator runs `helix-graph team setup`"),
    (_NO_RIGHT, "does not let this role do that; an administrator runs `helix-graph team add`"),
    ("", "refused what was asked"),
)


def _problem(address: str, error: Exception, *, connecting: bool = False) -> TeamServerFailed:
    """What is wrong, in a sentence of ours: what the driver or the server says may hold anything."""
    name, state = name_of(address), getattr(error, "sqlstate", None) or ""
    if re.fullmatch("[0-9A-Z]{5}", state):
        if state.startswith(_PASSING):
            sentence = f"{name} is busy, starting or stopping; try again (SQLSTATE {state})"
            return TeamServerFailed(sentence, reason="away", again=True)
        end = next(end for beginning, end in _STATES if state.startswith(beginning))
        return TeamServerFailed(f"{name} {end} (SQLSTATE {state})", reason="refused")
    refusal = next((end for said, end in _REFUSALS if connecting and said in str(error)), None)
    if refusal is not None:
        return TeamServerFailed(f"{name} {refusal}", reason="refused")
    if connecting or isinstance(error, OSError) or type(error).__name__ in {"OperationalError", "ConnectionTimeout"}:
        sentence = (
            f"{name} cannot be reached; this memory answers with what it has, and the next `helix-graph sync --to` goes"
            " on where this one ended (psql with the same address says why)"
        )
        return TeamServerFailed(sentence, reason="away", again=True)
    return TeamServerFailed(f"{name} gave an answer that makes no sense", reason="answer")


@contextmanager
def closed_when_silent(connection: psycopg.Connection[Any], *, seconds: float = SILENCE) -> Iterator[None]:
    """Within, a server that neither answers nor goes away is hung up on: its own limits may not be in force.

    And so is one whose answer has no end, which the driver would gather before anything of it can be looked at.
    """
    ended, flooded = Event(), Event()

    def watch() -> None:
        end = time.monotonic() + seconds
        with suppress(OSError), socket.socket(fileno=os.dup(connection.fileno())) as other:
            before = bytes_received(other)
            while not ended.wait(min(_LOOKING, max(0.0, end - time.monotonic()))):
                if bytes_received(other) - before > MOST_RECEIVED:
                    flooded.set()
                if flooded.is_set() or time.monotonic() >= end:
                    other.shutdown(socket.SHUT_RDWR)
                    return

    watcher = Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    except Exception as error:
        if flooded.is_set():
            raise AnswerRefused("an answer without an end") from error
        raise
    finally:
        ended.set()
        watcher.join()


class TookTooLong(OSError):
    """What was asked of a server has not ended in time; the connection may still be in use, and nobody may touch it."""


class _Worker(Thread, Generic[_Done]):
    """A thread for one piece of work; ``too_late`` is given what it gives when nobody waits for it any more."""

    def __init__(self, work: Callable[[], _Done], too_late: Callable[[_Done], object]) -> None:
        super().__init__(daemon=True)
        self._work, self._too_late = work, too_late
        self._lock, self._is_left = Lock(), False
        self._found: list[_Done] = []
        self._error: BaseException | None = None

    def run(self) -> None:
        try:
            found = self._work()
        except BaseException as error:  # noqa: BLE001  (raised again where it is waited for)
            self._error = error
            return
        with self._lock:
            self._found.append(found)
        if self._is_left:
            self._too_late(found)

    def leave(self) -> bool:
        """Lets go of work that has not ended; False where it has."""
        with self._lock:
            self._is_left = not self._found and self.is_alive()
            return self._is_left

    def result(self) -> _Done:
        """What the work gave, or raises what it raised."""
        if self._error is not None:
            raise self._error
        return self._found[0]


#: The last thread that was left, by the server. It may compute for half an hour, so that as long there is no second.
_left: dict[str, Thread] = {}


def end_at_once(code: int = 1) -> None:
    """Ends the process with this code where a thread was left that has not ended; else nothing is done."""
    if any(one.is_alive() for one in _left.values()):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def in_time(
    work: Callable[[], _Done], *, server: str, seconds: float, too_late: Callable[[_Done], object] = lambda _: None
) -> _Done:
    """What ``work`` gives or raises; it has so many seconds.

    Raises:
        TookTooLong: It has not ended by then, or earlier work with this server has not ended yet.
    """
    if server in _left and _left[server].is_alive():
        raise TookTooLong("what was asked of this server before has not ended")
    worker = _Worker(work, too_late)
    worker.start()
    try:
        worker.join(seconds)
    finally:  # also where a person interrupts it
        is_left = worker.leave()
        if is_left:
            if not _left:
                atexit.register(end_at_once)
            _left[server] = worker
    if is_left:
        raise TookTooLong("it took too long")
    worker.join()
    return worker.result()
