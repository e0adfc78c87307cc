r"""Formatters that only report: a list of files, or a diff, and exit status 0 whatever they found.

>>> from helix_episodes.extraction.commands import parse_command
>>> read_listing(parse_command("gofmt -l .")[0], Output("cmd/a.go\ncmd/b.go")).findings[0].times
2
"""

from __future__ import annotations

from helix_episodes.extraction.checks.model import Output, Reading, Report, grouped, quoted
from helix_episodes.regex import Regex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from helix_episodes.extraction.commands import Segment

_LISTS = frozenset({"-l", "--list", "--list-different", "-n", "--dry-run", "--files-with-diff"})
_DIFFS = frozenset({"-d", "--diff", "-diff"})
_FILE = Regex(r"(?:\./)?[\w@.+-]+(?:/[\w@.+ -]+)*\.\w{1,8}$")
#: Every file's diff names it twice or more; this line is in all of them, and once.
_DIFF = Regex(r"\+\+\+ (?:b/)?(\S+)")
_DIFF_CUT = Regex(r"diff .*?(?:b/)?(\S+)$")
_CLANG = Regex(r"([^\s:]+):\d+:\d+: (?:warning|error): code should be clang-formatted")


def read_listing(segment: Segment, output: Output) -> Reading | None:
    """What a formatter lists or shows as a diff; None when it was not asked to, or its words are not alone."""
    asked = {*segment.arguments}
    reports = [_report(found.string, found[1]) for line in output.lines if (found := _CLANG.match(line))]
    if not reports and asked & _DIFFS:
        reports = _diffs(output, _DIFF) or _diffs(output, _DIFF_CUT)
    lines = [line.strip() for line in output.lines if line.strip()]
    if not reports and asked & _LISTS and lines and all(_FILE.match(line) for line in lines):
        reports = [_report(line, line) for line in lines]
    if not reports:
        return None
    return Reading(
        check=segment.check or segment.program,
        kind="format",
        passed=False,
        failed_count=len({report.path for report in reports}),
        findings=grouped(reports),
        quote=quoted(*(report.message for report in reports[:3])),
    )


def _diffs(output: Output, heading: Regex) -> list[Report]:
    return [_report(line, found[1]) for line in output.lines if (found := heading.match(line))]


def _report(message: str, path: str) -> Report:
    return Report(family="not formatted", message=message, path=path)
