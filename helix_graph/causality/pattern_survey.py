"""All patterns of a memory with what comparisons say of them: what `patterns` and `anti-patterns` list.

A pattern counts; a comparison (`effects`) says whether the count is more than the task and what came before.
`with_effects` joins the two. A row for one kind of task gets the comparison within that kind. What only comparisons
know of (an action over all tasks, sequences, repetitions, changes without a check) becomes a row of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Literal

import msgspec

from helix_graph.graph.model import SkippedFile
from helix_graph.graph.patterns import (
    ENOUGH_OCCURRENCES,
    Effect,
    Pattern,
    Verdict,
    asserted_patterns,
    content_id,
    count_patterns,
    select_anti_patterns,
    select_patterns,
)
from helix_graph.stats.intervals import wilson_interval

if TYPE_CHECKING:
    from helix_graph.graph.assertions import PatternAssertion
    from helix_graph.graph.observations import Trial
    from helix_graph.graph.patterns import EffectReport, HypothesisKind, StepCounts


#: What comparisons say of a row: a verdict; it mostly ends its sessions; there are too few sessions; it is not compared
#: at all (the duller measure of an answer, an edit, what nearly everybody does); a person said it. ``tested`` is kept
#: for what was withheld at random.
PatternStanding = Literal[Verdict, "comes last", "too early", "not compared", "told"]


def with_effects(
    patterns: Iterable[Pattern], report: EffectReport, *, within_kinds: Iterable[StepCounts]
) -> tuple[Pattern, ...]:
    """The patterns with their comparisons, and the rows that only comparisons know of; in no order.

    ``within_kinds`` has the comparisons of each kind of task by itself, which rows of that kind carry, and what comes
    last there.
    """
    answers = {(one.trigger, one.action, one.basis): one for one in report.effects if one.kind == "answer"}
    of_kinds = {(one.trigger, one.action): one for one in within_kinds}
    early = bool(report.too_early)
    rows = []
    for row in patterns:
        of_a_kind = row.level == "task" and row.basis == "outcome"
        known = (
            of_kinds.get((row.trigger, row.action)) if of_a_kind else answers.get((row.trigger, row.action, row.basis))
        )
        standing: PatternStanding = "too early" if early or row.too_early else "not compared"
        if row.level == "asserted":
            standing = "told"
        elif known:
            standing = _standing(known)
        rows.append(
            msgspec.structs.replace(row, effect=known if isinstance(known, Effect) else None, standing=standing)
        )
    return (*rows, *_own_rows((*report.effects, *report.last)))


def _standing(one: StepCounts) -> PatternStanding:
    return one.verdict if isinstance(one, Effect) else "comes last"


def _own_rows(found: Sequence[StepCounts]) -> Iterator[Pattern]:
    for one in found:
        level = _LEVELS.get(one.kind)
        if level:
            yield Pattern(
                id=content_id(one.kind, one.trigger, one.action, one.basis),
                name=f"{one.trigger} → {one.action}",
                description=f"On {one.trigger!r}: {one.action}. Success: the episode's outcome is success.",
                trigger=one.trigger,
                action=one.action,
                success_rate=one.successes / one.uses,
                occurrences=one.uses,
                last_used=one.examples[0].timestamp,
                successes=one.successes,
                interval=wilson_interval(one.successes, one.uses),
                base_rate=one.successes_of_others / one.others,
                base_n=one.others,
                basis="outcome",
                level=level,
                too_early=one.uses < ENOUGH_OCCURRENCES,
                unmeasured=one.unmeasured,
                episodes=tuple(example.episode for example in one.examples),
                decisions=tuple(example.step for example in one.examples),
                effect=one if isinstance(one, Effect) else None,
                standing=_standing(one),
            )


_LEVELS: dict[HypothesisKind, Literal["any task", "sequence", "repetition", "unchecked"]] = {
    "action": "any task",
    "sequence": "sequence",
    "repetition": "repetition",
    "unchecked": "unchecked",
}


class Survey(msgspec.Struct, frozen=True, kw_only=True):
    """All patterns, and what they were made from.

    ``outcomes`` counts the episodes by basis and outcome (``"measured success": 31``): rates over a memory in which
    nearly everything is a success, or nothing is measured, say little. ``compared`` sessions had a judged outcome,
    ``tested`` comparisons were made over them, and ``too_early`` says in words why there are none, if so. ``power``
    is that of `EffectReport`. ``copies`` of other sessions are not counted; ``skipped`` names the files left out.
    ``silenced`` counts the sessions in which an edit silenced a check, by the edit's label; ``tools`` are the agents'
    own that refused something. ``shared`` counts the sessions that came from others, of which the rows say apart what
    they add.
    """

    patterns: tuple[Pattern, ...]
    episodes: int
    outcomes: dict[str, int]
    compared: int
    tested: int
    power: float | None
    copies: int
    too_early: str
    skipped: tuple[SkippedFile, ...]
    silenced: dict[str, int] = {}
    tools: tuple[str, ...] = ()
    shared: int = 0

    def best(self, *, min_success_rate: float = 0.0, min_occurrences: int = 1) -> tuple[Pattern, ...]:
        """What works: `Causality.patterns`, of this survey."""
        return select_patterns(self.patterns, min_success_rate=min_success_rate, min_occurrences=min_occurrences)

    def worst(self, *, max_success_rate: float = 0.3, evidence: str | None = None) -> tuple[Pattern, ...]:
        """What keeps failing: `Causality.anti_patterns`, of this survey."""
        return select_anti_patterns(self.patterns, max_success_rate=max_success_rate, evidence=evidence)


def survey_of(
    trials: Sequence[Trial], asserted: Iterable[PatternAssertion], *, copies: int, skipped: tuple[SkippedFile, ...]
) -> Survey:
    """The survey of some sessions, and of what people have added; ``copies`` and ``skipped`` are only passed on."""
    from helix_graph.causality.check_patterns import check_patterns, refusing_tools, silenced
    from helix_graph.causality.effects import at_the_end, effects_of, report_of
    from helix_graph.causality.hypotheses import TrialMatrix, within_kinds

    matrix = TrialMatrix(trials)
    report = report_of(matrix)
    of_kinds = within_kinds(matrix)
    counted = count_patterns(row for trial in trials for row in trial.observations)
    return Survey(
        patterns=tuple(
            sorted(
                (
                    *with_effects(
                        (*counted, *asserted_patterns(asserted)),
                        report,
                        within_kinds=(*effects_of(matrix, of_kinds), *at_the_end(matrix, of_kinds)),
                    ),
                    *check_patterns(trials),
                ),
                key=lambda pattern: (pattern.name, pattern.basis, pattern.level),
            )
        ),
        episodes=len(trials),
        outcomes=dict(sorted(Counter(trial.told for trial in trials).items())),
        compared=report.trials,
        tested=report.tested,
        power=report.power,
        copies=copies,
        too_early=report.too_early,
        skipped=skipped,
        silenced=dict(sorted(silenced(trials).items())),
        tools=tuple(sorted(refusing_tools(trials))),
    )


def with_shared(own: Survey, theirs: Survey) -> Survey:
    """The survey of own sessions with the uses that shared ones have of its patterns, and the patterns of those alone.

    What people have added is no session's.
    """
    counted = {_what(row): row for row in theirs.patterns if row.successes is not None}
    rows = []
    for row in own.patterns:
        other = counted.pop(_what(row), None)
        if other is not None:
            uses, successes = other.occurrences, other.successes or 0
            row = msgspec.structs.replace(row, shared_occurrences=uses, shared_successes=successes)  # noqa: PLW2901
        rows.append(row)
    rows += [msgspec.structs.replace(row, shared=True) for row in counted.values()]
    return msgspec.structs.replace(
        own, patterns=tuple(rows), shared=theirs.episodes, skipped=tuple(dict.fromkeys((*own.skipped, *theirs.skipped)))
    )


def _what(row: Pattern) -> tuple[str, str, str, str]:
    return row.trigger, row.action, row.basis, row.level
