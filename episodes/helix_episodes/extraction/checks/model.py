"""The values that reading a check's output yields, and which later run covers an earlier one.

A suite that passes with ``-run TestPut`` says nothing of the other tests, and a run without the integration tag says
nothing of the integration tests. Only a run over the same or more can verify a fix: `covers` compares two verdicts.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache

from helix_episodes.extraction.checks.streams import separate
from helix_episodes.light_imports import Regex, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterable, Sequence

    from helix_episodes.extraction.checks.streams import Stream
    from helix_episodes.extraction.shell.programs import CheckKind


#: As long as evidence may be (``helix_episodes.model.QUOTE_LIMIT`` says why).
QUOTE_LIMIT = 240
#: No compiler or runner writes its own verdict on a longer line; what is longer is data, and cutting it keeps every
#: pattern linear.
_LONGEST_LINE = 2000

_ESCAPES = Regex(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-_])")
_EXIT_LINE = Regex(r"Exit code (\d+)\s*$")


class CheckFinding(Value):
    """One kind of failure that a check or a command reported.

    ``family`` names the kind, so that the same failure in another session has the same name; ``message`` is the first
    informative line of it as printed, ``further`` the other lines of it that say something else; ``times`` how often
    it was reported; ``tests`` the failing tests. ``generic`` is true when the family says nothing about the cause
    ("test failed").
    """

    family: str
    message: str
    path: str | None = None
    times: int = 1
    tests: tuple[str, ...] = ()
    generic: bool = False
    further: tuple[str, ...] = ()


class Verdict(Value):
    """How one check came out; ``passed`` is ``None`` when the log cannot tell.

    A grammar reads it first, from the text alone: ``quote`` are the lines on which it rests, and ``summed`` is true
    when the runner's own summary was seen, not only single reports. ``check`` is the program whose verdict it is, even
    when a task runner called it. Counts are ``None`` when the output does not give them; with ``by_lines`` they
    are those of the single reports that the output shows, no sum of the runner's.

    Judging adds the command: ``segment`` is the position of the part that ran the check (or from which the output must
    come), ``scope`` what the command narrowed the run to, ``task`` the task that a task runner was asked for, and
    ``echoed`` what that task itself is narrowed to, ``None`` when the runner's line was not seen. ``covers`` compares
    them.

    Of a runner that answers for whole packages, ``ran`` are those that it ran, ``cached`` those whose result is an
    earlier run's, because nothing that they are made of has changed since.
    """

    check: str
    kind: CheckKind
    passed: bool | None
    passed_count: int | None = None
    failed_count: int | None = None
    skipped_count: int | None = None
    findings: tuple[CheckFinding, ...] = ()
    quote: str = ""
    summed: bool = True
    by_lines: bool = False
    segment: int | None = None
    scope: tuple[str, ...] = ()
    task: str | None = None
    echoed: tuple[str, ...] | None = None
    ran: tuple[str, ...] = ()
    cached: tuple[str, ...] = ()

    @property
    def only_cached(self) -> bool:
        """Whether nothing ran: every result is an earlier run's."""
        return bool(self.cached) and not self.ran


