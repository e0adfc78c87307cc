"""Is a check known by one name, and a failure by the line that names it?"""

from __future__ import annotations

import pytest

from helix_episodes.extraction.checks import Verdict, command_finding, read_verdicts, tool_finding
from helix_episodes.extraction.shell.commands import parse_command
from whole_tables import each_row

BIOME_FAILS = "check ━━━━━━━━━━━━━━━━━━━━\n\n  × Some errors were emitted while running checks.\n"  # noqa: RUF001  (biome's)
BIOME_PASSES = "Checked 12 files in 85ms. No fixes applied.\n"


@each_row(
    ("failing", "passing", "check"),
    [
        # The script's checker is known by the body that the script prints, or by what is left of its report.
        (
            ("bun run lint", f"$ biome check\n{BIOME_FAILS}"),
            ("bun run lint", f"$ biome check\n{BIOME_PASSES}"),
            "biome",
        ),
        (
            ("npx tsc --noEmit", "src/a.ts(3,5): error TS2322: Type 'string' is not assignable to type 'number'.\n"),
            ("bun run typecheck", "$ tsc --noEmit\n"),
            "tsc",
        ),
        (("bun run lint | tail -3", BIOME_FAILS), ("bun run lint | tail -1", BIOME_PASSES), "biome"),
        (("npm run lint", BIOME_FAILS), ("bunx biome ci", BIOME_PASSES), "biome"),
        (("biome lint src", BIOME_FAILS), ("npm run lint", BIOME_PASSES), "biome"),
        (("npm run build", "✗ Build failed in 3s\n"), ("npm run build", "✓ built in 3s\n"), "vite build"),
        (
            ("npm run e2e", "Running 2 tests\n  1 failed\n  1 passed (2s)\n"),
            ("npx playwright test", "  2 passed (2s)\n"),
            "playwright test",
        ),
        (
            ("npm test", " 1 pass\n 2 fail\nRan 3 tests across 1 file.\n"),
            ("bun test", " 3 pass\n 0 fail\nRan 3 tests across 1 file.\n"),
            "bun test",
        ),
        (("ruff check .", "Found 3 errors.\n"), ("ruff check .", "All checks passed!\n"), "ruff"),
    ],
)
def test_fail_and_pass_have_one_name(failing: tuple[str, str], passing: tuple[str, str], check: str) -> None:
    (failed,) = verdicts(*failing, exit_code=0 if "|" in failing[0] else 1)
    (passed,) = verdicts(*passing, exit_code=0)
    assert (failed.check, failed.passed) == (check, False)
    assert (passed.check, passed.passed) == (check, True)


def test_neither_biome_nor_svelte_is_taken_for_a_checker_of_python() -> None:
    printed = "src/a.ts format ━━━━━━━━━━━━\n\n  × Formatter would have printed:\n\nFound 1 error.\n"  # noqa: RUF001  (biome's)
    (verdict,) = verdicts("./ci.sh | tail -9", printed, exit_code=0)
    assert [found.family for found in verdict.findings] == ["not formatted"]
    assert all(one.check != "pyright" for one in verdicts("npm run check", "3 errors, 0 warnings\n", exit_code=1))


def test_warnings_that_fail_biome_are_named_by_their_rule() -> None:
    printed = (
        "$ biome check --error-on-warnings\n"
        "src/a.tsx:4:2 lint/correctness/useExhaustiveDependencies  FIXABLE  ━━━━━━━━━\n\n"
        "  ! This hook does not specify its dependency on items.\n\n"
        "  × Some warnings were emitted while running checks.\n"  # noqa: RUF001  (biome's)
    )
    (verdict,) = verdicts("bun run lint", printed, exit_code=1)
    assert [(one.family, one.message) for one in verdict.findings] == [
        ("useExhaustiveDependencies", "This hook does not specify its dependency on items.")
    ]


HOOKED = """[STARTED] Running tasks for staged files...
[FAILED] biome check --write [FAILED]
[COMPLETED] Cleaning up temporary files...

✖ biome check --write:
husky - pre-commit script failed (code 1)
"""


