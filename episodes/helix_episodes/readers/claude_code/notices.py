"""Notifications: how a call that ran in the background came out, as the program tells the agent later."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from helix_episodes.readers.tags import between

if TYPE_CHECKING:
    from helix_episodes.session import Status

_EXIT_CODE = re.compile(r"exit code (-?\d{1,6})")
_STATUS: dict[str, Status] = {"completed": "ok", "failed": "error", "killed": "interrupted", "stopped": "interrupted"}


class Notice(NamedTuple):
    """What is said about which call or background task."""

    text: str
    status: Status
    exit_code: int | None
    call_id: str
    task: str


def read_notice(text: str) -> Notice:
    """The parts of a ``<task-notification>``.

    >>> read_notice("<task-notification><task-id>b1</task-id><status>failed</status>"
    ...             "<summary>Command failed with exit code 2</summary></task-notification>").exit_code
    2
    """
    summary = _part(text, "summary")
    found = _EXIT_CODE.search(summary)
    return Notice(
        text=_part(text, "result") or summary,
        status=_STATUS.get(_part(text, "status"), "unknown"),
        exit_code=int(found[1]) if found else None,
        call_id=_part(text, "tool-use-id"),
        task=_part(text, "task-id"),
    )


def _part(text: str, tag: str) -> str:
    return between(text, f"<{tag}>", f"</{tag}>").strip()
