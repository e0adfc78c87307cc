"""Every call of the agent joined with its result, and what a call is about.

A call is parsed once, so that all later stages share one reading: the commands in it, the verdicts of its checks, the
path it touches. Whether a later call answers an earlier failure depends on whether both are about the same program,
script or file: `subjects_of`, `written_by` and `places_in` say so. Order in time alone says nothing of that.
"""

from __future__ import annotations

import re
from collections import defaultdict
from functools import lru_cache
from typing import TYPE_CHECKING

import msgspec

from helix_episodes.extraction.checks import CheckFinding, Verdict, read_verdicts
from helix_episodes.extraction.checks.command_failures import NEVER_RAN
from helix_episodes.extraction.checks.compilers import read_diagnostics, reports_diagnostics
from helix_episodes.extraction.paths import file_name, is_outside, relative
from helix_episodes.extraction.prose.sentences import has_any, lines_with
from helix_episodes.extraction.shell.commands import Segment, decisive, parse_command
from helix_episodes.extraction.shell.programs import INTERPRETERS, SHELLS
from helix_episodes.safe_files import LONGEST_COMMAND, MOST_PARTS
from helix_episodes.session import Operation, Session, Status, Step

if TYPE_CHECKING:
    from collections.abc import Iterator

    from helix_episodes.extraction.shell.programs import Purpose


#: Markers with which a change silences a check instead of satisfying it.
SUPPRESSIONS = re.compile(
    r"#\s*noqa|//\s*nolint|#\s*type:\s*ignore|#\s*pyright:\s*ignore|pragma:\s*no cover|eslint-disable|"
    r"@ts-(ignore|expect-error|nocheck)|\bt\.Skip(Now|f)?\(|pytest\.mark\.(skip|xfail)|@unittest\.skip|#\[(ignore|allow)\b|@SuppressWarnings|"
    r"rubocop:disable|\b(it|test|describe)\.skip\(|\bx(it|describe)\(|//\s*#?nosec|@Disabled\b|\[Ignore\b"
)
#: Every such marker contains one of these.
_SUPPRESSION_SIGNS = (
    "noqa", "nolint", "ignore", "pragma:", "eslint-disable", "@ts-", "t.Skip", ".skip", ".xfail", "[allow",
    "@Suppress", "rubocop:", "xit(", "xdescribe(", "nosec", "@Disabled", "[Ignore",
)  # fmt: skip
#: A line as long as this that the agent was shown before was copied; a shorter one may be written twice.
_LONG_LINE = 40
#: Statuses of a call that never took effect.
UNDONE: frozenset[Status] = frozenset({"denied", "rejected", "cancelled"})
#: Statuses of a call that left everything as it was.
WITHOUT_EFFECT = UNDONE | {"error"}
CHANGES: frozenset[Operation | None] = frozenset({"edit", "create", "delete"})
#: Longer arguments are texts, not names of something.
_NAME_LIMIT = 300
_NAME = re.compile(r"[\w@.+-]+")


