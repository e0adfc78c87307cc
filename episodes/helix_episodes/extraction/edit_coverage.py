"""Which runs say something of a change, and which only come after it: by files that they looked at, and by language.

A run that fails says something of the changes to the place that it names. A linter or formatter complains of the file
that is wrong, whatever else was changed; a compiler may be led there by a change elsewhere. What names neither a place
nor a test may have any cause, so that it speaks of a change only where nothing else was changed.

A run that was given test files by name says nothing of a change to another test file.

A run that passes is no verdict on a change that it did not look at. It did not where a failure stood, the change was
made after it, and the run selected something else; nor where the runner took an earlier result because nothing had
changed (``(cached)``); nor where it lists every package that it tested and the change is to a test of another, which
needs a build tag that the run lacks. So did no check of another language. The same command may have failed between the
change and its pass: then a later change made it pass. What else a log does not show is taken to have been looked at.

A compiler reads the sources of its language and the files that configure it, a linter no more than that. Tests may read
any data, but no program text of another language. A check of unknown language, such as a task, may read anything.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from helix_episodes.extraction.check_runs import does_not_compile, folder_of, touches
from helix_episodes.extraction.checks.compilers import COMPILE_FAMILIES
from helix_episodes.extraction.checks.model import looks_elsewhere, names_selected, paths_of
from helix_episodes.extraction.fix_credit import named_files, texts_of
from helix_episodes.extraction.paths import file_name, is_test_file, role_of
from helix_episodes.extraction.timeline import POINTS_AT_PLACE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from helix_episodes.extraction.check_runs import CheckRun
    from helix_episodes.extraction.timeline import Timeline
    from helix_episodes.model import Decision, Event


_CHECKS_OF = {
    "go": "go golangci-lint gofmt gofumpt goimports staticcheck revive gosec",
    "rust": "cargo rustc rustfmt",
    "javascript": """
        bun npm npx yarn pnpm tsc vue-tsc vitest jest mocha ava eslint oxlint biome prettier next vite webpack rollup
        tsup playwright cypress svelte-check
    """,
    "python": "pytest unittest mypy pyright basedpyright ruff black isort flake8 pylint ty",
    "dotnet": "dotnet msbuild",
    "jvm": "mvn gradle javac kotlinc ktlint detekt",
    "swift": "swift xcodebuild swiftlint swiftformat",
}
_LANGUAGE_OF = {check: language for language, checks in _CHECKS_OF.items() for check in checks.split()}
_SOURCES = {
    "go": "go mod sum work s c h",
    "rust": "rs",
    "javascript": """
        js jsx ts tsx mjs cjs mts cts json jsonc css scss less html vue svelte astro graphql snap
    """,
    "python": "py pyi pyx ipynb",
    "dotnet": "cs fs vb csproj fsproj vbproj sln props targets resx cshtml razor",
    "jvm": "java kt kts scala groovy gradle properties xml",
    "swift": "swift m h plist",
}
_SOURCES_OF = {language: frozenset(suffixes.split()) for language, suffixes in _SOURCES.items()}
#: Program text that no test of another language takes for data.
_PROGRAM_TEXT = frozenset({
    "go", "rs", "js", "jsx", "ts", "tsx", "py", "java", "kt", "cs", "swift", "rb", "php", "ps1", "bat",
})  # fmt: skip
#: It formats prose and configuration as well.
_OF_ANY_TEXT = frozenset({"prettier"})
#: Tools whose name says little: the scripts of a package run anything.
_RUNS_SCRIPTS = frozenset({"bun", "npm", "npx", "yarn", "pnpm"})


def language_of(check: str) -> str | None:
    """The language that a check is of, as far as its name tells."""
    return _LANGUAGE_OF.get(check.partition(" ")[0])


#: Endings in a language's sources that only some of its checks read: data, styles, what a build is configured by.
_BESIDES = frozenset({
    "json", "jsonc", "css", "scss", "less", "html", "graphql", "snap", "sum", "work", "xml", "properties", "plist",
    "resx", "props", "targets",
})  # fmt: skip


def is_source_for(check: str, path: str, kind: str) -> bool:
    """Whether a check of that kind reads every file with this one's ending: program text of its own language.

    >>> is_source_for("biome", "styles.css", "lint"), is_source_for("go test", "cart/cart.go", "test")
    (False, True)
    >>> is_source_for("mise lint", "deny.toml", "lint"), is_source_for("go build", "cart_test.go", "build")
    (False, False)
    >>> is_source_for("bun css:build", "cart.tsx", "build")
    False
    """
    name = path.replace("\\", "/").lower().rpartition("/")[2]
    suffix, language = name.rpartition(".")[2], language_of(check)
    if language is None or (check == "tsc" and suffix not in {"ts", "tsx", "mts", "cts"}):
        return False
    if kind == "build" and (role_of(path) == "test" or "css" in check):
        return False
    return suffix in _SOURCES_OF[language] and suffix not in _BESIDES


def may_read(check: str, path: str, *, tests: bool) -> bool:
    """Whether a check can have looked at a file; ``tests`` is true for one that runs tests. No path may be any.

    >>> may_read("go build", "README.md", tests=False), may_read("go test", "testdata/cart.json", tests=True)
    (False, True)
    >>> may_read("golangci-lint", ".golangci.yml", tests=False), may_read("make lint", "x.ps1", tests=False)
    (True, True)
    """
    program, language = check.partition(" ")[0], language_of(check)
    if not path or language is None or program in _OF_ANY_TEXT or (program in _RUNS_SCRIPTS and check != "bun test"):
        return True
    name = path.replace("\\", "/").lower().rpartition("/")[2]
    suffix, role = name.rpartition(".")[2], role_of(path)
    if suffix in _SOURCES_OF[language] or (role == "dependencies" and suffix not in _PROGRAM_TEXT):
        return True
    if name.startswith(".git") or role in {"ci", "docs"}:
        return False
    return (tests and suffix not in _PROGRAM_TEXT) or program.partition("-")[0] in name


#: Kinds of check that judge a file by itself.
_OF_ONE_FILE = frozenset({"lint", "format"})
_BARE_WORD = re.compile(r"[\w-]+")
#: Options whose values are not run; the longest name of one has some thirty letters.
_LEAVES_OUT = re.compile(r"(?<!-)--[\w.-]{0,60}?(?:ignore|exclude|deselect)", re.IGNORECASE)

_TEST_OF_A_PACKAGE = "_test.go"
_SOURCE_OF_A_PACKAGE = ".go"


def blamed(timeline: Timeline, changes: Sequence[Decision], event: Event, run: CheckRun) -> Sequence[Decision]:
    """Of the changes before a run those that its verdict speaks of."""
    if event.type == "error" and run.call is None:
        return [one for one in changes if touches(one, event.path)]
    check, kind = run.verdict.check, run.verdict.kind
    read = [one for one in changes if may_read(check, _path(one), tests=kind == "test")]
    uncompiled = does_not_compile(event, kind) or event.family in COMPILE_FAMILIES
    if event.type != "error" or (event.path and kind not in POINTS_AT_PLACE and not uncompiled):
        return read
    if event.path is None:
        return read if event.tests or len({_path(one) or one.id for one in read}) == 1 else []
    named = [one for one in changes if touches(one, event.path)]
    if named or uncompiled or kind not in _OF_ONE_FILE:
        return named or read
    output = timeline.calls[run.call].output if run.call is not None else ""
    files = named_files(event, output, alone=len(run.events) == 1)
    return [one for one in read if not _path(one) or file_name(_path(one)) in files]


def _path(decision: Decision) -> str:
    return (decision.action.path if decision.action else None) or ""


def failed_since(timeline: Timeline, decision: Decision, run: CheckRun) -> bool:
    """Whether the command of a passing run failed after a change, under the name of another check."""
    command = _command(timeline, run) if run.passed else None
    if command is None:
        return False
    failing = timeline.failing_between(timeline.positions[decision.id], run.position)
    return any(other.verdict.check != run.verdict.check and _command(timeline, other) == command for other in failing)


def _command(timeline: Timeline, run: CheckRun) -> str | None:
    if run.call is None or run.verdict.segment is None:
        return None
    segments = timeline.calls[run.call].segments
    return segments[run.verdict.segment].text if run.verdict.segment < len(segments) else None


def passes_something_else(run: CheckRun, standing: CheckRun | None) -> bool:
    """Whether a run passes without having looked at what the run before it had failed."""
    if standing is None or standing.passed or not run.passed:
        return False
    failed = standing.ground._replace(findings=standing.verdict.findings)
    return looks_elsewhere(run.ground, failed)


def is_judged(timeline: Timeline, decision: Decision, run: CheckRun) -> bool:
    """Whether a run looked at what a decision changed, as far as its command and the output of a pass show."""
    path = _path(decision)
    if runs_other_files(timeline, decision, run):
        return False
    ran, cached = run.verdict.ran, run.verdict.cached
    if not run.passed or not (ran or cached):
        return True
    folder = folder_of(path)
    if folder and path.endswith(_SOURCE_OF_A_PACKAGE) and _has(cached, folder):
        return False
    if path.endswith(_TEST_OF_A_PACKAGE) and _knows_parents(ran + cached, folder):
        return _has(ran, folder) or is_cut(timeline, run)
    return bool(ran) or is_cut(timeline, run)


def runs_other_files(timeline: Timeline, decision: Decision, run: CheckRun) -> bool:
    """Whether a run was given test files by name, and the change is to a test file that it was not given.

    A bare word beside them is an option's value, unless it may select the changed file too.
    """
    path, verdict = _path(decision), run.verdict
    if verdict.kind != "test" or not is_test_file(path) or not any(map(is_test_file, verdict.scope)):
        return False
    if _LEAVES_OUT.search(_command(timeline, run) or "") or any(
        touches(decision, one.path) for one in verdict.findings
    ):
        return False
    places = paths_of(verdict)
    others = (is_test_file(one) or _BARE_WORD.fullmatch(one) for one in places)
    # A place may have a folder before the file's name, and behind it the test that was selected.
    return bool(places) and all(others) and not any(file_name(one.partition("::")[0]) in path for one in places)


def _has(packages: Iterable[str], folder: str) -> bool:
    """Whether a package is that of a folder; the module's name stands before it."""
    return any(one.endswith(f"/{folder}") for one in packages)


