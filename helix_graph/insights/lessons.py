"""What an episode teaches: stated lessons, people's corrections and verified fixes, each as an insight to store.

A lesson is taken in its own words, if these can be read on their own: whole sentences that give advice or a cause, in
the present (`is_advice`). Logs call many things a lesson (headings, halves of sentences, reports of one session); what
is doubtful is dropped, since a false insight costs more than none.

A correction is what a person told the agent to do otherwise, in the person's words, with the task it was said at.

A fix is worded from facts alone, "When <error>, <change>, verified by <check>". It is kept only when the same command
failed and then passed with output to show for it, when a single change lies between, and when the words of that change
mention the complaint (`verified_change`): an episode credits every change after which a failure was gone.

Two lessons are the same (`HarvestedLesson.key`) when they differ only in paths, numbers and quotations; two fixes when
the kind of error, the files or commands of the change, and the check are the same. These are classes, whatever the
order of episodes. (Lessons in other words are compared by vector, in `helix_graph.insights.harvest`.)

>>> is_advice("Always fetch and compare tips before believing that a push landed.")
True
>>> is_advice("UTF-8 trap: Observation: the default writes a byte order mark.")
False
>>> is_advice("The reviewer correctly found the missing exit code")
False
>>> from helix_episodes.model import Action, Decision, Episode, Event, Evidence, Fix, Link
>>> suite = Action(verb="run", command="pytest -q")
>>> edit = Action(verb="edit", role="config", path="pyproject.toml")
>>> episode = Episode(id="episode-1", session="1", timestamp="2026-11-01T10:00:00Z", outcome="success", task="Mend CI",
...     decisions=(Decision(id="d1", timestamp=None, type="test", chosen="run pytest -q", action=suite),
...                Decision(id="d2", timestamp=None, type="recovery", chosen="edit pyproject.toml", action=edit,
...                         evidence=Evidence(line=4, quote='packages = ["shop"]')),
...                Decision(id="d3", timestamp=None, type="test", chosen="run pytest -q", action=suite)),
...     events=(Event(id="e1", timestamp=None, type="error", status="error", check="pytest", content="pytest failed",
...                   family="ModuleNotFoundError", message="ModuleNotFoundError: No module named 'shop'"),
...             Event(id="e2", timestamp=None, type="test", status="ok", check="pytest", content="pytest passes",
...                   evidence=Evidence(line=6, quote="3 passed"))),
...     links=(Link(source="d1", target="e1", reason="call"), Link(source="d3", target="e2", reason="call")),
...     fixes=(Fix(error="e1", changes=("d2",), check="pytest", verified_by="e2"),))
>>> print(next(lessons_of(episode)).content)  # doctest: +NORMALIZE_WHITESPACE
When pytest fails with ModuleNotFoundError: No module named 'shop': edit pyproject.toml to `packages = ["shop"]`,
verified by pytest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from helix_episodes.extraction.prose.sentences import statement_sentences
from helix_episodes.extraction.shell.commands import parse_command
from helix_episodes.light_imports import Regex
from helix_episodes.model import CORRECTS, Decision, Episode, Event, Fix, sortable_time
from helix_episodes.normalization import one_line, template
from helix_episodes.safe_files import LONGEST_COMMAND
from helix_graph.graph.model import NodeAnchor
from helix_graph.graph.node_labels import check_label, decision_key, event_key, family_of
from helix_graph.insights.model import FIX, LESSON
from helix_graph.insights.scoring import CORRECTION, LONGEST_CONTENT
from helix_graph.timestamps import parse_stamp, stamp

#: Shorter is a heading.
_FEWEST_WORDS = 5
#: A sentence begins with a capital, a number or a quotation; what refers back or counts on has lost its beginning.
_BEGINS = Regex(r"[A-Z`\"'(@$.0-9-]")
_REFERS = Regex(
    r"(?:this|that|these|those|it|its|they|he|she|we|i|our|my|both|all (?:of )?(?:these|those|the|\w+)|such"
    r"|another|also|however|instead|first|second|third|fourth|fifth|finally|last(?:ly)?|then|next|and|but|or|so)\b",
    re.IGNORECASE,
)
_ENDS = Regex(r"(?:[.!?]|[\w`\"')\]}%/])$")
#: "Prevention: …", "Corrected pattern: …", and sections run together with their labels.
_LABELLED = Regex(r"^(?!Avoid:)[^.!?`:]{1,80}:(?:\s|$)")
_SECTIONS = Regex(r"::\s|(?<=[.\s])(?:[A-Z][\w-]*(?: [A-Z]?[\w-]+){0,2}):\s")
#: It happened in one session, or is only about it.
_HAPPENED = Regex(
    r"\b(?:was|were|had|did|i|we|our|my|already|currently|today|outdated)\b"
    r"|\b(?:this|that|the) (?:session|run|pr|branch|review)\b|#\d|\bsessions? \d|\bpr \d|\b\d+/\d+\b",
    re.IGNORECASE,
)
#: Without a subject it tells what somebody did; so does a past form behind a subject, with or without an adverb.
_REPORTS = Regex(
    r"^(?:Re-)?[A-Za-z]+ed\b|^Re-?ran\b"
    r"|^[A-Z]\w*(?: \w+){0,3} (?:\w+ly )?(?:identified|found|flagged|added|fixed|missed)\b"
)
_FINITE = (
    r"is|are|isn't|aren't|can|cannot|can't|must|should|may|needs?|has|have|does|do|doesn't|don't|will|won't|means?"
    r"|causes?|leads?|makes?|fails?|breaks?|hides?|keeps?|leaves?|requires?|returns?|prevents?|proves?|becomes?|stays?"
)
_VERB = Regex(rf"\b(?:{_FINITE})\b", re.IGNORECASE)
_IMPERATIVE = Regex(
    r"^(?:Avoid: )?(?:Always|Never|Avoid|Use|Prefer|Do|Don't|Check|Verify|Run|Keep|Measure|Re-measure|Compare|Read|Test"
    r"|Add|Make|Wrap|Put|Set|Pass|Call|Write|Validate|Extract|Parse|Exclude|Key|Ship|Pin|Start|Stop|Wait|Fetch|Treat"
    r"|Document)\b"
)
_CONDITION = Regex(r"^(?:When|If|Before|After|While|Unless|Where) [^,]{4,160}, \S")
_CAUSE = Regex(
    r"\b(?:because|since|so|therefore|causes?|leads? to|means?|makes?|prevents?|breaks?|requires?|cannot|can't|must"
    r"|should|needs? to|never|always|instead of|rather than|unless|only when|only if|until)\b",
    re.IGNORECASE,
)


def is_advice(text: str) -> bool:
    """Whether a lesson is made of whole sentences, and says what to do or what leads to what."""
    line = " ".join(text.split())
    if len(line.split()) < _FEWEST_WORDS or not _is_whole(line):
        return False
    sentences = [one.strip() for one in statement_sentences(line.removeprefix("Avoid: ")) if one.strip()]
    return (
        bool(sentences)
        and not any(_HAPPENED.search(one) or _REPORTS.match(one) for one in sentences)
        and any(_advises(one) for one in sentences)
    )


def _is_whole(line: str) -> bool:
    """Whether nothing of the text is missing at either end, and no label is before or within it."""
    if not _BEGINS.match(line) or _REFERS.match(line) or not _ENDS.search(line):
        return False
    pairs = (("(", ")"), ("[", "]"), ("{", "}"))
    closed = line.count("`") % 2 == 0 and all(line.count(one) == line.count(other) for one, other in pairs)
    return closed and not _LABELLED.match(line) and not _SECTIONS.search(line.removeprefix("Avoid: "))


def _advises(sentence: str) -> bool:
    if _IMPERATIVE.match(sentence) or _CONDITION.match(sentence):
        return True
    return bool(_VERB.search(sentence) and _CAUSE.search(sentence))


#: So much of what was written distinguishes a change; it is cut between lines.
_LONGEST_CHANGE = 200
#: A name that was put in another's place is no advice.
_FEWEST_CHANGE_WORDS = 2
#: A rule's name of fewer letters is a word of any program.
_SHORTEST_NAME = 5
_CODE = Regex(r"\b[A-Z]{1,4}\d{2,5}\b")
_WORD = Regex(r"\w+")
#: An identifier by its shape: a capital or an underscore within, or what follows a dot or precedes a parenthesis.
_NAME = Regex(r"\b[A-Za-z]+(?:_\w+|[a-z]*[A-Z]\w+)|(?<=\w\.)[A-Za-z]\w{3,}|\b\w{4,}(?=\()")
_QUOTED = Regex(r"[`'\"\u2018\u201c]([^`'\"\u2018\u2019\u201c\u201d]{4,80})[`'\"\u2019\u201d]")

_Run = tuple[str, str | None, tuple[str, ...], tuple[str, ...]]


def verified_change(episode: Episode, fix: Fix) -> Decision | None:
    """The one change of a fix that a real check verified; None where anything is doubtful."""
    events = {one.id: one for one in episode.events}
    error, passed = events.get(fix.error), events.get(fix.verified_by or "")
    change = next((one for one in episode.decisions if (one.id,) == fix.changes), None)
    if error is None or passed is None or change is None or error.tool:
        return None
    sound = _is_pass(passed, error) and _is_between(change, error, passed)
    same = sound and _runs(episode, error) & _runs(episode, passed)
    return change if same and _speaks_of(change_text(change), error) else None


def change_text(change: Decision) -> str:
    """What was changed, in a few words: the file with the lines that were written, or the command; "" if unknown.

    >>> from helix_episodes.model import Action, Decision, Evidence
    >>> edit, shown = Action(verb="edit", path="cart.py"), Evidence(line=1, quote="return prices.get(name)")
    >>> mended = Decision(id="d1", timestamp=None, type="recovery", chosen="edit cart.py", action=edit, evidence=shown)
    >>> change_text(mended)
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
    stored: list[str] = []
    for line in quote.splitlines():
        if len(" ".join((*stored, line.strip()))) > _LONGEST_CHANGE:
            break
        stored.append(line.strip())
    text = one_line(" ".join(stored))
    return text if len(text.split()) >= _FEWEST_CHANGE_WORDS and "`" not in text else ""


