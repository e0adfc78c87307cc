"""Secrets that stand where a connection is made: in addresses, headers, cookies, commands and connection strings.

The value itself has no shape of its own; the place tells: between ``:`` and ``@`` of an address, behind ``Bearer``,
behind ``mysql -p``, among the ``key=value;`` pairs of ODBC, ADO and Azure.
"""

from __future__ import annotations

import re

from helix_episodes.redaction.chance import is_mixed, is_placeholder, is_strong, looks_random, says_what_it_is
from helix_episodes.redaction.rules import Hint, Rule

_SHORTEST_COOKIE = 6
_PORTS = re.compile(r"\d{1,5}(?:[:/].{0,40})?")
#: How far around a ``Password=`` the other pairs of a connection string are looked for.
_STRING_SPAN = 300
_PAIRS = re.compile(
    r"(?:server|data source|host|driver|uid|user ?(?:id|name)?|initial catalog|database|dbq|dsn|port)"
    r"\s{0,2}=\s{0,2}[^\s;=]",
    re.IGNORECASE,
)
_BARE = r"[\"']?([^\s\"'`|;&<>\[\]]{3,200})"
#: ``-p`` as an option of its own or with its value behind it.
_OPTION_P = Hint("-", r"(?<=\s-)p")
_COOKIE = r"[\w!#$%&*+.^|~-]{1,80}=[^\s;,\"'\\\[\]<>]{1,4096}"


def _is_given(match: re.Match[str]) -> bool:
    return not is_placeholder(match[1])


def _is_given_to_command(match: re.Match[str]) -> bool:
    """Neither a stand-in nor what the same option means elsewhere: a port, or a pair of them."""
    value = match[1]
    return not is_placeholder(value) and not _PORTS.fullmatch(value) and not says_what_it_is(value)


def _is_given_in_netrc(match: re.Match[str]) -> bool:
    """Without the ``machine`` before it, "login and password are" is a sentence."""
    return not is_placeholder(match[2]) and (match[1] is not None or is_mixed(match[2]))


def _is_in_connection_string(match: re.Match[str]) -> bool:
    """Set off by ``;``, and beside pairs that name a server or a user: ``a = 1; password=b`` is code."""
    start, end, text = *match.span(), match.string
    if is_placeholder(match[1]) or ";" not in text[max(0, start - 3) : start] + text[end : end + 1]:
        return False
    return _PAIRS.search(text[max(0, start - _STRING_SPAN) : end + _STRING_SPAN]) is not None


def _is_made_as_password(match: re.Match[str]) -> bool:
    return not is_placeholder(match[1]) and is_strong(match[1]) and not says_what_it_is(match[1])


def _is_random(match: re.Match[str]) -> bool:
    return not is_placeholder(match[1]) and looks_random(match[1])


def _is_token(match: re.Match[str]) -> bool:
    """Behind ``Bearer`` stands a token, not the next word of a sentence or a variable."""
    return not is_placeholder(match[1]) and any(character.isdigit() for character in match[1])


def _has_cookie(match: re.Match[str]) -> bool:
    """A session's value among the pairs, not ``theme=dark``."""
    values = (pair.partition("=")[2] for pair in match[1].split(";"))
    return any(is_mixed(value) and len(value) >= _SHORTEST_COOKIE and not is_placeholder(value) for value in values)


