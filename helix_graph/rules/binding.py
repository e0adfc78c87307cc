"""What a rule names that sessions show: the command to run, the path to leave alone, and where there is an opportunity.

A rule is bound by its code spans: commands, paths. The words around a span say whether it is asked for or warned of,
and when: before a commit, after a change, at each run of a kind of check. A line whose spans name neither a command nor
a path, or that says nothing of when, cannot be observed. A rule bound wrongly accuses, one left out says nothing: in
doubt a line is left out.

>>> bound = bind("Always run `npm run check` before committing; do not edit `dist/` by hand.")
>>> bound.when, bound.targets[0].text
('commit', 'npm run check')
>>> bind("Write comments in complete sentences.") is None
True
"""

from __future__ import annotations

import re
from typing import NamedTuple

from helix_episodes.extraction.shell import programs
from helix_episodes.extraction.shell.commands import Segment, parse_command
from helix_graph.rules.model import Binding, Sense, Target, When

_SPAN = re.compile(r"`([^`]+)`")
#: Where another thought begins. A span is judged by the words of its own.
_CLAUSE = re.compile(r"(?<=[a-z`*)\d])[.;:!?](?=\s|$)|\s[\u2013\u2014-]\s|,\s(?=(?:not|never|instead|rather|but)\b)")
_AVOID = re.compile(
    r"\b(?:never|do not|don['\u2019]t|must not|mustn['\u2019]t|should not|shouldn['\u2019]t|avoid|no longer|not|forbidden"
    r"|prohibited|without)\b",
    re.IGNORECASE,
)
_INSTEAD = re.compile(r"\b(?:instead of|rather than|over|not|never|replaces|in place of)\b[^`]*$", re.IGNORECASE)
_ASKS = re.compile(
    r"\b(?:run|runs|use|always|must|ensure|execute|prefer|verify|check with|validate|need to|should|required?|mandatory"
    r"|remember to|make sure|pass(?:es)?|call|invoke)\b",
    re.IGNORECASE,
)
_COMMIT = re.compile(
    r"\b(?:before|prior to|ahead of|until after)\b[^.;]{0,40}?\b(?:commit|push|pull request|PR|merg|submit|releas)",
    re.IGNORECASE,
)
_CHANGE = re.compile(
    r"\b(?:after|when|whenever|while|once|every time|if)\b[^.;]{0,30}?\b(?:chang|edit|modif|updat|touch|writ|implement|add|code)"
    r"|\bbefore\b[^.;]{0,40}?\b(?:finish|complet|mark|done|conclud|declar|respond|hand)"
    r"|\b(?:task|work|change)s?\b[^.;]{0,20}?\b(?:complete|done|finished)\b",
    re.IGNORECASE,
)
_EDITS = re.compile(r"\b(?:edit|hand-edit|modif|touch|chang|write to|alter|churn|overwrit|creat|add)", re.IGNORECASE)
_PLACED = re.compile(
    r"\b(?:put|place|write|create|add|store|live|go|belong|keep)s?\b[^`.;]{0,40}?\b(?:in|under|inside|into|to)\b[^`]{0,15}$",
    re.IGNORECASE,
)
_TESTS = re.compile(r"\btests?\b", re.IGNORECASE)
#: "`pnpm test`: compile and run the tests" says how that is done here.
_DOCUMENTED = re.compile(r"^\W*`[^`]+`\W{0,6}(?:\s*[-:\u2013\u2014=]|\s+(?:runs|executes|checks|builds)\b|\W*$)")
_PLACEHOLDER = re.compile(r"\s*(?:<[^>]*>|\[[^\]]*\]|\{[^}]*\}|\.\.\.|\u2026|\$\w+|#).*$")
_PATH = re.compile(r"(?:\./|~/)?[\w.@*{},-]+(?:/[\w.@*{},-]*)+|[\w*-]+\.(?:md|json|ya?ml|toml|lock|[cm]?[jt]sx?|py|go|rs|css)")
_COMMAND = re.compile(r"(?:\./)?[a-z][\w.-]*(?:/[\w.-]+)*(?:\s+\S+)*")
_WITHOUT_FAIL = re.compile(r"\b(?:always|only|must|never|mandatory)\b", re.IGNORECASE)
#: What a rule says of these is said of every session.
_NO_PROGRAM = programs.SETTINGS | {"cd"}


class _Span(NamedTuple):
    target: Target
    sense: Sense
    #: Named after "instead of", "not": what the others stand in for.
    other: bool
    before: str


