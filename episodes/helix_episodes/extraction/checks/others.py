"""Rust, the JVM, .NET, Ruby, PHP, PowerShell, C, hooks before a commit, and what only says "N passed, M failed".

Most of them close with one line of numbers, so they are rows of a table: the line, and what in it counts as passed,
failed and skipped. Rust and the C compilers have error codes or fixed wording and get a few lines more.
"""

from __future__ import annotations

from helix_episodes.extraction.checks.compilers import compile_family
from helix_episodes.extraction.checks.model import Finding, Output, Reading, Report, grouped, quoted
from helix_episodes.regex import Regex
from helix_episodes.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re

    from helix_episodes.extraction.programs import Kind


class _Closing(Value):
    """A runner that closes with numbers.

    The pattern's groups are ``passed``, ``failed``, ``errors``, ``skipped`` and ``total``, as far as it has them.
    ``many`` is true when there is one such line per package or project, whose numbers add up.
    """

    check: str
    sign: str
    pattern: Regex
    test: Regex | None = None
    many: bool = False


_CLOSINGS = (
    _Closing(
        check="cargo test",
        sign="test result: ",
        pattern=Regex(r"test result: \w+\. (?P<passed>\d+) passed; (?P<failed>\d+) failed; (?P<skipped>\d+) ignored"),
        test=Regex(r"test (\S+) \.\.\. FAILED"),
        many=True,
    ),
    _Closing(
        check="mvn test",
        sign="Tests run: ",
        pattern=Regex(
            r"(?:\[\w+\]\s+)?Tests run: (?P<total>\d+), Failures: (?P<failed>\d+), Errors: (?P<errors>\d+), "
            r"Skipped: (?P<skipped>\d+)\s*$"
        ),
        test=Regex(r"\[ERROR\]\s+(\w+(?:\.\w+)+):\d+"),
    ),
    _Closing(
        check="gradle test",
        sign=" tests completed",
        pattern=Regex(r"(?P<total>\d+) tests? completed, (?P<failed>\d+) failed(?:, (?P<skipped>\d+) skipped)?"),
        test=Regex(r"(\w\S* > .+) FAILED$"),
    ),
    _Closing(
        check="dotnet test",
        sign="Failed:",
        pattern=Regex(
            r"(?:Passed|Failed)!\s+- Failed:\s+(?P<failed>\d+), Passed:\s+(?P<passed>\d+), Skipped:\s+(?P<skipped>\d+)"
        ),
        test=Regex(r"\s+Failed (\S+) \["),
        many=True,
    ),
    _Closing(
        check="rspec",
        sign=" example",
        pattern=Regex(r"(?P<total>\d+) examples?, (?P<failed>\d+) failures?(?:, (?P<skipped>\d+) pending)?"),
        test=Regex(r"rspec (\S+)"),
    ),
    _Closing(
        check="rake test",
        sign=" assertions, ",
        pattern=Regex(
            r"(?P<total>\d+) (?:runs|tests), \d+ assertions, (?P<failed>\d+) failures, (?P<errors>\d+) errors"
            r"(?:, (?P<skipped>\d+) skips)?"
        ),
        test=Regex(r"(?:Failure|Error):\s*$|(\w+#test_\w+)"),
    ),
    _Closing(
        check="phpunit",
        sign=" assertion",
        pattern=Regex(r"OK \((?P<passed>\d+) tests?, \d+ assertions?\)"),
    ),
    _Closing(
        check="phpunit",
        sign="Assertions: ",
        pattern=Regex(
            r"Tests: (?P<total>\d+), Assertions: \d+(?:, Errors: (?P<errors>\d+))?(?:, Failures: (?P<failed>\d+))?"
            r"(?:, Skipped: (?P<skipped>\d+))?"
        ),
        test=Regex(r"\d+\) (\S+::\S+)"),
    ),
    _Closing(
        check="Pester",
        sign="Tests Passed: ",
        pattern=Regex(r"Tests Passed: (?P<passed>\d+), Failed: (?P<failed>\d+)(?:, Skipped: (?P<skipped>\d+))?"),
        test=Regex(r"\s*\[-\] (.+?) \d+(?:\.\d+)?m?s"),
    ),
)
_PLAIN_CLOSING = _Closing(
    check="tests",
    sign=" passed",
    pattern=Regex(
        r"(?P<passed>\d+) (?:tests? )?passed[,;] (?P<failed>\d+) (?:tests? )?failed"
        r"(?:[,;] (?P<skipped>\d+) skipped)?[.!]?$"
    ),
)


