"""Do the tests exist that the pages on demands name?"""

from __future__ import annotations

import re
from pathlib import Path

from whole_tables import each_row

TESTS = Path(__file__).parent
PAGES = sorted((TESTS.parent / "docs" / "decisions").glob("*demands*.md"))
_NAMED = re.compile(r"`(test_\w+\.py)(?:::(test_\w+))?`")


@each_row("page", PAGES, ids=lambda page: page.stem)
def test_each_test_that_is_named_exists(page: Path) -> None:
    named = set(_NAMED.findall(page.read_text(encoding="utf-8")))
    assert named
    missing = [
        f"{file}::{name}"
        for file, name in sorted(named)
        if (f"def {name}(" if name else "def test_") not in text_of(file)
    ]
    assert missing == []


def text_of(name: str) -> str:
    path = TESTS / name
    return path.read_text(encoding="utf-8") if path.exists() else ""
