"""Find earlier occurrences of an error and what repaired them.

`helix_graph.graph.error_query` reads the issues of a text. For each of them precedents are searched, the closest first:

``exact``   the same issue: one of its diagnostics has that fingerprint
``family``  the same kind of error, and nothing in what the two name speaks against it (`_is_kind`)
``words``   only where neither is known and the text is a few lines: errors that have most of its words

That the same check failed is no precedent, nor is a failure that was meant to come. A session counts once for an issue.
Shown is what can be done again (`is_of_use`); a marker that silences a check is a habit and never a repair, neither
shown nor counted. What was verified comes first (a change after which the failing check was seen to pass), then what
shares most of what the message names (symbol, file, wording), then the newest. A change that the working tree no longer
holds comes after one that it does (`helix_graph.graph.remedy_state`). A text that is the name of a kind (a rule, a part
of a label) finds all errors of that kind; without a text, the newest errors are shown.

A hook runs this after every failure of a tool, so the module imports little.
"""

from __future__ import annotations

from collections import Counter
from itertools import chain

from helix_episodes.errors import InvalidArgument
from helix_episodes.light_imports import Regex, Value
from helix_episodes.normalization import is_telling, template
from helix_graph.database import ANY_OF, as_list
from helix_graph.errors import NO_WORDS
from helix_graph.graph import MILLION
from helix_graph.graph.error_query import (
    Complaint,
    ErrorQuery,
    is_compile_family,
    is_exception,
    is_standard,
    names_in,
    read_error,
    says_something,
    symbol_in,
    tells_apart,
)
from helix_graph.graph.remedy_relevance import comes_first, file_name, is_concise, is_of_use, transferability

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from helix_graph.graph.remedy_state import WorkingTree

    #: One row of the answer, under the field names of `helix_graph.graph.model.SeenAnswer`.
    Row = dict[str, Any]


#: So many issues of one output are looked up: what fails at more places fails as a whole.
_MOST_ISSUES = 12
#: Of so many of an issue's sessions the changes are read.
_MOST_READ_WHOLE = 20
_WORDS = Regex(r"[A-Za-z_$][\w$]*")
#: So many of an issue's best precedents are compared by their changes, and so many changes of each.
_MOST_WEIGHED = 4
_MOST_SHOWN = 3
#: Of a change shared by more than this each may have done it, or none.
_FEW_CHANGES = 3
#: An error is alike when it has so much of what the words of a message weigh together.
_ALIKE = 0.6
#: Reading the newest of so many errors for words takes a tenth of a second.
_MOST_READ = 5000
#: Of closeness, the closest first; ``recent`` where nothing was compared.
LEVELS = ("exact", "family", "words", "recent")


class _Hit(Value):
    """One earlier occurrence: how it is known, and what it is ranked by; the smaller rank is the better."""

    level: str
    episode: int
    local: str
    fixed: bool = False
    own: bool = True
    rank: tuple[int, ...] = ()


_CANDIDATE = (
    "SELECT m.episode, m.local, n.label, coalesce(m.message, m.raw), m.path, m.issues,"
    " coalesce(max(r.verified_by IS NOT NULL), 0), count(r.error) FROM mention m JOIN node n ON n.number = m.node"
    " JOIN episode e ON e.number = m.episode LEFT JOIN repair r ON r.episode = m.episode AND r.error = m.local"
    " AND EXISTS (SELECT 1 FROM mention c JOIN node n ON n.number = c.node WHERE c.episode = r.episode"
    " AND c.local = r.change AND n.label NOT LIKE '%, suppress a check%')"
    " WHERE {} AND m.deliberate = 0 AND e.origin = 'episode' GROUP BY m.episode, m.local"
    " ORDER BY e.moment DESC, e.id, m.local"
)


class _Candidate:
    """An earlier error as its row has it; ``age`` counts from the first row. Thousands are made for one question."""

    __slots__ = ("age", "changes", "episode", "issues", "label", "local", "message", "path", "verified")

    def __init__(self, row: tuple[Any, ...], age: int) -> None:
        self.episode, self.local, self.label, self.message, self.path, self.issues, self.verified, self.changes = row
        self.age = age

    @property
    def family(self) -> str:
        """What its label says after the check."""
        return str(self.label).partition(" fails: ")[2]


