"""Checkers whose words are only taken from themselves, and what each of them prints of how it went.

The other grammars recognise their runner in any text. The lines here are too plain for that ("3 tests, 1 failure",
"a.sh:3:1: …"), so they count only in the output of a command that calls that checker by its name. They matter where
the exit status is hidden (``shellcheck *.sh | head``): then nothing else says how the check went. For each checker
stand the line with which it closes, the form of a single complaint, the heading with the file that complaints below it
are about, and the words with which it says that all is well; of those as many as it has.

>>> found = read_by_name("luacheck", "lint", CommandOutput("    a.lua:3:7: unused variable x"))
>>> found.passed, found.findings[0].path
(False, 'a.lua')
>>> read_by_name("bats", "test", CommandOutput("3 tests, 0 failures")).passed
True
>>> read_by_name("mypy", "typecheck", CommandOutput("3 tests, 1 failure"))
"""

from __future__ import annotations

from helix_episodes.extraction.checks.model import (
    CheckFinding,
    CommandOutput,
    ReportedLine,
    Verdict,
    grouped,
    quoted,
    unspecified,
)
from helix_episodes.light_imports import Regex, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterator, Sequence

    from helix_episodes.extraction.shell.programs import CheckKind


class _Tool(Value):
    """What a checker prints.

    ``closing`` has the groups ``passed``, ``failed``, ``errors``, ``skipped`` and ``total``, as far as it counts; a
    closing line without ``failed`` and ``errors`` says that all is well. ``report`` has the groups ``rule``, ``path``
    and ``test``, as far as it names them, ``heading`` the group ``path``. ``broke`` are words that say no more than
    that the check failed. An ``alert`` is a complaint that may be a mere warning: what failed is named by it, but that
    something did only the exit status says.
    """

    closing: Regex | None = None
    report: Regex | None = None
    heading: Regex | None = None
    broke: Regex | None = None
    fine: Regex | None = None
    alert: Regex | None = None


