r"""A diagnostic, its keys, and how tools put it on a line: closed tables of where place, rule, test and message are.

Each row is one shape of line. ``sign`` is a text that every such line contains, and with one of the characters of
``begins``, where there are any, it begins: both are looked at first, since an expression takes long to compile. The
expression's groups are fields of a `Diagnostic`. ``above`` is the shape of an earlier line that has the rest (the file
that eslint names once, the heading of a pytest report); ``below`` that of one of the next lines (rustc's place,
terraform's block). Rows are tried in order: the first that matches reads the line.
``docs/explanation/fingerprints.md`` lists the tools, each with an example and where the example is from.
"""

from __future__ import annotations

from functools import cached_property, lru_cache

from helix_episodes.light_imports import Regex, Value, blake2b
from helix_episodes.normalization import is_telling, message_template

#: 64 bits: two of a million different issues share a fingerprint with a chance of one in 37 million.
_BYTES = 8
#: The same words of one compiler in the order of its older versions.
_REORDERED = (
    (Regex(r"^\"?([\w.]+)\"? declared (?:and|but) not used$"), r"declared and not used: \1"),
    (Regex(r"^\"([^\"]+)\" imported and not used$"), r'imported and not used: "\1"'),
)
#: How loud a line is says nothing of what is wrong; the same message comes with and without it.
_SEVERITY = Regex(
    r"(?:E {3,}|\W*(?:npm )?(?:ERR!|\[?(?:fatal )?(?:[Ee]rror|ERROR|[Ff]atal|FATAL|[Ww]arning|WARN)\]?)(?:\[\w+\])?"
    r"(?::|\s)\s*)+"
)
#: The sign before a complaint, which only some lines of one tool have.
_MARKS = ("\u00d7", "\u2716", "\u2717", "\u2718", "\u2a2f")
_MARK = Regex(rf"[{''.join(_MARKS)}]\s+")
_NAME = Regex(
    r"[\"'`\u2018\u201c]([A-Za-z_$@][\w.$@/:-]{0,79})[\"'`\u2019\u201d]"
    r"|\b(?:undefined|not used|symbol|reference): (\w[\w.]*)"
)
#: A test's place in its suite: the parts of the name, whichever sign a runner puts between them.
_JOINTS = Regex(r" (?:>|\u203a|\u2023|»|→) |::|#")
_LONGEST_TIME = 40
_TIMED = Regex(r"\s*[\[(]?\d[\d.,]* ?(?:ms|s)[\])]?$")
_WORD = Regex(r"[^\W\d_]{3,}")
_LINTER = Regex(r" \([a-z][a-z0-9]{2,20}\)$")
#: Tools that print the rule on a line without the message.
_RULE_SAYS_ALL = frozenset({"biome", "pre-commit", "shellcheck"})
#: An exception that says no more than that an expectation was not met.
_EXPECTATIONS = frozenset({"AssertionError", "Error", "Failed", "test failed"})


class Diagnostic(Value):
    """What is wrong, as far as the text says.

    ``message`` is without its location and without the name of its rule. ``test`` is the failing test, ``raised`` the
    exception that ended it; ``rule`` is the linter's rule or the compiler's code. ``scope`` is set where the message is
    a fixed sentence that is said of anything, and then belongs to it. ``alone`` is a line that someone pasted by
    itself: its words may be those of a test's name.
    """

    tool: str = ""
    message: str = ""
    file: str | None = None
    test: str | None = None
    raised: str | None = None
    rule: str | None = None
    scope: str = ""
    alone: str = ""

    @property
    def symbol(self) -> str | None:
        """The first name that is quoted in the message, or that follows one of compilers' fixed words."""
        named = _NAME.search(self.message)
        return (named[1] or named[2]) if named else None

    @property
    def fingerprint(self) -> str | None:
        """The name of the issue; None when the text says no more than that something failed."""
        return next(iter(self.keys), None)

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """The fingerprint, then the fingerprints of texts that say less of the same failure."""
        found = [*(_test_keys(self) if self.test else ()), *_message_keys(self)]
        if self.rule and (not found or self.tool in _RULE_SAYS_ALL):
            found.append(_key("rule", self.rule))
        if self.alone:
            # A linter's message without its place: its name stays at the end, or a rule's code before it.
            found += _message_keys(Diagnostic(message=_LINTER.sub("", self.alone)))
            found.append(_test_keys(Diagnostic(test=self.alone))[0])
        return tuple(dict.fromkeys(found))


