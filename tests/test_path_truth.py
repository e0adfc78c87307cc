"""Does a path cite the edit that repaired the error, and the run that shows it?"""

from __future__ import annotations

import json
from contextlib import redirect_stdout
from io import StringIO
from typing import TYPE_CHECKING

import pytest

from helix_cli.commands.paths_and_causes import render_path
from small_worlds import memory_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from helix_episodes.model import Episode
    from helix_graph.graph.path_answer import PathAnswer
    from session_script import Script

    Begin = Callable[..., Script]
    Asked = Callable[..., PathAnswer]

LINT = "golangci-lint run ./..."
LINT_PASSES = "0 issues."
UNUSED = """\
store/store.go:31:6: func findAll is unused (unused)
func findAll(all []Item) []Item {
     ^
1 issues:
* unused: 1"""
GO_PASSES = "ok  \tshop.io/store\t0.31s\nok  \tshop.io/cart\t0.02s"


def go_fails(*tests: str) -> str:
    heads = "".join(f"--- FAIL: {name} (0.01s)\n    store_test.go:9: got 1, want 2\n" for name in tests)
    return f"{heads}FAIL\nFAIL\tshop.io/store\t0.31s\nFAIL"


@pytest.fixture
def asked(tmp_path: Path, episode_of: Callable[[Script], Episode]) -> Asked:
    """The path in a memory of these logs."""

    def ask(*logs: Script, source: str, target: str, **options: object) -> PathAnswer:
        memory = memory_of(tmp_path / "memory", [episode_of(log) for log in logs], compiled=True)
        return memory.graph.path(source=source, target=target, **options)  # type: ignore[arg-type]  # options of the call

    return ask


def lines(answer: PathAnswer) -> list[tuple[str, int | None, int | None]]:
    """What each step leads to, and the lines of its first witness."""
    return [(step.target, step.witnesses[0].source.line, step.witnesses[0].target.line) for step in answer.steps]


def written(answer: PathAnswer) -> str:
    """The text of the edit that the path cites."""
    return next(step.witnesses[0].target.quote for step in answer.steps if step.target.startswith("edit "))


def test_of_several_edits_of_the_file_the_one_that_answers_the_message_is_cited(script: Begin, asked: Asked) -> None:
    log = script("s").prompt("Lint").run(LINT, UNUSED, code=1)
    log = log.edit("store/store.go", "func Redact(", "func String(")
    log = log.edit("store/store.go", "func findAll(all []Item) []Item {\n\treturn all\n}\n\nfunc B() {}", "func B() {}")
    answer = asked(log.run(LINT, LINT_PASSES), source="unused", target="passes")
    assert "String" not in written(answer)
    (edit, _, cited), (passed, begun, _) = lines(answer)
    assert (edit, passed) == ("edit store/store.go", "golangci-lint passes")
    assert cited == begun
    assert cited is not None
    assert cited > 4  # the first edit is on line 4


def test_an_edit_before_the_last_run_that_still_fails_is_not_cited(script: Begin, asked: Asked) -> None:
    log = script("s").prompt("Test").run("go test ./store", go_fails("TestPut"), code=1)
    log = log.edit("store/put.go", "a", "first").run("go test ./store", go_fails("TestPut"), code=1)
    log = log.edit("store/put.go", "b", "second").run("go test ./store", "ok  \tshop.io/store\t0.31s")
    assert written(asked(log, source="TestPut", target="passes")) == "second"


def test_the_pass_of_another_test_is_no_pass_of_the_failed_one(script: Begin, asked: Asked) -> None:
    log = script("s").prompt("Test").run("go test -run TestP ./store", go_fails("TestPut"), code=1)
    log = log.edit("store/other_test.go", "a", "other")
    log = log.run("go test -run '^TestGet$' ./store", "ok  \tshop.io/store\t0.31s")
    log = log.edit("store/put.go", "b", "handler").run("go test -run TestP ./store", "ok  \tshop.io/store\t0.31s")
    answer = asked(log, source="TestPut", target="passes")
    assert written(answer) == "handler"
    assert answer.steps[-1].witnesses[0].target.line == len(log.records)


