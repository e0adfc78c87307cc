r"""Failures of commands and tools that no runner's grammar reports, each with its family.

A closed list of well-known wordings comes first. A message in none of them gets a *template*: its first informative
line with paths, numbers, names and quotations masked, so that the same message about another file is the same family.

Some commands fail and end with exit status 0. A pipe shows the exit status of its last part, ``;`` that of the last
command: what failed before shows only in its own words. Only words in their speaker's own form are taken: the shell's
refusal, the report with which an interpreter ends a program, an error that the program prints at the margin. A
formatter asked to check may print a list of files or a diff and end with 0.

>>> from helix_episodes.extraction.shell.commands import parse_command
>>> read_listing(parse_command("gofmt -l .")[0], CommandOutput("cmd/a.go\ncmd/b.go")).findings[0].times
2
"""

from __future__ import annotations

import re
from itertools import pairwise, takewhile

from helix_episodes.extraction.checks.model import CheckFinding, CommandOutput, ReportedLine, Verdict, failing
from helix_episodes.extraction.checks.python import raised_exception
from helix_episodes.extraction.checks.summaries import is_script, summary_failure
from helix_episodes.extraction.shell.commands import Segment, hides_exit
from helix_episodes.light_imports import Regex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


#: How many lines from each end of a failed command's output are looked at: errors are at one of them.
ENDS = 300
#: A template longer than this is someone's prose and would never recur anyway.
_TEMPLATE_LIMIT = 80

