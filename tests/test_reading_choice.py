"""Which reader reads this log, and what does a user hear when none does?"""

from __future__ import annotations

import doctest
import importlib.metadata
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest

from helix_episodes.errors import InvalidArgument, LogNotReadable, UnknownLogFormat
from helix_episodes.readers import (
    LogHead,
    Reader,
    find_logs,
    find_reader,
    read_head,
    read_sessions,
    reader_names,
    registry,
)
from helix_episodes.readers.claude_code import ClaudeCodeReader
from helix_episodes.session import Session, Source, Step
from helix_graph import Memory

if TYPE_CHECKING:
    from collections.abc import Iterator

CLAUDE = {"type": "user", "uuid": "1", "sessionId": "s1", "message": {"role": "user", "content": "hello"}}


class DiaryReader:
    """A format of somebody else's: lines that begin with a dash."""

    name = "diary"
    suffixes = (".diary",)

    def sniff(self, head: LogHead) -> str | None:
        return None if head.lines[0].startswith(b"- ") else "no dash"

    def is_part(self, path: Path) -> bool:
        return path.name.startswith("part-")

    def read(self, path: Path) -> Iterator[Session]:
        for number, line in enumerate(path.read_text().splitlines(), 1):
            step = Step(kind="prompt", source=Source(line=number), text=line)
            yield Session(id=f"day-{number}", agent="me", reader=self.name, steps=(step,))


class ReaderWithoutAnything:
    name = "hollow"


class Point:
    """Stands for an installed entry point."""

    def __init__(self, name: str, loaded: object) -> None:
        self.name = name
        self.value = f"package:{name}"
        self._loaded = loaded

    def load(self) -> Any:  # noqa: ANN401  (an entry point can be anything)
        if isinstance(self._loaded, Exception):
            raise self._loaded
        return self._loaded


@pytest.fixture
def others(monkeypatch: pytest.MonkeyPatch) -> None:
    points = [
        Point("diary", DiaryReader),
        Point("hollow", ReaderWithoutAnything),
        Point("missing", ImportError("no module named 'gone'")),
    ]
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda **_: points)


def write(path: Path, content: str | dict[str, Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content) + "\n", encoding="utf-8")
    return path


def test_a_torn_line_of_megabytes_hides_no_log(tmp_path: Path) -> None:
    log = tmp_path / "torn.jsonl"
    log.write_text('{"a":' * 400_000 + "\n" + json.dumps(CLAUDE) + "\n")
    assert find_reader(log).name == "claude-code"
    (session,) = read_sessions(log)
    assert [step.text for step in session.steps] == ["hello"]


def test_content_decides_and_the_name_does_not(tmp_path: Path) -> None:
    assert find_reader(write(tmp_path / "notes.txt", CLAUDE)).name == "claude-code"
    with pytest.raises(UnknownLogFormat):
        find_reader(write(tmp_path / "session.jsonl", '{"role": "user"}\n'))


@pytest.mark.parametrize(
    "foreign",
    [
        {"type": "user", "uuid": "1", "sessionId": "s", "message": {"role": "user", "parts": [{"text": "hi"}]}},
        {"type": "system", "uuid": "1", "sessionId": "s", "timestamp": "2026-03-02T09:00:00Z", "subtype": "telemetry"},
        {"type": "user.message", "id": "1", "data": {"content": "hi"}},
        {"type": "session_meta", "payload": "1"},
        {"type": "message", "message": {"role": "user", "content": "hi"}},
    ],
)
def test_other_agents_logs_are_declined(tmp_path: Path, foreign: dict[str, Any]) -> None:
    head = read_head(write(tmp_path / "x.jsonl", foreign))
    assert ClaudeCodeReader().sniff(head) == "no line has the type, id and message of its records"


def test_a_refusal_names_each_reader_and_its_reason(tmp_path: Path, others: None) -> None:  # noqa: ARG001
    with pytest.raises(UnknownLogFormat) as error:
        find_reader(write(tmp_path / "x.log", "plain text\n"))
    declined = error.value.declined
    assert declined["claude-code"] == "no line is a JSON object"
    assert declined["diary"] == "no dash"
    assert declined["hollow"].startswith("could not be loaded (AttributeError")
    assert declined["missing"] == "could not be loaded (ImportError: no module named 'gone')"


