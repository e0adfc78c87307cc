"""Failures of commands and tools that no runner's grammar reports, each with its family.

A closed list of well-known wordings comes first. A message in none of them gets a *template*: its first informative
line with paths, numbers, names and quotations masked, so that the same message about another file is the same family.

A failure may tell of the machine and not of the work (`is_environment`): a missing tool, no permission, no network, a
stop. It is an event like any other, and something may answer it, but it is no verdict: nothing judged the work. Only
what a check itself printed is asked, by the wording of the operating system, the package manager or the runner.

>>> from helix_episodes.extraction.checks.model import CheckFinding
>>> is_environment(CheckFinding(family="test failed", message="Error: listen EPERM: operation not permitted ::1"))
True
>>> is_environment(CheckFinding(family="AssertionError", message="assert 1 == 2"))
False
"""

from __future__ import annotations

import re
from itertools import pairwise

from helix_episodes.extraction.checks.model import CheckFinding, CommandOutput, cleaned
from helix_episodes.extraction.checks.python import raised_exception
from helix_episodes.light_imports import Regex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from helix_episodes.extraction.shell.commands import Segment


#: How many lines from each end of a failed command's output are looked at: errors are at one of them.
ENDS = 300
#: A template longer than this is someone's prose and would never recur anyway.
_TEMPLATE_LIMIT = 80

