"""What stays out of the memory, and what rests when it is off?"""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from helix_cli.app import run
from helix_graph import Memory
from helix_graph.errors import InvalidConfiguration
from helix_graph.ingest_filter import IgnoreRules, parse_rules
from whole_tables import each_row

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from session_script import Script


@each_row(
    ("rules", "path", "kept_out"),
    [
        ("secret", "secret", True),
        ("secret", "a/secret/b.txt", True),
        ("secret", "a/secrets/b.txt", False),
        ("secret/", "a/secret/b.txt", True),
        ("secret/", "a/secret", False),
        ("*.jsonl", "a/b.jsonl", True),
        ("*.jsonl", "a/b.json", False),
        ("docs/*.md", "docs/a.md", True),
        ("docs/*.md", "docs/a/b.md", False),
        ("docs/*.md", "more/docs/a.md", False),
        ("/docs", "docs/a.md", True),
        ("/docs", "more/docs/a.md", False),
        ("docs/**/a.md", "docs/a.md", True),
        ("docs/**/a.md", "docs/x/y/a.md", True),
        ("**/logs", "x/logs/1", True),
        ("logs/**", "logs/1/2", True),
        ("logs/**", "logs", False),
        ("**/a/**/b*c*d", "x/a/y/z/b1c2c3d", True),
        ("**/a/**/b*c*d", "x/a/y/b1c2c3", False),
        ("**/**/a", "a", True),
        ("a**d/e", "abcd/e", True),
        ("a**d/e", "ab/cd/e", False),
        ("[!a]b", "/b", False),
        ("[!!]b", "!b", False),
        ("/***/b", "a/c/b", True),
        ("secret/keys", "secret//keys/a", True),
        ("secret/keys", "./secret/./keys/a", True),
        ("/secret/", "src/../secret/k", True),
        ("[!!]b", "ab", True),
        ("[a--b]c", "-c", True),
        ("[]a]", "]", True),
        ("log?.txt", "log1.txt", True),
        ("log[0-3].txt", "log2.txt", True),
        ("log[!0-3].txt", "log2.txt", False),
        ("logs/\n!logs/keep.txt", "logs/keep.txt", False),
        ("!logs/keep.txt\nlogs/", "logs/keep.txt", True),
        ("/srv/private", "/srv/private/x", True),
        ("C:/Users/ann/private", r"C:\Users\ann\private\x.txt", True),
        ("# logs\n\n", "logs", False),
        ("path: a: b", "a: b/c", True),
    ],
)
def test_paths_as_in_gitignore(rules: str, path: str, kept_out: bool) -> None:  # noqa: FBT001  (a column of the table)
    assert bool(IgnoreRules(tuple(parse_rules(rules))).against_path(path)) is kept_out


def test_no_rule_of_a_clone_takes_long() -> None:
    """A rule that goes back and forth over a path would take for ever; the name is one that any log may hold."""
    rules = [12 * "**[a-z]" + "!", 12 * "*[a-z]" + "!", 9 * "**/a*/" + "z", 30 * "*a" + "!"]
    asked = "IgnoreRules(tuple(parse_rules(rule))).against_path('a/' * 99 + 'a' * 999)"
    code = f"from helix_graph.ingest_filter import *\nfor rule in {rules!r}: print(rule, {asked}, flush=True)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=True)
    assert done.stdout.splitlines() == [f"{rule} None" for rule in rules]


def test_paths_begin_at_the_projects_root() -> None:
    rules = IgnoreRules(tuple(parse_rules("/logs/*.jsonl")))
    assert rules.against_path("/work/shop/logs/a.jsonl", base="/work/shop")
    assert not rules.against_path("/work/shop/old/logs/a.jsonl", base="/work/shop")
    assert rules.against_path(r"C:\work\shop\logs\a.jsonl", base="C:/work/shop")


