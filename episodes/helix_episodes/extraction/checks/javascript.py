"""JavaScript's and TypeScript's test runners, linters and compiler."""

from __future__ import annotations

from collections import defaultdict
from itertools import dropwhile, islice

from helix_episodes.extraction.checks.compilers import compile_family
from helix_episodes.extraction.checks.model import (
    CheckFinding,
    CommandOutput,
    ReportedLine,
    Verdict,
    counted,
    failing,
    grouped,
    quoted,
    unspecified,
)
from helix_episodes.light_imports import Regex

TYPE_CHECKING = False


_JEST_END = Regex(r"Tests:\s+((?:\d+ \w+(?:, )?)+)$")
_JEST_SUITES = Regex(r"Test Suites:\s+((?:\d+ \w+(?:, )?)+)$")
_JEST_TEST = Regex(r"\s*● (?!Console$)(.+ › .+|[^›]+)$")  # noqa: RUF001  (jest's own sign)
_JEST_FILE = Regex(r"\s*FAIL\s+(\S+\.[cm]?[jt]sx?)(?: \([\d.]+ m?s\))?$")
_UNLOADED = "Test suite failed to run"
_VITEST_END = Regex(r"\s*Tests\s+((?:\d+ \w+(?: \| )?)+)(?: \(\d+\))?$")
_VITEST_FILES = Regex(r"\s*Test Files\s+((?:\d+ \w+(?: \| )?)+)(?: \(\d+\))?$")
_VITEST_TEST = Regex(r"\s*(?:FAIL|×|❯)\s+(\S+\.[cm]?[jt]sx?)(?: > (.+?))?(?: \d+ms)?$")  # noqa: RUF001  (vitest)
_COUNT = Regex(r"(\d+) (\w+)")
_MOCHA = Regex(r"\s*(\d+) (passing|failing|pending)(?: \(\d+\w+\))?$")
_TAP = Regex(r"(?:#|ℹ) (tests|pass|fail|skipped) (\d+)$")  # noqa: RUF001  (that is the sign node prints)
_BUN_END = Regex(r"Ran \d+ tests? across \d+ files?\.")
_BUN_COUNT = Regex(r" *(\d+) (pass|fail|skip|todo|error)s?$")
_BUN_TEST = Regex(r"(?:\(fail\)|✗) (.+?)(?: \[[\d.]+m?s\])?$")
_BUN_ERROR = Regex(r"(error|(?:[A-Z]\w*)?(?:Error|Exception)): (.+)$")
_PLAYWRIGHT_END = Regex(r"  (\d+) (passed|failed|flaky|skipped|did not run|interrupted)(?: \([\d.]+(?:ms|s|m|h)\))?$")
_PLAYWRIGHT_TEST = Regex(r"\s+\d+\) (?:\[[^\]]+\] › )?(\S+?):\d+:\d+ › (.+?)(?: ─+)?$")  # noqa: RUF001  (playwright's)
_THROWN = Regex(r"\s*((?:[A-Z]\w*)?(?:Error|Exception))(?: \[\w+\])?:(?: |$)")

_TSC = Regex(r"([^\s(:]+)(?:\(\d+,\d+\):|:\d+:\d+ -) error (TS\d+): (.*)$")
_TSC_BARE = Regex(r"error (TS\d+): (.*)$")
_TSC_END = Regex(r"Found (\d+) errors?")
_ESLINT = Regex(r"\s+\d+:\d+\s+error\s+(.+?)(?:\s{2,}(\S+))?$")
_ESLINT_END = Regex(r"[✖×] \d+ problems? \((\d+) errors?, \d+ warnings?\)")  # noqa: RUF001  (eslint's own sign)
_ESLINT_FILE = Regex(r"(?:/|[A-Za-z]:\\|\.{0,2}/?[\w@.-]+/).*\.\w+$")
_BIOME = Regex(
    r"(?: at )?(\S+?)(?::\d+:\d+)? ((?:lint|assist|suppressions|parse|syntax|format|organizeImports)\S*) .*━{5,}$"
)
_BIOME_FAMILIES = {"format": "not formatted", "parse": "syntax error", "syntax": "syntax error"}
_BIOME_SAID = Regex(r"\s+([×✖!i]) (.+)$")  # noqa: RUF001  (as printed)
_BIOME_FORMATS = "Formatter would have printed the following content:"
_BIOME_END = Regex(r"Found (\d+) errors?\.$")
_BIOME_CHECKED = Regex(r"Checked \d+ files? in [\d.]+\s?[mµn]?s\. (?:No fixes applied|Fixed \d+ files?)\.")
_BIOME_GAVE_UP = Regex(r"\s+[×✖] Some (errors|warnings) were emitted while ")  # noqa: RUF001  (as printed)
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
        findings=_thrown_findings(output, test, summary=(ends or groups)[-1].string) if failed or failed_files else (),
        quote=quoted(*(found.string for found in (*groups[-1:], *ends[-1:]))),
    )


