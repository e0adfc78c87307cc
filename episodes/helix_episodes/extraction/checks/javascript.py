"""JavaScript's and TypeScript's runners, linters and compiler."""

from __future__ import annotations

from helix_episodes.extraction.checks.model import (
    CheckFinding,
    CommandOutput,
    ReportedLine,
    Verdict,
    counted,
    failing,
    grouped,
    quoted,
)
from helix_episodes.light_imports import Regex

TYPE_CHECKING = False

_JEST_END = Regex(r"Tests:\s+((?:\d+ \w+(?:, )?)+)$")
_JEST_SUITES = Regex(r"Test Suites:\s+((?:\d+ \w+(?:, )?)+)$")
_JEST_TEST = Regex(r"\s*● (?!Console$)(.+ › .+|[^›]+)$")  # noqa: RUF001  (jest's own sign)
_VITEST_END = Regex(r"\s*Tests\s+((?:\d+ \w+(?: \| )?)+)(?: \(\d+\))?$")
_VITEST_FILES = Regex(r"\s*Test Files\s+((?:\d+ \w+(?: \| )?)+)(?: \(\d+\))?$")
_VITEST_TEST = Regex(r"\s*(?:FAIL|×|❯)\s+(\S+\.[cm]?[jt]sx?)(?: > (.+?))?(?: \d+ms)?$")  # noqa: RUF001  (vitest)
_COUNT = Regex(r"(\d+) (\w+)")
_MOCHA = Regex(r"\s*(\d+) (passing|failing|pending)(?: \(\d+\w+\))?$")
_TAP = Regex(r"(?:#|ℹ) (tests|pass|fail|skipped) (\d+)$")  # noqa: RUF001  (that is the sign node prints)
_THROWN = Regex(r"\s*((?:[A-Z]\w*)?(?:Error|Exception))(?: \[\w+\])?:(?: |$)")

_TSC = Regex(r"([^\s(:]+)(?:\(\d+,\d+\):|:\d+:\d+ -) error (TS\d+): (.*)$")
_TSC_BARE = Regex(r"error (TS\d+): (.*)$")
_TSC_END = Regex(r"Found (\d+) errors?")
_ESLINT = Regex(r"\s+\d+:\d+\s+error\s+(.+?)(?:\s{2,}(\S+))?$")
_ESLINT_END = Regex(r"[✖×] \d+ problems? \((\d+) errors?, \d+ warnings?\)")  # noqa: RUF001  (eslint's own sign)
_ESLINT_FILE = Regex(r"(?:/|[A-Za-z]:\\|\.{0,2}/?[\w@.-]+/).*\.\w+$")
_PRETTIER = Regex(r"\[warn\] (\S+\.\w+)$")


def read_jest(output: CommandOutput) -> Verdict | None:
    """The verdict of jest."""
    return _suites(output, check="jest", end=_JEST_END, files=_JEST_SUITES, test=_JEST_TEST, sign="Tests:")


def read_vitest(output: CommandOutput) -> Verdict | None:
    """The verdict of vitest."""
    return _suites(output, check="vitest", end=_VITEST_END, files=_VITEST_FILES, test=_VITEST_TEST, sign="Test Files")


def _suites(output: CommandOutput, *, check: str, end: Regex, files: Regex, test: Regex, sign: str) -> Verdict | None:
    if not output.has(sign, "Test Suites:"):
        return None
    ends = output.matches(end)
    groups = output.matches(files)
    if not ends and not groups:
        return None
    tests = _numbers(ends[-1][1]) if ends else {}
    failed_files = _numbers(groups[-1][1]).get("failed", 0) if groups else 0
    failed = tests.get("failed", 0)
    return Verdict(
        check=check,
        kind="test",
        passed=not failed and not failed_files,
        passed_count=tests.get("passed", 0) if ends else None,
        failed_count=failed if ends else None,
        skipped_count=tests.get("skipped", tests.get("todo")),
        findings=_thrown_findings(output, test) if failed or failed_files else (),
        quote=quoted(*(found.string for found in (*groups[-1:], *ends[-1:]))),
    )


def _numbers(words: str) -> dict[str, int]:
    return {word: int(number) for number, word in _COUNT.findall(words)}


