"""Redaction: secrets and home folders are cut from a text before it is written anywhere.

Secrets are known by the shape of their *value*: a prefix that a service gives its keys, a signed token's three parts, a
key block's frame, a password within an address, or a value with the look of chance behind a telling name such as
``api_key =``. The telling name alone is nothing: "forgot password" is a sentence, ``token = next(tokens)`` is code, and
git hashes, UUIDs, paths and pictures are evidence that must stay.

>>> redact_text("export GITHUB_TOKEN=ghp_0123456789abcdefghijABCDEFGHIJ012345")
'export GITHUB_TOKEN=[redacted:github-token]'
>>> redact_text("see /home/kim/shop/cart.py, the password is wrong")
'see ~/shop/cart.py, the password is wrong'

Every pattern is bounded, so the time grows with the length of the text and not faster; texts without any of the literal
beginnings are passed on after a few searches for plain strings. Redacting twice changes nothing.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Cut(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that was cut: its kind, and where it began and how long it was in the text given.

    What only came to light by an earlier cut is counted in the text as that cut left it.
    """

    kind: str
    start: int
    length: int


class Redacted(msgspec.Struct, frozen=True, kw_only=True):
    """A text that may be written, and what was cut from it, in order."""

    text: str
    cuts: tuple[Cut, ...] = ()


def redact(text: str) -> Redacted:
    """The text with each secret replaced by ``[redacted:<kind>]`` and each home folder by ``~``.

    >>> redact("AKIAQ3EGRV7ZT5NPLMWB").cuts
    (Cut(kind='aws-key', start=0, length=20),)
    """
    cuts: list[Cut] = []
    # Cutting one thing can lay the beginning of another bare; each round leaves less of the original, so this ends.
    while found := _without_overlaps(_found(text)):
        cuts += found
        text = "".join(_pieces(text, found))
    return Redacted(text=text, cuts=tuple(cuts))


def redact_text(text: str) -> str:
    """The text alone, as :func:`redact` leaves it."""
    return redact(text).text


class _Rule(NamedTuple):
    """A kind of secret: plain strings of which one must occur, the pattern, its group to cut, and a last look."""

    kind: str
    needles: tuple[str, ...]
    pattern: str
    group: int = 0
    accept: Callable[[re.Match[str]], bool] = lambda _: True


# A token may follow any sign, even another secret's last hyphen, but not the letters of a word.
_START = r"(?<![A-Za-z0-9])"
# Names after which a value of the right shape is a secret.
_NAMES = (
    r"(?:api[_-]?key|secret|token|passw(?:or)?d|passphrase|pwd|credentials?|private[_-]?key|access[_-]?key|auth[_-]?key"
    r"|account[_-]?key|encryption[_-]?key|signing[_-]?key|client[_-]?key)"
)
_NAME_NEEDLES = ("key", "secret", "token", "passw", "passphrase", "pwd", "credential")
_VALUE = r"([^\s\"'`,;<>()\[\]{}\\]{6,512})"
# Names for which people choose the value themselves, so that it is short and needs no look of chance.
_CHOSEN_BY_PEOPLE = ("passw", "pwd", "passphrase")

_LONGEST_KEY_BLOCK = 16_384


def _named_value_is_secret(match: re.Match[str]) -> bool:
    name, value = match[1].lower(), match[2]
    if _is_placeholder(value) or _is_code(match, value):
        return False
    if any(chosen in name for chosen in _CHOSEN_BY_PEOPLE):
        return _is_mixed(value) or (_is_literal(match) and not _says_what_it_is(value))
    return _looks_random(value)


def _is_literal(match: re.Match[str]) -> bool:
    """Right behind the bare name, and in quotes or, as in a shell or a connection string, joined to it by ``=``."""
    before, after = match.string[match.end(1) : match.start(2)], match.string[match.end(2) : match.end(2) + 1]
    if before[-1:] in ("'", '"'):
        return after in (before[-1], "\\") and before[:1] in (*"'\":= ", "\\")
    return before == "=" and after not in (")", ",", "]", "}")


