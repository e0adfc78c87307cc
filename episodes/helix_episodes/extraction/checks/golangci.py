"""golangci-lint: issues by linter, closed by ``N issues:``.

Each issue is ``file:line:column: message (linter)``; a message may run over several lines, and the linter's name stands
at the end of the last. Linters that bundle many rules put the rule's name before the message; there the rule is the
family, because a remedy for one rule says nothing about another.
"""

from __future__ import annotations

import re

from helix_episodes.extraction.checks.go import compile_report
from helix_episodes.extraction.checks.model import Finding, Output, Reading, Report, grouped, quoted

_SUMMARY = re.compile(r"(\d+) issues?[:.]$")
_PER_LINTER = re.compile(r"\* (\w[\w-]*): (\d+)$")
_ISSUE = re.compile(r"([^\s:][^:]*\.\w+|[^\s:]+):(\d+)(?::(\d+))?: ?(.*)$")
_LINTER = re.compile(r" ?\(([a-z][a-z0-9_-]+)\)$")
_RULE = re.compile(r"([A-Za-z][\w-]*): ")
_CUT_OFF = ":1: : # "
#: Ends of lines that look like a linter's name and are a Go signature ("have (string)").
_TYPES = {"string", "int", "bool", "error", "byte", "rune", "any", "float64", "int64", "uint64", "nil", "number"}
#: Linters that are many in one.
_BUNDLES = {"gosec", "staticcheck", "stylecheck", "gosimple", "revive", "gocritic", "govet", "errorlint", "testifylint"}


def read_golangci(output: Output) -> Reading | None:
    """The verdict of golangci-lint; its summary line may be cut off, single issues still tell."""
    if not output.has(" issues", "issue:", "1 issue", "(typecheck)", _CUT_OFF) and not _LINTER_LINE.search(output.text):
        return None
    summary = [found for line in output.lines if (found := _SUMMARY.match(line))]
    reports = tuple(_reports(output.lines))
    if not summary and not reports:
        return None
    total = sum(int(found[1]) for found in summary) if summary else None
    failed = bool(total or reports) if total != 0 else False
    return Reading(
        check="golangci-lint",
        kind="lint",
        passed=not failed,
        failed_count=total,
        findings=_with_cut_off(output, reports) if failed else (),
        quote=quoted(*[report.message for report in reports[:2]], *(found.string for found in summary)),
        summed=bool(summary),
    )


# An issue on one line: the only sign left when the summary was cut off.
_LINTER_LINE = re.compile(r"^[^\s:]{1,300}\.go:\d+(?::\d+)?: .{1,1500} \([a-z][a-z0-9]{2,20}\)$", re.MULTILINE)


def _reports(lines: list[str]) -> list[Report]:
    reports: list[Report] = []
    open_issue: re.Match[str] | None = None
    inner: list[Report] = []
    for line in lines:
        found = _ISSUE.match(line) if line[:1] not in " \t" else None
        open_issue = open_issue or found
        if open_issue is None:
            continue
        if found and (compiled := compile_report(_LINTER.sub("", line))):
            inner.append(compiled)
        if (linter := _LINTER.search(line)) and linter[1] not in _TYPES:
            reports += _closed(open_issue, linter[1], inner)
            open_issue, inner = None, []
    # Cut off in the middle of a compile error, which is the only issue that has others inside.
    return reports + (inner if _is_cut_off(open_issue) else [])


def _is_cut_off(issue: re.Match[str] | None) -> bool:
    """Whether an issue that began with a package's compile errors never came to its end."""
    return issue is not None and _CUT_OFF in issue.string


def _closed(issue: re.Match[str], linter: str, inner: list[Report]) -> list[Report]:
    """The report or reports of a finished issue: compile errors are told apart, the rest is the linter's."""
    if linter == "typecheck":
        own = [report for report in inner if report.family != "missing package"] or inner
        return own or [Report(family="does not compile", message=issue.string, path=issue[1])]
    rule = _RULE.match(issue[4]) if linter in _BUNDLES else None
    return [Report(family=f"{linter} {rule[1]}" if rule else linter, message=issue.string, path=issue[1])]


def _with_cut_off(output: Output, reports: tuple[Report, ...]) -> tuple[Finding, ...]:
    """Findings by family, and one for each linter that only the summary still names."""
    findings = grouped(reports)
    seen = {found.family.partition(" ")[0] for found in findings}
    compiled = any(_LINTER.search(line) and line.endswith("(typecheck)") for line in output.lines)
    per_linter = [found for line in output.lines if (found := _PER_LINTER.match(line))]
    named = "does not compile"
    return findings + tuple(
        Finding(
            family=named if linter[1] == "typecheck" else linter[1],
            message=linter.string,
            count=int(linter[2]),
            generic=linter[1] == "typecheck",
        )
        for linter in per_linter
        if linter[1] not in seen and not (linter[1] == "typecheck" and compiled)
    )
