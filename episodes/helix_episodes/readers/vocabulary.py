"""The vocabulary: agents' tools in our words.

Every agent has its own names for the same few things. A reader hands a call's tool and arguments to `translate` and
gets the operation and the canonical arguments of :mod:`helix_episodes.session`; extraction never sees another name.

`COMMON` has the names that several agents use. They are compared without case, ``_`` and ``-``, and so are the names of
arguments, so ``read_file``, ``readFile`` and ``ReadFile`` are one. A reader lays its agent's own names over it::

    TOOLS = COMMON | {"shellcommand": run, "planexitmode": plan}
    for operation, arguments in translate(tool, arguments, tools=TOOLS): ...

A tool that no table has is judged by its verb: one that only reads is a ``look``, any other a ``use`` with its
arguments as logged. For tools of a trade (booking flights) that is all there is:
``translate(tool, arguments, tools={})``.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

from helix_episodes.readers.patches import FileChange, read_patch
from helix_episodes.readers.verbs import only_reads
from helix_episodes.session import Operation  # noqa: TC001  (a NamedTuple's field)

Arguments: TypeAlias = dict[str, Any]


class Translation(NamedTuple):
    """One operation with its canonical arguments. A call that changes several files has one for each."""

    operation: Operation
    arguments: Arguments


Given: TypeAlias = Mapping[str, Any]
Translator: TypeAlias = Callable[[Given], tuple[Translation, ...]]

_NOISE = re.compile(r"[_\-\s]+")
#: Names of the arguments, by what they hold; the first that is a text counts.
_PATH = (
    *("filepath", "path", "notebookpath", "absolutepath", "targetfile", "relativepath", "filename", "file"),
    *("dirpath", "directorypath", "directory", "dir", "folder"),
)
_OLD = ("oldstring", "oldstr", "oldtext", "search", "old")
_NEW = ("newstring", "newstr", "newtext", "newsource", "replace", "replacement", "codeedit", "new", "content")
_WHOLE = ("content", "contents", "filetext", "text", "body")
_COMMAND = ("command", "cmd", "commandline", "script", "input")
_PROMPT = ("prompt", "task", "message", "instructions", "instruction", "query")
_HELPER = ("subagenttype", "agenttype", "subagentname", "agentname", "agent", "role")
_LOOKED_AT = (
    ("path", _PATH),
    ("pattern", ("pattern", "glob", "globpattern", "includepattern", "regex")),
    ("url", ("url", "uri")),
    (
        "query",
        ("query", "searchterm", "bashid", "shellid", "taskid", "sessionid", "id", "symbol", "expression", "thought"),
    ),
)
#: Shells that are only the wrapping of the command handed to them.
_SHELL = re.compile(r"(?:\S*/)?(?:ba|z|da|k)?sh$")
_SHELL_FLAG = re.compile(r"-[a-z]*c$")


def translate(tool: str, arguments: Given, *, tools: Mapping[str, Translator]) -> tuple[Translation, ...]:
    """What a call stands for: one translation, or one for each file that it changes.

    >>> translate("shell", {"command": ["bash", "-lc", "pytest -q"]}, tools=COMMON)
    (Translation(operation='run', arguments={'command': 'pytest -q'}),)
    >>> translate("cancel_order", {"order_id": "7"}, tools={})
    (Translation(operation='use', arguments={'order_id': '7'}),)
    """
    known = tools.get(plain_name(tool))
    if known is not None:
        return known(arguments)
    return look(arguments) if only_reads(tool) else use(arguments)


@lru_cache(maxsize=1024)
def plain_name(name: str) -> str:
    """A name as the tables have it.

    >>> plain_name("runShell_command")
    'runshellcommand'
    """
    return _NOISE.sub("", name).lower()


def text_among(arguments: Given, names: tuple[str, ...]) -> str:
    """The first of these arguments that is a text; empty when none is."""
    return _first(_texts(arguments), names)


def _texts(arguments: Given) -> dict[str, str]:
    return {plain_name(name): value for name, value in arguments.items() if isinstance(value, str)}


def _first(texts: dict[str, str], names: tuple[str, ...]) -> str:
    return next((texts[name] for name in names if texts.get(name)), "")


def command_of(value: object) -> str:
    """A command as typed, out of a text or a list of words; a shell around it is left out.

    >>> command_of(["bash", "-lc", "cd /srv && ls"]), command_of(["git", "commit", "-m", "two words"])
    ('cd /srv && ls', "git commit -m 'two words'")
    """
    if isinstance(value, str):
        return value
    words = [str(word) for word in value] if isinstance(value, list) else []
    if len(words) == 3 and _SHELL.match(words[0]) and _SHELL_FLAG.match(words[1]):  # noqa: PLR2004  (sh -c text)
        return words[2]
    return shlex.join(words)


# Translators.


def run(arguments: Given) -> tuple[Translation, ...]:
    """A shell command; a patch handed to ``apply_patch`` in the shell is the edits that it makes."""
    plain = {plain_name(name): value for name, value in arguments.items()}
    command = next((text for name in _COMMAND if (text := command_of(plain.get(name)))), "")
    if changes := read_patch(command) if command.lstrip().startswith("apply_patch") else ():
        return _changes(changes)
    translated: Arguments = {"command": command}
    if isinstance(plain.get("description"), str) and plain["description"]:
        translated["description"] = plain["description"]
    if any(plain.get(name) is True for name in ("runinbackground", "isbackground", "background")):
        translated["background"] = True
    return _one("run", translated)


def edit(arguments: Given) -> tuple[Translation, ...]:
    """Replacements in one file, given by themselves or as a list."""
    plain = {plain_name(name): value for name, value in arguments.items()}
    several = [one for one in _list(plain.get("edits") or plain.get("replacements")) if isinstance(one, dict)]
    changes: list[Given] = [*several] or [arguments]
    return _one(
        "edit",
        {
            "path": text_among(arguments, _PATH),
            "old": "\n".join(text_among(change, _OLD) for change in changes),
            "new": "\n".join(text_among(change, _NEW) for change in changes),
        },
    )


def write(arguments: Given) -> tuple[Translation, ...]:
    """A whole file: an edit, until the result says that the file is new."""
    return _one("edit", {"path": text_among(arguments, _PATH), "old": "", "new": text_among(arguments, _WHOLE)})


def create(arguments: Given) -> tuple[Translation, ...]:
    """A new file."""
    return _one("create", {"path": text_among(arguments, _PATH), "new": text_among(arguments, _WHOLE)})


def delete(arguments: Given) -> tuple[Translation, ...]:
    """A file that goes."""
    return _one("delete", {"path": text_among(arguments, _PATH)})


def editor(arguments: Given) -> tuple[Translation, ...]:
    """The editor that takes what to do as its ``command``: view, create, str_replace, insert, undo_edit."""
    command = str(arguments.get("command", ""))
    if command == "view":
        return look({name: value for name, value in arguments.items() if name != "command"})
    return create(arguments) if command == "create" else edit(arguments)


def patch(arguments: Given) -> tuple[Translation, ...]:
    """A patch in the ``*** Begin Patch`` form; one that cannot be read is a use of the tool."""
    text = text_among(arguments, ("input", "patch", "patchtext", "content"))
    return _changes(read_patch(text)) or use(arguments)


def look(arguments: Given) -> tuple[Translation, ...]:
    """Something read or searched; of unknown arguments the first text by name is what was asked for."""
    given = _texts(arguments)
    looked: Arguments = {ours: text for ours, theirs in _LOOKED_AT if (text := _first(given, theirs))}
    if not looked:
        texts = [value for _, value in sorted(arguments.items()) if isinstance(value, str)]
        looked = {"query": texts[0]} if texts else {}
    return _one("look", looked)


def delegate(arguments: Given) -> tuple[Translation, ...]:
    """Work handed to a helper."""
    return _one(
        "delegate",
        {
            "agent": text_among(arguments, _HELPER) or "general-purpose",
            "prompt": text_among(arguments, _PROMPT),
            "description": text_among(arguments, ("description", "taskname")),
        },
    )


def track(arguments: Given) -> tuple[Translation, ...]:
    """The agent's whole to-do list; ``completed`` and ``current`` are the parts that are done and under way."""
    plain = {plain_name(name): value for name, value in arguments.items()}
    given: object = next(
        (plain[name] for name in ("todos", "plan", "items", "todolist", "tasks") if plain.get(name)), []
    )
    entries = [one for one in _list(given) if isinstance(one, dict)]
    states = [plain_name(str(one.get("status"))) for one in entries]
    items = [_entry(one) for one in entries]
    return _one(
        "track",
        {
            "items": items,
            "completed": [item for item, state in zip(items, states, strict=True) if state in {"completed", "done"}],
            "current": [item for item, state in zip(items, states, strict=True) if state == "inprogress"],
        },
    )