#: The family of a call of a tool that there is not.
NO_SUCH_TOOL = "no such tool"
#: Families of a "failing" check that never ran: the shell or the task runner refused, and nothing judged the work.
NEVER_RAN = frozenset({"unknown task", "command not found", "shell syntax error", "no glob match", "not a module"})
#: Families and the wordings they are known by, checked in order.
#: What a tool that fetches pages says in place of a page, without calling it an error.
NOT_FETCHED = "The server returned HTTP "
_TOOL_WORDINGS = (
    ("file not found", r"^file does not exist|no such file or directory|\bENOENT\b|file not found"),
    ("text not unique", r"found \d+ matches of the string|multiple (?:matches|occurrences)|not unique"),
    ("text not found", r"string to replace not found|text not found|no match(?:es)? found for|not appear verbatim"),
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
    lines = CommandOutput(text).lines
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
    """
    return finding_of(segments, CommandOutput(output), exit_code)


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
    if last and code is not None and _PENDING.get((last.program, last.subcommand or "")) == code:
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
    r"\s*(?:#+ .*|(?:[Ee]rror|Caused by):|[\[{(<]+|\[(?:STARTED|COMPLETED|SKIPPED|SUCCESS|TITLE|DATA)\] .*)$"
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
    """
    spoken = [
        line.strip() for line in lines if line.strip() and not _is_noise(line) and not _BANNER.match(line.rstrip())
    ]
    spoken = [line.removeprefix("0: ") for line in spoken]
    loud = (line for line in spoken if _LOUD.match(line))
    naming = (line for line in spoken if _NAMES_IT.search(line))
    return next(loud, "") or next(naming, "") or (spoken[0] if spoken and len(spoken) <= _SHORT else "")


def informative_line(lines: Iterable[str]) -> str:
    """The first line that says something, trimmed; empty when none does."""
    return next((line.strip() for line in lines if line.strip() and not _is_noise(line)), "")


def echoed_status(segments: tuple[Segment, ...], index: int, output: CommandOutput) -> int | None:
    r"""The exit status of a part that hides it, where the shell was asked right behind it to print it.

    >>> from helix_episodes.extraction.shell.commands import parse_command
    >>> echoed_status(parse_command('pytest -q; echo "exit: $?"'), 0, CommandOutput("1 failed\nexit: 1"))
    1
    """
    following = segments[index + 1 :]
    asking = next((part for part in following if part.joiner != "|"), None)
    if asking is None or asking.joiner != ";" or asking.program not in {"echo", "printf"}:
        return None
    words = " ".join(asking.arguments)
    piped = following[0].joiner == "|"
    # Behind a pipe `$?` is the status of its last part.
    variable = next((one for one in ("${PIPESTATUS[0]}", "" if piped else "$?") if one and one in words), None)
    if variable is None:
        return None
    before, _, after = words.partition(variable)
    if not before.strip() and asking is not segments[-1]:
        return None  # a bare number among the lines of others
    printed = Regex(rf"{re.escape(before.strip())}\s*(\d{{1,3}})\s*{re.escape(after.strip())}\s*")
    lines = [line for line in output.lines if line.strip()]
    return next((int(found[1]) for line in reversed(lines) if (found := printed.fullmatch(line.strip()))), None)


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


_LISTS = frozenset({"-l", "--list", "--list-different", "-n", "--dry-run", "--files-with-diff"})
_DIFFS = frozenset({"-d", "--diff", "-diff"})
_FILE = Regex(r"(?:\./)?[\w@.+-]+(?:/[\w@.+ -]+)*\.\w{1,8}$")
#: Every file's diff names it twice or more; this line is in all of them, and once.
_DIFF = Regex(r"\+\+\+ (?:b/)?(\S+)")
_DIFF_CUT = Regex(r"diff .*?(?:b/)?(\S+)$")
_CLANG = Regex(r"([^\s:]+):\d+:\d+: (?:warning|error): code should be clang-formatted")


def read_listing(segment: Segment, output: CommandOutput) -> Verdict | None:
    """What a formatter lists or shows as a diff; None when it was not asked to, or its words are not alone."""
    asked = {*segment.arguments}
    found = output.matches(_CLANG)
    if not found and asked & _DIFFS:
        found = output.matches(_DIFF) or output.matches(_DIFF_CUT)
    files = [(one.string, one[1]) for one in found]
    lines = [line.strip() for line in output.lines if line.strip()]
    if not files and asked & _LISTS and all(_FILE.match(line) for line in lines):
        files = [(line, line) for line in lines]
    if not files:
        return None
    reports = [ReportedLine(family="not formatted", message=line, path=path) for line, path in files]
    return failing(segment.check or segment.program, "format", reports, count=len({path for _, path in files}))


_SHELL = r"(?:\(eval\)|-?(?:/bin/|/usr/bin/)?(?:ba|z|da|k)?sh)(?::(?: line)? ?\d+)?: "
_REFUSED = Regex(rf"{_SHELL}.+")
#: In the middle of an output only a refusal that no program would print about something else.
_REFUSED_LATER = Regex(
    rf"{_SHELL}(?:(?:command not found|no matches found|parse error|bad substitution|syntax error)\b.*|"
    r"\S+: (?:command not found|not found|No such file or directory|Permission denied))$"
)
_SCRIPT_REFUSED = Regex(
    r"([^\s:]+): line \d+: (?:syntax error\b.*|unexpected EOF\b.*|.*: bad substitution|\S+: command not found)$"
)
#: The programs that scripts are made of, where one says in its own name that a file of the script's is not there.
_SCRIPT_MISSES = Regex(
    r"(?:cat|sed|grep|awk|cp|mv|head|tail|diff|tar|source|ln|chmod|sort|wc): .*"
    r"(?:No such file or directory|Permission denied)$"
)
#: A program at the head of a pipe that was called with an option it does not have; then it prints how to call it.
_MISCALLED = Regex(r"(?:\S*/)?([\w.-]+): (?:illegal|invalid|unrecognized) option\b")
#: What the API of GitHub answers in place of what was asked for; ``curl`` ends well all the same.
_API_ERROR = Regex(
    r"\s*\{\s*\"message\":\s*\"([^\"\n]{1,200})\",\s*\"documentation_url\":\s*\"[^\"]*\",\s*\"status\":\s*\"([45]\d\d)\""
)
#: The same in the words of programs in Rust, of which nothing else is printed.
_USAGE = Regex(r"error: (?:unexpected argument|unrecognized subcommand|invalid value|the following required arg)")
_MERGING = {"merge", "rebase", "pull", "cherry-pick", "revert", "am", "stash pop", "stash apply"}
#: How programs begin the line in which they give up.
_GIVES_UP = Regex(r"(?:npm (?:ERR!|error) |ERROR: |(?:\u2502 )?[Ee]rror: |Error from server |fatal: |FATAL: |E: )\S")
#: What looks only, and works so much out for it that it can fail at that.
_WORKING_OUT = {"terraform": {"plan"}, "tofu": {"plan"}, "helm": {"template"}, "pulumi": {"preview"}, "cdk": {"synth"}}
#: How PowerShell names its commands, and who speaks at the margin: one of them, or the shell itself.
_CMDLET = Regex(r"[A-Z][a-z]+-[A-Z]\w+")
_CMDLET_ERROR = Regex(r"([A-Z]\w*(?:-[A-Z]\w+)?) ?:(?: (.*)|$)")
_RAISED_BY_SHELL = Regex(r"(?:\w*(?:Error|Exception)|Invalid\w+|\w+NotFound)")
_THROWN = Regex(r"(?:Uncaught )?((?:[A-Z]\w*)?Error)(?: \[\w+\])?: ")


def silent_failure(segments: tuple[Segment, ...], *, output: str) -> CheckFinding | None:
    """The failure in a command that ended with 0 all the same, in the words of whoever reports it.

    The shell refused a part of it (and something after it succeeded), a merge left conflicts behind ``|| true``, a
    program died at the head of a pipe. ``None`` when there is no such word. A failure before ``||`` was expected.

    >>> from helix_episodes.extraction.shell.commands import parse_command
    >>> silent_failure(parse_command("ls *.json | head"), output="(eval):1: no matches found: *.json").family
    'no glob match'
    """
    text = CommandOutput(output)
    lines = [line for line in text.lines if line.strip()][:ENDS]
    if any(part.program == "git" and part.subcommand in _MERGING for part in segments):
        conflict = next((line for line in lines if line.startswith("CONFLICT ")), None)
        if conflict:
            return CheckFinding(family="merge conflict", message=conflict)
    refused = _refusal(lines, segments)
    if refused:
        return _in_words(refused)
    asked = any((part.program, part.subcommand) in {("curl", None), ("gh", "api")} for part in segments)
    answer = _API_ERROR.match(output) if asked else None
    if answer:
        return CheckFinding(family=f"HTTP {answer[2]}", message=f"{answer[1]} (HTTP {answer[2]})")
    if reported := _powershell_error(text.lines, segments):
        return reported
    # The parts whose failure no one would see, other than on purpose, and those of them that change something.
    joiners = [*(part.joiner for part in segments[1:]), ""]
    unseen = [part for number, part in enumerate(segments) if hides_exit(segments, number) and joiners[number] != "||"]
    hidden = [
        part for part in unseen if part.purpose == "change" or part.subcommand in _WORKING_OUT.get(part.program, ())
    ]
    missed = next((line for line in lines if any(_finds_nothing(part, line) for part in unseen)), None)
    if not hidden or missed is not None:
        return _in_words(missed) if missed is not None else None
    # The line with which one of them, or what a script runs, sums up that it failed.
    runs = (None if is_script(part.program, part.subcommand) else part.program for part in hidden)
    summed = (summary_failure(text, program=program) for program in runs)
    return _ended(text) or _gave_up(lines, hidden) or next(filter(None, summed), None)


def _powershell_error(lines: Sequence[str], segments: tuple[Segment, ...]) -> CheckFinding | None:
    """The report of PowerShell, which goes on after most errors and ends with 0, by the name of the cmdlet.

    Of a script it shows the line before it says what is wrong; its older form names the category below.
    """
    cmdlets = {word for part in segments for word in (part.program, *part.arguments) if _CMDLET.fullmatch(word)}
    if not cmdlets:
        return None
    for at, line in enumerate(lines):
        found = _CMDLET_ERROR.match(line)
        if found is None or not (found[1] in cmdlets or _RAISED_BY_SHELL.fullmatch(found[1])):
            continue
        block = list(takewhile(lambda one: one[:1].isspace() or one == "Line |", lines[at + 1 :]))
        shown = [one.partition("|")[2].strip(" ~") for one in block if one.lstrip().startswith("| ")]
        said = found[2].strip() or next((one for one in reversed(shown) if one), "")
        if said and (block[:1] == ["Line |"] or found[1] in cmdlets):
            return known_finding([said]) or CheckFinding(family=template(said), message=said)
    return None


def _finds_nothing(part: Segment, line: str) -> bool:
    """Whether it is the line in which a command says, in its own name, that what it was to look at is not there."""
    return (
        part.purpose == "look"
        and line.startswith(f"{part.program}: ")
        and any(word in line for word in part.arguments if len(word) > 1 and not word.startswith("-"))
        and known_finding([line]) is not None
    )


def _in_words(line: str) -> CheckFinding:
    """A line as a finding: by its known wording, else by its template."""
    return known_finding([line]) or CheckFinding(family=template(line), message=line.strip())


def _refusal(lines: Sequence[str], segments: tuple[Segment, ...]) -> str | None:
    """The line in which the shell refuses, or git at the head of a pipe, or the shell in a script that was run."""
    if not lines:
        return None
    git_piped_on = any(part.program == "git" and following.joiner == "|" for part, following in pairwise(segments))
    if _REFUSED.match(lines[0]) or (git_piped_on and lines[0].startswith("fatal: ")):
        return lines[0]
    if _USAGE.match(lines[0]) and any(line.startswith("Usage: ") for line in lines):
        return lines[0]
    miscalled = _MISCALLED.match(lines[0])
    piped_on = {part.program for part, following in pairwise(segments) if following.joiner == "|"}
    if miscalled and miscalled[1] in piped_on:
        return lines[0]
    refused = next((line for line in lines if _REFUSED_LATER.match(line)), None)
    names = {part.subcommand or part.program for part in segments if is_script(part.program, part.subcommand)}
    if refused or not names:
        return refused
    in_script = (found for line in lines if (found := _SCRIPT_REFUSED.match(line)))
    refused = next((found.string for found in in_script if found[1].rpartition("/")[2] in names), None)
    return refused or next((line for line in lines if _SCRIPT_MISSES.match(line)), None)


def _ended(text: CommandOutput) -> CheckFinding | None:
    """The report with which an interpreter or a runtime ends a program."""
    if raised := raised_exception(text):
        return raised
    if text.has("panic: ") and text.has("\ngoroutine "):
        panic = next((line for line in text.lines if line.startswith("panic: ")), None)
        return CheckFinding(family="panic", message=panic) if panic else None
    if text.has("\n    at ") and text.has("node:internal", "Node.js v"):
        thrown = next((found for line in text.lines if (found := _THROWN.match(line))), None)
        return CheckFinding(family=thrown[1], message=thrown.string.strip()) if thrown else None
    return None


def _gave_up(lines: Sequence[str], hidden: Sequence[Segment]) -> CheckFinding | None:
    """The line in which one of those programs says, in its own name or at the margin, that it gives up."""
    own = tuple(f"{part.program}: " for part in hidden)
    at_margin = next((line for line in lines if _GIVES_UP.match(line)), None)
    named = next((line for line in lines if line.startswith(own) and known_finding([line])), None)
    line = at_margin or named
    return _in_words(line) if line else None
