"""The pipeline: a session in, an episode out.

What a memory put into the session goes first, then what nobody would read, then secrets, before anything is made of a
text. Each stage then looks at the same reading and adds its own part: acts (calls with results), events, decisions, the
numbered account, links, fixes, outcome, lessons, metrics.
Nothing here knows a log format, and nothing depends on the clock: the same session always gives the same episode.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from helix_episodes.extraction.account import number
from helix_episodes.extraction.acts import understand
from helix_episodes.extraction.cleaning import clean
from helix_episodes.extraction.completion import complete
from helix_episodes.extraction.decisions import decisions_of
from helix_episodes.extraction.echoes import without_echoes
from helix_episodes.extraction.events import events_of
from helix_episodes.extraction.evidence import iso
from helix_episodes.extraction.fixes import fixes_of
from helix_episodes.extraction.history import History
from helix_episodes.extraction.lessons import lessons_of
from helix_episodes.extraction.links import links_of
from helix_episodes.extraction.metrics import metrics_of
from helix_episodes.extraction.outcome import judge
from helix_episodes.extraction.reported import failures_told
from helix_episodes.extraction.statements import told_in
from helix_episodes.extraction.tasks import task_kind_of, task_of
from helix_episodes.extraction.unread import without_unread
from helix_episodes.model import Agent, Episode
from helix_episodes.redaction import redacted_session

if TYPE_CHECKING:
    from helix_episodes.model import Provenance
    from helix_episodes.session import Session

#: Goes into each episode's provenance; raised when the same log would give another episode.
EXTRACTOR_VERSION = "4"


def extract(session: Session, *, provenance: Provenance | None = None) -> Episode:
    """The episode of a session, in which no secret is left and nothing rests on what a memory put into it."""
    session = redacted_session(without_unread(without_echoes(session)))
    acts = understand(session)
    words = failures_told(session, acts)
    happened = [*events_of(session, acts), *words]
    reported = {draft.position for draft in words if draft.told is not None}
    failed = {draft.act for draft in happened if draft.act is not None and draft.event.type == "error"}
    told = told_in(session)
    decided = decisions_of(session, acts, failed=failed, reported=reported)
    account = number([*decided, *told.decisions], [*happened, *told.events])
    history = History(acts, account)
    links, fixes = links_of(history, told=told.pairs), fixes_of(history)
    judgement = judge(session, history, fixes)
    decisions, events = complete(history, links, fixes)
    lessons = lessons_of(session, account, fixes)
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
        metrics=metrics_of(session, acts, account, fixes),
        agent=Agent(name=session.agent, version=session.agent_version, model=session.model),
        project=session.project,
        provenance=provenance,
        injected=session.injected,
    )
    return clean(episode)
