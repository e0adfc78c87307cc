"""Why arguments are refused, in the words of whoever sent them: which one, what came, and what it may be.

The check itself speaks of JSON types and paths, which say little to an agent that has to send something else.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import msgspec

_PLACE = re.compile(r" - at `(?:key in )?\$([^`]*)`$")
_STEP = re.compile(r"\.([^.\[]+)|\[(\d+)\]")
_FIELD = re.compile(r"Object (contains unknown|missing required) field `([^`]*)`")
#: So much of what came is shown: it is the sender's own.
_SHOWN = 80
_NOUNS = {"integer": "a whole number", "number": "a number", "boolean": "true or false", "object": "an object"}


def problem_of(error: msgspec.ValidationError, given: Any, schema: Mapping[str, Any], *, at: str = "") -> str:  # noqa: ANN401  (JSON)
    """The sentence for an error of the check of ``given`` against ``schema``, which stands ``at`` that argument."""
    message = str(error)
    place = _PLACE.search(message)
    steps = list(_steps(place[1])) if place else []
    name = at + (place[1] if place else "")
    shape, value = _followed(schema, given, steps)
    if field := _FIELD.match(message):
        return _of_fields(field, within=name.lstrip("."), shape=shape)
    return f"{name.lstrip('.') or 'it'} is {_shown(value)}; it must be {allowed(shape)}"


def takes(schema: Mapping[str, Any]) -> str:
    """The arguments of an object's schema, in one line."""
    required = schema.get("required", ())
    names = [name + ("" if name in required else " (optional)") for name in schema.get("properties", {})]
    return f"it takes {', '.join(names) or 'no arguments'}"


def allowed(schema: Mapping[str, Any]) -> str:
    """What a value of the schema may be.

    >>> allowed({"type": "integer", "minimum": 1, "maximum": 100}), allowed({"type": "string", "enum": ["and", "or"]})
    ('a whole number from 1 to 100', 'one of and, or')
    """
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(map(allowed, schema["anyOf"])))
    if "enum" in schema:
        return f"one of {', '.join(schema['enum'])}"
    kind = schema.get("type")
    if kind == "array":
        return "a list" + (" of texts" if schema.get("items", {}).get("type") == "string" else "")
    if kind == "string":
        return _text(schema)
    return _NOUNS.get(str(kind), "a value") + _span(schema.get("minimum"), schema.get("maximum"))


def _of_fields(field: re.Match[str], *, within: str, shape: Mapping[str, Any]) -> str:
    where = f" of {within}" if within else ""
    if field[1] == "missing required":
        return f"{field[2]}{where} is missing; {takes(shape)}"
    return f"there is no argument {field[2]!r}{where}; {takes(shape)}"


def _steps(path: str) -> Iterator[str | int]:
    for name, place in _STEP.findall(path):
        yield int(place) if place else name


def _followed(shape: Mapping[str, Any], value: Any, steps: list[str | int]) -> tuple[Mapping[str, Any], Any]:  # noqa: ANN401  (JSON)
    """The part of a schema and of a value that a path leads to."""
    for step in steps:
        value = value[step]
        if isinstance(step, str):
            shape = shape["properties"][step]
        else:
            shape = next(one["items"] for one in shape.get("anyOf", [shape]) if "items" in one)
    return shape, value


def _text(schema: Mapping[str, Any]) -> str:
    if "pattern" in schema:
        return f"a text that matches {schema['pattern']}"
    shortest, longest = schema.get("minLength"), schema.get("maxLength")
    return "a text" + (f"{_span(shortest, longest)} characters long" if shortest or longest else "")


def _span(lowest: float | None, highest: float | None) -> str:
    parts = ((" from ", " of at least ", lowest), (" to ", " of at most ", highest))
    both = lowest is not None and highest is not None
    return "".join((inner if both else alone) + str(bound) for inner, alone, bound in parts if bound is not None)


def _shown(value: object) -> str:
    text = {True: "true", False: "false"}[value] if isinstance(value, bool) else repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
