"""Values that no name precedes: drawn by chance and alone, encoded, or on a line that speaks of a password or a token.

The corpora show what is drawn by chance and no secret: ids behind a short prefix (``toolu_…``), parts of paths and
addresses, hashes that say so (``sha512-…``, an ETag), lines of certificates. What is left is a key, whatever service
made it. A line that speaks of a password lends its weight to what looks like one, wherever on the line it is, and one
that announces a value to the line below.
"""

from __future__ import annotations

import base64
import binascii
import re
from typing import TYPE_CHECKING

from helix_episodes.redaction.rule_matching import Cut, compiled_pattern, make_cut, mentions, places_of
from helix_episodes.redaction.secret_names import foreign_words_in
from helix_episodes.redaction.value_looks import (
    has_words_and_number,
    is_like_password,
    is_placeholder,
    is_unlike_words,
    likelihood_of_chance,
    mean_run,
    says_what_it_is,
)
from helix_episodes.redaction.visible_text import after_prefix

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from helix_episodes.redaction.rule_matching import SiftedText

#: Hexadecimal numbers, and numbers with a unit behind.
_NUMBER, _WORD_IN_SMALL, _FEW_WORDS = r"[a-f0-9]+|\d+[a-z]{0,12}", r"[a-z0-9]{10,}", 8
_BASE32 = r"[A-Z2-7]{26,64}"
_KEY = r"[A-Za-z0-9_+/-]+={0,2}"
_KEY_SIGNS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_+/-"
#: Where a token is the part of something longer: an address, a path, a name with a dot, an attribute, a variable.
_PARTS_BEFORE, _PARTS_BEHIND = ".@%#&?~\\$/=*", ".@%(["
_SHORTEST_OF_LETTERS = 18
_SHORTEST, _LONGEST_DRAWN, _LONGEST = 12, 300, 4096
_SHORTEST_WITH_PREFIX, _SHORTEST_BASE64, _SHORTEST_ROOTED = 30, 28, 40
#: A longer text of nothing else is the signature of a thought or something else encrypted.
_LONGEST_ALONE = 64
#: As far as a certificate's first line is looked for.
_LONGEST_FRAMED = 16_384
#: Of 20,000 drawn keys of 12 characters 92 % have shorter runs, of 32 characters 97 %; joined words have runs of 4.
_LONGEST_MEAN_RUN = 2.5
#: None of 13,500 mixed words of logs is as likely by chance but hashes, pointers and acronyms.
_LIKELY_KEY = 12.0
_SHORTEST_UNLIKE, _SHORTEST_JOINED = 14, 20
#: What says that a value is an id or a hash, which are evidence.
_EVIDENCE = (
    r"(?i:(?:sha[ _-]?\d{1,3}|md5|h1|integrity|checksum|digest|hash|sum|e-?tag|fingerprint|thumbprint|nonce|cursor|uuid"
    r"|guid|slug|revision|verification|commit|version|build|trace|span|request|session_?id|public[ _-]?key|serial"
    r"|pub_?key|address|boundary|peer|accept|user(?:name)?|account|x5t|DNSKEY[ \d]+|DS[ \d]+|dkim.{0,20};\s?p"
    r"|(?<![a-z])(?:ids?|ref|rev|sub|cid|kid|jti|iv|n|x|y))[\"'\])]{0,2}(?:\s{0,3}[:=(]\s{0,3}(?:W/)?|\s|-)[\"'`]?\Z"
    r"|base64,\Z|\.(?:asc|crt|cer|pub|gpg|lock|sum)[:-]\d{1,7}[:-]\Z"
    r"|\"(?:signature|data|blob|thumbnail|encrypted_content|cipher_?text)\":\s?\"\Z"
    r"|(?<=[a-zA-Z])I[Dd]s?[\"']?\s{0,3}[:=(]\s{0,3}[\"'`]?\Z)"
)
#: An id behind the short name of its sort, or of an advisory.
_SHORT_ID = r"[A-Za-z]{1,12}_[A-Za-z0-9]{12,28}|(?:GHSA|CVE|RUSTSEC|PYSEC)-[\w-]+"
_NAME_LENGTH = 40
#: Public keys, names that compilers mangle, and an episode of OpenCode, whose sessions are named so.
_PUBLIC = (
    "episode-ses_", "AAAAB3Nza", "AAAAC3Nza", "AAAAE2VjZ", "AAAAG", "MII", "MIG", "MFk", "MHY", "pk_", "pk-", "Qm",
    "xpub", "age1", "_ZN", "_RN",
)  # fmt: skip
_PREFIX = r"(?:[A-Z]?[a-z]{1,12}|[A-Z]{1,12})\d{0,2}[_-]"
_WORD_PART = r"[A-Z]?[a-z]{4,}\d?|[A-Z]{4,}|\d+|v\d+"
_BASE64_LINE, _SHORTEST_LINE = r"[A-Za-z0-9+/]{30,}", 56

