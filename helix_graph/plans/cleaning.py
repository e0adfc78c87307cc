"""What agents hand in, before it is kept: without secrets, and on one line where it has to stay on one."""

from __future__ import annotations

import unicodedata
from typing import Any

from helix_episodes.redaction import redact_text

#: Format characters and halves of characters: they show nothing, and may turn round how a line reads.
_SHOWS_NOTHING = frozenset({"Cf", "Cs"})


def clean(value: Any) -> Any:  # noqa: ANN401  (JSON)
    """A JSON value whose texts and keys hold no secrets and no half characters.

    >>> clean({"note": ["see /home/kim/shop"]})
    {'note': ['see ~/shop']}
    """
    if isinstance(value, str):
        return redact_text(value.encode("utf-8", "replace").decode())
    if isinstance(value, dict):
        return {clean(str(key)): clean(each) for key, each in value.items()}
    return [clean(each) for each in value] if isinstance(value, list | tuple) else value


def flat(text: str) -> str:
    r"""On one line, and nothing in it that cannot be seen.

    >>> flat("a\u2028b\x1b[31m\u202ec")
    'a b [31mc'
    """
    shown = (one for one in text if unicodedata.category(one) not in _SHOWS_NOTHING)
    return " ".join("".join(" " if unicodedata.category(one) == "Cc" else one for one in shown).split())
