"""What somebody pushed becomes their memory's own again: on a second machine, or after a disk was lost.

Records come back as they were written, with their ``own`` parts. Sessions stand there as hashes, and get their names
from the episodes that came back with them; of one that did not, the hash stays. What only this machine's database knew
is not on the server: what was handed over and withheld, why an outcome was attributed as it was, and what was merged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from helix_episodes.store import PREFIX
from helix_graph.insights.model import Insight
from helix_graph.insights.transfer import checked_record
from helix_graph.sharing.records import (
    OwnEntry,
    OwnInsight,
    SharedEntry,
    SharedFeedback,
    SharedInsight,
    insight_fields,
    session_hash,
)
from helix_graph.sharing.shared_files import feedback_entry

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from datetime import datetime

    from helix_graph.insights.model import Record
    from helix_graph.sharing.records import SharedRecord


def named_sessions(sessions: Iterable[str]) -> dict[str, str]:
    """The sessions by the hashes that stand for them: as themselves, and as their episodes are called."""
    return {session_hash(name): name for session in sessions for name in (session, PREFIX + session)}


def own_insights(
    records: Iterable[SharedRecord], sessions: Mapping[str, str], slugs: Mapping[str, str], *, now: datetime
) -> Iterator[Record]:
    """Insights, links and outcomes as this memory's own; ``slugs`` are those of insights that are here already.

    Raises:
        ValueError, InvalidArgument: A part is out of its bounds.
    """
    given = list(records)
    known = {**slugs, **{one.uid: one.slug for one in given if isinstance(one, SharedInsight)}}
    for one in given:
        if isinstance(one, SharedInsight):
            own = one.own or OwnInsight()
            said = Insight(
                **insight_fields(one),
                origin=own.origin,
                initial=own.initial,
                source=own.source,
                told=own.told,
                episode=sessions.get(own.session, ""),
            )
            yield checked_record(said, now=now)
            for link in own.links:
                # A link that only a session shows goes with it, and so does not come where it is not.
                if not link.episode or link.episode in sessions:
                    episode = sessions[link.episode] if link.episode else ""
                    yield checked_record(replace(link, insight=one.uid, episode=episode), now=now)
        elif isinstance(one, SharedFeedback):
            uids = [uid for uid in (*one.helped, *one.present) if uid in known]
            entry = feedback_entry(one, uids, known)
            named = None if one.session == session_hash(None) else sessions.get(one.session, one.session)
            yield checked_record(replace(entry, episode=named), now=now)


def own_entries(records: Iterable[SharedRecord]) -> str:
    """Entries as an import of topics takes them, with their numbers, in the order in which they were stored."""
    found = [(one.own or OwnEntry(id=0), one) for one in records if isinstance(one, SharedEntry)]
    found.sort(key=lambda pair: (pair[0].id, pair[1].stored))
    items = [
        {
            **{name: getattr(one, name) for name in one.__struct_fields__ if name != "own"},
            **({"id": own.id, "links": list(own.links)} if own.id else {}),
        }
        for own, one in found
    ]
    return msgspec.json.encode(items).decode() if items else ""
