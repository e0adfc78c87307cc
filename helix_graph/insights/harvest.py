"""What an episode teaches: its stated lessons and its verified fixes, each as an insight that could be stored.

A lesson is taken in its own words, where these are advice (`advice`). A fix is told from facts alone, "When <error>,
<change>, verified by <check>": the failing check and its message, what was written or run, and the same check that
passed afterwards (`verified`); what the agent thought about it stays out. Nothing else is taken, since nothing else in
an episode claims to hold beyond it, and what is doubtful is dropped: an insight that is false costs more than none.

Two of them are the same (`Harvested.key`) when they differ in what never comes again: for lessons, paths, numbers and
quotations; for fixes everything but the kind of error, the files or commands of the change, and the check. That makes
classes, whatever the order in which episodes come. (Lessons in other words are a matter of vectors: `harvesting`.)

>>> from helix_episodes.model import Action, Decision, Episode, Event, Evidence, Fix, Link
>>> suite = Action(verb="run", command="pytest -q")
>>> edit = Action(verb="edit", role="config", path="pyproject.toml")
>>> episode = Episode(id="episode-1", session="1", timestamp="2026-11-01T10:00:00Z", outcome="success", task="Mend CI",
...     decisions=(Decision(id="d1", timestamp=None, type="test", chosen="run pytest -q", action=suite),
...                Decision(id="d2", timestamp=None, type="recovery", chosen="edit pyproject.toml", action=edit,
...                         evidence=Evidence(line=4, quote='packages = ["shop"]')),
...                Decision(id="d3", timestamp=None, type="test", chosen="run pytest -q", action=suite)),
...     events=(Event(id="e1", timestamp=None, type="error", status="error", check="pytest", content="pytest failed",
...                   family="ModuleNotFoundError", message="ModuleNotFoundError: No module named 'shop'"),
...             Event(id="e2", timestamp=None, type="test", status="ok", check="pytest", content="pytest passes",
...                   evidence=Evidence(line=6, quote="3 passed"))),
...     links=(Link(source="d1", target="e1", reason="call"), Link(source="d3", target="e2", reason="call")),
...     fixes=(Fix(error="e1", changes=("d2",), check="pytest", verified_by="e2"),))
>>> print(next(harvest_of(episode)).content)  # doctest: +NORMALIZE_WHITESPACE
When pytest fails with ModuleNotFoundError: No module named 'shop': edit pyproject.toml to `packages = ["shop"]`,
verified by pytest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import msgspec

from helix_graph.graph.anchors import Anchor
from helix_graph.graph.labels import check_label, decision_key, event_key, family_of
from helix_graph.graph.masking import one_line, template
from helix_graph.insights.advice import is_advice
from helix_graph.insights.clock import read, stamp
from helix_graph.insights.model import FIX, LESSON
from helix_graph.insights.settings import LONGEST
from helix_graph.insights.verified import change_of, told

if TYPE_CHECKING:
    from collections.abc import Iterator

    from helix_episodes.model import Decision, Episode, Event

#: So much of a message tells it apart.
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
        # What was derived is told again below, from its fix.
        if number in derived or not is_advice(text):
            continue
        bond = Bond("derived_from", Anchor(type="episode", text="", episode=episode.id))
        yield _harvested(episode, LESSON, template(text).casefold(), text, (bond,))


def _fixes(episode: Episode) -> Iterator[Harvested]:
    events = {one.id: one for one in episode.events}
    for fix in episode.fixes:
        change = change_of(episode, fix)
        if change is not None:
            yield _fix(episode, events[fix.error], change, check=fix.check)


def _fix(episode: Episode, error: Event, change: Decision, *, check: str) -> Harvested:
    failing = Anchor(type="error", text=error.content, episode=episode.id)
    made = Anchor(type="decision", text=change.chosen, episode=episode.id)
    bonds = (Bond("derived_from", made), Bond("addresses", failing), Bond("prevents", failing))
    key = "\0".join((event_key(error) or "", _manner(change), check))
    return _harvested(episode, FIX, key, _sentence(error, change, check=check), bonds)


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


def _sentence(error: Event, change: Decision, *, check: str) -> str:
    failing = check_label(error.check or "").removesuffix(": ")
    trouble = _cut(error.message or family_of(error)).rstrip(".")
    return f"When {failing} with {trouble}: {told(change)}, verified by {check}."


def _cut(text: str) -> str:
    line = one_line(text)
    return line if len(line) <= _LONGEST_PART else f"{line[:_LONGEST_PART].rstrip()}…"
