"""Issues and groups of issues, as frozen values.

An *issue* is one fingerprint (`helix_episodes.extraction.fingerprints`): the same failure, wherever it occurs. A
*group* is a check and a family: failures of one kind. Whatever else failures are added up by (file, agent …) gives
rows of the same form.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, Literal

import msgspec

from helix_episodes.light_imports import Regex

if TYPE_CHECKING:
    from collections.abc import Sequence

#: What failures are added up by; ``recurring`` are issues, and groups whose issues differ from session to session.
By = Literal["recurring", "issue", "group", "file", "check", "agent", "model", "author", "branch"]
#: ``new``: in one session so far. ``quiet``: not seen for so many runs that it may be gone. ``regressed``: it came back
#: after it had been quiet, or after a person had called it resolved. ``muted`` and ``resolved`` are what people say.
State = Literal["new", "recurring", "quiet", "regressed", "muted", "resolved"]
#: How a failure was repaired: by a command after which the check passed, by another command in place of the failed one,
#: by an edit of the file that the failure names, of nothing but the failing test, of another file, of several that
#: differ each time, by another try of the same tool, by a marker that silences the check (a habit, never advice).
How = Literal["run", "instead", "edit named", "edit test", "edit", "edits", "again", "silence"]
#: So many different commands that worked instead are named.
_MOST_CALLS = 3
_ID = Regex(r"[0-9a-f]{4,16}")
COST_NOTE = "Ranked by sessions. Costs say where time went, not where it will go."


def issue_id(kind: By, key: str) -> str:
    """The id of an issue or a group: the fingerprint, or 16 digits of the same kind."""
    if kind == "issue" and _ID.fullmatch(key):
        return key
    return blake2b(f"{kind}\0{key}".encode(), digest_size=8).hexdigest()


class GeneralRemedy(msgspec.Struct, frozen=True, kw_only=True):
    """One kind of change that repaired an issue, over all sessions: in ``times`` of ``of`` repaired occurrences.

    ``what`` is the command (``run``, ``instead``), the file (``edit``) or the files of one repair (``edits``); none for
    the others. ``instead`` counts sessions; where they ran different commands, ``called``
    and ``change`` say what these have in common (`helix_graph.causality.workarounds`). ``each`` has the different
    commands or files with how often each was used. ``verified`` of these
    times the failing check or call was seen to go well after it. ``example`` is what the latest of them changed, and
    ``diff`` the same line by line where it was an edit (`helix_graph.issues.remedies`).
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
    called: str = ""
    change: str = ""
    each: tuple[tuple[str, int], ...] = ()


class Issue(msgspec.Struct, frozen=True, kw_only=True):
    """One row: an issue, a group, or what else failures were added up by.

    ``thing`` is the test, symbol or message that an issue, or most of a group, is about (`Mention.thing`). ``steps``,
    ``minutes`` and ``tokens`` are what all occurrences took (`helix_episodes.model.Cost`); None where no log has them.
    ``kinds`` counts the different issues in a group.
    ``runs`` counts the results that show it: one run of a linter may break many rules. ``suppressed`` of the
    ``repaired`` occurrences were only silenced, by a marker.
    ``since`` counts the runs of its check since it was last seen, or the sessions (``unit`` says which). ``remedy`` is
    the best one that two sessions have in common, or what they ran instead where nothing was repaired.
    ``files`` are the commonest, with how many sessions each. Without a best remedy ``way`` is what repaired it most
    often, without its example.
    """

    id: str
    kind: By
    title: str
    message: str = ""
    thing: str = ""
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
    way: GeneralRemedy | None = None


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
        "instead": common_way(remedy) or f"run {remedy.what} instead",
        "edit named": "edit the file that it names",
        "edit test": "edit the test itself",
        "edit": f"edit {remedy.what}",
        "edits": f"edit {remedy.what}" if remedy.times == 1 else f"edits of {remedy.what}",
        "again": "calling the tool again",
        "silence": "a marker that silences the check",
    }[remedy.how]
    return f"{words} ({remedy.times:,} of {remedy.of:,}{_calls(remedy)})"


def common_way(remedy: GeneralRemedy) -> str:
    """What the different commands that worked instead have in common; empty where they were one command."""
    from helix_graph.causality.workarounds import way_words

    return way_words(remedy.called, remedy.change) if remedy.called else ""


def _calls(remedy: GeneralRemedy) -> str:
    """The different commands that worked instead, each with its times."""
    if not remedy.called:
        return ""
    shown = [f"{command} in {times}" for command, times in remedy.each[:_MOST_CALLS]]
    more = [f"{len(remedy.each) - _MOST_CALLS} more"] if remedy.each[_MOST_CALLS:] else []
    return f"; {', '.join(shown + more)}"


