r"""Builds of web projects: vite and rollup, webpack, Next.js.

They print a line for each module or file, and close with a line of their own shape. What went wrong stands in a block
of its own: below the line that names the file (webpack, Next.js), or below the one that says that the build failed.

>>> read_vite(CommandOutput('✗ Build failed in 1s\nerror during build:\nCould not resolve "./x"')).findings[0].family
'cannot resolve'
"""

from __future__ import annotations

from helix_episodes.extraction.checks.compilers import compile_family
from helix_episodes.extraction.checks.model import CommandOutput, ReportedLine, Verdict, grouped, quoted, unspecified
from helix_episodes.light_imports import Regex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


_UNRESOLVED = Regex(
    r"(?:Can't|Could not|Cannot|Failed to) (?:resolve|load) |Module not found"
    r"|UNRESOLVED_IMPORT|failed to resolve import"
)
_UNPARSED = Regex(
    r"Module parse failed|PARSE_ERROR|Transform failed|Syntax Error|Expected .+ but found|Unexpected token"
)
_CODE = Regex(r".*?\b(TS\d{4,5})\b")
_TYPED = Regex(r"Type error: (.+)$")


def _family(message: str) -> str:
    """The kind of slip, in the words that compilers of other languages have for it."""
    if _UNRESOLVED.search(message):
        return "cannot resolve"
    if code := _CODE.match(message):
        return code[1]
    if _UNPARSED.search(message):
        return "syntax error"
    typed = _TYPED.match(message)
    family = compile_family(typed[1] if typed else message)
    return family if family != "does not compile" else "type error" if typed else "build failed"


_VITE_FAILED = Regex(r"[✗x✖] Build failed in |error during build:$")
_VITE_BUILT = Regex(r"✓ built in [\d.]+ ?m?s")
#: What stands between the line that says so and the error itself.
_VITE_HEADING = Regex(r"error during build:$|Build failed with \d+ errors?:$|\[?Rollup Error\]?$")
_VITE_PLACE = Regex(r"\s*(?:file: |[╭─│\s]+\[ )(\S+?):\d+")


def read_vite(output: CommandOutput) -> Verdict | None:
    """The verdict of ``vite build``."""
    if not output.has("uild failed in ", "error during build:", "✓ built in "):
        return None
    failed = [at for at, line in enumerate(output.lines) if _VITE_FAILED.match(line)]
    built = output.matches(_VITE_BUILT)
    if not failed:
        quote = quoted(*(found.string for found in built[-1:]))
        return Verdict(check="vite build", kind="build", passed=True, quote=quote) if built else None
    below = [line.strip() for line in output.lines[failed[0] + 1 :] if line.strip()]
    message = next((line for line in below if not _VITE_HEADING.match(line)), "")
    place = next((found[1] for line in output.lines[failed[0] :] if (found := _VITE_PLACE.match(line))), None)
    reports = [ReportedLine(family=_family(message), message=message, path=place)] if message else []
    return _failed("vite build", reports, output.lines[failed[0]])


def _failed(check: str, reports: list[ReportedLine], summary: str) -> Verdict:
    named = [report for report in reports if report.family != "build failed"] or reports
    findings = grouped(named)
    # A message of no known kind says more than that the build failed, but its kind is no more.
    findings = tuple(found._replace(generic=found.family == "build failed") for found in findings)
    return Verdict(
        check=check,
        kind="build",
        passed=False,
        failed_count=len(reports) or None,
        findings=findings or (unspecified("build", summary),),
        quote=quoted(*(report.message for report in reports[:2]), summary),
    )


_WEBPACK_END = Regex(r"(?:webpack \S+ |.*\(webpack \S+\) )?compiled (successfully|with (\d+) (error|warning)s?)")
_WEBPACK_ERROR = Regex(r"(?:\[\S+\] )?ERROR in (\S+?)(?::\d+:\d+|\(\d+,\d+\)| \d+:\d+\S*)?(?:: (.+))?$")


def read_webpack(output: CommandOutput) -> Verdict | None:
    """The verdict of webpack."""
    if not output.has("compiled ", "ERROR in "):
        return None
    ends = [found for line in output.lines if "webpack" in line and (found := _WEBPACK_END.match(line))]
    reports = list(_webpack_errors(output))
    if not ends and not reports:
        return None
    bad = [found for found in ends if found[3] == "error"]
    if bad or reports:
        verdict = _failed("webpack", reports, bad[-1].string if bad else reports[0].message)
        return verdict._replace(failed_count=int(bad[-1][2]) if bad else len(reports), summed=bool(ends))
    return Verdict(check="webpack", kind="build", passed=True, quote=quoted(ends[-1].string))


def _webpack_errors(output: CommandOutput) -> Iterator[ReportedLine]:
    for at, line in enumerate(output.lines):
        if found := _WEBPACK_ERROR.match(line):
            below = (one.strip() for one in output.lines[at + 1 : at + 4])
            message = found[2] or next((one for one in below if one), line)
            yield ReportedLine(family=_family(message), message=message, path=found[1].removeprefix("./"))


_NEXT_FAILED = Regex(
    r"\s*(?:[⨯×] )?Failed to compile\.?$|.*Turbopack build failed with \d+ errors?:"  # noqa: RUF001  (as printed)
    r"|Failed to type check\.$"
)
_NEXT_BUILT = Regex(r"\s*✓ (?:Generating static pages|Finalizing page optimization|Collecting build traces)")
_NEXT_FILE = Regex(r"\.{0,2}/[^\s:]+\.\w+(?::\d+:\d+)?$")


def read_next(output: CommandOutput) -> Verdict | None:
    """The verdict of ``next build``, which compiles first and checks types then."""
    if not output.has(
        "Failed to compile", "Turbopack build failed", "Failed to type check", "✓ Generating static pages"
    ):
        return None
    failed = [at for at, line in enumerate(output.lines) if _NEXT_FAILED.match(line)]
    if not failed:
        built = output.matches(_NEXT_BUILT)
        quote = quoted(*(found.string for found in built[-1:]))
        return Verdict(check="next build", kind="build", passed=True, quote=quote) if built else None
    reports = list(_next_errors(output.lines[failed[0] :]))
    return _failed("next build", reports, output.lines[failed[0]])


def _next_errors(lines: list[str]) -> Iterator[ReportedLine]:
    """Below each file's name the error, before the lines of code that it is about."""
    for at, line in enumerate(lines):
        if _NEXT_FILE.match(line.strip()) and not line[:1].isspace():
            message = next((one.strip() for one in lines[at + 1 : at + 3] if one.strip()), "")
            if message and not _NEXT_FILE.match(message):
                path = line.strip().partition(":")[0].removeprefix("./")
                yield ReportedLine(family=_family(message), message=message, path=path)


#: In the order in which they are asked.
READERS = (read_next, read_webpack, read_vite)
