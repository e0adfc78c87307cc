"""What redaction leaves of generated secrets, and what it takes from harmless texts.

    python benchmarks/redaction [--set third] [--every N] [--json] [--list] [--seed 16]
    python benchmarks/redaction --corpus [FOLDER ...]

Several hundred kinds of secrets (provider, file format, language, shell) stand in 21 positions each: prompt, answer,
command, output, diff, JSON, log line, escape, colours and so on. Two things are measured.

* The function: each text goes through `helix_episodes.redaction.redact_text`.
* The memory: session logs hold every kind in every position; `Memory.extract`, `compile` and `insights.harvest` read
  them, and every file of `.helix` is searched, byte by byte and cell by cell of each database.

A value is cut when no run of eight of its characters is left (on disk twelve where it has letters of one case only),
but for runs that every value of its kind has. A kind is cut when all values in all positions are, in both. The wish is
at least 95 % of the kinds. A harmless text counts as a false cut when a part that must remain does not, in any of the
positions that harmless texts are tried in. The templates were written without knowledge of the rules; they say nothing
about how frequent a kind is in real logs.

There are three sets. The second was written after the first, without knowledge of the rules, of the first set or of its
results; the others likewise (README-third.md, README-fourth.md, README-fifth.md), each without knowledge of the others.
A set that rules have been changed for is
no longer blind: compare the figures.

A whole set takes up to two minutes of a processor (the fifth: 27,000 texts with a secret each, of which one takes 1.5
milliseconds, and the memory of 1,291 sessions), on a machine that others use ten. ``--every 8`` takes each eighth kind
and harmless text, to see within a minute whether a change lost something; it is no figure for the page.
"""

from __future__ import annotations

import argparse
import json
import random
import sqlite3
import tempfile
import zlib
from collections import Counter, defaultdict
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from corpus_cuts import FOLDERS, list_cuts
from secret_positions import POSITIONS
from secret_sessions import write_session
from secret_templates import Template, read_templates

from helix_episodes.redaction import redact_text
from helix_graph.memory import Memory
from helix_graph.stats.intervals import wilson_interval

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from secret_positions import Position

HERE = Path(__file__).parent
#: Each set is a folder of its own: ``kinds/*.txt``, one file a class, and ``harmless.txt``.
SETS = {"first": HERE, **{name: HERE / name for name in ("second", "third", "fourth", "fifth")}}
#: As many characters in a row as no one guesses the rest from; the issue of a hint such as "ghp_" is not one.
RUN = 8
#: On disk, of values with letters of one case: eight of these also occur in ids and other kinds' words by chance.
RUN_OF_FEW_SIGNS = 12
WANTED = 0.95
#: Harmless texts are tried where most of a log's text is.
HARMLESS_IN = {"user prompt", "command output", "diff", "JSON argument", "line numbers", "log line"}


@dataclass
class Planted:
    """One value in one position of one kind."""

    kind: Template
    position: str
    value: str
    #: The runs of the value that neither its text nor another value of its kind has.
    runs: frozenset[str]
    left_by_function: bool = False
    left_on_disk: bool = False


@dataclass
class Outcome:
    """Everything that was measured."""

    planted: list[Planted] = field(default_factory=list)
    false_cuts: list[tuple[str, str, str]] = field(default_factory=list)
    harmless: int = 0
    bytes_searched: int = 0
    sessions: int = 0
    #: Episodes that quote text around a secret: a search that finds nothing must have had something to search.
    quoted: int = 0


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    options.add_argument("--set", choices=SETS, default="first", help="which set of kinds and harmless texts")
    options.add_argument("--json", action="store_true", help="print the figures as JSON")
    options.add_argument("--list", action="store_true", help="print what got past, and the false cuts")
    options.add_argument("--seed", type=int, default=16)
    options.add_argument("--every", type=int, default=1, metavar="N", help="only each Nth kind and harmless text")
    options.add_argument(
        "--corpus", type=Path, nargs="*", help="list the cuts in these folders of real logs (the corpora), and the time"
    )
    chosen = options.parse_args()
    if chosen.corpus is not None:
        for folder in chosen.corpus or FOLDERS:
            list_cuts(folder)
        return
    outcome = measure(SETS[chosen.set], chosen.seed, every=chosen.every)
    if chosen.json:
        print(json.dumps(figures(outcome), indent=2))
    else:
        show(outcome, listed=chosen.list)


def measure(texts: Path, seed: int, *, every: int) -> Outcome:
    outcome = Outcome()
    kinds = [kind for path in sorted((texts / "kinds").glob("*.txt")) for kind in read_templates(path)][::every]
    with tempfile.TemporaryDirectory() as folder:
        logs = Path(folder) / "logs"
        for kind in kinds:
            outcome.planted += plant(kind, logs, seed)
        outcome.sessions = len(kinds)
        search_memory(outcome, Path(folder))
    for text in [*read_templates(texts / "harmless.txt")][::every]:
        outcome.harmless += 1
        outcome.false_cuts += false_cuts(text, seed)
    return outcome


