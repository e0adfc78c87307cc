"""Frozen values for what a hook loads.

An agent waits for a hook at every tool call. msgspec takes 40 ms to load; ``typing`` with a named tuple takes 8, and
every further one half a millisecond. Where a value never leaves the program, and so needs none of what msgspec checks
and encodes, this takes nothing.

>>> class Place(Value):
...     path: str
...     line: int = 1
>>> Place("cart.py")
Place(path='cart.py', line=1)
>>> Place("cart.py")._replace(line=7).line
7
"""

from __future__ import annotations

TYPE_CHECKING = False  # as the standard library has it where loading `typing` would take too long
if TYPE_CHECKING:
    from typing import Any, Never, Self, dataclass_transform
else:

    def dataclass_transform(**_):  # noqa: ANN201, ANN003  (checkers read the other)
        """What tells type checkers that classes derived from one have fields."""
        return lambda value: value


@dataclass_transform(frozen_default=True)
class Value:
    """What has the fields that its class annotates, each given or its default; equal when all fields are."""

    _fields: tuple[str, ...] = ()
    _required: frozenset[str] = frozenset()

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls._fields = tuple(cls.__annotations__)
        cls._required = frozenset(name for name in cls._fields if not hasattr(cls, name))

    def __init__(self, *values: Any, **named: Any) -> None:  # noqa: ANN401  (whatever the fields hold)
        given = {**dict(zip(self._fields, values, strict=False)), **named}
        if len(given) != len(values) + len(named) or not self._required <= given.keys() <= set(self._fields):
            message = f"the fields of {type(self).__name__} are {', '.join(self._fields)}; given: {', '.join(given)}"
            raise TypeError(message)
        self.__dict__.update(given)

    def _asdict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self._fields}

    def _replace(self, **changes: Any) -> Self:  # noqa: ANN401  (as above)
        """The same with other values in some fields."""
        return type(self)(**{**self._asdict(), **changes})

    def __setattr__(self, name: str, value: object) -> Never:
        message = f"{type(self).__name__} is frozen"
        raise AttributeError(message)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and isinstance(other, Value) and other._asdict() == self._asdict()

    def __hash__(self) -> int:
        return hash((type(self), *self._asdict().values()))

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={value!r}" for name, value in self._asdict().items())
        return f"{type(self).__name__}({fields})"