def _is_pass(passed: Event, error: Event) -> bool:
    """Whether the very check that failed was content, and showed something."""
    shown = passed.evidence.quote if passed.evidence else ""
    return passed.status == "ok" and bool(error.check) and passed.check == error.check and bool(shown.strip())


def _is_between(change: Decision, error: Event, passed: Event) -> bool:
    at, start, end = (sortable_time(one.timestamp) for one in (change, error, passed))
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


#: So much of a message distinguishes it.
_LONGEST_PART = 200


class LessonLink(NamedTuple):
    """A link that a harvested insight gets."""

    relation: str
    anchor: NodeAnchor


class HarvestedLesson(msgspec.Struct, frozen=True, kw_only=True):
    """An insight that an episode teaches. ``at`` is when the episode began, "" where it does not say."""

    key: str
    kind: str
    content: str
    at: str
    episode: str
    bonds: tuple[LessonLink, ...]

    @property
    def place(self) -> tuple[str, str, str]:
        """By what the first of several that are the same is found: the earliest, whose words are kept."""
        return self.at or "9", self.episode, self.content


def lessons_of(episode: Episode) -> Iterator[HarvestedLesson]:
    """What one episode teaches."""
    derived = {number for number, one in enumerate(episode.lesson_evidence) if one.derived}
    bond = LessonLink("derived_from", NodeAnchor(type="episode", text="", episode=episode.id))
    for number, text in enumerate(episode.lessons):
        # What extraction derived is worded again from the fix that it was derived from.
        if number not in derived and is_advice(text):
            yield _harvested(episode, LESSON, template(text).casefold(), text, (bond,))
    for event in episode.events:
        if event.type == "milestone" and event.content.startswith(CORRECTS):
            said = event.content.removeprefix(CORRECTS)
            words = f"A person corrected the agent at work on {one_line(episode.task)[:_LONGEST_PART]!r}: {said}"
            yield _harvested(episode, CORRECTION, template(said).casefold(), words, (bond,))
    yield from _fixes(episode)


