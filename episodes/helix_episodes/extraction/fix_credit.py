"""Which of the changes between a failing and a passing run touch what the diagnostic names.

A compiler, a linter and a formatter point at the place that is wrong: a file, and in their message often the symbol. A
change elsewhere did not repair it, even where nothing else was changed. The order is: the files named, else the symbol
named, else (for what does not compile) the package of the file, since a missing name may be added in any of its files.
What names nothing credits every change. A test names itself and not what is wrong, so all changes it looks at share.

Of a change that several edits make up, `speaking_edits` finds the one that speaks of the failure.
"""

from __future__ import annotations

import re
from itertools import chain, takewhile
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from helix_episodes.extraction.actions import action_of, changed_part, is_telling, replaced_part
from helix_episodes.extraction.calls import CHANGES, written_by
from helix_episodes.extraction.check_runs import does_not_compile, folder_of, rewrites
from helix_episodes.extraction.checks.compilers import COMPILE_FAMILIES
from helix_episodes.extraction.decisions import evidence_of_call
from helix_episodes.extraction.paths import file_name
from helix_episodes.extraction.timeline import POINTS_AT_PLACE
from helix_episodes.model import Fix, FixEdit

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from helix_episodes.extraction.calls import ParsedCall
    from helix_episodes.extraction.check_runs import CheckRun
    from helix_episodes.extraction.timeline import Timeline
    from helix_episodes.model import Decision, Event

#: How compilers and linters name a place: ``a.go:3:1``, ``a.ts(3,1)``, ``a.ts format``.
_PLACE = re.compile(r"(?<![\w@+.-])([\w@+.-]+\.\w{1,8})(?=:\d|\(\d+,\d+\)|\s+(?:format|lint/\S+|\u2501))")
#: A name in quotation marks or backticks, or after what compilers write before the name that they do not know.
_SYMBOL = re.compile(
    r"[`'\"\u2018\u201c]([A-Za-z_][\w.:]{2,80})[`'\"\u2019\u201d]"
    r"|\b(?:undefined|undeclared name|call to|of type): ?([\w.]{3,80})|([\w.]{3,80}) undefined \("
    r"|\b(?:variable|function|parameter|import|func|const|var|type|field) ([A-Za-z_]\w{2,80}) is (?:unused|never)"
)
#: A word, and the shortest that is more than a part of speech where it is the name of a rule.
_WORD = re.compile(r"\w+")
_SHORTEST_RULE = 5
#: The shortest word of a message that tells one edit from another.
_SHORTEST_TOLD = 4
_STEM = 6
#: Where a word of a test's name ends: ``UserConfirmsOverwrite``.
_PART = re.compile(r"_|(?<=[a-z])(?=[A-Z])")
#: So many lines below a diagnostic quote the source, behind a number and a bar or not; a shorter one is in any file.
_QUOTED_BELOW = 4
_GUTTER = re.compile(r"^[>\s]*(?:\d+\s*)?[│|]\s?|^[>E]\s+")
_SHORTEST_LINE = 6
#: What a test says is looked for in its source from so many characters on.
_SHORTEST_SAID = 12
#: A comment on a line of its own, by the languages that write it so, but for those that tools obey; a sentence alone
#: on its lines documents what it is in.
_OBEYED = r"(?!\s*(?:go:|!|type:|@ts-|eslint|biome-|nolint|noqa|pragma|pylint|ruff))"
_HASH = re.compile(rf"\s*#{_OBEYED}")
_SLASHES = re.compile(rf"\s*(?://|/\*|\*(?=[\s/]|$)){_OBEYED}")
_OTHER_COMMENT = {".sql": re.compile(r"\s*--\s"), ".lua": re.compile(r"\s*--"), ".html": re.compile(r"\s*<!--")}
_DOCSTRING = re.compile(r"^[ \t]*[rR]?(\"\"\"|''')(?:(?!\1|>>>)[\s\S])*\1[ \t]*$", re.MULTILINE)
#: Files whose comments begin with a hash, files in which the indentation is a part of the code, and prose.
_HASHED = (".py", ".pyi", ".sh", ".bash", ".zsh", ".rb", ".yml", ".yaml", ".toml", ".mk", ".r", ".pl", ".ex", ".exs",
           ".nim", "Makefile", "Dockerfile")  # fmt: skip
