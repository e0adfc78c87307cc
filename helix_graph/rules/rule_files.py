r"""The files in which rules are written, every version of them, and when git says each line appeared and went.

Rules come with a clone: they are quoted data like anything else that strangers wrote, and prove nothing.

>>> [one.text for one in rule_lines("# Checks\n\n- Run `make lint`\n  before you commit\n\nThat is all it says.")]
['Run `make lint` before you commit', 'That is all it says.']
>>> rule_lines("## Hook\nIt runs:\n- `make lint` for style")[0].around
('It runs:',)
"""

from __future__ import annotations

import hashlib
import os
import re
from collections import defaultdict
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from helix_episodes.model import sortable_time
from helix_episodes.redaction import for_disk
from helix_episodes.safe_files import read_regular
from helix_graph.git import git_output
from helix_graph.rules.binding import bind
from helix_graph.rules.model import Binding, Rule, RuleSpan, Source

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

#: Where agents look for rules, as git's own patterns of paths.
PATTERNS = (
    "AGENTS.md", "CLAUDE.md", "GEMINI.md", ".cursorrules", ".cursor/rules/**", ".github/copilot-instructions.md",
    ".github/instructions/**", ".claude/rules/**", ".claude/skills/*/SKILL.md", ".agents/skills/*/SKILL.md",
    ".github/skills/*/SKILL.md",
)  # fmt: skip
#: A user's own, below the home folder.
OWN = (
    ".claude/CLAUDE.md", ".codex/AGENTS.md", ".gemini/GEMINI.md", ".config/opencode/AGENTS.md",
    ".copilot/copilot-instructions.md", ".claude/skills/*/SKILL.md", ".agents/skills/*/SKILL.md",
)  # fmt: skip
_FENCE = re.compile(r"\s*(?:```|~~~)")
_HEADING = re.compile(r"#{1,6}\s+(\S.*)?$")
_ITEM = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+(?:\[[ xX]\]\s+)?")
_NO_TEXT = re.compile(r"\s*(?:\||<|---|>|@\S+$|$)")
#: Comments (the marks of a block are comments) and what a program reads at the head of a file are no rules.
_COMMENT = re.compile(r"(?<!`)<!--")
_COMMENT_END = "-->"
_FRONT = re.compile(r"\A\ufeff?---[ \t]*\n.*?\n---[ \t]*(?:\n|\Z)", re.DOTALL)
_FEWEST_WORDS = 3
#: A line that asks for something. Others describe the project.
_ASKS = re.compile(
    r"\b(?:always|never|must|do not|don['\u2019]t|run|use|prefer|avoid|ensure|make sure|should|required?|keep|put|write"
    r"|before|after|instead|only|verify|check|add|update|create|follow|not)\b",
    re.IGNORECASE,
)
#: So much of the words of a line is in the one that took its place, else it is another rule.
_SAME = 0.75
#: So many lines of a file count, and a commit with more pairs of old and new lines is not compared line by line: nobody
#: reads so long a page of rules.
_MOST_LINES, _MOST_COMPARED = 2000, 250_000
_RECORD = "\x01"
#: A longer file is no page of rules.
_LONGEST = 1 << 20


class FileVersion(NamedTuple):
    """A rule file as one commit left it; ``text`` is None where the commit removed it."""

    path: str
    commit: str
    date: str
    text: str | None


class RuleLine(NamedTuple):
    """An item or a paragraph, its heading, and what else it stands under: headings above, the line that leads to it."""

    heading: str
    text: str
    around: tuple[str, ...] = ()

    def bound(self) -> Binding | None:
        """What sessions show of it."""
        return bind(self.text, heading=self.heading, around=self.around)


