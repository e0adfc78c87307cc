"""The first ten sentences about a project with their evidence, for readers who are to judge them.

    python benchmarks/stands_out.py [PROJECT ...]
    python benchmarks/stands_out.py --readers FOLDER PROJECT ...

Reads the open logs of the Claude Code corpus, of the projects of agent-sessions (``claude-code``, ``oh-my-posh`` …) and
the demo's sessions (``demo``), in the order of the arguments; all without one. The project's rule files are there as
its commits left them. It prints what `highlights --evidence` would print, with the text of each cited line. A reader is
asked of each sentence: is it true, by the log? Is it specific to this project? Would you decide anything by it? Below
each project stands what its session-start briefing would hold of them, and how many tokens that is (a token is taken as
four characters).

With ``--readers`` a folder gets what a reader needs who has nothing else: a page of sentences for each project, every
session as text with the lines of its log, and the history of the rule files.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import tempfile
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from sealed_sessions import open_logs
from tallies import CORPORA

import helix_cli
from helix_episodes.readers import read_sessions
from helix_graph import Memory
from helix_graph.hook_caches import sentences_for_agents

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from helix_episodes.session import Step
    from helix_graph.highlights.model import Highlights

GIT = shutil.which("git") or "git"
#: As much of a cited record as a reader needs to recognise it, and of a step to count it.
_LONGEST_RECORD, _LONGEST_STEP = 400, 700
_MOST, _LONGEST = 5, 800
_QUESTIONS = """Judge each sentence by the sessions in `sessions/` alone; the number before a step is the line of its
log. Before each session's steps stands when it began. Count for yourself. Write yes or no and a reason for each:

1. true: does every count and name in it hold?
2. specific: does it say something of this project that would not be said of most?
3. worth a decision: would somebody responsible for this project change a rule, a command, a check, a file or a habit?
"""


def projects() -> Iterator[tuple[str, list[Path], Path | None]]:
    """Each project's name, open logs, and the versions of its rule files."""
    yield "claude-code", open_logs("claude-code"), CORPORA / "claude-code" / "rules" / "entireio__cli.json"
    folder = CORPORA / "agent-sessions"
    for one in sorted(folder.iterdir()):
        logs = open_logs(f"agent-sessions/{one.name}") if "__" in one.name else []
        if logs:
            yield one.name, logs, folder / "rules" / f"{one.name}.json"
    yield "demo", [Path(helix_cli.__file__).parent / "demo"], None


def commit_rules(folder: Path, versions: Path) -> None:
    """Puts the rule files into a repository, as the project's commits left them."""
    rows = sorted(json.loads(versions.read_text()), key=lambda row: (row["date"], row["commit"]))
    who = {f"GIT_{role}_{what}": "rules@example.org" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}

    def git(*arguments: str, at: str = "") -> None:
        dates = {"GIT_AUTHOR_DATE": at, "GIT_COMMITTER_DATE": at} if at else {}
        subprocess.run([GIT, "-C", str(folder), *arguments], check=True, env={**os.environ, **who, **dates})

    git("init", "-q")
    (folder / ".gitignore").write_text(".helix/\n")
    for (date, commit), changed in groupby(rows, key=lambda row: (row["date"], row["commit"])):
        for row in changed:
            path = folder / row["path"]
            if row["text"] is None:
                path.unlink(missing_ok=True)
            else:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(row["text"])
        git("add", "-A")
        git("commit", "-q", "--allow-empty", "-m", commit, at=date)


def cited(logs: Sequence[Path], name: str | None, line: int | None) -> str:
    """The text on a line of a log, shortened; the log is looked for by its name."""
    every = (path for log in logs for path in ([log] if log.is_file() else log.rglob("*")))
    path = next((one for one in every if name and one.name == Path(name).name), None)
    if path is None or line is None:
        return ""
    records = path.read_text(encoding="utf-8", errors="replace").splitlines()
    text = records[line - 1] if line <= len(records) else ""
    try:
        record = json.loads(text)
        content = record.get("message", {}).get("content") or record.get("payload", {}).get("output") or text
    except (ValueError, AttributeError):
        content = text
    plain = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    return " ".join(plain.split())[:_LONGEST_RECORD]


def page(name: str, found: Highlights, logs: Sequence[Path], *, see: bool) -> str:
    """The sentences with the lines that they cite."""
    lines = [f"# {name}: {found.sessions} sessions"]
    for number, one in enumerate(found.found, 1):
        lines.append(f"\n{number}. {one.text}" + (f"\n   all of it: {one.see}" if see else ""))
        for place in one.evidence:
            where = f"{place.log or place.session}, line {place.line}" if place.line else place.log or place.session
            lines.append(f"   - {where}: {cited(logs, place.log, place.line)}")
    return "\n".join(lines) + "\n"


def write_session(log: Path, folder: Path) -> None:
    """A session as text, each step with the line of its log and as much of it as counting needs."""
    for number, session in enumerate(read_sessions(log)):
        rows = [f"{log.name}: {session.agent}, began {session.started}"]
        rows += [f"{step.source.line}{_of_helper(step)} {_said(step)}" for step in session.steps]
        (folder / f"{log.stem}{f'-{number}' if number else ''}.txt").write_text("\n".join(rows) + "\n")


def _of_helper(step: Step) -> str:
    return f" ({step.source.file})" if step.source.file else ""


def _said(step: Step) -> str:
    asked = json.dumps(step.arguments, ensure_ascii=False) if step.arguments else ""
    text = " ".join(f"{asked} {step.text}".split())
    half = _LONGEST_STEP // 2
    cut = text if len(text) <= _LONGEST_STEP else f"{text[:half]} […] {text[-half:]}"
    status = "" if step.status == "unknown" else f" [{step.status}]"
    return f"{step.actor} {step.kind}{f' {step.tool}' if step.tool else ''}{status}: {cut}"


def show(name: str, logs: list[Path], versions: Path | None, readers: Path | None) -> None:
    """Prints the sentences about one project, or writes them for readers."""
    with tempfile.TemporaryDirectory() as folder:
        if versions is not None and versions.exists():
            commit_rules(Path(folder), versions)
        memory = Memory.init(Path(folder))
        memory.extract(logs)
        memory.graph.compile()
        found = memory.highlights()
        told = sentences_for_agents(memory.root, most=_MOST, longest=_LONGEST)
    if readers is None:
        print(f"\n{page(name, found, logs, see=True)}")
        print(f"\nA session's start would say {len(told)} of them, {sum(map(len, told)) // 4} tokens.")
        return
    place = readers / name
    (place / "sessions").mkdir(parents=True, exist_ok=True)
    (place / "sentences.md").write_text(f"{_QUESTIONS}\n{page(name, found, logs, see=False)}")
    for log in logs:
        write_session(log, place / "sessions")
    if versions is not None and versions.exists():
        rows = sorted(json.loads(versions.read_text()), key=lambda row: str(row["date"]))
        parts = [f"===== {row['path']} as of {row['date']}\n{row['text'] or '(removed)'}" for row in rows]
        (place / "rule_files.txt").write_text("\n".join(parts))


def main() -> None:
    """Does it for each project that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("projects", nargs="*")
    parser.add_argument("--readers", type=Path, help="the folder that is written for readers")
    asked = parser.parse_args()
    known = list(projects())
    for one in [each for word in asked.projects for each in known if word in each[0]] if asked.projects else known:
        show(*one, asked.readers)


if __name__ == "__main__":
    main()