def _key(*parts: str) -> str:
    return blake2b("\0".join(parts).encode("utf-8", "replace"), digest_size=_BYTES).hexdigest()


def _message_keys(one: Diagnostic) -> list[str]:
    core = message_core(one.message)
    # One word may be said by any program, of anything.
    scope = one.scope or (one.tool if len(_WORD.findall(core)) == 1 else "")
    return [_key("message", core, scope)] if core else []


@lru_cache(maxsize=8192)  # asked for a label, for a thing and for each of a diagnostic's keys
def message_core(message: str) -> str:
    """The part of a message that stays the same when it is met again; empty when it says nothing.

    >>> message_core("error: cannot open '/srv/a/b/cart.py', line 3.")
    'cannot open b/cart.py, line <n>'
    """
    message = _MARK.sub("", message) if message.startswith(_MARKS) else message
    text = _SEVERITY.sub("", message.strip()) if _SEVERITY.match(message.strip()) else message.strip()
    for pattern, words in _REORDERED:
        text = pattern.sub(words, text)
    if text.endswith(")") and text.count(")") > text.count("("):  # a nested report closed its own
        text = text[:-1]
    core = message_template(text).rstrip(" .:;")
    return core if is_telling(core) else ""


def name_of_test(name: str) -> str:
    """A test's name as every runner and report gives it: without parameters, subtests, file and time.

    >>> name_of_test("tests/test_cart.py::TestSum::test_add[3-4]"), name_of_test("TestPut/empty_key")
    ('TestSum > test_add', 'TestPut')
    """
    name = name.strip()
    plain = (name[:-_LONGEST_TIME] + _TIMED.sub("", name[-_LONGEST_TIME:])).rstrip()
    plain = plain.partition("[")[0] if plain.endswith("]") else plain  # the parameters
    if plain.startswith("Test") and "/" in plain:  # a part of a Go test
        plain = plain.partition("/")[0]
    parts = [part.strip() for part in _JOINTS.split(plain)]
    if len(parts) > 1 and "." in parts[0] and " " not in parts[0]:  # the file, or the module
        parts = parts[1:]
    if len(parts) == 1 and " " not in parts[0]:
        parts = parts[0].split(".")[-2:]  # a class and its method
    return " > ".join(parts)


def _test_keys(one: Diagnostic) -> list[str]:
    name = name_of_test(one.test or "")
    last = name.rpartition(" > ")[2]
    stem = (one.file or "").replace("\\", "/").rpartition("/")[2]
    raised = one.raised if one.raised and one.raised not in _EXPECTATIONS else ""
    ways = [(stem, name, raised), ("", name, raised), (stem, name, ""), ("", name, ""), ("", last, "")]
    return [_key("test", *way) for way in ways]


_FILE = r"(?P<file>(?:[A-Za-z]:)?[^\s:(),'\"|]+\.[A-Za-z]\w{0,7})"
_AT = rf"{_FILE}:\d+(?::\d+)?"
_CAPITALS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_CODE = r"[A-Z]{1,8}\d{2,5}"


class Grammar(Value):
    """One shape of line."""

    tool: str
    sign: str
    line: Regex
    begins: str
    above: Regex | None = None
    below: Regex | None = None


