"""How one episode is shown: as its file has it, as tables, and quotation by quotation."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from helix_cli.output import say, table
from helix_episodes.corrections import LATER, RULE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from helix_episodes.model import Episode, Evidence
    from helix_episodes.verification import Quoted


def plain(one: Episode) -> Any:  # noqa: ANN401  (JSON)
    """An episode as its file has it: keys that are not ours included, those that are not set left out."""
    import orjson  # noqa: PLC0415  (only --json needs it)

    from helix_episodes.store import encode_episode  # noqa: PLC0415  (as above)

    return orjson.loads(encode_episode(one))


def render_episode(one: Episode) -> None:
    """Print one episode as tables."""
    say(f"{one.session}  {one.timestamp or 'time not known'}")
    say(f"task     {one.task}")
    say(f"outcome  {one.outcome} ({one.outcome_basis}){_because(one)}")
    if one.outcome_evidence and one.outcome_evidence.rule.startswith((LATER, RULE)):
        say(f"revised  {one.outcome_evidence.rule}")
    _section("Decisions", [(it.id, _line(it.evidence), it.type, it.outcome, it.chosen) for it in one.decisions])
    _section("Events", [(it.id, _line(it.evidence), it.type, it.status, it.content) for it in one.events])
    _section("Links", [(link.source, link.target, link.type, link.reason) for link in one.links])
    _section("Fixes", [(fix.error, ", ".join(fix.changes), fix.check, fix.verified_by or "-") for fix in one.fixes])
    _section("Lessons", [(lesson,) for lesson in one.lessons])


def _because(one: Episode) -> str:
    return f": {one.outcome_evidence.quote}" if one.outcome_evidence and one.outcome_evidence.quote else ""


def _line(evidence: Evidence | None) -> str:
    return f"line {evidence.line}" if evidence else "-"


_COLUMNS = {
    "Decisions": ("id", "log", "type", "outcome", "chosen"),
    "Events": ("id", "log", "type", "status", "content"),
    "Links": ("from", "to", "edge", "reason"),
    "Fixes": ("error", "changes", "check", "verified by"),
    "Lessons": ("lesson",),
}


def _section(title: str, rows: Sequence[Sequence[str]]) -> None:
    if rows:
        say()
        say(title)
        table(_COLUMNS[title], rows)


def render_evidence(quoted: Sequence[Quoted]) -> None:
    """Print every quotation, and when a log was looked into, whether each stands there."""
    if not quoted:
        say("Nothing in this episode quotes a log.")
        return
    table(("of", "line", "log", "quotation"), [(one.of, _place(one), _found(one), one.quote) for one in quoted])
    say()
    say(", ".join(f"{number} {result}" for result, number in sorted(Counter(one.result for one in quoted).items())))


def _place(one: Quoted) -> str:
    return f"{one.line}{f' of {one.file}' if one.file else ''}"


def _found(one: Quoted) -> str:
    return f"moved to line {one.found_on}" if one.result == "moved" else one.result
