"""Does an explanation say what to read first in a session that went wrong, and never stay silent there?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from helix_cli.app import run
from helix_episodes.extraction.pipeline import extract
from helix_episodes.model import CommandRun
from helix_episodes.readers import read_sessions
from helix_episodes.session import Session, Source, Step
from helix_graph import Memory
from helix_graph.causality.fault_localization import explanation_of, unrepaired_errors
from helix_graph.causality.reading_order import FITTED
from session_script import Script
from small_worlds import memory_of, session

if TYPE_CHECKING:
    from pathlib import Path

    from helix_graph.causality.fault_localization import Explanation


def explained(script: Script, folder: Path, **changes: Any) -> Explanation:  # noqa: ANN401  (fields of an Episode)
    (read,) = read_sessions(script.save(folder))
    return explanation_of(replace(extract(read), **changes), (), session=read)


def test_what_the_user_refused_is_read_first(tmp_path: Path) -> None:
    script = Script("s").prompt("Describe the trailers").say("I will look").run("cat notes.md", "nothing").edit("a.md")
    arguments = {"file_path": "/work/shop/b.md", "old_string": "a", "new_string": "b"}
    script.rejected("Edit", arguments, "that is not how trailers work").edit("c.md").say("All trailers are described.")
    first, *_ = explained(script, tmp_path, outcome="unknown").reading
    assert "b.md" in first.quote
    assert "the user refused it" in first.reasons
    assert first.chance is None, "of a single agent's log nobody knows how likely"


def test_the_same_failure_again_and_again_is_one_place(tmp_path: Path) -> None:
    script = Script("s").prompt("Mend the cart")
    for _ in range(7):
        script.edit_fails("cart.py").say("Once more.")
    first, *_ = explained(script, tmp_path).reading
    assert (first.trouble, first.quote[:10]) == ("the same failure 7 times", "Edit fails")
    assert (first.line, first.last_line, len(first.steps)) == (3, 21, 7)


@pytest.mark.parametrize(("command", "thrown"), [("git stash drop", True), ("git stash pop", False)])
def test_from_a_stash_to_its_drop_is_one_place_even_in_a_success(tmp_path: Path, command: str, *, thrown: bool) -> None:
    script = Script("s").prompt("Mend the cart").run("git stash").run("git switch main").run(command, "done")
    found = [(one.trouble, one.line, one.last_line) for one in explained(script, tmp_path, outcome="success").reading]
    assert found == ([("throws away changes that were not committed", 2, 6)] if thrown else [])


def test_a_command_that_code_or_a_search_only_names_throws_nothing_away(tmp_path: Path) -> None:
    script = Script("s").prompt("Mend the cart").edit("reset.go", 'fmt.Print("a")', 'fmt.Print("git reset --hard")')
    script.run("grep -rn 'git reset --hard' .", "reset.go:1").run("git commit -m 'Suggest it: git reset --hard'")
    found = explained(script, tmp_path, outcome="success").reading
    assert not [one for one in found if one.trouble and "throws away" in one.trouble]


def test_a_failure_without_any_signal_has_an_order_all_the_same(tmp_path: Path) -> None:
    found = memory_of(tmp_path, [session("one", "run look", "run deploy", success=False)]).causality.explain("one")
    assert not found.suspects
    assert {step for place in found.reading for step in place.steps} == {"d001", "d002"}
    assert found.read_from.startswith("the episode")


def test_a_success_without_trouble_has_nothing_to_read() -> None:
    assert explanation_of(session("one", "run look", "run deploy", success=True), ()).reading == ()


def test_a_look_up_that_found_nothing_is_not_called_never_repaired() -> None:
    steps = ("edit a.py", "Read fails: file not found", "grep fails: no such file", "pytest fails: KeyError")
    assert [one.check for one in unrepaired_errors(session("one", *steps, success=False))] == ["pytest"]


@pytest.mark.parametrize(("later", "lasting"), [("test", []), ("lint", ["make"])])
def test_a_failed_build_is_overtaken_by_tests_that_pass(later: str, lasting: list[str]) -> None:
    runs = (
        CommandRun(check="make", kind="build", passed=False, events=("e002",)),
        CommandRun(check="other", kind=later, passed=True),  # type: ignore[arg-type]  # one of its kinds
    )
    episode = session("one", "edit a.py", "make fails: syntax error", "other passes", success=False, runs=runs)
    assert [one.check for one in unrepaired_errors(episode)] == lasting


def test_among_several_agents_places_have_chances_and_echoes_come_last() -> None:
    told = [
        ("prompt", "user", "How many ships of 1905 are left?"),
        ("message", "agent:Planner", "Let us assume that the Harbour List names 12 ships."),
        ("message", "agent:Coder", "```python\nprint(12 - 5)\n```"),
        ("result", "agent:Coder", "7"),
        ("message", "agent:Planner", "TERMINATE 7 ships are left."),
    ]
    steps = tuple(
        Step(kind=kind, source=Source(line=line), actor=actor, text=text)  # type: ignore[arg-type]  # as listed
        for line, (kind, actor, text) in enumerate(told, 1)
    )
    chat = Session(id="one", agent="chat", reader="test", steps=steps)
    reading = explanation_of(session("one", success=False), (), session=chat).reading
    assert sum(one.chance or 0.0 for one in reading) == pytest.approx(1.0)
    assert reading[-1].line == 4
    assumed = next(one for one in reading if one.line == 2)
    assert "assumes or simulates something" in assumed.reasons


def test_the_log_is_read_again_where_its_agent_keeps_it_and_secrets_are_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    secret = "ghp_" + "Q7r2T9w4" * 5
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    script = Script("s", root=str(tmp_path)).prompt("Ship it").say(f"I assume that {secret} is right and go on.")
    log = script.save(tmp_path / "claude" / "projects" / "shop")
    memory = Memory.init(tmp_path)
    memory.extract([log])
    assert memory.causality.explain("s").read_from == "the log"
    assert memory.causality.explain("s", from_log=False).read_from.startswith("the episode")
    monkeypatch.chdir(tmp_path)
    assert run(["explain", "s"]) == 0
    said = capsys.readouterr().out
    assert "Read first (from the log):" in said
    assert "assumes or simulates something" in said
    assert secret not in said
    log.unlink()
    assert memory.causality.explain("s").read_from.startswith("the episode")


@pytest.mark.corpus
@pytest.mark.slow
def test_three_of_four_marked_messages_are_among_the_first_three_and_half_is_read_before_them(corpora: Path) -> None:
    """The frozen weights, on the runs that they were fitted on: `benchmarks/reading_order.py` leaves runs out."""
    import numpy as np
    import reading_order as benchmark

    weights = np.array([FITTED[name] for name in benchmark.names()])
    for half, top in zip(benchmark.HALVES, (52, 14), strict=True):
        runs = benchmark.read_half(corpora / "who-and-when" / half)
        before = [benchmark.place_of(run, weights).before for run in runs]
        assert sum(one < 3 for one in before) >= top
        assert sum(before) <= 0.6 * sum(run.marked for run in runs)


def test_who_interrupted_and_what_is_said_and_nothing_is_called_an_answer(tmp_path: Path) -> None:
    fails = "FAILED tests/test_a.py::test_refund - AssertionError: assert 11 == 10\n1 failed in 0.1s"
    script = Script("s").prompt("Refunds").edit("a.py").edit("tests/test_a.py").run("pytest -q", fails, code=1)
    script.say("No change, so it is not the set-up. I'll try 12.")
    script._line("user", {"role": "user", "content": [{"type": "text", "text": "[Request interrupted by user]"}]})
    found = explained(script, tmp_path)
    assert found.rule == "pytest was not seen passing again, and the user interrupted the session"
    assert found.reading[0].trouble == f"the user interrupted this in line {found.reading[0].last_line}"
    assert "it is not the set-up" in found.reading[0].quote
    assert not [one for one in found.reading if "answer" in " ".join(one.reasons)]
    # A test says what is wrong with the code: that was changed with it and comes first.
    assert [one.chosen for one in found.suspects] == ["edit a.py", "edit tests/test_a.py"]
    assert "the last change of code before the first failure that lasted" in found.suspects[0].reasons[1]
