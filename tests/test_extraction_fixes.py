"""Which change repaired an error, and what in the log shows that it did?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from helix_episodes.model import Episode
    from session_script import Script

    Begin = Callable[..., Script]
    Extracted = Callable[[Script], Episode]

LINT_FAILS = (
    '$ eslint .\nsrc/cart.ts\n  3:1  error  x is unused  no-unused-vars\n\nerror: script "lint" exited with code 1'
)
GO_UNDEFINED = "# shop/api\n./api/cart.go:12:5: undefined: Total"
CONFLICT = (
    "Auto-merging api/cart.go\nCONFLICT (content): Merge conflict in api/cart.go\n"
    "Automatic merge failed; fix conflicts and then commit the result."
)
TYPES_FAIL = "$ tsc --noEmit\nsrc/cart.ts(3,5): error TS2322: Type 'string' is not assignable to type 'number'."


def repairs_in(episode: Episode) -> list[tuple[str, list[str], str | None]]:
    """Each fix in words: the error, what repaired it, what shows it."""
    words = {one.id: one.chosen for one in episode.decisions} | {one.id: one.content for one in episode.events}
    return [
        (
            words[fix.error],
            [words[change] for change in fix.changes],
            words[fix.verified_by] if fix.verified_by else None,
        )
        for fix in episode.fixes
    ]


def test_the_task_that_rewrites_is_what_repaired_the_lint(script: Begin, episode_of: Extracted) -> None:
    log = script("s").prompt("Lint").run("bun run lint", LINT_FAILS, code=1).edit("README.md")
    episode = episode_of(log.run("bun run lint:fix", "$ eslint . --fix").run("bun run lint", "$ eslint ."))
    ((_, changes, _),) = repairs_in(episode)
    assert changes == ["run bun run lint:fix"]


BIOME_FAILS = (
    "$ biome check\nsrc/cart.ts format ━━━━━━━━━\n\n  × Formatter would have printed the following content:\n\n"  # noqa: RUF001  (biome)
    "Checked 12 files in 12ms. No fixes applied.\nFound 1 error.\nhusky - pre-commit script failed (code 1)"
)


def test_the_task_that_rewrites_repaired_what_a_hook_complained_of(script: Begin, episode_of: Extracted) -> None:
    log = script("s").prompt("Commit").edit("src/cart.ts").run("rtk git commit -m totals", BIOME_FAILS)
    mended = log.run("bun run lint:fix 2>&1 | tail -5", "$ biome check --write\nChecked 12 files in 9ms. Fixed 1 file.")
    found = {
        error: changes for error, changes, _ in repairs_in(episode_of(mended.run("rtk git commit -m totals", "ok")))
    }
    assert found["biome fails: not formatted"] == ["run bun run lint:fix 2>&1 | tail -5"]


PYTEST_FAILS = "FAILED tests/test_cart.py::test_total - assert 1 == 2\n===== 1 failed in 0.1s ====="
DOCSTRING = ('"""The total of a cart, every discount included."""', '"""The total of a cart."""')


@pytest.mark.parametrize(
    ("code", "changes"), [(("return 1", "return 2"), [["edit shop/cart.py"]]), (None, [])], ids=["code", "nothing else"]
)
def test_a_docstring_repairs_no_test(
    script: Begin, episode_of: Extracted, code: tuple[str, str] | None, changes: list[list[str]]
) -> None:
    log = script("s").prompt("Totals").run("pytest", PYTEST_FAILS, code=1)
    log = log.edit("shop/cart.py", *code) if code else log
    log = log.edit("shop/prices.py", *DOCSTRING).edit("shop/api.py", "x = 1", "# one\nx = 1")
    repairs = repairs_in(episode_of(log.run("pytest", "===== 1 passed in 0.1s =====")))
    assert [made for _, made, _ in repairs] == changes


def test_a_docstring_repairs_what_a_linter_says_of_it(script: Begin, episode_of: Extracted) -> None:
    long = "shop/cart.py:3:101: E501 Line too long (120 > 100)\nFound 1 error."
    log = script("s").prompt("Lint").run("ruff check .", long, code=1).edit("shop/cart.py", *DOCSTRING)
    ((_, changes, _),) = repairs_in(episode_of(log.run("ruff check .", "All checks passed!")))
    assert changes == ["edit shop/cart.py"]


def test_an_attribute_of_rust_is_no_comment(script: Begin, episode_of: Extracted) -> None:
    fails = "test total ... FAILED\n\ntest result: FAILED. 0 passed; 1 failed; 0 ignored"
    log = script("s").prompt("Totals").run("cargo test", fails, code=101)
    log = log.edit("src/cart.rs", "struct Cart;", "#[derive(Default)]\nstruct Cart;")
    episode = episode_of(log.run("cargo test", "test result: ok. 1 passed; 0 failed; 0 ignored"))
    assert [changes for _, changes, _ in repairs_in(episode)] == [["edit src/cart.rs"]]


def test_the_rewriting_task_that_ends_well_is_proof_enough(script: Begin, episode_of: Extracted) -> None:
    log = script("s").prompt("Lint").run("bun run lint", LINT_FAILS, code=1).run("bun run lint:fix", "$ eslint . --fix")
    ((_, changes, verified),) = repairs_in(episode_of(log))
    assert (changes, verified is not None) == (["run bun run lint:fix"], True)


#: What biome prints to the right of each heading.
BAR = "\u2501" * 10


def biome(*complaints: tuple[str, str]) -> str:
    """What biome prints of complaints about one file: of each its heading and its sentence."""
    found = "".join(f"web/cart.tsx{heading} {BAR}\n\n  \u00d7 {said}\n\n" for heading, said in complaints)
    return f"{found}Checked 2 files in 3ms. No fixes applied.\nFound {len(complaints)} errors."


UNFORMATTED = (" format", "Formatter would have printed the following content:")
UNUSED = (":7:9 lint/correctness/noUnusedVariables  FIXABLE", "This variable order is unused.")


def test_of_two_complaints_each_is_repaired_by_what_removed_it(script: Begin, episode_of: Extracted) -> None:
    log = script("s").prompt("Lint").run("bun run lint", biome(UNUSED, UNFORMATTED), code=1)
    log = log.run("bun run lint:fix", biome(UNUSED), code=1)
    log = log.edit("web/cart.tsx", old="const [order, setOrder]", new="const [, setOrder]")
    found = repairs_in(episode_of(log.run("bun run lint", "$ biome check\nChecked 2 files in 3ms. No fixes applied.")))
    assert {error: changes for error, changes, _ in found} == {
        "biome fails: noUnusedVariables": ["edit web/cart.tsx"],
        "biome fails: not formatted": ["run bun run lint:fix"],
    }


def test_what_is_printed_twice_is_complained_of_once(script: Begin, episode_of: Extracted) -> None:
    said = biome(UNUSED)
    log = script("s").prompt("Lint").run("bun run lint", f"{said}\n{said}", code=1)
    errors = [event.content for event in episode_of(log).events if event.type == "error"]
    assert errors == ["biome fails: noUnusedVariables"]


def test_who_edits_the_name_complained_of_does_not_leave_it_to_the_rewriter(
    script: Begin, episode_of: Extracted
) -> None:
    log = script("s").prompt("Lint").run("bun run lint", biome(UNUSED, UNFORMATTED), code=1)
    log = log.edit("web/cart.tsx", old="const [order, setOrder]", new="const [, setOrder]")
    found = repairs_in(
        episode_of(log.run("bun run lint:fix", "$ biome check --write\nChecked 2 files in 3ms. Fixed 1 file."))
    )
    assert {error: changes for error, changes, _ in found} == {
        "biome fails: noUnusedVariables": ["edit web/cart.tsx"],
        "biome fails: not formatted": ["run bun run lint:fix"],
    }


def test_where_a_command_is_run_does_not_hide_that_it_was_corrected(script: Begin, episode_of: Extracted) -> None:
    refused = "error: unrecognized subcommand 'bun'\n\nUsage: rtk [OPTIONS] <COMMAND>"
    log = script("s").prompt("Check").run("cd /srv/code/shop/web-store && rtk bun run typecheck", refused, code=2)
    ((_, changes, _),) = repairs_in(episode_of(log.run("bun run typecheck", "$ tsc --noEmit")))
    assert changes == ["run bun run typecheck"]


def test_an_option_refused_at_the_head_of_a_pipe_is_a_failure(script: Begin, episode_of: Extracted) -> None:
    refused = "cat: illegal option -- A\nusage: cat [-belnstuv] [file ...]"
    log = script("s").prompt("Look").run("cat -A cart.py | head -5", refused)
    ((error, changes, _),) = repairs_in(episode_of(log.run("cat -vet cart.py | head -5", "x = 1$")))
    assert (error, changes) == ("cat fails: unknown option", ["run cat -vet cart.py | head -5"])


def test_the_program_at_the_end_of_another_pipe_does_what_a_refused_option_was_to_do(
    script: Begin, episode_of: Extracted
) -> None:
    refused = "cat: illegal option -- A\nusage: cat [-belnstuv] [file ...]"
    log = script("s").prompt("Look").run("cat -A shop/cart.py | sed -n '3,5p'", refused).run("xxd shop/cart.py", "")
    log = log.run("sed -n 3p shop/tax.py | cat -v", "y = 2").run("sed -n 3p shop/cart.py | cat -v", "x = 1")
    ((error, changes, _),) = repairs_in(episode_of(log))
    assert (error, changes) == ("cat fails: unknown option", ["run sed -n 3p shop/cart.py | cat -v"])


def test_an_edit_of_a_test_file_that_was_not_run_repairs_no_failure_of_another(
    script: Begin, episode_of: Extracted
) -> None:
    failed = "FAILED tests/test_cart.py::test_total - AssertionError: assert 3 == 4\n===== 1 failed in 0.12s ====="
    log = script("s").prompt("Test").run("pytest tests/test_cart.py", failed, code=1)
    log = log.edit("tests/test_tax.py").edit("tests/test_cart.py")
    ((_, changes, _),) = repairs_in(episode_of(log.run("pytest tests/test_cart.py", "===== 1 passed in 0.1s =====")))
    assert changes == ["edit tests/test_cart.py"]


def test_tests_that_pass_show_that_the_package_compiles(script: Begin, episode_of: Extracted) -> None:
    log = script("s").prompt("Build").run("go build ./...", GO_UNDEFINED, code=1).edit("api/cart.go")
    ((error, changes, verified),) = repairs_in(episode_of(log.run("go test ./...", "ok  \tshop/api\t0.1s")))
    assert (error, changes) == ("go build fails: undefined name", ["edit api/cart.go"])
    assert verified is not None
    assert verified.startswith("go test passes")


def test_tests_of_another_package_show_nothing_of_this_one(script: Begin, episode_of: Extracted) -> None:
    log = script("s").prompt("Build").run("go build ./...", GO_UNDEFINED, code=1).edit("api/cart.go")
    assert episode_of(log.run("go test ./store", "ok  \tshop/store\t0.1s")).fixes == ()


def test_a_build_does_not_show_that_a_test_file_compiles(script: Begin, episode_of: Extracted) -> None:
    fails = "# shop/api\n./api/cart_test.go:12:5: undefined: Total\nFAIL\tshop/api [build failed]"
    log = script("s").prompt("Test").run("go test ./...", fails, code=1).edit("api/cart_test.go")
    assert episode_of(log.run("go build ./...")).fixes == ()


def test_the_commit_goes_through_when_its_hook_is_content(script: Begin, episode_of: Extracted) -> None:
    log = script("s").prompt("Commit").run("git commit -m cart", TYPES_FAIL, code=1).edit("src/cart.ts")
    log = log.run("git commit -m cart", "[main 1a2b3c4] cart\n 1 file changed, 1 insertion(+)")
    ((error, changes, verified),) = repairs_in(episode_of(log))
    assert (error, changes, verified) == ("tsc fails: TS2322", ["edit src/cart.ts"], "cart")


def test_an_edit_elsewhere_gets_no_credit_for_what_the_compiler_names(script: Begin, episode_of: Extracted) -> None:
    log = script("s").prompt("Build").run("go build ./...", GO_UNDEFINED, code=1)
    log = log.edit("store/tax.go").edit("api/cart.go").run("go build ./...")
    ((_, changes, _),) = repairs_in(episode_of(log))
    assert changes == ["edit api/cart.go"]


@pytest.mark.parametrize(
    ("path", "new", "credited"),
    [
        ("store/sums.go", "func Total() int { return 1 }", True),
        ("api/sums.go", "x", True),
        ("store/tax.go", "x", False),
    ],
)
def test_a_missing_name_may_be_added_elsewhere(
    script: Begin, episode_of: Extracted, path: str, new: str, *, credited: bool
) -> None:
    log = script("s").prompt("Build").run("go build ./...", GO_UNDEFINED, code=1).edit(path, new=new)
    assert bool(episode_of(log.run("go build ./...")).fixes) is credited


def test_the_formatter_and_not_the_edit_before_it_brings_into_form(script: Begin, episode_of: Extracted) -> None:
    diff = "Diff in /work/shop/src/cart.rs:3:\n-fn  total()\n+fn total()"
    log = script("s").prompt("Format").run("cargo fmt --check", diff, code=1).edit("src/cart.rs")
    ((_, changes, _),) = repairs_in(episode_of(log.run("cargo fmt").run("cargo fmt --check")))
    assert changes == ["run cargo fmt"]


def test_a_conflict_is_repaired_in_the_files_in_conflict_up_to_the_commit(script: Begin, episode_of: Extracted) -> None:
    log = script("s").prompt("Merge main").run("git merge origin/main", CONFLICT, code=1)
    log = log.edit("api/tax.go").edit("api/cart.go").run("git add -A")
    log = log.run("git commit --no-edit", "[cart 5d6e7f8] Merge main\n")
    assert repairs_in(episode_of(log)) == [("git merge fails: merge conflict", ["edit api/cart.go"], "Merge main")]


def test_a_merge_given_up_repaired_nothing(script: Begin, episode_of: Extracted) -> None:
    log = script("s").prompt("Merge main").run("git merge origin/main", CONFLICT, code=1).edit("api/cart.go")
    log = log.run("git merge --abort").run("git commit -m other", "[cart 5d6e7f8] other\n")
    assert episode_of(log).fixes == ()


def test_a_commit_left_out_of_a_rebase_ends_its_conflict(script: Begin, episode_of: Extracted) -> None:
    log = script("s").prompt("Rebase").run("git rebase origin/main", CONFLICT, code=1)
    log = log.run("git rebase --skip", "Successfully rebased and updated refs/heads/cart.")
    ((_, changes, _),) = repairs_in(episode_of(log))
    assert changes == ["run git rebase --skip"]


def test_the_command_without_the_wrapper_that_does_not_know_it(script: Begin, episode_of: Extracted) -> None:
    log = script("s").prompt("Test").run("rtk bun run test", "error: unrecognized subcommand 'bun'", code=2)
    ((_, changes, _),) = repairs_in(episode_of(log.run("bun run test", "5 pass\n0 fail")))
    assert changes == ["run bun run test"]


def test_another_command_on_the_same_file_is_no_other_way(script: Begin, episode_of: Extracted) -> None:
    log = script("s").prompt("Try").run("out/shop-test total", "Error: no cart", code=1)
    assert episode_of(log.run("rm out/shop-test")).fixes == ()


def test_arguments_that_a_runner_refuses_are_corrected_in_the_command(script: Begin, episode_of: Extracted) -> None:
    log = script("s").prompt("Test").run("cargo test a b", "error: unexpected argument 'b' found", code=1)
    log = log.edit("src/cart.rs").run("cargo test a", "test result: ok. 1 passed; 0 failed; 0 ignored;")
    ((_, changes, _),) = repairs_in(episode_of(log))
    assert changes == ["run cargo test a"]


def test_a_log_that_one_command_refuses_is_fetched_by_another(script: Begin, episode_of: Extracted) -> None:
    refused = "run 28557212037 is still in progress; logs will be available when it is complete"
    log = script("s").prompt("Why?").run("gh run view 28557212037 --job 84667634627 --log", refused, code=1)
    log = log.run("gh api repos/ann/shop/actions/jobs/84667634627/logs", "##[group]Run tests")
    ((_, changes, _),) = repairs_in(episode_of(log))
    assert changes == ["run gh api repos/ann/shop/actions/jobs/84667634627/logs"]


def test_a_file_that_could_not_be_edited_is_changed_by_a_command(script: Begin, episode_of: Extracted) -> None:
    log = script("s").prompt("Change").edit_fails("src/cart.ts").edit_fails("src/cart.ts")
    log = log.run("python3 -c \"p = 'src/cart.ts'; open(p, 'w').write('b')\"", "done").edit("src/cart.ts")
    assert [changes for _, changes, _ in repairs_in(episode_of(log))] == [
        ["run python3 -c \"p = 'src/cart.ts'; open(p, 'w').write('b')\""]
    ] * 2


def test_recording_a_file_does_not_change_it(script: Begin, episode_of: Extracted) -> None:
    log = script("s").prompt("Change").edit_fails("src/cart.ts")
    assert episode_of(log.run("git add src/cart.ts && git commit -m cart")).fixes == ()


def test_a_hand_over_that_failed_is_repaired_by_the_same_order_to_another(script: Begin, episode_of: Extracted) -> None:
    order = {"description": "Simplify the cart code", "prompt": "…", "subagent_type": "simplifier"}
    log = script("s").prompt("Simplify").call("Task", order, error="Agent type 'simplifier' not found.")
    other = {"description": "Count the lines", "prompt": "…", "subagent_type": "explore"}
    log = log.call("Task", other, output="12").call(
        "Task", {**order, "subagent_type": "code:simplifier"}, output="Done"
    )
    ((error, changes, _),) = repairs_in(episode_of(log))
    assert error.startswith("simplifier fails")
    assert changes == ["delegate to code:simplifier: Simplify the cart code"]


def test_what_a_person_reports_is_repaired_when_the_check_of_that_turn_passes(
    script: Begin, episode_of: Extracted
) -> None:
    log = script("s").prompt("Add the cart").edit("shop/cart.py").prompt("I get an error when I open the cart.")
    log = log.edit("shop/tax.py").run("pytest", "===== 5 passed in 0.10s =====")
    ((error, changes, verified),) = repairs_in(episode_of(log))
    assert (error, changes, verified) == (
        "the user reports: I get an error when I open the cart.", ["edit shop/tax.py"], "pytest passes (5 passed)",
    )  # fmt: skip


@pytest.mark.parametrize(
    "asked",
    [
        "why is https://ci.example/run/7 failing?",
        "investigate why the hook fails for every call",
        "why does the export button not work",
    ],
)
def test_who_asks_why_something_fails_reports_it_and_may_order_the_repair_next(
    script: Begin, episode_of: Extracted, asked: str
) -> None:
    log = script("s").prompt(asked).call("Read", {"file_path": "/work/shop/shop/tax.py"}, output="1\tx")
    log = log.say("The rate is rounded twice.").prompt("make a pr").edit("shop/tax.py")
    ((error, changes, _),) = repairs_in(episode_of(log.run("pytest", "===== 5 passed in 0.10s =====")))
    assert (error, changes) == (f"the user reports: {asked}", ["edit shop/tax.py"])


@pytest.mark.parametrize(
    "asked",
    ["does the export fail?", "why is this a list?", "tell me why it would fail", "why are the errors wrapped?"],
)
def test_a_question_that_takes_no_failure_for_granted_reports_none(
    script: Begin, episode_of: Extracted, asked: str
) -> None:
    log = script("s").prompt(asked).edit("shop/tax.py").run("pytest", "===== 5 passed in 0.10s =====")
    assert episode_of(log).fixes == ()


def test_what_the_person_reports_again_was_not_repaired(script: Begin, episode_of: Extracted) -> None:
    log = script("s").prompt("Add the cart").edit("shop/cart.py").prompt("I get an error when I open the cart.")
    log = log.edit("shop/tax.py").run("pytest", "===== 5 passed in 0.10s =====")
    assert episode_of(log.prompt("I still get an error when I open it.")).fixes == ()


def test_a_change_before_a_run_that_would_have_shown_it_is_not_the_cause(script: Begin, episode_of: Extracted) -> None:
    log = script("s").prompt("Build").edit("api/tax.go").run("go test ./...", "ok  \tshop/api\t0.1s")
    episode = episode_of(log.edit("api/cart.go").run("go build ./...", GO_UNDEFINED, code=1))
    words = {one.id: one.chosen for one in episode.decisions} | {one.id: one.content for one in episode.events}
    causes = [words[one.source] for one in episode.links if words[one.target] == "go build fails: undefined name"]
    assert [one for one in causes if one.startswith("edit")] == ["edit api/cart.go"]


def test_a_run_of_edits_ends_where_the_agent_changes_its_mind(script: Begin, episode_of: Extracted) -> None:
    log = script("s").prompt("Change").say("I'll cache it.").edit("api/cart.go").say("Now the second call:")
    log = log.edit("api/cart.go").say("Actually, the cache breaks refunds, so I use a lookup.").edit("api/cart.go")
    edits = [one for one in episode_of(log).decisions if one.action and one.action.verb == "edit"]
    assert [one.rationale for one in edits] == [
        "I'll cache it.", "Actually, the cache breaks refunds, so I use a lookup.",
    ]  # fmt: skip
    assert [one.action.count for one in edits if one.action] == [2, 1]


def test_a_look_by_another_tool_is_no_repair_of_a_wrong_flag(script: Begin, episode_of: Extracted) -> None:
    log = (
        script("s").prompt("Look").run("cat -A shop/cart.py", "cat: illegal option -- A\nusage: cat [-benstuv]", code=1)
    )
    read = {"file_path": "/work/shop/shop/cart.py"}
    looked = episode_of(log.call("Read", read, output="1\tx = 1"))
    assert looked.fixes == ()
    shown = episode_of(log.run("cat -vet shop/cart.py", "x = 1$"))
    chosen = {one.id: one.chosen for one in shown.decisions}
    assert [chosen[change] for fix in shown.fixes for change in fix.changes] == ["run cat -vet shop/cart.py"]


CI_FAILED = "\n".join(
    f"lint\tRun checks\t2026-03-04T05:06:07.1234567Z {line}"
    for line in ("go vet ./...", "./api/cart.go:12:5: undefined: Total", "##[error]Process completed with exit code 1.")
)


def test_a_job_of_ci_is_repaired_by_what_a_check_here_passes_after(script: Begin, episode_of: Extracted) -> None:
    log = (
        script("s").prompt("why does CI fail?").run("gh run view 12 --log-failed", CI_FAILED).say("A name is missing.")
    )
    log = log.prompt("make a pr").edit("api/cart.go").run("go vet ./...", "")
    found = repairs_in(
        episode_of(log.run("git commit -am x", "[main 1a2b3c4] x\n 1 file changed").run("rm -rf tmp", ""))
    )
    assert ("CI fails: lint", ["edit api/cart.go"], "go vet passes") in found
    # The person asked about that job: it is one failure.
    assert [error for error, _, _ in found] == ["CI fails: lint"]


def test_a_job_of_ci_is_repaired_by_what_was_pushed_before_it_passes(script: Begin, episode_of: Extracted) -> None:
    begun = script("s").prompt("why does CI fail?").run("gh run view 12 --log-failed", CI_FAILED).edit("api/cart.go")
    pushed = begun.run("git push", "To github.com:shop/shop.git\n   1a2b3c4..5d6e7f8  main -> main")
    passed = repairs_in(episode_of(pushed.run("gh pr checks 7", "lint\tpass\t1m\thttps://x/1")))
    assert ("CI fails: lint", ["edit api/cart.go"], None) in passed


def test_what_was_pushed_before_the_same_job_fails_again_repaired_nothing(script: Begin, episode_of: Extracted) -> None:
    begun = script("s").prompt("why does CI fail?").run("gh run view 12 --log-failed", CI_FAILED).edit("api/cart.go")
    pushed = begun.run("git push", "To github.com:shop/shop.git\n   1a2b3c4..5d6e7f8  main -> main")
    again = pushed.run("gh pr checks 7", "lint\tfail\t1m\thttps://x/1", code=1).edit("api/tax.go")
    found = repairs_in(episode_of(again.run("go vet ./...", "")))
    assert [changes for error, changes, _ in found if error == "CI fails: lint"] == [["edit api/tax.go"]]


PUSHED = "To github.com:shop/shop.git\n   1a2b3c4..5d6e7f8  main -> main"


@pytest.mark.parametrize(
    ("look", "shown"),
    [
        ("gh pr checks 7", "lint\tpass\t1m\thttps://x/1\ne2e\tpending\t0\thttps://x/2"),
        (
            "gh run view 12 --json jobs",
            '{"jobs":[{"conclusion":"success","name":"lint"},{"conclusion":"","name":"e2e"}]}',
        ),
    ],
)
def test_a_job_that_passed_was_repaired_though_it_fails_again_later(
    script: Begin, episode_of: Extracted, look: str, shown: str
) -> None:
    begun = script("s").prompt("why does CI fail?").run("gh run view 12 --log-failed", CI_FAILED).edit("api/cart.go")
    passed = begun.run("git commit -am x", "[main 1a2b3c4] x\n 1 file changed").run("git push", PUSHED).run(look, shown)
    again = (
        passed.edit("api/tax.go").run("git push", PUSHED).run("gh pr checks 7", "lint\tfail\t1m\thttps://x/3", code=1)
    )
    assert [changes for _, changes, _ in repairs_in(episode_of(again))] == [["edit api/cart.go"]]


def test_of_a_job_that_was_not_seen_to_pass_nothing_is_repaired(script: Begin, episode_of: Extracted) -> None:
    begun = script("s").prompt("why does CI fail?").run("gh run view 12 --log-failed", CI_FAILED).edit("api/cart.go")
    running = begun.run("git push", PUSHED).run(
        "gh run view 12 --json jobs", '{"jobs":[{"conclusion":"","name":"lint"}]}'
    )
    again = running.run("gh pr checks 7", "lint\tfail\t1m\thttps://x/3", code=1)
    assert repairs_in(episode_of(again)) == []


def test_a_job_may_be_repaired_by_a_command_of_git(script: Begin, episode_of: Extracted) -> None:
    begun = script("s").prompt("why does CI fail?").run("gh run view 12 --log-failed", CI_FAILED)
    picked = begun.run("git cherry-pick 4d73de7", "[main 03ce0c7] pin the toolchain\n 1 file changed")
    passed = picked.run("git push", PUSHED).run("gh pr checks 7", "lint\tpass\t1m\thttps://x/1")
    assert [changes for _, changes, _ in repairs_in(episode_of(passed))] == [["run git cherry-pick 4d73de7"]]


@pytest.mark.parametrize(
    ("command", "repaired"),
    [
        ("git checkout -b fix-lint origin/main", False),
        ("git pull --rebase", False),
        ("git restore api/cart.go", False),
        ("npm owner ls shop", False),
        ("git checkout origin/main -- api/cart.go", True),
        ("git rebase origin/main", True),
        ("npm install lint@2", True),
    ],
)
def test_a_job_is_repaired_by_what_changes_what_is_pushed(
    script: Begin, episode_of: Extracted, command: str, *, repaired: bool
) -> None:
    begun = script("s").prompt("why does CI fail?").run("gh run view 12 --log-failed", CI_FAILED).run(command, "done")
    passed = begun.run("git push", PUSHED).run("gh pr checks 7", "lint\tpass\t1m\thttps://x/1")
    assert [changes for _, changes, _ in repairs_in(episode_of(passed))] == ([[f"run {command}"]] if repaired else [])


def test_the_turn_that_answers_a_report_goes_on_after_a_call_was_rejected(script: Begin, episode_of: Extracted) -> None:
    begun = script("s").prompt("lint and tests are failing, fix that first").edit("shop/cart.py")
    refused = begun.rejected("Edit", {"file_path": "/work/shop/shop/tax.py"}, "isn't this an internal package?")
    answered = refused.edit("shop/cart.py").run("pytest", "===== 5 passed in 0.10s =====")
    ((_, changes, verified),) = repairs_in(episode_of(answered.prompt("commit and push please").say("Done.")))
    assert (set(changes), verified) == ({"edit shop/cart.py"}, "pytest passes (5 passed)")


def test_turns_later_only_a_check_that_the_log_names_shows_the_repair(script: Begin, episode_of: Extracted) -> None:
    asked = script("s").prompt("why does CI fail?").run("gh run view 12 --log-failed", CI_FAILED).say("A name.")
    asked = asked.prompt("can it be avoided?").say("No.").prompt("ok").say("Fine.").prompt("now").edit("api/cart.go")
    named = repairs_in(episode_of(asked.run("go vet ./...", "")))
    assert ("CI fails: lint", ["edit api/cart.go"], "go vet passes") in named


def test_turns_later_another_check_shows_nothing_of_the_job(script: Begin, episode_of: Extracted) -> None:
    asked = script("s").prompt("why does CI fail?").run("gh run view 12 --log-failed", CI_FAILED).say("A name.")
    asked = asked.prompt("can it be avoided?").say("No.").prompt("ok").say("Fine.").prompt("now").edit("docs/a.py")
    assert repairs_in(episode_of(asked.run("pytest", "===== 5 passed in 0.10s ====="))) == []


@pytest.mark.parametrize(
    ("wrong", "said", "right"),
    [
        ("npm --prefix web test", 'npm error Missing script: "test"', "npm test -- web"),
        ("cargo deny check", "error: no such command: `deny`", "mise x cargo:cargo-deny -- cargo deny check"),
    ],
)
def test_a_check_that_was_called_wrongly_is_answered_by_the_right_call_even_if_it_complains(
    script: Begin, episode_of: Extracted, wrong: str, said: str, right: str
) -> None:
    log = script("s").prompt("Test").run(wrong, said, code=1)
    complains = "FAIL src/cart.test.ts\nTests  1 failed | 3 passed (4)" if "npm" in wrong else "advisories FAILED"
    log = log.run(right, complains, code=1).edit("web/cart.ts", "deny.toml").run(right, "")
    found = {error: changes for error, changes, _ in repairs_in(episode_of(log))}
    (called,) = [changes for error, changes in found.items() if "unknown" in error]
    assert called == [f"run {right}"]


def test_a_filter_that_lets_nothing_through_does_not_show_that_the_task_ran(
    script: Begin, episode_of: Extracted
) -> None:
    log = (
        script("s").prompt("Test").run("cd web && mise run test:e2e 2>&1 | tail", "mise ERROR no tasks defined in web")
    )
    log = log.run("mise run test:e2e 2>&1 | grep -A 3 cart", "").run("mise run test:e2e -v 2>&1 | tail", "1 passed")
    ((_, changes, verified),) = repairs_in(episode_of(log))
    assert (changes, verified) == (["run mise run test:e2e -v 2>&1 | tail"], "run mise run test:e2e -v 2>&1 | tail")


def test_a_report_is_answered_by_what_the_agent_tries_out(script: Begin, episode_of: Extracted) -> None:
    begun = script("s").prompt("The release pipeline fails because git is dirty").edit(".gitignore")
    tried = begun.say("Now verify that it is ignored:").run(
        "mkdir -p cache && git check-ignore cache && rmdir cache", "cache"
    )
    ((_, changes, verified),) = repairs_in(episode_of(tried))
    assert (changes, verified) == (["edit .gitignore"], "run mkdir -p cache && git check-ignore cache && rmdir cache")


@pytest.mark.parametrize(
    ("words", "code"), [("Now clean up:", 0), ("Now verify that it is ignored:", 1)], ids=["no trial", "it failed"]
)
def test_a_command_that_tries_nothing_out_or_fails_shows_no_repair(
    script: Begin, episode_of: Extracted, words: str, code: int
) -> None:
    begun = script("s").prompt("The release pipeline fails because git is dirty").edit(".gitignore")
    assert repairs_in(episode_of(begun.say(words).run("mkdir -p cache && rmdir cache", "", code=code))) == []


def test_the_same_tool_called_rightly_answers_wrong_arguments(script: Begin, episode_of: Extracted) -> None:
    refused = "MCP error -32602: Input validation error: Invalid arguments for tool find-library"
    log = script("s").prompt("Look").call("mcp__docs__find-library", {"name": "x"}, error=refused)
    log = log.call("mcp__docs__find-library", {"query": "upload files"}, output="Available libraries: x")
    ((error, changes, _),) = repairs_in(episode_of(log))
    assert error == "mcp__docs__find-library fails: invalid arguments"
    assert len(changes) == 1


def test_ci_asked_about_in_one_turn_and_looked_at_in_the_next_is_repaired_by_what_was_pushed(
    script: Begin, episode_of: Extracted
) -> None:
    log = script("s").prompt("investigate why CI failed").say("I look.").prompt("was it the release?")
    log = log.run("tail -50 /tmp/job.log", CI_FAILED).say("A name.").prompt("fix it").edit("api/cart.go")
    log = log.run("git push", "To github.com:shop/shop.git\n   1a2b3c4..5d6e7f8  main -> main")
    watched = log.run("gh run watch 12 --exit-status", "JOBS\n\u2713 publish in 1m (ID 3)")
    found = repairs_in(episode_of(watched))
    assert [(error, changes) for error, changes, _ in found] == [("CI fails: lint", ["edit api/cart.go"])]


NO_SEATS = "Error: flight HAT030 is not available"


@pytest.mark.parametrize(
    ("flights", "repaired"),
    [(["HAT052"], False), (["HAT212", "HAT052"], True), (["HAT212"], True)],
    ids=["left out", "another in its place", "another for both"],
)
def test_a_tool_that_goes_without_what_the_error_names_did_only_the_rest(
    script: Begin, episode_of: Extracted, *, flights: list[str], repaired: bool
) -> None:
    log = script("s").prompt("Book").call("mcp__air__book", {"flights": ["HAT030", "HAT052"]}, error=NO_SEATS)
    episode = episode_of(log.call("mcp__air__book", {"flights": flights}, output="booked"))
    assert bool(episode.fixes) is repaired


NOT_THERE = "rg: .shop.toml: No such file or directory (os error 2)\nshop.toml:24:test = 'bun test'"


@pytest.mark.parametrize(
    ("command", "repaired"),
    [
        ("rg -n 'semver' shop.toml src/cart.rs", False),
        ("rg -n 'semver' config/.shop.toml", False),
        ("rg -n 'bun test' config/.shop.toml shop.toml", True),
    ],
    ids=["in what was there", "for something else", "the same where it is"],
)
def test_a_search_is_answered_where_it_finds_what_was_sought_in_the_missing_file(
    script: Begin, episode_of: Extracted, *, command: str, repaired: bool
) -> None:
    log = script("s").prompt("Look").run("rg -n 'bun test' .shop.toml shop.toml", NOT_THERE, code=2)
    assert bool(episode_of(log.run(command, "24: test = 'bun test'")).fixes) is repaired


@pytest.mark.parametrize("tail", ["", " 2>/dev/null || echo none"], ids=["it shows", "it need not show"])
def test_a_look_with_something_to_fall_back_on_answers_nothing(
    script: Begin, episode_of: Extracted, *, tail: str
) -> None:
    missing = "head: cannot open 'template.js' for reading: No such file or directory"
    log = script("s").prompt("Look").run("head -5 template.js", missing, code=1)
    assert bool(episode_of(log.run(f"head -5 lib/template.js{tail}", "x")).fixes) is (not tail)


@pytest.mark.parametrize(("looks", "repaired"), [(2, True), (9, False)], ids=["soon", "long after"])
def test_a_command_that_acts_on_something_else_long_after_is_no_repair(
    script: Begin, episode_of: Extracted, *, looks: int, repaired: bool
) -> None:
    log = script("s").prompt("Send").run("courier send first --note x", "Error: No content to send", code=1)
    for number in range(looks):
        log = log.run(f"cat notes-{number}.txt", "x")
    assert bool(episode_of(log.run("courier send second", "sent")).fixes) is repaired


@pytest.mark.parametrize(
    ("commit", "repaired"),
    [("git commit -m cart", True), ("git commit -n -m cart", False), ("git commit --no-verify -m cart", False)],
)
def test_a_commit_without_its_hooks_does_not_show_that_they_are_content(
    script: Begin, episode_of: Extracted, *, commit: str, repaired: bool
) -> None:
    log = script("s").prompt("Commit").run("git commit -m cart", TYPES_FAIL, code=1).edit("src/cart.ts")
    log = log.run(commit, "[main 1a2b3c4] cart\n 1 file changed, 1 insertion(+)")
    assert bool(episode_of(log).fixes) is repaired


def test_a_dependency_that_does_not_build_is_answered_by_the_command_and_not_by_edits(
    script: Begin, episode_of: Extracted
) -> None:
    broken = "error: failed to run custom build command for `zlib-sys v0.8.3`\n\nCaused by:\n  pkg-config not found"
    log = script("s").prompt("Test").run("cargo test --no-default-features", broken, code=101).edit("src/cart.rs")
    episode = episode_of(log.run("cargo test", "test result: ok. 1 passed; 0 failed; 0 ignored"))
    assert [(error, changes) for error, changes, _ in repairs_in(episode)] == [
        ("cargo test fails: dependency not built", ["run cargo test"])
    ]


def unchecked(*files: str) -> str:
    """What golangci-lint says of an error that is dropped in each of these files."""
    found = "".join(f"{file}:3:1: Error return value is not checked (errcheck)\n\ttax()\n" for file in files)
    return f"{found}{len(files)} issues:\n* errcheck: {len(files)}\n"


def test_what_is_repaired_in_two_steps_is_credited_to_both(script: Begin, episode_of: Extracted) -> None:
    log = script("s").prompt("Lint").run("golangci-lint run ./...", unchecked("api/cart.go", "api/tax.go"), code=1)
    log = log.edit("api/cart.go").edit("api/sums.go").run("golangci-lint run ./...", unchecked("api/tax.go"), code=1)
    repairs = repairs_in(episode_of(log.edit("api/tax.go").run("golangci-lint run ./...", "0 issues.")))
    assert [changes for _, changes, _ in repairs] == [["edit api/cart.go", "edit api/tax.go"], ["edit api/tax.go"]]


def edits_credited(episode: Episode) -> list[list[int]]:
    """By fix which of the session's edits it credits, counted from 0."""
    edits = [one.id for one in episode.decisions if one.chosen.startswith("edit ")]
    return [[edits.index(change) for change in fix.changes] for fix in episode.fixes]