def _knows_parents(packages: Iterable[str], folder: str) -> bool:
    """Whether folders are packages as they are named: not where the module lies in a folder of the repository."""
    parts = folder.split("/")
    return any(_has(packages, "/".join(parts[:end])) for end in range(1, len(parts) + 1))


def is_cut(timeline: Timeline, run: CheckRun) -> bool:
    """Whether only a part of the output is in the log, so that packages may be missing from it."""
    if run.call is None or run.verdict.segment is None:
        return True
    after = timeline.calls[run.call].segments[run.verdict.segment + 1 :]
    return bool(after) and after[0].joiner == "|"


#: Languages of which a build or test compiles every file of a package; in others a test reads what it imports.
_COMPILED = frozenset({"go", "rust", "jvm", "dotnet", "swift"})
#: What tests are called besides the name of what they test.
_TEST_MARK = re.compile(r"^test_|[._-](?:test|tests|spec)$")
#: A word for a path, as commands and outputs have it.
_PATH = re.compile(r"[\w@~.+/\\-]+")
#: A longer output than this says nothing more.
MOST_TEXT = 60_000
#: What git says of the files of a commit whose hook ran the tests.
_COMMITTED = re.compile(r"^ (?:create|delete) mode .*|^ rename .*", re.MULTILINE)
#: For which systems and with which tags Go compiles a file: by its first lines, and by its name.
_GO_BUILD = re.compile(r"^(?:\s*1→)?//go:build (.+)$", re.MULTILINE)
_GO_TAG = re.compile(r"\w+")
#: How the reading of a file without tags begins, and folders whose tests often need some.
_GO_BEGIN = re.compile(r"^\s*1→(?:package |//(?!go:build))", re.MULTILINE)
_GO_TAGGED = re.compile(r"(?:^|[/_])(?:integration|e2e|acceptance)(?:$|[/_])")
_GO_SYSTEM = re.compile(r"_(?:windows|linux|darwin|freebsd|js|wasm|amd64|arm64)(?:_test)?\.go$")


