"""An editor's diagnostics: what a language server says of the files.

A tool asks for them, or the editor sends them along unasked. Only errors count: hints and suggestions are no failures.
Tools answer with JSON (a list of files with their ``diagnostics``) or say in one sentence that there is nothing.

>>> read_diagnostics('[{"uri": "a.py", "diagnostics": []}]').passed
True
>>> found = '[{"uri": "a.py", "diagnostics": [{"message": "undefined: fmt", "severity": "Error"}]}]'
>>> read_diagnostics(found).findings[0].family
'undefined name'
"""

from __future__ import annotations

import json
import re

from helix_episodes.extraction.checks.compilers import compile_family
from helix_episodes.extraction.checks.model import ReportedLine, Verdict, grouped, quoted
from helix_episodes.lightweight import Regex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any


#: The name of the check, whichever editor or server it is.
DIAGNOSTICS = "diagnostics"
_TOOL = Regex(r"diagnostic|read_?lints|get_?errors|get_?problems", re.IGNORECASE)
_NOTHING = Regex(r"\s*(?:there are )?no (?:\w+ ){0,2}(?:diagnostics|errors|problems|issues|lints?)\b", re.IGNORECASE)
#: As words, and as the language server protocol numbers them.
_SEVERE = frozenset({"error", "1"})
#: Families of findings whose wording says no more than that something is wrong.
_VAGUE = frozenset({"does not compile"})


def reports_diagnostics(tool: str | None) -> bool:
    """Whether a tool of that name asks the editor for its diagnostics.

    >>> reports_diagnostics("mcp__ide__getDiagnostics"), reports_diagnostics("Read")
    (True, False)
    """
    return bool(tool and _TOOL.search(tool))


def read_diagnostics(text: str, *, scope: tuple[str, ...] = ()) -> Verdict:
    """The editor's verdict in a text; ``passed`` is None when it is neither a list nor says that there is nothing."""
    try:
        listed = json.loads(text)
    except ValueError:
        reports, passed = [], True if _NOTHING.match(text) else None
    else:
        reports = list(_reports(listed))
        passed = not reports
    return Verdict(
        check=DIAGNOSTICS, kind="lint", passed=passed, findings=grouped(reports), quote=quoted(text), scope=scope
    )


def _reports(value: Any, path: str | None = None) -> Iterator[ReportedLine]:  # noqa: ANN401  (any JSON)
    """The severe diagnostics in a list of files, or of diagnostics."""
    if isinstance(value, list):
        for part in value:
            yield from _reports(part, path)
    elif isinstance(value, dict):
        place = next((str(value[name]) for name in ("uri", "filePath", "path", "file") if value.get(name)), path)
        if isinstance(value.get("message"), str) and str(value.get("severity", "error")).lower() in _SEVERE:
            yield ReportedLine(
                family=family_of_diagnostic(value["message"], value.get("code")),
                message=value["message"],
                path=place.removeprefix("file://") if place else None,
            )
        for name in ("diagnostics", "files"):
            yield from _reports(value.get(name), place)


def family_of_diagnostic(message: str, code: object = None) -> str:
    """The kind of slip a diagnostic names, else the rule's own code."""
    family = compile_family(message)
    if family not in _VAGUE:
        return family
    return str(code) if isinstance(code, str | int) and code else "editor's diagnostic"