def test_a_test_that_never_passed_again_leads_to_no_pass(script: Begin, asked: Asked) -> None:
    log = script("s").prompt("Test").run("go test -run TestPut ./store", go_fails("TestPut"), code=1)
    log = log.edit("store/put.go", "b", "c").run("go test -run TestGet ./store", "ok  \tshop.io/store\t0.31s")
    assert not asked(log, source="TestPut", target="go test passes").found


def test_a_cached_result_says_nothing_of_an_edit(script: Begin, asked: Asked) -> None:
    log = (
        script("s").prompt("Test").edit("store/put.go", "b", "c").run("go test ./...", "ok  \tshop.io/store\t(cached)")
    )
    assert not asked(log, source="put.go", target="go test passes").found


def test_a_run_without_the_tag_that_a_test_file_needs_says_nothing_of_it(script: Begin, asked: Asked) -> None:
    log = script("s").prompt("Test").edit("store/integration/put_test.go", "b", "c").run("go test ./...", GO_PASSES)
    log = log.run("go test -tags=integration ./store/integration", "ok  \tshop.io/store/integration\t15.03s")
    answer = asked(log, source="put_test.go", target="passes")
    assert answer.steps[-1].witnesses[0].target.line == len(log.records)


def test_a_run_of_which_only_the_end_is_shown_passes_what_is_in_it(script: Begin, asked: Asked) -> None:
    log = script("s").prompt("Test").edit("store/integration/put_test.go", "b", "c").edit("store/put.go", "b", "c")
    log = log.run("go test ./... | tail -2", GO_PASSES)
    assert not asked(log, source="put_test.go", target="passes").found
    assert asked(log, source="put_test.go", target="passes", resolution="kind").found
    assert asked(log, source="put.go", target="passes").found


def test_a_rule_leads_to_its_own_linters_passing(script: Begin, asked: Asked) -> None:
    log = script("s").prompt("Lint").run(LINT, UNUSED, code=1).edit("store/store.go", "func findAll(", "func used(")
    log = log.run("go test ./...", GO_PASSES).run(LINT, LINT_PASSES)
    answer = asked(log, source="unused", target="passes")
    assert answer.steps[-1].target == "golangci-lint passes"
    assert asked(log, source="unused", target="go test passes").steps[-1].target == "go test passes"


def test_a_failing_check_is_meant_before_a_call_that_failed(script: Begin, asked: Asked) -> None:
    log = script("s").prompt("Build").edit_fails("store/setup.go").edit("store/setup.go", "a", "Item{}")
    log = log.run("go build ./...", "# shop.io/store\nstore/setup.go:3:1: undefined: Item", code=1)
    assert asked(log, source="setup.go", target="fails").steps[-1].target.startswith("go build fails")
    only = script("t").prompt("Edit").edit("store/left.go", "a", "b").edit_fails("store/left.go")
    assert asked(log, only, source="Edit fails", target="fails").found


def test_a_change_that_left_the_linter_failing_does_not_lead_to_its_pass(script: Begin, asked: Asked) -> None:
    other = "store/store.go:40:9: G306: Expect WriteFile permissions to be 0600 or less (gosec)\n1 issues:\n* gosec: 1"
    log = script("s").prompt("Lint").run(LINT, UNUSED, code=1).edit("store/store.go", "func findAll(", "func used(")
    log = log.run(LINT, other, code=1).edit("store/store.go", "0644", "0600").run(LINT, LINT_PASSES)
    assert not asked(log, source="unused", target="passes").found
    assert asked(log, source="gosec", target="passes").found


def test_a_file_written_anew_with_a_marker_it_had_already_suppresses_nothing(script: Begin, asked: Asked) -> None:
    marked = "package store\n\nfunc a() {} //nolint:unused // kept\n"
    log = script("s").prompt("Lint").write("store/store.go", marked).run(LINT, UNUSED, code=1)
    log = log.write("store/store.go", f"{marked}\nfunc used() {{}}\n").run(LINT, LINT_PASSES)
    answer = asked(log, source="unused", target="passes")
    assert [step.target for step in answer.steps] == ["create store/store.go", "golangci-lint passes"]


