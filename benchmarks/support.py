"""In how many logs does each alternative of the rules that read prose fire?

    python benchmarks/support.py [--below N] [--list] [--json FILE] [--corpus NAME ...]

All open logs of the corpora (`sealed_sessions`) are extracted as usual, with expressions that take notes in place of
those that the modules in ``MODULES`` define. An alternative (what stands between two ``|``) *fires* in a log when a
match there goes through it; one within a negative lookahead, when it stands where the rest of the expression matches.
An expression as a whole counts as well, and so does each word in a list of words. *Forms* are alternatives with two
words of meaning or more, and whole expressions: they say how a sentence is built. The others are words at one place.

Printed is by module how many there are, how many fire in fewer than N logs (3), and how many of these are forms.
Below are those few by kind: formats of reports (a closed grammar), whole expressions, guards (within a negative look to
either side), function words, words of people (`extraction.user_reports`), other forms and other words.
``--list`` names them. Left out are expressions in ``GRAMMARS``: how Markdown marks its parts, and what tools print. To
leave one log out is to subtract one: what fires in three logs fires in two whichever of them is left out.
"""

from __future__ import annotations

import argparse
import importlib
import json
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

from sealed_sessions import open_logs
from tallies import CORPORA

_ROOT = "helix_episodes."
MODULES = tuple(
    _ROOT + name
    for name in (
        *(f"extraction.prose.{one}" for one in ("choices", "decisions", "failures", "sentences")),
        *(f"extraction.{one}" for one in ("excuses", "lessons", "report_links", "reports", "user_reports")),
        *(f"readers.ai_agents.{one}" for one in ("json_report", "markdown", "steps", "words")),
        "readers.ai_agents",
    )
)
SOURCES = (
    *("agent-sessions", "agent-transcripts", "ai-agents", "claude-code"),
    *("rewarded-runs", "tau-bench", "trajectories", "who-and-when"),
)
GRAMMARS = frozenset(
    {"_FENCED", "_SHOWN", "_END", "_MARKS", "_ITEM", "_ANY_HEADING", "_RUNNER", "_MESSAGE", "_PASTED", "_COMMAND"}
    | {"_SPLIT", "STATEMENT_END", "_SENTENCE", "_COUNTED", "_FIRST", "_NUMBERED"}
)
#: Words without a meaning of their own, and the endings of others.
_FUNCTION_WORDS = frozenset(
    re.findall(
        r"\S+",
        "a an the its it this that these those they them each every all both any no none nothing neither i we you "
        "my our your is was were are be been being has have had do does did not cannot can couldn could never "
        "longer will would may might shall should must because since as so for to of on in by with from after "
        "before against and or but then also first now still over rather than instead if when while which who "
        "whether only out up es ed ing ies",
    )
)
_WORD = re.compile(r"\\.|\(\?[^)]*?[:=!]|[A-Za-z]{2,}")
_LEAD = re.compile(r"\(\?P?[<=!:a-zA-Z_-]*[=!:>]")
_REFERS_BACK = re.compile(r"\\[1-9]|\(\?P=")


class Group(NamedTuple):
    """What brackets enclose, or for the outermost all there is, and where its alternatives begin and end."""

    start: int
    end: int
    alternatives: tuple[tuple[int, int], ...]


class Alternative(NamedTuple):
    """One of several ways to match: the text of the whole group (empty for a whole expression) and its own."""

    group: str
    text: str

    def is_form(self) -> bool:
        return not self.group or len(self.words_of_meaning()) > 1

    def words_of_meaning(self) -> set[str]:
        return {one.lower() for one in _WORD.findall(self.text) if one[0] not in "\\("} - _FUNCTION_WORDS


def groups_of(text: str) -> list[Group]:
    """The groups of an expression, inner ones first."""
    found: list[Group] = []
    waiting = [(0, [0])]
    at = 0
    while at < len(text):
        if text[at] == "\\":
            at += 1
        elif text[at] == "[":
            at = text.index("]", at + (3 if text[at + 1] == "^" else 2))
        elif text[at] == "(":
            lead = _LEAD.match(text, at)
            waiting.append((at, [lead.end() if lead else at + 1]))
            at = waiting[-1][1][0] - 1
        elif text[at] == "|":
            waiting[-1][1].append(at + 1)
        elif text[at] == ")":
            start, begins = waiting.pop()
            found.append(Group(start, at + 1, _between(begins, at)))
        at += 1
    return [*found, Group(0, len(text), _between(waiting[0][1], len(text)))]


