"""Which of ten categories an entry belongs to, in three passes.

1. *Tags*: ``gotcha`` is a gotcha, whatever the text says.
2. *Keywords* in the first three lines: the first telling word decides. Words are whole: Singapore is no gap.
3. *Body*, for entries without any tag: telling words further down, and the shapes of their content, such as arrows or
   measurements.

>>> category(("decision",), "we never do that"), category((), "Beware of the cache")
('decisions', 'gotchas')
>>> category((), "Singapore office"), category((), "request -> queue -> worker")
('other', 'data-flow')
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, get_args

from helix_graph.topics.model import Category
from helix_graph.topics.texts import content_lines, first_line

if TYPE_CHECKING:
    from collections.abc import Iterable

CATEGORIES: tuple[Category, ...] = tuple(get_args(Category))
_FIRST_LINES = 3

#: The seed's table: how a first line begins, and the tag that an untagged entry gets for it.
_PREFIXES = {
    "gotcha": ("gotcha:", "bug:"),
    "invariant": ("invariant:", "security:"),
    "decision": ("decision:", "design:"),
    "data-flow": ("data flow:", "flow:"),
    "performance": ("perf:", "benchmark:"),
    "gap": ("gap:", "missing:", "todo:"),
    "how-to": ("how-to:", "impl:", "fix:"),
    "module-map": ("module:",),
    "architecture": ("overview:",),
    "coupling": ("coupling:",),
    "pattern": ("pattern:",),
}
_TAGS: dict[str, Category] = {
    "architecture": "architecture",
    "module-map": "architecture",
    "overview": "architecture",
    "data-flow": "data-flow",
    "pipeline": "data-flow",
    "invariant": "invariants",
    "constraint": "invariants",
    "security": "invariants",
    "gotcha": "gotchas",
    "bug": "gotchas",
    "decision": "decisions",
    "design": "decisions",
    "how-to": "how-to",
    "workflow": "how-to",
    "performance": "performance",
    "zero-alloc": "performance",
    "benchmark": "performance",
    "gap": "gaps",
    "missing": "gaps",
    "todo": "gaps",
    "pattern": "patterns",
    "coupling": "patterns",
}
_KEYWORDS: dict[Category, str] = {
    "architecture": r"architecture|overview|modules?|layers?|components?",
    "data-flow": r"data[ -]flows?|pipelines?|flows? (?:from|to|into|through)",
    "invariants": r"invariants?|must (?:not|never|always)|never|always|security",
    "gotchas": r"gotchas?|bugs?|pitfalls?|caveats?|beware|careful|watch out|traps?",
    "decisions": r"decisions?|decided|chose|chosen|design|rationale",
    "how-to": r"how[ -]to|workflows?|steps|recipe|fix(?:ed)?",
    "performance": r"performance|perf|benchmarks?|latency|throughput|zero-alloc",
    "gaps": r"gaps?|missing|todo|fixme|not (?:yet )?implemented|unimplemented",
    "patterns": r"patterns?|couplings?|conventions?|idioms?",
}
_SHAPES: dict[Category, str] = {
    "data-flow": r"->|→|=>",
    "performance": r"\b\d+(?:\.\d+)?\s?(?:ms|µs|us|ns|[kmg]i?b/s|x faster)\b|\bO\([^)\s]{1,12}\)",
    "how-to": r"^\s*(?:\$ |1[.)] )",
    "decisions": r"\binstead of\b|\brather than\b|\bbecause\b",
    "architecture": r"\b(?:struct|class|trait|interface|package|crate)\b",
}


def _table(patterns: dict[Category, str], *, form: str) -> tuple[tuple[Category, re.Pattern[str]], ...]:
    flags = re.IGNORECASE | re.MULTILINE
    return tuple((name, re.compile(form.format(pattern), flags)) for name, pattern in patterns.items())


_BY_KEYWORD = _table(_KEYWORDS, form=r"(?<![\w-])(?:{})(?![\w-])")
_BY_SHAPE = _table(_SHAPES, form="{}")


def auto_tags(text: str) -> tuple[str, ...]:
    """The tag that an untagged entry gets for how its first line begins, by the seed's table.

    >>> auto_tags("Bug: the cache is never emptied"), auto_tags("a bug: see below")
    (('gotcha',), ())
    """
    line = first_line(text).lower()
    return tuple(tag for tag, prefixes in _PREFIXES.items() if line.startswith(prefixes))


def category(tags: Iterable[str], text: str) -> Category:
    """Where an entry belongs; ``other`` where nothing tells."""
    names = tuple(tags)
    for one in CATEGORIES:
        if any(_TAGS.get(tag) == one for tag in names):
            return one
    head = "\n".join(islice(content_lines(text), _FIRST_LINES))
    return _earliest(head, _BY_KEYWORD) or ("other" if names else _rescued(text))


def _rescued(text: str) -> Category:
    return _earliest(text, _BY_KEYWORD) or _earliest(text, _BY_SHAPE) or "other"


def _earliest(text: str, table: tuple[tuple[Category, re.Pattern[str]], ...]) -> Category | None:
    """The category whose telling word or shape stands first."""
    found = [(match.start(), place) for place, (_, how) in enumerate(table) if (match := how.search(text))]
    return table[min(found)[1]][0] if found else None