def _row(
    tool: str, sign: str, line: str, *, begins: str = "", above: str | None = None, below: str | None = None
) -> Grammar:
    return Grammar(
        tool=tool,
        sign=sign,
        line=Regex(line),
        begins=begins,
        above=Regex(above) if above else None,
        below=Regex(below) if below else None,
    )


_PYTHON = (
    _row("pytest", "::", r"(?:FAILED|ERROR) (?P<test>(?P<file>\S+\.py)::.+?)(?: - (?P<message>(?P<raised>\w*)\b.*))?$"),
    _row("pytest", "ERROR ", r"ERROR (?P<file>\S+\.py)(?: - (?P<message>(?P<raised>\w*)\b.*))?$", begins="E"),
    _row("pytest", "::", r"(?P<test>(?P<file>\S+\.py)::\S+)(?: (?:FAILED|ERROR)\b.*)?$"),
    _row(
        "pytest",
        "E  ",
        r"E\s+(?P<message>(?P<raised>[A-Za-z_][\w.]*(?:Error|Exception|Failed|Exit|Warning))\b.*|assert .+)$",
        above=r"_{3,} (?P<test>[\w.\[\]-]+) _{3,}$",
        below=r"(?P<file>\S+\.py):\d+: \w+",
    ),
    _row("unittest", ": test", r"(?:FAIL|ERROR): (?P<method>\w+) \((?P<test>[\w.]+)\)$"),
    _row("tox", "interpreter", r".*(?P<message>could not find python interpreter .+)$"),
    _row(
        "mypy",
        ": error: ",
        r"(?P<file>[^\s:]+\.pyi?):\d+(?::\d+)?: error: (?P<message>.+?)(?:\s+\[(?P<rule>[\w-]+)\])?$",
    ),
    _row("pyright", " - error: ", rf"\s*{_AT} - error: (?P<message>.+?)(?: \((?P<rule>report\w+)\))?$"),
    _row("ruff", ".py", rf"{_AT}: (?P<rule>{_CODE}):? (?:\[\*\] )?(?P<message>.+?)(?: \([\w-]+\))?$"),
    _row(
        "ruff",
        " ",
        r"(?P<rule>[A-Z]{1,5}\d{3,4})(?: \[\*\])? (?P<message>.+)$",
        begins=_CAPITALS,
        below=r"\s*--> (?P<file>[^\s:]+):\d+",
    ),
    _row("python", "Error: ", r"(?P<message>(?P<raised>[A-Za-z_][\w.]*(?:Error|Exception)): .+)$"),
)
_JAVASCRIPT = (
    _row("vitest", "FAIL", r"\s*FAIL\s+(?:\|[^|]+\|\s+)?(?P<file>\S+\.[cm]?[jt]sx?) > (?P<test>.+)$"),
    _row("bun test", "(fail) ", r"\(fail\) (?P<test>.+)$"),
    _row(
        "jest",
        "\u25cf ",
        "\\s*\u25cf (?P<test>.+ \u203a .+)$",
        above=r"\s*FAIL\s+(?P<file>\S+\.[cm]?[jt]sx?)(?: \([\d.]+ m?s\))?$",
    ),
    _row(
        "playwright",
        "\u203a",
        "\\s*(?:\\d+\\) )?\\[[\\w -]+\\] \u203a (?P<file>\\S+?):\\d+:\\d+ \u203a (?P<test>.+?)\\s*\u2500*$",
    ),
    _row("mocha", ") ", r"\s+\d+\) (?P<suite>\S.*)$", begins=" ", below=r"\s{6,}(?P<test>\S.*):$"),
    _row("tsc", "error TS", rf"{_FILE}(?:\(\d+,\d+\):|:\d+:\d+ -) error (?P<rule>TS\d+): (?P<message>.+)$"),
    _row("tsc", "error TS", r"error (?P<rule>TS\d+): (?P<message>.+)$"),
    _row(
        "eslint",
        "  error  ",
        r"\s*\d+:\d+\s+error\s+(?P<message>.+?)(?:\s{2,}(?P<rule>[\w@/-]+))?$",
        above=r"(?P<file>(?:/|[A-Za-z]:\\|\.{0,2}/?[\w@.-]+/).*\.\w+)$",
    ),
    _row(
        "biome",
        "\u2501",
        rf"(?:\s*at )?(?:{_FILE}(?::\d+:\d+)?\s+)?"
        r"(?:(?:lint|assist)/\w+/(?P<rule>\w+)|(?P<formats>format|organizeImports))\b.*\u2501",
        below="\\s*(?:\u00d7|\u2716) (?P<message>.+)$",
    ),
    _row("npm", "Missing script", r"npm (?:ERR!|error) (?P<message>[Mm]issing script:? .+)$"),
    _row(
        "npm", "npm ", r"npm (?:ERR!|error) (?P<message>(?:\d{3}|code E\w+|peer|Could not|Conflicting|[A-Z]\w+ \w+).*)$"
    ),
    _row("pnpm", "ERR_PNPM_", r"\W*(?P<rule>ERR_PNPM_\w+)\W+(?P<message>.+)$"),
    _row("yarn", "YN0", r"\W*(?P<rule>YN\d{4}):[\s\u2502\u250c\u2514]*(?P<message>.+)$"),
    _row("yarn", "error ", r"error (?P<message>(?:Couldn't|Package|Command \"|An unexpected|Your lockfile).+)$"),
    _row("bun", "error: ", r"error: (?P<message>(?:Script not found|Cannot find|lockfile|No version).+)$"),
)
_GO = (
    _row("go test", "--- FAIL", r"\s*--- FAIL: (?P<test>\S+)"),
    _row("go test", "panic: ", r"(?P<message>panic: .+)$"),
    _row(
        "golangci-lint",
        ".go:",
        r"(?P<file>[^\s:]+\.go):\d+(?::\d+)?: (?P<message>.+?) \((?P<rule>[a-z][a-z0-9]{2,20})\)$",
    ),
    _row("go build", ".go:", r"\s*(?:vet: )?(?P<file>[^\s:]+\.go):\d+(?::\d+)?: (?P<message>.+)$"),
    _row("go build", "go: ", r"go: (?P<message>.+)$"),
)
_COMPILED = (
    _row("rustc", "error[E", r"error\[(?P<rule>E\d+)\]: (?P<message>.+)$", below=r"\s*--> (?P<file>[^\s:]+):\d+:\d+"),
    _row("", "ERROR: ", r"ERROR: (?P<message>.+)$"),
    _row("", "Error: ", r"Error: (?P<message>.+)$"),
    _row("", "error: ", r"error: (?P<message>.+)$", below=r"\s*--> (?P<file>[^\s:]+):\d+:\d+"),
    _row("cargo test", "FAILED", r"test (?P<test>\S+)(?: - .+)? \.\.\. FAILED$"),
    _row("cargo test", "panicked at", r"thread '(?P<test>[^']+)'.* panicked at \S+:\d+:\d+:$"),
    _row(
        "cargo clippy",
        "warning",
        r"warning: (?P<message>.+)$",
        below=r"\s*= note: `#\[(?:warn|deny)\((?P<rule>[\w:-]+)\)\]",
    ),
    _row("ld", "undefined reference", r".*(?P<message>undefined reference to .+)$"),
    _row("ld", "ld: ", r"(?:\S*/)?ld(?:\.\w+)?: (?P<message>(?!.*in function).+)$"),
    _row(
        "javac",
        ".java:",
        rf"(?:\[ERROR\] )?{_FILE}:\[?\d+(?:,\d+\])?:? (?:error: )?(?P<message>.+)$",
        below=r"(?:\[ERROR\])?\s+symbol:\s+(?P<more>.+)$",
    ),
    _row("kotlinc", ".kt", rf"e: (?:file://)?{_FILE}:(?:\d+:\d+|\s*\(\d+, \d+\):?) (?:error: )?(?P<message>.+)$"),
    _row(
        "cc", "error: ", rf"{_AT}: (?:fatal )?error: (?P<message>.+?)(?: \[-W(?:error=|error,-W)?(?P<rule>[\w-]+)\])?$"
    ),
    _row("maven", "[ERROR]", r"\[ERROR\]\s+(?P<test>\w+(?:\.\w+)+):\d+(?:->\S+)?(?: (?P<message>.+))?$"),
    _row("maven", "[ERROR] Failed to execute", r"\[ERROR\] (?P<message>Failed to execute goal \S+ .+?)(?: -> \[.*)?$"),
    _row("gradle", " FAILED", r"(?P<test>\w[\w.$]* > .+) FAILED$"),
    _row("gradle", "Could not", r"\s*>?\s*(?P<message>Could not (?:find|resolve|determine|create) .+)$"),
    _row("dotnet", "error ", rf"\s*{_FILE}\(\d+,\d+\): error (?P<rule>[A-Z]+\d+): (?P<message>.+?)(?: \[.*\])?$"),
    _row("dotnet", "error ", r".*?error (?P<rule>(?:NU|MSB|NETSDK)\d+): (?P<message>.+?)(?: \[.*\])?$"),
    _row("dotnet test", "Failed ", r"\s*Failed (?P<test>[\w.]+)(?:\(.*\))? \["),
    _row(
        "cmake",
        "CMake Error",
        r"CMake Error(?: at (?P<file>[^\s:]+):\d+(?: \([\w]+\))?)?:\s*(?P<message>.*)$",
        below=r"\s{2}(?P<message>\S.+)$",
    ),
    _row("ctest", "***", r"\s*\d+/\d+ Test +#\d+: (?P<test>\S+) \.*\s*\*{3}\w+"),
    _row("ctest", "(", r"\s*\d+ - (?P<test>\S+) \((?:Failed|Timeout|SEGFAULT|Not Run|Child aborted)\)"),
    _row("make", "No rule", r"g?make(?:\[\d+\])?: \*\*\* (?P<message>No rule to make target .+?)\.?\s+Stop\.$"),
    _row("make", "missing separator", r"(?P<file>[^\s:]+):\d+: \*\*\* (?P<message>missing separator.*?)\.\s+Stop\.$"),
)
#: A step of a Dockerfile, as the builder calls it.
_STEP = r"(?P<message>/bin/sh -c .+)"
_OTHERS = (
    _row("rspec", "rspec ./", r"rspec (?P<file>\./\S+?)(?::\d+|\[[\d:]+\]) # (?P<test>.+)$"),
    _row("rubocop", ".rb:", rf"{_AT}: [CWEFRI]: (?:\[Correctable\] )?(?P<rule>\w+/\w+): (?P<message>.+)$"),
    _row("bundler", "gem", r"(?P<message>(?:Could not find|Bundler could not find|Your bundle) .+)$"),
    _row("phpunit", "::", r"\d+\) (?P<test>[\w\\]+::\w+)(?: with data set .+)?$"),
    _row(
        "terraform", "Error: ", r"[\u2502|]\s*Error: (?P<message>.+)$", below=r"[\u2502|]\s+on (?P<file>\S+) line \d+"
    ),
    _row("docker", "did not complete", rf".*process \"{_STEP}\" did not complete successfully: exit code: \d+$"),
    _row("docker", "non-zero code", rf".*The command '{_STEP}' returned a non-zero code: \d+$"),
    _row("docker", "failed to solve", r"(?:ERROR: )?failed to (?:solve|build): (?P<message>.+)$"),
    _row("docker", "from daemon", r".*Error response from daemon: (?P<message>.+)$"),
    _row("kubectl", "from server", r"[Ee]rror from server(?: \((?P<rule>\w+)\))?: (?P<message>.+)$"),
    _row("shellcheck", ": ", rf"{_AT}: (?:error|warning|note): (?P<message>.+) \[(?P<rule>SC\d+)\]$"),
    _row(
        "shellcheck",
        "SC",
        r".*\^-*\^? (?P<rule>SC\d{4}) \(\w+\): (?P<message>.+)$",
        above=r"In (?P<file>\S+) line \d+:$",
    ),
    _row("pre-commit", "hook id", r"- hook id: (?P<rule>\S+)$"),
    _row("pre-commit", "Failed", r"(?P<message>\S.*?)\.{3,}Failed$", below=r"- hook id: (?P<rule>\S+)$"),
    _row("git", "CONFLICT", r"(?P<message>CONFLICT \(.+?\): .+)$"),
    _row("git", "rejected]", r"\s*! \[(?P<rule>(?:remote )?rejected)\]\s+\S+ -> \S+ \((?P<message>.+)\)$"),
    _row("git", "fatal: ", r"fatal: (?P<message>.+)$"),
    _row("gh", "fail", r"(?P<message>\S.*?)[\t ]+fail[\t ]+\d[0-9hms]*[\t ]+https?://\S+"),
    _row("gh", "(ID ", r"X (?P<message>\S.*) in [0-9hms]+ \(ID \d+\)", begins="X"),
    _row(
        "shell",
        ": ",
        r"(?:\(eval\)|-?(?:/\S*/)?(?:ba|z|da|k)?sh):(?:(?: line)? ?\d+:)? (?P<message>.+)$",
        begins="(-/bzdks",
    ),
)

