"""Does a secret that is passed to any interface, in any argument that takes a text, ever reach the disk?

Nothing here lists arguments: commands, tools and methods are asked for theirs, so that a new one is tested unasked.
A secret is planted in one argument at a time, the others hold what the project knows, and then every byte below the
memory and below the user's own folders is searched, SQLite's pages among them; in small letters, as indexes of words
hold them.
"""

from __future__ import annotations

import inspect
import json
import random
import string
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any

import click
import pytest

from advised_project import advised
from copied_memory import copied
from helix_cli.app import cli, run
from helix_cli.hooks.events import EVENTS
from helix_cli.mcp.dispatch import answer
from helix_cli.mcp.protocol import Server
from helix_cli.mcp.tool_declaration import tools_by_name, typed_schema
from helix_episodes.errors import HelixGraphError
from hook_calls import call

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from helix_graph import Memory

#: They serve, wait, install or write elsewhere, and keep nothing of a text.
NOT_CALLED = {
    "mcp",
    "hook",
    "setup",
    "model",
    "demo",
    "wait",
    "plugin",
    "view",
    "off",
    "on",
    "init",
    "forget",
    "doctor",
}


class Plants:
    """Secrets that are each planted once, and where."""

    def __init__(self) -> None:
        self._source = random.Random(16)  # noqa: S311  (no secrets)
        self.places: dict[str, str] = {}
        self.accepted = Counter[str]()

    def new(self, place: str) -> str:
        """A text with a token in it that exists nowhere else."""
        body = "a1B" + "".join(self._source.choice(string.ascii_letters + string.digits) for _ in range(33))
        self.places[body] = place
        return "retry the parcel service with ghp" + f"_{body} when it times out"

    def found(self, *folders: Path) -> list[str]:
        """The places whose secret is somewhere on the disk."""
        files = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
        written = b"\n".join(path.read_bytes() + path.name.encode() for path in files).lower()
        return [place for body, place in self.places.items() if body.lower().encode() in written]


