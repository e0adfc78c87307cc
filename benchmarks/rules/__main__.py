"""How many rules are bound as a person bound them: ``python -m benchmarks.rules``; README.md says what counts."""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

from benchmarks.rules.draw import drawn
from helix_graph.rules.binding import bind
from helix_graph.stats.intervals import wilson_interval


def _same_target(bound: str, by_hand: str) -> bool:
    """Whether one is the other, or the other with more words behind it."""
    one, other = bound.split(), by_hand.split()
    return one[: len(other)] == other or other[: len(one)] == one


def main() -> None:
    """Prints the shares, and with ``-v`` each line that is wrong or missing."""
    by_hand = {(row["project"], row["line"]): row for row in json.loads((Path(__file__).parent / "bindings.json").read_text())}
    right, bound, bindable, found = 0, 0, 0, 0
    for row in drawn():
        digest = hashlib.blake2b(row["line"].encode(), digest_size=8).hexdigest()
        hand = by_hand[row["project"], digest]
        binding = bind(row["line"])
        bindable += "targets" in hand
        if binding is None:
            if "targets" in hand and "-v" in sys.argv:
                print("MISSED", row["project"], row["line"][:200])
            continue
        bound += 1
        found += "targets" in hand
        is_right = (
            "targets" in hand
            and binding.sense == hand["sense"]
            and binding.when in hand["when"]
            and any(_same_target(one.text, target) for one in binding.targets for target in hand["targets"])
        )
        right += is_right
        if not is_right and "-v" in sys.argv:
            print("WRONG", row["project"], row["line"][:200], binding, hand)
    low = wilson_interval(right, bound)
    print(f"bound {bound} of {len(by_hand)} lines; right {right} of {bound} ({right / bound:.0%}, {low.low:.0%} to {low.high:.0%})")
    print(f"bindable {bindable}; bound {found} ({found / bindable:.0%}), rightly {right} ({right / bindable:.0%})")


if __name__ == "__main__":
    main()