def test_a_refusal_names_the_formats_that_came_closest_and_how_to_see_all(tmp_path: Path) -> None:
    with pytest.raises(UnknownLogFormat) as error:
        find_reader(write(tmp_path / "notes.md", "A page about nothing.\n"))
    said = str(error.value)
    assert "(ai-agents: " in said
    assert len([name for name in error.value.declined if f"{name}: " in said]) == 3
    assert f"and {len(error.value.declined) - 3} more, which -v lists" in said
    assert "--format NAME" in said


def test_other_packages_readers_take_part(tmp_path: Path, others: None) -> None:  # noqa: ARG001
    log = write(tmp_path / "x.diary", "- one\n- two\n")
    assert [session.id for session in read_sessions(log)] == ["day-1", "day-2"]
    assert find_reader(log, format="diary").name == "diary"
    names = reader_names()
    assert (names[0], names[-1]) == ("claude-code", "diary")
    assert "ai-agents" in names


def test_a_format_nobody_has_is_refused_with_those_there_are(tmp_path: Path, others: None) -> None:  # noqa: ARG001
    with pytest.raises(
        InvalidArgument, match=r"there are: auto, claude-code, .*ai-agents, .*diary; could not be loaded: hollow"
    ):
        find_reader(write(tmp_path / "x.jsonl", CLAUDE), format="telepathy")


@pytest.mark.parametrize("format_", ["auto", "claude-code"])
@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("missing.jsonl", None, "No such file"),
        ("folder", "folder", "it is a folder"),
        ("empty.jsonl", b"", "it is empty"),
        ("picture.jsonl", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\n", "it is not text"),
        ("powershell.jsonl", f"{json.dumps(CLAUDE)}\r\n".encode("utf-16"), "it is UTF-16.*save it as UTF-8"),
        ("unmarked.jsonl", f"{json.dumps(CLAUDE)}\r\n".encode("utf-16-le"), "it is not text"),
    ],
)
def test_what_cannot_be_read_is_said_with_the_reason(
    tmp_path: Path, format_: str, name: str, content: bytes | str | None, problem: str
) -> None:
    path = tmp_path / name
    if content == "folder":
        path.mkdir()
    elif isinstance(content, bytes):
        path.write_bytes(content)
    with pytest.raises(LogNotReadable, match=problem):
        find_reader(path, format=format_)


@pytest.mark.parametrize("format_", ["auto", "claude-code", "ai-agents"])
def test_a_pipe_or_a_device_is_refused_at_once(tmp_path: Path, format_: str) -> None:
    os.mkfifo(tmp_path / "pipe.jsonl")
    (tmp_path / "zeros.jsonl").symlink_to("/dev/zero")
    for path in (tmp_path / "pipe.jsonl", tmp_path / "zeros.jsonl"):
        with pytest.raises(LogNotReadable, match="it is not a regular file"):
            find_reader(path, format=format_)


def test_a_folder_gives_no_pipes_and_devices_but_links_to_logs(tmp_path: Path) -> None:
    for ending in (".jsonl", ".json", ".md"):
        os.mkfifo(tmp_path / f"agent-pipe{ending}")
        (tmp_path / f"zeros{ending}").symlink_to("/dev/zero")
    log = write(tmp_path / "s1.jsonl", CLAUDE)
    link = tmp_path / "s2.jsonl"
    link.symlink_to(log)
    gone = tmp_path / "s3.jsonl"
    gone.symlink_to(tmp_path / "nowhere")
    # A link to nothing stays, so that reading it names what is wrong.
    assert find_logs(tmp_path) == [log, link, gone]


def test_every_built_in_reader_bears_the_name_under_which_it_is_registered() -> None:
    assert [reader.name for reader in registry._built_in()] == list(registry._BUILT_IN)


