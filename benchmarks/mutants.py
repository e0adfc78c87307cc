"""How many of 200 fixed small mistakes in the product do its tests notice?

A mutant is one flipped comparison, boolean operator or constant. `mutants.json` keeps the 200, chosen once by a seed.
Each is found again by the function that it is in, its statement and its expression, and not by its file, so that files
can be merged and renamed; one that cannot be found any more is counted as lost. Each runs, in a copy of the tree,
against the everyday tests that import the package of its module, and is killed when one of them fails or takes too
long.

``python benchmarks/mutants.py [--first N] [--tree FOLDER]`` runs them; ``--choose`` makes the list anew.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

HERE = Path(__file__).parent
LIST = HERE / "mutants.json"
PACKAGES = ("helix_graph", "episodes/helix_episodes", "cli/helix_cli")
SEED = 20_261_122
COUNT = 200
#: Seconds for the tests of one mutant; what takes longer counts as noticed, for the tests pass in less without it.
PATIENCE = 600

_FLIPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.And: ast.Or,
    ast.Or: ast.And,
}
Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
#: An expression of so many characters is known by itself.
_TELLING = 16
#: What the parts of statements that are statements themselves are called.
_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")


class Mutant(NamedTuple):
    """A place for a mistake: the ``number``-th such expression of a statement of a function."""

    function: str
    statement: str
    expression: str
    number: int


class Place(NamedTuple):
    """Where a mutant is now: a file, the place of the expression in it, and what is written there instead."""

    path: Path
    begin: tuple[int, int]
    end: tuple[int, int]
    written: str


def mutants_of(path: Path) -> Iterator[tuple[Mutant, Place]]:
    """All the mutants of a module's functions."""
    for name, function in _functions(ast.parse(path.read_text(encoding="utf-8"))):
        for statement in _statements(function.body):
            header, numbers = _header(statement), Counter[str]()
            for node in header:
                if (changed := _flipped(node)) is None:
                    continue
                expression = ast.unparse(node)
                mutant = Mutant(name, _told(statement), expression, numbers[expression])
                numbers[expression] += 1
                begin = node.lineno, node.col_offset
                yield mutant, Place(path, begin, (node.end_lineno or 0, node.end_col_offset or 0), f"({changed})")


def _functions(tree: ast.AST, prefix: str = "") -> Iterator[tuple[str, Function]]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield f"{prefix}{node.name}", node
            yield from _functions(node, f"{prefix}{node.name}.")
        else:
            yield from _functions(node, f"{prefix}{node.name}." if isinstance(node, ast.ClassDef) else prefix)


def _statements(body: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """Statements and those within them, but for functions and classes, which are looked at by themselves."""
    for statement in body:
        if not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield statement
            for block in _BLOCKS:
                yield from _statements(getattr(statement, block, []))


def _header(statement: ast.AST) -> list[ast.expr]:
    """The expressions of a statement without those of the statements within it; no docstring, no f-string."""
    found: list[ast.expr] = []
    waiting = [
        child
        for name, value in ast.iter_fields(statement)
        if name not in _BLOCKS
        for child in (value if isinstance(value, list) else [value])
    ]
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, ast.AST) and not isinstance(node, ast.JoinedStr):
            found += [node] if isinstance(node, ast.expr) else []
            waiting += ast.iter_child_nodes(node)
    return found


def _told(statement: ast.AST) -> str:
    return ast.unparse(statement).partition("\n")[0]


