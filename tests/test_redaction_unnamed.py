"""Is a secret cut that no name precedes, and does evidence that looks alike stay?"""

from __future__ import annotations

import base64
import random
import string
from typing import TYPE_CHECKING

from helix_episodes.redaction import redact, redact_text
from whole_tables import each_row

if TYPE_CHECKING:
    from collections.abc import Callable

_DRAW = random.Random(16)  # noqa: S311  (repeatable, not secret)
_SIGNS = string.ascii_letters + string.digits


def key(size: int = 40) -> str:
    """A key of letters of both cases and digits, as services make them."""
    return "aB3" + "".join(_DRAW.choices(_SIGNS, k=size - 6)) + "7Xq"


def password() -> str:
    return "-".join(("Linen", f"{_DRAW.randrange(100, 999)}pickle"))


ALONE: dict[str, Callable[[], tuple[str, str]]] = {
    "a bare key": lambda: ("It printed this:\n{}\nand stopped.", key()),
    "behind an unknown prefix": lambda: ("export X; acmekey_{} was used", key()),
    "in a list": lambda: ('const K = ["{}", "b"]', key(32)),
    "an argument by position": lambda: ("mc alias set shop https://s3.acme.io admin {}", key(32)),
    "in base64": lambda: ("echo {} | base64 -d", base64.b64encode(f"DB_PASSWORD={password()}".encode()).decode()),
    "in base32": lambda: ("Enter this in your app: {} now", "JBSW4Y3DPEHPK3PXQZKV7MNWT2XGFRLC"),
    "after a sign": lambda: ("x = open(db, 'Ivory!728diamond{}')", "Ivory!728diamond"),
    "a line that speaks of it": lambda: ("use {} as the password", password()),
    "twelve letters of both cases": lambda: ("use {} as the password", "zerJeUebOasW"),
    "before its name": lambda: ("{} is still the password of the replica", password()),
    "the line below": lambda: ("Please use the following password to proceed:\n\n{}\n", key(16)),
    "below a command": lambda: ("$ printenv STRIPE_SECRET\n{}\n", key(16)),
    "in full-width letters": lambda: ("\uff50\uff41\uff53\uff53\uff57\uff4f\uff52\uff44: {}", key(14)),
    "with a Cyrillic letter": lambda: ("p\u0430ssword: {}", key(14)),
    "in the codes of an address": lambda: ("next=https%3A%2F%2Fx.io&q=password%3D{}", key(14)),
    "without quotes": lambda: ("passphrase: {}", "amber falcon lemon"),
    "with a blank in quotes": lambda: ('mysql -u app -p"{}" shop', "amber falcon"),
    "after a login, with a blank": lambda: ('curl -u "bob:{}" https://x.io', "amber falcon"),
    "with an escaped blank": lambda: ("PASSWORD={}", "amber\\ falcon"),
    "in a document of the shell": lambda: ("docker login --password-stdin <<EOF\n{}\nEOF", key(14)),
    "in a block of YAML": lambda: ("password: |\n  {}\n", key(14)),
    "short, behind a header": lambda: ("X-Auth-Token: {}", "k9Xr2Lm4Qw"),
    "short, behind a name in small letters": lambda: ("apikey: {}", "k9Xr2Lm4Qw"),
}


@each_row("kind", ALONE)
def test_a_secret_without_a_name_is_cut(kind: str) -> None:
    template, secret = ALONE[kind]()
    assert secret not in redact_text(template.format(secret))


@each_row(
    "evidence",
    [
        "toolu_01EQJcg54UvnaiWHPx8aY2SJ failed, see msg_01YMf7EMPNwWxcSEj4JyCzCU",
        "episode-ses_df91cb32affeY17mJCEQkgDlGr",
        'integrity "sha512-RKMn3QKi8nE71ULUo0gMBvq1N4icEBo7cQSKnL3URZT16dPGzQ1r7kWlXcV9aB3xYw=="',
        '"node_id": "MDQ6VXNlcjE2NDg2MTI4", "id": "PRRC_kwDOQyo98M6jP0BC"',
        "/private/var/folders/6m/23f_80p95q79kmhpm8_w50340000gn/T/tmp.Szd70ttlwc/mise.toml",
        'Etag: W/"aB3dE5fG7hJ9kL1mN3pQ"',
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ8sQ3kVn5rT7wXz9aBcDeFgHiJkLmNoPqRsTuVwXyZ0 kim@laptop",
        "https://docs.example.com/document/d/1BxiMVs0XRA5nFMdKvBdBZjgmUUqptlbs74OgvE2upms/edit",
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4",
        "use actions/checkout@v4 with token permissions, PostgreSQL 16",
        "commit 9c091bb21b7c1c1d1991bb908d89e4e9dddfe3e0 changes the token parser (mise#10069)",
        "identified by strategy in metadata, the password is checked by getEnvApiKey",
        "arn:aws:secretsmanager:eu-central-1:788592383365:secret:shop/db-AbCdEf",
        "postgres://user:password@localhost:5432/dbname",
        'export DB_PASSWORD="${DB_PASSWORD:?is not set}"',
    ],
)
def test_ids_hashes_paths_and_code_stay(evidence: str) -> None:
    assert redact(f"It says {evidence}.").cuts == ()


def test_what_is_encoded_is_cut_only_where_it_hides_a_secret() -> None:
    harmless = base64.b64encode(b"The build has finished in 12 seconds.").decode()
    assert redact(f"X-Status: {harmless}").cuts == ()


def test_a_mark_is_never_cut_again() -> None:
    once = redact_text("htpasswd -b -B .htpasswd eva 'Puzzle-175island'")
    assert "[redacted:passw[" not in once
    assert redact_text(once) == once
