"""Every place of a log where a text stands, and logs that have another text at one of them."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from session_script import Script

if TYPE_CHECKING:
    from collections.abc import Iterator

    Place = tuple[int, tuple[str | int, ...]]


def working_session(name: str) -> list[dict[str, Any]]:
    """Records of a session: thoughts, checks that fail and pass, edits, a commit, a tool, a helper and a lesson."""
    missing = "ModuleNotFoundError: No module named 'respx'"
    output = (
        f"E   {missing}\n\ntests/test_cart.py:12: ModuleNotFoundError\nFAILED tests/test_cart.py - {missing}\n1 failed"
    )
    unused = "shop/cart.py:1:8: F401 [*] `json` imported but unused\nFound 1 error."
    helper = {"description": "Look at it", "prompt": "Find the cause", "subagent_type": "general-purpose"}
    log = Script(name).prompt("Fix the labels of the shop").think("I look at the tests first")
    log.run("git status --short", " M shop/cart.py").run("pytest -q", output, code=1)
    log.say("respx is missing because it is not in the requirements. I add it.")
    log.edit("requirements-dev.txt", "a", "respx==0.21").run("pip install respx", "Successfully installed respx")
    log.run("pytest -q", "14 passed in 0.3s").run("ruff check .", unused, code=1).edit("shop/cart.py")
    log.run("ruff check .", "All checks passed!").run(
        "git commit -m 'Fix labels'", "[main 8d2e1b0] Fix labels\n 1 file"
    )
    log.call("mcp__acme__book", {"flight": "A1", "seat": "3"}, error="Error: no seat left")
    log.call("Task", helper, output="Done: it was the cache.")
    log.say("Lesson learned: always add test packages to the requirements. All 14 tests pass.")
    return log.prompt("thanks, that works").records


def positions(records: list[dict[str, Any]]) -> dict[tuple[object, ...], list[Place]]:
    """The places of each field that has texts, by the type of its record and its path within it."""
    found: dict[tuple[object, ...], list[Place]] = {}
    for number, record in enumerate(records):
        for path in _texts(record):
            key = (record.get("type"), *("*" if isinstance(part, int) else part for part in path))
            found.setdefault(key, []).append((number, path))
    return found


def changed(records: list[dict[str, Any]], places: list[Place], form: str) -> list[dict[str, Any]]:
    """The records with other texts at these places; ``{}`` in their form stands for what was there."""
    records = copy.deepcopy(records)
    for number, path in places:
        holder: Any = records[number]
        for part in path[:-1]:
            holder = holder[part]
        holder[path[-1]] = form.format(holder[path[-1]])
    return records


def _texts(value: object, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    if isinstance(value, str):
        yield path
    elif isinstance(value, dict):
        for name, each in value.items():
            yield from _texts(each, (*path, name))
    elif isinstance(value, list):
        for number, each in enumerate(value):
            yield from _texts(each, (*path, number))