@pytest.fixture
def plants() -> Plants:
    return Plants()


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Memory:
    """A project in which every command finds something to work on."""
    home, project = tmp_path / "home", tmp_path / "shop"
    home.mkdir()
    project.mkdir()
    for variable in ("HELIX_DIR", "CLAUDE_PROJECT_DIR", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("HELIX_EMBEDDING", "lexical")
    monkeypatch.chdir(project)
    (project / ".git").mkdir()
    return copied(_worked_on, project)


def _worked_on(project: Path) -> Memory:
    made = advised(project)
    made.insights.store("Number the pages of the courier from one, never from zero", ["courier"])
    made.topics.store("courier", "The courier API counts pages from one, not from zero")
    made.plans.save({"objective": "ship the parcels", "tasks": [task("001"), task("002")]})
    return made


def task(seq: str) -> dict[str, Any]:
    return {"seq": seq, "slug": f"part-{seq}", "objective": f"ship part {seq}", "verify": "pytest -q"}


def plausible(memory: Memory) -> dict[str, Any]:
    """What an argument of that name takes."""
    names = [one["name"] for one in memory.insights.recall("courier API pages", limit=5)]
    episode = memory.episodes.files()[0].stem.removeprefix("episode-")
    return {
        "name": names[0], "names": [names[0]], "from_name": names[0], "to_name": names[1], "topic": "courier",
        "episode": episode, "session": "s1", "outcome": "delivered", "action": "append", "seq": "001",
        "status": "in_progress", "detail": "full", "mode": "all", "kind": "decision", "type": "causes",
        "rel_type": "supports", "relation": "resolves", "node_type": "error", "agent_type": "helix-builder",
        "source": "a step", "target": "another step", "label": "tests fail", "task_objective": "ship it well",
        "delivered": "all of the parcels were shipped", "reason": "the courier is down",
    }  # fmt: skip


def settled(memory: Memory, plants: Plants, folder: Path) -> None:
    """What is derived from the rest is written too before anything is searched."""
    memory.graph.compile()
    assert plants.found(memory.root, folder / "home") == []


# --- the command line


def leaves(command: click.Command, context: click.Context, path: tuple[str, ...]) -> Iterator[Any]:
    if not isinstance(command, click.Group):
        yield path, command
        return
    for name in command.list_commands(context):
        if path or name not in NOT_CALLED:
            found = command.get_command(context, name)
            assert found is not None
            yield from leaves(found, click.Context(found, parent=context, info_name=name), (*path, name))


def takes_text(parameter: click.Parameter) -> bool:
    return parameter.type is click.STRING and not getattr(parameter, "is_flag", False)


def command_line(
    path: tuple[str, ...], command: click.Command, values: dict[str, Any], planted: str, text: str
) -> list[str]:
    positional, options = [], list(path)
    for parameter in command.params:
        if parameter.name != planted and not (parameter.required and takes_text(parameter)):
            continue
        value = text if parameter.name == planted else str(_one(values.get(str(parameter.name), "the courier answers")))
        if isinstance(parameter, click.Argument):
            positional.append(value)
        else:
            options += [parameter.opts[0], value]
    return [*options, "--", *positional]


def _one(value: object) -> object:
    return value[0] if isinstance(value, list) else value


@pytest.mark.slow
def test_no_argument_of_a_command_brings_a_secret_to_the_disk(
    memory: Memory, plants: Plants, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    values = plausible(memory)
    for path, command in leaves(cli, click.Context(cli), ()):
        for parameter in filter(takes_text, command.params):
            place = f"{' '.join(path)} {parameter.opts[0]}"
            line = command_line(path, command, values, str(parameter.name), plants.new(place))
            plants.accepted[place] += run(line) == 0
    capsys.readouterr()
    assert len(plants.accepted) > 90
    assert sum(plants.accepted.values()) > 40
    settled(memory, plants, tmp_path)


# --- the tools of the MCP server


def planted_values(schema: dict[str, Any], name: str, values: dict[str, Any], new: Callable[[], str]) -> Iterator[Any]:
    """The value of an argument with a secret in it, once for each text within."""
    for form in schema.get("anyOf", [schema]):
        if form.get("type") == "string" and "enum" not in form:
            yield new()
        elif form.get("type") == "array":
            yield from ([one] for one in planted_values(form["items"], name, values, new))
        elif form.get("type") == "object":
            fields = form.get("properties", {})
            for field, inner in fields.items():
                rest = {one: values.get(one, "the courier answers") for one in form.get("required", ())}
                yield from ({**rest, field: one} for one in planted_values(inner, field, values, new))


@pytest.mark.slow
def test_no_argument_of_a_tool_brings_a_secret_to_the_disk_or_is_answered_with_it(
    memory: Memory, plants: Plants, tmp_path: Path
) -> None:
    values, tools = plausible(memory), tools_by_name("all")
    repeated: list[str] = []
    for name, tool in sorted(tools.items()):
        schema = typed_schema(tool.takes)
        needed = {one: values.get(one, "the courier answers in pages") for one in schema.get("required", ())}
        for argument, form in schema["properties"].items():
            place = f"{name} {argument}"
            for value in planted_values(form, argument, values, partial(plants.new, place)):
                outcome = answer(name, {**needed, argument: value}, lambda *_: None, tools=tools)
                plants.accepted[place] += not outcome.failed
                repeated += [place for body in plants.places if body in f"{outcome.text}{outcome.values()}"]
    assert repeated == []
    assert len(plants.accepted) > 40
    assert sum(plants.accepted.values()) > 15
    settled(memory, plants, tmp_path)


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("prompts/get", {"name": "briefing", "arguments": {"task": "SECRET"}}),
        ("prompts/get", {"name": "SECRET"}),
        ("resources/read", {"uri": "helix://episode/SECRET"}),
        ("resources/read", {"uri": "helix://node/SECRET"}),
        ("resources/read", {"uri": "SECRET"}),
        ("tools/call", {"name": "SECRET", "arguments": {}}),
        ("tools/SECRET", {}),
    ],
)
def test_no_request_is_answered_with_a_secret_that_was_in_it(
    memory: Memory, plants: Plants, monkeypatch: pytest.MonkeyPatch, method: str, params: dict[str, Any]
) -> None:
    monkeypatch.chdir(memory.root.parent)
    secret = plants.new(method)
    planted = json.loads(json.dumps({"method": method, "params": params}).replace("SECRET", secret))
    said = Server("all").answer({"jsonrpc": "2.0", "id": 1, **planted}, lambda _: None)
    assert said is not None
    assert said.keys() & {"result", "error"}
    (body,) = plants.places
    assert body not in json.dumps(said)


