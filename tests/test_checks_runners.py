"""Is each runner's own report understood: did it pass, how many, and what kind of trouble was it?"""

from __future__ import annotations

import pytest

from helix_episodes.extraction.checks import Verdict, read_verdicts
from helix_episodes.extraction.shell.commands import parse_command
from runner_outputs import FAILING, PASSING, Case
from whole_tables import each_row


@pytest.mark.parametrize("case", FAILING, ids=lambda case: f"{case.check}-{case.families[0]}")
@pytest.mark.parametrize("piped", [False, True], ids=["flagged", "piped"])
def test_a_failure_is_read(*, case: Case, piped: bool) -> None:
    command = f"{case.command} 2>&1 | tail -50" if piped else case.command
    (verdict,) = verdicts(command, case.output, exit_code=0 if piped else 1)
    assert verdict.check == case.check
    assert verdict.passed is False
    assert [found.family for found in verdict.findings] == case.families
    assert verdict.failed_count == case.failed
    if not piped:
        assert verdict.passed_count == case.passed
    assert verdict.quote
    assert all(found.message for found in verdict.findings)


@each_row(("command", "output"), PASSING)
def test_a_pass_is_read_even_when_the_exit_status_is_hidden(command: str, output: str) -> None:
    (verdict,) = verdicts(f"{command} 2>&1 | tail -50", output, exit_code=0)
    assert verdict.passed is True
    assert not verdict.findings


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("go test ./... | grep -c x", "17\n"),
        ("pytest | head -3", "FAILED? no: error in the documentation, 3 failed attempts\n"),
        ("npm run lint | tail -1", "there was an error, but not in lint: 0 errors\n"),
        ("golangci-lint run | head -1", 'level=error msg="something failed"\n'),
    ],
)
def test_words_alone_decide_nothing(command: str, output: str) -> None:
    (verdict,) = verdicts(command, output, exit_code=0)
    assert verdict.passed is None


def verdicts(command: str, output: str, *, exit_code: int | None) -> tuple[Verdict, ...]:
    status = "unknown" if exit_code is None else "error" if exit_code else "ok"
    return read_verdicts(parse_command(command), output=output, exit_code=exit_code, status=status)
