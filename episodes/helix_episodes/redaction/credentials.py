"""Credentials by where they stand: in connections, and in what is typed.

Connections are addresses, headers, cookies, connection strings, and keys as octets and hashes. What is typed are
options and arguments of commands, what is piped into them, logins and calls.
"""

from __future__ import annotations

import base64
import re

from helix_episodes.redaction.rule_matching import rules_of
from helix_episodes.redaction.value_looks import (
    has_digit_or_both_cases,
    is_by_chance,
    is_like_password,
    is_made_of_words,
    is_mixed,
    is_pair_of_words,
    is_phrase,
    is_placeholder,
    is_scrambled,
    is_strong,
    looks_random,
    says_what_it_is,
)

_SHORTEST_COOKIE = 6
_ADDRESS_WITH_USER, _LONGEST_USER = re.compile(rb"[a-z][\w+.-]{1,30}://[^\s:/@]{0,64}:"), 120
#: What examples have in a password's place.
_EXAMPLES = ("password", "pass", "passwd", "pwd", "secret", "user", "username", "<password>", "token")
#: How far around a ``Password=`` the other pairs of a connection string are looked for.
_STRING_SPAN = 300
_PAIRS = re.compile(
    r"(?:server|data source|host|driver|uid|user ?(?:id|name)?|initial catalog|database|dbq|dsn|port)"
    r"\s{0,2}=\s{0,2}[^\s;=]",
    re.IGNORECASE,
)
_COOKIE = r"[\w!#$%&*+.^|~-]{1,80}=[^\s;,\"'\\\[\]<>]{1,4096}"
_NAME_IN_CODE = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+")
_COOKIES = _COOKIE + r"(?:;\s{0,2}" + _COOKIE + r"){0,60}"
_ADDRESS = re.compile(r"[\d.]+(?:[:/]|$)|\d+-\d+|[/~.]|\w+\.\w+$")
_LINK = re.compile(r"[()\[\]{}]|://|@[\w-]+\.\w|\.\w{1,5}$|=|->")
_HEX_KEY = re.compile(r"[0-9a-fA-F-]{32,128}")
_PORTS = re.compile(r"\d{1,5}(?:[:/].{0,40})?")
#: A value as a shell takes it: in quotes with whatever blanks, or up to the next blank.
_BARE = r"(?:[\"'](?=[^\"'\n]{3,200}[\"']))?((?<=[\"'])[^\"'\n]{3,200}(?=[\"'])|[^\s\"'`|;&<>\[\]]{3,200})"
#: What a value in front of a pipe, or behind ``<<<``, is handed to, where it is a secret whatever it looks like.
_TAKERS = (
    r"(?:-stdin|-with-token|\bsudo\b[^\n|]{0,40}\s-S\b|-body-file -|chpasswd|cryptsetup|\bpasswd\b|\bsecrets? (?:put|set|create|add)"  # noqa: E501
    r"|\benv (?:add|set)|versions add|--data-file=-|-passphrase-fd|-pass(?:in|out)? (?:stdin|fd:)|\bpass insert)"
)


