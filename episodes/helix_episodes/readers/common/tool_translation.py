r"""Agents' tools translated to operations with canonical arguments.

Every agent has its own names for the same few things. A reader passes a call's tool and arguments to `translate` and
gets the operation and the arguments of :mod:`helix_episodes.session`; extraction never sees another name.

`COMMON_TOOLS` has the names that several agents use. Names of tools and arguments are compared without case, ``_`` and
``-``, so ``read_file``, ``readFile`` and ``ReadFile`` are one. A reader adds its agent's own names::

    TOOLS = COMMON_TOOLS | {"shellcommand": run, "planexitmode": plan}
    for operation, arguments in translate(tool, arguments, tools=TOOLS): ...

A tool in no table is judged by the verb in its name: one that only reads is a ``look``, any other a ``use`` with its
arguments as logged. A verb's name may repeat its server's name first; a verb not listed changes something.

Patches in the ``*** Begin Patch`` form become changes of single files:

>>> patch = "*** Begin Patch\n*** Update File: a.py\n@@\n x\n-y\n+z\n*** Delete File: b.py\n*** End Patch"
>>> [(change.operation, change.path, change.old, change.new) for change in read_patch(patch)]
[('edit', 'a.py', 'y', 'z'), ('delete', 'b.py', '', '')]
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from helix_episodes.session import Operation


_PATCH_FILE = re.compile(r"^\*\*\* (Add|Update|Delete) File: (.+)$", re.MULTILINE)
_PATCH_MOVE = re.compile(r"^\*\*\* Move to: (.+)$", re.MULTILINE)
_PATCH_OPERATIONS: dict[str, Literal["create", "edit", "delete"]] = {
    "Add": "create",
    "Update": "edit",
    "Delete": "delete",
}


class PatchedFile(NamedTuple):
    """What becomes of one file: ``old`` and ``new`` are the lines that go and that come."""

    operation: Literal["create", "edit", "delete"]
    path: str
    old: str = ""
    new: str = ""

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments of the operation, as :mod:`helix_episodes.session` has them."""
        if self.operation == "delete":
            return {"path": self.path}
        new = {"path": self.path, "new": self.new}
        return new if self.operation == "create" else {"path": self.path, "old": self.old, "new": self.new}


def read_patch(text: str) -> tuple[PatchedFile, ...]:
    """The changes in the order of the patch; none when the text holds no such patch."""
    return tuple(_patch_changes(text))


def read_diff(text: str, *, path: str) -> PatchedFile:
    """The change that a unified diff makes to a file."""
    lines = [line for line in text.split("\n") if not line.startswith(("---", "+++"))]
    return _patch_edit(path, lines)


def _patch_changes(text: str) -> Iterator[PatchedFile]:
    heads = list(_PATCH_FILE.finditer(text))
    ends = (*(head.start() for head in heads[1:]), len(text))
    for head, end in zip(heads, ends, strict=False):
        kind, path = _PATCH_OPERATIONS[head[1]], head[2].strip()
        lines = text[head.end() : end].split("\n")
        if kind == "edit":
            change = _patch_edit(path, lines)
            moved = _PATCH_MOVE.search(text, head.end(), end)
            # A file that only moves is gone from where it was and new where it is.
            yield from (PatchedFile("delete", path), change._replace(path=moved[1].strip())) if moved else (change,)
        else:
            yield PatchedFile(kind, path, new=_marked(lines, "+"))


def _patch_edit(path: str, lines: Iterable[str]) -> PatchedFile:
    lines = list(lines)
    return PatchedFile("edit", path, old=_marked(lines, "-"), new=_marked(lines, "+"))


def _marked(lines: Iterable[str], mark: str) -> str:
    return "\n".join(line[1:] for line in lines if line.startswith(mark))


_LOOKING_VERBS = frozenset({
    "get", "list", "search", "read", "query", "fetch", "resolve", "find", "lookup", "look", "view", "show",
    "describe", "browse", "count", "inspect", "check", "retrieve", "download", "explore", "ask", "grep", "glob",
    "calculate", "compute", "think", "verify",
})  # fmt: skip
_NAME_WORD = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")


def only_reads(tool: str) -> bool:
    """Whether the tool's verb is one of looking; a leading word that repeats its server's name is no verb.

    >>> only_reads("search_direct_flight"), only_reads("mcp__tracker__tracker_get_issue"), only_reads("cancel_order")
    (True, True, False)
    >>> only_reads("keyword_search"), only_reads("mark_as_read")
    (True, False)
    """
    rest = tool.removeprefix("mcp__")
    server, _, name = rest.rpartition("__")
    of_server = {word.lower() for word in _NAME_WORD.findall(server)}
    words = [word for one in _NAME_WORD.findall(name) if (word := one.lower()) not in of_server] or [""]
    return words[0] in _LOOKING_VERBS or words[-1] in {"search", "lookup"}


