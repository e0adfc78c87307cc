"""What hooks ask of insights, without loading the rest of the package: an agent waits for the answer.

Where `helix_graph.insights.api.Insights` has the same question, the same functions answer it.
"""

from __future__ import annotations

from helix_episodes.light_imports import Regex, blake2b
from helix_graph.helix_db import database_path, stamp, utc_now
from helix_graph.insights.exposure_log import ExposureContext, ExposureRow, injection_id_of, known_names, write_exposure
from helix_graph.insights.insight_db import InsightDatabase
from helix_graph.insights.recall import RecallQuery, hit_forms, proven_rows, recall_by_words
from helix_graph.insights.schema import own_and_brought, seed_forms
from helix_graph.insights.scoring import CORRECTION, V6
from helix_graph.trust import shared_episodes
from helix_graph.word_search import sharing_rare_words
from helix_graph.writability import refusal_of_database

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from typing import Any


#: How agents name sessions: UUIDs, OpenCode's ids, dates with a number, and short words.
_SESSION_ID = Regex(
    r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|ses_[0-9A-Za-z]{26}|[A-Za-z]{0,16}[0-9a-z]{0,6}(?:[_-][0-9a-z]{1,12}){0,4}"
)
#: So many are looked at for those of this user's own sessions.
_MOST_CORRECTIONS = 50
#: One word is shared by chance as often as not.
FEWEST_SHARED = 2


def fitting(root: Path, prompt: str, limit: int) -> list[dict[str, Any]]:
    """The insights that share two rare words with a prompt, those with the rarest first, and this user's own before.

    Which words are rare is asked of each apart.
    """
    with _database(root).reading() as connection:
        found: list[dict[str, Any]] = []
        for among in own_and_brought(connection):
            asked = RecallQuery(limit=limit - len(found), min_relevance=0.0, now=utc_now(), settings=V6)
            shared = sharing_rare_words(connection, "insight_text", prompt, fewest=FEWEST_SHARED, among=among)
            found += hit_forms(connection, recall_by_words(connection, shared, asked))
        return found


def newest_corrections(root: Path, limit: int) -> list[dict[str, Any]]:
    """The newest of what this user corrected, as `fitting` shows them.

    Harvested from sessions that are this user's own, or stored by a person here: what an agent wrote, what came with an
    import, and what a session that git tracks says may be somebody else's.
    """
    query = (
        "SELECT number, episode FROM insight WHERE state = 'active' AND tags LIKE ?"
        " AND origin NOT IN ('agent', 'imported') AND uid NOT IN (SELECT id FROM insight_import)"
        " ORDER BY created_at DESC, number LIMIT ?"
    )
    with _database(root).reading() as connection:
        rows = dict(connection.execute(query, (f'%"{CORRECTION}"%', _MOST_CORRECTIONS)).fetchall())
        shared = shared_episodes(root, filter(None, rows.values()))
        numbers = [number for number, episode in rows.items() if episode not in shared][:limit]
        forms = seed_forms(connection, numbers)
        return [forms[number] for number in numbers if number in forms]


def proven(root: Path, limit: int) -> list[dict[str, Any]]:
    """As `Insights.proven`."""
    with _database(root).reading() as connection:
        return proven_rows(connection, limit, settings=V6, episodes=root / "episodes")


def log_shown(root: Path, names: Sequence[str], exposure: ExposureContext) -> None:
    """Notes that these insights are shown, all of them: for a memory that withholds nothing.

    What a person typed is left out: to cut secrets from it takes longer to load than a prompt may wait, and only the
    injection's id, a hash, needs it. In a memory that can only be read nothing is noted.
    """
    if refusal_of_database(database_path(root)):
        return
    at = stamp(utc_now())
    identity = injection_id_of(exposure, names, at=at)
    if not _SESSION_ID.fullmatch(exposure.session):  # it may be a secret, and what cuts these takes too long to load
        exposure = exposure._replace(session=blake2b(exposure.session.encode(), digest_size=16).hexdigest())
    with _database(root).writing() as connection:
        known = known_names(connection, names)
        if known:
            row = ExposureRow(identity, at, exposure.task, exposure.session, shown=known, policy=exposure.policy)
            write_exposure(connection, row)


def _database(root: Path) -> InsightDatabase:
    return InsightDatabase(database_path(root), root)
