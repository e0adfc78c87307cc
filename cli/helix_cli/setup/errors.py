"""Errors of setup and of the plugin's export: files that cannot be edited, commands that failed, folders in use."""

from __future__ import annotations

from pathlib import Path

from helix_episodes.errors import HelixGraphError


class NotEditable(HelixGraphError):
    """A file of settings is not what it should be; ``line`` counts from 1. Nothing was written."""

    def __init__(
        self,
        problem: str,
        *,
        line: int | None = None,
        path: Path | None = None,
        advice: str = "correct the file, or paste what `--print` shows",
    ) -> None:
        self.problem = problem
        self.line = line
        self.path = path
        self.advice = advice
        where = ", ".join([*([str(path)] if path else []), *([f"line {line}"] if line else [])])
        sentence = f"{where}: {problem}" if where else problem
        super().__init__(f"{sentence}; nothing was written: {advice}")

    def at(self, path: Path) -> NotEditable:
        """The same, of a file."""
        return NotEditable(self.problem, line=self.line, path=path, advice=self.advice)
