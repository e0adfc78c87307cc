"""What secrets look like: known formats, credentials in connections, and values behind names such as ``api_key``.

A format is a service's prefix, the three parts of a signed token, or the frame of a key block. Credentials occur in
addresses, headers, cookies, commands and connection strings. A telling name (``api_key = …``, ``--token …``) alone is
not enough: its value must look random.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from helix_episodes.redaction.rule_matching import (
    WORD_START,
    Cut,
    SecretRule,
    SieveHint,
    compiled_pattern,
    cuts_by,
    has_digit,
    has_digit_or_both_cases,
    is_mixed,
    is_of_all_letters,
    is_placeholder,
    is_scrambled,
    is_strewn_with_digits,
    is_strong,
    looks_random,
    make_cut,
    mentions,
    says_what_it_is,
)

if TYPE_CHECKING:
    from collections.abc import Iterator


# How a service's keys of several kinds begin.
_GITHUB = ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_")
_GITLAB = ("glpat-", "glptt-", "gldt-", "glrt-", "glcbt-", "glft-", "glsoat-")
_SHOPIFY = ("shpat_", "shpca_", "shppa_", "shpss_")
_SLACK = ("xoxa-", "xoxb-", "xoxe-", "xoxo-", "xoxp-", "xoxr-", "xoxs-")

# Keys that a service begins with letters of its own; each must hold a digit besides.
_PREFIXED = (
    ("mailgun-key", ("key-",), r"(?<![_-])key-[0-9a-f]{32}(?![A-Za-z0-9])"),
    ("databricks-token", ("dapi",), r"dapi[0-9a-f]{32}(?:-\d)?(?![A-Za-z0-9])"),
    ("shopify-token", _SHOPIFY, r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}(?![A-Za-z0-9])"),
    ("figma-token", ("figd_", "figo_", "figu_"), r"fig[dou]_[A-Za-z0-9_-]{20,255}"),
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
    ("notion-token", ("ntn_",), r"ntn_[A-Za-z0-9]{40,80}"),
    ("supabase-token", ("sbp_", "sb_secret_"), r"(?:sbp_[0-9a-f]{40}|sb_secret_[A-Za-z0-9_-]{20,80})"),
    ("planetscale-token", ("pscale_",), r"pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.=-]{30,80}"),
    ("rubygems-key", ("rubygems_",), r"rubygems_[0-9a-f]{48}(?![A-Za-z0-9])"),
    ("sentry-token", ("sntrys_", "sntryu_"), r"sntry[su]_[A-Za-z0-9_+/=-]{40,500}"),
    ("heroku-key", ("HRKU-",), r"HRKU-[A-Za-z0-9_-]{30,80}"),
)

# Keys of which the end was cut off with the text: the beginning of one is enough where nothing else begins so.
_CLIPPED = (
    ("github-token", _GITHUB, r"(?:gh[pousr]_[A-Za-z0-9]{6,29}|github_pat_[A-Za-z0-9_]{6,21})"),
    ("gitlab-token", _GITLAB, r"gl(?:pat|ptt|dt|rt|cbt|ft|soat)-[A-Za-z0-9_-]{6,19}"),
    ("slack-token", _SLACK, r"xox[abeoprs]-[A-Za-z0-9-]{6,9}"),
    ("stripe-key", ("_live_", "_test_"), r"[sr]k_(?:live|test)_[A-Za-z0-9]{6,15}"),
    ("anthropic-key", ("sk-ant-",), r"sk-ant-[A-Za-z0-9_-]{6,15}"),
    ("openai-key", ("sk-proj-", "sk-svcacct-"), r"sk-(?:proj|svcacct)-[A-Za-z0-9_-]{6,14}"),
    ("aws-key", ("AKIA", "ASIA"), r"A[KS]IA[A-Z0-9]{6,15}"),
    ("google-key", ("AIza", "GOCSPX-"), r"(?:AIza[A-Za-z0-9_-]{6,34}|GOCSPX-[A-Za-z0-9_-]{6,19})"),
    ("npm-token", ("npm_",), r"npm_[A-Za-z0-9]{8,35}"),
    ("pypi-token", ("pypi-AgE",), r"pypi-AgE[A-Za-z0-9_-]{6,46}"),
    ("huggingface-token", ("hf_",), r"hf_[A-Za-z0-9]{8,29}"),
    ("sendgrid-key", ("SG.",), r"SG\.[A-Za-z0-9_-]{8,80}(?:\.[A-Za-z0-9_-]{0,29})?"),
    ("docker-token", ("dckr_pat_",), r"dckr_pat_[A-Za-z0-9_-]{6,19}"),
    ("vault-token", ("hvs.", "hvb."), r"hv[sb]\.[A-Za-z0-9_-]{8,19}"),
    ("digitalocean-token", ("_v1_",), r"do[opr]_v1_[a-f0-9]{6,63}"),
    ("shopify-token", _SHOPIFY, r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{6,31}"),
    ("notion-token", ("ntn_",), r"ntn_[A-Za-z0-9]{8,39}"),
    ("linear-key", ("lin_api_",), r"lin_api_[A-Za-z0-9]{6,29}"),
    ("jwt", ("eyJ",), r"eyJ(?:hbGci|0eXAi)[A-Za-z0-9_-]{4,512}(?:\.[A-Za-z0-9_-]{0,8192})?"),
)
_CUT_OFF = r"(?=\u2026|\.{3}|\Z)"

# Tokens that nothing but a token begins like.
_BEGUN = (
    ("github-token", _GITHUB, r"(?:gh[pousr]_[A-Za-z0-9]{30,255}|github_pat_[A-Za-z0-9_]{22,255})"),
    ("gitlab-token", _GITLAB, r"gl(?:pat|ptt|dt|rt|cbt|ft|soat)-[A-Za-z0-9_-]{20,255}"),
    ("stripe-key", ("_live_", "_test_"), r"[sr]k_(?:live|test)_[A-Za-z0-9]{16,255}"),
    ("stripe-key", ("whsec_",), r"whsec_[A-Za-z0-9+/=]{16,255}"),
    ("anthropic-key", ("sk-ant-",), r"sk-ant-[A-Za-z0-9_-]{16,255}"),
    ("google-key", ("AIza", "GOCSPX-"), r"(?:AIza[A-Za-z0-9_-]{35}|GOCSPX-[A-Za-z0-9_-]{20,80})"),
    ("google-key", ("ya29.",), r"ya29\.[A-Za-z0-9_-]{20,500}"),
    ("npm-token", ("npm_",), r"npm_[A-Za-z0-9]{36,80}"),
    ("pypi-token", ("pypi-",), r"pypi-[A-Za-z0-9_-]{50,500}"),
    ("huggingface-token", ("hf_",), r"hf_[A-Za-z0-9]{30,80}"),
    ("sendgrid-key", ("SG.",), r"SG\.[A-Za-z0-9_-]{16,80}\.[A-Za-z0-9_-]{30,80}"),
    ("linear-key", ("lin_",), r"lin_(?:api|oauth)_[A-Za-z0-9]{30,80}"),
    ("digitalocean-token", ("_v1_",), r"do[opr]_v1_[a-f0-9]{64}"),
    ("vault-token", ("hvs.", "hvb."), r"hv[sb]\.[A-Za-z0-9_-]{20,300}"),
    ("jwt", ("eyJ",), r"eyJ[A-Za-z0-9_-]{8,512}\.eyJ[A-Za-z0-9_-]{4,8192}(?:\.[A-Za-z0-9_-]{4,2048})?"),
)

FORMAT_RULES = (
    SecretRule(
        "twilio-key",
        (),
        WORD_START + r"(?:SK|AC)[0-9a-f]{32}(?![A-Za-z0-9])",
        accept=has_digit,
        hints=(SieveHint("S", r"K[0-9a-f]{32}"), SieveHint("A", r"C[0-9a-f]{32}")),
    ),
    *(SecretRule(kind, needles, WORD_START + pattern, accept=has_digit) for kind, needles, pattern in _PREFIXED),
    SecretRule(
        "docker-token", ("dckr_pat_",), WORD_START + r"dckr_pat_[A-Za-z0-9_-]{20,80}", accept=has_digit_or_both_cases
    ),
    SecretRule("azure-secret", ("Q~",), WORD_START + r"[A-Za-z0-9_~.-]{3}\dQ~[A-Za-z0-9_~.-]{31,34}(?![A-Za-z0-9_~-])"),
    # All that were ever seen begin with AA behind the colon.
    SecretRule(
        "telegram-token",
        (":AA",),
        r"[0-9]{8,10}:AA[A-Za-z0-9_-]{33}(?![A-Za-z0-9_-])",
        accept=is_of_all_letters,
    ),
    # What precedes it is checked after the first letter: at every place of a text it would cost four times as much.
    SecretRule(
        "discord-token",
        (),
        r"[MNO](?<![A-Za-z0-9].)[A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}(?![A-Za-z0-9_-])",
        accept=is_of_all_letters,
        hints=(SieveHint(".", r"[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27}"),),
    ),
    SecretRule("aws-key", ("AKIA", "ASIA"), r"(?<![A-Za-z0-9])A[KS]IA[A-Z0-9]{16}(?![A-Za-z0-9])"),
    *(SecretRule(kind, needles, WORD_START + pattern) for kind, needles, pattern in _BEGUN),
    # Older versions masked the numbers within before they cut.
    SecretRule(
        "slack-token", (*_SLACK, "xapp-"), WORD_START + r"(?:xox[abeoprs]|xapp)-(?:[A-Za-z0-9-]|<id>|<n>){10,255}"
    ),
    SecretRule("openai-key", ("sk-",), WORD_START + r"sk-(?!ant-)[A-Za-z0-9_-]{20,255}", accept=has_digit),
    SecretRule("age-key", ("AGE-SECRET-KEY-",), r"AGE-SECRET-KEY-1[A-Z0-9]{20,80}"),
    *(
        SecretRule(kind, needles, WORD_START + pattern + _CUT_OFF, accept=has_digit_or_both_cases)
        for kind, needles, pattern in _CLIPPED
    ),
)

#: A PEM key of 4096 bits is about 3,300 characters; one of 16,384 bits, the longest in use, four times that.
_LONGEST_KEY_BLOCK = 16_384
_KEY_BLOCK = r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
_KEY_BLOCK_END = r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
# The block's body when its end is not in the text: lines of base64, possibly with their line ends spelled out.
_KEY_BODY = r"(?:\s|\\[nr])*+(?:[A-Za-z0-9+/=]{16,}+(?:\s|\\[nr])*+)++"


def key_blocks(text: str) -> Iterator[Cut]:
    """Private keys in their frames, from the first line to the last; without a last line, as far as the base64 goes."""
    if "-----BEGIN " not in text:
        return
    last = text.rfind("-----END ")
    for begin in compiled_pattern(_KEY_BLOCK).finditer(text):
        end = compiled_pattern(_KEY_BLOCK_END).search(
            text, begin.end(), min(begin.end() + _LONGEST_KEY_BLOCK, last + 80)
        )
        body = end or compiled_pattern(_KEY_BODY).match(text, begin.end())
        if body is not None:
            yield make_cut("private-key", begin.start(), body.end())


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
_OPTION_P = SieveHint("-", r"(?<=\s-)p")
_COOKIE = r"[\w!#$%&*+.^|~-]{1,80}=[^\s;,\"'\\\[\]<>]{1,4096}"
_COOKIES = _COOKIE + r"(?:;\s{0,2}" + _COOKIE + r"){0,60}"


def _is_real_value(match: re.Match[str]) -> bool:
    return not is_placeholder(match[1])


def _is_command_password(match: re.Match[str]) -> bool:
    """Neither a stand-in nor what the same option means elsewhere: a port, or a pair of them."""
    value = match[1]
    return not is_placeholder(value) and not _PORTS.fullmatch(value) and not says_what_it_is(value)


def _is_netrc_password(match: re.Match[str]) -> bool:
    """Without the ``machine`` before it, "login and password are" is a sentence."""
    return not is_placeholder(match[2]) and (match[1] is not None or is_mixed(match[2]))


def _is_in_connection_string(match: re.Match[str]) -> bool:
    """Set off by ``;``, and next to pairs that name a server or a user: ``a = 1; password=b`` is code."""
    start, end, text = *match.span(), match.string
    if is_placeholder(match[1]) or ";" not in text[max(0, start - 3) : start] + text[end : end + 1]:
        return False
    return _PAIRS.search(text[max(0, start - _STRING_SPAN) : end + _STRING_SPAN]) is not None


def _is_made_as_password(match: re.Match[str]) -> bool:
    return not is_placeholder(match[1]) and is_strong(match[1]) and not says_what_it_is(match[1])


def _is_random(match: re.Match[str]) -> bool:
    return not is_placeholder(match[1]) and looks_random(match[1])


def _is_token(match: re.Match[str]) -> bool:
    """``Bearer`` is followed by a token, not the next word of a sentence or a variable."""
    return not is_placeholder(match[1]) and any(character.isdigit() for character in match[1])


def _has_cookie(match: re.Match[str]) -> bool:
    """A session's value among the pairs, not ``theme=dark``."""
    values = (pair.partition("=")[2] for pair in match[1].split(";"))
    return any(is_mixed(value) and len(value) >= _SHORTEST_COOKIE and not is_placeholder(value) for value in values)


