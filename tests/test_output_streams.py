"""Is what tasks print between each other, behind a runner's prefixes, read as each tool's own output?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helix_episodes.extraction.checks import read_verdicts
from helix_episodes.extraction.checks.model import CommandOutput
from helix_episodes.extraction.checks.streams import separate
from helix_episodes.extraction.shell.commands import parse_command
from runner_outputs import FAILING, PASSING
from thoroughness import few
from whole_tables import each_row

if TYPE_CHECKING:
    from collections.abc import Callable

    from helix_episodes.extraction.checks import Verdict

#: Outputs of real shape, of tools of many kinds, as their runners print them without any prefix.
OUTPUTS = [case.output.strip("\n") for case in FAILING] + [output.strip("\n") for _, output in PASSING]
LONG = [output for output in OUTPUTS if output.count("\n") >= 2]

#: How runners put a task's name before a line.
PREFIXES: dict[str, Callable[[str, str], str]] = {
    "mise, concurrently": lambda name, line: f"[{name}] {line}",
    "turbo": lambda name, line: f"{name}:test: {line}",
    "lerna": lambda name, line: f"@acme/{name}: {line}",
    "docker compose": lambda name, line: f"{name}-1  | {line}",
    "foreman": lambda name, line: f"10:01:0{len(line) % 10} {name}.1  | {line}",
    "docker build": lambda name, line: f"#{len(name)} 0.{len(line)} {line}",
    "GitHub Actions": lambda name, line: f"{name}\tRun checks\t2026-05-01T10:11:12.{len(line):07}Z {line}",
    "gh, then mise": lambda name, line: f"ci\tRun\t2026-05-01T10:11:12.0000001Z [{name}] {line}",
    "colours": lambda name, line: f"\x1b[36m[{name}]\x1b[0m {line}",
}


@each_row("output", OUTPUTS)
def test_an_output_without_prefixes_stays_as_it_is(output: str) -> None:
    lines = output.split("\n")
    (stream,) = separate(lines)
    assert stream.lines is lines
    assert stream.name == ""


@each_row(
    "output",
    [
        "hint: Updates were rejected\nhint:\nhint:   git pull\nhint: See the manual",
        "[INFO] Compiling\n[INFO]\n[ERROR] Tests run: 3, Failures: 1\n[INFO] BUILD FAILURE",
        "[STARTED] lint\n[STARTED] test\n[COMPLETED] lint\n[FAILED] test",
        "src/a.ts:   total()\nsrc/a.ts: sum()\nsrc/a.ts:3: error: x\nsrc/a.ts:   add()",
        "go: downloading x v1\ngo: downloading y v2\ngo: downloading z v3",
        "ls: cannot access 'a'\nls: cannot access 'b'\nls: cannot access 'c'",
        'Name: shop\nVersion: 1\nRequires: \nName: cart\nVersion: 2\nRequires: "\nName: tax\nVersion: 3',
        "[1] 0.5\n[1] 1.5\n[1] 2.5",
        "[1/3] Building a.o\n[2/3] Building b.o\n[3/3] Linking",
        " id | name\n----+-----\n  1 | a\n  2 | b",
        "error: x\n --> a.rs:1:2\n  |\n1 | let x\n  | ^^^\nerror: y\n  |\n1 | let y",
    ],
)
def test_what_only_looks_like_a_prefix_is_left_in_place(output: str) -> None:
    (stream,) = separate(output.split("\n"))
    assert stream.lines == output.split("\n")


@pytest.mark.parametrize("prefix", few([*PREFIXES.values()], 3), ids=PREFIXES)
@given(drawn=st.data())
def test_two_outputs_between_each_other_come_back_whole(
    prefix: Callable[[str, str], str], drawn: st.DataObject
) -> None:
    web, backend = (drawn.draw(st.sampled_from(LONG)).split("\n") for _ in range(2))
    turns = drawn.draw(st.permutations([True] * len(web) + [False] * len(backend)))
    left = {True: iter(web), False: iter(backend)}
    printed = [prefix("web" if turn else "backend", next(left[turn])) for turn in turns]
    streams = {
        stream.name.rpartition("\t")[0] or stream.name: stream.lines
        for stream in CommandOutput("\n".join(printed)).streams
    }
    found = sorted(streams.values())
    assert [[line.rstrip() for line in one] for one in found] == [
        [line.rstrip() for line in one] for one in sorted([web, backend])
    ]


PYTEST = [
    "============ test session starts =============",
    "",
    "E   TypeError: price is missing",
    "FAILED tests/test_cart.py::test_sum - TypeError: price is mis...",
    "========= 1 failed, 2 passed in 0.12s =========",
]
VITEST = [
    "",
    " FAIL  src/cart.test.ts > adds",
    "RangeError: bad price",
    "",
    " Test Files  1 failed (1)",
    "      Tests  1 failed (1)",
]
GOLANGCI = [
    "cart/a.go:10:20: result 0 (error) is always nil (unparam)",
    "func sum() error {",
    "           ^",
    "1 issues:",
]


@each_row(
    ("command", "printed", "expected"),
    [
        (
            "mise run lint 2>&1 | head -5",
            [
                *(f"[lint:go] {line}" for line in ["$ golangci-lint run ./...", *GOLANGCI[:3]]),
                "[lint:sh] $ shellcheck ci.sh",
            ],
            [("golangci-lint", False, "unparam")],
        ),
        (
            "mise run ci | tail -12",
            [
                *(f"[test] {line}" for line in PYTEST),
                *(f"[lint] {line}" for line in GOLANGCI),
                "[lint] ERROR task failed",
                "Finished in 3.2s",
            ],
            [("golangci-lint", False, "unparam"), ("pytest", False, "TypeError")],
        ),
        (
            "npx turbo run test || true",
            [
                "web:test: cache miss, executing 1a2b",
                "api:test: cache miss, executing 3c4d",
                *(f"web:test: {line}" for line in ["> web@1.0.0 test", "> vitest run", *VITEST]),
                *(f"api:test: {line}" for line in ["> api@1.0.0 test", "> pytest", *PYTEST]),
                " Tasks:    0 successful, 2 total",
                " Failed:   api#test, web#test",
            ],
            [("pytest", False, "TypeError"), ("vitest", False, "RangeError")],
        ),
        (
            "pnpm -r test | tail -20",
            [
                "packages/web test$ vitest run",
                *(f"packages/web test: {line}" for line in VITEST),
                "packages/web test: Failed",
            ],
            [("vitest", False, "RangeError")],
        ),
        (
            "npx lerna run test | cat",
            ["lerna notice cli v8.1.2", *(f"@acme/web: {line}" for line in VITEST)],
            [("vitest", False, "RangeError")],
        ),
        (
            "docker compose up --abort-on-container-exit",
            [*(f"web-1  | {line}" for line in PYTEST), "db-1   | ready", "web-1 exited with code 1"],
            [("pytest", False, "TypeError")],
        ),
        (
            "docker build . 2>&1 | tail -9",
            ["#8 [4/4] RUN pytest", *(f"#8 0.4{n} {line}" for n, line in enumerate(PYTEST)), "#8 DONE 0.9s"],
            [("pytest", False, "TypeError")],
        ),
        (
            "npx concurrently npm:test npm:lint || true",
            [
                line
                for pair in zip((f"[0] {line}" for line in PYTEST), (f"[1] {line}" for line in VITEST), strict=False)
                for line in pair
            ]
            + [f"[1] {VITEST[-1]}"],
            [("pytest", False, "TypeError"), ("vitest", False, "RangeError")],
        ),
        (
            "foreman start | head -40",
            [f"10:00:0{n} test.1  | {line}" for n, line in enumerate(PYTEST)],
            [("pytest", False, "TypeError")],
        ),
        (
            "nox -s tests | tail -8",
            ["nox > Running session tests", "nox > pytest -q", *PYTEST, "nox > Session tests failed."],
            [("pytest", False, "TypeError")],
        ),
        (
            "tox -e py311 | tail -8",
            ["py311: commands[0]> pytest -q", *PYTEST, "  py311: FAIL code 1 (0.8=setup[0.1]+cmd[0.7] seconds)"],
            [("pytest", False, "TypeError")],
        ),
        (
            "tox -e lint | tail -5",
            ["lint: commands[0]> interrogate src", "RESULT: FAILED", "  lint: FAIL code 1 (0.8=setup[0.1] seconds)"],
            [("tox lint", False, "lint failed")],
        ),
        (
            "nox -s lint | tail -8",
            [
                "nox > Running session lint-3.12",
                "nox > vulture src",
                "a.py:3: unused",
                "nox > Session lint-3.12 failed.",
            ],
            [("vulture", False, "lint failed")],
        ),
        (
            "just test | tail -9",
            ["pytest -q", *PYTEST, "error: Recipe `test` failed on line 3 with exit code 1"],
            [("pytest", False, "TypeError")],
        ),
        (
            "make -j4 check 2>&1 | tail -9",
            ["pytest -q", *PYTEST, "make: *** [Makefile:4: test] Error 1", "make: *** Waiting for unfinished jobs...."],
            [("pytest", False, "TypeError")],
        ),
        (
            "npx nx run-many -t test | tail -20",
            ["> nx run web:test", "", "> vitest run", *VITEST, "", " NX   Running target test for 1 project failed"],
            [("vitest", False, "RangeError")],
        ),
        (
            "npm test --workspaces | cat",
            ["> web@1.0.0 test", "> vitest run", *VITEST, "> api@1.0.0 test", "> pytest", *PYTEST],
            [("pytest", False, "TypeError"), ("vitest", False, "RangeError")],
        ),
        (
            "act push | tail -7",
            [f"2026-05-01T10:11:12.{n:07}Z {line}" for n, line in enumerate(["##[group]Run pytest", *PYTEST])],
            [("pytest", False, "TypeError")],
        ),
    ],
    ids=lambda value: value.partition(" |")[0] if isinstance(value, str) else "",
)
def test_the_verdict_is_the_tools_own(command: str, printed: list[str], expected: list[tuple[str, bool, str]]) -> None:
    found = [
        (verdict.check, verdict.passed, verdict.findings[0].family)
        for verdict in verdicts(command, "\n".join(printed))
        if verdict.passed is False
    ]
    assert sorted(found) == expected


def test_a_message_is_what_the_tool_printed() -> None:
    printed = "\n".join(f"[lint:go] {line}" for line in GOLANGCI)
    (verdict,) = verdicts("mise run lint | head", printed)
    assert verdict.findings[0].message == GOLANGCI[0]
    assert verdict.findings[0].path == "cart/a.go"


def test_a_failing_task_is_not_hidden_by_one_that_passes_with_the_same_tool() -> None:
    passed = [" Test Files  1 passed (1)", "      Tests  4 passed (4)", ""]
    printed = [*(f"web:test: {line}" for line in VITEST), *(f"api:test: {line}" for line in passed)]
    (verdict,) = verdicts("turbo run test | tail -30", "\n".join(printed))
    assert (verdict.passed, verdict.failed_count, verdict.passed_count) == (False, 1, 4)


@pytest.mark.parametrize(
    ("command", "output", "passed"),
    [
        ('pytest -q; echo "exit: $?"', "....\nexit: 1", False),
        ("pytest -q > log 2>&1; echo EXIT=$?", "EXIT=0", True),
        ("pytest -q | tail -1; echo ${PIPESTATUS[0]}", "....\n2", False),
        ("pytest -q | tail -1; echo $?", "....\n0", None),
        ("pytest -q; echo $?; cat notes", "....\n1", None),
    ],
)
def test_an_exit_status_that_the_shell_was_asked_to_print(command: str, output: str, *, passed: bool | None) -> None:
    (verdict,) = verdicts(command, output)
    assert (verdict.check, verdict.passed) == ("pytest", passed)
    assert all("exit" not in found.family for found in verdict.findings)


def verdicts(command: str, output: str) -> tuple[Verdict, ...]:
    return read_verdicts(parse_command(command), output=output, exit_code=0, status="ok")
