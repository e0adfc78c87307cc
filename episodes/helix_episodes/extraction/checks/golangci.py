"""golangci-lint: issues by linter, closed by ``N issues:``.

Each issue is ``file:line:column: message (linter)``; a message may run over several lines, and the linter's name stands
at the end of the last. Linters that bundle many rules put the rule's name before the message; there the rule is the
family, because a remedy for one rule says nothing about another.
"""

from __future__ import annotations

from helix_episodes.extraction.checks.go import compile_report
from helix_episodes.extraction.checks.model import Finding, Output, Reading, Report, grouped, quoted
from helix_episodes.regex import Regex

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re

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


def read_golangci(output: Output) -> Reading | None:
    """The verdict of golangci-lint; its summary line may be cut off, single issues still tell."""
    if not output.has(" issues", "issue:", "1 issue", "(typecheck)", _CUT_OFF) and not _names_linter(output):
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
_LINTER_LINE = Regex(r"[^\s:]{1,300}\.go:\d+(?::\d+)?: .{1,1500} \([a-z][a-z0-9]{2,20}\)$")


def _names_linter(output: Output) -> bool:
    return output.has(".go:") and any(line.endswith(")") and _LINTER_LINE.match(line) for line in output.lines)


def _reports(lines: list[str]) -> list[Report]:
    reports: list[Report] = []
    issue: re.Match[str] | None = None
    heads: list[str] = []  # lines of the open issue that begin like one: compile errors come several in one
    for line in lines:
        found = None if line[:1] in {" ", "\t", ""} else _ISSUE.match(line)
        issue = issue or found
        if found:
            heads.append(line)
        linter = _LINTER.search(line) if issue and line.endswith(")") else None
        if issue and linter and linter[1] not in _TYPES:
            reports += _closed(issue, linter[1], heads)
            issue, heads = None, []
    if issue and _CUT_OFF in issue.string:  # cut off in the middle of compile errors
        reports += _compile_reports(heads)
    return reports


def _closed(issue: re.Match[str], linter: str, heads: list[str]) -> list[Report]:
    """The report or reports of a finished issue: compile errors are told apart, the rest is the linter's."""
    if linter == "typecheck":
        return _compile_reports(heads) or [Report(family="does not compile", message=issue.string, path=issue[1])]
    rule = _RULE.match(issue[4]) if linter in _BUNDLES else None
    return [Report(family=f"{linter} {rule[1]}" if rule else linter, message=issue.string, path=issue[1])]


def _compile_reports(heads: list[str]) -> list[Report]:
    """The compile errors among those lines; imports that fail because of another error only if there is none."""
    reports = [report for line in heads if (report := compile_report(_LINTER.sub("", line)))]
    return [report for report in reports if report.family != "missing package"] or reports


def _with_cut_off(output: Output, reports: tuple[Report, ...]) -> tuple[Finding, ...]:
    """Findings by family, and one for each linter that only the summary still names."""
    findings = grouped(reports)
    seen = {found.family.partition(" ")[0] for found in findings}
    compiled = any(line.endswith("(typecheck)") for line in output.lines)
    per_linter = [found for line in output.lines if (found := _PER_LINTER.match(line))]
    named = "does not compile"
    return findings + tuple(
        Finding(
            family=named if linter[1] == "typecheck" else linter[1],
            message=linter.string,
            times=int(linter[2]),
            generic=linter[1] == "typecheck",
        )
        for linter in per_linter
        if linter[1] not in seen and not (linter[1] == "typecheck" and compiled)
    )
