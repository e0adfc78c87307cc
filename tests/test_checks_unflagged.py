"""Which failures show in a command that ended with 0?"""

from __future__ import annotations

import pytest

from helix_episodes.extraction.checks import read_verdicts, silent_failure
from helix_episodes.extraction.shell.commands import parse_command
from whole_tables import each_row

DIFF = "diff a.go.orig a.go\n--- a.go.orig\n+++ a.go\n@@ -1 +1 @@\n-x\n+y"
TRACE = 'Traceback (most recent call last):\n  File "load.py", line 1, in <module>\nValueError: no price'
NODE = "node:internal/modules/cjs/loader:1\n  throw err;\n\nTypeError: x is not a function\n    at main (a.js:1:1)"


@each_row(
    ("command", "output", "check"),
    [
        ("gofmt -l .", "cmd/a.go\ncmd/b.go", "gofmt"),
        ("gofmt -l . | head -5", "a.go", "gofmt"),
        ("gofmt -d .", DIFF, "gofmt"),
        ("goimports -l ./cmd", "cmd/a.go", "goimports"),
        ("npx prettier --list-different src", "src/a.ts", "prettier"),
        ("black --diff .", "--- a.py\n+++ a.py\n@@ -1 +1 @@\n-x\n+y\n\nwould reformat a.py", "black"),
        ("clang-format -n a.c", "a.c:1:2: warning: code should be clang-formatted [-Wclang-format]", "clang-format"),
        ("npm run build 2>&1 | tail -3", "npm ERR! code ELIFECYCLE", "npm build"),
        ("yarn build | tail -3", "error Command failed with exit code 2.", "yarn build"),
        ("make 2>&1 | tail -3", "make: *** [all] Error 2", "make"),
        ("pytest -q 2>&1 | tail -1", "1 failed, 3 passed in 0.10s", "pytest"),
        ("pytest -q || true", "1 failed, 3 passed in 0.10s", "pytest"),
    ],
)
def test_a_check_that_fails_behind_exit_status_0(command: str, output: str, check: str) -> None:
    (verdict,) = read_verdicts(parse_command(command), output=output, exit_code=0, status="ok")
    assert (verdict.check, verdict.passed) == (check, False)


@pytest.mark.parametrize(
    ("shown", "files"), [(DIFF, 1), ("diff a.go.orig a.go", 1), (f"{DIFF}\n{DIFF.replace('a.go', 'b.go')}", 2)]
)
def test_a_diff_counts_each_file_once(shown: str, files: int) -> None:
    (verdict,) = read_verdicts(parse_command("gofmt -d ."), output=shown, exit_code=0, status="ok")
    (finding,) = verdict.findings
    assert (finding.times, finding.path, verdict.failed_count) == (files, "a.go", files)


UNDEFINED = "# shop\n./m.go:3:2: undefined: foo\ndone"


@pytest.mark.parametrize(
    ("command", "output", "check"),
    [
        ("gofmt -w . && go vet ./... ; echo done", UNDEFINED, "go vet"),
        ("gofmt -w . && go build ./... 2>&1 | tail", UNDEFINED, "go build"),
        ("goimports -w . ; go vet ./... || true", UNDEFINED, "go vet"),
        ("go fmt ./... && go build ./... ; echo done", UNDEFINED, "go build"),
        ("gofmt -w . && go vet ./... ; echo done", "m.go:3:2: expected ';', found x\ndone", "go vet"),
        ("npx prettier -w . && npx tsc --noEmit ; echo done", "a.ts(3,5): error TS2345: bad\ndone", "tsc"),
    ],
)
def test_what_a_compiler_says_is_not_the_formatters_beside_it(command: str, output: str, check: str) -> None:
    (verdict,) = read_verdicts(parse_command(command), output=output, exit_code=0, status="ok")
    assert (verdict.check, verdict.passed) == (check, False)


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("go vet ./... ; echo done", "# shop/cart\ndone"),
        ("go vet ./... ; echo done", "cart.proto:3:5: field number is taken\ndone"),
        ("npx tsc --noEmit ; echo done", "vite.config.ts(3,5): warning: odd\ndone"),
        ("golangci-lint run ; go vet ./... ; echo done", "a.go:1:2: unchecked (errcheck)\n1 issues:\n* errcheck: 1"),
    ],
)
def test_a_compiler_is_not_taken_for_silent_where_somebody_complains(command: str, output: str) -> None:
    verdicts = read_verdicts(parse_command(command), output=output, exit_code=0, status="ok")
    assert verdicts[-1].passed is None


