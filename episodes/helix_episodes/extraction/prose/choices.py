"""Choices in prose: one thing taken and another left, or a change with the reason for it.

"Chose", "decided" and their like make a decision only where they take something; "per decision 4" or "the chosen file"
take nothing. A change is a choice when the sentence names what it was preferred to ("rather than", "instead of") or the
reason it was made for ("because", "since"), or when it says what the thing now does or holds ("Changed the filter to
drop …").
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from helix_episodes.extraction.drafts import evidence_of, line, timestamp_of
from helix_episodes.extraction.prose.failures import CHANGES
from helix_episodes.extraction.prose.sentences import LONGEST_SENTENCE, STATEMENT_END, statement_sentences
from helix_episodes.light_imports import Regex
from helix_episodes.model import Action, Decision

if TYPE_CHECKING:
    from helix_episodes.model import Outcome
    from helix_episodes.session import Step


class StatedChoice(msgspec.Struct, frozen=True, kw_only=True):
    """What was chosen, why, over what, the sentence that says so, the one before it, and one that it only heads."""

    statement: str
    chosen: str
    rationale: str = ""
    options: tuple[str, ...] = ()
    context: str = ""
    behind: str = ""


_TAKES = Regex(
    r"(?:^|, |; |\band |\bthen )(?:I |we )?chose\s+(?P<what>.+)",
    re.IGNORECASE | re.DOTALL,
)
#: "Kept the helper over the script".
_JUDGES = Regex(
    r"^\W*kept [^.;]{3,120}? over (?P<other>(?:an?|the|its|this) [^.;,]+)",
    re.IGNORECASE,
)
_LEAD = r"^(?:\W|also |then )*"
#: Where a deed of the writer begins: the sentence, or what it goes on with after another deed.
_DEED_BEGINS = rf"(?:{_LEAD}|^\W*[a-z-]+ed\b.*?(?:, and |, then ))"
_PREFERS = Regex(
    rf"{_DEED_BEGINS}(?:{CHANGES}|[a-z-]+ed)\b(?P<what>.*?),?\s+"
    r"(?:instead of|rather than|not by)\s+(?P<other>[^.;]+)",
    re.IGNORECASE | re.DOTALL,
)
_REASONED = Regex(
    rf"{_LEAD}{CHANGES}\b(?P<what>.+?),?\s+(?P<how>because|since (?!\d))",
    re.IGNORECASE | re.DOTALL,
)
_SWAPS = Regex(
    r"^\W*(?:replaced (?P<given_up>[^,;:]{3,80}?) with (?!the\b)\S.+"
    r"|changed(?: [^,;]{3,80}?)? from (?P<old>(?!\d)[^,;]{2,60}?) to (?!\d)\S.+)",
    re.IGNORECASE,
)
#: "The helper was deleted rather than translated": what was done to a thing, and what was not.
_PASSIVE = Regex(
    r"^[^;]{3,160}? (?:is|was|were|are) (?:\w+ ){0,6}?[a-z]+ed(?: \w+){0,4} (?:rather than|instead of"
    r"|not) (?P<other>[a-z]+ed\b[^.;,]*)",
    re.IGNORECASE,
)
#: A look taken before the deed that it could have stopped.
_WEIGHS = Regex(
    r"^\W*(?:measured|reproduced)\b.{5,200}? before (?!and\b|any\b|acting\b)[a-z]+ing\b",
    re.IGNORECASE,
)
#: A change reported with its substance: what the thing now does or holds, how it was done, what accompanies it.
_TELLS_HOW = Regex(
    rf"{_DEED_BEGINS}(?!(?:used|created)\b){CHANGES}\b.{{3,240}}?(?:: \S+(?: \S+){{4}}|, (?:which|so) |\bby \w+ing\b|"
    r"\bwith (?:an?|its|the) |\bto (?!(?:an?|the|its|all|both|each|every)\b)[a-z-]+ (?=(?:an?|the|each|every"
    r"|only|whether|on|as|its|[`_.A-Z])\b|[`_.]))",
    re.IGNORECASE,
)
#: Where a thing is now.
_PLACES = Regex(
    r"^\W*(?:moved|merged|split|converted) (?!(?:it|them|(?:origin/)?main)\b)[^;:]{3,120}? (?:in)?to "
    r"(?!the branch\b)\S.+",
    re.IGNORECASE,
)
#: "..., used the subscript instead": what was taken, where the sentence before says what was left.
_INSTEAD = Regex(rf"^\W*{CHANGES}\b.{{3,240}}\binstead\b(?! of)", re.IGNORECASE)
_OVER = Regex(r"\s+(?:over|rather than|instead of)\s+(?P<other>[^.;,]+)", re.IGNORECASE)
_WHY = Regex(
    r",?\s+(?:(?:because|since|as)\s+(?P<fact>.+)|(?P<aim>(?:so that|so|for)\s+.+))$",
    re.IGNORECASE | re.DOTALL,
)
_BECAUSE = Regex(r"^\W*(?:because|since|as)\s+", re.IGNORECASE)
#: What a reason begins with when it names what was wanted, who wanted it, or praises the choice.
_PURPOSE = Regex(
    r"^\W*(?:to|for|so|per|after|preserv\w*|enabl\w*|allow\w*|prevent\w*|more|less)\b",
    re.IGNORECASE,
)
#: Fewer words name a thing ("REST limits"), they state nothing.
_FACT_WORDS = 3
#: "Took the second way out of the two." and its like introduce the sentence that explains it.
_HEAD_WORDS = 9


#: What is supposed or demanded, listed or counted is no choice of this session.
_UNMEANT = Regex(r"^\W*(?:if|when|whether|unless|should|must)\b", re.IGNORECASE)
#: Shapes of a sentence that makes a choice, in order: a judgement, one thing taken for another; then what was
#: picked or moved, mostly with what was not taken.
_SHAPES = (
    _JUDGES.match, _SWAPS.match, _PASSIVE.match, _PLACES.match, _TELLS_HOW.search, _INSTEAD.match,
    _WEIGHS.search,
)  # fmt: skip
#: The groups of those shapes that name what was not taken.
_LEFT_OUT = ("other", "given_up", "old")


def draft_choice(step: Step, choice: StatedChoice, *, context: str, outcome: Outcome = "unknown") -> Decision:
    """The decision, without an id, that a choice in a step's words makes."""
    return Decision(
        id="",
        timestamp=timestamp_of(step),
        type="design",
        context=context,
        chosen=line(choice.chosen),
        rationale=line(choice.rationale),
        options=tuple(line(option) for option in choice.options),
        outcome=outcome,
        stated=True,
        action=Action(verb="choose", object=line(choice.chosen, limit=80)),
        actor=step.actor,
        evidence=evidence_of(step, choice.statement),
    )


