"""What stands out: at most ten sentences about one memory, the most useful first, each with counts and its evidence.

A sentence is one that a reader can decide something by: it names a cause, recurs over sessions, and says what helped
(a command that repaired it, another way to call it) or that nothing did; or it says which check, rule or file the
sessions pass over. Among equally useful sentences the number of sessions decides. Where nothing stands out, there is
none.

This user's own sessions are counted. What came from others, by git or the team's server, is counted by itself: it adds
its number to an own sentence about the same, or stands behind the own ones and says whose it is.
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
from helix_graph.highlights.model import Highlight, Highlights, counted
from helix_graph.highlights.requests import (
    habit_sentences,
    people_sentences,
    request_sentences,
    rule_sentences,
    written_rules,
)
from helix_graph.hook_caches import read_highlights, write_highlights
from helix_graph.trust import shared_episodes

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
    shared = shared_episodes(root, {one.id for one in episodes})
    if not shared:
        return Highlights(
            sessions=len(episodes), found=tuple(islice(_sentences(root, issues, causality, episodes), MOST))
        )
    own, theirs = (
        _sentences(root, issues, causality.among(names), [one for one in episodes if one.id in names])
        for names in ({one.id for one in episodes} - shared, shared)
    )
    found = tuple(islice(_joined(list(own), list(theirs)), MOST))
    return Highlights(sessions=len(episodes), found=found, shared=len(shared))


def _sentences(root: Path, issues: Issues, causality: Causality, episodes: Sequence[Episode]) -> Iterator[Highlight]:
    """What these episodes say, which are all that ``causality`` asks."""
    ways = {one.id: workarounds_in(one) for one in episodes}
    runbook = runbook_of(episodes, ways)
    written = written_rules(root, episodes)
    with issues.open(among={one.id for one in episodes}) as survey:
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
    return _of_all_kinds(weighed)


#: Of these the command that shows the evidence names the one thing that a sentence is about.
_ABOUT_ONE = frozenset({"issue", "rule"})


def _joined(own: Sequence[Highlight], theirs: Sequence[Highlight]) -> Iterator[Highlight]:
    """The own sentences with how many shared sessions say the same, and then what only shared ones say."""
    same = {one.see: one for one in theirs if one.kind in _ABOUT_ONE}
    for one in own:
        other = same.pop(one.see, None) if one.kind in _ABOUT_ONE else None
        if other is None:
            yield one
        else:
            text = f"{one.text} So it is in {counted(other.sessions, 'shared session')}."
            yield msgspec.structs.replace(one, text=text, shared_sessions=other.sessions)
    for one in theirs:
        if one.kind not in _ABOUT_ONE or one.see in same:
            text = f"Shared sessions alone: {one.text}"
            yield msgspec.structs.replace(one, text=text, shared=True, shared_sessions=one.sessions)


def _of_all_kinds(weighed: Sequence[RankedHighlight]) -> Iterator[Highlight]:
    """The first in order, of one kind no more than its share."""
    kinds: Counter[str] = Counter()
    for one in weighed:
        kinds[one.highlight.kind] += 1
        if kinds[one.highlight.kind] <= _MOST_OF_A_KIND:
            yield one.highlight
