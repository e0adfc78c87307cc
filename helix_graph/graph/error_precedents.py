"""Find earlier occurrences of an error and what repaired them.

`read_error` takes a line or a whole output and works out what to look for: the checks that failed, the families of
their errors, and the telling lines. Precedents are searched at three levels, the closest first:

``exact``   the same error: one of its diagnostics has the fingerprint of that error's issue
``family``  the same kind of error of the same check: the same rule, exception, compiler's complaint
``check``   the same check failed, of another kind or of a kind that says nothing (``test failed``)

A session counts at the closest level at which it met the error, and a failure that was meant to come is no precedent.
Within a level those with a verified fix come first (a change after which the failing check was seen to pass), then the
newest. Without a text, the newest errors are shown.

A hook runs this after every failure of a tool, so the module imports little; the checks' grammars load when a text is
read.
"""

from __future__ import annotations

import re
from collections import Counter

from helix_episodes.errors import InvalidArgument
from helix_episodes.light_imports import Regex, Value
from helix_episodes.normalization import one_line, template
from helix_graph.database import ANY_OF, as_list
from helix_graph.errors import NO_WORDS
from helix_graph.graph import MILLION
from helix_graph.graph.node_labels import check_label

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator
    from typing import Any

    from helix_episodes.extraction.checks import CheckFinding

    #: One row of the answer, under the field names of `helix_graph.graph.model.SeenAnswer`.
    Row = dict[str, Any]


#: Of a long output the beginning and the end are looked at, where programs put what went wrong.
_LINES_AT_EACH_END = 200
#: As many characters at each end: a megabyte of output has its verdict at an end, and the answer must come at once.
_CHARACTERS_AT_EACH_END = 50_000
#: Shorter words occur in every other label.
_SHORTEST_WORD = 3
_SAYS_NOTHING = Regex(
    r"(?:.* )?failed|exit code \d+|answered no|no message|does not compile|reported by the user|editor.s diagnostic",
    re.IGNORECASE,
)
_WORDS = Regex(r"[\w.:-]*\w")
#: A word that can be nothing but a name of an error: a code, or an exception.
_UNMISTAKABLE = Regex(r"[A-Za-z]{1,8}-?\d{2,5}|(?:[A-Z][a-z0-9]+){2,}")
_AT_A_PLACE = Regex(r"^\S+?:\d+(?::\d+)?: ")
#: Messages that any program prints; they count as the same error only when the program is the same.
_OF_ANY_PROGRAM = frozenset({
    "no such file", "permission denied", "unknown option", "unknown command", "timeout", "killed", "interrupted",
    "failed",
})  # fmt: skip
_SHELLS = Regex(r"\(eval\):\d+: |(?:zsh|bash|sh|dash): ")
#: ``grep: x: No such file``, ``gh: Not Found (HTTP 404)``: how a program says who is speaking.
_NAMES_ITSELF = Regex(r"([a-z][\w.-]{1,30}): \S")


class ErrorQuery(Value):
    """What to look for.

    ``issues`` are fingerprints of its diagnostics; ``families`` pairs of check (None when the text doesn't tell) and
    family; ``checks`` those that failed; ``words`` all words of the text; ``phrase`` the text in one case, when it is
    one line.
    """

    issues: tuple[str, ...] = ()
    families: tuple[tuple[str | None, str], ...] = ()
    checks: tuple[str, ...] = ()
    words: frozenset[str] = frozenset()
    phrase: str = ""

    def names(self, *, check: str, family: str) -> bool:
        """Whether the text names this error family unambiguously."""
        parts = _WORDS.findall(family)
        if not parts or not self.words.issuperset(parts):
            return False
        unmistakable = any(_UNMISTAKABLE.fullmatch(part) for part in parts)
        return unmistakable or f"({family})" in self.words or self.words.issuperset(check.split(" "))


def read_error(text: str) -> ErrorQuery:
    r"""What a text says about its error.

    >>> read_error("cart.py:3:80: E501 Line too long (99 > 88)\nFound 1 error.").families
    (('ruff', 'E501'),)
    """
    ends = text
    if len(text) > 2 * _CHARACTERS_AT_EACH_END:
        ends = f"{text[:_CHARACTERS_AT_EACH_END]}\n{text[-_CHARACTERS_AT_EACH_END:]}"
    found = list(_judged(ends)) or list(_guessed(ends))
    whole = text.strip().splitlines()
    phrase = one_line(whole[0]).casefold() if len(whole) == 1 else ""
    families = ((check, template(finding.family)) for check, finding in found if says_something(finding.family))
    return ErrorQuery(
        issues=tuple(dict.fromkeys(_issues("\n".join(_lines(ends)), found))),
        families=tuple(dict.fromkeys(families)),
        checks=tuple(dict.fromkeys(check for check, _ in found if check)),
        words=frozenset(_WORDS.findall(ends)) | frozenset(re.findall(r"\([\w ]+\)", ends)),
        phrase=phrase if len(phrase) >= _SHORTEST_WORD else "",
    )


