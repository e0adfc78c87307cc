"""The briefing at a session's start: how the last session ended, what still fails, what was learnt, what is planned.

Never empty where there are sessions, and never more than 300 tokens, for it is read before anything is known of the
task. Nothing is told of sessions that came with the repository: somebody else may have written them. A session that
comes back, or whose context was emptied, is told first what it had done itself (`helix_cli.hooks.session_recap`).
"""

from __future__ import annotations

import time

from helix_cli.hooks.advice import new_lines, show_insights
from helix_cli.hooks.background import run_detached, sweep_logs
from helix_cli.hooks.call import HookAnswer
from helix_cli.hooks.context_block import ContextSection, context_block
from helix_cli.hooks.session_dedup import SessionDedup, repair_item, transcript_size
from helix_cli.hooks.session_recap import RECAP_CHARACTERS, recap_of
from helix_graph.highlights_cache import sentences_for_agents
from helix_graph.insights import hook_queries
from helix_graph.insights.safe_quoting import label_or_quoted, logged_name_or_quoted, quoted
from helix_graph.insights.scoring import USER_PROVIDED
from helix_graph.project import ACCEPTED_RULES
from helix_graph.shared_authors import entries_of_others
from helix_graph.topics.ranking import busiest_topics
from helix_graph.trust import shared_episodes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from helix_cli.hooks.call import HookCall
    from helix_graph.graph.recent_work import LastSession


#: A briefing is read before anything is known of the task, so it holds little of each kind.
_INSIGHTS, _HIGHLIGHTS, _TOPICS, _RECENT = 3, 3, 3, 2
#: 300 tokens, at four characters each.
_BRIEFING = 1200
#: Of what stands out: half of a briefing.
_LONGEST_HIGHLIGHTS = 600
#: Of a task, an error, a change.
_LONGEST_PART = 160
_HOT_SECONDS = 14 * 24 * 3600
#: With these sources of a session's start, what the agent had before is gone from its context.
_EMPTIED = frozenset({"clear", "compact"})
#: The session goes on with a context that knows nothing of what it did before, or not all of it.
_RESUMED = frozenset({"compact", "resume"})


def answer_session_start(call: HookCall, root: Path, dedup: SessionDedup) -> HookAnswer:
    """The briefing at a session's start, and what the session itself had done when its context was emptied."""
    if call.source in _EMPTIED:
        dedup.clear(transcript_size(call))
    run_detached(call.event, lambda: sweep_logs(call, root))
    recap = list(recap_of(call, root)) if call.source in _RESUMED else []
    room = _BRIEFING + (RECAP_CHARACTERS if recap else 0)
    return HookAnswer(
        context_block(
            [*recap, *_on_trial(call, root, dedup), *_recent(call, root, dedup), *_learnt(call, root, dedup)], most=room
        )
    )


def _on_trial(call: HookCall, root: Path, dedup: SessionDedup) -> Iterator[ContextSection]:
    """The rules that people put on trial, if this session was drawn to get them."""
    if not (call.session and (root / ACCEPTED_RULES).exists()):
        return
    from helix_graph.rules.staged import staged_lines
    from helix_graph.timestamps import stamp, utc_now

    lines = staged_lines(root, call.session, at=stamp(utc_now()))
    yield ContextSection("Rules that this user accepted, on trial (helix-graph advise):", new_lines(lines, dedup))


def _learnt(call: HookCall, root: Path, dedup: SessionDedup) -> Iterator[ContextSection]:
    """What people corrected, what has proven itself, what stands out, what is planned and written down."""
    corrected = hook_queries.newest_corrections(root, _RECENT)
    best = hook_queries.proven(root, _INSIGHTS)
    given = {str(one["name"]) for one in best if USER_PROVIDED in one["tags"]}
    shown = show_insights(root, [*corrected, *best], call=call, dedup=dedup, about=call.event)
    names = {str(one["name"]) for one in corrected}
    yield ContextSection("People corrected:", [one for one in shown if one.name in names])
    shown = [one for one in shown if one.name not in names]
    yield ContextSection("Proven in this project:", [one for one in shown if one.name not in given])
    yield ContextSection("Stated by people of this project:", [one for one in shown if one.name in given])
    standing_out = sentences_for_agents(root, most=_HIGHLIGHTS, longest=_LONGEST_HIGHLIGHTS)
    yield ContextSection("What stands out in this project's sessions:", new_lines(standing_out, dedup))
    yield ContextSection("Open plan:", new_lines(_plan(root), dedup))
    # What others wrote is found when it is looked for; the name of a topic is a line of ours here.
    since = int(time.time()) - _HOT_SECONDS
    hot = busiest_topics(root, since=since, limit=_TOPICS, without=entries_of_others(root))
    topics = new_lines((f"{logged_name_or_quoted(topic)} ({entries})" for topic, entries in hot), dedup)
    yield ContextSection("Topics with news (helix-graph topic brief NAME):", topics)


def _recent(call: HookCall, root: Path, dedup: SessionDedup) -> Iterator[ContextSection]:
    """How this user's last session ended, what still fails, and the newest verified fixes."""
    from helix_graph.errors import GraphNotCompiled
    from helix_graph.graph.graph_db import FILE_NAME, open_graph
    from helix_graph.graph.recent_work import newest_episodes, read_recent_work
    from helix_graph.graph.remedy_state import WorkingTree

    try:
        with open_graph(root / "causality" / FILE_NAME) as connection:
            newest = newest_episodes(connection)
            shared = shared_episodes(root, newest.values())
            left_out = {*shared, f"episode-{call.session}"}  # what a resumed session did itself is its recap
            own = [number for number, name in newest.items() if name not in left_out]
            work = read_recent_work(connection, own, limit=_RECENT, tree=WorkingTree(root.parent, connection))
    except GraphNotCompiled:
        return
    lasts = [_last_session(work.last)] if work.last else []
    failing = [
        f"{label_or_quoted(one.check)}: {_part(one.message)}{f' in {_part(one.path)}' if one.path else ''}"
        f" ({one.date[:10]})"
        for one in work.failing
    ]
    fixes = [
        f"{_part(one.error)}: {_part(one.path)} to {_part(one.change)}, {label_or_quoted(one.verified_by)}"
        for one in work.fixes
    ]
    yield ContextSection("Last session:", new_lines(lasts, dedup))
    yield ContextSection("Still failing when last run:", new_lines(failing, dedup))
    dedup.take(repair_item(one.change) for one in work.fixes if one.change)  # advice from them would say it again
    yield ContextSection("Newest verified fixes:", new_lines(fixes, dedup))


def _part(text: str) -> str:
    return quoted(text, longest=_LONGEST_PART)


def _last_session(last: LastSession) -> str:
    """How it ended; an outcome that rests on nothing is none."""
    known = last.outcome != "unknown" and last.basis != "none"
    ended = f"{last.outcome} ({last.basis}{f': {_part(last.quote)}' if last.quote else ''})" if known else "not known"
    return f"{last.date[:10]} {_part(last.task)}; outcome: {ended}".strip()


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
