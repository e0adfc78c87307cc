"""Parts ``commands`` and ``pages``: every command, in text and as JSON, and the files that commands write."""

from __future__ import annotations

import shlex
import shutil
from typing import TYPE_CHECKING, NamedTuple

import click

from golden_parts.script import DEMO, FILES, NAMES, READING, WITHOUT_MEMORY, WRITING, Subject
from golden_parts.state import files_of
from golden_parts.world import Project, demo_logs, new_project, run, spawn
from helix_cli.app import cli

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

#: These have no JSON form, or end before it is looked at; parts of their own run the first two.
_NO_JSON = {"mcp", "hook"}
#: Run as processes of their own, from a cold start.
_COLD = """
--version
--help
status
seen "{error}"
path --from "{label}" --to success
patterns
explain {failure}
insight store --content "When pytest hangs in CI, run it with -x and a timeout"
insight recall "pytest hangs"
topic store engine "starts cold"
topic brief
plan load
search pytest
compile
doctor
no-such-command
"""


class Typed(NamedTuple):
    """One line of a scene."""

    arguments: list[str]
    stdin: bytes

    @property
    def words(self) -> str:
        """How it is called in the record."""
        return shlex.join(self.arguments)


def typed(lines: str, subject: Subject, logs: Path) -> list[Typed]:
    """The lines of a scene with the subject's own words in them."""
    names = subject._asdict() | NAMES | {"logs": str(logs), "demo": DEMO.success}
    found = []
    for line in lines.strip().splitlines():
        words, _, stdin = f"{line} ".partition(" <<< ")
        arguments = [word.format(**names) for word in shlex.split(words)]
        found.append(Typed(arguments, stdin.strip().format(**names).encode()))
    return found


def leaves(command: click.Command, words: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Every group and command, by the words with which it is called."""
    yield words
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            if (one := command.get_command(context, name)) is not None:
                yield from leaves(one, (*words, name))


def of_help(root: Path) -> Iterator[tuple[str, str]]:
    """The help of every command, and which commands no scene runs."""
    project = new_project(root, "help")
    every = list(leaves(cli))
    for words in every:
        yield " ".join([*words, "--help"]), run([*words, "--help"], project).text
    lines = "\n".join([READING, *WRITING.values()]).splitlines()
    called = [" " + line.strip() + " " for line in lines]
    groups = {words[:-1] for words in every}
    alone = [" ".join(words) for words in every if words not in groups and not _NO_JSON & {*words}]
    yield "without a scene", "\n".join(one for one in alone if not any(line.startswith(f" {one} ") for line in called))


def of_reading(root: Path, memory: Path, subject: Subject) -> Iterator[tuple[str, str]]:
    """Every command that only reads, in text and as JSON, and whether they left the memory as it was."""
    for mode in ("text", "json"):
        project = _prepared(root, f"{subject.name}-reading-{mode}", memory)
        before = _names(project)
        yield from _acted(project, typed(READING, subject, demo_logs(root)), mode, f"reading/{mode}")
        yield f"reading/{mode}/new files", "\n".join(sorted(_names(project) - before))


def of_writing(root: Path, memory: Path, subject: Subject, scenes: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The scenes that write, each in text and as JSON on a copy of its own, and the files that are there afterwards."""
    for scene, lines in scenes.items():
        for mode in ("text", "json"):
            copied = None if scene in WITHOUT_MEMORY else memory
            project = _prepared(root, f"{subject.name}-{scene}-{mode}", copied, git=scene == "plans")
            if scene == "damage":
                _damage(project, subject)
            name = f"{scene}/{mode}"
            yield from _acted(project, typed(lines, subject, demo_logs(root)), mode, name)
            if mode == "json" or scene == "pages":
                for folder in project:
                    for file, text in files_of(folder):
                        if file not in FILES:
                            yield f"{name}/files/{folder.name}/{file}", text
            shutil.rmtree(project.folder.parent)


def of_cold(root: Path, memory: Path, subject: Subject) -> Iterator[tuple[str, str]]:
    """A handful of commands as processes of their own."""
    project = _prepared(root, f"{subject.name}-cold", memory)
    for number, line in enumerate(typed(_COLD, subject, demo_logs(root))):
        yield f"cold/{number:02} {line.words}", spawn(line.arguments, project, stdin=line.stdin).text


def _prepared(root: Path, name: str, memory: Path | None, *, git: bool = False) -> Project:
    project = new_project(root, name, memory, git=git)
    for file, content in FILES.items():
        path = project.folder / file
        path.parent.mkdir(exist_ok=True)
        path.write_text(content, encoding="utf-8")
    return project


def _acted(project: Project, lines: list[Typed], mode: str, name: str) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(lines):
        arguments = [*line.arguments, "--json"] if mode == "json" else line.arguments
        yield f"{name}/{number:02} {line.words}", run(arguments, project, stdin=line.stdin).text


def _names(project: Project) -> set[str]:
    return {path.relative_to(project.folder).as_posix() for path in project.folder.rglob("*") if path.is_file()}


def _damage(project: Project, subject: Subject) -> None:
    """One episode is cut off, one is empty, one has an outcome that there is not, and the graph is another file."""
    episodes = project.memory / "episodes"
    (episodes / f"episode-{subject.failure}.json").write_text('{"id": "epi')
    other = episodes / f"episode-{subject.success}.json"
    other.write_text(other.read_text(encoding="utf-8").replace('"success"', '"triumph"', 1), encoding="utf-8")
    (episodes / "episode-empty.json").write_text("")
    (project.memory / "causality" / "causal-graph.json").write_text('{"nodes": 7}')
