r"""What a text says about its errors: each issue in it, and under which names the graph may know it.

`read_error` takes a line or a whole output. The grammars that episodes are made with read it first; where they find no
verdict, the wording decides. What comes out are *complaints*, one for each issue, with the fingerprints under which it
is recognised, its kind (check and family) and what its message names: symbol, test, file.

A hook runs this after every failure of a tool, so the module imports little; the grammars load when a text is read.
"""

from __future__ import annotations

import re
import sys
from functools import lru_cache

from helix_episodes.light_imports import Regex, Value
from helix_episodes.normalization import is_telling, one_line, template
from helix_graph.graph.node_labels import check_label

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from helix_episodes.extraction.checks import CheckFinding
    from helix_episodes.extraction.fingerprints import Diagnostic

    #: A finding with its check, as far as that is known, and whether a tool of the agent's own printed it.
    Found = tuple[str | None, CheckFinding, bool]


#: Of a long output the beginning and the end are looked at, where programs put what went wrong.
_LINES_AT_EACH_END = 200
#: As many characters at each end: a megabyte of output has its verdict at an end, and the answer must come at once.
_CHARACTERS_AT_EACH_END = 50_000
#: Shorter words occur in every other label.
_SHORTEST_WORD = 3
#: A text of so few lines was picked out by somebody.
_PICKED = 3
#: An output of what went well was not picked out: nothing in it is to be looked for.
_WENT_WELL = Regex(r"(?m)^(?:ok\s|PASS\b)|\b\d+ pass(?:ed|ing)?\b")
_SAYS_NOTHING = Regex(
    r"(?!connection |authentication )(?:.* )?failed|<\w+>|exit code \d+|answered no|no message|does not compile"
    r"|reported by the user|editor.s diagnostic",
    re.IGNORECASE,
)
_WORDS = Regex(r"(?<![\w.:-])[\w.:-]*\w")
_LETTERS = Regex(r"[^\W\d_]{2,}")
#: A word that can be nothing but a name of an error: a code, or an exception.
_UNMISTAKABLE = Regex(r"[A-Za-z]{1,8}-?\d{2,5}|(?:[A-Z][a-z0-9]+){2,}")
_CODE = Regex(r"[a-z]{1,8}-?\d{2,5}")
#: Messages that any program prints; they count as the same error only when the program is the same.
_OF_ANY_PROGRAM = frozenset({
    "no such file", "permission denied", "unknown option", "unknown command", "timeout", "killed", "interrupted",
    "failed", "connection failed", "authentication failed",
})  # fmt: skip
#: Families that say something of one file only, which the message names.
SAYS_NO_NAME = frozenset({"no such file", "file not found", "path not found", "not a directory"})
_SHELLS = Regex(r"\(eval\):\d+: |(?:zsh|bash|sh|dash): ")
#: ``grep: x: No such file``, ``gh: Not Found (HTTP 404)``: how a program says who is speaking.
_NAMES_ITSELF = Regex(r"([a-z][\w.-]{1,30}): \S")
#: Only says that an expectation was not met: which one is the test's business.
_EXPECTATION = Regex(r"(?:E +)?(?:AssertionError\b|assert\b|Error\b|expect\b|expected\b|got\b|want\b)", re.IGNORECASE)
_RAISED = Regex(r"(?:E +)?(?:\w+\.)*(\w*(?:Error|Exception))(?:: |$)")
_RULE_AT_THE_END = Regex(r"(\S+(?: +\S+)+?) +[(\[]([a-z]+(?:-[a-z]+)*)[)\]]")
#: An exception that any statement may raise; what it is about is said by its message alone.
_EXCEPTION = Regex(r"(?:[A-Z]\w*)?(?:Error|Exception)")
#: So many words beside the exception's name tell one message of an exception from another.
_FEWEST_WORDS = 2
_AT_A_PLACE = Regex(r"^\S+?(?::\d+(?::\d+)?|\(\d+,\d+\)): ")
_FOLDERS = Regex(r"(?:[\w.@-]*/)+")
#: A name by its shape: with a dot, an underscore or a capital within.
_IDENTIFIER = Regex(r"\b[A-Za-z_$][\w$]*(?:(?:\.|::)[A-Za-z_$][\w$]*)+|\b[A-Za-z]+(?:_\w+|[a-z0-9]*[a-z0-9][A-Z]\w*)")
_QUOTED_NAME = Regex(
    r"[`'\"\u2018\u201c]([A-Za-z_$@][\w.$@:-]{2,79})[`'\"\u2019\u201d]"
    r"|\b(?:undefined|not used|symbol|reference|variable|func|call to|type): \*?([\w.]{3,80})|\btype \*?([\w.]{3,80})"
    r"|\b(?:func|variable|method|function|field) ([\w.]{3,80})(?= is\b)"
)
_PARTS = Regex(r"\.|::")
_COMPILER_WORDS = frozenset({"AssertionError"})
#: Packages of Go's and modules of Node's standard library, where the last part is what code writes before a dot.
_STANDARD = """
    bufio bytes cmp context crypto embed encoding errors exec expvar filepath flag fmt fs hash heap html http httptest
    ioutil iter json list log maps math net os path plugin rand reflect regexp runtime signal slices slog sort sql
    strconv strings sync syscall template testing time unicode url user utf8 xml child_process fs process assert buffer
    cluster console crypto dns events http2 https module perf_hooks querystring readline stream string_decoder timers
    tls tty util v8 vm worker_threads zlib std core alloc
"""
_STANDARD_NAMES = frozenset(_STANDARD.split())


