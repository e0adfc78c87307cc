"""Is what `seen` and the failing-result hook show of an earlier repair true, about this error, and short?"""

from __future__ import annotations

import subprocess
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from helix_cli.commands.seen_and_similar import render_seen
from helix_cli.hooks.context_block import ContextLine, ContextSection, context_block
from helix_cli.hooks.failures import precedent_lines
from helix_episodes.errors import InvalidArgument
from helix_episodes.store import encode_episode
from helix_graph.graph.api import Graph
from helix_graph.graph.error_precedents import find_precedents
from helix_graph.graph.graph_db import open_graph
from helix_graph.graph.past_remedies import Past
from helix_graph.graph.seen_answer import UsualRepair
from session_script import BEGIN
from small_worlds import memory_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from episode_drawing import Draw, Remember
    from helix_episodes.model import Episode
    from helix_graph.graph.seen_answer import SeenAnswer
    from session_script import Script

    Begin = Callable[..., Script]
    Known = Callable[..., Graph]

BUILT, TESTED, LINTED = "", "ok  \tshop\t0.01s", "0 issues."
CHECKED = "Checked 2 files in 3ms. No fixes applied."
UNDEFINED = "# example.com/shop\nstore/price.go:12:5: undefined: Total"
UNCHECKED = "store/sum.go:3:1: Error return value of `os.Remove` is not checked (errcheck)\n1 issues:\n* errcheck: 1"
WRITTEN = "_ = os.Remove(old) // errcheck: best effort"


@pytest.fixture
def known(script: Begin, episode_of: Callable[[Script], Episode], tmp_path: Path) -> Known:
    """A graph of sessions, each with a command that fails, an edit, and the command passing."""

    def remembered(*repairs: tuple[str, str, str, str, str]) -> Graph:
        (tmp_path / ".git").mkdir(exist_ok=True)
        folder = tmp_path / ".helix" / "episodes"
        folder.mkdir(parents=True, exist_ok=True)
        for number, (command, output, file, written, passed) in enumerate(repairs):
            log = script(f"s{number}").prompt("Do").edit("README.md").run(command, output, code=1)
            log = log.edit(file, new=written).run(command, passed) if file else log
            episode = episode_of(log)
            (folder / f"{episode.id}.json").write_bytes(encode_episode(episode))
        graph = Graph(folder, tmp_path / ".helix" / "causality")
        graph.compile()
        return graph

    return remembered


def shown(answer: SeenAnswer) -> list[str]:
    """The words of every change that is shown as one that says something of the error."""
    return [fix.quote for one in answer.precedents for fix in one.fixes]


def test_each_issue_of_an_output_has_its_own_precedent(known: Known) -> None:
    graph = known(
        ("go build ./...", UNDEFINED, "store/price.go", "func Total() int { return 1 }", BUILT),
        ("golangci-lint run", UNCHECKED, "store/sum.go", WRITTEN, LINTED),
    )
    both = f"{UNCHECKED.splitlines()[0]}\nstore/price.go:12:5: undefined: Total (typecheck)\n2 issues:"
    answer = graph.seen(both)
    assert {one.message: (one.level, one.sessions, one.fixed) for one in answer.issues} == {
        "Error return value of `os.Remove` is not checked": ("exact", 1, 1),
        "undefined: Total": ("exact", 1, 1),
    }
    assert {answer.issues[one.issue].message: one.fixes[0].path for one in answer.precedents} == {
        "Error return value of `os.Remove` is not checked": "store/sum.go",
        "undefined: Total": "store/price.go",
    }


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("store/a.go:1:1: undefined: Price", False),  # another name of the project
        ("store/a.go:1:1: cart.Total undefined (type *Cart has no field or method Total)", True),
        ("store/a.go:1:1: undefined: strings", False),  # a package, and not the project's own
    ],
)
def test_what_does_not_compile_is_told_apart_by_its_names(known: Known, *, asked: str, said: bool) -> None:
    graph = known(("go build ./...", UNDEFINED, "store/price.go", "func Total() int { return 1 }", BUILT))
    answer = graph.seen(asked)
    assert bool(shown(answer)) == said