def test_the_home_folder_is_understood(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ann")
    rules = IgnoreRules(tuple(parse_rules("~/.claude/projects/-tmp*")))
    assert rules.against_path("/home/ann/.claude/projects/-tmp-x/1.jsonl")
    assert not rules.against_path("/home/ann/.claude/projects/shop/1.jsonl")


@each_row(
    ("text", "line"),
    [
        ("prject: shop", 1),
        ("a\ntool:", 2),
        ("!", 1),
        ("project:  ", 1),
        ("ok\nproject: [", 2),
        ("logs/[a", 1),
        ("ok\n[z-a]", 2),
        ("[!]", 1),
        ("[]", 1),
        ("x[[:digit:]]", 1),
        (r"private\ notes/", 1),
        ("session: [!", 1),
    ],
)
def test_a_line_that_is_no_rule_is_an_error_with_its_number(text: str, line: int) -> None:
    with pytest.raises(InvalidConfiguration, match=f"line {line}"):
        list(parse_rules(text))


@pytest.fixture
def memory(tmp_path: Path, script: Callable[..., Script]) -> Memory:
    script("one").prompt("Fix it").write("shop/cart.py").run("cat private/key.txt", "hush").edit(
        "private/key.txt"
    ).save(tmp_path / "logs")
    script("two", root="/work/playground").prompt("Try it").write("x.py").save(tmp_path / "logs" / "more")
    return Memory.init(tmp_path)


def ignore(memory: Memory, text: str, *, inside: bool = False) -> Memory:
    ((memory.root if inside else memory.root.parent) / ".helixignore").write_text(text)
    return memory


def recorded(memory: Memory) -> list[str]:
    return sorted(one.session for one in memory.extract([memory.root.parent / "logs"]).recorded)


@pytest.mark.parametrize("inside", [True, False])
@pytest.mark.parametrize("rule", ["logs/more/", "project: play*", "project: /work/play*", "session: two", "two.jsonl"])
def test_logs_projects_and_sessions_are_kept_out(memory: Memory, rule: str, inside: bool) -> None:  # noqa: FBT001  (a column)
    assert recorded(ignore(memory, rule, inside=inside)) == ["one"]
    report = memory.extract([memory.root.parent / "logs"], force=True)
    assert [rule in one.problem for one in report.left_out] == [True]


def test_tools_and_the_files_they_touch_are_kept_out(memory: Memory) -> None:
    recorded(ignore(memory, "private/\ntool: Write"))
    episode = memory.episodes.path_of("one").read_text()
    assert "key.txt" not in episode
    assert "hush" not in episode
    assert "cart.py" not in episode
    assert "Fix it" in episode


def test_a_broken_file_of_rules_stops_everything(memory: Memory) -> None:
    with pytest.raises(InvalidConfiguration, match="not a kind of rule"):
        recorded(ignore(memory, "projects: x"))
    assert memory.episodes.files() == []


def test_off_silences_what_works_by_itself_and_nothing_else(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HELIX_OFF", raising=False)
    assert memory.silenced is None
    memory.off()
    assert memory.silenced == "Paused for this project"
    assert recorded(memory) == ["one", "two"]
    memory.on()
    memory.on()
    assert memory.silenced is None
    monkeypatch.setenv("HELIX_OFF", "1")
    assert memory.silenced == "Paused: HELIX_OFF is set"
    monkeypatch.setenv("HELIX_OFF", "0")
    assert memory.silenced is None


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("path:x/**\n" * 7_000, "more than 65,536 bytes"),
        ("x\n" * 1_001, "line 1001: there are more than 1000 rules"),
        ("ok\n" + "(" * 4_097, "line 2: it has more than 4096 characters"),
    ],
)
def test_a_file_of_rules_that_nobody_wrote_by_hand_is_refused(tmp_path: Path, text: str, problem: str) -> None:
    memory = Memory.init(tmp_path)
    (tmp_path / ".helixignore").write_text(text)
    with pytest.raises(InvalidConfiguration, match=problem):
        memory.extract([tmp_path])


def test_a_pause_says_what_ends_it(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("HELIX_OFF", raising=False)
    monkeypatch.chdir(memory.root.parent)
    assert run(["pause"]) == 0
    assert "Paused for this project. Undo: helix-graph resume" in capsys.readouterr().out
    monkeypatch.setenv("HELIX_OFF", "1")
    assert run(["resume"]) == 0
    assert "Undo: unset HELIX_OFF" in capsys.readouterr().out


def test_what_was_not_forgotten_is_not_counted(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    recorded(memory)
    monkeypatch.chdir(memory.root.parent)
    assert run(["forget", "--session", "one"]) == 0
    assert "1 session forgotten." in capsys.readouterr().out
