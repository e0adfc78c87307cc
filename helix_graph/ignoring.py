r""".helixignore: what never enters the memory.

``.helixignore`` stands at the project's root, or in ``.helix`` for rules that are one's own; both count. One rule a
line::

    # a comment
    scratch/                 a path, as in .gitignore: logs there, and calls on files there
    ~/.claude/projects/-tmp* a path from the home folder on
    !scratch/keep.jsonl      after all; of all paths that match, the last rule decides
    project: playground*     sessions of these projects, by name or by folder
    session: 5f0c*           sessions of these ids
    tool: mcp__mail__*       calls of these tools, with their results
    cut: emails              e-mail addresses in what is kept; secrets and home folders are always cut

A path without a slash in it matches a name anywhere; with one it begins at the project's root, or at the file system's
when it is written from there. A rule keeps out a folder with all that is in it. Within a command every word counts as a
path, so ``cat scratch/notes`` is kept out as well; prompts and messages that merely mention a path are not.

>>> rules = Rules(tuple(parse_rules("secret/\n!secret/plan.md\ntool: mcp__*")))
>>> [bool(rules.against_path(path)) for path in ("src/app.py", "docs/secret/key.txt", "secret/plan.md")]
[False, True, False]
>>> bool(rules.against("tool", "mcp__mail__send"))
True
"""

from __future__ import annotations

import fnmatch
import re
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

import msgspec

from helix_graph.errors import InvalidIgnoreFile
from helix_graph.project import FOLDER

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from helix_episodes.session import Session, Step

FILE_NAME = ".helixignore"

Kind = Literal["path", "project", "session", "tool", "cut"]
#: What a `cut` rule can name.
EMAILS = "emails"
#: A drive's letter is no kind of rule.
_KIND = re.compile(r"([A-Za-z]{2,}):\s*(.*)")
_SPECIAL = re.compile(r"(?:^|/)\*\*/|/\*\*$|\*\*|\*|\?|\[[^\]]+\]")
#: A ``]`` that comes first stands for itself.
_CLASS = re.compile(r"\[[!^]?\]?[^\]]*\]")
_WORDS = re.compile(r"[^\s'\"=;|&<>()]+")


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """One line: what it says, and the expression that names have to match whole."""

    line: str
    kind: Kind
    pattern: str
    readmits: bool = False


class Rules(msgspec.Struct, frozen=True):
    """All rules of a memory, in order. Every question is answered with the rule that speaks against, or None."""

    rules: tuple[Rule, ...] = ()

    def against(self, kind: Kind, *names: str) -> Rule | None:
        """The rule that keeps out what goes by any of these names."""
        matching = [
            rule
            for rule in self.rules
            if rule.kind == kind and any(re.fullmatch(rule.pattern, name, re.DOTALL) for name in names)
        ]
        return matching[-1] if matching and not matching[-1].readmits else None

    def against_path(self, path: str, *, base: str | None = None) -> Rule | None:
        """The rule that keeps out this path; ``base`` is the folder that the rules' relative paths begin at."""
        return self.against("path", *_names_of(path, base))

    def against_step(self, step: Step, *, root: str | None) -> Rule | None:
        """The rule that keeps out a call: of its tool, or of a path that it names."""
        if step.tool and (rule := self.against("tool", step.tool)):
            return rule
        return next((rule for path in names_in(step.arguments) if (rule := self.against_path(path, base=root))), None)


def read_rules(root: Path) -> Rules:
    """The rules of the memory in ``root``: those of the project first, then its own.

    Raises:
        InvalidIgnoreFile: A line is no rule, or the file is not readable text.
    """
    folders = (root.parent, root) if root.name == FOLDER else (root,)
    return Rules(tuple(rule for folder in folders for rule in _read(folder / FILE_NAME)))


def parse_rules(text: str, *, path: Path | None = None) -> Iterator[Rule]:
    """The rules in a text, line by line.

    Raises:
        InvalidIgnoreFile: A line is no rule; a rule that is not understood would let in what it should keep out.
    """
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()
        if line and not line.startswith("#"):
            yield _parse(line, number, path)


