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
from typing import TYPE_CHECKING, NamedTuple

from helix_episodes.extraction.shell import programs
from helix_episodes.extraction.shell.commands import Segment, parse_command
from helix_graph.rules.model import Binding, CheckKind, Sense, Target

if TYPE_CHECKING:
    from collections.abc import Sequence

_SPAN = re.compile(r"`([^`]+)`")
#: A longer line, or one with more code, is a page.
_LONGEST, _MOST_SPANS = 1000, 20
#: Where another thought begins. A span is judged by the words of its own.
_CLAUSE = re.compile(
    r"(?<=[a-z`*)\d])[.;:!?](?=\s|$)|[()]|\s[\u2013\u2014-]\s|,\s(?=(?:not|never|instead|rather|but|always|use|run)\b)"
)
_AVOID = re.compile(
    r"\b(?:never|do not|don['\u2019]t|must not|mustn['\u2019]t|should not|shouldn['\u2019]t|may not|cannot|avoid"
    r"|no longer"
    r"|forbidden|prohibited)\b|(?<!does )\bnot(?: \w+)?\s*$",
    re.IGNORECASE,
)
#: What a command is named after that another is to be used in place of.
_INSTEAD = re.compile(
    r"(?:\b(?:instead of|rather than|in place of)\b|[,;\u2013\u2014-]\s*(?:not|never)\b)[^`]*$", re.IGNORECASE
)
#: Said to whoever reads it, and of running it.
_FORBIDS = re.compile(
    r"\b(?:never|do not|don['\u2019]t|avoid|no longer|(?:you|agents?|we) (?:must|should|may|can) ?not)\W+"
    r"(?:(?:manually|ever|directly|just|also|locally)\W+)?(?:(?:run|us|execut|call|invok)\w*\W+)?(?:the\W+)?$",
    re.IGNORECASE,
)
#: Other commands of the same list.
_LISTED = re.compile(r"`x+`(?:,| or| and| /)* ?")
#: The other way is described and not named, so that nothing shows it.
_UNNAMED = re.compile(r"\binstead of\b[^`]*$|^[^`]*\bdirectly\b[^`]*$", re.IGNORECASE)
_ASKS = re.compile(
    r"\b(?:run|runs|use|always|must|ensure|execute|prefer|verify|check with|validate|need to|should|required?|mandatory"
    r"|remember to|make sure|call|invoke|(?:lint|test|build|format|check) with)\b",
    re.IGNORECASE,
)
_COMMIT = re.compile(
    r"\b(?:before|prior to|ahead of|until after)\b[^.;]{0,40}?\b(?:commit|push|pull request|PR|merg|submit|releas)",
    re.IGNORECASE,
)
_CHANGE = re.compile(
    r"\b(?:after|when|whenever|while|once|every time|if)\b[^.;]{0,30}?"
    r"\b(?:chang|edit|modif|updat|touch|writ|implement|add|code)|\b(?:at )?the end of (?:any|each|every|a|the)\b"
    r"|\bbefore\b[^.;]{0,40}?\b(?:finish|complet|mark|done|conclud|declar|respond|hand)"
    r"|\b(?:task|work|change)s?\b[^.;]{0,20}?\b(?:complete|done|finished)\b",
    re.IGNORECASE,
)
#: "When changing integration test code": what has to be changed is said in words, which are in the names of files.
_OBJECT = re.compile(
    r"\b(?:when|if|whenever|while|after)\s+(?:you\s+)?(?:chang|edit|modif|updat|touch)\w*\s+(?:the\s+|any\s+)?"
    r"((?:[a-z]+[ -]){0,2}[a-z]+?)(?:\s+(?:code|files?|modules?))?(?=[,.;:)]|\s*$)",
    re.IGNORECASE,
)
_IMPERATIVE = re.compile(r"\W*(?:always |then |also |or combined\W+)?(?:run|use|execute|`)", re.IGNORECASE)
_ANYTHING = frozenset(
    {"code", "file", "files", "anything", "something", "source", "it", "them", "change", "changes", "module", "modules"}
)
#: What a session does not show: what the work is for, or whether somebody runs it that way at all.
_CONDITION = re.compile(r"^\W*for\s+(?:\w+\s+){2,}[^`]{0,30},|\b(?:if|when) you (?:run|use)\b", re.IGNORECASE)
_EDITS = re.compile(r"\b(?:edit|hand-edit|modif|touch|chang|write to|alter|churn|overwrit|creat|add)", re.IGNORECASE)
_PLACED = re.compile(
    r"\b(?:put|place|write|create|add|store|live|go|belong|keep)s?\b[^.;]{0,40}?"
    r"\b(?:in|under|inside|into|to)\b[^`]{0,15}$",
    re.IGNORECASE,
)
_TESTS = re.compile(r"\btests?\b", re.IGNORECASE)
#: "`pnpm test`: compile and run the tests" says how that is done here.
_DOCUMENTED = re.compile(
    r"^(?:[\w ]{3,30}:)?\W{0,6}(?:`[^`]+`\W{0,6}(?:or\W{1,3})?)+"
    r"(?:\s*[-:\u2013\u2014=]|\s+(?:runs|executes|checks|builds)\b|\W*$)"
)
_PLACEHOLDER = re.compile(r"\s*(?:<[^>]*>|\[[^\]]*\]|\{[^}]*\}|\.\.\.|\u2026|\$\w+|#).*$")
_PATH = re.compile(
    r"(?:\./|~/)?[\w.@*{},-]+(?:/[\w.@*{},-]*)+|[\w.*-]+\.(?:md|json|ya?ml|toml|lock|[cm]?[jt]sx?|py|go|rs|css)"
)
_COMMAND = re.compile(r"(?:\./)?[a-z][\w.-]*(?:/[\w.-]+)*(?:\s+\S+)*")
_WITHOUT_FAIL = re.compile(r"\balways (?:use|run|call|invoke)\b|\bwhen (?:invoking|calling|running)\b", re.IGNORECASE)
_INSISTS = re.compile(r"\b(?:always|must|never|mandatory)\b", re.IGNORECASE)
#: What each kind of check is called where a line describes a command.
_DESCRIBED: dict[CheckKind, re.Pattern[str]] = {
    "test": re.compile(r"\b(?:unit |e2e |integration )?tests?\b|\bcoverage\b", re.IGNORECASE),
    "lint": re.compile(r"\blint|\bcheck(?:s|ing)?\b|\bquality\b", re.IGNORECASE),
    "build": re.compile(r"\bbuild|\bcompil|\bbundl", re.IGNORECASE),
    "typecheck": re.compile(r"\btype", re.IGNORECASE),
    "format": re.compile(r"\bformat", re.IGNORECASE),
}
#: A command for one part of the project, or one that does not end, is not how the whole is checked.
_PARTIAL = re.compile(r"(?:^|\s)(?:--cd|-C|--filter|--workspace|--prefix|--watch)\b|\bwatch\b")
#: Tools that check one language, and its files.
_TOOLS: dict[frozenset[str], tuple[str, ...]] = {
    frozenset({"go", "gofmt", "goimports", "golangci-lint", "staticcheck"}): ("*.go",),
    frozenset({"ruff", "black", "isort", "flake8", "pylint", "mypy", "pyright", "pytest"}): ("*.py",),
    frozenset({"cargo", "rustfmt", "clippy-driver"}): ("*.rs",),
    frozenset({"eslint", "biome", "prettier", "tsc", "vitest", "jest"}): ("*.ts", "*.tsx", "*.js", "*.jsx", "*.mjs"),
    frozenset({"markdownlint", "markdownlint-cli2"}): ("*.md", "*.mdx"),
    frozenset({"shellcheck", "shfmt"}): ("*.sh",),
}
#: What a rule says of these is said of every session.
_NO_PROGRAM = programs.SETTINGS
_KNOWN = {*programs.SUBCOMMANDERS, *programs.FILERS, *programs.FORMATTERS}