def plan(arguments: Given) -> tuple[Translation, ...]:
    """A plan handed in for approval."""
    return _one("plan", {"plan": text_among(arguments, ("plan", "content"))})


def ask(arguments: Given) -> tuple[Translation, ...]:
    """Questions to the person, with their options."""
    questions: list[Given] = [one for one in _list(arguments.get("questions")) if isinstance(one, dict)]
    return _one(
        "ask",
        {
            "questions": [
                {"question": text_among(one, ("question", "prompt", "text")), "options": _options(one.get("options"))}
                for one in questions or [arguments]
            ]
        },
    )


def use(arguments: Given) -> tuple[Translation, ...]:
    """Any other tool."""
    return _one("use", dict(arguments))


def _one(operation: Operation, arguments: Arguments) -> tuple[Translation, ...]:
    return (Translation(operation, arguments),)


def _changes(changes: tuple[FileChange, ...]) -> tuple[Translation, ...]:
    return tuple(Translation(change.operation, change.arguments) for change in changes)


def _entry(entry: Given) -> str:
    return text_among(entry, ("content", "step", "title", "description", "text", "task"))


def _options(value: object) -> list[str]:
    """The options' labels, whether they are texts or objects."""
    return [text_among(one, ("label", "value", "text")) if isinstance(one, dict) else str(one) for one in _list(value)]


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def named(*names: str, by: Translator) -> dict[str, Translator]:
    """A table in which all these names have one translator."""
    return dict.fromkeys(names, by)


