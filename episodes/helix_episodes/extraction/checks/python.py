"""Python's runners, linters and type checkers.

Failures are families by exception type, findings by rule code: both are names that the tools give themselves. A bare
``assert`` is an ``AssertionError`` whatever the comparison was.
"""

from __future__ import annotations

import re
from collections import defaultdict

from helix_episodes.extraction.checks.model import (
    CheckFinding,
    CommandOutput,
    ReportedLine,
    Verdict,
    cleaned,
    counted,
    grouped,
    quoted,
)
from helix_episodes.light_imports import Regex

_PYTEST_END = Regex(r"=* ?((?:\d+ [a-z]+(?:, )?)+|no tests ran) in \d+(?:\.\d+)?s(?: \([\d:]+\))? ?=*$")
_PYTEST_COUNT = Regex(r"(\d+) ([a-z]+)")
_PYTEST_FAILED = Regex(r"(FAILED|ERROR) (\S+\.py\S*|\S+::\S+)(?: - (.*))?$")
_RAISED = Regex(r"(?:E\s+)?((?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Exit|Interrupt|Warning|Failed))\b(?::|$| )")
_ANY_RAISED = Regex(r"((?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*)(?::|$)")
_RAN = Regex(r"Ran (\d+) tests? in \d")
_UNITTEST_END = Regex(r"(OK|FAILED)(?: \(([^)]*)\))?$")
_UNITTEST_FAILED = Regex(r"(?:FAIL|ERROR): (\w+) \(([\w.]+)\)")
_TRACEBACK = "Traceback (most recent call last):"

_MYPY = Regex(r"([^\s:]+\.pyi?):\d+(?::\d+)?: error: (.*?)(?:  \[([\w-]+)\])?$")
_MYPY_END = Regex(r"Found (\d+) errors? in \d+ files?|Success: no issues found")
_PYRIGHT = Regex(r"\s*(\S+\.pyi?):\d+:\d+ - error: (.*?)(?: \((report\w+)\))?$")
_PYRIGHT_END = Regex(r"(\d+) errors?, \d+ warnings?, \d+ (?:informations?|notes?)\s*$")
_CODED = Regex(r"([^\s:]+\.(?:pyi?|ipynb)):\d+:\d+: ([A-Z]{1,5}\d{3,4}):? (.*)$")
_RUFF_FULL = Regex(r"([A-Z]{1,5}\d{3,4}|invalid-syntax)(?: \[\*\])?:? (.+)$")
_RUFF_AT = Regex(r"\s*--> ([^\s:]+):\d+")
_RUFF_END = Regex(r"Found (\d+) errors?(?: \(.*\))?\.?$|All checks passed!$")
#: Biome sums up in ruff's words, below headings of its own.
_NOT_RUFF = ("━━━━━", " were emitted while ", "fixes applied.")
_PYLINT_END = Regex(r"Your code has been rated at")
_BLACK = Regex(r"[Ww]ould reformat:? (.+)$")
_BLACK_END = Regex(
    r"(?:(\d+) files? would be reformatted|All done!|\d+ files? (?:would be left unchanged|already formatted))"
)


def read_pytest(output: CommandOutput) -> Verdict | None:
    """The verdict of pytest, from its closing line; the list of failures alone is enough."""
    if not output.has(" passed", " failed", " error", "no tests ran", "FAILED ", "ERROR "):
        return None
    ends = [found for line in output.lines if " in " in line and (found := _PYTEST_END.match(line))]
    listed = [
        found for line in output.lines if line[:5] in {"FAILE", "ERROR"} and (found := _PYTEST_FAILED.match(line))
    ]
    if not ends and not any(found[1] == "FAILED" for found in listed):
        return None
    counts = {word: int(number) for number, word in _PYTEST_COUNT.findall(ends[-1][1])} if ends else {}
    failed = counts.get("failed", 0) + counts.get("error", 0) + counts.get("errors", 0) if ends else len(listed)
    return Verdict(
        check="pytest",
        kind="test",
        passed=not failed if ends and counts else None if ends else False,
        passed_count=counts.get("passed", 0) if counts else None,
        failed_count=failed if counts or listed else None,
        skipped_count=counts.get("skipped") if counts else None,
        findings=_pytest_findings(output, listed) if failed else (),
        quote=quoted(*(found.string for found in listed[:2]), *(found.string for found in ends[-1:])),
        summed=bool(ends),
    )


