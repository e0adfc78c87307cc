"""Claude Code's own tools in our words; what other agents have as well stands in the common vocabulary."""

from __future__ import annotations

from typing import TYPE_CHECKING

from helix_episodes.readers.vocabulary import COMMON, Translation, look, named, text_among, translate

if TYPE_CHECKING:
    from collections.abc import Mapping

    from helix_episodes.readers.vocabulary import Arguments, Given, Translator


def translate_call(tool: str, arguments: Given) -> tuple[Translation, ...]:
    """What a call stands for, as :func:`helix_episodes.readers.vocabulary.translate` has it.

    >>> translate_call("Bash", {"command": "pytest", "run_in_background": True})
    (Translation(operation='run', arguments={'command': 'pytest', 'background': True}),)
    >>> translate_call("mcp__tracker__get_issue", {"id": "A-1"})
    (Translation(operation='look', arguments={'query': 'A-1'}),)
    """
    return translate(tool, arguments, tools=_TOOLS)


def _skill(arguments: Given) -> tuple[Translation, ...]:
    """A skill, which the agent carries out itself."""
    name, _, rest = text_among(arguments, ("skill", "command")).strip().removeprefix("/").partition(" ")
    prompt = text_among(arguments, ("args",)) or rest
    return (Translation("delegate", {"agent": name, "prompt": prompt, "description": "", "inline": True}),)


def _task(arguments: Given) -> tuple[Translation, ...]:
    """One entry of the list; which one a bare id means is filled in by the transcript that saw it made."""
    subject = text_among(arguments, ("subject",))
    entry: Arguments = {
        "items": [subject] if subject else [],
        "task": text_among(arguments, ("taskid",)),
        "state": text_among(arguments, ("status",)),
    }
    return (Translation("track", entry),)


_TOOLS: Mapping[str, Translator] = {
    **COMMON,
    **named("skill", "slashcommand", by=_skill),
    **named("taskcreate", "taskupdate", "tasklist", "taskget", by=_task),
    **named("lsp", "notebookread", "toolsearch", "listmcpresourcestool", "readmcpresourcetool", by=look),
    **named("killshell", "killbash", "bashoutput", "taskoutput", "agentoutputtool", "taskstop", by=look),
}
