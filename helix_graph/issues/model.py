"""Issues and groups of issues, as frozen values.

An *issue* is one fingerprint (`helix_episodes.extraction.fingerprints`): the same failure, wherever it occurs. A
*group* is a check and a family: failures of one kind. Whatever else failures are added up by (file, agent …) gives
rows of the same form.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec

if TYPE_CHECKING:
    from collections.abc import Sequence

#: What failures are added up by; ``recurring`` are issues, and groups whose issues differ from session to session.
By = Literal["recurring", "issue", "group", "file", "check", "agent", "model", "author", "branch"]
#: ``new``: in one session so far. ``quiet``: not seen for so many runs that it may be gone. ``regressed``: it came back
#: after it had been quiet, or after a person had called it resolved. ``muted`` and ``resolved`` are what people say.
State = Literal["new", "recurring", "quiet", "regressed", "muted", "resolved"]
#: How a failure was repaired: by a command after which the check passed, by another command in place of the failed one,
#: by an edit of the file that the failure names, of another file, of several that differ each time, by another try of
#: the same tool, by a marker that silences the check (a habit, never advice).
How = Literal["run", "instead", "edit named", "edit", "edits", "again", "silence"]
COST_NOTE = "Ranked by sessions. Costs say where time went, not where it will go."


class GeneralRemedy(msgspec.Struct, frozen=True, kw_only=True):
    """One kind of change that repaired an issue, over all sessions: in ``times`` of ``of`` repaired occurrences.

    ``what`` is the command (``run``, ``instead``), the file (``edit``) or the files of one repair (``edits``); none for
    the others. ``instead`` counts sessions where nothing was repaired. ``verified`` of these
    times the failing check or call was seen to go well after it. ``example`` is what the latest of them changed, and
    ``diff`` the same line by line where it was an edit (`helix_graph.graph.edit_diff`).
    """

    how: How
    what: str = ""
    times: int
    of: int
    sessions: int
    verified: int
    example: str = ""
    diff: tuple[str, ...] = ()
    session: str = ""
    log: str | None = None
    line: int | None = None


class Issue(msgspec.Struct, frozen=True, kw_only=True):
    """One row: an issue, a group, or what else failures were added up by.

    ``thing`` is the test, symbol or message that an issue is about (`Mention.thing`), of a group the one that took
    most, in ``thing_minutes``. ``steps``, ``minutes`` and ``tokens`` are what all occurrences took
    (`helix_episodes.model.Cost`); None where no log has them. ``kinds`` counts the different issues in a group.
    ``runs`` counts the results that show it: one run of a linter may break many rules. ``suppressed`` of the
    ``repaired`` occurrences were silenced by a marker.
    ``since`` counts the runs of its check since it was last seen, or the sessions (``unit`` says which). ``remedy`` is
    the best one that two sessions have in common, or what they ran instead where nothing was repaired.
    ``files`` are the commonest, with how many sessions each.
    """

    id: str
    kind: By
    title: str
    message: str = ""
    thing: str = ""
    thing_minutes: float | None = None
    check: str = ""
    family: str = ""
    state: State | None = None
    since: int = 0
    unit: Literal["runs", "sessions"] = "sessions"
    reason: str = ""
    first_seen: str | None = None
    last_seen: str | None = None
    occurrences: int = 0
    runs: int = 0
    kinds: int = 1
    sessions: int = 0
    agents: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    steps: float | None = None
    minutes: float | None = None
    tokens: int | None = None
    repaired: int = 0
    verified: int = 0
    remedy: GeneralRemedy | None = None
    suppressed: int = 0
    files: tuple[tuple[str, int], ...] = ()


class IssueList(msgspec.Struct, frozen=True, kw_only=True):
    """The rows that were asked for, those of most sessions first.

    ``sessions`` counts all sessions of the memory, ``rows`` all rows there are, ``once`` those that one session only
    met, ``hidden`` those that people muted or resolved, ``hidden_by_others`` those of them where git tracks what was
    said, ``deliberate`` failures that were meant to come. ``minutes`` are those that all failures took, reports of
    people included.
    """

    by: By
    issues: tuple[Issue, ...]
    sessions: int
    rows: int
    once: int = 0
    hidden: int = 0
    hidden_by_others: int = 0
    deliberate: int = 0
    minutes: float | None = None
    note: str = COST_NOTE


class Occurrence(msgspec.Struct, frozen=True, kw_only=True):
    """One time that an issue was met; ``ended`` says where its cost ends (`helix_episodes.model.CostEnd`).

    ``instead`` is the command that worked in place of the failed one, where no occurrence was repaired.
    """

    session: str
    episode: str
    event: str
    date: str | None
    message: str
    path: str | None
    log: str | None
    line: int | None
    repaired: bool
    verified_by: str | None
    ended: str | None
    steps: float | None
    minutes: float | None
    tokens: int | None
    changes: tuple[str, ...] = ()
    deliberate: bool = False
    agent: str | None = None
    author: str = ""
    instead: str = ""


class SimilarIssue(msgspec.Struct, frozen=True, kw_only=True):
    """Another issue of the same group."""

    id: str
    title: str
    message: str
    sessions: int


class IssueDetails(msgspec.Struct, frozen=True, kw_only=True):
    """An issue or a group with every occurrence, the oldest first, all its remedies, and other issues of its group."""

    issue: Issue
    occurrences: tuple[Occurrence, ...]
    remedies: tuple[GeneralRemedy, ...]
    similar: tuple[SimilarIssue, ...]


class IssueStatementMade(msgspec.Struct, frozen=True, kw_only=True):
    """An issue of which a person has just said something, and its state now."""

    id: str
    title: str
    state: State


def remedy_words(remedy: GeneralRemedy) -> str:
    """A remedy in words.

    >>> remedy_words(GeneralRemedy(how="run", what="bun run lint:fix", times=18, of=20, sessions=17, verified=18))
    'run bun run lint:fix (18 of 20)'
    """
    words = {
        "run": f"run {remedy.what}",
        "instead": f"run {remedy.what} instead",
        "edit named": "edit the file that it names",
        "edit": f"edit {remedy.what}",
        "edits": f"edit {remedy.what}" if remedy.what else "edits of other files, different each time",
        "again": "a later call of the same tool",
        "silence": "a marker that silences the check",
    }[remedy.how]
    return f"{words} ({remedy.times} of {remedy.of})"


def repair_words(issue: Issue, remedies: Sequence[GeneralRemedy]) -> str:
    """What repaired an issue, in one sentence without its period; ``remedies`` are all that it has.

    >>> silence = GeneralRemedy(how="silence", times=3, of=3, sessions=3, verified=3)
    >>> repair_words(Issue(id="", kind="issue", title="", repaired=3, suppressed=3), [silence])
    'Only silenced by a marker (3 of 3)'
    """
    others = [one for one in remedies if one.how != "silence"]
    if issue.remedy is not None:
        return f"Best remedy: {best_words(issue)}"
    if not issue.repaired:
        return "Not repaired in any of its sessions"
    if not remedies:
        return "Repaired; what changed is not recorded"
    if not others:
        return f"Only silenced by a marker ({issue.suppressed} of {issue.repaired})"
    if others[0].how == "again":
        return f"Got past by {remedy_words(others[0])}{_silenced(issue)}"
    one_way = len(remedies) == 1 and others[0].times == issue.repaired
    words = "differently each time"
    if one_way or issue.repaired == 1:
        words = f"by: {remedy_words(others[0])}"
    return f"Repaired {words}{_silenced(issue)}"


def best_words(issue: Issue) -> str:
    """The best remedy of an issue; where a marker silenced it, that too.

    >>> remedy = GeneralRemedy(how="edit named", times=15, of=27, sessions=9, verified=15)
    >>> best_words(Issue(id="", kind="issue", title="", repaired=27, remedy=remedy, suppressed=16))
    'edit the file that it names (15 of 27; silenced 16 times)'
    """
    if issue.remedy is None:
        return ""
    words = remedy_words(issue.remedy)
    return f"{words.removesuffix(')')}{_silenced(issue)})"


def _silenced(issue: Issue) -> str:
    times = "once" if issue.suppressed == 1 else f"{issue.suppressed} times"
    return f"; silenced {times}" if issue.suppressed else ""