_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
# What stands behind ``password`` where it is a field's name, type, label or state.
_NO_PASSWORD = re.compile(
    r"address|body|confirm|confirmation|current|default|disabled|email|empty|enabled|error|example|false|field|form|hash"
    r"|hashed|hidden|incorrect|input|invalid|kennwort|key|label|missing|name|new|none|null|old|optional|pass|passphrase"
    r"|passwd|passwords?|passwort|plain|plaintext|prompt|pwd|required|reset|secret|senha|short|stdin|str|string|text"
    r"|token|true|type|undefined|unknown|user|username|value|wachtwoord|weak|wrong"
)


def _says_what_it_is(value: str) -> bool:
    words = [word.lower() for word in _WORDS.findall(value)]
    return not words or any(_NO_PASSWORD.fullmatch(word) for word in words)


def _is_placeholder(value: str) -> bool:
    """Something that stands for a value: a variable, a mask, a hint to fill it in."""
    lowered = value.lower()
    if value[0] in "$%*" or "${" in value or "***" in value or "..." in value or "xxxx" in lowered:
        return True
    return "redacted" in lowered or "your" in lowered or "placeholder" in lowered


_DOTTED_NAME = re.compile(r"[A-Za-z_]\w*(?:(?:\.|::|->)[A-Za-z_]\w*)+[.:]?")
_PATH_BEGINNINGS = ("/", "./", "../", "~/", "http://", "https://")


def _is_code(match: re.Match[str], value: str) -> bool:
    """A call, an attribute, a path or an address: where the value comes from, not what it is."""
    after = match.string[match.end(2) : match.end(2) + 1]
    return after in ("(", "[") or value.startswith(_PATH_BEGINNINGS) or _DOTTED_NAME.fullmatch(value) is not None


def _is_mixed(value: str) -> bool:
    """Letters together with digits or signs, as in a password; words joined by hyphens are a name."""
    letters = any(character.isalpha() for character in value)
    others = any(character.isdigit() or character in "!@#$%^&*+?=~|" for character in value)
    return (letters and others) or (value.isdigit() and len(value) >= _SHORTEST_NUMBER)


_SHORTEST_NUMBER = 6
# Sixteen characters are the shortest keys in use; words with a number do not reach a part of twelve.
_SHORTEST_KEY = 16
_SHORTEST_PART = 12
# Bits per character: English names with digits lie near 3, random base64 of this length above 4, random hex near 3.4.
_LEAST_ENTROPY = 3.0


def _looks_random(value: str) -> bool:
    """Long, of letters and digits without a break by which people join words, and without much repetition."""
    if len(value) < _SHORTEST_KEY or _entropy(value) < _LEAST_ENTROPY:
        return False
    return any(_is_random_part(part) for part in re.split(r"[-_.:]", value))


def _is_random_part(part: str) -> bool:
    digits = sum(character.isdigit() for character in part)
    letters = sum(character.isalpha() for character in part)
    return len(part) >= _SHORTEST_PART and letters > 0 and digits > 0


def _entropy(value: str) -> float:
    counts = Counter(value)
    return -sum(count / len(value) * math.log2(count / len(value)) for count in counts.values())


def _password_is_given(match: re.Match[str]) -> bool:
    return not _is_placeholder(match[1])


def _command_password_is_given(match: re.Match[str]) -> bool:
    """Neither a stand-in nor what the same option means elsewhere: a port, or a pair of them."""
    value = match[1]
    return not _is_placeholder(value) and not _PORTS.fullmatch(value) and not _says_what_it_is(value)


_PORTS = re.compile(r"\d{1,5}(?:[:/].{0,40})?")


def _netrc_password_is_given(match: re.Match[str]) -> bool:
    """Without the ``machine`` before it, "login and password are" is a sentence."""
    return not _is_placeholder(match[2]) and (match[1] is not None or _is_mixed(match[2]))


