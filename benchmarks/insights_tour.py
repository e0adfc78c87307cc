"""The tour of `docs/how-to/insights-tour.md`: harvest, recall, inject and feedback, on held-back sessions.

    python benchmarks/insights_tour.py [--write] [--corpora DIR]

For each corpus all sessions but one are extracted and harvested. Then the insights for the last one's task (or for
the first failing check that it mended) are recalled
and injected, as a session start would do; only now the held-back session is extracted, and feedback is taken from what
was done there. Every command is a process of its own, and its output stands in the page as it came, cut where it says
so. ``--write`` puts the transcript into the page; without it the transcript is printed.

The names are handed to feedback, since the log of injections says that they were shown today, long after the session:
to feedback by names everything in the session is later. The corpus says nothing of what an agent would have done
*with* these insights: the held-back session ran without them. So what is shown is that the loop closes and how each
verdict is reached, not that the insights helped.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from helix_graph import Memory

if TYPE_CHECKING:
    from helix_episodes.model import Episode

HERE = Path(__file__).resolve()
CORPORA = HERE.parents[2] / "shared" / "corpora"
PAGE = HERE.parents[1] / "docs" / "how-to" / "insights-tour.md"
BEGIN, END = "<!-- transcript -->\n", "<!-- end of transcript -->\n"
NAMES = ("ai-agents", "claude-code")
_LONGEST_TASK = 200
_MOST_LINES, _LONGEST_LINE = 14, 180


class Tour:
    """One memory, and what was typed there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.told: list[str] = []

    def run(self, *words: str, shown: str = "", quiet: bool = False) -> str:
        """Runs a command of helix-graph in the folder, and notes it with its output."""
        done = subprocess.run(
            [sys.executable, "-m", "helix_cli", *words],
            cwd=self.folder,
            env={name: value for name, value in os.environ.items() if name != "HELIX_DB_PATH"},
            capture_output=True,
            text=True,
            check=False,
        )
        if not quiet:
            self.told.append(f"$ helix-graph {shown or ' '.join(map(shlex.quote, words))}")
            self.told += _cut((done.stderr + done.stdout).splitlines())
            self.told.append("")
        return done.stdout


def tour(corpus: Path, folder: Path) -> list[str]:
    """The transcript of one corpus."""
    held = _held_back(corpus, folder / "scratch")
    steps = Tour(folder)
    before = [path for path in logs_of(corpus) if path.stem != held.session]
    task = " ".join((_first_trouble(held) or held.task).split())[:_LONGEST_TASK]
    steps.run("init", quiet=True)
    steps.run("episode", "extract", *map(str, before), quiet=True)
    steps.run("compile", quiet=True)
    steps.told.append(f"{len(before)} logs are in the memory; the session {held.session} is held back.\n")
    steps.run("insight", "harvest")
    steps.run("insight", "recall", task, "--limit", "3")
    injected = steps.run("inject", task, "--limit", "3")
    names = json.dumps(_names_in(injected))
    log = next(path for path in logs_of(corpus) if path.stem == held.session)
    steps.run("episode", "extract", str(log), quiet=True)
    steps.run("compile", quiet=True)
    steps.told.append(f"Now the session {held.session} is extracted.\n")
    feedback = ("insight", "feedback", "--episode", held.session, "--names", names)
    steps.run(*feedback, "--explain")
    steps.run(*feedback)
    steps.run("insight", "uplift")
    return [
        f"## {corpus.name}",
        "",
        "```text",
        *(line.rstrip() for line in "\n".join(steps.told).splitlines()),
        "```",
        "",
    ]


def _names_in(block: str) -> list[str]:
    """The names of the insights that a block hands over."""
    found = re.search(r"^INJECTED: (\[.*\])$", block, re.MULTILINE)
    return json.loads(found[1]) if found else []


def logs_of(corpus: Path) -> list[Path]:
    return sorted(path for path in (corpus / "sessions").iterdir() if path.is_file())


def _held_back(corpus: Path, scratch: Path) -> Episode:
    """The last session with an outcome that says something and, where the corpus has any, a verified fix."""
    memory = Memory.init(scratch)
    memory.extract(logs_of(corpus))
    named = {path.stem for path in logs_of(corpus)}
    ended = [one for one in memory.episodes.list(outcome="success", max_results=100) if one.session in named]
    return next((one for one in ended if _first_trouble(one)), ended[0])


def _first_trouble(episode: Episode) -> str:
    """What the first check said that failed and was mended; "" where there is none."""
    mended = {fix.error for fix in episode.fixes if fix.verified_by}
    return next((one.message for one in episode.events if one.id in mended and one.message and not one.tool), "")


def _cut(lines: list[str]) -> list[str]:
    shown = [line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE]}…" for line in lines[:_MOST_LINES]]
    more = len(lines) - _MOST_LINES
    tail = [lines[-1]] if more > 0 else []
    return [*shown, *([f"(… {more - 1} lines more)"] if more > 1 else []), *tail]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", type=Path, default=CORPORA)
    parser.add_argument("--write", action="store_true", help="put the transcript into the page")
    options = parser.parse_args()
    lines: list[str] = []
    for name in NAMES:
        with tempfile.TemporaryDirectory() as folder:
            lines += tour(options.corpora / name, Path(folder))
    transcript = "\n".join(lines)
    if not options.write:
        print(transcript)
        return
    page = PAGE.read_text()
    before, rest = page.split(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}\n{transcript}\n{END}{rest.split(END)[1]}")


if __name__ == "__main__":
    main()
