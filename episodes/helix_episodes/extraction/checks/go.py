"""Go: tests, builds, vet, and golangci-lint.

``go test`` closes every package with one line (``ok``, ``FAIL``, ``?``) and every failing test with ``--- FAIL:``, at
the margin; a test's own log is indented, so a log full of expected errors is not taken for a failure. Compile errors
are printed as ``file.go:line:column: message``.

golangci-lint prints ``file:line:column: message (linter)`` for each issue and closes with ``N issues:``. A message may
run over several lines; the linter's name is at the end of the last. Linters that bundle many rules put the rule's name
before the message; there the rule is the family, because a remedy for one rule says nothing about another.
"""

from __future__ import annotations

import re

from helix_episodes.extraction.checks.compilers import compile_family
from helix_episodes.extraction.checks.model import CheckFinding, CommandOutput, ReportedLine, Verdict, grouped, quoted
from helix_episodes.light_imports import Regex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


_TEST = Regex(r"(\s*)--- (PASS|FAIL|SKIP): (\S+)")
_PACKAGE = Regex(r"(ok  |FAIL|\?   |---)\t(\S+)(?:\s+(.*))?$")
_PACKAGE_SPACED = Regex(r"(ok|FAIL|\?)\s+(\S*[./]\S*)\s+((?:\d+\.\d+s|\(cached\)|\[[^\]]+\]).*)$")
_COMPILE = Regex(r"(?:vet: )?((?:\.{0,2}/)?[^\s:]+\.(?:go|s|c|h)):(\d+)(:\d+)?: (.+)$")
# Linters print their findings in the compiler's shape, and then the linter's name or a number of issues.
_LINTED = Regex(r"[^\s:]{1,300}\.go:\d+(?::\d+)?: .{1,1500} \([a-z][a-z0-9_-]+\)$|\d+ issues?[:.]$")
_LOG = Regex(r"\s+(\S+\.go):\d+: (.+)$")
_PANIC = Regex(r"panic: (.+)$")
_MISSING = Regex(r"no required module provides package|cannot find module|missing go\.sum entry|is not in std")


def read_go_test(output: CommandOutput) -> Verdict | None:
    """The verdict of ``go test``, from package and test lines."""
    if not output.has("ok  \t", "FAIL", "--- PASS", "--- SKIP", "[no test files]", "PASS\nok", "(cached)"):
        return None
    tests = [found for line in output.lines if "---" in line and (found := _TEST.match(line))]
    closing = (line for line in output.lines if line[:1] in {"o", "F", "?"})
    packages = [found for line in closing if (found := _PACKAGE.match(line) or _PACKAGE_SPACED.match(line))]
    if not tests and not packages:
        return None
    failed_tests = [found for found in tests if found[2] == "FAIL"]
    failed_packages = [found for found in packages if found[1].startswith("FAIL")]
    failed = bool(failed_tests or failed_packages)
    findings = (_stopped(output) or _go_findings(output, failed_tests, failed_packages)) if failed else ()
    ran = any(found[1].startswith("ok") and not _has_no_tests(found) for found in packages)
    deciding = [*failed_tests[:3], *failed_packages[:2]] if failed else (packages[-2:] or tests[-2:])
    return Verdict(
        check="go test",
        kind="test",
        passed=not failed if tests or failed or ran else None,
        passed_count=_count(tests, "PASS"),
        failed_count=_count(tests, "FAIL") if failed else (0 if tests or ran else None),
        skipped_count=_count(tests, "SKIP"),
        findings=findings,
        quote=quoted(*(found.string for found in deciding)),
        summed=bool(packages),
        by_lines=True,
        ran=tuple(found[2] for found in packages if not _is_cached(found) and not _has_no_tests(found)),
        cached=tuple(found[2] for found in packages if _is_cached(found)),
    )


def _is_cached(package: re.Match[str]) -> bool:
    return package[1].startswith("ok") and "(cached)" in (package[3] or "")


def _has_no_tests(package: re.Match[str]) -> bool:
    return package[1].startswith("?") or "[no tests to run]" in (package[3] or "")


def _count(tests: list[re.Match[str]], how: str) -> int | None:
    """Top-level tests that came out so; unknown when no single test is reported."""
    top = [found for found in tests if not found[1]]
    reported = any(found[2] == how for found in top)
    return sum(found[2] == how for found in top) if reported else None