def _has_random_value(match: re.Match[str]) -> bool:
    return not _is_placeholder(match[1]) and _looks_random(match[1])


def _is_of_all_letters(match: re.Match[str]) -> bool:
    """Capitals, small letters and digits, as random base64 has them and joined names seldom do."""
    return all(any(is_one(character) for character in match[0]) for is_one in (str.isupper, str.islower, str.isdigit))


def _has_cookie(match: re.Match[str]) -> bool:
    """A session's value among the pairs, not ``theme=dark``."""
    values = (pair.partition("=")[2] for pair in match[1].split(";"))
    return any(_is_mixed(value) and len(value) >= _SHORTEST_COOKIE and not _is_placeholder(value) for value in values)


_SHORTEST_COOKIE = 6


def _has_digit(match: re.Match[str]) -> bool:
    """Tells a key from words joined by hyphens."""
    return any(character.isdigit() for character in match[0])


def _is_token(match: re.Match[str]) -> bool:
    """Behind ``Bearer`` stands a token, not the next word of a sentence or a variable."""
    return not _is_placeholder(match[1]) and any(character.isdigit() for character in match[1])


# Keys that a service begins with letters of its own; each must hold a digit besides.
_SERVICE_KEYS = (
    ("twilio-key", ("SK", "AC"), r"(?:SK|AC)[0-9a-f]{32}(?![A-Za-z0-9])"),
    ("mailgun-key", ("key-",), r"(?<![_-])key-[0-9a-f]{32}(?![A-Za-z0-9])"),
    ("databricks-token", ("dapi",), r"dapi[0-9a-f]{32}(?:-\d)?(?![A-Za-z0-9])"),
    ("shopify-token", ("shp",), r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}(?![A-Za-z0-9])"),
    ("figma-token", ("fig",), r"fig[dou]_[A-Za-z0-9_-]{20,255}"),
    ("groq-key", ("gsk_",), r"gsk_[A-Za-z0-9]{20,255}"),
    ("xai-key", ("xai-",), r"xai-[A-Za-z0-9]{20,255}"),
    ("replicate-token", ("r8_",), r"r8_[A-Za-z0-9]{30,80}"),
    ("perplexity-key", ("pplx-",), r"pplx-[A-Za-z0-9]{20,255}"),
    ("atlassian-token", ("ATATT3", "ATCTT3"), r"AT[AC]TT3[A-Za-z0-9_=-]{20,500}"),
    ("doppler-token", ("dp.",), r"dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]{1,40}\.)?[A-Za-z0-9]{20,80}"),
    ("newrelic-key", ("NRAK-",), r"NRAK-[A-Z0-9]{20,80}"),
    ("grafana-token", ("glsa_", "glc_"), r"gl(?:sa|c)_[A-Za-z0-9_+/=]{20,500}"),
    ("postman-key", ("PMAK-",), r"PMAK-[0-9a-f]{20,40}-[0-9a-f]{20,50}"),
    ("terraform-token", (".atlasv1.",), r"[A-Za-z0-9]{10,20}\.atlasv1\.[A-Za-z0-9_=-]{20,100}"),
)
_BARE = r"[\"']?([^\s\"'`|;&<>\[\]]{3,200})"
_COOKIE = r"[\w!#$%&*+.^|~-]{1,80}=[^\s;,\"'\\\[\]<>]{1,4096}"

