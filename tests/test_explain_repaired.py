"""Does a session that failed although every failure in it was repaired have a place to look at first?"""

from __future__ import annotations

import pytest

from helix_episodes.model import Action, Decision, Episode, Event, Evidence, Fix, Outcome
from helix_graph.causality.fault_localization import explanation_of

SKETCH, TYPO, MEND = "d001", "e001", "d002"


def session(outcome: Outcome, *, repaired: bool = True) -> Episode:
    return Episode(
        id="episode-x",
        session="x",
        timestamp=None,
        outcome=outcome,
        outcome_basis="rewarded",
        task="count the ships",
        decisions=(did(SKETCH, 2), did(MEND, 5), did("d003", 8)),
        events=(
            Event(
                id=TYPO,
                timestamp=None,
                type="error",
                content="NameError: ships",
                check="python",
                family="NameError",
                evidence=Evidence(line=4),
            ),
        ),
        fixes=(Fix(error=TYPO, changes=(MEND,), check="python"),) if repaired else (),
    )


def did(name: str, line: int) -> Decision:
    action = Action(verb="run", program=f"script{name}")
    return Decision(
        id=name, timestamp=None, type="implementation", chosen=name, action=action, evidence=Evidence(line=line)
    )


def test_the_step_before_the_first_failure_is_named_and_the_repair_is_told() -> None:
    (suspect,) = explanation_of(session("failure"), ()).suspects
    assert suspect.decision == SKETCH
    assert "all were repaired" in suspect.reasons[0]


@pytest.mark.parametrize("outcome", ["success", "unknown"])
def test_a_session_not_known_to_have_failed_gets_no_suspect_from_what_was_repaired(outcome: Outcome) -> None:
    assert explanation_of(session(outcome), ()).suspects == ()


def test_a_failure_that_lasted_points_more_strongly() -> None:
    (lasting,) = explanation_of(session("failure", repaired=False), ()).suspects
    (repaired,) = explanation_of(session("failure"), ()).suspects
    assert lasting.decision == repaired.decision
    assert lasting.score > repaired.score