def _stopped(output: CommandOutput) -> tuple[CheckFinding, ...]:
    """A panic or a timeout, which ends the whole run and outweighs single tests."""
    if not output.has("panic: "):
        return ()
    for at, line in enumerate(output.lines):
        found = _PANIC.match(line)
        if found:
            family = "timeout" if found[1].startswith("test timed out") else "panic"
            failed = [test for one in output.lines[:at] if (test := _TEST.match(one)) and test[2] == "FAIL"]
            # A timeout names the tests that are still running.
            running = (test[1] for one in output.lines[at : at + 8] if (test := re.match(r"\s+(Test\w+)", one)))
            return (CheckFinding(family=family, message=line.strip(), tests=_names(failed) or tuple(running)),)
    return ()


def _names(tests: list[re.Match[str]]) -> tuple[str, ...]:
    """The names of tests without those of their parts."""
    return tuple(dict.fromkeys(found[3].partition("/")[0] for found in tests))


def _go_findings(
    output: CommandOutput, tests: list[re.Match[str]], packages: list[re.Match[str]]
) -> tuple[CheckFinding, ...]:
    unbuilt = any("failed]" in (found[3] or "") for found in packages)
    compiled = compile_findings(output) if unbuilt or not tests else ()
    if not tests:
        return compiled or ((_package_finding(output, packages, unbuilt=unbuilt),) if packages else ())
    names = _names(tests)
    path, message = _first_words(output, tests[0].string)
    finding = CheckFinding(
        family="test failed", message=message, path=path, times=len(names), tests=names, generic=True
    )
    return (*compiled, finding)


def _package_finding(output: CommandOutput, packages: list[re.Match[str]], *, unbuilt: bool) -> CheckFinding:
    """A package that failed while the lines about its tests were cut off; some of their log may be left."""
    above = reversed(output.lines[: output.lines.index(packages[0].string)])
    closed = _block(above, ends=lambda line: line.startswith(("ok  \t", "--- ", "=== ")))
    # With tests that passed in sight, what is left of a log may be theirs.
    logged = None if output.has("--- PASS", "=== ") else _last_log(list(reversed(closed)))
    return CheckFinding(
        family="does not compile" if unbuilt else "test failed",
        message=logged.string.strip() if logged else packages[0].string.strip(),
        path=logged[1] if logged else None,
        times=len(packages),
        generic=True,
    )


def _first_words(output: CommandOutput, heading: str) -> tuple[str | None, str]:
    """What the first failing test reported.

    ``t.Fatal`` ends a test, so the last line logged by a test file is the assertion that failed; what comes before is
    mostly the log of helpers. With ``-v`` the log is above the heading, otherwise below.
    """
    at = output.lines.index(heading)
    below = _block(output.lines[at + 1 :], ends=lambda line: not line[:1].isspace())
    above = _block(reversed(output.lines[:at]), ends=lambda line: line.startswith(("=== ", "--- ", "ok  \t")))
    for block in (below, list(reversed(above))):
        if logged := _last_log(block):
            return logged[1], logged.string.strip()
    return None, heading.strip()


def _last_log(block: list[str]) -> re.Match[str] | None:
    """The last line logged by a test file, else by any."""
    logged = [found for line in block if (found := _LOG.match(line))]
    in_tests = [found for found in logged if found[1].endswith("_test.go")]
    return next(reversed(in_tests or logged), None)


# A test that logs more than this says nothing in its last lines that one line more would change.
_BLOCK_LIMIT = 5000


def _block(lines: Iterable[str], *, ends: Callable[[str], bool]) -> list[str]:
    block: list[str] = []
    for line in lines:
        if (line and ends(line)) or len(block) >= _BLOCK_LIMIT:
            break
        block.append(line)
    return block


def read_go_build(output: CommandOutput) -> Verdict | None:
    """The verdict of a compiler run without tests: errors or nothing."""
    if not output.has(".go:", "go: ", "package ") or output.has("\nFAIL", "--- FAIL", "(typecheck)"):
        return None
    if any(line[-1:] in {")", ":", "."} and _LINTED.match(line) for line in output.lines):
        return None
    findings = compile_findings(output)
    if not findings:
        return None
    quote = quoted(*(found.message for found in findings[:3]))
    return Verdict(check="go build", kind="build", passed=False, findings=findings, quote=quote)


def compile_findings(output: CommandOutput) -> tuple[CheckFinding, ...]:
    """Compile errors of Go by family. What merely follows from another error is left out."""
    reports = [report for line in output.lines if (report := compile_report(line))]
    own = [report for report in reports if report.family != "missing package"]
    return grouped(own or reports)


def compile_report(line: str) -> ReportedLine | None:
    """The compile error on a line, if it is one."""
    if line[:1].isspace():
        return None
    if found := _COMPILE.match(line):
        if found[4].startswith(("too many errors", ": # ", "# ")):  # says only where the errors belong
            return None
        family = compile_family(found[4])
        # A test's log has no column, and the first line of what `tail` left may have lost its indentation.
        logged = found[3] is None and family == "does not compile"
        return None if logged else ReportedLine(family=family, message=line, path=found[1])
    if _MISSING.search(line):
        return ReportedLine(family="missing package", message=line)
    if line.startswith(("go: cannot find main module", "go: go.mod file not found")):
        return ReportedLine(family="not a module", message=line)
    return None


