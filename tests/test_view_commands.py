"""Do the commands that write pages and exports say what they wrote, and refuse in a sentence?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import networkx as nx
import orjson
import pytest

from helix_cli.app import run
from own_memory import own_memory

if TYPE_CHECKING:
    from pathlib import Path

    from helix_graph import Memory


@pytest.fixture
def memory(demo_memory: Memory, monkeypatch: pytest.MonkeyPatch) -> Memory:
    monkeypatch.setenv("HELIX_DIR", str(demo_memory.root))
    return demo_memory


def said(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    assert run(arguments) == code
    printed = capsys.readouterr()
    return printed.out if code == 0 else printed.err


def test_view_says_where_the_page_is_and_what_is_on_it(memory: Memory, capsys: pytest.CaptureFixture[str]) -> None:
    told = said(capsys, "view")
    assert str(memory.root / "pages" / "view.html") in told
    assert "in 12 sessions, 12 of them step by step" in told
    assert "excerpts of your sessions" in told


def test_view_as_json_is_the_librarys_report(
    memory: Memory, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    told = orjson.loads(said(capsys, "view", "--focus", "ruff", "--output", str(tmp_path / "a.html"), "--json"))
    report = memory.view(output=tmp_path / "b.html", focus="ruff")
    assert told["path"] == str(tmp_path / "a.html")
    assert (told["nodes"], told["edges"], told["bytes"]) == (report.nodes, report.edges, report.bytes)
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


@pytest.mark.usefixtures("memory")
def test_where_there_is_no_path_the_command_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert "No path of up to 10 links connects them" in said(capsys, "view", "--from", "success", "--to", "ruff")
    assert orjson.loads(said(capsys, "view", "--from", "ruff", "--to", "success", "--json"))["no_path"] == ""


@pytest.mark.parametrize("command", ["explain", "contrast"])
def test_explain_and_contrast_write_the_sessions_page(
    memory: Memory, capsys: pytest.CaptureFixture[str], tmp_path: Path, command: str
) -> None:
    name = memory.episodes.list(outcome="failure")[0].id
    assert run([command, name, "--html", str(tmp_path / "page.html"), "--json"]) == 0
    printed = capsys.readouterr()
    assert orjson.loads(printed.out)["episode"] == name
    assert str(tmp_path / "page.html") in printed.err
    memory.view(output=tmp_path / "same.html", episode=name)
    assert (tmp_path / "page.html").read_bytes() == (tmp_path / "same.html").read_bytes()


@pytest.mark.usefixtures("memory")
@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (("view", "--from", "ruff"), 2, "give only one of these"),
        (("view", "--focus", "ruff", "--episode", "x"), 2, "give only one of these"),
        (("view", "--focus", "zebra"), 1, "zebra"),
        (("view", "--episode", "nobody"), 1, "no session 'nobody'"),
        (("view", "--output", "/proc/no/such/place.html"), 1, "/proc/no"),
        (("graph", "export", "--format", "json", "--focus", "ruff"), 2, "always whole"),
        (("graph", "export", "--format", "dot", "--max-nodes", "99999"), 2, "--max-nodes is 99999"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], code: int, sentence: str
) -> None:
    told = said(capsys, *arguments, code=code)
    assert sentence in told
    assert len(told.splitlines()) == 1


@pytest.mark.slow
def test_what_mermaid_would_refuse_is_said_beside_it(
    demo_memory: Memory, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("HELIX_DIR", str(demo_memory.root))
    assert run(["graph", "export", "--format", "mermaid"]) == 0
    assert capsys.readouterr().err == ""
    large = own_memory(tmp_path / "large")
    for number in range(60):
        large.graph.add_causal_node("error", f"{number} " + "-" * 220)
    large.graph.compile()
    monkeypatch.setenv("HELIX_DIR", str(large.root))
    assert run(["graph", "export", "--format", "mermaid"]) == 0
    printed = capsys.readouterr()
    assert printed.out.startswith("flowchart LR")
    assert "Mermaid draws at most 500 edges" in printed.err
    assert run(["graph", "export", "--format", "dot"]) == 0
    assert capsys.readouterr().err == ""


def test_export_prints_or_writes_the_same(memory: Memory, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    printed = said(capsys, "graph", "export", "--format", "graphml")
    assert "31 nodes" in str(nx.parse_graphml(printed, force_multigraph=True))
    told = orjson.loads(
        said(capsys, "graph", "export", "--format", "graphml", "--output", str(tmp_path / "g"), "--json")
    )
    assert (tmp_path / "g").read_text(encoding="utf-8") == printed
    assert told == {"format": "graphml", "path": str(tmp_path / "g"), "bytes": len(printed.encode())}
    as_json = orjson.loads(said(capsys, "graph", "export", "--format", "dot", "--json"))
    assert as_json["text"].encode() == memory.graph.export(format="dot")
