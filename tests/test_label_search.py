"""Do a person's words find the label, file or session that they mean?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from helix_cli.app import run
from helix_episodes.errors import InvalidArgument
from thoroughness import few_rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from episode_drawing import Draw, Remember
    from helix_episodes.model import Episode
    from helix_graph import Memory
    from helix_graph.graph.api import Graph
    from session_script import Script


@pytest.mark.parametrize(
    ("words", "meant"),
    few_rows(
        [
            ("tests fail", "pytest fails: ModuleNotFoundError: respx"),
            ("failing tests", "pytest fails: ModuleNotFoundError: respx"),
            ("test failure", "pytest fails: ModuleNotFoundError: respx"),
            ("tests green", "pytest passes"),
            ("linter passes", "ruff passes"),
            ("the linter complains", "ruff fails"),
            ("lint is clean", "ruff passes"),
            ("touching cart.py", "edit shop/cart.py"),
            ("cart.py", "edit shop/cart.py"),
            ("committed", "commit"),
            ("the tests don't pass", "pytest fails: ModuleNotFoundError: respx"),
            ("tests no longer pass", "pytest fails: ModuleNotFoundError: respx"),
            ("type check", "mypy fails"),
            ("code style problem", "ruff fails"),
            ("require", "edit requirements-dev.txt"),
            ("changed cart.py", "edit shop/cart.py"),
            ("changes to the cart module", "edit shop/cart.py"),
            ("the session went well", "success"),
            ("failures of the linter in the shop folder", "ruff fails"),
            ("a commit is made", "commit"),
            ("requirments changed", "edit requirements-dev.txt"),
            ("the lnter complains", "ruff fails"),
            ("the lnter doesn't pass", "ruff fails"),
        ],
        12,
    ),
)
def test_words_find_what_they_mean_among_the_first_three(demo_memory: Memory, words: str, meant: str) -> None:
    names = [one.name for one in demo_memory.graph.labels(words, limit=3).labels]
    assert any(name.startswith(meant.partition(":")[0]) for name in names), names


def test_a_session_is_found_by_its_task(demo_memory: Memory) -> None:
    first = demo_memory.graph.labels("gift cards pay for part of an order", limit=1).labels[0]
    assert first.type == "session"
    assert first.session
    assert demo_memory.episodes.require(first.session).task == first.name


def test_without_words_the_most_shared_come_first(demo_memory: Memory) -> None:
    answer = demo_memory.graph.labels(limit=5)
    counts = [one.sessions for one in answer.labels]
    assert counts == sorted(counts, reverse=True)
    assert answer.total > len(answer.labels) == 5


def test_a_word_that_nobody_used_does_not_hide_what_the_others_mean(demo_memory: Memory) -> None:
    first = demo_memory.graph.labels("gift xylophone zebra balustrade", limit=1).labels[0]
    assert "gift" in first.name.casefold()
    assert (first.share or 1.0) < 0.5


def test_words_of_no_session_find_nothing(demo_memory: Memory) -> None:
    assert demo_memory.graph.labels("zebra xylophone").labels == ()
    with pytest.raises(InvalidArgument, match="text is empty"):
        demo_memory.graph.labels(" ")


def test_the_command_lists_and_searches(
    demo_memory: Memory, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HELIX_DIR", str(demo_memory.root))
    assert run(["labels", "linter passes", "--limit", "1"]) == 0
    assert "ruff passes" in capsys.readouterr().out
    assert run(["labels", "--- xylophone --- zebra"]) == 0
    assert "Nothing matches" in capsys.readouterr().out
    assert run(["labels", "gift xylophone zebra balustrade"]) == 0
    assert "Nothing has most of these words" in capsys.readouterr().out


def test_what_a_command_writes_or_throws_away_is_not_what_it_is_about(
    script: Callable[[str], Script], episode_of: Callable[[Script], Episode], remember: Remember
) -> None:
    log = script("s1").prompt("Work on the shop").run("git push").run("make notes 2>/dev/null")
    graph = remember(episode_of(log.run("python3 - <<'EOF'\nbutton.colour = 'blue'\nEOF")))
    assert graph.labels("blue button").labels == ()
    assert graph.labels("null").labels == ()
    assert graph.labels("notes", limit=1).labels[0].share == 1.0
    assert (graph.labels("cannot push", limit=1).labels[0].share or 0) >= 0.99


def test_what_somebody_only_looked_at_comes_after_what_was_done(
    script: Callable[[str], Script], episode_of: Callable[[Script], Episode], remember: Remember
) -> None:
    log = script("s1").prompt("Work on the shop").run("cat shop/refunds.txt", "a").run("make refunds")
    graph = remember(episode_of(log))
    assert [one.name for one in graph.labels("refunds").labels][:1] == ["run make refunds"]


def test_messages_of_one_rule_that_fit_alike_are_offered_as_the_rule(
    script: Callable[[str], Script], episode_of: Callable[[Script], Episode], remember: Remember
) -> None:
    log = script("s1").prompt("Work on the shop")
    for number, name in enumerate(("Load", "Save", "Close"), 1):
        log = log.run(
            "golangci-lint run",
            f"shop/cart.go:{number}:2: error returned from external package is unwrapped: sig: func pkg.{name}() error"
            " (wrapcheck)\n1 issues:\n* wrapcheck: 1\n",
            code=1,
        )
    graph = remember(episode_of(log))
    first, *others = graph.labels("external errors are not wrapped").labels
    assert first.name == "golangci-lint fails: wrapcheck"
    assert len(first.places) == 3
    assert not any("pkg." in one.name for one in others)


def test_an_exception_that_a_person_pastes_finds_what_they_reported(
    script: Callable[[str], Script], episode_of: Callable[[Script], Episode], remember: Remember
) -> None:
    told = "Since yesterday I get the following error when the shop starts, and I think that it is from the import."
    log = script("s1").prompt(
        f"{told} Can you look? {'It is odd. ' * 20}\nRangeError: Invalid Date\n    at toISOString"
    )
    graph = remember(episode_of(log.edit("shop/cart.ts", "a", "b")))
    assert graph.labels("RangeError: Invalid Date", limit=1).labels[0].name.endswith("RangeError: Invalid Date")


def test_what_a_person_does_not_see_is_a_report(
    script: Callable[[str], Script], episode_of: Callable[[Script], Episode], remember: Remember
) -> None:
    log = script("s1").prompt("Show the date on the invoice").edit("shop/invoice.py", "a", "b")
    graph = remember(episode_of(log.prompt("I don't see the change come through in the invoice")))
    assert graph.labels("not seeing the change", limit=1).labels[0].label == "work fails: reported by the user"


def test_a_pass_is_found_by_what_was_run(
    script: Callable[[str], Script], episode_of: Callable[[Script], Episode], remember: Remember
) -> None:
    log = script("s1").prompt("Work on the shop").edit("shop/cart.py", "a", "b")
    for name in ("cart", "refunds", "stock"):
        log = log.run(f"pytest tests/test_{name}.py", "1 passed in 0.01s")
    graph = remember(episode_of(log))
    first = {name: graph.labels(f"{name} test passes", limit=1).labels[0] for name in ("cart", "refunds", "stock")}
    assert {one.name for one in first.values()} == {"pytest passes"}
    assert len({one.places[0].line for one in first.values()}) == 3


def test_a_branch_or_a_message_comes_after_what_it_names(
    script: Callable[[str], Script], episode_of: Callable[[Script], Episode], remember: Remember
) -> None:
    log = script("s1").prompt("Work on the shop").run("git switch -c fix-refunds-import")
    graph = remember(episode_of(log.run("python tools/refunds_import.py --since monday")))
    assert graph.labels("refunds import", limit=1).labels[0].name.startswith("run python tools/refunds_import.py")
    assert graph.labels("refunds import branch", limit=1).labels[0].name.startswith("run git switch")


def test_a_failing_test_is_found_by_its_name_where_its_message_says_something_else(
    script: Callable[[str], Script], episode_of: Callable[[Script], Episode], remember: Remember
) -> None:
    log = script("s1").prompt("Work on the shop")
    for name, said in (("TestRefund_KeepsReceipt", "nothing was found"), ("TestStock_CountsReturns", "one fails")):
        output = f"--- FAIL: {name} (0.01s)\n    shop_test.go:12: {said}\nFAIL\nFAIL\texample.com/shop\t0.01s"
        log = log.run("go test ./...", output, code=1)
    graph = remember(episode_of(log))
    assert graph.labels("TestRefund_KeepsReceipt fails", limit=1).labels[0].name.endswith("TestRefund_KeepsReceipt")


@pytest.mark.parametrize("words", ["why was the stale discount discarded", "outdated discount dropped"])
def test_synonyms_find_what_logs_call_otherwise(
    script: Callable[[str], Script], episode_of: Callable[[Script], Episode], remember: Remember, words: str
) -> None:
    log = script("s1").prompt("Remove the legacy discount").edit("shop/cart.py", "old_rate()", "")
    other = script("s2").prompt("Add the new discount to the receipt").edit("shop/receipt.py", "a", "b")
    graph = remember(episode_of(log), episode_of(other))
    assert "s1" in str(graph.labels(words, limit=1).labels[0].places[0].episode)


def test_a_label_whose_mentions_a_finer_answer_shows_is_not_offered_again(
    script: Callable[[str], Script], episode_of: Callable[[Script], Episode], remember: Remember
) -> None:
    output = "shop/cart.go:4:2: undefined: Rebate\nFAIL\texample.com/shop [build failed]"
    graph = remember(episode_of(script("s1").prompt("Work on the shop").run("go build ./...", output, code=1)))
    found = [one for one in graph.labels("undefined Rebate").labels if one.type == "error"]
    assert len(found) == 1


def test_of_many_mentions_each_session_is_shown_before_the_second_of_one(
    script: Callable[[str], Script], episode_of: Callable[[Script], Episode], remember: Remember
) -> None:
    busy = script("s1").prompt("Work on the shop")
    for number in range(12):
        busy = busy.edit("shop/cart.py", f"a{number}", f"b{number}").run(f"make step{number}")
    others = [script(f"s{number}").prompt("Work on it").edit("shop/cart.py", "a", "b") for number in (2, 3)]
    graph = remember(episode_of(busy), *map(episode_of, others))
    places = graph.labels("changed cart.py", limit=1).labels[0].places
    assert {one.episode for one in places} == {"episode-s1", "episode-s2", "episode-s3"}
    assert len(places) == 10


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ("it works", "pytest passes"),
        ("works", "pytest passes"),
        ("everything ok", "pytest passes"),
        ("tests are green", "pytest passes"),
        ("tests passsed", "pytest passes"),
        ("code change", "edit source (.py)"),
        ("a change", "edit source (.py)"),
        ("change", "edit source (.py)"),
    ],
)
def test_a_failure_is_never_shown_for_what_works_nor_for_a_change(
    draw: Draw, remember: Remember, words: str, meant: str
) -> None:
    graph = remember(
        draw("s1", "work fails: reported by the user: it works on my code only -> edit shop/cart.py"),
        draw("s2", "edit shop/cart.py -> Edit fails: file changed since read", "edit shop/cart.py -> pytest passes"),
        draw("s3", "pytest fails: one rebate -> edit shop/cart.py"),
    )
    assert graph.causes(words).groups[0].node.label.startswith(meant)


@pytest.fixture
def checked(draw: Draw, remember: Remember) -> Graph:
    """A memory in which checks of several programs failed, were called and passed."""
    fmt, deny = "cargo fmt fails: not formatted", "cargo deny fails: unknown command: no such command: deny"
    tests, late = "go test fails: test failed", "go test fails: timeout: cart_test.go:3: process timed out"
    pulled = "gh pr create fails: HTTP 503"
    return remember(
        draw("f1", f"edit a.rs -> {fmt}", f"{fmt} -> run cargo fmt", "run cargo fmt -> cargo fmt passes"),
        draw("f2", "edit b.rs -> prettier passes", "prettier passes -> commit", "run cargo fmt -> cargo fmt passes"),
        draw("d", f"edit deny.toml -> {deny}", f"{deny} -> run cargo deny check", "run mise x -> cargo deny passes"),
        draw("t1", f"edit c.go -> {tests}", f"{tests} -> edit d.go", "edit d.go -> go test passes"),
        draw("t2", f"run go test -timeout 5m -> {late}", f"{late} -> edit e.go", "edit e.go -> go test passes"),
        draw("u", "run mise test:unit -> go test passes", "edit f.go -> cargo test fails: no library targets"),
        draw("l1", "edit g.go -> golangci-lint fails: missing method", "edit h.go -> golangci-lint passes"),
        draw("l2", "edit i.go -> golangci-lint fails: unused", "edit j.go -> golangci-lint fails: wrapcheck"),
        draw("p", f"run gh pr create -> {pulled}", f"{pulled} -> run gh pr create", "edit k.go -> commit"),
        draw("w", "work fails: reported by the user: I just lost my push setting -> edit l.go"),
    )


@pytest.mark.parametrize(
    ("asked", "meant"),
    few_rows(
        [
            ("formatting fails", "cargo fmt fails"),
            ("formating fails", "cargo fmt fails"),
            ("formatting is wrong", "cargo fmt fails"),
            ("formating is wrong", "cargo fmt fails"),
            ("not formated", "cargo fmt fails"),
            ("unformatted", "cargo fmt fails"),
            ("the code was not formatted properly", "cargo fmt fails"),
            ("go test broken", "go test fails"),
            ("no lint errors", "golangci-lint passes"),
            ("lint pases", "golangci-lint passes"),
            ("prettier fails", None),
            ("could not push", None),
            ("unit tests fail", "go test fails"),
            ("test timeout", "go test fails: timeout"),
            ("test timed out", "go test fails: timeout"),
            ("cargo-deny not installed", "cargo deny fails"),
            ("cargo deny missing", "cargo deny fails"),
            ("missing cargo deny", "cargo deny fails"),
            ("failed to create pull request", "gh pr create fails"),
            ("the pr could not be created", "gh pr create fails"),
            ("golangci lint broke", "golangci-lint fails"),
            ("tests are not failing", "go test passes"),
            ("no failing tests", "go test passes"),
            ("tests no longer fail", "go test passes"),
            ("fmt ok", "cargo fmt passes"),
            ("commit did not go through", None),
            ("push rejected", None),
        ],
        12,
    ),
)
def test_what_failed_and_what_passed_are_never_read_as_each_other_nor_as_a_run(
    checked: Graph, asked: str, meant: str | None
) -> None:
    for answer in (checked.causes(asked), checked.effects(asked)):
        assert answer.found == (meant is not None)
        assert all(one.node.label.startswith(meant or "") for one in answer.groups), answer.groups
    led = checked.path(source=asked, target="edit")
    assert led.read_as.get(asked, "").startswith(meant or "")
    assert all(step.source.startswith(meant or "") for step in led.steps[:1])


def test_a_check_that_broke_in_several_ways_is_all_of_them(checked: Graph) -> None:
    found = {one.node.label for one in checked.causes("golangci lint broke").groups}
    assert found == {f"golangci-lint fails: {how}" for how in ("missing method", "unused", "wrapcheck")}


def test_where_no_path_is_found_both_ends_say_what_they_were_taken_for(checked: Graph) -> None:
    answer = checked.path(source="missing cargo deny", target="lint passes")
    assert not answer.found
    assert answer.read_as["missing cargo deny"].startswith("cargo deny fails")
    assert answer.read_as["lint passes"] == "golangci-lint passes"