def plant(kind: Template, logs: Path, seed: int) -> list[Planted]:
    """Writes the session of this kind, and asks the function about each of its texts."""
    draw = random.Random(f"{seed} {kind.id}")  # noqa: S311  (repeatable, not secret)
    samples = [kind.sample(draw) for _ in POSITIONS]
    texts = [position.render(sample) for position, sample in zip(POSITIONS, samples, strict=True)]
    write_session(logs, kind.id, [(position.place, text) for position, text in zip(POSITIONS, texts, strict=True)])
    among: Counter[str] = Counter(run for sample in samples for run in {r for v in sample.values for r in runs_of(v)})
    planted = []
    for position, sample, text in zip(POSITIONS, samples, texts, strict=True):
        frame = runs_of(kind.text)
        redacted = redact_text(text)
        for value in sample.values:
            runs = frozenset(run for run in runs_of(value) - frame if among[run] == 1)
            if not runs:  # two samples drew one short word: nothing tells which of them a finding is
                continue
            one = Planted(kind, position.id, value, runs)
            assert any(run in text for run in runs), f"{kind.id} in {position.id}: the value is not in the text"
            one.left_by_function = any(run in redacted for run in runs)
            planted.append(one)
    return planted


def runs_of(value: str) -> set[str]:
    return {value[at : at + RUN] for at in range(max(1, len(value) - RUN + 1))}


def search_memory(outcome: Outcome, folder: Path) -> None:
    project = folder / "shop"
    project.mkdir()
    memory = Memory.init(project)
    memory.extract([folder / "logs"])
    memory.graph.compile()
    memory.insights.harvest()
    owners: defaultdict[int, list[Planted]] = defaultdict(list)
    for one in outcome.planted:
        for run in one.runs:
            if len(run.encode()) == RUN:
                owners[int.from_bytes(run.encode(), "little")].append(one)
    wanted = np.fromiter(sorted(owners), dtype="<u8", count=len(owners))
    episodes = list((memory.root / "episodes").glob("*.json"))
    assert len(episodes) == outcome.sessions, f"{len(episodes)} episodes of {outcome.sessions} sessions"
    for content in contents(memory.root):
        outcome.bytes_searched += len(content)
        for hit in found(wanted, content):
            for one in owners[hit]:
                # A run that two kinds share, such as two words of a passphrase, proves nothing about either.
                one.left_on_disk = one.left_on_disk or (
                    len(owners[hit]) == 1 and is_there(one.value, hit.to_bytes(RUN, "little"), content)
                )
    outcome.quoted = sum(b"refused to start" in path.read_bytes() for path in episodes)


def is_there(value: str, run: bytes, content: bytes) -> bool:
    """Whether a run that was found is no chance: of a value of few signs a longer part around it must be there."""
    whole = value.encode()
    if whole not in (whole.lower(), whole.upper()):
        return True
    size, at = min(RUN_OF_FEW_SIGNS, len(whole)), whole.find(run)
    return any(
        whole[begin : begin + size] in content
        for begin in range(max(0, at + RUN - size), min(at, len(whole) - size) + 1)
    )


def contents(root: Path) -> Iterator[bytes]:
    """Every file as it is, and the texts in databases, which pages may cut into parts or a codec may hide."""
    for path in sorted(root.rglob("*")):
        if not path.is_file():
            continue
        content = path.read_bytes()
        yield content
        if content.startswith(b"SQLite format 3\0"):
            yield b"\n".join(cells(path))


