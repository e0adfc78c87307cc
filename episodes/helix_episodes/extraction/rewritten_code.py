"""Whether code that was written anew repairs the code that failed.

Agents that hand code to a terminal write the whole of it again after an error, and what goes well then need not be a
repair. It is none where the code does without what the error names, where it no longer makes what the failing line was
to make, or where all that it printed are words that it has for the case that it does not get there.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from helix_episodes.extraction.calls import lines_of_code, materials_of
from helix_episodes.extraction.paths import file_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from helix_episodes.extraction.calls import ParsedCall
    from helix_episodes.model import Event

#: What code raises that uses a name which nothing has.
_UNDEFINED = frozenset({"NameError", "UnboundLocalError"})
_QUOTED_WORD = re.compile(r"[`'\"\u2018\u201c]([^`'\"\s\u2019\u201d]+)[`'\"\u2019\u201d]")
_MODULE = re.compile(r"^\s*(?:import|from) ([\w.]+)", re.MULTILINE)
#: A line of a traceback that quotes the source, below the place that it is from.
_RAISING = re.compile(r'^ *File "[^"]*", line \d+.*\n +(\S.*)$', re.MULTILINE)
#: What a line makes: ``rows = …``, ``rows: list = …``.
_MADE = re.compile(r"([A-Za-z_]\w*)\s*(?::[^=]+)?=(?!=)")
#: What begins the way that is taken when something is not there or did not work, and what that way prints.
_INSTEAD = re.compile(r"\s*(?:else|except\b.*):")
_PRINTED = re.compile(r"\s*print\(f?(?P<quote>['\"])(?P<words>[^'\"{}]+)(?P=quote)\)")


def goes_without(call: ParsedCall, failed: ParsedCall, error: Event) -> bool:
    """Whether code does without the file, the address or the name that an error names, or makes something else."""
    message = error.message or ""
    done = "\n".join(lines_of_code(call))
    used = {one if "://" in one else file_name(one) for one in materials_of(failed) if one in message}
    undefined = _QUOTED_WORD.findall(message) if error.family in _UNDEFINED else ()
    if not all(one in done for one in (*used, *undefined)):
        return True
    # What made-up data replaces is gone together with the module that reads it.
    if _sources_of(failed) and not _sources_of(call) and _modules_of(failed) - _modules_of(call):
        return True
    made = _made_by_failing_line(failed)
    return made is not None and re.search(rf"\b{made}\b", done) is None


def _sources_of(call: ParsedCall) -> set[str]:
    """The files and addresses that code names; a longer text is none."""
    return {one for one in materials_of(call) if " " not in one}


def _modules_of(call: ParsedCall) -> set[str]:
    return set(_MODULE.findall(str(call.step.arguments.get("code") or "")))


def _made_by_failing_line(failed: ParsedCall) -> str | None:
    """The name that the failing line was to give a value, by the first line of the traceback that is of this code."""
    own = lines_of_code(failed)
    raising = next((line for found in _RAISING.finditer(failed.output) if (line := found[1].strip()) in own), "")
    made = _MADE.match(raising)
    return made[1] if made else None


def gives_up(call: ParsedCall, failed: ParsedCall) -> bool:
    r"""Whether all that code printed are words for the case that it does not get there, which the failed code had not.

    >>> list(_words_instead("if rows:\n    print('saved')\nelse:\n    print('no rows')"))
    ['no rows']
    """
    printed = [line.strip() for line in call.output.splitlines() if line.strip()]
    instead = set(_words_instead(str(call.step.arguments.get("code") or "")))
    before = str(failed.step.arguments.get("code") or "")
    return bool(printed) and all(line in instead and line not in before for line in printed)


def _words_instead(code: str) -> Iterator[str]:
    """The words that code prints in the branches that begin with ``else`` or ``except``."""
    depth: int | None = None
    for line in code.splitlines():
        indent = len(line) - len(line.lstrip())
        if depth is not None and line.strip() and indent <= depth:
            depth = None
        if _INSTEAD.match(line):
            depth = indent
        elif depth is not None and (found := _PRINTED.match(line)):
            yield found["words"].strip()
