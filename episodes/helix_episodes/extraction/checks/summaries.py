r"""Closing lines: how test runners, builds and linters sum up a run.

Most test runners close with one line of numbers, so they are rows of a table: the line, and what in it counts as
passed, failed and skipped (Rust, the JVM, .NET, Ruby, PHP, PowerShell, pre-commit, and any runner whose last words are
"N passed, M failed"). ``| tail -1`` keeps only such a line and cuts the reports off. Builds and linters sum up in a
line of their own shape, at the margin and at the end; it counts only for the tool itself, or for a task or script that
may run it, never for a command that shows a text.

>>> summary_failure(CommandOutput("src/a.java compiled\nBUILD FAILED in 3s"), program="gradle").message
'BUILD FAILED in 3s'
>>> summary_failure(CommandOutput("BUILD FAILED in 3s"), program="eslint")
"""

from __future__ import annotations

from collections import Counter

from helix_episodes.extraction.checks.model import (
    CheckFinding,
    CommandOutput,
    ReportedLine,
    Verdict,
    grouped,
    quoted,
    unspecified,
)
from helix_episodes.extraction.shell.programs import SHELLS
from helix_episodes.light_imports import Regex, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from helix_episodes.extraction.shell.programs import CheckKind


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
        test=Regex(r"rspec (?:\S+ # )?(\S.*)$"),  # the description: lines move
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
    _Closing("phpunit", " assertion", Regex(r"OK \((?P<passed>\d+) tests?, \d+ assertions?\)")),
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
        check="flutter test",
        sign=": All ",
        pattern=Regex(r"\d\d:\d\d \+(?P<passed>\d+)(?: ~(?P<skipped>\d+))?: All (?:other )?tests passed!"),
    ),
    _Closing(
        check="flutter test",
        sign="Some tests failed.",
        pattern=Regex(r"\d\d:\d\d \+(?P<passed>\d+)(?: ~(?P<skipped>\d+))? -(?P<failed>\d+): Some tests failed\."),
        test=Regex(r"\d\d:\d\d \+\d+(?: ~\d+)? -\d+: (.+) \[E\]$"),
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


def read_closings(output: CommandOutput) -> tuple[Verdict, ...]:
    """The verdicts of all runners in the table whose closing line is in the output."""
    readings = (_closed(output, closing) for closing in _CLOSINGS)
    return tuple(reading for reading in readings if reading)


def read_plain(output: CommandOutput) -> Verdict | None:
    """An unknown runner whose last words are "N passed, M failed"."""
    last = next((line for line in reversed(output.lines) if line.strip()), "")
    return _closed(CommandOutput(last), _PLAIN_CLOSING)


def _closed(output: CommandOutput, closing: _Closing) -> Verdict | None:
    if not output.has(closing.sign):
        return None
    # The end of the line, so that the loop stays cheap on long outputs: these signs are rare.
    ends = [found for line in output.lines if closing.sign in line and (found := closing.pattern.search(line))]
    if not ends:
        return None
    numbers: Counter[str] = Counter()
    for found in ends if closing.many else ends[-1:]:
        numbers.update({name: int(number or 0) for name, number in found.groupdict().items()})
    failed, skipped = numbers["failed"] + numbers["errors"], numbers["skipped"]
    return Verdict(
        check=closing.check,
        kind="test",
        passed=failed == 0,
        passed_count=numbers["passed"] or max(0, numbers["total"] - failed - skipped),
        failed_count=failed,
        skipped_count=skipped,
        findings=(_test_failed(output, closing, failed, ends[-1].string),) if failed else (),
        quote=quoted(*(found.string for found in ends[-2:])),
    )


def _test_failed(output: CommandOutput, closing: _Closing, failed: int, summary: str) -> CheckFinding:
    matches = output.matches(closing.test) if closing.test else []
    names = tuple(dict.fromkeys(found[1] for found in matches if found[1]))
    panicked = next((line for line in output.lines if "panicked at" in line), None)
    message = panicked or (matches[0].string if matches else summary)
    return CheckFinding(family="test failed", message=message.strip(), times=failed, tests=names, generic=True)


_HOOK = Regex(r"(.+?)\.{3,}(?:\([^)]*\))?(Passed|Failed|Skipped)$")
_HOOK_ID = Regex(r"- hook id: (\S+)$")


def read_hooks(output: CommandOutput) -> Verdict | None:
    """The verdict of pre-commit, hook by hook."""
    if not output.has("...Passed", "...Failed", ".Passed", ".Failed"):
        return None
    hooks = output.matches(_HOOK)
    failed = [found for found in hooks if found[2] == "Failed"]
    if not hooks:
        return None
    ids = [found[1] for line in output.lines if (found := _HOOK_ID.match(line))]
    names = ids if len(ids) == len(failed) else [found[1].strip() for found in failed]
    reports = [ReportedLine(family=name, message=found.string) for name, found in zip(names, failed, strict=True)]
    return Verdict(
        check="pre-commit",
        kind="lint",
        passed=not failed,
        passed_count=sum(found[2] == "Passed" for found in hooks),
        failed_count=len(failed),
        skipped_count=sum(found[2] == "Skipped" for found in hooks),
        findings=grouped(reports),
        quote=quoted(*(found.string for found in failed[:3] or hooks[-2:])),
    )


#: husky (a hook of git failed), lefthook and lint-staged (each of its tasks, and the end).
_HUSKY = Regex(r"husky - ([\w-]+) (?:script failed|hook exited)(?: with code| \(code) (\d+)")
_LEFTHOOK = Regex(r"(✔️|✓|🥊|✗) {1,2}([\w .:-]+?)(?: \([^)]*\))?$")
_LEFTHOOK_END = Regex(r"\s*summary: \(done in [\d.]+ seconds\)")
_STAGED_FAILED = Regex(r"(?:\[FAILED\] (.+) \[FAILED\]|[✖×] (?!lint-staged)(.+):)$")  # noqa: RUF001  (as printed)
_STAGED_END = Regex(r"(?:\[COMPLETED\]|\s*[✔✓]) Cleaning up temporary files")


def read_git_hooks(output: CommandOutput) -> Verdict | None:
    """The verdict of the hooks of git that husky, lefthook or lint-staged ran, by the names of their tasks."""
    if not output.has("husky - ", "summary: (done in ", "Cleaning up temporary files"):
        return None
    husky, ended = output.matches(_HUSKY), output.matches(_LEFTHOOK_END)
    below = output.lines[output.lines.index(ended[0].string) :] if ended else []
    tasks = [found for line in below if (found := _LEFTHOOK.match(line))]
    failed = {found[2].strip(): found.string for found in tasks if found[1] in "🥊✗"}
    staged = output.matches(_STAGED_END)
    if staged:
        failed = {found[1] or found[2]: found.string for found in output.matches(_STAGED_FAILED)} | failed
    elif not husky and not ended:
        return None
    bad = bool(failed) or any(found[2] != "0" for found in husky)
    summary = (*husky, *ended, *staged)[0].string
    reports = [ReportedLine(family=name, message=line) for name, line in failed.items()]
    return Verdict(
        check=husky[0][1] if husky else "pre-commit",
        kind="lint",
        passed=not bad,
        failed_count=len(failed) or None if bad else 0,
        findings=(grouped(reports) or (CheckFinding(family="hook failed", message=summary.strip(), generic=True),))
        if bad
        else (),
        quote=quoted(*list(failed.values())[:2], summary),
    )


class _LintClosing(Value):
    """A linter that closes with the number of its errors, and how it reports one: its rule, and its file.

    The file may stand on a line of its own above, the ``heading``.
    """

    check: str
    sign: str
    pattern: Regex
    report: Regex
    heading: Regex | None = None


_LINT_CLOSINGS = (
    _LintClosing(
        check="markdownlint-cli2",
        sign="Summary: ",
        pattern=Regex(r"Summary: (\d+) error\(s\)$"),
        report=Regex(r"(?P<path>[^:\s]+):\d+(?::\d+)? (?:error )?(?P<rule>MD\d{3})/\S+ .+"),
    ),
    _LintClosing(
        check="vale",
        sign=" suggestion",
        pattern=Regex(r"\s*[✖✗✔✓] (\d+) errors?, \d+ warnings?(?:,| and) \d+ suggestions? in \d+ files?\.$"),
        # Warnings and suggestions stand in the same table, and are no failure.
        report=Regex(r"\s*\d+:\d+\s+error\s+\S.*\s{2,}(?P<rule>[\w-]+\.[\w-]+)\s*$"),
        heading=Regex(r"\s?(?!\d+:\d+\s)(?P<path>\S.*\.\w{1,8})\s*$"),
    ),
)


def read_lint_closings(output: CommandOutput) -> Verdict | None:
    """The verdict of a linter in the table whose closing line is in the output."""
    for closing in _LINT_CLOSINGS:
        ends = output.matches(closing.pattern) if output.has(closing.sign) else []
        if not ends:
            continue
        reports = list(_lint_reports(closing, output))
        failed = int(ends[-1][1])
        return Verdict(
            check=closing.check,
            kind="lint",
            passed=failed == 0,
            failed_count=failed,
            findings=(grouped(reports) or (unspecified("lint", ends[-1].string),)) if failed else (),
            quote=quoted(ends[-1].string),
        )
    return None


def _lint_reports(closing: _LintClosing, output: CommandOutput) -> Iterator[ReportedLine]:
    """Each complaint, with the file that it is about."""
    path: str | None = None
    for line in output.lines:
        if found := closing.report.match(line):
            yield ReportedLine(family=found["rule"], message=line, path=found.groupdict().get("path") or path)
        elif closing.heading is not None and (above := closing.heading.match(line)):
            path = above["path"]


_BUNDLERS = "vite rollup esbuild next nuxt astro ng parcel tsup rspack webpack"
_MANY = r"[1-9]\d*"
#: Programs, and the lines with which they say that they failed.
_LINES: tuple[tuple[str, str], ...] = (
    ("dotnet msbuild", rf"Build FAILED\.?$|\s*{_MANY} Error\(s\)$|Build failed with {_MANY} error\(s\)"),
    ("gradle", r"BUILD FAILED in \d|FAILURE: Build (?:failed|completed) with "),
    ("gradle ant", r"BUILD FAILED$"),
    ("mvn", r"\[(?:INFO|ERROR)\] BUILD FAILURE$"),
    ("cargo", r"error: (?:could not compile|test failed, to rerun pass|aborting due to) ?.*"),
    ("tsc vue-tsc", rf"Found {_MANY} errors?(?: in .+|\.)$"),
    ("webpack next rspack", rf"webpack \S+ compiled with {_MANY} errors?|> Build failed because of webpack errors$"),
    (f"{_BUNDLERS} react-scripts", r"Failed to compile\.?$"),
    (_BUNDLERS, r"[✖✗✘×] [Bb]uild failed\b"),  # noqa: RUF001  (signs as printed)
    (_BUNDLERS, r"[Bb]uild failed(?: in [\d.]+ ?m?s| with \d+ errors?:?|[.:])?$|error during build:$"),
    ("bazel", r"(?:ERROR|FAILED): Build did NOT complete successfully"),
    ("ninja cmake", r"ninja: build stopped: .+|-- Configuring incomplete, errors occurred!"),
    ("xcodebuild", r"\*\* (?:BUILD|TEST|ARCHIVE) FAILED \*\*"),
    ("make", r"g?make(?:\[\d+\])?: \*\*\* .+(?: Error \d+|  ?Stop\.)$"),
    ("eslint stylelint standard xo", rf"[✖×] {_MANY} problems?(?! \(0 errors)"),  # noqa: RUF001  (eslint's own sign)
    ("markdownlint markdownlint-cli2", r"\S+:\d+(?::\d+)? (?:error )?MD\d{3}/\S+ .+"),
    ("rubocop", rf"\d+ files? inspected, {_MANY} offenses? detected"),
    ("phpstan", rf"\s*\[ERROR\] Found {_MANY} errors?$"),
    ("mypy", rf"Found {_MANY} errors? in {_MANY} files?"),
    ("biome ruff", rf"Found {_MANY} errors?\.$"),
    ("pytest", r"!{3,} (?:Interrupted: |stopping after ).+ !{3,}$"),
    ("phpunit pest", r"(?:FAILURES|ERRORS)!$"),
    ("rspec", r"An error occurred while loading \S"),
    ("docker podman buildah", r"(?:ERROR: )?failed to (?:solve|build): .+|ERROR: failed to (?:solve|build): .+"),
)
_OF_PROGRAM = {
    program: Regex("|".join(pattern for names, pattern in _LINES if program in names.split()))
    for program in sorted({program for names, _ in _LINES for program in names.split()})
}
_OF_ANY = Regex("|".join(pattern for _, pattern in _LINES))
#: Task runners add about ten lines after what the tool said last (npm's own report is the longest).
_END = 15
_SCRIPTS = (".sh", ".bash", ".zsh", ".ps1")


def summary_failure(output: CommandOutput, *, program: str | None) -> CheckFinding | None:
    """The line with which that program says that it failed, as a finding; any program's when it is not known."""
    pattern = _OF_ANY if program is None else _OF_PROGRAM.get(program)
    if pattern is None:
        return None
    last = [line for line in output.lines if line.strip()][-_END:]
    statement = next((line.strip() for line in last if pattern.match(line)), None)
    return CheckFinding(family="build failed", message=statement, generic=True) if statement else None


def read_summary(output: CommandOutput, *, check: str, program: str | None, kind: CheckKind) -> Verdict | None:
    """The verdict of a check of which only the summary is left; see `summary_failure`."""
    found = summary_failure(output, program=program)
    if found is None:
        return None
    finding = unspecified(kind, found.message)
    return Verdict(check=check, kind=kind, passed=False, findings=(finding,), quote=quoted(found.message))


def is_script(program: str, subcommand: str | None) -> bool:
    """Whether a part of a command runs a shell script, which may run anything.

    >>> is_script("bash", "ci.sh"), is_script("deploy.sh", None), is_script("bash", None), is_script("cat", "ci.sh")
    (True, True, False, False)
    """
    return program.endswith(_SCRIPTS) or (program in SHELLS and subcommand is not None)


#: In the order in which they are asked.
READERS = (read_hooks, read_git_hooks, read_lint_closings)