def cells(path: Path) -> Iterator[bytes]:
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        for (table,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            for row in connection.execute(f'SELECT * FROM "{table}"'):  # noqa: S608  (our own file's names)
                for cell in row:
                    if isinstance(cell, str):
                        yield cell.encode()
                    elif isinstance(cell, bytes):
                        yield unpacked(cell)


def unpacked(cell: bytes) -> bytes:
    try:
        return zlib.decompress(cell)
    except zlib.error:
        return cell


def found(wanted: np.ndarray, content: bytes) -> list[int]:
    """The wanted runs that occur at any byte of the content."""
    hits: set[int] = set()
    for shift in range(RUN):
        size = (len(content) - shift) // RUN * RUN
        if size > 0:
            windows = np.frombuffer(content, dtype="<u8", count=size // RUN, offset=shift)
            places = np.minimum(np.searchsorted(wanted, windows), len(wanted) - 1)
            hits.update(windows[wanted[places] == windows].tolist())
    return sorted(hits)


def false_cuts(template: Template, seed: int) -> Iterator[tuple[str, str, str]]:
    """The first part that is missing in each position: the text's id, the position, and what became of the text."""
    draw = random.Random(f"{seed} harmless {template.id}")  # noqa: S311  (repeatable, not secret)
    for position in POSITIONS:
        if position.id in HARMLESS_IN:
            text, wanted = template.harmless(draw)
            shown = redact_text(rendered(position, text))
            if any(rendered_part(position, part) not in shown for part in wanted):
                yield template.id, position.id, shown


def rendered(position: Position, text: str) -> str:
    from secret_templates import Sample

    return position.render(Sample(text, ()))


def rendered_part(position: Position, part: str) -> str:
    return json.dumps(part)[1:-1] if position.place == "argument" else part


def show(outcome: Outcome, *, listed: bool) -> None:
    result = figures(outcome)
    kinds, values = result["kinds"], result["values"]
    print(
        f"{len(POSITIONS)} positions, {result['bytes_searched'] / 1e6:.1f} MB of .helix searched, "
        f"{result['quoting_episodes']} of {result['sessions']} episodes quote what stood around a secret\n"
    )
    line("kinds fully cut", kinds["cut"], kinds["n"], f"wanted at least {WANTED:.0%}")
    line("… by the function", kinds["cut_by_function"], kinds["n"])
    line("… with nothing left on disk", kinds["cut_on_disk"], kinds["n"])
    line("values cut by the function", values["cut_by_function"], values["n"])
    line("values with nothing on disk", values["cut_on_disk"], values["n"], "many are never quoted")
    line("false cuts", result["harmless"]["falsely_cut"], result["harmless"]["n"], "wanted 0; texts, in any position")
    for what in ("class", "position"):
        print(f"\n{what:28} {'kinds cut':>12} {'values cut':>16}")
        for name, row in result[f"by_{what}"].items():
            print(f"{name:28} {row['kinds_cut']:5} of {row['kinds']:<4} {row['values_cut']:7} of {row['values']:<6}")
    if listed:
        print_list(outcome)


def line(what: str, count: int, total: int, beside: str = "") -> None:
    interval = wilson_interval(count, total)
    share = f"{count / total:.1%}  ({count} of {total}; 95 % CI {interval.low:.1%} to {interval.high:.1%})"
    print(f"{what:30} {share}{'; ' + beside if beside else ''}")


def figures(outcome: Outcome) -> dict[str, Any]:
    every = {one.kind.id for one in outcome.planted}
    function = {one.kind.id for one in outcome.planted if one.left_by_function}
    disk = {one.kind.id for one in outcome.planted if one.left_on_disk}
    return {
        "kinds": {
            "n": len(every),
            "cut": len(every - function - disk),
            "cut_by_function": len(every - function),
            "cut_on_disk": len(every - disk),
        },
        "values": {
            "n": len(outcome.planted),
            "cut_by_function": sum(not one.left_by_function for one in outcome.planted),
            "cut_on_disk": sum(not one.left_on_disk for one in outcome.planted),
        },
        "harmless": {"n": outcome.harmless, "falsely_cut": len({name for name, _, _ in outcome.false_cuts})},
        "bytes_searched": outcome.bytes_searched,
        "sessions": outcome.sessions,
        "quoting_episodes": outcome.quoted,
        "by_class": table(outcome.planted, [one.kind.group for one in outcome.planted]),
        "by_position": table(outcome.planted, [one.position for one in outcome.planted]),
        "past": past(outcome.planted),
    }


def past(planted: Sequence[Planted]) -> dict[str, list[str]]:
    """Which positions each kind got past in, be it past the function or onto the disk."""
    positions: defaultdict[str, set[str]] = defaultdict(set)
    for one in planted:
        if one.left_by_function or one.left_on_disk:
            positions[one.kind.id].add(one.position)
    return {kind: sorted(where) for kind, where in sorted(positions.items())}


def table(planted: Sequence[Planted], names: Sequence[str]) -> dict[str, dict[str, int]]:
    rows: dict[str, dict[str, int]] = {}
    for name in dict.fromkeys(names):
        own = [one for one, other in zip(planted, names, strict=True) if other == name]
        kinds = {one.kind.id for one in own}
        left = [one for one in own if one.left_by_function or one.left_on_disk]
        rows[name] = {
            "kinds": len(kinds),
            "kinds_cut": len(kinds - {one.kind.id for one in left}),
            "values": len(own),
            "values_cut": len(own) - len(left),
        }
    return rows


def print_list(outcome: Outcome) -> None:
    print("\nwhat got past")
    kinds: defaultdict[Template, list[Planted]] = defaultdict(list)
    for one in outcome.planted:
        kinds[one.kind].append(one)
    for kind, own in kinds.items():
        function = {one.position for one in own if one.left_by_function}
        disk = {one.position for one in own if one.left_on_disk}
        if function or disk:
            where = "everywhere" if len(function) == len(POSITIONS) else ", ".join(sorted(function)) or "nowhere"
            print(f"  {kind.group}: {kind.id}: {where}; on disk from {len(disk)} positions")
    print("\nfalse cuts")
    for name, position, text in outcome.false_cuts:
        print(f"  {name} in {position}: {text[:160]!r}")
