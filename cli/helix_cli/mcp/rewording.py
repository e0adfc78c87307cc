"""What an agent reads about its arguments and next steps, in the words of the tools.

Why arguments are refused: which one, what came, and what it may be. The check itself speaks of JSON types and paths,
which say little to an agent that has to send something else.

Advice of the library names commands and their options, which an agent does not have here; it becomes advice to call a
tool. Only what the library itself says is reworded, never stored text. What no tool does (`init`) keeps its command.

>>> in_tools_words("the graph has not been compiled yet; run `helix-graph sync`")
'the graph has not been compiled yet; call `compile`'
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
    return f"{name.lstrip('.') or 'it'} is {_shown(found)}; it must be {allowed(shape)}"


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


def _shown(value: object) -> str:
    text = {True: "true", False: "false"}[value] if isinstance(value, bool) else repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


#: Commands and options, and what says the same of tools. The longer form of two comes first.
_FORMS = (
    (r"run `helix-graph sync`(?! in)", "call `compile`"),
    (r"Next: helix-graph sync", "Next: call `compile`"),
    (r"`helix-graph (?:episode|sessions) list`", "`list_episodes`"),
    (r"`helix-graph episode show \S+`", "`show_episode`"),
    (r"`helix-graph insight recall WORDS`", "`recall`"),
    (r"`helix-graph insight reindex` makes them", "people make them"),
    (r"`helix-graph insight uplift` shows what is known so far", "ask again when there are more"),
    (r"`helix-graph (status|patterns|anti-patterns|compile|extract)`", lambda found: f"`{found[1].replace('-', '_')}`"),
    (r"; `helix-graph model install --from DIR` copies [^;]*", ""),
    (r"`helix-graph model status` says how to get one", "leave semantic_only out to compare words"),
    (r"`helix-graph model install` (gets one|\S+ \S+)", "people can install one"),
    (r"`topic topics stats --detail tags`", "`topics` with action stats and detail tags"),
    (r"`topic topics`", "`topics`"),
    (r"`topic topics (\w+)`", r"`topics` with action \1"),
    (r"`topic (\w+)`", r"`\1`"),
    (r", which -v lists\b", ""),
    (r"; --format NAME reads it as one of them all the same", ""),
    (r"; use --force to replace it, or --output for another folder", "; people can replace it"),
    (r" \(--force would record less than is known\)", ""),
    (r"; --force brings it back", "; people can bring it back"),
    (r"; --project any takes it in", "; people can take it in"),
    (r"--(semantic-only|lexical-only|dry-run|min-relevance)\b", lambda found: found[1].replace("-", "_")),
    (r"^TEXT is empty", "text is empty"),
)
_RULES = tuple((re.compile(form), words) for form, words in _FORMS)
#: Where an answer advises; everything else in it may be somebody's text.
_ADVICE = frozenset({"hint", "note", "problem", "error", "reason"})
#: The last line of reports that have a next step.
_NEXT = re.compile(r"Next: helix-graph sync$", re.MULTILINE)


def in_tools_words(sentence: str) -> str:
    """A sentence of the library, such as that of an error."""
    for form, words in _RULES:
        sentence = form.sub(words, sentence)
    return sentence


def answer_in_tools_words(value: Any, text: str) -> str:  # noqa: ANN401  (JSON)
    """The text of an answer, with the advice that the answer holds in other words."""
    for sentence in _advice_in(value):
        text = text.replace(sentence, in_tools_words(sentence))
    return _NEXT.sub("Next: call `compile`", text)


def _advice_in(value: Any, *, advises: bool = False) -> Iterator[str]:  # noqa: ANN401  (JSON)
    """The texts where an answer advises."""
    if isinstance(value, str):
        yield from [value] if advises and value else []
    elif isinstance(value, dict):
        for key, one in value.items():
            yield from _advice_in(one, advises=key in _ADVICE)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _advice_in(one, advises=advises)