#: What a line speaks of that lends weight to a value on it: parts of words, and what is looked for behind a word.
_SUBJECT_PARTS = (
    "passw", "passphrase", "pasword", "secret", "token", "credential", "apikey", "keystore", "login", "keymaterial",
)  # fmt: skip
#: Words that are a subject themselves.
_OWN_SUBJECTS = """
    wifi psk login unlock creds passcode mysql jdbc sequelize cryptsetup identity identified getconnection securestring
    authorization authorize maiden pwd cred mysqli pdo unrar qpdf unzip rand pwgen eap kinit nickserv snmpwalk addauth
    etcdctl bcrypt aes userpwd randombytes community xauth zugangsdaten credenciales identifiants authtok
"""
_SUBJECTS_BY_WORD = {
    **{word: (word,) for word in _OWN_SUBJECTS.split()},
    "keys": ("send-keys",),
    "send": ("send -",),
    "using": ("connect to",),
    "generate": ("key:generate",),
    "pass": ("pass ", "pass:", "pass=", "-pass"),
    "api": ("api key", "api_key", "api-key"),
    **{word: (f"{word} key",) for word in ("access", "private", "license", "pragma")},
    "auth": ("auth ", "auth:", "_auth", '"auth"', "auth("),
    "wi": ("wi-fi",),
    "pin": ("pin code",),
    "connect": ("connect(",),
    "value": ("new value",),
    "content": ("key content",),
    "p": (" -p", "/p:"),
    "u": (" -u ",),
    "w": (" -w ",),
    "rp": ("/rp ",),
    "user": (" --user", "/user:", "add_user"),
    "cert": ("--cert",),
    "alias": ("alias set",),
    "admin": ('"admin"',),
    "ssh": ("ssh ",),
    "ks": ("ks.load",),
    "log": ("log in", "log on"),
}
#: What a vocabulary must tell of for subjects: whole words and parts of words.
SUBJECT_WORDS, SUBJECT_PARTS = frozenset(_SUBJECTS_BY_WORD), frozenset(_SUBJECT_PARTS)
_LONGEST_LINE = 400
_APART = r"\s\"'`,;<>(){}\[\]|=:\\«»"
#: Becomes blanks before words are looked for: a set with these takes a millisecond to compile, a dozen times.
_WIDE_APART = "[→“”\u2e80-\u9fff\uac00-\ud7af\uff00-\uffef]"
_WORD = rf"(?<![^{_APART}])[^{_APART}]{{8,100}}(?![^{_APART}])"
#: The same with what each password has: a digit, or capitals where no word begins.
_MIXED_WORD = (
    rf"(?<![^{_APART}])(?=[^{_APART}]{{0,99}}?(?:\d|[a-z][A-Z]{{2}}|[A-Z]{{2}}[a-z]|[a-z][A-Z][a-z]{{0,2}}[A-Z]))"
    rf"[^{_APART}]{{8,100}}(?![^{_APART}])"
)
_WORD_END = rf"[^{_APART}]*\Z"
#: A sign that joins the words of a password, within letters and digits.
_SIGN_WITHIN = (
    r"[!^*%+~&_-](?:(?<=[A-Za-z0-9]{3}[!^*%+~&])(?=[A-Za-z0-9]{3})|(?=\d{2,4}[a-z]{3})(?<=[a-z]{3}.)"
    r"|(?<=[a-z]\d{3}.)(?=[A-Z][a-z]{3}))"
)
_LONGEST_MADE, _STRONG_SIGNS = 40, "!^*%+~&"
_ENDS, _MARKS = ".,;:!?)", "+-*#>&"
#: A line that announces the value below it: it ends in a colon, is a heading, or a command that prints a secret.
_ANNOUNCING = (
    r"(?i)(?:.{0,100}(?:passw(?:or)?d|passphrase|token|secret(?: key)?|api key|access key|credentials?)[^\n]{0,60}:"
    r"|(?:[$#%>=-]|PS ).{0,120}(?:pass|token|secret|key|credential|rand|pwgen|crypto).{0,80}"
    r"|.{0,80}name=[\"'][\w.-]{0,30}(?:pass|token|secret|key)[\w.-]{0,20}[\"'];?)\s*\Z"
)
_ANNOUNCED = r"[ \t]*[\"'`«]?([^\s\"'`<]{8,200})[\"'`»]?,?[ \t]*(?:[\"'`<][^\n]{0,60})?\Z"
#: A command that prints what its arguments name, without the prompt that it was typed at.
_PRINTING = r"(?i)[ \t]*[a-z][\w./-]{1,30} .{0,120}(?:passw(?:or)?d|token|secret|credentials?|keyfile|api_?key|passphrase)[\w./-]{0,30}(?: -[\w -]{1,40})?\Z"  # noqa: E501
_PROMPTS = ("$", "#", "%", ">", "=", "-")
_PRINTED_WORDS = ("passw", "token", "secret", "credential", "keyfile", "apikey", "api_key", "passphrase")
_UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_MOST_BLANK_LINES = 2


