"""What does a derived lesson give as the reason of a change? Words that state something, or none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from helix_episodes.model import Episode
    from session_script import Script

FAILS = "shop/cart.py:1:8: F401 [*] `os` imported but unused\nFound 1 error."


def lesson(script: Callable[[str], Script], episode_of: Callable[[Script], Episode], words: str) -> str:
    log = script("s").prompt("Lint").run("ruff check .", FAILS, code=1)
    log = log.say(words).edit("shop/cart.py").run("ruff check .", "All checks passed!")
    (text,) = episode_of(log).lessons
    return text


@pytest.mark.parametrize(
    "words",
    [
        "Got it!",
        "I see the issue. Let me fix that:",
        "Great, now I'll fix both bugs.",
        "Found it! Let\u2019s fix this first.",
    ],
)
def test_words_that_state_nothing_are_left_out(
    script: Callable[[str], Script], episode_of: Callable[[Script], Episode], words: str
) -> None:
    assert ": edit shop/cart.py (verified by ruff)" in lesson(script, episode_of, words)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("Got it! Nothing uses `os` any more. Let me fix it.", "Nothing uses os any more"),
        ("The import is a leftover of the old loader. Good.", "The import is a leftover of the old loader"),
    ],
)
def test_the_first_sentence_that_states_something_is_the_reason(
    script: Callable[[str], Script], episode_of: Callable[[Script], Episode], words: str, reason: str
) -> None:
    assert f": edit shop/cart.py \u2013 {reason} (verified by ruff)" in lesson(script, episode_of, words)
