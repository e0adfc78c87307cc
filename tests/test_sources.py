"""Which logs do the agents keep on this machine, and which of them belong into this project's memory?"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from helix_episodes.discovery import AGENT_HOMES, logs_of, root_of
from helix_episodes.errors import InvalidArgument
from helix_episodes.extraction import pipeline
from helix_graph import Memory
from session_script import Script
from thoroughness import few

if TYPE_CHECKING:
    from collections.abc import Callable

AT = "2026-03-02T09:00:00Z"
#: Where each agent puts a log, below its home, and what the log's first line says of the project (None: nothing).
PLACES = {
    "claude-code": (".claude/projects/-x/1.jsonl", {"type": "user", "cwd": "{}"}),
    "codex": (".codex/sessions/2026/03/02/rollout-1.jsonl", {"type": "session_meta", "payload": {"cwd": "{}"}}),
    "gemini": (".gemini/tmp/{sha}/chats/session-1.json", {"sessionId": "1"}),
    "copilot": (".copilot/session-state/1/events.jsonl", {"data": {"context": {"cwd": "{}"}}}),
    "opencode": (".local/share/opencode/opencode.db", None),
    "cursor": (".cursor/projects/{dashes}/agent-transcripts/1/1.jsonl", {"role": "user"}),
    "droid": (".factory/sessions/-x/1.jsonl", {"type": "session_start", "cwd": "{}"}),
    "kimi": (".kimi-code/sessions/wd/s/agents/main/wire.jsonl", {"environmentDisclosure": {"cwd": "{}"}}),
    "qwen": (".qwen/projects/x/chats/1.jsonl", {"cwd": "{}"}),
    "grok": (".grok/sessions/x/1/chat_history.jsonl", {"type": "user"}),
    "openclaw": (".openclaw/agents/main/sessions/1.jsonl", {"cwd": "{}"}),
    "hermes": (".hermes/sessions/session_1.json", {"cwd": "{}"}),
    "antigravity": (".gemini/antigravity/brain/1/.system_generated/logs/transcript.jsonl", {"step_index": 0}),
    "pi": (".pi/agent/sessions/--x--/1.jsonl", {"type": "session", "cwd": "{}"}),
}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without agents, and a project in which one stands."""
    for variable in ("HELIX_DIR", *(name for one in AGENT_HOMES for name, _ in one.variables)):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