def _issues(text: str, found: list[tuple[str | None, CheckFinding]]) -> Iterator[str]:
    """The fingerprints of what the checks' grammars found, and of the lines that are diagnostics by themselves."""
    from helix_episodes.extraction.fingerprints import diagnostics_of_finding, keys_of_text

    for check, finding in found:
        for one in diagnostics_of_finding(check or "", finding, output=text):
            if one.fingerprint:
                yield one.fingerprint
    yield from keys_of_text(text)


def says_something(family: str) -> bool:
    """Whether a family distinguishes failures.

    >>> says_something("errcheck"), says_something("test failed")
    (True, False)
    """
    return not _SAYS_NOTHING.fullmatch(family)


def _judged(text: str) -> Iterator[tuple[str | None, CheckFinding]]:
    """Check and finding of every verdict in the text that is a failure."""
    from helix_episodes.extraction.checks import read_verdicts
    from helix_episodes.extraction.shell.commands import Segment

    # The grammars ask which command printed the text; this one may have run anything.
    some_command = (Segment(text="./something", program="something"),)
    for verdict in read_verdicts(some_command, output=text, exit_code=None, status="error"):
        if verdict.passed is False:
            yield from ((verdict.check, finding) for finding in verdict.findings)


def _guessed(text: str) -> Iterator[tuple[str | None, CheckFinding]]:
    """Error families guessed from wording, with the program that printed them, for text that no parser recognises.

    "No such file" from ``grep`` has nothing to do with "no such file" from a script, so such a family counts only for
    the program that prints its own name before it.
    """
    from helix_episodes.extraction.checks import command_finding, silent_failure, tools_own_finding
    from helix_episodes.extraction.checks.compilers import compile_family

    command = silent_failure((), output=text) or command_finding((), output=text, exit_code=None)
    speaker = _speaker(command.message)
    tool = tools_own_finding(text)
    if speaker or command.family not in _OF_ANY_PROGRAM:
        yield speaker, command
    if tool and not speaker:
        yield None, tool
    if _AT_A_PLACE.match(command.message):
        yield None, command._replace(family=compile_family(command.message))


def _speaker(message: str) -> str | None:
    """The program that a message says it comes from, under the name that episodes give it."""
    if message.startswith("fatal: "):
        return "git"
    if _SHELLS.match(message):
        return "shell"
    named = _NAMES_ITSELF.match(message)
    return named[1] if named else None


def _lines(text: str) -> list[str]:
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) <= 2 * _LINES_AT_EACH_END:
        return lines
    return lines[:_LINES_AT_EACH_END] + lines[-_LINES_AT_EACH_END:]


_PRECEDENT = (
    "episode", "session", "date", "task", "outcome", "label", "message", "path", "log", "line", "quote"
)  # fmt: skip
_REMEDY = (
    "label", "chosen", "path", "command", "verified", "verified_by", "share", "rationale", "log", "line", "quote"
)  # fmt: skip


class _Hit(Value):
    level: str
    episode: int
    local: str


def find_precedents(connection: sqlite3.Connection, text: str | None, *, limit: int, nearest: bool = False) -> Row:
    """The precedents of an error, or the newest errors without a text, as fields of a `SeenAnswer`.

    With ``nearest`` only those of the nearest level that has any, which takes less; others are neither looked for nor
    counted.

    Raises:
        InvalidArgument: A text is given and there is nothing in it, as when a program printed nothing.
    """
    if text is not None and not text.strip():
        raise InvalidArgument("TEXT", NO_WORDS)
    if text is None:
        hits = _hits(connection, "recent", "n.type = 'error'", "")
        return _answer(connection, ErrorQuery(), {"recent": hits}, limit)
    query = read_error(text)
    levels: dict[str, list[_Hit]] = {}
    for level, hits in _by_level(connection, query):
        levels[level] = hits
        if hits and nearest:
            break
    return _answer(connection, query, levels, limit)


