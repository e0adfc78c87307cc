r"""Compilers of Rust, C, Swift, Zig, the JVM and .NET, Dart's analyzer, editors, builds of web projects.

A family says what kind of slip it was, in the same words for every compiler, because the remedy is of the same kind: an
undefined name wants an import, a rename or a declaration in any language.

A tool asks a language server for its diagnostics, or the editor sends them along unasked. Only errors count: hints and
suggestions are no failures. Tools answer with JSON (a list of files with their ``diagnostics``) or say in one sentence
that there is nothing. Builds of web projects (vite and rollup, webpack, Next.js) print a line for each module or file,
and close with a line of their own shape. What went wrong stands in a block of its own: below the line that names the
file (webpack, Next.js), or below the one that says that the build failed.

>>> compile_family('declared and not used: total')
'unused variable'
>>> read_diagnostics('[{"uri": "a.py", "diagnostics": []}]').passed
True
>>> found = '[{"uri": "a.py", "diagnostics": [{"message": "undefined: fmt", "severity": "Error"}]}]'
>>> read_diagnostics(found).findings[0].family
'undefined name'
>>> read_vite(CommandOutput('✗ Build failed in 1s\nerror during build:\nCould not resolve "./x"')).findings[0].family
'cannot resolve'
"""

from __future__ import annotations

import json
import re

from helix_episodes.extraction.checks.model import (
    CheckFinding,
    CommandOutput,
    ReportedLine,
    Verdict,
    failing,
    grouped,
    quoted,
    unspecified,
)
from helix_episodes.light_imports import Regex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any


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


#: Families and the wordings they are known by, checked in order.
_WORDINGS = (
    ("missing method", r"missing method|does not implement|not all trait items implemented|does not override"),
    ("unused import", r"imported and not used|unused import"),
    ("unused variable", r"declared and not used|declared but not used|unused variable"),
    ("redeclared", r"redeclared|already declared|redefinition of|duplicate (?:case|method|field|definition)"),
    ("import cycle", r"import cycle"),
    (
        "missing package",
        r"no required module provides package|is not in (?:std|GOROOT)|cannot find (?:package|module)|could not import",
    ),
    ("missing package", r"unresolved import|No such file or directory|file not found|package .* does not exist"),
    ("wrong arguments", r"not enough arguments|too many arguments|wrong number of arguments|takes \d+ arguments?"),
    (
        "type mismatch",
        r"cannot use|mismatched types|cannot convert|incompatible types?|assignment mismatch|invalid operation",
    ),
    ("type mismatch", r"type mismatch|impossible type|cannot infer|must be (?:a )?type|not assignable"),
    ("missing return", r"missing return"),
    (
        "undefined name",
        r"undefined|undeclared|not declared|cannot find symbol|unresolved reference|not found in this scope",
    ),
    ("undefined name", r"unknown field|has no (?:field|member)"),
    (
        "syntax error",
        r"syntax error|expected .*(?:found|got|before|after)|expected [';{}()\[\]]|unexpected|illegal character",
    ),
    ("syntax error", r"unterminated|not terminated|non-declaration statement"),
)
#: A compiler that the machine stops says so in the form of an error in the code.
_MACHINE = (
    ("no space left", r"No space left on device"),
    ("killed", r"signal: 9, SIGKILL|Killed signal terminated|signal: killed"),
)
_FAMILIES = tuple((family, Regex(wording)) for family, wording in (*_MACHINE, *_WORDINGS))
#: What does not compile, whichever check says so; the compilers' own codes are families too.
COMPILE_FAMILIES = frozenset(family for family, _ in _WORDINGS)
COMPILER_CODE = Regex(r"(?:TS|CS)\d{4}|E0\d{3}")


def compile_family(message: str) -> str:
    """The family of a compiler's message; ``does not compile`` when the wording says nothing more."""
    return next((family for family, pattern in _FAMILIES if pattern.search(message)), "does not compile")


