"""Whether a failure tells of the machine and not of the work: a missing tool, no permission, no network, a stop.

Such a failure is an event like any other, and something may answer it, but it is no verdict: nothing judged the work.
Only what a check itself printed is asked, by the wording of the operating system, the package manager or the runner.

>>> from helix_episodes.extraction.checks.model import CheckFinding
>>> is_environment(CheckFinding(family="test failed", message="Error: listen EPERM: operation not permitted ::1"))
True
>>> is_environment(CheckFinding(family="AssertionError", message="assert 1 == 2"))
False
"""

from __future__ import annotations

from helix_episodes.light_imports import Regex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from helix_episodes.extraction.checks.model import CheckFinding

#: Families with which the shell, the task runner or the checker says that nothing was checked.
NOTHING_CHECKED = frozenset({
    "unknown task", "command not found", "shell syntax error", "no glob match", "not a module", "not a go module",
    "unknown option", "unknown command", "not a git repository", "dependency not built",
})  # fmt: skip
_FAMILIES = NOTHING_CHECKED | {
    "ModuleNotFoundError", "permission denied", "connection failed", "address in use", "no space left", "killed",
    "interrupted", "authentication failed", "package not found", "dependency conflict", "no such tool",
}  # fmt: skip
_WORDINGS = Regex(
    # What is not installed; a path in quotes is a file of the project, which is work.
    r"Cannot find (?:module|package) ['\"](?![./])|ERR_MODULE_NOT_FOUND|No module named|command not found|"
    r"executable file not found|Executable doesn['\u2019]t exist|is not recognized as an internal|no such command|"
    r"\bis not installed\b|no required module provides package|"
    # Versions of engines and toolchains.
    r"Unsupported engine|EBADENGINE|go\.mod requires go|toolchain not available|requires rustc|"
    # Permissions, sandboxes, trust.
    r"\bEPERM\b|\bEACCES\b|\bEROFS\b|[Pp]ermission denied|[Oo]peration not permitted|[Rr]ead-only file system|"
    r"\bnot trusted\b|\bconfig files? .* untrusted\b|mise ERROR error parsing config|"
    # The network, and what else a machine runs out of.
    r"\bE(?:CONNREFUSED|CONNRESET|NOTFOUND|TIMEDOUT|AI_AGAIN|ADDRINUSE|NOSPC|MFILE)\b|Could not resolve host|"
    r"Temporary failure in name resolution|Network is unreachable|\bdial tcp\b|TLS handshake timeout|"
    r"No space left on device|[Tt]oo many open files|Cannot allocate memory|heap out of memory|signal: killed|SIGKILL|"
    # Stopped by a person or by the agent's own limit.
    r"\^C|SIGINT|SIGTERM|KeyboardInterrupt|[Cc]ommand timed out|exceeding timeout|"
    # Started where there is no project.
    r"cannot find main module|go\.mod file not found|could not find `?Cargo\.toml|Could not read package\.json|"
    r"Missing script|No rule to make target|no tests? found|[Nn]o test files found|No files matching|"
    r"file or directory not found: "
)
#: Exit statuses with which a shell reports a stop: a time limit, ^C, a kill, a termination.
STOPPED = frozenset({124, 130, 137, 143})


def is_environment(finding: CheckFinding) -> bool:
    """Whether the failure is the machine's."""
    return finding.family in _FAMILIES or _WORDINGS.search(finding.message) is not None
