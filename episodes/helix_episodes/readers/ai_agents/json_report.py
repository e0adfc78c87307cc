"""A report in JSON: its members become statements by the role of their names.

Every member of an object is read as exactly one kind of statement (work-log entry, decision, lesson, problem, gate) by
the role of its name (`words.role_of`), whatever its neighbours are, so that an unknown shape is read as well as those
that many logs share.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from helix_episodes.readers.ai_agents.steps import (
    SHA,
    ReportContent,
    StatementPart,
    StepCollector,
    parse_day,
    parse_full_time,
    take_gates,
)
from helix_episodes.readers.ai_agents.words import (
    Role,
    closest,
    declared_by_words,
    is_bare_state,
    is_cause,
    role_of,
    settles,
    words_of,
)
from helix_episodes.session import Piece

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from helix_episodes.readers.common.json_with_lines import JsonNode


#: The phase of the work is what an entry belongs to, when it is all that its name says ("testing", "phase 2").
_LABEL_WORDS = 3
#: Names of the members of an object that together are one lesson.
_LESSON_PARTS = frozenset({
    "pattern", "insight", "lesson", "learning", "description", "title", "what", "finding", "observation", "name",
})  # fmt: skip
_AVOID = frozenset({"antipattern", "avoid", "avoidance"})
#: What of a lesson says why it is one; the lesson itself is in the other members.
_LESSON_ASIDES = frozenset({"category", "impact", "consequence", "context"})


#: Names under which an entry says more of what it did, as against what came of it.
_DETAILS = frozenset({"detail", "details", "description", "evidence", "note", "notes", "summary"})
#: Names of members next to lessons that hold no lesson.
_NO_LESSON = frozenset({"header", "measure", "files", "time", "status", "commit"})


class Field(msgspec.Struct, frozen=True, kw_only=True):
    """One text of an object, with the name and the role under which it is."""

    role: Role | None
    name: str
    text: str
    line: int


def fields_of(node: JsonNode, *, name: str = "", role: Role | None = None) -> Iterator[Field]:
    """Every text in a node in order, each under the name that is closest to it."""
    if node.members:
        for key, member in node.members.items():
            yield from fields_of(member, name=key, role=role_of(key))
    elif isinstance(node.value, list):
        for item in node.items:
            yield from fields_of(item, name=name, role=role)
    elif node.text:
        yield Field(role=role, name=name, text=node.text, line=node.line)


def take_entry(steps: StepCollector, item: JsonNode) -> None:
    """One item of a work log: what was done, what was found, and its decisions, problems and lessons."""
    if not item.members:
        steps.note(item.text, part="did", line=item.line)
        return
    join, at = steps.entry(), _time_of(item)
    context = " ".join(field.text for field in _fields(item, "label") if len(field.text.split()) <= _LABEL_WORDS)
    done = _done(item)
    for field in done:
        steps.note(field.text, part="did", line=field.line, at=at, call_id=join, context=context)
    taken = {field.name for field in done}
    aligned = take_aligned(steps, item, at=at)
    for key, member in item.members.items():
        if key not in aligned:
            _take_member(steps, key, member, join=join, at=at, already_taken=taken)


def _role_in_entry(key: str) -> Role | None:
    """What a member of an entry represents; its phase is what it belongs to, not work of its own."""
    role = role_of(key)
    return "label" if role == "work" and words_of(key) == ["phase"] else role


def _done(item: JsonNode) -> list[Field]:
    """What an entry did: the texts named so, else its longer label, else its summary; one word is a label."""
    found = _fields(item, "found", "outcome")
    own = [field for field in _fields(item, "did") if not field.text.isdigit()]
    own = [field for field in own if not found or " " in field.text] or ([] if found else own)
    return own or [field for field in _fields(item, "label") if len(field.text.split()) > _LABEL_WORDS] or found[:1]


def _fields(item: JsonNode, *roles: Role) -> list[Field]:
    """The texts directly under an object whose names have one of these roles."""
    return [
        Field(role=role, name=key, text=member.text, line=member.line)
        for key, member in item.members.items()
        if member.text and (role := _role_in_entry(key)) in roles
    ]


def _take_member(
    steps: StepCollector, key: str, member: JsonNode, *, join: str, at: datetime | None, already_taken: set[str]
) -> None:
    """One member of a work-log entry besides what it did."""
    role = _role_in_entry(key)
    if key in already_taken and member.text:
        return
    if role == "did" and " " not in member.text:
        skip(steps, key, member)
    elif role == "decision":
        take_decisions(steps, member, at=at)
    elif role == "lesson":
        take_lessons(steps, member, at=at)
    elif role in {"problem", "remedy"}:
        part: StatementPart = "remedy" if role == "remedy" else "cause" if is_cause(key) else "problem"
        for field in fields_of(member, name=key, role=role):
            if not is_bare_state(field.text):
                steps.note(field.text, part=part, line=field.line, at=at, call_id=join)
    elif role in {"time", "files", "measure", "header", "label", "status"} or not any(fields_of(member)):
        skip(steps, key, member)
    else:
        _take_finding(steps, key, member, join=join, at=at)


def _take_finding(steps: StepCollector, key: str, member: JsonNode, *, join: str, at: datetime | None) -> None:
    """What an entry found; what is under an unknown name is kept as well."""
    role = role_of(key)
    for field in fields_of(member, name=key, role=role):
        if role is None:
            steps.keep_unknown(field.text, line=field.line, name=field.name)
        elif is_bare_state(field.text) or field.text.isdigit():
            steps.skip(field.line, key)
        else:
            part: StatementPart = "detail" if _DETAILS & set(words_of(field.name or key)) else "found"
            steps.note(field.text, part=part, line=field.line, at=at, call_id=join)


def take_decisions(steps: StepCollector, node: JsonNode, *, at: datetime | None = None) -> None:
    """Stated decisions: texts, objects, a list of either, or an object that names each."""
    names_each = node.members and not any(role_of(key) in {"decision", "did", "rationale"} for key in node.members)
    for item in node.members.values() if names_each else node.items:
        _take_decision(steps, item, at=at)


def _take_decision(steps: StepCollector, item: JsonNode, *, at: datetime | None) -> None:
    fields = list(fields_of(item, role="decision"))
    roles = ("decision", "did", "found", "status" if any(one.role == "rationale" for one in fields) else "decision")
    chosen = next((one for role in roles for one in fields if one.role == role), None)
    if chosen is None:
        return
    own = steps.entry()
    texts: dict[str, list[str]] = {"rationale": [], "options": [], "context": []}
    pieces: list[Piece] = [Piece(line=chosen.line, text=chosen.text)]
    # "Cache on the client" is what was decided on; that it was rejected is what was decided.
    settled = [one for one in fields if one.role == "status" and one is not chosen and settles(one.text)]
    pieces += [Piece(line=one.line, text=one.text) for one in settled]
    for field in fields:
        steps.used.add(field.line)
        name = "context" if field.role in {"context", "problem", "background"} else str(field.role)
        if field is not chosen and (name in texts):
            texts[name].append(field.text)
            pieces.append(Piece(line=field.line, text=field.text))
    states = (one.text for one in fields if one.role in {"outcome", "status"} and is_bare_state(one.text))
    arguments = {
        "context": "; ".join(texts["context"]),
        "options": texts["options"],
        "rationale": " ".join(texts["rationale"]),
        # "accepted" says only that it was taken.
        "outcome": next((outcome for text in states if (outcome := declared_by_words(text))), None),
    }
    moment_of_it = _time_of(item) or at
    steps.add(
        "decision",
        ": ".join(one.text for one in (chosen, *settled)),
        line=chosen.line,
        at=moment_of_it,
        call_id=own,
        arguments=arguments,
        pieces=tuple(pieces),
    )
    for field in fields:
        _take_aside(steps, field, chosen=chosen, own=own, at=moment_of_it)


def _take_aside(steps: StepCollector, field: Field, *, chosen: Field, own: str, at: datetime | None) -> None:
    """What came of a decision, and what else is stated about it."""
    if field is chosen or field.role in {"rationale", "options", "context", "problem", "background", "time", "label"}:
        return
    if field.role in {"outcome", "impact"} and not is_bare_state(field.text):
        steps.note(field.text, part="outcome", line=field.line, at=at, call_id=own)
    elif field.role is None:
        steps.keep_unknown(field.text, line=field.line, name=field.name)
    elif field.role not in {"measure", "header", "files", "status"} and not is_bare_state(field.text):
        steps.note(field.text, part="other", line=field.line, at=at, context=field.name)


def take_lessons(steps: StepCollector, node: JsonNode, *, at: datetime | None = None) -> None:
    """Lessons in any shape: texts, objects with a pattern or an insight, groups of either by name."""
    if isinstance(node.value, list):
        for item in node.items:
            take_lessons(steps, item, at=at)
    elif node.text.endswith("?"):
        steps.note(node.text, part="other", line=node.line, at=at)
    elif node.members and any(member.members or isinstance(member.value, list) for member in node.members.values()):
        for key, member in node.members.items():
            if member.members or role_of(key) not in _NO_LESSON:
                take_lessons(steps, member, at=at)
    elif node.members:
        _take_lesson(steps, node, at=at)
    else:
        steps.add("lesson", node.text, line=node.line, at=at)


def _take_lesson(steps: StepCollector, node: JsonNode, *, at: datetime | None) -> None:
    """An object whose members are all texts: one lesson, unless its names tell nothing of each other."""
    texts = [field for field in fields_of(node) if not is_bare_state(field.text)]
    core = [field for field in texts if not _LESSON_ASIDES & set(words_of(field.name))]
    if not core:
        return
    for field in texts:
        steps.used.add(field.line)
    names = {word for field in core for word in words_of(field.name)}
    if names & (_LESSON_PARTS | _AVOID):
        advice = ((field.text.rstrip(".") + ".", bool(_AVOID & set(words_of(field.name)))) for field in core)
        words = " ".join(f"Avoid: {text}" if avoid else text for text, avoid in advice)
        pieces = tuple(Piece(line=field.line, text=field.text) for field in core)
        context = " ".join(field.text for field in texts if field not in core)
        steps.add("lesson", words, line=core[0].line, at=at, arguments={"context": context}, pieces=pieces)
        if names & _AVOID:
            _take_mistake(steps, texts, at=at)
    else:
        for field in core:
            steps.add("lesson", field.text, line=field.line, at=at)


def take_aligned(steps: StepCollector, node: JsonNode, *, at: datetime | None = None) -> frozenset[str]:
    """Problems in one list and their remedies in another beside it; the names of the two members.

    A remedy belongs to the problem that it names, else to the one in its place, if there are as many of both.
    """
    lists = [(key, role_of(key), member) for key, member in node.members.items() if isinstance(member.value, list)]
    listed = [(key, role, member.items) for key, role, member in lists if all(one.text for one in member.items)]
    problems = next(((key, items) for key, role, items in listed if role == "problem" and items), None)
    remedies = next(((key, items) for key, role, items in listed if role == "remedy" and items), None)
    if problems is None or remedies is None:
        return frozenset()
    joins = [steps.entry() for _ in problems[1]]
    for join, item in zip(joins, problems[1], strict=True):
        steps.note(item.text, part="problem", line=item.line, at=at, call_id=join, context=problems[0])
    texts = [item.text for item in problems[1]]
    for place, item in enumerate(remedies[1]):
        same = place if len(remedies[1]) == len(texts) else None
        found = closest(item.text, texts)
        belongs = found if found is not None else same
        steps.note(
            item.text, part="remedy", line=item.line, at=at, call_id=joins[belongs] if belongs is not None else None
        )
    return frozenset({problems[0], remedies[0]})


def _take_mistake(steps: StepCollector, texts: list[Field], *, at: datetime | None) -> None:
    """A mistake, what it led to and how it was put right, which the lesson drawn from it tells on the side."""
    join = steps.entry()
    told = {word for field in texts for word in words_of(field.name)}
    for field in texts:
        if _AVOID & set(words_of(field.name)) and told & {"consequence", "impact"}:
            steps.note(field.text, part="cause", line=field.line, at=at, call_id=join)
        if {"consequence", "impact"} & set(words_of(field.name)):
            steps.note(field.text, part="harm", line=field.line, at=at, call_id=join)
        elif field.role == "remedy":
            steps.note(field.text, part="remedy", line=field.line, at=at, call_id=join)


def take_problems(steps: StepCollector, node: JsonNode, *, name: str) -> None:
    """What a log lists as problems; an object is one, with the remedy that it names."""
    for item in node.items:
        if not item.members:
            steps.note(item.text, part="problem", line=item.line, context=name)
            continue
        join = steps.entry()
        fields = [field for field in fields_of(item) if not is_bare_state(field.text)]
        problem = next((one for role in ("problem", "did", "found") for one in fields if one.role == role), None)
        for field in fields:
            part: StatementPart = "problem" if field is problem else "remedy" if field.role == "remedy" else "other"
            part = "cause" if part == "other" and is_cause(field.name) else part
            steps.note(field.text, part=part, line=field.line, call_id=join)


def skip(steps: StepCollector, name: str, node: JsonNode) -> None:
    """All lines of a node that is known to say nothing of what happened."""
    steps.skip(node.line, name)
    for field in fields_of(node):
        steps.skip(field.line, name)


def _time_of(item: JsonNode) -> datetime | None:
    """When an entry says it happened; a clock time or a mark such as T0 is no time that could be compared."""
    return next((at for field in _fields(item, "time") if (at := parse_full_time(field.text))), None)


def read_report(document: JsonNode) -> ReportContent:
    """The steps and statements of a log in JSON."""
    reading = ReportContent(steps=StepCollector())
    aligned = take_aligned(reading.steps, document)
    for key, member in document.members.items():
        if key not in aligned:
            _take(reading, key, member)
    reading.steps.found.sort(key=lambda step: _ORDER.get(step.kind, 0))
    return reading


#: Gates and lessons are written down when the work is over, wherever the file has them.
_ORDER = {"lesson": 1, "gate": 2}


#: What the object at the head of a log is called.
_HEADS = (["session"], ["session", "info"], ["session", "metadata"], ["session", "details"], ["metadata"])


def _take(reading: ReportContent, key: str, member: JsonNode) -> None:  # noqa: PLR0911  (one line a role reads best)
    steps, role = reading.steps, role_of(key)
    if member.members and words_of(key) in _HEADS:
        for name, part in member.members.items():
            _take_head_field(reading, name, part)
        return None
    if role == "work":
        for item in member.items:
            take_entry(steps, item)
        return None
    if role in {"gates", "decision", "lesson", "problem"}:
        return _take_special(reading, key, member)
    if role in {"outcome", "status", "found"}:
        return _take_outcome(reading, key, member)
    if role in {"task", "commit", "time"} or key == "session_id":
        return _take_head_field(reading, key, member)
    if role == "header":
        return skip(steps, key, member)
    return _keep(reading, key, member)


def _take_head_field(reading: ReportContent, key: str, member: JsonNode) -> None:
    """What is at the head of a log: objective, date, branch, commits."""
    role, steps = role_of(key), reading.steps
    if role == "task":
        reading.state_task(member.text, line=member.line)
    elif role == "time":
        steps.used.add(member.line)
        reading.date = reading.date or parse_full_time(member.text) or parse_day(member.text)
    elif role == "commit":
        take_commits(reading, member)
    elif "starting" in words_of(key):
        steps.used.add(member.line)
        reading.starting = member.text
    elif key == "branch":
        steps.used.add(member.line)
        reading.branch = member.text
    elif role is None and any(fields_of(member)) and key != "session_id":
        _keep(reading, key, member)
    else:
        skip(steps, key, member)


def take_commits(reading: ReportContent, node: JsonNode) -> None:
    """The commits that a log names as its own."""
    for field in fields_of(node, name="commit"):
        reading.steps.used.add(field.line)
        shas = SHA.findall(field.text) or [field.text] * (field.text.isdigit() and len(field.text) >= 7)  # noqa: PLR2004  (git's shortest)
        reading.commits += [Piece(line=field.line, text=sha) for sha in shas]


def _take_outcome(reading: ReportContent, key: str, node: JsonNode) -> None:
    """What came of the session: a status, what it brought about, and whatever else the log put under that name."""
    if not node.members:
        for item in node.items:
            _take_result(reading, key, item)
        return
    aligned = take_aligned(reading.steps, node)
    for name, member in node.members.items():
        role = role_of(name)
        if name in aligned:
            continue
        if role in {"decision", "lesson", "problem", "work", "gates"}:
            _take_special(reading, name, member)
        elif role == "commit":
            take_commits(reading, member)
        elif member.members and role in {"outcome", "measure"}:
            _take_outcome(reading, name, member)
        elif role in {"files", "measure", "header", "time"} or not any(fields_of(member)):
            skip(reading.steps, name, member)
        else:
            for item in member.items:
                _take_result(reading, name, item)


def _take_special(reading: ReportContent, name: str, member: JsonNode) -> None:
    """Decisions, lessons, problems and gates; under the outcome of the session also work."""
    role = role_of(name)
    if role == "decision":
        take_decisions(reading.steps, member)
    elif role == "lesson":
        take_lessons(reading.steps, member)
    elif role == "problem":
        take_problems(reading.steps, member, name=name)
    elif role == "gates":
        take_gates(reading.steps, member)
    else:
        for field in fields_of(member):
            reading.steps.note(field.text, part="other", line=field.line, context=name)


def _take_result(reading: ReportContent, name: str, item: JsonNode) -> None:
    steps = reading.steps
    role = role_of(name)
    if item.members:
        # "status" with its reason is a decision; "task" with its outcome an entry of work.
        roles = {role_of(key) for key in item.members}
        if {"rationale", "status"} <= roles:
            _take_decision(steps, item, at=None)
        else:
            take_entry(steps, item)
    elif role == "status" or (role == "outcome" and is_bare_state(item.text)):
        steps.used.add(item.line)
        reading.take_status(item.text, line=item.line)
    elif item.text.isdigit():
        steps.skip(item.line, name)
    else:
        steps.note(item.text, part="did" if role in {"outcome", "found"} else "other", line=item.line, context=name)


def _keep(reading: ReportContent, key: str, member: JsonNode) -> None:
    """What is no part of what happened: known (what comes next, background) or unknown, but never lost."""
    role = role_of(key)
    for field in fields_of(member, name=key):
        if role == "next":
            reading.steps.note(field.text, part="next", line=field.line)
        elif role in {"background", "files", "measure"}:
            reading.steps.note(field.text, part="other", line=field.line, context=key)
        else:
            reading.steps.keep_unknown(field.text, line=field.line, name=key)
