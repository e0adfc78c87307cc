"""How a tool is declared, and which are offered: one typed function each, whose docstring is the description.

>>> @tool(title="Greet", effect="reads")
... def greet(memory, name: Annotated[str, Meta(description="Whom.")], *, loudly: bool = False):
...     '''Says hello.'''
...     return f"hello {name}"
>>> sorted(input_schema(greet)["properties"])
['cursor', 'loudly', 'max_tokens', 'name']

The first parameter is the memory; one that is called ``progress`` is not an argument but tells the client how far the
call is. What a tool returns is the text of its answer. There is no structured form of it: some clients show a model
nothing else of an answer that has one, and JSON does not mark what others wrote. A tool whose answer has a page
(``page=True``) returns `Answered`: clients that show pages get the value beside the text, where no model sees it.

A tool that ``shows="module:function"`` of the commands returns the library's answer, and the function renders it as the
command does. It is loaded when the tool is called, since the list of tools has to come fast.

Annotations are needed at run time, so the files of tools do without ``from __future__ import annotations``.

Where arguments are refused, the answer says which one, what came, and what it may be: the check itself speaks of
JSON types and paths, which say little to an agent that has to send something else.

>>> allowed({"type": "string", "enum": ["and", "or"]})
'one of and, or'
"""

import re
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, Protocol

import msgspec
from msgspec import Meta

from helix_episodes.errors import InvalidArgument
from helix_episodes.msgspec_types import ready

if TYPE_CHECKING:
    from pathlib import Path

    from helix_graph import Memory


#: ``reads`` changes nothing; ``adds`` only ever adds; ``sets`` comes to the same when it is called twice;
#: ``removes`` may take away what is there.
Effect = Literal["reads", "adds", "sets", "removes"]

#: What a server offers, in the order in which an agent should meet the tools: files of `tools/`. `topics` are the seven
#: that the seed names, and no others of their files.
_FILES = {
    "default": ("everyday",),
    "topics": ("everyday", "topics"),
    "all": ("everyday", "causal", "insights", "topics", "patterns_and_explanations", "memory"),
}
#: The tools that the seed names, with its parameters.
TOPIC_TOOLS = ("store", "batch", "search", "brief", "read", "edit", "topics")
#: The longest list that a call may bring: each of its items costs a look into the memory.
MOST_ITEMS = 1000
TextList = Annotated[list[str], Meta(max_length=MOST_ITEMS)]
#: A list, or a text that holds one: as JSON, or with commas.
Texts = str | TextList
Share = Annotated[float, Meta(ge=0, le=1)]
Few = Annotated[int, Meta(ge=1, le=100, description="Most results.")]
EpisodeName = Annotated[
    str, Meta(min_length=1, max_length=300, description="A session's id or its episode's, as `list_episodes` shows.")
]
Topic = Annotated[str, Meta(min_length=1, description="The topic's name; case and blanks do not matter.")]
EntryText = Annotated[str, Meta(description="Its text; several lines are fine.")]
EntryTags = Annotated[Texts, Meta(description="'gotcha, p0'; without any, the text's beginning may give one.")]
EntrySource = Annotated[str | None, Meta(description="Where it comes from: 'src/cache.rs:42'.")]
EntryConfidence = Annotated[Share | None, Meta(description="How sure it is (1); less ranks lower.")]
EntryLinks = Annotated[Texts, Meta(description="Entries it refers to: 'other-topic:3 another:0'.")]

#: An answer has at most this many tokens unless a call asks for more; clients warn of results from 10,000 on.
MOST_TOKENS = 800
_LARGEST_ANSWER = 10_000
#: The arguments of every tool whose answer may be long, beside its own.
_OF_LONG_ANSWERS: tuple[tuple[str, Any, Any], ...] = (
    ("cursor", Annotated[str, Meta(description="For the rest of a cut answer.")], ""),
    (
        "max_tokens",
        Annotated[int, Meta(ge=100, le=_LARGEST_ANSWER, description="Longest answer.")],
        MOST_TOKENS,
    ),
)


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

    def advance(self, done: int, total: int, file: "Path") -> None:
        """``done`` of ``total`` files are done, and ``file`` is next."""
        self._total = total
        self._progress(done, total, file.name)

    def end(self) -> None:
        """All of them are."""
        self._progress(self._total, self._total, "done")