@pytest.fixture
def shop(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return project(home / "shop", monkeypatch)


def project(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder.mkdir()
    subprocess.run(["git", "init", "-q", "."], cwd=folder, check=True)
    monkeypatch.chdir(folder)
    return folder


def put(home: Path, agent: str, folder: Path) -> Path:
    """Puts a log of an agent where it would put it, for a session in that folder."""
    place, first = PLACES[agent]
    dashes = re.sub(r"[^A-Za-z0-9]", "-", str(folder)).strip("-")
    path = home / place.format(sha=hashlib.sha256(str(folder).encode()).hexdigest(), dashes=dashes)
    path.parent.mkdir(parents=True, exist_ok=True)
    shape = 2 if path.suffix == ".json" else None  # documents are written over many lines
    path.write_text(json.dumps(first, indent=shape).replace("{}", str(folder)) + "\n")
    if agent == "grok":
        (path.parent / "summary.json").write_text(json.dumps({"info": {"cwd": str(folder)}}))
    return path


def save(home: Path, script: Script) -> Path:
    return script.save(home / ".claude" / "projects" / "-x")


@pytest.mark.parametrize("agent", PLACES)
def test_a_log_is_found_where_its_agent_puts_it(home: Path, agent: str) -> None:
    path = put(home, agent, Path("/work/shop"))
    (one,) = (each for each in AGENT_HOMES if each.agent == agent)
    (found,) = logs_of(one, candidates=[Path("/work/shop")])
    assert (found.path, found.agent) == (path, agent)
    assert found.folder == (None if agent in {"opencode", "antigravity"} else "/work/shop")


def test_opencode_s_folders_of_files_are_found_too(home: Path) -> None:
    storage = home / ".local/share/opencode/storage"
    path = storage / "session" / "p1" / "ses_1.json"
    for file, record in (
        (path, {"id": "ses_1", "directory": "/work/shop", "version": "1.1"}),
        (path.with_name("ses_2.json"), {"id": "ses_2", "parentID": "ses_1", "directory": "/work/shop"}),
        (storage / "message" / "ses_1" / "msg_1.json", {"id": "msg_1", "sessionID": "ses_1", "role": "user"}),
    ):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(record, indent=2))
    (one,) = (each for each in AGENT_HOMES if each.agent == "opencode")
    (found,) = logs_of(one)
    assert (found.path, found.folder) == (path, "/work/shop")


def test_every_agent_has_a_place_here() -> None:
    assert {one.agent for one in AGENT_HOMES} == set(PLACES)


@pytest.mark.parametrize(
    ("variable", "agent", "below"),
    [(name, one.agent, below) for one in AGENT_HOMES for name, below in one.variables],
)
def test_each_home_moves_with_its_variable(
    home: Path, monkeypatch: pytest.MonkeyPatch, variable: str, agent: str, below: str
) -> None:
    (one,) = (each for each in AGENT_HOMES if each.agent == agent)
    assert root_of(one) == home / one.default
    monkeypatch.setenv(variable, "/elsewhere")
    assert root_of(one) == Path("/elsewhere", below)
    monkeypatch.setenv(variable, " ")
    assert root_of(one) == home / one.default


def test_sources_counts_what_is_this_project_s(home: Path, shop: Path) -> None:
    put(home, "codex", shop)
    put(home, "qwen", home / "other")
    put(home, "antigravity", shop)
    found = {one.agent: one for one in Memory.init().sources()}
    assert [(name, one.logs, one.here, one.unsaid) for name, one in found.items() if one.logs] == [
        ("codex", 1, 1, 0),
        ("qwen", 1, 0, 0),
        ("antigravity", 1, 0, 1),
    ]
    assert not found["grok"].found


def test_extract_all_takes_this_project_s_logs_and_no_others(
    home: Path, shop: Path, script: Callable[..., Script]
) -> None:
    save(home, script("here", root=str(shop)).prompt("fix it").run("pytest", "1 passed"))
    save(home, script("below", root=str(shop / "src")).prompt("fix it").run("pytest", "1 passed"))
    save(home, script("there", root=str(home / "other")).prompt("fix it").run("pytest", "1 passed"))
    memory = Memory.init()
    answer = memory.extract_all()
    assert sorted(one.session for one in answer.report.written) == ["below", "here"]
    assert answer.elsewhere == 1
    again = memory.extract_all()
    assert (again.untouched, again.report.recorded) == (2, ())
    assert [one.session for one in memory.extract_all(project=str(home / "other")).report.written] == ["there"]
    assert memory.extract_all(project="any").untouched == 3


def test_a_work_tree_s_logs_are_the_repository_s(
    home: Path, shop: Path, script: Callable[..., Script], monkeypatch: pytest.MonkeyPatch
) -> None:
    who = ["-c", "user.name=t", "-c", "user.email=t@example.invalid"]
    subprocess.run(["git", *who, "commit", "-q", "--allow-empty", "-m", "begin"], cwd=shop, check=True)
    subprocess.run(["git", "worktree", "add", "-q", "../tree"], cwd=shop, check=True)
    save(home, script("tree", root=str(home / "tree")).prompt("fix it").run("pytest", "1 passed"))
    monkeypatch.chdir(home / "tree")
    assert [one.session for one in Memory.init().extract_all().report.written] == ["tree"]


def test_a_session_that_moved_to_another_project_is_refused(
    home: Path, shop: Path, script: Callable[..., Script]
) -> None:
    """The first line only decides what is read; the session as a whole decides what is recorded."""
    one = script("moved", root=str(home / "other")).prompt("fix it").run("pytest", "1 passed")
    one.records.insert(0, {"type": "system", "cwd": str(shop), "isSidechain": False})
    save(home, one)
    report = Memory.init().extract_all().report
    assert report.recorded == ()
    assert "which is another project" in report.left_out[0].problem


def test_a_log_that_names_no_folder_is_nobody_s(home: Path, shop: Path) -> None:
    path = put(home, "antigravity", shop)
    step = {"step_index": 0, "source": "USER_EXPLICIT", "type": "USER_INPUT", "created_at": AT, "content": "go"}
    path.write_text(json.dumps(step) + "\n")
    memory = Memory.init()
    report = memory.extract_all().report
    assert (report.recorded, len(report.left_out)) == ((), 1)
    assert "--project any" in report.left_out[0].problem
    assert len(memory.extract_all(project="any").report.written) == 1


def test_the_folder_that_only_the_place_tells_makes_paths_relative(home: Path, shop: Path) -> None:
    path = put(home, "cursor", shop)
    edited = {
        "type": "tool_use",
        "name": "Edit",
        "input": {"path": str(shop / "a.py"), "old_string": "a", "new_string": "b"},
    }
    said: list[dict[str, Any]] = [
        {"role": "user", "message": {"content": [{"type": "text", "text": "fix it"}]}},
        {"role": "assistant", "message": {"content": [edited]}},
    ]
    path.write_text("".join(json.dumps(one) + "\n" for one in said))
    memory = Memory.init()
    (one,) = memory.extract_all().report.written
    episode = memory.episodes.require(one.session)
    assert episode.project == "shop"
    assert "a.py" in episode.decisions[0].chosen
    assert str(shop) not in episode.decisions[0].chosen


def test_a_bad_log_hides_no_other(home: Path, shop: Path, script: Callable[..., Script]) -> None:
    save(home, script("good", root=str(shop)).prompt("fix it").run("pytest", "1 passed"))
    put(home, "pi", shop).write_bytes(b"\0\0\0")
    report = Memory.init().extract_all(project="any").report
    assert [one.session for one in report.written] == ["good"]
    assert len(report.failed) == 1


def test_agent_and_since_narrow_the_search(home: Path, shop: Path, script: Callable[..., Script]) -> None:
    old = save(home, script("old", root=str(shop)).prompt("fix it").run("pytest", "1 passed"))
    os.utime(old, (0, 0))
    save(home, script("new", root=str(shop)).prompt("fix it").run("pytest", "1 passed"))
    memory = Memory.init()
    assert memory.extract_all(agent="codex").report.written == ()
    since = datetime(2000, 1, 1, tzinfo=UTC)
    assert [one.session for one in memory.extract_all(since=since).report.written] == ["new"]
    with pytest.raises(InvalidArgument, match="no agent is called 'clippy'"):
        memory.extract_all(agent="clippy")


def test_a_dry_run_writes_nothing_and_says_how_episodes_would_change(
    home: Path, shop: Path, script: Callable[..., Script], monkeypatch: pytest.MonkeyPatch
) -> None:
    one = script("s", root=str(shop)).prompt("fix it").edit("b.py").run("pytest", "1 failed", code=1)
    save(home, one)
    memory = Memory.init()
    planned = memory.extract_all(dry_run=True)
    assert ([each.session for each in planned.report.written], memory.episodes.files()) == (["s"], [])
    memory.extract_all()
    before = memory.episodes.files()[0].read_bytes()
    save(home, one.edit("a.py").run("pytest", "1 passed"))
    (difference,) = memory.extract_all(dry_run=True).differences
    assert (difference.reason, difference.decisions, difference.outcome) == ("grown", (2, 4), ("failure", "success"))
    assert memory.episodes.files()[0].read_bytes() == before
    memory.extract_all()
    for reads in ("ingest", "source_logs"):
        monkeypatch.setattr(f"helix_episodes.{reads}.EXTRACTOR_VERSION", pipeline.EXTRACTOR_VERSION + "+")
    (difference,) = memory.extract_all(dry_run=True).differences
    assert (difference.reason, difference.decisions) == ("newer extractor", (4, 4))


@pytest.mark.usefixtures("shop")
def test_a_dry_run_says_when_the_graph_would_be_folded_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    memory = Memory.init()
    memory.graph.compile()
    assert memory.extract_all(dry_run=True).labels is None
    monkeypatch.setattr("helix_graph.graph.compile.LABEL_VERSION", "0")
    assert "its labels were of version" in str(memory.extract_all(dry_run=True).labels)


def test_helixignore_and_the_forgotten_stay_out(home: Path, shop: Path, script: Callable[..., Script]) -> None:
    save(home, script("kept-out", root=str(shop)).prompt("fix it").run("pytest", "1 passed"))
    save(home, script("forgotten", root=str(shop)).prompt("fix it").run("pytest", "1 passed"))
    memory = Memory.init()
    (shop / ".helix" / ".helixignore").write_text("session: kept-out\n")
    assert [one.session for one in memory.extract_all().report.written] == ["forgotten"]
    memory.forget(["forgotten"])
    report = memory.extract_all().report
    assert report.recorded == ()
    assert len(report.left_out) == 2
    assert [one.session for one in memory.extract_all(force=True).report.written] == ["forgotten"]


def test_a_committed_origin_stays_one_when_its_log_is_gone(home: Path, shop: Path) -> None:
    first, second = "3f2504e0-4f89-41d3-9a0c-0305e82c3301", "91b4a6de-77c0-4c1f-8d3a-5be1f0f3a602"
    origin = (
        Script(first, root=str(shop)).prompt("Fix the labels").edit("labels.py").run("pytest -q", "1 passed in 0.1s")
    )
    for number, record in enumerate(origin.records):
        record["uuid"] = f"7a3cf82d-9284-4b61-9e6b-d409226e{number:04x}"
    log = save(home, origin)
    memory = Memory.init(shop)
    memory.sync()
    subprocess.run(["git", "add", "-f", ".helix/episodes"], cwd=shop, check=True)
    resumed = Script(second, root=str(shop)).prompt("Fix the rates").edit("rates.py")
    resumed.save(log.parent, copied=origin.records)
    memory.sync()
    log.unlink()
    resumed.edit("stock.py").save(log.parent, copied=origin.records)
    memory.sync()
    episode = (memory.root / "episodes" / f"episode-{second}.json").read_text()
    assert [name in episode for name in ("stock.py", "rates.py", "labels.py")] == [True, True, False]


@pytest.mark.skipif(not Path("/proc/self/cwd").exists(), reason="only Linux has links of a process there")
@pytest.mark.parametrize("named", ["/proc/self/cwd", "/proc/thread-self/cwd", "/proc/self/root{shop}", "{clone}/here"])
def test_a_log_whose_folder_is_each_processs_own_is_in_no_project(
    home: Path, shop: Path, tmp_path: Path, named: str
) -> None:
    (tmp_path / "here").symlink_to("/proc/self/cwd")  # as a clone may have it
    odd = Script("odd", root=str(shop)).prompt("Fix the labels")
    for record in odd.records:
        record["cwd"] = named.format(shop=shop, clone=tmp_path)
    save(home, odd)
    (tmp_path / "link").symlink_to(shop)
    save(home, Script("own", root=str(tmp_path / "link")).prompt("Fix the rates"))
    memory = Memory.init(shop)
    memory.sync()
    assert [path.stem for path, _ in memory.episodes.scan()] == ["episode-own"]


@pytest.mark.parametrize(
    "named",
    few([".", " ", "C:\\work\\shop", "file:///work/shop", "~nobody-of-this-name/x", "/a\0b", f"/{'x' * 5000}"], 3),
)
def test_a_log_whose_folder_is_none_is_in_no_project_and_stops_no_other(home: Path, shop: Path, named: str) -> None:
    odd = Script("odd", root=str(shop)).prompt("Fix the labels")
    for record in odd.records:
        record["cwd"] = named
    save(home, odd)
    save(home, Script("own", root=str(shop)).prompt("Fix the rates"))
    memory = Memory.init(shop)
    memory.sync()
    assert [path.stem for path, _ in memory.episodes.scan()] == ["episode-own"]
