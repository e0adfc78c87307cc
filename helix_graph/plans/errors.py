"""What can go wrong with plans, as one branch of the family.

::

    HelixGraphError              (helix_episodes.errors)
    └── PlanError
        ├── NoPlan                   no plan of that number, or none that is active
        ├── NoTask                   the plan has no task of that number
        ├── NoWorkspace              no workspace of that number
        ├── InvalidPlan              a plan or task that cannot be carried out: the offending part is named
        ├── InvalidExploration       findings that are no JSON object
        ├── WorkspaceClosed          it ended otherwise before
        ├── TaskComplete             another attempt at what is delivered already
        ├── NotAFileName             a task or agent whose name could lead elsewhere
        ├── WrongTaskIds             ids that do not go with their tasks one by one
        └── NoWorkTree               the working tree cannot be compared: no git, or not its folder
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from helix_episodes.errors import HelixGraphError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


class PlanError(HelixGraphError):
    """Something is wrong with a plan, a workspace, or what is asked of them."""


class NoPlan(PlanError):
    """There is no such plan; ``plan`` is None where the active one was asked for."""

    def __init__(self, plan: int | None) -> None:
        self.plan = plan
        what = "no plan is active" if plan is None else f"there is no plan {plan}"
        super().__init__(f"{what}; `helix-graph plan save FILE` saves one")


class NoTask(PlanError):
    """The plan has no such task; ``known`` are those it has."""

    def __init__(self, seq: str, *, plan: int, known: Sequence[str]) -> None:
        self.seq = seq
        self.plan = plan
        self.known = tuple(known)
        super().__init__(f"plan {plan} has no task {seq!r}; it has {', '.join(self.known) or 'none'}")


class NoWorkspace(PlanError):
    """There is no such workspace."""

    def __init__(self, workspace: int) -> None:
        self.workspace = workspace
        super().__init__(f"there is no workspace {workspace}; `helix-graph workspace create SEQ` makes one")


class InvalidPlan(PlanError):
    """A plan that is refused as a whole. ``where`` is the part at fault: ``tasks[2].depends``."""

    def __init__(self, where: str, *, problem: str) -> None:
        self.where = where
        self.problem = problem
        super().__init__(f"not a plan that can be carried out: {where}: {problem}")


class InvalidExploration(PlanError):
    """What explorers found has to be a JSON object."""

    def __init__(self, problem: str) -> None:
        self.problem = problem
        super().__init__(f"not an exploration: {problem}; give a JSON object")


class WorkspaceClosed(PlanError):
    """A workspace ends once; ``status`` is how it ended."""

    def __init__(self, workspace: int, *, status: str, wanted: str) -> None:
        self.workspace = workspace
        self.status = status
        self.wanted = wanted
        super().__init__(
            f"workspace {workspace} is {status} already and cannot become {wanted}; create another for a new attempt"
        )


class TaskComplete(PlanError):
    """An attempt would take back what another has delivered."""

    def __init__(self, seq: str, *, plan: int) -> None:
        self.seq = seq
        self.plan = plan
        super().__init__(
            f"task {seq} of plan {plan} is complete; `helix-graph plan update {seq} --status pending` opens it again"
        )


class NotAFileName(PlanError, UsageError):
    """A name by which no file may be called."""

    def __init__(self, option: str, *, name: str) -> None:
        self.option = option
        self.name = name
        super().__init__(
            f"{option} is {name!r}, which cannot name a file: use letters, digits, '.', '_' and '-', beginning with a "
            "letter or digit, at most 128 of them"
        )


class WrongTaskIds(PlanError, UsageError):
    """Ids of which one would fall to the wrong task, or to none."""

    def __init__(self, option: str, *, problem: str) -> None:
        self.option = option
        self.problem = problem
        super().__init__(f"{option}: {problem}; give each task an id of its own, in the order of the tasks")


class NoWorkTree(PlanError):
    """What has changed cannot be told."""

    def __init__(self, folder: Path, *, problem: str) -> None:
        self.folder = folder
        self.problem = problem
        super().__init__(f"{folder}: its changes cannot be compared with a delta ({problem})")