def read_closings(output: Output) -> tuple[Reading, ...]:
    """The verdicts of all runners in the table whose closing line stands in the output."""
    readings = (_closed(output, closing) for closing in _CLOSINGS)
    return tuple(reading for reading in readings if reading)


def read_plain(output: Output) -> Reading | None:
    """A runner nobody knows whose last words are "N passed, M failed"."""
    last = next((line for line in reversed(output.lines) if line.strip()), "")
    return _closed(Output(last), _PLAIN_CLOSING)


def _closed(output: Output, closing: _Closing) -> Reading | None:
    if not output.has(closing.sign):
        return None
    # The end of the line, so that the loop stays cheap on long outputs: these signs are rare.
    ends = [found for line in output.lines if closing.sign in line and (found := closing.pattern.search(line))]
    if not ends:
        return None
    numbers = [_numbers(found) for found in (ends if closing.many else ends[-1:])]
    failed = sum(number["failed"] + number["errors"] for number in numbers)
    skipped = sum(number["skipped"] for number in numbers)
    total = sum(number["total"] for number in numbers)
    passed = sum(number["passed"] for number in numbers)
    return Reading(
        check=closing.check,
        kind="test",
        passed=failed == 0,
        passed_count=passed or max(0, total - failed - skipped),
        failed_count=failed,
        skipped_count=skipped,
        findings=(_test_failed(output, closing, failed, ends[-1].string),) if failed else (),
        quote=quoted(*(found.string for found in ends[-2:])),
    )


def _numbers(found: re.Match[str]) -> dict[str, int]:
    named = found.groupdict()
    return {name: int(named.get(name) or 0) for name in ("passed", "failed", "errors", "skipped", "total")}


def _test_failed(output: Output, closing: _Closing, failed: int, summary: str) -> Finding:
    matches = [found for line in output.lines if closing.test and (found := closing.test.match(line))]
    names = tuple(dict.fromkeys(found[1] for found in matches if found[1]))
    panicked = next((line for line in output.lines if "panicked at" in line), None)
    message = panicked or (matches[0].string if matches else summary)
    return Finding(family="test failed", message=message.strip(), times=failed, tests=names, generic=True)


_RUST_ERROR = Regex(r"(error|warning)(?:\[(E\d+)\])?: (.+)$")
_RUST_AT = Regex(r"\s*--> ([^\s:]+):\d+:\d+")
_RUST_LINT = Regex(r"\s*= (?:note|help): .*?`?#\[(?:deny|warn|forbid)\(([\w:-]+)\)\]|.*-D ([\w:-]+)`?")
_RUST_SUMS = ("could not compile", "aborting due to", "build failed")
_RUST_FMT = Regex(r"Diff in (\S+?):?(?: at line |:)\d+")


def read_rust(output: Output) -> Reading | None:
    """The verdict of cargo's compiler: error codes, and clippy's lints where they are denied."""
    if not output.has("error[E", "could not compile", "aborting due to"):
        return None
    reports = [
        report for at, line in enumerate(output.lines) if line.startswith("error") and (report := _rust(output, at))
    ]
    summed = next(
        (line for line in output.lines if line.startswith("error") and any(w in line for w in _RUST_SUMS)), ""
    )
    cut_off = (Finding(family="build failed", message=summed, generic=True),) if summed else ()
    lints = any(report.family.startswith("clippy::") for report in reports)
    return Reading(
        check="cargo clippy" if lints else "cargo build",
        kind="lint" if lints else "build",
        passed=False,
        failed_count=len(reports) or None,
        findings=grouped(reports) or cut_off,
        quote=quoted(*(report.message for report in reports[:3])) or quoted(summed),
    )


