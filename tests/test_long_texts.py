"""Does a long text of one kind, which anybody may put into an output, take time by its length and not by its square?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from growing import LINEAR, growth
from helix_graph import Memory
from helix_graph.insights.safe_quoting import quoted
from helix_graph.rules.rule_files import rule_lines
from session_script import Script

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow

ERROR = "ModuleNotFoundError: No module named 'parcels' "


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Memory:
    folder = tmp_path_factory.mktemp("long")
    memory = Memory(folder / ".helix")
    log = Script("s1").prompt("Fix it").run("pytest -q", f"E   {ERROR}\n1 failed in 0.1s", code=1)
    memory.extract([log.edit("a.toml").run("pytest -q", "1 passed in 0.1s").save(folder / "logs")])
    memory.graph.compile()
    return memory


@pytest.mark.parametrize("piece", ["-", "0", "..", "[", "a.", "@.aa", "\\", "KEY=", "Root cause: \t"])
def test_a_question(memory: Memory, piece: str) -> None:
    assert growth(memory.graph.seen, ERROR + piece * 60_000) < LINEAR


@pytest.mark.parametrize("piece", ["\\", '\\"', '"', "`"])
def test_a_quotation(piece: str) -> None:
    assert growth(quoted, piece * 150_000) < LINEAR


@pytest.mark.parametrize("begin", ["- Root cause: ", "## Lessons", "## Decisions", "**a**", "Decision: "])
@pytest.mark.parametrize("piece", ["\t", "a.", "a "])
def test_what_an_agent_says(tmp_path: Path, begin: str, piece: str) -> None:
    def extracted(text: str) -> None:
        memory = Memory(tmp_path / ".helix")
        log = Script("s1").prompt("Fix it").run("pytest -q", "1 failed in 0.1s", code=1).say(f"{begin}{text}x")
        memory.extract([log.save(tmp_path / "logs")], force=True)

    assert growth(extracted, piece * 60_000) < LINEAR


@pytest.mark.parametrize("piece", ["-- ", "-a git ", "git -c x=y "])
def test_the_message_of_a_commit(tmp_path: Path, piece: str) -> None:
    def brought_up_to_date(text: str) -> None:
        memory = Memory(tmp_path / ".helix")
        log = Script("s1").prompt("Fix it").edit("a.py")
        log = log.run(
            f'git commit -m "Fix the labels, see git {text}there"', "[main 1a2b3c4] Fix the labels\n 1 file changed"
        )
        memory.extract([log.save(tmp_path / "logs")], force=True)
        memory.graph.compile()

    assert growth(brought_up_to_date, piece * 30_000) < LINEAR


def test_a_line_of_a_report(tmp_path: Path) -> None:
    folder = tmp_path / ".agents" / "sessions"
    folder.mkdir(parents=True)

    def extracted(text: str) -> None:
        (folder / "work_log.md").write_text(
            f"# Session\n\n## Decisions\n\n- **a{text}x\n\n**{text}x\n\nWe chose a cache.\n"
        )
        assert Memory(tmp_path / ".helix").extract([folder / "work_log.md"], force=True).recorded

    assert growth(extracted, " " * 60_000) < LINEAR


@pytest.mark.parametrize("begin", ["#", "##", "- ", "> "])
def test_a_line_of_a_rule_file(begin: str) -> None:
    assert growth(lambda text: rule_lines(f"# Rules\n\n{begin}{text}x\n"), "\t" * 250_000) < LINEAR


def test_comments_of_a_rule_file_that_are_never_closed() -> None:
    assert growth(rule_lines, "<!--" * 20_000) < LINEAR


@pytest.mark.parametrize("text", ["# Session 1\n## learnin\n" + "\n" * 60_000, "#" + " " * 60_000 + "x"])
def test_what_may_be_a_report(tmp_path: Path, text: str) -> None:
    def looked_at(text: str) -> None:
        (tmp_path / "report.md").write_text(text)
        Memory(tmp_path / ".helix").extract([tmp_path / "report.md"])

    assert growth(looked_at, text) < LINEAR