def rule_lines(text: str) -> list[RuleLine]:
    """The items and paragraphs of a rule file with their headings; a code block belongs to the line it follows on.

    A line that ends in a colon takes the commands of the block below it as code, and leads to the items below it.
    """
    found: list[RuleLine] = []
    fenced, opened, begun = False, False, False
    titles: list[tuple[int, str]] = []
    paragraph = outer = -1  # where the paragraph and the outer item are that lead to an item
    for line in _without_comments(_FRONT.sub("", text)).splitlines():
        if _FENCE.match(line):
            fenced, begun = not fenced, False
            opened = fenced and bool(found) and found[-1].text.rstrip("*_ ").endswith(":")
        elif fenced:
            code = line.strip()
            if opened and code and not code.startswith("#"):
                found[-1] = found[-1]._replace(text=f"{found[-1].text} `{code}`")
        elif title := _HEADING.match(line):
            level = len(line) - len(line.lstrip("#"))
            name = (title[1] or "").rstrip().rstrip("#").rstrip()
            titles = [*(one for one in titles if one[0] < level), (level, name)]
            begun, paragraph, outer = False, -1, -1
        elif _NO_TEXT.match(line):
            begun = False
        elif begun and not _ITEM.match(line):
            found[-1] = found[-1]._replace(text=f"{found[-1].text} {line.strip()}")
        else:
            is_item, is_inner = _ITEM.match(line) is not None, line[0].isspace()
            leads = [found[at].text for at in (paragraph, outer if is_inner else -1) if is_item and at >= 0]
            # The title of the whole file says nothing of its parts.
            parents = [title for level, title in titles[:-1] if level > 1]
            around = (*parents, *(one for one in leads if one.rstrip("*_ ").endswith(":") and "`" not in one))
            found.append(RuleLine(titles[-1][1] if titles else "", _ITEM.sub("", line, count=1).strip(), around))
            begun = True
            paragraph = paragraph if is_item else len(found) - 1
            outer = outer if is_item and is_inner else len(found) - 1
    return [one for one in found if len(one.text.split()) >= _FEWEST_WORDS]


def _without_comments(text: str) -> str:
    """The text without comments of HTML; one that is never closed is none, and neither is any after it."""
    kept, at = [], 0
    while (begin := _COMMENT.search(text, at)) and (end := text.find(_COMMENT_END, begin.end())) >= 0:
        kept.append(text[at : begin.start()])
        at = end + len(_COMMENT_END)
    return "".join((*kept, text[at:]))


def project_versions(folder: Path) -> list[FileVersion]:
    """Every version of the project's rule files, the oldest first, what is not committed last; `PATTERNS` says which.

    Without git there is what the files say now, since the time at which they were last changed.
    """
    specs = [f":(glob){prefix}{pattern}" for pattern in PATTERNS for prefix in ("", "**/")]
    listed = git_output(folder, "log", f"--format={_RECORD}%H %cI", "--name-only", "--relative", "--", *specs)
    asked: list[tuple[str, str, str]] = []
    commit = date = ""
    for line in (listed or b"").decode("utf-8", "replace").splitlines():
        if line.startswith(_RECORD):
            commit, _, date = line.removeprefix(_RECORD).partition(" ")
        elif line:
            asked.append((line, commit, date))
    asked.reverse()
    found = list(_contents(folder, asked))
    newest = {one.path: one for one in found}
    for path in _paths_now(folder):
        now = _read(folder / path)
        if now is not None and (path not in newest or newest[path].text != now):
            found.append(FileVersion(path, "", _changed_at(folder / path), now))
    return found


def own_versions(home: Path) -> list[FileVersion]:
    """The user's own rule files as they are now."""
    paths = sorted({path for pattern in OWN for path in home.glob(pattern)})
    return [
        FileVersion(f"~/{path.relative_to(home)}", "", _changed_at(path), text)
        for path in paths
        if (text := _read(path)) is not None
    ]


def rules_in(versions: Sequence[FileVersion], *, source: Source = "project") -> list[Rule]:
    """Each rule of these versions (of each file the oldest first), with the time during which it was in each file.

    A line that takes the place of one with nearly the same words, or of one of which sessions show the same, is the
    same rule, as it reads now.
    """
    by_file: defaultdict[str, list[FileVersion]] = defaultdict(list)
    for one in _with_imports(versions):
        by_file[one.path].append(one)
    texts: dict[str, RuleLine] = {}
    spans: defaultdict[str, list[RuleSpan]] = defaultdict(list)
    for path, history in sorted(by_file.items()):
        for identity, span, line in _lives(path, history):
            texts[identity] = line
            spans[identity].append(span)
    _join_copies(texts, spans)
    # What sessions are compared with is redacted as they are.
    lines = {identity: RuleLine(*map(for_disk, line)) for identity, line in texts.items()}
    return [
        Rule(
            id=identity,
            text=lines[identity].text,
            heading=lines[identity].heading,
            source=source,
            spans=tuple(sorted(lives, key=lambda span: (span.since, span.file))),
            # A skill's lines hold where the skill is used, which no session shows for certain.
            binding=None if all(Path(one.file).name == "SKILL.md" for one in lives) else lines[identity].bound(),
        )
        for identity, lives in spans.items()
    ]


