r"""Names of tasks and agents, before they become part of a path or of a prompt.

They come from planners and transcripts, so any text may stand where a name belongs: ``../../escape``, a line break, a
marker. As a *file name* a text is taken or refused, never mended, since two names must not meet in one file.

>>> [is_file_name(name) for name in ("001-w3", "../../escape", "a/b", "", "x" * 129, "a\n")]
[True, False, False, False, False, False]
"""

from __future__ import annotations

import re

from helix_graph.errors import WrongType
from helix_graph.plans.errors import NotAFileName

_FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")


def is_file_name(name: str) -> bool:
    """Whether a text can name a file and lead nowhere else."""
    return _FILE_NAME.fullmatch(name) is not None


def file_name(option: str, name: str) -> str:
    """The name itself.

    Raises:
        WrongType: It is no text.
        NotAFileName: It could lead elsewhere.
    """
    if not isinstance(name, str):
        raise WrongType(option, value=name, wanted="a text")
    if not is_file_name(name):
        raise NotAFileName(option, name=name)
    return name
