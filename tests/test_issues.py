"""What keeps failing here, what did it cost, what repaired it, and what do people say of it?"""

from __future__ import annotations

import json
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from helix_cli.app import cli
from helix_episodes.errors import NotFound
from helix_graph import Memory
from helix_graph.issues.model import remedy_sentence, remedy_words, repair_words, repaired_words
from helix_graph.rules.staged import AcceptedRule, accept, accepted_rules
from session_script import BEGIN, Script
from thoroughness import few_rows

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from helix_graph.issues.model import Issue

UNFORMATTED = "src/cart.ts format ━━━\n\n  Formatter would have printed the following content:\n\nFound 1 error."
FORMATTED = "Checked 3 files in 5ms. No fixes applied."
WRAPPER = "error: unrecognized subcommand 'bun'"
FAILS = "--- FAIL: {} (0.01s)\n    cart_test.go:12: got 3\nFAIL\tshop/api\t0.1s"
RUST_PASSES = "running 1 test\ntest x ... ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured"
PASSES = "ok  \tshop/api\t0.1s"


def begun(number: int) -> Script:
    return Script(f"s{number:02}", begin=BEGIN + timedelta(days=number)).prompt("Add totals").edit("api/cart.go")


def formatted(number: int, *, fix: str = "bun run lint:fix") -> Script:
    log = begun(number).run("biome check src", UNFORMATTED, code=1)
    return log.run(f"cd web && {fix} 2>&1", FORMATTED).run("biome check src", FORMATTED)


def checked(number: int, *, failing: str = "") -> Script:
    log = begun(number)
    if failing:
        log = log.run("go test ./...", FAILS.format(failing), code=1).edit("api/cart.go")
    return log.run("go test ./...", PASSES)


def remembered(folder: Path, logs: Sequence[Script]) -> Memory:
    memory = Memory.init(folder)
    memory.extract([log.save(folder / "logs") for log in logs])
    memory.graph.compile()
    return memory


def only(found: Sequence[Issue], title: str) -> Issue:
    (one,) = [each for each in found if each.title == title]
    return one


def test_the_issue_of_most_sessions_comes_first_and_never_repaired_ones_count(tmp_path: Path) -> None:
    logs = [formatted(0), formatted(1, fix="npx biome check --write src"), formatted(2)]
    logs += [begun(n).run("rtk bun run test", WRAPPER, code=2).prompt("Go on").run("ls") for n in range(3, 7)]
    found = remembered(tmp_path, logs).issues.list()
    assert [one.sessions for one in found.issues] == [4, 3]
    wrapper, format_ = found.issues
    assert (wrapper.repaired, wrapper.remedy, wrapper.message) == (0, None, WRAPPER)
    assert (format_.repaired, format_.verified, format_.steps, format_.minutes) == (3, 3, 5.0, 5.0)
    assert format_.remedy is not None
    assert remedy_words(format_.remedy) == "run bun run lint:fix (2 of 3)"


def test_one_group_stands_for_failures_that_differ_from_session_to_session(tmp_path: Path) -> None:
    logs = [checked(n, failing=f"Test{name}") for n, name in enumerate(("Add", "Sum", "Tax"))]
    (one,) = remembered(tmp_path, logs).issues.list().issues
    assert (one.kind, one.title, one.kinds, one.sessions) == ("group", "go test: test failed", 3, 3)


def test_what_differs_in_two_sessions_is_one_group(tmp_path: Path) -> None:
    one, other = (begun(n).run("acme up", f"no matches found: {word}?x", code=1) for n, word in enumerate(("ab", "cd")))
    (row,) = remembered(tmp_path, [one, other]).issues.list().issues
    assert (row.kind, row.sessions, row.runs) == ("group", 2, 2)


def test_what_a_forked_session_repeats_counts_once(tmp_path: Path) -> None:
    fork = Script("s09", begin=BEGIN).prompt("Add totals").edit("api/cart.go").run("acme up", "error: busy", code=1)
    again = begun(0).run("acme up", "error: busy", code=1)
    assert remembered(tmp_path, [fork, again]).issues.list().issues == ()


