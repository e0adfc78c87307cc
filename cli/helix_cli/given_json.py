"""What is given as JSON on the command line or in a file."""

from __future__ import annotations

from typing import Any, TextIO

import click


def json_object(file: TextIO, *, hint: str) -> dict[str, Any]:
    """The JSON object in a file.

    Raises:
        click.BadParameter: It holds none.
    """
    import orjson  # noqa: PLC0415  (only these commands need it)

    try:
        found = orjson.loads(file.read())
    except (orjson.JSONDecodeError, UnicodeDecodeError) as error:
        raise click.BadParameter(f"no JSON: {error}", param_hint=hint) from None
    if not isinstance(found, dict):
        raise click.BadParameter("must be a JSON object", param_hint=hint)
    return found


def names(value: str | tuple[str, ...]) -> tuple[str, ...]:
    """Names: a JSON list, as in the seeds, or with commas between them; a default is taken as it is.

    Raises:
        click.BadParameter: It begins like a JSON list and is none of texts.

    >>> names('["one", "two"]') == names("one, two,") == ("one", "two")
    True
    """
    if isinstance(value, str) and not value.strip().startswith("["):
        return tuple(part for part in by_place(value) if part)
    return by_place(value)


def by_place(value: str | tuple[str, ...]) -> tuple[str, ...]:
    """As `names`, for those that go with something else by their places: an empty place stays one.

    Raises:
        click.BadParameter: As for `names`.

    >>> by_place("one,,three")
    ('one', '', 'three')
    """
    import orjson  # noqa: PLC0415  (as above)

    if isinstance(value, tuple):
        return value
    if not value.strip().startswith("["):
        return tuple(part.strip() for part in value.split(","))
    try:
        found = orjson.loads(value)
    except orjson.JSONDecodeError as error:
        problem = f"no JSON: {error}"
        raise click.BadParameter(problem) from None
    if not all(isinstance(one, str) for one in found):
        problem = "must be a list of texts"
        raise click.BadParameter(problem)
    return tuple(found)
