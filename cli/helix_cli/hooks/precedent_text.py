"""What an agent is told of a precedent: how often the error was met, and the change that repaired it, in two lines.

The whole block has at most 150 tokens, so a failing result stays the agent's own to read. Of a change its own words are
shown, what verified it, and whether the working tree still has it. Of an error that several sessions met
and none repaired that is said, and what one of them tried in vain.
"""

from __future__ import annotations

from helix_graph.graph.remedy_relevance import word_left_out
from helix_graph.insights.safe_quoting import cut_line, label_or_quoted, quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from helix_graph.graph.error_precedents import Row

#: With the marks around it a block of this many characters is less than 150 tokens, at three and a half for each.
MOST_CHARACTERS = 430
_LONGEST_MESSAGE = 80
_LONGEST_CHANGE = 200
#: A path or the words that say what verified a change; more of it is of no use for finding the place.
_LONGEST_PLACE = 70
#: Met once and left alone may only mean that the session had other work.
_FEWEST_NEVER = 2
#: A change and the command that belongs to it.
_MOST_FIXES = 2
LEVELS = {"exact": "the same error", "family": "the same kind of error"}
STATES = {"holds": "still in the file", "changed": "the file has changed since", "gone": "the file is gone"}


def precedent_lines(found: Row, authors: Mapping[str, str]) -> Iterator[str]:
    """The best precedent of each issue of a `SeenAnswer` as a row, as far as there is room.

    Of a session that git tracks somebody else may be the author, as ``authors`` has it.
    """
    room = MOST_CHARACTERS
    told: set[int] = set()
    for one in found["precedents"]:
        if one["level"] not in LEVELS or one["issue"] in told or not 0 <= one["issue"] < len(found["issues"]):
            continue
        told.add(one["issue"])
        lines = list(_lines(one, found["issues"][one["issue"]], authors, room))
        room -= sum(map(len, lines))
        if room < 0:
            return
        yield from lines


def _lines(one: Row, issue: Row, authors: Mapping[str, str], room: int) -> Iterator[str]:
    met, fixed = issue["sessions"], issue["fixed"]
    message = quoted(issue["message"], longest=_LONGEST_MESSAGE)
    earlier = f"{met} earlier session{'s' * (met != 1)}"
    if not one["fixes"]:
        tried = one.get("tried") or []
        if met >= _FEWEST_NEVER or tried or one["reply"]:
            first = f"{message}: the same error in {earlier}, repaired in none"
            if one["reply"]:
                said = quoted(one["reply"], longest=_LONGEST_CHANGE)
                first += f"; a person then said {said} [session {one['session'][:8]}, line {one['line'] or '?'}]"
            yield first
            yield from _in_vain(one, tried, room=room - len(first))
        return
    level = "the same line" if one["message"].strip() == issue["message"].strip() else LEVELS[one["level"]]
    first = f"{message}: {level} in {earlier}, repaired in {fixed}"
    yield first
    room -= len(first)
    for place, fix in enumerate(one["fixes"][:_MOST_FIXES]):
        line = _repair(one, fix, authors, room=room)
        room -= len(line)
        if place and room < 0:
            return
        yield line


def _in_vain(one: Row, tried: Sequence[Row], *, room: int) -> Iterator[str]:
    """What one of the sessions did about it, and what that failed with."""
    for attempt in tried:
        failed = "the same error" if attempt["again"] else quoted(attempt["message"], longest=_LONGEST_PLACE)
        done = quoted(attempt["command"] or attempt["chosen"], longest=_LONGEST_MESSAGE)
        line = f"tried in vain: {done} ({failed}) [session {one['session'][:8]}, line {attempt['line'] or '?'}]"
        room -= len(line)
        if room < 0:
            return
        yield line


def _repair(one: Row, fix: Row, authors: Mapping[str, str], *, room: int) -> str:
    """The change in its own words, what verified it, whether it is still there, and where the log has it."""
    by = "" if fix["command"] and (fix["verified_by"] or "").startswith("run ") else fix["verified_by"]
    facts = [cut_line(f"verified: {label_or_quoted(by or 'it succeeded')}", _LONGEST_PLACE)]
    if state := STATES.get(fix["state"] or "", f"now in {quoted(fix['now_at'])}" if fix["now_at"] else ""):
        facts.append(state)
    shared = ""
    if one["episode"] in authors:
        shared = f"; shared by {quoted(authors[one['episode']], longest=_LONGEST_PLACE) or 'an unknown author'}"
    around = f" ({'; '.join(facts)}) [session {one['session'][:8]}, line {fix['line'] or '?'}{shared}]"
    done = "repaired by "
    if fix["path"]:
        done += f"editing {quoted(fix['path'], longest=_LONGEST_PLACE)}: "
    elif word := word_left_out(one["label"].partition(" fails: ")[0], fix["command"] or ""):
        done += f"leaving out {quoted(word)}: "
    longest = max(min(_LONGEST_CHANGE, room - len(done) - len(around)), _LONGEST_PLACE)
    return f"{done}{quoted(fix['command'] or fix['quote'] or fix['chosen'], longest=longest)}{around}"
