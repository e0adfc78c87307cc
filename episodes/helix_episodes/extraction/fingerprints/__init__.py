r"""What failed, under one name: diagnostics in an output, and the fingerprints by which they are met again.

A diagnostic is the line in which a tool says what is wrong; a banner, an echoed command, a total or "task failed" is
none and has no fingerprint. Its *fingerprint* names the issue without its location: a failing test by name and
exception, anything else by its message, in which numbers, hashes, times, folders and quoted sentences are masked and
names are kept. So one compile error is one issue whether the compiler, the test runner, a linter or the editor prints
it. The *group* of an issue, check and family, is what events had before.

>>> build = "# shop/cart\ncart.go:12:5: undefined: Total"
>>> lint = "store/sum.go:3:1: undefined: Total (typecheck)\n1 issues:\n* typecheck: 1"
>>> [one.fingerprint for one in diagnostics_in(build)] == [one.fingerprint for one in diagnostics_in(lint)]
True

`diagnostics_in` reads lines as tools print them (`grammars`); `diagnostics_of_finding` starts from what
`helix_episodes.extraction.checks` found already and looks into the output only where that names nothing.
`diagnostics_of_text` is for a text that someone pastes: what in it can be recognised.
"""

from __future__ import annotations

from helix_episodes.extraction.checks.streams import separate, without_prefixes
from helix_episodes.extraction.fingerprints.grammars import (
    GRAMMARS,
    Diagnostic,
    Grammar,
    is_noise,
    message_core,
    name_of_test,
)
from helix_episodes.light_imports import Regex
from helix_episodes.normalization import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterator

    from helix_episodes.extraction.checks import CheckFinding
    from helix_episodes.extraction.fingerprints.grammars import Grammar


__all__ = [
    "Diagnostic",
    "diagnostics_in",
    "diagnostics_of_finding",
    "diagnostics_of_text",
    "is_noise",
    "keys_of_text",
    "name_of_test",
]


#: Further lines that belong to a diagnostic are this close: rustc prints the place on the next line, a denied lint's
#: name within eight, gcc and cmake leave one line empty.
_LINES_BELOW = 8
#: The heading that has a diagnostic's test or file is above the source that is quoted between them.
_LINES_ABOVE = 60
#: So many different failures of one run are named; what fails more often fails as a whole.
MOST = 32
#: No tool writes a diagnostic on a longer line; what is longer is data, and cutting it keeps every pattern linear.
_LONGEST_LINE = 2000
#: A text of so few lines was picked out by someone: each of them may be a message.
_PICKED = 3
_PLACED = Regex(
    r"(?P<file>(?:[A-Za-z]:)?[^\s:(),'\"]+\.[A-Za-z]\w{0,7})(?::\d+(?::\d+)?:?|\(\d+,\d+\):?)\s+(?P<message>.+)$"
)
#: What is looked at of each row before its expression; every line of every output is compared with all of them.
_BY_SIGN = tuple((one.sign, one.begins, one) for one in GRAMMARS)
_TASK = Regex(r"^\[(?!ERROR|WARN|INFO|FAIL)[\w:./-]+\] ")
#: What stands for the tests of a file that cannot be loaded: what is wrong is said in the message.
_WHOLE_FILE = Regex(r"[^\s:]+\.(?:pyi?|[cm]?[jt]sx?|rb|php)")
_CODE_ALONE = Regex(r"[A-Z]{1,8}-?\d{2,5}")
#: Of a traceback whose heading was cut the line that says which test it is of.
_IN_TEST = Regex(r"(?m)^(?:(?P<file>\S+\.py):\d+: in | +(?:async )?def )(?P<test>test_\w+)")
#: A step of a Dockerfile, alone or as a builder announces it.
_STEP = Regex(r"(?:#\d+ |> )?(?:\[.*\] |Step \d+/\d+ : )?RUN (?P<command>\S.*?):?$")
_FAILED_LINE = Regex(r"(?m)^E {3,}\S")
_TEST_ALONE = Regex(r"Test[A-Z0-9_]\w*(?:/\S+)?|test_\w+(?:\[.*\])?")


def diagnostics_in(text: str) -> tuple[Diagnostic, ...]:
    """The diagnostics in an output, each issue once, in the order in which they are printed."""
    found: dict[str, Diagnostic] = {}
    for stream in separate(text.splitlines()):
        used: set[int] = set()
        for at in range(len(stream.lines)):
            one = _read(stream.lines, at, used) if at not in used and len(found) < MOST else None
            if one is not None and one.fingerprint:
                found.setdefault(one.fingerprint, one)
    return tuple(found.values())


def _read(lines: list[str], at: int, used: set[int]) -> Diagnostic | None:
    """The diagnostic on a line; lines below that are a part of it go to ``used``."""
    line = _TASK.sub("", lines[at][:_LONGEST_LINE].rstrip())
    first = line[:1]
    for sign, begins, grammar in _BY_SIGN:
        if sign not in line or (begins and first not in begins):
            continue
        if match := grammar.line.match(line):
            if is_noise(line):
                return None
            fields = _groups(match)
            fields |= _from_above(grammar, lines, at) | _from_below(grammar, lines, at, fields, used)
            return _diagnostic(grammar.tool, fields)
    return None


