"""The commands in a shell text, each with its program, its purpose and the check it runs.

An agent's command is rarely one command: it changes folder, sets a variable, runs the formatter, then the tests, and
cuts the output. The *decisive* part is what a reader would name ("ran the tests"); a *hidden* exit status is one that
cannot be seen from outside (``go test | tail``), so that only the text can say how the check came out.

>>> test, cut = parse_command("cd api && go test ./store -run TestPut 2>&1 | tail -5")[1:]
>>> test.purpose, test.check, test.scope
('check', 'go test', ('-run TestPut', './store'))
>>> decisive(parse_command("mise run fmt && mise run lint")).check
'mise lint'
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise

from helix_episodes.extraction.shell import programs as known
from helix_episodes.extraction.shell.parsing import SimpleCommand, split_shell
from helix_episodes.extraction.shell.purposes import (
    ASSIGNMENT,
    program_name,
    protected_flags,
    role_of,
    scope_of,
    skip_options,
    subcommand_of,
    through_module,
)
from helix_episodes.light_imports import Value
from helix_episodes.normalization import one_line
from helix_episodes.safe_files import LONGEST_COMMAND

TYPE_CHECKING = False
if TYPE_CHECKING:
    from helix_episodes.extraction.shell.parsing import Joiner
    from helix_episodes.extraction.shell.programs import CheckKind, Purpose


class Segment(Value):
    """One simple command of a shell text, and what it is for.

    ``program`` has neither path nor wrappers (``sudo``, ``npx``, ``poetry run`` …); ``arguments`` are all words after
    it; ``flags`` only those that change what the command means, sorted; ``joiner`` is how it follows the one before.
    ``check`` names the check it runs, ``kind`` what sort of check (or that it formats), ``scope`` the arguments that
    narrow what is checked, sorted, empty for everything. ``target`` is the file it is written to. ``hidden`` is true
    when a loop, a condition or a group around it keeps its exit status from being seen; ask ``hides_exit`` for the
    whole truth.
    """

    text: str
    program: str
    subcommand: str | None = None
    arguments: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    joiner: Joiner = ""
    purpose: Purpose = "change"
    check: str | None = None
    kind: CheckKind | None = None
    scope: tuple[str, ...] = ()
    target: str = ""
    hidden: bool = False


# bash -c "bash -c …" three deep does not occur; the limit keeps the recursion bounded.
_DEEPEST = 3


# Agents give the same command again and again, and task runners print it each time.
@lru_cache(maxsize=4096)
def parse_command(text: str) -> tuple[Segment, ...]:
    """The commands in a shell text, in order, with what each is for. Never raises.

    Here-documents, comments and substitutions are no commands; wrappers are seen through; ``bash -c '…'`` is opened.

    >>> [(part.program, part.purpose) for part in parse_command("FOO=1 timeout 60 npx jest; git push -f")]
    [('jest', 'check'), ('git', 'change')]
    """
    return _parse(text, depth=0)


def decisive(segments: tuple[Segment, ...]) -> Segment | None:
    """The part that says what the command was for; ``None`` when there is no part.

    The last check that is no formatter, else the last change, else the last formatter, else the last that does more
    than set something up (``cd``, ``export``, ``echo`` …).

    >>> decisive(parse_command("git add -A && git commit -m done && git log -1")).subcommand
    'commit'
    """
    ranks = (
        [part for part in segments if part.purpose == "check" and part.kind != "format"],
        [part for part in segments if part.purpose == "change"],
        [part for part in segments if part.kind == "format"],
        [part for part in segments if part.program not in known.SETTINGS],
        segments,
    )
    return next((rank[-1] for rank in ranks if rank), None)


def plain_command(command: str) -> str:
    """What a command was run for, on one line, without where it went first and what became of its output.

    >>> plain_command("cd ~/shop && bun run lint:fix 2>&1 | tail -5")
    'bun run lint:fix'
    """
    part = decisive(tuple(one for one in parse_command(command[:LONGEST_COMMAND]) if one.joiner != "|"))
    return one_line(part.text if part is not None else command)


def hides_exit(segments: tuple[Segment, ...], index: int) -> bool:
    """Whether the exit status of that part cannot be seen in the exit status of the whole.

    >>> [hides_exit(parse_command(text), 0) for text in ("a | tail", "a || true", "a; b", "a && b", "a || exit 1")]
    [True, True, True, False, False]
    """
    if segments[index].hidden:
        return True
    following = segments[index + 1 :]
    if following and following[0].joiner == "|" and not _has_option(segments[:index], "pipefail"):
        return True
    # A failure skips the parts behind ``&&`` and reaches what runs anyway.
    reached = next((part for part in following if part.joiner in {"||", ";"}), None)
    if reached is None:
        return False
    if reached.joiner == ";":
        return not _has_option(segments[:index], "-e")
    return reached.program not in {"exit", "return", "false"}


def _has_option(before: tuple[Segment, ...], option: str) -> bool:
    """Whether ``set`` switched a shell option on: ``set -e``, ``set -euo pipefail``."""
    words = [word for part in before if part.program == "set" for word in part.arguments]
    if option == "-e":
        return any(re.fullmatch(r"-\w*e\w*", word) or word == "errexit" for word in words)
    return option in words


def _parse(text: str, *, depth: int) -> tuple[Segment, ...]:
    parts = split_shell(text)
    found: list[Segment] = []
    for position, part in enumerate(parts):
        words = _unwrap(part.words)
        script = _inner_script(words)
        if script is not None and depth < _DEEPEST:
            piped_on = position + 1 < len(parts) and parts[position + 1].joiner == "|"
            inner = _parse(script, depth=depth + 1)
            found += [
                segment._replace(
                    joiner=segment.joiner if number else part.joiner,
                    hidden=segment.hidden or part.hidden or (piped_on and number < len(inner) - 1),
                )
                for number, segment in enumerate(inner)
            ]
        elif words[0]:  # an empty word, quoted, runs nothing
            found.append(_segment(part, words))
    return tuple(found)


def _inner_script(words: tuple[str, ...]) -> str | None:
    """The text of ``bash -c 'text'``, also ``bash -lc``."""
    if not words or program_name(words[0]) not in known.SHELLS:
        return None
    for flag, script in pairwise(words[1:]):
        if re.fullmatch(r"-\w*c", flag):
            return script
    return None


def _unwrap(words: tuple[str, ...]) -> tuple[str, ...]:
    """The words of the command that is really run: without assignments and wrappers before it."""
    while words:
        rest = _without_assignments(words)
        inner = _without_wrapper(rest)
        if inner == words:
            break
        words = inner
    return words


def _without_assignments(words: tuple[str, ...]) -> tuple[str, ...]:
    """The command after ``A=1 B=2``; assignments alone stay, since then they are the command."""
    first = next((at for at, word in enumerate(words) if not ASSIGNMENT.match(word)), len(words))
    return words[first:] or words


def _without_wrapper(words: tuple[str, ...]) -> tuple[str, ...]:
    for length in (2, 1):
        name = " ".join((program_name(words[0]), *words[1:length]))
        if len(words) > length and name in known.WRAPPERS:
            inner = words[length:]
            if name in known.TOOLS_FIRST and "--" in inner:
                inner = inner[inner.index("--") :]
            inner = skip_options(inner, known.WRAPPERS[name])
            inner = inner[known.WRAPPER_WORDS.get(name, 0) :]
            return _without_assignments(inner) if inner else words
    return words


def _segment(part: SimpleCommand, words: tuple[str, ...]) -> Segment:
    if ASSIGNMENT.match(words[0]):
        words = ("export", *words)  # setting a variable, with or without the word
    words = through_module(words)
    program, arguments = program_name(words[0]), words[1:]
    subcommand, rest = subcommand_of(program, arguments)
    purpose, check, kind = role_of(program, subcommand, arguments)
    if purpose == "look" and part.target and not part.target.startswith(known.SCRATCH):
        purpose = "change"  # what is put aside in a folder for scratch is looked at next
    checks = purpose == "check"
    return Segment(
        text=part.text,
        program=program,
        subcommand=subcommand,
        arguments=arguments,
        flags=() if purpose == "look" else protected_flags(program, subcommand, arguments),
        joiner=part.joiner,
        purpose=purpose,
        check=check,
        kind=kind,
        scope=scope_of(program, rest) if checks else (),
        target=part.target,
        hidden=part.hidden,
    )