def _rust(output: Output, at: int) -> Report | None:
    found = _RUST_ERROR.match(output.lines[at])
    if not found or any(words in found[3] for words in _RUST_SUMS):
        return None
    # A diagnostic ends at an empty line; 40 lines is more than rustc prints for one.
    body = output.lines[at + 1 : at + 40]
    body = body[: body.index("")] if "" in body else body
    place = next((place for line in body if (place := _RUST_AT.match(line))), None)
    lint = next((lint[1] or lint[2] for line in body if (lint := _RUST_LINT.match(line))), None)
    family = found[2] or lint or compile_family(found[3])
    return Report(family=family, message=found.string, path=place[1] if place else None)


def read_rustfmt(output: Output) -> Reading | None:
    """The verdict of ``cargo fmt --check``: it prints a difference per place."""
    if not output.has("Diff in "):
        return None
    matches = [found for line in output.lines if (found := _RUST_FMT.match(line))]
    if not matches:
        return None
    reports = [Report(family="not formatted", message=found.string, path=found[1]) for found in matches]
    return _failing("cargo fmt", "format", reports)


def _failing(check: str, kind: Kind, reports: list[Report]) -> Reading:
    return Reading(
        check=check,
        kind=kind,
        passed=False,
        failed_count=len(reports),
        findings=grouped(reports),
        quote=quoted(*(report.message for report in reports[:3])),
    )


_C_ERROR = Regex(r"([^\s:]+\.(?:c|cc|cpp|cxx|h|hpp|m|mm|swift|zig)):\d+:\d+: (?:fatal )?error: (.+)$")
_JAVA_ERROR = Regex(
    r"(?:\[ERROR\] |e: )?(?:file://)?([^\s:]+\.(?:java|kt|scala)):\[?\d+[,:]?\d*\]?:? (?:error: )?(.+)$"
)
_CSHARP_ERROR = Regex(r"\s*([^\s(]+)\(\d+,\d+\): error ([A-Z]+\d+): (.+?)(?: \[.*\])?$")


def read_compilers(output: Output) -> Reading | None:
    """Errors of C, C++, Swift, Zig, the JVM's and .NET's compilers."""
    if not output.has("error: ", "error CS", "error FS", "error MSB", "[ERROR]", "e: "):
        return None
    reports: list[Report] = []
    name = ""
    for line in output.lines:
        if found := _C_ERROR.match(line):
            name = name or "cc"
            reports.append(Report(family=compile_family(found[2]), message=line, path=found[1]))
        elif found := _CSHARP_ERROR.match(line):
            name = name or "dotnet build"
            reports.append(Report(family=found[2], message=line, path=found[1]))
        elif (found := _JAVA_ERROR.match(line)) and output.has("error: ", "COMPILATION ERROR", "e: file"):
            name = name or "javac"
            reports.append(Report(family=compile_family(found[2]), message=line, path=found[1]))
    return _failing(name, "build", reports) if reports else None


_HOOK = Regex(r"(.+?)\.{3,}(?:\([^)]*\))?(Passed|Failed|Skipped)$")
_HOOK_ID = Regex(r"- hook id: (\S+)$")


def read_hooks(output: Output) -> Reading | None:
    """The verdict of pre-commit, hook by hook."""
    if not output.has("...Passed", "...Failed", ".Passed", ".Failed"):
        return None
    hooks = [found for line in output.lines if (found := _HOOK.match(line))]
    failed = [found for found in hooks if found[2] == "Failed"]
    if not hooks:
        return None
    ids = [found[1] for line in output.lines if (found := _HOOK_ID.match(line))]
    names = ids if len(ids) == len(failed) else [found[1].strip() for found in failed]
    reports = [Report(family=name, message=found.string) for name, found in zip(names, failed, strict=True)]
    return Reading(
        check="pre-commit",
        kind="lint",
        passed=not failed,
        passed_count=sum(found[2] == "Passed" for found in hooks),
        failed_count=len(failed),
        skipped_count=sum(found[2] == "Skipped" for found in hooks),
        findings=grouped(reports),
        quote=quoted(*(found.string for found in failed[:3] or hooks[-2:])),
    )