class Complaint(Value):
    """One issue of a text.

    ``keys`` are its fingerprints, the most specific first. ``families`` are pairs of check (None when the text doesn't
    tell) and family; a family that says nothing is left out. ``own_tool`` is true for an error of one of the agent's
    own tools, whose sentence is the same for every file.
    """

    message: str = ""
    keys: tuple[str, ...] = ()
    families: tuple[tuple[str | None, str], ...] = ()
    file: str | None = None
    test: str | None = None
    symbol: str | None = None
    own_tool: bool = False

    @property
    def labels(self) -> Iterator[str]:
        """Its kinds as labels of the graph, as far as the text tells."""
        return ((check_label(check) if check else "") + family for check, family in self.families)

    def joined(self, other: Complaint) -> Complaint:
        """Both as one: what this one does not say is taken from the other, and the longer wording of a cut message."""
        cut = self.message.endswith(("...", "…"))
        return self._replace(
            message=other.message if cut or not self.message else self.message,
            keys=tuple(dict.fromkeys((*self.keys, *other.keys))),
            families=tuple(dict.fromkeys((*self.families, *other.families))),
            file=self.file or other.file,
            test=self.test or other.test,
            symbol=self.symbol or other.symbol,
        )


class ErrorQuery(Value):
    """What to look for: ``words`` are all words of the text, ``phrase`` the text in one case, when it is one line.

    ``picked`` is true where somebody picked a few lines out; a whole output has words of everything.
    """

    complaints: tuple[Complaint, ...] = ()
    words: frozenset[str] = frozenset()
    phrase: str = ""
    picked: bool = False

    def names(self, *, check: str, family: str) -> bool:
        """Whether the text names this error family unambiguously."""
        parts = _WORDS.findall(family)
        if not parts or not self.words.issuperset(parts):
            return False
        unmistakable = any(_UNMISTAKABLE.fullmatch(part) for part in parts)
        return unmistakable or f"({family})" in self.words or self.words.issuperset(check.split(" "))


def read_error(text: str) -> ErrorQuery:
    r"""What a text says about its errors.

    >>> read_error("cart.py:3:80: E501 Line too long (99 > 88)\nFound 1 error.").complaints[0].families[0]
    ('ruff', 'E501')
    """
    from helix_episodes.extraction.fingerprints import diagnostics_of_text

    ends = text
    if len(text) > 2 * _CHARACTERS_AT_EACH_END:
        ends = f"{text[:_CHARACTERS_AT_EACH_END]}\n{text[-_CHARACTERS_AT_EACH_END:]}"
    lines = [line for line in ends.splitlines() if line.strip()]
    if len(lines) > 2 * _LINES_AT_EACH_END:
        lines = lines[:_LINES_AT_EACH_END] + lines[-_LINES_AT_EACH_END:]
    ends = "\n".join(lines)
    judged = list(_judged(ends))
    found: list[Complaint] = []
    for one in _complaints(ends, judged or list(_guessed(ends))):
        _take(found, one, alone=True)
    # Beside what a failing check complains of, other lines only add to that: they may be of what passed.
    known = bool(judged) and any(one.keys for one in found)
    for diagnostic in diagnostics_of_text(ends):
        _take(found, _complaint(diagnostic), alone=not known)
    whole = text.strip().splitlines()
    phrase = one_line(whole[0]).casefold() if len(whole) == 1 else ""
    return ErrorQuery(
        complaints=tuple(found),
        words=frozenset(_WORDS.findall(ends)) | frozenset(re.findall(r"\([\w ]+\)", ends)),
        phrase=phrase if len(phrase) >= _SHORTEST_WORD and (is_telling(phrase) or _CODE.fullmatch(phrase)) else "",
        picked=len(ends.splitlines()) <= _PICKED and not _WENT_WELL.search(ends),
    )


