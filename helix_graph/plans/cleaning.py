"""Secrets go out of what agents hand in, before it is kept."""

from __future__ import annotations

from typing import Any

from helix_episodes.redaction import redact_text


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