def _by_level(connection: sqlite3.Connection, query: ErrorQuery) -> Iterator[tuple[str, list[_Hit]]]:
    """The mentions of each level, the nearest level first; each is looked for when it is asked for."""
    issue = f"(m.episode, m.local) IN (SELECT episode, local FROM issue WHERE fingerprint {ANY_OF})"  # noqa: S608  (a constant)
    yield "exact", _hits(connection, "exact", issue, as_list(query.issues))
    errors = connection.execute(
        "SELECT number, label, folded FROM node WHERE type = 'error' ORDER BY number"
    ).fetchall()
    of_family = [number for number, label, folded in errors if _is_family(label, folded, query)]
    yield "family", _hits(connection, "family", f"m.node {ANY_OF}", as_list(of_family))
    beginnings = tuple(check_label(check) for check in query.checks)
    of_check = [number for number, label, _ in errors if beginnings and label.startswith(beginnings)]
    yield "check", _hits(connection, "check", f"m.node {ANY_OF}", as_list(of_check))


def _is_family(label: str, folded: str, query: ErrorQuery) -> bool:
    check, _, family = label.partition(" fails: ")
    if query.phrase and query.phrase in folded:
        return True
    program = check.partition(" ")[0]
    if any(family == other and named in {None, check, program} for named, other in query.families):
        return True
    return not query.checks and says_something(family) and query.names(check=check, family=family)


def _hits(connection: sqlite3.Connection, level: str, condition: str, values: str) -> list[_Hit]:
    """The mentions that meet a condition, the most useful of each episode, the most useful episode first."""
    fixed_first = "" if level == "recent" else "max(r.verified_by IS NOT NULL) DESC, count(r.error) DESC, "
    sql = (
        "SELECT m.episode, m.local FROM mention m"  # noqa: S608  (both parts that vary are constants of this module)
        " JOIN node n ON n.number = m.node JOIN episode e ON e.number = m.episode"
        " LEFT JOIN repair r ON r.episode = m.episode AND r.error = m.local"
        f" WHERE {condition} AND m.deliberate = 0 AND e.origin = 'episode' GROUP BY m.episode, m.local"
        f" ORDER BY {fixed_first} e.moment DESC, e.id, m.local"
    )
    rows = connection.execute(sql, (values,) if values else ())
    best: dict[int, str] = {}
    for episode, local in rows:
        best.setdefault(episode, local)
    return [_Hit(level, episode, local) for episode, local in best.items()]


def _answer(connection: sqlite3.Connection, query: ErrorQuery, levels: dict[str, list[_Hit]], limit: int) -> Row:
    closest: dict[int, _Hit] = {}
    for hit in (hit for hits in levels.values() for hit in hits):
        closest.setdefault(hit.episode, hit)
    met = Counter(hit.level for hit in closest.values())
    chosen = list(closest.values())[:limit]
    return {
        "found": bool(chosen),
        "level": chosen[0].level if chosen else None,
        "looked_for": [(check_label(check) if check else "") + family for check, family in query.families],
        "sessions": {level: met[level] for level in levels},
        "precedents": [_precedent(connection, hit) for hit in chosen],
    }


def _precedent(connection: sqlite3.Connection, hit: _Hit) -> Row:
    row = connection.execute(
        "SELECT e.id, e.session, e.timestamp, e.task, e.outcome, n.label, coalesce(m.message, m.raw), m.path, m.log,"
        " m.line, m.quote FROM mention m JOIN node n ON n.number = m.node JOIN episode e ON e.number = m.episode"
        " WHERE m.episode = ? AND m.local = ?",
        (hit.episode, hit.local),
    ).fetchone()
    fixes = list(_remedies(connection, hit))
    fields = dict(zip(_PRECEDENT, row, strict=True))
    return {**fields, "level": hit.level, "fixed": any(fix["verified"] for fix in fixes), "fixes": fixes}


def _remedies(connection: sqlite3.Connection, hit: _Hit) -> Iterator[Row]:
    """The changes that may have repaired an error, in the order they were made; repeats of one are one."""
    rows = connection.execute(
        "SELECT n.label, m.raw, m.path, m.command, r.verified_by IS NOT NULL, coalesce(v.raw, r.verified_by),"
        " sum(r.share), m.rationale, m.log, m.line, m.quote FROM repair r"
        " JOIN mention m ON m.episode = r.episode AND m.local = r.change JOIN node n ON n.number = m.node"
        " LEFT JOIN mention v ON v.episode = r.episode AND v.local = r.verified_by"
        " WHERE r.episode = ? AND r.error = ? GROUP BY n.label, m.raw, m.path, m.command, r.verified_by"
        " ORDER BY min(m.local)",
        (hit.episode, hit.local),
    )
    for row in rows:
        fields = dict(zip(_REMEDY, row, strict=True))
        yield {**fields, "verified": bool(fields["verified"]), "share": fields["share"] / MILLION}
