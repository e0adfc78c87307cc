"""The exposure log: the rows that record which insights were shown to whom, and which were withheld."""

from __future__ import annotations

import json

from helix_episodes.light_imports import Value, blake2b
from helix_graph.database import insert_row

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping, Sequence


class ExposureContext(Value):
    """To whom something is shown: a task or a session, and what was looked for (``about``)."""

    task: str = ""
    session: str = ""
    about: str = ""
    policy: str = "seed"


def injection_id_of(exposure: ExposureContext, names: Sequence[str], *, at: str) -> str:
    """The id of an injection: the same insights for the same are the same; of whom nobody names, each is another."""
    who = (exposure.task, exposure.session) if exposure.task or exposure.session else (at,)
    told = "\0".join((*who, exposure.about, *sorted(names)))
    return blake2b(told.encode(), digest_size=16).hexdigest()


def known_names(connection: sqlite3.Connection, names: Sequence[str]) -> list[str]:
    """Those of the names that an insight has, or had before it was merged away."""
    query = "SELECT 1 FROM insight WHERE name = ?"
    return [name for name in names if connection.execute(query, (name,)).fetchone()]


class ExposureRow(Value):
    """A row of the log. ``withheld`` has a name and a propensity each, ``chances`` the propensities of the shown."""

    id: str
    ts: str
    task: str = ""
    session: str = ""
    query: str = ""
    shown: Sequence[str] = ()
    withheld: Sequence[Mapping[str, str | float]] = ()
    policy: str = "seed"
    chances: Mapping[str, float] = {}
    passed_over: Sequence[str] = ()


_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode


def write_exposure(connection: sqlite3.Connection, row: ExposureRow, *, replace: bool = False) -> None:
    """Adds a row to the log; one with its id stays as it is, or is replaced."""
    if replace or not connection.execute("SELECT 1 FROM insight_injection WHERE id = ?", (row.id,)).fetchone():
        values = {name: one if isinstance(one, str) else _encode(one) for name, one in row._asdict().items()}
        insert_row(connection, "insight_injection", values, replace=replace)