def _numbers(words: str) -> dict[str, int]:
    return {word: int(number) for number, word in _COUNT.findall(words)}


def _thrown_findings(output: CommandOutput, test: Regex, *, summary: str) -> tuple[CheckFinding, ...]:
    """By type of error where one is named; tests are listed with the first."""
    named = (found.groups() for line in output.lines if (found := test.match(line)) and _UNLOADED not in line)
    names = tuple(dict.fromkeys(" > ".join(part.strip() for part in parts if part) for parts in named))
    files = {found[1] for found in output.matches(_JEST_FILE)}
    path = files.pop() if len(files) == 1 else None
    # What jest says of a file of tests that it could not load: the first line below the heading.
    below = dropwhile(lambda line: _UNLOADED not in line, output.lines)
    unloaded = next((line.strip() for line in islice(below, 1, 4) if line.strip()), None)
    if unloaded and not names:
        family = compile_family(unloaded[:1].lower() + unloaded[1:])
        return (CheckFinding(family=family, message=unloaded, path=path),)
    thrown = output.matches(_THROWN)
    findings = grouped(ReportedLine(family=found[1], message=found.string) for found in thrown)
    specific = tuple(found for found in findings if found.family not in {"Error", "AssertionError"})
    if specific:
        first, *others = specific
        return (CheckFinding(family=first.family, message=first.message, times=first.times, tests=names), *others)
    expectation = Regex(r"\s*(?:expect\(|Expected|AssertionError|Error:)")
    message = next((line for line in output.lines if expectation.match(line)), names[0] if names else summary)
    return (
        CheckFinding(
            family="test failed",
            message=message.strip(),
            path=path,
            times=max(1, len(names)),
            tests=names,
            generic=True,
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


_LISTED = Regex(r"\s*(?:\d+\)|not ok \d+ -|✖) (.+)$")


def _tested(output: CommandOutput, check: str, *, passed: int | None, failed: int) -> Verdict:
    closing = [line for line in output.lines if _MOCHA.match(line) or _TAP.match(line)]
    return Verdict(
        check=check,
        kind="test",
        passed=not failed,
        passed_count=passed,
        failed_count=failed,
        findings=_thrown_findings(output, _LISTED, summary=closing[-1]) if failed else (),
        quote=quoted(*closing),
    )


def read_bun(output: CommandOutput) -> Verdict | None:
    """The verdict of ``bun test``; each error stands above the test that it failed."""
    if not output.has("Ran ", "(fail) ", "✗ "):
        return None
    ends = output.matches(_BUN_END)
    failed_tests = output.matches(_BUN_TEST)
    counts = {found[2]: int(found[1]) for found in output.matches(_BUN_COUNT)} if ends else {}
    if not (ends and counts) and not any(line.startswith("(fail) ") for line in output.lines):
        return None
    failed = max(counts.get("fail", 0), counts.get("error", 0)) if ends else len(failed_tests)
    summary = [found.string for found in output.matches(_BUN_COUNT) if found[2] in {"pass", "fail"}][-2:]
    return Verdict(
        check="bun test",
        kind="test",
        passed=not failed,
        passed_count=counts.get("pass"),
        failed_count=failed,
        skipped_count=counts.get("skip"),
        findings=_bun_findings(output, summary) if failed else (),
        quote=quoted(*(found.string for found in failed_tests[:2]), *summary),
        summed=bool(ends),
    )


def _bun_findings(output: CommandOutput, summary: list[str]) -> tuple[CheckFinding, ...]:
    tests: defaultdict[str, list[str]] = defaultdict(list)
    messages: dict[str, str] = {}
    open_error: tuple[str, str] | None = None
    for line in output.lines:
        if found := _BUN_ERROR.match(line):
            family = _bun_family(found[1], found[2])
            messages.setdefault(family, line.strip())
            open_error = (family, line)
        elif found := _BUN_TEST.match(line):
            family = open_error[0] if open_error else "test failed"
            messages.setdefault(family, line.strip())
            tests[family].append(found[1])
            open_error = None
    return tuple(
        CheckFinding(
            family=family,
            message=message,
            times=max(1, len(tests[family])),
            tests=tuple(tests[family]),
            generic=family == "test failed",
        )
        for family, message in messages.items()
    ) or (unspecified("test", summary[-1] if summary else "bun test failed"),)


def _bun_family(kind: str, message: str) -> str:
    """The type of the error; bun calls what was thrown as a plain ``Error``, and its own complaints, ``error``."""
    if kind not in {"error", "Error", "AssertionError"}:
        return kind
    family = compile_family(message[:1].lower() + message[1:])
    return "test failed" if message.startswith("expect(") or family == "does not compile" else family


def read_playwright(output: CommandOutput) -> Verdict | None:
    """The verdict of playwright; what failed once and passed when tried again did not fail."""
    if not output.has(" passed (", " failed\n", " › "):  # noqa: RUF001  (playwright's own sign)
        return None
    ends = output.matches(_PLAYWRIGHT_END)
    named = output.has(" › ", "Running ")  # noqa: RUF001  (as above)
    if not any(found[0].endswith(")") for found in ends) and not (
        named and any(found[2] == "failed" for found in ends)
    ):
        return None
    counts = {found[2]: int(found[1]) for found in ends}
    failed = counts.get("failed", 0) + counts.get("interrupted", 0)
    closing = [found.string for found in ends]
    return Verdict(
        check="playwright test",
        kind="test",
        passed=not failed,
        passed_count=counts.get("passed", 0) + counts.get("flaky", 0),
        failed_count=failed,
        skipped_count=counts.get("skipped"),
        findings=_thrown_findings(output, _PLAYWRIGHT_TEST, summary=closing[0]) if failed else (),
        quote=quoted(*closing),
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


def read_biome(output: CommandOutput) -> Verdict | None:
    """The verdict of biome, whichever of its checks were asked for; warnings fail it only where it says so."""
    if not output.has("━━━━━", "fixes applied.", "Fixed "):
        return None
    heads = [(at, found) for at, line in enumerate(output.lines) if "━" in line and (found := _BIOME.match(line))]
    checked, ends = output.matches(_BIOME_CHECKED), output.matches(_BIOME_END)
    gave_up = output.matches(_BIOME_GAVE_UP)
    if not heads and not checked and not gave_up:
        return None
    # A wrapper may print all of it twice.
    once = {found.string.strip(): (at, found) for at, found in heads}
    # What it says below a heading, and how serious it is: the first line that is not blank.
    below = ((found, [line for line in output.lines[at + 1 : at + 4] if line.strip()]) for at, found in once.values())
    said = ((found, _BIOME_SAID.match(lines[0]) if lines else None) for found, lines in below)
    serious = "×✖!" if any(found[1] == "warnings" for found in gave_up) else "×✖"  # noqa: RUF001  (as printed)
    # Of a heading that a filter let through alone only one kind is known to be serious.
    named = [
        (found, words[2] if words else "")
        for found, words in said
        if (words[1] in serious if words else found[2] == "format")
    ]
    reports = [
        ReportedLine(
            # The rule's own name: with its group before it, it would be taken for a path.
            family=_BIOME_FAMILIES.get(found[2].partition("/")[0]) or found[2].rpartition("/")[2],
            message=message or _BIOME_FORMATS,
            path=found[1],
        )
        for found, message in named
    ]
    failed = int(ends[-1][1]) if ends else len(reports) or None
    bad = bool(failed or gave_up)
    deciding = [*ends, *gave_up] if bad else checked
    unnamed = bad and not reports
    return Verdict(
        check="biome",
        kind="lint",
        passed=not bad if bad or checked else None,
        failed_count=failed if bad else 0,
        findings=(unspecified("lint", deciding[0].string),) if unnamed else grouped(reports) if bad else (),
        quote=quoted(*(message or found.string for found, message in named[:2]), *(one.string for one in deciding[:1])),
        summed=bool(checked or gave_up),
    )


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
READERS = (
    read_jest,
    read_vitest,
    read_mocha,
    read_bun,
    read_playwright,
    read_tap,
    read_tsc,
    read_eslint,
    read_biome,
    read_prettier,
)