def _complaints(text: str, found: list[Found]) -> Iterator[Complaint]:
    """What the findings say."""
    from helix_episodes.extraction.fingerprints import diagnostics_of_finding

    for check, finding, own_tool in found:
        families = ((check, template(finding.family)),) if says_something(finding.family) else ()
        diagnostics = diagnostics_of_finding(check or "", finding, output=text)
        for one in diagnostics:
            placed = one._replace(file=one.file or finding.path)
            yield _complaint(placed, families=families, own_tool=own_tool)
        if families and not diagnostics:
            yield Complaint(message=one_line(finding.message), families=families, file=finding.path, own_tool=own_tool)


def _complaint(
    one: Diagnostic, *, families: tuple[tuple[str | None, str], ...] = (), own_tool: bool = False
) -> Complaint:
    from helix_episodes.extraction.checks.compilers import compile_family

    # A linter's message that was copied without its place still names its rule.
    if not (one.rule or one.file) and (named := _RULE_AT_THE_END.fullmatch(one.message)):
        one = one._replace(message=named[1], rule=named[2])
    message = one_line(one.message)
    # What does not compile is the same kind of error whichever check says so.
    if raised := _RAISED.match(message):
        families = families or ((None, raised[1]),)
    elif (one.file or one.symbol) and not own_tool and says_something(family := compile_family(message)):
        families = (*families, (None, family))
    if one.rule:
        families = tuple(dict.fromkeys((*families, (None, one.rule))))
    return Complaint(
        message=message or one.test or one.rule or "",
        keys=tuple(_certain(one)),
        families=families,
        file=one.file,
        test=one.test,
        symbol=one.symbol,
        own_tool=own_tool,
    )


def _certain(one: Diagnostic) -> Iterator[str]:
    """The keys that name this issue and no other.

    A method's name alone does not where its class is known, nor does the word that an expectation was not met.
    """
    from helix_episodes.extraction.fingerprints import name_of_test

    message = one._replace(test=None, rule=None).keys
    name = name_of_test(one.test or "")
    bare = one._replace(test=name.rpartition(" > ")[2], file=None, raised=None, message="", rule=None).keys
    doubtful = set(bare) if " > " in name else set()
    if _EXPECTATION.match(one.message) and not tells_apart(one.message, "AssertionError"):
        doubtful |= set(message)
    return (key for key in one.keys if key not in doubtful)


def tells_apart(message: str, family: str) -> bool:
    """Whether a message says enough beside its exception's name to tell it from others of that exception.

    >>> tells_apart("KeyError: 'vat'", "KeyError"), tells_apart("ImportError: no module named 'x'", "ImportError")
    (False, True)
    """
    masked = re.sub(r"<\w+>", " ", template(message.replace(family, " ")))
    return len([word for word in _LETTERS.findall(masked) if word.lower() not in {"assert", "error"}]) >= _FEWEST_WORDS


def is_exception(family: str) -> bool:
    """Whether a family is an exception's name and no more."""
    return bool(_EXCEPTION.fullmatch(family.rpartition(".")[2]))


