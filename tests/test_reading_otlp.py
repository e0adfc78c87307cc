"""Do the spans of an agent give the session that it was, whatever their order and however often they say a thing?"""

from __future__ import annotations

import json
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from helix_episodes.errors import LogNotReadable
from helix_episodes.extraction.pipeline import extract
from helix_episodes.readers.registry import read_sessions

if TYPE_CHECKING:
    from pathlib import Path

    from helix_episodes.session import Session

Record = dict[str, Any]
START = 1_772_442_000_000_000_000  # 2026-03-02 09:00 UTC


def typed(value: object) -> Record:
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, list):
        return {"arrayValue": {"values": [typed(one) for one in value]}}
    if isinstance(value, dict):
        return {"kvlistValue": {"values": [{"key": key, "value": typed(one)} for key, one in value.items()]}}
    return {"stringValue": value}


def span(name: str, operation: str | None, *, at: tuple[int, int], inside: str = "", **about: object) -> Record:
    """A span from one second to another; ``tool_name`` is the attribute ``gen_ai.tool.name``."""
    start, end = at
    failed = about.pop("failed", False)
    attributes = {f"gen_ai.{key.replace('__', '.')}": value for key, value in about.items()}
    if operation:
        attributes["gen_ai.operation.name"] = operation
    return {
        "traceId": "5b8efff798038103d269b633813fc60c",
        "spanId": name.encode().hex()[:16],
        "parentSpanId": inside.encode().hex()[:16],
        "name": name,
        "startTimeUnixNano": str(START + start * 10**9),
        "endTimeUnixNano": str(START + end * 10**9),
        "attributes": [{"key": key, "value": typed(value)} for key, value in attributes.items()],
        "status": {"code": 2, "message": "it failed"} if failed else {},
    }


def said(role: str, *parts: Record) -> Record:
    return {"role": role, "parts": list(parts)}


def words(text: str) -> Record:
    return {"type": "text", "content": text}


TASK = said("user", words("make the tests pass"))
CALL = {"type": "tool_call", "id": "c1", "name": "bash", "arguments": {"command": "pytest -q"}}
ANSWER = {"type": "tool_call_response", "id": "c1", "response": "1 failed\nCommand failed with exit code: 1."}
RUN = said("assistant", words("I run them"), CALL)
EDIT = {"path": "/srv/shop/a.py", "old_string": "x = 1", "new_string": "x = 2"}


def spans() -> list[Record]:
    about = {"input__messages": json.dumps([TASK]), "usage__input_tokens": 100, "usage__output_tokens": 7}
    later = [TASK, RUN, said("tool", ANSWER)]
    return [
        span("invoke_agent fixer", "invoke_agent", at=(0, 60), agent__name="fixer", conversation__id="conv-7"),
        span("first", "chat", at=(1, 3), inside="invoke_agent fixer", output__messages=json.dumps([RUN]), **about),
        span(
            "tool 1", "execute_tool", at=(4, 9), inside="invoke_agent fixer",
            tool__name="bash", tool__call__id="c1", tool__call__arguments='{"command": "pytest -q"}',
            tool__call__result="1 failed\nCommand failed with exit code: 1.",
        ),
        span(
            "second", "chat", at=(10, 12), inside="invoke_agent fixer", response__model="model-2",
            input__messages=later, output__messages=[said("assistant", {"type": "reasoning", "content": "it is x"})],
        ),
        span(
            "tool 2", "execute_tool", at=(13, 14), inside="invoke_agent fixer", failed=True,
            tool__name="edit_file", tool__call__arguments=EDIT, tool__call__result="the file changed meanwhile",
        ),
        span("helper", "invoke_agent", at=(20, 30), inside="invoke_agent fixer", agent__name="scout"),
        span(
            "third", "chat", at=(21, 22), inside="helper",
            input__messages=[said("user", words("look around"))], output__messages=[said("assistant", words("done"))],
        ),
        span("GET", None, at=(21, 22), inside="third"),
        span("embed", "embeddings", at=(23, 24), inside="helper"),
        span("rank", "rerank", at=(24, 25), inside="helper"),
    ]  # fmt: skip


def traces(*spans: Record) -> Record:
    resource = {"attributes": [{"key": "process.working_directory", "value": {"stringValue": "/srv/shop"}}]}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"scope": {}, "spans": list(spans)}]}]}


