"""What repaired a failed command or a failed call of a tool.

That is what made the same thing succeed at a later attempt, and where none did, another way of doing it soon after: the
call that comes closest by another command or another tool. To succeed says little where a call did less than the one
that failed: it goes without what the error names, falls back on something else, looks for something else, or acts much
later on something else.

Agents that hand code to a terminal write the whole of it again after an error, and what goes well then need not be a
repair. It is none where the code does without what the error names, where it no longer makes what the failing line was
to make, or where all that it printed are words that it has for the case that it does not get there.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from helix_episodes.extraction.calls import (
    CHANGES,
    command_of,
    is_code,
    is_look,
    is_request,
    lines_of_code,
    materials_of,
    operands_of,
    places_in,
    shared_words,
    values_of,
)
from helix_episodes.extraction.checks.command_failures import NOTHING_CHECKED
from helix_episodes.extraction.fix_credit import credited, has_word
from helix_episodes.extraction.paths import file_name
from helix_episodes.extraction.shell.programs import INTERPRETERS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from helix_episodes.extraction.calls import ParsedCall
    from helix_episodes.extraction.timeline import Timeline
    from helix_episodes.model import Decision, Event, Fix

#: How many calls after an error another way of doing the same still answers it; later ones are about something else.
_OTHERWISE = 6
#: The program refused its own arguments and looked at nothing: only the command can be corrected.
MISCALLED = frozenset({"unknown option", "unknown command", "invalid arguments"})
_NOT_KNOWN = re.compile(
    r"\b(?:unknown|unrecogni[sz]ed|unexpected|invalid|illegal|no such|not found|un?supported)\b",
    re.IGNORECASE,
)
#: Programs with which agents change a file that their own tool could not change.
_WRITERS = INTERPRETERS | {"sed", "cat", "tee", "echo", "printf", "patch", "cp", "mv", "ed", "awk"}
#: What shows of an output only the lines that were asked for.
_FILTERS = frozenset({"grep", "egrep", "fgrep", "rg", "ag", "awk"})
#: What code raises that uses a name which nothing has.
_UNDEFINED = frozenset({"NameError", "UnboundLocalError"})
#: What a message puts in quotation marks or backticks, where it is one word.
_QUOTED_WORD = re.compile(r"[`'\"\u2018\u201c]([^`'\"\s\u2019\u201d]+)[`'\"\u2019\u201d]")
_MODULE = re.compile(r"^\s*(?:import|from) ([\w.]+)", re.MULTILINE)
#: A line of a traceback that quotes the source, below the place that it is from.
_RAISING = re.compile(r'^ *File "[^"]*", line \d+.*\n +(\S.*)$', re.MULTILINE)
#: What a line makes: ``rows = …``, ``rows: list = …``.
_MADE = re.compile(r"([A-Za-z_]\w*)\s*(?::[^=]+)?=(?!=)")
#: What begins the way that is taken when something is not there or did not work, and what that way prints.
_INSTEAD = re.compile(r"\s*(?:else|except\b.*):")
_PRINTED = re.compile(r"\s*print\(f?(?P<quote>['\"])(?P<words>[^'\"{}]+)(?P=quote)\)")


def call_fix(timeline: Timeline, error: Event) -> Fix | None:
    """What made the same thing succeed at a later attempt; where none did, another way of doing it."""
    failed = timeline.call_of(error)
    attempts = timeline.attempts_after(error)
    good = next(
        (
            n
            for n, one in enumerate(attempts)
            # A file that is found does not yet make the edit succeed.
            if not timeline.went_wrong(one)
            and any(
                _went_through(call, error) and _same_kind(call, failed, error) and not _leaves_out(call, failed, error)
                for call in timeline.calls_of(one)
            )
            and not _is_another_errand(timeline, one, error)
        ),
        None,
    )
    rewritten = _rewritten_by_command(timeline, error, until=attempts[good] if good is not None else None)
    if rewritten is not None:
        return credited(error, [rewritten], verified_by=rewritten.id)
    if good is None:
        return _other_way(timeline, error)
    verified = attempts[good]
    if failed.operation == "run" or is_code(failed):
        changes = _command_changes(timeline, error, attempts[:good], verified)
    elif failed.operation == "delegate":
        changes = [verified]
    else:
        changes = [one for one in attempts[: good + 1] if not timeline.went_wrong(one)]
        if failed.operation in CHANGES:
            changes = [one for one in changes if timeline.changes_files(one)] or changes
    return credited(error, changes, verified_by=verified.id)


def _command_changes(
    timeline: Timeline, error: Event, tried: Sequence[Decision], verified: Decision
) -> Sequence[Decision]:
    """What made a command go through: changes to the file that it points at, else all, else that it was corrected.

    The command that goes through is itself a change only where it says something else than the one that failed.
    """
    failed = timeline.call_of(error)
    positions = timeline.positions
    wrong = [error.id, *(event.id for one in tried if timeline.went_wrong(one) for event in timeline.events_of(one))]
    start, end = max(positions[name] for name in wrong), positions[verified.id]
    corrected = (
        [verified] if all(command_of(call) != command_of(failed) for call in timeline.calls_of(verified)) else []
    )
    if is_look(failed) or is_request(failed) or error.family in MISCALLED:
        return corrected  # no change to a file is why these go well
    if error.family in NOTHING_CHECKED and corrected:
        return corrected
    return (
        timeline.changes_to(places_in(failed), start, end)
        or timeline.changes_between(start, end, kind=None)
        or corrected
    )


def _rewritten_by_command(timeline: Timeline, error: Event, *, until: Decision | None) -> Decision | None:
    """The command that changes the file which an edit could not change, before another edit does."""
    failed = timeline.call_of(error)
    if failed.operation not in CHANGES or not failed.path:
        return None
    number, name = timeline.call_numbers[error.id], file_name(failed.path)
    for later, call in enumerate(timeline.calls[number + 1 : number + 1 + _OTHERWISE], number + 1):
        if until is not None and call.position >= timeline.positions[until.id]:
            return None
        writes = call.decisive is not None and call.decisive.program in _WRITERS and call.purpose == "change"
        if writes and call.status == "ok" and name in command_of(call):
            decision = timeline.decision_of(later)
            if decision is not None and not timeline.call_failed(later):
                return decision
    return None


def _other_way(timeline: Timeline, error: Event) -> Fix | None:
    """Of the calls soon after the error the one that comes closest to it by another command or another tool.

    A command that refused its own arguments is answered by a command alone.
    """
    failed = timeline.call_of(error)
    number = timeline.call_numbers[error.id]
    begun = failed.position if failed.result_position is None else failed.result_position
    best: tuple[int, Decision] | None = None
    for later, call in enumerate(timeline.calls[number + 1 : number + 1 + _OTHERWISE], number + 1):
        if call.position < begun or call.actor != failed.actor:
            continue  # side by side with the one that failed
        decision = timeline.decision_of(later)
        if decision is None or call.status != "ok" or timeline.call_failed(later):
            continue
        if error.family in MISCALLED and call.operation != failed.operation:
            continue  # what a flag was to show, a look by another tool does not show
        if _falls_back(call) or _leaves_out(call, failed, error):
            continue
        shared = shared_words(failed, call)
        if shared and (best is None or shared > best[0]):
            best = shared, decision
    return credited(error, [best[1]], verified_by=best[1].id) if best else None


def _is_another_errand(timeline: Timeline, decision: Decision, error: Event) -> bool:
    """Whether a command that goes through much later acts on something else than the one that failed."""
    failed = timeline.call_of(error)
    aims = operands_of(failed)
    if failed.operation != "run" or not aims:
        return False
    later = [call for call in timeline.calls_of(decision) if call.operation == "run"]
    between = sum(
        timeline.positions[error.id] < call.position <= timeline.positions[decision.id] for call in timeline.calls
    )
    return between > _OTHERWISE and bool(later) and all(aims.isdisjoint(operands_of(call)) for call in later)


def _went_through(call: ParsedCall, error: Event) -> bool:
    """Whether a call did what it was to do; where nothing was checked at all, a check that complains did.

    What a filter let nothing through of may have been refused as before, and a look that has something to fall back on
    goes well whatever it saw.
    """
    if _falls_back(call):
        return False
    if (
        error.family in NOTHING_CHECKED
        and not call.output.strip()
        and _FILTERS & {part.program for part in call.segments if part.joiner == "|"}
    ):
        return False
    if call.status == "ok" or error.family not in NOTHING_CHECKED:
        return call.status == "ok"
    families = {finding.family for verdict in call.verdicts for finding in verdict.findings}
    return bool(families) and families.isdisjoint(NOTHING_CHECKED)


def _falls_back(call: ParsedCall) -> bool:
    """Whether a look goes well whatever it sees: ``ls x || echo none``."""
    return is_look(call) and any(part.joiner == "||" for part in call.segments)


def _same_kind(call: ParsedCall, failed: ParsedCall, error: Event) -> bool:
    """Whether a call does what the failed one tried to do."""
    if failed.operation == "delegate":
        return call.operation == "delegate" and shared_words(failed, call) > 0
    if is_look(failed) and not is_request(failed) and not _sees(call, failed, error):
        return False
    if call.purpose and failed.purpose and call.purpose != failed.purpose:
        return False  # a look that goes well does not repair a change of the same program
    return call.step.tool == failed.step.tool or {call.operation, failed.operation} <= CHANGES


def _sees(call: ParsedCall, failed: ParsedCall, error: Event) -> bool:
    """Whether a look gets at what another could not show.

    That is, of its operands, those that the error names, else those that its output names, else all of them: to see
    something else is not to see what could not be seen. Where several are named but not all of them were missing, what
    is sought in them has to be the same.
    """
    operands = operands_of(failed)
    named = [frozenset(one for one in operands if one and one in text) for text in (error.message or "", failed.output)]
    unseen = named[0] or named[1] or operands
    seen = operands_of(call)
    searches = failed.decisive is not None and failed.decisive.program in _FILTERS
    return not unseen.isdisjoint(seen) and not (searches and operands - unseen and (operands - unseen).isdisjoint(seen))


def _leaves_out(call: ParsedCall, failed: ParsedCall, error: Event) -> bool:
    """Whether a call goes without what the error names: it did the rest, and that is no repair.

    Of a command that is the operand which the error quotes, unless the program does not know such a thing at all. Code
    has files and names of its own; a tool any of its values, where nothing is in its place.
    """
    message = error.message or ""
    if is_code(failed):
        return _goes_without(call, failed, error) or _gives_up(call, failed)
    if failed.operation == "use":
        before, after = values_of(failed), values_of(call)
        return after < before and any(has_word(one, message) for one in before - after)
    quoted = frozenset(_QUOTED_WORD.findall(message))
    named = operands_of(failed) & quoted if failed.operation == "run" else frozenset()
    if not named or error.family in MISCALLED or _NOT_KNOWN.search(message):
        return False
    return not any(one in word for one in named for word in operands_of(call))


# Code that was written anew.


def _goes_without(call: ParsedCall, failed: ParsedCall, error: Event) -> bool:
    """Whether code does without the file, the address or the name that an error names, or makes something else."""
    message = error.message or ""
    done = "\n".join(lines_of_code(call))
    used = {one if "://" in one else file_name(one) for one in materials_of(failed) if one in message}
    undefined = _QUOTED_WORD.findall(message) if error.family in _UNDEFINED else ()
    if not all(one in done for one in (*used, *undefined)):
        return True
    # What made-up data replaces is gone together with the module that reads it.
    if _sources_of(failed) and not _sources_of(call) and _modules_of(failed) - _modules_of(call):
        return True
    made = _made_by_failing_line(failed)
    return made is not None and re.search(rf"\b{made}\b", done) is None


def _sources_of(call: ParsedCall) -> set[str]:
    """The files and addresses that code names; a longer text is none."""
    return {one for one in materials_of(call) if " " not in one}


def _modules_of(call: ParsedCall) -> set[str]:
    return set(_MODULE.findall(str(call.step.arguments.get("code") or "")))


def _made_by_failing_line(failed: ParsedCall) -> str | None:
    """The name that the failing line was to give a value, by the first line of the traceback that is of this code."""
    own = lines_of_code(failed)
    raising = next((line for found in _RAISING.finditer(failed.output) if (line := found[1].strip()) in own), "")
    made = _MADE.match(raising)
    return made[1] if made else None


def _gives_up(call: ParsedCall, failed: ParsedCall) -> bool:
    r"""Whether all that code printed are words for the case that it does not get there, which the failed code had not.

    >>> list(_words_instead("if rows:\n    print('saved')\nelse:\n    print('no rows')"))
    ['no rows']
    """
    printed = [line.strip() for line in call.output.splitlines() if line.strip()]
    instead = set(_words_instead(str(call.step.arguments.get("code") or "")))
    before = str(failed.step.arguments.get("code") or "")
    return bool(printed) and all(line in instead and line not in before for line in printed)


def _words_instead(code: str) -> Iterator[str]:
    """The words that code prints in the branches that begin with ``else`` or ``except``."""
    depth: int | None = None
    for line in code.splitlines():
        indent = len(line) - len(line.lstrip())
        if depth is not None and line.strip() and indent <= depth:
            depth = None
        if _INSTEAD.match(line):
            depth = indent
        elif depth is not None and (found := _PRINTED.match(line)):
            yield found["words"].strip()
