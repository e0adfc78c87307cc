"""An entry that is to be stored: what was handed in, checked, before any file is opened.

>>> draft(topic="Engine", text="Gotcha: the cache is never emptied").tags
('gotcha',)
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import msgspec

from helix_episodes.errors import HelixGraphError
from helix_graph.errors import WrongType
from helix_graph.given import several, share
from helix_graph.topics.classify import auto_tags
from helix_graph.topics.errors import InvalidItem, InvalidLink, TooMuch
from helix_graph.topics.texts import entry_text, plain, source_name, tag_names, topic_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

#: One transaction holds the write lock throughout; the original's limit was 30.
LARGEST_BATCH = 1_000
MOST_LINKS = 64
#: `topic:index`, as the seed writes it; a topic's name may hold anything but blanks.
_LINK = re.compile(r"(?P<topic>[^\s:]+):(?P<index>[0-9]{1,9})\Z")
_PARAMETERS = ("topic", "text", "tags", "source", "confidence", "links")


class Draft(msgspec.Struct, frozen=True, kw_only=True):
    """An entry in the form in which it is kept; ``links`` are topics with indices, looked up when it is stored."""

    topic: str
    text: str
    tags: tuple[str, ...] = ()
    source: str | None = None
    confidence: float = 1.0
    links: tuple[tuple[str, int], ...] = ()


def draft(  # noqa: PLR0913  (what an entry has)
    *,
    topic: str,
    text: str,
    tags: str | Iterable[str] = (),
    source: str | None = None,
    confidence: float | None = None,
    links: str | Iterable[str] = (),
    auto: bool = True,
) -> Draft:
    """Checks what an entry has; without tags the beginning of its text may give it one, if ``auto``.

    Raises:
        InvalidTopic: The name has no letter or digit, or is too long.
        EmptyText: There is nothing in the text.
        OutOfRange: The confidence lies outside 0 to 1.
        InvalidLink: A link is not of the form ``topic:index``.
        HalfCharacter: One of the texts holds half a surrogate pair.
        TooMuch: One of them is too long.
        WrongType: One of them is none of its kind.
    """
    kept = entry_text("text", text)
    return Draft(
        topic=topic_name("topic", topic),
        text=kept,
        tags=tag_names("tags", tags) or (auto_tags(kept) if auto else ()),
        source=source_name("source", source),
        confidence=1.0 if confidence is None else share("confidence", confidence),
        links=link_places(links),
    )


def drafts(entries: Iterable[Mapping[str, Any]]) -> list[Draft]:
    """Checks the entries of a batch.

    Raises:
        WrongType: It is no list.
        TooMuch: There are more than `LARGEST_BATCH`.
        InvalidItem: One of them cannot be stored; its place and the reason are named.
    """
    if isinstance(entries, dict):
        raise WrongType("entries", value=entries, wanted="a list of objects")
    given = several("entries", entries)
    if len(given) > LARGEST_BATCH:
        raise TooMuch("entries", size=len(given), largest=LARGEST_BATCH, unit="entries")
    return [_item(place, one) for place, one in enumerate(given)]


def link_places(links: str | Iterable[str]) -> tuple[tuple[str, int], ...]:
    """The topics and indices that links name, each once.

    Raises:
        InvalidLink: One is not of the form ``topic:index``.
        TooMuch: There are more than `MOST_LINKS`.
    """
    given = links.replace(",", " ").split() if isinstance(links, str) else several("links", links)
    places = tuple(dict.fromkeys(_place(link) for link in given))
    if len(places) > MOST_LINKS:
        raise TooMuch("links", size=len(places), largest=MOST_LINKS, unit="links")
    return places


def _place(link: str) -> tuple[str, int]:
    found = _LINK.match(plain("links", link))
    if found is None:
        raise InvalidLink(link, problem="is no link")
    return topic_name("links", found["topic"]), int(found["index"])


def _item(place: int, given: Mapping[str, Any]) -> Draft:
    try:
        if not isinstance(given, dict):
            raise WrongType("an entry", value=given, wanted="an object with topic and text")
        _check_keys(place, given)
        return draft(**{name: value for name, value in given.items() if value is not None})
    except InvalidItem:
        raise
    except HelixGraphError as error:
        raise InvalidItem(place, problem=str(error)) from error


def _check_keys(place: int, given: Mapping[str, Any]) -> None:
    missing = [name for name in ("topic", "text") if given.get(name) is None]
    if missing:
        raise InvalidItem(place, problem=f"{' and '.join(missing)} missing")
    unknown = sorted(map(str, given.keys() - set(_PARAMETERS)))
    if unknown:
        raise InvalidItem(place, problem=f"there is no {', '.join(unknown)}; an entry has {', '.join(_PARAMETERS)}")
