r"""What never enters the memory: paths, projects, sessions and tools in ``.helixignore``, and forgotten sessions.

``.helixignore`` stands at the project's root, or in ``.helix`` for private rules; both count. One rule a line::

    # a comment
    scratch/                 a path, as in .gitignore: logs there, and calls on files there
    ~/.claude/projects/-tmp* a path from the home folder on
    !scratch/keep.jsonl      an exception; of all paths that match, the last rule decides
    project: playground*     sessions of these projects, by name or by folder
    session: 5f0c*           sessions of these ids
    tool: mcp__mail__*       calls of these tools, with their results
    cut: emails              e-mail addresses in what is stored; secrets and home folders are always cut

A path without a slash matches a name anywhere; with one it begins at the project's root, or at the file system's root
when it is written from there. A rule excludes a folder with everything in it. Within a command every word counts as a
path, so ``cat scratch/notes`` is excluded as well; prompts and messages that merely mention a path are not.

>>> rules = IgnoreRules(tuple(parse_rules("secret/\n!secret/plan.md\ntool: mcp__*")))
>>> [bool(rules.against_path(path)) for path in ("src/app.py", "docs/secret/key.txt", "secret/plan.md")]
[False, True, False]
>>> bool(rules.against("tool", "mcp__mail__send"))
True
"""

from __future__ import annotations

import fnmatch
import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

import msgspec

from helix_episodes.discovery import logs_named
from helix_episodes.errors import LogNotReadable, WriteFailed
from helix_episodes.redaction import without_emails
from helix_episodes.safe_files import expanded, read_regular
from helix_episodes.source_logs import ids_in, is_log_of, is_unique
from helix_episodes.store import PREFIX
from helix_graph.errors import InvalidConfiguration
from helix_graph.project import FOLDER, digest
from helix_graph.tombstones import Tombstones
from helix_graph.trust import is_sealed, seal_also, team_marker, tracked_by_git

if TYPE_CHECKING:
    from helix_episodes.model import Episode
    from helix_episodes.session import Session, Step


FILE_NAME = ".helixignore"
#: A clone may bring any number of rules of any length. Every process, a hook too, makes an expression of each (64 kB
#: take .3 s) and holds each against every path of a log. A path has at most 4,096 bytes.
_LARGEST_RULES, _MOST_RULES, _LONGEST_RULE = 1 << 16, 1000, 4096

RuleKind = Literal["path", "project", "session", "tool", "cut"]
#: What a `cut` rule can name.
EMAILS = "emails"
#: A drive's letter is not a kind of rule.
_KIND = re.compile(r"([A-Za-z]{2,}):\s*(.*)")
#: A ``]`` that comes first stands for itself.
_CLASS = re.compile(r"\[[!^]?\]?[^\]]*\]")
_SIGN = re.compile(rf"{_CLASS.pattern}|\*+|.", re.DOTALL)
#: A path that names a file by more than its folders.
_ROUNDABOUT = re.compile(r"//|(?:^|/)\.\.?(?:/|$)")
_WORDS = re.compile(r"[^\s'\"=;|&<>()]+")


class IgnoreRule(msgspec.Struct, frozen=True, kw_only=True):
    """One line: what it says, and the expression that names have to match whole."""

    line: str
    kind: RuleKind
    pattern: str
    readmits: bool = False


class IgnoreRules(msgspec.Struct, frozen=True):
    """All rules of a memory, in order. Every question is answered with the rule that speaks against, or None."""

    rules: tuple[IgnoreRule, ...] = ()

    def against(self, kind: RuleKind, *names: str) -> IgnoreRule | None:
        """The rule that keeps out what goes by any of these names."""
        matching = [
            rule
            for rule in self.rules
            if rule.kind == kind and any(_compiled(rule.pattern).fullmatch(name) for name in names)
        ]
        return matching[-1] if matching and not matching[-1].readmits else None

    def against_path(self, path: str, *, base: str | None = None) -> IgnoreRule | None:
        """The rule that keeps out this path; ``base`` is the folder that the rules' relative paths begin at."""
        return self.against("path", *_names_of(path, base))

    def against_step(self, step: Step, *, root: str | None) -> IgnoreRule | None:
        """The rule that keeps out a call: of its tool, or of a path that it names."""
        if step.tool and (rule := self.against("tool", step.tool)):
            return rule
        return next((rule for path in names_in(step.arguments) if (rule := self.against_path(path, base=root))), None)


def read_rules(root: Path) -> IgnoreRules:
    """The rules of the memory in ``root``: those of the project first, then its own.

    Raises:
        InvalidConfiguration: A line is no rule, or the file is not readable text.
    """
    folders = (root.parent, root) if root.name == FOLDER else (root,)
    return IgnoreRules(tuple(rule for folder in folders for rule in _read(folder / FILE_NAME)))


