"""Build an episode from structured data, as ``New-Episode`` of the original takes it.

Missing values are completed: an ``id`` becomes the next free number, a ``timestamp`` stays unknown. The two sides of a
link (``effects`` of a decision, ``caused_by`` of an event) are made to agree.

A link to an unknown id is left out and listed under ``unresolved`` in the file: the original's own example of a
decision has such ``effects``, and refusing the whole episode would lose it. A link that runs backwards in time or
closes a circle is refused by name.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, get_args

import msgspec
from msgspec.structs import replace

from helix_episodes.consistency import free_id, repair_links, repair_parts, unsound_links
from helix_episodes.corrections import parts_of, stated_links
from helix_episodes.errors import InvalidEpisode
from helix_episodes.model import DecisionType, EventType, Outcome
from helix_episodes.redaction import redact_text
from helix_episodes.store import decode_episode

if TYPE_CHECKING:
    from collections.abc import Mapping

    from helix_episodes.model import Decision, Episode, Event


_WRONG_WORD = re.compile(r"Invalid enum value .*`\$\.(?P<part>\w+)\[\d+\]\.(?P<field>\w+)`")
_WORDS_OF: dict[tuple[str, str], tuple[str, ...]] = {
    ("decisions", "type"): get_args(DecisionType),
    ("decisions", "outcome"): get_args(Outcome),
    ("events", "type"): get_args(EventType),
}
#: The key of an episode under which links are named that lead nowhere.
UNRESOLVED = "unresolved"


def build_episode(given: Mapping[str, Any]) -> Episode:
    """An episode of structured data, without secrets.

    Raises:
        InvalidEpisode: A part does not fit the schema, has a time that is none or an id that is another's, or a link
            runs backwards in time or closes a circle.
    """
    stated = _decoded(given)
    _, problems = repair_parts(stated)
    names = {one.id for one in parts_of(stated)}
    links = sorted((link.source, link.target) for link in stated_links(stated))
    unresolved = [f"{source} -> {target}" for source, target in links if not {source, target} <= names]
    episode = _without(stated, unresolved)
    for problem in (*problems, *unsound_links(episode)):
        raise InvalidEpisode(path=None, problem=problem)
    whole, _ = repair_links(episode)
    return replace(whole, extra={UNRESOLVED: unresolved}) if unresolved else whole


def _decoded(given: Mapping[str, Any]) -> Episode:
    try:
        return decode_episode(_as_json(given))
    except InvalidEpisode as error:
        raise InvalidEpisode(path=None, problem=error.problem + _allowed(error.problem)) from error


def _allowed(problem: str) -> str:
    """The words that a field allows, where the problem is a word that is none of them.

    >>> _allowed("Invalid enum value 'x' - at `$.decisions[0].type`")
    '; it must be one of design, implementation, test, recovery, routing'
    """
    wrong = _WRONG_WORD.search(problem)
    words = wrong and _WORDS_OF.get((wrong["part"], wrong["field"]))
    return f"; it must be one of {', '.join(words)}" if words else ""


def _as_json(given: Mapping[str, Any]) -> bytes:
    try:
        plain = _redacted(msgspec.to_builtins(given))
        for name, letter in (("decisions", "d"), ("events", "e")):
            plain[name] = _completed(plain[name], letter)
        return msgspec.json.encode(plain)
    except (TypeError, ValueError, RecursionError, msgspec.MsgspecError) as error:
        raise InvalidEpisode(path=None, problem=f"it cannot be written as JSON ({error})") from error


def _redacted(value: Any) -> Any:  # noqa: ANN401  (JSON)
    if isinstance(value, str):
        return redact_text(value)
    if isinstance(value, dict):
        return {key: _redacted(each) for key, each in value.items()}
    return [_redacted(each) for each in value] if isinstance(value, list | tuple) else value


def _completed(parts: Any, letter: str) -> Any:  # noqa: ANN401  (JSON that may be anything)
    """Parts with an id and a time each; what is no list of objects is left to the schema."""
    if not isinstance(parts, list):
        return parts
    names = {str(one["id"]) for one in parts if isinstance(one, dict) and "id" in one}
    completed = []
    for one in parts:
        if not isinstance(one, dict):
            completed.append(one)
            continue
        name = one.get("id") or free_id(letter, names)
        names.add(str(name))
        completed.append({"timestamp": None} | one | {"id": name})
    return completed


def _without(episode: Episode, unresolved: list[str]) -> Episode:
    """The episode whose parts name only each other."""
    if not unresolved:
        return episode
    names = {one.id for one in parts_of(episode)}

    def decision(one: Decision) -> Decision:
        return replace(one, effects=_among(names, one.effects), caused_by=_among(names, one.caused_by))

    def event(one: Event) -> Event:
        return replace(one, leads_to=_among(names, one.leads_to), caused_by=_among(names, one.caused_by))

    return replace(episode, decisions=tuple(map(decision, episode.decisions)), events=tuple(map(event, episode.events)))


def _among(names: set[str], ends: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(end for end in ends if end in names)