class _Span(NamedTuple):
    target: Target
    sense: Sense
    #: Named after "instead of", "not": what the others stand in for.
    other: bool
    before: str


def bind(text: str, *, heading: str = "") -> Binding | None:
    """What sessions show of a rule, or None; ``heading`` is that of its part of the file."""
    if len(text) > _LONGEST or text.count("`") > 2 * _MOST_SPANS:
        return None
    spans = list(_spans(text))
    return _avoided_paths(spans) or _placed(text, spans) or _commands(text, spans, heading)


def _spans(text: str) -> list[_Span]:
    """The commands and paths in the code of a text, each with the sense of its clause."""
    found = []
    masked = _SPAN.sub(lambda one: "`" + "x" * (len(one[0]) - 2) + "`", text)
    for match in _SPAN.finditer(text):
        target = target_of(match[1])
        if target is None:
            continue
        clause = _CLAUSE.split(masked[: match.start()])[-1]
        other = target.kind == "command" and bool(_INSTEAD.search(masked[: match.start()]))
        sense: Sense = "avoid" if other or _AVOID.search(clause) else "do"
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
    # A session does not record what only looks.
    if not parts or all(part.purpose == "look" for part in parts):
        return None
    return Target("command", text) if _is_command(parts[0], text.split()) else None


def _is_command(part: Segment, words: list[str]) -> bool:
    """Whether words are a program with its arguments, and not prose or code of another language."""
    if len(words) == 1:
        return part.check is not None
    if any(sign in word for word in words for sign in ("(", ")", "{", "->", "=>")):
        return False
    known = part.check is not None or part.purpose != "change" or part.program in _KNOWN
    return known or re.fullmatch(r"[a-z][\w:-]*", words[1]) is not None


