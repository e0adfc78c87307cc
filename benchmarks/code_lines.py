"""Counts the lines of code of Python files: those that are neither blank, nor a comment alone, nor of a docstring.

``python benchmarks/code_lines.py helix_graph/{forget,tombstones,set_aside}.py``
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path

_DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def code_lines(source: str) -> int:
    """How many lines of the source are code."""
    documented = [one for one in ast.walk(ast.parse(source)) if isinstance(one, _DOCUMENTED) and ast.get_docstring(one)]
    docstrings = (one.body[0] for one in documented)
    left_out = {line for one in docstrings for line in range(one.lineno, (one.end_lineno or one.lineno) + 1)}
    lines = enumerate(map(str.strip, source.splitlines()), 1)
    return sum(bool(line) and not line.startswith("#") and number not in left_out for number, line in lines)


if __name__ == "__main__":
    counts = {name: code_lines(Path(name).read_text(encoding="utf-8")) for name in sys.argv[1:]}
    for name, count in counts.items():
        print(f"{count:6} {name}")
    print(f"{sum(counts.values()):6} in all")
