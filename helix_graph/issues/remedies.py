"""What repaired an issue, generalised over its occurrences: a command, the file that the failure names, a marker.

A repair at one place says nothing at another, its kind does. Of several kinds the best is the one that most sessions
used (first this user's own, then shared ones), and among equals the one that was verified more often. Silencing a check
is counted and never best, nor is an edit of the failing test itself: it counts where nothing but tests was edited.
Where nothing was repaired, the command that most sessions ran instead is read from their episodes.

`edit_diff` shows what an edit changed, line by line, from what an episode keeps of it: what it wrote and replaced.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from contextlib import suppress
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from helix_episodes.errors import InvalidEpisode
from helix_episodes.extraction.actions import is_telling
from helix_episodes.extraction.check_runs import cuts_short
from helix_episodes.extraction.paths import role_of
from helix_episodes.extraction.shell.commands import plain_command
from helix_episodes.normalization import shorten
from helix_episodes.store import EpisodeStore
from helix_graph.causality.workarounds import common_workaround, workarounds_in
from helix_graph.database import ANY_OF, as_list
from helix_graph.issues.model import GeneralRemedy

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from helix_graph.causality.workarounds import Workaround
    from helix_graph.issues.history import Failure, History, SessionRow
    from helix_graph.issues.model import How


#: An example longer than this is no example any more.
_LONGEST_EXAMPLE = 200
#: Where several commands are named, of each this much.
_LONGEST_CALL = 80
#: What got past a failure is looked for in the newest of its sessions: reading one takes a millisecond.
_MOST_READ = 20
#: So many files of one repair are named.
_MOST_NAMED = 3
#: In so many sessions, and in half of those that were read.
_FEWEST = 2
_CHANGES = f"""
    SELECT r.episode, r.error, r.verified_by, m.local, r.silences, m.path, m.command, coalesce(r.quote, m.quote),
        iif(r.quote IS NULL, m.replaced, r.replaced), m.raw, m.log, coalesce(r.line, m.line)
    FROM repair r JOIN mention m ON m.episode = r.episode AND m.local = r.change
    WHERE r.episode {ANY_OF} ORDER BY r.episode, r.error, m.line, m.local"""  # noqa: S608  (constants)


class Change(NamedTuple):
    """One change that may have repaired a failure, with what it wrote and what was there before."""

    number: int
    error: str
    verified_by: str | None
    local: str
    silences: int
    path: str | None
    command: str | None
    quote: str
    replaced: str
    raw: str
    log: str | None
    line: int | None


def changes_for(connection: sqlite3.Connection, failures: Sequence[Failure]) -> dict[tuple[int, str], list[Change]]:
    """The changes that repaired each failure, by episode and local id, in the order they were made."""
    wanted = {(one.number, one.local) for one in failures if one.repaired}
    found: dict[tuple[int, str], list[Change]] = defaultdict(list)
    for row in connection.execute(_CHANGES, (as_list(sorted({number for number, _ in wanted})),)):
        one = Change(*row)
        if (one.number, one.error) in wanted:
            found[one.number, one.error].append(one)
    return found


def generalised(
    failures: Sequence[Failure],
    changes: dict[tuple[int, str], list[Change]],
    history: History,
) -> list[GeneralRemedy]:
    """The kinds of change that repaired these failures, the best first; ``failures`` are in order of time."""
    sessions = history.sessions

    uses: dict[tuple[How, str], list[tuple[Failure, Change]]] = defaultdict(list)
    repaired = [one for one in failures if (one.number, one.local) in changes]
    for failure in repaired:
        made = changes[failure.number, failure.local]
        for key, change in kinds_of_changes(failure, made, checks=history.kind_of(failure.check)).items():
            uses[key].append((failure, change))
    _join_longer_calls(uses)
    one_each: tuple[tuple[str, int], ...] = ()
    # An edit of a file that no other session edited for it says nothing to the next one.
    alone = [key for key, used in uses.items() if key[0] == "edit" and _sessions(used) == 1]
    if len(alone) > 1:
        each = {(failure.number, failure.local): (failure, one) for key in alone for failure, one in uses.pop(key)}
        edits = list(each.values())
        paths = [path for _, path in alone]
        paths = paths if len(edits) == 1 else sorted({_name_of(one) for one in paths})
        more = f" and {len(paths) - _MOST_NAMED} more" if len(paths) > _MOST_NAMED else ""
        uses["edits", ", ".join(paths[:_MOST_NAMED]) + more] = edits
        if len(alone) == len(edits) == len(paths) == 2:  # noqa: PLR2004  (two sessions, one file each)
            one_each = tuple((path, 1) for path in paths)
    for used in uses.values():  # the example is the newest own one
        used.sort(key=lambda pair: pair[0].number not in history.shared)
    own = {
        key: _sessions([pair for pair in used if pair[0].number not in history.shared]) for key, used in uses.items()
    }
    of = (len(repaired), len({one.number for one in failures}))
    found = [_remedy(how, what, used, of[how == "instead"], sessions) for (how, what), used in uses.items()]
    found = [replace(one, each=one_each) if one.how == "edits" else one for one in found]
    return sorted(
        found,
        key=lambda one: (
            one.how == "silence", -own[one.how, one.what], -one.sessions, -one.verified, one.how, one.what
        ),
    )  # fmt: skip


def _join_longer_calls(uses: dict[tuple[How, str], list[tuple[Failure, Change]]]) -> None:
    """Counts ``cargo fmt --all`` as a run of ``cargo fmt``, where both repaired the issue."""
    runs = sorted((key for key in uses if key[0] == "run"), key=lambda key: len(key[1]))
    for key in reversed(runs):
        joined = next((one for one in runs if key[1].startswith(f"{one[1]} ")), None)
        if joined is not None:
            each = {(failure.number, failure.local): (failure, one) for failure, one in (*uses[joined], *uses.pop(key))}
            uses[joined] = [each[place] for place in sorted(each)]


class Instead(NamedTuple):
    """What most sessions ran instead of what failed; ``commands`` are by the episode and local id of each failure."""

    remedy: GeneralRemedy
    commands: dict[tuple[int, str], str]


def worked_instead(failures: Sequence[Failure], remedies: Sequence[GeneralRemedy], history: History) -> Instead | None:
    """What most sessions ran instead, where nothing else repaired the failure; ``failures`` are in order of time.

    Of `_MOST_READ` newest failures the episodes are read; only these have a command.
    """
    if any(one.how != "instead" for one in remedies) or (not remedies and any(one.repaired for one in failures)):
        return None
    if any(one.sessions >= _FEWEST and 2 * one.times >= one.of for one in remedies):
        return None  # one command says more
    episodes, sessions = EpisodeStore(history.root / "episodes"), history.sessions
    read: dict[int, dict[str, Workaround]] = {}
    newest = failures[-_MOST_READ:]
    for number in dict.fromkeys(one.number for one in newest):
        # A file that is damaged or was deleted has nothing to say here; `doctor` names it.
        with suppress(InvalidEpisode):
            episode = episodes.get(sessions[number].session)
            read[number] = workarounds_in(episode) if episode else {}
    ways = [(one, read.get(one.number, {}).get(one.local)) for one in newest]
    common = common_workaround((sessions[one.number].id, way) for one, way in ways)
    if common is None or common.how == "again" or common.worked < max(_FEWEST, common.sessions / 2):
        return None
    used = [(one, way) for one, way in ways if way and (way.how, way.what) == (common.how, common.what)]
    commands = {(one.number, one.local): plain_command(way.command) for one, way in used}
    # Each once a session.
    calls = Counter(command for _, command in dict.fromkeys((number, call) for (number, _), call in commands.items()))
    differ = len(calls) > 1
    remedy = GeneralRemedy(
        how="instead",
        what=plain_command(common.command),
        times=common.worked,
        of=common.sessions,
        sessions=common.worked,
        verified=common.worked,
        session=sessions[used[-1][0].number].session,
        called=common.how if differ else "",
        change=common.what if differ else "",
        each=tuple((shorten(call, limit=_LONGEST_CALL), times) for call, times in calls.most_common())
        if differ
        else (),
    )
    unrepaired = {(one.number, one.local) for one in newest if not one.repaired}
    return Instead(remedy, {place: call for place, call in commands.items() if place in unrepaired})


def kinds_of_changes(failure: Failure, changes: Sequence[Change], *, checks: str) -> dict[tuple[How, str], Change]:
    """The kinds of change that repaired a failure, each with its most telling change, the latest of several.

    ``changes`` are in order of the log, ``checks`` is the kind of check that reported the failure.
    """
    kinds = [_kind_of_change(failure, one, checks=checks) for one in changes]
    # Where other code was changed too, it is not the test that was wrong.
    of_code = [key for key in kinds if key[0] != "edit test"] or kinds
    latest = {key: one for key, one in zip(kinds, changes, strict=True) if key in of_code}
    return latest | {key: one for key, one in zip(kinds, changes, strict=True) if key in of_code and _tells(one)}


def _kind_of_change(failure: Failure, change: Change, *, checks: str) -> tuple[How, str]:
    """How a change repaired a failure, in a form that occurs again."""
    if change.silences:
        return "silence", ""
    if change.command is not None:
        # Where nothing but the command itself shows the repair, it is what was done instead.
        return "instead" if change.verified_by == change.local else "run", plain_command(change.command)
    own = _name_of(failure.path or "")
    if change.path is None:
        return "again", ""
    if own and _name_of(change.path) == own:
        if checks == "test" and role_of(change.path) == "test" and not cuts_short(failure.family):
            return "edit test", ""
        # Of a tool's own error the path is what it was asked to change: to do so at last is no remedy to name.
        return ("edit named", "") if checks else ("again", "")
    return "edit", change.path


def _remedy(
    how: How,
    what: str,
    used: Sequence[tuple[Failure, Change]],
    of: int,
    sessions: dict[int, SessionRow],
) -> GeneralRemedy:
    failure, change = next((one for one in reversed(used) if _tells(one[1])), used[-1])
    example = "" if how == "run" else change.quote or change.raw
    return GeneralRemedy(
        how=how,
        what=what,
        times=_sessions(used) if how == "instead" else len(used),
        of=of,
        sessions=_sessions(used),
        verified=sum(one.verified_by is not None for _, one in used),
        diff=_diff(change),
        example=" ".join(example.split())[:_LONGEST_EXAMPLE],
        session=sessions[failure.number].session,
        log=change.log,
        line=change.line,
    )


def _diff(change: Change) -> tuple[str, ...]:
    return edit_diff(replaced=change.replaced, wrote=change.quote) if change.path and not change.command else ()


def _tells(change: Change) -> bool:
    """Whether what is kept of an edit shows more than imports."""
    return any(line[0] != " " and is_telling(line[1:]) for line in _diff(change))


def _sessions(used: Sequence[tuple[Failure, Change]]) -> int:
    return len({failure.number for failure, _ in used})


def _name_of(path: str) -> str:
    """The last part of a path."""
    return path.rpartition("/")[2]


#: How a text ends that was cut.
_CUT = "\u2026"
#: What a line ends with that opens a block, and how far that is indented.
_OPENING, _STEP = (":", "{", "(", "["), 4


def edit_diff(*, replaced: str, wrote: str) -> tuple[str, ...]:
    r"""The lines of an edit: ``-`` before those that went, ``+`` before those that came, a blank before the others.

    Indentation makes no difference, since the first line of a quotation has none; the others lose what they have in
    common, but for a step where the first line opens a block. Of a text that was cut nothing is said of what lay behind
    the cut.

    >>> edit_diff(replaced="total = sum(prices)", wrote="total = round(sum(prices), 2)")
    ('-total = sum(prices)', '+total = round(sum(prices), 2)')
    >>> edit_diff(replaced="x = 1\nprint(x)\nreturn x", wrote="x = 1\nreturn x")
    (' x = 1', '-print(x)', ' return x')
    """
    before, after = _aligned(replaced), _aligned(wrote)
    matcher = SequenceMatcher(None, [one.strip() for one in before], [one.strip() for one in after], autojunk=False)
    parts = matcher.get_opcodes()
    cut = replaced.endswith(_CUT) or wrote.endswith(_CUT)
    if cut and len(parts) > 1 and parts[-1][0] != "equal":
        parts = parts[:-1]
    found: list[str] = []
    for kind, start, end, first, last in parts:
        if kind == "equal":
            found += [f" {line}" for line in after[first:last]]
        else:
            found += [f"-{line}" for line in before[start:end]]
            found += [f"+{line}" for line in after[first:last]]
    return tuple(found)


def _aligned(text: str) -> list[str]:
    r"""The lines of a quotation, whose first has lost its indentation, with the others moved to it.

    >>> _aligned("if paid:\n            return\n        send()")
    ['if paid:', '        return', '    send()']
    """
    lines = text.expandtabs(_STEP).splitlines()
    common = min((len(line) - len(line.lstrip()) for line in lines[1:] if line.strip()), default=0)
    opens = bool(lines) and lines[0].rstrip().endswith(_OPENING)
    return [*lines[:1], *(line[max(0, common - _STEP * opens) :] for line in lines[1:])]
