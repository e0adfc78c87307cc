"""What a session is shown by itself: a short briefing at its start, and what fits a prompt.

Nothing known, nothing said. A prompt is matched by words only: a model takes too long to load. No insight is shown
twice in a session, and each one shown is recorded, so that the outcome can be credited to it. Where a person has
switched holding back at random on, some insights are not shown, and that is recorded too.
"""

from __future__ import annotations

import os
import time

from helix_cli.hooks.background import in_turn, run_detached
from helix_cli.hooks.context_block import (
    LONGEST_QUOTATION,
    ContextLine,
    ContextSection,
    context_block,
)
from helix_cli.hooks.log import noted
from helix_cli.hooks.session_dedup import SessionDedup, transcript_size
from helix_episodes.echo import without_echo
from helix_graph.causality.antipattern_cache import graph_state, is_up_to_date, write_anti_patterns
from helix_graph.highlights_cache import read_highlights, sentences_for_agents
from helix_graph.insights import hook_queries
from helix_graph.insights.exposure_log import ExposureContext
from helix_graph.insights.hook_queries import log_shown
from helix_graph.insights.safe_quoting import name_or_quoted, own_or_quoted, quoted
from helix_graph.insights.scoring import USER_PROVIDED
from helix_graph.project import CONFIGURATION, user_configuration
from helix_graph.topics.ranking import busiest_topics, matching_entries
from helix_graph.word_search import query_words, telling

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path
    from typing import Any

    from helix_cli.hooks.call import HookCall


_PREFIX = "insight "
#: A briefing is read before anything is known of the task, so it holds little of each kind.
_INSIGHTS, _HIGHLIGHTS, _TOPICS = 5, 5, 5
#: About 200 tokens, of the 300 that a whole briefing may take.
_LONGEST_HIGHLIGHTS = 800
_HOT_SECONDS = 14 * 24 * 3600
#: With these sources of a session's start, what the agent had before is gone from its context.
_EMPTIED = frozenset({"clear", "compact"})
_PROMPT_INSIGHTS, _PROMPT_TOPICS = 3, 2
#: A pasted log is no question: the question is at its beginning.
_LONGEST_PROMPT = 2000
#: "yes", "go on": one word fits too much.
_FEWEST_WORDS = 2
#: An entry fits when it has at least this share of the prompt's words.
_SHARED = 0.5
#: Long prompts are about more than one thing; an entry need not have all of it.
_TELLING = 6
#: Maximum number of lines and characters of an entry, as `search` shows it.
_LINES, _WIDTH = 2, 100


def show_insights(
    root: Path, found: Sequence[Mapping[str, Any]], *, call: HookCall, dedup: SessionDedup, about: str
) -> list[ContextLine]:
    """The insights that are new to the session, as lines with their effectiveness; records that they are shown."""
    by_name = {str(one["name"]): one for one in found}
    fresh = [item.removeprefix(_PREFIX) for item in dedup.take(_PREFIX + name for name in by_name)]
    shown = _without_withheld(root, fresh, ExposureContext(session=call.session, about=about)) if fresh else ()
    lines = []
    for one in map(by_name.__getitem__, shown):
        effectiveness = one.get("_effectiveness", one["effectiveness"])
        said = own_or_quoted(one["content"], said_by=one.get("_said_by", ""), longest=LONGEST_QUOTATION)
        lines.append(ContextLine(f"[{effectiveness:.0%}] {said}", str(one["name"])))
    return lines


def _without_withheld(root: Path, names: Sequence[str], showing: ExposureContext) -> Sequence[str]:
    """Those that are not withheld at random. Without a configuration none is, and `Memory` need not load (60 ms)."""
    if not ((root / CONFIGURATION).exists() or user_configuration().exists()):
        log_shown(root, names, showing)
        return names
    from helix_graph.memory import Memory

    return Memory(root).insights.hand_over(names, session=showing.session, about=showing.about).shown


