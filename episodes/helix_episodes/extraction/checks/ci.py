"""What GitHub's program says of CI: which job failed, in its lists of checks and of a run's jobs."""

from __future__ import annotations

import re

from helix_episodes.extraction.checks.model import CheckFinding
from helix_episodes.light_imports import Regex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from helix_episodes.extraction.shell.commands import Segment

#: The check that failing jobs are counted under, whichever command showed them.
CI = "CI"
#: A line of `gh pr checks`: the job, its state and how long it took.
CHECK_LINE = Regex(r"^([^\t\n]+)\t(pass|fail|pending|skipping|cancel)\w*\t([^\t\n]*).*", re.MULTILINE)
#: The heading of a run, printed again at every look of `gh run watch`, and a job of it that failed.
_RUN = Regex(r"^\S .* \u00b7 \d+$", re.MULTILINE)
_JOB = Regex(r"^X (.+) in ([0-9hms]+) \(ID \d+\)", re.MULTILINE)
#: A job that never began because another one had failed, or that was cancelled, takes no time.
_NO_TIME = frozenset({"0", "0s"})


def failed_job(segments: Sequence[Segment], output: str) -> CheckFinding | None:
    r"""The first job of CI that failed, by its name; the others stand in ``further``. None where no job has failed.

    >>> from helix_episodes.extraction.shell.commands import parse_command
    >>> printed = "e2e\tfail\t0\thttps://x/1\nnightly\tfail\t1m35s\thttps://x/2\nlint\tpass\t9s\thttps://x/3"
    >>> failed_job(parse_command("gh pr checks 7"), printed).family
    'nightly'
    """
    asked = {part.subcommand for part in segments if part.program == "gh"}
    if "pr checks" in asked:
        found = [one for one in CHECK_LINE.finditer(output) if one[2] == "fail"]
        jobs = [(one[1], one[3], one[0]) for one in found]
    elif asked & {"run watch", "run view"}:
        latest = max((one.start() for one in _RUN.finditer(output)), default=0)
        jobs = [(one[1], one[2], one[0]) for one in _JOB.finditer(output[latest:])]
    else:
        return None
    jobs.sort(key=lambda job: job[1] in _NO_TIME)
    lines = dict.fromkeys(" ".join(shown.split()) for _, _, shown in jobs)
    return (
        CheckFinding(family=jobs[0][0].strip(), message=next(iter(lines)), further=tuple(lines)[1:]) if jobs else None
    )