def _fixes(episode: Episode) -> Iterator[HarvestedLesson]:
    events = {one.id: one for one in episode.events}
    for fix in episode.fixes:
        change = verified_change(episode, fix)
        if change is not None:
            error = events[fix.error]
            failing = NodeAnchor(type="error", text=error.content, episode=episode.id)
            made = NodeAnchor(type="decision", text=change.chosen, episode=episode.id)
            bonds = (
                LessonLink("derived_from", made),
                LessonLink("addresses", failing),
                LessonLink("prevents", failing),
            )
            target = (change.action and (change.action.path or change.action.command)) or ""
            key = "\0".join((event_key(error) or "", decision_key(change), target, fix.check))
            yield _harvested(episode, FIX, key, _sentence(error, change, check=fix.check), bonds)


def _harvested(episode: Episode, kind: str, key: str, content: str, bonds: tuple[LessonLink, ...]) -> HarvestedLesson:
    began = parse_stamp(episode.timestamp)
    return HarvestedLesson(
        key=f"{kind}\0{key}",
        kind=kind,
        content=" ".join(content.split())[:LONGEST_CONTENT],
        at=stamp(began) if began else "",
        episode=episode.id,
        bonds=bonds,
    )


def _sentence(error: Event, change: Decision, *, check: str) -> str:
    failing = check_label(error.check or "").removesuffix(": ")
    line = one_line(error.message or family_of(error))
    trouble = (line if len(line) <= _LONGEST_PART else f"{line[:_LONGEST_PART].rstrip()}…").rstrip(".")
    return f"When {failing} with {trouble}: {change_text(change)}, verified by {check}."