def _pytest_findings(output: CommandOutput, listed: list[re.Match[str]]) -> tuple[CheckFinding, ...]:
    raised = [found for found in output.matches(_RAISED) if found.string.startswith("E  ")]
    tests: defaultdict[str, list[re.Match[str]]] = defaultdict(list)
    for failure in listed:
        tests[_exception(failure[3] or "", raised)].append(failure)
    if not listed:
        findings = grouped(ReportedLine(family=found[1].rpartition(".")[2], message=found.string) for found in raised)
        return findings or (CheckFinding(family="test failed", message=_last(output), generic=True),)
    return tuple(
        CheckFinding(
            family=family,
            message=_pytest_message(output, failures[0], family),
            path=failures[0][2].partition("::")[0],
            times=len(failures),
            tests=tuple(dict.fromkeys(failure[2] for failure in failures)),
            generic=family == "test failed",
        )
        for family, failures in tests.items()
    )


def _pytest_message(output: CommandOutput, failure: re.Match[str], family: str) -> str:
    """The whole line of the report, of which the summary shows what a terminal of 80 columns has room for."""
    reported = [line[1:].strip() for line in output.lines if line.startswith("E  ")]
    words = (failure[3] or "").removesuffix("...")
    if words:
        fitting = (line for line in reported if line.startswith(words))
    else:
        raised = filter(None, map(_RAISED.match, reported))
        fitting = (found.string for found in raised if found[1].rpartition(".")[2] == family)
    return next(fitting, failure.string.strip())


def _exception(words: str, raised: list[re.Match[str]]) -> str:
    """The exception type in the words after a failing test, else the only one in the reports above."""
    if found := _RAISED.match(words):
        return found[1].rpartition(".")[2]
    if words.startswith("assert ") or words == "assert":
        return "AssertionError"
    types = {found[1].rpartition(".")[2] for found in raised}
    return types.pop() if len(types) == 1 else "test failed"


def _last(output: CommandOutput) -> str:
    return next((line.strip() for line in reversed(output.lines) if line.strip()), "")


def read_unittest(output: CommandOutput) -> Verdict | None:
    """The verdict of unittest and of what is built on it (Django's runner, nose2)."""
    if not output.has("Ran "):
        return None
    ran = output.matches(_RAN)
    ends = output.matches(_UNITTEST_END)
    if not ran or not ends:
        return None
    counts = {name: int(number) for name, number in re.findall(r"(\w+)=(\d+)", ends[-1][2] or "")}
    failed = counts.get("failures", 0) + counts.get("errors", 0)
    skipped = counts.get("skipped", 0)
    return Verdict(
        check="unittest",
        kind="test",
        passed=ends[-1][1] == "OK",
        passed_count=int(ran[-1][1]) - failed - skipped,
        failed_count=failed,
        skipped_count=skipped,
        findings=_unittest_findings(output) if failed else (),
        quote=quoted(ran[-1].string, ends[-1].string),
    )


def _unittest_findings(output: CommandOutput) -> tuple[CheckFinding, ...]:
    """Each failing test with the exception at the end of its traceback."""
    tests: defaultdict[str, list[str]] = defaultdict(list)
    messages: dict[str, str] = {}
    current = ""
    for line in output.lines:
        if found := _UNITTEST_FAILED.match(line):
            current = f"{found[2]}.{found[1]}" if not found[2].endswith(found[1]) else found[2]
        elif current and (raised := _RAISED.match(line)):
            family = raised[1].rpartition(".")[2]
            tests[family].append(current)
            messages.setdefault(family, line.strip())
            current = ""
    if not tests:
        return (CheckFinding(family="test failed", message=_last(output), generic=True),)
    return tuple(
        CheckFinding(family=family, message=messages[family], times=len(names), tests=tuple(dict.fromkeys(names)))
        for family, names in tests.items()
    )


