"""A terminal of our own: what a command writes when a person watches, at any width."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

#: Colours and weights are all that we ever ask of a terminal.
STYLING = re.compile(r"\x1b\[[0-9;]*m")
_SPEAKS_OF_TERMINALS = ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES", "COLORTERM", "PYTHONIOENCODING")


def on_terminal(
    *arguments: str, columns: int, cwd: Path, code: int = 0, typed: str | None = None, **environment: str
) -> str:
    """What the command writes on a terminal so wide, styling included; stderr goes elsewhere.

    With ``typed`` somebody sits there and types it.
    """
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    kept = {name: value for name, value in os.environ.items() if name not in _SPEAKS_OF_TERMINALS}
    running = subprocess.Popen(
        [sys.executable, "-m", "helix_cli", *arguments],
        cwd=cwd,
        stdin=subprocess.DEVNULL if typed is None else theirs,
        stdout=theirs,
        stderr=subprocess.DEVNULL,
        env={**kept, "TERM": "xterm-256color", **environment},
    )
    os.close(theirs)
    if typed is not None:
        os.write(ours, typed.encode())
    written = b"".join(_until_closed(ours))
    os.close(ours)
    assert running.wait() == code
    return written.decode(environment.get("PYTHONIOENCODING", "utf-8")).replace("\r\n", "\n")


def _until_closed(descriptor: int) -> list[bytes]:
    """All that is written; Linux reports the end as an error."""
    read: list[bytes] = []
    try:
        while part := os.read(descriptor, 65536):
            read.append(part)
    except OSError:
        pass
    return read


def unstyled(text: str) -> str:
    """The text without colours and weights; any other escape sequence stays in it."""
    return STYLING.sub("", text)
