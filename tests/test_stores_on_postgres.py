"""The lists of tests that ``--stores=postgresql`` leaves to SQLite or to files: each name exists, once."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

from kept_by_server import SUITES, is_about_files, reason_to_stay, suite_of
from kept_here import KEPT_HERE, UNTIL_TOUCHED

TESTS = Path(__file__).parent
LISTED = [name for names in (*KEPT_HERE.values(), *UNTIL_TOUCHED.values()) for name in names]


def test_each_listed_test_exists_in_a_suite_of_stores() -> None:
    missing = []
    for name in LISTED:
        file, _, test = name.partition("::")
        if not suite_of(file) or test.partition("[")[0] not in _functions(file):
            missing.append(name)
    assert missing == []


@cache
def _functions(file: str) -> set[str]:
    tree = ast.parse((TESTS / file).read_text()) if (TESTS / file).exists() else ast.Module([], [])
    return {one.name for one in ast.walk(tree) if isinstance(one, ast.FunctionDef)}


def test_each_listed_test_has_one_reason() -> None:
    assert len(LISTED) == len(set(LISTED))
    assert [why for why, names in (*KEPT_HERE.items(), *UNTIL_TOUCHED.items()) if not why.strip() or not names] == []
    assert all(reason_to_stay(*name.split("::")) for names in KEPT_HERE.values() for name in names)
    assert all(is_about_files(*name.split("::")) for names in UNTIL_TOUCHED.values() for name in names)
    assert reason_to_stay("test_issues.py", "test_that_nobody_listed") is None


def test_each_suite_has_a_file() -> None:
    assert [pattern for pattern in SUITES if not list(TESTS.glob(pattern))] == []
