"""Episodes made by rule, for measuring size: deterministic, as large as real ones, with a known share of repetition."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from msgspec.structs import replace

from helix_episodes.model import Action, Decision, Episode, Event, Evidence, Fix, Link, OutcomeEvidence
from helix_episodes.store import encode_episode
from helix_graph.graph.episode_facts import fingerprints_of_event

if TYPE_CHECKING:
    from pathlib import Path

#: The words of a real episode's texts are about this long; they bring a file of 6 decisions and 12 events to 9 kB.
FILLER = "the check names a value computed twice and rounded once"
SEED = 20260301


def write_episodes(  # noqa: PLR0913  (each is one property of what is generated)
    folder: Path,
    *,
    count: int,
    first: int = 0,
    decisions: int = 6,
    events: int = 12,
    stock: int | None = None,
    repeated: float = 0.5,
) -> None:
    """Writes ``count`` episodes, numbered from ``first``.

    A share of ``repeated`` of their labels comes from a hundred that all have, the rest from a ``stock`` (default: two
    for each episode).
    """
    folder.mkdir(parents=True, exist_ok=True)
    pick = Labels(stock if stock is not None else 2 * count, repeated=repeated)
    for number in range(first, first + count):
        episode = one_episode(number, pick, decisions=decisions, events=events)
        (folder / f"{episode.id}.json").write_bytes(encode_episode(episode))


class Labels:
    """Numbers of labels, the same ones in every run: below 100 those that many episodes share."""

    def __init__(self, stock: int, *, repeated: float) -> None:
        self.source = random.Random(SEED)  # noqa: S311  (repeatable, not secret)
        self.stock = stock
        self.repeated = repeated

    def __call__(self) -> int:
        shared = self.source.random() < self.repeated
        return self.source.randrange(100) if shared else 100 + self.source.randrange(self.stock)


def one_episode(number: int, pick: Labels, *, decisions: int, events: int) -> Episode:
    session = f"generated-{number:06}"
    chosen = tuple(_decision(place, pick()) for place in range(1, decisions + 1))
    happened = tuple(_event(place, pick(), decisions) for place in range(1, events + 1))
    errors = [event.id for event in happened if event.type == "error"]
    return Episode(
        id=f"episode-{session}",
        session=session,
        timestamp=f"2026-{1 + number % 12:02}-{1 + number // 12 % 28:02}T09:00:00Z",
        outcome="success" if number % 3 else "failure",
        outcome_basis="measured",
        outcome_evidence=OutcomeEvidence(rule="last run of the check passes", source=happened[-1].id),
        task=f"Count the tax of order {number} once",
        decisions=chosen,
        events=happened,
        links=tuple(links(chosen, happened, pick.source)),
        fixes=tuple(Fix(error=error, changes=(chosen[-1].id,), check="pytest") for error in errors[:1]),
    )


def links(chosen: tuple[Decision, ...], happened: tuple[Event, ...], source: random.Random) -> list[Link]:
    """Two effects of each decision, and an answer to every other event."""
    calls = {(one.id, happened[source.randrange(len(happened))].id) for one in chosen for _ in range(2)}
    answers = {(one.id, chosen[source.randrange(len(chosen))].id) for one in happened[::2]}
    found = [Link(source=cause, target=effect, reason="call") for cause, effect in sorted(calls)]
    return found + [Link(source=cause, target=effect, reason="answer") for cause, effect in sorted(answers)]


def _decision(place: int, label: int) -> Decision:
    program = f"tool{spelled(label)}"
    action = Action(verb="run", program=program, subcommand="check", command=f"{program} check {FILLER}")
    return Decision(
        id=f"d{place:03}",
        timestamp="2026-03-01T09:00:00Z",
        type="test",
        context=FILLER,
        chosen=f"run {program} check",
        rationale=FILLER,
        action=action,
        evidence=Evidence(line=place, id=f"id-{place}", quote=FILLER),
    )


def _event(place: int, label: int, before: int) -> Event:
    failed = label % 3 == 0
    event = Event(
        id=f"e{place:03}",
        timestamp="2026-03-01T09:30:00Z",
        type="error" if failed else "test",
        content=f"tool {label}: {FILLER}",
        check=f"tool{spelled(label)}",
        family=f"rule-{spelled(label)}" if failed else None,
        message=f"shop/order.py:{label}: {FILLER}",
        status="error" if failed else "ok",
        evidence=Evidence(line=before + place, id=f"id-{before + place}", quote=FILLER),
    )
    # As extraction writes it: an error names its issue.
    issue, *also = fingerprints_of_event(event) or (None,)
    return replace(event, fingerprint=issue, also=tuple(also))


def spelled(number: int) -> str:
    """A number in letters: digits are what labels mask.

    >>> spelled(0), spelled(27)
    ('a', 'bb')
    """
    letters = chr(ord("a") + number % 26)
    return letters if number < 26 else spelled(number // 26) + letters
