"""Does the scorer of the sealed set count by its README? On made-up logs: nothing of the sealed set stands here."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"


@pytest.fixture(autouse=True)
def _modules_of_the_scorer(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    before = set(sys.modules)
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    monkeypatch.syspath_prepend(str(BENCHMARKS / "sealed"))
    yield
    for name in set(sys.modules) - before:
        if name.startswith("sealed_"):
            del sys.modules[name]


#: What is found and right of a measure, each as (hits, seconds, items).
Counted = tuple[tuple[int, int], tuple[int, int, int]]


@pytest.fixture
def counted(tmp_path: Path) -> Callable[..., Counted]:
    """Scores one session: annotated items and ours by measure, in the mode of the figure unless another is named."""

    def scored(
        measure: str, gold: dict[str, Any], episode: dict[str, Any], *, log: Path | None = None, mode: int = 0
    ) -> Counted:
        from sealed_places import Places
        from sealed_scores import MODES, score

        whole = {"decisions": [], "failures": [], "fixes": [], "decisions_complete": True, **gold}
        judged = score(whole, [episode], Places(log or claude_code(tmp_path)), MODES[mode])
        wanted = [one.verdict for one in judged if one.measure == measure and one.wanted]
        given = [one.verdict for one in judged if one.measure == measure and not one.wanted]
        return (wanted.count("hit"), len(wanted)), (
            given.count("hit"),
            sum(one.startswith("second") for one in given),
            len(given),
        )

    return scored


def claude_code(folder: Path) -> Path:
    """Twenty calls, those of odd lines, with their results on the even lines after them; line 21 is a prompt."""
    log = folder / "log.jsonl"
    records = []
    for number in range(1, 21, 2):
        call = {"type": "tool_use", "id": f"c{number}", "name": "Bash", "input": {}}
        result = {"type": "tool_result", "tool_use_id": f"c{number}", "content": ""}
        records.append({"type": "assistant", "message": {"id": f"m{number}", "content": [call]}})
        records.append({"type": "user", "message": {"content": [result]}})
    records.append({"type": "user", "message": {"content": "and now?"}})
    log.write_text("".join(f"{json.dumps(record)}\n" for record in records), encoding="utf-8")
    return log


def decision(
    number: int, line: int, *, verb: str, path: str | None = None, also: tuple[int, ...] = ()
) -> dict[str, Any]:
    evidence = {"line": line, "also": list(also)}
    return {"id": f"d{number:03}", "chosen": verb, "action": {"verb": verb, "path": path}, "evidence": evidence}


def error(number: int, line: int) -> dict[str, Any]:
    return {"id": f"e{number:03}", "type": "error", "evidence": {"line": line}}


def test_a_call_and_its_result_are_one_place_and_the_next_call_is_another(counted: Callable[..., Counted]) -> None:
    gold = {"failures": [{"line": 2, "kind": "work"}, {"line": 6, "kind": "probe"}]}
    assert counted("failures", gold, {"events": [error(1, 1), error(2, 4)]}) == ((1, 2), (1, 0, 2))


def test_a_decision_of_another_kind_at_the_same_place_is_missed_and_false(counted: Callable[..., Counted]) -> None:
    gold = {"decisions": [{"line": 1, "kind": "command", "chosen": "run the tests"}]}
    assert counted("decisions", gold, {"decisions": [decision(1, 1, verb="delegate")]}) == ((0, 1), (0, 0, 1))
    assert counted("decisions", gold, {"decisions": [decision(1, 2, verb="run")]}) == ((1, 1), (1, 0, 1))


def test_two_annotated_decisions_are_not_found_by_one_of_ours(counted: Callable[..., Counted]) -> None:
    gold = {"decisions": [{"line": 1, "kind": "edit", "chosen": "a.py"}, {"line": 1, "kind": "edit", "chosen": "b.py"}]}
    one = decision(1, 1, verb="edit", path="src/a.py")
    assert counted("decisions", gold, {"decisions": [one]}) == ((1, 2), (1, 0, 1))
    both = [one, decision(2, 1, verb="edit", path="src/b.py")]
    assert counted("decisions", gold, {"decisions": both}) == ((2, 2), (2, 0, 2))
    again = [one, decision(2, 1, verb="edit", path="src/a.py")]
    assert counted("decisions", gold, {"decisions": again}) == ((1, 2), (1, 1, 2))


def test_a_run_of_edits_ends_at_the_next_command_and_its_second_half_is_a_second(
    counted: Callable[..., Counted],
) -> None:
    gold = {
        "decisions": [
            {"line": 1, "kind": "edit", "chosen": "a.py: new test"},
            {"line": 7, "kind": "command", "chosen": "run it"},
        ]
    }
    ours = [
        decision(1, 1, verb="edit", path="a.py"),
        decision(2, 5, verb="edit", path="a.py"),
        decision(3, 9, verb="edit", path="a.py"),
        decision(4, 5, verb="edit", path="b.py"),
    ]
    assert counted("decisions", gold, {"decisions": ours}) == ((1, 2), (1, 1, 4))


def test_what_is_unsure_refused_or_no_match_is_neither_missed_nor_false(counted: Callable[..., Counted]) -> None:
    gold = {
        "failures": [
            {"line": 2, "kind": "work", "unsure": True},
            {"line": 4, "kind": "refused"},
            {"line": 6, "kind": "probe", "note": "no match"},
            {"line": 8, "kind": "work", "repeat_of": 2},
        ]
    }
    ours = {"events": [error(1, 2), error(2, 4), error(3, 6), error(4, 8), error(5, 10)]}
    assert counted("failures", gold, ours) == ((1, 1), (1, 0, 2))
    assert counted("failures", gold, ours, mode=1) == ((2, 2), (2, 0, 3))
    assert counted("failures", gold, ours, mode=2) == ((1, 1), (1, 0, 2))
    assert counted("failures", gold, ours, mode=3) == ((0, 0), (0, 0, 1))


def test_a_fix_is_found_by_a_repeat_of_its_failure_and_one_of_its_changes(counted: Callable[..., Counted]) -> None:
    gold = {
        "failures": [{"line": 2, "kind": "work"}, {"line": 6, "kind": "work", "repeat_of": 2}],
        "fixes": [{"failure_line": 2, "change_lines": [9, 11], "verified_line": 14}],
    }
    episode = {
        "decisions": [decision(1, 9, verb="edit", path="a.py"), decision(2, 15, verb="edit", path="b.py")],
        "events": [error(1, 6), error(2, 18)],
    }
    fixed = {**episode, "fixes": [{"error": "e001", "changes": ["d001", "d002"]}]}
    assert counted("fixes", gold, fixed) == ((1, 1), (1, 0, 1))
    assert counted("credits", gold, fixed) == ((1, 2), (1, 0, 2))
    for error_id, changes in (("e002", ["d001"]), ("e001", ["d002"])):
        wrong = {**episode, "fixes": [{"error": error_id, "changes": changes}]}
        assert counted("fixes", gold, wrong) == ((0, 1), (0, 0, 1))


def test_in_one_document_the_place_is_the_message_and_only_one_of_ours_is_right(
    counted: Callable[..., Counted], tmp_path: Path
) -> None:
    log = tmp_path / "log.json"
    messages = [{"type": "user", "content": "[1, 2]"}, {"type": "gemini", "content": "a, b"}]
    log.write_text(json.dumps({"messages": messages}, indent=1), encoding="utf-8")
    line = log.read_text(encoding="utf-8").splitlines().index('   "content": "a, b"') + 1
    gold = {"failures": [{"line": 1, "kind": "work"}]}
    assert counted("failures", gold, {"events": [error(1, line), error(2, line)]}, log=log) == ((1, 1), (1, 0, 2))
    assert counted("failures", gold, {"events": [error(1, 4)]}, log=log) == ((0, 1), (0, 0, 1))


def test_two_fixes_of_one_result_are_right_in_a_log_of_lines_and_in_one_document(
    counted: Callable[..., Counted], tmp_path: Path
) -> None:
    """A linter's result has two complaints, one command repairs both, and the annotator lists one fix."""
    gold = {
        "failures": [{"line": 2, "kind": "work"}],
        "fixes": [{"failure_line": 2, "change_lines": [3], "verified_line": 6}],
    }
    complaints = [error(1, 2), error(2, 2)]
    fixes = [{"error": "e001", "changes": ["d001"]}, {"error": "e002", "changes": ["d001"]}]
    ours = {"decisions": [decision(1, 3, verb="run")], "events": complaints, "fixes": fixes}
    assert counted("fixes", gold, ours) == ((1, 1), (1, 1, 2))

    log = tmp_path / "log.json"
    parts = [["ask"], ["lint: a, b", "types: c"], ["lint --fix"]]
    log.write_text(json.dumps({"messages": [{"parts": one} for one in parts]}, indent=1), encoding="utf-8")
    lines = log.read_text(encoding="utf-8").splitlines()
    (lint, types, repair) = (
        next(number for number, line in enumerate(lines, 1) if said in line)
        for said in ('"lint: a, b"', '"types: c"', '"lint --fix"')
    )
    gold = {
        "failures": [{"line": 1, "kind": "work"}],
        "fixes": [{"failure_line": 1, "change_lines": [2], "verified_line": 2}],
    }
    repaired = {"decisions": [decision(1, repair, verb="run")], "fixes": fixes}
    same = {**repaired, "events": [error(1, lint), error(2, lint)]}
    others = {**repaired, "events": [error(1, lint), error(2, types)]}
    documents = [counted("fixes", gold, one, log=log) for one in (same, others)]
    # The third number counts all of ours: the second fix is right on the same result, and false on the other one.
    assert documents == [((1, 1), (1, 1, 2)), ((1, 1), (1, 0, 2))]


