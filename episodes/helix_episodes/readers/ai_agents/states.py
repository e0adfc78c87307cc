"""States: words that say that something is over, and how, and nothing of what it was."""

from __future__ import annotations

import re
from typing import Literal

_BARE_STATE = re.compile(
    r"^\W*(complete[d]?|done|success(ful)?|pass(ed)?|ok|pending|in progress|n/?a|none|yes|no|true|false|start(ed)?|end|"
    r"fail(ed|ure)?|partial|accepted|approved|rejected|confirmed)\W*$",
    re.IGNORECASE,
)
_SUCCESS = re.compile(r"\b(complete[d]?|done|success\w*|pass(ed|ing)?|shipped|merged|resolved)\b|\u2705", re.IGNORECASE)
_PARTIAL = re.compile(r"\b(partial\w*|in[ _-]progress|blocked|incomplete|pending|ongoing|wip|paused)\b", re.IGNORECASE)
_FAILURE = re.compile(r"\b(fail\w*|abort\w*|abandon\w*|error)\b", re.IGNORECASE)

_GOES_ON = re.compile(r"^\W*(?:in[ _-]progress|ongoing|wip|started|active)\W*$", re.IGNORECASE)

Declared = Literal["success", "partial", "failure"]


def is_bare_state(text: str) -> bool:
    """Whether a text only says that something is over, or not.

    >>> is_bare_state("✅ Complete"), is_bare_state("Branch created")
    (True, False)
    """
    return not text.strip() or _BARE_STATE.match(text) is not None


def goes_on(status: str) -> bool:
    """Whether a status only says that the work goes on, as the head of a log does until somebody mends it.

    >>> goes_on("In Progress"), goes_on("In progress: two tests still fail")
    (True, False)
    """
    return _GOES_ON.match(status) is not None


def declared_by_words(status: str) -> Declared | None:
    """The outcome that a status declares, or None when it declares none.

    >>> declared_by_words("\u2705 COMPLETE"), declared_by_words("In Progress"), declared_by_words("filed")
    ('success', 'partial', None)
    """
    declared: tuple[tuple[Declared, re.Pattern[str]], ...] = (
        ("partial", _PARTIAL),
        ("failure", _FAILURE),
        ("success", _SUCCESS),
    )
    return next((outcome for outcome, pattern in declared if pattern.search(status)), None)
