"""A table of cases as one test: where a case takes microseconds, a test for each costs more than what it asks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence


def each_row(
    names: str | Sequence[str], rows: Iterable[Any], *, ids: Sequence[str] | Callable[[Any], str] = repr
) -> Callable[[Callable[..., None]], Callable[[], None]]:
    """As `pytest.mark.parametrize`, for a test without fixtures: all rows are asked, and each that fails is named."""
    columns = [one.strip() for one in names.split(",")] if isinstance(names, str) else [*names]
    cases = [*rows]
    named = [ids(one) for one in cases] if callable(ids) else [*ids]

    def table_of(test: Callable[..., None]) -> Callable[[], None]:
        def table() -> None:
            assert cases
            failed: list[BaseException] = []
            for name, case in zip(named, cases, strict=True):
                values = case if len(columns) > 1 else (case,)
                try:
                    test(**dict(zip(columns, values, strict=True)))
                except (AssertionError, pytest.fail.Exception) as problem:
                    problem.add_note(f"Row: {name}")
                    failed.append(problem)
                except BaseException as problem:
                    problem.add_note(f"Row: {name}")
                    raise
            if failed:
                raise BaseExceptionGroup(f"{len(failed)} of {len(cases)} rows of {test.__name__}", failed)

        table.__doc__ = test.__doc__
        return table

    return table_of
