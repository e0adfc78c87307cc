"""The totals of the sealed set as tables: shares with n and 95 % intervals, by kind, agent, language and corpus."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from helix_graph.stats.intervals import wilson_interval

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sealed_scores import Judged

#: The groups of a session by name, and how its items were judged.
Scored: TypeAlias = "tuple[dict[str, str], list[Judged]]"
MEASURES = ("decisions", "failures", "fixes", "credits")
#: Verdicts of one more statement on what another has found.
SECONDS = ("second", "second in document")
PRINTED = ("success", "partial", "failure", "unknown", "not read")


@dataclass(frozen=True)
class Outcome:
    """The outcome of one session as annotated and as printed; ``alternative`` is one that would do as well."""

    groups: dict[str, str]
    annotated: str
    printed: str
    unsure: bool
    alternative: str | None

    @property
    def agrees(self) -> bool:
        """Whether both say the same."""
        return self.annotated == self.printed


def share(parts: Sequence[tuple[int, int]]) -> str:
    """A share with its interval, of hits and items by session: sessions, whose items are alike, are the units."""
    hits, items = sum(hit for hit, _ in parts), sum(item for _, item in parts)
    if not items:
        return "-"
    rate = hits / items
    counted = [(hit, item) for hit, item in parts if item]
    units = len(counted)
    effect = 1.0
    if units > 1 and 0 < rate < 1:
        spread = sum((hit - rate * item) ** 2 for hit, item in counted) * units / (units - 1) / items**2
        effect = max(1.0, spread / (rate * (1 - rate) / items))
    interval = wilson_interval(hits / effect, items / effect)
    return f"{hits}/{items} {100 * rate:.0f} % ({100 * interval.low:.0f} to {100 * interval.high:.0f})"


def print_scores(scores: Mapping[str, Sequence[Scored]]) -> None:
    for number, (mode, sessions) in enumerate(scores.items()):
        role = ", the figure" if number == 0 else ""
        print(f"{mode}{role} ({len(sessions)} sessions)")
        _print_head()
        for measure in MEASURES:
            _print_row(measure, sessions, measure)
        print()
    figure = next(iter(scores.values()))
    for measure in MEASURES[:3]:
        kinds = sorted({one.kind for _, judged in figure for one in judged if one.measure == measure})
        if len(kinds) > 1:
            print(f"{measure} by kind (found by the annotator's, right by ours; a fix by its failure's)")
            _print_head()
            for kind in kinds:
                _print_row(kind, figure, measure, kind=kind)
            print()
    in_documents = sum(one.verdict == "second in document" for _, judged in figure for one in judged)
    print(f"fixes right as seconds in logs that are one document (false in the first eleven runs): {in_documents}")
    print()
    for group in ("agent", "language", "corpus"):
        for name in sorted({groups[group] for groups, _ in figure}):
            own = [one for one in figure if one[0][group] == name]
            print(f"{group} {name} ({len(own)} sessions)")
            _print_head()
            for measure in MEASURES:
                _print_row(measure, own, measure)
            print()


def _print_head() -> None:
    print(f"    {'':<12}{'found':>26}{'right':>26}{'seconds false':>26}{'seconds':>9}")


def _print_row(name: str, sessions: Sequence[Scored], measure: str, *, kind: str | None = None) -> None:
    def part(*, wanted: bool, verdicts: tuple[str, ...]) -> list[tuple[int, int]]:
        own = [
            [
                one
                for one in judged
                if one.measure == measure and one.wanted == wanted and (kind is None or one.kind == kind)
            ]
            for _, judged in sessions
        ]
        return [(sum(one.verdict in verdicts for one in judged), len(judged)) for judged in own]

    found = share(part(wanted=True, verdicts=("hit",)))
    right = share(part(wanted=False, verdicts=("hit", *SECONDS)))
    strict = share(part(wanted=False, verdicts=("hit",)))
    seconds = sum(hits for hits, _ in part(wanted=False, verdicts=SECONDS))
    print(f"    {name:<12}{found:>26}{right:>26}{strict:>26}{seconds:>9}")


def print_outcomes(outcomes: Sequence[Outcome]) -> None:
    print(f"outcomes: annotated down, printed across ({len(outcomes)} sessions)")
    print(f"    {'':<12}" + "".join(f"{name:>10}" for name in PRINTED))
    for annotated in PRINTED[:4]:
        printed = Counter(one.printed for one in outcomes if one.annotated == annotated)
        print(f"    {annotated:<12}" + "".join(f"{printed[name]:>10}" for name in PRINTED))
    print()
    _print_agreement("outcomes that agree", outcomes, lambda one: one.agrees)
    _print_agreement(
        "with alternatives", outcomes, lambda one: one.agrees or (one.unsure and one.alternative == one.printed)
    )
    _print_agreement("without unsure", [one for one in outcomes if not one.unsure], lambda one: one.agrees)
    for outcome in ("failure", "success", "unknown"):
        own = [one for one in outcomes if one.printed == outcome]
        _print_agreement(f"printed {outcome}", own, lambda one: one.agrees)
    for group in ("agent", "language", "corpus"):
        for name in sorted({one.groups[group] for one in outcomes}):
            own = [one for one in outcomes if one.groups[group] == name]
            _print_agreement(f"{group} {name}", own, lambda one: one.agrees)


def _print_agreement(name: str, outcomes: Sequence[Outcome], agrees: Callable[[Outcome], bool]) -> None:
    print(f"    {name:<36}{share([(int(agrees(one)), 1) for one in outcomes]):>26}")
