"""What git knows of a repository that strangers write to: nothing that its own configuration names is run."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

#: The history of a large repository takes git seconds; nobody waits longer for it.
_SECONDS = 10.0
_SETTINGS = (
    "core.fsmonitor=false", "core.quotePath=false", "log.showSignature=false", "protocol.allow=never",
    "core.pager=cat", "core.hooksPath=/dev/null",
)  # fmt: skip


def git_output(folder: Path, *arguments: str, asked: bytes = b"") -> bytes | None:
    """What git prints in this folder, with ``asked`` as its input; None where it fails, is missing or is too slow."""
    import subprocess

    settings = [part for one in _SETTINGS for part in ("-c", one)]
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment = {**kept, "GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1", "GIT_TERMINAL_PROMPT": "0"}
    try:
        done = subprocess.run(  # noqa: S603  (no shell)
            ["git", *settings, "-C", str(folder), *arguments],  # noqa: S607  (the user's own git)
            capture_output=True, check=False, timeout=_SECONDS, env=environment, input=asked,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None
