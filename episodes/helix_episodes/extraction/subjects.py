"""Subjects: what a call is about, which files it writes, and which files its failure points at.

Whether a later call answers an earlier failure depends on whether both are about the same thing: the same program, the
same script, the same file. The clock says nothing of that.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from helix_episodes.extraction.acts import CHANGES, mentioned_names
from helix_episodes.extraction.paths import file_name
from helix_episodes.extraction.programs import INTERPRETERS, SHELLS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from helix_episodes.extraction.acts import Act
    from helix_episodes.extraction.commands import Segment

#: What a call may be about: a sort of thing, its name, and what else tells it apart.
Subject = tuple[str, str, str]
#: Programs that send requests.
_REQUESTS = frozenset({("gh", "api"), ("curl", None), ("wget", None), ("http", None), ("https", None)})
#: How a traceback and a compiler name the place that went wrong.
_PLACE = re.compile(r'File "([^"\n]{1,300})", line \d|([\w./@+-]{1,300}\.\w{1,8}):\d')
#: A text in code that names a file or an address, or is long enough (20 characters) to be about one thing only.
_MATERIAL = re.compile(r"""["']([^"'\s]{0,300}(?:\w\.[A-Za-z]\w{0,4}|://[^"'\s]{1,300})|[^"'\n]{20,300})["']""")
#: Where an output ends, the reason stands; what a program printed before is its own affair.
_TAIL = 8000
#: Programs whose operands are the files they change; of those in `_LAST_IS_TARGET` only the last is.
_WRITE_OPERANDS = frozenset({"rm", "tee", "touch", "sed", "perl"})
_LAST_IS_TARGET = frozenset({"mv", "cp", "ln"})
#: Programs whose first operand is a script, unless a flag gives it.
_SCRIPTED = {"sed": frozenset({"-e", "-f", "--expression", "--file"}), "perl": frozenset({"-e"})}


def subjects_of(act: Act) -> Iterator[Subject]:
    """What a call is about, the most telling first: a program and subcommand, a file, any name it mentions, a tool."""
    if act.operation == "run":
        segment = act.decisive
        if segment is not None and "--abort" not in segment.arguments:
            yield "run", segment.program, " ".join(filter(None, (segment.subcommand, _address(segment))))
        return
    if act.path is not None:
        yield "file", file_name(act.path), ""
    else:
        yield "tool", act.call.tool or "", act.operation or ""
    for name in mentioned_names(act):
        yield "file", name, ""


def _address(segment: Segment) -> str:
    """Of a request what it goes to: asking one address says nothing of another."""
    if (segment.program, segment.subcommand) not in _REQUESTS:
        return ""
    operands = [word for word in segment.arguments if not word.startswith("-") and word != segment.subcommand]
    return next((word for word in operands if "/" in word), "").partition("?")[0]


def is_look(act: Act) -> bool:
    """Whether a command only shows something."""
    return act.operation == "run" and act.decisive is not None and act.decisive.purpose == "look"


def is_request(act: Act) -> bool:
    """Whether a command sends a request."""
    segment = act.decisive
    return segment is not None and (segment.program, segment.subcommand) in _REQUESTS


def command_of(act: Act) -> str:
    """The text of a command, or of code that is run, without regard to its blanks."""
    return " ".join(str(act.call.arguments.get("command") or act.call.arguments.get("code") or "").split())


def is_code(act: Act) -> bool:
    """Whether it hands code to a terminal, which runs anybody's code."""
    return act.operation == "use" and isinstance(act.call.arguments.get("code"), str) and act.path is None


def goes_on(failed: Act, act: Act) -> bool:
    """Whether code goes on with what failed: on the same file, address or text, or with half of its lines."""
    before, after = (str(one.call.arguments.get("code") or "") for one in (failed, act))
    if _materials(before) & _materials(after):
        return True
    lines = _lines(before)
    return bool(lines) and 2 * len(lines & _lines(after)) >= len(lines)


def _materials(code: str) -> set[str]:
    """The files, addresses and longer texts that code names."""
    return {one[1].partition("?")[0] for one in _MATERIAL.finditer(code)}


def _lines(code: str) -> set[str]:
    """What code does, line by line; that it imports something, many programs have in common."""
    lines = (line.strip() for line in code.splitlines())
    return {line for line in lines if line and not line.startswith(("#", "import ", "from "))}


def operands_of(act: Act) -> frozenset[str]:
    """The names of what a command is given: its words that are no flags, of paths the last part."""
    segment = act.decisive
    if segment is None:
        return frozenset()
    told = (segment.subcommand or "").split()
    words = (word for word in segment.arguments if word and not word.startswith("-") and word not in told)
    return frozenset(file_name(word) for word in words)


def places_in(act: Act) -> frozenset[str]:
    """The names of the files that a failed command points at: its script, and the places that its output names."""
    segment = act.decisive
    if segment is None or segment.purpose == "look":
        return frozenset()
    named = {file_name(one[1] or one[2]) for one in _PLACE.finditer(act.output[-_TAIL:])}
    script = segment.subcommand if segment.program in INTERPRETERS | SHELLS else segment.program
    return frozenset(named | ({file_name(script)} if script and "." in script else set()))


def written_by(act: Act) -> frozenset[str] | None:
    """The paths of the files that a call writes; None where it changes something that its words do not name.

    >>> from helix_episodes.extraction.commands import parse_command
    >>> sorted(written(parse_command("sed -i s/a/b/ x.py y.py")[0])), written(parse_command("git stash pop")[0])
    (['x.py', 'y.py'], None)
    """
    if act.operation in CHANGES:
        return frozenset({act.path}) if act.path else None
    found: set[str] = set()
    for segment in act.segments:
        if segment.purpose in {"change", "format"}:
            paths = written(segment)
            if paths is None:
                return None
            found |= paths
    return frozenset(found)


def written(segment: Segment) -> frozenset[str] | None:
    """As `written_by`, of one command."""
    if segment.target:
        return frozenset({segment.target})
    operands = [word for word in segment.arguments if word and not word.startswith("-")]
    if segment.program in _LAST_IS_TARGET:
        operands = operands[-1:]
    elif segment.program not in _WRITE_OPERANDS:
        return None
    elif segment.program in _SCRIPTED:
        given = _SCRIPTED[segment.program]
        flags = [at for at, word in enumerate(segment.arguments) if word in given]
        scripts = {segment.arguments[at + 1] for at in flags if at + 1 < len(segment.arguments)}
        operands = [word for word in operands if word not in scripts][0 if scripts else 1 :]
    named = not any(sign in word for word in operands for sign in "*?$`")
    return frozenset(operands) if operands and named else None
