"""Whose words a text is, and whether they were read already.

The same message may stand in a rollout as the model's item, as the program's event and as a completed item of a newer
kind. And what stands under the user's role is often the program's: the project's rules, the environment, a reminder.
"""

from __future__ import annotations

import re
from collections import Counter

# Texts that the program puts under the user's role: an element, or the project's rules under their heading.
_INJECTED = re.compile(r"\s*(<[a-zA-Z][\w-]*(?: [^<>\n]{0,200})?>|# AGENTS\.md instructions\b)")
_INJECTED_KINDS = frozenset({"user_instructions", "environment_context"})
# What an editor puts before the words themselves.
_REQUEST = re.compile(r"^## My request for Codex:[ \t]*\n", re.MULTILINE)


class Twins:
    """Tells a text's first copy from those that other kinds of record hold."""

    def __init__(self) -> None:
        self._seen: Counter[tuple[str, str, str]] = Counter()
        self._taken: Counter[tuple[str, str]] = Counter()

    def is_new(self, kind: str, text: str, *, by: str) -> bool:
        """Whether this is more than what the records of another kind already said.

        >>> twins = Twins()
        >>> [twins.is_new("message", "Done.", by=by) for by in ("item", "event", "event")]
        [True, False, True]
        """
        self._seen[kind, text, by] += 1
        if self._seen[kind, text, by] <= self._taken[kind, text]:
            return False
        self._taken[kind, text] += 1
        return True

    def was_taken(self, kind: str, text: str) -> bool:
        """Whether any record said this."""
        return self._taken[kind, text] > 0


def is_injected(text: str, *, kind: object = None) -> bool:
    """Whether the program wrote this under the user's role.

    >>> is_injected("<environment_context><cwd>/srv</cwd>"), is_injected("why is x < y here?")
    (True, False)
    """
    return kind in _INJECTED_KINDS or _INJECTED.match(text) is not None


def typed(text: str) -> str:
    r"""What the person typed, without what an editor tells of its open files.

    >>> typed("# Context from my IDE setup:\n\n## My request for Codex:\nfix it")
    'fix it'
    """
    return _REQUEST.split(text)[-1].strip()
