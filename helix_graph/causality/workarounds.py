"""How sessions got past a command that failed: the same run otherwise, with what was changed about the call.

Nothing was repaired, so no fix says it: the agent left out an option that does not work here, put a wrapper before the
command or took one away, or started a program that is not there in another way. The later command counts where it went
well. A run with other options of a check that had judged the work is none, since it may only have looked at less; nor
is what switches a check off or overwrites.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Literal, NamedTuple

from helix_episodes.extraction.shell.commands import Segment, parse_command
from helix_graph.causality.check_runs import JUDGING, head_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from helix_episodes.model import CommandRun, Decision, Episode, Event

#: An option more or less, fewer operands, quotation marks, something before it, another in its place, the same again.
Difference = Literal["with", "without", "fewer", "quoted", "before", "in place", "again"]
_OPTIONS = frozenset({"with", "without"})
#: To ask a program what it is does not run it.
_PROBES = frozenset({"--version", "--help", "-V", "-h"})
#: So many decisions after the failure a command is still about it.
_SOON = 25
#: Options that get past anything.
_BYPASSES = frozenset({"--no-verify", "--force", "-f", "--force-with-lease", "--hard", "--allow-dirty", "--yes", "-y"})
#: Options that only choose what of the answer is shown.
_SHOWS = frozenset({"--jq", "-q", "--json", "--template", "--format", "--output", "--quiet"})
#: What says that a program is not there; what a check says of the work.
_ABSENT = frozenset({"no such file", "command not found"})
_UNKNOWN = frozenset({"unknown option", "invalid arguments"})
_JUDGED = ("test failed", "lint failed", "build failed")
#: What a message quotes of the call.
_QUOTED = re.compile(r"[\"'`]([^\"'`\s]+)[\"'`]")
#: To give a merge up is no way past its conflicts.
_CONFLICT = "merge conflict"
_CHANGES = frozenset({"edit", "create", "delete"})
#: An example longer than this is cut to what it begins with; a wrapper of more words differs each time.
_LONGEST, _WRAPPER = 80, 2


class Workaround(NamedTuple):
    """One command that got past a failure: how it differs (in ``what``), and the whole of it."""

    how: Difference
    what: str
    command: str


class CommonWorkaround(NamedTuple):
    """What most sessions that met a problem did instead: in ``worked`` of ``sessions``."""

    how: Difference
    what: str
    command: str
    worked: int
    sessions: int


def workarounds_in(episode: Episode) -> dict[str, Workaround]:
    """What got past each failure of a command, by the id of its event."""
    events = {event.id: event for event in episode.events}
    results: defaultdict[str, list[Event]] = defaultdict(list)
    decided: dict[str, str] = {}
    for link in episode.links:
        if link.reason == "call" and link.target in events:
            results[link.source].append(events[link.target])
            decided[link.target] = link.source
    places = {one.id: place for place, one in enumerate(episode.decisions)}
    instead = {fix.error: fix.verified_by for fix in episode.fixes if fix.verified_by in fix.changes}
    found: dict[str, Workaround] = {}
    for number, run in enumerate(episode.runs):
        for event in run.events_among(events):
            if event.type != "error" or event.tool or run.deliberate or event.family == _CONFLICT:
                continue
            place = places.get(decided.get(event.id, ""))
            # What only looks is no decision: what follows it is found by its line.
            start = place + 1 if place is not None else _first_after(episode.decisions, event)
            text = _command(episode.decisions[place]) if place is not None else run.command
            failed = [part for part in parse_command(text or "") if part.joiner != "|"]
            way = next(_ways(failed, run, event, episode.decisions[start : start + _SOON], results), None)
            other = places.get(instead.get(event.id) or "")
            if way is None and other is not None:
                way = _other_call(failed, _command(episode.decisions[other]), event.message or "")
            if way is None and run.passed is None and run.kind in JUDGING:
                way = _other_check(run, episode.runs[number + 1 :])
            if way is not None:
                found[event.id] = way
    return found


def common_workaround(ways: Iterable[tuple[str, Workaround | None]]) -> CommonWorkaround | None:
    """What was done instead in most sessions, of the session and the workaround of each occurrence."""
    sessions: set[str] = set()
    used: defaultdict[tuple[Difference, str], set[str]] = defaultdict(set)
    commands: defaultdict[tuple[Difference, str], Counter[str]] = defaultdict(Counter)
    for session, way in ways:
        sessions.add(session)
        if way is not None:
            used[way.how, way.what].add(session)
            short = way.command if len(way.command) <= _LONGEST else f"{way.command[: _LONGEST - 1].rstrip()}…"
            commands[way.how, way.what][short] += 1
    if not used:
        return None
    how, what = key = min(used, key=lambda one: (-len(used[one]), one))
    command = max(reversed(commands[key]), key=lambda one: commands[key][one])  # of equally common ones the latest
    return CommonWorkaround(how, what, command, len(used[key]), len(sessions))


def way_words(how: str, what: str) -> str:
    """How a call differed, in words; ``what`` as it is to be shown.

    >>> way_words("without", "`--lib`")
    'to leave out `--lib`'
    """
    return {
        "with": f"to add {what}",
        "without": f"to leave out {what}",
        "fewer": "fewer arguments",
        "quoted": "the same in quotation marks",
        "before": f"{what} before it",
        "in place": f"{what} in its place",
        "again": "to run it again",
    }[how]


def _first_after(decisions: Sequence[Decision], event: Event) -> int:
    at = event.evidence
    after = (
        place
        for place, one in enumerate(decisions)
        if at and one.evidence and one.evidence.file == at.file and one.evidence.line > at.line
    )
    return next(after, len(decisions))


def _command(decision: Decision) -> str | None:
    return decision.action.command if decision.action and decision.action.verb == "run" else None


def _ways(
    failed: Sequence[Segment],
    run: CommandRun,
    event: Event,
    later: Sequence[Decision],
    results: dict[str, list[Event]],
) -> Iterator[Workaround]:
    """The commands that got past the failure, the first of them first."""
    changed = False
    for decision in later:
        changed = changed or bool(decision.action and decision.action.verb in _CHANGES)
        if any(one.type in {"error", "tool_call"} for one in results.get(decision.id, [])):
            continue
        for part in parse_command(_command(decision) or ""):
            if part.joiner == "|" or _PROBES & set(part.arguments):
                continue  # whether it was reached is not known, or it did nothing
            way = next((way for one in failed if (way := _difference(one, part, run, event))), None)
            if way is None:
                continue
            # Where the work has changed, what passes says nothing of the call, unless the message was about it.
            if not changed or way.how not in _OPTIONS or way.what.strip("-") in (event.message or ""):
                yield way


def _difference(failed: Segment, part: Segment, run: CommandRun, event: Event) -> Workaround | None:
    """How a command differs from the failed one that it stands in for; None where it does not stand in for it."""
    before, after = _words(failed), _words(part)
    if not before or before == after:
        return Workaround("again", "", part.text) if before and run.kind == "command" else None
    bypasses = bool(_BYPASSES & set(part.arguments))
    wrapped = None if bypasses else _wrapped(failed, part)
    if wrapped is not None or bypasses:
        return wrapped
    message = event.message or ""
    if event.family in _ABSENT and before[0] in message:
        operands = before[1:]
        own = operands and after[-len(operands) :] == operands and after[0] != before[0]
        return Workaround("in place", " ".join(after[: -len(operands)]), part.text) if own else None
    if (failed.program, failed.subcommand) != (part.program, part.subcommand):
        return None
    # Where what the message quotes was called by a longer name: by the short one several things are called.
    short = [one for one in _QUOTED.findall(message) if one in failed.arguments]
    longer = (one for one in part.arguments if any(one != name and one.startswith(name) for name in short))
    if full := next(longer, None):
        return Workaround("in place", full, part.text)
    judged = run.kind != "command" and (event.tests or event.path or (event.family or "").endswith(_JUDGED))
    return None if judged or failed.purpose == "look" else _other_options(failed, part, run, event)


def _wrapped(failed: Segment, part: Segment) -> Workaround | None:
    """Where the one command is the other with words before it."""
    head, other = head_of(failed.text).split(), head_of(part.text).split()
    if len(head) > 1 and (at := _place_of(head, _words(part))):
        return Workaround("before", _wrapper(_words(part)[:at]), part.text)
    if len(other) > 1 and (at := _place_of(other, _words(failed))):
        return Workaround("without", _wrapper(_words(failed)[:at]), part.text)
    return None


def _other_options(failed: Segment, part: Segment, run: CommandRun, event: Event) -> Workaround | None:
    """Where an option was left out, the one that the message is about first; of a plain command, where one came."""
    message = event.message or ""
    dropped = sorted(
        (one for one in _options(failed) if one not in _options(part)), key=lambda one: one.strip("-") not in message
    )
    added = [one for one in _options(part) if one not in _options(failed)]
    operands, fewer = (
        [one for one in each.arguments if not one.startswith("-") and one != each.subcommand] for each in (failed, part)
    )
    unknown = event.family in _UNKNOWN and any(one in message for one in operands)
    if unknown and len(fewer) < len(operands) and not added:
        return Workaround("fewer", "", part.text)
    if dropped and (run.kind != "command" or dropped[0] in message or not added):
        return Workaround("without", dropped[0], part.text)
    only = [one for one in added if one not in _SHOWS]
    # What came with another call, or only shows the answer otherwise, got past nothing.
    alone = run.kind == "command" and not dropped and len(only) == 1 and len(fewer) - len(operands) <= 1
    return Workaround("with", only[0], part.text) if alone else None


def _wrapper(words: Sequence[str]) -> str:
    return " ".join(words if len(words) <= _WRAPPER else [*words[:_WRAPPER], "…"])


def _other_call(failed: Sequence[Segment], command: str | None, message: str) -> Workaround | None:
    """How a program was called instead, where extraction saw that this did what the failed call was to do."""
    for part in parse_command(command or ""):
        for one in failed:
            if part.text != one.text and _unquoted(part.text) == _unquoted(one.text):
                return Workaround("quoted", "", part.text)
            if part.program != one.program:
                continue
            if part.subcommand != one.subcommand:
                return Workaround("in place", head_of(part.text), part.text)
            terms = _QUOTED.findall(message)
            if left_out := next((term for term in terms if term in one.text and term not in part.text), None):
                return Workaround("without", left_out, part.text)
    return None


def _other_check(run: CommandRun, later: Sequence[CommandRun]) -> Workaround | None:
    """What checked the same kind of thing next, where a check did not start."""
    following = next((one for one in later if one.kind == run.kind and one.command), None)
    if following is None or following.passed is None or head_of(following.command) == head_of(run.command):
        return None
    return Workaround("in place", head_of(following.command), following.command or "")


def _unquoted(text: str) -> str:
    return text.replace('"', "").replace("'", "").replace("\\", "")


def _words(part: Segment) -> list[str]:
    words = part.text.split()
    while words and "=" in words[0] and not words[0].startswith("-"):
        del words[0]
    return words


def _options(part: Segment) -> list[str]:
    return [one.partition("=")[0] for one in part.arguments if one.startswith("-") and one.strip("-")]


def _place_of(head: Sequence[str], words: Sequence[str]) -> int:
    """Where in a command another begins, after its first word; 0 where it does not."""
    size = len(head)
    return next((at for at in range(1, len(words) - size + 1) if words[at : at + size] == list(head)), 0) if size else 0
