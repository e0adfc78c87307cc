"""The shape of the source: modules, lines of code by area, modules with a single importer, small functions used once.

    python benchmarks/shape.py [--names] [FOLDER]

``FOLDER`` is another tree of this repository, such as an older commit; ``--names`` lists what is counted. A line of
code is neither blank nor comment nor docstring. A function is small with at most six lines, and used once where its
name stands twice in its module: in its definition and in one other place.
"""

from __future__ import annotations

import argparse
import ast
import re
from collections import Counter, defaultdict
from pathlib import Path
from typing import NamedTuple

#: The folders of the packages in a tree, and the name of each.
PACKAGES = {"helix_graph": "helix_graph", "episodes/helix_episodes": "helix_episodes", "cli/helix_cli": "helix_cli"}
_SMALL = 6
_DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


class SourceModule(NamedTuple):
    """One module: its area, how many of its lines are what, which modules it names, its small functions used once."""

    area: str
    lines: Counter[str]
    imports: frozenset[str]
    once: tuple[str, ...]


def main() -> None:
    """Prints the totals, then a line for each area."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, default=Path(__file__).resolve().parents[1])
    parser.add_argument("--names", action="store_true", help="list the modules and functions that are counted")
    options = parser.parse_args()
    modules = dict(_modules(options.folder))
    importers = Counter(other for name, one in modules.items() for other in one.imports & (modules.keys() - {name}))
    single = sorted(name for name in modules if importers[name] == 1)
    once = [f"{name}.{function}" for name, one in sorted(modules.items()) for function in one.once]
    lines = sum((one.lines for one in modules.values()), Counter[str]())
    print(f"{len(modules)} modules, {lines['code']} lines of code, {lines['docstring']} of docstrings")
    print(f"{len(single)} modules with a single importer, {len(once)} small private functions used once")
    areas: defaultdict[str, list[SourceModule]] = defaultdict(list)
    for one in modules.values():
        areas[one.area].append(one)
    for area, several in sorted(areas.items()):
        print(f"{area:30} {len(several):4} modules {sum(one.lines['code'] for one in several):6} lines of code")
    if options.names:
        print("single importer:", *single, "used once:", *once, sep="\n    ")


def _modules(folder: Path) -> list[tuple[str, SourceModule]]:
    found = []
    for place, package in PACKAGES.items():
        for path in sorted((folder / place).rglob("*.py")):
            parts = path.relative_to(folder / place).with_suffix("").parts
            name = ".".join((package, *(parts[:-1] if parts[-1] == "__init__" else parts)))
            found.append((name, _module(path.read_text(encoding="utf-8"), "/".join((package, *parts[:-1][:1])))))
    return found


def _module(source: str, area: str) -> SourceModule:
    tree = ast.parse(source)
    documented: set[int] = set()
    imports: set[str] = set()
    once = []
    for node in ast.walk(tree):
        if isinstance(node, _DOCUMENTED):
            documented |= _docstring(node)
        if isinstance(node, ast.ImportFrom) and node.module:
            imports |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            imports |= {alias.name for alias in node.names}
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and re.match("_(?!_)", node.name):
            is_small = (node.end_lineno or node.lineno) - node.lineno < _SMALL
            if is_small and len(re.findall(rf"\b{node.name}\b", source)) == 2:
                once.append(node.name)
    kinds = (_kind(line, documented=number in documented) for number, line in enumerate(source.splitlines(), 1))
    return SourceModule(area, Counter(kinds), frozenset(imports), tuple(once))


def _docstring(node: _DOCUMENTED) -> set[int]:
    first = node.body[0] if node.body else None
    if not (
        isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
    ):
        return set()
    return set(range(first.lineno, (first.end_lineno or first.lineno) + 1))


def _kind(line: str, *, documented: bool) -> str:
    if documented:
        return "docstring"
    return "blank" if not line.strip() else "comment" if line.strip().startswith("#") else "code"


if __name__ == "__main__":
    main()