_SUMMARY = Regex(r"(\d+) issues?[:.]$")
_PER_LINTER = Regex(r"\* (\w[\w-]*): (\d+)$")
_ISSUE = Regex(r"([^\s:][^:]*\.\w+|[^\s:]+):(\d+)(?::(\d+))?: ?(.*)$")
_LINTER = Regex(r" ?\(([a-z][a-z0-9_-]+)\)$")
_RULE = Regex(r"([A-Za-z][\w-]*)(?:\(related information\))?: ")
_CUT_OFF = ":1: : # "
#: Ends of lines that look like a linter's name and are a Go signature ("have (string)").
_TYPES = {"string", "int", "bool", "error", "byte", "rune", "any", "float64", "int64", "uint64", "nil", "number"}
#: Linters that are many in one.
_BUNDLES = {"gosec", "staticcheck", "stylecheck", "gosimple", "revive", "gocritic", "govet", "errorlint", "testifylint"}


def read_golangci(output: CommandOutput) -> Verdict | None:
    """The verdict of golangci-lint; its summary line may be cut off; single issues are enough."""
    if not output.has(" issues", "issue:", "1 issue", "(typecheck)", _CUT_OFF):
        names_linter = (line for line in output.lines if line.endswith(")") and _LINTER_LINE.match(line))
        if not output.has(".go:") or next(names_linter, None) is None:
            return None
    summary = output.matches(_SUMMARY)
    reports = tuple(_reports(output.lines))
    if not summary and not reports:
        return None
    total = sum(int(found[1]) for found in summary) if summary else None
    failed = bool(total or reports) if total != 0 else False
    return Verdict(
        check="golangci-lint",
        kind="lint",
        passed=not failed,
        failed_count=total,
        findings=_with_cut_off(output, reports) if failed else (),
        quote=quoted(*[report.message for report in reports[:2]], *(found.string for found in summary)),
        summed=bool(summary),
    )


# An issue on one line: the only sign left when the summary was cut off.
_LINTER_LINE = Regex(r"[^\s:]{1,300}\.go:\d+(?::\d+)?: .{1,1500} \([a-z][a-z0-9]{2,20}\)$")


def _reports(lines: list[str]) -> list[ReportedLine]:
    reports: list[ReportedLine] = []
    issue: re.Match[str] | None = None
    heads: list[str] = []  # lines of the open issue that begin like one: compile errors come several in one
    for line in lines:
        found = None if line[:1] in {" ", "\t", ""} else _ISSUE.match(line)
        issue = issue or found
        if found:
            heads.append(line)
        linter = _LINTER.search(line) if issue and line.endswith(")") else None
        if issue and linter and linter[1] not in _TYPES:
            # Compile errors are named one by one, the rest is the linter's.
            compiled = _compile_reports(heads) if linter[1] == "typecheck" else []
            rule = _RULE.match(issue[4]) if linter[1] in _BUNDLES else None
            family = f"{linter[1]} {rule[1]}" if rule else linter[1]
            family = "does not compile" if linter[1] == "typecheck" else family
            reports += compiled or [ReportedLine(family=family, message=issue.string, path=issue[1])]
            issue, heads = None, []
    if issue and _CUT_OFF in issue.string:  # cut off in the middle of compile errors
        reports += _compile_reports(heads)
    return reports


def _compile_reports(heads: list[str]) -> list[ReportedLine]:
    """The compile errors among those lines; imports that fail because of another error only if there is none."""
    reports = [report for line in heads if (report := compile_report(_LINTER.sub("", line)))]
    return [report for report in reports if report.family != "missing package"] or reports


def _with_cut_off(output: CommandOutput, reports: tuple[ReportedLine, ...]) -> tuple[CheckFinding, ...]:
    """Findings by family, and one for each linter that only the summary still names."""
    findings = grouped(reports)
    seen = {found.family.partition(" ")[0] for found in findings}
    compiled = any(line.endswith("(typecheck)") for line in output.lines)
    per_linter = output.matches(_PER_LINTER)
    named = "does not compile"
    return findings + tuple(
        CheckFinding(
            family=named if linter[1] == "typecheck" else linter[1],
            message=linter.string,
            times=int(linter[2]),
            generic=linter[1] == "typecheck",
        )
        for linter in per_linter
        if linter[1] not in seen and not (linter[1] == "typecheck" and compiled)
    )


#: In the order in which they are asked.
READERS = (read_golangci, read_go_test, read_go_build)
