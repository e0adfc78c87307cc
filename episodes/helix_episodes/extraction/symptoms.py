"""Symptoms: the sentence in which a person tells what they see going wrong, told by its grammar.

A symptom is stated in a main clause and in the present: somebody who gets an error ("I get a TypeError"), things that
fail ("the tests fail on CI"), something that still shows what it should not ("the page still shows a 500"), the other
half of a contrast ("works here, but fails on Windows"), or that nothing changed ("same result"). What is denied,
quoted, explained, or told of another conversation is none, and neither is what a contrast takes back ("but it works
now").

>>> tells_symptom("I get a TypeError when I click save"), tells_symptom("I get no TypeError any more")
(True, False)
"""

from __future__ import annotations

import re

from helix_episodes.extraction.sentences import has_any, is_supposed

#: What goes wrong, as a thing: a word for it, the name of an exception, a status of the server.
TROUBLE = (
    r"(?:errors?|failures?|exceptions?|crash(?:es)?|panics?|conflicts?|stack ?traces?|tracebacks?|segfaults?|failing"
    r"|(?-i:[A-Z]\w*(?:Error|Exception))|(?:HTTP )?(?:4[0-2]\d|5[0-3]\d)(?! ?(?:[a-z]?px|lines|ms|items|rows|files)\b))"
)
#: In small letters: one of these stands in all that `TROUBLE` matches.
TROUBLE_SIGNS = ("error", "fail", "exception", "crash", "panic", "conflict", "trace", "segfault", "4", "5")
_OFTEN = r"(?: just| still| now| also| again| keep| always| all| both| sometimes| then)*"
_HERE = r"(?:the|this|that|these|those|my|our|your|its|it|they|there|some|all|most|many|both|several|half|one|two|\d+)"
_LEAD = r"(?:(?:now|still|also|then|and|but|so|because|however|unfortunately|sadly|sorry|again|weirdly|apparently)\W+)*"
_MANY = r"(?:tests|builds|checks|jobs|pages|requests|specs|suites|pipelines|hooks|links|buttons|queries|imports|they)"
_GOES_WRONG = r"(?:fails|crashes|hangs|breaks|errors out|times out|explodes|dies|freezes)"
_SYMPTOMS = (
    re.compile(
        r"\b(?:I|we)(?:['\u2019](?:m|re|ve)| am| are| have)?" + _OFTEN + r" "
        r"(?:getting|gets?|got|seeing|see|hitting|hit|receiv(?:e|ing)|running into|run into)\b"
        r"(?:(?!\bto\b)[^.?!,\n]){0,60}?\b" + TROUBLE + r"\b",
        re.IGNORECASE,
    ),
    re.compile(
        rf"(?:^|(?<=[,;:] )|\bbut ){_LEAD}(?:{_HERE} )*(?:of (?:the|my|our|your) )?"
        rf"(?:(?!(?:that|to|which|the|make|let|have)\b)[\w./-]+ ){{0,2}}"
        rf"{_MANY}{_OFTEN} (?:fail|crash|hang|break|time out)\b(?! to\b)",
        re.IGNORECASE,
    ),
    re.compile(
        rf"\b{_HERE}\b(?:(?!\bto\b|\bthat\b)[^.?!,\n]){{0,40}}? (?:(?:still|now) (?:just )?|keeps? )"
        r"(?:show|return|throw|give|rais|print|display|report|respond|say|log|end)\w*\b[^.?!,\n]{0,40}?\b"
        rf"{TROUBLE}\b",
        re.IGNORECASE,
    ),
    re.compile(
        rf"\b{_HERE}\b(?:(?!\bto\b|\bthat\b)[^.?!,\n]){{0,40}}? (?:shows|throws|gives (?:me|us))\b[^.?!,\n]{{0,30}}?\b"
        r"(?:(?-i:[A-Z]\w*(?:Error|Exception))|5[0-3]\d|stack ?trace|traceback)\b(?! (?:when|if|for|unless)\b)",
        re.IGNORECASE,
    ),
    re.compile(
        r"\b(?:works?|worked|passes|pass|builds?|compiles?|runs?|fine|good|great|nice|thanks|thank you)\b[^.?!\n]{0,60}"
        rf"\b(?:but|yet|though|except that|only)\b(?: (?:it|this|that))?{_OFTEN} {_GOES_WRONG}\b",
        re.IGNORECASE,
    ),
)
#: For each of these expressions what stands, in small letters, wherever it matches; asked first, for it is far faster.
_SYMPTOM_SIGNS = (
    TROUBLE_SIGNS,
    ("fail", "crash", "hang", "break", "time out"),
    TROUBLE_SIGNS,
    ("shows", "throws", "gives "),
    ("fails", "crashes", "hangs", "breaks", "errors out", "times out", "explodes", "dies", "freezes"),
)
_UNCHANGED = re.compile(
    r"(?:it(?:['\u2019]s| is)? |that(?:['\u2019]s| is)? |still |exactly |but )*(?:"
    r"(?:the |exactly )*same (?:exact )?(?:result|error|problem|issue|thing|output|behaviou?r|failure|bug|story)s?"
    r"(?: as before| again| here| still)*"
    r"|no (?:luck|change|difference|effect|improvement|dice|joy|success)(?: at all| yet| here| still| though)*)",
    re.IGNORECASE,
)
#: One of these stands in everything that says so.
_UNCHANGED_SIGNS = ("same ", "no ")
_CLAUSES = re.compile(r"[.,;:!\n\u2013\u2014]+|\bbut\b", re.IGNORECASE)
_BREAK = re.compile(r"[,;:]\s| [-\u2013\u2014] |\b(?:and|but|because|since|so|which|though|although)\b", re.IGNORECASE)
_DENIAL = re.compile(
    r"\b(?:not|never|cannot|nothing|none|nobody|neither|nor|without|hardly|zero|no longer|used to|doubt)\b"
    r"|n['\u2019]t\b|\bno (?!(?:you|it|this|that|the|they|there|i|we|still)\b)\w",
    re.IGNORECASE,
)
_TOLD = re.compile(
    r"\b(?:explain|describe|document|understand|discuss|summari[sz]e|elaborate|walk me through)\w*\b"
    r"|\b(?:said|told|wrote|claimed|mentioned|asked)\b"
    r"|\b(?:pretend|imagine|suppose|assume|simulate|reproduce|make)\b",
    re.IGNORECASE,
)
_ELSEWHERE = re.compile(
    r"\b(?:another|other|previous|last|earlier|different) (?:session|chat|conversation|thread|project)\b", re.IGNORECASE
)
#: "a test that fails" is one to be written or found; "I think that it fails" says so.
_RELATIVE = re.compile(
    r"(?:which|where|who|that)(?: still| now)* (?!(?:is|was|still|now)\b)\w+(?:s|ed|ing)\b", re.IGNORECASE
)
_RELATING = re.compile(r"\b(?:which(?! means)|where|whose)(?: \w+){0,2}\s+$", re.IGNORECASE)
_NOUN_BEFORE = re.compile(
    r"\b(?!(?:and|but|so|because|though|now|still|also|then|no|yes|thanks|see|think|believe)\b)\w+\s+$", re.IGNORECASE
)
_TAKEN_BACK = re.compile(
    r"\b(?:but|and|though)\b[^.?!]{0,30}\b(?:works?|working|passe?s?|fixed|fine|gone|solved|resolved|ok(?:ay)?)\b"
    r"|\b(?:but|though)\b[^.?!]{0,30}\b(?:expected|unrelated|never mind|not important|my fault)\b"
    r"|^[^.?!]{0,60}[,;(] ?(?:which|that|this|it)(?:['\u2019]s| is) (?:expected|fine|ok(?:ay)?|on purpose)\b",
    re.IGNORECASE,
)
_CONDITION = re.compile(r"^(?:when(?:ever)?|if|after|once|as soon as) (?=(?:I|we|you) )", re.IGNORECASE)