def test_of_a_deletion_the_lines_that_went_are_shown_and_not_the_one_that_stayed(
    script: Begin, episode_of: Callable[[Script], Episode], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    unused = "store/sum.go:3:1: func findTotal is unused (unused)\n1 issues:\n* unused: 1"
    log = script("s0").prompt("Do").edit("README.md").run("golangci-lint run", unused, code=1)
    gone = "func findTotal() int {\n\treturn 1\n}\n\n// encode writes JSON."
    log = log.edit("store/sum.go", gone, "// encode writes JSON.").run("golangci-lint run", LINTED)
    memory = memory_of(tmp_path, [episode_of(log)])
    memory.graph.compile()
    render_seen(memory.graph.seen(unused))
    printed = capsys.readouterr().out
    assert "     - func findTotal() int {\n" in printed
    assert "encode writes JSON" not in printed


def test_of_another_issue_of_a_rule_a_change_that_speaks_of_it_is_shown(known: Known) -> None:
    asked = "store/a.go:9:1: Error return value of `f.Close` is not checked (errcheck)\n1 issues:\n* errcheck: 1"
    lint = ("golangci-lint run", UNCHECKED, "store/sum.go")
    assert shown(known((*lint, WRITTEN, LINTED)).seen(asked)) == [WRITTEN]


def test_of_another_issue_of_a_rule_a_change_about_something_else_is_not_shown(known: Known) -> None:
    asked = "store/a.go:9:1: Error return value of `f.Close` is not checked (errcheck)\n1 issues:\n* errcheck: 1"
    answer = known(("golangci-lint run", UNCHECKED, "store/sum.go", "x := 1", LINTED)).seen(asked)
    assert not answer.precedents


def test_a_file_is_no_remedy_for_a_command_that_was_called_wrongly(
    script: Begin, episode_of: Callable[[Script], Episode], remember: Remember
) -> None:
    wrong = "cat: illegal option -- A\nusage: cat [-belnstuv] [file ...]"
    log = script("s0").prompt("Do").edit("store/price.go").run("cat -A store/price.go", wrong, code=1)
    log = log.call("Read", {"file_path": "store/price.go"}, output="total").run("go test ./...", TESTED)
    answer = remember(episode_of(log)).seen(wrong)
    assert answer.found
    assert not any(one.fixes for one in answer.precedents)


def test_another_call_of_a_tool_is_a_remedy_only_by_a_name_of_the_message(
    script: Begin, episode_of: Callable[[Script], Episode], remember: Remember
) -> None:
    missing, seats = "Error: flight HAT290 not found", "Error: payment amount does not add up"
    log = script("s0").prompt("Book").call("book", {"flight": "HAT290", "paid": 1}, error=missing)
    log = log.call("book", {"flight": "HAT003", "paid": 2}, error=seats)
    graph = remember(episode_of(log.call("book", {"flight": "HAT003", "paid": 3}, output="booked")))
    answers = [graph.seen(one) for one in (missing, seats)]
    assert [one.found for one in answers] == [True, True]
    assert [shown(one) for one in answers] == [[], []]


def test_words_of_a_kind_in_prose_make_no_remedy(
    script: Begin, episode_of: Callable[[Script], Episode], remember: Remember
) -> None:
    log = script("s0").prompt("Do").edit("notes.md")
    log = log.run("gh issue comment 1 --body `watch`", "zsh:1: command not found: watch", code=127)
    graph = remember(episode_of(log.run("gh issue comment 1 --body-file - # the command was found", "ok")))
    assert not shown(graph.seen("zsh:1: command not found: write_all"))


def test_an_agent_that_did_not_ask_is_shown_no_unverified_repair(
    script: Begin, episode_of: Callable[[Script], Episode], remember: Remember
) -> None:
    other = "store/b.go:3:1: unused: func old is unused (unused)\n1 issues:\n* unused: 1"
    log = script("s0").prompt("Do").run("golangci-lint run", UNCHECKED, code=1).edit("store/sum.go", new=WRITTEN)
    graph = remember(episode_of(log.run("golangci-lint run", other, code=1)))
    assert shown(graph.seen(UNCHECKED)) == [WRITTEN]
    assert WRITTEN not in block_of(graph, UNCHECKED)


def test_the_same_call_with_other_arguments_is_shown_to_an_agent_once_two_sessions_did_it(
    script: Begin, episode_of: Callable[[Script], Episode], remember: Remember
) -> None:
    unknown = "cat: illegal option -- A\nusage: cat [-belnstuv] [file ...]"

    def session(name: str, line: int) -> Episode:
        log = script(name).prompt("Do").edit("cart.ts").run("cat -A cart.ts", unknown, code=1)
        return episode_of(log.run(f"sed -n {line}p cart.ts | cat -v", "a"))

    once = remember(session("s0", 3))
    assert once.seen(unknown).precedents[0].fixes[0].command == "sed -n 3p cart.ts | cat -v"
    assert "cat -v" not in block_of(once, unknown)
    assert "cat -v" in block_of(remember(session("s1", 7)), unknown)


def test_an_agent_reads_which_word_to_leave_out(
    script: Begin, episode_of: Callable[[Script], Episode], remember: Remember
) -> None:
    wrong = "error: unrecognized subcommand 'bun'\n\nUsage: rtk [OPTIONS]"
    log = script("s0").prompt("Do").edit("cart.ts").run("rtk bun run test", wrong, code=2).run("bun run test", "1 pass")
    assert 'leaving out "rtk": "bun run test"' in block_of(remember(episode_of(log)), wrong)


def test_the_last_line_of_a_hook_that_ran_others_has_no_remedy(known: Known) -> None:
    closing = "husky - pre-commit script failed (code 1)"
    hooked = known(
        ("git commit -m x", f"store/a.go: bad\n{closing}", "store/price.go", "total := 1", "[main 1a2b3c4] x")
    )
    assert shown(hooked.seen(closing)) == []


def test_a_marker_that_silences_the_check_is_no_repair(known: Known) -> None:
    lint, silenced = ("golangci-lint run", UNCHECKED, "store/sum.go"), "_ = os.Remove(old) //nolint:errcheck"
    answer = known((*lint, silenced, LINTED), (*lint, WRITTEN, LINTED)).seen(UNCHECKED)
    assert shown(answer) == [WRITTEN]
    assert [(one.sessions, one.fixed) for one in answer.issues] == [(2, 1)]
    (issue,) = answer.issues
    assert issue.silenced is not None
    assert (issue.silenced.sessions, issue.silenced.session, issue.silenced.quote) == (1, "s0", silenced)


def test_a_command_that_goes_without_what_the_error_names_repairs_nothing(
    script: Begin, episode_of: Callable[[Script], Episode], remember: Remember
) -> None:
    failed = "error: There are multiple `xml` packages in your project, and the specification `xml` is ambiguous."
    log = script("s0").prompt("Update").run("cargo update -p toml -p xml", failed, code=101)
    log = log.run("cargo update -p toml", "    Locking 1 package to latest compatible version")
    assert not any(one.fixes for one in remember(episode_of(log)).seen(failed).precedents)
    log = script("s1").prompt("Update").run("cargo update -p toml -p xml", failed, code=101)
    log = log.run("cargo update -p toml -p xml@0.39.4", "    Locking 2 packages to latest compatible versions")
    (found,) = remember(episode_of(log)).seen(failed).precedents[:1]
    assert [one.command for one in found.fixes] == ["cargo update -p toml -p xml@0.39.4"]


def test_issues_with_one_best_precedent_say_so(known: Known) -> None:
    lint = ("golangci-lint run", UNCHECKED, "store/sum.go", WRITTEN, LINTED)
    lines = (f"store/a.go:{n}:1: Error return value of `f{n}.Close` is not checked (errcheck)\n" for n in (3, 9))
    both = "".join(lines)
    first, second = known(lint).seen(f"{both}2 issues:\n* errcheck: 2").issues
    assert (first.repaired_as, second.repaired_as) == (None, 0)


def test_where_something_lies_makes_no_error_alike(
    script: Begin, episode_of: Callable[[Script], Episode], remember: Remember
) -> None:
    place = "/mnt/c/Users/dev/AppData/Local/Temp/shop/scratchpad"
    log = script("s0").prompt("Run").run(f"bash {place}/run.sh", f"bash: {place}/run.sh: No such file", code=127)
    graph = remember(episode_of(log.run(f"MSYS_NO_PATHCONV=1 bash {place}/run.sh", "ok")))
    assert not graph.seen(f"zsh: can't open input file: {place}").found


def test_an_import_alone_is_no_remedy_for_a_complaint_about_something_else(known: Known) -> None:
    rule, said = "lint/correctness/noUnusedVariables  FIXABLE", "This variable order is unused."
    unused = f"web/cart.tsx:7:9 {rule} \u2501\u2501\u2501\u2501\u2501\u2501\n\n  \u00d7 {said}"
    lint, used = (
        ("biome check", f"{unused}\n\n{CHECKED}\nFound 1 error.", "web/cart.tsx"),
        "const [, setOrder] = useState(null);",
    )
    graph = known((*lint, 'import { useRef } from "react";', CHECKED), (*lint, used, CHECKED))
    answer = graph.seen(unused)
    assert [one.sessions for one in answer.issues] == [2]
    assert shown(answer) == [used]


@pytest.mark.parametrize("asked", ["noVoid", "lint/complexity/noVoid", "biome fails: noVoid"])
def test_a_rule_is_found_by_its_name(known: Known, asked: str) -> None:
    head = "src/a.ts:12:5 lint/complexity/noVoid " + "\u2501" * 9
    output = f"{head}\n\n  \u00d7 The use of void is not allowed.\n\nFound 1 error."
    passed = "Checked 3 files in 9ms. No fixes applied."
    repaired = ("npx biome check", output, "src/a.ts", "load().catch(report);", passed)
    assert shown(known(repaired).seen(asked)) == ["load().catch(report);"]


def failing(test: str, raised: str) -> str:
    return f"E       {raised}\nFAILED {test} - {raised[:24]}...\n=== 1 failed in 0.1s ==="


PASSED = "=== 1 passed in 0.1s ==="
TYPES = "TypeError: unsupported operand type(s) for *: 'decimal.Decimal' and 'float'"


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        (failing("tests/test_cart.py::test_total", TYPES), True),
        (f"E       {TYPES}", True),  # the whole line, though the summary was cut
        (failing("tests/test_other.py::test_sum", "TypeError: missing 1 required argument: 'rate'"), False),
        (failing("tests/test_other.py::test_sum", "TypeError: 'NoneType' object is not callable"), False),
    ],
)
def test_a_common_exception_is_known_by_its_message(known: Known, *, asked: str, found: bool) -> None:
    output = failing("tests/test_cart.py::test_total", TYPES)
    answer = known(("pytest", output, "shop/cart.py", "total * Decimal(rate)", PASSED)).seen(asked)
    assert bool(shown(answer)) == found
    assert not any(one.level == "family" for one in answer.precedents)