def test_a_silenced_check_is_a_habit_and_no_remedy(tmp_path: Path) -> None:
    complains = "cart.go:3:1: Error return value of `f.Close` is not checked (errcheck)"
    logs = []
    for n in range(2):
        log = begun(n).run("golangci-lint run", complains, code=1)
        logs.append(
            log.edit("cart.go", "f.Close()", "f.Close() //nolint:errcheck").run("golangci-lint run", "0 issues.")
        )
    (one,) = remembered(tmp_path, logs).issues.list().issues
    assert (one.suppressed, one.remedy, one.repaired) == (2, None, 2)
    assert repaired_words(one) == "repaired 0 of 2, silenced 2"


def test_what_was_edited_as_well_as_silenced_counts_as_repaired(tmp_path: Path) -> None:
    both = "".join(f"{file}.go:3:1: Error return value of `f.Close` is not checked (errcheck)\n" for file in ("a", "b"))
    logs = []
    for n, repair in enumerate(("f.Close() //nolint:errcheck", "return f.Close()")):
        log = begun(n).run("golangci-lint run", both, code=1).edit("a.go", "f.Close()", "f.Close() //nolint:errcheck")
        logs.append(log.edit("b.go", "f.Close()", repair).run("golangci-lint run", "0 issues."))
    (one,) = remembered(tmp_path, logs).issues.list().issues
    assert (one.suppressed, one.repaired, repaired_words(one)) == (1, 2, "repaired 1 of 2, silenced 1")


def test_what_worked_instead_counts_sessions_where_one_met_the_failure_twice(tmp_path: Path) -> None:
    logs = []
    for n in range(3):
        log = begun(n)
        for _ in range(2 if n else 1):
            log = log.run("rtk bun run test", WRAPPER, code=2).run("bun run test", "3 pass\n0 fail\nRan 3 tests")
        logs.append(log)
    (one,) = remembered(tmp_path, logs).issues.list().issues
    assert (one.occurrences, one.sessions, one.repaired) == (5, 3, 5)
    assert repaired_words(one) == "avoided by another command in 3 of 3 sessions"
    assert remedy_sentence(one) == "What worked instead: bun run test (3 of 3 sessions)"


def test_what_worked_instead_is_the_same_in_the_list_and_in_the_issue(tmp_path: Path) -> None:
    no_rule = "make: *** No rule to make target 'test'.  Stop."
    logs = [begun(n).run("make test", no_rule, code=2).run("pytest -q", "3 passed in 0.1s") for n in range(3)]
    memory = remembered(tmp_path, logs)
    (one,) = memory.issues.list().issues
    assert one.remedy is not None
    assert (remedy_words(one.remedy), one.remedy.verified, one.repaired) == ("run pytest -q instead (3 of 3)", 3, 0)
    details = memory.issues.show(one.id)
    assert (details.issue, details.remedies) == (one, (one.remedy,))
    assert [met.instead for met in details.occurrences] == ["pytest -q"] * 3


def test_of_different_commands_that_worked_instead_it_says_what_they_have_in_common(tmp_path: Path) -> None:
    no_lib = "error: no library targets found in package `shop`"
    logs = [
        begun(n).run(f"cargo test --lib {test}", no_lib, code=101).run(f"cargo test {test}", RUST_PASSES)
        for n, test in enumerate(("cart::sums", "tax::rates"))
    ]
    memory = remembered(tmp_path, logs)
    (one,) = memory.issues.list().issues
    each = "cargo test cart::sums in 1, cargo test tax::rates in 1"
    assert repair_words(one) == f"What worked instead: to leave out --lib (2 of 2 sessions; {each})"
    assert repaired_words(one) == "avoided by another command in 2 of 2 sessions"
    (remedy,) = memory.issues.show(one.id).remedies
    assert remedy_words(remedy) == f"to leave out --lib (2 of 2; {each})"


def test_of_calls_that_were_put_right_each_in_its_own_way_it_says_what_they_have_in_common(tmp_path: Path) -> None:
    logs = []
    for number, field in enumerate(("title", "body")):
        log = begun(number).run(f"gh pr view {number} --json {field},threads", 'Unknown JSON field: "threads"', code=1)
        logs.append(log.run(f"gh pr view {number} --json {field}", "{}"))
    (one,) = remembered(tmp_path, logs).issues.list().issues
    assert one.repaired == 2
    assert repair_words(one).startswith("What worked instead: to leave out threads (2 of 2 sessions; ")