CONNECTION_RULES = (
    SecretRule(
        "webhook",
        ("hooks.slack.com", "discord.com", "discordapp.com"),
        (
            r"(?:hooks\.slack\.com[/_](?:services|workflows)[/_]|discord(?:app)?\.com[/_]api[/_]webhooks[/_])"
            r"([A-Za-z0-9/_-]{20,255})"
        ),
    ),
    SecretRule(
        "authorization",
        ("earer", "uthorization"),
        (
            r"(?i)(?:authorization[\"']?\s{0,4}[:=]\s{0,4}\\?[\"']?(?:basic|token|bearer|apikey)|\bbearer)"
            r"\s{1,4}([A-Za-z0-9._~+/=-]{12,4096})"
        ),
        accept=_is_token,
        folded=True,
    ),
    # A password may hold an @ itself; the last one before the host ends it. A file named after an address has _ for /.
    SecretRule(
        "password",
        ("://", ":__"),
        r":(?://|__)[^\s/:@\"'`<>\[\]]{0,100}:([^\s/\"'`<>\[\]?#,]{1,200})@(?=[A-Za-z0-9\[])",
        accept=_is_real_value,
    ),
    # Oracle's own form: jdbc:oracle:thin:user/password@host
    SecretRule(
        "password",
        ("jdbc:oracle:",),
        r"jdbc:oracle:\w{1,10}:[^\s/@\"'`<>\[\]]{1,100}/([^\s/@\"'`<>\[\]]{1,200})@",
        accept=_is_real_value,
    ),
    SecretRule(
        "password",
        ("wd=", "wd =", "WD=", "WD =", "assword=", "assword =", "ASSWORD=", "ASSWORD ="),
        r"(?i)(?<![\w.-])(?:pwd|password)\s?=\s?(\{[^}\s]{1,200}\}|[^;\"'`\s<>\[\]{}()]{1,200})(?=[;\"'`\s]|$)",
        accept=_is_in_connection_string,
    ),
    SecretRule(
        "password",
        ("curl",),
        r"\bcurl\b[^\n|;&]{0,200}?\s(?:-u|--user)[\s=]\s{0,3}[\"']?[^\s:\"'\[\]]{1,64}:([^\s\"'\[\]]{4,200})",
        accept=_is_real_value,
    ),
    SecretRule(
        "cookie",
        ("curl",),
        r"\bcurl\b[^\n|;&]{0,200}?\s(?:-b|--cookie)[\s=]\s{0,3}\\?[\"']?(" + _COOKIES + r")",
        accept=_has_cookie,
    ),
    SecretRule(
        "password",
        ("redis-cli",),
        r"\bredis-cli\b[^\n|;&]{0,200}?\s(?:-a|--pass)[\s=]\s{0,3}" + _BARE,
        accept=_is_command_password,
    ),
    # ``dbPass = "…"``: short for a password, but also a round or a ticket, so the value must be made like one.
    SecretRule(
        "password",
        ("pass",),
        # At the beginning of a word, or a new word within a name: dbPass, DB2PASS.
        r"(?:p(?<![A-Za-z0-9]p)ass|P(?:(?<=[a-z0-9]P)ass|(?<![a-z]P)ASS))\\?[\"']?\s{0,4}:?=?\s{0,4}\\?[\"']"
        r"([^\s\"'`<>\[\]\\]{8,200})(?=\\?[\"'])",
        accept=_is_made_as_password,
        folded=True,
    ),
    SecretRule(
        "password",
        (),
        r"\b(?:mysql|mariadb)[a-z-]{0,20}\s(?:[^\n|;&]{0,200}?\s)?-p" + _BARE,
        accept=_is_command_password,
        hints=(_OPTION_P,),
    ),
    SecretRule("password", (), r"\bsshpass\s{1,4}-p\s{0,4}" + _BARE, _is_command_password, (_OPTION_P,)),
    SecretRule(
        "password",
        ("login",),
        r"\b(?:docker|podman|nerdctl|buildah|oras|registry) login [^\n|;&]{0,200}?(?<=\s)(?:-p|--password)[ =]{1,4}"
        + _BARE,
        accept=_is_command_password,
    ),
    SecretRule(
        "password",
        ("login",),
        r"\b(machine\s{1,4}\S{1,200}\s{1,20}|default\s{1,4})?\blogin\s{1,4}\S{1,100}\s{1,20}password\s{1,4}([^\s\"'`<>\[\]]{3,200})",
        accept=_is_netrc_password,
    ),
    # Sentry's address holds a key where others hold a user.
    SecretRule("password", ("://",), r"://([A-Za-z0-9]{8,64})@(?=[A-Za-z0-9.-]{0,80}sentry)", _is_real_value),
    SecretRule("token", ("://",), r"://([\w.~%+-]{16,255})@(?=[A-Za-z0-9\[])", _is_random),
    SecretRule(
        "token",
        (),
        r"(?i)[?&;](?:[\w-]{0,20}[_-])?(?:sig|signature|key|apikey|token)=([^\s&\"'`<>#\\\[\]]{16,2048})",
        accept=_is_random,
        hints=(SieveHint("=", r"(?<=(?i:sig|ure|key|ken)=)[^\s&\"'`<>#\\\[\]]{16}"),),
    ),
    SecretRule(
        "cookie",
        ("ookie",),
        r"(?i)(?<![\w-])cookie\\?[\"']?\s{0,4}:\s{0,4}\\?[\"']?(" + _COOKIES + r")",
        accept=_has_cookie,
        folded=True,
    ),
    SecretRule(
        "cookie",
        ("ookie",),
        r"(?i)(?<![\w-])set-cookie\\?[\"']?\s{0,4}:\s{0,4}\\?[\"']?(" + _COOKIE + r")",
        accept=_has_cookie,
        folded=True,
    ),
)


