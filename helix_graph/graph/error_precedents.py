"""Find earlier occurrences of an error and what repaired them.

`helix_graph.graph.error_query` reads the issues of a text. For each of them precedents are searched, the closest first:

``exact``   the same issue: one of its diagnostics has that fingerprint
``family``  the same kind of error, and nothing in what the two name speaks against it (`_is_kind`)
``group``   an error of the kind whose repair says nothing of this one: what usually repairs the kind
``part``    the text is said word for word within a message, whatever else that says
``words``   only where none of these is known and the text is a few lines: errors that have most of its words

That the same check failed is no precedent, nor is a failure that was meant to come. A session counts once for an issue.
Shown is what can be done again (`is_of_use`); a marker that silences a check is a habit and never a repair, neither
shown nor counted. What was verified comes first (a change after which the failing check was seen to pass), then what
shares most of what the message names (symbol, file, wording), then the newest. A change that the working tree no longer
holds comes after one that it does (`helix_graph.graph.past_remedies`). Before all of that, repairs of this user's own
sessions stand before those of shared ones, which anybody may have written and dated; a hook tells a shared one only
where no own one was verified. They are counted apart. A text that is the name of a kind (a rule, a part of a label)
finds all errors of that kind; without a text, the newest errors are shown.

A hook runs this after every failure of a tool, so the module imports little.
"""

from __future__ import annotations

from collections import Counter
from itertools import chain

