"""What clients are told of the tools before they call one: names, hints, schemas, sizes; and the docs."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]  # its stubs are one more package

from helix_cli import TOOL_SETS
from helix_cli.mcp.protocol import INSTRUCTIONS, Server
from helix_cli.mcp.tool_declaration import Tool, input_schema, tools_by_name

TOOLS = tools_by_name("all")
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
#: What each tool does to what is kept, said once more by hand.
ADDS = {"store", "batch", "remember", "feedback"}
SETS = {"relate", "extract", "compile"}
REMOVES = {"edit", "topics"}
#: Beside the seed's parameters, where an answer may be long.
OF_LONG_ANSWERS = {"cursor", "max_tokens"}


def listed(chosen: str) -> list[dict[str, Any]]:
    """The tools of a set as a client gets them."""
    answer = Server(chosen).answer({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, print)
    assert answer is not None
    tools: list[dict[str, Any]] = answer["result"]["tools"]
    return tools


@pytest.mark.parametrize("chosen", ["topics", "all"])
def test_the_seeds_tools_have_the_seeds_parameters(chosen: str) -> None:
    served = {one["name"]: {*one["inputSchema"]["properties"]} - OF_LONG_ANSWERS for one in listed(chosen)}
    assert {name: served[name] for name in SEED} == SEED


def test_the_sets_are_the_five_of_every_day_the_seeds_seven_and_all() -> None:
    named = {chosen: [one["name"] for one in listed(chosen)] for chosen in TOOL_SETS}
    assert named["default"] == ["seen", "recall", "remember", "search_memory", "store"]
    assert named["topics"] == [*SEED]
    assert {*named["default"], *named["topics"]} < {*named["all"]}
    assert named["all"] == [*TOOLS]


@pytest.mark.parametrize(("chosen", "most"), [("default", 1_400), ("topics", 2_900), ("all", 8_000)])
def test_a_set_costs_each_request_so_many_tokens(chosen: str, most: int) -> None:
    """As clients show them to their models, at four characters a token."""
    shown = [{key: one[key] for key in ("name", "description", "inputSchema")} for one in listed(chosen)]
    assert len(json.dumps(shown)) / 4 <= most


@pytest.mark.parametrize("chosen", TOOL_SETS)
def test_nothing_sends_an_agent_to_a_tool_that_is_not_served(chosen: str) -> None:
    served = {one["name"] for one in listed(chosen)}
    said = [INSTRUCTIONS[chosen], *(one["description"] for one in listed(chosen))]
    assert {name for text in said for name in re.findall(r"`([a-z_]+)`", text)} <= served
    assert all(len(text) > 100 for text in said)


@pytest.mark.parametrize("tool", TOOLS.values(), ids=TOOLS.keys())
def test_a_tool_says_when_to_use_it_in_one_paragraph(tool: Tool) -> None:
    assert "\n" not in tool.description
    assert 100 < len(tool.description) <= 450
    assert re.search(r"[Uu]se (it|list)|[Cc]all `|says with which", tool.description)
    assert re.fullmatch(r"[a-z_]{3,40}", tool.name)


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
        ("read", {"topic": "engine", "index": "0"}),
        ("store", {"topic": "engine", "text": "x", "confidence": "0.9", "force": "true"}),
        ("batch", {"entries": [{"topic": "engine", "text": "x", "confidence": "0.5"}]}),
        ("search", {"query": "x", "days": "7", "limit": 3}),
        ("brief", {"max_tokens": "2000"}),
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
    hints = {one["name"]: one["annotations"] for one in listed("all")}
    assert all(hint["openWorldHint"] is False for hint in hints.values())
    assert {name for name, hint in hints.items() if hint["destructiveHint"]} == REMOVES
    assert {name for name, hint in hints.items() if not hint["readOnlyHint"]} == ADDS | SETS | REMOVES
    assert {name for name, hint in hints.items() if not hint["idempotentHint"]} == ADDS | REMOVES


def test_instructions_fit_and_begin_with_what_matters_most() -> None:
    assert all(len(text) < 2_048 for text in INSTRUCTIONS.values())
    for chosen in ("default", "all"):
        assert {"seen", "recall", "remember"} <= set(re.findall(r"`([a-z_]+)`", INSTRUCTIONS[chosen][:512]))


def test_every_tool_is_documented_with_what_it_may_change_and_no_other_is() -> None:
    page = (DOCS / "mcp.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `([a-z_]+)` \| (reads|adds|sets|removes) \|", page, re.MULTILINE))
    assert rows == {name: tool.effect for name, tool in TOOLS.items()}
