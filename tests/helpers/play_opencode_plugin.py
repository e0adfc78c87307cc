"""Play three sessions in the real OpenCode with our plugin: the harness sets its server up, and no plugin.

python tests/helpers/play_opencode_plugin.py HARNESS BIN WORK
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path


def main(harness: str, bin_folder: str, work: str) -> None:
    sys.path.insert(0, harness)
    trial = import_module("check_all").Trial("opencode", Path(bin_folder), Path(work))
    trial.helix("setup", "opencode")
    for name in ("fix", "again", "piped"):
        trial.play(name)


if __name__ == "__main__":
    main(*sys.argv[1:])
