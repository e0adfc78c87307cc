"""How many rules are bound as a person bound them: ``python benchmarks/rules``; README.md says what counts."""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

from rule_draw import AGAIN, drawn, drawn_again, drawn_unseen

from helix_graph.rules.binding import bind
from helix_graph.stats.intervals import wilson_interval


def _same_target(bound: str, by_hand: str) -> bool:
    """Whether one is the other, or the other with more words behind it."""
    one, other = bound.split(), by_hand.split()
    return one[: len(other)] == other or other[: len(one)] == one


def _key(row: dict[str, str]) -> tuple[str, str]:
    return row["project"], hashlib.blake2b(row["line"].encode(), digest_size=8).hexdigest()


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
    rows, by_hand = drawn_unseen(), json.loads((folder / "bindings_fifth.json").read_text())
    report("fifth draw", rows, by_hand)
    asking = {(row["project"], row["line"]) for row in by_hand if row["asks"]}
    report("of it, lines that ask for something", [row for row in rows if _key(row) in asking], by_hand)


def report(name: str, rows: list[dict[str, str]], by_hand: list[dict[str, Any]]) -> None:
    """Prints how many bindings of a draw are right, and how many of the bindable lines are bound."""
    hands = {(row["project"], row["line"]): row for row in by_hand}
    right, bound, bindable, found = 0, 0, 0, 0
    for row in rows:
        hand = hands[_key(row)]
        binding = bind(row["line"], heading=row["heading"])
        bindable += "targets" in hand
        bound += binding is not None
        found += binding is not None and "targets" in hand
        is_right = (
            binding is not None
            and "targets" in hand
            and binding.sense == hand["sense"]
            and ("commit" if binding.when == "push" else binding.when) in hand["when"]
            and any(_same_target(one.text, target) for one in binding.targets for target in hand["targets"])
        )
        right += is_right
        if not is_right and (binding is not None or "targets" in hand) and "-v" in sys.argv:
            print("WRONG" if binding else "MISSED", row["project"], row["line"][:200], binding or "")
    print(
        f"{name}: {bound} of {len(rows)} lines bound, right {_share(right, bound)}; "
        f"bindable {bindable}, bound {_share(found, bindable)}, rightly {_share(right, bindable)}"
    )


def _share(part: int, whole: int) -> str:
    interval = wilson_interval(part, whole)
    return f"{part} ({part / max(whole, 1):.0%}, {interval.low:.0%} to {interval.high:.0%})"


if __name__ == "__main__":
    main()
