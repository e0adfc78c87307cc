"""Does a later session revise how an earlier one came out, and only where it really shows something else?"""

from __future__ import annotations

import os
import random
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from helix_cli.app import run
from helix_graph import Memory
from session_script import BEGIN

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from helix_episodes.model import Episode
    from session_script import Script

    Scripts = Callable[..., Script]

PASSES, FAILS = "3 passed in 0.1s", "FAILED tests/test_cart.py::test_total - assert 3 == 4\n1 failed, 2 passed in 0.1s"
COMMITTED = "[main abc1234] Add the cart\n 1 file changed"
REVERTED = '[main def5678] Revert "Add the cart"\n 1 file changed'


def day(script: Scripts, session: str, number: int, **options: str) -> Script:
    return script(session, begin=BEGIN + timedelta(days=number), **options).prompt(f"Work of day {number}")


def made(script: Scripts, session: str = "early") -> Script:
    work = day(script, session, 0).write("shop/cart.py").run("pytest", PASSES)
    return work.run("git commit -am 'Add the cart'", COMMITTED)


def mended(script: Scripts) -> Script:
    work = day(script, "early", 0).run("pytest", FAILS, code=1).write("shop/cart.py").run("pytest", PASSES)
    return work.run("git commit -am 'Add the cart'", COMMITTED)


def memory_of(folder: Path, scripts: Sequence[Script]) -> Memory:
    memory = Memory.init(folder)
    report = memory.extract([script.save(folder / "logs") for script in scripts])
    assert not report.failed
    memory.graph.compile()
    return memory


def early(folder: Path, *scripts: Script) -> Episode:
    return memory_of(folder, scripts).episodes.require("early")


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("git revert --no-edit abc1234", REVERTED),
        ("git -C /work/shop revert --no-edit abc1234def0", REVERTED),
        ("git revert --no-edit HEAD", REVERTED),
        ('git commit -am "Take it back\n\nThis reverts commit abc1234."', "[main def5678] Take it back"),
    ],
    ids=["by sha", "by a longer sha", "by subject", "by message"],
)
def test_a_commit_that_is_reverted_later_was_a_failure(
    tmp_path: Path, script: Scripts, command: str, output: str
) -> None:
    one = early(tmp_path, made(script), day(script, "late", 3).run(command, output))
    assert (one.outcome, one.outcome_basis) == ("failure", "measured")
    assert one.outcome_evidence is not None
    assert one.outcome_evidence.rule == "later evidence: session late, line 3: its commit is reverted (was success)"
    assert one.outcome_evidence.quote == output.partition("\n")[0]