_INDENTED = (".py", ".pyi", ".yml", ".yaml", ".mk", ".hs", ".fs", ".nim", "Makefile")
_PROSE = (".md", ".mdx", ".rst", ".txt", ".adoc")
_BEFORE_CLOSING = re.compile(r",(?=[)\]}])")
#: Where the next diagnostic begins.
_NEXT = re.compile(r"\S+(?::\d+:|\(\d+,\d+\))")
#: A longer output than this lists more places than one family has.
_MOST_TEXT = 60_000


def credited_changes(
    timeline: Timeline, changes: Sequence[Decision], error: Event, failure: CheckRun
) -> Sequence[Decision]:
    """Of the changes made before a check passed those that touch what its failure names; all when it names nothing."""
    kind = failure.verdict.kind
    if error.path is None or kind not in POINTS_AT_PLACE:
        return changes
    output = timeline.calls[failure.call].output if failure.call is not None else ""
    files = named_files(error, output[:_MOST_TEXT], alone=len(failure.events) == 1)
    effects = {one.id: _effects_of(timeline.calls_of(one)) for one in changes}
    rewriters = [one for one in changes if effects[one.id].rewrites]
    formatters = [one for one in changes if effects[one.id].formats or (kind == "lint" and one in rewriters)]
    if formatters and (kind == "format" or error.family == "not formatted"):
        return formatters[-1:]  # whatever was edited, this is what brought it into form
    symbols = named_symbols(error)
    by_symbol = [
        one for one in changes if any(has_word(symbol, text) for symbol in symbols for text in effects[one.id].texts)
    ]
    at_place = [one for one in changes if not files.isdisjoint(effects[one.id].files)]
    open_ended = [one for one in changes if one in rewriters or effects[one.id].writes_unnamed]
    if any(one in at_place for one in by_symbol):
        # An edit of the very name that is complained of counts before a tool that rewrites.
        open_ended = [one for one in open_ended if one not in rewriters]
    if at_place or open_ended:
        # A command that names no files (a formatter, ``git checkout``) may have changed those too.
        return [one for one in changes if one in at_place or one in open_ended]
    if by_symbol or not does_not_compile(error, kind):
        return by_symbol
    package = folder_of(error.path)
    return [one for one in changes if one.action and one.action.path and folder_of(one.action.path) == package]


def changes_code(timeline: Timeline, change: Decision) -> bool:
    """Whether some edit changed more than comments and where lines break: no test, build or type decides on these."""
    path = (change.action.path if change.action else None) or ""
    pairs = [texts_of(call) for call in timeline.calls_of(change) if call.changes_files]
    # a command that writes does not say what was there before, and some agents' logs have no text of an edit
    known = all(len(pair) > 1 and any(pair) for pair in pairs)
    if not pairs or not known or path.endswith(_PROSE):
        return True
    return any(_code_in(old, path) != _code_in(new, path) for old, new in pairs)


def _code_in(text: str, path: str) -> str:
    r"""A piece of code without comments on lines of their own and, where it says nothing, how it is laid out.

    >>> _code_in("import {\n  a,\n} from 'x'", "a.ts") == _code_in("// all of x\nimport { a } from 'x'", "a.ts")
    True
    >>> _code_in("//go:build linux", "a.go") == _code_in("//go:build darwin", "a.go")
    False
    >>> _code_in("#[derive(Debug)]\nstruct A;", "a.rs") == _code_in("struct A;", "a.rs")
    False
    >>> _code_in("x = 1\n'''What x is.'''", "a.py") == _code_in("x = 1\n'''X.'''", "a.py")
    True
    """
    comment = _HASH if path.endswith(_HASHED) else _OTHER_COMMENT.get(path[path.rfind(".") :], _SLASHES)
    if path.endswith(".py"):
        text = _DOCSTRING.sub("", text)
    lines = [line.rstrip() for line in text.splitlines() if line.strip() and not comment.match(line)]
    if path.endswith(_INDENTED):
        return "\n".join(lines)
    return _BEFORE_CLOSING.sub("", "".join("".join(lines).split()))


def named_symbols(error: Event) -> set[str]:
    """The names of code that a message has."""
    return {
        name.rpartition(".")[2] for found in _SYMBOL.finditer(error.message or "") for name in found.groups() if name
    }


