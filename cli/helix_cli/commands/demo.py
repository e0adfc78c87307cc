"""``demo``: everything once, on example logs that come with the package."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from importlib.resources import as_file, files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import click

from helix_cli.commands.checks_and_runbook import render_checks, render_fragile, render_runbook
from helix_cli.commands.extraction_report import render_counts
from helix_cli.commands.graph import render_compile
from helix_cli.commands.paths_and_causes import render_path
from helix_cli.commands.patterns_and_comparisons import render_patterns
from helix_cli.commands.seen_and_similar import render_seen
from helix_cli.options import any_path
from helix_cli.output import emit_json, json_option, say, verbatim
from helix_graph import Memory
from helix_graph.git import GitFailed, begin_repository, run_git
from helix_graph.trust import begin

ERROR = "E   ModuleNotFoundError: No module named 'respx'"
SOURCE, TARGET = "ruff fails: E501", "success"

YOUR_OWN = """\
Now your own logs. In your project's folder:
  helix-graph sync
  pytest 2>&1 | helix-graph seen -"""


class _Step(NamedTuple):
    """One thing that is shown: its name in the JSON, what a user would type, its answer and its rendering."""

    name: str
    command: str
    ask: Callable[[], Any]
    render: Callable[[Any], None]


@click.command
@click.option("--keep", metavar="DIR", type=any_path, help="Work in this folder and keep it.")
@json_option
def demo(*, keep: Path | None, as_json: bool) -> None:
    """Show the everyday questions on example logs.

    Works in a temporary folder.
    """
    temporary = nullcontext(str(keep.absolute())) if keep else TemporaryDirectory(prefix="helix-graph-demo-")
    with temporary as name, as_file(files("helix_cli") / "demo") as logs:
        folder = Path(name)
        memory = Memory(folder / ".helix")
        _refuse_a_real_memory(memory, logs)
        if keep:
            begin(memory.root)
            write_rules(folder)
        if as_json:
            emit_json({step.name: step.ask() for step in _steps(memory, logs)})
        else:
            _walk(memory, logs, keep)


#: The rule file of the shop as its two commits left it, with their days.
_RULES = (
    ("2026-06-10T09:00:00Z", "- Run `ruff check .` before you commit.\n"),
    ("2026-07-08T09:00:00Z", "- Run the tests with `pytest -q`, never with `make test`: there is no Makefile.\n"),
)


def write_rules(folder: Path) -> bool:
    """Writes the shop's CLAUDE.md with its history, so that `rules` has something to show; whether it did.

    Where there is no git, or the folder has files of these names, there are no rules.
    """
    rules = folder / "CLAUDE.md"
    if rules.exists() or (folder / ".git").exists():
        return False
    text = "# Checks\n\n"
    mail = "mara@shop.invalid"
    try:
        begin_repository(folder)
        for day, line in _RULES:
            text += line
            rules.write_text(text, encoding="utf-8")
            named = {
                "GIT_AUTHOR_NAME": "Mara",
                "GIT_AUTHOR_EMAIL": mail,
                "GIT_AUTHOR_DATE": day,
                "GIT_COMMITTER_NAME": "Mara",
                "GIT_COMMITTER_EMAIL": mail,
                "GIT_COMMITTER_DATE": day,
            }
            run_git(folder, "add", "CLAUDE.md")
            run_git(folder, "commit", "--quiet", "--no-gpg-sign", "-m", f"Add {line[2:20]}", more=named)
    except (OSError, GitFailed):
        return False
    return True


def _refuse_a_real_memory(memory: Memory, logs: Path) -> None:
    """Invented sessions must not get into a memory that somebody uses."""
    examples = {f"episode-{log.stem}.json" for log in logs.rglob("*.jsonl")}
    others = [path for path in memory.episodes.files() if path.name not in examples]
    if others:
        reason = f"{memory.root} contains a memory of your own ({others[0].name} …); name a folder without one"
        raise click.UsageError(reason)


def _steps(memory: Memory, logs: Path) -> list[_Step]:
    """What is shown, in order."""
    graph, causality = memory.graph, memory.causality
    return [
        _Step("extract", "episode extract logs", lambda: memory.extract([logs / "logs"]), render_counts),
        _Step("compile", "compile", graph.compile, render_compile),
        _Step("seen", f'seen "{ERROR}"', lambda: graph.seen(ERROR), render_seen),
        _Step(
            "path",
            f'path --from "{SOURCE}" --to {TARGET}',
            lambda: graph.path(source=SOURCE, target=TARGET),
            render_path,
        ),
        _Step("more", "episode extract generated", lambda: memory.extract([logs / "generated"]), render_counts),
        _Step("compiled", "compile", graph.compile, render_compile),
        _Step("checks", "checks", causality.checks, render_checks),
        _Step("fragile", "fragile", causality.fragile, render_fragile),
        _Step(
            "patterns",
            "patterns",
            causality.patterns,
            lambda rows: render_patterns(rows, causality.survey(), works=True),
        ),
        _Step(
            "anti_patterns",
            "anti-patterns",
            causality.anti_patterns,
            lambda rows: render_patterns(rows, causality.survey(), works=False),
        ),
        _Step("runbook", "runbook", causality.runbook, render_runbook),
    ]


def _walk(memory: Memory, logs: Path, keep: Path | None) -> None:
    say("Example logs of a small web shop. They are invented: twelve written by hand, 48 generated; no agent ran them.")
    for step in _steps(memory, logs):
        say()
        say(f"$ helix-graph {step.command}")
        step.render(step.ask())
    say()
    if keep:
        say(f"Kept in {keep}. To look around in it: HELIX_DIR={memory.root} helix-graph status")
        say()
    for line in YOUR_OWN.splitlines():
        verbatim(line)
