"""Writes the bundle that desktop programs install with a click: ``python packaging/bundle.py WHEEL FOLDER``.

A bundle (``.mcpb``) is a zip with a manifest, the server's first lines and the wheel; ``uv``, which such programs
bring, installs the wheel's dependencies when the server starts for the first time.
"""

from __future__ import annotations

import json
import sys
import zipfile
from pathlib import Path

PARTS = Path(__file__).parent / "mcpb"
PROJECT = """[project]
name = "helix-graph-bundle"
version = "{version}"
requires-python = ">=3.11"
dependencies = ["helix-graph"]

[tool.uv.sources]
helix-graph = {{ path = "server/{wheel}" }}
"""


def bundle(wheel: Path, folder: Path) -> Path:
    """The bundle's file.

    Raises:
        SystemExit: The wheel is of another version than the manifest.
    """
    version = json.loads((PARTS / "manifest.json").read_text())["version"]
    if f"-{version}-" not in wheel.name:
        sys.exit(f"{wheel.name} is not of version {version}, which packaging/mcpb/manifest.json has")
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"helix-graph-{version}.mcpb"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for part in sorted(one for one in PARTS.rglob("*") if one.is_file() and one.suffix in {".json", ".py"}):
            archive.write(part, part.relative_to(PARTS).as_posix())
        archive.write(wheel, f"server/{wheel.name}")
        archive.writestr("pyproject.toml", PROJECT.format(version=version, wheel=wheel.name))
    return path


if __name__ == "__main__":
    sys.stdout.write(f"{bundle(Path(sys.argv[1]), Path(sys.argv[2]))}\n")
