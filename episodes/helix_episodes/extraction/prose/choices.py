"""Choices in prose: one thing taken and another left, or a change with the reason for it.

"Chose", "decided" and their like make a decision only where they take something; "per decision 4" or "the chosen file"
take nothing. A change is a choice when the sentence names what it was preferred to ("rather than", "instead of") or the
reason it was made for ("per review feedback", "because"), when it says what the thing now does or holds ("Narrowed the
filter to drop …"), or when the next sentence says how it had been until then.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from helix_episodes.extraction.drafts import evidence_of, line, timestamp_of
from helix_episodes.extraction.prose.sentences import LONGEST_SENTENCE, STATEMENT_END, statement_sentences
from helix_episodes.fast_loading import Regex
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
    r"(?:^|, |; |\band |\bthen )(?:I |we |the team |owner )?(?:chose|decided (?:to|on|against)|opted (?:for|to)|"
    r"selected|elected to|settled on|declined to|refused to)\s+(?P<what>.+)",
    re.IGNORECASE | re.DOTALL,
)
#: "Rejected the cleanup", "Kept the helper over the script": a verb of judging that begins the sentence.
_JUDGES = Regex(
    r"^\W*(?:(?:rejected|declined|ruled out|deferred|postponed|abandoned|adopted|accepted) "
    r"(?:an?|the|its|this|that|each|every|one|two|any|all|[A-Z]+-?\d+|(?-i:[A-Z])\w*['\u2019]s)\b|"
    r"(?:kept|preferred|picked|favou?red|took|used) [^.;]{3,120}? over (?P<other>(?:an?|the|its|this) [^.;,]+))",
    re.IGNORECASE,
)
#: What was done to the work: a verb in the past that is neither of looking nor of what came of it.
_CHANGES = (
    r"(?!(?:verifi|confirm|review|check|validat|test|fail|pass|report|observ|not|discover|"
    r"identifi|investigat|analy[sz]|"
    r"trac|reproduc|compar|measur|search|inspect|audit|list|receiv|learn|result|bas|need|requir|expect|explor|examin|"
    r"complet|continu|block|detect|caus|nest|relat|disprov|assess|evaluat|scann|execut|start|"
    r"finish|prov|fix|clos|correct|fir|resolv|address|repair|captur|record)(?:ed|d)\b)"
    r"(?:[a-z-]+ed(?! (?!(?:an?|the|its?|them|one|this|that|all|both|each|every|no|two|three)\b)\w+(?: \w+){0,2} "
    r"(?:did|do|does|is|are|was|were|has|have|had|retains?|never)\b)|built|kept|left|made|put|"
    r"split|took|gave|rewrote|rewritten|rebuilt|wrote|shrank|drew|swapped|set|cut|bound|held|pass|merging)"
)
_PREFERS = Regex(
    rf"(?:^|, and |, then )(?:\W|also |deliberately |fix: |solution: |remedy: )*(?:{_CHANGES}|(?<=: )[a-z]+)\b"
    r"(?P<what>.*?),?\s+(?P<how>in addition to|instead of|rather than|in favou?r of|not by)\s+(?P<other>\S+\s[^.;]+)",
    re.IGNORECASE | re.DOTALL,
)
_REASONED = Regex(
    rf"^(?:\W|also |deliberately )*{_CHANGES}\b(?P<what>.+?),?\s+"
    r"(?P<how>because|since (?!\d)|(?<=, )(?:mirror|match|follow)ing (?:an?|the|its|[A-Z`])|"
    r"per (?:[\w'-]+ ){0,3}(?:feedback|review|request|instruction|guidance|rule|policy|convention|plan|"
    r"protocol|framing|[A-Z]+-\d+)|so (?!far\b)|for no |for consistency|"
    r"after (?:an? |the )?(?:[\w-]+ ){0,2}(?:review|round|feedback|finding|objection)\b|"
    r"after (?:measuring|checking|confirming|verifying|finding|reproducing|reading)\b|"
    r"(?:to (?:keep|prevent|avoid)|for (?:keeping|preventing|avoiding)) )(?P<why>.*)",
    re.IGNORECASE | re.DOTALL,
)
#: A rule that the change sets: who is let through, what blocks, what is only advice.
_RULES = Regex(
    rf"^\W*{_CHANGES}\b.*\b(?:non-blocking|opt-in|opt-out|warning-only|advisory|fail unless|deliberately|on purpose|"
    r"intentionally)\b|\b(?:^\W*(?:left|kept)|leaving|keeping) \S.{0,80}? (?:alone|unchanged|untouched|as[- ]is)\b|"
    rf"^\W*{_CHANGES}\b.{{3,160}}? while (?:preserving|keeping|retaining|leaving) (?!all\b|the same\b)|"
    r"\b(?:now (?:requires?|blocks?|rejects?|fails?)|(?:exempts?|allows?|accepts?) only|"
    r"only (?:\w+ ){1,6}(?:bypass(?:es)?|exempt|allowed))\b",
    re.IGNORECASE,
)
_DECLARED = Regex(r"^\W*(?:behaviou?r change|trade-?off|policy|convention|design choice):\s", re.IGNORECASE)
_SWAPS = Regex(
    r"^\W*(?:P\d(?:-\d+)?:\s*)?(?:removed (?P<gone>[^,;]+), (?:added|using|used) .+|"
    r"replaced (?P<given_up>[^,;:]{3,80}?) with (?!the\b)\S.+|"
    r"(?:raised|lowered|increased|reduced|changed) `?[\w.]*(?:(?-i:[a-z][A-Z])|_)[\w.]*`? from \d[^,;]* to \d.*|"
    r"(?:changed|switched|converted|migrated|rewrote|downgraded|upgraded|reversed)(?: [^,;]{3,80}?)? "
    r"from (?P<old>(?!\d)[^,;]{2,60}?) to (?!\d)\S.+)",
    re.IGNORECASE,
)
#: "Fixed the gate by asking offline instead of waiting for it": of a fix the means are what was picked.
_FIXED_BY = Regex(
    r"^(?:\W|also |then )*(?:fixed|repaired|corrected|resolved|closed|addressed|cleared) (?:[^;]{0,120}? )?(?:by|with) "
    r"(?P<what>[^;]{5,160}?),? (?:instead of|rather than) (?P<other>[^.;,]+)",
    re.IGNORECASE,
)
#: "Rather than pressing the prose again, separated the two parts": the way that was left comes first.
_LEFT_FIRST = Regex(
    r"^(?:Rather than|Instead of) (?P<other>[^,;]{3,120}), "
    r"(?P<what>(?:I |we )?[a-z-]+(?:ed|ewrote|uilt|ept|eft)\b.+)",
    re.IGNORECASE,
)
#: How it was to be found out or fixed, where an alternative is named that was not taken.
_WAY = Regex(
    r"^(?:\W|also |then )*[a-z-]+(?:ed|ran|read)\b(?P<what>.*?),?\s+(?:rather than|instead of)(?: by)? "
    r"(?P<other>(?:on |in )?(?!being)\w+ing\b[^.;]*|(?<=than )(?:on|in) [^.;]*)|"
    r"^[^;]{3,160}? (?:is|was|were|are) (?:\w+ ){0,6}?"
    r"(?!(?:inherit|caus|generat|deriv|bas|expect|intend|produc|introduc)ed)"
    r"[a-z]+ed(?: \w+){0,4} (?:rather than|not) (?P<left>[a-z]+ed\b[^.;,]*)",
    re.IGNORECASE,
)
#: A look taken before the deed that it could have stopped; a thing left undone, put off or taken back.
_WEIGHS = Regex(
    r"^\W*(?:verified|validated|checked|measured|tested|compared|reproduced|confirmed|probed|tried)\b.{5,200}? "
    r"before (?!and\b|any\b|acting\b)[a-z]+ing\b|"
    r"^\W*did not (?!\w+ (?:work|help|exist|match)\b)(?:add|bump|change|convert|copy|create|delete|edit|extend|fix|"
    r"include|invent|merge|migrate|move|push|remove|rename|replace|rewrite|split|touch|update|use|widen)\b|"
    r"^\W*(?:filed|opened|raised) (?:\w+ ){0,3}?(?:issues? #?\d|#\d|for\b|as\b|follow-?ups?\b)|"
    r"^\W*(?:retracted|reversed|withdrew|reset) (?:an?|the|it|its|this|that|both|all|[\w-]+ \d+)\b|"
    r"\b(?:is|was|as) an? (?:accepted|known|deliberate) (?:trade-?off|limit\w*|risk|exception)\b",
    re.IGNORECASE,
)
#: A change reported with its substance: what the thing now does or holds, how it was done, what accompanies it.
_TELLS_HOW = Regex(
    rf"^(?:\W|also |then )*(?!(?!re-|de-|un-|pre-)\w+-|(?:used|shipped|published|replayed|created|documented|"
    rf"located|determined|noticed|counted|merging)\b){_CHANGES}\b.{{3,240}}?"
    r"(?:: \S+(?: \S+){4}|, (?:which|so) |\bby \w+ing\b|\b(?:"
    r"as well as|in addition to|(?<!did )(?<!does )(?<!do )(?<!is )(?<!was )not|"
    r"only|never|no longer)\b|\bwith (?:an?|its|two|the) |"
    r"\b(?:bounded|limited|restricted|anchored|keyed|scoped) (?:by|from|to|on|at) |"
    r"\bto (?!(?:reflect|include|an?|the|its|main|all|both|each|every)\b)[a-z-]+ "
    r"(?=(?:an?|the|each|every|only|whether|on|as|its|[`_.A-Z])\b|[`_.]))",
    re.IGNORECASE,
)
#: What was changed, and after it how it had been until then: the reason, though no "because" says so.
_DEED = Regex(rf"^(?:\W|also |then )*(?!(?!re-|de-|un-|pre-)\w+-){_CHANGES}\b \S+ \S", re.IGNORECASE)
_HAD_BEEN = Regex(r"^(?:It|They|Both|These|The two|Each|Neither) (?:had|was|were|existed|used to|still|never)\b")
#: Where a thing is now or what replaces it.
_PLACES = Regex(
    r"^\W*(?:(?:moved|folded|consolidated|merged|extracted|split|separated|converted|promoted|demoted|inlined) "
    r"(?!(?:it|them|(?:origin/)?(?:main|master|develop))\b)[^;:]{3,120}? "
    r"(?:in)?to (?!(?:match|main|fix|the branch)\b)\S.+|"
    r"(?:kept|retained|preserved) (?:the|its|each|every|both|all|(?-i:[A-Z`_])\w*)\b.+|"
    r"resolved (?:\S+ ){1,8}?by (?!(?:the|an?)\b)\w+ing\b.+|"
    r"replaced (?P<gone>[^,;:]{3,80}?) with (?:an?|the) .+)",
    re.IGNORECASE,
)
#: "..., used the subscript instead": what was taken, where the sentence before says what was left.
_INSTEAD = Regex(rf"^\W*{_CHANGES}\b.{{3,240}}\binstead\b(?! of)", re.IGNORECASE)
_RULED_OUT = Regex(
    r"^(?P<other>[^;:]{3,120}?) (?:was|were) (?:considered and )?(?:rejected|declined|ruled out|"
    r"deferred|left out|abandoned)(?:[:,]| because| since| as)\s+(?P<why>.+)",
    re.IGNORECASE,
)
#: What is put off, and where to.
_DEFERS = Regex(
    rf"^\W*(?:[a-z-]+ed [^,;]+ and )?{_CHANGES}\b.{{3,120}}? (?:for|to|into|as|in) (?:an? |its |their |the )?"
    r"(?:own |separate |later |follow-?up |focused |future )+(?:PR|pull request|issue|session|"
    r"phase|change|commit|branch)s?\b",
    re.IGNORECASE,
)
_REASONED_PREFERENCE = Regex(
    r"^(?!(?:each|it|this|that|these|they|both|which|every|there|"
    r"neither)\b)(?P<what>[^;]+?) (?:rather than|instead of) (?P<other>[^;,]+),? (?:because|since) (?P<why>.+)",
    re.IGNORECASE,
)
_CONCLUDES = Regex(
    rf"^(?P<why>.+?),? so (?:I |we )?(?P<chosen>(?!\w+ed \w+ (?:is|are|was|were)\b){_CHANGES}\b.+|"
    rf"\S+(?: \S+)? (?:was |were )?(?:left|kept|skipped|deferred|dropped) .+)",
    re.IGNORECASE | re.DOTALL,
)
#: Those who judge write their judgement in capitals.
_VERDICT = Regex(
    r"\b(?:[Vv]erdict|[Cc]onsensus|[Rr]uling|[Rr]ecommendation)\b[^.;]{0,20}?\b"
    r"(?:APPROVED?|APPROVE_\w+|ACCEPT(?:ED)?|REJECT(?:ED)?|BLOCK(?:ED)?|NEEDS_\w+|MERGE|DEFER(?:RED)?)\b"
)
_OVER = Regex(r"\s+(?:over|rather than|instead of)\s+(?P<other>[^.;,]+)", re.IGNORECASE)
_WHY = Regex(
    r",?\s+(?:(?:because|since|as)\s+(?P<fact>.+)|(?P<aim>(?:so that|so|to avoid|for)\s+.+))$",
    re.IGNORECASE | re.DOTALL,
)
#: "Use GraphQL (REST lacks threads)": brackets after a decision hold its reason when they say what was wrong.
_IN_BRACKETS = Regex(
    r"\((?P<why>[^()]*\b(?:insufficient|unsupported|deprecated|unavailable|missing|broken|"
    r"slow(?:er)?|too|not|no|cannot|can't|lacks?|already|requires?|needs?|blocked|fails?)\b[^()]*)\)\W*$",
    re.IGNORECASE,
)
_POINTS_BACK = Regex(r"^\W*(?:chose|selected|preferred|took) (?:this|that|it)\b", re.IGNORECASE)
_BECAUSE = Regex(r"^\W*(?:because|since|as)\s+", re.IGNORECASE)
#: What a reason begins with when it names what was wanted, who wanted it, or praises the choice.
_PURPOSE = Regex(
    r"^\W*(?:to|for|so|in order|per|after|avoid\w*|ensur\w*|preserv\w*|enabl\w*|keep\w*|allow\w*|prevent\w*|align\w*|"
    r"follow\w*|maintain\w*|reduc\w*|improv\w*|better|more|less|simpl\w*|consisten\w*|provid\w*|match\w*|minimi\w*|"
    r"makes?|gives?|faster|cleaner|easier|best|good|useful|acknowledge|support\w*|us(?:e|es|ing))\b",
    re.IGNORECASE,
)
#: Someone's word was the reason.
_ASKED_FOR = Regex(
    r"^\W*(?:per|after) .{0,40}\b(?:feedback|review|request|instruction|finding|objection)s?\b", re.IGNORECASE
)
_COMPARES = Regex(r"^\W*(?:better|more|less|fewer|faster|slower|cleaner|easier|simpler|safer|cheaper)\b", re.IGNORECASE)
#: "Queue over polling: bursts", as decisions are headed.
_OVER_HEAD = Regex(
    r"^(?P<what>\S[^:]{1,60}?) (?:over|instead of|rather than) (?P<other>[^:]{2,60}): (?P<why>\S.+)", re.IGNORECASE
)
#: Fewer words name a thing ("REST limits"), they state nothing.
_FACT_WORDS = 3
#: "Took the second way out of the two." and its like introduce the sentence that explains it.
_HEAD_WORDS = 9


#: What is listed, counted or quoted is no choice of this session.
_UNMEANT = Regex(r"^\W*(?:if|when|whether|unless|should|must)\b|\bwas (?:chosen|selected|decided)\b", re.IGNORECASE)
#: Shapes of a sentence that makes a choice, in order: a rule or a judgement, one thing taken for another, a conclusion;
#: then what was picked, moved, put off or left, mostly with what was not taken.
_SHAPES = (
    _REASONED_PREFERENCE.match, _CONCLUDES.match, _JUDGES.match, _SWAPS.match, _RULED_OUT.match, _FIXED_BY.match,
    _LEFT_FIRST.match, _WAY.match, _PLACES.match, _VERDICT.search, _TELLS_HOW.match, _INSTEAD.match, _WEIGHS.search,
    _DECLARED.search, _RULES.search, _DEFERS.match,
)  # fmt: skip
#: The groups of those shapes that name what was not taken.
_LEFT_OUT = ("other", "left", "gone", "given_up", "old")


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
    >>> choices_in("Moved the script to tools/ per PR feedback")[0].rationale
    'per PR feedback'
    >>> choices_in("Read the chosen file and the decision log")
    ()
    """
    sentences = statement_sentences(text)
    return tuple(
        _in_context(choice, before, after)
        for before, sentence, after in zip(["", *sentences], sentences, [*sentences[1:], ""], strict=False)
        if (choice := _choice(sentence) or _changed(sentence, after)) is not None
    )