def without_ignored(session: Session, rules: Rules) -> Session:
    """The session without the calls that a rule keeps out, and without their results."""
    ignored = {place for place, step in enumerate(session.steps) if rules.against_step(step, root=session.root)}
    calls = {session.steps[place].call_id for place in ignored} - {None}
    kept = tuple(step for place, step in enumerate(session.steps) if place not in ignored and step.call_id not in calls)
    return msgspec.structs.replace(session, steps=kept) if len(kept) < len(session.steps) else session


def _read(path: Path) -> Iterator[Rule]:
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidIgnoreFile(path=path, line=None, problem=str(error)) from error
    yield from parse_rules(text, path=path)


def _parse(line: str, number: int, path: Path | None) -> Rule:
    readmits, body = line.startswith("!"), line.removeprefix("!").strip()
    named = _KIND.fullmatch(body)
    kind, glob = (named[1].lower(), named[2]) if named else ("path", body)
    if kind not in get_args(Kind):
        known = ", ".join(get_args(Kind))
        raise InvalidIgnoreFile(path=path, line=number, problem=f"{kind!r} is no kind of rule; there are: {known}")
    if not glob.strip("/"):
        raise InvalidIgnoreFile(path=path, line=number, problem="there is nothing to match")
    if kind == "cut" and glob != EMAILS:
        raise InvalidIgnoreFile(path=path, line=number, problem=f"{glob!r} cannot be cut; there is: {EMAILS}")
    if _unclosed(glob):
        raise InvalidIgnoreFile(
            path=path, line=number, problem=f"{glob!r} has a [ that nothing closes; [[] is the letter"
        )
    pattern = _path_pattern(glob) if kind == "path" else _name_pattern(glob)
    return Rule(line=line, kind=kind, pattern=pattern, readmits=readmits)  # type: ignore[arg-type]  # checked above


def _unclosed(glob: str) -> bool:
    """Whether a ``[`` begins no class of letters: it would match only itself, which nobody means."""
    return "[" in _CLASS.sub("", glob)


def _name_pattern(glob: str) -> str:
    return fnmatch.translate(str(Path(glob).expanduser()) if glob.startswith("~") else glob)


def _path_pattern(glob: str) -> str:
    """A pattern of .gitignore as an expression for a whole path: the thing named, or anything in it."""
    glob = _slashes(str(Path(glob).expanduser()) + "/" * glob.endswith("/") if glob.startswith("~/") else glob)
    body = glob.rstrip("/")
    anywhere = "" if "/" in body else "(?:.*/)?"
    begin = "/?" if body.startswith("/") else ""  # from the project's root, or from the file system's
    inside = "/.*" if glob.endswith("/") else "(?:/.*)?"
    return anywhere + begin + _expression(body.removeprefix("/")) + inside


def _expression(glob: str) -> str:
    parts: list[str] = []
    at = 0
    for special in _SPECIAL.finditer(glob):
        parts += [re.escape(glob[at : special.start()]), _special(special[0])]
        at = special.end()
    return "".join([*parts, re.escape(glob[at:])])


def _special(glob: str) -> str:
    """One wildcard: stars stay within a folder, two of them reach into any depth."""
    if glob.endswith("**/"):
        return ("/" if glob.startswith("/") else "") + "(?:.*/)?"
    if glob.startswith("["):
        return "[" + ("^" if glob[1] in "!^" else "") + re.escape(glob[1:-1].lstrip("!^")).replace(r"\-", "-") + "]"
    return {"/**": "/.*", "**": ".*", "*": "[^/]*", "?": "[^/]"}[glob]


def _names_of(path: str, base: str | None) -> tuple[str, ...]:
    """A path as rules may name it: whole, and from the base on."""
    whole = _slashes(path).removeprefix("./")
    start = _slashes(base or "").rstrip("/")
    return (whole[len(start) + 1 :], whole) if start and whole.startswith(f"{start}/") else (whole,)


def _slashes(path: str) -> str:
    return path.replace("\\", "/")


def names_in(arguments: Mapping[str, object]) -> Iterator[str]:
    """What a call's arguments name that may be a path, under any agent's word for it: every word of a command."""
    for name in ("path", "file_path", "notebook_path"):
        if isinstance(path := arguments.get(name), str):
            yield path
    if isinstance(command := arguments.get("command"), str):
        yield from _WORDS.findall(command)
