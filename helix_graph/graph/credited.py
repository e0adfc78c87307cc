"""Of an error that was repaired: the change that answers it, and the run that shows it.

An ``answer`` link of an episode is what the agent did first about an error, recorded without looking at how it came
out, because rates are computed from it. A path from an error is asked for what repaired it. That is among the changes
of the error's fix, which are those between the last run that showed it and the first that did not.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from helix_episodes.light_imports import Regex

if TYPE_CHECKING:
    from collections.abc import Iterator

    from helix_episodes.model import CommandRun, Decision, Episode, Event, Fix


#: A name within a message: words of prose have neither a capital after a small letter nor an underscore.
_NAME_IN_MESSAGE = Regex(r"[A-Za-z_]*(?:[a-z][A-Z]|_)\w+")


def credited_answers(episode: Episode) -> dict[str, str]:
    """By error that a change repaired the change that speaks for itself.

    For a failed test, which names itself, that is the last one, if there is any outside of tests the last of those,
    else the last to its own file.
    Else it is the first that has an edit which speaks of the message, or writes a name of it, or its file.
    """
    if not episode.fixes:
        return {}
    decisions = {one.id: one for one in episode.decisions}
    events = {one.id: one for one in episode.events}
    found: dict[str, str] = {}
    for fix in episode.fixes:
        changes = [decisions[name] for name in fix.changes if name in decisions]
        error = events.get(fix.error)
        if error is None or not changes:
            continue
        if len(changes) == 1:
            found[error.id] = changes[0].id
        elif error.tests or (error.family or "").endswith("test failed"):
            found[error.id] = max(reversed(changes), key=partial(_repairs_test, fix=fix, error=error)).id
        else:
            names = frozenset(_NAME_IN_MESSAGE.findall(error.message or ""))
            found[error.id] = max(changes, key=partial(_aptness, fix=fix, error=error, names=names)).id
    return found


def _repairs_test(change: Decision, *, fix: Fix, error: Event) -> tuple[bool, bool, bool]:
    path = change.action.path if change.action else None
    outside = change.action is not None and path is not None and change.action.role != "test"
    return (
        change.id not in fix.loose,
        outside,
        bool(path and error.path) and _name(path or "") == _name(error.path or ""),
    )


def _aptness(change: Decision, *, fix: Fix, error: Event, names: frozenset[str]) -> tuple[bool, bool, bool, bool]:
    path = change.action.path if change.action else None
    written = f"{change.evidence.replaced}\n{change.evidence.quote}" if change.evidence else ""
    return (
        change.id not in fix.loose,
        any(one.change == change.id for one in fix.edits),
        any(name in written for name in names),
        bool(path and error.path) and _name(path or "") == _name(error.path or ""),
    )


def _name(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]


def repaired_passes(episode: Episode) -> Iterator[tuple[str, str, bool]]:
    """Each change that a fix credits, the passing run that verifies it, and whether that is loose.

    Only where no link joins the two already.

    A link joins a change to the next run; a test may go on failing for other reasons before it passes. Other checks
    list all they find: one that fails again in between was not brought to pass by the change alone.
    """
    if not any(fix.verified_by for fix in episode.fixes):
        return
    decisions = {one.id: one for one in episode.decisions}
    events = {one.id: one for one in episode.events}
    linked = {(link.source, link.target) for link in episode.links}
    for fix in episode.fixes:
        passed, error = events.get(fix.verified_by or ""), events.get(fix.error)
        if passed is None or error is None or passed.type != "test" or passed.check != error.check:
            continue
        for change in (decisions[name] for name in fix.changes if name in decisions):
            failing = any(_is_between(run, change, passed) for run in episode.runs if run.check == error.check)
            if (change.id, passed.id) not in linked and not failing:
                yield change.id, passed.id, change.id in fix.loose or len(fix.changes) > 1


def _is_between(run: CommandRun, change: Decision, passed: Event) -> bool:
    """Whether a run of no test fails after a change and before a check passes."""
    if run.passed is not False or run.kind == "test" or run.evidence is None:
        return False
    after = change.evidence is None or run.evidence.line > change.evidence.line
    return after and (passed.evidence is None or run.evidence.line < passed.evidence.line)