class CommandOutput:
    """The text a command printed, without colours and over-long lines; ``exit_code`` if the text itself states it.

    Where a runner put prefixes before the lines of several tasks, ``streams`` are the tasks' own outputs under their
    ``name``, and ``lines`` all of them one after the other, without prefixes; else the only stream is this output.
    """

    __slots__ = ("exit_code", "lines", "name", "streams", "text")

    def __init__(self, raw: str) -> None:
        text = _ESCAPES.sub("", raw) if "\x1b" in raw else raw
        text = "\n".join(map(_overwritten, text.split("\n"))) if "\b" in text else text
        lines = [line if len(line) <= _LONGEST_LINE else line[:_LONGEST_LINE] for line in text.split("\n")]
        lines = [line.rstrip("\r").rpartition("\r")[2] for line in lines] if "\r" in text else lines
        stated = _EXIT_LINE.match(lines[0])
        self.exit_code = int(stated[1]) if stated else None
        streams = separate(lines[1:] if stated else lines)
        self.lines = streams[0].lines if len(streams) == 1 else [line for stream in streams for line in stream.lines]
        self.text = "\n".join(self.lines)
        self.name = streams[0].name if len(streams) == 1 else ""
        self.streams = (self,) if len(streams) == 1 else tuple(map(self._only, streams))

    @classmethod
    def _only(cls, stream: Stream) -> CommandOutput:
        """The output of one task."""
        output = cls.__new__(cls)
        output.exit_code = None
        output.name, output.lines, output.text = stream.name, stream.lines, "\n".join(stream.lines)
        output.streams = (output,)
        return output

    def has(self, *signs: str) -> bool:
        """Whether any of the signs occurs; asked before a grammar is tried, because it is a hundred times faster."""
        text = self.text
        # A plain loop: any() with a generator costs several times as much.
        for sign in signs:  # noqa: SIM110  (see above)
            if sign in text:
                return True
        return False

    def matches(self, pattern: Regex) -> list[re.Match[str]]:
        """The lines that the pattern matches from their beginning."""
        return [found for line in self.lines if (found := pattern.match(line))]


#: What is longer is cleaned again when it is asked for again, so that no session's outputs fill the memory.
_LONGEST_KEPT = 30_000


def cleaned(raw: str) -> CommandOutput:
    """The output of a text that is asked about by several stages: what its checks say, then how else it failed.

    >>> cleaned("1 passed") is cleaned("1 passed")
    True
    """
    return _kept(raw) if len(raw) <= _LONGEST_KEPT else CommandOutput(raw)


_kept = lru_cache(maxsize=128)(CommandOutput)


def _overwritten(line: str) -> str:
    r"""What a terminal shows of a line in which backspaces move back over what was printed, as spinners do.

    >>> _overwritten("push: - busy\b\b\b\b\b\bfailed")
    'push: failed'
    """
    shown: list[str] = []
    at = 0
    for sign in line:
        if sign == "\b":
            at = max(0, at - 1)
        else:
            shown[at : at + 1] = [sign]
            at += 1
    return "".join(shown)


def quoted(*lines: str) -> str:
    """The lines a verdict rests on, one below the other, cut to what evidence may hold."""
    return "\n".join(line.strip() for line in lines if line.strip())[:QUOTE_LIMIT]


class ReportedLine(Value):
    """One line in which something was reported, before lines of one family are put together."""

    family: str
    message: str
    path: str | None = None


def grouped(reports: Iterable[ReportedLine]) -> tuple[CheckFinding, ...]:
    """One finding per family, in the order in which families first appear.

    >>> [(found.family, found.times) for found in grouped([ReportedLine(family="E501", message="x")] * 2)]
    [('E501', 2)]
    """
    first: dict[str, ReportedLine] = {}
    counts: Counter[str] = Counter()
    messages: dict[str, dict[str, None]] = {}
    for report in reports:
        first.setdefault(report.family, report)
        counts[report.family] += 1
        messages.setdefault(report.family, {})[report.message.strip()] = None
    return tuple(
        CheckFinding(
            family=family,
            message=report.message.strip(),
            path=report.path,
            times=counts[family],
            further=tuple(messages[family])[1:],
        )
        for family, report in first.items()
    )


def unspecified(kind: CheckKind, message: str) -> CheckFinding:
    """The finding of a check that failed without saying why."""
    return CheckFinding(family=f"{kind} failed", message=message.strip(), generic=True)


def failing(check: str, kind: CheckKind, reports: Sequence[ReportedLine], *, count: int | None = None) -> Verdict:
    """The verdict of a check that reported these lines; ``count`` where it says itself how many there are."""
    return Verdict(
        check=check,
        kind=kind,
        passed=False,
        failed_count=len(reports) if count is None else count,
        findings=grouped(reports),
        quote=quoted(*(report.message for report in reports[:3])),
    )