def test_a_file_written_over_carries_the_markers_that_it_had(script: Begin, asked: Asked) -> None:
    marked = "package store\n\nfunc a() {} //nolint:unused // kept\n"
    log = script("s").prompt("Lint").write("store/store.go", marked).run(LINT, UNUSED, code=1)
    over = {"file_path": "/work/shop/store/store.go", "content": f"{marked}\nfunc used() {{}}\n"}
    log = log.call("Write", over, output="The file has been updated.", result={"type": "update"}).run(LINT, LINT_PASSES)
    answer = asked(log, source="unused", target="passes")
    assert [step.target for step in answer.steps] == ["edit store/store.go", "golangci-lint passes"]


def test_a_line_that_was_moved_with_its_marker_suppresses_nothing(script: Begin, asked: Asked) -> None:
    line = "keep() //nolint:errcheck // best effort"
    log = script("s").prompt("Lint").edit("cart/cart.go", line, "store.Keep()").run(LINT, UNUSED, code=1)
    log = log.edit("store/store.go", "func findAll(", f"{line}\nfunc used(").run(LINT, LINT_PASSES)
    answer = asked(log, source="unused", target="passes")
    assert [step.target for step in answer.steps] == ["edit store/store.go", "golangci-lint passes"]


def test_the_strongest_come_in_the_order_of_the_low_ends_that_are_shown(script: Begin, asked: Asked) -> None:
    logs = []
    for number in range(6):
        log = script(f"s{number}").prompt("Test").edit("store/a.go" if number < 4 else "store/b.go", "a", "b")
        logs.append(log if number == 5 else log.run("go test ./...", GO_PASSES))
    answer = asked(*logs, source="store", target="go test passes", strongest=True, alternatives=5)
    lows = [one.weakest.low for one in (answer, *answer.alternatives) if one.weakest]
    assert lows == sorted(lows, reverse=True)
    assert len(lows) > 1


BIOME = """\
src/cart.ts format ━━━━━━

  ✖ Formatter would have printed the following content:

Checked 9 files in 9ms. No fixes applied.
Found 1 error."""
BIOME_UNUSED = """\
src/cart.ts:3:7 lint/correctness/noUnusedVariables ━━━━━━━━━━

  ✖ This variable bottle is unused.

  > 3 │ const bottle = 1
      │       ^^^^^^

Checked 9 files in 9ms. No fixes applied.
Found 1 error."""
BIOME_PASSES = "> shop@1.0.0 check\n> ultracite check\nChecked 9 files in 9ms. No fixes applied."


def test_a_linter_blames_only_the_files_that_it_names(script: Begin, asked: Asked) -> None:
    log = script("s").prompt("Lint").run("npx biome check", "Checked 9 files in 9ms. No fixes applied.")
    log = log.edit("src/cart.ts", "a", "const bottle = 1").edit("src/till.ts", "a", "const bottle = 1")
    log = log.run("npx biome check", BIOME_UNUSED, code=1)
    assert asked(log, source="cart.ts", target="fails").found
    assert not asked(log, source="till.ts", target="fails").found


@pytest.mark.parametrize("others", [(), ("src/till.rs",)])
def test_a_failure_without_a_place_is_blamed_on_what_alone_was_changed(
    others: tuple[str, ...], script: Begin, asked: Asked
) -> None:
    log = script("s").prompt("Build").run("cargo build", "    Finished `dev` profile in 1s")
    log = log.edit("src/cart.rs", "a", "b")
    for path in others:
        log = log.edit(path, "a", "b")
    log = log.run("cargo build", "error: could not compile `shop` (bin) due to 1 previous error", code=101)
    assert asked(log, source="cart.rs", target="fails").found == (not others)


@pytest.mark.parametrize("path", ["scripts/release.ps1", ".gitignore", ".github/workflows/test.yml", "store/README.md"])
def test_a_compiler_says_nothing_of_files_that_it_does_not_read(path: str, script: Begin, asked: Asked) -> None:
    log = script("s").prompt("Build").edit(path, "a", "b").run("go build ./...")
    assert not asked(log, source=path.rpartition("/")[2], target="passes").found


def test_a_run_without_tests_passes_nothing(script: Begin, asked: Asked) -> None:
    log = script("s").prompt("Test").edit("store/put.go", "a", "b")
    log = log.run("go test ./store -run TestX", "ok  \tshop.io/store\t0.31s [no tests to run]")
    assert not asked(log, source="put.go", target="go test passes").found


