"""Does whatever a caller hands in end in an answer or in an error of the one family, never in another exception?"""

from __future__ import annotations

import math
from contextlib import suppress
from datetime import UTC
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from helix_episodes.errors import HelixGraphError, InvalidArgument
from helix_graph import Memory
from helix_graph.errors import NoMemory, WrongType
from thoroughness import examples, few

if TYPE_CHECKING:
    from collections.abc import Callable

CYCLE: list[Any] = []
CYCLE.append(CYCLE)
GARBAGE = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.sampled_from(
        [10**400, -(10**5000), math.nan, math.inf, 1e308, 0, 1, 5, b"bytes", object(), 3j, Path(), str, CYCLE]
    ),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(["decision", "causes", "success", "s", "d001", "deploy", "episode-", "\ud800", "\0", "x" * 5000]),
    st.lists(st.one_of(st.none(), st.integers(), st.text(max_size=3)), max_size=2),
    st.dictionaries(
        st.sampled_from(["id", "type", "chosen", "timestamp", 3, None]), st.one_of(st.none(), st.text(max_size=3))
    ),
    st.lists(st.fixed_dictionaries({"type": st.sampled_from(["test", 3]), "chosen": st.text(max_size=2)}), max_size=2),
    st.datetimes(timezones=st.sampled_from([None, UTC])),
    st.builds(set),
)


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Memory:
    memory = Memory(tmp_path_factory.mktemp("garbage") / ".helix")
    memory.graph.add_causal_node("event", "deploy")
    memory.graph.add_causal_node("error", "outage")
    memory.episodes.new("s", "t", "success", [{"type": "test", "chosen": "run it"}])
    memory.graph.compile()
    return memory


DOORS: dict[str, tuple[Callable[[Memory], Callable[..., Any]], int, tuple[str, ...]]] = {
    "add_causal_node": (lambda m: m.graph.add_causal_node, 2, ("episode_id",)),
    "add_causal_edge": (lambda m: m.graph.add_causal_edge, 3, ("weight",)),
    "get_causal_path": (lambda m: m.graph.get_causal_path, 2, ("max_depth",)),
    "add_pattern": (lambda m: m.graph.add_pattern, 3, ("description", "success_rate")),
    "get_patterns": (lambda m: m.graph.get_patterns, 0, ("min_success_rate", "min_occurrences")),
    "get_anti_patterns": (lambda m: m.graph.get_anti_patterns, 0, ("max_success_rate",)),
    "seen": (lambda m: m.graph.seen, 0, ("text", "limit")),
    "path": (lambda m: m.graph.path, 0, ("source", "target", "max_depth", "follow")),
    "causes": (lambda m: m.graph.causes, 1, ()),
    "effects": (lambda m: m.graph.effects, 1, ()),
    "compile": (lambda m: m.graph.compile, 0, ("paths", "since", "dry_run")),
    "get": (lambda m: m.episodes.get, 1, ()),
    "require": (lambda m: m.episodes.require, 1, ()),
    "list": (lambda m: m.episodes.list, 0, ("outcome", "since", "max_results", "task")),
    "count": (lambda m: m.episodes.count, 0, ("outcome", "since", "task")),
    "new": (lambda m: m.episodes.new, 3, ("decisions", "events", "lessons", "metrics", "timestamp", "force")),
    "decision_sequence": (lambda m: m.episodes.decision_sequence, 1, ()),
    "evidence": (lambda m: m.episodes.evidence, 1, ("log",)),
    "outcome": (lambda m: m.episodes.outcome, 2, ("because",)),
    "correct": (lambda m: m.episodes.correct, 2, ("chosen", "rationale", "context", "type", "outcome", "withdrawn")),
    "correct_link": (lambda m: m.episodes.correct_link, 3, ("type", "withdrawn")),
    "open": (lambda m: type(m).open, 0, ("start",)),
    "forget": (lambda m: m.forget, 0, ("sessions", "project", "since", "until", "dry_run")),
}
#: What a call needs besides, so that garbage in the others is reached.
NEEDED: dict[str, dict[str, Any]] = {
    "path": {"source": "deploy", "target": "outage"},
    "outcome": {"because": "CI was red"},
}
GOOD: dict[str, tuple[Any, ...]] = {
    "add_causal_node": ("event", "deploy"),
    "add_causal_edge": ("deploy", "outage", "causes"),
    "get_causal_path": ("deploy", "outage"),
    "add_pattern": ("n", "t", "a"),
    "new": ("fresh", "t", "success"),
    "evidence": ("s",),
    "outcome": ("s", "success"),
    "correct": ("s", "d001"),
    "correct_link": ("s", "d001", "d001"),
}


@pytest.mark.parametrize("door", few([*DOORS], 10))
@settings(max_examples=examples(25), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_only_errors_of_the_one_family(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, door: str, data: st.DataObject
) -> None:
    monkeypatch.chdir(memory.root.parent)
    find, count, names = DOORS[door]
    good = GOOD.get(door, ())
    arguments = [
        data.draw(st.one_of(st.just(good[place]), GARBAGE) if good else GARBAGE, label=str(place))
        for place in range(count)
    ]
    given_names = data.draw(st.lists(st.sampled_from(names), unique=True) if names else st.just([]))
    options = NEEDED.get(door, {}) | {name: data.draw(GARBAGE, label=name) for name in given_names}
    if door == "forget":
        options["dry_run"] = True  # a drawn span may take everything
    with suppress(HelixGraphError):
        find(memory)(*arguments, **options)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda m: m.graph.add_causal_node("event", None), "label must be a text, and is of type NoneType"),
        (lambda m: m.graph.add_causal_node(3, "x"), "type must be a text, and is of type int"),
        (lambda m: m.graph.add_causal_edge("deploy", "outage", "causes", weight=True), "weight must be a number"),
        (lambda m: m.graph.add_causal_edge("deploy", "outage", "causes", "0.5"), "weight must be a number"),
        (lambda m: m.graph.get_causal_path("a", "b", 2.5), "max_depth must be a whole number"),
        (lambda m: m.graph.get_patterns("0.5"), "min_success_rate must be a number"),
        (lambda m: m.episodes.list(since=3), "since must be a datetime"),
        (lambda m: m.forget("s"), "sessions must be a list"),
        (lambda m: type(m).open(3), "start must be a path"),
    ],
)
def test_a_wrong_type_is_named_with_its_argument(memory: Memory, call: Callable[[Memory], Any], sentence: str) -> None:
    with pytest.raises(WrongType, match=sentence) as refused:
        call(memory)
    assert isinstance(refused.value, InvalidArgument)


def test_places_that_cannot_be_are_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HELIX_DIR", raising=False)
    for start, error in ((Path("/" + "x" * 5000), NoMemory), (Path("/\0"), InvalidArgument)):
        with pytest.raises(error):
            Memory.open(start)


def test_a_path_may_be_given_as_text(memory: Memory) -> None:
    assert Memory(str(memory.root)).root == memory.root  # type: ignore[arg-type]  # what callers do all the same
