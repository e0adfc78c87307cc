"""What fits a prompt: insights and entries of topics that share rare words with it.

Nothing known, nothing said. A prompt is matched by words only: a model takes too long to load. No insight is shown
twice in a session, and each one shown is recorded, so that the outcome can be credited to it. Where a person has
switched holding back at random on, some insights are not shown, and that is recorded too.
"""

from __future__ import annotations

from helix_cli.hooks.call import HookAnswer
from helix_cli.hooks.context_block import ContextSection, context_block, new_lines, show_insights
from helix_cli.hooks.session_dedup import repair_item
from helix_episodes.echo import without_echo
from helix_graph.insights import hook_queries
from helix_graph.insights.safe_quoting import logged_name_or_quoted, quoted
from helix_graph.shared_authors import entries_of_others
from helix_graph.topics.ranking import matching_entries
from helix_graph.word_search import query_words, rare, shared_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from helix_cli.hooks.call import HookCall
    from helix_cli.hooks.session_dedup import SessionDedup


_PROMPT_INSIGHTS, _PROMPT_TOPICS = 3, 2
#: A pasted log is no question: the question is at its beginning.
_LONGEST_PROMPT = 2000
#: Maximum number of lines and characters of an entry, as `search` shows it.
_LINES, _WIDTH = 2, 100
#: So much of a source holds any author and how the entry came.
_SOURCE = 120


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
    wanted = dict.fromkeys(rare(query_words(asked)), 1)
    found = matching_entries(root, " ".join(wanted), limit=_PROMPT_TOPICS) if wanted else ()
    others = entries_of_others(root) if found else ()
    for one in found:
        lines = [line for line in map(str.strip, one.text.splitlines()) if line][:_LINES]
        shown = "\n".join(line if len(line) <= _WIDTH else line[: _WIDTH - 1] + "…" for line in lines)
        if shared_words(wanted, query_words(f"{one.topic} {shown}")) >= hook_queries.FEWEST_SHARED:
            # The author stands at the end of a source, the rest of which they chose as well.
            said = f"shared, source {quoted(one.source[-_SOURCE:])}" if one.entry in others else ""
            yield f"recorded in {logged_name_or_quoted(one.topic)}: {quoted(shown, said_by=said)}"