def test_show_says_what_was_revised_and_why(
    tmp_path: Path, script: Scripts, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    memory_of(tmp_path, [made(script), day(script, "late", 3).run("git revert abc1234", REVERTED)])
    monkeypatch.chdir(tmp_path)
    assert run(["episode", "show", "early"]) == 0
    shown = capsys.readouterr().out
    assert 'outcome  failure (measured): "[main def5678] Revert ' in shown  # as a quotation
    assert 'revised  "later evidence: session late, line 3: its commit is reverted (was success)"' in shown


def test_show_says_of_a_failing_check_only_that_it_was_not_seen_passing_again(
    tmp_path: Path, script: Scripts, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    memory_of(tmp_path, [day(script, "early", 0).write("shop/cart.py").run("pytest", FAILS, code=1)])
    monkeypatch.chdir(tmp_path)
    assert run(["episode", "show", "early"]) == 0
    assert 'outcome  failure (measured): "pytest was not seen passing again": ' in capsys.readouterr().out


def test_one_of_two_commits_reverted_leaves_a_part(tmp_path: Path, script: Scripts) -> None:
    work = made(script).run("git commit -am more", "[main bbb1111] Add prices")
    assert early(tmp_path, work, day(script, "late", 3).run("git revert abc1234", REVERTED)).outcome == "partial"


@pytest.mark.parametrize(
    ("command", "output", "code"),
    [
        ("git revert 9999999", '[main def5678] Revert "Something else"', 0),
        ("git revert abc1234", "error: could not revert abc1234... Add the cart", 1),
        ("git log --grep='This reverts commit abc1234'", "def5678 This reverts commit abc1234", 0),
        ("git revert --abort", "", 0),
        ("git commit -am 'Revert the layout'", "[main def5678] Revert the layout", 0),
    ],
)
def test_what_is_no_revert_of_its_commit_leaves_it(
    tmp_path: Path, script: Scripts, command: str, output: str, code: int
) -> None:
    assert early(tmp_path, made(script), day(script, "late", 3).run(command, output, code=code)).outcome == "success"


def test_a_revert_in_the_same_session_is_no_later_evidence(tmp_path: Path, script: Scripts) -> None:
    assert early(tmp_path, made(script).run("git revert HEAD", REVERTED)).outcome == "success"


def test_a_revert_of_the_revert_gives_it_back(tmp_path: Path, script: Scripts) -> None:
    late = day(script, "late", 3).run("git revert abc1234", REVERTED)
    again = day(script, "again", 5).run("git revert def5678", '[main 777aaaa] Reapply "Add the cart"')
    memory = memory_of(tmp_path, [made(script), late, again])
    assert memory.episodes.require("early").outcome == "success"


def test_of_two_commits_with_one_subject_the_latest_is_meant(tmp_path: Path, script: Scripts) -> None:
    between = day(script, "between", 1).write("shop/b.py").run("pytest", PASSES)
    between.run("git commit -am x", "[main ccc2222] Add the cart")
    late = day(script, "late", 3).run("git revert HEAD~2", REVERTED)
    memory = memory_of(tmp_path, [made(script), between, late])
    assert memory.episodes.require("early").outcome == "success"
    assert memory.episodes.require("between").outcome == "failure"


@pytest.mark.parametrize("command", ["pytest", "pytest tests/test_cart.py", "cd /work/shop && pytest -q"])
def test_what_it_had_repaired_failing_at_once_in_the_next_session_makes_it_a_failure(
    tmp_path: Path, script: Scripts, command: str
) -> None:
    one = early(tmp_path, mended(script), day(script, "late", 1).run("git status").run(command, FAILS, code=1))
    assert one.outcome == "failure"
    assert one.outcome_evidence is not None
    assert "session late, line 5: found this check failing before it had changed anything" in one.outcome_evidence.rule


def test_a_check_that_fails_only_after_a_change_is_not_its_doing(tmp_path: Path, script: Scripts) -> None:
    late = day(script, "late", 1).edit("shop/cart.py").run("pytest", FAILS, code=1)
    assert early(tmp_path, mended(script), late).outcome == "success"


@pytest.mark.parametrize("first", ["git pull", "npm install left-pad", "git checkout other", "python migrate.py"])
def test_a_command_that_may_change_things_counts_as_a_change(tmp_path: Path, script: Scripts, first: str) -> None:
    late = day(script, "late", 1).run(first, "done").run("pytest", FAILS, code=1)
    assert early(tmp_path, mended(script), late).outcome == "success"


def test_a_run_over_more_than_it_had_checked_says_nothing(tmp_path: Path, script: Scripts) -> None:
    narrow = day(script, "early", 0).run("pytest", FAILS, code=1).write("shop/cart.py")
    narrow = narrow.run("pytest tests/test_shop.py", PASSES)
    assert early(tmp_path, narrow, day(script, "late", 1).run("pytest", FAILS, code=1)).outcome == "success"


NO_PACKAGE = "E   ModuleNotFoundError: No module named 'shop'\n1 error in 0.1s"


@pytest.mark.parametrize("output", ["zsh: command not found: pytest", NO_PACKAGE])
def test_a_machine_without_the_program_says_nothing(tmp_path: Path, script: Scripts, output: str) -> None:
    assert early(tmp_path, mended(script), day(script, "late", 1).run("pytest", output, code=127)).outcome == "success"


def test_only_the_next_session_that_worked_in_the_same_project_counts(tmp_path: Path, script: Scripts) -> None:
    talk = day(script, "talk", 1).say("The cart is in shop/cart.py.")
    other = day(script, "other", 1, root="/work/mail").run("pytest", FAILS, code=1)
    worked = day(script, "worked", 2).edit("shop/b.py").run("pytest", PASSES)
    late = day(script, "late", 3).run("pytest", FAILS, code=1)
    assert early(tmp_path / "a", mended(script), other, worked, late).outcome == "success"
    assert early(tmp_path / "b", mended(script), talk, late).outcome == "failure"


def test_a_session_begun_while_it_went_on_is_no_next_one(tmp_path: Path, script: Scripts) -> None:
    beside = script("beside", begin=BEGIN + timedelta(minutes=1)).prompt("x").run("pytest", FAILS, code=1)
    assert early(tmp_path, mended(script), beside).outcome == "success"


@pytest.mark.parametrize("test", ["tests/test_cart.py::test_tax", "tests/test_mail.py::test_total"])
def test_its_check_failing_over_something_else_is_not_its_doing(tmp_path: Path, script: Scripts, test: str) -> None:
    other = f"FAILED {test} - assert 3 == 4\n1 failed, 2 passed in 0.1s"
    assert early(tmp_path, mended(script), day(script, "late", 1).run("pytest", other, code=1)).outcome == "success"


def test_a_persons_newer_word_holds_and_an_older_one_does_not(tmp_path: Path, script: Scripts) -> None:
    memory = memory_of(tmp_path, [made(script), day(script, "late", 3).run("git revert abc1234", REVERTED)])
    told = memory.episodes.outcome("early", "partial", because="the API stayed")
    assert (told.outcome, told.outcome_basis) == ("partial", "judged")


def truth(memory: Memory) -> dict[str, bytes]:
    files = {path.name: path.read_bytes() for path in memory.root.glob("causality/assertions/*.json")}
    return {**files, "export": memory.graph.export()}


@pytest.mark.slow
def test_every_order_gives_the_same_files_and_the_same_graph(tmp_path: Path, script: Scripts) -> None:
    scripts = [
        made(script),
        day(script, "late", 3).run("git revert abc1234", REVERTED),
        day(script, "third", 4).run("pytest", FAILS, code=1).edit("shop/cart.py").run("pytest", PASSES),
        day(script, "fourth", 5).run("pytest", FAILS, code=1),
    ]
    seen = []
    for number in range(4):
        random.Random(number).shuffle(scripts)  # noqa: S311  (an order, no secret)
        memory = Memory.init(tmp_path / str(number))
        for one in scripts:
            memory.extract([one.save(tmp_path / str(number) / "logs")])
            memory.graph.compile()
        seen.append(truth(memory))
    assert seen[0] == seen[1] == seen[2] == seen[3]
    assert len(seen[0]) == 3


@pytest.mark.parametrize("how", ["deleted", "forgotten"])
def test_without_the_later_session_there_is_no_revision(tmp_path: Path, script: Scripts, how: str) -> None:
    alone = memory_of(tmp_path / "alone", [made(script)])
    memory = memory_of(tmp_path / "both", [made(script), day(script, "late", 3).run("git revert abc1234", REVERTED)])
    assert memory.episodes.require("early").outcome == "failure"
    if how == "deleted":
        memory.episodes.path_of("late").unlink()
        memory.graph.compile()
    else:
        proof = memory.forget(["late"]).proof
        assert proof is not None
        assert not proof.left
    assert memory.episodes.require("early").outcome == "success"
    assert truth(memory) == truth(alone)


def test_a_revision_that_somebody_deletes_comes_back(tmp_path: Path, script: Scripts) -> None:
    memory = memory_of(tmp_path, [made(script), day(script, "late", 3).run("git revert abc1234", REVERTED)])
    before = truth(memory)
    for path in memory.root.glob("causality/assertions/*.json"):
        path.unlink()
    memory.graph.compile()
    assert truth(memory) == before


def test_compiling_again_changes_nothing_and_a_dry_run_writes_nothing(tmp_path: Path, script: Scripts) -> None:
    memory = memory_of(tmp_path, [made(script)])
    memory.extract([day(script, "late", 3).run("git revert abc1234", REVERTED).save(tmp_path / "logs")])
    memory.graph.compile(dry_run=True)
    assert memory.episodes.require("early").outcome == "success"
    memory.graph.compile()
    report = memory.graph.compile()
    assert (report.episodes_processed, report.assertions_processed) == (0, 0)
    assert memory.episodes.require("early").outcome == "failure"


def test_a_measured_failure_lowers_what_works(tmp_path: Path, script: Scripts) -> None:
    memory = memory_of(tmp_path, [made(script), day(script, "late", 3).run("git revert abc1234", REVERTED)])
    assert [one.session for one in memory.episodes.list(outcome="failure")] == ["early"]


def test_only_files_that_changed_are_read_again(tmp_path: Path, script: Scripts) -> None:
    """What an unchanged file told is remembered: nobody notices that its content can no longer be read."""
    memory = memory_of(tmp_path, [made(script)])
    path = memory.graph.episodes / "episode-early.json"
    before = datetime.now(tz=UTC).timestamp() - 60
    os.utime(path, (before, before))
    memory.graph.compile()
    whole = path.read_bytes()
    path.write_bytes(b" " * len(whole))
    os.utime(path, (before, before))
    memory.extract([day(script, "late", 3).run("git revert abc1234", REVERTED).save(tmp_path / "logs")])
    memory.graph.compile()
    path.write_bytes(whole)
    assert memory.episodes.require("early").outcome == "failure"


def test_what_is_remembered_gives_the_same_revisions_as_reading_everything(tmp_path: Path, script: Scripts) -> None:
    late, again = day(script, "late", 3), day(script, "again", 5)
    logs = [
        made(script),
        late.run("git revert abc1234", REVERTED),
        again.run("git revert def5678", '[main 777aaaa] Reapply "Add the cart"'),
    ]
    memory = memory_of(tmp_path, logs)
    kept: dict[str, bytes] = {}
    for name in ("again", "late", "early"):
        for fresh in (False, True):
            if fresh:
                memory.graph.path_of_file.unlink()
            memory.graph.compile()
            files = sorted((memory.graph.causality / "assertions").glob("*.json"))
            found = {path.name: path.read_bytes() for path in files}
            assert not fresh or found == kept
            kept = found
        (memory.graph.episodes / f"episode-{name}.json").unlink()