def tells_symptom(sentence: str) -> bool:
    """Whether a sentence states, in its own name and of now, that something goes wrong."""
    lowered = sentence.lower()
    if has_any(lowered, _UNCHANGED_SIGNS) and any(
        _UNCHANGED.fullmatch(clause.strip()) for clause in _CLAUSES.split(sentence)
    ):
        return not sentence.rstrip().endswith("?")
    said = _CONDITION.sub("", sentence)  # "when I save I get an error" tells of the error, not of a condition
    for shape, signs in zip(_SYMPTOMS, _SYMPTOM_SIGNS, strict=True):
        found = shape.search(said) if has_any(lowered, signs) else None
        if found and (said == sentence or found.start() > 0) and _is_stated(said, found):
            return True
    return False


def _is_stated(sentence: str, found: re.Match[str]) -> bool:
    return not (is_supposed(sentence, upto=found.end()) or is_doubtful(sentence, found))


def is_doubtful(sentence: str, found: re.Match[str]) -> bool:
    """Whether a report of what is seen is denied, not meant so, or only qualifies a thing that is talked about."""
    return is_denied(sentence, found) or is_unmeant(sentence, found) or _is_relative(sentence, found)


def _is_relative(sentence: str, found: re.Match[str]) -> bool:
    before = sentence[: found.start()]
    if _RELATING.search(before):
        return True
    inside = _RELATIVE.search(found[0])
    return inside is not None and bool(inside.start() or _NOUN_BEFORE.search(before))


def is_denied(sentence: str, found: re.Match[str], *, within: bool = True) -> bool:
    """Whether what was found stands under a denial in its own clause; with ``within``, also in the found words.

    >>> words = "I don't think that is wrong"
    >>> is_denied(words, re.search("that is wrong", words))
    True
    """
    clause = _BREAK.split(sentence[: found.start()])[-1]
    return bool(_DENIAL.search(clause) or (within and _DENIAL.search(_BREAK.split(found[0])[-1])))


def is_unmeant(sentence: str, found: re.Match[str]) -> bool:
    """Whether the words are quoted, told of elsewhere, asked to be explained, or taken back after them."""
    before = sentence[: found.start()]
    quoted = any(before.count(mark) % 2 for mark in '"`') or before.count("\u201c") > before.count("\u201d")
    elsewhere = _TOLD.search(before) or _ELSEWHERE.search(sentence)
    return bool(quoted or elsewhere or _TAKEN_BACK.search(sentence[found.end() :]))