def _from_above(grammar: Grammar, lines: list[str], at: int) -> dict[str, str]:
    if grammar.above is None:
        return {}
    earlier = (grammar.above.match(line.rstrip()) for line in reversed(lines[max(0, at - _LINES_ABOVE) : at]))
    return _groups(next(filter(None, earlier), None))


def _from_below(grammar: Grammar, lines: list[str], at: int, fields: dict[str, str], used: set[int]) -> dict[str, str]:
    if grammar.below is None:
        return {}
    for place in range(at + 1, min(at + 1 + _LINES_BELOW, len(lines))):
        line = lines[place].rstrip()
        if match := grammar.below.match(line):
            used.add(place)
            return {name: value for name, value in _groups(match).items() if name not in fields}
        if grammar.line.match(line):  # the next diagnostic of the same tool
            break
    return {}


def _groups(match: re.Match[str] | None) -> dict[str, str]:
    return {name: value for name, value in match.groupdict().items() if value} if match else {}


def _diagnostic(tool: str, fields: dict[str, str]) -> Diagnostic:
    """From the groups of a row: a test's suite and method join its name, what follows a message completes it."""
    test = fields.get("test")
    if test and fields.get("suite"):
        test = f"{fields['suite']} > {test}"
    if test and fields.get("method") and not test.endswith(fields["method"]):
        test = f"{test}.{fields['method']}"
    message = " ".join(filter(None, (fields.get("message"), fields.get("more"))))
    if _CODE_ALONE.fullmatch(message):
        return Diagnostic(tool=tool, rule=message, file=fields.get("file"))
    raised = fields.get("raised", "").rpartition(".")[2]
    return Diagnostic(
        tool=tool,
        message=message,
        file=fields.get("file"),
        test=test,
        raised=raised if raised.endswith(("Error", "Exception", "Failed", "Exit", "Warning")) else None,
        rule=fields.get("rule") or fields.get("formats"),
    )


def diagnostic_of_line(line: str, *, tool: str = "") -> Diagnostic | None:
    """The diagnostic that a single line is: by a tool's grammar, else the line itself as a message."""
    plain = one_line(line)
    if not plain or is_noise(plain):
        return None
    known = _read([line], 0, set()) or (_read([plain], 0, set()) if plain != line else None)
    if known is not None:
        return known if known.fingerprint else None
    placed = _PLACED.match(plain)
    message, file = (placed["message"], placed["file"]) if placed else (plain, None)
    return Diagnostic(tool=tool, message=message, file=file) if message_core(message) else None


def diagnostics_of_finding(
    check: str, finding: CheckFinding, *, output: str = "", scope: str = ""
) -> tuple[Diagnostic, ...]:
    """What a finding says is wrong: its failing tests, else its messages, else the diagnostics in the output.

    ``scope`` is the file that a tool's fixed sentence is about, where the sentence does not name it.
    """
    said = [diagnostic_of_line(line, tool=check) for line in (finding.message, *finding.further)]
    read = [one for one in said if one is not None]
    tests = [test for test in finding.tests if not _WHOLE_FILE.fullmatch(test)]
    if tests:
        raised = None if finding.generic else finding.family
        first = read[0] if read else Diagnostic()
        return tuple(
            Diagnostic(
                tool=check,
                test=test,
                raised=raised,
                file=_file_of(test) or finding.path or first.file,
                message=first.message if number == 0 else "",
            )
            for number, test in enumerate(tests[:MOST])
        )
    if not read:
        read = list(diagnostics_in(output))
    named = finding.message.casefold()
    if scope and scope.replace("\\", "/").rpartition("/")[2].casefold() not in named:
        read = [one._replace(scope=scope.replace("\\", "/").rpartition("/")[2]) for one in read]
    unique = {one.fingerprint: one for one in reversed(read) if one.fingerprint}
    return tuple(reversed(unique.values()))[:MOST]


def _file_of(test: str) -> str | None:
    file = test.partition("::")[0]
    return file if "::" in test and "." in file else None


def diagnostics_of_text(text: str) -> Iterator[Diagnostic]:
    """The diagnostics of a pasted text, and where it has only a few lines, each line as a test's name or a message."""
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) <= _PICKED:
        lines = [_without_runner(line) for line in lines]
        text = "\n".join(lines)
    found = diagnostics_in(text)
    yield from found
    if not any(one.test for one in found) and _FAILED_LINE.search(text) and (inside := _IN_TEST.search(text)):
        yield Diagnostic(tool="pytest", test=inside["test"], file=inside["file"])
    if len(lines) <= _PICKED:
        for line in lines:
            plain = line.strip()
            if step := _STEP.match(plain):
                plain = f"/bin/sh -c {step['command']}"
            one = Diagnostic(test=plain) if _TEST_ALONE.fullmatch(plain) else diagnostic_of_line(plain)
            if one is not None and one.fingerprint:
                yield one._replace(alone="" if one.test or " " not in plain else plain)


def _without_runner(line: str) -> str:
    """A line that someone picked out, without a runner's prefix if some tool's grammar knows what is behind it."""
    for plain in without_prefixes(line):
        if _read([plain], 0, set()) is not None:
            return plain
    return line


def keys_of_text(text: str) -> Iterator[str]:
    """The fingerprints of the diagnostics of a pasted text."""
    for one in diagnostics_of_text(text):
        yield from one.keys[:1]
        yield from one.keys[1:] if one.alone else ()
