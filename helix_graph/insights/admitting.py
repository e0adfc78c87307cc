"""Admitting: what of an import may come in, where sessions were forgotten.

An export that was made before a session was forgotten still tells of it. The memory's tombstones know that it was, so
the import takes the same away as forgetting did: insights that were harvested from it, links to it, and in the logs
where, for what and why. What a person told or edited is theirs, and comes in without its session.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from helix_graph.insights.forgetting import FORGOTTEN
from helix_graph.insights.model import SOURCE, Entry, Injection, Insight, Link

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from helix_graph.insights.model import Record
_PREFIX = "episode-"


class Admission:
    """Lets records in, and counts those that it left out. ``forgotten`` says whether a session was."""

    def __init__(self, forgotten: Callable[[str], bool]) -> None:
        self._forgotten = forgotten
        self.left_out = 0

    def admit(self, records: Iterable[Record]) -> list[Record]:
        """The records without what rests on forgotten sessions, in their order."""
        given = list(records)
        kept_out = {one.uid for one in given if isinstance(one, Insight) and self._is_learnt_there(one)}
        admitted: list[Record] = []
        for one in given:
            admitted += self._share(one, kept_out)
        self.left_out += len(given) - len(admitted)
        return admitted

    def _share(self, one: Record, kept_out: set[str]) -> Iterator[Record]:
        if isinstance(one, Insight):
            if one.uid not in kept_out:
                yield replace(one, episode="") if self._is_gone(one.episode) else one
        elif isinstance(one, Link):
            if not (self._is_gone(one.episode) or {one.insight, one.target} & kept_out):
                yield one
        elif isinstance(one, Entry):
            yield silent_entry(one, {one.episode}) if self._is_gone(one.episode or "") else one
        elif isinstance(one, Injection):
            gone = self._is_gone(one.session) or self._is_gone(one.task)
            yield silent_injection(one) if gone else one
        else:
            yield one

    def _is_learnt_there(self, insight: Insight) -> bool:
        return insight.source == SOURCE and not insight.edited_at and self._is_gone(insight.episode)

    def _is_gone(self, session: str) -> bool:
        return bool(session) and (self._forgotten(session) or self._forgotten(session.removeprefix(_PREFIX)))


def silent_entry(entry: Entry, gone: Iterable[str | None]) -> Entry:
    """A feedback as numbers: without its session, by any of the names in ``gone``, and without the reasons."""
    told = tuple(
        replace(verdict, reason=FORGOTTEN, uptake=None if verdict.uptake is None else FORGOTTEN, path=())
        for verdict in entry.verdicts
    )
    named = any(name and name in entry.id for name in gone)
    return replace(entry, id=_digest(entry.id) if named else entry.id, episode=None, verdicts=told)


def silent_injection(shown: Injection) -> Injection:
    """A showing without where and for what."""
    return replace(shown, session="", task="", query="")


def _digest(identity: str) -> str:
    import hashlib  # noqa: PLC0415  (4 ms that a question does without)

    return hashlib.blake2b(identity.encode(), digest_size=16).hexdigest()