def parse_rules(text: str, *, path: Path | None = None) -> Iterator[IgnoreRule]:
    """The rules in a text, line by line.

    Raises:
        InvalidConfiguration: A line is no rule; a rule that is not understood would let in what it should keep out.
    """
    lines = ((number, line.strip()) for number, line in enumerate(text.splitlines(), 1))
    for count, (number, line) in enumerate((one for one in lines if one[1] and not one[1].startswith("#")), 1):
        if count > _MOST_RULES:
            raise InvalidConfiguration(path=path, line=number, problem=f"there are more than {_MOST_RULES} rules")
        if len(line) > _LONGEST_RULE:
            raise InvalidConfiguration(path=path, line=number, problem=f"it has more than {_LONGEST_RULE} characters")
        yield _parse(line, number, path)


def without_ignored(session: Session, rules: IgnoreRules) -> Session:
    """The session without the calls that a rule keeps out, and without their results."""
    ignored = {place for place, step in enumerate(session.steps) if rules.against_step(step, root=session.root)}
    calls = {session.steps[place].call_id for place in ignored} - {None}
    kept = tuple(step for place, step in enumerate(session.steps) if place not in ignored and step.call_id not in calls)
    return msgspec.structs.replace(session, steps=kept) if len(kept) < len(session.steps) else session


def _read(path: Path) -> Iterator[IgnoreRule]:
    try:  # a link is its owner's affair: rules only narrow what is kept
        text = read_regular(path, follow=True, most=_LARGEST_RULES).decode()
    except FileNotFoundError:
        return
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidConfiguration(path=path, problem=getattr(error, "strerror", None) or str(error)) from error
    yield from parse_rules(text, path=path)


def _parse(line: str, number: int, path: Path | None) -> IgnoreRule:
    readmits, body = line.startswith("!"), line.removeprefix("!").strip()
    named = _KIND.fullmatch(body)
    kind, glob = (named[1].lower(), named[2]) if named else ("path", body)
    if kind not in get_args(RuleKind):
        known = ", ".join(get_args(RuleKind))
        raise InvalidConfiguration(
            path=path, line=number, problem=f"{kind!r} is not a kind of rule; there are: {known}"
        )
    if not glob.strip("/"):
        raise InvalidConfiguration(path=path, line=number, problem="there is nothing to match")
    if kind == "cut" and glob != EMAILS:
        raise InvalidConfiguration(path=path, line=number, problem=f"{glob!r} cannot be cut; there is: {EMAILS}")
    # A ``[`` that begins no class of letters would match only itself, which nobody means.
    if "[" in _CLASS.sub("", glob):
        raise InvalidConfiguration(
            path=path, line=number, problem=f"{glob!r} has a [ that nothing closes; [[] is the letter"
        )
    if "\\" in glob:
        problem = f"{glob!r} has a backslash; folders are parted by /, and [x] is the letter x"
        raise InvalidConfiguration(path=path, line=number, problem=problem)
    if "[:" in glob:
        raise InvalidConfiguration(path=path, line=number, problem=f"{glob!r} names a class of letters; write [a-z]")
    pattern = (
        _path_pattern(glob)
        if kind == "path"
        else fnmatch.translate(str(expanded(glob)) if glob.startswith("~/") else glob)
    )
    try:
        _compiled(pattern)
    except re.error as error:
        problem = f"{glob!r} has between [ and ] no letter, or a range that runs backwards"
        raise InvalidConfiguration(path=path, line=number, problem=problem) from error
    return IgnoreRule(line=line, kind=kind, pattern=pattern, readmits=readmits)  # type: ignore[arg-type]  # checked above


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """The expression, kept: `re` keeps 512."""
    return re.compile(pattern, re.DOTALL)


def _path_pattern(glob: str) -> str:
    """A pattern of .gitignore as an expression for a whole path: the thing named, or anything in it.

    A clone may bring any pattern, so none may take long: what stands between two wildcards of a kind has a fixed
    length, so the first place that fits is as good as any later one, and is not left again (``(?>``).
    """
    glob = str(expanded(glob)) + "/" * glob.endswith("/") if glob.startswith("~/") else glob
    body = glob.rstrip("/")
    begin = "/?" if body.startswith("/") else ""  # from the project's root, or from the file system's
    inside = "/.*" if glob.endswith("/") else "(?:/.*)?"
    body = body.removeprefix("/")
    return begin + _expression(body if "/" in body or begin else f"**/{body}") + inside


def _expression(glob: str) -> str:
    """The parts between ``**/``, each of whole names."""
    parts: list[list[str]] = [[]]
    name: list[str] = []
    for sign in [*_SIGN.findall(glob), "/"]:
        if sign != "/":
            name.append(sign)
            continue
        if len(name) == 1 and name[0].startswith("**"):
            parts.append([])
        else:
            parts[-1].append(_name_expression(name))
        name = []
    first, *later = ("/".join(names) for names in parts)
    found = first
    for place, part in enumerate(later, 1):
        slash = "/" if found else ""
        if not part:  # two in a row are one; at the end they stand for whatever is inside
            found += f"{slash}.*" * (place == len(later))
        elif place < len(later):
            found += f"{slash}(?>(?:[^/]*/)*?{part}(?=/))"
        else:
            found += f"{slash}(?:[^/]*/)*?{part}"
    return found