def reason_in(decision: str) -> StatedChoice | None:
    """The choice that a stated decision spells out itself, after its label if it has one.

    >>> reason_in("Storage: Kept one file rather than a folder, because nothing reads it twice").options
    ('a folder',)
    """
    words = decision.strip()[:LONGEST_SENTENCE]
    over = _OVER_HEAD.match(words)
    if over:
        return StatedChoice(statement=words, chosen=over["what"], options=(over["other"],), rationale=over["why"])
    behind = _IN_BRACKETS.search(words)
    spelled = _choice(words) or _choice(words.partition(": ")[2])
    return StatedChoice(statement=words, chosen=words, rationale=behind["why"]) if behind and not spelled else spelled


def fact_in(rationale: str, *, compared: bool = False) -> str:
    """The first sentence of a reason when it states a fact; a purpose ("to avoid ...") caused nothing.

    Praise of what was chosen is a fact only where it was ``compared`` with another thing.

    >>> fact_in("because the queue drops messages. So it goes"), fact_in("to keep it simple")
    ('the queue drops messages.', '')
    """
    first = STATEMENT_END.split(_BECAUSE.sub("", rationale.strip()))[0].strip()[:LONGEST_SENTENCE]
    if _ASKED_FOR.match(first) or (compared and _COMPARES.match(first)):
        return first
    return "" if _PURPOSE.match(first) or len(first.split()) < _FACT_WORDS else first


def _in_context(choice: StatedChoice, before: str, after: str) -> StatedChoice:
    """A choice with the sentence before it, which is what was chosen where the choice only points back at it.

    A short choice without a reason introduces what follows: the next sentence says what it was.
    """
    if _POINTS_BACK.search(choice.chosen) and before:
        return msgspec.structs.replace(choice, chosen=before, rationale=choice.rationale or choice.statement)
    if not choice.rationale and _HAD_BEEN.match(after):
        return msgspec.structs.replace(choice, context=before, rationale=after)
    heads = not choice.rationale and len(choice.statement.split()) <= _HEAD_WORDS
    return msgspec.structs.replace(choice, context=before, behind=after if heads else "")


def _changed(sentence: str, after: str) -> StatedChoice | None:
    """A change that the next sentence gives the reason for, by saying how it had been before."""
    if not _DEED.match(sentence) or not _HAD_BEEN.match(after) or _UNMEANT.search(sentence):
        return None
    return StatedChoice(statement=sentence, chosen=sentence)


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
        chosen=parts.get("chosen") or sentence,
        rationale=parts.get("why", ""),
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
