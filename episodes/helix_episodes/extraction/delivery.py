"""What became of the work outside the agent's files: commits, pushes, pull requests, and what CI said of them.

A commit or a push that goes through has passed whatever hooks the project has; a pull request that is merged was
accepted by somebody; CI that passes after a push looked at the work itself. Each is read from the exit status and from
the words in which git or GitHub's program reports success, never from the command alone.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Literal

from helix_episodes.extraction.calls import UNDONE, WITHOUT_EFFECT
from helix_episodes.extraction.checks.ci import CHECK_LINE
from helix_episodes.extraction.shell.commands import hides_exit

if TYPE_CHECKING:
    from helix_episodes.extraction.calls import ParsedCall
    from helix_episodes.extraction.shell.commands import Segment


def went_well(call: ParsedCall, at: int) -> bool:
    """Whether a part of a command is known to have ended with exit status 0, by that status or by its own words."""
    judged = next((one.passed for one in call.verdicts if one.segment == at), None)
    if judged is not None:
        return judged
    result = call.result
    ended_well = result is not None and (result.exit_code == 0 if result.exit_code is not None else call.status == "ok")
    return ended_well and not hides_exit(call.segments, at) and call.segments[at].joiner != "||"


#: What makes the work part of the repository, and the words with which no hook runs or nothing of it happens. ``-n``
#: skips the hooks of a commit and only tries a push.
_DELIVERING = frozenset({("git", "commit"), ("git", "push"), ("gh", "pr create"), ("gh", "pr merge")})
_UNCHECKED = frozenset({"--no-verify", "-n", "--dry-run"})
_REFUSED = re.compile(r"\[(?:remote )?rejected\]|^error: failed to push|^fatal: |nothing to commit", re.MULTILINE)
_SHOWN = {
    "commit": re.compile(r"^\[[^\]\n]*\b[0-9a-f]{7,40}\] ", re.MULTILINE),
    "push": re.compile(r"^ *(?:[*+] *)?(?:[0-9a-f]{7,}\.\.\.?[0-9a-f]{7,}|\[new (?:branch|tag)\])", re.MULTILINE),
    "pr create": re.compile(r"^https://\S+/pull/\d+", re.MULTILINE),
    "pr merge": re.compile(r"\b[Mm]erged\b"),
}


def delivered_by(call: ParsedCall) -> Segment | None:
    """The part of a command that committed, pushed, or opened or merged a pull request, when it went through."""
    if call.outside or call.status in UNDONE:
        return None
    for at, part in enumerate(call.segments):
        if (part.program, part.subcommand) in _DELIVERING and not _UNCHECKED.intersection(part.arguments):
            shown = _SHOWN[part.subcommand or ""].search(call.output)
            seen = went_well(call, at) or (shown is not None and call.status == "ok")
            if seen and not _REFUSED.search(call.output):
                return part
    return None


#: What CI and the pull request say of the work, with the words that say it.
Acceptance = tuple[Literal["CI passes", "the pull request is merged"], str]
_ALL_PASSED = re.compile(r"^All checks were successful.*$|^\u2713 .* completed with 'success'.*$", re.MULTILINE)
_MERGED = re.compile(r"^.*(?:\u2713 |Merged |merged )pull request.*$", re.MULTILINE)


def accepted_by(call: ParsedCall) -> Acceptance | None:
    """That CI passed or that a pull request was merged, when a command of GitHub's program says so."""
    for at, part in enumerate(call.segments):
        if part.program != "gh" or call.status in WITHOUT_EFFECT:
            continue
        if part.subcommand == "pr merge" and "--auto" not in part.arguments and went_well(call, at):
            shown = _MERGED.search(call.output)
            return "the pull request is merged", shown[0] if shown else part.text
        if part.subcommand == "pr view" and _says(call.output, "state", "MERGED"):
            return "the pull request is merged", call.output
        if part.subcommand in {"pr checks", "run watch", "run view"} and (words := _passing(part, call, at)):
            return "CI passes", words
    return None


def _passing(part: Segment, call: ParsedCall, at: int) -> str | None:
    """The words in which CI passes as a whole."""
    output = call.output
    if shown := _ALL_PASSED.search(output):
        return shown[0]
    if part.subcommand == "pr checks":
        states = [(found[2], found[0]) for found in CHECK_LINE.finditer(output)]
        passed = [line for state, line in states if state == "pass"]
        complete = all(state in {"pass", "skipping"} for state, _ in states)
        return passed[-1].strip() if passed and complete else None
    if part.subcommand == "run watch":
        jobs = [line for line in output.splitlines() if line.startswith("\u2713 ")]
        return jobs[-1] if jobs and "--exit-status" in part.arguments and went_well(call, at) else None
    return output if _says(output, "conclusion", "success") else None


def _says(output: str, key: str, value: str) -> bool:
    """Whether an output is one JSON object with that value."""
    try:
        found = json.loads(output)
    except ValueError:
        return False
    return isinstance(found, dict) and found.get(key) == value
