"""Is a checker understood whose words are too plain to be known in any text, where a pipe hides its exit status?"""

from __future__ import annotations

import pytest

from helix_episodes.extraction.checks import Verdict, read_verdicts
from helix_episodes.extraction.shell.commands import parse_command
from whole_tables import each_row

FAILING = [
    ("shellcheck a.sh | head", "In a.sh line 3:\necho $x\n     ^-- SC2086 (info): Double quote it.\n", "SC2086"),
    ("shellcheck -f gcc a.sh | head", "a.sh:3:6: note: Double quote it. [SC2086]\n", "SC2086"),
    ("actionlint | tail -5", '.github/workflows/ci.yml:9:7: unexpected key "runs" [syntax-check]\n', "syntax-check"),
    ("hadolint Dockerfile | tail -5", "Dockerfile:3 DL3020 error: Use COPY instead of ADD\n", "DL3020"),
    ("npx stylelint 'a.css' | tail", 'a.css\n  3:5  ✖  Unknown "colr"  property-no-unknown\n', "property-no-unknown"),
    (
        "npx commitlint -e | tail",
        "✖   type may not be empty [type-empty]\n\n✖   found 1 problems, 0 warnings\n",
        "type-empty",
    ),
    (
        "npx cspell . | tail",
        "a.md:3:5 - Unknown word (fooz)\nCSpell: Files checked: 3, Issues found: 1 in 1 file.\n",
        "Unknown word",
    ),
    ("deno lint | tail", "error[no-unused-vars]: `x` is never used\n\nFound 1 problem\n", "no-unused-vars"),
    ("deno check a.ts | tail", "TS2322 [ERROR]: Type 'string' is not assignable to type 'number'.\n", "TS2322"),
    (
        "ty check | tail",
        "error[invalid-assignment]: `str` is not assignable\n\nFound 1 diagnostic\n",
        "invalid-assignment",
    ),
    (
        "cargo deny check | tail",
        "error[vulnerability]: xml\nadvisories FAILED, bans ok, licenses ok\n",
        "vulnerability",
    ),
    ("terraform validate | tail", "╷\n│ Error: Unsupported argument\n│\n╵\n", "Unsupported argument"),
    ("ktlint | tail", "src/A.kt:1:1: Unused import (standard:no-unused-imports)\n", "no-unused-imports"),
    ("stylua --check . | tail", "Diff in ./a.lua:\n1        |-local x=1\n", "not formatted"),
    (
        "dotnet format --verify-no-changes | tail",
        "/p/A.cs(1,1): error WHITESPACE: Fix it. [/p/A.csproj]\n",
        "WHITESPACE",
    ),
    ("luacheck . | tail", "Total: 1 warning / 0 errors in 1 file\n", "lint failed"),
    ("npx svelte-check | tail", "svelte-check found 1 error and 0 warnings in 1 file\n", "typecheck failed"),
    ("cargo nextest run | tail", "Summary [   0.01s] 12 tests run: 11 passed, 1 failed, 0 skipped\n", "test failed"),
    ("deno test | tail", "FAILED | 1 passed | 1 failed (10ms)\n\nerror: Test failed\n", "test failed"),
    ("bats test | tail", "ok 1 adds\nnot ok 2 subtracts\n# (in test file test/a.bats, line 5)\n", "test failed"),
    ("mix test | tail", "  1) test adds (MyTest)\n\nFinished in 0.03 seconds\n3 tests, 1 failure\n", "test failed"),
    ("swift test | tail", "\t Executed 3 tests, with 1 failure (0 unexpected) in 0.3 (0.3) seconds\n", "test failed"),
    ("ctest | tail", "50% tests passed, 1 tests failed out of 2\n\n\t  2 - subtracts (Failed)\n", "test failed"),
    ("bazel test //... | tail", "Executed 2 out of 2 tests: 1 test passes and 1 fails locally.\n", "test failed"),
    ("npx ava | tail", "  1 test failed\n\n  adds\n", "test failed"),
]
PASSING = [
    ("cargo nextest run | tail", "Summary [   0.01s] 12 tests run: 12 passed, 0 skipped\n", 12),
    ("deno test | tail", "ok | 2 passed | 0 failed (10ms)\n", 2),
    ("bats test | tail", " ✓ adds\n\n2 tests, 0 failures\n", 2),
    ("mix test | tail", "5 doctests, 3 tests, 0 failures\n", 3),
    ("swift test | tail", "\t Executed 3 tests, with 0 failures (0 unexpected) in 0.3 (0.3) seconds\n", 3),
    ("ctest | tail", "100% tests passed, 0 tests failed out of 2\n", 2),
    ("bazel test //... | tail", "Executed 2 out of 2 tests: 2 tests pass.\n", 2),
    ("terraform validate | tail", "Success! The configuration is valid.\n", None),
    ("cargo deny check | tail", "advisories ok, bans ok, licenses ok, sources ok\n", None),
    ("ty check | tail", "All checks passed!\n", None),
]


