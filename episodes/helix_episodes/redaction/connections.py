"""Credentials in connections: addresses, headers, cookies, connection strings, and keys as octets and hashes."""

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
    is_placeholder,
    is_scrambled,
    looks_random,
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


def _is_encoded_address(match: re.Match[str]) -> bool:
    """What base64 stands for begins as an address with a user does."""
    begun = match[0].rstrip("=")[:_LONGEST_USER]
    return _ADDRESS_WITH_USER.match(base64.b64decode(begun[: len(begun) // 4 * 4])) is not None


def is_real_value(match: re.Match[str]) -> bool:
    """Neither a stand-in nor a word that examples have in its place."""
    return not is_placeholder(match[1]) and match[1].lower() not in _EXAMPLES


def _is_in_connection_string(match: re.Match[str]) -> bool:
    """Set off by ``;``, and next to pairs that name a server or a user: ``a = 1; password=b`` is code."""
    start, end, text = *match.span(), match.string
    if is_placeholder(match[1]) or ";" not in text[max(0, start - 3) : start] + text[end : end + 1]:
        return False
    return _PAIRS.search(text[max(0, start - _STRING_SPAN) : end + _STRING_SPAN]) is not None


def has_drawn_token(match: re.Match[str]) -> bool:
    """Whether a scheme or a command is followed by a token that is not made of words."""
    return _is_token(match) and not is_made_of_words(match[1])


def has_random_value(match: re.Match[str]) -> bool:
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
authorization has_drawn_token folded: authorization
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
# A password may hold an @ itself; the last one before the host ends it. A file named after an address has _ for /.
password is_real_value: :// ¦ :__
    :(?://|__)[^\s/:@\"'`<>\[\]]{0,100}:([^\s/\"'`<>\[\]?#,]{1,200})@(?=[A-Za-z0-9\[])
# With signs that should be encoded; a port in front of them is none of a password.
password is_real_value: ://
    ://[^\s/:@\"'`<>\[\]]{0,100}:(?!\d{1,5}[/?#])([^\s@\"'`<>\[\]]{1,1200})@(?=[A-Za-z0-9][A-Za-z0-9.-]{0,100}(?::\d
    |[/?\s\"'`]|$))
# Go's form, and the lines of .pgpass.
password is_real_value: @tcp( ¦ @unix(
    [\w.-]{1,64}:([^\s\"'`]{3,200}?)@(?:tcp|unix)\(
password is_real_value: :…\d{4,5}:[\w.*-]{1,64}:[\w.*-]{1,64}:[^\s:/]
    (?<![\w./-])(?<![A-Za-z]:)[A-Za-z*][\w.*-]{0,80}:\d{4,5}:[\w.*-]{1,64}:[\w.*-]{1,64}:([^\s\"'`:/<]{4,200})
    (?=[\s\"'`\\<]|$)
# Oracle's own form: jdbc:oracle:thin:user/password@host
password is_real_value: jdbc:oracle:
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
token has_drawn_token folded: x-…(?:session|auth|user|access|client|app)
    (?i)\bx-(?:[a-z]{1,20}-){0,2}(?:session|auth|user|access|client|app)
    (?:-[a-z]{1,10}){0,2}[\"']?\s?[:=]\s?\\{0,15}[\"']?([A-Za-z0-9._~+/=-]{20,2048})
# A value that a person made up behind such a header, also where only a blank parts them.
token _is_made_value folded: x-…(?:api-?key|auth-|access-)
    (?i)\bx-(?:[a-z]{1,20}-){0,2}(?:api-?key|(?:auth|access)-(?:token|key))\\{0,15}[\"'`]?
    (?:[ \t]{0,4}(?:[:=|]|[-=]>|,(?=\s?[\"']))|[ \t](?:is|to|as)(?=[ \t]))?[ \t]{0,4}\\{0,15}[\"'`]?
    (?!https?:|x-)([^\s\"'`,;()<>{}\[\]\\]{6,200})
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
token has_random_value: ://
    ://([A-Za-z0-9_-]{20,255}):(?:x-oauth-basic|x-token-auth|x|api_token|)@
password is_real_value: ://
    ://[^\s/:@\"'`<>\[\]]{1,100}:([^\s/\"'`<>\[\]?#@{}$]{6,200})@(?=[{$\"'])
password is_real_value: @…[\w.-]{1,80}:\d{2,5}/
    (?<![\w/.:@-])[A-Za-z]\w{0,30}/([^\s/@\"'`<>\[\]:]{5,100})@[\w.-]{1,80}:\d{2,5}/\w
password is_real_value: sip: ¦ sips:
    \bsips?:[\w.+-]{1,60}:([^\s/@\"'`<>]{4,100})@
# Keys of programs and of disks, in groups as they are typed.
licence-key: -…[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5}- ¦ -…\d{6}-\d{6}-\d{6}-
    (?<![A-Za-z0-9-])(?:(?=[A-Z-]*\d[A-Z-]*\d)(?:[A-Z0-9]{5}-){4}[A-Z0-9]{5}|(?:\d{6}-){7}\d{6})(?![A-Za-z0-9-])
# Addresses that are keys: https://mainnet.infura.io/v3/…, …/hooks/…, …/inputs/…
token has_random_value: ://
    ://(?:hooks?\.[^\s\"'<>/]{1,80}/[^\s\"'<>]{0,60}?|[^\s\"'<>]{1,120}?/)(?:in|v\d|hooks?|webhooks?|inputs|services
    |triggers|bot|rpc|apikey|token)/([0-9a-f]{32,64}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|
    [A-Za-z0-9_-]{24,120})(?=[/\s\"'`<>)?]|$)
# Sentry's address holds a key where others hold a user.
password is_real_value: ://
    ://([A-Za-z0-9]{8,64})@(?=[A-Za-z0-9.-]{0,80}sentry)
token has_random_value: ://
    ://([\w.~%+-]{16,255})@(?=[A-Za-z0-9\[])
token has_random_value: =…(?:(?<=(?i:sig|ure|key|ken|ode|pid|_id|ass|ret|sid|ion|ket|uth|otp|jwt|ess|ash|tkn|ite|gic)=)|(?<=[?&]t=))[^\s&\"'`<>#\\\[\]]{16}
    (?i)(?:[?&;]|(?<![\w.$/=-])(?=(?:sid|token|tkn|session|sig)=))(?:[\w-]{0,20}[_-])?(?:sig|signature|key|apikey|
    token|tkn|code|app_?id|pass|secret|sid|session|ticket|auth|otp|jwt|access|hash|data|t|invite|magic)=
    ([^\s&\"'`<>#\\\[\]]{16,2048})
# A link that lets in whoever has it.
token has_random_value: ://
    ://[^\s\"'<>]{1,200}?/(?:[\w-]{0,20}(?:reset|invit|verif|confirm|magic|activat|unsubscribe|token|unlock|recover|
    secret|private|share|join|one-time|login|signin|auth|callback|ical|feed|magic|receiver|subscri|signup|
    passwordless)[\w-]{0,20}|link|sub|subs|t|s|dl|k|v\d/http)(?:/(?:[\w-]|%40|\.){1,40}){0,2}/(?:private-)?
    ([A-Za-z0-9_.~-]{20,400})
# As browsers export them, and as code passes them.
cookie has_random_value: httpOnly
    \"value\"\s{0,2}:\s{0,2}\"([^\"\s]{16,4096})\"(?=[^{}]{0,300}\"httpOnly\")
cookie has_random_value: httpOnly
    \"httpOnly\"[^{}]{0,300}\"value\"\s{0,2}:\s{0,2}\"([^\"\s]{16,4096})\"
cookie has_random_value folded: cookies
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
"""  # noqa: E501  (a needle stands on one line)

_CHECKS = (
    _has_cookie, _is_drawn_value, _is_encoded_address, _is_in_connection_string, _is_made_value, _is_mixed_value,
    _is_token,
    has_digit_or_both_cases, has_drawn_token, has_random_value, is_real_value,
)  # fmt: skip
CONNECTION_RULES = rules_of(
    _RULES,
    checks=_CHECKS,
    parts={"COOKIES": _COOKIES, "COOKIE": _COOKIE},
)
