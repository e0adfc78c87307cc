"""Names of secrets: the words of which one makes a name that of a password, a token or a key, in many languages.

An identifier (or two words) names a secret where one word of it is ``password``, ``token``, ``…key`` and so on, and no
word behind says that it is something about the secret (``token_count``). Who made the value decides how it must look:
people choose a password, machines make a token.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from helix_episodes.redaction.rule_matching import compiled_pattern
from helix_episodes.redaction.value_looks import FUNCTION_WORDS

if TYPE_CHECKING:
    from helix_episodes.redaction.rule_matching import SiftedText


#: Every name of a secret holds one of these, in small letters; the commonest words that do and are no names are out.
_PARTS = {
    "pasword": "pasword",
    "pass": r"pass(?!e[ds]|ing|age|ive|port|thr)",
    "pw": r"pwd|(?<=[a-z])pw\b|(?<![a-z])pw(?![a-z])",
    "phrase": "phrase",
    "key": "key(?!word|board|frame|down|up|press|error|point|note|stroke)",
    "secret": "secret",
    "token": r"token(?!iz)",
    "credential": "credential",
    "auth": "auth(?!or|en)",
    "psk": "psk",
    "salt": r"salt\b",
    "mnemonic": "mnemonic",
    "login": "login",
    "code": r"(?<=device_)code|(?<=deviceC)ode",
    "api_hash": "api_hash",
    "macaroon": "macaroon",
    "base64": r"(?<=_)base64",
    "b64": r"(?<=_)b64",
}
#: ``password`` in other languages that write it with Latin letters alone: a word of its own.
_FOREIGN_WORDS = """
    kennwort contrasena contrasenya senha wachtwoord salasana heslo haslo adgangskode kodeord parola parool lozinka
    geslo zaporka sifra mdp clave slaptazodis wagwoord sandi adgangskoden passordet zugangscode
