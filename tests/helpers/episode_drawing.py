"""Episodes drawn as text, and a memory made of them.

A drawing is a list of links: ``"run ruff -> ruff fails: E501"``. Words tell what a thing is: ``run``/``edit`` begin a
decision, ``X fails: Y`` is an error, ``X passes`` a passed test, ``commit`` a commit, ``success`` the outcome. ``#2``
behind a label makes it another mention of the same label. ``=>`` is an ``enables`` link, ``-|`` a fix: the change on
the left repaired the error on the right.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Protocol

import pytest
from hypothesis import strategies as st

from helix_episodes.model import Action, Decision, Episode, Event, Evidence, Fix, Link, OutcomeEvidence
from helix_episodes.store import encode_episode
from helix_graph.graph.api import Graph

if TYPE_CHECKING:
    from pathlib import Path

_LINK = re.compile(r"(.+?) (->|=>|-\|) (.+)")
_OUTCOMES = {"success", "partial", "failure"}


class Draw(Protocol):
    """Draws an episode."""

    def __call__(self, name: str, *links: str, at: str = ..., **fields: Any) -> Episode: ...  # noqa: ANN401  (fields of an Episode)


class Remember(Protocol):
    """Makes a compiled memory of episodes."""

    def __call__(self, *episodes: Episode) -> Graph: ...


def draw_episode(name: str, *links: str, at: str = "2026-03-01T10:00:00Z", **fields: Any) -> Episode:  # noqa: ANN401  (as above)
    """An episode from a drawing; ``fields`` replace what the drawing gives."""
    parsed = [match.groups() for link in links if (match := _LINK.fullmatch(link))]
    assert len(parsed) == len(links), "a link without an arrow"
    names = list(dict.fromkeys(end for source, _, target in parsed for end in (source, target)))
    ids = {end: f"{'d' if _is_decision(end) else 'e'}{place:03}" for place, end in enumerate(names, 1)}
    decided = [(source, target) for source, _, target in parsed if target in _OUTCOMES]
    kinds = {"->": "causes", "=>": "enables"}
    given: dict[str, Any] = {
        "id": f"episode-{name}",
        "session": name,
        "timestamp": at,
        "outcome": decided[0][1] if decided else "unknown",
        "outcome_basis": "measured" if decided else "none",
        "outcome_evidence": OutcomeEvidence(rule="drawn", source=ids[decided[0][0]]) if decided else None,
        "task": f"the task of {name}",
        "decisions": tuple(_decision(ids[end], end) for end in names if _is_decision(end)),
        "events": tuple(_event(ids[end], end) for end in names if not _is_decision(end) and end not in _OUTCOMES),
        "links": tuple(
            Link(source=ids[source], target=ids[target], reason="call", type=kinds[arrow])  # type: ignore[arg-type]  # checked by msgspec
            for source, arrow, target in parsed
            if arrow in kinds and target not in _OUTCOMES
        ),
        "fixes": tuple(_fixes(parsed, ids)),
    }
    return Episode(**given | fields)


def _fixes(parsed: list[tuple[str | Any, ...]], ids: dict[str, str]) -> list[Fix]:
    repairs = [(source, target) for source, arrow, target in parsed if arrow == "-|"]
    errors = list(dict.fromkeys(error for _, error in repairs))
    return [
        Fix(
            error=ids[error],
            changes=tuple(ids[change] for change, other in repairs if other == error),
            check=error.partition(" fails: ")[0],
            verified_by=next((ids[end] for end in ids if end == f"{error.partition(' fails: ')[0]} passes"), None),
            share=1 / sum(other == error for _, other in repairs),
        )
        for error in errors
    ]


def _is_decision(text: str) -> bool:
    return text.startswith(("run ", "edit "))


def _decision(local: str, text: str) -> Decision:
    verb, _, rest = text.partition("#")[0].strip().partition(" ")
    if verb == "run":
        action = Action(verb="run", program=rest, command=f"{rest} --all")
    else:
        action = Action(verb="edit", role="source", path=rest)
    return Decision(
        id=local,
        timestamp=None,
        type="implementation",
        chosen=text.partition("#")[0].strip(),
        action=action,
        evidence=Evidence(line=int(local[1:]), quote=text),
    )


def _event(local: str, text: str) -> Event:
    plain = text.partition("#")[0].strip()
    evidence = Evidence(line=int(local[1:]), quote=text)
    if plain == "commit":
        return Event(id=local, timestamp=None, type="commit", content="a commit", evidence=evidence)
    if plain.endswith(" passes"):
        check = plain.removesuffix(" passes")
        return Event(id=local, timestamp=None, type="test", content=plain, check=check, status="ok", evidence=evidence)
    check, _, family = plain.partition(" fails: ")
    return Event(
        id=local,
        timestamp=None,
        type="error",
        content=plain,
        check=check,
        family=family,
        message=f"shop/cart.py:{int(local[1:])}: {family}",
        status="error",
        evidence=evidence,
    )


@pytest.fixture(scope="session")
def draw() -> Draw:
    return draw_episode


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the episodes of a memory lie."""
    path = tmp_path / "episodes"
    path.mkdir()
    return path


@pytest.fixture
def remember(folder: Path) -> Remember:
    def _remember(*episodes: Episode) -> Graph:
        for episode in episodes:
            (folder / f"{episode.id}.json").write_bytes(encode_episode(episode))
        graph = Graph(folder, folder.parent / "causality")
        graph.compile()
        return graph

    return _remember


@pytest.fixture(scope="session")
def any_episodes() -> st.SearchStrategy[tuple[Episode, ...]]:
    """A few episodes over few labels, so that they meet; links run forwards, several mentions share a label."""
    labels = ["run ruff", "run pytest", "edit a.py", "edit b.go", "ruff fails: E501", "pytest fails: KeyError"]
    ends = [*labels, *(f"{label}#2" for label in labels), "ruff passes", "pytest passes", "commit"]
    links = st.lists(
        st.tuples(
            st.sampled_from(ends), st.sampled_from(["->", "->", "=>", "-|"]), st.sampled_from([*ends, "success"])
        ),
        max_size=8,
    )
    return st.lists(links, max_size=4).map(
        lambda drawings: tuple(draw_episode(f"s{place}", *_sensible(each)) for place, each in enumerate(drawings))
    )


def _sensible(links: list[tuple[str, str, str]]) -> list[str]:
    """Fixes join a decision to an error, and outcomes are decided by events."""
    kept = []
    for source, arrow, target in links:
        repair = arrow == "-|"
        if repair and not (_is_decision(source) and " fails: " in target):
            continue
        if target == "success" and (repair or _is_decision(source)):
            continue
        kept.append(f"{source} {arrow} {target}")
    return kept