_RULES = (
    *(_Rule(kind, needles, _START + pattern, accept=_has_digit) for kind, needles, pattern in _SERVICE_KEYS),
    _Rule(
        "telegram-token",
        (":",),
        r"[0-9]{8,10}:[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])",
        accept=_is_of_all_letters,
    ),
    # What stands before is looked at after the first letter: at every place of a text it would cost four times as much.
    _Rule(
        "discord-token",
        (".",),
        r"[MNO](?<![A-Za-z0-9].)[A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}(?![A-Za-z0-9_-])",
        accept=_is_of_all_letters,
    ),
    _Rule("aws-key", ("AKIA", "ASIA"), r"(?<![A-Za-z0-9])A[KS]IA[A-Z0-9]{16}(?![A-Za-z0-9])"),
    _Rule(
        "github-token",
        ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
        _START + r"(?:gh[pousr]_[A-Za-z0-9]{30,255}|github_pat_[A-Za-z0-9_]{22,255})",
    ),
    _Rule("gitlab-token", ("gl",), _START + r"gl(?:pat|ptt|dt|rt|cbt|ft|soat)-[A-Za-z0-9_-]{20,255}"),
    _Rule("slack-token", ("xox", "xapp-"), _START + r"(?:xox[abeoprs]|xapp)-[A-Za-z0-9-]{10,255}"),
    _Rule(
        "webhook",
        ("hooks.slack.com", "discord"),
        r"(?:hooks\.slack\.com/(?:services|workflows)/|discord(?:app)?\.com/api/webhooks/)([A-Za-z0-9/_-]{20,255})",
        group=1,
    ),
    _Rule(
        "stripe-key",
        ("_live_", "_test_", "whsec_"),
        _START + r"(?:[sr]k_(?:live|test)_[A-Za-z0-9]{16,255}|whsec_[A-Za-z0-9+/=]{16,255})",
    ),
    _Rule("anthropic-key", ("sk-ant-",), _START + r"sk-ant-[A-Za-z0-9_-]{16,255}"),
    _Rule("openai-key", ("sk-",), _START + r"sk-(?!ant-)[A-Za-z0-9_-]{20,255}", accept=_has_digit),
    _Rule(
        "google-key",
        ("AIza", "ya29.", "GOCSPX-"),
        _START + r"(?:AIza[A-Za-z0-9_-]{35}|ya29\.[A-Za-z0-9_-]{20,500}|GOCSPX-[A-Za-z0-9_-]{20,80})",
    ),
    _Rule("npm-token", ("npm_",), _START + r"npm_[A-Za-z0-9]{36,80}"),
    _Rule("pypi-token", ("pypi-",), _START + r"pypi-[A-Za-z0-9_-]{50,500}"),
    _Rule("huggingface-token", ("hf_",), _START + r"hf_[A-Za-z0-9]{30,80}"),
    _Rule("sendgrid-key", ("SG.",), _START + r"SG\.[A-Za-z0-9_-]{16,80}\.[A-Za-z0-9_-]{30,80}"),
    _Rule("linear-key", ("lin_",), _START + r"lin_(?:api|oauth)_[A-Za-z0-9]{30,80}"),
    _Rule("digitalocean-token", ("_v1_",), _START + r"do[opr]_v1_[a-f0-9]{64}"),
    _Rule("vault-token", ("hvs.", "hvb."), _START + r"hv[sb]\.[A-Za-z0-9_-]{20,300}"),
    _Rule("age-key", ("AGE-SECRET-KEY-",), r"AGE-SECRET-KEY-1[A-Z0-9]{20,80}"),
    _Rule(
        "jwt",
        ("eyJ",),
        _START + r"eyJ[A-Za-z0-9_-]{8,512}\.eyJ[A-Za-z0-9_-]{4,8192}(?:\.[A-Za-z0-9_-]{4,2048})?",
    ),
    _Rule(
        "authorization",
        ("earer", "EARER", "asic", "uthorization"),
        (
            r"(?i)(?:authorization[\"']?\s{0,4}[:=]\s{0,4}\\?[\"']?(?:basic|token|bearer|apikey)|\bbearer)"
            r"\s{1,4}([A-Za-z0-9._~+/=-]{12,4096})"
        ),
        group=1,
        accept=_is_token,
    ),
    _Rule(
        "password",
        ("://",),
        r"://[^\s/:@\"'`<>\[\]]{0,100}:([^\s/@\"'`<>\[\]]{1,200})@(?=[A-Za-z0-9\[])",
        group=1,
        accept=_password_is_given,
    ),
    _Rule(
        "password",
        ("curl",),
        r"\bcurl\b[^\n|;&]{0,200}?\s(?:-u|--user)[\s=]\s{0,3}[\"']?[^\s:\"'\[\]]{1,64}:([^\s\"'\[\]]{4,200})",
        group=1,
        accept=_password_is_given,
    ),
    _Rule(
        "password",
        ("mysql", "mariadb"),
        r"\b(?:mysql|mariadb)[a-z-]{0,20}\s(?:[^\n|;&]{0,200}?\s)?-p" + _BARE,
        group=1,
        accept=_command_password_is_given,
    ),
    _Rule("password", ("sshpass",), r"\bsshpass\s{1,4}-p\s{0,4}" + _BARE, 1, _command_password_is_given),
    _Rule(
        "password",
        (" login ",),
        r"\b(?:docker|podman|nerdctl|buildah|oras|registry) login [^\n|;&]{0,200}?(?<=\s)(?:-p|--password)[ =]{1,4}"
        + _BARE,
        group=1,
        accept=_command_password_is_given,
    ),
    _Rule(
        "password",
        ("login",),
        r"\b(machine\s{1,4}\S{1,200}\s{1,20}|default\s{1,4})?\blogin\s{1,4}\S{1,100}\s{1,20}password\s{1,4}([^\s\"'`<>\[\]]{3,200})",
        group=2,
        accept=_netrc_password_is_given,
    ),
    # Sentry's address holds a key where others hold a user.
    _Rule("password", ("sentry",), r"://([A-Za-z0-9]{8,64})@(?=[A-Za-z0-9.-]{0,80}sentry)", 1, _password_is_given),
    _Rule("token", ("://",), r"://([\w.~%+-]{16,255})@(?=[A-Za-z0-9\[])", 1, _has_random_value),
    _Rule(
        "token",
        ("=",),
        r"(?i)[?&;](?:[\w-]{0,20}[_-])?(?:sig|signature|key|apikey|token)=([^\s&\"'`<>#\\\[\]]{16,2048})",
        group=1,
        accept=_has_random_value,
    ),
    _Rule(
        "cookie",
        ("ookie", "OOKIE"),
        (
            r"(?i)(?<![\w-])cookie\\?[\"']?\s{0,4}:\s{0,4}\\?[\"']?"
            r"(" + _COOKIE + r"(?:;\s{0,2}" + _COOKIE + r"){0,60})"
        ),
        group=1,
        accept=_has_cookie,
    ),
    _Rule(
        "cookie",
        ("ookie", "OOKIE"),
        r"(?i)(?<![\w-])set-cookie\\?[\"']?\s{0,4}:\s{0,4}\\?[\"']?(" + _COOKIE + r")",
        group=1,
        accept=_has_cookie,
    ),
)
_NAMED = _Rule(
    "secret",
    _NAME_NEEDLES,
    r"(?i)(" + _NAMES + r")[\w-]{0,20}\\?[\"']?\s{0,4}[:=]{1,2}>?\s{0,4}\\?[\"'`]?" + _VALUE,
    group=2,
    accept=_named_value_is_secret,
)
_OPTION = _Rule(
    "secret",
    ("--",),
    r"(?i)(?<![\w-])--(?:[a-z]{1,16}-){0,3}(" + _NAMES + r")\s{1,4}[\"']?" + _VALUE,
    group=2,
    accept=_named_value_is_secret,
)
_KEY_BLOCK = r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
_KEY_BLOCK_END = r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
# The block's body when its end is not in the text: lines of base64, possibly with their line ends spelled out.
_KEY_BODY = r"(?:\s|\\[nr])*+(?:[A-Za-z0-9+/=]{16,}+(?:\s|\\[nr])*+)++"

