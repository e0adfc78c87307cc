"""The tables of plans in helix.db, how to open them, and what the functions of this package work with.

``exploration``, ``plan`` and ``workspace`` are the seeds' tables, with columns added.
"""

from __future__ import annotations

from helix_graph.helix_db import HelixDatabase, Tables, database_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

    from helix_episodes.store import EpisodeStore
    from helix_graph.insights.api import Insights


PLAN_TABLES = Tables(
    room="plans",
    steps=(
        """
        CREATE TABLE exploration (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            objective TEXT NOT NULL,
            data TEXT NOT NULL,
            created_at TEXT NOT NULL
        );
        CREATE TABLE plan (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            objective TEXT NOT NULL,
            framework TEXT,
            idioms TEXT,
            tasks TEXT NOT NULL,
            status TEXT NOT NULL DEFAULT 'active',
            created_at TEXT NOT NULL
        );
        CREATE TABLE workspace (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            plan_id INTEGER REFERENCES plan (id),
            task_seq TEXT NOT NULL,
            task_slug TEXT NOT NULL,
            objective TEXT NOT NULL,
            data TEXT NOT NULL,
            status TEXT NOT NULL DEFAULT 'active',
            delivered TEXT NOT NULL DEFAULT '',
            utilized TEXT NOT NULL DEFAULT '[]',
            created_at TEXT NOT NULL,
            baseline TEXT,
            ended_at TEXT,
            ending TEXT,
            feedback TEXT,
            episode TEXT
        );
        CREATE TABLE attempt (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            objective TEXT NOT NULL,
            approach TEXT NOT NULL,
            created_at TEXT NOT NULL
        );
        CREATE INDEX attempt_of ON attempt (objective);
        CREATE TABLE injected (
            session TEXT NOT NULL,
            name TEXT NOT NULL,
            created_at TEXT NOT NULL,
            PRIMARY KEY (session, name)
        ) WITHOUT ROWID
        """,
        # Empty of what was saved before there were digests, and of what another program writes.
        """
        ALTER TABLE exploration ADD COLUMN digest TEXT NOT NULL DEFAULT '';
        CREATE TRIGGER exploration_anew AFTER UPDATE OF data ON exploration BEGIN
            UPDATE exploration SET digest = '' WHERE id = NEW.id;
        END
        """,
    ),
)


def has_active_plan(root: Path) -> bool:
    """Whether there is a plan under way; asked at each beginning, before plans are loaded."""
    with database(root).reading() as connection:
        return connection.execute("SELECT 1 FROM plan WHERE status = 'active' LIMIT 1").fetchone() is not None


def database(root: Path) -> HelixDatabase:
    """The database of the memory in ``root``, as plans see it."""
    return HelixDatabase(database_path(root), PLAN_TABLES)


class PlanContext:
    """What the functions of this package work with: the memory in ``root``, its insights and its episodes."""

    def __init__(self, root: Path, *, insights: Insights, episodes: EpisodeStore) -> None:
        self.root = root
        self.insights = insights
        self.episodes = episodes
