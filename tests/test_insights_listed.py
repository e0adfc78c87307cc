"""Are insights listed, is advice long enough that says enough, and is it found in languages without blanks?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from helix_cli.app import run
from helix_graph import Memory

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Memory:
    monkeypatch.setenv("HELIX_DIR", str(tmp_path / ".helix"))
    return Memory.init(tmp_path)


def test_the_newest_come_first_and_without_uses_no_rate_is_shown(
    memory: Memory, capsys: pytest.CaptureFixture[str]
) -> None:
    first = memory.insights.store("Run the linter before every commit", ["lint"])["name"]
    second = memory.insights.store("Restart the database container after a schema change")["name"]
    assert [one["name"] for one in memory.insights.newest()] == [second, first]
    assert [one["name"] for one in memory.insights.newest(tag="lint")] == [first]
    memory.insights.feedback([first], "delivered")
    assert run(["insight", "list"]) == 0
    rows = {name: line for line in capsys.readouterr().out.splitlines() for name in (first, second) if name in line}
    assert "%" in rows[first]
    assert "%" not in rows[second]


@pytest.mark.parametrize(
    "advice",
    ["提交前先运行测试再推送到远程仓库", "コミットの前にテストを実行する", "커밋하기 전에 항상 테스트를 실행하세요"],
)
def test_a_sentence_without_latin_letters_is_long_enough_and_found(memory: Memory, advice: str) -> None:
    stored = memory.insights.store(advice)
    assert stored["status"] == "added"
    assert [one["name"] for one in memory.insights.recall(advice[4:10])] == [stored["name"]]


@pytest.mark.parametrize("advice", ["Use pytest", "先运行测试"])
def test_a_few_words_are_too_short(memory: Memory, advice: str) -> None:
    assert memory.insights.store(advice)["status"] == "rejected"


def test_the_older_form_is_stored_by_the_command(memory: Memory, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--trigger", "pytest cannot import respx", "--resolution", "add it to requirements-dev.txt"]
    assert run(["insight", "store", *options]) == 0
    assert "added" in capsys.readouterr().out
    assert len(memory.insights.newest(tag="failure")) == 1
    assert run(["insight", "store", "--trigger", "only half of it"]) == 2