def test_that_an_expectation_was_not_met_in_another_test_is_no_precedent(known: Known) -> None:
    output = failing("tests/test_cart.py::test_total", "AssertionError: assert 3 == 4")
    graph = known(("pytest", output, "shop/cart.py", "return 4", PASSED))
    assert not graph.seen(failing("tests/test_other.py::test_sum", "AssertionError: assert 3 == 4")).precedents
    assert graph.seen(output).precedents


def test_an_issue_that_nobody_repaired_says_so(known: Known) -> None:
    refused = "fatal: Could not read from remote repository."
    graph = known(*[("git push", refused, "", "", "")] * 3)
    answer = graph.seen(refused)
    assert [(one.level, one.sessions, one.fixed) for one in answer.issues] == [("exact", 3, 0)]
    assert "repaired in none" in block_of(graph, refused)


def test_words_are_looked_for_before_an_error_counts_as_new(known: Known) -> None:
    graph = known(("./deploy.sh", "Error: the parcel service refused the label of order 12", "", "", ""))
    assert [one.level for one in graph.seen("parcel service refused a label").precedents] == ["words"]
    assert not graph.seen("the database refused the order").found
    assert not graph.seen("the parcel service refused a label\n12 passed").found, "what went well asks for nothing"


def test_a_message_about_another_path_is_the_first_of_those_alike(known: Known) -> None:
    message = "go: cannot find main module, but found .git/config in {}"
    other = "go: cannot find main module in go.work, but found config and main in parent"
    graph = known(
        ("go build ./...", message.format("/home/ann/shop"), "", "", ""),
        ("go vet ./...", other, "", "", ""),
    )
    assert (
        graph.seen(message.format("/x")).precedents[0].message.startswith("go: cannot find main module, but found .git")
    )