def _is_encoded_address(match: re.Match[str]) -> bool:
    """What base64 stands for begins as an address with a user does."""
    begun = match[0].rstrip("=")[:_LONGEST_USER]
    return _ADDRESS_WITH_USER.match(base64.b64decode(begun[: len(begun) // 4 * 4])) is not None


def _is_real_value(match: re.Match[str]) -> bool:
    """Neither a stand-in nor a word that examples have in its place."""
    return not is_placeholder(match[1]) and match[1].lower() not in _EXAMPLES


def _is_in_connection_string(match: re.Match[str]) -> bool:
    """Set off by ``;``, and next to pairs that name a server or a user: ``a = 1; password=b`` is code."""
    start, end, text = *match.span(), match.string
    if is_placeholder(match[1]) or ";" not in text[max(0, start - 3) : start] + text[end : end + 1]:
        return False
    return _PAIRS.search(text[max(0, start - _STRING_SPAN) : end + _STRING_SPAN]) is not None


def _has_drawn_token(match: re.Match[str]) -> bool:
    """Whether a scheme or a command is followed by a token that is not made of words."""
    return _is_token(match) and not is_made_of_words(match[1])


def _has_random_value(match: re.Match[str]) -> bool:
    """Whether the value is long and of letters and digits."""
    return not is_placeholder(match[1]) and (looks_random(match[1]) or is_by_chance(match[1]))


def _is_drawn_value(match: re.Match[str]) -> bool:
    return not is_placeholder(match[1]) and (is_by_chance(match[1]) or is_like_password(match[1]))


def _is_mixed_value(match: re.Match[str]) -> bool:
    return not is_placeholder(match[1]) and (is_mixed(match[1]) or is_scrambled(match[1]))


def _is_made_value(match: re.Match[str]) -> bool:
    """As a person makes one up, and no name in code: ``process.env.KEY2``."""
    return _is_mixed_value(match) and not _NAME_IN_CODE.fullmatch(match[1])


def _is_token(match: re.Match[str]) -> bool:
    """``Bearer`` is followed by a token, not the next word of a sentence or a variable."""
    value = match[1].rstrip("=")
    return not is_placeholder(value) and (any(map(str.isdigit, value)) or is_scrambled(value))


def _has_cookie(match: re.Match[str]) -> bool:
    """A session's value among the pairs, not ``theme=dark``."""
    values = (pair.partition("=")[2] for pair in match[1].split(";"))
    return any(is_mixed(value) and len(value) >= _SHORTEST_COOKIE and not is_placeholder(value) for value in values)


def _is_identifying(match: re.Match[str]) -> bool:
    """In quotes whatever it is; else it must not be the next word of a sentence."""
    return _is_real_value(match) and (match.string[match.start(1) - 1] in "\"'" or is_mixed(match[1]))


def _is_command_password(match: re.Match[str]) -> bool:
    """Neither a stand-in nor what the same option means elsewhere: a port, or a pair of them."""
    value = match[1]
    if " " in value and not (is_phrase(value) or is_pair_of_words(value)):
        return False
    return not is_placeholder(value) and not _PORTS.fullmatch(value) and not says_what_it_is(value)


def _is_given_password(match: re.Match[str]) -> bool:
    """As a command's, but several words must look like a phrase of chance or hold a digit or sign."""
    value = match[1]
    return _is_command_password(match) and (
        is_mixed(value) or is_scrambled(value) or " " in value or (value.count("-") > 1 and is_phrase(value))
    )


def _is_command_password_of_user(match: re.Match[str]) -> bool:
    """No port, address or mapping of either, no path: ``docker run -u kim -p 127.0.0.1:80:80``."""
    return (
        _is_command_password(match) and not _ADDRESS.match(match[1]) and (is_mixed(match[1]) or is_scrambled(match[1]))
    )


def _is_strong_password(match: re.Match[str]) -> bool:
    value = match[1].rstrip(".;)")
    return (
        not is_placeholder(value)
        and is_strong(value)
        and not is_made_of_words(value, longest=6)
        and not _LINK.search(value)
    )


def _is_drawn_password(match: re.Match[str]) -> bool:
    value = match[1].rstrip(".)!")
    return not is_placeholder(value) and (is_like_password(value) or is_scrambled(value)) and not _LINK.search(value)


def _is_key_of_option(match: re.Match[str]) -> bool:
    """A hash or a UUID, or what chance makes: ``docker run -t shop:1.2`` has neither."""
    return _HEX_KEY.fullmatch(match[1]) is not None or is_by_chance(match[1])


def _is_netrc_password(match: re.Match[str]) -> bool:
    """Without the ``machine`` before it, "login and password are" is a sentence."""
    return not is_placeholder(match[2]) and (match[1] is not None or is_mixed(match[2]))


def _is_second_real(match: re.Match[str]) -> bool:
    return not is_placeholder(match[2])


_RULES = r"""
webhook: hooks.slack.com ¦ discord.com ¦ discordapp.com ¦ .office.com/ ¦ .zapier.com/ ¦ .feishu.cn/
    ¦ .larksuite.com/ ¦ .ifttt.com/ ¦ .com/hooks/ ¦ .chat/hooks/ ¦ .sumologic.com/
    (?:hooks\.slack\.com[/_](?:services|workflows|triggers)[/_]|discord(?:app)?\.com[/_]api[/_]webhooks[/_]|
    \.office\.com/webhook(?:b2)?/|hooks\.zapier\.com/hooks/catch/|/open-apis/bot/v2/hook/|/with/key/|\.(?:com|chat)
    /hooks/|\.sumologic\.com/receiver/v1/http/)([A-Za-z0-9/_@+=-]{20,255})
authorization _is_token folded: bearer ¦ authorization
    (?i)(?:authorization[\"'\])]{0,3}\s{0,4}[:=]\s{0,4}[bfru]{0,2}\\{0,15}[\"'`]?(?:basic|token|bearer|apikey)|
    \bbearer)\s{1,4}([A-Za-z0-9._~+/=-]{12,4096})
# Without a scheme, or with one of a service's own.
authorization _has_drawn_token folded: authorization
    (?i)authorization[\"']?(?:\s{0,4}[:=,]\s{0,4}|\s{1,4})\\{0,15}[\"']?(?:[a-z][\w-]{1,24}\s{1,2}
    (?:token=\\{0,15}[\"']?)?)?([A-Za-z0-9._~+/=-]{16,4096})
signature: signature= ¦ Signature=
    (?i)(?<![a-z])signature=([0-9a-f]{64,1100}|[A-Za-z0-9~_-]{80,800})
# A private key as a JSON Web Key.
private-key drawn: ":…\s?\\{0,15}\"[A-Za-z0-9_-]{40}
    (?<![\w])[dkpq]\\{0,15}[\"']\s{0,2}:\s{0,2}\\{0,15}[\"']([A-Za-z0-9_-]{40,1400})
# As octets in code and in a registry: aes_key[32] = { 0x02, … }, "ApiSecret"=hex:be,3a,…
secret: 0x…[0-9a-fA-F]{2}, ¦ hex: ¦ \x…[0-9a-fA-F]{2}\\x
    (?i)(?:key|secret|passw|pwd|token|seed|priv)[\w\"']{0,30}(?:\[[\w ]{0,24}\]){0,2}\s{0,4}
    (?:[:=]\s{0,4}[^\n={};\"']{0,40})?[=:]\s{0,4}(?:[\w<>\[\] ]{0,24}[({\[]\s{0,40}|hex:|b?[\"'])((?:(?:0x|
    \\x)?[0-9a-f]{2}[,\s\\]{0,20}){8,256})
private-key: […\s?\d{1,3},\s?\d{1,3},
    (\[\s*(?:\d{1,3}\s*,\s*){63}\d{1,3}\s*\])
# Its bytes as a list of numbers.
private-key: […\s?\d{1,3},\s?\d{1,3},
    (?i)(?:secret|private|key|seed|wallet|id\.json)[^\n\[]{0,40}(?:\[[^\]\n]{0,20}\])?[^\n\[]{0,40}(\[\s*
    (?:\d{1,3}\s*,\s*){15,127}\d{1,3}\s*\])
# What /etc/shadow, htpasswd and web frameworks store in a password's place.
password-hash: $…[./A-Za-z0-9,=+-]{1,60}\${1,2}[./A-Za-z0-9+=,-]{16} ¦ grub.pbkdf2.
    \${1,2}(?:2[abxy]|[1567y]|apr1|argon2(?:id|i|d)|scrypt|bcrypt-sha256|pbkdf2(?:-sha\d{1,3})?)
    \${1,2}[./A-Za-z0-9$=,+-]{20,250}|\bpbkdf2_sha\d{1,3}\$\d{1,8}\$[./A-Za-z0-9]{4,60}\$[A-Za-z0-9+/=]{20,120}|
    \$[89]\$[./A-Za-z0-9$-]{20,120}|\$1[abc]\$[./A-Za-z0-9]{20,120}\$|
    grub\.pbkdf2\.sha\d{3}\.\d{1,7}\.[0-9A-F]{32,256}\.[0-9A-F]{32,256}
password-hash: {SHA ¦ {SSHA ¦ {SMD5 ¦ {CRYPT ¦ {ssha ¦ {PBKDF2
    (?i)\{(?:s?sha(?:256|384|512)?|smd5|crypt|pbkdf2[\w-]{0,10})\}([A-Za-z0-9+/=$.]{16,200})
password-hash: :…[0-9a-fA-F]{32}:[0-9a-fA-F]{32}:
    :([0-9a-fA-F]{32}:[0-9a-fA-F]{32}):
secret folded: mnemonic ¦ phrase ¦ seedphrase ¦ seed
    (?i)(?:mnemonic|(?:seed|recovery|backup|secret)[ _-]?phrase|wallet[ _-]?seed)\W{1,8}(?:is\W{1,4})?(
    (?:[a-z]{3,8} ){11,23}[a-z]{3,8})
# A password may hold an @ itself; the last one before the host ends it. A file named after an address has _ for /, and
# what makes a path of one leaves a single /.
password _is_real_value: ://{USER} ¦ :__ ¦ :/{NO_SLASH}
    (?::/{2,3}|:__|(?<=[a-z]):/)[^\s/:@\"'`<>\[\]]{0,100}:([^\s/\"'`<>\[\]?#,]{1,200})@(?=[A-Za-z0-9\[])
# With signs that should be encoded; a port in front of them is none of a password.
password _is_real_value: ://{USER}
    ://[^\s/:@\"'`<>\[\]]{0,100}:(?!\d{1,5}[/?#])([^\s@\"'`<>\[\]]{1,1200})@(?=[A-Za-z0-9][A-Za-z0-9.-]{0,100}(?::\d
    |[/?\s\"'`]|$))
# Go's form, and the lines of .pgpass.
password _is_real_value: @tcp( ¦ @unix(
    [\w.-]{1,64}:([^\s\"'`]{3,200}?)@(?:tcp|unix)\(
password _is_real_value: :…\d{4,5}:[\w.*-]{1,64}:[\w.*-]{1,64}:[^\s:/]
    (?<![\w./-])(?<![A-Za-z]:)[A-Za-z*][\w.*-]{0,80}:\d{4,5}:[\w.*-]{1,64}:[\w.*-]{1,64}:([^\s\"'`:/<]{4,200})
    (?=[\s\"'`\\<]|$)
# Oracle's own form: jdbc:oracle:thin:user/password@host
password _is_real_value: jdbc:oracle:
    jdbc:oracle:\w{1,10}:[^\s/@\"'`<>\[\]]{1,100}/([^\s/@\"'`<>\[\]]{1,200})@
password _is_in_connection_string folded: pwd= ¦ pwd = ¦ password= ¦ password =
    (?i)(?<![\w.-])(?:pwd|password)\s?=\s?(\{[^}\s]{1,200}\}|[^;\"'`\s<>\[\]{}()]{1,200})(?=[;\"'`\s]|$)
cookie _has_cookie: curl
    \bcurl\b[^\n|;&]{0,200}?\s(?:-b|--cookie)[\s=]\s{0,3}\\{0,15}[\"']?({COOKIES})
secret folded: secret ¦ secretid ¦ secret_id
    (?i)\bsecret[ _]?id[\"']?\s{0,8}[:=|]{1,2}\s{0,4}[\"']?([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})
cookie: SAPISID ¦ HSID ¦ SSID ¦ logged_in ¦ connect.sid ¦ laravel_session ¦ remember_ ¦ SIDCC ¦ PHPSESSID
    ¦ JSESSIONID ¦ ASPXAUTH ¦ SessionId
    (?:\b(?:__Secure-\w{1,10})?(?:PHPSESSID|JSESSIONID|\.?ASPXAUTH|ASP\.NET_SessionId|SAPISID|HSID|SSID|APISID|SIDCC
    |PSID|sid)|\w{0,40}_logged_in_?\w{0,40}|remember_\w{1,60})=([^\s;,\"']{16,600})
# What lets a session in, as a header of its own.
token _has_drawn_token folded: x-…(?:session|auth|user|access|client|app)
    (?i)\bx-(?:[a-z]{1,20}-){0,2}(?:session|auth|user|access|client|app)
    (?:-[a-z]{1,10}){0,2}[\"']?\s?[:=]\s?\\{0,15}[\"']?([A-Za-z0-9._~+/=-]{20,2048})
# A value that a person made up behind such a header, also where only a blank parts them.
token _is_made_value folded: x-…(?:api-?key|auth-|access-)
    (?i)\bx-(?:[a-z]{1,20}-){0,2}(?:api-?key|(?:auth|access)-(?:token|key))\\{0,15}[\"'`]?
    (?:[ \t]{0,4}(?:[:=|]|[-=]>|,(?=\s?[\"']))|[ \t](?:is|to|as)(?=[ \t]))?[ \t]{0,4}\\{0,15}[\"'`]?
    (?!https?:|x-)([^\s\"'`,;()<>{}\[\]\\]{6,4096})
# A wireless network and its key.
password _is_mixed_value folded: ssid ¦ wpa ¦ wpa2 ¦ wpa3 ¦ wlan ¦ wifi ¦ wi-fi ¦ hotspot
    (?i)\b(?:ssid|wpa[23]?|wlan|wi-?fi|hotspot)\b[^\n]{0,60}?[\s,;(](?:key|password|pass|pw|code|schlüssel|psk|pwd)
    \b[\s:=]{1,4}([^\s\"'`,;]{8,63})
# What devices are asked with, and what authenticates their neighbours.
password _is_drawn_value folded: community ¦ rocommunity ¦ rwcommunity ¦ key-string ¦ md5
    (?i)\b(?:(?:ro|rw|trap)?community6?[\s:=\"']{1,4}|key-string\s{1,3}|(?<=\d )(?:md5|sha1|sha256)\s{1,3}
    (?:\d\s{1,3})?)([^\s\"'`,;()]{8,64})
secret: SHA1…\s+[0-9a-fA-F]{40} ¦ MD5…\s+[0-9a-fA-F]{32} ¦ SHA256…\s+[0-9a-fA-F]{64} ¦ AES128CMAC…\s+[0-9a-f]{32}
    (?<![^\n])\s{0,4}\d{1,5}\s{1,4}(?:MD5|SHA1|SHA256|AES128CMAC|M)\s{1,4}([0-9a-fA-F]{32,64})(?![0-9a-fA-F])
# The store of a wallet, and what tools keep of a made password.
private-key: ciphertext
    \"ciphertext\"\s?:\s?\"([0-9a-f]{64,512})\"(?=[^}]{0,400}\"(?:kdf|mac)\")
password: random_password ¦ random_string ¦ random_bytes ¦ random_id
    \"random_(?:password|string|bytes|id)\"[^\n]{0,400}?\"(?:result|bcrypt_hash|hex|b64_std|base64)\":\s?\"
    ([^\"\n]{6,300})\"
# Bundler's and similar pairs for a host: BUNDLE_GEMS__ACME__COM: "user:X"
password: BUNDLE_
    \bBUNDLE_\w{1,60}__\w{1,40}[\"']?\s?[:=]\s?[\"']?(\w{1,60}:[^\s\"']{4,100})
# Keys in the addresses of nodes of chains, and shared secrets that an app is set up with.
token has_digit_or_both_cases: quiknode ¦ quicknode ¦ alchemy ¦ infura ¦ ankr ¦ drpc ¦ blastapi ¦ chainstack
    ¦ getblock ¦ moralis
    ://[\w.-]{0,80}(?:quiknode|quicknode|alchemy|infura|ankr|drpc|blastapi|chainstack|getblock|moralis)[\w.-]{0,20}/
    (?:[\w-]{1,20}/){0,3}([A-Za-z0-9_-]{20,64})
secret: otpauth-migration://
    otpauth-migration://offline\?data=([A-Za-z0-9+/%=_-]{20,2000})
password: ss:// ¦ ssr:// ¦ vmess:// ¦ trojan:// ¦ hysteria2:// ¦ tuic://
    \b(?:ssr?|vmess|trojan|hysteria2|tuic)://([A-Za-z0-9+/=_-]{12,2000})
licence-key folded: license ¦ licence ¦ product key ¦ /ipk ¦ serial ¦ activation
    (?i)(?:/ipk|(?:licen[cs]e|product|serial|activation|unlock)[ _-]?(?:key|code|number|no)?)[\"']?[\s:=#]{1,4}
    (?:is\s)?[\"']?((?=[A-Z-]*\d)[A-Z0-9]{4,8}(?:-[A-Z0-9]{4,8}){2,7})(?![A-Z0-9-])
private-key folded: 0x…[0-9a-f]{64}
    (?i)0x([0-9a-f]{64})(?=[^\n]{0,60}private[ _-]?key)
private-key folded: accounts ¦ private ¦ deployer ¦ signer ¦ wallet ¦ pk
    (?i)\b(?:accounts|private|deployer|signer|wallet|pk)\b[^\n\w]{0,8}[\"'](0x[0-9a-f]{64})[\"']
# A token in the user's place, with nothing or a word in the password's; an address in quotes without its host.
token _has_random_value: ://{USER}
    ://([A-Za-z0-9_-]{20,255}):(?:x-oauth-basic|x-token-auth|x|api_token|)@
password _is_real_value: ://{USER}
    ://[^\s/:@\"'`<>\[\]]{1,100}:([^\s/\"'`<>\[\]?#@{}$]{6,200})@(?=[{$\"'])
password _is_real_value: @…[\w.-]{1,80}:\d{2,5}/
    (?<![\w/.:@-])[A-Za-z]\w{0,30}/([^\s/@\"'`<>\[\]:]{5,100})@[\w.-]{1,80}:\d{2,5}/\w
password _is_real_value: sip: ¦ sips:
    \bsips?:[\w.+-]{1,60}:([^\s/@\"'`<>]{4,100})@
# Keys of programs and of disks, in groups as they are typed.
licence-key: -…[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5}- ¦ -…\d{6}-\d{6}-\d{6}-
    (?<![A-Za-z0-9-])(?:(?=[A-Z-]*\d[A-Z-]*\d)(?:[A-Z0-9]{5}-){4}[A-Z0-9]{5}|(?:\d{6}-){7}\d{6})(?![A-Za-z0-9-])
# Addresses that are keys: https://mainnet.infura.io/v3/…, …/hooks/…, …/inputs/…
token _has_random_value: ://{PATH}
    ://(?:hooks?\.[^\s\"'<>/]{1,80}/[^\s\"'<>]{0,60}?|[^\s\"'<>]{1,120}?/)(?:in|v\d|hooks?|webhooks?|inputs|services
    |triggers|bot|rpc|apikey|token)/([0-9a-f]{32,64}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|
    [A-Za-z0-9_-]{24,120})(?=[/\s\"'`<>)?]|$)
# Sentry's address holds a key where others hold a user.
password _is_real_value: ://{USER}
    ://([A-Za-z0-9]{8,64})@(?=[A-Za-z0-9.-]{0,80}sentry)
token _has_random_value: ://{USER}
    ://([\w.~%+-]{16,255})@(?=[A-Za-z0-9\[])
token _has_random_value: =…(?:(?<=(?i:sig|ure|key|ken|ode|pid|_id|ass|ret|sid|ion|ket|uth|otp|jwt|ess|ash|tkn|ite|gic)=)|(?<=[?&]t=))[^\s&\"'`<>#\\\[\]]{16}
    (?i)(?:[?&;]|(?<![\w.$/=-])(?=(?:sid|token|tkn|session|sig)=))(?:[\w-]{0,20}[_-])?(?:sig|signature|key|apikey|
    token|tkn|code|app_?id|pass|secret|sid|session|ticket|auth|otp|jwt|access|hash|data|t|invite|magic)=
    ([^\s&\"'`<>#\\\[\]]{16,2048})
# A link that lets in whoever has it.
token _has_random_value: ://{PATH}
    ://[^\s\"'<>]{1,200}?/(?:[\w-]{0,20}(?:reset|invit|verif|confirm|magic|activat|unsubscribe|token|unlock|recover|
    secret|private|share|join|one-time|login|signin|auth|callback|ical|feed|magic|receiver|subscri|signup|
    passwordless)[\w-]{0,20}|link|sub|subs|t|s|dl|k|v\d/http)(?:/(?:[\w-]|%40|\.){1,40}){0,2}/(?:private-)?
    ([A-Za-z0-9_.~-]{20,400})
# As browsers export them, and as code passes them.
cookie _has_random_value: httpOnly
    \"value\"\s{0,2}:\s{0,2}\"([^\"\s]{16,4096})\"(?=[^{}]{0,300}\"httpOnly\")
cookie _has_random_value: httpOnly
    \"httpOnly\"[^{}]{0,300}\"value\"\s{0,2}:\s{0,2}\"([^\"\s]{16,4096})\"
cookie _has_random_value folded: cookies
    (?i)\bcookies[\"']?\s{0,2}[:=]\s{0,2}(?:\w{1,20}\()?\{[^{}]{0,300}?[:=]\s{0,2}[\"']([\w.%+/=-]{16,4096})[\"']
# An address with its password, or the file of a registry's logins, in base64.
password _is_encoded_address drawn: Oi8v ¦ ovL ¦ 6Ly
    (?<![A-Za-z0-9+/])[A-Za-z0-9+/]{4,40}(?:Oi8v|[DTjz]ovL|6Ly[89+/])[A-Za-z0-9+/]{8,2000}={0,2}
password drawn: eyJhdXRo
    (?<![A-Za-z0-9+/])eyJhdXRo(?:cyI6|Ijoi)[A-Za-z0-9+/]{16,4096}={0,2}
authorization: Digest␣
    Digest\s[^\n]{0,400}?\bresponse=\"?([0-9a-f]{32,64})
cookie _has_cookie folded: cookie
    (?i)(?<![\w-])cookie\\{0,15}[\"']?\s{0,4}:\s{0,4}\\{0,15}[\"']?({COOKIES})
cookie _has_cookie folded: cookie
    (?i)(?<![\w-])set-cookie\\{0,15}[\"']?\s{0,4}:\s{0,4}\\{0,15}[\"']?({COOKIE})
# Commands, logins and calls.
password-hash folded: identified ¦ password_hash ¦ passwordhash ¦ hashed_password
    (?i)(?:identified\b[^\n]{0,60}?\b(?:as|values|password)|password_?hash|hashed_?password)
    [\"']?[\s:=(,]{1,4}[\"']?(?:\*|[SHT]:|0x)?([A-Fa-f0-9]{32,160}|[A-Za-z0-9+/=]{32,160})
# As it is typed, and as a list: ["curl", "-u", "kim:X"].
password _is_real_value: curl ¦ http…(?![:\w]) ¦ https…(?![:\w]) ¦ xh
    \b(?:curl|https?|xh)\b(?!:)[^\n|;&]{0,200}?[\s\"'](?:-u|-a|--user|--auth|--proxy-user|-U)
    (?:\\{0,15}[\"'])?[\s=,]{1,4}(?:\\{0,15}[\"'])?[^\s:\"'\[\]/]{1,64}:([^\s\"'\[\]]{4,200})
password _is_real_value: curl ¦ http…(?![:\w]) ¦ https…(?![:\w]) ¦ xh
    \b(?:curl|https?|xh)\b(?!:)[^\n|;&]{0,200}?\s(?:-u|-a|--user|--auth|--proxy-user|-U)
    [\s=]{0,4}[\"'][^\s:\"']{1,64}:([^\"'\n]{4,200})[\"']
# In the lines below, up to the word that ends them.
password _is_second_real: <<
    {TAKERS}[^\n|<]{0,120}<<-?\s{0,2}[\"']?(?P<end>[A-Z_]{2,20})[\"']?[^\n]{0,60}\n\s{0,8}([^\s\"'`]{3,200})(?=\n
    (?:[^\n]{0,200}\n){0,2}\s{0,8}(?P=end))
# A key in the user's place.
token _has_random_value: curl ¦ http…(?![:\w]) ¦ https…(?![:\w]) ¦ xh
    \b(?:curl|https?|xh)\b(?!:)[^\n|;&]{0,200}?[\s\"'](?:-u|-a|--user|--auth)[\s=,\"']{1,4}([A-Za-z0-9_.-]{20,200}):
    (?:api_token|x|)(?=[\s\"']|$)
# Keys of options and headers that say no more than "key".
secret _is_key_of_option: -…(?<=\s-)(?:[KkTtAXp]|-?key|-?token|-?hexkey)[ =][\"']?[A-Za-z0-9_-]{12} ¦ Key: ¦ key:
    (?:\s-{1,2}(?:[KkTtAXp]|key|token|hexkey)[ =]|-H\s{1,3}[\"'](?:[A-Za-z-]{1,30}-)?[Kk]ey: ?)[\"']?
    ([0-9a-fA-F]{32,128}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[A-Za-z0-9_-]{12,200})(?=[\s\"'=`<]|$)
password _is_command_password: signtool ¦ sqlcmd ¦ bcp ¦ isql ¦ zip ¦ unzip ¦ mosquitto_pub ¦ mosquitto_sub
    ¦ rpcclient ¦ mongo ¦ mongosh ¦ mongodump ¦ mongorestore ¦ mongoimport ¦ mongoexport ¦ 7z ¦ 7za ¦ cqlsh ¦ az
    ¦ cf ¦ rabbitmqadmin ¦ influx ¦ ldapsearch ¦ ldapmodify ¦ ldapadd ¦ ldapdelete ¦ ldapwhoami ¦ ldappasswd ¦ plink
    ¦ pscp ¦ psftp ¦ ssh-keygen ¦ smbclient ¦ net ¦ htpasswd ¦ lftp ¦ sqlplus ¦ sqlldr ¦ expdp ¦ impdp ¦ rman
    ¦ redis-cli ¦ openssl ¦ mysql ¦ mysqldump ¦ mysqladmin ¦ mysqlimport ¦ mysqlshow ¦ mariadb ¦ mariadb-dump
    ¦ mariadb-admin ¦ sshpass ¦ docker ¦ podman ¦ nerdctl ¦ buildah ¦ oras ¦ registry
    \b(?:(?:sqlcmd|bcp|isql|zip|unzip|mosquitto_(?:pub|sub)|rpcclient)\b[^\n|;&]{0,200}?[\s\"']-P|(?:mongo(?:sh|dump
    |restore|import|export)?|7za?|cqlsh|az login|cf login|rabbitmqadmin|influx)\b[^\n|;&]{0,200}?[\s\"']-p|(?:ldap
    (?:search|modify|add|delete|whoami|passwd))\b[^\n|;&]{0,200}?[\s\"']-w|(?:plink|pscp|psftp)
    \b[^\n|;&]{0,200}?[\s\"']-pw|ssh-keygen\b[^\n|;&]{0,200}?[\s\"']-N|(?:smbclient|rpcclient|net)
    \b[^\n|;&]{0,200}?[\s\"']-U\s{0,2}[\"']?[^\s%\"']{1,60}%|lftp\b[^\n|;&]{0,200}?[\s\"']-u\s{1,4}[\w.@-]{1,60},|
    (?:sqlplus|sqlldr|expdp|impdp|rman)\b[^\n|;&/]{0,200}?\s[\"']?[\w.-]{1,60}/(?=\S{1,80}@)|
    redis-cli\b[^\n|;&]{0,200}?[\s\"'](?:-a|--pass)|(?:mysql|mariadb)[a-z-]{0,20}[\s\"',]+
    (?:[^\n|;&]{0,200}?[\s\"'])?-p|signtool\b[^\n|;&]{0,200}?\s/p|sshpass\s{1,4}-p|(?:docker|podman|nerdctl|buildah|
    oras|registry) login [^\n|;&]{0,200}?\s(?:-p|--password)[ =]|openssl enc\b[^\n|;&]{0,200}?[\s\"']-k|
    htpasswd\s{1,4}(?:-[a-zA-Z]{1,4}\s{1,4}){0,4}?-[a-zA-Z]{0,4}b[a-zA-Z]{0,4}(?:\s{1,4}-[a-zA-Z]{1,4}){0,4}\s{1,4}
    [^\s-]\S{0,200}\s{1,4}\S{1,80})[\s\"',=]{0,6}{BARE}
# Options that mean a password and nothing else, and commands whose last word is one.
password _is_command_password: keytool ¦ jarsigner ¦ apksigner ¦ rabbitmqctl ¦ nmcli ¦ wpa_passphrase ¦ ipmitool
    ¦ gpg ¦ gpg2 ¦ secretsmanager ¦ keyvault ¦ SecureString ¦ add-generic-password ¦ add-internet-password
    ¦ gh…\ssecret set ¦ aws…\sconfigure set
    (?:\b(?:keytool|jarsigner|apksigner)\b[^\n|;&]{0,300}?\s-{1,2}(?:(?:src|dest)?(?:store|key)pass|ks-pass|key-pass|
    new)(?:\s|=)(?:pass:)?|\brabbitmqctl\b[^\n|;&]{0,80}?\s(?:add_user|change_password)\s{1,4}\S{1,80}\s|
    \bnmcli\b[^\n|;&]{0,200}?\spassword\s|\bwpa_passphrase\s{1,4}(?:[^\s\"']\S{0,80}|\"[^\"\n]{1,80}\"|'[^'\n]{1,80}')\s|
    \bipmitool\b[^\n|;&]{0,200}?\s-P\s|\bgpg2?\b[^\n|;&]{0,200}?\s--passphrase(?:\s|=)|
    \bsecretsmanager\b[^\n|;&]{0,200}?\s--secret-string(?:\s|=)|\bkeyvault\b[^\n|;&]{0,200}?\s--value(?:\s|=)|
    (?i:--type\sSecureString\b[^\n|;&]{0,200}?\s--value(?:\s|=)|--value(?:\s|=)(?=[^\n|;&]{3,200}\s--type\sSecureString))|
    \badd-(?:generic|internet)-password\b[^\n|;&]{0,200}?\s-w\s|\bgh\ssecret\sset\b[^\n|;&]{0,120}?\s(?:-b|--body)(?:\s|=)|
    \baws\sconfigure\sset\s{1,4}(?:aws_secret_access_key|aws_session_token)\s)\s{0,4}(?!-){BARE}
password _is_command_password: echo ¦ printf
    \b(?:echo(?: -[ne]{1,2})?|printf(?: [\"']?%s(?:\\n|\n)?[\"']?)?)\s{1,4}{BARE}[\"']?\s{0,4}\|
    \s{0,4}[^\n|]{0,160}?{TAKERS}
password _is_command_password: <<<
    {TAKERS}[^\n|<]{0,120}<<<\s{0,3}{BARE}
# The same with a name that says so, where the value must look like one.
password _is_given_password: echo ¦ printf
    (?i)\b(?:echo(?: -[ne]{1,2})?|printf(?: [\"']?%s(?:\\n|\n)?[\"']?)?)\s{1,4}{BARE}[\"']?\s{0,4}\|[^\n|]{0,160}?
    (?:secret|token|passw|passphrase|\blogin\b|\bauth\b|api_?key)
password _is_given_password folded: net user␣ ¦ net use␣ ¦ net1 user␣ ¦ http-basic. ¦ createuser␣ ¦ securestring
    ¦ password for ¦ ;p: ¦ add-mask: ¦ task.setvariable ¦ -passwd␣ ¦ useradd ¦ usermod ¦ ␣secret …\d ¦ ␣password …\d
    ¦ ␣key …\d ¦ ␣md5 …\d
    (?i)(?:\"\s+(?:AES|DES)[\w-]{0,8}|\b(?:net1?\s+user\s+[^\s/]{1,60}|net\s+use\s+\S{1,60}(?:\s+\\\\\S{1,120})?|
    http-basic\.\S{1,80}\s+\S{1,60}|(?:secret|password|key|md5)\s+[0-9]|createUser\s+\S+\s+(?:SHA|MD5)[\w-]{0,8}|
    ConvertTo-SecureString(?:\s+-String)?|set\s+password\s+for\s+\S{1,100}\s*=(?:\s*password\()?|\bP(?=:)(?<=;P)|
    add-mask:|task\.setvariable variable=(?:\w*(?:pass|pwd|secret|token|key)[^\]\n]{0,80}|
    [^\]\n]{1,80}issecret=true[^\]\n]{0,20})|-passwd\s+\S{1,80}|user(?:add|mod)\b[^\n|;&]{0,120}?\s-p|(?:ENCRYPTED|
    USER\s+\w+)\s+PASSWORD))(?:\s+|:|\])\s*{BARE}
password _is_command_password_of_user: -…(?<=\s-)(?:u|U|l|-user|-login)
    -(?<=\s-)(?:u|U|l|-user(?:name)?|-login|user)(?:[ =]\s{0,3})?[\"']?[\w.@\\-]{1,80}[\"']?\s(?:[^\n|;&]{0,80}?\s)?
    (?:-p|-P|-w|--pass|-pass|-pw)[ =]?\s{0,3}{BARE}
password _is_strong_password folded: login ¦ log in ¦ creds ¦ credential ¦ credentials ¦ sign in
    (?i)\b(?:log ?in|credentials?|creds|account|user(?:name)?|sign in(?: (?:as|with))?)
    \b[^\n:=/]{0,20}?[ \t:=][ \t]{0,3}[\w.@+-]{2,60} ?(?:[/|:,]| (?:with|and) ) ?([^\s\"'`<>,]{8,80})
# A mailbox and its password, a login by ssh and what is said to let in: eva@acme.io:X, root@10.0.0.4 with X
password _is_drawn_password: @…[\w-]+(?:\.[\w-]+){1,4}(?:\s?[:|/]|\s(?:with|pw|pass|and)\b) ¦ admin ¦ root
    ¦ postgres ¦ guest
    (?:[\w.+-]{1,60}@[\w-]{1,60}(?:\.[\w-]{1,60}){1,4}(?:\s?[:|/]\s?|\s(?:with|pw|pass|and)[\s:]{1,3})|\b(?:admin|
    root|postgres|guest)[:/])([^\s\"'`<>,;/]{8,80})(?=[\s\"'`,;<|]|$)
password _is_command_password: expect ¦ pexpect ¦ sendline ¦ exp_send ¦ spawn
    (?i)(?:assw(?:or)?d|passphrase|\bpin|token|passcode)[^\n\"']{0,20}[\"'][^\w\"']{1,12}(?:\w{1,20}\.)?(?:exp_)?
    (?:send|write|put|answer)\w{0,10}[\s(]{1,3}(?:--\s)?[\"']([^\"'\n\\]{4,200})
# The login of a tool, and clients that take a key as an argument.
token _has_drawn_token: ␣auth ¦ ␣login ¦ ␣authenticate ¦ ␣activate ¦ ␣register ¦ ␣connect
    \b[\w-]{2,20} (?:auth|login|authenticate|activate|register|connect)(?: login)?\s{1,3}
    (?:--?[\w-]{1,20}[ =])?[\"']?([A-Za-z0-9._+/=-]{20,300})
# Calls that sign, encrypt or connect with the key that they are passed, behind the data or a name.
secret _is_given_password folded: fernet( ¦ hmac ¦ jwt ¦ jsonwebtoken ¦ createhmac ¦ createcipheriv ¦ secretkeyspec
    ¦ aes ¦ wifi
    (?i)\b(?:fernet|hmac(?:\.new)?|(?:jwt|jsonwebtoken)\.(?:en|de)?(?:code|sign|verify)|createhmac|createcipheriv|
    secretkeyspec|aes\.new|wifi\.begin)\(\s{0,4}(?:[^()\n\"']{1,60},\s{0,4}|
    [\"'][^\"'\n]{1,40}[\"'],\s{0,4})?b?[\"']([^\s\"'\[\]]{8,200})[\"']
# A key in hexadecimal digits that code decodes: bytes.fromhex("…"), Buffer.from("…", "hex"), hex!("…")
secret folded: fromhex ¦ unhexlify ¦ buffer ¦ decodestring ¦ hex!( ¦ hextobytes ¦ hex2bin ¦ fromhexstring
    (?i)(?:key|secret|seed|cipher|hmac|\bpsk|aes|token)[^\n]{0,120}?\b(?:fromhex(?:string)?|unhexlify|buffer\.from|
    decodestring|hex!|hextobytes|hex2bin)\s?\(\s{0,4}b?\\{0,15}[\"']([0-9a-f]{32,128})(?=\\{0,15}[\"'])
# Lists of users with their passwords.
password _is_command_password: chpasswd
    chpasswd\b[^\n]{0,40}?(?:\s{1,20}|list:|users:|expire:\s\w{4,5}|[|>{\"'-]){1,12}\w{1,32}:([^\s\"'}]{6,200})
password _is_command_password: pass:
    -pass(?:in|out)?[\s\"',]{1,6}pass:((?<=[\"']pass:)[^\"'\n]{3,200}|[^\s\"'`\[\]]{3,200})
password _is_identifying folded: identified
    (?i)\bidentified(?:\s{1,4}with\s{1,4}\S{1,40})?\s{1,4}(?:by|as)\s{1,4}(?:(?:password|values)\s{1,4})?
    (?:\\{0,15}[\"'])?((?<=[\"'])[^\"'\n\[\]]{3,200}|(?<![\"'])[^\s\"';,\[\]]{6,200})
# SetBasicAuth("kim", "X"), auth=("kim", "X"), new NetworkCredential("kim", "X"), smtp.login(user, "X")
password _is_given_password: (…(?:(?<=uth\(|gin\(|ial\(|als\(|th=\()|(?<=nection\())\s{0,4}\\{0,15}[\w\"'.@\\-]{1,60}\s?,
    (?i)(?:auth|login|credentials?|connection)\s?[=:]?\s?\(\s{0,4}(?:[\w.]{1,60}|\\{0,15}[\"'][^\"'\n]{1,80}[\"'])
    \s?,\s{0,4}(?:\\{0,15}[\"'][^\"'\n]{1,80}[\"']\s?,\s?)?(?:b|\w{1,20}\()?\\{0,15}[\"']([^\s\"'\[\]]{6,200})
    \\{0,15}[\"']\s?\)
password _is_netrc_password: login
    \b(machine\s{1,4}\S{1,200}\s{1,20}|default\s{1,4})?\blogin\s{1,4}\S{1,100}\s{1,20}password\s{1,4}
    ([^\s\"'`<>\[\]]{3,200})
"""  # noqa: E501  (a needle stands on one line)

_CHECKS = (
    _has_cookie, _has_drawn_token, _has_random_value, _is_command_password, _is_command_password_of_user,
    _is_drawn_password, _is_drawn_value, _is_encoded_address, _is_given_password, _is_identifying,
    _is_in_connection_string, _is_key_of_option, _is_made_value, _is_mixed_value, _is_netrc_password,
    _is_real_value, _is_second_real, _is_strong_password, _is_token, has_digit_or_both_cases,
)  # fmt: skip
#: What an address goes on with that has a user before its host, or a part of its path as long as a key.
_NO_SLASH = r"…(?!/)[^\s@\"'`<>\[\]]{1,1302}+@"
_USER, _PATH = r"…[^\s@\"'`<>\[\]]{1,1302}+@", r"…[^\s\"'<>]{1,350}?/[A-Za-z0-9_.~-]{20}"
_PARTS = {
    "COOKIES": _COOKIES, "COOKIE": _COOKIE, "BARE": _BARE, "TAKERS": _TAKERS, "USER": _USER,
    "NO_SLASH": _NO_SLASH, "PATH": _PATH,
}  # fmt: skip
CREDENTIAL_RULES = rules_of(_RULES, checks=_CHECKS, parts=_PARTS)
