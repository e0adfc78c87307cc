"""E-mail addresses, which are cut only where a person asks for it (``cut: emails`` in ``.helixignore``).

They are no secrets, and often evidence: an author, a bounced mail. So they go before anything is read out of a session,
not with the secrets, which are always cut. Addresses of machines stay: ``git@github.com:acme/shop`` is a remote.

>>> without_addresses("write to kim@example.com, clone git@github.com:acme/shop.git")
'write to [redacted:email], clone git@github.com:acme/shop.git'
"""

from __future__ import annotations

from helix_episodes.redaction.rules import compiled

#: What stands in an address's place.
ADDRESS = "[redacted:email]"
# Local part and host as people have them (RFC 5321 allows 64 and 255), ending in a name of letters; behind a colon
# without a blank the whole is the remote of a repository. The look behind keeps the search from trying every letter.
_IN_TEXT = (
    r"(?<![\w.%+/:-])(?!git@)[\w%+-][\w.%+-]{0,63}@(?!\d+\.\d)(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24}"
    r"(?![\w-]|\.\w|:[\w/~])"
)
_IN_LINK = r"(?<=mailto:)[\w%+-][\w.%+-]{0,63}@(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24}"


def without_addresses(text: str) -> str:
    """The text with every e-mail address replaced by its mark."""
    if "@" not in text:
        return text
    return compiled(_IN_LINK).sub(ADDRESS, compiled(_IN_TEXT).sub(ADDRESS, text))