#: The family of a call of a tool that there is not.
NO_SUCH_TOOL = "no such tool"
#: Families of a "failing" check that never ran: the shell or the task runner refused, and nothing judged the work.
NEVER_RAN = frozenset({"unknown task", "command not found", "shell syntax error", "no glob match", "not a module"})
#: What a tool that fetches pages says in place of a page, without calling it an error.
NOT_FETCHED = "The server returned HTTP "
#: Families and the wordings they are known by, checked in order.
_TOOL_WORDINGS = (
    ("file not found", r"^file does not exist|no such file or directory|\bENOENT\b|file not found"),
    (
        "text not unique",
        r"found \d+ matches of the string|multiple (?:matches|occurrences)|not unique|expected 1 occurrence but found",
    ),
    ("text not found", r"string to replace not found|text not found|no match(?:es)? found for|not appear verbatim"),
    # What Codex's and OpenCode's patches, Gemini CLI's and OpenCode's edits say.
    ("text not found", r"failed to find (?:expected lines|context)|could not find (?:the string to replace|oldstring)"),
    ("text not found", r"0 occurrences found for old_string|oldstring not found"),
    ("file changed since read", r"modified since read|changed since|unexpectedly modified"),
    ("file not read first", r"has not been read yet|must (?:first )?read|read it first"),
    ("nothing to change", r"no changes to make|exactly the same"),
    ("file too large", r"exceeds maximum|too large|token limit"),
    ("edit breaks the syntax", r"introduced new syntax error"),
    ("is a directory", r"\bEISDIR\b|is a directory"),
    ("path not found", r"(?:path|directory) does not exist"),
    (NO_SUCH_TOOL, r"no such tool|unknown tool|tool not found"),
    ("no such agent", r"agent type .* not found"),
    ("invalid arguments", r"InputValidationError|invalid (?:arguments?|params|parameters)|required parameter"),
    ("permission denied", r"permission denied|\bEACCES\b|\bEPERM\b"),
    ("timeout", r"timed? ?out"),
    ("connection failed", r"\bE(?:CONNREFUSED|NOTFOUND|CONNRESET)|connection (?:refused|closed|error)|fetch failed"),
)
_COMMAND_WORDINGS = (
    (
        "shell syntax error",
        r"^\S*(?:bash|zsh|sh|\(eval\))\S*:.*(?:parse error|syntax error|unexpected EOF|unmatched|bad substitution)",
    ),
    ("shell syntax error", r"^\(eval\):\d+: (?:unmatched|parse error)"),
    ("shell syntax error", r"^zsh: parse error"),
    ("no glob match", r"no matches found:"),
    (
        "command not found",
        r"command not found|^\S*sh: \d+: \S+: not found|is not recognized as (?:an internal|a name of a)",
    ),
    ("merge conflict", r"^CONFLICT |Automatic merge failed|needs merge$|could not apply [0-9a-f]{4,}|unmerged files"),
    ("repository not trusted", r"detected dubious ownership"),
    ("not a git repository", r"not a git repository"),
    ("path ignored by git", r"paths are ignored by one of your \.gitignore"),
    ("unknown path for git", r"pathspec '.*' did not match"),
    ("unknown revision", r"unknown revision|bad revision|not a valid object name|Needed a single revision"),
    ("nothing to commit", r"nothing to commit|no changes added to commit|nothing added to commit"),
    ("local changes in the way", r"would be overwritten by|Please commit your changes or stash|unstaged changes"),
    ("push rejected", r"\[(?:remote )?rejected\]|failed to push some refs"),
    ("branch already exists", r"a branch named .* already exists"),
    ("no upstream branch", r"has no upstream branch"),
    (
        "authentication failed",
        r"Authentication failed|Permission denied \(publickey|could not read Username|Bad credentials",
    ),
    ("authentication failed", r"^remote: Permission to \S+ denied to "),
    ("unknown task", r"no tasks? (?:named|defined|found)|Missing script|No rule to make target|Task .* not found"),
    ("unknown task", r"does not contain recipe"),
    ("not a go module", r"cannot find main module|go\.mod file not found"),
    ("package not found", r"No matching distribution found|Could not find a version|\bE404\b|Unable to locate package"),
    ("package not found", r"no matching package named"),
    # Behind the name of a crate of the project itself stands its folder.
    (
        "dependency not built",
        r"failed to run custom build command for `[^`(]+`|Failed building wheel for \S|gyp ERR! build",
    ),
    ("dependency conflict", r"\bERESOLVE\b|conflicting dependencies|ResolutionImpossible"),
    ("file exists", r"File exists|already exists"),
    ("is a directory", r"[Ii]s a directory"),
    ("directory not empty", r"Directory not empty"),
    ("no such file", r"[Nn]o such file or directory|cannot stat|[Ff]ile not found|^(?:\S+: )?Cannot find path '"),
    (
        "not an archive",
        r"cannot find zipfile directory|End-of-central-directory signature not found|not in gzip format",
    ),
    ("not an archive", r"does not look like a tar archive|[Uu]nrecognized archive format|file format not recognized"),
    ("sed script error", r"^sed: -e expression #\d"),
    ("permission denied", r"[Pp]ermission denied|[Oo]peration not permitted"),
    ("address in use", r"[Aa]ddress already in use|EADDRINUSE"),
    ("connection failed", r"[Cc]ould not resolve host|[Cc]onnection refused|Network is unreachable|Failed to connect"),
    ("connection failed", r"ssh: connect to host \S+ port \d+: "),
    ("no space left", r"No space left on device"),
    ("jq error", r"failed to parse jq|^jq: (?:error|\d+ compile error)|parse error: Invalid"),
    (
        "unknown option",
        r"unrecognized (?:argument|option)|unknown (?:option|flag|shorthand)|(?:illegal|invalid) option",
    ),
    ("unknown option", r"No such option|unexpected argument|^usage: |Unknown JSON field"),
    ("unknown command", r"[Uu]nknown (?:sub)?command|no such (?:sub)?command|is not a git command|[Ii]nvalid usage"),
    ("timeout", r"[Cc]ommand timed out|[Tt]imeout exceeded|^(?:COMMAND|EXECUTION) TIMED OUT"),
)
_TOOL_FAMILIES = tuple((family, Regex(wording, re.IGNORECASE)) for family, wording in _TOOL_WORDINGS)
_COMMAND_FAMILIES = tuple((family, Regex(wording)) for family, wording in _COMMAND_WORDINGS)
#: Asked of each line first: most lines report no failure, and one expression reads a line faster than thirty.
_ANY_COMMAND_FAMILY = Regex("|".join(wording for _, wording in _COMMAND_WORDINGS))
_HTTP = Regex(r"\(?HTTP(?:/[\d.]+)? ([45]\d\d)\b|status code:? ([45]\d\d)\b|\bnpm (?:ERR!|error) ([45]\d\d)\b")

_SPEAKER = Regex(r"[\w.-]+: ")

# Exit 1 of these is an answer ("no", "none", "they differ"), not trouble.
_ANSWERING = frozenset(
    {"grep", "egrep", "fgrep", "rg", "ag", "ack", "diff", "cmp", "which", "type", "command", "test", "[", "[[", "pgrep"}
    | {"false", "git", "jq"}
)
#: "Still running": what is asked for is not ready yet.
_PENDING = {("gh", "pr checks"): 8}
#: ``^C``: what a program had printed by then is not why it ended.
INTERRUPTED = 130
#: Who reads a pipe has had enough, as ``head`` has: what writes to it is stopped, and nothing failed.
_ENOUGH_READ = 141
# Exit codes the shell itself gives, and what they say.
_SHELL_CODES = {
    126: "permission denied",
    127: "command not found",
    124: "timeout",
    137: "killed",
    INTERRUPTED: "interrupted",
}


