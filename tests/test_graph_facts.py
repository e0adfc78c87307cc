"""What does one episode say about the graph?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from helix_episodes.extraction.fingerprints import Diagnostic
from helix_episodes.model import OUTCOME_ID, Decision, Event, Link
from helix_graph.graph.episode_facts import REASON_WEIGHT, facts_of
from helix_graph.graph.model import node_id

if TYPE_CHECKING:
    from episode_drawing import Draw


def test_every_link_is_a_claim_between_two_labels(draw: Draw) -> None:
    facts = facts_of(draw("s", "run ruff -> ruff fails: E501", "ruff fails: E501 -> edit a.py"))
    labels = {mention.node: mention.label for mention in facts.mentions}
    assert {(labels[claim.source], claim.type, labels[claim.target], claim.reason) for claim in facts.claims} == {
        ("run ruff", "causes", "ruff fails: E501", "call"),
        ("ruff fails: E501", "causes", "edit source (.py)", "call"),
    }


def test_the_event_that_decided_the_outcome_leads_to_it(draw: Draw) -> None:
    facts = facts_of(draw("s", "ruff passes -> success"))
    (claim,) = facts.claims
    assert (claim.target_local, claim.reason, claim.type) == (OUTCOME_ID, "decided", "causes")
    assert facts.succeeded is True


def test_an_unknown_outcome_is_no_node(draw: Draw) -> None:
    facts = facts_of(draw("s", "run ruff -> ruff passes"))
    assert OUTCOME_ID not in {mention.local for mention in facts.mentions}
    assert facts.succeeded is None


def test_an_outcome_that_the_agent_declared_is_a_node_but_no_success(draw: Draw) -> None:
    facts = facts_of(draw("s", "run ruff -> ruff passes", outcome="success", outcome_basis="declared"))
    assert OUTCOME_ID in {mention.local for mention in facts.mentions}
    assert facts.succeeded is None


def test_several_changes_share_a_fix(draw: Draw) -> None:
    facts = facts_of(draw("s", "edit a.py -| ruff fails: E501", "edit b.go -| ruff fails: E501"))
    assert [claim.type for claim in facts.claims] == ["prevents", "prevents"]
    assert {claim.weight for claim in facts.claims} == {REASON_WEIGHT["fix"] // 2}
    assert {repair.share for repair in facts.repairs} == {500_000}


def test_a_milestone_is_a_node_only_when_it_is_linked(draw: Draw) -> None:
    milestone = Event(id="e900", timestamp=None, type="milestone", content="the cart works")
    alone = facts_of(draw("s", events=(milestone,)))
    assert alone.mentions == ()
    done = Event(id="e901", timestamp=None, type="commit", content="done")
    link = Link(source="e900", target="e901", reason="entry")
    joined = facts_of(draw("s", events=(milestone, done), links=(link,)))
    assert {mention.local for mention in joined.mentions} == {"e900", "e901"}


def test_episodes_of_the_original_schema_link_by_what_they_state(draw: Draw) -> None:
    decision = Decision(id="d001", timestamp=None, type="design", chosen="Use the cache", effects=("e001",))
    event = Event(id="e001", timestamp=None, type="commit", content="done", caused_by=("d001",))
    (claim,) = facts_of(draw("s", decisions=(decision,), events=(event,))).claims
    assert (claim.source_local, claim.target_local, claim.reason) == ("d001", "e001", "stated")


def test_a_link_to_nowhere_is_told_and_left_out(draw: Draw) -> None:
    decision = Decision(id="d001", timestamp=None, type="design", chosen="Use the cache", effects=("e404",))
    facts = facts_of(draw("s", decisions=(decision,)))
    assert facts.claims == ()
    assert facts.problems == ("link d001 → e404 (stated): no e404; left out",)


def test_equal_labels_of_different_type_are_different_nodes() -> None:
    assert node_id("decision", "commit") != node_id("event", "commit")


def test_ids_are_the_same_on_every_machine() -> None:
    # Written down once: a change of this value would tear apart graphs that were merged before.
    assert node_id("event", "commit") == "nbktvy3p27hv3cesf"


def test_a_mention_keeps_its_place_in_the_log(draw: Draw) -> None:
    facts = facts_of(draw("s", "run ruff -> ruff fails: E501"))
    error = next(mention for mention in facts.mentions if mention.type == "error")
    assert (error.line, error.quote) == (2, "ruff fails: E501")
    assert error.issues == Diagnostic(rule="E501").fingerprint
