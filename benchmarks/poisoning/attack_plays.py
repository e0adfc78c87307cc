"""Plays the attacks of each channel on a machine of its own."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

from attack_judging import START, TRUSTED, ask, forget_insights, forget_sessions, judge, judge_refusal, search_disk
from attack_planting import call_tools, forged_export, listening, prepare_clone, send_events
from attack_sessions import session_of, write_session
from attack_worlds import World

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from attack_catalogue import Attack


def play_logs(attacks: Sequence[Attack], root: Path) -> None:
    """Sessions whose logs hold the payloads are extracted; later sessions ask; then the sessions are forgotten."""
    world = World(root)
    world.command("init")
    for attack in attacks:
        write_session(attack, project=world.project, logs=world.logs)
    world.command("episode", "extract", str(world.logs))
    world.command("compile")
    world.command("insight", "harvest")
    ask(world, attacks, sessions=[session_of(attack) for attack in attacks])
    judge(world, attacks)
    forget_sessions(world, [session_of(attack) for attack in attacks])
    search_disk(world, attacks)


def play_imports(attacks: Sequence[Attack], root: Path) -> None:
    world = World(root)
    world.command("init")
    for attack in attacks:
        path = root / f"{attack.id}.jsonl"
        path.write_text("".join(f"{json.dumps(record, separators=(',', ':'))}\n" for record in forged_export(attack)))
        world.command("insight", "import", str(path))
    ask(world, attacks)
    judge(world, attacks)
    forget_insights(world)
    search_disk(world, attacks)


def play_mcp(attacks: Sequence[Attack], root: Path) -> None:
    """An agent that follows injected words calls the tools; a later session asks."""
    world = World(root)
    world.command("init")
    world.command("insight", "store", "--content", TRUSTED)
    world.command("topic", "store", "printing", "decision: labels are printed in batches of ten")
    with world.server() as server:
        for attack in attacks:
            call_tools(world, server, attack)
        server.plant("compile")
    ask(
        world,
        attacks,
        topics=("printing", "shop-totals", *(one.line for one in attacks if one.variant == "topic name")),
    )
    judge(world, attacks)
    raised = world.rows(f"SELECT effectiveness, use_count FROM insight WHERE content = '{TRUSTED}'")  # noqa: S608
    for attack in attacks:
        if attack.variant == "feedback, with a trusted one" and raised and raised[0] != (START, 0):
            attack.breaks(
                "unranked", f"a person's insight that was never shown now has (effectiveness, uses) {raised[0]}"
            )
    forget_insights(world)
    for topic in ("shop-totals", *(attack.line for attack in attacks if attack.variant == "topic name")):
        world.command("topic", "edit", "delete", topic, "--all")
    for attack in attacks:
        if attack.variant == "edit of a person's entry":
            world.command("topic", "edit", "delete", "printing", "--match-str", attack.mark)
    world.command("topic", "topics", "compact")  # a deletion is an entry of the log until then
    forged = [path.stem for path in (*root.rglob("forged-*/*.jsonl"), *world.project.glob("build/*.jsonl"))]
    forget_sessions(world, forged)
    search_disk(world, attacks)


def play_hooks(attacks: Sequence[Attack], root: Path) -> None:
    """Forged events: whoever can start a process or shape an agent's events decides what is in them."""
    world = World(root)
    world.command("init")
    world.command("insight", "store", "--content", TRUSTED)
    sessions: dict[str, list[str]] = {attack.id: send_events(world, attack) for attack in attacks}
    world.wait_until_idle()
    world.command("compile")
    world.command("insight", "harvest")
    world.answers.clear()  # what the forged session itself was answered is no later agent's
    known = [path.stem.removeprefix("episode-") for path in (world.memory / "episodes").glob("episode-*.json")]
    ask(world, attacks, sessions=known)
    judge(world, attacks)
    for attack in attacks:
        outside = [path for path in root.rglob(f"*{attack.mark}*") if world.memory not in path.parents]
        if any(path.suffix != ".jsonl" for path in outside):
            attack.breaks("revocable", f"written outside of the memory: {outside[0]}")
    forget_sessions(world, [*known, *(one for group in sessions.values() for one in group if one.isprintable())])
    search_disk(world, attacks)


def play_clone(attacks: Sequence[Attack], root: Path) -> None:
    """A repository comes with a memory that somebody else has prepared; nobody here has begun or accepted it."""
    attacker, victim = World(root, "attacker"), World(root, "victim")
    with listening() as (address, asked):
        prepare_clone(attacker, attacks, address)
        shutil.copytree(attacker.memory, victim.memory, ignore=shutil.ignore_patterns("*-wal", "*-shm", "*.lock"))
        shutil.copytree(attacker.project / ".serena", victim.project / ".serena")
        said = victim.command("status").text + victim.command("search", "total").text
        ask(victim, attacks, sessions=[session_of(attack) for attack in attacks if "episode" in attack.variant])
        judge_refusal(victim, attacks, said=said)
        for attack in attacks:
            if attack.variant == "config.toml: a server" and asked:
                attack.breaks("refused", f"the server that the repository named was asked: {asked[0][:80]!r}")
    shutil.rmtree(victim.memory)
    shutil.rmtree(victim.project / ".serena")
    search_disk(victim, attacks)