#: A place with a message and, at its end, the rule in brackets.
_PLACE = r"(?P<path>[^\s:]+):\d+:\d+: "
_TESTS_FAILURES = Regex(r"(?:.*, )?(?P<total>\d+) tests?, (?P<failed>\d+) failures?(?:, (?P<skipped>\d+) \w+)*\W*$")
_KARMA = _Tool(
    closing=Regex(
        r"TOTAL: (?P<failed>\d+) FAILED, (?P<passed>\d+) SUCCESS|.*Executed \d+ of \d+ \((?P<errors>\d+) FAILED"
    ),
    report=Regex(r"(?:[A-Z]\S* )+\([^)]+\) (?P<test>.+) FAILED$"),
    fine=Regex(r"TOTAL: \d+ SUCCESS|.*Executed (\d+) of \1 SUCCESS"),
)
_TAPLO = _Tool(report=Regex(r"\s*ERROR .*path=\"(?P<path>[^\"]+)\""))
_XCTEST = _Tool(
    closing=Regex(
        r"\s*Executed (?P<total>\d+) tests?, with (?:(?P<skipped>\d+) tests? skipped and )?(?P<failed>\d+) failures? \("
    ),
    report=Regex(r"Test Case '(?P<test>[^']+)' failed \(|\S+ Test \"?(?P<rule>[^\"]+?)\"?(?:\(\))? failed after "),
    broke=Regex(r"\S+ Test run with \d+ tests?.* failed after "),
    fine=Regex(r"\S+ Test run with \d+ tests?.* passed after "),
)
#: By the name of the check.
_TOOLS: dict[str, _Tool] = {
    # Runners of tests.
    "ava": _Tool(closing=Regex(r" +(?P<failed>\d+) tests? failed$"), fine=Regex(r" +\d+ tests? passed$")),
    "bats": _Tool(
        closing=_TESTS_FAILURES,
        report=Regex(r"(?: ✗|not ok \d+) (?P<test>(?:(?!# (?:TODO|skip)\b).)+?)(?: in \d+ms| \[\d+\])?$"),
    ),
    "bazel test": _Tool(
        closing=Regex(
            r"Executed \d+ out of (?P<total>\d+) tests?: (?:\d+ tests? pass(?:es)?(?: and |\.)|.*?, )?"
            r"(?:(?P<failed>\d+) fails?)?"
        ),
        report=Regex(r"(?P<test>//\S+) +(?:FAILED|TIMEOUT|NO STATUS)\b"),
    ),
    "busted": _Tool(
        closing=Regex(
            r"(?P<passed>\d+) success(?:es)? / (?P<failed>\d+) failures? / (?P<errors>\d+) errors? / "
            r"(?P<skipped>\d+) pending"
        ),
    ),
    "cargo nextest": _Tool(
        closing=Regex(
            r"\s*Summary \[ *[\d.]+s\] +(?:\d+/)?(?P<total>\d+) tests? run: (?P<passed>\d+) passed(?: \([^)]*\))?"
            r"(?:, (?P<failed>\d+) failed)?(?:, (?P<errors>\d+) (?:exec failed|timed out))?"
            r"(?:, (?P<skipped>\d+) skipped)?"
        ),
        report=Regex(r"\s+(?:FAIL|TIMEOUT|SIGABRT|SIGSEGV) \[ *[\d.]+s\] (?:\([^)]*\) )?(?P<test>\S+ \S+)$"),
        broke=Regex(r"error: test run failed$"),
    ),
    "ctest": _Tool(
        closing=Regex(r"\d+% tests passed, (?P<failed>\d+) tests? failed out of (?P<total>\d+)"),
        report=Regex(r"\s+\d+ - (?P<test>\S+) \(\w[\w ]*\)"),
    ),
    "cypress run": _Tool(
        closing=Regex(r"\s*[✖×] +(?P<failed>\d+) of (?P<total>\d+) failed"),  # noqa: RUF001  (as printed)
        fine=Regex(r"\s*[✔✓] +All specs passed!"),
    ),
    "deno test": _Tool(
        closing=Regex(
            r"(?:ok|FAILED) \| (?P<passed>\d+) passed(?: \(\d+ steps?\))? \| (?P<failed>\d+) failed"
            r"(?: \([^)]*\))?(?: \| (?P<skipped>\d+) ignored)?"
        ),
        report=Regex(r"(?P<test>\S.*) => \S+:\d+:\d+$"),
        broke=Regex(r"error: Test failed$"),
    ),
    "elm-test": _Tool(broke=Regex(r"TEST RUN FAILED"), fine=Regex(r"TEST RUN PASSED")),
    "gleam test": _Tool(closing=_TESTS_FAILURES, fine=Regex(r"\d+ (?:tests?, |passed, )no failures")),
    "gotestsum": _Tool(
        closing=Regex(
            r"DONE (?:\d+ runs, )?(?P<total>\d+) tests?(?:, (?P<skipped>\d+) skipped)?(?:, (?P<failed>\d+) failures?)?"
            r"(?:, (?P<errors>\d+) errors?)? in "
        ),
        report=Regex(r"=== FAIL: \S+ (?P<test>\S+) \("),
    ),
    "karma": _KARMA,
    "mix test": _Tool(
        closing=_TESTS_FAILURES, report=Regex(r"\s+\d+\) (?P<test>(?:test|doctest|property) .+) \([\w.]+\)$")
    ),
    "ng test": _KARMA,
    "pest": _Tool(
        closing=Regex(
            r"\s*Tests: +(?:(?P<failed>\d+) failed, )?(?:\d+ \w+, )*?(?P<passed>\d+) passed \(\d+ assertions?\)"
        ),
    ),
    "prove": _Tool(
        report=Regex(r"(?P<test>\S+\.t) +\(Wstat: "),
        broke=Regex(r"Result: FAIL$"),
        fine=Regex(r"Result: PASS$"),
    ),
    "sbt test": _Tool(
        closing=Regex(
            r"\[\w+\] (?:Passed|Failed|Error): Total (?P<total>\d+), Failed (?P<failed>\d+), Errors (?P<errors>\d+), "
            r"Passed (?P<passed>\d+)"
        ),
        broke=Regex(r"\[error\] (?:Failed tests:$|.*sbt\.TestsFailedException)"),
    ),
    "swift test": _XCTEST,
    "xcodebuild": _XCTEST,
    # Linters, checkers of types, and builds.
    "actionlint": _Tool(report=Regex(rf"{_PLACE}.+ \[(?P<rule>[\w-]+)\]$")),
    "ansible-lint": _Tool(closing=Regex(r"(?:Failed|Passed): (?P<failed>\d+) failure\(s\), ")),
    "astro check": _Tool(
        closing=Regex(r"- (?P<failed>\d+) errors?$"), report=Regex(r"(?P<path>\S+):\d+:\d+ - error (?P<rule>\S+): .+")
    ),
    "buf lint": _Tool(report=Regex(r"(?P<path>\S+\.proto):\d+:\d+:.+")),
    "cargo audit": _Tool(broke=Regex(r"error: \d+ (?:vulnerabilit(?:y|ies)|denied warnings?) found!")),
    "cargo deny": _Tool(
        report=Regex(r"error\[(?P<rule>[\w-]+)\]: .+"),
        broke=Regex(r".*\b(?:advisories|bans|licenses|sources) FAILED\b"),
        fine=Regex(r"(?:(?:advisories|bans|licenses|sources) ok(?:, )?)+$"),
    ),
    "codespell": _Tool(report=Regex(r"(?P<path>\S+):\d+: (?P<rule>\S+) ==> .+")),
    "commitlint": _Tool(
        closing=Regex(r"\S+ +found (?P<failed>\d+) problems?, \d+ warnings?"),
        report=Regex(r"✖ +.+ \[(?P<rule>[\w-]+)\]$"),
    ),
    "cspell": _Tool(
        closing=Regex(r"CSpell: Files checked: \d+, Issues found: (?P<failed>\d+) in"),
        report=Regex(r"(?P<path>\S+):\d+:\d+ - (?P<rule>Unknown word|Forbidden word) \("),
    ),
    "deno check": _Tool(report=Regex(r"(?P<rule>TS\d+) \[ERROR\]: .+")),
    "deno lint": _Tool(
        closing=Regex(r"Found (?P<failed>\d+) problems?$"), report=Regex(r"error\[(?P<rule>[\w/-]+)\]: .+")
    ),
    "detekt": _Tool(
        report=Regex(rf"{_PLACE}.+ \[(?P<rule>\w+)\]$"), broke=Regex(r"Analysis failed with \d+ (?:weighted )?issues")
    ),
    "goreleaser check": _Tool(
        report=Regex(r"\s*\u2a2f (?P<path>\S+\.ya?ml) +error=.+"),
        broke=Regex(r"\s*\u2a2f configuration is invalid\b"),
        fine=Regex(r"\s*• \d+ configuration file\(s\) validated"),
    ),
    "gosec": _Tool(closing=Regex(r"\s*Issues +: (?P<failed>\d+)$")),
    "govulncheck": _Tool(
        closing=Regex(r"Your code is affected by (?P<failed>\d+) vulnerabilit"),
        report=Regex(r"Vulnerability #\d+: (?P<rule>GO-\d+-\d+)"),
        fine=Regex(r"No vulnerabilities found\."),
    ),
    "hadolint": _Tool(report=Regex(r"(?P<path>\S+):\d+ (?P<rule>(?:DL|SC)\d{4}) (?:error|warning|info|style): .+")),
    "helm lint": _Tool(
        closing=Regex(r"(?:Error: )?\d+ chart\(s\) linted, (?P<failed>\d+) chart\(s\) failed"),
        report=Regex(r"\[ERROR\] (?P<path>\S+?): .+"),
    ),
    "ktlint": _Tool(report=Regex(rf"{_PLACE}.+ \((?:\w+:)?(?P<rule>[\w-]+)\)$")),
    "lint-imports": _Tool(
        closing=Regex(r"Contracts: \d+ kept, (?P<failed>\d+) broken\."), report=Regex(r"(?P<rule>\S.*) BROKEN$")
    ),
    "luacheck": _Tool(
        closing=Regex(r"Total: (?P<failed>\d+) warnings? / (?P<errors>\d+) errors? in "),
        report=Regex(rf"\s+{_PLACE}(?:\((?P<rule>[WE]\d+)\) )?.+"),
    ),
    "oxlint": _Tool(
        closing=Regex(r"Found \d+ warnings? and (?P<failed>\d+) errors?\."),
        report=Regex(r"\s+[x×] (?P<rule>[\w/@-]+\([\w/-]+\)): .+"),  # noqa: RUF001  (as printed)
    ),
    "phpcs": _Tool(closing=Regex(r"FOUND (?P<failed>\d+) ERRORS?\b")),
    "psalm": _Tool(
        closing=Regex(r"(?P<failed>\d+) errors? found"),
        report=Regex(r"ERROR: (?P<rule>\w+) - (?P<path>[^\s:]+):\d+"),
        fine=Regex(r"\s*No errors found!"),
    ),
    "shellcheck": _Tool(
        heading=Regex(r"In (?P<path>.+) line \d+:$"),
        report=Regex(r"(?:\s*\^[-^]* |(?P<path>[^\s:]+):\d+:\d+: \w+: .+ \[)(?P<rule>SC\d{4})\b.*"),
    ),
    "sqlfluff lint": _Tool(
        heading=Regex(r"== \[(?P<path>.+)\] FAIL$"), report=Regex(r"L: *\d+ \| P: *\d+ \| +(?P<rule>\w+) \| .+")
    ),
    "stylelint": _Tool(
        closing=Regex(r"(?:[✖×] )?\d+ problems? \((?P<failed>\d+) errors?, "),  # noqa: RUF001  (as printed)
        heading=Regex(r"(?P<path>\S+\.(?:css|scss|sass|less|vue|svelte|html))$"),
        report=Regex(r"\s+\d+:\d+ +[✖×] +.+ {2,}(?P<rule>[\w/@-]+)$"),  # noqa: RUF001  (as printed)
    ),
    "svelte-check": _Tool(closing=Regex(r"svelte-check found (?P<failed>\d+) errors?\b")),
    "taplo check": _TAPLO,
    "taplo lint": _TAPLO,
    "terraform validate": _Tool(
        report=Regex(r"(?:│ )?Error: (?P<rule>.+)"), fine=Regex(r"Success! The configuration is valid")
    ),
    "ty": _Tool(
        closing=Regex(r"Found (?P<failed>\d+) diagnostics?$"),
        report=Regex(r"(?:\S+: )?error\[(?P<rule>[\w-]+)\]:? .+"),
        fine=Regex(r"All checks passed!"),
    ),
    "typos": _Tool(report=Regex(r"error: `(?P<rule>.+)` should be .+")),
    # ``--output line`` prints errors, warnings and suggestions alike, and nothing at the end.
    "vale": _Tool(alert=Regex(r"(?P<path>(?:[A-Za-z]:(?=[\\/]))?[^\s:][^:]*):\d+:\d+:(?P<rule>[\w-]+\.[\w-]+):.+")),
    "vulture": _Tool(report=Regex(r"(?P<path>\S+\.py):\d+: (?P<rule>un\w+ \w+) .+ \(\d+% confidence\)")),
    "zig build": _Tool(
        report=Regex(r"error: '(?P<rule>.+)' failed\b.*"),
        broke=Regex(r"(?:└─ )?Build Summary: \d+/\d+ steps succeeded.*; \d+ failed"),
        fine=Regex(r"Build Summary: (\d+)/\1 steps succeeded(?!.* failed)"),
    ),
    # What only parses.
    "bash -n": _Tool(report=Regex(r"(?P<path>\S+): line \d+: (?P<rule>syntax error|unexpected EOF)\b.*")),
    "perl -c": _Tool(broke=Regex(r".+ had (?:compilation errors|too many errors)\.$"), fine=Regex(r".+ syntax OK$")),
    "php -l": _Tool(
        report=Regex(r"(?:PHP )?(?P<rule>Parse error|Fatal error): .+ in (?P<path>\S+) on line \d+"),
        fine=Regex(r"No syntax errors detected in "),
    ),
    "ruby -c": _Tool(report=Regex(r"(?P<path>\S+\.rb):\d+: .*(?P<rule>syntax error).*"), fine=Regex(r"Syntax OK$")),
    # Formatters that were asked to check.
    "dotnet format": _Tool(report=Regex(r"\s*(?P<path>\S+)\(\d+,\d+\): error (?P<rule>[A-Z]+\d*): .+")),
    "dprint": _Tool(broke=Regex(r"Found \d+ not formatted files?\.")),
    "isort": _Tool(report=Regex(r"ERROR: (?P<path>.+?) Imports are incorrectly sorted")),
    "php-cs-fixer": _Tool(
        closing=Regex(r"Found (?P<failed>\d+) of \d+ files that can be fixed"), report=Regex(r" +\d+\) (?P<path>\S+)")
    ),
    "stylua": _Tool(report=Regex(r"Diff in (?P<path>.+):$")),
    "taplo fmt": _Tool(report=Regex(r"\s*ERROR .*not properly formatted path=\"(?P<path>[^\"]+)\"")),
}