def find_precedents(
    connection: sqlite3.Connection,
    text: str | None,
    *,
    limit: int,
    tree: WorkingTree | None = None,
    nearest: bool = False,
    is_muted: Callable[[Complaint], bool] | None = None,
) -> Row:
    """The precedents of an error, or the newest errors without a text, as fields of a `SeenAnswer`.

    With ``nearest`` words are not searched for, which takes longer than a hook has. Nothing is said of what
    ``is_muted``.

    Raises:
        InvalidArgument: A text is given and there is nothing in it, as when a program printed nothing.
    """
    if text is None:
        newest = _candidates(connection, "n.type = 'error'", newest=_MOST_READ)
        hits = [_Hit("recent", one.episode, one.local) for one in newest]
        return _answer(connection, ErrorQuery(), [(None, list(_once(hits)))], limit, tree)
    if not text.strip():
        raise InvalidArgument("TEXT", NO_WORDS)
    query = read_error(text)
    known: list[tuple[Complaint | None, list[_Hit]]] = [
        (one, _of_issue(connection, one, nearest=nearest))
        for one in query.complaints[:_MOST_ISSUES]
        if not (is_muted and is_muted(one))
    ]
    if not any(hit.level == "exact" for _, hits in known for hit in hits):
        named = list(_once(_named(connection, query)))
        known = [(None, named)] if named else known
    if query.picked and not nearest and not any(hits for _, hits in known):
        asked = [one for one in query.complaints if is_telling(one.message) and not (one.own_tool or one.test)]
        known = [(one, list(_once(_alike(connection, one.message)))) for one in asked]
    known = [(one, hits) for one, hits in known if hits]
    return _answer(connection, query, known, limit, tree)


def _candidates(
    connection: sqlite3.Connection, condition: str, values: str = "", *, newest: int = -1
) -> list[_Candidate]:
    """The errors that meet a condition, the newest first."""
    rows = connection.execute(f"{_CANDIDATE.format(condition)} LIMIT {newest}", (values,) if values else ())
    return [_Candidate(row, age) for age, row in enumerate(rows)]


def _of_issue(connection: sqlite3.Connection, asked: Complaint, *, nearest: bool) -> list[_Hit]:
    """The sessions that met an issue, or errors of its kind, the best first."""
    same = f"(m.episode, m.local) IN (SELECT episode, local FROM issue WHERE fingerprint {ANY_OF})"  # noqa: S608  (a constant)
    exact = _candidates(connection, same, as_list(asked.keys)) if asked.keys else []
    names = names_in(asked.message)
    hits = [_hit("exact", asked, one, names) for one in exact]
    if not (nearest and any(hit.fixed for hit in hits)):
        nodes = _nodes_of_kind(connection, asked)
        kind = _candidates(connection, f"m.node {ANY_OF}", as_list(nodes)) if nodes else []
        hits += [_hit("family", asked, one, names) for one in kind if _is_kind(asked, one)]
    return list(_once(sorted(hits, key=lambda hit: (hit.level != "exact", hit.rank))))


def _nodes_of_kind(connection: sqlite3.Connection, asked: Complaint) -> list[int]:
    errors = connection.execute("SELECT number, label FROM node WHERE type = 'error' ORDER BY number")
    labels = frozenset(asked.labels)
    families = frozenset(family for check, family in asked.families if check is None)
    return [number for number, label in errors if label in labels or label.partition(" fails: ")[2] in families]


def _is_kind(asked: Complaint, one: _Candidate) -> bool:
    """Whether an error of the same check and family is a precedent, though it is another issue.

    A failing test is one only in the same file, an error of the agent's own tool never: its sentence is the same
    whatever it is about. An exception that any statement may raise is one where its message, masked, says the same.
    Where something does not compile, a name of a standard library says nothing of the project's own names.
    """
    if asked.own_tool:
        return True
    if asked.test and not _same_file(asked, one):
        return False
    if is_exception(one.family):
        alike = template(asked.message).partition(one.family)[2] == template(one.message).partition(one.family)[2]
        return alike and tells_apart(asked.message, one.family)
    if not asked.symbol or not is_compile_family(one.family):
        return True
    theirs = symbol_in(one.message)
    return not theirs or is_standard(asked.symbol) == is_standard(theirs)


def _same_file(asked: Complaint, one: _Candidate) -> bool:
    return bool(asked.file and one.path) and file_name(asked.file) == file_name(one.path)


def _hit(level: str, asked: Complaint, one: _Candidate, names: tuple[str, ...]) -> _Hit:
    issues = (one.issues or "").split()
    own = bool(issues) and issues[0] in asked.keys
    named = one.message.casefold()
    rank = (
        not one.verified,
        not one.changes,
        level == "exact" and not own,
        min((asked.keys.index(key) for key in issues if key in asked.keys), default=0) if asked.test else 0,
        not any(name in named for name in names),
        not _same_file(asked, one),
        one.changes > _FEW_CHANGES,
        one.age,
    )
    return _Hit(level, one.episode, one.local, fixed=bool(one.verified), own=own, rank=rank)


def _once(hits: Iterable[_Hit]) -> Iterator[_Hit]:
    """The first hit of each session."""
    best: dict[int, _Hit] = {}
    for hit in hits:
        best.setdefault(hit.episode, hit)
    return iter(best.values())


