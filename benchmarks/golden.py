"""Does everything still say what it said? One record of all that a user or an agent can see, compared later.

    python benchmarks/golden.py record FILE.json [--only PART ...]
    python benchmarks/golden.py compare FILE.json [--only PART ...] [--quick] [--show] [--except GLOB ...] [--write DIR]
    python benchmarks/golden.py parts

It runs the packages of the interpreter that runs it, by their public entry points only: the command, the server and
the hooks. ``record`` writes a hash of every answer to FILE.json and the texts into FILE.d beside it; ``compare`` runs
the same again, prints each difference with its first differing lines and ends with 1 when there is any. What changes by
nature (the run's folder, times of today, random ids) is replaced by the rules in ``golden_parts/normal.py``; all else
is compared byte for byte. The real logs are read from /work/shared/corpora.

    --only PART    only what begins so: episodes, graph, commands, commands/demo, mcp, hooks, pages, ...
    --quick        without the slow half: all but the graph of 81 real sessions; episodes of 60 logs only
    --show         print more of each difference
    --except GLOB  differences whose names match are counted, not printed, and do not count as such
    --write DIR    write both texts of each difference to DIR/before and DIR/after, to be read with other tools

On a machine with two cores the parts run in two processes. The graph, and all that is asked of the 81 sessions, begins
with the recorded episodes: what the readers do otherwise shows in the part ``episodes`` alone.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tarfile
import time
import traceback
from datetime import UTC, datetime
from fnmatch import fnmatch
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from golden_parts.world import CORPORA, accept, adopt_orphans, demo_logs, enter, import_everything, new_project, run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from golden_parts.record import Difference, Record
    from golden_parts.world import Project

FEW, MANY = 6, 200


class Unit(NamedTuple):
    """What runs in one process: its name, what it says, whether ``--quick`` leaves it out."""

    name: str
    say: Callable[[], Iterator[tuple[str, str]]]
    slow: bool = False


def units(root: Path, demo: Path, sessions: Path) -> list[Unit]:
    """All of them; those that take longest come first."""
    from golden_parts import commands, episodes, served
    from golden_parts.script import DEMO, SESSIONS, WITHOUT_MEMORY, WRITING

    pages = {"pages": WRITING["pages"]}
    writing = {name: lines for name, lines in WRITING.items() if name != "pages"}
    found = [Unit(f"episodes/{name}", partial(episodes.of_corpus, root, name), slow=True) for name in episodes.SOURCES]
    for subject, memory, slow in ((SESSIONS, sessions, True), (DEMO, demo, False)):
        name = subject.name
        found += [
            Unit(f"commands/{name}/{scene}", partial(commands.of_writing, root, memory, subject, {scene: lines}), slow)
            for scene, lines in writing.items()
            if not (slow and scene in WITHOUT_MEMORY | {"plugins"})
        ]
        found += [
            Unit(f"commands/{name}/reading", partial(commands.of_reading, root, memory, subject), slow),
            Unit(f"pages/{name}", partial(commands.of_writing, root, memory, subject, pages), slow),
            Unit(f"mcp/{name}", partial(served.of_server, root, memory, subject), slow),
            Unit(f"hooks/{name}", partial(served.of_hooks, root, memory, subject), slow),
            Unit(f"graph/{name}", partial(graph_of, memory)),
        ]
    return [
        *found,
        Unit("episodes/sample", partial(episodes.of_sample, root)),
        Unit("commands/cold", partial(commands.of_cold, root, demo, DEMO)),
        Unit("commands/help", partial(commands.of_help, root)),
    ]


def graph_of(memory: Path) -> Iterator[tuple[str, str]]:
    """The graph's file."""
    from helix_graph import Memory

    yield "causal-graph.json", Memory(memory).graph.export().decode()


def memory_of(project: Project, logs: Path | None) -> Path:
    """The memory of these logs, or of the episodes that are there, compiled."""
    if logs is not None:
        for words in (["init"], ["episode", "extract", str(logs)]):
            _succeed(words, project)
    return project.memory


def _succeed(words: list[str], project: Project) -> None:
    answer = run(words, project)
    assert answer.code == 0, f"{words} in {project.folder}:\n{answer.text}"


def sessions_project(root: Path, record: Record, *, anew: bool) -> Project:
    """A project with the episodes of the 81 sessions: as they are recorded, or read ``anew`` and recorded."""
    project = new_project(root, "sessions")
    if not anew:
        with tarfile.open(record.sessions) as archive:
            archive.extractall(project.memory, filter="data")
        project.memory.chmod(0o700)  # as init makes it; tarfile leaves a folder's mode to the umask
        accept(project)
        return project
    memory_of(project, CORPORA / "claude-code" / "sessions")
    record.folder.mkdir(parents=True, exist_ok=True)
    with tarfile.open(record.sessions, "w:gz") as archive:
        archive.add(project.memory, ".")
    return project