def test_what_a_linter_finds_in_another_file_later_is_no_part_of_the_first_repair(
    script: Begin, episode_of: Extracted
) -> None:
    log = script("s").prompt("Lint").run("golangci-lint run ./...", unchecked("api/cart.go"), code=1)
    log = log.edit("api/cart.go").run("golangci-lint run ./...", unchecked("api/tax.go"), code=1)
    log = log.edit("api/cart.go", "c", "d").edit("api/tax.go").run("golangci-lint run ./...", "0 issues.")
    assert edits_credited(episode_of(log)) == [[0], [2]]


def test_what_a_linter_finds_in_another_line_later_is_no_part_of_the_first_repair(
    script: Begin, episode_of: Extracted
) -> None:
    dropped = "api/cart.go:3:1: Error return value is not checked (errcheck)\n\t{0}\n\t^\n"
    first, second = "store.Save(cart)", "store.Close(cart)"
    log = script("s").prompt("Lint").run("golangci-lint run ./...", dropped.format(first), code=1)
    log = log.edit("api/cart.go", first, f"return {first}").say("The other one:")
    log = log.run("golangci-lint run ./...", dropped.format(second), code=1)
    log = log.edit("api/cart.go", second, f"return {second}").run("golangci-lint run ./...", "0 issues.")
    assert edits_credited(episode_of(log)) == [[0], [1]]


