"""Redaction: secrets and home folders are cut from a text before it is written anywhere.

Secrets are known by the shape of their *value* (:mod:`shapes`: a prefix that a service gives its keys, a signed token's
three parts, a key block's frame), by the place where a connection is made (:mod:`connections`: a password within an
address, a connection string), or by the look of chance behind a telling name such as ``api_key =`` (:mod:`names`,
:mod:`chance`). The telling name alone is nothing: "forgot password" is a sentence, ``token = next(tokens)`` is code,
and git hashes, UUIDs, paths and pictures are evidence that must stay. :mod:`homes` cuts the owners of home folders,
:mod:`emails` addresses where a person asks for it, and :mod:`report` says what was cut and where, never the value.

>>> redact_text("export GITHUB_TOKEN=ghp_0123456789abcdefghijABCDEFGHIJ012345")
'export GITHUB_TOKEN=[redacted:github-token]'
>>> redact_text("see /home/kim/shop/cart.py, the password is wrong")
'see ~/shop/cart.py, the password is wrong'

Every pattern is bounded, so the time grows with the length of the text and not faster; texts without any of the literal
beginnings are passed on after a few searches for plain strings. Redacting twice changes nothing.
"""

from __future__ import annotations

from helix_episodes.redaction.redactor import (
    ADDRESS,
    CutIn,
    Redacted,
    cuts_in,
    redact,
    redact_text,
    redacted_session,
    without_addresses,
    without_emails,
    without_secrets,
)
from helix_episodes.redaction.rules import Cut

__all__ = [
    "ADDRESS",
    "Cut",
    "CutIn",
    "Redacted",
    "cuts_in",
    "redact",
    "redact_text",
    "redacted_session",
    "without_addresses",
    "without_emails",
    "without_secrets",
]
