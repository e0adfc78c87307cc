"""Does the page on the original name every function of it, and only tests that exist?"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "internals" / "seed.md").read_text(encoding="utf-8")
SEED = ROOT.parent / "shared" / "seeds" / "reflexion-memory-api.md"


def test_every_test_that_the_page_names_exists() -> None:
    tests = "\n".join(path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("test_*.py"))
    named = set(re.findall(r"`(test_\w+)`", PAGE))
    assert len(named) > 40
    assert {name for name in named if f"def {name}(" not in tests} == set()


def test_every_file_of_tests_that_the_page_names_exists() -> None:
    assert [
        name for name in re.findall(r"`(test_\w+\.py)`", PAGE) if not (Path(__file__).parent / name).is_file()
    ] == []


def test_the_page_names_every_function_of_the_reference() -> None:
    if not SEED.is_file():
        pytest.skip(f"the reference is not here ({SEED})")
    functions = re.findall(r"^#{3,4} ([A-Z]\w+-\w+)", SEED.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(functions) > 12
    assert [name for name in functions if f"`{name}" not in PAGE] == []


def test_every_row_of_the_page_names_what_holds_it() -> None:
    ours = PAGE.partition("## MemoryRouter")[0]
    heads = ("| original", "| situation", "| defect")
    rows = [line for line in ours.splitlines() if line.startswith("| ") and not line.startswith(heads)]
    assert len(rows) > 35
    assert [row for row in rows if "test_" not in row and not row.endswith("| the same |")] == []