""".split()  # noqa: SIM905  (a list of words as people read it)
_ALL_FOREIGN_WORDS = frozenset(_FOREIGN_WORDS)
#: Those that are too short, or too like parts of other words, to be looked for within words.
_WHOLE = {
    **{
        word: rf"(?<![a-z]){word}(?![a-z])"
        for word in (
            *("jwt", "crumb", "csrf", "hmac", "creds", "pat", "pincode", "saml", "totp", "encrypt"),
            *("samlresponse", "samlrequest", "tkn"),
            *_FOREIGN_WORDS,
        )
    },
    "passe": "(?<=mot de )passe",
    "pin": r"(?<![a-z])pin(?![a-z])",
    "cookie": r"(?<=[a-z_])cookie(?![a-z])",
    "setcookie": "setcookie",
    "community": r"community\b",
    "rocommunity": "rocommunity",
    "rwcommunity": "rwcommunity",
}
_WHOLE_WORDS = frozenset(_WHOLE)
_SESSION = "_session"
_FOREIGN = tuple(
    """
    סיסמה|סיסמא|κωδικός|jelszó|mật khẩu|كلمة المرور|كلمة السر|رمز عبور|گذرواژه|รหัสผ่าน|पासवर्ड|पासकोड|পাসওয়ার্ড
    contraseñ|lösenord|hasło|şifre|şifrə|parolă|slaptažodis|schlüssel|пароль|паролем|пароля|паролю|парола|лозинка|ключ|գաղտնաբառ|პაროლი
    密码|密碼|口令|密钥|密鑰|秘钥|令牌|暗証番号|合言葉|パスワード|パスコード|비밀번호|비번|암호|mật mã
    """.strip()
    .replace("\n    ", "|")
    .split("|")
)
#: Told by what it is not: a set takes as long to compile as its ranges are wide. A letter too many costs little.
_FOREIGN_LETTER = "[^\x00-\u00e2\u2000-\u2fff]"
#: What follows the telling word within an identifier.
REST = r"[A-Za-z0-9_]{0,30}+(?:-[A-Za-z0-9_]{1,20}+){0,4}"
#: The telling words by their first letter, each with what it must look like; the more telling of two comes first. As
#: one expression they took longer to compile, for each that they are part of, than a session takes to be redacted.
_FORMS: dict[str, list[tuple[str, str]]] = {}
for _word, _form in (
    *_PARTS.items(),
    ("pin", r"(?<![a-z])pin[ _-]?code(?![a-z])"),
    *_WHOLE.items(),
    (_SESSION, rf"{_SESSION}\b"),
    *zip(_FOREIGN, _FOREIGN, strict=True),
):
    _FORMS.setdefault(_word[0], []).append((_word, f"(?i:{_form})"))
#: The telling words that are two: as the list of a text's words has them, and what is looked for in place of ``code``,
#: which is in every tenth text.
_API_HASH, _CODE, _BEFORE_CODE = "api_hash", "code", "device"
#: What a vocabulary must tell of for names: whole words and parts of words.
NAME_WORDS = frozenset((*_WHOLE, "hash", "session"))
NAME_PARTS = frozenset(_PARTS) - {_API_HASH, _CODE} | {_BEFORE_CODE}
_NEW_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[.\-$: /]+")
#: The last word of a name that says what it is: what people choose, what machines make, a key, a login.
_NAME = re.compile(
    r"(?P<before>.*)(?:"
    r"(?P<people>passw(?:or)?d|passwort|(?<![a-z])pwd|passphrase|passcode|psk|mnemonic|(?:seed|recovery|secret)_phrase"
    r"|passe|pass(?:ord(?:et)?|wrod|owrd|wrd)|pasword|contraseña|"
    + "|".join(sorted({*_FOREIGN_WORDS, *(one.replace(" ", "_") for one in _FOREIGN)}, key=len, reverse=True))
    + r"|(?:^|_)pw|(?:user|root|admin|mail|ftp|bind|dn|db|ldap|my)pw)"
    r"|(?P<short>(?<!com)(?<!by)(?<!sur)(?<!tres)(?<!under)(?<!over)pass)"
    r"|(?P<pin>(?:^|_)pin(?:_?code)?)|(?P<machine>secret|token|credential|crumb|csrf|hmac|saml(?:response|request)?"
    r"|(?:^|_)(?:salt|pat|jwt|creds|login|totp)|api_hash|macaroon|tkn|authtok|(?:set_?|_)cookie|(?:^|_)(?:ro|rw)?community"
    r"|(?:keystore|p12|pfx|jks|keytab|kubeconfig|provision\w{0,12}|wallet)_(?:base64|b64)"
    r"|(?:device|auth|access)_code|key_?material|key_content)|(?P<key>key|(?:^|_)encrypt|_session)|(?P<login>(?:^|_|master|o)auth))"
    r"(?P<after>s?\d{0,3}(?:_\w+)?)"
)
#: Words behind it that make it something about the secret.
_ABOUT_LIST = """
    hash hashed file path dir folder directory name names id ids type kind field url uri endpoint host port
    count counts length len size limit index expires expiry expiration ttl at age policy prompt label
    placeholder hint hasher hashers class provider manager service handler store ring vault ref arn version
    usage used budget required enabled strength validator min max regex pattern format error errors input form
    reset change check checker count total totals cost rate per map list set group mode column env var variable
    location source scope scopes status state sock socket alias algorithm schema algo generator factory helper utils
    util test tests spec docs page route view
"""
_ABOUT = frozenset(_ABOUT_LIST.split())
#: Words before ``key`` that make it no secret.
_HARMLESS_KEY_LIST = """
    public pub primary foreign sort partition cache row map hash group lookup index idempotency object dict json
    config query unique shift arrow translation i18n route issue react entity composite natural surrogate dedup
    dedupe event metric state node item hot mon tur don joc hoc whis known host search parent child s3
    dns ctrl alt meta tab enter return escape space any each this that other next previous new old given same which
    first last column param prop property header field label option setting registry model stable test
    rsa dsa ecdsa ed25519 gpg pgp openpgp
