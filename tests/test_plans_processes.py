"""Does orchestrated work come out right when several processes do it at once?"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import pytest

from helix_graph.plans.handoff_files import append_line
from own_memory import own_memory
from plan_world import SHOES
from processes import PATIENCE, finish, start

if TYPE_CHECKING:
    from pathlib import Path

    from helix_graph import Memory


_APPENDER = """
import sys
from pathlib import Path
from helix_graph.plans.handoff_files import append_line
for number in range(200):
    append_line(Path(sys.argv[1]), f'{{"who": {sys.argv[2]}, "n": {number}}}'.encode() )
"""


def make_plan(root: Path) -> Memory:
    memory = own_memory(root)
    for text in ("When the cart is built, limit what it holds", "When the cart is summed, count in cents"):
        memory.insights.store(text, ["pattern"])
    memory.plans.save(SHOES)
    return memory


@pytest.mark.slow
def test_many_complete_one_workspace_at_once_and_it_is_fed_back_once(tmp_path: Path) -> None:
    memory = make_plan(tmp_path / ".helix")
    made = memory.plans.workspaces.create("001")
    assert made.injected
    arguments = (
        "workspace",
        "complete",
        "1",
        "--delivered",
        "a cart",
        "--utilized",
        json.dumps(made.injected),
        "--json",
    )
    answers = [finish(one) for one in [start(*arguments, memory=memory.root) for _ in range(4)]]
    assert [code for code, _, _ in answers] == [0] * 4, answers
    told = [json.loads(out) for _, out, _ in answers]
    assert {one["episode"] for one in told} == {told[0]["episode"]}
    uses = [memory.insights.get(name)["use_count"] for name in made.injected]  # type: ignore[index]  # they are there
    assert uses == [1] * len(made.injected)
    assert len(memory.episodes.files()) == 1


@pytest.mark.slow
def test_completing_and_blocking_at_once_leaves_one_ending(tmp_path: Path) -> None:
    memory = make_plan(tmp_path / ".helix")
    memory.plans.workspaces.create("001")
    both = [("complete", "--delivered", "a cart"), ("block", "--reason", "no cart")]
    running = [start("workspace", name, "1", *rest, memory=memory.root) for name, *rest in both]
    answers = [finish(one) for one in running]
    assert sorted(code for code, _, _ in answers) == [0, 1]
    lost = next(err for code, _, err in answers if code)
    assert "already" in lost
    assert "Traceback" not in lost
    assert len(memory.episodes.files()) == 1


@pytest.mark.slow
def test_two_waves_of_builders_in_processes_of_their_own(tmp_path: Path) -> None:
    memory = make_plan(tmp_path / ".helix")
    parents = []
    for wave in memory.plans.waves():
        made = [memory.plans.workspaces.create(seq) for seq in wave]
        parents += [[one.seq for one in each.lineage.parents] for each in made]
        numbers = [str(one.id) for one in made]
        done = [
            start("workspace", "complete", one, "--delivered", f"part {one}", memory=memory.root) for one in numbers
        ]
        assert [finish(one)[0] for one in done] == [0] * len(wave)
    assert parents == [[], [], ["001", "002"]]
    assert memory.plans.status().state == "complete"
    assert len(memory.episodes.files()) == 3


@pytest.mark.slow
def test_no_insight_is_given_out_twice_in_a_session_of_many_processes(tmp_path: Path) -> None:
    memory = make_plan(tmp_path / ".helix")
    arguments = ("inject", "Build the cart", "--limit", "1", "--session", "s1", "--json")
    answers = [finish(one) for one in [start(*arguments, memory=memory.root) for _ in range(4)]]
    names = [name for _, out, _ in answers for name in json.loads(out)["names"]]
    assert len(names) == len(set(names)) == 2


@pytest.mark.slow
def test_lines_appended_by_many_processes_are_whole(tmp_path: Path) -> None:
    path = tmp_path / "task-status.jsonl"
    path.write_text('{"who": 9')  # somebody was killed here
    running = [subprocess.Popen([sys.executable, "-c", _APPENDER, str(path), str(who)]) for who in range(3)]
    assert [one.wait(PATIENCE) for one in running] == [0] * 3
    lines = path.read_text().splitlines()
    assert lines[0] == '{"who": 9'
    entries = [json.loads(line) for line in lines[1:]]
    assert sorted((one["who"], one["n"]) for one in entries) == [(who, n) for who in range(3) for n in range(200)]


@pytest.mark.slow
def test_a_wait_ends_when_the_last_builder_tells(tmp_path: Path) -> None:
    root = tmp_path / ".helix"
    root.mkdir()
    waiting = start(
        "wait", "builders", "--task-ids", "1,2", "--timeout", "60", "--poll-interval", "0.05", "--json", memory=root
    )
    lines = [f'{{"task_id": "{one}", "outcome": "delivered"}}'.encode() for one in (1, 2)]
    timers = [
        threading.Timer(0.4 * place, append_line, (root / "task-status.jsonl", line))
        for place, line in enumerate(lines, 1)
    ]
    for timer in timers:
        timer.start()
    code, out, err = finish(waiting)
    assert (code, err) == (0, "")
    assert json.loads(out)["all_delivered"]
