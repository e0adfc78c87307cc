"""Do a person's words find the label, file or session that they mean?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from helix_cli.app import run
from helix_episodes.errors import InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Callable

    from episode_drawing import Remember
    from helix_episodes.model import Episode
    from helix_graph import Memory
    from session_script import Script


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ("tests fail", "pytest fails: ModuleNotFoundError: respx"),
        ("failing tests", "pytest fails: ModuleNotFoundError: respx"),
        ("test failure", "pytest fails: ModuleNotFoundError: respx"),
        ("tests green", "pytest passes"),
        ("linter passes", "ruff passes"),
        ("the linter complains", "ruff fails"),
        ("lint is clean", "ruff passes"),
        ("touching cart.py", "edit shop/cart.py"),
        ("cart.py", "edit shop/cart.py"),
        ("committed", "commit"),
        ("the tests don't pass", "pytest fails: ModuleNotFoundError: respx"),
        ("tests no longer pass", "pytest fails: ModuleNotFoundError: respx"),
        ("type check", "mypy fails"),
        ("code style problem", "ruff fails"),
        ("require", "edit requirements-dev.txt"),
    ],
)
def test_words_find_what_they_mean_among_the_first_three(demo_memory: Memory, words: str, meant: str) -> None:
    names = [one.name for one in demo_memory.graph.labels(words, limit=3).labels]
    assert any(name.startswith(meant.partition(":")[0]) for name in names), names


def test_a_session_is_found_by_its_task(demo_memory: Memory) -> None:
    first = demo_memory.graph.labels("gift cards pay for part of an order", limit=1).labels[0]
    assert first.type == "session"
    assert first.session
    assert demo_memory.episodes.require(first.session).task == first.name


def test_without_words_the_most_shared_come_first(demo_memory: Memory) -> None:
    answer = demo_memory.graph.labels(limit=5)
    counts = [one.sessions for one in answer.labels]
    assert counts == sorted(counts, reverse=True)
    assert answer.total > len(answer.labels) == 5


def test_a_word_that_nobody_used_does_not_hide_what_the_others_mean(demo_memory: Memory) -> None:
    first = demo_memory.graph.labels("gift xylophone zebra balustrade", limit=1).labels[0]
    assert "gift" in first.name.casefold()
    assert (first.share or 1.0) < 0.5


def test_words_of_no_session_find_nothing(demo_memory: Memory) -> None:
    assert demo_memory.graph.labels("zebra xylophone").labels == ()
    with pytest.raises(InvalidArgument, match="text is empty"):
        demo_memory.graph.labels(" ")


def test_the_command_lists_and_searches(
    demo_memory: Memory, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HELIX_DIR", str(demo_memory.root))
    assert run(["labels", "linter passes", "--limit", "1"]) == 0
    assert "ruff passes" in capsys.readouterr().out
    assert run(["labels", "--- xylophone --- zebra"]) == 0
    assert "Nothing matches" in capsys.readouterr().out
    assert run(["labels", "gift xylophone zebra balustrade"]) == 0
    assert "Nothing has most of these words" in capsys.readouterr().out


def test_what_a_command_writes_or_throws_away_is_not_what_it_is_about(
    script: Callable[[str], Script], episode_of: Callable[[Script], Episode], remember: Remember
) -> None:
    log = script("s1").prompt("Work on the shop").run("git push").run("make notes 2>/dev/null")
    graph = remember(episode_of(log.run("python3 - <<'EOF'\nbutton.colour = 'blue'\nEOF")))
    assert graph.labels("blue button").labels == ()
    assert graph.labels("null").labels == ()
    assert graph.labels("notes", limit=1).labels[0].share == 1.0
    assert (graph.labels("cannot push", limit=1).labels[0].share or 0) >= 0.99
