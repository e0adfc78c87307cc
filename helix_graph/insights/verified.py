"""Verified fixes: whether a check that failed passed again, over the same, and what was changed between.

An episode credits every change after which a failure was gone. As advice that is too much: a plan that was accepted is
no check, a file that cannot be compiled alone says nothing when its whole folder compiles, and "edit cart.py" tells
nobody what to do. So a fix is kept only when the same command failed and then passed with something to show for it,
when one change alone lies between, and when the words of that change speak of the complaint: other edits of a file
that is mended in several places were for other complaints.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from helix_episodes.extraction.commands import parse_command
from helix_episodes.limits import LONGEST_COMMAND
from helix_episodes.regex import Regex
from helix_graph.graph.masking import one_line
from helix_graph.graph.model import moment

if TYPE_CHECKING:
    from helix_episodes.model import Decision, Episode, Event, Fix

#: So much of what was written tells a change apart; it is cut between lines.
_LONGEST_CHANGE = 200
#: A name that was put in another's place is no advice.
_FEWEST_WORDS = 2
#: A rule's name of fewer letters is a word of any program.
_SHORTEST_NAME = 5
_CODE = Regex(r"\b[A-Z]{1,4}\d{2,5}\b")
_WORD = Regex(r"\w+")
#: An identifier by its shape: a capital or an underscore within, or what follows a dot or precedes a parenthesis.
_NAME = Regex(r"\b[A-Za-z]+(?:_\w+|[a-z]*[A-Z]\w+)|(?<=\w\.)[A-Za-z]\w{3,}|\b\w{4,}(?=\()")
_QUOTED = Regex(r"[`'\"\u2018\u201c]([^`'\"\u2018\u2019\u201c\u201d]{4,80})[`'\"\u2019\u201d]")

_Run = tuple[str, str | None, tuple[str, ...], tuple[str, ...]]


def change_of(episode: Episode, fix: Fix) -> Decision | None:
    """The one change of a fix that a real check verified; None where anything is doubtful."""
    events = {one.id: one for one in episode.events}
    error, passed = events.get(fix.error), events.get(fix.verified_by or "")
    change = next((one for one in episode.decisions if (one.id,) == fix.changes), None)
    if error is None or passed is None or change is None or error.tool:
        return None
    sound = _is_pass(passed, error) and _is_between(change, error, passed)
    same = sound and _runs(episode, error) & _runs(episode, passed)
    return change if same and _speaks_of(told(change), error) else None


def told(change: Decision) -> str:
    """What was changed, in a few words: the file with the lines that were written, or the command; "" if unknown.

    >>> from helix_episodes.model import Action, Decision, Evidence
    >>> edit, shown = Action(verb="edit", path="cart.py"), Evidence(line=1, quote="return prices.get(name)")
    >>> told(Decision(id="d1", timestamp=None, type="recovery", chosen="edit cart.py", action=edit, evidence=shown))
    'edit cart.py to `return prices.get(name)`'
    """
    action = change.action
    if action is None:
        return ""
    if action.verb == "run":
        command = one_line(action.command or "")
        return f"run `{command}`" if command and len(command) <= _LONGEST_CHANGE and "`" not in command else ""
    lines = _whole_lines(change.evidence.quote if change.evidence else "")
    return f"edit {action.path} to `{lines}`" if action.verb == "edit" and action.path and lines else ""


def _whole_lines(quote: str) -> str:
    """The beginning of what was written, up to the end of a line; "" where that tells nothing."""
    kept: list[str] = []
    for line in quote.splitlines():
        if len(" ".join((*kept, line.strip()))) > _LONGEST_CHANGE:
            break
        kept.append(line.strip())
    text = one_line(" ".join(kept))
    return text if len(text.split()) >= _FEWEST_WORDS and "`" not in text else ""


def _is_pass(passed: Event, error: Event) -> bool:
    """Whether the very check that failed was content, and showed something."""
    shown = passed.evidence.quote if passed.evidence else ""
    return passed.status == "ok" and bool(error.check) and passed.check == error.check and bool(shown.strip())


def _is_between(change: Decision, error: Event, passed: Event) -> bool:
    at, start, end = (moment(one.timestamp) for one in (change, error, passed))
    return not at or (start <= at and (not end or at <= end))


def _speaks_of(said: str, error: Event) -> bool:
    """Whether a change names the rule that complained, or a name or quotation of the complaint."""
    family, message = error.family or "", error.message or ""
    # Of "gosec G104" only the code tells: the linter's name is in every remark that silences it.
    rules = _CODE.findall(family) or [one for one in family.split() if len(one) >= _SHORTEST_NAME]
    names = [one[0] for one in _NAME.finditer(message) if one[0] not in (error.path or "")]
    quoted = [one[1] for one in _QUOTED.finditer(message)]
    words = set(_WORD.findall(said))
    return bool(words & {*rules, *names}) or any(one.casefold() in said.casefold() for one in quoted)


def _runs(episode: Episode, event: Event) -> set[_Run]:
    """The checks, with all that narrows them, that the command of an event ran."""
    callers = {link.source for link in episode.links if link.target == event.id and link.reason == "call"}
    commands = (one.action.command for one in episode.decisions if one.id in callers and one.action)
    parts = (part for one in commands if one for part in parse_command(one[:LONGEST_COMMAND]))
    return {(part.program, part.subcommand, part.flags, part.scope) for part in parts if part.purpose == "check"}