def raised_exception(output: CommandOutput) -> CheckFinding | None:
    r"""The exception with which a Python program ended, as a finding by type.

    >>> printed = 'Traceback (most recent call last):\n  File "a.py", line 1\ncv2.error: empty'
    >>> raised_exception(CommandOutput(printed)).family
    'cv2.error'
    """
    if not output.has(_TRACEBACK):
        return None
    last = max(at for at, line in enumerate(output.lines) if _TRACEBACK in line)
    raised = (found for line in output.lines[last:] if (found := _RAISED.match(line)))
    # Frames are indented; the line after them is the exception, whatever its name ends in.
    after = next((line for line in output.lines[last + 1 :] if line.strip() and not line[0].isspace()), "")
    found = next(raised, None) or _ANY_RAISED.match(after)
    if found is None:
        return None
    # A class by its own name; ``cv2.error`` says nothing without its module.
    name = found[1].rpartition(".")[2]
    return CheckFinding(family=name if name[0].isupper() else found[1], message=found.string.strip())


def exception_at_end(text: str) -> CheckFinding | None:
    """The exception with which a program ended whose exit status was not recorded: its report comes last."""
    output = cleaned(text)
    raised = raised_exception(output)
    last = next((line for line in reversed(output.lines) if line.strip()), "")
    return raised if raised and last.strip() == raised.message else None


def read_mypy(output: CommandOutput) -> Verdict | None:
    """The verdict of mypy."""
    signs = (": error: ", "Success: no issues")
    return _typed(output, "mypy", signs, _MYPY, _MYPY_END)


def read_pyright(output: CommandOutput) -> Verdict | None:
    """The verdict of pyright and basedpyright."""
    signs = (" - error: ", " errors, ", " error, ")
    return _typed(output, "pyright", signs, _PYRIGHT, _PYRIGHT_END)


def _typed(output: CommandOutput, check: str, signs: tuple[str, ...], report: Regex, end: Regex) -> Verdict | None:
    """The verdict of a type checker; each line that it reports something in has the first sign."""
    if not output.has(*signs):
        return None
    matches = [found for line in output.lines if signs[0] in line and (found := report.match(line))]
    reports = [ReportedLine(family=found[3] or "type error", message=found.string, path=found[1]) for found in matches]
    return counted(check, "typecheck", reports, output, end)


def read_ruff(output: CommandOutput) -> Verdict | None:
    """The verdict of ``ruff check``, in its one-line and its framed style."""
    if not output.has("Found ", "All checks passed!"):
        return None
    reports = _coded(output) or _framed(output)
    if not reports and output.has(*_NOT_RUFF):
        return None
    reading = counted("ruff", "lint", reports, output, _RUFF_END)
    return reading if reading and reading.summed else None


def read_flake8(output: CommandOutput) -> Verdict | None:
    """The verdict of linters that print one coded line per finding and no summary (flake8, pylint, pycodestyle)."""
    reports = _coded(output)
    if not reports:
        return None
    name = "pylint" if output.has("Your code has been rated", "************* Module") else "flake8"
    return counted(name, "lint", reports, output, _PYLINT_END)


def _coded(output: CommandOutput) -> list[ReportedLine]:
    matches = [found for line in output.lines if ":" in line and (found := _CODED.match(line))]
    return [ReportedLine(family=found[2], message=found.string, path=found[1]) for found in matches]


def _framed(output: CommandOutput) -> list[ReportedLine]:
    reports: list[ReportedLine] = []
    for line, following in zip(output.lines, output.lines[1:], strict=False):
        place = _RUFF_AT.match(following)
        if place and (found := _RUFF_FULL.match(line)):
            reports.append(ReportedLine(family=found[1], message=line, path=place[1]))
    return reports


def read_black(output: CommandOutput) -> Verdict | None:
    """The verdict of ``black --check`` and ``ruff format --check``."""
    if not output.has("ould reformat", "would be reformatted", "would be left unchanged", "already formatted"):
        return None
    matches = output.matches(_BLACK)
    reports = [ReportedLine(family="not formatted", message=found.string, path=found[1]) for found in matches]
    name = "ruff format" if output.has("Would reformat:", "already formatted") else "black"
    return counted(name, "format", reports, output, _BLACK_END)


#: In the order in which they are asked.
READERS = (read_pytest, read_unittest, read_mypy, read_pyright, read_ruff, read_flake8, read_black)
