"""How many of 200 fixed small mistakes in the product do its tests notice?

A mutant is one flipped comparison, boolean operator or constant. `mutants.json` keeps the 200, chosen by a seed.
Each is found again by the function that it is in, its statement and its expression, and not by its file, so that files
can be merged and renamed; one that cannot be found any more is counted as lost, and ``--refill`` draws another one for
it. One whose ``equal`` says why nobody can notice it is counted as equal in effect, and not tried.

The tests of every day and the slow ones, as CI runs them, run once in a copy of the tree in which each place notes the
test that comes past it, in processes that a test starts too. Each mutant is then tried against the tests that come past
its place, and is killed when one of them fails or takes too long. Tests that fail in the copy without any mistake are
not asked.

``python benchmarks/mutants.py [--only 3,20-40] [--tree FOLDER] [--reached FILE]`` runs them; ``--reached`` keeps what
was noted, or reads it where the file exists.
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
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

HERE = Path(__file__).parent
LIST = HERE / "mutants.json"
PACKAGES = ("helix_graph", "episodes/helix_episodes", "cli/helix_cli")
SEED = 20_261_122
COUNT = 200
#: Seconds for the tests of one mutant; what takes longer counts as noticed, for the tests pass in less without it.
PATIENCE = 900
#: What CI runs; properties try the examples of every day. Without strict markers, so that a tree from before there was
#: a mark for slow tests can be tried too.
_KINDS = "not fuzz and not corpus"
_TESTS = ("-p", "no:cacheprovider", "-o", "strict_markers=false", "-m", _KINDS)

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


def _listed() -> list[tuple[Mutant, str]]:
    """The mutants of the list, each with why it is equal in effect, where it is."""
    listed = json.loads(LIST.read_text(encoding="utf-8"))
    return [(Mutant(*(one[name] for name in Mutant._fields)), one.get("equal", "")) for one in listed]


def refill(tree: Path) -> None:
    """Draws a mutant for each that is lost, in its place; of those told apart by nothing but their file, none."""
    known = all_mutants(tree)
    listed = _listed()
    once = [one for one, count in Counter(one for one, _ in known).items() if count == 1]
    drawn = iter(random.Random(SEED).sample(once, len(once)))  # noqa: S311  (no secret)
    taken = {one for one, _ in listed}
    kept = []
    for old, why in listed:
        is_lost = find(old, known) is None
        one, equal = (next(new for new in drawn if new not in taken), "") if is_lost else (old, why)
        taken.add(one)
        kept.append({**one._asdict(), **({"equal": equal} if equal else {})})
    LIST.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


#: What each process of a test run loads: places note the test that comes past them, and only chosen tests run.
_HELPER = """
import builtins, os
folder, seen = os.environ.get("MUTANTS_FOLDER"), set()
def mutants_place(number, open=open, getpid=os.getpid):
    test = os.environ.get("PYTEST_CURRENT_TEST", "")
    if folder and (number, test) not in seen:
        seen.add((number, test))
        with open(f"{folder}/{getpid()}.reached", "a", encoding="utf-8") as notes:
            notes.write(f"{number}\\t{test!r}\\n")
builtins.mutants_place = mutants_place
"""
_PLUGIN = """
import os
def pytest_collection_modifyitems(config, items):
    if path := os.environ.get("MUTANTS_TESTS"):
        with open(path, encoding="utf-8") as file:
            chosen = set(file.read().split("\\0"))
        items[:] = [one for one in items if one.nodeid in chosen or one.nodeid.partition("::")[0] in chosen]
def pytest_runtest_logreport(report):
    if report.failed:
        with open(os.environ["MUTANTS_FOLDER"] + f"/{os.getpid()}.failed", "a", encoding="utf-8") as notes:
            notes.write(f"{report.nodeid!r}\\n")
