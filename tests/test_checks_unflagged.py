"""Which failures show in a command that ended with 0?"""

from __future__ import annotations

import pytest

from helix_episodes.extraction.checks import read_verdicts, unflagged_finding
from helix_episodes.extraction.commands import parse_command

DIFF = "diff a.go.orig a.go\n--- a.go.orig\n+++ a.go\n@@ -1 +1 @@\n-x\n+y"
TRACE = 'Traceback (most recent call last):\n  File "load.py", line 1, in <module>\nValueError: no price'
NODE = "node:internal/modules/cjs/loader:1\n  throw err;\n\nTypeError: x is not a function\n    at main (a.js:1:1)"


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
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
    ],
)
def test_what_dies_where_nobody_sees_its_exit_status(command: str, output: str, family: str) -> None:
    found = unflagged_finding(parse_command(command), output=output)
    assert found is not None
    assert found.family == family


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("python load.py || true", TRACE),  # its failure was expected
        ("python load.py", TRACE),  # it ended with 0, whatever it printed
        ("cat crash.log | tail -5", TRACE),
        ("grep -rn panic . | head", "panic: no price\ngoroutine 1"),
        ("rm old.py", "note: bash: x: command not found is what users see"),
        ("git log | cat", "Fix: command not found in deploy"),
    ],
)
def test_what_only_quotes_a_failure(command: str, output: str) -> None:
    assert unflagged_finding(parse_command(command), output=output) is None


@pytest.mark.parametrize("command", ["go test -c ./cart", "cargo test --no-run"])
def test_building_tests_runs_none(command: str) -> None:
    (part,) = parse_command(command)
    assert (part.kind, part.check) == ("build", f"{part.program} build")
