"""Redaction rules, a fast filter for them, and where in a text each is tried.

A rule names plain strings of which one must occur (its needles). Looking for three hundred of them one by one would be
most of what redaction costs; :class:`Sieve` compares the words of a text with all of them at once, and a rule is tried
only on the lines around its needles.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from helix_episodes.redaction.value_looks import is_unlike_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence


#: A token may follow any sign, even another secret's last hyphen, but not the letters of a word.
WORD_START = r"(?<![A-Za-z0-9])"


class Cut(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that was cut: its kind, and where it began and how long it was in the text passed.

    What only came to light by an earlier cut is counted in the text as that cut left it.
    """

    kind: str
    start: int
    length: int


class SecretRule(NamedTuple):
    """A kind of secret: plain strings of which one must occur, the pattern, and a last check of what it found.

    What the pattern's last group matched is cut, all of the match where it has no group. What follows an ellipsis in a
    needle is an expression for what follows the rest of it. With ``folded`` the needles are given in small letters and
    meant in any case. What ``is_drawn`` holds a long part of chance. A needle of letters alone must stand as a word of
    its own. A match is looked for from the line before a needle to the second behind it, unless it ``spans_lines``.
    """

    kind: str
    needles: tuple[str, ...]
    pattern: str
    accept: Callable[[re.Match[str]], bool] = lambda _: True
    folded: bool = False
    is_drawn: bool = False
    spans_lines: bool = False


Check = Callable[[re.Match[str]], bool]


def rules_of(
    table: str, *, checks: Iterable[Check] = (), parts: Mapping[str, str] | None = None
) -> tuple[SecretRule, ...]:
    r"""The rules of a table.

    A row begins with the kind, and perhaps the name of one of ``checks`` and marks (``folded``, ``drawn``,
    ``spans_lines``); then the needles, between ``¦``, with ``␣`` for a blank at an end. The lines below it are the
    pattern, in which ``{NAME}`` represents one of ``parts``. Lines that begin with ``#`` are comments.

    >>> rules_of("token folded: key= ¦ key␣\n    key[= ]\n    (.+)")[0][:3]
    ('token', ('key=', 'key '), 'key[= ](.+)')
    """
    known: dict[str, Check] = {check.__name__: check for check in checks}
    rows: list[list[str]] = []
    for line in table.strip().splitlines():
        if line.startswith("    ¦ "):
            rows[-1][0] += line.removeprefix("   ")
        elif line.startswith(" "):
            rows[-1].append(line.strip())
        elif not line.startswith("#"):
            rows.append([line])
    rules: list[SecretRule] = []
    for name, part in (parts or {}).items():
        rows = [[line.replace(f"{{{name}}}", part) for line in row] for row in rows]
    for head, *lines in rows:
        (kind, *marks), needles = (head.partition(": ")[0].split(), head.partition(": ")[2].split(" ¦ "))
        rules.append(
            SecretRule(
                kind,
                tuple(needle.replace("␣", " ") for needle in needles),
                "".join(lines),
                next((known[mark] for mark in marks if mark in known), lambda _: True),
                folded="folded" in marks,
                is_drawn="drawn" in marks,
                spans_lines="spans_lines" in marks,
            )
        )
    return tuple(rules)


def make_cut(kind: str, start: int, end: int) -> Cut:
    """A cut from its two ends."""
    return Cut(kind=kind, start=start, length=end - start)


def mentions(text: str, needles: tuple[str, ...]) -> bool:
    """Whether any of the plain strings occurs."""
    # A plain loop: any() with a generator costs five times as much, and this runs forty times per text.
    for needle in needles:  # noqa: SIM110  (see above)
        if needle in text:
            return True
    return False


@cache
def compiled_pattern(pattern: str) -> re.Pattern[str]:
    """Compiled when first needed: all of them at once cost 30 ms, and most texts need none."""
    return re.compile(pattern)


