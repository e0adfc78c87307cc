"""What fits a prompt: insights and entries of topics that share rare words with it.

Nothing known, nothing said. A prompt is matched by words only: a model takes too long to load. No insight is shown
twice in a session, and each one shown is recorded, so that the outcome can be credited to it. Where a person has
switched holding back at random on, some insights are not shown, and that is recorded too.
"""

from __future__ import annotations

from helix_cli.hooks.call import HookAnswer
from helix_cli.hooks.context_block import (
    LONGEST_QUOTATION,
    ContextLine,
    ContextSection,
    context_block,
)
from helix_cli.hooks.session_dedup import repair_item
from helix_episodes.echo import without_echo
from helix_graph.insights import hook_queries
from helix_graph.insights.exposure_log import ExposureContext
from helix_graph.insights.hook_queries import log_shown
from helix_graph.insights.safe_quoting import logged_name_or_quoted, own_or_quoted, quoted
from helix_graph.project import CONFIGURATION, user_configuration
from helix_graph.shared_authors import entries_of_others
from helix_graph.topics.ranking import matching_entries
from helix_graph.word_search import query_words, rare

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path
    from typing import Any

    from helix_cli.hooks.call import HookCall
    from helix_cli.hooks.session_dedup import SessionDedup


_PREFIX = "insight "
_PROMPT_INSIGHTS, _PROMPT_TOPICS = 3, 2
#: A pasted log is no question: the question is at its beginning.
_LONGEST_PROMPT = 2000
#: Maximum number of lines and characters of an entry, as `search` shows it.
_LINES, _WIDTH = 2, 100
#: So much of a source holds any author and how the entry came.
_SOURCE = 120


def show_insights(
    root: Path, found: Sequence[Mapping[str, Any]], *, call: HookCall, dedup: SessionDedup, about: str
) -> list[ContextLine]:
    """The insights that are new to the session, as lines with what they did so far; records that they are shown."""
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
        log_shown(root, names, showing)
        return names
    from helix_graph.memory import Memory

    return Memory(root).insights.hand_over(names, session=showing.session, about=showing.about).shown


def new_lines(texts: Iterable[str], dedup: SessionDedup) -> list[ContextLine]:
    """Those of the texts that the session has not been shown, as lines."""
    return [ContextLine(text) for text in dedup.take(texts)]


def answer_prompt(call: HookCall, root: Path, dedup: SessionDedup) -> HookAnswer | None:
    """Insights and entries that fit the prompt and are new to the session."""
    asked = without_echo(call.prompt).text[:_LONGEST_PROMPT].strip()
    if asked.startswith("/") or not rare(query_words(asked)):
        return None
    fitting = hook_queries.fitting(root, asked, _PROMPT_INSIGHTS)
    # What a harvested repair wrote is in its text as code.
    found = [
        one for one in fitting if not dedup.has(repair_item(str(one["content"]).partition("`")[2].rpartition("`")[0]))
    ]
    sections = [
        ContextSection("From earlier sessions:", show_insights(root, found, call=call, dedup=dedup, about=asked)),
        ContextSection("Written down:", new_lines(_entries(root, asked), dedup)),
    ]
    return HookAnswer(context_block(sections))


def _entries(root: Path, asked: str) -> Iterator[str]:
    """The entries of topics that share two rare words with the prompt, as insights do."""
    wanted = set(rare(query_words(asked)))
    found = matching_entries(root, " ".join(wanted), limit=_PROMPT_TOPICS) if wanted else ()
    others = entries_of_others(root) if found else ()
    for one in found:
        lines = [line for line in map(str.strip, one.text.splitlines()) if line][:_LINES]
        shown = "\n".join(line if len(line) <= _WIDTH else line[: _WIDTH - 1] + "…" for line in lines)
        if len(wanted & set(query_words(f"{one.topic} {shown}"))) >= hook_queries.FEWEST_SHARED:
            # The author stands at the end of a source, the rest of which they chose as well.
            said = f"shared, source {quoted(one.source[-_SOURCE:])}" if one.entry in others else ""
            yield f"recorded in {logged_name_or_quoted(one.topic)}: {quoted(shown, said_by=said)}"