def test_a_command_that_failed_in_most_sessions_is_an_anti_pattern_and_what_was_seen_of_ci_is_none(
    tmp_path: Path,
) -> None:
    jobs = "lint\tfail\t7m31s\thttps://github.com/o/shop/actions/runs/1/job/2\t\n"
    logs = [
        begun(n).run("make deploy", "error: no space left", code=2).run("gh pr checks 7", jobs, code=1)
        for n in range(4)
    ]
    memory = remembered(tmp_path, logs)
    assert "CI" in {one.check for one in memory.issues.list(by="issue").issues}
    actions = {row.action for row in memory.causality.survey().patterns if row.level == "command"}
    assert actions == {"run make deploy (error: no space left)"}


def test_a_command_with_another_option_is_the_same_fix(tmp_path: Path) -> None:
    logs = [formatted(n, fix=fix) for n, fix in enumerate(("bun run lint:fix", "bun run lint:fix --all"))]
    (one,) = remembered(tmp_path, logs).issues.list().issues
    assert repair_words(one) == "Best remedy: run bun run lint:fix (2 of 2)"


def test_where_sessions_fixed_it_in_other_files_each_is_named(tmp_path: Path) -> None:
    logs = []
    for number, path in enumerate(("api/tax.go", "api/sums.go")):
        log = begun(number).run("go test ./...", FAILS.format("TestAdd"), code=1).edit(path)
        logs.append(log.run("go test ./...", PASSES))
    (one,) = remembered(tmp_path, logs).issues.list().issues
    assert repair_words(one) == "No common fix: sums.go in one, tax.go in the other"


def test_runs_of_the_session_that_has_it_again_do_not_make_it_quiet_before(tmp_path: Path) -> None:
    again = checked(1, failing="TestAdd")
    for _ in range(30):
        again = again.run("go test ./...", PASSES)
    (one,) = remembered(tmp_path, [checked(0, failing="TestAdd"), again]).issues.list().issues
    assert one.state == "recurring"


def test_the_list_says_how_often_a_marker_silenced_what_was_repaired_too(tmp_path: Path) -> None:
    complains = "cart.go:3:1: Error return value of `f.Close` is not checked (errcheck)"
    logs = []
    for n in range(5):
        new = "f.Close() //nolint:errcheck" if n < 3 else "_ = f.Close()"
        log = begun(n).run("golangci-lint run", complains, code=1).edit("cart.go", "f.Close()", new)
        logs.append(log.run("golangci-lint run", "0 issues."))
    (one,) = remembered(tmp_path, logs).issues.list().issues
    assert remedy_sentence(one) == "Repaired by an edit of the file that it names (2 of 5; silenced 3 times)"


def test_an_issue_that_was_repaired_once_says_by_what(tmp_path: Path) -> None:
    log = begun(0).run("go test ./...", FAILS.format("TestAdd"), code=1).edit("api/tax.go").edit("api/sums.go")
    memory = remembered(tmp_path, [log.run("go test ./...", PASSES), begun(1)])
    details = memory.issues.show(memory.issues.list(by="issue").issues[0].id)
    assert repair_words(details.issue) == "Repaired by: edit api/tax.go, api/sums.go (1 of 1)"


@pytest.mark.parametrize(
    ("failing", "state"),
    few_rows(
        [
            ((29,), "new"),
            ((0, 3), "quiet"),
            ((0, 3, 6, 29), "regressed"),
            ((20, 29), "recurring"),
            ((5,), "quiet"),
        ],
        3,
    ),
)
def test_the_state_counts_runs_of_the_check(tmp_path: Path, failing: tuple[int, ...], state: str) -> None:
    logs = [checked(n, failing="TestAdd" if n in failing else "") for n in range(30)]
    (one,) = remembered(tmp_path, logs).issues.list(by="issue").issues
    assert (one.state, one.unit) == (state, "runs")


def test_new_issues_are_listed_when_asked_for(tmp_path: Path) -> None:
    log = Script("s0").prompt("Deploy").run("acme deploy", "fatal: no credentials for acme", code=1).prompt("Go on")
    issues = remembered(tmp_path, [log]).issues
    assert issues.list().issues == ()
    assert [one.state for one in issues.list(state="new").issues] == ["new"]


