"""Texts with a secret in them and texts without one, made when they are needed.

Every secret is drawn from a seeded generator and put together here, so that neither this file nor any other of the
repository holds one: a scanner would be right to trip over it. *True* samples name the value that must go. *False* ones
must stay as they are. *Hard* ones hold a secret that neither shape nor name gives away; they are counted apart.
"""

from __future__ import annotations

import random
import string
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_ALNUM = string.ascii_letters + string.digits
_HEX = "0123456789abcdef"
_UPPER = string.ascii_uppercase + string.digits
_URL = _ALNUM + "_-"
_FRAME = "PRIVATE " + "KEY-----"


class Sample(NamedTuple):
    """A text, the value in it that must go (empty when nothing must), and what sort of sample it is."""

    kind: str
    text: str
    secret: str = ""


class _Draw:
    """Values by chance, the same ones for the same seed."""

    def __init__(self, seed: int) -> None:
        self._source = random.Random(seed)  # noqa: S311  (samples, no secrets)

    def of(self, letters: str, length: int) -> str:
        """At least one digit, one capital and one small letter where the letters have them."""
        drawn = [self._source.choice(letters) for _ in range(length)]
        for place, group in enumerate((string.digits, string.ascii_lowercase, string.ascii_uppercase), 1):
            fitting = [letter for letter in group if letter in letters]
            if fitting and place < length:
                drawn[place] = self._source.choice(fitting)
        return "".join(drawn)

    def key(self) -> str:
        """As long as keys are: 24, 32 or 40 letters and digits."""
        return self.of(_ALNUM, self._source.choice((24, 32, 40)))

    def one_of(self, *choices: str) -> str:
        return self._source.choice(choices)


#: Behind these a password must be made like one, since the name alone may mean a round or a ticket.
_LETTERS = ("GQrZxOOCwtre", "kWqPzRtXbVnM", "aBxQwErTzUiOp")
LETTERS = r"""
password = {}
DB_PASSWORD = {}
"the password = {}"
""".strip().splitlines()
_STRONG = ("Xg67P!x30iYtJT", "Tr0ub4dor&3", "hunter2!x", "aXHqZ!Y7VFztZI")
STRONG = r"""
const dbPass = "{}";
db_pass: '{}'
DB_PASS = "{}"
./login --password {}
""".strip().splitlines()

SHAPES: dict[str, Callable[[_Draw], str]] = {
    "aws-key": lambda draw: draw.one_of("AKIA", "ASIA") + draw.of(_UPPER, 16),
    "github-token": lambda draw: draw.one_of("ghp", "gho", "ghu", "ghs", "ghr") + "_" + draw.of(_ALNUM, 36),
    "github-token, fine": lambda draw: "github_" + "pat_" + draw.of(_ALNUM, 22) + "_" + draw.of(_ALNUM, 59),
    "gitlab-token": lambda draw: draw.one_of("glpat", "gldt", "glrt") + "-" + draw.of(_URL, 20),
    "slack-token": lambda draw: (
        "xox" + draw.one_of("b", "p", "a") + "-" + draw.of(string.digits, 12) + "-" + draw.of(_ALNUM, 24)
    ),
    "stripe-key": lambda draw: draw.one_of("sk", "rk") + "_" + draw.one_of("live", "test") + "_" + draw.of(_ALNUM, 24),
    "anthropic-key": lambda draw: "sk-" + "ant-api03-" + draw.of(_URL, 93) + "AA",
    "openai-key": lambda draw: "sk-" + draw.one_of("", "proj-", "svcacct-") + draw.of(_ALNUM, 48),
    "google-key": lambda draw: "AI" + "za" + draw.of(_URL, 35),
    "google-secret": lambda draw: "GOC" + "SPX-" + draw.of(_URL, 28),
    "npm-token": lambda draw: "npm" + "_" + draw.of(_ALNUM, 36),
    "pypi-token": lambda draw: "pypi" + "-AgEIcHlwaS5vcmc" + draw.of(_URL, 140),
    "huggingface-token": lambda draw: "hf" + "_" + draw.of(_ALNUM, 34),
    "sendgrid-key": lambda draw: "SG" + "." + draw.of(_URL, 22) + "." + draw.of(_URL, 43),
    "jwt": lambda draw: "eyJ" + draw.of(_URL, 33) + ".eyJ" + draw.of(_URL, 60) + "." + draw.of(_URL, 43),
    "twilio-key": lambda draw: "SK" + draw.of(_HEX, 32),
    "digitalocean-token": lambda draw: "dop" + "_v1_" + draw.of(_HEX, 64),
    "vault-token": lambda draw: "hvs" + "." + draw.of(_URL, 90),
    "docker-token": lambda draw: "dckr" + "_pat_" + draw.of(draw.one_of(_URL, string.ascii_letters), 27),
    "azure-secret": lambda draw: draw.of(_ALNUM, 3) + "8Q~" + draw.of(_ALNUM, 34),
    "telegram-token": lambda draw: "1" + draw.of(string.digits, 9) + ":AA" + draw.of(_URL, 33),
    "private-key": lambda draw: (
        "-----BEGIN " + "PRIVATE KEY-----\n" + draw.of(_ALNUM, 64) + "\n-----END " + "PRIVATE KEY-----"
    ),
}
_AROUND = (
    "{}",
    'key = "{}"',
    "export X={}",
    "  - value: {}\n",
    '{{"a": "{}"}}',
    "curl -H 'X-Key: {}' https://x.org",
    "it was {}.",
)

