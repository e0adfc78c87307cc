"""Later evidence: what a session shows of how an earlier one really came out.

Two things count. A session's commit is *reverted* in a later one (:mod:`reverts`). And the check that a session left
passing *fails again* at the start of the next session of the project, before anything was changed (:mod:`rechecks`).
Either gives a revision of the earlier outcome, dated as the later evidence is, so that a person's newer word holds.

Revisions are worked out from what all episodes tell at once, as they were extracted. So it does not matter in which
order the sessions were read, and without the later session there is no revision: nobody has to take it back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from helix_episodes.later.rechecks import rechecks
from helix_episodes.later.reverts import reverts

if TYPE_CHECKING:
    from collections.abc import Iterable

    from helix_episodes.corrections import OutcomeRevision
    from helix_episodes.later.telling import Telling


def revisions(tellings: Iterable[Telling]) -> tuple[OutcomeRevision, ...]:
    """The revisions that follow from what all episodes tell (:mod:`telling`); by episode, then by date."""
    told = sorted(tellings, key=lambda one: (one.begin, one.session))
    found = (*reverts(told), *rechecks(told))
    return tuple(sorted(found, key=lambda one: (one.episode, one.asserted_at, one.rule, one.by, one.line or 0)))
