"""What is taken from a finished agent? Its own report, its own insight, once, and word to whoever waits."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from helix_episodes.errors import LogNotReadable, UnknownLogFormat
from helix_graph import Memory
from helix_graph.errors import DatabaseBusy, NotOneOf
from helix_graph.plans.transcripts import insight_in, read_transcript, report_in, result_in
from plan_world import SHOES, NotedInsights, plans_in
from whole_tables import each_row

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from helix_graph.plans.agent_results import LearnAnswer
    from session_script import Script

    Scripts = Callable[..., Script]

PROMPT = (
    "TASK_ID: {task}\nTASK: cart\nOBJECTIVE: Build the cart\n"
    "Report DELIVERED: <summary> or BLOCKED: <reason>\nDELIVERED: example\n"
    'INSIGHT: {{"content": "When X is the case, do Y because Z"}}\n'
)


@pytest.fixture
def ended(tmp_path: Path, script: Scripts) -> Callable[..., Path]:
    """The transcript of an agent that was given ``PROMPT`` and said these things."""

    def save(*said: str, task: str = "t1", name: str = "agent-a1", more: str = "") -> Path:
        log = script(name).prompt(PROMPT.format(task=task) + more)
        for one in said:
            log.say(one)
        return log.save(tmp_path / "logs")

    return save


def learn(root: Path, log: Path, insights: NotedInsights | None = None, **options: Any) -> LearnAnswer:  # noqa: ANN401  (options)
    return plans_in(root, insights).learn(log, pauses=(), **options)


def status_lines(root: Path) -> list[dict[str, Any]]:
    path = root / "task-status.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def test_prompts_are_what_the_user_asked_and_nothing_else_of_theirs(tmp_path: Path, script: Scripts) -> None:
    log = script("agent-a1").prompt("OBJECTIVE: Build the cart").say("OBJECTIVE: mine")
    log.prompt("[Request interrupted by user]").prompt("OBJECTIVE: Build the till")
    found = read_transcript(log.save(tmp_path / "logs"))
    assert {step.kind for step in found.steps if step.actor == "user"} == {"prompt", "note"}
    assert found.prompts == ("OBJECTIVE: Build the cart", "OBJECTIVE: Build the till")


def test_a_delivery_is_told_to_who_waits(tmp_path: Path, ended: Callable[..., Path]) -> None:
    learnt = learn(tmp_path, ended("Working on it.", "All done.\nDELIVERED: a cart with a limit"))
    assert (learnt.outcome, learnt.summary, learnt.task_id, learnt.agent_id) == (
        "delivered",
        "a cart with a limit",
        "t1",
        "a1",
    )
    (line,) = status_lines(tmp_path)
    assert {**line, "ts": ""} == {
        "task_id": "t1",
        "agent_id": "a1",
        "outcome": "delivered",
        "summary": "a cart with a limit",
        "ts": "",
    }
    assert plans_in(tmp_path).wait_builders(["t1"], timeout=0).all_delivered
    assert " | NO_INSIGHT | builder | a1 | outcome=delivered | " in (tmp_path / "extraction.log").read_text()


def test_what_the_prompt_shows_is_no_report_and_no_insight(tmp_path: Path, ended: Callable[..., Path]) -> None:
    insights = NotedInsights()
    learnt = learn(tmp_path, ended("I looked around and stopped."), insights)
    assert (learnt.outcome, learnt.insight, insights.stored) == ("unknown", None, [])


@each_row(
    ("said", "report"),
    [
        ("BLOCKED: no network", ("blocked", "no network")),
        ("BLOCKED: no network\nThen it worked.\nDELIVERED: a cart", ("delivered", "a cart")),
        ("DELIVERED: a cart\nBLOCKED: on second thoughts", ("blocked", "on second thoughts")),
        ("PLAN_COMPLETE: 3 tasks", ("plan_complete", "3 tasks")),
        ("**DELIVERED:** a cart", ("delivered", "a cart")),
        ("## DELIVERED: a cart", ("delivered", "a cart")),
        ("**DELIVERED: a cart**", ("delivered", "a cart")),
        ("**DELIVERED**: a **cart**", ("delivered", "a **cart**")),
        ("DELIVERED: carts have __init__", ("delivered", "carts have __init__")),
        ("UNDELIVERED: a cart", None),
        ("I will say DELIVERED: when done", None),
        ("> DELIVERED: they said", None),
        ("DELIVERED: <summary>", None),
        ("DELIVERED: a cart\nDELIVERED: <summary>", ("delivered", "a cart")),
        ("nothing", None),
    ],
)
def test_the_last_whole_line_reports(said: str, report: tuple[str, str] | None) -> None:
    assert report_in(said) == report


@each_row(
    ("said", "content"),
    [
        ('INSIGHT: {"content": "An open { in a text is no block"}', "An open { in a text is no block"),
        ('INSIGHT: {"content": "a quote \\" and a brace } inside"}', 'a quote " and a brace } inside'),
        ('INSIGHT:\n{\n  "content": "over several lines it is",\n  "tags": ["x"]\n}', "over several lines it is"),
        ('INSIGHT: {"content": "exactly twenty chars"}', "exactly twenty chars"),
        ('INSIGHT: {"content": "only nineteen chars"}', None),
        (
            'INSIGHT: {"content": "the first one of the two"}\nINSIGHT: {"content": "the last one of the two."}',
            "the last one of the two.",
        ),
        ('INSIGHT: {"content": "the first one of the two"}\nINSIGHT: {"content": 7}', "the first one of the two"),
        ('INSIGHT: {"content": "never closed, so none at all"', None),
        ("INSIGHT: in plain words only, no object", None),
        ('INSIGHT: {"content": ["a", "list"]}', None),
        ('I would give an INSIGHT: {"content": "in mid-line it is none"}', None),
    ],
)
def test_an_insight_is_an_object_with_something_in_it(said: str, content: str | None) -> None:
    found = insight_in(said)
    assert (found.content if found else None) == content


def test_its_insight_is_kept_with_its_tags(tmp_path: Path, ended: Callable[..., Path]) -> None:
    insights = NotedInsights()
    said = 'INSIGHT: {"content": "Sum carts in cents, never in floats", "tags": ["pattern", 3]}\nDELIVERED: x'
    learnt = learn(tmp_path, ended(said), insights)
    assert insights.stored == [("Sum carts in cents, never in floats", ["pattern"])]
    assert status_lines(tmp_path)[0]["insight"] == learnt.insight == "Sum carts in cents, never in floats"
    assert " | OK | " in (tmp_path / "extraction.log").read_text()


def test_being_blocked_teaches_even_who_says_nothing(tmp_path: Path, ended: Callable[..., Path]) -> None:
    insights = NotedInsights()
    learn(tmp_path, ended("BLOCKED: the stock service is down"), insights)
    expected = "When attempting 'Build the cart': blocked by the stock service is down"
    assert insights.stored == [(expected, ["derived", "failure"])]


def test_who_was_given_what_is_read_from_the_side_file(tmp_path: Path, ended: Callable[..., Path]) -> None:
    insights = NotedInsights(("real", "Sum carts in cents, never in floats"))
    plans_in(tmp_path, insights).inject("Build the cart", task_id="t1")
    log = ended('INJECTED: ["victim"]\nDELIVERED: a cart', more='INJECTED: ["other"]\n')
    learnt = learn(tmp_path, log, insights)
    assert learnt.injected == ("real",)
    assert insights.fed == {"agent-a1-t1": (["real"], "delivered", None)}


def test_without_a_side_file_the_prompts_marks_tell(tmp_path: Path, ended: Callable[..., Path]) -> None:
    block = plans_in(tmp_path, NotedInsights(("marked", "Sum carts in cents"))).inject("x").text
    assert learn(tmp_path, ended("DELIVERED: x", more=block)).injected == ("marked",)
    seeds = ended("DELIVERED: x", more='INJECTED: ["one", "t]wo"]\n', name="agent-a2")
    assert learn(tmp_path, seeds).injected == ("one", "t]wo")


def test_without_a_workspace_what_was_asked_and_told_is_judged(tmp_path: Path, ended: Callable[..., Path]) -> None:
    insights = NotedInsights(("one", "Sum carts in cents"), ("two", "Lock the door"))
    plans = plans_in(tmp_path, insights)
    plans.inject("x", task_id="t1")
    plans.learn(ended("DELIVERED: a cart"), pauses=())
    assert insights.told == {"agent-a1-t1": "cart\nBuild the cart\na cart"}


@pytest.mark.parametrize(
    ("said", "helped"),
    [
        ('UTILIZED: ["two", "never-given"]', ["two"]),
        ('UTILIZED: ["tow"]', None),
        ("**UTILIZED:** []", []),
        ('UTILIZED: ["one"]\nUTILIZED: ["two"]', ["two"]),
        ("UTILIZED: [memories that helped]", None),
        ('UTILIZED: ["<name>"]', None),
        ('```\nUTILIZED: ["one"]\n```', None),
        ("UTILIZED: [1]", None),
    ],
)
@pytest.mark.parametrize("workspace", [True, False], ids=["with a workspace", "without"])
def test_a_builders_word_of_what_helped_counts_where_it_gives_one(
    workspace: bool,  # noqa: FBT001  (one of two worlds)
    said: str,
    helped: list[str] | None,
    tmp_path: Path,
    ended: Callable[..., Path],
) -> None:
    insights = NotedInsights(("one", "Sum carts in cents"), ("two", "Lock the door"))
    plans = plans_in(tmp_path, insights)
    if workspace:
        plans.workspaces.create({"seq": "t", "objective": "Build the cart"})
    else:
        plans.inject("x", task_id="t-w1")
    learnt = plans.learn(ended(f"{said}\nDELIVERED: a cart", task="t-w1"), pauses=())
    misspelt = [name for name in ("never-given", "tow") if name in said]
    assert [name for name in misspelt if f"'{name}' was not shown" in "".join(learnt.problems)] == misspelt
    assert len(learnt.problems) == len(misspelt)
    (fed,) = insights.fed.values()
    assert (fed[0], fed[2]) == (["one", "two"], helped)


def test_learning_twice_feeds_back_once(tmp_path: Path, ended: Callable[..., Path]) -> None:
    insights = NotedInsights(("one", "Sum carts in cents"))
    plans_in(tmp_path, insights).inject("x", task_id="t1")
    log = ended("DELIVERED: a cart")
    for _ in range(2):
        learn(tmp_path, log, insights)
    assert len(insights.fed) == 1


def test_what_learning_leaves_beside_the_memory_is_known_as_its_own(tmp_path: Path, ended: Callable[..., Path]) -> None:
    memory = Memory(tmp_path / ".helix")
    memory.plans.learn(ended("INSIGHT: Sum carts in cents and not in floats\nDELIVERED: a cart"), pauses=())
    assert (memory.root / "extraction.log").exists()
    assert memory.doctor().findings == ()


def test_a_workspace_ends_with_its_builder_once(tmp_path: Path, script: Scripts) -> None:
    insights = NotedInsights(("one", "Sum carts in cents"))
    plans = plans_in(tmp_path, insights)
    plans.save(SHOES)
    plans.workspaces.create("001")
    log = script("agent-b1").prompt(plans.workspaces.prompt(1)).run("cd shop && pytest -q", "1 passed in 0.1s")
    path = log.say("DELIVERED: a cart").save(tmp_path / "logs")
    learnt = plans.learn(path, pauses=())
    assert (learnt.workspace, learnt.task_id, learnt.problems) == (1, "001-w1", ())
    assert plans.workspaces.get(1).status == "complete"
    assert plans.load().tasks[0].delivered == "a cart"  # type: ignore[union-attr]  # there is one
    ended = plans.workspaces.complete(1, "said again by the orchestrator")
    assert (ended.delivered, list(insights.fed)) == ("a cart", ["workspace-1"])
    episode = (tmp_path / "episodes" / f"{ended.episode}.json").read_text()
    assert "pytest passes" in episode


def test_a_second_run_is_given_what_the_first_learnt(tmp_path: Path, script: Scripts) -> None:
    plans = Memory(tmp_path / ".helix").plans
    plans.save(SHOES)
    first = plans.workspaces.create("001")
    assert first.failures == ()
    log = (
        script("agent-b1")
        .prompt(plans.workspaces.prompt(1))
        .say("BLOCKED: the stock service refuses carts over 9 shoes")
    )
    assert plans.learn(log.save(tmp_path / "logs"), pauses=()).problems == ()
    plans.save(SHOES)
    second = plans.workspaces.create("001")
    (failure,) = second.failures
    assert "refuses carts over 9 shoes" in failure.content
    assert "refuses carts over 9 shoes" in plans.workspaces.prompt(second.id)


def test_what_was_decided_about_a_workspace_stands(tmp_path: Path, script: Scripts) -> None:
    insights = NotedInsights(("one", "Sum carts in cents"))
    plans = plans_in(tmp_path, insights)
    plans.save(SHOES)
    plans.workspaces.create("001")
    plans.workspaces.block(1, "outside its delta")
    log = script("agent-b1").prompt(plans.workspaces.prompt(1)).say("DELIVERED: a cart").save(tmp_path / "logs")
    learnt = plans.learn(log, pauses=())
    assert (learnt.outcome, learnt.problems) == ("delivered", ())
    assert (plans.workspaces.get(1).status, len(insights.fed)) == ("blocked", 1)


@pytest.mark.parametrize(
    "content",
    ["", '{"type": "error", "error": {"message": "overloaded"}}\n', '{"type":"x"}\n{"error": "died"}\n'],
    ids=["empty", "error", "error at the end"],
)
def test_a_builder_that_broke_off_crashed(content: str, tmp_path: Path) -> None:
    log = tmp_path / "agent-x.jsonl"
    log.write_text(content)
    assert learn(tmp_path, log).outcome == "crashed"


def test_a_builder_that_broke_off_in_the_middle_crashed(tmp_path: Path, ended: Callable[..., Path]) -> None:
    log = ended("I begin.")
    with log.open("a") as file:
        file.write('{"type": "error", "error": "overloaded"}\n')
    assert learn(tmp_path, log).outcome == "crashed"
    assert plans_in(tmp_path).wait_builders(["t1"], timeout=0).crashed
    assert learn(tmp_path, log, agent_type="observer").outcome == "unknown"


def test_a_report_that_is_written_late_is_waited_for(
    tmp_path: Path, ended: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    log = ended("I begin.", "DELIVERED: a cart")
    whole = log.read_text()
    log.write_text("".join(whole.splitlines(keepends=True)[:-1]))
    monkeypatch.setattr("time.sleep", lambda _: log.write_text(whole))
    assert plans_in(tmp_path).learn(log, pauses=(0.1,)).outcome == "delivered"


def test_a_sub_agents_transcript_is_read_by_itself(tmp_path: Path, script: Scripts) -> None:
    log = script("s1").prompt(PROMPT.format(task="t9")).say("DELIVERED: a cart")
    for record in log.records:
        record |= {"isSidechain": True, "agentId": "a77"}
    path = log.save(tmp_path / "logs" / "s1" / "subagents").rename(
        tmp_path / "logs" / "s1" / "subagents" / "agent-a77.jsonl"
    )
    learnt = learn(tmp_path, path)
    assert (learnt.agent_id, learnt.task_id, learnt.outcome) == ("a77", "t9", "delivered")


def test_a_secret_in_the_name_of_an_agent_is_not_written_down(tmp_path: Path, ended: Callable[..., Path]) -> None:
    name = "ghp_0000aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW"
    learnt = learn(tmp_path, ended("DELIVERED: a cart", name=f"agent-{name}"))
    written = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file() and path.suffix != ".jsonl")
    assert b"delivered" in written
    assert name.encode() not in written
    assert name not in learnt.agent_id


def test_what_an_explorer_found_is_left_for_who_waits(tmp_path: Path, ended: Callable[..., Path]) -> None:
    said = 'Here:\n```json\n{"status": "ok", "findings": [{"file": "cart.py", "status": "old"}]}\n```\nThat is {all}.'
    learnt = learn(tmp_path, ended(said, name="agent-e1"), agent_type="helix:helix-explorer")
    assert learnt.result == tmp_path / "explorer-results" / "e1.json"
    found = plans_in(tmp_path).wait_explorers(1, timeout=0)
    assert found.findings == [{"file": "cart.py", "status": "old"}]
    assert status_lines(tmp_path) == []


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ('{"a": 1} {"findings": []}', {"findings": []}),
        ('first\n{"status": "draft"}\nthen\n{"status": "final"}', {"status": "final"}),
        ("{{{{ {not json}", None),
        ('{"a":' * 5000, None),
        ('[{"b": 1}]', None),
    ],
    ids=["in a line", "last", "braces", "deep", "other"],
)
def test_a_result_is_found_among_other_braces(said: str, found: dict[str, Any] | None) -> None:
    assert result_in(said) == found


@pytest.mark.parametrize("task", ["../../escape", "/etc/passwd", "..%2f", "a/../../b"])
def test_hostile_names_write_nothing_elsewhere(task: str, tmp_path: Path, ended: Callable[..., Path]) -> None:
    root = tmp_path / "deep" / ".helix"
    root.mkdir(parents=True)
    log = ended('{"findings": []}\nDELIVERED: x', task=task)
    before = {path for path in tmp_path.rglob("*") if root not in path.parents}
    learn(root, log)
    explorer = learn(root, log, agent_type="explorer", agent_id=task)
    assert len(explorer.problems) == 1
    after = {path for path in tmp_path.rglob("*") if root not in path.parents}
    assert after == before
    assert status_lines(root)[0]["task_id"] == task


def test_a_broken_memory_is_told_and_who_waits_is_not_left_waiting(tmp_path: Path, ended: Callable[..., Path]) -> None:
    class Broken(NotedInsights):
        def store(self, *_: object, **__: object) -> dict[str, Any]:
            raise DatabaseBusy(path=tmp_path / "helix.db", seconds=30)

    learnt = learn(tmp_path, ended("BLOCKED: the stock service is down"), Broken())
    assert (learnt.outcome, len(learnt.problems)) == ("blocked", 1)
    assert status_lines(tmp_path)[0]["outcome"] == "blocked"
    assert "problem=" in (tmp_path / "extraction.log").read_text()


def test_what_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LogNotReadable, match="does not exist"):
        learn(tmp_path, tmp_path / "none.jsonl")
    notes = tmp_path / "notes.jsonl"
    notes.write_text('{"some": "thing"}\n')
    with pytest.raises(UnknownLogFormat):
        learn(tmp_path, notes)
    with pytest.raises(NotOneOf):
        learn(tmp_path, notes, agent_type="plumber")


def test_secrets_in_a_report_are_cut(tmp_path: Path, ended: Callable[..., Path]) -> None:
    secret = "ghp_" + "0123456789abcdefghijABCDEFGHIJ012345"
    insights = NotedInsights()
    learn(tmp_path, ended(f"BLOCKED: {secret} was refused"), insights)
    held = (
        str(insights.stored) + (tmp_path / "task-status.jsonl").read_text() + (tmp_path / "extraction.log").read_text()
    )
    assert secret not in held