def unnamed_secrets(sifted: SiftedText, secrets_in: Callable[[str], Sequence[Cut]]) -> list[Cut]:
    """Keys that stand alone, what base64 hides, and what the lines that speak of a secret say."""
    text = sifted.text
    found = list(_drawn_secrets(sifted, secrets_in)) if sifted.mixed_words else []
    if " " in text or "\n" in text:
        if compiled_pattern(_SIGN_WITHIN).search(text):
            found += _made_secrets(text)
        if subjects := _subjects_in(sifted):
            found += _spoken_secrets(sifted, subjects)
    return found


def _drawn_secrets(sifted: SiftedText, secrets_in: Callable[[str], Sequence[Cut]]) -> Iterator[Cut]:
    text = sifted.text
    done = -1
    for place, length in _mixed_places(sifted):
        if place < done:
            continue
        word = text[place : place + length]
        if word.islower() or (word.isupper() and not compiled_pattern(_BASE32).fullmatch(word)):
            continue
        before = text[max(0, place - _LONGEST - 1) : place]
        start = place - len(before) + len(before.rstrip(_KEY_SIGNS))
        if text[start] == "+" and text[max(0, start - 1)] in "+\n":  # a line that a diff adds
            start += 1
        found = compiled_pattern(_KEY).match(text, start)
        done = found.end() if found else place + length
        if found is None or start < place - _LONGEST or done - start > _LONGEST or _is_part(text, start, done):
            continue
        if (plain := _decoded(found[0])) is not None:
            is_id = _is_id(text, start, done)
            value = plain.strip("\0\n").rpartition("\0")[2].rpartition(":")[2]
            is_secret = (is_like_password(value) and not is_id) or bool(secrets_in(plain))
        else:
            is_secret = is_drawn_token(found[0]) and not _is_public(text, start, done)
        if is_secret:
            yield make_cut("secret", start, done)


def _mixed_places(sifted: SiftedText) -> Iterator[tuple[int, int]]:
    """Where the words with letters and digits are, and their lengths, in order."""
    words = {word for word in sifted.mixed_words if not compiled_pattern(_NUMBER).fullmatch(word)}
    if len(words) > _FEW_WORDS:  # looking for each by itself would take as long as the text times their number
        yield from (
            (found.start(), len(found[0]))
            for found in compiled_pattern(_WORD_IN_SMALL).finditer(sifted.lowered)
            if found[0] in words
        )
    elif words:
        yield from sorted((place, len(word)) for word in words for place in places_of(word, sifted.lowered))


def _is_part(text: str, start: int, end: int) -> bool:
    """Whether what is before or behind belongs to it: an address, a path, an attribute, a call."""
    before, behind = text[max(0, start - 1) : start], text[end : end + 2]
    if text.endswith("...]", 0, start) or (start == 0 and end == len(text) and end > _LONGEST_ALONE):
        return True
    if before in _PARTS_BEFORE and before and not (before == "=" and text[start - 2 : start - 1] != "="):
        return True
    return behind[:1] in _PARTS_BEHIND and bool(behind[:1]) and (behind[0] != "." or behind[1:].isalnum())


