"""What GitHub's program says of CI: which job failed, in its lists of checks, of a run's jobs, and in a job's log."""

from __future__ import annotations

import re
from itertools import pairwise

from helix_episodes.extraction.checks.judging import verdicts_in
from helix_episodes.extraction.checks.model import CheckFinding
from helix_episodes.light_imports import Regex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from helix_episodes.extraction.shell.commands import Segment

#: The check that failing jobs are counted under, whichever command showed them.
CI = "CI"
#: How people point at it: a run, a job or a pull request by its address, or in words.
OF_CI = Regex(r"\bCI\b|/actions/runs/|/pull/\d+|\b(?:pipeline|workflow)\b")
#: A line of `gh pr checks`: the job, its state and how long it took.
CHECK_LINE = Regex(r"^([^\t\n]+)\t(pass|fail|pending|skipping|cancel)\w*\t([^\t\n]*).*", re.MULTILINE)
#: The heading of a run, printed again at every look of `gh run watch`, and a job of it that failed.
_RUN = Regex(r"^\S .* \u00b7 \d+$", re.MULTILINE)
_JOB = Regex(r"^X (.+) in ([0-9hms]+) \(ID \d+\)", re.MULTILINE)
#: A job takes longer than so many seconds to be set up: one that is shorter never began, as another one had failed, was
#: cancelled, or is there to gather what became of the others.
_SET_UP = 5
#: A line of a log: the job and its step, unless one job alone was asked for, the time, and what was printed then. A
#: search may have put a line's number before it.
_LOGGED = Regex(
    r"^(?:\d+[:-])?(?:([^\t\n]{1,100})\t[^\t\n]{1,100}\t)?\ufeff?(\d{4}-\d\d-\d\dT[\d:.]+Z) (.*)$", re.MULTILINE
)
_ESCAPES = Regex(r"(?:\x1b|\^\[)\[[0-9;]*m")
_ERROR = "##[error]"
#: How the runner closes a step whose command failed; what went wrong was printed before.
_ENDED = "Process completed with exit code"
#: How the runner colours the script of a step, before it runs.
_ECHOED = ("\x1b[36;1m", "^[[36;1m")
#: How npm and its like print a script before they run it.
_SCRIPTS = ("> ", "$ ")
#: The number of a job in an address, in a list of a run's jobs and in a command; what other numbers a command has are
#: of runs.
_JOB_NUMBER = Regex(r"\b(?:jobs?/|ID )(\d+)|--job[ =](\d+)")
_NUMBER = Regex(r"\b\d{2,}\b")
#: A job, or a check of a pull request, as GitHub's program gives it in JSON.
_JOB_OBJECT = Regex(r"\{[^{}]*\}")
_SUCCEEDED = Regex(r'"conclusion":\s*"success"', re.IGNORECASE)
_RUN_NUMBER = Regex(r"/runs/(\d+)/")
_TROUBLE = Regex(
    r"^(?:\S+ )?(?:\u2a2f|\u2717|\u2716|\u00d7|X) |\b(?:error|fatal|panic)(?:\[\w+\])?:|\bfail(?:ed|ure)\b",
    re.IGNORECASE,
)


def failed_job(segments: Sequence[Segment], output: str) -> CheckFinding | None:
    r"""The first job of CI that failed, by its name; the others are in ``further``. None where no job has failed.

    >>> from helix_episodes.extraction.shell.commands import parse_command
    >>> printed = "e2e\tfail\t0\thttps://x/1\nnightly\tfail\t1m35s\thttps://x/2\nlint\tpass\t9s\thttps://x/3"
    >>> failed_job(parse_command("gh pr checks 7"), printed).family
    'nightly'
    """
    jobs = failed_jobs(segments, output)
    return with_others(jobs) if jobs else None


def with_others(jobs: Sequence[CheckFinding]) -> CheckFinding:
    """The first of some jobs, with what is said of the others."""
    return jobs[0]._replace(further=tuple(job.message for job in jobs[1:]), generic=False)


def failed_jobs(segments: Sequence[Segment], output: str) -> tuple[CheckFinding, ...]:
    """The jobs of CI that failed, those that ran before those that did not; of a log the first.

    ``generic`` is true of what did not run, and of a log that does not name its job.
    """
    asked = [part for part in segments if part.program == "gh"]
    # A log that was saved is looked through with other programs; how its lines are written tells it.
    saved = not asked and _ENDED in output and any(part.purpose == "look" for part in segments)
    if saved or any(_asks_for_log(part) for part in asked):
        of_failed = any("--log-failed" in part.arguments for part in asked)
        return tuple(filter(None, (_failed_in_log(output, of_failed=of_failed),)))
    subcommands = {part.subcommand for part in asked}
    if "pr checks" in subcommands:
        found = [one for one in CHECK_LINE.finditer(output) if one[2] == "fail"]
        jobs = [(one[1], one[3], one[0]) for one in found]
    elif subcommands & {"run watch", "run view"}:
        latest = max((one.start() for one in _RUN.finditer(output)), default=0)
        jobs = [(one[1], one[2], one[0]) for one in _JOB.finditer(output[latest:])]
    else:
        return ()
    jobs.sort(key=lambda job: _is_brief(job[1]))
    named = {" ".join(shown.split()): (name.strip(), _is_brief(took)) for name, took, shown in jobs}
    return tuple(CheckFinding(family=name, message=shown, generic=brief) for shown, (name, brief) in named.items())


