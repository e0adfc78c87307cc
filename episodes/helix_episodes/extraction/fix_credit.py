"""Which of the changes between a failing and a passing run touch what the diagnostic names.

A compiler, a linter and a formatter point at the place that is wrong: a file, and in their message often the symbol. A
change elsewhere did not repair it, even where nothing else was changed. The order is: the files named, else the symbol
named, else (for what does not compile) the package of the file, since a missing name may be added in any of its files.
What names nothing credits every change. A test names itself and not what is wrong, so all changes it looks at share.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from helix_episodes.extraction.calls import CHANGES, written_by
from helix_episodes.extraction.paths import file_name
from helix_episodes.extraction.timeline import POINTS_AT_PLACE, does_not_compile, folder_of, rewrites

if TYPE_CHECKING:
    from collections.abc import Sequence

    from helix_episodes.extraction.calls import ParsedCall
    from helix_episodes.extraction.timeline import CheckRun, Timeline
    from helix_episodes.model import Decision, Event

#: How compilers and linters name a place: ``a.go:3:1``, ``a.ts(3,1)``, ``a.ts format``.
_PLACE = re.compile(r"([\w@+.-]+\.\w{1,8})(?=:\d|\(\d+,\d+\)|\s+(?:format|lint/\S+|\u2501))")
#: A name in quotation marks or backticks, or after what compilers write before the name that they do not know.
_SYMBOL = re.compile(
    r"[`'\"\u2018\u201c]([A-Za-z_][\w.:]{2,80})[`'\"\u2019\u201d]"
    r"|\b(?:undefined|undeclared name|call to|of type): ?([\w.]{3,80})"
    r"|\b(?:variable|function|parameter|import|func|const|var|type|field) ([A-Za-z_]\w{2,80}) is (?:unused|never)"
)
#: A longer output than this lists more places than one family has.
_MOST_TEXT = 60_000


def credited_changes(
    timeline: Timeline, changes: Sequence[Decision], error: Event, failure: CheckRun
) -> Sequence[Decision]:
    """Of the changes made before a check passed those that touch what its failure names; all when it names nothing."""
    kind = failure.verdict.kind
    if error.path is None or kind not in POINTS_AT_PLACE:
        return changes
    output = timeline.calls[failure.call].output if failure.call is not None else ""
    files = named_files(error, output[:_MOST_TEXT], alone=len(failure.events) == 1)
    rewriters = [one for one in changes if _rewrites(timeline, one)]
    formatters = [one for one in changes if _formats(timeline, one) or (kind == "lint" and one in rewriters)]
    if formatters and (kind == "format" or error.family == "not formatted"):
        return formatters[-1:]  # whatever was edited, this is what brought it into form
    symbols = {
        name.rpartition(".")[2] for found in _SYMBOL.finditer(error.message or "") for name in found.groups() if name
    }
    by_symbol = [one for one in changes if any(_mentions(timeline, one, symbol) for symbol in symbols)]
    at_place = [one for one in changes if _writes(timeline, one, files)]
    open_ended = [one for one in changes if one in rewriters or _writes_unnamed(timeline, one)]
    if any(one in at_place for one in by_symbol):
        # Whoever edits the very name that is complained of does not leave it to the tool that rewrites.
        open_ended = [one for one in open_ended if one not in rewriters]
    if at_place or open_ended:
        # A command that names no files (a formatter, ``git checkout``) may have changed those too.
        return [one for one in changes if one in at_place or one in open_ended]
    if by_symbol or not does_not_compile(error, kind):
        return by_symbol
    package = folder_of(error.path)
    return [one for one in changes if one.action and one.action.path and folder_of(one.action.path) == package]


def named_files(error: Event, output: str, *, alone: bool) -> frozenset[str]:
    """The names of the files that a failure is about: its own, and those on the lines that report the same family.

    ``alone`` is true when the run reported nothing else, so that every place it names belongs to this failure.
    """
    family = error.family or ""
    lines = (line for line in output.splitlines() if alone or (family and family in line))
    found = {file_name(place) for line in lines for place in _PLACE.findall(line)}
    return frozenset(found | ({file_name(error.path)} if error.path else set()))


def _writes(timeline: Timeline, decision: Decision, files: frozenset[str]) -> bool:
    return any(
        not files.isdisjoint(file_name(path) for path in written_by(call) or ()) for call in timeline.calls_of(decision)
    )


def _formats(timeline: Timeline, decision: Decision) -> bool:
    return any(call.purpose == "format" for call in timeline.calls_of(decision))


def _rewrites(timeline: Timeline, decision: Decision) -> bool:
    """Whether one of its commands lets a checker rewrite what it complains of."""
    calls = (call for call in timeline.calls_of(decision) if call.operation == "run")
    return any(rewrites(part) for call in calls for part in call.segments)


def _writes_unnamed(timeline: Timeline, decision: Decision) -> bool:
    """Whether one of its commands changes files that its words do not name."""
    return any(call.operation == "run" and written_by(call) is None for call in timeline.calls_of(decision))


def _mentions(timeline: Timeline, decision: Decision, symbol: str) -> bool:
    name = re.compile(rf"\b{re.escape(symbol)}\b")
    return any(name.search(text) for call in timeline.calls_of(decision) for text in _texts(call))


def _texts(call: ParsedCall) -> list[str]:
    if call.operation not in CHANGES:
        return [str(call.step.arguments.get("command") or "")]
    return [str(call.step.arguments.get(name) or "") for name in ("old", "new")]