def is_drawn_token(token: str) -> bool:
    """Whether a token has the look of a key that a service made and not of an id, a path or a name.

    >>> is_drawn_token("n746EfvoDAvz0JqcubFf"), is_drawn_token("toolu_01EQJcg54UvnaiWHPx8aY2SJ")
    (True, False)
    """
    bare = token.rstrip("=")
    if compiled_pattern(_BASE32).fullmatch(bare):
        return is_unlike_words(bare) and sum(map(str.isdigit, bare)) > 1
    if not _SHORTEST <= len(bare) <= _LONGEST_DRAWN or token.startswith(_PUBLIC) or "REDACTED" in token:
        return False
    if bare.isalpha() and len(bare) >= _SHORTEST_OF_LETTERS:
        is_mixed = any(map(str.isupper, bare)) and any(map(str.islower, bare))
        return is_mixed and mean_run(bare) <= _LONGEST_MEAN_RUN and likelihood_of_chance(bare) >= _LIKELY_KEY
    if not all(any(map(is_one, bare)) for is_one in (str.isupper, str.islower, str.isdigit)):
        return False
    return _is_base64(bare) if "/" in bare or "+" in bare else _is_joined(bare)


def _is_base64(bare: str) -> bool:
    """Long enough, and no path: few strokes, none at the beginning, no hyphen."""
    is_rooted = bare.startswith("//") or (bare[0] == "/" and len(bare) < _SHORTEST_ROOTED)
    is_path = is_rooted or "_" in bare or "-" in bare or bare.count("/") * 10 > len(bare)
    return len(bare) >= _SHORTEST_BASE64 and not is_path and mean_run(bare) <= _LONGEST_MEAN_RUN


def _is_joined(bare: str) -> bool:
    """No id behind a prefix, and no words that hyphens join."""
    if prefix := compiled_pattern(_PREFIX).match(bare):
        bare = bare[prefix.end() :]
        if len(bare) < _SHORTEST_WITH_PREFIX:
            return False
    parts = re.split("[_-]", bare)
    is_name = len(bare) < _SHORTEST_JOINED or any(compiled_pattern(_WORD_PART).fullmatch(part) for part in parts)
    if len(parts) > 1 and is_name:
        return False
    return mean_run(bare) <= _LONGEST_MEAN_RUN or (
        len(bare) >= _SHORTEST_UNLIKE and (is_unlike_words(bare) or likelihood_of_chance(bare) >= _LIKELY_KEY)
    )


def _is_public(text: str, start: int, end: int) -> bool:
    """An id, a hash or a line of a certificate."""
    frame = max(0, start - _LONGEST_FRAMED)
    if _is_id(text, start, end) or text.rfind("-----BEGIN ", frame, start) > text.rfind("-----END ", frame, start):
        return True
    if end - start < _SHORTEST_LINE:
        return False
    first, last = text.rfind("\n", 0, start), text.find("\n", end)
    before = text[text.rfind("\n", 0, max(first, 0)) + 1 : max(first, 0)]
    behind = text[last + 1 : text.find("\n", last + 1) if text.find("\n", last + 1) > 0 else None] if last >= 0 else ""
    return any(compiled_pattern(_BASE64_LINE).search(line) for line in (before, behind))


def _is_id(text: str, start: int, end: int) -> bool:
    return (
        compiled_pattern(_SHORT_ID).fullmatch(text, start, end) is not None
        or text.startswith("[...", end)
        or text.endswith("...]", 0, start)
        or compiled_pattern(_EVIDENCE).search(text, max(0, start - _NAME_LENGTH), start) is not None
    )