#: A text with a place for a value of chance, and for one that a person chose.
NAMED = r"""
the key is {}
const K = ["{}"]
It printed this:\n{}\n
curl -b "sid={}" https://x.org
curl --cookie 'a=b; sid={}' https://x.org
cfg-https:__hooks.slack.com_services_T012AB_{}.txt
api_key = '{}'
API_KEY="{}"
{{"client_secret": "{}"}}
aws_secret_access_key = {}
--token {} --dry-run
AccountName=shop;AccountKey={};EndpointSuffix=core.windows.net
Endpoint=sb://shop.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey={}
Authorization: Bearer {}
https://x.blob.core.windows.net/a?sv=1&sig={}&se=2
https://{}@github.com/acme/shop.git
Cookie: sid={}; theme=dark
secret: {}
ENCRYPTION_KEY={}
{{\"auth_token\": \"{}\"}}
""".strip().splitlines()
CHOSEN = r"""
redis-cli -a {} ping
redis-cli -h cache --pass {} ping
cfg-postgres:__app:{}@db.int:5432_x.txt
postgres://app:%40{}@h/d
postgres://app:{}@db.example.com/shop
postgresql+asyncpg://app:{}@localhost:5432/shop
mysql://root:{}@db/shop
mongodb+srv://app:{}@c0.mongodb.net/?retryWrites=true
mongodb://app:{}@h1:27017,h2:27017/shop
redis://:{}@cache:6379/0
amqps://app:{}@mq.example.com/v
https://kim:{}@example.com/x
jdbc:mysql://db/shop?user=app&password={}
jdbc:oracle:thin:scott/{}@//db:1521/x
Driver={{ODBC Driver 18}};Server=db;Uid=sa;Pwd={};Encrypt=yes
Server=tcp:db,1433;Database=shop;User ID=app;Password={};Encrypt=True
host=db user=app password={} dbname=shop
mysql -u root -p{} shop
sshpass -p {} ssh kim@host
docker login -u kim -p {} ghcr.io
PGPASSWORD={} psql -h db
password = "{}"
curl -u admin:{} https://example.com
machine api.example.com login kim password {}
""".strip().splitlines()
_PASSWORDS = ("hunter2!x", "correcthorse", "Tr0ub4dor&3", "swordfish", "letmein99", "s3cr3t", "p@ss4shop", "opensesame")

HARD = r"""
pw swordfish99
we said swordfish99 on the phone
PIN 4711 opens it
""".strip().splitlines()