@each_row(
    ("command", "output", "exit_code", "expected"),
    [
        ("git commit -m x", HOOKED, 1, ("pre-commit", False)),
        ("git commit -m x", "[COMPLETED] Cleaning up temporary files...\n[main 1a2b3c4] x\n", 0, ("pre-commit", True)),
        ("git commit -m x", "summary: (done in 0.53 seconds)\n🥊  lint (0.4 seconds)\n", 1, ("pre-commit", False)),
        ("git commit -m x", "summary: (done in 0.53 seconds)\n✔️  lint (0.4 seconds)\n", 0, ("pre-commit", True)),
        (
            "git push",
            " 1240 pass\n 0 fail\nRan 1240 tests across 9 files.\nTo github.com:a/shop\n",
            0,
            ("bun test", True),
        ),
        (
            "git push",
            "=== 1 failed, 2 passed in 0.1s ===\nhusky - pre-push script failed (code 1)\n",
            1,
            ("pytest", False),
        ),
        ("gofmt -w . && git commit -m x", "ruff....Failed\n- hook id: ruff\n", 1, ("pre-commit", False)),
        ("bun test && git push", "ok  \tshop/cart\t0.2s\nRan 1 test across 1 file.\n", 0, ("go test", True)),
    ],
)
def test_hooks_of_git_are_check_runs(command: str, output: str, exit_code: int, expected: tuple[str, bool]) -> None:
    assert expected in [(one.check, one.passed) for one in verdicts(command, output, exit_code=exit_code)]


def test_a_hook_that_failed_is_not_called_after_a_check_that_passed() -> None:
    output = "$ biome check\nChecked 9 files in 3ms. No fixes applied.\nhusky - pre-commit script failed (code 1)\n"
    (hook,) = (one for one in verdicts("git commit -m x", output, exit_code=1) if one.check == "pre-commit")
    assert [one.family for one in hook.findings] == ["hook failed"]


@pytest.mark.parametrize(
    ("command", "output", "family"),
    [
        (
            "wsl ./run",
            "Ubuntu 24.04.1 LTS\nLast login: today\nrun: cannot open display :0\n",
            "run: cannot open display :<n>",
        ),
        ("wsl ./run", "Ubuntu 24.04.1 LTS\nLast login: today\n3 packages\n", "exit code 1"),
        (
            "git commit -m x",
            "[STARTED] Backing up original state...\n[COMPLETED] Done\nerror: no staged files\n",
            "error: no staged files",
        ),
        ("deploy x", '{\n  "message": "Bad gateway: the upstream failed",\n  "code": 7\n}\n', "<text>: <text>,"),
    ],
)
def test_a_family_is_named_by_the_line_that_names_the_error(command: str, output: str, family: str) -> None:
    assert command_finding(parse_command(command), output=output, exit_code=1).family == family


def test_a_tools_heading_is_no_family() -> None:
    found = tool_finding("browser_click", "### Error\nError: page.click: element is covered\n### Page\n- url: x")
    assert found.family == "Error: page.click: element is covered"


@pytest.mark.parametrize(
    ("output", "message"),
    [
        (
            "E   TypeError: unsupported operands\nFAILED a_test.py::test_a - TypeError: unsup...\n1 failed in 1s",
            "TypeError: unsupported operands",
        ),
        # Each failure has its own line.
        (
            "E   KeyError: 'vat'\nE   KeyError: 'tax'\nFAILED a_test.py::test_a - KeyError: 'tax'\n1 failed in 1s",
            "KeyError: 'tax'",
        ),
        # The report was cut off: what is left of the line.
        (
            "FAILED tests/test_cart.py::test_discount - TypeError: unsupported operand typ...\n1 failed in 0.1s\n",
            "FAILED tests/test_cart.py::test_discount - TypeError: unsupported operand typ...",
        ),
    ],
)
def test_pytests_message_is_the_whole_line(output: str, message: str) -> None:
    (verdict,) = verdicts("pytest -q", output, exit_code=1)
    assert [found.message for found in verdict.findings] == [message]


def verdicts(command: str, output: str, *, exit_code: int) -> tuple[Verdict, ...]:
    status = "error" if exit_code else "ok"
    return read_verdicts(parse_command(command), output=output, exit_code=exit_code, status=status)


def test_what_one_linter_prints_is_no_word_of_the_linter_before_it() -> None:
    command = "vale docs/a.md | head -15; npx markdownlint-cli2 'docs/*.md' 2>&1 | tail -4"
    read = read_verdicts(
        parse_command(command),
        output="docs/a.md:1:2:House.Words:Use another word.\nSummary: 0 error(s)\n",
        exit_code=0,
        status="ok",
    )
    assert [(one.check, one.passed) for one in read] == [("vale", None), ("markdownlint-cli2", True)]