# Names after which a value of the right shape is a secret.
_NAMES = (
    r"(?:api[_-]?key|secret|token|passw(?:or)?d|passphrase|pwd|credentials?|private[_-]?key|access[_-]?key|auth[_-]?key"
    r"|account[_-]?key|encryption[_-]?key|signing[_-]?key|client[_-]?key)"
)
_NEEDLES = ("key", "secret", "token", "passw", "passphrase", "pwd", "credential")
# One of them is between a name and its value.
_JOINTS = (":", "=", "--")
_NAMED_VALUE = r"([^\s\"'`,;<>()\[\]{}\\]{6,512})"
# Names for which people choose the value themselves, so that it is short and needs no look of chance.
_CHOSEN_BY_PEOPLE = ("passw", "pwd", "passphrase")

_DOTTED_NAME = re.compile(r"[A-Za-z_]\w*(?:(?:\.|::|->)[A-Za-z_]\w*)+[.:]?")
_PATH_BEGINNINGS = ("/", "./", "../", "~/", "http://", "https://")


# From a needle to its joint: the rest of the name (twelve letters at most) and what is between.
_JOINED = r"[\w-]{0,32}\\?[\"']?\s{0,4}[:=]"
#: A name's needle is at most this far from its first letter (``encryption_key``), and its value ends this far on.
_BEFORE, _AFTER = 12, 600


