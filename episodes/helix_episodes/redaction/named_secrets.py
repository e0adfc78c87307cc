r"""Values behind names that say what they are: ``api_key = …``, ``--token …``, ``{"name": "DB_PASSWORD", "value": …}``.

Three questions decide, each answered by a table or a measure and not by examples. Is it a *name* of a secret: an
identifier (or two words) of which one word is ``password``, ``token``, ``…key`` and so on, and none behind it says that
it is something about the secret (``token_count``)? Is what follows a *joint* that hands the name a value: a sign,
blanks, a table's border, a call, a tag, a second field? And is that a *value*: what people choose needs a digit, a sign
or quotes, what machines make must look random; calls, attributes, paths and stand-ins are code.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from helix_episodes.redaction.rule_matching import Cut, compiled_pattern, make_cut, places_of
from helix_episodes.redaction.secret_names import REST, behind_telling_word, needles_in, sort_of_name
from helix_episodes.redaction.tables import column_values
from helix_episodes.redaction.value_looks import (
    FUNCTION_WORDS,
    is_by_chance,
    is_dense,
    is_grouped_code,
    is_like_password,
    is_made_as_password,
    is_made_of_words,
    is_mixed,
    is_pair,
    is_pair_of_words,
    is_phrase,
    is_placeholder,
    is_scrambled,
    is_strong,
    is_unlike_words,
    looks_random,
    says_what_it_is,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from helix_episodes.redaction.rule_matching import SiftedText


_QUOTE = r"(?:\\{0,15}[\"'`])"
#: A new line, with what listings and diffs put at its beginning.
_LINE = r"(?:\n|\\{1,2}n)[ \t\d|+>#→:-]{0,30}"
_SIGN = r"(?:=>|->|<-|→|:=|\?=|\?\?|\|\||={1,3}|:{1,2}|\uff1a|は|是|为|[—\u2013➜⇒]|\.{4,80})"
_SECOND_FIELD = r"(?:--)?(?:[a-z]{1,10}_?)?(?:value|string|text|content|body|data|default)"
#: What hands a name its value, the more telling ones first.
_JOINTS = {
    # Name and value as two fields of an object, two attributes or two options, perhaps with a field between.
    "field": (
        rf"{_QUOTE}?(?:,\s{{0,20}}{_QUOTE}\w{{1,20}}{_QUOTE}\s?:\s?[^,{{}}\n]{{1,40}}"
        r"|(?:\s--\w{1,20}[ =][^\s-]\S{0,40}){1,3})?"
        rf"(?:[\s,]{{1,40}}|{_LINE}){_QUOTE}?"
        rf"(?i:{_SECOND_FIELD})(?:{_QUOTE}?\s{{0,4}}[:=]|\s)\s{{0,4}}"
    ),
    # A block named after the secret: variable "x" { default = "…" }, "oauth": {"host": "…"}
    "nested": (
        rf"{_QUOTE}?\s{{0,4}}[:=]?\s{{0,4}}\{{\s{{0,20}}(?:[^{{}}]{{0,160}}?\b(?:default|value|data){_QUOTE}?\s{{0,4}}[:=]\s{{0,4}}"
        rf"|{_QUOTE}?[\w.@/-]{{1,60}}{_QUOTE}?\s{{0,4}}[:=]\s{{0,4}})(?={_QUOTE})"
    ),
    # A tag behind the tag of the name, as in property lists.
    "tag": r"\s{0,4}</\w{1,20}>\s{0,20}<\w{1,20}(?:\s[^<>\n]{1,60})?>\s{0,4}",
    "markup": r"[\"']?(?:\s\w{1,20}=[^<>\n]{1,60})?\s{0,4}>\s{0,4}(?:<!\[CDATA\[|<[A-Za-z]{1,20}>\s{0,4})?",
    # Below its name, as YAML and TOML have texts of several lines, or in a list of its own: ["X"]
    "block": (
        rf"{_QUOTE}?\s?[:=][ \t]?(?:!!?\w{{1,10}}\s{{1,4}}"
        rf"|(?:[|>][+-]?\d?|\"\"\"|\'\'\'){_LINE}[ \t]{{0,40}}(?=\S{{8}})"
        rf"|[\[(]\s{{0,40}}(?={_QUOTE}))"
    ),
    # Behind an index, a bold name, a default or a type: environ["X"] = …, **X**: …, X [None]: …, x: str = …, or …
    "sign": (
        rf"(?:{_QUOTE}|[\[\])*}}]){{0,4}}(?:[ \t]\([^()\n]{{1,40}}\)|[ \t](?:of|for|on|from|in)[ \t][\w .@'/-]{{1,40}}?"
        r"(?=[:=—]))?"
        rf"(?:[ \t]?:?[ \t]?[A-Za-z&*\[{{][^\n=\"'`,()]{{0,30}}(?==[ \t]*[^\s=]))?"
        rf"(?:[ \t]\[[^\[\]\n]{{0,20}}\])?\s{{0,8}}(?:{_SIGN}|\bor\b)[\s*]{{0,8}}"
        rf"(?:[A-Za-z\[&][\w.\[\]:<> ]{{0,40}}\((?:\d{{1,4}}\))?\s{{0,8}}(?={_QUOTE}))?"
    ),
    # What is typed into a field: getByLabel("Password").fill("…"), /* password */ "…"
    "typed": rf"(?:(?:{_QUOTE}|[\])]){{1,4}}\.\w{{1,20}}\(|\s?\*/)\s{{0,8}}(?={_QUOTE})",
    # The next argument of a call, or the next item of a list.
    "argument": rf"{_QUOTE}?\s{{0,4}}[,(]\s{{0,20}}(?=[bBrRuUfFLN@$]?{_QUOTE})",
    "item": rf"[\"']?[ \t]{{0,4}}{_LINE}(?<=-)\s{{1,4}}|[\"']?[ \t]{{0,4}}{_LINE}(?<=- )",
    "border": rf"{_QUOTE}?\s{{0,20}}[|│║┃¦]\s{{0,20}}{_QUOTE}?",
    "sentence": (
        r"[\"'`*]{0,3}(?:\s(?i:of|for|to|do|da|de|del|du|der|des|für|för|til|voor|dla|для|от|к)\s[\w .@-]{1,40}?)?"
        r"\s(?:(?i:is|was|to|be|as|of|now|set|are|with|still|lautet|ist|est|es|è|é|er|är|je|to|jest|este|on|это|adalah|là|olan)[\s:]{1,2}){1,3}\s{0,4}[*`\"']{0,3}"
    ),
    "blanks": r"[\"'`]?(?:[ \t]|\\{1,2}t){1,40}(?:--?[a-z]{1,20}[ =])?",
}
#: Behind a telling word: whether a joint can follow at all, which is far cheaper to ask.
_PROMISING = (
    REST + r"(?: \d{1,2}(?=:))?"
    r"(?:[\"'`:=(,>|)\[\]*\\?<&→\uff1aは是为—.{}-]|\s{1,40}(?:[=:|│║┃¦>\"'`,→+{*\[(—\u2013➜⇒.-]|\n|<|[\w.\[\]<>&|?:]{1,30}(?: \w{1,20})? ?="  # noqa: E501
    r"|(?i:is|was|to|be|as|of|for|now|set|on|from|in|still|or|value|lautet|ist|est|es|è|é|er|är|je|jest|este|это|do|da|de|del|du|der|des|für|för|til|voor|dla|для|от|к|--)\b"
    r"|(?<=\s\s)[A-Za-z]|[a-z]{4}-[a-z]{4}-|\S{0,40}?[\d!@#$%^&*?~]|[\w/+]{0,30}[a-z][A-Z][a-z]{0,2}[A-Z])|[ \t]*(?:\n|\Z))"  # noqa: E501
)
#: A name with nothing behind it on its line, or as one of several that signs part.
_EDGE = REST + r"[\"'`]?[ \t]*(?:[\n\r,;|\t]|\Z)"
_BARE = r"[^\s\"'`,;<>()\[\]{}\\|]{3,512}"
_TAIL = (
    rf"{REST}(?: \d{{1,2}}(?=:))?(?:{'|'.join(f'(?P<{name}>{each})' for name, each in _JOINTS.items())})"
    rf"(?:\"\"(?=\")|''(?='))?(?:[bBrRuUfFLN@$]?(?P<open>{_QUOTE})(?P<quoted>(?>(?:(?!(?P=open))(?:\\.|[^\n\\])){{3,512}}))(?P=open)"
    rf"|(?:[bBrRuUfFLN@$]?{_QUOTE}|qq?[{{(|/])?(?P<bare>{_BARE}))"
)
#: What is behind the head of a column.
_HEAD = r"[ \t]*[,;|│║┃\t\r\n)\"'`]| {2,}\S"
#: {"value": "…", "name": "X"}
_VALUE_FIRST = (
    rf"(?i:{_SECOND_FIELD}){_QUOTE}?\s?[:=]\s?({_QUOTE})((?:(?!\1).){{3,300}})\1[\s,]{{1,20}}{_QUOTE}?"
    rf"(?i:name|key|id){_QUOTE}?\s?[:=]\s?{_QUOTE}\Z"
)
#: MOVE 'X' TO NAME, "X" as the name
_VALUE_TO_NAME = r"(?i)([\"'`])((?:(?!\1)\S){6,200})\1\s{1,4}(?:to|as|into|for|is|=>|->)\s{1,4}(?:(?:the|my|our|a|your|new)\s){0,2}\Z"  # noqa: E501
#: The next value of a list.
_NEXT_ITEM = r"[\"'`]\s{0,4},\s{0,40}[\"'`]([^\s\"'`]{4,512})(?=[\"'`])"
_NAME_FIELD = re.compile(rf"(?i:name|key|id){_QUOTE}?\s?[:=]\s?{_QUOTE}\Z")
_TO_NAME, _BEFORE_LENGTH = re.compile(r"(?i)[\"'`]\s{1,4}(?:to|as|into|for|is|=>|->)\s[\s\w]{0,10}\Z"), 24

_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=(?!=?\Z)")
_PLURALS = ("keys", "tokens", "secrets", "credentials", "passwords")
_DOTTED_NAME = re.compile(r"[A-Za-z_]\w*(?:(?:\.|::|->)[A-Za-z_]\w*)+[.:]?")
_IDENTIFIER = re.compile(r"[A-Za-z_][\w.]*")
#: The type of a field in a schema: password: String!, password String @db.VarChar(60)
_TYPE = re.compile(r"\[?[A-Z][a-z]+\]?!?\]?!?|@[a-z]\w*(?:\.\w+)*(?:\([^)]*\)?)?")
_BASE32 = re.compile(r"(?=.*\d)[A-Z2-7]{16,64}")
_STREWN = re.compile(r"(?=.{9})[a-z]*(?:[a-z]\d|\d[a-z])[a-z]*\d[a-z0-9]*")
_PIN = re.compile(r"\d{4,12}|\d{3,5}(?:[- ]\d{3,5}){1,3}")
#: A reference to where the secret is: vault:secret/data/shop#password, op://…, arn:…
_REFERENCE = re.compile(r"[a-z][\w+-]{1,20}:[\w.@:-]{1,80}[/#][\w./#@:-]{1,200}")
_WORDS_AND_NUMBER = re.compile(r"(?:[A-Za-z]{3,12}-){2,6}\d{2,6}")
#: Words one after the other, as a passphrase has them where nothing quotes it.
_WORDS = r"[A-Za-z]{3,12}(?:([ ._-])[A-Za-z]{3,12})(?:\1[A-Za-z]{3,12}){1,23}(?=[ \t]*(?:$|[\n\"'`|<]|\(|#|\.(?:\s|$)))"
_LONE_VALUE = r"(?<![:=])(?<![:=] )(?:[\"'`]|[ \t]|\A|(?<=\n))(?!toolu_|msg_|req_|chatcmpl|call_|sha\d{1,3}-|h1:)([A-Za-z0-9+/_=-]{20,200})(?=[\"'`\s,;)]|\Z)"  # noqa: E501
_LONGEST_LINE = 240
#: What belongs to a value behind its first part.
_MORE_QUOTED = r"[\"'`](?:[\"'`][^\"'`\n]{3,200}[\"'`]|\s{0,8}(?:\+|\.\.?|&|~|\|\||\\)?\s{1,40}[rbfu]?[\"'`](?=[^\"'`\n:=]{6,200}[\"'`]\s{0,8}(?:[;)\n]|\Z))[^\"'`\n]{6,200}[\"'`])"  # noqa: E501
#: A longer value is a key, and goes as far as its letters do.
_LONGEST_MATCHED, _KEY_LETTERS = 500, r"[A-Za-z0-9+/=_-]*"
_MORE_BARE = r"[(|,{\[](?![a-z]{2,20}[=:])[A-Za-z0-9][^\s\"'`<]{2,200}"
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
_PATH_BEGINNINGS = ("/", "./", "../", "~/", "~\\", "http://", "https://", "file:", "@/", "\\")
_NAME_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-$"
#: A hash or a UUID, perhaps behind words that say of what: Linux-node-9f86d08…
_NAMED_HASH = re.compile(
    r"(?:[A-Za-z]\w{0,20}[-:_.]){0,6}(?:[0-9a-f]+|[0-9A-F]+|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})"
)
#: Keys that are made to be published, and say so.
_PUBLIC_PREFIXES = ("pk_live_", "pk_test_", "pk.eyJ")
#: A password's name that is also a test's verdict or the working folder.
_AMBIGUOUS = ("pass", "pwd")
#: What says that the key or the word behind it is an account's: {"username": "kim", "key": "…"}, user: kim  pass: …
_ACCOUNT = re.compile(r"(?i:user(?:name)?|account|client)[\"']?\s?[:=]\s?[\"']?[\w.@-]{1,60}[\"']?[,;\s]{1,8}[\"']?\Z")
_ACCOUNT_LENGTH = 90
#: Codes in groups of one length, as they are shown to be typed.
_GROUPS = r"([A-Za-z0-9]{4,6})(?:[ -][A-Za-z0-9]{4,6}){2,7}(?=[ \t]*(?:\Z|[\n\"'`|<]))"
_ENDS_OF_SENTENCES = ".,:;!?)"
#: An identifier is at most this long, and a value field at most this far before its name's.
_LONGEST_NAME, _VALUE_BEFORE = 48, 400
_SHORTEST_LONE_VALUE = 12
_SHORTEST_CHOSEN, _SHORTEST_SPOKEN, _SHORTEST_LONE_KEY, _SHORTEST_LONG = 6, 8, 20, 24
#: What holds more names than this is a list of names, and no value of the first: each of them is looked at by itself.
_MOST_NAMES_WITHIN = 8
#: Behind the telling word of a name (``SECRET_KEY_BASE``); four words are a phrase.
_MOST_WORDS_BEHIND = 3


class _Named(NamedTuple):
    """A name with the value behind it and what parts them."""

    name: str
    sort: str
    joint: str
    between: str
    value: str
    quoted: bool
    after: str

    @property
    def is_config(self) -> bool:
        """Written as environment variables and constants are."""
        return self.name.isupper()

    @property
    def is_identifier(self) -> bool:
        """No word of a sentence: an option, a constant, or a name of several words."""
        return self.name.startswith("-") or "_" in self.name or self.name != self.name.lower()


def places_of_names(sifted: SiftedText) -> list[int]:
    """Where what names of secrets hold stands before something that can hand it a value."""
    needles = needles_in(sifted)
    if not needles:
        return []
    found = (place for needle in needles for place in places_of(needle, sifted.lowered))
    return sorted(place for place in found if behind_telling_word(sifted, place, _PROMISING))


def are_at_edges(sifted: SiftedText, names: list[int]) -> bool:
    """Whether one of these names is the last of its line or the head of a column, its value below it."""
    return any(behind_telling_word(sifted, name, _EDGE) for name in names)


def named_secrets(sifted: SiftedText, names: list[int]) -> Iterator[Cut]:
    """The values behind telling names, of which the places are known."""
    text, end = sifted.text, -1
    for number, place in enumerate(names):
        if place < end:
            continue
        before = text[max(0, place - _LONGEST_NAME) : place]
        start = place - len(before) + len(before.rstrip(_NAME_LETTERS))
        rest = behind_telling_word(sifted, place, REST)
        name = text[start : rest.end() if rest else place]
        before = text[max(0, start - _LONGEST_NAME) : start]
        sort = sort_of_name(name, before)
        if sort is None:
            continue
        is_verdict_or_folder = name.lower() in _AMBIGUOUS
        if (sort == "lone" or is_verdict_or_folder) and _ACCOUNT.search(text, max(0, start - _ACCOUNT_LENGTH), start):
            sort, name = ("people", "password") if is_verdict_or_folder else ("machine", name)
        last = rest.end() if rest else place
        if compiled_pattern(_HEAD).match(text, last) and (below := _below(text, name, sort, start, last)):
            yield from (make_cut("secret", *each) for each in below)
            end = last
            continue
        found = behind_telling_word(sifted, place, _TAIL)
        next_but_some = number + _MOST_NAMES_WITHIN
        is_list = found is not None and next_but_some < len(names) and names[next_but_some] < found.end()
        spans = _values(text, name, sort, found) if found and not is_list else []
        end = spans[-1][1] if spans else end
        yield from (make_cut("secret", *each) for each in spans or _around(text, name, sort, start, last))


def _values(text: str, name: str, sort: str, found: re.Match[str]) -> list[tuple[int, int]]:
    """The value behind a name, and those of a list behind a name in the plural."""
    value, spans = _value(text, name, sort, found), []
    while value:
        spans.append(value)
        more = compiled_pattern(_NEXT_ITEM).match(text, value[1]) if name.lower().endswith(_PLURALS) else None
        value = more.span(1) if more and is_mixed(more[1]) else None
    return spans


def _around(text: str, name: str, sort: str, start: int, last: int) -> list[tuple[int, int]]:
    """The value that is before its name, or next to it on the line."""
    for is_before, pattern, joint in ((_NAME_FIELD, _VALUE_FIRST, "field"), (_TO_NAME, _VALUE_TO_NAME, "argument")):
        if is_before.search(text, max(0, start - _BEFORE_LENGTH), start):
            first = compiled_pattern(pattern).search(text, max(0, start - _VALUE_BEFORE), start)
            if first and _is_secret(_Named(name, sort, joint, "", first[2], quoted=True, after="")):
                return [first.span(2)]
            return []
    return _beside(text, start, last) if sort == "machine" and not name.lower().endswith("login") else []


def _below(text: str, name: str, sort: str, start: int, end: int) -> list[tuple[int, int]]:
    """The values of a table's column with this name."""
    spans = list(column_values(text, start, end))
    is_short = sort == "short" or name.lower() == "pwd"
    cells = [_Named(name, sort, "field", "", text[first:last], quoted=True, after="") for first, last in spans]
    return [
        span
        for span, cell in zip(spans, cells, strict=True)
        if not _ASSIGNMENT.match(cell.value) and (is_by_chance(cell.value) or not is_short) and _is_secret(cell)
    ]


