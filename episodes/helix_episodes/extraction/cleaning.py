"""Cleaning: the last thing that happens to an episode, so that no field can carry a secret past it.

The session's texts were cut as wholes before anything was made of them. But a telling name and its value may have come
together since, the log's own fields (a model, a project) were not looked at, and home folders stay until here. Here
every string of the finished episode goes through redaction once more; what is clean already comes back as it is.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from helix_episodes.extraction.words import shorten
from helix_episodes.redaction import redact_text

if TYPE_CHECKING:
    from helix_episodes.model import Episode

T = TypeVar("T", bound=msgspec.Struct)

#: The longest text that is kept on purpose is a command of 1,000 characters; anything beyond twice that is an accident
#: of parsing (an unclosed quotation mark makes a word of a whole file).
_LONGEST = 2000


def clean(episode: Episode) -> Episode:
    """The episode with every string redacted and none longer than `_LONGEST`."""
    return _cleaned(episode)


def _cleaned(value: T) -> T:
    changes = {
        name: cleaned
        for name in value.__struct_fields__
        if (before := getattr(value, name)) and (cleaned := _clean(before)) is not before and cleaned != before
    }
    return msgspec.structs.replace(value, **changes) if changes else value


def _clean(value: Any) -> Any:  # noqa: ANN401  (whatever a field of an episode holds)
    if isinstance(value, str):
        return _clean_text(value)
    if isinstance(value, tuple):
        return tuple(_clean(item) for item in value)
    return _cleaned(value) if isinstance(value, msgspec.Struct) else value


@lru_cache(maxsize=4096)
def _clean_text(text: str) -> str:
    return shorten(redact_text(text), limit=_LONGEST)
