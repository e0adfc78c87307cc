"""Decisions in messages: those that the log spells out, and those that a message implies.

*Stated*: an approved plan or an answered question, which the reader gives as a ``decision`` step; in messages what
follows ``Decision:`` or is an item under a heading such as "Decisions made".

*Implied*: a recommendation in the writer's own name; a choice that names what it is made against or for ("I'll keep
the map instead of …", "I'll use X since …"); alternatives listed for the person to choose from; a plan whose steps are
announced as a numbered list. Each at most once a message. A thought counts only when the message after it makes no such
choice. What is asked with a tool and never answered is one too (`helix_episodes.extraction.decisions`).
"""

from __future__ import annotations

import re
from itertools import islice, pairwise, takewhile
from typing import TYPE_CHECKING

from helix_episodes.extraction.drafts import line
from helix_episodes.extraction.prose.choices import StatedChoice, draft_choice, reason_in
from helix_episodes.extraction.prose.sentences import (
    PROSE_LIMIT,
    has_any,
    is_supposed,
    marked_items,
    prose,
    sentences_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from helix_episodes.model import Decision
    from helix_episodes.session import Step


#: A message that marks more than this is a listing, not a set of decisions.
_MOST = 50
_LABELLED = re.compile(
    r"^\s*(?:[-*+]\s+)?(?:\*\*|__)?decision(?:\*\*|__)?\s*:\s*(?:(?:\*\*|__)\s*)?(.+)$", re.IGNORECASE
)
_HEADING = re.compile(
    r"^\s*(?:#{1,6}\s+|\*\*)(?:key |design |technical |main )?decisions?(?: made"
    r"| taken)?\s*(?::\s*)?(?:\*\*\s*)?(?::\s*)?$",
    re.IGNORECASE,
)
_REASON = re.compile(r"(?<!\s)\s+(?:because|since|so that|\u2014|-)\s+", re.IGNORECASE)


def stated_decisions(step: Step, *, context: str) -> Iterator[Decision]:
    """The decisions that a message or a ``decision`` step states."""
    if step.kind == "decision":
        rationale, options = reasons_of(step)
        choice = StatedChoice(statement=step.text, chosen=step.text, rationale=rationale, options=options)
        context = line(str(step.arguments.get("context") or context))
        yield draft_choice(step, choice, context=context, outcome=step.arguments.get("outcome") or "unknown")
    elif "ecision" in step.text:
        for words in islice(marked_items(step.text, label=_LABELLED, heading=_HEADING), _MOST):
            chosen, *reason = _REASON.split(re.sub(r"[*`_]{1,3}", "", words), maxsplit=1)
            choice = StatedChoice(statement=words, chosen=chosen, rationale="".join(reason))
            yield draft_choice(step, choice, context=context)


def reasons_of(step: Step) -> tuple[str, tuple[str, ...]]:
    """Why a stated decision was taken, and over what: as the log keeps it, else as the decision's own words say."""
    rationale = str(step.arguments.get("rationale") or "")
    options = tuple(str(option) for option in step.arguments.get("options") or ())
    spelled = reason_in(step.text) if not rationale else None
    return (spelled.rationale, options or spelled.options) if spelled else (rationale, options)


#: "Not yet." says nothing without the sentence after it.
_FEWEST_WORDS = 4
#: A list of more alternatives or steps than this is an inventory.
_MOST_ITEMS = 9
_FEWEST_ITEMS = 2
#: What is thought is said within a few steps, or not at all.
_SOON = 10
#: How much of a line may announce the list below it.
_LEAD_LIMIT = 200
_ADVISES = re.compile(
    r"\bI(?:['\u2019]d| would)?(?: still| also| rather)? recommend\b",
    re.IGNORECASE,
)
#: "## Issues I recommend creating" names what is below it and recommends nothing yet.
_HEADINGS = re.compile(r"^\s*#{1,6}\s.*$", re.MULTILINE)
_ADVICE_HEADING = re.compile(
    r"^\s*(?:#{1,6}\s+|\*\*)(?:my )?recommendation(?!\w)\s*(?::\s*)?(?:\*\*\s*)?(?::\s*)?",
    re.IGNORECASE,
)
#: "Your approach is right" recommends nothing to do.
_JUDGES = re.compile(r"(?:your|you|this|that|these|they|it)\b", re.IGNORECASE)
_ADVICE_SIGNS = ("ecommend",)
#: A sentence is asked in small letters before its expression is tried, which costs ten times as much.
_REASON_SIGNS = ("instead of", "rather than", "since", "because")
_LIST_SIGNS = ("1.", "1)", "1:", "A)", "A:", "A.", "\n- ", "\n* ", "\n+ ")
_PREFERS = re.compile(
    r"\b(?:I(?:['\u2019]ll| will|['\u2019]m going to| should)|Let['\u2019]s|We(?:['\u2019]ll| should))(?: now| just"
    r"| instead| first)* (\w+)\b(.{3,200}?)\b(instead of|rather than|since|because)\b\s*(.*)",
    re.IGNORECASE,
)
#: What is announced of a call is the call's own decision, and what is "probably" done is not chosen yet.
_NO_CHOICE = frozenset({
    "check", "verify", "look", "read", "search", "run", "fetch", "inspect", "need", "also", "wait", "probably",
})  # fmt: skip
#: Looking closer, waiting and taking care choose nothing, whatever they are done instead of.
_NO_DEED = re.compile(
    r"(?:take (?:a|another|one|the) (?:\w+ )?look|let (?:it|that|this|them|the)\b.{0,60}\b(?:finish|run)"
    r"|keep (?:waiting|monitoring)|pin (?:this|that|it) (?:down|to)|get (?:the|a|an|more) .*\boutput\b|(?:be|have"
    r"|consider|ensure|focus)\b)",
    re.IGNORECASE,
)
_ALTERNATIVES = re.compile(r"\b(?:options|alternatives)\b[^.\n]{0,80}:\W*$", re.IGNORECASE)
#: What is to be done; what the agent needs, or wants to know, is asked for.
_ANNOUNCES = re.compile(
    r"\bI(?:['\u2019]ll| will| need to| have to)\b(?! need (?!to\b))"
    r"(?![^.\n]{0,80}\b(?:information|details|questions)\b)[^.\n]{0,80}:\W*$",
    re.IGNORECASE,
)
_NUMBERED = re.compile(
    r"^\s*(?:#{1,6}\s+)?(?:\*\*)?(?:(?:option|approach|alternative)\s+)?(?:\d{1,2}|[A-H])[.):]\s*(.+)$", re.IGNORECASE
)
#: What announces a list ends with its colon.
_OPENS_LIST = re.compile(r":\W*$")
_BULLET = re.compile(r"^\s*[-*+]\s+(.+)$")
_OPTION_TITLE = re.compile(r"^(.+?)(?:\*\*|\s+[-\u2013\u2014]\s|:\s|$)")


def implied_decisions(step: Step, *, context: str) -> Iterator[Decision]:
    """The decisions that a message or thought of the agent only talks about."""
    choice = _implied(step)
    if choice is not None:
        yield draft_choice(step, choice, context=context)


def is_restated(steps: Sequence[Step], position: int) -> bool:
    """Whether a thought is followed, before anything is done, by a message that talks of a decision itself."""
    soon = islice(steps, position + 1, position + 1 + _SOON)
    following = takewhile(lambda step: step.kind in {"thought", "message", "note"}, soon)
    return any(step.kind == "message" and _implied(step) is not None for step in following)


def _implied(step: Step) -> StatedChoice | None:
    if step.kind == "thought":
        # "Since …" is how a thought goes on; only what it sets against another thing is chosen in it.
        found = _choice(step.text)
        return found if found is not None and not found.rationale else None
    read = (_advice, _offer, _plan, _choice) if step.kind == "message" else (_advice, _offer, _plan)
    return next((found for one in read if (found := one(step.text)) is not None), None)


def _advice(text: str) -> StatedChoice | None:
    """A recommendation, with the alternatives it was made among if the message lists them."""
    if not has_any(text, _ADVICE_SIGNS):
        return None
    sentences = sentences_of(_HEADINGS.sub("", text))
    advice = (
        f"{one} {following}".rstrip() if one.endswith(":") else one  # it announces the next one
        for one, following in pairwise((*sentences, ""))
        if "ecommend" in one.lower() and _ADVISES.search(one) and not one.endswith("?")
    )
    words = next(advice, None) or _under_heading(text)
    if words is None:
        return None
    chosen, _, reason = re.split(r"(\bbecause\b|\bsince\b|$)", words, maxsplit=1, flags=re.IGNORECASE)
    chosen = chosen.strip(" :,")
    return (
        StatedChoice(chosen=chosen, statement=words, rationale=reason.strip(" :"), options=_alternatives(text))
        if chosen
        else None
    )


def _under_heading(text: str) -> str | None:
    """The first sentence under a heading that says "Recommendation"."""
    lines = prose(text).splitlines()
    for number, part in enumerate(lines):
        if found := _ADVICE_HEADING.match(part):
            below = sentences_of("\n".join([part[found.end() :], *lines[number + 1 :]]))
            first = " ".join(below[: 2 if below and len(below[0].split()) < _FEWEST_WORDS else 1])
            return None if _JUDGES.match(first) else first or None
    return None


def _choice(text: str) -> StatedChoice | None:
    """The last choice that names its alternative or its reason; an earlier one may have been taken back."""
    if not has_any(text, _REASON_SIGNS):
        return None
    for words in reversed(sentences_of(text)):
        found = _PREFERS.search(words) if has_any(words.lower(), _REASON_SIGNS) else None
        if found is None or found[1].lower() in _NO_CHOICE or is_supposed(words, upto=found.start()):
            continue
        if _NO_DEED.match(words, found.start(1)):
            continue
        against = found[3].lower() in {"instead of", "rather than"}
        chosen = words[found.start() :] if against else words[found.start() : found.start(3)]
        return StatedChoice(chosen=chosen.strip(" ,"), statement=words, rationale="" if against else found[4])
    return None


def _offer(text: str) -> StatedChoice | None:
    """Alternatives that the person is to choose from: a list of them, and a question at the end."""
    if "?" not in text:
        return None
    options = _alternatives(text)
    asked = [one for one in sentences_of(text) if one.endswith("?")]
    if not options or not asked:
        return None
    return StatedChoice(chosen=f"offer {', '.join(options)}", statement=asked[-1], rationale=asked[-1], options=options)


def _plan(text: str) -> StatedChoice | None:
    """The steps that the agent announces, numbered."""
    steps = _listed(text, _ANNOUNCES, items=(_NUMBERED,))
    return StatedChoice(chosen=f"plan: {'; '.join(steps)}", statement=steps[0], options=()) if steps else None


def _alternatives(text: str) -> tuple[str, ...]:
    found = _listed(text, _ALTERNATIVES, items=(_NUMBERED, _BULLET))
    return tuple(title[1].strip("* ") for option in found if (title := _OPTION_TITLE.match(option)))


def _listed(text: str, lead: re.Pattern[str], *, items: tuple[re.Pattern[str], ...]) -> list[str]:
    """The items of the list right below a line; items of one form only, for the others explain them."""
    if not has_any(text, _LIST_SIGNS):
        return []
    lines = [part for part in text[:PROSE_LIMIT].splitlines() if part.strip()]
    ends = ((number, part[-_LEAD_LIMIT:]) for number, part in enumerate(lines) if _OPENS_LIST.search(part))
    start = next((number for number, end in ends if lead.search(end)), None)
    if start is None or start + 1 == len(lines):
        return []
    form = next((one for one in items if one.match(lines[start + 1])), None)
    if form is None:
        return []
    found = [item.strip("* ") for item in _until_next_list(lines[start + 1 :], form)]
    return found if _FEWEST_ITEMS <= len(found) <= _MOST_ITEMS else []


def _until_next_list(lines: Sequence[str], form: re.Pattern[str]) -> Iterator[str]:
    """The items up to where the list ends: numbered ones where counting restarts, others at the first other line."""
    first = ""
    for part in lines:
        item = form.match(part)
        mark = part.split(".")[0].split(")")[0] if item and form is _NUMBERED else ""
        if (item is None and form is _BULLET and not part.startswith(" ")) or (mark and mark == first):
            return
        if item:
            first = first or mark
            yield item[1]
