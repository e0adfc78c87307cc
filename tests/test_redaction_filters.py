"""Whether redaction's filters leave out only what finds nothing: with and without them the same is cut."""

from __future__ import annotations

from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

import helix_episodes.redaction
from helix_episodes.redaction import redact, redact_beginning, without_secrets
from helix_episodes.redaction.rule_matching import Sieve, SiftedText, Vocabulary

KEY = "n746EfvoDAvz0JqcubFf"
#: What secrets and their look-alikes are made of: names, what hands over a value, values, and what is around them.
WORDS = (
    "password", "Passwort", "passwd", "token", "api_key", "apiKey", "secret", "pin code", "PIN", "session", "auth",
    "credentials", "passe", "mot de passe", "пароль", "contraseñ", "key", "KEY", "_session", "login", "pwd", "phrase",
    "the", "is", "was", "of", "value", "name=", "name", "BEGIN", "curl", "-u", "-p", "--token", "echo", "openssl rand",
    "ghp_0123456789abcdefghijABCDEFGHIJ012345", "AKIAQ3EGRV7ZT5NPLMWB", "glpat-", "xoxb-123456789012-abcDEF", "sk-",
    KEY, "hunter2", "Linen^692pickle", "correct horse battery", "w4lnu7Kf1ddl", "123456", "0123-4567", "sha256",
    "https://kim:" + KEY + "@example.com/x", "://", "user", "postgres", "/home/kim/shop",
    "toolu_01EQJcg54UvnaiWHPx8aY2SJ",
)  # fmt: skip
SIGNS = (
    " ",
    "  ",
    "=",
    ": ",
    ":",
    "\n",
    ":\n",
    '"',
    "'",
    "`",
    ", ",
    " -> ",
    " | ",
    "\t",
    "\\n",
    "→",
    "“",
    "$ ",
    "# ",
    "_",
    "-",
)
TEXTS = st.lists(st.sampled_from((*WORDS, *SIGNS, *SIGNS)), min_size=1, max_size=14).map("".join)


def all_rules(*_: object) -> list[tuple[int, list[str]]]:
    """Every rule with all its needles, as if the filter let everything pass."""
    return [(number, list(rule.needles)) for number, rule in enumerate(helix_episodes.redaction._RULES)]


@given(TEXTS)
def test_rules_find_the_same_without_the_filter_before_them(text: str) -> None:
    found = redact(text)
    with mock.patch.object(Sieve, "passed_by", all_rules):
        assert redact_afresh(text) == found


@pytest.mark.parametrize(
    "text",
    [
        f"amqp://{'kim' * 33}:w4lnu7/{KEY * 59}@mq.example.com/shop",
        f"https://{'kim' * 33}:{KEY * 9}@example.com/shop",
        f"https://{KEY * 12}@example.com/shop",
        f"https://{KEY}:x-oauth-basic@example.com/shop",
        f"'redis://kim:{KEY}@'",
        f"https://{KEY}@o1.ingest.sentry.io/2",
        f"https://{'example.com/' * 9}v1/{KEY}{KEY}",
        f"https://{'example.com/' * 15}reset/{'kim/' * 2}private-{KEY}",
        f"http -a kim:{KEY} :8080/cart",
        f"['https', '--auth', 'kim:{KEY}', 'example.com']",
    ],
)
def test_an_address_is_cut_at_whatever_length_its_rule_allows(text: str) -> None:
    """What must follow a needle is no shorter than what the rule's expression looks for."""
    assert KEY not in redact(text).text
    assert KEY not in redact("a line of the log\n" * 100 + text).text


@given(TEXTS)
def test_lines_that_announce_a_value_are_seen_without_the_test_before_the_expression(text: str) -> None:
    found = redact(text)
    module = "helix_episodes.redaction.unnamed_secrets"
    with (
        mock.patch(f"{module}._may_announce", return_value=True),
        mock.patch(f"{module}._may_print", return_value=True),
    ):
        assert redact_afresh(text) == found


@given(st.text(st.characters(codec="utf-8"), max_size=40))
def test_a_text_in_small_letters_is_the_same_whichever_way_it_is_made(text: str) -> None:
    lowered = text.lower()
    if len(lowered) == len(text):
        assert SiftedText(text, Vocabulary((), ())).lowered == lowered


@pytest.mark.parametrize("cut", [0, 1, 4000])
def test_a_beginning_is_cut_as_the_whole_is(cut: int) -> None:
    long = f"token = {KEY}\nsee /home/kim/shop/cart.py\n" + "a plain line of output\n" * 400
    clean = without_secrets(long)
    assert KEY not in clean
    assert without_secrets(clean) == clean  # from here on it is known to have no secret
    assert redact_beginning(clean, len(clean) - cut - 1).startswith("token = [redacted:secret]\nsee ~/shop/cart.py\n")


def test_a_beginning_of_a_text_that_nobody_looked_at_is_redacted() -> None:
    assert KEY not in redact_beginning(f"token = {KEY}\n" + "another line of output\n" * 500, 4000)


def redact_afresh(text: str) -> helix_episodes.redaction.Redacted:
    """As `redact`, with nothing remembered."""
    helix_episodes.redaction._FREE_OF_SECRETS.clear()
    return redact(text)


@pytest.mark.parametrize("secret", ["ghp_0123456789abcdefghijABCDEFGHIJ012345", "AKIAQ3EGRV7ZT5NPLMWB"])
def test_a_secret_with_which_a_long_text_begins_is_cut(secret: str) -> None:
    """Of a long text only the lines around what a secret begins with are looked at."""
    assert secret not in without_secrets(f"{secret}\n" + "a line of the log\n" * 1000)
