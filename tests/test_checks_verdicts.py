"""Which check of a command passed, which failed, which never ran, and which cannot be told?"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from growing import LINEAR, growth
from helix_episodes.extraction.checks import (
    CheckFinding,
    Verdict,
    check_name_from_output,
    command_finding,
    covers,
    read_verdicts,
    silent_failure,
    tool_finding,
)
from helix_episodes.extraction.shell.commands import parse_command
from thoroughness import few
from whole_tables import each_row

LINT_FAILS = """[lint] $ golangci-lint run ./...
a.go:1:2: not checked (errcheck)
1 issues:
* errcheck: 1
[lint] ERROR task failed
"""
GO_PASSES = "[test] $ go test ./...\nok  \tshop\t0.1s\n"
GO_FAILS = """[test] $ go test ./...
--- FAIL: TestPut (0.00s)
    put_test.go:3: got 1
FAIL
FAIL\tshop\t0.1s
[test] ERROR task failed
"""
JEST_PASSES = "Test Suites: 1 passed, 1 total\nTests:       3 passed, 3 total"
BIOME_FAILS = "Checked 3 files in 5ms. No fixes applied.\nFound 2 errors."
FORMAT_FAILS = "[fmt] $ gofmt -w .\na.go:3:1: expected declaration, found x\n[fmt] ERROR task failed\n"


def judged(command: str, output: str, exit_code: int | None, status: str = "unknown") -> list[tuple[str, bool | None]]:
    return [(verdict.check, verdict.passed) for verdict in verdicts(command, output, exit_code, status)]


def verdicts(command: str, output: str, exit_code: int | None, status: str = "unknown") -> tuple[Verdict, ...]:
    return read_verdicts(parse_command(command), output=output, exit_code=exit_code, status=status)


@each_row(
    ("command", "output", "exit_code", "expected"),
    [
        # Everything visible passed.
        ("mise run fmt && mise run lint && mise run test", "", 0, [("mise lint", True), ("mise test", True)]),
        # The first whose own words say so failed; those before it passed, those behind && never ran.
        ("mise run test && mise run lint", GO_PASSES + LINT_FAILS, 1, [("go test", True), ("golangci-lint", False)]),
        ("mise run lint && mise run test", LINT_FAILS, 1, [("golangci-lint", False)]),
        ("mise run fmt && mise run lint", "[fmt] $ gofmt -w .\n" + LINT_FAILS, 1, [("golangci-lint", False)]),
        # A script that names itself as failed leaves the others alone, and the words of the tests are theirs.
        (
            "bun run lint 2>&1 | tail -9; bun run test 2>&1 | tail -9",
            f'{BIOME_FAILS}\nerror: script "lint" exited with code 1\n 12 pass\n 0 fail\nRan 12 tests across 3 files.',
            0,
            [("biome", False), ("bun test", True)],
        ),
        # A formatter speaks only when it fails.
        (
            "mise run fmt && mise run lint",
            FORMAT_FAILS,
            2,
            [("gofmt", False)],
        ),
        # What would have said so did not fail as long as something else can have.
        ("go build -o x . && ./x help", "Error: unknown command", 1, [("go build", True)]),
        ("./setup.sh && go test ./...", "setup: cannot reach the database", 1, []),
        ("cd nowhere && go test ./...", "(eval):cd:1: no such file or directory: nowhere", 1, []),
        # Nothing else can have failed.
        ("go build ./...", "something odd", 1, [("go build", False)]),
        ("make lint", "Bad style.\nmake: *** [Makefile:3: lint] Error 1\n", 2, [("make lint", False)]),
        # Hidden exit status: the text alone.
        (
            "mise run lint 2>&1 | tail -3",
            "1 issues:\n* errcheck: 1\n[lint] ERROR task failed",
            0,
            [("golangci-lint", False)],
        ),
        ("mise run test || true", GO_FAILS, 0, [("go test", False)]),
        ("go test ./a; go test ./b", "FAIL\ta\t0.1s\n", 0, [("go test", False), ("go test", True)]),
        # Behind || it ran only if something before failed; nothing shows that.
        ("cat VERSION || make test", "1.2\n", 0, []),
        # The shell refused the text: nothing ran.
        ("go test ./... && time (x", "(eval):1: parse error near `('", 1, []),
        # No task of that name: nothing was checked, and that is the failure.
        (
            "cd x && mise run test | tail",
            "mise ERROR no tasks defined in ~/x. Are you there?\n",
            0,
            [("mise test", False)],
        ),
        # The output shows what a script ran; a printed log shows nothing.
        ("./run-all.sh", "== 2 failed, 3 passed in 0.12s ==\n", 1, [("pytest", False)]),
        ("cat old.log", "== 2 failed, 3 passed in 0.12s ==\n", 0, []),
        ("./start.sh; cat old.log", "== 2 failed, 3 passed in 0.12s ==\n", 0, []),
        ("git commit -m x", "ruff.........Failed\n- hook id: ruff\n", 1, [("pre-commit", False)]),
        # Neither status nor text.
        ("make test", "", None, [("make test", None)]),
        ("pytest | head -2", "collected 3 items\n", 0, [("pytest", None)]),
    ],
)
def test_each_check_of_a_command(
    command: str, output: str, exit_code: int | None, expected: list[tuple[str, bool | None]]
) -> None:
    assert judged(command, output, exit_code) == expected


@pytest.mark.parametrize("status", ["denied", "rejected", "interrupted", "cancelled"])
def test_a_call_that_never_ran_has_no_verdict(status: str) -> None:
    assert judged("go test ./...", GO_FAILS, None, status) == []


def test_the_exit_status_stands_in_the_text_or_the_flag() -> None:
    assert judged("make lint", "Exit code 2\nbad", None) == [("make lint", False)]
    assert judged("make lint", "bad", None, "error") == [("make lint", False)]
    assert judged("make lint", "", None, "ok") == [("make lint", True)]


def test_a_failing_verdict_carries_what_it_rests_on() -> None:
    (verdict,) = verdicts("mise run test -- -run TestPut", GO_FAILS, 1)
    assert verdict.scope == ("-run TestPut",)
    assert (verdict.segment, verdict.task, verdict.echoed) == (0, "mise test", ())
    assert verdict.quote.startswith("--- FAIL: TestPut")
    (found,) = verdict.findings
    assert found == CheckFinding(
        family="test failed", message="put_test.go:3: got 1", path="put_test.go", tests=("TestPut",), generic=True
    )


def test_a_run_whose_compile_errors_were_cut_off_still_names_them() -> None:
    cut = "a.go:1: : # shop [shop.test]\na_test.go:3:5: not enough arguments in call to Put\n\thave (string)\n"
    (verdict,) = verdicts("golangci-lint run 2>&1 | head -3", cut, 0)
    assert [found.family for found in verdict.findings] == ["wrong arguments"]


def test_what_a_compiler_counts_is_no_number_of_failed_tests() -> None:
    output = "error[E0308]: mismatched types\nerror: could not compile `shop` (lib) due to 1 previous error\n"
    counts = [verdicts(command, output, 101)[0].failed_count for command in ("cargo test", "cargo build")]
    assert counts == [None, 1]


def test_what_only_follows_from_another_compile_error_is_left_out() -> None:
    output = (
        "a.go:3:2: could not import shop/tax (undefined)\ntax/t.go:7:1: missing return\nFAIL\tshop [build failed]\n"
    )
    (verdict,) = verdicts("go test ./...", output, 1)
    assert [found.family for found in verdict.findings] == ["missing return"]


def test_the_words_of_a_failing_test_are_its_own_not_those_of_helpers() -> None:
    output = "--- FAIL: TestA (0.0s)\n    a_test.go:3: want 1\n    helper.go:9: cleaning up\nFAIL\nFAIL\tshop\t0.1s\n"
    (verdict,) = verdicts("go test ./...", output, 1)
    assert verdict.findings[0].message == "a_test.go:3: want 1"


def test_counts_of_a_cut_output_are_not_given() -> None:
    shown = "--- PASS: TestA (0.0s)\n--- FAIL: TestB (0.0s)\nFAIL\tshop\t0.1s\n"
    (verdict,) = verdicts("go test -v ./... | tail -3", shown, 0)
    assert (verdict.passed_count, verdict.failed_count) == (None, 1)


def test_task_runners_say_what_they_run() -> None:
    output = "> shop@1.0.0 test\n> jest --ci\n\n[lint] $ golangci-lint run ./...\n[lint] $ x\n"
    assert check_name_from_output(output) == {"test": "jest", "lint": "golangci-lint"}


@each_row(
    ("text", "family"),
    [
        ("<tool_use_error>File does not exist.</tool_use_error>", "file not found"),
        ("<tool_use_error>Found 2 matches of the string to replace, but replace_all is false.", "text not unique"),
        ("<tool_use_error>String to replace not found in file.\nString: x", "text not found"),
        (
            "apply_patch verification failed: Error: Failed to find expected lines in /work/shop/cart.py:",
            "text not found",
        ),
        ("apply_patch verification failed: Failed to find context 'def total(' in shop/cart.py", "text not found"),
        ("Failed to edit, could not find the string to replace.", "text not found"),
        ("Failed to edit, expected 1 occurrence but found 3.", "text not unique"),
        ("Error: oldString not found in content", "text not found"),
        (
            "<tool_use_error>File has been modified since read, either by the user or by a linter.",
            "file changed since read",
        ),
        ("<tool_use_error>File has not been read yet. Read it first before writing to it.", "file not read first"),
        ("<tool_use_error>No changes to make: old_string and new_string are exactly the same.", "nothing to change"),
        ("File content (26800 tokens) exceeds maximum allowed tokens (25000).", "file too large"),
        ("EISDIR: illegal operation on a directory, read", "is a directory"),
        ("<tool_use_error>Path does not exist: /a/b</tool_use_error>", "path not found"),
        ("Agent type 'x' not found. Available agents: y", "no such agent"),
        ("Request failed with status code 404", "HTTP 404"),
        ("The request timed out after 30s", "timeout"),
        ("Skill model is not a prompt-based skill", "Skill model is not a prompt-based skill"),
        ("", "Edit failed"),
    ],
)
def test_errors_of_tools_have_families(text: str, family: str) -> None:
    assert tool_finding("Edit", text).family == family


@each_row(
    ("command", "output", "exit_code", "family", "generic"),
    [
        ("foo", "bash: foo: command not found", 127, "command not found", False),
        ("./x.sh", "(eval):1: no such file or directory: ./x.sh", 127, "no such file", False),
        (
            "git merge x",
            "Auto-merging a\nCONFLICT (content): Merge conflict in a\nAutomatic merge failed; fix",
            1,
            "merge conflict",
            False,
        ),
        (
            "git add a",
            "warning: could not open 'x': No such file or directory\nfatal: pathspec 'a' did not match any",
            128,
            "unknown path for git",
            False,
        ),
        (
            "git add .x",
            "The following paths are ignored by one of your .gitignore files:\n.x",
            1,
            "path ignored by git",
            False,
        ),
        ("git push", " ! [rejected]        main -> main (fetch first)", 1, "push rejected", False),
        ("gh api x", "gh: Not Found (HTTP 404)", 1, "HTTP 404", False),
        (
            "python a.py",
            'Traceback (most recent call last):\n  File "a.py"\nimportlib.x.PackageNotFoundError: y',
            1,
            "PackageNotFoundError",
            False,
        ),
        (
            "git diff",
            "fatal: detected dubious ownership in repository at '/w'\nusage: git diff --no-index [<options>]",
            129,
            "repository not trusted",
            False,
        ),
        ("git show --no-stat", "fatal: unrecognized argument: --no-stat", 128, "unknown option", False),
        (
            "./setup.sh",
            "==> Setting up\nhint: x\n✗ Branch 'a' not found in /srv/app/x",
            1,
            "✗ Branch <text> not found in <path>",
            False,
        ),
        ("grep x y", "", 1, "answered no", True),
        ("set -o pipefail; find . -name x | head -1", "./x", 141, "answered no", True),
        ("ls a b 2>/dev/null", "a\n", 2, "exit code 2", True),
        ("./x", "", 3, "exit code 3", True),
        ("sleep 999", "", 124, "timeout", False),
    ],
)
def test_failed_commands_have_families(
    command: str, output: str, exit_code: int, family: str, *, generic: bool
) -> None:
    found = command_finding(parse_command(command), output=output, exit_code=exit_code)
    assert (found.family, found.generic) == (family, generic)


def test_a_failure_is_named_by_its_cause_and_not_by_who_passes_it_on() -> None:
    cause = "ssh: connect to host h port 22: timed out"
    outputs = (f"{cause}\nfatal: Could not read from remote repository.", f"Error: - Up\b\b\b\bpush failed: {cause}")
    found = [command_finding(parse_command("git push"), output=one, exit_code=1) for one in outputs]
    assert [(one.family, one.message) for one in found] == [("connection failed", cause)] * 2
    pending = command_finding(parse_command("gh pr checks 7"), output="lint\tpending\t0", exit_code=8)
    assert pending.family == "answered no"


def test_the_same_message_about_another_file_is_the_same_family() -> None:
    one, other = (
        command_finding(parse_command("./deploy.sh"), output=f"error: {what}", exit_code=1).family
        for what in (
            "cannot lock /var/run/a.pid after 30s (pid 4711)",
            "cannot lock /srv/b/run/c.pid after 5s (pid 12)",
        )
    )
    assert one == other


@pytest.mark.parametrize(
    ("command", "output", "family"),
    [
        ("ls *.json | head", "(eval):1: no matches found: *.json", "no glob match"),
        ("git merge x || true", "Auto-merging a.go\nCONFLICT (content): Merge conflict in a.go", "merge conflict"),
        ("git diff a | head", "fatal: ambiguous argument 'a': unknown revision or path", "unknown revision"),
        ("grep CONFLICT notes", "CONFLICT (content): old", None),
        ("cat log | tail", "all fine\nfatal: not really", None),
    ],
)
def test_trouble_behind_exit_status_0(command: str, output: str, family: str | None) -> None:
    found = silent_failure(parse_command(command), output=output)
    assert (found.family if found else None) == family


def run(
    *scope: str, task: str | None = None, echoed: tuple[str, ...] | None = None, tests: tuple[str, ...] = ()
) -> Verdict:
    """A run of go test; ``covers`` looks at what was run, and at the failing tests of the earlier run."""
    findings = (CheckFinding(family="test failed", message="x", tests=tests, generic=True),)
    return Verdict(check="go test", kind="test", passed=False, scope=scope, task=task, echoed=echoed, findings=findings)


@each_row(
    ("later", "earlier", "expected"),
    [
        (run(), run(), True),
        (run(), run("./store"), True),
        (run("./store/..."), run("./store/disk"), True),
        (run("./store"), run("./storefront"), False),
        (run("./store"), run(), False),
        (run("-run TestPut"), run("-run TestPutTwice"), True),
        (run("-run TestGet"), run("-run TestPut"), False),
        (run("-run TestPut|TestGet"), run("-run TestGet"), True),
        (run("-run TestPut"), run(tests=("TestPut",)), True),
        (run("-run TestPut"), run(tests=("TestPut", "TestGet")), False),
        (run(), run("-tags integration"), False),
        (run(task="mise test", echoed=()), run(task="mise test:e2e", echoed=("-tags e2e",)), False),
        (run(task="mise test:e2e"), run(task="mise test:e2e", echoed=("-tags e2e",)), True),
        (
            run(task="mise test:all", echoed=("-tags e2e",)),
            run(task="mise e2e", echoed=("-tags e2e", "./e2…")),
            True,
        ),
        (run(task="mise test"), run(task="mise test:e2e"), False),
    ],
)
def test_a_later_run_says_something_only_about_what_it_took_in(
    *, later: Verdict, earlier: Verdict, expected: bool
) -> None:
    assert covers(later, earlier) is expected


def test_failures_without_names_need_the_whole_run() -> None:
    unnamed = CheckFinding(family="panic", message="panic: x")
    earlier = run(tests=("TestPut",))._replace(findings=(*run(tests=("TestPut",)).findings, unnamed))
    assert not covers(run("-run TestPut"), earlier)


def test_another_check_says_nothing() -> None:
    assert not covers(Verdict(check="go vet", kind="lint", passed=True), run())


OUTPUT_BITS = st.sampled_from(
    [
        "FAIL\tx\t0.1s",
        "ok  \tx\t(cached)",
        "--- FAIL: TestX (0s)",
        "panic: ",
        "x.go:1:2: undefined: y",
        "3 issues:",
        "* a: 2",
        "(typecheck)",
        "x.go:1: : # p",
        "FAILED a.py::b - ",
        "E   KeyError: ",
        "== 1 failed in 0.1s ==",
        "Ran 3 tests in 0.1s",
        "FAILED (failures=1)",
        "Traceback (most recent call last):",
        "error[E0308]: m",
        " --> a.rs:1:2",
        "Tests:  1 failed",
        "[lint] ERROR task failed",
        "[lint] $ ruff check",
        "> a@1 test",
        "> jest",
        "$ tsc",
        "Diff in a.rs:3",
        "Exit code 1",
        "a...Failed",
        "- hook id: x",
        "\x1b[31m",
        "\r",
        "\n",
        "\n",
        "\n",
        " ",
        "\t",
        "HTTP 404",
        "error TS1: ",
        "✖ 1 problem",
    ]
)


@given(st.lists(OUTPUT_BITS, max_size=40).map("".join) | st.text(max_size=300), st.sampled_from([0, 1, 127, None]))
@pytest.mark.slow
def test_no_output_breaks_it(output: str, exit_code: int | None) -> None:
    for command in (
        "mise run fmt && mise run lint | tail; ./x",
        "go test ./... && ruff check",
        "./all.sh",
        "",
        "npm test || make",
    ):
        parts = parse_command(command)
        for verdict in read_verdicts(parts, output=output, exit_code=exit_code, status="unknown"):
            assert bool(verdict.findings) == (verdict.passed is False)
            assert len(verdict.quote) <= 240
        assert command_finding(parts, output=output, exit_code=exit_code).family
        assert tool_finding("Edit", output).family
        silent_failure(parts, output=output)


@pytest.mark.parametrize(
    "line",
    few(
        ["--- FAIL: TestA (0.00s)\n    a_test.go:3: want 1\nFAIL\tshop\t1s\n", "x" * 5000, "a:1:2: (b) \n", "((((\r"], 1
    ),
)
def test_four_times_the_output_takes_four_times_as_long(line: str) -> None:
    parts = parse_command("mise run lint && ./all.sh")

    def judge(output: str) -> None:
        read_verdicts(parts, output=output, exit_code=1, status="error")
        command_finding(parts, output=output, exit_code=1)

    assert growth(judge, line * (1_000_000 // len(line))) < LINEAR


def test_a_run_without_tests_is_no_pass() -> None:
    output = "?   \tgithub.com/shop/cart\t[no test files]"
    (verdict,) = read_verdicts(parse_command("go test ./cart/..."), output=output, exit_code=0, status="ok")
    assert verdict.passed is None


def test_a_tests_own_log_is_no_compile_error_even_without_its_indentation() -> None:
    output = "cart_test.go:79: Reason should contain rounding\nFAIL\nFAIL\tgithub.com/shop/cart\t3.7s\nFAIL"
    (verdict,) = read_verdicts(parse_command("go test ./... | tail -4"), output=output, exit_code=0, status="ok")
    assert [(found.family, found.generic) for found in verdict.findings] == [("test failed", True)]


def test_a_file_that_cannot_be_collected_is_told_by_what_was_raised() -> None:
    output = (
        "E   ModuleNotFoundError: No module named 'respx'\n"
        "=========================== short test summary info ============================\n"
        "ERROR tests/test_shipping.py\n"
        "=============================== 1 error in 0.10s ==============================="
    )
    (verdict,) = read_verdicts(parse_command("pytest"), output=output, exit_code=2, status="error")
    (finding,) = verdict.findings
    assert (finding.family, finding.message) == (
        "ModuleNotFoundError",
        "ModuleNotFoundError: No module named 'respx'",
    )
    assert finding.path == "tests/test_shipping.py"


def test_a_full_disk_is_no_error_in_the_code() -> None:
    full = "error: couldn't create a temp dir: No space left on device (os error 28)"
    output = f"{full}\n\nerror: could not compile `shop`"
    (verdict,) = read_verdicts(parse_command("cargo build"), output=output, exit_code=101, status="error")
    assert [one.family for one in verdict.findings] == ["no space left"]


def test_what_a_compiler_of_go_has_and_wants_is_no_linter() -> None:
    output = "# shop\n./cart.go:5:2: not enough arguments in call to total\n\thave (price)\n\twant (price, rate)\n"
    (verdict,) = verdicts("make check", output, 1)
    assert (verdict.check, [found.family for found in verdict.findings]) == ("go build", ["wrong arguments"])


def test_a_build_in_rust_failed_for_its_error_and_not_for_a_warning_about_it() -> None:
    output = "warning: build failed, waiting for other jobs to finish...\nerror: could not compile `shop`\n"
    (verdict,) = verdicts("cargo build", output, 101)
    assert [found.message for found in verdict.findings] == ["error: could not compile `shop`"]


@pytest.mark.parametrize(
    ("command", "output", "quoted"),
    [
        (
            "npx jest",
            f"Test Suites: 9 passed, 9 total\nTests:       9 passed, 9 total\n\n{JEST_PASSES}\n",
            JEST_PASSES,
        ),
        (
            "pre-commit run",
            "one......Passed\ntwo......Passed\nthree......Passed\n",
            "two......Passed\nthree......Passed",
        ),
    ],
)
def test_what_passed_is_quoted_by_its_last_lines(command: str, output: str, quoted: str) -> None:
    (verdict,) = verdicts(command, output, 0)
    assert (verdict.passed, verdict.quote) == (True, quoted)
