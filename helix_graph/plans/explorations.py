"""What explorers found, kept until a plan is made of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import msgspec

from helix_graph.given import text
from helix_graph.insights.clock import now, stamp
from helix_graph.plans.cleaning import clean
from helix_graph.plans.errors import InvalidExploration
from helix_graph.plans.model import Exploration
from helix_graph.plans.side_files import SideFiles
from helix_graph.plans.tables import database

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


class SavedExploration(msgspec.Struct, frozen=True, kw_only=True):
    """What saving an exploration answers."""

    id: int
    status: Literal["saved"] = "saved"


class ClearedExplorations(msgspec.Struct, frozen=True, kw_only=True):
    """What clearing answers: how many explorations and how many results of explorers were removed."""

    status: Literal["cleared"] = "cleared"
    explorations: int = 0
    results: int = 0


class Explorations:
    """The explorations of the memory in ``root``; the newest counts."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def save(self, data: Mapping[str, Any], *, objective: str | None = None) -> SavedExploration:
        """Keeps what was found: structure, patterns, memory, targets, or whatever the explorers were asked for.

        Args:
            data: A JSON object.
            objective: What it was for; the ``objective`` in ``data``, when not given.

        Raises:
            InvalidExploration: ``data`` is no JSON object, or nothing says what it is for.
        """
        found = _object(data)
        purpose = found.get("objective") if objective is None else objective
        if not isinstance(purpose, str):
            raise InvalidExploration("it does not say what it is for: objective is missing")
        row = (text("objective", purpose), msgspec.json.encode(found).decode(), stamp(now()))
        with database(self.root).writing() as connection:
            made = connection.execute("INSERT INTO exploration (objective, data, created_at) VALUES (?, ?, ?)", row)
            return SavedExploration(id=made.lastrowid or 0)

    def load(self) -> Exploration | None:
        """The newest exploration; None when there is none."""
        with database(self.root).reading() as connection:
            row = connection.execute(
                "SELECT id, objective, data, created_at FROM exploration ORDER BY id DESC LIMIT 1"
            ).fetchone()
        if row is None:
            return None
        return Exploration(id=row[0], objective=row[1], data=msgspec.json.decode(row[2]), created_at=row[3])

    def clear(self) -> ClearedExplorations:
        """Forgets all explorations, and the results that explorers left behind, so that the next wave starts anew."""
        with database(self.root).writing() as connection:
            gone = connection.execute("DELETE FROM exploration").rowcount
        return ClearedExplorations(explorations=gone, results=SideFiles(self.root).clear_explorer_results())


def _object(data: object) -> dict[str, Any]:
    try:
        found = clean(msgspec.to_builtins(data))
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidExploration(str(error)) from error
    if not isinstance(found, dict):
        raise InvalidExploration(f"it is of type {type(data).__name__}")
    return found
