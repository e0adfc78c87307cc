"""OpenTelemetry: spans of agents (``gen_ai.*``) in OTLP's JSON form (``docs/reference/formats/otlp.md``).

A file has the spans of any number of traces, in any order, in one document or one a line. Those of one conversation,
or without such an id of one trace, are a session. What a model was sent repeats what was said before, and a call occurs
up to three times: in the model's answer, as a span of its own, and in the next request. Each is taken once, a call from
its span where there is one.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from helix_episodes.errors import LogNotReadable
from helix_episodes.readers.base import SingleFileReader, read_head
from helix_episodes.readers.common.fields import Record, RecordPosition, object_in, objects_in, parse_any_time, text_in
from helix_episodes.readers.common.json_with_lines import read_json_with_lines, set_step_lines
from helix_episodes.readers.common.jsonl import LineLedger, SkippedRecord, parse, read_records
from helix_episodes.readers.common.message_parts import (
    CallPart,
    OtherPart,
    ResultPart,
    TextPart,
    ThoughtPart,
    read_parts,
)
from helix_episodes.readers.common.session_builder import SessionBuilder
from helix_episodes.readers.common.tool_translation import COMMON_TOOLS
from helix_episodes.session import Source

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime
    from pathlib import Path

    from helix_episodes.readers.base import LogHead
    from helix_episodes.readers.common.json_with_lines import JsonNode
    from helix_episodes.readers.common.message_parts import MessagePart
    from helix_episodes.session import Session

_PREFIX = "gen_ai."
_MODEL_CALLS = frozenset({"chat", "generate_content", "text_completion"})
#: Operations of the conventions in which nothing is said or done that another span would not have.
_SILENT = frozenset({"create_agent", "embeddings", "retrieval", "invoke_workflow", "plan"})
_ERRORS = (2, "STATUS_CODE_ERROR")
_BINARY_PARTS = frozenset({"blob", "file", "file_data", "uri"})
_NANOSECONDS = 1_000_000  # in a millisecond


class _Span(NamedTuple):
    """A span with its attributes as plain values; ``node`` where the document knows its lines."""

    name: str
    trace: str
    id: str
    parent: str
    start: int
    end: int
    failed: bool
    about: Record
    resource: Record
    line: int
    node: JsonNode | None

    @property
    def operation(self) -> str | None:
        return text_in(self.about, "gen_ai.operation.name")


class OtlpReader(SingleFileReader):
    """Reads traces as OpenTelemetry's file exporters and collectors write them."""

    name = "otlp"
    suffixes = (".jsonl", ".json")

    def sniff(self, head: LogHead) -> str | None:
        """``None`` when the beginning has a span with attributes ``gen_ai.*``, else why not."""
        documents = [head.document] if isinstance(head.document, dict) else head.records
        traces = [one for one in documents if isinstance(one.get("resourceSpans"), list)]
        if not traces:
            return "no resourceSpans of OTLP"
        spans = (span for one in traces for span in _spans_of(one, line=1, node=None))
        names = (name for span in spans for name in span.about)
        return None if any(name.startswith(_PREFIX) for name in names) else "no span with attributes gen_ai.*"

    def read(self, path: Path) -> Iterator[Session]:
        """A session for each conversation, in the order in which they began."""
        ledger = LineLedger()
        groups = _by_session(_unrepeated(_read_spans(path, ledger), ledger))
        found = 0
        for name, spans in groups.items():
            builder = SessionBuilder()
            if not found:
                builder.ledger = ledger  # what belongs to no session is counted with the first
            conversation = _Conversation(builder, spans)
            conversation.take_all()
            if builder.dialogue.steps:
                found += 1
                builder.note(id=name)
                yield builder.session(path, reader=self.name, agent=conversation.agent or self.name, rewritten=True)
        if not found:
            counted = ledger.accounting().lines
            raise LogNotReadable(path=path, problem=f"it contains no session ({counted} spans and lines, no step)")