def test_a_command_that_failed_after_a_change_does_not_pass_it(script: Begin, asked: Asked) -> None:
    log = script("s").prompt("Check").edit("src/till.ts", "a", "b").run("npm run check", BIOME, code=1)
    log = log.edit("src/cart.ts", "a", "b").run("npm run check", BIOME_PASSES)
    assert asked(log, source="cart.ts", target="passes").steps[-1].target == "biome passes"
    assert not asked(log, source="till.ts", target="passes").found


def test_a_file_without_a_path_is_not_taken_for_a_command_that_names_it(script: Begin, asked: Asked) -> None:
    log = script("s").prompt("Read").edit("docs/notes.md", "a", "b")
    log = log.run("cat docs/notes.md nowhere", "cat: nowhere: No such file or directory", code=1)
    assert not asked(log, source="notes.md", target="fails").found


def test_a_change_of_another_package_answers_no_complaint(script: Begin, asked: Asked) -> None:
    undefined = "store/put.go:3:1: undefined: Item"
    log = script("s").prompt("Lint").run("golangci-lint run store/put.go", f"{undefined} (typecheck)", code=1)
    log = log.edit("cart/total.go", "a", "b").run(LINT, LINT_PASSES)
    assert not asked(log, source="Item", target="passes").found


def test_what_does_not_compile_in_a_test_is_blamed_on_the_file_that_it_names(script: Begin, asked: Asked) -> None:
    log = script("s").prompt("Test").edit("cart/total.go", "a", "b").edit("store/store_test.go", "a", "Item{}")
    unbuilt = "# shop.io/store [shop.io/store.test]\nstore/store_test.go:9:2: undefined: Item\n"
    unbuilt += "FAIL\tshop.io/store [build failed]"
    log = log.run("go test ./...", unbuilt, code=1)
    assert asked(log, source="store_test.go", target="fails").found
    assert not asked(log, source="total.go", target="fails").found


def test_what_only_followed_is_said_to_have_followed(script: Begin, asked: Asked) -> None:
    log = script("s").prompt("Lint").edit("src/cart.css", "a", "b").run("npx biome check", "Checked 9 files in 9ms.")
    answer = asked(log, source="cart.css", target="passes")
    assert not answer.found
    assert answer.hint == (
        'in 1 of 1 sessions, "edit src/cart.css" was followed by "biome passes",'
        " but the log does not show that one is about the other"
    )


CART_FAILS = "FAIL  src/cart.test.ts > totals\n\n Test Files  1 failed (1)\n      Tests  1 failed (1)"
CART_PASSES = " ✓ src/cart.test.ts (1 test) 4ms\n\n Test Files  1 passed (1)\n      Tests  1 passed (1)"


def test_tests_of_one_file_pass_that_file_and_no_other(script: Begin, asked: Asked) -> None:
    log = script("s").prompt("Test").edit("src/cart.ts", "a", "b").edit("src/till.ts", "a", "b")
    log = log.run("npx vitest run src/cart.test.ts", CART_PASSES)
    alone = script("t").prompt("Test").edit("src/cart.ts", "a", "b").run("npx vitest run src/cart.test.ts", CART_PASSES)
    assert asked(alone, source="cart.ts", target="passes").found
    assert not asked(log, source="till.ts", target="passes").found


def test_tests_of_another_folder_say_nothing(script: Begin, asked: Asked) -> None:
    log = script("s").prompt("Test").edit("web/src/cart.test.ts", "a", "b").edit("src/till.test.ts", "a", "b")
    log = log.run("bun test src/", "bun test v1.3.5\n\n 12 pass\n 0 fail\nRan 12 tests across 2 files. [8.00ms]")
    assert asked(log, source="till.test.ts", target="passes").found
    assert not asked(log, source="web/src/cart.test.ts", target="passes").found


