"""Small memories that a person can count: sessions written as the steps that they took.

``session("s1", "run lint", "pytest fails: KeyError", success=False)``; `many` writes a group of alike ones, and
`group` a group of which so many succeeded. Steps read as in `episode_drawing`; lines follow their order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from helix_episodes.model import Action, Decision, Episode, Event, Evidence, Link
from helix_episodes.store import encode_episode
from helix_graph import Memory

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path


def session(name: str, *steps: str, success: bool | None = None, links: tuple[str, ...] = (), **fields: Any) -> Episode:  # noqa: ANN401  (fields of an Episode)
    """A session of these steps; ``links`` such as ``"1 answer 2"`` or ``"1 stated prevents 2"`` count steps from 1."""
    made = [_step(place, text) for place, text in enumerate(steps, 1)]
    ids = [one.id for one in made]
    given: dict[str, Any] = {
        "id": f"episode-{name}",
        "session": name,
        "timestamp": "2026-03-01T10:00:00Z",
        "outcome": {True: "success", False: "failure", None: "unknown"}[success],
        "outcome_basis": "none" if success is None else "rewarded",
        "task": f"the task of {name}",
        "task_kind": "fix",
        "decisions": tuple(one for one in made if isinstance(one, Decision)),
        "events": tuple(one for one in made if isinstance(one, Event)),
        "links": tuple(_link(text, ids) for text in links),
    }
    return Episode(**given | fields)


def group(name: str, *steps: str, of: int, succeed: int, **fields: Any) -> Iterator[Episode]:  # noqa: ANN401  (as above)
    """``of`` sessions that took the same steps; the first ``succeed`` of them succeeded.

    They ran on two days in turn, so that both days have the same mix of everything.
    """
    for number in range(of):
        given: dict[str, Any] = {"timestamp": f"2026-03-0{1 + number % 2}T10:00:00Z", **fields}
        yield session(f"{name}-{number:03}", *steps, success=number < succeed, **given)


def memory_of(folder: Path, episodes: Iterable[Episode], *, compiled: bool = False) -> Memory:
    """A memory of these episodes."""
    memory = Memory.init(folder)
    for episode in episodes:
        keep(memory, episode)
    if compiled:
        memory.graph.compile()
    return memory


def keep(memory: Memory, episode: Episode) -> Path:
    """Writes one episode into a memory."""
    memory.graph.episodes.mkdir(parents=True, exist_ok=True)
    path = memory.graph.episodes / f"{episode.id}.json"
    path.write_bytes(encode_episode(episode))
    return path


def _step(place: int, text: str) -> Decision | Event:
    evidence = Evidence(line=place, quote=text)
    verb, _, rest = text.partition(" ")
    if verb in {"run", "edit"}:
        action = Action(verb="run", program=rest) if verb == "run" else Action(verb="edit", role="source", path=rest)
        return Decision(
            id=f"d{place:03}",
            timestamp=None,
            type="test" if text == "run pytest" else "implementation",
            chosen=text,
            action=action,
            evidence=evidence,
        )
    if text.endswith(" passes"):
        check = text.removesuffix(" passes")
        return Event(
            id=f"e{place:03}", timestamp=None, type="test", content=text, check=check, status="ok", evidence=evidence
        )
    check, _, family = text.partition(" fails: ")
    tool = check if check == "Read" else None
    return Event(
        id=f"e{place:03}",
        timestamp=None,
        type="error",
        content=text,
        check=check,
        family=family,
        message=f"the value of {text} is wrong",
        status="error",
        tool=tool,
        evidence=evidence,
    )


def _link(text: str, ids: list[str]) -> Link:
    source, reason, *kind, target = text.split()
    return Link(
        source=ids[int(source) - 1],
        target=ids[int(target) - 1],
        reason=reason,  # type: ignore[arg-type]  # checked when the episode is written
        type=kind[0] if kind else "causes",  # type: ignore[arg-type]  # as above
    )
