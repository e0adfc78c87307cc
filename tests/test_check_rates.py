"""After what kind of change does a check fail more often, and how sure is that?"""

from __future__ import annotations

import json
import random
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from helix_cli.app import run
from helix_graph import Memory
from helix_graph.hook_caches import fragile_line, write_anti_patterns
from helix_graph.stats.intervals import pooling_strength, predictive_range, shrunk_rate, usual_rate
from hook_calls import call
from session_script import BEGIN, Script

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

FAILS = "--- FAIL: TestTotal (0.01s)\n    cart_test.go:12: got 3\nFAIL\tshop/api\t0.1s"
PASSES = "ok  \tshop/api\t0.1s"
LINTS = "api/cart.go:3:2: Error return value is not checked (errcheck)\n1 issues:\n* errcheck: 1"


def session(number: int, path: str, *, fails: bool, edits: int = 1) -> Script:
    """A file is changed, ``go test`` runs; where it fails, once more in vain and then after another change."""
    log = Script(f"s{number:02}", begin=BEGIN + timedelta(days=number)).prompt("Add totals")
    for _ in range(edits):
        log.edit(path)
    if fails:
        log.run("go test ./...", FAILS, code=1).run("go test ./...", FAILS, code=1).edit("api/total.go")
    return log.run("go test ./...", PASSES)


def memory_of(folder: Path, logs: Iterable[Script]) -> Memory:
    memory = Memory.init(folder)
    (folder / "logs").mkdir(parents=True)
    memory.extract([log.save(folder / "logs") for log in logs])
    memory.graph.compile()
    return memory


def many(sessions: int) -> list[Script]:
    """Of ``sessions`` every other changes ``api/``, where two of three runs fail, and elsewhere none does."""
    return [
        session(n, f"api/cart{n % 4}.go" if n % 2 else f"web/page{n % 4}.go", fails=bool(n % 2 and n % 3))
        for n in range(sessions)
    ]


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Memory:
    return memory_of(tmp_path_factory.mktemp("checks"), many(36))