@pytest.mark.parametrize(
    ("now", "state"),
    [
        ({"store/sum.go": f"package store\n\tif true {{\n\t\t{WRITTEN}\n\t}}\n"}, "holds"),
        ({"store/sum.go": "package store\n"}, "changed"),
        ({}, "gone"),
    ],
)
def test_a_repair_is_compared_with_the_working_tree(
    known: Known, tmp_path: Path, now: dict[str, str], state: str
) -> None:
    graph = known(("golangci-lint run", UNCHECKED, "store/sum.go", WRITTEN, LINTED))
    for name, text in now.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert [fix.state for one in graph.seen(UNCHECKED).precedents for fix in one.fixes] == [state]


def test_a_repair_that_is_gone_comes_after_one_that_holds(known: Known, tmp_path: Path) -> None:
    kept, lost = "defer remove(old) // errcheck wants it checked", WRITTEN
    lint = ("golangci-lint run", UNCHECKED, "store/sum.go")
    graph = known((*lint, kept, LINTED), (*lint, lost, LINTED))
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "sum.go").write_text(kept)
    assert shown(graph.seen(UNCHECKED))[0] == kept
    (tmp_path / "store" / "sum.go").write_text(lost)
    assert shown(graph.seen(UNCHECKED))[0] == lost