def _between(begins: list[int], end: int) -> tuple[tuple[int, int], ...]:
    return tuple(zip(begins, [*(one - 1 for one in begins[1:]), end], strict=True))


class Recorder:
    """An expression that notes in which logs its alternatives fire."""

    log = ""

    def __init__(self, text: str, flags: int, module: str) -> None:
        self.module, self.names, self.whole = module, set[str](), Alternative("", text)
        self.compiled = self._marked = re.compile(text, flags)
        self.logs: dict[Alternative, set[str]] = {self.whole: set()}
        self.guards = set[Alternative]()
        self._marks: dict[str, Alternative] = {}
        inserted: list[tuple[int, int, str]] = []
        groups = groups_of(text)
        denied = [one for one in groups if text.startswith(("(?!", "(?<!"), one.start)]
        for group in groups:
            for start, end in group.alternatives if len(group.alternatives) > 1 else ():
                one = Alternative(text[group.start : group.end], text[start:end])
                self.logs[one] = set()
                if any(guard.start <= start and end <= guard.end for guard in denied):
                    self.guards.add(one)
                self._marks[f"m{len(self._marks)}_"] = one
                inserted.append((end, end, f"(?P<m{len(self._marks) - 1}_>)"))
            if text.startswith("(?!", group.start):  # what would forbid a match is let through, and marked
                inserted += [(group.start, group.start + 3, "(?="), (group.end - 1, group.end - 1, "|")]
        marked = text
        for start, end, words in sorted(inserted, key=lambda one: one[0], reverse=True):
            marked = marked[:start] + words + marked[end:]
        if not _REFERS_BACK.search(text):
            self._marked = re.compile(marked, flags)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  (a pattern's)
        real = getattr(self.compiled, name)
        if name not in {"search", "match", "fullmatch", "finditer", "findall", "sub", "subn", "split"}:
            return real

        def noted(*arguments: Any, **named: Any) -> Any:  # noqa: ANN401  (as above)
            if name in {"search", "match", "fullmatch"}:
                self._note([getattr(self.compiled, name)(*arguments)], [getattr(self._marked, name)(*arguments)])
            else:
                text = arguments[1 if name.startswith("sub") else 0]
                self._note(self.compiled.finditer(text), self._marked.finditer(text))
            return real(*arguments, **named)

        return noted

    def _note(self, found: Any, marked: Any) -> None:  # noqa: ANN401  (matches)
        if any(found):
            self.logs[self.whole].add(self.log)
        for match in filter(None, marked):
            for mark, passed in match.groupdict().items():
                if passed is not None and mark in self._marks:
                    self.logs[self._marks[mark]].add(self.log)


class WordList(frozenset[str]):
    """A list of words that notes in which logs they are met."""

    logs: defaultdict[str, set[str]]

    def __contains__(self, word: object) -> bool:
        is_known = super().__contains__(word)
        if is_known:
            self.logs[str(word)].add(Recorder.log)
        return is_known

    def __and__(self, other: Any) -> frozenset[str]:  # noqa: ANN401  (any set)
        return frozenset(one for one in other if one in self)

    __rand__ = __and__

    def __rsub__(self, other: Any) -> Any:  # noqa: ANN401  (any set)
        return type(other)(one for one in other if one not in self)


def noting(words: frozenset[str]) -> WordList:
    """The same words."""
    found = WordList(words)
    found.logs = defaultdict(set)
    return found


def installed() -> list[Recorder]:
    """Loads the modules with recorders in the place of their expressions."""
    from helix_episodes import light_imports

    recorders: list[Recorder] = []

    def recording(original: Any) -> Any:  # noqa: ANN401  (what compiles)
        def compiled(text: Any, flags: int = 0) -> Any:  # noqa: ANN401  (an expression)
            module = sys._getframe(1).f_globals["__name__"]  # noqa: SLF001  (who defines it)
            if module not in MODULES or not isinstance(text, str):
                return original(text, flags)
            recorders.append(Recorder(text, int(flags), module))
            return recorders[-1]

        return compiled

    patterns = patch.object(re, "compile", recording(re.compile))
    with patterns, patch.object(light_imports, "Regex", recording(light_imports.Regex)):
        for name in MODULES:
            importlib.import_module(name)
    for name in MODULES:
        for constant, value in vars(sys.modules[name]).items():
            if isinstance(value, Recorder):
                value.names.add(constant)
    return recorders


def word_lists() -> dict[tuple[str, str], WordList]:
    """The lists of words of the modules, each replaced by one that takes notes."""
    found: dict[tuple[str, str], WordList] = {}
    for name in MODULES:
        for constant, value in list(vars(sys.modules[name]).items()):
            if isinstance(value, frozenset) and value and all(isinstance(one, str) for one in value):
                found[name, constant] = noting(value)
                setattr(sys.modules[name], constant, found[name, constant])
    names: Any = sys.modules[f"{_ROOT}readers.ai_agents.words"]
    for number, (role, known) in enumerate(names._LOOKUP):  # noqa: SLF001  (to be replaced)
        found[names.__name__, f"{role} {number}"] = noting(known)
    rows = [(role, found[names.__name__, f"{role} {number}"]) for number, (role, _) in enumerate(names._LOOKUP)]  # noqa: SLF001
    names._LOOKUP = tuple(rows)  # noqa: SLF001  (as above)
    return found


def extract_all(corpora: list[str]) -> int:
    """Extracts every log; how many there were."""
    from helix_episodes.errors import HelixGraphError
    from helix_episodes.extraction.pipeline import extract
    from helix_episodes.readers import read_sessions

    logs = [log for corpus in corpora for log in open_logs(corpus)]
    for log in logs:
        Recorder.log = str(log.relative_to(CORPORA))
        for name in [name for name in sys.modules if name.startswith(_ROOT)]:
            for value in vars(sys.modules[name]).values():
                if callable(clear := getattr(value, "cache_clear", None)):
                    clear()  # what was asked of one log is asked anew of the next
        try:
            for session in read_sessions(log):
                extract(session)
        except HelixGraphError:
            continue
    return len(logs)


class Row(NamedTuple):
    """An alternative, a whole expression or a word, where it stands, and the logs in which it fires."""

    module: str
    name: str
    one: Alternative
    logs: set[str]
    is_guard: bool = False

    def kind(self) -> str:
        """What it is, as far as that can be read off it."""
        if self.module.startswith(f"{_ROOT}readers."):
            return "format of reports"
        if not self.one.group:
            return "whole expression"
        if self.is_guard:
            return "guard"
        if not self.one.words_of_meaning():
            return "function word"
        if self.module == f"{_ROOT}extraction.user_reports":
            return "words of people"
        return "other form" if self.one.is_form() else "other word"


def rows_of(recorders: list[Recorder], lists: dict[tuple[str, str], WordList]) -> list[Row]:
    """All of them, each once, though several expressions share it."""
    found: dict[Alternative, Row] = {}
    for recorder in recorders:
        name = "/".join(sorted(recorder.names))
        for one, logs in recorder.logs.items() if not recorder.names & GRAMMARS else ():
            row = Row(recorder.module, name, one, set(), one in recorder.guards)
            found.setdefault(one, row).logs.update(logs)
    words = [
        Row(module, name, Alternative(name, word), noted.logs.get(word, set()))
        for (module, name), noted in lists.items()
        for word in sorted(noted)
    ]
    return [*found.values(), *words]


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--below", type=int, default=3, metavar="N")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--corpus", action="append", choices=SOURCES)
    options = parser.parse_args()
    recorders = installed()
    lists = word_lists()
    number = extract_all(options.corpus or list(SOURCES))
    rows = rows_of(recorders, lists)
    print(f"{number} logs{'':12}{'all':>8}{'few':>8}{'forms':>8}")
    for name in (*MODULES, ""):
        own = [row for row in rows if name in {row.module, ""}]
        few = [row for row in own if len(row.logs) < options.below]
        forms = sum(row.one.is_form() for row in few)
        print(f"{name.removeprefix(_ROOT) or 'together':30}{len(own):6}{len(few):8}{forms:8}")
        for row in few if options.list and name else ():
            print(f"{len(row.logs):8}  {row.kind()}  {row.name}: {row.one.text}")
    kinds = Counter(row.kind() for row in rows if len(row.logs) < options.below)
    for kind, several in kinds.most_common():
        print(f"{several:8}  {kind}")
    if options.json:
        said = [(row.module, row.name, *row.one, sorted(row.logs)) for row in rows]
        options.json.write_text(json.dumps(said, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