CONNECTIONS = (
    Rule(
        "webhook",
        ("hooks.slack.com", "discord.com", "discordapp.com"),
        (
            r"(?:hooks\.slack\.com[/_](?:services|workflows)[/_]|discord(?:app)?\.com[/_]api[/_]webhooks[/_])"
            r"([A-Za-z0-9/_-]{20,255})"
        ),
        group=1,
    ),
    Rule(
        "authorization",
        ("earer", "uthorization"),
        (
            r"(?i)(?:authorization[\"']?\s{0,4}[:=]\s{0,4}\\?[\"']?(?:basic|token|bearer|apikey)|\bbearer)"
            r"\s{1,4}([A-Za-z0-9._~+/=-]{12,4096})"
        ),
        group=1,
        accept=_is_token,
        folded=True,
    ),
    # A password may hold an @ itself; the last one before the host ends it. A file named after an address has _ for /.
    Rule(
        "password",
        ("://", ":__"),
        r":(?://|__)[^\s/:@\"'`<>\[\]]{0,100}:([^\s/\"'`<>\[\]?#,]{1,200})@(?=[A-Za-z0-9\[])",
        group=1,
        accept=_is_given,
    ),
    # Oracle's own form: jdbc:oracle:thin:user/password@host
    Rule(
        "password",
        ("jdbc:oracle:",),
        r"jdbc:oracle:\w{1,10}:[^\s/@\"'`<>\[\]]{1,100}/([^\s/@\"'`<>\[\]]{1,200})@",
        group=1,
        accept=_is_given,
    ),
    Rule(
        "password",
        ("wd=", "wd =", "WD=", "WD =", "assword=", "assword =", "ASSWORD=", "ASSWORD ="),
        r"(?i)(?<![\w.-])(?:pwd|password)\s?=\s?(\{[^}\s]{1,200}\}|[^;\"'`\s<>\[\]{}()]{1,200})(?=[;\"'`\s]|$)",
        group=1,
        accept=_is_in_connection_string,
    ),
    Rule(
        "password",
        ("curl",),
        r"\bcurl\b[^\n|;&]{0,200}?\s(?:-u|--user)[\s=]\s{0,3}[\"']?[^\s:\"'\[\]]{1,64}:([^\s\"'\[\]]{4,200})",
        group=1,
        accept=_is_given,
    ),
    Rule(
        "cookie",
        ("curl",),
        r"\bcurl\b[^\n|;&]{0,200}?\s(?:-b|--cookie)[\s=]\s{0,3}\\?[\"']?("
        + _COOKIE
        + r"(?:;\s{0,2}"
        + _COOKIE
        + r"){0,60})",
        group=1,
        accept=_has_cookie,
    ),
    Rule(
        "password",
        ("redis-cli",),
        r"\bredis-cli\b[^\n|;&]{0,200}?\s(?:-a|--pass)[\s=]\s{0,3}" + _BARE,
        group=1,
        accept=_is_given_to_command,
    ),
    # ``dbPass = "…"``: short for a password, but also a round or a ticket, so the value must be made like one.
    Rule(
        "password",
        ("pass",),
        # At the beginning of a word, or a new word within a name: dbPass, DB2PASS.
        r"(?:p(?<![A-Za-z0-9]p)ass|P(?:(?<=[a-z0-9]P)ass|(?<![a-z]P)ASS))\\?[\"']?\s{0,4}:?=?\s{0,4}\\?[\"']"
        r"([^\s\"'`<>\[\]\\]{8,200})(?=\\?[\"'])",
        group=1,
        accept=_is_made_as_password,
        folded=True,
    ),
    Rule(
        "password",
        (),
        r"\b(?:mysql|mariadb)[a-z-]{0,20}\s(?:[^\n|;&]{0,200}?\s)?-p" + _BARE,
        group=1,
        accept=_is_given_to_command,
        hints=(_OPTION_P,),
    ),
    Rule("password", (), r"\bsshpass\s{1,4}-p\s{0,4}" + _BARE, 1, _is_given_to_command, (_OPTION_P,)),
    Rule(
        "password",
        ("login",),
        r"\b(?:docker|podman|nerdctl|buildah|oras|registry) login [^\n|;&]{0,200}?(?<=\s)(?:-p|--password)[ =]{1,4}"
        + _BARE,
        group=1,
        accept=_is_given_to_command,
    ),
    Rule(
        "password",
        ("login",),
        r"\b(machine\s{1,4}\S{1,200}\s{1,20}|default\s{1,4})?\blogin\s{1,4}\S{1,100}\s{1,20}password\s{1,4}([^\s\"'`<>\[\]]{3,200})",
        group=2,
        accept=_is_given_in_netrc,
    ),
    # Sentry's address holds a key where others hold a user.
    Rule("password", ("://",), r"://([A-Za-z0-9]{8,64})@(?=[A-Za-z0-9.-]{0,80}sentry)", 1, _is_given),
    Rule("token", ("://",), r"://([\w.~%+-]{16,255})@(?=[A-Za-z0-9\[])", 1, _is_random),
    Rule(
        "token",
        (),
        r"(?i)[?&;](?:[\w-]{0,20}[_-])?(?:sig|signature|key|apikey|token)=([^\s&\"'`<>#\\\[\]]{16,2048})",
        group=1,
        accept=_is_random,
        hints=(Hint("=", r"(?<=(?i:sig|ure|key|ken)=)[^\s&\"'`<>#\\\[\]]{16}"),),
    ),
    Rule(
        "cookie",
        ("ookie",),
        (
            r"(?i)(?<![\w-])cookie\\?[\"']?\s{0,4}:\s{0,4}\\?[\"']?"
            r"(" + _COOKIE + r"(?:;\s{0,2}" + _COOKIE + r"){0,60})"
        ),
        group=1,
        accept=_has_cookie,
        folded=True,
    ),
    Rule(
        "cookie",
        ("ookie",),
        r"(?i)(?<![\w-])set-cookie\\?[\"']?\s{0,4}:\s{0,4}\\?[\"']?(" + _COOKIE + r")",
        group=1,
        accept=_has_cookie,
        folded=True,
    ),
)