def in_lines(path: Path, spans: list[Record]) -> Path:
    path.write_text("".join(json.dumps(traces(one)) + "\n" for one in spans))
    return path


def acts(session: Session) -> list[tuple[str, ...]]:
    return [
        {
            "call": (step.kind, str(step.operation)),
            "result": (step.kind, str(step.operation), step.status),
        }.get(step.kind, (step.kind, step.actor, step.text))
        for step in session.steps
    ]


STEPS = [
    ("prompt", "user", "make the tests pass"),
    ("message", "agent", "I run them"),
    ("call", "run"),
    ("result", "run", "error"),
    ("thought", "agent", "it is x"),
    ("call", "edit"),
    ("result", "edit", "error"),
    ("note", "agent:scout", "look around"),
    ("message", "agent:scout", "done"),
]


def test_each_thing_that_was_said_or_done_is_one_step(tmp_path: Path) -> None:
    (session,) = read_sessions(in_lines(tmp_path / "traces.jsonl", spans()))
    assert acts(session) == STEPS
    assert (session.reader, session.agent, session.id, session.model) == ("otlp", "fixer", "conv-7", "model-2")
    assert (session.root, session.project, session.tokens) == ("/srv/shop", "shop", 107)
    run = next(step for step in session.steps if step.kind == "result")
    assert (run.exit_code, run.text, run.source.line) == (1, "1 failed", 3)
    assert str(run.at) == "2026-03-02 09:00:09+00:00"
    failed = [one for one in extract(session).events if one.status == "error"]
    assert [one.evidence.line for one in failed if one.evidence] == [3, 5]


def test_what_is_not_understood_is_counted_and_named(tmp_path: Path) -> None:
    (session,) = read_sessions(in_lines(tmp_path / "traces.jsonl", spans()))
    assert session.accounting.unknown == {"span GET": 1, "span rerank": 1}
    assert session.accounting.skipped == {"span embeddings": 1}
    assert session.accounting.lines == len(spans())


def test_order_repetition_and_form_of_the_file_change_nothing(tmp_path: Path) -> None:
    whole = spans()
    (known,) = read_sessions(in_lines(tmp_path / "traces.jsonl", whole))
    mixed = [*whole, whole[2]]
    Random(7).shuffle(mixed)  # noqa: S311  (nothing secret)
    (again,) = read_sessions(in_lines(tmp_path / "mixed.jsonl", mixed))
    assert acts(again) == acts(known)
    assert again.accounting.skipped["span sent again"] == 1
    (tmp_path / "traces.json").write_text(json.dumps(traces(*whole), indent=1))
    (document,) = read_sessions(tmp_path / "traces.json")
    assert acts(document) == acts(known)
    text = (tmp_path / "traces.json").read_text().splitlines()
    edit = next(step for step in document.steps if step.operation == "edit")
    assert "x = 2" in text[edit.source.line - 1]
    # A document may be broken between its spans, so that the last one stands alone on a line.
    (tmp_path / "spans.json").write_text(
        json.dumps(traces(*whole)).replace('{"traceId"', '\n{"traceId"').replace("]}]}]}", "\n]}]}]}")
    )
    (broken,) = read_sessions(tmp_path / "spans.json")
    assert acts(broken) == acts(known)


def test_calls_without_a_span_are_taken_from_the_messages(tmp_path: Path) -> None:
    path = in_lines(tmp_path / "traces.jsonl", [one for one in spans() if not one["name"].startswith("tool")])
    (session,) = read_sessions(path)
    calls = [step for step in session.steps if step.kind in ("call", "result")]
    assert [(step.kind, step.operation, step.call_id) for step in calls] == [
        ("call", "run", "c1"),
        ("result", "run", "c1"),
    ]
    assert calls[1].status == "error"


def test_conversations_of_one_file_are_sessions_and_other_traces_are_none(tmp_path: Path) -> None:
    other = [span("alone", "chat", at=(90, 91), input__messages=[TASK], conversation__id="conv-8")]
    other[0]["traceId"] = "0af7651916cd43dd8448eb211c80319c"
    sessions = read_sessions(in_lines(tmp_path / "traces.jsonl", [*other, *spans()]))
    assert [one.id for one in sessions] == ["conv-7", "conv-8"]
    web = in_lines(tmp_path / "web.jsonl", [span("GET", None, at=(0, 1))])
    with pytest.raises(LogNotReadable, match="no step"):
        read_sessions(web, format="otlp")
