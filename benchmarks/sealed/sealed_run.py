"""How a version of the program does on the sealed set. The keeper of the set runs this, nobody who works on rules.

    python benchmarks/sealed [--package PATH] [--phrasings [--sealed-half]]

``--package`` names the work tree of a version; without it the installed one is scored. Each log is extracted by that
version's command line in a process, home and folder of its own, and the episode files are compared with what the
annotators wrote, by the rules of the README's "How it is scored". Printed are totals only.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sealed_phrasings import print_phrasings
from sealed_places import Places
from sealed_scores import MODES, Judged, score
from sealed_tables import Outcome, print_outcomes, print_scores
from tallies import CORPORA

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sealed_scores import Annotated, Episode

FOLDER = Path(__file__).parent
#: The sets by the name under which they are counted; the last has outcomes only.
WHOLE = {"agent-sessions a": "agent-sessions-a.json", "agent-sessions b": "agent-sessions-b.json"}
OUTCOMES = "outcomes.json"
#: The main language of a project where the annotations do not say it (the README of agent-sessions does).
LANGUAGES = {
    "EntityProcess/agentv": "TypeScript",
    "PackmindHub/context-evaluator": "TypeScript",
    "eitatech/gatomia-vscode": "TypeScript",
    "entireio/cli": "Go",
}


@dataclass(frozen=True)
class Version:
    """A version of the program by its work tree; without one, what this interpreter has installed."""

    tree: Path | None

    def episodes(self, log: Path) -> list[Episode]:
        """The episodes of one log as JSON; none when the version cannot read it."""
        with tempfile.TemporaryDirectory() as name:
            home, output = Path(name) / "home", Path(name) / "episodes"
            home.mkdir()
            command = [sys.executable, "-m", "helix_cli", "episode", "extract", str(log), "--output", str(output)]
            run = subprocess.run(command, env=self._environment(home), cwd=home, capture_output=True, check=False)
            assert run.returncode in {0, 1}, f"{command} ended with {run.returncode}"
            files = sorted(output.glob("*.json")) if output.is_dir() else []
            return [json.loads(file.read_text(encoding="utf-8")) for file in files]

    def name(self) -> str:
        """The commit, and the folder that the packages are imported from, so that no other version is scored."""
        program = "import helix_cli, helix_episodes; print(helix_cli.__file__, helix_episodes.__file__)"
        with tempfile.TemporaryDirectory() as name:
            environment = self._environment(Path(name))
            run = subprocess.run(
                [sys.executable, "-c", program], env=environment, cwd=name, capture_output=True, text=True, check=True
            )
        folders = [Path(file) for file in run.stdout.split()]
        tree = self.tree or folders[0].parents[2]
        assert all(folder.is_relative_to(tree) for folder in folders), f"{folders} are not in {tree}"
        commit = ["git", "-C", str(tree), "log", "-1", "--format=%h of %cs"]
        return subprocess.run(commit, capture_output=True, text=True, check=True).stdout.strip()

    def _environment(self, home: Path) -> dict[str, str]:
        own = {"PATH": os.environ["PATH"], "HOME": str(home), "HELIX_DIR": str(home / "memory"), "LC_ALL": "C.UTF-8"}
        own |= {name: str(home / name) for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME")}
        if self.tree:
            own["PYTHONPATH"] = os.pathsep.join(str(self.tree / part) for part in ("", "episodes", "cli"))
        return own


def annotated() -> Iterator[tuple[str, Annotated]]:
    """Every annotated session with the name of its set; those with outcomes only have no decisions."""
    for corpus, name in WHOLE.items():
        for gold in _read(name):
            assert gold["until_line"] is None, "the annotations go to the end of each log"
            yield corpus, gold
    for gold in _read(OUTCOMES):
        yield f"{gold['log'].partition('/')[0]}, outcomes", gold


def _read(name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((FOLDER / name).read_text(encoding="utf-8"))
    return found


def run(version: Version) -> None:
    """Extracts every sealed log once, and prints the totals."""
    scores: dict[str, list[tuple[dict[str, str], list[Judged]]]] = {mode.name: [] for mode in MODES}
    outcomes: list[Outcome] = []
    for corpus, gold in annotated():
        log = CORPORA / gold["log"]
        episodes = version.episodes(log)
        language = gold.get("language") or LANGUAGES[gold["project"]]
        groups = {"agent": gold["agent"], "language": language, "corpus": corpus}
        outcomes.append(
            Outcome(
                groups=groups,
                annotated=gold["outcome"],
                printed=printed_outcome(log, episodes),
                unsure=bool(gold.get("outcome_unsure") or gold.get("unsure")),
                alternative=gold.get("outcome_alternative"),
            )
        )
        if "decisions" in gold:
            places = Places(log)
            for mode in MODES:
                scores[mode.name].append((groups, score(gold, episodes, places, mode)))
    print_scores(scores)
    print_outcomes(outcomes)


def printed_outcome(log: Path, episodes: list[Episode]) -> str:
    """The outcome of a log's session; where it has several, of the one it is called after or that has most steps."""
    if not episodes:
        return "not read"
    chosen = max(episodes, key=lambda one: (one["session"] == log.stem, len(one.get("events", ()))))
    return str(chosen["outcome"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--package", type=Path, help="the work tree of the version to score")
    parser.add_argument("--phrasings", action="store_true", help="score the questions instead, the open half")
    parser.add_argument("--sealed-half", action="store_true", help="with --phrasings: the sealed half")
    options = parser.parse_args()
    if options.sealed_half and not options.phrasings:
        parser.error("--sealed-half belongs to --phrasings")
    if options.phrasings:
        print_phrasings(_read("phrasings.json"), sealed=options.sealed_half)
        return
    version = Version(options.package.resolve() if options.package else None)
    print(f"version {version.name()}\n")
    run(version)


if __name__ == "__main__":
    main()