def _read_spans(path: Path, ledger: LineLedger) -> Iterator[_Span]:
    if any("resourceSpans" in one for one in read_head(path).records):  # one of its spans may stand alone on a line
        for line, record in read_records(path, ledger=ledger):
            yield from _spans_of(record, line=line, node=None)
    else:
        document = read_json_with_lines(path)
        yield from _spans_of(document.record, line=1, node=document)


def _spans_of(record: Record, *, line: int, node: JsonNode | None) -> Iterator[_Span]:
    """The spans of one document; ``node`` is the same document with lines."""
    nodes = _span_nodes(node) if node else None
    for by_resource in objects_in(record, "resourceSpans"):
        resource = _attributes(object_in(by_resource, "resource"))
        for by_scope in objects_in(by_resource, "scopeSpans"):
            for span in objects_in(by_scope, "spans"):
                own = next(nodes) if nodes else None
                yield _span(span, resource, line=own.line if own else line, node=own)


def _span_nodes(document: JsonNode) -> Iterator[JsonNode]:
    for by_resource in _object_nodes(document, "resourceSpans"):
        for by_scope in _object_nodes(by_resource, "scopeSpans"):
            yield from _object_nodes(by_scope, "spans")


def _object_nodes(node: JsonNode, name: str) -> list[JsonNode]:
    """As `objects_in`, with lines."""
    found = node.get(name)
    return [one for one in found.value if isinstance(one.value, dict)] if isinstance(found.value, list) else []


def _span(span: Record, resource: Record, *, line: int, node: JsonNode | None) -> _Span:
    about = _attributes(span)
    return _Span(
        name=text_in(span, "name") or "without a name",
        trace=text_in(span, "traceId") or "",
        id=text_in(span, "spanId") or "",
        parent=text_in(span, "parentSpanId") or "",
        start=_integer(span.get("startTimeUnixNano")),
        end=_integer(span.get("endTimeUnixNano")) or _integer(span.get("startTimeUnixNano")),
        failed=object_in(span, "status").get("code") in _ERRORS or "error.type" in about,
        about=about,
        resource=resource,
        line=line,
        node=node,
    )


def _attributes(record: Record) -> Record:
    return {name: _plain(one.get("value")) for one in objects_in(record, "attributes") if (name := text_in(one, "key"))}


def _plain(value: object) -> Any:  # noqa: ANN401  (JSON can be anything)
    """An attribute's value out of the object that names its type.

    >>> _plain({"arrayValue": {"values": [{"intValue": "7"}, {"stringValue": "a"}]}})
    [7, 'a']
    """
    if not isinstance(value, dict):
        return None
    if "intValue" in value:
        return _integer(value["intValue"])
    if "arrayValue" in value:
        return [_plain(one) for one in objects_in(object_in(value, "arrayValue"), "values")]
    if "kvlistValue" in value:
        members = objects_in(object_in(value, "kvlistValue"), "values")
        return {str(one.get("key")): _plain(one.get("value")) for one in members}
    return next((value[name] for name in ("stringValue", "boolValue", "doubleValue") if name in value), None)


def _integer(value: object) -> int:
    """A 64-bit number, which JSON has as a text."""
    text = str(value)
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 20 else 0  # noqa: PLR2004  (2**64 has 20)


def _moment(nanoseconds: int) -> datetime | None:
    return parse_any_time(nanoseconds / _NANOSECONDS) if nanoseconds else None


def _unrepeated(spans: Iterator[_Span], ledger: LineLedger) -> Iterator[_Span]:
    """Spans without those that an exporter sent again."""
    seen: set[tuple[str, str]] = set()
    for span in spans:
        if span.id and (span.trace, span.id) in seen:
            ledger.skip("span sent again")
            continue
        seen.add((span.trace, span.id))
        yield span


def _by_session(spans: Iterator[_Span]) -> dict[str, list[_Span]]:
    """Spans by their conversation, else by their trace; both in the order of their beginnings."""
    ordered = sorted(spans, key=lambda span: span.start)
    conversations: dict[str, str] = {}
    for span in ordered:
        name = text_in(span.about, "gen_ai.conversation.id")
        if name:
            conversations.setdefault(span.trace, name)
    groups: dict[str, list[_Span]] = {}
    for span in ordered:
        own = text_in(span.about, "gen_ai.conversation.id") or conversations.get(span.trace)
        groups.setdefault(own or span.trace, []).append(span)
    return groups