def run_units(chosen: Sequence[Unit], root: Path, processes: int) -> dict[str, dict[str, str]]:
    """What the units say, in so many processes at once."""
    results = root / "results"
    results.mkdir()
    waiting, running = list(chosen), dict[int, Unit]()
    while waiting or running:
        while waiting and len(running) < processes:
            unit = waiting.pop(0)
            sys.stdout.flush()
            if (child := os.fork()) == 0:
                _run_unit(unit, results / f"{unit.name.replace('/', '-')}.json", root)
            running[child] = unit
        child, status = os.wait()
        if (ended := running.pop(child, None)) is not None:
            assert status == 0, f"{ended.name} broke off"
    said = {}
    for unit in chosen:
        content = json.loads((results / f"{unit.name.replace('/', '-')}.json").read_text(encoding="utf-8"))
        said[unit.name] = content["texts"]
        print(f"{content['seconds']:>7.1f} s  {len(content['texts']):>4} texts  {unit.name}")
    return said


def _run_unit(unit: Unit, result: Path, root: Path) -> None:
    """A worker's part: it ends the process."""
    from golden_parts.normal import Normaliser

    code = 1
    try:
        adopt_orphans()
        begin = time.perf_counter()
        normal = Normaliser(root)
        said: dict[str, list[str]] = {}
        for name, text in _to_the_end(unit):
            raw = unit.name.startswith(("episodes", "graph")) and name.endswith(".json")
            rule = str if raw else normal.database if name.endswith(".db") else normal
            said.setdefault(normal(name), []).append(rule(text))
        texts = {
            f"{key}{f' ({number})' if number else ''}": text
            for key, several in said.items()
            for number, text in enumerate(sorted(several))
        }
        content = {"seconds": time.perf_counter() - begin, "texts": texts}
        result.write_text(json.dumps(content), encoding="utf-8")
        code = 0
    except BaseException:  # noqa: BLE001  (the parent says that the unit broke off)
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _to_the_end(unit: Unit) -> Iterator[tuple[str, str]]:
    """What the unit says; where it breaks off, the traceback is the last text."""
    try:
        yield from unit.say()
    except Exception:  # noqa: BLE001  (the other units go on, and the comparison shows it)
        yield "broke off", traceback.format_exc()


def report(differences: Sequence[Difference], options: argparse.Namespace) -> int:
    """Prints the differences; the exit code."""
    from golden_parts.record import told

    counted = [one for one in differences if not any(fnmatch(one.name, glob) for glob in options.excepted)]
    for one in counted:
        print(one.name)
        for line in told(one, MANY if options.show else FEW):
            print(line)
    if options.write:
        for one in counted:
            for side, text in (("before", one.before), ("after", one.after)):
                path = Path(options.write, side, *(part[:120] for part in one.name.split("/")))
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text or "", encoding="utf-8")
    excepted = f", {len(differences) - len(counted)} excepted" if options.excepted else ""
    print(f"{len(counted)} differences{excepted}")
    return 1 if counted else 0


def main() -> int:
    options = _options()
    root = enter()
    try:
        return _act(options, root)
    finally:
        shutil.rmtree(root, ignore_errors=True)


def _act(options: argparse.Namespace, root: Path) -> int:
    from golden_parts.record import Record

    begin = time.perf_counter()
    if options.action == "parts":
        print("\n".join(f"{unit.name}{'  (slow)' if unit.slow else ''}" for unit in units(root, root, root)))
        return 0
    record = Record(options.file)
    anew = options.action == "record" and not options.only
    if not (anew or record.sessions.exists()):
        print(f"{record.folder} has no {record.sessions.name}: record without --only first")
        return 2
    import_everything()
    demo = new_project(root, "demo")
    memory_of(demo, demo_logs(root))
    sessions = sessions_project(root, record, anew=anew)
    for project in (demo, sessions):
        _succeed(["compile"], project)
    chosen = [unit for unit in units(root, demo.memory, sessions.memory) if _wanted(unit, options)]
    if not chosen:
        print(f"no part begins with {' or '.join(options.only)}; `golden.py parts` lists them")
        return 2
    said = run_units(chosen, root, options.processes)
    texts = sum(map(len, said.values()))
    print(f"{time.perf_counter() - begin:>7.1f} s  {texts} texts in all")
    if options.action == "record":
        record.write(said, _about())
        return 0
    return report(list(record.differences(said)), options)


def _wanted(unit: Unit, options: argparse.Namespace) -> bool:
    named = not options.only or any(unit.name == one or unit.name.startswith(f"{one}/") for one in options.only)
    return named and not (options.quick and unit.slow)


def _about() -> Mapping[str, str]:
    import helix_graph

    return {"recorded": datetime.now(UTC).isoformat(timespec="seconds"), "packages": str(helix_graph.__path__[0])}


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["record", "compare", "parts"])
    parser.add_argument("file", type=lambda given: Path(given).absolute(), nargs="?", metavar="FILE.json")
    parser.add_argument("--only", action="append", default=[], metavar="PART")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--except", dest="excepted", action="append", default=[], metavar="GLOB")
    parser.add_argument("--write", type=lambda given: Path(given).absolute(), metavar="DIR")
    parser.add_argument("--processes", type=int, default=2, metavar="N")
    options = parser.parse_intermixed_args()
    if options.action != "parts" and options.file is None:
        parser.error("which FILE.json?")
    return options


if __name__ == "__main__":
    sys.exit(main())
