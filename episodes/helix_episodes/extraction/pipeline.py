"""The pipeline: a session in, an episode out.

What a memory put into the session is removed first, then texts that no stage reads, then secrets. Each later stage
reads the same parsed calls and adds its own part: events, decisions, their numbers, links, fixes, outcome, lessons,
metrics. No stage knows a log format, and nothing depends on the clock: the same session always gives the same episode.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from helix_episodes.extraction.calls import parse_calls
from helix_episodes.extraction.checks.ci import CI
from helix_episodes.extraction.command_runs import command_runs
from helix_episodes.extraction.costs import costs_of
from helix_episodes.extraction.decisions import decisions_of
from helix_episodes.extraction.delivery import as_reported
from helix_episodes.extraction.drafts import iso
from helix_episodes.extraction.echo_removal import redact_episode, without_echoes, without_unread
from helix_episodes.extraction.events import events_of
from helix_episodes.extraction.excuses import deliberate_failures
from helix_episodes.extraction.fixes import fixes_of, replies_of
from helix_episodes.extraction.lessons import lessons_of
from helix_episodes.extraction.links import complete, links_of
from helix_episodes.extraction.outcome import judge_outcome
from helix_episodes.extraction.reports import parse_report
from helix_episodes.extraction.task_and_metrics import metrics_of, prompts_of, task_kind_of, task_of
from helix_episodes.extraction.timeline import Timeline
from helix_episodes.extraction.user_reports import reported_failures
from helix_episodes.model import Agent, Episode
from helix_episodes.redaction import redacted_session

if TYPE_CHECKING:
    from helix_episodes.model import Provenance
    from helix_episodes.session import Session


#: Goes into each episode's provenance; raised when the same log would give another episode.
EXTRACTOR_VERSION = "57"


def extract(session: Session, *, provenance: Provenance | None = None) -> Episode:
    """The episode of a session, without secrets and without anything derived from injected memory text."""
    session = redacted_session(without_unread(without_echoes(session)))
    calls = parse_calls(session)
    words = reported_failures(session, calls)
    happened = as_reported(events_of(session, calls), words, calls)
    reported = {draft.position for draft in words if draft.reported is not None}
    errors = (draft for draft in happened if draft.event.type == "error" and draft.event.check != CI)
    failed = {draft.call for draft in errors if draft.call is not None}
    report = parse_report(session)
    decided = decisions_of(session, calls, failed=failed, reported=reported)
    timeline = Timeline(calls, [*decided, *report.decisions], [*happened, *report.events])
    fixes = fixes_of(timeline)
    links = links_of(timeline, fixes, stated=report.pairs)
    judgement = judge_outcome(session, timeline)
    decisions, events = complete(timeline, links, fixes)
    meant = deliberate_failures(session, timeline)
    runs = command_runs(session, timeline, meant=meant)
    costs = costs_of(session, timeline, fixes, besides=meant.union(*(run.events for run in runs if run.deliberate)))
    replies = replies_of(session, timeline, fixes)
    events = tuple(
        replace(one, deliberate=one.id in meant, cost=costs.get(one.id), reply=replies.get(one.id)) for one in events
    )
    lessons = lessons_of(session, timeline, fixes)
    episode = Episode(
        id=f"episode-{session.id}",
        session=session.id,
        timestamp=iso(session.started),
        outcome=judgement.outcome,
        outcome_basis=judgement.basis,
        outcome_evidence=judgement.evidence,
        task=task_of(session),
        task_kind=task_kind_of(session, decisions),
        task_id=session.task_id,
        decisions=decisions,
        events=events,
        links=links,
        fixes=fixes,
        lessons=tuple(text for text, _ in lessons),
        lesson_evidence=tuple(evidence for _, evidence in lessons),
        metrics=metrics_of(session, timeline, fixes),
        agent=Agent(name=session.agent, version=session.agent_version, model=session.model),
        project=session.project,
        provenance=provenance,
        injected=session.injected,
        branch=session.branch,
        runs=runs,
        prompts=tuple(prompts_of(session)),
    )
    return redact_episode(episode)