def _is_brief(took: str) -> bool:
    seconds = took.removesuffix("s")
    return seconds.isdecimal() and int(seconds) <= _SET_UP


def job_passed(segments: Sequence[Segment], output: str, job: str) -> bool:
    r"""Whether a list of checks or of a run's jobs says that one of that name passed, in words or as JSON.

    >>> from helix_episodes.extraction.shell.commands import parse_command
    >>> printed = '{"jobs":[{"conclusion":"success","name":"lint"},{"conclusion":"","name":"e2e"}]}'
    >>> [job_passed(parse_command("gh run view 7 --json jobs"), printed, job) for job in ("lint", "e2e")]
    [True, False]
    """
    subcommands = {part.subcommand for part in segments if part.program == "gh"}
    if "pr checks" in subcommands:
        return any(one[2] == "pass" and one[1].strip() == job for one in CHECK_LINE.finditer(output))
    if not subcommands & {"run watch", "run view", "pr view"}:
        return False
    shown = (one[0] for one in _JOB_OBJECT.finditer(output) if job in one[0])
    return f"\n\u2713 {job} in " in f"\n{output}" or any(
        re.search(rf'"name":\s*"{re.escape(job)}"', one) and _SUCCEEDED.search(one) for one in shown
    )


def saved_logs(segments: Sequence[Segment]) -> dict[str, Segment]:
    """The files into which a command saves a log of CI, each with the part of it that asked for the log."""
    saved = {part.target: part for part in segments if part.program == "gh" and part.target and _asks_for_log(part)}
    for part, following in pairwise(segments):
        if part.program == "gh" and _asks_for_log(part) and following.program == "tee" and following.joiner == "|":
            saved |= {word: part for word in following.arguments if not word.startswith("-")}
    return saved


def marks_of_failure(
    segments: Sequence[Segment], output: str, finding: CheckFinding, *, period: int, saved: Mapping[str, Segment]
) -> frozenset[str]:
    """What tells one failure of a job from others, however it is looked at.

    That is the job's number or a time in its log; within a ``period`` in which nothing was delivered also its run, or
    what it says. Who looks at a ``saved`` log asks for what was asked for then.
    """
    looks = [part for part in segments if part.program == "gh"]
    looks += [saved[word] for part in segments for word in part.arguments if part not in looks and word in saved]
    asked = " ".join(word for part in looks for word in part.arguments)
    runs = _NUMBER.findall(_JOB_NUMBER.sub("", asked)) if any(part.subcommand != "pr checks" for part in looks) else ()
    known = {f"{period} {finding.family} {one}" for one in (*runs, finding.message)}
    if is_listed(finding.message):
        of_run = (f"{period} {finding.family} {one[1]}" for one in _RUN_NUMBER.finditer(finding.message))
        return frozenset(_numbers(finding.message)).union(known, of_run)
    times = [found[2] for found in _LOGGED.finditer(output) if found[1] in {None, finding.family}]
    return frozenset((*times, *_numbers(asked))).union(known)


def is_listed(message: str) -> bool:
    """Whether a message is a line of a list of jobs, which does not say why the job failed."""
    return bool(_JOB_NUMBER.search(message))


def _numbers(text: str) -> list[str]:
    return sorted(f"job {one[1] or one[2]}" for one in _JOB_NUMBER.finditer(text))


def _asks_for_log(part: Segment) -> bool:
    if part.subcommand == "run view":
        return not {"--log", "--log-failed"}.isdisjoint(part.arguments)
    return part.subcommand == "api" and any(word.rstrip("/").endswith("/logs") for word in part.arguments)


def _failed_in_log(output: str, *, of_failed: bool) -> CheckFinding | None:
    """The job whose log says that it failed: what a runner in it complains of, else the line that sounds most like it.

    ``of_failed``: only the steps that failed were asked for.
    """
    echoed = (found for found in _LOGGED.finditer(output) if not found[3].startswith(_ECHOED))
    lines = [(found[1] or "", _ESCAPES.sub("", found[3]).rstrip()) for found in echoed]
    marked = [at for at, (_, text) in enumerate(lines) if text.startswith(_ERROR)]
    at = next((at for at in marked if _ENDED in lines[at][1]), marked[0] if marked else None)
    job = lines[at or 0][0] if lines else ""
    printed = "\n".join(text for one, text in lines if one == job)
    shown = [one for verdict in verdicts_in(printed) for one in verdict.findings if one.message] if lines else ()
    if shown:
        return shown[0]._replace(family=job or shown[0].family, times=1, generic=not job)
    said = [text.strip() for one, text in lines[:at] if one == job and text and not text.startswith(("##[", *_SCRIPTS))]
    told = next((text for text in said if _TROUBLE.search(text)), None)
    if at is not None:
        words = lines[at][1].removeprefix(_ERROR)
        told = (told or (said or [words])[-1]) if _ENDED in words else words
    elif not of_failed:
        told = None
    return CheckFinding(family=job or "job failed", message=told, generic=not job) if told else None