def test_a_codex_poll_belongs_to_its_command_and_a_mirrored_message_to_its_event(
    counted: Callable[..., Counted], tmp_path: Path
) -> None:
    log = tmp_path / "log.jsonl"
    poll = {"type": "function_call", "name": "write_stdin", "call_id": "p", "arguments": '{"session_id": 7}'}
    payloads = [
        ("response_item", {"type": "function_call", "name": "exec_command", "call_id": "a", "arguments": "{}"}),
        (
            "response_item",
            {"type": "function_call_output", "call_id": "a", "output": "Process running with session ID 7"},
        ),
        ("response_item", poll),
        ("response_item", {"type": "function_call_output", "call_id": "p", "output": "failed"}),
        ("event_msg", {"type": "user_message", "message": "it fails"}),
        ("response_item", {"type": "message", "content": [{"text": "it fails"}]}),
    ]
    lines = (json.dumps({"type": kind, "payload": payload}) for kind, payload in payloads)
    log.write_text("\n".join(lines), encoding="utf-8")
    gold = {"failures": [{"line": 4, "kind": "work"}, {"line": 5, "kind": "work"}]}
    assert counted("failures", gold, {"events": [error(1, 2), error(2, 6)]}, log=log) == ((2, 2), (2, 0, 2))


def test_an_interval_is_wider_when_all_misses_are_in_one_session() -> None:
    from sealed_tables import share

    assert share([(5, 10)] * 4) == "20/40 50 % (35 to 65)"
    assert share([(0, 10), (0, 10), (10, 10), (10, 10)]) == "20/40 50 % (13 to 87)"
    assert share([]) == "-"
