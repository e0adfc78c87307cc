r"""How builds and linters sum up that they failed, where nothing else of their words is left.

``| tail -1`` keeps the summary and cuts the reports off. Each tool sums up in a line of its own shape, at the margin
and at the end. Such a line counts only for the tool itself, or for a task or script that may run it; never for what
shows a text.

>>> summed_failure(Output("src/a.java compiled\nBUILD FAILED in 3s"), program="gradle").message
'BUILD FAILED in 3s'
>>> summed_failure(Output("BUILD FAILED in 3s"), program="eslint")
"""

from __future__ import annotations

from helix_episodes.extraction.checks.model import Finding, Output, Reading, quoted
from helix_episodes.extraction.programs import SHELLS
from helix_episodes.regex import Regex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from helix_episodes.extraction.programs import Kind

_BUNDLERS = "vite rollup esbuild next nuxt astro ng parcel tsup rspack webpack"
_MANY = r"[1-9]\d*"
#: Programs, and the lines with which they say that they failed.
_LINES: tuple[tuple[str, str], ...] = (
    ("dotnet msbuild", rf"Build FAILED\.?$|\s*{_MANY} Error\(s\)$|Build failed with {_MANY} error\(s\)"),
    ("gradle", r"BUILD FAILED in \d|FAILURE: Build (?:failed|completed) with "),
    ("gradle ant", r"BUILD FAILED$"),
    ("mvn", r"\[(?:INFO|ERROR)\] BUILD FAILURE$"),
    ("cargo", r"error: (?:could not compile|test failed, to rerun pass|aborting due to) ?.*"),
    ("tsc vue-tsc", rf"Found {_MANY} errors?(?: in .+|\.)$"),
    ("webpack next rspack", rf"webpack \S+ compiled with {_MANY} errors?|> Build failed because of webpack errors$"),
    (f"{_BUNDLERS} react-scripts", r"Failed to compile\.?$"),
    (_BUNDLERS, r"[✖✗✘×] [Bb]uild failed\b"),  # noqa: RUF001  (signs as printed)
    (_BUNDLERS, r"[Bb]uild failed(?: in [\d.]+ ?m?s| with \d+ errors?:?|[.:])?$|error during build:$"),
    ("bazel", r"(?:ERROR|FAILED): Build did NOT complete successfully"),
    ("ninja cmake", r"ninja: build stopped: .+|-- Configuring incomplete, errors occurred!"),
    ("xcodebuild", r"\*\* (?:BUILD|TEST|ARCHIVE) FAILED \*\*"),
    ("make", r"g?make(?:\[\d+\])?: \*\*\* .+(?: Error \d+|  ?Stop\.)$"),
    ("eslint stylelint standard xo", rf"[✖×] {_MANY} problems?(?! \(0 errors)"),  # noqa: RUF001  (eslint's own sign)
    ("rubocop", rf"\d+ files? inspected, {_MANY} offenses? detected"),
    ("phpstan", rf"\s*\[ERROR\] Found {_MANY} errors?$"),
    ("mypy", rf"Found {_MANY} errors? in {_MANY} files?"),
    ("biome ruff", rf"Found {_MANY} errors?\.$"),
    ("pytest", r"!{3,} (?:Interrupted: |stopping after ).+ !{3,}$"),
    ("phpunit pest", r"(?:FAILURES|ERRORS)!$"),
    ("rspec", r"An error occurred while loading \S"),
    ("docker podman buildah", r"(?:ERROR: )?failed to (?:solve|build): .+|ERROR: failed to (?:solve|build): .+"),
)
_OF_PROGRAM = {
    program: Regex("|".join(pattern for names, pattern in _LINES if program in names.split()))
    for program in sorted({program for names, _ in _LINES for program in names.split()})
}
_OF_ANY = Regex("|".join(pattern for _, pattern in _LINES))
#: Task runners add about ten lines after what the tool said last (npm's own report is the longest).
_END = 15
_SCRIPTS = (".sh", ".bash", ".zsh", ".ps1")


def summed_failure(output: Output, *, program: str | None) -> Finding | None:
    """The line with which that program says that it failed, as a finding; any program's when it is not known."""
    pattern = _OF_ANY if program is None else _OF_PROGRAM.get(program)
    if pattern is None:
        return None
    last = [line for line in output.lines if line.strip()][-_END:]
    said = next((line.strip() for line in last if pattern.match(line)), None)
    return Finding(family="build failed", message=said, generic=True) if said else None


def read_summary(output: Output, *, check: str, program: str | None, kind: Kind) -> Reading | None:
    """The verdict of a check of which only the summary is left; see `summed_failure`."""
    found = summed_failure(output, program=program)
    if found is None:
        return None
    finding = Finding(family=f"{kind} failed", message=found.message, generic=True)
    return Reading(check=check, kind=kind, passed=False, findings=(finding,), quote=quoted(found.message))


def is_script(program: str, subcommand: str | None) -> bool:
    """Whether a part of a command runs a shell script, which may run anything.

    >>> is_script("bash", "ci.sh"), is_script("deploy.sh", None), is_script("bash", None), is_script("cat", "ci.sh")
    (True, True, False, False)
    """
    return program.endswith(_SCRIPTS) or (program in SHELLS and subcommand is not None)