def _files_of_tool(targets: Sequence[Target]) -> tuple[str, ...]:
    """The files that a tool of one language checks: a run of another language's tool does not stand in for it."""
    named = {part.program for one in targets for part in parse_command(one.text)}
    return tuple(dict.fromkeys(ending for tools, endings in _TOOLS.items() if named & tools for ending in endings))


def _named_scope(words: str) -> tuple[str, ...]:
    """The files that a rule is about, as a pattern of the words that it has for them; none where it is any change."""
    found = _OBJECT.search(words)
    words_of_it = found[1].casefold().replace("-", " ").split() if found else []
    named = [one.removesuffix("s") for one in words_of_it if one not in _ANYTHING]
    return (f"*{'?'.join(named)}*",) if named else ()


def _avoided_paths(spans: list[_Span]) -> Binding | None:
    paths = tuple(
        one.target
        for one in spans
        if one.target.kind == "path" and one.sense == "avoid" and not one.target.text.startswith("~")
    )
    warned = [one for one in spans if one.target in paths and _EDITS.search(one.before)]
    if not warned or any(one.target.kind == "command" for one in spans):
        return None
    return Binding(sense="avoid", when="never", targets=paths)


def _placed(text: str, spans: list[_Span]) -> Binding | None:
    if not _TESTS.search(text):
        return None
    folders = tuple(
        one.target
        for one in spans
        if one.target.kind == "path"
        and one.sense == "do"
        and one.target.text.endswith("/")
        and _PLACED.search(one.before)
    )
    return Binding(sense="do", when="place", targets=folders) if folders else None


def _commands(text: str, spans: list[_Span], heading: str) -> Binding | None:
    commands = [one for one in spans if one.target.kind == "command"]
    wanted = [one for one in commands if one.sense == "do"]
    others = tuple(one.target for one in spans if one.other)
    if wanted and others:
        return Binding(sense="do", when="instead", targets=_targets(wanted), others=others)
    if commands and commands[0].sense == "avoid":  # what follows a warning is how to live with it
        forbidden = [one for one in commands if one.sense == "avoid" and _FORBIDS.search(_LISTED.sub("", one.before))]
        return Binding(sense="avoid", when="never", targets=_targets(forbidden)) if forbidden else None
    words = _SPAN.sub("`x`", text)
    unnamed = any(map(_UNNAMED.search, _CLAUSE.split(words)))
    if not wanted or unnamed or _CONDITION.search(words):
        return None
    scope = tuple(one.target.text for one in spans if one.target.kind == "path" and one.sense == "do")
    return _asked(text, words, wanted, heading=heading, scope=scope)


def _asked(text: str, words: str, wanted: list[_Span], *, heading: str, scope: tuple[str, ...]) -> Binding | None:
    """The binding of commands that are to be run, by when they are."""
    targets = _targets(wanted)
    documented = bool(_DOCUMENTED.search(text.lstrip("-*+0123456789.) ")))  # its verbs say what the command does
    asked = bool(_ASKS.search(words)) and (not documented or bool(_INSISTS.search(words)))
    kinds: list[CheckKind] = [part.kind for one in targets for part in parse_command(one.text) if part.kind is not None]
    titled = _COMMIT.search(heading) and (documented or _IMPERATIVE.match(words))
    if (titled or _COMMIT.search(words)) and (asked or kinds):
        return Binding(sense="do", when="commit", targets=targets)
    if _CHANGE.search(words) and asked:
        return Binding(sense="do", when="change", targets=targets, scope=scope or _named_scope(words))
    if kinds and not _PARTIAL.search(" ".join(one.text for one in targets)):
        # A script may be called anything: what it is said to do goes before its name.
        said: list[CheckKind] = (
            [kind for kind, means in _DESCRIBED.items() if means.search(words)] if documented else []
        )
        kind = kinds[0] if not said or kinds[0] in said else said[0]
        same = tuple(one for one in targets if any(part.kind == kinds[0] for part in parse_command(one.text)))
        if asked and (files := _files_of_tool(same)):
            return Binding(sense="do", when="change", targets=same, scope=scope or files)
        bound = Binding(sense="do", when="kind", targets=same, check=kind, described=not asked)
        return bound if asked or said else None
    bare, flag, _ = targets[0].text.partition(" -")
    if flag and not (kinds or documented) and len(wanted) == 1 and _WITHOUT_FAIL.search(wanted[0].before):
        return Binding(sense="do", when="instead", targets=targets, others=(Target("command", bare),))
    return None


def _targets(spans: list[_Span]) -> tuple[Target, ...]:
    return tuple(dict.fromkeys(one.target for one in spans))
