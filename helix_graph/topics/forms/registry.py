"""Which form belongs to which answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from helix_graph.topics import actions, catalogue, references, stale, transfer, upkeep
from helix_graph.topics.briefing.model import Briefing, Overview
from helix_graph.topics.edit import Edited
from helix_graph.topics.forms import brief, entries, search, topics
from helix_graph.topics.importing import Imported
from helix_graph.topics.model import BatchStored, Stored
from helix_graph.topics.read import ReadAnswer
from helix_graph.topics.search import SearchAnswer

if TYPE_CHECKING:
    from collections.abc import Callable

Answer = Stored | BatchStored | SearchAnswer | Briefing | Overview | ReadAnswer | Edited | actions.Answer

_FORMS: dict[type, Callable[[Any], str]] = {
    BatchStored: entries.batch_form,
    ReadAnswer: entries.read_form,
    Edited: entries.edited_form,
    SearchAnswer: search.search_form,
    Briefing: brief.briefing_form,
    Overview: brief.overview_form,
    catalogue.Listing: topics.listing_form,
    catalogue.Recent: topics.recent_form,
    catalogue.Stats: topics.stats_form,
    catalogue.Session: topics.session_form,
    references.CrossReferences: topics.xref_form,
    references.TopicGraph: topics.graph_form,
    stale.StaleAnswer: topics.stale_form,
    upkeep.Pruned: topics.pruned_form,
    upkeep.Compacted: topics.compacted_form,
    upkeep.Reindexed: topics.reindexed_form,
    transfer.Export: topics.exported_form,
    Imported: topics.imported_form,
}


def form_of(answer: Answer, *, terse: bool = False) -> str:
    """The text of an answer; ``terse`` keeps what was stored to one line."""
    if isinstance(answer, Stored):
        return entries.stored_form(answer, terse=terse)
    return _FORMS[type(answer)](answer)
