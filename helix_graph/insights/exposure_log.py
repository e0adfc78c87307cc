"""The exposure log: the rows that record which insights were shown to whom, and which were withheld."""

from __future__ import annotations

import json

from helix_episodes.lightweight import Value, blake2b

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Mapping, Sequence


_COLUMNS = "id, ts, task, session, query, shown, withheld, policy, chances"


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


def is_logged(connection: sqlite3.Connection, identity: str) -> bool:
    """Whether the injection of that id stands in the log."""
    return connection.execute("SELECT 1 FROM insight_injection WHERE id = ?", (identity,)).fetchone() is not None


def write_exposure(  # noqa: PLR0913  (the columns)
    connection: sqlite3.Connection,
    exposure: ExposureContext,
    *,
    identity: str,
    at: str,
    shown: Sequence[str],
    withheld: Iterable[tuple[str, float]],
    chances: Mapping[str, float],
) -> None:
    """Adds an injection to the log, or puts it in the place of the one with its id.

    ``withheld`` are those withheld, with the chance of that; ``chances`` are those of the shown.
    """
    held = [{"name": name, "propensity": propensity} for name, propensity in withheld]
    row = (
        identity,
        at,
        exposure.task,
        exposure.session,
        exposure.about,
        _json(shown),
        _json(held),
        exposure.policy,
        _json(dict(sorted(chances.items()))),
    )
    connection.execute(f"INSERT OR REPLACE INTO insight_injection ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)  # noqa: S608  (a constant)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