def test_of_two_issues_of_a_cut_output_each_is_named(known: Known) -> None:
    bar = "\u2501" * 20
    unused = f" at src/Tab.tsx:7:9 lint/correctness/noUnusedVariables {bar}\n  \u00d7 This variable active is unused."
    unformatted = f" at src/Tab.tsx format {bar}\n  \u00d7 Formatter would have printed the following content:"
    graph = known(
        ("biome check", f"{unused}\nFound 1 error.", "src/Tab.tsx", "const [, setActiveId] = useState()", CHECKED),
        ("biome check", f"{unformatted}\nFound 1 error.", "src/Tab.tsx", "formatted()", CHECKED),
    )
    issues = graph.seen(f"$ biome check\n{unused}\n\n{unformatted}").issues
    assert [one.fixed for one in issues] == [1, 1]
    assert {"Formatter" in one.message for one in issues} == {True, False}


def test_a_repair_after_which_the_error_came_back_in_its_session_comes_last(
    script: Begin, episode_of: Callable[[Script], Episode], tmp_path: Path
) -> None:
    undone = script("new").prompt("Lint").run("golangci-lint run", UNCHECKED, code=1)
    undone = undone.edit("store/sum.go", new="if os.Remove(old) != nil {} // errcheck").run("golangci-lint run", LINTED)
    undone = undone.edit("store/sum.go", "if os", "os").run("golangci-lint run", UNCHECKED, code=1)
    kept = script("old", begin=BEGIN - timedelta(days=3)).prompt("Lint").run("golangci-lint run", UNCHECKED, code=1)
    kept = kept.edit("store/sum.go", new=WRITTEN).run("golangci-lint run", LINTED)
    memory = memory_of(tmp_path / "memory", [episode_of(undone), episode_of(kept)], compiled=True)
    assert shown(memory.graph.seen(UNCHECKED))[0] == WRITTEN


