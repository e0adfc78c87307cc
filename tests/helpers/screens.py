"""A command run in this process, with a stdout of our choosing: a pipe, or a screen of any width and encoding."""

from __future__ import annotations

import io
import sys
from typing import NamedTuple

import pytest

from helix_cli.app import run


class Stream(io.TextIOWrapper):
    """What a command writes to; a terminal when it is said to be one."""

    def __init__(self, *, terminal: bool, encoding: str) -> None:
        self._written = io.BytesIO()
        self._terminal = terminal
        super().__init__(self._written, encoding=encoding, newline="\n", write_through=True)

    def isatty(self) -> bool:
        return self._terminal

    def told(self) -> str:
        """All that was written."""
        self.flush()
        return self._written.getvalue().decode(self.encoding)


class Shown(NamedTuple):
    """What a command wrote, and its exit code."""

    out: str
    err: str
    code: int


def shown(*arguments: str, columns: int | None = None, encoding: str = "utf-8", **environment: str) -> Shown:
    """Runs a command before a screen of so many ``columns``, or into a pipe when there are none."""
    out = Stream(terminal=columns is not None, encoding=encoding)
    err = Stream(terminal=False, encoding=encoding)
    known = {"TERM": "xterm-256color", "COLUMNS": str(columns or 80), **environment}
    with pytest.MonkeyPatch.context() as patch:
        for name in ("NO_COLOR", "FORCE_COLOR", "COLORTERM"):
            patch.delenv(name, raising=False)
        for name, value in known.items():
            patch.setenv(name, value)
        patch.setattr(sys, "stdout", out)
        patch.setattr(sys, "stderr", err)
        code = run(arguments)
    return Shown(out.told(), err.told(), code)