_HOMES = (
    (
        ("/Users/", "/home/"),
        r"(?<![\w.~-])(?:/var(?=/home))?/(?:Users|home)/(?!Shared\b)[^/\s:;,\"'`<>|()\[\]{}\\*$]{1,64}",
    ),
    (("/root",), r"(?<![\w.~/-])/root(?=/|$|[\s:\"'])"),
    (
        ("sers\\", "sers/", "ettings\\", "ettings/"),
        (
            r"(?i)(?<![\w])(?:\\{2,4}\?\\{1,2})?[a-z]:(?:\\{1,2}|/)(?:Users|Documents and Settings)(?:\\{1,2}|/)"
            r"(?!Public\b)[^\\/\s:\"'<>|]{1,64}"
        ),
    ),
    # The same folder as Git Bash and the Linux within Windows call it.
    (("/Users/", "/users/"), r"(?i)(?<![\w.~-])/(?:mnt/)?[a-z]/Users/(?!Public\b)[^/\s:;,\"'`<>|()\[\]{}\\*$]{1,64}"),
    # The folder names that Claude Code makes of paths.
    (("/-Users-", "/-home-"), r"(?<=/-)(?:Users|home)-[A-Za-z0-9]{1,64}"),
    (("--Users-",), r"(?<=[A-Za-z]--)Users-[A-Za-z0-9]{1,64}"),
    (("-Users-", "-home-"), r"(?<=-)(?:(?<![\w-]-)|(?<=-mnt-[a-z]-)|(?<=-var-))(?:Users|home)-[A-Za-z0-9]{1,64}(?=-)"),
)


