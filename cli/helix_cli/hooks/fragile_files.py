"""Before an edit: why a file is fragile, in one line, once a session and file."""

from __future__ import annotations

import os

from helix_cli.hooks.context_block import ContextLine, ContextSection
from helix_episodes.light_imports import Regex
from helix_graph.causality.antipattern_cache import fragile_line
from helix_graph.insights.safe_quoting import label_or_quoted, logged_name_or_quoted

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
#: A run after which a check passed again, as `FragilePlace.sentence` has it.
_RUN = Regex(r"(?<=a run of )(.+?)(?= \(\d+ of \d+\))")
_PATHS = ("file_path", "filePath", "path", "notebook_path", "target_file")


def fragile_section(call: HookCall, root: Path, dedup: SessionDedup) -> ContextSection:
    """The line of the file that is about to be changed, if there is one and the session has not had it."""
    path = _edited(call, project=root.parent)
    line = fragile_line(root, path) if path else ""
    lines = [ContextLine(_with_names_quoted(line)) for _ in dedup.take([f"fragile {path}"])] if line else []
    heading = f"Checks failed more often after changes of {logged_name_or_quoted(path)}:" if lines else ""
    return ContextSection(heading, lines)


def _with_names_quoted(line: str) -> str:
    """The line with the names of checks and files, which a log chose, quoted where they read as sentences."""
    check, failed, rest = line.partition(" failed in ")
    runs = _RUN.split(rest)  # every second is what was run
    parts = [label_or_quoted(part) if place % 2 else _words_quoted(part) for place, part in enumerate(runs)]
    return f"{label_or_quoted(check)}{failed}{''.join(parts)}"


def _words_quoted(text: str) -> str:
    return " ".join(logged_name_or_quoted(word) if word else "" for word in text.split(" "))


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