def repaired_words(issue: Issue) -> str:
    """How often an issue was repaired; where another command worked instead, in how many sessions that was.

    What a marker silenced is gone and not repaired, so it is told apart.

    >>> repaired_words(Issue(id="", kind="issue", title="", occurrences=3, repaired=2))
    'repaired 2 of 3'
    >>> repaired_words(Issue(id="", kind="issue", title="", occurrences=26, repaired=25, suppressed=10))
    'repaired 15 of 26, silenced 10'
    """
    remedy = issue.remedy
    if remedy is None or remedy.how != "instead":
        silenced = f", silenced {issue.suppressed:,}" if issue.suppressed else ""
        return f"repaired {issue.repaired - issue.suppressed:,} of {issue.occurrences:,}{silenced}"
    last = "the last " if remedy.of < issue.sessions else ""
    return f"avoided by another command in {remedy.times:,} of {last}{remedy.of:,} sessions"


def repair_words(issue: Issue) -> str:
    """What repaired an issue, in one sentence without its period.

    >>> repair_words(Issue(id="", kind="issue", title="", repaired=3, suppressed=3))
    'Only silenced by a marker (3 of 3)'
    >>> test = GeneralRemedy(how="edit test", times=13, of=17, sessions=9, verified=13)
    >>> repair_words(Issue(id="", kind="group", title="", repaired=17, way=test))
    'Fixed in different ways; in 13 of 17 only the test itself was edited'
    """
    way = issue.way
    if issue.remedy is not None:
        return remedy_sentence(issue)
    if not issue.repaired:
        return "Not repaired in any of its sessions"
    if way is None:
        only = f"Only silenced by a marker ({issue.suppressed:,} of {issue.repaired:,})"
        return only if issue.suppressed else "Repaired; what changed is not recorded"
    if way.how == "again":
        words = f"Got past by {remedy_words(way)}"
    elif way.how == "edits" and way.times > 1:
        one_each = " in one, ".join(name for name, _ in way.each)
        words = f"No common fix: {f'{one_each} in the other' if way.each else way.what}"
    elif way.times == issue.repaired:
        words = f"Repaired by: {remedy_words(way)}"
    elif way.how == "edit test" and way.sessions > 1:
        words = f"Fixed in different ways; in {way.times:,} of {way.of:,} only the test itself was edited"
    elif way.times > 1:
        words = f"Fixed in different ways, most often: {remedy_words(way)}"
    else:
        words = "No common fix"
    return f"{words}{_silenced(issue)}"


def remedies_heading(remedies: Sequence[GeneralRemedy]) -> str:
    """What a list of remedies is called: to call a tool again got past a failure and repaired nothing."""
    if all(one.how == "instead" for one in remedies):
        return "What worked instead"
    got_past = bool(remedies) and all(one.how in {"again", "silence"} for one in remedies)
    return "How it was got past" if got_past else "What repaired it"


def remedy_sentence(issue: Issue) -> str:
    """The remedy that sessions have in common, with what that says; where a marker silenced the issue, that too.

    >>> named = GeneralRemedy(how="edit named", times=15, of=27, sessions=9, verified=15)
    >>> remedy_sentence(Issue(id="", kind="issue", title="", repaired=27, remedy=named, suppressed=12))
    'Repaired by an edit of the file that it names (15 of 27; silenced 12 times)'
    >>> run = GeneralRemedy(how="run", what="make fmt", times=9, of=10, sessions=9, verified=9)
    >>> remedy_sentence(Issue(id="", kind="issue", title="", repaired=10, remedy=run))
    'Best remedy: run make fmt (9 of 10)'
    """
    remedy = issue.remedy
    if remedy is None:
        return ""
    if remedy.how == "edit named":
        words = f"Repaired by an edit of the file that it names ({remedy.times:,} of {remedy.of:,})"
    elif remedy.how == "instead":
        last = "the last " if remedy.of < issue.sessions else ""
        met = f"{remedy.times} of {last}{remedy.of} sessions{_calls(remedy)}"
        words = f"What worked instead: {common_way(remedy) or remedy.what} ({met})"
    else:
        often = "Best remedy" if 2 * remedy.times >= remedy.of else "Fixed in different ways, most often"
        words = f"{often}: {remedy_words(remedy)}"
    return f"{words.removesuffix(')')}{_silenced(issue)})"


def _silenced(issue: Issue) -> str:
    times = "once" if issue.suppressed == 1 else f"{issue.suppressed:,} times"
    return f"; silenced {times}" if issue.suppressed else ""
