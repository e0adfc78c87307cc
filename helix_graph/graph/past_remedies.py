"""What repaired an earlier error, and what was tried: as rows; and whether it says anything of another error.

Rows have the field names of `helix_graph.graph.model.Precedent`. A hook reads them, so the module imports little.

An agent that is shown a repair will try it, so what is shown has to be one that can be done again. A row of a change
(`fix`) and of its precedent (`row`) are those of `helix_graph.graph.error_precedents`.
"""

from __future__ import annotations

import re

from helix_episodes.light_imports import Regex, Value
from helix_graph.graph import MILLION
from helix_graph.graph.error_query import (
    Complaint,
    is_compile_family,
    is_standard,
    names_in,
    says_something,
    symbol_in,
)
from helix_graph.graph.node_labels import check_label

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    Row = dict[str, Any]
    import sqlite3
    from collections.abc import Iterator


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

    Only sessions that had begun by then count, and of those only what was done by then. ``shared`` are the numbers of
    the sessions that somebody else may have written (`helix_graph.graph.error_precedents.shared_numbers`).
    """

    connection: sqlite3.Connection
    before: str = ""
    shared: frozenset[int] = frozenset()

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
        "shared": hit.episode in past.shared,
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


_WORDS = Regex(r"[A-Za-z_$][\w$]*")
#: Shorter names of rules are words of any program.
_SHORTEST_RULE = 5
_FEW_LINES = 5
_IMPORTS = Regex(r"\s*(?:import\b|from \S+ import\b|use \S|#include\b|(?:const|let|var) .* = require\()")
_REPAIRS_BY_ITSELF = Regex(r"--fix\b|--write\b|:fix\b|\bfmt\b|\bformat\b")
#: A complaint of how a program was called: no change to a file repairs it, unless it has the name that was wrong.
_OF_THE_CALL = Regex(
    r"\b(?:illegal|invalid|unknown|unrecogni[sz]ed|unexpected|no such) (?:option|argument|flag|sub-?command|command)\b"
    r"|\bcommand not found\b",
    re.IGNORECASE,
)
#: How one that ran others closes: what failed may be anything.
_CLOSING = Regex(r"husky - |(?:.* )?pre-(?:commit|push) (?:script|hook) failed\b|(?:.* )?exited with code \d+$")
#: As `helix_episodes.model.QUOTE_LIMIT`, whose module takes too long to load in a hook; a longer quotation was cut.
QUOTE_LIMIT = 240
#: Between the parts of a command line; the program of one with its subcommand; programs that only cut an output.
_JOINED = Regex(r"\|\|?|&&|;")
_HEAD = Regex(r"[a-z][\w.-]*(?: [a-z][\w:-]*(?=\s|$))?")
_ONLY_SHOW = frozenset({"head", "tail", "grep", "less", "cd", "echo", "wc"})
#: One word says too little of a change.
_FEWEST_WORDS = 2


def is_of_use(fix: Row, asked: Complaint, row: Row) -> bool:
    """Whether a change says anything of the error that is asked about.

    It does when it has a name that the message has, or is a command that lets the failing check's tool repair all. Of
    the very issue so does any other command, a change to the same file, and for a test, which names itself and not what
    is wrong, any change, also where only its message is given. Of another issue of the kind a change has to speak of
    that one, by its rule or by what its message names, or be all that was changed, for it alone, in its file. Where
    only names tell errors apart, it has to speak of the name that both are about. Of a wrong call a change to a file
    says nothing, nor does any of a line that only closes what others ran. Imports alone say nothing of what is
    not about imports. The call of another tool says something only by a name of the message, and a file that was read
    nothing.
    """
    words = frozenset(word.casefold() for word in _WORDS.findall(f"{fix['quote']} {fix['command'] or ''}"))
    symbols = [symbol.rpartition(".")[2].casefold() for symbol in (asked.symbol or "", symbol_in(row["message"]))]
    names, theirs = names_in(asked.message), names_in(row["message"])
    misplaced = not fix["command"] and _OF_THE_CALL.search(asked.message) and words.isdisjoint(names)
    elsewhere = fix["label"].startswith("use ") and (fix["path"] or words.isdisjoint({*names, *symbols[:1]}))
    if misplaced or elsewhere or _CLOSING.match(asked.message):
        return False
    family = row["label"].partition(" fails: ")[2]
    if row["level"] != "exact" and is_compile_family(family):
        standard = is_standard(asked.symbol or "") and is_standard(symbol_in(row["message"]))
        about = symbols[1:] if standard else names[:1] if names[:1] == theirs[:1] else ()
        return not words.isdisjoint(about)
    if _by_itself(fix) and any(check and row["label"].startswith(check_label(check)) for check, _ in asked.families):
        return True
    at_file = file_name(fix["path"]) == file_name(asked.file or (row["path"] if names else "")) != ""
    about_imports = asked.test or is_compile_family(family) or "import" in asked.message
    if not about_imports and _only_imports(fix) and words.isdisjoint({*names, *symbols}):
        return False
    if row["level"] == "exact":
        alone = not (names or asked.file) and len(row["fixes"]) == 1
        anything = asked.test or family == "test failed" or (row["own"] and (fix["command"] or alone))
        return bool(anything or at_file) or not words.isdisjoint({*names, *symbols[:1]})
    # A family of several words is prose, whose words are in any text.
    rules = {word.casefold() for word in _WORDS.findall(family) if len(word) >= _SHORTEST_RULE and " " not in family}
    at_theirs = file_name(fix["path"]) == file_name(row["path"]) != "" and len(row["fixes"]) == fix["repaired"] == 1
    concise = len(words) >= _FEWEST_WORDS and is_concise(fix)
    return not words.isdisjoint({*rules, *theirs, *symbols[1:]}) or (at_theirs and concise)


def speaks_of_it(fix: Row, asked: Complaint, row: Row) -> bool:
    """Whether a change that is of use touches what the message names, so that one session that made it is enough.

    It has a name of the message, is at its file, lets a tool repair what it complains of, or leaves out the word that
    failed. Anything else, such as the same call with other arguments, may be right for its own session alone.
    """
    words = frozenset(word.casefold() for word in _WORDS.findall(f"{fix['quote']} {fix['command'] or ''}"))
    symbols = [symbol.rpartition(".")[2].casefold() for symbol in (asked.symbol or "", symbol_in(row["message"]))]
    check = row["label"].partition(" fails: ")[0]
    return (
        _by_itself(fix)
        or bool(word_left_out(check, fix["command"] or ""))
        or file_name(fix["path"]) in {file_name(asked.file), file_name(row["path"])} - {""}
        or not words.isdisjoint({*names_in(asked.message), *symbols} - {""})
    )


def way_of(fix: Row) -> str:
    """What two sessions share that did the same: the programs with their subcommands, or the file.

    >>> way_of({"command": "sed -n '3p' a/b.ts | cat -v", "path": None}), way_of({"command": None, "path": "a/b.ts"})
    ('sed | cat', 'a/b.ts')
    """
    if not fix["command"]:
        return fix["path"] or ""
    heads = (_HEAD.match(part.strip()) for part in _JOINED.split(fix["command"]))
    return " | ".join(head[0].strip() for head in heads if head and head[0].split()[0] not in _ONLY_SHOW)


def is_of_kind(label: str, looked_for: Iterable[str]) -> bool:
    """Whether a precedent failed in a way that an output names: the same test may fail for another reason now."""
    family = label.rpartition(" fails: ")[2]
    now = {one.rpartition(" fails: ")[2] for one in looked_for}
    return not now or family in now or not says_something(family)


def transferability(fix: Row, asked: Complaint) -> int:
    """How much of a change can be done again: it touches what the message names, or it is a command."""
    at_file = bool(asked.file) and file_name(fix["path"]) == file_name(asked.file)
    return 2 * comes_first(fix, asked) + (at_file or bool(fix["command"]))


def comes_first(fix: Row, asked: Complaint) -> bool:
    """Whether a change has the name that the message has; where it has none, whether it lets a tool repair all."""
    name = (asked.symbol or "").rpartition(".")[2]
    if name and name in f"{fix['quote']} {fix['command'] or ''}":
        return True
    return _by_itself(fix) and not names_in(asked.message)


def _by_itself(fix: Row) -> bool:
    return repairs_by_itself(fix["command"] or "")


def repairs_by_itself(command: str) -> bool:
    """Whether a command lets a tool repair all it can."""
    return bool(_REPAIRS_BY_ITSELF.search(command))


def word_left_out(check: str, command: str) -> str:
    """The first word of what failed, where a command is the rest of it: its arguments are those of its own session.

    >>> word_left_out("rtk bun", "bun run test"), word_left_out("go test", "go test ./...")
    ('rtk', '')
    """
    wrapper, _, inner = check.partition(" ")
    words = command.split()
    return wrapper if inner and words[:1] == inner.split()[:1] and wrapper not in words else ""


def _only_imports(fix: Row) -> bool:
    """Whether the quotation has nothing but imports: the first lines of a change of which the rest is not quoted."""
    lines = [line for line in fix["quote"].splitlines() if line.strip()]
    return not fix["command"] and bool(lines) and all(map(_IMPORTS.match, lines))


def is_concise(fix: Row) -> bool:
    """Whether the quotation has the whole of a change, on a few lines: a longer one does several things."""
    return len(fix["quote"]) < QUOTE_LIMIT and len(fix["quote"].splitlines()) <= _FEW_LINES


def file_name(path: str | None) -> str:
    """The last part of a path."""
    return (path or "").replace("\\", "/").rpartition("/")[2]