# --- the hooks


@pytest.mark.slow
def test_no_field_of_a_hook_brings_a_secret_to_the_disk(memory: Memory, plants: Plants, tmp_path: Path) -> None:
    base = {
        "session_id": "s1", "cwd": str(memory.root.parent), "source": "startup", "tool_name": "Bash", "prompt_id": "1",
        "prompt": "the courier API times out, what page size do we ask it for", "agent_id": "a1",
        "agent_type": "helix-builder",
        "tool_input": {"command": "pytest -q"}, "tool_response": {"stdout": "ModuleNotFoundError: respx\n1 failed"},
        "error": "E ModuleNotFoundError: No module named 'respx'\n1 failed", "last_assistant_message": "done",
        "transcript_path": "/nowhere.jsonl", "agent_transcript_path": "/nowhere.jsonl",
    }  # fmt: skip
    for event in EVENTS:
        for field, value in base.items():
            if field == "cwd":
                continue
            secret = plants.new(f"{event} {field}")
            planted = (
                {key: f"{one} {secret}" for key, one in value.items()}
                if isinstance(value, dict)
                else f"{value} {secret}"
            )
            done = call(event, {**base, "session_id": f"{event} {field}", field: planted})
            plants.accepted[event] += done.code == 0
    assert set(plants.accepted) == set(EVENTS)
    with memory.insights.database.reading() as connection:
        shown = connection.execute("SELECT count(*) FROM insight_injection").fetchone()[0]
    assert shown > 5  # the hooks did recall, which is what they record
    settled(memory, plants, tmp_path)
    run(["insight", "export", "--output", str(tmp_path / "home" / "export.jsonl")])
    assert plants.found(tmp_path / "home") == []


# --- the library


def texts_of(method: Callable[..., Any]) -> Iterator[str]:
    for name, parameter in inspect.signature(method).parameters.items():
        if "str" in str(parameter.annotation) or "Any" in str(parameter.annotation):
            yield name


@pytest.mark.parametrize("part", ["insights", "topics", "plans", "graph", "episodes"])
def test_no_argument_of_a_method_brings_a_secret_to_the_disk(
    part: str, memory: Memory, plants: Plants, tmp_path: Path
) -> None:
    values, asked = plausible(memory), getattr(memory, part)
    if part == "episodes":
        values["name"] = values["episode"]
    for name in sorted(dir(asked)):
        method = getattr(asked, name)
        if name.startswith(("_", "wait")) or not inspect.ismethod(method):
            continue
        for argument in texts_of(method):
            if "path" in argument or argument in ("logs", "folder"):
                continue
            secret = plants.new(f"{part}.{name} {argument}")
            plants.accepted[name] += _is_accepted(method, values, argument, secret)
    assert sum(plants.accepted.values()) > 1
    settled(memory, plants, tmp_path)


def _is_accepted(method: Callable[..., Any], values: dict[str, Any], planted: str, secret: str) -> bool:
    parameters = inspect.signature(method).parameters
    needed = {
        name: values.get(name, "the courier answers in pages")
        for name, one in parameters.items()
        if one.default is one.empty and one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)
    }
    kind = str(parameters[planted].annotation)
    value: Any = [secret] if "Iterable" in kind or "Sequence" in kind or "tuple" in kind else secret
    if "Mapping" in kind or "dict" in kind:
        value = {"objective": secret, "note": [secret], secret: 1, "tasks": [{**task("001"), "objective": secret}]}
    try:
        method(**{**needed, planted: value})
    except (HelixGraphError, TypeError, AttributeError, ValueError, KeyError):
        return False
    return True


def test_what_is_written_in_json_is_read_again(memory: Memory) -> None:
    secret = "ghp" + "_" + "a1B2c3D4e5F6" * 3
    memory.plans.save({"objective": f"use {secret}", "tasks": [{**task("001"), "objective": f'say "{secret}" twice'}]})
    plan = memory.plans.load()
    assert plan is not None
    assert json.loads(json.dumps(plan.objective)) == "use [redacted:github-token]"
    assert plan.tasks[0].objective == 'say "[redacted:github-token]" twice'
