"""The briefing at a session's start: how the last session ended, what still fails, what was learnt, what is planned.

Never empty where there are sessions, and never more than 300 tokens, for it is read before anything is known of the
task. Sessions that came with the repository are left out: somebody else may have written them. A session that
comes back, or whose context was emptied, is reminded first of what it had done itself.

What a session had done itself, for an agent whose context was compacted or that takes a session up again.

A summary that a model writes loses reasons and names of files. The log has them: before a compaction the session's
episode is extracted from it, in the background, and afterwards its own decisions with their reasons, the checks that
still fail, the commands that worked and the uncommitted files, in at most 600 tokens. A session
that is resumed was extracted when it ended.
"""

from __future__ import annotations

import json
import time

from helix_cli.hooks.background import extract_log, in_turn, run_detached, sweep_logs
from helix_cli.hooks.call import HookAnswer
from helix_cli.hooks.context_block import ContextLine, ContextSection, context_block, new_lines, show_insights
from helix_cli.hooks.session_dedup import SessionDedup, repair_item, transcript_size
from helix_episodes.safe_files import read_own
from helix_graph.hook_caches import sentences_for_agents
from helix_graph.insights import hook_queries
from helix_graph.insights.label_quoting import label_or_quoted
from helix_graph.insights.safe_quoting import logged_name_or_quoted, quoted
from helix_graph.insights.scoring import USER_PROVIDED
from helix_graph.project import ACCEPTED_RULES
from helix_graph.shared_authors import entries_of_others
from helix_graph.topics.ranking import busiest_topics
from helix_graph.trust import every_shared_episode, shared_episodes
from helix_graph.writability import read_only

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import Any

    from helix_cli.hooks.call import HookCall
    from helix_graph.graph.recent_work import LastSession

    _Fields = dict[str, Any]


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
    if not read_only(root):
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
    if not (call.session and (root / ACCEPTED_RULES).exists()) or read_only(root):  # an unrecorded draw does not count
        return
    from helix_graph.helix_db import stamp, utc_now
    from helix_graph.rules.staged import staged_lines

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
    from helix_graph.graph.recent_work import WorkingTree, newest_episodes, read_recent_work

    try:
        with open_graph(root / "causality" / FILE_NAME) as connection:
            shared = every_shared_episode(root)
            left_out = {*(shared or ()), f"episode-{call.session}"}  # what a resumed session did itself is its recap
            own = [] if shared is None else list(newest_episodes(connection, without=left_out))
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
        f"{_part(one.error)}: {_part(one.path)}{f' to {_part(one.change)}' if one.change != one.path else ''}, "
        f"{label_or_quoted(one.verified_by)}"
        for one in work.fixes
    ]
    yield ContextSection("Last session:", new_lines(lasts, dedup))
    yield ContextSection("Still failing when last run:", new_lines(failing, dedup))
    dedup.take(repair_item(one.change) for one in work.fixes if one.change)  # advice from them would say it again
    yield ContextSection("Newest verified fixes:", new_lines(fixes, dedup))


def _part(text: str) -> str:
    return quoted(text, longest=_LONGEST_PART)


def _last_session(last: LastSession) -> str:
    """How it ended; an outcome without evidence is shown as not known."""
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


#: 600 tokens, at four characters each.
RECAP_CHARACTERS = 2400
_DECISIONS, _FAILURES, _COMMANDS, _FILES = 6, 3, 4, 12
_LONGEST_OF_RECAP = 200
#: "Now the tests again." is no reason.
_FEWEST_REASON_WORDS = 6
_CHANGES = frozenset({"edit", "create", "delete"})
_CHOSEN = frozenset({*_CHANGES, "choose", "delegate"})


def answer_compaction(call: HookCall, root: Path, dedup: SessionDedup) -> None:
    """Records the session so far for `recap_of`; the event takes no context, so nothing is said.

    Gemini reports the event before every turn, whether anything is compacted or not: there it means nothing.
    """
    if call.agent == "gemini":
        return
    dedup.clear(transcript_size(call))
    if not read_only(root):
        run_detached(call.event, lambda: _extract(call, root))


def _extract(call: HookCall, root: Path) -> Iterator[bytes]:
    yield str(root).encode() + b"\n"
    with in_turn(root):
        extract_log(call, root)


