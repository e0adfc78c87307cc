"""How a call came out when its log has no flag, or one that says nothing of the command's end.

Many agents write the exit code of a command into the text that the model sees, on the first line or among the last.
Only a line that is nothing but such a sentence counts: what a command printed may speak of exit codes, too.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from helix_episodes.session import Status

_SENTENCE = re.compile(
    r"\s*[<\[(]?(?:Error: )?(?:(?:Command|Process|shellId: \S{1,40}) )?"
    r"(?:failed |exited |completed |finished )?(?:with )?"
    r"\(?(?:exit |return)code:? (-?\d{1,6})[>\])]{0,2}\.?\s*",
    re.IGNORECASE,
)
_NEW_FILE = re.compile(r"(?:Successfully )?created (?:and wrote to )?(?:a )?(?:new )?file\b", re.IGNORECASE)
# Gemini puts four lines below the one that has the code.
_LAST_LINES = 6
_LONGEST = 120


class Ending(NamedTuple):
    """How a call came out, the exit code if it is known, and the output without the sentence that told it."""

    status: Status
    exit_code: int | None
    text: str


def ending_of(text: str, *, failed: bool | None, ran: bool, exit_code: int | None = None) -> Ending:
    r"""The ending of a call. ``failed`` is the log's own flag, None without one; ``ran`` tells a shell command.

    A command is what its exit code says, whatever the flag: some flag only what could not be started.

    >>> ending_of("1 failed\nCommand failed with exit code: 1.", failed=None, ran=True)
    Ending(status='error', exit_code=1, text='1 failed')
    >>> ending_of("the shop opens", failed=None, ran=False)
    Ending(status='unknown', exit_code=None, text='the shop opens')
    """
    code, rest = (exit_code, text) if exit_code is not None or not ran else _stated(text)
    if code is not None:
        return Ending("error" if code or failed else "ok", code, rest)
    status: Status = "unknown" if failed is None else "error" if failed else "ok"
    return Ending(status, 0 if ran and failed is False else None, rest)


def tells_of_new_file(text: str) -> bool:
    """Whether the result of writing a file says that there was none before.

    >>> tells_of_new_file("Successfully created and wrote to new file: /srv/a.py.")
    True
    """
    return _NEW_FILE.match(text[:_LONGEST]) is not None


def _stated(text: str) -> tuple[int | None, str]:
    lines = text.split("\n")
    places = dict.fromkeys((0, *range(len(lines) - 1, max(len(lines) - 1 - _LAST_LINES, 0), -1)))
    for place in places:
        found = _SENTENCE.fullmatch(lines[place][:_LONGEST])
        if found:
            return int(found[1]), "\n".join([*lines[:place], *lines[place + 1 :]]).strip("\n")
    return None, text
