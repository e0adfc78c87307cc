"""Is the second set of secrets large enough, without a kind that is counted twice, and new for its harmless texts?"""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

BENCHMARK = Path(__file__).parent.parent / "benchmarks" / "redaction"


@pytest.fixture(autouse=True)
def _modules_of_the_benchmark(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    before = set(sys.modules)
    monkeypatch.syspath_prepend(str(BENCHMARK))
    yield
    for name in set(sys.modules) - before:
        if name.startswith(("secret_", "redaction_run")):
            del sys.modules[name]


def test_each_kind_occurs_once_and_its_values_differ_from_one_draw_to_the_next() -> None:
    from redaction_run import SETS
    from secret_templates import read_templates

    kinds = [kind for path in (SETS["second"] / "kinds").glob("*.txt") for kind in read_templates(path)]
    assert len(kinds) >= 220
    assert len({kind.id for kind in kinds}) == len(kinds)
    assert len({kind.text for kind in kinds}) == len(kinds)
    for kind in kinds:
        first, again, other = (kind.sample(random.Random(seed)).values for seed in (1, 1, 2))  # noqa: S311
        assert first, kind.id
        assert first == again, kind.id
        assert not set(first) & set(other), kind.id


def test_each_harmless_text_is_new_and_names_a_part_that_must_remain() -> None:
    from redaction_run import SETS
    from secret_templates import read_templates

    texts = list(read_templates(SETS["second"] / "harmless.txt"))
    assert len(texts) >= 80
    assert len({text.id for text in texts}) == len(texts)
    assert not {text.text for text in texts} & {text.text for text in read_templates(SETS["first"] / "harmless.txt")}
    for text in texts:
        shown, parts = text.harmless(random.Random(1))  # noqa: S311
        assert parts, text.id
        assert all(part and part in shown for part in parts), text.id