_RUST_ERROR = Regex(r"(error|warning)(?:\[(E\d+)\])?: (.+)$")
_RUST_AT = Regex(r"\s*--> ([^\s:]+):\d+:\d+")
_RUST_LINT = Regex(r"\s*= (?:note|help): .*?`?#\[(?:deny|warn|forbid)\(([\w:-]+)\)\]|.*-D ([\w:-]+)`?")
_RUST_SUMS = ("could not compile", "aborting due to", "build failed")
_RUST_FMT = Regex(r"Diff in (\S+?):?(?: at line |:)\d+")


def read_rust(output: CommandOutput) -> Verdict | None:
    """The verdict of cargo's compiler: error codes, and clippy's lints where they are denied."""
    if not output.has("error[E", "could not compile", "aborting due to"):
        return None
    reports = [
        report for at, line in enumerate(output.lines) if line.startswith("error") and (report := _rust(output, at))
    ]
    summed = next(
        (line for line in output.lines if line.startswith("error") and any(w in line for w in _RUST_SUMS)), ""
    )
    cut_off = (CheckFinding(family="build failed", message=summed, generic=True),) if summed else ()
    lints = any(report.family.startswith("clippy::") for report in reports)
    return Verdict(
        check="cargo clippy" if lints else "cargo build",
        kind="lint" if lints else "build",
        passed=False,
        failed_count=len(reports) or None,
        findings=grouped(reports) or cut_off,
        quote=quoted(*(report.message for report in reports[:3])) or quoted(summed),
    )


def _rust(output: CommandOutput, at: int) -> ReportedLine | None:
    found = _RUST_ERROR.match(output.lines[at])
    if not found or any(words in found[3] for words in _RUST_SUMS):
        return None
    # A diagnostic ends at an empty line; 40 lines is more than rustc prints for one.
    body = output.lines[at + 1 : at + 40]
    body = body[: body.index("")] if "" in body else body
    place = next((place for line in body if (place := _RUST_AT.match(line))), None)
    lint = next((lint[1] or lint[2] for line in body if (lint := _RUST_LINT.match(line))), None)
    family = found[2] or lint or compile_family(found[3])
    return ReportedLine(family=family, message=found.string, path=place[1] if place else None)


def read_rustfmt(output: CommandOutput) -> Verdict | None:
    """The verdict of ``cargo fmt --check``: it prints a difference per place."""
    if not output.has("Diff in "):
        return None
    matches = output.matches(_RUST_FMT)
    if not matches:
        return None
    reports = [ReportedLine(family="not formatted", message=found.string, path=found[1]) for found in matches]
    return failing("cargo fmt", "format", reports)


_C_ERROR = Regex(r"([^\s:]+\.(?:c|cc|cpp|cxx|h|hpp|m|mm|swift|zig)):\d+:\d+: (?:fatal )?error: (.+)$")
_JAVA_ERROR = Regex(
    r"(?:\[ERROR\] |e: )?(?:file://)?([^\s:]+\.(?:java|kt|scala)):\[?\d+[,:]?\d*\]?:? (?:error: )?(.+)$"
)
_CSHARP_ERROR = Regex(r"\s*([^\s(]+)\(\d+,\d+\): error ([A-Z]+\d+): (.+?)(?: \[.*\])?$")


def read_compilers(output: CommandOutput) -> Verdict | None:
    """Errors of C, C++, Swift, Zig, the JVM's and .NET's compilers."""
    if not output.has("error: ", "error CS", "error FS", "error MSB", "[ERROR]", "e: "):
        return None
    java = {"javac": _JAVA_ERROR} if output.has("error: ", "COMPILATION ERROR", "e: file") else {}
    patterns = {"cc": _C_ERROR, "dotnet build": _CSHARP_ERROR, **java}
    reports: list[ReportedLine] = []
    names: list[str] = []
    for line in output.lines:
        name, found = next(((name, match) for name, one in patterns.items() if (match := one.match(line))), ("", None))
        if found:
            names.append(name)
            family = found[2] if name == "dotnet build" else compile_family(found[2])
            reports.append(ReportedLine(family=family, message=line, path=found[1]))
    return failing(names[0], "build", reports) if reports else None


