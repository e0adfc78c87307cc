"""Light substitutes where an agent waits: frozen values, regular expressions compiled on first use, BLAKE2b.

A hook runs at every tool call, and most of its time goes into loading code. msgspec takes 40 ms to load, ``typing``
with a named tuple 8 ms, the OpenSSL behind `hashlib` 5 ms, and compiling the two hundred expressions that read check
output took 80 ms. `Value` serves where a value never leaves the program and needs no validation or encoding; a
`Regex` costs nothing until it is used.

>>> class Place(Value):
...     path: str
...     line: int = 1
>>> Place("cart.py")
Place(path='cart.py', line=1)
>>> Place("cart.py")._replace(line=7).line
7
>>> blake2b(b"cart", digest_size=8).hexdigest() == __import__("hashlib").blake2b(b"cart", digest_size=8).hexdigest()
True
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, Never, Self, dataclass_transform
else:

    def dataclass_transform(**_):  # noqa: ANN202, ANN003  (checkers read the other)
        """What tells type checkers that classes derived from one have fields."""
        return lambda value: value


@dataclass_transform(frozen_default=True)
class Value:
    """What has the fields that its class annotates, each passed or its default; equal when all fields are."""

    _fields: tuple[str, ...] = ()
    _known: frozenset[str] = frozenset()
    _required: frozenset[str] = frozenset()

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls._fields = tuple(cls.__annotations__)
        cls._known = frozenset(cls._fields)
        cls._required = frozenset(name for name in cls._fields if not hasattr(cls, name))

    def __init__(self, *values: Any, **named: Any) -> None:  # noqa: ANN401  (whatever the fields hold)
        fields = {**dict(zip(self._fields, values, strict=False)), **named} if values else named
        if len(fields) != len(values) + len(named) or not self._required <= fields.keys() <= self._known:
            message = f"the fields of {type(self).__name__} are {', '.join(self._fields)}; given: {', '.join(fields)}"
            raise TypeError(message)
        self.__dict__.update(fields)

    def _asdict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self._fields}

    def _replace(self, **changes: Any) -> Self:  # noqa: ANN401  (as above)
        """The same with other values in some fields."""
        return type(self)(**{**self._asdict(), **changes})

    def __setattr__(self, name: str, value: object) -> Never:
        raise AttributeError(f"{type(self).__name__} is frozen")

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and isinstance(other, Value) and other._asdict() == self._asdict()

    def __hash__(self) -> int:
        return hash((type(self), *self._asdict().values()))

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={value!r}" for name, value in self._asdict().items())
        return f"{type(self).__name__}({fields})"


class Regex:
    r"""Represents ``re.compile(text, flags)`` and has the methods that are used of it.

    >>> Regex(r"(\d+) failed").search("3 failed")[1]
    '3'
    """

    if TYPE_CHECKING:
        compiled: re.Pattern[str]

        def search(self, text: str, start: int = 0) -> re.Match[str] | None:
            """The first match anywhere after ``start``."""

        def match(self, text: str, start: int = 0) -> re.Match[str] | None:
            """The match that begins at ``start``."""

        def fullmatch(self, text: str) -> re.Match[str] | None:
            """The match of the whole text."""

        def finditer(self, text: str) -> Iterator[re.Match[str]]:
            """Every match, in order."""
            raise NotImplementedError

        def findall(self, text: str) -> list[Any]:
            """What every match captured."""
            raise NotImplementedError

        def sub(self, replacement: str | Callable[[re.Match[str]], str], text: str) -> str:
            """``text`` with every match replaced."""
            raise NotImplementedError

        def split(self, text: str) -> list[str | Any]:
            """The parts of ``text`` between matches."""
            raise NotImplementedError

    def __init__(self, text: str, flags: int = 0) -> None:
        self.text = text
        self.flags = flags

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  (a method of the pattern, or the pattern)
        """Compiles the expression; from then on its methods are called without this class in between."""
        if name not in _METHODS:
            raise AttributeError(name)
        compiled = re.compile(self.text, self.flags)
        self.__dict__.update({one: getattr(compiled, one) for one in _METHODS[1:]}, compiled=compiled)
        return self.__dict__[name]


_METHODS = ("compiled", "search", "match", "fullmatch", "finditer", "findall", "sub", "split")


try:
    from _blake2 import blake2b
except ImportError:  # CPython's own name for it, which no other Python needs to have
    from hashlib import blake2b

__all__ = ["Regex", "Value", "blake2b"]