def test_a_file_that_git_tracks_elsewhere_has_moved(known: Known, tmp_path: Path) -> None:
    graph = known(("golangci-lint run", UNCHECKED, "store/sum.go", WRITTEN, LINTED))
    (tmp_path / ".git").rmdir()
    (tmp_path / "total").mkdir()
    (tmp_path / "total" / "sum.go").write_text(f"package total\n{WRITTEN}\n")
    for arguments in (["init", "-q"], ["add", "total"]):
        subprocess.run(["git", "-C", str(tmp_path), *arguments], check=True)
    (fix,) = (fix for one in graph.seen(UNCHECKED).precedents for fix in one.fixes)
    assert (fix.state, fix.now_at) == ("moved", "total/sum.go")


def test_a_tests_own_message_finds_what_repaired_the_test(known: Known) -> None:
    output = (
        "--- FAIL: TestPut (0.01s)\n    put_test.go:9: session should have two checkpoints\nFAIL\nFAIL\tshop\t0.31s"
    )
    graph = known(("go test ./...", output, "store/handlers.go", "return proceed(both)", TESTED))
    assert shown(graph.seen("session should have two checkpoints")) == ["return proceed(both)"]


def block_of(graph: Graph, text: str) -> str:
    """What a hook puts into the agent's context."""
    with open_graph(graph.path_of_file) as connection:
        found = find_precedents(Past(connection), text, limit=2, nearest=True)
    lines = [ContextLine(line) for line in precedent_lines(found, {})]
    return context_block([ContextSection("Met before:", lines)])


def test_an_agent_reads_the_changed_line_in_at_most_150_tokens(known: Known) -> None:
    written = "func Total(prices []Price) int { // every name of a long line\n" + "\tsum := sum + price.Of(cart)\n" * 20
    graph = known(("go build ./...", UNDEFINED, "store/price.go", written, BUILT))
    block = block_of(graph, UNDEFINED)
    assert "func Total(prices []Price) int { // every name of a long line sum := sum" in block
    assert "verified" in block
    assert "%" not in block
    assert len(block) / 3.5 <= 150  # code has some three and a half characters to a token


def test_of_several_edits_the_one_that_speaks_of_the_error_is_shown(
    script: Begin, episode_of: Callable[[Script], Episode], tmp_path: Path
) -> None:
    """Agents repair all complaints of a linter with edits of one file, one after the other; one of them silences."""
    cases = "store/a.go:3:2: missing cases in switch of type Kind: Book, Toy (exhaustive)\n\tswitch kind {\n\t^"
    output = f"{cases}\n{UNCHECKED}"
    log = script("s").prompt("Do").run("golangci-lint run", output, code=1)
    log = log.edit("store/a.go", old="return nil", new="return nil //nolint:nilerr")
    log = log.edit("store/a.go", old="switch kind {\ncase Tool:\n}", new="switch kind {\ncase Tool, Book, Toy:\n}")
    episode = episode_of(log.run("golangci-lint run", LINTED))
    (tmp_path / "episodes").mkdir()
    (tmp_path / "episodes" / f"{episode.id}.json").write_bytes(encode_episode(episode))
    graph = Graph(tmp_path / "episodes", tmp_path / "causality")
    graph.compile()
    answer = graph.seen(cases)
    assert shown(answer) == ["case Tool, Book, Toy:"]
    assert [one.fixed for one in answer.precedents] == [True]