class Arguments(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a tool takes; an argument that it does not know is refused, since it would be left out unnoticed."""


#: What is checked of a call with a cursor.
PartArguments = msgspec.defstruct("PartArguments", _OF_LONG_ANSWERS, bases=(Arguments,), frozen=True, kw_only=True)


class Answered(NamedTuple):
    """The text of an answer, and the value that it says."""

    text: str
    value: msgspec.Struct | None = None


class Tool(msgspec.Struct, frozen=True, kw_only=True):
    """One tool. ``takes`` are its arguments as a type; ``long`` says that its answer may need several parts.

    ``page`` says that its answer has a page, for clients that show one.
    """

    name: str
    title: str
    description: str
    effect: Effect
    takes: type[msgspec.Struct]
    long: bool
    page: bool
    shows: str
    run: Callable[..., object]

    def answer(self, memory: "Memory", **asked: object) -> Answered:
        """What it answers to arguments that have been checked."""
        found = self.run(memory, **asked)
        if self.shows:
            from helix_cli.output import rendered

            module, _, render = self.shows.partition(":")
            text = rendered(found, getattr(import_module(f"helix_cli.commands.{module}"), render))
            return Answered(text, found if self.page and isinstance(found, msgspec.Struct) else None)
        return found if isinstance(found, Answered) else Answered(str(found))

    @property
    def tells_progress(self) -> bool:
        """Whether it reports how far it is."""
        return "progress" in self.run.__annotations__


def tool(
    *, title: str, effect: Effect, shows: str = "", long: bool | None = None, name: str = "", page: bool = False
) -> Callable[[Callable[..., object]], Tool]:
    """Makes a tool of a function; its answer may be ``long`` where it reads, unless said otherwise."""

    def declare(run: Callable[..., object]) -> Tool:
        is_long = effect == "reads" if long is None else long
        called = name or run.__name__
        takes = msgspec.defstruct(
            called,
            [*_fields(run), *(_OF_LONG_ANSWERS if is_long else ())],
            bases=(Arguments,),
            frozen=True,
            kw_only=True,
        )
        return Tool(
            name=called,
            title=title,
            description=" ".join((run.__doc__ or "").split()),
            effect=effect,
            takes=takes,
            long=is_long,
            page=page,
            shows=shows,
            run=run,
        )

    return declare


@cache
def tools_by_name(chosen: str) -> Mapping[str, Tool]:
    """The tools of a set by their names, in the order of the list that clients get."""
    modules = (import_module(f"helix_cli.mcp.tools.{name}") for name in _FILES[chosen])
    found = {one.name: one for module in modules for one in vars(module).values() if isinstance(one, Tool)}
    return {name: found[name] for name in TOPIC_TOOLS} if chosen == "topics" else found


def _fields(run: Callable[..., object]) -> list[Any]:
    """The parameters of a function, without the memory and the progress: name, type and default of each."""
    code = run.__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    defaults = run.__defaults__ or ()
    known = {
        **dict(zip(names[code.co_argcount - len(defaults) :], defaults, strict=False)),
        **(run.__kwdefaults__ or {}),
    }
    types = run.__annotations__
    return [(name, types[name], *([known[name]] if name in known else [])) for name in names[1:] if name != "progress"]


def declaration_of(tool: Tool, served: Mapping[str, Tool], *, page: str = "") -> dict[str, Any]:
    """A tool as clients see it, without the sentences of its description that name a tool which is not ``served``.

    ``page`` is the address of the page for answers, where the client shows one.
    """
    sentences = tool.description.replace(". ", ".\n").split("\n")
    return {
        "name": tool.name,
        "title": tool.title,
        "description": " ".join(one for one in sentences if {*one.split("`")[1::2]} <= served.keys()),
        "inputSchema": input_schema(tool),
        "annotations": {
            "title": tool.title,
            "readOnlyHint": tool.effect == "reads",
            "destructiveHint": tool.effect == "removes",
            "idempotentHint": tool.effect in {"reads", "sets"},
            "openWorldHint": False,
        },
        **({"_meta": {"ui": {"resourceUri": page}}} if page and tool.page else {}),
    }


def input_schema(tool: Tool) -> dict[str, Any]:
    """The JSON schema of a tool's arguments: an object at its root and no references, as all clients understand it.

    Every tool takes strings for numbers and truth values, and null as not sent. The schema says so of the seed's tools
    alone, whose clients send strings and may check their calls: it costs tokens.
    """
    schema = typed_schema(tool.takes)
    admitted: dict[str, Any] = _each_object(schema, _admitting_strings) if tool.name in TOPIC_TOOLS else schema
    return admitted


def typed_schema(takes: type[msgspec.Struct]) -> dict[str, Any]:
    """The same with the types that are meant, and no strings in their place."""
    schema = msgspec.json.schema(takes, ref_template="#/$defs/{name}")
    definitions: dict[str, Any] = schema.get("$defs", {})
    own = definitions.pop(schema["$ref"].rpartition("/")[2])
    terse: dict[str, Any] = _each_object(_inlined(own, definitions), _terse)
    return terse


def as_texts(name: str, value: str | list[str]) -> list[str]:
    """The texts of a list, however it was sent.

    >>> as_texts("tags", "ci, pytest") == as_texts("tags", '["ci", "pytest"]')
    True

    Raises:
        InvalidArgument: It begins like JSON and is not valid JSON, or the list is too long.
    """
    if not isinstance(value, str):
        return value
    if value.lstrip().startswith("["):
        try:
            texts = msgspec.json.decode(value, type=ready(list[str]))
        except msgspec.DecodeError as error:
            raise InvalidArgument(None, f'{name} is not a list of texts; give one such as ["one", "two"]') from error
    else:
        texts = [one.strip() for one in value.split(",") if one.strip()]
    if len(texts) > MOST_ITEMS:
        raise InvalidArgument(None, f"{name} has {len(texts)} texts; give at most {MOST_ITEMS}")
    return texts


def without_nulls(value: Any) -> Any:  # noqa: ANN401  (JSON)
    """Arguments without nulls, also within the items of lists."""
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