def named_secrets(text: str, *, lowered: str) -> Iterator[Cut]:
    """The values behind telling names, and behind the options of commands that are so called.

    ``lowered`` is the text in small letters.
    """
    if mentions(text, _JOINTS) and mentions(lowered, _NEEDLES):
        for start, end in _windows(text, lowered):
            yield from cuts_by(_NAMED_RULE, text, start=start, end=end)
        if "--" in text:
            yield from cuts_by(_OPTION_RULE, text)


def _windows(text: str, lowered: str) -> Iterator[tuple[int, int]]:
    """Where the expression for names can match at all; trying it at every letter takes five times as long."""
    if len(lowered) != len(text):  # a letter such as the Turkish capital I becomes two: places no longer agree
        yield 0, len(text)
        return
    joined = compiled_pattern(_JOINED)
    places = sorted(place for needle in _NEEDLES for place in _places(lowered, needle) if joined.match(text, place))
    start = end = -1
    for place in places:
        if place - _BEFORE > end:
            if end >= 0:
                yield start, end
            start = max(0, place - _BEFORE)
        end = place + _AFTER
    if end >= 0:
        yield start, end


def _places(text: str, needle: str) -> Iterator[int]:
    place = text.find(needle)
    while place >= 0:
        yield place
        place = text.find(needle, place + 1)


