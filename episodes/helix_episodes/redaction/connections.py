"""Credentials in connections: addresses, headers, cookies, commands, connection strings and calls."""

from __future__ import annotations

import base64
import re

from helix_episodes.redaction.rule_matching import SecretRule
from helix_episodes.redaction.value_looks import (
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
_ADDRESS = re.compile(r"[\d.]+(?:[:/]|$)|\d+-\d+|[/~.]|\w+\.\w+$")
_LINK = re.compile(r"[()\[\]{}]|://|@[\w-]+\.\w|\.\w{1,5}$|=|->")
_ADDRESS_WITH_USER, _LONGEST_USER = re.compile(rb"[a-z][\w+.-]{1,30}://[^\s:/@]{0,64}:"), 120
#: What examples have in a password's place.
_EXAMPLES = ("password", "pass", "passwd", "pwd", "secret", "user", "username", "<password>", "token")
_PORTS = re.compile(r"\d{1,5}(?:[:/].{0,40})?")
#: How far around a ``Password=`` the other pairs of a connection string are looked for.
_STRING_SPAN = 300
_PAIRS = re.compile(
    r"(?:server|data source|host|driver|uid|user ?(?:id|name)?|initial catalog|database|dbq|dsn|port)"
    r"\s{0,2}=\s{0,2}[^\s;=]",
    re.IGNORECASE,
)
#: A value as a shell takes it: in quotes with whatever blanks, or up to the next blank.
_BARE = r"(?:[\"'](?=[^\"'\n]{3,200}[\"']))?((?<=[\"'])[^\"'\n]{3,200}(?=[\"'])|[^\s\"'`|;&<>\[\]]{3,200})"
#: What a value in front of a pipe, or behind ``<<<``, is handed to, where it is a secret whatever it looks like.
_TAKERS = (
    r"(?:-stdin|-with-token|\bsudo\b[^\n|]{0,40}\s-S\b|-body-file -|chpasswd|cryptsetup|\bpasswd\b|\bsecrets? (?:put|set|create|add)"  # noqa: E501
    r"|\benv (?:add|set)|versions add|--data-file=-|-passphrase-fd|-pass(?:in|out)? (?:stdin|fd:)|\bpass insert)"
)
#: Clients that take a password by an option of one letter, by that letter.
_COMMANDS = (
    r"\b(?:(?:sqlcmd|bcp|isql|zip|unzip|mosquitto_(?:pub|sub)|rpcclient)\b[^\n|;&]{0,200}?\s-P"
    r"|(?:mongo(?:sh|dump|restore|import|export)?|7za?|cqlsh|az login|cf login|rabbitmqadmin|influx)"
    r"\b[^\n|;&]{0,200}?\s-p"
    r"|(?:ldap(?:search|modify|add|delete|whoami|passwd))\b[^\n|;&]{0,200}?\s-w"
    r"|(?:plink|pscp|psftp)\b[^\n|;&]{0,200}?\s-pw|ssh-keygen\b[^\n|;&]{0,200}?\s-N"
    r"|(?:smbclient|rpcclient|net)\b[^\n|;&]{0,200}?\s-U\s{0,2}[\"']?[^\s%\"']{1,60}%"
    r"|lftp\b[^\n|;&]{0,200}?\s-u\s{1,4}[\w.@-]{1,60},"
    r"|(?:sqlplus|sqlldr|expdp|impdp|rman)\b[^\n|;&/]{0,200}?\s[\"']?[\w.-]{1,60}/(?=\S{1,80}@)"
    r"|redis-cli\b[^\n|;&]{0,200}?[\s\"'](?:-a|--pass)"
    r"|(?:mysql|mariadb)[a-z-]{0,20}\s(?:[^\n|;&]{0,200}?\s)?-p|sshpass\s{1,4}-p"
    r"|(?:docker|podman|nerdctl|buildah|oras|registry) login [^\n|;&]{0,200}?\s(?:-p|--password)[ =]"
    r"|openssl enc\b[^\n|;&]{0,200}?\s-k"
    r"|htpasswd\s{1,4}-[a-zA-Z]{0,4}b[a-zA-Z]{0,4}\s{1,4}\S{1,200}\s{1,4}\S{1,80})[\s\"',=]{0,6}" + _BARE
)
#: What passwords are put behind without an option: a table of commands and lines of settings.
_POSITIONS = (
    r"(?i)(?:\"\s+(?:AES|DES)[\w-]{0,8}|\b(?:net1?\s+user\s+[^\s/]{1,60}|net\s+use\s+\S{1,60}(?:\s+\\\\\S{1,120})?|http-basic\.\S{1,80}\s+\S{1,60}"
    r"|(?:secret|password|key|md5)\s+[0-9]|createUser\s+\S+\s+(?:SHA|MD5)[\w-]{0,8}"
    r"|ConvertTo-SecureString(?:\s+-String)?|set\s+password\s+for\s+\S{1,100}\s*=(?:\s*password\()?|\bP(?=:)(?<=;P)|add-mask:"
    r"|task\.setvariable variable=(?:\w*(?:pass|pwd|secret|token|key)[^\]\n]{0,80}"
    r"|[^\]\n]{1,80}issecret=true[^\]\n]{0,20})"
    r"|-passwd\s+\S{1,80}|user(?:add|mod)\b[^\n|;&]{0,120}?\s-p|(?:ENCRYPTED|USER\s+\w+)\s+PASSWORD))"
    r"(?:\s+|:|\])\s*" + _BARE
)
#: A user and a password as options of one letter, whatever the command is.
_USER_AND_PASSWORD = (
    r"-(?<=\s-)(?:u|U|l|-user(?:name)?|-login|user)(?:[ =]\s{0,3})?[\"']?[\w.@\\-]{1,80}[\"']?\s(?:[^\n|;&]{0,80}?\s)?"
    r"(?:-p|-P|-w|--pass|-pass|-pw)[ =]?\s{0,3}" + _BARE
)
#: A login and its password with nothing but a sign between: login: kim / X, user=kim:X.
_LOGIN_WITH_VALUE = (
    r"(?i)\b(?:log ?in|credentials?|creds|account|user(?:name)?|sign in(?: (?:as|with))?)\b[^\n:=/]{0,20}?[ \t:=][ \t]{0,3}[\w.@+-]{2,60}"  # noqa: E501
    r" ?(?:[/|:,]| (?:with|and) ) ?([^\s\"'`<>,]{8,80})"
)
#: What a script types when it is asked: expect "Password:"; send "X\r"
_ANSWER = (
    r"(?i)(?:passw(?:or)?d|passphrase|\bpin|token|passcode)[^\n\"']{0,20}[\"'][^\w\"']{1,12}(?:\w{1,20}\.)?(?:exp_)?(?:send|write|put|answer)\w{0,10}"
    r"[\s(]{1,3}(?:--\s)?[\"']([^\"'\n\\]{4,200})"
)
#: One of these is in each line of that table.
_POSITION_SIGNS = (
    *(
        "net user ",
        "net use ",
        "net1 user ",
        "http-basic.",
        "createuser ",
        "securestring",
        "password for",
        ";p:",
        "add-mask:",
        "task.setvariable",
    ),
    *("-passwd ", "useradd", "usermod", " secret …\\d", " password …\\d", " key …\\d", " md5 …\\d"),
)
_CLIENT_LIST = """
    sqlcmd bcp isql zip unzip mosquitto_pub mosquitto_sub rpcclient mongo mongosh mongodump mongorestore mongoimport
    mongoexport 7z 7za cqlsh az cf rabbitmqadmin influx ldapsearch ldapmodify ldapadd ldapdelete ldapwhoami ldappasswd
    plink pscp psftp ssh-keygen smbclient net htpasswd lftp sqlplus sqlldr expdp impdp rman redis-cli openssl
    mysql mysqldump mysqladmin mysqlimport mysqlshow mariadb mariadb-dump mariadb-admin sshpass docker podman nerdctl
    buildah oras registry
"""
_CLIENTS = tuple(_CLIENT_LIST.split())
_COOKIE = r"[\w!#$%&*+.^|~-]{1,80}=[^\s;,\"'\\\[\]<>]{1,4096}"
_COOKIES = _COOKIE + r"(?:;\s{0,2}" + _COOKIE + r"){0,60}"


def _is_encoded_address(match: re.Match[str]) -> bool:
    """What base64 stands for begins as an address with a user does."""
    begun = match[0].rstrip("=")[:_LONGEST_USER]
    return _ADDRESS_WITH_USER.match(base64.b64decode(begun[: len(begun) // 4 * 4])) is not None


def _is_real_value(match: re.Match[str]) -> bool:
    return not is_placeholder(match[1]) and match[1].lower() not in _EXAMPLES


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


def _is_netrc_password(match: re.Match[str]) -> bool:
    """Without the ``machine`` before it, "login and password are" is a sentence."""
    return not is_placeholder(match[2]) and (match[1] is not None or is_mixed(match[2]))


def _is_in_connection_string(match: re.Match[str]) -> bool:
    """Set off by ``;``, and next to pairs that name a server or a user: ``a = 1; password=b`` is code."""
    start, end, text = *match.span(), match.string
    if is_placeholder(match[1]) or ";" not in text[max(0, start - 3) : start] + text[end : end + 1]:
        return False
    return _PAIRS.search(text[max(0, start - _STRING_SPAN) : end + _STRING_SPAN]) is not None


def _is_drawn_token(match: re.Match[str]) -> bool:
    return _is_token(match) and not is_made_of_words(match[1])


def _is_random(match: re.Match[str]) -> bool:
    return not is_placeholder(match[1]) and looks_random(match[1])


def _is_token(match: re.Match[str]) -> bool:
    """``Bearer`` is followed by a token, not the next word of a sentence or a variable."""
    value = match[1].rstrip("=")
    return not is_placeholder(value) and (any(map(str.isdigit, value)) or is_scrambled(value))


def _has_cookie(match: re.Match[str]) -> bool:
    """A session's value among the pairs, not ``theme=dark``."""
    values = (pair.partition("=")[2] for pair in match[1].split(";"))
    return any(is_mixed(value) and len(value) >= _SHORTEST_COOKIE and not is_placeholder(value) for value in values)


CONNECTION_RULES = (
    SecretRule(
        "webhook",
        (
            "hooks.slack.com",
            "discord.com",
            "discordapp.com",
            ".office.com/",
            ".zapier.com/",
            ".feishu.cn/",
            ".larksuite.com/",
            ".ifttt.com/",
            ".com/hooks/",
            ".chat/hooks/",
        ),
        (
            r"(?:hooks\.slack\.com[/_](?:services|workflows|triggers)[/_]|discord(?:app)?\.com[/_]api[/_]webhooks[/_]"
            r"|\.office\.com/webhook(?:b2)?/|hooks\.zapier\.com/hooks/catch/|/open-apis/bot/v2/hook/|/with/key/"
            r"|\.(?:com|chat)/hooks/)([A-Za-z0-9/_@-]{20,255})"
        ),
    ),
    SecretRule(
        "authorization",
        ("bearer", "authorization"),
        (
            r"(?i)(?:authorization[\"'\])]{0,3}\s{0,4}[:=]\s{0,4}[bfru]{0,2}\\{0,15}[\"'`]?(?:basic|token|bearer|apikey)|\bbearer)"
            r"\s{1,4}([A-Za-z0-9._~+/=-]{12,4096})"
        ),
        accept=_is_token,
        folded=True,
    ),
    # Without a scheme, or with one of a service's own.
    SecretRule(
        "authorization",
        ("authorization",),
        r"(?i)authorization[\"']?(?:\s{0,4}[:=,]\s{0,4}|\s{1,4})\\{0,15}[\"']?(?:[a-z][\w-]{1,24}\s{1,2}(?:token=\\{0,15}[\"']?)?)?([A-Za-z0-9._~+/=-]{16,4096})",
        accept=_is_drawn_token,
        folded=True,
    ),
    SecretRule(
        "signature",
        ("signature=", "Signature="),
        r"(?i)(?<![a-z])signature=([0-9a-f]{64,1100}|[A-Za-z0-9~_-]{80,800})",
    ),
    # A private key as a JSON Web Key.
    SecretRule(
        "private-key",
        ('":…' + r"\s?\\{0,15}\"[A-Za-z0-9_-]{40}",),
        r"(?<![\w])[dkpq]\\{0,15}[\"']\s{0,2}:\s{0,2}\\{0,15}[\"']([A-Za-z0-9_-]{40,1400})",
        is_drawn=True,
    ),
    # As octets in code and in a registry: aes_key[32] = { 0x02, … }, "ApiSecret"=hex:be,3a,…
    SecretRule(
        "secret",
        ("0x…[0-9a-fA-F]{2},", "hex:", "\\x…[0-9a-fA-F]{2}\\\\x"),
        r"(?i)(?:key|secret|passw|pwd|token|seed|priv)[\w\"']{0,30}(?:\[[\w ]{0,24}\]){0,2}\s{0,4}(?:[:=]\s{0,4}[^\n={};\"']{0,40})?[=:]\s{0,4}"
        r"(?:[\w<>\[\] ]{0,24}[({\[]\s{0,40}|hex:|b?[\"'])((?:(?:0x|\\x)?[0-9a-f]{2}[,\s\\]{0,20}){8,256})",
    ),
    SecretRule("private-key", ("[…" + r"\s?\d{1,3},\s?\d{1,3},",), r"(\[\s*(?:\d{1,3}\s*,\s*){63}\d{1,3}\s*\])"),
    # Its bytes as a list of numbers.
    SecretRule(
        "private-key",
        ("[…" + r"\s?\d{1,3},\s?\d{1,3},",),
        r"(?i)(?:secret|private|key|seed|wallet|id\.json)[^\n\[]{0,40}(\[\s*(?:\d{1,3}\s*,\s*){31,127}\d{1,3}\s*\])",
    ),
    # What /etc/shadow, htpasswd and web frameworks store in a password's place.
    SecretRule(
        "password-hash",
        (r"$…[./A-Za-z0-9,=+-]{1,60}\$[./A-Za-z0-9+=,-]{16}",),
        r"\$(?:2[abxy]|[1567y]|apr1|argon2(?:id|i|d)|scrypt|bcrypt-sha256|pbkdf2(?:-sha\d{1,3})?)\$[./A-Za-z0-9$=,+-]{20,250}"
        r"|\bpbkdf2_sha\d{1,3}\$\d{1,8}\$[./A-Za-z0-9]{4,60}\$[A-Za-z0-9+/=]{20,120}|\$[89]\$[./A-Za-z0-9$-]{20,120}",
    ),
    SecretRule(
        "password-hash",
        ("{SHA", "{SSHA", "{SMD5", "{CRYPT", "{ssha", "{PBKDF2"),
        r"(?i)\{(?:s?sha(?:256|384|512)?|smd5|crypt|pbkdf2[\w-]{0,10})\}([A-Za-z0-9+/=$.]{16,200})",
    ),
    SecretRule(
        "password-hash",
        (":…[0-9a-fA-F]{32}:[0-9a-fA-F]{32}:",),
        r":([0-9a-fA-F]{32}:[0-9a-fA-F]{32}):",
    ),
    SecretRule(
        "password-hash",
        ("identified", "password_hash", "passwordhash", "hashed_password"),
        r"(?i)(?:identified\b[^\n]{0,60}?\b(?:as|values|password)|password_?hash|hashed_?password)[\"']?[\s:=(,]{1,4}[\"']?(?:\*|[SHT]:|0x)?([A-Fa-f0-9]{32,160}|[A-Za-z0-9+/=]{32,160})",
        folded=True,
    ),
    SecretRule(
        "secret",
        ("mnemonic", "phrase", "seedphrase", "seed"),
        r"(?i)(?:mnemonic|(?:seed|recovery|backup|secret)[ _-]?phrase|wallet[ _-]?seed)\W{1,8}(?:is\W{1,4})?"
        r"((?:[a-z]{3,8} ){11,23}[a-z]{3,8})",
        folded=True,
    ),
    # A password may hold an @ itself; the last one before the host ends it. A file named after an address has _ for /.
    SecretRule(
        "password",
        ("://", ":__"),
        r":(?://|__)[^\s/:@\"'`<>\[\]]{0,100}:([^\s/\"'`<>\[\]?#,]{1,200})@(?=[A-Za-z0-9\[])",
        accept=_is_real_value,
    ),
    # With signs that should be encoded; a port in front of them is none of a password.
    SecretRule(
        "password",
        ("://",),
        r"://[^\s/:@\"'`<>\[\]]{0,100}:(?!\d{1,5}[/?#])([^\s@\"'`<>\[\]]{1,1200})@"
        r"(?=[A-Za-z0-9][A-Za-z0-9.-]{0,100}(?::\d|[/?\s\"'`]|$))",
        accept=_is_real_value,
    ),
    # Go's form, and the lines of .pgpass.
    SecretRule("password", ("@tcp(", "@unix("), r"[\w.-]{1,64}:([^\s\"'`]{3,200}?)@(?:tcp|unix)\(", _is_real_value),
    SecretRule(
        "password",
        (":…\\d{4,5}:[\\w.*-]{1,64}:[\\w.*-]{1,64}:[^\\s:/]",),
        r"(?<![\w./-])(?<![A-Za-z]:)[A-Za-z*][\w.*-]{0,80}:\d{4,5}:[\w.*-]{1,64}:[\w.*-]{1,64}:([^\s\"'`:/<]{4,200})(?=[\s\"'`\\<]|$)",
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
        ("pwd=", "pwd =", "password=", "password ="),
        r"(?i)(?<![\w.-])(?:pwd|password)\s?=\s?(\{[^}\s]{1,200}\}|[^;\"'`\s<>\[\]{}()]{1,200})(?=[;\"'`\s]|$)",
        accept=_is_in_connection_string,
        folded=True,
    ),
    SecretRule(
        "cookie",
        ("curl",),
        r"\bcurl\b[^\n|;&]{0,200}?\s(?:-b|--cookie)[\s=]\s{0,3}\\{0,15}[\"']?(" + _COOKIES + r")",
        accept=_has_cookie,
    ),
    # As it is typed, and as a list: ["curl", "-u", "kim:X"].
    SecretRule(
        "password",
        ("curl", "http", "https", "xh"),
        r"\b(?:curl|https?|xh)\b(?!:)[^\n|;&]{0,200}?[\s\"'](?:-u|-a|--user|--auth|--proxy-user|-U)(?:\\{0,15}[\"'])?[\s=,]{1,4}(?:\\{0,15}[\"'])?"
        r"[^\s:\"'\[\]/]{1,64}:([^\s\"'\[\]]{4,200})",
        accept=_is_real_value,
    ),
    SecretRule(
        "password",
        ("curl", "http", "https", "xh"),
        r"\b(?:curl|https?|xh)\b(?!:)[^\n|;&]{0,200}?\s(?:-u|-a|--user|--auth|--proxy-user|-U)[\s=]{0,4}[\"'][^\s:\"']{1,64}:([^\"'\n]{4,200})[\"']",
        accept=_is_real_value,
    ),
    # In the lines below, up to the word that ends them.
    SecretRule(
        "password",
        ("<<",),
        _TAKERS + r"[^\n|<]{0,120}<<-?\s{0,2}[\"']?(?P<end>[A-Z_]{2,20})[\"']?[^\n]{0,60}\n\s{0,8}([^\s\"'`]{3,200})(?=\n(?:[^\n]{0,200}\n){0,2}\s{0,8}(?P=end))",
        accept=lambda match: not is_placeholder(match[2]),
    ),
    # A key in the user's place.
    SecretRule(
        "token",
        ("curl", "http", "https", "xh"),
        r"\b(?:curl|https?|xh)\b(?!:)[^\n|;&]{0,200}?[\s\"'](?:-u|-a|--user|--auth)[\s=,\"']{1,4}([A-Za-z0-9_.-]{20,200}):(?:api_token|x|)(?=[\s\"']|$)",
        accept=_is_random,
    ),
    SecretRule(
        "secret",
        ("secret", "secretid", "secret_id"),
        r"(?i)\bsecret[ _]?id[\"']?\s{0,8}[:=|]{1,2}\s{0,4}[\"']?([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})",
        folded=True,
    ),
    # Keys of options and headers that say no more than "key".
    SecretRule(
        "secret",
        (" -K ", " -k ", " -T ", " -iv ", "-key ", "Key:", "key:"),
        r"(?:\s-{1,2}(?:K|k|T|key|token|hexkey)[ =]|-H\s{1,3}[\"'](?:[A-Za-z-]{1,30}-)?[Kk]ey: ?)[\"']?([0-9a-fA-F]{32,128})(?![0-9a-fA-F])",
    ),
    SecretRule(
        "cookie",
        ("SAPISID", "HSID", "SSID", "logged_in", "connect.sid", "laravel_session", "remember_", "SIDCC"),
        r"(?:\b(?:__Secure-\w{1,10})?(?:SAPISID|HSID|SSID|APISID|SIDCC|PSID|sid)|\w{0,40}_logged_in_?\w{0,40}|remember_\w{1,60})=([^\s;,\"']{16,600})",
    ),
    SecretRule(
        "licence-key",
        ("license", "licence", "product key", "/ipk", "serial", "activation"),
        r"(?i)(?:/ipk|(?:licen[cs]e|product|serial|activation|unlock)[ _-]?(?:key|code|number|no)?)[\"']?[\s:=#]{1,4}(?:is\s)?[\"']?((?=[A-Z-]*\d)[A-Z0-9]{4,8}(?:-[A-Z0-9]{4,8}){2,7})(?![A-Z0-9-])",
        folded=True,
    ),
    SecretRule("password", _CLIENTS, _COMMANDS, _is_command_password),
    SecretRule(
        "password",
        ("echo", "printf"),
        r"\b(?:echo(?: -[ne]{1,2})?|printf(?: [\"']?%s(?:\\n|\n)?[\"']?)?)\s{1,4}"
        + _BARE
        + r"[\"']?\s{0,4}\|\s{0,4}[^\n|]{0,160}?"
        + _TAKERS,
        accept=_is_command_password,
    ),
    SecretRule("password", ("<<<",), _TAKERS + r"[^\n|<]{0,120}<<<\s{0,3}" + _BARE, accept=_is_command_password),
    # The same with a name that says so, where the value must look like one.
    SecretRule(
        "password",
        ("echo", "printf"),
        r"(?i)\b(?:echo(?: -[ne]{1,2})?|printf(?: [\"']?%s(?:\\n|\n)?[\"']?)?)\s{1,4}"
        + _BARE
        + r"[\"']?\s{0,4}\|[^\n|]{0,160}?"
        r"(?:secret|token|passw|passphrase|\blogin\b|\bauth\b|api_?key)",
        accept=_is_given_password,
    ),
    SecretRule("password", _POSITION_SIGNS, _POSITIONS, _is_given_password, folded=True),
    SecretRule(
        "password",
        (r"-…(?<=\s-)(?:u|U|l|-user|-login)",),
        _USER_AND_PASSWORD,
        _is_command_password_of_user,
    ),
    SecretRule(
        "password",
        ("login", "log in", "creds", "credential", "credentials", "sign in"),
        _LOGIN_WITH_VALUE,
        _is_strong_password,
        folded=True,
    ),
    SecretRule("password", ("expect", "pexpect", "sendline", "exp_send", "spawn"), _ANSWER, _is_command_password),
    # The login of a tool, and clients that take a key as an argument.
    SecretRule(
        "token",
        (" auth", " login", " authenticate", " activate", " register", " connect"),
        r"\b[\w-]{2,20} (?:auth|login|authenticate|activate|register|connect)(?: login)?\s{1,3}(?:--?[\w-]{1,20}[ =])?[\"']?([A-Za-z0-9._+/=-]{20,300})",  # noqa: E501
        accept=_is_drawn_token,
    ),
    # Calls that sign, encrypt or connect with the key that they are passed, behind the data or a name.
    SecretRule(
        "secret",
        ("fernet(", "hmac", "jwt", "jsonwebtoken", "createhmac", "createcipheriv", "secretkeyspec", "aes", "wifi"),
        r"(?i)\b(?:fernet|hmac(?:\.new)?|(?:jwt|jsonwebtoken)\.(?:en|de)?(?:code|sign|verify)|createhmac|createcipheriv"
        r"|secretkeyspec|aes\.new|wifi\.begin)\(\s{0,4}(?:[^()\n\"']{1,60},\s{0,4}|[\"'][^\"'\n]{1,40}[\"'],\s{0,4})?"
        r"b?[\"']([^\s\"'\[\]]{8,200})[\"']",
        accept=_is_given_password,
        folded=True,
    ),
    SecretRule(
        "private-key", ("0x…[0-9a-f]{64}",), r"(?i)0x([0-9a-f]{64})(?=[^\n]{0,60}private[ _-]?key)", folded=True
    ),
    SecretRule(
        "private-key",
        ("accounts", "private", "deployer", "signer", "wallet", "pk"),
        r"(?i)\b(?:accounts|private|deployer|signer|wallet|pk)\b[^\n\w]{0,8}[\"'](0x[0-9a-f]{64})[\"']",
        folded=True,
    ),
    # Lists of users with their passwords.
    SecretRule(
        "password",
        ("chpasswd",),
        r"chpasswd\b[^\n]{0,40}?(?:\s{1,20}|list:|users:|expire:\s\w{4,5}|[|>{\"'-]){1,12}\w{1,32}:([^\s\"'}]{6,200})",
        accept=_is_command_password,
    ),
    SecretRule(
        "password", ("pass:",), r"-pass(?:in|out)?[\s\"',]{1,6}pass:((?<=[\"']pass:)[^\"'\n]{3,200}|[^\s\"'`\[\]]{3,200})", _is_command_password
    ),
    SecretRule(
        "password",
        ("identified",),
        r"(?i)\bidentified(?:\s{1,4}with\s{1,4}\S{1,40})?\s{1,4}(?:by|as)\s{1,4}(?:(?:password|values)\s{1,4})?(?:\\{0,15}[\"'])?((?<=[\"'])[^\"'\n\[\]]{3,200}|(?<![\"'])[^\s\"';,\[\]]{6,200})",
        accept=_is_identifying,
        folded=True,
    ),
    # SetBasicAuth("kim", "X"), auth=("kim", "X"), new NetworkCredential("kim", "X"), smtp.login(user, "X")
    SecretRule(
        "password",
        (r"(…(?:(?<=uth\(|gin\(|ial\(|als\(|th=\()|(?<=nection\())\s{0,4}\\{0,15}[\w\"'.@\\-]{1,60}\s?,",),
        r"(?i)(?:auth|login|credentials?|connection)\s?[=:]?\s?\(\s{0,4}(?:[\w.]{1,60}|\\{0,15}[\"'][^\"'\n]{1,80}[\"'])\s?,\s{0,4}"
        r"(?:\\{0,15}[\"'][^\"'\n]{1,80}[\"']\s?,\s?)?(?:b|\w{1,20}\()?\\{0,15}[\"']([^\s\"'\[\]]{6,200})\\{0,15}[\"']\s?\)",
        accept=_is_given_password,
    ),
    SecretRule(
        "password",
        ("login",),
        r"\b(machine\s{1,4}\S{1,200}\s{1,20}|default\s{1,4})?\blogin\s{1,4}\S{1,100}\s{1,20}password\s{1,4}([^\s\"'`<>\[\]]{3,200})",
        accept=_is_netrc_password,
    ),
    # A token in the user's place, with nothing or a word in the password's; an address in quotes without its host.
    SecretRule(
        "token",
        ("://",),
        r"://([A-Za-z0-9_-]{20,255}):(?:x-oauth-basic|x-token-auth|x|api_token|)@",
        accept=_is_random,
    ),
    SecretRule(
        "password", ("://",), r"://[^\s/:@\"'`<>\[\]]{1,100}:([^\s/\"'`<>\[\]?#@{}$]{6,200})@(?=[{$\"'])", _is_real_value
    ),
    # Addresses that are keys: https://mainnet.infura.io/v3/…, …/hooks/…, …/inputs/…
    SecretRule(
        "token",
        ("://",),
        r"://[^\s\"'<>]{1,120}?/(?:v\d|hooks?|webhooks?|inputs|services|triggers|bot|rpc|apikey|token)/([0-9a-f]{32,64}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[A-Za-z0-9_-]{24,120})(?=[/\s\"'`<>)?]|$)",
        accept=_is_random,
    ),
    # Sentry's address holds a key where others hold a user.
    SecretRule("password", ("://",), r"://([A-Za-z0-9]{8,64})@(?=[A-Za-z0-9.-]{0,80}sentry)", _is_real_value),
    SecretRule("token", ("://",), r"://([\w.~%+-]{16,255})@(?=[A-Za-z0-9\[])", _is_random),
    SecretRule(
        "token",
        (r"=…(?<=(?i:sig|ure|key|ken|ode|pid|_id|ass|ret|sid|ion|ket|uth|otp|jwt|ess|ash)=)[^\s&\"'`<>#\\\[\]]{16}",),
        r"(?i)[?&;](?:[\w-]{0,20}[_-])?(?:sig|signature|key|apikey|token|code|app_?id|pass|secret|sid|session|ticket|auth|otp|jwt|access|hash)=([^\s&\"'`<>#\\\[\]]{16,2048})",
        accept=_is_random,
    ),
    # A link that lets in whoever has it.
    SecretRule(
        "token",
        ("://",),
        r"://[^\s\"'<>]{1,200}?/(?:[\w-]{0,20}(?:reset|invit|verif|confirm|magic|activat|unsubscribe|token|unlock|recover|secret|private|share|join"
        r"|one-time|login|signin|auth|callback|ical|feed)[\w-]{0,20})(?:/[\w-]{1,16})?/([A-Za-z0-9_.~-]{20,400})",
        accept=_is_random,
    ),
    # As browsers export them, and as code passes them.
    SecretRule(
        "cookie",
        ("httpOnly",),
        r"\"value\"\s{0,2}:\s{0,2}\"([^\"\s]{16,4096})\"(?=[^{}]{0,300}\"httpOnly\")",
        accept=_is_random,
    ),
    SecretRule(
        "cookie",
        ("httpOnly",),
        r"\"httpOnly\"[^{}]{0,300}\"value\"\s{0,2}:\s{0,2}\"([^\"\s]{16,4096})\"",
        accept=_is_random,
    ),
    SecretRule(
        "cookie",
        ("cookies",),
        r"(?i)\bcookies[\"']?\s{0,2}[:=]\s{0,2}(?:\w{1,20}\()?\{[^{}]{0,300}?[:=]\s{0,2}[\"']([\w.%+/=-]{16,4096})[\"']",
        accept=_is_random,
        folded=True,
    ),
    # An address with its password, or the file of a registry's logins, in base64.
    SecretRule(
        "password",
        ("Oi8v", "ovL", "6Ly"),
        r"(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{4,40}(?:Oi8v|[DTjz]ovL|6Ly[89+/])[A-Za-z0-9+/]{8,2000}={0,2}",
        accept=_is_encoded_address,
        is_drawn=True,
    ),
    SecretRule(
        "password", ("eyJhdXRo",), r"(?<![A-Za-z0-9+/])eyJhdXRo(?:cyI6|Ijoi)[A-Za-z0-9+/]{16,4096}={0,2}", is_drawn=True
    ),
    SecretRule("authorization", ("Digest ",), r"Digest\s[^\n]{0,400}?\bresponse=\"?([0-9a-f]{32,64})"),
    SecretRule(
        "cookie",
        ("cookie",),
        r"(?i)(?<![\w-])cookie\\{0,15}[\"']?\s{0,4}:\s{0,4}\\{0,15}[\"']?(" + _COOKIES + r")",
        accept=_has_cookie,
        folded=True,
    ),
    SecretRule(
        "cookie",
        ("cookie",),
        r"(?i)(?<![\w-])set-cookie\\{0,15}[\"']?\s{0,4}:\s{0,4}\\{0,15}[\"']?(" + _COOKIE + r")",
        accept=_has_cookie,
        folded=True,
    ),
)
