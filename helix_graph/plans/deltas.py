r"""Deltas: which files a task may change.

A delta names files, folders, or shapes of names, from the tree's root on: ``src/auth.py``, ``tests``, ``src/**/*.py``.
A star stays within a folder; two of them reach into any depth. Brackets are letters, since file names have them.

>>> [within("src/**/*.py", path) for path in ("src/app.py", "src/a/b.py", "src/app.js", "lib/src/app.py")]
[True, True, False, False]
>>> [within("./src//auth/", path) for path in ("src/auth/app.py", "src2/auth/app.py")]
[True, False]
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from helix_graph.plans.changes import Change

_SPECIAL = re.compile(r"\*\*/|\*\*|\*|\?")
_MEANING = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
_ABSOLUTE = re.compile(r"[/\\]|[A-Za-z]:[/\\]")
_SLASHES = re.compile(r"[/\\]")


def outside(delta: Iterable[str], changes: Iterable[Change]) -> tuple[str, ...]:
    """The changed files that no part of the delta names."""
    allowed = tuple(delta)
    return tuple(one.path for one in changes if not any(within(part, one.path) for part in allowed))


def within(part: str, path: str) -> bool:
    """Whether a part of a delta names a file, or a folder that it lies in."""
    return _expression(part).fullmatch(path) is not None


def never_matches(part: str) -> str:
    r"""Why a part of a delta can name no file of any working tree; empty when it can.

    >>> never_matches("src/auth.py"), never_matches("src/..auth.py")
    ('', '')
    >>> never_matches("C:\\shop")
    'is absolute; name files from the root of the working tree on'
    """
    if _ABSOLUTE.match(part):
        return "is absolute; name files from the root of the working tree on"
    if ".." in _SLASHES.split(part):
        return "has '..' in it; name files from the root of the working tree on"
    return ""


@lru_cache(maxsize=256)
def _expression(part: str) -> re.Pattern[str]:
    plain = "/".join(name for name in _SLASHES.split(part) if name not in {"", "."})
    if not plain:
        return re.compile(".*", re.DOTALL)
    pieces, at = [], 0
    for special in _SPECIAL.finditer(plain):
        pieces += [re.escape(plain[at : special.start()]), _MEANING[special[0]]]
        at = special.end()
    return re.compile("".join([*pieces, re.escape(plain[at:]), "(?:/.*)?"]), re.DOTALL)
