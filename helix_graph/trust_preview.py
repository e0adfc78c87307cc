"""What would be accepted: the counts and newest texts of a memory, and what git tracks in it.

Databases are read by their own tables only, and nothing is written. The texts are somebody's words, to be read by a
person and shown to no agent.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from helix_episodes.normalization import shorten
from helix_episodes.redaction import for_disk
from helix_graph.errors import InvalidConfiguration
from helix_graph.helix_db import NAME, HelixDatabase
from helix_graph.insights.insight_db import InsightDatabase
from helix_graph.project import ACCEPTED_RULES, forgotten_digests
from helix_graph.rules.staged import decode_rules, rules_file
from helix_graph.sharing.records import SharedEntry, SharedInsight
from helix_graph.sharing.shared_files import shared_files
from helix_graph.topics.entry_log import sound_by_id
from helix_graph.topics.schema import TOPIC_TABLES
from helix_graph.trust import acceptance_of, content_digest, is_own, tracked_by_git

if TYPE_CHECKING:
    from helix_graph.episodes import Episodes

#: Enough to see whose words they are.
_NEWEST = 5
_LONGEST = 200
#: Of a text that is searched for secrets, which may be cut out of what is shown: somebody's file may be a megabyte.
_SEARCHED = 4096


class TrustPreview(msgspec.Struct, frozen=True, kw_only=True):
    """A memory before it is accepted. ``accepted`` says when and how it was, empty when it or its rules were not.

    ``newest`` are the rules on trial, which sessions get as they are, and the newest insights, entries of topics, tasks
    of sessions and texts of ``shared`` files, which `share merge` would take in, each of these without secrets and cut
    at 200 characters.
    ``forgotten`` sessions are kept out here. ``rules_digest`` names the content of ``rules.json`` that was shown, empty
    without one: no other is accepted.
    """

    root: str
    accepted: str
    episodes: int
    assertions: int
    insights: int
    entries: int
    shared: int
    newest: tuple[str, ...]
    tracked: tuple[str, ...]
    forgotten: int = 0
    rules_digest: str = ""


def preview(root: Path, episodes: Episodes) -> TrustPreview:
    """What the memory in ``root`` holds.

    Raises:
        InvalidConfiguration: ``rules.json`` cannot be read, or a rule in it is too long or has a secret in it.
    """
    record = acceptance_of(root) if is_own(root, ACCEPTED_RULES) else None
    written = rules_file(root)
    rules = [one.sentence for one in decode_rules(root, written) if one.share is not None]
    if for_disk(rules) != rules:  # hooks give them as they are, and have no time to look
        raise InvalidConfiguration(path=root / ACCEPTED_RULES, problem="a rule has a secret in it; take it out")
    with InsightDatabase(root / NAME, root).reading() as connection:
        (insights,) = connection.execute("SELECT count(*) FROM insight").fetchone()
        query = "SELECT content FROM insight ORDER BY created_at DESC, name LIMIT ?"
        newest = [str(content) for (content,) in connection.execute(query, (_NEWEST,))]
    with HelixDatabase(root / NAME, TOPIC_TABLES).reading() as connection:
        (entries,) = connection.execute("SELECT count(*) FROM topic_entry").fetchone()
        query = "SELECT entry FROM topic_entry ORDER BY stored DESC, entry DESC LIMIT ?"
        found, _ = sound_by_id(connection, [entry for (entry,) in connection.execute(query, (_NEWEST,))])
        newest += [one.record.text for _, one in sorted(found.items(), reverse=True)]
    sessions = episodes.count()
    newest += [one.task for one in episodes.list(max_results=_NEWEST)] if sessions else []
    shared = [one for _, one in shared_files(root) if isinstance(one, SharedInsight | SharedEntry)]
    newest += [text for _, text in sorted(map(_dated, shared), reverse=True)[:_NEWEST]]
    return TrustPreview(
        root=str(root),
        accepted=f"{record.at} ({record.how})" if record else "",
        episodes=sessions,
        assertions=len(list((root / "causality" / "assertions").glob("*.json"))),
        insights=insights,
        entries=entries,
        shared=len(shared),
        newest=(*rules, *map(_shown, newest)),
        tracked=tuple(tracked_by_git(root)),
        forgotten=len(forgotten_digests(root)),
        rules_digest=content_digest(written) if written is not None else "",
    )


def _shown(text: str) -> str:
    """The beginning of a text without secrets: what others wrote by hand was never searched."""
    return shorten(str(for_disk(text[:_SEARCHED])), limit=_LONGEST)


def _dated(one: SharedInsight | SharedEntry) -> tuple[str, str]:
    if isinstance(one, SharedInsight):
        return one.edited_at or one.created_at, one.content
    return one.modified or one.stored, one.text
