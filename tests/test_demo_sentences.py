"""Do the sentences that the shipped demo and our own logs teach read as a person would write them?

A word of a sentence stands as a whole word in the log that it was learnt from, or is one of the few that we add;
only a cut that says so (``…``) may end within a word.
"""

from __future__ import annotations

import json
import re
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from helix_graph import Memory

if TYPE_CHECKING:
    from collections.abc import Iterator

    from helix_episodes.model import Episode

FIXTURES = Path(__file__).parent / "fixtures"
WORD = re.compile(r"[^\W\d_]{2,}(?!\w*…)")
#: What our sentences say beside the words of a log.
_OURS = """
    Avoid When reports fails with edit run to verified Verified by test failed passed change the place that it names as
    in made another session sessions Applies wherever this message not every failure of person corrected
"""
OURS = frozenset(_OURS.split())


@pytest.fixture(scope="module")
def taught(tmp_path_factory: pytest.TempPathFactory) -> tuple[Memory, set[str]]:
    """A memory of the demo's and the fixtures' logs with what harvesting made of them, and all words of the logs."""
    memory = Memory.init(tmp_path_factory.mktemp("taught"))
    with as_file(files("helix_cli") / "demo" / "logs") as demo:
        folders = (demo, FIXTURES / "claude_code", FIXTURES / "ai_agents")
        memory.extract(folders)
        logs = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
        words = {word for log in logs for text in _texts(log) for word in WORD.findall(text)}
    memory.insights.harvest()
    return memory, words


def _texts(log: Path) -> Iterator[str]:
    """A log's text; of JSON the strings, in which a line break is none of the letter n."""
    text = log.read_text(encoding="utf-8")
    if log.suffix == ".jsonl":
        yield from _strings([json.loads(line) for line in text.splitlines()])
    else:
        yield from _strings(json.loads(text)) if log.suffix == ".json" else (text,)


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _strings(one)


def episodes(memory: Memory) -> list[Episode]:
    return [memory.episodes.require(path.stem) for path in sorted(memory.episodes.files())]


def broken(text: str, words: set[str]) -> list[str]:
    return [word for word in WORD.findall(text) if word not in words | OURS]


def test_a_word_without_its_first_letter_is_seen(taught: tuple[Memory, set[str]]) -> None:
    _, words = taught
    assert broken("When pytest fails with RROR tests/test_export.py", words) == ["RROR"]
    assert broken("When pytest fails with ERROR tests/test_exp…", words) == []


def test_every_harvested_sentence_is_made_of_whole_words(taught: tuple[Memory, set[str]]) -> None:
    memory, words = taught
    lines = [json.loads(line) for line in memory.insights.export().splitlines()]
    sentences = [one["content"] for one in lines if "content" in one]
    assert sentences
    assert {text: broken(text, words) for text in sentences if broken(text, words)} == {}
    assert [text for text in sentences if not re.match(r"[A-Z].{20,}[.…]$", text)] == []


def test_every_lesson_is_made_of_whole_words(taught: tuple[Memory, set[str]]) -> None:
    memory, words = taught
    lessons = [text for episode in episodes(memory) for text in episode.lessons]
    assert len(lessons) >= 15
    assert {text: broken(text, words) for text in lessons if broken(text, words)} == {}