def bind(text: str, *, heading: str = "") -> Binding | None:
    """What sessions show of a rule, or None; ``heading`` is that of its part of the file."""
    spans = list(_spans(text))
    return _avoided_paths(text, spans) or _placed(text, spans) or _commands(text, spans, heading)


def _spans(text: str) -> list[_Span]:
    """The commands and paths in the code of a text, each with the sense of its clause."""
    found = []
    for match in _SPAN.finditer(text):
        target = target_of(match[1])
        if target is None:
            continue
        masked = _SPAN.sub(lambda one: "`" + "x" * (len(one[0]) - 2) + "`", text)
        clause = _CLAUSE.split(masked[: match.start()])[-1]
        other = bool(_INSTEAD.search(clause))
        sense: Sense = "avoid" if _AVOID.search(clause) else "do"
        found.append(_Span(target, sense, other, clause))
    return found


def target_of(code: str) -> Target | None:
    """The command or path that a code span is, without placeholders; None where it is neither.

    >>> target_of("br close <id>").text, target_of("src/test/").kind, target_of("ConfigManager")
    ('br close', 'path', None)
    """
    text = _PLACEHOLDER.sub("", code.strip().lstrip("$ ")).strip()
    if not text:
        return None
    if " " not in text and _PATH.fullmatch(text):
        return Target("path", text.removeprefix("./"))
    if not _COMMAND.fullmatch(text):
        return None
    parts = [part for part in parse_command(text) if part.program not in _NO_PROGRAM]
    if not parts:
        return None
    if len(text.split()) > 1 and _is_command(parts[0]):
        return Target("command", text)
    return Target("command", text) if parts[0].check is not None and len(text.split()) == 1 else None


def _is_command(part: Segment) -> bool:
    """Whether the words look like a program with its arguments, and not like prose or code of another language."""
    return part.program.replace("-", "").replace("_", "").replace(".", "").isalnum() and "(" not in part.text


def _avoided_paths(text: str, spans: list[_Span]) -> Binding | None:
    paths = tuple(one.target for one in spans if one.target.kind == "path" and one.sense == "avoid" and not one.target.text.startswith("~"))
    warned = [one for one in spans if one.target in paths and _EDITS.search(one.before)]
    if not warned or any(one.target.kind == "command" for one in spans):
        return None
    return Binding(sense="avoid", when="never", targets=paths)


def _placed(text: str, spans: list[_Span]) -> Binding | None:
    if not _TESTS.search(text):
        return None
    folders = tuple(
        one.target for one in spans
        if one.target.kind == "path" and one.sense == "do" and one.target.text.endswith("/") and _PLACED.search(one.before)
    )
    return Binding(sense="do", when="place", targets=folders) if folders else None


def _commands(text: str, spans: list[_Span], heading: str) -> Binding | None:
    commands = [one for one in spans if one.target.kind == "command"]
    wanted = tuple(one.target for one in commands if one.sense == "do")
    avoided = tuple(one.target for one in commands if one.sense == "avoid")
    if not wanted:
        return Binding(sense="avoid", when="never", targets=avoided) if avoided else None
    others = tuple(one.target for one in spans if one.sense == "avoid" and (one.other or one.target.kind == "path"))
    if others:
        return Binding(sense="do", when="instead", targets=wanted, others=others)
    asked = bool(_ASKS.search(_SPAN.sub("", text)))
    kinds = [part.kind for one in wanted for part in parse_command(one.text) if part.kind is not None]
    scope = tuple(one.target.text for one in spans if one.target.kind == "path" and one.sense == "do")
    plain = f"{heading}\n{_SPAN.sub('`x`', text)}"
    when: When | None = None
    flags = [word for word in wanted[0].text.split() if word.startswith("-")]
    if flags and not kinds and _WITHOUT_FAIL.search(text):
        bare = Target("command", wanted[0].text.partition(f" {flags[0]}")[0])
        return Binding(sense="do", when="instead", targets=wanted, others=(bare,))
    if _COMMIT.search(plain):
        when = "commit"
    elif asked and _CHANGE.search(plain):
        when = "change"
    elif kinds and (asked or _DOCUMENTED.search(text.lstrip("-*+0123456789.) "))):
        when = "kind"
    if when is None or (when != "kind" and not (asked or kinds)):
        return None
    return Binding(sense="do", when=when, targets=wanted, check=kinds[0] if when == "kind" else None, scope=scope)