"""
_HARMLESS_KEYS = frozenset(_HARMLESS_KEY_LIST.split())
#: Behind the telling word of a name (``SECRET_KEY_BASE``); four words are a phrase.
_MOST_WORDS_BEHIND = 3
#: A part of the name of a resource: arn:aws:secretsmanager:eu-central-1:1234:secret:shop
_OF_RESOURCE = re.compile(r"arn:[\w:*-]{0,40}\Z|secretsmanager:[\w:-]*\Z")
_WORD_BEFORE = re.compile(r"([A-Za-z]{2,20})[ ]\Z")


def needles_in(sifted: SiftedText) -> list[str]:
    """The telling words that a text has, in small letters."""
    telling = sifted.telling
    if not telling:
        return [] if sifted.text.isascii() else list(_with_foreign_letters(sifted))
    found = [_CODE if part == _BEFORE_CODE else part for part in sifted.parts & NAME_PARTS]
    if "hash" in telling and "api" in sifted.words:
        found.append(_API_HASH)
    found += telling & _WHOLE_WORDS
    if "session" in telling:
        found.append(_SESSION)
    return found if sifted.text.isascii() else [*found, *_with_foreign_letters(sifted)]


def behind_telling_word(sifted: SiftedText, place: int, pattern: str) -> re.Match[str] | None:
    """What follows the telling word at a place as the pattern has it, whichever of two words it is."""
    text, lowered, match = sifted.text, sifted.lowered, compiled_pattern(pattern).match
    for word, form in _FORMS.get(lowered[place], ()):
        if lowered.startswith(word, place) and (found := compiled_pattern(form).match(text, place)):
            behind = match(text, found.end())
            if behind is not None:
                return behind
    return None


def foreign_words_in(sifted: SiftedText) -> list[str]:
    """Those of other languages, of Latin letters alone or with letters of their own."""
    foreign = () if sifted.text.isascii() else _with_foreign_letters(sifted)
    if sifted.telling.isdisjoint(_ALL_FOREIGN_WORDS):
        return list(foreign)
    return [*(word for word in _FOREIGN_WORDS if word in sifted.telling), *foreign]


@lru_cache(maxsize=1)  # a text is asked twice
def _with_foreign_letters(sifted: SiftedText) -> tuple[str, ...]:
    if not compiled_pattern(_FOREIGN_LETTER).search(sifted.lowered):
        return ()
    return tuple(needle for needle in _FOREIGN if needle in sifted.lowered)


@lru_cache(maxsize=1024)  # a session speaks of the same few names again and again
def _parsed(name: str) -> re.Match[str] | None:
    return _NAME.fullmatch(_NEW_WORD.sub("_", name).lower())


def sort_of_name(name: str, before: str) -> str | None:
    """What a name is the name of: ``people`` choose it, ``short`` for that, a ``machine`` makes it, a ``lone`` key."""
    spoken = _WORD_BEFORE.search(before) if before.endswith(" ") else None
    if name.lower() == "phrase" and spoken and spoken[1].lower() in ("pass", "seed", "secret"):
        return "people"
    found = _parsed(name)
    if found is None or _OF_RESOURCE.search(before):
        return None
    about = found["after"].split("_")[1:]
    if len(about) > _MOST_WORDS_BEHIND or not _ABOUT.isdisjoint(about):
        return None
    if not found["key"]:
        return next(sort for sort in ("people", "short", "pin", "machine", "login") if found[sort])
    word = found["before"].rstrip("_").rpartition("_")[2]
    if not word and spoken:
        word = spoken[1].lower()
    if word in _HARMLESS_KEYS:
        return None
    return "machine" if word and word not in FUNCTION_WORDS else "lone"