class ParsedCall(msgspec.Struct, frozen=True, kw_only=True):
    """One call. ``position`` and ``result_position`` count the steps from 0; ``path`` is relative to the root.

    ``segments`` are the parts of a shell command, ``verdicts`` what the checks in it reported, ``refusals`` what
    kept a check from running at all. ``decisive`` is the part of a command that it was run for. ``outside`` is
    true when it happened elsewhere than in the session's project: another repository, a scratch folder.
    ``carries_markers`` is true where each line with a marker that silences a check stood somewhere before.
    """

    position: int
    step: Step
    result: Step | None = None
    result_position: int | None = None
    path: str | None = None
    segments: tuple[Segment, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    refusals: tuple[CheckFinding, ...] = ()
    outside: bool = False
    decisive: Segment | None = None
    carries_markers: bool = False

    @property
    def operation(self) -> Operation | None:
        """What kind of call it is."""
        return self.step.operation

    @property
    def actor(self) -> str:
        """Who made it: ``agent`` or a helper."""
        return self.step.actor

    @property
    def status(self) -> Status:
        """How it came out; unknown while there is no result."""
        return self.result.status if self.result else "unknown"

    @property
    def output(self) -> str:
        """What came back."""
        return self.result.text if self.result else ""

    @property
    def purpose(self) -> Purpose | None:
        """What a command was run for; None for any other call."""
        return self.decisive.purpose if self.decisive else None

    @property
    def hands_over(self) -> bool:
        """Whether it hands work to another agent; a skill is only read, and the agent itself follows it."""
        return self.operation == "delegate" and not self.step.arguments.get("inline")

    @property
    def asks_editor(self) -> bool:
        """Whether it asked the editor for its diagnostics: a look that checks."""
        return self.operation != "run" and bool(self.verdicts)

    @property
    def changes_files(self) -> bool:
        """Whether it changed a file of the project through a tool of the agent."""
        return self.step.operation in CHANGES and not self.outside and self.status not in WITHOUT_EFFECT


def parse_calls(session: Session) -> tuple[ParsedCall, ...]:
    """The session's calls in order, each joined with its result and read."""
    results = {
        step.call_id: (position, step)
        for position, step in reversed(list(enumerate(session.steps)))
        if step.kind == "result" and step.call_id
    }
    calls = (
        _parse_call(position, step, results.get(step.call_id or ""), root=session.root)
        for position, step in enumerate(session.steps)
        if step.kind == "call"
    )
    return tuple(_with_carried(calls))


def _with_carried(calls: Iterator[ParsedCall]) -> Iterator[ParsedCall]:
    """Calls that change a file, with whether their markers stood in what an edit took away, was shown, or replaced."""
    taken: list[str] = []
    shown: list[str] = []
    written: defaultdict[str, list[str]] = defaultdict(list)
    for call in calls:
        path = call.path
        if call.operation not in CHANGES or path is None:
            if call.operation == "look" and call.result is not None and suppressions(call.result.text):
                shown.append(call.result.text)
            yield call
            continue
        old, new = (str(call.step.arguments.get(name) or "") for name in ("old", "new"))
        known = [*taken, old, *([] if old else written[path])]
        lines = [line.strip() for line in marked_lines(new)]
        carries = bool(lines) and all(
            any(line in text for text in (known if len(line) < _LONG_LINE else [*known, *shown])) for line in lines
        )
        yield msgspec.structs.replace(call, carries_markers=True) if carries else call
        if call.status not in WITHOUT_EFFECT:
            written[path].append(new)
            taken += [old] if suppressions(old) > suppressions(new) else []


def marked_lines(text: str) -> list[str]:
    """The lines with a marker that silences a check."""
    # Of a file that was read nearly no line has a sign of one, and each by itself would be asked for all signs.
    signed = lines_with(text, _SUPPRESSION_SIGNS)
    return [line for start, end in signed for line in text[start:end].splitlines() if SUPPRESSIONS.search(line)]


@lru_cache(maxsize=256)  # of a call it is asked when it is read, and of what it changed when that is told
def suppressions(text: str) -> int:
    """How many markers in a text silence a check; each stands on one line."""
    if not has_any(text, _SUPPRESSION_SIGNS):
        return 0
    # The expression takes ten times as long as the search for the lines that may have one.
    return sum(len(SUPPRESSIONS.findall(text, *line)) for line in lines_with(text, _SUPPRESSION_SIGNS))


def _parse_call(position: int, step: Step, answer: tuple[int, Step] | None, *, root: str | None) -> ParsedCall:
    result_position, result = answer or (None, None)
    command = str(step.arguments.get("command", ""))[:LONGEST_COMMAND]
    segments = parse_command(command)[:MOST_PARTS] if step.operation == "run" else ()
    path = step.arguments.get("path")
    inside = relative(path, root=root) if isinstance(path, str) and path else None
    read: tuple[Verdict, ...] = ()
    if result is not None and segments and result.status not in UNDONE:
        read = read_verdicts(segments, output=result.text, exit_code=result.exit_code, status=result.status)
    if result is not None and step.operation in {"look", "use"} and reports_diagnostics(step.tool):
        read = _diagnosed(step, result, root=root)
    refused = [one for one in read if any(found.family in NEVER_RAN for found in one.findings)]
    # A filter behind a pipe is what a command was run for only when it changes something.
    candidates = tuple(one for one in segments if one.joiner != "|" or one.purpose in {"check", "change"})
    return ParsedCall(
        position=position,
        step=step,
        result=result,
        result_position=result_position,
        path=inside,
        outside=is_outside(inside) if inside else _runs_elsewhere(segments, root),
        segments=segments,
        decisive=decisive(candidates),
        verdicts=tuple(one for one in read if one not in refused),
        refusals=tuple(found for one in refused for found in one.findings),
    )


def _diagnosed(step: Step, result: Step, *, root: str | None) -> tuple[Verdict, ...]:
    """What the editor answered when it was asked for its diagnostics, of one file or of all."""
    if result.status != "ok":
        return ()
    named = (step.arguments.get(name) for name in ("path", "url", "uri", "query"))
    place = next((one for one in named if isinstance(one, str) and one), None)
    scope = (relative(place.removeprefix("file://"), root=root),) if place else ()
    return (read_diagnostics(result.text, scope=scope),)


def _runs_elsewhere(segments: tuple[Segment, ...], root: str | None) -> bool:
    """Whether a command first goes to a folder outside the project."""
    first = next((one for one in segments if one.program in {"cd", "pushd"}), None)
    if first is None or not first.arguments or not root:
        return False
    # A file in the folder is in the project when the folder is the root itself or below it.
    return is_outside(relative(f"{first.arguments[0].rstrip('/')}/-", root=root))


def mentions_file(call: ParsedCall, path: str) -> bool:
    """Whether the call names the file, whatever the tool calls its argument."""
    name = file_name(path)
    return any(name in value for value in call.step.arguments.values() if isinstance(value, str))


def mentioned_names(call: ParsedCall) -> set[str]:
    """The names of files (and whatever else looks like one) in the call's short arguments."""
    texts = (value for value in call.step.arguments.values() if isinstance(value, str) and len(value) <= _NAME_LIMIT)
    return {name for text in texts for name in _NAME.findall(text)}


#: What a call may be about: a sort of thing, its name, and what else distinguishes it.
CallSubject = tuple[str, str, str]
#: Programs that send requests.
_REQUESTS = frozenset({("gh", "api"), ("curl", None), ("wget", None), ("http", None), ("https", None)})
#: How a traceback and a compiler name the place that went wrong.
_PLACE = re.compile(r'File "([^"\n]{1,300})", line \d|([\w./@+-]{1,300}\.\w{1,8}):\d')
#: A text in code that names a file or an address, or is long enough (20 characters) to be about one thing only.
_MATERIAL = re.compile(r"""["']([^"'\s]{0,300}(?:\w\.[A-Za-z]\w{0,4}|://[^"'\s]{1,300})|[^"'\n]{20,300})["']""")
#: The reason is at the end of an output; what a program printed before is its own affair.
_TAIL = 8000
#: Programs whose operands are the files they change; of those in `_LAST_IS_TARGET` only the last is.
_WRITE_OPERANDS = frozenset({"rm", "tee", "touch", "sed", "perl"})
_LAST_IS_TARGET = frozenset({"mv", "cp", "ln"})
#: Programs whose first operand is a script, unless a flag gives it.
_SCRIPTED = {"sed": frozenset({"-e", "-f", "--expression", "--file"}), "perl": frozenset({"-e"})}


def subjects_of(call: ParsedCall) -> Iterator[CallSubject]:
    """What a call is about, the most telling first: a program and subcommand, a file, any name it mentions, a tool."""
    if call.operation == "run":
        segment = call.decisive
        if segment is not None and "--abort" not in segment.arguments:
            address = ""
            if is_request(call):  # asking one address says nothing of another
                operands = (one for one in segment.arguments if not one.startswith("-") and one != segment.subcommand)
                address = next((word for word in operands if "/" in word), "").partition("?")[0]
            yield "run", segment.program, " ".join(filter(None, (segment.subcommand, address)))
        return
    if call.path is not None:
        yield "file", file_name(call.path), ""
    else:
        yield "tool", call.step.tool or "", call.operation or ""
    for name in mentioned_names(call):
        yield "file", name, ""


def is_look(call: ParsedCall) -> bool:
    """Whether a command only shows something."""
    return call.operation == "run" and call.purpose == "look"


def is_request(call: ParsedCall) -> bool:
    """Whether a command sends a request."""
    segment = call.decisive
    return segment is not None and (segment.program, segment.subcommand) in _REQUESTS


def command_of(call: ParsedCall) -> str:
    """The text of a command, or of code that is run, without regard to its blanks."""
    return " ".join(str(call.step.arguments.get("command") or call.step.arguments.get("code") or "").split())


def is_code(call: ParsedCall) -> bool:
    """Whether it hands code to a terminal, which runs anybody's code."""
    return call.operation == "use" and isinstance(call.step.arguments.get("code"), str) and call.path is None


def goes_on(failed: ParsedCall, call: ParsedCall) -> bool:
    """Whether code goes on with what failed: on the same file, address or text, or with half of its lines."""
    if materials_of(failed) & materials_of(call):
        return True
    before, after = lines_of_code(failed), lines_of_code(call)
    return bool(before) and 2 * len(before & after) >= len(before)


def materials_of(call: ParsedCall) -> set[str]:
    """The files, addresses and longer texts that code names."""
    return {one[1].partition("?")[0] for one in _MATERIAL.finditer(str(call.step.arguments.get("code") or ""))}


def lines_of_code(call: ParsedCall) -> set[str]:
    """What code does, line by line; that it imports something, many programs have in common."""
    lines = (line.strip() for line in str(call.step.arguments.get("code") or "").splitlines())
    return {line for line in lines if line and not line.startswith(("#", "import ", "from "))}


def operands_of(call: ParsedCall) -> frozenset[str]:
    """The names of what a command acts on: its words that are no flags, of paths the last part."""
    segment = call.decisive
    if segment is None:
        return frozenset()
    named = (segment.subcommand or "").split()
    words = (word for word in segment.arguments if word and not word.startswith("-") and word not in named)
    return frozenset(file_name(word) for word in words)


def values_of(call: ParsedCall) -> set[str]:
    """The values that a tool was given, out of whatever lists and objects they stand in."""
    found: set[str] = set()
    waiting: list[object] = [call.step.arguments]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            waiting += one.values()
        elif isinstance(one, list | tuple):
            waiting += one
        else:
            found.add(str(one))
    return found


def places_in(call: ParsedCall) -> frozenset[str]:
    """The names of the files that a failed command points at: its script, and the places that its output names."""
    segment = call.decisive
    if segment is None or segment.purpose == "look":
        return frozenset()
    named = {file_name(one[1] or one[2]) for one in _PLACE.finditer(call.output[-_TAIL:])}
    script = segment.subcommand if segment.program in INTERPRETERS | SHELLS else segment.program
    return frozenset(named | ({file_name(script)} if script and "." in script else set()))


#: Words of at least this length tell commands apart; shorter ones are particles of every shell text.
_TELLING = re.compile(r"[A-Za-z0-9_]{3,}")
_SAYS_NOTHING = frozenset(
    ("dev", "null", "echo", "grep", "head", "tail", "true", "cat", "sed", "and", "the", "for", "set", "user", "home")
)
#: Where a command is run says nothing of what it does, and a long path outweighs the words that do.
_CHANGES_FOLDER = re.compile(r"^\s*cd \S+\s*(?:&&|;|\n)")
#: So many first letters of a file's name say what it is about.
_ALIKE = 4
#: An id of this many digits names one thing only.
_ID = re.compile(r"\d{6,}")
#: The share of what the failed call says that another one must say too, to be the same thing done otherwise.
_SAME_WORDS = 0.6


def shared_words(failed: ParsedCall, call: ParsedCall) -> int:
    """How many telling words a call says that the failed one said, if it is the same thing done otherwise; else 0.

    A look is answered by a look, a command by a command, a hand-over by a hand-over; nobody sees by a change. Of two
    commands the later one must be what the failed one names (``rtk bun run test``, then ``bun run test``); of two looks
    by commands both must name one id, or the later one pipes the same file into the program that failed.
    """
    if _sort(failed) != _sort(call):
        return 0
    before, after = _telling_words(failed), _telling_words(call)
    shared = before & after
    if any(_ID.fullmatch(word) for word in shared) or _pipes_into(failed, call):
        return len(shared)
    if failed.operation == call.operation == "run":
        program = call.decisive.program.lower() if call.decisive else ""
        if _sort(failed) == "look" or program not in before:
            return 0
    # One may have been meant by the other's name: ``page.ts`` by ``page.tsx``, not by any file beside it.
    names = [file_name(path)[:_ALIKE].lower() for path in (failed.path, call.path) if path]
    if len({*names}) > 1:
        return 0
    enough = 1 if _sort(failed) == "look" else 2
    return len(shared) if len(shared) >= max(enough, _SAME_WORDS * len(before)) else 0


def _pipes_into(failed: ParsedCall, call: ParsedCall) -> bool:
    """Whether a look hands the same file on to the program that failed: after ``cat -A x`` ``head x | cat -v``."""
    program = failed.decisive.program if failed.decisive and is_look(failed) else None
    piped = any(part.joiner == "|" and part.program == program for part in call.segments)
    return piped and not operands_of(failed).isdisjoint(operands_of(call))


def _sort(call: ParsedCall) -> str:
    if call.operation == "look" or is_look(call) or is_request(call):
        return "look"
    return "run" if call.operation == "run" else call.operation or ""


def _telling_words(call: ParsedCall) -> set[str]:
    """What a call says: the words of a command, of a search what is sought, of a hand-over the order."""
    arguments = call.step.arguments
    if call.operation == "run":
        text = _CHANGES_FOLDER.sub("", str(arguments.get("command") or ""))
    elif call.operation == "delegate":
        text = str(arguments.get("description") or arguments.get("prompt") or "")[:_NAME_LIMIT]
    else:
        text = " ".join(str(arguments[name]) for name in ("pattern", "query", "url", "path") if arguments.get(name))
    # "job" and "jobs" are one word.
    return {word.lower().rstrip("s") for word in _TELLING.findall(text)} - _SAYS_NOTHING


def written_by(call: ParsedCall) -> frozenset[str] | None:
    """The paths of the files that a call writes; None where it changes something that its words do not name.

    >>> from helix_episodes.extraction.shell.commands import parse_command
    >>> sorted(written(parse_command("sed -i s/a/b/ x.py y.py")[0])), written(parse_command("git stash pop")[0])
    (['x.py', 'y.py'], None)
    """
    if call.operation in CHANGES:
        return frozenset({call.path}) if call.path else None
    found: set[str] = set()
    for segment in call.segments:
        if segment.purpose in {"change", "format"}:
            paths = written(segment)
            if paths is None:
                return None
            found |= paths
    return frozenset(found)


def written(segment: Segment) -> frozenset[str] | None:
    """As `written_by`, of one command."""
    if segment.target:
        return frozenset({segment.target})
    operands = [word for word in segment.arguments if word and not word.startswith("-")]
    if segment.program in _LAST_IS_TARGET:
        operands = operands[-1:]
    elif segment.program not in _WRITE_OPERANDS:
        return None
    elif segment.program in _SCRIPTED:
        script_flags = _SCRIPTED[segment.program]
        flags = [at for at, word in enumerate(segment.arguments) if word in script_flags]
        scripts = {segment.arguments[at + 1] for at in flags if at + 1 < len(segment.arguments)}
        operands = [word for word in operands if word not in scripts][0 if scripts else 1 :]
    named = not any(sign in word for word in operands for sign in "*?$`")
    return frozenset(operands) if operands and named else None