def out_of_form(*removed: str) -> str:
    """What biome says of the form of these lines of a file."""
    lines = "".join(f"    {number} \u2502 - {line}\n" for number, line in enumerate(removed, 7))
    rule = "\u2501" * 12
    return (
        f"$ biome check\nsrc/cart.ts format {rule}\n\n  \u00d7 Formatter would have printed:\n\n{lines}\nFound 1 error."
    )


def test_lines_that_are_brought_into_form_by_hand_count_though_the_new_ones_are_not_in_form_yet(
    script: Begin, episode_of: Extracted
) -> None:
    once, again, right = (
        "const total = await\n  sums(first)",
        "const total = await sums(first)",
        "const total =\n  await sums(first)",
    )
    log = (
        script("s")
        .prompt("Lint")
        .run("bun run lint", out_of_form(*once.splitlines()), code=1)
        .edit("src/cart.ts", once, again)
    )
    log = log.edit("src/tax.ts").run("bun run lint", out_of_form(again), code=1).edit("src/cart.ts", again, right)
    repairs = repairs_in(
        episode_of(log.run("bun run lint", "$ biome check\nChecked 2 files in 1ms. No fixes applied."))
    )
    assert [changes for _, changes, _ in repairs] == [["edit src/cart.ts", "edit src/cart.ts"], ["edit src/cart.ts"]]