def choices_in(text: str) -> tuple[StatedChoice, ...]:
    """The choices that a statement makes, in order.

    >>> choices_in("Chose a hook over a cron job so one tool serves both")[0].options
    ('a cron job',)
    >>> choices_in("Moved the script to tools/ because nobody found it")[0].rationale
    'because nobody found it'
    >>> choices_in("Read the chosen file and the decision log")
    ()
    """
    sentences = statement_sentences(text)
    return tuple(
        _in_context(choice, before, after)
        for before, sentence, after in zip(["", *sentences], sentences, [*sentences[1:], ""], strict=False)
        if (choice := _choice(sentence)) is not None
    )


def reason_in(decision: str) -> StatedChoice | None:
    """The choice that a stated decision spells out itself, after its label if it has one.

    >>> reason_in("Storage: Kept one file rather than a folder, because nothing reads it twice").options
    ('a folder',)
    """
    words = decision.strip()[:LONGEST_SENTENCE]
    return _choice(words) or _choice(words.partition(": ")[2])


def fact_in(rationale: str) -> str:
    """The first sentence of a reason when it states a fact; a purpose ("to avoid ...") caused nothing.

    >>> fact_in("because the queue drops messages. So it goes"), fact_in("to keep it simple")
    ('the queue drops messages.', '')
    """
    first = STATEMENT_END.split(_BECAUSE.sub("", rationale.strip()))[0].strip()[:LONGEST_SENTENCE]
    return "" if _PURPOSE.match(first) or len(first.split()) < _FACT_WORDS else first


def _in_context(choice: StatedChoice, before: str, after: str) -> StatedChoice:
    """A choice with the sentence before it.

    A short choice without a reason introduces what follows: the next sentence says what it was.
    """
    heads = not choice.rationale and len(choice.statement.split()) <= _HEAD_WORDS
    return msgspec.structs.replace(choice, context=before, behind=after if heads else "")


def _choice(sentence: str) -> StatedChoice | None:
    if _UNMEANT.search(sentence):
        return None
    if takes := _TAKES.search(sentence):
        return _taken(sentence, takes["what"])
    if prefers := _PREFERS.search(sentence):
        why = _WHY.search(prefers["other"])
        other = prefers["other"][: why.start()] if why else prefers["other"]
        return StatedChoice(statement=sentence, chosen=sentence, options=(other.strip(),), rationale=_stated_why(why))
    if reasoned := _REASONED.match(sentence):
        chosen, reason = sentence[: reasoned.end("what")], sentence[reasoned.start("how") :]
        return StatedChoice(statement=sentence, chosen=chosen, rationale=reason)
    found = next((match for shape in _SHAPES if (match := shape(sentence))), None)
    if found is None:
        return None
    parts = found.groupdict("")
    other = next((parts[name] for name in _LEFT_OUT if parts.get(name)), "")
    return StatedChoice(
        statement=sentence,
        chosen=sentence,
        options=(other.strip(),) if other else (),
    )


def _taken(sentence: str, what: str) -> StatedChoice:
    """What a verb of choosing takes, apart from what it was preferred to and why."""
    over = _OVER.search(what)
    chosen = what[: over.start()] if over else what
    why = _WHY.search(chosen)
    if why and not over:
        return StatedChoice(statement=sentence, chosen=sentence, rationale=_stated_why(why))
    other = over["other"] if over else ""
    because = _WHY.search(other)
    option = other[: because.start()] if because else other
    return StatedChoice(
        statement=sentence, chosen=sentence, options=(option.strip(),) if option else (), rationale=_stated_why(because)
    )


def _stated_why(match: re.Match[str] | None) -> str:
    """A reason without its "because"; an aim keeps the word that says that it is one."""
    return (match["fact"] or match["aim"]).strip() if match else ""
