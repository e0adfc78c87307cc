r"""What an episode teaches: stated lessons, people's corrections and verified fixes, each as an insight to store.

A lesson is taken in its own words, if these can be read on their own: whole sentences that give advice or a cause, in
the present (`is_advice`). Logs call many things a lesson (headings, halves of sentences, reports of one session); what
is doubtful is dropped, since a false insight costs more than none.

A correction is what a person told the agent to do otherwise, in the person's words, with the task it was said at.

A verified fix teaches a recipe for its issue, made of facts alone. It is taken only when nothing about it is doubtful
(`verified_change`): the same command failed and then passed with output to show for it, and a single change lies
between, which touches what the complaint names. Not taken is what teaches nothing: an expectation of a test that was
changed, a complaint that was silenced, and code that does not compile, where the message says what is missing and the
same name will not be missing again.

A recipe is of an *issue*: a linter's rule, else the fingerprint of the message (`FixRecipe.key`). What several sessions
did for it is one text (`recipe_text`): the kind of change that most of them made, one example, how often it was
verified, and what it applies to. No line numbers: those of an old version lead astray.

Two lessons are the same (`HarvestedLesson.key`) when they differ only in paths, numbers and quotations; two fixes when
they repaired the same issue. These are classes, whatever the order of episodes. (Lessons in other words are compared by
vector, in `helix_graph.insights.harvest`.)

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
>>> print(recipe_text(list(recipes_of(episode))))  # doctest: +NORMALIZE_WHITESPACE
When pytest fails with ModuleNotFoundError: No module named 'shop': edit pyproject.toml to `packages = ["shop"]`.
Verified by pytest in 1 session. Applies to this message, not to every ModuleNotFoundError.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import msgspec
from msgspec.structs import replace

from helix_episodes.extraction.fingerprints import is_noise
from helix_episodes.extraction.prose.sentences import statement_sentences
from helix_episodes.extraction.shell.commands import parse_command, plain_command
from helix_episodes.light_imports import Regex
from helix_episodes.model import CORRECTS, Decision, Episode, Event, Fix, sortable_time
from helix_episodes.normalization import one_line, template
from helix_episodes.safe_files import LONGEST_COMMAND
from helix_graph.graph.anchors import NodeAnchor
from helix_graph.graph.episode_facts import fingerprints_of_event
from helix_graph.graph.error_query import is_compile_family, is_exception, says_something
from helix_graph.graph.node_labels import check_label, family_of
from helix_graph.helix_db import parse_stamp, stamp
from helix_graph.insights.model import FIX, LESSON
from helix_graph.insights.safe_quoting import flat
from helix_graph.insights.scoring import CORRECTION, LONGEST_CONTENT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


#: So much of a message distinguishes it.
_LONGEST_PART = 200
#: Where a diagnostic is, before its message or within it: of an old version it leads astray.
_LOCATION = Regex(r"^\S+?(?::\d+(?::\d+)?|\(\d+,\d+\)):?\s+")
_NUMBERED = Regex(r"(\.[A-Za-z]\w{0,7})(?::\d+){1,2}(?!\d)|,? (?:on |at )?line \d+")
_REPAIRS_BY_ITSELF = Regex(r"--fix\b|--write\b|:fix\b|\bfmt\b|\bformat\b")
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


class FixRecipe(msgspec.Struct, frozen=True, kw_only=True):
    """What one session did about an issue.

    ``rule`` is the linter's rule where the issue is one, else "". ``how`` is the change in a form that another session
    may share: a command, or the file that was edited, or "" where it was the file that the failure names. ``example``
    is what was written there. ``error`` and ``change`` are the words of both steps in the log.
    """

    key: str
    episode: str
    check: str
    trouble: str
    rule: str
    exception: str
    how: str
    path: str
    example: str
    verified_by: str
    error: str
    change: str


def recipes_of(episode: Episode) -> Iterator[FixRecipe]:
    """The recipes that the fixes of an episode teach."""
    events = {one.id: one for one in episode.events}
    for fix in episode.fixes:
        change = verified_change(episode, fix)
        recipe = _recipe(episode, events[fix.error], change, fix.check) if change is not None else None
        if recipe is not None:
            yield recipe


def _recipe(episode: Episode, error: Event, change: Decision, check: str) -> FixRecipe | None:
    """The facts of a fix; None where it teaches nothing."""
    action, family = change.action, family_of(error)
    message = one_line(error.message or family)
    if action is None or action.suppresses or is_compile_family(family):
        return None
    if action.role == "test" and error.tests:
        return None  # what the test expects was changed
    # A family may be the name of a rule, or only a form of the message.
    rule = (
        family
        if not (error.tests or is_exception(family) or template(message) == family) and says_something(family)
        else ""
    )
    if not rule and is_noise(message):
        return None  # a total, or that a task failed
    issue = rule or next(iter(fingerprints_of_event(error)), "") or template(message)
    named = action.verb == "edit" and _name(action.path) == _name(error.path) != ""
    command = plain_command(action.command or "") if action.verb == "run" else ""
    return FixRecipe(
        key="\0".join((check_label(error.check or ""), issue)),
        episode=episode.id,
        check=check_label(error.check or "").removesuffix(" fails: "),
        trouble=_NUMBERED.sub(r"\1", _LOCATION.sub("", message)),
        rule=rule,
        exception=family if is_exception(family) else "",
        how=f"run `{command}`" if command else "" if named else f"edit {action.path}",
        path=action.path or "",
        example="" if command else _whole_lines(change.evidence.quote if change.evidence else ""),
        verified_by=check,
        error=error.content,
        change=change.chosen,
    )


def _name(path: str | None) -> str:
    return (path or "").rpartition("/")[2]


def recipe_text(recipes: Sequence[FixRecipe]) -> str:
    """What sessions did about one issue, the earliest first, as one piece of advice."""
    ways = Counter(one.how for one in recipes)
    how = max(ways, key=lambda way: (ways[way], -[one.how for one in recipes].index(way)))
    of_way = [one for one in recipes if one.how == how]
    first = of_way[0]
    if first.rule:
        trouble = f"{first.check} reports {first.rule}"
    else:
        line = first.trouble
        line = line if len(line) <= _LONGEST_PART else f"{line[:_LONGEST_PART].rstrip()}…"
        trouble = f"{first.check} fails with {line.rstrip('.')}"
    if not how:
        done = f"change the place that it names, as in {first.path}: `{first.example}`"
    else:
        done = f"{how} to `{first.example}`" if first.example else how
    checks = ", ".join(dict.fromkeys(one.verified_by for one in of_way))
    sessions = {one.episode for one in of_way}
    said = f"When {trouble}: {done}. Verified by {checks} in {_sessions(len(sessions))}"
    other = len({one.episode for one in recipes} - sessions)
    said += f"; {_sessions(other)} made another change." if other else "."
    if first.rule:
        return f"{said} Applies wherever {first.check} reports it."
    return f"{said} Applies to this message, not to every {first.exception or f'failure of {first.check}'}."


def _sessions(number: int) -> str:
    return f"{number} session{'s' * (number != 1)}"


def verified_change(episode: Episode, fix: Fix) -> Decision | None:
    """The one change of a fix that a real check verified; None where anything is doubtful."""
    events = {one.id: one for one in episode.events}
    error, passed = events.get(fix.error), events.get(fix.verified_by or "")
    change = next((one for one in episode.decisions if (one.id,) == fix.changes), None)
    if error is None or passed is None or change is None or error.tool:
        return None
    # The very check that failed was content, and showed something.
    shown = passed.evidence.quote if passed.evidence else ""
    if passed.status != "ok" or not error.check or passed.check != error.check or not shown.strip():
        return None
    at, start, end = (sortable_time(one.timestamp) for one in (change, error, passed))
    if at and (at < start or (end and at > end)):
        return None
    evidence, suppresses = fix.edit_of(change)
    action = change.action and replace(change.action, suppresses=suppresses)
    change = replace(change, evidence=evidence, action=action)
    command = action.command if action and action.verb == "run" else None
    if command and _REPAIRS_BY_ITSELF.search(command):
        return change if change_text(change) else None
    if not _runs(episode, error) & _runs(episode, passed):
        return None
    return change if _speaks_of(change_text(change), error) or _is_all(episode, change, error) else None


def _is_all(episode: Episode, change: Decision, error: Event) -> bool:
    """Whether a change wrote little, in the file that is complained of, and repaired nothing else."""
    at_place = change.action is not None and _name(change.action.path) == _name(error.path) != ""
    written = change.evidence.quote if change.evidence else ""
    repaired = sum(change.id in one.changes for one in episode.fixes)
    whole = one_line(" ".join(line.strip() for line in written.splitlines()))
    return at_place and not error.tests and repaired == 1 and bool(whole) and whole == _whole_lines(written)


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


#: Of the task at which a person corrected the agent.
_LONGEST_TASK = 200
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
        and any(
            _IMPERATIVE.match(one) or _CONDITION.match(one) or (_VERB.search(one) and _CAUSE.search(one))
            for one in sentences
        )
    )


def _is_whole(line: str) -> bool:
    """Whether nothing of the text is missing at either end, and no label is before or within it."""
    if not _BEGINS.match(line) or _REFERS.match(line) or not _ENDS.search(line):
        return False
    pairs = (("(", ")"), ("[", "]"), ("{", "}"))
    closed = line.count("`") % 2 == 0 and all(line.count(one) == line.count(other) for one, other in pairs)
    return closed and not _LABELLED.match(line) and not _SECTIONS.search(line.removeprefix("Avoid: "))


class LessonLink(NamedTuple):
    """A link that a harvested insight gets."""

    relation: str
    anchor: NodeAnchor


class HarvestedLesson(msgspec.Struct, frozen=True, kw_only=True):
    """An insight that an episode teaches. ``at`` is when the episode began, "" where it does not say.

    ``recipe`` are the facts of a fix, of which several sessions make one text.
    """

    key: str
    kind: str
    content: str
    at: str
    episode: str
    bonds: tuple[LessonLink, ...]
    recipe: FixRecipe | None = None

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
            words = f"A person corrected the agent at work on {one_line(episode.task)[:_LONGEST_TASK]!r}: {said}"
            yield _harvested(episode, CORRECTION, template(said).casefold(), words, (bond,))
    for recipe in recipes_of(episode):
        failing = NodeAnchor(type="error", text=recipe.error, episode=episode.id)
        made = NodeAnchor(type="decision", text=recipe.change, episode=episode.id)
        bonds = (
            LessonLink("derived_from", made),
            LessonLink("addresses", failing),
            LessonLink("prevents", failing),
        )
        yield _harvested(episode, FIX, recipe.key, recipe_text([recipe]), bonds, recipe=recipe)


def _harvested(
    episode: Episode,
    kind: str,
    key: str,
    content: str,
    bonds: tuple[LessonLink, ...],
    *,
    recipe: FixRecipe | None = None,
) -> HarvestedLesson:
    began = parse_stamp(episode.timestamp)
    return HarvestedLesson(
        key=f"{kind}\0{key}",
        kind=kind,
        content=flat(content)[:LONGEST_CONTENT],
        at=stamp(began) if began else "",
        episode=episode.id,
        bonds=bonds,
        recipe=recipe,
    )