def read_by_name(check: str, kind: CheckKind, output: CommandOutput) -> Verdict | None:
    """How a checker went by its own words; None where it is not in the table, or nothing tells."""
    tool = _TOOLS.get(check)
    if tool is None:
        return None
    ends = output.matches(tool.closing) if tool.closing else []
    reports = list(_reports(tool, output))
    broke = output.matches(tool.broke) if tool.broke else []
    if ends:
        return _closed(check, kind, ends[-1], reports)
    if reports or broke:
        summary = broke[-1].string if broke else ""
        findings = _findings(kind, reports, summary or reports[0][0].string)
        shown = (found.string for found, _ in reports[:2])
        count = len(reports) or None
        return Verdict(
            check=check, kind=kind, passed=False, failed_count=count, findings=findings, quote=quoted(*shown, summary)
        )
    fine = output.matches(tool.fine) if tool.fine else []
    if fine:
        return Verdict(check=check, kind=kind, passed=True, quote=quoted(fine[-1].string))
    alerts = [(found, found["path"]) for found in (output.matches(tool.alert) if tool.alert else ())]
    if not alerts:
        return None
    findings = _findings(kind, alerts, "")
    return Verdict(check=check, kind=kind, passed=None, findings=findings, quote=quoted(alerts[0][0].string))