def recap_of(call: HookCall, root: Path) -> Iterator[ContextSection]:
    """What the session that goes on had done; nothing where it was not recorded."""
    name = f"episode-{call.session}"
    if not call.session.replace("-", "").replace("_", "").isalnum() or shared_episodes(root, [name]):
        return
    try:
        episode = json.loads(read_own(root / "episodes" / f"{name}.json"))
        decisions, events = episode["decisions"], episode["events"]
        yield _section("This session's own decisions:", _reasons(decisions))
        yield _section("Its open failures:", _open_failures(episode))
        yield _section("Commands that worked in it:", _commands(episode))
        yield _section("Its files that no commit has yet:", _files(decisions, events))
    except (OSError, ValueError, LookupError, TypeError, AttributeError):  # none, or none of ours: doctor names it
        return


def _section(heading: str, lines: Iterator[str]) -> ContextSection:
    return ContextSection(heading, [ContextLine(line) for line in lines])


def _reasons(decisions: list[_Fields]) -> Iterator[str]:
    """The newest decisions that have a reason, in the order in which they were made; the same reason once."""
    found: dict[str, str] = {}
    for one in decisions:
        reason, verb = one.get("rationale", ""), (one.get("action") or {}).get("verb")
        if (one.get("stated") or verb in _CHOSEN) and len(reason.split()) >= _FEWEST_REASON_WORDS:
            found.pop(reason, None)
            found[reason] = one["chosen"]
    for reason, chosen in list(found.items())[-_DECISIONS:]:
        yield f"{_bounded_part(chosen)}: {_bounded_part(reason)}" if chosen != reason else _bounded_part(chosen)


def _open_failures(episode: _Fields) -> Iterator[str]:
    """The checks whose last event is a failure that nothing repaired, the newest last.

    A call that the agent's own tool refused is over, and so is a look; what a person reported is, once a check has
    passed after it.
    """
    from helix_graph.causality.lookups import only_looks  # parses commands: only who comes back waits for that

    repaired = {fix["error"] for fix in episode.get("fixes", ())}
    events = [one for one in episode["events"] if one.get("check") and one["type"] in {"error", "test"}]
    last = {one["check"]: one for one in events if not one.get("tool")}
    passed = max((_line(one) for one in events if one["type"] == "test" and one.get("status") == "ok"), default=0)
    failing = [
        one
        for one in last.values()
        if one["type"] == "error" and one["id"] not in repaired
        if (one["check"] != "work" or _line(one) > passed) and not only_looks(one["check"])
    ]
    for one in failing[-_FAILURES:]:
        place = f" in {_bounded_part(one['path'])}" if one.get("path") else ""
        yield f"{label_or_quoted(one['check'])}: {_bounded_part(one.get('message') or one['content'])}{place}"


def _commands(episode: _Fields) -> Iterator[str]:
    """The newest commands after which a check was seen to pass, and none to fail."""
    passed = {one["id"] for one in episode["events"] if one["type"] == "test" and one.get("status") == "ok"}
    failed = {one["id"] for one in episode["events"] if one["type"] == "error"}
    called, wrong = (
        {link["source"] for link in episode.get("links", ()) if link["target"] in events and link["reason"] == "call"}
        for events in (passed, failed)
    )
    found = {
        one["action"]["command"]: None
        for one in reversed(episode["decisions"])
        if one["id"] in called - wrong and (one.get("action") or {}).get("command")
    }
    yield from map(_bounded_part, list(found)[:_COMMANDS])


_COMMIT = {"program": "git", "subcommand": "commit"}


def _files(decisions: list[_Fields], events: list[_Fields]) -> Iterator[str]:
    """The files that were changed after the last commit, on one line."""
    # With ``-q`` a commit prints nothing that would be an event.
    quiet = [
        one
        for one in decisions
        if _COMMIT.items() <= (one.get("action") or {}).items() and one.get("outcome") != "failure"
    ]
    since = max(map(_line, [*quiet, *(one for one in events if one["type"] == "commit")]), default=0)
    changed = {
        one["action"]["path"]: None
        for one in decisions
        if (one.get("action") or {}).get("verb") in _CHANGES and one["action"].get("path") and _line(one) > since
    }
    if changed:
        yield ", ".join(map(_bounded_part, list(changed)[-_FILES:]))


def _line(one: _Fields) -> int:
    found: int = (one.get("evidence") or {}).get("line", 0)
    return found


def _bounded_part(text: str) -> str:
    return quoted(text, longest=_LONGEST_OF_RECAP)
