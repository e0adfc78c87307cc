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
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from helix_episodes.extraction.shell import programs
from helix_episodes.extraction.shell.commands import Segment, parse_command
from helix_graph.rules.model import Binding, CheckKind, Sense, Target, When
from helix_graph.rules.wording import (
    are_alternatives,
    changed_files,
    clauses,
    committed_files,
    has_to_pass,
    holds_elsewhere,
    is_after_change,
    is_at_each_change,
    is_before_commit,
    is_before_push,
    is_conditional,
    is_for_trouble,
    is_situation,
    masked,
    sense_of,
    stands_aside,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

_SPAN = re.compile(r"`([^`]+)`")
#: A longer line, or one with more code, is a page.
_LONGEST, _MOST_SPANS = 1000, 20
#: Other commands of the same list.
_LISTED = re.compile(r"`x+`(?:,| or| and| /)* ?")
#: Said to whoever reads it, and of running it.
_FORBIDS = re.compile(
    r"\b(?:never|do not|don['\u2019]t|avoid|no longer|(?:you|agents?|we) (?:must|should|may|can) ?not)\W+"
    r"(?:(?:manually|ever|directly|just|also|locally)\W+)?(?:(?:run|us|execut|call|invok)\w*\W+)?(?:the\W+)?$",
    re.IGNORECASE,
)
#: The other way is described and not named, so that nothing shows it.
_UNNAMED = re.compile(r"\binstead of\b[^`]*$|^[^`]*\bdirectly\b[^`]*$", re.IGNORECASE)
_ASKS = re.compile(
    r"\b(?:run|runs|use|always|must|ensure|execute|prefer|verify|check with|validate|need to|should|required?|mandatory"
    r"|remember to|make sure|call|invoke|(?:lint|test|build|format|check) with)\b",
    re.IGNORECASE,
)
_IMPERATIVE = re.compile(
    r"\W*(?:always |then |also |or combined\W+)?(?:run|use|execute)\b|\W*(?:always|then|also|or combined)\W+`",
    re.IGNORECASE,
)
#: Changing the files themselves, not something that is named between the verb and the path.
_EDITS = re.compile(
    r"\b(?:edit|hand-edit|modif|touch|chang|write to|alter|churn|overwrit|creat|add)\w*"
    r"(?:\W+(?:x+|in|into|inside|under|within|of|to|any|the|a|files?|anything|everything|code|contents?|generated|or|and"
    r"|directly|manually|by|hand|such|as|like|this|these|folders?|director(?:y|ies)|from|e\.?g|new|changes|ever"
    r"|built|vendored|compiled|artifacts?|outputs?|sources?|edit\w*|modif\w*|delet\w*|remov\w*|creat\w*|add\w*))*\W*$",
    re.IGNORECASE,
)
#: Where tests go: all of them, not one sort, and the tests, not what they need.
_PLACED = re.compile(
    r"\b(?<!unit )(?<!integration )(?<!e2e )(?<!end-to-end )(?<!functional )(?<!component )(?<!acceptance )(?<!smoke )"
    r"(?<!regression )(?<!snapshot )(?<!performance )(?:tests?|specs?)(?:\s+(?:files?|cases?|code|suites?))?"
    r"(?:\s+(?:as|named|called)\s+`x+`)?(?:\s+(?:should|must|always|to|are|is|be|goe?s?|lives?|belongs?|stays?|kept|placed"
    r"|put|written|located|stored|created|added))*\s+(?:in|under|inside|into|within)\W*(?:the\W+)?$",
    re.IGNORECASE,
)
#: "`pnpm test`: compile and run the tests" says how that is done here.
_DOCUMENTED = re.compile(
    r"^(?:[\w ]{3,30}:)?\W{0,6}(?:`[^`]+`\W{0,6}(?:or\W{1,3})?)+"
    r"(?:\s*[-:\u2013\u2014=]|\s+(?:runs|executes|checks|builds)\b|\W*$)"
)
_PLACEHOLDER = re.compile(r"\s*(?:(?:\s\./|/)\.\.\.|<[^>]*>|\[[^\]]*\]|\{[^}]*\}|\.\.\.|\u2026|\$\w+|#).*$")
_PATH = re.compile(
    r"(?:\./|~/)?[\w.@*{},-]+(?:/[\w.@*{},-]*)+|[\w.*-]+\.(?:md|json|ya?ml|toml|lock|[cm]?[jt]sx?|py|go|rs|css)"
)
_COMMAND = re.compile(r"(?:\./)?[a-z][\w.-]*(?:/[\w.-]+)*(?:\s+\S+)*")
_WITHOUT_FAIL = re.compile(r"\balways (?:use|run|call|invoke)\b|\bwhen (?:invoking|calling|running)\b", re.IGNORECASE)
#: "Never skip hooks with `x`" is against running it.
_BY = re.compile(r"\b(?:with|via|by|using|through|by running)\W*$", re.IGNORECASE)
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
_PARTIAL = re.compile(
    r"(?:^|\s)(?:--cd|-C|--filter|--workspace|--prefix|--package|--watch|-p|-run|-k|-t|--test\w*[Pp]attern)\b|\bwatch\b|::"
)
#: "Run a single test with …" is help, not a rule for each run.
_ONE_OF_IT = re.compile(
    r"\b(?:single|specific|individual|particular|targeted|one|focused)\s+(?:\w+\s+)?(?:tests?|files?|packages?|cases?)\b",
    re.IGNORECASE,
)
#: Tools that check one language, and its files.
_TOOLS: dict[frozenset[str], tuple[str, ...]] = {
    frozenset({"go", "gofmt", "goimports", "golangci-lint", "staticcheck"}): ("*.go",),
    frozenset({"ruff", "black", "isort", "flake8", "pylint", "mypy", "pyright", "pytest"}): ("*.py",),
    frozenset({"cargo", "rustfmt", "clippy-driver"}): ("*.rs",),
    frozenset({"eslint", "biome", "prettier", "tsc", "vitest", "jest"}): ("*.ts", "*.tsx", "*.js", "*.jsx", "*.mjs"),
    frozenset({"markdownlint", "markdownlint-cli2"}): ("*.md", "*.mdx"),
    frozenset({"shellcheck", "shfmt"}): ("*.sh",),
}
_OF_DOCS = re.compile(r"\b(?:docs?|documentation|site|website|mkdocs|typedoc|sphinx)\b", re.IGNORECASE)
#: A person merges, elsewhere.
_PUSHED = re.compile(r"\bpush|\bpull request|\bPRs?\b", re.IGNORECASE)
#: A command that is run there checks what is there.
_WITHIN = re.compile(r"\b(?:in|inside|within|under)\W*$", re.IGNORECASE)
#: What a rule says of these is said of every session.
_NO_PROGRAM = programs.SETTINGS
_KNOWN = {*programs.SUBCOMMANDERS, *programs.FILERS, *programs.FORMATTERS}


class _Span(NamedTuple):
    target: Target
    sense: Sense
    #: Named after "instead of", "not": what the others stand in for.
    other: bool
    before: str
    place: tuple[int, int]


def bind(text: str, *, heading: str = "", around: Sequence[str] = ()) -> Binding | None:
    """What sessions show of a rule, or None.

    ``heading`` is that of its part of the file, ``around`` what else it stands under: the headings above, and the line
    that leads to a list ("Before you commit:").
    """
    if len(text) > _LONGEST or text.count("`") > 2 * _MOST_SPANS:
        return None
    text = " ".join(text.split())
    if is_for_trouble(masked(text)):
        return None
    spans = _spans(text)
    over = (*around, heading)
    bound = _avoided_paths(spans) or _placed(spans) or _commands(text, spans, over)
    if bound is None or bound.sense == "avoid":
        return bound
    return None if any(holds_elsewhere(one) or is_situation(one) for one in over) else bound


def _spans(text: str) -> list[_Span]:
    """The commands and paths in the code of a text that it asks for or warns of, each with the words of its clause."""
    found = []
    senses: dict[Target, set[Sense | None]] = {}
    words = masked(text)
    for match in _SPAN.finditer(text):
        before, after = words[: match.start()], words[match.end() :]
        other = stands_aside(before)
        # A program that is named alone is one where it has subcommands.
        alone = Target("command", match[1]) if match[1] in programs.SUBCOMMANDERS else None
        target = target_of(match[1]) or alone
        if target is None:
            continue
        sense = sense_of(before, after, is_path=target.kind == "path")
        senses.setdefault(target, set()).add(sense)
        if sense is not None:
            other &= target.kind == "command" and sense == "avoid"
            found.append(_Span(target, sense, other, clauses(before)[-1], match.span()))
    # What a line both asks for and warns of has conditions.
    found = [one for one in found if one.target.kind == "path" or len(senses[one.target]) == 1]
    # A program without arguments says something only beside the one that it stands in for.
    if any(one.other for one in found) and any(one.sense == "do" and one.target.kind == "command" for one in found):
        return found
    return [one for one in found if one.target.kind == "path" or target_of(one.target.text) is not None]


def target_of(code: str) -> Target | None:
    """The command or path that a code span is, without placeholders; None where it is neither.

    >>> target_of("br close <id>").text, target_of("src/test/").kind, target_of("ConfigManager")
    ('br close', 'path', None)
    """
    text = _PLACEHOLDER.sub("", code.strip().lstrip("$ ")).strip()
    if not text or text.endswith("\\"):  # part of a longer command
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


def _files_within(scope: tuple[str, ...], endings: tuple[str, ...]) -> tuple[str, ...]:
    """The files of a tool in the folders that a line names.

    >>> _files_within(("src/",), ("*.go",)), _files_within((), ("*.go",)), _files_within(("src/",), ())
    (('src/*.go',), ('*.go',), ())
    """
    folders = [one for one in scope if one.endswith("/")]
    return tuple(f"{folder}{ending}" for folder in folders for ending in endings) if folders else endings


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


def _placed(spans: list[_Span]) -> Binding | None:
    folders = tuple(
        one.target
        for one in spans
        if one.target.kind == "path"
        and one.sense == "do"
        and one.target.text.endswith("/")
        and _PLACED.search(one.before)
    )
    return Binding(sense="do", when="place", targets=folders) if folders else None


def _commands(text: str, spans: list[_Span], over: Sequence[str]) -> Binding | None:
    commands = [one for one in spans if one.target.kind == "command"]
    wanted = [one for one in commands if one.sense == "do"]
    others = tuple(one.target for one in spans if one.other)
    if wanted and others:
        return Binding(sense="do", when="instead", targets=_targets(wanted), others=others)
    if commands and commands[0].sense == "avoid":  # what follows a warning is how to live with it
        forbidden = [one for one in commands if one.sense == "avoid" and _is_forbidden(_LISTED.sub("", one.before))]
        return Binding(sense="avoid", when="never", targets=_targets(forbidden)) if forbidden else None
    words = _SPAN.sub("`x`", text)
    unnamed = any(map(_UNNAMED.search, clauses(words)))
    if not wanted or unnamed or is_conditional(words):
        return None
    paths = [one for one in spans if one.target.kind == "path" and one.sense == "do"]
    scope = tuple(one.target.text for one in paths)
    within = tuple(one.target.text for one in paths if _WITHIN.search(one.before))
    bound = _asked(text, words, wanted, over=over, scope=scope, within=within)
    said_when = [words] if is_after_change(words) or is_at_each_change(words) else over
    if bound is None or (bound.when in {"change", "kind"} and any(map(is_at_each_change, said_when))):
        return None
    if bound.when not in {"commit", "push", "change"}:
        return bound
    bound = replace(bound, passes=has_to_pass(words))
    gaps = [text[one.place[1] : other.place[0]] for one, other in pairwise(wanted)]
    return replace(bound, either=bool(gaps) and all(map(are_alternatives, gaps)))


def _is_forbidden(before: str) -> bool:
    return bool(_FORBIDS.search(before) or (re.match(r"\W*never\b", before, re.IGNORECASE) and _BY.search(before)))


def _asked(
    text: str, words: str, wanted: list[_Span], *, over: Sequence[str], scope: tuple[str, ...], within: tuple[str, ...]
) -> Binding | None:
    """The binding of commands that are to be run, by when they are: the nearest that says so decides."""
    targets = _targets(wanted)
    heading = next((one for one in reversed(over) if is_before_commit(one)), "")
    documented = bool(_DOCUMENTED.search(text.lstrip("-*+0123456789.) ")))  # its verbs say what the command does
    asked = bool(_ASKS.search(words)) and (not documented or bool(_INSISTS.search(words)))
    kinds: list[CheckKind] = [part.kind for one in targets for part in parse_command(one.text) if part.kind is not None]
    titled = is_before_commit(heading) and (documented or _IMPERATIVE.match(words))
    if (titled or is_before_commit(words)) and (asked or kinds):
        named = committed_files(words)
        files = named or within or _files_of_tool(targets)
        when: When = "push" if is_before_push(words if is_before_commit(words) else heading) else "commit"
        if named is None or (when == "push" and not _PUSHED.search(f"{heading} {words}")):
            return None
        return Binding(sense="do", when=when, targets=targets, scope=files)
    changed = next((one for one in (words, *reversed(over)) if is_after_change(one)), None)
    if changed is not None and (asked or (kinds and changed is not words)):
        named = (scope if changed is words else ()) or changed_files(changed)
        return None if named is None else Binding(sense="do", when="change", targets=targets, scope=named)
    if kinds and not _PARTIAL.search(" ".join(one.text for one in targets)):
        return _checked(words, targets, kinds, asked=asked, documented=documented, scope=scope)
    bare, flag, _ = targets[0].text.partition(" -")
    if flag and not (kinds or documented) and len(wanted) == 1 and _WITHOUT_FAIL.search(wanted[0].before):
        return Binding(sense="do", when="instead", targets=targets, others=(Target("command", bare),))
    return None


def _checked(
    words: str,
    targets: tuple[Target, ...],
    kinds: Sequence[CheckKind],
    *,
    asked: bool,
    documented: bool,
    scope: tuple[str, ...],
) -> Binding | None:
    """The binding of checks that are to be run so: after changes of their language, or whenever their kind is run."""
    # A script may be called anything: what it is said to do goes before its name.
    said: list[CheckKind] = [kind for kind, means in _DESCRIBED.items() if means.search(words)] if documented else []
    kind = kinds[0] if not said or kinds[0] in said else said[0]
    same = tuple(one for one in targets if any(part.kind == kinds[0] for part in parse_command(one.text)))
    files = _files_within(scope, _files_of_tool(same))
    if asked and files:
        one_of_it = _ONE_OF_IT.search(words)
        return None if one_of_it else Binding(sense="do", when="change", targets=same, scope=files)
    if documented and targets[0] not in same:  # the line is about a command of which nobody knows what it checks
        return None
    if any(_OF_DOCS.search(one.text) for one in same):  # changes of the code are no reason to run it
        return None
    bound = Binding(sense="do", when="kind", targets=same, check=kind, scope=files, described=not asked)
    return bound if asked or said else None


def _targets(spans: list[_Span]) -> tuple[Target, ...]:
    return tuple(dict.fromkeys(one.target for one in spans))
