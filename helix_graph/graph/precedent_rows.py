"""One precedent as a row: an earlier error, the changes that may have repaired it, and what was tried.

Rows have the field names of `helix_graph.graph.model.Precedent`. A hook reads them, so the module imports little.
"""

from __future__ import annotations

from helix_episodes.light_imports import Value
from helix_graph.graph import MILLION

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator
    from typing import Any

    Row = dict[str, Any]


#: Later attempts at what failed are about something else.
_MOST_ATTEMPTS = 6
_PRECEDENT = (
    "episode", "session", "date", "task", "outcome", "label", "message", "path", "log", "line", "quote", "reply"
)  # fmt: skip
_REMEDY = (
    "label", "chosen", "path", "command", "verified", "verified_by", "share", "rationale", "log", "line", "quote",
    "repaired", "replaced",
)  # fmt: skip
#: How a text ends that was cut: what lay behind it is not known.
_CUT = "\u2026"
_ATTEMPT = ("chosen", "command", "line", "message", "again")


class Past(Value):
    """The graph that is asked, and a time that sorts (`helix_episodes.model.sortable_time`); "" where all counts.

    Only sessions that had begun by then count, and of those only what was done by then.
    """

    connection: sqlite3.Connection
    before: str = ""

    def holds(self, timestamp: str | None) -> bool:
        """Whether something was done by then, as far as its time is known."""
        if not (self.before and timestamp):
            return True
        from helix_episodes.model import sortable_time

        return sortable_time(timestamp) < self.before

    def issues_of(self, episode: int, local: str) -> list[str]:
        """The fingerprints of an error."""
        rows = self.connection.execute(
            "SELECT fingerprint FROM issue WHERE episode = ? AND local = ?", (episode, local)
        )
        return [one for (one,) in rows]


class PrecedentHit(Value):
    """One earlier occurrence: how it is known, and what it is ranked by; the smaller rank is the better."""

    level: str
    episode: int
    local: str
    fixed: bool = False
    own: bool = True
    rank: tuple[int, ...] = ()


def precedent_row(past: Past, hit: PrecedentHit) -> Row:
    """The error of a hit with its changes."""
    row = past.connection.execute(
        "SELECT e.id, e.session, e.timestamp, e.task, e.outcome, n.label, coalesce(m.message, m.raw), m.path, m.log,"
        " m.line, m.quote, m.rationale FROM mention m JOIN node n ON n.number = m.node"
        " JOIN episode e ON e.number = m.episode WHERE m.episode = ? AND m.local = ?",
        (hit.episode, hit.local),
    ).fetchone()
    fixes = list(_remedies(past, hit))
    fields = dict(zip(_PRECEDENT, row, strict=True))
    return {
        **fields,
        "level": hit.level,
        "own": hit.own,
        "fixed": any(fix["verified"] for fix in fixes),
        "fixes": fixes,
    }


def _remedies(past: Past, hit: PrecedentHit) -> Iterator[Row]:
    """The changes that may have repaired an error, in the order they were made; repeats of one are one."""
    rows = past.connection.execute(
        "SELECT m.timestamp, n.label, m.raw, m.path, m.command, r.verified_by IS NOT NULL,"
        " coalesce(v.raw, r.verified_by), sum(r.share), m.rationale, m.log, coalesce(r.line, m.line),"
        " coalesce(r.quote, m.quote), (SELECT count(DISTINCT x.error) FROM repair x"
        " WHERE x.episode = r.episode AND x.change = r.change AND x.line IS r.line),"
        " iif(r.quote IS NULL, m.replaced, r.replaced) FROM repair r"
        " JOIN mention m ON m.episode = r.episode AND m.local = r.change JOIN node n ON n.number = m.node"
        " LEFT JOIN mention v ON v.episode = r.episode AND v.local = r.verified_by"
        " WHERE r.episode = ? AND r.error = ? AND r.silences = 0"
        " GROUP BY n.label, m.raw, m.path, m.command, r.verified_by"
        " ORDER BY min(m.local)",
        (hit.episode, hit.local),
    )
    for at, *row in rows:
        if not past.holds(at):
            continue
        fields = dict(zip(_REMEDY, row, strict=True))
        share = fields["share"] / MILLION
        deleted = _deleted(replaced=fields.pop("replaced") or "", wrote=fields["quote"] or "")
        yield {
            **fields,
            "deleted": [] if fields["command"] else deleted,
            "verified": bool(fields["verified"]),
            "share": share,
            "state": None,
            "now_at": None,
        }


def _deleted(*, replaced: str, wrote: str) -> list[str]:
    """The lines that went by an edit that wrote none: what it kept says nothing of the repair."""
    before, after = ([line.strip() for line in text.splitlines() if line.strip()] for text in (replaced, wrote))
    if wrote.endswith(_CUT) or not set(after) <= set(before):
        return []
    return [line for line in before if line not in after and not line.endswith(_CUT)]


def silencing_row(past: Past, hit: PrecedentHit) -> Row | None:
    """The marker with which a session silenced an error, if it did."""
    rows = past.connection.execute(
        "SELECT m.timestamp, coalesce(r.quote, m.quote), coalesce(r.line, m.line), e.session FROM repair r"
        " JOIN mention m ON m.episode = r.episode AND m.local = r.change JOIN episode e ON e.number = r.episode"
        " WHERE r.episode = ? AND r.error = ? AND r.silences = 1 ORDER BY r.change",
        (hit.episode, hit.local),
    )
    for at, *row in rows:
        if past.holds(at):
            return dict(zip(("quote", "line", "session"), row, strict=True))
    return None


def attempts_after(past: Past, hit: PrecedentHit) -> list[Row]:
    """What the agent did next about an error, and what that failed with: each answer to it, and to what came of that.

    ``again`` is whether it failed with the same issue. An attempt that did not fail leaves no trace here.
    """
    issues = frozenset(past.issues_of(hit.episode, hit.local))
    found: list[Row] = []
    waiting, known = [hit.local], {hit.local}
    while waiting and len(found) < _MOST_ATTEMPTS:
        rows = past.connection.execute(
            "SELECT d.timestamp, e.local, d.raw, d.command, d.line, coalesce(e.message, e.raw) FROM claim a"
            " JOIN mention d ON d.episode = a.episode AND d.local = a.target_local"
            " JOIN claim c ON c.episode = a.episode AND c.source_local = d.local AND c.reason = 'call'"
            " JOIN mention e ON e.episode = c.episode AND e.local = c.target_local JOIN node n ON n.number = e.node"
            " WHERE a.episode = ? AND a.source_local = ? AND a.reason = 'answer' AND n.type = 'error'"
            " ORDER BY d.line, d.local, e.local",
            (hit.episode, waiting.pop(0)),
        )
        for at, local, *fields in rows:
            if past.holds(at) and local not in known:
                known.add(local)
                waiting.append(local)
                again = not issues.isdisjoint(past.issues_of(hit.episode, local))
                found.append(dict(zip(_ATTEMPT, (*fields, again), strict=True)))
    return found