def test_a_rule_is_blamed_on_the_edit_that_wrote_the_quoted_line(script: Begin, asked: Asked) -> None:
    log = script("s").prompt("Lint").edit("store/store.go", "a", "findAll(all)")
    log = log.edit("store/store.go", "b", "func findAll(all []Item) []Item {\n}").edit("store/other.go", "a", "b")
    log = log.run(LINT, UNUSED, code=1)
    answer = asked(log, source="store.go", target="golangci-lint fails")
    assert answer.steps[0].witnesses[0].source.line == 4


def test_a_failure_with_another_message_in_between_breaks_the_path(script: Begin, asked: Asked) -> None:
    test = "go test ./store"
    log = script("s").prompt("Test").run(test, go_fails("TestPut"), code=1).edit("store/put.go", "a", "first")
    log = log.run(test, "FAIL\tshop.io/store\t0.31s\nFAIL", code=1).edit("store/get.go", "a", "second")
    assert not asked(log.run(test, "ok  \tshop.io/store\t0.31s"), source="TestPut", target="passes").found


def test_a_later_pass_is_not_cited_where_a_nearer_one_ran_the_test_that_was_written(
    script: Begin, asked: Asked
) -> None:
    failed = "test list::test_get ... FAILED\n\ntest result: FAILED. 0 passed; 1 failed; 0 ignored"
    passed = "running 1 test\ntest list::test_put_keeps_order ... ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored"
    log = script("s").prompt("Test").run("cargo test list", failed, code=101)
    log = log.edit("src/list.rs", "}", "#[test]\nfn test_put_keeps_order() {}\n}")
    log = log.run("cargo test test_put_keeps_order", passed).edit("src/lock.rs", "a", "b")
    log = log.run("cargo test", "running 2 tests\n\ntest result: ok. 2 passed; 0 failed; 0 ignored")
    answer = asked(log, source="list.rs", target="passes")
    assert not answer.found or lines(answer)[-1][2] != len(log.records)


def test_a_file_that_was_changed_again_after_another_check_failed_passes_as_it_then_was(
    script: Begin, asked: Asked
) -> None:
    complaint = "store/put.go:3:6: type name will be used as store.Store (revive)\n1 issues:\n* revive: 1"
    log = script("s").prompt("Test").write("store/put_test.go").run(LINT, complaint, code=1)
    log = log.edit("README.md", "StorePut", "Put").edit("store/put_test.go", "StorePut", "Put")
    answer = asked(log.run("go test ./store", "ok  \tshop.io/store\t0.31s"), source="put_test.go", target="passes")
    written = next(number for number, one in enumerate(log.records, 1) if "put_test.go" in str(one))
    (_, begun, _), *_ = lines(answer)
    assert begun is not None
    assert begun > written + 2


def test_of_several_edits_of_a_file_the_last_before_the_pass_is_cited(script: Begin, asked: Asked) -> None:
    log = script("s").prompt("Test").edit("store/put.go", "a", "b").edit("store/put.go", "b", "c")
    answer = asked(log.run("go test ./store", "ok  \tshop.io/store\t0.31s"), source="put.go", target="passes")
    assert answer.steps[-1].witnesses[0].source.quote == "c"


def test_an_edit_that_another_one_replaced_before_the_run_met_no_verdict(script: Begin, asked: Asked) -> None:
    log = script("s").prompt("Test").edit("store/put.go", "a", "first").edit("README.md", "a", "b")
    log = log.edit("store/put.go", "first", "second").run("go test ./store", "ok  \tshop.io/store\t0.31s")
    answer = asked(log, source="put.go", target="passes")
    assert {one.source.quote for one in answer.steps[-1].witnesses} == {"second"}


@pytest.mark.parametrize(("said", "passed"), [("Fixed 1 file.", False), ("No fixes applied.", True)])
def test_a_run_that_repairs_what_it_finds_passes_no_edit(
    script: Begin, asked: Asked, said: str, *, passed: bool
) -> None:
    log = script("s").prompt("Lint").edit("ui/cart.tsx", "a", "b")
    log = log.run("bun run lint:fix", f"$ biome check --write\nChecked 2 files in 9ms. {said}")
    assert asked(log, source="cart.tsx", target="biome passes").found is passed


