"""How a tool is declared: what it takes, what it gives, when to use it, and what it may change.

>>> from typing import Annotated
>>> class Greeting(Arguments, frozen=True, kw_only=True):
...     name: Annotated[str, msgspec.Meta(description="Whom to greet.")]
>>> class Greeted(msgspec.Struct, frozen=True):
...     words: str
>>> greet = Tool(
...     name="greet", title="Greet", description="Says hello.", takes=Greeting, gives=Greeted,
...     run=lambda memory, asked, progress: Reply(Greeted(f"hello {asked.name}"), "hello"), effect="reads",
... )
>>> input_schema(greet)["properties"]["name"]["type"], input_schema(greet)["additionalProperties"]
('string', False)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable

    from helix_graph import Memory

#: ``reads`` changes nothing; ``adds`` only ever adds; ``sets`` comes to the same when it is called twice;
#: ``removes`` may take away what is there.
Effect = Literal["reads", "adds", "sets", "removes"]


class Progress(Protocol):
    """Tells the client how far a long call has come."""

    def __call__(self, done: int, total: int, message: str) -> None:
        """``done`` of ``total`` parts are done."""
        ...


class Arguments(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a tool takes; an argument that it does not know is refused, since it would be left out unnoticed."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a tool gives: a value for programs, and the same in words for the agent that asked."""

    value: Any
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One tool. ``gives`` is the type of the reply's value, a struct."""

    name: str
    title: str
    description: str
    takes: type[Arguments]
    gives: Any
    run: Callable[[Memory, Any, Progress], Reply]
    effect: Effect


def input_schema(tool: Tool) -> dict[str, Any]:
    """The JSON schema of a tool's arguments, with an object at its root as clients want it."""
    schema: dict[str, Any] = _schema(tool.takes)
    return schema


def output_schema(tool: Tool) -> dict[str, Any]:
    """The JSON schema of a tool's structured content. Its root may hold more: what was left out of a long answer."""
    schema: dict[str, Any] = _schema(tool.gives)
    return schema


def _schema(type_: Any) -> Any:  # noqa: ANN401  (any type that msgspec knows; JSON)
    """A type's schema with its first reference put in place: some clients skip a tool without ``type`` at the root."""
    schema = msgspec.json.schema(type_, ref_template="#/$defs/{name}", schema_hook=_of_other_types)
    definitions = schema.pop("$defs", {})
    reference = schema.pop("$ref", None)
    if reference is not None:
        name = reference.rpartition("/")[2]
        schema = {**definitions[name], **schema}
        if not _mentions(schema, reference) and not _mentions(definitions, reference):
            definitions = {key: value for key, value in definitions.items() if key != name}
    return _terse({**schema, "$defs": definitions} if definitions else schema)


def _terse(schema: Any) -> Any:  # noqa: ANN401  (JSON)
    """Without the titles and descriptions of structs: those are for maintainers, and every client reads all of it."""
    if isinstance(schema, list):
        return [_terse(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    dropped = {"title", "description"} if "properties" in schema and schema.get("type") == "object" else set()
    return {key: _terse_members(key, value) for key, value in schema.items() if key not in dropped}


def _terse_members(key: str, value: Any) -> Any:  # noqa: ANN401  (JSON)
    """What stands under ``properties`` and ``$defs`` are names, not keywords."""
    if key in {"properties", "$defs"}:
        return {name: _terse(one) for name, one in value.items()}
    return _terse(value)


def _mentions(schema: object, reference: str) -> bool:
    if isinstance(schema, dict):
        return schema.get("$ref") == reference or any(_mentions(value, reference) for value in schema.values())
    return isinstance(schema, list) and any(_mentions(value, reference) for value in schema)


def _of_other_types(type_: type) -> dict[str, Any]:
    from pathlib import PurePath  # noqa: PLC0415  (schemas are made once)

    if issubclass(type_, PurePath):
        return {"type": "string"}
    raise NotImplementedError(type_)
