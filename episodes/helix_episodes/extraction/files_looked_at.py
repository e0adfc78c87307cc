"""Whether a run of a check looked at a file, as far as its command and its output show."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from helix_episodes.extraction.checks.model import names_selected, paths_of
from helix_episodes.extraction.fix_credit import texts_of
from helix_episodes.extraction.languages import is_source_for, language_of
from helix_episodes.extraction.paths import file_name, is_test_file

if TYPE_CHECKING:
    from collections.abc import Sequence

    from helix_episodes.extraction.check_runs import CheckRun
    from helix_episodes.extraction.timeline import Timeline

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
