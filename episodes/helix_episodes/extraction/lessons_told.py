"""Lessons that prose tells: several in one paragraph, and those that a sentence calls so.

>>> [one[:12] for one in each_lesson("Two lessons. First, read the diff. It helps. Second, run the suite.")]
['First, read ', 'Second, run ']
>>> each_lesson("Read the diff first, then run the suite.")
('Read the diff first, then run the suite.',)
>>> lessons_in("Renamed it. The lesson is that a guard must not share the pattern of what it guards.")
('a guard must not share the pattern of what it guards',)
"""

from __future__ import annotations

from helix_episodes.extraction.choices import sentences_told
from helix_episodes.regex import Regex

_COUNTED = Regex(
    r"(?:^|(?<=[.!?:;]\s))(?=(?:First|Second|Third|Fourth|Fifth|Sixth|Finally|Last)(?:ly)?,? \S|"
    r"\(?[1-9]\)\s|[1-9]\.\s+[A-Z])"
)
_FIRST = Regex(r"^(?:First|\(?1\)|1\.)")
#: A list has two items; one "First" is an adverb.
_LIST = 2
#: "Three lessons." announces the list; what is longer says something of its own.
_ANNOUNCES = Regex(r"^[^.:;]{0,60}[.:;]\s*$")
_HEADED = Regex(r"^(?:\w+ ){0,2}(?:[Ll]essons?|[Ll]earnings?|[Tt]akeaways?|[Ii]nsights?)\b[^.:]{0,40}[.:]\s")
_CALLED = Regex(
    r"\b(?:(?:[Ll]esson|[Tt]akeaway|[Ll]earning|[Ii]nsight)s?(?: (?:here|learn(?:ed|t)))?(?: (?:is|was|are) that|:)|"
    r"(?:[Ss]uggests?|[Ss]hows?|[Ii]ndicates?) (?:an? |the )?need (?:for|to)|"
    r"\b(?:[Tt]rap|[Pp]itfall|[Gg]otcha|[Cc]aveat|[Cc]orollary|[Pp]rinciple|[Rr]ule of thumb)\b[^.:]{0,60}:|"
    r"\bworth (?:recording|noting|remembering|knowing)\b[^.:]{0,20}:|"
    r"(?:[Ww]e|I|session|team|have|has) learn(?:ed|t) that)\s+(?P<what>\S.{20,}?)(?=[.!?](?:\s|$)|$)"
)

#: Words of a general truth, which names no thing of this log and tells of nothing that happened.
_GENERAL = r"(?:is|are|cannot|can only|must|does not|do not|proves?|tells?|hides?|moves?|needs?|fails?|beats?|belongs?)"
_MAXIM = Regex(
    r"^(?:(?:Always|Never) (?!\w+(?:ed|s)\b|(?:ran|did|went|came|made|wrote|saw|got)\b)[a-z]+ \S.{9,}|"
    r"(?:When|Before|After|While) [a-z-]+ing\b[^,]{5,80}, "
    r"(?!(?:the|it|this|that|all|no|we|I)\b|\w+ed\b)[a-z]+ \S.*[^:]$|"
    rf"(?:Any|An?|[A-Z][a-z]+ing an?|[A-Z][a-z]+ of an?) [a-z][a-z' -]{{3,90}}? {_GENERAL} "
    r"(?!now\b|also\b|still\b|added|used|\w+ing\b)\S.{5,})",
)
#: Within a sentence a general truth is the reason or the end of what was told.
_CONCLUDED = Regex(
    rf"(?:, (?:so|because|since)|:) (?P<what>an? [a-z][a-z' -]{{3,90}}? {_GENERAL} "
    r"(?:[\w', -]+?\b(?:not|than|only|never|as)\b|"
    r"un[a-z]+able\b)[^.;:]*|"
    r"(?!(?:nothing|something|anything|everything|during|being|having)\b)[a-z]+ing "
    r"(?!to\b)[a-z]+s (?:the|an?|no|every|each) "
    r"[a-z][a-z -]{4,}?(?= than\b|[.;]|$))"
)
#: What a failure came down to, against what it was taken for.
_CONTRAST = Regex(
    r"^The (?:real |actual |underlying )?(?:miss|mistake|error|defect|problem|failure|flaw|fault|trap|"
    r"root cause) (?:was|is) "
    r"(?:an?|the|that) [^.;]{10,160}?, not (?:an?|the|that)\b[^.;]*"
)
#: What happened, what was counted and what is named by an identifier is no general truth.
_PARTICULAR = Regex(
    r"\b(?:was|were|had|did not run|currently|this (?:session|run|file|branch|repo\w*|PR)|"
    r"here|yet to|I|we|our|my)\b|#\d|\w_\w|\w\(\)|"
    r"\b[\w-]+\.(?:py|md|ts|js|json|ya?ml|ps1|sh|go|rs)\b|\b[0-9a-f]{7,}\b"
)


def each_lesson(text: str) -> tuple[str, ...]:
    """The lessons of a paragraph that counts them off; any other is one lesson."""
    parts = [part.strip() for part in _COUNTED.split(text) if part and part.strip()]
    before = next((place for place, part in enumerate(parts) if _FIRST.match(part)), 0)
    counted = [*(part for part in parts[:before] if not _ANNOUNCES.match(part)), *parts[before:]]
    return tuple(counted) if len(counted) >= _LIST and any(_FIRST.match(part) for part in counted) else (text,)


def lessons_in(text: str) -> tuple[str, ...]:
    """What a statement calls a lesson: counted off below the word, or behind it."""
    listed = each_lesson(text) if _HEADED.match(text) else ()
    return listed if len(listed) >= _LIST else tuple(match["what"] for match in _CALLED.finditer(text))


def maxims_in(text: str) -> tuple[str, ...]:
    """The general truths that a statement draws, without calling them lessons.

    >>> maxims_in("Retried it. A retry that hides its cause is not a fix. Always read the log first.")
    ('A retry that hides its cause is not a fix.', 'Always read the log first.')
    >>> maxims_in("A retry was added. A retry of upload_rows is not logged.")
    ()
    """
    return tuple(told for one in sentences_told(text) if (told := _maxim(one)))


def _maxim(sentence: str) -> str:
    whole = _MAXIM.match(sentence)
    if _CONTRAST.match(sentence):
        return sentence
    concluded = None if whole else _CONCLUDED.search(sentence)
    said = sentence if whole else concluded["what"].strip() if concluded else ""
    return "" if _PARTICULAR.search(said) else said
