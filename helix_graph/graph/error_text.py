"""What a pasted text says about its error: an error line, or all that a failed command printed.

It is read by the grammars that episodes are made with, so that the same output gets the same names. A single line
often lacks what they go by (a summary, a heading); then its wording is tried: as a tool's error, a failed command's, a
compiler's. And the families that the memory knows are looked for as words, since many are what programs print anyway
(``errcheck``, ``E501``, ``ModuleNotFoundError``).
"""

from __future__ import annotations

import re

from helix_episodes.regex import Regex
from helix_episodes.values import Value
from helix_graph.graph.masking import is_telling, line_key, one_line, template

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from helix_episodes.extraction.checks import Finding

#: Of a long output the beginning and the end are looked at, where programs put what went wrong.
_LINES_AT_EACH_END = 200
#: As many characters at each end: a megabyte of output has its verdict at an end, and the answer must come at once.
_CHARACTERS_AT_EACH_END = 50_000
#: Shorter words occur in every other label.
_SHORTEST_WORD = 3
_SAYS_NOTHING = Regex(
    r"(?:.* )?failed|exit code \d+|answered no|no message|does not compile|reported by the user|editor.s diagnostic",
    re.IGNORECASE,
)
_WORDS = Regex(r"[\w.:-]*\w")
#: A word that can be nothing but a name of an error: a code, or an exception.
_UNMISTAKABLE = Regex(r"[A-Za-z]{1,8}-?\d{2,5}|(?:[A-Z][a-z0-9]+){2,}")
_AT_A_PLACE = Regex(r"^\S+?:\d+(?::\d+)?: ")
#: What any program may say of anything: without its name, such a message is no precedent.
_OF_ANY_PROGRAM = frozenset(
    {
        "no such file",
        "permission denied",
        "unknown option",
        "unknown command",
        "timeout",
        "killed",
        "interrupted",
        "failed",
    }
)
_SHELLS = Regex(r"\(eval\):\d+: |(?:zsh|bash|sh|dash): ")
#: ``grep: x: No such file``, ``gh: Not Found (HTTP 404)``: how a program says who is speaking.
_NAMES_ITSELF = Regex(r"([a-z][\w.-]{1,30}): \S")


class Sought(Value):
    """What to look for.

    ``lines`` are keys of its lines; ``families`` pairs of check (None when the text doesn't tell) and family;
    ``checks`` those that failed; ``words`` all words of the text; ``phrase`` the text in one case, when it is one line.
    """

    lines: tuple[str, ...] = ()
    families: tuple[tuple[str | None, str], ...] = ()
    checks: tuple[str, ...] = ()
    words: frozenset[str] = frozenset()
    phrase: str = ""

    def names(self, *, check: str, family: str) -> bool:
        """Whether the text has this family's name in it, in a way that is no accident."""
        parts = _WORDS.findall(family)
        if not parts or not self.words.issuperset(parts):
            return False
        unmistakable = any(_UNMISTAKABLE.fullmatch(part) for part in parts)
        return unmistakable or f"({family})" in self.words or self.words.issuperset(check.split(" "))


def read_error(text: str) -> Sought:
    r"""What a text says about its error.

    >>> read_error("cart.py:3:80: E501 Line too long (99 > 88)\nFound 1 error.").families
    (('ruff', 'E501'),)
    """
    ends = _both_ends(text)
    found = list(_judged(ends)) or list(_guessed(ends))
    lines = [line.removeprefix("E  ").strip() for line in (*(finding.message for _, finding in found), *_lines(ends))]
    families = ((check, template(finding.family)) for check, finding in found if says_something(finding.family))
    return Sought(
        lines=tuple(dict.fromkeys(line_key(line) for line in lines if is_telling(line))),
        families=tuple(dict.fromkeys(families)),
        checks=tuple(dict.fromkeys(check for check, _ in found if check)),
        words=frozenset(_WORDS.findall(ends)) | frozenset(re.findall(r"\([\w ]+\)", ends)),
        phrase=_phrase(text),
    )


def says_something(family: str) -> bool:
    """Whether a family tells one trouble from another.

    >>> says_something("errcheck"), says_something("test failed")
    (True, False)
    """
    return not _SAYS_NOTHING.fullmatch(family)


def _judged(text: str) -> Iterator[tuple[str | None, Finding]]:
    """Check and finding of every verdict in the text that is a failure."""
    from helix_episodes.extraction.checks import read_verdicts  # noqa: PLC0415  (of all questions only seen reads output)
    from helix_episodes.extraction.commands import Segment  # noqa: PLC0415  (as above)

    # The grammars ask which command printed the text; this one may have run anything.
    some_command = (Segment(text="./something", program="something"),)
    for verdict in read_verdicts(some_command, output=text, exit_code=None, status="error"):
        if verdict.passed is False:
            yield from ((verdict.check, finding) for finding in verdict.findings)


def _guessed(text: str) -> Iterator[tuple[str | None, Finding]]:
    """Whatever the wording of the text may mean, when no grammar knows it, with the program that it names.

    "No such file" from ``grep`` has nothing to do with "no such file" from a script, so such a family counts only for
    the program that prints its own name before it.
    """
    from helix_episodes.extraction.checks import command_finding, tools_own_finding, unflagged_finding  # noqa: PLC0415  (as above)
    from helix_episodes.extraction.checks.compilers import compile_family  # noqa: PLC0415  (as above)

    command = unflagged_finding((), output=text) or command_finding((), output=text, exit_code=None)
    speaker = _speaker(command.message)
    tool = tools_own_finding(text)
    if speaker or command.family not in _OF_ANY_PROGRAM:
        yield speaker, command
    if tool and not speaker:
        yield None, tool
    if _AT_A_PLACE.match(command.message):
        yield None, command._replace(family=compile_family(command.message))


def _speaker(message: str) -> str | None:
    """The program that a message says it comes from, under the name that episodes give it."""
    if message.startswith("fatal: "):
        return "git"
    if _SHELLS.match(message):
        return "shell"
    named = _NAMES_ITSELF.match(message)
    return named[1] if named else None


def _phrase(text: str) -> str:
    lines = text.strip().splitlines()
    phrase = one_line(lines[0]).casefold() if len(lines) == 1 else ""
    return phrase if len(phrase) >= _SHORTEST_WORD else ""


def _both_ends(text: str) -> str:
    if len(text) <= 2 * _CHARACTERS_AT_EACH_END:
        return text
    return f"{text[:_CHARACTERS_AT_EACH_END]}\n{text[-_CHARACTERS_AT_EACH_END:]}"


def _lines(text: str) -> list[str]:
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) <= 2 * _LINES_AT_EACH_END:
        return lines
    return lines[:_LINES_AT_EACH_END] + lines[-_LINES_AT_EACH_END:]
