"""Whether a later run of a check says anything about an earlier one.

A suite that passes with ``-run TestPut`` says nothing of the other tests, and a run without the integration tag says
nothing of the integration tests. Only a run over the same or more can verify a fix.
"""

from __future__ import annotations

from helix_episodes.extraction.checks.model import Verdict  # noqa: TC001  (kept beside the functions that take it)

#: Options that add to what is checked instead of narrowing it: the two runs must agree on them.
_WIDENING = ("-tags",)


def covers(later: Verdict, earlier: Verdict) -> bool:
    """Whether ``later`` checked at least what failed in ``earlier``.

    True when it is the same check with the same tags, and its paths and patterns take in those of the earlier run, or
    all of the tests that failed there.

    >>> narrow = Verdict(check="go test", kind="test", passed=False, scope=("-run TestPut", "./store"))
    >>> covers(Verdict(check="go test", kind="test", passed=True), narrow)
    True
    >>> covers(narrow, Verdict(check="go test", kind="test", passed=False))
    False
    """
    if later.check != earlier.check:
        return False
    if later.task and later.task == earlier.task:
        return _takes_in(later.scope, earlier.scope) or _names_failures(later, earlier)
    if _unclear(later) or _unclear(earlier):
        return _names_failures(later, earlier)
    wide, narrow = _whole(later), _whole(earlier)
    return _tags(wide) == _tags(narrow) and (_takes_in(wide, narrow) or _names_failures(later, earlier))


def _unclear(verdict: Verdict) -> bool:
    """Whether a task stood for a command that was not seen."""
    return verdict.task is not None and verdict.echoed is None


def _whole(verdict: Verdict) -> tuple[str, ...]:
    return verdict.scope + (verdict.echoed or ())


def _tags(scope: tuple[str, ...]) -> set[str]:
    return {word for word in scope if word.startswith(_WIDENING)}


def _patterns(scope: tuple[str, ...]) -> list[str]:
    """The alternatives of name patterns: ``-run 'A|B'`` gives A and B."""
    words = [word for word in scope if word.startswith("-") and not word.startswith(_WIDENING)]
    return [part.strip("^$\"'() ") for word in words for part in word.partition(" ")[2].split("|") if part.strip()]


def _paths(scope: tuple[str, ...]) -> list[str]:
    return [word.removeprefix("./").removesuffix("/...").rstrip("/") for word in scope if not word.startswith("-")]


def _takes_in(wide: tuple[str, ...], narrow: tuple[str, ...]) -> bool:
    above, below = _paths(wide), _paths(narrow)
    paths = not above or (bool(below) and all(any(_within(path, top) for top in above) for path in below))
    return paths and _matches(_patterns(wide), _patterns(narrow))


def _within(path: str, above: str) -> bool:
    if "\u2026" in path + above:  # task runners cut long lines
        return path.partition("\u2026")[0].startswith(above.partition("\u2026")[0]) or above.startswith(path[:-1])
    return path == above or path.startswith((f"{above}/", f"{above}::"))


def _matches(patterns: list[str], names: list[str]) -> bool:
    """Whether patterns (substrings, as test runners take them) select all names; no patterns select everything."""
    return not patterns or (bool(names) and all(any(part in name for part in patterns) for name in names))


def _names_failures(later: Verdict, earlier: Verdict) -> bool:
    """Whether the later run selected, by name, every test that had failed."""
    named = [test for found in earlier.findings for test in found.tests]
    patterns = _patterns(later.scope) + [path for path in _paths(later.scope) if "::" in path]
    complete = all(found.tests for found in earlier.findings)
    return bool(named and patterns) and complete and _matches(patterns, named)
