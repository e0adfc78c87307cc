"""What stands out: at most ten sentences about one memory, the most useful first, each with counts and its evidence.

A sentence is one that a reader can decide something by: it names a cause, recurs over sessions, and says what helped
(a command that repaired it, another way to call it) or that nothing did; or it says which check, rule or file the
sessions pass over. Among equally useful sentences the number of sessions decides. Where nothing stands out, there is
none.
"""

from __future__ import annotations

from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING

import msgspec

from helix_episodes.model import sortable_time
from helix_graph.causality.runbook import runbook_of
from helix_graph.causality.workarounds import workarounds_in
from helix_graph.highlights.failure_sentences import ROWS, IssueSentences, prerequisite_sentences, situation_sentences
from helix_graph.highlights.model import Highlight, Highlights
from helix_graph.highlights.requests import (
    habit_sentences,
    people_sentences,
    request_sentences,
    rule_sentences,
    written_rules,
)
from helix_graph.hook_caches import read_highlights, write_highlights

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from helix_episodes.model import Episode
    from helix_graph.causality.api import Causality
    from helix_graph.highlights.model import RankedHighlight
    from helix_graph.issues.api import Issues

MOST = 10
#: Of so many sentences each kind may make up: ten about one kind leave the others out.
_MOST_OF_A_KIND = 8


def known_highlights(root: Path, issues: Issues, causality: Causality) -> Highlights:
    """As `highlights_of`, computed once for each state of the graph."""
    known = read_highlights(root)
    if known is not None:
        try:
            return msgspec.convert(known, Highlights)
        except msgspec.ValidationError:  # the file is derived: whatever is in it, it is computed again
            pass
    found = highlights_of(root, issues, causality)
    write_highlights(root, msgspec.to_builtins(found))
    return found


def highlights_of(root: Path, issues: Issues, causality: Causality) -> Highlights:
    """What stands out in the memory in ``root``."""
    episodes = sorted(causality.episodes()[0], key=lambda one: (sortable_time(one.timestamp), one.id))
    ways = {one.id: workarounds_in(one) for one in episodes}
    runbook = runbook_of(episodes, ways)
    written = written_rules(root, episodes)
    with issues.open() as survey:
        listed = survey.list(by="recurring", limit=ROWS)
        weighed = [
            *prerequisite_sentences(runbook, episodes),
            *IssueSentences(survey, listed, episodes, runbook, ways, written=written),
            *situation_sentences(causality),
            *habit_sentences(episodes),
            *rule_sentences(written, episodes),
            *people_sentences(written, episodes),
            *request_sentences(written, episodes),
        ]
    weighed.sort(key=lambda one: (-one.usefulness * one.highlight.sessions, one.highlight.text))
    chosen = list(islice(_of_all_kinds(weighed), MOST))
    return Highlights(sessions=listed.sessions, found=tuple(_marked(root, chosen, episodes)))


def _of_all_kinds(weighed: Sequence[RankedHighlight]) -> Iterator[Highlight]:
    """The first in order, of one kind no more than its share."""
    kinds: Counter[str] = Counter()
    for one in weighed:
        kinds[one.highlight.kind] += 1
        if kinds[one.highlight.kind] <= _MOST_OF_A_KIND:
            yield one.highlight


def _marked(root: Path, chosen: Sequence[Highlight], episodes: Sequence[Episode]) -> Iterator[Highlight]:
    """The sentences, those marked as shared of which all evidence came with the repository."""
    from helix_graph.trust import shared_episodes

    known = {name: one.id for one in episodes for name in (one.session, one.id)}
    known |= {one.provenance.log: one.id for one in episodes if one.provenance}
    rests_on = [
        {name for place in one.evidence if (name := known.get(place.session) or known.get(place.log or ""))}
        for one in chosen
    ]
    shared = shared_episodes(root, set().union(*rests_on))
    for one, names in zip(chosen, rests_on, strict=True):
        yield msgspec.structs.replace(one, shared=bool(names) and names <= shared)
