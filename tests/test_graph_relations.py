"""What leads straight to a thing, and what does it lead straight to?"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from helix_episodes.errors import InvalidArgument
from helix_graph import Memory
from session_script import BEGIN, Script

if TYPE_CHECKING:
    from pathlib import Path

    from episode_drawing import Draw, Remember


def test_causes_are_ordered_by_evidence(draw: Draw, remember: Remember) -> None:
    graph = remember(
        draw("one", "run ruff -> ruff fails: E501", "edit a.py -| ruff fails: E501"),
        draw("two", "run ruff -> ruff fails: E501", "edit a.py -| ruff fails: E501", "edit b.md -| ruff fails: E501"),
    )
    (group,) = graph.causes("ruff fails: E501").groups
    assert [(r.node.label, r.type, r.evidence_count) for r in group.relations] == [
        ("edit a.py", "prevents", 2),
        ("edit b.md", "prevents", 1),
    ], "to have asked is no cause of the answer"
    assert group.relations[0].episodes == ("episode-one", "episode-two")
    assert group.relations[0].reasons == ("fix",)


def test_effects_are_grouped_by_node_the_one_asked_for_first(draw: Draw, remember: Remember) -> None:
    graph = remember(draw("s", "run a -> commit", "run a b -> ruff passes", "run a b -> pytest passes"))
    answer = graph.effects("run a")
    assert [group.node.label for group in answer.groups] == ["run a", "run a b"]
    assert [relation.node.label for relation in answer.groups[1].relations] == ["pytest passes", "ruff passes"]


def test_a_text_asks_only_the_episodes_that_hold_it(draw: Draw, remember: Remember) -> None:
    graph = remember(draw("one", "edit cart.py -> commit"), draw("two", "edit price.py -> ruff passes"))
    (group,) = graph.effects("price.py").groups
    assert [relation.node.label for relation in group.relations] == ["ruff passes"]


def test_a_node_without_neighbours_is_found_all_the_same(draw: Draw, remember: Remember) -> None:
    (group,) = remember(draw("s", "run a -> commit")).causes("run a").groups
    assert group.relations == ()


def test_what_is_not_there_is_said(draw: Draw, remember: Remember) -> None:
    graph = remember(draw("s", "run a -> commit"))
    assert graph.causes("cargo").error == 'Nothing matches "cargo"'
    with pytest.raises(InvalidArgument):
        graph.causes(" ")


def test_a_command_is_one_thing_wherever_it_went_first_and_whatever_became_of_its_output(tmp_path: Path) -> None:
    unformatted = "src/cart.ts format ━━━\n\n  Formatter would have printed the following content:\n\nFound 1 error."
    formatted = "Checked 3 files in 5ms. No fixes applied."
    logs = []
    for n, fix in enumerate(("bun run lint:fix", "bun run lint:fix 2>&1 | tail -5", "cd web && bun run lint:fix")):
        log = Script(f"s{n}", begin=BEGIN + timedelta(days=n)).prompt("Add totals").edit("src/cart.ts")
        log = log.run("biome check src", unformatted, code=1).run(fix, formatted).run("biome check src", formatted)
        logs.append(log.save(tmp_path / "logs"))
    memory = Memory.init(tmp_path)
    memory.extract(logs)
    memory.graph.compile()
    group = memory.graph.causes("biome fails: not formatted").groups[0]
    mended = [one for one in group.relations if one.type == "prevents"]
    assert [(one.node.label, one.frequency.k, one.frequency.n) for one in mended] == [("run bun run lint:fix", 3, 3)]
