"""Why arguments are refused, in an agent's words: which one, what came, and what it may be.

The check itself speaks of JSON types and paths, which say little to an agent that has to send something else.

>>> allowed({"type": "string", "enum": ["and", "or"]})
'one of and, or'
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    import msgspec


_PLACE = re.compile(r" - at `(?:key in )?\$([^`]*)`$")
_STEP = re.compile(r"\.([^.\[]+)|\[(\d+)\]")
_FIELD = re.compile(r"Object (contains unknown|missing required) field `([^`]*)`")
#: So much of what came is shown: it is the sender's own.
_SHOWN = 80
_NOUNS = {"integer": "a whole number", "number": "a number", "boolean": "true or false", "object": "an object"}


def problem_of(error: msgspec.ValidationError, value: Any, schema: Mapping[str, Any], *, at: str = "") -> str:  # noqa: ANN401  (JSON)
    """The sentence for an error of the check of ``value`` against ``schema``, which is ``at`` that argument."""
    message = str(error)
    place = _PLACE.search(message)
    steps = [int(index) if index else name for name, index in _STEP.findall(place[1])] if place else []
    name = at + (place[1] if place else "")
    shape, found = _followed(schema, value, steps)
    if field := _FIELD.match(message):
        within = name.lstrip(".")
        where = f" of {within}" if within else ""
        if field[1] == "missing required":
            return f"{field[2]}{where} is missing; {takes(shape)}"
        return f"there is no argument {field[2]!r}{where}; {takes(shape)}"
    text = str(found).lower() if isinstance(found, bool) else repr(found)
    shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
    return f"{name.lstrip('.') or 'it'} is {shown}; it must be {allowed(shape)}"


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
        texts = ["texts"] if schema.get("items", {}).get("type") == "string" else []
        most = [f"at most {schema['maxItems']}"] if "maxItems" in schema else []
        return " ".join(["a list", *(["of", *most, *texts] if most or texts else [])])
    if kind == "string":
        if "pattern" in schema:
            return f"a text that matches {schema['pattern']}"
        shortest, longest = schema.get("minLength"), schema.get("maxLength")
        return "a text" + (f"{_span(shortest, longest)} characters long" if shortest or longest else "")
    return _NOUNS.get(str(kind), "a value") + _span(schema.get("minimum"), schema.get("maximum"))


def _followed(shape: Mapping[str, Any], value: Any, steps: list[str | int]) -> tuple[Mapping[str, Any], Any]:  # noqa: ANN401  (JSON)
    """The part of a schema and of a value that a path leads to."""
    for step in steps:
        value = value[step]
        if isinstance(step, str):
            shape = shape["properties"][step]
        else:
            shape = next(one["items"] for one in shape.get("anyOf", [shape]) if "items" in one)
    return shape, value


def _span(lowest: float | None, highest: float | None) -> str:
    parts = ((" from ", " of at least ", lowest), (" to ", " of at most ", highest))
    both = lowest is not None and highest is not None
    return "".join((inner if both else alone) + str(bound) for inner, alone, bound in parts if bound is not None)