"""


class Trial:
    """A copy of a tree in which one mutant after the other is tried."""

    def __init__(self, tree: Path, folder: Path) -> None:
        self.root = folder / "tree"
        self._folder = folder
        kept_out = shutil.ignore_patterns(".venv", ".git", ".hypothesis", "__pycache__", ".*_cache")
        shutil.copytree(tree, self.root, ignore=kept_out, symlinks=True)
        self.known = all_mutants(self.root)
        helpers = folder / "helpers"
        helpers.mkdir()
        (helpers / "sitecustomize.py").write_text(_HELPER, encoding="utf-8")
        (helpers / "mutants_plugin.py").write_text(_PLUGIN, encoding="utf-8")

    def reached(self, places: dict[int, Place]) -> dict[int, tuple[str, ...]]:
        """The tests that come past each place: their ids, or the file where a fixture of theirs does."""
        sources = {place.path: place.path.read_bytes() for place in places.values()}
        for path, before in sources.items():
            path.write_bytes(_noting(before, {n: one for n, one in places.items() if one.path == path}))
        try:
            # one process for each file, for what is made once in a process is noted for its first test alone
            with ThreadPoolExecutor(os.cpu_count()) as several:
                list(several.map(self._run, self._files()))
        finally:
            for path, before in sources.items():
                path.write_bytes(before)
        failed = {ast.literal_eval(one) for one in self._notes("failed")}
        found: dict[int, set[str]] = {number: set() for number in places}
        for note in self._notes("reached"):
            number, _, told = note.partition("\t")
            test, _, phase = ast.literal_eval(told).rpartition(" ")
            if test and test not in failed:
                found[int(number)].add(test if phase == "(call)" else test.partition("::")[0])
        return {number: tuple(sorted(tests)) for number, tests in found.items()}

    def is_killed(self, place: Place, tests: Sequence[str]) -> bool:
        """Whether one of the tests fails with the mutant, and passes without it."""
        before = place.path.read_bytes()
        place.path.write_bytes(_with(before, place))
        try:
            code = self._chosen(tests)
        finally:
            place.path.write_bytes(before)
        if code == pytest.ExitCode.OK:
            return False
        failed = [ast.literal_eval(one) for one in self._notes("failed")]
        if failed and self._chosen(failed) != pytest.ExitCode.OK:
            raise RuntimeError(f"it fails without a mistake as well: {failed}")
        return True

    def _chosen(self, tests: Sequence[str]) -> int | None:
        """What pytest ended with when only these tests ran."""
        for path in self._folder.glob("*.failed"):
            path.unlink()
        chosen = self._folder / "chosen"
        chosen.write_text("\0".join(tests), encoding="utf-8")
        code = self._run(sorted({one.partition("::")[0] for one in tests}), "-x", chosen=chosen)
        if code == pytest.ExitCode.NO_TESTS_COLLECTED:
            raise RuntimeError(f"none of the tests is there: {tests}")
        return code

    def _files(self) -> list[list[str]]:
        """Each file of tests, and together the modules that have examples in their docstrings."""
        modules = [path for package in PACKAGES for path in sorted((self.root / package).rglob("*.py"))]
        examples = [path for path in modules if ">>>" in path.read_text(encoding="utf-8")]
        tests = [[path] for path in sorted((self.root / "tests").glob("test_*.py"))]
        return [[str(path.relative_to(self.root)) for path in some] for some in (*tests, examples)]

    def _notes(self, kind: str) -> list[str]:
        return [
            line
            for path in sorted(self._folder.glob(f"*.{kind}"))
            for line in path.read_text(encoding="utf-8").splitlines()
        ]

    def _run(self, files: Sequence[str], *options: str, chosen: Path | None = None) -> int | None:
        """What pytest ended with; None when it took too long."""
        folders = [str(self._folder / "helpers"), *(str(self.root / Path(package).parent) for package in PACKAGES)]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(folders), "MUTANTS_FOLDER": str(self._folder)}
        environment |= {"MUTANTS_TESTS": str(chosen)} if chosen else {}
        command = [sys.executable, "-m", "pytest", "-q", "-p", "mutants_plugin", *_TESTS, *options, *files]
        try:
            done = subprocess.run(
                command, cwd=self.root, env=environment, capture_output=True, check=False, timeout=PATIENCE
            )
        except subprocess.TimeoutExpired:
            return None
        return done.returncode


def _noting(source: bytes, places: dict[int, Place]) -> bytes:
    """A module whose places note that they were reached; a place within another one is noted as well."""
    starts = _starts(source)
    inserts: list[tuple[int, bool, int, bytes]] = []
    for number, place in places.items():
        begin, end = (starts[line - 1] + column for line, column in (place.begin, place.end))
        # of places that begin or end together, the longer is the outer one
        inserts.append((begin, True, -end, f"(mutants_place({number}), ".encode()))
        inserts.append((end, False, -begin, b")[1]"))
    for at, _, _, text in sorted(inserts, reverse=True):
        source = source[:at] + text + source[at:]
    return source


def _with(source: bytes, place: Place) -> bytes:
    """A module with its mistake."""
    starts = _starts(source)
    begin, end = (starts[line - 1] + column for line, column in (place.begin, place.end))
    return source[:begin] + place.written.encode() + source[end:]


def _starts(source: bytes) -> list[int]:
    """Where each line begins; columns count bytes."""
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    return starts


def _numbers(text: str) -> list[int]:
    ranges = [one.partition("-") for one in text.split(",")]
    return [number for first, _, last in ranges for number in range(int(first), int(last or first) + 1)]


def main() -> None:
    """Runs the list, or makes it whole."""
    parser = argparse.ArgumentParser(description=re.split(r"\n\n", __doc__ or "")[0])
    parser.add_argument("--refill", action="store_true")
    parser.add_argument("--only", type=_numbers, default=list(range(COUNT)))
    parser.add_argument("--reached", type=Path)
    parser.add_argument("--tree", type=Path, default=HERE.parent)
    asked = parser.parse_args()
    if asked.refill:
        refill(asked.tree)
        return
    listed = _listed()
    verdicts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        trial = Trial(asked.tree.resolve(), Path(folder))
        places = {number: place for number, (one, _) in enumerate(listed) if (place := find(one, trial.known))}
        if asked.reached and asked.reached.exists():
            reached = {int(name): tests for name, tests in json.loads(asked.reached.read_text("utf-8")).items()}
        else:
            reached = trial.reached(places)
            if asked.reached:
                asked.reached.write_text(json.dumps(reached), encoding="utf-8")
        for number in asked.only:
            mutant, equal = listed[number]
            if equal or number not in places or not reached[number]:
                verdict = "equal in effect" if equal else "lost" if number not in places else "untested"
            else:
                verdict = "killed" if trial.is_killed(places[number], reached[number]) else "survived"
            verdicts[verdict] += 1
            told = f"  ({equal})" if equal else ""
            print(f"{number:3} {verdict:15} {mutant.function}: {mutant.expression}{told}", flush=True)
    print(f"killed {verdicts['killed']} of {len(asked.only)}: {dict(verdicts)}")


if __name__ == "__main__":
    main()