def _named(connection: sqlite3.Connection, query: ErrorQuery) -> Iterator[_Hit]:
    """The errors of every kind that the text names: by a part of its label, a code, or an exception."""
    errors = connection.execute("SELECT number, label, folded FROM node WHERE type = 'error' ORDER BY number")
    nodes = [number for number, label, folded in errors if _is_named(label, folded, query)]
    found = _candidates(connection, f"m.node {ANY_OF}", as_list(nodes)) if nodes else []
    found.sort(key=lambda one: (not one.verified, not one.changes, one.age))
    return (_Hit("family", one.episode, one.local, fixed=bool(one.verified)) for one in found)


def _is_named(label: str, folded: str, query: ErrorQuery) -> bool:
    check, _, family = label.partition(" fails: ")
    if query.phrase:
        rule = query.phrase if " " in query.phrase else query.phrase.rpartition("/")[2]  # without its group
        return query.phrase in folded or rule in folded
    return not query.complaints and says_something(family) and query.names(check=check, family=family)


def _alike(connection: sqlite3.Connection, message: str) -> Iterator[_Hit]:
    """The errors that have most of the words of a message, rare ones counting more, the most alike first."""
    from helix_graph.word_search import idf, telling

    asked = frozenset(telling(map(str.casefold, _WORDS.findall(message))))
    found = _candidates(connection, "n.type = 'error'", newest=_MOST_READ) if asked else []
    texts = (" ".join(("", *_WORDS.findall(f"{one.label} {one.message}"))).casefold() for one in found)
    having = [[word for word in asked if f" {word}" in text] for text in texts]  # as a whole, or as its beginning
    frequent = Counter(chain.from_iterable(having))
    weights = {word: idf(len(found), frequent[word]) for word in sorted(asked)}
    scored = [(sum(map(weights.__getitem__, words)), one) for one, words in zip(found, having, strict=True) if words]
    least = _ALIKE * sum(weights.values())
    alike = [(score, one) for score, one in scored if score >= least]
    alike.sort(key=lambda pair: (not pair[1].verified, -pair[0], pair[1].age))
    return (_Hit("words", one.episode, one.local, fixed=bool(one.verified)) for _, one in alike)


_PRECEDENT = (
    "episode", "session", "date", "task", "outcome", "label", "message", "path", "log", "line", "quote"
)  # fmt: skip
_REMEDY = (
    "label", "chosen", "path", "command", "verified", "verified_by", "share", "rationale", "log", "line", "quote",
    "repaired",
)  # fmt: skip


def _answer(
    connection: sqlite3.Connection,
    query: ErrorQuery,
    known: list[tuple[Complaint | None, list[_Hit]]],
    limit: int,
    tree: WorkingTree | None,
) -> Row:
    """The best precedent of each issue, the closest and repaired ones first, then the others in the same order."""
    closest: dict[int, str] = {}
    for hit in sorted(chain.from_iterable(hits for _, hits in known), key=lambda hit: LEVELS.index(hit.level)):
        closest.setdefault(hit.episode, hit.level)
    met = Counter(closest.values())
    issues: list[Row] = []
    chosen: list[tuple[tuple[bool, bool, int], Row]] = []
    for asked, hits in known:
        rows = _best(connection, asked, hits, tree, limit=limit)
        at_level = [hit for hit in hits if hit.level == (rows[0]["level"] if rows else hits[0].level)]
        if asked is not None and (rows or at_level[0].level != "words"):
            fixed = sum(hit.fixed for hit in at_level)
            found = {"level": at_level[0].level, "sessions": len(at_level), "fixed": fixed}
            issues.append({"message": asked.message, **found})
        for place, row in enumerate(rows):
            order = (place > 0, not row["fixes"], LEVELS.index(row["level"]))
            chosen.append((order, {**row, "issue": len(issues) - 1}))
    chosen.sort(key=lambda one: one[0])
    unique = {(row["episode"], row["line"], row["message"]): row for _, row in reversed(chosen)}
    precedents = list(reversed(unique.values()))[:limit]
    return {
        "found": bool(precedents or issues),
        "level": min((row["level"] for row in (*precedents, *issues)), key=LEVELS.index, default=None),
        "looked_for": list(dict.fromkeys(label for one in query.complaints for label in one.labels)),
        "sessions": {level: met[level] for level in LEVELS if met[level] or level in LEVELS[:2]},
        "issues": issues,
        "precedents": precedents,
    }