def looks_at(timeline: Timeline, run: CheckRun, path: str, texts: str) -> bool:
    """Whether a run read a file; ``texts`` are what a change found and wrote there."""
    if is_named(path, command_of_run(timeline, run)):
        return True
    return is_source_for(run.verdict.check, path, run.verdict.kind) and _takes_in(timeline, run, path, texts)


def _takes_in(timeline: Timeline, run: CheckRun, path: str, texts: str) -> bool:
    """Whether what a run was narrowed to has a file in it, as far as its command and output show."""
    verdict, output = run.verdict, output_of(timeline, run)
    selected = names_selected(verdict)
    if selected and not any(name in texts or name in path for name in selected):
        return False
    folder = path.rpartition("/")[0]
    if path.endswith(".go") and _go_leaves_out(timeline, run, path, texts):
        return False
    if verdict.ran or verdict.cached:
        return any(one == folder or one.endswith(f"/{folder}") for one in verdict.ran) if folder else bool(verdict.ran)
    compiled = language_of(verdict.check) in _COMPILED
    unseen = not is_test_file(path) or (verdict.task is not None and verdict.echoed is None)
    if verdict.kind == "test" and not compiled and unseen:
        return is_named(
            path, _COMMITTED.sub("", output)
        )  # nobody sees which files the tests import, or what a script runs
    entered = _folder_entered(timeline, run)
    # A package within the repository that has sources of its own has its own settings of types as well.
    package = path.partition("/src/")[0] if "/src/" in path else ""
    if not _is_below(path, entered) or (verdict.kind == "typecheck" and not compiled and package != entered):
        return False
    places = [one for one in paths_of(verdict) if one.strip("./")]
    return not places or any(
        _is_below(path, one)
        or is_named(path, one)
        # A bare word is a part of the names of tests, and of these some are in the change.
        or ("_" in one and one.isidentifier() and (one in texts or one in file_name(path)))
        for one in places
    )