#: Flutter's order is message, place, rule; Dart's own is place, message, rule.
_FLUTTER = Regex(r"\s*(error|warning|info) • (.+) • (\S+?):\d+:\d+ • (\w+)$")
_DART = Regex(r"\s*(error|warning|info) - (\S+?):\d+:\d+ - (.+) - (\w+)$")
_DART_END = Regex(r"(\d+) issues? found\.|No issues found!")


def read_dart(output: CommandOutput) -> Verdict | None:
    """The verdict of ``flutter analyze`` and ``dart analyze``, which fail for a warning too."""
    if not output.has(" • ", "issues found", "issue found"):
        return None
    flutter, dart = output.matches(_FLUTTER), output.matches(_DART)
    ends = [found for line in output.lines if (found := _DART_END.match(line))]
    if not flutter and not dart and not ends:
        return None
    reports = [
        *(ReportedLine(family=found[4], message=found.string, path=found[3]) for found in flutter),
        *(ReportedLine(family=found[4], message=found.string, path=found[2]) for found in dart),
    ]
    stated = next((int(found[1] or 0) for found in reversed(ends)), len(reports))
    return Verdict(
        check="dart analyze" if dart else "flutter analyze",
        kind="lint",
        passed=not stated,
        failed_count=stated,
        findings=grouped(reports) if stated else (),
        quote=quoted(*(report.message for report in reports[:2]), *(found.string for found in ends[-1:])),
        summed=bool(ends),
    )


#: The name of the check, whichever editor or server it is.
DIAGNOSTICS = "diagnostics"
_TOOL = Regex(r"diagnostic|read_?lints|get_?errors|get_?problems", re.IGNORECASE)
_NOTHING = Regex(r"\s*(?:there are )?no (?:\w+ ){0,2}(?:diagnostics|errors|problems|issues|lints?)\b", re.IGNORECASE)
#: As words, and as the language server protocol numbers them.
_SEVERE = frozenset({"error", "1"})
#: Families of findings whose wording says no more than that something is wrong.
_VAGUE = frozenset({"does not compile"})


def reports_diagnostics(tool: str | None) -> bool:
    """Whether a tool of that name asks the editor for its diagnostics.

    >>> reports_diagnostics("mcp__ide__getDiagnostics"), reports_diagnostics("Read")
    (True, False)
    """
    return bool(tool and _TOOL.search(tool))


def read_diagnostics(text: str, *, scope: tuple[str, ...] = ()) -> Verdict:
    """The editor's verdict in a text; ``passed`` is None when it is neither a list nor says that there is nothing."""
    try:
        listed = json.loads(text)
    except ValueError:
        reports, passed = [], True if _NOTHING.match(text) else None
    else:
        reports = list(_reports(listed))
        passed = not reports
    return Verdict(
        check=DIAGNOSTICS, kind="lint", passed=passed, findings=grouped(reports), quote=quoted(text), scope=scope
    )


def _reports(value: Any, path: str | None = None) -> Iterator[ReportedLine]:  # noqa: ANN401  (any JSON)
    """The severe diagnostics in a list of files, or of diagnostics."""
    if isinstance(value, list):
        for part in value:
            yield from _reports(part, path)
    elif isinstance(value, dict):
        place = next((str(value[name]) for name in ("uri", "filePath", "path", "file") if value.get(name)), path)
        if isinstance(value.get("message"), str) and str(value.get("severity", "error")).lower() in _SEVERE:
            yield ReportedLine(
                family=family_of_diagnostic(value["message"], value.get("code")),
                message=value["message"],
                path=place.removeprefix("file://") if place else None,
            )
        for name in ("diagnostics", "files"):
            yield from _reports(value.get(name), place)


def family_of_diagnostic(message: str, code: object = None) -> str:
    """The kind of slip a diagnostic names, else the rule's own code."""
    family = compile_family(message)
    if family not in _VAGUE:
        return family
    return str(code) if isinstance(code, str | int) and code else "editor's diagnostic"


#: In the order in which they are asked.
READERS = (read_next, read_webpack, read_vite, read_rust, read_rustfmt, read_compilers, read_dart)