#: Another file of rules, read in that place: as Claude Code and Gemini import it, or as a link is stored by git.
_IMPORTED = re.compile(r"(?:(?<![\w`@])@|\A)(?:\./|~/)?([\w./-]+\.mdc?)(?=[\s.,;)]|\Z)")
_IMPORTING = frozenset({"CLAUDE.md", "GEMINI.md"})


def _with_imports(versions: Iterable[FileVersion]) -> Iterator[FileVersion]:
    """The versions, and one more of a file whenever a file that it imports changes: what it says is theirs as well."""
    now: dict[str, FileVersion] = {}
    imports: dict[str, set[str]] = {}
    for one in versions:
        now[one.path] = one
        path, text = Path(one.path), one.text or ""
        named = _IMPORTED.findall(text) if path.name in _IMPORTING or text.count("\n") <= 1 else ()
        imports[one.path] = {os.path.normpath(path.parent / name) for name in named} - {one.path}
        for file in [one.path, *(file for file, named in imports.items() if one.path in named)]:
            texts = [now[name].text or "" for name in (file, *sorted(imports[file])) if name in now]
            yield one._replace(path=file, text=now[file].text and "\n\n".join(texts))


def _join_copies(texts: Mapping[str, RuleLine], spans: dict[str, list[RuleSpan]]) -> None:
    """Lines that read the same by now are one rule, whatever each was before: the one that is oldest."""
    by_words: defaultdict[str, list[str]] = defaultdict(list)
    for identity in spans:
        by_words[_key(texts[identity].text)].append(identity)
    for copies in by_words.values():
        oldest = min(copies, key=lambda one: (min(span.since for span in spans[one]), one))
        for other in copies:
            if other != oldest:
                spans[oldest] += spans.pop(other)


def _lives(path: str, history: Sequence[FileVersion]) -> Iterator[tuple[str, RuleSpan, RuleLine]]:
    """The rules of one file with the time in which each was there."""
    alive: dict[str, tuple[str, RuleSpan, RuleLine]] = {}
    for version in history:
        at = sortable_time(version.date)
        asking = [one for one in rule_lines(version.text or "") if _ASKS.search(one.text)]
        lines = {_key(one.text): one for one in asking[:_MOST_LINES]}
        gone = {key: alive.pop(key) for key in [key for key in alive if key not in lines]}
        words_of_gone = {key: frozenset(key.split()) for key in gone}
        too_many = len(gone) * len(lines.keys() - alive.keys()) > _MOST_COMPARED
        for key, line in lines.items():
            if key in alive:
                identity, span, _ = alive[key]
                alive[key] = identity, span, line
                continue
            before = None if too_many else _reworded(key, words_of_gone) or _same_binding(line, gone)
            if before is not None:
                identity, span, _ = gone.pop(before)
                del words_of_gone[before]
                alive[key] = identity, span, line
            else:
                alive[key] = _identity(key), RuleSpan(file=path, since=at, commit=version.commit), line
        for identity, span, line in gone.values():
            yield identity, RuleSpan(file=path, since=span.since, commit=span.commit, until=at), line
    yield from alive.values()


def _reworded(key: str, gone: Mapping[str, frozenset[str]]) -> str | None:
    """The line among those that went, whose words are nearly the same."""
    words = frozenset(key.split())
    near = (one for one in gone.items() if len(one[1]) >= _SAME * len(words))
    best = max(((len(words & other) / len(words | other), name) for name, other in near), default=(0.0, ""))
    return best[1] if best[0] >= _SAME else None


def _same_binding(line: RuleLine, gone: Mapping[str, tuple[str, RuleSpan, RuleLine]]) -> str | None:
    """The line among those that went, of which sessions show the same, in whatever words."""
    bound = line.bound() if gone else None
    if bound is None:
        return None
    return next((key for key, (_, _, old) in gone.items() if old.bound() == bound), None)


def _key(text: str) -> str:
    """A line as it is compared: without case, marks and what surrounds its words."""
    return " ".join(re.findall(r"[\w./:@-]+", text.casefold()))


def id_of_line(text: str) -> str:
    """The id of the rule that a line is, where no earlier line was reworded into it."""
    return _identity(_key(text))


def _identity(key: str) -> str:
    return hashlib.blake2b(key.encode(), digest_size=8).hexdigest()