def test_a_formatter_that_ends_the_chain_is_to_blame_for_what_does_not_parse_and_for_nothing_else() -> None:
    command = parse_command("gofmt -w . && go vet ./...")
    (parsing,) = read_verdicts(command, output="m.go:3:2: expected ';', found x", exit_code=2, status="error")
    (naming,) = read_verdicts(command, output=UNDEFINED, exit_code=1, status="error")
    assert (parsing.check, naming.check) == ("gofmt", "go vet")


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("go vet ./... ; echo done", "done"),
        ("gofmt -l .", ""),
        ("gofmt -l . && echo formatted", "formatted"),
        ("black --diff .", "All done!\n3 files would be left unchanged."),
        ("npm run build", "Error handling: done"),
    ],
)
def test_a_check_that_passes(command: str, output: str) -> None:
    (verdict,) = read_verdicts(parse_command(command), output=output, exit_code=0, status="ok")
    assert verdict.passed is True


@each_row(
    ("command", "output", "family"),
    [
        ("deploy | tail -1", "(eval):1: command not found: deploy", "command not found"),
        ("ls; deploy | tail", "a.py\nzsh:1: command not found: deploy", "command not found"),
        ("deploy; date", "bash: line 1: deploy: command not found\nMon", "command not found"),
        ("echo $((1+) | cat", "(eval):1: parse error near `)'", "shell syntax error"),
        ("python load.py | tail -3", TRACE, "ValueError"),
        ("go run . 2>&1 | head", "panic: no price\n\ngoroutine 1 [running]:", "panic"),
        ("node a.js 2>&1 | head", NODE, "TypeError"),
        ("pip install pricing | tail -1", "ERROR: No matching distribution found for pricing", "package not found"),
        ("npm install | tail -2", "npm error code E404", "package not found"),
        ("rm old.py; date", "rm: old.py: No such file or directory\nMon", "no such file"),
        # What only looks says in its own name that there is nothing to look at.
        ("rg --files .github workflows . | head", "rg: workflows: No such file or directory\na.yml", "no such file"),
        ("cat b.py; cat a.py", "cat: b.py: No such file or directory\nx = 1", "no such file"),
        ("unzip -l logs.zip | head", "unzip:  cannot find zipfile directory in one of logs.zip", "not an archive"),
        ("zsh -f drive.zsh 2>&1", "start\nsed: can't read out.txt: No such file or directory", "no such file"),
        ("./ci/load.sh", "cat: rates.csv: No such file or directory\n0 loaded", "no such file"),
        ("wsl sh -c 'sed -i \"s|a\" x; grep a x'", "sed: -e expression #1, char 3: unterminated", "sed script error"),
    ],
)
def test_what_dies_where_nobody_sees_its_exit_status(command: str, output: str, family: str) -> None:
    found = silent_failure(parse_command(command), output=output)
    assert found is not None
    assert found.family == family


@each_row(
    ("command", "output"),
    [
        ("python load.py || true", TRACE),  # its failure was expected
        ("python load.py", TRACE),  # it ended with 0, whatever it printed
        ("cat crash.log | tail -5", TRACE),
        ("grep -rn panic . | head", "panic: no price\ngoroutine 1"),
        ("rm old.py", "note: bash: x: command not found is what users see"),
        ("git log | cat", "Fix: command not found in deploy"),
        ("cat build.log | head", "cat: old.py: No such file or directory"),  # what the log shows
        ("cat b.py || cat a.py | head", "cat: b.py: No such file or directory\nx = 1"),
    ],
)
def test_what_only_quotes_a_failure(command: str, output: str) -> None:
    assert silent_failure(parse_command(command), output=output) is None


@pytest.mark.parametrize("command", ["go test -c ./cart", "cargo test --no-run"])
def test_building_tests_runs_none(command: str) -> None:
    (part,) = parse_command(command)
    assert (part.kind, part.check) == ("build", f"{part.program} build")