class _Words:
    """What is known of the words that came up. Threads add to it while others read: a word is known last of all."""

    def __init__(self) -> None:
        self.plain: set[str] = set()
        self.telling: set[str] = set()
        self.parts_of: dict[str, set[str]] = {}
        #: Those that can be a part of a key drawn by chance, and those of them that do not look like words.
        self.long: set[str] = set()
        self.mixed: set[str] = set()


class _Sifted(NamedTuple):
    """What a vocabulary tells of the words of one text."""

    #: Those that a rule may be about, and the parts of words that rules look for.
    telling: set[str]
    parts: set[str]
    #: Those that can be a part of a key drawn by chance, and whether there is anything that can be one.
    mixed: set[str]
    has_long: bool


_OF_NOTHING = _Sifted(set(), set(), set(), has_long=False)


class Vocabulary:
    """Tells the words that some rule looks for, or that hold what one looks for, from all others.

    Nearly all words of a session are neither, and the same few thousand come again in every text of it: each is looked
    at once, so that a text costs little more than taking it apart. Long words are always told of, since each may be
    drawn by chance.
    """

    def __init__(self, words: Iterable[str], parts: Iterable[str]) -> None:
        self._wanted = frozenset(words)
        #: The parts by their first two letters, so that a new word is asked for few of them.
        self._parts: dict[str, list[str]] = {}
        for part in frozenset(parts):
            self._parts.setdefault(part[:2], []).append(part)
        self._known = _Words()

    def sift(self, words: set[str]) -> _Sifted:
        """What rules may be about in a text of these words, in small letters."""
        known = self._known  # one for the whole text: another thread may begin a new one
        if len(known.plain) + len(known.telling) > _MOST_WORDS:
            self._known = known = _Words()
        # Nearly all words of a text are plain: what is left of it is looked at again, and little is left.
        telling = words - known.plain
        unknown = telling - known.telling
        if unknown:
            telling -= unknown
            telling |= self._learn(unknown, known)
        if not telling:
            return _OF_NOTHING
        parts: set[str] = set()
        for word in telling:
            if word in known.parts_of:
                parts |= known.parts_of[word]
        return _Sifted(telling, parts, telling & known.mixed, not telling.isdisjoint(known.long))

    def _learn(self, words: set[str], known: _Words) -> set[str]:
        long = {
            word for word in words if len(word) >= _LONG_LETTERS or (len(word) >= _LONG_MIXED and not word.isalpha())
        }
        known.long |= long
        known.mixed |= {word for word in long if not word.isalpha() or is_unlike_words(word)}
        told = long | (words & self._wanted)
        for word in words:
            if held := self._parts_in(word):
                told.add(word)
                known.parts_of[word] = held
        known.plain |= words - told
        known.telling |= told
        return told

    def _parts_in(self, word: str) -> set[str]:
        beginning = self._parts.get
        return {
            part
            for place in range(len(word) - 1)
            for part in beginning(word[place : place + 2], ())
            if word.startswith(part, place)
        }


class SiftedText:
    """A text as the rules see it: in small letters, each at its place, and the different words that it is made of."""

    def __init__(self, text: str, vocabulary: Vocabulary) -> None:
        self.text = text
        # As bytes, of which each is looked up in a table: a quarter of the time that a text takes.
        self.words = set(text.encode("ascii", "replace").translate(_WORDS_APART).decode().split())
        self.telling, self.parts, self.mixed_words, self.has_long_word = vocabulary.sift(self.words)
        #: The lines around needles, which several rules look for: half a dozen are about addresses.
        self.spans: dict[tuple[object, ...], list[tuple[int, int]]] = {}

    @cached_property
    def lowered(self) -> str:
        """The text in small letters, each where it was."""
        if self.text.isascii():
            return self.text.lower()
        if not compiled_pattern(_CASED).search(self.text):
            return self.text.encode("utf-8", "surrogatepass").lower().decode("utf-8", "surrogatepass")
        lowered = self.text.lower()
        if len(lowered) != len(self.text):  # a letter such as the Turkish capital I becomes two
            lowered = "".join(one.lower() if len(one.lower()) == 1 else one for one in self.text)
        return lowered