def speaking_calls(timeline: Timeline, fix: Fix, error: Event) -> dict[str, ParsedCall]:
    """By change of a fix the edit that speaks of the error; changes without one are left out.

    It replaces a line that the failing output quotes below the diagnostic, or has the name or the rule of the message,
    or the name of the test.
    """
    scores = _scores(timeline, fix, error)
    return {change: max(some, key=itemgetter(1))[0] for change, some in scores.items()}


def answering_calls(timeline: Timeline, fix: Fix, error: Event, speaking: Mapping[str, ParsedCall]) -> list[ParsedCall]:
    """The edits that answer an error, in order; none where one edit is all there is.

    Of what a check says of a place those that speak of it; what a test wants, all edits of the file may be about.
    """
    changes = [timeline.decision(name) for name in fix.changes]
    edits = [call for one in changes for call in timeline.calls_of(one) if call.changes_files]
    if error.id not in timeline.run_of or len(edits) < 2 or len({one.path for one in edits}) > 1:  # noqa: PLR2004
        return []
    kind = timeline.runs[error.check or ""][timeline.run_of[error.id]].verdict.kind
    if kind == "test" and not does_not_compile(error, kind):
        return edits
    found = [call for some in _scores(timeline, fix, error).values() for call, _ in some] if speaking else edits
    return sorted(found, key=lambda one: one.position)


def _scores(
    timeline: Timeline, fix: Fix, error: Event
) -> dict[str, list[tuple[ParsedCall, tuple[int, int, int, int]]]]:
    """By change of a fix the edits that speak of the error, and how much."""
    if error.id not in timeline.call_numbers:
        return {}
    output = timeline.call_of(error).output[:_MOST_TEXT]
    quoted = quoted_lines(output, error)
    said = _said_by_test(output, error) if error.tests or (error.family or "").endswith("test failed") else frozenset()
    names = [*named_symbols(error), *map(_last_name, error.tests)]
    family = error.family or ""
    if family in COMPILE_FAMILIES or family.endswith(" failed") or family == "not formatted":
        family = ""  # our own name for a failure, which no edit has to repeat
    rules = [one for one in _WORD.findall(family) if len(one) >= _SHORTEST_RULE]
    found = {}
    for change in map(timeline.decision, fix.changes):
        edits = [one for one in timeline.calls_of(change) if one.changes_files]
        speaking = [(one, score) for one in edits if any(score := _speaks(one, quoted, names, rules, said))]
        if speaking:
            found[change.id] = speaking
    return found


def _last_name(test: str) -> str:
    return re.split(r"::|/| > ", test)[-1]


def speaking_edits(
    timeline: Timeline, fix: Fix, error: Event, speaking: Mapping[str, ParsedCall]
) -> tuple[FixEdit, ...]:
    """Of each change that several edits make up the edit that speaks, but for the first: the change is quoted by it.

    Where none does it is the one that says most: more than an import, and with most words of the message and of the
    test's name.
    """
    tests = (_PART.sub(" ", _last_name(one)) for one in error.tests[:1])  # a mention is named after the first
    said = _stems(" ".join([error.message or "", *tests]))
    found = []
    for change in map(timeline.decision, fix.changes):
        edits = [one for one in timeline.calls_of(change) if one.changes_files]
        if len(edits) > 1:
            silences = change.action is not None and change.action.suppresses
            best = speaking.get(change.id)
            # What only says most does not show that a marker was not what helped.
            suppresses = silences if best is None else action_of(best).suppresses
            best = best or max(edits, key=lambda one: _says(one, said))
            if best is not edits[0] or silences != suppresses:
                evidence = evidence_of_call(best)
                found.append(FixEdit(change=change.id, evidence=evidence, suppresses=suppresses))
    return tuple(found)


def quoted_lines(output: str, error: Event) -> frozenset[str]:
    """The lines of source below the diagnostics that report the error's family or have its message."""
    lines = output.splitlines()
    known = [one for one in (error.family, error.message) if one]
    at = [number for number, line in enumerate(lines) if any(one in line for one in known)]
    below = (lines[number + 1 : number + 1 + _QUOTED_BELOW] for number in at)
    own = chain.from_iterable(takewhile(lambda line: not _NEXT.match(line), part) for part in below)
    plain = (_GUTTER.sub("", line).strip() for line in own)
    return frozenset(line for line in plain if len(line) >= _SHORTEST_LINE and _WORD.search(line))