def counted(
    check: str, kind: CheckKind, reports: Sequence[ReportedLine], output: CommandOutput, end: Regex
) -> Verdict | None:
    """The verdict from single reports and a closing line that may hold their number; None where there is neither."""
    ends = [found for line in output.lines if (found := end.search(line))]
    if not reports and not ends:
        return None
    stated = next((int(found[1]) for found in reversed(ends) if found.re.groups and found[1]), None)
    failed = stated if stated is not None else len(reports)
    return Verdict(
        check=check,
        kind=kind,
        passed=failed == 0,
        failed_count=failed,
        findings=grouped(reports) if failed else (),
        quote=quoted(*(report.message for report in reports[:2]), *(found.string for found in ends[-1:])),
        summed=bool(ends),
    )


def joined(readings: Iterable[Verdict]) -> tuple[Verdict, ...]:
    """One verdict for each check: where several tasks ran the same one, it failed when any of them did.

    >>> web = Verdict(check="jest", kind="test", passed=True, passed_count=3)
    >>> joined([web, Verdict(check="jest", kind="test", passed=False, passed_count=1, failed_count=2)])[0].passed_count
    4
    """
    by_check: dict[str, list[Verdict]] = {}
    for reading in readings:
        by_check.setdefault(reading.check, []).append(reading)
    return tuple(same[0] if len(same) == 1 else _joined(same) for same in by_check.values())


def _joined(same: Sequence[Verdict]) -> Verdict:
    failed = [one for one in same if one.passed is False]
    telling = failed or [one for one in same if one.passed] or same
    families: dict[str, CheckFinding] = {}
    for found in (found for one in failed for found in one.findings):
        first = families.get(found.family)
        more = {"times": first.times + found.times, "tests": (*first.tests, *found.tests)} if first else {}
        families[found.family] = first._replace(**more) if first else found
    return telling[0]._replace(
        passed_count=_sum(one.passed_count for one in same),
        failed_count=_sum(one.failed_count for one in same),
        skipped_count=_sum(one.skipped_count for one in same),
        findings=tuple(families.values()),
        quote=quoted(*(one.quote for one in telling)),
        summed=all(one.summed for one in telling),
        ran=tuple(dict.fromkeys(name for one in same for name in one.ran)),
        cached=tuple(dict.fromkeys(name for one in same for name in one.cached)),
    )


