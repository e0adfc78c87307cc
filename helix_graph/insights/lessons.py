"""What an episode teaches: stated lessons, people's corrections and verified fixes, each as an insight to store.

A lesson is taken in its own words, if these can be read on their own: whole sentences that give advice or a cause, in
the present (`is_advice`). Logs call many things a lesson (headings, halves of sentences, reports of one session); what
is doubtful is dropped, since a false insight costs more than none.

A correction is what a person told the agent to do otherwise, in the person's words, with the task it was said at.

A verified fix teaches a recipe (`helix_graph.insights.fix_recipes`). Two lessons are the same (`HarvestedLesson.key`)
when they differ only in paths, numbers and quotations; two fixes when they repaired the same issue. These are classes,
whatever the order of episodes. (Lessons in other words are compared by vector, in `helix_graph.insights.harvest`.)

>>> is_advice("Always fetch and compare tips before believing that a push landed.")
True
>>> is_advice("UTF-8 trap: Observation: the default writes a byte order mark.")
False
>>> is_advice("The reviewer correctly found the missing exit code")
False
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from helix_episodes.extraction.prose.sentences import statement_sentences
from helix_episodes.light_imports import Regex
from helix_episodes.model import CORRECTS
from helix_episodes.normalization import one_line, template
from helix_graph.graph.model import NodeAnchor
from helix_graph.insights.fix_recipes import FixRecipe, recipe_text, recipes_of
from helix_graph.insights.model import FIX, LESSON
from helix_graph.insights.safe_quoting import flat
from helix_graph.insights.scoring import CORRECTION, LONGEST_CONTENT
from helix_graph.timestamps import parse_stamp, stamp

if TYPE_CHECKING:
    from helix_episodes.model import Episode

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