def tool_finding(tool: str, text: str) -> CheckFinding:
    """The family of an error that one of the agent's own tools returned.

    >>> tool_finding("Edit", "<tool_use_error>File has not been read yet. Read it first.</tool_use_error>").family
    'file not read first'
    """
    plain = CommandOutput(re.sub(r"</?tool_use_error>", "", text))
    if raised := raised_exception(plain):
        return raised
    lines = plain.lines
    first = telling_line(lines)
    code = next((found for line in lines[:20] if (found := _HTTP.search(line))), None)
    if code:
        return CheckFinding(family=f"HTTP {code[1] or code[2] or code[3]}", message=first)
    head = "\n".join(lines[:3])
    family = _tools_own(head)
    if family:
        return CheckFinding(family=family, message=first)
    masked = template(first)
    return CheckFinding(family=masked or f"{tool} failed", message=first or informative_line(lines), generic=not masked)


def tools_own_finding(text: str) -> CheckFinding | None:
    """The error of an agent's tool that a text is known to be by its wording, whichever tool printed it.

    >>> tools_own_finding("Found 2 matches of the string to replace, but replace_all is false.").family
    'text not unique'
    """
    lines = cleaned(text).lines
    family = _tools_own("\n".join(lines[:3]))
    return CheckFinding(family=family, message=informative_line(lines)) if family else None


def _tools_own(head: str) -> str | None:
    return next((family for family, pattern in _TOOL_FAMILIES if pattern.search(head)), None)


def command_finding(segments: tuple[Segment, ...], *, output: str, exit_code: int | None) -> CheckFinding:
    """The family of a failed command that is no check.

    An exit status without a word of explanation gives ``exit code N``; from programs whose exit status is an answer
    (``grep``, ``diff``, ``test`` …) it gives ``answered no``. Both are generic.

    >>> from helix_episodes.extraction.shell.commands import parse_command
    >>> command_finding(parse_command("cat x"), output="cat: x: No such file or directory", exit_code=1).family
    'no such file'
    >>> command_finding(parse_command("set -o pipefail; find . | head -1"), output="./a", exit_code=141).family
    'answered no'
    """
    return finding_of(segments, cleaned(output), exit_code)


def finding_of(segments: tuple[Segment, ...], output: CommandOutput, exit_code: int | None) -> CheckFinding:
    """As ``command_finding``, for an output already cleaned."""
    code = exit_code if exit_code is not None else output.exit_code
    ends = output.lines if len(output.lines) <= 2 * ENDS else output.lines[:ENDS] + output.lines[-ENDS:]
    spoken = [line for line in ends if line.strip() and not _is_noise(line)]
    known = known_finding(spoken) or raised_exception(output)
    if known:
        return known
    stopped = code == INTERRUPTED and not any(_LOUD.match(line) for line in spoken)
    if code in _SHELL_CODES and (stopped or not spoken):
        return CheckFinding(family=_SHELL_CODES[code], message=f"exit code {code}")
    last = segments[-1] if segments else None
    pending = last and code is not None and _PENDING.get((last.program, last.subcommand or "")) == code
    if pending or (code == _ENOUGH_READ and any(part.joiner == "|" for part in segments)):
        return CheckFinding(family="answered no", message=informative_line(spoken), generic=True)
    # "error: …" of a part that changes something is no answer of the look behind it.
    broke_off = any(part.purpose == "change" for part in segments[:-1]) and any(_LOUD.match(line) for line in spoken)
    if last and code == 1 and last.program in _ANSWERING and not broke_off and (not spoken or last.purpose == "look"):
        return CheckFinding(family="answered no", message=informative_line(spoken) or f"exit code {code}", generic=True)
    first = telling_line(spoken)
    masked = template(first) if first else ""
    first = first or informative_line(spoken)
    # What a look prints is someone's text; only a line that calls itself an error is its own.
    is_own = _LOUD.match(first) or not last or last.purpose != "look"
    if masked and is_own:
        return CheckFinding(family=masked, message=first)
    ended = f"exit code {code}" if code is not None else "failed"
    return CheckFinding(family=ended, message=first if is_own or len(segments) == 1 else ended, generic=True)


def known_finding(lines: Iterable[str]) -> CheckFinding | None:
    """The first line with a wording that is known of commands, as a finding."""
    for line in lines:
        if code := _HTTP.search(line):
            return CheckFinding(family=f"HTTP {code[1] or code[2] or code[3]}", message=line.strip())
        if _ANY_COMMAND_FAMILY.search(line):
            family, found = next((family, match) for family, one in _COMMAND_FAMILIES if (match := one.search(line)))
            # Who passes another program's words on puts its own before them.
            passed_on = line[: found.start()].rstrip().endswith((";", ":")) and _SPEAKER.match(found[0])
            return CheckFinding(family=family, message=line[found.start() if passed_on else 0 :].strip())
    return None


