"""Silence: whether the memory may do anything by itself. Asked at every hook, so it loads nothing."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

OFF_FILE = "off"
OFF_ENVIRONMENT = "HELIX_OFF"


def silenced_by(root: Path) -> str | None:
    """What silences the automatic work of the memory in ``root``, in words; None when nothing does."""
    if os.environ.get(OFF_ENVIRONMENT, "") not in {"", "0"}:
        return f"{OFF_ENVIRONMENT} is set"
    switch = root / OFF_FILE
    return f"{switch} is there" if switch.exists() else None
