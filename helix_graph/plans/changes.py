"""What a task has changed in the working tree, as git sees it.

When a workspace is made, the tree is looked at once (`snapshot`): the commit it stands on, and each file that differs
from it already, by a hash. Later only what differs from *that* counts, so that neither an earlier task's changes that
nobody has committed nor a commit made in between are taken for, or hidden from, the task's own.

What was found belongs to that one tree. Another work tree of the repository that is first seen later, such as one made
for the builder, is compared with the last commit that it has in common with the one that was noted: what is not
committed in one tree is nothing of another's.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec

from helix_graph.plans.errors import NoWorkTree
from helix_graph.plans.work_tree import EMPTY_TREE, GONE, WorkTree

ChangeVerb = Literal["create", "edit", "delete"]


class Baseline(msgspec.Struct, frozen=True, kw_only=True):
    """A working tree at one moment: where it is, its commit, and the hash of each file that differs from that."""

    tree: str
    head: str
    dirty: dict[str, str] = msgspec.field(default_factory=dict)


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """One file that differs from the baseline, from the tree's root on."""

    path: str
    verb: ChangeVerb


def snapshot(folder: Path) -> Baseline:
    """The working tree around ``folder`` as it is now.

    Raises:
        NoWorkTree: There is none, or git cannot be asked.
    """
    tree = WorkTree.around(folder)
    head = tree.head()
    return Baseline(tree=str(tree.top), head=head, dirty=tree.differing(head))


def changes_since(baseline: Baseline, *, tree: Path | None = None) -> tuple[Change, ...]:
    """The files that differ from the baseline, by path; ``tree`` is another work tree of the same repository.

    Raises:
        NoWorkTree: The tree is gone or of another repository, or git cannot be asked.
    """
    if tree is None and not Path(baseline.tree).is_dir():
        raise NoWorkTree(Path(baseline.tree), problem="it is there no more; `--tree` says where the work is now")
    here = WorkTree(Path(baseline.tree)) if tree is None else WorkTree.around(tree)
    start = baseline if str(here.top) == baseline.tree else _first_seen(here, baseline)
    before, after = start.dirty, here.differing(start.head)
    changed = sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))
    there = here.committed(start.head, changed)
    return tuple(_change(path, before, after, known=there) for path in changed)


def _first_seen(tree: WorkTree, baseline: Baseline) -> Baseline:
    """What another tree is compared with: the last commit in common, and nothing that is not committed.

    Raises:
        NoWorkTree: It is of another repository, whose commits have none in common with those.
    """
    if baseline.head == EMPTY_TREE:
        return Baseline(tree=str(tree.top), head=EMPTY_TREE)
    common = tree.common_with(baseline.head)
    if common is None:
        problem = f"it has no commit in common with {baseline.tree}, where the workspace was made"
        raise NoWorkTree(tree.top, problem=problem)
    return Baseline(tree=str(tree.top), head=common)


def _change(path: str, before: dict[str, str], after: dict[str, str], *, known: set[str]) -> Change:
    """A file that no longer differs is as it was committed; else its hash says whether it is there."""
    was_there = before[path] != GONE if path in before else path in known
    is_there = after[path] != GONE if path in after else path in known
    verb: ChangeVerb = "delete" if not is_there else "edit" if was_there else "create"
    return Change(path=path, verb=verb)