FALSE = r"""
I forgot my password, and the token count is {number}
password: string; token = next(tokens)
AssertionError: password must be at least 8 characters
api_key=$API_KEY and api_key: <your key here>
commit {sha} on main
session {uuid}
sha256:{hash}
etag: "{sha}"
cache_key = user_profile_page_{number}
integrity sha512-{integrity}==
index {short}..{short} 100644
resolved "https://x.org/a/-/a-1.0.tgz#{sha}"
access_key: item1_shop22_page{number}_user4444
token := config.Deploy2024TokenValueLong
data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ
max_tokens={number} total_tokens: {number}
postgres://app:$DB_PASS@db/shop
postgres://app:${{DB_PASS}}@db/shop
postgres://localhost/shop
http://localhost:8080/a?x={number}
x = 1; password = getpass(); user = name
password=<password>; server=db
for key, secret in secrets.items():
git@github.com:acme/shop.git
https://medium.com/@some-long-user-name-1
docker run -p 8080:80 web; mkdir -p backup
def test_token_is_refreshed_after_{number}_seconds
sk-learn-style-pipelines-for-everyone
token_file: /run/secrets/deploy_token_1
use Bearer authentication, or Basic auth
secret_dir = /opt/{short}/store
x = tokenize(source_code_{number})
E   assert token.kind == 'NAME_{number}'
npm_config_yes=true npx jest
goroutine {number} [running]: main.main()
the login and password are wrong; login with password instead
keys: ["a1", "b2"], secretName: shop-tls-{number}
PASSWORD_HASHERS = ['django.contrib.auth.hashers.PBKDF2PasswordHasher']
<input type=password name=password autocomplete=off>
kubectl create secret generic shop --from-file=./key
go.sum: h1:{integrity}=
AKIA is how they begin, ghp_ and xoxb- too
password = getPassword
password = newUserPassword;
token = NextTokenFromInput
passwordHash = HashOfTheOldOne
const firstPass = "parse-step-1"; secondPass = 'resolve_names_2'
bypass = "never2024"; onPass: "run-{number}"
curl -b cookies.txt -c cookies.txt https://x.org
redis-cli -a $REDIS_PASSWORD ping; redis-cli -p 6379 --pass "$PW"
password=%s and password=%(password)s and %PASSWORD%
cfg-https:__github.com_acme_shop@v{number}.txt
the longest names begin with npm_config_registry
see github_pat_ or sk-ant-
""".strip().splitlines()


def true_samples(rounds: int = 5) -> Iterator[Sample]:
    """Secrets of every kind in every surrounding, ``rounds`` different ones of each."""
    for seed in range(rounds):
        draw = _Draw(seed)
        for kind, make in SHAPES.items():
            for around in _AROUND:
                secret = make(draw)
                yield Sample(kind, around.format(secret), secret)
        for text in NAMED:
            secret = draw.key()
            yield Sample("behind a name", text.format(secret), secret)
        for text in CHOSEN:
            secret = _PASSWORDS[seed % len(_PASSWORDS)]
            yield Sample("in a connection", text.format(secret), secret)
        for text in LETTERS:
            secret = _LETTERS[seed % len(_LETTERS)]
            yield Sample("of letters alone", text.format(secret), secret)
        for text in STRONG:
            secret = _STRONG[seed % len(_STRONG)]
            yield Sample("behind a short name", text.format(secret), secret)


def false_samples(rounds: int = 5) -> Iterator[Sample]:
    """Texts that only look like it."""
    for seed in range(rounds):
        draw = _Draw(1000 + seed)
        sha = draw.of(_HEX, 40)
        values = {
            "number": str(draw.of(string.digits, 5)),
            "sha": sha,
            "short": sha[:7],
            "hash": draw.of(_HEX, 64),
            "integrity": draw.of(_ALNUM + "+/", 86),
            "uuid": f"{sha[:8]}-{sha[8:12]}-4{sha[13:16]}-a{sha[17:20]}-{sha[20:32]}",
        }
        yield from (Sample("no secret", text.format(**values)) for text in FALSE)


def hard_samples() -> Iterator[Sample]:
    """Secrets that nothing gives away."""
    for text in HARD:
        yield Sample("without a sign", text, next(word for word in text.split() if word[-1:].isdigit()))