def _beside(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Random keys on the line that a comment, or a heading behind them, calls keys."""
    begin, stop = text.rfind("\n", 0, start) + 1, text.find("\n", end)
    stop = len(text) if stop < 0 else stop
    if stop - begin > _LONGEST_LINE:
        return []
    found = compiled_pattern(_LONE_VALUE).finditer(text, begin, stop)
    spans = [each.span(1) for each in found if is_dense(each[1], shortest=_SHORTEST_LONE_KEY)]
    return [(first, last) for first, last in spans if last <= start or first >= end]


def _value(text: str, name: str, sort: str, found: re.Match[str]) -> tuple[int, int] | None:
    """Where the value of a name begins and ends; None where it is none of a secret."""
    joint = next(each for each in _JOINTS if found[each] is not None)
    start, end = found.span("quoted" if found["quoted"] is not None else "bare")
    if found["quoted"] is None and found[joint] == "=" and name.isupper():
        # In a file of settings a line belongs to the value, whatever signs are in it.
        end = max(end, compiled_pattern(r"(?:[^\s\"'`\\<]|\\[^\n]|<(?!/)){0,512}").match(text, start).end())  # type: ignore[union-attr]  # matches the empty text too
        end = start + len(text[start:end].rstrip(";,)]}"))
    if found["quoted"] is None and sort == "people" and joint in ("sign", "sentence", "blanks", "block", "item"):
        words = compiled_pattern(_WORDS).match(text, start)
        if words and is_phrase(words[0]) and (joint != "blanks" or words[1] != " "):
            return words.span()
        groups = compiled_pattern(_GROUPS).match(text, start)
        if groups and (name.startswith("-") or (joint == "sign" and is_grouped_code(groups[0]))):
            return groups.span()
    if found["quoted"] is None and sort == "machine" and joint in ("sign", "block", "blanks", "sentence"):
        groups = compiled_pattern(_GROUPS).match(text, start)
        if groups and len(groups[0]) >= _SHORTEST_LONE_KEY and is_grouped_code(groups[0]):
            return groups.span()
    value = text[start:end]
    if joint in ("sentence", "blanks"):
        value = value.rstrip(_ENDS_OF_SENTENCES)
    named = _Named(name, sort, joint, found[joint], value, found["quoted"] is not None, text[end : end + 2])
    if not value or not _is_secret(named):
        return None
    return start, _whole_end(text, start, start + len(value), is_quoted=named.quoted)


def _whole_end(text: str, start: int, end: int, *, is_quoted: bool) -> int:
    """Where a value ends that signs in it or quotes have parted: ``a(b)``, ``a|b``, ``"a" + "b"``, ``'a''b'``."""
    if end - start >= _LONGEST_MATCHED:
        return compiled_pattern(_KEY_LETTERS).match(text, end).end()  # type: ignore[union-attr]  # matches the empty text too
    more = compiled_pattern(_MORE_QUOTED if is_quoted else _MORE_BARE).match(text, end)
    if more is None:
        return end
    return more.end() - 1 if is_quoted else start + len(text[start : more.end()].rstrip(";,)]}|&*"))


def _is_secret(one: _Named) -> bool:
    if is_placeholder(one.value) or _is_code(one) or not _is_fitting(one):
        return False
    if one.sort == "pin" or one.name.lower().endswith("passcode"):
        is_handed = one.joint in ("sign", "field", "sentence", "block") or "-" in one.name
        if is_handed and _PIN.fullmatch(one.value):
            return True
    if one.sort == "pin":
        return False
    return _is_chosen(one) if one.sort in ("people", "short") else _is_made(one)


def _is_fitting(one: _Named) -> bool:
    """``PASS:`` is a test's verdict, ``PWD`` the working folder, and several tokens are counted, not quoted."""
    if one.name.rpartition(".")[2].strip("_$-").lower() in _AMBIGUOUS:
        return one.joint in ("field", "tag", "markup") or (
            one.joint == "sign" and (one.between == "=" or one.quoted or is_by_chance(one.value))
        )
    if one.joint not in ("sentence", "blanks"):
        return one.joint == "sign" or one.quoted or not _ASSIGNMENT.match(one.value)
    return not one.name.lower().endswith(_PLURALS) and one.name[:1] != "$" and not _ASSIGNMENT.match(one.value)


def _is_code(one: _Named) -> bool:
    """A call, an attribute, a path, an address or a template: where the value comes from, not what it is."""
    value = one.value
    if (
        "://" in value
        or "…" in value
        or _REFERENCE.fullmatch(value)
        or value[0] in "<["
        or value.startswith(_PUBLIC_PREFIXES)
        or _DRIVE.match(value)
        or (compiled_pattern(r"\{[^{}]{0,60}\}").search(value) and not is_by_chance(value))
    ):
        return True
    if value.startswith(_PATH_BEGINNINGS):  # one in 64 keys in base64 begins with a stroke
        return value[0] != "/" or not is_dense(value)
    if value[0] == "?" and one.joint == "sign":  # ${DB_PASSWORD:?is missing}
        return True
    is_name = _DOTTED_NAME.fullmatch(value) and is_made_of_words(value) and not is_unlike_words(value)
    if is_name and not (one.quoted and one.sort == "people"):
        return not one.name.startswith("-")
    is_called = not one.quoted and one.after[:1] in ("(", "[") and _IDENTIFIER.fullmatch(value) is not None
    return is_called and not is_dense(value, shortest=_SHORTEST_SPOKEN)


def _is_chosen(one: _Named) -> bool:  # noqa: PLR0911  (a return for each ground)
    """The look that a value must have where people choose it: none in quotes or settings, a digit or sign elsewhere."""
    value, joint = one.value, one.joint
    if len(value) < _SHORTEST_CHOSEN or (joint == "markup" and one.after != "</"):
        return False
    if not one.quoted and _TYPE.fullmatch(value):
        return False
    if " " in value:
        words = value.replace("\\", "")
        return FUNCTION_WORDS.isdisjoint(words.lower().split()) and (
            is_mixed(value) or is_phrase(value) or (one.is_config and "=" in one.between and is_pair_of_words(words))
        )
    is_option = one.name.startswith("--") and is_mixed(value)
    if one.sort == "short" and not (one.is_config or is_option):  # also a round or a ticket: made like a password
        return (
            len(value) >= _SHORTEST_SPOKEN
            and (is_strong(value) or is_scrambled(value))
            and " " not in value
            and not says_what_it_is(value)
        )
    if _is_literal(one) and not says_what_it_is(value):
        return True
    if is_scrambled(value) and (joint == "sign" or one.quoted or one.is_identifier or len(one.between) > 1):
        return True
    if joint in ("sentence", "argument") or (joint == "blanks" and not one.is_identifier and one.between == " "):
        is_made = is_strong(value) or is_scrambled(value) or _WORDS_AND_NUMBER.fullmatch(value)
        return len(value) >= _SHORTEST_SPOKEN and bool(is_made)
    return is_mixed(value) or is_scrambled(value)


def _is_literal(one: _Named) -> bool:
    """Whether what is there can only be the value itself."""
    if one.joint in ("sign", "item", "block"):
        return one.quoted or one.is_config or (one.between == "=" and one.after[:1] not in (")", ",", "]", "}"))
    if one.joint in ("argument", "blanks"):
        return one.quoted and (one.is_config or one.name.startswith(("-", "set", "with")))
    return one.joint in ("field", "tag", "markup")


def _is_made(one: _Named) -> bool:  # noqa: PLR0911  (a return for each ground)
    """The look that a value must have where a machine makes it."""
    value, joint = one.value, one.joint
    is_handed = joint not in ("sentence", "blanks", "border", "markup") or one.after == "</"
    if one.sort == "lone":
        return is_handed and is_dense(value, shortest=_SHORTEST_LONE_KEY) and not _NAMED_HASH.fullmatch(value)
    if one.sort == "login" and is_pair(value):
        return True
    if not is_handed and not one.is_identifier:
        is_long = len(value) >= _SHORTEST_LONG + (8 if joint == "blanks" else 0)
        return (
            is_dense(value)
            or is_like_password(value)
            or (is_long and value.isalnum() and looks_random(value) and joint in ("sentence", "blanks"))
            or (_BASE32.fullmatch(value) is not None and is_unlike_words(value))
        )
    if is_dense(value) or (looks_random(value) and " " not in value):
        return True
    if one.sort == "login" or not is_handed:
        return False
    if " " in value:
        is_chosen = joint == "sign" and one.name.lower().endswith("secret") and is_pair_of_words(value)
        is_long = value.count(" ") >= _MOST_WORDS_BEHIND and one.is_config
        return one.quoted and (is_chosen or (is_long and is_phrase(value)))
    if ("=" in one.between or (joint == "sign" and one.is_config)) and is_scrambled(value):
        return True
    if joint == "sign" and "secret" in one.name.lower() and _is_chosen_secret(one):
        return True
    if one.quoted or one.is_config:
        is_long = len(value) >= _SHORTEST_LONE_VALUE
        return is_dense(value, shortest=_SHORTEST_SPOKEN) or (is_long and is_scrambled(value))
    return joint in ("sign", "block") and (is_like_password(value) or _STREWN.fullmatch(value) is not None)


def _is_chosen_secret(one: _Named) -> bool:
    """People choose some of what is called a secret: words in quotes or settings, or made as they are asked for."""
    if says_what_it_is(one.value):
        return False
    if (is_phrase(one.value) and (one.quoted or one.is_config)) or is_made_as_password(one.value):
        return True
    return one.is_config and one.between == "=" and is_mixed(one.value)