def test_a_pass_after_another_check_of_types_failed_is_not_the_edits(script: Begin, asked: Asked) -> None:
    wrong = "src/api/cart.ts(3,1): error TS2322: Type 'string' is not assignable to type 'number'."
    log = script("s").prompt("Types").edit("src/api/item.ts", "a", "b").run("npx tsc --noEmit", wrong, code=2)
    log = log.edit("src/api/cart.ts", "a", "b").run("bun run typecheck", "$ tsc --noEmit")
    assert not asked(log, source="item.ts", target="passes").found
    assert asked(log, source="cart.ts", target="passes").found


def test_a_linters_complaint_of_another_file_leaves_a_later_pass_alone(script: Begin, asked: Asked) -> None:
    log = script("s").prompt("Test").edit("cart/cart.go", "a", "b").run(LINT, UNUSED, code=1)
    log = log.run("go test ./...", GO_PASSES)
    assert asked(log, source="cart.go", target="go test passes").found


def test_a_pass_of_the_tests_is_shown_before_one_of_a_linter(script: Begin, asked: Asked) -> None:
    log = script("s").prompt("Test").edit("store/put.go", "a", "b").run(LINT, LINT_PASSES)
    answer = asked(log.run("go test ./...", GO_PASSES), source="put.go", target="passes")
    assert answer.steps[-1].target == "go test passes"


def test_tests_that_may_not_import_a_file_are_no_pass_of_it(script: Begin, asked: Asked) -> None:
    log = script("s").prompt("Test").edit("src/cart.ts", "a", "b").edit("src/store.test.ts", "a", "b")
    log = log.run("bun test", "bun test v1.3.5\n\n 12 pass\n 0 fail\nRan 12 tests across 2 files. [9.00ms]")
    assert not asked(log, source="cart.ts", target="passes").found
    alone = script("t").prompt("Test").edit("src/store.test.ts", "a", "b")
    alone = alone.run("bun test", "bun test v1.3.5\n\n 12 pass\n 0 fail\nRan 12 tests across 2 files. [9.00ms]")
    assert asked(alone, source="store.test.ts", target="passes").found


def test_a_name_that_an_edit_only_carried_over_is_not_undefined_because_of_it(script: Begin, asked: Asked) -> None:
    complaint = "# shop.io/store\nstore/put.go:9:4: undefined: Item"
    log = script("s").prompt("Build").edit("store/put.go", "list(Item)", "array(Item)").edit("cart/cart.go", "a", "b")
    assert not asked(log.run("go build ./...", complaint, code=1), source="put.go", target="fails").found
    used = script("t").prompt("Build").edit("store/put.go", "list()", "array(Item)").edit("cart/cart.go", "a", "b")
    assert asked(used.run("go build ./...", complaint, code=1), source="put.go", target="fails").found


def test_an_edit_of_every_place_of_a_name_is_cited_for_the_line_that_has_it(script: Begin, asked: Asked) -> None:
    complaint = (
        "store/put.go:3:6: exported: func name will be used as store.StorePut and that stutters (revive)\n"
        "func StorePut(item Item) error {\n     ^\n1 issues:\n* revive: 1"
    )
    log = script("s").prompt("Lint").run(LINT, complaint, code=1).edit("store/put.go", "StorePut", "Put")
    log = log.edit("store/put.go", "// exported for tests\nfunc old() {}", "// kept").run(LINT, LINT_PASSES)
    assert written(asked(log, source="revive", target="passes")) == "Put"


def test_sessions_that_never_ran_the_check_are_not_counted_against_its_verdict(script: Begin, asked: Asked) -> None:
    log = script("s").prompt("Test").edit("store/put.go", "a", "b").run("go test ./...", GO_PASSES)
    other = script("t").prompt("Edit").edit("store/put.go", "b", "c").run(LINT, LINT_PASSES)
    answer = asked(log, other, source="put.go", target="go test passes")
    assert (answer.steps[-1].frequency.k, answer.steps[-1].frequency.n) == (1, 1)