#: Names that several agents use, without case, ``_`` and ``-``.
COMMON: Mapping[str, Translator] = {
    **named("bash", "shell", "shellcommand", "localshell", "powershell", "execcommand", "execute", "exec", by=run),
    **named("executebash", "runcommand", "runshellcommand", "runterminalcmd", "runinterminal", "terminal", by=run),
    **named("edit", "editfile", "replace", "replaceinfile", "strreplace", "searchreplace", "multiedit", by=edit),
    **named("notebookedit", "editnotebook", by=edit),
    **named("write", "writefile", "writetofile", "savefile", by=write),
    **named("create", "createfile", "createnewfile", by=create),
    **named("deletefile", "removefile", by=delete),
    **named("strreplaceeditor", "strreplacebasededittool", by=editor),
    "applypatch": patch,
    **named("read", "grep", "glob", "ls", "rg", "cat", "websearch", "webfetch", "googlewebsearch", by=look),
    **named("task", "agent", "spawnagent", "dispatchagent", "subagent", "delegatetask", by=delegate),
    **named("todowrite", "todo", "writetodos", "updateplan", "settodolist", "updatetodolist", by=track),
    "exitplanmode": plan,
    **named("askuserquestion", "requestuserinput", "askuser", "askfollowupquestion", by=ask),
}