@each_row(
    ("command", "output", "check"),
    [
        ("mypy . | tail -1", "Found 3 errors in 2 files (checked 9 source files)", "mypy"),
        ("dotnet build | tail", "Build FAILED.\n    0 Warning(s)\n    2 Error(s)", "dotnet build"),
        ("dotnet build | tail -2", "    2 Error(s)\n", "dotnet build"),
        ("npm run build | tail -3", "\u2716 Build failed in 3s", "vite build"),
        ("npx vite build | tail -4", "error during build:\nRollupError: no such export", "vite build"),
        ("npx webpack | tail -1", "webpack 5.90.0 compiled with 2 errors in 812 ms", "webpack"),
        ("npx next build | tail", "Failed to compile.\n\n./a.tsx", "next build"),
        ("npx tsc --noEmit | tail -1", "Found 3 errors in 2 files.", "tsc"),
        ("npx tsc --noEmit | tail -1", "Found 1 error in a.ts:3", "tsc"),
        ("npx eslint . | tail -2", "\u2716 3 problems (3 errors, 0 warnings)", "eslint"),
        ("npx stylelint . | tail -2", "\u2716 3 problems", "stylelint"),
        ("cargo build | tail -1", "error: could not compile `cart` (lib) due to 2 previous errors", "cargo build"),
        ("cargo test | tail -1", "error: test failed, to rerun pass `--lib`", "cargo test"),
        ("./gradlew build | tail -3", "BUILD FAILED in 3s\n2 actionable tasks: 2 executed", "gradle build"),
        ("mvn package | tail -9", "[INFO] BUILD FAILURE\n[INFO] Total time: 2 s", "mvn package"),
        ("make | tail -1", "make: *** [Makefile:3: all] Error 1", "make"),
        ("make | tail -1", "make: *** missing separator.  Stop.", "make"),
        ("ninja | tail -1", "ninja: build stopped: subcommand failed.", "ninja"),
        ("bazel build //... | tail -2", "ERROR: Build did NOT complete successfully", "bazel build"),
        ("xcodebuild | tail -2", "** BUILD FAILED **", "xcodebuild"),
        ("ruff check . | tail -1", "Found 3 errors.", "ruff"),
        ("rubocop | tail -1", "12 files inspected, 3 offenses detected", "rubocop"),
        ("vendor/bin/phpunit | tail -2", "FAILURES!\nTests: 3, Assertions: 4, Failures: 1.", "phpunit"),
        ("bundle exec rspec | tail -1", "5 examples, 2 failures", "rspec"),
        ("./build.sh | tail -2", "[INFO] BUILD FAILURE\ndone", "build.sh"),
        ("bash scripts/ci.sh | tail -2", "make: *** [all] Error 2", "bash ci.sh"),
    ],
)
def test_a_summary_is_enough(command: str, output: str, check: str) -> None:
    (verdict,) = read_verdicts(parse_command(command), output=output, exit_code=0, status="ok")
    assert (verdict.check, verdict.passed) == (check, False)
    assert verdict.findings[0].message in output


@each_row(
    ("command", "output"),
    [
        ("npx tsc --noEmit | tail -1", "Found 0 errors. Watching for file changes."),
        ("npx eslint . | tail -2", "\u2716 3 problems (0 errors, 3 warnings)"),
        ("dotnet build | tail", "Build succeeded.\n    0 Warning(s)\n    0 Error(s)"),
        ("rubocop | tail -1", "12 files inspected, no offenses detected"),
        ("npx webpack | tail -1", "webpack 5.90.0 compiled successfully in 812 ms"),
        ("mvn package | tail -9", "[INFO] BUILD SUCCESS"),
        ("npx eslint . | tail -2", "BUILD FAILED in 3s"),
        ("npm run build | tail -3", "The last build failed, this one did not: Build failed pages were rebuilt"),
    ],
)
def test_another_summary_is_no_failure(command: str, output: str) -> None:
    (verdict,) = read_verdicts(parse_command(command), output=output, exit_code=0, status="ok")
    assert verdict.passed is not False


def test_a_summary_far_above_the_end_is_the_log_of_a_run_that_went_on() -> None:
    output = "Build failed\n" + "rebuilding page\n" * 30
    (verdict,) = read_verdicts(parse_command("npm run build | cat"), output=output, exit_code=0, status="ok")
    assert verdict.passed is None


SUMMED = "BUILD FAILED in 3s\nerror: could not compile `x`\nERROR: failed to solve: x\nmake: *** [all] Error 1"


@each_row(
    ("command", "output", "family"),
    [
        ("bash run.sh", "run.sh: line 3: syntax error near unexpected token `fi'", "shell syntax error"),
        ("bash tools/run.sh", "tools/run.sh: line 9: deploy: command not found\ndone", "command not found"),
        ("./run.sh", "start\n./run.sh: line 9: deploy: command not found\ndone", "command not found"),
        ("terraform plan | tail", "\u2577\n\u2502 Error: Invalid reference\n\u2502", "\u2502 Error: Invalid reference"),
        ("terraform plan | tail", "Error: Invalid reference", "Error: Invalid reference"),
        ("docker build . | tail -3", "ERROR: failed to solve: no target", "ERROR: failed to solve: no target"),
        ("bash deploy.sh | tail", "copying\nBUILD FAILED in 3s", "build failed"),
        ("make deploy | tail -1", "make: *** [Makefile:3: deploy] Error 1", "build failed"),
        ("./gradlew assembleDebug | tail", "BUILD FAILED in 3s", "build failed"),
        ("cargo run | tail -1", "error: could not compile `x` (bin)", "error: could not compile <text> (bin)"),
    ],
)
def test_what_is_no_check_and_says_that_it_failed(command: str, output: str, family: str) -> None:
    found = silent_failure(parse_command(command), output=output)
    assert found is not None
    assert found.family == family


