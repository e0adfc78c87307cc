"""Credentials in what is typed: options and arguments of commands, what is piped into them, logins, calls."""

from __future__ import annotations

import re

from helix_episodes.redaction.connections import has_drawn_token, has_random_value, is_real_value
from helix_episodes.redaction.rule_matching import rules_of
from helix_episodes.redaction.value_looks import (
    is_by_chance,
    is_like_password,
    is_made_of_words,
    is_mixed,
    is_pair_of_words,
    is_phrase,
    is_placeholder,
    is_scrambled,
    is_strong,
    says_what_it_is,
)

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


def _is_identifying(match: re.Match[str]) -> bool:
    """In quotes whatever it is; else it must not be the next word of a sentence."""
    return is_real_value(match) and (match.string[match.start(1) - 1] in "\"'" or is_mixed(match[1]))


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
password-hash folded: identified ¦ password_hash ¦ passwordhash ¦ hashed_password
    (?i)(?:identified\b[^\n]{0,60}?\b(?:as|values|password)|password_?hash|hashed_?password)
    [\"']?[\s:=(,]{1,4}[\"']?(?:\*|[SHT]:|0x)?([A-Fa-f0-9]{32,160}|[A-Za-z0-9+/=]{32,160})
# As it is typed, and as a list: ["curl", "-u", "kim:X"].
password is_real_value: curl ¦ http ¦ https ¦ xh
    \b(?:curl|https?|xh)\b(?!:)[^\n|;&]{0,200}?[\s\"'](?:-u|-a|--user|--auth|--proxy-user|-U)
    (?:\\{0,15}[\"'])?[\s=,]{1,4}(?:\\{0,15}[\"'])?[^\s:\"'\[\]/]{1,64}:([^\s\"'\[\]]{4,200})
password is_real_value: curl ¦ http ¦ https ¦ xh
    \b(?:curl|https?|xh)\b(?!:)[^\n|;&]{0,200}?\s(?:-u|-a|--user|--auth|--proxy-user|-U)
    [\s=]{0,4}[\"'][^\s:\"']{1,64}:([^\"'\n]{4,200})[\"']
# In the lines below, up to the word that ends them.
password _is_second_real: <<
    {TAKERS}[^\n|<]{0,120}<<-?\s{0,2}[\"']?(?P<end>[A-Z_]{2,20})[\"']?[^\n]{0,60}\n\s{0,8}([^\s\"'`]{3,200})(?=\n
    (?:[^\n]{0,200}\n){0,2}\s{0,8}(?P=end))
# A key in the user's place.
token has_random_value: curl ¦ http ¦ https ¦ xh
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
    htpasswd\s{1,4}-[a-zA-Z]{0,4}b[a-zA-Z]{0,4}\s{1,4}\S{1,200}\s{1,4}\S{1,80})[\s\"',=]{0,6}{BARE}
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
token has_drawn_token: ␣auth ¦ ␣login ¦ ␣authenticate ¦ ␣activate ¦ ␣register ¦ ␣connect
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
    _is_command_password, _is_command_password_of_user, _is_drawn_password, _is_given_password, _is_identifying,
    _is_key_of_option, _is_netrc_password, _is_second_real, _is_strong_password, has_drawn_token,
    has_random_value, is_real_value,
)  # fmt: skip
COMMAND_RULES = rules_of(
    _RULES,
    checks=_CHECKS,
    parts={"BARE": _BARE, "TAKERS": _TAKERS},
)