def _flipped(node: ast.expr) -> str | None:
    """The expression with its mistake; None for one that has no place for any."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        operator = _FLIPS[type(node.ops[0])]()
        return ast.unparse(ast.Compare(node.left, [operator], node.comparators))  # type: ignore[list-item]  # an operator
    if isinstance(node, ast.BoolOp):
        return ast.unparse(ast.BoolOp(_FLIPS[type(node.op)](), node.values))  # type: ignore[arg-type]  # an operator
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        return str(not node.value)
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return str(node.value + 1)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return ast.unparse(node.operand)
    return None


def all_mutants(tree: Path) -> list[tuple[Mutant, Place]]:
    """All the mutants of the product, in the order of its files."""
    modules = [path for package in PACKAGES for path in sorted((tree / package).rglob("*.py"))]
    return [found for path in modules for found in mutants_of(path)]


def find(wanted: Mutant, known: Sequence[tuple[Mutant, Place]]) -> Place | None:
    """Where a mutant is now: the only one alike, first in all, then in name and expression, then in what is written."""
    name = wanted.function.rpartition(".")[2]
    alike = [(one, place) for one, place in known if one.expression == wanted.expression]
    written = [(one, place) for one, place in alike if one[1:] == wanted[1:]]
    named = [place for one, place in written if one.function == wanted.function]
    for places in (
        named,
        [place for one, place in written if one.function.rpartition(".")[2] == name],
        [place for _, place in written],
        [place for one, place in alike if one.function.rpartition(".")[2] == name],
        [place for _, place in alike] if len(wanted.expression) >= _TELLING else [],
    ):
        if len(places) == 1:
            return places[0]
    return named[0] if named else None


def choose(tree: Path) -> None:
    """Draws the list; of mutants that are told apart by nothing but their file, none."""
    found = [one for one, _ in all_mutants(tree)]
    once = [one for one, count in Counter(found).items() if count == 1]
    drawn = random.Random(SEED).sample(once, COUNT)  # noqa: S311  (no secret)
    LIST.write_text(json.dumps([one._asdict() for one in drawn], indent=1) + "\n", encoding="utf-8")


class Trial:
    """A copy of a tree in which one mutant after the other is tried."""

    def __init__(self, tree: Path, folder: Path) -> None:
        self.root = folder / "tree"
        kept_out = shutil.ignore_patterns(".venv", ".git", ".hypothesis", "__pycache__", ".*_cache")
        shutil.copytree(tree, self.root, ignore=kept_out, symlinks=True)
        self.known = all_mutants(self.root)
        self._passing: dict[str, tuple[str, ...]] = {}

    def verdict(self, mutant: Mutant) -> str:
        """``killed``, ``survived``, ``untested`` or ``lost``."""
        place = find(mutant, self.known)
        if place is None:
            return "lost"
        area = self._area(place.path)
        if area not in self._passing:
            self._passing[area] = self._that_pass(area)
        if not self._passing[area]:
            return "untested"
        before = place.path.read_bytes()
        place.path.write_bytes(_with(before, place))
        try:
            return "survived" if self._pass(self._passing[area]) else "killed"
        finally:
            place.path.write_bytes(before)

    def _area(self, path: Path) -> str:
        """The package of a module as it is imported; of one right under a component, the module."""
        parts = path.relative_to(self.root).with_suffix("").parts
        start = next(number for number, part in enumerate(parts) if part.startswith("helix_"))
        return ".".join(parts[start : start + 2])

    def _that_pass(self, area: str) -> tuple[str, ...]:
        """The files of tests of an area without those that fail in the copy as it is."""
        files = tuple(str(path) for path in sorted((self.root / "tests").glob("test_*.py")) if self._asks(path, area))
        return files if not files or self._pass(files) else tuple(one for one in files if self._pass((one,)))

    def _asks(self, path: Path, area: str) -> bool:
        imported = _imports(path) | {
            name for helper in _imports(path) for name in _imports(self.root / "tests" / "helpers" / f"{helper}.py")
        }
        named = path.name.startswith(f"test_{area.rpartition('.')[2]}")
        return named or any(name == area or name.startswith(f"{area}.") for name in imported)

    def _pass(self, files: Sequence[str]) -> bool:
        folders = [str(self.root / Path(package).parent) for package in PACKAGES]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(folders)}
        # without strict markers, so that a tree from before there was a mark for slow tests can be tried too
        lenient = ("-o", "addopts=--import-mode=importlib", "-o", "strict_markers=false")
        options = ("-q", "-x", *lenient, "-p", "no:cacheprovider", "-m", "not slow and not corpus and not weights")
        command = [sys.executable, "-m", "pytest", *options, *files]
        try:
            done = subprocess.run(
                command, cwd=self.root, env=environment, capture_output=True, check=False, timeout=PATIENCE
            )
        except subprocess.TimeoutExpired:
            return False
        return done.returncode == 0


@cache
def _imports(path: Path) -> frozenset[str]:
    if not path.exists():
        return frozenset()
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return frozenset(found)


def _with(source: bytes, place: Place) -> bytes:
    """A module with its mistake; columns count bytes."""
    lines = source.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    begin, end = (starts[line - 1] + column for line, column in (place.begin, place.end))
    return source[:begin] + place.written.encode() + source[end:]


def main() -> None:
    """Runs the list, or makes it."""
    parser = argparse.ArgumentParser(description=re.split(r"\n\n", __doc__ or "")[0])
    parser.add_argument("--choose", action="store_true")
    parser.add_argument("--first", type=int, default=COUNT)
    parser.add_argument("--tree", type=Path, default=HERE.parent)
    asked = parser.parse_args()
    if asked.choose:
        choose(asked.tree)
        return
    wanted = [Mutant(**one) for one in json.loads(LIST.read_text(encoding="utf-8"))][: asked.first]
    verdicts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        trial = Trial(asked.tree.resolve(), Path(folder))
        for mutant in wanted:
            verdict = trial.verdict(mutant)
            verdicts[verdict] += 1
            print(f"{verdict:9} {mutant.function}: {mutant.expression}", flush=True)
    print(f"killed {verdicts['killed']} of {len(wanted)}: {dict(verdicts)}")


if __name__ == "__main__":
    main()
