"""Part ``episodes``: what is read from every real log, with the report that says what was redacted."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from golden_parts.world import CORPORA, new_project, run

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

#: Each corpus, where its logs are, and how many of them are in the sample.
SOURCES = {
    "claude-code": ("claude-code/sessions", 20),
    "agent-sessions": ("agent-sessions", 13),
    "ai-agents": ("ai-agents", 6),
    "agent-transcripts": ("agent-transcripts", 7),
    "trajectories": ("trajectories", 5),
    "tau-bench": ("tau-bench", 0),
    "who-and-when": ("who-and-when", 5),
    "rewarded-runs": ("rewarded-runs", 4),
}
#: Larger logs are left out of the sample.
_LARGE = 400_000
_LOGS = {".jsonl", ".json"}


def of_corpus(root: Path, corpus: str) -> Iterator[tuple[str, str]]:
    """The report on a whole corpus, and every episode of it."""
    yield from _extracted(root, f"episodes-{corpus}", [CORPORA / SOURCES[corpus][0]])


def of_sample(root: Path) -> Iterator[tuple[str, str]]:
    """The same of 60 logs."""
    for corpus, (place, number) in SOURCES.items():
        if number:
            chosen = _sample(CORPORA / place, number)
            for name, text in _extracted(root, f"sample-{corpus}", chosen):
                yield f"{corpus}/{name}", text


def _sample(folder: Path, number: int) -> list[Path]:
    """So many logs, chosen by the hashes of their names: for good, whatever the code does."""
    logs = [path for path in folder.rglob("*") if path.suffix in _LOGS and path.stat().st_size < _LARGE]
    logs = [path for path in logs if path.is_file() and not path.stem.isupper()]
    return sorted(logs, key=lambda path: sha256(path.relative_to(folder).as_posix().encode()).digest())[:number]


def _extracted(root: Path, name: str, logs: list[Path]) -> Iterator[tuple[str, str]]:
    project = new_project(root, name)
    run(["init"], project)
    yield "report", run(["episode", "extract", *map(str, logs), "-v", "--json"], project).text
    for path in sorted((project.memory / "episodes").rglob("*")):
        if path.is_file():
            yield path.relative_to(project.memory / "episodes").as_posix(), path.read_text(encoding="utf-8")