def _decoded(token: str) -> str | None:
    """What base64 stands for, where that is text."""
    bare = token.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        plain = base64.b64decode(bare + "=" * (-len(bare) % 4), validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None
    return plain if plain.replace("\n", "").replace("\t", "").replace("\0", "").isprintable() else None


def _made_secrets(text: str) -> Iterator[Cut]:
    """Words and numbers with a sign between them, capitals and small letters, as only passwords are."""
    parted = _with_words_apart(text)
    for sign in compiled_pattern(_SIGN_WITHIN).finditer(text):
        begin = max(0, sign.start() - _LONGEST_MADE)
        before = compiled_pattern(_WORD_END).search(parted, begin, sign.start())
        found = compiled_pattern(_WORD).match(parted, before.start()) if before else None
        if found is None or len(found[0]) > _LONGEST_MADE:
            continue
        value = found[0].rstrip(_ENDS).lstrip(_MARKS)
        start = found.start() + found[0].find(value)
        if _is_made(value) and not _is_id(text, start, start + len(value)):
            yield make_cut("secret", start, start + len(value))


def _with_words_apart(text: str) -> str:
    """The text with blanks where other signs than those of ASCII part its words."""
    return text if text.isascii() else compiled_pattern(_WIDE_APART).sub(" ", text)


def _is_made(value: str) -> bool:
    if "REDACTED" in value or not all(any(map(is_one, value)) for is_one in (str.isupper, str.islower, str.isdigit)):
        return False
    return has_words_and_number(value) or (any(sign in value for sign in _STRONG_SIGNS) and is_like_password(value))


def _subjects_in(sifted: SiftedText) -> list[str]:
    """What the text speaks of that lends weight to a value."""
    subjects = [*(sifted.parts & SUBJECT_PARTS)]
    for subject in sifted.telling & SUBJECT_WORDS:
        subjects += _SUBJECTS_BY_WORD[subject]
    subjects += foreign_words_in(sifted)
    if "<<<" in sifted.text:
        subjects.append("<<<")
    return subjects


def _spoken_secrets(sifted: SiftedText, subjects: list[str]) -> Iterator[Cut]:
    text, lowered, done = sifted.text, sifted.lowered, -1
    for place in sorted(place for subject in subjects for place in places_of(subject, lowered)):
        if place < done:
            continue
        begin, done = text.rfind("\n", 0, place) + 1, text.find("\n", place)
        done = len(text) if done < 0 else done
        if done - begin > _LONGEST_LINE:
            continue
        for word in compiled_pattern(_MIXED_WORD).finditer(_with_words_apart(text[begin:done])):
            value = word[0].rstrip(_ENDS).lstrip(_MARKS)
            start = begin + word.start() + word[0].find(value)
            if is_like_password(value) and not _is_id(text, start, start + len(value)):
                yield make_cut("secret", start, start + len(value))
        line = lowered[begin:done]
        first = after_prefix(text, begin)
        if _may_announce(line, lowered[first:done]) and (
            compiled_pattern(_ANNOUNCING).match(text, begin, done)
            or compiled_pattern(_ANNOUNCING).match(text, first, done)
        ):
            yield from _announced(text, done, is_announced)
        elif _may_print(line) and compiled_pattern(_PRINTING).match(text, first, done):
            yield from _announced(text, done, _is_printed)


def _may_announce(line: str, behind_prefix: str) -> bool:
    """What `_ANNOUNCING` finds has one of these; the expression takes ten times as long to say so."""
    if line.rstrip().endswith(":") or "name=" in line:
        return True
    return any(part[:1] in _PROMPTS or (part[:1] == "p" and part[2:3] == " ") for part in (line, behind_prefix))


def _may_print(line: str) -> bool:
    """The same for `_PRINTING`, in which letters of other alphabets can stand for Latin ones."""
    return mentions(line, _PRINTED_WORDS) or not line.isascii()


def _announced(text: str, end: int, accept: Callable[[str], bool]) -> Iterator[Cut]:
    """The value on the line below, and what goes on below that."""
    begin = end
    for _ in range(_MOST_BLANK_LINES):
        begin, end = end + 1, text.find("\n", end + 1)
        end = len(text) if end < 0 else end
        if text[after_prefix(text, begin) : end].strip(" \t#>*|`~"):
            break
    begin = after_prefix(text, begin)
    found = compiled_pattern(_ANNOUNCED).match(text, begin, end) if begin < end else None
    while found and accept(found[1]):
        yield make_cut("secret", *found.span(1))
        begin, length = end + 1, len(found[1])
        end = text.find("\n", begin)
        end = len(text) if end < 0 else end
        begin = after_prefix(text, begin)
        goes_on = length >= _LONGEST_ALONE <= end - begin
        found = compiled_pattern(_ANNOUNCED).match(text, begin, end) if goes_on else None


def _is_printed(value: str) -> bool:
    return is_like_password(value) or compiled_pattern(_UUID).fullmatch(value) is not None or is_drawn_token(value)


def is_announced(value: str) -> bool:
    """Letters with digits or a sign, and neither a stand-in nor a path, an address, a hint or code."""
    return _is_printed(value) or (
        any(map(str.isdigit, value))
        and any(map(str.isalpha, value))
        and not is_placeholder(value)
        and not says_what_it_is(value)
        and not any(sign in value for sign in ("://", "/", "\\", "(", "{", "<", "[redacted", "=", ":"))
        and not re.fullmatch(r"[\w-]+(?:\.[\w-]+)+|[a-z]+(?:[-_][a-z0-9]+)*", value)
    )