#: The last is the exit status, as commands are often followed by an ``echo`` of it.
_NOISE = Regex(
    r"\s*(?:warning:|hint:|note:|Exit code \d|Shell cwd was reset|==> |[-=*_~#+|\s]*$"
    r"|(?:exit(?:ed)?(?:[ _-]?(?:code|status))?|rc|status)\W{0,3}\d{1,3}\s*$)",
    re.IGNORECASE,
)
#: A heading, the bracket that opens a report in JSON, and the progress of what a hook does are no message.
_BANNER = Regex(
    r"\s*(?:#+ .*|(?:[Ee]rrors?|ERRORS?|Caused by):|[\[{(<]+|\[(?:STARTED|COMPLETED|SKIPPED|SUCCESS|TITLE|DATA)\] .*)$"
)
_LOUD = Regex(r"\s*(?:\S+: )?\[?(?:error|fatal|panic|failed|failure|✗|✘|×|E:|ERR!)", re.IGNORECASE)  # noqa: RUF001  (signs as printed)


def _is_noise(line: str) -> bool:
    return bool(_NOISE.match(line))


#: Words with which a line names what is wrong, wherever they are in it.
_NAMES_IT = Regex(
    r"\b(?:error|fail(?:ed|ure|s)?|can(?:no|')t|could(?: not|n't)|(?:does|do|did|is|are)(?: not|n't)|unable"
    r"|un(?:known|expected|supported|defined|resolved)|invalid|illegal|missing|no such|denied|refused|must|already"
    r"|not (?:found|a|in|allowed|supported|defined|permitted|exist)|require[sd]?|exceed(?:s|ed)?|expired|timed? ?out"
    r"|abort(?:ed|ing)?|reject(?:ed)?|conflict|exception|fatal|panic|no [a-z]+ (?:found|match))\b",
    re.IGNORECASE,
)
#: An output of so few lines has no room for a banner.
_SHORT = 2


def telling_line(lines: Sequence[str]) -> str:
    """The line that names the error; empty when none of many does, for then the first may be a banner.

    >>> telling_line(["Ubuntu 24.04.1 LTS", "", "pkg-a 1.2", "could not open the display"])
    'could not open the display'
    >>> telling_line(["Error:", "   0: Failed to render 'a'"])  # as Rust's eyre prints a chain of errors
    "Failed to render 'a'"
    >>> telling_line(["Your edit has errors.", "It was not made.", "ERRORS:", "- E999 SyntaxError: unmatched ')'"])
    "- E999 SyntaxError: unmatched ')'"
    """
    whole = [line.strip() for line in lines if line.strip() and not _is_noise(line)]
    headed = {below for heading, below in pairwise(whole) if _BANNER.match(heading) and _LOUD.match(heading)}
    spoken = [line.removeprefix("0: ") for line in whole if not _BANNER.match(line)]
    loud = (line for line in spoken if _LOUD.match(line) or line in headed)
    naming = (line for line in spoken if _NAMES_IT.search(line))
    return next(loud, "") or next(naming, "") or (spoken[0] if spoken and len(spoken) <= _SHORT else "")


def informative_line(lines: Iterable[str]) -> str:
    """The first line that says something, trimmed; empty when none does."""
    return next((line.strip() for line in lines if line.strip() and not _is_noise(line)), "")


_MASKS = (
    (Regex(r"https?://\S+"), "<url>"),
    (Regex(r"[\w.+-]+@[\w-]+\.[\w.]+"), "<address>"),
    (Regex(r"\"[^\"]{0,200}\"|'[^']{0,200}'|`[^`]{0,200}`|\u201c[^\u201d]{0,200}\u201d"), "<text>"),
    (Regex(r"(?:~|\.{1,2})?(?:/[\w.@+-]+){2,}/?|[\w.-]+(?:/[\w.@+-]+)+|[A-Za-z]:\\\S+"), "<path>"),
    (Regex(r"\b[\w-]+\.(?:go|py|js|ts|tsx|json|ya?ml|toml|md|sh|rs|java|c|h|rb|txt)\b"), "<file>"),
    (Regex(r"\b(?=[0-9a-f-]*\d)[0-9a-f]{7,}(?:-[0-9a-f]+)*\b"), "<id>"),
    (Regex(r"\b\d[\d.,:]*(?:ms|s|kb|mb|gb|%)?\b", re.IGNORECASE), "<n>"),
)


def template(line: str) -> str:
    """A message with what varies masked: paths, numbers, ids, quotations, addresses.

    >>> template("Error: port 8080 of '/srv/app' is taken")
    'Error: port <n> of <text> is taken'
    """
    text = " ".join(line[: 4 * _TEMPLATE_LIMIT].split())
    for pattern, mask in _MASKS:
        text = pattern.sub(mask, text)
    return text[:_TEMPLATE_LIMIT].rstrip()


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
