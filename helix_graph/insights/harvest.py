"""What an episode teaches: its stated lessons and its verified fixes, each as an insight that could be stored.

A lesson is taken in its own words. A fix is told from facts alone, "When <error>, <change>, verified by <check>": the
failing check and its message, what was changed, and the check that passed afterwards; what the agent thought about it
stays out. Nothing else is taken, since nothing else in an episode claims to hold beyond it.

Two of them are the same (`Harvested.key`) when they differ in what never comes again: for lessons, paths, numbers and
quotations; for fixes everything but the kind of error, the files or commands of the change, and the check. That makes
classes, whatever the order in which episodes come. (Lessons in other words are a matter of vectors: `harvesting`.)

>>> from helix_episodes.model import Action, Decision, Episode, Event, Fix
>>> episode = Episode(id="episode-1", session="1", timestamp="2026-11-01T10:00:00Z", outcome="success", task="Mend CI",
...     decisions=(Decision(id="d1", timestamp=None, type="recovery", chosen="Edit pyproject.toml",
...                         action=Action(verb="edit", role="config", path="pyproject.toml")),),
...     events=(Event(id="e1", timestamp=None, type="test", status="error", check="pytest", content="pytest failed",
...                   family="ModuleNotFoundError", message="ModuleNotFoundError: No module named 'shop'"),),
...     fixes=(Fix(error="e1", changes=("d1",), check="pytest", verified_by="e2"),))
>>> next(harvest_of(episode)).content
"When pytest fails with ModuleNotFoundError: No module named 'shop': Edit pyproject.toml, verified by pytest."
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import msgspec

from helix_graph.graph.anchors import Anchor
from helix_graph.graph.labels import check_label, decision_key, event_key, family_of
from helix_graph.graph.masking import one_line, template
from helix_graph.insights.clock import read, stamp
from helix_graph.insights.settings import LONGEST

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from helix_episodes.model import Decision, Episode, Event, Fix

#: Tags by which the derived are told from the told, and lessons from fixes.
DERIVED, LESSON, FIX = "derived", "lesson", "fix"
#: What `Insight.source` says of them.
SOURCE = "harvest"
#: A sentence names so many changes; a fix of more is one of which nobody knows which part mattered.
_MOST_CHANGES = 3
#: So much of a message, and of a change's own words, tells it apart.
_LONGEST_PART = 200


class Bond(NamedTuple):
    """A link that a harvested insight gets."""

    relation: str
    anchor: Anchor


class Harvested(msgspec.Struct, frozen=True, kw_only=True):
    """An insight that an episode teaches. ``at`` is when the episode began, "" where it does not say."""

    key: str
    kind: str
    content: str
    at: str
    episode: str
    bonds: tuple[Bond, ...]

    @property
    def place(self) -> tuple[str, str, str]:
        """By what the first of several that are the same is found: the earliest, whose words are kept."""
        return self.at or "9", self.episode, self.content


def harvest_of(episode: Episode) -> Iterator[Harvested]:
    """What one episode teaches."""
    yield from _lessons(episode)
    yield from _fixes(episode)


def _lessons(episode: Episode) -> Iterator[Harvested]:
    derived = {number for number, one in enumerate(episode.lesson_evidence) if one.derived}
    for number, text in enumerate(episode.lessons):
        if number in derived:
            continue  # told again below, from the fix that it was derived from
        bond = Bond("derived_from", Anchor(type="episode", text="", episode=episode.id))
        yield _harvested(episode, LESSON, template(text).casefold(), text, (bond,))


def _fixes(episode: Episode) -> Iterator[Harvested]:
    decisions = {one.id: one for one in episode.decisions}
    events = {one.id: one for one in episode.events}
    for fix in episode.fixes:
        error = events.get(fix.error)
        changes = [decisions[name] for name in fix.changes if name in decisions]
        # Trouble with the agent's own tools ("File has not been read yet") is no knowledge of this project.
        if error and not error.tool and changes and fix.verified_by:
            yield _fix(episode, fix, error, changes)


def _fix(episode: Episode, fix: Fix, error: Event, changes: Sequence[Decision]) -> Harvested:
    failing = Anchor(type="error", text=error.content, episode=episode.id)
    made = (Anchor(type="decision", text=one.chosen, episode=episode.id) for one in changes)
    bonds = [*(Bond("derived_from", one) for one in made), Bond("addresses", failing)]
    if len(fix.changes) == 1:  # of several, nobody knows which one it was
        bonds.append(Bond("prevents", failing))
    key = "\0".join((event_key(error) or "", *sorted({_manner(one) for one in changes}), fix.check))
    return _harvested(episode, FIX, key, _sentence(error, changes, check=fix.check), tuple(bonds))


def _harvested(episode: Episode, kind: str, key: str, content: str, bonds: tuple[Bond, ...]) -> Harvested:
    began = read(episode.timestamp)
    return Harvested(
        key=f"{kind}\0{key}",
        kind=kind,
        content=" ".join(content.split())[:LONGEST],
        at=stamp(began) if began else "",
        episode=episode.id,
        bonds=bonds,
    )


def _manner(change: Decision) -> str:
    """What was done, and to what: an edit of another file is another fix."""
    action = change.action
    return "\0".join((decision_key(change), (action and (action.path or action.command)) or ""))


def _sentence(error: Event, changes: Sequence[Decision], *, check: str) -> str:
    said = list(dict.fromkeys(_cut(one.chosen).rstrip(".") for one in changes))
    more = f"; and {len(said) - _MOST_CHANGES} more" if len(said) > _MOST_CHANGES else ""
    failing = check_label(error.check or "").removesuffix(": ")
    trouble = _cut(error.message or family_of(error)).rstrip(".")
    return f"When {failing} with {trouble}: {'; '.join(said[:_MOST_CHANGES])}{more}, verified by {check}."


def _cut(text: str) -> str:
    line = one_line(text)
    return line if len(line) <= _LONGEST_PART else f"{line[:_LONGEST_PART].rstrip()}…"
