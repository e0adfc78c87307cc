"""The block of text that is put into the agent's context: short facts, harmless, limited in size, between our marks.

No fact is given twice in a session, and each insight that is shown is recorded.
"""

from __future__ import annotations

from helix_episodes.echo import wrap
from helix_episodes.light_imports import Value
from helix_graph.insights.label_quoting import label_or_quoted
from helix_graph.insights.safe_quoting import cut_line, own_or_quoted, quoted, sanitize_line
from helix_graph.project import CONFIGURATION, user_configuration

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path
    from typing import Any

    from helix_cli.hooks.call import HookCall
    from helix_cli.hooks.session_dedup import SessionDedup
    from helix_graph.hook_caches import CachedAntiPattern
    from helix_graph.insights.exposure_log import ExposureContext


#: What is said of sessions and statements that came with the repository: somebody else may have written them.
SHARED = "shared by others"


def anti_pattern_sentence(one: CachedAntiPattern) -> str:
    """An anti-pattern in a sentence with its counts."""
    rate = "people noted it" if one.successes is None else f"succeeded {one.successes} of {one.occurrences} times"
    other = "" if one.others is None else f"; other answers {one.others:.0%} of {one.others_n}"
    shared = f"; {SHARED}" if one.shared else ""
    # What a session's log was labelled with is a label; one that somebody else wrote may say anything.
    trigger, action = map(quoted if one.shared else label_or_quoted, (one.trigger, one.action))
    trigger = trigger if trigger.startswith('"') else f"'{trigger}'"
    return f"after {trigger}: {action} ({rate}{other}{shared})"


#: Claude Code and Copilot cut at 10,000 characters, Codex at 2,500 tokens, which are some 8,000 of them.
_MOST_CHARACTERS = 6000
_LONGEST_LINE = 500
#: Of a line with a quotation, so that what stands around it is never cut off.
LONGEST_QUOTATION = 350


class ContextLine(Value):
    """One fact. ``name`` is that of the insight which it is, if it is one."""

    text: str
    name: str = ""


class ContextSection(Value):
    """Facts of one kind, under what they are."""

    heading: str
    lines: Sequence[ContextLine]


#: Before the name of an insight, among what a session was shown.
_PREFIX = "insight "


def show_insights(
    root: Path, found: Sequence[Mapping[str, Any]], *, call: HookCall, dedup: SessionDedup, about: str
) -> list[ContextLine]:
    """The insights that are new to the session, as lines with what they did so far; records that they are shown."""
    from helix_graph.insights.exposure_log import ExposureContext  # a failure that was met before shows none

    by_name = {str(one["name"]): one for one in found}
    fresh = [item.removeprefix(_PREFIX) for item in dedup.take(_PREFIX + name for name in by_name)]
    shown = _without_withheld(root, fresh, ExposureContext(session=call.session, about=about)) if fresh else ()
    lines = []
    for one in map(by_name.__getitem__, shown):
        said = own_or_quoted(one["content"], said_by=one.get("_said_by", ""), longest=LONGEST_QUOTATION)
        # A rate before anybody used it would be a prior, and read as a finding.
        used = f" (helped {one['causal_hits']} of {one['use_count']} times)" if one["use_count"] else ""
        lines.append(ContextLine(f"{said}{used}", str(one["name"])))
    return lines


def _without_withheld(root: Path, names: Sequence[str], showing: ExposureContext) -> Sequence[str]:
    """Those that are not withheld at random. Without a configuration none is, and `Memory` need not load (60 ms)."""
    if not ((root / CONFIGURATION).exists() or user_configuration().exists()):
        from helix_graph.insights.hook_queries import log_shown

        log_shown(root, names, showing)
        return names
    from helix_graph.memory import Memory

    return Memory(root).insights.hand_over(names, session=showing.session, about=showing.about).shown


def new_lines(texts: Iterable[str], dedup: SessionDedup) -> list[ContextLine]:
    """Those of the texts that the session has not been shown, as lines."""
    return [ContextLine(text) for text in dedup.take(texts)]


def context_block(sections: Sequence[ContextSection], *, most: int = _MOST_CHARACTERS) -> str:
    """The sections between the memory's marks; empty without a single line.

    Every line is shown, since it counts as shown from now on. Where all together are too long, the longest are cut.
    """
    filled = [section for section in sections if section.lines]
    lines = [line for section in filled for line in section.lines]
    if not lines:
        return ""
    around = len(wrap("", insights=[line.name for line in lines if line.name]))
    around += sum(len(section.heading) + 1 for section in filled) + len("- \n") * len(lines)
    texts = {line: sanitize_line(line.text) for line in lines}
    longest = _longest([len(text) for text in texts.values()], room=most - around)
    shown = []
    for section in filled:
        shown += [section.heading]
        shown += (f"- {cut_line(texts[line], longest)}" for line in section.lines)
    return wrap("\n".join(shown), insights=[line.name for line in lines if line.name])


def _longest(lengths: list[int], *, room: int) -> int:
    """How long a line may be, so that all fit: short ones leave their room to the others."""
    lengths = sorted(lengths)
    for place, length in enumerate(lengths):
        share = room // (len(lengths) - place)
        if length > share:
            return max(min(share, _LONGEST_LINE), 1)
        room -= length
    return _LONGEST_LINE