#: Letters that have a case and are none of ASCII's, and many that have none; what is drawn between words is not here.
_CASED = "[^\\x00-\xbf\u2010-\u20ff\u2190-\u24b5\u2500-\u2bff]"
#: Letters become small and what is no letter or digit a blank, so that a text can be taken apart at once.
_WORDS_APART = bytes(
    ord(chr(code).lower() if chr(code) in string.ascii_letters + string.digits else " ") for code in range(256)
)
_IN_WORDS = re.compile(r"[A-Za-z0-9]+")
#: Chance leaves no key without a part of this length that holds a digit, or this length of letters alone.
_LONG_MIXED, _LONG_LETTERS = 10, 16
#: So many words take 10 MB; a session of 50 MB has a third of them.
_MOST_WORDS = 100_000
#: Shorter parts of words are in nearly every text.
_SHORTEST_PART = 3
#: In texts up to this length a rule is tried on the whole.
_FEW_LINES = 1000


class Sieve:
    """Knows what to look for of a fixed list of rules.

    Tokens begin with a word of their service's (``ghp``, ``glpat``), connections hold one (``curl``); the words of a
    text are compared with all of these at once. Needles that are part of a word are looked for in the list of words,
    signs in the text; where secrets are ``drawn``, only if there is a long word.
    """

    def __init__(self, rules: Sequence[SecretRule]) -> None:
        self._by_word: dict[str, list[tuple[_Needle, frozenset[str]]]] = {}
        parts: dict[bool, dict[str, list[_Needle]]] = {True: {}, False: {}}
        signs: dict[bool, dict[str, list[_Needle]]] = {True: {}, False: {}}
        for number, rule in enumerate(rules):
            is_drawn = rule.is_drawn or rule.pattern.startswith(WORD_START)
            for text in rule.needles:
                plain = text.partition("…")[0]
                needle = _Needle(number, text, plain, rule.folded)
                part = max(_IN_WORDS.findall(plain), key=len, default="").lower()
                if words := _whole_words(plain.lower(), ends=not is_drawn and plain == text):
                    self._by_word.setdefault(words[0], []).append((needle, frozenset(words)))
                elif len(part) >= _SHORTEST_PART:
                    parts[is_drawn].setdefault(part, []).append(needle)
                else:
                    signs[is_drawn].setdefault(plain[0], []).append(needle)
        #: What a vocabulary must tell of for these rules: whole words and parts of words.
        self.words = frozenset(self._by_word)
        self.parts = frozenset(part for each in parts.values() for part in each)
        self._parts = parts
        self._signs = {
            is_drawn: tuple((sign, _beginning(sign, needles), needles) for sign, needles in each.items())
            for is_drawn, each in signs.items()
        }
        #: Matches where any of the signs stands before what is right for it: most texts are through after one search.
        self._any_sign = {
            is_drawn: "|".join(pattern for _, pattern, _ in each) for is_drawn, each in self._signs.items()
        }

    def passed_by(self, sifted: SiftedText, shown: SiftedText) -> list[tuple[int, list[str]]]:
        """The numbers of the rules that may find something in a text, in order, with the needles that are in it.

        Words are asked of the text as it was, needles as it is ``shown`` without what a listing puts between its lines.
        """
        found: list[_Needle] = []
        text, words = sifted.text, sifted.words
        for word in sifted.telling & self.words:
            found += [needle for needle, all_words in self._by_word[word] if all_words <= words]
        for is_drawn in (False, True) if sifted.has_long_word else (False,):
            parts = self._parts[is_drawn]
            for part in sifted.parts:
                if part in parts:
                    found += parts[part]
            if compiled_pattern(self._any_sign[is_drawn]).search(text):
                for sign, pattern, needles in self._signs[is_drawn]:
                    if sign in text and compiled_pattern(pattern).search(text):
                        found += needles
        if not found:
            return []
        # Nine of ten needles are not there, although their words are.
        whole = shown.text
        found = [one for one in found if one.plain in (shown.lowered if one.folded else whole)]
        rules: dict[int, list[str]] = {}
        for needle in found:
            rules.setdefault(needle.rule, []).append(needle.text)
        return sorted(rules.items())


