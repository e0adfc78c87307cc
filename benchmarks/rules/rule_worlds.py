"""Made-up projects with planted rules: how often is an effect found, and how often one that is none?

    python benchmarks/rules/rule_worlds.py [--worlds 300] [--sessions 200] [--seed 24]

Each project has ten rules on opportunities of their own: two halve what they are against, one makes it 1.7 times as
often, three do nothing, two are ignored, and two do nothing and were written after a bad spell: the rule comes where
the last eight sessions had the most. Sessions differ (a beta distribution with the correlation of real check runs),
have 1 to 8 opportunities, and in every third project everything becomes better or worse at some time, the control too.
Trials on a random half of sessions (`helix_graph.rules.staged`) are simulated beside it.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from datetime import UTC, datetime, timedelta

from helix_graph.rules.ledger import Judged, SessionCount, before_and_after, settle
from helix_graph.rules.staged import AcceptedRule, TrialDraw, is_given, result_of, sessions_needed
from helix_graph.stats.intervals import ALIKE

KINDS = ("halves", "halves", "harms", *("nothing",) * 3, *("ignored",) * 2, *("after a bad spell",) * 2)
FACTORS = {"halves": 0.5, "harms": 1.7}
BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
TRIALS = 2000


def at(session: int) -> str:
    """When a session began."""
    return (BEGIN + timedelta(hours=6 * session)).isoformat()


def scattered(rng: random.Random, rate: float) -> float:
    """The rate of one session."""
    strength = 1 / ALIKE - 1
    return rng.betavariate(max(rate * strength, 1e-3), max((1 - rate) * strength, 1e-3))


def drawn(rng: random.Random, rate: float, most: int = 8) -> tuple[int, int]:
    """The events and opportunities of one session."""
    opportunities = rng.randint(1, most)
    own = scattered(rng, min(rate, 0.95))
    return sum(rng.random() < own for _ in range(opportunities)), opportunities


def judged(rng: random.Random, kind: str, sessions: int, drift: tuple[int, float]) -> Judged | None:
    """One rule, compared."""
    usual = rng.uniform(0.2, 0.5)
    turn, becomes = drift

    def shift(session: int) -> float:
        return becomes if session >= turn else 1.0

    counts = [drawn(rng, usual * shift(one)) for one in range(sessions)]
    window = range(int(0.35 * sessions), int(0.65 * sessions))
    since = rng.choice(window)
    if kind == "after a bad spell":
        since = max(window, key=lambda place: sum(events for events, _ in counts[place - 8 : place]))
    factor = FACTORS.get(kind, 1.0)
    if factor != 1.0:
        counts[since:] = [drawn(rng, usual * shift(one) * factor) for one in range(since, sessions)]
    rows = [SessionCount(at(one), *counts[one], control=drawn(rng, 0.25 * shift(one), 12)) for one in range(sessions)]
    return before_and_after(rows, since=at(since))


def worlds(count: int, sessions: int, *, seed: int) -> None:
    """Prints discoveries and power over made-up projects."""
    rng = random.Random(seed)  # noqa: S311  (a simulation)
    verdicts: Counter[tuple[str, str]] = Counter()
    for number in range(count):
        drift = (rng.randrange(sessions), rng.choice((0.6, 1.5))) if number % 3 == 0 else (sessions, 1.0)
        found = [(kind, one) for kind in KINDS if (one := judged(rng, kind, sessions, drift)) is not None]
        for (kind, _), change in zip(found, settle([one for _, one in found]), strict=True):
            verdicts[kind, change.verdict] += 1
    claims = sum(number for (_, said), number in verdicts.items() if said in {"better", "worse"})
    true = verdicts["halves", "better"] + verdicts["harms", "worse"]
    print(f"{count} projects of {sessions} sessions, {len(KINDS)} rules each")
    for kind in dict.fromkeys(KINDS):
        of = sum(number for (name, _), number in verdicts.items() if name == kind)
        said = ", ".join(f"{word} {verdicts[kind, word] / of:.1%}" for word in ("better", "worse", "changed nothing"))
        print(f"  {kind:<18} {said}")
    print(f"false of {claims} verdicts: {(claims - true) / max(claims, 1):.3f}")


def trials(count: int, *, seed: int) -> None:
    """Prints bias and coverage of trials that halve the share of sessions which meet an issue, and of useless ones."""
    rng = random.Random(seed)  # noqa: S311  (a simulation)
    for rate, factor in ((0.5, 0.5), (0.3, 0.5), (0.3, 1.0)):
        needed = sessions_needed(rate, share=0.5)
        errors: list[float] = []
        covered = shown = 0
        for number in range(count):
            rule = AcceptedRule(id="r", sentence="", issue="", at="", share=0.5, salt=str(number), planned=needed)
            names = [str(one) for one in range(needed)]
            given = [is_given(rule, one) for one in names]
            rows = [
                TrialDraw(rule="r", session=one, at="", given=got, propensity=0.5)
                for one, got in zip(names, given, strict=True)
            ]
            met = {one for one, got in zip(names, given, strict=True) if rng.random() < rate * (factor if got else 1)}
            found = result_of(rule, rows, seen=set(names), met=met)
            if found.difference is None or found.low is None or found.high is None:
                continue
            true = rate * (factor - 1)
            errors.append(found.difference - true)
            covered += found.low <= true <= found.high
            shown += found.high < 0
        bias = sum(errors) / len(errors)
        spread = (sum((one - bias) ** 2 for one in errors) / len(errors)) ** 0.5
        print(
            f"trial of {needed} sessions, {rate} times {factor}: bias {bias:+.4f} (standard error "
            f"{spread / len(errors) ** 0.5:.4f}), intervals hold {covered / len(errors):.1%}, "
            f"shown {shown / len(errors):.1%}"
        )


def main() -> None:
    """Prints both."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--worlds", type=int, default=300)
    parser.add_argument("--sessions", type=int, default=200)
    parser.add_argument("--seed", type=int, default=24)
    options = parser.parse_args()
    worlds(options.worlds, options.sessions, seed=options.seed)
    trials(TRIALS, seed=options.seed + 1)


if __name__ == "__main__":
    main()
