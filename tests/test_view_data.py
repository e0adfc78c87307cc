"""What is on a page: the same bytes from the same truth, and the steps of what is looked at most?"""

from __future__ import annotations

import base64
import re
import zlib
from pathlib import Path
from typing import Any

import msgspec
import pytest

from helix_episodes.errors import InvalidArgument, NotFound
from helix_graph.errors import GraphNotCompiled, NodeNotFound
from helix_graph.memory import Memory
from helix_graph.web.page_content import TRACES
from session_script import Script
from small_worlds import memory_of, session


def packs(page: Path) -> dict[str, Any]:
    """The packs of a page, as its script unpacks them."""
    found = re.findall(
        r'<script type="text/plain" id="pack-([\w-]+)">([^<]*)</script>', page.read_text(encoding="utf-8")
    )
    return {name: msgspec.json.decode(zlib.decompress(base64.b64decode(data), wbits=-15)) for name, data in found}


def test_the_same_memory_gives_the_same_page(shop: Memory, tmp_path: Path, page_file: Path) -> None:
    shop.view(output=tmp_path / "again.html")
    assert (tmp_path / "again.html").read_bytes() == page_file.read_bytes()


def test_the_figures_are_those_of_the_memory(shop: Memory, page_file: Path) -> None:
    found = packs(page_file)
    sessions, issues = found["sessions"], found["issues"]["issues"]
    episodes = {one.session: one for one in shop.episodes.list(max_results=None)}
    assert len(sessions["session"]) == len(episodes) > 30
    for place, name in enumerate(sessions["session"]):
        assert (sessions["outcome"][place], sessions["calls"][place]) == (
            episodes[name].outcome,
            episodes[name].metrics.tool_calls,
        )
    for listed in shop.issues.list(limit=200).issues:
        one = next(each for each in issues if each["id"] == listed.id)
        assert (one["sessions"], one["minutes"], one["repaired"]) == (listed.sessions, listed.minutes, listed.repaired)
        assert len(set(one["met"])) == listed.sessions
    graph = found["graph"]
    at = graph["label"].index("edit shop/api.py")
    assert graph["sessions"][at] == sum(
        any(it.chosen == "edit shop/api.py" and not (it.action and it.action.suppresses) for it in one.decisions)
        for one in episodes.values()
    )


@pytest.mark.slow
def test_older_sessions_are_listed_and_newer_ones_have_their_steps(tmp_path: Path) -> None:
    days = [f"2026-{1 + n // 28 % 12:02}-{1 + n % 28:02}T10:00:00Z" for n in range(TRACES + 40)]
    memory = memory_of(
        tmp_path,
        [session(f"s{n:04}", "run lint", success=True, timestamp=at) for n, at in enumerate(days)],
        compiled=True,
    )
    report = memory.view(output=tmp_path / "view.html", episode="s0000")
    found = packs(tmp_path / "view.html")
    assert (report.sessions, report.traces) == (TRACES + 40, TRACES + 1)
    assert found["meta"]["opens"] == "sessions/s0000"
    traced = [
        name for name, shown in zip(found["sessions"]["session"], found["sessions"]["traced"], strict=True) if shown
    ]
    assert traced == ["s0000", *(f"s{n:04}" for n in range(40, TRACES + 40))]


def test_what_to_read_first_is_from_the_log_without_its_secrets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "ghp_" + "Q7r2T9w4" * 5
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    script = Script("s", root=str(tmp_path)).prompt("Ship it").say(f"I assume that {secret} is right and go on.")
    log = script.save(tmp_path / "claude" / "projects" / "shop")
    memory = Memory.init(tmp_path)
    memory.extract([log])
    memory.graph.compile()
    trace = packs(Path(memory.view().path))["trace-0"]
    assert trace["from_log"]
    assert "is right and go on" in trace["reading"][0]["quote"]
    assert secret not in str(trace)
    log.unlink()
    assert "from_log" not in packs(Path(memory.view().path))["trace-0"]


@pytest.mark.slow
def test_what_cannot_be_shown_is_refused_in_a_sentence(shop: Memory, tmp_path: Path) -> None:
    refused: tuple[tuple[dict[str, Any], type[Exception]], ...] = (
        ({"focus": "zebra"}, NodeNotFound),
        ({"focus": " "}, InvalidArgument),
        ({"source": "success"}, InvalidArgument),
        ({"focus": "success", "episode": "x"}, InvalidArgument),
        ({"episode": "nobody"}, NotFound),
    )
    for part, error in refused:
        with pytest.raises(error):
            shop.view(output=tmp_path / "no.html", **part)
    with pytest.raises(GraphNotCompiled):
        Memory.init(tmp_path / "empty").view()
    assert not (tmp_path / "no.html").exists()


def test_an_empty_memory_has_a_page(tmp_path: Path) -> None:
    memory = memory_of(tmp_path, [], compiled=True)
    assert memory.view().sessions == 0


def test_pages_go_when_a_session_is_forgotten(tmp_path: Path) -> None:
    memory = memory_of(tmp_path, [session("secret-task", "run lint", success=True)], compiled=True)
    path = memory.view().path
    assert [one for one in memory.doctor().findings if "pages" in one.file] == []
    report = memory.forget(["secret-task"])
    assert report.proof is not None
    assert report.proof.whole
    assert not (memory.root / path).exists()