def _reports(tool: _Tool, output: CommandOutput) -> Iterator[tuple[re.Match[str], str | None]]:
    """Each complaint, with the file that it is about."""
    if tool.report is None:
        return
    path: str | None = None
    for line in output.lines:
        if tool.heading is not None and (above := tool.heading.match(line)):
            path = above["path"]
        elif found := tool.report.match(line):
            yield found, found.groupdict().get("path") or path


def _closed(
    check: str, kind: CheckKind, end: re.Match[str], reports: Sequence[tuple[re.Match[str], str | None]]
) -> Verdict:
    numbers = {name: int(number or 0) for name, number in end.groupdict().items()}
    failed, skipped = numbers.get("failed", 0) + numbers.get("errors", 0), numbers.get("skipped", 0)
    passed = numbers.get("passed") or max(0, numbers.get("total", 0) - failed - skipped)
    return Verdict(
        check=check,
        kind=kind,
        passed=failed == 0,
        passed_count=passed if kind == "test" else None,
        failed_count=failed,
        skipped_count=skipped if "skipped" in numbers else None,
        findings=_findings(kind, reports, end.string, times=failed) if failed else (),
        quote=quoted(*(found.string for found, _ in reports[:2]), end.string),
    )


def _findings(
    kind: CheckKind, reports: Sequence[tuple[re.Match[str], str | None]], summary: str, *, times: int = 1
) -> tuple[CheckFinding, ...]:
    """The complaints by their rule; of tests one finding that names them."""
    tests = tuple(dict.fromkeys(test for found, _ in reports if (test := found.groupdict().get("test"))))
    if kind == "test" or not reports:
        message = reports[0][0].string if reports else summary
        return (unspecified(kind, message)._replace(times=max(times, len(tests)), tests=tests),)
    unnamed = "not formatted" if kind == "format" else f"{kind} failed"
    lines = [
        ReportedLine(family=found.groupdict().get("rule") or unnamed, message=found.string, path=path)
        for found, path in reports
    ]
    return tuple(one._replace(generic=one.family == f"{kind} failed") for one in grouped(lines))