from helix_episodes.errors import InvalidArgument
from helix_episodes.light_imports import Regex
from helix_episodes.normalization import is_telling, template
from helix_graph.database import ANY_OF, as_list
from helix_graph.errors import NO_WORDS
from helix_graph.graph.error_query import (
    SAYS_NO_NAME,
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
from helix_graph.graph.past_remedies import (
    Past,
    PrecedentHit,
    attempts_after,
    comes_first,
    file_name,
    is_concise,
    is_of_use,
    precedent_row,
    silencing_row,
    speaks_of_it,
    transferability,
    way_of,
)
from helix_graph.trust import every_shared_episode

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path
    from typing import Any

    from helix_graph.graph.recent_work import WorkingTree

    #: One row of the answer, under the field names of `helix_graph.graph.model.SeenAnswer`.
    Row = dict[str, Any]


#: So many issues of one output are looked up: what fails at more places fails as a whole.
_MOST_ISSUES = 12
#: Of so many of an issue's sessions the changes are read.
_MOST_READ_WHOLE = 20
_WORDS = Regex(r"[A-Za-z_$][\w$]*")
_PATH = Regex(r"(?:[A-Za-z]:)?(?:[\w.~@+-]*[/\\]){2,}[\w.@+-]*|(?<![\w/.])[~.]{0,2}/[\w.@+-]+")
#: Which program speaks.
_SPEAKER = Regex(r"^[a-z][\w.-]{1,30}: ")
#: So many of an issue's best precedents are compared by their changes, and so many changes of each.
_MOST_WEIGHED = 4
_MOST_SHOWN = 3
#: How the working tree has a change that is no longer there as it was made.
_LOST = frozenset({"gone", "changed"})
#: Of a change shared by more than this each may have done it, or none.
_FEW_CHANGES = 3
#: An error is alike when it has so much of what the words of a message weigh together.
_ALIKE = 0.6
#: A single word is said anywhere.
_FEWEST_SAID = 2
#: Reading the newest of so many errors for words takes a tenth of a second.
_MOST_READ = 5000
#: Of closeness, the closest first; ``recent`` where nothing was compared.
LEVELS = ("exact", "family", "part", "words", "recent")


_CANDIDATE = (
    "SELECT m.timestamp, m.episode, m.local, n.label, coalesce(m.message, m.raw), m.path, m.issues,"
    " coalesce(max(r.verified_by IS NOT NULL), 0), count(r.error) FROM mention m JOIN node n ON n.number = m.node"
    " JOIN episode e ON e.number = m.episode LEFT JOIN repair r ON r.episode = m.episode AND r.error = m.local"
    " AND r.silences = 0"
    " WHERE {} AND m.deliberate = 0 AND e.origin = 'episode' AND (? = '' OR e.moment < ?)"
    " GROUP BY m.episode, m.local"
    " ORDER BY e.moment DESC, e.id, m.local"
)


class _Candidate:
    """An earlier error as its row has it; ``age`` counts from the first row. Thousands are made for one question."""

    __slots__ = ("age", "changes", "episode", "issues", "label", "local", "message", "path", "shared", "verified")

    def __init__(self, row: list[Any], age: int, shared: frozenset[int]) -> None:
        self.episode, self.local, self.label, self.message, self.path, self.issues, self.verified, self.changes = row
        self.age = age
        self.shared = self.episode in shared

    @property
    def rank_by_repair(self) -> tuple[bool, bool, bool, int]:
        """Repaired ones first, of those this user's own, then verified ones, then the newest."""
        return not self.changes, self.shared, not self.verified, self.age

    @property
    def family(self) -> str:
        """What its label says after the check."""
        return str(self.label).partition(" fails: ")[2]


def shared_numbers(connection: sqlite3.Connection, root: Path) -> frozenset[int]:
    """The numbers of those of a graph's sessions that somebody else may have written; all, where that is not known."""
    shared = every_shared_episode(root)
    if shared is None:
        rows = connection.execute("SELECT number FROM episode")
    elif shared:
        rows = connection.execute(f"SELECT number FROM episode WHERE id {ANY_OF}", (as_list(sorted(shared)),))  # noqa: S608  (a constant)
    else:
        return frozenset()
    return frozenset(number for (number,) in rows)


def find_precedents(
    past: Past,
    text: str | None,
    *,
    limit: int,
    tree: WorkingTree | None = None,
    nearest: bool = False,
    is_muted: Callable[[Complaint], bool] | None = None,
) -> Row:
    """The precedents of an error, or the newest errors without a text, as fields of a `SeenAnswer`.

    With ``nearest`` words are not searched for, which takes longer than a hook has, and only verified changes are
    shown: who did not ask takes an unproven one for an answer. Nothing is said of what ``is_muted``.

    Raises:
        InvalidArgument: A text is given and there is nothing in it, as when a program printed nothing.
    """
    if text is None:
        newest = _candidates(past, "n.type = 'error'", newest=_MOST_READ)
        hits = [PrecedentHit("recent", one.episode, one.local) for one in newest]
        return _answer(past, ErrorQuery(), [(None, list(_once(hits)))], tree, limit=limit)
    if not text.strip():
        raise InvalidArgument("TEXT", NO_WORDS)
    query = read_error(text)
    known: list[tuple[Complaint | None, list[PrecedentHit]]] = [
        (one, _of_issue(past, one, nearest=nearest))
        for one in query.complaints[:_MOST_ISSUES]
        if not (is_muted and is_muted(one))
    ]
    if not any(hit.level == "exact" for _, hits in known for hit in hits):
        named = list(_once(_named(past, query)))
        said = [] if nearest or named else list(_once(_said(past, query.phrase)))
        known = [(None, named or said)] if named or said else known
    if query.picked and not nearest and not any(hits for _, hits in known):
        asked = [one for one in query.complaints if is_telling(one.message) and not (one.own_tool or one.test)]
        known = [(one, list(_once(_alike(past, one.message)))) for one in asked]
    known = [(one, hits) for one, hits in known if hits]
    return _answer(past, query, known, tree, limit=limit, nearest=nearest)


def _candidates(past: Past, condition: str, values: str = "", *, newest: int = -1) -> list[_Candidate]:
    """The errors that meet a condition, the newest first."""
    bound = (*((values,) if values else ()), past.before, past.before)
    rows = past.connection.execute(f"{_CANDIDATE.format(condition)} LIMIT {newest}", bound)
    return [_Candidate(row, age, past.shared) for age, (at, *row) in enumerate(rows) if past.holds(at)]


def _of_issue(past: Past, asked: Complaint, *, nearest: bool) -> list[PrecedentHit]:
    """The sessions that met an issue, or errors of its kind, the best first."""
    same = f"(m.episode, m.local) IN (SELECT episode, local FROM issue WHERE fingerprint {ANY_OF})"  # noqa: S608  (a constant)
    exact = _candidates(past, same, as_list(asked.keys)) if asked.keys else []
    names = names_in(asked.message)
    last = {one.episode: one for one in sorted(exact, key=lambda one: (len(one.local), one.local))}
    hits = [
        _hit("exact", asked, one, names, came_back=bool(one.verified) and last[one.episode] is not one) for one in exact
    ]
    if not (nearest and any(hit.fixed and hit.episode not in past.shared for hit in hits)):
        errors = past.connection.execute("SELECT number, label FROM node WHERE type = 'error' ORDER BY number")
        labels = frozenset(asked.labels)
        families = frozenset(family for check, family in asked.families if check is None)
        nodes = [number for number, label in errors if label in labels or label.partition(" fails: ")[2] in families]
        kind = _candidates(past, f"m.node {ANY_OF}", as_list(nodes)) if nodes else []
        hits += [_hit("family", asked, one, names) for one in kind if _is_kind(asked, one)]
    return list(_once(sorted(hits, key=lambda hit: (hit.level != "exact", hit.rank))))


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
    if theirs := symbol_in(one.message):
        return is_standard(asked.symbol) == is_standard(theirs)
    return not (is_standard(asked.symbol) and names_in(one.message))


def _same_file(asked: Complaint, one: _Candidate) -> bool:
    return bool(asked.file and one.path) and file_name(asked.file) == file_name(one.path)


def _hit(
    level: str, asked: Complaint, one: _Candidate, names: tuple[str, ...], *, came_back: bool = False
) -> PrecedentHit:
    """How good a precedent an error is; one repaired that ``came_back`` in its session comes last."""
    issues = (one.issues or "").split()
    own = bool(issues) and issues[0] in asked.keys
    named = one.message.casefold()
    rank = (
        came_back,
        not one.verified,
        not one.changes,
        level == "exact" and not own,
        min((asked.keys.index(key) for key in issues if key in asked.keys), default=0) if asked.test else 0,
        not any(name in named for name in names),
        not _same_file(asked, one),
        one.changes > _FEW_CHANGES,
        one.age,
    )
    return PrecedentHit(level, one.episode, one.local, fixed=bool(one.verified), own=own, rank=rank)


def _once(hits: Iterable[PrecedentHit]) -> Iterator[PrecedentHit]:
    """The first hit of each session."""
    best: dict[int, PrecedentHit] = {}
    for hit in hits:
        best.setdefault(hit.episode, hit)
    return iter(best.values())


def _named(past: Past, query: ErrorQuery) -> Iterator[PrecedentHit]:
    """The errors of every kind that the text names: by a part of its label, a code, or an exception."""
    errors = past.connection.execute("SELECT number, label, folded FROM node WHERE type = 'error' ORDER BY number")
    nodes = [number for number, label, folded in errors if _is_named(label, folded, query)]
    found = _candidates(past, f"m.node {ANY_OF}", as_list(nodes)) if nodes else []
    found.sort(key=lambda one: one.rank_by_repair)
    return (PrecedentHit("family", one.episode, one.local, fixed=bool(one.verified)) for one in found)


def _is_named(label: str, folded: str, query: ErrorQuery) -> bool:
    check, _, family = label.partition(" fails: ")
    if query.phrase:
        rule = query.phrase if " " in query.phrase else query.phrase.rpartition("/")[2]  # without its group
        return query.phrase in folded or rule in folded
    return not query.complaints and says_something(family) and query.names(check=check, family=family)


def _said(past: Past, phrase: str) -> Iterator[PrecedentHit]:
    """The errors whose message has the words of a text one after the other; paths and numbers may be others."""
    words = frozenset(map(str.casefold, _WORDS.findall(_PATH.sub(" ", phrase))))
    if len(words) < _FEWEST_SAID:
        return
    masked = _masked(phrase)
    found = _candidates(past, "n.type = 'error'", newest=_MOST_READ)
    found.sort(key=lambda one: one.rank_by_repair)
    for one in found:
        said = one.message.casefold()
        if all(word in said for word in words) and (phrase in said or masked in template(one.message).casefold()):
            yield PrecedentHit("part", one.episode, one.local, fixed=bool(one.verified))


def _alike(past: Past, message: str) -> Iterator[PrecedentHit]:
    """The errors that have most of the words of a message, rare ones counting more, the most alike first.

    Before all come those that say the very same but for paths, numbers and quotations.
    """
    from helix_graph.word_search import idf, telling

    said = _PATH.sub(" ", message)  # where something lies says nothing of what went wrong
    asked = frozenset(telling(map(str.casefold, _WORDS.findall(said))))
    found = _candidates(past, "n.type = 'error'", newest=_MOST_READ) if asked else []
    texts = (" ".join(("", *_WORDS.findall(f"{one.label} {one.message}"))).casefold() for one in found)
    having = [[word for word in asked if f" {word}" in text] for text in texts]  # as a whole, or as its beginning
    frequent = Counter(chain.from_iterable(having))
    weights = {word: idf(len(found), frequent[word]) for word in sorted(asked)}
    scored = [(sum(map(weights.__getitem__, words)), one) for one, words in zip(found, having, strict=True) if words]
    least = _ALIKE * sum(weights.values())
    alike = [(score, one) for score, one in scored if score >= least]
    masked = _masked(message)
    alike.sort(key=lambda pair: (_masked(pair[1].message) != masked, not pair[1].verified, -pair[0], pair[1].age))
    return (PrecedentHit("words", one.episode, one.local, fixed=bool(one.verified)) for _, one in alike)


def _masked(message: str) -> str:
    """A message without its program's name and what changes between two occurrences."""
    return _SPEAKER.sub("", template(message)).casefold()


def _answer(
    past: Past,
    query: ErrorQuery,
    known: list[tuple[Complaint | None, list[PrecedentHit]]],
    tree: WorkingTree | None,
    *,
    limit: int,
    nearest: bool = False,
) -> Row:
    """The best precedent of each issue, the closest and repaired ones first, then the others in the same order."""
    closest: dict[int, str] = {}
    for hit in sorted(chain.from_iterable(hits for _, hits in known), key=lambda hit: LEVELS.index(hit.level)):
        closest.setdefault(hit.episode, hit.level)
    met = Counter(closest.values())
    of_others = Counter(level for number, level in closest.items() if number in past.shared)
    issues: list[Row] = []
    firsts: dict[tuple[Any, ...], int] = {}
    chosen: list[tuple[tuple[bool, bool, bool, bool, int], Row]] = []
    for asked, hits in known:
        if not hits:
            continue
        rows, others = _best(past, asked, hits, tree, limit=limit, nearest=nearest)
        level = rows[0]["level"] if rows else hits[0].level
        if asked is not None and (rows or level != "words"):
            at_level = [hit for hit in hits if hit.level == level]
            best = _place(rows[0]) if rows and rows[0]["fixes"] else None
            same = firsts.setdefault(best, len(issues)) if best else len(issues)
            issues.append(
                {
                    "message": asked.message,
                    **_counted(past, at_level),
                    "usual": None if nearest or any(row["fixes"] for row in rows) else _usual(others),
                    "silenced": None if nearest else _silenced(past, at_level),
                    "repaired_as": same if same < len(issues) else None,
                }
            )
        for place, row in enumerate(rows):
            says = bool(row.get("tried") or row["reply"])
            order = (place > 0, not row["fixes"], row["shared"], not says, LEVELS.index(row["level"]))
            chosen.append((order, {**row, "issue": len(issues) - 1}))
    chosen.sort(key=lambda one: one[0])
    unique = {_place(row): row for _, row in reversed(chosen)}
    precedents = list(reversed(unique.values()))[:limit]
    return {
        "found": bool(precedents or issues),
        "level": min((row["level"] for row in (*precedents, *issues)), key=LEVELS.index, default=None),
        "looked_for": list(dict.fromkeys(label for one in query.complaints for label in one.labels)),
        "sessions": {level: met[level] for level in LEVELS if met[level] or level in LEVELS[:2]},
        "shared": {level: of_others[level] for level in LEVELS if of_others[level]},
        "issues": issues,
        "precedents": precedents,
    }


def _counted(past: Past, hits: list[PrecedentHit]) -> Row:
    """In how many sessions an issue was met at one level, and repaired; and how many of these are shared ones."""
    shared = [hit for hit in hits if hit.episode in past.shared]
    found = {"level": hits[0].level, "sessions": len(hits), "fixed": sum(hit.fixed for hit in hits)}
    return {**found, "shared": len(shared), "shared_fixed": sum(hit.fixed for hit in shared)}


def _place(row: Row) -> tuple[Any, ...]:
    return row["episode"], row["line"], row["message"]


def _best(
    past: Past,
    asked: Complaint | None,
    hits: list[PrecedentHit],
    tree: WorkingTree | None,
    *,
    limit: int,
    nearest: bool,
) -> tuple[list[Row], list[Row]]:
    """The precedents of an issue that are worth showing: own repairs, then shared ones where those are to be told.

    Where there is none: of the sessions that met the very issue and never repaired it the newest where a person then
    spoke, and the one that tried most; of shared ones only where no own one met it. The second list are own sessions
    whose repairs say nothing of this issue.
    """
    if asked is None:
        named = [precedent_row(past, hit) for hit in hits[:limit]]
        return [{**row, "fixes": _with_states(_own_first(row), tree)} for row in named], []
    own = [hit for hit in hits if hit.episode not in past.shared]
    repaired, never, others = _weighed(past, asked, own, tree, limit=limit, nearest=nearest)
    if len(own) < len(hits) and not (nearest and repaired):
        shared = [hit for hit in hits if hit.episode in past.shared]
        more, never_there, _ = _weighed(past, asked, shared, tree, limit=limit, nearest=nearest)
        repaired, never = repaired + more, never or never_there
    if repaired:
        return repaired[:limit], others
    replied = [row for row in never if row["reply"]][:1]
    tried = [row for row in sorted(never, key=lambda row: -len(row["tried"])) if row["tried"] or not replied][:1]
    return (replied + [row for row in tried if row not in replied])[:limit], others


def _weighed(
    past: Past,
    asked: Complaint,
    hits: list[PrecedentHit],
    tree: WorkingTree | None,
    *,
    limit: int,
    nearest: bool,
) -> tuple[list[Row], list[Row], list[Row]]:
    """Those first whose change can be done again and is not lost, those never repaired, and those of no use here.

    All of ``hits`` are own, or all are shared.
    """
    weighed: list[tuple[tuple[bool, bool, int, int, bool, int], Row]] = []
    never: list[Row] = []
    others: list[Row] = []
    read = [(place, hit, precedent_row(past, hit)) for place, hit in enumerate(hits[:_MOST_READ_WHOLE])]
    agreed = _agreed_ways(row for _, _, row in read) if nearest else frozenset[str]()
    for place, hit, row in read:
        if not row["fixes"]:
            never += [{**row, "tried": attempts_after(past, hit)}] if hit.level != "family" else []
            continue
        if asked.own_tool and hit.level != "exact":  # the sentence itself says what to do
            continue
        fixes = _fixes_of_use(row, asked, level=hit.level, agreed=agreed, nearest=nearest)
        if not fixes:
            others.append(row)
            continue
        row["fixes"] = _with_states(fixes, tree) if len(weighed) < _MOST_WEIGHED else fixes
        about = max(transferability(fix, asked) for fix in fixes)
        order = (not row["fixed"], _is_lost(row), LEVELS.index(hit.level), -about, not is_concise(fixes[0]), place)
        weighed.append((order, row))
        if len(weighed) >= max(limit, _MOST_WEIGHED):
            break
    weighed.sort(key=lambda one: one[0])
    return [row for _, row in weighed][:limit], never, others


def _agreed_ways(rows: Iterable[Row]) -> frozenset[str]:
    """What two own sessions did to repair it, whatever else their commands did; that others agree proves nothing."""
    repairs = ({way_of(fix) for fix in row["fixes"] if fix["verified"]} for row in rows if not row["shared"])
    return frozenset(way for way, times in Counter(chain.from_iterable(repairs)).items() if way and times > 1)


def _fixes_of_use(row: Row, asked: Complaint, *, level: str, agreed: frozenset[str], nearest: bool) -> list[Row]:
    """The changes of a precedent that can be done again for what was asked, the likeliest first; none where none is."""
    changes = [fix for fix in row["fixes"] if fix["verified"] or not nearest]
    of_use = [fix for fix in changes if level == "words" or is_of_use(fix, asked, row)]
    if nearest:
        of_use = [fix for fix in of_use if speaks_of_it(fix, asked, row) or way_of(fix) in agreed]
    if not of_use:
        return []
    # A command beside a change is its other half: what was added is installed.
    few = len(row["fixes"]) <= _FEW_CHANGES
    fixes = [fix for fix in changes if fix in of_use or (few and fix["command"])]
    return sorted(fixes, key=lambda fix: (not fix["verified"], fix not in of_use, not comes_first(fix, asked)))


def _is_lost(row: Row) -> bool:
    """Whether the session came to nothing, or nothing of its repair is there any more."""
    states = [fix["state"] for fix in row["fixes"] if fix["state"]]
    return row["outcome"] == "failure" or (bool(states) and all(one in _LOST for one in states))


def _silenced(past: Past, hits: list[PrecedentHit]) -> Row | None:
    """In how many of this user's own sessions a marker only silenced the issue, and the newest one."""
    own = [hit for hit in hits if hit.episode not in past.shared]
    found = [row for hit in own[:_MOST_READ_WHOLE] if not hit.fixed and (row := silencing_row(past, hit))]
    return {"sessions": len(found), **found[0]} if found else None


def _usual(others: list[Row]) -> Row | None:
    """Of repairs of the kind that say nothing of this issue: what most have in common.

    None of them is shown: of four that were, a reader found three misleading.
    """
    others = [row for row in others if row["label"].partition(" fails: ")[2] not in SAYS_NO_NAME]
    ways: dict[tuple[str | None, str | None], list[Row]] = {}
    for row in others:
        for way in dict.fromkeys(_way(fix, row) for fix in row["fixes"]):
            ways.setdefault(way, []).append(row)
    (command, path), rows = max(ways.items(), key=lambda item: len(item[1]), default=((None, None), []))
    often = {"sessions": len(rows), "of": len(others), "command": command, "path": path}
    return often if len(rows) > 1 else None


def _way(fix: Row, row: Row) -> tuple[str | None, str | None]:
    """The command or the file of a change, as other sessions may share it; neither for the error's own file."""
    if fix["command"]:
        from helix_episodes.extraction.shell.commands import plain_command

        return plain_command(fix["command"]), None
    return None, None if file_name(fix["path"]) == file_name(row["path"]) else fix["path"] or fix["chosen"]


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
    compared = [{**fix, **state._asdict()} for fix, state in zip(shown, states, strict=True)]
    return sorted(compared, key=lambda fix: fix["state"] in _LOST) + fixes[_MOST_SHOWN:]
