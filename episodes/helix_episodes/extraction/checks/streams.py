r"""The streams of an output: what each task of a runner printed, by itself and without the runner's prefixes.

A runner that starts several tasks prints their lines between each other and puts the task's name before each
(``[lint] ``, ``web:test: ``, ``api  | ``, ``#12 3.4 ``), or a time, or both. No tool's grammar knows such lines, and
of two test runs at once only one closing line would count. So an output is taken apart before any grammar
reads it: prefixes are removed, and every stream is read alone.

No runner is known by name here. A prefix is known by its shape and by what only a prefix does: it *recurs*, it is on
the lines around as well, and behind it a program's own layout goes on (blank lines, indented ones, an echoed command).
A level such as ``[ERROR] `` or ``hint: `` is part of the message. Whatever is not known so stays as it was printed.
Tasks that follow each other below headings of their own (``> web@1.0.0 test``) are streams as well.

>>> for stream in separate(["[web] 1 passed", "[api] E  ", "[web] in 2s", "[api]   at cart.go", "done"]):
...     print(stream)
Stream(name='web', lines=['1 passed', 'in 2s'])
Stream(name='api', lines=['E  ', '  at cart.go'])
Stream(name='', lines=['done'])
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

from helix_episodes.light_imports import Regex, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterator


class Stream(Value):
    """The lines of one task, under the name that the runner gave it; without a name those that had no prefix."""

    name: str
    lines: list[str]


#: A time, as runners, containers and CI services put it before a line.
_TIME = Regex(
    r"\ufeff?(?:\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?"
    r"|\[?\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?: [AP]M)?\]?)(?: |$)"
)
#: CI services mark what a command of theirs reports; a group is a heading and says what is run.
_CI_MARK = Regex(r"##\[(?:error|warning|notice|debug|command)\]")
#: A job and its step before a time, as ``gh run view --log`` has them.
_JOB = Regex(r"([^\t\n]{1,100}\t[^\t\n]{1,100})\t(?=\ufeff?\d{4}-\d\d-\d\dT)")
_BUILD_STEP = Regex(r"(#\d{1,4})(?: \d+\.\d+)?(?: |$)")
_COLUMN = Regex(r"([A-Za-z][\w.@/-]{0,60})\s*\|(?: |$)")
_BRACKET = Regex(r"\[(@?[\w][\w@./:#+-]{0,60})\](?: |$)")
_SCOPED = Regex(r"(@[\w.-]{1,40}/[\w.-]{1,40}(?:[:#][\w.:-]{1,60})?):(?: |$)")
_TASK = Regex(r"([\w][\w@./-]{0,60}(?::[A-Za-z][\w@./:-]{0,60}|\#[A-Za-z][\w.:-]{0,60})):(?: |$)")
#: A workspace's folder and a task, before a line or before the prompt with the task's command.
_FOLDER = Regex(r"([\w@./-]{1,60} [a-z][\w:.-]{0,40})(?::(?: |$)|(?=\$ \S))")
_PACKAGE = Regex(r"([a-z][a-z0-9_-]{1,40}):(?: |$)")
#: Behind a prefix a program's own layout goes on: blank lines, indented ones, an echoed command.
_LAID_OUT = Regex(r"\s|$|[$>] \S")
_PROMPTED = Regex(r"\$ \S")

#: What npm and nx print above the output of each package's task.
_HEADING = Regex(r"> (?:nx run )?(@?[\w./-]+)(?:@\S+ |:)([\w:.-]+)(?: \S+)?$")

#: What says how serious a message is, and no task's name.
_LEVELS = frozenset({
    "error", "errors", "err", "warning", "warnings", "warn", "info", "information", "debug", "trace", "fatal",
    "critical", "notice", "note", "notes", "hint", "help", "tip", "success", "ok", "fail", "failed", "failure", "pass",
    "passed", "done", "skip", "skipped", "todo", "verbose", "log", "panic", "usage", "caused", "reason", "example",
})  # fmt: skip
#: A file's name: what is printed behind it is about that file.
_FILE = Regex(r"(?:[^:]*/)?[^/:]*\.[A-Za-z]{1,5}(?::|$)")
_COUNTER = Regex(r"[\d/.:%]+")
#: So many lines without the prefix may be between two with it: what a runner says itself is shorter.
_GAP = 3
#: Times before a CI service's lines, its step, a container's name, a task's name: no output has more layers.
_DEEPEST = 4
#: Of the lines of an output so many begin with a time when it is a prefix; the others a shell added.
_TIMED = 0.8


class _Shape(Value):
    """How a prefix is written; ``layout`` is wanted behind it where programs begin lines so themselves."""

    pattern: Regex
    layout: Regex | None = None


_SHAPES = (
    _Shape(_JOB),
    _Shape(_BUILD_STEP),
    _Shape(_COLUMN),
    _Shape(_BRACKET),
    _Shape(_SCOPED),
    _Shape(_TASK),
    _Shape(_FOLDER, layout=_PROMPTED),
    _Shape(_PACKAGE, layout=_LAID_OUT),
)
#: What could be a file's name as well.
_WORDS = (_TASK, _FOLDER, _PACKAGE)
#: Asked of each line before any shape is tried: one expression finds sooner than six that there is nothing.
_BEGINS = Regex(
    r"\[@?\w|#\d|##\[|\ufeff?\d{4}-\d\d-\d\d[T ]|\d\d:\d\d:\d\d"
    r"|@?\w[\w@./:#-]{0,120}(?: [a-z][\w:.-]{0,40})?(?::(?: |$)|\s*\||\$ )"
    r"|[^\t\n]{1,100}\t[^\t\n]{1,100}\t\ufeff?\d{4}-"
)


def without_prefixes(line: str) -> Iterator[str]:
    """What is behind one prefix after the other of a single line, which has no others to compare it with.

    >>> list(without_prefixes("web:build: 12:00:01 cart.go:3:1: undefined: x"))
    ['12:00:01 cart.go:3:1: undefined: x', 'cart.go:3:1: undefined: x']
    """
    shapes = (_TIME, *(shape.pattern for shape in _SHAPES if shape.layout is None))
    for _ in range(_DEEPEST):
        found = next((match for shape in shapes if (match := shape.match(line)) and not _is_message(match)), None)
        if found is None:
            return
        line = line[found.end() :]
        yield line


def _is_message(prefix: re.Match[str]) -> bool:
    """Whether what looks like a prefix is a level or a file, which belong to the message."""
    name = prefix[1] if prefix.re.groups else ""
    return name.lower() in _LEVELS or _FILE.match(name) is not None


def separate(lines: list[str]) -> list[Stream]:
    """The streams of an output, in the order in which each begins; one without a name when nothing is prefixed.

    An output without prefixes comes back as the same list.
    """
    # Two lines are the least that can recur.
    return _separate(lines, name="", depth=0) if len(lines) > 1 else [Stream(name="", lines=lines)]


def _separate(lines: list[str], *, name: str, depth: int) -> list[Stream]:
    begins = _BEGINS.compiled.match
    candidates = [(at, line) for at, line in enumerate(lines) if begins(line)]
    if depth == _DEEPEST or not candidates:
        return _sections(lines, name)
    plain = _without_times(lines, candidates)
    if plain is not None:
        return _separate(plain, name=name, depth=depth + 1)
    for shape in _SHAPES:
        marked = _marked(lines, candidates, shape)
        if marked:
            found: dict[str, list[str]] = {}
            for at, line in enumerate(lines):
                stream, rest = marked.get(at, ("", line))
                found.setdefault(stream, []).append(rest)
            return [
                inner
                for stream, inside in found.items()
                for inner in _separate(inside, name=stream or name, depth=depth + 1)
            ]
    return _sections(lines, name)


def _sections(lines: list[str], name: str) -> list[Stream]:
    """An output in which one task follows the other, each below a heading; whole where there are no two."""
    heads = [(at, found) for at, line in enumerate(lines) if line[:2] == "> " and (found := _HEADING.match(line))]
    if len({found[0] for _, found in heads}) < 2:  # noqa: PLR2004  (one after the other)
        return [Stream(name=name, lines=lines)]
    ends = [at for at, _ in heads[1:]] + [len(lines)]
    before = [Stream(name=name, lines=lines[: heads[0][0]])] if heads[0][0] else []
    sections = ((f"{found[1]}:{found[2]}", lines[at:end]) for (at, found), end in zip(heads, ends, strict=True))
    return before + [Stream(name=task, lines=inside) for task, inside in sections]


def _without_times(lines: list[str], candidates: list[tuple[int, str]]) -> list[str] | None:
    """The lines without a CI service's marks and without the times before them; None where there are none."""
    timed = {at: found.end() for at, line in candidates if (found := _TIME.match(line))}
    written = sum(1 for line in lines if line.strip())
    if len(timed) < 2 or len(timed) < _TIMED * written:  # noqa: PLR2004  (what recurs is there twice)
        timed = {}
    marked = {at: found.end() for at, line in candidates if (found := _CI_MARK.match(line))}
    if not timed and not marked:
        return None
    ends = timed | marked
    return [line[ends[at] :] if at in ends else line for at, line in enumerate(lines)]


