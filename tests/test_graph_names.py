"""Asked about a file, a test, a rule or a command, what does the graph answer?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from helix_episodes.errors import InvalidArgument
from helix_episodes.model import Decision, Place
from helix_graph.graph.episode_facts import facts_of
from helix_graph.graph.mentions import named
from helix_graph.graph.node_labels import decision_key
from thoroughness import examples

if TYPE_CHECKING:
    from episode_drawing import Draw, Remember
    from helix_episodes.model import Episode
    from helix_graph.graph.path_answer import FoundPath


def chain(path: FoundPath) -> list[str]:
    """What is shown: where it begins, and where each step leads."""
    return [path.steps[0].source, *(step.target for step in path.steps)]


def about(episode: Episode, error: str, place: Place) -> Episode:
    """The episode with a place for the error of that text."""
    events = (replace(one, place=place) if one.content == error else one for one in episode.events)
    return replace(episode, events=tuple(events))


def test_a_path_from_a_file_goes_through_no_other_file(draw: Draw, remember: Remember) -> None:
    graph = remember(
        draw(
            "s", "edit shop/cart.py -> ruff passes", "edit shop/price.py -> pytest fails: boom", "ruff passes -> commit"
        )
    )
    assert chain(graph.path(source="cart.py", target="commit")) == [
        "edit shop/cart.py",
        "ruff passes",
        "commit: a commit",
    ]
    assert not graph.path(source="cart.py", target="pytest fails").found
    assert chain(graph.path(source="SHOP/PRICE.PY", target="fails")) == ["edit shop/price.py", "pytest fails: boom"]


def test_a_path_from_a_test_or_a_rule_or_words_of_a_message(draw: Draw, remember: Remember) -> None:
    error = "pytest fails: test failed"
    tested = Place(test="tests/test_cart.py::TestSum::test_add", file="t.py")
    drawn = about(draw("s", f"{error} -> edit cart.py"), error, tested)
    ruled = about(draw("r", "lint fails: x -> edit b.py"), "lint fails: x", Place(rule="errcheck", symbol="w.Write"))
    graph = remember(drawn, ruled, draw("m", "go fails: undefined Total -> edit c.py"))
    for asked, start in (
        ("test_add", "pytest fails: test failed: TestSum > test_add"),
        ("TestSum", "pytest fails: test failed: TestSum > test_add"),
        ("errcheck", "lint fails: x: w.Write"),
        ("w.Write", "lint fails: x: w.Write"),
    ):
        assert chain(graph.path(source=asked, target="edit"))[0] == start
    assert graph.path(source="Total", target="c.py").depth == 1


def test_no_path_leads_through_a_label_where_a_session_holds_a_finer_one(draw: Draw, remember: Remember) -> None:
    hub = (draw("one", "a fails: x -> edit shop/a.py"), draw("two", "edit b.py -> commit"))
    longer = draw("whole", "a fails: x -> edit c.py", "edit c.py -> b passes", "b passes -> commit")
    graph = remember(*hub, longer)
    answer = graph.path(source="a fails", target="commit")
    assert chain(answer) == ["a fails: x", "edit c.py", "b passes", "commit: a commit"]
    assert (answer.resolution, answer.whole, answer.stitched) == ("thing", ("episode-whole",), False)
    (graph.episodes / "episode-whole.json").unlink()
    graph.compile()
    apart = graph.path(source="a fails", target="commit", max_depth=2)
    assert not apart.found, "a.py and b.py lie in different folders"
    assert "by labels alone there is one of depth 2" in (apart.hint or "")
    by_kind = graph.path(source="a fails", target="commit", resolution="kind")
    assert chain(by_kind) == ["a fails: x", "edit source (.py)", "commit"]
    assert by_kind.stitched


def test_what_no_session_holds_is_joined_at_the_same_file_if_it_can_be(draw: Draw, remember: Remember) -> None:
    other = draw("z", "a fails: x -> edit other.py")
    same = remember(other, draw("one", "a fails: x -> edit a.py"), draw("two", "edit a.py -> b passes"))
    answer = same.path(source="a fails", target="b passes")
    assert (chain(answer)[1], answer.resolution, answer.stitched) == ("edit a.py", "thing", True)
    (same.episodes / "episode-one.json").unlink()
    same.compile()
    answer = same.path(source="a fails", target="b passes")
    assert (chain(answer)[1], answer.resolution, answer.stitched) == ("edit source (.py) in .", "place", True)


def test_named_files_are_not_joined_from_several_sessions_but_the_links_are_named(
    draw: Draw, remember: Remember
) -> None:
    graph = remember(draw("one", "edit z.py -> a fails: x"), draw("two", "a fails: x -> edit a.py"))
    apart = graph.path(source="z.py", target="a.py")
    assert not apart.found
    assert apart.hint == (
        'no session holds the whole; its links by sessions: "edit z.py" to "a fails: x" in 1 of 1,'
        ' "a fails: x" to "edit a.py" in 1 of 2'
    )
    assert graph.path(source="z.py", target="a.py", resolution="thing").stitched


def test_each_edge_has_the_sessions_that_hold_it_of_those_with_its_source(draw: Draw, remember: Remember) -> None:
    held = [draw(name, "edit a.py -> b passes", "edit z.py -> commit") for name in "st"]
    graph = remember(*held, draw("u", "edit a.py -> commit"), draw("v", "edit z.py -> b passes"))
    answer = graph.path(source="a.py", target="b passes")
    (step,) = answer.steps
    assert (step.frequency.k, step.frequency.n) == (2, 3)
    assert answer.whole == ("episode-s", "episode-t")
    assert answer.alike is not None
    assert (answer.alike.weakest.k, answer.alike.weakest.n) == (3, 4), "by label: edits of any file"
    (group,) = graph.effects("a.py").groups
    assert (group.node.label, group.sessions) == ("edit a.py", 3)
    assert [(one.node.label, one.frequency.k, one.frequency.n) for one in group.relations] == [
        ("b passes", 2, 3),
        ("commit: a commit", 1, 3),
    ]
    (causes,) = graph.causes("b passes").groups
    assert [(one.node.label, one.frequency.k, one.frequency.n) for one in causes.relations] == [
        ("edit a.py", 2, 3),
        ("edit z.py", 1, 3),
    ]


def test_a_resolution_is_kept_to(draw: Draw, remember: Remember) -> None:
    graph = remember(draw("s", "a fails: x -> edit shop/a.py", "a fails: x#2 -> edit shop/b.py"))
    shown = {
        resolution: [one.node.label for one in graph.effects("a fails", resolution=resolution).groups[0].relations]
        for resolution in ("kind", "place", "thing")
    }
    assert shown == {
        "kind": ["edit source (.py)"],
        "place": ["edit source (.py) in shop"],
        "thing": ["edit shop/a.py", "edit shop/b.py"],
    }
    assert chain(graph.path(source="fails", target="edit", resolution="place"))[-1] == "edit source (.py) in shop"
    with pytest.raises(InvalidArgument, match="kind, place, thing"):
        graph.path(source="a", target="b", resolution="file")


def test_failures_in_a_file_are_found_under_its_name(draw: Draw, remember: Remember) -> None:
    error = "lint fails: x"
    links = (f"edit a.py -| {error}", f"edit b.py -| {error}#2")
    drawn = draw("s", *links)
    files = iter(("shop/main.go", "shop/other.go"))
    named = Place(rule="errcheck", symbol="w.Write")
    errors = tuple(replace(one, place=named, path=next(files)) for one in drawn.events)
    (group,) = remember(replace(drawn, events=errors)).causes("main.go").groups
    assert group.node.label == "lint fails: x: w.Write (in main.go)"
    assert [one.node.label for one in group.relations] == ["edit a.py"], "b.py mended the other file"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("use sqlite instead of postgres", "use postgres instead of sqlite"),
        ("Replace postgres with sqlite", "Replace sqlite with postgres"),
        ("prefer tables over queries in the schema", "prefer queries over tables in the schema"),
        ("move the queries from sqlite to postgres", "move the queries from postgres to sqlite"),
        ("use sqlite, not postgres", "use postgres, not sqlite"),
        ("use a path rather than a folder for files", "use a folder rather than a path for files"),
    ],
)
def test_a_choice_and_its_reverse_are_two_labels(one: str, other: str) -> None:
    first, second = (
        decision_key(Decision(id="d", timestamp=None, type="design", chosen=text)) for text in (one, other)
    )
    assert first != second
    assert decision_key(Decision(id="d", timestamp=None, type="design", chosen=one.upper())) == first


@pytest.mark.slow
@settings(max_examples=examples(15), deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_every_session_named_holds_every_step_between_the_very_things(
    data: st.DataObject, any_episodes: st.SearchStrategy[tuple[Episode, ...]], remember: Remember
) -> None:
    drawn = data.draw(any_episodes)
    graph = remember(*drawn)
    for old in graph.episodes.iterdir():
        if old.stem not in {episode.id for episode in drawn}:
            old.unlink()
    graph.compile()
    text = st.sampled_from(["run", "edit", "ruff", "fails", "passes", "commit", "success", "a.py", "b.py"])
    answer = graph.path(source=data.draw(text), target=data.draw(text), strongest=data.draw(st.booleans()))
    assume(answer.steps)
    held = {episode.id for episode in drawn if _holds(episode, answer)}
    assert set(answer.whole) == held
    for step in answer.steps:
        assert step.frequency.k == len(step.episodes) <= step.frequency.n <= len(drawn)


def _holds(episode: Episode, answer: FoundPath) -> bool:
    """Whether the episode's claims chain up between mentions that are shown as the steps say, by trying them all."""
    facts = facts_of(episode)
    shown = {one.local: named(one.label, one.thing, resolution="thing") for one in facts.mentions}
    reached = {local for local, name in shown.items() if name == answer.steps[0].source}
    for step in answer.steps:
        reached = {
            claim.target_local
            for claim in facts.claims
            if claim.source_local in reached and claim.type == step.type and shown[claim.target_local] == step.target
        }
    return bool(reached)


@pytest.mark.parametrize(
    "reason", ["", " because it is simpler", " to keep setup small", " since tests are faster", ", it is embedded"]
)
def test_why_one_thing_is_taken_instead_of_another_is_no_part_of_the_label(reason: str) -> None:
    def label(chosen: str) -> str:
        return decision_key(Decision(id="d1", timestamp=None, type="design", chosen=chosen))

    assert label(f"use sqlite instead of postgres{reason}") == label("use sqlite instead of postgres")
    assert label(f"use postgres instead of sqlite{reason}") != label("use sqlite instead of postgres")
