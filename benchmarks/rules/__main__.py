"""How many rules are bound as a person bound them: ``python benchmarks/rules``; README.md says what counts."""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

from rule_draw import AGAIN, drawn, drawn_again

from helix_graph.rules.binding import bind
from helix_graph.stats.intervals import wilson_interval


def _same_target(bound: str, by_hand: str) -> bool:
    """Whether one is the other, or the other with more words behind it."""
    one, other = bound.split(), by_hand.split()
    return one[: len(other)] == other or other[: len(one)] == one


def main() -> None:
    """Prints the shares of each draw, and with ``-v`` each line that is wrong or missing."""
    folder = Path(__file__).parent
    rows = drawn()
    report("first draw", rows, json.loads((folder / "bindings.json").read_text()))
    known = {row["line"] for row in rows}
    for name, each in AGAIN.items():
        rows = drawn_again(name, known=known, each=each)
        known |= {row["line"] for row in rows}
        report(f"{name} draw", rows, json.loads((folder / f"bindings_{name}.json").read_text()))


def report(name: str, rows: list[dict[str, str]], by_hand: list[dict[str, Any]]) -> None:
    """Prints how many bindings of a draw are right, and how many of the bindable lines are bound."""
    hands = {(row["project"], row["line"]): row for row in by_hand}
    right, bound, bindable, found = 0, 0, 0, 0
    for row in rows:
        digest = hashlib.blake2b(row["line"].encode(), digest_size=8).hexdigest()
        hand = hands[row["project"], digest]
        binding = bind(row["line"], heading=row["heading"])
        bindable += "targets" in hand
        bound += binding is not None
        found += binding is not None and "targets" in hand
        is_right = (
            binding is not None
            and "targets" in hand
            and binding.sense == hand["sense"]
            and binding.when in hand["when"]
            and any(_same_target(one.text, target) for one in binding.targets for target in hand["targets"])
        )
        right += is_right
        if not is_right and (binding is not None or "targets" in hand) and "-v" in sys.argv:
            print("WRONG" if binding else "MISSED", row["project"], row["line"][:200], binding or "")
    interval = wilson_interval(right, bound)
    print(
        f"{name}: {bound} of {len(rows)} lines bound, right {right} ({right / bound:.0%}, {interval.low:.0%} to "
        f"{interval.high:.0%}); bindable {bindable}, bound {found} ({found / bindable:.0%}), rightly "
        f"{right / bindable:.0%}"
    )


if __name__ == "__main__":
    main()