def _name_expression(signs: list[str]) -> str:
    """A file's or folder's name; stars stay within it."""
    pieces = [""]
    for sign in signs:
        if sign.startswith("*"):
            pieces.append("")
        else:
            pieces[-1] += _one_letter(sign)
    first, *later = pieces
    found = first + "".join(f"(?>[^/]*?{piece})" for piece in later[:-1])
    return f"{found}[^/]*{later[-1]}" if later else found


def _one_letter(sign: str) -> str:
    if sign == "?":
        return "[^/]"
    if len(sign) == 1:
        return re.escape(sign)
    inverted = sign[1] in "!^"
    # a hyphen after another would be a set's difference in a later Python
    letters = re.sub(r"(?<=[^-])\\-(?!\\-)", "-", re.escape(sign[2:-1] if inverted else sign[1:-1]))
    return f"(?!/)[{'^' * inverted}{letters}]"


def _names_of(path: str, base: str | None) -> tuple[str, ...]:
    """A path as rules may name it: whole, and from the base on."""
    whole = _slashes(path)
    if _ROUNDABOUT.search(whole):
        whole = posixpath.normpath(whole) + "/" * whole.endswith("/")
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


class MemoryFilter:
    """The `helix_episodes.ingest.IngestFilter` of the memory in ``root``; ``force`` lets forgotten sessions in."""

    def __init__(self, root: Path, *, force: bool) -> None:
        self._root = root
        self._rules = read_rules(root)
        self._base = str(root.parent) if root.name == FOLDER else None
        self._tombstones = Tombstones(root)
        self._force = force

    def against_log(self, path: Path) -> str | None:
        """The rule that keeps out the log's file."""
        return _said(self._rules.against_path(str(path.absolute()), base=self._base))

    def against_session(self, session: Session) -> str | None:
        """The rule that keeps out the session or its project, or that it was forgotten."""
        projects = [name for name in (session.project, session.root) if name]
        rule = self._rules.against("session", session.id) or self._rules.against("project", *projects)
        if rule is None and self.is_forgotten(session.id):
            return "its session was forgotten; `helix-graph episode extract --force LOG` brings it back"
        return _said(rule)

    def admitted(self, session: Session) -> Session:
        """The session without ignored calls and addresses, and without what its log copied from a forgotten one's."""
        kept = without_ignored(session, self._rules) if self._rules.rules else session
        kept = without_emails(kept) if self._rules.against("cut", EMAILS) else kept
        if self._tombstones.holds(session.id) or not self._forgotten_steps:
            return kept
        ids = (step.source.id for step in kept.steps)
        copied = max((n for n, one in enumerate(ids) if one and digest(one) in self._forgotten_steps), default=-1)
        return msgspec.structs.replace(kept, steps=kept.steps[copied + 1 :]) if copied >= 0 else kept

    def is_forgotten(self, session: str) -> bool:
        """Whether a session was forgotten, perhaps while its log was read."""
        return not self._force and self._tombstones.holds(session)

    def is_anothers(self, session: str) -> bool:
        """Whether the episode of a session came from the team's server."""
        return team_marker(self._root, PREFIX + session).exists()

    def is_origin(self, episode: Episode) -> bool:
        """Whether an episode was recorded from a log of this user.

        One that git tracks has to name a log that is here, or that was here when the same steps were asked for before.
        Whoever may commit could otherwise have a session's own steps cut from it, as those of a session of theirs.
        """
        try:
            is_tracked = bool(tracked_by_git(self._root, [f"episodes/{PREFIX}{episode.session}.json"]))
        except (OSError, ValueError, IndexError):  # such a memory is refused, and that says so
            is_tracked = True
        made = episode.provenance
        if not is_tracked or made is None:
            return not is_tracked
        ids = [one for one in (episode.session, made.first, made.last) if one]
        steps = "\n".join((episode.session, made.sha256, *sorted(set(ids_in(episode))))).encode()
        if is_sealed(self._root, "episodes", steps):
            return True
        logs = (log for _, log in logs_named({made.log}))
        with suppress(OSError, LogNotReadable):
            if is_unique(episode.session) and any(is_log_of(log, made, ids=ids) for log in logs):
                with suppress(WriteFailed):  # it is asked for again
                    seal_also(self._root, "episodes", steps)
                return True
        return False

    def lift(self, sessions: Iterable[str]) -> None:
        """Forgets that these were forgotten, since they have been recorded again."""
        for session in sessions if self._force else ():
            self._tombstones.lift(session)

    @cached_property
    def _forgotten_steps(self) -> frozenset[str]:
        return self._tombstones.steps()


def _said(rule: IgnoreRule | None) -> str | None:
    return f"excluded by .helixignore: {rule.line}" if rule else None