Arguments: TypeAlias = dict[str, Any]


class Translation(NamedTuple):
    """One operation with its canonical arguments. A call that changes several files has one for each."""

    operation: Operation
    arguments: Arguments


LoggedArguments: TypeAlias = Mapping[str, Any]
Translator: TypeAlias = Callable[[LoggedArguments], tuple[Translation, ...]]

_NOISE = re.compile(r"[_\-\s]+")
#: Names of the arguments, by what they hold; the first that is a text counts.
_PATH_NAMES = (
    "filepath", "path", "notebookpath", "absolutepath", "targetfile", "relativepath", "filename", "file", "dirpath",
    "directorypath", "directory", "dir", "folder",
)  # fmt: skip
_OLD_NAMES = ("oldstring", "oldstr", "oldtext", "search", "old")
_NEW_NAMES = ("newstring", "newstr", "newtext", "newsource", "replace", "replacement", "codeedit", "new", "content")
_WHOLE_NAMES = ("content", "contents", "filetext", "text", "body")
_COMMAND_NAMES = ("command", "cmd", "commandline", "script", "input")
_PROMPT_NAMES = ("prompt", "task", "message", "instructions", "instruction", "query")
_HELPER_NAMES = ("subagenttype", "agenttype", "subagentname", "agentname", "agent", "role")
_LOOKED_AT = (
    ("path", _PATH_NAMES),
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


def translate(tool: str, arguments: LoggedArguments, *, tools: Mapping[str, Translator]) -> tuple[Translation, ...]:
    """What a call represents: one translation, or one for each file that it changes.

    >>> translate("shell", {"command": ["bash", "-lc", "pytest -q"]}, tools=COMMON_TOOLS)
    (Translation(operation='run', arguments={'command': 'pytest -q'}),)
    >>> translate("cancel_order", {"order_id": "7"}, tools={})
    (Translation(operation='use', arguments={'order_id': '7'}),)
    """
    known = tools.get(normalized_name(tool))
    if known is not None:
        return known(arguments)
    return look(arguments) if only_reads(tool) else use(arguments)


@lru_cache(maxsize=1024)
def normalized_name(name: str) -> str:
    """A name as the tables have it.

    >>> normalized_name("runShell_command")
    'runshellcommand'
    """
    return _NOISE.sub("", name).lower()


def text_among(arguments: LoggedArguments, names: tuple[str, ...]) -> str:
    """The first of these arguments that is a text; empty when none is."""
    return _first(_texts(arguments), names)


def _texts(arguments: LoggedArguments) -> dict[str, str]:
    return {normalized_name(name): value for name, value in arguments.items() if isinstance(value, str)}


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


def run(arguments: LoggedArguments) -> tuple[Translation, ...]:
    """A shell command; a patch handed to ``apply_patch`` in the shell is the edits that it makes."""
    plain = {normalized_name(name): value for name, value in arguments.items()}
    command = next((text for name in _COMMAND_NAMES if (text := command_of(plain.get(name)))), "")
    if changes := read_patch(command) if command.lstrip().startswith("apply_patch") else ():
        return _changes(changes)
    translated: Arguments = {"command": command}
    if isinstance(plain.get("description"), str) and plain["description"]:
        translated["description"] = plain["description"]
    if any(plain.get(name) is True for name in ("runinbackground", "isbackground", "background")):
        translated["background"] = True
    return _one("run", translated)


def edit(arguments: LoggedArguments) -> tuple[Translation, ...]:
    """Replacements in one file, alone or as a list."""
    plain = {normalized_name(name): value for name, value in arguments.items()}
    several = [one for one in _list(plain.get("edits") or plain.get("replacements")) if isinstance(one, dict)]
    changes: list[LoggedArguments] = [*several] or [arguments]
    return _one(
        "edit",
        {
            "path": text_among(arguments, _PATH_NAMES),
            "old": "\n".join(text_among(change, _OLD_NAMES) for change in changes),
            "new": "\n".join(text_among(change, _NEW_NAMES) for change in changes),
        },
    )


def write(arguments: LoggedArguments) -> tuple[Translation, ...]:
    """A whole file: an edit, until the result says that the file is new."""
    return _one(
        "edit", {"path": text_among(arguments, _PATH_NAMES), "old": "", "new": text_among(arguments, _WHOLE_NAMES)}
    )


def create(arguments: LoggedArguments) -> tuple[Translation, ...]:
    """A new file."""
    return _one("create", {"path": text_among(arguments, _PATH_NAMES), "new": text_among(arguments, _WHOLE_NAMES)})


def delete(arguments: LoggedArguments) -> tuple[Translation, ...]:
    """A file that goes."""
    return _one("delete", {"path": text_among(arguments, _PATH_NAMES)})


def editor(arguments: LoggedArguments) -> tuple[Translation, ...]:
    """The editor that takes what to do as its ``command``: view, create, str_replace, insert, undo_edit."""
    command = str(arguments.get("command", ""))
    if command == "view":
        return look({name: value for name, value in arguments.items() if name != "command"})
    return create(arguments) if command == "create" else edit(arguments)


def patch(arguments: LoggedArguments) -> tuple[Translation, ...]:
    """A patch in the ``*** Begin Patch`` form; one that cannot be read is a use of the tool."""
    text = text_among(arguments, ("input", "patch", "patchtext", "content"))
    return _changes(read_patch(text)) or use(arguments)


def look(arguments: LoggedArguments) -> tuple[Translation, ...]:
    """Something read or searched; of unknown arguments the first text by name is what was asked for."""
    logged = _texts(arguments)
    looked: Arguments = {ours: text for ours, theirs in _LOOKED_AT if (text := _first(logged, theirs))}
    if not looked:
        texts = [value for _, value in sorted(arguments.items()) if isinstance(value, str)]
        looked = {"query": texts[0]} if texts else {}
    return _one("look", looked)


def delegate(arguments: LoggedArguments) -> tuple[Translation, ...]:
    """Work handed to a helper."""
    return _one(
        "delegate",
        {
            "agent": text_among(arguments, _HELPER_NAMES) or "general-purpose",
            "prompt": text_among(arguments, _PROMPT_NAMES),
            "description": text_among(arguments, ("description", "taskname")),
        },
    )


def track(arguments: LoggedArguments) -> tuple[Translation, ...]:
    """The agent's whole to-do list; ``completed`` and ``current`` are the parts that are done and under way."""
    plain = {normalized_name(name): value for name, value in arguments.items()}
    named = ("todos", "items", "todolist", "tasklist", "tasks", "plan")
    logged: object = next((plain[name] for name in named if plain.get(name)), [])
    entries = [one for one in _list(logged) if isinstance(one, dict)]
    states = [normalized_name(str(one.get("status"))) for one in entries]
    names = ("content", "step", "title", "description", "text", "task")
    items = [text_among(one, names) for one in entries]
    return _one(
        "track",
        {
            "items": items,
            "completed": [item for item, state in zip(items, states, strict=True) if state in {"completed", "done"}],
            "current": [item for item, state in zip(items, states, strict=True) if state == "inprogress"],
        },
    )


def plan(arguments: LoggedArguments) -> tuple[Translation, ...]:
    """A plan handed in for approval."""
    return _one("plan", {"plan": text_among(arguments, ("plan", "content"))})


def ask(arguments: LoggedArguments) -> tuple[Translation, ...]:
    """Questions to the person, with their options."""
    questions: list[LoggedArguments] = [one for one in _list(arguments.get("questions")) if isinstance(one, dict)]
    return _one(
        "ask",
        {
            "questions": [
                {"question": text_among(one, ("question", "prompt", "text")), "options": _options(one.get("options"))}
                for one in questions or [arguments]
            ]
        },
    )


def use(arguments: LoggedArguments) -> tuple[Translation, ...]:
    """Any other tool."""
    return _one("use", dict(arguments))


def _one(operation: Operation, arguments: Arguments) -> tuple[Translation, ...]:
    return (Translation(operation, arguments),)


def _changes(changes: tuple[PatchedFile, ...]) -> tuple[Translation, ...]:
    return tuple(Translation(change.operation, change.arguments) for change in changes)


def _options(value: object) -> list[str]:
    """The options' labels, whether they are texts or objects."""
    return [text_among(one, ("label", "value", "text")) if isinstance(one, dict) else str(one) for one in _list(value)]


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def named(*names: str, by: Translator) -> dict[str, Translator]:
    """A table in which all these names have one translator."""
    return dict.fromkeys(names, by)


#: Names that several agents use, without case, ``_`` and ``-``.
COMMON_TOOLS: Mapping[str, Translator] = {
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
    **named("todowrite", "todo", "writetodos", "updateplan", "settodolist", "updatetodolist", "tasktracker", by=track),
    "exitplanmode": plan,
    **named("askuserquestion", "requestuserinput", "askuser", "askfollowupquestion", by=ask),
}
