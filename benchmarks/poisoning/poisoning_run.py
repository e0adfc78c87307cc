"""What attackers achieve who write what agents and memories read.

    python benchmarks/poisoning [--json] [--list] [--only CHANNEL]

More than 200 attacks come through what others can write: outputs of tools, web pages, commit messages, issues, forged
errors, file and branch names, rules files, subagents, exports of insights, arguments of MCP tools, events of hooks, and
a memory that came with a clone. Each channel is played on a machine of its own, a temporary folder with its own home,
through the command line, the hooks and the MCP server. An attack is held when

* *quoted*: its instruction reaches later agents only as quoted, attributed data (`quoting_check` says what that is),
* *unranked*: nothing of it has a rank (effectiveness above its start, uses, "proven") without verified outcomes,
* *revocable*: after its session, import or entry was forgotten, no file of the memory or home holds its mark,
* *refused*, for a clone: nothing of it is shown, and a sentence says why.

An attack that leaves no trace in the memory is held, too: the columns *stored* and *shown* count those of which
anything was on disk before it was forgotten, and those that later agents saw anything of.

Not covered: whether a model follows a quoted instruction; plans, workspaces and what orchestrated agents hand on; logs
of other agents than Claude Code; search by meaning; pages (`view`, `report`); an attacker who can run processes as the
user, whose own state folder says what is trusted.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attack_catalogue import LOG_CHANNELS, all_attacks
from attack_plays import play_clone, play_hooks, play_imports, play_logs, play_mcp
from attack_worlds import World

from helix_graph.stats.intervals import wilson_interval

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from attack_catalogue import Attack

_PLAYS: dict[str, Callable[[Sequence[Attack], Path], None]] = {
    **dict.fromkeys(LOG_CHANNELS, play_logs),
    "insight import": play_imports,
    "MCP arguments": play_mcp,
    "hook payloads": play_hooks,
    "clone": play_clone,
}
REQUIREMENTS = ("quoted", "unranked", "revocable", "refused")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    options.add_argument("--json", action="store_true", help="print the figures as JSON")
    options.add_argument("--list", action="store_true", help="print what did not hold, with the first reason")
    options.add_argument("--only", choices=tuple(_PLAYS), help="play one channel")
    chosen = options.parse_args()
    attacks = {name: own for name, own in all_attacks().items() if chosen.only in {None, name}}
    began = time.process_time(), time.monotonic()
    play(attacks)
    if chosen.json:
        print(json.dumps(figures(attacks), indent=2, ensure_ascii=False))
    else:
        show(attacks, seconds=time.monotonic() - began[1], listed=chosen.list)


def play(attacks: dict[str, list[Attack]]) -> None:
    """Plays all attacks; those through logs share one memory, for processes are what takes the time."""
    logs = [attack for name, own in attacks.items() if name in LOG_CHANNELS for attack in own]
    parts = [
        ("logs", play_logs, logs),
        *((name, _PLAYS[name], own) for name, own in attacks.items() if name not in LOG_CHANNELS),
    ]
    for _, plays, own in parts:
        if own:
            with World.temporary() as folder:
                plays(own, Path(folder))


def show(attacks: dict[str, list[Attack]], *, seconds: float, listed: bool) -> None:
    every = [attack for own in attacks.values() for attack in own]
    held = sum(attack.held for attack in every)
    interval = wilson_interval(held, len(every))
    share = f"{held / len(every):.1%}; 95 % CI {interval.low:.1%} to {interval.high:.1%}"
    print(f"held {held} of {len(every)} attacks ({share}); wanted: all of them; took {seconds:.0f} s\n")
    print(f"{'channel':24}{'held':>14}{'stored':>8}{'shown':>8}   not {'   not '.join(REQUIREMENTS)}")
    for channel, own in attacks.items():
        broken = Counter(what for attack in own for what in attack.broken)
        counts = "".join(f"{broken[what]:{len(what) + 7}}" for what in REQUIREMENTS)
        holds, stored = sum(attack.held for attack in own), sum(attack.stored for attack in own)
        seen = sum(attack.shown > 0 for attack in own)
        print(f"{channel:24}{holds:5} of {len(own):<6}{stored:8}{seen:8}{counts}")
    if listed:
        print()
        for attack in every:
            for what, why in attack.broken.items():
                print(f"{attack.id} ({attack.variant}, {attack.form}) not {what}: {why!r}")


def figures(attacks: dict[str, list[Attack]]) -> dict[str, Any]:
    every = [attack for own in attacks.values() for attack in own]
    return {
        "attacks": len(every),
        "held": sum(attack.held for attack in every),
        "channels": {
            channel: {
                "attacks": len(own),
                "held": sum(attack.held for attack in own),
                "stored": sum(attack.stored for attack in own),
                "shown": sum(attack.shown > 0 for attack in own),
                "broken": dict(Counter(what for attack in own for what in attack.broken)),
            }
            for channel, own in attacks.items()
        },
        "not_held": [
            {"id": one.id, "channel": one.channel, "variant": one.variant, "form": one.form, "broken": one.broken}
            for one in every
            if not one.held
        ],
    }
