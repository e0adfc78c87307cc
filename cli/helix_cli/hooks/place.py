"""Where a hook works: the memory of the project that the agent stands in, unless somebody said to keep out."""

from __future__ import annotations

from pathlib import Path

from helix_graph.project import FOLDER, memory_folder
from helix_graph.silence import silenced_by

TYPE_CHECKING = False
if TYPE_CHECKING:
    from helix_cli.hooks.call import Call

_IGNORE_FILE = ".helixignore"


def memory_for(call: Call) -> Path | None:
    """The memory's folder; None where there is no memory, it is off, or a rule keeps this session or call out.

    Raises:
        InvalidIgnoreFile: A line of ``.helixignore`` is no rule.
    """
    root = memory_folder(Path(call.cwd))
    if root is None or not root.is_dir() or silenced_by(root):
        return None
    return None if _is_ignored(root, call) else root


def _is_ignored(root: Path, call: Call) -> bool:
    folders = (root.parent, root) if root.name == FOLDER else (root,)
    if not any((folder / _IGNORE_FILE).exists() for folder in folders):
        return False
    from helix_graph.ignoring import names_in, read_rules  # noqa: PLC0415  (20 ms that few projects need)

    rules = read_rules(root)
    if rules.against("session", call.session) or rules.against("project", Path(call.cwd).name, call.cwd):
        return True
    if call.tool and rules.against("tool", call.tool):
        return True
    base = str(root.parent) if root.name == FOLDER else None
    return any(rules.against_path(path, base=base) for path in names_in(call.arguments))
