"""SWE-agent's commands in our words.

The agent types into a shell that has a few commands more: a window on one open file (``open``, ``goto``,
``scroll_down``), searches, and an ``edit`` of the open file. An ``edit`` has had three forms: a range of lines with the
new text down to ``end_of_edit``, the same at the cursor, and the old and the new text as two words. Every other line is
a shell command.
"""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

from helix_episodes.readers.vocabulary import Translation, editor

if TYPE_CHECKING:
    from collections.abc import Callable

    Words = list[str]

_LOOKS = frozenset(
    {"open", "goto", "scroll_up", "scroll_down", "search_dir", "search_file", "find_file", "set_cursors"}
)
_EDIT_LINES = re.compile(r"edit(?:[ \t]+\d+:\d+)?[ \t]*\n(.*?)\n?(?:end_of_edit\s*)?\Z", re.DOTALL)
_SUBMITS = frozenset({"submit", "exit_forfeit", "exit"})
#: The interface's own sentences on a command that did nothing; each stands first.
_REFUSED = (
    "Your proposed edit has introduced new syntax error(s)",
    "Your edit was not applied",
    "No replacement was performed",
    "No file open",
    "No file is open",
    "Text not found",
    "Usage: ",
    "Error: ",
    "File not found:",
    "Wrong flag!",
)
#: The environment's words on a command that it stopped.
_STOPPED = ("EXECUTION TIMED OUT", "COMMAND TIMED OUT")


def translate_action(action: str, *, opened: str | None) -> tuple[str, Translation]:
    r"""The tool that a typed line names, and what it stands for; ``opened`` is the file in the window.

    >>> translate_action("edit 4:4\nx = 1\nend_of_edit", opened="/repo/a.py")
    ('edit', Translation(operation='edit', arguments={'path': '/repo/a.py', 'old': '', 'new': 'x = 1'}))
    >>> translate_action("edit 'x = 1' 'x = 2'", opened="/repo/a.py")[1].arguments["old"]
    'x = 1'
    >>> translate_action("pytest -q", opened=None)
    ('shell', Translation(operation='run', arguments={'command': 'pytest -q'}))
    """
    action = action.strip()
    tool = action.split(maxsplit=1)[0] if action else ""
    handle = _COMMANDS.get(tool)
    if handle is not None:
        return tool, handle(action, _words(action), opened or "")
    if tool in _LOOKS:
        return tool, _look(tool, _words(action), opened or "")
    if tool in _SUBMITS:
        answer = action.removeprefix(tool).strip()
        return tool, Translation("use", {"answer": answer} if answer else {})
    return "shell", Translation("run", {"command": action})


def was_refused(observation: str) -> bool:
    """Whether the interface says that its command did nothing."""
    return observation.lstrip().startswith(_REFUSED)


def was_stopped(observation: str) -> bool:
    """Whether the environment says that it stopped the command, because it took too long."""
    return observation.lstrip().startswith(_STOPPED)


def _edit(action: str, words: Words, opened: str) -> Translation:
    lines = _EDIT_LINES.fullmatch(action)
    if lines is not None:
        return Translation("edit", {"path": opened, "old": "", "new": lines[1]})
    old, new = (*words[1:], "", "")[:2]
    return Translation("edit", {"path": opened, "old": old, "new": new})


def _insert(_: str, words: Words, opened: str) -> Translation:
    return Translation("edit", {"path": opened, "old": "", "new": (*words[1:], "")[0]})


def _create(_: str, words: Words, opened: str) -> Translation:
    return Translation("create", {"path": (*words[1:], opened)[0], "new": ""})


def _editor(_: str, words: Words, opened: str) -> Translation:
    """``str_replace_editor <command> <path> --old_str … --new_str …``."""
    command, path = (*words[1:3], "", opened)[:2]
    options = dict(zip(words[3::2], words[4::2], strict=False))
    given = {name.removeprefix("--"): value for name, value in options.items() if name.startswith("--")}
    return editor({"command": command, "path": path, **given})[0]


def _look(tool: str, words: Words, opened: str) -> Translation:
    first = (*words[1:], "")[0]
    if tool == "open":
        return Translation("look", {"path": first})
    if tool in {"search_dir", "search_file", "find_file"}:
        looked = {"pattern": first} | ({"path": words[2]} if len(words) > 2 else {})  # noqa: PLR2004  (tool, pattern, where)
        return Translation("look", looked)
    return Translation("look", {"path": opened})


def _words(action: str) -> Words:
    """The words of the line as the shell would see them; of an unclosed quotation, as they stand."""
    try:
        return shlex.split(action)
    except ValueError:
        return action.split()


_COMMANDS: dict[str, Callable[[str, Words, str], Translation]] = {
    "edit": _edit,
    "insert": _insert,
    "create": _create,
    "str_replace_editor": _editor,
}
