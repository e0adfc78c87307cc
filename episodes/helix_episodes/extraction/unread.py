"""Unread: results of which nothing counts but that they came.

A file that was looked at, a page that was fetched, an editor's "the file has been updated" with the file once more:
what a call like these shows when it goes well is neither a failure nor anybody's words, so no later stage reads it. In
the Claude Code corpus that is five eighths of all text. It is let go before secrets are looked for in it; what is not
there can be read by nobody, and needs no cutting.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from helix_episodes.extraction.checks import reports_diagnostics

if TYPE_CHECKING:
    from helix_episodes.session import Operation, Session, Status, Step

#: What is run prints verdicts and commits, and a helper comes back with an answer; every other call just goes well.
_READ: frozenset[Operation | None] = frozenset({"run", "delegate"})
#: Of anything else than success the reason is read.
_UNEVENTFUL: frozenset[Status] = frozenset({"ok", "unknown"})


def without_unread(session: Session) -> Session:
    """The session without the texts of results that nothing is read out of; the results themselves stay."""
    calls = [step for step in session.steps if step.kind == "call" and step.call_id]
    unread = {step.call_id for step in calls} - {step.call_id for step in calls if _is_read(step)}
    steps = (_emptied(step) if step.call_id in unread and _is_uneventful(step) else step for step in session.steps)
    return msgspec.structs.replace(session, steps=tuple(steps))


def _is_read(call: Step) -> bool:
    """Whether the result of a call is read even when all is well."""
    return call.operation in _READ or reports_diagnostics(call.tool)


def _is_uneventful(step: Step) -> bool:
    return step.kind == "result" and step.status in _UNEVENTFUL


def _emptied(result: Step) -> Step:
    return msgspec.structs.replace(result, text="", pieces=())
