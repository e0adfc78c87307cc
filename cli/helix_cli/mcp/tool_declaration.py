"""How a tool is declared (arguments, answer, when to use it, what it may change), and the JSON schema of its arguments.

>>> class Greeting(Arguments, frozen=True, kw_only=True):
...     name: str
>>> @tool("greet", title="Greet", takes=Greeting, effect="reads")
... def greet(memory, asked, progress):
...     '''Says hello.'''
...     return Reply(None, f"hello {asked.name}")
>>> input_schema(greet)["properties"], input_schema(greet)["additionalProperties"]
({'name': {'type': 'string'}}, False)

An answer is text alone. Some clients show a model only the structured form of an answer that has one, and JSON does not
mark what others wrote.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Annotated, Any, Literal, Protocol

import msgspec
from msgspec import Meta

from helix_cli.output import rendered

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from helix_cli.output import Answer
    from helix_graph import Memory


EpisodeName = Annotated[
    str, Meta(min_length=1, max_length=300, description="A session's id or its episode's, as `list_episodes` shows.")
]


#: The longest list that a call may bring: a call holds up what the session does next, and each of its items costs a
#: look into the memory.
MOST_ITEMS = 1000
TextList = Annotated[list[str], Meta(max_length=MOST_ITEMS)]


#: ``reads`` changes nothing; ``adds`` only ever adds; ``sets`` comes to the same when it is called twice;
#: ``removes`` may take away what is there.
Effect = Literal["reads", "adds", "sets", "removes"]


class Progress(Protocol):
    """Tells the client how far a long call has come."""

    def __call__(self, done: int, total: int, message: str) -> None:
        """``done`` of ``total`` parts are done."""
        ...


class ProgressSteps:
    """The progress of a call that works through files and does not say when it is through."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._total = 1

    def advance(self, done: int, total: int, file: Path) -> None:
        """``done`` of ``total`` files are done, and ``file`` is next."""
        self._total = total
        self._progress(done, total, file.name)

    def end(self) -> None:
        """All of them are."""
        self._progress(self._total, self._total, "done")


class Arguments(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a tool takes; an argument that it does not know is refused, since it would be left out unnoticed."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a tool gives: the text for the agent that asked. Of the library's answer only its advice is used besides."""

    value: Any
    text: str


def answered(found: Answer, render: Callable[[Answer], object]) -> Reply:
    """The answer of the library, and the words in which its command prints it."""
    return Reply(found, rendered(found, render))


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One tool."""

    name: str
    title: str
    description: str
    takes: type[Arguments]
    run: Callable[[Memory, Any, Progress], Reply]
    effect: Effect


def tool(
    name: str, *, title: str, takes: type[Arguments], effect: Effect
) -> Callable[[Callable[[Memory, Any, Progress], Reply]], Tool]:
    """Makes a tool of a function, whose docstring is the description that clients show their models."""

    def declare(run: Callable[[Memory, Any, Progress], Reply]) -> Tool:
        description = " ".join((run.__doc__ or "").split())
        return Tool(name=name, title=title, description=description, takes=takes, run=run, effect=effect)

    return declare


def input_schema(tool: Tool) -> dict[str, Any]:
    """The JSON schema of a tool's arguments: an object at its root and no references, as all clients understand it.

    Numbers and truth values may come as strings, and clients that check calls must let them through. That null counts
    as not sent is not stated: it would double the schema of every optional argument.
    """
    admitted: dict[str, Any] = _each_object(typed_schema(tool.takes), _admitting_strings)
    return admitted


def typed_schema(takes: type[Arguments]) -> dict[str, Any]:
    """The same with the types that are meant, and no strings in their place."""
    schema, definitions = _parts_of(takes)
    terse: dict[str, Any] = _each_object(_inlined(schema, definitions), _terse)
    return terse


def without_nulls(value: Any) -> Any:  # noqa: ANN401  (JSON)
    """Arguments without those that are null, also within the items of lists."""
    if isinstance(value, dict):
        return {key: without_nulls(one) for key, one in value.items() if one is not None}
    return [without_nulls(one) for one in value] if isinstance(value, list) else value


#: How a string has to look that comes in the place of a number or a truth value.
_AS_STRING = {
    "integer": {"type": "string", "pattern": "^-?[0-9]+$"},
    "number": {"type": "string", "pattern": "^-?[0-9]+([.][0-9]+)?$"},
    "boolean": {"type": "string", "enum": ["true", "false"]},
}
#: What is said of an argument and not of its type.
_OF_ARGUMENT = ("description", "default")


def _admitting_strings(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema of a number or truth value, or of a string that says one; any other as it is."""
    kind = schema.get("type")
    if not isinstance(kind, str) or kind not in _AS_STRING:
        return schema
    typed = {key: one for key, one in schema.items() if key not in _OF_ARGUMENT}
    said = {key: schema[key] for key in _OF_ARGUMENT if key in schema}
    return {**said, "anyOf": [typed, _AS_STRING[kind]]}


def _each_object(schema: Any, change: Callable[[dict[str, Any]], dict[str, Any]]) -> Any:  # noqa: ANN401  (JSON)
    """The schema with every object in it changed, the inner before the outer."""
    if isinstance(schema, list):
        return [_each_object(one, change) for one in schema]
    if not isinstance(schema, dict):
        return schema
    return change({key: _each_object(one, change) for key, one in schema.items()})


def _parts_of(type_: Any) -> tuple[dict[str, Any], dict[str, Any]]:  # noqa: ANN401  (any type that msgspec knows)
    """A struct's own schema, and those that it refers to."""
    schema = msgspec.json.schema(type_, ref_template="#/$defs/{name}", schema_hook=_of_other_types)
    definitions: dict[str, Any] = schema.get("$defs", {})
    name = schema["$ref"].rpartition("/")[2]
    return definitions[name], {key: value for key, value in definitions.items() if key != name}


def _inlined(schema: dict[str, Any], definitions: dict[str, Any]) -> Any:  # noqa: ANN401  (JSON)
    """With what is referred to in the place of the reference; arguments do not hold themselves."""

    def inline(one: dict[str, Any]) -> dict[str, Any]:
        if "$ref" not in one:
            return one
        referred = _inlined(definitions[one.pop("$ref").rpartition("/")[2]], definitions)
        return {**referred, **one}

    return _each_object(schema, inline)


def _terse(schema: dict[str, Any]) -> dict[str, Any]:
    """Without what a client can do without: titles and docstrings of structs, nulls, and defaults that say nothing."""
    dropped = {"title", "description"} if "properties" in schema else set()
    if "default" in schema and schema["default"] in (None, "", False, []):
        dropped = {*dropped, "default"}
    return _without_null({key: value for key, value in schema.items() if key not in dropped})


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    if "enum" in schema:
        return {"type": "string", **schema, "enum": [one for one in schema["enum"] if one is not None]}
    if "anyOf" not in schema:
        return schema
    others = [one for one in schema["anyOf"] if one != {"type": "null"}]
    rest = {key: value for key, value in schema.items() if key != "anyOf"}
    return {**others[0], **rest} if len(others) == 1 else {**rest, "anyOf": others}


def _of_other_types(type_: type) -> dict[str, Any]:
    if issubclass(type_, PurePath):
        return {"type": "string"}
    raise NotImplementedError(type_)