def _thrown_findings(output: CommandOutput, test: Regex) -> tuple[CheckFinding, ...]:
    """By type of error where one is named; tests are listed with the first."""
    named = (found.groups() for line in output.lines if (found := test.match(line)))
    names = tuple(dict.fromkeys(" > ".join(part.strip() for part in parts if part) for parts in named))
    thrown = output.matches(_THROWN)
    findings = grouped(ReportedLine(family=found[1], message=found.string) for found in thrown)
    specific = tuple(found for found in findings if found.family not in {"Error", "AssertionError"})
    if specific:
        first, *others = specific
        return (CheckFinding(family=first.family, message=first.message, times=first.times, tests=names), *others)
    expectation = Regex(r"\s*(?:expect\(|Expected|AssertionError|Error:)")
    message = next((line for line in output.lines if expectation.match(line)), names[0] if names else "")
    return (
        CheckFinding(
            family="test failed", message=message.strip(), times=max(1, len(names)), tests=names, generic=True
        ),
    )


def read_mocha(output: CommandOutput) -> Verdict | None:
    """The verdict of mocha and what prints like it (cypress)."""
    if not output.has(" passing", " failing"):
        return None
    counts = {found[2]: int(found[1]) for line in output.lines if (found := _MOCHA.match(line))}
    if "passing" not in counts and "failing" not in counts:
        return None
    return _tested(output, "mocha", passed=counts.get("passing"), failed=counts.get("failing", 0))


def read_tap(output: CommandOutput) -> Verdict | None:
    """The verdict of ``node --test`` and other printers of TAP's closing lines."""
    if not output.has("# pass ", "# fail ", "ℹ pass ", "ℹ fail "):  # noqa: RUF001  (as above)
        return None
    counts = {found[1]: int(found[2]) for line in output.lines if (found := _TAP.match(line))}
    if "pass" not in counts or "fail" not in counts:
        return None
    return _tested(output, "node --test", passed=counts["pass"], failed=counts["fail"])


def _tested(output: CommandOutput, check: str, *, passed: int | None, failed: int) -> Verdict:
    return Verdict(
        check=check,
        kind="test",
        passed=not failed,
        passed_count=passed,
        failed_count=failed,
        findings=_thrown_findings(output, Regex(r"\s*(?:\d+\)|not ok \d+ -|✖) (.+)$")) if failed else (),
        quote=quoted(*(line for line in output.lines if _MOCHA.match(line) or _TAP.match(line))),
    )


def read_tsc(output: CommandOutput) -> Verdict | None:
    """The verdict of the TypeScript compiler."""
    if not output.has("error TS"):
        return None
    reports: list[ReportedLine] = []
    for line in output.lines:
        if found := _TSC.match(line):
            reports.append(ReportedLine(family=found[2], message=line, path=found[1]))
        elif found := _TSC_BARE.match(line):
            reports.append(ReportedLine(family=found[1], message=line))
    if not reports:
        return None
    stated = next((int(found[1]) for line in output.lines if (found := _TSC_END.match(line))), len(reports))
    return failing("tsc", "typecheck", reports, count=max(stated, len(reports)))


def read_eslint(output: CommandOutput) -> Verdict | None:
    """The verdict of eslint; warnings alone don't fail it."""
    if not output.has(" problem", "  error  "):
        return None
    reports: list[ReportedLine] = []
    path: str | None = None
    for line in output.lines:
        if _ESLINT_FILE.fullmatch(line):
            path = line
        elif path and (found := _ESLINT.match(line)):
            reports.append(ReportedLine(family=found[2] or "syntax error", message=line, path=path))
    verdict = counted("eslint", "lint", reports, output, _ESLINT_END)
    return verdict._replace(summed=True) if verdict else None


def read_prettier(output: CommandOutput) -> Verdict | None:
    """The verdict of ``prettier --check``."""
    if not output.has("Code style issues", "use Prettier code style"):
        return None
    matches = output.matches(_PRETTIER)
    failed = output.has("Code style issues")
    message = next((line for line in output.lines if "ode style" in line), "")
    reports = [ReportedLine(family="not formatted", message=found.string, path=found[1]) for found in matches]
    return Verdict(
        check="prettier",
        kind="format",
        passed=not failed,
        failed_count=len(matches) if failed else 0,
        findings=(grouped(reports) or (CheckFinding(family="not formatted", message=message),)) if failed else (),
        quote=quoted(message),
    )


#: In the order in which they are asked.
READERS = (read_jest, read_vitest, read_mocha, read_tap, read_tsc, read_eslint, read_prettier)
