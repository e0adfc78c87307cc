"""How large is the graph, and are its labels any good?"""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from episode_drawing import Draw, Remember


def test_the_figures_that_watch_the_labels(draw: Draw, remember: Remember) -> None:
    graph = remember(
        draw("one", "run ruff -> ruff fails: E501", "ruff passes -> success"),
        draw("two", "run ruff -> ruff fails: E501", "edit a.py => commit"),
    )
    status = graph.status()
    assert (status.episodes, status.nodes, status.edges, status.mentions) == (2, 6, 3, 8)
    assert status.mentions_per_node == pytest.approx(7 / 5)
    assert status.shared_mentions == pytest.approx(4 / 7)
    assert status.isolated_share == 0
    assert status.largest_label is not None
    assert status.largest_label.label == "ruff fails: E501"
    assert status.largest_label.share == pytest.approx(2 / 7)
    assert status.edge_types == {"causes": 2, "enables": 1}
    assert status.outcomes == {"measured": {"success": 1}, "none": {"unknown": 1}}


def test_a_label_joined_only_to_itself_is_isolated(draw: Draw, remember: Remember) -> None:
    status = remember(draw("s", "run a -> run a#2", "run b -> commit")).status()
    assert status.isolated_share == pytest.approx(1 / 2)


def test_what_changed_since_is_pending(draw: Draw, remember: Remember, folder: Path) -> None:
    graph = remember(draw("a", "run a -> commit"), draw("b", "run a -> commit"))
    assert graph.status().pending == 0
    (folder / "episode-a.json").unlink()
    (folder / "episode-b.json").write_text("{}")
    (folder / "episode-c.json").write_text("{}")
    assert graph.status().pending == 3


def test_questions_load_nothing_heavy(draw: Draw, remember: Remember) -> None:
    graph = remember(draw("s", "run ruff -> ruff fails: E501"))
    program = f"""
import sys
from pathlib import Path
from helix_graph.graph.api import Graph
graph = Graph(Path({str(graph.episodes)!r}), Path({str(graph.causality)!r}))
assert graph.seen("E501").found and graph.path(source="run", target="fails").found
assert graph.causes("fails").found and graph.status().nodes
print(sorted({{"networkx", "numpy", "scipy", "rich"}} & set(sys.modules)))
"""
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == "[]"


def test_networkx_gets_the_whole_graph(draw: Draw, remember: Remember) -> None:
    graph = remember(draw("s", "run ruff -> ruff fails: E501")).networkx()
    ((source, target, kind),) = graph.edges
    assert (graph.nodes[source]["label"], graph.nodes[target]["label"], kind) == (
        "run ruff",
        "ruff fails: E501",
        "causes",
    )