class _Needle(NamedTuple):
    rule: int
    text: str
    plain: str
    folded: bool


def _beginning(sign: str, needles: Iterable[_Needle]) -> str:
    """Matches a sign where what follows it is right for one of the needles; the search leaps from sign to sign."""
    each = {re.escape(plain[1:]) + following for plain, _, following in (one.text.partition("…") for one in needles)}
    return f"{re.escape(sign)}(?:{'|'.join(sorted(each))})"


def _whole_words(needle: str, *, ends: bool) -> list[str]:
    """The letters that stand by themselves in every text with the needle: ``ghp_`` begins a word, ``AKIA`` need not."""
    return [found[0] for found in _IN_WORDS.finditer(needle) if found.end() < len(needle) or ends]


def cuts_around(rule: SecretRule, needles: list[str], sifted: SiftedText) -> Iterator[Cut]:
    """What the rule finds around these of its needles."""
    key = (rule.folded, rule.spans_lines, *needles)
    spans = sifted.spans.get(key)
    if spans is None:
        spans = sifted.spans[key] = _spans_around(rule, needles, sifted)
    for start, end in spans:
        for match in compiled_pattern(rule.pattern).finditer(sifted.text, start, end):
            if rule.accept(match):
                yield make_cut(rule.kind, *match.span(match.re.groups))


def _spans_around(rule: SecretRule, needles: list[str], sifted: SiftedText) -> list[tuple[int, int]]:
    """Where the rule is tried: on the lines around its needles, on all of a text that is short."""
    where = sifted.lowered if rule.folded else sifted.text
    if rule.spans_lines or len(where) <= _FEW_LINES:
        return [(0, len(where))] if any(map(partial(_occurs, where), needles)) else []
    return lines_around(sorted(place for needle in needles for place in _places(needle, where)), where)


def lines_around(places: list[int], text: str) -> list[tuple[int, int]]:
    """From the line before a place to the second behind it; what overlaps is one."""
    spans: list[tuple[int, int]] = []
    line = 0
    for place in places:
        if place < line:
            continue
        line = _line_end(text, place)
        start = text.rfind("\n", 0, max(0, text.rfind("\n", 0, place))) + 1
        end = _line_end(text, _line_end(text, line))
        if spans and start <= spans[-1][1]:
            start = spans.pop()[0]
        spans.append((start, end))
    return spans


def _line_end(text: str, place: int) -> int:
    end = text.find("\n", place)
    return len(text) if end < 0 else end + 1


@cache
def _parted(needle: str) -> tuple[str, re.Pattern[str] | None]:
    plain, parted, following = needle.partition("…")
    return plain, re.compile(re.escape(plain) + f"(?:{following})") if parted else None


def _occurs(text: str, needle: str) -> bool:
    plain, pattern = _parted(needle)
    return plain in text and (pattern is None or pattern.search(text) is not None)


def _places(needle: str, text: str) -> Iterator[int]:
    plain, pattern = _parted(needle)
    if pattern is not None:
        yield from (found.start() for found in pattern.finditer(text))
        return
    yield from places_of(plain, text)


def places_of(word: str, text: str) -> Iterator[int]:
    """Where a plain string occurs."""
    place = text.find(word)
    while place >= 0:
        yield place
        place = text.find(word, place + 1)