@pytest.mark.parametrize(
    "command",
    [
        "cat ci.log",
        "cat ci.log | tail -5",
        "grep -n FAILED ci.log | head",
        "docker logs web | tail",
        "docker compose logs web 2>&1 | tail",
        "curl -s localhost/status | jq .",
        "gh run view 7 --log-failed | tail",
        "tail -20 run.sh; date",
        "cat run.sh | head",
        "terraform show | tail",
        "git log -3 | cat",
    ],
)
@pytest.mark.parametrize("output", [SUMMED, "Error: Invalid reference", "run.sh: line 3: syntax error near `fi'"])
def test_who_shows_a_log_has_not_failed(command: str, output: str) -> None:
    parts = parse_command(command)
    assert silent_failure(parts, output=output) is None
    assert all(one.passed is not False for one in read_verdicts(parts, output=output, exit_code=0, status="ok"))


def test_a_runner_that_counts_failures_knows_better_than_an_exit_status_of_0() -> None:
    command = parse_command("pytest -q")
    printed = "1 failed, 2 passed in 0.10s"
    (flagged,) = read_verdicts(command, output=printed, exit_code=None, status="ok")
    (stated,) = read_verdicts(command, output=printed, exit_code=0, status="ok")
    assert (flagged.passed, stated.passed) == (False, False)


@pytest.mark.parametrize(
    ("command", "output", "family"),
    [
        (
            "curl -s https://api.github.com/repos/a/b | head -c 500",
            '{\n "message": "Not Found",\n "documentation_url": "https://docs.github.com/rest",\n "status": "404"\n}',
            "HTTP 404",
        ),
        (
            'find . -name "*.ts" | grep cart',
            "error: unexpected argument '-name' found\n\nUsage: rtk find [OPTIONS] <PATTERN>",
            "unknown option",
        ),
    ],
)
def test_a_program_that_answers_with_an_error_instead_failed(command: str, output: str, family: str) -> None:
    found = silent_failure(parse_command(command), output=output)
    assert found is not None
    assert found.family == family


NO_PATH = "Cannot find path 'C:\\a' because it does not exist."
IN_SCRIPT = """Line |
   2 |  Set-Content C:\\a -Value $null.Trim()
     |  ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
     | You cannot call a method on a null-valued expression."""
CATEGORY = "At line:1 char:1\n+ Get-Item C:\\a\n    + CategoryInfo          : ObjectNotFound"


@pytest.mark.parametrize(
    ("command", "output", "said"),
    [
        ("Get-Item C:\\a; Get-Date", f"Get-Item: {NO_PATH}\nMonday", NO_PATH),
        ("Get-Item C:\\a; Get-Date", f"Get-Item : {NO_PATH}\n{CATEGORY}", NO_PATH),
        ("$x = Get-Item C:\\a; $x.Name", f"\x1b[31;1mGet-Item: \x1b[31;1m{NO_PATH}\x1b[0m", NO_PATH),
        (
            "$x = 1\nSet-Content C:\\a -Value $null.Trim()",
            f"InvalidOperation: \n{IN_SCRIPT}",
            "You cannot call a method on a null-valued expression.",
        ),
    ],
)
def test_powershell_goes_on_after_an_error_and_says_so(command: str, output: str, said: str) -> None:
    found = silent_failure(parse_command(command), output=output)
    assert found is not None
    assert found.message == said


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("cat pester.log | head", f"Get-Item: {NO_PATH}"),
        ("Get-Content notes.md", "Set-Content: writes to a file\nError: what users see"),
        ("Get-Process | Format-List", "Id      : 1\nName    : init\nStartTime : now"),
    ],
)
def test_what_powershell_shows_is_no_error_of_its_own(command: str, output: str) -> None:
    assert silent_failure(parse_command(command), output=output) is None


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("curl -s https://x/y", '{"message": "Not Found is what you get", "status": "404"}'),
        ("cat answer.json", '{"message": "Not Found", "documentation_url": "https://x", "status": "404"}'),
        ("rg Usage docs", "error: unexpected argument in the docs"),
    ],
)
def test_texts_about_errors_are_none(command: str, output: str) -> None:
    assert silent_failure(parse_command(command), output=output) is None