@each_row(("command", "output", "family"), FAILING, ids=[one[0] for one in FAILING])
def test_a_failure_behind_a_pipe_is_read(command: str, output: str, family: str) -> None:
    (verdict,) = verdicts(command, output)
    assert verdict.passed is False
    assert verdict.findings[0].family == family
    assert verdict.quote


@each_row(("command", "output", "passed"), PASSING, ids=[one[0] for one in PASSING])
def test_a_pass_behind_a_pipe_is_read(command: str, output: str, passed: int | None) -> None:
    (verdict,) = verdicts(command, output)
    assert verdict.passed is True
    assert verdict.passed_count == passed


def test_the_failing_tests_and_the_file_complained_of_are_named() -> None:
    (ran,) = verdicts("cargo nextest run | tail", "        FAIL [   0.01s] shop cart::adds\nerror: test run failed\n")
    assert ran.findings[0].tests == ("shop cart::adds",)
    (linted,) = verdicts("shellcheck a.sh | head", "In ci/a.sh line 3:\necho $x\n     ^-- SC2086 (info): Quote it.\n")
    assert linted.findings[0].path == "ci/a.sh"


@pytest.mark.parametrize(
    "command",
    ["cat notes.txt | tail", "mypy . | tail", "./deploy.sh | tail", "npm run lint | tail", "go test ./... | tail"],
)
@pytest.mark.parametrize("line", ["3 tests, 1 failure", "a.sh:3:6: note: Double quote it. [SC2086]", "  1 test failed"])
def test_the_same_line_of_another_program_decides_nothing(command: str, line: str) -> None:
    assert not [one for one in verdicts(command, f"{line}\n") if one.passed is not None]


VALE_TABLE = """
 docs/README.md
 1:3   suggestion  'Install' should use sentence case.   Microsoft.Headings
 5:1   warning     Try to avoid first-person plural      Microsoft.We
                   like 'We'.
 5:9   error       Did you really mean 'Ascidoctor'?     Vale.Spelling

 docs/cli/use.md
 9:14  error       Use 'select' instead of               House-style.Terms
                   'click' in README.md

\u2716 2 errors, 1 warning and 1 suggestion in 2 files.
"""


@pytest.mark.parametrize("command", ["vale docs | tail -20", "mise run lint | tail -20"])
def test_of_vales_table_the_errors_alone_are_failures_and_the_file_stands_above_them(command: str) -> None:
    (verdict,) = verdicts(command, VALE_TABLE)
    assert (verdict.check, verdict.passed, verdict.failed_count) == ("vale", False, 2)
    places = [(found.family, found.path) for found in verdict.findings]
    assert places == [("Vale.Spelling", "docs/README.md"), ("House-style.Terms", "docs/cli/use.md")]


def test_warnings_and_suggestions_of_vale_are_no_failure() -> None:
    (verdict,) = verdicts("vale docs | tail -2", "\u2714 0 errors, 3 warnings and 1 suggestion in 1 file.\n")
    assert (verdict.check, verdict.passed) == ("vale", True)


@pytest.mark.parametrize(
    ("command", "exit_code", "passed"),
    [
        ("vale --output=line docs", 1, False),
        ("vale --output=line docs", 0, True),
        ("vale --output=line docs | head", 0, None),
    ],
)
def test_lines_of_vale_say_nothing_of_how_bad_they_are_so_the_exit_status_decides(
    command: str,
    exit_code: int,
    passed: bool | None,  # noqa: FBT001  (a parameter of the table)
) -> None:
    output = "D:\\shop\\my file.md:12:5:Vale.Spelling:Did you really mean 'teh'?\n"
    (verdict,) = verdicts(command, output, exit_code=exit_code)
    assert verdict.passed is passed
    named = [(found.family, found.path) for found in verdict.findings]
    assert named == ([("Vale.Spelling", "D:\\shop\\my file.md")] if exit_code else [])


@pytest.mark.parametrize("command", ["vale sync", "vale --config=.vale.ini ls-config", "vale ls-metrics a.md"])
@pytest.mark.parametrize("exit_code", [0, 2])
def test_vale_that_fetches_its_rules_or_shows_its_settings_checks_nothing(command: str, exit_code: int) -> None:
    assert verdicts(command, "Downloading packages", exit_code=exit_code) == ()


def verdicts(command: str, output: str, *, exit_code: int = 0) -> tuple[Verdict, ...]:
    status = "error" if exit_code else "ok"
    return read_verdicts(parse_command(command), output=output, exit_code=exit_code, status=status)