@pytest.fixture
def ask(memory: Memory, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    def asked(*arguments: str) -> str:
        monkeypatch.setenv("HELIX_DIR", str(memory.root))
        run(arguments)
        return capsys.readouterr().out

    return asked


def test_a_linters_failure_counts_for_the_files_that_it_names(tmp_path: Path) -> None:
    """Both files are changed before each run, and only the one is complained of."""
    logs = []
    for number in range(8):
        log = Script(f"s{number}", begin=BEGIN + timedelta(days=number)).prompt("Totals").edit("api/cart.go")
        logs.append(log.edit("api/total.go").run("golangci-lint run", LINTS, code=1).edit("api/cart.go", "b", "c"))
        log.run("golangci-lint run", "0 issues.").edit("api/total.go", "c", "d").run("golangci-lint run", "0 issues.")
    found = memory_of(tmp_path, logs).causality.checks(everything=True).checks[0]
    counts = {row.value: (row.failed, row.runs) for row in found.situations if row.dimension in {"file", "folder"}}
    assert counts == {"api": (8, 16), "api/cart.go": (8, 8), "api/total.go": (0, 8)}


def test_fresh_runs_are_counted_and_what_fails_more_is_named_once(memory: Memory) -> None:
    (check,) = memory.causality.checks().checks
    assert (check.check, check.runs, check.fresh, check.fresh_failed) == ("go test", 36 + 2 * 12, 36, 12)
    worse = [row for row in check.situations if row.standing == "worse"]
    (row,) = worse
    assert (row.after, row.failed, row.runs) == ("a change in api/", 12, 18)
    assert (row.failed_elsewhere, row.runs_elsewhere) == (0, 18)
    assert row.worse_in_both_halves is True
    assert row.rate is not None
    assert row.next_failed is not None
    assert 12 / 36 < row.rate < 12 / 18, "drawn towards the check's own rate"
    assert row.next_failed[0] <= 6 <= row.next_failed[1]
    assert len(row.failures) == 5
    assert all(one.line and one.log for one in row.failures)


def test_below_thirty_sessions_there_are_counts_and_no_rates(tmp_path: Path) -> None:
    report = memory_of(tmp_path, many(20)).causality.checks()
    assert not report.enough
    rows = [row for check in report.checks for row in check.situations]
    assert [(row.after, row.failed, row.runs) for row in rows] == [("a change in api/", 7, 10)]
    assert {(row.rate, row.next_failed, row.standing) for row in rows} == {(None, None, "counts only")}


def test_the_command_prints_what_the_library_answers(memory: Memory, ask: Callable[..., str]) -> None:
    text, found = ask("checks"), json.loads(ask("checks", "--json"))
    assert found["checks"][0]["situations"][0]["after"] == "a change in api/"
    assert "a change in api/" in text
    assert "12 of 18" in text
    assert "0 of 18" in text
    assert memory.causality.checks(everything=True).checks[0].situations[-1].standing == "better"


def test_a_task_that_names_its_linter_only_when_it_fails_is_one_check(tmp_path: Path) -> None:
    complaint = (
        "src/a.ts:1:1 lint/style/useConst ━━━━━━━━━━\n\nChecked 3 files in 9ms. No fixes applied.\nFound 1 error."
    )
    logs = []
    for number in range(6):
        log = Script(f"s{number}", begin=BEGIN + timedelta(days=number)).prompt("Add totals").edit("src/a.ts")
        if number % 2:
            log.run("npm run check", complaint, code=1).edit("src/a.ts")
        logs.append(log.run("npm run check"))
    (check,) = memory_of(tmp_path, logs).causality.checks().checks
    assert (check.check, check.fresh_failed, check.fresh) == ("npm check", 3, 6)


def test_fragile_places_say_why_and_what_passed_there(memory: Memory, ask: Callable[..., str]) -> None:
    (place,) = memory.causality.fragile().places
    assert place.sentence() == (
        "go test failed in 12 of 18 runs after a change in api/; elsewhere 0 of 18. "
        "It passed again after a change of api/total.go (12 of 12)."
    )
    assert place.sentence() in ask("fragile")
    assert "api/cart1.go" in ask("fragile", "api/cart1.go")
    assert ask("fragile", "docs/none.md").startswith("Nothing stands out in docs/none.md")


def test_a_hook_gets_the_line_of_a_file_from_one_small_file(memory: Memory) -> None:
    assert fragile_line(memory.root, "api/cart1.go") == "", "nothing is prepared yet"
    write_anti_patterns(memory.root, memory.causality)
    assert fragile_line(memory.root, "api/new.go").startswith("go test failed in 12 of 18 runs after a change in api/")
    assert fragile_line(memory.root, "web/page0.go") == ""


def test_before_an_edit_the_agent_gets_the_line_once_a_session_and_file(memory: Memory) -> None:
    write_anti_patterns(memory.root, memory.causality)
    project = memory.root.parent

    def asked(path: str, tool: str = "Edit", session: str = "one") -> str:
        told = {"session_id": session, "cwd": str(project), "tool_name": tool}
        return call("pre-tool", {**told, "tool_input": {"file_path": str(project / path)}}).context

    assert "go test failed in 12 of 18 runs after a change in api/" in asked("api/cart1.go")
    assert asked("api/cart1.go") == "", "it has been said"
    assert "go test failed" in asked("api/cart2.go")
    assert "go test failed" in asked("api/cart1.go", session="another")
    assert asked("web/page0.go") == ""
    assert asked("api/cart3.go", tool="Read") == ""


def test_files_changed_together_and_what_followed_when_one_was_left_out(tmp_path: Path) -> None:
    logs = []
    for number in range(12):
        log = Script(f"s{number:02}", begin=BEGIN + timedelta(days=number)).prompt("Add totals")
        if number < 4:
            log.edit("db/schema.sql").edit("db/model.go").run("go test ./...", PASSES)
        elif number < 6:
            log.edit("db/schema.sql").run("go test ./...", FAILS, code=1)
            log.edit("db/model.go").run("go test ./...", PASSES)
        else:
            log.edit("web/page.go").edit("web/page_test.go").run("go test ./...", PASSES)
        logs.append(log)
    (pair,) = memory_of(tmp_path, logs).causality.fragile("db/schema.sql").together
    assert (pair.file, pair.other, pair.together, pair.sessions) == ("db/schema.sql", "db/model.go", 6, 6)
    assert (pair.failed_alone, pair.runs_alone) == (2, 2)
    assert (pair.failed_both, pair.runs_both) == (0, 4)


def test_patterns_count_runs_and_none_is_circular(memory: Memory, ask: Callable[..., str]) -> None:
    works, fails = ask("patterns"), ask("anti-patterns")
    assert "12 of 12" in works
    assert "edit other files only" in works
    assert "6 of 18" in fails
    assert "change files in api/" in fails
    rows = memory.causality.survey().patterns
    assert {row.level for row in rows} >= {"change", "answer"}
    assert not [row for row in rows if row.level in {"change", "answer"} and row.action.startswith("run go test")]
    assert not [line for line in (works + fails).splitlines() if line.startswith("too early  ")]
    empty = [name for name in ("adjusted", " q ", "95 %") if name in works.splitlines()[1]]
    assert empty == [], "a column that no row fills is not printed"


def test_the_originals_calls_know_no_runs(memory: Memory) -> None:
    levels = {row["level"] for row in memory.graph.get_patterns()}
    assert levels
    assert levels <= {"family", "check", "task"}
    assert {row["level"] for row in memory.graph.get_anti_patterns()} <= levels


def test_silencing_a_check_is_a_habit_and_no_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    logs = [
        Script(f"s{n}", begin=BEGIN + timedelta(days=n))
        .prompt("Add totals")
        .edit("api/cart.go")
        .run("golangci-lint run", LINTS, code=1)
        .edit("api/cart.go", "load()", "load() //nolint:errcheck")
        .run("golangci-lint run", "0 issues.")
        for n in range(4)
    ]
    monkeypatch.setenv("HELIX_DIR", str(memory_of(tmp_path, logs).root))
    run(["patterns"])
    told = capsys.readouterr().out
    assert "In 4 sessions an edit silenced a check" in told
    assert "suppress a check" not in told


def test_a_runbook_says_how_things_are_run_and_what_fails_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    logs = [
        Script(f"s{n}", begin=BEGIN + timedelta(days=n))
        .prompt("Add totals")
        .edit("api/cart.go")
        .run("rtk bun run test", "error: unrecognized subcommand 'bun'", code=2)
        .run("bun run test", "3 pass\n0 fail\nRan 3 tests across 1 files. [12.00ms]")
        for n in range(4)
    ]
    memory = memory_of(tmp_path, logs)
    monkeypatch.setenv("HELIX_DIR", str(memory.root))
    found = memory.causality.runbook()
    assert [(one.command, one.passed, one.judged) for one in found.usual()] == [("bun run test", 4, 4)]
    (wrong,) = found.corrections
    assert (wrong.command, wrong.instead, wrong.sessions, wrong.worked) == ("rtk bun run test", "bun run test", 4, 4)
    assert run(["runbook", "--markdown"]) == 0
    section = capsys.readouterr().out
    assert "- Test: `bun run test`" in section
    assert "Worked instead: to leave out `rtk`, as in `bun run test`." in section
    (tmp_path / "AGENTS.md").write_text("Test with `rtk bun run test`.\n", encoding="utf-8")
    assert run(["runbook", "--check", str(tmp_path / "AGENTS.md")]) == 1
    told = capsys.readouterr().out
    assert "fails here" in told
    assert "not written" in told
    (tmp_path / "AGENTS.md").write_text(section, encoding="utf-8")
    compared = memory.causality.check_runbook(tmp_path / "AGENTS.md")
    assert [(one.command, one.standing) for one in compared.commands] == [
        ("bun run test", "runs here"),
        ("rtk bun", "noted"),
    ]
    assert run(["runbook", "--check", str(tmp_path / "AGENTS.md")]) == 0
    capsys.readouterr()
    assert run(["runbook", "--check", str(tmp_path / "none.md")]) == 2
    assert "cannot be read" in capsys.readouterr().err


def test_a_task_is_known_in_the_runbook_by_each_of_its_names(tmp_path: Path) -> None:
    logs = [
        Script(f"s{n}", begin=BEGIN + timedelta(days=n))
        .prompt("Add totals")
        .edit("api/cart.go")
        .run("mise run format", "[lint-fix] $ hk fix --all")
        for n in range(3)
    ]
    memory = memory_of(tmp_path, logs)
    file = tmp_path / "AGENTS.md"
    file.write_text("Run `mise run lint-fix` first.\n", encoding="utf-8")
    found = memory.causality.check_runbook(file).commands
    assert [(one.command, one.standing) for one in found] == [("mise run lint-fix", "runs here")]


def test_what_only_shows_another_answer_did_not_work_instead(tmp_path: Path) -> None:
    logs = [
        Script(f"s{n}", begin=BEGIN + timedelta(days=n))
        .prompt("Why does it fail?")
        .run("acme jobs 7", "error: job 7 still runs", code=1)
        .run("acme jobs 7 --json state --jq .state", '"running"')
        .edit("api/cart.go")
        for n in range(3)
    ]
    (wrong,) = memory_of(tmp_path, logs).causality.runbook().corrections
    assert (wrong.command, wrong.instead) == ("acme jobs 7", None)


def test_what_a_forked_session_repeats_is_one_run_of_the_runbook(tmp_path: Path) -> None:
    def begun(name: str, days: int) -> Script:
        log = Script(name, begin=BEGIN + timedelta(days=days)).prompt("Add totals").edit("api/cart.go")
        return log.run("go test ./...", PASSES).run("acme up", "error: busy", code=1)

    logs = [begun("s1", 0), begun("s2", 0).run("go test ./...", PASSES)]
    found = memory_of(tmp_path / "forked", logs).causality.runbook()
    assert [(one.command, one.runs, one.sessions) for one in found.commands] == [("go test ./...", 2, 2)]
    assert found.corrections == ()
    apart = memory_of(tmp_path / "apart", [begun("s1", 0), begun("s2", 1)]).causality.runbook()
    assert [(one.command, one.sessions) for one in apart.corrections] == [("acme up", 2)]


def test_a_check_that_found_something_to_mend_is_no_command_that_fails_here(tmp_path: Path) -> None:
    unformatted = "src/cart.ts format ━━━\n\n  Formatter would have printed the following content:\n\nFound 1 error."
    passes = "Checked 3 files in 5ms. No fixes applied."
    logs = [
        Script(f"s{n}", begin=BEGIN + timedelta(days=n))
        .prompt("Add totals")
        .edit("src/cart.ts")
        .run("bun run lint", f"$ biome check src\n{unformatted}", code=1)
        .run("rtk lint bun run lint" if n == 0 else "bun run lint:fix", passes)
        for n in range(4)
    ]
    found = memory_of(tmp_path, logs).causality.runbook()
    assert "bun run lint" in [one.command for one in found.commands]
    assert found.corrections == ()


@pytest.mark.parametrize("rate", [0.05, 0.2, 0.5])
def test_nine_in_ten_ranges_hold_what_comes_next(rate: float) -> None:
    """Worlds of situations whose true rates scatter about the usual one, and sessions of three runs that are alike."""
    draw = random.Random(20261123)  # noqa: S311  (no secret)

    def sessions(true: float, number: int) -> list[tuple[int, int]]:
        found = []
        for _ in range(number):
            own = draw.betavariate(true * 6, (1 - true) * 6)
            found.append((sum(draw.random() < own for _ in range(3)), 3))
        return found

    kept = tested = 0
    for _ in range(60):
        truths = [draw.betavariate(rate * 10, (1 - rate) * 10) for _ in range(10)]
        seen = [sessions(true, 6) for true in truths]
        usual = usual_rate([one for each in seen for one in each])
        strength = pooling_strength((known, usual.rate) for known in seen)
        for true, known in zip(truths, seen, strict=True):
            low, high = predictive_range(shrunk_rate(known, usual, strength=strength), 18)
            kept += low <= sum(failed for failed, _ in sessions(true, 6)) <= high
            tested += 1
    assert 0.88 <= kept / tested <= 0.97
