"""Do we repeat our mistakes? Of the errors met, how many had been met, and fixed, in an earlier session.

The headline of the whole memory: an error that an earlier session met and fixed need not have cost anything this time.
Sessions are taken in order of time and each is compared with all before it, so nothing is known in advance. An error
counts once a session for each of its kinds; it is compared at three levels, the closest first:

``exact``   the same error: one of its fingerprints
``family``  the same kind of error of the same check, where the kind says anything
``check``   the same check failed, of another error or of one that does not say which

Only the first two are the same mistake again: that a test runner failed before says nothing about this failure. An
error is fixed at the level at which it was met, so a fix of some other error of the check does not count for it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import UTC
from typing import Literal, TypeAlias

import msgspec

from helix_episodes.model import Episode, Event, parse_timestamp
from helix_graph.graph.episode_facts import fingerprints_of_event
from helix_graph.graph.error_query import says_something
from helix_graph.graph.node_labels import check_label, event_key, family_of, is_error

RepeatLevel = Literal["exact", "family", "check"]
LEVELS: tuple[RepeatLevel, ...] = ("exact", "family", "check")
#: The levels at which it is the same error; the same check fails for many reasons.
SAME_ERROR: tuple[RepeatLevel, ...] = ("exact", "family")


class Count(msgspec.Struct, frozen=True, kw_only=True):
    """Of ``errors`` met, how many an earlier session had ``met`` and how many it had also ``fixed``, by closest level.

    ``fixed`` counts verified fixes of what was met, at the level at which it was met: the failing check was seen to
    pass after the change.
    """

    errors: int
    met: dict[RepeatLevel, int]
    fixed: dict[RepeatLevel, int]

    @property
    def met_again(self) -> int:
        """The errors that an earlier session had met as the same error or kind."""
        return sum(self.met[level] for level in SAME_ERROR)

    @property
    def fixed_before(self) -> int:
        """Those of `met_again` that an earlier session had also fixed."""
        return sum(self.fixed[level] for level in SAME_ERROR)


class Repeats(msgspec.Struct, frozen=True, kw_only=True):
    """The counts over all sessions and by month (``2026-11``, in UTC) in which an error was met.

    ``undated`` sessions cannot be put in order and are not counted.
    """

    episodes: int
    undated: int
    total: Count
    months: dict[str, Count]


def repeats_of(episodes: Iterable[Episode]) -> Repeats:
    """How often errors come again; the order of the episodes makes no difference."""
    dated, undated = [], 0
    for episode in episodes:
        at = parse_timestamp(episode.timestamp)
        if at is None:
            undated += 1
        else:
            dated.append((at, episode.id, episode))
    dated.sort(key=lambda row: row[:2])
    months: dict[str, _Tally] = {}
    met: set[tuple[RepeatLevel, str]] = set()
    fixed: set[tuple[RepeatLevel, str]] = set()
    for at, _, episode in dated:
        for keys in _errors(episode):
            tally = months.setdefault(f"{at.astimezone(UTC):%Y-%m}", Counter())
            tally["errors"] += 1
            level: RepeatLevel | None = next((one for one in LEVELS if one in keys and (one, keys[one]) in met), None)
            if level:
                tally["met", level] += 1
                tally["fixed", level] += (level, keys[level]) in fixed
        verified = {fix.error for fix in episode.fixes if fix.verified_by}
        for event in filter(is_error, episode.events):
            met.update(_keys(event).items())
            fixed.update(_keys(event).items() if event.id in verified else ())
    return Repeats(
        episodes=len(dated),
        undated=undated,
        total=_count(sum(months.values(), Counter())),
        months={month: _count(tally) for month, tally in months.items()},
    )


#: Errors, and by the closest level those that were met and those that were also fixed.
_Tally: TypeAlias = "Counter[Literal['errors'] | tuple[Literal['met', 'fixed'], RepeatLevel]]"


def _count(tally: _Tally) -> Count:
    return Count(
        errors=tally["errors"],
        met={level: tally["met", level] for level in LEVELS},
        fixed={level: tally["fixed", level] for level in LEVELS},
    )


_Keys = dict[RepeatLevel, str]


def _errors(episode: Episode) -> Iterator[_Keys]:
    """The first error of each kind that a session met."""
    seen: set[str | None] = set()
    for event in filter(is_error, episode.events):
        kind = event_key(event)
        if kind not in seen:
            seen.add(kind)
            yield _keys(event)


def _keys(event: Event) -> _Keys:
    found: _Keys = {}
    if issue := next(iter(fingerprints_of_event(event)), None):
        found["exact"] = issue
    if says_something(family_of(event)):
        found["family"] = event_key(event) or ""
    if event.check:
        found["check"] = check_label(event.check)
    return found
