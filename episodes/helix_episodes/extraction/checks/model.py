"""What a check said, as frozen values, and the text it said it in."""

from __future__ import annotations

from collections import Counter

from helix_episodes.regex import Regex
from helix_episodes.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from helix_episodes.extraction.programs import Kind

#: As long as evidence may be (``helix_episodes.model.QUOTE_LIMIT`` says why).
QUOTE_LIMIT = 240
#: No compiler or runner writes its own verdict on a longer line; what is longer is data, and cutting it keeps every
#: pattern linear.
_LONGEST_LINE = 2000

_ESCAPES = Regex(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-_])")
_EXIT_LINE = Regex(r"Exit code (\d+)\s*$")


class Finding(Value):
    """One kind of trouble that a check or a command met.

    ``family`` names the kind, so that the same trouble in another session has the same name; ``message`` is the first
    informative line of it as printed; ``times`` how often it was reported; ``tests`` the failing tests. ``generic`` is
    true when the family says nothing about the cause ("test failed").
    """

    family: str
    message: str
    path: str | None = None
    times: int = 1
    tests: tuple[str, ...] = ()
    generic: bool = False


class Reading(Value):
    """What one grammar found in a text: whose verdict, how it came out, and on which lines that rests.

    ``summed`` is true when the runner's own summary was seen, not only single reports.
    """

    check: str
    kind: Kind
    passed: bool | None
    passed_count: int | None = None
    failed_count: int | None = None
    skipped_count: int | None = None
    findings: tuple[Finding, ...] = ()
    quote: str = ""
    summed: bool = True


class Verdict(Value):
    """How one check came out; ``passed`` is ``None`` when the log cannot tell.

    ``check`` is the program whose verdict it is, even when a task runner called it. Counts are ``None`` when the
    output does not give them. ``segment`` is the position of the part of the command that ran it (or from which the
    output must come). ``scope`` is what the command narrowed the run to; ``task`` the task that a task runner was asked
    for, and ``echoed`` what that task itself is narrowed to, ``None`` when the runner's line was not seen. ``covers``
    compares them.
    """

    check: str
    kind: Kind
    passed: bool | None
    passed_count: int | None = None
    failed_count: int | None = None
    skipped_count: int | None = None
    findings: tuple[Finding, ...] = ()
    ran: bool = True
    quote: str = ""
    segment: int | None = None
    scope: tuple[str, ...] = ()
    task: str | None = None
    echoed: tuple[str, ...] | None = None


class Output:
    """The text a command printed, without colours and over-long lines; ``exit_code`` if the text itself states it."""

    __slots__ = ("exit_code", "lines", "text")

    def __init__(self, raw: str) -> None:
        text = _ESCAPES.sub("", raw) if "\x1b" in raw else raw
        lines = [line if len(line) <= _LONGEST_LINE else line[:_LONGEST_LINE] for line in text.split("\n")]
        lines = [line.rstrip("\r").rpartition("\r")[2] for line in lines] if "\r" in text else lines
        stated = _EXIT_LINE.match(lines[0])
        self.exit_code = int(stated[1]) if stated else None
        self.lines = lines[1:] if stated else lines
        self.text = "\n".join(self.lines)

    def has(self, *signs: str) -> bool:
        """Whether any of the signs occurs; asked before a grammar is tried, because it is a hundred times faster."""
        text = self.text
        # A plain loop: any() with a generator costs several times as much.
        for sign in signs:  # noqa: SIM110  (see above)
            if sign in text:
                return True
        return False


def quoted(*lines: str) -> str:
    """The lines a verdict rests on, one below the other, cut to what evidence may hold."""
    return "\n".join(line.strip() for line in lines if line.strip())[:QUOTE_LIMIT]


class Report(Value):
    """One line in which something was reported, before lines of one family are put together."""

    family: str
    message: str
    path: str | None = None


def grouped(reports: Iterable[Report]) -> tuple[Finding, ...]:
    """One finding per family, in the order in which families first appear.

    >>> [(found.family, found.times) for found in grouped([Report(family="E501", message="x")] * 2)]
    [('E501', 2)]
    """
    first: dict[str, Report] = {}
    counts: Counter[str] = Counter()
    for report in reports:
        first.setdefault(report.family, report)
        counts[report.family] += 1
    return tuple(
        Finding(family=family, message=report.message.strip(), path=report.path, times=counts[family])
        for family, report in first.items()
    )