@lru_cache(maxsize=512)
def names_in(message: str) -> tuple[str, ...]:
    """The names of the project's own code that a message has, in order: quoted, or identifiers by their shape.

    Of a qualified name it is the last part, in one case; files are none.

    >>> names_in("shop/cart.py:3:1: cart.Total undefined (type *os.File has no field or method Total)")
    ('total',)
    >>> names_in("Error return value of `s.saveState` is not checked (errcheck)")
    ('savestate',)
    """
    plain = _FOLDERS.sub("", _AT_A_PLACE.sub("", message))
    found = [(one.start(), one[0]) for one in _IDENTIFIER.finditer(plain) if one[0] not in _COMPILER_WORDS]
    found += [(one.start(), name) for one in _QUOTED_NAME.finditer(plain) for name in one.groups() if name]
    own = (name for _, name in sorted(found) if not is_standard(name) and not template(name).startswith("<path>"))
    parts = (_PARTS.split(name)[-1].casefold() for name in own)
    return tuple(dict.fromkeys(part for part in parts if len(part) >= _SHORTEST_WORD))


def is_standard(symbol: str) -> bool:
    """Whether a name is of a standard library rather than the project's own.

    >>> is_standard("os.Remove"), is_standard("Cart")
    (True, False)
    """
    first = symbol.replace("::", ".").replace("/", ".").partition(".")[0].removeprefix("node:")
    return first in _STANDARD_NAMES or first in sys.stdlib_module_names


def _take(found: list[Complaint], one: Complaint, *, alone: bool) -> None:
    same = next((at for at, other in enumerate(found) if _is_same(other, one)), None)
    if same is not None:
        found[same] = found[same].joined(one)
    elif alone:
        found.append(one)


def _is_same(one: Complaint, other: Complaint) -> bool:
    if one.keys and other.keys and (one.keys[0] in other.keys or other.keys[0] in one.keys):
        return True
    beginning = one.message.rstrip(".…")
    cut = beginning != one.message and len(beginning) > _SHORTEST_WORD
    return one.message == other.message or (cut and other.message.startswith(beginning))


def is_compile_family(family: str) -> bool:
    """Whether a family is of what does not compile, where only the names in a message tell errors apart."""
    from helix_episodes.extraction.checks.compilers import COMPILE_FAMILIES, COMPILER_CODE

    return family in COMPILE_FAMILIES or bool(COMPILER_CODE.fullmatch(family))


@lru_cache(maxsize=512)
def symbol_in(message: str) -> str:
    """The first name that a message quotes, or that follows one of compilers' fixed words."""
    from helix_episodes.extraction.fingerprints import Diagnostic

    return Diagnostic(message=message).symbol or ""


def says_something(family: str) -> bool:
    """Whether a family distinguishes failures.

    >>> says_something("errcheck"), says_something("connection failed"), says_something("test failed")
    (True, True, False)
    """
    return not _SAYS_NOTHING.fullmatch(family)


def _judged(text: str) -> Iterator[Found]:
    """Check and finding of every verdict in the text that is a failure."""
    from helix_episodes.extraction.checks import read_verdicts
    from helix_episodes.extraction.shell.commands import Segment

    # The grammars ask which command printed the text; this one may have run anything.
    some_command = (Segment(text="./something", program="something"),)
    for verdict in read_verdicts(some_command, output=text, exit_code=None, status="error"):
        if verdict.passed is False:
            yield from ((verdict.check, finding, False) for finding in verdict.findings)


def _guessed(text: str) -> Iterator[Found]:
    """Error families guessed from wording, with the program that printed them, for text that no parser recognises.

    "No such file" from ``grep`` has nothing to do with "no such file" from a script, so such a family counts only for
    the program that prints its own name before it.
    """
    from helix_episodes.extraction.checks import command_finding, silent_failure, tools_own_finding

    command = silent_failure((), output=text) or command_finding((), output=text, exit_code=None)
    speaker = _speaker(command.message)
    tool = tools_own_finding(text)
    if _RAISED.match(command.message):  # its name and no more is the kind
        yield None, command._replace(family="failed"), False
    elif tool and not speaker and tool.family not in _OF_ANY_PROGRAM:
        yield None, tool, True
    elif speaker or command.family not in _OF_ANY_PROGRAM:
        yield speaker, command, False


def _speaker(message: str) -> str | None:
    """The program that a message says it comes from, under the name that episodes give it."""
    if message.startswith("fatal: "):
        return "git"
    if _SHELLS.match(message):
        return "shell"
    named = _NAMES_ITSELF.match(message)
    return named[1] if named else None
