"""What clients are told of the tools before they call one: names, hints, schemas, sizes; and the docs."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]  # its stubs are one more package

from helix_cli.mcp.pagination import AnswerCache, fitted_text, parts_of
from helix_cli.mcp.server import INSTRUCTIONS, build, described
from helix_cli.mcp.tool_declaration import Tool, input_schema
from helix_cli.mcp.tools import tools_by_name

TOOLS = tools_by_name()
DOCS = Path(__file__).parents[1] / "docs" / "reference"
SEED = {
    "store": {"topic", "text", "tags", "source", "confidence", "links", "force", "terse"},
    "batch": {"entries"},
    "search": {"query", "detail", "limit", "after", "before", "days", "hours", "tag", "topic", "mode"},
    "brief": {"query", "detail", "since", "focus", "compact"},
    "read": {"topic", "index"},
    "edit": {"action", "topic", "text", "index", "match_str", "tag", "tags", "remove", "all", "new_name", "into"},
    # `apply` is ours: what prune would remove is shown first
    "topics": {"action", "topic", "days", "hours", "detail", "index", "match_str", "focus", "json", "refresh", "apply"},
}
#: Short lines around one that is longer than a part, as an export of one entry has them.
EXPORT = "[\n" + "x" * 50_000 + "\n]"
#: What each tool does to what is kept, said once more by hand.
ADDS = {"store", "batch", "remember", "feedback"}
SETS = {"relate", "extract", "compile"}
REMOVES = {"edit", "topics"}


@pytest.mark.parametrize("name", SEED)
def test_the_seeds_tools_have_the_seeds_parameters(name: str) -> None:
    assert set(input_schema(TOOLS[name])["properties"]) == SEED[name]


def test_there_are_no_more_tools_than_an_agent_can_bear() -> None:
    assert 25 <= len(TOOLS) <= 28
    listed = [one.model_dump(mode="json", by_alias=True, exclude_unset=True) for one in described()]
    assert len(json.dumps(listed, separators=(",", ":"))) < 30_000
    read_by_agents = [{key: one[key] for key in ("name", "description", "inputSchema")} for one in listed]
    assert len(json.dumps(read_by_agents, separators=(",", ":"))) < 24_000


@pytest.mark.parametrize("tool", TOOLS.values(), ids=TOOLS.keys())
def test_a_tool_says_when_to_use_it_in_one_paragraph(tool: Tool) -> None:
    assert "\n" not in tool.description
    assert 100 < len(tool.description) <= 450
    assert re.search(r"[Uu]se (it|list)|[Cc]all `|says with which", tool.description)
    assert re.fullmatch(r"[a-z_]{3,40}", tool.name)
    mentioned = set(re.findall(r"`([a-z_]+)`", tool.description))
    assert mentioned <= set(TOOLS)


@pytest.mark.parametrize("tool", TOOLS.values(), ids=TOOLS.keys())
def test_schemas_are_objects_that_any_client_understands(tool: Tool) -> None:
    taken = input_schema(tool)
    Draft202012Validator.check_schema(taken)
    assert taken["type"] == "object"
    assert "$ref" not in json.dumps(taken)
    assert taken["additionalProperties"] is False
    assert all("type" in one or "anyOf" in one for one in taken["properties"].values())


@pytest.mark.parametrize("tool", TOOLS.values(), ids=TOOLS.keys())
def test_every_argument_is_described(tool: Tool) -> None:
    properties = input_schema(tool)["properties"]
    assert [name for name, schema in properties.items() if len(schema.get("description", "")) < 10] == []


@pytest.mark.parametrize(
    ("tool", "sent"),
    [
        ("seen", {"limit": "5"}),
        ("read", {"topic": "engine", "index": "0"}),
        ("store", {"topic": "engine", "text": "x", "confidence": "0.9", "force": "true"}),
        ("batch", {"entries": [{"topic": "engine", "text": "x", "confidence": "0.5"}]}),
        ("search", {"query": "x", "days": "7", "limit": 3}),
        ("recall", {"query": "x", "min_relevance": 0.4}),
    ],
)
def test_what_the_seeds_clients_send_passes_a_client_that_checks(tool: str, sent: dict[str, Any]) -> None:
    Draft202012Validator(input_schema(TOOLS[tool])).validate(sent)


@pytest.mark.parametrize(
    ("tool", "sent"),
    [
        ("seen", {"limit": 0}),
        ("seen", {"limit": "many"}),
        ("search", {"query": "x", "days": 36_501}),
        ("search", {"query": "x", "hours": -1}),
        ("brief", {"since": 876_001}),
        ("topics", {"days": -1}),
        ("remember", {"content": "too short"}),
        ("remember", {"content": "x" * 8_001}),
        ("store", {"topic": "x", "text": "x", "force": "perhaps"}),
    ],
)
def test_what_would_be_refused_is_refused_by_the_schema(tool: str, sent: dict[str, Any]) -> None:
    assert not Draft202012Validator(input_schema(TOOLS[tool])).is_valid(sent)


def test_hints_are_true() -> None:
    hints = {one.name: one.annotations for one in described()}
    assert all(hint is not None and hint.open_world_hint is False for hint in hints.values())
    assert {name for name, hint in hints.items() if hint and hint.destructive_hint} == REMOVES
    assert {name for name, hint in hints.items() if hint and not hint.read_only_hint} == ADDS | SETS | REMOVES
    assert {name for name, hint in hints.items() if hint and not hint.idempotent_hint} == ADDS | REMOVES


def test_instructions_fit_and_name_tools_that_exist() -> None:
    assert len(INSTRUCTIONS) < 2_048
    assert set(re.findall(r"`([a-z_]+)`", INSTRUCTIONS)) <= set(TOOLS)
    assert {"seen", "recall", "remember"} <= set(re.findall(r"`([a-z_]+)`", INSTRUCTIONS[:512]))
    assert build().instructions == INSTRUCTIONS


def test_every_tool_is_documented_with_what_it_may_change_and_no_other_is() -> None:
    page = (DOCS / "mcp.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `([a-z_]+)` \| (reads|adds|sets|removes) \|", page, re.MULTILINE))
    assert rows == {name: tool.effect for name, tool in TOOLS.items()}


@pytest.mark.parametrize("text", ["", "one line", "a\nb\n", "x" * 50_000, "ab\n" * 20_000, "\n" * 40_000, EXPORT])
def test_parts_are_the_whole_and_each_is_short(text: str) -> None:
    parts = parts_of(text)
    assert "".join(parts) == text
    assert all(len(part) <= 16_000 for part in parts)
    assert all(len(part) >= 8_000 for part in parts[:-1])


def test_the_shelf_forgets_the_oldest_answers_first() -> None:
    shelf = AnswerCache()
    names = [shelf.keep(f"answer {n}") for n in range(40)]
    assert shelf.get(names[0]) is None
    assert shelf.get(names[-1]) == "answer 39"
    assert fitted_text("short", shelf) == "short"