def answer_session_start(call: HookCall, root: Path, dedup: SessionDedup) -> str:
    """The briefing at a session's start."""
    if call.source in _EMPTIED:
        dedup.clear(transcript_size(call))
    if not is_up_to_date(root) or (graph_state(root) and read_highlights(root) is None):
        run_detached(call.event, lambda: _prepare(root, call.event))
    best = hook_queries.proven(root, _INSIGHTS)
    given = {str(one["name"]) for one in best if USER_PROVIDED in one["tags"]}
    lines = show_insights(root, best, call=call, dedup=dedup, about=call.event)
    standing_out = sentences_for_agents(root, most=_HIGHLIGHTS, longest=_LONGEST_HIGHLIGHTS)
    sections = [
        ContextSection("Proven in this project:", [one for one in lines if one.name not in given]),
        ContextSection("Given by people of this project:", [one for one in lines if one.name in given]),
        ContextSection("What stands out in this project's sessions:", _new_lines(standing_out, dedup)),
        ContextSection("Open plan:", _new_lines(_plan(root), dedup)),
    ]
    hot = busiest_topics(root, since=int(time.time()) - _HOT_SECONDS, limit=_TOPICS)
    topics = _new_lines((f"{name_or_quoted(topic)} ({entries})" for topic, entries in hot), dedup)
    return context_block([*sections, ContextSection("Topics with news (helix-graph topic brief NAME):", topics)])


def _new_lines(texts: Iterable[str], dedup: SessionDedup) -> list[ContextLine]:
    return [ContextLine(text) for text in dedup.take(texts)]


def _prepare(root: Path, event: str) -> Iterator[bytes]:
    """Counts the anti-patterns for the next session's start; first it reports the memory's folder."""
    yield os.fsencode(root) + b"\n"
    with noted(root, event), in_turn(root):
        from helix_graph.memory import Memory
        from helix_graph.shared_authors import refresh_authors

        memory = Memory(root)
        write_anti_patterns(root, memory.causality)
        memory.highlights()
        refresh_authors(root)


def _plan(root: Path) -> list[str]:
    """The active plan in a sentence, if there is one."""
    from helix_graph.plans.schema import has_active_plan

    if not has_active_plan(root):
        return []
    from helix_graph.memory import Memory

    plans = Memory(root).plans
    plan, status = plans.load(), plans.status()
    if plan is None:  # it has ended since
        return []
    ready = ", ".join(f"{task.seq} {task.objective}" for task in plans.ready()[:_TOPICS])
    progress = f"{plan.objective}: {status.complete} of {len(plan.tasks)} tasks complete, {status.blocked} blocked"
    return [f"{progress}; ready: {ready}" if ready else progress]


def answer_prompt(call: HookCall, root: Path, dedup: SessionDedup) -> str:
    """Insights and entries that fit the prompt and are new to the session."""
    asked = without_echo(call.prompt).text[:_LONGEST_PROMPT].strip()
    if asked.startswith("/") or len(telling(query_words(asked))) < _FEWEST_WORDS:
        return ""
    found = hook_queries.recall(root, asked, _PROMPT_INSIGHTS)
    return context_block(
        [
            ContextSection("From earlier sessions:", show_insights(root, found, call=call, dedup=dedup, about=asked)),
            ContextSection("Written down:", _new_lines(_entries(root, asked), dedup)),
        ]
    )


def _entries(root: Path, asked: str) -> Iterator[str]:
    """The entries of topics that share enough words with the prompt."""
    wanted = telling(query_words(asked))
    needed = max(min(len(wanted), _TELLING) * _SHARED, _FEWEST_WORDS)
    for one in matching_entries(root, asked, limit=_PROMPT_TOPICS):
        lines = [line for line in map(str.strip, one.text.splitlines()) if line][:_LINES]
        shown = "\n".join(line if len(line) <= _WIDTH else line[: _WIDTH - 1] + "…" for line in lines)
        if len(set(wanted) & set(query_words(f"{one.topic} {shown}"))) >= needed:
            yield f"recorded in {name_or_quoted(one.topic)}: {quoted(shown)}"