def test_a_failure_that_both_texts_name_is_said(script: Begin, asked: Asked) -> None:
    log = script("s").prompt("Edit").edit_fails("store/left.go").edit("store/left.go", "a", "b")
    hint = asked(log, source="left.go", target="fails").hint
    assert hint == (
        '"Edit fails: text not found: store/left.go" has both names; `helix-graph effects` shows what followed it'
    )


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("return total", "// in cents\nreturn total", False),
        ("Add(\n\ta,\n\tb,\n)", "Add(a, b)", False),
        ("return total", "return total + tax", True),
    ],
)
def test_a_comment_and_the_breaks_of_lines_decide_no_test(
    script: Begin, asked: Asked, old: str, new: str, *, found: bool
) -> None:
    log = script("s").prompt("Tax").edit("store/store.go", old=old, new=new).run("go test ./store/...", GO_PASSES)
    assert asked(log, source="store.go", target="go test passes").found is found


def test_a_file_that_a_script_wrote_again_is_not_what_the_run_saw(script: Begin, asked: Asked) -> None:
    log = script("s").prompt("Tax").edit("store/store.go", new="return total + tax")
    log = log.run("python3 - <<'E'\nopen('store/store.go', 'w').write(text)\nE").run("go test ./store/...", GO_PASSES)
    assert not asked(log, source="store.go", target="go test passes").found


@pytest.mark.parametrize(
    ("command", "found"), [("go test ./store/...", False), ("go test -tags=slow ./store/...", True)]
)
def test_go_does_not_compile_a_file_whose_tag_nobody_names(
    script: Begin, asked: Asked, command: str, *, found: bool
) -> None:
    log = script("s").prompt("Slow").edit("store/slow.go", new="//go:build slow\n\npackage store\n\nvar Slow = 1")
    assert asked(log.run(command, GO_PASSES), source="slow.go", target="go test passes").found is found


def test_what_two_files_together_made_pass_is_the_pass_of_neither(script: Begin, asked: Asked) -> None:
    log = script("s").prompt("Test").run("go test ./store", go_fails("TestPut"), code=1)
    log = log.edit("store/put.go", "b", "helper").edit("store/get.go", "b", "c")
    log = log.run("go test ./store", "ok  \tshop.io/store\t0.31s")
    assert not asked(log, source="TestPut", target="passes").found
    assert not asked(log, source="put.go", target="passes").found


def test_all_edits_of_a_file_since_the_failure_are_cited(script: Begin, asked: Asked) -> None:
    log = script("s").prompt("Test").run("go test ./store", go_fails("TestPut"), code=1)
    log = log.edit("store/put.go", "a", "first").edit("README.md", "a", "b").edit("store/put.go", "b", "second")
    answer = asked(log.run("go test ./store", "ok  \tshop.io/store\t0.31s"), source="put.go", target="passes")
    edits = [
        number for number, one in enumerate(log.records, 1) if '"Edit"' in json.dumps(one) and "put.go" in str(one)
    ]
    assert list(answer.steps[-1].witnesses[0].source_lines) == edits
    with redirect_stdout(StringIO()) as said:
        render_path(answer)
    assert f"line {edits[0]}, {edits[1]} -> " in said.getvalue()


def test_a_finding_is_answered_by_the_edits_that_speak_of_it(script: Begin, asked: Asked) -> None:
    two = f"{UNUSED.replace('1 issues', '2 issues')}\nstore/store.go:9:2: G306: Expect 0600 or less (gosec)\n* gosec: 1"
    log = script("s").prompt("Lint").run(LINT, two, code=1).edit("store/store.go", "0644", "0600 // gosec")
    log = log.edit("store/store.go", "func findAll(all []Item) []Item {\n}", "").run(LINT, LINT_PASSES)
    answered, passed = asked(log, source="unused", target="passes").steps
    assert len(answered.witnesses[0].target_lines) == 1
    assert len(passed.witnesses[0].source_lines) == 2
    assert answered.witnesses[0].target_lines[0] == passed.witnesses[0].source_lines[1]


def test_edits_of_several_decisions_lead_to_one_pass(script: Begin, asked: Asked) -> None:
    log = script("s").prompt("Lint").run(LINT, UNUSED, code=1).edit("store/store.go", "func findAll(all []Item)", "")
    log = log.edit_fails("store/store.go").edit("store/store.go", "findAll(items)", "").run(LINT, LINT_PASSES)
    answer = asked(log, source="unused", target="passes")
    assert len(answer.steps[-1].witnesses[0].source_lines) == 2


