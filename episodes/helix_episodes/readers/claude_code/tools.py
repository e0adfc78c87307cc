"""Claude Code's tools in our words: which operation a call is, and its arguments under their common names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from helix_episodes.session import Operation

    Arguments = dict[str, Any]
    Translation = tuple[Operation, Arguments]

# Verbs with which a server's tool only reads.
_LOOKING_VERBS = frozenset(
    {
        "get",
        "list",
        "search",
        "read",
        "query",
        "fetch",
        "resolve",
        "find",
        "lookup",
        "look",
        "view",
        "show",
        "describe",
        "browse",
        "count",
        "inspect",
        "check",
        "retrieve",
        "download",
        "explore",
        "ask",
    }
)
_WORD = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")


def translate_call(tool: str, arguments: Mapping[str, Any]) -> Translation:
    """The operation a tool stands for and its arguments in the terms of :mod:`helix_episodes.session`.

    A tool that is not known is a ``use`` with its arguments as logged; a server's tool that only reads is a ``look``.

    >>> translate_call("Bash", {"command": "pytest", "run_in_background": True})
    ('run', {'command': 'pytest', 'background': True})
    >>> translate_call("mcp__tracker__get_issue", {"id": "A-1"})
    ('look', {'query': 'A-1'})
    """
    known = _TOOLS.get(tool)
    if known is not None:
        return known(arguments)
    if tool.startswith("mcp__") and _only_reads(tool):
        return _look(arguments)
    return "use", dict(arguments)


def _only_reads(tool: str) -> bool:
    """Whether the verb is one of looking; a leading word that repeats the server's name is no verb."""
    _, _, rest = tool.partition("__")
    server, _, name = rest.rpartition("__")
    of_server = {word.lower() for word in _WORD.findall(server)}
    words = [word.lower() for word in _WORD.findall(name)]
    verb = next((word for word in words if word not in of_server), "")
    return verb in _LOOKING_VERBS


def _text(arguments: Mapping[str, Any], *names: str) -> str:
    """The first of these arguments that is a text; empty when none is."""
    return next((value for name in names if isinstance(value := arguments.get(name), str)), "")


def _run(arguments: Mapping[str, Any]) -> Translation:
    translated: Arguments = {"command": _text(arguments, "command")}
    if description := _text(arguments, "description"):
        translated["description"] = description
    if arguments.get("run_in_background") is True:
        translated["background"] = True
    return "run", translated


def _edit(arguments: Mapping[str, Any]) -> Translation:
    several = [change for change in _list(arguments.get("edits")) if isinstance(change, dict)]
    changes: list[Mapping[str, Any]] = [*several] or [arguments]
    return "edit", {
        "path": _text(arguments, "file_path", "notebook_path", "path"),
        "old": "\n".join(_text(change, "old_string") for change in changes),
        "new": "\n".join(_text(change, "new_string", "new_source") for change in changes),
    }


def _write(arguments: Mapping[str, Any]) -> Translation:
    """An edit, until the result says that the file is new."""
    return "edit", {"path": _text(arguments, "file_path", "path"), "old": "", "new": _text(arguments, "content")}


def _delegate(arguments: Mapping[str, Any]) -> Translation:
    return "delegate", {
        "agent": _text(arguments, "subagent_type", "agent_type") or "general-purpose",
        "prompt": _text(arguments, "prompt"),
        "description": _text(arguments, "description"),
    }


def _skill(arguments: Mapping[str, Any]) -> Translation:
    name, _, rest = _text(arguments, "skill", "command").strip().removeprefix("/").partition(" ")
    return "delegate", {"agent": name, "prompt": _text(arguments, "args") or rest, "description": "", "inline": True}


_LOOKED_AT = (
    ("path", ("file_path", "path", "notebook_path", "filePath")),
    ("pattern", ("pattern", "glob")),
    ("url", ("url", "uri")),
    ("query", ("query", "bash_id", "shell_id", "task_id", "id", "symbol")),
)


def _look(arguments: Mapping[str, Any]) -> Translation:
    looked: Arguments = {ours: text for ours, theirs in _LOOKED_AT if (text := _text(arguments, *theirs))}
    if not looked:
        texts = [value for _, value in sorted(arguments.items()) if isinstance(value, str)]
        looked = {"query": texts[0]} if texts else {}
    return "look", looked


def _todo(arguments: Mapping[str, Any]) -> Translation:
    """The whole list; ``completed`` and ``current`` are the parts that are done and under way."""
    todos = [todo for todo in _list(arguments.get("todos")) if isinstance(todo, dict)]
    return "track", {
        "items": [_text(todo, "content") for todo in todos],
        "completed": [_text(todo, "content") for todo in todos if todo.get("status") == "completed"],
        "current": [_text(todo, "content") for todo in todos if todo.get("status") == "in_progress"],
    }


def _task(arguments: Mapping[str, Any]) -> Translation:
    """One entry of the list; which one a bare id means is filled in by the transcript that saw it made."""
    subject = _text(arguments, "subject")
    return "track", {
        "items": [subject] if subject else [],
        "task": _text(arguments, "taskId", "task_id"),
        "state": _text(arguments, "status"),
    }


def _plan(arguments: Mapping[str, Any]) -> Translation:
    return "plan", {"plan": _text(arguments, "plan")}


def _ask(arguments: Mapping[str, Any]) -> Translation:
    questions = [question for question in _list(arguments.get("questions")) if isinstance(question, dict)]
    return "ask", {
        "questions": [
            {"question": _text(question, "question"), "options": _options(question.get("options"))}
            for question in questions
        ]
    }


def _options(value: object) -> list[str]:
    """The options' labels, whether they are texts or objects."""
    return [_text(option, "label") if isinstance(option, dict) else str(option) for option in _list(value)]


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


_TOOLS: dict[str, Callable[[Mapping[str, Any]], Translation]] = {
    **dict.fromkeys(("Bash", "PowerShell"), _run),
    **dict.fromkeys(("Edit", "MultiEdit", "NotebookEdit"), _edit),
    "Write": _write,
    **dict.fromkeys(("Task", "Agent"), _delegate),
    **dict.fromkeys(("Skill", "SlashCommand"), _skill),
    **dict.fromkeys(
        ("Read", "Grep", "Glob", "LS", "LSP", "NotebookRead", "WebFetch", "WebSearch", "ToolSearch"), _look
    ),
    **dict.fromkeys(("ListMcpResourcesTool", "ReadMcpResourceTool", "web_search", "web_fetch"), _look),
    **dict.fromkeys(("KillShell", "KillBash", "BashOutput", "TaskOutput", "AgentOutputTool", "TaskStop"), _look),
    "TodoWrite": _todo,
    **dict.fromkeys(("TaskCreate", "TaskUpdate", "TaskList", "TaskGet"), _task),
    "ExitPlanMode": _plan,
    "AskUserQuestion": _ask,
}