def _said_by_test(output: str, error: Event) -> frozenset[str]:
    """What a failing test's own lines say, behind the place in its file."""
    file = re.escape(file_name(error.path or ""))
    said = re.findall(rf"{file}:\d+: (.+)", output) if file else []
    return frozenset(text.strip() for text in said if len(text.strip()) >= _SHORTEST_SAID)


def _speaks(
    edit: ParsedCall, quoted: frozenset[str], names: Sequence[str], rules: Sequence[str], said: Collection[str]
) -> tuple[int, int, int, int]:
    """How much of a failure an edit has: lines that the output quotes, then names, the rule, and what a test says."""
    old, new = texts_of(edit)
    replaced = {line.strip() for line in old.splitlines()}
    # An edit of every place where a name stands finds the name alone.
    found = sum(one in replaced or (len(old) >= _SHORTEST_LINE and has_word(old.strip(), one)) for one in quoted)
    named, ruled = (sum(has_word(one, old + new) for one in some) for some in (names, rules))
    return found, named, ruled, sum(one in old for one in said)


def has_word(word: str, text: str) -> bool:
    """Whether a text has a word, or several in a row, that no letters go on."""
    # To compile an expression takes longer than all else here, and most texts have none of the words.
    return bool(word) and word in text and re.search(rf"\b{re.escape(word)}\b", text) is not None


def _says(edit: ParsedCall, said: frozenset[str]) -> tuple[bool, int]:
    """Whether an edit changes more than imports and brackets, and how many of some words it has."""
    old, new = texts_of(edit)
    lines = [*replaced_part(old=old, new=new).splitlines(), *changed_part(old=old, new=new).splitlines()]
    words = _stems(old + new)
    return any(map(is_telling, lines)), len(words & said)


def _stems(text: str) -> frozenset[str]:
    """The words of a text by how they begin: ``confirms`` is ``confirm``."""
    return frozenset(one.casefold()[:_STEM] for one in _WORD.findall(text) if len(one) >= _SHORTEST_TOLD)


def named_files(error: Event, output: str, *, alone: bool) -> frozenset[str]:
    """The names of the files that a failure is about: its own, and those on the lines that report the same family.

    ``alone`` is true when the run reported nothing else, so that every place it names belongs to this failure.
    """
    family = error.family or ""
    lines = (line for line in output.splitlines() if alone or (family and family in line))
    found = {file_name(place) for line in lines for place in _PLACE.findall(line)}
    return frozenset(found | ({file_name(error.path)} if error.path else set()))


class _Effects(NamedTuple):
    """What the calls of a change did, and the names of the files that they wrote.

    ``rewrites``: a command lets a checker rewrite what it complains of. ``writes_unnamed``: a command changes files
    that its words do not name.
    """

    formats: bool
    rewrites: bool
    writes_unnamed: bool
    files: frozenset[str]
    texts: tuple[str, ...]


def _effects_of(calls: Sequence[ParsedCall]) -> _Effects:
    written = [(call, written_by(call)) for call in calls]
    return _Effects(
        formats=any(call.purpose == "format" for call in calls),
        rewrites=any(rewrites(part) for call in calls if call.operation == "run" for part in call.segments),
        writes_unnamed=any(call.operation == "run" and paths is None for call, paths in written),
        files=frozenset(file_name(path) for _, paths in written for path in paths or ()),
        texts=tuple(text for call in calls for text in texts_of(call)),
    )


def texts_of(call: ParsedCall) -> list[str]:
    """What an edit found and what it wrote; of anything else its command."""
    if call.operation not in CHANGES:
        return [str(call.step.arguments.get("command") or "")]
    return [str(call.step.arguments.get(name) or "") for name in ("old", "new")]


def credited(error: Event, changes: Sequence[Decision], *, verified_by: str | None) -> Fix | None:
    """The fix that all of these changes share; None where there is none."""
    if not changes:
        return None
    return Fix(
        error=error.id,
        changes=tuple(one.id for one in changes),
        check=error.check or "",
        verified_by=verified_by,
        share=round(1 / len(changes), 6),
    )


def passing_event(timeline: Timeline, runs: Iterable[CheckRun]) -> str | None:
    """The event in which the check was content, if it ever was: a family that merely vanished is not verified."""
    names = (name for run in runs if run.passed for name in run.events)
    return next((name for name in names if timeline.event(name).status == "ok"), None)