def _contents(folder: Path, asked: Sequence[tuple[str, str, str]]) -> Iterator[FileVersion]:
    """The files at these commits, read by one process; a file that is missing, or too long for rules, has no text."""
    names = [f"{commit}:./{path}".encode() for path, commit, _ in asked]
    kinds = (_git_batch(folder, "--batch-check", names) or b"").splitlines()
    read = [_is_short(kind) for kind in kinds]
    if len(read) != len(asked):  # git failed
        return
    contents = _git_batch(folder, "--batch", [name for name, short in zip(names, read, strict=True) if short]) or b""
    at = 0
    for (path, commit, date), short in zip(asked, read, strict=True):
        if not short:
            yield FileVersion(path, commit, date, None)
            continue
        head, _, _ = contents[at:].partition(b"\n")
        at += len(head) + 1
        size = int(head.split()[2])
        yield FileVersion(path, commit, date, contents[at : at + size].decode("utf-8", "replace"))
        at += size + 1


def _git_batch(folder: Path, option: str, names: Sequence[bytes]) -> bytes | None:
    return git_output(folder, "cat-file", option, asked=b"".join(name + b"\n" for name in names)) if names else None


def _is_short(kind: bytes) -> bool:
    """Whether what git says of an object (its name, type and size) is that it is a file of a length that is read."""
    words = kind.split()
    return len(words) == 3 and words[1] == b"blob" and int(words[2]) <= _LONGEST  # noqa: PLR2004  (else it is missing)


def _paths_now(folder: Path) -> list[str]:
    """The rule files that are there, tracked or not; without git only those at the usual places of the root."""
    specs = [f":(glob){prefix}{pattern}" for pattern in PATTERNS for prefix in ("", "**/")]
    listed = git_output(folder, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *specs)
    if listed is None:  # an archive may hold links to folders elsewhere, which git lists as what they are
        found = {path for pattern in PATTERNS for path in folder.glob(pattern) if path.is_file()}
        here = folder.resolve()
        return sorted(str(path.relative_to(folder)) for path in found if path.resolve().is_relative_to(here))
    return sorted({name.decode("utf-8", "replace") for name in listed.split(b"\0") if name})


def _read(path: Path) -> str | None:
    try:
        return read_regular(path, most=_LONGEST).decode("utf-8", "replace")
    except OSError:
        return None


def _changed_at(path: Path) -> str:
    from datetime import UTC, datetime

    try:
        return datetime.fromtimestamp(path.stat().st_mtime, UTC).isoformat()
    except OSError:
        return ""


def in_force(rule: Rule, at: str, agent: str = "") -> bool:
    """Whether a rule was in a file at a time, and with ``agent`` in one that this agent reads."""
    spans = (span for span in rule.spans if span.since <= at and (span.until is None or at < span.until))
    return any(is_read_by(agent, span.file) for span in spans)


#: Names of files and folders in which these look for rules by themselves; every other agent reads AGENTS.md.
_READ_BY = {
    "claude-code": ("CLAUDE.md", ".claude"),
    "gemini": ("GEMINI.md",),
    "copilot": ("copilot-instructions.md", "instructions", "AGENTS.md"),
    "cursor": (".cursor", ".cursorrules", "AGENTS.md"),
}


@lru_cache(maxsize=1024)
def is_read_by(agent: str, file: str) -> bool:
    """Whether an agent reads a file of rules by itself; a session of an agent without a name may have read any.

    >>> is_read_by("claude-code", "web/CLAUDE.md"), is_read_by("claude-code", "AGENTS.md")
    (True, False)
    >>> is_read_by("codex", "AGENTS.md"), is_read_by("codex", ".cursor/rules/style.mdc"), is_read_by("", "AGENTS.md")
    (True, False, True)
    """
    return not agent or any(name in Path(file).parts for name in _READ_BY.get(agent, ("AGENTS.md",)))


def file_for_agents(folder: Path, agents: Collection[str]) -> str:
    """The file for a new rule: the first of those that these agents read that is there, else the first of them.

    >>> file_for_agents(Path("/nowhere"), ["claude-code"]), file_for_agents(Path("/nowhere"), ["claude-code", "codex"])
    ('CLAUDE.md', 'AGENTS.md')
    """
    usual = ("AGENTS.md", "CLAUDE.md", "GEMINI.md")
    read = [name for name in usual if not agents or any(is_read_by(agent, name) for agent in agents)]
    return next((name for name in read if (folder / name).is_file()), read[0])


def files_of(rules: Iterable[Rule]) -> tuple[str, ...]:
    """The files that have a rule now."""
    return tuple(sorted({span.file for rule in rules for span in rule.spans if span.until is None}))