def _go_leaves_out(timeline: Timeline, run: CheckRun, path: str, texts: str) -> bool:
    """Whether Go compiles a file on other systems alone, or with tags that a run does not name; or may do so.

    The file's first lines say which, where the log has them. Else a test file may need the tags of its folder: those of
    the other tests there, and those without which no test there ran; a linter lists no packages that would tell.
    """
    command = command_of_run(timeline, run)
    if "GOOS=" in command:
        return False
    folder, own = path.rpartition("/")[0], f"{_seen_of(timeline, path)}\n{texts}"
    tagged = [word for line in _build_lines(own) for word in _GO_TAG.findall(line)]
    if tagged or _GO_SYSTEM.search(path):
        return _GO_SYSTEM.search(path) is not None or not any(word in command for word in tagged)
    if not path.endswith("_test.go") or run.verdict.kind == "test" or "tags" in command:
        return False
    if "1→" in own and _GO_BEGIN.search(own):  # it was read from its first line, and names no system or tag
        return False
    others = {one.path for one in timeline.calls if one.path and one.path.endswith("_test.go")}
    if any(_build_lines(_seen_of(timeline, one)) for one in others if one.rpartition("/")[0] == folder):
        return True
    return bool(_GO_TAGGED.search(folder)) or not _is_tested_untagged(timeline, folder)


# Both expressions stop at every line, which takes many times as long as the search for the sign that they need.
def _build_lines(text: str) -> list[str]:
    """What the lines say that name the systems or tags which a file is compiled for."""
    return _GO_BUILD.findall(text) if "//go:build " in text else []


def _seen_of(timeline: Timeline, path: str) -> str:
    """What the log shows of a file: what was read of it and written to it."""
    return "\n".join(text for one in timeline.calls_on(path) for text in (one.output[:MOST_TEXT], *texts_of(one)))


def _is_tested_untagged(timeline: Timeline, folder: str) -> bool:
    """Whether tests of a folder ran without build tags: else its files may need some that a linter was not given."""
    return any(
        one == folder or one.endswith(f"/{folder}")
        for runs in timeline.runs.values()
        for run in runs
        if run.verdict.kind == "test" and "-tags" not in f"{command_of_run(timeline, run)}\n{output_of(timeline, run)}"
        for one in (*run.verdict.ran, *run.verdict.cached)
    )


def _is_below(path: str, folder: str) -> bool:
    plain = folder.removeprefix("./").removesuffix("...").rstrip("/*")
    return plain in {"", ".", path} or path.startswith(f"{plain}/")


def _folder_entered(timeline: Timeline, run: CheckRun) -> str:
    """The folder of the repository that a command went to before it ran the check; empty where it did not, or left."""
    if run.call is None:
        return ""
    before = timeline.calls[run.call].segments[: run.verdict.segment]
    entered = [part.arguments[0] for part in before if part.program == "cd" and part.arguments]
    inside = [one for one in entered if not one.startswith(("/", "~", "$", "..")) and one != "-"]
    return inside[-1] if inside else ""


def is_named(path: str, text: str) -> bool:
    """Whether a text has the name of a file, or of a test that is called after it, with folders that agree."""
    own = path.split("/")
    for found in _paths_in(text):
        parts = found.partition("::")[0].replace("\\", "/").split("/")
        if parts[-1] == own[-1] and _agree(own[:-1], parts[:-1]):
            return True
        if parts[-1] != own[-1] and is_test_file(parts[-1]) and stem_of(parts[-1]) == stem_of(path):
            return True
    return False


@lru_cache(maxsize=8)  # one output is asked for every file that was changed before it
def _paths_in(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_PATH.findall(text)))


def _agree(own: Sequence[str], other: Sequence[str]) -> bool:
    shorter = min(len(own), len(other))
    return not shorter or list(own[-shorter:]) == list(other[-shorter:])


def stem_of(path: str) -> str:
    """A file's name without its ending and without what marks it as a test.

    >>> stem_of("ui/cart.test.tsx"), stem_of("test_cart.py"), stem_of("cart_test.go")
    ('cart', 'cart', 'cart')
    """
    name = file_name(path.partition("::")[0])
    return _TEST_MARK.sub("", name.rpartition(".")[0] or name)


def output_of(timeline: Timeline, run: CheckRun) -> str:
    """The output of a run's call, or as much of it as is looked at."""
    return timeline.calls[run.call].output[:MOST_TEXT] if run.call is not None else ""


def command_of_run(timeline: Timeline, run: CheckRun) -> str:
    """The simple command that ran the check, empty where nobody ran it here."""
    if run.call is None or run.verdict.segment is None:
        return ""
    segments = timeline.calls[run.call].segments
    return segments[run.verdict.segment].text if run.verdict.segment < len(segments) else ""