def _is_secret(match: re.Match[str]) -> bool:
    name, value = match[1].lower(), match[2]
    if is_placeholder(value) or _is_code(match, value):
        return False
    is_assigned = match.string[match.end(1) : match.start(2)].strip() == "="  # and nothing else between
    if is_assigned and is_scrambled(value):
        return True
    if _is_literal(match) and any(chosen in name for chosen in _CHOSEN_BY_PEOPLE) and not says_what_it_is(value):
        return True
    return _is_chosen(name, value)


def _is_chosen(name: str, value: str) -> bool:
    """The look that a value must have behind such a name."""
    if any(chosen in name.lower() for chosen in _CHOSEN_BY_PEOPLE):
        return is_mixed(value)
    return looks_random(value)


def _is_option(match: re.Match[str]) -> bool:
    """A command's argument is the value itself; only code has dots between names."""
    return not match[2].startswith(_PATH_BEGINNINGS) and (
        _is_secret(match) or (_DOTTED_NAME.fullmatch(match[2]) is not None and _is_chosen(match[1], match[2]))
    )


def _is_literal(match: re.Match[str]) -> bool:
    """Right behind the bare name, and in quotes or, as in a shell or a connection string, joined to it by ``=``."""
    before, after = match.string[match.end(1) : match.start(2)], match.string[match.end(2) : match.end(2) + 1]
    if before[-1:] in ("'", '"'):
        return after in (before[-1], "\\") and before[:1] in (*"'\":= ", "\\")
    return before == "=" and after not in (")", ",", "]", "}")


def _is_code(match: re.Match[str], value: str) -> bool:
    """A call, an attribute, a path or an address: where the value comes from, not what it is."""
    after = match.string[match.end(2) : match.end(2) + 1]
    if after in ("(", "[") or value.startswith(_PATH_BEGINNINGS):
        return True
    # A file may be named after a key: ``api_key=<key>.txt``.
    return _DOTTED_NAME.fullmatch(value) is not None and not is_strewn_with_digits(value.partition(".")[0])


_NAMED_RULE = SecretRule(
    "secret",
    _NEEDLES,
    r"(?i)(" + _NAMES + r")[\w-]{0,20}\\?[\"']?\s{0,4}[:=]{1,2}>?\s{0,4}\\?[\"'`]?" + _NAMED_VALUE,
    accept=_is_secret,
)
_OPTION_RULE = SecretRule(
    "secret",
    ("--",),
    # What precedes it is checked last, so that the search can leap from one hyphen to the next.
    r"--(?<![\w-]--)(?i:(?:[a-z]{1,16}-){0,3}(" + _NAMES + r"))\s{1,4}[\"']?" + _NAMED_VALUE,
    accept=_is_option,
)
