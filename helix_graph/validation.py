"""Validate arguments of the public API: each function returns the value or raises an error that names the argument.

The callers are often programs written by agents, so types are checked as well as ranges. The commands replace the
argument's name with that of their option.

>>> as_fraction("weight", 1)
1.0
>>> as_choice("type", "causes", ("causes", "enables"))
'causes'
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterable
from datetime import UTC, date, datetime
from numbers import Real
from pathlib import Path

from helix_episodes.errors import InvalidArgument
from helix_graph.errors import NO_TEXT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    _Word = TypeVar("_Word", bound=str)
    _Number = TypeVar("_Number", bound=float)
    _One = TypeVar("_One")


#: Lines and tabs are the shape of a text.
_SHAPE = frozenset("\n\r\t")


def as_line(option: str, value: str) -> str:
    """A text on one line, without secrets.

    Raises:
        InvalidArgument: It contains a control character, or nothing.
    """
    plain = as_text(option, " ".join(_string(option, value).split()))
    if not plain:
        raise InvalidArgument(option, NO_TEXT)
    return plain


def as_text(option: str, value: str) -> str:
    """A text of any lines, perhaps empty, without secrets.

    Control characters are refused, not cut: what people assert is kept as they said it, or not at all.

    Raises:
        InvalidArgument: It holds a control character.
    """
    from helix_episodes.redaction import for_disk

    for place, character in enumerate(_string(option, value)):
        if character not in _SHAPE and unicodedata.category(character) in {"Cc", "Cs"}:
            code, at = f"U+{ord(character):04X}", place + 1
            raise InvalidArgument(option, f"contains a control character, {code}, at place {at}; leave it out")
    cut: str = for_disk(value)
    return cut


def as_str(option: str, value: str) -> str:
    """A text to look for; half a character, which no file can hold, becomes a question mark."""
    return _string(option, value).encode("utf-8", "replace").decode()


def as_strs(option: str, values: Iterable[str]) -> tuple[str, ...]:
    """Several texts to look for."""
    return tuple(as_str(option, value) for value in as_tuple(option, values))


def as_choice(option: str, value: str, allowed: tuple[_Word, ...]) -> _Word:
    """The word itself, when it is one of those allowed."""
    given = _string(option, value)
    for word in allowed:
        if given == word:
            return word
    raise InvalidArgument(option, f"is {given!r}; it must be one of {', '.join(allowed)}")


def as_fraction(option: str, value: float) -> float:
    """A number from 0 to 1.

    Raises:
        InvalidArgument: It lies outside, or is not a number (NaN).
    """
    return as_float(option, value, lowest=0, highest=1)


def as_float(option: str, value: float, *, lowest: float, highest: float) -> float:
    """A number within a range, which NaN never is."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise wrong_type(option, value, "a number")
    return float(_within(option, value, lowest, highest))


def as_int(option: str, value: int, *, lowest: int, highest: int) -> int:
    """A whole number within a range."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise wrong_type(option, value, "a whole number")
    return _within(option, value, lowest, highest)


def as_workers(value: int | None) -> int | None:
    """How many processes may work at most; None: one for each core.

    Raises:
        InvalidArgument: It is no number of processes.
    """
    from helix_episodes.workers import MOST_WORKERS  # hooks validate too, and have no time to load processes

    return None if value is None else as_int("workers", value, lowest=1, highest=MOST_WORKERS)


def _within(option: str, value: _Number, lowest: float, highest: float) -> _Number:
    """The number itself, when it lies between the two, which belong to the range."""
    if not lowest <= value <= highest:
        raise InvalidArgument(option, f"is {_shown(value)}; it must be between {_shown(lowest)} and {_shown(highest)}")
    return value


#: Whole numbers of more digits are shown in powers of ten: nobody meant them.
_LONG = 10**12


def _shown(value: float) -> str:
    """A number as a message has it: in full up to twelve digits."""
    try:
        return str(value) if isinstance(value, int) and abs(value) < _LONG else f"{value:g}"
    except OverflowError:
        return "far too large"


def as_bool(option: str, value: bool) -> bool:  # noqa: FBT001  (it is what is checked)
    """True or False, and no word that would pass for true."""
    if not isinstance(value, bool):
        raise wrong_type(option, value, "true or false")
    return value


def as_datetime(option: str, value: date | str | None) -> datetime | None:
    """A time, or None; a day is its beginning, in UTC; a text is read as ISO 8601.

    Raises:
        InvalidArgument: The text is not an ISO 8601 date or time.
    """
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            raise InvalidArgument(
                option, f"is {value!r}; give an ISO 8601 day or time, such as 2026-11-01T08:30Z"
            ) from None
        return value if value.tzinfo else value.replace(tzinfo=UTC)
    if value is None or isinstance(value, datetime):
        return value
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day, tzinfo=UTC)
    raise wrong_type(option, value, "a datetime, a date or an ISO 8601 text")


def as_path(option: str, value: Path | str) -> Path:
    """A path, also from its text.

    Raises:
        InvalidArgument: It has a NUL, which no file's name may hold.
    """
    if isinstance(value, str | os.PathLike):
        if "\0" in str(value):
            raise InvalidArgument(option, "contains a NUL character, which no path has; remove it")
        return Path(value)
    raise wrong_type(option, value, "a path")


def as_tuple(option: str, value: Iterable[_One]) -> tuple[_One, ...]:
    """The members of a collection; a text is not meant as one of letters."""
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        raise wrong_type(option, value, "a list")
    return tuple(value)


def wrong_type(option: str, value: object, wanted: str) -> InvalidArgument:
    """What to raise of an argument that is of another type than ``wanted``, which is said in words."""
    return InvalidArgument(option, f"must be {wanted}, and is of type {type(value).__name__}")


def _string(option: str, value: str) -> str:
    if not isinstance(value, str):
        raise wrong_type(option, value, "a text")
    return value
