"""What is linked to what, and what takes the credit for a fix?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from helix_episodes.extraction.pipeline import extract
from helix_episodes.readers import read_sessions
from thoroughness import examples

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from helix_episodes.model import Episode
    from session_script import Script

    Begin = Callable[..., Script]
    Extracted = Callable[[Script], Episode]

RUFF_FAILS = "shop/cart.py:3:1: F401 [*] `os` imported but unused\nFound 1 error."
RUFF_PASSES = "All checks passed!"
PYTEST_FAILS = (
    "FAILED tests/test_cart.py::test_total - AssertionError: assert 3 == 4\n===== 1 failed, 4 passed in 0.12s ====="
)
SCRIPT_FAILS = (
    'Traceback (most recent call last):\n  File "/work/shop/run.py", line 3, in <module>\n    x()\n'
    "NameError: name 'x' is not defined"
)
PYTEST_PASSES = "===== 5 passed in 0.10s ====="


def named(episode: Episode) -> set[tuple[str, str, str]]:
    """Links as (source, reason, target) in words."""
    words = {one.id: one.chosen for one in episode.decisions} | {one.id: one.content for one in episode.events}
    return {(words[link.source], link.reason, words[link.target]) for link in episode.links}


def test_a_failing_check_its_answer_and_the_run_that_verifies_it(script: Begin, episode_of: Extracted) -> None:
    log = script("s").prompt("Lint").run("ruff check .", RUFF_FAILS, code=1)
    episode = episode_of(log.edit("shop/cart.py").run("ruff check .", RUFF_PASSES))
    assert named(episode) == {
        ("run ruff check .", "call", "ruff fails: F401"),
        ("ruff fails: F401", "answer", "edit shop/cart.py"),
        ("edit shop/cart.py", "edit-test", "ruff passes"),
        ("run ruff check .", "call", "ruff passes"),
    }
    (fix,) = episode.fixes
    assert (fix.error, fix.changes, fix.check, fix.verified_by, fix.share) == ("e001", ("d002",), "ruff", "e002", 1.0)
    assert episode.lessons[0].startswith("When ruff fails: F401")
    assert episode.lesson_evidence[0].derived


def test_a_change_is_not_blamed_for_a_failure_that_was_there_before(script: Begin, episode_of: Extracted) -> None:
    log = script("s").prompt("Test").run("pytest", PYTEST_FAILS, code=1)
    log = log.edit("shop/cart.py").run("pytest", PYTEST_FAILS, code=1)
    assert not any(reason == "edit-test" for _, reason, _ in named(episode_of(log)))


def test_a_change_is_linked_to_the_failure_it_brought(script: Begin, episode_of: Extracted) -> None:
    log = (
        script("s").prompt("Test").run("pytest", PYTEST_PASSES).edit("shop/cart.py").run("pytest", PYTEST_FAILS, code=1)
    )
    links = [target for source, reason, target in named(episode_of(log)) if reason == "edit-test" and "edit" in source]
    assert len(links) == 1
    assert links[0].startswith("pytest fails")


def test_every_change_since_the_last_failing_run_shares_the_credit(script: Begin, episode_of: Extracted) -> None:
    log = script("s").prompt("Test").run("pytest", PYTEST_FAILS, code=1).edit("shop/old.py")
    log = log.run("pytest", PYTEST_FAILS, code=1).edit("shop/cart.py").edit("shop/tax.py").edit("README.md")
    episode = episode_of(log.run("pytest", PYTEST_PASSES))
    chosen = {one.id: one.chosen for one in episode.decisions}
    shares = {tuple(chosen[change] for change in fix.changes): fix.share for fix in episode.fixes}
    assert shares == {("edit shop/cart.py", "edit shop/tax.py"): 0.5}


def test_where_a_linter_names_the_file_only_changes_to_it_count(script: Begin, episode_of: Extracted) -> None:
    log = script("s").prompt("Lint").run("ruff check .", RUFF_FAILS, code=1).edit("shop/tax.py").edit("shop/cart.py")
    (fix,) = episode_of(log.run("ruff check .", RUFF_PASSES)).fixes
    assert fix.changes == ("d003",)


def test_a_pass_of_one_test_verifies_no_other(script: Begin, episode_of: Extracted) -> None:
    log = script("s").prompt("Test").run("pytest", PYTEST_FAILS, code=1).edit("shop/cart.py")
    assert episode_of(log.run("pytest tests/test_tax.py", "===== 1 passed in 0.10s =====")).fixes == ()


def test_a_tools_error_is_repaired_when_the_call_goes_well(script: Begin, episode_of: Extracted) -> None:
    log = script("s").prompt("Edit").edit_fails("shop/cart.py")
    log = log.call("Read", {"file_path": "/work/shop/shop/cart.py"}, output="1\tx").edit("shop/cart.py")
    (fix,) = episode_of(log).fixes
    assert (fix.error, fix.changes, fix.verified_by) == ("e001", ("d001",), "d001")


def test_an_edit_that_was_refused_was_never_made(script: Begin, episode_of: Extracted) -> None:
    log = script("s").prompt("Edit").edit("shop/tax.py").edit_fails("shop/cart.py", "File has not been read yet.")
    log = log.call("Read", {"file_path": "/work/shop/shop/cart.py"}, output="1\tx").edit("shop/cart.py")
    episode = episode_of(log)
    assert [one.chosen for one in episode.decisions] == ["edit shop/tax.py", "edit shop/cart.py"]
    assert [(event.type, event.caused_by) for event in episode.events] == [("error", ())]
    assert [fix.changes for fix in episode.fixes] == [("d002",)]


def test_a_call_that_failed_repairs_nothing_and_is_no_success(script: Begin, episode_of: Extracted) -> None:
    log = script("s").prompt("Edit").edit_fails("shop/cart.py").edit_fails("shop/cart.py")
    log = log.rejected("Edit", {"file_path": "/work/shop/shop/cart.py", "old_string": "x", "new_string": "y"})
    episode = episode_of(log.edit("shop/cart.py"))
    assert [one.outcome for one in episode.decisions] == ["failure", "success"]
    assert {fix.changes for fix in episode.fixes} == {("d002",)}
    assert episode.metrics.recoveries == 1  # the same failure twice in a row is repaired once


def test_a_command_that_failed_takes_no_credit_for_a_check(script: Begin, episode_of: Extracted) -> None:
    log = script("s").prompt("Test").run("pytest", PYTEST_FAILS, code=1)
    log = log.run("sed -i s/a/b/ shop/cart.py", "sed: can't read shop/cart.py: No such file", code=2)
    (fix,) = episode_of(log.edit("shop/tax.py").run("pytest", PYTEST_PASSES)).fixes
    assert fix.changes == ("d003",)


def test_a_script_is_repaired_by_the_edit_and_not_by_running_it_again(script: Begin, episode_of: Extracted) -> None:
    log = script("s").prompt("Run").run("python run.py", SCRIPT_FAILS, code=1)
    episode = episode_of(log.edit("README.md").edit("run.py").run("python run.py", "fine"))
    (fix,) = episode.fixes
    assert (fix.changes, fix.verified_by, fix.share) == (("d003",), "d004", 1.0)
    assert ("e001", "d003", "answer") in {(one.source, one.target, one.reason) for one in episode.links}


@pytest.mark.parametrize("change", ["cat > run.py <<'EOF'\nx = 1\nEOF", "sed -i s/x/y/ run.py", "tee run.py < new.py"])
def test_a_shell_command_that_writes_the_script_repairs_it(script: Begin, episode_of: Extracted, change: str) -> None:
    log = script("s").prompt("Run").run("python run.py", SCRIPT_FAILS, code=1).run(change)
    (fix,) = episode_of(log.run("python run.py", "fine")).fixes
    assert fix.changes == ("d002",)


def test_credit_for_a_script_goes_to_what_came_after_it_last_failed(script: Begin, episode_of: Extracted) -> None:
    log = script("s").prompt("Run").run("python run.py", SCRIPT_FAILS, code=1).edit("run.py")
    log = log.run("python run.py", SCRIPT_FAILS, code=1).edit("run.py").run("python run.py", "fine")
    assert {fix.changes for fix in episode_of(log).fixes} == {("d004",)}


def test_a_corrected_command_is_the_fix_and_the_same_again_is_none(script: Begin, episode_of: Extracted) -> None:
    log = script("s").prompt("Push").run("git push origin", "fatal: no upstream branch", code=128)
    (fix,) = episode_of(log.run("git push -u origin main", "done")).fixes
    assert (fix.changes, fix.verified_by) == (("d002",), "d002")
    again = script("t").prompt("Push").run("git push", "fatal: unable to access: timed out", code=128)
    assert episode_of(again.run("mkdir -p build").run("git push", "done")).fixes == ()


def test_to_see_something_else_repairs_no_look(script: Begin, episode_of: Extracted) -> None:
    log = script("s").prompt("Look").run("git diff a.go b.go", "fatal: ambiguous argument 'a.go': unknown", code=128)
    assert episode_of(log.run("git diff b.go | head -5", "+ x")).fixes == ()


def test_a_failure_shown_with_its_command_is_repaired_when_that_command_passes(
    script: Begin, episode_of: Extracted
) -> None:
    shown = "when running `mise run test:ci` I get:\n\nshop/tax_test.go:7:3: undefined: rate"
    log = script("s").prompt(shown).edit("shop/cart.go").edit("shop/tax_test.go")
    episode = episode_of(log.run("mise run test:ci 2>&1 | head -50", "ok  \tshop/tax\t0.01s"))
    (fix,) = episode.fixes
    assert (fix.error, fix.changes) == ("e001", ("d002",))
    assert fix.verified_by == "e002"
    assert ("e001", "d002", "answer") in {(one.source, one.target, one.reason) for one in episode.links}


def test_what_a_person_accepts_is_credited_to_what_was_taken_away_and_to_no_trial(
    script: Begin, episode_of: Extracted
) -> None:
    log = script("s").prompt("I get this error when starting the app: RangeError").edit("shop/cart.py")
    log = log.run("rm -rf ~/.shop/sessions/").run("cat > ~/.shop/sessions/a.json <<EOF\n{}\nEOF")
    (fix,) = episode_of(log.prompt("ok, works. great")).fixes
    assert fix.changes == ("d001", "d002")


def test_a_commit_holds_the_edits_that_were_staged(script: Begin, episode_of: Extracted) -> None:
    log = script("s").prompt("Do").edit("shop/cart.py").edit("shop/tax.py")
    log = log.run("git add shop/cart.py && git commit -m x", "[main 1a2b3c4] x\n 1 file changed")
    links = {(source, target) for source, reason, target in named(episode_of(log)) if reason == "commit"}
    assert links == {("edit shop/cart.py", "x")}


def test_a_delegation_its_handing_over_and_what_came_back(script: Begin, episode_of: Extracted) -> None:
    arguments = {"subagent_type": "Explore", "description": "Find tax", "prompt": "Look."}
    episode = episode_of(script("s").prompt("Do").call("Task", arguments, output="In tax.py."))
    assert named(episode) == {
        ("delegate to Explore: Find tax", "spawn", "handed to Explore: Find tax"),
        ("handed to Explore: Find tax", "spawn", "Explore came back: In tax.py."),
    }


def test_order_in_time_alone_makes_no_link(script: Begin, episode_of: Extracted) -> None:
    log = script("s").prompt("Do").edit("shop/cart.py").edit("shop/tax.py").run("git push", "done").run("mkdir x")
    assert named(episode_of(log)) == set()


steps = st.lists(
    st.sampled_from(
        [
            "edit a",
            "edit b",
            "edit fails",
            "lint fails",
            "lint passes",
            "test fails",
            "test passes",
            "commit",
            "prompt",
            "look",
        ]
    ),
    max_size=14,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=examples(60), deadline=None)
@given(what=steps)
def test_links_agree_both_ways_run_forwards_and_name_what_there_is(
    tmp_path: Path, script: Begin, what: list[str]
) -> None:
    log = script("s").prompt("Do")
    for one in what:
        play(log, one)
    (session,) = read_sessions(log.save(tmp_path))
    episode = extract(session)
    assert extract(session) == episode
    lines = {one.id: one.evidence.line for one in episode.decisions if one.evidence}
    lines |= {one.id: one.evidence.line for one in episode.events if one.evidence}
    for link in episode.links:
        assert lines[link.source] <= lines[link.target]
        assert link.source != link.target
    causes = {one.id: set(one.caused_by) for one in episode.decisions}
    causes |= {one.id: set(one.caused_by) for one in episode.events}
    effects = {one.id: set(one.effects) for one in episode.decisions}
    effects |= {one.id: set(one.leads_to) for one in episode.events}
    pairs = {(link.source, link.target) for link in episode.links}
    assert pairs == {(source, target) for target, sources in causes.items() for source in sources}
    assert pairs == {(source, target) for source, targets in effects.items() for target in targets}
    for fix in episode.fixes:
        assert all(lines[fix.error] < max(lines[change], lines[fix.error] + 1) for change in fix.changes)
        assert abs(fix.share * len(fix.changes) - 1) < 1e-5


def play(log: Script, what: str) -> None:
    match what:
        case "edit a" | "edit b":
            log.edit(f"shop/{what[-1]}.py")
        case "edit fails":
            log.edit_fails("shop/a.py")
        case "lint fails":
            log.run("ruff check .", RUFF_FAILS, code=1)
        case "lint passes":
            log.run("ruff check .", RUFF_PASSES)
        case "test fails":
            log.run("pytest", PYTEST_FAILS, code=1)
        case "test passes":
            log.run("pytest", PYTEST_PASSES)
        case "commit":
            log.run("git commit -am x", "[main 1a2b3c4] x\n 1 file changed")
        case "prompt":
            log.prompt("And more")
        case _:
            log.run("git status", "clean")


def test_a_failure_that_names_a_file_is_linked_to_the_change_of_that_file(script: Begin, episode_of: Extracted) -> None:
    log = script("s").prompt("Do").edit("shop/cart.py").edit("shop/tax.py").run("ruff check .", RUFF_FAILS, code=1)
    links = {source for source, reason, target in named(episode_of(log)) if reason == "edit-test"}
    assert links == {"edit shop/cart.py"}


def test_what_is_done_elsewhere_changes_nothing_here(script: Begin, episode_of: Extracted) -> None:
    log = script("s").prompt("Test").run("pytest", PYTEST_FAILS, code=1)
    log = log.run("cd /work/other && git checkout main", "Switched").run("rm -rf /tmp/scratch", "")
    episode = episode_of(log.run("pytest", PYTEST_PASSES))
    assert episode.fixes == ()
    assert not any(reason == "edit-test" for _, reason, _ in named(episode))


def test_aborting_is_no_solution(script: Begin, episode_of: Extracted) -> None:
    conflict = "CONFLICT (content): Merge conflict in shop/cart.py\nAutomatic merge failed"
    log = script("s").prompt("Merge").run("git merge main", conflict, code=1).run("git merge --abort")
    assert episode_of(log).fixes == ()


def test_a_check_that_could_not_start_is_no_verdict(script: Begin, episode_of: Extracted) -> None:
    log = (
        script("s")
        .prompt("Test")
        .edit("shop/cart.py")
        .run("mise run test:all", "mise ERROR no task test:all found", code=1)
    )
    episode = episode_of(log)
    assert not any(reason == "edit-test" for _, reason, _ in named(episode))
    assert episode.outcome != "success"


def test_credit_goes_to_what_came_after_the_test_last_failed(script: Begin, episode_of: Extracted) -> None:
    other = PYTEST_FAILS.replace("test_total", "test_tax")
    log = (
        script("s").prompt("Test").run("pytest", PYTEST_FAILS, code=1).edit("shop/cart.py").run("pytest", other, code=1)
    )
    episode = episode_of(log.edit("shop/tax.py").run("pytest", PYTEST_PASSES))
    chosen = {one.id: one.chosen for one in episode.decisions}
    credit = [[chosen[change] for change in fix.changes] for fix in episode.fixes]
    assert credit == [["edit shop/cart.py", "edit shop/tax.py"], ["edit shop/tax.py"]]


def test_a_build_is_no_verdict_on_tests(script: Begin, episode_of: Extracted) -> None:
    log = script("s").prompt("Do").edit("cart_test.go").edit("cart.go").run("go build ./...", "")
    links = {source for source, reason, _ in named(episode_of(log)) if reason == "edit-test"}
    assert links == {"edit cart.go"}


@pytest.mark.parametrize(
    ("command", "judged"),
    [
        ("pytest tests/test_cart.py", False),
        ("pytest tests/test_cart.py::test_total", False),
        ("pytest tests/test_cart.py tests/test_tax.py", True),
        ("pytest tests", True),
        ("pytest tests/unit tests/test_cart.py", True),
        ("pytest --ignore tests/test_cart.py", True),
        ("pytest -k total", True),
    ],
)
def test_a_run_of_named_test_files_says_nothing_of_an_edit_of_another(
    script: Begin, episode_of: Extracted, command: str, *, judged: bool
) -> None:
    log = script("s").prompt("Test").edit("shop/cart.py").edit("tests/test_tax.py").run(command, PYTEST_PASSES)
    links = named(episode_of(log))
    passes = ("edit-test", "pytest passes (5 passed)")
    assert ("edit shop/cart.py", *passes) in links
    assert (("edit tests/test_tax.py", *passes) in links) == judged


def test_the_edit_of_a_test_file_leads_to_the_next_run_of_that_file(script: Begin, episode_of: Extracted) -> None:
    log = script("s").prompt("Test").edit("tests/test_cart.py").run("pytest tests/test_tax.py", PYTEST_PASSES)
    links = named(episode_of(log.run("pytest tests/test_cart.py", PYTEST_FAILS, code=1)))
    led = {target for source, reason, target in links if (source, reason) == ("edit tests/test_cart.py", "edit-test")}
    assert [one.partition(":")[0] for one in led] == ["pytest fails"]


def test_only_what_a_person_chose_enables_the_next_step(script: Begin, episode_of: Extracted) -> None:
    said = "## Decisions\n\n1. Store cents as integers because floats round\n2. No cache"
    episode = episode_of(script("s").prompt("Design it").say(said).prompt("Go on").edit("shop/cart.py"))
    assert [one.stated for one in episode.decisions] == [True, True, False]
    assert "stated" not in {link.reason for link in episode.links}


@pytest.mark.parametrize(("changed", "answers"), [("cart/total.go", True), ("tax/total.go", False)])
def test_a_change_elsewhere_answers_what_does_not_compile_in_its_package(
    script: Begin, episode_of: Extracted, changed: str, *, answers: bool
) -> None:
    says = "# shop/cart\ncart/cart.go:3:5: undefined: Total"
    log = script("s").prompt("Do").run("go vet ./...", says, code=1).edit(changed).run("go vet ./...", "")
    found = {(source, target) for source, reason, target in named(episode_of(log)) if reason == "answer"}
    assert (f"edit {changed}" in {target for _, target in found}) is answers