@pytest.mark.parametrize("format_", ["auto", "claude-code"])
@pytest.mark.parametrize("name", ["s1/subagents/agent-a1.jsonl", "agent-a1.jsonl"])
def test_a_helpers_transcript_is_refused_with_the_log_to_give(tmp_path: Path, format_: str, name: str) -> None:
    log = write(tmp_path / name, {**CLAUDE, "isSidechain": True, "agentId": "a1"})
    with pytest.raises(LogNotReadable, match="it belongs to the session log next to its folder; extract that log"):
        find_reader(log, format=format_)


def test_a_folder_gives_its_logs_in_order_and_each_sessions_helpers_with_it(tmp_path: Path) -> None:
    side = {**CLAUDE, "isSidechain": True, "agentId": "a1"}
    expected = [write(tmp_path / "b" / "s1.jsonl", CLAUDE), write(tmp_path / "a.jsonl", CLAUDE)]
    write(tmp_path / "b" / "s1" / "subagents" / "agent-a1.jsonl", side)
    write(tmp_path / "b" / "s1" / "subagents" / "workflows" / "w1" / "agent-a2.jsonl", side)
    write(tmp_path / "b" / "agent-a3.jsonl", side)
    write(tmp_path / "b" / "memory" / "notes.jsonl", CLAUDE)
    write(tmp_path / "b" / "README.md", "no log")
    expected.append(write(tmp_path / "agent-of-mine.jsonl", CLAUDE))
    assert find_logs(tmp_path) == sorted(expected)


def test_a_folder_gives_other_packages_logs_too(tmp_path: Path, others: None) -> None:  # noqa: ARG001
    write(tmp_path / "part-1.diary", "- one\n")
    log = write(tmp_path / "x.diary", "- one\n")
    assert find_logs(tmp_path) == [log]