def _best(
    connection: sqlite3.Connection, asked: Complaint | None, hits: list[_Hit], tree: WorkingTree | None, *, limit: int
) -> list[Row]:
    """The precedents of an issue that are worth showing, those first whose change can be done again and is not lost.

    Of sessions that met the very issue and never repaired it, the newest is shown where no other helps.
    """
    if asked is None:
        named = [_precedent(connection, hit) for hit in hits[:limit]]
        return [{**row, "fixes": _with_states(_own_first(row), tree)} for row in named]
    weighed: list[tuple[tuple[bool, int, bool, int, bool, int], Row]] = []
    never: list[Row] = []
    for place, hit in enumerate(hits[:_MOST_READ_WHOLE]):
        row = _precedent(connection, hit)
        if not row["fixes"]:
            never += [row] if hit.level != "family" else []
            continue
        if asked.own_tool and hit.level != "exact":  # the sentence itself says what to do
            continue
        of_use = [fix for fix in row["fixes"] if hit.level == "words" or is_of_use(fix, asked, row)]
        if not of_use:
            continue
        few = (
            len(row["fixes"]) <= _FEW_CHANGES
        )  # a command beside a change is its other half: what was added is installed
        fixes = [fix for fix in row["fixes"] if fix in of_use or (few and fix["command"])]
        fixes.sort(key=lambda fix: (not fix["verified"], fix not in of_use, not comes_first(fix, asked)))
        row["fixes"] = _with_states(fixes, tree) if len(weighed) < _MOST_WEIGHED else fixes
        about = max(transferability(fix, asked) for fix in fixes)
        order = (not row["fixed"], LEVELS.index(hit.level), _is_lost(row), -about, not is_concise(fixes[0]), place)
        weighed.append((order, row))
        if len(weighed) >= max(limit, _MOST_WEIGHED):
            break
    weighed.sort(key=lambda one: one[0])
    return [row for _, row in weighed][:limit] or never[:1]


def _own_first(row: Row) -> list[Row]:
    """The changes of a precedent, those to what its own message names first."""
    itself = Complaint(message=row["message"], file=row["path"], symbol=symbol_in(row["message"]))
    return sorted(row["fixes"], key=lambda fix: (not fix["verified"], -transferability(fix, itself)))


def _with_states(fixes: list[Row], tree: WorkingTree | None) -> list[Row]:
    """The changes, those that are shown compared with the working tree."""
    if tree is None:
        return fixes
    shown = fixes[:_MOST_SHOWN]
    states = (tree.state_of(fix["path"], "" if fix["command"] else fix["quote"]) for fix in shown)
    return [{**fix, **state._asdict()} for fix, state in zip(shown, states, strict=True)] + fixes[_MOST_SHOWN:]


def _is_lost(row: Row) -> bool:
    """Whether the session came to nothing, or nothing of its repair is there any more."""
    states = [fix["state"] for fix in row["fixes"] if fix["state"]]
    return row["outcome"] == "failure" or (bool(states) and all(one in {"gone", "changed"} for one in states))


def _precedent(connection: sqlite3.Connection, hit: _Hit) -> Row:
    row = connection.execute(
        "SELECT e.id, e.session, e.timestamp, e.task, e.outcome, n.label, coalesce(m.message, m.raw), m.path, m.log,"
        " m.line, m.quote FROM mention m JOIN node n ON n.number = m.node JOIN episode e ON e.number = m.episode"
        " WHERE m.episode = ? AND m.local = ?",
        (hit.episode, hit.local),
    ).fetchone()
    fixes = list(_remedies(connection, hit))
    fields = dict(zip(_PRECEDENT, row, strict=True))
    return {
        **fields,
        "level": hit.level,
        "own": hit.own,
        "fixed": any(fix["verified"] for fix in fixes),
        "fixes": fixes,
    }


def _remedies(connection: sqlite3.Connection, hit: _Hit) -> Iterator[Row]:
    """The changes that may have repaired an error, in the order they were made; repeats of one are one."""
    rows = connection.execute(
        "SELECT n.label, m.raw, m.path, m.command, r.verified_by IS NOT NULL, coalesce(v.raw, r.verified_by),"
        " sum(r.share), m.rationale, m.log, m.line, m.quote, (SELECT count(DISTINCT x.error) FROM repair x"
        " WHERE x.episode = r.episode AND x.change = r.change) FROM repair r"
        " JOIN mention m ON m.episode = r.episode AND m.local = r.change JOIN node n ON n.number = m.node"
        " LEFT JOIN mention v ON v.episode = r.episode AND v.local = r.verified_by"
        " WHERE r.episode = ? AND r.error = ? AND n.label NOT LIKE '%, suppress a check%'"
        " GROUP BY n.label, m.raw, m.path, m.command, r.verified_by"
        " ORDER BY min(m.local)",
        (hit.episode, hit.local),
    )
    for row in rows:
        fields = dict(zip(_REMEDY, row, strict=True))
        share = fields["share"] / MILLION
        yield {**fields, "verified": bool(fields["verified"]), "share": share, "state": None, "now_at": None}