def _found(text: str) -> Iterator[Cut]:
    for rule in _RULES:
        if _mentions(text, rule.needles):
            yield from _by_rule(rule, text)
    if _mentions(text.lower(), _NAME_NEEDLES):
        yield from _by_rule(_NAMED, text)
        yield from _by_rule(_OPTION, text)
    if "-----BEGIN " in text:
        yield from _key_blocks(text)
    for needles, pattern in _HOMES:
        if _mentions(text, needles):
            yield from (_cut("home", *found.span()) for found in _compiled(pattern).finditer(text))


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Compiled when first needed: all of them at once cost 30 ms, and most texts need none."""
    return re.compile(pattern)


def _mentions(text: str, needles: tuple[str, ...]) -> bool:
    # A plain loop: any() with a generator costs five times as much, and this runs thirty times per text.
    for needle in needles:  # noqa: SIM110  (see above)
        if needle in text:
            return True
    return False


def _by_rule(rule: _Rule, text: str) -> Iterator[Cut]:
    for match in _compiled(rule.pattern).finditer(text):
        if rule.accept(match):
            yield _cut(rule.kind, *match.span(rule.group))


def _key_blocks(text: str) -> Iterator[Cut]:
    """From its first line to its last; without a last line, as far as the base64 goes."""
    for begin in _compiled(_KEY_BLOCK).finditer(text):
        end = _compiled(_KEY_BLOCK_END).search(text, begin.end(), begin.end() + _LONGEST_KEY_BLOCK)
        body = end or _compiled(_KEY_BODY).match(text, begin.end())
        if body is not None:
            yield _cut("private-key", begin.start(), body.end())


def _cut(kind: str, start: int, end: int) -> Cut:
    return Cut(kind=kind, start=start, length=end - start)


def _without_overlaps(cuts: Iterator[Cut]) -> list[Cut]:
    """In order of place; of two that overlap the one that begins first, then the one of the more telling rule."""
    kept: list[Cut] = []
    end = 0
    # sorted() is stable, so that at one place the rule named first stays first.
    for cut in sorted(cuts, key=lambda cut: cut.start):
        if cut.start >= end:
            kept.append(cut)
            end = cut.start + cut.length
    return kept


def _pieces(text: str, cuts: list[Cut]) -> Iterator[str]:
    position = 0
    for cut in cuts:
        yield text[position : cut.start]
        yield "~" if cut.kind == "home" else f"[redacted:{cut.kind}]"
        position = cut.start + cut.length
    yield text[position:]