class _Conversation:
    """One session's spans while they are read, by time."""

    def __init__(self, builder: SessionBuilder, spans: list[_Span]) -> None:
        self.agent: str | None = None
        self._builder = builder
        self._dialogue = builder.dialogue
        self._spans = spans
        self._by_id = {span.id: span for span in spans}
        self._agents: dict[str, tuple[_Span, ...]] = {}
        tools = [span for span in spans if span.operation == "execute_tool"]
        self._spanned = {text_in(span.about, "gen_ai.tool.call.id") for span in tools} - {None}
        self._spanned_tools = {text_in(span.about, "gen_ai.tool.name") for span in tools}
        self._said: Counter[tuple[str, str, str]] = Counter()
        #: What each agent's model was last sent, counted: the next request mostly begins with the same.
        self._history: dict[str, tuple[list[Record], Counter[tuple[str, str, str]]]] = {}

    def take_all(self) -> None:
        """Takes in what each span says at its beginning and at its end."""
        moments = [(span.start, 0, place, span) for place, span in enumerate(self._spans)]
        # Of spans that end at the same time the inner one, which began later, ended first.
        moments += [(span.end, 1, -place, span) for place, span in enumerate(self._spans)]
        for *_, is_end, _, span in sorted(moments, key=lambda one: one[:3]):
            before = len(self._dialogue.steps)
            match span.operation:
                case "execute_tool":
                    self._tool(span, is_end=bool(is_end))
                case "invoke_agent" | "chat" | "generate_content" | "text_completion":
                    self._talk(span, is_end=bool(is_end))
            if span.node is not None:
                set_step_lines(self._dialogue, span.node, since=before)
            if is_end:
                self._builder.ledger.enter(_passed(span), line=span.line)

    def _tool(self, span: _Span, *, is_end: bool) -> None:
        actor, call_id = self._actor(span), text_in(span.about, "gen_ai.tool.call.id") or f"span-{span.id}"
        if not is_end:
            tool, arguments = text_in(span.about, "gen_ai.tool.name"), span.about.get("gen_ai.tool.call.arguments")
            place = RecordPosition(Source(line=span.line), _moment(span.start))
            self._dialogue.call(place, tool, arguments, tools=COMMON_TOOLS, call_id=call_id, actor=actor)
            return
        call = self._dialogue.open_call(call_id)
        # A tool that ran a command worked, whatever the command came to.
        worked = None if call is not None and call.operation == "run" else False
        result = span.about.get("gen_ai.tool.call.result")
        self._dialogue.end_call(
            call_id,
            RecordPosition(Source(line=span.line), _moment(span.end)),
            text="" if result is None else result if isinstance(result, str) else orjson.dumps(result).decode(),
            failed=True if span.failed else worked,
            exit_code=span.about.get("process.exit.code"),
            actor=actor,
        )

    def _talk(self, span: _Span, *, is_end: bool) -> None:
        is_model = span.operation in _MODEL_CALLS
        name = "gen_ai.output.messages" if is_end else "gen_ai.input.messages"
        place = RecordPosition(Source(line=span.line), _moment(span.end if is_end else span.start))
        actor = self._actor(span)
        if not is_end:
            self._note(span, actor=actor)
        messages = _messages(span.about.get(name))
        known, earlier = self._history.get(actor, ([], Counter()))
        if is_end or messages[: len(known)] != known:
            known, earlier = [], Counter()
        for message in messages[len(known) :]:
            role = text_in(message, "role") or ("assistant" if is_end else "user")
            for part in read_parts(message):
                key = (actor, role, str(part))
                earlier[key] += 1
                # A model's answer is new; all else may repeat what was said.
                if (is_end and is_model) or earlier[key] > self._said[key]:
                    self._said[key] += 1
                    self._say(part, place, role=role, actor=actor)
        if not is_end and messages:
            self._history[actor] = (messages, earlier)
        if is_end and is_model:
            self._builder.count_model(
                text_in(span.about, "gen_ai.response.model") or text_in(span.about, "gen_ai.request.model")
            )
            self._builder.add_tokens(_tokens(span.about))

    def _say(self, part: MessagePart, place: RecordPosition, *, role: str, actor: str) -> None:
        match part:
            case TextPart(text) if role == "user":
                is_person = actor == "agent"
                speaker = "user" if is_person else actor
                self._dialogue.add_text("prompt" if is_person else "note", place, text=text, actor=speaker)
            case TextPart(text) if role == "assistant":
                self._dialogue.add_text("message", place, text=text, actor=actor)
            case ThoughtPart(text):
                self._dialogue.add_text("thought", place, text=text, actor=actor)
            case CallPart(call_id, tool, arguments):
                if call_id in self._spanned if call_id else tool in self._spanned_tools:
                    return  # the call has a span of its own
                self._dialogue.call(place, tool, arguments, tools=COMMON_TOOLS, call_id=call_id, actor=actor)
            case ResultPart(call_id, text, failed) if self._dialogue.is_open(call_id) and call_id not in self._spanned:
                self._dialogue.end_call(call_id, place, text=text, failed=failed, actor=actor)
            case OtherPart(kind, known):
                unknown = SkippedRecord(f"part {kind}", known=known or kind in _BINARY_PARTS)
                self._builder.ledger.enter(unknown, line=place.source.line)

    def _note(self, span: _Span, *, actor: str) -> None:
        """Notes what the outermost agent's spans say about it."""
        if actor != "agent":
            return
        service = text_in(span.resource, "service.name")
        self.agent = self.agent or text_in(span.about, "gen_ai.agent.name") or service
        self._builder.note(
            version=text_in(span.about, "gen_ai.agent.version") or text_in(span.resource, "service.version"),
            root=text_in(span.resource, "process.working_directory"),
        )

    def _actor(self, span: _Span) -> str:
        """Who did it: the agent, or a helper when one agent's span is within another's."""
        agents = self._agents_around(span)
        if len(agents) < 2:  # noqa: PLR2004  (an agent within an agent)
            return "agent"
        inner = agents[0]
        return f"agent:{text_in(inner.about, 'gen_ai.agent.name') or inner.id}"

    def _agents_around(self, span: _Span) -> tuple[_Span, ...]:
        """The two innermost agents whose spans a span is in; kept for each, as a chain may be as long as the log."""
        chain: dict[str, _Span] = {}
        one: _Span | None = span
        while one is not None and one.id not in chain and one.id not in self._agents:
            chain[one.id] = one
            one = self._by_id.get(one.parent) if one.parent else None
        found = self._agents.get(one.id, ()) if one else ()
        for each in reversed(chain.values()):
            if each.operation == "invoke_agent":
                found = (each, *found)[:2]
            self._agents[each.id] = found
        return found


def _passed(span: _Span) -> SkippedRecord | None:
    """Why a span gives no step; None of one that may."""
    operation = span.operation
    if operation in _MODEL_CALLS or operation in {"execute_tool", "invoke_agent"}:
        return None
    if operation in _SILENT:
        return SkippedRecord(f"span {operation}")
    return SkippedRecord(f"span {operation or span.name}", known=False)


def _messages(value: object) -> list[Record]:
    """Messages, which an attribute has as a list or as the text of one."""
    if isinstance(value, str):
        try:
            value = parse(value.encode("utf-8", "replace"))
        except ValueError:
            return [{"content": value}]  # cut off, or plain words
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _tokens(about: Record) -> int:
    """Tokens written and newly read; those from the cache repeat the same text with every call."""
    names = ("input_tokens", "output_tokens", "cache_read.input_tokens")
    read, written, cached = (about.get(f"gen_ai.usage.{name}") for name in names)
    fresh = (read if isinstance(read, int) else 0) - (cached if isinstance(cached, int) else 0)
    return max(fresh, 0) + (written if isinstance(written, int) else 0)