def test_of_another_name_what_usually_repairs_the_kind_is_told_apart(known: Known) -> None:
    def repaired(name: str) -> tuple[str, str, str, str, str]:
        written = f"func {name}() int {{ return 1 }}"
        return "go build ./...", f"# shop\nstore/price.go:12:5: undefined: {name}", "store/price.go", written, BUILT

    answer = known(repaired("Total"), repaired("Tax")).seen("store/cart.go:3:1: undefined: Price")
    (issue,) = answer.issues
    assert (issue.level, issue.sessions, issue.fixed) == ("family", 2, 2)
    assert issue.usual == UsualRepair(sessions=2, of=2)
    assert shown(answer) == [], "what repaired another name says nothing of this one"


REFUSED = "ssh: connect to host example.com port 22: Operation timed out\nfatal: Could not read from remote repository."


def test_of_what_nobody_repaired_it_is_said_what_was_tried(
    script: Begin, episode_of: Callable[[Script], Episode], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "episodes").mkdir()
    denied = "fatal: unable to access 'https://example.com/shop.git/': The requested URL returned error: 403"
    tried = script("s1").prompt("Push").edit("a.go").run("git push", REFUSED, code=128)
    tried = tried.run("git push https://example.com/shop.git HEAD", denied, code=128)
    for log in (tried, script("s2").prompt("Push").edit("a.go").run("git push", REFUSED, code=128)):
        episode = episode_of(log)
        (tmp_path / "episodes" / f"{episode.id}.json").write_bytes(encode_episode(episode))
    graph = Graph(tmp_path / "episodes", tmp_path / "causality")
    graph.compile()
    (precedent,) = graph.seen(REFUSED).precedents
    assert (precedent.session, precedent.fixes) == ("s1", ())
    assert [(one.command, one.message, one.again) for one in precedent.tried] == [
        ("git push https://example.com/shop.git HEAD", denied, False)
    ]
    render_seen(graph.seen(REFUSED))
    printed = capsys.readouterr().out
    assert "in vain" not in printed, "the error itself was not there again"
    assert f"failed with another error: {denied}" in printed
    block = block_of(graph, REFUSED)
    assert "repaired in none" in block
    assert 'tried: "git push https://example.com/shop.git HEAD" (then "fatal' in block
    assert len(block) / 3.5 <= 150


def test_a_question_about_the_past_knows_nothing_of_what_came_later(draw: Draw, remember: Remember) -> None:
    fixed = ("run ruff -> ruff fails: E501", "edit a.py -| ruff fails: E501", "edit a.py -> ruff passes")
    graph = remember(
        draw("early", *fixed, at="2026-03-02T10:00:00Z"),
        draw("late", *fixed, at="2026-03-09T10:00:00Z"),
    )

    def sessions(before: str | None) -> list[str]:
        return [one.session for one in graph.seen("a.py:9: E501", before=before).precedents]

    assert sessions(None) == ["late", "early"]
    assert sessions("2026-03-05") == ["early"]
    assert sessions("2026-03-02T11:00:00+01:00") == []
    with pytest.raises(InvalidArgument, match="before"):
        sessions("yesterday")


def test_of_what_nobody_repaired_it_is_said_what_a_person_said_next(
    script: Begin, episode_of: Callable[[Script], Episode], tmp_path: Path
) -> None:
    (tmp_path / "episodes").mkdir()
    order = "Leave pushing to the release job."
    stopped = script("s1").prompt("Push").edit("a.go").run("git push", REFUSED, code=128)
    went_on = script("s2").prompt("Push").run("git push", REFUSED, code=128).edit("a.go")
    for log in (stopped.say("The host does not answer.").prompt(order), went_on.prompt("Now the tests")):
        episode = episode_of(log)
        (tmp_path / "episodes" / f"{episode.id}.json").write_bytes(encode_episode(episode))
    graph = Graph(tmp_path / "episodes", tmp_path / "causality")
    graph.compile()
    assert [(one.session, one.reply) for one in graph.seen(REFUSED).precedents] == [("s1", order)]
    assert f'a person then said "{order}"' in block_of(graph, REFUSED)