def _marked(lines: list[str], candidates: list[tuple[int, str]], shape: _Shape) -> dict[int, tuple[str, str]]:
    """By line the name in its prefix and what is behind it, of all blocks of lines that are so prefixed."""
    found: dict[int, tuple[str, str]] = {}
    begins = shape.pattern.compiled.match
    for at, line in candidates:
        match = begins(line)
        if match and _may_name(match[1], shape):
            found[at] = (match[1], line[match.end() :])
    if len(found) < 2:  # noqa: PLR2004  (what recurs is there twice)
        return {}
    return {at: found[at] for block in _blocks(lines, list(found)) if _is_prefixed(block, found, shape) for at in block}


def _may_name(name: str, shape: _Shape) -> bool:
    """Whether it can be a task's name: no level, no counter, no file."""
    if shape.pattern is _JOB:
        return True
    parts = name.lower().split(":")
    if name.isupper() or parts[0] in _LEVELS or parts[-1] in _LEVELS:
        return False
    if _COUNTER.fullmatch(name):
        return name.isdigit()
    return shape.pattern not in _WORDS or not _FILE.match(name)


def _blocks(lines: list[str], marked: list[int]) -> Iterator[list[int]]:
    """The marked lines in groups, with no more than a few others between two of a group."""
    block = marked[:1]
    for before, at in pairwise(marked):
        if at - before > _GAP + 1 and sum(1 for line in lines[before + 1 : at] if line.strip()) > _GAP:
            yield block
            block = []
        block.append(at)
    yield block


def _is_prefixed(block: list[int], found: dict[int, tuple[str, str]], shape: _Shape) -> bool:
    names = Counter(found[at][0] for at in block)
    recurring = [name for name, times in names.items() if times > 1]
    # More names than half of the lines: a list of entries, each with a name of its own.
    if not recurring or 2 * len(names) > len(block) + 1:
        return False
    # Numbers in brackets before values are what some languages print; what is laid out behind them is a command's.
    layout = _LAID_OUT if shape.layout is None and all(name.isdigit() for name in recurring) else shape.layout
    return layout is None or any(layout.match(found[at][1]) for at in block if found[at][0] in recurring)
