"""Found of annotated, right of ours: what the benchmarks of extraction count, and the table they print."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


def corpora_of(start: Path) -> Path:
    """The folder of real logs: the one that ``HELIX_CORPORA`` names, else ``shared/corpora`` above a file.

    A work tree may lie deeper than the main one, so that the nearest such folder above is taken. Without any it is
    where it would lie above the main tree.
    """
    if named := os.environ.get("HELIX_CORPORA"):
        return Path(named)
    above = [folder / "shared" / "corpora" for folder in start.resolve().parents]
    return next((folder for folder in above if folder.is_dir()), above[2])


CORPORA = corpora_of(Path(__file__))
#: Logs annotated by a reader who had seen neither the rules nor what the program says of them.
SECOND = Path(__file__).resolve().parent / "second_set"
#: The same by another reader, of logs in neither set; reports only, and all that they tell instead of a selection.
THIRD = SECOND.with_name("third_set")
#: The same by a third reader, of logs in none of the others, after the rules had been mended on those.
FOURTH = SECOND.with_name("fourth_set")
#: What ``--set`` takes: each shows the sets before it too.
SETS = ("first", "second", "third", "fourth")


class Tally:
    """Found of wanted, right of given, and the lines to read where they differ."""

    def __init__(self) -> None:
        self.wanted = self.found = self.given = self.right = 0
        self.misses: list[str] = []
        self.false: list[str] = []

    def want(self, *, hit: bool, text: str) -> None:
        self.wanted += 1
        self.found += hit
        if not hit:
            self.misses.append(text)

    def give(self, *, right: bool, text: str) -> None:
        self.given += 1
        self.right += right
        if not right:
            self.false.append(text)

    def cells(self) -> str:
        return f"{share(self.found, self.wanted):>20}{share(self.right, self.given):>20}"

    def differences(self) -> list[str]:
        return [*(f"    missed {text}" for text in self.misses), *(f"    false  {text}" for text in self.false)]


def annotation_files(corpus: Path, *, name: str, upto: str) -> dict[str, Path]:
    """The files that annotate a corpus, by the name of their set."""
    files = {"GOLD": corpus / "GOLD.json"}
    files |= {folder.name.replace("_", " "): folder / name for folder in (SECOND, THIRD, FOURTH)}
    return dict(list(files.items())[: SETS.index(upto) + 1])


def share(part: int, whole: int) -> str:
    return f"{part}/{whole} ({100 * part / whole:.0f} %)" if whole else "-"


def print_table(sets: Mapping[str, Mapping[str, Tally]], *, misses: bool) -> None:
    """One line a measure; each set brings two columns. All sets have the same measures."""
    print(" " * 22 + "".join(f"{name:>40}" for name in sets))
    print(" " * 22 + f"{'found of annotated':>20}{'right of ours':>20}" * len(sets))
    for measure in next(iter(sets.values())):
        print(f"{measure:<22}" + "".join(tallies[measure].cells() for tallies in sets.values()))
        if misses:
            for name, tallies in sets.items():
                print("\n".join([f"  {name}", *tallies[measure].differences()]))