def test_what_a_person_says_of_an_issue_survives_a_compile_and_is_forgotten_with_the_session(tmp_path: Path) -> None:
    memory = remembered(tmp_path, [formatted(0), formatted(1)])
    name = memory.issues.list().issues[0].id
    assert memory.issues.mute(name[:6], reason="known since s01").state == "muted"
    memory.graph.path_of_file.unlink()
    memory.graph.compile()
    assert (memory.issues.list().issues, memory.issues.list().hidden) == ((), 1)
    assert memory.issues.list(every=True).issues[0].reason == "known since s01"
    memory.forget(["s01"])
    assert list((tmp_path / ".helix" / "causality" / "assertions").glob("*.json")) == []


def test_forgetting_takes_what_people_said_of_the_sessions_own_issues_and_in_its_words(tmp_path: Path) -> None:
    own = begun(5).run("go test ./...", FAILS.format("TestGuillotine"), code=1).edit("api/guillotine_of_hall_seven.go")
    memory = remembered(tmp_path, [formatted(0), formatted(1), own])
    issues = {one.title: one.id for one in memory.issues.list(by="issue").issues}
    (kept,) = (name for title, name in issues.items() if title.startswith("biome"))
    for title, name in issues.items():
        if not title.startswith("biome"):
            memory.issues.mute(name, reason="not that of ours")
    memory.issues.mute(kept, reason="as in api/guillotine_of_hall_seven.go")
    memory.issues.resolve(kept, reason="done at last")
    for name, sentence in (("plain", "Format first"), ("theirs", "Not as in api/guillotine_of_hall_seven.go")):
        accept(memory.root, AcceptedRule(id=name, sentence=sentence, issue=kept, at="2026-03-01T00:00:00Z"))
    report = memory.forget(["s05"])
    assert report.proof is not None
    assert (report.proof.left, len(report.assertions)) == ((), len(issues))
    (statement,) = (tmp_path / ".helix" / "causality" / "assertions").glob("*.json")
    assert "done at last" in statement.read_text()
    graph = memory.graph.path_of_file.read_bytes()
    assert b"done at last" in graph
    assert not {word for word in (b"not that of ours", b"guillotine_of_hall") if word in graph}
    assert [rule.id for rule in accepted_rules(memory.root)] == ["plain"]


def test_forgetting_keeps_rules_of_remaining_sessions_also_where_the_graph_was_deleted(tmp_path: Path) -> None:
    memory = remembered(tmp_path, [formatted(0), formatted(1), begun(5).edit("api/guillotine.go")])
    issue = memory.issues.list(by="issue").issues[0].id
    accept(memory.root, AcceptedRule(id="kept", sentence="Format first", issue=issue, at="2026-03-01T00:00:00Z"))
    memory.graph.path_of_file.unlink()
    memory.forget(["s05"])
    assert [rule.id for rule in accepted_rules(memory.root)] == ["kept"]


def test_a_resolved_issue_that_a_later_session_meets_has_regressed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = remembered(tmp_path, [formatted(0), formatted(1)])
    name = memory.issues.list().issues[0].id
    monkeypatch.setattr("helix_graph.graph.assertions.now", (BEGIN + timedelta(days=5)).isoformat)
    assert memory.issues.resolve(name).state == "resolved"
    memory.extract([formatted(9).save(tmp_path / "logs")])
    memory.graph.compile()
    assert memory.issues.show(name).issue.state == "regressed"
    assert memory.issues.unmute(name).state == "recurring"


def test_an_issue_shows_every_occurrence_with_its_line_and_what_was_meant_to_fail(tmp_path: Path) -> None:
    first = Script("s00").prompt("Add").write("api/cart_test.go").run("go test ./...", FAILS.format("TestAdd"), code=1)
    logs = [first.edit("api/cart.go").run("go test ./...", PASSES), checked(1, failing="TestAdd")]
    memory = remembered(tmp_path, logs)
    details = memory.issues.show(memory.issues.list(by="issue").issues[0].id)
    assert [(one.session, one.line, one.deliberate, one.repaired) for one in details.occurrences] == [
        ("s00", 5, True, True),
        ("s01", 5, False, True),
    ]
    assert (details.issue.occurrences, details.occurrences[1].changes) == (1, ("edit api/cart.go",))


