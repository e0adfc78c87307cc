"""Are chats with a verdict (τ-bench, Who&When) read without the answers that stand beside them?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from helix_episodes.extraction.pipeline import extract
from helix_episodes.readers import find_reader, read_sessions

if TYPE_CHECKING:
    from pathlib import Path

    from helix_episodes.model import Episode
    from helix_episodes.session import Session

KEY = "THE-ANSWER-KEY"


def read(path: Path, document: object, *, reader: str) -> tuple[Session, ...]:
    path.write_text(json.dumps(document), encoding="utf-8")
    assert find_reader(path).name == reader
    return read_sessions(path)


def call(name: str, call_id: str = "c1", **arguments: Any) -> dict[str, Any]:  # noqa: ANN401  (fields of the log)
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"role": "assistant", "content": None, "tool_calls": [{"id": call_id, "function": function}]}


def answer(content: str, call_id: str = "c1") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "name": "any", "content": content}


def run(*messages: dict[str, Any], reward: float = 0.0, task: int = 3, trial: int = 1) -> dict[str, Any]:
    info = {"task": {"instruction": KEY, "actions": [{"name": KEY}]}}
    return {"task_id": task, "reward": reward, "trial": trial, "info": info, "traj": list(messages)}


ORDER = {"role": "user", "content": "Cancel my order."}


def test_every_run_of_the_list_is_a_session_with_its_reward(tmp_path: Path) -> None:
    runs = [run(ORDER, reward=reward, task=task) for task, reward in enumerate((1.0, 0.0, 0.5))]
    sessions = read(tmp_path / "shop.json", runs, reader="tau-bench")
    assert [session.task_id for session in sessions] == ["0", "1", "2"]
    assert len({session.id for session in sessions}) == 3
    episodes = [extract(session) for session in sessions]
    assert [(one.outcome, one.outcome_basis) for one in episodes] == [
        ("success", "rewarded"),
        ("failure", "rewarded"),
        ("partial", "rewarded"),
    ]


def test_calls_that_change_something_are_decisions_and_those_that_look_are_none(tmp_path: Path) -> None:
    messages = [
        {"role": "system", "content": "the policy"},
        ORDER,
        call("get_order", order="A7"),
        answer('{"order": "A7", "error_count": 0}'),
        call("cancel_order", order="A7", reason="late"),
        answer("Error: the order is under way"),
        call("cancel_order", order="A7", reason="no longer needed"),
        answer('{"order": "A7"}'),
        {"role": "assistant", "content": "It is cancelled."},
        {"role": "user", "content": "###STOP###"},
    ]
    (session,) = read(tmp_path / "shop.json", [run(*messages)], reader="tau-bench")
    episode = extract(session)
    assert [decision.chosen for decision in episode.decisions] == [
        "use cancel_order: A7, late",
        "use cancel_order: A7, no longer needed",
    ]
    (error,) = episode.events
    assert (error.type, error.message) == ("error", "Error: the order is under way")
    assert [(fix.error, fix.changes) for fix in episode.fixes] == [(error.id, ("d002",))]
    assert session.accounting.skipped == {"end of the chat": 1, "message of system": 1}
    assert session.accounting.lines == len(messages)


def test_what_the_simulated_user_was_told_is_nowhere(tmp_path: Path) -> None:
    (session,) = read(tmp_path / "shop.json", [run(ORDER, call(KEY.lower()), answer("done"))], reader="tau-bench")
    told = msgspec.json.encode(extract(session)) + msgspec.json.encode(session)
    assert KEY.encode() not in told


def judged(*history: dict[str, Any], **more: Any) -> dict[str, Any]:  # noqa: ANN401  (fields of the log)
    key = {"ground_truth": KEY, "mistake_agent": KEY, "mistake_step": "1", "mistake_reason": KEY, "level": KEY}
    return {"question": "How many carts?", "question_ID": "q-1", "history": list(history), **key, **more}


def said(name: str, content: str) -> dict[str, Any]:
    return {"role": "assistant", "name": name, "content": content}


CODE = "Let me count.\n\n```python\nprint(carts)\n```"
ORDERED = said("Planner", "You are given: (1) a task ...")


def test_code_that_a_terminal_ran_is_a_call_with_its_status(tmp_path: Path) -> None:
    failed = (
        'exitcode: 1 (execution failed)\nCode output: Traceback (most recent call last):\n  File "x"\nNameError: no'
    )
    history = [
        ORDERED,
        said("Counter", CODE),
        said("Computer_terminal", failed),
        said("Counter", "```sh\npip install carts\n```"),
        said("Computer_terminal", "exitcode: 0 (execution succeeded)\nCode output: installed"),
        said("Computer_terminal", "There is no code from the last 1 message for me to execute. "),
    ]
    (session,) = read(tmp_path / "1.json", judged(*history, is_correct=False), reader="who-and-when")
    assert [(step.kind, step.operation, step.actor, step.status, step.exit_code) for step in session.steps] == [
        ("prompt", None, "user", "unknown", None),
        ("message", None, "agent:Counter", "unknown", None),
        ("call", "use", "agent:Counter", "unknown", None),
        ("result", "use", "agent:Counter", "error", 1),
        ("message", None, "agent:Counter", "unknown", None),
        ("call", "run", "agent:Counter", "unknown", None),
        ("result", "run", "agent:Counter", "ok", 0),
        ("message", None, "agent:Computer_terminal", "unknown", None),
    ]
    assert session.steps[1].text == "Let me count."
    assert session.steps[2].arguments == {"language": "python", "code": "print(carts)"}
    (error,) = (event for event in extract(session).events if event.type == "error")
    assert error.family == "NameError"
    assert session.accounting.lines == len(history)


def test_orders_of_an_orchestrator_are_handed_over_and_come_back(tmp_path: Path) -> None:
    ledger = json.dumps(
        {"done": {"reason": "not yet", "answer": False}, "next": {"reason": "The web knows.", "answer": "search"}}
    )
    history = [
        {"role": "human", "content": "How many carts?"},
        {"role": "Orchestrator (thought)", "content": f"Updated Ledger:\n{ledger}"},
        {"role": "Orchestrator (-> WebSurfer)", "content": "Please count the carts."},
        {"role": "WebSurfer", "content": "I see four."},
        {"role": "Orchestrator (termination condition)", "content": "No agent selected."},
    ]
    (session,) = read(tmp_path / "1.json", judged(*history, is_corrected=False), reader="who-and-when")
    episode = extract(session)
    (decision,) = episode.decisions
    assert (decision.type, decision.chosen) == ("routing", "delegate to WebSurfer: Please count the carts.")
    assert decision.rationale == "The web knows."
    assert [event.content for event in episode.events] == [
        "handed to WebSurfer: Please count the carts.",
        "WebSurfer came back: I see four.",
    ]


def test_the_judges_answer_key_is_nowhere_but_the_failure_is_the_outcome(tmp_path: Path) -> None:
    (session,) = read(tmp_path / "1.json", judged(ORDERED, said("A", "Four."), is_correct=False), reader="who-and-when")
    episode = extract(session)
    assert (episode.outcome, episode.outcome_basis) == ("failure", "rewarded")
    assert (episode.task, episode.task_id) == ("How many carts?", "q-1")
    assert KEY.encode() not in msgspec.json.encode(episode) + msgspec.json.encode(session)


def terminal_log(tmp_path: Path, *history: dict[str, Any]) -> Episode:
    (session,) = read(tmp_path / "1.json", judged(*history, is_correct=False), reader="who-and-when")
    return extract(session)


def test_a_clean_run_of_another_script_repairs_nothing(tmp_path: Path) -> None:
    code = "```python\nwith open('data/list.docx') as file:\n    {0}\n```"
    failed = (
        'exitcode: 1 (execution failed)\nCode output: Traceback (most recent call last):\n  File "/tmp/a.py", line 2\n'
        "zipper.error: not an archive"
    )
    episode = terminal_log(
        tmp_path,
        ORDERED,
        said("Reader_Expert", code.format("unzip(file)")),
        said("Computer_terminal", failed),
        said("Text_Expert", code.format("print(file.read())")),
        said("Computer_terminal", "exitcode: 0 (execution succeeded)\nCode output: names"),
        said("Reader_Expert", "```python\nprint(1 + 1)\n```"),
        said("Computer_terminal", "exitcode: 0 (execution succeeded)\nCode output: 2"),
    )
    (error,) = [one for one in episode.events if one.type == "error"]
    assert error.family == "zipper.error"
    assert [fix.changes for fix in episode.fixes] == [("d002",)]
    assert [one.target for one in episode.links if one.reason == "answer"] == ["d002"]


@pytest.mark.parametrize(
    ("code", "raised", "answer", "repaired"),
    [
        (
            "rows = read('sales.csv')",
            "FileNotFoundError: No such file or directory: 'sales.csv'",
            "x = read('q/sales.csv')",
            True,
        ),
        ("rows = read('sales.csv')", "FileNotFoundError: No such file or directory: 'sales.csv'", "x = [1, 2]", False),
        ("rows = search(2)", "NameError: name 'search' is not defined", "import search\nrows = search(2)", True),
        ("rows = search(2)", "NameError: name 'search' is not defined", "# no search\nrows = [1, 2]", False),
    ],
    ids=["the file elsewhere", "made up", "imported", "without it"],
)
def test_code_that_does_without_what_was_missing_repairs_nothing(
    tmp_path: Path, *, code: str, raised: str, answer: str, repaired: bool
) -> None:
    body = "```python\n{0}\ntotal = sum(rows)\naverage = total / len(rows)\nprint(total)\n```"
    traceback = f'Traceback (most recent call last):\n  File "/tmp/a.py", line 1\n{raised}'
    failed = f"exitcode: 1 (execution failed)\nCode output: {traceback}"
    episode = terminal_log(
        tmp_path,
        ORDERED,
        said("Reader_Expert", body.format(code)),
        said("Computer_terminal", failed),
        said("Reader_Expert", body.format(answer)),
        said("Computer_terminal", "exitcode: 0 (execution succeeded)\nCode output: 3"),
    )
    assert bool(episode.fixes) is repaired


@pytest.mark.parametrize(
    ("failed", "line", "answer", "output", "repaired"),
    [
        ("shop = rows['Price']", "shop = rows['Price']", "shop = rows['price']\nprint(shop)", "3", True),
        ("shop = rows['Price']", "shop = rows['Price']", "print(rows.columns)\nprint(rows)", "price", False),
        (
            "cart = page.find('cart')\nprint(cart.text)",
            "print(cart.text)",
            "cart = page.find('cart')\nif cart:\n    print(cart.text)\nelse:\n    print('no cart there')",
            "no cart there",
            False,
        ),
        (
            "cart = page.find('cart')\nprint(cart.text)",
            "print(cart.text)",
            "cart = page.find('cart')\nif cart:\n    print(cart.text)\nelse:\n    print('no cart there')",
            "three apples",
            True,
        ),
        (
            "import web\nrows = web.get('http://shop.example/rows')\nprint(rows['a'])",
            "print(rows['a'])",
            "import random\nrows = random.sample(range(9), 3)\nprint(rows['a'])",
            "7",
            False,
        ),
    ],
    ids=["the right name", "only a look", "not there", "there", "made up"],
)
def test_code_written_anew_has_to_make_the_same_and_to_get_there(
    tmp_path: Path, *, failed: str, line: str, answer: str, output: str, repaired: bool
) -> None:
    body = "```python\npage = rows = load()\nnames = sorted(rows)\n{0}\n```"
    traceback = f'Traceback (most recent call last):\n  File "/tmp/a.py", line 3, in <module>\n    {line}\nKeyError: 7'
    episode = terminal_log(
        tmp_path,
        ORDERED,
        said("Reader_Expert", body.format(failed)),
        said("Computer_terminal", f"exitcode: 1 (execution failed)\nCode output: {traceback}"),
        said("Reader_Expert", body.format(answer)),
        said("Computer_terminal", f"exitcode: 0 (execution succeeded)\nCode output: {output}"),
    )
    assert bool(episode.fixes) is repaired
