"""Before an edit: why a file is fragile, in one line, once a session and file."""

from __future__ import annotations

import os

from helix_cli.hooks.context_block import ContextLine, ContextSection
from helix_graph.causality.antipattern_cache import fragile_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

    from helix_cli.hooks.call import HookCall
    from helix_cli.hooks.session_dedup import SessionDedup


#: The tools that change a file, by the agents' names for them, in lower case without signs.
_EDITING = frozenset(
    (
        "edit",
        "multiedit",
        "write",
        "notebookedit",
        "create",
        "replace",
        "writefile",
        "strreplaceeditor",
        "searchreplace",
    )
)
_PATHS = ("file_path", "filePath", "path", "notebook_path", "target_file")


def fragile_section(call: HookCall, root: Path, dedup: SessionDedup) -> ContextSection:
    """The line of the file that is about to be changed, if there is one and the session has not had it."""
    path = _edited(call, project=root.parent)
    line = fragile_line(root, path) if path else ""
    lines = [ContextLine(line) for _ in dedup.take([f"fragile {path}"])] if line else []
    return ContextSection(f"Checks failed more often after changes of {path}:" if lines else "", lines)


def _edited(call: HookCall, *, project: Path) -> str:
    """The file, relative to the project; empty where none of the project is changed."""
    if "".join(sign for sign in call.tool.casefold() if sign.isalnum()) not in _EDITING:
        return ""
    named = next((value for name in _PATHS if isinstance(value := call.arguments.get(name), str) and value), "")
    if not named:
        return ""
    whole = os.path.abspath(named if named.startswith("/") else f"{call.cwd or project}/{named}")  # noqa: PTH100  (links stay)
    for folder in (str(project), call.cwd):  # another work tree of the same repository shares the memory
        if folder and whole.startswith(f"{folder}/"):
            return whole.removeprefix(f"{folder}/")
    return ""