def test_failures_add_up_by_file_and_by_author_too(tmp_path: Path) -> None:
    logs = [begun(n).run("golangci-lint run", "api/cart.go:3:1: unused (unused)", code=1) for n in range(2)]
    memory = remembered(tmp_path, logs)
    assert [(one.title, one.sessions) for one in memory.issues.list(by="file").issues] == [("api/cart.go", 2)]
    assert [(one.title, one.occurrences) for one in memory.issues.list(by="author").issues] == [("you", 2)]


def test_the_command_lists_shows_and_refuses_unknown_ids(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = remembered(tmp_path, [formatted(0), formatted(1)])
    monkeypatch.chdir(tmp_path)
    name = json.loads(CliRunner().invoke(cli, ["issues", "--json"]).output)["issues"][0]["id"]
    listed = CliRunner().invoke(cli, ["issues"]).output
    assert "2 of 2" in listed
    assert 'best remedy: run "bun run lint:fix" (2 of 2)' in listed
    assert 'shown by "biome passes' in CliRunner().invoke(cli, ["issues", "show", name]).output
    with pytest.raises(NotFound, match="lists the ids"):
        memory.issues.show("0000")


def test_the_command_says_that_another_command_did_the_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = begun(0).run("cat -A a.ts | sed -n '1,9p'", "cat: illegal option -- A\nusage: cat", code=1)
    memory = remembered(tmp_path, [log.run("sed -n '1,9p' a.ts | cat -v", "x = 1").edit("a.ts").edit("b.ts")])
    (issue,) = memory.issues.list(by="issue").issues
    monkeypatch.setenv("HELIX_DIR", str(memory.root))
    shown = CliRunner().invoke(cli, ["issues", "show", issue.id], catch_exceptions=False).output
    assert "went on with another command" in shown
    assert "1 step" in shown


def test_a_failed_command_is_called_after_the_part_that_complains(tmp_path: Path) -> None:
    log = begun(0).run("sed -n '1,9p' a.ts | cat -A", "cat: illegal option -- A\nusage: cat", code=1)
    history = "3af4a879 Strict settings\n469cb2ee Fix broken import path and missing argument"
    log = log.run("git log --oneline main..HEAD && ls .git/a 2>/dev/null || ls .git/b 2>/dev/null", history, code=2)
    issues = remembered(tmp_path, [log]).issues.list(by="issue").issues
    assert {(one.title, one.message) for one in issues} == {
        ("cat: unknown option", "cat: illegal option -- A"),
        ("ls", "exit code 2"),
    }


def test_a_connection_that_several_commands_lack_is_named_and_is_no_other_programs(tmp_path: Path) -> None:
    away = (
        "ssh: connect to host git.example port 22: Operation timed out\nfatal: Could not read from remote repository."
    )
    logs = [begun(number).run("git pull --rebase", away, code=1) for number in (1, 2)]
    memory = remembered(tmp_path, [*logs, begun(3).run("git push", away, code=1)])
    assert [one.title for one in memory.issues.list().issues] == ["git pull and git push: connection failed"]
    assert memory.graph.seen("npm error network request failed: connect ECONNREFUSED").precedents == ()


def test_issues_of_one_group_are_told_apart_by_their_test_or_file(tmp_path: Path) -> None:
    failing = (
        "____ test_{0} ____\nE       assert 1 == 2\n\ntests/test_cart.py:9: AssertionError\n"
        "FAILED tests/test_cart.py::test_{0} - assert 1 == 2\n1 failed in 0.1s"
    )
    logs = [
        begun(n).run("pytest", failing.format(name), code=1).edit("api/cart.py").run("pytest", "1 passed in 0.1s")
        for n, name in enumerate(("total", "total", "tax", "tax"))
    ]
    logs.append(begun(4).edit_fails("api/cart.go").edit("api/cart.go"))
    titles = {one.title for one in remembered(tmp_path, logs).issues.list(by="issue").issues}
    assert titles == {
        "pytest: AssertionError in test_total",
        "pytest: AssertionError in test_tax",
        "Edit: text not found in cart.go",
    }


def test_to_try_again_is_no_remedy(tmp_path: Path) -> None:
    logs = [begun(n).edit_fails("api/tax.go").edit("api/tax.go") for n in range(3)]
    memory = remembered(tmp_path, logs)
    (one,) = memory.issues.list().issues
    assert (one.repaired, one.remedy) == (3, None)
    details = memory.issues.show(one.id)
    assert repair_words(details.issue) == "Got past by calling the tool again (3 of 3)"


@pytest.mark.parametrize(
    ("edited", "words"),
    [
        (("api/cart_test.go",), "Fixed in different ways; in 2 of 3 only the test itself was edited"),
        (("api/cart_test.go", "api/cart.go"), "Best remedy: edit api/cart.go (2 of 3)"),
    ],
)
def test_to_edit_the_failing_test_is_no_remedy(tmp_path: Path, edited: tuple[str, ...], words: str) -> None:
    logs = []
    for number, name in enumerate(("TestAdd", "TestSum", "TestTax")):
        log = begun(number).run("go test ./...", FAILS.format(name), code=1)
        for path in edited if number else ("api/tax.go",):
            log = log.edit(path)
        logs.append(log.run("go test ./...", PASSES))
    (one,) = remembered(tmp_path, logs).issues.list().issues
    assert (one.repaired, repair_words(one)) == (3, words)


def test_a_remedy_shows_the_edit_that_speaks_of_the_failure(tmp_path: Path) -> None:
    fails = FAILS.format("TestAdd").replace("got 3", "branch sessions should exist after condensation")
    log = begun(0).run("go test ./...", fails, code=1)
    log = log.edit("api/cart_test.go", '"testing"', '"testing"\n\n\t"shop/paths"')
    log = log.edit("api/cart_test.go", "if !exists(sessions) {", "if !exists(paths.Branch) { // after condensation")
    memory = remembered(tmp_path, [log.run("go test ./...", PASSES)])
    (remedy,) = memory.issues.show(memory.issues.list(by="issue").issues[0].id).remedies
    assert remedy.diff == ("-if !exists(sessions) {", "+if !exists(paths.Branch) { // after condensation")


def test_what_stands_out_shows_added_lines_of_a_long_repair_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fails = FAILS.format("TestAdd").replace("got 3", "the total of a cart is not rounded")
    old = "\n".join(f"total = total + price_{n}; # not rounded" for n in range(6))
    new = "total = rounded(prices)\nreturn total; # of a cart"
    logs = [begun(n).run("go test ./...", fails, code=1).edit("api/cart.go", old, new) for n in range(3)]
    memory = remembered(tmp_path, [log.run("go test ./...", PASSES) for log in logs])
    monkeypatch.setenv("HELIX_DIR", str(memory.root))
    lines = CliRunner().invoke(cli, [], catch_exceptions=False).output.splitlines()
    assert [line for line in lines if line.startswith(("    - ", "    + "))] == [
        '    - "total = total + price_0; # not rounded"',
        '    - "total = total + price_1; # not rounded"',
        '    + "total = rounded(prices)"',
        '    + "return total; # of a cart"',
    ]


def test_it_says_how_many_of_the_repairs_were_seen_to_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = "a.py:1:1: E501 Line too long (99 > 88)\nFound 1 error."
    other = "b.py:2:1: F401 `os` imported but unused\nFound 1 error."
    logs = [begun(n).run("ruff check .", wrong, code=1).edit("a.py") for n in range(3)]
    logs = [
        logs[0].run("ruff check .", "All checks passed!"),
        *(log.run("ruff check .", other, code=1) for log in logs[1:]),
    ]
    memory = remembered(tmp_path, logs)
    name = only(memory.issues.list(by="issue").issues, "ruff: E501").id
    (remedy,) = memory.issues.show(name).remedies
    monkeypatch.setenv("HELIX_DIR", str(memory.root))
    shown = CliRunner().invoke(cli, ["issues", "show", name], catch_exceptions=False).output
    assert (remedy.times, remedy.verified) == (3, 1)
    assert "(3 sessions, 1 of 3 verified; " in shown


def test_a_filter_leaves_no_number_of_failures(tmp_path: Path) -> None:
    logs = [
        begun(n).run(f"go test ./...{end}", FAILS.format("TestAdd"), code=1) for n, end in enumerate(("", "|tail -9"))
    ]
    found = remembered(tmp_path, logs).episodes.list()
    assert [one.events[-1].content for one in found] == [
        "go test fails: test failed",
        "go test fails: test failed (1 failed)",
    ]