def test_all_attempts_at_a_failing_test_are_cited_for_its_pass(script: Begin, asked: Asked) -> None:
    log = script("s").prompt("Test").run("go test ./store", go_fails("TestPut"), code=1)
    log = log.edit("store/put.go", "a", "first").run("go test ./store", go_fails("TestPut"), code=1)
    log = log.edit("store/put.go", "b", "second").run("go test ./store", "ok  \tshop.io/store\t0.31s")
    assert len(asked(log, source="put.go", target="passes").steps[-1].witnesses[0].source_lines) == 2


def test_a_test_file_of_which_some_tests_passed_meanwhile_leads_to_no_pass(script: Begin, asked: Asked) -> None:
    some = f"--- PASS: TestGet (0.01s)\n{go_fails('TestPut')}"
    log = script("s").prompt("Test").run("go test -v ./store", some, code=1)
    log = log.edit("store/put_test.go", "a", "first").run("go test -v ./store", some, code=1)
    log = log.edit("store/put_test.go", "b", "second").run("go test -v ./store", "ok  \tshop.io/store\t0.31s")
    assert not asked(log, source="put_test.go", target="passes").found


@pytest.mark.parametrize(("first", "found"), [("//go:build slow\n\npackage store", False), ("package store", True)])
def test_a_linter_without_the_tag_of_a_test_file_does_not_look_at_it(
    script: Begin, asked: Asked, first: str, *, found: bool
) -> None:
    log = script("s").prompt("Lint").write("store/slow_test.go", first).run("go test ./...", GO_PASSES)
    log = log.edit("store/slow_test.go", "a", "b").run(LINT, LINT_PASSES)
    assert asked(log, source="slow_test.go", target="golangci-lint passes").found is found


@pytest.mark.parametrize("stopped", [False, True])
def test_what_a_later_run_finds_and_the_next_did_not_is_not_led_to(
    script: Begin, asked: Asked, *, stopped: bool
) -> None:
    log = script("s").prompt("Lint").edit("store/store.go", "a", "func findAll(all []Item) []Item {")
    if stopped:
        unbuilt = "store/get.go:3:1: undefined: Till (typecheck)\n1 issues:\n* typecheck: 1"
        log = log.run(LINT, unbuilt, code=1).edit("store/get.go", "Till", "string")
    log = log.run(LINT, UNUSED, code=1)
    assert asked(log, source="store.go", target="golangci-lint fails").found is not stopped


def test_a_path_of_a_rule_is_not_joined_from_several_sessions(script: Begin, asked: Asked) -> None:
    two = f"{UNUSED.replace('1 issues', '2 issues')}\nstore/till.go:9:2: G306: Expect 0600 or less (gosec)\n* gosec: 1"
    log = script("s").prompt("Lint").run(LINT, two, code=1).edit("store/till.go", "0644", "0600")
    log = log.edit("store/store.go", "func findAll(all []Item) []Item {\n}", "").run(LINT, LINT_PASSES)
    other = script("t").prompt("Lint").edit("store/store.go", "a", "b").run(LINT, LINT_PASSES)
    assert not asked(log, other, source="unused", target="passes").found


def test_a_finding_of_two_files_is_a_failure_of_neither(script: Begin, asked: Asked) -> None:
    other = UNUSED.splitlines()
    both = "\n".join(
        [*other[:3], *(one.replace("store.go", "till.go") for one in other[:3]), "2 issues:", "* unused: 2"]
    )
    log = script("s").prompt("Lint").edit("store/store.go", "a", "func findAll(all []Item) []Item {")
    log = log.run(LINT, both, code=1)
    assert not asked(log, source="store.go", target="fails").found


def test_a_linter_passes_a_file_whose_fault_another_file_shared_with_neither_edit(script: Begin, asked: Asked) -> None:
    other = UNUSED.splitlines()
    both = "\n".join(
        [*other[:3], *(one.replace("store.go", "till.go") for one in other[:3]), "2 issues:", "* unused: 2"]
    )
    log = script("s").prompt("Lint").run(LINT, both, code=1).edit("store/store.go", "func findAll(", "func used(")
    log = log.edit("store/till.go", "func findAll(", "func used(").run(LINT, LINT_PASSES)
    assert not asked(log, source="store.go", target="passes").found
