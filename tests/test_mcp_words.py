"""Does the server ever tell an agent to type a command that a tool does?"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import helix_episodes.errors
import helix_graph.errors
import helix_graph.topics.model
from helix_cli.mcp.rewording import answer_in_tools_words, in_tools_words
from helix_cli.mcp.tools import tools_by_name

#: What no tool does: a person does it, or an agent with a shell.
FOR_PEOPLE = {
    "init",
    "sync",
    "trust",
    "doctor",
    "node add",
    "plan save",
    "workspace create",
    "insight uplift",
    "model install",
}
SOURCES = [Path(str(one.__file__)) for one in (helix_episodes.errors, helix_graph.errors, helix_graph.topics.model)]


@pytest.mark.parametrize("source", SOURCES, ids=lambda one: "/".join(one.parts[-3:]))
def test_no_error_names_a_command_that_a_tool_does(source: Path) -> None:
    said = re.findall(r"`helix-graph ([a-z]+(?: [a-z]+)?)", in_tools_words(source.read_text(encoding="utf-8")))
    assert set(said) <= FOR_PEOPLE


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("no label has it; `helix-graph status` shows what there is", "no label has it; `status` shows what there is"),
        ("topic 'x' not found; `topic topics` lists those", "topic 'x' not found; `topics` lists those"),
        ("x is missing; `topic topics reindex` makes it", "x is missing; `topics` with action reindex makes it"),
        ("`topic topics stats --detail tags` lists those", "`topics` with action stats and detail tags lists those"),
        (
            "x: no format (a; and 9 more, which -v lists); --format NAME reads it",
            "x: no format (a; and 9 more); --format",
        ),
    ],
)
def test_commands_and_options_become_tools_and_arguments(said: str, words: str) -> None:
    assert in_tools_words(said).startswith(words)
    named = set(re.findall(r"`([a-z_]+)`", in_tools_words(said)))
    assert named <= set(tools_by_name())


def test_an_answers_advice_is_put_into_other_words_and_what_was_stored_is_not() -> None:
    stored = "run `helix-graph sync` first; Next: helix-graph sync is printed"
    advice = "run `helix-graph sync`"
    text = answer_in_tools_words({"entries": [{"text": stored}], "hint": advice}, f"{stored}\nhint: {advice} now")
    assert "; Next: helix-graph sync is printed\n" in text
    assert text.endswith("hint: call `compile` now")
    assert answer_in_tools_words({}, "3 written\nNext: helix-graph sync").endswith("Next: call `compile`")
