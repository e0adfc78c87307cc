"""Assertions: can they be read, is each there once, do they hold secrets?

A file that is none says nothing, and a copy counts no second time (`helix_graph.graph.assertions.distinct`); both are
set aside, so that nobody takes them for what they look like.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from helix_episodes.files import irregularity
from helix_graph.doctor.irregular import irregular_file
from helix_graph.doctor.model import trouble
from helix_graph.doctor.secrets import secret_troubles
from helix_graph.errors import InvalidAssertion
from helix_graph.graph.assertions import AssertionStore, name_of
from helix_graph.setting_aside import ASSERTIONS, EPISODES, FOLDER, set_aside

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from helix_graph.doctor.model import Trouble
    from helix_graph.graph.assertions import Assertion


def assertion_troubles(root: Path, folder: Path) -> Iterator[Trouble]:
    """Everything that is wrong with the assertions in a folder."""
    store = AssertionStore(folder)
    for path in store.files():
        if problem := irregularity(path):
            yield irregular_file(root, path, problem)
        else:
            yield from secret_troubles(root, path)
    originals: dict[str, Path] = {}
    for path, one in sorted(store.scan(), key=lambda each: _is_misnamed(*each)):
        name = path.relative_to(root).as_posix()
        if irregularity(path):  # told above
            continue
        if isinstance(one, InvalidAssertion):
            remedy = "mend it, or helix-graph doctor --fix sets it aside"
            yield trouble("unreadable assertion", name, one.problem, remedy, mend=partial(set_aside, root, path))
        elif originals.setdefault(name_of(one), path) != path:
            problem = f"it says the same as {originals[name_of(one)].name}, and counts no second time"
            remedy = "helix-graph doctor --fix sets it aside"
            yield trouble("copied assertion", name, problem, remedy, mend=partial(set_aside, root, path))


def aside_troubles(root: Path) -> Iterator[Trouble]:
    """Secrets in what was set aside."""
    for kind in (EPISODES, ASSERTIONS):
        for path in sorted((root / FOLDER / kind).glob("*.json")):
            yield from secret_troubles(root, path)


def _is_misnamed(path: Path, one: Assertion | InvalidAssertion) -> bool:
    """Whether the file has not the assertion's own name: of two that say the same, that one is the copy."""
    return not isinstance(one, InvalidAssertion) and name_of(one) != path.stem
