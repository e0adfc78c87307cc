"""What can go wrong with a model, all of them children of `HelixGraphError`.

::

    HelixGraphError              (helix_episodes.errors)
    ├── NoEmbedder                   vectors were demanded, and weights or an engine are missing
    ├── WeightsRefused               weights that are not there, or not what they should be
    └── InstallFailed                the model's weights or packages could not be brought here
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from helix_episodes.errors import HelixGraphError

if TYPE_CHECKING:
    from pathlib import Path


class NoEmbedder(HelixGraphError):
    """Vectors were demanded where there are none to be had; ``reason`` and ``remedy`` are those of `model status`."""

    def __init__(self, *, reason: str, remedy: str) -> None:
        self.reason = reason
        self.remedy = remedy
        super().__init__(f"texts cannot be compared by meaning: {reason}; {remedy}")


class WeightsRefused(HelixGraphError):
    """The folder of a model that was named is no such model's, or a damaged one's."""

    def __init__(self, *, path: Path, problem: str) -> None:
        self.path = path
        self.problem = problem
        super().__init__(f"{path} is not used as a model: {problem}; name a folder that holds the model's files")


class InstallFailed(HelixGraphError):
    """A step of `model install` failed; those before it stand, and calling it again goes on from there."""

    def __init__(self, *, step: str, problem: str) -> None:
        self.step = step
        self.problem = problem
        super().__init__(
            f"{step} failed ({problem}); without a network, `helix-graph model install --from DIR` copies the model "
            "from a folder"
        )