#: What no tool above prints: how most compilers and linters put a place before a message.
_ANY = _row("", ":", rf"{_AT}: (?:error: )?(?P<message>.+)$")

#: All rows, in the order in which they are tried; linters' lines look like compilers', so they come before them.
GRAMMARS: tuple[Grammar, ...] = (*_PYTHON, *_JAVASCRIPT, *_GO, *_OTHERS, *_COMPILED, _ANY)

_ENDS = r"(?:code|status)(?: code)? ?:?\d+\.?"
#: Banners, echoed commands, totals and "task failed", each with a text in small letters that such a line contains.
_NOISE = (
    ("$ ", r"(?:\[[\w:./-]+\] )?\$ .*"),
    ("> ", r"> .*"),
    ("# ", r"# [\w.-]+(?:/[\w./-]+)*(?: \[\S+\])?|\S+\.go:\d+:(?:\d+:)? ?: # .*"),
    ("issue", r"(?:found )?\d+ (?:\w+ )?issues?\b.*"),
    ("problem", r"(?:[\u2716\u00d7] )?(?:found )?\d+ (?:\w+ )?problems?\b.*"),
    ("error", r"(?:found )?\d+ (?:\w+ )?errors?\b.*|found errors.*|errors?:? \d+"),
    (
        "warning",
        r"(?:found )?\d+ (?:\w+ )?warnings?\b.*|warnings?:? \d+|warning: build failed.*|.*generated \d+ warnings?.*",
    ),
    ("fail", r"\d+ (?:\w+ )?fail(?:ed|ures?|ing)?\b.*|failed to compile\.?"),
    ("pass", r"\d+ (?:\w+ )?pass(?:ed|ing)?\b.*"),
    (
        "test",
        r"\d+ (?:\w+ )?tests?\b.*|tests?(?: suites?| files?)?:? +\d.*|tests? run: .*|ran \d+ tests?.*|test result: .*",
    ),
    ("example", r"\d+ examples?\b.*|failed examples:"),
    ("offense", r"\d+ (?:\w+ )?offenses?\b.*"),
    ("file", r"(?:found )?\d+ files?\b.*"),
    ("* ", r"\* [\w-]+: \d+|\* (?:try|what went wrong|get more help).*"),
    ("==", r"=+(?: .*)? =+|=+"),
    ("(", r"(?:ok|failed) \([^()]*=\d+[^()]*\)"),
    ("task", r".*\btask failed\b.*|.*\berror task .*|> task \S+ failed"),
    ("could not compile", r"error: could not compile .*"),
    ("aborting due", r"error: aborting due to .*"),
    ("test failed", r"error: test failed.*"),
    ("build failed", r"(?:error: )?build failed.*"),
    ("build failure", r"(?:\[(?:info|error)\] )?build failure.*"),
    ("failure: build", r"failure: build .*"),
    ("script", r"error: script \".*\" exited.*"),
    ("didn't exit", r"error: process didn't exit.*"),
    ("for more information", r".*for more information about .*|\[error\] for more .*"),
    ("detailed", r"some errors have detailed .*"),
    ("emitted while", r".*some (?:errors|warnings) were emitted while .*"),
    (
        "npm ",
        r"npm (?:err!|error) (?:code (?:elifecycle|\d)|lifecycle script|a complete log|command|errno|path|cwd).*",
    ),
    ("elifecycle", r"\W*elifecycle.*"),
    ("command", r"error command (?:failed|\".*\" failed).*|command (?:failed|exited).*"),
    ("***", r"g?make(?:\[\d+\])?: \*\*\* \[.*\](?: error \d+.*)?"),
    ("ninja", r"ninja: build stopped.*"),
    ("process ", r"process (?:completed|exited).*"),
    (
        "exit",
        rf"(?:program|script)? ?exit(?:ed)?(?: with)? ?{_ENDS}|[^:]*exited with (?:exit )?{_ENDS}|exit(?:ed)? \d+",
    ),
    ("failed with", rf"[^:]*failed with (?:exit )?{_ENDS}"),
    ("[error]", r"\[error\](?: *| -> \[help 1\].*| to see .*| re-run maven .*)"),
    ("run with --", r"> run with --.*"),
    ("traceback", r"traceback \(most recent call last\):"),
    ("invocationerror", r"(?:error: )?invocationerror.*"),
    (": fail", r"\w+: fail(?: .*)? code \d+.*|\w+: fail"),
    ("rated", r".*your code has been rated.*"),
    ("did not complete", r".*build did not complete.*"),
    ("following", r".*\bfollowing (?:errors?|issues?|problems?|warnings?|output)\b.{0,20}:"),
    ("yn0000", r"\W*yn0000:.*"),
    ("while running ctest", r"errors while running ctest.*"),
    ("tests failed", r"the following tests failed:|\d+% tests passed, .*"),
    ("line ", r"in \S+ line \d+:"),
    ("eresolve", r"npm (?:err!|error) (?:code )?eresolve.*"),
    ("resol", r"npm (?:err!|error) (?:while resolving:.*|could not resolve dependency:?)"),
    ("refreshing", r"refreshing (?:checks|run) status.*"),
)
_NOISE_ROWS = tuple((sign, Regex(rf"\s*(?:{pattern})\s*$")) for sign, pattern in _NOISE)
#: A package's closing line, whose words are written in these letters alone; and what is no word at all.
_CLOSING = Regex(r"\s*(?:(?:FAIL|ok|PASS|\?)(?:\s+\S+)?(?:\s+(?:\[.*\]|\(cached\)|[\d.]+m?s))?|FAILED|\W*)\s*$")


@lru_cache(maxsize=256)  # a line that a grammar reads has been looked at before
def is_noise(line: str) -> bool:
    """Whether a line is a banner, an echoed command or a total, and so never what is wrong.

    >>> is_noise("[lint:go] $ golangci-lint run"), is_noise("Found 3 errors."), is_noise("cart.go:3:1: undefined: x")
    (True, True, False)
    """
    if _CLOSING.match(line):
        return True
    lowered = line.lower()
    for sign, pattern in _NOISE_ROWS:  # noqa: SIM110  (half the time of `any` and a generator)
        if sign in lowered and pattern.match(lowered):
            return True
    return False