def _sum(counts: Iterable[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


#: Options that add to what is checked instead of narrowing it: the two runs must agree on them.
_WIDENING = ("-tags",)


def covers(later: Verdict, earlier: Verdict) -> bool:
    """Whether ``later`` checked at least what failed in ``earlier``.

    True when it is the same check with the same tags, and its paths and patterns take in those of the earlier run, or
    all of the tests that failed there.

    >>> narrow = Verdict(check="go test", kind="test", passed=False, scope=("-run TestPut", "./store"))
    >>> covers(Verdict(check="go test", kind="test", passed=True), narrow)
    True
    >>> covers(narrow, Verdict(check="go test", kind="test", passed=False))
    False
    """
    if later.check != earlier.check:
        return False
    if later.task and later.task == earlier.task:
        return _takes_in(later.scope, earlier.scope) or _names_failures(later, earlier)
    if _unclear(later) or _unclear(earlier):
        return _names_failures(later, earlier)
    wide, narrow = _whole(later), _whole(earlier)
    return _tags(wide) == _tags(narrow) and (_takes_in(wide, narrow) or _names_failures(later, earlier))


def looks_elsewhere(later: Verdict, earlier: Verdict) -> bool:
    """Whether ``later`` is known to have left out what failed in ``earlier``: other tests, tags or paths were selected.

    What cannot be told, such as the tests that a run failed without naming them, is taken to have been looked at.

    >>> failed = CheckFinding(family="test failed", message="", tests=("TestPut",))
    >>> earlier = Verdict(check="go test", kind="test", passed=False, findings=(failed,))
    >>> looks_elsewhere(Verdict(check="go test", kind="test", passed=True, scope=("-run TestGet",)), earlier)
    True
    >>> looks_elsewhere(Verdict(check="go test", kind="test", passed=True, scope=("-run TestPut",)), earlier)
    False
    """
    if covers(later, earlier):
        return False
    same_task = bool(later.task) and later.task == earlier.task
    if not same_task and (_unclear(later) or _unclear(earlier)):
        return False
    wide, narrow = _whole(later), _whole(earlier)
    if not same_task and _tags(wide) != _tags(narrow):
        return True
    named = [test for found in earlier.findings for test in found.tests]
    names = named if all(found.tests for found in earlier.findings) else _patterns(narrow)
    selected = _patterns(wide)
    if selected and names and not any(part in name for part in selected for name in names):
        return True
    above, below = _paths(wide), _paths(narrow)
    return bool(above and below) and not any(_within(one, top) or _within(top, one) for one in below for top in above)


def covers_places(later: Verdict, earlier: Verdict) -> bool:
    """Whether ``later`` looked at the places where ``earlier`` failed, whichever checks they are.

    The places are the folders of the files that the failure names, else what the earlier run was narrowed to. A task
    whose command was not seen is taken to look at everything.

    >>> store = Verdict(check="go build", kind="build", passed=False, scope=("./store",))
    >>> covers_places(Verdict(check="go test", kind="test", passed=True, scope=("./cart",)), store)
    False
    """
    above = [path for path in paths_of(later) if path != "."]
    if not above:
        return True
    named = [found.path.rpartition("/")[0] or found.path for found in earlier.findings if found.path]
    below = named or _paths(_whole(earlier))
    # A file that was tested stands for its folder, which was compiled with it.
    tops = [*above, *(path.rpartition("/")[0] for path in above if "/" in path and "." in path.rpartition("/")[2])]
    return bool(below) and all(any(_within(path, top) or path.endswith(f"/{top}") for top in tops) for path in below)


def paths_of(verdict: Verdict) -> list[str]:
    """The files and folders that a run was narrowed to; none where the command of a task was not seen."""
    return [] if _unclear(verdict) else _paths(_whole(verdict))


def names_selected(verdict: Verdict) -> list[str]:
    """The parts of names that tests were selected by: of ``-run 'A|B'`` A and B."""
    return _patterns(_whole(verdict))


def _unclear(verdict: Verdict) -> bool:
    """Whether a task ran a command that was not seen."""
    return verdict.task is not None and verdict.echoed is None


def _whole(verdict: Verdict) -> tuple[str, ...]:
    return verdict.scope + (verdict.echoed or ())


def _tags(scope: tuple[str, ...]) -> set[str]:
    return {word for word in scope if word.startswith(_WIDENING)}


def _patterns(scope: tuple[str, ...]) -> list[str]:
    """The alternatives of name patterns: ``-run 'A|B'`` gives A and B."""
    words = [word for word in scope if word.startswith("-") and not word.startswith(_WIDENING)]
    return [part.strip("^$\"'() ") for word in words for part in word.partition(" ")[2].split("|") if part.strip()]


def _paths(scope: tuple[str, ...]) -> list[str]:
    return [word.removeprefix("./").removesuffix("/...").rstrip("/") for word in scope if not word.startswith("-")]


def _takes_in(wide: tuple[str, ...], narrow: tuple[str, ...]) -> bool:
    above, below = _paths(wide), _paths(narrow)
    paths = not above or (bool(below) and all(any(_within(path, top) for top in above) for path in below))
    return paths and _matches(_patterns(wide), _patterns(narrow))


def _within(path: str, above: str) -> bool:
    if "\u2026" in path + above:  # task runners cut long lines
        return path.partition("\u2026")[0].startswith(above.partition("\u2026")[0]) or above.startswith(path[:-1])
    return path == above or path.startswith((f"{above}/", f"{above}::"))


def _matches(patterns: list[str], names: list[str]) -> bool:
    """Whether patterns (substrings, as test runners take them) select all names; no patterns select everything."""
    return not patterns or (bool(names) and all(any(part in name for part in patterns) for name in names))


def _names_failures(later: Verdict, earlier: Verdict) -> bool:
    """Whether the later run selected, by name, every test that had failed."""
    named = [test for found in earlier.findings for test in found.tests]
    patterns = _patterns(later.scope) + [path for path in _paths(later.scope) if "::" in path]
    complete = all(found.tests for found in earlier.findings)
    return bool(named and patterns) and complete and _matches(patterns, named)
