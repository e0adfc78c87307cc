"""Are the patterns that a compile brings up to date those that a count over all episodes gives?"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helix_episodes.store import encode_episode
from helix_graph import Memory
from helix_graph.graph import compile, observations, source_files  # noqa: A004  (the module)
from helix_graph.graph.observations import observe
from thoroughness import examples

if TYPE_CHECKING:
    from episode_drawing import Draw
    from helix_episodes.model import Episode

FIXED = ("ruff fails: E501 -> edit a.py", "edit a.py -> ruff passes", "ruff passes -> success")


def remember(memory: Memory, *episodes: Episode) -> None:
    folder = memory.root / "episodes"
    folder.mkdir(parents=True, exist_ok=True)
    for episode in episodes:
        (folder / f"{episode.id}.json").write_bytes(encode_episode(answering(episode)))


def answering(episode: Episode) -> Episode:
    """What leads from an event to a decision is an answer to it: patterns are made of these."""
    links = (
        msgspec.structs.replace(link, reason="answer") if (link.source[0], link.target[0]) == ("e", "d") else link
        for link in episode.links
    )
    return msgspec.structs.replace(episode, links=tuple(links))


def exported(memory: Memory) -> list[dict[str, Any]]:
    patterns: list[dict[str, Any]] = json.loads(memory.graph.export())["patterns"]
    return patterns


def counted(memory: Memory) -> list[dict[str, Any]]:
    """A count over all episodes, in the order and the form of the export."""
    rows = json.loads(msgspec.json.encode(memory.causality.get_patterns()))
    return sorted(rows, key=lambda row: row["id"])


@pytest.mark.hypothesis
@pytest.mark.slow
def test_any_history_of_changes_gives_the_patterns_of_a_full_count(
    any_episodes: st.SearchStrategy[tuple[Episode, ...]],
) -> None:
    met: list[object] = []

    @settings(max_examples=examples(25), deadline=None)
    @given(data=st.data())
    def any_history(data: st.DataObject) -> None:
        met.extend(_patterns_of_a_history(data, any_episodes))

    any_history()
    assert met


def _patterns_of_a_history(
    data: st.DataObject, any_episodes: st.SearchStrategy[tuple[Episode, ...]]
) -> list[dict[str, Any]]:
    """Compares the patterns after each change with a full count; those at the end."""
    with tempfile.TemporaryDirectory() as name:
        memory = Memory(Path(name))
        for _ in range(data.draw(st.integers(1, 4))):
            remember(memory, *data.draw(any_episodes))
            for path in sorted((memory.root / "episodes").iterdir()):
                fate = data.draw(st.sampled_from(["kept", "kept", "gone", "corrected", "told"]))
                if fate == "gone":
                    path.unlink()
                elif fate == "corrected":
                    outcome = data.draw(st.sampled_from(["success", "failure", "unknown"]))
                    memory.episodes.outcome(path.stem.removeprefix("episode-"), outcome, because="seen")
                elif fate == "told":
                    memory.graph.add_pattern("lint first", trigger="a push", action="run ruff", success_rate=0.5)
            memory.graph.compile()
            assert exported(memory) == counted(memory)
        return exported(memory)


def test_only_patterns_that_are_new_are_reported(draw: Draw, tmp_path: Path) -> None:
    memory = Memory(tmp_path)
    remember(memory, draw("a", *FIXED))
    assert memory.graph.compile().patterns_added == len(exported(memory)) > 0
    memory.graph.add_pattern("lint first", trigger="a push", action="run ruff")
    remember(memory, draw("b", *FIXED), draw("c", "pytest fails: KeyError -> edit b.go", "edit b.go -> pytest passes"))
    known = {row["id"] for row in exported(memory)}
    assert memory.graph.compile(dry_run=True).patterns_added == memory.graph.compile().patterns_added > 0
    told = {row["id"] for row in exported(memory) if row["basis"] == "asserted"}
    assert len({row["id"] for row in exported(memory)} - known - told) > 0
    assert exported(memory) == counted(memory)


def test_other_rules_of_observation_mean_a_new_fold(
    draw: Draw, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = Memory(tmp_path)
    remember(memory, draw("a", *FIXED))
    memory.graph.compile()
    before = exported(memory)
    assert before
    for module in (compile, source_files):
        monkeypatch.setattr(module, "TRIAL_VERSION", "0")
    monkeypatch.setattr(observations, "observe", lambda *given: observe(*given)[:1])
    assert "observations were of version 6" in (memory.graph.compile().rebuilt or "")
    assert 0 < len(exported(memory)) < len(before)