def test_a_known_log_is_read_without_a_look_at_installed_packages(tmp_path: Path) -> None:
    log = write(tmp_path / "s1.jsonl", CLAUDE)
    program = (
        "import sys; from pathlib import Path; from helix_episodes.readers import read_sessions; "
        f"read_sessions(Path({str(log)!r})); print('importlib.metadata' in sys.modules)"
    )
    # -S keeps site's own start-up files out; the paths are handed in instead.
    paths = repr([entry for entry in sys.path if entry])
    ran = subprocess.run(
        [sys.executable, "-S", "-c", f"import sys; sys.path[:0] = {paths}; {program}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.strip() == "False"


def test_the_built_in_reader_fits_the_protocol(tmp_path: Path) -> None:
    reader: Reader = find_reader(write(tmp_path / "s1.jsonl", CLAUDE))
    assert reader.suffixes == (".jsonl",)


class _Failing(DiaryReader):
    """A reader that fails in one of its methods, as the author of a package may not have foreseen."""

    name = "failing"

    def __init__(self, method: str, failure: BaseException) -> None:
        self._method, self._failure = method, failure

    def _fail_in(self, method: str) -> None:
        sys.stdout.write("what a package prints is no answer, \x1b[31mand no order to a terminal\u202e\n")
        if method == self._method:
            raise self._failure

    def sniff(self, head: LogHead) -> str | None:
        self._fail_in("sniff")
        return super().sniff(head)

    def is_part(self, path: Path) -> bool:
        self._fail_in("is_part")
        return super().is_part(path)

    def read(self, path: Path) -> Iterator[Session]:
        self._fail_in("read")
        return super().read(path)


class _Unforeseen(Exception):
    """Of no kind that anybody would name."""


class _End(BaseException):
    """As no code outside of Python itself should raise it."""


class _Untold(Exception):
    """Even what it says fails."""

    def __str__(self) -> str:
        raise _End


@pytest.mark.parametrize(
    "failure", [SystemExit(3), _Unforeseen("boom"), AssertionError(), _End(), GeneratorExit(), _Untold()]
)
@pytest.mark.parametrize("method", ["load", "sniff", "is_part", "read"])
def test_whatever_fails_in_another_packages_reader_is_its_own_named_problem(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    method: str,
    failure: BaseException,
) -> None:
    def load() -> _Failing:
        if method == "load":
            raise failure
        return _Failing(method, failure)

    monkeypatch.setattr(importlib.metadata, "entry_points", lambda **_: [Point("failing", load)])
    logs = tmp_path / "logs"
    write(logs / "one.jsonl", CLAUDE)
    diary = write(logs / "two.diary", "- one\n")
    kind = type(failure).__name__
    with pytest.raises((UnknownLogFormat, LogNotReadable), match=f"failing.*{kind}"):
        read_sessions(diary)
    assert [one.name for one in find_logs(logs) if one.suffix == ".jsonl"] == ["one.jsonl"]
    memory = Memory.init(tmp_path / "project")
    report = memory.extract([logs / "one.jsonl", diary])
    assert (len(report.written), len(report.failed)) == (1, 1)
    assert kind in report.failed[0].problem
    said = capsys.readouterr()
    assert said.out == ""
    assert not {"\x1b", "\u202e"} & set(said.err)


def test_the_reader_of_our_page_reads_its_log_where_it_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = Path(__file__).parents[1] / "docs" / "how-to" / "write-a-reader.md"
    example = doctest.DocTestParser().get_doctest(page.read_text(), {}, page.name, str(page), 0)
    doctest.DocTestRunner().run(example, clear_globs=False)
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda **_: [Point("diary", example.globs["DiaryReader"])])
    log = write(tmp_path / "monday.jsonl", {"who": "user", "said": "Fix the tests"})
    assert [one.name for one in find_logs(tmp_path)] == ["monday.jsonl"]
    (session,) = read_sessions(log)
    assert (session.id, session.reader) == ("monday", "diary")


def test_a_reader_that_gives_no_sessions_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Wrong(DiaryReader):
        def read(self, path: Path) -> Iterator[Session]:
            found: Any = iter(["no session", str(path)])
            yield from found

    monkeypatch.setattr(importlib.metadata, "entry_points", lambda **_: [Point("diary", Wrong)])
    with pytest.raises(LogNotReadable, match="'diary' of another package gave no sessions"):
        read_sessions(write(tmp_path / "x.diary", "- one\n"))


@pytest.mark.parametrize("odd", [{"id": 5}, {"agent": None}, {"steps": ("one",)}])
def test_a_session_with_fields_of_another_type_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, odd: dict[str, Any]
) -> None:
    class Wrong(DiaryReader):
        def read(self, path: Path) -> Iterator[Session]:
            yield Session(**{"id": path.stem, "agent": "me", "reader": self.name, "steps": (), **odd})

    monkeypatch.setattr(importlib.metadata, "entry_points", lambda **_: [Point("diary", Wrong)])
    with pytest.raises(LogNotReadable, match="'diary' of another package gave a session that is none"):
        read_sessions(write(tmp_path / "x.diary", "- one\n"))


def test_a_session_whose_fields_are_only_written_alike_is_one_with_the_right_types(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """JSON has one form for a text and for bytes, an id or a mapping: what was checked is what goes on."""
    name: Any = UUID(int=7)

    class Loose(DiaryReader):
        def read(self, path: Path) -> Iterator[Session]:
            step: Any = {"kind": "prompt", "source": {"line": 1}, "text": path.stem}
            yield Session(id=name, agent="me", reader=self.name, steps=(step,))

    monkeypatch.setattr(importlib.metadata, "entry_points", lambda **_: [Point("diary", Loose)])
    (session,) = read_sessions(write(tmp_path / "x.diary", "- one\n"))
    assert (session.id, session.steps[0].source.line) == (str(name), 1)
    memory = Memory.init(tmp_path / "project")
    assert len(memory.extract([tmp_path / "x.diary"]).written) == 1


def test_a_line_without_an_end_is_not_read_to_it(tmp_path: Path) -> None:
    """A file may be of any size and take no room on the disk."""
    log = tmp_path / "s1.jsonl"
    log.touch()
    os.truncate(log, 1 << 40)
    with pytest.raises(LogNotReadable, match="does not end within"):
        read_sessions(log)
